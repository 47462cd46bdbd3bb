//! Packs a trie into cells: the transitions of all states, laid over each other.
//!
//! INVARIANT: blocks of 256 cells, so that a base with any class stays inside one; no two states share a base, so a cell's
//! owner is told by it; the same trie gives the same cells.
//!
//! A state that lacks a transition would go on along its suffixes. The suffixes that most states have get a transition for
//! every class; what lies between a state and the next of these is copied into the state, as far as that stays small.

use super::trie::{ROOT, Trie};
use policy_runtime::automaton::layout::{BLOCK, END, FREE, LINK};

/// Blocks in which free cells are still looked for.
const OPEN: usize = 8;
const TRIES: usize = 64;
const NONE: usize = usize::MAX;
/// States that lie together because many values pass them; the others lie behind those that lead to them.
const SHALLOW: usize = 4096;
/// Most cells of states that lack no transition: more of them are passed too seldom to be worth the memory.
const FULL: usize = 32 << 10;
/// The base of a state without transitions; no cell has it as its owner.
const BARE: u32 = 0;

/// What a state tries when it lacks a transition.
#[derive(Debug, Clone, Copy)]
enum Next {
    /// A state that lacks none.
    Full(u32),
    /// One that may.
    Link(u32),
}

/// The transitions of each state.
#[derive(Debug)]
struct Plan {
    own: Vec<Vec<(u8, u32)>>,
    next: Vec<Next>,
    /// The states that lack no transition, the root first.
    full: Vec<u32>,
}

/// The cells, and base and next of a state.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) cells: Vec<[u32; 4]>,
    pub(super) first: [u32; 2],
}

impl Plan {
    fn new(trie: &Trie) -> Plan {
        let count = trie.states.len();
        let classes = usize::from(trie.classes.iter().copied().max().unwrap_or(0)) + 1;
        let ends = ends(trie);
        let full = full(trie, classes, &ends);
        let mut is_full = vec![false; count];
        for &state in &full {
            set(&mut is_full, state, true);
        }
        let mut plan = Plan { own: vec![Vec::new(); count], next: vec![Next::Full(ROOT); count], full };
        let all = |state: u32| {
            let classes = (0..classes).filter_map(|class| u8::try_from(class).ok());
            classes.map(|class| (class, trie.follow(state, class))).collect::<Vec<_>>()
        };
        let mut spare = count / 10;
        // ORDER: suffixes before what follows them.
        for state in std::iter::once(ROOT).chain(trie.order.iter().copied()) {
            if get(&is_full, state) {
                set(&mut plan.own, state, all(state));
                set(&mut plan.next, state, Next::Full(state));
                continue;
            }
            let Some(node) = trie.states.get(state as usize) else { continue };
            // Nothing is read behind the end.
            if get(&ends, state) {
                continue;
            }
            let mut own = node.children.clone();
            let next = if get(&is_full, node.fail) {
                Next::Full(node.fail)
            } else {
                let lacks = |entry: &&(u8, u32)| node.children.iter().all(|child| child.0 != entry.0);
                let below = plan.own.get(node.fail as usize).map(Vec::as_slice).unwrap_or_default();
                let more: Vec<(u8, u32)> = below.iter().filter(lacks).copied().collect();
                if more.len() <= spare {
                    spare -= more.len();
                    own.extend(more);
                    own.sort_unstable();
                    plan.next.get(node.fail as usize).copied().unwrap_or(Next::Full(ROOT))
                } else {
                    Next::Link(node.fail)
                }
            };
            set(&mut plan.own, state, own);
            set(&mut plan.next, state, next);
        }
        plan
    }
}

/// The root, and the suffixes of most states.
fn full(trie: &Trie, classes: usize, ends: &[bool]) -> Vec<u32> {
    let mut uses = vec![0u32; trie.states.len()];
    for (state, _) in trie.states.iter().zip(ends).filter(|(_, end)| !**end) {
        if let Some(uses) = uses.get_mut(state.fail as usize) {
            *uses += 1;
        }
    }
    let mut order: Vec<(u32, u32)> =
        uses.into_iter().zip(0u32..).filter(|&(uses, state)| uses > 0 && state != ROOT).collect();
    order.sort_unstable_by_key(|&(uses, state)| (std::cmp::Reverse(uses), state));
    let most = (trie.states.len() / 2).min(FULL) / classes;
    std::iter::once(ROOT).chain(order.into_iter().take(most).map(|(_, state)| state)).collect()
}

/// The states behind the end of a value.
fn ends(trie: &Trie) -> Vec<bool> {
    let end = trie.class(END);
    let mut out = vec![false; trie.states.len()];
    for &(class, child) in trie.states.iter().flat_map(|state| &state.children) {
        if class == end {
            set(&mut out, child, true);
        }
    }
    out
}

fn get<T: Copy + Default>(items: &[T], at: u32) -> T {
    items.get(at as usize).copied().unwrap_or_default()
}

