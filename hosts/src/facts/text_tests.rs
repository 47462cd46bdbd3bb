//! Tests of the texts of a call: every shape that tools have, and what is not seen at first sight.
//!
//! INVARIANT: no disk is touched.

use super::super::Resolution;
use super::*;
use policy_grammar::shell::program::NoPrograms;
use policy_runtime::facts::{PathFact, ToolName};
use serde_json::json;

struct Disk(&'static str);

impl Resolver for Disk {
    fn resolve(&self, _path: &Path) -> Resolution {
        Resolution::Same
    }

    fn text(&self, _path: &Path) -> FileText {
        FileText::Text(self.0.to_owned())
    }
}

fn made(tool: &str, event: &str, arguments: Value, disk: &'static str) -> Vec<TextFact> {
    let call = Call {
        tool: tool.to_owned(),
        event: event.to_owned(),
        arguments,
        cwd: PathBuf::from("/w"),
        ..Call::default()
    };
    let path = PathFact { written: "a.txt".to_owned(), access: Access::WRITE, ..PathFact::default() };
    let readings = vec![ToolName { tool: tool.to_lowercase(), ..ToolName::default() }];
    let facts = Facts { readings, paths: vec![path], ..Facts::default() };
    texts(&call, &facts, &Disk(disk))
}

fn new_lines(text: &TextFact) -> Vec<&str> {
    text.added.iter().filter_map(|range| text.after.get(range.clone())).map(str::trim_end).collect()
}

#[test]
fn one_model_for_every_shape() {
    let disk = "one\ntwo\nthree\n";
    for (tool, arguments) in [
        ("Write", json!({"file_path": "a.txt", "content": "one\nTWO\nthree\n"})),
        ("Edit", json!({"file_path": "a.txt", "old_string": "two", "new_string": "TWO"})),
        ("MultiEdit", json!({"file_path": "a.txt", "edits": [{"old_string": "two", "new_string": "TWO"}]})),
        ("edit_file", json!({"path": "a.txt", "edits": [{"oldText": "two", "newText": "TWO"}]})),
        ("str_replace", json!({"path": "a.txt", "old_str": "two", "new_str": "TWO"})),
        ("write_files", json!({"files": [{"path": "a.txt", "content": "one\nTWO\nthree\n"}]})),
    ] {
        let texts = made(tool, "pre_tool_use", arguments, disk);
        assert_eq!(texts.len(), 1, "{tool}");
        assert_eq!(texts[0].after, "one\nTWO\nthree\n", "{tool}");
        assert_eq!(new_lines(&texts[0]), ["TWO"], "{tool}");
        assert_eq!((texts[0].path, texts[0].before.as_deref()), (Some(0), Some(disk)), "{tool}");
    }
}

#[test]
fn patches_are_texts_of_their_files() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** Add File: b\n+x\n*** Delete File: c\n*** End Patch";
    let made = |event: &str, disk| made("apply_patch", event, json!({ "command": patch }), disk);
    let texts = made("pre_tool_use", "one\ntwo\n");
    assert_eq!((texts.len(), texts[0].path, texts[0].before.as_deref()), (2, Some(0), Some("one\ntwo\n")));
    assert_eq!((texts[0].after.as_str(), new_lines(&texts[0])), ("one\nTWO\n", vec!["TWO"]));
    assert_eq!((texts[1].after.as_str(), texts[1].before.as_deref()), ("x\n", None));
    // One that does not fit, and one that was applied: what it brings.
    for texts in [made("pre_tool_use", "three\n"), made("post_tool_use", "one\ntwo\n")] {
        assert_eq!((texts[0].after.as_str(), new_lines(&texts[0])), ("TWO", vec!["TWO"]));
    }
}

#[test]
fn an_edit_that_does_not_fit_is_looked_at_all_the_same() {
    let edit = json!({"file_path": "a.txt", "old_string": "none", "new_string": "new"});
    let texts = made("Edit", "pre_tool_use", edit, "one\n");
    assert_eq!((texts[0].after.as_str(), new_lines(&texts[0])), ("new", vec!["new"]));
}

#[test]
fn replace_all_and_after_the_call() {
    let all = json!({"file_path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": true});
    let texts = made("Edit", "pre_tool_use", all.clone(), "x\nq\nx\n");
    assert_eq!(texts[0].after, "y\nq\ny\n");
    let texts = made("Edit", "post_tool_use", all, "y\nq\ny\n");
    assert_eq!(texts[0].before.as_deref(), Some("x\nq\nx\n"));
    let prompt = made("", "user_prompt", json!({"prompt": "do it"}), "");
    assert_eq!((prompt[0].role, prompt[0].after.as_str()), (TextRole::Prompt, "do it"));
}

