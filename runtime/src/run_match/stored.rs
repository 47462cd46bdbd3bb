//! Run patterns where they lie in a table, and which of its sets hold a path: one pass for all sets.
//!
//! INVARIANT: a path goes through an automaton once in a decision, however many patterns ask for it. What cannot be read and
//! what takes too much work is remembered, and [`Lists::found`] then gives no answer.

use super::{OperandSet, RunPattern, Stage, Term, Texts, climbs, flat};
use crate::automaton::{self, Automaton, Scratch};
use crate::bytes::Bytes;
use crate::facts::{Form, PathName};
use crate::fold::fold;
use crate::table::Table;
use crate::table::layout::{INFO_SETS, Section, id_set, set_id};
use crate::table::read::{Damaged, Read, Words};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The table says what cannot be.
    Damaged,
    /// More work than is left.
    Limit,
}

impl From<Damaged> for Failure {
    fn from(_: Damaged) -> Failure {
        Failure::Damaged
    }
}

impl From<automaton::Damaged> for Failure {
    fn from(damaged: automaton::Damaged) -> Failure {
        use automaton::Damaged as D;
        match damaged {
            D::Header | D::Index | D::Probes => Failure::Damaged,
            D::Active | D::Steps | D::Found => Failure::Limit,
        }
    }
}

/// The number of the automaton over texts; those over paths have the number of what is asked.
const TEXTS: usize = 3;

/// What is asked of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ask {
    /// Which lists hold it, in any case.
    Folded,
    /// Which lists hold it, with exact letters.
    Exact,
    /// Which lists have something below it.
    Above,
}

/// By the place of a name in memory: the ids of the lists.
type Known = BTreeMap<(usize, Ask), Rc<[u32]>>;

/// The run patterns of a table, with what one decision found out about paths.
pub(crate) struct Lists<'t> {
    table: Table<'t>,
    failed: Cell<Option<Failure>>,
    /// Steps that may still be taken.
    left: Cell<u64>,
    scratch: RefCell<Scratch>,
    known: RefCell<Known>,
}

