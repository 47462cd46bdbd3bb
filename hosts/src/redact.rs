//! Masks what looks like a secret before a text is recorded.
//!
//! INVARIANT: time is linear in the text. Masking is a courtesy, not a promise: a masked text may still hold secrets.

mod prefixes;

use prefixes::prefixes;

/// Stands for a secret.
pub const MASK: &str = "***";

/// Addresses that let in whoever knows them.
const HOOKS: [&str; 5] = [
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "webhook.office.com/webhookb2/",
];

/// Ends of names whose values are secrets when they look like one.
const WEAK_NAMES: [&str; 4] = ["key", "sig", "signature", "pat"];

/// Ends of names whose values are secrets; letters and digits only.
const NAMES: [&str; 20] = [
    "token",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "apikey",
    "accesskey",
    "accesskeyid",
    "secretkey",
    "privatekey",
    "authorization",
    "auth",
    "credential",
    "credentials",
    "sessionkey",
    "cookie",
    "accountkey",
    "signingkey",
    "encryptionkey",
];

/// Words between a name and its secret.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "digest"];

/// Bytes before a sign in which its name is looked for.
const NAME_BYTES: usize = 64;

/// The text with secrets masked: bearer tokens, values of secret names, keys with known prefixes, private keys, and
/// the user part of URLs.
pub fn mask(text: &str) -> String {
    mask_each(text, &mut |_| {})
}

/// As [`mask`], and tells what was masked, without the scheme before it.
pub fn mask_each(text: &str, told: &mut dyn FnMut(&str)) -> String {
    let mut out = String::with_capacity(text.len().min(4096));
    let (mut copied, mut at) = (0, 0);
    while let Some(byte) = text.as_bytes().get(at) {
        // All that begins a secret is ASCII, so that `at` is where a character begins wherever one is found.
        match if byte.is_ascii() { secret(text, at) } else { None } {
            Some((keep, end)) if end > at => {
                out.push_str(text.get(copied..keep).unwrap_or_default());
                out.push_str(MASK);
                told(without_scheme(text.get(keep..end).unwrap_or_default()));
                (copied, at) = (end, end);
            }
            _ => at += 1,
        }
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

/// Whether the value under this name is a secret.
pub fn is_secret_name(name: &str) -> bool {
    ends_in(name, &NAMES)
}

fn ends_in(name: &str, ends: &[&str]) -> bool {
    let end: String = {
        let mut tail: Vec<char> = name
            .chars()
            .rev()
            .filter(|c| c.is_ascii_alphanumeric())
            .take(24)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        tail.reverse();
        tail.into_iter().collect()
    };
    ends.iter().any(|secret| end.ends_with(secret))
}

/// A secret at this place: where it begins and ends.
fn secret(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    match bytes.get(at)? {
        b'-' if text.get(at..)?.starts_with("-----BEGIN ") => private_key(text, at),
        b':' if text.get(at..)?.starts_with("://") => user_part(text, at + 3),
        b'=' | b':' => named_value(text, at),
        b' ' | b'\t' => flag_value(text, at),
        b'-' => glued_value(text, at),
        byte if byte.is_ascii_alphanumeric() => {
            let before = at.checked_sub(1).and_then(|before| bytes.get(before));
            if before.is_some_and(u8::is_ascii_alphanumeric) {
                return None;
            }
            key(text, at).or_else(|| scheme_token(text, at))
        }
        _ => None,
    }
}

fn private_key(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text.get(at..)?;
    let head: String = rest.chars().take(80).collect();
    let begin = head.find("PRIVATE KEY")?;
    // Without an end all of the rest is the key.
    let behind = rest.get(begin..)?;
    let end = match behind.find("-----END") {
        Some(end) => {
            let tail = behind.get(end + 8..)?;
            let close = tail.find("-----").map_or(tail.len(), |close| close + 5);
            begin + end + 8 + close
        }
        None => rest.len(),
    };
    Some((at, at + end))
}

fn user_part(text: &str, start: usize) -> Option<(usize, usize)> {
    let rest = text.get(start..)?;
    let authority = run(rest, |c| {
        !(c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '`' | '\\'))
    });
    let end = authority.rfind('@')?;
    (end > 0).then_some((start, start + end))
}

/// `NAME=VALUE`, `NAME: VALUE`, `"NAME": "VALUE"`.
fn named_value(text: &str, at: usize) -> Option<(usize, usize)> {
    let before = tail(text, at).trim_end_matches([' ', '"', '\'', '\\', ':']);
    let name = word_before(before);
    let strong = is_secret_name(name);
    if !strong && !ends_in(name, &WEAK_NAMES) {
        return None;
    }
    let mut start = at + 1;
    start += run(text.get(start..)?, |c| matches!(c, ' ' | '\t' | '=')).len();
    let (start, end) = value(text, start)?;
    (strong || is_opaque(text.get(start..end)?)).then_some((start, end))
}

/// `--NAME VALUE`, `-u USER:VALUE`.
fn flag_value(text: &str, at: usize) -> Option<(usize, usize)> {
    let before = tail(text, at);
    let parts = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'"' | b'\'');
    let begin = before.bytes().rposition(|byte| parts(&byte)).map_or(0, |at| at + 1);
    let word = before.get(begin..).filter(|word| word.starts_with('-'))?;
    let start = at + run(text.get(at..)?, |c| matches!(c, ' ' | '\t')).len();
    if word.starts_with("--") && is_secret_name(word) {
        return value(text, start);
    }
    // `sshpass -p`, `docker login … -p`.
    if word == "-p" && (before.contains("sshpass ") || before.contains(" login ")) {
        return value(text, start);
    }
    if word == "-u" || word == "--user" {
        let token = run(text.get(start..)?, |c| !c.is_whitespace());
        let colon = token.find(':')?;
        return Some((start + colon + 1, start + token.len()));
    }
    None
}

