//! The one pass over a value: transitions, and the pieces that they report.
//!
//! INVARIANT: at most `2n + 8` transitions for a value of `n` bytes, and a number of other steps linear in `n` with
//! a fixed factor; above either there is no answer.
//!
//! Positions count symbols: the start is 0, byte `i` of the value is `i + 1`, the end is `n + 1`. The end of a
//! piece is the position behind its last symbol.

use super::layout::{
    BEGINS, END, Gap, LINK, MARK, MASK_INNER, MASK_ROOT, OP_ONE, OP_STOP, Part, REPORTS, START, hash, mark,
};
use super::{Active, Automaton, Damaged, MOST_ACTIVE, Scratch};
use crate::glob::{HOLE, RUN};

/// Slots that remember which lists were reported, at first and once two lists wanted the same; a lost one costs a second
/// report, nothing else. Most walks report one or two, and to clear many slots would cost more than the walk.
pub(super) const SEEN: usize = 64;
const SEEN_MORE: usize = 1024;
/// Steps given to a value for each of its symbols, and beside these.
const STEPS: usize = 256;
const STEPS_MORE: usize = 1 << 17;

/// What becomes of a match.
pub(super) trait Sink {
    /// A state was reached: its greatest id, and its list.
    fn state(&mut self, id: u32, list: u32) -> Result<(), Damaged>;
    /// A node whose greatest id below is `top` is worth following.
    fn wants(&self, top: u32) -> bool;
    /// A pattern is complete.
    fn done(&mut self, top: u32, list: u32) -> Result<(), Damaged>;
}

pub(super) struct Best {
    pub(super) best: u32,
    pub(super) greatest: u32,
}

impl Sink for Best {
    #[inline]
    fn state(&mut self, id: u32, _list: u32) -> Result<(), Damaged> {
        self.best = self.best.max(id);
        Ok(())
    }
    #[inline]
    fn wants(&self, top: u32) -> bool {
        top > self.best && top <= self.greatest
    }
    #[inline]
    fn done(&mut self, top: u32, _list: u32) -> Result<(), Damaged> {
        self.best = self.best.max(top);
        Ok(())
    }
}

pub(super) struct Each<'s, 'a> {
    pub(super) automaton: &'s Automaton<'a>,
    pub(super) seen: Vec<u64>,
    /// The number of the walk, in the upper half.
    pub(super) walk: u64,
    pub(super) found: &'s mut dyn FnMut(u32),
    pub(super) left: usize,
}

impl Each<'_, '_> {
    /// Reports a list and those it goes on with.
    pub(super) fn list(&mut self, mut list: u32) -> Result<(), Damaged> {
        while list != 0 {
            let slots = self.seen.len();
            let slot = self.seen.get_mut(list as usize & (slots - 1)).ok_or(Damaged::Index)?;
            let mark = self.walk | u64::from(list);
            if *slot == mark {
                // Whoever reported it went on to the end.
                return Ok(());
            }
            let taken = *slot & !u64::from(u32::MAX) == self.walk;
            *slot = mark;
            if taken && slots < SEEN_MORE {
                self.seen = vec![0; SEEN_MORE];
            }
            let [first, count, next] = self.automaton.records(Part::IdLists)?.get(list)?;
            for i in 0..count {
                let id = self.automaton.id(first.checked_add(i).ok_or(Damaged::Index)?)?;
                self.left = self.left.checked_sub(1).ok_or(Damaged::Found)?;
                (self.found)(id);
            }
            self.left = self.left.checked_sub(1).ok_or(Damaged::Found)?;
            list = next;
        }
        Ok(())
    }
}

impl Sink for Each<'_, '_> {
    fn state(&mut self, _id: u32, list: u32) -> Result<(), Damaged> {
        self.list(list)
    }
    fn wants(&self, _top: u32) -> bool {
        true
    }
    fn done(&mut self, _top: u32, list: u32) -> Result<(), Damaged> {
        self.list(list)
    }
}

