//! The labelled expansion cases through the real knowledge of programs: `policies/std/programs*.policy` as a table.
//!
//! INVARIANT: no script hides a command in the levels that are about the shell alone, and the counts are exact.

use policy_engine::compile::{Kind, text};
use policy_engine::programs::TablePrograms;
use policy_grammar::shell::program::Programs as _;
use policy_grammar::shell::{Analysis, Dialect, Word, analyze};
use policy_runtime::table::Table;
use serde_json::Value;
use std::collections::BTreeMap;

const CASES: &str = include_str!("shell/expansion.jsonl");

/// Not exact: what a program prints.
const NOT_EXACT: [(&str, &str); 1] = [("x369", "covered")];

type Words = Vec<Option<String>>;

/// Reads with what a policy without rules of its own knows of programs.
fn with_programs<T>(look: impl FnOnce(&TablePrograms<'_>) -> T) -> T {
    let bytes = text("none.policy", "policy \"none\" language 1\n", Kind::Project).usable().unwrap();
    look(&TablePrograms::new(Table::open(&bytes).unwrap()))
}

/// The commands as the score compares them: a word that is not known is null.
fn commands(analysis: &Analysis) -> Vec<Words> {
    let word = |word: &Word| match word {
        Word::Known(text) | Word::Tilde(text) => Some(text.clone()),
        Word::OneOf(_) | Word::Glob(_) | Word::Unknown(_) => None,
    };
    let mut all: Vec<Words> = analysis
        .commands
        .iter()
        .filter(|command| !command.words.is_empty())
        .map(|command| command.words.iter().map(word).collect())
        .collect();
    all.sort();
    all
}

/// A word that is not known may stand for any number of words.
fn covers(expected: &Words, answer: &Words) -> bool {
    match answer.iter().position(Option::is_none) {
        _ if expected == answer => true,
        Some(at) => expected.get(..at) == answer.get(..at),
        None => false,
    }
}

/// How one case is answered, in the words of the score.
fn kind(case: &Value, analysis: &Analysis) -> &'static str {
    let mut wanted: Vec<Words> = serde_json::from_value(case["commands"].clone()).unwrap();
    wanted.sort();
    let got = commands(analysis);
    if wanted == got {
        "exact"
    } else if !analysis.complete {
        "flagged"
    } else if got.iter().any(|words| words[0].is_some())
        && wanted.iter().all(|wanted| got.iter().any(|words| covers(wanted, words)))
    {
        "covered"
    } else {
        "missed"
    }
}

#[test]
fn no_script_hides_a_command() {
    let (mut counts, mut not_exact): (BTreeMap<String, usize>, Vec<(String, &str)>) = Default::default();
    with_programs(|programs| {
        for line in CASES.lines().filter(|line| !line.is_empty()) {
            let case: Value = serde_json::from_str(line).unwrap();
            let script = case["script"].as_str().unwrap();
            let analysis = analyze(script, Dialect::Bash, programs);
            let kind = kind(&case, &analysis);
            let sure = if case["unresolved"].as_bool().unwrap() { "unresolved" } else { "known" };
            *counts.entry(format!("{sure} {kind}")).or_default() += 1;
            let shell_alone = ["quote", "structure", "subst", "heredoc", "redirect"];
            if shell_alone.contains(&case["level"].as_str().unwrap()) {
                assert_ne!(kind, "missed", "{script}\n{:?}", commands(&analysis));
            }
            if sure == "known" && kind != "exact" {
                not_exact.push((case["id"].as_str().unwrap().to_owned(), kind));
            }
        }
    });
    let not_exact: Vec<(&str, &str)> = not_exact.iter().map(|(id, kind)| (id.as_str(), *kind)).collect();
    assert_eq!(not_exact, NOT_EXACT, "{counts:?}");
    let counts: Vec<(&str, usize)> = counts.iter().map(|(what, count)| (what.as_str(), *count)).collect();
    let wanted =
        [("known covered", 1), ("known exact", 153), ("unresolved covered", 2), ("unresolved exact", 22)];
    assert_eq!(counts, wanted);
}

