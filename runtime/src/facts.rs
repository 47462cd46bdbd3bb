//! What one call touches, as a policy sees it: the only input of a decision.
//!
//! INVARIANT: facts are plain data. They are made elsewhere (JSON, shell text and disk are not known here), and
//! whatever could not be understood is an [`Opaque`] or an unknown [`Word`], never left out.

/// The facts of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Every way the name splits into server and tool, lower case; a host's own tool has an empty server.
    /// All readings are decided and the strictest holds.
    pub readings: Vec<ToolName>,
    /// The event in snake case (`pre_tool_use`).
    pub event: String,
    /// Who calls: host name, subagent type, `--as` label; lower case.
    pub labels: Vec<String>,
    /// The call's own folder, for blocks with `for` or inside `project` when a value has no path of its own.
    pub dir: PathName,
    /// Paths, those inside commands included.
    pub paths: Vec<PathFact>,
    /// Hosts, those inside commands included.
    pub domains: Vec<DomainFact>,
    /// Commands that would run.
    pub commands: Vec<CommandFact>,
    /// Texts that were read as commands.
    pub scripts: Vec<ScriptFact>,
    /// Scalar arguments by dotted name; array elements repeat the name.
    pub args: Vec<ArgFact>,
    /// Texts that the call brings; only made for tables that look at texts.
    pub texts: Vec<TextFact>,
    /// Values that could not be understood. Any of them keeps the call from being allowed.
    pub opaque: Vec<Opaque>,
}

/// One reading of a tool's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolName {
    /// The MCP server, empty for the host's own tools.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The server is the one this process wraps, so its tools are also the host's own (a rule whose `on` has no
    /// `from` looks at them). Says nothing without a server.
    pub own: bool,
}

/// One name of a file: all spellings under the anchors that hold for it, normalized and with `/`.
///
/// A file below the project has `./x` (the project itself is `.`), one below home `~/x`, and every absolute one
/// `/x` or `C:/x`. A glob keeps its glob characters, a hole is the byte `0x01`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PathName {
    /// The spellings; empty when nothing is known.
    pub views: Vec<String>,
}

/// How well a value is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// Exactly this.
    #[default]
    Exact,
    /// One of the names that the glob in the views stands for.
    Glob,
    /// Text with holes (byte `0x01`) that may hold anything.
    Holes,
}

/// Where a value was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// In an argument, by dotted name.
    #[default]
    Call,
    /// In the named argument.
    Arg(String),
    /// Inside the command with this index.
    Command(u32),
}

/// What is done with a path: a mask of what is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access(u16);

impl Access {
    /// The word is no file, as far as its program is concerned.
    pub const DATA: Access = Access(1);
    /// Only its name is listed or tested.
    pub const NAME: Access = Access(1 << 1);
    /// Read.
    pub const READ: Access = Access(1 << 2);
    /// Written, created, changed or linked to.
    pub const WRITE: Access = Access(1 << 3);
    /// Deleted or moved away.
    pub const DELETE: Access = Access(1 << 4);
    /// Run.
    pub const RUN: Access = Access(1 << 5);
    /// Its content is sent away.
    pub const SEND: Access = Access(1 << 6);
    /// So is everything below it.
    pub const TREE: Access = Access(1 << 7);
    /// Anything may be done with it.
    pub const UNSURE: Access = Access(1 << 8);
    /// It is code of another language, and what that does is listed on its own.
    pub const CODE: Access = Access(1 << 14);
    /// How far above the bit of what is done the bit of what may be done stands.
    const MAY: u16 = 7;

    /// The mask with these bits.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Access {
        Access(bits & 0x7FFF)
    }

    /// Both.
    #[must_use]
    pub const fn and(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }

    /// Whether any of these is done.
    #[must_use]
    pub const fn any(self, of: Access) -> bool {
        self.0 & of.0 != 0
    }

    /// Whether any of these may be done, as far as is known.
    #[must_use]
    pub const fn may(self, of: Access) -> bool {
        let done = Self::READ.0 | Self::WRITE.0 | Self::DELETE.0 | Self::RUN.0 | Self::SEND.0;
        self.any(Self::UNSURE) || self.0 & (of.0 & done) << Self::MAY != 0
    }

    /// Whether nothing is done with the file itself.
    #[must_use]
    pub const fn is_name_only(self) -> bool {
        self.0 != 0 && self.0 & !(Self::DATA.0 | Self::NAME.0 | Self::TREE.0 | Self::CODE.0) == 0
    }

    /// Whether it is only read, or only its name is looked at.
    #[must_use]
    pub const fn only_reads(self) -> bool {
        self.0 != 0 && self.0 & !(Self::DATA.0 | Self::NAME.0 | Self::READ.0 | Self::TREE.0) == 0
    }
}

/// One path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathFact {
    /// As it was written in the call.
    pub written: String,
    /// The lexical name first, then the resolved one when it differs. Each is judged; the strictest holds.
    pub names: Vec<PathName>,
    /// How well it is known.
    pub form: Form,
    /// What is done with it.
    pub access: Access,
    /// Where it was found.
    pub origin: Origin,
}

/// One host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainFact {
    /// Lower case, without port and user.
    pub host: String,
    /// How well it is known (`Holes` when part of it is not static).
    pub form: Form,
    /// Where it was found.
    pub origin: Origin,
}

