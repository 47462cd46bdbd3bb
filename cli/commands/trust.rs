//! `policy trust`: lets a project's policy allow, as its files are now.
//!
//! INVARIANT: only a policy that compiles and whose tests hold is trusted.

use crate::args::TrustArgs;
use crate::context::Context;
use crate::output::{BAD_POLICY, Failure, OK, Outcome, complain};
use crate::render;
use policy_engine::compile::{self, Kind};
use policy_engine::open::Care;
use policy_engine::places::{PROJECT_FILES, shown};
use policy_engine::sources::Loader;
use policy_engine::trust;
use policy_grammar::diagnostic::Level;
use std::path::{Path, PathBuf};

/// Runs the command.
pub(crate) fn run(args: &TrustArgs, context: &Context) -> Outcome {
    let folders = context.folders()?;
    let file = match &args.folder {
        Some(folder) => in_folder(&context.path(folder)?, args.revoke)?,
        None => super::files::here(&context.cwd()?, &folders.home)?,
    };
    let project = file.parent().unwrap_or(Path::new("/")).to_path_buf();
    if args.revoke {
        let known = trust::revoke(&folders, &project).map_err(|error| Failure::usage(error.to_string()))?;
        let said = if known { "is no longer trusted: only its refusals count" } else { "was not trusted" };
        context.output.remark(&format!("`{}` {said}", shown(&project, &folders.home)));
        return Ok(OK);
    }
    grant(&file, context, Level::Warning)
}

fn in_folder(folder: &Path, revoke: bool) -> Result<PathBuf, Failure> {
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let file = PROJECT_FILES.iter().map(|name| folder.join(name)).find(|file| file.exists());
    match file {
        Some(file) => Ok(file),
        None if revoke => Ok(folder.join("agent.policy")),
        None => Err(Failure::usage(format!(
            "no agent.policy in `{}`; `policy init` writes one",
            folder.display()
        ))),
    }
}

/// Trusts a project's policy file; says what is at least this bad about it.
pub(crate) fn grant(file: &Path, context: &Context, level: Level) -> Outcome {
    let folders = context.folders()?;
    let project = file.parent().unwrap_or(Path::new("/")).to_path_buf();
    let mut loader = Loader::disk(Care::Private, Some(&project), &folders.home);
    let made = compile::file(&mut loader, file, Kind::Project, true)
        .map_err(|error| Failure::policy(error.to_string()))?;
    let said: Vec<_> =
        made.diagnostics.iter().filter(|diagnostic| diagnostic.level >= level).cloned().collect();
    complain(&render::diagnostics(&said, &made.map, context.output));
    if let Err(cause) = made.usable() {
        context.output.remark(&format!("not trusted: {cause}"));
        return Ok(BAD_POLICY);
    }
    let name = file.strip_prefix(&project).unwrap_or(file).to_string_lossy().into_owned();
    let copies = loader.to_copies(&project);
    let count = copies.len();
    let record =
        trust::grant(&folders, &project, &name, copies).map_err(|error| Failure::usage(error.to_string()))?;
    let short: String = record.closure.chars().take(12).collect();
    let files = if count == 1 { "1 file".to_string() } else { format!("{count} files") };
    let place = shown(&project, &folders.home);
    context.output.remark(&format!(
        "trusted `{place}`: {files}, closure {short}; a changed file grants nothing until you trust it again"
    ));
    Ok(OK)
}
