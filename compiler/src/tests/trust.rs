//! Files of projects that are not trusted.
//!
//! INVARIANT: whatever is written in them, they only refuse.

use super::{Setup, good_with, told_with};
use crate::ir;
use policy_grammar::shell::program::Program;

#[test]
fn an_untrusted_layer_only_refuses() {
    let text = r#"
        default allow
        mode observe
        severity relaxed
        ask timeout 9s
        ask via page
        program npm { same words a, b }
        rule r on edit {
          allow path "./**"
          ask   path "./x"
          deny  path "./y"
          only  domain "a.com"
          otherwise allow
        }
        rule s on edit { otherwise deny }
        guard g on edit { warn path "./z" }
        exception e to g { owner "a" until 2027-03-31 because "b" open }
        set g to off because "x"
        project "./p" { default allow }
        "#;
    let setup = Setup { trusted: false, ..Setup::default() };
    let policy = good_with(text, &setup);
    assert_eq!((policy.default, policy.observe, policy.ask_timeout), (None, false, None));
    assert!(policy.page_only, "it tightens");
    let lies = |p: &Program| p.same_words.iter().any(|group| group == &["a", "b"]);
    assert!(!policy.programs.iter().any(lies));
    assert!(policy.blocks.iter().all(|b| b.kind != ir::BlockKind::Exception));
    let loosens = |v: ir::Verb| matches!(v, ir::Verb::Allow | ir::Verb::OtherwiseAllow | ir::Verb::Open);
    assert!(policy.lines.iter().all(|l| !loosens(l.verb)));
    for line in policy.lines.iter().filter(|l| l.verb == ir::Verb::Only) {
        assert_eq!(policy.blocks[line.block.0 as usize].kind, ir::BlockKind::Guard, "`only` never answers");
    }
    assert!(policy.lines.iter().any(|l| l.verb == ir::Verb::Warn), "`severity relaxed` does not count");
    assert!(policy.lines.iter().any(|l| l.verb == ir::Verb::OtherwiseDeny));
    let ignored = told_with(text, &setup).into_iter().filter(|(code, _)| code == "untrusted-ignored").count();
    assert_eq!(ignored, 10);
}

/// What an untrusted file may not do, whatever is written in it; and nothing that refuses is lost.
#[test]
fn no_untrusted_file_loosens() {
    let lines = [
        "allow path \"./**\"",
        "ask path \"./src/**\" except \"./src/x\"",
        "deny path \"**/.env\"",
        "only domain \"a.com\"",
        "allow run `git status`",
        "ask run `git push`",
        "deny run `rm {-r,-f}`",
        "only arg mode \"a\"",
        "allow domain \"*\"",
    ];
    let ends = ["", "otherwise allow", "otherwise ask", "otherwise deny"];
    let settings = [
        "default allow",
        "default deny",
        "mode observe",
        "severity relaxed",
        "ask timeout 1s",
        "use std/readonly, std/git",
        "list x is \"a\"",
        "program git { same words push, status }",
        "asset USDC is \"eip155:1/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\" decimals 6",
        "test \"t\" { expect allow bash \"ls\" }",
    ];
    let mut seed = 7_u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    for round in 0..60 {
        let mut text = String::new();
        for (at, setting) in settings.iter().enumerate() {
            if below(3) == 0 && !(at == 1 && text.contains("default")) {
                text.push_str(setting);
                text.push('\n');
            }
        }
        for number in 0..below(5) {
            let (open, close) = match below(4) {
                0 => ("project \"./p\" { default allow ", "}"),
                1 => ("project \"./p/*\" { ", "}"),
                _ => ("", ""),
            };
            let mut chosen: Vec<&str> = (0..1 + below(4)).map(|_| lines[below(lines.len())]).collect();
            chosen.sort();
            chosen.dedup();
            let block = if below(3) == 0 {
                chosen.retain(|l| !l.starts_with("allow"));
                format!("guard g{number} on bash, Edit {{ {} warn path \"./w\" }}", chosen.join(" "))
            } else {
                format!("rule r{number} on bash, Edit {{ {} {} }}", chosen.join(" "), ends[below(4)])
            };
            text.push_str(&format!("{open}{block}{close}\n"));
            if block.starts_with("guard") && open.is_empty() && below(2) == 0 {
                text.push_str(&format!(
                    "exception e{number} to g{number} {{ owner \"a\" until 2027-01-01 because \"b\" open }}\n"
                ));
                text.push_str(&format!("set g{number} to off because \"x\"\n"));
            }
        }
        let untrusted = good_with(&text, &Setup { trusted: false, ..Setup::default() });
        assert!(
            untrusted.default.is_none() && !untrusted.observe && untrusted.ask_timeout.is_none(),
            "{text}"
        );
        assert!(
            untrusted.programs.iter().all(|p| !p.same_words.contains(&vec!["push".into(), "status".into()]))
        );
        let block = |l: &ir::Line| &untrusted.blocks[l.block.0 as usize];
        for line in &untrusted.lines {
            let answers = matches!(line.verb, ir::Verb::Allow | ir::Verb::OtherwiseAllow | ir::Verb::Open);
            assert!(!answers, "{round}: {text}");
            assert!(
                line.verb != ir::Verb::Only || block(line).kind == ir::BlockKind::Guard,
                "{round}: {text}"
            );
        }
        assert!(untrusted.blocks.iter().all(|b| b.kind != ir::BlockKind::Exception), "{round}: {text}");
        // Everything that the file refuses with its own rules and guards is still refused.
        let without_sets: String = text
            .lines()
            .filter(|l| !l.starts_with("set ") && !l.starts_with("asset "))
            .map(|l| format!("{l}\n"))
            .collect();
        let trusted = good_with(&without_sets, &Setup::default());
        let refusals = |policy: &ir::Policy| -> Vec<String> {
            let line = |p: &ir::Pattern| &policy.lines[p.line.0 as usize];
            let refuses =
                |p: &&ir::Pattern| !matches!(line(p).verb, ir::Verb::Info | ir::Verb::Warn) && !p.grant;
            policy
                .patterns
                .iter()
                .filter(refuses)
                .map(|p| (policy.blocks[line(p).block.0 as usize].name.clone(), p))
                .filter(|(name, _)| !name.starts_with("std/readonly"))
                .map(|(name, p)| format!("{name} {:?} {:?}", line(p).verb, p.text))
                .collect()
        };
        let kept = refusals(&untrusted);
        for refusal in refusals(&trusted) {
            assert!(kept.contains(&refusal), "{round}: {refusal} is lost in {text}");
        }
    }
}
