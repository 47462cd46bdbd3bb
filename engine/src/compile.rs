//! A policy file, or a text of our own, to a tested table.
//!
//! INVARIANT: a table leaves only when nothing was wrong and every tested call got what it must; otherwise the first
//! error, with its place, is the cause that a refusal gives.

use crate::decide::today;
use crate::layers::Default_;
use crate::open::{self, FileError};
use crate::sources::Loader;
use crate::tested;
use policy_compiler::emit::EmitError;
use policy_compiler::{Code, CompileInput, LayerKind, Summary, ir};
use policy_grammar::ast::{File, Item, Origin};
use policy_grammar::diagnostic::{Diagnostic, Level};
use policy_grammar::source::{FileId, SourceMap, Span};
use policy_grammar::yaml::agentlint;
use std::path::Path;

/// What a layer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Root's.
    Managed,
    /// The user's.
    User,
    /// A project's.
    Project,
    /// Of `--policy`.
    Named,
    /// The default where no layer exists.
    BuiltIn,
    /// `std/self`.
    Always,
    /// Only tested.
    Test,
}

impl Kind {
    fn layer(self) -> LayerKind {
        match self {
            Kind::Managed => LayerKind::Managed,
            Kind::User | Kind::Named => LayerKind::User,
            Kind::Project => LayerKind::Project,
            Kind::BuiltIn | Kind::Always | Kind::Test => LayerKind::Test,
        }
    }

    /// The word that people read.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Managed => "managed",
            Kind::User => "user",
            Kind::Project => "project",
            Kind::Named => "named",
            Kind::BuiltIn => "built-in",
            Kind::Always => "always on",
            Kind::Test => "test",
        }
    }
}

/// The first error of a policy, for the person who edits it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// Its code; empty when the file could not be read at all.
    pub code: String,
    /// `file:line`; empty when it has no place.
    pub place: String,
    /// What is wrong, one sentence.
    pub message: String,
    /// What to do; empty when there is nothing to say.
    pub help: String,
    /// How many errors there are besides.
    pub more: usize,
}

/// One compile's product.
#[derive(Debug, Default)]
pub struct Compilation {
    /// All texts.
    pub map: SourceMap,
    /// Everything there is to say, failed tests included.
    pub diagnostics: Vec<Diagnostic>,
    /// The flat form, when nothing was wrong with the text.
    pub policy: Option<ir::Policy>,
    /// The table, when nothing was wrong and all tests held.
    pub table: Option<Vec<u8>>,
    /// Counts.
    pub summary: Summary,
    /// Tested calls.
    pub tests: usize,
    /// Those that got something else.
    pub unmet: usize,
}

impl Compilation {
    /// The table, or the first error with its place.
    ///
    /// # Errors
    /// One sentence on what is wrong where.
    pub fn usable(&self) -> Result<Vec<u8>, String> {
        self.table.clone().ok_or_else(|| self.first_error())
    }

    fn first_error(&self) -> String {
        let errors: Vec<&Diagnostic> = self.diagnostics.iter().filter(|d| d.level == Level::Error).collect();
        let Some(first) = errors.first() else { return "it does not compile".to_string() };
        let place = first.labels.first().and_then(|label| self.map.place(label.span));
        let place = place.map_or(String::new(), |(file, line, _)| format!("{file} line {line}: "));
        let more = if errors.len() > 1 { format!(" (and {} more)", errors.len() - 1) } else { String::new() };
        format!("{place}{}{more}", first.message)
    }

    /// The first error, in parts.
    pub fn fault(&self) -> Fault {
        let mut errors = self.diagnostics.iter().filter(|d| d.level == Level::Error);
        let Some(first) = errors.next() else {
            return Fault { message: "it does not compile".to_owned(), ..Fault::default() };
        };
        let place = first.labels.first().and_then(|label| self.map.place(label.span));
        Fault {
            code: first.code.to_owned(),
            place: place.map_or(String::new(), |(file, line, _)| format!("{file}:{line}")),
            message: first.message.clone(),
            help: first.help.clone().unwrap_or_default(),
            more: errors.count(),
        }
    }

    /// Errors among the diagnostics.
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.level == Level::Error).count()
    }

    /// Warnings among the diagnostics.
    pub fn warnings(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.level == Level::Warning).count()
    }
}

/// A policy file with everything it uses, read but not compiled.
#[derive(Debug)]
pub struct Closure {
    map: SourceMap,
    main: FileId,
    tree: Option<File>,
    diagnostics: Vec<Diagnostic>,
}

