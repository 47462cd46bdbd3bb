//! House rules as tests: module docs, file sizes, crate boundaries, complete lists.
//!
//! INVARIANT: a rule that can be checked by a program is checked here, not in a review.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with('.') || name.starts_with("target") {
            continue;
        }
        if path.is_dir() {
            files_below(&path, ending, found);
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files_below(&root(), ".rs", &mut found);
    found
}

#[test]
fn every_file_opens_with_its_purpose() {
    let bare: Vec<_> = sources()
        .into_iter()
        .filter(|path| !fs::read_to_string(path).unwrap().trim_start().starts_with("//!"))
        .collect();
    assert!(bare.is_empty(), "files without a `//!` line: {bare:#?}");
}

#[test]
fn no_source_file_is_over_700_lines() {
    let long: Vec<_> = sources()
        .into_iter()
        .map(|path| (fs::read_to_string(&path).unwrap().lines().count(), path))
        .filter(|(lines, _)| *lines > 700)
        .collect();
    assert!(long.is_empty(), "split these: {long:#?}");
}

#[test]
fn nothing_is_left_over() {
    let marks = [
        concat!("to", "do!("),
        concat!("unimpl", "emented!("),
        concat!("FIX", "ME"),
        concat!("X", "XX"),
        concat!("#[ign", "ore"),
    ];
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        // What looks for the marks has to name them.
        let names = ["tests/tidy.rs", "checks/src/catalog.rs", "checks/src/quality/leftover.rs"];
        if names.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        for mark in marks {
            assert!(!text.contains(mark), "{} holds {mark}", path.display());
        }
    }
}

/// External crates below a workspace crate, by `cargo tree`.
fn closure(package: &str) -> BTreeSet<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let out = Command::new(cargo)
        .args([
            "tree",
            "--offline",
            "--locked",
            "-p",
            package,
            "-e",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != package).map(String::from).collect()
}

#[test]
fn the_runtime_knows_no_other_crate_but_these() {
    let allowed: BTreeSet<String> = ["policy-scan", "regex-automata"].map(String::from).into();
    let closure = closure("policy-runtime");
    assert!(closure.is_subset(&allowed), "runtime closure: {closure:?}");
}

#[test]
fn the_checks_know_no_other_crate() {
    assert!(closure("policy-checks").is_empty(), "closure of the checks: {:?}", closure("policy-checks"));
}

#[test]
fn crates_keep_to_their_side() {
    let never: [(&str, &[&str]); 6] = [
        ("policy-grammar", &["regex", "regex-automata", "clap", "policy-runtime"]),
        ("policy-compiler", &["clap", "tokio", "policy-hosts"]),
        ("policy-hosts", &["clap", "tokio", "policy-compiler", "rusqlite"]),
        ("policy-engine", &["clap", "tokio"]),
        ("policy-hook", &["clap", "tokio", "rmcp"]),
        ("policy-gateway", &["clap"]),
    ];
    for (package, forbidden) in never {
        let closure = closure(package);
        for name in forbidden {
            assert!(!closure.contains(*name), "{package} must not reach {name}");
        }
    }
}

#[test]
fn the_list_of_packs_is_the_folder() {
    let mut files = Vec::new();
    files_below(&root().join("policies/std"), ".policy", &mut files);
    let folder: BTreeSet<String> =
        files.iter().map(|path| format!("std/{}", path.file_stem().unwrap().to_string_lossy())).collect();
    let list: BTreeSet<String> = policy_compiler::PACKS.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(list, folder, "compiler/src/packs.rs against policies/std");
}
