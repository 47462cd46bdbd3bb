//! The intermediate form to the bytes of a table.
//!
//! INVARIANT: the same policy gives the same bytes on every machine; nothing in them depends on where they lie.

mod content;
mod groups;
#[cfg(test)]
mod meaning;
mod past;
mod programs;
mod runs;
#[cfg(test)]
mod scale;
mod sets;
mod store;
#[cfg(test)]
mod tests;

use crate::automata::{BuildError, GlobInput, Syntax, build};
use crate::ir::{Default_, Matcher, Place, Policy, Verb};
use content::Needles;
use policy_runtime::table::layout::{self, Section, at, matcher};
use policy_runtime::table::{content_start, seal};
use sets::Sets;
use std::fmt;
use store::{Range, Store};

/// Why a policy has no table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmitError {
    /// The line that is at fault, when it is one.
    pub place: Option<Place>,
    /// One lower-case sentence without a final period.
    pub message: String,
}

impl EmitError {
    fn new(message: impl Into<String>) -> EmitError {
        EmitError { place: None, message: message.into() }
    }
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EmitError {}

/// The largest table, bytes.
pub const MOST_TABLE: usize = 64 << 20;
/// The most run patterns of one group that stand under one key: with which a command is compared one by one.
pub const MOST_CANDIDATES: usize = 1024;

/// Writes the table of one layer.
///
/// # Errors
///
/// When the policy refers to what it does not have, or its automata or the table grow too large.
pub fn emit(policy: &Policy, sources_digest: &[u8; 32], build: &[u8; 32]) -> Result<Vec<u8>, EmitError> {
    let mut store = Store::default();
    let emitted = rank(policy)?;
    let globals = globals(policy, &mut store)?;
    let needles = Needles::of(policy);
    let mut sets = Sets::of(policy);
    let over_sets = sets.automata(policy, &mut store)?;
    info(policy, &globals, &over_sets, &mut store);
    for file in &policy.files {
        let text = store.text(file);
        store.record(Section::Files, &[text.first, text.count]);
    }
    for within in &policy.withins {
        let (include, exclude) = (store.text_list(&within.include), store.text_list(&within.exclude));
        store.record(Section::Withins, &[include.first, include.count, exclude.first, exclude.count]);
    }
    let scopes = groups::groups(policy, &emitted, (&mut sets, &needles), &mut store)?;
    sets.records(&mut store);
    for (scope, groups) in policy.scopes.iter().zip(scopes) {
        let (events, labels) = (store.text_list(&scope.events), store.text_list(&scope.labels));
        let tools = store.text_list(&scope.tools);
        let row: Vec<u32> = [events, labels, groups, tools].iter().flat_map(|r| [r.first, r.count]).collect();
        store.record(Section::Scopes, &row);
    }
    needles.write(policy, &mut store)?;
    blocks(policy, &mut store);
    lines(policy, &emitted, (&sets, &needles), &mut store);
    patterns(policy, &emitted, (&sets, &needles), &mut store);
    past::write(policy, (&sets, &needles), &mut store);
    programs::programs(&mut store, &policy.programs);
    if store.too_large() {
        return Err(EmitError::new("the table grows over 4 GiB"));
    }
    assemble(store, sources_digest, build)
}

/// A pattern in the order of the table: one of the policy, or the no of an `only` line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Emitted {
    Pattern(usize),
    /// Number of the line.
    Miss(u32),
}

/// The no of an `only` line stands below all patterns of its block but `otherwise`.
fn rank(policy: &Policy) -> Result<Vec<Emitted>, EmitError> {
    let missing = || EmitError::new("the policy refers to a line or block that it does not have");
    let mut misses: Vec<Vec<u32>> = vec![Vec::new(); policy.blocks.len()];
    for (number, line) in policy.lines.iter().enumerate().filter(|(_, l)| l.verb == Verb::Only) {
        let number = u32::try_from(number).map_err(|_| missing())?;
        misses.get_mut(line.block.0 as usize).ok_or_else(missing)?.push(number);
    }
    let mut out = Vec::with_capacity(policy.patterns.len());
    let mut closed = vec![false; policy.blocks.len()];
    let mut current = None;
    for (index, pattern) in policy.patterns.iter().enumerate() {
        let line = policy.lines.get(pattern.line.0 as usize).ok_or_else(missing)?;
        let block = line.block.0 as usize;
        let rule = policy.blocks.get(block).ok_or_else(missing)?.kind == crate::ir::BlockKind::Rule;
        if rule && current != Some(block) {
            if closed.get(block).copied().unwrap_or(false) {
                return Err(EmitError::new("the patterns of a rule do not stand together"));
            }
            if let Some(done) = current.and_then(|old: usize| closed.get_mut(old)) {
                *done = true;
            }
            current = Some(block);
        }
        let last = matches!(line.verb, Verb::OtherwiseAllow | Verb::OtherwiseAsk | Verb::OtherwiseDeny);
        if !last {
            let lines = misses.get_mut(block).map(std::mem::take).unwrap_or_default();
            out.extend(lines.into_iter().map(Emitted::Miss));
        }
        out.push(Emitted::Pattern(index));
    }
    Ok(out)
}

