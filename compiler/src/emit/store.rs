//! Texts, lists and records on their way into a table.
//!
//! INVARIANT: what is stored twice is written once, in the order of first use, so the same policy gives the same bytes.

use policy_runtime::checksum;
use policy_runtime::table::layout::{ALIGN, SECTIONS, Section};
use std::collections::HashMap;

/// First and count, or place and length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// The sections as they grow. Maps are only asked, never walked.
#[derive(Default)]
pub(super) struct Store {
    sections: [Vec<u8>; SECTIONS],
    texts: HashMap<String, Range>,
    program_texts: HashMap<String, Range>,
    shared: HashMap<(u32, Vec<u32>), u32>,
    lists: HashMap<Vec<u32>, Range>,
    text_lists: HashMap<Vec<Range2>, Range>,
    automata: HashMap<Vec<u8>, Range>,
    too_large: bool,
}

type Range2 = (u32, u32);

impl Store {
    fn number(&mut self, value: usize) -> u32 {
        u32::try_from(value).unwrap_or_else(|_| {
            self.too_large = true;
            0
        })
    }

    /// A number did not fit.
    pub(super) fn too_large(&self) -> bool {
        self.too_large
    }

    fn section(&mut self, section: Section) -> Option<&mut Vec<u8>> {
        self.sections.get_mut(section as usize)
    }

    fn len(&self, section: Section) -> usize {
        self.sections.get(section as usize).map_or(0, Vec::len)
    }

    /// Words at the end of a section; the number of the first.
    pub(super) fn words(&mut self, section: Section, words: &[u32]) -> u32 {
        let at = self.number(self.len(section) / 4);
        if let Some(bytes) = self.section(section) {
            bytes.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        }
        at
    }

    /// Words of a section that several records point to: the number of the first and one, or 0 for none.
    pub(super) fn shared(&mut self, section: Section, words: Vec<u32>) -> u32 {
        if words.is_empty() {
            return 0;
        }
        let key = (section as u32, words);
        if let Some(at) = self.shared.get(&key) {
            return *at;
        }
        let at = self.words(section, &key.1).saturating_add(1);
        self.shared.insert(key, at);
        at
    }

    /// What the scanner reads.
    pub(super) fn scan(&mut self, bytes: &[u8]) {
        let len = self.number(bytes.len());
        if let Some(section) = self.section(Section::Scan) {
            section.extend(len.to_le_bytes());
            section.extend_from_slice(bytes);
            section.resize(section.len().next_multiple_of(4), 0);
        }
    }

    /// One record.
    pub(super) fn record(&mut self, section: Section, words: &[u32]) {
        debug_assert_eq!(
            policy_runtime::table::layout::WIDTH.get(section as usize),
            Some(&words.len()),
            "{section:?}"
        );
        self.words(section, words);
    }

    /// How many records of this many words a section has.
    pub(super) fn records(&mut self, section: Section, width: usize) -> u32 {
        self.number(self.len(section) / 4 / width)
    }

    /// A text.
    pub(super) fn text(&mut self, text: &str) -> Range {
        if text.is_empty() {
            return Range::default();
        }
        if let Some(range) = self.texts.get(text) {
            return *range;
        }
        let range = Range { first: self.number(self.len(Section::Texts)), count: self.number(text.len()) };
        if let Some(bytes) = self.section(Section::Texts) {
            bytes.extend_from_slice(text.as_bytes());
        }
        self.texts.insert(text.to_owned(), range);
        range
    }

    /// A text of what is known of programs.
    pub(super) fn program_text(&mut self, text: &str) -> Range {
        if text.is_empty() {
            return Range::default();
        }
        if let Some(range) = self.program_texts.get(text) {
            return *range;
        }
        let (start, count) = (self.len(Section::ProgramTexts), text.len());
        let range = Range { first: self.number(start), count: self.number(count) };
        if let Some(bytes) = self.section(Section::ProgramTexts) {
            bytes.extend_from_slice(text.as_bytes());
        }
        self.program_texts.insert(text.to_owned(), range);
        range
    }

    /// A list of texts.
    pub(super) fn text_list(&mut self, texts: &[String]) -> Range {
        if texts.is_empty() {
            return Range::default();
        }
        let list: Vec<Range2> = texts
            .iter()
            .map(|t| {
                let range = self.text(t);
                (range.first, range.count)
            })
            .collect();
        if let Some(range) = self.text_lists.get(&list) {
            return *range;
        }
        let range = Range { first: self.records(Section::TextLists, 2), count: self.number(list.len()) };
        for (start, len) in &list {
            self.record(Section::TextLists, &[*start, *len]);
        }
        self.text_lists.insert(list, range);
        range
    }

    /// A list of numbers.
    pub(super) fn numbers(&mut self, numbers: &[u32]) -> Range {
        if numbers.is_empty() {
            return Range::default();
        }
        if let Some(range) = self.lists.get(numbers) {
            return *range;
        }
        let first = self.words(Section::Numbers, numbers);
        let range = Range { first, count: self.number(numbers.len()) };
        self.lists.insert(numbers.to_vec(), range);
        range
    }

    /// An automaton.
    pub(super) fn automaton(&mut self, bytes: Vec<u8>) -> Range {
        if let Some(range) = self.automata.get(&bytes) {
            return *range;
        }
        let start = self.len(Section::Automata).next_multiple_of(ALIGN);
        let range = Range { first: self.number(start), count: self.number(bytes.len()) };
        if let Some(section) = self.section(Section::Automata) {
            section.resize(start, 0);
            section.extend_from_slice(&bytes);
        }
        self.automata.insert(bytes, range);
        range
    }

    /// The sum of what is known of programs, once all of it is stored.
    pub(super) fn programs_sum(&self) -> u64 {
        let sections = [Section::ProgramKeys, Section::Programs, Section::ProgramTexts];
        let sums = sections.map(|section| self.sections.get(section as usize).map_or(0, |b| checksum(b)));
        checksum(&sums.map(u64::to_le_bytes).concat())
    }

    /// Bytes of all sections so far.
    pub(super) fn bytes(&self) -> usize {
        self.sections.iter().map(Vec::len).sum()
    }

    /// The sections, in the order of their tags.
    pub(super) fn into_sections(self) -> [Vec<u8>; SECTIONS] {
        self.sections
    }
}
