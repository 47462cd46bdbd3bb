//! The contenders: what is built out of globs, and what one look-up of a value is for each.
//!
//! INVARIANT: each names the deciding pattern (the last one that matches), not only whether one does; the hash map, which knows
//! no globs, finds exact texts.

use crate::clock::Job;
use crate::generate::{self, Kind};
use aho_corasick::{AhoCorasick, MatchKind};
use globset::{GlobBuilder, GlobSetBuilder};
use policy_compiler::automata::{GlobInput, build};
use policy_engine::compile;
use policy_runtime::automaton::{Automaton, Scratch};
use policy_runtime::facts::{CommandFact, DomainFact, Facts, PathFact, PathName, ScriptFact, ToolName, Word};
use policy_runtime::glob::{self, Syntax};
use policy_runtime::{Context, Table, decide};
use std::collections::HashMap;
use wildmatch::WildMatch;

/// A set of globs with values to look up.
pub struct Set {
    /// What they are about.
    pub kind: Kind,
    /// The globs.
    pub globs: Vec<String>,
    /// The values.
    pub values: Vec<String>,
}

impl Set {
    /// The set of this kind and size.
    pub fn new(kind: Kind, n: usize) -> Set {
        Set { kind, globs: generate::patterns(kind, n), values: generate::values(kind, n) }
    }

    fn syntax(&self) -> Syntax {
        if self.kind.is_path() { Syntax::Path } else { Syntax::Plain }
    }

    /// Our automaton as bytes.
    pub fn automaton(&self) -> Result<Vec<u8>, String> {
        let globs: Vec<GlobInput> =
            self.globs.iter().zip(1..).map(|(text, id)| GlobInput { text, id }).collect();
        build(&globs, self.syntax(), false).map_err(|error| error.to_string())
    }

    /// A policy of these globs as a table.
    pub fn table(&self) -> Result<Vec<u8>, String> {
        compile::text("bench", &generate::policy(self.kind, self.globs.len()), compile::Kind::Test).usable()
    }

    /// The calls of the values.
    pub fn calls(&self) -> Vec<Facts> {
        self.values.iter().map(|value| call(self.kind, value)).collect()
    }
}

/// A call with one value of a kind.
fn call(kind: Kind, value: &str) -> Facts {
    let tool = match kind {
        Kind::Tool => value,
        Kind::Domain => "webfetch",
        Kind::Command => "bash",
        _ => "read",
    };
    let view = |text: &str| PathName { views: vec![text.to_owned()] };
    let mut facts = Facts {
        readings: vec![ToolName { server: String::new(), tool: tool.to_owned(), own: false }],
        event: "pre_tool_use".to_owned(),
        dir: view("."),
        ..Facts::default()
    };
    match kind {
        Kind::Tool => {}
        Kind::Domain => facts.domains.push(DomainFact { host: value.to_owned(), ..DomainFact::default() }),
        Kind::Command => {
            let text = value.to_owned();
            facts.scripts.push(ScriptFact { text: text.clone(), complete: true, ..ScriptFact::default() });
            facts.commands.push(CommandFact {
                words: value.split(' ').map(|word| Word::Known(word.to_owned())).collect(),
                source: text.clone(),
                text,
                dir: view("."),
                plain: true,
                ..CommandFact::default()
            });
        }
        _ => {
            let names = vec![view(value)];
            facts.paths.push(PathFact { written: value.to_owned(), names, ..PathFact::default() });
        }
    }
    facts
}

/// What is built once; `None` of a look-up is 0, else the number of the pattern plus one.
pub enum Built {
    Automaton(Vec<u8>),
    Decide(Vec<u8>, Vec<Facts>),
    HashMap(HashMap<String, u64>),
    Globset(globset::GlobSet),
    RegexSet(regex::bytes::RegexSet),
    AhoCorasick(Box<AhoCorasick>),
    Wildmatch(Vec<WildMatch>),
}

/// The names, as in tables and arguments.
pub const NAMES: [&str; 7] = [
    "our automaton",
    "our decision",
    "hash map",
    "globset",
    "RegexSet",
    "aho-corasick + verify",
    "wildmatch",
];