/// Compiles and tests a file.
///
/// # Errors
/// When it cannot be read at all.
pub fn file(loader: &mut Loader, path: &Path, kind: Kind, trusted: bool) -> Result<Compilation, FileError> {
    let closure = closure(loader, path)?;
    Ok(of_closure(loader, closure, kind, trusted))
}

/// Reads a file and everything that it uses.
///
/// # Errors
/// When the file itself cannot be read; a used file that cannot be read is reported when it is compiled.
pub fn closure(loader: &mut Loader, path: &Path) -> Result<Closure, FileError> {
    let mut map = SourceMap::default();
    let main = loader.main(&mut map, path, None)?;
    if agentlint(path) {
        let text = map.file(main).map(|file| (file.name.clone(), file.text.clone())).unwrap_or_default();
        let (name, text) = text;
        let reading = read_agentlint(main, &text, &mut || loader.stack(path));
        let mut diagnostics = reading.diagnostics;
        let main = map.add(format!("{name} (as a policy)"), reading.policy.as_str());
        let parsed = policy_grammar::parse(main, &reading.policy);
        diagnostics.extend(parsed.diagnostics);
        let tree = File { skipped: parsed.file.skipped || reading.broken, ..parsed.file };
        return Ok(Closure { map, main, tree: Some(tree), diagnostics });
    }
    if yaml(path) {
        let text = map.file(main).map(|file| file.text.clone()).unwrap_or_default();
        let parsed = policy_grammar::yaml::firewall::parse(main, &text);
        return Ok(Closure { map, main, tree: Some(parsed.file), diagnostics: parsed.diagnostics });
    }
    let mut open = vec![main];
    let mut seen = vec![main];
    while let Some(at) = open.pop() {
        let text = map.file(at).map(|file| file.text.clone()).unwrap_or_default();
        let mut names = Vec::new();
        used(&policy_grammar::parse(at, &text).file.items, &mut names);
        for name in names {
            for found in loader.used(&mut map, &name, at).unwrap_or_default() {
                if !seen.contains(&found) {
                    seen.push(found);
                    open.push(found);
                }
            }
        }
    }
    Ok(Closure { map, main, tree: None, diagnostics: Vec::new() })
}

fn used(items: &[Item], names: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Use { origins, .. } => names.extend(origins.iter().filter_map(|origin| match origin {
                Origin::File(name) => Some(name.node.clone()),
                Origin::Pack(_) => None,
            })),
            Item::Project { items, .. } => used(items, names),
            _ => {}
        }
    }
}

/// Whether a file is an `agentlint.yml`.
pub fn agentlint(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(agentlint::is_name)
}

/// Reads an `agentlint.yml`; `stack` gives the packs for what the project is made of.
pub fn read_agentlint(
    file: FileId,
    text: &str,
    stack: &mut dyn FnMut() -> Vec<String>,
) -> agentlint::Reading {
    let pack =
        |name: &str| policy_compiler::PACKS.iter().find(|(pack, _)| *pack == name).map(|(_, text)| *text);
    let options = |name: &str| {
        let check = policy_compiler::checks().find(|check| check.name == name);
        check.map_or(Vec::new(), |check| check.options.iter().map(|spec| spec.name).collect())
    };
    agentlint::read(file, text, &mut agentlint::Around { pack: &pack, options: &options, stack })
}

/// Whether a file is of the YAML front end.
pub fn yaml(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("yml") || end.eq_ignore_ascii_case("yaml"))
}

/// Compiles and tests what was read.
pub fn of_closure(loader: &mut Loader, closure: Closure, kind: Kind, trusted: bool) -> Compilation {
    let Closure { mut map, main, tree, diagnostics } = closure;
    let broken = tree.as_ref().is_some_and(|tree| tree.skipped)
        || diagnostics.iter().any(|diagnostic| diagnostic.level == Level::Error);
    if broken {
        return Compilation { map, diagnostics, ..Compilation::default() };
    }
    let mut load = |map: &mut SourceMap, name: &str, from: FileId| loader.used(map, name, from);
    let mut made = run(&mut map, main, tree, &mut load, kind, trusted, &[]);
    made.diagnostics.splice(0..0, diagnostics);
    made.map = map;
    made
}

/// Compiles a text of our own.
pub fn text(name: &str, text: &str, kind: Kind) -> Compilation {
    let mut map = SourceMap::default();
    let main = map.add(name, text);
    let always: &[&str] = if kind == Kind::Always { &["std/self"] } else { &[] };
    let mut load = |_: &mut SourceMap, _: &str, _: FileId| Err("only packs can be used here".to_string());
    let mut made = run(&mut map, main, None, &mut load, kind, true, always);
    made.map = map;
    made
}

