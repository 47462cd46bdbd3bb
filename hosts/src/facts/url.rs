//! Hosts out of URLs and out of text that holds them.
//!
//! INVARIANT: a host is what a URL parser connects to (user info, ports, number forms and letter case gone), and an
//! authority that cannot be read is told as not understood.

use super::spelling::HOLE;
use policy_runtime::facts::Form;
use url::{Host, Url};

/// Longest URL that is understood, bytes.
const MAX_URL_BYTES: usize = 64 * 1024;
/// Most hosts taken out of one text.
const MAX_HOSTS: usize = 256;

/// What is known of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) host: String,
    pub(crate) form: Form,
}

/// Hosts of one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hosts {
    pub(crate) found: Vec<Found>,
    /// Why a part was not understood.
    pub(crate) opaque: Option<&'static str>,
}

impl Hosts {
    fn push(&mut self, found: Found) {
        if self.found.len() >= MAX_HOSTS {
            self.opaque = Some("a text with too many hosts");
        } else if !self.found.contains(&found) {
            self.found.push(found);
        }
    }

    fn exact(&mut self, host: &str) {
        self.push(Found { host: host.to_owned(), form: Form::Exact });
    }

    /// A host that may be any.
    pub(crate) fn any() -> Hosts {
        Hosts { found: vec![Found { host: HOLE.to_string(), form: Form::Holes }], opaque: None }
    }

    /// Adds what `other` has.
    pub(crate) fn extend(&mut self, other: Hosts) {
        for found in other.found {
            self.push(found);
        }
        self.opaque = self.opaque.or(other.opaque);
    }
}

/// Hosts of all URLs inside a text. `file:` URLs have none.
pub(crate) fn scan(text: &str) -> Hosts {
    let mut hosts = Hosts::default();
    for token in tokens(text) {
        let mut rest = token;
        while let Some((start, scheme, body)) = find_scheme(rest) {
            let end = next_in_list(rest.get(body..).unwrap_or_default()).map_or(rest.len(), |at| body + at);
            if !scheme.eq_ignore_ascii_case("file") {
                add_url(&mut hosts, rest.get(start..end).unwrap_or_default(), scheme, false);
            }
            rest = rest.get(end..).unwrap_or_default();
        }
    }
    hosts
}

/// Whether a text holds a URL at all.
pub(crate) fn has_url(text: &str) -> bool {
    find_scheme(text).is_some()
}

/// Hosts of a text that is a URL by its key or by its program; a missing scheme is `http`. `sure` when the text is a
/// host whatever it looks like.
pub(crate) fn whole(text: &str, sure: bool) -> Hosts {
    let mut hosts = Hosts::default();
    if text.len() > MAX_URL_BYTES || text.contains('\0') {
        hosts.opaque = Some("a URL that is too long or has a NUL in it");
        return hosts;
    }
    if text.contains(HOLE) {
        return with_holes(text);
    }
    // URL parsers drop these wherever they stand.
    let listed = scan(text);
    let text: String = text.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let text = text.trim_matches(|c: char| c <= ' ');
    if text.is_empty() {
        return hosts;
    }
    // Several URLs in one text, or one behind another scheme (`view-source:`, `jdbc:`) or sign.
    let front = find_scheme(text).and_then(|(start, ..)| text.get(..start)).unwrap_or_default();
    let behind_sign = !front.is_empty() && !front.contains(['/', '?', '#', '\\']);
    if listed.found.len() > 1 || behind_sign {
        hosts.extend(listed);
        if behind_sign && !front.contains('.') && !hosts.found.is_empty() {
            return hosts;
        }
    }
    if let Some((0, scheme, _)) = find_scheme(text) {
        if !scheme.eq_ignore_ascii_case("file") {
            add_url(&mut hosts, text, scheme, true);
        }
        return hosts;
    }
    let front = text.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    if let Some((scheme, behind)) = front.split_once(':') {
        let is_port = !behind.is_empty() && behind.bytes().all(|byte| byte.is_ascii_digit());
        if is_special(scheme) {
            // `https:host`: a URL parser adds the slashes.
            add_url(&mut hosts, text, scheme, true);
            return hosts;
        }
        let no_host = [
            "mailto",
            "data",
            "javascript",
            "about",
            "blob",
            "urn",
            "tel",
            "file",
            "vscode",
            "news",
            "chrome",
        ];
        if !is_port && !sure && no_host.iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
            return hosts;
        }
        if !is_port
            && !behind.contains('@')
            && let Some(host) = copy_host(text)
        {
            hosts.extend(whole(&host, true));
            return hosts;
        }
    }
    let rest = text.trim_start_matches(['/', '\\']);
    let slashes = text.len() - rest.len();
    if slashes == 1 || text.starts_with(['?', '#', '.']) && !sure {
        return hosts;
    }
    match parse(&format!("http://{rest}")) {
        Some(found) => {
            let named = slashes >= 2
                || sure
                || found.iter().any(|host| host.contains(['.', ':']) || host == "localhost");
            if named {
                found.iter().for_each(|host| hosts.exact(host));
            }
        }
        None if sure || slashes >= 2 => hosts.opaque = Some("a host that cannot be read"),
        None => {}
    }
    hosts
}

