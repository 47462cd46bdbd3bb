//! `policy explain`: the compiled rules, or why a call gets what it gets.
//!
//! INVARIANT: every layer that was asked is named, also when it says nothing.

use super::check::{call, engine, notes, observing, reason, word};
use super::compile::grants;
use crate::args::ExplainArgs;
use crate::context::Context;
use crate::output::{OK, Outcome, print, visible};
use policy_engine::decide::Answer;
use policy_engine::layers::Layer;
use policy_engine::touched::touched;
use policy_runtime::Table;
use policy_runtime::verdict::{Finding, Step};
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs, context: &Context) -> Outcome {
    // Rules are listed from their sources, so nothing comes from the cache then.
    let mut engine = engine(&args.call, context, args.tool.is_some())?;
    if args.tool.is_some() {
        let call = call(args.tool.as_deref(), args.arguments.as_deref(), &args.call, context)?;
        let answer = engine.decide(&call);
        print(&if context.output.json() { format!("{}\n", json_of(&answer)) } else { why(&answer, context) });
        return Ok(OK);
    }
    let cwd = match &args.call.cwd {
        Some(folder) => context.path(folder)?,
        None => context.cwd()?,
    };
    let (mut failed, mut uncounted, mut shell, mut all, mut values) = (false, false, 0, 0, Vec::new());
    for layer in engine.layers_at(&cwd) {
        failed |= layer.table.is_err();
        if let Some(compiled) = &layer.compiled {
            shell += compiled.1.shell_lines;
            all += compiled.1.allow_lines;
        } else {
            uncounted |= layer.table.is_ok();
        }
        if context.output.json() {
            values
                .push(json!({"name": layer.name, "kind": layer.kind.word(), "restricted": layer.restricted,
                               "note": layer.note, "rules": rules(&layer)}));
        } else {
            print(&rules(&layer));
        }
    }
    print(&if context.output.json() {
        format!("{}\n", json!({"layers": values, "allow_lines": all, "shell_lines": shell}))
    } else if uncounted {
        "a table does not say which of its allow lines grant what a shell grants\n".to_string()
    } else {
        format!("{}\n", grants(shell, all))
    });
    Ok(if failed { crate::output::BAD_POLICY } else { OK })
}

fn rules(layer: &Layer) -> String {
    let mut text = format!("# {} ({})\n", visible(&layer.name), layer.kind.word());
    if !layer.note.is_empty() {
        text.push_str(&format!("# {}\n", layer.note));
    }
    match (&layer.table, &layer.compiled) {
        (Err(cause), _) => text.push_str(&format!("cannot be used: {}\n", visible(cause))),
        (Ok(_), Some(compiled)) => text.push_str(&visible(&policy_engine::explain::policy(&compiled.0))),
        // A table without its sources explains itself.
        (Ok(bytes), None) => match Table::open(bytes.bytes()) {
            Ok(table) => text.push_str(&visible(&policy_runtime::explain::table(&table).to_string())),
            Err(error) => text.push_str(&format!("cannot be used: {error}\n")),
        },
    }
    text.push('\n');
    text
}

fn why(answer: &Answer, context: &Context) -> String {
    let verdict = &answer.verdict;
    let mut text =
        format!("{}  {}\n", word(verdict.decision.without_host(), context), visible(&reason(verdict)));
    if verdict.decision == policy_runtime::verdict::Decision::Host {
        text.push_str(
            "  no opinion: the host's own permission system decides; where there is none it is asked\n",
        );
    }
    text.push_str(&observing(verdict));
    text.push_str("\nthe call touches\n");
    for fact in touched(&answer.facts) {
        text.push_str(&format!("  {}\n", visible(&fact)));
    }
    text.push_str("\nwhat was said, the deciding one first\n");
    for step in &verdict.steps {
        text.push_str(&step_text(step));
    }
    if !verdict.findings.is_empty() {
        text.push_str("\nfindings\n");
    }
    for finding in &verdict.findings {
        text.push_str(&finding_text(finding));
    }
    text.push_str("\nlayers\n");
    for layer in &answer.layers {
        let state = if layer.table.is_err() { "  cannot be used" } else { "" };
        text.push_str(&format!("  {} ({}){state}\n", visible(&layer.name), layer.kind.word()));
    }
    notes(answer, context.output, &mut text);
    text
}

fn step_text(step: &Step) -> String {
    let mut text = format!("  {:<5} {}", step.decision.word(), visible(&step.rule));
    if step.place.line > 0 {
        text.push_str(&format!("  {}:{}", visible(&step.place.file), step.place.line));
    }
    text.push('\n');
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("        {name} {}\n", visible(value)));
        }
    };
    line("value  ", &step.value);
    line("matches", &step.matched);
    line("because", &step.because);
    line("instead", &step.suggest);
    text
}

fn finding_text(finding: &Finding) -> String {
    let place = if finding.place.line > 0 {
        format!("  {}:{}", visible(&finding.place.file), finding.place.line)
    } else {
        String::new()
    };
    format!(
        "  {:<7} {}{place}\n        {}\n",
        finding.severity.word(),
        visible(&finding.rule),
        visible(&finding.message)
    )
}

fn json_of(answer: &Answer) -> Value {
    let verdict = &answer.verdict;
    let steps: Vec<Value> = verdict
        .steps
        .iter()
        .map(|step| {
            json!({"decision": step.decision.word(), "rule": step.rule, "file": step.place.file, "line": step.place.line,
                   "value": step.value, "matched": step.matched, "because": step.because, "suggest": step.suggest,
                   "guard": step.guard})
        })
        .collect();
    let layers: Vec<Value> = answer
        .layers
        .iter()
        .map(|layer| json!({"name": layer.name, "kind": layer.kind.word(), "restricted": layer.restricted, "note": layer.note}))
        .collect();
    json!({"decision": verdict.decision.word(), "reason": reason(verdict), "touches": touched(&answer.facts), "steps": steps,
           "layers": layers})
}
