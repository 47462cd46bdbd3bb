//! The starter policy of `policy init`, fitted to what lies in a folder.
//!
//! INVARIANT: every command that it allows stands in one of two rules: those that only read, and those that run code of
//! the project and are said to.

use policy_grammar::source::FileId;
use std::path::Path;

/// What a file in the folder says about the project.
#[derive(Debug)]
pub struct Sign {
    file: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// Run patterns of commands that only read.
    pub reads: &'static [&'static str],
    /// Run patterns of commands that run the project's own code.
    pub runs: &'static [&'static str],
    test: &'static str,
}

/// Looked for in this order.
const SIGNS: &[Sign] = &[
    Sign {
        file: "Cargo.toml",
        name: "Rust (cargo)",
        reads: &["cargo {tree,metadata} ...", "cargo fmt --check"],
        runs: &["cargo {build,check,clippy,test} -* ..."],
        test: "cargo test --workspace",
    },
    Sign {
        file: "pnpm-lock.yaml",
        name: "JavaScript (pnpm)",
        reads: &["pnpm {list,why,outdated} ..."],
        runs: &["pnpm test", "pnpm run {build,lint,test}"],
        test: "pnpm test",
    },
    Sign {
        file: "yarn.lock",
        name: "JavaScript (yarn)",
        reads: &["yarn {list,why} ..."],
        runs: &["yarn test", "yarn run {build,lint,test}"],
        test: "yarn test",
    },
    Sign {
        file: "bun.lock",
        name: "JavaScript (bun)",
        reads: &["bun pm ls"],
        runs: &["bun test ...", "bun run {build,lint,test}"],
        test: "bun run test",
    },
    Sign {
        file: "package.json",
        name: "JavaScript (npm)",
        reads: &["npm {ls,outdated,view} ..."],
        runs: &["npm test", "npm run {build,lint,test}"],
        test: "npm test",
    },
    Sign {
        file: "uv.lock",
        name: "Python (uv)",
        reads: &["uv tree ..."],
        // `uv run` is a wrapper: what it runs is decided as well.
        runs: &["uv run {pytest,ruff,mypy} -* ...", "{pytest,ruff,mypy} -* ..."],
        test: "uv run pytest -q",
    },
    Sign {
        file: "pyproject.toml",
        name: "Python",
        reads: &["pip {list,show} ..."],
        runs: &["{pytest,ruff,mypy} -* ..."],
        test: "pytest -q",
    },
    Sign {
        file: "requirements.txt",
        name: "Python (pip)",
        reads: &["pip {list,show} ..."],
        runs: &["pytest -* ..."],
        test: "pytest -q",
    },
    Sign {
        file: "go.mod",
        name: "Go",
        reads: &["go {list,version,doc} ..."],
        runs: &["go {build,test,vet} -* ..."],
        test: "go test ./...",
    },
    Sign {
        file: "Gemfile",
        name: "Ruby (bundler)",
        reads: &["bundle list"],
        runs: &["bundle exec {rake,rspec} ...", "{rake,rspec} ..."],
        test: "bundle exec rspec",
    },
    Sign {
        file: "pom.xml",
        name: "Java (Maven)",
        reads: &["mvn dependency:tree"],
        runs: &["mvn {compile,test,verify}"],
        test: "mvn test",
    },
    Sign {
        file: "build.gradle",
        name: "Java (Gradle)",
        reads: &[],
        runs: &["gradle {build,check,test}"],
        test: "gradle test",
    },
    Sign {
        file: "Makefile",
        name: "make",
        reads: &[],
        runs: &["make {all,build,check,test}"],
        test: "make test",
    },
];

/// What is found in a folder.
pub fn found(folder: &Path) -> Vec<&'static Sign> {
    let mut found: Vec<&Sign> = Vec::new();
    for sign in SIGNS {
        // The first sign of a language knows its package manager better than the next one.
        let language = |sign: &Sign| sign.name.split(' ').next().unwrap_or_default().to_string();
        if folder.join(sign.file).is_file() && !found.iter().any(|known| language(known) == language(sign)) {
            found.push(sign);
        }
    }
    found
}

/// The starter for a folder of this name, as `policy fmt` writes it.
pub fn policy(name: &str, found: &[&Sign]) -> String {
    // Whatever a folder may be called: nothing that a quoted text cannot hold or that hides.
    let name: String = name.chars().filter(|ch| ch.is_alphanumeric() || " -_.+@".contains(*ch)).collect();
    let mut text = format!(
        "# Written by `policy init`. Read it, change it, then run `policy compile` and `policy trust`.\n\
         policy \"{name}\" language 1\n\n\
         use std/git, std/shell, std/secrets, std/readonly\n\n\
         rule edits on @std/writers {{\n\
         \x20 ask   path \"./.github/**\", \"./.git/**\"  because \"this runs elsewhere, or later\"\n\
         \x20 allow path \"./**\"\n\n\
         \x20 expect allow edit_file {{ path: \"src/main\" }}\n\
         \x20 expect ask edit_file {{ path: \".github/workflows/ci.yml\" }}\n\
         }}\n"
    );
    let reads: Vec<&str> = found.iter().flat_map(|sign| sign.reads.iter().copied()).collect();
    if !reads.is_empty() {
        text.push_str("\nrule project-reads on @std/shells {\n");
        for run in &reads {
            text.push_str(&format!("  allow run `{run}`\n"));
        }
        text.push_str("\n  expect ask bash \"curl https://example.com\"\n}\n");
    }
    if !found.is_empty() {
        text.push_str(
            "\n# These run code of the project, which the agent can write: they grant what a shell grants. Change `allow` to\n\
             # `ask` to see each of them first.\nrule project-code on @std/shells {\n",
        );
        for run in found.iter().flat_map(|sign| sign.runs) {
            text.push_str(&format!("  allow run `{run}`\n"));
        }
        text.push('\n');
        for sign in found {
            text.push_str(&format!("  expect allow bash \"{}\"\n", sign.test));
        }
        text.push_str("}\n");
    }
    policy_grammar::format(FileId::default(), &text).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Kind, text};

    #[test]
    fn every_starter_compiles_and_holds() {
        let all: Vec<&Sign> = SIGNS.iter().collect();
        let some: Vec<Vec<&Sign>> = SIGNS.iter().map(|sign| vec![sign]).chain([vec![], all]).collect();
        for signs in some {
            let written = policy("a \"b\"\u{202e}\\c", &signs);
            assert_eq!(policy_grammar::format(FileId::default(), &written).as_deref(), Ok(written.as_str()));
            let made = text("agent.policy", &written, Kind::Project);
            let names: Vec<&str> = signs.iter().map(|sign| sign.name).collect();
            assert!(made.table.is_some() && made.unmet == 0, "{names:?} {:#?}", made.diagnostics);
        }
    }
}
