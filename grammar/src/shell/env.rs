//! What a reader knows of the shell's state at one place of a text: variables, functions, folder.
//!
//! INVARIANT: a value is here only when every way to that place gives one of the values listed; joins only widen.

use super::{Dir, Piece, Word};
use std::collections::{BTreeMap, BTreeSet};

/// Most values of one variable, and most commands that one text stands for.
pub(crate) const MAX_VALUES: usize = 16;
/// Most further folders in which a command may run.
const MAX_DIRS: usize = 3;
/// Longest value that is followed, in bytes; a longer one is not known.
pub(crate) const MAX_VALUE_BYTES: usize = 4096;

/// One possible text of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Val {
    Text(String),
    Tilde(String),
    Glob(String),
    /// The folder in which it was taken, and what stands behind it.
    Folder(Dir, String),
    /// What a program printed that is not known, with its likeliest reading: the place of a program, the folder of the project.
    Printed(String),
}

impl Val {
    /// The value that a word has when it is assigned; `None` when it is not one known text.
    pub(crate) fn of(word: &Word) -> Option<Val> {
        let val = match word {
            Word::Known(text) => Val::Text(text.clone()),
            Word::Tilde(text) => Val::Tilde(text.clone()),
            Word::Glob(text) => Val::Glob(text.clone()),
            Word::Unknown(pieces) => match pieces.as_slice() {
                [Piece::Value { name, unset: Some(text), .. }] if name.is_empty() && !text.is_empty() => {
                    Val::Printed(text.clone())
                }
                _ => return None,
            },
            Word::OneOf(_) => return None,
        };
        Some(val)
    }

    /// The value of a word that begins with the folder in which it is expanded.
    pub(crate) fn folder(word: &Word, env: &Env) -> Option<Val> {
        let Word::Unknown(pieces) = word else { return None };
        let rest = match pieces.as_slice() {
            [Piece::Folder] => "",
            [Piece::Folder, Piece::Text(rest)] => rest,
            _ => return None,
        };
        let certain = env.dir != Dir::Unknown && env.other_dirs.is_empty();
        certain.then(|| Val::Folder(env.dir.clone(), rest.to_string()))
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Val::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// What is known of one variable that the text assigns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Exactly one of these.
    Scalar(Vec<Val>),
    /// An array of known elements.
    Array(Vec<Val>),
    Unknown,
}

impl Value {
    fn join(&self, other: &Value) -> Value {
        match (self, other) {
            (a, b) if a == b => a.clone(),
            (Value::Scalar(a), Value::Scalar(b)) => {
                let mut all = a.clone();
                for val in b {
                    if !all.contains(val) {
                        all.push(val.clone());
                    }
                }
                if all.len() > MAX_VALUES { Value::Unknown } else { Value::Scalar(all) }
            }
            _ => Value::Unknown,
        }
    }
}

/// A function that the text defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Function {
    /// Certainly defined here.
    pub(crate) certain: bool,
    /// It may change the folder.
    pub(crate) moves: bool,
}

/// Most variables and functions that are followed in one text.
const MAX_NAMES: usize = 256;

/// The state at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Env {
    pub(crate) vars: BTreeMap<String, Value>,
    /// Variables that something may change behind our back (a function that assigns them).
    pub(crate) volatile: BTreeSet<String>,
    /// Any variable may have been changed (`eval`, `source`).
    pub(crate) all_volatile: bool,
    pub(crate) functions: BTreeMap<String, Function>,
    pub(crate) aliases: BTreeMap<String, Option<String>>,
    pub(crate) dir: Dir,
    /// Other folders in which it may be: a `cd` may fail, a branch may not be taken.
    pub(crate) other_dirs: Vec<Dir>,
    /// Where `cd -` leads.
    pub(crate) last_dir: Dir,
    /// Folders that `popd` leads back to, and whether that is all known.
    pub(crate) pushed: Vec<Dir>,
    pub(crate) pushed_known: bool,
    /// The folders when the last command failed, where they differ (`cd`).
    pub(crate) failed_dir: Option<(Dir, Vec<Dir>)>,
    /// A variable that changes what runs was set (`PATH`).
    pub(crate) risky: bool,
    /// The positional parameters, when known.
    pub(crate) args: Option<Vec<Word>>,
    /// `set -e` is on.
    pub(crate) errexit: bool,
    /// Words are not split at blanks alone (`IFS` was set).
    pub(crate) ifs: bool,
    /// Standard input was replaced for good (`exec < FILE`).
    pub(crate) input: bool,
    /// Variables that something looked at, so that they are not taken for empty.
    pub(crate) seen: BTreeSet<String>,
    /// `set -u` is on.
    pub(crate) nounset: bool,
    /// In a function, where `local` works.
    pub(crate) in_function: bool,
    /// In the text of the call itself, outside of functions: the positional parameters are empty.
    pub(crate) outermost: bool,
    /// The PowerShell session that a text is read in, when it is not a new one.
    pub(crate) session: Option<Box<super::pwsh::State>>,
}

