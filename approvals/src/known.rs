//! Questions by the first digits of their ids, and where each stands.
//!
//! INVARIANT: only looked at; what a person is told about an id is what became of it, never a guess.

use crate::schema::state;
use crate::store::{Channel, Store, now};
use rusqlite::params;

/// Most questions that are told.
const MOST: i64 = 4;

/// A question whose id begins so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub standing: Standing,
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It can be answered.
    Open,
    /// It was approved, by this way; maybe it was used since.
    Approved(Channel),
    /// It was denied, by this way.
    Denied(Channel),
    /// Its time was over, it was withdrawn, or what it was about has changed.
    Closed,
}

impl Store {
    /// The questions of the last day whose ids begin so, at most a few, open ones first.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn known(&self, digits: &str) -> Result<Vec<Known>, String> {
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let digits = digits.to_ascii_lowercase();
        let connection = self.connect()?;
        let now = now();
        let rows = || -> rusqlite::Result<Vec<Known>> {
            // Behind all ids that begin so stands the first letter that is no digit.
            let sql = "SELECT id, state, closes, channel FROM question WHERE id >= ?1 AND id < ?1 || 'g'
                ORDER BY state <> ?2, seq DESC LIMIT ?3";
            let row = |row: &rusqlite::Row<'_>| {
                let (was, closes): (i64, i64) = (row.get(1)?, row.get(2)?);
                let standing = match (was, Channel::of(row.get(3)?)) {
                    (state::OPEN, _) if closes > now => Standing::Open,
                    (state::APPROVED | state::SESSION | state::USED, Some(channel)) => {
                        Standing::Approved(channel)
                    }
                    (state::DENIED, Some(channel)) => Standing::Denied(channel),
                    _ => Standing::Closed,
                };
                Ok(Known { id: row.get(0)?, standing })
            };
            connection.prepare(sql)?.query_map(params![digits, state::OPEN, MOST], row)?.collect()
        };
        rows().map_err(|error| self.say(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{folder, question};
    use crate::{Asked, Verdict};
    use std::time::Duration;

    #[test]
    fn what_became_of_a_question_is_told() {
        let store = Store::at(&folder("known")).unwrap();
        let ask = |arguments: &str| match store.ask(&question(arguments, "{}")).unwrap() {
            Asked::Waiting(ticket) => ticket,
            other => panic!("{other:?}"),
        };
        let tickets = ["a", "b", "c", "d"].map(ask);
        store.answer(&tickets[1].id, Verdict::Once, Channel::Page).unwrap();
        store.answer(&tickets[2].id, Verdict::Deny, Channel::Terminal).unwrap();
        store.cancel(&tickets[3]).unwrap();
        let standing = |digits: &str| store.known(digits).unwrap().first().map(|known| known.standing);
        let told = tickets.clone().map(|ticket| standing(ticket.id.get(..12).unwrap()));
        let wanted = [
            Standing::Open,
            Standing::Approved(Channel::Page),
            Standing::Denied(Channel::Terminal),
            Standing::Closed,
        ];
        assert_eq!(told, wanted.map(Some));
        assert_eq!(standing(&tickets[0].id.to_uppercase()), Some(Standing::Open));
        for none in ["%", "' OR 1=1", "zz", "\u{661}"] {
            assert_eq!(standing(none), None, "{none}");
        }
        assert_eq!(store.known("").unwrap().len(), MOST as usize);
    }

    #[test]
    fn all_sessions_together_have_a_limit() {
        let store = Store::at(&folder("all")).unwrap();
        let timed =
            |n: usize| crate::Question { timeout: Duration::from_secs(9), ..question(&n.to_string(), "{}") };
        for n in 0..crate::MOST_ALL {
            store.ask(&timed(n)).unwrap();
        }
        let more = store.ask(&timed(crate::MOST_ALL));
        assert_eq!(more, Err(crate::Refused::TooManyInAll));
    }
}
