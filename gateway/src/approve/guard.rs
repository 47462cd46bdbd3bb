//! Which requests are looked at at all.
//!
//! INVARIANT: what another site, another port of this machine, a frame or a file sends is refused before anything of it is read;
//! only opening the page with a place that is expected may come from elsewhere, and that answers with the page, which holds nothing.

/// What is looked at of a request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked<'a> {
    pub(crate) post: bool,
    pub(crate) path: &'a str,
    /// `None` when there is none, or more than one.
    pub(crate) host: Option<&'a str>,
    pub(crate) origin: Option<&'a str>,
    pub(crate) site: Option<&'a str>,
    pub(crate) mode: Option<&'a str>,
    pub(crate) dest: Option<&'a str>,
}

/// The place at which the page is opened from the file.
pub(crate) const OPEN: &str = "/open/";

/// Why a request is refused.
pub(crate) fn refused(asked: &Asked<'_>, address: &str) -> Option<&'static str> {
    if asked.host != Some(address) {
        return Some("another host");
    }
    let own = |origin: &str| origin.strip_prefix("http://") == Some(address);
    if asked.origin.is_some_and(|origin| !own(origin)) {
        return Some("another origin");
    }
    if asked.post && asked.origin.is_none() {
        return Some("no origin");
    }
    let opening = !asked.post && asked.path.starts_with(OPEN);
    match asked.site {
        None | Some("same-origin") => None,
        Some("none") if !asked.post => None,
        // A file has an origin of its own, so the file that opens the page comes from another site.
        Some("cross-site") if opening && asked.mode == Some("navigate") && asked.dest == Some("document") => {
            None
        }
        Some(_) => Some("another site"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "127.0.0.1:4000";

    fn post() -> Asked<'static> {
        let origin = Some("http://127.0.0.1:4000");
        Asked { post: true, path: "/answer", host: Some(HERE), origin, ..Asked::default() }
    }

    fn get(path: &'static str) -> Asked<'static> {
        Asked { path, host: Some(HERE), ..Asked::default() }
    }

    #[test]
    fn only_the_page_itself() {
        let site = Some("same-origin");
        for fine in [post(), Asked { site, ..post() }, get("/"), Asked { site: Some("none"), ..get("/") }] {
            assert_eq!(refused(&fine, HERE), None, "{fine:?}");
        }
        let hosts =
            [None, Some("localhost:4000"), Some("127.0.0.1"), Some("127.0.0.1:4001"), Some("evil.test:4000")];
        for host in hosts {
            assert!(refused(&Asked { host, ..post() }, HERE).is_some(), "{host:?}");
        }
        let origins = [
            None,
            Some("null"),
            Some("http://evil.test"),
            Some("http://127.0.0.1:4001"),
            Some("https://127.0.0.1:4000"),
            Some("http://localhost:4000"),
            Some("127.0.0.1:4000"),
            Some(""),
        ];
        for origin in origins {
            assert!(refused(&Asked { origin, ..post() }, HERE).is_some(), "{origin:?}");
        }
        for site in ["none", "same-site", "cross-site", "", "SAME-ORIGIN"] {
            assert!(refused(&Asked { site: Some(site), ..post() }, HERE).is_some(), "{site}");
        }
    }

    #[test]
    fn the_file_may_open_it() {
        let navigate = |path, site, mode, dest| Asked {
            site: Some(site),
            mode: Some(mode),
            dest: Some(dest),
            ..get(path)
        };
        assert_eq!(refused(&navigate("/open/12", "cross-site", "navigate", "document"), HERE), None);
        let refused_ones = [
            navigate("/", "cross-site", "navigate", "document"),
            navigate("/questions", "cross-site", "navigate", "document"),
            navigate("/open/12", "same-site", "navigate", "document"),
            navigate("/open/12", "cross-site", "navigate", "iframe"),
            navigate("/open/12", "cross-site", "no-cors", "script"),
            Asked { post: true, ..navigate("/open/12", "cross-site", "navigate", "document") },
        ];
        for asked in refused_ones {
            assert!(refused(&asked, HERE).is_some(), "{asked:?}");
        }
    }
}
