//! Files of credentials named by variables of the environment.
//!
//! INVARIANT: `FILE` is a part of the name of its own (`KEY_PROFILE` has none), and the value is a path that is written out.

use crate::file::{File, part};
use crate::{Found, Options, Severity};

const WORDS: [&str; 15] = [
    "PROXY",
    "CREDENTIAL",
    "CREDENTIALS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "TOKEN",
    "KEY",
    "CERT",
    "AUTH",
    "APIKEY",
    "PRIVATEKEY",
    "KEYSTORE",
    "APITOKEN",
];

/// Assignments in a text that is written.
pub(crate) fn in_text(file: &File, _: &Options) -> Vec<Found> {
    if file.path.is(&["md", "rst", "txt", "mdx", "lock"])
        || file.path.name.ends_with(".example")
        || file.path.name.ends_with(".template")
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (start, line) in file.lines() {
        let text = line.trim_start();
        if text.starts_with('#')
            || text.starts_with("//")
            || text.starts_with("* ")
            || text.starts_with("--") && !text.starts_with("--set")
        {
            continue;
        }
        let code = file.path.is_code() && !file.path.is(&["sh", "bash", "zsh"]);
        for (at, name) in assignments(line, file.path.is(&["yml", "yaml", "json", "toml"]), code) {
            let mut one = file.found(start + at, message(name), SUGGEST);
            if file.path.is_ci() {
                one.severity = Some(Severity::Info);
            }
            found.push(one);
        }
    }
    found
}

/// Assignments among the words of a command.
pub(crate) fn in_command(words: &[Option<&str>], _: Option<&str>, _: &Options) -> Vec<Found> {
    let mut found = Vec::new();
    for word in words.iter().flatten() {
        for (_, name) in assignments(word, false, false) {
            found.push(Found {
                line: 0,
                column: 0,
                message: message(name),
                suggest: SUGGEST.to_owned(),
                severity: None,
            });
        }
    }
    found
}

const SUGGEST: &str =
    "let the secret manager of the platform hand the value over, and keep the file out of the project";

fn message(name: &str) -> String {
    format!("{name} points at a file with credentials")
}

/// The places and names of `NAME_FILE=path`.
fn assignments(line: &str, colons: bool, code: bool) -> Vec<(usize, &str)> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            at += 1;
        }
        if at == start {
            at += 1;
            continue;
        }
        let name = part(line, start, at);
        let before = start.checked_sub(1).and_then(|before| bytes.get(before)).copied().unwrap_or(b' ');
        if before == b'$'
            || before == b'{' && start >= 2 && bytes.get(start - 2) == Some(&b'$')
            || before >= 0x80
            || before == b'.'
        {
            continue;
        }
        // `os.environ["X_FILE"] = …`, `"X_FILE": …`
        let mut behind = at;
        while bytes.get(behind).is_some_and(|byte| matches!(byte, b'"' | b'\'' | b']')) {
            behind += 1;
        }
        let unquoted = behind == at;
        while bytes.get(behind) == Some(&b' ') {
            behind += 1;
        }
        let sign = bytes.get(behind).copied().unwrap_or(0);
        let assigns =
            sign == b'=' && bytes.get(behind + 1) != Some(&b'=') || sign == b':' && (colons || !unquoted);
        let value = part(line, behind + 1, line.len().min(behind + 400));
        if assigns
            && (is_name(name, code) || (name.ends_with("_FILE") && is_secret_folder(value)))
            && is_path(value, code)
        {
            found.push((start, name));
        }
    }
    found
}

/// A name whose last part is FILE and one part a word for a secret.
fn is_name(name: &str, code: bool) -> bool {
    let upper = name.bytes().all(|byte| !byte.is_ascii_lowercase());
    if code && !upper {
        return false;
    }
    let upper = name.to_ascii_uppercase();
    let mut parts = upper.split('_').rev();
    let last = parts.next().unwrap_or("");
    let secret = |part: &str| WORDS.contains(&part);
    let file = last == "FILE" && parts.clone().any(secret)
        || last.strip_suffix("FILE").is_some_and(secret)
        || (last == "CREDENTIALS" && upper.starts_with("GOOGLE_APPLICATION"));
    file && !upper.starts_with("SSL_CERT")
        && !upper.contains("PUBLIC")
        && !parts.any(|part| matches!(part, "CA" | "PUB" | "BUNDLE"))
}

/// `secrets/…`, `creds/…`
fn is_secret_folder(value: &str) -> bool {
    let value = value.trim_start_matches([' ', '"', '\'']).trim_start_matches("./");
    ["secret/", "secrets/", "cred/", "creds/", "credentials/", ".secrets/"]
        .iter()
        .any(|folder| value.starts_with(folder))
}

/// A value that is written out and is no name of something else.
fn is_path(value: &str, code: bool) -> bool {
    let value = value.trim_start();
    let quoted = value.starts_with(['"', '\'']);
    let inner = value.trim_start_matches(['"', '\'']);
    let end = inner.find([' ', '"', '\'', ',', ';', ')', '}', '\t']).unwrap_or(inner.len());
    let inner = part(inner, 0, end);
    let call = inner.contains('(');
    let variable = inner.starts_with('$') && !inner.contains('/');
    let written = inner.bytes().any(|byte| byte.is_ascii_alphanumeric())
        && !matches!(inner, "None" | "null" | "nil" | "undefined" | "true" | "false");
    let plain = quoted || !code || inner.contains('/') || inner.contains('.');
    written
        && plain
        && !call
        && !variable
        && !inner.starts_with("process.env")
        && !inner.starts_with("os.")
        && !["/dev/null", "/run/secrets/", "/var/run/secrets/"].iter().any(|start| inner.starts_with(start))
}
