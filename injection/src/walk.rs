//! Reads a text from the front: words into sentences, what hides into views of its own.
//!
//! INVARIANT: each byte is read a fixed number of times at each depth, and there are at most [`DEEPEST`] depths; what would
//! be deeper is told as not looked at.

use crate::fold::{Shape, shape};
use crate::gather::Gather;
use crate::lexicon::{OWN, Symbol, WordId};
use crate::markup;
use crate::sentence::{KEPT, LIMIT, Token, flag};
use crate::words::peek;

/// How many views may lie in each other.
pub(crate) const DEEPEST: u8 = 4;
/// How far a hidden element reaches when nothing closes it.
const HIDDEN: usize = 16 * 1024;

/// Where a text lies in the text that was given.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// It is a part that begins there.
    Direct(usize),
    /// It was decoded from there.
    Fixed(usize, usize),
}

/// A reader of one view.
pub(crate) struct Walker<'t> {
    pub(crate) text: &'t str,
    pub(crate) place: Place,
    pub(crate) view: &'static str,
    pub(crate) depth: u8,
    pub(crate) at: usize,
    pub(crate) tokens: Vec<Token>,
    pub(crate) marked: bool,
    pub(crate) quote: Option<(char, usize)>,
    pub(crate) fence: bool,
    pub(crate) line_mark: char,
    pub(crate) hidden: Option<(&'t str, u32, usize)>,
    pub(crate) no_comment: bool,
    pub(crate) runs_until: usize,
    pub(crate) cue: Option<usize>,
    pub(crate) spaced: String,
    pub(crate) spaced_from: usize,
    pub(crate) spaced_gap: usize,
}

/// The symbol number of one of [`OWN`].
pub(crate) fn own(name: &str) -> Symbol {
    OWN.iter().position(|own| *own == name).and_then(|at| u16::try_from(at).ok()).unwrap_or(Symbol::MAX)
}

