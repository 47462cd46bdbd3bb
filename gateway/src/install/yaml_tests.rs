//! Tests of settings in YAML.
//!
//! INVARIANT: what was put in is taken out again, and nothing else is touched.

use super::super::CLIENTS;
use super::*;

const TEXT: &str = "# mine
name: Local # yes
version: 1.0.0
mcpServers:
  # files
  - name: fs
    command: npx # runs
    args:
      - -y # no questions
      - \"@x/fs\"
      - /a b
    env:
      K: v
  - name: flow
    command: 'srv'
    args: [\"--port\", 8080]
  - command: bare
    name: bare
  - {name: inline, command: x}
  - name: web
    type: sse
    url: https://x
  - name: shared
    command: *known
models: &known []
";

fn client() -> &'static Client {
    CLIENTS.iter().find(|client| client.name == "continue").unwrap()
}

fn change(install: bool, servers: &[&str]) -> Change {
    Change {
        install,
        servers: servers.iter().map(ToString::to_string).collect(),
        program: "/usr/local/bin/policy".to_owned(),
        options: vec!["--policy".to_owned(), "/p q".to_owned()],
    }
}

fn lines(text: &str, name: &str) -> Vec<String> {
    let root = read(text).unwrap();
    let servers = root.get("mcpServers").unwrap().1.list().unwrap();
    let own = servers.iter().find(|own| own.get("name").unwrap().1.text() == Some(name)).unwrap();
    words(own).unwrap()
}

#[test]
fn comments_stay_and_all_comes_back() {
    let text = TEXT.replace("*known", "known").replace("&known ", "");
    let (new, changed, left) = edit(&text, client(), &change(true, &[])).unwrap();
    assert_eq!(changed, ["fs", "flow", "bare", "inline", "shared"], "{left:?}\n{new}");
    assert_eq!(left.len(), 1);
    assert_eq!(
        lines(&new, "fs").join(" "),
        "/usr/local/bin/policy wrap --policy /p q --name fs -- npx -y @x/fs /a b"
    );
    assert_eq!(lines(&new, "inline").last().unwrap(), "x");
    for kept in
        ["# mine", "# yes", "# files", "# runs", "- -y # no questions", "K: v", "url: https://x", "8080"]
    {
        assert!(new.contains(kept), "{kept}: {new}");
    }
    let (again, changed, _) = edit(&new, client(), &change(true, &[])).unwrap();
    assert!(changed.is_empty() && again == new);
    let (back, changed, _) = edit(&new, client(), &change(false, &[])).unwrap();
    assert_eq!(changed.len(), 5);
    // Entries without arguments have an empty list of them now, and one quote is not needed.
    let plain =
        |text: &str| text.replace("\n    args: []", "").replace(", args: []", "").replace("'srv'", "srv");
    assert_eq!(plain(&back), plain(&text));
    for name in ["fs", "flow", "bare", "inline"] {
        assert_eq!(lines(&back, name), lines(&text, name));
    }
}

#[test]
fn only_those_that_are_named() {
    let text = TEXT.replace("*known", "known").replace("&known ", "");
    let (new, changed, left) = edit(&text, client(), &change(true, &["flow"])).unwrap();
    assert_eq!((changed.len(), left.len()), (1, 0));
    assert_eq!(lines(&new, "fs"), lines(&text, "fs"));
    assert!(lines(&new, "flow").ends_with(&["srv".to_owned(), "--port".to_owned(), "8080".to_owned()]));
}

#[test]
fn what_is_written_in_another_way_is_left_with_a_reason() {
    let (new, changed, left) = edit(TEXT, client(), &change(true, &["shared"])).unwrap_or_default();
    assert!(changed.is_empty(), "{new}");
    assert!(left.is_empty() || left.iter().any(|(name, _)| name == "shared"));
    let block = "mcpServers:\n  - name: a\n    command: |\n      npx\n  - name: b\n    command: x\n    args: &l\n      - y\n  - name: c\n    command: x\n    args: null\n";
    let (new, changed, left) = edit(block, client(), &change(true, &[])).unwrap();
    assert!(changed.is_empty() && new == block, "{new}");
    assert_eq!(left.len(), 3);
}

#[test]
fn what_is_no_settings_file_is_said() {
    for (text, why) in
        [("a: [", "not YAML"), ("- a", "not a mapping"), ("a: 1\n---\nb: 2\n", "more than one")]
    {
        let said = edit(text, client(), &change(true, &[])).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
    for text in
        ["", "# only\n", "mcpServers: {}\n", "mcpServers: []\n", "mcpServers:\n", "mcpServers:\n  - x\n"]
    {
        let (new, changed, _) = edit(text, client(), &change(true, &[])).unwrap();
        assert!(changed.is_empty() && new == text, "{text}");
    }
}
