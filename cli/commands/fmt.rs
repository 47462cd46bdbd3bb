//! `policy fmt`: the canonical form of policies.
//!
//! INVARIANT: a file with errors is left as it is; a file is replaced whole.

use super::compile::count;
use crate::args::FmtArgs;
use crate::context::Context;
use crate::output::{BAD_POLICY, FINDINGS, Failure, OK, Outcome, complain, print};
use crate::render;
use policy_engine::open::{self, Care};
use policy_engine::sources::MAX_SOURCE_BYTES;
use policy_grammar::source::SourceMap;
use std::io::Read;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &FmtArgs, context: &Context) -> Outcome {
    if args.files.len() == 1 && args.files.first().is_some_and(|file| file.as_os_str() == "-") {
        return stdin(args.check, context);
    }
    let words = args.files.iter().map(|file| context.path(file)).collect::<Result<Vec<_>, _>>()?;
    let files = if words.is_empty() {
        vec![super::files::here(&context.cwd()?, &context.folders()?.home)?]
    } else {
        super::files::expand(&words)?
    };
    let (mut changed, mut broken) = (0, false);
    for file in &files {
        let (bytes, _) =
            open::read(file, Care::Named, MAX_SOURCE_BYTES).map_err(|e| Failure::usage(e.to_string()))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::policy(format!("`{}` is not UTF-8 text", file.display())))?;
        let Some(canonical) = canonical(&file.display().to_string(), &text, context) else {
            broken = true;
            continue;
        };
        if canonical == text {
            continue;
        }
        changed += 1;
        if args.check {
            print(&format!("{} is not in canonical form\n", file.display()));
        } else {
            open::write_named(file, canonical.as_bytes(), mode(file))
                .map_err(|e| Failure::usage(e.to_string()))?;
        }
    }
    if !context.output.quiet && context.output.verbose {
        print(&format!("{}, {changed} changed\n", count(files.len(), "file")));
    }
    Ok(match (broken, args.check && changed > 0) {
        (true, _) => BAD_POLICY,
        (false, true) => FINDINGS,
        (false, false) => OK,
    })
}

fn mode(file: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).map_or(0o644, |data| data.permissions().mode() & 0o777)
}

fn canonical(name: &str, text: &str, context: &Context) -> Option<String> {
    let mut map = SourceMap::default();
    let id = map.add(name, text);
    match policy_grammar::format(id, text) {
        Ok(canonical) => Some(canonical),
        Err(diagnostics) => {
            complain(&render::diagnostics(&diagnostics, &map, context.output));
            None
        }
    }
}

fn stdin(check: bool, context: &Context) -> Outcome {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_SOURCE_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    if text.len() as u64 > MAX_SOURCE_BYTES {
        return Err(Failure::usage(format!("standard input is longer than {MAX_SOURCE_BYTES} bytes")));
    }
    let Some(canonical) = canonical("-", &text, context) else { return Ok(BAD_POLICY) };
    if check {
        return Ok(if canonical == text { OK } else { FINDINGS });
    }
    print(&canonical);
    Ok(OK)
}