/// Those that may take very long or very much memory to build, so that they are first tried in a process of their own.
pub const RISKY: [&str; 3] = ["globset", "RegexSet", "aho-corasick + verify"];

/// Builds a contender.
pub fn built(name: &str, set: &Set) -> Result<Built, String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let separated = |text: &str| {
        GlobBuilder::new(text).literal_separator(set.kind.is_path()).build().map_err(|error| told(&error))
    };
    let globs = || set.globs.iter().map(|text| separated(text)).collect::<Result<Vec<_>, _>>();
    Ok(match name {
        "our automaton" => Built::Automaton(set.automaton()?),
        "our decision" => Built::Decide(set.table()?, set.calls()),
        "hash map" => {
            // As many exact texts, a part of the values among them.
            let known = set.values.iter().step_by(2).chain(&set.globs).take(set.globs.len().max(1));
            Built::HashMap(known.cloned().zip(1..).collect())
        }
        "globset" => {
            let mut builder = GlobSetBuilder::new();
            globs()?.into_iter().for_each(|glob| {
                builder.add(glob);
            });
            Built::Globset(builder.build().map_err(|error| told(&error))?)
        }
        "RegexSet" => {
            let texts: Vec<String> = globs()?.iter().map(|glob| glob.regex().to_owned()).collect();
            let mut builder = regex::bytes::RegexSetBuilder::new(texts);
            builder.size_limit(4 << 30).dfa_size_limit(64 << 20);
            Built::RegexSet(builder.build().map_err(|error| told(&error))?)
        }
        "aho-corasick + verify" => {
            let literals = set.globs.iter().map(|text| longest(text));
            let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(literals);
            Built::AhoCorasick(Box::new(automaton.map_err(|error| told(&error))?))
        }
        "wildmatch" => {
            Built::Wildmatch(set.globs.iter().map(|text| WildMatch::new(&text.replace("**", "*"))).collect())
        }
        other => return Err(format!("`{other}` is no contender")),
    })
}

/// The longest text without wildcards in a glob.
fn longest(text: &str) -> &str {
    text.split(['*', '?']).max_by_key(|part| part.len()).unwrap_or_default()
}

/// One look-up.
pub fn job<'a>(built: &'a Built, set: &'a Set) -> Result<Job<'a>, String> {
    let values = &set.values;
    Ok(match built {
        Built::Automaton(bytes) => {
            let automaton = Automaton::new(bytes).map_err(|error| error.to_string())?;
            let mut scratch = Scratch::new();
            Box::new(move |i| automaton.best(values[i].as_bytes(), &mut scratch).map_or(u64::MAX, u64::from))
        }
        Built::Decide(bytes, calls) => {
            let table = Table::open(bytes).map_err(|error| error.to_string())?;
            let context = Context { today: 20_000 };
            Box::new(move |i| decide(&table, &calls[i], &context).decision as u64)
        }
        Built::HashMap(map) => Box::new(move |i| map.get(&values[i]).copied().unwrap_or(0)),
        Built::Globset(globs) => {
            let mut found = Vec::new();
            Box::new(move |i| {
                globs.matches_into(&values[i], &mut found);
                found.iter().max().map_or(0, |at| *at as u64 + 1)
            })
        }
        Built::RegexSet(regexes) => Box::new(move |i| {
            regexes.matches(values[i].as_bytes()).iter().next_back().map_or(0, |at| at as u64 + 1)
        }),
        Built::AhoCorasick(automaton) => {
            let syntax = set.syntax();
            Box::new(move |i| {
                let mut best = 0;
                for hit in automaton.find_overlapping_iter(&values[i]) {
                    let at = hit.pattern().as_usize();
                    if at as u64 + 1 > best && glob::matches(&set.globs[at], &values[i], syntax, false) {
                        best = at as u64 + 1;
                    }
                }
                best
            })
        }
        Built::Wildmatch(globs) => Box::new(move |i| {
            globs.iter().rposition(|glob| glob.matches(&values[i])).map_or(0, |at| at as u64 + 1)
        }),
    })
}
