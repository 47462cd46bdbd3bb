//! Finds what a table knows of a program, by the hash of its name.
//!
//! INVARIANT: never a scan over all programs; a damaged entry is an unknown program, which is the careful reading.

use super::Table;
use super::layout::{PROGRAM_FIELDS, Section};
use super::read::{Damaged, Read, Words};
use crate::checksum::checksum;
use crate::program::{Dialect, Effect, Inner, OptionStyle, Place, Program, Subcommand};

/// Subcommands inside subcommands that are read.
const DEPTH: u32 = 6;
/// Most texts of one list; only a damaged table has more.
const MOST_TEXTS: usize = 4096;

impl Table<'_> {
    /// What is known of the program with this file name.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<Program> {
        self.program_for(name, &|_| true)
    }

    /// The same with those subcommands only whose first word, or one of the same meaning, is `chosen`. The data of a
    /// program like git is large, and a command names one or two of its subcommands.
    #[must_use]
    pub fn program_for(&self, name: &str, chosen: &dyn Fn(&str) -> bool) -> Option<Program> {
        let mut words = self.find_program(name).ok()??;
        self.read_program(&mut words, chosen, DEPTH).ok()
    }

    /// Whether anything is known of the program with this file name.
    #[must_use]
    pub fn knows_program(&self, name: &str) -> bool {
        matches!(self.find_program(name), Ok(Some(_)))
    }

    fn find_program(&self, name: &str) -> Read<Option<Words<'_>>> {
        let hash = checksum(name.as_bytes());
        let keys = self.rows(Section::ProgramKeys);
        let key = |index: u32| keys.bytes.u64_at(index as usize * 4 * keys.width);
        let (mut low, mut high) = (0, keys.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if key(middle)? < hash { low = middle + 1 } else { high = middle }
        }
        while low < keys.len() && key(low)? == hash {
            let row = keys.get(low)?;
            if self.program_text(row.word(2)?, row.word(3)?)? == name {
                return Ok(Some(Words::new(self.section(Section::Programs), row.word(4)?)?));
            }
            low += 1;
        }
        Ok(None)
    }

    fn program_text(&self, start: u32, len: u32) -> Read<&str> {
        let bytes = self.section(Section::ProgramTexts).get(start as usize, len as usize)?;
        std::str::from_utf8(bytes).map_err(|_| Damaged)
    }

    /// Whether another table knows exactly the same of programs, so that both read a command alike.
    #[must_use]
    pub fn knows_the_same_programs(&self, other: &Table<'_>) -> bool {
        matches!((self.programs_sum(), other.programs_sum()), (Ok(own), Ok(others)) if own == others)
    }

    fn programs_sum(&self) -> Read<u64> {
        let row = self.row(Section::Info, 0)?;
        Ok(u64::from(row.word(17)?) | u64::from(row.word(18)?) << 32)
    }

    fn read_program(
        &self,
        words: &mut Words<'_>,
        chosen: &dyn Fn(&str) -> bool,
        depth: u32,
    ) -> Read<Program> {
        let depth = depth.checked_sub(1).ok_or(Damaged)?;
        let mask = words.next()?;
        let mut fields = [0u8; PROGRAM_FIELDS * 4];
        for (bit, slot) in fields.chunks_exact_mut(4).enumerate() {
            if mask >> bit & 1 == 1 {
                slot.copy_from_slice(&words.next()?.to_le_bytes());
            }
        }
        let mut program = self.read_fields(&mut Words::new(fields.as_slice(), 0)?)?;
        for _ in 0..words.count()? {
            let (list, length) = (words.next()?, words.next()? as usize);
            let first = self.text_list(list)?.next().transpose()?.unwrap_or_default();
            let alike = |group: &Vec<String>| {
                group.iter().any(|word| word == first) && group.iter().any(|word| chosen(word))
            };
            if chosen(first) || program.same_words.iter().any(alike) {
                let named = self.text_list(list)?.map(|text| text.map(str::to_owned)).collect::<Read<_>>()?;
                let program_of = self.read_program(&mut words.clone(), chosen, depth)?;
                program.subcommands.push(Subcommand { words: named, program: program_of });
            }
            words.skip(length)?;
        }
        Ok(program)
    }

    fn read_fields(&self, words: &mut Words<'_>) -> Read<Program> {
        Ok(Program {
            names: self.read_texts(words)?,
            style: match words.next()? {
                0 => OptionStyle::Anywhere,
                1 => OptionStyle::First,
                2 => OptionStyle::SingleDash,
                3 => OptionStyle::None,
                _ => return Err(Damaged),
            },
            value_flags: self.read_texts(words)?,
            pair_flags: self.read_texts(words)?,
            attached_flags: self.read_texts(words)?,
            flags: self.read_texts(words)?,
            inert_flags: self.read_texts(words)?,
            assignments: self.flag(words.next()?)?,
            late_options: self.flag(words.next()?)?,
            bundled: self.flag(words.next()?)?,
            input_always: self.flag(words.next()?)?,
            inner: self.sequence(words, |words| self.read_inner(words))?,
            subcommands: Vec::new(),
            input_flags: self.read_texts(words)?,
            placeholders: self.read_texts(words)?,
            placeholder_flags: self.read_texts(words)?,
            end_words: self.read_texts(words)?,
            dir_flags: self.read_texts(words)?,
            dialect: match words.next()? {
                0 => None,
                1 => Some(Dialect::Bash),
                2 => Some(Dialect::Posix),
                3 => Some(Dialect::Unknown),
                4 => Some(Dialect::Zsh),
                5 => Some(Dialect::PowerShell),
                6 => Some(Dialect::Cmd),
                _ => return Err(Damaged),
            },
            same_words: self.sequence(words, |words| self.read_texts(words))?,
            names_only: self.flag(words.next()?)?,
            prints_names: self.read_texts(words)?,
            operands_are_hosts: self.flag(words.next()?)?,
            remote_operands: self.flag(words.next()?)?,
            hosts: self.sequence(words, |words| self.read_place(words))?,
            effects: self.sequence(words, |words| self.read_effect(words))?,
            trees: {
                let some = self.flag(words.next()?)?;
                let flags = self.read_texts(words)?;
                some.then_some(flags)
            },
            network: self.flag(words.next()?)?,
            project_code: self.flag(words.next()?)?,
        })
    }

    /// Items that stand elsewhere, where the next word points.
    fn sequence<T>(&self, words: &mut Words<'_>, read: impl Fn(&mut Words<'_>) -> Read<T>) -> Read<Vec<T>> {
        let Some(at) = words.next()?.checked_sub(1) else { return Ok(Vec::new()) };
        let mut items = Words::new(self.section(Section::Programs), at)?;
        let count = items.count()?;
        if count > MOST_TEXTS {
            return Err(Damaged);
        }
        (0..count).map(|_| read(&mut items)).collect()
    }

    fn read_effect(&self, words: &mut Words<'_>) -> Read<Effect> {
        Ok(Effect {
            verb: words.next()?,
            place: self.read_place(words)?,
            with: self.read_texts(words)?,
            unless: self.read_texts(words)?,
        })
    }

    fn read_place(&self, words: &mut Words<'_>) -> Read<Place> {
        Ok(match words.next()? {
            0 => Place::Operands { skip: words.next()? },
            1 => Place::Operand { index: words.next()? },
            2 => Place::Last,
            3 => Place::ButLast,
            4 => Place::Flags(self.read_texts(words)?),
            5 => Place::Beginnings(self.read_texts(words)?),
            _ => return Err(Damaged),
        })
    }

    fn read_inner(&self, words: &mut Words<'_>) -> Read<Inner> {
        Ok(match words.next()? {
            0 => Inner::Operands { skip: words.next()? },
            1 => Inner::OperandsText { skip: words.next()? },
            2 => Inner::OperandText { index: words.next()? },
            3 => Inner::AfterDashes,
            4 => Inner::FlagText { flags: self.read_texts(words)? },
            5 => Inner::SettingText { flags: self.read_texts(words)?, prefixes: self.read_texts(words)? },
            6 => Inner::FlagWords { flags: self.read_texts(words)? },
            7 => Inner::FlagCommand { flags: self.read_texts(words)? },
            8 => Inner::Input,
            9 => Inner::InputCode { language: words.next()? },
            10 => Inner::InputWords,
            11 => {
                let language = words.next()?;
                Inner::FlagCode { flags: self.read_texts(words)?, language }
            }
            12 => {
                let (index, language) = (words.next()?, words.next()?);
                Inner::OperandCode { index, language, unless: self.read_texts(words)? }
            }
            13 => {
                let (index, language) = (words.next()?, words.next()?);
                Inner::OperandFile { index, language, unless: self.read_texts(words)? }
            }
            14 => {
                let language = words.next()?;
                Inner::FlagFile { flags: self.read_texts(words)?, language }
            }
            15 => Inner::WordText { prefixes: self.read_texts(words)? },
            16 => Inner::FlagModule { flags: self.read_texts(words)? },
            17 => Inner::OperandsCode { language: words.next()? },
            _ => return Err(Damaged),
        })
    }

    fn read_texts(&self, words: &mut Words<'_>) -> Read<Vec<String>> {
        self.text_list(words.next()?)?.map(|text| text.map(str::to_owned)).collect()
    }

    /// The texts of a list, given as stored: its place + 1, or 0 for none.
    fn text_list(&self, stored: u32) -> Read<impl ExactSizeIterator<Item = Read<&str>>> {
        let mut list = Words::new(self.section(Section::Programs), stored.saturating_sub(1))?;
        let count = if stored == 0 { 0 } else { list.count()? };
        if count > MOST_TEXTS {
            return Err(Damaged);
        }
        Ok((0..count).map(move |_| {
            let (start, len) = (list.next()?, list.next()?);
            self.program_text(start, len)
        }))
    }
}
