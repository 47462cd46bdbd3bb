//! Regular expressions of the format as run patterns, as far as they say words.
//!
//! INVARIANT: a pattern matches no other command than its expression does, except one that ends earlier; what cannot be said is not
//! said.

/// The run patterns of an expression over the words of a command, behind `program` when there is one; none when it says more
/// than words.
pub(super) fn runs(program: Option<&str>, expression: &str) -> Option<Vec<String>> {
    let (from_start, rest) = match expression.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, expression),
    };
    let escaped = rest.ends_with("\\$");
    let (to_end, rest) = match rest.strip_suffix('$').filter(|_| !escaped) {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let spaced = rest
        .replace("\\s+", " ")
        .replace("\\s*", "\u{1}")
        .replace("\\s", " ")
        .replace("[ ]+", " ")
        .replace(" +", " ");
    let mut words: Vec<String> = Vec::new();
    for part in spaced.split(' ').filter(|part| !part.is_empty()) {
        words.push(word(part)?);
    }
    let mut open = !to_end;
    // What follows may be anything, or nothing.
    while words.last().is_some_and(|last| last == "*" && spaced.ends_with(".*")) {
        words.pop();
        open = true;
    }
    let first = words.first()?;
    if !from_start && first == "*" || words.iter().all(|word| word == "*") {
        return None;
    }
    let end = if open { " ..." } else { "" };
    let text = words.join(" ");
    Some(match program {
        Some(program) if from_start => vec![format!("{program} {text}{end}")],
        Some(program) => vec![format!("{program} {text}{end}"), format!("{program} * {text}{end}")],
        None if from_start => vec![format!("{text}{end}")],
        None => vec![format!("* {text}{end}"), format!("{text}{end}")],
    })
}

/// One word: plain letters, `.*` and `\S+` for a part of it, `(a|b)` for one of several.
fn word(part: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = part;
    while let Some(letter) = rest.chars().next() {
        let cut = |marks: &[&str]| marks.iter().find_map(|mark| rest.strip_prefix(*mark));
        if let Some(behind) = cut(&["\\S+", "\\S*", ".*", ".+", "[^ ]+", "[^ ]*", "\\w+"]) {
            out.push('*');
            rest = behind;
        } else if let Some((choice, behind)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            let choice = choice.strip_prefix("?:").unwrap_or(choice);
            let choices: Option<Vec<String>> = choice.split('|').map(plain).collect();
            out.push_str(&format!("{{{}}}", choices?.join(",")));
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix('\\') {
            let letter = behind.chars().next().filter(|letter| ".-/_:=@,+%".contains(*letter))?;
            out.push(letter);
            rest = behind.get(letter.len_utf8()..)?;
        } else {
            let letter = Some(letter)
                .filter(|letter| letter.is_ascii_alphanumeric() || "-/_:=@,%".contains(*letter))?;
            out.push(letter);
            rest = rest.get(letter.len_utf8()..)?;
        }
    }
    (!out.is_empty() && out != "...").then_some(out)
}

fn plain(text: &str) -> Option<String> {
    let text = text.replace("\\.", ".").replace("\\-", "-");
    let good = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-/_:=@%.".contains(c));
    good.then_some(text)
}

/// What a command that publishes to this registry looks like.
pub(super) fn to_registry(registry: &str) -> Option<Vec<String>> {
    let bare = ["https://", "http://", "oci://"]
        .iter()
        .find_map(|start| registry.strip_prefix(start))
        .unwrap_or(registry);
    let bare = bare.trim_end_matches('/');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '/');
    if bare.is_empty() || !bare.chars().all(plain) {
        return None;
    }
    let place = format!("{{{bare},{bare}/*,https://{bare},https://{bare}/*}}");
    let flag = "{--registry,--repository-url,--publish-url,--index,--source}";
    let mut out = Vec::new();
    for between in ["", "--access * ", "--tag * ", "--provenance "] {
        for named in [format!("{flag} {place}"), format!("{flag}={place}")] {
            // No other flag: it could name another one.
            out.push(format!("* {{publish,push}} {between}{named}"));
        }
    }
    // These name a file, too.
    for front in ["twine upload", "{python,python3} -m twine upload", "* {push,upload}"] {
        for named in [
            format!("--repository-url {place}"),
            format!("--repository-url={place}"),
            format!("--index {place}"),
        ] {
            out.push(format!("{front} {named} *"));
        }
    }
    // `docker push ghcr.io/acme/x`.
    out.extend(["* push", "* * push"].map(|front| format!("{front} {place}")));
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_say_words() {
        let said = |program, expression| runs(program, expression).map(|runs| runs.join(" | "));
        for (program, expression, wanted) in [
            (Some("terraform"), "^plan$", Some("terraform plan")),
            (Some("terraform"), "^plan", Some("terraform plan ...")),
            (Some("terraform"), "^plan\\s", Some("terraform plan ...")),
            (Some("terraform"), "^plan .*$", Some("terraform plan ...")),
            (
                Some("terraform"),
                "^workspace (select|delete) dev$",
                Some("terraform workspace {select,delete} dev"),
            ),
            (Some("git"), "^push origin feature/.*$", Some("git push origin feature/*")),
            (Some("git"), "^push origin [a-z]+$", None),
            (Some("git"), ".*", None),
            (None, "^git reset --hard origin/dev$", Some("git reset --hard origin/dev")),
        ] {
            assert_eq!(said(program, expression).as_deref(), wanted, "{expression}");
        }
    }
}
