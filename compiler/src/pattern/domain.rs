//! Host patterns.
//!
//! INVARIANT: a host glob that leaves here is lower case and could match a host as facts spell it.

use super::{Problem, Spelled, braces, check, size};

/// The spellings of a host pattern.
pub(crate) fn domain(text: &str) -> Result<Vec<Spelled>, Problem> {
    check(text)?;
    let mut out = Vec::new();
    for spelling in braces::expand(text)? {
        let lower = spelling.to_ascii_lowercase();
        let host = lower.strip_suffix('.').unwrap_or(&lower);
        if let Some(help) = wrong(host) {
            return Err(Problem::Domain(help));
        }
        out.push(Spelled { glob: address(host), bytes: size(&spelling) });
    }
    Ok(out)
}

/// An address in brackets as facts name it: without them, in its shortest form.
fn address(host: &str) -> String {
    let Some(inside) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return host.to_owned();
    };
    inside.parse::<std::net::Ipv6Addr>().map_or_else(|_| inside.to_owned(), |address| address.to_string())
}

/// What to write instead, when this can be no host.
fn wrong(host: &str) -> Option<String> {
    if host.is_empty() {
        return Some("write the host, or `*` for every host".to_owned());
    }
    if let Some((_, rest)) = host.split_once("://") {
        let bare = rest.split(['/', '?']).next().unwrap_or(rest);
        return Some(format!("write the host alone: `{bare}`"));
    }
    if let Some((bare, _)) = host.split_once('/') {
        return Some(format!("a host has no path; write `{bare}`"));
    }
    if !host.is_ascii() {
        return Some("write the name as it goes over the wire, `xn--...`".to_owned());
    }
    if host.starts_with('[') {
        let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or_default();
        let ok = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.' | '*' | '?');
        let fits = inside.parse::<std::net::Ipv6Addr>().is_ok()
            || inside.contains(['*', '?']) && inside.chars().all(ok);
        return (!fits).then(|| "write an address of this form as `[::1]`, without a port".to_owned());
    }
    if host.parse::<std::net::Ipv6Addr>().is_ok() {
        return Some(format!("write `[{host}]`"));
    }
    if let Some((bare, _)) = host.split_once(':') {
        return Some(format!("a port is no part of a host; write `{bare}`"));
    }
    let ok = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '*' | '?');
    (!host.chars().all(ok)).then(|| "a host has letters, digits, dots and hyphens".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        assert_eq!(domain("API.GitHub.com.").unwrap()[0].glob, "api.github.com");
        assert_eq!(domain("*.{a,b}.io").unwrap().len(), 2);
        assert_eq!(domain("[::1]").unwrap()[0].glob, "::1");
        assert_eq!(domain("[FE80:0:0::1]").unwrap()[0].glob, "fe80::1");
        assert_eq!(domain("[fe80::*]").unwrap()[0].glob, "fe80::*");
        for text in
            ["https://x.com/y", "x.com/y", "x.com:80", "münchen.de", "a b", "\\*.x", "::1", "[::1]:80", "[x]"]
        {
            assert!(matches!(domain(text), Err(Problem::Domain(_))), "{text}");
        }
    }
}
