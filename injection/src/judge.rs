//! Tries the rules on one sentence and asks whether its words are said, or only forbidden, reported or quoted.
//!
//! INVARIANT: what is excused is excused by words of the same clause, or by a quotation with an introduction near it; in
//! hidden and decoded views a quotation excuses nothing.

use crate::gather::{Gather, Hit};
use crate::lexicon::Symbol;
use crate::sentence::{Token, flag};
use crate::walk::{DEEPEST, Walker};
use crate::{CLASSES, decode};

/// How long a word about attacks counts as the introduction of a quotation, in bytes.
const INTRODUCED: usize = 260;

impl Walker<'_> {
    /// Tries the rules on the words at hand.
    pub(crate) fn look(&mut self, out: &mut Gather) {
        let telling = self.tokens.iter().filter(|token| token.id != 0 || token.own != Symbol::MAX).count();
        if telling == 0 {
            return;
        }
        let lexicon = out.lexicon;
        out.planes.fill(lexicon, &self.tokens);
        let view = if self.view == "plain" && self.hidden.is_some() { "hidden" } else { self.view };
        let mut candidates = std::mem::take(&mut out.candidates);
        out.planes.candidates(lexicon, &mut candidates);
        for number in candidates.iter().copied() {
            let Some(rule) = lexicon.rules.get(usize::from(number)) else { break };
            let mut from = 0;
            // An excused place does not excuse the next one.
            for _ in 0..4 {
                let Some(found) = out.planes.find(rule, from) else { break };
                if self.excused(rule.class, found.first, found.last, view, out) {
                    from = u32::try_from(found.last).unwrap_or(128) + 1;
                    continue;
                }
                let (Some(first), Some(last)) = (self.tokens.get(found.first), self.tokens.get(found.last))
                else {
                    break;
                };
                let strange = self.tokens.get(found.first..=found.last).is_some_and(|tokens| {
                    tokens.iter().filter(|token| token.flags & flag::DISGUISED != 0).count() >= 2
                });
                let (mut from, mut to) =
                    (first.start.saturating_sub(10), (last.end + 30).min(self.text.len()));
                while !self.text.is_char_boundary(from) {
                    from += 1;
                }
                while !self.text.is_char_boundary(to) {
                    to -= 1;
                }
                // Names in a program are no sentence.
                let spoken = rule
                    .strength
                    .saturating_sub(u8::from(view == "plain" && self.joints(found.first, found.last) >= 2));
                if spoken == 0 {
                    break;
                }
                let (start, end) = self.span(first.start, last.end);
                let around = self.text.get(from..to).unwrap_or("");
                let view = if strange && view == "plain" { "disguised" } else { view };
                out.add(&Hit { class: rule.class, rule: number, strength: spoken, start, end, view, around });
                break;
            }
        }
        out.candidates = candidates;
        self.turned(out);
        let cues = out.planes.at(lexicon.named("CUE"));
        if cues != 0 {
            self.cue =
                self.tokens.get(127 - cues.leading_zeros() as usize).map(|token| token.end).or(self.cue);
        }
    }

    /// How often words of a match are joined as names of a program are: `a_b`, `a.b`, `a::b`, `a = b`, `a[b`.
    fn joints(&self, first: usize, last: usize) -> usize {
        let words = self.tokens.get(first..=last).unwrap_or(&[]);
        let snake = |(a, b): (&Token, &Token)| self.text.get(a.end..b.start) == Some("_");
        if words.len() > 3 && words.iter().zip(words.iter().skip(1)).all(snake) {
            // Wholly written with underscores, it is a sentence again.
            return 0;
        }
        words
            .iter()
            .zip(words.iter().skip(1))
            .filter(|(a, b)| {
                let gap = self.text.get(a.end..b.start).unwrap_or("");
                gap == "_"
                    || gap == "."
                    || gap.starts_with('(')
                    || gap.contains("::")
                    || gap.contains("->")
                    || gap.contains(['{', '}', '=', '[', ']'])
            })
            .count()
    }

    /// A quotation of exactly these words within a sentence that goes on: `"…" became a meme`. A value of JSON is none.
    fn mentioned(&self, first: usize, last: usize) -> bool {
        let (Some(first), Some(last)) = (self.tokens.get(first), self.tokens.get(last)) else { return false };
        let before = self.text.get(..first.start).unwrap_or("");
        let after = self.text.get(last.end..).unwrap_or("");
        let quote = ['"', '“', '‘', '«', '„', '`'];
        let opens = before.ends_with(quote);
        let lead = before.trim_end_matches(quote).trim_end_matches(' ');
        let said = lead.is_empty() || lead.ends_with(|c: char| c.is_alphabetic() || c == '(' || c == '\n');
        let close = after.trim_start_matches(['.', '!', '"', '”', '’', '»', '“', '`']);
        let closes = close.len() < after.len() && after.len() - close.len() <= 6;
        opens
            && said
            && closes
            && close.starts_with(' ')
            && close.chars().nth(1).is_some_and(char::is_alphabetic)
    }

    /// Sentences in rot13 or written backwards.
    pub(crate) fn turned(&self, out: &mut Gather) {
        if self.depth >= DEEPEST {
            return;
        }
        let count = |name: &str, out: &Gather| out.planes.at(out.lexicon.named(name)).count_ones();
        let (rotated, reversed) = (count("ROT", out), count("REV", out));
        let (Some(first), Some(last)) = (self.tokens.first(), self.tokens.last()) else { return };
        let Some(text) = self.text.get(first.start..last.end) else { return };
        if rotated >= 2 {
            self.decoded(&decode::rot13(text), first.start, last.end, out);
        }
        if reversed >= 2 {
            let text: String = text.chars().rev().collect();
            self.decoded(&text, first.start, last.end, out);
        }
    }

    /// Whether the words are forbidden, reported or quoted instead of said.
    pub(crate) fn excused(&self, class: u8, first: usize, last: usize, view: &str, out: &Gather) -> bool {
        let name = CLASSES.get(usize::from(class)).map_or("", |class| class.0);
        let at = |name: &str| out.planes.at(out.lexicon.named(name));
        let token = |index: usize| self.tokens.get(index).copied().unwrap_or_default();
        let has = |bits: u128, index: usize| bits >> index & 1 == 1;
        let begins = token(first);
        // "Never paste …": a mark between ends the forbidding.
        let never = at("NEG");
        let mut back = first;
        for _ in 0..3 {
            if back == 0 || token(back).flags & flag::AFTER_MARK != 0 {
                break;
            }
            back -= 1;
            if has(never, back) {
                return true;
            }
        }
        // "told to ignore": someone is reported, unless it is the reader.
        if name != "role-marker" && name != "payment-steer" {
            let reports = at("REPORT");
            let to = out.lexicon.look("to");
            let you = out.lexicon.look("you");
            if first > 0 && token(first - 1).id == to {
                for back in 2..=6 {
                    let Some(index) = first.checked_sub(back) else { break };
                    if token(index).id == you {
                        break;
                    }
                    if has(reports, index) {
                        return true;
                    }
                }
            }
        }
        if view != "plain" || begins.flags & flag::QUOTED == 0 {
            return false;
        }
        // Quoted, and what quotes it speaks of attacks.
        let outside = !(upto(last) & !upto_before(first));
        let cue = at("CUE") & outside != 0;
        let words =
            !matches!(name, "exfil" | "secret-request" | "payment-steer" | "tool-force" | "decode-follow");
        cue || (words && self.mentioned(first, last))
            || self.cue.is_some_and(|cue| cue + INTRODUCED > begins.start)
    }
}

fn upto(at: usize) -> u128 {
    if at >= 127 { u128::MAX } else { (1u128 << (at + 1)) - 1 }
}

fn upto_before(at: usize) -> u128 {
    if at == 0 { 0 } else { upto(at - 1) }
}
