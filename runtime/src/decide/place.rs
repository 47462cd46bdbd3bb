//! Where values lie: which `for` and `project` conditions hold for a file.
//!
//! INVARIANT: a rule or an exception counts a value in only when every name surely lies within; a guard already when one
//! name may.

use super::Stop;
use super::matching::Matching;
use super::views::View;
use crate::glob::{self, Syntax};
use crate::run_match::{Match, folded_in, meets};
use crate::table::layout::Section;
use crate::table::read::Range;
use std::collections::BTreeMap;

/// Where one value lies.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// Nothing is known of it: it may lie anywhere.
    unknown: bool,
    /// By condition: for rules and exceptions, for guards. What is not listed does not hold.
    holds: BTreeMap<u32, (Match, Match)>,
}

impl Place {
    pub(super) fn unknown() -> Place {
        Place { unknown: true, holds: BTreeMap::new() }
    }

    fn get(&self, within: u32) -> (Match, Match) {
        if self.unknown {
            return (Match::Possible, Match::Possible);
        }
        self.holds.get(&within).copied().unwrap_or_default()
    }

    /// Whether all conditions hold, as a rule or an exception sees it.
    pub(super) fn strict(&self, matching: &Matching<'_, '_>, withins: Range) -> Result<Match, Stop> {
        let mut least = Match::Certain;
        for within in matching.table.numbers(withins)? {
            least = least.min(self.get(within?).0);
        }
        Ok(least)
    }

    /// Whether all conditions hold, as a guard sees it.
    pub(super) fn loose(&self, matching: &Matching<'_, '_>, withins: Range) -> Result<Match, Stop> {
        let mut least = Match::Certain;
        for within in matching.table.numbers(withins)? {
            least = least.min(self.get(within?).1);
        }
        Ok(least)
    }
}

/// The place of a file by the spellings of all its names.
pub(super) fn place(matching: &mut Matching<'_, '_>, names: &[Vec<View<'_>>]) -> Result<Place, Stop> {
    if matching.table.rows(Section::Withins).len() == 0 {
        return Ok(Place::default());
    }
    if names.is_empty() || names.iter().any(Vec::is_empty) {
        return Ok(Place::unknown());
    }
    matching.at_hand(names.iter().flatten());
    let mut all: Option<BTreeMap<u32, (Match, Match)>> = None;
    for views in names {
        let one = if views.iter().all(|v| v.open.is_none()) {
            by_automata(matching, views)?
        } else {
            one_by_one(matching, views)?
        };
        all = Some(match all {
            None => one,
            Some(before) => {
                let ids: Vec<u32> = before.keys().chain(one.keys()).copied().collect();
                let get = |map: &BTreeMap<u32, (Match, Match)>, id| map.get(&id).copied().unwrap_or_default();
                ids.into_iter()
                    .map(|id| {
                        let (a, b) = (get(&before, id), get(&one, id));
                        (id, (a.0.min(b.0), a.1.max(b.1)))
                    })
                    .collect()
            }
        });
    }
    Ok(Place { unknown: false, holds: all.unwrap_or_default() })
}

/// Include exact, include folded, exclude exact, exclude folded.
type Four = [bool; 4];

fn by_automata(
    matching: &mut Matching<'_, '_>,
    views: &[View<'_>],
) -> Result<BTreeMap<u32, (Match, Match)>, Stop> {
    let row = matching.table.row(Section::Info, 0)?;
    let mut found: BTreeMap<u32, Four> = BTreeMap::new();
    for view in views {
        for side in 0..4 {
            let bytes = matching.table.automaton(row.range(9 + 2 * side)?)?;
            let value = if side % 2 == 0 { &view.sure } else { &view.folded };
            matching.each(bytes, value, &mut |id| {
                if let Some(hit) = found.entry(id).or_default().get_mut(side) {
                    *hit = true;
                }
            })?;
        }
    }
    Ok(found
        .into_iter()
        .filter_map(|(id, [include, include_folded, exclude, exclude_folded])| {
            let maybe = include_folded && !exclude;
            let strict = if include && !exclude_folded { Match::Certain } else { Match::maybe(maybe) };
            Some((id.checked_sub(1)?, (strict, Match::sure(maybe))))
        })
        .collect())
}

fn one_by_one(
    matching: &mut Matching<'_, '_>,
    views: &[View<'_>],
) -> Result<BTreeMap<u32, (Match, Match)>, Stop> {
    let table = matching.table;
    let mut holds = BTreeMap::new();
    for id in 0..table.rows(Section::Withins).len() {
        let row = table.row(Section::Withins, id)?;
        let (mut include, mut exclude) = ([Match::No; 2], [Match::No; 2]);
        for (range, sides) in [(row.range(0)?, &mut include), (row.range(2)?, &mut exclude)] {
            for pattern in table.texts(range)? {
                let pattern = pattern?;
                for view in views {
                    matching.spend(pattern.len(), view.sure.len())?;
                    let [exact, folded] = sides;
                    let sure = view.grantable && glob::matches(pattern, &view.sure, Syntax::Path, false);
                    *exact = (*exact).max(Match::sure(sure));
                    let sure = folded_in(pattern, &view.folded, Syntax::Path);
                    let maybe = view.open.as_deref().is_some_and(|open| meets(pattern, open, Syntax::Path));
                    *folded = (*folded).max(if sure { Match::Certain } else { Match::maybe(maybe) });
                }
            }
        }
        let maybe = include[1] > Match::No && exclude[0] == Match::No;
        let strict = if include[0] == Match::Certain && exclude[1] == Match::No {
            Match::Certain
        } else {
            Match::maybe(maybe)
        };
        let loose = if include[1] == Match::Certain && exclude[1] == Match::No {
            Match::Certain
        } else {
            Match::maybe(maybe)
        };
        if maybe {
            holds.insert(id, (strict, loose));
        }
    }
    Ok(holds)
}
