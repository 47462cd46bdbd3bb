//! The index of run patterns: each stands under the rarest thing that a command must hold to match it.
//!
//! INVARIANT: a command that may match a pattern holds a thing under which the pattern stands, or something in it is not known
//! and the pattern stands under that; `policy_runtime`'s `candidates` is the other half.

use super::groups::width;
use super::programs::halves;
use super::sets::Sets;
use super::store::Store;
use super::{EmitError, MOST_CANDIDATES};
use crate::ir::{Matcher, Place, Policy, RunPattern, RunTerm};
use policy_runtime::table::layout::{
    ANY_PROGRAM, Item, KEYED_WORDS, MOST_TRIES, Section, matcher, program_pattern, run_key, run_program,
    run_word,
};
use std::collections::{BTreeMap, BTreeSet};

/// One pattern, and what it asks for.
struct Asks {
    rank: u32,
    index: usize,
    programs: Vec<u64>,
    /// Of each of these things a command must hold one.
    things: Vec<Thing>,
}

/// Things of which one is needed.
struct Thing {
    items: Vec<Item>,
    /// Which operand it must be.
    place: Option<u32>,
}

/// Writes the part of a group for the run patterns of one side.
pub(super) fn runs(
    policy: &Policy,
    runs: &[(u32, usize)],
    grant: bool,
    sets: &mut Sets<'_>,
    store: &mut Store,
) -> Result<(), EmitError> {
    let mut all = Vec::with_capacity(runs.len());
    for (rank, index) in runs {
        let Some(Matcher::Run(pattern)) = policy.patterns.get(*index).map(|p| &p.matcher) else { continue };
        let mut things = words(pattern, grant);
        if !grant {
            let numbers = pattern.sets().filter_map(|(_, set)| sets.number(Some(set)).checked_sub(1));
            things.extend(numbers.map(|number| Thing { items: vec![Item::Set(number)], place: None }));
        }
        all.push(Asks { rank: *rank, index: *index, programs: programs(pattern), things });
    }
    let mut counts: BTreeMap<(u64, Item), u32> = BTreeMap::new();
    for asks in &all {
        let keys: BTreeSet<(u64, Item)> =
            asks.things.iter().flat_map(|thing| asks.under(&thing.items)).collect();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
    }
    let count = |key: (u64, Item)| counts.get(&key).copied().unwrap_or(0);
    let mut keys: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for asks in &all {
        let cost = |thing: &&Thing| asks.under(&thing.items).map(count).max();
        let chosen = asks.things.iter().min_by_key(cost);
        let mut full = None;
        let mut add = |item: Item| {
            for program in &asks.programs {
                let ranks = keys.entry(run_key(*program, item)).or_default();
                ranks.insert(asks.rank);
                if ranks.len() > MOST_CANDIDATES && !matches!(item, Item::From(_) | Item::Sets) {
                    full = Some(ranks.len());
                }
            }
        };
        match chosen {
            None => add(Item::Nothing),
            Some(thing) => {
                for item in &thing.items {
                    add(*item);
                    if let Item::Set(number) = item {
                        sets.find_by(*number);
                    }
                }
                // A command in which something is not known may match all the same.
                match thing.place {
                    Some(place) if !grant => (0..=place).map(Item::From).for_each(add),
                    Some(_) => {}
                    None => add(Item::Sets),
                }
            }
        }
        if let Some(count) = full {
            let message = format!(
                "one command would be compared with {count} run patterns, the most is {MOST_CANDIDATES}; \
                 they share their program and all words"
            );
            return Err(EmitError { place: place(policy, asks.index), message });
        }
    }
    let slots = slots(keys)?;
    let first = store.records(Section::RunKeys, width(Section::RunKeys));
    let count = u32::try_from(slots.len()).unwrap_or(u32::MAX);
    for slot in slots {
        let (key, ranks) = slot.unwrap_or_default();
        let ranks: Vec<u32> = ranks.into_iter().collect();
        let list = store.numbers(&ranks);
        let [low, high] = halves(key);
        store.record(Section::RunKeys, &[low, high, list.first, list.count]);
    }
    let ranks: Vec<u32> = runs.iter().map(|(rank, _)| *rank).collect();
    let ranks = store.numbers(&ranks);
    let row = [matcher::RUN, u32::from(grant), 0, 0, 0, ranks.first, ranks.count, first, count];
    store.record(Section::Parts, &row);
    Ok(())
}

