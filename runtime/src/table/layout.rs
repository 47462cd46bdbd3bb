//! The numbers that writer and reader of a table share: header fields, section tags, record widths.
//!
//! INVARIANT: all numbers are little endian; a change of any of them is a new [`FORMAT`]. `docs/table.md` says it
//! in words.

/// The first bytes of every table.
pub const MAGIC: [u8; 8] = *b"\x89PLCY\r\n\x1a";
/// Says that numbers are little endian.
pub const ENDIAN: u32 = 0x0102_0304;
/// The format that this build writes, and the newest it reads.
pub const FORMAT: u16 = 8;
/// The oldest format that this build reads.
pub const OLDEST: u16 = 5;
/// The meaning of the rules (`docs/semantics.md`).
pub const SEMANTICS: u32 = 1;
/// Bytes of a page; each has a sum.
pub const PAGE: usize = crate::bytes::PAGE;
/// Bytes of the header; the section directory follows.
pub const HEADER: usize = 128;
/// Bytes of a directory entry: tag u32, zero u32, offset u64, length u64.
pub const ENTRY: usize = 24;
/// Sections begin at multiples of this.
pub const ALIGN: usize = 64;

/// Places of the header's fields.
pub mod at {
    /// Endianness probe, u32.
    pub const ENDIAN: usize = 8;
    /// Format version, u16.
    pub const FORMAT: usize = 12;
    /// Oldest reader that understands it, u16.
    pub const READER: usize = 14;
    /// Semantics version, u32.
    pub const SEMANTICS: usize = 16;
    /// Page size, u32.
    pub const PAGE: usize = 20;
    /// Length of the file, u64.
    pub const LENGTH: usize = 24;
    /// Count of sections, u32.
    pub const SECTIONS: usize = 32;
    /// Where the sums of the pages begin, u64: a multiple of the page size, and the end of the content.
    pub const PAGE_SUMS: usize = 40;
    /// Digest of the sources, 32 bytes.
    pub const SOURCES: usize = 48;
    /// Digest of the compiler build, 32 bytes.
    pub const BUILD: usize = 80;
    /// Sum of the header before it, and of directory and roots, u64.
    pub const HEADER_SUM: usize = 112;
}

/// Sections. Records are rows of u32 words; the widths are in [`WIDTH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Section {
    /// One record: name (text), default (0 none, 1 allow, 2 host, 3 ask, 4 deny), its file and line, ask timeout + 1,
    /// observe, and (offset, length) in [`Section::Automata`] of: tools of scopes; withins include exact, include
    /// folded, exclude exact, exclude folded; sum (low, high) of what is known of programs; (offset, length) of the automata
    /// over sets, from [`INFO_SETS`]: paths folded, paths exact, folders above paths folded, texts folded; then whether there are checks
    /// or counts of lines, whether the past is asked, and whether a person is asked on the page
    /// alone (0 never, 1 by some blocks, 2 always).
    Info,
    /// UTF-8 text; a text is (offset, length).
    Texts,
    /// Lists of texts.
    TextLists,
    /// Lists of numbers.
    Numbers,
    /// Names of source files: text.
    Files,
    /// Events (text list), labels (text list), groups (range), tools (text list, for reports).
    Scopes,
    /// Include (text list), exclude (text list).
    Withins,
    /// Kind, name, place, scope, withins (numbers), because, suggest, ask timeout + 1, opens + 1, has until, until
    /// (low, high), owner, lines (numbers), mask of the kinds of its lines, whether a
    /// person is asked on the page alone.
    Blocks,
    /// Block, verb, kind, argument, because, suggest, place, excepts (range), patterns (numbers: ranks),
    /// number in [`Section::Tails`] + 1.
    Lines,
    /// By rank - 1: line, text, matcher, grant, and what the matcher is: text or offset or mask.
    Patterns,
    /// Line, matcher, grant, what the matcher is.
    Excepts,
    /// Role, withins (numbers), opens + 1, parts (range), always (numbers: ranks), shell (numbers: ranks), otherwise
    /// rank, miss ranks of path, domain and command, argument names (range), only lines (numbers), needles with their ranks
    /// (numbers, by twos), checks (numbers: ranks).
    Groups,
    /// Subject, grant, has excepts, (offset, length) in automata, all ranks (numbers); for run: range of run keys.
    Parts,
    /// Name, miss rank.
    ArgNames,
    /// Key (low, high), ranks (numbers); free where there are none. The keys of a part are a hash table with a power of two
    /// of slots, in which at most [`MOST_TRIES`] are tried.
    RunKeys,
    /// Words of run patterns and of their lists of texts.
    Runs,
    /// Automata, each at a multiple of 64.
    Automata,
    /// Hash (low, high), name in [`Section::ProgramTexts`], offset in [`Section::Programs`].
    ProgramKeys,
    /// Words of what is known of programs.
    Programs,
    /// Texts of what is known of programs alone, so that two tables with the same knowledge have the same bytes here.
    ProgramTexts,
    /// Sets of operands: lists of paths, texts, paths taken back, texts taken back; each the word in [`Section::Runs`] plus
    /// one, 0 for none; whether patterns are found by it.
    Sets,
    /// By what the scanner calls it: 0 for a pattern of a line, else the number of the secret plus one.
    Needles,
    /// Name, entropy (hundredths of a bit), checksum, samples (text list), because, suggest.
    Secrets,
    /// What the scanner reads.
    Scan,
    /// Measure + 1 (0: no limit), over, window, its seconds or past, by tool, key (low, high), window as it is said (text);
    /// 0 no condition, 1 when, 2 unless, its past, its since + 1, over; whether it flags the session.
    Tails,
    /// Kind, key (low, high), matchers (range of [`Section::Excepts`]), as written (text).
    Pasts,
}

