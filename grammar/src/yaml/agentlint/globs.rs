//! The path globs of the format as those of the language.
//!
//! INVARIANT: a glob means no more paths than before, but for the project's own folder, which it is relative to.

/// A glob in which `*` crosses folders, tried on the whole path, the path below the project and the file's name.
pub(super) fn path(glob: &str) -> Option<String> {
    let glob = glob.trim();
    if glob.is_empty() || glob.contains(['[', ']', '{', '}', '"', '\\']) || glob.chars().any(char::is_control)
    {
        return None;
    }
    if glob.split('/').any(|part| part == "..") {
        return None;
    }
    let mut wide = String::new();
    for ch in glob.chars() {
        match ch {
            '*' if wide.ends_with("**") => {}
            '*' => wide.push_str("**"),
            _ => wide.push(ch),
        }
    }
    let relative = wide.trim_start_matches("./");
    Some(match relative {
        _ if relative.starts_with("**/") || relative.starts_with('/') || relative.starts_with("~/") => {
            relative.to_owned()
        }
        "**" => "/**".to_owned(),
        _ if relative.starts_with("**") => {
            let rest = relative.trim_start_matches('*');
            format!("**/*{rest}")
        }
        _ if !relative.contains('/') => format!("**/{relative}"),
        _ => format!("./{relative}"),
    })
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn globs_are_anchored() {
        for (glob, want) in [
            ("src/*", "./src/**"),
            ("./src/*", "./src/**"),
            ("*/tests/*", "**/tests/**"),
            ("**/*.py", "**/**.py"),
            ("*.log", "**/*.log"),
            ("/tmp/*", "/tmp/**"),
            ("Makefile", "**/Makefile"),
        ] {
            assert_eq!(path(glob).as_deref(), Some(want), "{glob}");
        }
        for bad in ["", "../x", "a[b]", "x\"y"] {
            assert_eq!(path(bad), None, "{bad}");
        }
    }
}
