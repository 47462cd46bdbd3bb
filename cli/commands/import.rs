//! `policy import`: the `.policy` equivalent of another tool's file.
//!
//! INVARIANT: nothing is written while anything in the file is not understood; an existing file is not overwritten.

use crate::args::ImportArgs;
use crate::context::Context;
use crate::output::{BAD_POLICY, Failure, OK, Outcome, complain, print};
use crate::render;
use policy_engine::compile::{agentlint, read_agentlint, yaml};
use policy_engine::open::{self, Care};
use policy_engine::sources::MAX_SOURCE_BYTES;
use policy_grammar::diagnostic::Level;
use policy_grammar::source::SourceMap;
use policy_grammar::yaml::agentlint::detected;

/// Runs the command.
pub(crate) fn run(args: &ImportArgs, context: &Context) -> Outcome {
    let file = context.path(&args.file)?;
    if !yaml(&file) {
        return Err(Failure::usage(format!("`{}` is no .yml or .yaml file", args.file.display())));
    }
    let (bytes, _) =
        open::read(&file, Care::Named, MAX_SOURCE_BYTES).map_err(|e| Failure::usage(e.to_string()))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::policy(format!("`{}` is not UTF-8 text", args.file.display())))?;
    let mut map = SourceMap::default();
    let id = map.add(args.file.display().to_string(), text.as_str());
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let (policy, diagnostics, broken) = if agentlint(&file) {
        let mut beside = |name: &str| {
            let (bytes, _) = open::read(&file.parent()?.join(name), Care::Named, MAX_SOURCE_BYTES).ok()?;
            String::from_utf8(bytes).ok()
        };
        let reading = read_agentlint(id, &text, &mut || detected(&mut beside));
        (format!("# Imported from {name}.\n\n{}", reading.policy), reading.diagnostics, reading.broken)
    } else {
        let parsed = policy_grammar::yaml::firewall::parse(id, &text);
        let policy = policy_grammar::yaml::firewall::to_policy(&parsed.file, &name);
        (policy, parsed.diagnostics, parsed.file.skipped)
    };
    complain(&render::diagnostics(&diagnostics, &map, context.output));
    if broken || diagnostics.iter().any(|diagnostic| diagnostic.level == Level::Error) {
        return Ok(BAD_POLICY);
    }
    let Some(output) = &args.output else {
        print(&policy);
        return Ok(OK);
    };
    let output = context.path(output)?;
    open::create_named(&output, policy.as_bytes(), 0o644)
        .map_err(|error| Failure::usage(error.to_string()))?;
    context.output.remark(&format!(
        "written to `{}`; `policy compile {}` checks it",
        output.display(),
        output.display()
    ));
    Ok(OK)
}
