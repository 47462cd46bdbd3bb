//! The walk's side of the flow graph: which channel a word, an input or an output is.
//!
//! INVARIANT: every substitution, variable, redirection and function met on the walk has a channel, and every command is
//! joined to those of its own words, its input and its output.

use super::files::{Key, Write};
use super::programs::{listens, marks, operands, writes};
use super::{Moment, NETWORK, Node, Read};
use crate::shell::ast::{Bit, List};
use crate::shell::effects::Touch;
use crate::shell::inner::Call;
use crate::shell::options::{Reading, is_name};
use crate::shell::program::Program;
use crate::shell::walk::{Ctx, Walk};
use crate::shell::{Dir, Feature, Part, Redirect, Word};

/// Builtins whose operands are variables that get what they read or are given.
const ASSIGNING: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "printf",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
];

/// Programs that change a file but not what is in it.
const KEEPS_CONTENT: &[&str] = &["chmod", "chown", "chgrp", "touch", "setfacl", "chattr", "xattr", "chcon"];

/// A static output: the text, and whether holes in it were filled.
pub(crate) type Written = Option<(String, bool)>;

impl<'t> Walk<'_, '_, 't> {
    /// Visits the parts of a word; the channels from which its value comes.
    pub(crate) fn visit_word(
        &mut self,
        bits: &'t [Bit<'t>],
        env: &mut super::super::env::Env,
        ctx: &Ctx,
    ) -> Vec<u32> {
        let outer = std::mem::take(&mut self.met);
        self.visit(bits, env, ctx);
        let mut met = std::mem::replace(&mut self.met, outer);
        met.sort_unstable();
        met.dedup();
        met
    }

    /// A list whose output is a value of the word that is visited.
    pub(crate) fn inside(&mut self, ctx: &mut Ctx) -> u32 {
        let channel = self.w.flow.channel();
        ctx.to = Some(channel);
        channel
    }

    /// The channel of a variable or parameter.
    pub(crate) fn variable(&mut self, head: &str) -> Option<u32> {
        let name = head.trim_start_matches(['#', '!']);
        if is_name(name) {
            return Some(self.w.flow.named(&format!("${name}")));
        }
        let positional = name.starts_with(|c: char| c.is_ascii_digit()) || matches!(name, "@" | "*");
        positional.then(|| self.w.flow.named("$@"))
    }

    /// What comes through these channels becomes the value of a variable.
    pub(crate) fn assigned(&mut self, name: &str, met: &[u32]) {
        if met.is_empty() {
            return;
        }
        let to = self.w.flow.named(&format!("${name}"));
        for channel in met {
            self.w.flow.edge(Node::Channel(*channel), Node::Channel(to));
        }
    }

    /// Whether a process substitution is written to (`>(...)`) or read.
    pub(crate) fn is_written(&self, list: &List<'_>) -> bool {
        let start = list.items.first().and_then(|item| item.first.stages.first()).map(|node| match node {
            crate::shell::ast::Node::Simple(simple) => simple.range.0,
            crate::shell::ast::Node::Compound(compound) => {
                (compound.text.as_ptr() as usize).saturating_sub(self.source.as_ptr() as usize)
            }
        });
        let before = start.and_then(|start| self.source.get(..start)).unwrap_or_default();
        before.rfind(">(").is_some_and(|at| before.rfind("<(").is_none_or(|other| other < at))
    }

    pub(crate) fn moment(&self, at: u32, deferred: bool) -> Moment {
        let background = self.w.features & Feature::Background.bit() != 0;
        Moment { at, loose: deferred || self.w.loops > 0 || background }
    }

    /// Where input comes from and output goes behind redirections. `met` are the channels of each.
    #[expect(clippy::too_many_arguments, reason = "where bytes come from and go")]
    pub(crate) fn through(
        &mut self,
        redirects: &[Redirect],
        met: &[Vec<u32>],
        (mut from, mut to): (Option<u32>, Option<u32>),
        dir: &Dir,
        at: Moment,
        deferred: bool,
        written: &Written,
    ) -> (Option<u32>, Option<u32>) {
        for (redirect, met) in redirects.iter().zip(met) {
            let input = redirect.op.starts_with('<');
            let own = if input { "0" } else { "1" };
            let fd = if redirect.fd.is_empty() { own } else { redirect.fd.as_str() };
            let digits =
                redirect.target.known().filter(|t| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit()));
            if redirect.op.ends_with('&')
                && let Some(number) = digits
            {
                let other =
                    (!matches!(number, "0" | "1" | "2")).then(|| self.w.flow.named(&format!("&{number}")));
                match (fd, other) {
                    ("0", Some(other)) => from = Some(other),
                    ("1", Some(other)) => to = Some(other),
                    ("0" | "1" | "2", _) | (_, None) => {}
                    (fd, Some(other)) => {
                        let channel = self.w.flow.named(&format!("&{fd}"));
                        self.w.flow.edge(Node::Channel(other), Node::Channel(channel));
                        self.w.flow.edge(Node::Channel(channel), Node::Channel(other));
                    }
                }
                continue;
            }
            if fd == "2" && redirect.op != "&>" && redirect.op != "&>>" {
                continue;
            }
            let channel = self.w.flow.channel();
            let node = Node::Channel(channel);
            self.meet(node, met);
            if !redirect.op.starts_with("<<") {
                if redirect.op.contains('<') {
                    self.opens(node, &redirect.target, dir, at);
                }
                if redirect.op.contains('>')
                    && let Some(key) = Key::of(&redirect.target, dir)
                {
                    let text = if matches!(fd, "1") { written.clone() } else { None };
                    let certain = self.w.unsure == 0 && !deferred;
                    let append = redirect.op.contains(">>");
                    self.w.flow.writes(Write { node, key, at, tree: false, text, append, certain });
                }
            }
            match (fd, input) {
                ("0", _) => from = Some(channel),
                ("1", _) => {
                    let stream = matches!(
                        redirect.target.known(),
                        Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1")
                    );
                    if let (true, Some(to)) = (stream, to) {
                        self.w.flow.edge(node, Node::Channel(to));
                    }
                    to = Some(channel);
                }
                (fd, _) => {
                    let other = Node::Channel(self.w.flow.named(&format!("&{fd}")));
                    self.w.flow.edge(node, other);
                    self.w.flow.edge(other, node);
                }
            }
        }
        (from, to)
    }

    /// A place that reads a file, a descriptor or a host.
    fn opens(&mut self, node: Node, target: &Word, dir: &Dir, at: Moment) {
        let text = target.known().unwrap_or_default();
        if text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/") {
            self.w.flow.mark(node, NETWORK);
        }
        let number = text.strip_prefix("/dev/fd/").or_else(|| text.strip_prefix("/proc/self/fd/"));
        if let Some(number) = number {
            let other = self.w.flow.named(&format!("&{number}"));
            self.w.flow.edge(Node::Channel(other), node);
        }
        if let Some(key) = Key::of(target, dir) {
            self.w.flow.reads(Read { node, key, at, runs: false });
        }
    }

    /// Joins a node with the channels of a word, each in its direction.
    pub(crate) fn meet(&mut self, node: Node, met: &[u32]) {
        for channel in met {
            match self.w.flow.is_outward(*channel) {
                true => self.w.flow.edge(node, Node::Channel(*channel)),
                false => self.w.flow.edge(Node::Channel(*channel), node),
            }
        }
    }

    /// The channels of the words of a call.
    pub(crate) fn channels(&self, call: &Call) -> Vec<u32> {
        let mut out: Vec<u32> = call.extra.into_iter().collect();
        let mut last = None;
        for range in &call.ranges {
            if last != Some(range) {
                out.extend(self.met_words.get(range).into_iter().flatten());
                last = Some(range);
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Joins a call of a function with its body.
    pub(crate) fn link_function(&mut self, call: &Call, name: &str) {
        let (from, to) = (self.w.flow.named(&format!("<{name}")), self.w.flow.named(&format!(">{name}")));
        if let Some(channel) = call.from {
            self.w.flow.edge(Node::Channel(channel), Node::Channel(from));
        }
        if let Some(channel) = call.to {
            self.w.flow.edge(Node::Channel(to), Node::Channel(channel));
        }
        let met = self.channels(call);
        self.assigned("@", &met);
    }

    /// Joins a listed command with everything around it.
    pub(crate) fn link(
        &mut self,
        index: usize,
        call: &Call,
        name: &str,
        program: Option<&Program>,
        reading: &Reading,
    ) {
        let Ok(number) = u32::try_from(index) else { return };
        let node = Node::Command(number);
        let at = self.moment(self.place_of(call.range).0, call.deferred);
        let command = self.w.commands.get(index);
        if command.is_some_and(|command| command.network) {
            self.w.flow.mark(node, NETWORK);
        }
        let touches = command.map(|command| command.touches.clone()).unwrap_or_default();
        self.w.flow.mark(node, marks(name, program, call));
        if let Some(from) = call.from.filter(|_| listens(name)) {
            self.w.flow.edge(Node::Channel(from), node);
        }
        if let Some(to) = call.to {
            self.w.flow.edge(node, Node::Channel(to));
        }
        let met = self.channels(call);
        self.meet(node, &met);
        if name == "set" {
            let to = self.w.flow.named("$@");
            self.w.flow.edge(node, Node::Channel(to));
        }
        if ASSIGNING.contains(&name) {
            let names: Vec<String> = call
                .words
                .iter()
                .skip(1)
                .filter_map(first_text)
                .map(|text| {
                    text.trim_start_matches("-v")
                        .split(['=', '[', '+'])
                        .next()
                        .unwrap_or_default()
                        .to_string()
                })
                .filter(|name| is_name(name))
                .chain(["read", "mapfile", "getopts"].contains(&name).then(|| "REPLY".to_string()))
                .collect();
            for name in names {
                let to = self.w.flow.named(&format!("${name}"));
                self.w.flow.edge(node, Node::Channel(to));
            }
        }
        self.link_files(number, call, name, (reading, &touches), at);
    }

    fn link_files(
        &mut self,
        number: u32,
        call: &Call,
        name: &str,
        (reading, touches): (&Reading, &[Touch]),
        at: Moment,
    ) {
        let node = Node::Command(number);
        for (at_word, (word, part)) in call.words.iter().zip(&reading.parts).enumerate() {
            match part {
                Part::Program => {
                    let path = first_text(word).is_some_and(|text| text.contains('/'))
                        || matches!(word, Word::Tilde(_));
                    let path = path || matches!(word, Word::Unknown(_));
                    if let (true, 0, Some(key)) = (path, at_word, Key::of(word, &call.dir)) {
                        self.w.flow.reads(Read { node, key, at, runs: true });
                    }
                }
                Part::Dashes => {}
                Part::Flag { value, .. } => {
                    if let Some(key) = value.as_ref().and_then(|value| Key::of(value, &call.dir)) {
                        self.w.flow.reads(Read { node, key, at, runs: false });
                    }
                }
                Part::FlagValue { .. } | Part::Operand { .. } | Part::Unclear => {
                    self.opens(node, word, &call.dir, at);
                    let inner = word.known().and_then(|text| {
                        text.strip_prefix('@')
                            .or_else(|| text.split_once('=').map(|(_, value)| value.trim_start_matches('@')))
                    });
                    if let Some(key) = inner.and_then(|text| Key::from_text(text, false, false, &call.dir)) {
                        self.w.flow.reads(Read { node, key, at, runs: false });
                    }
                }
            }
        }
        let certain = self.w.unsure == 0 && !call.deferred;
        let copies = matches!(name, "tee" | "sponge" | "dd") && operands(call, reading).len() < 64;
        let mut all = writes(name, call, reading);
        if all.is_empty() && !KEEPS_CONTENT.contains(&name) {
            for ((word, part), touch) in call.words.iter().zip(&reading.parts).zip(touches) {
                let word = match part {
                    Part::Flag { value, .. } => value.as_ref(),
                    _ => Some(word),
                };
                let key = word.filter(|_| touch.has(Touch::WRITE)).and_then(|word| Key::of(word, &call.dir));
                all.extend(key.map(|key| (key, touch.has(Touch::TREE), true)));
            }
        }
        for (key, tree, append) in all {
            let text = if copies && !tree { call.written.clone() } else { None };
            self.w.flow.writes(Write { node, key, at, tree, text, append, certain });
        }
    }

    /// What a command runs comes through these channels.
    pub(crate) fn runs(&mut self, index: usize, channels: &[u32], read: bool) {
        let Ok(number) = u32::try_from(index) else { return };
        for channel in channels {
            if !self.w.flow.is_outward(*channel) {
                self.w.flow.runs(number, Node::Channel(*channel), read);
            }
        }
    }
}

/// The text that a word begins with.
fn first_text(word: &Word) -> Option<&str> {
    match word {
        Word::Known(text) | Word::Tilde(text) | Word::Glob(text) => Some(text),
        Word::Unknown(pieces) => match pieces.first() {
            Some(crate::shell::Piece::Text(text)) => Some(text),
            _ => None,
        },
        Word::OneOf(_) => None,
    }
}
