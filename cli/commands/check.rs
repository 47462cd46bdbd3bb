//! `policy check`: what a call gets.
//!
//! INVARIANT: exit 0 only for allow; a call that cannot be read is denied in a batch and bad usage alone.

use crate::args::{CallArgs, CheckArgs};
use crate::context::{Context, Flavor};
use crate::output::{ASK, BAD_POLICY, Color, DENY, Failure, OK, Outcome, Output, complain, print, visible};
use policy_engine::combine::refusal;
use policy_engine::decide::{Answer, Engine, Options};
use policy_engine::layers::Default_;
use policy_engine::open::Care;
use policy_engine::places::absolute;
use policy_hosts::call::Call;
use policy_hosts::decision_object;
use policy_hosts::event::strict_json;
use policy_hosts::reply::Answer as Answered;
use policy_runtime::verdict::{Decision, Step, Verdict};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

/// Longest line of a batch, in bytes.
const MAX_LINE: usize = 8 * 1024 * 1024;

/// Runs the command.
pub(crate) fn run(args: &CheckArgs, context: &Context) -> Outcome {
    let mut engine = engine(&args.call, context, true)?;
    let audit = args.audit.as_deref().map(|file| context.path(file)).transpose()?;
    if args.batch {
        return batch(&mut engine, args, context, audit.as_deref());
    }
    let call = call(args.tool.as_deref(), args.arguments.as_deref(), &args.call, context)?;
    let mut answer = engine.decide(&call);
    if let Some(file) = &audit {
        let state = context.folders()?.state;
        let remark = policy_engine::record::record(&call, &mut answer, file, &state, Care::Named);
        complain(&remark.unwrap_or_default());
    }
    report(&answer, context);
    Ok(if unusable(&answer) { BAD_POLICY } else { code(answer.verdict.decision) })
}

/// An engine for the words of the command line.
pub(crate) fn engine(args: &CallArgs, context: &Context, caching: bool) -> Result<Engine, Failure> {
    let policy = args.policy.as_deref().map(|file| context.path(file)).transpose()?;
    if let Some(file) = &policy
        && std::fs::metadata(file).is_err()
    {
        return Err(Failure::usage(format!("`{}` does not exist", file.display())));
    }
    let default = match context.flavor {
        Flavor::Policy => Default_::Std,
        Flavor::AgentFirewall => Default_::AgentFirewall,
    };
    let options = Options {
        policy,
        care: Care::Named,
        default,
        sessions: false,
        caching,
        resolve_links: true,
        compiler: &policy_engine::work::Here,
    };
    Ok(Engine::new(context.folders()?, options))
}

/// The call that the words of the command line describe.
pub(crate) fn call(
    tool: Option<&str>,
    arguments: Option<&str>,
    args: &CallArgs,
    context: &Context,
) -> Result<Call, Failure> {
    let text = arguments.unwrap_or("{}");
    let arguments = strict_json(text.as_bytes()).map_err(|error| {
        Failure::usage(format!("the arguments are not JSON: {error}; write `'{{\"command\": \"ls\"}}'`"))
    })?;
    if !arguments.is_object() {
        return Err(Failure::usage("the arguments are no JSON object; write `'{\"command\": \"ls\"}'`"));
    }
    let cwd = match &args.cwd {
        Some(folder) => context.path(folder)?,
        None => context.cwd()?,
    };
    Ok(Call {
        host: "check".to_string(),
        event: "pre_tool_use".to_string(),
        server: args.server.clone(),
        wrapped: true,
        tool: tool.unwrap_or_default().to_string(),
        arguments,
        cwd,
        label: args.label.clone(),
        ..Call::default()
    })
}

/// Whether a layer refused because it cannot be used.
fn unusable(answer: &Answer) -> bool {
    answer.layers.iter().any(|layer| layer.table.is_err())
}

fn code(decision: Decision) -> u8 {
    match decision.without_host() {
        Decision::Allow => OK,
        Decision::Deny => DENY,
        Decision::Ask | Decision::Host => ASK,
    }
}

/// The step that speaks for a verdict.
pub(crate) fn first(verdict: &Verdict) -> Option<&Step> {
    verdict.steps.first()
}

/// Why, in one line.
pub(crate) fn reason(verdict: &Verdict) -> String {
    let Some(step) = first(verdict) else { return String::new() };
    if !step.because.is_empty() {
        return step.because.clone();
    }
    if step.matched.is_empty() {
        return format!("no rule answers; the default is {}", step.decision.word());
    }
    format!("`{}` matches {}", step.value, step.matched)
}

fn report(answer: &Answer, context: &Context) {
    let (verdict, out) = (&answer.verdict, context.output);
    if out.json() {
        let mut value = line(Value::Null, verdict);
        if let Some(object) = value.as_object_mut() {
            object.remove("id");
        }
        print(&format!("{value}\n"));
        return;
    }
    if out.quiet {
        return;
    }
    let mut text = format!("{}  ", word(verdict.decision.without_host(), context));
    if let Some(step) = first(verdict) {
        text.push_str(&visible(&step.rule));
        if step.place.line > 0 {
            text.push_str(&format!("  ({}:{})", visible(&step.place.file), step.place.line));
        }
        text.push_str(&format!("\n  {}\n", visible(&reason(verdict))));
        if !step.suggest.is_empty() {
            text.push_str(&format!("  instead: {}\n", visible(&step.suggest)));
        }
    }
    text.push_str(&observing(verdict));
    for found in &verdict.findings {
        if Some(&found.rule) != first(verdict).map(|step| &step.rule) {
            text.push_str(&format!(
                "  {} {}: {}\n",
                found.severity.word(),
                visible(&found.rule),
                visible(&found.message)
            ));
        }
    }
    notes(answer, out, &mut text);
    print(&text);
}

