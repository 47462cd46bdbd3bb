//! What a person should know besides the questions: policies that cannot be used as they are now, servers that have changed.
//!
//! INVARIANT: bounded in count and size, one a file; a notice decides nothing, and one that nobody repeats goes by itself.

use crate::code::{Reader, Writer};
use crate::store::Store;
use rusqlite::params;

/// Most notices.
const MOST: i64 = 16;
/// Largest part of a notice, letters.
const LARGEST: usize = 400;
/// A notice that was not written again for this long is of a process that is gone, milliseconds.
const STALE_MS: i64 = 30 * 60 * 1000;
/// How often whoever still sees the error has to say so.
pub const REPEATED: std::time::Duration = std::time::Duration::from_secs(5 * 60);

/// The code of a notice that is about the pins of a server, which is its `file`.
pub const PINS: &str = "pins";

/// A policy that cannot be used as it is now, or a server of which something waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notice {
    /// Its file, as people know it; one notice a file.
    pub file: String,
    /// `file:line` of the first error.
    pub place: String,
    /// The code of the error.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// How many errors there are besides.
    pub more: u64,
    /// Since when, milliseconds since the epoch.
    pub since: i64,
    /// Until when the policy holds as it was before; 0 when it does not hold.
    pub until: i64,
}

impl Notice {
    fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        for text in [&self.place, &self.code, &self.message, &self.help] {
            writer.text(&short(text));
        }
        writer.number(self.more);
        writer.end()
    }

    fn decode(file: String, body: &[u8], since: i64, until: i64) -> Option<Notice> {
        let reader = &mut Reader(body);
        Some(Notice {
            file,
            place: reader.text()?,
            code: reader.text()?,
            message: reader.text()?,
            help: reader.text()?,
            more: reader.number()?,
            since,
            until,
        })
    }
}

fn short(text: &str) -> String {
    text.chars().take(LARGEST).collect()
}

impl Store {
    /// Writes notices, and takes those of files away that are good again.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn note(&self, bad: &[Notice], good: &[String]) -> Result<(), String> {
        self.within(|held, now| {
            for file in good {
                held.execute("DELETE FROM notice WHERE file = ?1", params![short(file)])?;
            }
            for notice in bad {
                held.execute(
                    "INSERT OR REPLACE INTO notice (file, body, since, until, at) VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![short(&notice.file), notice.encode(), notice.since, notice.until, now],
                )?;
            }
            held.execute("DELETE FROM notice WHERE at <= ?1 OR at > ?2", params![now - STALE_MS, now])?;
            let sql = "DELETE FROM notice WHERE file NOT IN (SELECT file FROM notice ORDER BY at DESC, file LIMIT ?1)";
            held.execute(sql, params![MOST])?;
            Ok(())
        })
    }

    /// The notices, oldest first.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn notices(&self) -> Result<Vec<Notice>, String> {
        let connection = self.connect()?;
        let now = crate::store::now();
        let rows = || -> rusqlite::Result<Vec<Option<Notice>>> {
            let sql = "SELECT file, body, since, until FROM notice WHERE at > ?1 ORDER BY since, file";
            let row = |row: &rusqlite::Row<'_>| {
                let body: Vec<u8> = row.get(1)?;
                Ok(Notice::decode(row.get(0)?, &body, row.get(2)?, row.get(3)?))
            };
            connection.prepare(sql)?.query_map(params![now - STALE_MS], row)?.collect()
        };
        // One that cannot be read says nothing: it decides nothing either.
        Ok(rows().map_err(|error| self.say(&error))?.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::folder;

    fn notice(file: &str, message: &str) -> Notice {
        Notice { file: file.to_owned(), message: message.to_owned(), since: 5, until: 9, ..Notice::default() }
    }

    #[test]
    fn a_notice_stands_until_its_file_is_good() {
        let store = Store::at(&folder("notices")).unwrap();
        assert_eq!(store.notices().unwrap(), []);
        store.note(&[notice("b", "one"), notice("a", "two")], &[]).unwrap();
        store.note(&[notice("b", "three")], &[]).unwrap();
        assert_eq!(store.notices().unwrap(), [notice("a", "two"), notice("b", "three")]);
        store.note(&[], &["b".to_owned(), "never".to_owned()]).unwrap();
        assert_eq!(store.notices().unwrap(), [notice("a", "two")]);
    }

    #[test]
    fn notices_are_few_and_small() {
        let store = Store::at(&folder("many-notices")).unwrap();
        let many: Vec<Notice> = (0..40).map(|n| notice(&format!("{n}"), &"ä".repeat(100_000))).collect();
        store.note(&many, &[]).unwrap();
        let kept = store.notices().unwrap();
        assert_eq!((kept.len(), kept[0].message.chars().count()), (MOST as usize, LARGEST));
    }
}
