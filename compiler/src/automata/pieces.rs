//! The pieces of globs with inner wildcards, and the trie of pieces behind pieces.
//!
//! INVARIANT: a node is one way to have read a beginning of a glob; globs with the same beginning share it.

use super::lower::{Elem, GapSpec, Sequence};
use super::trie::Trie;
use super::{BuildError, IdLists, MOST_PER_LITERAL, len32, symbols};
use policy_runtime::automaton::layout::{Gap, MASK_INNER, MASK_ROOT, OP_ONE, OP_STOP, START};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// State of the literal that finds it.
    pub(super) state: u32,
    pub(super) mask: u32,
    /// Slashes from its start to the end of that literal, and behind.
    pub(super) back: u32,
    pub(super) forth: u32,
    /// Offset of its program, 0 when it is the literal.
    pub(super) program: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) top: u32,
    pub(super) spec: GapSpec,
    pub(super) span: u32,
    pub(super) sibling: u32,
    pub(super) ids: u32,
}

#[derive(Debug, Default)]
pub(super) struct Pieces {
    by_text: BTreeMap<Vec<Elem>, u32>,
    pub(super) pieces: Vec<Piece>,
    pub(super) programs: Vec<u32>,
    /// Programs tried at a state.
    load: BTreeMap<u32, usize>,
    pub(super) nodes: Vec<Node>,
    /// From a node over a piece to the first of the targets, which are siblings.
    pub(super) edges: BTreeMap<(u32, u32), u32>,
}

/// Literals: length, first piece, count; and the new number of each piece.
#[derive(Debug, Default)]
pub(super) struct Literals {
    pub(super) records: Vec<[u32; 3]>,
    /// The state of each record.
    pub(super) states: Vec<u32>,
    /// Pieces by their new number.
    pub(super) order: Vec<u32>,
}

impl Pieces {
    pub(super) fn new() -> Pieces {
        let root = Node { top: u32::MAX, spec: GapSpec::DONE, span: 0, sibling: 0, ids: 0 };
        let root = Node { spec: GapSpec { gap: Gap::Any, ..root.spec }, ..root };
        Pieces { nodes: vec![root], programs: vec![OP_STOP], ..Pieces::default() }
    }

    pub(super) fn add(
        &mut self,
        sequence: &Sequence,
        ids: &[u32],
        trie: &mut Trie,
        lists: &mut IdLists,
    ) -> Result<(), BuildError> {
        let best = ids.last().copied().unwrap_or(0);
        let mut node = 0;
        for (text, spec) in sequence {
            let piece = self.piece(text, trie)?;
            let mask = if node == 0 { MASK_ROOT } else { MASK_INNER };
            let mut back = 0;
            if let Some(piece) = self.pieces.get_mut(piece as usize) {
                piece.mask |= mask;
                back = piece.back;
            }
            if let Some(from) = self.nodes.get_mut(node as usize) {
                from.span = from.span.max(back);
            }
            node = self.target(node, piece, *spec);
            if let Some(to) = self.nodes.get_mut(node as usize) {
                to.top = to.top.max(best);
            }
        }
        let list = lists.add(ids);
        if let Some(end) = self.nodes.get_mut(node as usize) {
            end.ids = list;
        }
        Ok(())
    }

    fn target(&mut self, node: u32, piece: u32, spec: GapSpec) -> u32 {
        let first = self.edges.get(&(node, piece)).copied().unwrap_or(0);
        let mut at = first;
        while at != 0 {
            let Some(found) = self.nodes.get(at as usize) else { break };
            if found.spec == spec {
                return at;
            }
            at = found.sibling;
        }
        let new = len32(&self.nodes);
        self.nodes.push(Node { top: 0, spec, span: 0, sibling: first, ids: 0 });
        self.edges.insert((node, piece), new);
        new
    }

    fn piece(&mut self, text: &[Elem], trie: &mut Trie) -> Result<u32, BuildError> {
        if let Some(&piece) = self.by_text.get(text) {
            return Ok(piece);
        }
        let slashes = |elems: &[Elem]| {
            u32::try_from(elems.iter().filter(|&&e| e == Elem::Symbol(u16::from(b'/'))).count())
                .unwrap_or(u32::MAX)
        };
        let new = if let Some(literal) = symbols(text) {
            Piece { state: trie.insert(&literal), mask: 0, back: slashes(text), forth: 0, program: 0 }
        } else {
            let (from, to, state) = self.guard(text, trie)?;
            let before = text.get(..from).unwrap_or_default();
            let behind = text.get(to..).unwrap_or_default();
            let program = len32(&self.programs);
            self.programs.extend(before.iter().rev().map(|&e| op(e)));
            self.programs.push(OP_STOP);
            self.programs.extend(behind.iter().map(|&e| op(e)));
            self.programs.push(OP_STOP);
            let back = slashes(text.get(..to).unwrap_or_default());
            Piece { state, mask: 0, back, forth: slashes(behind), program }
        };
        let number = len32(&self.pieces);
        self.pieces.push(new);
        self.by_text.insert(text.to_vec(), number);
        Ok(number)
    }