impl Asks {
    fn under<'a>(&'a self, items: &'a [Item]) -> impl Iterator<Item = (u64, Item)> + 'a {
        self.programs.iter().flat_map(move |program| items.iter().map(move |item| (*program, *item)))
    }
}

fn place(policy: &Policy, index: usize) -> Option<Place> {
    let line = policy.patterns.get(index)?.line;
    policy.lines.get(line.0 as usize).map(|line| line.place)
}

type Slot = Option<(u64, BTreeSet<u32>)>;

/// The keys as a hash table in which no run of taken slots is as long as what is tried.
fn slots(keys: BTreeMap<u64, BTreeSet<u32>>) -> Result<Vec<Slot>, EmitError> {
    let mut size = (2 * keys.len()).next_power_of_two();
    let limit = size << 4;
    while size <= limit {
        let mut taken = vec![None; size];
        for key in keys.keys() {
            let first = (*key & 0xFFFF_FFFF) as usize;
            let free = (0..size).map(|more| first.wrapping_add(more) & (size - 1));
            let free = free.into_iter().find(|at| taken.get(*at).is_some_and(Option::is_none));
            if let Some(slot) = free.and_then(|at| taken.get_mut(at)) {
                *slot = Some(*key);
            }
        }
        // The table is a ring.
        let (mut run, mut longest) = (0u32, 0u32);
        for slot in taken.iter().chain(&taken) {
            run = if slot.is_some() { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        if longest < MOST_TRIES {
            let mut keys = keys;
            return Ok(taken
                .into_iter()
                .map(|key| key.and_then(|key| keys.remove(&key).map(|ranks| (key, ranks))))
                .collect());
        }
        size *= 2;
    }
    Err(EmitError::new("the index of the run patterns has too many equal keys"))
}

/// The programs under which a pattern stands; that of any when one of them is a glob.
fn programs(pattern: &RunPattern) -> Vec<u64> {
    let stage = pattern.stages.last();
    let names: Option<BTreeSet<u64>> = stage
        .map(|stage| stage.program.iter())
        .into_iter()
        .flatten()
        .map(|name| literal(name).map(|name| run_program(&program_pattern(&name))))
        .collect();
    let names = names.filter(|names| !names.is_empty());
    names.map_or_else(|| vec![ANY_PROGRAM], |names| names.into_iter().collect())
}

/// The words of which a command must hold one each, when they are plain text.
fn words(pattern: &RunPattern, grant: bool) -> Vec<Thing> {
    let Some(stage) = pattern.stages.last() else { return Vec::new() };
    // A refusal's flags may stand anywhere, and in many ways.
    let counts = |term: &&RunTerm| match term {
        RunTerm::Word(_) | RunTerm::AnyWord => true,
        RunTerm::Flag(_) => grant,
        RunTerm::AnyFlags => false,
    };
    let terms = (0..KEYED_WORDS).zip(stage.terms.iter().filter(counts));
    terms
        .filter_map(|(place, term)| {
            let (RunTerm::Word(words) | RunTerm::Flag(words)) = term else { return None };
            let items: Option<BTreeSet<Item>> =
                words.iter().map(|word| literal(word).map(|word| Item::Word(run_word(&word)))).collect();
            let items = items.filter(|items| !items.is_empty())?;
            Some(Thing { items: items.into_iter().collect(), place: Some(place) })
        })
        .collect()
}

/// The text of a glob without wildcards.
fn literal(glob: &str) -> Option<String> {
    let mut out = String::with_capacity(glob.len());
    let mut chars = glob.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' => return None,
            '\\' => out.push(chars.next().unwrap_or('\\')),
            c => out.push(c),
        }
    }
    Some(out)
}
