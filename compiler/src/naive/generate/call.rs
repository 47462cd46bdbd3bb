//! Random calls.
//!
//! INVARIANT: whatever may stand in facts stands in some call, sense or not: no answer depends on facts that fit together.

use super::Random;
use policy_runtime::facts::{
    Access, ArgFact, CommandFact, DomainFact, Facts, Form, Opaque, Origin, Part, PathFact, PathName,
    Redirect, ScriptFact, TextFact, TextRole, ToolName, Word,
};

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
    "/",
    "/etc",
    "~",
    "~/.ssh",
    "./kEY",
    "./src/c/bb",
    "/B/x",
];
const VIEW_GLOBS: &[&str] =
    &["./src/*.rs", "./*", "./.e*", "./src/[ab].rs", "/etc/*", "./s?c/x", "./.*/x", "./**/x.rs", "~/*"];
const VIEW_HOLES: &[&str] =
    &["./\u{1}", "\u{1}", "./src/\u{1}.rs", "/etc/\u{1}", "~/\u{1}/id", "./src/\u{2}.rs"];
const HOSTS: &[&str] = &[
    "github.com",
    "api.github.com",
    "evil.com",
    "127.0.0.1",
    "\u{1}.github.com",
    "api.\u{1}",
    "*.com",
    "evil.aom",
];
const TEXTS: &[&str] = &[
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
    "status",
    "xy",
    "ä",
    "STATUS",
    "HEAD:x",
    "--FORMAT=main",
    "-u",
    "--ä",
    "-",
    "-uF=x",
    "[x",
    "",
];
const PROGRAMS: &[&str] =
    &["git", "git", "git", "rm", "ls", "/usr/bin/git", "GIT.EXE", "sh", "./sh", "C:\\x\\git.exe"];

/// Lines of texts: what is looked for, what is nearly that, secrets and samples.
const LINES: &[&str] = &[
    "",
    "KEYS=ab",
    "x KEYS=abcdefgh KEYS=",
    "KEYS=a",
    "drop table",
    "a DROP TABLE b",
    "begin",
    "abc",
    "begin xy",
    "1234-mark",
    "-mark 5-mark",
    "a word.",
    "sword word_",
    "#line",
    "x #line",
    "end_of end_mark",
    "tok_q8zk2f",
    "tok_public1 tok_",
    "k = \"tok_w3v9x1\"",
    "pass=Zq81kdP0wm",
    "pass=aaaabbbb",
    "mix_a1b2c3",
    "mix_abcdef",
    "\u{e4} tok_q8zk2f",
];

/// A call.
#[must_use]
pub fn facts(random: &mut Random) -> Facts {
    let labels = random.pick(&[vec![], vec![], vec!["codex"], vec!["build", "codex"]]);
    let mut facts = Facts {
        event: if random.one_in(12) { "stop" } else { "pre_tool_use" }.to_owned(),
        labels: labels.into_iter().map(str::to_owned).collect(),
        ..Facts::default()
    };
    for _ in 0..=usize::from(random.one_in(5)) {
        let (server, tool) =
            random.pick(&[("", "bash"), ("github", "read_file"), ("", "read"), ("github", "Bash")]);
        let own = random.one_in(3);
        facts.readings.push(ToolName { server: server.to_owned(), tool: tool.to_lowercase(), own });
    }
    facts.dir = dir(random);
    // Often a call is about one kind of value: then what decides about it is not hidden by the rest.
    let about =
        random.pick(&["path", "domain", "arg", "command", "command", "command", "text", "all", "all"]);
    let mut some = |kind: &str, most: usize| match about {
        "all" => random.below(most + 3).saturating_sub(2),
        about if about == kind => 1 + random.below(most),
        _ => 0,
    };
    let (paths, domains, args) = (some("path", 2), some("domain", 2), some("arg", 2));
    let scripts = u32::try_from(some("command", 2)).unwrap_or(0);
    let texts = some("text", 2);
    for _ in 0..paths + usize::from(about == "text" && random.one_in(2)) {
        let path = path(random, Origin::Call);
        facts.paths.push(path);
    }
    for _ in 0..domains {
        facts.domains.push(domain(random, Origin::Call));
    }
    for _ in 0..args {
        let name = random.pick(&["branch", "mode", "Branch", "other", "\u{3}payee"]).to_owned();
        let value =
            random.pick(&["main", "MAIN", "raw", "", "m\u{1}", "\u{1}", "\u{1}n", "\u{1}in"]).to_owned();
        facts.args.push(ArgFact { name, value });
    }
    for script in 0..scripts {
        let features = random.below(8) as u32;
        facts.scripts.push(ScriptFact {
            text: "script".to_owned(),
            complete: !random.one_in(30),
            problem: String::new(),
            features,
        });
        let count = random.pick(&[0, 1, 1, 1, 2, 3]);
        for index in 0..count {
            command(random, &mut facts, (script, index, count));
        }
    }
    for _ in 0..texts {
        let text = text(random, facts.paths.len());
        facts.texts.push(text);
    }
    if random.one_in(40) {
        facts.opaque.push(Opaque { origin: Origin::Call, why: "too long".to_owned() });
    }
    facts
}