pub(super) fn run<S: Sink>(
    automaton: &Automaton<'_>,
    value: &[u8],
    scratch: &mut Scratch,
    sink: &mut S,
) -> Result<(), Damaged> {
    scratch.active.clear();
    let symbols = value.len().saturating_add(2);
    let mut walk = Walk {
        automaton,
        value,
        active: &mut scratch.active,
        separators: 0,
        counted: 0,
        wanted: BEGINS,
        steps: symbols.saturating_mul(STEPS).saturating_add(STEPS_MORE),
    };
    let all = walk.steps;
    let mut probes = symbols.saturating_mul(2).saturating_add(4);
    let most = probes;
    let result = match automaton.rows {
        Some(shift) => pass_rows(&mut walk, shift, &mut probes, sink),
        None => pass(&mut walk, &mut probes, sink),
    };
    scratch.steps += (all - walk.steps) as u64;
    scratch.probes += (most - probes) as u64;
    result
}

/// One record of [`Part::Cells`].
type Cell = [u32; 4];

/// Takes what the bytes give, with the sums looked at only where some are left.
fn pass<S: Sink>(walk: &mut Walk<'_, '_>, probes: &mut usize, sink: &mut S) -> Result<(), Damaged> {
    let cells = walk.automaton.records(Part::Cells)?;
    match cells.bytes.all() {
        Some(bytes) => {
            let (cells, _) = bytes.as_chunks::<16>();
            by_cells(walk, probes, sink, |at| {
                let (words, _) = cells.get(at as usize).ok_or(Damaged::Index)?.as_chunks::<4>();
                match words {
                    [a, b, c, d] => Ok([*a, *b, *c, *d].map(u32::from_le_bytes)),
                    _ => Err(Damaged::Index),
                }
            })
        }
        None => by_cells(walk, probes, sink, |at| cells.get(at)),
    }
}

#[inline(always)]
fn by_cells<S: Sink>(
    walk: &mut Walk<'_, '_>,
    probes: &mut usize,
    sink: &mut S,
    cell: impl Fn(u32) -> Result<Cell, Damaged>,
) -> Result<(), Damaged> {
    let classes = walk.automaton.classes()?;
    let (bytes, _) = classes.split_first_chunk::<256>().ok_or(Damaged::Index)?;
    let value = walk.value;
    *probes = probes.checked_sub(value.len() + 1).ok_or(Damaged::Probes)?;
    let [mut base, mut next, mut out] = walk.automaton.first;
    if out != 0 {
        walk.reached(out, 1, sink)?;
    }
    for (i, &byte) in value.iter().enumerate() {
        let class = bytes.get(usize::from(byte)).copied().map_or(0, u32::from);
        [base, next, out] = over(base, next, class, probes, &cell)?;
        if out != 0 {
            walk.reached(out, i + 2, sink)?;
        }
    }
    let class = classes.get(usize::from(END)).copied().map(u32::from).ok_or(Damaged::Index)?;
    [_, _, out] = over(base, next, class, probes, &cell)?;
    if out != 0 {
        walk.reached(out, value.len() + 2, sink)?;
    }
    Ok(())
}

/// The state behind one class.
#[inline(always)]
fn over(
    base: u32,
    next: u32,
    class: u32,
    probes: &mut usize,
    cell: &impl Fn(u32) -> Result<Cell, Damaged>,
) -> Result<[u32; 3], Damaged> {
    let [from, to, then, out] = cell(base ^ class)?;
    if from == base {
        return Ok([to, then, out]);
    }
    *probes = probes.checked_sub(1).ok_or(Damaged::Probes)?;
    if next & LINK != 0 {
        return linked(next, class, probes, cell);
    }
    let [from, to, then, out] = cell(next ^ class)?;
    // It has a transition for every class.
    if from == next { Ok([to, then, out]) } else { Err(Damaged::Index) }
}

/// The same by way of states that lack transitions too, which only crafted sets of patterns have many of.
#[cold]
fn linked(
    mut next: u32,
    class: u32,
    probes: &mut usize,
    cell: &impl Fn(u32) -> Result<Cell, Damaged>,
) -> Result<[u32; 3], Damaged> {
    loop {
        let base = match next & LINK {
            0 => next,
            _ => {
                let [_, base, then, _] = cell(next & !LINK)?;
                next = then;
                base
            }
        };
        let [from, to, then, out] = cell(base ^ class)?;
        if from == base {
            return Ok([to, then, out]);
        }
        *probes = probes.checked_sub(1).ok_or(Damaged::Probes)?;
    }
}

