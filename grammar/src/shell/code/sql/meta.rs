//! Commands of the clients: those of `sqlite3` behind a dot, of `psql` and `mysql` behind a backslash or bare.
//!
//! INVARIANT: a command that is not known to be harmless is listed or makes the text incomplete.

use super::super::Inside;
use super::super::text::hole;
use super::{Sql, known};
use crate::shell::Word;

fn unquoted(text: &str) -> &str {
    let text = text.trim().trim_end_matches(';').trim();
    let inner = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
    inner.or_else(|| text.strip_prefix('"').and_then(|t| t.strip_suffix('"'))).unwrap_or(text)
}

impl Sql {
    /// `.command ARGS`.
    pub(super) fn dot(&mut self, line: &str) {
        let line = line.trim().trim_start_matches('.');
        let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let args = args.trim();
        // Names may be cut short.
        let is = |full: &str, least: usize| name.len() >= least && full.starts_with(name);
        if is("shell", 2) || is("system", 2) {
            self.shell(args);
        } else if is("output", 1)
            || is("once", 2)
            || is("excel", 3)
            || is("log", 3)
            || is("backup", 1)
            || is("save", 2)
            || is("dump", 9)
            || is("clone", 3)
        {
            self.target(args.split_whitespace().last().unwrap_or_default(), args);
        } else if is("read", 3) || is("import", 2) || is("restore", 3) || is("archive", 2) {
            let name = args.split_whitespace().find(|word| !word.starts_with('-')).unwrap_or_default();
            match unquoted(args).strip_prefix('|') {
                Some(command) => self.shell(command),
                None => self.found.inside.push(Inside::Reads(known(unquoted(name)))),
            }
            self.unclear();
        } else {
            let harmless = [
                "tables",
                "schema",
                "mode",
                "headers",
                "header",
                "databases",
                "indexes",
                "indices",
                "help",
                "quit",
                "exit",
                "width",
                "nullvalue",
                "separator",
                "timer",
                "show",
                "dump",
                "fullschema",
                "print",
                "echo",
                "bail",
                "changes",
                "stats",
                "version",
                "explain",
                "eqp",
            ];
            self.found.complete &= harmless.contains(&name);
        }
    }

    fn target(&mut self, file: &str, args: &str) {
        match unquoted(args).strip_prefix('|') {
            Some(command) => self.shell(command),
            None if matches!(file, "" | "stdout" | "on" | "off") => {}
            None => self.found.inside.push(Inside::Writes(known(unquoted(file)))),
        }
    }

    /// `\command ARGS`.
    pub(super) fn backslash(&mut self, line: &str) {
        let line = line.trim_start_matches('\\');
        if let Some(command) = line.strip_prefix('!') {
            return self.shell(command);
        }
        let end = line
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(line.len())
            .max(usize::from(line.starts_with('.')));
        let (name, args) = line.split_at_checked(end).unwrap_or((line, ""));
        let args = args.trim();
        match name.trim_end_matches('+') {
            "o" | "out" | "w" | "write" | "g" | "gx" | "s" | "T" | "tee" => self.target(args, args),
            "P" | "pager" | "system" => self.shell(args),
            "i" | "ir" | "include" | "include_relative" | "." | "source" => {
                self.unclear();
                self.found.inside.push(Inside::Reads(known(unquoted(args))));
            }
            "copy" => self.copy_line(args),
            "d" | "dt" | "dn" | "du" | "di" | "dv" | "df" | "l" | "list" | "x" | "timing" | "q"
            | "conninfo" | "c" | "connect" | "echo" | "a" | "t" | "pset" | "h" | "encoding" | "G" | "z"
            | "dp" | "sf" | "dx" | "ds" | "dS" | "u" | "n" | "errverbose" | "if" | "else" | "elif"
            | "endif" | "warn" | "qecho" => {}
            _ => self.unclear(),
        }
    }

    /// `\copy t to 'FILE'`, `... program 'CMD'`.
    fn copy_line(&mut self, args: &str) {
        let lower = args.to_ascii_lowercase();
        self.unclear();
        if let Some(at) = lower.find(" program ") {
            return self.shell(unquoted(
                args.get(at + 9..).unwrap_or_default().split("' ").next().unwrap_or_default(),
            ));
        }
        for (word, writes) in [(" to ", true), (" from ", false)] {
            let Some(at) = lower.rfind(word) else { continue };
            let file = args.get(at + word.len()..).unwrap_or_default().trim();
            let file = file.split(['\'', ' ']).find(|piece| !piece.is_empty()).unwrap_or_default();
            if !matches!(file.to_ascii_lowercase().as_str(), "stdout" | "stdin" | "pstdout" | "pstdin") {
                let word = if file.is_empty() { hole() } else { Word::Known(file.to_string()) };
                self.found.inside.push(if writes { Inside::Writes(word) } else { Inside::Reads(word) });
            }
            return;
        }
    }

    /// Bare commands of `mysql` that end with their line; whether this is one.
    pub(super) fn client(&mut self, word: &str, line: &str) -> bool {
        let args = line.get(word.len()..).unwrap_or_default().trim();
        match word {
            "system" if !args.is_empty() => self.shell(args.trim_end_matches(';')),
            "source" if !args.is_empty() => {
                self.unclear();
                self.found.inside.push(Inside::Reads(known(unquoted(args))));
            }
            "tee" if !args.is_empty() => self.target(args, args),
            "pager" if !args.is_empty() => self.shell(args),
            "delimiter" => self.unclear(),
            _ => return false,
        }
        true
    }
}
