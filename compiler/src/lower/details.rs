//! What the shell reader must know of programs and a `program` block of this language version has no words for.
//!
//! INVARIANT: only adds to programs that a block names; each entry makes the reader see more commands or know less,
//! never the other way round. The entries move into `policies/std/programs.policy` as the language gets their words.

use policy_grammar::shell::Dialect;
use policy_grammar::shell::program::{Inner, Program};

/// Completes what blocks say.
pub(super) fn complete(program: &mut Program) {
    for name in program.names.clone() {
        details(&name, program);
    }
}

fn details(name: &str, program: &mut Program) {
    match name {
        "bash" | "rbash" | "zsh" => shell(program, Some(Dialect::Bash)),
        "dash" | "ash" => shell(program, Some(Dialect::Posix)),
        "sh" | "ksh" | "mksh" | "yash" => shell(program, None),
        "sudo" => {
            add(&mut program.input_flags, &["-s", "-i", "--shell", "--login"]);
            add(&mut program.dir_flags, &["-D", "--chdir"]);
            runs(program, Inner::Input);
        }
        "doas" => {
            add(&mut program.input_flags, &["-s"]);
            runs(program, Inner::Input);
        }
        "su" | "runuser" => runs(program, Inner::Input),
        "env" => add(&mut program.dir_flags, &["-C", "--chdir"]),
        "make" | "gmake" => add(&mut program.dir_flags, &["-C", "--directory"]),
        "git" => runs(
            program,
            Inner::SettingText {
                flags: texts(&["-c"]),
                prefixes: texts(&[
                    "alias.*=!",
                    "core.pager=",
                    "core.editor=",
                    "core.sshCommand=",
                    "core.fsmonitor=",
                    "core.askPass=",
                    "credential.helper=!",
                    "credential.*.helper=!",
                    "diff.external=",
                    "diff.*.command=",
                    "diff.*.textconv=",
                    "difftool.*.cmd=",
                    "filter.*.clean=",
                    "filter.*.smudge=",
                    "filter.*.process=",
                    "gpg.program=",
                    "interactive.diffFilter=",
                    "mergetool.*.cmd=",
                    "pager.*=",
                    "sequence.editor=",
                    "trailer.*.command=",
                    "trailer.*.cmd=",
                ]),
            },
        ),
        "find" | "gfind" => add(&mut program.placeholders, &["{}"]),
        "fd" | "fdfind" => add(&mut program.placeholders, &["{}", "{/}", "{//}", "{.}", "{/.}"]),
        "xargs" | "gxargs" => {
            add(&mut program.placeholders, &["{}"]);
            add(&mut program.placeholder_flags, &["-I", "-J"]);
        }
        "parallel" => {
            let holes = ["{}", "{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{1}", "{2}", "{3}", "{4}"];
            add(&mut program.placeholders, &holes);
            add(&mut program.placeholder_flags, &["-I"]);
            add(&mut program.end_words, &[":::", ":::+", "::::", "::::+"]);
        }
        "flock" => program.late_options = true,
        "ssh" | "autossh" => {
            program.late_options = true;
            runs(program, Inner::Input);
        }
        "trap" => {
            // The first operand alone is a text; the others are names of signals.
            program.inner.retain(|inner| !matches!(inner, Inner::OperandsText { .. }));
            runs(program, Inner::OperandText { index: 0 });
        }
        "python" | "python2" | "python3" | "pypy" | "pypy3" | "node" | "nodejs" | "perl" | "ruby" | "php"
        | "lua" | "fish" => runs(program, Inner::InputCode),
        _ => {}
    }
}

fn shell(program: &mut Program, dialect: Option<Dialect>) {
    add(&mut program.input_flags, &["-s"]);
    // Names that share a block keep the reading that all of them have.
    program.dialect = if program.names.len() == 1 { dialect } else { None };
}

fn runs(program: &mut Program, inner: Inner) {
    if !program.inner.contains(&inner) {
        program.inner.push(inner);
    }
}

fn add(list: &mut Vec<String>, words: &[&str]) {
    for word in words {
        if !list.iter().any(|known| known == word) {
            list.push((*word).to_owned());
        }
    }
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
