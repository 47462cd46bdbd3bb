//! Where the output of each command may go: pipes, substitutions, variables, functions and files as one graph.
//!
//! INVARIANT: edges are only added, and an order that is not certain counts as the one in which the output arrives. A text
//! with more flows than are followed is not understood.

use super::{Analysis, Feature, Problem};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(crate) mod files;
pub(crate) mod link;
pub(crate) mod programs;
pub(crate) mod run;

use files::{Key, Write};

/// Most edges of one text.
const MAX_EDGES: usize = 65_536;
/// Most reads and writes of files.
const MAX_FILES: usize = 4096;
/// Most sources that are told of one command, and most nodes that are looked at for them.
const MAX_SOURCES: usize = 256;
const MAX_VISITED: usize = 2048;

/// A program that sends and fetches.
pub(crate) const NETWORK: u8 = 1;
/// A program that decodes.
pub(crate) const DECODES: u8 = 2;

/// A command or a channel between commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Node {
    Command(u32),
    Channel(u32),
}

/// A place that reads a file.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) node: Node,
    pub(crate) key: Key,
    pub(crate) at: Moment,
    /// The file is run by this command.
    pub(crate) runs: bool,
}

/// When something happens, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Place in the outermost text.
    pub(crate) at: u32,
    /// In a loop, a function or the background: it may also happen earlier or later.
    pub(crate) loose: bool,
}

impl Moment {
    /// Whether this may happen before the other.
    pub(crate) fn may_precede(self, other: Moment) -> bool {
        self.at <= other.at || self.loose || other.loose
    }
}

/// Everything that is known of flows.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    channels: u32,
    names: BTreeMap<String, u32>,
    /// Channels that lead away from the command whose word they are in (`>(...)`).
    outward: BTreeSet<u32>,
    edges: Vec<(Node, Node)>,
    /// Command, what it runs, and whether that text was read as well.
    code: Vec<(u32, Node, bool)>,
    marks: BTreeMap<Node, u8>,
    reads: Vec<Read>,
    pub(crate) writes: Vec<Write>,
    full: bool,
    /// More files are read than are followed.
    many_reads: bool,
}

impl Flow {
    pub(crate) fn channel(&mut self) -> u32 {
        self.channels += 1;
        self.channels
    }

    /// The channel of a variable, function or descriptor.
    pub(crate) fn named(&mut self, name: &str) -> u32 {
        if let Some(channel) = self.names.get(name) {
            return *channel;
        }
        let channel = self.channel();
        self.names.insert(name.to_string(), channel);
        channel
    }

    pub(crate) fn outward(&mut self, channel: u32) {
        self.outward.insert(channel);
    }

    pub(crate) fn is_outward(&self, channel: u32) -> bool {
        self.outward.contains(&channel)
    }

    pub(crate) fn edge(&mut self, from: Node, to: Node) {
        if self.edges.len() >= MAX_EDGES {
            self.full = true;
        } else if from != to {
            self.edges.push((from, to));
        }
    }

    /// A command runs what comes from a node; `read` when that text was read as well.
    pub(crate) fn runs(&mut self, command: u32, from: Node, read: bool) {
        if self.code.len() >= MAX_EDGES {
            self.full = true;
        } else {
            self.code.push((command, from, read));
            self.edge(from, Node::Command(command));
        }
    }

    pub(crate) fn mark(&mut self, node: Node, mark: u8) {
        if mark != 0 {
            *self.marks.entry(node).or_default() |= mark;
        }
    }

    pub(crate) fn reads(&mut self, read: Read) {
        if self.reads.len() >= MAX_FILES { self.many_reads = true } else { self.reads.push(read) }
    }

    pub(crate) fn writes(&mut self, write: Write) {
        if self.writes.len() >= MAX_FILES { self.full = true } else { self.writes.push(write) }
    }

    /// More flows than are followed.
    pub(crate) fn is_full(&self) -> bool {
        self.full || self.many_reads && !self.writes.is_empty()
    }

