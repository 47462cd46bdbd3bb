//! Shell commands: text to a tree, the tree to the list of commands that would run.
//!
//! INVARIANT: the answer is `commands` + `complete`. Whatever is not understood sets `complete: false` with a
//! problem that names the place; it is never dropped, and a caller never allows on an incomplete answer.

mod arith;
mod ast;
mod builtin;
mod carry;
mod cmd;
pub mod code;
pub mod effects;
mod env;
mod expand;
mod flow;
mod inner;
pub mod options;
pub mod outline;
mod output;
mod param;
mod parse;
pub mod program;
mod pwsh;
mod quote;
mod read;
pub mod secret;
mod simple;
mod taint;
mod walk;

#[cfg(test)]
mod tests;

use program::Programs;

/// The shell that reads a text. `Unknown` means the union of the readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// GNU bash.
    Bash,
    /// POSIX sh as dash reads it.
    Posix,
    /// Not known: the stricter of the readings counts.
    Unknown,
    /// zsh.
    Zsh,
    /// PowerShell.
    PowerShell,
    /// The command processor of Windows.
    Cmd,
}

/// One piece of a word that is not wholly static.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Literal text, after quote removal.
    Text(String),
    /// An unquoted tilde prefix (`~`, `~user`) at the start of a word; a quoted tilde is plain text.
    Tilde(String),
    /// What a program prints that prints only names of objects (`git merge-base`): it is one word with what is
    /// around it, and neither a flag nor a path.
    Name,
    /// The folder in which the command runs (`$PWD`, `$(pwd)`), as an absolute path.
    Folder,
    /// The path of a descriptor (`<(...)`).
    Descriptor,
    /// A value that is not known. `quoted` means that it stays inside one word.
    Hole {
        /// Inside double quotes: it never becomes several words.
        quoted: bool,
    },
    /// The value of a variable that is not known, or what a search found below the text before it.
    Value {
        /// The variable; empty for what a search found.
        name: String,
        /// Inside double quotes: it never becomes several words.
        quoted: bool,
        /// What it is when nothing outside the text sets the variable: empty, or the default that stands there. `None`
        /// when the text sets it (see [`Word::when_unset`]).
        unset: Option<String>,
    },
    /// An unquoted file-name pattern beside something that is not known; literal glob characters are escaped.
    Pattern(String),
}

/// One word of a command as a static reader can know it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Word {
    /// Exactly this text, quotes removed.
    Known(String),
    /// Exactly one of these texts (2 to 16 of them).
    OneOf(Vec<String>),
    /// A known text that began with an unquoted tilde (`~`, `~/x`, `~user/x`), as written with the tilde. A
    /// quoted tilde is [`Word::Known`] and names a file called `~`.
    Tilde(String),
    /// A file-name pattern. Literal glob characters (and a quoted leading tilde) are escaped with a backslash.
    Glob(String),
    /// Not known. Without an unquoted hole it is one word; else zero to many, and any may begin with `-`.
    Unknown(Vec<Piece>),
}

