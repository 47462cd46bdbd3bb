//! The wrapped server as a process.
//!
//! INVARIANT: it and what it starts end with us, however we end; its exit code is ours.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

/// The word of the command line that makes this program a guard.
const GUARD: &str = "wrap-guard";
/// Variables of ours that the server does not get.
const OURS: &str = "POLICY_";
/// How long a group has to end by itself.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// A server that runs.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// The leader of its group.
    pub(crate) leader: u32,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    /// Kills the group when we end without saying so.
    pub(crate) guard: Option<Child>,
}

/// Starts the server. Called by the thread that lives as long as the process.
pub(crate) fn start(words: &[String]) -> Result<Server, String> {
    let (program, arguments) = words.split_first().ok_or("no command is given behind `--`")?;
    let mut command = command(program, arguments)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with(OURS)) {
            command.env_remove(name);
        }
    }
    // ORDER: the guard first, so that there is no moment at which nobody watches.
    let guard =
        start_guard().map_err(|error| super::complain(&format!("no guard watches the server: {error}"))).ok();
    policy_os::tie(&mut command, guard.as_ref().map(Child::id));
    let mut child =
        command.spawn().map_err(|error| format!("the server `{program}` cannot be started: {error}"))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
        return Err("the server has no streams".to_owned());
    };
    let leader = guard.as_ref().map_or(child.id(), Child::id);
    Ok(Server { child, leader, stdin, stdout, guard })
}

#[cfg(not(windows))]
fn command(program: &str, arguments: &[String]) -> Result<Command, String> {
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

/// Batch files (`npx.cmd`) are started by the shell of Windows, with every argument quoted.
#[cfg(windows)]
fn command(program: &str, arguments: &[String]) -> Result<Command, String> {
    use super::launcher;
    use std::os::windows::process::CommandExt;
    let Some(file) = launcher::batch_file(program, std::env::var_os("PATH")) else {
        let mut command = Command::new(program);
        command.args(arguments);
        return Ok(command);
    };
    let line = launcher::command_line(&file.to_string_lossy(), arguments)?;
    // SECURITY: by its place: a `cmd.exe` of the current folder is not run.
    let root = std::env::var_os("SystemRoot").unwrap_or_else(|| "C:\\Windows".into());
    let mut command = Command::new(std::path::Path::new(&root).join("System32").join("cmd.exe"));
    command.raw_arg(line);
    Ok(command)
}

/// A process that leads the server's group, sees us end and then ends the group: a killed process closes nothing in good order.
fn start_guard() -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(GUARD).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    command.spawn()
}

/// What the guard does: waits for the end of its input, or for the word that all is well.
pub fn watch() {
    // It is of the group that it ends: the gentle signal must not end it first.
    let told = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let kept = signal_hook::flag::register(signal_hook::consts::SIGTERM, told);
    let mut word = [0];
    let said = loop {
        match io::Read::read(&mut io::stdin(), &mut word) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) => break count > 0,
            Err(_) => break false,
        }
    };
    if !said {
        let leader = std::process::id();
        if kept.is_ok() {
            end_group(leader);
        }
        policy_os::kill_group(leader, false);
    }
}

/// Ends a group: gently, then not.
pub(crate) fn end_group(leader: u32) {
    if policy_os::kill_group(leader, true) {
        std::thread::sleep(PATIENCE);
        policy_os::kill_group(leader, false);
    }
}

/// Lets the guard go.
pub(crate) fn dismiss(guard: &mut Option<Child>) {
    if let Some(mut guard) = guard.take() {
        if let Some(mut stdin) = guard.stdin.take() {
            let _ = stdin.write_all(b"w");
        }
        let _ = guard.wait();
    }
}

/// The exit code that stands for the server's end.
pub(crate) fn code(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return 128 + signal;
        }
    }
    status.code().unwrap_or(1)
}
