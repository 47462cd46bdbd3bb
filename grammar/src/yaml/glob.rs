//! Globs of the YAML formats to globs of the language.
//!
//! INVARIANT: a translated pattern matches what the format's own glob matches; what is special only in the language
//! (braces, backslashes) is escaped and stays a letter.

/// A translated path pattern, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// The pattern.
    Is(String),
    /// It is above the working directory, or above the root.
    Leaves,
}

/// Whether the pattern grants something or takes it away; they differ where the format is not clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// `allow`, plain lists.
    Grant,
    /// `ask`, `block`.
    Refusal,
}

/// Escapes what only the language reads.
pub(super) fn text(glob: &str) -> String {
    let mut out = String::with_capacity(glob.len());
    for ch in glob.chars() {
        if matches!(ch, '{' | '}' | '\\') {
            out.push('\\');
        }
        out.push(ch);
    }
    out
}

/// A path glob with its anchor spelled out. Backslashes are separators; a pattern without an anchor lies below the
/// working directory.
pub(super) fn path(glob: &str, side: Side) -> Path {
    let glob = glob.replace('\\', "/");
    if glob == "**" {
        let all = if side == Side::Refusal { "**/*" } else { "./**" };
        return Path::Is(all.to_owned());
    }
    let (anchor, rest) = split(&glob);
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(last) if !last.contains("**") => {
                    parts.pop();
                }
                _ => return Path::Leaves,
            },
            _ => parts.push(part),
        }
    }
    let rest = text(&parts.join("/"));
    Path::Is(match (anchor.as_str(), rest.is_empty()) {
        ("./", true) => ".".to_owned(),
        ("~/", true) => "~".to_owned(),
        ("**/", true) => "**/*".to_owned(),
        (anchor, _) => format!("{anchor}{rest}"),
    })
}

/// The anchor of a pattern and what stands behind it.
fn split(glob: &str) -> (String, &str) {
    let mut chars = glob.chars();
    if let (Some(drive), Some(':')) = (chars.next(), chars.next())
        && drive.is_ascii_alphabetic()
        && chars.as_str().starts_with('/')
    {
        return (format!("{}:/", drive.to_ascii_uppercase()), chars.as_str().trim_start_matches('/'));
    }
    for anchor in ["**/", "~/", "/"] {
        if let Some(rest) = glob.strip_prefix(anchor) {
            return (anchor.to_owned(), rest);
        }
    }
    match glob {
        "~" => ("~/".to_owned(), ""),
        _ => ("./".to_owned(), glob),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_gets_its_anchor() {
        for (from, to) in [
            ("src/**", "./src/**"),
            ("*.md", "./*.md"),
            ("./src/**", "./src/**"),
            (".", "."),
            ("./", "."),
            ("src/", "./src"),
            ("**/.env", "**/.env"),
            ("**/", "**/*"),
            ("~/.ssh/**", "~/.ssh/**"),
            ("~", "~"),
            ("/etc/../srv/*", "/srv/*"),
            ("/", "/"),
            ("C:\\Users\\me\\**", "C:/Users/me/**"),
            ("d:/x//y", "D:/x/y"),
            ("a/./b/../c", "./a/c"),
            ("{a}/[b]", "./\\{a\\}/[b]"),
            ("~me/x", "./~me/x"),
        ] {
            assert_eq!(path(from, Side::Grant), Path::Is(to.to_owned()), "{from}");
        }
        assert_eq!(path("**", Side::Refusal), Path::Is("**/*".to_owned()));
        assert_eq!(path("**", Side::Grant), Path::Is("./**".to_owned()));
        for from in ["../x", "a/../../x", "/..", "~/../x", "**/../x", "./**/../x"] {
            assert_eq!(path(from, Side::Grant), Path::Leaves, "{from}");
        }
    }

    #[test]
    fn texts_keep_stars_and_lose_nothing_else() {
        assert_eq!(text(r"echo {a,b} \n *?"), r"echo \{a,b\} \\n *?");
    }
}
