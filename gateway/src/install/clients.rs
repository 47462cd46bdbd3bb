//! Where clients keep their servers.
//!
//! INVARIANT: data; a client that is not here is not touched.

use std::path::{Path, PathBuf};

/// How a client writes a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// JSON: `"name": { "command": "…", "args": [ … ] }`.
    Entries,
    /// JSON: `"name": { "command": [ … ] }`.
    CommandList,
    /// TOML: `[mcp_servers.name]` with `command` and `args`.
    Toml,
    /// YAML: a list of `name`, `command` and `args`.
    Yaml,
}

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// Its name on our command line.
    pub name: &'static str,
    /// The key under which its servers stand.
    pub key: &'static str,
    /// How it writes them.
    pub shape: Shape,
    /// Its files: `~/` is the home, `./` the project, `*` at the end of a folder each file there with that ending.
    files: &'static [&'static str],
}

impl Client {
    /// Its files on this machine, whether they are there or not.
    #[must_use]
    pub fn files(&self, home: &Path, project: &Path) -> Vec<PathBuf> {
        let place = |file: &&str| match (file.strip_prefix("~/"), file.strip_prefix("./")) {
            (Some(rest), _) => home.join(rest),
            (_, Some(rest)) => project.join(rest),
            _ => PathBuf::from(file),
        };
        self.files.iter().map(place).flat_map(each).collect()
    }
}

/// Most files of one folder.
const MOST: usize = 1000;

/// The files that a name with `*` stands for; the name itself when there are none.
fn each(named: PathBuf) -> Vec<PathBuf> {
    let ending = named.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix('*'));
    let (Some(ending), Some(folder)) = (ending, named.parent()) else { return vec![named] };
    let inside = std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_meant =
        |file: &PathBuf| file.to_str().is_some_and(|name| name.ends_with(ending)) && file.is_file();
    let mut files: Vec<PathBuf> = inside.filter(is_meant).take(MOST).collect();
    files.sort();
    if files.is_empty() { vec![named] } else { files }
}

const fn entries(name: &'static str, key: &'static str, files: &'static [&'static str]) -> Client {
    Client { name, key, shape: Shape::Entries, files }
}

/// All of them.
pub const CLIENTS: &[Client] = &[
    entries("claude-code", "mcpServers", &["./.mcp.json", "~/.claude.json"]),
    entries(
        "claude-desktop",
        "mcpServers",
        &[
            "~/.config/Claude/claude_desktop_config.json",
            "~/Library/Application Support/Claude/claude_desktop_config.json",
            "~/AppData/Roaming/Claude/claude_desktop_config.json",
        ],
    ),
    entries("cursor", "mcpServers", &["./.cursor/mcp.json", "~/.cursor/mcp.json"]),
    entries("windsurf", "mcpServers", &["~/.codeium/windsurf/mcp_config.json"]),
    entries("gemini", "mcpServers", &["./.gemini/settings.json", "~/.gemini/settings.json"]),
    entries("qwen", "mcpServers", &["./.qwen/settings.json", "~/.qwen/settings.json"]),
    entries("copilot", "mcpServers", &["~/.copilot/mcp-config.json"]),
    entries(
        "cline",
        "mcpServers",
        &[
            "~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            "~/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ],
    ),
    entries("droid", "mcpServers", &["./.factory/mcp.json", "~/.factory/mcp.json"]),
    entries("kiro", "mcpServers", &["./.kiro/settings/mcp.json", "~/.kiro/settings/mcp.json"]),
    entries(
        "vscode",
        "servers",
        &[
            "./.vscode/mcp.json",
            "~/.config/Code/User/mcp.json",
            "~/Library/Application Support/Code/User/mcp.json",
        ],
    ),
    entries("zed", "context_servers", &["./.zed/settings.json", "~/.config/zed/settings.json"]),
    entries("crush", "mcp", &["./crush.json", "./.crush.json", "~/.config/crush/crush.json"]),
    Client {
        name: "opencode",
        key: "mcp",
        shape: Shape::CommandList,
        files: &[
            "./opencode.json",
            "./opencode.jsonc",
            "~/.config/opencode/opencode.json",
            "~/.config/opencode/opencode.jsonc",
        ],
    },
    Client {
        name: "continue",
        key: "mcpServers",
        shape: Shape::Yaml,
        files: &[
            "./.continue/mcpServers/*.yaml",
            "./.continue/mcpServers/*.yml",
            "~/.continue/config.yaml",
            "~/.continue/mcpServers/*.yaml",
            "~/.continue/mcpServers/*.yml",
        ],
    },
    Client {
        name: "codex",
        key: "mcp_servers",
        shape: Shape::Toml,
        files: &["./.codex/config.toml", "~/.codex/config.toml"],
    },
];
