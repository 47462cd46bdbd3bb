//! Tests of layers, trust and discovery together.

use super::*;
use crate::combine::BUILT_IN;
use crate::compile::{self, Kind};
use crate::sources::Loader;
use crate::testing::Scratch;
use crate::trust;
use policy_runtime::verdict::Decision;
use serde_json::json;
use std::path::PathBuf;

struct World {
    scratch: Scratch,
    folders: Folders,
}

impl World {
    fn new(name: &str) -> World {
        let scratch = Scratch::new(name);
        let mut folders = Folders::under(&scratch.folder("home"));
        folders.managed = scratch.folder("etc");
        World { scratch, folders }
    }

    fn engine(&self) -> Engine {
        let options = Options {
            policy: None,
            care: Care::Private,
            default: Default_::Std,
            sessions: true,
            caching: true,
            resolve_links: true,
            compiler: &crate::work::Here,
        };
        Engine::new(self.folders.clone(), options)
    }

    fn call(&self, tool: &str, arguments: serde_json::Value, cwd: &str, session: &str) -> Call {
        Call {
            host: "test".into(),
            event: "pre_tool_use".into(),
            tool: tool.into(),
            arguments,
            cwd: self.scratch.folder(cwd),
            session: session.into(),
            ..Call::default()
        }
    }

    fn bash(&self, command: &str, cwd: &str, session: &str) -> Answer {
        self.engine().decide(&self.call("bash", json!({ "command": command }), cwd, session))
    }

    fn project(&self, text: &str) -> PathBuf {
        self.scratch.file("repo/.git/HEAD", "");
        self.scratch.file("repo/agent.policy", &format!("policy \"p\" language 1\n{text}"))
    }

    fn user(&self, text: &str) {
        self.scratch.file("home/.config/policy/agent.policy", &format!("policy \"u\" language 1\n{text}"));
    }

    fn trust(&self, file: &Path) {
        let project = file.parent().unwrap();
        let mut loader = Loader::disk(Care::Private, Some(project), &self.folders.home);
        let made = compile::file(&mut loader, file, Kind::Project, true).unwrap();
        assert!(made.table.is_some(), "{:?}", made.diagnostics);
        let name = file.file_name().unwrap().to_string_lossy();
        trust::grant(&self.folders, project, &name, loader.to_copies(project)).unwrap();
    }
}

const ALLOWS: &str = "rule r on bash {\n  allow run `frobnicate ...`\n  deny run `frobnicate --bad`\n}\n";

#[test]
fn an_untrusted_project_only_refuses() {
    let world = World::new("e-untrusted");
    world.project(ALLOWS);
    assert!(world.bash("frobnicate x", "repo", "").verdict.decision > Decision::Allow);
    let denied = world.bash("frobnicate --bad", "repo", "").verdict;
    assert_eq!(denied.decision, Decision::Deny, "{denied:?}");
}

#[test]
fn trust_lets_it_allow_until_a_file_changes() {
    let world = World::new("e-trust");
    let file = world.project(ALLOWS);
    world.trust(&file);
    for _ in 0..2 {
        assert_eq!(world.bash("frobnicate x", "repo", "").verdict.decision, Decision::Allow);
    }
    std::fs::write(&file, "policy \"p\" language 1\nrule r on bash {\n  allow run `frobnicate ...`\n}\n")
        .unwrap();
    assert!(world.bash("frobnicate x", "repo", "").verdict.decision > Decision::Allow);
    let answer = world.bash("frobnicate --bad", "repo", "");
    assert_eq!(answer.verdict.decision, Decision::Deny, "the copy restricts");
    assert!(answer.layers.iter().any(|layer| layer.note.contains("changed")));
    std::fs::remove_file(&file).unwrap();
    let answer = world.bash("frobnicate --bad", "repo", "");
    assert_eq!(answer.verdict.decision, Decision::Deny, "the copy restricts on");
    assert!(answer.layers.iter().any(|layer| layer.note.contains("gone")));
}

