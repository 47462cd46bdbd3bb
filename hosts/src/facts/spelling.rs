//! Spellings of paths: URLs, escapes, drives, streams and glob characters, as text.
//!
//! INVARIANT: nothing is known here of folders or of the disk; time is linear in the text.

/// Stands for text that is not known.
pub(super) const HOLE: char = '\u{1}';
/// In a glob, stands for any run of letters without `/`, a dot at its start included.
pub(super) const RUN: char = '\u{2}';
/// Why a network name is not understood.
pub(super) const NETWORK: &str = "a network name is never looked up";

/// A glob of a tool that finds names by itself: its wildcards take a dot at the start of a segment, which those of a
/// shell do not.
pub(super) fn with_dots(glob: &str) -> String {
    let mut out = String::with_capacity(glob.len());
    for (at, segment) in glob.split('/').enumerate() {
        if at > 0 {
            out.push('/');
        }
        match segment.strip_prefix(['*', '?']) {
            Some(rest) if segment != "**" => {
                out.push(RUN);
                out.push_str(rest);
            }
            _ => out.push_str(segment),
        }
    }
    out
}

pub(super) fn split(text: &str, windows: bool) -> Vec<String> {
    let segments = text.split('/').filter(|segment| !segment.is_empty() && *segment != ".");
    if !windows {
        return segments.map(str::to_owned).collect();
    }
    // SECURITY: Windows drops `:stream`, and dots and blanks at the end of a name.
    segments
        .map(|segment| {
            let name = segment.split(':').next().unwrap_or_default().trim_end_matches(' ');
            if name == ".." { name } else { name.trim_end_matches(['.', ' ']) }
        })
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The name that Windows would take this for (`.env::$DATA`, `.git./x`), when it is another one. A server may run there.
pub(super) fn as_windows(text: &str) -> Option<String> {
    if text.contains("://") || !(text.contains([':', ' ']) || text.contains('.')) {
        return None;
    }
    let (front, rest) = match (has_drive(text), text.strip_prefix('/')) {
        (true, _) => (text.get(..2).unwrap_or_default().to_owned() + "/", text.get(2..).unwrap_or_default()),
        (false, Some(rest)) => ("/".to_owned(), rest),
        (false, None) => (String::new(), text),
    };
    let cleaned = split(rest, true);
    (cleaned != split(rest, false)).then(|| front + &cleaned.join("/"))
}

/// `PROGRA~1`.
pub(super) fn is_short_name(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default();
    stem.rsplit_once('~').is_some_and(|(front, back)| {
        !front.is_empty() && !back.is_empty() && back.bytes().all(|byte| byte.is_ascii_digit())
    })
}

pub(super) fn drive_of(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    (chars.next() == Some(':')).then(|| letter.to_ascii_uppercase())
}

/// `C:/x`, `C:` (not `C:x`).
pub(super) fn has_drive(text: &str) -> bool {
    drive_of(text).is_some() && matches!(text.chars().nth(2), None | Some('/' | '\\'))
}

/// `\\host\share`.
pub(super) fn is_network_name(text: &str) -> bool {
    text.starts_with("\\\\") || text.starts_with("\\/") || text.starts_with("/\\")
}

/// `\\?\C:\x`, but not `\\?\UNC\host`.
pub(super) fn is_device_name(text: &str) -> bool {
    let text = text.replace('\\', "/");
    matches!(text.get(..4), Some("//?/" | "//./")) && text.get(4..).is_some_and(has_drive)
}

/// The paths of a `file:` URL, without and with what may be a query, and why it is not a local one.
pub(super) fn file_url(text: &str) -> Option<(Vec<String>, Option<String>)> {
    let front: String = text.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).take(64).collect();
    if !front.trim_start_matches(|c: char| c <= ' ').get(..5).is_some_and(|s| s.eq_ignore_ascii_case("file:"))
    {
        return None;
    }
    let text: String = text.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let rest = text.trim_start_matches(|c: char| c <= ' ').get(5..)?.replace('\\', "/");
    let (path, why) = match rest.strip_prefix("//") {
        None => (rest.clone(), None),
        Some(rest) => {
            let (host, path) = match rest.find('/') {
                Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at..).unwrap_or_default()),
                None => (rest, ""),
            };
            if has_drive(host) || host.get(1..) == Some("|") {
                (format!("/{host}{path}"), None)
            } else if host.is_empty() || host.eq_ignore_ascii_case("localhost") {
                (if path.is_empty() { "/".to_owned() } else { path.to_owned() }, None)
            } else {
                (format!("//{host}{path}"), Some(NETWORK.to_owned()))
            }
        }
    };
    let mut paths = Vec::new();
    let cut = path.split(['?', '#']).next().unwrap_or_default();
    for path in [cut, path.as_str()] {
        let inner = path.trim_start_matches('/');
        let drive = has_drive(inner) || inner.get(1..3).is_some_and(|s| s == "|/");
        let path = if drive { inner.replacen('|', ":", 1) } else { path.to_owned() };
        // `file:x` is `/x` for a URL parser and `x` for those who cut the front off.
        if !path.starts_with('/') && !drive {
            paths.push(format!("/{path}"));
        }
        paths.push(path);
    }
    paths.dedup();
    Some((paths, why))
}

/// The text with `%XX` decoded once; `None` when there is none.
pub(super) fn percent_decode(text: &str) -> Option<Result<String, &'static str>> {
    let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let (mut at, mut found) = (0, false);
    while let Some(byte) = bytes.get(at) {
        match (byte, hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                found = true;
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    if !found {
        return None;
    }
    match String::from_utf8(out) {
        Ok(text) if text.contains(['\0', HOLE]) => Some(Err("a path with an escaped control character")),
        Ok(text) => Some(Ok(text)),
        Err(_) => Some(Err("a path with escapes that are not text")),
    }
}

/// A segment that is not one known name.
pub(super) fn is_special(segment: &str, glob: bool) -> bool {
    segment.contains(HOLE) || glob && has_glob(segment)
}

pub(super) fn has_glob(segment: &str) -> bool {
    let mut chars = segment.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '*' | '?' | '[' | '(' => return true,
            _ => {}
        }
    }
    false
}

pub(super) fn escape_glob(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '?' | '[' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

pub(super) fn unescape_glob(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or('\\') } else { c });
    }
    out
}

/// `{a,b}` as a wildcard that covers both.
pub(super) fn without_braces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((front, behind)) = rest.split_once('{') {
        let Some((inside, behind)) = behind.split_once('}') else { break };
        out.push_str(front);
        out.push_str(if inside.contains('/') || inside.contains('{') { "**" } else { "*" });
        rest = behind;
    }
    out.push_str(rest);
    out
}
