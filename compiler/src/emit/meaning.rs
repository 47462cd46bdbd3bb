//! Sentences of `docs/semantics.md`, each as a small policy, a call and the verdict; the oracle must say the same.
//!
//! INVARIANT: facts are written by hand, so that nothing but the decision is tested.

use super::emit;
use crate::naive::evaluate;
use crate::tests::good;
use Decision::{Allow, Ask, Deny, Host};
use policy_runtime::facts::{
    Access, ArgFact, CommandFact, DomainFact, Facts, Form, Opaque, Origin, Part, PathFact, PathName,
    ScriptFact, ToolName, Word,
};
use policy_runtime::payment;
use policy_runtime::{Context, Decision, Table, Verdict, decide};

fn call(tool: &str) -> Facts {
    Facts {
        readings: vec![ToolName { server: String::new(), tool: tool.to_owned(), own: false }],
        event: "pre_tool_use".to_owned(),
        dir: name("."),
        ..Facts::default()
    }
}

fn name(view: &str) -> PathName {
    PathName { views: vec![view.to_owned()] }
}

fn with_path(mut facts: Facts, names: &[&str], form: Form) -> Facts {
    let names: Vec<PathName> = names.iter().map(|n| name(n)).collect();
    let written = names[0].views[0].clone();
    facts.paths.push(PathFact { written, names, form, ..PathFact::default() });
    facts
}

fn path(text: &str) -> Facts {
    with_path(call("read"), &[text], Form::Exact)
}

/// A command of `bash` whose operands may be paths.
fn bash(text: &str) -> Facts {
    let mut facts = call("bash");
    facts.scripts.push(ScriptFact { text: text.to_owned(), complete: true, ..ScriptFact::default() });
    let words: Vec<Word> = text.split(' ').map(|w| Word::Known(w.to_owned())).collect();
    let mut parts = vec![Part::Operand; words.len()];
    parts[0] = Part::Program;
    let mut word_paths = vec![None; words.len()];
    let mut paths = Vec::new();
    for (index, word) in text.split(' ').enumerate().skip(1).filter(|(_, w)| w.contains(['/', '.'])) {
        word_paths[index] = Some(facts.paths.len() as u32);
        paths.push(facts.paths.len() as u32);
        let origin = Origin::Command(0);
        facts.paths.push(PathFact {
            written: word.to_owned(),
            names: vec![name(word)],
            origin,
            ..PathFact::default()
        });
    }
    facts.commands.push(CommandFact {
        words,
        parts,
        word_paths,
        paths,
        text: text.to_owned(),
        dir: name("."),
        plain: true,
        ..CommandFact::default()
    });
    facts
}

fn verdict_on(text: &str, facts: &Facts, today: i64) -> Verdict {
    let policy = good(text);
    let bytes = emit(&policy, &[0; 32], &[0; 32]).expect("a table");
    let verdict = decide(&Table::open(&bytes).expect("opens"), facts, &Context { today });
    let oracle = evaluate(&policy, facts, today);
    assert_eq!(
        (verdict.decision, &verdict.steps[0].rule, verdict.abstains),
        (oracle.decision, &oracle.rule, oracle.abstains)
    );
    verdict
}

#[track_caller]
fn check(text: &str, cases: &[(Facts, Decision, &str)]) {
    for (facts, decision, rule) in cases {
        let verdict = verdict_on(text, facts, 20_000);
        assert_eq!(
            (verdict.decision, verdict.steps[0].rule.as_str()),
            (*decision, *rule),
            "{facts:?}\n{verdict:#?}"
        );
    }
}

