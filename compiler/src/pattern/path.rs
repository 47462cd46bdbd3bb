//! Path patterns: an anchor and a glob below it.
//!
//! INVARIANT: a path glob that leaves here is `.`, `~`, `/`, `X:/` or begins with `./`, `**/`, `~/`, `/`, `X:/`, has no
//! empty, `.` or `..` segment and no slash at its end.

use super::{MAX_SPELLINGS, Problem, Spelled, braces, check, size};

/// Whether a spelling begins like a path (the others are plain texts in `touching`).
pub(crate) fn is_anchored(spelling: &str) -> bool {
    matches!(spelling, "." | "~") || rooted(spelling).is_some()
}

/// The anchor (with its slash) and the rest.
fn rooted(spelling: &str) -> Option<(String, &str)> {
    for anchor in ["./", "**/", "~/", "/"] {
        if let Some(rest) = spelling.strip_prefix(anchor) {
            return Some((anchor.to_owned(), rest));
        }
    }
    let mut chars = spelling.chars();
    let drive = chars.next().filter(char::is_ascii_alphabetic)?;
    let rest = chars.as_str().strip_prefix(":/")?;
    Some((format!("{}:/", drive.to_ascii_uppercase()), rest))
}

/// The spellings of a path pattern. Inside a `project`, `./` is each of `folders`.
pub(crate) fn path(text: &str, folders: &[String]) -> Result<Vec<Spelled>, Problem> {
    check(text)?;
    let mut out = Vec::new();
    for spelling in braces::expand(text)? {
        let bytes = size(&spelling);
        for glob in placed(&normal(&spelling)?, folders) {
            out.push(Spelled { glob, bytes });
        }
        if out.len() > MAX_SPELLINGS * 4 {
            return Err(Problem::TooMany);
        }
    }
    Ok(out)
}

/// One spelling in its normal form, not yet placed into a project.
pub(crate) fn normal(spelling: &str) -> Result<String, Problem> {
    if spelling.is_empty() {
        return Err(Problem::Empty);
    }
    let mut escaped = false;
    for c in spelling.chars() {
        if escaped && !matches!(c, '*' | '?' | '{' | '}' | ',' | '\\') {
            return Err(Problem::Backslash);
        }
        escaped = !escaped && c == '\\';
    }
    if escaped {
        return Err(Problem::Backslash);
    }
    let (anchor, rest) = match spelling {
        "." => ("./".to_owned(), ""),
        "~" => ("~/".to_owned(), ""),
        _ => rooted(spelling).ok_or_else(|| Problem::Unanchored(spelling.to_owned()))?,
    };
    let mut segments = Vec::new();
    for segment in rest.split('/') {
        match segment {
            "" | "." => {}
            ".." => return Err(Problem::Leaves),
            _ => segments.push(braces::plain(segment)),
        }
    }
    if segments.is_empty() {
        return match anchor.as_str() {
            "./" => Ok(".".to_owned()),
            "~/" => Ok("~".to_owned()),
            "**/" => Err(Problem::Unanchored(spelling.to_owned())),
            _ => Ok(anchor),
        };
    }
    Ok(format!("{anchor}{}", segments.join("/")))
}

/// A normal glob inside the folders of a project (none: the project itself).
pub(crate) fn placed(glob: &str, folders: &[String]) -> Vec<String> {
    if folders.is_empty() {
        return vec![glob.to_owned()];
    }
    if glob == "." {
        return folders.to_vec();
    }
    match glob.strip_prefix("./") {
        Some(rest) => folders.iter().map(|folder| format!("{folder}/{rest}")).collect(),
        None => vec![glob.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(text: &str, folders: &[&str]) -> Vec<String> {
        let folders: Vec<String> = folders.iter().map(|f| (*f).to_owned()).collect();
        path(text, &folders).unwrap().into_iter().map(|s| s.glob).collect()
    }

    #[test]
    fn normal_forms() {
        assert_eq!(globs("./src//a/./b/", &[]), ["./src/a/b"]);
        assert_eq!(globs("./", &[]), ["."]);
        assert_eq!(globs("~/", &[]), ["~"]);
        assert_eq!(globs("/", &[]), ["/"]);
        assert_eq!(globs("c:/Users/**", &[]), ["C:/Users/**"]);
        assert_eq!(globs("**/*.{pem,key}", &[]), ["**/*.pem", "**/*.key"]);
        assert_eq!(globs("./\\*", &[]), ["./\\*"]);
    }

    #[test]
    fn inside_projects() {
        assert_eq!(globs("./src/**", &["./a", "./b/*"]), ["./a/src/**", "./b/*/src/**"]);
        assert_eq!(globs(".", &["./a"]), ["./a"]);
        assert_eq!(globs("**/x", &["./a"]), ["**/x"]);
        let spelled = path("./x", &["./a/long/folder".to_owned()]).unwrap();
        assert_eq!(spelled[0].bytes, 3, "moving a rule into a project changes no rank");
    }

    #[test]
    fn refused() {
        for text in ["src/**", "*.env", "..", "../x", "~bob/x", "C:\\x", "**", "", "$HOME/x"] {
            assert!(path(text, &[]).is_err(), "{text}");
        }
        assert_eq!(path("./a/../b", &[]), Err(Problem::Leaves));
        assert_eq!(path("./a\\b", &[]), Err(Problem::Backslash));
    }
}