/// `mysql -pVALUE`.
fn glued_value(text: &str, at: usize) -> Option<(usize, usize)> {
    let before = tail(text, at);
    let fits = text.get(at..)?.starts_with("-p") && before.ends_with([' ', '\t']);
    if !fits || !["mysql ", "mysqldump ", "mariadb "].iter().any(|program| before.contains(program)) {
        return None;
    }
    let (start, end) = value(text, at + 2)?;
    (start <= at + 4).then_some((start, end))
}

fn value(text: &str, start: usize) -> Option<(usize, usize)> {
    let rest = text.get(start..)?;
    for quote in ["\\\"", "\"", "'"] {
        if let Some(inside) = rest.strip_prefix(quote) {
            let length = inside.find(quote).unwrap_or(inside.len());
            let start = start + quote.len();
            return (length > 0).then_some((start, start + length));
        }
    }
    let unquoted = |c: char| {
        !(c.is_whitespace()
            || matches!(c, '"' | '\'' | '&' | ',' | ';' | ')' | '}' | ']' | '<' | '>' | '|' | '`' | '\\'))
    };
    let mut length = run(rest, unquoted).len();
    let first = rest.get(..length)?;
    if SCHEMES.iter().any(|scheme| first.eq_ignore_ascii_case(scheme)) {
        let blanks = run(rest.get(length..)?, |c| c == ' ').len();
        length += blanks + run(rest.get(length + blanks..)?, unquoted).len();
    }
    (length > 0).then_some((start, start + length))
}

/// `Bearer TOKEN` is the same secret as `TOKEN`.
pub(crate) fn without_scheme(value: &str) -> &str {
    match value.split_once(' ') {
        Some((scheme, rest)) if SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) => {
            rest.trim_start()
        }
        _ => value,
    }
}

