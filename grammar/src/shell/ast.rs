//! The tree of one command text: what was written, with quotes removed but nothing expanded.
//!
//! INVARIANT: syntax only. Every text that a shell would run is reachable from the tree; byte offsets are those of
//! the text that was parsed.

use super::Dialect;
use std::borrow::Cow;

/// And-or lists one after the other.
#[derive(Debug, Default)]
pub(crate) struct List<'a> {
    pub(crate) items: Vec<AndOr<'a>>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct AndOr<'a> {
    pub(crate) first: Pipeline<'a>,
    /// `true` is `&&`.
    pub(crate) rest: Vec<(bool, Pipeline<'a>)>,
    pub(crate) background: bool,
}

/// Commands joined by `|`.
#[derive(Debug)]
pub(crate) struct Pipeline<'a> {
    pub(crate) negated: bool,
    pub(crate) stages: Vec<Node<'a>>,
}

/// One stage of a pipeline.
#[derive(Debug)]
pub(crate) enum Node<'a> {
    Simple(Simple<'a>),
    Compound(Box<Compound<'a>>),
}

/// A command with words.
#[derive(Debug)]
pub(crate) struct Simple<'a> {
    pub(crate) assigns: Vec<Assign<'a>>,
    pub(crate) words: Vec<WordNode<'a>>,
    pub(crate) redirects: Vec<RedirectNode<'a>>,
    /// Byte range in the text that was parsed.
    pub(crate) range: (usize, usize),
}

/// A compound command with its redirections.
#[derive(Debug)]
pub(crate) struct Compound<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) redirects: Vec<RedirectNode<'a>>,
    pub(crate) text: &'a str,
}

/// The compound commands.
#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Group(List<'a>),
    Subshell(List<'a>),
    If { branches: Vec<(List<'a>, List<'a>)>, otherwise: Option<List<'a>> },
    While { condition: List<'a>, body: List<'a> },
    For { name: &'a str, words: Option<Vec<WordNode<'a>>>, body: List<'a> },
    ForArith { bits: Vec<Bit<'a>>, body: List<'a> },
    Case { word: WordNode<'a>, arms: Vec<(Vec<WordNode<'a>>, List<'a>)> },
    Test(Vec<WordNode<'a>>),
    Arith(Vec<Bit<'a>>),
    Function { name: &'a str, body: Box<Compound<'a>> },
    Coproc(Box<Node<'a>>),
}

/// `NAME=VALUE`, `NAME+=VALUE`, `NAME[i]=VALUE`, `NAME=(...)`.
#[derive(Debug)]
pub(crate) struct Assign<'a> {
    pub(crate) name: &'a str,
    pub(crate) subscript: Vec<Bit<'a>>,
    pub(crate) indexed: bool,
    pub(crate) append: bool,
    pub(crate) value: AssignValue<'a>,
}

/// The right side of an assignment.
#[derive(Debug)]
pub(crate) enum AssignValue<'a> {
    Word(WordNode<'a>),
    /// Elements in order, and whether any had a subscript of its own.
    Array(Vec<WordNode<'a>>, bool),
}

/// One word as written.
#[derive(Debug, Default)]
pub(crate) struct WordNode<'a> {
    pub(crate) bits: Vec<Bit<'a>>,
    /// Byte range in the text that was parsed.
    pub(crate) range: (usize, usize),
}

/// A part of a word.
#[derive(Debug)]
pub(crate) enum Bit<'a> {
    /// Unquoted literal text: braces, tildes and file-name patterns count in it.
    Bare(&'a str),
    /// Quoted or escaped text.
    Text(Cow<'a, str>),
    /// `$NAME` or `${...}`: head without `${`, the rest as written, and what is inside the rest.
    Param {
        head: &'a str,
        tail: &'a str,
        inside: Vec<Bit<'a>>,
        quoted: bool,
        /// Written without braces, so that a letter behind it would belong to the name.
        open: bool,
    },
    /// `$(...)`, `${ ...; }`.
    Substitution { list: List<'a>, quoted: bool },
    /// Backticks: their text with one level of backslashes removed.
    Backtick { text: String, start: usize, quoted: bool },
    /// `<(...)` or `>(...)`.
    Process { list: List<'a> },
    /// `$((...))`, `$[...]`.
    Arith { text: &'a str, inside: Vec<Bit<'a>> },
    /// `@(...)` and its kin.
    ExtGlob { inside: Vec<Bit<'a>> },
    /// Text that is not UTF-8 or not known for another reason.
    Opaque,
}

/// One redirection.
#[derive(Debug)]
pub(crate) struct RedirectNode<'a> {
    pub(crate) fd: &'a str,
    pub(crate) op: &'a str,
    pub(crate) target: Target<'a>,
}

/// Where a redirection goes.
#[derive(Debug)]
pub(crate) enum Target<'a> {
    Word(WordNode<'a>),
    /// Index into [`Tree::heredocs`].
    Here(usize),
}

/// A here-document.
#[derive(Debug)]
pub(crate) struct HereDoc<'a> {
    pub(crate) delimiter: &'a str,
    pub(crate) quoted: bool,
    pub(crate) strip: bool,
    /// Substitution depth of the operator; the body must be read at the same depth.
    pub(crate) depth: u32,
    pub(crate) start: usize,
    pub(crate) body: WordNode<'a>,
}

/// A parsed text.
#[derive(Debug, Default)]
pub(crate) struct Tree<'a> {
    pub(crate) list: List<'a>,
    pub(crate) heredocs: Vec<HereDoc<'a>>,
    /// Byte offset and message of what was not understood.
    pub(crate) problems: Vec<(usize, String)>,
    /// Constructs that another shell than bash reads in another way.
    pub(crate) otherwise: Vec<Otherwise>,
}

/// A construct that shells read in different ways.
#[derive(Debug)]
pub(crate) struct Otherwise {
    pub(crate) at: usize,
    pub(crate) what: &'static str,
    /// The shells that read it in another way than bash: [`POSIX`], [`ZSH`] or both.
    pub(crate) shells: u8,
}

/// dash and other shells without extensions.
pub(crate) const POSIX: u8 = 1;
/// zsh.
pub(crate) const ZSH: u8 = 2;

impl Tree<'_> {
    /// The first construct that the shell of this dialect reads in another way than bash does.
    pub(crate) fn read_otherwise(&self, dialect: Dialect) -> Option<(usize, String)> {
        let (shells, shell) = match dialect {
            Dialect::Bash => return None,
            Dialect::Posix => (POSIX, "a POSIX shell"),
            Dialect::Zsh => (ZSH, "zsh"),
            _ => (POSIX | ZSH, "another shell"),
        };
        let found = self.otherwise.iter().find(|other| other.shells & shells != 0)?;
        // A kind of construct is named by words, a piece of text as it was written.
        let words = ["a ", "an ", "this "].iter().any(|article| found.what.starts_with(article));
        let what = if words { found.what.to_owned() } else { format!("`{}`", found.what) };
        Some((found.at, format!("{what} is read in another way by {shell}")))
    }
}
