//! The generic host: any program that sends an event as JSON and reads a decision.
//!
//! INVARIANT: a decision is always printed; nobody stands behind this host, so no opinion is `ask`.
//!
//! Event: `{event, tool_name, tool_input, session_id, cwd, server?, agent?, prompt?, agent_transcript_path?}`; other keys are
//! ignored and a missing event is `pre_tool_use`. Reply: `{decision, rule, reason, findings: [{rule, severity, message, line}]}`, always with
//! exit 0; what could not be decided is denied with its cause.

use crate::Host;
use crate::call::Call;
use crate::event::{Event, Fields, InputError, is_question, parse_strict, snake};
use crate::output;
use crate::reply::{Answer, Reply, clean};
use crate::settings::Settings;
use policy_runtime::verdict::Decision;
use serde_json::{Value, json};

/// The generic host.
pub struct Generic;

impl Host for Generic {
    fn name(&self) -> &'static str {
        "generic"
    }

    fn parse(&self, input: &[u8]) -> Result<Event, InputError> {
        let mut fields = Fields(parse_strict(input)?);
        let host_event = fields.text("event")?.unwrap_or_else(|| "pre_tool_use".to_owned());
        let event = snake(&host_event);
        // SECURITY: at an event of another name the lines about calls say nothing.
        if is_question(&host_event) && !matches!(event.as_str(), "pre_tool_use" | "permission_request") {
            return Err(InputError::spelling(&host_event));
        }
        let tool = if matches!(event.as_str(), "pre_tool_use" | "post_tool_use") {
            fields.needed("tool_name")?
        } else {
            fields.text("tool_name")?.unwrap_or_default()
        };
        let mut arguments = fields.object("tool_input")?;
        if matches!(event.as_str(), "user_prompt" | "user_prompt_submit")
            && let Some(prompt) = fields.text("prompt")?
            && let Some(arguments) = arguments.as_object_mut()
        {
            arguments.insert("prompt".to_owned(), Value::String(prompt));
        }
        Ok(Event::Call(Box::new(Call {
            host: self.name().to_owned(),
            transcript: fields.transcript(&event)?,
            event,
            host_event,
            server: fields.text("server")?.filter(|server| !server.is_empty()),
            wrapped: false,
            tool,
            arguments,
            output: fields.0.remove("tool_response").unwrap_or_default(),
            cwd: fields.folder("cwd")?,
            session: fields.text("session_id")?.unwrap_or_default(),
            agent: fields.text("agent")?,
            label: None,
        })))
    }

    fn reply(&self, call: &Call, answer: &Answer) -> Reply {
        let mut reply = match answer.decision {
            Decision::Ask if !answer.asks_there() => object(&Answer::own(Decision::Deny, &answer.asked())),
            _ => object(answer),
        };
        let output =
            (answer.decision == Decision::Deny).then(|| output::without(&call.output, &answer.secrets));
        if let (Some(output), Some(reply)) = (output.flatten(), reply.as_object_mut()) {
            reply.insert("tool_response".to_owned(), output);
        }
        Reply::json(&reply)
    }

    fn asks(&self, _call: &Call) -> bool {
        true
    }

    fn fail_closed(&self, _event: Option<&str>, reason: &str) -> Reply {
        let answer = Answer::own(Decision::Deny, reason);
        Reply { stderr: Reply::error(0, &clean(reason, 400)).stderr, ..Reply::json(&object(&answer)) }
    }

    fn settings(&self, _program: &str) -> Option<Settings> {
        None
    }
}

