//! One-time codes that open the page.
//!
//! INVARIANT: the file holds a digest of a code, never the code; a code is used once, by one process, within its minute (that of a
//! link: two). The code of a link is of a kind of its own: it opens one question, as long as that is open, and never the page.

use crate::question::random;
use crate::schema::{LINK_MS, state};
use crate::store::{Store, Ticket, hex};
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

/// How long a code is good, milliseconds.
const LASTS_MS: i64 = 60_000;
/// Most codes that are good at once.
const MOST: i64 = 8;
/// Most links to one question that are good at once.
const MOST_LINKS: i64 = 4;

impl Store {
    /// A new code that opens the page once.
    ///
    /// # Errors
    /// When the file cannot be used or the system has no random numbers.
    pub fn new_code(&self) -> Result<String, String> {
        let code = secret().map_err(|error| error.to_string())?;
        self.within(|held, now| {
            held.execute("DELETE FROM code WHERE at <= ?1 OR at > ?2", params![now - LASTS_MS, now])?;
            let sql = "DELETE FROM code WHERE seq <= (SELECT MAX(seq) FROM code) - ?1";
            held.execute(sql, params![MOST - 1])?;
            held.execute("INSERT INTO code (digest, at) VALUES (?1, ?2)", params![sum(&code), now])?;
            Ok(())
        })?;
        Ok(code)
    }

    /// Uses a code. False when it is not good, or no longer.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn redeem(&self, code: &str) -> Result<bool, String> {
        self.within(|held, now| {
            let sql = "DELETE FROM code WHERE digest = ?1 AND at > ?2 AND at <= ?3";
            Ok(held.execute(sql, params![sum(code), now - LASTS_MS, now])? == 1)
        })
    }

    /// Whether a code is still good; it is not used by this.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn unused(&self, code: &str) -> Result<bool, String> {
        self.within(|held, now| {
            let sql = "SELECT EXISTS (SELECT 1 FROM code WHERE digest = ?1 AND at > ?2 AND at <= ?3)";
            held.query_row(sql, params![sum(code), now - LASTS_MS, now], |row| row.get(0))
        })
    }

    /// A new code that opens one open question, once; none when it is closed or has links enough.
    ///
    /// # Errors
    /// When the file cannot be used or the system has no random numbers.
    pub fn new_link(&self, ticket: &Ticket) -> Result<Option<String>, String> {
        let code = secret().map_err(|error| error.to_string())?;
        let made = self.within(|held, now| {
            // Those of closed questions are gone by now.
            let sql = "INSERT INTO link (digest, question, at)
                SELECT ?1, id, ?3 FROM question WHERE id = ?2 AND state = ?4 AND closes > ?3
                AND (SELECT COUNT(*) FROM link WHERE question = ?2) < ?5";
            held.execute(sql, params![sum(&code), ticket.id, now, state::OPEN, MOST_LINKS])
        })?;
        Ok((made == 1).then_some(code))
    }

    /// Uses the code of a link: the id of its question. None when it is not good, or no longer.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn follow(&self, code: &str) -> Result<Option<String>, String> {
        self.within(|held, now| {
            let sql = "DELETE FROM link WHERE digest = ?1 AND at > ?2 AND at <= ?3 RETURNING question";
            held.query_row(sql, params![sum(code), now - LINK_MS, now], |row| row.get(0)).optional()
        })
    }

    /// No page is opened by itself for this question.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn keep_quiet(&self, ticket: &Ticket) -> Result<(), String> {
        self.within(|held, _| {
            held.execute("INSERT OR IGNORE INTO quiet (question) VALUES (?1)", params![ticket.id]).map(|_| ())
        })
    }

    /// Whether this is the [`place`] of a code that is still good.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn expected(&self, place: &str) -> Result<bool, String> {
        self.within(|held, now| {
            // Links that are too old are gone by now.
            let sql = "SELECT digest FROM code WHERE at > ?1 AND at <= ?2 UNION ALL SELECT digest FROM link";
            let mut digests = held.prepare(sql)?;
            let mut digests =
                digests.query_map(params![now - LASTS_MS, now], |row| row.get::<_, [u8; 32]>(0))?;
            let mut found = false;
            while let Some(digest) = digests.next().transpose()? {
                found |= hex(&digest) == place;
            }
            Ok(found)
        })
    }
}

/// Thirty-two random digits.
///
/// # Errors
/// When the system has no random numbers.
pub fn secret() -> std::io::Result<String> {
    random().map(|bytes| hex(&bytes))
}

/// Where the page is found by whoever holds a code; the code cannot be told from it.
pub fn place(code: &str) -> String {
    hex(&sum(code))
}

fn sum(code: &str) -> [u8; 32] {
    Sha256::digest(code.as_bytes()).into()
}
