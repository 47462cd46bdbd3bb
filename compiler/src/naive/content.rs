//! What content lines say: "Guards" of `docs/semantics.md`.
//!
//! INVARIANT: an automaton of each whole pattern is tried at every place of every text; no literal, no filter, one text at a time.

use super::{Naive, Value, known};
use crate::ir::{Matcher, Pattern, Secret, View};
use policy_runtime::facts::TextFact;
use policy_runtime::run_match::Match;
use policy_runtime::secret::{Checksum, Conditions, judge};
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

type Dfa = dense::DFA<Vec<u32>>;

thread_local! {
    /// Automata by their patterns: the generator has few.
    static MADE: RefCell<BTreeMap<String, Option<Rc<Dfa>>>> = const { RefCell::new(BTreeMap::new()) };
}

fn automaton(pattern: &str) -> Option<Rc<Dfa>> {
    let make = || {
        let nfa = thompson::Config::new().utf8(false).which_captures(thompson::WhichCaptures::None);
        let dfa = dense::Config::new().start_kind(StartKind::Anchored).match_kind(MatchKind::All);
        let mut builder = dense::Builder::new();
        builder.syntax(syntax::Config::new().unicode(false).utf8(false)).thompson(nfa).configure(dfa);
        builder.build(pattern).ok().map(Rc::new)
    };
    MADE.with_borrow_mut(|made| made.entry(pattern.to_owned()).or_insert_with(make).clone())
}

/// The matches of a pattern that lie in no other match of it.
fn matches(pattern: &str, text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let Some(dfa) = automaton(pattern) else { return all };
    for start in 0..=text.len() {
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let Ok(mut state) = dfa.start_state_forward(&input) else { return all };
        let mut end = None;
        for (at, byte) in text.bytes().enumerate().skip(start) {
            state = dfa.next_state(state, byte);
            if dfa.is_match_state(state) {
                end = Some(at);
            }
        }
        if dfa.is_match_state(dfa.next_eoi_state(state)) {
            end = Some(text.len());
        }
        all.extend(end.map(|end| start..end));
    }
    let inside = |one: &Range<usize>, other: &Range<usize>| {
        one != other && other.start <= one.start && one.end <= other.end
    };
    all.iter().filter(|one| !all.iter().any(|other| inside(one, other))).cloned().collect()
}

/// The secrets of a format in a text: what matched, and the value in it.
fn secrets(secret: &Secret, text: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let checksum = Checksum::ALL[secret.checksum as usize].0;
    let conditions = Conditions { entropy: secret.entropy, checksum };
    let all = secret.patterns.iter().flat_map(|pattern| matches(pattern, text));
    let judged = all.filter_map(|matched| {
        let samples = secret.samples.iter().map(String::as_str);
        Some((matched.clone(), judge(text.as_bytes(), matched, &conditions, samples)?))
    });
    judged.collect()
}

impl Naive<'_> {
    /// Every text of the call before the content lines of a guard.
    pub(super) fn texts(&mut self, block: usize, exceptions: &[usize]) {
        let facts = self.facts;
        let own = |pattern: &Pattern| self.policy.lines[pattern.line.0 as usize].block.0 as usize == block;
        let content =
            |pattern: &Pattern| matches!(pattern.matcher, Matcher::Content(..) | Matcher::Secret(..));
        let patterns: Vec<(usize, Pattern)> = self.policy.patterns.iter().cloned().enumerate().collect();
        let patterns: Vec<_> = patterns.into_iter().filter(|(_, p)| own(p) && content(p)).collect();
        if patterns.is_empty() {
            return;
        }
        for text in &facts.texts {
            let value = self.place_of(text);
            let lies = self.loose(&self.policy.blocks[block], value);
            if lies == Match::No {
                continue;
            }
            if !text.gap.is_empty() {
                self.floor();
            }
            for (index, pattern) in &patterns {
                let line = self.policy.lines[pattern.line.0 as usize].clone();
                let found = self.brings(&pattern.matcher, text);
                self.count(|| format!("match: Guard {:?} {:?} {found:?}", line.verb, line.kind));
                if found == Match::Certain && !self.opened(block, value, exceptions) {
                    self.tighten(block, line.verb, lies == Match::Certain, 2 * index + 2);
                }
            }
        }
    }

    /// "A text lies where its file does, one without a file where the call does." Equal paths are one.
    fn place_of(&self, text: &TextFact) -> Value {
        let paths = &self.facts.paths;
        let Some(own) = text.path.and_then(|index| paths.get(index as usize)) else { return Value::Call };
        let same = |path: &&_| {
            let path: &policy_runtime::facts::PathFact = path;
            (&path.names, path.form, path.access, &path.written)
                == (&own.names, own.form, own.access, &own.written)
        };
        let first = paths.iter().position(|path| same(&path)).filter(|_| known(&own.names));
        first.map_or(Value::Call, Value::Path)
    }

    fn brings(&self, matcher: &Matcher, text: &TextFact) -> Match {
        let before = text.before.as_deref().unwrap_or_default();
        let new = |matched: &Range<usize>| {
            text.added.iter().any(|part| part.start < matched.end && matched.start < part.end)
        };
        let found = match matcher {
            Matcher::Content(View::Before, pattern) => !matches(pattern, before).is_empty(),
            Matcher::Content(View::After, pattern) => !matches(pattern, &text.after).is_empty(),
            Matcher::Content(View::Added, pattern) => {
                let old: Vec<&str> =
                    matches(pattern, before).into_iter().map(|matched| &before[matched]).collect();
                let all = matches(pattern, &text.after);
                // What comes together because a line between went is new, though no line is.
                let joined = |matched: &Range<usize>| {
                    text.before.is_some() && !old.contains(&&text.after[matched.clone()])
                };
                all.iter().any(|matched| new(matched) || joined(matched))
            }
            Matcher::Secret(view, number) => {
                let secret = &self.policy.secrets[*number as usize];
                let after = || secrets(secret, &text.after);
                match view {
                    View::Before => !secrets(secret, before).is_empty(),
                    View::After => !after().is_empty(),
                    View::Added => after().iter().any(|(matched, value)| {
                        let old = self.old_secrets(before).contains(&&text.after[value.clone()]);
                        self.count(|| format!("secret: {}", if old { "known" } else { "new" }));
                        if text.before.is_some() { !old } else { new(matched) }
                    }),
                }
            }
            _ => false,
        };
        Match::sure(found)
    }

    /// "One that stands in the text before the call is not added": of any format that a line looks for.
    fn old_secrets<'t>(&self, before: &'t str) -> Vec<&'t str> {
        let wanted = self.policy.patterns.iter().filter_map(|pattern| match pattern.matcher {
            Matcher::Secret(_, number) => self.policy.secrets.get(number as usize),
            _ => None,
        });
        wanted.flat_map(|secret| secrets(secret, before)).map(|(_, value)| &before[value]).collect()
    }
}
