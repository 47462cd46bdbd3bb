//! The files of a patch on disk.
//!
//! INVARIANT: only regular files are opened, and nothing on a network mount outside the project.

use super::{FileKind, Files};
use crate::facts::{DiskResolver, Resolution, Resolver};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The files on disk.
#[derive(Debug)]
pub struct Disk {
    resolver: DiskResolver,
}

impl Disk {
    /// The files of a project.
    #[must_use]
    pub fn new(project: &Path) -> Disk {
        Disk { resolver: DiskResolver::new(&[project]) }
    }
}

impl Files for Disk {
    fn real(&self, path: &Path) -> Result<PathBuf, String> {
        match self.resolver.resolve(path) {
            Resolution::Same => Ok(super::lexical(path)),
            Resolution::Other(end) => Ok(end),
            Resolution::Unknown => Err("it could not be told where its links lead".to_owned()),
        }
    }

    fn kind(&self, path: &Path) -> FileKind {
        match fs::metadata(path) {
            Ok(data) if data.is_file() => FileKind::File,
            Ok(data) if data.is_dir() => FileKind::Folder,
            Ok(_) => FileKind::Other,
            // A link that leads nowhere is there all the same.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                if fs::symlink_metadata(path).is_ok() {
                    FileKind::Other
                } else {
                    FileKind::Missing
                }
            }
            Err(_) => FileKind::Other,
        }
    }

    fn read(&self, path: &Path, max: usize) -> Result<Vec<u8>, String> {
        let told = |error: std::io::Error| format!("the file cannot be read: {error}");
        let file = fs::File::open(path).map_err(told)?;
        let mut bytes = Vec::new();
        file.take(max as u64 + 1).read_to_end(&mut bytes).map_err(told)?;
        Ok(bytes)
    }
}
