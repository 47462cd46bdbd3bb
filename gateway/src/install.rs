//! Servers in the settings of clients put behind `policy wrap`, and taken out again.
//!
//! INVARIANT: only the command line of an entry is changed, comments and everything else stay; what was there is kept beside the file
//! first; an entry that is wrapped is not wrapped again, and taking out gives the command line that was there.

mod clients;
mod json;
mod toml;
mod yaml;

pub use clients::{CLIENTS, Client, Shape};

use policy_engine::open::{self, Care};
use std::path::{Path, PathBuf};

/// Largest file of settings, bytes.
const MOST: u64 = 16 * 1024 * 1024;

/// How entries are changed.
#[derive(Debug, Clone)]
pub struct Change {
    /// Put behind the policy, or taken out.
    pub install: bool,
    /// Only these servers; all, when there are none.
    pub servers: Vec<String>,
    /// The program that wraps, absolute.
    pub program: String,
    /// Options of `wrap` for every server (`--policy FILE`).
    pub options: Vec<String>,
}

/// What was done with one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The file.
    pub file: PathBuf,
    /// Servers whose entries were changed.
    pub changed: Vec<String>,
    /// Servers that were left, each with the reason.
    pub left: Vec<(String, String)>,
    /// Where the file of before is kept; none when nothing was changed.
    pub kept: Option<PathBuf>,
}

/// Changes the entries of a client's files that are there.
///
/// # Errors
/// When there is no file, one cannot be read or written, or a named server is in none of them.
pub fn change(client: &Client, home: &Path, project: &Path, change: &Change) -> Result<Vec<Done>, String> {
    let mut files: Vec<PathBuf> =
        client.files(home, project).into_iter().filter(|file| file.exists()).collect();
    // The project may be the home.
    files.dedup();
    if files.is_empty() {
        let looked: Vec<String> =
            client.files(home, project).iter().map(|file| file.display().to_string()).collect();
        return Err(format!("{} has no settings of servers here: {}", client.name, looked.join(", ")));
    }
    let mut all = Vec::new();
    for file in files {
        all.push(change_file(client, &file, change)?);
    }
    let seen = |name: &String| {
        all.iter().any(|done| done.changed.contains(name) || done.left.iter().any(|(own, _)| own == name))
    };
    match change.servers.iter().find(|name| !seen(name)) {
        Some(name) => Err(format!("no server is called `{name}` in the settings of {}", client.name)),
        None => Ok(all),
    }
}

fn change_file(client: &Client, file: &Path, change: &Change) -> Result<Done, String> {
    let (bytes, _) = open::read(file, Care::Named, MOST).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`{}` is not UTF-8 text", file.display()))?;
    let edited = match client.shape {
        Shape::Toml => toml::edit(&text, client, change),
        Shape::Yaml => yaml::edit(&text, client, change),
        Shape::Entries | Shape::CommandList => json::edit(&text, client, change),
    };
    let (new, changed, left) = edited.map_err(|why| format!("`{}`: {why}", file.display()))?;
    let mut done = Done { file: file.to_path_buf(), changed, left, kept: None };
    if done.changed.is_empty() {
        return Ok(done);
    }
    // ORDER: what was there is safe before anything is written.
    let kept = beside(file);
    open::write_named(&kept, text.as_bytes(), 0o600).map_err(|error| error.to_string())?;
    open::write_named(file, new.as_bytes(), 0o600).map_err(|error| error.to_string())?;
    done.kept = Some(kept);
    Ok(done)
}

/// A name beside the file that is not taken.
fn beside(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let named = |number: usize| match number {
        0 => file.with_file_name(format!("{name}.before-policy")),
        _ => file.with_file_name(format!("{name}.before-policy.{number}")),
    };
    (0..1000).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(0))
}

/// What becomes of an entry.
enum Entry {
    /// This command line instead.
    Now(Vec<String>),
    /// Nothing, and why.
    Left(String),
    /// It is none of those that were named.
    NotMeant,
}

/// The new command line of an entry; none was found when it is reached over the network.
fn entry(name: &str, words: Option<Vec<String>>, change: &Change) -> Entry {
    if !change.servers.is_empty() && !change.servers.iter().any(|own| own == name) {
        return Entry::NotMeant;
    }
    let Some(words) = words.filter(|words| !words.is_empty()) else {
        return Entry::Left(
            "it is not started by a command; only servers over standard input and output are wrapped"
                .to_owned(),
        );
    };
    match (change.install, unwrapped(&words)) {
        (true, Some(_)) => Entry::Left("it is wrapped already".to_owned()),
        (true, None) => {
            let mut now = vec![change.program.clone(), "wrap".to_owned()];
            now.extend(change.options.iter().cloned());
            now.extend(["--name".to_owned(), name.to_owned(), "--".to_owned()]);
            now.extend(words);
            Entry::Now(now)
        }
        (false, Some(inner)) => Entry::Now(inner),
        (false, None) => Entry::Left("it is not wrapped".to_owned()),
    }
}