impl Word {
    /// The text when it is known exactly.
    pub fn known(&self) -> Option<&str> {
        match self {
            Word::Known(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this word may stand for zero or several words.
    pub fn may_split(&self) -> bool {
        match self {
            Word::Known(_) | Word::Tilde(_) | Word::OneOf(_) => false,
            Word::Glob(_) => true,
            Word::Unknown(pieces) => pieces.iter().any(|p| {
                matches!(
                    p,
                    Piece::Hole { quoted: false } | Piece::Value { quoted: false, .. } | Piece::Pattern(_)
                )
            }),
        }
    }

    /// The word as a path: the folder of the command is `.`, a descriptor is a path that is no file.
    fn as_path(&self) -> Option<Word> {
        let Word::Unknown(pieces) = self else { return None };
        let rest = match pieces.as_slice() {
            [Piece::Descriptor] => return Some(Word::Known("/dev/fd/63".into())),
            [Piece::Folder, rest @ ..] => rest,
            _ => return None,
        };
        let (mut text, mut pattern, mut glob) = (".".to_string(), ".".to_string(), false);
        for piece in rest {
            match piece {
                Piece::Text(part) => {
                    text.push_str(part);
                    expand::escape_pattern(part, false, &mut pattern);
                }
                Piece::Pattern(part) => {
                    glob = true;
                    pattern.push_str(part);
                }
                _ => return None,
            }
        }
        let whole = text.len() == 1 && pattern.len() == 1 || pattern.starts_with("./");
        match whole {
            true if glob => Some(Word::Glob(pattern)),
            true => Some(Word::Known(text)),
            false => None,
        }
    }

    /// The word for a command that runs in another folder than the one in which the word was expanded.
    pub(crate) fn moved(&mut self) {
        if let Word::Unknown(pieces) = self {
            for piece in pieces.iter_mut().filter(|piece| **piece == Piece::Folder) {
                *piece = Piece::Hole { quoted: true };
            }
        }
    }

    /// The reading in which no variable is set from outside: `$PREFIX/bin` is `/bin` then. `None` when there is no such
    /// variable, when something else is not known either, or when nothing would be left.
    pub fn when_unset(&self) -> Option<Word> {
        let Word::Unknown(pieces) = self else { return None };
        if !pieces.iter().any(|piece| matches!(piece, Piece::Value { unset: Some(_), .. })) {
            return None;
        }
        let glob = pieces.iter().any(|piece| matches!(piece, Piece::Pattern(_)));
        let (mut text, mut tilde) = (String::new(), false);
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Text(piece) | Piece::Value { unset: Some(piece), .. } if glob => {
                    expand::escape_pattern(piece, at == 0, &mut text);
                }
                Piece::Text(piece) | Piece::Pattern(piece) | Piece::Value { unset: Some(piece), .. } => {
                    text.push_str(piece);
                }
                Piece::Tilde(piece) if at == 0 => {
                    tilde = true;
                    text.push_str(piece);
                }
                Piece::Tilde(_)
                | Piece::Name
                | Piece::Folder
                | Piece::Descriptor
                | Piece::Hole { .. }
                | Piece::Value { .. } => return None,
            }
        }
        match text.is_empty() {
            true => None,
            false if glob => Some(Word::Glob(text)),
            false if tilde => Some(Word::Tilde(text)),
            false => Some(Word::Known(text)),
        }
    }
}

/// What a word is to its program, by the program's option grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The program name.
    Program,
    /// A flag word. `name` with its dashes; `value` when attached (`--a=b`, `-ob`). A cluster `-abc` is one
    /// part with several names.
    Flag {
        /// The flags in it, each with its dashes.
        names: Vec<String>,
        /// The attached value of the last one.
        value: Option<Word>,
    },
    /// The value of the flag before it.
    FlagValue {
        /// That flag, with its dashes.
        flag: String,
    },
    /// Anything else. `after_dashes` when it stands behind `--`.
    Operand {
        /// It stands behind `--`, so it is no flag whatever it looks like.
        after_dashes: bool,
    },
    /// The lone `--`.
    Dashes,
    /// A word whose role is not known (an unknown word before any `--`, the word after an unknown flag).
    Unclear,
}

/// `NAME=VALUE` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Word,
}

/// One redirection, of the command itself or of a compound around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Descriptor before the operator, empty when the operator's own (`2` in `2>`).
    pub fd: String,
    /// `>`, `>>`, `<`, `<>`, `>&`, `<&`, `&>`, `&>>`, `>|`, `<<`, `<<-`, `<<<`.
    pub op: String,
    /// Target word; for a here-document the body when it is static.
    pub target: Word,
}

/// Where a command stands in a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipePlace {
    /// Number of the pipeline within the analysis.
    pub pipeline: u32,
    /// Stage from 0.
    pub stage: u32,
    /// How many stages the pipeline has.
    pub stages: u32,
}