/// How far back a limit counts.
pub mod window {
    /// In the call itself.
    pub const CALL: u32 = 0;
    /// So many seconds.
    pub const SECONDS: u32 = 1;
    /// Since the session began.
    pub const SESSION: u32 = 2;
    /// Since a fact of the past.
    pub const SINCE: u32 = 3;
}

/// The word of [`Section::Info`] at which the automata over sets begin.
pub const INFO_SETS: usize = 19;

/// What the automata over sets call the list of paths of a set, or what is taken back from it; none above the greatest id.
#[must_use]
pub fn set_id(set: u32, except: bool) -> Option<u32> {
    let id = set.checked_mul(2)?.checked_add(1 + u32::from(except))?;
    (id <= crate::automaton::layout::MAX_ID).then_some(id)
}

/// How many sections there are.
pub const SECTIONS: usize = 26;

/// Words of a record in each section, in their order; 1 where there are no records.
pub const WIDTH: [usize; SECTIONS] =
    [30, 1, 2, 1, 2, 8, 4, 23, 16, 7, 5, 22, 9, 3, 4, 1, 1, 5, 1, 1, 5, 1, 10, 1, 16, 7];

/// Words of what is known of one program, its subcommands aside; a mask tells which of them are not 0.
pub const PROGRAM_FIELDS: usize = 29;

/// What a group's lines are.
pub mod role {
    /// Of rules.
    pub const RULE: u32 = 0;
    /// Of guards.
    pub const GUARD: u32 = 1;
    /// Of exceptions.
    pub const EXCEPTION: u32 = 2;
}

/// What a matcher is.
pub mod matcher {
    /// Path glob.
    pub const PATH: u32 = 0;
    /// Host glob.
    pub const DOMAIN: u32 = 1;
    /// Glob of a command's text.
    pub const COMMAND: u32 = 2;
    /// Glob of `name NUL value`.
    pub const ARG: u32 = 3;
    /// Run pattern.
    pub const RUN: u32 = 4;
    /// Mask of shell features.
    pub const SHELL: u32 = 5;
    /// Always.
    pub const ALWAYS: u32 = 6;
    /// What an `only` line says to a value that it does not match.
    pub const MISS: u32 = 7;
    /// Needle of the scanner, view.
    pub const CONTENT: u32 = 8;
    /// Options of a check.
    pub const CHECK: u32 = 9;
}

/// The set of an id, and whether it is what is taken back from it.
#[must_use]
pub fn id_set(id: u32) -> Option<(u32, bool)> {
    id.checked_sub(1).map(|id| (id / 2, id % 2 == 1))
}

/// Words of a pattern by which it may be found: the first so many terms that are operands.
pub const KEYED_WORDS: u32 = 4;
/// The most slots of a hash table of run keys that are tried.
pub const MOST_TRIES: u32 = 64;

/// What a command must hold for a run pattern, beside the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// Nothing that can be looked up.
    Nothing,
    /// The word of this hash.
    Word(u64),
    /// Something in the set of this number.
    Set(u32),
    /// Any pattern that asks for a word at this place among the operands or behind it.
    From(u32),
    /// Any pattern that asks for something in a set.
    Sets,
}

/// The program of a pattern that may run any.
pub const ANY_PROGRAM: u64 = 0;

/// A program of the index: as refusals compare it.
#[must_use]
pub fn run_program(program: &str) -> u64 {
    crate::checksum::checksum(crate::fold::fold(&program_name(program)).as_bytes())
}

/// A word of the index, in any case.
#[must_use]
pub fn run_word(word: &str) -> u64 {
    crate::checksum::checksum(crate::fold::fold(word).as_bytes())
}

/// The key under which a run pattern is found. Two that are the same by chance only cost a comparison.
#[must_use]
pub fn run_key(program: u64, item: Item) -> u64 {
    let (kind, number) = match item {
        Item::Nothing => (1, 0),
        Item::Word(hash) => (2, hash),
        Item::Set(number) => (3, u64::from(number)),
        Item::From(place) => (4, u64::from(place)),
        Item::Sets => (5, 0),
    };
    let mix = |a: u64, b: u64| {
        let mixed = (a.rotate_left(26) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    };
    mix(mix(mix(kind, program), number), kind)
}

/// A pattern's program as refusals compare it: file name, lower case, without `.exe`. A backslash in it is an escape.
#[must_use]
pub fn program_pattern(pattern: &str) -> String {
    let name = pattern.rsplit('/').next().unwrap_or(pattern).to_lowercase();
    match name.strip_suffix(".exe") {
        Some(short) if !short.is_empty() => short.to_owned(),
        _ => name,
    }
}

/// A program as refusals compare it: file name, lower case, without `.exe`.
#[must_use]
pub fn program_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_lowercase();
    match name.strip_suffix(".exe") {
        Some(short) if !short.is_empty() => short.to_owned(),
        _ => name,
    }
}
