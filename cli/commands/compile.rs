//! `policy compile`: checks a policy, runs its tests, writes its table.
//!
//! INVARIANT: nothing is written while anything is wrong or a test does not hold.

use crate::args::CompileArgs;
use crate::context::Context;
use crate::output::{BAD_POLICY, FINDINGS, Failure, OK, Outcome, complain, print};
use crate::render;
use policy_engine::compile::{self, Compilation, Kind};
use policy_engine::layers::Layers;
use policy_engine::open::{self, Care};
use policy_engine::places::Folders;
use policy_engine::sources::Loader;
use policy_runtime::table::Table;
use serde_json::{Value, json};
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &CompileArgs, context: &Context) -> Outcome {
    let folders = context.folders()?;
    let file = match &args.file {
        Some(file) => context.path(file)?,
        None => super::files::here(&context.cwd()?, &folders.home)?,
    };
    let kind = kind_of(&file, &folders, args.file.is_none());
    let made = load(&file, kind, context)?;
    let written = match (&made.table, &args.output) {
        (Some(table), Some(output)) => {
            let output = context.path(output)?;
            open::write_named(&output, table, 0o644).map_err(|error| Failure::usage(error.to_string()))?;
            format!("written to `{}`", output.display())
        }
        (Some(_), None) if !args.check => kept(&file, kind, &folders),
        _ => "not written".to_string(),
    };
    report(&file, &made, &written, context);
    Ok(code(&made))
}

/// Reads, compiles and tests a file that a person named.
pub(crate) fn load(file: &Path, kind: Kind, context: &Context) -> Result<Compilation, Failure> {
    let folders = context.folders()?;
    let inside = if kind == Kind::Project { file.parent() } else { None };
    let mut loader = Loader::disk(Care::Named, inside, &folders.home).near(&context.cwd()?);
    compile::file(&mut loader, file, kind, true).map_err(|error| Failure {
        code: if error.missing { crate::output::USAGE } else { BAD_POLICY },
        message: error.to_string(),
    })
}

/// The exit code of a compilation: failed tests alone are findings.
pub(crate) fn code(made: &Compilation) -> u8 {
    match (made.table.is_some(), made.unmet > 0 && made.errors() == made.unmet) {
        (true, _) => OK,
        (false, true) => FINDINGS,
        (false, false) => BAD_POLICY,
    }
}

fn kind_of(file: &Path, folders: &Folders, found: bool) -> Kind {
    if file.starts_with(&folders.managed) {
        Kind::Managed
    } else if file == folders.user_policy() {
        Kind::User
    } else if found {
        Kind::Project
    } else {
        Kind::Named
    }
}

/// Keeps the table where the next call looks for it.
fn kept(file: &Path, kind: Kind, folders: &Folders) -> String {
    let mut layers = Layers::new(folders, Care::Named, true, &policy_engine::work::Here);
    let made = match kind {
        Kind::Managed => layers.managed(),
        Kind::User => layers.user().into_iter().collect(),
        Kind::Project => layers.project(file.parent().unwrap_or(Path::new("/")), file),
        _ => vec![layers.named(file)],
    };
    match made.iter().find_map(|layer| layer.table.as_ref().err()) {
        Some(cause) => format!("not in force: {cause}"),
        // The file itself stands behind the copy that was trusted.
        None => match made.iter().rev().find(|layer| !layer.note.is_empty()) {
            Some(layer) => format!("in the cache; {}", layer.note),
            None => "in the cache".to_string(),
        },
    }
}

fn report(file: &Path, made: &Compilation, written: &str, context: &Context) {
    let out = context.output;
    let info =
        made.table.as_deref().and_then(|bytes| Table::open(bytes).ok()).and_then(|table| table.info().ok());
    let patterns = info.as_ref().map_or(0, |info| info.patterns);
    let bytes = made.table.as_ref().map_or(0, Vec::len);
    let summary = made.summary;
    if out.json() {
        let value = json!({
            "file": file.display().to_string(),
            "ok": made.table.is_some(),
            "rules": summary.rules, "guards": summary.guards, "exceptions": summary.exceptions,
            "patterns": patterns, "table_bytes": bytes,
            "tests": made.tests, "unmet": made.unmet, "warnings": made.warnings(), "errors": made.errors(),
            "allow_lines": summary.allow_lines, "shell_lines": summary.shell_lines,
            "diagnostics": Value::Array(render::values(&made.diagnostics, &made.map)),
        });
        print(&format!("{value}\n"));
        return;
    }
    complain(&render::diagnostics(&made.diagnostics, &made.map, out));
    if out.quiet {
        return;
    }
    let cwd = context.cwd().unwrap_or_default();
    let name = file.strip_prefix(&cwd).unwrap_or(file).display();
    if made.table.is_none() {
        let unmet = if made.unmet > 0 {
            format!(", {} of {} tests not met", made.unmet, made.tests)
        } else {
            String::new()
        };
        print(&format!(
            "{name}: {}{unmet}; no table\n",
            count(made.errors() - made.unmet.min(made.errors()), "error")
        ));
        return;
    }
    print(&format!(
        "{name}: {}, {}, {}, {}\n  table     {bytes} bytes, {written}\n  tests     {} held\n  warnings  {}\n  {}\n",
        count(summary.rules, "rule"),
        count(summary.guards, "guard"),
        count(summary.exceptions, "exception"),
        count(patterns as usize, "pattern"),
        made.tests,
        made.warnings(),
        grants(summary.shell_lines, summary.allow_lines),
    ));
}

/// The sentence on what the allow lines grant.
pub(crate) fn grants(shell: usize, all: usize) -> String {
    format!("{shell} of {} what a shell grants", count_with(all, "allow line grants", "allow lines grant"))
}

/// A number with its word.
pub(crate) fn count(number: usize, word: &str) -> String {
    count_with(number, word, &format!("{word}s"))
}

fn count_with(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