/// The command line behind `policy wrap … --`.
fn unwrapped(words: &[String]) -> Option<Vec<String>> {
    let (program, rest) = words.split_first()?;
    let name = program.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let wraps =
        name == "policy" && rest.first().is_some_and(|word| word == "wrap") || name == "agent-firewall";
    let at = rest.iter().position(|word| word == "--")?;
    let inner = rest.get(at + 1..)?.to_vec();
    (wraps && !inner.is_empty()).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(install: bool, servers: &[&str]) -> Change {
        Change {
            install,
            servers: servers.iter().map(ToString::to_string).collect(),
            program: "/usr/local/bin/policy".to_owned(),
            options: vec!["--policy".to_owned(), "/p".to_owned()],
        }
    }

    fn client(name: &str) -> &'static Client {
        CLIENTS.iter().find(|client| client.name == name).unwrap()
    }

    #[test]
    fn json_keeps_its_comments_and_comes_back() {
        let text = "{\n  // mine\n  \"other\": 1.0,\n  \"mcpServers\": {\n    \"fs\": {\n      \"command\": \"npx\", // runs\n      \"args\": [\"-y\", \"fs\", \"/a b\"],\n      \"env\": { \"K\": \"v\" }\n    },\n    \"web\": { \"url\": \"https://x\" },\n    \"bare\": { \"command\": \"srv\" }\n  }\n}\n";
        let (new, changed, left) = json::edit(text, client("claude-code"), &change(true, &[])).unwrap();
        assert_eq!((changed.as_slice(), left.len()), (["fs".to_owned(), "bare".to_owned()].as_slice(), 1));
        for kept in
            ["// mine", "// runs", "1.0", "\"env\": { \"K\": \"v\" }", "\"web\": { \"url\": \"https://x\" }"]
        {
            assert!(new.contains(kept), "{kept}: {new}");
        }
        let flat: String = new.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("\"command\": \"/usr/local/bin/policy\""), "{new}");
        let (again, changed, _) = json::edit(&new, client("claude-code"), &change(true, &[])).unwrap();
        assert!(changed.is_empty() && again == new);
        let (back, changed, _) = json::edit(&new, client("claude-code"), &change(false, &["fs"])).unwrap();
        assert_eq!(changed, ["fs"]);
        let value = |text: &str| -> serde_json::Value {
            jsonc_parser::cst::CstRootNode::parse(text, &jsonc_parser::ParseOptions::default())
                .unwrap()
                .value()
                .map(|value| serde_json::from_str(&strip(&value.to_string())).unwrap())
                .unwrap()
        };
        assert_eq!(value(&back)["mcpServers"]["fs"], value(text)["mcpServers"]["fs"]);
        assert_eq!(value(&back)["mcpServers"]["bare"]["args"][2], "/p");
    }

    /// Without comments to the ends of lines.
    fn strip(text: &str) -> String {
        text.lines()
            .map(|line| line.split(" //").next().unwrap_or_default())
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn opencode_has_one_list() {
        let text = "{\"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"x\", \"y\"]}, \"b\": {\"type\": \"remote\", \"url\": \"u\"}}}";
        let (new, changed, _) = json::edit(text, client("opencode"), &change(true, &[])).unwrap();
        let value: serde_json::Value = serde_json::from_str(&new).unwrap();
        assert_eq!(changed, ["a"]);
        let words = value["mcp"]["a"]["command"].as_array().unwrap();
        assert_eq!(
            (words[0].as_str(), words.last().unwrap().as_str()),
            (Some("/usr/local/bin/policy"), Some("y"))
        );
    }

    #[test]
    fn toml_keeps_its_comments_and_comes_back() {
        let text = "# mine\nmodel = \"x\"\n\n[mcp_servers.fs] # here\ncommand = \"npx\"\nargs = [\"-y\", \"fs\"]\n[mcp_servers.fs.env]\nK = \"v\"\n\n[mcp_servers.web]\nurl = \"u\"\n";
        let (new, changed, left) = toml::edit(text, client("codex"), &change(true, &[])).unwrap();
        assert_eq!((changed.as_slice(), left.len()), (["fs".to_owned()].as_slice(), 1));
        assert!(
            new.contains("# mine")
                && new.contains("# here")
                && new.contains("\"--name\", \"fs\", \"--\", \"npx\""),
            "{new}"
        );
        let (back, ..) = toml::edit(&new, client("codex"), &change(false, &[])).unwrap();
        assert_eq!(back, text);
    }

    #[test]
    fn what_is_no_settings_file_is_said() {
        assert!(json::edit("{", client("cursor"), &change(true, &[])).is_err());
        assert!(json::edit("[]", client("cursor"), &change(true, &[])).is_err());
        assert!(toml::edit("a = ", client("codex"), &change(true, &[])).is_err());
        let (text, changed, _) = json::edit("{}", client("cursor"), &change(true, &[])).unwrap();
        assert!(changed.is_empty() && text == "{}");
    }
}