/// A text with lines that are new, of a file among so many paths or of none.
fn text(random: &mut Random, paths: usize) -> TextFact {
    let lines =
        |random: &mut Random| -> Vec<&str> { (0..random.below(7)).map(|_| random.pick(LINES)).collect() };
    let before = random.one_in(2).then(|| lines(random));
    let after = lines(random);
    let mut added: Vec<std::ops::Range<usize>> = Vec::new();
    let mut start = 0;
    let length = after.iter().map(|line| line.len() + 1).sum::<usize>().saturating_sub(1);
    for line in &after {
        let end = (start + line.len() + 1).min(length);
        if random.one_in(2) {
            match added.last_mut().filter(|last| last.end == start) {
                Some(last) => last.end = end,
                None => added.push(start..end),
            }
        }
        start = end;
    }
    let path = (paths > 0 && !random.one_in(3)).then(|| u32::try_from(random.below(paths)).unwrap_or(0));
    TextFact {
        role: random.pick(&[
            TextRole::File,
            TextRole::Command,
            TextRole::Prompt,
            TextRole::Output,
            TextRole::Argument,
        ]),
        path,
        before: before.map(|lines| lines.join("\n")),
        after: after.join("\n"),
        added,
        gap: if random.one_in(30) { "gap".to_owned() } else { String::new() },
    }
}

fn dir(random: &mut Random) -> PathName {
    let of = [
        vec!["."],
        vec!["."],
        vec!["."],
        vec!["./src"],
        vec!["./src", "/w/src"],
        vec!["/etc"],
        vec!["."],
        vec![],
    ];
    PathName { views: random.pick(&of).into_iter().map(str::to_owned).collect() }
}

fn path(random: &mut Random, origin: Origin) -> PathFact {
    let (form, of) = match random.below(20) {
        0..3 => (Form::Glob, VIEW_GLOBS),
        3..6 => (Form::Holes, VIEW_HOLES),
        6 => (Form::Exact, VIEW_HOLES),
        _ => (Form::Exact, VIEWS),
    };
    let names = if random.one_in(60) { 0 } else { 1 + usize::from(random.one_in(4)) };
    let names = (0..names).map(|_| {
        let views = (0..=usize::from(random.one_in(4))).map(|_| random.pick(of).to_owned()).collect();
        PathName { views: if random.one_in(80) { Vec::new() } else { views } }
    });
    let names: Vec<PathName> = names.collect();
    let access = random.pick(&[Access::READ, Access::WRITE, Access::NAME, Access::DATA, Access::UNSURE]);
    let written = match names.first().and_then(|n| n.views.first()) {
        Some(view) => view.clone(),
        None => random.pick(of).to_owned(),
    };
    PathFact { written, names, form, access, origin }
}

fn domain(random: &mut Random, origin: Origin) -> DomainFact {
    let host = random.pick(HOSTS).to_owned();
    let form = match host.contains('*') {
        true => Form::Glob,
        false if host.contains('\u{1}') => Form::Holes,
        false => Form::Exact,
    };
    DomainFact { host, form, origin }
}

fn word(random: &mut Random) -> Word {
    let text = random.pick(TEXTS);
    match random.below(20) {
        0 => Word::Unknown { text: "\u{1}".to_owned(), splits: random.one_in(2) },
        1 => Word::Unknown { text: format!("{text}\u{1}"), splits: random.one_in(4) },
        2 => Word::Unknown { text: "--format=\u{1}".to_owned(), splits: false },
        3 => Word::Glob(random.pick(&["*", "*.rs", "./src/*", "-*", "--f[o]*", "pus?", "m*"]).to_owned()),
        4 | 5 => {
            let mut more = || random.pick(&["push", "main", "-f", "status", "./src", "origin"]).to_owned();
            Word::OneOf(vec![text.to_owned(), more(), more()])
        }
        // Looks known.
        6 if random.one_in(3) => {
            Word::Known(random.pick(&["m\u{1}n", "-\u{2}", "./\u{1}", "--f\u{1}"]).to_owned())
        }
        _ => Word::Known(text.to_owned()),
    }
}

/// The flags of a word as a program's data tells them, with the value that is attached.
fn flag(text: &str) -> Part {
    let (name, value) = text.split_once('=').map_or((text, None), |(n, v)| (n, Some(v.to_owned())));
    let names = match name.strip_prefix('-') {
        Some(letters) if !letters.starts_with('-') => letters.chars().map(|c| format!("-{c}")).collect(),
        _ => vec![name.to_owned()],
    };
    Part::Flag { names, value }
}

