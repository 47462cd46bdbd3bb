//! Writes the section of an automaton.
//!
//! INVARIANT: offsets are words from the start of the section; see `policy_runtime::automaton::layout`.

use super::array::pack;
use super::pieces::{Literals, Pieces};
use super::trie::{ROOT, State, Trie};
use super::{BuildError, IdLists, MOST_BYTES, len32};
use policy_runtime::automaton::layout::{
    self, BEGINS, CLASSES, FLAG_FOLD, FLAG_PATH, FLAG_ROWS, HEADER, MAGIC, MARK, MASK_ROOT, MOST_ROWS, PARTS,
    REPORTS, ROW_SHIFT, VERSION, WIDTH, head, pack_gap,
};
use policy_runtime::glob::Syntax;
use std::collections::BTreeMap;

/// The bytes of everything. `every` is the greatest id and the list of the globs that match all values.
pub(super) fn section(
    trie: &Trie,
    pieces: &Pieces,
    literals: Literals,
    mut lists: IdLists,
    every: (u32, u32),
    greatest: u32,
    (syntax, fold): (Syntax, bool),
) -> Result<Vec<u8>, BuildError> {
    let mut new_number = vec![0u32; literals.order.len()];
    let mut piece_words = Vec::new();
    for (&old, new) in literals.order.iter().zip(0u32..) {
        if let Some(slot) = new_number.get_mut(old as usize) {
            *slot = new;
        }
        if let Some(p) = pieces.pieces.get(old as usize) {
            piece_words.extend([p.mask, p.back, p.forth, p.program]);
        }
    }
    let (outs, out_words) = outs(trie, &marks(trie, pieces, &literals));
    for state in trie.states.iter().filter(|state| state.ids != 0) {
        if let Some([_, _, next]) = lists.records.get_mut(state.ids as usize) {
            *next = state.next_ids;
        }
    }
    let rows = rows(trie, &outs);
    let first = trie.first(syntax == Syntax::Path);
    let first_out = outs.get(first as usize).copied().unwrap_or(0);
    let (cells, first) = match &rows {
        Some(_) => (Vec::new(), [first, 0]),
        None => {
            let packed = pack(trie, &outs, first);
            (packed.cells, packed.first)
        }
    };
    let mut literal_words = Vec::new();
    for (record, &state) in literals.records.iter().zip(&literals.states) {
        let next = trie.states.get(state as usize).map_or(0, |s| s.next_literal);
        literal_words.extend(record);
        literal_words.push(if state == 0 { 0 } else { next });
    }
    let mut follow = vec![0u32; pieces.nodes.len()];
    for &(node, piece) in pieces.edges.keys() {
        let state = pieces.pieces.get(piece as usize).map_or(0, |piece| piece.state);
        let literal = trie.states.get(state as usize).map_or(0, |state| state.literal);
        let [length, _, _] = literals.records.get(literal as usize).copied().unwrap_or_default();
        let piece = new_number.get(piece as usize).copied().unwrap_or(0);
        if let Some(marks) = follow.get_mut(node as usize) {
            *marks |= layout::mark(piece, length);
        }
    }
    let node_words = pieces
        .nodes
        .iter()
        .zip(follow)
        .flat_map(|(n, marks)| {
            let gap = pack_gap(n.spec.gap, n.spec.head, n.spec.tail);
            [n.top, gap, n.span, n.sibling, n.ids, marks]
        })
        .collect();
    let parts: [Vec<u32>; PARTS] = [
        cells.into_iter().flatten().collect(),
        out_words,
        literal_words,
        piece_words,
        pieces.programs.clone(),
        edges(pieces, &new_number),
        node_words,
        rows.as_ref().map(|(_, words)| words.clone()).unwrap_or_default(),
        if rows.is_some() { outs } else { Vec::new() },
        lists.records.into_iter().flatten().collect(),
    ];
    let [first, first_next] = first;
    let mut words = vec![0u32; HEADER];
    for four in trie.classes.chunks(4) {
        let mut bytes = [0; 4];
        for (to, from) in bytes.iter_mut().zip(four) {
            *to = *from;
        }
        words.push(u32::from_le_bytes(bytes));
    }
    words.resize(HEADER + CLASSES, 0);
    let mut directory = Vec::new();
    for (part, width) in parts.iter().zip(WIDTH) {
        directory.extend([len32(&words), len32(part) / u32::try_from(width).unwrap_or(1)]);
        words.extend(part);
    }
    words.extend(&lists.flat);
    let bytes = words.len().saturating_mul(4);
    if bytes > MOST_BYTES {
        return Err(BuildError::TooLarge { bytes, limit: MOST_BYTES });
    }
    let by_rows = rows.map_or(0, |(shift, _)| FLAG_ROWS | shift << ROW_SHIFT);
    let flags =
        if syntax == Syntax::Path { FLAG_PATH } else { 0 } | if fold { FLAG_FOLD } else { 0 } | by_rows;
    let fixed = [
        (head::MAGIC, MAGIC),
        (head::VERSION, VERSION),
        (head::WORDS, len32(&words)),
        (head::FLAGS, flags),
        (head::FIRST, first),
        (head::FIRST_NEXT, first_next),
        (head::FIRST_OUT, first_out),
        (head::EVERY, every.0),
        (head::EVERY_IDS, every.1),
        (head::GREATEST, greatest),
    ];
    let directory = directory.into_iter().enumerate().map(|(i, word)| (head::PARTS + i, word));
    for (i, word) in fixed.into_iter().chain(directory) {
        if let Some(slot) = words.get_mut(i) {
            *slot = word;
        }
    }
    Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
}

