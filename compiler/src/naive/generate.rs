//! Random policies and calls, made so that they often meet: small words from short lists, on both sides the same.
//!
//! INVARIANT: the same seed gives the same policy and the same call.

mod call;

pub use call::facts;

use crate::ir::{
    Block, BlockId, BlockKind, Default_, Except, Kind, Line, LineId, Matcher, OperandSet, Pattern, Place,
    Policy, RunPattern, RunStage, RunTerm, Scope, ScopeId, Secret, Verb, View, Within, WithinId,
};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// A small random number generator (SplitMix64), or first the bytes that somebody else chose.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
    chosen: VecDeque<u8>,
}

impl Random {
    /// From a seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random { state: seed, chosen: VecDeque::new() }
    }

    /// Two of these bytes make a number; behind the last one it goes on by chance.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Random {
        let state =
            bytes.iter().fold(0, |sum: u64, byte| sum.wrapping_mul(257).wrapping_add(u64::from(*byte)));
        Random { state, chosen: bytes.iter().copied().collect() }
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        if let Some(low) = self.chosen.pop_front() {
            return u64::from(low) | u64::from(self.chosen.pop_front().unwrap_or(0)) << 8;
        }
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `n`; 0 for 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.number() % (n.max(1) as u64)).unwrap_or(0)
    }

    /// Once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        #[expect(clippy::indexing_slicing, reason = "below the length")]
        of[self.below(of.len())].clone()
    }

    fn some(&mut self, most: usize, of: &[&str]) -> Vec<String> {
        (0..=self.below(most)).map(|_| self.pick(of).to_owned()).collect()
    }
}

const PATHS: &[&str] = &[
    "./**",
    "**/.env",
    "**/.env*",
    "./src/**",
    "./src/*",
    "./src/*.rs",
    "~/.ssh/**",
    "/etc/**",
    "**/a/**/b",
    "./?",
    "**",
    ".",
    "./src/gen/**",
    "**/B/**",
    "./**/x.rs",
    "**/Ä*",
    "~/**",
    "**/\u{212a}ey",
    "./src/**/b?",
];
const HOSTS: &[&str] = &["*", "github.com", "*.github.com", "*hub*", "api.*", "evil.?om"];
const COMMANDS: &[&str] = &["git *", "git push*", "*--force*", "rm *", "*", "ls", "GIT ?ush *"];
const ARGS: &[&str] = &[
    "branch\0main",
    "branch\0m*",
    "mode\0*",
    "branch\0*",
    "mode\0r?w",
    "\u{3}payee\0main",
    "\u{3}payee\0m*",
];
const WORDS: &[&str] = &[
    "push",
    "status",
    "main",
    "origin",
    "./src",
    "a.rs",
    "-x",
    "x*",
    "PUSH",
    "Ä",
    "\u{17f}tatus",
    "HEAD:x",
    "*:*",
    "o*n",
    "?",
    "*",
    "-f",
    "[x",
];
const FLAGS: &[&str] = &[
    "-f",
    "--force",
    "-rf",
    "--format=*",
    "-F",
    "--for*",
    "-?",
    "--format=x",
    "-uf",
    "--Ä",
    "--format",
    "-u",
    "-*",
    "--format=m*",
    "-u=x",
    "-F=x",
];
const PROGRAMS: &[&str] = &[
    "git",
    "rm",
    "ls",
    "g*",
    "*",
    "/usr/bin/git",
    "sh",
    "./sh",
    "Git.exe",
    "?m",
    "/usr/bin/*",
    "git",
    "git",
];
const WRAPPERS: &[&str] = &["sudo", "env", "s*", "/usr/bin/env"];
const TOOLS: &[&str] = &["\0bash", "*", "github\0*", "*\0read*", "\0*", "*\0bash"];

