//! The checks of any text and of commands.

use crate::support::{change, command, new, with};
use policy_checks::{CHECKS, Options, Subject, Text, Value, check_command, check_text};

#[test]
fn every_check_has_a_summary_and_one_name() {
    for (index, check) in CHECKS.iter().enumerate() {
        assert!(check.summary.ends_with('.') && check.summary.len() > 20, "{}", check.name);
        assert!(CHECKS.iter().skip(index + 1).all(|other| other.name != check.name), "{}", check.name);
        let takes_events = check.options.iter().any(|option| option.name == "events");
        assert_eq!(takes_events, check.subject != Subject::Command, "{}", check.name);
    }
    assert!(
        check_text(
            "no-such-check",
            &Text { path: "a", before: None, after: "x", event: "stop" },
            &Options::default()
        )
        .is_empty()
    );
}

#[test]
fn events() {
    let text =
        Text { path: "a.py", before: None, after: "async def f():\n    return 1\n", event: "pre_tool_use" };
    assert!(check_text("no-unnecessary-async", &text, &Options::default()).is_empty());
    let options = Options(vec![("events".to_owned(), Value::List(vec!["pre_tool_use".to_owned()]))]);
    assert_eq!(check_text("no-unnecessary-async", &text, &options).len(), 1);
}

#[test]
fn file_size() {
    let lines = |count: usize, end: &str| format!("x=1{end}").repeat(count);
    let name = "max-file-size";
    assert_eq!(new(name, "a.py", &lines(501, "\n")).len(), 1);
    assert_eq!(new(name, "a.py", &lines(501, "\r")).len(), 1);
    assert_eq!(new(name, "a.py", &lines(501, "\r\n")).len(), 1);
    for end in ["\n", "\r", "\r\n"] {
        assert!(new(name, "a.py", &lines(500, end)).is_empty());
        assert!(new(name, "a.py", lines(500, end).trim_end()).is_empty());
    }
    assert!(change(name, "a.py", Some(&lines(600, "\n")), &lines(650, "\n")).is_empty());
    assert_eq!(change(name, "a.py", Some(&lines(600, "\n")), &lines(1100, "\n")).len(), 1);
    assert_eq!(change(name, "a.py", Some(&lines(400, "\n")), &lines(501, "\n")).len(), 1);
    assert_eq!(with(name, "a.py", None, &lines(11, "\n"), &[("limit", Value::Int(10))]).len(), 1);
    let array = format!("[\n{}1]", "1,\n".repeat(600));
    assert!(new(name, "a.json", &array).is_empty());
    assert_eq!(with(name, "a.json", None, &array, &[("exempt_json_data", Value::Bool(false))]).len(), 1);
    assert_eq!(new(name, "a.json", &format!("{array},")).len(), 1);
    assert_eq!(new(name, "a.json", &"{\n".repeat(600)).len(), 1);
    let deep = format!("{}{}", "[\n".repeat(600), "]".repeat(600));
    assert!(new(name, "a.json", &deep).is_empty());
    let object =
        format!("{{{}\"a\": {{\"b\": [true, null, -1.5e3, \"\\\"\"]}}}}", "\"k\": \"v\",\n".repeat(600));
    assert!(new(name, "a.json", &object).is_empty());
    assert!(new(name, "Cargo.lock", &lines(900, "\n")).is_empty());
}

#[test]
fn diff_size() {
    let name = "no-large-diff";
    let lines = |count: usize| "x=1\n".repeat(count);
    assert_eq!(new(name, "a.py", &lines(201)).len(), 1);
    assert!(new(name, "a.py", &lines(200)).is_empty());
    assert_eq!(change(name, "a.go", Some(&lines(150)), &lines(10)).len(), 1);
    assert!(change(name, "a.go", Some(&lines(110)), &lines(10)).is_empty());
    for path in ["a.md", "tests/a.py", "db/migrations/0001.py", "data.json"] {
        assert!(new(name, path, &lines(900)).is_empty(), "{path}");
    }
}

