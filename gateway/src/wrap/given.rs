//! What a server gives back, for policies that look at it: passed on as it is, without its secrets, or not at all.
//!
//! INVARIANT: what a line of a policy asks or denies about a result, and what cannot be looked at, is withheld; that the arguments
//! of the call were not fully known was decided before the call, and withholds nothing here.

use crate::wrap::gate::Asked;
use crate::wrap::json::members;
use crate::wrap::message::{Kind, Message};
use policy_hosts::event::strict_json;
use policy_hosts::output;
use policy_hosts::reply::{self, for_model};
use policy_runtime::verdict::{Decision, Step, Verdict};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Most steps of a verdict that surely are all of them.
const ALL: usize = 63;
/// Most tasks whose calls are remembered.
const MOST: usize = 4096;
/// Most bytes of arguments of all calls of which an answer is looked at.
pub(crate) const ROOM: usize = 256 << 20;

/// What becomes of what a server gave back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given {
    /// It passes as the bytes that it is.
    Pass,
    /// Its secrets were taken out, and what a model is told of it.
    Without(Value, String),
    /// It is not passed on, and why.
    Withheld(String),
}

/// What a verdict means for what was given back. `before` is what is said without it, asked for only when it counts.
pub(crate) fn weigh(verdict: &Verdict, output: &Value, before: impl FnOnce() -> Verdict) -> Given {
    if verdict.decision.without_host() < Decision::Ask {
        return Given::Pass;
    }
    let of_policy = |step: &&Step| step.guard || !matches!(step.rule.as_str(), "default" | "built-in");
    let refused = |step: &&Step| step.decision >= Decision::Ask;
    let own = |step: &&Step| of_policy(step) || step.rule == "built-in" && step.decision == Decision::Deny;
    let mut steps = verdict.steps.iter().filter(refused);
    let found = steps.clone().find(own).cloned().or_else(|| {
        let mut built_in = steps.by_ref().filter(|step| step.rule == "built-in").peekable();
        built_in.peek()?;
        let known = before().steps;
        // SECURITY: of very many the one that counts may be left out.
        let all = verdict.steps.len() <= ALL;
        built_in.find(|step| !all || !known.iter().any(|old| old.because == step.because)).cloned()
    });
    let Some(step) = found else { return Given::Pass };
    let mut told = verdict.clone();
    told.steps.insert(0, step);
    let told = reply::Answer::from(&told);
    if verdict.only_secrets
        && let Some(without) = output::without(output, &verdict.secrets)
    {
        return Given::Without(without, told.redacted());
    }
    let why = for_model(&told.reason(), 2000);
    Given::Withheld(format!(
        "policy withheld what the tool gave back: {why}. The call itself was made; calling it again may do it twice."
    ))
}

/// The part of a message in which something is given back, and whether it is an error.
pub(crate) fn part(message: &Message<'_>) -> Result<(Range<usize>, bool), String> {
    match (&message.kind, &message.result, &message.params) {
        (Kind::Notification(_), _, Some(range)) | (Kind::Response(_), Some(range), _) => {
            Ok((range.clone(), false))
        }
        _ => {
            let all = members(message.text)?;
            let error = all.into_iter().find(|own| own.key == "error").map(|own| own.value);
            Ok((error.ok_or("there is nothing in it")?, true))
        }
    }
}

/// What is given back, as the value that is judged.
pub(crate) fn output(message: &Message<'_>, (range, error): &(Range<usize>, bool)) -> Result<Value, String> {
    let text = message.text.get(range.clone()).unwrap_or_default();
    let value = strict_json(text.as_bytes())?;
    Ok(if *error { json!({ "error": value }) } else { value })
}

/// The message with what is given back in another form.
pub(crate) fn changed(
    message: &Message<'_>,
    (range, error): &(Range<usize>, bool),
    value: Value,
    told: &str,
) -> String {
    let value = match value {
        Value::Object(mut map) if *error => map.remove("error").unwrap_or_default(),
        Value::Object(mut map) => {
            // A model hears of it where a tool speaks.
            if let Some(Value::Array(content)) = map.get_mut("content") {
                content.push(json!({ "type": "text", "text": told }));
            }
            Value::Object(map)
        }
        other => other,
    };
    let before = message.text.get(..range.start).unwrap_or_default();
    let behind = message.text.get(range.end..).unwrap_or_default();
    [before, &value.to_string(), behind].concat()
}