/// The literal that a state or a suffix of it ends.
fn ends(state: &State) -> u32 {
    if state.literal != 0 { state.literal } else { state.next_literal }
}

/// The marks of the pieces that end at each state and at its suffixes.
fn marks(trie: &Trie, pieces: &Pieces, literals: &Literals) -> Vec<u32> {
    let mut out = vec![0u32; trie.states.len()];
    // ORDER: suffixes before what ends with them.
    for &at in &trie.order {
        let Some(state) = trie.states.get(at as usize) else { continue };
        let mut marks = out.get(state.fail as usize).copied().unwrap_or(0);
        let [length, first, count] =
            literals.records.get(state.literal as usize).copied().unwrap_or_default();
        for new in first..first.saturating_add(count) {
            let old = literals.order.get(new as usize).copied().unwrap_or(0);
            let mask = pieces.pieces.get(old as usize).map_or(0, |piece| piece.mask);
            marks |= layout::mark(new, length) | if mask & MASK_ROOT == 0 { 0 } else { BEGINS };
        }
        if let Some(slot) = out.get_mut(at as usize) {
            *slot = marks;
        }
    }
    out
}

/// The output of each state, and the outputs: each once, in the order of first use.
fn outs(trie: &Trie, marks: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut known = BTreeMap::from([([0; 4], 0)]);
    let mut words = vec![0; 4];
    let outs = trie.states.iter().zip(marks).map(|(state, &marks)| {
        let literal = ends(state);
        let id = state.best | if literal == 0 { 0 } else { REPORTS };
        let out = [id, literal, if state.ids != 0 { state.ids } else { state.next_ids }, marks];
        let next = len32(&words) / 4;
        *known.entry(out).or_insert_with(|| {
            words.extend(out);
            next
        })
    });
    (outs.collect(), words)
}

/// A row for each state, with the bits of a class, when all of them are few enough.
fn rows(trie: &Trie, outs: &[u32]) -> Option<(u32, Vec<u32>)> {
    let classes = trie.classes.iter().copied().max().map_or(1, |most| usize::from(most) + 1);
    let stride = classes.next_power_of_two().max(2);
    let count = trie.states.len().checked_mul(stride).filter(|count| count * 2 <= MOST_ROWS)?;
    let mut entries = Vec::with_capacity(count);
    for state in 0..len32(&trie.states) {
        for class in 0..stride {
            let class = u8::try_from(class).ok().filter(|class| usize::from(*class) < classes);
            let next = class.map_or(ROOT, |class| trie.follow(state, class));
            let told = outs.get(next as usize).is_some_and(|&out| out != 0);
            // So few states always fit.
            entries.push(u16::try_from(next).ok()? | if told { MARK } else { 0 });
        }
    }
    let words = entries.chunks(2).map(|two| match two {
        [low, high] => u32::from(*low) | u32::from(*high) << 16,
        rest => rest.first().copied().map_or(0, u32::from),
    });
    Some((stride.trailing_zeros(), words.collect()))
}

fn edges(pieces: &Pieces, new_number: &[u32]) -> Vec<u32> {
    if pieces.edges.is_empty() {
        return Vec::new();
    }
    let count = (pieces.edges.len() * 2).next_power_of_two();
    let mut slots = vec![[0u32; 3]; count];
    let mask = u32::try_from(count - 1).unwrap_or(u32::MAX);
    for (&(node, piece), &target) in &pieces.edges {
        let piece = new_number.get(piece as usize).copied().unwrap_or(0);
        let mut at = layout::hash(node, piece) & mask;
        while let Some(slot) = slots.get_mut(at as usize) {
            if let [0, _, _] = slot {
                *slot = [node + 1, piece, target];
                break;
            }
            at = at.wrapping_add(1) & mask;
        }
    }
    slots.into_iter().flatten().collect()
}
