//! Languages other than the shell's that programs are given code of.
//!
//! INVARIANT: the names are those that `program` blocks use; a language without a reader is code that nobody reads.

/// A language of code in arguments, input and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Lua.
    Lua,
    /// awk.
    Awk,
    /// sed.
    Sed,
    /// SQL with the commands of its clients.
    Sql,
    /// Redis commands.
    Redis,
    /// The shell of MongoDB.
    Mongo,
    /// Tcl and Expect.
    Tcl,
    /// AppleScript.
    AppleScript,
    /// R.
    R,
    /// Julia.
    Julia,
    /// Commands of vi, vim and ex.
    Vim,
    /// Commands of gdb and lldb.
    Gdb,
    /// Emacs Lisp.
    Elisp,
    /// Groovy.
    Groovy,
    /// jq filters.
    Jq,
    /// PowerShell.
    PowerShell,
    /// The command processor of Windows.
    Cmd,
    /// fish.
    Fish,
    /// csh and tcsh.
    Csh,
    /// Any other.
    Other,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 25] = [
        Language::Python,
        Language::JavaScript,
        Language::Perl,
        Language::Ruby,
        Language::Php,
        Language::Lua,
        Language::Awk,
        Language::Sed,
        Language::Sql,
        Language::Redis,
        Language::Mongo,
        Language::Tcl,
        Language::AppleScript,
        Language::R,
        Language::Julia,
        Language::Vim,
        Language::Gdb,
        Language::Elisp,
        Language::Groovy,
        Language::Jq,
        Language::PowerShell,
        Language::Cmd,
        Language::Fish,
        Language::Csh,
        Language::Other,
    ];
    /// Their names, in the same order.
    pub const NAMES: [&'static str; 25] = [
        "python",
        "javascript",
        "perl",
        "ruby",
        "php",
        "lua",
        "awk",
        "sed",
        "sql",
        "redis",
        "mongo",
        "tcl",
        "applescript",
        "r",
        "julia",
        "vim",
        "gdb",
        "elisp",
        "groovy",
        "jq",
        "powershell",
        "cmd",
        "fish",
        "csh",
        "other",
    ];

    /// The name that `program` blocks use.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().zip(Self::NAMES).find(|(language, _)| **language == self);
        found.map_or("other", |(_, name)| name)
    }

    /// The language with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Language> {
        Self::ALL.iter().zip(Self::NAMES).find(|(_, own)| *own == name).map(|(language, _)| *language)
    }
}