/// The folder in which a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dir {
    /// The folder of the call.
    Call,
    /// This word, relative to the folder of the call unless absolute or with `~`.
    Changed(String),
    /// A `cd` went somewhere that is not known.
    Unknown,
}

/// Why something about a command is not known. A command with a gap is never allowed by a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// The program name is not static. Its word may still be known: `g${x}it` is read as `git`, with this gap.
    UnknownProgram,
    /// The name is shadowed by a function or an alias in the same text.
    Shadowed,
    /// A variable that changes what runs stands before it or was exported (`PATH`, `LD_PRELOAD`).
    Environment,
    /// Code comes from a source nobody can read (a pipe or file into an interpreter).
    UnreadCode,
    /// Code of another language that stands there and is not wholly understood.
    PartlyRead,
    /// The place of the inner command is uncertain (an unknown flag of a wrapper).
    UncertainWrapper,
    /// The text inside could not be parsed.
    Unparsed,
}

/// A construct of the shell that a `shell` line can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Feature {
    /// `$(...)`, backticks, `${ ...; }`.
    Substitution,
    /// `<(...)`, `>(...)`.
    ProcessSubstitution,
    /// `eval`, or a text re-read by a shell.
    Eval,
    /// `<<WORD`.
    HereDocument,
    /// `<<<`.
    HereString,
    /// `>`, `<` and their kin with a file.
    Redirect,
    /// `|`.
    Pipe,
    /// `;`, `&&`, `||`, newline: more than one command.
    Chain,
    /// `&`.
    Background,
    /// `( ... )`.
    Subshell,
    /// A function definition.
    Function,
    /// `for`, `while`, `until`, `select`.
    Loop,
    /// `if`, `case`.
    Branch,
    /// An expanded variable or parameter.
    Variable,
    /// A file-name pattern.
    Glob,
    /// Code that came over the network is run, by a pipe, a file, a variable or a substitution.
    FetchedCode,
    /// Code that a program decodes is run, and what it decodes to is not known.
    DecodedCode,
    /// A redirection that writes a file.
    FileOutput,
    /// A function that calls itself more than once at a time.
    ForkBomb,
    /// A variable that is named like a secret is expanded.
    SecretVariable,
}

impl Feature {
    /// Every feature with the word that a policy uses for it.
    pub const ALL: [(Feature, &'static str); 20] = [
        (Feature::Substitution, "substitution"),
        (Feature::ProcessSubstitution, "process-substitution"),
        (Feature::Eval, "eval"),
        (Feature::HereDocument, "here-document"),
        (Feature::HereString, "here-string"),
        (Feature::Redirect, "redirect"),
        (Feature::Pipe, "pipe"),
        (Feature::Chain, "chain"),
        (Feature::Background, "background"),
        (Feature::Subshell, "subshell"),
        (Feature::Function, "function"),
        (Feature::Loop, "loop"),
        (Feature::Branch, "branch"),
        (Feature::Variable, "variable"),
        (Feature::Glob, "glob"),
        (Feature::FetchedCode, "fetched-code"),
        (Feature::DecodedCode, "decoded-code"),
        (Feature::FileOutput, "file-output"),
        (Feature::ForkBomb, "fork-bomb"),
        (Feature::SecretVariable, "secret-variable"),
    ];

    /// The bit of this feature in a mask.
    pub const fn bit(self) -> u32 {
        1 << (self as u8)
    }
}

/// One command that would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The words, program first. Empty when there are only assignments or redirections.
    pub words: Vec<Word>,
    /// The role of each word; same length as `words`.
    pub parts: Vec<Part>,
    /// What it does with the file that each word names; same length as `words`.
    pub touches: Vec<effects::Touch>,
    /// The hosts that it names, by its program's data.
    pub peers: Vec<effects::Peer>,
    /// Its program sends and fetches over the network.
    pub network: bool,
    /// Its program runs code that the project holds.
    pub project_code: bool,
    /// Assignments before it.
    pub assignments: Vec<Assignment>,
    /// Redirections, those of surrounding compounds included.
    pub redirects: Vec<Redirect>,
    /// Programs around it, outermost first (`sudo`, `env`, `xargs`, `sh`); each is also listed as a command.
    pub wrappers: Vec<String>,
    /// Its place in a pipe, when it is in one.
    pub pipe: Option<PipePlace>,
    /// The folder it runs in.
    pub dir: Dir,
    /// A second reading of a command that is listed before: in the folder where an earlier `cd` failed, or with the
    /// variables empty that nothing in the text sets. The stricter reading counts.
    pub alternative: bool,
    /// What is not known about it.
    pub gaps: Vec<Gap>,
    /// Mask of [`Feature`] bits of this command alone.
    pub features: u32,
    /// The commands whose output may reach it (indices into [`Analysis::commands`], the nearest first, at most
    /// 256): by a pipe, a substitution, a variable, a file, a function.
    pub sources: Vec<u32>,
    /// Those whose output it runs as code.
    pub code: Vec<u32>,
    /// Its own source text (of the innermost text that was parsed).
    pub text: String,
    /// Byte range in the outermost text (of the construct that holds it, for nested texts).
    pub start: u32,
    /// End of that range.
    pub end: u32,
    /// A shell of Windows reads it: `\` parts the names of a path, and a path may begin with a drive.
    pub windows: bool,
}

