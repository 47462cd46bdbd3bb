//! One sentence as positions of kinds, and the rules that hold on it.
//!
//! INVARIANT: a sentence has at most [`LIMIT`] words; matching a rule is a fixed number of operations on 128 bits for
//! each step, so no text makes it slow.

use crate::lexicon::{Lexicon, Rule, Step, Symbol, WordId};

/// The most words that are looked at together.
pub(crate) const LIMIT: usize = 128;
/// How many of them are kept when a sentence is longer.
pub(crate) const KEPT: usize = 40;

/// Flags of a word.
pub(crate) mod flag {
    /// Punctuation stands before the word.
    pub(crate) const AFTER_MARK: u8 = 1;
    /// Punctuation stands behind it.
    pub(crate) const MARKED: u8 = 2;
    /// Inside quotation marks, backticks or a code block.
    pub(crate) const QUOTED: u8 = 4;
    /// Begins a name such as `send_payment`.
    pub(crate) const IDENT: u8 = 8;
    /// Some letters were written as escapes or in other scripts.
    pub(crate) const DISGUISED: u8 = 16;
}

/// A word of the text.
#[derive(Clone, Copy, Default)]
pub(crate) struct Token {
    pub(crate) id: WordId,
    /// A symbol that the reader gives; `u16::MAX` is none.
    pub(crate) own: Symbol,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) flags: u8,
}

/// What a rule found: positions of words in the sentence.
#[derive(Clone, Copy)]
pub(crate) struct Match {
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The room for one sentence's positions, used again for each.
pub(crate) struct Planes {
    all: Vec<u128>,
    order: Vec<u128>,
    run: Vec<u128>,
    touched: Vec<Symbol>,
    marked: u128,
    longest: [u8; LIMIT],
    imperative: Option<Symbol>,
    ident: Option<Symbol>,
    iban: Option<Symbol>,
    crypto: Option<Symbol>,
    address: Option<Symbol>,
}

impl Planes {
    pub(crate) fn new(lexicon: &Lexicon) -> Planes {
        let n = lexicon.symbols();
        Planes {
            all: vec![0; n],
            order: vec![0; n],
            run: vec![0; n],
            touched: Vec::new(),
            marked: 0,
            longest: [0; LIMIT],
            imperative: lexicon.named("IMPB"),
            ident: lexicon.named("IDENT"),
            iban: lexicon.named("IBAN"),
            crypto: lexicon.named("CRYPTO"),
            address: lexicon.named("ADDR"),
        }
    }

    /// Fills the planes from the words.
    pub(crate) fn fill(&mut self, lexicon: &Lexicon, tokens: &[Token]) {
        for symbol in self.touched.drain(..) {
            let at = usize::from(symbol);
            for plane in [&mut self.all, &mut self.order, &mut self.run] {
                if let Some(bits) = plane.get_mut(at) {
                    *bits = 0;
                }
            }
        }
        self.marked = 0;
        self.longest = [0; LIMIT];
        // Whether an order may begin at each word.
        let mut orders: u128 = 1;
        let mut running: [(WordId, u8); 4] = [(0, 0); 4];
        for (at, token) in tokens.iter().take(LIMIT).enumerate() {
            let bit = 1u128 << at;
            if token.flags & flag::AFTER_MARK != 0 {
                orders |= bit;
            }
            if token.flags & flag::MARKED != 0 {
                self.marked |= bit;
            }
            let mut next = [(0, 0); 4];
            let mut free = 1;
            next[0] = (token.id, 1);
            if token.id != 0 {
                for (run, length) in running {
                    let joined = lexicon.join(run, token.id);
                    if joined != 0
                        && let Some(slot) = next.get_mut(free)
                    {
                        *slot = (joined, length + 1);
                        free += 1;
                    }
                }
            }
            running = next;
            for (id, length) in running {
                if id == 0 {
                    continue;
                }
                let symbols = lexicon.symbols_of(id);
                if symbols.is_empty() {
                    continue;
                }
                let begin = 1u128 << (at + 1).saturating_sub(usize::from(length));
                for symbol in symbols {
                    self.set(*symbol, bit, orders & begin != 0, length > 1);
                    if Some(*symbol) == self.imperative {
                        orders |= bit.checked_shl(1).unwrap_or(0);
                    }
                }
                if length > 1
                    && let Some(longest) = self.longest.get_mut(at)
                {
                    *longest = (*longest).max(length);
                }
            }
            if token.own != Symbol::MAX {
                self.set(token.own, bit, orders & bit != 0, false);
                if Some(token.own) == self.iban || Some(token.own) == self.crypto {
                    self.set(self.address.unwrap_or(token.own), bit, orders & bit != 0, false);
                }
            }
            if token.flags & flag::IDENT != 0
                && let Some(ident) = self.ident
            {
                self.set(ident, bit, orders & bit != 0, false);
            }
        }
    }

