//! Reads `data/words.txt` and `data/rules.txt`; runs when the crate is built, so that a program has nothing to read.
//!
//! INVARIANT: a line that cannot be read stops the build.

use crate::classes::CLASSES;
use crate::fold;
use crate::shared::{OWN, Symbol, WordId, letters};
use std::borrow::Cow;
use std::collections::HashMap;

/// One step of a rule.
pub(crate) struct Step {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) gap: u8,
    pub(crate) order: bool,
    pub(crate) marked: bool,
    pub(crate) optional: bool,
    pub(crate) first: bool,
}

/// A rule as read.
pub(crate) struct Rule {
    pub(crate) class: u8,
    pub(crate) strength: u8,
    pub(crate) steps: Vec<Step>,
    pub(crate) unless: Vec<Symbol>,
}

/// Everything that the files say.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) words: HashMap<Cow<'static, str>, WordId>,
    pub(crate) pairs: HashMap<(WordId, WordId), WordId>,
    /// For each word id: its symbols and whether a run of words begins with it.
    pub(crate) entries: Vec<(Vec<Symbol>, bool)>,
    pub(crate) symbols: HashMap<&'static str, Symbol>,
    pub(crate) rules: Vec<Rule>,
    /// For each symbol the rules that cannot hold without one of its kind.
    pub(crate) needing: Vec<Vec<u16>>,
    /// Words whose letters may be in disorder.
    pub(crate) scrambled: HashMap<u64, WordId>,
    pub(crate) bad: Vec<String>,
    runs: Vec<bool>,
}