/// The printed decision; also what `policy check --batch` writes.
pub fn object(answer: &Answer) -> Value {
    let findings: Vec<Value> = answer
        .findings
        .iter()
        .map(|finding| {
            json!({
                "rule": finding.rule,
                "severity": finding.severity.word(),
                "message": clean(&finding.message, 400),
                "line": finding.line,
                "column": finding.column,
            })
        })
        .collect();
    json!({
        "decision": answer.decision.without_host().word(),
        "rule": answer.rule,
        "reason": answer.reason(),
        "findings": findings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_runtime::verdict::{Finding, Place, Severity};

    #[test]
    fn events() {
        let parse = |text: &str| Generic.parse(text.as_bytes());
        let Ok(Event::Call(call)) = parse(
            "{\"event\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"session_id\":\"s\",\
             \"cwd\":\"/w\",\"server\":\"fs\",\"agent\":\"Explore\",\"file_content\":\"x\"}",
        ) else {
            panic!()
        };
        assert_eq!(
            (call.event.as_str(), call.host_event.as_str(), call.tool.as_str()),
            ("pre_tool_use", "PreToolUse", "Bash")
        );
        assert_eq!((call.server.as_deref(), call.agent.as_deref()), (Some("fs"), Some("Explore")));
        assert_eq!((call.cwd.to_str(), call.arguments["command"].as_str()), (Some("/w"), Some("ls")));
        assert!(
            matches!(parse("{\"tool_name\":\"x\"}"), Ok(Event::Call(call)) if call.event == "pre_tool_use")
        );
        assert!(matches!(
            parse("{\"event\":\"UserPromptSubmit\",\"prompt\":\"hi\"}"),
            Ok(Event::Call(call)) if call.arguments["prompt"] == "hi"
        ));
        assert!(matches!(parse("{\"event\":\"Stop\"}"), Ok(Event::Call(call)) if call.event == "stop"));
        for (text, part) in [
            ("{}", "`tool_name` is missing"),
            ("{\"tool_name\":\"\"}", "`tool_name` is missing"),
            ("{\"tool_name\":3}", "`tool_name` is not a text"),
            ("{\"tool_name\":\"x\",\"tool_input\":[]}", "`tool_input` is not an object"),
            ("{\"event\":\"pretooluse\",\"tool_name\":\"x\"}", "not how this host spells"),
            ("{\"event\":\"BeforeTool\",\"tool_name\":\"x\"}", "not how this host spells"),
            ("{\"tool_name\":\"x\",\"cwd\":\"a/b\"}", "not an absolute path"),
            ("{\"tool_name\":\"x\",\"server\":{}}", "`server` is not a text"),
        ] {
            assert!(parse(text).unwrap_err().to_string().contains(part), "{text}");
        }
    }

    #[test]
    fn the_samples_are_read() {
        for (text, want) in [
            (
                include_str!("../../tests/hosts/generic/pre-tool-use-shell.json"),
                ("pre_tool_use", "Bash", None),
            ),
            (
                include_str!("../../tests/hosts/generic/pre-tool-use-server.json"),
                ("pre_tool_use", "write_file", Some("fs")),
            ),
            (include_str!("../../tests/hosts/generic/stop.json"), ("stop", "", None)),
        ] {
            let Ok(Event::Call(call)) = Generic.parse(text.as_bytes()) else { panic!("{text}") };
            assert_eq!((call.event.as_str(), call.tool.as_str(), call.server.as_deref()), want);
            assert_eq!((call.session.as_str(), call.cwd.to_str()), ("s1", Some("/home/dev/project")));
        }
    }

    #[test]
    fn a_decision_is_always_printed() {
        let mut answer = Answer::own(Decision::Host, "nothing answered");
        answer.findings.push(Finding {
            rule: "g".to_owned(),
            severity: Severity::Warning,
            message: "m\n".to_owned(),
            suggest: String::new(),
            place: Place::default(),
            line: 3,
            column: 5,
        });
        let reply = Generic.reply(&Call::default(), &answer);
        assert_eq!(
            String::from_utf8(reply.stdout).unwrap(),
            "{\"decision\":\"ask\",\"rule\":\"built-in\",\"reason\":\"nothing answered\",\
             \"findings\":[{\"rule\":\"g\",\"severity\":\"warning\",\"message\":\"m\",\"line\":3,\"column\":5}]}\n"
        );
        let reply = Generic.fail_closed(None, "the event is empty");
        assert_eq!(reply.exit, 0);
        assert!(String::from_utf8(reply.stdout).unwrap().starts_with("{\"decision\":\"deny\""));
        assert_eq!(reply.stderr, b"policy: the event is empty\n");
    }
}