    fn set(&mut self, symbol: Symbol, bit: u128, order: bool, run: bool) {
        let at = usize::from(symbol);
        let Some(bits) = self.all.get_mut(at) else { return };
        if *bits == 0 {
            self.touched.push(symbol);
        }
        *bits |= bit;
        if order && let Some(bits) = self.order.get_mut(at) {
            *bits |= bit;
        }
        if run && let Some(bits) = self.run.get_mut(at) {
            *bits |= bit;
        }
    }

    /// The rules whose rarest step stands somewhere, in their order.
    pub(crate) fn candidates(&self, lexicon: &Lexicon, out: &mut Vec<u16>) {
        out.clear();
        for symbol in &self.touched {
            out.extend_from_slice(lexicon.needing(*symbol));
        }
        out.sort_unstable();
        out.dedup();
    }

    /// Where a symbol stands.
    pub(crate) fn at(&self, symbol: Option<Symbol>) -> u128 {
        symbol.and_then(|symbol| self.all.get(usize::from(symbol))).copied().unwrap_or(0)
    }

    fn step(&self, step: &Step) -> u128 {
        let plane = if step.order { &self.order } else { &self.all };
        let mut bits = 0;
        for symbol in step.symbols {
            bits |= plane.get(usize::from(*symbol)).copied().unwrap_or(0);
        }
        if step.marked {
            bits &= self.marked;
        }
        if step.first {
            bits &= 7;
        }
        bits
    }

    /// The first place where `rule` holds, beginning with word `from` or later.
    pub(crate) fn find(&self, rule: &Rule, from: u32) -> Option<Match> {
        const STEPS: usize = 12;
        let mut reached = [0u128; STEPS];
        let mut current: Option<u128> = None;
        let mut slack = 0;
        for (index, step) in rule.steps.iter().take(STEPS).enumerate() {
            let here = self.step(step);
            let next = match current {
                None => here & !(u128::MAX.checked_shr(128u32.saturating_sub(from)).unwrap_or(0)),
                Some(0) => return None,
                Some(before) => spread(before, step.gap + slack) & here,
            };
            *reached.get_mut(index)? = next;
            if step.optional {
                current = Some(next | current.unwrap_or(0));
                slack = slack.max(step.gap);
            } else {
                if next == 0 {
                    return None;
                }
                current = Some(next);
                slack = 0;
            }
        }
        if rule.unless.iter().any(|symbol| self.at(Some(*symbol)) != 0) {
            return None;
        }
        // Back from the earliest end to the nearest beginning.
        let ends = current?;
        let last = ends.trailing_zeros() as usize;
        let mut at = last;
        for (index, _) in rule.steps.iter().take(STEPS).enumerate().rev() {
            let bits = reached.get(index)? & upto(at);
            if bits != 0 {
                at = 127 - bits.leading_zeros() as usize;
            }
            if index > 0 {
                at = at.saturating_sub(usize::from(reached.get(index)? >> at & 1 == 1));
            }
        }
        let first = rule.steps.first()?;
        let from_run =
            first.symbols.iter().any(|s| self.run.get(usize::from(*s)).is_some_and(|b| b >> at & 1 == 1));
        if from_run {
            at = (at + 1).saturating_sub(usize::from(self.longest.get(at).copied().unwrap_or(1)).max(1));
        }
        Some(Match { first: at.min(last), last })
    }
}

/// Every position at most `gap` words behind one of `bits`.
fn spread(bits: u128, gap: u8) -> u128 {
    let mut out = 0;
    let mut moved = bits;
    for _ in 0..=gap {
        moved <<= 1;
        out |= moved;
    }
    out
}

/// All positions up to `at`.
fn upto(at: usize) -> u128 {
    if at >= 127 { u128::MAX } else { (1u128 << (at + 1)) - 1 }
}
