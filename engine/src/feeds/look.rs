//! What the feed says about a call.
//!
//! INVARIANT: only what the call brings is looked at; a secret is never repeated; work is linear in call and feed.

use super::file::{Feed, Grade, Token};
use super::installs::{Install, installs, lies, numbers};
use policy_runtime::Facts;
use policy_runtime::facts::{TextFact, TextRole, Word};
use policy_runtime::outside::{Remark, Target};
use policy_runtime::verdict::Severity;
use std::collections::BTreeSet;

/// Most findings of one check in one text.
const MOST_FOUND: usize = 20;

fn remark(message: String) -> Remark {
    Remark { message, ..Remark::default() }
}

/// Runs one check.
pub(super) fn look(feed: &Feed, name: &str, facts: &Facts, target: Target) -> Vec<Remark> {
    let mut found = match target {
        Target::Command(index) => facts.commands.get(index).map_or(Vec::new(), |command| {
            installs(command).iter().filter_map(|install| installed(feed, name, install)).collect()
        }),
        Target::Text(index) => {
            facts.texts.get(index).map_or(Vec::new(), |text| written(feed, name, facts, text))
        }
        Target::Call => called(feed, name, facts),
    };
    found.truncate(MOST_FOUND);
    found
}

fn named(id: &str) -> String {
    if id.is_empty() { String::new() } else { format!(" ({id})") }
}

fn installed(feed: &Feed, name: &str, install: &Install) -> Option<Remark> {
    let package = &install.name;
    match name {
        "no-compromised-dependency" => {
            let own = format!("{}:{package}", install.ecosystem);
            let bad = &feed.compromised_packages;
            (bad.contains(package) || bad.contains(&own))
                .then(|| remark(format!("the package `{package}` is known to be compromised")))
        }
        "no-vulnerable-version-install" => {
            let version = install.version.as_deref()?;
            let hole = feed.vulnerable_versions.iter().find(|hole| {
                hole.package.eq_ignore_ascii_case(package)
                    && of(&hole.ecosystem, install.ecosystem)
                    && numbers(version).is_some()
                    && lies(version, &hole.introduced, hole.fixed.as_deref())
            })?;
            let fixed = hole.fixed.as_ref().map_or(String::new(), |fixed| format!("; fixed in {fixed}"));
            Some(remark(format!("`{package}` {version} has a known hole{}{fixed}", named(&hole.id))))
        }
        "no-nvd-critical-cve-install" => {
            let version = install.version.as_deref()?;
            let plain = version.split(['-', '+']).next().unwrap_or(version).trim_start_matches('v');
            let last = package.rsplit('/').next().unwrap_or(package);
            let cve = feed.critical_cves.iter().find(|cve| {
                cve.product.eq_ignore_ascii_case(last) && numbers(&cve.version) == numbers(plain)
            })?;
            Some(remark(format!("`{package}` {version} has a critical hole{}", named(&cve.id))))
        }
        _ => None,
    }
}

/// Whether a package of a feed is one of this registry.
fn of(feed: &str, ours: &str) -> bool {
    match feed.to_lowercase().as_str() {
        "" => true,
        "npm" => ours == "npm",
        "pypi" | "pip" | "python" => ours == "pypi",
        "crates.io" | "cargo" | "crates" | "rust" => ours == "cargo",
        "rubygems" | "gem" | "ruby" => ours == "gem",
        "go" => ours == "go",
        "packagist" | "composer" => ours == "composer",
        _ => ours == "system" || ours == "image",
    }
}

/// The lines that the call brings, with their numbers.
fn added(text: &TextFact) -> Vec<(u32, &str)> {
    let mut out = Vec::new();
    let (mut at, mut number) = (0, 0);
    let mut parts = text.added.iter().peekable();
    for line in text.after.split('\n') {
        number += 1;
        while parts.next_if(|part| part.end <= at).is_some() {}
        if parts.peek().is_some_and(|part| part.start <= at) {
            out.push((number, line.trim_end_matches('\r')));
        }
        at += line.len() + 1;
    }
    out
}

fn written(feed: &Feed, name: &str, facts: &Facts, text: &TextFact) -> Vec<Remark> {
    let path = text.path.and_then(|path| facts.paths.get(path as usize)).map_or("", |path| &path.written);
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    let mut out = Vec::new();
    let mut tell = |line: u32, message: String, at_most: Option<Severity>| {
        out.push(Remark { line, message, at_most, ..Remark::default() });
    };
    match name {
        "no-leaked-secret-pattern" if text.role != TextRole::Output && text.role != TextRole::Transcript => {
            for (line, text) in added(text) {
                for token in feed.secret_patterns.iter().filter(|token| holds(token, text)) {
                    let hard = matches!(token.severity, Grade::High | Grade::Critical);
                    let at_most = (!hard).then_some(Severity::Warning);
                    tell(line, format!("a secret of the kind `{}` stands here", token.id), at_most);
                }
            }
        }
        "no-vulnerable-import" if text.role == TextRole::File => {
            let (ecosystem, python) = match end {
                "py" | "pyi" => ("pypi", true),
                "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => {
                    ("npm", false)
                }
                _ => return Vec::new(),
            };
            for (line, text) in added(text) {
                let names = if python { python_imports(text) } else { script_imports(text) };
                for package in names {
                    let package = package.to_lowercase();
                    let hole = feed.vulnerable_versions.iter().find(|hole| {
                        let own = hole.package.to_lowercase();
                        of(&hole.ecosystem, ecosystem)
                            && (own == package
                                || python && own.replace('-', "_") == package.replace('-', "_"))
                    });
                    if let Some(hole) = hole {
                        let fixed = hole.fixed.as_deref().unwrap_or("none yet");
                        let message = format!(
                            "`{package}` has versions with a known hole{}; fixed in {fixed}",
                            named(&hole.id)
                        );
                        tell(line, message, None);
                    }
                }
            }
        }
        "no-compromised-action" if text.role == TextRole::File && matches!(end, "yml" | "yaml") => {
            for (line, text) in added(text) {
                let Some((repo, at)) = uses(text) else { continue };
                let action = feed.compromised_actions.iter().find(|action| {
                    action.repo.eq_ignore_ascii_case(&repo)
                        && lies(at, &action.introduced, action.fixed.as_deref())
                });
                if let Some(action) = action {
                    tell(
                        line,
                        format!("the action `{repo}@{at}` is known to be compromised{}", named(&action.id)),
                        None,
                    );
                }
            }
        }
        _ => {}
    }
    out
}