/// The texts of a call with the facts that are made of it.
fn whole(tool: &str, arguments: Value, disk: &'static str) -> Vec<TextFact> {
    let call = Call {
        tool: tool.to_owned(),
        event: "pre_tool_use".to_owned(),
        arguments,
        cwd: PathBuf::from("/w"),
        ..Call::default()
    };
    let places = crate::call::Places { project: Some("/w".into()), ..crate::call::Places::default() };
    let facts = super::super::extract(&call, &places, &NoPrograms, &Disk(disk));
    texts(&call, &facts, &Disk(disk))
}

/// Role, file and text of each.
fn told(texts: &[TextFact]) -> Vec<(TextRole, bool, &str)> {
    texts.iter().map(|text| (text.role, text.path.is_some(), text.after.as_str())).collect()
}

#[test]
fn what_has_no_known_shape_is_a_text_all_the_same() {
    use TextRole::{Argument, File};
    for (arguments, want) in [
        (json!({"path": "a.txt", "markdown": "# x"}), (File, true, "# x")),
        (json!({"path": "a.txt", "page": {"html_body": "<p>"}}), (File, true, "<p>")),
        (json!({"path": "a.txt", "note": "x y"}), (Argument, true, "x y")),
        (json!({"path": "a.txt", "description": "x y"}), (Argument, false, "x y")),
        (json!({"value": "x y"}), (Argument, false, "x y")),
        (json!({"list": [["x y"]]}), (Argument, false, "x y")),
        (json!({"body": "x y"}), (Argument, false, "x y")),
        (json!({"path": "a.txt", "lines": ["x", "y"]}), (File, true, "x\ny")),
        (json!({"path": "a.txt", "source": ["x\n", "y"]}), (File, true, "x\ny")),
        (json!({"path": "a.txt", "content": "eCB5", "encoding": "base64"}), (File, true, "x y")),
        (json!({"path": "a.txt", "content_base64": "eCB5"}), (File, true, "x y")),
        (json!({"files": {"./b.txt": "x y"}}), (File, true, "x y")),
    ] {
        let texts = whole("mcp__x__put", arguments.clone(), "");
        let told: Vec<_> = told(&texts).into_iter().filter(|(_, _, text)| *text != "base64").collect();
        assert_eq!(told, [want], "{arguments}");
    }
    let key = "a-key-that-is-longer-than-names";
    assert_eq!(told(&whole("mcp__x__put", json!({key: 1}), "")), [(Argument, false, key)]);
    // A second text beside one that is known.
    let both = whole("mcp__x__put", json!({"path": "a.txt", "content": "x", "text": "y", "extra": "z"}), "");
    assert_eq!(told(&both), [(File, true, "x"), (File, true, "y"), (Argument, true, "z")]);
    // Tools of the host that only read bring nothing; those of a server send what they are given.
    assert!(whole("Grep", json!({"pattern": "x y", "path": "src"}), "").is_empty());
    assert_eq!(told(&whole("mcp__x__grep", json!({"pattern": "x y", "path": "src"}), "")).len(), 1);
}

#[test]
fn a_command_is_read_once() {
    let texts = whole("Bash", json!({"command": "ls -l", "description": "List", "timeout": 5}), "");
    assert_eq!(told(&texts), [(TextRole::Command, false, "ls -l")]);
    let texts = whole("Bash", json!({"command": "ls", "env": {"A": "b c"}}), "");
    assert_eq!(told(&texts), [(TextRole::Command, false, "ls"), (TextRole::Argument, false, "b c")]);
}

#[test]
fn depth_is_bounded_and_told() {
    let nested = |depth: usize| {
        (0..depth).fold(json!({"path": "a.txt", "content": "x"}), |inner, _| json!({"in": inner}))
    };
    assert_eq!(told(&whole("mcp__x__put", nested(40), "")), [(TextRole::File, true, "x")]);
    let texts = whole("mcp__x__put", nested(70), "");
    assert!(texts.iter().any(|text| text.gap.contains("deeper than 64")), "{texts:?}");
    let many = json!({"all": vec!["x"; 5000]});
    assert!(whole("mcp__x__put", many, "").iter().any(|text| text.gap.contains("more than 4096")));
}

