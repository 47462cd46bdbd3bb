//! Trust in a project's policy: one record a path, with a copy of every file it covers.
//!
//! INVARIANT: a record is believed only when its checksum holds; a project whose files differ from the record grants
//! nothing, and the copy goes on restricting.

use crate::open::{self, Care, FileError};
use crate::places::Folders;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;

/// A file of a closure, as it was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// Path relative to the project folder.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    version: u32,
    /// The project folder, resolved.
    pub project: PathBuf,
    /// The policy file, relative to it.
    pub file: String,
    /// Hash of the closure.
    pub closure: String,
    /// The files, in the order in which they are used; the policy file is the first.
    pub files: Vec<Copy>,
}

/// How a project's present files stand to the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Never trusted.
    Untrusted,
    /// The files are those that were trusted.
    Trusted,
    /// The files differ from those that were trusted.
    Changed(Box<Record>),
}

/// The hash that a closure of files is told apart by: of names and hashes of the files, in the order of use.
pub fn closure_hash<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut hash = Sha256::new();
    for (path, sha256) in files {
        for part in [path.as_bytes(), sha256.as_bytes()] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hex(&hash.finalize())
}

fn hash_of_copies(files: &[Copy]) -> String {
    let sums: Vec<String> = files.iter().map(|file| digest(file.text.as_bytes())).collect();
    closure_hash(files.iter().zip(&sums).map(|(file, sum)| (file.path.as_str(), sum.as_str())))
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// SHA-256 of some bytes in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn record_file(folders: &Folders, project: &Path) -> PathBuf {
    let name = digest(project.as_os_str().as_encoded_bytes());
    folders.state.join("trust").join(format!("{name}.json"))
}

/// The record of a project folder.
///
/// # Errors
/// When there is one that cannot be used: then nothing is known of the project's restrictions.
pub fn record(folders: &Folders, project: &Path) -> Result<Option<Record>, FileError> {
    let path = record_file(folders, project);
    let bytes = match open::read(&path, Care::Private, open::MAX_FILE_BYTES) {
        Ok((bytes, _)) => bytes,
        Err(error) if error.missing => return Ok(None),
        Err(error) => return Err(error),
    };
    let record: Record = serde_json::from_slice(&bytes).map_err(|_| {
        FileError::new(&path, "is a damaged trust record; a person must trust the project again")
    })?;
    if record.version != VERSION {
        return Err(FileError::new(
            &path,
            "was written by another version; a person must trust the project again",
        ));
    }
    if record.project != project || record.closure != hash_of_copies(&record.files) || record.files.is_empty()
    {
        return Err(FileError::new(
            &path,
            "is a damaged trust record; a person must trust the project again",
        ));
    }
    Ok(Some(record))
}

/// How the files with this closure stand to what was trusted of their project.
pub fn compare(record: Option<Record>, file: &str, closure: &str) -> Trust {
    match record {
        None => Trust::Untrusted,
        Some(record) if record.file == file && record.closure == closure => Trust::Trusted,
        Some(record) => Trust::Changed(Box::new(record)),
    }
}

/// Trusts these files of a project. `file` is the policy file, relative to the folder.
///
/// # Errors
/// When the record cannot be written.
pub fn grant(folders: &Folders, project: &Path, file: &str, files: Vec<Copy>) -> Result<Record, FileError> {
    let closure = hash_of_copies(&files);
    let record =
        Record { version: VERSION, project: project.to_path_buf(), file: file.to_string(), closure, files };
    let path = record_file(folders, project);
    if let Some(folder) = path.parent() {
        open::private_folder(folder)?;
    }
    let bytes = serde_json::to_vec(&record).map_err(|_| FileError::new(&path, "cannot be written"))?;
    open::write(&path, &bytes, 0o600)?;
    Ok(record)
}

/// Forgets a project. Tells whether there was anything to forget.
///
/// # Errors
/// When the record cannot be removed.
pub fn revoke(folders: &Folders, project: &Path) -> Result<bool, FileError> {
    let path = record_file(folders, project);
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::io(&path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    fn files(text: &str) -> Vec<Copy> {
        vec![Copy { path: "agent.policy".into(), text: text.into() }]
    }

    #[test]
    fn a_record_holds_until_a_file_changes() {
        let scratch = Scratch::new("trust");
        let (folders, project) = (Folders::under(&scratch.folder("home")), scratch.folder("repo"));
        assert_eq!(record(&folders, &project).unwrap(), None);
        grant(&folders, &project, "agent.policy", files("a")).unwrap();
        let kept = record(&folders, &project).unwrap();
        assert_eq!(compare(kept.clone(), "agent.policy", &hash_of_copies(&files("a"))), Trust::Trusted);
        assert!(matches!(
            compare(kept.clone(), "agent.policy", &hash_of_copies(&files("b"))),
            Trust::Changed(_)
        ));
        assert!(matches!(compare(kept, "agent.policy", &hash_of_copies(&[])), Trust::Changed(_)));
        assert!(revoke(&folders, &project).unwrap());
        assert_eq!(record(&folders, &project).unwrap(), None);
    }

    #[test]
    fn a_damaged_or_readable_record_is_an_error() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new("trust-damaged");
        let (folders, project) = (Folders::under(&scratch.folder("home")), scratch.folder("repo"));
        grant(&folders, &project, "agent.policy", files("a")).unwrap();
        let path = record_file(&folders, &project);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"text\":\"a\"", "\"text\":\"b\"")).unwrap();
        assert!(record(&folders, &project).is_err());
        std::fs::write(&path, "{").unwrap();
        assert!(record(&folders, &project).is_err());
    }

    #[test]
    fn texts_and_names_do_not_run_into_each_other() {
        let one = vec![Copy { path: "a".into(), text: "bc".into() }];
        let two = vec![Copy { path: "ab".into(), text: "c".into() }];
        assert_ne!(hash_of_copies(&one), hash_of_copies(&two));
    }
}
