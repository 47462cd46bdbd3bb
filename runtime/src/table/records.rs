//! Blocks, lines, patterns and the header as plain borrowed values.
//!
//! INVARIANT: read one at a time, when asked for.

use super::layout::{self, Section, at};
use super::read::{Damaged, Range, Read};
use super::{Table, layout::matcher};
use crate::verdict::{Decision, Place};

/// What a table says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info<'a> {
    /// Name of the policy.
    pub name: &'a str,
    /// `default`, when written.
    pub default: Option<Decision>,
    /// Where it was written.
    pub default_place: Place,
    /// Seconds until an unanswered ask is denied.
    pub ask_timeout: Option<u32>,
    /// `ask via page`.
    pub page_only: bool,
    /// `mode observe`.
    pub observe: bool,
    /// Rules.
    pub rules: u32,
    /// Guards.
    pub guards: u32,
    /// Exceptions.
    pub exceptions: u32,
    /// Lines.
    pub lines: u32,
    /// Patterns, braces and lists spelled out.
    pub patterns: u32,
    /// Programs something is known of.
    pub programs: u32,
    /// Digest of the sources.
    pub sources_digest: [u8; 32],
    /// Digest of the compiler build.
    pub build_digest: [u8; 32],
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// Answers.
    Rule,
    /// Tightens.
    Guard,
    /// Opens a guard.
    Exception,
}

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// `allow`.
    Allow,
    /// `info`.
    Info,
    /// `warn`.
    Warn,
    /// `ask`.
    Ask,
    /// `deny`.
    Deny,
    /// `only`.
    Only,
    /// `open`.
    Open,
    /// `otherwise allow`.
    OtherwiseAllow,
    /// `otherwise ask`.
    OtherwiseAsk,
    /// `otherwise deny`.
    OtherwiseDeny,
}

impl Verb {
    const ALL: [Verb; 10] = [
        Verb::Allow,
        Verb::Info,
        Verb::Warn,
        Verb::Ask,
        Verb::Deny,
        Verb::Only,
        Verb::Open,
        Verb::OtherwiseAllow,
        Verb::OtherwiseAsk,
        Verb::OtherwiseDeny,
    ];

    /// What a match of such a line in a rule or guard says about the call.
    #[must_use]
    pub const fn decision(self) -> Decision {
        match self {
            Verb::Ask | Verb::OtherwiseAsk => Decision::Ask,
            Verb::Deny | Verb::OtherwiseDeny => Decision::Deny,
            Verb::Allow | Verb::Info | Verb::Warn | Verb::Only | Verb::Open | Verb::OtherwiseAllow => {
                Decision::Allow
            }
        }
    }

    /// As it is written.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Verb::Allow => "allow",
            Verb::Info => "info",
            Verb::Warn => "warn",
            Verb::Ask => "ask",
            Verb::Deny => "deny",
            Verb::Only => "only",
            Verb::Open => "open",
            Verb::OtherwiseAllow => "otherwise allow",
            Verb::OtherwiseAsk => "otherwise ask",
            Verb::OtherwiseDeny => "otherwise deny",
        }
    }
}

/// What a line looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Paths.
    Path,
    /// Hosts.
    Domain,
    /// Text of a command.
    Command,
    /// Words of a command.
    Run,
    /// Shell features.
    Shell,
    /// A named argument.
    Arg,
    /// The call itself.
    Call,
    /// Text that the call brings.
    Content,
    /// What a built-in check finds.
    Check,
}

impl Kind {
    const ALL: [Kind; 9] = [
        Kind::Path,
        Kind::Domain,
        Kind::Command,
        Kind::Run,
        Kind::Shell,
        Kind::Arg,
        Kind::Call,
        Kind::Content,
        Kind::Check,
    ];

    /// As it is written; empty for the call.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Path => "path",
            Kind::Domain => "domain",
            Kind::Command => "command",
            Kind::Run => "run",
            Kind::Shell => "shell",
            Kind::Arg => "arg",
            Kind::Call => "",
            Kind::Content => "content",
            Kind::Check => "check",
        }
    }
}