/// No match of one of these reaches into another match of it: then there is one way to read what is found.
const CONTENTS: &[&str] = &[
    r"KEYS=[a-z]{2,6}",
    r"(?i)drop table",
    r"begin\s[a-z]{1,4}",
    r"[0-9]{1,3}-mark",
    r"\bword\b",
    r"(?m)^#line$",
    r"end_of|end_mark",
];

/// Formats of secrets: with a sample, by entropy, by what its kind asks for.
fn secrets() -> Vec<Secret> {
    let secret = |name: &str, pattern: &str| Secret {
        name: name.to_owned(),
        patterns: vec![pattern.to_owned()],
        ..Secret::default()
    };
    vec![
        Secret { samples: vec!["tok_public*".to_owned()], ..secret("s0", r"tok_[a-z0-9]{4,12}") },
        Secret { entropy: 250, ..secret("s1", r"pass=[a-zA-Z0-9]{4,12}") },
        // Letters and digits mixed.
        Secret { checksum: 10, ..secret("s2", r"\bmix_[a-z0-9]{5,9}") },
    ]
}

/// A policy.
#[must_use]
pub fn policy(random: &mut Random) -> Policy {
    let mut policy = Policy {
        name: "random".to_owned(),
        default: random.pick(&[None, None, Some(Default_::Allow), Some(Default_::Ask), Some(Default_::Deny)]),
        files: vec!["random.policy".to_owned()],
        secrets: secrets(),
        ..Policy::default()
    };
    for _ in 0..=random.below(3) {
        let tools = random.some(2, TOOLS);
        let events = if random.one_in(8) { vec!["stop".to_owned()] } else { vec!["pre_tool_use".to_owned()] };
        let labels = if random.one_in(5) { random.some(1, &["codex", "build"]) } else { Vec::new() };
        policy.scopes.push(Scope { tools, events, labels });
    }
    for _ in 0..random.below(3) {
        let exclude = if random.one_in(2) { random.some(1, PATHS) } else { Vec::new() };
        policy.withins.push(Within { include: random.some(2, PATHS), exclude });
    }
    // Now and then enough for what is looked up and not compared.
    let blocks = if random.one_in(16) { 12 + random.below(30) } else { random.below(8) };
    for number in 0..=blocks {
        block(random, &mut policy, number);
    }
    rank(&mut policy);
    policy
}

fn block(random: &mut Random, policy: &mut Policy, number: usize) {
    let id = BlockId(u32::try_from(policy.blocks.len()).unwrap_or(0));
    let guards: Vec<u32> = (0u32..)
        .zip(&policy.blocks)
        .filter(|(_, b)| b.kind == BlockKind::Guard)
        .map(|(index, _)| index)
        .collect();
    let mut kind = random.pick(&[
        BlockKind::Rule,
        BlockKind::Rule,
        BlockKind::Rule,
        BlockKind::Guard,
        BlockKind::Exception,
    ]);
    if guards.is_empty() && kind == BlockKind::Exception {
        kind = BlockKind::Guard;
    }
    let withins = match policy.withins.len() {
        0 => Vec::new(),
        n if random.one_in(3) => {
            (0..=random.below(2)).map(|_| WithinId(u32::try_from(random.below(n)).unwrap_or(0))).collect()
        }
        _ => Vec::new(),
    };
    policy.blocks.push(Block {
        kind,
        name: format!("b{number}"),
        place: Place { file: 0, line: u32::try_from(number).unwrap_or(0) + 1 },
        scope: ScopeId(u32::try_from(random.below(policy.scopes.len())).unwrap_or(0)),
        withins,
        because: String::new(),
        suggest: String::new(),
        ask_timeout: None,
        page_only: false,
        opens: (kind == BlockKind::Exception).then(|| BlockId(random.pick(&guards))),
        until: (kind == BlockKind::Exception && random.one_in(3)).then(|| 101 - random.below(3) as i64),
        owner: String::new(),
    });
    let mut only = Vec::new();
    for _ in 0..=random.below(3) {
        line(random, policy, id, kind, &mut only);
    }
    if kind == BlockKind::Rule && random.one_in(3) {
        let verb = random.pick(&[Verb::OtherwiseAllow, Verb::OtherwiseAsk, Verb::OtherwiseDeny]);
        bare(policy, id, verb);
    }
}

