//! Tests of the reader of `agent-firewall.yml`.
//!
//! INVARIANT: every message points at the words in the YAML text that it is about.

use super::*;
use crate::ast::{Entry, NameRef, Names, PatternList, Subject};

fn read(text: &str) -> Parsed {
    parse(FileId(0), text)
}

fn errors(text: &str) -> Vec<(String, String, String)> {
    let found = read(text).diagnostics;
    found
        .iter()
        .map(|d| {
            let span = d.labels[0].span;
            let place = text.get(span.start as usize..span.end as usize).unwrap_or("?").to_owned();
            (d.code.rsplit("::").next().unwrap().to_owned(), place, d.help.clone().unwrap_or_default())
        })
        .collect()
}

/// One line a line of the tree, enough to compare.
fn show(parsed: &Parsed) -> Vec<String> {
    let names = |n: &Option<Names>| {
        n.as_ref().map_or(String::new(), |n| {
            let texts = n.names.iter().map(|n| match n {
                NameRef::Bare(t) => t.node.clone(),
                NameRef::Quoted(t) => format!("{:?}", t.node),
                NameRef::Ref(t) => format!("@{}", t.node),
            });
            texts.collect::<Vec<_>>().join(",")
        })
    };
    let list = |p: &PatternList| {
        let texts = p.list.entries.iter().map(|e| match e {
            Entry::Pattern(t) | Entry::Ref(t) => t.node.clone(),
        });
        texts.collect::<Vec<_>>().join(" ")
    };
    let mut out = Vec::new();
    for item in &parsed.file.items {
        match item {
            Item::Use { origins, .. } => out.push(format!("use {}", origins.len())),
            Item::Default { value, .. } => out.push(format!("default {:?}", value.node)),
            Item::AskTimeout { seconds, .. } => out.push(format!("timeout {}", seconds.node)),
            Item::Block(b) => {
                let scopes = format!("on {} from {}", names(&b.scopes.on), names(&b.scopes.from));
                out.push(format!("rule {} {scopes}", b.name.node));
                out.extend(b.because.as_ref().map(|t| format!("  because {}", t.node)));
                for line in &b.lines {
                    let subject = match &line.subject.as_ref().unwrap().node {
                        Subject::Path(p) => format!("path {}", list(p)),
                        Subject::Command(p) => format!("command {}", list(p)),
                        Subject::Domain(p) => format!("domain {}", list(p)),
                        other => panic!("{other:?}"),
                    };
                    out.push(format!("  {:?} {subject}", line.verb.node));
                }
                out.push(format!("  otherwise {}", b.otherwise.as_ref().unwrap().effect.node.word()));
            }
            other => panic!("{other:?}"),
        }
    }
    out
}

#[test]
fn the_example_of_the_format_reads_completely() {
    let text = include_str!("../../../../tests/firewall/seed.yml");
    let parsed = read(text);
    assert_eq!(parsed.diagnostics, []);
    assert!(!parsed.file.skipped);
    let shown = show(&parsed);
    assert_eq!(shown[..3], ["use 1", "default Ask", "timeout 120"]);
    assert!(
        shown.contains(&"rule reads on read_file,list_directory,search_files,\"*_read\" from ".to_owned())
    );
    assert!(shown.contains(&"  Effect(Deny) path **/.git/** ~/**".to_owned()));
    assert!(
        shown.contains(
            &"rule github-writes on create_issue,create_pull_request,push_files,\"merge_*\" from github"
                .to_owned()
        )
    );
    assert!(shown.contains(&"  because deleting is done by humans in this repo".to_owned()));
    assert_eq!(shown[shown.len() - 1], "  otherwise ask");
}

#[test]
fn decisions_fall_back_to_the_default() {
    let parsed =
        read("default: block\nbuiltins: false\nrules:\n  - tool: a\n  - tool: [b]\n    decision: allow\n");
    assert_eq!(
        show(&parsed),
        [
            "default Deny",
            "rule rule-1 on a from ",
            "  otherwise deny",
            "rule rule-2 on b from ",
            "  otherwise allow",
            "rule no-rule-matched on  from ",
            "  because no rule of the file is for this tool",
            "  otherwise deny",
        ]
    );
}

