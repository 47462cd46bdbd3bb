//! How a new file is named.
//!
//! INVARIANT: only a file that the call creates is judged, and only where its language has one custom.

use crate::file::{File, is_name};
use crate::{Found, Options};

/// The custom of the language for file names.
pub(crate) fn conventions(after: &File, before: Option<&File>, options: &Options) -> Vec<Found> {
    let path = &after.path;
    if before.is_some() || path.is_test() || path.is_migration(&[]) || path.is_tool() {
        return Vec::new();
    }
    if options.list("exempt").is_some_and(|names| names.contains(&path.name)) {
        return Vec::new();
    }
    // Names with brackets are routes, names in other writing follow no custom of ours; what is behind the first dot is a role.
    let core =
        path.stem.split('.').next().unwrap_or("").trim_start_matches(['_', '$', '+']).trim_end_matches('_');
    if core.is_empty()
        || !core.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    {
        return Vec::new();
    }
    let fits = match path.extension.as_str() {
        "py" | "pyi" => is_snake(core) || (core.contains('-') && after.text.starts_with("#!")),
        "rb" => is_snake(core) || is_kebab(core),
        "rs" => is_snake(core) || (path.in_folder(&["benches"]) && is_kebab(core)),
        "go" => is_snake(core),
        "ts" | "js" | "mjs" | "cjs" | "mts" | "cts" => {
            is_camel(core) || is_kebab(core) || says(after.text, core)
        }
        "tsx" | "jsx" => {
            is_pascal(core) || is_kebab(core) || is_hook(core) || (is_camel(core) && says(after.text, core))
        }
        _ => return Vec::new(),
    };
    if fits {
        return Vec::new();
    }
    let custom = match path.extension.as_str() {
        "py" | "pyi" | "rb" | "rs" | "go" => "snake_case",
        "tsx" | "jsx" => "PascalCase or kebab-case",
        _ => "camelCase or kebab-case",
    };
    vec![after.found_whole(
        format!("{} is not named in {custom}, as files of its language are", path.name),
        format!("rename it: {custom}"),
    )]
}

fn is_snake(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn is_kebab(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn is_camel(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_pascal(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_hook(name: &str) -> bool {
    name.strip_prefix("use").is_some_and(|rest| is_pascal(rest) && !rest.is_empty())
}

/// Does the text say the name as a word? A file named after the one thing it defines is named well.
fn says(text: &str, name: &str) -> bool {
    if name.contains(['_', '-']) {
        return false;
    }
    let bytes = text.as_bytes();
    text.match_indices(name).any(|(at, _)| {
        let before =
            at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|byte| is_name(*byte));
        let behind = bytes.get(at + name.len()).is_some_and(|byte| is_name(*byte));
        !before && !behind
    })
}
