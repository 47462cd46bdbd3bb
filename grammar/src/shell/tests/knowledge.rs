//! A small source of program knowledge for the tests, in the shape that `program` blocks are lowered to.

use crate::shell::code::Language;
use crate::shell::program::{Inner, OptionStyle, Program, Programs, Subcommand};
use crate::shell::{Command, Dialect, Word};

/// The programs that the tests need.
pub(super) struct Known;

/// The words of a command, joined by blanks; `?` is a word that is not known.
pub(super) fn line(command: &Command) -> String {
    let word = |word: &Word| match word {
        Word::Known(text) | Word::Tilde(text) => text.clone(),
        Word::Glob(pattern) => format!("<{pattern}>"),
        Word::OneOf(texts) => texts.join("/"),
        Word::Unknown(_) => "?".to_string(),
    };
    command.words.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn list(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_string).collect()
}

fn wrapper(value_flags: &str, inner: Vec<Inner>) -> Program {
    Program { style: OptionStyle::First, value_flags: list(value_flags), inner, ..Program::default() }
}

fn operands(skip: u32) -> Vec<Inner> {
    vec![Inner::Operands { skip }]
}

fn text(flags: &str) -> Inner {
    Inner::FlagText { flags: list(flags) }
}

fn shell(dialect: Option<Dialect>) -> Program {
    Program {
        dialect,
        input_flags: list("-s"),
        ..wrapper("-o -O +o +O --rcfile --init-file", vec![text("-c"), Inner::Input])
    }
}

fn sub(words: &str, program: Program) -> Subcommand {
    Subcommand { words: list(words), program }
}

fn container() -> Program {
    let exec =
        Program { inner: operands(1), ..wrapper("-u --user -w --workdir -e --env --env-file", operands(1)) };
    let run = wrapper(
        "-u --user -w --workdir -e --env -v --volume -p --publish --name --network --entrypoint -m --mount",
        operands(1),
    );
    let compose = Program {
        value_flags: list("-f --file -p --project-name"),
        style: OptionStyle::First,
        subcommands: vec![sub("exec", exec.clone()), sub("run", run.clone())],
        ..Program::default()
    };
    Program {
        style: OptionStyle::First,
        value_flags: list("-H --host -c --context --config -l"),
        subcommands: vec![
            sub("exec", exec.clone()),
            sub("run", run),
            sub("container exec", exec),
            sub("compose", compose),
        ],
        ..Program::default()
    }
}

fn git() -> Program {
    Program {
        style: OptionStyle::First,
        value_flags: list("-C -c --git-dir --work-tree --namespace"),
        dir_flags: list("-C"),
        inner: vec![Inner::SettingText {
            flags: list("-c"),
            prefixes: list("alias.*=! core.pager= core.editor= core.sshCommand="),
        }],
        subcommands: vec![
            sub(
                "rebase",
                Program {
                    value_flags: list("-x --exec --onto"),
                    inner: vec![text("-x --exec")],
                    ..Program::default()
                },
            ),
            sub("bisect run", Program { style: OptionStyle::None, inner: operands(0), ..Program::default() }),
            sub("submodule foreach", wrapper("", vec![Inner::OperandsText { skip: 0 }])),
        ],
        ..Program::default()
    }
}

