//! Names of tools: every way a name splits into server and tool, and what kind of tool it is.
//!
//! INVARIANT: all readings of a name are given, because the strictest holds; there is always at least one.

use crate::call::Call;
use policy_grammar::shell::Dialect;
use policy_runtime::facts::{Access, Facts, ToolName};

/// Most readings of one name; a name with more is not understood.
const MAX_READINGS: usize = 32;
/// Longest name of a tool or server, bytes.
const MAX_NAME_BYTES: usize = 512;

/// Every way the name of a call splits, and why it is not understood, when it is not.
pub(crate) fn readings(call: &Call) -> (Vec<ToolName>, Option<&'static str>) {
    let tool = call.tool.to_lowercase();
    let server = call.server.as_deref().unwrap_or_default().to_lowercase();
    if tool.len() > MAX_NAME_BYTES || server.len() > MAX_NAME_BYTES {
        let name = ToolName { server: short(&server), tool: short(&tool), own: false };
        return (vec![name], Some("the name of the tool is too long"));
    }
    let why = if tool.contains('\0') || server.contains('\0') {
        Some("the name of the tool has a NUL in it")
    } else {
        None
    };
    let mut splits = match (tool.strip_prefix("mcp__"), tool.strip_prefix("mcp_")) {
        (Some(rest), _) => split(rest, "__"),
        (None, Some(rest)) => split(rest, "_"),
        (None, None) => Vec::new(),
    };
    if !server.is_empty() {
        // The host says which split is the right one; it writes the server's name in its own letters there.
        let written = as_written(&server);
        let position = splits.iter().position(|name| name.server == server || name.server == written);
        let whole = match position {
            Some(at) => {
                let known = splits.remove(at);
                if known.server != server {
                    splits.insert(0, known.clone());
                }
                known.tool
            }
            None => tool.clone(),
        };
        splits.insert(0, ToolName { server, tool: whole, own: call.wrapped });
    }
    if splits.is_empty() {
        splits.push(ToolName { server: String::new(), tool, own: false });
    }
    if splits.len() > MAX_READINGS {
        splits.truncate(MAX_READINGS);
        return (splits, Some("the name of the tool has too many readings"));
    }
    (splits, why)
}

fn split(rest: &str, by: &str) -> Vec<ToolName> {
    let mut names = Vec::new();
    for (at, _) in rest.char_indices() {
        let Some((server, tool)) = rest.split_at_checked(at) else { continue };
        if let Some(tool) = tool.strip_prefix(by)
            && !server.is_empty()
            && !tool.is_empty()
        {
            names.push(ToolName { server: server.to_owned(), tool: tool.to_owned(), own: false });
        }
    }
    names
}

/// How hosts write a server's name inside a tool's name.
fn as_written(server: &str) -> String {
    server.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' }).collect()
}

fn short(text: &str) -> String {
    text.chars().take(64).collect()
}

/// What is assumed of a tool by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Its strings are commands.
    pub(crate) shell: bool,
    /// A shell, so that arguments joined with blanks are read again.
    pub(crate) joins: bool,
    /// The shell it runs.
    pub(crate) dialect: Dialect,
    /// Its name says several shells that read the same text in different ways.
    pub(crate) mixed: bool,
    /// Its commands are in a language that is not read.
    pub(crate) foreign: Option<&'static str>,
    /// It applies an `apply_patch` envelope.
    pub(crate) patch: bool,
    /// It fetches what its arguments name.
    pub(crate) fetch: bool,
    /// `pattern` holds names of files.
    pub(crate) glob: bool,
    /// It searches in files.
    pub(crate) grep: bool,
    /// Without a path it looks at the call's folder.
    pub(crate) here: bool,
    /// What it does with its paths.
    pub(crate) access: Access,
}

