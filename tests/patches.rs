//! `policy check-patch`: what is applied, what is refused, and by which exit code.
//!
//! INVARIANT: only a patch that can be applied and that no policy refuses ends with 0.

use crate::support::{World, snapshot};
use serde_json::Value;

const POLICY: &str = "policy \"p\" language 1

default deny

rule files on apply_patch {
  allow path \"./src/**\"
  ask   path \"./infra/**\"
}

guard no-marks on apply_patch {
  deny content r\"FORBIDDEN\"
}

guard keep on apply_patch {
  because \"it is kept by hand\"
  suggest \"change the source instead\"

  deny path \"./src/generated/**\"
}
";

fn world(name: &str) -> World {
    let world = World::new(name);
    world.file("repo/src/a.py", "x = 1\ny\nx = 1\n");
    world.file("repo/src/old.py", "# FORBIDDEN\ny\n");
    world.file("p.policy", POLICY);
    world.file("bad.policy", "nonsense\n");
    world
}

/// Exit code and answer.
fn check(world: &World, body: &str, more: &[&str]) -> (i32, String) {
    let policy = world.word("p.policy");
    let mut words = vec!["check-patch"];
    words.extend(if more.contains(&"--policy") { Vec::new() } else { vec!["--policy", policy.as_str()] });
    words.extend(more);
    let text = format!("*** Begin Patch\n{body}\n*** End Patch\n");
    let output = world.run(&words, text.as_bytes());
    (output.status.code().unwrap(), world.plain(&String::from_utf8(output.stdout).unwrap()))
}

#[test]
fn patches_are_checked_and_judged() {
    let world = world("patches");
    let update = |old: &str| format!("*** Update File: src/a.py\n@@\n-{old}\n+z");
    let mut shown = String::new();
    for (body, exit) in [
        (update("y"), 0),
        (update("x = 1"), 1),
        (update("w"), 1),
        // What is written is judged, what was there is not.
        (format!("{}\n+# FORBIDDEN", update("y")), 1),
        ("*** Update File: src/old.py\n@@\n-y\n+z".to_owned(), 0),
        ("*** Add File: src/new/b.py\n+x".to_owned(), 0),
        ("*** Add File: src/a.py\n+x".to_owned(), 1),
        ("*** Add File: ../out\n+x".to_owned(), 1),
        ("*** Add File: docs/b.md\n+x".to_owned(), 1),
        ("*** Add File: infra/b.tf\n+x".to_owned(), 1),
        ("*** Add File: src/generated/b.py\n+x".to_owned(), 1),
        ("*** Update File: src/a.py\n*** Move to: src/generated/a.py".to_owned(), 1),
        ("*** Add File: src/.codex/hooks.json\n+{}".to_owned(), 1),
        ("*** Rename File: src/a.py".to_owned(), 1),
        (format!("{}\n*** Delete File: src/none", update("y")), 1),
    ] {
        let (code, text) = check(&world, &body, &["--json"]);
        assert_eq!(code, exit, "{body}\n{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["decision"], if exit == 0 { "allow" } else { "deny" });
        shown.push_str(&format!("{body}\n{}\n\n", serde_json::to_string_pretty(&value).unwrap()));
        shown.push_str(&check(&world, &body, &[]).1);
        shown.push('\n');
    }
    snapshot("patches", "answers", &shown);
}

#[test]
fn words_and_places() {
    let world = world("patch-words");
    let update = "*** Update File: a.py\n@@\n-y\n+z";
    assert_eq!(check(&world, update, &["--cwd", "src"]).0, 0);
    assert_eq!(check(&world, update, &["--cwd", "src", "--project-dir", "src"]).0, 0);
    assert_eq!(check(&world, update, &[]).0, 1, "there is no such file at the root");
    assert_eq!(check(&world, "*** Add File: ../src/b.py\n+x", &["--cwd", "src"]).0, 0);
    assert_eq!(
        check(&world, "*** Add File: ../src2/b.py\n+x", &["--cwd", "src", "--project-dir", "src"]).0,
        1
    );
    assert_eq!(
        check(&world, "*** Add File: src/b.py\n+x", &["--project-dir", "src"]).0,
        1,
        "the folder is outside"
    );
    let bad = world.word("bad.policy");
    assert_eq!(check(&world, "*** Add File: src/b.py\n+x", &["--policy", &bad]).0, 4);
    for more in [
        &["--cwd", "none"][..],
        &["--project-dir", "p"],
        &["none.patch"],
        &["--nonsense"],
        &["--policy", "none"],
    ] {
        assert_eq!(check(&world, update, more).0, 64, "{more:?}");
    }
    // What is only observed refuses nothing, as in the hook.
    world.file("watch.policy", POLICY.replacen("default deny", "default allow\nmode observe", 1));
    let watch = world.word("watch.policy");
    let marked = "*** Add File: src/c.py\n+FORBIDDEN";
    assert_eq!((check(&world, marked, &[]).0, check(&world, marked, &["--policy", &watch]).0), (1, 0));
    let file = world.file("repo/x.patch", "*** Begin Patch\n*** Add File: src/b.py\n+x\n*** End Patch\n");
    let policy = world.word("p.policy");
    let run = |file: &str| world.run(&["check-patch", "--policy", &policy, file], b"").status.code();
    assert_eq!((run("x.patch"), run(file.to_str().unwrap()), run("-")), (Some(0), Some(0), Some(1)));
    assert!(!world.path("repo/src/b.py").exists(), "nothing is written");
    std::fs::write(&file, [0xff]).unwrap();
    assert_eq!(run("x.patch"), Some(1));
}
