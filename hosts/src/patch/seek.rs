//! The lines of a file, and where a run of lines stands in them.
//!
//! INVARIANT: the work of one patch is bounded by [`Work`], whatever repeats: a run is looked for from its rarest line,
//! or in one pass when nothing in it is rare.

use super::scope::Scopes;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

/// Ways in which lines are equal, in the order in which they are tried.
pub(super) const GRADES: usize = 4;
/// Most places that are listed.
const MAX_LISTED: usize = 10;

/// Comparisons that are left.
#[derive(Debug)]
pub(super) struct Work(u64);

impl Work {
    pub(super) fn new() -> Work {
        Work(40_000_000)
    }

    fn spend(&mut self, count: usize) -> Result<(), Lost> {
        self.0 = self.0.checked_sub(count as u64).ok_or(Lost::TooMuch)?;
        Ok(())
    }
}

/// Why a run has no one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lost {
    /// It stands nowhere in range; its first place behind the end of the anchor's scope, when there is one.
    Missing(Option<usize>),
    /// It stands in this many places; the first of them.
    Ambiguous(usize, Vec<usize>),
    /// Too much had to be compared.
    TooMuch,
}

/// The lines of a text, as a patch sees them.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    /// Where each begins; one more at the end.
    starts: Vec<u32>,
    grades: [OnceCell<Grade>; GRADES],
    scopes: OnceCell<Scopes>,
}

/// The lines as numbers: equal lines have equal ones.
#[derive(Debug, Default)]
struct Grade {
    ids: Vec<u32>,
    known: HashMap<Box<str>, u32>,
    /// The lines of each number, ascending.
    places: Places,
}

#[derive(Debug, Default)]
struct Places {
    starts: Vec<u32>,
    lines: Vec<u32>,
}

impl Places {
    fn of(&self, id: u32) -> &[u32] {
        let at = |id: usize| self.starts.get(id).copied().unwrap_or_default() as usize;
        let id = id as usize;
        self.lines.get(at(id)..at(id + 1)).unwrap_or_default()
    }
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Lines<'t> {
        let mut starts = vec![0];
        starts.extend(text.bytes().zip(1u32..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next));
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        if starts.last() != Some(&end) {
            starts.push(end);
        }
        Lines { text, starts, grades: Default::default(), scopes: OnceCell::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// A line without its line feed.
    pub(super) fn get(&self, at: usize) -> &'t str {
        let place = |at: usize| self.starts.get(at).map(|place| *place as usize);
        let (Some(start), Some(end)) = (place(at), place(at + 1)) else { return "" };
        let line = self.text.get(start..end).unwrap_or_default();
        line.strip_suffix('\n').unwrap_or(line)
    }

    /// The lines from one to before another, with their line feeds.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'t str {
        let place = |at: usize| self.starts.get(at).map_or(self.text.len(), |place| *place as usize);
        self.text.get(place(from)..place(to)).unwrap_or_default()
    }

    pub(super) fn scopes(&self, python: bool) -> &Scopes {
        self.scopes.get_or_init(|| Scopes::new(self, python))
    }

    fn grade(&self, grade: usize) -> Option<&Grade> {
        let cell = self.grades.get(grade)?;
        Some(cell.get_or_init(|| {
            let mut known: HashMap<Box<str>, u32> = HashMap::new();
            let mut counts: Vec<u32> = Vec::new();
            let mut ids = Vec::with_capacity(self.len());
            for at in 0..self.len() {
                let line = graded(self.get(at), grade);
                let id = match known.get(line.as_ref()) {
                    Some(id) => *id,
                    None => {
                        let id = u32::try_from(counts.len()).unwrap_or(u32::MAX);
                        known.insert(line.into(), id);
                        counts.push(0);
                        id
                    }
                };
                if let Some(count) = counts.get_mut(id as usize) {
                    *count += 1;
                }
                ids.push(id);
            }
            let mut starts = Vec::with_capacity(counts.len() + 1);
            let mut sum = 0;
            for count in &counts {
                starts.push(sum);
                sum += count;
            }
            let mut next = starts.clone();
            starts.push(sum);
            let mut lines = vec![0; ids.len()];
            for (line, id) in (0u32..).zip(&ids) {
                let Some(next) = next.get_mut(*id as usize) else { continue };
                if let Some(place) = lines.get_mut(*next as usize) {
                    *place = line;
                }
                *next += 1;
            }
            Grade { ids, known, places: Places { starts, lines } }
        }))
    }

    /// The first line from this one on that equals an anchor.
    pub(super) fn anchor(&self, anchor: &str, from: usize) -> Option<usize> {
        (0..GRADES).find_map(|number| {
            let grade = self.grade(number)?;
            let id = grade.known.get(graded(anchor, number).as_ref())?;
            let places = grade.places.of(*id);
            let first = places.partition_point(|place| (*place as usize) < from);
            places.get(first).map(|place| *place as usize)
        })
    }

    /// The one place of a run of lines from a line on; with `end`, only at the end of the file.
    ///
    /// A `scope` that ends before the file does decides between several places; a strict one holds the only ones.
    pub(super) fn seek(
        &self,
        run: &[&str],
        from: usize,
        scope: Scope,
        ends_file: bool,
        work: &mut Work,
    ) -> Result<usize, Lost> {
        if run.is_empty() {
            return Ok(from);
        }
        for number in 0..GRADES {
            let Some(grade) = self.grade(number) else { break };
            work.spend(run.len())?;
            let ids: Option<Vec<u32>> =
                run.iter().map(|line| grade.known.get(graded(line, number).as_ref()).copied()).collect();
            let Some(ids) = ids else { continue };
            let mut found = Found { inside: Tally::default(), all: Tally::default(), end: scope.end };
            if ends_file {
                let at = self.len().checked_sub(ids.len()).filter(|at| *at >= from);
                if let Some(at) = at.filter(|at| grade.ids.get(*at..) == Some(ids.as_slice())) {
                    found.add(at, ids.len());
                }
            } else {
                grade.occurrences(&ids, from, work, &mut |at| found.add(at, ids.len()))?;
            }
            let Found { inside, all, .. } = found;
            let tally = match (inside.count, all.count) {
                (_, 0) => continue,
                // The native tool would take this place, which the anchor does not mean.
                (0, _) if scope.strict => return Err(Lost::Missing(all.first.first().copied())),
                (0, _) => all,
                _ => inside,
            };
            return match tally.first.as_slice() {
                [only] if tally.count == 1 => Ok(*only),
                _ => Err(Lost::Ambiguous(tally.count, tally.first)),
            };
        }
        Err(Lost::Missing(None))
    }
}

