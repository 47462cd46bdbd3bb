//! A compiled policy as text for review.
//!
//! INVARIANT: every block and every line of it stands there once, in the order in which blocks are asked.

use policy_compiler::ir::{
    Block, BlockId, BlockKind, Default_, Kind, Line, LineId, Matcher, Policy, RunPattern, RunStage, RunTerm,
    Scope, Within,
};
use policy_grammar::ast::{Item, Member};
use policy_grammar::shell::Feature;
use policy_grammar::source::FileId;
use policy_runtime::payment;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The policy as text.
pub fn policy(policy: &Policy) -> String {
    let mut lines: BTreeMap<BlockId, Vec<(LineId, &Line)>> = BTreeMap::new();
    for (number, line) in policy.lines.iter().enumerate() {
        lines.entry(line.block).or_default().push((LineId(index(number)), line));
    }
    let mut patterns: BTreeMap<LineId, Vec<&str>> = BTreeMap::new();
    for pattern in &policy.patterns {
        let of_line = patterns.entry(pattern.line).or_default();
        if !of_line.contains(&pattern.text.as_str()) {
            of_line.push(&pattern.text);
        }
    }
    let mut excepts: BTreeMap<LineId, Vec<String>> = BTreeMap::new();
    for except in &policy.excepts {
        let of_line = excepts.entry(except.line).or_default();
        let text = matcher_text(&except.matcher);
        if !of_line.contains(&text) {
            of_line.push(text);
        }
    }
    let mut text = settings(policy);
    for (number, block) in policy.blocks.iter().enumerate() {
        head(policy, block, &mut text);
        for (id, line) in lines.get(&BlockId(index(number))).map(Vec::as_slice).unwrap_or_default() {
            let written = patterns.get(id).map(Vec::as_slice).unwrap_or_default();
            let back = excepts.get(id).map(Vec::as_slice).unwrap_or_default();
            line_text(policy, block, line, (written, back), &mut text);
        }
        text.push('\n');
    }
    text
}

fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn settings(policy: &Policy) -> String {
    let mut text = String::new();
    let default = match policy.default {
        Some(Default_::Allow) => "allow",
        Some(Default_::Host) => "host",
        Some(Default_::Ask) => "ask",
        Some(Default_::Deny) => "deny",
        None => "host (none is written)",
    };
    let _ = writeln!(text, "default {default}");
    if let Some(seconds) = policy.ask_timeout {
        let _ = writeln!(text, "ask timeout {seconds}s");
    }
    if policy.page_only {
        text.push_str("ask via page\n");
    }
    if policy.observe {
        text.push_str("mode observe: nothing is enforced\n");
    }
    text.push('\n');
    text
}

fn head(policy: &Policy, block: &Block, text: &mut String) {
    let kind = match block.kind {
        BlockKind::Rule => "rule",
        BlockKind::Guard => "guard",
        BlockKind::Exception => "exception",
    };
    let _ = write!(text, "{kind} {}", block.name);
    if let Some(guard) = block.opens.and_then(|id| policy.blocks.get(id.0 as usize)) {
        let _ = write!(text, " to {}", guard.name);
    }
    if let Some(scope) = policy.scopes.get(block.scope.0 as usize) {
        scope_text(scope, text);
    }
    for within in block.withins.iter().filter_map(|id| policy.withins.get(id.0 as usize)) {
        within_text(within, text);
    }
    let _ = writeln!(text, "    # {}", place(policy, block.place.file, block.place.line));
    if !block.because.is_empty() {
        let _ = writeln!(text, "  because {:?}", block.because);
    }
    if !block.suggest.is_empty() {
        let _ = writeln!(text, "  suggest {:?}", block.suggest);
    }
    if let Some(day) = block.until {
        let _ = writeln!(text, "  owner {:?}\n  until {}", block.owner, policy_runtime::explain::date(day));
    }
}

fn scope_text(scope: &Scope, text: &mut String) {
    let names = short_names(scope.tools.iter().map(|tool| tool_name(tool)).collect());
    if names.iter().all(|name| name != "*") {
        let _ = write!(text, " on {}", names.join(", "));
    }
    if scope.events.len() != 1 || scope.events.first().is_none_or(|event| event != "pre_tool_use") {
        let _ = write!(text, " at {}", scope.events.join(", "));
    }
    if !scope.labels.is_empty() {
        let _ = write!(text, " as {}", scope.labels.join(", "));
    }
}

/// Names with those of a whole built-in list replaced by the list.
fn short_names(mut names: Vec<String>) -> Vec<String> {
    let mut out = Vec::new();
    for (list, members) in tool_lists() {
        if members.len() > 1 && members.iter().all(|member| names.contains(member)) {
            names.retain(|name| !members.contains(name));
            out.push(format!("@std/{list}"));
        }
    }
    out.append(&mut names);
    out
}