fn key(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text.get(at..)?;
    let known = prefixes(*rest.as_bytes().first()?);
    if let Some((prefix, least, digit)) = known.iter().find(|(prefix, ..)| rest.starts_with(prefix)) {
        let tail =
            run(rest.get(prefix.len()..)?, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let whole = prefix.len() + tail.len();
        if whole >= *least && (!digit || tail.bytes().any(|byte| byte.is_ascii_digit())) {
            return Some((at, at + whole));
        }
    }
    let hook = HOOKS.iter().find(|hook| rest.starts_with(*hook))?;
    let start = at + hook.len();
    let length =
        run(text.get(start..)?, |c| !(c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>'))).len();
    (length > 0).then_some((start, start + length))
}

/// Long, of letters and digits, and no path.
fn is_opaque(value: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| value.bytes().any(|byte| kind(&byte));
    value.len() >= 16
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_.~:-".contains(&byte))
        && !(value.starts_with(['/', '.', '~']) || value.contains('/') && value.contains('.'))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

/// `Bearer TOKEN`, `Basic TOKEN`.
fn scheme_token(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text.get(at..)?;
    if !rest.starts_with(['b', 'B']) {
        return None;
    }
    let (scheme, least) = [("bearer", 4), ("basic", 12)]
        .into_iter()
        .find(|(scheme, _)| rest.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme)))?;
    let behind = rest.get(scheme.len()..)?;
    let blanks = run(behind, |c| matches!(c, ' ' | '\t')).len();
    let token = run(behind.get(blanks..)?, |c| {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '~' | '+' | '/' | '=' | '-')
    });
    let start = at + scheme.len() + blanks;
    (blanks > 0 && token.len() >= least).then_some((start, start + token.len()))
}

fn run(text: &str, fits: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !fits(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The last few bytes before a place.
fn tail(text: &str, at: usize) -> &str {
    let mut start = at.saturating_sub(NAME_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..at).unwrap_or_default()
}

fn word_before(text: &str) -> &str {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let start = text
        .rfind(|c| !fits(c))
        .map_or(0, |at| at + text.get(at..).and_then(|s| s.chars().next()).map_or(1, char::len_utf8));
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked() {
        let cases = [
            ("Authorization: Bearer abc.def-123", "Authorization: ***"),
            ("curl -H 'Authorization: Basic dXNlcjpwYXNz'", "curl -H 'Authorization: ***'"),
            ("bearer abcd1234 x", "bearer *** x"),
            ("token=abc&x=1", "token=***&x=1"),
            ("GITHUB_TOKEN=abc make", "GITHUB_TOKEN=*** make"),
            ("api_key: 'a b'", "api_key: '***'"),
            ("{\"password\": \"hun\\ter\", \"x\": 1}", "{\"password\": \"***\", \"x\": 1}"),
            ("{\\\"password\\\":\\\"hunter\\\"}", "{\\\"password\\\":\\\"***\\\"}"),
            ("X-Api-Key: abc", "X-Api-Key: ***"),
            ("--password hunter2 -v", "--password *** -v"),
            ("--token=hunter2", "--token=***"),
            ("curl -u me:hunter2 https://a.test", "curl -u me:*** https://a.test"),
            ("sk-abcdefghijklmnop", "***"),
            ("x sk_live_abcdefghijklmnop.", "x ***"),
            ("ghp_abcdefghijklmnopqrstuv,", "***,"),
            ("AKIAIOSFODNN7EXAMPLE", "***"),
            ("AWS_SECRET_ACCESS_KEY=abc/def+1", "AWS_SECRET_ACCESS_KEY=***"),
            ("https://me:hunter2@a.test/x", "https://***@a.test/x"),
            ("https://a.test/x@y", "https://a.test/x@y"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nx", "***\nx"),
            ("-----BEGIN PRIVATE KEY-----\nMIIE", "***"),
            ("-----BEGIN PUBLIC KEY-----\nMIIE", "-----BEGIN PUBLIC KEY-----\nMIIE"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_", "***"),
            // In pieces, so that nobody takes them for leaked ones.
            (concat!("GOCSPX-", "x8PkyZEueC4V2PdomYFakykVY6rI"), "***"),
            (concat!("sq0atp-", "8NweoME7RAhX7DBiO3snu8 x"), "*** x"),
            (concat!("1//", "0ffnjEhOxMXXuWX7rZEmu7jVwyf2AqDwe"), "***"),
            (concat!("hooks.slack.com/services/", "T0/B0/x"), "hooks.slack.com/services/***"),
            (concat!("twilio_key = '", "b523de429039437d7ba666a8d44e4713'"), "twilio_key = '***'"),
            ("a?x=1&sig=m5x84Zxpr35qMvjHrZO6", "a?x=1&sig=***"),
            ("sshpass -p hunter2 ssh h", "sshpass -p *** ssh h"),
            ("docker login -u app -p hunter2 h", "docker login -u app -p *** h"),
            ("mysql -u app -phunter2 shop", "mysql -u app -p*** shop"),
            ("mkdir -p a/b && cp -pr a b", "mkdir -p a/b && cp -pr a b"),
            (
                "key=name sort_key=created_at key: src/long_file_name_v2.rs",
                "key=name sort_key=created_at key: src/long_file_name_v2.rs",
            ),
            ("re_export test_that_it_works_for_all_of_them", "re_export test_that_it_works_for_all_of_them"),
            ("password=", "password="),
            ("max_tokens=5 author=me task-list risk-averse", "max_tokens=5 author=me task-list risk-averse"),
            ("git log --author=me", "git log --author=me"),
            ("passwörter: ä", "passwörter: ä"),
            ("ä=ü token=ö", "ä=ü token=***"),
        ];
        for (text, want) in cases {
            assert_eq!(mask(text), want, "{text}");
        }
        assert!(is_secret_name("clientSecret") && is_secret_name("db.PASSWORD") && !is_secret_name("path"));
    }

    #[test]
    fn masking_is_linear() {
        let start = std::time::Instant::now();
        for text in [
            "token=",
            "://",
            "eyJ-",
            "-----BEGIN ",
            "-----BEGIN PRIVATE KEY",
            "Bearer ",
            "a:",
            "sk-",
            "token=\"",
            "--token ",
            "ghp_.",
            "-u ",
            "mysql -p",
            "hooks.slack.com/services/",
            "key=a1",
        ] {
            let _ = mask(&text.repeat(200_000 / text.len()));
        }
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }
}
