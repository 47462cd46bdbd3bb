//! In process: our automaton and our decisions beside a hash map, globset, RegexSet, aho-corasick and wildmatch.
//!
//! INVARIANT: the numbers of one line come from one race; a contender that cannot be built in the time box is told as such.

use crate::clock::{self, Job, PASS, ROUNDS, Times};
use crate::contend::{Built, NAMES, RISKY, Set, built, job};
use crate::generate::{Kind, VALUES};
use crate::markdown::{ratio, table, time};
use std::process::Command;

/// What a contender may take to be built and to look [`TRIED`] values up: seconds of CPU time, and KB.
const BOX: (u64, u64) = (5, 4 << 20);
/// Values that are looked up in the trial.
const TRIED: usize = 16;
/// A look at every pattern is not waited for above this number.
const MOST_LINEAR: usize = 10_000;

/// Prints one table a kind.
pub fn run(sizes: &[usize]) -> Result<(), String> {
    println!("\n## One value against n globs, in process\n");
    println!(
        "Least thread CPU time a value of {ROUNDS} interleaved rounds of {PASS} values: warm (the same values again) / fresh (new ones in each round). All but the hash map name the deciding pattern."
    );
    println!(
        "The hash map (std, SipHash) holds exact texts. \"killed\": not within {} s of CPU time and {} GB.",
        BOX.0,
        BOX.1 >> 20
    );
    println!(
        "The answers are compared. On paths two things differ: wildmatch knows no `**` (`*` was put in its place), and in globset"
    );
    println!("`a/**` is what lies below `a`, not `a` itself.");
    for kind in Kind::ALL {
        let (mut rows, mut killed) = (Vec::new(), Vec::new());
        for &n in sizes {
            rows.push(line(kind, n, &mut killed)?);
        }
        println!("\n### {}", kind.word());
        let head = ["n", "bytes"].into_iter().chain(NAMES).chain([
            "ours ÷ hash map",
            "globset ÷ ours",
            "RegexSet ÷ ours",
        ]);
        table(&head.collect::<Vec<_>>(), &rows);
    }
    println!("\nThe last columns are of our automaton, warm / fresh.");
    Ok(())
}

/// Of a contender that was not timed.
const MISSING: Times = Times { warm: f64::NAN, fresh: f64::NAN };

fn both(warm: String, fresh: String) -> String {
    format!("{warm} / {fresh}")
}

/// One size; who is killed once is not tried with more.
fn line(kind: Kind, n: usize, killed: &mut Vec<&'static str>) -> Result<Vec<String>, String> {
    let set = Set::new(kind, n);
    let ready: Vec<Result<Built, String>> = NAMES
        .into_iter()
        .map(|name| match name {
            "wildmatch" if n > MOST_LINEAR => Err("-".to_owned()),
            name if killed.contains(&name) => Err("-".to_owned()),
            name if RISKY.contains(&name) && !buildable(name, kind, n) => {
                killed.push(name);
                Err("killed".to_owned())
            }
            name => built(name, &set),
        })
        .collect();
    let mut jobs: Vec<Job> = Vec::new();
    for built in ready.iter().flatten() {
        jobs.push(job(built, &set)?);
    }
    agree(&ready, &mut jobs, &set)?;
    let mut times = clock::race(&mut jobs, VALUES).into_iter();
    let times: Vec<Result<Times, &String>> =
        ready.iter().map(|built| built.as_ref().map(|_| times.next().unwrap_or(MISSING))).collect();
    let of = |name: &str| NAMES.iter().position(|own| *own == name).and_then(|at| times[at].ok());
    let ours = of("our automaton").unwrap_or(MISSING);
    let shown = |peer: Option<Times>| {
        peer.map_or("-".to_owned(), |peer| both(ratio(peer.warm, ours.warm), ratio(peer.fresh, ours.fresh)))
    };
    let lost = of("hash map")
        .map_or("-".to_owned(), |map| both(ratio(ours.warm, map.warm), ratio(ours.fresh, map.fresh)));
    let (globset, regex) = (of("globset"), of("RegexSet"));
    let bytes = set.values.iter().map(String::len).sum::<usize>() / VALUES;
    let cells = times
        .iter()
        .map(|cell| cell.map_or_else(|why| why.clone(), |own| both(time(own.warm), time(own.fresh))));
    Ok([n.to_string(), bytes.to_string()]
        .into_iter()
        .chain(cells)
        .chain([lost, shown(globset), shown(regex)])
        .collect())
}

/// All who know the same globs must name the same pattern, as far as they mean the same.
fn agree(ready: &[Result<Built, String>], jobs: &mut [Job], set: &Set) -> Result<(), String> {
    let names: Vec<&str> =
        NAMES.iter().zip(ready).filter(|(_, built)| built.is_ok()).map(|(name, _)| *name).collect();
    for value in 0..TRIED {
        let mut answers = names.iter().zip(jobs.iter_mut()).filter(|(name, _)| {
            !matches!(**name, "our decision" | "hash map") && (**name != "wildmatch" || !set.kind.is_path())
        });
        let Some(ours) = answers.next().map(|(_, job)| job(value)) else { continue };
        for (name, job) in answers {
            let theirs = job(value);
            let named = |at: u64| at.checked_sub(1).and_then(|at| set.globs.get(at as usize));
            // In globset `a/**` is what lies below `a`; here it is `a` too.
            let wider =
                named(ours).is_some_and(|glob| glob.ends_with("/**")) && *name != "aho-corasick + verify";
            if ours != theirs && !wider {
                let [ours, theirs, value] = [named(ours), named(theirs), set.values.get(value)];
                return Err(format!("{value:?}: we say {ours:?}, {name} says {theirs:?}"));
            }
        }
    }
    Ok(())
}

/// Whether a contender can be built within the box: tried in a process of its own, which can be ended.
fn buildable(name: &str, kind: Kind, n: usize) -> bool {
    let Ok(own) = std::env::current_exe() else { return false };
    let script = format!("ulimit -v {} && ulimit -t {} && exec \"$@\"", BOX.1, BOX.0);
    Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(own)
        .args(["try", name, kind.word(), &n.to_string()])
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The process of [`buildable`]: builds and looks some values up.
pub fn attempt(name: &str, kind: &str, n: usize) -> Result<(), String> {
    let kind = Kind::ALL.into_iter().find(|own| own.word() == kind).ok_or("no such kind")?;
    let set = Set::new(kind, n);
    let built = built(name, &set)?;
    let mut job = job(&built, &set)?;
    (0..TRIED).for_each(|value| {
        job(value);
    });
    Ok(())
}
