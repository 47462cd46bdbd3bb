//! Asks one question and says what became of it; `tests/browser` asks with it.
//!
//! `ask HOME SESSION TOOL ARGUMENTS SECONDS [FILE]`: waits so many seconds; the call would execute FILE. Arguments of `@PATH` are read
//! from there. With `link SECONDS` the path and the code of the address that a client would show are said first.
//!
//! INVARIANT: the last line of output is `approved once`, `approved session`, `granted`, `denied`, `timed out`, `gone` or why not.

use policy_approvals::{Answer, Asked, Question, RunId, Said, Server, Shown, Store, content, place};
use policy_engine::places::Folders;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [home, session, tool, arguments, seconds, files @ ..] = words.as_slice() else {
        return Err("HOME SESSION TOOL ARGUMENTS SECONDS [FILE]".to_owned());
    };
    let (links, seconds) = match seconds.strip_prefix("link ") {
        Some(seconds) => (true, seconds),
        None => (false, seconds.as_str()),
    };
    let timeout = Duration::from_secs(seconds.parse().map_err(|_| "SECONDS is a number")?);
    let read = |path| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let arguments = &arguments.strip_prefix('@').map_or_else(|| Ok(arguments.clone()), read)?;
    let store = Store::open(&Folders::under(Path::new(home)))?;
    let operands = files.iter().map(PathBuf::from).map(|file| {
        let content = content(&file);
        (file, content)
    });
    let command = "git push --force origin main";
    let question = Question {
        host: "claude-code".to_owned(),
        session: session.clone(),
        actor: String::new(),
        server: Some(Server {
            name: "files".to_owned(),
            source: String::new(),
            pin: "3f9a21c07b5e".repeat(5),
        }),
        tool: tool.clone(),
        arguments: arguments.clone(),
        cwd: PathBuf::from("/home/me/work/app"),
        tables: vec![[1; 32]],
        operands: operands.collect(),
        said: said(command, if session == "rules" { 12 } else { 1 }),
        shown: Shown {
            commands: if arguments.contains(command) { vec![command.to_owned()] } else { Vec::new() },
            diff: if tool == "write_file" {
                let lines =
                    (0..25).map(|n| format!("-old line {n}\n+new line {n}, which is a little longer"));
                format!("@@ src/a.txt\n@@ -1,26 +1,26 @@\n line\n{}", lines.collect::<Vec<_>>().join("\n"))
            } else {
                String::new()
            },
            marked: Vec::new(),
        },
        page_only: false,
        run: RunId::of_session("claude-code", session),
        timeout,
    };
    let ticket = match store.ask(&question) {
        Ok(Asked::Waiting(ticket)) => ticket,
        Ok(Asked::Granted(_)) => return say("granted"),
        Err(refused) => return say(&refused.to_string()),
    };
    if links {
        let code = store.new_link(&ticket)?.ok_or("there is no address for it")?;
        say(&format!("/open/{}#{code}", place(&code)))?;
    }
    match store.wait(&ticket, Instant::now() + timeout) {
        Answer::Approved(approval) if store.take(&question) => {
            say(if approval.session { "approved session" } else { "approved once" })
        }
        Answer::Approved(_) => say("no longer what was approved"),
        Answer::Denied { .. } => say("denied"),
        Answer::TimedOut => say("timed out"),
        Answer::Gone => say("gone"),
        Answer::Failed(error) => say(&error),
    }
}

fn said(command: &str, rules: usize) -> Vec<Said> {
    let first = Said {
        decision: "ask".to_owned(),
        rule: "std/git/no-force-push".to_owned(),
        place: "std/git.policy:41".to_owned(),
        reason: "a forced push rewrites what others have".to_owned(),
        suggest: "push to a branch of your own: `git push origin HEAD:fix`".to_owned(),
        matched: command.to_owned(),
    };
    let more = (1..rules).map(|n| Said {
        decision: if n % 3 == 0 { "ask" } else { "allow" }.to_owned(),
        rule: format!("team/repository/rule-{n}"),
        place: format!("agent.policy:{}", 10 * n),
        reason: "what is said of it by this rule".to_owned(),
        ..Said::default()
    });
    std::iter::once(first).chain(more).collect()
}

fn say(text: &str) -> Result<(), String> {
    println!("{text}");
    Ok(())
}
