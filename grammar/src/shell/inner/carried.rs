//! Programs of Windows that carry a command, whichever shell calls them.
//!
//! INVARIANT: what is carried is read as the shell that is started reads it; what nobody can read is a gap.

use super::Call;
use crate::shell::carry::{Carried, carried};
use crate::shell::code::Language;
use crate::shell::effects::{peers, touches};
use crate::shell::env::Env;
use crate::shell::program::Program;
use crate::shell::pwsh::reading_of;
use crate::shell::walk::{Stdin, Task, Walk, Walker};
use crate::shell::{Command, Dialect, Dir, Feature, Gap, Part, Word};

impl Call {
    /// A call of a shell of Windows.
    pub(crate) fn windows(words: Vec<Word>, range: (usize, usize), dir: Dir) -> Call {
        Call {
            ranges: vec![range; words.len()],
            words,
            range,
            assignments: Vec::new(),
            redirects: Vec::new(),
            wrappers: Vec::new(),
            gaps: Vec::new(),
            pipe: None,
            stdin: Stdin::Call,
            from: None,
            to: None,
            extra: None,
            written: None,
            dir,
            other_dirs: Default::default(),
            root: Default::default(),
            features: 0,
            direct: false,
            deferred: false,
            level: 0,
            windows: true,
        }
    }
}

impl Command {
    /// A command of a shell of Windows with the roles that its reader told.
    pub(crate) fn windows(
        words: Vec<Word>,
        parts: Vec<Part>,
        program: Option<&Program>,
        dir: Dir,
    ) -> Command {
        Command {
            peers: peers(program, &reading_of(&words, &parts), &words),
            touches: touches(program, &reading_of(&words, &parts), &words),
            words,
            parts,
            assignments: Vec::new(),
            redirects: Vec::new(),
            wrappers: Vec::new(),
            pipe: None,
            dir,
            gaps: Vec::new(),
            features: 0,
            sources: Vec::new(),
            code: Vec::new(),
            network: program.is_some_and(|program| program.network || program.operands_are_hosts),
            project_code: program.is_some_and(|program| program.project_code),
            text: String::new(),
            start: 0,
            end: 0,
            windows: true,
            alternative: Default::default(),
        }
    }
}

impl Walker<'_> {
    /// Reads a text that is none of bash and its kin; the answer is one that is.
    pub(crate) fn read_elsewhere(&mut self, task: Task) -> Option<Task> {
        match (task.code, task.dialect) {
            (Some((language, index)), _) => {
                if task.guess
                    && let Some(command) = self.commands.get_mut(index)
                {
                    command.gaps.push(Gap::UnreadCode);
                }
                match language {
                    Language::PowerShell => crate::shell::pwsh::read(self, task),
                    Language::Cmd => crate::shell::cmd::read(self, task),
                    _ => self.foreign(&task, language, index),
                }
            }
            (None, Dialect::PowerShell) => crate::shell::pwsh::read(self, task),
            (None, Dialect::Cmd) => crate::shell::cmd::read(self, task),
            (None, Dialect::Bash | Dialect::Posix | Dialect::Zsh | Dialect::Unknown) => return Some(task),
        }
        None
    }
}

impl Walk<'_, '_, '_> {
    /// What a program of Windows carries on its line.
    pub(super) fn carried(&mut self, call: &Call, name: &str, index: usize) {
        let mut wrappers = call.wrappers.clone();
        wrappers.push(name.to_string());
        let (text, dialect, guess) = match carried(name, &call.words) {
            None => return self.read_as_cmd(call, name),
            Some(Carried::Text { text, dialect, guess, decoded }) => {
                if decoded {
                    self.w.feature(Feature::DecodedCode);
                    if let Some(command) = self.w.commands.get_mut(index) {
                        command.features |= Feature::DecodedCode.bit();
                    }
                }
                (text, dialect, guess)
            }
            Some(Carried::Words(words)) => {
                if words.is_empty() {
                    return;
                }
                let ranges = vec![call.range; words.len()];
                let inner =
                    Call { words, ranges, wrappers, direct: false, level: call.level + 1, ..call.clone() };
                return self.call(inner, &Env::new(call.dir.clone()));
            }
            Some(Carried::Input(dialect)) => match &call.stdin {
                Stdin::Call => return,
                Stdin::Text(text) => (text.clone(), dialect, false),
                Stdin::Guess(text) => (text.clone(), dialect, true),
                Stdin::File(_) | Stdin::Names(_) | Stdin::Unknown => return self.gap(index, Gap::UnreadCode),
            },
            Some(Carried::Unread) => return self.gap(index, Gap::UnreadCode),
        };
        self.w.feature(Feature::Eval);
        let mut gaps = call.gaps.clone();
        if guess {
            self.gap(index, Gap::UnreadCode);
            gaps.push(Gap::UnreadCode);
        }
        let mut ctx = self.context(call, wrappers, gaps, false);
        ctx.stdin = Stdin::Call;
        self.enqueue(text, Env::new(call.dir.clone()), ctx, call, dialect, guess);
    }

    /// `rmdir /S /Q X` of a shell that knows no such flags: it is meant for cmd, so that reading counts too.
    fn read_as_cmd(&mut self, call: &Call, name: &str) {
        let flag = |word: &Word| word.known().is_some_and(crate::shell::carry::is_slash_flag);
        if call.windows || !crate::shell::cmd::is_builtin(name) || !call.words.iter().skip(1).any(flag) {
            return;
        }
        let words: Option<Vec<String>> = call.words.iter().map(crate::shell::carry::as_written).collect();
        let Some(words) = words else { return };
        let ctx = self.context(call, call.wrappers.clone(), call.gaps.clone(), false);
        self.enqueue(words.join(" "), Env::new(call.dir.clone()), ctx, call, Dialect::Cmd, true);
    }
}
