//! What the reader knows of programs: option grammar and where inner commands stand. The knowledge is data
//! (`program` blocks); this file is its shape.
//!
//! INVARIANT: the default of every field is the careful one; a program without data runs nothing known.

use super::Dialect;
use super::Word;
use super::code::Language;
use super::effects::{Effect, Place};
use std::rc::Rc;

/// How a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OptionStyle {
    /// Options anywhere until `--` (GNU).
    #[default]
    Anywhere,
    /// Options stop at the first operand; right for nearly every wrapper.
    First,
    /// One dash, whole words, no clusters (`find -exec`, `java -jar`).
    SingleDash,
    /// No options at all: every word is an operand.
    None,
}

/// Where a program takes an inner command or a text of one from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inner {
    /// The operands after the first `skip` are a command with arguments.
    Operands {
        /// Operands before it.
        skip: u32,
    },
    /// The operands after the first `skip`, joined with blanks, are a shell text.
    OperandsText {
        /// Operands before it.
        skip: u32,
    },
    /// The operand of this number alone is a shell text (`trap 'TEXT' EXIT`: 0).
    OperandText {
        /// Its number, from 0.
        index: u32,
    },
    /// The words behind the lone `--` are a command with arguments (`kubectl exec POD -- CMD`).
    AfterDashes,
    /// The value of one of these flags is a shell text. For shells `-c` itself takes no value: the text is
    /// the first operand; `OptionStyle::First` with `Inner::FlagText` and no value flag `-c` says that.
    FlagText {
        /// The flags, each with its dashes.
        flags: Vec<String>,
    },
    /// The value of one of these flags is a setting that may hold a shell text (`git -c alias.x='!TEXT'`).
    SettingText {
        /// The flags, each with its dashes.
        flags: Vec<String>,
        /// Beginnings after which the text follows; `*` stands for any run without `=` (`alias.*=!`).
        prefixes: Vec<String>,
    },
    /// The value of one of these flags is split into words and put before the other operands (`env -S`).
    FlagWords {
        /// The flags, each with its dashes.
        flags: Vec<String>,
    },
    /// The words after one of these flags up to `;` or `+` are a command (`find -exec`).
    FlagCommand {
        /// The flags, each with its dashes.
        flags: Vec<String>,
    },
    /// The rest of an operand with one of these beginnings is a shell text (`socat EXEC:TEXT`).
    WordText {
        /// The beginnings; the empty one is every operand.
        prefixes: Vec<String>,
    },
    /// The words after one of these flags are a command, where the first of them is a program that is known
    /// (`python -m pip`).
    FlagModule {
        /// The flags, each with its dashes.
        flags: Vec<String>,
    },
    /// The operands together are code of another language (`redis-cli DEL x`).
    OperandsCode {
        /// The language.
        language: Language,
    },
    /// Without operands (after those that another entry skips), what comes on standard input is a shell text.
    Input,
    /// Without operands, what comes on standard input is code of another language, when that is known.
    InputCode {
        /// The language.
        language: Option<Language>,
    },
    /// The value of one of these flags is code of another language (`python -c`).
    FlagCode {
        /// The flags, each with its dashes.
        flags: Vec<String>,
        /// The language.
        language: Language,
    },
    /// The operand of this number is code of another language (`awk CODE`).
    OperandCode {
        /// Its number, from 0.
        index: u32,
        /// The language.
        language: Language,
        /// With one of these flags it is not.
        unless: Vec<String>,
    },
    /// The file named by the operand of this number is run (`bash x.sh`): a shell text unless there is a language.
    OperandFile {
        /// Its number, from 0.
        index: u32,
        /// The language, when it is no shell text.
        language: Option<Language>,
        /// With one of these flags it is not.
        unless: Vec<String>,
    },
    /// The file named by the value of one of these flags is run.
    FlagFile {
        /// The flags, each with its dashes.
        flags: Vec<String>,
        /// The language, when it is no shell text.
        language: Option<Language>,
    },
    /// The words that come on standard input are appended to the inner command (`xargs`).
    InputWords,
}