#[test]
fn a_pack_that_was_found_holds_on_when_what_told_it_is_gone() {
    let world = World::new("e-stack");
    world.scratch.file("repo/.git/HEAD", "");
    let told = world.scratch.file("repo/pyproject.toml", "");
    let file = world.scratch.file("repo/agentlint.yml", "severity: standard\n");
    world.trust(&file);
    let unsafe_code = || {
        let code = json!({"file_path": "a.py", "content": "import os\nos.system(\"ls \" + name)\n"});
        world.engine().decide(&world.call("Write", code, "repo", "")).verdict
    };
    let denied = |verdict: Verdict| {
        let by_the_pack = verdict.findings.iter().any(|finding| finding.rule.ends_with("no-unsafe-shell"));
        (verdict.decision, by_the_pack)
    };
    assert_eq!(denied(unsafe_code()), (Decision::Deny, true));
    std::fs::remove_file(told).unwrap();
    // From the cache and without one.
    for _ in 0..2 {
        assert_eq!(denied(unsafe_code()), (Decision::Deny, true), "the packs it was trusted with hold on");
    }
}

#[test]
fn a_broken_policy_refuses_and_names_the_line() {
    let world = World::new("e-broken");
    world.user("rule r on bash {\n  allow run `ls`\n  block run `rm`\n}\n");
    let verdict = world.bash("ls", "repo", "").verdict;
    assert_eq!(verdict.decision, Decision::Deny);
    assert_eq!(verdict.steps[0].rule, BUILT_IN);
    assert!(verdict.steps[0].because.contains("line 4"), "{}", verdict.steps[0].because);
}

#[test]
fn a_link_or_fifo_in_place_of_a_policy_refuses() {
    let world = World::new("e-link");
    let real = world.scratch.file("real.policy", "policy \"u\" language 1\n");
    world.scratch.folder("home/.config/policy");
    std::os::unix::fs::symlink(real, world.folders.user_policy()).unwrap();
    let verdict = world.bash("ls", "repo", "").verdict;
    assert_eq!(verdict.decision, Decision::Deny);
    assert!(verdict.steps[0].because.contains("symbolic link"), "{}", verdict.steps[0].because);
}

#[test]
fn the_managed_layer_holds_beside_the_users() {
    let world = World::new("e-managed");
    world.user("default allow\n");
    assert_eq!(world.bash("frobnicate", "repo", "").verdict.decision, Decision::Allow);
    world
        .scratch
        .file("etc/agent.policy", "policy \"m\" language 1\nguard g on bash {\n  deny run `frobnicate`\n}\n");
    let _ = std::fs::remove_dir_all(&world.folders.cache);
    for _ in 0..2 {
        assert_eq!(world.bash("frobnicate", "repo", "").verdict.decision, Decision::Deny);
    }
    let mode = |path: PathBuf| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    let tables = world.folders.managed.join("tables");
    assert_eq!(mode(tables.clone()), 0o755);
    // Of the managed file and of `std/self`; the user's own cache holds the user's file alone.
    let entries: Vec<_> = std::fs::read_dir(tables).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(entries.len() == 2 && entries.into_iter().all(|path| mode(path) == 0o644));
    assert_eq!(std::fs::read_dir(&world.folders.cache).unwrap().count(), 1);
}

#[test]
fn a_change_of_folder_drops_nothing() {
    let world = World::new("e-session");
    world.project("guard g on bash {\n  deny run `frobnicate`\n}\n");
    world.scratch.folder("elsewhere");
    assert_eq!(world.bash("frobnicate", "repo", "s").verdict.decision, Decision::Deny);
    assert_eq!(world.bash("frobnicate", "elsewhere", "s").verdict.decision, Decision::Deny);
    assert!(world.bash("frobnicate", "elsewhere", "t").verdict.decision < Decision::Deny);
}

#[test]
fn a_touched_project_counts() {
    let world = World::new("e-touched");
    world.project("guard g on @std/writers {\n  deny path \"./locked/**\"\n}\n");
    let path = world.scratch.folder("repo/locked").join("x").display().to_string();
    let call = world.call("write_file", json!({"path": path, "content": ""}), "elsewhere", "");
    assert_eq!(world.engine().decide(&call).verdict.decision, Decision::Deny);
}

