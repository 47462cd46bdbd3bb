//! What becomes of an `agentlint.yml`.
//!
//! INVARIANT: every text here is parsed again; a policy that cannot be read is a failed test.

use super::{Around, Reading, detected, read};
use crate::source::FileId;

fn pack(name: &str) -> Option<&'static str> {
    Some(match name {
        "std/universal" => {
            "policy \"std/universal\" language 1\nlist build-outputs is [\"**/dist/**\"]\nlist more is [\"a\"]\n\
             guard no-destructive-commands on bash {\n  ask run `rm -r` touching \"**/**\" except @build-outputs\n  \
             ask run `git reset --hard` touching @more\n}\nguard max-file-size { warn check max-file-size }\n"
        }
        "std/autopilot" => {
            "policy \"std/autopilot\" language 1\nguard production-guard on bash {\n  deny run `psql` touching \"*prod*\" \
             except \"*nonprod*\"\n}\nguard package-publish-guard on bash {\n  deny run `npm publish`\n}\n"
        }
        "std/session-rules" => {
            "policy \"std/session-rules\" language 1\nlist code is [\"**/*.py\"]\nlist tests is [`pytest ...`]\n\
             guard drift-detector on bash {\n  warn run `git commit` when session wrote @code over 15 since ran @tests\n}\n\
             guard token-budget {\n  info calls over 159 per session\n  warn calls over 200 per session\n}\n\
             guard bash-rate-limiter on bash {\n  deny run `rm -r` over 5 per 5m\n}\n\
             guard loop {\n  ask repeats over 5 per 10m\n}\n"
        }
        "std/quality" => {
            "policy \"std/quality\" language 1\nguard naming-conventions { info check naming-conventions }\n"
        }
        "std/python" => {
            "policy \"std/python\" language 1\nguard no-bare-except { warn check no-bare-except }\n"
        }
        _ => return None,
    })
}

fn told(text: &str, beside: &[(&str, &str)]) -> Reading {
    let mut files =
        |name: &str| beside.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned());
    let options = |_: &str| vec!["limit"];
    let mut stack = || detected(&mut files);
    let reading = read(FileId(0), text, &mut Around { pack: &pack, options: &options, stack: &mut stack });
    let parsed = crate::parse::parse(FileId(0), &reading.policy);
    let wrong: Vec<&str> = parsed.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{}", reading.policy);
    reading
}

#[test]
fn the_default_is_two_packs_and_what_lies_there() {
    let policy = told("", &[("pyproject.toml", "")]).policy;
    assert!(policy.contains("default allow"), "{policy}");
    assert!(policy.contains("use std/universal, std/quality, std/python, std/session-rules"), "{policy}");
    let policy = told("stack: none\nexclude_packs: [quality]\nseverity: strict", &[("setup.py", "")]).policy;
    assert!(
        policy.contains("use std/universal, std/session-rules\n") && policy.contains("severity strict"),
        "{policy}"
    );
}

#[test]
fn rules_are_switched_off_and_changed() {
    let policy = told(
        "rules:\n  naming-conventions: false\n  max-file-size:\n    limit: 300\n    ignore_paths: ['gen/*']\n  \
         no-destructive-commands:\n    safe_rm_targets: [vendor]\n    allow_operations:\n      - binary: git\n        \
         args_prefix: [reset, --hard, origin/dev]\n",
        &[],
    )
    .policy;
    for part in [
        "set std/quality/naming-conventions to off",
        "set std/universal/max-file-size to off",
        "warn check max-file-size with limit 300",
        "except \"./gen/**\"",
        "list build-outputs is",
        "\"**/vendor/**\"",
        "@std/universal/more",
        "`git reset --hard origin/dev ...`",
    ] {
        assert!(policy.contains(part), "{part}\n{policy}");
    }
}

#[test]
fn rules_of_the_session() {
    let policy = told(
        "packs: [universal]\nrules:\n  drift-detector: {threshold: 3}\n  token-budget: {max_tool_invocations: 10, warn_at_percent: 50, \
         count_tools: all}\n",
        &[],
    )
    .policy;
    for part in [
        "set std/session-rules/loop to off",
        "set std/session-rules/bash-rate-limiter to off because \"its pack is not among `packs`\"",
        "when session wrote @std/session-rules/code over 3 since ran @std/session-rules/tests",
        "guard token-budget on \"*\"",
        "info calls over 4 per session",
        "warn calls over 10 per session",
    ] {
        assert!(policy.contains(part), "{part}\n{policy}");
    }
    let policy = told("packs: [autopilot]\nrules: {token-budget: false}", &[]).policy;
    assert!(!policy.contains("std/session-rules/bash-rate-limiter"), "{policy}");
    assert!(policy.contains("set std/session-rules/token-budget to off"), "{policy}");
    let reading = told("packs: [universal]\nrules: {bash-rate-limiter: true}", &[]);
    assert!(reading.diagnostics.iter().any(|d| d.message.contains("bash-rate-limiter")), "{reading:?}");
}

#[test]
fn registries_projects_and_expressions() {
    let reading = told(
        "packs: [autopilot]\nrules:\n  package-publish-guard: {allowed_registries: ['https://npm.example.com/']}\n  \
         production-guard: {allowed_projects: [live-demo], allowed_hosts: [prod.example]}\n  no-destructive-commands:\n    \
         allow_operations:\n      - {binary: git, args_regex: '^reset --hard origin/(dev|next)$'}\n      \
         - {binary: git, args_regex: '^reset (?!x)'}\n",
        &[],
    );
    let policy = &reading.policy;
    for part in
        ["https://npm.example.com", "\"live-demo\"", "prod.example", "`git reset --hard origin/{dev,next}`"]
    {
        assert!(policy.contains(part), "{part}\n{policy}");
    }
    let told: Vec<&str> = reading.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(!reading.broken && told.len() == 1 && told[0].contains("args_regex"), "{told:?}");
}

