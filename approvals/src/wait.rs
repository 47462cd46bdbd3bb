//! Waiting for an answer.
//!
//! INVARIANT: whoever stops waiting says so in the transaction that saw no answer, so an answer is either told or kept for an
//! identical call, never both.

use crate::schema::state;
use crate::store::{Answer, Approval, Channel, Store, Ticket, now};
use rusqlite::{Connection, OptionalExtension, params};
use std::time::{Duration, Instant};

/// How often the file is looked at.
const BEAT: Duration = Duration::from_millis(100);

impl Store {
    /// Waits until the question is answered or withdrawn, at most until `until`. An approval is not used by this: see
    /// [`Store::take`].
    pub fn wait(&self, ticket: &Ticket, until: Instant) -> Answer {
        self.wait_for(ticket, until).unwrap_or_else(Answer::Failed)
    }

    fn wait_for(&self, ticket: &Ticket, until: Instant) -> Result<Answer, String> {
        let connection = self.connect()?;
        loop {
            if let Some(answer) = told(&connection, ticket).map_err(|error| self.say(&error))? {
                return Ok(answer);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return self.leave(ticket);
            }
            std::thread::sleep(left.min(BEAT));
        }
    }

    /// Stops waiting: the question stays open for an identical call. An answer that came first is told.
    fn leave(&self, ticket: &Ticket) -> Result<Answer, String> {
        self.within(|held, now| {
            if let Some(answer) = told(held, ticket)? {
                return Ok(answer);
            }
            held.execute(
                "UPDATE question SET waits = MIN(waits, ?2) WHERE id = ?1",
                params![ticket.id, now],
            )?;
            Ok(Answer::TimedOut)
        })
    }
}

/// The answer to a question that is no longer open.
fn told(connection: &Connection, ticket: &Ticket) -> rusqlite::Result<Option<Answer>> {
    let sql = "SELECT state, channel, closes FROM question WHERE id = ?1";
    let row: Option<(i64, i64, i64)> = connection
        .prepare_cached(sql)?
        .query_row(params![ticket.id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((state, channel, closes)) = row else { return Ok(Some(Answer::Gone)) };
    let channel = Channel::of(channel);
    Ok(match (state, channel) {
        (state::OPEN, _) => (closes <= now()).then_some(Answer::Gone),
        (state::APPROVED, Some(channel)) => Some(Answer::Approved(Approval { session: false, channel })),
        (state::SESSION, Some(channel)) => Some(Answer::Approved(Approval { session: true, channel })),
        (state::DENIED, Some(by)) => Some(Answer::Denied { by }),
        _ => Some(Answer::Gone),
    })
}
