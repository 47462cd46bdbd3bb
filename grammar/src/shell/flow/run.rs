//! Files that are run: what the same text wrote into them before is read.
//!
//! INVARIANT: every text that may be in the file is read. Where something else may be in it the command that runs it has a
//! gap, as it had before anything was looked for.

use super::files::Key;
use super::{Moment, Node, Read};
use crate::shell::walk::{Task, Walker};
use crate::shell::{Dialect, Gap};

/// Most texts that one file may hold.
const MAX_TEXTS: usize = 8;
/// Most files that are run.
const MAX_REQUESTS: usize = 256;

/// A file that a command runs.
pub(crate) struct Request {
    pub(crate) index: usize,
    pub(crate) key: Key,
    pub(crate) at: Moment,
    /// How its text is read, when there is one.
    pub(crate) task: Task,
    /// The command got a gap because nothing was known of the file.
    pub(crate) gap: bool,
    /// The file itself says which program reads it.
    pub(crate) named: bool,
    done: Vec<String>,
}

impl Request {
    pub(crate) fn new(index: usize, key: Key, at: Moment, task: Task, gap: bool, named: bool) -> Request {
        Request { index, key, at, task, gap, named, done: Vec::new() }
    }
}

impl Walker<'_> {
    /// A command runs a file.
    pub(crate) fn request(&mut self, request: Request, operand: bool) {
        if let (true, Ok(number)) = (operand, u32::try_from(request.index)) {
            let (node, key, at) = (Node::Command(number), request.key.clone(), request.at);
            self.flow.reads(Read { node, key, at, runs: true });
        }
        if self.requests.len() >= MAX_REQUESTS {
            return self.problem(request.at.at, "the command runs too many files");
        }
        self.requests.push(request);
    }

    /// Puts the texts of files that are run in the queue; `false` when there is nothing new.
    pub(crate) fn resolve(&mut self) -> bool {
        let mut requests = std::mem::take(&mut self.requests);
        let mut some = false;
        for request in &mut requests {
            let (texts, _) = self.contents(&request.key, request.at);
            for (text, guess) in texts {
                if request.done.len() >= MAX_TEXTS || request.done.contains(&text) {
                    continue;
                }
                request.done.push(text.clone());
                if request.named && !is_shell_text(&text) {
                    continue;
                }
                let mut task = request.task.clone();
                if guess {
                    task.ctx.gaps.push(Gap::UnreadCode);
                }
                if request.named {
                    task.dialect = dialect_of(&text);
                }
                (task.text, task.guess) = (text, guess);
                some |= self.enqueue(task);
            }
        }
        // Texts of files may run further files.
        requests.append(&mut self.requests);
        self.requests = requests;
        some
    }

    /// Sets or takes back the gaps of commands that run files.
    pub(crate) fn settle(&mut self) {
        for request in std::mem::take(&mut self.requests) {
            let (texts, other) = self.contents(&request.key, request.at);
            let strange = request.named && texts.iter().any(|(text, _)| !is_shell_text(text));
            let unread = other || strange || texts.iter().any(|(_, guess)| *guess) || texts.len() > MAX_TEXTS;
            let Some(command) = self.commands.get_mut(request.index) else { continue };
            if texts.is_empty() && !unread {
                continue;
            }
            if unread && !command.gaps.contains(&Gap::UnreadCode) {
                command.gaps.push(Gap::UnreadCode);
            } else if !unread && request.gap {
                command.gaps.retain(|gap| *gap != Gap::UnreadCode);
            }
        }
    }

    /// The texts that a file may hold at a moment, and whether it may hold something else.
    pub(crate) fn contents(&self, key: &Key, at: Moment) -> (Vec<(String, bool)>, bool) {
        let mut texts: Vec<(String, bool)> = Vec::new();
        let mut other = false;
        for write in self.flow.writes.iter().filter(|write| write.at.may_precede(at) && write.holds(key)) {
            let sure = write.is(key);
            match (&write.text, write.append) {
                (Some((text, guess)), false) => {
                    if sure && write.certain {
                        texts.clear();
                        other = false;
                    }
                    other |= !sure;
                    texts.push((text.clone(), *guess));
                }
                (Some((text, guess)), true) => {
                    other |= !sure || texts.is_empty();
                    match texts.last_mut() {
                        Some((last, holes)) if last.len() + text.len() <= crate::shell::MAX_COMMAND_BYTES => {
                            last.push_str(text);
                            *holes |= guess;
                        }
                        _ => texts.push((text.clone(), *guess)),
                    }
                }
                (None, _) => other = true,
            }
        }
        (texts, other)
    }
}

/// The program that the first line of a text names.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default());
    match words.next() {
        Some("env") => words.find(|word| !word.starts_with('-') && !word.contains('=')),
        other => other,
    }
}

/// Whether a shell reads the text when it is run by its own name.
fn is_shell_text(text: &str) -> bool {
    !text.starts_with("#!")
        || matches!(interpreter(text), Some("sh" | "bash" | "dash" | "ash" | "ksh" | "zsh" | "busybox"))
}

fn dialect_of(text: &str) -> Dialect {
    match interpreter(text) {
        Some("bash" | "zsh") => Dialect::Bash,
        _ => Dialect::Unknown,
    }
}
