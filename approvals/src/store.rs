//! Asking, answering and using, each in one immediate transaction.
//!
//! INVARIANT: what changes a question reads and writes it in the same transaction, so of two processes one is told no; files are
//! looked at before a transaction, never within one.

use crate::file;
use crate::question::{Question, RunId, digest, random};
use crate::schema::{state, tidy};
use policy_engine::places::Folders;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Most questions of one session that are open at once.
pub const MOST_OPEN: usize = 3;
/// How long a question stays open after nobody waits for it.
pub const STAYS_OPEN: Duration = Duration::from_secs(600);
/// How long an approval that nobody used holds.
pub const APPROVAL_LASTS: Duration = Duration::from_secs(600);
/// Largest question: what cannot be shown whole is not asked.
const LARGEST: usize = 2 * 1024 * 1024;
/// Most open questions of all sessions, and most bytes of them: a page has to show them.
pub const MOST_ALL: usize = 200;
const LARGEST_ALL: i64 = 32 * 1024 * 1024;
/// Longest wait that a question may ask for.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The questions of a user.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
}

/// What became of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A person is asked.
    Waiting(Ticket),
    /// It was approved before, for this session or once and not yet used; the approval is used now.
    Granted(Approval),
}

/// A question that was asked. Its id is for people: no text that a model sees may hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub(crate) id: String,
}

/// Why nobody is asked; the call is denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The session has as many open questions as it may have.
    TooMany,
    /// All sessions together have as many open questions as a page can show.
    TooManyInAll,
    /// It is too large to be shown whole.
    TooLarge,
    /// The file of questions cannot be used.
    Store(String),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::TooMany => {
                write!(out, "{MOST_OPEN} questions of this session already wait for a person")
            }
            Refused::TooManyInAll => {
                write!(out, "as many questions of all sessions as can be shown already wait for a person")
            }
            Refused::TooLarge => write!(out, "the call is too large to be shown whole to a person"),
            Refused::Store(error) => write!(out, "nobody could be asked: {error}"),
        }
    }
}

impl std::error::Error for Refused {}

/// How a person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// On the page.
    Page,
    /// With `policy approvals approve`.
    Terminal,
    /// In the client, by elicitation.
    Elicit,
}

impl Channel {
    const ALL: [Channel; 3] = [Channel::Page, Channel::Terminal, Channel::Elicit];

    /// Its word in the audit.
    pub const fn word(self) -> &'static str {
        match self {
            Channel::Page => "page",
            Channel::Terminal => "terminal",
            Channel::Elicit => "elicit",
        }
    }

    const fn number(self) -> i64 {
        match self {
            Channel::Page => 1,
            Channel::Terminal => 2,
            Channel::Elicit => 3,
        }
    }

    pub(crate) fn of(number: i64) -> Option<Channel> {
        Channel::ALL.into_iter().find(|channel| channel.number() == number)
    }
}

/// An approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approval {
    /// It holds for identical calls of the same run until the run is closed.
    pub session: bool,
    /// How it was given.
    pub channel: Channel,
}

/// What a person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// This call, once.
    Once,
    /// This call and identical ones of the same run.
    Session,
    /// No.
    Deny,
}

/// What a waiting process learns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes: the call runs when [`Store::take`] then says so, and not before.
    Approved(Approval),
    /// No.
    Denied {
        /// How it was said.
        by: Channel,
    },
    /// Nobody answered; the question stays open for a while, so that an identical call can use the answer.
    TimedOut,
    /// It was withdrawn.
    Gone,
    /// The file of questions cannot be used; the call is denied.
    Failed(String),
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// There is no such question.
    Unknown,
    /// It is no longer open.
    Closed,
    /// A file that the call executes is no longer what was shown; the question is closed.
    Changed(PathBuf),
    /// The policy demands that it is approved on the page.
    PageOnly,
    /// The file of questions cannot be used.
    Store(String),
}

impl std::fmt::Display for Unanswered {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unanswered::Unknown => write!(out, "there is no such question"),
            Unanswered::Closed => write!(out, "the question is no longer open"),
            Unanswered::Changed(path) => write!(
                out,
                "`{}`, which the call executes, has changed since the question was asked; the question is closed",
                path.display()
            ),
            Unanswered::PageOnly => write!(out, "the policy demands that this is approved on the page"),
            Unanswered::Store(error) => write!(out, "{error}"),
        }
    }
}

impl std::error::Error for Unanswered {}

/// An open question as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Its id.
    pub id: String,
    /// What is asked.
    pub question: Question,
    /// When, milliseconds since the epoch.
    pub asked: i64,
    /// Until when the call waits, milliseconds since the epoch; past it an answer counts for an identical call.
    pub waits: i64,
    /// When the question closes by itself.
    pub closes: i64,
}

