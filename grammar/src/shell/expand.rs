//! Words as written to words as a program gets them: braces, known variables, splitting, patterns.
//!
//! INVARIANT: an answer is exact or wider than what a shell gives; what is not followed is a hole.

use super::ast::{Bit, HereDoc, RedirectNode, Target, WordNode};
use super::env::{Env, Val, Value};
use super::program::Programs;
use super::{Dialect, Feature, Piece, Redirect, Word};
use super::{arith, param};
use std::cell::Cell;

/// Most words that the braces of one word may give.
const MAX_BRACES: usize = 64;
/// Most opening braces of one word that are looked at; they may all be inside each other.
const MAX_OPEN_BRACES: usize = 128;

/// Turns words as written into words, in one state of the shell.
pub(crate) struct Expander<'e> {
    pub(crate) env: &'e Env,
    /// Values picked for variables that have several.
    pub(crate) choice: &'e [(String, Val)],
    /// Whether `{a,b}` is expanded.
    pub(crate) braces: bool,
    /// Tells which programs print names only.
    pub(crate) programs: Option<&'e dyn Programs>,
    /// The shell that reads the words.
    pub(crate) dialect: Dialect,
    /// The here-documents of the text in which the words stand.
    pub(crate) docs: Option<&'e [HereDoc<'e>]>,
    /// Nothing is split: an assignment, a redirection, a here-document.
    pub(crate) whole: Cell<bool>,
    /// Substitutions around the word that is expanded.
    pub(crate) level: Cell<u32>,
    /// Features met so far.
    pub(crate) features: Cell<u32>,
    /// Braces were expanded: a POSIX shell reads the word in another way.
    pub(crate) used_braces: Cell<bool>,
    /// A known value was split into words or is a pattern: zsh takes it as one word.
    pub(crate) split: Cell<bool>,
}

/// A run of one field.
#[derive(Debug, Clone)]
pub(crate) enum Frag {
    /// Patterns in it count.
    Bare(String),
    Text(String),
    Tilde(String),
    /// An escaped pattern.
    Glob(String),
    Hole {
        quoted: bool,
    },
    /// A variable that is not known, and what it is when nothing outside sets it.
    Value {
        name: String,
        quoted: bool,
        unset: Option<String>,
    },
    /// A name that a program prints.
    Name,
    /// The folder in which the command runs.
    Folder,
    /// The path of a descriptor.
    Descriptor,
    /// What `"$@"` is without parameters: not even an empty word.
    Absent,
    /// The next field begins.
    Break,
}

#[derive(Clone, Copy)]
enum Tok<'b, 'a> {
    Char(char),
    Bit(&'b Bit<'a>),
}

impl<'e> Expander<'e> {
    pub(crate) fn new(env: &'e Env, choice: &'e [(String, Val)], braces: bool) -> Self {
        let (features, used_braces) = (Cell::new(0), Cell::new(false));
        let dialect = Dialect::Unknown;
        Expander {
            env,
            choice,
            braces,
            programs: None,
            dialect,
            docs: None,
            whole: Cell::new(false),
            level: Cell::new(0),
            features,
            used_braces,
            split: Cell::new(false),
        }
    }