fn called(feed: &Feed, name: &str, facts: &Facts) -> Vec<Remark> {
    match name {
        "no-blocked-domain-fetch" => {
            let blocked = |host: &str| {
                let mut rest = host;
                loop {
                    if feed.blocked_domains.contains(rest) {
                        return true;
                    }
                    match rest.split_once('.') {
                        Some((_, parent)) => rest = parent,
                        None => return false,
                    }
                }
            };
            let hosts: BTreeSet<&str> = facts.domains.iter().map(|domain| domain.host.as_str()).collect();
            let hosts = hosts.into_iter().filter(|host| blocked(host.trim_end_matches('.')));
            hosts.map(|host| remark(format!("the host `{host}` is blocked"))).collect()
        }
        "no-malicious-url-fetch" => {
            if feed.malicious_urls.is_empty() || facts.domains.is_empty() {
                return Vec::new();
            }
            let words =
                facts.commands.iter().flat_map(|command| &command.words).filter_map(|word| match word {
                    Word::Known(text) => Some(text.as_str()),
                    _ => None,
                });
            let texts: Vec<String> = words
                .chain(facts.args.iter().map(|arg| arg.value.as_str()))
                .filter(|text| text.contains('.'))
                .map(str::to_lowercase)
                .collect();
            let bad = feed.malicious_urls.iter().filter(|url| {
                let url = url.to_lowercase();
                let plain = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
                let host = plain.split(['/', '?', '#', ':']).next().unwrap_or_default();
                facts.domains.iter().any(|domain| domain.host == host)
                    && (plain.trim_end_matches('/') == host || texts.iter().any(|text| names(text, plain)))
            });
            bad.map(|url| remark(format!("`{url}` is known to be malicious"))).collect()
        }
        "token-burn-against-team-budget" => match feed.team_budget {
            Some(budget) if budget.percent_used >= 100 => {
                vec![remark(format!("the team has used {} % of its budget", budget.percent_used))]
            }
            Some(budget) if budget.percent_used >= 80 => vec![Remark {
                at_most: Some(Severity::Info),
                ..remark(format!("the team has used {} % of its budget", budget.percent_used))
            }],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Whether a text names an address, or one below it.
fn names(text: &str, address: &str) -> bool {
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once(address) {
        if address.ends_with('/')
            || !behind.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether a token of this kind stands in a line.
fn holds(token: &Token, line: &str) -> bool {
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once(token.prefix.as_str()) {
        let middle = before.ends_with(|c: char| c.is_alphanumeric());
        if !middle
            && behind.bytes().take_while(|byte| token.letters.has(*byte)).take(token.length).count()
                == token.length
        {
            return true;
        }
        rest = behind;
    }
    false
}

/// The action of a step, and the version it names.
fn uses(line: &str) -> Option<(String, &str)> {
    let value = line.trim_start().trim_start_matches("- ").trim_start().strip_prefix("uses:")?;
    let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
    let (path, at) = value.split_once('@')?;
    let mut parts = path.split('/');
    let (owner, repo) = (parts.next()?, parts.next()?);
    Some((format!("{owner}/{repo}"), at))
}

/// The packages that a line of JavaScript or TypeScript imports.
fn script_imports(line: &str) -> Vec<String> {
    let code = line.trim_start();
    if code.starts_with("//") || code.starts_with('*') {
        return Vec::new();
    }
    let mut out = Vec::new();
    for mark in ["require(", "import(", " from ", "import ", "from "] {
        let mut rest = line;
        while let Some((_, behind)) = rest.split_once(mark) {
            rest = behind;
            let behind = behind.trim_start();
            let Some(quote) = behind.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) else {
                continue;
            };
            let Some((name, _)) = behind.get(1..).and_then(|behind| behind.split_once(quote)) else {
                continue;
            };
            let many = if name.starts_with('@') { 2 } else { 1 };
            let name = name.split('/').take(many).collect::<Vec<_>>().join("/");
            if !name.is_empty() && !name.starts_with('.') && !out.contains(&name) {
                out.push(name);
            }
        }
    }
    out
}

/// The modules that a line of Python imports.
fn python_imports(line: &str) -> Vec<String> {
    let code = line.trim();
    let first = |text: &str| text.trim().split(['.', ' ', ';', '#']).next().unwrap_or_default().to_owned();
    let names: Vec<String> = if let Some(rest) = code.strip_prefix("from ") {
        vec![first(rest)]
    } else if let Some(rest) = code.strip_prefix("import ") {
        rest.split(',').map(first).collect()
    } else {
        Vec::new()
    };
    names.into_iter().filter(|name| !name.is_empty()).collect()
}
