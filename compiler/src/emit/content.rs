//! What is looked for in texts: the needles of the scanner and the formats of secrets.
//!
//! INVARIANT: equal patterns are one needle; a pattern that the scanner cannot look for in bounded work is an error with
//! its line.

use super::EmitError;
use super::store::Store;
use crate::ir::{Matcher, Place, Policy, Secret};
use policy_runtime::table::layout::Section;
use policy_scan::build::{BuildError, Builder};
use std::collections::HashMap;

/// The needles of a policy.
pub(super) struct Needles<'p> {
    /// By text of a regular expression.
    patterns: HashMap<&'p str, u32>,
    /// By number of a secret.
    secrets: HashMap<u32, u32>,
    /// In order, with the line that asked first.
    all: Vec<(Needle<'p>, Option<Place>)>,
}

#[derive(Clone, Copy)]
enum Needle<'p> {
    Pattern(&'p str),
    Secret(u32),
}

impl<'p> Needles<'p> {
    /// Every needle that a line looks for.
    pub(super) fn of(policy: &'p Policy) -> Needles<'p> {
        let mut needles = Needles { patterns: HashMap::new(), secrets: HashMap::new(), all: Vec::new() };
        for pattern in &policy.patterns {
            let place = policy.lines.get(pattern.line.0 as usize).map(|line| line.place);
            let next = u32::try_from(needles.all.len()).unwrap_or(u32::MAX);
            let (number, needle) = match &pattern.matcher {
                Matcher::Content(_, text) => {
                    (*needles.patterns.entry(text).or_insert(next), Needle::Pattern(text))
                }
                Matcher::Secret(_, secret) => {
                    (*needles.secrets.entry(*secret).or_insert(next), Needle::Secret(*secret))
                }
                _ => continue,
            };
            if number == next {
                needles.all.push((needle, place));
            }
        }
        needles
    }

    /// The needle of a pattern.
    pub(super) fn of_matcher(&self, matcher: &Matcher) -> Option<u32> {
        match matcher {
            Matcher::Content(_, text) => self.patterns.get(text.as_str()).copied(),
            Matcher::Secret(_, secret) => self.secrets.get(secret).copied(),
            _ => None,
        }
    }

    /// Writes the needles, the secrets and what the scanner reads.
    pub(super) fn write(&self, policy: &Policy, store: &mut Store) -> Result<(), EmitError> {
        if self.all.is_empty() {
            return Ok(());
        }
        let mut builder = Builder::new();
        let mut formats = 0_u32;
        for (number, (needle, place)) in (0_u32..).zip(&self.all) {
            let one;
            let patterns: &[String] = match needle {
                Needle::Pattern(text) => {
                    one = [(*text).to_owned()];
                    &one
                }
                Needle::Secret(secret) => {
                    policy.secrets.get(*secret as usize).map_or(&[], |secret| &secret.patterns)
                }
            };
            let at = match needle {
                Needle::Secret(secret) => policy.secrets.get(*secret as usize).map(|secret| secret.place),
                Needle::Pattern(_) => *place,
            };
            for pattern in patterns {
                builder.add(number, pattern).map_err(|error| said(&error, at))?;
            }
            let format = match needle {
                Needle::Pattern(_) => 0,
                Needle::Secret(secret) => {
                    // What no line looks for does not come into the table.
                    let secret =
                        policy.secrets.get(*secret as usize).ok_or_else(|| said_of("a secret", at))?;
                    self::format(secret, store);
                    formats += 1;
                    formats
                }
            };
            store.record(Section::Needles, &[format]);
        }
        let bytes = builder.build().map_err(|error| {
            let needle = error.id.and_then(|id| self.all.get(id as usize));
            let at = match needle {
                Some((Needle::Secret(secret), _)) => {
                    policy.secrets.get(*secret as usize).map(|secret| secret.place)
                }
                Some((Needle::Pattern(_), place)) => *place,
                None => None,
            };
            said(&error, at)
        })?;
        store.scan(&bytes);
        Ok(())
    }
}

fn format(secret: &Secret, store: &mut Store) {
    let (name, samples) = (store.text(&secret.name), store.text_list(&secret.samples));
    let (because, suggest) = (store.text(&secret.because), store.text(&secret.suggest));
    store.record(
        Section::Secrets,
        &[
            name.first,
            name.count,
            secret.entropy,
            secret.checksum,
            samples.first,
            samples.count,
            because.first,
            because.count,
            suggest.first,
            suggest.count,
        ],
    );
}

fn said_of(what: &str, place: Option<Place>) -> EmitError {
    EmitError { place, message: format!("{what} is gone from the policy") }
}

fn said(error: &BuildError, place: Option<Place>) -> EmitError {
    let error = BuildError { id: None, kind: error.kind.clone() };
    EmitError { place, message: format!("the content pattern cannot be looked for: {error}") }
}