#[test]
fn what_the_workspace_requires_stays() {
    let reading = told(
        "workspace: {required_rules: [max-file-size]}\nrules:\n  ignore_paths: [gen]\n  max-file-size: {enabled: false, limit: 3, \
         allow_paths: [x]}\n",
        &[],
    );
    let policy = &reading.policy;
    assert!(policy.contains("warn check max-file-size with limit 3"), "{policy}");
    let own = policy.split("guard max-file-size").nth(1).unwrap();
    assert!(!own.split("}").next().unwrap().contains("gen"), "{policy}");
    assert_eq!((reading.broken, reading.diagnostics.len()), (false, 2), "{:?}", reading.diagnostics);
    assert!(told_broken("workspace: {required_rules: [max-file-sizes]}"));
    assert!(told_broken("workspace: {required: [max-file-size]}"));
}

fn told_broken(text: &str) -> bool {
    told(text, &[]).broken
}

#[test]
fn scopes_projects_and_exceptions() {
    let policy = told(
        "rules:\n  file-scope: {allow: ['src/*'], deny: ['src/secret/*']}\nprojects:\n  packages/api: {packs: [python]}\n\
         exceptions:\n  - {id: x, rule_id: no-destructive-commands, operation: rm -r old, expires_at: 2030-01-01T00:00:00Z, \
         reason: agreed}\n",
        &[],
    )
    .policy;
    for part in [
        "guard file-scope",
        "\"./src/secret/**\"",
        "project \"./packages/api\"",
        "exception x to std/universal/no-destructive-commands",
        "2030-01-01",
    ] {
        assert!(policy.contains(part), "{part}\n{policy}");
    }
}

#[test]
fn what_is_not_understood_is_told() {
    for (text, part) in [
        ("pakcs: [python]", "`pakcs`"),
        ("packs: [pyhton]", "`pyhton`"),
        ("severity: loud", "`loud`"),
        ("rules:\n  max-file-sizes: false", "max-file-sizes"),
        ("rules:\n  max-file-size: {limits: 3}", "`limits`"),
        ("rules: [a]", "takes keys and values"),
        ("rules:\n  max-file-size: {ignore_paths: ['../x']}", "../x"),
        ("rules:\n  max-file-size: {limit: {a: 1}}", "`limit`"),
        ("rules:\n  max-file-size: {limit: }", "`limit`"),
        ("stack: [python]", "`stack`"),
        ("projects: {\"a\\n}\\nallow\": {packs: [python]}}", "no folder of the project"),
        ("projects: {\"a\\u001bb\": {packs: [python]}}", "no folder of the project"),
        ("rules:\n  no-destructive-commands: {safe_path_prefixes: [\"/x\\\"]\\nallow\"]}", "cannot be read"),
        ("rules:\n  no-destructive-commands: {safe_path_prefixes: ['/a/../..']}", "cannot be read"),
    ] {
        let reading = told(text, &[]);
        assert!(reading.broken, "{text}");
        assert!(
            reading.diagnostics.iter().any(|d| d.message.contains(part)),
            "{text}: {:?}",
            reading.diagnostics
        );
    }
    for text in [
        "custom_rules_dir: x",
        "circuit_breaker: {}",
        "recording: {enabled: true}",
        "rules:\n  cli-integration: {commands: []}",
    ] {
        let reading = told(text, &[]);
        assert!(!reading.broken && reading.diagnostics.len() == 1, "{text}: {:?}", reading.diagnostics);
    }
    // What takes everything out of a rule, or finds no packs, is told.
    for text in [
        "stack: Auto",
        "rules:\n  ignore_paths: ['**']",
        "rules:\n  max-file-size: {allow_paths: ['*']}",
        "rules:\n  max-file-size: {ignore_paths: ['./**/*']}",
        "rules:\n  no-destructive-commands: {safe_path_prefixes: [/]}",
    ] {
        let reading = told(text, &[]);
        assert!(!reading.broken && reading.diagnostics.len() == 1, "{text}: {:?}", reading.diagnostics);
    }
}

#[test]
fn as_many_wrong_keys_as_fit_are_told_quickly() {
    let keys: String = (0..60_000).map(|number| format!("  rule-{number}: true\n")).collect();
    let many = told(&format!("rules:\n{keys}"), &[]);
    assert!(many.broken && many.diagnostics.len() <= 100);
    let keys: String = (0..60_000).map(|number| format!("key-{number}: true\n")).collect();
    assert!(told(&keys, &[]).broken);
    let long = told(&format!("rules:\n  ? {}\n  : true\n", "no-secrets".repeat(300_000)), &[]);
    assert!(long.broken);
}

#[test]
fn no_option_writes_lines_of_the_policy() {
    for text in
        ["/x\" , \"/**", "/x\"]\n\nset std/universal/no-secrets to off because \"y", "/tmp/../etc", "/a[b]"]
    {
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let quoted = format!("\"{quoted}\"");
        let reading =
            told(&format!("rules:\n  no-destructive-commands:\n    safe_path_prefixes: [{quoted}]\n"), &[]);
        assert!(reading.broken, "{text}: {}", reading.policy);
    }
    let fine = told("rules:\n  no-destructive-commands:\n    safe_path_prefixes: [/scratch/]\n", &[]);
    assert!(!fine.broken, "{}", fine.policy);
}
