//! What the feed says, and what becomes of a bad file.
//!
//! INVARIANT: no file, no word; a damaged one is a gap.

use super::installs::{installs, lies};
use super::*;
use crate::testing::Scratch;
use policy_runtime::facts::{CommandFact, Part, TextFact, TextRole, Word};

const FEED: &str = r#"{"compromised_packages": ["evil-pkg", "pypi:Bad"],
 "vulnerable_versions": [{"ecosystem": "npm", "package": "lodash", "id": "GHSA-x", "introduced": "0", "fixed": "4.17.21"}],
 "critical_cves": [{"id": "CVE-1", "product": "log4j", "version": "2.14.1"}],
 "secret_patterns": [{"id": "fake", "prefix": "fk_", "letters": "lower", "length": 16}],
 "malicious_urls": ["https://bad.example/x"], "blocked_domains": ["ads.example"],
 "compromised_actions": [{"repo": "bad/action", "introduced": "0", "fixed": "46"}],
 "team_budget": {"percent_used": 120}}"#;

fn command(text: &str) -> CommandFact {
    let words: Vec<Word> = text.split(' ').map(|word| Word::Known(word.to_owned())).collect();
    let mut parts: Vec<Part> = text
        .split(' ')
        .map(|word| match word.starts_with('-') {
            true => Part::Flag { names: vec![word.to_owned()], value: None },
            false => Part::Operand,
        })
        .collect();
    parts[0] = Part::Program;
    CommandFact { words, parts, ..CommandFact::default() }
}

fn feeds(name: &str, text: &str) -> Feeds {
    let scratch = Scratch::new(name);
    let path = scratch.folder("feed").join("feeds.json");
    open::write(&path, text.as_bytes(), 0o600).unwrap();
    let feeds = Feeds::at(path);
    let _ = feeds.known();
    feeds
}

#[test]
fn packages_that_are_installed() {
    let feeds = feeds("feed-installs", FEED);
    let said = |check: &str, text: &str| {
        let facts = Facts { commands: vec![command(text)], ..Facts::default() };
        !feeds.check(check, &facts, Target::Command(0)).unwrap().is_empty()
    };
    for (check, text, wanted) in [
        ("no-compromised-dependency", "npm install ok evil-pkg", true),
        ("no-compromised-dependency", "bun add evil-pkg", true),
        ("no-compromised-dependency", "npx evil-pkg@1.0.0", true),
        ("no-compromised-dependency", "npm i nice@npm:evil-pkg@1", true),
        ("no-compromised-dependency", "npm i evil-pkg-not", false),
        ("no-compromised-dependency", "uv pip install bad==1", true),
        ("no-compromised-dependency", "npm i bad", false),
        ("no-compromised-dependency", "npm ls evil-pkg", false),
        ("no-vulnerable-version-install", "npm i lodash@4.17.20", true),
        ("no-vulnerable-version-install", "npm i lodash@^4.17.0", true),
        ("no-vulnerable-version-install", "npm i lodash@4.17.21", false),
        ("no-vulnerable-version-install", "npm i lodash", false),
        ("no-vulnerable-version-install", "pip install lodash==4.0", false),
        ("no-nvd-critical-cve-install", "docker pull log4j:2.14.1", true),
        ("no-nvd-critical-cve-install", "docker pull registry.example/a/log4j:2.14.1-jdk", true),
        ("no-nvd-critical-cve-install", "apt-get install log4j=2.14.1-1", true),
        ("no-nvd-critical-cve-install", "cargo install log4j --version 2.14.1", true),
        ("no-nvd-critical-cve-install", "docker pull log4j:2.17.0", false),
    ] {
        assert_eq!(said(check, text), wanted, "{check} {text}: {:?}", installs(&command(text)));
    }
    assert!(lies("46.0", "0", Some("46.0.1")) && !lies("46", "0", Some("46")));
}