fn info(policy: &Policy, globals: &[Range; 5], over_sets: &[Range; sets::AUTOMATA], store: &mut Store) {
    let name = store.text(&policy.name);
    let default = match policy.default {
        None => 0,
        Some(Default_::Allow) => 1,
        Some(Default_::Host) => 2,
        Some(Default_::Ask) => 3,
        Some(Default_::Deny) => 4,
    };
    let mut row = vec![name.first, name.count, default, policy.default_place.file, policy.default_place.line];
    row.extend([more(policy.ask_timeout), u32::from(policy.observe)]);
    row.extend(globals.iter().flat_map(|range| [range.first, range.count]));
    row.extend(programs::halves(store.programs_sum()));
    row.extend(over_sets.iter().flat_map(|range| [range.first, range.count]));
    let checks = policy.lines.iter().any(|line| line.kind == crate::ir::Kind::Check);
    let lines = policy.tails.iter().filter_map(|tail| tail.limit.as_ref());
    let lines = lines.filter(|limit| limit.measure == crate::ir::Measure::Lines).count() > 0;
    row.push(u32::from(checks || lines));
    row.push(u32::from(past::needs_store(policy)));
    let some = policy.blocks.iter().any(|block| block.page_only);
    row.push(if policy.page_only { 2 } else { u32::from(some) });
    store.record(Section::Info, &row);
}

fn more(number: Option<u32>) -> u32 {
    number.map_or(0, |n| n.saturating_add(1))
}

/// The automata over tools and over file conditions.
fn globals(policy: &Policy, store: &mut Store) -> Result<[Range; 5], EmitError> {
    let id = |index: usize| u32::try_from(index + 1).unwrap_or(u32::MAX);
    let mut tools = Vec::new();
    for (index, scope) in policy.scopes.iter().enumerate() {
        tools.extend(scope.tools.iter().map(|text| (text.to_lowercase(), id(index))));
    }
    let (mut include, mut exclude) = (Vec::new(), Vec::new());
    for (index, within) in policy.withins.iter().enumerate() {
        include.extend(within.include.iter().map(|text| (text.clone(), id(index))));
        exclude.extend(within.exclude.iter().map(|text| (text.clone(), id(index))));
    }
    let fold = |list: &[(String, u32)]| -> Vec<(String, u32)> {
        list.iter().map(|(text, id)| (text.to_lowercase(), *id)).collect()
    };
    Ok([
        automaton(&tools, Syntax::Plain, false, store).map_err(|(e, _)| e)?,
        automaton(&include, Syntax::Path, false, store).map_err(|(e, _)| e)?,
        automaton(&fold(&include), Syntax::Path, true, store).map_err(|(e, _)| e)?,
        automaton(&exclude, Syntax::Path, false, store).map_err(|(e, _)| e)?,
        automaton(&fold(&exclude), Syntax::Path, true, store).map_err(|(e, _)| e)?,
    ])
}

