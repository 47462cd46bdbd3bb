//! What a decision walks through: groups of lines that share scope, place and role, and their matchers.
//!
//! INVARIANT: a group is read whole in a few words; its patterns are only read when they are candidates.

use super::Table;
use super::layout::{MOST_TRIES, Section, role};
use super::read::{Damaged, Range, Read};

/// What a group's lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Rule,
    Guard,
    Exception,
}

/// Lines of one scope, place and role.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    pub(crate) role: Role,
    pub(crate) withins: Range,
    pub(crate) opens: Option<u32>,
    pub(crate) parts: Range,
    pub(crate) always: Range,
    pub(crate) shell: Range,
    pub(crate) otherwise: u32,
    pub(crate) miss_path: u32,
    pub(crate) miss_domain: u32,
    pub(crate) miss_command: u32,
    pub(crate) args: Range,
    pub(crate) only: Range,
    pub(crate) content: Range,
    pub(crate) checks: Range,
}

/// The matchers of a group for one subject.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) subject: u32,
    pub(crate) grant: bool,
    pub(crate) excepts: bool,
    pub(crate) automaton: Range,
    pub(crate) ranks: Range,
    pub(crate) keys: Range,
}

impl<'a> Table<'a> {
    pub(crate) fn group(&self, index: u32) -> Read<Group> {
        let row = self.row(Section::Groups, index)?;
        Ok(Group {
            role: match row.word(0)? {
                role::RULE => Role::Rule,
                role::GUARD => Role::Guard,
                role::EXCEPTION => Role::Exception,
                _ => return Err(Damaged),
            },
            withins: row.range(1)?,
            opens: row.word(3)?.checked_sub(1),
            parts: row.range(4)?,
            always: row.range(6)?,
            shell: row.range(8)?,
            otherwise: row.word(10)?,
            miss_path: row.word(11)?,
            miss_domain: row.word(12)?,
            miss_command: row.word(13)?,
            args: row.range(14)?,
            only: row.range(16)?,
            content: row.range(18)?,
            checks: row.range(20)?,
        })
    }

    pub(crate) fn parts(&self, group: &Group) -> Read<impl Iterator<Item = Read<Part>> + use<'a>> {
        let table = *self;
        let rows = self.rows(Section::Parts);
        Ok(group.parts.within(rows.len())?.map(move |index| {
            let row = rows.get(index)?;
            Ok(Part {
                subject: row.word(0)?,
                grant: table.flag(row.word(1)?)?,
                excepts: table.flag(row.word(2)?)?,
                automaton: row.range(3)?,
                ranks: row.range(5)?,
                keys: row.range(7)?,
            })
        }))
    }

    /// Names of arguments that lines of the group name, with the rank of the `only` line's no.
    pub(crate) fn arg_names(
        &self,
        group: &Group,
    ) -> Read<impl Iterator<Item = Read<(&'a str, u32)>> + use<'a>> {
        let table = *self;
        let rows = self.rows(Section::ArgNames);
        Ok(group.args.within(rows.len())?.map(move |index| {
            let row = rows.get(index)?;
            Ok((table.text_in(row, 0)?, row.word(2)?))
        }))
    }

    /// Ranks of the run patterns under a key.
    pub(crate) fn run_ranks(&self, part: &Part, key: u64) -> Read<Range> {
        let rows = self.rows(Section::RunKeys);
        let keys = part.keys.within(rows.len())?;
        let Some(mask) = part.keys.count.checked_sub(1) else { return Ok(Range::default()) };
        if part.keys.count & mask != 0 {
            return Err(Damaged);
        }
        let [a, b, c, d, ..] = key.to_le_bytes();
        let first = u32::from_le_bytes([a, b, c, d]);
        for more in 0..MOST_TRIES {
            let row = rows.get(keys.start + (first.wrapping_add(more) & mask))?;
            let ranks = row.range(2)?;
            if ranks.count == 0 {
                return Ok(ranks);
            }
            if u64::from(row.word(0)?) | u64::from(row.word(1)?) << 32 == key {
                return Ok(ranks);
            }
        }
        // No run of taken slots is as long.
        Err(Damaged)
    }
}
