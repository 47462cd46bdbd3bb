//! Values that the reader follows: what programs print, functions are given, wrappers fill in.
//!
//! INVARIANT: what is read with a guess has a gap, so no grant reaches it.

use super::knowledge::{Known, line};
use crate::shell::{Command, Dialect, Gap, Word, analyze};

/// A command that the text lists, by all its words.
#[track_caller]
fn lists(text: &str, wanted: &str) -> Command {
    let analysis = analyze(text, Dialect::Bash, &Known);
    let found = analysis.commands.iter().find(|command| line(command) == wanted);
    found.unwrap_or_else(|| panic!("{wanted:?} in {text:?}: {analysis:?}")).clone()
}

#[track_caller]
fn lacks(text: &str, unwanted: &str) {
    let analysis = analyze(text, Dialect::Bash, &Known);
    assert!(!analysis.commands.iter().any(|command| line(command) == unwanted), "{text:?}: {analysis:?}");
}

#[test]
fn a_program_that_is_looked_up_is_that_program() {
    for text in [
        "$(which rm) -rf /",
        "\"$(command -v rm)\" -rf /",
        "`which rm` -rf /",
        "w=$(type -p rm); $w -rf /",
        "sudo $(which rm) -rf /",
        "for c in $(which rm); do $c -rf /; done",
    ] {
        let command = lists(text, "rm -rf /");
        assert!(command.gaps.contains(&Gap::UnknownProgram), "{text:?}: {:?}", command.gaps);
    }
    assert!(lists("rm $(which policy)", "rm /opt/homebrew/bin/policy").alternative);
    // Another meaning of `which`, a name that is no name, more than one.
    for text in ["which() { echo x; }; $(which rm) -rf /", "$(which -x rm) -rf /", "$(which $c) -rf /"] {
        lacks(text, "rm -rf /");
    }
}

#[test]
fn parallel_fills_homes_and_lines_in() {
    lists("parallel 'rm -rf {}' ::: ~ /etc", "rm -rf ~");
    lists("parallel 'rm -rf {}' ::: ~ /etc", "rm -rf /etc");
    lists("parallel rm -rf ::: ~/'a b'", "rm -rf ~/a b");
    lists("printf '%s\\n' / b | parallel rm -rf", "rm -rf /");
    lists("printf '%s\\n' / b | parallel -j2 rm -rf {}", "rm -rf b");
    lists("echo ~ | parallel rm -rf", "rm -rf ~");
    // A home in the middle of a word is none.
    lacks("parallel 'rm -rf x{}' ::: ~", "rm -rf x~");
    lacks("printf '/\\n' | parallel --colsep / rm -rf", "rm -rf /");
}

#[test]
fn values_are_split_at_a_known_ifs() {
    for text in [
        "IFS=,; c=rm,-rf,/; $c",
        "IFS=,; c=rm,-rf,/; set -- $c; \"$@\"",
        "export IFS=', '; c='rm , -rf,/ , '; $c",
        "IFS=:; $(echo rm:-rf:/)",
    ] {
        let command = lists(text, "rm -rf /");
        assert!(command.gaps.contains(&Gap::Environment), "{text:?}: {:?}", command.gaps);
    }
    let whole = lists("IFS=; c='rm -rf /'; $c", "rm -rf /");
    assert_eq!(whole.words, [Word::Known("rm -rf /".into())]);
    lists("IFS=,; c=,a,,b,; p $c", "p  a  b");
    lists("IFS=', '; c=' , a'; p x${c}y", "p x ay");
    lists("IFS=,; set -- a b; p \"$*\"", "p a,b");
    lists("IFS=$x; c=rm,-rf,/; $c", "?");
}