/// The task that a result says was begun.
pub(crate) fn begun(result: &str) -> Option<String> {
    let inside = |text: &str, key: &str| -> Option<String> {
        let own = members(text).ok()?.into_iter().find(|own| own.key == key)?;
        text.get(own.value).map(str::to_owned)
    };
    let task = inside(result, "task").unwrap_or_else(|| result.to_owned());
    inside(&task, "taskId").as_deref().and_then(crate::wrap::json::string)
}

/// Calls that go on as tasks.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    calls: HashMap<String, Asked>,
    order: VecDeque<String>,
    bytes: usize,
}

impl Tasks {
    /// Remembers whose task it is; the oldest is forgotten.
    pub(crate) fn begin(&mut self, task: String, asked: Asked) {
        self.bytes += size(&asked);
        if let Some(old) = self.calls.insert(task.clone(), asked) {
            self.bytes = self.bytes.saturating_sub(size(&old));
        } else {
            self.order.push_back(task);
        }
        while self.order.len() > MOST || self.bytes > ROOM {
            let Some(old) = self.order.pop_front() else { return };
            let gone = self.calls.remove(&old);
            self.bytes = self.bytes.saturating_sub(gone.as_ref().map_or(0, size));
        }
    }

    /// The call of a task.
    pub(crate) fn of(&self, task: &str) -> Option<Asked> {
        self.calls.get(task).cloned()
    }
}

/// About how many bytes a call holds.
pub(crate) fn size(asked: &Asked) -> usize {
    fn of(value: &Value) -> usize {
        match value {
            Value::String(text) => 32 + text.len(),
            Value::Array(items) => 32 + items.iter().map(of).sum::<usize>(),
            Value::Object(map) => {
                64 + map.iter().map(|(key, value)| 64 + key.len() + of(value)).sum::<usize>()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 32,
        }
    }
    asked.tool.len() + of(&asked.arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrap::gate::Form;

    fn step(decision: Decision, rule: &str, guard: bool, because: &str) -> Step {
        Step { guard, rule: rule.to_owned(), ..policy_engine::combine::step(decision, because) }
    }

    fn verdict(decision: Decision, steps: Vec<Step>) -> Verdict {
        let mut verdict = policy_engine::combine::refusal("");
        verdict.decision = decision;
        verdict.steps = steps;
        verdict
    }

    #[test]
    fn what_was_decided_before_the_call_withholds_nothing() {
        let given = |decision, steps, before: Vec<Step>| {
            weigh(&verdict(decision, steps), &Value::Null, || verdict(Decision::Ask, before))
        };
        let gap = step(Decision::Ask, "built-in", false, "the command is not fully known");
        let new = step(Decision::Ask, "built-in", false, "the text is too long");
        let default = step(Decision::Deny, "default", false, "no rule");
        assert_eq!(given(Decision::Allow, vec![], vec![]), Given::Pass);
        assert_eq!(given(Decision::Deny, vec![default.clone(), gap.clone()], vec![gap.clone()]), Given::Pass);
        for steps in [
            vec![default.clone(), gap.clone(), new],
            vec![step(Decision::Ask, "leaks", true, "x")],
            vec![step(Decision::Deny, "reads", false, "x")],
            vec![default, step(Decision::Deny, "built-in", false, "the table is damaged")],
        ] {
            let given = given(Decision::Deny, steps.clone(), vec![gap.clone()]);
            assert!(matches!(given, Given::Withheld(_)), "{steps:?}");
        }
        assert!(
            matches!(given(Decision::Ask, vec![gap.clone(); 64], vec![gap]), Given::Withheld(_)),
            "one may be left out"
        );
    }

    #[test]
    fn tasks_are_bounded_and_found_by_what_the_server_calls_them() {
        assert_eq!(begun(r#"{"task":{"taskId":"a\u0062"}}"#), Some("ab".to_owned()));
        assert_eq!(begun(r#"{"resultType":"task","taskId":"x"}"#), Some("x".to_owned()));
        assert_eq!((begun(r#"{"content":[]}"#), begun("null")), (None, None));
        let mut tasks = Tasks::default();
        let asked = |n: usize| Asked {
            tool: n.to_string(),
            arguments: json!({"text": "x".repeat(1 << 20)}),
            form: Form::Tool,
        };
        for n in 0..300 {
            tasks.begin(n.to_string(), asked(n));
            tasks.begin(n.to_string(), asked(n));
        }
        assert!(tasks.bytes <= ROOM && tasks.of("0").is_none());
        assert_eq!(tasks.of("299").map(|asked| asked.tool), Some("299".to_owned()));
        assert_eq!(tasks.order.len(), tasks.calls.len());
    }
}
