//! The walk over a call's arguments: each value is a path, a command, a URL or data, by its key and by its looks.
//!
//! INVARIANT: every scalar is visited once and becomes an argument fact; depth, count and size are bounded, and what
//! lies beyond a bound is opaque.

use super::command::is_harmless;
use super::key::{Kind, MAX_NAME, kind_of};
use super::path::Raw;
use super::spelling::{HOLE, has_drive, is_network_name};
use super::words::quoted;
use super::{Builder, url};
use policy_runtime::facts::Origin;
use serde_json::{Map, Value};

/// Deepest nesting of arguments.
const MAX_DEPTH: usize = 64;
/// Most values of one call.
const MAX_VALUES: usize = 4096;
/// Longest text that can be a path by its looks alone, bytes: no system takes a longer one.
const MAX_LOOKS: usize = 4096;

struct Entry<'v> {
    value: &'v Value,
    name: String,
    kind: Kind,
    base: Option<Raw>,
    gap: Option<String>,
    depth: usize,
    /// It was read as a part of a command already.
    done: bool,
}

/// Visits all arguments.
pub(super) fn walk(builder: &mut Builder<'_>, arguments: &Value) {
    let mut stack = vec![Entry {
        value: arguments,
        name: String::new(),
        kind: Kind::Other,
        base: None,
        gap: None,
        depth: 0,
        done: false,
    }];
    let (mut count, mut paths, mut patched) = (0usize, false, false);
    while let Some(entry) = stack.pop() {
        count += 1;
        if count > MAX_VALUES {
            return builder.opaque(Origin::Call, &format!("more than {MAX_VALUES} values"));
        }
        if entry.depth > MAX_DEPTH {
            builder.opaque(origin(&entry.name), &format!("a value nested deeper than {MAX_DEPTH}"));
            continue;
        }
        match entry.value {
            Value::Object(map) => {
                let before = stack.len();
                object(builder, map, &entry, &mut stack);
                stack.get_mut(before..).unwrap_or_default().reverse();
            }
            Value::Array(items) => {
                array(builder, items, &entry, &mut stack, MAX_VALUES.saturating_sub(count))
            }
            scalar => {
                paths |= entry.kind == Kind::Path;
                patched |= entry.kind == Kind::Patch;
                one(builder, &entry, scalar);
            }
        }
    }
    if builder.tool.patch && !patched {
        builder.opaque(Origin::Call, "a patch tool without a patch");
    }
    if builder.tool.here && !paths {
        let base = builder.namer.base().clone();
        let named = builder.namer.argument(&base, ".", false);
        builder.path(".", named, builder.tool.access, Origin::Call);
    }
}