/// Whether a text names a host by its looks, though it holds no URL: `git@host.test:path`; for a tool that fetches also
/// `//host` and `https:host`.
pub(crate) fn looks_like_remote(text: &str, fetch: bool) -> bool {
    let text = text.trim();
    if text.len() > MAX_URL_BYTES || text.contains([' ', HOLE]) {
        return false;
    }
    let copied = text.split_once('@').is_some_and(|(user, behind)| {
        let host = behind.split(':').next().unwrap_or_default();
        behind.contains(':') && host.contains('.') && !user.is_empty() && !user.contains(['/', ':', ','])
    });
    let slashed = text.starts_with("//") || text.starts_with("\\\\");
    let special =
        text.split_once(':').is_some_and(|(scheme, behind)| is_special(scheme) && !behind.is_empty());
    copied || fetch && (slashed || special)
}

/// Host of `user@host:path` or `host:path`.
pub(crate) fn copy_host(text: &str) -> Option<String> {
    let (front, _) = text.split_once(':')?;
    let host = front.rsplit_once('@').map_or(front, |(_, host)| host);
    let fits = !host.is_empty()
        && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))
        && (front.contains('@') || host.len() > 1);
    fits.then(|| host.to_owned())
}

/// Hosts of a text with holes: known only when a hole cannot reach the authority.
fn with_holes(text: &str) -> Hosts {
    let known = text.split(HOLE).next().unwrap_or_default();
    if let Some((0, _, body)) = find_scheme(known) {
        let authority = known.get(body..).unwrap_or_default().trim_start_matches(['/', '\\']);
        if authority.contains(['/', '?', '#', '\\']) {
            return whole(known, true);
        }
    }
    Hosts::any()
}

/// Hosts of the URLs inside a text with holes.
pub(crate) fn scan_with_holes(text: &str) -> Hosts {
    let mut hosts = Hosts::default();
    for token in tokens(text) {
        match find_scheme(token) {
            Some((start, scheme, _)) if !scheme.eq_ignore_ascii_case("file") => {
                let url = token.get(start..).unwrap_or_default();
                hosts.extend(if url.contains(HOLE) { with_holes(url) } else { scan(url) });
            }
            _ => {}
        }
    }
    hosts
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`'))
        .filter(|token| token.contains(':'))
}

/// Special schemes of URL parsers, for which slashes may be backslashes or missing.
fn is_special(scheme: &str) -> bool {
    ["http", "https", "ws", "wss", "ftp"].iter().any(|special| special.eq_ignore_ascii_case(scheme))
}

/// The first `scheme://` of a text (also `https:/x`, `https:\\x`): start, scheme, and where the rest begins.
fn find_scheme(text: &str) -> Option<(usize, &str, usize)> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find(':').map(|at| from + at) {
        let front = text.get(from..at)?;
        let length = front
            .bytes()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
            .count();
        let run = front.get(front.len() - length..)?;
        let skipped = run.len() - run.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).len();
        let scheme = run.get(skipped..)?;
        let behind = text.get(at + 1..)?;
        let slashed = behind.starts_with("//") || is_special(scheme) && behind.starts_with(['/', '\\']);
        if slashed && !scheme.is_empty() {
            return Some((at - scheme.len(), scheme, at + 1));
        }
        from = at + 1;
    }
    None
}

/// Where the next URL of a list begins (`https://a,https://b`); one in a query does not count.
fn next_in_list(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some((start, _, body)) = find_scheme(text.get(from..)?) {
        let before = text.get(..from + start)?.chars().next_back();
        if matches!(before, Some(',' | ';' | '|' | '(' | ')' | '[' | ']' | '{' | '}')) {
            return Some(from + start);
        }
        from += body;
    }
    None
}

