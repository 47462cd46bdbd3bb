//! The folder of a command, a descriptor and the program as words that a shell makes.
//!
//! INVARIANT: a folder is told only where the command runs in it; a value from another folder is not known.

use super::knowledge::{Known, line};
use crate::shell::{Command, Dialect, analyze};

fn lines(text: &str) -> Vec<String> {
    let mut commands = analyze(text, Dialect::Bash, &Known).commands;
    commands.iter_mut().for_each(Command::name_places);
    commands.iter().map(line).collect()
}

#[track_caller]
fn lists(text: &str, wanted: &str) {
    let lines = lines(text);
    assert!(lines.iter().any(|line| line == wanted), "{text:?}: {lines:?}");
}

#[test]
fn the_folder() {
    for text in [
        "rm -r $PWD",
        "rm -r \"$PWD\"",
        "rm -r ${PWD}",
        "rm -r \"$(pwd)\"",
        "rm -r `pwd`",
        "rm -r $(pwd -P 2>/dev/null)",
        "d=$PWD; rm -r \"$d\"",
        "d=$(pwd); cd /tmp; cd - && rm -r .",
        "cd /x; rm -r $PWD",
    ] {
        lists(text, "rm -r .");
    }
    lists("cat \"$PWD/a\"", "cat ./a");
    lists("d=$PWD/a; cat $d/b", "cat ./a/b");
    lists("rm -r $PWD/*", "rm -r <./*>");
}

#[test]
fn another_folder_is_not_known() {
    for text in [
        "d=$PWD; cd /tmp; rm -r \"$d\"",
        "d=$PWD; (cd /tmp; rm -r \"$d\")",
        "for d in $PWD; do cd /tmp; rm -r $d; done",
        "env -C / rm -r $PWD",
        "PWD=$(x); rm -r $PWD",
        "read PWD; rm -r $PWD",
        "rm -r a$PWD",
        "rm -r ${PWD}-old",
        "pwd() { echo /; }; rm -r $(pwd)",
        "rm -r ${PWD%/*}",
    ] {
        let lines = lines(text);
        assert!(
            lines.iter().any(|line| line.starts_with("rm -r") && line.contains('?')),
            "{text:?}: {lines:?}"
        );
    }
}

#[test]
fn the_project() {
    let lines = lines("rm -r \"$(git rev-parse --show-toplevel)/a\"");
    assert!(lines.iter().any(|line| line == "rm -r ?"), "{lines:?}");
    assert!(lines.iter().any(|line| line == "rm -r ./a"), "{lines:?}");
}

#[test]
fn descriptors() {
    lists("diff <(sort a) <(sort b)", "diff /dev/fd/63 /dev/fd/63");
    lists("cat x-<(a)", "cat ?");
}

#[test]
fn substitutions_inside_each_other_take_no_time() {
    for start in ["$(echo ", "$(pwd ", "$(git rev-parse "] {
        let text = format!("rm {}x{}", start.repeat(100), ")".repeat(100));
        assert!(!lines(&text).is_empty());
    }
}