/// Classifies a tool by all names it may have.
pub(crate) fn kind(spelled: &str, readings: &[ToolName]) -> Kind {
    let mut words = words(spelled);
    let names: Vec<&str> = readings.iter().map(|name| name.tool.as_str()).collect();
    for name in &names {
        words.extend(self::words(name));
    }
    let squeezed: Vec<String> = names.iter().map(|name| squeeze(name)).collect();
    let word = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let exact = |list: &[&str]| squeezed.iter().any(|name| list.contains(&name.as_str()));
    let inside = |list: &[&str]| squeezed.iter().any(|name| list.iter().any(|part| name.contains(part)));

    let bash = inside(&["bash"]);
    let foreign = exact(&["fish", "csh", "tcsh", "nushell"]).then_some("this shell's language is not read");
    let powershell = inside(&["powershell", "pwsh"]);
    let cmd = exact(&["cmd", "cmdexe", "commandprompt", "runcmd", "execcmd", "executecmd", "windowscmd"]);
    let dialect = match () {
        () if powershell && (bash || cmd) => Dialect::Unknown,
        () if powershell => Dialect::PowerShell,
        () if cmd => Dialect::Cmd,
        () if bash && !inside(&["shell", "terminal"]) => Dialect::Bash,
        () => Dialect::Unknown,
    };
    let joins = bash
        || foreign.is_some()
        || powershell
        || cmd
        || word(&["sh", "shell", "zsh", "fish", "ksh", "dash", "terminal", "console", "cmd"])
        || inside(&["shell", "terminal"]);
    let shell = joins
        || exact(&["exec", "execute", "run", "monitor", "spawn", "system"])
        || word(&["exec", "command", "commands", "script", "scripts", "subprocess"])
        || inside(&[
            "runcommand",
            "execcommand",
            "executecommand",
            "runscript",
            "runprocess",
            "startprocess",
        ]);
    Kind {
        shell,
        joins,
        dialect,
        mixed: powershell && (bash || cmd) || bash && cmd,
        foreign,
        patch: exact(&["applypatch"]),
        fetch: word(&[
            "fetch", "http", "https", "request", "curl", "wget", "url", "browser", "navigate", "download",
            "web", "crawl", "scrape",
        ]) || inside(&["fetch", "http"]),
        glob: exact(&["glob", "findfiles", "filesearch", "findpath", "findfile", "searchfiles", "listfiles"]),
        grep: exact(&["grep", "ripgrep", "greptool", "searchfilecontent", "grepsearch"]),
        here: exact(&["glob", "grep", "ls"]),
        access: access(&exact),
    }
}

fn access(exact: &dyn Fn(&[&str]) -> bool) -> Access {
    const READ: [&str; 28] = [
        "read",
        "readfile",
        "readtextfile",
        "readmediafile",
        "readmultiplefiles",
        "readmanyfiles",
        "view",
        "viewfile",
        "cat",
        "grep",
        "grepsearch",
        "glob",
        "ls",
        "listdirectory",
        "listdir",
        "listfiles",
        "listdirectorywithsizes",
        "directorytree",
        "getfileinfo",
        "getfilecontents",
        "searchfiles",
        "searchfilecontent",
        "filesearch",
        "findpath",
        "notebookread",
        "fsread",
        "openfile",
        "readnotebook",
    ];
    const WRITE: [&str; 34] = [
        "write",
        "writefile",
        "edit",
        "editfile",
        "editfiles",
        "multiedit",
        "notebookedit",
        "create",
        "createfile",
        "createdirectory",
        "strreplace",
        "strreplaceeditor",
        "strreplacebasededittool",
        "replace",
        "replaceinfile",
        "replacestringinfile",
        "writetofile",
        "writetextfile",
        "applypatch",
        "applydiff",
        "delete",
        "deletefile",
        "removefile",
        "movefile",
        "renamefile",
        "copyfile",
        "insert",
        "insertedit",
        "inserteditintofile",
        "fswrite",
        "editor",
        "savefile",
        "appendfile",
        "mkdir",
    ];
    if exact(&WRITE) {
        Access::WRITE
    } else if exact(&READ) {
        Access::READ
    } else {
        Access::UNSURE
    }
}

/// Whether the call is to one of the shells that hosts have themselves, which do nothing but run a command.
pub(crate) fn needs_command(facts: &Facts) -> bool {
    const SHELLS: [&str; 6] =
        ["bash", "shell", "powershell", "runshellcommand", "localshell", "runterminalcmd"];
    let shell = |name: &ToolName| name.server.is_empty() && SHELLS.contains(&squeeze(&name.tool).as_str());
    facts.readings.iter().any(shell)
}

