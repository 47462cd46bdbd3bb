//! Whether what looks like a secret is one: its edges, its entropy, what its kind asks for, and what is published.
//!
//! INVARIANT: linear in the match; a value that cannot be judged counts as a secret.

mod assigned;
mod forms;
mod stand_in;

use crate::glob::{self, Syntax};
use std::ops::Range;

/// What must hold for a match beside its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// Nothing more.
    None,
    /// The last six characters are the CRC-32 of what stands between the last `_` and them, in base 62.
    Crc32,
    /// Parts of base64url with dots between them, the first an object with `alg`; it stands before the match.
    Jwt,
    /// A URL with a password that is not a stand-in, for a host that is not this machine.
    Url,
    /// The base64 of a name, a colon and a password.
    Basic,
    /// A PEM block that has a body.
    Pem,
    /// A password: no variable, not one of those that everybody uses.
    Password,
    /// The same, of an option of a program that takes logins by `-u`.
    Web,
    /// The same, of an option of a client of MySQL.
    Mysql,
    /// The same, of an option of a command that logs in.
    Login,
    /// Letters and digits mixed as in random text.
    Mixed,
    /// A value that is given to a name: no word, no path, no identifier, no text for people.
    Assigned,
    /// The pattern says it all, whatever the value.
    Certain,
}

impl Checksum {
    /// Every checksum with its word.
    pub const ALL: [(Checksum, &'static str); 13] = [
        (Checksum::None, "none"),
        (Checksum::Crc32, "crc32"),
        (Checksum::Jwt, "jwt"),
        (Checksum::Url, "url"),
        (Checksum::Basic, "basic"),
        (Checksum::Pem, "pem"),
        (Checksum::Password, "password"),
        (Checksum::Web, "web"),
        (Checksum::Mysql, "mysql"),
        (Checksum::Login, "login"),
        (Checksum::Mixed, "mixed"),
        (Checksum::Assigned, "assigned"),
        (Checksum::Certain, "certain"),
    ];
}

/// What must hold for a value beside its pattern.
#[derive(Debug, Clone, Copy)]
pub struct Conditions {
    /// Least entropy, hundredths of a bit a character.
    pub entropy: u32,
    /// What else.
    pub checksum: Checksum,
}

/// A match of this many bytes may have been cut at the limit of the scanner.
const LONG: usize = 900;

/// The secret in a match, by its place in the text; none when the match is no secret.
pub fn judge<'a>(
    whole: &[u8],
    matched: Range<usize>,
    conditions: &Conditions,
    samples: impl Iterator<Item = &'a str>,
) -> Option<Range<usize>> {
    let text = whole.get(matched.clone())?;
    let inner = match conditions.checksum {
        Checksum::Url => forms::password_of_url(text)?,
        Checksum::Pem => forms::body_of_pem(text)?,
        Checksum::Certain => return Some(matched),
        Checksum::Assigned => assigned::value(text)?,
        Checksum::Jwt => 0..text.len(),
        _ => value(text),
    };
    let mut range = matched.start + inner.start..matched.start + inner.end;
    if conditions.checksum == Checksum::Jwt {
        range.start -= forms::length_of_head(whole.get(..range.start)?);
    }
    let program: &[&str] = match conditions.checksum {
        Checksum::Web => &["curl", "http", "https", "xh", "wget"],
        Checksum::Mysql => &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump"],
        Checksum::Login => &["login"],
        _ => &[],
    };
    if !program.is_empty() && !forms::stands_before(whole, matched.start, program) {
        return None;
    }
    // An open pattern is followed to a limit: what goes on there is no longer token of another kind.
    let long = matched.len() >= LONG;
    let edges = !long && !matches!(conditions.checksum, Checksum::Pem | Checksum::Url);
    if edges && !has_edges(whole, range.start, range.end) {
        return None;
    }
    let value = String::from_utf8_lossy(whole.get(range.clone())?);
    is_secret(&value, text, conditions, samples).then_some(range)
}

/// Where a token ends that begins or ends in a letter or digit: not in the middle of a longer one.
#[must_use]
fn has_edges(text: &[u8], start: usize, end: usize) -> bool {
    let inner = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    // The letter of an escape is none of the token: `\nAKIA…` in a quoted text.
    let escape = start >= 2 && text.get(start - 2) == Some(&b'\\');
    let before = inner(start.checked_sub(1)) && inner(Some(start)) && !escape;
    let behind = inner(Some(end)) && inner(end.checked_sub(1));
    // In the middle of base64.
    let is = |at: Option<usize>, byte: u8| at.and_then(|at| text.get(at)) == Some(&byte);
    let joined = is(start.checked_sub(1), b'+') && inner(start.checked_sub(2))
        || is(Some(end), b'+') && inner(Some(end + 1));
    !before && !behind && !joined
}

/// The token at the end of a match: what stands behind the last quote, blank or sign of assignment.
fn value(matched: &[u8]) -> Range<usize> {
    let trailing =
        |byte: &&u8| matches!(byte, b'"' | b'\'' | b'`' | b';' | b',' | b' ' | b'\t' | b'\r' | b'\n' | b'<');
    let end = matched.len() - matched.iter().rev().take_while(trailing).count();
    let cut = |byte: &u8| {
        matches!(byte, b'"' | b'\'' | b'`' | b' ' | b'\t' | b'\n' | b'=' | b':' | b',' | b'(' | b'>')
    };
    let shown = matched.get(..end).unwrap_or_default();
    // A value may end with the padding of base64.
    let padding = shown.iter().rev().take_while(|byte| **byte == b'=').count();
    let start = shown.get(..end - padding).unwrap_or_default().iter().rposition(cut).map_or(0, |at| at + 1);
    if start >= end { 0..matched.len() } else { start..end }
}