fn set<T>(items: &mut [T], at: u32, value: T) {
    if let Some(slot) = items.get_mut(at as usize) {
        *slot = value;
    }
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    before: usize,
    after: usize,
    taken: bool,
    /// Some state has this base.
    based: bool,
}

/// The free cells of the open blocks are a linked list.
#[derive(Debug)]
struct Array {
    slots: Vec<Slot>,
    head: usize,
    tail: usize,
}

impl Array {
    fn grow(&mut self) -> usize {
        let from = self.slots.len();
        for i in from..from + BLOCK {
            let before = self.tail;
            self.slots.push(Slot { before, after: NONE, taken: false, based: i == BARE as usize });
            match self.slots.get_mut(before) {
                Some(last) => last.after = i,
                None => self.head = i,
            }
            self.tail = i;
        }
        // Older blocks are given up: looking through them costs more than the cells are worth.
        let oldest = self.slots.len().saturating_sub(OPEN * BLOCK);
        while self.head < oldest {
            self.take(self.head);
        }
        from
    }

    fn take(&mut self, i: usize) {
        let Some(slot) = self.slots.get_mut(i) else { return };
        if slot.taken {
            return;
        }
        slot.taken = true;
        let (before, after) = (slot.before, slot.after);
        match self.slots.get_mut(before) {
            Some(slot) => slot.after = after,
            None => self.head = after,
        }
        match self.slots.get_mut(after) {
            Some(slot) => slot.before = before,
            None => self.tail = before,
        }
    }

    /// A base for these classes, with their cells taken.
    fn place(&mut self, classes: &[(u8, u32)]) -> usize {
        let base = self.find(classes);
        if let Some(slot) = self.slots.get_mut(base) {
            slot.based = true;
        }
        for &(class, _) in classes {
            self.take(base ^ usize::from(class));
        }
        base
    }

    fn find(&mut self, classes: &[(u8, u32)]) -> usize {
        let first = classes.first().map_or(0, |&(class, _)| usize::from(class));
        let mut at = self.head;
        for _ in 0..TRIES {
            let Some(slot) = self.slots.get(at) else { break };
            let base = at ^ first;
            let free = |i: usize| self.slots.get(i).is_some_and(|slot| !slot.taken);
            let new = self.slots.get(base).is_some_and(|slot| !slot.based);
            if new && classes.iter().all(|&(class, _)| free(base ^ usize::from(class))) {
                return base;
            }
            at = slot.after;
        }
        // The first block is not used up before its first base is: only there the base would not be new.
        self.grow()
    }
}

/// The states in the order of their cells.
fn order(trie: &Trie, plan: &Plan) -> Vec<u32> {
    let mut done = vec![false; trie.states.len()];
    let mut out = Vec::with_capacity(trie.states.len());
    let mut add = |state: u32, out: &mut Vec<u32>| {
        if done.get_mut(state as usize).is_some_and(|done| !std::mem::replace(done, true)) {
            out.push(state);
        }
    };
    plan.full.iter().for_each(|&state| add(state, &mut out));
    trie.order.iter().take(SHALLOW).for_each(|&state| add(state, &mut out));
    // Depth first: a chain of single children lies together.
    let mut stack = vec![ROOT];
    while let Some(state) = stack.pop() {
        add(state, &mut out);
        let children = trie.states.get(state as usize).map(|s| s.children.as_slice()).unwrap_or_default();
        stack.extend(children.iter().rev().map(|&(_, child)| child));
    }
    out
}

/// Gives the cells, and where the walk from `first` begins; `outs` are the outputs of the states.
pub(super) fn pack(trie: &Trie, outs: &[u32], first: u32) -> Packed {
    let plan = Plan::new(trie);
    let mut array = Array { slots: Vec::new(), head: NONE, tail: NONE };
    array.grow();
    let order = order(trie, &plan);
    let mut bases = vec![BARE; trie.states.len()];
    // A cell that reaches each state.
    let mut homes = vec![FREE; trie.states.len()];
    for &state in &order {
        let own = plan.own.get(state as usize).map(Vec::as_slice).unwrap_or_default();
        if own.is_empty() {
            continue;
        }
        let base = array.place(own);
        set(&mut bases, state, number(base));
        for &(class, target) in own {
            set(&mut homes, target, number(base ^ usize::from(class)));
        }
    }
    let next = |state: u32| match plan.next.get(state as usize) {
        Some(Next::Full(full)) => get(&bases, *full),
        Some(Next::Link(link)) => get(&homes, *link) | LINK,
        None => FREE,
    };
    let mut cells = vec![[FREE, 0, 0, 0]; array.slots.len()];
    for &state in &order {
        let base = get(&bases, state);
        for &(class, target) in plan.own.get(state as usize).into_iter().flatten() {
            let cell = [base, get(&bases, target), next(target), get(outs, target)];
            set(&mut cells, base ^ u32::from(class), cell);
        }
    }
    Packed { cells, first: [get(&bases, first), next(first)] }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(FREE)
}