fn part(random: &mut Random, word: &Word, dashes: bool) -> Part {
    let value = Part::FlagValue { flag: "-C".to_owned() };
    match word {
        Word::Known(text) if text == "--" && !dashes => Part::Dashes,
        Word::Known(text) if text.len() > 1 && text.starts_with('-') && !dashes && !random.one_in(8) => {
            flag(text)
        }
        Word::Unknown { text, .. } if text.starts_with("--") && !dashes && !random.one_in(4) => flag(text),
        Word::Unknown { .. } if random.one_in(3) => value,
        Word::Unknown { .. } if random.one_in(3) => Part::Operand,
        Word::Known(_) | Word::Glob(_) if random.one_in(12) => value,
        Word::Glob(_) if random.one_in(8) => flag("-f"),
        Word::Known(_) | Word::OneOf(_) | Word::Glob(_) if !random.one_in(12) => Part::Operand,
        _ if dashes => Part::Operand,
        _ => Part::Unclear,
    }
}

fn access(random: &mut Random) -> Access {
    random.pick(&[
        Access::READ,
        Access::WRITE,
        Access::DELETE.and(Access::TREE),
        Access::READ.and(Access::TREE),
        Access::DATA,
        Access::DATA,
        Access::NAME,
        Access::READ.and(Access::SEND),
        Access::UNSURE,
        Access::CODE,
        // What may be done.
        Access::DATA.and(Access::from_bits(0b0_0101 << 9)),
        Access::READ.and(Access::from_bits(0b1_0010 << 9)),
    ])
}

/// A path of a command; its number.
fn named(random: &mut Random, facts: &mut Facts, holder: u32, form: Option<Form>) -> u32 {
    let mut fact = path(random, Origin::Command(holder));
    fact.form = form.unwrap_or(fact.form);
    let number = u32::try_from(facts.paths.len()).unwrap_or(0);
    facts.paths.push(fact);
    number
}

fn words(random: &mut Random) -> Vec<Word> {
    let mut words = vec![match random.below(24) {
        0 => Word::Unknown { text: "\u{1}".to_owned(), splits: random.one_in(2) },
        1 => Word::Unknown {
            text: random.pick(&["/bin/\u{1}", "\u{1}/git", "g\u{1}"]).to_owned(),
            splits: false,
        },
        2 => Word::Glob(random.pick(&["/b??/rm", "g*", "./[gs]it", "*"]).to_owned()),
        3 | 4 => Word::OneOf(vec!["git".to_owned(), random.pick(&["rm", "Git", "./sh"]).to_owned()]),
        5 if random.one_in(3) => Word::Known("g\u{1}t".to_owned()),
        _ => Word::Known(random.pick(PROGRAMS).to_owned()),
    }];
    // Now and then so many that equal ones are told apart first.
    let count = if random.one_in(40) { 14 + random.below(10) } else { random.below(5) };
    let few: Vec<Word> = (0..3).map(|_| word(random)).collect();
    let repeats = count > 5 && random.one_in(2);
    words.extend(
        (0..count).map(|_| if repeats && !random.one_in(4) { random.pick(&few) } else { word(random) }),
    );
    if random.one_in(40) { Vec::new() } else { words }
}

