//! The packages that commands install or run from a registry, with their versions.
//!
//! INVARIANT: only words that are known; what a manifest lists is not looked up.

use policy_runtime::facts::{CommandFact, Part, Word};

/// A package that a command brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Install {
    pub(super) ecosystem: &'static str,
    /// Lower case.
    pub(super) name: String,
    /// As far as it is said.
    pub(super) version: Option<String>,
}

/// What a command installs.
pub(super) fn installs(command: &CommandFact) -> Vec<Install> {
    let known = |word: &Word| match word {
        Word::Known(text) => Some(text.clone()),
        _ => None,
    };
    let Some(program) = command.words.first().and_then(known) else { return Vec::new() };
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    let mut operands: Vec<String> = Vec::new();
    let mut wanted: Option<String> = None;
    let mut version_next = false;
    for (word, part) in command.words.iter().zip(&command.parts).skip(1) {
        let Some(text) = known(word) else { continue };
        match part {
            Part::Flag { names, value } => {
                let of_version =
                    names.iter().any(|name| matches!(name.as_str(), "--version" | "--vers" | "-v"));
                version_next = of_version && value.is_none();
                if of_version && value.is_some() {
                    wanted.clone_from(value);
                }
            }
            Part::FlagValue { flag } if matches!(flag.as_str(), "--version" | "--vers" | "-v") => {
                wanted = Some(text)
            }
            Part::FlagValue { .. } | Part::Dashes | Part::Program => {}
            Part::Operand | Part::Unclear
                if version_next && text.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                version_next = false;
                wanted = Some(text);
            }
            Part::Operand | Part::Unclear => operands.push(text),
        }
    }
    let words: Vec<&str> = operands.iter().map(String::as_str).collect();
    let specs = |ecosystem: &'static str, specs: &[&str]| -> Vec<Install> {
        specs.iter().flat_map(|text| spec(ecosystem, text, wanted.as_deref())).collect()
    };
    match (program.as_str(), words.as_slice()) {
        ("npm" | "pnpm" | "yarn" | "bun", ["install" | "i" | "add" | "in" | "isntall", rest @ ..])
        | ("yarn", ["global", "add", rest @ ..]) => specs("npm", rest),
        ("npm" | "pnpm" | "yarn" | "bun", ["exec" | "dlx" | "x" | "create" | "init", first, ..])
        | ("npx" | "pnpx" | "bunx", [first, ..]) => specs("npm", &[first]),
        ("pip" | "pip3", ["install" | "download", rest @ ..])
        | ("uv", ["add", rest @ ..] | ["pip" | "tool", "install", rest @ ..])
        | ("poetry" | "pdm" | "rye" | "pipenv" | "hatch", ["add" | "install", rest @ ..])
        | ("pipx", ["install" | "run", rest @ ..]) => specs("pypi", rest),
        ("uvx", [first, ..]) => specs("pypi", &[first]),
        (python, ["pip", "install", rest @ ..]) if python.starts_with("python") => specs("pypi", rest),
        (pip, ["install", rest @ ..]) if pip.starts_with("pip3.") => specs("pypi", rest),
        ("cargo", ["add" | "install" | "binstall", rest @ ..]) => specs("cargo", rest),
        ("gem", ["install" | "i", rest @ ..]) | ("bundle" | "bundler", ["add", rest @ ..]) => {
            specs("gem", rest)
        }
        ("go", ["get" | "install" | "run", rest @ ..]) => specs("go", rest),
        ("composer", ["require" | "global", rest @ ..]) => specs("composer", rest),
        ("apt" | "apt-get" | "apk" | "dnf" | "yum" | "zypper", ["install" | "add" | "in", rest @ ..]) => {
            specs("system", rest)
        }
        ("brew", ["install", rest @ ..]) => specs("system", rest),
        ("docker" | "podman" | "nerdctl", ["pull" | "run" | "create", image, ..])
        | ("docker" | "podman", ["image" | "container", "pull" | "run" | "create", image, ..]) => {
            specs("image", &[image])
        }
        _ => Vec::new(),
    }
}

/// A package as it is named on a command line.
fn spec(ecosystem: &'static str, text: &str, wanted: Option<&str>) -> Vec<Install> {
    let text = text.trim().to_lowercase();
    if text.is_empty() || text.starts_with(['.', '/', '~', '-']) {
        return Vec::new();
    }
    let split = |at: Option<(&str, &str)>| at.map(|(a, b)| (a.to_owned(), Some(b.to_owned())));
    let whole = || (text.clone(), None);
    let (name, version) = match ecosystem {
        "pypi" => {
            let end = text.find(['=', '<', '>', '~', '!', '@', ';', ' ']).unwrap_or(text.len());
            let (name, rest) = text.split_at_checked(end).unwrap_or((&text, ""));
            let name = name.split('[').next().unwrap_or_default().replace('_', "-");
            let rest = rest.trim_start_matches(['=', '<', '>', '~', '!', '@', ' ']);
            (name, (!rest.is_empty()).then(|| rest.to_owned()))
        }
        "image" => {
            let last = text.rsplit('/').next().unwrap_or_default();
            let last = last.split('@').next().unwrap_or_default();
            split(last.split_once(':')).unwrap_or_else(|| (last.to_owned(), None))
        }
        "system" => split(text.split_once('=').or_else(|| text.rsplit_once('@'))).unwrap_or_else(whole),
        "gem" | "composer" => split(text.split_once(':')).unwrap_or_else(whole),
        // A scope begins with the sign that a version begins with.
        _ => {
            let (scope, rest) = match text.strip_prefix('@') {
                Some(rest) => ("@", rest),
                None => ("", text.as_str()),
            };
            split(rest.split_once('@'))
                .map_or_else(whole, |(name, version)| (format!("{scope}{name}"), version))
        }
    };
    // One package under the name of another.
    if let Some(other) = version.as_deref().and_then(|version| version.strip_prefix("npm:")) {
        return spec(ecosystem, other, None);
    }
    let version = version.or_else(|| wanted.map(str::to_owned));
    vec![Install { ecosystem, name, version }]
}

/// The numbers of a version, without what stands before and behind them; none when it has none.
pub(super) fn numbers(version: &str) -> Option<Vec<u64>> {
    let start = version.find(|c: char| c.is_ascii_digit())?;
    let rest = version.get(start..)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let parts = rest.get(..end)?.split('.').filter(|part| !part.is_empty());
    let mut numbers: Vec<u64> = parts.map(|part| part.parse().unwrap_or(u64::MAX)).collect();
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some(numbers)
}

/// Whether a version lies from one on and before another; without numbers that cannot be told, and then it may.
pub(super) fn lies(version: &str, introduced: &str, fixed: Option<&str>) -> bool {
    let Some(version) = numbers(version) else { return true };
    let from = numbers(introduced).unwrap_or_default();
    version >= from && fixed.and_then(numbers).is_none_or(|fixed| version < fixed)
}