#[test]
fn edits_build_on_each_other() {
    // A text that comes together only when all edits are done.
    let edits = json!({"file_path": "a.txt", "edits": [
        {"old_string": "one", "new_string": "AB__"}, {"old_string": "__", "new_string": "CD"},
    ]});
    for disk in ["one\n", "other\n"] {
        let texts = whole("MultiEdit", edits.clone(), disk);
        assert!(texts[0].after.contains("ABCD"), "{disk} {texts:?}");
    }
    // One that fits and one that does not: both are looked at.
    let edits = json!({"file_path": "a.txt", "edits": [
        {"old_string": "one", "new_string": "1"}, {"old_string": "none", "new_string": "2"},
    ]});
    assert_eq!(
        told(&whole("MultiEdit", edits, "one\n")),
        [(TextRole::File, true, "1\n"), (TextRole::File, true, "2")]
    );
    let all = json!({"file_path": "a.txt", "old_string": "x", "new_string": "y", "expected_replacements": 2});
    assert_eq!(whole("replace", all, "x\nx\n")[0].after, "y\ny\n");
    // Lists of edits have any name.
    let named = json!({"path": "a.txt", "operations": [{"old": "one", "new": "1"}]});
    assert_eq!(told(&whole("mcp__x__edit", named, "one\n")), [(TextRole::File, true, "1\n")]);
    // A text that grows without end is not followed.
    let disk: &'static str = "x".repeat(100_000).leak();
    let grows = json!({"file_path": "a.txt", "old_string": "x", "new_string": "x".repeat(10_000), "replace_all": true});
    assert!(!whole("Edit", grows, disk)[0].gap.is_empty());
}

#[test]
fn ends_of_lines_and_wide_letters() {
    let edit = json!({"file_path": "a.txt", "old_string": "one\ntwo", "new_string": "ONE\ntwo"});
    let texts = whole("Edit", edit, "zero\r\none\r\ntwo\r\n");
    assert_eq!((texts[0].after.as_str(), new_lines(&texts[0])), ("zero\nONE\ntwo\n", vec!["ONE"]));
    let edit = json!({"file_path": "a.txt", "content": "one\rTWO\r"});
    let texts = whole("Write", edit, "one\rtwo\r");
    assert_eq!(new_lines(&texts[0]), ["TWO"]);
    let texts = whole("Write", json!({"file_path": "a.txt", "content": "a\0b\0"}), "");
    assert_eq!(told(&texts), [(TextRole::File, true, "a\0b\0"), (TextRole::File, true, "ab")]);
    assert_eq!(of_bytes(b"\xff\xfea\0b\0".to_vec()), "ab");
    assert_eq!(of_bytes(b"\xfe\xff\0a\0b".to_vec()), "ab");
    assert_eq!(of_bytes(b"a\xffb".to_vec()), "a\u{fffd}b");
}

#[test]
fn commands_that_write_word_for_word() {
    for (command, want) in [
        ("printf 'AB%s\\n' CD > a.txt", "ABCD\n"),
        ("printf '%s%s' AB CD > a.txt", "ABCD"),
        ("printf 'A\\102\\x43' > a.txt", "ABC"),
        ("printf '%b' 'A\\0102' > a.txt", "AB"),
        ("printf '%s\\n' a b > a.txt", "a\nb\n"),
        ("echo -e 'A\\x42' > a.txt", "AB\n"),
        ("echo -n AB > a.txt", "AB"),
        ("echo AB | cat > a.txt", "AB\n"),
        ("cat <<< AB > a.txt", "AB\n"),
        ("cat > a.txt <<'E'\nAB\nE\n", "AB\n"),
        ("echo QUI= | base64 -d > a.txt", "AB"),
        ("base64 --decode <<< QUI= > a.txt", "AB"),
    ] {
        let texts = whole("Bash", json!({ "command": command }), "");
        let files: Vec<_> = texts.iter().filter(|text| text.role == TextRole::File).collect();
        assert_eq!(files.len(), 1, "{command} {texts:?}");
        assert_eq!(files[0].after, want, "{command}");
    }
    // What is appended stands behind what is there.
    let texts = whole("Bash", json!({"command": "printf CD >> a.txt"}), "AB");
    assert_eq!((texts[1].after.as_str(), texts[1].before.as_deref()), ("ABCD", Some("AB")));
    let texts = whole("Bash", json!({"command": "printf AB > a.txt; printf CD >> a.txt"}), "x");
    assert_eq!(texts[1].after, "ABCD");
    let texts = whole("Bash", json!({"command": "curl -H 'Key: ABCDEFGH'\"IJKLMNOP\" example.com"}), "");
    assert_eq!(texts[1].after, "Key: ABCDEFGHIJKLMNOP");
}

