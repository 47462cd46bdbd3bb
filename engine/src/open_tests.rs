//! Tests of the open function.

use super::*;
use crate::testing::Scratch;
use std::os::unix::fs::PermissionsExt;

fn refused(path: &Path) -> String {
    open(path, Care::Private, 100).expect_err("is opened").to_string()
}

#[test]
fn opens_a_plain_file_of_ours() {
    let scratch = Scratch::new("open");
    let file = scratch.file("a/b/agent.policy", "text");
    let (bytes, stamp) = read(&file, Care::Private, 100).unwrap();
    assert_eq!((bytes.as_slice(), stamp.size), (b"text".as_slice(), 4));
}

#[test]
fn refuses_links_in_any_component() {
    let scratch = Scratch::new("open-links");
    let file = scratch.file("real/agent.policy", "text");
    let link = scratch.folder("").join("link");
    std::os::unix::fs::symlink(scratch.folder("real"), &link).unwrap();
    assert!(refused(&link.join("agent.policy")).contains("symbolic link"));
    let last = scratch.folder("real").join("last.policy");
    std::os::unix::fs::symlink(&file, &last).unwrap();
    assert!(refused(&last).contains("symbolic link"));
    std::fs::hard_link(&file, scratch.folder("real").join("second.policy")).unwrap();
    assert!(refused(&file).contains("second name"));
}

#[test]
fn refuses_what_others_can_write() {
    let scratch = Scratch::new("open-modes");
    let file = scratch.file("a/agent.policy", "text");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
    assert!(refused(&file).contains("written by other users"));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    std::fs::set_permissions(scratch.folder("a"), PermissionsExt::from_mode(0o777)).unwrap();
    assert!(refused(&file).contains("replaced"));
}

#[test]
fn never_waits_for_a_fifo() {
    let scratch = Scratch::new("open-fifo");
    let fifo = scratch.folder("").join("agent.policy");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    assert!(refused(&fifo).contains("FIFO"));
    assert!(crate::append::append(&fifo, b"x\n", Care::Private).is_err());
    assert!(open(&fifo, Care::Named, 100).is_err());
}

#[test]
fn refuses_folders_large_files_and_odd_paths() {
    let scratch = Scratch::new("open-odd");
    assert!(refused(&scratch.folder("d")).contains("is a folder"));
    assert!(refused(&scratch.file("big", &"x".repeat(101))).contains("larger than 100 bytes"));
    assert!(refused(Path::new("relative")).contains("absolute"));
    assert!(
        refused(Path::new("/a/../etc/passwd")).contains("`..`")
            || refused(Path::new("/a/../x")).contains("not exist")
    );
    assert!(open(&scratch.folder("").join("none"), Care::Private, 100).unwrap_err().missing);
}

#[test]
fn writes_whole_and_private() {
    let scratch = Scratch::new("open-write");
    let file = scratch.folder("").join("out");
    write(&file, b"one", 0o600).unwrap();
    write(&file, b"two", 0o600).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"two");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(scratch.folder("")).unwrap().count(), 1);
}

#[test]
fn refuses_a_foreign_owner() {
    let scratch = Scratch::new("open-owner");
    let file = scratch.file("a/agent.policy", "text");
    // Only root can give a file away; elsewhere there is nothing to try.
    if std::os::unix::fs::chown(&file, Some(12345), None).is_ok() {
        assert!(refused(&file).contains("12345"));
    }
    let file = scratch.file("b/agent.policy", "text");
    if std::os::unix::fs::chown(scratch.folder("b"), Some(12345), None).is_ok() {
        assert!(refused(&file).contains("12345"));
    }
}

#[test]
fn a_named_file_keeps_mode_links_and_devices() {
    let scratch = Scratch::new("open-named");
    let file = scratch.file("a/real.policy", "old");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o664)).unwrap();
    let link = scratch.folder("").join("link.policy");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    write_named(&link, b"new", 0o600).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read(&file).unwrap(), b"new");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o664);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o444)).unwrap();
    assert!(write_named(&file, b"x", 0o600).unwrap_err().why.contains("read-only"));
    assert!(write_named(Path::new("/dev/null"), b"x", 0o600).unwrap_err().why.contains("not a regular file"));
    assert!(write_named(&scratch.folder("a"), b"x", 0o600).unwrap_err().why.contains("is a folder"));
    assert!(create_named(&file, b"x", 0o600).unwrap_err().why.contains("exists"));
    assert_eq!(std::fs::read(&file).unwrap(), b"new");
    create_named(&scratch.folder("a").join("made"), b"x", 0o600).unwrap();
    assert_eq!(std::fs::read_dir(scratch.folder("a")).unwrap().count(), 2);
}

#[test]
fn what_cannot_be_looked_at_may_be_there() {
    let scratch = Scratch::new("open-present");
    let file = scratch.file("file", "");
    assert_eq!(present(&file), Ok(true));
    assert_eq!(present(&scratch.folder("").join("none")), Ok(false));
    assert!(present(&file.join("below")).unwrap_err().why.contains("no folder"));
}
