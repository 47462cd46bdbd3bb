//! What lints tell.
//!
//! INVARIANT: a lint that tells nothing where nothing is wrong has a case here as well.

use super::{Setup, compiled, told_with};
use crate::LayerKind;
use policy_grammar::diagnostic::Level;

#[test]
fn lints() {
    let managed = Setup { kind: LayerKind::Managed, ..Setup::default() };
    let late = Setup { today: 30_000, ..Setup::default() };
    let plain = Setup::default();
    let exception =
        "guard g on x { deny } exception e to g { owner \"a\" until 2027-01-01 because \"b\" open }";
    for (text, setup, expected) in [
        (
            "rule r on x { allow path \"./a\", \"./b\" allow path \"./a\" }",
            &plain,
            &[("twice", "\"./a\"")][..],
        ),
        ("rule r on x { allow path \"./a\" except \"./a/b\" allow path \"./a\" }", &plain, &[]),
        (
            "rule r on x { allow path \"./a\" deny path \"./a\" }",
            &plain,
            &[("line-without-effect", "\"./a\"")],
        ),
        (
            "rule r on x { allow run `a b ...` ask run `a b` }",
            &plain,
            &[("line-without-effect", "`a b ...`")],
        ),
        ("rule r on x { allow run `a b c` ask run `a b` }", &plain, &[]),
        (
            "rule r on x { ask domain \"a.b.com\" deny domain \"*.b.com\" }",
            &plain,
            &[("line-without-effect", "\"a.b.com\"")],
        ),
        ("rule r on x { ask domain \"a.b.com\" deny domain \"*.b.com\" except \"a.b.com\" }", &plain, &[]),
        (
            "rule r on x, y { otherwise ask } rule s on X { otherwise deny }",
            &plain,
            &[("shadowed-rule", "on X")],
        ),
        (
            "rule r on \"*\" { otherwise ask } rule s on x { otherwise deny }",
            &plain,
            &[("shadowed-rule", "on x")],
        ),
        ("rule r on x for \"./a\" { otherwise ask } rule s on x { otherwise deny }", &plain, &[]),
        (
            "rule r on x { allow domain \"*github.com\", \"*.a.com\", \"*\" }",
            &plain,
            &[("unanchored-domain", "\"*github.com\"")],
        ),
        ("guard g on x { deny domain \"*github.com\" }", &plain, &[]),
        ("rule r on \"*read*\" { otherwise allow }", &plain, &[("wide-tool-glob", "\"*read*\"")]),
        ("rule r on \"*read*\" { otherwise ask }", &plain, &[]),
        ("guard g on x { because \"a\" }", &plain, &[("empty-block", "g")]),
        ("guard g on x { deny path \"~/**\" }", &plain, &[("home-covers-project", "\"~/**\"")]),
        ("guard g on x { deny path \"~/**\" except \"./**\" }", &plain, &[]),
        (
            "default deny guard g on edit, bash { warn path \"./x\" } rule r on bash { allow run `ls` }",
            &plain,
            &[("guards-only", "edit")],
        ),
        ("guard g on edit { warn path \"./x\" }", &plain, &[]),
        ("default deny", &managed, &[("default-is-no-floor", "default deny")]),
        ("default deny rule floor { otherwise ask }", &managed, &[]),
        (exception, &late, &[("expired-exception", "2027-01-01")]),
        (exception, &plain, &[]),
        (
            "set g to off because \"x\" guard g on x { deny } exception e to g { owner \"a\" until 2027-01-01 because \"b\" open }",
            &plain,
            &[("unused-exception", "g")],
        ),
        (
            "guard g on x { deny } exception e to g at stop { owner \"a\" until 2027-01-01 because \"b\" open }",
            &plain,
            &[("unused-exception", "g")],
        ),
        (
            "rule r on bash { allow run `npm {test,list}`, `ls` }",
            &plain,
            &[("grants-a-shell", "`npm {test,list}`")],
        ),
        ("rule r on bash { allow run `bash -c *`, `node --version`, `yarn list` }", &plain, &[]),
        (
            "rule r on x { ask path \"./a\" expect ask x { path: \"a\" } } rule s on y { otherwise ask }",
            &plain,
            &[("untested-block", "s")],
        ),
        ("rule r on x { ask path \"./a\" } rule s on y { otherwise ask }", &plain, &[]),
    ] {
        let told = told_with(text, setup);
        let told: Vec<(&str, &str)> = told.iter().map(|(c, t)| (c.as_str(), t.as_str())).collect();
        assert_eq!(told, expected, "{text}");
    }
}