/// The lists of `std/tools` with their members in lower case, the longest first.
fn tool_lists() -> Vec<(String, Vec<String>)> {
    let text = policy_compiler::pack("std/tools").unwrap_or_default();
    let parsed = policy_grammar::parse(FileId::default(), text);
    let mut lists: Vec<(String, Vec<String>)> = Vec::new();
    for item in parsed.file.items {
        let Item::List { name, members, .. } = item else { continue };
        let mut all = Vec::new();
        for member in members {
            match member {
                Member::Name(text) | Member::Pattern(text) => all.push(text.node.to_lowercase()),
                Member::Ref(text) => {
                    let known = lists.iter().find(|(list, _)| *list == text.node);
                    all.extend(known.map(|(_, members)| members.clone()).unwrap_or_default());
                }
                Member::Run(_) => {}
            }
        }
        lists.push((name.node, all));
    }
    lists.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    lists
}

fn tool_name(glob: &str) -> String {
    match glob.split_once('\0') {
        None => glob.to_string(),
        Some(("", tool)) => tool.to_string(),
        Some(("*", tool)) => format!("{tool} from any server"),
        Some((server, tool)) => format!("{tool} from {server}"),
    }
}

fn within_text(within: &Within, text: &mut String) {
    let _ = write!(text, " for {}", within.include.join(", "));
    if !within.exclude.is_empty() {
        let _ = write!(text, " except {}", within.exclude.join(", "));
    }
}

fn line_text(
    policy: &Policy,
    block: &Block,
    line: &Line,
    (patterns, excepts): (&[&str], &[String]),
    text: &mut String,
) {
    let _ = write!(text, "  {:<5}", line.verb.word());
    match payment::word(&line.arg) {
        Some("") => {}
        Some(word) => drop(write!(text, " {word}")),
        None if line.kind != Kind::Call => drop(write!(text, " {}", line.kind.word())),
        None => {}
    }
    if !line.arg.is_empty() && !payment::is_of_payment(&line.arg) {
        let _ = write!(text, " {}", line.arg);
    }
    let patterns: Vec<&str> = patterns.iter().copied().filter(|text| *text != payment::OTHER).collect();
    if !patterns.is_empty() && line.kind != Kind::Call {
        let _ = write!(text, " {}", patterns.join(", "));
    }
    if !excepts.is_empty() {
        let _ = write!(text, " except {}", excepts.join(", "));
    }
    if !line.because.is_empty() && line.because != block.because {
        let _ = write!(text, "  because {:?}", line.because);
    }
    if !line.suggest.is_empty() && line.suggest != block.suggest {
        let _ = write!(text, "  suggest {:?}", line.suggest);
    }
    let _ = writeln!(text, "    # {}", place(policy, line.place.file, line.place.line));
}

fn place(policy: &Policy, file: u32, line: u32) -> String {
    let name = policy.files.get(file as usize).map_or("", String::as_str);
    if line == 0 { name.to_string() } else { format!("{name}:{line}") }
}

/// A spelled-out pattern, for those that have no text of their own.
fn matcher_text(matcher: &Matcher) -> String {
    match matcher {
        Matcher::Content(_, text) | Matcher::Check(text) => text.clone(),
        Matcher::Secret(_, number) => format!("secret {number}"),
        Matcher::Path(glob) | Matcher::Domain(glob) | Matcher::Command(glob) => glob.clone(),
        Matcher::Arg(glob) => glob.split_once('\0').map_or(glob.as_str(), |(_, value)| value).to_string(),
        Matcher::Run(run) => run_text(run),
        Matcher::Shell(mask) => {
            let names = Feature::ALL.iter().filter(|(feature, _)| mask & feature.bit() != 0);
            names.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
        }
        Matcher::Always => "everything".to_string(),
    }
}

fn run_text(run: &RunPattern) -> String {
    let any = |texts: &[String]| match texts {
        [one] => one.clone(),
        several => format!("{{{}}}", several.join(",")),
    };
    let stage = |stage: &RunStage| {
        let mut words = vec![any(&stage.program)];
        words.extend(stage.terms.iter().map(|term| match term {
            RunTerm::Word(texts) | RunTerm::Flag(texts) => any(texts),
            RunTerm::AnyWord => "*".to_string(),
            RunTerm::AnyFlags => "-*".to_string(),
        }));
        if stage.rest {
            words.push("...".to_string());
        }
        words.join(" ")
    };
    let mut text = run.stages.iter().map(stage).collect::<Vec<_>>().join(" | ");
    for (word, set) in run.sets() {
        let members: Vec<&str> = set.paths.iter().chain(&set.texts).map(String::as_str).collect();
        let _ = write!(text, " {word} {}", members.join(", "));
    }
    if !run.via.is_empty() {
        let _ = write!(text, " via {}", run.via.join(", "));
    }
    text
}