#[test]
fn what_no_shape_knows_is_a_text_too() {
    let page = json!({"page_id": "7", "blocks": [{"markdown": "one"}], "meta": {"html": "two", "n": 1}});
    let texts = made("update_page", "pre_tool_use", page, "");
    assert_eq!((texts.len(), texts[0].role, texts[0].path), (1, TextRole::Argument, None));
    assert_eq!(texts[0].after, "7\none\ntwo");
    // Beside a file that is written: the label alone.
    let write = json!({"file_path": "a.txt", "content": "x", "label": "y"});
    let texts = made("Write", "pre_tool_use", write, "");
    assert_eq!((texts[0].after.as_str(), texts[1].after.as_str()), ("x", "y"));
    let edit = json!({"path": "a.txt", "edits": [{"oldText": "two", "newText": "TWO"}]});
    assert_eq!(made("edit_file", "pre_tool_use", edit, "two").len(), 1);
    assert_eq!(made("Bash", "pre_tool_use", json!({"command": "ls", "description": "x"}), "").len(), 0);
}

#[test]
fn quotes_of_another_form_are_looked_past() {
    let edit = json!({"file_path": "a.txt", "old_string": "AB\"", "new_string": "ABCD\""});
    let texts = made("Edit", "pre_tool_use", edit, "k = “AB”\n");
    assert_eq!(texts[0].after, "k = \"ABCD\"\n");
}

#[test]
fn many_files_cost_no_more_than_some() {
    let disk = Box::leak("x".repeat(4 << 20).into_boxed_str());
    let file = json!({"path": "a.txt", "content": "new"});
    let texts = made("write_files", "pre_tool_use", json!({ "files": vec![file; 100] }), disk);
    let whole: Vec<&TextFact> = texts.iter().filter(|text| text.role == TextRole::File).collect();
    assert_eq!(whole.len(), 100);
    let read: usize = whole.iter().filter_map(|text| text.before.as_ref()).map(String::len).sum();
    assert!(read <= MOST_BYTES + disk.len(), "{read}");
    // What is not read is new as a whole.
    assert!(whole.iter().all(|text| new_lines(text) == ["new"]));
    let grows = json!({"path": "a.txt", "old_string": "x", "new_string": "yz", "replace_all": true});
    let texts = made("edit_files", "pre_tool_use", json!({ "files": vec![grows; 100] }), disk);
    assert!(texts.iter().map(|text| text.after.len()).sum::<usize>() <= 2 * MOST_BYTES);
}

#[test]
fn a_transcript_that_cannot_be_read_is_a_gap() {
    struct Held(FileText);
    impl Resolver for Held {
        fn resolve(&self, _path: &Path) -> super::super::Resolution {
            super::super::Resolution::Same
        }
        fn text(&self, _path: &Path) -> FileText {
            self.0.clone()
        }
    }
    let call = Call { transcript: Some(PathBuf::from("/t.jsonl")), ..Call::default() };
    for (held, gap) in [
        (FileText::Text("{}".to_owned()), ""),
        (FileText::Absent, "the transcript of the subagent is not there"),
        (FileText::Unread, "the transcript of the subagent could not be read, or is too long"),
    ] {
        let texts = texts(&call, &Facts::default(), &Held(held));
        let last = texts.last().unwrap();
        assert_eq!((last.role, last.gap.as_str()), (TextRole::Transcript, gap));
    }
}

#[test]
fn a_file_under_any_key_has_the_text() {
    let found = |arguments: Value| {
        whole("mcp__fs__save", arguments, "")
            .into_iter()
            .any(|text| text.path.is_some() && text.after == "new text")
    };
    assert!(found(json!({"files": [{"name": "src/n.py", "content": "new text"}]})));
    assert!(found(json!({"location": "/w/n.py", "content": "new text"})));
    let texts =
        whole("mcp__fs__save", json!({"path": "b.txt", "destination": "n.py", "content": "new text"}), "");
    let mut paths: Vec<Option<u32>> =
        texts.iter().filter(|text| text.after == "new text").map(|text| text.path).collect();
    paths.dedup();
    assert_eq!(paths.len(), 2, "{texts:?}");
    // A value that reads like a path is a text too.
    let texts = whole("mcp__fs__save", json!({"path": "n.py", "source": "AKIAQ3EGRI"}), "");
    assert!(texts.iter().any(|text| text.after.contains("AKIAQ3EGRI")), "{texts:?}");
}
