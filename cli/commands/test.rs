//! `policy test`: runs the tested calls of policies.
//!
//! INVARIANT: exit 0 only when every file compiles and every tested call gets what it must.

use super::compile::{code, count, load};
use crate::args::FilesArgs;
use crate::context::Context;
use crate::output::{Outcome, complain, print};
use crate::render;
use policy_engine::compile::Kind;
use policy_grammar::diagnostic::Level;
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(args: &FilesArgs, context: &Context) -> Outcome {
    let words = args.files.iter().map(|file| context.path(file)).collect::<Result<Vec<_>, _>>()?;
    let files = if words.is_empty() {
        vec![super::files::here(&context.cwd()?, &context.folders()?.home)?]
    } else {
        super::files::expand(&words)?
    };
    let out = context.output;
    let (mut worst, mut tests, mut unmet, mut reports) = (0, 0, 0, Vec::new());
    for file in &files {
        let made = load(file, Kind::Test, context)?;
        worst = worst.max(code(&made));
        tests += made.tests;
        unmet += made.unmet;
        if out.json() {
            reports.push(json!({
                "file": file.display().to_string(), "tests": made.tests, "unmet": made.unmet, "errors": made.errors(),
                "diagnostics": Value::Array(render::values(&made.diagnostics, &made.map)),
            }));
            continue;
        }
        // What is only worth knowing is `policy compile`'s to say.
        let failed: Vec<_> =
            made.diagnostics.iter().filter(|d| out.verbose || d.level == Level::Error).cloned().collect();
        complain(&render::diagnostics(&failed, &made.map, out));
        if out.verbose {
            print(&format!(
                "{}: {} of {} held\n",
                file.display(),
                made.tests - made.unmet.min(made.tests),
                made.tests
            ));
        }
    }
    if out.json() {
        print(&format!("{}\n", json!({"tests": tests, "unmet": unmet, "files": reports})));
    } else if !out.quiet {
        let held = tests - unmet.min(tests);
        print(&format!(
            "{}, {}: {held} held, {unmet} not met\n",
            count(files.len(), "file"),
            count(tests, "test")
        ));
    }
    Ok(worst)
}