/// What a reader could not do with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// One lower-case sentence without a final period.
    pub message: String,
    /// Line in the outermost text, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Command {
    /// Puts a path where a word is the folder of the command or a descriptor.
    pub fn name_places(&mut self) {
        let place = |word: &mut Word| {
            if let Some(path) = word.as_path() {
                *word = path;
            }
        };
        self.words.iter_mut().for_each(place);
        self.redirects.iter_mut().for_each(|redirect| place(&mut redirect.target));
        for part in &mut self.parts {
            if let Part::Flag { value: Some(value), .. } = part {
                place(value);
            }
        }
    }
}

/// Everything a static reader knows of one command text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Analysis {
    /// Every command that may run, each once.
    pub commands: Vec<Command>,
    /// Every part of the text was understood.
    pub complete: bool,
    /// What was not understood; non-empty exactly when `complete` is false.
    pub problems: Vec<Problem>,
    /// Mask of [`Feature`] bits of the whole text.
    pub features: u32,
}

/// Largest command text that is read, in bytes; a longer one is not understood.
pub const MAX_COMMAND_BYTES: usize = 64 * 1024;
/// Opening bytes (`"`, `(`, `{`, `[`, `$(` and its kin twice, keywords twice) accepted in a text, counted regardless
/// of quoting.
pub const MAX_OPENERS: usize = 8192;
/// Depth to which texts inside texts (`sh -c`, `eval`, backticks) are read.
pub const MAX_NESTING: usize = 16;

/// Reads a command text. Never fails: what is not understood is in `problems`.
pub fn analyze(text: &str, dialect: Dialect, programs: &dyn Programs) -> Analysis {
    let mut walker = walk::Walker::new(programs);
    let mut text = std::borrow::Cow::Borrowed(text);
    if text.contains("\r\n") {
        // A shell keeps the carriage return as part of the last word. Both readings are unsafe to grant.
        if !matches!(dialect, Dialect::PowerShell | Dialect::Cmd) {
            walker.problem(0, "the command has carriage returns");
        }
        text = std::borrow::Cow::Owned(text.replace("\r\n", "\n"));
    }
    let ctx = walk::Ctx {
        redirects: Vec::new(),
        wrappers: Vec::new(),
        gaps: Vec::new(),
        pipe: None,
        stdin: walk::Stdin::Call,
        from: None,
        to: None,
        deferred: false,
    };
    let mut env = env::Env::new(Dir::Call);
    env.outermost = true;
    let task = walk::Task {
        text: text.to_string(),
        env,
        ctx,
        place: None,
        depth: 0,
        dialect,
        guess: false,
        code: None,
    };
    walker.enqueue(task);
    let mut analysis = walker.run(&text);
    secret::mark(&mut analysis);
    analysis
}
