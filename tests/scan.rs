//! `policy scan` from outside: which files, which lines, which forms; and what an edit may leave where it is.
//!
//! INVARIANT: whole tokens are made when a test runs, none stands in a file.

use crate::support::{World, files};
use serde_json::{Value, json};
use std::process::Command;

fn key(last: char) -> String {
    ["AKIA", "PQH2ZJIZ", "V7LMH3F", &last.to_string()].concat()
}

fn json_of(world: &World, words: &[&str]) -> (Option<i32>, Value) {
    let words: Vec<&str> = ["scan", "--format", "json"].into_iter().chain(words.iter().copied()).collect();
    let out = world.run(&words, b"");
    let value = serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{out:?}"));
    (out.status.code(), value)
}

fn places(value: &Value) -> Vec<String> {
    let of = |finding: &Value| format!("{}:{}", finding["path"].as_str().unwrap(), finding["line"]);
    value["findings"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn every_format_has_texts_it_is_found_in_and_texts_it_is_not() {
    let text = &files("policies/std", ".policy")
        .into_iter()
        .find(|(name, _)| name == "secret-formats.policy")
        .unwrap()
        .1;
    let blocks: Vec<&str> = text.split("\nsecret ").skip(1).collect();
    assert!(blocks.len() >= 150, "{}", blocks.len());
    for block in blocks {
        let name = block.split(' ').next().unwrap();
        for part in ["expect found ", "expect nothing", "because ", "suggest "] {
            assert!(block.contains(part), "{name} has no {part}");
        }
    }
}

#[test]
fn files_that_git_ignores_and_files_that_are_no_text_are_passed_over() {
    let world = World::new("scan-files");
    let line = format!("a = 1\nkey = \"{}\"\n", key('5'));
    world.file("repo/src/a.py", &line);
    world.file("repo/.gitignore", "out/\n");
    world.file("repo/out/b.py", &line);
    world.file("repo/c.bin", format!("\0{line}"));
    world.file("repo/docs/d.md", "Use AKIAIOSFODNN7EXAMPLE as the sample.\n");
    let (code, value) = json_of(&world, &[]);
    assert_eq!((code, places(&value)), (Some(1), vec!["src/a.py:2".to_owned()]));
    assert!(!value.to_string().contains(&key('5')));
    // What is named is looked at.
    assert_eq!(places(&json_of(&world, &["out/b.py"]).1), ["out/b.py:2"]);
    assert_eq!(json_of(&world, &["docs"]).0, Some(0));
    assert_eq!(world.run(&["scan", "nowhere"], b"").status.code(), Some(64));
}

#[test]
fn old_findings_stay_away_wherever_their_line_moves() {
    let world = World::new("scan-baseline");
    world.file("repo/a.py", format!("key = \"{}\"\n", key('5')));
    assert_eq!(
        world.run(&["scan", "--baseline", "old.json", "--update-baseline"], b"").status.code(),
        Some(0)
    );
    let kept = std::fs::read_to_string(world.path("repo/old.json")).unwrap();
    assert!(!kept.contains(&key('5')) && kept.contains("fingerprint"));
    world.file("repo/a.py", format!("\n\nkey = \"{}\"\n", key('5')));
    let (code, value) = json_of(&world, &["--baseline", "old.json"]);
    assert_eq!((code, &value["old"]), (Some(0), &json!(1)));
    world.file("repo/a.py", format!("key = \"{}\"\nkey = \"{0}\"\nk = \"{}\"\n", key('5'), key('6')));
    assert_eq!(places(&json_of(&world, &["--baseline", "old.json"]).1), ["a.py:2", "a.py:3"]);
}

#[test]
fn a_change_is_judged_by_what_it_adds() {
    let world = World::new("scan-diff");
    let git = repository(&world);
    world.file("repo/a b.py", format!("key = \"{}\"\nx = 1\n", key('5')));
    git(&["add", "."]);
    git(&["commit", "-qm", "one"]);
    world.file("repo/a b.py", format!("key = \"{}\"\nx = 2\ny = \"{}\"\n", key('5'), key('6')));
    assert_eq!(places(&json_of(&world, &["--diff", "HEAD"]).1), ["a b.py:3"]);
    // Where the range ends is what is read, whatever is in the folder now.
    git(&["commit", "-qam", "two"]);
    world.file("repo/a b.py", "x = 3\n");
    for range in ["HEAD~..HEAD", "HEAD~...HEAD", "HEAD^!"] {
        assert_eq!(places(&json_of(&world, &["--diff", range]).1), ["a b.py:3"], "{range}");
    }
    assert!(places(&json_of(&world, &["--diff", "HEAD"]).1).is_empty());
    // A range is never an option.
    let out = world.run(&["scan", "--diff=--output=stolen"], b"");
    assert_eq!(out.status.code(), Some(64));
    assert!(!world.path("repo/stolen").exists());
}

/// A repository of its own, with git as a machine without settings runs it.
fn repository(world: &World) -> impl Fn(&[&str]) {
    std::fs::remove_dir_all(world.path("repo/.git")).unwrap();
    let (repo, home) = (world.path("repo"), world.path("home"));
    let git = move |words: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b.test", "-c", "commit.gpgsign=false"])
            .args(words)
            .current_dir(&repo)
            .env("HOME", &home)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git
}

#[test]
fn what_a_repository_says_of_its_files_leaves_no_added_line_out() {
    use std::os::unix::ffi::OsStringExt;
    let world = World::new("scan-diff-tricks");
    let git = repository(&world);
    let repo = world.path("repo");
    std::os::unix::fs::symlink("/dev/zero", repo.join("was a link")).unwrap();
    std::fs::write(repo.join("a.py"), "x = 1\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "one"]);
    // Called binary, drawn together with its surroundings, a name full of signs, a link that becomes a file, a new link.
    world.file("repo/.gitattributes", "* -diff\n");
    git(&["config", "diff.interHunkContext", "20"]);
    let line = |last: char| format!("x = 1\n++ b/none\nkey = \"{}\"\n", key(last));
    world.file("repo/a.py", line('5'));
    let odd = std::ffi::OsString::from_vec(b"q\"\\\n\t\x1b\xff.py".to_vec());
    std::fs::write(repo.join(&odd), line('6')).unwrap();
    std::fs::remove_file(repo.join("was a link")).unwrap();
    world.file("repo/was a link", line('7'));
    std::os::unix::fs::symlink("/dev/zero", repo.join("endless")).unwrap();
    git(&["add", "."]);
    let want = ["a.py:3", "q\"\\\n\t\u{1b}\u{fffd}.py:3", "was a link:3"];
    let (code, value) = json_of(&world, &["--diff", "HEAD"]);
    assert_eq!((code, places(&value)), (Some(1), want.map(str::to_owned).to_vec()), "{value}");
    assert_eq!(value["problems"], json!([]));
    // The same in git alone, whatever lies in the folder.
    git(&["commit", "-qm", "two"]);
    world.file("repo/a.py", "y = 1\n");
    for range in ["HEAD~1..HEAD", "HEAD~1...HEAD", "HEAD^!"] {
        assert_eq!(places(&json_of(&world, &["--diff", range]).1), want, "{range}");
    }
    assert_eq!(places(&json_of(&world, &["--diff", "HEAD"]).1), Vec::<String>::new());
}

#[test]
fn what_git_keeps_is_looked_at_although_something_says_to_ignore_it() {
    let world = World::new("scan-kept");
    let git = repository(&world);
    let line = format!("key = \"{}\"\n", key('5'));
    for name in ["kept.py", "out/kept.py", "ignored.py"] {
        world.file(&format!("repo/{name}"), &line);
    }
    git(&["add", "kept.py", "out"]);
    world.file("repo/.gitignore", "*.py\nout/\n");
    assert_eq!(places(&json_of(&world, &[]).1), ["kept.py:1", "out/kept.py:1"]);
    assert_eq!(places(&json_of(&world, &["out"]).1), ["out/kept.py:1"]);
}

#[test]
fn what_is_named_and_not_looked_at_is_told() {
    let world = World::new("scan-odd-files");
    let line = format!("key = \"{}\"\n", key('5'));
    // What only this tool would obey hides nothing.
    world.file("repo/.ignore", "*\n");
    let wide: Vec<u8> = [0xFEFF].into_iter().chain(line.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    world.file("repo/wide.ps1", &wide);
    let big: Vec<u8> = [0xFEFF].into_iter().chain(line.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    world.file("repo/big.ps1", big);
    assert_eq!(places(&json_of(&world, &[]).1), ["big.ps1:1", "wide.ps1:1"]);
    assert!(Command::new("mkfifo").arg(world.path("repo/pipe")).status().unwrap().success());
    assert_eq!(
        places(&json_of(&world, &[]).1).len(),
        2,
        "a pipe in a folder holds nothing and is not waited for"
    );
    let (code, value) = json_of(&world, &["pipe"]);
    assert_eq!((code, value["problems"].as_array().unwrap().len()), (Some(1), 1), "{value}");
    assert_eq!(json_of(&world, &["/dev/zero"]).0, Some(1));
}

#[test]
fn names_of_files_forge_no_lines() {
    let world = World::new("scan-names");
    let line = format!("key = \"{}\"\n", key('5'));
    for name in ["a\nb.py:1: error x: y", "::stop-commands::x.py", "c\u{1b}[2Jd%0A.py"] {
        world.file(&format!("repo/{name}"), &line);
    }
    let text = String::from_utf8(world.run(&["scan"], b"").stdout).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("error std/")).count(), 3, "{text}");
    assert!(text.lines().all(|line| !line.starts_with("::") && !line.starts_with("b.py")), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let text = String::from_utf8(world.run(&["scan", "--format", "github"], b"").stdout).unwrap();
    assert!(text.lines().all(|line| line.starts_with("::error file=")), "{text}");
    assert!(!text.contains('\u{1b}') && text.contains("d%250A.py"), "{text}");
}

#[test]
fn a_damaged_baseline_takes_nothing_away() {
    let world = World::new("scan-baseline-bad");
    world.file("repo/a.py", format!("key = \"{}\"\n", key('5')));
    for text in [
        "{}",
        "{\"version\":1}",
        "{\"version\":1,\"findings\":{}}",
        "{\"version\":1,\"findings\":[{}]}",
        "{\"version\":1,\"findings\":[{\"fingerprint\":\"x\",\"count\":-1}]}",
        "[",
        "",
    ] {
        world.file("repo/old.json", text);
        let out = world.run(&["scan", "--baseline", "old.json"], b"");
        assert_eq!(out.status.code(), Some(64), "{text}: {out:?}");
    }
    let entry = |count: u64| json!({"fingerprint": "x", "count": count});
    let many = json!({"version": 1, "findings": [entry(u64::MAX), entry(u64::MAX), entry(2)]});
    world.file("repo/old.json", many.to_string());
    assert_eq!(world.run(&["scan", "--baseline", "old.json"], b"").status.code(), Some(1));
}

#[test]
fn annotations_and_sarif() {
    let world = World::new("scan-forms");
    // Columns count letters, whatever bytes or UTF-16 units they take.
    world.file("repo/a, b.py", format!("x = 1\nключ_😀 = \"{}\"\n", key('5')));
    let out = world.run(&["scan", "--format", "plain"], b"");
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.starts_with("a, b.py:2:11: error std/secrets/no-secrets: "), "{text}");
    assert_eq!(json_of(&world, &[]).1["findings"][0]["column"], 11);
    let out = world.run(&["scan", "--format", "github"], b"");
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        text.starts_with("::error file=a%2C b.py,line=2,col=11,title=std/secrets/no-secrets::"),
        "{text}"
    );
    let out = world.run(&["scan", "--format", "sarif"], b"");
    let value: Value = serde_json::from_slice(&out.stdout).unwrap();
    sarif_holds(&value);
    let result = &value["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a,%20b.py");
    assert_eq!(place["region"], json!({"startLine": 2, "startColumn": 11}));
    assert_eq!(value["runs"][0]["columnKind"], "unicodeCodePoints");
    assert_eq!(world.run(&["check", "bash", "{}", "--format", "sarif"], b"").status.code(), Some(64));
}

/// The rules of the SARIF 2.1.0 schema for what is written.
fn sarif_holds(log: &Value) {
    let only = |value: &Value, required: &[&str], optional: &[&str]| {
        let object = value.as_object().unwrap();
        for name in required {
            assert!(object.contains_key(*name), "{name} is missing in {value}");
        }
        for name in object.keys() {
            assert!(
                required.contains(&name.as_str()) || optional.contains(&name.as_str()),
                "{name} in {value}"
            );
        }
    };
    let message = |value: &Value| {
        only(value, &["text"], &["markdown", "id", "arguments"]);
        assert!(!value["text"].as_str().unwrap().is_empty());
    };
    let level =
        |value: &Value| assert!(["none", "note", "warning", "error"].contains(&value.as_str().unwrap()));
    let location = |value: &Value| {
        only(value, &["physicalLocation"], &["id", "message"]);
        let physical = &value["physicalLocation"];
        only(physical, &["artifactLocation"], &["region", "contextRegion"]);
        only(&physical["artifactLocation"], &["uri"], &["uriBaseId", "index"]);
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
        assert!(!uri.contains([' ', '\\', '"', '<', '>', '^', '`', '{', '|', '}']), "{uri}");
        if let Some(region) = physical.get("region") {
            only(region, &["startLine"], &["startColumn", "endLine", "endColumn", "snippet"]);
            assert!(region["startLine"].as_u64().unwrap() >= 1);
            assert!(region.get("startColumn").is_none_or(|column| column.as_u64().unwrap() >= 1));
        }
    };
    only(log, &["version", "runs"], &["$schema"]);
    assert_eq!(log["version"], "2.1.0");
    for run in log["runs"].as_array().unwrap() {
        only(run, &["tool", "results"], &["invocations", "columnKind", "artifacts"]);
        assert!(["utf16CodeUnits", "unicodeCodePoints"].contains(&run["columnKind"].as_str().unwrap()));
        only(&run["tool"], &["driver"], &["extensions"]);
        let driver = &run["tool"]["driver"];
        only(driver, &["name"], &["version", "informationUri", "rules", "fullName"]);
        let rules = driver["rules"].as_array().unwrap();
        for rule in rules {
            only(
                rule,
                &["id"],
                &["name", "shortDescription", "fullDescription", "help", "defaultConfiguration"],
            );
            message(&rule["shortDescription"]);
            level(&rule["defaultConfiguration"]["level"]);
        }
        for invocation in run["invocations"].as_array().unwrap() {
            only(invocation, &["executionSuccessful"], &["toolExecutionNotifications"]);
            assert!(invocation["executionSuccessful"].is_boolean());
            for told in invocation["toolExecutionNotifications"].as_array().unwrap() {
                only(told, &["message"], &["level", "locations"]);
                message(&told["message"]);
                told["locations"].as_array().unwrap().iter().for_each(location);
            }
        }
        for result in run["results"].as_array().unwrap() {
            let optional =
                ["ruleId", "ruleIndex", "level", "locations", "partialFingerprints", "fingerprints"];
            only(result, &["message"], &optional);
            message(&result["message"]);
            level(&result["level"]);
            let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"]);
            result["locations"].as_array().unwrap().iter().for_each(location);
            assert!(result["partialFingerprints"].as_object().unwrap().values().all(Value::is_string));
        }
    }
}

#[test]
fn a_secret_that_is_there_already_blocks_no_other_edit() {
    let world = World::new("scan-edit");
    world.file("repo/a.py", format!("key = \"{}\"\nx = 1\n", key('5')));
    let edit = |old: &str, new: &str| {
        let arguments = json!({"file_path": "a.py", "old_string": old, "new_string": new}).to_string();
        world.run(&["check", "Edit", &arguments], b"").status.code()
    };
    assert_eq!(edit("x = 1", "x = 2"), Some(3));
    assert_eq!(edit("key = ", "aws_key = "), Some(3));
    assert_eq!(edit("x = 1", &format!("x = \"{}\"", key('5'))), Some(3));
    assert_eq!(edit("x = 1", &format!("x = \"{}\"", key('6'))), Some(2));
    let write =
        json!({"file_path": "a.py", "content": format!("import os\nkey = \"{}\"\n", key('5'))}).to_string();
    assert_eq!(world.run(&["check", "Write", &write], b"").status.code(), Some(3));
    let write = json!({"file_path": "b.py", "content": format!("key = \"{}\"\n", key('5'))}).to_string();
    assert_eq!(world.run(&["check", "Write", &write], b"").status.code(), Some(2));
}