/// Builds and stores an automaton; an error says whose glob is at fault, when it is one.
fn automaton(
    globs: &[(String, u32)],
    syntax: Syntax,
    fold: bool,
    store: &mut Store,
) -> Result<Range, (EmitError, Option<u32>)> {
    if globs.is_empty() {
        return Ok(Range::default());
    }
    let inputs: Vec<GlobInput<'_>> = globs.iter().map(|(text, id)| GlobInput { text, id: *id }).collect();
    let failed = |error: BuildError| {
        // One glob alone that fails is the culprit; else it is their number, and the first that is too many.
        let alone = inputs.iter().find(|input| build(&[**input], syntax, fold).is_err());
        let culprit = alone.or_else(|| {
            let fails =
                |count: &usize| inputs.get(..*count).is_some_and(|some| build(some, syntax, fold).is_err());
            let counts: Vec<usize> = (0..inputs.len()).collect();
            inputs.get(counts.partition_point(|count| !fails(&(count + 1))))
        });
        (EmitError::new(error.to_string()), culprit.map(|input| input.id))
    };
    Ok(store.automaton(build(&inputs, syntax, fold).map_err(failed)?))
}

fn blocks(policy: &Policy, store: &mut Store) {
    let mut lines: Vec<Vec<u32>> = vec![Vec::new(); policy.blocks.len()];
    let mut kinds = vec![0u32; policy.blocks.len()];
    for (number, line) in policy.lines.iter().enumerate() {
        let block = line.block.0 as usize;
        if let (Some(list), Some(mask)) = (lines.get_mut(block), kinds.get_mut(block)) {
            list.push(u32::try_from(number).unwrap_or(u32::MAX));
            *mask |= 1 << line.kind as u32;
        }
    }
    for ((block, lines), kinds) in policy.blocks.iter().zip(&lines).zip(&kinds) {
        let withins: Vec<u32> = block.withins.iter().map(|w| w.0).collect();
        let name = store.text(&block.name);
        let withins = store.numbers(&withins);
        let (because, suggest) = (store.text(&block.because), store.text(&block.suggest));
        let owner = store.text(&block.owner);
        let lines = store.numbers(lines);
        let [low, high] = programs::halves(block.until.unwrap_or(0).cast_unsigned());
        store.record(
            Section::Blocks,
            &[
                block.kind as u32,
                name.first,
                name.count,
                block.place.file,
                block.place.line,
                block.scope.0,
                withins.first,
                withins.count,
                because.first,
                because.count,
                suggest.first,
                suggest.count,
                more(block.ask_timeout),
                more(block.opens.map(|b| b.0)),
                u32::from(block.until.is_some()),
                low,
                high,
                owner.first,
                owner.count,
                lines.first,
                lines.count,
                *kinds,
                u32::from(block.page_only),
            ],
        );
    }
}

fn lines(
    policy: &Policy,
    emitted: &[Emitted],
    (sets, needles): (&Sets<'_>, &Needles<'_>),
    store: &mut Store,
) {
    let mut ranks: Vec<Vec<u32>> = vec![Vec::new(); policy.lines.len()];
    for (rank, pattern) in (1u32..).zip(emitted) {
        let line = match pattern {
            Emitted::Pattern(index) => policy.patterns.get(*index).map(|p| p.line.0),
            Emitted::Miss(line) => Some(*line),
        };
        if let Some(list) = line.and_then(|line| ranks.get_mut(line as usize)) {
            list.push(rank);
        }
    }
    let mut tails = (1u32..).zip(&policy.tails).peekable();
    let mut excepts: Vec<usize> = (0..policy.excepts.len()).collect();
    excepts.sort_by_key(|index| policy.excepts.get(*index).map(|e| e.line.0));
    let mut excepts = excepts.into_iter().filter_map(|index| policy.excepts.get(index)).peekable();
    for ((number, line), ranks) in (0u32..).zip(&policy.lines).zip(&ranks) {
        let first = store.records(Section::Excepts, 5);
        let mut count = 0;
        while let Some(except) = excepts.next_if(|e| e.line.0 == number) {
            let [kind, a, b] = matcher_words(&except.matcher, (sets, needles), store);
            store.record(Section::Excepts, &[number, kind, u32::from(except.grant), a, b]);
            count += 1;
        }
        let first = if count == 0 { 0 } else { first };
        let (arg, because, suggest) =
            (store.text(&line.arg), store.text(&line.because), store.text(&line.suggest));
        let patterns = store.numbers(ranks);
        let tail = tails.next_if(|(_, tail)| tail.line.0 == number).map_or(0, |(at, _)| at);
        store.record(
            Section::Lines,
            &[
                line.block.0,
                line.verb as u32,
                line.kind as u32,
                arg.first,
                arg.count,
                because.first,
                because.count,
                suggest.first,
                suggest.count,
                line.place.file,
                line.place.line,
                first,
                count,
                patterns.first,
                patterns.count,
                tail,
            ],
        );
    }
}