impl Programs for Known {
    fn program(&self, name: &str) -> Option<Program> {
        let program = match name {
            "sudo" => Program {
                assignments: true,
                inert_flags: list("-l -v -k -K -V --list --validate --version"),
                input_flags: list("-s -i"),
                flags: list(
                    "-n -E -b -S -s -i -H -P -A -B -e --non-interactive --preserve-env --login --shell --stdin",
                ),
                ..wrapper(
                    "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -R --chroot -r --role -t --type -T -U --other-user",
                    vec![Inner::Operands { skip: 0 }, Inner::Input],
                )
            },
            "doas" => wrapper("-u -C -a", operands(0)),
            "su" => Program {
                value_flags: list("-c --command -s --shell -g --group"),
                inner: vec![text("-c --command"), Inner::Input],
                ..Program::default()
            },
            "env" => Program {
                assignments: true,
                dir_flags: list("-C --chdir"),
                ..wrapper(
                    "-u --unset -S --split-string",
                    vec![Inner::FlagWords { flags: list("-S --split-string") }, Inner::Operands { skip: 0 }],
                )
            },
            "nice" => wrapper("-n --adjustment", operands(0)),
            "nohup" | "setsid" | "busybox" => wrapper("", operands(0)),
            "time" => wrapper("-f --format -o --output", operands(0)),
            "timeout" => wrapper("-k --kill-after -s --signal", operands(1)),
            "stdbuf" => wrapper("-i --input -o --output -e --error", operands(0)),
            "ionice" => wrapper("-c --class -n --classdata", operands(0)),
            "chroot" => wrapper("--groups --userspec", operands(1)),
            "flock" => Program {
                late_options: true,
                ..wrapper(
                    "-w --wait -E -c --command",
                    vec![Inner::Operands { skip: 1 }, text("-c --command")],
                )
            },
            "watch" => wrapper("-n --interval", vec![Inner::OperandsText { skip: 0 }]),
            "xargs" => Program {
                attached_flags: list("-i --replace -e -l"),
                placeholder_flags: list("-I"),
                ..wrapper(
                    "-n -L -P -d -a -s -E --max-args --max-procs --delimiter --arg-file",
                    vec![Inner::Operands { skip: 0 }, Inner::InputWords],
                )
            },
            "parallel" => Program {
                placeholders: list("{}"),
                end_words: list("::: ::::"),
                ..wrapper("-j --jobs", vec![Inner::OperandsText { skip: 0 }, Inner::InputWords])
            },
            "make" => Program {
                value_flags: list("-f"),
                inner: vec![Inner::FlagFile { flags: list("-f"), language: Some(Language::Make) }],
                ..Program::default()
            },
            "command" => Program { inert_flags: list("-v -V"), ..wrapper("", operands(0)) },
            "exec" => wrapper("-a", operands(0)),
            "builtin" => wrapper("", operands(0)),
            "eval" => Program {
                style: OptionStyle::None,
                inner: vec![Inner::OperandsText { skip: 0 }],
                ..Program::default()
            },
            "trap" => wrapper("", vec![Inner::OperandText { index: 0 }]),
            "bash" | "zsh" => shell(Some(Dialect::Bash)),
            "dash" => shell(Some(Dialect::Posix)),
            "sh" | "ksh" => shell(None),
            "ssh" => Program {
                late_options: true,
                operands_are_hosts: true,
                ..wrapper(
                    "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
                    vec![Inner::OperandsText { skip: 1 }, Inner::Input],
                )
            },
            "find" => Program {
                style: OptionStyle::SingleDash,
                placeholders: list("{}"),
                inner: vec![Inner::FlagCommand { flags: list("-exec -execdir -ok -okdir") }],
                ..Program::default()
            },
            "fd" => Program {
                value_flags: list("-e -t -d"),
                placeholders: list("{} {/} {//} {.} {/.}"),
                inner: vec![Inner::FlagCommand { flags: list("-x --exec -X --exec-batch") }],
                ..Program::default()
            },
            "docker" | "podman" => container(),
            "kubectl" => Program {
                value_flags: list("-n --namespace --context"),
                subcommands: vec![sub(
                    "exec",
                    Program {
                        value_flags: list("-n --namespace -c --container"),
                        inner: vec![Inner::AfterDashes],
                        ..Program::default()
                    },
                )],
                ..Program::default()
            },
            "npx" => wrapper("-p --package -c --call", vec![Inner::Operands { skip: 0 }, text("-c --call")]),
            "git" => git(),
            "tar" => Program {
                value_flags: list(
                    "-f --file -C --directory -I --use-compress-program --to-command --checkpoint-action",
                ),
                inner: vec![text("--to-command -I --use-compress-program")],
                ..Program::default()
            },
            "rsync" => {
                Program { value_flags: list("-e --rsh"), inner: vec![text("-e --rsh")], ..Program::default() }
            }
            "python" | "python3" => wrapper(
                "-c -m -W -X",
                vec![
                    Inner::FlagCode { flags: list("-c"), language: Language::Python },
                    Inner::InputCode { language: Some(Language::Python) },
                ],
            ),
            _ => return None,
        };
        Some(Program { names: vec![name.to_string()], ..program })
    }
}