fn add_url(hosts: &mut Hosts, url: &str, scheme: &str, whole: bool) {
    if url.len() > MAX_URL_BYTES {
        hosts.opaque = Some("a URL that is too long");
        return;
    }
    // In prose the sentence goes on behind a URL.
    let url = if whole { url } else { url.trim_end_matches([',', ';', '.', ')', ']', '}', '|', '!']) };
    let behind = url.get(scheme.len() + 1..).unwrap_or_default();
    let rest = behind.trim_start_matches(['/', '\\']);
    let begins = rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '[' | '_' | '%' | '@'))
        || rest.starts_with(':') && rest.contains('@');
    if rest.is_empty() || !whole && !begins {
        return;
    }
    if !is_special(scheme) && behind.starts_with("///") {
        return;
    }
    // Every authority is read as a web browser reads it, whatever the scheme: `ssh://0x7f.1/` is 127.0.0.1.
    let written = if is_special(scheme) { url.to_owned() } else { format!("http://{rest}") };
    // SECURITY: some clients end the authority at a slash only, so that a backslash belongs to the user's name; and the
    // URLs of some databases name several hosts.
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, names) = authority.rsplit_once('@').unwrap_or(("", authority));
    let list = names.split('\\').next().unwrap_or_default();
    if list.contains([',', ';']) {
        for part in list.split([',', ';']).filter(|part| !part.is_empty()) {
            match parse(&format!("http://{part}")) {
                Some(found) => found.iter().for_each(|host| hosts.exact(host)),
                None => hosts.opaque = Some("a URL that cannot be read"),
            }
        }
        if !user.contains('\\') {
            return;
        }
    } else if user.contains('\\') {
        match parse(&format!("http://{names}")) {
            Some(found) => found.iter().for_each(|host| hosts.exact(host)),
            None => hosts.opaque = Some("a URL that cannot be read"),
        }
    }
    match parse(&written) {
        Some(found) => found.iter().for_each(|host| hosts.exact(host)),
        None => hosts.opaque = Some("a URL that cannot be read"),
    }
}