/// One row: a text, and a command that must be listed, its words joined with one blank.
const CARRIED: [(&str, &str); 44] = [
    ("sudo -s <<< 'git push'", "git push"),
    ("echo 'git push' | sudo -i", "git push"),
    ("sudo --unheard value git push", "git push"),
    ("doas -u x git push", "git push"),
    ("su - root -c 'git push'", "git push"),
    ("su --comm 'git push'", "git push"),
    ("env - A=1 git push", "git push"),
    ("env -C sub -u X git push", "git push"),
    ("env -S 'git push' -f", "git push -f"),
    ("timeout --foreground -k 5 10 git push", "git push"),
    ("nice -10 git push", "git push"),
    ("flock -w 5 f -c 'git push'", "git push"),
    ("flock f git push -c x", "git push -c x"),
    ("find . -exec git push {} ;", "git push ?"),
    ("fd -x git push {/.}", "git push ?"),
    ("xargs -I @ git push @ < f", "git push ?"),
    ("parallel -I @ git push @ ::: a b", "git push ?"),
    ("parallel ::: 'git push' ls", "git push"),
    ("parallel git push ::: --force", "git push --force"),
    ("parallel git push < f", "git push ?"),
    ("echo 'git push' | parallel", "git push"),
    ("bash +o posix -c 'git push'", "git push"),
    ("bash -euo pipefail -c 'git push'", "git push"),
    ("dash -s x <<< 'git push'", "git push"),
    ("eval git push", "git push"),
    ("trap -- 'git push' EXIT INT", "git push"),
    ("ssh -p 1 host -l me git push", "git push"),
    ("ssh host -- git push", "git push"),
    ("echo 'git push' | ssh host", "git push"),
    ("docker -H x exec -u 0 -it web git push", "git push"),
    ("docker container run --rm -h box img git push", "git push"),
    ("docker compose -f x.yml exec -T web git push", "git push"),
    ("kubectl -n a exec $POD -c web -- git push", "git push"),
    ("oc rsh pod git push", "git push"),
    ("tmux -L s split-window -h -f 'git push'", "git push"),
    ("aws-vault exec me -- git push", "git push"),
    ("doppler run --command 'git push'", "git push"),
    ("op run --env-file x -- git push", "git push"),
    ("git bisect run sh -c 'git push'", "git push"),
    ("git submodule --quiet foreach 'git push'", "git push"),
    ("git rebase --exe 'git push' main", "git push"),
    ("git -c core.pager='git push' bisect start", "git push"),
    ("git -c alias.x='!git push' x", "git push"),
    ("git clone -u 'git push' ./a", "git push"),
];

#[test]
fn programs_carry_commands() {
    with_programs(|programs| {
        for (text, wanted) in CARRIED {
            let analysis = analyze(text, Dialect::Bash, programs);
            let shown = |words: &Words| {
                let words = words.iter().map(|word| word.as_deref().unwrap_or("?"));
                words.collect::<Vec<_>>().join(" ")
            };
            let got: Vec<String> = commands(&analysis).iter().map(shown).collect();
            assert!(got.iter().any(|words| words == wanted), "{text}\n{got:#?}\n{:?}", analysis.problems);
        }
    });
}

/// The names of one block have all of its facts.
#[test]
fn names_share_the_facts_of_their_block() {
    with_programs(|programs| {
        for (name, dialect) in [
            ("bash", Some(Dialect::Bash)),
            ("zsh", Some(Dialect::Zsh)),
            ("rbash", Some(Dialect::Bash)),
            ("dash", Some(Dialect::Posix)),
            ("ash", Some(Dialect::Posix)),
            ("sh", None),
            ("ksh", None),
        ] {
            let shell = programs.program(name).unwrap();
            assert_eq!(shell.dialect, dialect, "{name}");
            assert_eq!(shell.input_flags, ["-s"], "{name}");
        }
    });
}