#[test]
fn an_empty_plain_list_allows_nothing() {
    let parsed = read("rules:\n  - {id: x, tool: t, decision: allow, paths: [], domains: [a.test]}\n");
    assert!(show(&parsed).contains(&"  otherwise deny".to_owned()));
    assert!(!show(&parsed).iter().any(|l| l.contains("domain")));
}

#[test]
fn plain_lists_and_anchors() {
    let text = "rules:\n- id: x\n  tool: t\n  paths: [src/**, 'C:\\w\\*']\n  commands: {allow: ['echo {a}']}\n  domains: {block: [EVIL.test]}\n";
    let shown = show(&read(text));
    assert!(shown.contains(&"  Only path ./src/** C:/w/*".to_owned()), "{shown:?}");
    assert!(shown.contains(&"  Effect(Allow) command echo \\{a\\}".to_owned()), "{shown:?}");
    assert!(shown.contains(&"  Effect(Deny) domain evil.test".to_owned()), "{shown:?}");
}

#[test]
fn empty_files_ask_for_everything() {
    for text in ["", "\u{feff}", "# nothing\n", "---\n", "{}", "rules:\n", "rules: []\n"] {
        let parsed = read(text);
        assert!(!parsed.file.skipped, "{text:?}");
        assert_eq!(show(&parsed)[..2], ["use 1", "default Ask"], "{text:?}");
        assert_eq!(errors(text)[0].0, "yaml-no-rules", "{text:?}");
    }
}

#[test]
fn ids_become_names_and_stay_in_the_reason() {
    let text = "rules:\n- {id: 'My rule', tool: a, reason: why}\n- {id: x, tool: b}\n- {id: x, tool: c}\n- {id: 7, tool: d}\n";
    let shown = show(&read(text));
    for line in [
        "rule My-rule on a from ",
        "  because why (rule `My rule`)",
        "rule x on b from ",
        "rule x-2 on c from ",
        "rule rule-7 on d from ",
    ] {
        assert!(shown.contains(&line.to_owned()), "{line}: {shown:?}");
    }
    assert!(!read(text).file.skipped);
}