fn object<'v>(
    builder: &mut Builder<'_>,
    map: &'v Map<String, Value>,
    entry: &Entry<'v>,
    stack: &mut Vec<Entry<'v>>,
) {
    let mut kinds: Vec<Kind> = map.keys().map(|key| kind_of(&builder.tool, key, entry.kind)).collect();
    if builder.tool.fetch && !kinds.contains(&Kind::Url) {
        // What is fetched may stand in the question itself.
        let questions = map.keys().zip(&mut kinds).filter(|(key, _)| key.as_str() == "prompt");
        questions.for_each(|(_, kind)| *kind = Kind::Data);
    }
    let find = |wanted: Kind| {
        map.iter()
            .zip(&kinds)
            .find(|((_, value), kind)| **kind == wanted && value.is_string())
            .map(|((_, value), _)| value)
    };
    // The folder beside a command or a path, and the one beside a pattern.
    let folder = |builder: &Builder<'_>, base: Option<&Raw>, value: &Value| {
        let text = value.as_str().filter(|text| text.len() <= MAX_LOOKS)?;
        Some(builder.namer.argument_folder(base.unwrap_or(builder.namer.base()), text))
    };
    let mut base = entry.base.clone();
    if let Some(found) = find(Kind::Folder).and_then(|value| folder(builder, base.as_ref(), value)) {
        base = Some(found);
    }
    let glob_base = match find(Kind::Path).filter(|_| kinds.contains(&Kind::Glob)) {
        Some(value) => folder(builder, base.as_ref(), value).or_else(|| base.clone()),
        None => base.clone(),
    };
    let mut gap = entry.gap.clone();
    if builder.tool.shell || kinds.contains(&Kind::Command) {
        let variables = map.iter().zip(&kinds).filter(|(_, kind)| **kind == Kind::Variables);
        for ((_, value), _) in variables {
            gap = gap.or_else(|| variable_gap(value));
        }
    }
    // A program and its words, each under a key of its own, are one command.
    let command = map.iter().zip(&kinds).find(|(_, kind)| **kind == Kind::Command);
    let words = map.iter().zip(&kinds).find(|((_, value), kind)| **kind == Kind::Words && value.is_array());
    let mut joined = Vec::new();
    if let (Some(((key, command), _)), Some(((words_key, words), _))) = (command, words)
        && !entry.done
        && let Some(texts) = argv(words)
    {
        let front = match command {
            Value::String(text) => Some(text.clone()),
            other => argv(other).map(|texts| quoted(texts.iter().map(String::as_str))),
        };
        if let Some(front) = front {
            let name = dotted(&entry.name, key);
            let run = |builder: &mut Builder<'_>, text: &str| {
                let base = base.clone().unwrap_or_else(|| builder.namer.base().clone());
                builder.command(text, &origin(&name), &base, gap.as_deref());
            };
            let text = format!("{front} {}", quoted(texts.iter().map(String::as_str)));
            let plain = format!("{front} {}", texts.join(" "));
            run(builder, text.trim_end());
            // SECURITY: some shell tools join the words with blanks, so a shell reads them again.
            if builder.tool.joins && plain != text {
                run(builder, plain.trim_end());
            }
            joined.extend([key, words_key]);
        }
    }
    for ((key, value), kind) in map.iter().zip(kinds).take(MAX_VALUES + 1) {
        let name = dotted(&entry.name, key);
        if name.len() > MAX_NAME {
            builder.opaque(Origin::Call, "an argument with a name that is too long");
            continue;
        }
        if !entry.done && !builder.tool.shell {
            named_by_key(builder, &base, key, entry.kind, &origin(&name));
        }
        let own = match kind {
            Kind::Folder => entry.base.clone(),
            Kind::Glob => glob_base.clone(),
            _ => base.clone(),
        };
        stack.push(Entry {
            value,
            name,
            kind,
            base: own,
            gap: gap.clone(),
            depth: entry.depth + 1,
            done: entry.done || joined.contains(&key),
        });
    }
}

fn array<'v>(
    builder: &mut Builder<'_>,
    items: &'v [Value],
    entry: &Entry<'v>,
    stack: &mut Vec<Entry<'v>>,
    room: usize,
) {
    let mut done = entry.done;
    let is_words = match entry.kind {
        Kind::Command => true,
        Kind::Words => builder.tool.shell,
        _ => false,
    };
    if is_words
        && !done
        && let Some(texts) = argv(entry.value)
    {
        let base = entry.base.clone().unwrap_or_else(|| builder.namer.base().clone());
        let text = quoted(texts.iter().map(String::as_str));
        builder.command(&text, &origin(&entry.name), &base, entry.gap.as_deref());
        // A first word with blanks: this may be a list of commands as well, and then each is read.
        done = !texts.first().is_some_and(|first| first.trim().contains(char::is_whitespace));
        if !done && builder.tool.joins {
            builder.command(&texts.join(" "), &origin(&entry.name), &base, entry.gap.as_deref());
        }
    }
    if items.len() > room {
        builder.opaque(origin(&entry.name), &format!("more than {MAX_VALUES} values"));
    }
    for value in items.iter().take(room).rev() {
        stack.push(Entry {
            value,
            name: entry.name.clone(),
            kind: entry.kind,
            base: entry.base.clone(),
            gap: entry.gap.clone(),
            depth: entry.depth + 1,
            done,
        });
    }
}

