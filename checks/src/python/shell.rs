//! Commands handed to a shell as one text.
//!
//! INVARIANT: names are read through the imports of the text; only a call counts, and only arguments of that call.

use super::lex::{Kind, Python};
use super::names::Meanings;
use crate::file::File;
use crate::{Found, Options};

const ALWAYS: [&str; 12] = [
    "os.system",
    "os.popen",
    "os.popen2",
    "os.popen3",
    "os.popen4",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "commands.getoutput",
    "commands.getstatusoutput",
    "popen2.popen2",
    "asyncio.create_subprocess_shell",
    "asyncio.subprocess.create_subprocess_shell",
];
const WITH_SHELL: [&str; 5] = [
    "subprocess.run",
    "subprocess.call",
    "subprocess.Popen",
    "subprocess.check_output",
    "subprocess.check_call",
];

/// `os.system(…)`, `subprocess.run(…, shell=True)` and their kin.
pub(crate) fn unsafe_shell(file: &File, options: &Options) -> Vec<Found> {
    if !file.path.is_python() {
        return Vec::new();
    }
    let allow_shell = options.flag("allow_shell_true", false);
    let python = file.python();
    let meanings = Meanings::read(python);
    let mut found = Vec::new();
    for at in 0..python.tokens.len() {
        if python.kind(at) != Some(Kind::Name)
            || python.word(at + 1) != "("
            || python.word(at.wrapping_sub(1)) == "def"
        {
            continue;
        }
        let name = meanings.of(python, at);
        if ALWAYS.contains(&name.as_str()) {
            found.push(file.found(
                python.start(at),
                format!("{name} hands a text to the shell"),
                "use subprocess.run([program, argument, ...]) with a list of words",
            ));
        } else if !allow_shell && WITH_SHELL.contains(&name.as_str()) && shell_argument(python, at + 1) {
            found.push(file.found(
                python.start(at),
                format!("{name} with shell=True hands a text to the shell"),
                "pass a list of words and leave shell=True out",
            ));
        }
    }
    found
}

/// `shell=True`, also as `**{"shell": True}`, among the arguments of the call whose bracket is at `open`.
fn shell_argument(python: &Python, open: usize) -> bool {
    let close = python.close(open);
    let mut at = open + 1;
    while at < close {
        match python.word(at) {
            "shell" if python.word(at + 1) == "=" && yes(python, at + 2) => return true,
            "{" if python.word(at - 1) == "**" => {
                let end = python.close(at).min(close);
                let says = (at + 1..end.min(at + 64)).any(|key| {
                    matches!(python.word(key), "'shell'" | "\"shell\"")
                        && python.word(key + 1) == ":"
                        && yes(python, key + 2)
                });
                if says {
                    return true;
                }
                at = end + 1;
                continue;
            }
            "(" | "[" | "{" => {
                at = python.close(at) + 1;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    false
}

fn yes(python: &Python, at: usize) -> bool {
    python.word(at) == "True"
        || (python.kind(at) == Some(Kind::Number) && !matches!(python.word(at), "0" | "0.0"))
}
