//! Lists of tools without those that are always denied.
//!
//! INVARIANT: what stays is byte for byte what the server sent, in its order, with its cursor; a list that cannot be read is no list.

use crate::wrap::json::{elements, members, strict, string};

/// A tool of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// Its definition, as it was sent.
    pub(crate) text: String,
}

/// The tools of a result of `tools/list`.
pub(crate) fn tools(result: &str) -> Result<Vec<Tool>, String> {
    strict(result)?;
    let mut out = Vec::new();
    for (_, text) in entries(result)? {
        let own = members(text)?;
        let name =
            own.iter().find(|member| member.key == "name").and_then(|name| text.get(name.value.clone()));
        let name = name.and_then(string).ok_or("a tool has no name")?;
        out.push(Tool { name, text: text.to_owned() });
    }
    Ok(out)
}

/// The cursor of the next page, as it was sent.
pub(crate) fn next(result: &str) -> Option<&str> {
    let own = members(result).ok()?.into_iter().find(|member| member.key == "nextCursor")?;
    result.get(own.value)
}

fn entries(result: &str) -> Result<Vec<(std::ops::Range<usize>, &str)>, String> {
    let list =
        members(result)?.into_iter().find(|member| member.key == "tools").ok_or("it has no `tools`")?;
    let text = result.get(list.value.clone()).unwrap_or_default();
    let all = elements(text)?.into_iter().map(|own| {
        let range = list.value.start + own.start..list.value.start + own.end;
        (range, text.get(own).unwrap_or_default())
    });
    Ok(all.collect())
}

/// The result without the tools at these places; what a policy took from it is for nobody else to keep.
pub(crate) fn without(result: &str, gone: &[bool]) -> Result<String, String> {
    let all = entries(result)?;
    let kept: Vec<&str> = all
        .iter()
        .enumerate()
        .filter(|(at, _)| !gone.get(*at).copied().unwrap_or(false))
        .map(|(_, (_, text))| *text)
        .collect();
    let (Some((first, _)), Some((last, _))) = (all.first(), all.last()) else { return Ok(result.to_owned()) };
    let before = result.get(..first.start).unwrap_or_default();
    let behind = result.get(last.end..).unwrap_or_default();
    let without = [before, &kept.join(","), behind].concat();
    let scope = members(&without)?.into_iter().find(|member| member.key == "cacheScope");
    Ok(match scope.map(|scope| scope.value) {
        Some(range) => {
            let behind = without.get(range.end..).unwrap_or_default();
            [without.get(..range.start).unwrap_or_default(), r#""private""#, behind].concat()
        }
        None => without,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_is_what_was_sent() {
        let list = r#"{"nextCursor":"c", "tools": [ {"name":"a","x":1.0}, {"name":"b"} ,{"name":"\u0063"} ],"_meta":{}}"#;
        assert_eq!((next(list), next(r#"{"tools":[]}"#)), (Some("\"c\""), None));
        let names: Vec<String> = tools(list).unwrap().into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let kept = without(list, &[false, true, false]).unwrap();
        assert_eq!(
            kept,
            r#"{"nextCursor":"c", "tools": [ {"name":"a","x":1.0},{"name":"\u0063"} ],"_meta":{}}"#
        );
        assert_eq!(without(list, &[true; 3]).unwrap(), r#"{"nextCursor":"c", "tools": [  ],"_meta":{}}"#);
        assert_eq!(without(r#"{"tools":[]}"#, &[]).unwrap(), r#"{"tools":[]}"#);
        let cached = r#"{"cacheScope": "public","tools":[{"name":"a"}],"ttlMs":1}"#;
        assert_eq!(without(cached, &[true]).unwrap(), r#"{"cacheScope": "private","tools":[],"ttlMs":1}"#);
    }

    #[test]
    fn a_list_that_can_be_read_in_two_ways_is_no_list() {
        for list in
            [r#"{"tools":[{"name":"a","Name":"b"}]}"#, r#"{"tools":{}}"#, r#"{"tools":[{}]}"#, r#"{}"#]
        {
            assert!(tools(list).is_err(), "{list}");
        }
    }
}