fn bare(policy: &mut Policy, block: BlockId, verb: Verb) {
    let line = push_line(policy, block, verb, Kind::Call, "");
    let grant = matches!(verb, Verb::OtherwiseAllow | Verb::Open);
    policy.patterns.push(Pattern { line, text: String::new(), matcher: Matcher::Always, grant });
}

fn push_line(policy: &mut Policy, block: BlockId, verb: Verb, kind: Kind, arg: &str) -> LineId {
    let id = LineId(u32::try_from(policy.lines.len()).unwrap_or(0));
    policy.lines.push(Line {
        block,
        verb,
        kind,
        arg: arg.to_owned(),
        because: "because".to_owned(),
        suggest: String::new(),
        place: Place { file: 0, line: id.0 + 1 },
    });
    id
}

fn line(random: &mut Random, policy: &mut Policy, block: BlockId, of: BlockKind, only: &mut Vec<Kind>) {
    let kinds =
        [Kind::Path, Kind::Path, Kind::Domain, Kind::Command, Kind::Run, Kind::Run, Kind::Shell, Kind::Arg];
    let mut kind = random.pick(&kinds);
    // Only guards look at texts.
    if of == BlockKind::Guard && random.one_in(3) {
        kind = Kind::Content;
    }
    let mut verb = match of {
        BlockKind::Rule => random.pick(&[
            Verb::Allow,
            Verb::Allow,
            Verb::Allow,
            Verb::Ask,
            Verb::Ask,
            Verb::Deny,
            Verb::Only,
        ]),
        BlockKind::Guard => {
            random.pick(&[Verb::Deny, Verb::Ask, Verb::Ask, Verb::Deny, Verb::Warn, Verb::Info, Verb::Only])
        }
        BlockKind::Exception => Verb::Open,
    };
    if of != BlockKind::Rule && random.one_in(12) {
        return bare(policy, block, if verb == Verb::Only { Verb::Deny } else { verb });
    }
    if verb == Verb::Only && (only.contains(&kind) || matches!(kind, Kind::Shell | Kind::Content)) {
        verb = if of == BlockKind::Rule { Verb::Ask } else { Verb::Deny };
    }
    if verb == Verb::Only {
        only.push(kind);
    }
    let grant = matches!(verb, Verb::Allow | Verb::Only | Verb::Open);
    // Only guards look at payments.
    let of_payment = of == BlockKind::Guard && random.one_in(6);
    let name = if of_payment { policy_runtime::payment::PAYEE } else { random.pick(&["branch", "mode"]) };
    let id = push_line(policy, block, verb, kind, if kind == Kind::Arg { name } else { "" });
    for _ in 0..=random.below(2) {
        let matcher = matcher(random, kind, name);
        policy.patterns.push(Pattern { line: id, text: format!("{matcher:?}"), matcher, grant });
    }
    if kind == Kind::Content {
        return;
    }
    for _ in 0..usize::from(random.one_in(4)) + usize::from(random.one_in(16)) {
        let matcher = matcher(random, kind, name);
        policy.excepts.push(Except { line: id, matcher, grant: !grant });
    }
}