#[test]
fn faults_point_at_their_words() {
    for (text, code, place, help) in [
        ("defualt: ask\n", "yaml-unknown-key", "defualt", "`default`"),
        ("rules:\n- tool: a\n  decison: ask\n", "yaml-unknown-key", "decison", "`decision`"),
        ("rules:\n- tool: a\n  path: [x]\n", "yaml-unknown-key", "path", "`paths`"),
        ("rules:\n- tool: a\n  paths: {deny: [x]}\n", "yaml-unknown-key", "deny", "`block`"),
        ("default: deny\n", "yaml-unknown-decision", "deny", "`block`"),
        ("default: [ask]\n", "yaml-wrong-type", "[ask]", ""),
        ("rules:\n- id: x\n  decision: ask\n", "yaml-missing-tool", "id: x", "tool: \"*\""),
        ("rules:\n- tool: []\n", "yaml-wrong-type", "[]", "name one"),
        ("rules:\n- tool: ['']\n", "yaml-bad-pattern", "''", "write the pattern"),
        ("rules:\n- tool: a\n  server:\n", "yaml-wrong-type", "", ""),
        ("rules:\n- tool: a\n  paths:\n", "yaml-wrong-type", "", "only these"),
        ("rules:\n- tool: a\n  paths: ./src/**\n", "yaml-wrong-type", "./src/**", "only these"),
        ("rules:\n- tool: a\n  commands: {allow: ls}\n", "yaml-wrong-type", "ls", "[\"ls\"]"),
        ("rules:\n- tool: a\n  commands: {allow: [1]}\n", "yaml-wrong-type", "1", "quotes"),
        ("rules:\n- tool: a\n  paths: [../x]\n", "yaml-bad-pattern", "../x", "`**/`"),
        (
            "rules:\n- tool: a\n  domains: ['https://x.test']\n",
            "yaml-bad-pattern",
            "'https://x.test'",
            "alone",
        ),
        ("rules:\n- tool: \"a\\u202eb\"\n", "yaml-bad-pattern", "\"a\\u202eb\"", "remove"),
        ("rules:\n- tool: a\u{200b}\n", "yaml-bad-pattern", "a\u{200b}", "remove"),
        ("rules: {a: 1}\n", "yaml-wrong-type", "{a: 1}", "- id:"),
        ("- a\n", "yaml-wrong-type", "- a", "rules"),
        ("rules: [x]\n", "yaml-wrong-type", "x", "- id:"),
        ("askTimeout: 1.5\n", "yaml-wrong-type", "1.5", "two minutes"),
        ("askTimeout: -1\n", "yaml-wrong-type", "-1", "two minutes"),
        ("askTimeout: 2m\n", "yaml-wrong-type", "2m", "two minutes"),
        ("builtins: no\n", "yaml-wrong-type", "no", "builtins: false"),
        ("rules:\n- tool: a\n  <<: {x: 1}\n", "yaml-unknown-key", "<<", "merge"),
        ("rules:\n- tool: a\n  tool: b\n", "yaml-duplicate-key", "tool", "keep one"),
        ("rules:\n- tool: *_read\n", "yaml-alias", "*_read", "quotes"),
        ("rules:\n- tool: [a\n", "yaml-syntax", "[", "brackets"),
    ] {
        let found = errors(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!((found[0].0.as_str(), found[0].1.as_str()), (code, place), "{text}: {found:?}");
        assert!(found[0].2.contains(help), "{text}: {found:?}");
        assert!(read(text).file.skipped, "{text}");
    }
}

#[test]
fn several_faults_are_all_told() {
    let text = "rules:\n- id: a\n- tool: b\n  decision: nope\n- tool: [c]\n  foo: 1\n";
    let codes: Vec<_> = errors(text).into_iter().map(|e| e.0).collect();
    assert_eq!(codes, ["yaml-missing-tool", "yaml-unknown-decision", "yaml-unknown-key"]);
}

#[test]
fn many_rules_of_one_id_take_linear_time() {
    let mut text = String::from("rules:\n");
    for _ in 0..20_000 {
        text.push_str("- {id: x, tool: t, decision: ask}\n");
    }
    let parsed = read(&text);
    assert_eq!(parsed.file.items.len(), 20_003);
    assert!(parsed.diagnostics.len() <= MAX_DIAGNOSTICS);
}

#[test]
fn the_written_policy_reads_as_the_same_tree() {
    let tricky = "default: allow\naskTimeout: 5\nrules:\n- {id: 'a b', tool: ['default', 'x*', '{y}'], server: s, reason: \"q \\\" \\\\ \\n z\", \
                  paths: [a, 'b\\c', '{d}', 'é*'], commands: {ask: ['\"x\" {1,2} \\d']}, domains: {allow: ['*']}}\n";
    let seed = include_str!("../../../../tests/firewall/seed.yml");
    let precedence = include_str!("../../../../tests/firewall/precedence.yml");
    let more = include_str!("../../../../tests/firewall/more.yml");
    for text in [seed, precedence, more, tricky, ""] {
        let parsed = read(text);
        assert!(!parsed.file.skipped, "{:?}", parsed.diagnostics);
        let written = to_policy(&parsed.file, "x\n.yml");
        let again = crate::parse(FileId(1), &written);
        assert_eq!(again.diagnostics, [], "{written}");
        assert_eq!(show(&again), show(&parsed), "{written}");
        assert_eq!(crate::print::format(FileId(1), &written).as_ref(), Ok(&written));
    }
}
