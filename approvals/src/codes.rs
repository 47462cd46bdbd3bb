//! One-time codes that open the page.
//!
//! INVARIANT: the file holds a digest of a code, never the code; a code is used once, by one process, within its minute.

use crate::question::random;
use crate::store::{Store, hex};
use rusqlite::params;
use sha2::{Digest, Sha256};

/// How long a code is good, milliseconds.
const LASTS_MS: i64 = 60_000;
/// Most codes that are good at once.
const MOST: i64 = 8;

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

    /// Whether this is the [`place`] of a code that is still good.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn expected(&self, place: &str) -> Result<bool, String> {
        self.within(|held, now| {
            let sql = "SELECT digest FROM code WHERE at > ?1 AND at <= ?2";
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
