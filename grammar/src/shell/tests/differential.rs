//! Generated harmless scripts against a real bash: what bash runs is listed, or the answer says that something is not known.
//!
//! INVARIANT: zero exceptions. The programs are stubs that log their words and print them; a failure prints the script. The long
//! run is `POLICY_DIFF_ROUNDS=200 cargo test -p policy-grammar differential -- --nocapture` (300 scripts a round, `POLICY_DIFF_SEED`
//! for another seed).

use super::generate::Generator;
use super::knowledge::Known;
use crate::shell::{Analysis, Dialect, Gap, Word, analyze};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const STUBS: &[&str] = &["p", "q", "r", "n"];
const TOOLS: &[&str] = &[
    "cat", "tee", "rev", "base64", "xargs", "env", "bash", "tr", "head", "tail", "nice", "timeout", "mkdir",
    "chmod", "sed", "cp", "mv", "seq",
];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// A folder that goes away again.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn find(tool: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin"].iter().map(|dir| Path::new(dir).join(tool)).find(|path| path.exists())
}

fn prepare() -> Option<Scratch> {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = Scratch(std::env::temp_dir().join(format!("policy-diff-{}", std::process::id())));
    let bin = scratch.0.join("bin");
    std::fs::create_dir_all(&bin).ok()?;
    for tool in TOOLS {
        symlink(find(tool)?, bin.join(tool)).ok()?;
    }
    let dash = find("dash")?;
    symlink(&dash, bin.join("sh")).ok()?;
    for stub in STUBS {
        let status = i32::from(*stub == "n");
        let text = format!(
            "#!{}\nprintf '%s\\0' {stub} \"$@\" END >> \"$POLICY_DIFF_LOG\"\nprintf '%s\\n' \"$*\"\nexit {status}\n",
            dash.display()
        );
        std::fs::write(bin.join(stub), text).ok()?;
        std::fs::set_permissions(bin.join(stub), std::fs::Permissions::from_mode(0o755)).ok()?;
    }
    Some(scratch)
}

/// The commands that bash ran, for each script.
fn run(scratch: &Scratch, scripts: &[String]) -> Vec<Vec<Vec<String>>> {
    let (root, work) = (&scratch.0, scratch.0.join("work/a"));
    let _ = std::fs::remove_dir_all(&work);
    let mut driver = String::new();
    for (number, script) in scripts.iter().enumerate() {
        let dir = work.join(number.to_string());
        std::fs::create_dir_all(dir.join("d")).unwrap();
        let file = root.join(format!("s{number}"));
        std::fs::write(&file, format!("{script}\nwait\n")).unwrap();
        // What runs on in the background writes into the log of its own script.
        let log = root.join(format!("log{number}"));
        std::fs::write(&log, "").unwrap();
        let (dir, log, file) = (dir.display(), log.display(), file.display());
        driver.push_str(&format!(
            "( export POLICY_DIFF_LOG={log}; cd {dir}; . {file} ) </dev/null >/dev/null 2>&1\n"
        ));
    }
    let main = root.join("driver");
    std::fs::write(&main, driver).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile"])
        .arg(&main)
        .env_clear()
        .env("PATH", root.join("bin"))
        .env("HOME", "/h");
    bash.current_dir(root).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    bash.status().unwrap();
    let read = |number: usize| {
        let text = std::fs::read(root.join(format!("log{number}"))).unwrap();
        let (mut script, mut words) = (Vec::new(), Vec::new());
        for word in String::from_utf8_lossy(&text).split('\0') {
            match word {
                "END" => script.push(std::mem::take(&mut words)),
                word => words.push(word.to_string()),
            }
        }
        script
    };
    (0..scripts.len()).map(read).collect()
}

/// Whether a word may be this text; `None` when it may be any number of words.
fn may_be(word: &Word, text: &str) -> Option<bool> {
    match word {
        Word::Known(own) => Some(own == text),
        // `~name` of nobody stays as it is written.
        Word::Tilde(own) if own == "~" || own.starts_with("~/") => Some(own.replacen('~', "/h", 1) == text),
        Word::Tilde(own) => Some(own == text),
        Word::OneOf(all) => Some(all.iter().any(|own| own == text)),
        Word::Glob(_) => None,
        Word::Unknown(_) if word.may_split() => None,
        Word::Unknown(_) => Some(true),
    }
}

fn covers(words: &[Word], texts: &[String]) -> bool {
    match words.split_first() {
        None => texts.is_empty(),
        Some((word, rest)) => match texts.split_first() {
            Some((text, after)) => match may_be(word, text) {
                Some(fits) => fits && covers(rest, after),
                None => (0..=texts.len()).any(|count| covers(rest, &texts[count..])),
            },
            None => may_be(word, "").is_none() && covers(rest, texts),
        },
    }
}

/// Whether the answer says itself that something may run that is not listed.
fn is_open(analysis: &Analysis) -> bool {
    let open =
        |gap: &Gap| matches!(gap, Gap::UnknownProgram | Gap::UnreadCode | Gap::PartlyRead | Gap::Unparsed);
    !analysis.complete || analysis.commands.iter().any(|command| command.gaps.iter().any(open))
}

#[test]
fn differential() {
    if find("bash").is_none() {
        return;
    }
    let Some(scratch) = prepare() else { return };
    let rounds = setting("POLICY_DIFF_ROUNDS", 1);
    let mut generator = Generator::new(setting("POLICY_DIFF_SEED", 20_261_130));
    let (mut scripts_run, mut commands_run, mut open, mut bad) = (0, 0, 0, Vec::new());
    for _ in 0..rounds {
        let scripts: Vec<String> = (0..300).map(|_| generator.script()).collect();
        let ran = run(&scratch, &scripts);
        assert_eq!(ran.len(), scripts.len(), "bash did not reach the end");
        for (script, ran) in scripts.iter().zip(&ran) {
            scripts_run += 1;
            commands_run += ran.len();
            let analysis = analyze(script, Dialect::Bash, &Known);
            if is_open(&analysis) {
                open += 1;
                continue;
            }
            for texts in ran {
                if !analysis.commands.iter().any(|command| covers(&command.words, texts)) {
                    let listed: Vec<&Vec<Word>> =
                        analysis.commands.iter().map(|command| &command.words).collect();
                    bad.push(format!("--- {script}\nran {texts:?}\nlisted {listed:?}"));
                }
            }
        }
        if bad.len() > 20 {
            break;
        }
    }
    println!("{scripts_run} scripts, {commands_run} commands, {open} open");
    assert!(bad.is_empty(), "{} not listed\n{}", bad.len(), bad.join("\n"));
    assert!(open * 10 < scripts_run * 6, "{open} of {scripts_run} scripts are open");
}
