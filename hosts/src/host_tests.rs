//! What the tests of all hosts share: their samples, and what is read out of them.
//!
//! INVARIANT: every sample of a host is looked at.

use crate::Host;
use crate::call::{Call, Places};
use crate::event::Event;
use crate::facts::{NoResolver, extract};
use crate::reply::{Answer, Reply};
use policy_grammar::shell::program::NoPrograms;
use policy_runtime::verdict::{Decision, Finding, Place, Severity};
use std::path::PathBuf;

/// Each sample in one line: event, readings, agent, what it touches.
pub(crate) fn read(host: &dyn Host) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/hosts").join(host.name());
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut out = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let said = match host.parse(&std::fs::read(path).unwrap()) {
            Ok(Event::Call(call)) => summary(host, &call),
            Ok(Event::Ignore) => "ignored".to_owned(),
            Err(error) => error.to_string(),
        };
        out.push(format!("{name}: {said}"));
    }
    out
}

fn summary(host: &dyn Host, call: &Call) -> String {
    assert_eq!(call.host, host.name());
    assert!(!call.session.is_empty() && call.cwd.is_absolute(), "{call:?}");
    let places =
        Places { project: Some(call.cwd.clone()), home: Some("/home/dev".into()), ..Places::default() };
    let facts = extract(call, &places, &NoPrograms, &NoResolver);
    let readings: Vec<String> = facts.readings.iter().map(|r| format!("{}/{}", r.server, r.tool)).collect();
    let paths = facts.paths.iter().map(|path| path.names[0].views[0].clone());
    let hosts = facts.domains.iter().map(|domain| domain.host.clone());
    let commands = facts.commands.iter().map(|command| format!("`{}`", command.text));
    let opaque = facts.opaque.iter().map(|opaque| format!("({})", opaque.why));
    let agent = call.agent.as_ref().map(|agent| format!(" by {agent}")).unwrap_or_default();
    let all: Vec<String> = paths.chain(hosts).chain(commands).chain(opaque).collect();
    format!("{} {}{agent}: {}", call.event, readings.join(","), all.join(" | ")).trim_end().to_owned()
}

#[test]
fn no_host_asks_what_is_for_the_approval_page_alone() {
    for host in crate::HOSTS {
        for event in ["PreToolUse", "BeforeTool", "beforeShellExecution", "preToolUse"] {
            let asked = Answer { page_only: true, ..answer(Decision::Ask, false) };
            let call =
                Call { event: "pre_tool_use".to_owned(), host_event: event.to_owned(), ..Call::default() };
            let told = String::from_utf8(host.reply(&call, &asked).stdout).unwrap();
            assert!(!told.contains("\"ask\"") && !told.contains("\"allow\""), "{}: {told}", host.name());
            let own = match host.name() {
                "claude-code" | "codex" => "PreToolUse",
                "gemini" => "BeforeTool",
                _ => "beforeShellExecution",
            };
            let spoken = event == own || host.name() == "generic";
            assert!(!spoken || told.contains("\"deny\"") && told.contains("on the approval page"), "{told}");
        }
    }
}

/// A guard's answer, with a warning of another one beside it.
pub(crate) fn answer(decision: Decision, warned: bool) -> Answer {
    let warning = Finding {
        rule: "todo".to_owned(),
        severity: Severity::Warning,
        message: "a TODO is left.".to_owned(),
        suggest: "do it".to_owned(),
        place: Place::default(),
        line: 1,
        column: 1,
    };
    Answer {
        rule: "no-force-push".to_owned(),
        value: "git push --force".to_owned(),
        guard: true,
        findings: warned.then_some(warning).into_iter().collect(),
        ..Answer::own(decision, "it rewrites history")
    }
}

/// The reply at an event as one line: exit code, output, complaint.
pub(crate) fn said(reply: &Reply) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().trim_end().to_owned();
    let (out, error) = (text(&reply.stdout), text(&reply.stderr));
    assert!(!out.contains('\n'), "one value in one line");
    [reply.exit.to_string(), out, error]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// What a host answers a call at an event.
pub(crate) fn reply(host: &dyn Host, host_event: &str, event: &str, answer: &Answer) -> String {
    let call = Call { host_event: host_event.to_owned(), event: event.to_owned(), ..Call::default() };
    said(&host.reply(&call, answer))
}

/// No event without sense is read as a call, and none of the known ones in another spelling is passed over.
pub(crate) fn refuses_nonsense(host: &dyn Host, event: &str, other: &str) {
    for (text, part) in [
        (String::new(), "empty"),
        ("{}".to_owned(), "`hook_event_name` is missing"),
        ("{\"hook_event_name\":3}".to_owned(), "`hook_event_name` is not a text"),
        (format!("{{\"hook_event_name\":\"{other}\"}}"), "not how this host spells"),
        (format!("{{\"hook_event_name\":\"{}\"}}", event.to_lowercase()), "not how this host spells"),
        (format!("{{\"hook_event_name\":\"{event} \"}}"), "not how this host spells"),
        (format!("{{\"hook_event_name\":\"{event}\"}}"), "is missing"),
        (format!("{{\"hook_event_name\":\"{event}\",\"tool_name\":\"x\"}}"), "`tool_input` is missing"),
        (
            format!("{{\"hook_event_name\":\"{event}\",\"tool_name\":\"x\",\"toolInput\":{{}}}}"),
            "`tool_input` is missing",
        ),
        (format!("{{\"hook_event_name\":\"{event}\",\"cwd\":\"x\"}}"), "`cwd` is not an absolute path"),
        (
            format!("{{\"hook_event_name\":\"{event}\",\"tool_name\":\"x\",\"tool_input\":[]}}"),
            "is not an object",
        ),
        (format!("{{\"hook_event_name\":\"{event}\",\"Hook_Event_Name\":\"x\"}}"), "twice"),
    ] {
        let error = host.parse(text.as_bytes()).expect_err(&text);
        assert!(error.to_string().contains(part), "{text} {error}");
    }
    assert_eq!(host.parse(b"{\"hook_event_name\":\"SomethingNew\"}"), Ok(Event::Ignore));
    // Observing changes nothing.
    let observed = Answer { observed: Some(Decision::Deny), ..answer(Decision::Allow, false) };
    let nothing = reply(host, event, "pre_tool_use", &observed);
    assert!(!nothing.contains("allow") && nothing.starts_with('0'), "{nothing}");
}