impl<'t> Lists<'t> {
    pub(crate) fn new(table: Table<'t>) -> Lists<'t> {
        Lists {
            table,
            failed: Cell::new(None),
            left: Cell::new(u64::MAX),
            scratch: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// Begins a comparison that may take so many steps.
    pub(crate) fn begin(&self, left: u64) {
        self.failed.set(None);
        self.left.set(left);
    }

    /// The steps that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    /// What was found since, if there is an answer.
    pub(crate) fn found<T>(&self, found: T) -> Result<T, Failure> {
        self.failed.get().map_or(Ok(found), Err)
    }

    pub(super) fn fail(&self, failure: Failure) {
        // Damage is the graver cause.
        if self.failed.get() != Some(Failure::Damaged) {
            self.failed.set(Some(failure));
        }
    }

    /// Counts the work of comparing two texts.
    pub(super) fn spend(&self, pattern: usize, value: usize) -> Result<(), Failure> {
        let cost = (pattern as u64 + 1) * (value as u64 + 1);
        match self.left.get().checked_sub(cost) {
            Some(left) if self.failed.get().is_none() => {
                self.left.set(left);
                Ok(())
            }
            _ => Err(Failure::Limit),
        }
    }

    pub(super) fn words(&self, at: u32) -> Read<Words<'t>> {
        Words::new(self.table.section(Section::Runs), at)
    }

    pub(super) fn text(&self, words: &mut Words<'t>) -> Result<&'t str, Failure> {
        Ok(self.table.text(words.next()?, words.next()?)?)
    }

    /// The run pattern at a place; its texts stay where they are.
    pub(crate) fn pattern(&self, at: u32) -> Read<RunPattern<'_>> {
        let mut words = self.words(at)?;
        let words = &mut words;
        let stages = (0..words.count()?)
            .map(|_| {
                let program = Texts::stored(self, words.next()?, 0);
                let terms = (0..words.count()?)
                    .map(|_| {
                        Ok(match words.next()? {
                            0 => Term::Word(Texts::stored(self, words.next()?, 0)),
                            1 => Term::Flag(Texts::stored(self, words.next()?, 0)),
                            2 => Term::AnyWord,
                            3 => Term::AnyFlags,
                            _ => return Err(Damaged),
                        })
                    })
                    .collect::<Read<_>>()?;
                Ok(Stage { program, terms, rest: self.table.flag(words.next()?)? })
            })
            .collect::<Read<_>>()?;
        Ok(RunPattern {
            stages,
            touching: self.set(words)?,
            reading: self.set(words)?,
            writing: self.set(words)?,
            deleting: self.set(words)?,
            sending: self.set(words)?,
            via: Texts::stored(self, words.next()?, 0),
        })
    }

    fn set(&self, words: &mut Words<'_>) -> Read<Option<OperandSet<'_>>> {
        let Some(number) = words.next()?.checked_sub(1) else { return Ok(None) };
        let row = self.table.row(Section::Sets, number)?;
        let [paths, except_paths] = [false, true].map(|except| set_id(number, except));
        Ok(Some(OperandSet {
            paths: Texts::stored(self, row.word(0)?, paths.ok_or(Damaged)?),
            texts: Texts::stored(self, row.word(1)?, 0),
            except_paths: Texts::stored(self, row.word(2)?, except_paths.ok_or(Damaged)?),
            except_texts: Texts::stored(self, row.word(3)?, 0),
        }))
    }

    /// Whether the list of this id holds a name of a path.
    pub(super) fn holds(&self, id: u32, name: &PathName, form: Form, ask: Ask) -> bool {
        match self.ids(name, form, ask) {
            Ok(ids) => ids.binary_search(&id).is_ok(),
            Err(failure) => {
                self.fail(failure);
                false
            }
        }
    }

    /// The ids of all lists that hold a name of a path of the call's facts, in order.
    pub(crate) fn ids(&self, name: &PathName, form: Form, ask: Ask) -> Result<Rc<[u32]>, Failure> {
        // Facts stay where they are while a call is decided.
        let key = (std::ptr::from_ref(name).addr(), ask);
        if let Some(ids) = self.known.borrow().get(&key) {
            return Ok(Rc::clone(ids));
        }
        let mut ids = Vec::new();
        for view in &name.views {
            let text = match form {
                Form::Exact | Form::Holes => Cow::Borrowed(view.as_str()),
                Form::Glob => Cow::Owned(flat(view)),
            };
            // SECURITY: a hole may be `../../etc`, and `./src/.*/x` may be `./src/../x`.
            if ask == Ask::Exact && (form == Form::Holes || form == Form::Glob && climbs(view)) {
                continue;
            }
            self.pass(ask as usize, &text, ask != Ask::Exact, &mut ids)?;
        }
        ids.sort_unstable();
        ids.dedup();
        let ids: Rc<[u32]> = ids.into();
        self.known.borrow_mut().insert(key, Rc::clone(&ids));
        Ok(ids)
    }

    /// The ids of all lists of texts of refusals that hold a word.
    pub(super) fn texts(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), Failure> {
        self.pass(TEXTS, text, true, ids)
    }

    /// The sets of these ids of lists by which patterns are found, each once, in order.
    pub(super) fn keyed(&self, mut ids: Vec<u32>) -> Result<Vec<u32>, Failure> {
        ids.sort_unstable();
        ids.dedup();
        let mut sets = Vec::new();
        for id in ids {
            let (set, except) = id_set(id).ok_or(Failure::Damaged)?;
            if !except && self.table.flag(self.table.row(Section::Sets, set)?.word(4)?)? {
                sets.push(set);
            }
        }
        Ok(sets)
    }

    /// One text through one automaton over sets.
    fn pass(&self, number: usize, text: &str, any_case: bool, ids: &mut Vec<u32>) -> Result<(), Failure> {
        let bytes = self.automaton(number)?;
        if bytes.len() == 0 {
            return Ok(());
        }
        self.spend(1, text.len())?;
        let text = if any_case && !text.is_ascii() { Cow::Owned(fold(text)) } else { Cow::Borrowed(text) };
        let scratch = &mut self.scratch.borrow_mut();
        Ok(Automaton::within(bytes)?.each(text.as_bytes(), scratch, &mut |id| ids.push(id))?)
    }

    fn automaton(&self, number: usize) -> Read<Bytes<'t>> {
        let row = self.table.row(Section::Info, 0)?;
        self.table.automaton(row.range(INFO_SETS + 2 * number)?)
    }
}
