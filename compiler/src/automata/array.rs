//! Packs a trie into a double array.
//!
//! INVARIANT: blocks of 256 cells, so that a base with any class stays inside one; the last block ends with its last
//! taken cell, since most automata are small; the same trie gives the same cells.

use super::trie::Trie;
use policy_runtime::automaton::layout::{BLOCK, FREE};

/// Blocks in which free cells are still looked for.
const OPEN: usize = 16;
const TRIES: usize = 64;
const NONE: usize = usize::MAX;

#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) base: u32,
    pub(super) check: u32,
    /// The state that lies here.
    pub(super) state: u32,
    before: usize,
    after: usize,
    taken: bool,
}

/// The free cells of the open blocks are a linked list.
#[derive(Debug, Default)]
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
            self.slots.push(Slot { base: 0, check: FREE, state: FREE, before, after: NONE, taken: false });
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

    fn free(&self, i: usize) -> bool {
        self.slots.get(i).is_some_and(|s| !s.taken)
    }

    fn place(&mut self, classes: &[u8]) -> usize {
        let first = classes.first().map_or(0, |&c| usize::from(c));
        let mut at = self.head;
        for _ in 0..TRIES {
            let Some(slot) = self.slots.get(at) else { break };
            let base = at ^ first;
            if classes.iter().all(|&c| self.free(base ^ usize::from(c))) {
                return base;
            }
            at = slot.after;
        }
        self.grow()
    }
}

/// Gives the cells and the cell of each state.
pub(super) fn pack(trie: &Trie) -> (Vec<Slot>, Vec<u32>) {
    let mut array = Array { slots: Vec::new(), head: NONE, tail: NONE };
    array.grow();
    array.take(0);
    let mut cell_of = vec![0u32; trie.states.len()];
    // Depth first: a chain of single children lies together.
    let mut stack = vec![0u32];
    while let Some(state) = stack.pop() {
        let at = cell_of.get(state as usize).copied().unwrap_or(0);
        let children = trie.states.get(state as usize).map(|s| s.children.as_slice()).unwrap_or_default();
        let classes: Vec<u8> = children.iter().map(|c| c.0).collect();
        let base = if classes.is_empty() { 0 } else { array.place(&classes) };
        if let Some(slot) = array.slots.get_mut(at as usize) {
            slot.base = u32::try_from(base).unwrap_or(FREE);
            slot.state = state;
        }
        for &(class, child) in children.iter().rev() {
            let cell = base ^ usize::from(class);
            array.take(cell);
            let place = u32::try_from(cell).unwrap_or(FREE);
            if let Some(slot) = array.slots.get_mut(cell) {
                slot.check = at;
            }
            if let Some(slot) = cell_of.get_mut(child as usize) {
                *slot = place;
            }
            stack.push(child);
        }
    }
    let taken = array.slots.iter().rposition(|slot| slot.state != FREE).map_or(1, |last| last + 1);
    array.slots.truncate(taken);
    (array.slots, cell_of)
}
