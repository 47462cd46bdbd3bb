//! The bytes of a table as a layer holds them: in memory, or mapped and summed as they are looked at.
//!
//! INVARIANT: opening one again costs the same whatever its size; damage that is found late is remembered, so that what is
//! in the cache can be made again.

use crate::open::{FileError, Opened};
use policy_os::Mapped;
use policy_runtime::bytes::Seen;
use policy_runtime::table::{Table, TableError};

/// Files up to this size are read: a mapping costs more than the copy.
const READ_WHOLE: u64 = 256 * 1024;

/// A table's bytes.
#[derive(Debug)]
pub struct Tabled {
    held: Held,
    /// Bytes of the table; a cached one has its sources behind it.
    len: usize,
    seen: Seen,
}

#[derive(Debug)]
enum Held {
    Memory(Vec<u8>),
    Mapped(Mapped),
}

impl PartialEq for Tabled {
    fn eq(&self, other: &Tabled) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Tabled {}

impl From<Vec<u8>> for Tabled {
    fn from(bytes: Vec<u8>) -> Tabled {
        Tabled { len: bytes.len(), seen: Seen::of(bytes.len()), held: Held::Memory(bytes) }
    }
}

impl Tabled {
    /// A whole file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn file(opened: &mut Opened, cap: u64) -> Result<Tabled, FileError> {
        if opened.stamp.size <= READ_WHOLE {
            return opened.read(cap).map(Tabled::from);
        }
        let mapped = opened.map()?;
        Ok(Tabled { len: mapped.len(), seen: Seen::of(mapped.len()), held: Held::Mapped(mapped) })
    }

    /// The table ends here, and something else follows it.
    pub(crate) fn cut(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// All bytes that are held, also those behind the table.
    pub(crate) fn whole(&self) -> &[u8] {
        match &self.held {
            Held::Memory(bytes) => bytes,
            Held::Mapped(bytes) => bytes,
        }
    }

    /// The table's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.whole().get(..self.len).unwrap_or_default()
    }

    /// The table, used in place.
    ///
    /// # Errors
    /// When the header is not that of a table that this build understands.
    pub fn table(&self) -> Result<Table<'_>, TableError> {
        Table::in_place(self.bytes(), &self.seen)
    }

    /// The table, with the sums of all bytes looked at when they are in memory.
    ///
    /// # Errors
    /// When it is not whole, or of another version.
    pub fn whole_table(&self) -> Result<Table<'_>, TableError> {
        match &self.held {
            Held::Memory(_) => Table::open(self.bytes()),
            Held::Mapped(_) => self.table(),
        }
    }

    /// Whether a page was found damaged.
    pub fn damaged(&self) -> bool {
        self.seen.damaged()
    }
}