/// What a text of a call is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextRole {
    /// The content of a file, as it will be or now is.
    #[default]
    File,
    /// A command.
    Command,
    /// What a person told the agent.
    Prompt,
    /// What a tool gave back.
    Output,
    /// What a subagent wrote down of what it did.
    Transcript,
    /// Any other argument of a call.
    Argument,
}

/// One text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextFact {
    /// What it is.
    pub role: TextRole,
    /// Index of its file in [`Facts::paths`].
    pub path: Option<u32>,
    /// The whole text before the call; none when there was none.
    pub before: Option<String>,
    /// The text as the call makes it, whole as far as that is known.
    pub after: String,
    /// The parts of `after` that the call brings, in bytes, in order, each whole lines.
    pub added: Vec<std::ops::Range<usize>>,
    /// Why not all of it is known, one sentence; empty when it is.
    pub gap: String,
}

/// One scalar argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgFact {
    /// Dotted name.
    pub name: String,
    /// Text of the scalar (`true`, `12`, `text`).
    pub value: String,
}

/// A text that was read as a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptFact {
    /// The whole text.
    pub text: String,
    /// Every part of it was understood.
    pub complete: bool,
    /// Why not, when not.
    pub problem: String,
    /// Mask of shell features in the whole text.
    pub features: u32,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Word {
    /// Exactly this text.
    Known(String),
    /// One of these texts.
    OneOf(Vec<String>),
    /// A file-name pattern; literal glob characters are escaped with a backslash.
    Glob(String),
    /// Text with holes (byte `0x01`). `splits` when it may be zero or several words, any beginning with `-`.
    Unknown {
        /// What is known of it.
        text: String,
        /// It may be several words, or none.
        splits: bool,
    },
}

/// What a word is to its program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Part {
    /// The program.
    Program,
    /// A flag word: the flags in it (a cluster holds several), and whether a value is attached.
    Flag {
        /// Each with its dashes.
        names: Vec<String>,
        /// Attached to the last one.
        value: Option<String>,
    },
    /// The value of the flag before it.
    FlagValue {
        /// That flag, with its dashes.
        flag: String,
    },
    /// Anything else.
    #[default]
    Operand,
    /// The lone `--`.
    Dashes,
    /// Its role is not known.
    Unclear,
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The operator with its descriptor (`2>`, `>>`, `<`).
    pub op: String,
    /// It names a file (not a descriptor copy, here-document or `/dev/null`).
    pub file: bool,
    /// It may write.
    pub writes: bool,
    /// Index of the path in [`Facts::paths`], when it names one.
    pub path: Option<u32>,
}

/// One command that would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandFact {
    /// The script it stands in.
    pub script: u32,
    /// The words, program first.
    pub words: Vec<Word>,
    /// The role of each word; as many as `words`.
    pub parts: Vec<Part>,
    /// What is done with the file that each word names; a word without an entry may be touched in any way.
    pub touches: Vec<Access>,
    /// Indices of the commands whose output may reach it, and of those whose output it runs.
    pub sources: Vec<u32>,
    /// Indices of the commands whose output it runs as code.
    pub code_from: Vec<u32>,
    /// Its program sends and fetches over the network.
    pub network: bool,
    /// Indices of the paths whose content it sends.
    pub sent: Vec<u32>,
    /// For each word the index of its path in [`Facts::paths`], when it can be one (also an attached flag value).
    pub word_paths: Vec<Option<u32>>,
    /// For each [`Word::OneOf`] the path of every text that can be one: (index of the word, index of the path). Without them
    /// such a word is never known to be inside a set of paths.
    pub one_of_paths: Vec<(u32, u32)>,
    /// The known words joined with one blank; a hole is the byte `0x01`.
    pub text: String,
    /// Its own source text.
    pub source: String,
    /// Redirections.
    pub redirects: Vec<Redirect>,
    /// Its here-document or here-string; a hole is the byte `0x01`.
    pub input: Option<String>,
    /// File names of the programs around it, outermost first.
    pub wrappers: Vec<String>,
    /// Pipeline number, stage and count of stages, when it stands in a pipe.
    pub pipe: Option<(u32, u32, u32)>,
    /// The folder it runs in; no views when that is not known.
    pub dir: PathName,
    /// It may be granted: no file redirect that writes, no assignment that changes what runs, nothing unknown about what it runs,
    /// inside the project.
    pub plain: bool,
    /// It would be plain but for redirects that write; only a grant with `writing` looks at this.
    pub plain_but_writes: bool,
    /// Why it is not plain, one sentence; empty when plain.
    pub not_plain: String,
    /// What is not known about it, one sentence; empty when nothing. A gap keeps it from being allowed and asks.
    pub gap: String,
    /// Mask of shell features of this command.
    pub features: u32,
    /// Indices of the paths it names.
    pub paths: Vec<u32>,
    /// Indices of the hosts it names.
    pub domains: Vec<u32>,
    /// Words that are not known and yet one operand each, neither flag nor path (what `git merge-base` prints).
    pub names: Vec<u32>,
    /// Its unknown operands are data to its program (so an unknown word may still match `*` and `...`).
    pub unknown_is_data: bool,
}

impl CommandFact {
    /// Whether a word is one operand, neither flag nor path, whatever it is.
    pub(crate) fn is_name(&self, index: usize) -> bool {
        self.names.iter().any(|name| *name as usize == index)
    }
}

/// A value that could not be understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opaque {
    /// Where it stands.
    pub origin: Origin,
    /// Why, one sentence (`longer than 8192 bytes`).
    pub why: String,
}