#[test]
fn the_first_rule_with_an_answer_decides_and_the_longest_pattern_in_it() {
    check(
        "default ask
rule a on read { allow path \"./src/**\"  ask path \"./src/gen/**\"  deny path \"**/.env\" }
rule b on read { deny path \"./src/**\"  allow path \"./**\" }",
        &[
            (path("./src/x"), Allow, "a"),
            (path("./src/gen/x"), Ask, "a"),
            (path("./src/gen/.env"), Deny, "a"),
            (path("./lib/x"), Allow, "b"),
            (path("/etc/x"), Ask, "default"),
            (path("./SRC/x"), Deny, "b"),
            (with_path(path("./src/x"), &["./.env"], Form::Exact), Deny, "a"),
            (with_path(call("read"), &["./src/x", "/etc/x"], Form::Exact), Ask, "default"),
            (with_path(call("read"), &["./src/x", "./.env"], Form::Exact), Deny, "a"),
            (call("read"), Ask, "default"),
            (call("other"), Ask, "default"),
        ],
    );
}

#[test]
fn unknown_values_never_match_a_grant_and_ask_where_a_refusal_is_possible() {
    let glob = |text: &str| with_path(call("read"), &[text], Form::Glob);
    let hole = |text: &str| with_path(call("read"), &[text], Form::Holes);
    check(
        "default deny
rule a on read { allow path \"./**\"  deny path \"**/.env\", \"./secret/**\" }",
        &[
            (glob("./src/*.rs"), Allow, "a"),
            (glob("./*"), Ask, "a"),
            (glob("./secret/*"), Deny, "a"),
            (glob("./src/.*/x"), Deny, "default"),
            (hole("./src/\u{1}"), Deny, "default"),
            (hole("./secret/\u{1}"), Deny, "a"),
        ],
    );
    let verdict = verdict_on(
        "default allow rule a on read { deny path \"**/.env\" because \"no\" }",
        &hole("./\u{1}"),
        0,
    );
    assert_eq!(verdict.decision, Ask);
    assert_eq!(verdict.steps[0].because, "`./…` is not fully known and could match; no");
}

#[test]
fn no_default_and_no_answer_is_no_opinion() {
    let text = "rule a on read { allow path \"./**\" }";
    let verdict = verdict_on(text, &path("/x"), 0);
    assert_eq!((verdict.decision, verdict.abstains), (Host, true));
    let both = with_path(path("/x"), &["./x"], Form::Exact);
    let verdict = verdict_on(text, &both, 0);
    assert_eq!((verdict.decision, verdict.abstains), (Host, false));
    assert_eq!(verdict.steps.len(), 2);
    assert_eq!(verdict.steps[1].decision, Allow);
}

#[test]
fn only_denies_everything_else_and_calls_without_a_value() {
    let with_arg = |value: &str| {
        let mut facts = call("weather");
        facts.args.push(ArgFact { name: "location".to_owned(), value: value.to_owned() });
        facts
    };
    check(
        "default deny
rule weather on weather { only arg location \"New York\", \"Lon*\" }
rule any on weather { otherwise allow }",
        &[
            (with_arg("New York"), Allow, "weather"),
            (with_arg("London"), Allow, "weather"),
            (with_arg("new york"), Deny, "weather"),
            (call("weather"), Deny, "weather"),
        ],
    );
    check(
        "default allow
guard g on read { only path \"./**\" }",
        &[
            (path("./x"), Allow, "default"),
            (path("/x"), Deny, "g"),
            (call("read"), Deny, "g"),
            (with_path(call("read"), &["./x", "/x"], Form::Exact), Deny, "g"),
        ],
    );
}

#[test]
fn paths_inside_commands_are_for_guards_and_for_rules_with_lines_on_paths() {
    let mut listed = bash("ls ./.env");
    listed.paths[0].access = Access::NAME;
    check(
        "default ask
rule a on bash { allow run `{cat,ls} ...` }
guard g on bash { deny path \"**/.env\" }",
        &[
            (bash("cat ./x"), Allow, "a"),
            (bash("cat ./.env"), Deny, "g"),
            (listed, Allow, "a"),
            (bash("rm ./x"), Ask, "default"),
        ],
    );
    check(
        "default ask
rule a on bash { allow run `cat ...`  allow path \"./**\" }",
        &[(bash("cat ./x"), Allow, "a"), (bash("cat /etc/x"), Ask, "default")],
    );
}

#[test]
fn exceptions_open_their_guard_until_their_day() {
    let text = "default allow
guard g on bash { deny run `git push` because \"no\" }
guard h on bash { ask run `git push --tags` }
exception e to g on bash { owner \"me\" until 2024-10-04 because \"b\"  open run `git push origin ...` }";
    let day = 20_000; // 2024-10-04
    let on = |command: &str, today| verdict_on(text, &bash(command), today).decision;
    assert_eq!(on("git push origin x", day), Allow);
    let steps = verdict_on(text, &bash("git push origin x"), day).steps;
    let opened = steps.iter().find(|s| s.rule == "e").expect("the exception is told");
    assert_eq!((opened.because.as_str(), opened.decision), ("it opens g; b", Allow));
    assert_eq!(on("git push origin x", day + 1), Deny);
    assert_eq!(on("git push x", day), Deny);
    assert_eq!(on("git PUSH origin x", day), Deny, "an exception is exact");
}

#[test]
fn projects_and_files_hold_for_values_within() {
    check(
        "default ask
rule top on read { allow path \"./**\" }
project \"./api\" { rule inner on read { deny path \"./**\" } }",
        &[(path("./x"), Allow, "top"), (path("./api/x"), Deny, "inner"), (path("./API/x"), Ask, "built-in")],
    );
    check(
        "default allow
guard g on read for \"./src/**\" except \"./src/gen/**\" { deny }",
        &[
            (path("./src/x"), Deny, "g"),
            (path("./SRC/x"), Deny, "g"),
            (path("./src/gen/x"), Allow, "default"),
            (path("./x"), Allow, "default"),
            (with_path(call("read"), &["./x", "./src/y"], Form::Exact), Deny, "g"),
            (call("read"), Allow, "default"),
        ],
    );
}

#[test]
fn what_is_not_understood_asks_with_its_cause() {
    let mut opaque = path("./x");
    opaque
        .opaque
        .push(Opaque { origin: Origin::Arg("data".to_owned()), why: "longer than 8192 bytes".to_owned() });
    let mut script = bash("ls");
    (script.scripts[0].complete, script.scripts[0].problem) = (false, "unclosed quote".to_owned());
    let mut gap = bash("ls");
    gap.commands[0].gap = "the program is not known".to_owned();
    let long = path(&format!("./{}", "x".repeat(9000)));
    let mut many = call("read");
    many.paths = (0..5000).map(|_| path("./x").paths.remove(0)).collect();
    let mut host = call("read");
    host.domains.push(DomainFact { host: "x".repeat(300), ..DomainFact::default() });
    let text = "default allow rule a on read { allow path \"./**\" }";
    for (facts, cause) in
        [(opaque, "longer than 8192 bytes"), (script, "unclosed quote"), (gap, "the program is not known")]
    {
        let verdict = verdict_on(text, &facts, 0);
        assert_eq!((verdict.decision, verdict.steps[0].because.as_str()), (Ask, cause));
        assert_eq!(verdict.steps[0].rule, "built-in");
    }
    let bytes = emit(&good(text), &[0; 32], &[0; 32]).expect("a table");
    let table = Table::open(&bytes).expect("opens");
    for (facts, cause) in
        [(long, "longer than 8192"), (many, "more than 4096 paths"), (host, "longer than 255")]
    {
        let verdict = decide(&table, &facts, &Context::default());
        assert_eq!(verdict.decision, Ask);
        assert!(verdict.steps[0].because.contains(cause), "{verdict:?}");
        assert!(verdict.steps.len() <= 64);
    }
}

#[test]
fn the_strictest_reading_of_a_name_holds() {
    let mut facts = call("a__b");
    facts.readings = vec![
        ToolName { server: "a".to_owned(), tool: "b__c".to_owned(), own: false },
        ToolName { server: "a__b".to_owned(), tool: "c".to_owned(), own: false },
    ];
    check(
        "default ask
rule one on \"*\" from a { otherwise allow }
guard two on c from a__b { deny because \"no\" }",
        &[(facts, Deny, "two")],
    );
}

#[test]
fn observe_allows_and_says_what_it_would_do() {
    let verdict = verdict_like("mode observe\ndefault deny", &path("./x"));
    assert_eq!((verdict.decision, verdict.observed), (Allow, Some(Deny)));
}

fn verdict_like(text: &str, facts: &Facts) -> Verdict {
    let bytes = emit(&good(text), &[0; 32], &[0; 32]).expect("a table");
    decide(&Table::open(&bytes).expect("opens"), facts, &Context::default())
}

#[test]
fn steps_say_where_and_why() {
    let text = "default ask\nask timeout 9s\nrule a on read {\n  deny path \"**/.env\" because \"secret\" suggest \"vault\"\n}";
    let verdict = verdict_on(text, &path("./.env"), 0);
    let step = &verdict.steps[0];
    assert_eq!((step.place.file.as_str(), step.place.line), ("agent.policy", 5));
    assert_eq!((step.matched.as_str(), step.value.as_str()), ("**/.env", "./.env"));
    assert_eq!((step.because.as_str(), step.suggest.as_str()), ("secret", "vault"));
    assert_eq!(step.ask_timeout, None);
    let verdict = verdict_on(text, &path("./x"), 0);
    let step = &verdict.steps[0];
    assert_eq!((step.rule.as_str(), step.place.line, step.ask_timeout), ("default", 2, Some(9)));
    assert_eq!(step.because, "no rule answers this path; the default is ask");
}

#[test]
fn what_is_asked_via_the_page_says_so() {
    let page = "default ask guard g on read { ask via page  ask path \"**/.env\" because \"secret\" }\n\
                rule r on read { ask path \"./x\" }";
    for (facts, wanted) in [(path("./.env"), true), (path("./x"), false), (path("./y"), false)] {
        let verdict = verdict_on(page, &facts, 0);
        assert_eq!((verdict.decision, verdict.page_only()), (Ask, wanted));
    }
    // Two guards ask, and one of them wants the page: it is the page.
    let two = "guard a on read { ask path \"./x\" because \"a\" }\nguard b on read { ask via page  ask path \"./x\" because \"b\" }";
    assert!(verdict_on(two, &path("./x"), 0).page_only());
    // Of the whole policy, the default too; what is denied or allowed is no ask.
    let all =
        "default ask ask via page rule r on read { allow path \"./a\"  deny path \"./d\"  ask path \"./x\" }";
    for (facts, wanted) in [("./a", false), ("./d", false), ("./x", true), ("./y", true)] {
        assert_eq!(verdict_on(all, &path(facts), 0).page_only(), wanted, "{facts}");
    }
    assert!(!verdict_on("default ask rule r on read { ask path \"./x\" }", &path("./x"), 0).page_only());
}

#[test]
fn a_guard_that_wants_the_page_is_heard_among_many() {
    let mut text = String::new();
    for number in 0..200 {
        text.push_str(&format!("guard g{number} on read {{ ask path \"./x\" because \"w\" }}\n"));
    }
    text.push_str("guard last on read { ask via page  ask path \"./x\" because \"w\" }\n");
    assert!(verdict_on(&text, &path("./x"), 0).page_only());
}

/// The facts of a payment.
fn paying(all: &[(&str, &str)]) -> Facts {
    let mut facts = path("./x");
    facts.paths.clear();
    let arg = |(name, value): &(&str, &str)| ArgFact { name: (*name).to_owned(), value: (*value).to_owned() };
    facts.args = all.iter().map(arg).collect();
    facts
}

const USDC: &str =
    "asset USDC is \"eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\" decimals 6\n";
const USDC_ID: &str = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";

#[test]
fn limits_on_a_payment_are_exact() {
    let text = format!(
        "{USDC}default allow guard g on read {{ deny amount over 2.50 USDC  ask amount over 1 USDC }}"
    );
    for (units, wanted) in [
        ("2500001", Deny),
        ("2500000", Ask),
        ("1000001", Ask),
        ("1000000", Allow),
        ("0", Allow),
        (&"9".repeat(78), Deny),
        // How much it is is not known.
        (payment::UNKNOWN, Ask),
    ] {
        let verdict = verdict_like(&text, &paying(&[(payment::AMOUNT, &format!("{USDC_ID} {units}"))]));
        assert_eq!(verdict.decision, wanted, "{units}: {:?}", verdict.steps);
    }
    let other =
        paying(&[(payment::AMOUNT, "eip155:1/erc20:0x1111111111111111111111111111111111111111 9999999999")]);
    assert_eq!(verdict_like(&text, &other).decision, Allow, "another token has no such limit");
    let verdict = verdict_like(&text, &paying(&[(payment::AMOUNT, &format!("{USDC_ID} 12500000"))]));
    assert_eq!(
        verdict.steps[0].because,
        "the amount 12.50 USDC is over the limit of 2.50 USDC for one payment"
    );
    // A payment that cannot be read is not "no payment".
    let verdict = verdict_like(&text, &paying(&[]));
    assert_eq!(verdict.decision, Ask);
    assert!(verdict.steps[0].because.contains("none that can be read"), "{:?}", verdict.steps);
}

#[test]
fn observing_lets_no_wrong_network_asset_or_payee_through() {
    let text = format!(
        "{USDC}mode observe default allow guard g on read {{ only network \"base\"  only asset USDC  deny payee mismatch  deny amount over 1 USDC }}"
    );
    let fine = [(payment::NETWORK, "eip155:8453"), (payment::ASSET, USDC_ID), (payment::AMOUNT, "x 1")];
    for (name, value, wanted) in [
        (payment::AMOUNT, &*format!("{USDC_ID} 1000001"), (Allow, Some(Deny))),
        (payment::NETWORK, "eip155:1", (Deny, None)),
        (payment::ASSET, "eip155:8453/erc20:0x1111111111111111111111111111111111111111", (Deny, None)),
        (payment::PAYEE_IS, "mismatch", (Deny, None)),
    ] {
        let mut all: Vec<(&str, &str)> = fine.iter().filter(|(own, _)| *own != name).copied().collect();
        all.push((name, value));
        let verdict = verdict_like(&text, &paying(&all));
        assert_eq!((verdict.decision, verdict.observed), wanted, "{name}");
    }
}

#[test]
fn warn_and_info_are_reported_and_decide_nothing() {
    let text = "default allow guard g on read { warn path \"**/x\" because \"w\"  info path \"./**\" because \"i\" }";
    let verdict = verdict_on(text, &path("./x"), 0);
    assert_eq!(verdict.decision, Allow);
    let words: Vec<&str> = verdict.findings.iter().map(|f| f.severity.word()).collect();
    assert_eq!(words.len(), 2);
    assert!(words.contains(&"warning") && words.contains(&"info"));
}
