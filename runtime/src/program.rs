//! What a table knows of programs: a mirror of the shell reader's own type, so that the runtime needs no parser.
//!
//! INVARIANT: the default of every field is the careful one; the fields and their order are those of the section
//! `Programs`.

/// How a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OptionStyle {
    /// Options anywhere until `--`.
    #[default]
    Anywhere,
    /// Options stop at the first operand.
    First,
    /// One dash, whole words, no clusters.
    SingleDash,
    /// Every word is an operand.
    None,
}

/// The shell that reads inner texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// GNU bash.
    Bash,
    /// POSIX sh as dash reads it.
    Posix,
    /// Not known.
    Unknown,
    /// zsh.
    Zsh,
    /// PowerShell.
    PowerShell,
    /// The command processor of Windows.
    Cmd,
}

/// Where a program takes an inner command or a text of one from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inner {
    /// The operands after the first `skip` are a command.
    Operands {
        /// Operands before it.
        skip: u32,
    },
    /// The operands after the first `skip`, joined, are a shell text.
    OperandsText {
        /// Operands before it.
        skip: u32,
    },
    /// The operand of this number is a shell text.
    OperandText {
        /// Its number, from 0.
        index: u32,
    },
    /// The words behind `--` are a command.
    AfterDashes,
    /// The value of one of these flags is a shell text.
    FlagText {
        /// The flags.
        flags: Vec<String>,
    },
    /// The value of one of these flags is a setting that may hold a shell text.
    SettingText {
        /// The flags.
        flags: Vec<String>,
        /// Beginnings after which the text follows.
        prefixes: Vec<String>,
    },
    /// The value of one of these flags is split into words.
    FlagWords {
        /// The flags.
        flags: Vec<String>,
    },
    /// The words after one of these flags are a command.
    FlagCommand {
        /// The flags.
        flags: Vec<String>,
    },
    /// Standard input is a shell text.
    Input,
    /// Standard input is code of another language.
    InputCode {
        /// Its number from 1, 0 when it is not known.
        language: u32,
    },
    /// The value of one of these flags is code.
    FlagCode {
        /// The flags.
        flags: Vec<String>,
        /// Its number from 1.
        language: u32,
    },
    /// The operand of this number is code.
    OperandCode {
        /// Its number, from 0.
        index: u32,
        /// The language's number from 1.
        language: u32,
        /// With one of these flags it is not.
        unless: Vec<String>,
    },
    /// The file named by the operand of this number is run.
    OperandFile {
        /// Its number, from 0.
        index: u32,
        /// The language's number from 1, 0 for a shell text.
        language: u32,
        /// With one of these flags it is not.
        unless: Vec<String>,
    },
    /// The file named by the value of one of these flags is run.
    FlagFile {
        /// The flags.
        flags: Vec<String>,
        /// The language's number from 1, 0 for a shell text.
        language: u32,
    },
    /// The rest of an operand with one of these beginnings is a shell text.
    WordText {
        /// The beginnings.
        prefixes: Vec<String>,
    },
    /// The words after one of these flags are a command when their program is known.
    FlagModule {
        /// The flags.
        flags: Vec<String>,
    },
    /// The operands together are code.
    OperandsCode {
        /// The language's number from 1.
        language: u32,
    },
    /// The words on standard input are appended to the inner command.
    InputWords,
}

/// What a program does when its first operands are certain words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subcommand {
    /// The operands that select it.
    pub words: Vec<String>,
    /// How the words behind them are read.
    pub program: Program,
}

/// Which words an effect is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The operands after the first `skip`.
    Operands {
        /// Operands before them.
        skip: u32,
    },
    /// The operand of this number, from 0.
    Operand {
        /// Its number.
        index: u32,
    },
    /// The last operand.
    Last,
    /// All operands but the last.
    ButLast,
    /// The values of these flags.
    Flags(Vec<String>),
    /// Words that begin so.
    Beginnings(Vec<String>),
}

/// One effect of a program on the files that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The verb's number.
    pub verb: u32,
    /// With which words.
    pub place: Place,
    /// Only with one of these flags, when there are any.
    pub with: Vec<String>,
    /// Not with one of these.
    pub unless: Vec<String>,
}

/// What is known of one program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// Its names, the one of reports first.
    pub names: Vec<String>,
    /// How it reads options.
    pub style: OptionStyle,
    /// Flags that take a value.
    pub value_flags: Vec<String>,
    /// Flags that take the next two words.
    pub pair_flags: Vec<String>,
    /// Flags that take a value only when attached.
    pub attached_flags: Vec<String>,
    /// Flags known to take no value.
    pub flags: Vec<String>,
    /// Flags with which it runs nothing.
    pub inert_flags: Vec<String>,
    /// `NAME=VALUE` operands may stand before the inner command.
    pub assignments: bool,
    /// Options may also follow the operands that are skipped.
    pub late_options: bool,
    /// The first word may hold flags without a dash.
    pub bundled: bool,
    /// Standard input is read although there are operands.
    pub input_always: bool,
    /// Inner commands.
    pub inner: Vec<Inner>,
    /// Subcommands with a reading of their own.
    pub subcommands: Vec<Subcommand>,
    /// Flags with which standard input is read as code although there are operands.
    pub input_flags: Vec<String>,
    /// Words inside the inner command that are replaced by something not known.
    pub placeholders: Vec<String>,
    /// Flags whose value is such a placeholder.
    pub placeholder_flags: Vec<String>,
    /// The inner command ends before one of these words.
    pub end_words: Vec<String>,
    /// Flags whose value is the folder it works in.
    pub dir_flags: Vec<String>,
    /// The shell that reads the inner texts.
    pub dialect: Option<Dialect>,
    /// Groups of words that mean the same.
    pub same_words: Vec<Vec<String>>,
    /// It only lists or tests the names it is given.
    pub names_only: bool,
    /// The subcommands that print only object names.
    pub prints_names: Vec<String>,
    /// The operands are hosts or URLs it connects to.
    pub operands_are_hosts: bool,
    /// Operands of the form `HOST:PATH` are on other machines.
    pub remote_operands: bool,
    /// Further words that are hosts or URLs.
    pub hosts: Vec<Place>,
    /// What it does with the files that it names.
    pub effects: Vec<Effect>,
    /// It takes whole trees: with one of these flags, or always when the list is empty.
    pub trees: Option<Vec<String>>,
    /// It sends and fetches over the network.
    pub network: bool,
    /// It runs code that the project holds.
    pub project_code: bool,
}