/// What `mode observe` lets through.
pub(crate) fn observing(verdict: &Verdict) -> String {
    verdict
        .observed
        .map(|enforced| format!("  mode observe: enforced, it would be {}\n", enforced.word()))
        .unwrap_or_default()
}

/// What a person should know about the layers.
pub(crate) fn notes(answer: &Answer, out: Output, text: &mut String) {
    if answer.verdict.decision == Decision::Host && !out.quiet {
        text.push_str("  note: no opinion: a hook leaves it to its host's own permissions; here nobody else decides, so ask\n");
    }
    for layer in &answer.layers {
        if !layer.note.is_empty() && !out.quiet {
            text.push_str(&format!("  note: {}: {}\n", visible(&layer.name), layer.note));
        }
    }
}

/// The decision as it is shown.
pub(crate) fn word(decision: Decision, context: &Context) -> String {
    let word = match (context.flavor, decision) {
        (Flavor::AgentFirewall, Decision::Deny) => "BLOCK",
        (Flavor::AgentFirewall, Decision::Allow) => "ALLOW",
        (Flavor::AgentFirewall, _) => "ASK",
        (Flavor::Policy, decision) => decision.word(),
    };
    let color = match decision {
        Decision::Allow => Color::Green,
        Decision::Deny => Color::Red,
        Decision::Ask | Decision::Host => Color::Yellow,
    };
    context.output.paint(word, color)
}

fn line(id: Value, verdict: &Verdict) -> Value {
    let mut value = json!({ "id": id });
    if let (Some(object), Value::Object(rest)) =
        (value.as_object_mut(), decision_object(&Answered::from(verdict)))
    {
        object.extend(rest);
        let suggest = first(verdict).map(|step| step.suggest.clone()).unwrap_or_default();
        object.insert("suggest".into(), suggest.into());
    }
    value
}

fn batch(engine: &mut Engine, args: &CheckArgs, context: &Context, audit: Option<&Path>) -> Outcome {
    let cwd = match &args.call.cwd {
        Some(folder) => context.path(folder)?,
        None => context.cwd()?,
    };
    let state = context.folders()?.state;
    let stdin = std::io::BufReader::new(std::io::stdin().lock());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut lines = Lines { reader: stdin };
    let mut exit = OK;
    while let Some(text) = lines.next()? {
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let value = match read(&text, &args.call, &cwd) {
            Ok((id, call)) => {
                let mut answer = engine.decide(&call);
                if let Some(file) = audit {
                    let remark = policy_engine::record::record(&call, &mut answer, file, &state, Care::Named);
                    complain(&remark.unwrap_or_default());
                }
                if unusable(&answer) {
                    exit = BAD_POLICY;
                }
                line(id, &answer.verdict)
            }
            Err((id, cause)) => line(id, &refusal(&cause)),
        };
        // A program that waits for each answer gets it.
        let waits = lines.reader.buffer().is_empty();
        if writeln!(out, "{value}").and_then(|()| if waits { out.flush() } else { Ok(()) }).is_err() {
            return Ok(OK);
        }
    }
    let _ = out.flush();
    Ok(exit)
}

/// Lines of bounded length; the rest of a longer one is passed over.
pub(crate) struct Lines<R> {
    pub(crate) reader: R,
}

impl<R: BufRead> Lines<R> {
    /// The next line without its end; at most [`MAX_LINE`] bytes of it.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let failed =
            |error: std::io::Error| Failure::usage(format!("standard input cannot be read: {error}"));
        let mut line = Vec::new();
        let mut any = false;
        loop {
            let chunk = self.reader.fill_buf().map_err(failed)?;
            if chunk.is_empty() {
                return Ok(any.then_some(line));
            }
            any = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(chunk.len());
            let room = (MAX_LINE + 1).saturating_sub(line.len());
            line.extend_from_slice(chunk.get(..taken.min(room)).unwrap_or_default());
            let used = if end.is_some() { taken + 1 } else { taken };
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }
}

/// A JSON object of a batch line, or why it is none.
pub(crate) fn object(text: &[u8]) -> Result<Value, String> {
    if text.len() > MAX_LINE {
        return Err(format!("the line is longer than {MAX_LINE} bytes"));
    }
    let value = strict_json(text).map_err(|error| format!("the line is not JSON: {error}"))?;
    if value.is_object() { Ok(value) } else { Err("the line is no JSON object".to_string()) }
}

fn read(text: &[u8], args: &CallArgs, folder: &Path) -> Result<(Value, Call), (Value, String)> {
    let value = object(text).map_err(|cause| (Value::Null, cause))?;
    let id = value.get("id").cloned().unwrap_or(Value::Null);
    let wrong = |what: &str| (id.clone(), what.to_string());
    let text_of = |name: &str| match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(&format!("`{name}` is no text"))),
    };
    let tool = text_of("tool")?.ok_or_else(|| wrong("`tool` is missing"))?;
    let arguments = match value.get("arguments") {
        None | Some(Value::Null) => json!({}),
        Some(arguments @ Value::Object(_)) => arguments.clone(),
        Some(_) => return Err(wrong("`arguments` is no object")),
    };
    let cwd =
        text_of("cwd")?.map_or_else(|| folder.to_path_buf(), |text| absolute(folder, &PathBuf::from(text)));
    let call = Call {
        host: "check".to_string(),
        event: "pre_tool_use".to_string(),
        server: text_of("server")?.or_else(|| args.server.clone()),
        wrapped: true,
        tool,
        arguments,
        cwd,
        label: args.label.clone(),
        ..Call::default()
    };
    Ok((id, call))
}
