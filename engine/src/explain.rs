//! A compiled policy as text for review.
//!
//! INVARIANT: every block and every line of it stands there once, in the order in which blocks are asked.

use policy_compiler::ir::{
    Block, BlockId, BlockKind, Default_, Kind, Line, LineId, Policy, Scope, Verb, Within,
};
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
    let mut text = settings(policy);
    for (number, block) in policy.blocks.iter().enumerate() {
        head(policy, block, &mut text);
        for (id, line) in lines.get(&BlockId(index(number))).map(Vec::as_slice).unwrap_or_default() {
            line_text(
                policy,
                block,
                line,
                patterns.get(id).map(Vec::as_slice).unwrap_or_default(),
                &mut text,
            );
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
        let _ = writeln!(text, "  owner {:?}, until day {day} after 1970-01-01", block.owner);
    }
}

fn scope_text(scope: &Scope, text: &mut String) {
    let names: Vec<String> = scope.tools.iter().map(|tool| tool_name(tool)).collect();
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

fn line_text(policy: &Policy, block: &Block, line: &Line, patterns: &[&str], text: &mut String) {
    let verb = match line.verb {
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
    };
    let kind = match line.kind {
        Kind::Path => " path",
        Kind::Domain => " domain",
        Kind::Command => " command",
        Kind::Run => " run",
        Kind::Shell => " shell",
        Kind::Arg => " arg",
        Kind::Call => "",
    };
    let _ = write!(text, "  {verb:<5}{kind}");
    if !line.arg.is_empty() {
        let _ = write!(text, " {}", line.arg);
    }
    if !patterns.is_empty() && line.kind != Kind::Call {
        let _ = write!(text, " {}", patterns.join(", "));
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