#[test]
fn a_project_file_does_not_widen_the_users_folder() {
    let world = World::new("e-widen");
    world.user("rule w on @std/writers {\n  allow path \"./**\"\n  otherwise ask\n}\n");
    world.scratch.folder("up/sub");
    let path = world.scratch.folder("up").join("x").display().to_string();
    let call = world.call("write_file", json!({"path": path, "content": ""}), "up/sub", "");
    assert_eq!(world.engine().decide(&call).verdict.decision, Decision::Ask);
    world.scratch.file("up/agent.policy", "policy \"p\" language 1\n");
    assert_eq!(world.engine().decide(&call).verdict.decision, Decision::Ask);
}

#[test]
fn a_living_engine_keeps_the_last_good_table_but_asks() {
    let world = World::new("e-reload");
    world.user("rule r on bash {\n  allow run `frobnicate ...`\n  deny run `frobnicate --bad`\n}\n");
    let mut engine = world.engine();
    let good = world.call("bash", json!({"command": "frobnicate x"}), "repo", "");
    let bad = world.call("bash", json!({"command": "frobnicate --bad"}), "repo", "");
    assert_eq!(engine.decide(&good).verdict.decision, Decision::Allow);
    world.user("nonsense\n");
    assert_eq!(engine.decide(&good).verdict.decision, Decision::Allow, "not looked at yet");
    engine.refresh();
    assert_eq!(engine.decide(&good).verdict.decision, Decision::Ask);
    assert_eq!(engine.decide(&bad).verdict.decision, Decision::Deny);
    world.user("default deny\n");
    engine.refresh();
    assert_eq!(engine.decide(&good).verdict.decision, Decision::Deny);
}

#[test]
fn neither_the_home_nor_the_root_is_a_project() {
    let world = World::new("e-root");
    world.user("default ask\nrule w on @std/writers {\n  allow path \"./**\"\n}\n");
    let write = |cwd: PathBuf| {
        let path = cwd.join("x").display().to_string();
        let mut call = world.call("write_file", json!({"path": path, "content": ""}), "repo", "");
        call.cwd = cwd;
        world.engine().decide(&call).verdict.decision
    };
    assert_eq!(write(world.scratch.folder("repo")), Decision::Allow);
    assert_eq!(write(world.folders.home.clone()), Decision::Ask);
    assert_eq!(write(PathBuf::from("/")), Decision::Ask);
    assert_eq!(write(world.scratch.folder("")), Decision::Ask, "the folder that holds the home");
}

#[test]
fn damaged_caches_are_compiled_again() {
    let world = World::new("e-cache");
    world.user("guard g on bash {\n  deny run `frobnicate`\n}\n");
    assert_eq!(world.bash("frobnicate", "repo", "").verdict.decision, Decision::Deny);
    for entry in std::fs::read_dir(&world.folders.cache).unwrap() {
        let path = entry.unwrap().path();
        let whole = std::fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 16 + 1) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(
                world.bash("frobnicate", "repo", "").verdict.decision,
                Decision::Deny,
                "{path:?} {at}"
            );
        }
    }
}

