//! A file mapped into memory, read only.
//!
//! INVARIANT: only for files that are written beside and renamed, never in place. Should one be cut all the same, the
//! access ends the process with its last words (`end.rs`).

use memmap2::Mmap;
use std::fs::File;
use std::ops::Deref;

/// The bytes of a file, read by the kernel when they are looked at.
#[derive(Debug)]
pub struct Mapped(Mmap);

impl Mapped {
    /// Maps a whole file.
    ///
    /// # Errors
    /// When the system does not map it.
    pub fn of(file: &File) -> std::io::Result<Mapped> {
        // SAFETY: who changes the bytes while they are borrowed could make them differ between two looks. Readers of
        // tables check every number when they use it and keep none that was checked before, so that a change gives a wrong
        // answer or `Damaged`, never a wrong access; texts are checked to be UTF-8 each time they are made. Files of ours
        // are replaced by renaming, and are in folders that only their owner writes.
        #[expect(unsafe_code, reason = "see above")]
        let map = unsafe { Mmap::map(file)? };
        Ok(Mapped(map))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Mapped;

    #[test]
    fn a_mapped_file_has_its_bytes() {
        let path = std::env::temp_dir().join(format!("policy-os-map-{}", std::process::id()));
        std::fs::write(&path, b"bytes").unwrap();
        let mapped = Mapped::of(&std::fs::File::open(&path).unwrap()).unwrap();
        assert_eq!(&*mapped, b"bytes");
        std::fs::remove_file(&path).unwrap();
    }
}