    /// The same, with knowledge of programs and of the text.
    pub(crate) fn knowing(
        self,
        programs: &'e dyn Programs,
        dialect: Dialect,
        docs: &'e [HereDoc<'e>],
    ) -> Self {
        Expander { programs: Some(programs), dialect, docs: Some(docs), ..self }
    }

    fn at_level(self, level: u32) -> Self {
        self.level.set(level);
        self
    }

    /// A redirection; `None` when its here-document is out of reach.
    pub(crate) fn redirect(&self, node: &RedirectNode<'_>) -> Option<Redirect> {
        let target = match &node.target {
            Target::Word(word) => self.single(word, node.op != "<<<"),
            Target::Here(index) => self.single(&self.docs?.get(*index)?.body, false),
        };
        Some(Redirect { fd: node.fd.to_string(), op: node.op.to_string(), target })
    }

    fn feature(&self, feature: Feature) {
        self.features.set(self.features.get() | feature.bit());
    }

    /// The words that one word of a command becomes.
    pub(crate) fn words(&self, node: &WordNode<'_>) -> Vec<Word> {
        let mut out = Vec::with_capacity(1);
        if let [Bit::Bare(text)] = node.bits.as_slice()
            && !text.contains(['*', '?', '[', '{'])
            && !text.starts_with('~')
        {
            out.push(Word::Known((*text).to_string()));
            return out;
        }
        if self.braces && node.bits.iter().any(|bit| matches!(bit, Bit::Bare(text) if text.contains('{'))) {
            let mut toks = Vec::new();
            for bit in &node.bits {
                match bit {
                    Bit::Bare(text) => toks.extend(text.chars().map(Tok::Char)),
                    other => toks.push(Tok::Bit(other)),
                }
            }
            let open = toks.iter().filter(|tok| matches!(tok, Tok::Char('{'))).count();
            let variants = if open > MAX_OPEN_BRACES { None } else { braces(&toks, MAX_BRACES) };
            let Some(variants) = variants else {
                self.used_braces.set(true);
                return vec![Word::Unknown(vec![Piece::Hole { quoted: false }])];
            };
            self.used_braces.set(self.used_braces.get() || variants.len() > 1);
            for variant in &variants {
                self.fields(&self.frags_of(variant), &mut out);
            }
            return out;
        }
        self.fields(&self.frags(&node.bits, true), &mut out);
        out
    }

    /// The one word that a redirection, an assignment or a here-document gets: nothing is split there.
    pub(crate) fn single(&self, node: &WordNode<'_>, patterns: bool) -> Word {
        let mut field = Vec::new();
        let outer = self.whole.replace(true);
        let frags = self.frags(&node.bits, true);
        self.whole.set(outer);
        for frag in frags {
            field.push(match frag {
                Frag::Break => Frag::Text(" ".into()),
                Frag::Hole { .. } => Frag::Hole { quoted: true },
                Frag::Value { name, unset, .. } => Frag::Value { name, quoted: true, unset },
                Frag::Bare(text) if !patterns => Frag::Text(text),
                other => other,
            });
        }
        self.word(&field)
    }

    fn frags_of(&self, toks: &[Tok<'_, '_>]) -> Vec<Frag> {
        let (mut out, mut run) = (Vec::new(), String::new());
        let mut first = true;
        for (at, tok) in toks.iter().enumerate() {
            match tok {
                Tok::Char(c) => run.push(*c),
                Tok::Bit(bit) => {
                    let start = first && run.contains('/');
                    self.bare(std::mem::take(&mut run), start, &mut out);
                    first = false;
                    let joins = matches!(toks.get(at + 1), Some(Tok::Char(c)) if c.is_ascii_alphanumeric() || *c == '_');
                    match bit {
                        // `$x{a,b}` is `$xa $xb`: other variables.
                        Bit::Param { head, open: true, .. } if joins && super::options::is_name(head) => {
                            self.feature(Feature::Variable);
                            out.push(Frag::Hole { quoted: false });
                        }
                        _ => self.frag(bit, &mut out),
                    }
                }
            }
        }
        self.bare(run, first, &mut out);
        out
    }

    fn frags(&self, bits: &[Bit<'_>], start: bool) -> Vec<Frag> {
        let mut out = Vec::with_capacity(bits.len());
        for (at, bit) in bits.iter().enumerate() {
            match bit {
                Bit::Bare(text) => {
                    let closed = bits.len() == at + 1 || text.contains('/');
                    self.bare((*text).to_string(), start && at == 0 && closed, &mut out);
                }
                _ => self.frag(bit, &mut out),
            }
        }
        out
    }

    fn bare(&self, text: String, start: bool, out: &mut Vec<Frag>) {
        if text.is_empty() {
            return;
        }
        if start && text.starts_with('~') {
            let end = text.find('/').unwrap_or(text.len());
            let (prefix, rest) = text.split_at(end);
            out.push(Frag::Tilde(prefix.to_string()));
            if !rest.is_empty() {
                out.push(Frag::Bare(rest.to_string()));
            }
            return;
        }
        out.push(Frag::Bare(text));
    }

    fn frag(&self, bit: &Bit<'_>, out: &mut Vec<Frag>) {
        match bit {
            Bit::Bare(text) => out.push(Frag::Bare((*text).to_string())),
            Bit::Text(text) => out.push(Frag::Text(text.to_string())),
            Bit::Param { head, tail, inside, quoted, .. } => {
                self.feature(Feature::Variable);
                param::expand(self, head, tail, inside, *quoted || self.whole.get(), out);
            }
            Bit::Arith { text, inside, .. } => {
                self.feature(Feature::Variable);
                let known = if inside.is_empty() { arith::eval(text, self) } else { None };
                out.push(known.map_or(Frag::Hole { quoted: true }, |n| Frag::Text(n.to_string())));
            }
            Bit::Substitution { list, .. } if self.prints_name(list) => {
                self.feature(Feature::Substitution);
                out.push(Frag::Name);
            }
            Bit::Substitution { list, .. } if self.prints_folder(list) => {
                self.feature(Feature::Substitution);
                out.push(Frag::Folder);
            }
            Bit::Substitution { list, quoted } if self.prints_project(list) => {
                self.feature(Feature::Substitution);
                // The folder of the call or one above it.
                let (name, quoted) = (String::new(), *quoted || self.whole.get());
                out.push(Frag::Value { name, quoted, unset: Some(".".into()) });
            }
            Bit::Substitution { list, quoted } => {
                self.feature(Feature::Substitution);
                if let Some(name) = self.prints_program(list) {
                    return out.push(program_frag(&name, *quoted || self.whole.get()));
                }
                match self.substituted(list) {
                    Some(text) => param::emit(self, Val::Text(text), *quoted || self.whole.get(), out),
                    None => out.push(Frag::Hole { quoted: *quoted }),
                }
            }
            Bit::Backtick { text, .. } if text.trim() == "pwd" && !self.shadowed("pwd") => {
                self.feature(Feature::Substitution);
                out.push(Frag::Folder);
            }
            Bit::Backtick { text, quoted, .. } => {
                self.feature(Feature::Substitution);
                if let Some(name) = self.backtick_program(text) {
                    return out.push(program_frag(&name, *quoted || self.whole.get()));
                }
                match self.backtick(text) {
                    Some(text) => param::emit(self, Val::Text(text), *quoted || self.whole.get(), out),
                    None => out.push(Frag::Hole { quoted: *quoted }),
                }
            }
            Bit::Process { .. } => {
                self.feature(Feature::ProcessSubstitution);
                out.push(Frag::Descriptor);
            }
            Bit::ExtGlob { .. } => {
                self.feature(Feature::Glob);
                out.push(Frag::Hole { quoted: false });
            }
            Bit::Opaque => out.push(Frag::Hole { quoted: true }),
        }
    }

    /// What the commands between backticks write.
    fn backtick(&self, text: &str) -> Option<String> {
        // Only what is short and begins like a command that just prints.
        let start = text.trim_start();
        if text.len() > 1024
            || !["echo", "printf", "cat", ":", "true"].iter().any(|name| start.starts_with(name))
        {
            return None;
        }
        let tree = super::parse::parse(text);
        if !tree.problems.is_empty() {
            return None;
        }
        let inner = Expander::new(self.env, self.choice, self.braces);
        Expander { programs: self.programs, dialect: self.dialect, docs: Some(&tree.heredocs), ..inner }
            .at_level(self.level.get())
            .substituted(&tree.list)
    }

    /// The program whose place the command between backticks prints.
    fn backtick_program(&self, text: &str) -> Option<String> {
        let start = text.trim_start();
        if text.len() > 256
            || !["which", "command", "type", "hash", "whence"].iter().any(|name| start.starts_with(name))
        {
            return None;
        }
        let tree = super::parse::parse(text);
        if tree.problems.is_empty() { self.prints_program(&tree.list) } else { None }
    }

    /// Whether the text gives a name another meaning.
    pub(crate) fn shadowed(&self, name: &str) -> bool {
        [name, "*"].iter().any(|n| self.env.functions.contains_key(*n) || self.env.aliases.contains_key(*n))
    }

    /// The values that a variable may have here, the picked one first.
    pub(crate) fn lookup(&self, name: &str) -> Option<Vec<Val>> {
        if let Some((_, val)) = self.choice.iter().find(|(n, _)| n == name) {
            return Some(vec![val.clone()]);
        }
        match self.env.get(name) {
            Some(Value::Scalar(vals)) => Some(vals.clone()),
            Some(Value::Array(vals)) => vals.first().map(|val| vec![val.clone()]),
            Some(Value::Unknown) | None => None,
        }
    }

    fn fields(&self, frags: &[Frag], out: &mut Vec<Word>) {
        for field in frags.split(|frag| matches!(frag, Frag::Break)) {
            let nothing =
                |frag: &Frag| matches!(frag, Frag::Absent) || matches!(frag, Frag::Text(t) if t.is_empty());
            let absent = field.iter().any(|frag| matches!(frag, Frag::Absent)) && field.iter().all(nothing);
            if !field.is_empty() && !absent {
                out.push(self.word(field));
            }
        }
    }

    fn word(&self, field: &[Frag]) -> Word {
        if let Some(field) = beside_home(field) {
            return self.word(&field);
        }
        let joined: String = field
            .iter()
            .filter_map(|f| if let Frag::Bare(t) = f { Some(t.as_str()) } else { None })
            .collect();
        let active = has_pattern(&joined);
        if active {
            self.feature(Feature::Glob);
        }
        if field.iter().any(|f| {
            matches!(f, Frag::Hole { .. } | Frag::Value { .. } | Frag::Name | Frag::Folder | Frag::Descriptor)
        }) || field.iter().skip(1).any(|frag| matches!(frag, Frag::Tilde(_)))
        {
            return Word::Unknown(pieces(field, active));
        }
        if active || field.iter().any(|f| matches!(f, Frag::Glob(_))) {
            let mut pattern = String::new();
            for (at, frag) in field.iter().enumerate() {
                match frag {
                    Frag::Bare(text) => push_pattern(text, &mut pattern),
                    Frag::Glob(text) | Frag::Tilde(text) => pattern.push_str(text),
                    Frag::Text(text) => escape_pattern(text, at == 0, &mut pattern),
                    _ => {}
                }
            }
            return Word::Glob(pattern);
        }
        let mut text = String::new();
        for frag in field {
            match frag {
                Frag::Bare(t) | Frag::Text(t) | Frag::Tilde(t) => text.push_str(t),
                _ => {}
            }
        }
        match field.first() {
            Some(Frag::Tilde(_)) => Word::Tilde(text),
            _ => Word::Known(text),
        }
    }
}

