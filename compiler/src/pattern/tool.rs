//! Tool and server names become globs over `server NUL tool`.
//!
//! INVARIANT: a rule's bare tool name stands for the host's own tool only (empty server), a guard's for that name
//! on any server; a spelled-out server is never lost.

use super::{Problem, braces, check};

/// Ways to split one name; calls have no more either.
const MAX_SPLITS: usize = 32;

/// One name of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// The text.
    pub(crate) text: String,
    /// It was quoted, so `*` and braces mean something.
    pub(crate) glob: bool,
}

/// The spellings of a name, lower case.
pub(crate) fn spellings(name: &Name) -> Result<Vec<String>, Problem> {
    check(&name.text)?;
    if !name.glob {
        return Ok(vec![name.text.to_lowercase()]);
    }
    let spelled = braces::expand(&name.text)?;
    if spelled.iter().any(String::is_empty) {
        return Err(Problem::Empty);
    }
    Ok(spelled.iter().map(|s| braces::plain(s).to_lowercase()).collect())
}

/// Server and tool of a name that spells its server (`mcp__github__x`, `mcp_github_x`), every way it splits; a `*`
/// may also stand for the place between them. Calls are split in the same way.
pub(crate) fn splits(tool: &str) -> Vec<(String, String)> {
    let (rest, between) = match (tool.strip_prefix("mcp__"), tool.strip_prefix("mcp_")) {
        (Some(rest), _) => (rest, "__"),
        (None, Some(rest)) => (rest, "_"),
        (None, None) => return Vec::new(),
    };
    let mut out = Vec::new();
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        let Some((server, end)) = rest.split_at_checked(at) else { continue };
        if let Some(tool) = end.strip_prefix(between)
            && !server.is_empty()
            && !tool.is_empty()
        {
            out.push((server.to_owned(), tool.to_owned()));
        }
        if c == '*' && !escaped {
            out.push((format!("{server}*"), end.to_owned()));
        }
        escaped = !escaped && c == '\\';
        if out.len() >= MAX_SPLITS {
            break;
        }
    }
    out
}

/// A server glob that no empty server matches.
fn named_server(glob: &str) -> String {
    let all_stars = !glob.is_empty() && glob.chars().all(|c| c == '*');
    if all_stars { "?*".to_owned() } else { glob.to_owned() }
}

/// Globs over `server NUL tool` for one tool of a block without `from`.
pub(crate) fn without_server(tool: &str, rule: bool) -> Vec<String> {
    let split = splits(tool);
    let mut out: Vec<String> =
        split.iter().map(|(server, tool)| format!("{}\0{tool}", named_server(server))).collect();
    if !rule {
        out.push(format!("*\0{tool}"));
    } else if split.is_empty() {
        out.push(format!("\0{tool}"));
    }
    out
}

/// The glob for one tool of one server.
pub(crate) fn with_server(server: &str, tool: &str) -> String {
    format!("{}\0{tool}", named_server(server))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(without_server("bash", true), ["\0bash"]);
        assert_eq!(without_server("bash", false), ["*\0bash"]);
        assert_eq!(without_server("mcp__github__create_issue", true), ["github\0create_issue"]);
        assert_eq!(without_server("mcp__browser__*", true), ["browser\0*", "browser__*\0*"]);
        assert_eq!(without_server("mcp__*__delete", true), ["?*\0*__delete", "?*\0delete"]);
        assert_eq!(without_server("mcp__*", true), ["?*\0*"]);
        assert_eq!(without_server("mcp__a___b", true), ["a\0_b", "a_\0b"]);
        assert_eq!(
            without_server("mcp_github_create_issue", true),
            ["github\0create_issue", "github_create\0issue"]
        );
        assert_eq!(without_server("mcp__a__b__c", true), ["a\0b__c", "a__b\0c"]);
        assert_eq!(without_server("mcp__a__b", false), ["a\0b", "*\0mcp__a__b"]);
        assert_eq!(without_server("mcp_status", true), ["\0mcp_status"]);
        assert_eq!(with_server("*", "*"), "?*\0*");
    }
}