/// What a program does when its first operands are certain words (`docker exec`, `git bisect run`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subcommand {
    /// The operands that select it, in order.
    pub words: Vec<String>,
    /// How the words behind them are read; its `names` are not used.
    pub program: Program,
}

/// What is known of one program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// Its names; the first is the one reports use.
    pub names: Vec<String>,
    /// How it reads options.
    pub style: OptionStyle,
    /// Flags that take a value, as the next word or attached.
    pub value_flags: Vec<String>,
    /// Flags that take the next two words (`bwrap --bind A B`).
    pub pair_flags: Vec<String>,
    /// Flags that take a value only when attached (`-i[SUF]`, `--color[=x]`).
    pub attached_flags: Vec<String>,
    /// Flags known to take no value. When there are any, a flag in no list makes the place of an inner command
    /// uncertain; when there are none, every flag outside `value_flags` is taken for one without a value.
    pub flags: Vec<String>,
    /// Flags with which it runs nothing (`command -v`, `sudo -l`).
    pub inert_flags: Vec<String>,
    /// `NAME=VALUE` operands may stand before the inner command.
    pub assignments: bool,
    /// The first word may hold flags without a dash (`tar xzf FILE`).
    pub bundled: bool,
    /// Standard input is read as code although there are operands (`psql DB`, `at now`).
    pub input_always: bool,
    /// Options may also follow the operands that are skipped (`ssh HOST -p 22 CMD`, `flock FILE -c TEXT`).
    pub late_options: bool,
    /// Inner commands.
    pub inner: Vec<Inner>,
    /// Subcommands with a reading of their own; the one with the most words counts.
    pub subcommands: Vec<Subcommand>,
    /// Flags with which standard input is read as code although there are operands (`bash -s`).
    pub input_flags: Vec<String>,
    /// Words inside the inner command that are replaced by something not known (`{}` of `find`).
    pub placeholders: Vec<String>,
    /// Flags whose value is such a placeholder; with one, nothing is appended (`xargs -I`).
    pub placeholder_flags: Vec<String>,
    /// The inner command ends before one of these words (`:::` of `parallel`).
    pub end_words: Vec<String>,
    /// Flags whose value is the folder it works in (`git -C`, `env -C`).
    pub dir_flags: Vec<String>,
    /// The shell that reads the inner texts; none means that it is not known.
    pub dialect: Option<Dialect>,
    /// Groups of words that mean the same (`install`, `i`, `add`).
    pub same_words: Vec<Vec<String>>,
    /// It only lists or tests the names it is given (`ls`, `stat`, `test`).
    pub names_only: bool,
    /// It prints only object names (`git merge-base`): the subcommands that do.
    pub prints_names: Vec<String>,
    /// The operands are hosts or URLs it connects to.
    pub operands_are_hosts: bool,
    /// Further words that are hosts or URLs it connects to.
    pub hosts: Vec<Place>,
    /// Operands of the form `HOST:PATH` are on other machines.
    pub remote_operands: bool,
    /// What it does with the files that it names.
    pub effects: Vec<Effect>,
    /// It takes whole trees below what it names: with one of these flags, or always when the list is empty.
    pub trees: Option<Vec<String>>,
    /// It sends and fetches over the network.
    pub network: bool,
    /// It runs code that the project holds.
    pub project_code: bool,
}

/// A source of knowledge of programs. The name is a file name without folders, in lower case or as written.
pub trait Programs {
    /// What is known of `name`, when anything is.
    fn program(&self, name: &str) -> Option<Program>;

    /// The same for a command with these words, without a copy where the source keeps what it knows. The blocks of `git`
    /// and `docker` are large: subcommands that none of the words selects may be left out.
    fn shared(&self, name: &str, _words: &[Word]) -> Option<Rc<Program>> {
        self.program(name).map(Rc::new)
    }

    /// Whether anything is known of `name`.
    fn knows(&self, name: &str) -> bool {
        self.program(name).is_some()
    }
}

/// Knows nothing; every program is unknown.
pub struct NoPrograms;

impl Programs for NoPrograms {
    fn program(&self, _name: &str) -> Option<Program> {
        None
    }
}
