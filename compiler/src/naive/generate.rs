//! Random small policies and calls, made so that they often meet.
//!
//! INVARIANT: the same seed gives the same policy and the same call.

use crate::ir::{
    Block, BlockId, BlockKind, Default_, Except, Kind, Line, LineId, Matcher, OperandSet, Pattern, Place,
    Policy, RunPattern, RunStage, RunTerm, Scope, ScopeId, Verb, Within, WithinId,
};
use policy_runtime::facts::{
    Access, ArgFact, CommandFact, DomainFact, Facts, Form, Opaque, Origin, Part, PathFact, PathName,
    Redirect, ScriptFact, ToolName, Word,
};
use std::cmp::Reverse;

/// A small random number generator (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
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
];
const VIEWS: &[&str] = &[
    "./src/a.rs",
    "./.env",
    "./SRC/a.rs",
    "/etc/passwd",
    "~/.ssh/id",
    ".",
    "./src/gen/x.rs",
    "./a/c/b",
    "./x",
    "./src",
    "./ä1",
    "./.ENV.local",
    "/a/B/b",
];
const VIEW_GLOBS: &[&str] = &["./src/*.rs", "./*", "./.e*", "./src/[ab].rs", "/etc/*", "./s?c/x", "./.*/x"];
const VIEW_HOLES: &[&str] = &["./\u{1}", "\u{1}", "./src/\u{1}.rs", "/etc/\u{1}", "~/\u{1}/id"];
const HOSTS: &[&str] = &["*", "github.com", "*.github.com", "*hub*", "api.*", "evil.?om"];
const HOST_VALUES: &[&str] = &["github.com", "api.github.com", "evil.com", "127.0.0.1", "\u{1}.github.com"];
const COMMANDS: &[&str] = &["git *", "git push*", "*--force*", "rm *", "*", "ls", "GIT ?ush *"];
const ARGS: &[&str] = &["branch\0main", "branch\0m*", "mode\0*", "branch\0*", "mode\0r?w"];
const WORDS: &[&str] = &["push", "status", "main", "origin", "./src", "a.rs", "-x", "x*", "PUSH"];
const FLAGS: &[&str] = &["-f", "--force", "-rf", "--format=*", "-F", "--for*"];
const PROGRAMS: &[&str] = &["git", "rm", "ls", "g*", "*", "/usr/bin/git", "sh"];
const TOOLS: &[&str] = &["\0bash", "*", "github\0*", "*\0read*", "\0*", "*\0bash"];