/// An open question, whole when it was not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// Its id.
    pub id: String,
    /// What is asked.
    pub question: Option<Question>,
    /// As in [`Open`].
    pub asked: i64,
    /// As in [`Open`].
    pub waits: i64,
    /// As in [`Open`].
    pub closes: i64,
    /// No page is opened by itself for it.
    pub quiet: bool,
}

impl Store {
    /// The questions in the state folder of a user.
    ///
    /// # Errors
    /// When the file is damaged, someone else's, or its folder can be written by others.
    pub fn open(folders: &Folders) -> Result<Store, String> {
        Store::at(&folders.state.join("approvals"))
    }

    /// The questions in a folder.
    pub(crate) fn at(folder: &Path) -> Result<Store, String> {
        let store = Store { path: folder.join("questions.db") };
        store.connect()?;
        Ok(store)
    }

    pub(crate) fn connect(&self) -> Result<Connection, String> {
        file::open(&self.path)
    }

    pub(crate) fn within<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>, i64) -> rusqlite::Result<T>,
    ) -> Result<T, String> {
        let mut connection = self.connect()?;
        let run = || {
            // Immediate: two that read first and write then would wait for each other.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // ORDER: the clock is read within, since getting in may have taken seconds.
            let now = now();
            tidy(&transaction, now)?;
            let made = work(&transaction, now)?;
            transaction.commit()?;
            Ok(made)
        };
        run().map_err(|error| self.say(&error))
    }

    pub(crate) fn say(&self, error: &rusqlite::Error) -> String {
        file::say(&self.path, error)
    }

    /// Asks a person, unless an identical call was approved.
    ///
    /// # Errors
    /// When nobody is asked; the call is then denied.
    pub fn ask(&self, question: &Question) -> Result<Asked, Refused> {
        let body = question.encode();
        if body.len() > LARGEST {
            return Err(Refused::TooLarge);
        }
        let digest = digest(question);
        let same = question.changed().is_none();
        let id = hex(&random().map_err(|error| Refused::Store(error.to_string()))?);
        let asker = asker(question);
        let timeout = question.timeout.min(LONGEST);
        self.within(|held, now| {
            // Approvals that someone waits for are theirs.
            if same && let Some(approval) = approved(held, &digest, question.run, now, Whose::Unattended)? {
                return Ok(Ok(Asked::Granted(approval)));
            }
            let waits = now.saturating_add(millis(timeout));
            let closes = waits.saturating_add(millis(STAYS_OPEN));
            let sql = "SELECT id FROM question WHERE digest = ?1 AND state = ?2 AND waits <= ?3 ORDER BY seq";
            let known: Option<String> =
                held.query_row(sql, params![digest, state::OPEN, now], |row| row.get(0)).optional()?;
            if let Some(id) = known {
                // The same question that nobody waited for any more: its card stays where it is.
                let sql =
                    "UPDATE question SET run = ?2, body = ?3, asked = ?4, waits = ?5, closes = ?6 WHERE id = ?1";
                held.execute(sql, params![id, question.run.0, body, now, waits, closes])?;
                return Ok(Ok(Asked::Waiting(Ticket { id })));
            }
            let sql = "SELECT COUNT(*) FROM question WHERE state = ?1 AND asker = ?2";
            let open: i64 = held.query_row(sql, params![state::OPEN, asker], |row| row.get(0))?;
            if usize::try_from(open).is_ok_and(|open| open >= MOST_OPEN) {
                return Ok(Err(Refused::TooMany));
            }
            let sql = "SELECT COUNT(*), COALESCE(SUM(LENGTH(body)), 0) FROM question WHERE state = ?1";
            let (all, bytes): (i64, i64) =
                held.query_row(sql, params![state::OPEN], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let own = i64::try_from(body.len()).unwrap_or(i64::MAX);
            if usize::try_from(all).is_ok_and(|all| all >= MOST_ALL) || bytes.saturating_add(own) > LARGEST_ALL {
                return Ok(Err(Refused::TooManyInAll));
            }
            held.execute(
                "INSERT INTO question (id, asker, run, digest, body, asked, waits, closes, state, answered, channel)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, 0)",
                params![id, asker, question.run.0, digest, body, now, waits, closes, state::OPEN],
            )?;
            Ok(Ok(Asked::Waiting(Ticket { id })))
        })
        .map_err(Refused::Store)?
    }

    /// Uses an approval of exactly this question: the caller makes it anew when it is about to run the call, so that what changed
    /// since is seen. False is a denial.
    #[must_use]
    pub fn take(&self, question: &Question) -> bool {
        if question.changed().is_some() {
            return false;
        }
        let digest = digest(question);
        let taken = self.within(|held, now| approved(held, &digest, question.run, now, Whose::All));
        matches!(taken, Ok(Some(_)))
    }

    /// Withdraws a question; an answer that was given and not used is void.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn cancel(&self, ticket: &Ticket) -> Result<(), String> {
        self.within(|held, now| {
            let sql = "UPDATE question SET state = ?2, body = x'', answered = ?3 WHERE id = ?1 AND state IN (?4, ?5, ?6)";
            let open = [state::OPEN, state::APPROVED, state::SESSION];
            held.execute(sql, params![ticket.id, state::GONE, now, open[0], open[1], open[2]])?;
            Ok(())
        })
    }

    /// Ends a run: its approvals for the session are void, and questions that it waits for are withdrawn.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn close_run(&self, run: RunId) -> Result<(), String> {
        self.within(|held, now| {
            held.execute("DELETE FROM approved_run WHERE run = ?1", params![run.0])?;
            let sql = "UPDATE question SET state = ?2, body = x'', answered = ?3
                WHERE run = ?1 AND state = ?4 AND waits > ?3";
            held.execute(sql, params![run.0, state::GONE, now, state::OPEN])?;
            // What was approved for the session of this run is not used by another.
            let sql = "UPDATE question SET state = ?2 WHERE run = ?1 AND state = ?3";
            held.execute(sql, params![run.0, state::GONE, state::SESSION])?;
            Ok(())
        })
    }

    /// The open questions in the order in which they were asked.
    ///
    /// # Errors
    /// When the file cannot be used or holds what was not written by us.
    pub fn open_questions(&self) -> Result<Vec<Open>, String> {
        let connection = self.connect()?;
        let rows = || -> rusqlite::Result<Vec<Row>> {
            let sql = "SELECT id, body, asked, waits, closes FROM question WHERE state = ?1 AND closes > ?2 ORDER BY seq";
            connection
                .prepare(sql)?
                .query_map(params![state::OPEN, now()], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })?
                .collect()
        };
        let mut open = Vec::new();
        for (id, body, asked, waits, closes) in rows().map_err(|error| self.say(&error))? {
            let question = Question::decode(&body)
                .ok_or_else(|| format!("`{}` holds a damaged question", self.path.display()))?;
            open.push(Open { id, question, asked, waits, closes });
        }
        Ok(open)
    }

    /// The open questions in the order in which they were asked, read whole where `known` does not know the id.
    ///
    /// # Errors
    /// As [`Store::open_questions`].
    pub fn open_besides(&self, known: &dyn Fn(&str) -> bool) -> Result<Vec<Brief>, String> {
        let connection = self.connect()?;
        let rows = || -> rusqlite::Result<Vec<(Brief, Option<Vec<u8>>)>> {
            let sql =
                "SELECT id, asked, waits, closes, EXISTS (SELECT 1 FROM quiet WHERE quiet.question = id)
                FROM question WHERE state = ?1 AND closes > ?2 ORDER BY seq";
            let brief = |row: &rusqlite::Row<'_>| {
                let (id, asked) = (row.get(0)?, row.get(1)?);
                let (waits, closes, quiet) = (row.get(2)?, row.get(3)?, row.get(4)?);
                Ok(Brief { id, asked, waits, closes, question: None, quiet })
            };
            let all: Vec<Brief> = connection
                .prepare(sql)?
                .query_map(params![state::OPEN, now()], brief)?
                .collect::<rusqlite::Result<_>>()?;
            let mut body = connection.prepare("SELECT body FROM question WHERE id = ?1 AND state = ?2")?;
            let mut out = Vec::new();
            for brief in all {
                if known(&brief.id) {
                    out.push((brief, None));
                } else if let Some(body) =
                    body.query_row(params![brief.id, state::OPEN], |row| row.get(0)).optional()?
                {
                    out.push((brief, Some(body)));
                }
            }
            Ok(out)
        };
        let mut out = Vec::new();
        for (mut brief, body) in rows().map_err(|error| self.say(&error))? {
            if let Some(body) = body {
                let question = Question::decode(&body)
                    .ok_or_else(|| format!("`{}` holds a damaged question", self.path.display()))?;
                brief.question = Some(question);
            }
            out.push(brief);
        }
        Ok(out)
    }

    /// A number that is another one after the file was changed, as long as `watch` is the same.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn changes(&self, watch: &mut Option<Watch>) -> Result<i64, String> {
        let held = match watch.take() {
            Some(held) => held,
            None => Watch(self.connect()?),
        };
        let version = held.0.query_row("PRAGMA data_version", [], |row| row.get(0));
        *watch = Some(held);
        version.map_err(|error| self.say(&error))
    }

    /// What a person says to a question that was asked by this process, in a form of its client.
    ///
    /// # Errors
    /// As [`Store::answer`].
    pub fn answer_ticket(
        &self,
        ticket: &Ticket,
        verdict: Verdict,
        channel: Channel,
    ) -> Result<(), Unanswered> {
        self.answer(&ticket.id, verdict, channel)
    }

    /// What a person says to a question.
    ///
    /// # Errors
    /// When it is no longer open, or is not what it was when it was asked.
    pub fn answer(&self, id: &str, verdict: Verdict, channel: Channel) -> Result<(), Unanswered> {
        let (state, body) = self.look(id)?;
        if state != state::OPEN {
            return Err(Unanswered::Closed);
        }
        let damaged = || Unanswered::Store(format!("`{}` holds a damaged question", self.path.display()));
        let changed = if verdict == Verdict::Deny {
            None
        } else {
            let question = Question::decode(&body).ok_or_else(damaged)?;
            if question.page_only && channel != Channel::Page {
                return Err(Unanswered::PageOnly);
            }
            question.changed().cloned()
        };
        let done = self.within(|held, now| {
            let sql = "SELECT digest, run, body FROM question WHERE id = ?1 AND state = ?2 AND closes > ?3";
            let row: Option<([u8; 32], [u8; 16], Vec<u8>)> = held
                .query_row(sql, params![id, state::OPEN, now], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })
                .optional()?;
            let Some((bound, run, kept)) = row else { return Ok(Err(Unanswered::Closed)) };
            // SECURITY: what is approved is what was asked, not what someone wrote beside its digest since.
            if verdict != Verdict::Deny
                && Question::decode(&kept).is_none_or(|kept| digest(&kept) != bound || kept.run.0 != run)
            {
                return Ok(Err(damaged()));
            }
            let state = match verdict {
                _ if changed.is_some() => state::GONE,
                Verdict::Once => state::APPROVED,
                Verdict::Session => state::SESSION,
                Verdict::Deny => state::DENIED,
            };
            let sql = "UPDATE question SET state = ?2, body = x'', answered = ?3, channel = ?4 WHERE id = ?1";
            held.execute(sql, params![id, state, now, channel.number()])?;
            if state == state::SESSION {
                held.execute(
                    "INSERT OR REPLACE INTO approved_run (run, digest, at, channel) VALUES (?1, ?2, ?3, ?4)",
                    params![run, bound, now, channel.number()],
                )?;
            }
            Ok(Ok(()))
        });
        done.map_err(Unanswered::Store)??;
        changed.map_or(Ok(()), |path| Err(Unanswered::Changed(path)))
    }

    fn look(&self, id: &str) -> Result<(i64, Vec<u8>), Unanswered> {
        let connection = self.connect().map_err(Unanswered::Store)?;
        let sql = "SELECT state, body FROM question WHERE id = ?1";
        connection
            .query_row(sql, params![id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
            .map_err(|error| Unanswered::Store(self.say(&error)))?
            .ok_or(Unanswered::Unknown)
    }
}

/// Of an open question: id, what is asked, asked, waits, closes.
type Row = (String, Vec<u8>, i64, i64, i64);

/// A held connection that notices changes.
#[derive(Debug)]
pub struct Watch(Connection);

/// Which approvals count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Only those that nobody waits for.
    Unattended,
    All,
}