#[test]
fn texts_that_are_written() {
    let feeds = feeds("feed-texts", FEED);
    let said = |check: &str, path: &str, before: &str, after: &str| -> Vec<u32> {
        let path = policy_runtime::facts::PathFact { written: path.to_owned(), ..Default::default() };
        let added = after.match_indices('\n').map(|(at, _)| at + 1).chain([after.len()]);
        let mut start = 0;
        let lines = added.map(|end| {
            let line = start..end;
            start = end;
            line
        });
        let added = lines.filter(|line| !before.contains(after.get(line.clone()).unwrap())).collect();
        let text = TextFact {
            role: TextRole::File,
            path: Some(0),
            after: after.to_owned(),
            added,
            ..TextFact::default()
        };
        let facts = Facts { paths: vec![path], texts: vec![text], ..Facts::default() };
        let found = feeds.check(check, &facts, Target::Text(0)).unwrap();
        found.into_iter().map(|remark| remark.line).collect()
    };
    let token = ["fk", "_abcdef0123456789"].concat();
    assert_eq!(said("no-leaked-secret-pattern", "a.py", "", &format!("x\nt = '{token}'\n")), [2]);
    assert!(said("no-leaked-secret-pattern", "a.py", "", "t = 'fk_short'\n").is_empty());
    assert_eq!(said("no-vulnerable-import", "a.js", "", "const _ = require('lodash')\n"), [1]);
    assert_eq!(said("no-vulnerable-import", "a.ts", "", "a\nimport { x } from \"lodash/fp\"\n"), [2]);
    assert!(
        said(
            "no-vulnerable-import",
            "a.js",
            "const _ = require('lodash')\n",
            "const _ = require('lodash')\nx\n"
        )
        .is_empty()
    );
    assert!(said("no-vulnerable-import", "a.js", "", "import x from './lodash'\n").is_empty());
    assert_eq!(
        said("no-compromised-action", ".github/workflows/a.yml", "", "    - uses: bad/action@v45\n"),
        [1]
    );
    assert!(
        said("no-compromised-action", ".github/workflows/a.yml", "", "    - uses: bad/action@v46\n")
            .is_empty()
    );
}

#[test]
fn addresses_and_budget() {
    let feeds = feeds("feed-hosts", FEED);
    let said = |check: &str, text: &str, host: &str| {
        let domain = policy_runtime::facts::DomainFact { host: host.to_owned(), ..Default::default() };
        let facts = Facts { commands: vec![command(text)], domains: vec![domain], ..Facts::default() };
        !feeds.check(check, &facts, Target::Call).unwrap().is_empty()
    };
    assert!(said("no-malicious-url-fetch", "curl https://bad.example/x?y", "bad.example"));
    assert!(!said("no-malicious-url-fetch", "curl https://bad.example/xy", "bad.example"));
    assert!(!said("no-malicious-url-fetch", "echo https://bad.example/x", "other.example"));
    assert!(said("no-blocked-domain-fetch", "curl https://x.ads.example/a", "x.ads.example"));
    assert!(!said("no-blocked-domain-fetch", "curl https://bads.example/a", "bads.example"));
    assert!(said("token-burn-against-team-budget", "ls", "a"));
}

#[test]
fn no_file_is_silent_and_a_damaged_one_is_a_gap() {
    let scratch = Scratch::new("feed-none");
    let none = Feeds::at(scratch.folder("empty").join("feeds.json"));
    assert_eq!(none.check("no-blocked-domain-fetch", &Facts::default(), Target::Call), Some(Vec::new()));
    assert_eq!(none.gap(), None);
    assert_eq!(none.check("max-file-size", &Facts::default(), Target::Call), None);
    for (name, text) in [
        ("feed-broken", "{"),
        ("feed-key", "{\"blocked_domain\": []}"),
        ("feed-kind", "{\"blocked_domains\": 3}"),
        ("feed-twice", "{\"blocked_domains\": [], \"blocked_domains\": []}"),
        (
            "feed-token",
            "{\"secret_patterns\": [{\"id\": \"a\", \"prefix\": \"x\", \"letters\": \"hex\", \"length\": 9}]}",
        ),
    ] {
        let damaged = feeds(name, text);
        assert!(damaged.gap().is_some_and(|cause| cause.contains("cannot be used")), "{text}");
    }
}