/// `${x}y` where `x` is a home: the folder's name goes on, so it is no home and not that of `y` either.
fn beside_home(field: &[Frag]) -> Option<Vec<Frag>> {
    let (Frag::Tilde(home), rest) = field.split_first()? else { return None };
    let goes_on = match rest
        .iter()
        .find(|frag| !matches!(frag, Frag::Text(text) | Frag::Bare(text) if text.is_empty()))?
    {
        Frag::Text(text) | Frag::Bare(text) | Frag::Glob(text) => !text.starts_with('/'),
        _ => false,
    };
    let frag = match home.as_str() {
        "~" => Frag::Value { name: "HOME".to_string(), quoted: true, unset: None },
        _ => Frag::Hole { quoted: true },
    };
    goes_on.then(|| std::iter::once(frag).chain(rest.iter().cloned()).collect())
}

/// Where a program may stand that is looked up (`$(which rm)`): some folder that guards know and that is none of the system.
pub(crate) const SOME_BIN: &str = "/opt/homebrew/bin/";

fn program_frag(name: &str, quoted: bool) -> Frag {
    Frag::Value { name: String::new(), quoted, unset: Some(format!("{SOME_BIN}{name}")) }
}

/// The name of the program whose place a word is.
pub(crate) fn looked_up(word: &Word) -> Option<&str> {
    match word {
        Word::Unknown(pieces) => match pieces.as_slice() {
            [Piece::Value { name, unset: Some(place), .. }] if name.is_empty() => {
                place.strip_prefix(SOME_BIN)
            }
            _ => None,
        },
        _ => None,
    }
}

