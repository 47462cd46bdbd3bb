//! The items of a text: words, letters with gaps, links, mailboxes, addresses of money and encoded runs.
//!
//! INVARIANT: an item is read once; a run that is no code is not tried again from its middle.

use crate::decode::{self, PIECE};
use crate::fold::{Shape, shape};
use crate::gather::Gather;
use crate::lexicon::{Symbol, WordId};
use crate::markup;
use crate::sentence::flag;
use crate::walk::{DEEPEST, Place, Walker, own};
use crate::words;

impl Walker<'_> {
    pub(crate) fn word(&mut self, out: &mut Gather) {
        let start = self.at;
        let fresh = !self.inside(start);
        if fresh && self.special(out) {
            return;
        }
        let word = words::read(out.lexicon, self.text, start);
        self.at = word.end.max(start + 1);
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        if self.letter(&word, start, out) {
            return;
        }
        let mut flags = if word.disguised { flag::DISGUISED } else { 0 };
        let dotted = start > 0 && self.byte(start - 1) == b'.';
        let named = dotted && !self.inside(start - 1);
        let mut symbol = Symbol::MAX;
        match word.letters.as_str() {
            "env" | "ssh" | "aws" | "netrc" | "npmrc" | "pgpass" | "gnupg" | "kube" | "pypirc" | "dotenv"
                if named =>
            {
                symbol = own("SECRETFILE");
            }
            "passwd" | "shadow" if start > 0 && self.byte(start - 1) == b'/' => symbol = own("SECRETFILE"),
            "eth" | "sol" if dotted && !named => symbol = own("CRYPTO"),
            _ if word.number => {
                let money = start > 0
                    && matches!(
                        self.text.get(..start).and_then(|t| t.chars().next_back()),
                        Some('$' | '€' | '£' | '¥')
                    );
                let huge = word.end - start >= 6;
                symbol = own(if money {
                    "AMOUNT"
                } else if huge {
                    "HUGE"
                } else {
                    "NUM"
                });
            }
            _ => {}
        }
        let under = self.byte(self.at) == b'_' && self.byte(self.at + 1).is_ascii_alphanumeric();
        if under && !(start > 0 && self.byte(start - 1) == b'_') {
            flags |= flag::IDENT;
        }
        if word.id == 0 && word.letters.len() >= 14 && word.letters.len() <= 64 {
            // Words written together.
            if let Some(parts) =
                out.lexicon.cut(&word.letters).filter(|parts| parts.len() >= 2 && parts.len() <= 24)
            {
                let written = self.text.get(start..self.at).unwrap_or("").chars().skip(1);
                let mixed =
                    written.clone().any(char::is_uppercase) && written.clone().any(char::is_lowercase);
                let ids: Vec<WordId> = parts.iter().map(|part| out.lexicon.look(part)).collect();
                // A name in a program joins words too; only one that begins as an order does is read.
                let begins = matches!(parts.first(), Some(&("ignore" | "disregard" | "forget")));
                if !mixed || begins {
                    for id in ids {
                        self.push(id, Symbol::MAX, start, self.at, 0, out);
                    }
                    return;
                }
            }
        }
        self.push(word.id, symbol, start, self.at, flags, out);
    }

    /// A single letter may belong to a word written with gaps. True when the letter is kept back.
    pub(crate) fn letter(&mut self, word: &words::Word, start: usize, out: &mut Gather) -> bool {
        let single = word.letters.len() == 1 && !word.number;
        if !single {
            if !self.spaced.is_empty() {
                self.spaced_end(out);
            }
            return false;
        }
        if self.spaced.is_empty() {
            self.spaced_from = start;
            self.spaced_gap = usize::MAX;
        } else {
            let from = self.tokens.last().map_or(start, |token| token.end);
            let gap = self.text.get(from..start).map_or(9, |gap| gap.chars().count());
            if self.spaced_gap == usize::MAX {
                self.spaced_gap = gap;
            }
            if gap > 6 || gap < self.spaced_gap {
                self.spaced_end(out);
                self.spaced_from = start;
                self.spaced_gap = usize::MAX;
            } else if gap > self.spaced_gap {
                self.spaced.push(' ');
            }
        }
        self.spaced.push_str(&word.letters);
        if self.spaced.len() >= 2048 {
            self.spaced_end(out);
        }
        self.push(word.id, Symbol::MAX, start, self.at, 0, out);
        true
    }

    pub(crate) fn spaced_end(&mut self, out: &mut Gather) {
        let spaced = std::mem::take(&mut self.spaced);
        if spaced.len() >= 8 && self.depth < DEEPEST {
            let end = self.tokens.last().map_or(self.at, |token| token.end);
            self.decoded(&spaced, self.spaced_from.min(end), end, out);
        }
    }

    /// Addresses, links, mailboxes and encoded runs at the beginning of a word. True when one was read.
    pub(crate) fn special(&mut self, out: &mut Gather) -> bool {
        let start = self.at;
        let first = self.byte(start);
        if !first.is_ascii() {
            return false;
        }
        let rest = self.rest(start);
        if matches!(first, b'h' | b'H' | b'w' | b'f' | b'W')
            && let Some(length) = words::url(rest)
        {
            self.link(start, length, out);
            return true;
        }
        if start < self.runs_until {
            return false;
        }
        let bytes = rest.as_bytes();
        let run = bytes
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_'))
            .take(PIECE)
            .count();
        if (first == b'0' || run >= 12 || (run == 4 && first.is_ascii_uppercase()))
            && let Some(length) = words::address(rest)
        {
            let bytes = rest.as_bytes();
            let bank = bytes.iter().take(2).all(u8::is_ascii_uppercase)
                && bytes.get(2..4).is_some_and(|digits| digits.iter().all(u8::is_ascii_digit));
            self.push(0, own(if bank { "IBAN" } else { "CRYPTO" }), start, start + length, 0, out);
            self.at = start + length;
            return true;
        }
        if run >= 20 && self.encoded(start, run, out) {
            return true;
        }
        if run >= 8 {
            self.runs_until = start + run;
        }
        if first.is_ascii_hexdigit()
            && (2..=10).contains(&run)
            && let Some((length, text)) = decode::numbers(bytes)
        {
            self.decoded(&text, start, start + length, out);
            self.at = start + length;
            return true;
        }
        false
    }

    /// An encoded run, over several lines when it is broken into lines.
    pub(crate) fn encoded(&mut self, start: usize, run: usize, out: &mut Gather) -> bool {
        let bytes = self.text.as_bytes();
        let head = bytes.get(start..start + run.min(64)).unwrap_or(&[]);
        let Some(code) = decode::readings(head).find(|code| {
            let whole = match code {
                decode::Code::Base64 | decode::Code::Binary => head.len() / 4 * 4,
                decode::Code::Base32 | decode::Code::Hex => head.len() / 8 * 8,
            };
            head.get(..whole).is_some_and(|head| decode::decode(*code, head).is_some())
        }) else {
            return false;
        };
        let fits = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=');
        let mut end = start;
        while end < bytes.len() {
            // The run, then a line break and more of it.
            end += bytes.get(end..).unwrap_or(&[]).iter().take_while(|b| fits(b)).count();
            let gap = bytes
                .get(end..)
                .unwrap_or(&[])
                .iter()
                .take(12)
                .take_while(|b| b.is_ascii_whitespace())
                .count();
            let more = bytes.get(end + gap..).unwrap_or(&[]).iter().take(16).take_while(|b| fits(b)).count();
            let line = bytes
                .get(start..end)
                .unwrap_or(&[])
                .iter()
                .rev()
                .take(200)
                .take_while(|b| **b != b'\n')
                .count();
            if gap == 0
                || more < 4
                || line < 40
                || !bytes.get(end..end + gap).is_some_and(|gap| gap.contains(&b'\n'))
            {
                break;
            }
            end += gap;
        }
        let mut at = start;
        while at < end {
            let stop = end.min(at + PIECE);
            if let Some(text) = bytes.get(at..stop).and_then(|piece| decode::decode(code, piece)) {
                self.decoded(&text, start, end, out);
            }
            if stop == end {
                break;
            }
            // Pieces overlap, so that nothing is cut in two.
            at = stop - 512;
        }
        self.push(0, Symbol::MAX, start, end, 0, out);
        self.at = end;
        true
    }

    pub(crate) fn link(&mut self, start: usize, length: usize, out: &mut Gather) {
        let url = self.text.get(start..start + length).unwrap_or("");
        let before = self.text.as_bytes().get(start.saturating_sub(120)..start).unwrap_or(&[]);
        // Behind the words of a Markdown link it is a reference, not the end of an order.
        let mut symbol = if before.ends_with(b"](") { own("REF") } else { own("URL") };
        if markup::asks_for_data(url) {
            let image = before.ends_with(b"](") && before.windows(2).any(|pair| pair == b"![");
            symbol = own(if image {
                "IMAGEDATA"
            } else if markup::asks_for_talk(url) {
                "LINKDATA"
            } else {
                "URL"
            });
        }
        self.at = start + length;
        self.push(0, symbol, start, self.at, 0, out);
        let query = url.find(['?', '#']).unwrap_or(url.len());
        let tail = url.get(query..).unwrap_or("");
        if tail.matches(['%', '+', '-', '_']).take(3).count() >= 2 || tail.len() >= 30 {
            let text = tail.replace('+', " ");
            let (from, to) = self.span(start + query, self.at);
            if self.depth < DEEPEST {
                Walker::new(
                    &text,
                    Place::Fixed(from, to),
                    if self.view == "plain" { "attribute" } else { self.view },
                    self.depth + 1,
                )
                .run(out);
            }
        }
    }

    /// A letter of a script without spaces: the longest known word there.
    pub(crate) fn ideograph(&mut self, out: &mut Gather) {
        let start = self.at;
        let rest = self.rest(start);
        let mut end = 0;
        let mut best = (0, 0);
        for (count, c) in rest.chars().enumerate() {
            if count >= 7 || matches!(shape(c), Shape::Space | Shape::Other) {
                break;
            }
            end += c.len_utf8();
            let id = rest.get(..end).map_or(0, |part| out.lexicon.look(part));
            if id != 0 {
                best = (end, id);
            }
        }
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let length = best.0.max(first);
        self.at = start + length;
        self.push(best.1, Symbol::MAX, start, self.at, 0, out);
    }

    /// `name@host.tld`
    pub(crate) fn mailbox(&mut self, start: usize, out: &mut Gather) {
        let host = self.text.as_bytes().get(start + 1..).unwrap_or(&[]);
        let length = host
            .iter()
            .take(120)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
            .count();
        let name = host.get(..length).unwrap_or(&[]);
        if self.inside(start) && name.iter().skip(1).any(|b| *b == b'.') {
            let length = length - usize::from(name.ends_with(b"."));
            self.at = start + 1 + length;
            self.push(0, own("EMAIL"), start, self.at, 0, out);
        } else {
            self.mark();
        }
    }
}