/// The same where each state has a row: one entry a symbol.
fn pass_rows<S: Sink>(
    walk: &mut Walk<'_, '_>,
    shift: u32,
    probes: &mut usize,
    sink: &mut S,
) -> Result<(), Damaged> {
    let rows = walk.automaton.records(Part::Rows)?.bytes;
    match rows.all() {
        // Nothing is left to be summed: then an entry is a plain look.
        Some(bytes) => {
            let (entries, _) = bytes.as_chunks::<2>();
            let entry = |at: usize| entries.get(at).map(|e| u16::from_le_bytes(*e)).ok_or(Damaged::Index);
            by_rows(walk, shift, probes, sink, entry)
        }
        None => by_rows(walk, shift, probes, sink, |at| {
            let bytes = rows.get(at.saturating_mul(2), 2)?;
            bytes.first_chunk::<2>().map(|e| u16::from_le_bytes(*e)).ok_or(Damaged::Index)
        }),
    }
}

#[inline(always)]
fn by_rows<S: Sink>(
    walk: &mut Walk<'_, '_>,
    shift: u32,
    probes: &mut usize,
    sink: &mut S,
    entry: impl Fn(usize) -> Result<u16, Damaged>,
) -> Result<(), Damaged> {
    let automaton = walk.automaton;
    let (states, classes) = (automaton.records(Part::States)?, automaton.classes()?);
    let (bytes, _) = classes.split_first_chunk::<256>().ok_or(Damaged::Index)?;
    let value = walk.value;
    *probes = probes.checked_sub(value.len() + 1).ok_or(Damaged::Probes)?;
    let [mut state, _, out] = automaton.first;
    walk.reached(out, 1, sink)?;
    for (i, &byte) in value.iter().enumerate() {
        let class = bytes.get(usize::from(byte)).copied().map_or(0, usize::from);
        let next = entry((state as usize) << shift | class)?;
        state = u32::from(next & !MARK);
        if next & MARK != 0 {
            let [out] = states.get(state)?;
            walk.reached(out, i + 2, sink)?;
        }
    }
    let class = classes.get(usize::from(END)).copied().ok_or(Damaged::Index)?;
    let next = entry((state as usize) << shift | usize::from(class))?;
    if next & MARK != 0 {
        let [out] = states.get(u32::from(next & !MARK))?;
        walk.reached(out, value.len() + 2, sink)?;
    }
    Ok(())
}

struct Walk<'w, 'a> {
    automaton: &'w Automaton<'a>,
    value: &'w [u8],
    active: &'w mut Vec<Active>,
    /// Bytes that end a segment, `/` and holes, among the first so many.
    separators: usize,
    counted: usize,
    /// Marks of the pieces that follow what is active, and [`BEGINS`].
    wanted: u32,
    steps: usize,
}

/// A piece as it was found.
#[derive(Clone, Copy)]
struct Found {
    piece: u32,
    start: usize,
    end: usize,
    /// Separators before `start` and `end`.
    start_segment: usize,
    end_segment: usize,
}

impl Walk<'_, '_> {
    fn step(&mut self, count: usize) -> Result<(), Damaged> {
        self.steps = self.steps.checked_sub(count).ok_or(Damaged::Steps)?;
        Ok(())
    }

    /// An output was reached, with so many symbols read.
    #[inline]
    fn reached<S: Sink>(&mut self, out: u32, end: usize, sink: &mut S) -> Result<(), Damaged> {
        if out == 0 {
            return Ok(());
        }
        let [id, literal, list, marks] = self.automaton.records(Part::Outs)?.get(out)?;
        sink.state(id & !REPORTS, list)?;
        if id & REPORTS == 0 || marks & self.wanted == 0 {
            return Ok(());
        }
        self.report(literal, end, sink)
    }