    /// Joins writers and readers of files.
    pub(crate) fn join_files(&mut self) {
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut others = Vec::new();
        for (number, write) in self.writes.iter().enumerate() {
            match write.key.name() {
                Some(name) if !write.tree => by_name.entry(name).or_default().push(number),
                _ => others.push(number),
            }
        }
        let (mut edges, mut code, mut steps) = (Vec::new(), Vec::new(), 0usize);
        for read in &self.reads {
            let all: Vec<usize> = match read.key.name() {
                Some(name) => by_name.get(name).into_iter().flatten().chain(&others).copied().collect(),
                None => (0..self.writes.len()).collect(),
            };
            for write in all.into_iter().filter_map(|number| self.writes.get(number)) {
                steps += 1;
                if !write.at.may_precede(read.at) || !write.holds(&read.key) {
                    continue;
                }
                match (read.node, read.runs) {
                    (Node::Command(command), true) => code.push((command, write.node, write.was_read())),
                    (to, _) => edges.push((write.node, to)),
                }
            }
            if steps > 64 * MAX_FILES || edges.len() + code.len() > MAX_EDGES {
                self.full = true;
                break;
            }
        }
        for (from, to) in edges {
            self.edge(from, to);
        }
        for (command, from, read) in code {
            self.runs(command, from, read);
        }
    }

    /// Tells every command its sources and the features that come of them.
    pub(crate) fn finish(&self, analysis: &mut Analysis) {
        let mut before: BTreeMap<Node, Vec<Node>> = BTreeMap::new();
        for (from, to) in &self.edges {
            before.entry(*to).or_default().push(*from);
        }
        if before.is_empty() {
            return;
        }
        let marks = self.spread();
        let mut code: BTreeMap<u32, Vec<(Node, bool)>> = BTreeMap::new();
        for (command, from, read) in &self.code {
            code.entry(*command).or_default().push((*from, *read));
        }
        let mut many = false;
        for (index, command) in analysis.commands.iter_mut().enumerate() {
            let Ok(index) = u32::try_from(index) else { break };
            let own = Node::Command(index);
            let mut cut = false;
            command.sources =
                upstream(before.get(&own).into_iter().flatten().copied(), &before, index, &mut cut);
            let runs = code.get(&index).map(Vec::as_slice).unwrap_or_default();
            command.code = upstream(runs.iter().map(|(from, _)| *from), &before, index, &mut cut);
            many |= cut;
            let mark = runs
                .iter()
                .filter(|(_, read)| !read)
                .fold(0, |all, (from, _)| all | marks.get(from).copied().unwrap_or_default());
            for (bit, feature) in [(NETWORK, Feature::FetchedCode), (DECODES, Feature::DecodedCode)] {
                if mark & bit != 0 {
                    command.features |= feature.bit();
                    analysis.features |= feature.bit();
                }
            }
        }
        if many {
            let message = "a command has more sources than are followed".to_string();
            analysis.problems.push(Problem { message, line: 1, column: 1 });
            analysis.complete = false;
        }
    }

    /// The marks of every node with those of all that may reach it.
    fn spread(&self) -> BTreeMap<Node, u8> {
        let mut after: BTreeMap<Node, Vec<Node>> = BTreeMap::new();
        for (from, to) in &self.edges {
            after.entry(*from).or_default().push(*to);
        }
        let mut marks = self.marks.clone();
        let mut queue: VecDeque<Node> = marks.keys().copied().collect();
        // Each node gets at most two bits, so it comes at most three times.
        while let Some(node) = queue.pop_front() {
            let mark = marks.get(&node).copied().unwrap_or_default();
            for to in after.get(&node).into_iter().flatten() {
                let old = marks.entry(*to).or_default();
                if *old | mark != *old {
                    *old |= mark;
                    queue.push_back(*to);
                }
            }
        }
        marks
    }
}

/// Whether a hole that was filled may be the name of a command: at the start of a text or behind what begins one.
pub(crate) fn hole_runs(text: &str) -> bool {
    text.match_indices("${_}").any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().trim_end_matches(['"', '\'', ' ', '\t']);
        let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        before.is_empty()
            || before.ends_with([';', '&', '|', '(', '{', '\n', '`', '!'])
            || matches!(word, "then" | "do" | "else" | "eval" | "exec" | "command" | "sudo" | "c" | "time")
    })
}

/// The commands behind some nodes, the nearest first; `cut` when there are more of them.
fn upstream(
    from: impl Iterator<Item = Node>,
    before: &BTreeMap<Node, Vec<Node>>,
    own: u32,
    cut: &mut bool,
) -> Vec<u32> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    let mut queue: VecDeque<Node> = from.collect();
    while let Some(node) = queue.pop_front() {
        if found.len() >= MAX_SOURCES || seen.len() >= MAX_VISITED {
            *cut = true;
            break;
        }
        if !seen.insert(node) {
            continue;
        }
        if let Node::Command(index) = node {
            if index == own {
                continue;
            }
            found.push(index);
        }
        queue.extend(before.get(&node).into_iter().flatten());
    }
    found
}
