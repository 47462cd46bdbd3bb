//! What every command needs: the folders, how to report, and which of the two names the binary was called by.
//!
//! INVARIANT: nothing here reads the environment but `NO_COLOR` (through [`Output`]).

use crate::args::Common;
use crate::output::{Failure, Output};
use policy_engine::places::{Folders, absolute};
use std::path::{Path, PathBuf};

pub(crate) use policy_hook::Flavor;

/// What every command needs.
#[derive(Debug)]
pub(crate) struct Context {
    /// How to report.
    pub(crate) output: Output,
    /// Which name.
    pub(crate) flavor: Flavor,
    home: Option<PathBuf>,
    project: Option<PathBuf>,
}

impl Context {
    /// From the command line.
    pub(crate) fn new(common: &Common, flavor: Flavor) -> Context {
        Context {
            output: Output::new(common),
            flavor,
            home: common.home.clone(),
            project: common.project.clone(),
        }
    }

    /// Our folders.
    pub(crate) fn folders(&self) -> Result<Folders, Failure> {
        match &self.home {
            Some(home) => Ok(Folders::under(home)),
            None => Folders::of_user().map_err(|error| Failure::usage(error.to_string())),
        }
    }

    /// The folder that the command line names.
    pub(crate) fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    /// The folder of this run, resolved.
    pub(crate) fn cwd(&self) -> Result<PathBuf, Failure> {
        let current =
            || std::env::current_dir().map_err(|error| Failure::usage(format!("no current folder: {error}")));
        let folder = match &self.project {
            Some(folder) if folder.is_absolute() => folder.clone(),
            Some(folder) => absolute(&current()?, folder),
            None => current()?,
        };
        std::fs::canonicalize(&folder)
            .map_err(|error| Failure::usage(format!("`{}` cannot be used: {error}", folder.display())))
    }

    /// A path of the command line, absolute.
    pub(crate) fn path(&self, path: &Path) -> Result<PathBuf, Failure> {
        Ok(absolute(&self.cwd()?, path))
    }
}