fn is_secret<'a>(
    value: &str,
    matched: &[u8],
    conditions: &Conditions,
    mut samples: impl Iterator<Item = &'a str>,
) -> bool {
    let lower = value.to_ascii_lowercase();
    if samples.any(|sample| glob::matches(&sample.to_ascii_lowercase(), &lower, Syntax::Plain, false)) {
        return false;
    }
    // A body of base64 has any four letters somewhere.
    if conditions.checksum != Checksum::Pem && stand_in::is(&lower) {
        return false;
    }
    if conditions.entropy > 0 && entropy(value.as_bytes()) < u64::from(conditions.entropy) {
        return false;
    }
    match conditions.checksum {
        Checksum::None | Checksum::Pem | Checksum::Certain => true,
        Checksum::Crc32 => forms::crc32_holds(value),
        Checksum::Jwt => forms::jwt_holds(value),
        Checksum::Url => forms::url_tells(matched, &lower),
        Checksum::Basic => forms::basic_holds(value),
        Checksum::Password | Checksum::Web | Checksum::Mysql | Checksum::Login => {
            !stand_in::is_usual(&lower) && !stand_in::is_template(value)
        }
        Checksum::Mixed => forms::is_mixed(value),
        Checksum::Assigned => assigned::is_secret(value, &lower),
    }
}

/// Entropy of the bytes, hundredths of a bit a byte.
#[must_use]
fn entropy(bytes: &[u8]) -> u64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = bytes.len() as f64;
    let bits: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum();
    (bits * 100.0) as u64
}

/// The value as it may be shown: its beginning and how long it is.
#[must_use]
pub fn masked(value: &str) -> String {
    let shown: String = value.chars().take(4).filter(|c| !c.is_control()).collect();
    format!("{shown}… ({} characters)", value.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        text: &str,
        matched: &str,
        entropy: u32,
        checksum: Checksum,
        samples: &[&str],
    ) -> Option<String> {
        let start = text.find(matched).unwrap();
        let conditions = Conditions { entropy, checksum };
        let range = start..start + matched.len();
        let found = judge(text.as_bytes(), range, &conditions, samples.iter().copied())?;
        text.get(found).map(str::to_owned)
    }

    #[test]
    fn values_and_edges() {
        for (matched, wanted) in [
            ("password = \"s3cret-value\"", "s3cret-value"),
            ("key: QUJDRA==", "QUJDRA=="),
            ("AKIA0000", "AKIA0000"),
            ("key>abc<", "abc"),
        ] {
            assert_eq!(matched.get(value(matched.as_bytes())), Some(wanted));
        }
        assert!(has_edges(b"x=AKIA1;", 2, 7) && !has_edges(b"xAKIA1", 1, 6) && !has_edges(b"AKIA12", 0, 5));
        assert!(has_edges(b"\\nAKIA1", 2, 7));
    }

    #[test]
    fn samples_and_stand_ins_are_no_secrets() {
        let none = |text: &str, samples: &[&str]| found(text, text, 0, Checksum::None, samples);
        assert_eq!(none("AKIAIOSFODNN7EXAMPLE", &[]), None);
        assert_eq!(none("tok_public", &["tok_*"]), None);
        assert_eq!(none("tok_aaaaaaaaaaaaaaaa", &[]), None);
        assert_eq!(none("Zq81kdP0wmv27GhT", &[]).as_deref(), Some("Zq81kdP0wmv27GhT"));
        assert!(entropy(b"aaaaaaaa") == 0 && entropy(b"Zq81kdP0wmv27GhT") > 350);
    }

    #[test]
    fn kinds() {
        let url = |text: &str| found(text, text, 0, Checksum::Url, &[]);
        assert_eq!(url("postgres://app:Tr0ub4dor3@db.example.com").as_deref(), Some("Tr0ub4dor3"));
        for quiet in [
            "postgres://app:Tr0ub4dor3@localhost",
            "postgres://app:Tr0ub4dor3@127.0.0.1",
            "postgres://app:password@db.example.com",
            "postgres://app:${PW}@db.example.com",
            "postgres://{user}:{pw}@{host}",
            "postgres://app:app@db",
        ] {
            assert_eq!(url(quiet), None, "{quiet}");
        }
        let pem = |text: &str| found(text, text, 0, Checksum::Pem, &[]);
        assert!(pem("-----BEGIN RSA PRIVATE KEY-----\nRkFLRQ==\n").is_some());
        assert!(pem("-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBg").is_some());
        assert!(
            pem("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\nlQdGBF\n\nabcdWXYZ12").is_some()
        );
        assert!(pem("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAK...\n").is_none());
        // The scanner's limit may cut a character.
        let text = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIxk\n-----END EC PRIVATE KEY-----\n# Schlüssel";
        let cut = text.find('ü').unwrap() + 1;
        let conditions = Conditions { entropy: 0, checksum: Checksum::Pem };
        assert!(judge(text.as_bytes(), 0..cut, &conditions, std::iter::empty()).is_some());
        assert!(pem("-----BEGIN RSA PRIVATE KEY-----\") { return true }").is_none());
        assert!(pem("-----BEGIN RSA PRIVATE KEY-----\n-----END RSA").is_none());
    }
}