#[test]
fn functions_are_read_with_their_arguments() {
    for text in [
        "f(){ rm -rf \"$1\"; }; f /",
        "f(){ \"$@\"; }; f rm -rf /",
        "f(){ $*; }; f rm -rf /",
        "f(){ local d=\"$1\"; rm -rf \"$d\"; }; f /",
        "f(){ x=$1; shift; $x \"$@\"; }; f rm -rf /",
        "f(){ g \"$1\"; }; g(){ rm -rf \"$1\"; }; f /",
        "f(){ f \"$1\"; rm -rf \"$1\"; }; f /",
        "f(){ for d in \"$@\"; do rm -rf \"$d\"; done; }; f a /",
        "f(){ eval \"$1\"; }; f 'rm -rf /'",
        "f(){ bash; }; echo 'rm -rf /' | f",
        "if x; then f(){ rm -rf $1; }; else f(){ y; }; fi; f /",
        "f(){ rm -rf \"/$1\"; }; f ''",
    ] {
        lists(text, "rm -rf /");
    }
    lists("f(){ local d=$1; rm -rf \"$d\"; }; f ~/x", "rm -rf ~/x");
    lists("f(){ local d=\"$1\"; rm -rf \"$d\"; }; f ~", "rm -rf ~");
    lists("f(){ \"$@\"; }; f rm -rf / \"$x\"", "rm -rf / ?");
    lacks("f(){ rm -rf \"$2\"; }; f / build", "rm -rf /");
    // The body without its arguments stays, so a reading more makes nothing known.
    lists("f(){ rm -rf \"$1\"; }; f /", "rm -rf ?");
}

#[test]
fn calls_of_functions_are_bounded() {
    let calls: String = (0..3000).map(|n| format!("f {n}\n")).collect();
    let analysis =
        analyze(&format!("f(){{ g \"$1\"; f \"$1\" x; f \"$1\" y; }}\n{calls}"), Dialect::Bash, &Known);
    assert!(analysis.complete, "{:?}", analysis.problems);
    assert!(analysis.commands.len() < 200, "{}", analysis.commands.len());
}

#[test]
fn values_that_programs_run_are_texts() {
    for text in [
        "GIT_SSH_COMMAND='rm -rf /' git fetch",
        "GIT_EDITOR='sh -c \"rm -rf /\"' git commit",
        "LESSOPEN='|rm -rf /' less x",
        "PROMPT_COMMAND='rm -rf /'",
        "export KUBE_EDITOR='rm -rf /'",
        "PS4='$(rm -rf /)' bash -x x.sh",
        "env GIT_PAGER='rm -rf /' git log",
        "GIT_CONFIG_VALUE_0='!rm -rf /' git x",
        "c='rm -rf /'; MANPAGER=\"$c\" man ls",
    ] {
        lists(text, "rm -rf /");
    }
    lists("BASH_ENV=./env.sh bash x.sh", ". ./env.sh");
    assert!(lists("PAGER=cat git log", "git log").gaps.contains(&Gap::Environment));
    lacks("NOTE='rm -rf /' git fetch", "rm -rf /");
    lacks("PS1='rm -rf / '", "rm -rf /");
}

#[test]
fn a_home_with_more_behind_it_is_no_home() {
    // Not the home of a user `y`.
    lists("x=~; rm -rf ${x}y", "rm -rf ?");
    lists("x=~; rm -rf ${x}*", "rm -rf ?");
    lists("x=~; rm -rf \"$x\"/y", "rm -rf ~/y");
    lists("x=~root; rm -rf ${x}y", "rm -rf ?");
    lists("rm -rf ~y", "rm -rf ~y");
    assert!(lists("rm -rf ~y/x", "rm -rf /home/y/x").alternative);
    assert!(lists("rm -rf ~root", "rm -rf /root").alternative);
    lacks("ls ~root", "ls /root");
    lacks("rm -rf ~+/x", "rm -rf /home/+/x");
    // A text that is read again knows the home.
    lists("sh -c \"rm -rf $HOME\"", "rm -rf ~");
}

#[test]
fn makefiles_on_standard_input_are_read() {
    lists("make -f - <<< $'x:\\n\\trm -rf /'", "rm -rf /");
    lists("make -s -f - all <<< 'all: ; @rm -rf /'", "rm -rf /");
    lists("printf 'D = /\\nx:\\n\\t-rm -rf $(D)\\n' | make -f -", "rm -rf /");
    lists("make -f - <<< 'x := $(shell rm -rf /)'", "rm -rf /");
    assert!(lists("make -f - <<< $'x:\\n\\tls'", "make -f -").gaps.contains(&Gap::PartlyRead));
}

#[test]
fn what_is_written_without_end_is_followed() {
    let command = lists("yes 'git push -f' | head -1 | bash", "git push -f");
    assert!(command.gaps.contains(&Gap::UnreadCode));
    lists("yes 'git push -f' | bash", "git push -f");
    lists("yes / | head -1 | xargs rm -rf", "rm -rf /");
}
