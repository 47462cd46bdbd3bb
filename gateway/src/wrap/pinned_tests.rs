//! Pins as a process meets the tools of its server.

use super::*;
use policy_engine::places::Folders;

fn shelf(name: &str) -> Shelf {
    let home = std::env::temp_dir().join(format!("policy-pinned-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(&home).unwrap();
    Shelf::of(&Folders::under(&home))
}

fn start(shelf: &Shelf) -> Pinned {
    let identity = Identity { name: "s".to_owned(), source: vec!["server".to_owned()] };
    Pinned::new(identity, shelf.clone())
}

fn tool(name: &str, description: &str) -> Tool {
    let text = serde_json::json!({ "name": name, "description": description }).to_string();
    Tool { name: name.to_owned(), text }
}

fn page(cursor: &str, tools: &[(&str, &str)], next: &str) -> Page {
    Page {
        tools: tools.iter().map(|(name, text)| tool(name, text)).collect(),
        cursor: Cursor::of(&format!("\"{cursor}\"")),
        next: Cursor::of(&format!("\"{next}\"")),
    }
}

/// The file is looked at again.
fn later(pinned: &mut Pinned) {
    pinned.looked = None;
    pinned.refresh();
}

#[test]
fn nothing_is_written_before_a_list_was_read_to_its_end() {
    let shelf = shelf("whole");
    let mut own = start(&shelf);
    assert!(!own.begins(Some("\"be good\"")));
    assert_eq!(own.page(page("", &[("a", "1")], "c")), Ok(vec![false]));
    // Not the next page, and then the last one without the others.
    assert_eq!(own.page(page("d", &[("x", "1")], "")), Ok(vec![false]));
    assert_eq!(own.page(page("c", &[("y", "1")], "")), Ok(vec![false]));
    assert!(own.pins().is_none() && own.held("z").is_none() && shelf.list().unwrap().is_empty());
    // A server that is not ready yet has no tools.
    own.page(page("", &[], "")).unwrap();
    assert!(own.pins().is_none());
    own.page(page("", &[("a", "1")], "c")).unwrap();
    own.page(page("c", &[("b", "1")], "")).unwrap();
    let pins = own.pins().unwrap();
    assert_eq!(pins.tools.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(pins.instructions, Some(Definition::of("\"be good\"")));
    assert!(own.held("a").is_none() && own.held("z").unwrap().contains("did not have this tool"));
    assert_eq!(shelf.list().unwrap().len(), 1);
}

#[test]
fn what_differs_is_withheld_until_it_is_accepted_or_as_it_was() {
    let shelf = shelf("differs");
    start(&shelf).page(page("", &[("a", "1"), ("b", "1")], "")).unwrap();
    let mut own = start(&shelf);
    own.refresh();
    assert!(own.held("a").is_none() && own.held("c").is_some(), "no list was seen");
    let before = own.digest().to_owned();
    assert_eq!(own.page(page("", &[("a", "2"), ("b", "1"), ("c", "1")], "")), Ok(vec![true, false, true]));
    assert!(own.held("a").unwrap().contains("(changed: description)"), "{:?}", own.held("a"));
    assert!(own.held("b").is_none() && own.held("c").is_some());
    assert_eq!(own.digest(), before);
    // A process that saw no list meets what another one saw.
    let mut other = start(&shelf);
    other.refresh();
    assert!(other.held("a").is_some() && other.held("b").is_none());
    // It is as it was: nothing waits but the new one; then that is gone too.
    assert_eq!(own.page(page("", &[("a", "1"), ("c", "1")], "")), Ok(vec![false, true]));
    assert!(own.held("a").is_none());
    assert_eq!(own.pins().unwrap().waiting.tools.keys().collect::<Vec<_>>(), ["c"]);
    own.page(page("", &[("b", "1")], "")).unwrap();
    assert!(own.pins().unwrap().waiting.is_empty() && own.pins().unwrap().tools.len() == 2);
    // A person takes the next change.
    own.page(page("", &[("a", "3")], "")).unwrap();
    let waiting = own.pins().unwrap().waiting.clone();
    shelf.shown(&own.key, &waiting).unwrap();
    shelf.accept(&own.key, &[], 1).unwrap();
    later(&mut own);
    assert!(own.held("a").is_none() && own.digest() != before);
    later(&mut other);
    assert!(other.held("a").is_none());
}

#[test]
fn the_order_of_processes_does_not_matter() {
    let shelf = shelf("two");
    let (mut one, mut other) = (start(&shelf), start(&shelf));
    one.page(page("", &[("a", "1")], "c")).unwrap();
    other.page(page("", &[("a", "2")], "")).unwrap();
    // The other one was the first to see all.
    assert_eq!(one.page(page("c", &[("b", "1")], "")), Ok(vec![true]));
    assert!(one.held("a").is_some() && one.held("b").is_some() && other.held("a").is_none());
}

#[test]
fn a_tool_that_stands_there_twice_is_shown_once() {
    let shelf = shelf("twice");
    let mut own = start(&shelf);
    assert_eq!(own.page(page("", &[("a", "1"), ("a", "1"), ("a", "2")], "c")), Ok(vec![false, false, true]));
    assert_eq!(own.page(page("c", &[("a", "3"), ("b", "1")], "")), Ok(vec![true, false]));
    assert_eq!(own.pins().unwrap().tools["a"].digest, Definition::of(&tool("a", "1").text).digest);
}

#[test]
fn too_many_tools_are_no_list() {
    let shelf = shelf("many");
    let mut own = start(&shelf);
    let names: Vec<String> = (0..=MOST_TOOLS).map(|n| format!("t{n}")).collect();
    let all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    assert!(own.page(page("", &all, "")).unwrap_err().contains("more than 4096"));
    assert!(own.page(page("", &[(&"n".repeat(257), "x")], "")).unwrap_err().contains("longer than 256"));
    own.page(page("", &all[1..], "")).unwrap();
    assert_eq!(own.pins().unwrap().tools.len(), MOST_TOOLS);
}

#[test]
fn other_instructions_are_withheld_and_wait() {
    let shelf = shelf("begins");
    let mut own = start(&shelf);
    own.begins(Some("\"good\""));
    own.page(page("", &[("a", "1")], "")).unwrap();
    let mut own = start(&shelf);
    assert!(!own.begins(Some("\"g\\u006fod\"")) && !own.begins(None));
    assert!(own.begins(Some("\"evil\"")));
    assert_eq!(own.pins().unwrap().waiting.instructions, Some(Definition::of("\"evil\"")));
    assert!(own.held("a").is_none());
    assert!(!own.begins(Some("\"good\"")));
    assert!(own.pins().unwrap().waiting.is_empty());
}

#[test]
fn pins_that_cannot_be_read_hold_everything() {
    let shelf = shelf("closed");
    let mut own = start(&shelf);
    own.page(page("", &[("a", "1")], "")).unwrap();
    let file = shelf.file(&own.key);
    let good = std::fs::read(&file).unwrap();
    std::fs::write(&file, &good[..good.len() - 2]).unwrap();
    later(&mut own);
    let why = own.held("a").unwrap();
    assert!(why.contains(".pins` is damaged"), "{why}");
    assert!(own.page(page("", &[("a", "1")], "")).unwrap_err().contains("is damaged"));
    assert!(own.begins(Some("\"x\"")) && !own.begins(None));
    std::fs::write(&file, &good).unwrap();
    later(&mut own);
    assert!(own.held("a").is_none());
}

#[test]
fn what_cannot_be_kept_counts_in_this_process() {
    let shelf = shelf("unkept");
    let mut own = start(&shelf);
    let folder = shelf.file("x").parent().unwrap().to_owned();
    // The lock cannot be opened.
    std::fs::create_dir_all(folder.join("lock")).unwrap();
    own.page(page("", &[("a", "1")], "")).unwrap();
    assert_eq!(own.page(page("", &[("a", "2")], "")), Ok(vec![true]));
    assert!(own.held("a").is_some() && !own.digest().is_empty() && shelf.list().unwrap().is_empty());
    later(&mut own);
    assert!(own.held("a").is_some());
}

#[test]
fn a_folder_that_is_a_link_is_not_followed() {
    let shelf = shelf("link");
    let folder = shelf.file("x").parent().unwrap().to_owned();
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/nowhere", &folder).unwrap();
    let mut own = start(&shelf);
    assert!(own.page(page("", &[("a", "1")], "")).unwrap_err().contains("symbolic link"));
    assert!(own.held("a").unwrap().contains("symbolic link"), "{:?}", own.held("a"));
    std::fs::remove_file(&folder).unwrap();
    later(&mut own);
    assert!(own.held("a").is_none());
}