/// One scalar.
fn one(builder: &mut Builder<'_>, entry: &Entry<'_>, value: &Value) {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    builder.argument(&entry.name, text.clone());
    let is_text = value.is_string()
        || value.is_number() && !matches!(entry.kind, Kind::Other | Kind::Data | Kind::Note);
    if !is_text || entry.done {
        return;
    }
    let from = origin(&entry.name);
    if entry.kind == Kind::Patch {
        let base = entry.base.clone().unwrap_or_else(|| builder.namer.base().clone());
        builder.patch(&text, &base, &from);
        return;
    }
    if text.contains(['\0', HOLE]) && !matches!(entry.kind, Kind::Data | Kind::Note) {
        return builder.opaque(from, "a text with a control character in it");
    }
    let base = entry.base.clone().unwrap_or_else(|| builder.namer.base().clone());
    let is_command = match entry.kind {
        Kind::Command | Kind::Commands => true,
        // A folder that reads like a command may be one: the name of its key was only a guess.
        Kind::Folder => builder.tool.shell && looks_like_command(builder, &text),
        Kind::Note | Kind::Variables => false,
        _ => builder.tool.shell && value.is_string(),
    };
    if is_command {
        builder.command(&text, &from, &base, entry.gap.as_deref());
    }
    match entry.kind {
        Kind::Path | Kind::Folder => path(builder, &base, &text, false, &from),
        Kind::Glob => {
            let text = if builder.tool.grep && !text.contains('/') { format!("**/{text}") } else { text };
            // `!(a)` is every name but one; a lone `!` turns the pattern around.
            let bare = text.strip_prefix('!').filter(|bare| !bare.starts_with('('));
            path(builder, &base, bare.unwrap_or(&text), true, &from);
        }
        Kind::Url => {
            let front = text.trim_start();
            if front.get(..5).is_some_and(|front| front.eq_ignore_ascii_case("file:"))
                || looks_like_path(front)
            {
                path(builder, &base, &text, false, &from);
            }
            builder.domains(url::whole(&text, false), &from);
        }
        Kind::Host => drop(builder.domains(url::whole(&text, true), &from)),
        Kind::Data => {
            if builder.tool.fetch {
                builder.domains(url::scan(&text), &from);
            }
        }
        Kind::Other | Kind::Words => {
            if !is_command {
                by_looks(builder, &base, &text, &from);
            }
        }
        Kind::Command | Kind::Commands | Kind::Note | Kind::Variables | Kind::Patch => {}
    }
}

fn path(builder: &mut Builder<'_>, base: &Raw, text: &str, glob: bool, from: &Origin) {
    let named = builder.namer.argument(base, text, glob);
    builder.path(text, named, builder.tool.access, from.clone());
    if url::has_url(text) {
        builder.domains(url::scan(text), from);
    }
}

/// A key that is a path or a URL itself: `files: {"src/a.rs": "…"}`. `above` is the kind of the map that holds it.
fn named_by_key(builder: &mut Builder<'_>, base: &Option<Raw>, key: &str, above: Kind, from: &Origin) {
    let is_path = match above {
        Kind::Path | Kind::Glob => looks_like_path(key) || key.contains(['.', '~']),
        // Types of media and the like have slashes, too.
        Kind::Data | Kind::Note => key.starts_with(['/', '~', '.']) && looks_like_path(key),
        Kind::Variables => false,
        _ => looks_like_path(key),
    };
    if url::has_url(key) {
        builder.domains(url::scan(key), from);
    } else if is_path {
        let base = base.clone().unwrap_or_else(|| builder.namer.base().clone());
        path(builder, &base, key, above == Kind::Glob, from);
    }
}

/// A value whose key says nothing.
fn by_looks(builder: &mut Builder<'_>, base: &Raw, text: &str, from: &Origin) {
    let mut hosts = url::scan(text);
    if hosts.found.is_empty() && url::looks_like_remote(text, builder.tool.fetch) {
        hosts.extend(url::whole(text, false));
    }
    let is_url = !hosts.found.is_empty();
    builder.domains(hosts, from);
    if looks_like_path(text) && !is_url {
        let named = builder.namer.argument(base, text, false);
        builder.path(text, named, builder.tool.access, from.clone());
    } else if looks_like_command(builder, text) {
        builder.command(text, from, base, None);
    }
}

