//! The file of a feed: one JSON object, read strictly.
//!
//! INVARIANT: a key that is not known, a value of another kind and a list that is too long are errors, with the name of the key.

use serde::Deserialize;
use std::collections::BTreeSet;

/// Most entries of a list.
const MOST: usize = 100_000;
/// Most patterns of tokens.
const MOST_PATTERNS: usize = 500;

/// A feed.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Feed {
    /// Names of packages, or `ecosystem:name`.
    pub(super) compromised_packages: BTreeSet<String>,
    pub(super) vulnerable_versions: Vec<Versions>,
    pub(super) critical_cves: Vec<Cve>,
    pub(super) secret_patterns: Vec<Token>,
    pub(super) malicious_urls: Vec<String>,
    pub(super) blocked_domains: BTreeSet<String>,
    pub(super) compromised_actions: Vec<Action>,
    pub(super) team_budget: Option<Budget>,
}

/// Versions of a package with a known hole.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Versions {
    #[serde(default)]
    pub(super) ecosystem: String,
    pub(super) package: String,
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) introduced: String,
    #[serde(default)]
    pub(super) fixed: Option<String>,
}

/// One version of a product with a critical hole.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cve {
    pub(super) product: String,
    pub(super) version: String,
    #[serde(default)]
    pub(super) id: String,
}

/// A kind of token: a beginning, and what follows it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Token {
    pub(super) id: String,
    pub(super) prefix: String,
    pub(super) letters: Letters,
    /// Letters that follow at least.
    pub(super) length: usize,
    #[serde(default)]
    pub(super) severity: Grade,
}

/// Which letters follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Letters {
    Digits,
    Hex,
    Lower,
    Alnum,
    Base64,
    Base64url,
}

impl Letters {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Letters::Digits => byte.is_ascii_digit(),
            Letters::Hex => byte.is_ascii_hexdigit(),
            Letters::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Letters::Alnum => byte.is_ascii_alphanumeric(),
            Letters::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Letters::Base64url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
        }
    }
}

/// How bad it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Grade {
    Low,
    Medium,
    #[default]
    High,
    Critical,
}

/// Versions of an action that were tampered with.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Action {
    pub(super) repo: String,
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) introduced: String,
    #[serde(default)]
    pub(super) fixed: Option<String>,
}

/// What of its budget the team has used.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budget {
    pub(super) percent_used: u32,
}

impl Feed {
    /// Reads a feed.
    pub(super) fn parse(bytes: &[u8]) -> Result<Feed, String> {
        let value = policy_hosts::event::strict_json(bytes)?;
        let mut feed: Feed = serde_json::from_value(value).map_err(|error| error.to_string())?;
        for (what, count, most) in [
            ("compromised_packages", feed.compromised_packages.len(), MOST),
            ("vulnerable_versions", feed.vulnerable_versions.len(), MOST),
            ("critical_cves", feed.critical_cves.len(), MOST),
            ("secret_patterns", feed.secret_patterns.len(), MOST_PATTERNS),
            ("malicious_urls", feed.malicious_urls.len(), MOST),
            ("blocked_domains", feed.blocked_domains.len(), MOST),
            ("compromised_actions", feed.compromised_actions.len(), MOST),
        ] {
            if count > most {
                return Err(format!("`{what}` has more than {most} entries"));
            }
        }
        if let Some(token) =
            feed.secret_patterns.iter().find(|token| token.prefix.len() < 2 || token.length < 4)
        {
            return Err(format!(
                "the pattern `{}` has a `prefix` under 2 or a `length` under 4 letters",
                token.id
            ));
        }
        let lower = |texts: BTreeSet<String>| texts.into_iter().map(|text| text.to_lowercase()).collect();
        feed.compromised_packages = lower(feed.compromised_packages);
        feed.blocked_domains = lower(feed.blocked_domains);
        Ok(feed)
    }
}
