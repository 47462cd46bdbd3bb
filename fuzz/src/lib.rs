//! What every text must keep when the shell reader reads it, and a generator of texts that try to break it; and the same
//! for bytes: decision tables, decisions, the content scanner, messages of MCP, payments.
//!
//! INVARIANT: the same seed gives the same texts; a check looks at answers only, never at the clock.

pub mod decide;
mod edit;
pub mod envelope;
pub mod make;
pub mod payment;
pub mod scan;
pub mod section;
pub mod table;

use policy_grammar::shell::code::Language;
use policy_grammar::shell::outline::outline;
use policy_grammar::shell::program::{Inner, OptionStyle, Program, Programs};
use policy_grammar::shell::{Analysis, Dialect, MAX_COMMAND_BYTES, analyze};

/// A few programs of each kind, so that the walk reaches wrappers, shells and inner texts.
pub struct Known;

impl Programs for Known {
    fn program(&self, name: &str) -> Option<Program> {
        let flags = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_string()).collect::<Vec<_>>();
        let first = OptionStyle::First;
        let mut program = Program { names: flags(&[name]), ..Program::default() };
        match name {
            "sudo" | "nice" | "nohup" | "timeout" => {
                program.style = first;
                program.value_flags = flags(&["-u", "-n"]);
                program.inner = vec![Inner::Operands { skip: u32::from(name == "timeout") }];
            }
            "env" => {
                program.style = first;
                program.assignments = true;
                program.inner = vec![Inner::FlagWords { flags: flags(&["-S"]) }, Inner::Operands { skip: 0 }];
            }
            "bash" | "sh" | "zsh" => {
                program.style = first;
                program.inner = vec![Inner::FlagText { flags: flags(&["-c"]) }, Inner::Input];
                program.input_flags = flags(&["-s"]);
                program.dialect = Some(if name == "bash" { Dialect::Bash } else { Dialect::Posix });
            }
            "eval" => program.inner = vec![Inner::OperandsText { skip: 0 }],
            "ssh" => program.inner = vec![Inner::OperandsText { skip: 1 }],
            "trap" => program.inner = vec![Inner::OperandText { index: 0 }],
            "xargs" => {
                program.style = first;
                program.inner = vec![Inner::Operands { skip: 0 }, Inner::InputWords];
                program.placeholder_flags = flags(&["-I"]);
            }
            "find" => {
                program.style = OptionStyle::SingleDash;
                program.inner = vec![Inner::FlagCommand { flags: flags(&["-exec", "-ok"]) }];
                program.placeholders = flags(&["{}"]);
            }
            "python3" => {
                program.style = first;
                program.inner = vec![Inner::InputCode { language: Some(Language::Python) }];
            }
            "echo" | "cat" | "ls" | "git" | "rm" | "printf" | "test" => {}
            _ => return None,
        }
        Some(program)
    }
}

/// Reads a text in every dialect and tells what is wrong with an answer.
///
/// # Errors
/// The promise that was broken.
pub fn check(text: &str) -> Result<(), String> {
    for dialect in [Dialect::Bash, Dialect::Zsh, Dialect::Unknown] {
        let analysis = analyze(text, dialect, &Known);
        sound(text, &analysis)?;
        if dialect == Dialect::Bash && analysis != analyze(text, dialect, &Known) {
            return Err("two readings of one text differ".into());
        }
    }
    let written = outline(text);
    if written.problems.is_empty() && text.len() > MAX_COMMAND_BYTES {
        return Err("a text over the limit was read".into());
    }
    data(text)
}

fn sound(text: &str, analysis: &Analysis) -> Result<(), String> {
    if analysis.complete != analysis.problems.is_empty() {
        return Err("complete and problems disagree".into());
    }
    for command in &analysis.commands {
        if command.words.len() != command.parts.len() {
            return Err("words and parts differ in number".into());
        }
        if command.start > command.end || command.end as usize > text.len() {
            return Err("a command stands outside of the text".into());
        }
    }
    Ok(())
}

/// A text over the limit of brackets is not read, quoted or not.
fn heavy(analysis: &Analysis) -> bool {
    analysis.problems.iter().any(|problem| problem.message.contains("more than"))
}

/// A text that is quoted is data: nothing of it runs.
fn data(text: &str) -> Result<(), String> {
    let one = |analysis: &Analysis, what: &str| match analysis.complete && analysis.commands.len() != 1 {
        true => Err(format!("{} commands in {what}", analysis.commands.len())),
        false => Ok(()),
    };
    let room = text.len() + 64 < MAX_COMMAND_BYTES;
    if room && !text.contains(['\'', '\r', '\0']) {
        let quoted = analyze(&format!("echo '{text}'"), Dialect::Bash, &Known);
        if !quoted.complete && !heavy(&quoted) {
            return Err(format!("a quoted text is not read: {:?}", quoted.problems));
        }
        one(&quoted, "single quotes")?;
    }
    if room && !text.contains("QZX") && !text.contains(['\r', '\0']) {
        let body = analyze(&format!("cat <<'QZX'\n{text}\nQZX\n"), Dialect::Bash, &Known);
        if !body.complete && !heavy(&body) {
            return Err(format!("a quoted here-document is not read: {:?}", body.problems));
        }
        one(&body, "a quoted here-document")?;
    }
    if room && !text.contains(['\n', '\0']) {
        let comment = analyze(&format!("ls # {text}\n"), Dialect::Bash, &Known);
        one(&comment, "a comment")?;
    }
    Ok(())
}