impl Env {
    /// A shell that has just started in a folder.
    pub(crate) fn new(dir: Dir) -> Env {
        Env {
            vars: BTreeMap::new(),
            volatile: BTreeSet::new(),
            all_volatile: false,
            functions: BTreeMap::new(),
            aliases: BTreeMap::new(),
            dir,
            other_dirs: Vec::new(),
            last_dir: Dir::Unknown,
            pushed: Vec::new(),
            pushed_known: true,
            failed_dir: None,
            risky: false,
            args: None,
            errexit: false,
            ifs: false,
            input: false,
            outermost: false,
            in_function: false,
            seen: BTreeSet::new(),
            nounset: false,
            session: None,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.vars.get(name)
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let long = |val: &Val| matches!(val, Val::Text(t) | Val::Tilde(t) | Val::Glob(t) | Val::Folder(_, t) | Val::Printed(t) if t.len() > MAX_VALUE_BYTES);
        let value = match value {
            Value::Scalar(vals) if vals.iter().any(long) || vals.is_empty() => Value::Unknown,
            other => other,
        };
        let hidden = self.all_volatile || self.volatile.contains(name);
        if self.vars.len() < MAX_NAMES || self.vars.contains_key(name) {
            self.vars.insert(name.to_string(), if hidden { Value::Unknown } else { value });
        }
        self.risky |= is_risky(name);
        self.ifs |= name == "IFS";
    }

    /// A variable is taken away: as if nothing had ever set it.
    pub(crate) fn unset(&mut self, name: &str) {
        self.forget(name);
        let hidden = self.all_volatile || self.volatile.contains(name) || is_risky(name);
        if !hidden && name != "HOME" {
            self.vars.remove(name);
            self.seen.remove(name);
        }
    }

    /// Nothing is known of a variable from here on, though later assignments count again.
    pub(crate) fn forget(&mut self, name: &str) {
        self.set(name, Value::Unknown);
    }

    /// Nothing is known of a variable from here on, whatever assigns it.
    pub(crate) fn forget_for_good(&mut self, name: &str) {
        self.forget(name);
        if self.volatile.len() < MAX_NAMES {
            self.volatile.insert(name.to_string());
        } else {
            self.all_volatile = true;
        }
    }

    /// Defines a function; `false` when there are too many to follow.
    pub(crate) fn define(&mut self, name: &str, function: Function) -> bool {
        if self.functions.len() >= MAX_NAMES && !self.functions.contains_key(name) {
            return false;
        }
        self.functions.insert(name.to_string(), function);
        true
    }

    /// Nothing is known of any variable, function or folder any more.
    pub(crate) fn forget_all(&mut self) {
        for value in self.vars.values_mut() {
            *value = Value::Unknown;
        }
        for function in self.functions.values_mut() {
            function.certain = false;
        }
        self.all_volatile = true;
        self.ifs = true;
        self.args = None;
        self.outermost = false;
    }

    /// Widens to what holds after either of two ways.
    pub(crate) fn join(&mut self, other: &Env) {
        let names: BTreeSet<String> = self.vars.keys().chain(other.vars.keys()).cloned().collect();
        for name in names {
            let value = match (self.vars.get(&name), other.vars.get(&name)) {
                (Some(a), Some(b)) => a.join(b),
                _ => Value::Unknown,
            };
            self.vars.insert(name, value);
        }
        for (name, function) in &mut self.functions {
            let theirs = other.functions.get(name);
            function.certain &= theirs.is_some_and(|f| f.certain);
            function.moves |= theirs.is_some_and(|f| f.moves);
        }
        for (name, theirs) in &other.functions {
            self.functions.entry(name.clone()).or_insert(Function { certain: false, moves: theirs.moves });
        }
        for (name, text) in &other.aliases {
            self.aliases.entry(name.clone()).or_insert_with(|| text.clone());
        }
        self.volatile.extend(other.volatile.iter().cloned());
        self.all_volatile |= other.all_volatile;
        self.join_dirs(other);
        if self.last_dir != other.last_dir {
            self.last_dir = Dir::Unknown;
        }
        self.pushed_known &= other.pushed_known && self.pushed == other.pushed;
        self.failed_dir = None;
        self.risky |= other.risky;
        if self.args != other.args {
            self.args = None;
        }
        self.errexit &= other.errexit;
        self.ifs |= other.ifs;
        self.input |= other.input;
        self.outermost &= other.outermost;
        self.seen.extend(other.seen.iter().cloned());
        self.nounset |= other.nounset;
    }

    /// The folder may be any.
    pub(crate) fn lose_dir(&mut self) {
        self.dir = Dir::Unknown;
        self.other_dirs.clear();
    }

    fn join_dirs(&mut self, other: &Env) {
        for dir in std::iter::once(&other.dir).chain(&other.other_dirs) {
            if *dir != self.dir && !self.other_dirs.contains(dir) {
                self.other_dirs.push(dir.clone());
            }
        }
        let unknown = self.dir == Dir::Unknown || self.other_dirs.contains(&Dir::Unknown);
        if unknown || self.other_dirs.len() > MAX_DIRS {
            self.lose_dir();
        }
    }

    /// The variables whose value differs between two states.
    pub(crate) fn changed(&self, before: &Env) -> Vec<String> {
        let names: BTreeSet<&String> = self.vars.keys().chain(before.vars.keys()).collect();
        names.into_iter().filter(|n| self.vars.get(*n) != before.vars.get(*n)).cloned().collect()
    }
}

/// Longest folder that is made of several steps, bytes.
const MAX_DIR: usize = 2048;

/// The folder after `cd target` from `from`.
pub(crate) fn enter_dir(from: &Dir, target: &Word) -> Dir {
    let text = match target {
        Word::Known(text) if text.starts_with('~') => format!("./{text}"),
        Word::Known(text) | Word::Tilde(text) => text.clone(),
        _ => return Dir::Unknown,
    };
    if text.is_empty() || text == "-" {
        return Dir::Unknown;
    }
    let home = matches!(target, Word::Tilde(_));
    match from {
        _ if home || text.starts_with('/') => Dir::Changed(text),
        Dir::Call => Dir::Changed(text),
        // Every command behind it has it as its folder, so it does not grow with the text.
        Dir::Changed(base) if base.len() + text.len() > MAX_DIR => Dir::Unknown,
        Dir::Changed(base) => Dir::Changed(format!("{}/{text}", base.trim_end_matches('/'))),
        Dir::Unknown => Dir::Unknown,
    }
}

/// Variables whose value is code, a program or a place from which programs take code.
const RISKY: &[&str] = &[
    "PATH",
    "BASH_ENV",
    "BASH_CMDS",
    "BASH_ALIASES",
    "BASH_LOADABLES_PATH",
    "EXECIGNORE",
    "FCEDIT",
    "LESS",
    "LESSKEY",
    "LESSKEYIN",
    "MORE",
    "MANOPT",
    "AWKPATH",
    "AWKLIBPATH",
    "INPUTRC",
    "RIPGREP_CONFIG_PATH",
    "MAKEFILES",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "COMPOSE_FILE",
    "GH_HOST",
    "ENV",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "IFS",
    "SHELLOPTS",
    "BASHOPTS",
    "CDPATH",
    "SHELL",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "NODE_OPTIONS",
    "NODE_PATH",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "VISUAL",
    "LESSOPEN",
    "LESSCLOSE",
    "TAR_OPTIONS",
    "MAKEFLAGS",
    "MFLAGS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "CC",
    "CXX",
    "LD",
    "AR",
    "GCONV_PATH",
    "npm_config_script_shell",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "DOCKER_HOST",
    "KUBECONFIG",
    "http_proxy",
    "https_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HOME",
    "XDG_CONFIG_HOME",
    "FPATH",
    "ZDOTDIR",
    "RSYNC_RSH",
    "CVS_RSH",
    "SUDO_ASKPASS",
    "SSH_ASKPASS",
    "TCLLIBPATH",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "GOFLAGS",
    "GOROOT",
    "GOENV",
    "GOTOOLCHAIN",
    "GOPATH",
    "CLASSPATH",
    "MAVEN_OPTS",
    "GEM_PATH",
    "GEM_HOME",
];
const RISKY_STARTS: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "npm_config_",
    "NPM_CONFIG_",
    "PIP_",
    "BASH_FUNC_",
    "CARGO_",
    "UV_",
    "LUA_INIT_",
    "RUSTUP_",
    "COREPACK_",
    "YARN_",
    "BUNDLE_",
];
/// Programs named in variables of many tools: `GH_PAGER`, `KUBE_EDITOR`.
const RISKY_ENDS: &[&str] = &["PAGER", "EDITOR", "BROWSER", "ASKPASS"];
/// Variables that begin like the ones above and only shape output.
const HARMLESS: &[&str] = &[
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_TERMINAL_PROMPT",
    "GIT_MERGE_AUTOEDIT",
    "GIT_TRACE",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "CARGO_TARGET_DIR",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_INPUT",
    "LD_BIND_NOW",
];

/// Whether a variable changes what a known program runs.
pub(crate) fn is_risky(name: &str) -> bool {
    RISKY.contains(&name)
        || RISKY_ENDS.iter().any(|end| name.ends_with(end))
        || RISKY_STARTS.iter().any(|s| name.starts_with(s)) && !HARMLESS.contains(&name)
}