#[test]
fn naming() {
    let name = "naming-conventions";
    for path in [
        "src/myModule.py",
        "src/MyModule.py",
        "src/my-module.py",
        "src/my_util.ts",
        "src/my_comp.tsx",
        "src/MyFile.rs",
        "a/myFile.go",
        "src/MyUtil.ts",
        "src/My-comp.tsx",
    ] {
        assert_eq!(new(name, path, "x\n").len(), 1, "{path}");
        assert!(change(name, path, Some(""), "x\n").is_empty(), "{path}");
    }
    for path in [
        "src/my_module.py",
        "src/__init__.py",
        "src/_private.py",
        "src/日本.py",
        "src/my-comp.tsx",
        "src/MyComp.tsx",
        "src/useThing.tsx",
        "src/myUtil.ts",
        "src/my-util.ts",
        "next.config.js",
        "pages/[id].tsx",
        "pages/_app.tsx",
        "tests/TestThing.py",
        "src/a.test.ts",
        "README.md",
        "Makefile",
        "src/main.rs",
        "scripts/my-tool.py",
        "alembic/versions/1a2B.py",
        "index.d.ts",
        "app/(group)/page.tsx",
    ] {
        assert_eq!(new(name, path, "x\n"), [], "{path}");
    }
    assert!(new(name, "src/Button.js", "export class Button {}\n").is_empty());
}

#[test]
fn commit_messages() {
    let name = "commit-message-format";
    let wrong: &[&[&str]] = &[
        &["git", "commit", "-m", "stuff"],
        &["git", "commit", "-am", "stuff"],
        &["git", "commit", "-amstuff"],
        &["git", "commit", "--message=stuff"],
        &["git", "commit", "--message", "stuff"],
        &["git", "commit", "--mess=stuff"],
        &[
            "/usr/bin/git",
            "-C",
            "x",
            "-c",
            "a=b",
            "--no-pager",
            "commit",
            "-q",
            "-m",
            "stuff",
            "-m",
            "feat: x",
        ],
        &["git", "commit", "-m", "Feat: x"],
        &["git", "commit", "-m", "feat:x"],
        &["git", "commit", "-m", "feat(): x"],
        &["git", "commit", "-m", "feature: x"],
        &["git", "commit", "-m", "$(cat <<'EOF'\nadd x\nEOF\n)"],
        &["git", "commit", "--author", "me", "-m", "Initial commit"],
    ];
    for words in wrong {
        assert_eq!(command(name, words), 1, "{words:?}");
    }
    let right: &[&[&str]] = &[
        &["git", "commit", "-m", "feat: x"],
        &["git", "commit", "-m", "fix(api)!: drop v1"],
        &[
            "git",
            "commit",
            "-m",
            "feat: add x\n\nlong body without any type, longer than seventy-two letters in one single line",
        ],
        &["git", "commit", "-m", "$(cat <<'EOF'\nfeat: add x\n\nbody\nEOF\n)"],
        &["git", "commit", "-m", "Merge branch dev"],
        &["git", "commit", "-m", "Revert \"feat: x\""],
        &["git", "commit", "-m", "fixup! feat: x"],
        &["git", "commit", "-m", "v1.2.3"],
        &["git", "commit", "--amend", "--no-edit"],
        &["git", "commit"],
        &["git", "commit", "-F", "msg.txt"],
        &["git", "commit", "-C", "HEAD", "-m"],
        &["git", "commit", "--", "-m", "stuff"],
        &["git", "commit", "-m", "$(make-message)"],
        &["git", "commit-tree", "-m", "stuff"],
        &["git", "tag", "-m", "stuff"],
        &["git", "log", "commit", "-m", "x"],
        &["echo", "git", "commit", "-m", "stuff"],
        &[],
    ];
    for words in right {
        assert_eq!(command(name, words), 0, "{words:?}");
    }
    let long = format!("feat: {}", "x".repeat(70));
    assert_eq!(command(name, &["git", "commit", "-m", &long]), 1);
    assert_eq!(command(name, &["git", "commit", "-m", "y", "-m", &long]), 1);
    let words = [Some("git"), Some("commit"), Some("-F"), Some("-")];
    assert_eq!(check_command(name, &words, Some("stuff\n"), &Options::default()).len(), 1);
    assert_eq!(check_command(name, &words, Some("# comment\nfeat: stuff\n"), &Options::default()).len(), 0);
    assert_eq!(check_command(name, &words, None, &Options::default()).len(), 0);
    let unknown = [Some("git"), Some("commit"), Some("-m"), None];
    assert_eq!(check_command(name, &unknown, None, &Options::default()).len(), 0);
    let any = Options(vec![("format".to_owned(), Value::Text("any".to_owned()))]);
    assert_eq!(
        check_command(name, &[Some("git"), Some("commit"), Some("-m"), Some("stuff")], None, &any).len(),
        0
    );
}