fn pieces(field: &[Frag], active: bool) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for frag in field {
        let piece = match frag {
            // A pattern that begins in one part and ends in another is not followed.
            Frag::Bare(text) if active && text.contains(['*', '?', '[', ']']) => {
                if has_pattern(text) {
                    Piece::Pattern(text.clone())
                } else {
                    Piece::Hole { quoted: false }
                }
            }
            Frag::Bare(text) | Frag::Text(text) => Piece::Text(text.clone()),
            Frag::Tilde(text) => Piece::Tilde(text.clone()),
            Frag::Glob(_) => Piece::Hole { quoted: true },
            Frag::Hole { quoted } => Piece::Hole { quoted: *quoted },
            Frag::Value { name, quoted, unset } => {
                Piece::Value { name: name.clone(), quoted: *quoted, unset: unset.clone() }
            }
            Frag::Name => Piece::Name,
            Frag::Folder => Piece::Folder,
            Frag::Descriptor => Piece::Descriptor,
            Frag::Absent | Frag::Break => continue,
        };
        match (out.last_mut(), piece) {
            (_, Piece::Text(text)) if text.is_empty() => {}
            (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
            (_, piece) => out.push(piece),
        }
    }
    out
}

/// Whether unquoted text is a file-name pattern.
pub(crate) fn has_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
        || text.find('[').is_some_and(|at| text.get(at..).is_some_and(|rest| rest.contains(']')))
}

