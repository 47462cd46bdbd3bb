//! `policy import`: the `.policy` equivalent of another tool's file.
//!
//! INVARIANT: nothing is written while anything in the file is not understood; an existing file is not overwritten.

use crate::args::ImportArgs;
use crate::context::Context;
use crate::output::{BAD_POLICY, Failure, OK, Outcome, complain, print};
use crate::render;
use policy_engine::compile::yaml;
use policy_engine::open::{self, Care};
use policy_engine::sources::MAX_SOURCE_BYTES;
use policy_grammar::diagnostic::Level;
use policy_grammar::source::SourceMap;

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
    let parsed = policy_grammar::yaml::firewall::parse(id, &text);
    complain(&render::diagnostics(&parsed.diagnostics, &map, context.output));
    if parsed.file.skipped || parsed.diagnostics.iter().any(|diagnostic| diagnostic.level == Level::Error) {
        return Ok(BAD_POLICY);
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let policy = policy_grammar::yaml::firewall::to_policy(&parsed.file, &name);
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
