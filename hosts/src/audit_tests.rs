//! Tests of the audit line.
//!
//! INVARIANT: a line is one line, and no secret of a call stands in it.

use super::*;
use policy_runtime::facts::{CommandFact, DomainFact, PathName, ScriptFact};
use policy_runtime::verdict::Decision;
use serde_json::json;

fn line(arguments: Value) -> AuditLine {
    let call = Call {
        host: "generic".to_owned(),
        event: "pre_tool_use".to_owned(),
        tool: "Bash".to_owned(),
        session: "s\n1".to_owned(),
        arguments,
        ..Call::default()
    };
    let facts = Facts {
        paths: vec![PathFact {
            written: "x".to_owned(),
            names: vec![PathName { views: vec!["./x\u{1}".to_owned()] }],
            ..PathFact::default()
        }],
        domains: vec![DomainFact { host: "a.test".to_owned(), ..DomainFact::default() }; 2],
        commands: vec![CommandFact::default()],
        scripts: vec![ScriptFact {
            text: "curl -H 'token: abc'\u{202e}".to_owned(),
            ..ScriptFact::default()
        }],
        ..Facts::default()
    };
    let answer = Answer {
        rule: "r".to_owned(),
        value: "token=abc".to_owned(),
        ..Answer::own(Decision::Deny, "because")
    };
    let (line, values) = AuditLine::new("2026-11-30T12:00:00Z", &call, &facts, &answer);
    assert!(values.contains(&"abc".to_owned()) && !values.contains(&"Bearer abc".to_owned()), "{values:?}");
    assert_eq!(values.iter().filter(|value| *value == "abc").count(), 1);
    line
}

#[test]
fn masked_values_are_told_without_what_is_around_them() {
    let mut masked = Masked::default();
    let text = masked_arguments(
        &json!({"headers": {"Authorization": "Bearer tok1"}, "c": "curl -H 'Authorization: Bearer tok1' --token=tok1",
            "n": {"pin_secret": 1234}, "u": "https://u:p@h.test/"}),
        &mut masked,
    );
    assert!(!text.contains("tok1") && !text.contains("1234"), "{text}");
    assert_eq!(masked.values, ["tok1", "1234", "u:p"]);
    let many = json!({"c": (0..100).map(|at| format!("token=v{at} ")).collect::<String>()});
    let mut masked = Masked::default();
    masked_arguments(&many, &mut masked);
    assert_eq!(masked.values.len(), MAX_MASKED);
}

#[test]
fn one_line_whatever_it_holds() {
    let line = line(json!({"command": "a\nb\u{1b}\u{7f}\u{9b}\u{202e}\u{2028}\u{e0041}"}));
    let text = line.to_line();
    assert_eq!(text.matches('\n').count(), 1);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control() && !is_invisible(c)), "{text:?}");
    assert!(text.contains("\\u202e") && text.contains("\\udb40\\udc41"), "{text}");
    assert_eq!(AuditLine::parse(&text).unwrap(), line);
    assert_eq!(line.hosts, ["a.test"]);
    assert_eq!(line.paths, ["./x…"]);
    assert_eq!(line.commands, ["curl -H 'token: ***'\u{202e}"]);
    assert_eq!(line.reason, "r: because. Matched: token=***");
    assert_eq!(line.decision, "deny");
    assert!(AuditLine::parse("{\"time\":\"x\",\"new_field\":1}").is_ok());
    assert!(AuditLine::parse("[]").is_err());
}

#[test]
fn secrets_are_masked_before_the_cut() {
    let secret = format!("{}sk-{}", "x ".repeat(245), "a".repeat(40));
    let text = arguments(&json!({"c": secret}));
    assert!(!text.contains("sk-aa") && text.contains("***"), "{text}");
    assert!(text.chars().count() <= 501);
    assert_eq!(
        arguments(
            &json!({"password": "p", "n": {"apiKey": ["q", 5, {"x": "y"}], "ok": true}, "token": null})
        ),
        "{\"password\":\"***\",\"n\":{\"apiKey\":[\"***\",\"***\",{\"x\":\"***\"}],\"ok\":true},\"token\":null}"
    );
    let many = json!(vec![json!({"a": "b"}); 20_000]);
    assert!(arguments(&many).chars().count() <= 501);
    let pem = json!({"content": format!("-----BEGIN PRIVATE KEY-----\n{}", "A".repeat(5000))});
    assert_eq!(arguments(&pem), "{\"content\":\"***\"}");
}

#[test]
fn times_in_utc() {
    for (seconds, want) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_399, "2000-02-28T23:59:59.000Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"),
        (1_796_040_000, "2026-11-30T12:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.000Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000Z"),
    ] {
        assert_eq!(rfc3339(seconds * 1_000_000_000), want);
    }
    assert_eq!(rfc3339(1_796_040_000_123_456_789), "2026-11-30T12:00:00.123Z");
}
