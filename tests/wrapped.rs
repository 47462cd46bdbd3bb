//! What the tests of `policy wrap` share: the proxy as a process, calls, lines of audit, questions.
//!
//! INVARIANT: nothing here judges; a wait that takes too long is a failure of its own.

use crate::support::World;
use policy_approvals::{Open, Store};
use policy_engine::places::Folders;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// What most tests of it begin with.
pub(crate) const POLICY: &str = "policy \"p\" language 1

default allow

guard deletes on \"delete*\" {
  because \"deleting is done by people\"
  suggest \"ask for it in a comment\"
  deny
}

guard secrets {
  deny path \"**/.env\"
  deny domain \"evil.example\"
}

guard shells on execute_command {
  deny run `git push --force`
}

guard questions on \"ask*\" {
  ask
}

guard memos on read_resource {
  ask arg uri \"memo://held*\"
}

guard hasty on hasty {
  ask timeout 1s
  ask
}

guard pages on money {
  ask via page
  ask
}

guard sampling on sampling {
  deny
}
";

/// The proxy as a process.
pub(crate) struct Wrapped {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: BufReader<ChildStdout>,
}

impl Wrapped {
    /// In front of a server, under [`POLICY`].
    pub(crate) fn new(world: &World, options: &[&str], server: &[&str]) -> Wrapped {
        Wrapped::policy(world);
        Wrapped::over(world, options, server)
    }

    /// Writes [`POLICY`].
    pub(crate) fn policy(world: &World) {
        world.file("p.policy", POLICY);
    }

    /// In front of a server, under the policy that is there.
    pub(crate) fn over(world: &World, options: &[&str], server: &[&str]) -> Wrapped {
        Wrapped::start(&mut Wrapped::command(world, options, server))
    }

    /// Not started.
    pub(crate) fn command(world: &World, options: &[&str], server: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_policy"));
        let policy = world.word("p.policy");
        command.args(["--home", &world.word("home"), "wrap", "--policy", &policy, "--name", "s"]);
        command.args(options).arg("--").args(server).current_dir(world.path("repo"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Started.
    pub(crate) fn start(command: &mut Command) -> Wrapped {
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Wrapped { child, stdin, stdout }
    }

    /// Sends a line.
    pub(crate) fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    /// The next line.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    /// The next message.
    pub(crate) fn value(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// What comes back for a line, where something does.
    pub(crate) fn ask(&mut self, line: &str) -> Value {
        self.send(line);
        self.value()
    }

    /// Ends the input: exit code, the rest of both outputs.
    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        drop(self.stdin.take());
        let (mut out, mut err) = (String::new(), String::new());
        self.stdout.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code(), out, err)
    }
}

/// A call of a tool.
pub(crate) fn call(id: u64, tool: &str, arguments: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}).to_string()
}

/// The lines of audit.
pub(crate) fn audit(world: &World) -> Vec<Value> {
    let text =
        std::fs::read_to_string(world.path("home/.local/state/policy/audit.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The questions that wait, once there are this many.
pub(crate) fn questions(world: &World, count: usize) -> (Store, Vec<Open>) {
    let store = Store::open(&Folders::under(&world.path("home"))).unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let open = store.open_questions().unwrap();
        if open.len() == count {
            return (store, open);
        }
        let tools = open.iter().map(|open| (&open.question.tool, &open.question.arguments));
        assert!(Instant::now() < end, "{count} wanted: {:?}", tools.collect::<Vec<_>>());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until it is so.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