/// A rule, guard or exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block<'a> {
    /// Its number.
    pub id: u32,
    /// Which.
    pub kind: BlockKind,
    /// Full name.
    pub name: &'a str,
    /// `because` at the top.
    pub because: &'a str,
    /// `suggest` at the top.
    pub suggest: &'a str,
    /// `ask timeout` at the top.
    pub ask_timeout: Option<u32>,
    /// `ask via page` at the top.
    pub page_only: bool,
    /// Number of the guard that an exception opens.
    pub opens: Option<u32>,
    /// Last UTC day of an exception, days since the epoch.
    pub until: Option<i64>,
    /// Who answers for an exception.
    pub owner: &'a str,
    pub(crate) file: u32,
    pub(crate) line: u32,
    pub(crate) scope: u32,
    pub(crate) withins: Range,
    pub(crate) lines: Range,
    /// Mask of the kinds of its lines.
    pub(crate) kinds: u32,
}

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number.
    pub id: u32,
    /// Number of its block.
    pub block: u32,
    /// What it says.
    pub verb: Verb,
    /// What it looks at.
    pub kind: Kind,
    /// Name of the argument.
    pub arg: &'a str,
    /// The reason.
    pub because: &'a str,
    /// What to do instead.
    pub suggest: &'a str,
    pub(crate) file: u32,
    pub(crate) line: u32,
    pub(crate) excepts: Range,
    pub(crate) patterns: Range,
    /// Number of what it asks of the past.
    pub(crate) tail: Option<u32>,
}

/// One spelling of one pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern<'a> {
    /// Number of its line.
    pub line: u32,
    /// As written.
    pub text: &'a str,
    /// It matches exactly.
    pub grant: bool,
    pub(crate) matcher: Matcher<'a>,
}

