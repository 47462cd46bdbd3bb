//! Programs that are no cmdlets: read as every other shell reads them, with what is known of programs.
//!
//! INVARIANT: a program that runs what came over the network, by its input or as a file, is told.

use super::command::with;
use super::expr::Argument;
use super::value::{Value, concat};
use super::{Around, Reader, State};
use crate::shell::ast::Tree;
use crate::shell::env::Env;
use crate::shell::inner::Call;
use crate::shell::walk::{Stdin, Walk};
use crate::shell::{Feature, Gap, Part, Piece, Redirect, Word};

impl Reader<'_, '_> {
    /// A command that a cmdlet starts.
    pub(super) fn inner_command(
        &mut self,
        words: Vec<Word>,
        by: &str,
        range: (usize, usize),
        state: &State,
        around: &Around,
    ) {
        let inside = Around { wrappers: with(&around.wrappers, by), input: None, ..around.clone() };
        let mut words = words.into_iter();
        let Some(first) = words.next() else { return };
        let name = match &first {
            Word::Known(text) => Word::Known(text.replace('\\', "/")),
            other => other.clone(),
        };
        if let Some(text) = name.known() {
            let file = Value::text(text);
            let index = self.w.commands.len();
            let fetched = self.is_fetched(&file, state);
            self.listed_native(name, words.collect(), range, state, &inside);
            if fetched {
                self.mark(index, &Value { fetched: true, ..Value::default() });
            }
            return;
        }
        self.listed_native(name, words.collect(), range, state, &inside);
    }

    fn listed_native(
        &mut self,
        name: Word,
        words: Vec<Word>,
        range: (usize, usize),
        state: &State,
        around: &Around,
    ) {
        let arguments: Vec<Argument> = words
            .into_iter()
            .map(|word| Argument { value: Value::word(word), range, ..Argument::default() })
            .collect();
        self.native(name, &arguments, None, Vec::new(), Vec::new(), range, state, around);
    }

    /// A program: what it runs is found as for every shell.
    #[expect(clippy::too_many_arguments, reason = "the parts of one command")]
    pub(super) fn native(
        &mut self,
        name: Word,
        arguments: &[Argument],
        verbatim: Option<String>,
        redirects: Vec<Redirect>,
        mut gaps: Vec<Gap>,
        range: (usize, usize),
        state: &State,
        around: &Around,
    ) {
        let mut words = vec![name];
        let mut ranges = vec![range];
        for argument in arguments {
            if argument.block {
                words.push(Word::Known("{}".into()));
                ranges.push(argument.range);
            }
            for item in &argument.value.items {
                words.push(match (item, argument.bare.is_some()) {
                    // `-x$y` is one word; a lone variable may be a list.
                    (Word::Unknown(pieces), true) if pieces.len() > 1 => item.clone(),
                    _ => item.clone(),
                });
                ranges.push(argument.range);
            }
        }
        for word in verbatim.iter().flat_map(|text| windows_split(text)) {
            words.push(word);
            ranges.push(range);
        }
        if words.len() > 4096 {
            let at = range.0;
            return self.problem(at, "the command has more words than are read");
        }
        if state.risky {
            gaps.push(Gap::Environment);
        }
        if state.redefined {
            gaps.push(Gap::Shadowed);
        }
        for redirect in &redirects {
            self.w.features |= crate::shell::walk::redirect_features(redirect);
        }
        let stdin = match &around.input {
            None => Stdin::Call,
            Some(input) => match input.texts() {
                Some(texts) if !texts.is_empty() => Stdin::Text(texts.join("\n") + "\n"),
                _ => Stdin::Unknown,
            },
        };
        let mut all = around.redirects.clone();
        all.extend(redirects);
        let tree = Tree::default();
        let source = self.source.clone();
        let mut env = Env::new(state.dir.clone());
        env.risky = state.risky;
        let index = self.w.commands.len();
        let mut walk = Walk::over(
            &mut *self.w,
            &tree,
            &source,
            (self.place, self.depth),
            crate::shell::Dialect::Unknown,
        );
        let call = Call {
            ranges,
            redirects: all,
            wrappers: around.wrappers.clone(),
            gaps,
            pipe: around.pipe,
            stdin,
            features: if around.pipe.is_some() { Feature::Pipe.bit() } else { 0 },
            deferred: around.deferred,
            ..Call::windows(words, range, state.dir.clone())
        };
        walk.call(call, &env);
        let runs = |reader: &Self| {
            let command = reader.w.commands.get(index);
            command
                .and_then(|c| c.words.first())
                .and_then(Word::known)
                .is_some_and(crate::shell::carry::is_interpreter)
        };
        let files = Value {
            items: arguments.iter().flat_map(|a| a.value.items.clone()).collect(),
            ..Value::default()
        };
        if self.is_fetched(&files, state) && runs(self) {
            self.mark(index, &Value { fetched: true, ..Value::default() });
        }
        if let Some(input) = around.input.clone().filter(|input| input.fetched || input.decoded)
            && runs(self)
        {
            self.mark(index, &input);
        }
    }
}

/// The parts of a program's words, told by their dashes alone.
pub(super) fn native_parts(words: &[Word]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut flag: Option<String> = None;
    for (at, word) in words.iter().enumerate() {
        parts.push(match (at, word.known()) {
            (0, _) => Part::Program,
            (_, Some(text)) if text.starts_with('-') => {
                flag = Some(text.to_string());
                Part::Flag { names: vec![text.to_string()], value: None }
            }
            _ => match flag.take() {
                Some(flag) => Part::FlagValue { flag },
                None => Part::Operand { after_dashes: false },
            },
        });
    }
    parts
}

/// A command line as a Windows program splits it: blanks, and double quotes around them.
pub(crate) fn windows_split(text: &str) -> Vec<Word> {
    let (mut words, mut word, mut quoted, mut some) = (Vec::new(), String::new(), false, false);
    for c in text.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                some = true;
            }
            ' ' | '\t' if !quoted => {
                if some {
                    words.push(std::mem::take(&mut word));
                }
                some = false;
            }
            c => {
                word.push(c);
                some = true;
            }
        }
    }
    if some {
        words.push(word);
    }
    words
        .into_iter()
        .map(|word| {
            let holes: Vec<Word> = word.split('\u{1}').map(|part| Word::Known(part.to_string())).collect();
            if holes.len() == 1 {
                return Word::Known(word);
            }
            let mut parts = Vec::new();
            for (at, part) in holes.into_iter().enumerate() {
                if at > 0 {
                    parts.push(Word::Unknown(vec![Piece::Hole { quoted: true }]));
                }
                parts.push(part);
            }
            concat(&parts)
        })
        .collect()
}
