//! The words that mean something here, their kinds, and the rules over kinds, read once from `data/`.
//!
//! INVARIANT: looking a word up takes a bounded number of steps whatever the text; a line of `data/` that cannot be
//! read is kept in `bad`, and a test wants `bad` empty.

use crate::fold;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

/// A word or a run of words; 0 is no word.
pub(crate) type WordId = u16;
/// A kind of word, or one word that a rule names.
pub(crate) type Symbol = u16;

/// Symbols that the reader sets itself.
pub(crate) const OWN: [&str; 16] = [
    "ADDR",
    "EMAIL",
    "URL",
    "NUM",
    "AMOUNT",
    "IDENT",
    "SECRETFILE",
    "MARKTURN",
    "MARKROLE",
    "IMAGEDATA",
    "LINKDATA",
    "PATH",
    "REF",
    "IBAN",
    "CRYPTO",
    "HUGE",
];

/// The longest word that is looked up, in bytes.
pub(crate) const LONGEST: usize = 40;

/// One step of a rule.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Any of these.
    pub(crate) symbols: Vec<Symbol>,
    /// How many words may stand before it.
    pub(crate) gap: u8,
    /// Where an order begins.
    pub(crate) order: bool,
    /// Punctuation follows.
    pub(crate) marked: bool,
    /// It may be missing.
    pub(crate) optional: bool,
    /// The first word of the sentence.
    pub(crate) first: bool,
}

/// A sequence of kinds that means something.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// Index into [`crate::CLASSES`].
    pub(crate) class: u8,
    /// 2 is enough alone, 1 needs a second hit.
    pub(crate) strength: u8,
    /// What must stand there, in order.
    pub(crate) steps: Vec<Step>,
    /// What must not stand in the sentence.
    pub(crate) unless: Vec<Symbol>,
}

#[derive(Default, Clone)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        }
    }
    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0 ^ u64::from(n)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Everything that is known of words.
#[derive(Default)]
pub(crate) struct Lexicon {
    words: Map<String, WordId>,
    pairs: Map<u32, WordId>,
    /// For each word id: its symbols and whether a run of words begins with it.
    entries: Vec<(Vec<Symbol>, bool)>,
    symbols: HashMap<String, Symbol>,
    /// Words whose letters may be in disorder.
    scrambled: Map<u64, WordId>,
    /// Kinds that hold runs of words.
    runs: Vec<Symbol>,
    /// The rules in the order of the file.
    pub(crate) rules: Vec<Rule>,
    /// For each symbol the rules that cannot hold without one of its kind.
    needing: Vec<Vec<u16>>,
    /// Lines that could not be read.
    pub(crate) bad: Vec<String>,
}

/// The lexicon, read at the first use.
pub(crate) fn lexicon() -> &'static Lexicon {
    static ONCE: OnceLock<Lexicon> = OnceLock::new();
    ONCE.get_or_init(Lexicon::read)
}

