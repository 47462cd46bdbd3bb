//! What a person is asked, and the digest of what an answer holds for.
//!
//! INVARIANT: the digest covers everything that decides what the call will do and who asked; what is only shown is not in it.

use crate::code::{Reader, Writer};
use crate::operand;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

/// A server as the proxy knows it; what it calls itself is no part of this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Server {
    /// Its key in the client's configuration.
    pub name: String,
    /// Digest of the command line that starts it.
    pub source: String,
    /// Digest of its tool definitions as last listed; empty before.
    pub pin: String,
}

/// What one rule said of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// The block.
    pub rule: String,
    /// `file:line` of the line.
    pub place: String,
    /// Why.
    pub reason: String,
    /// What to do instead; empty when the policy says nothing.
    pub suggest: String,
    /// The value that was judged; marked in the arguments when it stands there.
    pub matched: String,
}

/// What is shown of a call beside its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// The parsed commands, one a line.
    pub commands: Vec<String>,
    /// The change that a write makes, as a unified diff.
    pub diff: String,
    /// More values that are marked in the arguments.
    pub marked: Vec<String>,
}

/// The process, or the session of hooks, that approvals for a session hold for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunId(pub [u8; 16]);

impl RunId {
    /// A new one, from the system's random numbers.
    ///
    /// # Errors
    /// When the system has none.
    pub fn random() -> std::io::Result<RunId> {
        random().map(RunId)
    }

    /// The same one for every process of a host's session.
    pub fn of_session(host: &str, session: &str) -> RunId {
        let mut writer = Writer::default();
        writer.text("policy run of a session 1");
        writer.text(host);
        writer.text(session);
        let digest: [u8; 32] = Sha256::digest(writer.end()).into();
        let (run, _) = digest.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
        RunId(*run)
    }
}

/// Sixteen random bytes.
pub(crate) fn random() -> std::io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// One call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The host (`claude`, `wrap`).
    pub host: String,
    /// Its session.
    pub session: String,
    /// The agent within the session; empty for the main one.
    pub actor: String,
    /// The server whose tool it is.
    pub server: Option<Server>,
    /// The tool.
    pub tool: String,
    /// The complete arguments as canonical JSON.
    pub arguments: String,
    /// The resolved working directory.
    pub cwd: PathBuf,
    /// The digests of the tables that judged it.
    pub tables: Vec<[u8; 32]>,
    /// Files that the call executes, with the digest of their content as [`content`](crate::content) tells it.
    pub operands: Vec<(PathBuf, Option<[u8; 32]>)>,
    /// What each rule said.
    pub said: Vec<Said>,
    /// What is shown of it.
    pub shown: Shown,
    /// Only the page may approve it.
    pub page_only: bool,
    /// Whose approvals for a session count.
    pub run: RunId,
    /// After this it is denied, unanswered.
    pub timeout: Duration,
}

/// What an answer holds for.
pub fn digest(question: &Question) -> [u8; 32] {
    let mut writer = Writer::default();
    writer.text("policy approval 1");
    question.bound(&mut writer);
    Sha256::digest(writer.end()).into()
}

impl Question {
    /// The parts that an answer holds for.
    fn bound(&self, writer: &mut Writer) {
        writer.text(&self.host);
        writer.text(&self.session);
        writer.text(&self.actor);
        writer.option(self.server.as_ref(), |writer, server| {
            writer.text(&server.name);
            writer.text(&server.source);
            writer.text(&server.pin);
        });
        writer.text(&self.tool);
        writer.text(&self.arguments);
        writer.bytes(self.cwd.as_os_str().as_bytes());
        writer.list(&self.tables, |writer, table| writer.bytes(table));
        writer.list(&self.operands, |writer, (path, content)| {
            writer.bytes(path.as_os_str().as_bytes());
            writer.option(content.as_ref(), |writer, content| writer.bytes(content));
        });
        writer.number(u64::from(self.page_only));
    }

    /// The first file whose content is no longer what the question holds; reads files.
    pub(crate) fn changed(&self) -> Option<&PathBuf> {
        let changed = |(path, held): &&(PathBuf, Option<[u8; 32]>)| operand::content(path) != *held;
        self.operands.iter().find(changed).map(|(path, _)| path)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        self.bound(&mut writer);
        writer.list(&self.said, |writer, said| {
            for text in [&said.decision, &said.rule, &said.place, &said.reason, &said.suggest, &said.matched]
            {
                writer.text(text);
            }
        });
        writer.list(&self.shown.commands, |writer, command| writer.text(command));
        writer.text(&self.shown.diff);
        writer.list(&self.shown.marked, |writer, marked| writer.text(marked));
        writer.bytes(&self.run.0);
        writer.number(u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX));
        writer.end()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Question> {
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let sum = |reader: &mut Reader<'_>| <[u8; 32]>::try_from(reader.bytes()?).ok();
        let reader = &mut Reader(bytes);
        let question = Question {
            host: reader.text()?,
            session: reader.text()?,
            actor: reader.text()?,
            server: reader.option(|reader| {
                Some(Server { name: reader.text()?, source: reader.text()?, pin: reader.text()? })
            })?,
            tool: reader.text()?,
            arguments: reader.text()?,
            cwd: path(reader.bytes()?),
            tables: reader.list(sum)?,
            operands: reader.list(|reader| Some((path(reader.bytes()?), reader.option(sum)?)))?,
            page_only: reader.number()? != 0,
            said: reader.list(|reader| {
                Some(Said {
                    decision: reader.text()?,
                    rule: reader.text()?,
                    place: reader.text()?,
                    reason: reader.text()?,
                    suggest: reader.text()?,
                    matched: reader.text()?,
                })
            })?,
            shown: Shown {
                commands: reader.list(Reader::text)?,
                diff: reader.text()?,
                marked: reader.list(Reader::text)?,
            },
            run: RunId(reader.bytes()?.try_into().ok()?),
            timeout: Duration::from_millis(reader.number()?),
        };
        reader.0.is_empty().then_some(question)
    }
}