impl Reading {
    pub(crate) fn read(words: &'static str, rules: &'static str) -> Reading {
        let mut lexicon = Reading {
            words: HashMap::with_capacity(5000),
            pairs: HashMap::with_capacity(3000),
            symbols: HashMap::with_capacity(2500),
            entries: Vec::with_capacity(7000),
            rules: Vec::with_capacity(700),
            ..Reading::default()
        };
        lexicon.entries.push((Vec::new(), false));
        for own in OWN {
            lexicon.symbol(own);
        }
        for line in words.lines() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((kind, words)) = line.split_once(':') else {
                lexicon.bad.push(line.to_string());
                continue;
            };
            let symbol = lexicon.symbol(kind.trim());
            for word in words.split_whitespace() {
                let id = lexicon.add(word, Some(symbol));
                if matches!(kind, "IGNORE" | "PREV" | "INSTR")
                    && let Some(key) = letters(word)
                {
                    lexicon.scrambled.entry(key).or_insert(id);
                }
            }
        }
        for line in rules.lines() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match lexicon.rule(line) {
                Some(rule) => lexicon.rules.push(rule),
                None => lexicon.bad.push(line.to_string()),
            }
        }
        lexicon.index();
        lexicon
    }

    /// Each rule is tried only where its rarest step can stand.
    fn index(&mut self) {
        let mut sizes = vec![0usize; self.symbols.len()];
        for (symbols, _) in &self.entries {
            for symbol in symbols {
                if let Some(size) = sizes.get_mut(usize::from(*symbol)) {
                    *size += 1;
                }
            }
        }
        self.needing = vec![Vec::new(); self.symbols.len()];
        for (number, rule) in self.rules.iter().enumerate() {
            let weight = |step: &Step| -> usize {
                step.symbols
                    .iter()
                    .map(|symbol| sizes.get(usize::from(*symbol)).copied().unwrap_or(0) + 1)
                    .sum()
            };
            let rarest = rule.steps.iter().filter(|step| !step.optional).min_by_key(|step| weight(step));
            let Ok(number) = u16::try_from(number) else { break };
            for symbol in rarest.map_or(&[][..], |step| step.symbols.as_slice()) {
                if let Some(rules) = self.needing.get_mut(usize::from(*symbol)) {
                    rules.push(number);
                }
            }
        }
    }

    fn symbol(&mut self, name: &'static str) -> Symbol {
        if let Some(symbol) = self.symbols.get(name) {
            return *symbol;
        }
        let next = u16::try_from(self.symbols.len()).unwrap_or(u16::MAX);
        self.symbols.insert(name, next);
        self.runs.push(false);
        next
    }

    fn word(&mut self, word: Cow<'static, str>) -> WordId {
        if let Some(id) = self.words.get(&word) {
            return *id;
        }
        let id = u16::try_from(self.entries.len()).unwrap_or(0);
        self.entries.push((Vec::new(), false));
        self.words.insert(word, id);
        id
    }

    /// Adds a word or a run of words joined by `_` or `-`.
    fn add(&mut self, text: &'static str, symbol: Option<Symbol>) -> WordId {
        let (mut at, mut parts, mut joined) = (0, 0, String::new());
        for part in text.split(['_', '-', '.']).filter(|part| !part.is_empty()) {
            let folded = if part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
                Cow::Borrowed(part)
            } else {
                let mut folded = String::new();
                part.chars().for_each(|c| fold::fold(c, &mut folded));
                Cow::Owned(folded)
            };
            if text.len() > part.len() {
                joined.push_str(&folded);
            }
            let id = self.word(folded);
            parts += 1;
            at = if parts == 1 { id } else { self.pair(at, id) };
        }
        let Some(symbol) = symbol else { return at };
        self.mean(at, symbol);
        if parts > 1
            && let Some(run) = self.runs.get_mut(usize::from(symbol))
        {
            *run = true;
        }
        // `api_key` is also written `apikey`.
        if parts == 2 && text.len() >= 7 && text.is_ascii() {
            let joined = self.word(Cow::Owned(joined));
            self.mean(joined, symbol);
        }
        at
    }

    /// The run that `first` and then `next` make.
    fn pair(&mut self, first: WordId, next: WordId) -> WordId {
        if let Some(entry) = self.entries.get_mut(usize::from(first)) {
            entry.1 = true;
        }
        let new = u16::try_from(self.entries.len()).unwrap_or(0);
        let id = *self.pairs.entry((first, next)).or_insert(new);
        if id == new {
            self.entries.push((Vec::new(), false));
        }
        id
    }

    fn mean(&mut self, id: WordId, symbol: Symbol) {
        if let Some(entry) = self.entries.get_mut(usize::from(id))
            && !entry.0.contains(&symbol)
        {
            entry.0.push(symbol);
        }
    }

    fn rule(&mut self, line: &'static str) -> Option<Rule> {
        let (head, unless) = line.split_once(" ! ").unwrap_or((line, ""));
        let mut words = head.split_whitespace();
        let class = words.next()?;
        let class = u8::try_from(CLASSES.iter().position(|(name, _)| *name == class)?).ok()?;
        let strength = words.next()?.parse().ok()?;
        let mut steps = Vec::new();
        let mut gap = 0;
        for word in words {
            if let Some(n) = word.strip_prefix('{') {
                gap = n.strip_suffix('}')?.parse().ok()?;
                continue;
            }
            let mut step =
                Step { symbols: Vec::new(), gap, order: false, marked: false, optional: false, first: false };
            let given = std::mem::take(&mut gap);
            let mut text = word;
            if let Some(rest) = text.strip_prefix('^') {
                step.first = true;
                text = rest;
            }
            while let Some(mark) = text.chars().next_back().filter(|c| matches!(c, '@' | ':' | '?')) {
                step.order |= mark == '@';
                step.marked |= mark == ':';
                step.optional |= mark == '?';
                text = text.strip_suffix(mark)?;
            }
            for name in text.split('|') {
                // A step counts words, and a run of words counts as one.
                let extra = u8::try_from(name.matches('_').count()).ok()?;
                let symbol = self.reference(name.trim_end_matches([':', '@']))?;
                step.symbols.push(symbol);
                let extra = extra.max(u8::from(self.runs.get(usize::from(symbol)).is_some_and(|run| *run)));
                let gap = given.saturating_add(extra);
                step.gap = step.gap.max(gap);
                step.marked |= name.ends_with(':');
            }
            steps.push(step);
        }
        let mut refs = Vec::new();
        for name in unless.split_whitespace() {
            refs.push(self.reference(name)?);
        }
        (!steps.is_empty()).then_some(Rule { class, strength, steps, unless: refs })
    }

    /// The symbol of a kind, or of a word that a rule names itself.
    fn reference(&mut self, name: &'static str) -> Option<Symbol> {
        if name.is_empty() {
            return None;
        }
        if name.chars().all(|c| c.is_ascii_uppercase()) {
            return self.symbols.get(name).copied();
        }
        let symbol = self.symbol(name);
        self.add(name, Some(symbol));
        Some(symbol)
    }
}
