//! What is to be compiled or remembered, and who does it: this process, or another one.
//!
//! INVARIANT: a process without a compiler or a record never answers in its place: it hears that one is needed.

use crate::cache::Source;
use crate::compile::{self, Compilation, Kind};
use crate::doing;
use crate::open::{Care, FileError};
use crate::past::{Entry, Note, Store, Suppress, Told};
use crate::sources::Loader;
use crate::trust::Copy;
use policy_payments::ledger::Ledger;
use policy_runtime::outside::{Answer, Question};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be compiled.
pub enum Work<'a> {
    /// A text of our own.
    Text {
        /// Its name in reports.
        name: &'a str,
        /// The text.
        text: &'a str,
        /// What layer it becomes.
        kind: Kind,
    },
    /// A file with what it uses.
    File {
        /// The file.
        file: &'a Path,
        /// How its files are opened.
        care: Care,
        /// `use` may not leave this folder.
        inside: Option<&'a Path>,
        /// What `~` is.
        home: &'a Path,
        /// What layer it becomes.
        kind: Kind,
        /// Whether it may loosen, by what was read.
        trusted: &'a mut dyn FnMut(&[Source]) -> bool,
    },
    /// The copies of a project's files that a trust record holds; they never loosen.
    Copies {
        /// The project.
        project: &'a Path,
        /// The copies.
        files: &'a [Copy],
        /// The policy among them.
        file: &'a Path,
        /// What `~` is.
        home: &'a Path,
    },
}

/// Compiles.
pub trait Compiler: std::fmt::Debug + Sync {
    /// The table with what it was made of.
    ///
    /// # Errors
    /// When a file cannot be read.
    fn compile(&self, work: Work<'_>) -> Result<(Compilation, Vec<Source>), FileError>;
}

/// Compiles in this process.
#[derive(Debug)]
pub struct Here;

impl Compiler for Here {
    fn compile(&self, work: Work<'_>) -> Result<(Compilation, Vec<Source>), FileError> {
        doing::compile(|| match work {
            Work::Text { name, text, kind } => Ok((compile::text(name, text, kind), Vec::new())),
            Work::File { file, care, inside, home, kind, trusted } => {
                let mut loader = Loader::disk(care, inside, home);
                let closure = compile::closure(&mut loader, file)?;
                let trusted = trusted(loader.sources());
                let made = compile::of_closure(&mut loader, closure, kind, trusted);
                Ok((made, loader.sources().to_vec()))
            }
            Work::Copies { project, files, file, home } => {
                let mut loader = Loader::copies(project, files, home);
                Ok((compile::file(&mut loader, file, Kind::Project, false)?, Vec::new()))
            }
        })
    }
}

static NEEDED: AtomicBool = AtomicBool::new(false);

/// Does not compile, and remembers that it was asked to: the small program that only answers from kept tables.
#[derive(Debug)]
pub struct Elsewhere;

impl Elsewhere {
    /// Whether something had to be compiled, or the record of sessions was needed.
    pub fn needed() -> bool {
        NEEDED.load(Ordering::Relaxed)
    }
}

impl Elsewhere {
    fn need<T>() -> Result<T, String> {
        NEEDED.store(true, Ordering::Relaxed);
        Err("the record of sessions is kept by `policy`".to_owned())
    }
}

/// Keeps no record either.
impl Store for Elsewhere {
    fn ask(&self, _entry: &Entry, _questions: &[Question]) -> Result<Vec<Answer>, String> {
        Elsewhere::need()
    }

    fn look(&self, _entry: &Entry, _questions: &[Question]) -> Result<Vec<Answer>, String> {
        Elsewhere::need()
    }

    fn record(&self, _entry: &Entry, _note: &Note) -> Result<(), String> {
        Elsewhere::need()
    }

    fn told(&self, _entry: &Entry) -> Result<Told, String> {
        Elsewhere::need()
    }

    fn suppress(&self, _entry: &Entry, _change: Suppress<'_>) -> Result<(), String> {
        Elsewhere::need()
    }

    fn ledger(&self, _state: &Path) -> Result<Box<dyn Ledger>, String> {
        Elsewhere::need()
    }
}

impl Compiler for Elsewhere {
    fn compile(&self, work: Work<'_>) -> Result<(Compilation, Vec<Source>), FileError> {
        NEEDED.store(true, Ordering::Relaxed);
        let path = match &work {
            Work::Text { name, .. } => Path::new(name),
            Work::File { file, .. } | Work::Copies { file, .. } => file,
        };
        Err(FileError::new(path, "has to be compiled first"))
    }
}