fn command(random: &mut Random, facts: &mut Facts, (script, index, count): (u32, usize, usize)) {
    let holder = u32::try_from(facts.commands.len()).unwrap_or(0);
    let words = words(random);
    let mut parts = Vec::new();
    let mut dashes = false;
    for word in &words {
        let part = if parts.is_empty() { Part::Program } else { part(random, word, dashes) };
        dashes |= part == Part::Dashes;
        parts.push(part);
    }
    let (mut own, mut one_of_paths) = (Vec::new(), Vec::new());
    let mut word_paths = vec![None; words.len()];
    for (index, word) in words.iter().enumerate().skip(1) {
        let flag = matches!(word, Word::Known(text) if text.starts_with('-'));
        if !random.one_in(if flag { 6 } else { 2 }) {
            continue;
        }
        let (form, several) = match word {
            Word::Known(_) => (None, 1),
            Word::OneOf(texts) => (Some(Form::Exact), random.pick(&[1, texts.len()])),
            Word::Glob(_) => (Some(Form::Glob), 1),
            Word::Unknown { .. } => (Some(Form::Holes), 1),
        };
        for _ in 0..several {
            let number = named(random, facts, holder, form);
            own.push(number);
            if several > 1 {
                one_of_paths.push((u32::try_from(index).unwrap_or(0), number));
            }
        }
        if let (Some(slot), Some(number)) = (word_paths.get_mut(index), own.last()) {
            *slot = Some(*number);
        }
    }
    let mut domains = Vec::new();
    if random.one_in(5) {
        domains.push(u32::try_from(facts.domains.len()).unwrap_or(0));
        facts.domains.push(domain(random, Origin::Command(holder)));
    }
    let mut redirects = Vec::new();
    for _ in 0..random.below(10).saturating_sub(7) {
        let writes = random.one_in(2);
        let op = if writes { ">" } else { "<" }.to_owned();
        let path = match random.below(8) {
            0 => None,
            1 => own.first().copied(),
            _ => Some(named(random, facts, holder, None)),
        };
        own.extend(path.filter(|path| !own.contains(path)));
        redirects.push(Redirect { op, file: !random.one_in(6), writes, path });
    }
    let mut touches: Vec<Access> = words.iter().map(|_| access(random)).collect();
    if random.one_in(10) {
        touches.truncate(random.below(4));
    }
    let text = |word: &Word| match word {
        Word::Known(text) | Word::Glob(text) | Word::Unknown { text, .. } => text.clone(),
        Word::OneOf(_) => "\u{1}".to_owned(),
    };
    let writes = redirects.iter().any(|r| r.writes && r.file);
    let odd = random.one_in(6);
    let every: Vec<u32> = (0u32..).zip(&facts.paths).map(|(number, _)| number).collect();
    let sent = match random.below(10) {
        0 => own.clone(),
        1 if !every.is_empty() => vec![random.pick(&every)],
        _ => Vec::new(),
    };
    // Two commands of one stage, and two pipes in one text.
    let stage = u32::try_from(if random.one_in(6) { index / 2 } else { index }).unwrap_or(0);
    let pipe = (u32::from(random.one_in(6)), stage, u32::try_from(count).unwrap_or(0));
    let command = CommandFact {
        script,
        text: words.iter().map(text).collect::<Vec<_>>().join(" "),
        source: String::new(),
        one_of_paths,
        names: if random.one_in(8) { vec![1 + random.below(3) as u32] } else { Vec::new() },
        words,
        parts,
        touches,
        sources: Vec::new(),
        code_from: Vec::new(),
        network: false,
        sent,
        word_paths,
        input: None,
        redirects,
        wrappers: (0..random.below(6).saturating_sub(3))
            .map(|_| random.pick(&["sudo", "env", "/usr/bin/SUDO", "su.exe"]).to_owned())
            .collect(),
        pipe: (count > 1 && !random.one_in(3)).then_some(pipe),
        dir: if random.one_in(3) { dir(random) } else { facts.dir.clone() },
        plain: !writes && !odd,
        plain_but_writes: !odd,
        not_plain: String::new(),
        gap: if random.one_in(30) { "gap".to_owned() } else { String::new() },
        features: random.below(8) as u32,
        paths: own,
        domains,
        unknown_is_data: random.one_in(3),
    };
    facts.commands.push(command);
    if random.one_in(24) {
        twin(random, facts);
    }
}

/// The last command again, as it is or with one difference, with paths of its own that are the same.
fn twin(random: &mut Random, facts: &mut Facts) {
    let Some(mut twin) = facts.commands.last().cloned() else { return };
    let holder = u32::try_from(facts.commands.len()).unwrap_or(0);
    if random.one_in(2) {
        let copies: Vec<(u32, u32)> = twin
            .paths
            .iter()
            .filter_map(|number| {
                let mut path = facts.paths.get(*number as usize)?.clone();
                path.origin = Origin::Command(holder);
                facts.paths.push(path);
                Some((*number, u32::try_from(facts.paths.len()).unwrap_or(1) - 1))
            })
            .collect();
        let again = |number: &mut u32| {
            if let Some((_, copy)) = copies.iter().find(|(own, _)| own == number) {
                *number = *copy;
            }
        };
        twin.paths.iter_mut().for_each(again);
        twin.sent.iter_mut().for_each(again);
        twin.word_paths.iter_mut().flatten().for_each(again);
        twin.one_of_paths.iter_mut().for_each(|(_, number)| again(number));
        twin.redirects.iter_mut().filter_map(|redirect| redirect.path.as_mut()).for_each(again);
    }
    match random.below(12) {
        0 => twin.plain = !twin.plain,
        1 => twin.gap = "gap".to_owned(),
        2 => twin.dir = dir(random),
        3 => twin.pipe = twin.pipe.map(|(pipe, stage, count)| (pipe, stage + 1, count)),
        4 => twin.wrappers.push("sudo".to_owned()),
        5 => twin.features ^= 1,
        6 => twin.sent.clear(),
        7 => twin.touches.clear(),
        8 => twin.names.clear(),
        9 => twin.unknown_is_data = !twin.unknown_is_data,
        _ => {}
    }
    facts.commands.push(twin);
}