/// What a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matcher<'a> {
    Path(&'a str),
    Domain(&'a str),
    Command(&'a str),
    Arg(&'a str),
    /// Place in the run section.
    Run(u32),
    Shell(u32),
    Always,
    Miss,
    /// A needle of the scanner, and the view it is looked for in.
    Content(u32, View),
    /// A check, by the name of its line, with its options.
    Check(&'a str),
}

/// Which part of a text a content line looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum View {
    /// What the call adds.
    Added,
    /// The text as it was.
    Before,
    /// The text as it will be.
    After,
}

impl View {
    pub(crate) const ALL: [View; 3] = [View::Added, View::Before, View::After];
}

pub(super) fn more(word: u32) -> Option<u32> {
    word.checked_sub(1)
}

impl<'a> Table<'a> {
    /// What the table says of itself.
    ///
    /// # Errors
    ///
    /// When it is damaged.
    pub fn info(&self) -> Read<Info<'a>> {
        let row = self.row(Section::Info, 0)?;
        let mut counts = [0u32; 3];
        for id in 0..self.blocks() {
            if let Some(count) = counts.get_mut(self.row(Section::Blocks, id)?.word(0)? as usize) {
                *count += 1;
            }
        }
        let [rules, guards, exceptions] = counts;
        Ok(Info {
            name: self.text_in(row, 0)?,
            default: self.default()?,
            default_place: self.default_place()?,
            ask_timeout: more(row.word(5)?),
            page_only: self.page_only()?,
            observe: self.observe()?,
            rules,
            guards,
            exceptions,
            lines: self.rows(Section::Lines).len(),
            patterns: self.rows(Section::Patterns).len(),
            programs: self.rows(Section::ProgramKeys).len(),
            sources_digest: self.digest(at::SOURCES),
            build_digest: self.digest(at::BUILD),
        })
    }

    fn digest(&self, start: usize) -> [u8; 32] {
        let mut out = [0; 32];
        if let Some(bytes) = self.header.get(start..start + 32) {
            out.copy_from_slice(bytes);
        }
        out
    }

    pub(crate) fn default(&self) -> Read<Option<Decision>> {
        match self.row(Section::Info, 0)?.word(2)? {
            0 => Ok(None),
            1 => Ok(Some(Decision::Allow)),
            2 => Ok(Some(Decision::Host)),
            3 => Ok(Some(Decision::Ask)),
            4 => Ok(Some(Decision::Deny)),
            _ => Err(Damaged),
        }
    }

    pub(crate) fn default_place(&self) -> Read<Place> {
        let row = self.row(Section::Info, 0)?;
        self.place(row.word(3)?, row.word(4)?)
    }

    pub(crate) fn ask_timeout(&self) -> Read<Option<u32>> {
        Ok(more(self.row(Section::Info, 0)?.word(5)?))
    }

    pub(crate) fn page_only(&self) -> Read<bool> {
        Ok(self.page_only_word()? == 2)
    }

    /// Whether a block asks on the page alone.
    pub(crate) fn some_page_only(&self) -> Read<bool> {
        Ok(self.page_only_word()? != 0)
    }

    fn page_only_word(&self) -> Read<u32> {
        Some(self.row(Section::Info, 0)?.word(29)?).filter(|word| *word <= 2).ok_or(Damaged)
    }

    pub(crate) fn observe(&self) -> Read<bool> {
        self.flag(self.row(Section::Info, 0)?.word(6)?)
    }

    pub(crate) fn flag(&self, word: u32) -> Read<bool> {
        match word {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damaged),
        }
    }

    /// A place with the name of its file.
    pub(crate) fn place(&self, file: u32, line: u32) -> Read<Place> {
        let files = self.rows(Section::Files);
        // A policy made without files has places without names.
        let name = if file >= files.len() && line == 0 { "" } else { self.text_in(files.get(file)?, 0)? };
        Ok(Place { file: name.to_owned(), line })
    }

    /// How many blocks there are.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        self.rows(Section::Blocks).len()
    }

    /// One block; rules come in the order in which they are asked.
    ///
    /// # Errors
    ///
    /// When there is none of this number, or the table is damaged.
    pub fn block(&self, id: u32) -> Read<Block<'a>> {
        let row = self.row(Section::Blocks, id)?;
        let kind = match row.word(0)? {
            layout::role::RULE => BlockKind::Rule,
            layout::role::GUARD => BlockKind::Guard,
            layout::role::EXCEPTION => BlockKind::Exception,
            _ => return Err(Damaged),
        };
        let day = (u64::from(row.word(15)?) | u64::from(row.word(16)?) << 32).cast_signed();
        Ok(Block {
            id,
            kind,
            name: self.text_in(row, 1)?,
            file: row.word(3)?,
            line: row.word(4)?,
            scope: row.word(5)?,
            withins: row.range(6)?,
            because: self.text_in(row, 8)?,
            suggest: self.text_in(row, 10)?,
            ask_timeout: more(row.word(12)?),
            opens: more(row.word(13)?),
            until: self.flag(row.word(14)?)?.then_some(day),
            owner: self.text_in(row, 17)?,
            lines: row.range(19)?,
            kinds: row.word(21)?,
            page_only: self.flag(row.word(22)?)?,
        })
    }

    /// Where a block was written.
    ///
    /// # Errors
    ///
    /// When the table is damaged.
    pub fn block_place(&self, block: &Block<'_>) -> Read<Place> {
        self.place(block.file, block.line)
    }

    /// Where a line was written.
    ///
    /// # Errors
    ///
    /// When the table is damaged.
    pub fn line_place(&self, line: &Line<'_>) -> Read<Place> {
        self.place(line.file, line.line)
    }

    /// The lines of a block, in order.
    ///
    /// # Errors
    ///
    /// When the table is damaged.
    pub fn lines_of(&self, block: &Block<'_>) -> Read<impl Iterator<Item = Read<Line<'a>>>> {
        let table = *self;
        Ok(self.numbers(block.lines)?.map(move |id| table.line(id?)))
    }

    /// Whether a block denies every call that it looks at, whatever the call holds.
    ///
    /// # Errors
    ///
    /// When the table is damaged.
    pub fn always_denies(&self, block: &Block<'_>) -> Read<bool> {
        let mut denies = false;
        for line in self.lines_of(block)? {
            let line = line?;
            match (block.kind, line.verb) {
                (BlockKind::Guard, Verb::Deny) => {
                    let bare = line.kind == Kind::Call && line.excepts.count == 0 && line.tail.is_none();
                    denies |= bare;
                }
                (BlockKind::Rule, Verb::OtherwiseDeny) => denies = true,
                (BlockKind::Rule, Verb::Deny) => {}
                (BlockKind::Rule, _) | (BlockKind::Exception, _) => return Ok(false),
                (BlockKind::Guard, _) => {}
            }
        }
        Ok(denies)
    }

    /// One line.
    ///
    /// # Errors
    ///
    /// When there is none of this number, or the table is damaged.
    pub fn line(&self, id: u32) -> Read<Line<'a>> {
        let row = self.row(Section::Lines, id)?;
        Ok(Line {
            id,
            block: row.word(0)?,
            verb: Verb::ALL.get(row.word(1)? as usize).copied().ok_or(Damaged)?,
            kind: Kind::ALL.get(row.word(2)? as usize).copied().ok_or(Damaged)?,
            arg: self.text_in(row, 3)?,
            because: self.text_in(row, 5)?,
            suggest: self.text_in(row, 7)?,
            file: row.word(9)?,
            line: row.word(10)?,
            excepts: row.range(11)?,
            patterns: row.range(13)?,
            tail: more(row.word(15)?),
        })
    }

    /// The patterns of a line, the one that counts most first.
    ///
    /// # Errors
    ///
    /// When the table is damaged.
    pub fn patterns_of(&self, line: &Line<'_>) -> Read<impl Iterator<Item = Read<Pattern<'a>>>> {
        let table = *self;
        Ok(self.numbers(line.patterns)?.rev().map(move |rank| table.pattern(rank?)))
    }

    /// The pattern of a rank (from 1).
    ///
    /// # Errors
    ///
    /// When there is none of this rank, or the table is damaged.
    pub fn pattern(&self, rank: u32) -> Read<Pattern<'a>> {
        let row = self.row(Section::Patterns, rank.checked_sub(1).ok_or(Damaged)?)?;
        Ok(Pattern {
            line: row.word(0)?,
            text: self.text_in(row, 1)?,
            grant: self.flag(row.word(4)?)?,
            matcher: self.matcher(row.word(3)?, row.word(5)?, row.word(6)?)?,
        })
    }

    /// The place of the run pattern of a rank, and whether it is a grant.
    pub(crate) fn run_of_rank(&self, rank: u32) -> Read<(u32, bool)> {
        let row = self.row(Section::Patterns, rank.checked_sub(1).ok_or(Damaged)?)?;
        match row.word(3)? {
            matcher::RUN => Ok((row.word(5)?, self.flag(row.word(4)?)?)),
            _ => Err(Damaged),
        }
    }

    /// The line of the pattern of a rank, without the rest.
    pub(crate) fn line_of_rank(&self, rank: u32) -> Read<u32> {
        self.row(Section::Patterns, rank.checked_sub(1).ok_or(Damaged)?)?.word(0)
    }

    /// What kind of matcher the pattern of a rank has.
    pub(crate) fn matcher_kind(&self, rank: u32) -> Read<u32> {
        self.row(Section::Patterns, rank.checked_sub(1).ok_or(Damaged)?)?.word(3)
    }

    /// What takes values back from a line.
    pub(crate) fn excepts_of(
        &self,
        line: &Line<'_>,
    ) -> Read<impl Iterator<Item = Read<(Matcher<'a>, bool)>> + use<'a>> {
        let table = *self;
        let rows = self.rows(Section::Excepts);
        Ok(line.excepts.within(rows.len())?.map(move |index| {
            let row = rows.get(index)?;
            Ok((table.matcher(row.word(1)?, row.word(3)?, row.word(4)?)?, table.flag(row.word(2)?)?))
        }))
    }

    pub(super) fn matcher(&self, kind: u32, a: u32, b: u32) -> Read<Matcher<'a>> {
        Ok(match kind {
            matcher::PATH => Matcher::Path(self.text(a, b)?),
            matcher::DOMAIN => Matcher::Domain(self.text(a, b)?),
            matcher::COMMAND => Matcher::Command(self.text(a, b)?),
            matcher::ARG => Matcher::Arg(self.text(a, b)?),
            matcher::RUN => Matcher::Run(a),
            matcher::SHELL => Matcher::Shell(a),
            matcher::ALWAYS => Matcher::Always,
            matcher::MISS => Matcher::Miss,
            matcher::CONTENT => Matcher::Content(a, *View::ALL.get(b as usize).ok_or(Damaged)?),
            matcher::CHECK => Matcher::Check(self.text(a, b)?),
            _ => return Err(Damaged),
        })
    }
}
