//! What one call touches, as lines for review: each command with the programs around it, what it does with which file,
//! where its input and its code come from, and why a part of it is not known.
//!
//! INVARIANT: every command, path, host and cause of the facts stands there; what belongs to a command stands below it.

use policy_runtime::facts::{Access, CommandFact, Facts, Form, Origin, PathFact, Word};

/// The lines.
#[must_use]
pub fn touched(facts: &Facts) -> Vec<String> {
    let mut out = Vec::new();
    for name in &facts.readings {
        let from = if name.server.is_empty() { String::new() } else { format!(" from {}", name.server) };
        out.push(format!("tool     {}{from}", name.tool));
    }
    for command in &facts.commands {
        of_command(facts, command, &mut out);
    }
    let own = |origin: &Origin| !matches!(origin, Origin::Command(_));
    for path in facts.paths.iter().filter(|path| own(&path.origin)) {
        out.push(format!("path     {}", path_text(path)));
    }
    for domain in facts.domains.iter().filter(|domain| own(&domain.origin)) {
        out.push(format!("host     {}", known(&domain.host)));
    }
    for script in facts.scripts.iter().filter(|script| !script.complete) {
        out.push(format!("not understood: {}", script.problem));
    }
    for opaque in &facts.opaque {
        out.push(format!("not understood: {}", opaque.why));
    }
    out
}

fn of_command(facts: &Facts, command: &CommandFact, out: &mut Vec<String>) {
    let words: Vec<String> = command.words.iter().map(shown).collect();
    let redirects: Vec<String> = command
        .redirects
        .iter()
        .map(|redirect| {
            let path = redirect.path.and_then(|at| facts.paths.get(at as usize));
            format!("{} {}", redirect.op, path.map_or_else(String::new, |path| known(&path.written)))
        })
        .collect();
    let text = words.iter().chain(redirects.iter()).map(|word| word.trim_end()).collect::<Vec<_>>().join(" ");
    out.push(format!("command  {text}"));
    let mut line = |what: &str, value: &str| out.push(format!("         {what:<10} {value}"));
    if !command.wrappers.is_empty() {
        line("inside", &command.wrappers.join(", "));
    }
    if let Some(view) = command.dir.views.first().filter(|view| *view != ".") {
        line("in", &known(view));
    }
    for number in &command.paths {
        let Some(path) = facts.paths.get(*number as usize) else { continue };
        let doing = doing(path.access);
        if !doing.is_empty() {
            line(&doing, &path_text(path));
        }
    }
    let mut hosts: Vec<&str> = command
        .domains
        .iter()
        .filter_map(|number| facts.domains.get(*number as usize))
        .map(|domain| domain.host.as_str())
        .collect();
    hosts.dedup();
    for host in hosts {
        line("host", &known(host));
    }
    let named = |number: &u32| facts.commands.get(*number as usize).map(|from| format!("`{}`", from.source));
    let code: Vec<String> = command.code_from.iter().filter_map(named).collect();
    if !code.is_empty() {
        line("runs", &format!("what {} gives", code.join(", ")));
    }
    let input: Vec<String> =
        command.sources.iter().filter(|from| !command.code_from.contains(from)).filter_map(named).collect();
    if !input.is_empty() {
        line("takes", &format!("what {} gives", input.join(", ")));
    }
    let unknown = words_not_known(command);
    if !unknown.is_empty() {
        line("not known", &unknown);
    }
    if !command.gap.is_empty() {
        line("not known", &command.gap);
    } else if !command.not_plain.is_empty() {
        line("not plain", &command.not_plain);
    }
}

/// Which words are not known, and whether they may be several.
fn words_not_known(command: &CommandFact) -> String {
    let name = |(at, word): (usize, &Word)| {
        let what = match word {
            Word::Unknown { splits: true, .. } => "may be none or several",
            Word::Unknown { splits: false, .. } => "may be anything",
            Word::Known(_) | Word::OneOf(_) | Word::Glob(_) => return None,
        };
        Some(format!("word {} {what}", at + 1))
    };
    command.words.iter().enumerate().filter_map(name).collect::<Vec<_>>().join(", ")
}

/// What is done with a path, in the words of the language; else what may be done.
fn doing(access: Access) -> String {
    let words = [
        (Access::READ, "reads", "read"),
        (Access::WRITE, "writes", "write"),
        (Access::DELETE, "deletes", "delete"),
        (Access::RUN, "runs", "run"),
        (Access::SEND, "sends", "send"),
        (Access::NAME, "lists", "list"),
    ];
    let done: Vec<&str> =
        words.iter().filter(|(bit, ..)| access.any(*bit)).map(|(_, does, _)| *does).collect();
    if !done.is_empty() {
        return done.join(", ");
    }
    if access.any(Access::UNSURE) || access == Access::default() {
        return "may touch".to_owned();
    }
    let may: Vec<&str> = words.iter().filter(|(bit, ..)| access.may(*bit)).map(|(.., verb)| *verb).collect();
    if may.is_empty() { String::new() } else { format!("may {}", may.join(", ")) }
}

fn path_text(path: &PathFact) -> String {
    let views: Vec<&str> =
        path.names.iter().filter_map(|name| name.views.first()).map(String::as_str).collect();
    let below =
        if path.access.any(Access::TREE) && !path.access.is_name_only() { " and all below" } else { "" };
    let glob = if path.form == Form::Glob { "files " } else { "" };
    format!("{glob}{}  ({}){below}", known(&path.written), known(&views.join(" -> ")))
}

/// A word as a shell would read it back.
fn quoted(text: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || "-_./:@%+,=~{}".contains(c);
    if !text.is_empty() && text.chars().all(safe) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

fn known(text: &str) -> String {
    text.replace('\u{1}', "<unknown>").replace('\u{2}', "*")
}

fn shown(word: &Word) -> String {
    match word {
        Word::Known(text) => quoted(text),
        Word::OneOf(texts) => format!("<one of {}>", texts.join(", ")),
        Word::Glob(text) => format!("<files {text}>"),
        Word::Unknown { text, .. } => known(text),
    }
}
