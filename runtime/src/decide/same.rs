//! Which values and words of a call are the same for every pattern, so that each is judged once.
//!
//! INVARIANT: only what no pattern can tell apart counts as the same; what is reported of the first holds for all.

use crate::facts::{Access, CommandFact, DomainFact, Facts, Form, Part, PathName, Redirect, Word};
use std::collections::{HashMap, HashSet};

/// For each value of a kind the number of the first that is the same.
#[derive(Debug, Default)]
pub(super) struct Same {
    /// Paths, whatever holds them.
    paths: Vec<usize>,
    /// Commands.
    commands: Vec<usize>,
}

/// All of a command that a pattern may ask for; paths by the first that is the same.
#[derive(PartialEq, Eq, Hash)]
struct Seen<'f> {
    text: &'f str,
    words: &'f [Word],
    parts: &'f [Part],
    touches: &'f [Access],
    names: &'f [u32],
    word_paths: Vec<Option<usize>>,
    one_of_paths: Vec<(u32, usize)>,
    paths: [Vec<usize>; 2],
    redirects: Vec<(&'f str, bool, bool, Option<usize>)>,
    domains: Vec<(&'f str, Form)>,
    script: u32,
    pipe: Option<(u32, u32, u32)>,
    dir: &'f PathName,
    wrappers: &'f [String],
    doubts: (bool, bool, bool, bool, &'f str, u32),
}

impl Same {
    /// Looks through all paths and commands.
    pub(super) fn new(facts: &Facts) -> Same {
        let paths =
            firsts(facts.paths.iter().map(|path| (&path.written, &path.names, path.form, path.access)));
        let commands = firsts(facts.commands.iter().map(|command| seen(command, &facts.domains, &paths)));
        Same { paths, commands }
    }

    /// The first path that is the same as this one, whatever holds it.
    pub(super) fn path(&self, index: usize) -> usize {
        self.paths.get(index).copied().unwrap_or(index)
    }

    /// The first command that is the same as this one.
    pub(super) fn command(&self, index: usize) -> usize {
        self.commands.get(index).copied().unwrap_or(index)
    }
}

fn firsts<K: std::hash::Hash + Eq>(keys: impl ExactSizeIterator<Item = K>) -> Vec<usize> {
    if keys.len() < 2 {
        return (0..keys.len()).collect();
    }
    let mut known: HashMap<K, usize> = HashMap::with_capacity(keys.len());
    keys.enumerate().map(|(index, key)| *known.entry(key).or_insert(index)).collect()
}

fn seen<'f>(command: &'f CommandFact, domains: &'f [DomainFact], paths: &[usize]) -> Seen<'f> {
    let first = |number: u32| paths.get(number as usize).copied().unwrap_or(usize::MAX);
    let firsts = |numbers: &[u32]| numbers.iter().map(|number| first(*number)).collect::<Vec<usize>>();
    let domain =
        |number: &u32| domains.get(*number as usize).map(|domain| (domain.host.as_str(), domain.form));
    let redirect = |own: &'f Redirect| (own.op.as_str(), own.file, own.writes, own.path.map(first));
    Seen {
        text: &command.text,
        words: &command.words,
        parts: &command.parts,
        touches: &command.touches,
        names: &command.names,
        word_paths: command.word_paths.iter().map(|path| path.map(first)).collect(),
        one_of_paths: command.one_of_paths.iter().map(|(word, path)| (*word, first(*path))).collect(),
        paths: [firsts(&command.paths), firsts(&command.sent)],
        redirects: command.redirects.iter().map(redirect).collect(),
        domains: command.domains.iter().filter_map(domain).collect(),
        // The first stage of a pipe has nothing before it, whatever the pipe.
        pipe: command.pipe.filter(|pipe| pipe.1 > 0),
        script: command.script,
        dir: &command.dir,
        wrappers: &command.wrappers,
        doubts: (
            command.plain,
            command.plain_but_writes,
            command.unknown_is_data,
            command.network,
            &command.gap,
            command.features,
        ),
    }
}

/// The words of a command, of those that no set of operands tells apart the first.
pub(super) fn words(command: &CommandFact, facts: &Facts) -> Vec<usize> {
    // Few words are looked at sooner than told apart.
    const FEW: usize = 16;
    if command.words.len() <= FEW {
        return (0..command.words.len()).collect();
    }
    type Path<'f> = (&'f [PathName], Form, &'f str);
    type Key<'f> = (&'f Word, Option<&'f Part>, Option<&'f Access>, bool, Option<Path<'f>>);
    let names: HashSet<u32> = command.names.iter().copied().collect();
    let mut known: HashSet<Key<'_>> = HashSet::new();
    let mut out = Vec::new();
    for (index, word) in command.words.iter().enumerate() {
        // What may be one of several has paths of its own.
        if matches!(word, Word::OneOf(_)) {
            out.push(index);
            continue;
        }
        let number = command.word_paths.get(index).copied().flatten();
        let path = number.and_then(|number| facts.paths.get(number as usize));
        let path = path.map(|path| (path.names.as_slice(), path.form, path.written.as_str()));
        let named = u32::try_from(index).is_ok_and(|index| names.contains(&index));
        let key = (word, command.parts.get(index), command.touches.get(index), named, path);
        if known.insert(key) {
            out.push(index);
        }
    }
    out
}