fn looks_like_path(text: &str) -> bool {
    let text = text.trim();
    if text.len() > MAX_LOOKS || text.contains('\n') {
        return false;
    }
    let file = text.get(..5).is_some_and(|front| front.eq_ignore_ascii_case("file:"));
    let begins = text.starts_with(['/', '~']) && !text.starts_with("//")
        || ["./", "../", ".\\", "..\\"].iter().any(|front| text.starts_with(front))
        || [".", ".."].contains(&text);
    if file || begins || has_drive(text) || is_network_name(text) {
        return true;
    }
    let blank = text.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"'));
    let hidden = text.starts_with('.') && text.chars().nth(1).is_some_and(char::is_alphanumeric);
    let numeric = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '/' | '.' | ':' | '-' | ','));
    !blank
        && !numeric
        && !text.starts_with("data:")
        && !text.contains("://")
        && (hidden || text.contains(['/', '\\']))
}

/// A program that is known, with something behind it that prose does not have; or a pipe into a shell.
fn looks_like_command(builder: &Builder<'_>, text: &str) -> bool {
    const COMMON: [&str; 44] = [
        "rm",
        "sudo",
        "curl",
        "wget",
        "dd",
        "mkfs",
        "chmod",
        "chown",
        "ssh",
        "scp",
        "git",
        "npm",
        "npx",
        "pnpm",
        "yarn",
        "pip",
        "pip3",
        "bash",
        "sh",
        "zsh",
        "python",
        "python3",
        "node",
        "perl",
        "ruby",
        "docker",
        "kubectl",
        "kill",
        "powershell",
        "pwsh",
        "cmd",
        "mv",
        "cp",
        "cat",
        "echo",
        "env",
        "xargs",
        "find",
        "tar",
        "make",
        "cargo",
        "go",
        "eval",
        "nc",
    ];
    const SURE: [&str; 8] = ["git", "npm", "npx", "sudo", "docker", "kubectl", "curl", "wget"];
    let text = text.trim();
    let front: String = text.chars().take(1024).collect();
    let mut words = front.split_whitespace();
    let first = words.next().unwrap_or_default().trim_start_matches(['(', '{', '$']);
    let name = first.rsplit('/').next().unwrap_or_default().to_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    let pipes = ["| sh", "|sh", "| bash", "|bash", "| sudo", "$(", "&& ", "; rm "]
        .iter()
        .any(|part| front.contains(part));
    let named =
        COMMON.contains(&stem) || !name.is_empty() && name.len() < 32 && builder.programs.knows(&name);
    if !named {
        return pipes && !first.is_empty();
    }
    let signs = rest.iter().any(|word| word.starts_with('-') && word.len() > 1 || looks_like_path(word));
    let shell = front.contains(['|', ';', '`', '>', '<']) || front.contains("&&") || front.contains("$(");
    signs || shell || SURE.contains(&stem) && !rest.is_empty() && rest.len() <= 5
}

/// All elements of an array as words, when each is a scalar.
fn argv(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?;
    if items.is_empty() || items.len() > MAX_VALUES {
        return None;
    }
    items
        .iter()
        .map(|item| match item {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            _ => None,
        })
        .collect()
}

/// Why variables that the call sets keep its commands from being known.
fn variable_gap(value: &Value) -> Option<String> {
    let name = |text: &str| text.split('=').next().unwrap_or_default().to_owned();
    let names: Vec<String> = match value {
        Value::Object(map) => map.keys().cloned().collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(name).collect(),
        Value::String(text) => text.split_whitespace().map(name).collect(),
        _ => Vec::new(),
    };
    let changes = names.into_iter().find(|name| !is_harmless(name))?;
    let short: String = changes.chars().take(64).collect();
    Some(format!("the call sets the variable {short}, which may change what runs"))
}

fn dotted(above: &str, key: &str) -> String {
    let key: String =
        if key.len() > MAX_NAME { key.chars().take(MAX_NAME + 1).collect() } else { key.to_owned() };
    if above.is_empty() { key } else { format!("{above}.{key}") }
}

fn origin(name: &str) -> Origin {
    if name.is_empty() { Origin::Call } else { Origin::Arg(name.to_owned()) }
}