#[test]
fn packs_under_test_need_tests() {
    let setup = Setup { kind: LayerKind::Test, ..Setup::default() };
    let told = |name: &str, text: &str| {
        let (compiled, _) = compiled(&format!("policy \"{name}\" language 1\n{text}"), &setup);
        compiled.diagnostics.iter().map(|d| (d.code, d.level)).collect::<Vec<_>>()
    };
    let error = ("policy::lint::untested-block", Level::Error);
    assert_eq!(told("std/t", "guard g on x { deny }"), [error]);
    assert!(told("std/t", "guard g on x { deny expect deny x {} }").is_empty());
    assert!(told("team/t", "guard g on x { deny }").is_empty());
}

#[test]
fn shell_grants_are_counted() {
    let text = "policy \"t\" language 1\nrule r on bash { allow run `make` allow run `ls`, `cargo test ...` allow run `ls -l` }";
    let (compiled, _) = compiled(text, &Setup::default());
    assert_eq!((compiled.summary.shell_lines, compiled.summary.allow_lines), (2, 3));
}

#[test]
fn a_flag_that_is_taken_back_runs_nothing() {
    let counted = |line: &str| {
        let text = format!("policy \"t\" language 1\nrule r on bash {{ {line} }}");
        compiled(&text, &Setup::default()).0.summary.shell_lines
    };
    assert_eq!(counted("allow run `sed ...`"), 1);
    assert_eq!(counted("allow run `sed ...` except `sed {-f,--file}`"), 0);
    assert_eq!(counted("allow run `sed ...` except `sed -f`"), 1);
    assert_eq!(counted("allow run `{sed,gsed} ...` except `sed {-f,--file}`"), 1);
    assert_eq!(counted("allow run `sed ...` except `sed * {-f,--file}`"), 1);
    assert_eq!(counted("allow run `{ls,make}`"), 1);
    assert_eq!(counted("allow run `npm {ls,test}`"), 1);
}

#[test]
fn what_runs_code_is_told_by_the_data_of_programs() {
    // One compile for all: each takes what is known of all programs.
    let counted = |patterns: &[&str]| {
        let lines: String = patterns.iter().map(|pattern| format!(" allow run `{pattern}`\n")).collect();
        let summary =
            compiled(&format!("policy \"t\" language 1\nrule r on x {{\n{lines}}}"), &Setup::default())
                .0
                .summary;
        assert_eq!(summary.allow_lines, patterns.len());
        summary.shell_lines
    };
    let running = [
        "make ...",
        "cargo test",
        "cargo {build,test} ...",
        "npm test",
        "npm ...",
        "npm run *",
        "yarn ...",
        "pytest ...",
        "go test ...",
        "gradle ...",
        "mvn ...",
        "just ...",
        "node ...",
        "python *",
        "python3 -m pytest",
        "perl ...",
        "ruby ...",
        "bash ...",
        "sh ./x.sh",
        "./x.sh",
        "*",
        "eslint ...",
        "jest",
        "tox",
        "npx ...",
        "bundle exec ...",
        "deno run ...",
        "uv run ...",
        "poetry run ...",
        "cmake ...",
        "rake",
        "terraform apply ...",
        "pwsh ...",
        "tsx ...",
        "dotnet test",
        "pip install ...",
        "composer install",
        "pre-commit run",
    ];
    assert_eq!(counted(&running), running.len());
    let others = [
        "ls ...",
        "git status",
        "cargo --version",
        "npm ls ...",
        "npm --version",
        "python3 --version",
        "bash -c *",
        "bash -lc *",
        "cat ...",
        "grep ...",
        "go version",
        "pip list",
        "npm view ...",
        "cargo tree",
        "unknown ...",
        "make --version",
    ];
    assert_eq!(counted(&others), 0);
}
