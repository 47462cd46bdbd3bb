//! What the reader knows of programs: option grammar and where inner commands stand. The knowledge is data
//! (`program` blocks); this file is its shape and the reading of options.

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
    Operands { skip: u32 },
    /// The operands after the first `skip`, joined with blanks, are a shell text.
    OperandsText { skip: u32 },
    /// The value of one of these flags is a shell text. For shells `-c` itself takes no value: the text is
    /// the first operand; `OptionStyle::First` with `Inner::FlagText` and no value flag `-c` says that.
    FlagText { flags: Vec<String> },
    /// The value of one of these flags is split into words and put before the other operands (`env -S`).
    FlagWords { flags: Vec<String> },
    /// The words after one of these flags up to `;` or `+` are a command (`find -exec`).
    FlagCommand { flags: Vec<String> },
    /// Without operands, what comes on standard input is a shell text.
    Input,
    /// The words that come on standard input are appended to the inner command (`xargs`).
    InputWords,
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
    /// Flags that take a value only when attached (`-i[SUF]`, `--color[=x]`).
    pub attached_flags: Vec<String>,
    /// Flags with which it runs nothing (`command -v`, `sudo -l`).
    pub inert_flags: Vec<String>,
    /// `NAME=VALUE` operands may stand before the inner command.
    pub assignments: bool,
    /// Inner commands.
    pub inner: Vec<Inner>,
    /// Groups of words that mean the same (`install`, `i`, `add`).
    pub same_words: Vec<Vec<String>>,
    /// It only lists or tests the names it is given (`ls`, `stat`, `test`).
    pub names_only: bool,
    /// It prints only object names (`git merge-base`): the subcommands that do.
    pub prints_names: Vec<String>,
    /// The operands are hosts or URLs it connects to.
    pub operands_are_hosts: bool,
}

/// A source of knowledge of programs. The name is a file name without folders, in lower case or as written.
pub trait Programs {
    /// What is known of `name`, when anything is.
    fn program(&self, name: &str) -> Option<Program>;
}

/// Knows nothing; every program is unknown.
pub struct NoPrograms;

impl Programs for NoPrograms {
    fn program(&self, _name: &str) -> Option<Program> {
        None
    }
}