/// SECURITY: a repository is the agent's; nothing it can write into a policy file may loosen a call.
#[test]
fn no_project_file_loosens_a_call() {
    const PARTS: [&str; 16] = [
        "default allow",
        "mode observe",
        "severity relaxed",
        "use std/readonly, std/git",
        "set std/git/no-force-push to off because \"x\"",
        "rule a on \"*\" {\n  otherwise allow\n}",
        "rule b on @std/shells {\n  allow run `git push ...`, `frobnicate ...`, `rm ...`\n}",
        "rule c on @std/writers {\n  only path \"/etc/**\", \"./**\"\n}",
        "guard d on bash {\n  only run `ls`\n}",
        "guard std/git/no-force-push on bash {\n  warn run `ls`\n}",
        "program git {\n  lists its operands\n}",
        "program sudo, env {\n  flags with values -u, -f, --force\n}",
        "list shells is [ nothing ]",
        "project \"./sub\" {\n  default allow\n  rule e on bash {\n    otherwise allow\n  }\n}",
        "exception f to std/git/no-force-push on bash {\n  owner \"x\"\n  until 2099-01-01\n  because \"x\"\n  open\n}",
        "rule g on bash {\n  deny run `frobnicate`\n  otherwise allow\n}",
    ];
    let world = World::new("e-loosen");
    world.scratch.file("repo/.git/HEAD", "");
    let calls: Vec<Call> = [
        ("bash", json!({"command": "git push --force"})),
        ("bash", json!({"command": "frobnicate x"})),
        ("bash", json!({"command": "sudo -u x rm -rf ~"})),
        ("bash", json!({"command": "cat README.md"})),
        ("write_file", json!({"path": "/etc/passwd", "content": ""})),
        ("write_file", json!({"path": "src/x", "content": ""})),
    ]
    .into_iter()
    .map(|(tool, arguments)| world.call(tool, arguments, "repo", ""))
    .collect();
    let (mut seed, mut usable) = (7u64, 0);
    let mut next = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % most
    };
    for user in ["", "use std/git\nrule w on @std/writers {\n  allow path \"./**\"\n}\n", "default deny\n"] {
        match user {
            "" => {}
            text => world.user(text),
        }
        let _ = std::fs::remove_file(world.scratch.folder("repo").join("agent.policy"));
        let mut engine = world.engine();
        let before: Vec<Decision> = calls.iter().map(|call| engine.decide(call).verdict.decision).collect();
        for _ in 0..15 {
            let count = 1 + next(4);
            let text: Vec<&str> = (0..count).map(|_| PARTS[next(PARTS.len())]).collect();
            world.project(&format!("{}\n", text.join("\n")));
            let mut engine = world.engine();
            usable += usize::from(engine.layers_at(&calls[0].cwd).iter().all(|layer| layer.table.is_ok()));
            for (call, before) in calls.iter().zip(&before) {
                let after = engine.decide(call).verdict.decision;
                assert!(after >= *before, "{before:?} became {after:?} for {call:?} by\n{}", text.join("\n"));
            }
        }
    }
    assert!(usable >= 15, "only {usable} of the generated files say anything");
}

/// A link has two names; what opens only one of them opens nothing, and two exceptions are not added together.
#[test]
fn one_exception_opens_all_names_or_none() {
    let world = World::new("e-names");
    world.scratch.file("other/x", "");
    world.scratch.file("repo/.git/HEAD", "");
    let (repo, other) = (world.scratch.folder("repo"), world.scratch.folder("other"));
    std::os::unix::fs::symlink(other.join("x"), repo.join("x")).unwrap();
    let exception = |name: &str, paths: &str| {
        format!(
            "exception {name} to g on read {{\n  owner \"a\"\n  until 2099-01-01\n  because \"b\"\n  open path {paths}\n}}\n"
        )
    };
    let guard = "default allow\nguard g on read {\n  deny path \"**/x\" because \"no\"\n}\n";
    let (own, there) = ("\"./**\"".to_string(), format!("\"{}/**\"", other.display()));
    let decide = |exceptions: &str| {
        world.user(&format!("{guard}{exceptions}"));
        let call = world.call("read", json!({ "path": repo.join("x") }), "repo", "");
        world.engine().decide(&call).verdict.decision
    };
    assert_eq!(decide(&exception("both", &format!("{own}, {there}"))), Decision::Allow);
    for apart in [exception("own", &own), exception("there", &there)] {
        assert_eq!(decide(&apart), Decision::Deny);
    }
    assert_eq!(decide(&(exception("own", &own) + &exception("there", &there))), Decision::Deny);
}

/// Every page of every kept table, one after the other: what is damaged is made again, and decides as before.
#[test]
fn a_damaged_page_of_a_kept_table_is_made_again() {
    let world = World::new("e-damaged");
    world.user(ALLOWS);
    let ask = || world.bash("frobnicate --bad", "repo", "").verdict;
    let before = ask();
    assert_eq!(before.decision, Decision::Deny);
    let files: Vec<PathBuf> = std::fs::read_dir(world.folders.cache.clone())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "table"))
        .collect();
    assert!(files.len() >= 2, "{files:?}");
    let mut mended = 0;
    for file in files {
        let whole = std::fs::read(&file).unwrap();
        for at in (0..whole.len()).step_by(policy_runtime::bytes::PAGE) {
            let mut bytes = whole.clone();
            for byte in bytes.iter_mut().skip(at).take(policy_runtime::bytes::PAGE) {
                *byte ^= 0x55;
            }
            crate::open::write(&file, &bytes, 0o600).unwrap();
            let after = ask();
            assert_eq!((after.decision, &after.steps), (before.decision, &before.steps), "page at {at}");
            mended += usize::from(std::fs::read(&file).unwrap() == whole);
        }
    }
    assert!(mended > 5, "only {mended} pages were looked at");
}