impl Lexicon {
    fn read() -> Lexicon {
        let mut lexicon = Lexicon { entries: vec![(Vec::new(), false)], ..Lexicon::default() };
        for own in OWN {
            lexicon.symbol(own);
        }
        for line in include_str!("../data/words.txt").lines() {
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
        for line in include_str!("../data/rules.txt").lines() {
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

    /// The rules that need one of a kind.
    pub(crate) fn needing(&self, symbol: Symbol) -> &[u16] {
        self.needing.get(usize::from(symbol)).map_or(&[], Vec::as_slice)
    }

    /// How many symbols there are.
    pub(crate) fn symbols(&self) -> usize {
        self.symbols.len()
    }

    /// The symbol of a name, if any rule or word list uses it.
    pub(crate) fn named(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name).copied()
    }

    fn symbol(&mut self, name: &str) -> Symbol {
        let next = u16::try_from(self.symbols.len()).unwrap_or(u16::MAX);
        *self.symbols.entry(name.to_string()).or_insert(next)
    }

    fn word(&mut self, word: &str) -> WordId {
        if let Some(id) = self.words.get(word) {
            return *id;
        }
        let id = u16::try_from(self.entries.len()).unwrap_or(0);
        self.entries.push((Vec::new(), false));
        self.words.insert(word.to_string(), id);
        id
    }

    /// Adds a word or a run of words joined by `_` or `-`.
    fn add(&mut self, text: &str, symbol: Option<Symbol>) -> WordId {
        let mut parts = Vec::new();
        for part in text.split(['_', '-', '.']).filter(|part| !part.is_empty()) {
            let mut folded = String::new();
            part.chars().for_each(|c| fold::fold(c, &mut folded));
            parts.push(folded);
        }
        let mut at = 0;
        for part in &parts {
            let id = self.word(part);
            if at == 0 {
                at = id;
                continue;
            }
            if let Some(entry) = self.entries.get_mut(usize::from(at)) {
                entry.1 = true;
            }
            let key = pair(at, id);
            at = match self.pairs.get(&key) {
                Some(known) => *known,
                None => {
                    let new = u16::try_from(self.entries.len()).unwrap_or(0);
                    self.entries.push((Vec::new(), false));
                    self.pairs.insert(key, new);
                    new
                }
            };
        }
        if let (Some(symbol), Some(entry)) = (symbol, self.entries.get_mut(usize::from(at)))
            && !entry.0.contains(&symbol)
        {
            entry.0.push(symbol);
        }
        if let Some(symbol) = symbol.filter(|symbol| parts.len() > 1 && !self.runs.contains(symbol)) {
            self.runs.push(symbol);
        }
        // `api_key` is also written `apikey`.
        if parts.len() == 2 && text.len() >= 7 && text.is_ascii() {
            let joined = self.word(&parts.concat());
            if let (Some(symbol), Some(entry)) = (symbol, self.entries.get_mut(usize::from(joined)))
                && !entry.0.contains(&symbol)
            {
                entry.0.push(symbol);
            }
        }
        at
    }

    fn rule(&mut self, line: &str) -> Option<Rule> {
        let (head, unless) = line.split_once(" ! ").unwrap_or((line, ""));
        let mut words = head.split_whitespace();
        let class = words.next()?;
        let class = u8::try_from(crate::CLASSES.iter().position(|(name, _)| *name == class)?).ok()?;
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
                let extra = extra.max(u8::from(self.runs.contains(&symbol)));
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
    fn reference(&mut self, name: &str) -> Option<Symbol> {
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

    /// The id of a folded word, 0 when it means nothing.
    pub(crate) fn look(&self, word: &str) -> WordId {
        if word.is_empty() || word.len() > LONGEST {
            return 0;
        }
        self.words.get(word).copied().unwrap_or(0)
    }

    /// The id of a word whose inner letters are in disorder.
    pub(crate) fn disordered(&self, word: &str) -> WordId {
        letters(word).and_then(|key| self.scrambled.get(&key)).copied().unwrap_or(0)
    }

    /// The id of a run of words that goes on with `next`.
    pub(crate) fn join(&self, run: WordId, next: WordId) -> WordId {
        if next == 0 || !self.entries.get(usize::from(run)).is_some_and(|entry| entry.1) {
            return 0;
        }
        self.pairs.get(&pair(run, next)).copied().unwrap_or(0)
    }

    /// The symbols of a word or run.
    pub(crate) fn symbols_of(&self, id: WordId) -> &[Symbol] {
        self.entries.get(usize::from(id)).map_or(&[], |entry| entry.0.as_slice())
    }

    /// Cuts letters without spaces into known words, longest first; `None` when too much of it is unknown.
    pub(crate) fn cut<'w>(&self, letters: &'w str) -> Option<Vec<&'w str>> {
        let (mut parts, mut at, mut unknown) = (Vec::new(), 0, 0);
        while at < letters.len() {
            let rest = letters.get(at..)?;
            let longest = (2..=16.min(rest.len()))
                .rev()
                .find(|n| rest.get(..*n).is_some_and(|part| (*n > 2 || short(part)) && self.look(part) != 0));
            match longest {
                Some(n) => {
                    parts.push(rest.get(..n)?);
                    at += n;
                }
                None => {
                    let n = rest.chars().next()?.len_utf8();
                    unknown += n;
                    at += n;
                    if unknown * 4 > letters.len() {
                        return None;
                    }
                }
            }
        }
        Some(parts)
    }
}

/// First letter, last letter and which letters stand between, whatever their order.
fn letters(word: &str) -> Option<u64> {
    let bytes = word.as_bytes();
    if !(6..=14).contains(&bytes.len()) || !bytes.iter().all(u8::is_ascii_lowercase) {
        return None;
    }
    let mut key = 0u64;
    for byte in bytes {
        // Each letter has its own two bits; what overflows only makes more words alike.
        key = key.wrapping_add(
            1u64.wrapping_shl(2 * u32::from(byte - b'a')).rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        );
    }
    let (first, last) = (*bytes.first()?, *bytes.last()?);
    Some(key ^ u64::from(first) << 8 ^ u64::from(last) ^ (bytes.len() as u64) << 16)
}

/// Two letters are mostly no word.
fn short(part: &str) -> bool {
    matches!(part, "to" | "me" | "my" | "of" | "ai" | "is" | "in" | "it" | "at" | "do" | "no")
}

fn pair(a: WordId, b: WordId) -> u32 {
    u32::from(a) << 16 | u32::from(b)
}

#[cfg(test)]
mod tests {
    use super::lexicon;

    #[test]
    fn every_line_is_read() {
        assert!(lexicon().bad.is_empty(), "{:#?}", lexicon().bad);
        assert!(lexicon().entries.len() < 60_000);
    }

    #[test]
    fn letters_are_cut_into_words() {
        assert_eq!(
            lexicon().cut("ignoreallpreviousinstructions"),
            Some(vec!["ignore", "all", "previous", "instructions"])
        );
        assert_eq!(lexicon().cut("qzxwvkqzxwvkqqzz"), None);
    }
}