fn patterns(
    policy: &Policy,
    emitted: &[Emitted],
    (sets, needles): (&Sets<'_>, &Needles<'_>),
    store: &mut Store,
) {
    for pattern in emitted {
        let row = match pattern {
            Emitted::Pattern(index) => {
                let Some(pattern) = policy.patterns.get(*index) else { continue };
                let text = store.text(&pattern.text);
                let [kind, a, b] = matcher_words(&pattern.matcher, (sets, needles), store);
                [pattern.line.0, text.first, text.count, kind, u32::from(pattern.grant), a, b]
            }
            Emitted::Miss(line) => {
                let text = store.text("only");
                [*line, text.first, text.count, matcher::MISS, 0, 0, 0]
            }
        };
        store.record(Section::Patterns, &row);
    }
}

fn matcher_words(
    matcher: &Matcher,
    (sets, needles): (&Sets<'_>, &Needles<'_>),
    store: &mut Store,
) -> [u32; 3] {
    let mut text = |kind: u32, text: &str| {
        let range = store.text(text);
        [kind, range.first, range.count]
    };
    match matcher {
        Matcher::Path(glob) => text(matcher::PATH, glob),
        Matcher::Domain(glob) => text(matcher::DOMAIN, glob),
        Matcher::Command(glob) => text(matcher::COMMAND, glob),
        Matcher::Arg(glob) => text(matcher::ARG, glob),
        Matcher::Run(pattern) => [matcher::RUN, programs::run(store, pattern, sets), 0],
        Matcher::Shell(mask) => [matcher::SHELL, *mask, 0],
        Matcher::Content(view, _) | Matcher::Secret(view, _) => {
            [matcher::CONTENT, needles.of_matcher(matcher).unwrap_or(u32::MAX), *view as u32]
        }
        Matcher::Check(options) => text(matcher::CHECK, options),
        Matcher::Always => [matcher::ALWAYS, 0, 0],
    }
}

fn assemble(store: Store, sources_digest: &[u8; 32], build: &[u8; 32]) -> Result<Vec<u8>, EmitError> {
    let sections = store.into_sections();
    let lengths = sections.iter().map(|section| section.len().next_multiple_of(layout::ALIGN));
    // Behind the roots the first section is aligned.
    let room = lengths.sum::<usize>() + layout::ALIGN;
    let content = content_start(sections.len(), room);
    let mut body = Vec::new();
    let mut directory = Vec::new();
    for (tag, section) in (0u32..).zip(&sections) {
        let start = (content + body.len()).next_multiple_of(layout::ALIGN);
        body.resize(start - content, 0);
        body.extend_from_slice(section);
        directory.extend(tag.to_le_bytes());
        directory.extend(0u32.to_le_bytes());
        directory.extend((start as u64).to_le_bytes());
        directory.extend((section.len() as u64).to_le_bytes());
    }
    // As many pages as the roots were made for.
    let sums = (content + room).next_multiple_of(layout::PAGE);
    let pages = sums / layout::PAGE;
    let length = sums + pages * 8;
    if sums > MOST_TABLE {
        return Err(EmitError::new(format!("the table would have {sums} bytes; the most are {MOST_TABLE}")));
    }
    let mut table = vec![0u8; length];
    let mut put = |place: usize, bytes: &[u8]| {
        if let Some(slot) = table.get_mut(place..place + bytes.len()) {
            slot.copy_from_slice(bytes);
        }
    };
    put(0, &layout::MAGIC);
    put(at::ENDIAN, &layout::ENDIAN.to_le_bytes());
    put(at::FORMAT, &layout::FORMAT.to_le_bytes());
    put(at::READER, &layout::FORMAT.to_le_bytes());
    put(at::SEMANTICS, &layout::SEMANTICS.to_le_bytes());
    put(at::PAGE, &(layout::PAGE as u32).to_le_bytes());
    put(at::LENGTH, &(length as u64).to_le_bytes());
    put(at::SECTIONS, &(sections.len() as u32).to_le_bytes());
    put(at::PAGE_SUMS, &(sums as u64).to_le_bytes());
    put(at::SOURCES, sources_digest);
    put(at::BUILD, build);
    put(layout::HEADER, &directory);
    put(content, &body);
    seal(&mut table);
    Ok(table)
}
