//! The knowledge of programs in the built-in packs, block by block.
//!
//! INVARIANT: what is found here is a slip of the pen: a name or flag told twice, a flag that is none.

use crate::packs::PACKS;
use policy_grammar::ast::{EffectPlace, Item, Program, ProgramFact, Text};
use policy_grammar::source::FileId;
use std::collections::{BTreeMap, BTreeSet};

/// What is found wrong, each with the block it stands in.
#[derive(Default)]
struct Slips(Vec<String>);

impl Slips {
    fn tell(&mut self, place: &str, what: &str) {
        self.0.push(format!("{place}: {what}"));
    }

    /// Flags of one list: each written as a flag, each once.
    fn flags(&mut self, place: &str, flags: &[Text]) {
        for flag in flags.iter().filter(|flag| !is_flag(&flag.node)) {
            self.tell(place, &format!("`{}` is no flag", flag.node));
        }
        self.once(place, flags);
    }

    fn once(&mut self, place: &str, words: &[Text]) {
        let mut known = BTreeSet::new();
        for word in words.iter().filter(|word| !known.insert(word.node.as_str())) {
            self.tell(place, &format!("`{}` stands there twice", word.node));
        }
    }

    fn place(&mut self, place: &str, of: &EffectPlace) {
        if let EffectPlace::Flags(flags) = of {
            self.flags(place, flags);
        }
    }

    /// All that is said of a program, or of what stands under some words of it: blocks of one pack add up.
    fn facts(&mut self, place: &str, facts: &[&ProgramFact]) {
        // By flag: whether it takes a value.
        let mut values: BTreeMap<&str, bool> = BTreeMap::new();
        let mut whole: BTreeSet<String> = BTreeSet::new();
        let mut under: BTreeMap<&str, Vec<&ProgramFact>> = BTreeMap::new();
        for fact in facts {
            let text = without_spans(fact);
            if !whole.insert(text.clone()) {
                self.tell(place, &format!("said twice: {text}"));
            }
            let (flags, value): (&[Text], bool) = match fact {
                ProgramFact::ValueFlags(flags)
                | ProgramFact::PairFlags(flags)
                | ProgramFact::PlaceholderFlags(flags)
                | ProgramFact::FolderFlags(flags) => (flags, true),
                ProgramFact::PlainFlags(flags) => (flags, false),
                _ => (&[], false),
            };
            for flag in flags {
                if values.insert(&flag.node, value).is_some_and(|before| before != value) {
                    self.tell(place, &format!("`{}` is told with a value and without", flag.node));
                }
            }
            self.lists(place, fact);
            if let ProgramFact::Under { words, facts } = fact {
                self.once(place, words);
                for word in words {
                    if word.node.split(' ').any(|part| part.is_empty() || part.starts_with('-')) {
                        self.tell(place, &format!("`{}` is no operand", word.node));
                    }
                    under.entry(&word.node).or_default().extend(facts.iter().map(|fact| &fact.node));
                }
            }
        }
        for (word, facts) in under {
            self.facts(&format!("{place} {word}"), &facts);
        }
    }

    fn lists(&mut self, place: &str, fact: &ProgramFact) {
        match fact {
            ProgramFact::ValueFlags(flags)
            | ProgramFact::AttachedFlags(flags)
            | ProgramFact::PairFlags(flags)
            | ProgramFact::PlainFlags(flags)
            | ProgramFact::PlaceholderFlags(flags)
            | ProgramFact::InertFlags(flags)
            | ProgramFact::InputFlags(flags)
            | ProgramFact::FolderFlags(flags)
            | ProgramFact::TakesTrees(flags) => self.flags(place, flags),
            ProgramFact::RunsFlags { flags, .. } | ProgramFact::RunsFlagsOf { flags, .. } => {
                self.flags(place, flags);
            }
            ProgramFact::RunsOperandCode { unless, .. } | ProgramFact::RunsOperandFile { unless, .. } => {
                self.flags(place, unless);
            }
            ProgramFact::Effect { place: of, with, unless, .. } => {
                self.place(place, of);
                self.flags(place, with);
                self.flags(place, unless);
                for flag in with.iter().filter(|flag| unless.iter().any(|other| other.node == flag.node)) {
                    self.tell(place, &format!("with and unless `{}`", flag.node));
                }
            }
            ProgramFact::ConnectsTo(of) => self.place(place, of),
            ProgramFact::SameWords(words)
            | ProgramFact::Placeholders(words)
            | ProgramFact::EndWords(words)
            | ProgramFact::RunsBeginnings(words)
            | ProgramFact::PrintsNames(words) => self.once(place, words),
            _ => {}
        }
    }
}

/// `-x`, `--long`, `-long`, `+x`; `/x` is told as `-x`, and Windows' own names have capitals.
fn is_flag(flag: &str) -> bool {
    let name = flag.strip_prefix("--").or_else(|| flag.strip_prefix(['-', '+']));
    let inside = |c: char| c.is_ascii_alphanumeric() || "-_.:?#@%=*+!$,&^~".contains(c);
    name.is_some_and(|name| !name.is_empty() && !name.starts_with('-') && name.chars().all(inside))
}

/// A fact without the places where its words stand, for comparing.
fn without_spans(fact: &ProgramFact) -> String {
    let text = format!("{fact:?}");
    let mut parts = text.split("span: ");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    out
}

#[test]
fn blocks_of_programs_hold_no_slips() {
    let mut slips = Slips::default();
    let mut packs: BTreeMap<String, &str> = BTreeMap::new();
    for (pack, text) in PACKS.iter().filter(|(name, _)| name.starts_with("std/programs")) {
        let parsed = policy_grammar::parse(FileId::default(), text);
        assert!(parsed.diagnostics.is_empty(), "{pack}: {:#?}", parsed.diagnostics);
        let mut programs: BTreeMap<String, Vec<&ProgramFact>> = BTreeMap::new();
        for item in &parsed.file.items {
            let Item::Program(Program { names, facts, .. }) = item else { continue };
            slips.once(pack, names);
            for name in names {
                programs.entry(name.node.clone()).or_default().extend(facts.iter().map(|fact| &fact.node));
            }
        }
        for (name, facts) in programs {
            if let Some(other) = packs.insert(name.clone(), pack) {
                slips.tell(pack, &format!("`{name}` has a block in {other} too"));
            }
            slips.facts(&format!("{pack}: {name}"), &facts);
        }
    }
    assert!(packs.len() > 1000, "{} programs", packs.len());
    assert!(slips.0.is_empty(), "{}", slips.0.join("\n"));
}
