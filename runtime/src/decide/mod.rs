//! The main path: facts and a table in, a verdict out.
//!
//! INVARIANT: never fails and never guesses: damage denies, a limit asks, and the strictest of all values and findings
//! is the answer. `docs/semantics.md` is the law.

mod candidates;
mod guards;
mod marks;
mod matching;
mod paid;
mod past;
mod place;
mod report;
mod rules;
mod same;
mod texts;
mod values;
mod views;

use crate::facts::{Facts, ToolName};
use crate::outside::{Nobody, Outside};
use crate::table::groups::Group;
use crate::table::layout::Section;
use crate::table::{Damaged, Table};
use crate::verdict::Verdict;
pub use past::happened;
use report::Report;

/// What a decision may know besides table and facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context {
    /// Today in UTC, days since the epoch; exceptions end by it.
    pub today: i64,
}

/// Longest name of a tool that is understood, in bytes.
pub const MOST_TOOL: usize = 256;
/// Longest host.
pub const MOST_HOST: usize = 255;
/// Longest path.
pub const MOST_PATH: usize = 8 << 10;
/// Longest command, and longest argument.
pub const MOST_COMMAND: usize = 64 << 10;
/// Most readings of a tool's name.
const MOST_READINGS: usize = 64;
/// Most values of one kind.
pub const MOST_VALUES: usize = 4096;

/// Why there is no ordinary answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The table says what cannot be: deny.
    Damaged,
    /// The value takes more work than it may: it counts as not understood.
    Limit,
}

impl From<Damaged> for Stop {
    fn from(_: Damaged) -> Stop {
        Stop::Damaged
    }
}

/// Decides a call.
///
/// Every reading of the tool's name is decided, and the strictest holds.
#[must_use]
pub fn decide(table: &Table<'_>, facts: &Facts, context: &Context) -> Verdict {
    decide_with(table, facts, context, &Nobody)
}

/// As [`decide`], with somebody to ask for what checks find.
#[must_use]
pub fn decide_with(table: &Table<'_>, facts: &Facts, context: &Context, outside: &dyn Outside) -> Verdict {
    let facts = &*marks::known(facts);
    let mut matching = matching::Matching::new(*table, facts);
    try_decide(&mut matching, table, facts, (context, outside)).unwrap_or_else(|_| report::damaged())
}

/// How many steps of comparing texts a decision takes; for tests that bound the work.
#[must_use]
pub fn work(table: &Table<'_>, facts: &Facts, context: &Context) -> u64 {
    let facts = &*marks::known(facts);
    let mut matching = matching::Matching::new(*table, facts);
    let _ = try_decide(&mut matching, table, facts, (context, &Nobody));
    matching.spent()
}

fn try_decide<'f>(
    matching: &mut matching::Matching<'_, 'f>,
    table: &Table<'_>,
    facts: &'f Facts,
    (context, outside): (&Context, &dyn Outside),
) -> Result<Verdict, Stop> {
    let mut report = Report::new(outside.most().findings);
    let mut texts = texts::Texts::new(facts, outside);
    let values = values::Values::new(matching, &mut report)?;
    let nameless = [ToolName::default()];
    let readings = if facts.readings.is_empty() { &nameless } else { facts.readings.as_slice() };
    for tool in readings.iter().take(MOST_READINGS) {
        let mut judge = || {
            let groups = groups(matching, tool)?;
            let call = Call { values: &values, groups: &groups, context };
            // What was found before a limit stays found.
            let rules = rules::judge(matching, &call, &mut report);
            guards::judge(matching, &call, &mut texts, outside, &mut report).and(rules)
        };
        match judge() {
            Err(Stop::Limit) => {
                report.floor(report::Value::Call, "the call takes too much work to be judged".to_owned())
            }
            other => other?,
        }
    }
    if readings.len() > MOST_READINGS {
        report.floor(report::Value::Call, "the name of the tool can be read in too many ways".to_owned());
    }
    past::resolve(table, facts, outside, &mut report)?;
    let secrets = texts.secrets(table, report.formats())?;
    Ok(Verdict { secrets, ..report.verdict(table, facts)? })
}

/// One reading of a call.
struct Call<'c, 'f> {
    values: &'c values::Values<'f>,
    groups: &'c [Group],
    context: &'c Context,
}

/// The groups whose scope looks at this tool, event and caller.
fn groups(matching: &mut matching::Matching<'_, '_>, tool: &ToolName) -> Result<Vec<Group>, Stop> {
    let table = matching.table;
    let automaton = table.automaton(table.row(Section::Info, 0)?.range(7)?)?;
    matching.at_hand(std::iter::empty());
    let mut scopes = Vec::new();
    let name = format!("{}\0{}", tool.server, tool.tool).to_lowercase();
    matching.each(automaton, &name, &mut |id| scopes.push(id))?;
    if tool.own && !tool.server.is_empty() {
        let name = format!("\0{}", tool.tool).to_lowercase();
        matching.each(automaton, &name, &mut |id| scopes.push(id))?;
    }
    scopes.sort_unstable();
    scopes.dedup();
    let mut groups = Vec::new();
    for scope in scopes {
        let row = table.row(Section::Scopes, scope.checked_sub(1).ok_or(Stop::Damaged)?)?;
        let facts = matching.facts;
        let mut event = false;
        for word in table.texts(row.range(0)?)? {
            event |= word? == facts.event;
        }
        let labels = row.range(2)?;
        let mut label = labels.count == 0;
        for word in table.texts(labels)? {
            let word = word?;
            label |= facts.labels.iter().any(|own| own == word);
        }
        if event && label {
            for index in row.range(4)?.within(table.rows(Section::Groups).len())? {
                groups.push(table.group(index)?);
            }
        }
    }
    Ok(groups)
}