/// The words of a name in lower case: `runInTerminal`, `run_in_terminal` and `run-in-terminal` alike.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut lower_before = false;
    for c in name.chars() {
        let ends = !c.is_alphanumeric() || c.is_uppercase() && lower_before;
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase() || c.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Letters and digits of a name in lower case.
pub(crate) fn squeeze(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tool: &str, server: Option<&str>) -> Vec<(String, String)> {
        let call = Call { tool: tool.to_owned(), server: server.map(str::to_owned), ..Call::default() };
        readings(&call).0.into_iter().map(|name| (name.server, name.tool)).collect()
    }

    #[test]
    fn names_split_in_every_way() {
        type Case<'c> = (&'c str, Option<&'c str>, &'c [(&'c str, &'c str)]);
        let cases: [Case<'_>; 17] = [
            ("Bash", None, &[("", "bash")]),
            ("mcp__GitHub__create_issue", None, &[("github", "create_issue")]),
            ("mcp__a__b__c", None, &[("a", "b__c"), ("a__b", "c")]),
            ("mcp__a___b", None, &[("a", "_b"), ("a_", "b")]),
            ("mcp_github_x", None, &[("github", "x")]),
            ("mcp_github_create_issue", None, &[("github", "create_issue"), ("github_create", "issue")]),
            ("mcp_x", None, &[("", "mcp_x")]),
            ("mcp__x", None, &[("", "mcp__x")]),
            ("mcp__", None, &[("", "mcp__")]),
            ("mcp____", None, &[("", "mcp____")]),
            ("read_file", Some("FS"), &[("fs", "read_file")]),
            ("mcp__demo__echo", Some("demo"), &[("demo", "echo")]),
            ("mcp__a__b__c", Some("a"), &[("a", "b__c"), ("a__b", "c")]),
            ("mcp__a__b__c", Some("a__b"), &[("a__b", "c"), ("a", "b__c")]),
            ("mcp__github__x", Some("fs"), &[("fs", "mcp__github__x"), ("github", "x")]),
            (
                "mcp__claude_ai_Foo__x",
                Some("claude.ai Foo"),
                &[("claude.ai foo", "x"), ("claude_ai_foo", "x")],
            ),
            ("", None, &[("", "")]),
        ];
        for (tool, server, want) in cases {
            let want: Vec<(String, String)> =
                want.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            assert_eq!(read(tool, server), want, "{tool} {server:?}");
        }
        let call = Call { tool: format!("mcp{}", "_a".repeat(200)), ..Call::default() };
        assert!(readings(&call).1.is_some());
    }

    #[test]
    fn shells_are_known_by_name() {
        let kind = |tool: &str| {
            kind(tool, &[ToolName { server: String::new(), tool: tool.to_lowercase(), own: false }])
        };
        for tool in [
            "Bash",
            "bash",
            "sh",
            "zsh",
            "shell",
            "PowerShell",
            "pwsh",
            "cmd",
            "execute_command",
            "run_command",
            "run_commands",
            "run_shell_command",
            "run_in_terminal",
            "runInTerminal",
            "terminal",
            "exec",
            "Execute",
            "Monitor",
            "execute_bash",
            "run_terminal_command",
            "local_shell",
            "runTerminalCmd",
            "Shell",
            "start_process",
            "run_script",
            "ssh_exec",
        ] {
            assert!(kind(tool).shell, "{tool}");
        }
        for tool in [
            "Read",
            "read_file",
            "publish",
            "finish",
            "dashboard",
            "query",
            "echo",
            "git_status",
            "fetch",
            "push_files",
        ] {
            assert!(!kind(tool).shell, "{tool}");
        }
        assert_eq!(kind("Bash").dialect, Dialect::Bash);
        assert_eq!(kind("run_shell_command").dialect, Dialect::Unknown);
        assert_eq!(kind("PowerShell").dialect, Dialect::PowerShell);
        assert_eq!((kind("pwsh").dialect, kind("cmd").dialect), (Dialect::PowerShell, Dialect::Cmd));
        assert!(kind("fish").foreign.is_some());
        assert!(kind("WebFetch").fetch && kind("http_request").fetch && !kind("Read").fetch);
        assert_eq!((kind("Read").access, kind("Write").access), (Access::READ, Access::WRITE));
        assert_eq!(kind("apply_patch").access, Access::WRITE);
    }
}