/// What holds the agent is held whatever the layers allow.
#[test]
fn what_holds_the_agent_is_always_held() {
    let world = World::new("e-self");
    let everything = "default allow\nrule all on \"*\" {\n  allow path \"./**\", \"~/**\", \"/**\"\n  otherwise allow\n}\n";
    let held = |world: &World| {
        let write = |path: &str| {
            let call = world.call("Write", json!({ "file_path": path, "content": "x" }), "repo", "");
            world.engine().decide(&call).verdict
        };
        for path in
            ["agent.policy", ".claude/settings.json", "~/.claude/settings.local.json", "../repo/agent.policy"]
        {
            let verdict = write(path);
            assert_eq!(verdict.decision, Decision::Deny, "{path}: {verdict:?}");
            assert!(verdict.steps[0].rule.starts_with("std/self/"), "{path}: {:?}", verdict.steps[0]);
        }
        assert!(write("src/main.rs").decision < Decision::Deny);
        for command in ["echo x >> agent.policy", "rm -rf .claude", "policy trust"] {
            assert_eq!(world.bash(command, "repo", "").verdict.decision, Decision::Deny, "{command}");
        }
    };
    world.scratch.file("repo/.git/HEAD", "");
    held(&world);
    let file = world.project(everything);
    world.trust(&file);
    world.user(everything);
    held(&world);
}

#[test]
fn a_trusted_project_that_is_moved_away_goes_on_restricting_the_session() {
    let world = World::new("decide-moved");
    world.bash("ls", "repo/src", "s");
    let file = world.project("guard g on bash {\n  deny run `frob`\n}\n");
    world.trust(&file);
    assert_eq!(world.bash("frob", "repo/src", "s").verdict.decision, Decision::Deny);
    std::fs::rename(world.scratch.folder("repo"), world.scratch.folder("").join("moved")).unwrap();
    assert_eq!(world.bash("frob", "moved/src", "s").verdict.decision, Decision::Deny);
    assert_eq!(world.bash("frob", "elsewhere", "s").verdict.decision, Decision::Deny);
}

#[test]
fn a_user_layer_that_cannot_be_looked_for_refuses() {
    let world = World::new("decide-hidden");
    world.user("default allow\n");
    assert_eq!(world.bash("xyz", "repo", "").verdict.decision, Decision::Allow);
    std::fs::remove_dir_all(world.scratch.folder("home/.config")).unwrap();
    world.scratch.file("home/.config", "");
    let verdict = world.bash("xyz", "repo", "").verdict;
    assert_eq!(verdict.decision, Decision::Deny);
    assert!(verdict.steps[0].because.contains("no folder"), "{:?}", verdict.steps[0]);
}

#[test]
fn two_names_that_are_no_text_do_not_share_a_table() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new("decide-names");
    let text = |end: &str| format!("policy \"p\" language 1\ndefault {end}\n");
    let odd = world.scratch.folder("").join(std::ffi::OsStr::from_bytes(b"x\xff.policy"));
    std::fs::write(&odd, text("deny")).unwrap();
    let even = world.scratch.file("x\u{fffd}.policy", &text("allow"));
    std::thread::sleep(std::time::Duration::from_millis(150));
    for (file, want) in [(&even, Decision::Allow), (&odd, Decision::Deny), (&even, Decision::Allow)] {
        let mut engine = world.engine();
        engine.options.policy = Some(file.clone());
        let call = world.call("bash", json!({"command": "xyz"}), "repo", "");
        assert_eq!(engine.decide(&call).verdict.decision, want, "{file:?}");
    }
}
