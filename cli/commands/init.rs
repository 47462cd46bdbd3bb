//! `policy init`: a starter policy fitted to a folder.
//!
//! INVARIANT: an existing policy is never overwritten; what is written compiles and its tests hold, or nothing is.

use super::compile::{grants, load};
use crate::args::InitArgs;
use crate::context::Context;
use crate::output::{BAD_POLICY, Failure, OK, Outcome, complain, print};
use crate::render;
use policy_engine::compile::Kind;
use policy_engine::open;
use policy_engine::places::{PROJECT_FILES, shown};
use policy_engine::starter::{self, Sign};
use policy_grammar::diagnostic::Level;

/// Runs the command.
pub(crate) fn run(args: &InitArgs, context: &Context) -> Outcome {
    let folder = match &args.folder {
        Some(folder) => context.path(folder)?,
        None => context.cwd()?,
    };
    let folder = std::fs::canonicalize(&folder)
        .map_err(|error| Failure::usage(format!("`{}` cannot be used: {error}", folder.display())))?;
    for name in PROJECT_FILES {
        if std::fs::symlink_metadata(folder.join(name)).is_ok() {
            return Err(Failure::usage(format!(
                "`{}` exists; it is not overwritten",
                folder.join(name).display()
            )));
        }
    }
    let home = context.folders()?.home;
    if folder == home || folder.parent().is_none() {
        return Err(Failure::usage(format!("`{}` is no project; go to one first", folder.display())));
    }
    let found = starter::found(&folder);
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("project");
    let text = starter::policy(name, &found);
    let file = folder.join("agent.policy");
    open::create_named(&file, text.as_bytes(), 0o644).map_err(|error| Failure::usage(error.to_string()))?;
    let made = load(&file, Kind::Project, context)?;
    if made.table.is_none() {
        let _ = std::fs::remove_file(&file);
        complain(&render::diagnostics(&made.diagnostics, &made.map, context.output));
        return Ok(BAD_POLICY);
    }
    if !context.output.quiet {
        print(&said(
            &shown(&file, &home),
            &found,
            grants(made.summary.shell_lines, made.summary.allow_lines),
        ));
    }
    let trusted = super::trust::grant(&file, context, Level::Error)?;
    Ok(if trusted == OK { OK } else { trusted })
}

fn said(file: &str, found: &[&Sign], grants: String) -> String {
    let names: Vec<&str> = found.iter().map(|sign| sign.name).collect();
    let names = if names.is_empty() { "nothing it knows".to_string() } else { names.join(", ") };
    let mut text = format!(
        "wrote {file}\n  found    {names}\n  allowed  edits in this folder (asks for .github and .git), reading commands\n"
    );
    for sign in found {
        text.push_str(&format!("           {} ({}): {}\n", sign.pack, starter::GRANTS, sign.runs));
    }
    text.push_str(&format!(
        "  {grants}\n\
         next\n  policy explain                                what holds here\n  policy check bash '{{\"command\": \"git push -f\"}}'   ask what a call gets\n  \
         policy hook --print claude-code               the settings that register it (codex, cursor, gemini)\n"
    ));
    text
}
