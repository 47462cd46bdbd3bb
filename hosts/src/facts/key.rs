//! Keys of arguments: what a value is by the name it stands under.
//!
//! INVARIANT: a key that is not known says nothing, and its value is then judged by its looks.

use super::tool::{self, squeeze, words};

/// Longest key that is looked at, bytes.
pub(super) const MAX_NAME: usize = 1024;

/// What a value is by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A path.
    Path,
    /// A pattern of paths.
    Glob,
    /// The folder of the call or of the command beside it.
    Folder,
    /// A URL.
    Url,
    /// A host.
    Host,
    /// A command, or its words.
    Command,
    /// A list of commands.
    Commands,
    /// Words of a command.
    Words,
    /// Text that is only data.
    Data,
    /// A text for people, or a number or name that runs nothing.
    Note,
    /// Variables for a command.
    Variables,
    /// A patch: the files in it are the call's.
    Patch,
    /// Not known: judged by its looks.
    Other,
}

/// What a value is by its key and by the key above it.
pub(super) fn kind_of(tool: &tool::Kind, key: &str, above: Kind) -> Kind {
    if key.len() > MAX_NAME {
        return Kind::Other;
    }
    if above == Kind::Variables {
        return Kind::Variables;
    }
    let kind = by_key(tool, key);
    match (kind, above) {
        // `paths: {from: "a"}`: the key above says what it is. What is inside data is judged anew.
        (Kind::Other, Kind::Data | Kind::Note | Kind::Folder) => Kind::Other,
        (Kind::Other, above) => above,
        (kind, _) => kind,
    }
}

fn by_key(tool: &tool::Kind, key: &str) -> Kind {
    let squeezed = squeeze(key);
    let name = squeezed.trim_end_matches(|c: char| c.is_ascii_digit());
    let words = words(key);
    let last = words
        .iter()
        .rev()
        .find(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or("", String::as_str);
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let is = |list: &[&str]| list.contains(&name);
    let ends = |list: &[&str]| list.contains(&last);

    if is(&["cwd", "workdir", "workingdir", "workingdirectory", "currentdirectory", "currentdir", "basedir"])
    {
        return Kind::Folder;
    }
    if tool.patch && is(&["command", "input", "patch", "patchtext", "patchcontent", "diff"]) {
        return Kind::Patch;
    }
    if tool.shell {
        const NOTES: [&str; 24] = [
            "description",
            "explanation",
            "goal",
            "justification",
            "reason",
            "title",
            "summary",
            "timeout",
            "timeoutms",
            "timeoutseconds",
            "timeoutsec",
            "yieldtimems",
            "signal",
            "encoding",
            "mode",
            "shell",
            "sandbox",
            "sandboxpermissions",
            "isbackground",
            "runinbackground",
            "background",
            "login",
            "tty",
            "requiresapproval",
        ];
        if is(&NOTES) || ends(&["id", "ids", "ms", "seconds", "timeout"]) {
            return Kind::Note;
        }
        if is(&["dir", "directory", "dirpath", "folder", "root", "path", "projectpath", "workspace"]) {
            return Kind::Folder;
        }
    }
    if is(&["env", "environment", "envvars", "environmentvariables"]) {
        return Kind::Variables;
    }
    if tool.glob && is(&["pattern", "patterns", "query"])
        || is(&["include", "includes", "includepattern", "fileglob"])
        || ends(&["glob", "globs"])
    {
        return Kind::Glob;
    }
    if is(&["command", "cmd", "commandline", "shellcommand", "script", "bashcommand", "cmdline"])
        || ends(&["command", "cmd", "script"])
    {
        return Kind::Command;
    }
    if is(&["commands", "cmds", "scripts"]) || ends(&["commands", "cmds", "scripts"]) {
        return Kind::Commands;
    }
    if is(&["args", "argv", "arguments", "cmdargs", "commandargs"]) {
        return Kind::Words;
    }
    const URLS: [&str; 14] = [
        "url",
        "urls",
        "uri",
        "uris",
        "href",
        "hrefs",
        "endpoint",
        "endpoints",
        "link",
        "links",
        "baseurl",
        "webhook",
        "callback",
        "origin",
    ];
    if is(&URLS) || ends(&["url", "urls", "uri", "uris", "href", "endpoint", "webhook"]) {
        return Kind::Url;
    }
    if is(&["blockeddomains", "excludedomains", "excludeddomains", "denieddomains"]) {
        return Kind::Note;
    }
    if is(&["host", "hosts", "hostname", "hostnames", "domain", "domains", "fqdn"])
        || ends(&["host", "hosts", "hostname", "domain", "domains"])
    {
        return Kind::Host;
    }
    if is(&["mimetype", "contenttype", "mediatype", "timezone", "model", "modelid", "accept"]) {
        return Kind::Note;
    }
    if tool.fetch && is(&["prompt", "description", "title", "summary", "instructions", "question"]) {
        // What is asked about a page is not fetched.
        return Kind::Note;
    }
    const DATA: [&str; 42] = [
        "content",
        "contents",
        "newstring",
        "oldstring",
        "newstr",
        "oldstr",
        "newsource",
        "oldsource",
        "text",
        "newtext",
        "oldtext",
        "filetext",
        "body",
        "description",
        "prompt",
        "message",
        "messages",
        "pattern",
        "patterns",
        "regex",
        "regexp",
        "query",
        "queries",
        "title",
        "subject",
        "comment",
        "comments",
        "code",
        "patch",
        "diff",
        "data",
        "value",
        "instructions",
        "instruction",
        "thought",
        "summary",
        "reason",
        "explanation",
        "question",
        "questions",
        "filecontent",
        "exclude",
    ];
    if is(&DATA) || ends(&["content", "contents", "text", "body", "prompt", "description", "message"]) {
        return Kind::Data;
    }
    const PATHS: [&str; 28] = [
        "path",
        "paths",
        "filepath",
        "filepaths",
        "filename",
        "filenames",
        "pathname",
        "file",
        "files",
        "dir",
        "dirs",
        "directory",
        "directories",
        "folder",
        "folders",
        "root",
        "roots",
        "source",
        "sources",
        "src",
        "destination",
        "dest",
        "dst",
        "target",
        "targets",
        "workspace",
        "targetfile",
        "absolutepath",
    ];
    let front = words.first().map_or("", String::as_str);
    let second = words.get(1).map_or("", String::as_str);
    if is(&PATHS)
        || ends(&[
            "path",
            "paths",
            "file",
            "files",
            "filename",
            "filenames",
            "filepath",
            "dir",
            "dirs",
            "directory",
            "directories",
            "folder",
            "folders",
        ])
        || ["path", "file", "dir", "directory", "folder"].contains(&front)
            && ["to", "of", "from", "name", "names", "list"].contains(&second)
    {
        return Kind::Path;
    }
    Kind::Other
}
