//! `policy init`: a starter policy fitted to a folder.
//!
//! INVARIANT: an existing policy is never overwritten; what is written compiles and its tests hold, or nothing is.

use super::compile::{grants, load};
use crate::args::InitArgs;
use crate::context::Context;
use crate::output::{BAD_POLICY, Failure, OK, Outcome, print};
use crate::render;
use policy_engine::compile::Kind;
use policy_engine::open;
use policy_engine::places::{PROJECT_FILES, shown};
use policy_grammar::diagnostic::Level;
use policy_grammar::source::FileId;
use std::path::Path;

/// What a file in the folder says about the project: the file, what it is called, the commands that only read, and
/// those that run the project's own code.
struct Sign {
    file: &'static str,
    name: &'static str,
    reads: &'static [&'static str],
    runs: &'static [&'static str],
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
        runs: &["uv run {pytest,ruff,mypy} -* ..."],
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
        runs: &["bundle exec {rake,rspec} ..."],
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

/// Runs the command.
pub(crate) fn run(args: &InitArgs, context: &Context) -> Outcome {
    let folder = match &args.folder {
        Some(folder) => context.path(folder)?,
        None => context.cwd()?,
    };
    let folder = std::fs::canonicalize(&folder)
        .map_err(|error| Failure::usage(format!("`{}` cannot be used: {error}", folder.display())))?;
    for name in PROJECT_FILES {
        if std::fs::symlink_metadata(folder.join(name)).is_ok() {
            return Err(Failure::usage(format!(
                "`{}` exists; it is not overwritten",
                folder.join(name).display()
            )));
        }
    }
    let home = context.folders()?.home;
    if folder == home || folder.parent().is_none() {
        return Err(Failure::usage(format!("`{}` is no project; go to one first", folder.display())));
    }
    let found: Vec<&Sign> = found(&folder);
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("project");
    let text = policy(name, &found);
    let text = policy_grammar::format(FileId::default(), &text).unwrap_or(text);
    let file = folder.join("agent.policy");
    open::write_named(&file, text.as_bytes(), 0o644).map_err(|error| Failure::usage(error.to_string()))?;
    let made = load(&file, Kind::Project, context)?;
    if made.table.is_none() {
        let _ = std::fs::remove_file(&file);
        eprint!("{}", render::diagnostics(&made.diagnostics, &made.map, context.output));
        return Ok(BAD_POLICY);
    }
    if !context.output.quiet {
        print(&said(
            &shown(&file, &home),
            &found,
            grants(made.summary.shell_lines, made.summary.allow_lines),
        ));
    }
    let trusted = super::trust::grant(&file, context, Level::Error)?;
    Ok(if trusted == OK { OK } else { trusted })
}

fn found(folder: &Path) -> Vec<&'static Sign> {
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

fn policy(name: &str, found: &[&Sign]) -> String {
    let name: String = name.chars().filter(|ch| !ch.is_control() && !matches!(ch, '"' | '\\')).collect();
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
    text
}

fn said(file: &str, found: &[&Sign], grants: String) -> String {
    let names: Vec<&str> = found.iter().map(|sign| sign.name).collect();
    let names = if names.is_empty() { "nothing it knows".to_string() } else { names.join(", ") };
    let mut text = format!(
        "wrote {file}\n  found    {names}\n  allowed  edits in this folder (asks for .github and .git), reading commands\n"
    );
    for sign in found {
        for run in sign.reads {
            text.push_str(&format!("           {run}\n"));
        }
        for run in sign.runs {
            text.push_str(&format!("           {run}    runs project code: grants what a shell grants\n"));
        }
    }
    text.push_str(&format!(
        "  {grants}\n\
         next\n  policy explain                                what holds here\n  policy check bash '{{\"command\": \"git push -f\"}}'   ask what a call gets\n  \
         docs/hosts.md                                 register `policy hook` with your agent\n"
    ));
    text
}