/// Adds a pattern; `[x]` is the letter alone.
fn push_pattern(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some((front, behind)) = rest.split_once('[') {
        out.push_str(front);
        let mut chars = behind.chars();
        match (chars.next(), chars.next()) {
            (Some(c), Some(']')) if c.is_ascii_alphanumeric() => {
                out.push(c);
                rest = chars.as_str();
            }
            _ => {
                out.push('[');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
}

/// Adds literal text to a pattern.
pub(crate) fn escape_pattern(text: &str, start: bool, out: &mut String) {
    for (at, c) in text.char_indices() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\') || start && at == 0 && c == '~' {
            out.push('\\');
        }
        out.push(c);
    }
}

/// The words that braces give; `None` when there are more than `most`.
fn braces<'b, 'a>(toks: &[Tok<'b, 'a>], most: usize) -> Option<Vec<Vec<Tok<'b, 'a>>>> {
    let mut from = 0;
    while let Some(open) = position(toks, from, '{') {
        let Some((close, commas)) = matching(toks, open) else {
            from = open + 1;
            continue;
        };
        let inner = toks.get(open + 1..close)?;
        let items: Vec<Vec<Tok<'b, 'a>>> = if commas.is_empty() {
            match sequence(inner, most)? {
                Some(items) => items,
                None => {
                    from = open + 1;
                    continue;
                }
            }
        } else {
            let mut items = Vec::new();
            let mut start = open + 1;
            for end in commas.into_iter().chain([close]) {
                items.extend(braces(toks.get(start..end)?, most)?);
                start = end + 1;
            }
            items
        };
        let (before, after) = (toks.get(..open)?, braces(toks.get(close + 1..)?, most)?);
        if items.len().checked_mul(after.len())? > most {
            return None;
        }
        let mut out = Vec::new();
        for item in &items {
            for rest in &after {
                out.push(before.iter().chain(item).chain(rest).copied().collect());
            }
        }
        return Some(out);
    }
    Some(vec![toks.to_vec()])
}

fn position(toks: &[Tok<'_, '_>], from: usize, wanted: char) -> Option<usize> {
    toks.iter()
        .enumerate()
        .skip(from)
        .find(|(_, tok)| matches!(tok, Tok::Char(c) if *c == wanted))
        .map(|(at, _)| at)
}

/// The brace that closes the one at `open`, and the commas directly inside.
fn matching(toks: &[Tok<'_, '_>], open: usize) -> Option<(usize, Vec<usize>)> {
    let (mut depth, mut commas) = (0usize, Vec::new());
    for (at, tok) in toks.iter().enumerate().skip(open + 1) {
        match tok {
            Tok::Char('{') => depth += 1,
            Tok::Char('}') if depth == 0 => return Some((at, commas)),
            Tok::Char('}') => depth -= 1,
            Tok::Char(',') if depth == 0 => commas.push(at),
            _ => {}
        }
    }
    None
}

/// The items of `{1..3}`, `{a..c}`, `{01..10..2}`: outer `None` when too many, inner `None` when it is no sequence.
#[expect(clippy::option_option, reason = "too many is no answer, no sequence is one")]
fn sequence<'b, 'a>(inner: &[Tok<'b, 'a>], most: usize) -> Option<Option<Vec<Vec<Tok<'b, 'a>>>>> {
    let mut text = String::new();
    for tok in inner {
        match tok {
            Tok::Char(c) => text.push(*c),
            Tok::Bit(_) => return Some(None),
        }
    }
    let parts: Vec<&str> = text.split("..").collect();
    let (from, to, step) = match parts.as_slice() {
        [from, to] => (*from, *to, 1),
        [from, to, step] => match step.parse::<i64>() {
            Ok(step) => (*from, *to, step.unsigned_abs().max(1)),
            Err(_) => return Some(None),
        },
        _ => return Some(None),
    };
    let letters = |s: &str| s.chars().next().filter(|c| c.is_ascii_alphabetic() && s.len() == 1);
    let (first, last, letter) = match (from.parse::<i64>(), to.parse::<i64>(), letters(from), letters(to)) {
        (Ok(first), Ok(last), ..) => (first, last, false),
        (_, _, Some(first), Some(last)) => (i64::from(u32::from(first)), i64::from(u32::from(last)), true),
        _ => return Some(None),
    };
    let count = first.abs_diff(last) / step + 1;
    if count > most as u64 {
        return None;
    }
    let padded = |s: &str| s.trim_start_matches('-').starts_with('0') && s.trim_start_matches('-').len() > 1;
    let width = if padded(from) || padded(to) { from.len().max(to.len()) } else { 0 };
    let mut items = Vec::new();
    for n in 0..count {
        let offset = i64::try_from(n * step).ok()?;
        let value = if first <= last { first.checked_add(offset)? } else { first.checked_sub(offset)? };
        let item = match letter {
            true => u32::try_from(value).ok().and_then(char::from_u32)?.to_string(),
            false => format!("{value:0width$}"),
        };
        items.push(item.chars().map(Tok::Char).collect());
    }
    Some(Some(items))
}