    /// The literal by which a piece with `?` is found: the longest that does not find too many already.
    fn guard(&mut self, text: &[Elem], trie: &mut Trie) -> Result<(usize, usize, u32), BuildError> {
        let mut runs = Vec::new();
        let mut from = 0;
        for run in text.split(|&e| e == Elem::One) {
            // ORDER: not a lone slash at the front, which the piece before may share: a piece must be found later
            // than the one it follows.
            let shared = from == 0 && run == [Elem::Symbol(u16::from(b'/'))];
            if !run.is_empty() && !shared {
                runs.push((from, from + run.len()));
            }
            from += run.len() + 1;
        }
        if runs.is_empty() {
            // A lone slash and marks stand only at the front of a glob (`**/?**`): nothing is shared there.
            runs.push((0, 1));
        }
        runs.sort_by_key(|&(from, to)| std::cmp::Reverse((to - from, from)));
        let mut least = usize::MAX;
        for (from, to) in runs {
            let Some(literal) = text.get(from..to).and_then(symbols) else { continue };
            let state = trie.insert(&literal);
            let load = self.load.entry(state).or_default();
            if *load < MOST_PER_LITERAL {
                *load += 1;
                return Ok((from, to, state));
            }
            least = least.min(*load);
        }
        Err(BuildError::TooManyPerLiteral { pieces: least.saturating_add(1), limit: MOST_PER_LITERAL })
    }

    /// Gives each state that finds pieces its literal, and sorts the pieces by it.
    pub(super) fn literals(&self, trie: &mut Trie) -> Literals {
        let mut by_state: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (piece, number) in self.pieces.iter().zip(0u32..) {
            by_state.entry(piece.state).or_default().push(number);
        }
        let mut out = Literals { records: vec![[0; 3]], states: vec![0], order: Vec::new() };
        let depths = depths(trie);
        for (state, pieces) in by_state {
            let depth = depths.get(state as usize).copied().unwrap_or(0);
            if let Some(slot) = trie.states.get_mut(state as usize) {
                slot.literal = len32(&out.records);
            }
            out.records.push([depth, len32(&out.order), len32(&pieces)]);
            out.states.push(state);
            out.order.extend(pieces);
        }
        out
    }

    /// The most nodes that one beginning of a value makes active. Pieces that may stand anywhere are not counted: only
    /// a value chosen for it begins many of them, and the walk then gives no answer.
    pub(super) fn most_at_start(&self, trie: &Trie) -> usize {
        let mut own: BTreeMap<u32, usize> = BTreeMap::new();
        for (&(node, piece), &target) in &self.edges {
            if node != 0 {
                continue;
            }
            let Some(piece) = self.pieces.get(piece as usize).filter(|p| p.program == 0) else { continue };
            let mut at = target;
            while let Some(node) = self.nodes.get(at as usize).filter(|_| at != 0) {
                if node.spec != GapSpec::DONE {
                    *own.entry(piece.state).or_default() += 1;
                }
                at = node.sibling;
            }
        }
        let mut most = 0;
        let mut stack: Vec<(u32, usize)> =
            trie.child(0, trie.class(START)).map(|s| (s, 0)).into_iter().collect();
        while let Some((state, above)) = stack.pop() {
            let sum = above + own.get(&state).copied().unwrap_or(0);
            most = most.max(sum);
            let children = trie.states.get(state as usize).map(|s| s.children.as_slice()).unwrap_or_default();
            stack.extend(children.iter().map(|&(_, child)| (child, sum)));
        }
        most
    }
}

fn op(elem: Elem) -> u32 {
    match elem {
        Elem::Symbol(symbol) => u32::from(symbol),
        Elem::One => OP_ONE,
    }
}

fn depths(trie: &Trie) -> Vec<u32> {
    let mut out = vec![0u32; trie.states.len()];
    // A child is always made after its parent.
    for (i, state) in trie.states.iter().enumerate() {
        let depth = out.get(i).copied().unwrap_or(0) + 1;
        for &(_, child) in &state.children {
            if let Some(slot) = out.get_mut(child as usize) {
                *slot = depth;
            }
        }
    }
    out
}