/// A policy.
#[must_use]
pub fn policy(random: &mut Random) -> Policy {
    let mut policy = Policy {
        name: "random".to_owned(),
        default: random.pick(&[None, None, Some(Default_::Allow), Some(Default_::Ask), Some(Default_::Deny)]),
        files: vec!["random.policy".to_owned()],
        ..Policy::default()
    };
    for _ in 0..=random.below(3) {
        let tools = random.some(2, TOOLS);
        let events = if random.one_in(8) { vec!["stop".to_owned()] } else { vec!["pre_tool_use".to_owned()] };
        let labels = if random.one_in(5) { vec!["codex".to_owned()] } else { Vec::new() };
        policy.scopes.push(Scope { tools, events, labels });
    }
    for _ in 0..random.below(3) {
        let exclude = if random.one_in(2) { random.some(1, PATHS) } else { Vec::new() };
        policy.withins.push(Within { include: random.some(2, PATHS), exclude });
    }
    for number in 0..=random.below(8) {
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
    let mut kind = random.pick(&[BlockKind::Rule, BlockKind::Rule, BlockKind::Guard, BlockKind::Exception]);
    if guards.is_empty() && kind == BlockKind::Exception {
        kind = BlockKind::Guard;
    }
    let withins = match policy.withins.len() {
        0 => Vec::new(),
        n if random.one_in(3) => vec![WithinId(u32::try_from(random.below(n)).unwrap_or(0))],
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
        opens: (kind == BlockKind::Exception).then(|| BlockId(random.pick(&guards))),
        until: (kind == BlockKind::Exception && random.one_in(3)).then(|| 100 - random.below(2) as i64),
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
    let kind = random.pick(&kinds);
    let mut verb = match of {
        BlockKind::Rule => random.pick(&[Verb::Allow, Verb::Allow, Verb::Ask, Verb::Deny, Verb::Only]),
        BlockKind::Guard => random.pick(&[Verb::Deny, Verb::Ask, Verb::Warn, Verb::Info, Verb::Only]),
        BlockKind::Exception => Verb::Open,
    };
    if of != BlockKind::Rule && random.one_in(7) {
        return bare(policy, block, if verb == Verb::Only { Verb::Deny } else { verb });
    }
    if verb == Verb::Only && (only.contains(&kind) || kind == Kind::Shell) {
        verb = if of == BlockKind::Rule { Verb::Ask } else { Verb::Deny };
    }
    if verb == Verb::Only {
        only.push(kind);
    }
    let grant = matches!(verb, Verb::Allow | Verb::Only | Verb::Open);
    let name = random.pick(&["branch", "mode"]);
    let id = push_line(policy, block, verb, kind, if kind == Kind::Arg { name } else { "" });
    for _ in 0..=random.below(2) {
        let matcher = matcher(random, kind, name);
        policy.patterns.push(Pattern { line: id, text: format!("{matcher:?}"), matcher, grant });
    }
    if random.one_in(4) {
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
        Kind::Call => Matcher::Always,
    }
}

/// A run pattern.
#[must_use]
pub fn run(random: &mut Random) -> RunPattern {
    let stages = if random.one_in(6) { 2 } else { 1 };
    RunPattern {
        stages: (0..stages).map(|_| stage(random)).collect(),
        touching: random.one_in(3).then(|| set(random)),
        reading: random.one_in(16).then(|| set(random)),
        writing: random.one_in(8).then(|| set(random)),
        deleting: random.one_in(16).then(|| set(random)),
        sending: random.one_in(16).then(|| set(random)),
        via: if random.one_in(8) { vec!["sudo".to_owned()] } else { Vec::new() },
    }
}

fn stage(random: &mut Random) -> RunStage {
    let terms = (0..random.below(3)).map(|_| match random.below(6) {
        0 => RunTerm::Flag(random.some(1, FLAGS)),
        1 => RunTerm::AnyWord,
        2 => RunTerm::AnyFlags,
        _ => RunTerm::Word(random.some(1, WORDS)),
    });
    let terms = terms.collect();
    RunStage { program: random.some(1, PROGRAMS), terms, rest: random.one_in(2) }
}

fn set(random: &mut Random) -> OperandSet {
    let mut list = |of: &[&str]| if random.one_in(2) { random.some(1, of) } else { Vec::new() };
    let (paths, texts) = (list(PATHS), list(WORDS));
    let (except_paths, except_texts) = match random.one_in(3) {
        true => (random.some(1, PATHS), Vec::new()),
        false => (Vec::new(), Vec::new()),
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

/// A call.
#[must_use]
pub fn facts(random: &mut Random) -> Facts {
    let mut facts = Facts {
        event: "pre_tool_use".to_owned(),
        labels: if random.one_in(3) { vec!["codex".to_owned()] } else { Vec::new() },
        ..Facts::default()
    };
    for _ in 0..=usize::from(random.one_in(5)) {
        let (server, tool) =
            random.pick(&[("", "bash"), ("github", "read_file"), ("", "read"), ("github", "Bash")]);
        let own = random.one_in(3);
        facts.readings.push(ToolName { server: server.to_owned(), tool: tool.to_lowercase(), own });
    }
    facts.dir = dir(random);
    for _ in 0..random.below(3) {
        let path = path(random, Origin::Call);
        facts.paths.push(path);
    }
    for _ in 0..usize::from(random.one_in(3)) {
        facts.domains.push(domain(random, Origin::Call));
    }
    for _ in 0..usize::from(random.one_in(3)) {
        let name = random.pick(&["branch", "mode", "Branch", "other"]).to_owned();
        facts.args.push(ArgFact { name, value: random.pick(&["main", "MAIN", "raw", ""]).to_owned() });
    }
    if random.one_in(2) {
        let features = random.below(8) as u32;
        facts.scripts.push(ScriptFact {
            text: "script".to_owned(),
            complete: !random.one_in(12),
            problem: String::new(),
            features,
        });
        let count = random.below(3);
        for index in 0..count {
            command(random, &mut facts, index, count);
        }
    }
    if random.one_in(20) {
        facts.opaque.push(Opaque { origin: Origin::Call, why: "too long".to_owned() });
    }
    facts
}

fn dir(random: &mut Random) -> PathName {
    let views = random.pick(&[vec!["."], vec!["."], vec!["./src"], vec!["/etc"], vec![]]);
    PathName { views: views.into_iter().map(str::to_owned).collect() }
}

fn path(random: &mut Random, origin: Origin) -> PathFact {
    let (form, of) = match random.below(6) {
        0 => (Form::Glob, VIEW_GLOBS),
        1 => (Form::Holes, VIEW_HOLES),
        _ => (Form::Exact, VIEWS),
    };
    let names = (0..=usize::from(random.one_in(4))).map(|_| {
        let views = (0..=usize::from(random.one_in(4))).map(|_| random.pick(of).to_owned()).collect();
        PathName { views: if random.one_in(40) { Vec::new() } else { views } }
    });
    let names: Vec<PathName> = names.collect();
    let access = random.pick(&[Access::READ, Access::WRITE, Access::NAME, Access::UNSURE]);
    let written = names.first().and_then(|n| n.views.first()).cloned().unwrap_or_default();
    PathFact { written, names, form, access, origin }
}

fn domain(random: &mut Random, origin: Origin) -> DomainFact {
    let host = random.pick(HOST_VALUES).to_owned();
    let form = if host.contains('\u{1}') { Form::Holes } else { Form::Exact };
    DomainFact { host, form, origin }
}

fn word(random: &mut Random) -> Word {
    let text = random.pick(&[
        "push",
        "main",
        "-f",
        "-uf",
        "--force",
        "--forc",
        "--format=x",
        "origin",
        "./src",
        "--",
        "a.rs",
        "PUSH",
    ]);
    match random.below(16) {
        0 => Word::Unknown { text: "\u{1}".to_owned(), splits: random.one_in(2) },
        1 => Word::Unknown { text: format!("{text}\u{1}"), splits: false },
        2 => Word::Glob(random.pick(&["*", "*.rs", "./src/*", "-*"]).to_owned()),
        3 => Word::OneOf(vec![text.to_owned(), random.pick(&["push", "main", "-f"]).to_owned()]),
        _ => Word::Known(text.to_owned()),
    }
}

fn part(random: &mut Random, word: &Word, dashes: bool) -> Part {
    match word {
        Word::Known(text) if text == "--" && !dashes => Part::Dashes,
        Word::Known(text) if text.starts_with('-') && !dashes && !random.one_in(8) => {
            let (name, value) =
                text.split_once('=').map_or((text.as_str(), None), |(n, v)| (n, Some(v.to_owned())));
            let names = match name.strip_prefix('-') {
                Some(letters) if !letters.starts_with('-') => {
                    letters.chars().map(|c| format!("-{c}")).collect()
                }
                _ => vec![name.to_owned()],
            };
            Part::Flag { names, value }
        }
        Word::Known(_) if random.one_in(12) => Part::FlagValue { flag: "-C".to_owned() },
        Word::Known(_) | Word::OneOf(_) if !random.one_in(12) => Part::Operand,
        _ if dashes => Part::Operand,
        _ => Part::Unclear,
    }
}

fn command(random: &mut Random, facts: &mut Facts, index: usize, count: usize) {
    let holder = u32::try_from(index).unwrap_or(0);
    let mut words = vec![match random.below(12) {
        0 => Word::Unknown { text: "\u{1}".to_owned(), splits: random.one_in(2) },
        1 => Word::OneOf(vec!["git".to_owned(), "rm".to_owned()]),
        _ => {
            Word::Known(random.pick(&["git", "rm", "ls", "/usr/bin/git", "GIT.EXE", "sh", "./sh"]).to_owned())
        }
    }];
    words.extend((0..random.below(4)).map(|_| word(random)));
    let mut parts = vec![Part::Program];
    let mut dashes = false;
    for word in words.iter().skip(1) {
        let part = part(random, word, dashes);
        dashes |= part == Part::Dashes;
        parts.push(part);
    }
    let mut own = Vec::new();
    let mut word_paths = vec![None; words.len()];
    for (slot, word) in word_paths.iter_mut().zip(&words).skip(1) {
        if random.one_in(3) && !matches!(word, Word::Known(text) if text.starts_with('-')) {
            let mut fact = path(random, Origin::Command(holder));
            fact.form = match word {
                Word::Known(_) | Word::OneOf(_) => Form::Exact,
                Word::Glob(_) => Form::Glob,
                Word::Unknown { .. } => Form::Holes,
            };
            // What makes facts says of every hole that it is one.
            if fact.written.contains('\u{1}')
                || fact.names.iter().flat_map(|n| &n.views).any(|v| v.contains('\u{1}'))
            {
                fact.form = Form::Holes;
            }
            let number = u32::try_from(facts.paths.len()).unwrap_or(0);
            facts.paths.push(fact);
            own.push(number);
            *slot = Some(number);
        }
    }
    let mut domains = Vec::new();
    if random.one_in(5) {
        domains.push(u32::try_from(facts.domains.len()).unwrap_or(0));
        facts.domains.push(domain(random, Origin::Command(holder)));
    }
    let redirects: Vec<Redirect> = (0..usize::from(random.one_in(6)))
        .map(|_| {
            let writes = random.one_in(2);
            Redirect { op: ">".to_owned(), file: true, writes, path: own.first().copied() }
        })
        .collect();
    let accesses = [
        Access::READ,
        Access::WRITE,
        Access::DELETE.and(Access::TREE),
        Access::DATA,
        Access::NAME,
        Access::READ.and(Access::SEND),
        Access::UNSURE,
    ];
    let touches = words.iter().map(|_| random.pick(&accesses)).collect();
    let text = |word: &Word| match word {
        Word::Known(text) | Word::Glob(text) | Word::Unknown { text, .. } => text.clone(),
        Word::OneOf(_) => "\u{1}".to_owned(),
    };
    let writes = redirects.iter().any(|r| r.writes);
    let plain = !writes && !random.one_in(6);
    let command = CommandFact {
        script: 0,
        text: words.iter().map(text).collect::<Vec<_>>().join(" "),
        source: String::new(),
        one_of_paths: Vec::new(),
        words,
        parts,
        touches,
        sources: Vec::new(),
        code_from: Vec::new(),
        network: false,
        sent: if random.one_in(8) { own.clone() } else { Vec::new() },
        word_paths,
        redirects,
        wrappers: if random.one_in(5) { vec!["sudo".to_owned()] } else { Vec::new() },
        pipe: (count > 1 && random.one_in(2)).then(|| (0, holder, u32::try_from(count).unwrap_or(0))),
        dir: if random.one_in(3) { dir(random) } else { facts.dir.clone() },
        plain,
        plain_but_writes: plain || writes,
        not_plain: String::new(),
        gap: if random.one_in(15) { "gap".to_owned() } else { String::new() },
        features: random.below(8) as u32,
        paths: own,
        domains,
        names: if random.one_in(8) { vec![1] } else { Vec::new() },
        unknown_is_data: random.one_in(3),
    };
    facts.commands.push(command);
}