fn run(
    map: &mut SourceMap,
    main: FileId,
    tree: Option<File>,
    load: &mut policy_compiler::Load<'_>,
    kind: Kind,
    trusted: bool,
    always: &[&str],
) -> Compilation {
    let input =
        CompileInput { sources: map, main, tree, load, kind: kind.layer(), trusted, today: today(), always };
    let compiled = policy_compiler::compile(input);
    let mut made = Compilation {
        diagnostics: compiled.diagnostics,
        summary: compiled.summary,
        tests: compiled.expects.len() + compiled.secret_expects.len(),
        ..Compilation::default()
    };
    let Some(policy) = compiled.policy else { return made };
    match policy_compiler::emit::emit(&policy, &digest(map), &compiler_digest()) {
        Ok(table) => {
            let mut unmet = tested::unmet(&compiled.expects, map, &table);
            unmet.extend(policy_compiler::check_secrets(&policy, &compiled.secret_expects));
            made.unmet = unmet.len();
            made.diagnostics.extend(unmet);
            made.table = (made.unmet == 0).then_some(table);
        }
        Err(error) => made.diagnostics.push(no_table(&error, &policy, map)),
    }
    made.policy = Some(policy);
    made
}

fn no_table(error: &EmitError, policy: &ir::Policy, map: &SourceMap) -> Diagnostic {
    let span = error.place.and_then(|place| {
        let name = policy.files.get(place.file as usize)?;
        let number = map.files().iter().position(|file| file.name == *name)?;
        let text = &map.files().get(number)?.text;
        let line = (place.line as usize).checked_sub(1)?;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let length = text.split_inclusive('\n').nth(line).map_or(0, |line| line.trim_end().len());
        let offset = |at: usize| u32::try_from(at).ok();
        Some(Span { file: FileId(offset(number)?), start: offset(start)?, end: offset(start + length)? })
    });
    Diagnostic::error(Code::NotWritten.as_str(), &error.message, span.unwrap_or_default(), "here")
        .with_help("use fewer or shorter patterns, or put them into blocks with the same scope")
}

/// Hash of all texts with their names.
fn digest(map: &SourceMap) -> [u8; 32] {
    use sha2::Digest;
    let mut hash = sha2::Sha256::new();
    for file in map.files() {
        for part in [&file.name, &file.text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    }
    hash.finalize().into()
}

/// The layer that is always on: nothing but `std/self`.
pub const ALWAYS: &str = "policy \"self\" language 1\n";

/// The default where no layer exists.
pub fn default_text(which: Default_) -> String {
    if which == Default_::AgentFirewall {
        return "policy \"agent-firewall\" language 1\n\nuse std/agent-firewall\n".to_string();
    }
    let mut text = "policy \"built-in default\" language 1\n\ndefault host\n\n".to_string();
    // Who pays says so: a call that only sounds like a payment would be refused.
    let apart =
        ["std/self", "std/agent-firewall", "std/tools", "std/readonly", "std/session-rules", "std/payments"];
    // What a linter says is asked for by name.
    let linter = ["universal", "quality", "frontend", "react", "seo", "security", "autopilot"];
    for (name, _) in policy_compiler::PACKS {
        if !apart.contains(name)
            && !linter.iter().any(|pack| name.strip_prefix("std/") == Some(pack))
            && !crate::starter::is_loop(name)
            && !name.starts_with("std/programs")
        {
            text.push_str(&format!("use {name}\n"));
        }
    }
    text.push_str("use std/readonly\n");
    text
}

/// What the header of a table says of its compiler: the same on every machine.
fn compiler_digest() -> [u8; 32] {
    use sha2::Digest;
    let mut hash = sha2::Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    for (name, text) in policy_compiler::PACKS {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(name);
        hash.update(text);
    }
    hash.finalize().into()
}

/// What the cache tells builds of the compiler and its packs apart by: the running program itself.
pub fn build() -> &'static str {
    static BUILD: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    BUILD.get_or_init(this_build)
}

fn this_build() -> String {
    let version = env!("CARGO_PKG_VERSION");
    // The small program for hooks uses the tables that the large one beside it makes.
    let beside = |path: std::path::PathBuf| match path.file_stem() {
        Some(name) if name == "policy-hook" => path.with_file_name("policy"),
        _ => path,
    };
    let program = std::env::current_exe().ok().map(beside).and_then(|path| open::stamp(&path).ok());
    match program {
        Some(stamp) => format!("{version} {} {} {}", stamp.inode, stamp.size, stamp.mtime_ns),
        // Without it two builds of one version are taken for one, so their packs are told apart by their sizes.
        None => format!(
            "{version} {:?}",
            policy_compiler::PACKS.iter().map(|pack| pack.1.len()).collect::<Vec<_>>()
        ),
    }
}