/// Uses an approval of this digest, when there is one that still holds.
fn approved(
    held: &Transaction<'_>,
    digest: &[u8; 32],
    run: RunId,
    now: i64,
    whose: Whose,
) -> rusqlite::Result<Option<Approval>> {
    // One of the same run first. An answer from the future is of a clock that was set back: it does not count.
    let sql = "SELECT seq, state, channel FROM question
        WHERE digest = ?1 AND (state = ?2 OR state = ?3 AND run = ?4)
            AND answered <= ?5 AND answered > ?6 AND (?7 OR waits <= ?5)
        ORDER BY run = ?4 DESC, seq LIMIT 1";
    let lasts = now - millis(APPROVAL_LASTS);
    let all = whose == Whose::All;
    let row: Option<(i64, i64, i64)> = held
        .query_row(sql, params![digest, state::APPROVED, state::SESSION, run.0, now, lasts, all], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let given =
        |session: bool, channel: i64| Channel::of(channel).map(|channel| Approval { session, channel });
    if let Some((seq, was, channel)) = row {
        held.execute("UPDATE question SET state = ?2 WHERE seq = ?1", params![seq, state::USED])?;
        return Ok(given(was == state::SESSION, channel));
    }
    let sql = "SELECT channel FROM approved_run WHERE run = ?1 AND digest = ?2";
    let channel: Option<i64> = held.query_row(sql, params![run.0, digest], |row| row.get(0)).optional()?;
    Ok(channel.and_then(|channel| given(true, channel)))
}

/// Whose questions are counted together.
fn asker(question: &Question) -> String {
    if question.session.is_empty() {
        return format!("run {}", hex(&question.run.0));
    }
    format!("session {}", hex(&RunId::of_session(&question.host, &question.session).0))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Milliseconds since the epoch.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}
