//! The literals of all pieces in one trie, with the failure links of Aho and Corasick.
//!
//! INVARIANT: states are numbered in the order of their first use and walked breadth first; nothing depends on
//! the order of a hash map.

use policy_runtime::automaton::layout::START;

#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// Children by class, sorted.
    pub(super) children: Vec<(u8, u32)>,
    /// The longest proper suffix that is a state.
    pub(super) fail: u32,
    /// Greatest id of this state and of its suffixes.
    pub(super) best: u32,
    /// Literal that ends here (0 none), with those of suffixes resolved by [`Trie::link`].
    pub(super) literal: u32,
    /// List of ids that are decided here (0 none), likewise.
    pub(super) ids: u32,
    /// Literal of the longest proper suffix that ends one.
    pub(super) next_literal: u32,
    /// Ids of the longest proper suffix that decides any.
    pub(super) next_ids: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Trie {
    pub(super) states: Vec<State>,
    pub(super) classes: Vec<u8>,
    /// States, parents before children, each behind its suffixes.
    pub(super) order: Vec<u32>,
}

pub(super) const ROOT: u32 = 0;

impl Trie {
    pub(super) fn new(classes: Vec<u8>) -> Trie {
        Trie { states: vec![State::default()], classes, order: Vec::new() }
    }

    pub(super) fn class(&self, symbol: u16) -> u8 {
        self.classes.get(usize::from(symbol)).copied().unwrap_or(0)
    }

    pub(super) fn child(&self, state: u32, class: u8) -> Option<u32> {
        let children = &self.states.get(state as usize)?.children;
        let at = children.binary_search_by_key(&class, |c| c.0).ok()?;
        children.get(at).map(|c| c.1)
    }

    /// Adds a literal and gives its state.
    pub(super) fn insert(&mut self, literal: &[u16]) -> u32 {
        let mut state = ROOT;
        for &symbol in literal {
            let class = self.class(symbol);
            state = match self.child(state, class) {
                Some(next) => next,
                None => {
                    let next = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
                    self.states.push(State::default());
                    if let Some(from) = self.states.get_mut(state as usize) {
                        let at = from.children.partition_point(|c| c.0 < class);
                        from.children.insert(at, (class, next));
                    }
                    next
                }
            };
        }
        state
    }

    /// Sets failure links and what each state inherits from its suffixes. With `slash_start` the start counts as a
    /// slash too: its suffix is the state of `/`, so a literal that begins with `/` also matches at the start.
    pub(super) fn link(&mut self, slash_start: bool) {
        let start = self.child(ROOT, self.class(START));
        let slash = slash_start.then(|| self.child(ROOT, self.class(u16::from(b'/')))).flatten();
        // ORDER: the start behind the slash, so that every suffix is done before what inherits from it.
        let mut queue: Vec<u32> =
            self.children(ROOT).iter().map(|c| c.1).filter(|&s| Some(s) != start).collect();
        queue.extend(start);
        let mut at = 0;
        while let Some(&state) = queue.get(at) {
            at += 1;
            if Some(state) == start {
                self.inherit(state, slash.unwrap_or(ROOT));
            }
            let fail = self.states.get(state as usize).map_or(ROOT, |s| s.fail);
            for (class, child) in self.children(state) {
                self.inherit(child, self.follow(fail, class));
                queue.push(child);
            }
        }
        self.order = queue;
    }

    fn children(&self, state: u32) -> Vec<(u8, u32)> {
        self.states.get(state as usize).map(|s| s.children.clone()).unwrap_or_default()
    }

    /// The state behind a class, its suffixes tried in turn.
    pub(super) fn follow(&self, mut state: u32, class: u8) -> u32 {
        loop {
            if let Some(next) = self.child(state, class) {
                return next;
            }
            if state == ROOT {
                return ROOT;
            }
            state = self.states.get(state as usize).map_or(ROOT, |s| s.fail);
        }
    }

    fn inherit(&mut self, state: u32, fail: u32) {
        let Some(from) = self.states.get(fail as usize) else { return };
        let next_literal = if from.literal != 0 { from.literal } else { from.next_literal };
        let next_ids = if from.ids != 0 { from.ids } else { from.next_ids };
        let best = from.best;
        let Some(to) = self.states.get_mut(state as usize) else { return };
        (to.fail, to.next_literal, to.next_ids) = (fail, next_literal, next_ids);
        to.best = to.best.max(best);
    }

    /// The state behind the start of a value.
    pub(super) fn first(&self, slash_start: bool) -> u32 {
        let slash = || slash_start.then(|| self.child(ROOT, self.class(u16::from(b'/')))).flatten();
        self.child(ROOT, self.class(START)).or_else(slash).unwrap_or(ROOT)
    }
}