impl<'t> Walker<'t> {
    pub(crate) fn new(text: &'t str, place: Place, view: &'static str, depth: u8) -> Walker<'t> {
        Walker {
            text,
            place,
            view,
            depth,
            at: 0,
            tokens: Vec::new(),
            marked: false,
            quote: None,
            fence: false,
            line_mark: ' ',
            hidden: None,
            no_comment: false,
            runs_until: 0,
            cue: None,
            spaced: String::new(),
            spaced_from: 0,
            spaced_gap: 0,
        }
    }

    /// Reads everything.
    pub(crate) fn run(mut self, out: &mut Gather) {
        if self.depth > DEEPEST {
            out.complete = false;
            return;
        }
        self.line(out);
        while let Some((c, length, escaped)) = peek(self.text, self.at) {
            match shape(c) {
                Shape::Word => self.word(out),
                Shape::Ideograph => self.ideograph(out),
                Shape::Invisible => self.at += length,
                Shape::Space => {
                    self.at += length;
                    if c == '\n' && !escaped {
                        self.line(out);
                    }
                }
                Shape::Other => self.sign(c, length, escaped, out),
            }
            if self.hidden.is_some_and(|(_, _, from)| self.at > from + HIDDEN) {
                self.sentence(out);
                self.hidden = None;
            }
        }
        self.spaced_end(out);
        self.sentence(out);
    }

    pub(crate) fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or("")
    }

    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(b'\n')
    }

    /// Whether the byte before `at` belongs to a word.
    pub(crate) fn inside(&self, at: usize) -> bool {
        at > 0 && self.text.as_bytes().get(at - 1).is_some_and(u8::is_ascii_alphanumeric)
    }

    /// A place in the text that was given.
    pub(crate) fn span(&self, start: usize, end: usize) -> (usize, usize) {
        match self.place {
            Place::Direct(offset) => (offset + start, offset + end),
            Place::Fixed(start, end) => (start, end),
        }
    }

    pub(crate) fn part(&self, start: usize, end: usize) -> Place {
        match self.place {
            Place::Direct(offset) => Place::Direct(offset + start),
            Place::Fixed(..) => {
                let (start, end) = self.span(start, end);
                Place::Fixed(start, end)
            }
        }
    }

    /// Reads a part as a view of its own.
    pub(crate) fn view(&self, start: usize, end: usize, view: &'static str, out: &mut Gather) {
        if let Some(part) = self.text.get(start..end) {
            let view = if self.view == "decoded" { "decoded" } else { view };
            Walker::new(part, self.part(start, end), view, self.depth + 1).run(out);
        }
    }

    pub(crate) fn decoded(&self, text: &str, start: usize, end: usize, out: &mut Gather) {
        let (start, end) = self.span(start, end);
        Walker::new(text, Place::Fixed(start, end), "decoded", self.depth + 1).run(out);
    }

    /// At the beginning of a line.
    pub(crate) fn line(&mut self, out: &mut Gather) {
        let mut at = self.at;
        while matches!(self.byte(at), b' ' | b'\t' | b'\r') && at < self.text.len() {
            at += 1;
        }
        let mark = char::from(self.byte(at));
        let next = self.byte(at + 1);
        let rest = self.rest(at);
        let ends = match mark {
            '\n' => true,
            '#' | '>' | '/' => self.line_mark != mark,
            '*' => at == self.at || self.line_mark != mark,
            '-' | '+' | '|' | '=' | '~' => true,
            '0'..='9' => {
                matches!(next, b'.' | b')')
                    || next.is_ascii_digit() && matches!(self.byte(at + 2), b'.' | b')')
            }
            _ => {
                self.line_mark != ' '
                    && self.line_mark != '>'
                    && self.line_mark != '\n'
                    && self.line_mark != '*'
            }
        };
        if ends {
            self.sentence(out);
        }
        if mark == '\n' {
            self.quote = None;
        }
        if rest.starts_with("```") || rest.starts_with("~~~") {
            self.fence = !self.fence;
            self.quote = None;
        }
        if mark == '[' {
            let line = rest.find('\n').map_or(rest, |end| rest.get(..end).unwrap_or(rest));
            if line.len() <= HIDDEN && markup::unseen_line(line) {
                self.sentence(out);
                let words = line.find("]:").unwrap_or(0) + 2;
                self.view(at + words, at + line.len(), "hidden", out);
                at += line.len();
            }
        }
        self.line_mark = if matches!(mark, '#' | '>' | '/' | '*' | '-' | '+' | '|' | '\n' | '0'..='9') {
            mark
        } else {
            ' '
        };
        self.at = at;
    }

    pub(crate) fn push(
        &mut self,
        id: WordId,
        symbol: Symbol,
        start: usize,
        end: usize,
        flags: u8,
        out: &mut Gather,
    ) {
        if self.tokens.len() >= LIMIT {
            self.look(out);
            let kept = self.tokens.len() - KEPT;
            self.tokens.drain(..kept);
        }
        let mut flags = flags;
        if self.marked {
            flags |= flag::AFTER_MARK;
        }
        self.marked = false;
        if self.quote.is_some() || self.fence {
            flags |= flag::QUOTED;
        }
        self.tokens.push(Token { id, own: symbol, start, end, flags });
    }

    pub(crate) fn mark(&mut self) {
        self.marked = true;
        if let Some(last) = self.tokens.last_mut() {
            last.flags |= flag::MARKED;
        }
    }

    pub(crate) fn sign(&mut self, c: char, length: usize, escaped: bool, out: &mut Gather) {
        let start = self.at;
        self.at += length;
        match c {
            '<' | '[' | '{' if !escaped => self.bracket(c, start, out),
            '.' | '!' | '?' | '…' => {
                let next = self.byte(self.at);
                if next.is_ascii_whitespace()
                    || matches!(next, b'"' | b'\'' | b')' | b'<' | b'*' | b'_' | b'`')
                    || self.at >= self.text.len()
                {
                    self.sentence(out);
                }
            }
            '。' | '！' | '？' | '｡' => self.sentence(out),
            '"' | '`' => {
                self.quote = match self.quote {
                    Some((open, _)) if open == c => None,
                    None => Some((c, start)),
                    other => other,
                };
                self.mark();
            }
            '“' | '„' | '«' | '「' | '『' | '‹' => {
                self.quote.get_or_insert((c, start));
                self.mark();
            }
            '”' | '»' | '」' | '』' | '›' => {
                self.quote = None;
                self.mark();
            }
            '\'' | '‘' | '’' => {
                match self.quote {
                    Some(('\'', _)) if !self.byte(self.at).is_ascii_alphanumeric() => self.quote = None,
                    None if !self.inside(start) && self.byte(self.at).is_ascii_alphanumeric() => {
                        self.quote = Some(('\'', start))
                    }
                    _ => {}
                }
                self.mark();
            }
            '@' => self.mailbox(start, out),
            '-' | '/' | '_' | '=' | '+' | '&' | '\\' | '~' | '^' | '$' | '%' => {
                if !self.inside(start) || !self.byte(self.at).is_ascii_alphanumeric() {
                    self.mark();
                }
            }
            _ => self.mark(),
        }
        if self.quote.is_some_and(|(_, from)| self.at > from + 2000) {
            self.quote = None;
        }
    }

    pub(crate) fn bracket(&mut self, c: char, start: usize, out: &mut Gather) {
        let rest = self.rest(start);
        if let Some(length) = markup::turn(rest) {
            self.at = start + length;
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
            // In quotation marks of its own, or in a block of code, it is spoken about.
            let before = self.byte(start.wrapping_sub(1));
            let quoted = matches!(before, b'`' | b'"' | b'\'') && self.byte(self.at) == before;
            let symbol = own(if quoted || self.fence { "MARKROLE" } else { "MARKTURN" });
            self.push(0, symbol, start, self.at, 0, out);
            self.mark();
            return;
        }
        if c != '{'
            && let Some(length) = markup::role_tag(rest)
        {
            self.at = start + length;
            let line = self.text.get(..start).unwrap_or("").trim_end_matches([' ', '\t']);
            if line.is_empty() || line.ends_with('\n') || line.ends_with('>') {
                self.sentence(out);
            }
            self.push(0, own("MARKROLE"), start, self.at, 0, out);
            self.mark();
            return;
        }
        if c != '<' {
            self.mark();
            return;
        }
        if rest.starts_with("<!--") {
            if !self.no_comment {
                match markup::comment(rest) {
                    Some((_, Some((words, end)))) => {
                        self.sentence(out);
                        self.view(start + 4, start + words, "hidden", out);
                        self.at = start + end;
                        return;
                    }
                    _ => self.no_comment = true,
                }
            }
            self.mark();
            return;
        }
        match markup::tag(rest) {
            Some(tag) => self.tag(&tag, start, out),
            None => self.mark(),
        }
    }

    pub(crate) fn tag(&mut self, tag: &markup::Tag<'t>, start: usize, out: &mut Gather) {
        self.at = start + tag.length;
        if tag.block {
            self.sentence(out);
        }
        for (from, to) in &tag.values {
            self.view(start + from, start + to, "attribute", out);
        }
        if let Some((from, to)) = tag.image {
            self.push(0, own("IMAGEDATA"), start + from, start + to, 0, out);
        }
        let open = match self.hidden.as_mut() {
            Some((name, depth, _)) => {
                if name.eq_ignore_ascii_case(tag.name) && !tag.empty {
                    *depth = if tag.closes { depth.saturating_sub(1) } else { *depth + 1 };
                }
                *depth
            }
            None => {
                if tag.hides && !tag.closes && !tag.empty {
                    self.sentence(out);
                    self.hidden = Some((tag.name, 1, self.at));
                }
                return;
            }
        };
        if open == 0 {
            self.sentence(out);
            self.hidden = None;
        }
    }

    /// Ends a sentence: looks at it and begins the next.
    pub(crate) fn sentence(&mut self, out: &mut Gather) {
        if !self.tokens.is_empty() {
            self.look(out);
            self.tokens.clear();
        }
        self.marked = false;
    }
}