fn matcher(random: &mut Random, kind: Kind, name: &str) -> Matcher {
    match kind {
        Kind::Path => Matcher::Path(random.pick(PATHS).to_owned()),
        Kind::Domain => Matcher::Domain(random.pick(HOSTS).to_owned()),
        Kind::Command => Matcher::Command(random.pick(COMMANDS).to_owned()),
        Kind::Arg => {
            let own: Vec<&str> = ARGS.iter().copied().filter(|a| a.starts_with(name)).collect();
            Matcher::Arg(random.pick(&own).to_owned())
        }
        Kind::Shell => Matcher::Shell(1 << random.below(3)),
        Kind::Run => Matcher::Run(run(random)),
        Kind::Content => {
            let view = random.pick(&[View::Added, View::Added, View::After, View::Before]);
            match random.below(3) {
                0 => Matcher::Secret(view, random.below(3) as u32),
                _ => Matcher::Content(view, random.pick(CONTENTS).to_owned()),
            }
        }
        Kind::Call | Kind::Check => Matcher::Always,
    }
}

/// A run pattern.
#[must_use]
pub fn run(random: &mut Random) -> RunPattern {
    let stages = if random.one_in(6) { 2 + random.below(2) } else { 1 };
    // Literal stages seldom meet a pipe, so some ask for their programs alone.
    let open = stages > 1 && random.one_in(2);
    let stage = |random: &mut Random| match stage(random) {
        stage if open => RunStage { terms: Vec::new(), rest: true, ..stage },
        stage => stage,
    };
    RunPattern {
        stages: (0..stages).map(|_| stage(random)).collect(),
        touching: random.one_in(3).then(|| set(random)),
        reading: random.one_in(12).then(|| set(random)),
        writing: random.one_in(8).then(|| set(random)),
        deleting: random.one_in(12).then(|| set(random)),
        sending: random.one_in(12).then(|| set(random)),
        via: if random.one_in(8) { random.some(1, WRAPPERS) } else { Vec::new() },
    }
}

fn stage(random: &mut Random) -> RunStage {
    let most = random.pick(&[0, 0, 1, 1, 2, 2, 3]);
    let terms = (0..most).map(|_| match random.below(8) {
        0 => RunTerm::Flag(random.some(1, FLAGS)),
        1 | 2 => RunTerm::AnyWord,
        3 => RunTerm::AnyFlags,
        _ => RunTerm::Word(random.some(2, WORDS)),
    });
    let terms = terms.collect();
    RunStage { program: random.some(1, PROGRAMS), terms, rest: !random.one_in(3) }
}

fn set(random: &mut Random) -> OperandSet {
    let mut list = |of: &[&str], times: usize| match random.below(times) {
        0 => Vec::new(),
        _ => random.some(2, of),
    };
    let (paths, texts) = (list(PATHS, 3), list(WORDS, 2));
    let (except_paths, except_texts) = match random.below(6) {
        0 => (random.some(1, PATHS), Vec::new()),
        1 => (Vec::new(), random.some(1, WORDS)),
        2 => (random.some(1, PATHS), random.some(1, WORDS)),
        _ => (Vec::new(), Vec::new()),
    };
    OperandSet { paths, texts, except_paths, except_texts }
}

/// As the compiler ranks: rules lowest and the earlier higher, in a rule `otherwise`, then length, then `deny`.
fn rank(policy: &mut Policy) {
    let lines = policy.lines.clone();
    let blocks = policy.blocks.clone();
    policy.patterns.sort_by_key(|pattern| {
        let line = lines.get(pattern.line.0 as usize);
        let block = line.and_then(|line| blocks.get(line.block.0 as usize).map(|b| (b.kind, line.block.0)));
        let verb = line.map_or(Verb::Allow, |line| line.verb);
        let (kind, number) = block.unwrap_or((BlockKind::Rule, 0));
        let (class, order) = match kind {
            BlockKind::Rule => {
                let class = match verb {
                    Verb::OtherwiseAllow | Verb::OtherwiseAsk | Verb::OtherwiseDeny => 0,
                    Verb::Deny => 2,
                    _ => 1,
                };
                (class, Reverse(number))
            }
            BlockKind::Exception | BlockKind::Guard => (0, Reverse(0)),
        };
        let kind = u8::from(kind != BlockKind::Rule);
        (kind, order, class, pattern.text.len(), verb == Verb::Ask, Reverse(pattern.line))
    });
}