/// The names of the host of a URL: as parsed, and the IPv4 form of an IPv6 address that is mapped or translated.
fn parse(url: &str) -> Option<Vec<String>> {
    let url = Url::parse(url).ok()?;
    Some(match url.host()? {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_lowercase();
            if name.is_empty() {
                return None;
            }
            vec![name]
        }
        Host::Ipv4(address) => vec![address.to_string()],
        Host::Ipv6(address) => {
            let mut names = vec![address.to_string()];
            names.extend(address.to_ipv4_mapped().map(|address| address.to_string()));
            // A translator (NAT64) connects to the address in the last four bytes.
            if let [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, last @ ..] = address.octets() {
                names.push(std::net::Ipv4Addr::from(last).to_string());
            }
            names
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(hosts: &Hosts) -> Vec<&str> {
        hosts.found.iter().map(|found| found.host.as_str()).collect()
    }

    #[test]
    fn whole_values() {
        let cases: [(&str, &[&str]); 50] = [
            ("https://api.github.com/x", &["api.github.com"]),
            ("HTTPS://API.GitHub.Com:443/x", &["api.github.com"]),
            ("https://api.github.com./x", &["api.github.com"]),
            ("https://api.github.com@evil.test/", &["evil.test"]),
            ("https://api.github.com:x@evil.test:8443/", &["evil.test"]),
            ("https://evil.test\\@api.github.com/", &["api.github.com", "evil.test"]),
            ("https://api.github.com\\@evil.test:80/", &["evil.test", "api.github.com"]),
            ("mongodb://a.test,b.test/x", &["a.test", "b.test"]),
            ("mongodb://u:p@a.test:1,0x7f.1:2/x", &["a.test", "127.0.0.1"]),
            ("https://a.test;b.test/", &["a.test", "b.test"]),
            ("view-source:https://a.test/", &["a.test"]),
            ("jdbc:mysql://a.test:1/x", &["a.test"]),
            ("https://a.test/\nhttps://b.test/", &["a.test", "b.test"]),
            ("[x](https://a.test/)", &["a.test"]),
            ("https://:@a.test/", &["a.test"]),
            ("http://[64:ff9b::a9fe:a9fe]/", &["64:ff9b::a9fe:a9fe", "169.254.169.254"]),
            ("https://evil.test/?u=https://api.github.com", &["evil.test"]),
            ("https://evil.test#@api.github.com", &["evil.test"]),
            ("https://ev\til.te\nst/", &["evil.test"]),
            ("  https://evil.test/", &["evil.test"]),
            ("https:evil.test", &["evil.test"]),
            ("https:/evil.test/x", &["evil.test"]),
            ("https:\\\\evil.test\\x", &["evil.test"]),
            ("https:////evil.test/x", &["evil.test"]),
            ("//evil.test/x", &["evil.test"]),
            ("\\\\evil.test\\x", &["evil.test"]),
            ("evil.test/x", &["evil.test"]),
            ("evil.test:8080/x", &["evil.test"]),
            ("localhost:3000", &["localhost"]),
            ("user:pw@evil.test", &["evil.test"]),
            ("http://2130706433/", &["127.0.0.1"]),
            ("http://0x7f.1/", &["127.0.0.1"]),
            ("http://0177.0.0.1/", &["127.0.0.1"]),
            ("http://127.1/", &["127.0.0.1"]),
            ("http://[::1]:80/", &["::1"]),
            ("http://[::ffff:127.0.0.1]/", &["::ffff:127.0.0.1", "127.0.0.1"]),
            ("http://%65vil.test/", &["evil.test"]),
            ("http://ｅvil.test/", &["evil.test"]),
            ("http://bücher.example/", &["xn--bcher-kva.example"]),
            ("http://evil。test/", &["evil.test"]),
            ("ssh://git@GitHub.com:22/x", &["github.com"]),
            ("ssh://0x7f.1/x", &["127.0.0.1"]),
            ("git@github.com:a/b.git", &["github.com"]),
            ("postgres://u:p@db.internal:5432/x", &["db.internal"]),
            ("file:///etc/passwd", &[]),
            ("mailto:a@b.test", &[]),
            ("data:text/plain,x", &[]),
            ("/api/x", &[]),
            ("./x", &[]),
            ("readme", &[]),
        ];
        for (text, want) in cases {
            assert_eq!(names(&whole(text, false)), want, "{text:?}");
            assert_eq!(whole(text, false).opaque, None, "{text:?}");
        }
        for text in ["http://", "https://[::1", "http://a b/", "http://evil.test:99999/", "https://x<y>/"] {
            let hosts = whole(text, false);
            assert!(
                hosts.found.is_empty() && (hosts.opaque.is_some() || text == "http://"),
                "{text:?} {hosts:?}"
            );
        }
        assert_eq!(names(&whole("intranet", true)), ["intranet"]);
        assert_eq!(names(&whole("example.com.evil.test", true)), ["example.com.evil.test"]);
    }

    #[test]
    fn inside_texts() {
        let cases: [(&str, &[&str]); 12] = [
            ("see https://a.test/x and http://b.test.", &["a.test", "b.test"]),
            ("https://a.test,https://b.test", &["a.test", "b.test"]),
            ("https://a.test/?u=https://b.test/", &["a.test"]),
            ("[x](https://a.test/y)", &["a.test"]),
            ("<a href=\"https://a.test\">", &["a.test"]),
            ("git+ssh://git@a.test/x", &["a.test"]),
            ("see http://:@a.test/x", &["a.test"]),
            ("x:https:\\\\a.test", &["a.test"]),
            ("std::vector, a://", &[]),
            ("use http:// here", &[]),
            ("file:///etc/passwd", &[]),
            ("10:30 a:b", &[]),
        ];
        for (text, want) in cases {
            let hosts = scan(text);
            let mut found = names(&hosts);
            found.iter_mut().for_each(|host| *host = host.trim_end_matches(')'));
            assert_eq!(found, want, "{text:?}");
        }
    }

    #[test]
    fn holes_reach_the_host_unless_a_slash_is_between() {
        assert_eq!(whole("https://a.test/\u{1}", true).found, scan("https://a.test/").found);
        for text in ["https://a.test\u{1}", "https://\u{1}.test/", "\u{1}", "https://\u{1}@a.test/"] {
            assert_eq!(whole(text, true), Hosts::any(), "{text:?}");
        }
        assert_eq!(scan_with_holes("-x=https://a.test/\u{1}").found, scan("https://a.test/").found);
        assert_eq!(scan_with_holes("-x=https://\u{1}"), Hosts::any());
    }

    #[test]
    fn long_texts_are_linear() {
        let start = std::time::Instant::now();
        for text in ["a:", "a://", "https://a,", "://", "a.", "https://a/?u=https://b&"] {
            let _ = scan(&text.repeat(400_000 / text.len()));
        }
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }
}
