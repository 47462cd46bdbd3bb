//! Writes the section of an automaton.
//!
//! INVARIANT: offsets are words from the start of the section; see `policy_runtime::automaton::layout`.

use super::array::pack;
use super::pieces::{Literals, Pieces};
use super::trie::{ROOT, State, Trie};
use super::{BuildError, IdLists, MOST_BYTES, len32};
use policy_runtime::automaton::layout::{
    self, CLASSES, FLAG_FOLD, FLAG_PATH, FLAG_ROWS, FREE, HEADER, MAGIC, MARK, MOST_ROWS, PARTS, REPORTS,
    ROW_SHIFT, VERSION, WIDTH, head, pack_gap,
};
use policy_runtime::glob::Syntax;

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
    let rows = rows(trie);
    let (slots, cell_of) = match &rows {
        // With rows a state is its own cell.
        Some(_) => {
            let states = 0..len32(&trie.states);
            (states.clone().map(|state| (0, FREE, state)).collect(), states.collect())
        }
        None => {
            let (slots, cell_of) = pack(trie);
            (slots.iter().map(|slot| (slot.base, slot.check, slot.state)).collect::<Vec<_>>(), cell_of)
        }
    };
    let mut cells = Vec::with_capacity(slots.len() * 4);
    let mut outs = Vec::with_capacity(slots.len() * 2);
    for (base, check, state) in slots {
        let Some(state) = trie.states.get(state as usize) else {
            cells.extend([0, FREE, 0, 0]);
            outs.extend([0, 0]);
            continue;
        };
        let (literal, ids) = (ends(state), if state.ids != 0 { state.ids } else { state.next_ids });
        let fail = cell_of.get(state.fail as usize).copied().unwrap_or(0);
        cells.extend([base, check, fail, state.best | if literal == 0 { 0 } else { REPORTS }]);
        outs.extend([literal, ids]);
        if let Some(record) = lists.records.get_mut(state.ids as usize).filter(|_| state.ids != 0) {
            let [_, _, next] = record;
            *next = state.next_ids;
        }
    }
    let mut literal_words = Vec::new();
    for (record, &state) in literals.records.iter().zip(&literals.states) {
        let next = trie.states.get(state as usize).map_or(0, |s| s.next_literal);
        literal_words.extend(record);
        literal_words.push(if state == 0 { 0 } else { next });
    }
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
    let node_words = pieces
        .nodes
        .iter()
        .flat_map(|n| [n.top, pack_gap(n.spec.gap, n.spec.head, n.spec.tail), n.span, n.sibling, n.ids])
        .collect();
    let parts: [Vec<u32>; PARTS] = [
        cells,
        outs,
        literal_words,
        piece_words,
        pieces.programs.clone(),
        edges(pieces, &new_number),
        node_words,
        rows.as_ref().map(|(_, words)| words.clone()).unwrap_or_default(),
        lists.records.into_iter().flatten().collect(),
    ];
    let first = cell_of.get(trie.first(syntax == Syntax::Path) as usize).copied().unwrap_or(0);
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

/// A row for each state, with the bits of a class, when all of them are few enough.
fn rows(trie: &Trie) -> Option<(u32, Vec<u32>)> {
    let classes = trie.classes.iter().copied().max().map_or(1, |most| usize::from(most) + 1);
    let stride = classes.next_power_of_two().max(2);
    let count = trie.states.len().checked_mul(stride).filter(|count| count * 2 <= MOST_ROWS)?;
    let mut entries = Vec::with_capacity(count);
    for state in 0..len32(&trie.states) {
        for class in 0..stride {
            let class = u8::try_from(class).ok().filter(|class| usize::from(*class) < classes);
            let next = class.map_or(ROOT, |class| trie.follow(state, class));
            let told = |s: &State| s.best != 0 || s.ids != 0 || s.next_ids != 0 || ends(s) != 0;
            let told = trie.states.get(next as usize).is_some_and(told);
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
