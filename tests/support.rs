//! What several topics share: files of the project, snapshots, a machine of its own for each test.
//!
//! INVARIANT: a test that starts the binary gives it a home, a project and folders that nothing else uses.

use miette::{GraphicalReportHandler, GraphicalTheme};
use policy_grammar::diagnostic::Diagnostic;
use policy_grammar::source::SourceMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The root of the checkout.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Name and text of the files of a folder that end in this, sorted by name.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let folder = root().join(folder);
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{} has no {ending}", folder.display());
    names
        .into_iter()
        .map(|name| {
            let text = std::fs::read_to_string(folder.join(&name)).unwrap();
            (name, text)
        })
        .collect()
}

/// Compares a text with `snapshots/<topic>@<name>.snap`.
pub(crate) fn snapshot(topic: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("{topic}@{name}"), text));
}

/// One diagnostic as a terminal shows it, without colors.
pub(crate) fn drawn(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(90);
    let mut out = String::new();
    handler.render_report(&mut out, &diagnostic.report(sources)).unwrap();
    out.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A machine of its own: a home, a project with `.git`, room for files.
pub(crate) struct World(PathBuf);

impl World {
    /// An empty one.
    pub(crate) fn new(name: &str) -> World {
        let root = std::env::temp_dir().join(format!("policy-main-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(root.join("home")).unwrap();
        std::fs::create_dir_all(root.join("repo/.git")).unwrap();
        World(std::fs::canonicalize(root).unwrap())
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A path in it, as a word of a command line.
    pub(crate) fn word(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes a file with its folders.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The binary, not started: in the project, with this world's home.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let (name, rest) = words.split_first().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_policy"));
        command.args([name, "--home", &self.word("home")]).args(rest).current_dir(self.path("repo"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command of the binary with these words alone.
    pub(crate) fn bare(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_policy"));
        command.args(words).current_dir(self.path("repo")).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Runs a command of the binary with this input.
    pub(crate) fn run(&self, words: &[&str], input: &[u8]) -> Output {
        feed(&mut self.command(words), input)
    }

    /// Replaces the places of this machine by names that are the same everywhere.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(&self.0.display().to_string(), "/world")
            .replace(&root().display().to_string(), "/checkout")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Starts a command, gives it its input and waits; a reader that closes early is no fault of ours.
pub(crate) fn feed(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// A generator of numbers with a fixed seed (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// One of these.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// How often a test repeats itself: this often, or `POLICY_ROUNDS` times as often in a long run.
pub(crate) fn rounds(ordinary: usize) -> usize {
    let times = std::env::var("POLICY_ROUNDS").ok().and_then(|times| times.parse::<usize>().ok());
    ordinary * times.unwrap_or(1).max(1)
}