/// Where an anchor's block ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    /// The line behind it.
    pub(super) end: usize,
    /// Nothing behind it is looked at.
    pub(super) strict: bool,
}

impl Scope {
    /// No block.
    pub(super) const NONE: Scope = Scope { end: usize::MAX, strict: false };
}

#[derive(Debug, Default)]
struct Tally {
    count: usize,
    first: Vec<usize>,
}

impl Tally {
    fn add(&mut self, at: usize) {
        self.count += 1;
        if self.first.len() < MAX_LISTED {
            self.first.push(at);
        }
    }
}

struct Found {
    inside: Tally,
    all: Tally,
    end: usize,
}

impl Found {
    fn add(&mut self, at: usize, length: usize) {
        self.all.add(at);
        if at + length <= self.end {
            self.inside.add(at);
        }
    }
}

impl Grade {
    /// Every place of a run from a line on, ascending.
    fn occurrences(
        &self,
        run: &[u32],
        from: usize,
        work: &mut Work,
        found: &mut dyn FnMut(usize),
    ) -> Result<(), Lost> {
        let rarest = run.iter().enumerate().min_by_key(|(_, id)| self.places.of(**id).len());
        let Some((offset, id)) = rarest else { return Ok(()) };
        let places = self.places.of(*id);
        let behind = places.partition_point(|place| (*place as usize) < from + offset);
        let places = places.get(behind..).unwrap_or_default();
        let pass = self.ids.len().saturating_sub(from) + run.len();
        let each = places.len().saturating_mul(run.len());
        work.spend(each.min(pass))?;
        if each <= pass {
            for place in places {
                let at = (*place as usize).saturating_sub(offset);
                if self.ids.get(at..at + run.len()) == Some(run) {
                    found(at);
                }
            }
            return Ok(());
        }
        self.pass(run, from, found);
        Ok(())
    }

    /// Knuth, Morris and Pratt.
    fn pass(&self, run: &[u32], from: usize, found: &mut dyn FnMut(usize)) {
        let mut borders: Vec<usize> = vec![0; run.len()];
        let step = |borders: &[usize], mut length: usize, id: u32| {
            loop {
                if run.get(length) == Some(&id) {
                    return length + 1;
                }
                if length == 0 {
                    return 0;
                }
                length = borders.get(length - 1).copied().unwrap_or_default();
            }
        };
        let mut length = 0;
        for (at, id) in run.iter().enumerate().skip(1) {
            length = step(&borders, length, *id);
            if let Some(border) = borders.get_mut(at) {
                *border = length;
            }
        }
        length = 0;
        for (at, id) in self.ids.iter().enumerate().skip(from) {
            length = step(&borders, length, *id);
            if length == run.len() {
                found(at + 1 - run.len());
                length = borders.last().copied().unwrap_or_default();
            }
        }
    }
}

/// A line as a grade compares it: without its carriage return, without blanks behind, without blanks around, with plain
/// signs for typographic ones.
fn graded(line: &str, grade: usize) -> Cow<'_, str> {
    match grade {
        0 => line.strip_suffix('\r').unwrap_or(line).into(),
        1 => line.trim_end().into(),
        2 => line.trim().into(),
        _ => {
            let line = line.trim();
            if line.is_ascii() {
                return line.into();
            }
            let plain = |c: char| match c {
                '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
                '\u{2018}'..='\u{201b}' => '\'',
                '\u{201c}'..='\u{201f}' => '"',
                '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
                c => c,
            };
            line.chars().map(plain).collect::<String>().into()
        }
    }
}