    /// The literal of a piece ends here for which somebody waits.
    #[inline(never)]
    fn report<S: Sink>(&mut self, mut literal: u32, end: usize, sink: &mut S) -> Result<(), Damaged> {
        // Separators are counted only where a piece ends: most values have none.
        let read = (end - 1).min(self.value.len());
        let fresh = self.value.get(self.counted..read).unwrap_or_default();
        self.separators += fresh.iter().filter(|&&byte| byte == b'/' || byte == HOLE).count();
        self.counted = read;
        while literal != 0 {
            self.step(1)?;
            let [length, first, count, next] = self.automaton.records(Part::Literals)?.get(literal)?;
            let start = end.checked_sub(length as usize).ok_or(Damaged::Index)?;
            for i in 0..count {
                self.step(1)?;
                let piece = first.checked_add(i).ok_or(Damaged::Index)?;
                self.piece(piece, mark(piece, length), (start, end), sink)?;
            }
            literal = next;
        }
        Ok(())
    }

    /// The literal of a piece stands at `start` to `end`.
    fn piece<S: Sink>(
        &mut self,
        piece: u32,
        mark: u32,
        (start, end): (usize, usize),
        sink: &mut S,
    ) -> Result<(), Damaged> {
        let [mask, back, forth, program] = self.automaton.records(Part::Pieces)?.get(piece)?;
        if mask & MASK_ROOT == 0 && self.active.is_empty() {
            return Ok(());
        }
        let (start, end) = match program {
            0 => (start, end),
            at => match self.program(at, start, end)? {
                Some(range) => range,
                None => return Ok(()),
            },
        };
        let found = Found {
            piece,
            start,
            end,
            // Less than none only where the start stands for a slash; no gap reaches back to that.
            start_segment: self.separators.saturating_sub(back as usize),
            end_segment: self.separators.saturating_add(forth as usize),
        };
        if mask & MASK_ROOT != 0 {
            self.follow(0, found, sink)?;
        }
        if mask & MASK_INNER != 0 {
            // What this piece adds begins at its end, so it can not be followed by the same report.
            for i in 0..self.active.len() {
                self.step(1)?;
                let Some(&from) = self.active.get(i) else { break };
                if from.marks & mark != 0 && self.fits(from, found)? {
                    self.follow(from.node, found, sink)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the gap behind an active node may reach to the piece.
    fn fits(&mut self, from: Active, found: Found) -> Result<bool, Damaged> {
        let [kind, _, tail, _] = from.gap.to_le_bytes();
        let slack = usize::from(kind == Gap::Slash as u8);
        if found.start + slack < from.end {
            return Ok(false);
        }
        if kind == Gap::Segment as u8 && found.start_segment != from.segment {
            return Ok(false);
        }
        if tail == 0 {
            return Ok(true);
        }
        let Some(at) = self.back(found.start, tail)? else { return Ok(false) };
        Ok(at >= from.end)
    }

    /// Follows the edges of a node over a piece.
    fn follow<S: Sink>(&mut self, node: u32, found: Found, sink: &mut S) -> Result<(), Damaged> {
        let edges = self.automaton.records(Part::Edges)?;
        let Some(mask) = edges.count.checked_sub(1) else { return Ok(()) };
        let owner = node.checked_add(1).ok_or(Damaged::Index)?;
        let mut slot = hash(node, found.piece) & mask;
        let mut target = loop {
            self.step(1)?;
            let [from, over, to] = edges.get(slot)?;
            if from == 0 {
                return Ok(());
            }
            if from == owner && over == found.piece {
                break to;
            }
            slot = slot.wrapping_add(1) & mask;
        };
        while target != 0 {
            self.step(1)?;
            let [top, gap, span, sibling, list, marks] = self.automaton.records(Part::Nodes)?.get(target)?;
            if sink.wants(top) {
                let [kind, head, _, _] = gap.to_le_bytes();
                if kind == Gap::Done as u8 {
                    sink.done(top, list)?;
                } else if let Some(end) = self.forth(found.end, head)? {
                    let active = Active { node: target, gap, marks, end, segment: found.end_segment };
                    self.add(active, kind == Gap::Segment as u8, span as usize)?;
                }
            }
            target = sibling;
        }
        Ok(())
    }

    /// Remembers a node: its earliest end, in each segment that a later piece can still reach back to.
    fn add(&mut self, new: Active, by_segment: bool, span: usize) -> Result<(), Damaged> {
        self.step(self.active.len())?;
        let oldest = self.separators.saturating_sub(span);
        let mut dead = None;
        for slot in self.active.iter_mut().filter(|slot| slot.node == new.node) {
            if !by_segment || slot.segment == new.segment {
                return Ok(());
            }
            if slot.segment < oldest {
                dead = Some(slot);
            }
        }
        self.wanted |= new.marks & !BEGINS;
        if let Some(slot) = dead {
            *slot = new;
            return Ok(());
        }
        if self.active.len() >= MOST_ACTIVE {
            return Err(Damaged::Active);
        }
        self.active.push(new);
        Ok(())
    }

    /// The byte at a position, none at the start and the end.
    fn byte(&self, position: usize) -> Option<u8> {
        self.value.get(position.checked_sub(1)?).copied()
    }

    fn one(&self, first: u8) -> bool {
        let slash = self.automaton.path && first == b'/';
        !slash && first != HOLE && first != RUN && !continues(first)
    }

    /// The position behind `count` characters from here, when they are all such as `?` takes.
    fn forth(&mut self, mut position: usize, count: u8) -> Result<Option<usize>, Damaged> {
        for _ in 0..count {
            self.step(1)?;
            match self.byte(position) {
                Some(first) if self.one(first) => position += 1,
                _ => return Ok(None),
            }
            for _ in 0..3 {
                if self.byte(position).is_some_and(continues) {
                    position += 1;
                }
            }
        }
        Ok(Some(position))
    }

    /// The position before `count` characters that end here.
    fn back(&mut self, mut position: usize, count: u8) -> Result<Option<usize>, Damaged> {
        for _ in 0..count {
            self.step(1)?;
            let mut left = 4;
            loop {
                left -= 1;
                let Some(before) = position.checked_sub(1) else { return Ok(None) };
                let Some(byte) = self.byte(before) else { return Ok(None) };
                position = before;
                if self.one(byte) {
                    break;
                }
                if left == 0 || !continues(byte) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(position))
    }

    /// Checks what stands around a literal; gives where the whole piece starts and ends.
    fn program(&mut self, at: u32, start: usize, end: usize) -> Result<Option<(usize, usize)>, Damaged> {
        let programs = self.automaton.records(Part::Programs)?;
        let mut at = at;
        let (mut from, mut to) = (start, end);
        let mut forward = false;
        loop {
            self.step(1)?;
            let [op] = programs.get(at)?;
            at = at.checked_add(1).ok_or(Damaged::Index)?;
            let moved = match (op, forward) {
                (OP_STOP, false) => {
                    forward = true;
                    continue;
                }
                (OP_STOP, true) => return Ok(Some((from, to))),
                (OP_ONE, false) => self.back(from, 1)?,
                (OP_ONE, true) => self.forth(to, 1)?,
                (symbol, false) => match from.checked_sub(1) {
                    Some(before) if self.is(before, symbol) => Some(before),
                    _ => None,
                },
                (symbol, true) if self.is(to, symbol) => Some(to + 1),
                (_, true) => None,
            };
            match (moved, forward) {
                (None, _) => return Ok(None),
                (Some(position), false) => from = position,
                (Some(position), true) => to = position,
            }
        }
    }

    fn is(&self, position: usize, symbol: u32) -> bool {
        match self.byte(position) {
            Some(byte) => {
                let byte = if self.automaton.fold { byte.to_ascii_lowercase() } else { byte };
                u32::from(byte) == symbol
            }
            // In paths the start may stand for the slash of a leading `**/`; other pieces never reach it.
            None if position == 0 => {
                symbol == u32::from(START) || (self.automaton.path && symbol == u32::from(b'/'))
            }
            None => position == self.value.len() + 1 && symbol == u32::from(END),
        }
    }
}

fn continues(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}
