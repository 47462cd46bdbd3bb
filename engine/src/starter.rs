//! The starter policy of `policy init`, fitted to what lies in a folder.
//!
//! INVARIANT: whatever runs code of the project is allowed by a pack that is named in a line of its own, which says so.

use policy_grammar::source::FileId;
use std::path::Path;

/// What a file in the folder says about the project.
#[derive(Debug)]
pub struct Sign {
    file: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// The pack that allows its loop.
    pub pack: &'static str,
    /// What that pack allows, for a person.
    pub runs: &'static str,
    test: &'static str,
}

const fn sign(
    file: &'static str,
    name: &'static str,
    pack: &'static str,
    runs: &'static str,
    test: &'static str,
) -> Sign {
    Sign { file, name, pack, runs, test }
}

/// Scripts of the usual names and checkers.
const SCRIPTS: &str = "scripts named build, lint, test, …; tsc, eslint, vitest, jest";

/// Looked for in this order.
const SIGNS: &[Sign] = &[
    sign(
        "Cargo.toml",
        "Rust (cargo)",
        "std/cargo",
        "cargo build, check, test, clippy, fmt, run",
        "cargo test --workspace",
    ),
    sign("pnpm-lock.yaml", "JavaScript (pnpm)", "std/npm", SCRIPTS, "pnpm test"),
    sign("yarn.lock", "JavaScript (yarn)", "std/npm", SCRIPTS, "yarn test"),
    sign("bun.lock", "JavaScript (bun)", "std/npm", SCRIPTS, "bun run test"),
    sign("package.json", "JavaScript (npm)", "std/npm", SCRIPTS, "npm test"),
    sign("deno.json", "JavaScript (deno)", "std/npm", "deno test, check, lint, fmt", "deno test"),
    sign(
        "uv.lock",
        "Python (uv)",
        "std/python",
        "pytest, ruff, mypy, tox, also through uv run",
        "uv run pytest -q",
    ),
    sign("pyproject.toml", "Python", "std/python", "pytest, ruff, mypy, tox", "pytest -q"),
    sign("requirements.txt", "Python (pip)", "std/python", "pytest, ruff, mypy, tox", "pytest -q"),
    sign("go.mod", "Go", "std/go", "go build, test, vet, run, fmt", "go test ./..."),
    sign(
        "Gemfile",
        "Ruby (bundler)",
        "std/ruby",
        "rspec, rubocop, rake test, also through bundle exec",
        "bundle exec rspec",
    ),
    sign(
        "composer.json",
        "PHP (composer)",
        "std/php",
        "phpunit, phpstan, composer test",
        "vendor/bin/phpunit",
    ),
    sign("pom.xml", "Java (Maven)", "std/jvm", "mvn compile, test, verify, package", "mvn test"),
    sign("build.gradle", "Java (Gradle)", "std/jvm", "gradle build, check, test", "gradle test"),
    sign("build.gradle.kts", "Java (Gradle)", "std/jvm", "gradle build, check, test", "./gradlew test"),
    sign("build.sbt", "Scala (sbt)", "std/jvm", "sbt compile, test", "sbt test"),
    sign("global.json", ".NET", "std/dotnet", "dotnet build, test, format", "dotnet test"),
    sign("Directory.Build.props", ".NET", "std/dotnet", "dotnet build, test, format", "dotnet test"),
    sign("Makefile", "make", "std/make", "make build, check, lint, test", "make test"),
    sign("CMakeLists.txt", "CMake", "std/make", "cmake --build, ctest, ninja", "ctest"),
    sign("justfile", "just", "std/make", "just build, check, lint, test", "just test"),
    sign("MODULE.bazel", "Bazel", "std/make", "bazel build, test, query", "bazel test //..."),
];

/// Whether a pack lets code of the project run. Who wants that says so by using it.
pub fn is_loop(pack: &str) -> bool {
    SIGNS.iter().any(|sign| sign.pack == pack)
}

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

/// What a loop is said to grant, at its line.
pub const GRANTS: &str = "runs code of the project: grants what a shell grants";

const PACKS_END: &str = "use std/git, std/shell, std/secrets, std/readonly\n";

/// The starter for a folder of this name, as `policy fmt` writes it.
pub fn policy(name: &str, found: &[&Sign]) -> String {
    // Whatever a folder may be called: nothing that a quoted text cannot hold or that hides.
    let name: String = name.chars().filter(|ch| ch.is_alphanumeric() || " -_.+@".contains(*ch)).collect();
    let mut text = format!(
        "# Written by `policy init`. Read it, change it, then run `policy compile` and `policy trust`.\n\
         policy \"{name}\" language 1\n\n\
         {PACKS_END}\n\
         rule edits on @std/writers {{\n\
         \x20 ask   path \"./.github/**\", \"./.git/**\"  because \"this runs elsewhere, or later\"\n\
         \x20 allow path \"./**\"\n\n\
         \x20 expect allow edit_file {{ path: \"src/main\" }}\n\
         \x20 expect ask edit_file {{ path: \".github/workflows/ci.yml\" }}\n\
         }}\n"
    );
    if !found.is_empty() {
        // The loops of packs named below are the reader's to take away, one line each.
        let mut uses = String::new();
        let mut tests = String::from("\ntest \"the loops of this project\" {\n");
        for (at, sign) in found.iter().enumerate() {
            if !found.iter().take(at).any(|before| before.pack == sign.pack) {
                uses.push_str(&format!("use {}  # {GRANTS}: {}\n", sign.pack, sign.runs));
            }
            tests.push_str(&format!("  expect allow bash \"{}\"\n", sign.test));
        }
        text = text.replace(
            PACKS_END,
            &format!("{PACKS_END}\n# Take a line away, and what it allows asks.\n{uses}"),
        );
        text.push_str(&tests);
        text.push_str("  expect ask bash \"curl https://example.com\"\n}\n");
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
