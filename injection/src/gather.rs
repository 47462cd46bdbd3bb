//! What was found, and when it is enough.
//!
//! INVARIANT: what is kept does not grow with the text: at most [`MOST`] findings and [`NEAR`] weak ones to compare with.

use crate::lexicon::{Lexicon, lexicon};
use crate::sentence::Planes;
use crate::{CLASSES, Found, Origin, fold};

/// The most findings a report lists.
pub(crate) const MOST: usize = 64;
/// How many weak hits are remembered.
const NEAR: usize = 16;
/// How far two weak hits may be apart, in bytes.
const WINDOW: usize = 420;

/// One hit of a rule or of a look at characters.
pub(crate) struct Hit<'t> {
    pub(crate) class: u8,
    /// Which rule; two hits of one rule do not add up.
    pub(crate) rule: u16,
    pub(crate) strength: u8,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) view: &'static str,
    /// The text around it.
    pub(crate) around: &'t str,
}

/// Collects hits.
pub(crate) struct Gather {
    pub(crate) lexicon: &'static Lexicon,
    pub(crate) planes: Planes,
    pub(crate) candidates: Vec<u16>,
    pub(crate) origin: Origin,
    pub(crate) complete: bool,
    pub(crate) flagged: bool,
    pub(crate) found: Vec<Found>,
    weak: Vec<(u8, u16, usize, usize, bool)>,
}

impl Gather {
    pub(crate) fn new(origin: Origin) -> Gather {
        let lexicon = lexicon();
        Gather {
            lexicon,
            planes: Planes::new(lexicon),
            candidates: Vec::new(),
            origin,
            complete: true,
            flagged: false,
            found: Vec::new(),
            weak: Vec::new(),
        }
    }

    /// Takes a hit.
    pub(crate) fn add(&mut self, hit: &Hit<'_>) {
        let name = CLASSES.get(usize::from(hit.class)).map_or("", |class| class.0);
        let open = hit.view == "plain";
        // Who writes the prompt may give orders; what hides in it was not written by hand.
        let own_words = open && self.origin == Origin::Prompt && name != "role-marker";
        let boost = match hit.view {
            "decoded" => 1,
            "hidden" => {
                u8::from(!matches!(name, "override" | "role-hijack" | "role-marker" | "secret-request"))
            }
            _ => 0,
        };
        // A file of the project may address agents: that alone is no more than a hint there.
        let base = if open && self.quiet(name) { 1 } else { hit.strength };
        let strength = if own_words { 1 } else { (base + boost).min(2) };
        if strength >= 2 {
            self.flagged = true;
        } else if !own_words {
            let quiet = self.quiet(name);
            let partner = self.weak.iter().any(|(class, rule, start, end, other_quiet)| {
                let near = start.abs_diff(hit.start) <= WINDOW;
                let apart = *end <= hit.start || hit.end <= *start;
                near && *rule != hit.rule
                    && (family(*class) != family(hit.class) || apart)
                    && !(quiet && *other_quiet)
            });
            self.flagged |= partner;
            if self.weak.len() >= NEAR {
                self.weak.remove(0);
            }
            self.weak.push((hit.class, hit.rule, hit.start, hit.end, quiet));
        }
        self.keep(name, strength, hit);
    }

    /// Files of a project may speak to agents; two such hits are not enough there.
    fn quiet(&self, name: &str) -> bool {
        self.origin == Origin::File && matches!(name, "agent-addressed" | "tool-force" | "output-steer")
    }

    fn keep(&mut self, name: &'static str, strength: u8, hit: &Hit<'_>) {
        let same = self.found.iter_mut().rev().take(8).find(|found| {
            found.class == name && found.start < hit.end && hit.start < found.end && found.view == hit.view
        });
        if let Some(found) = same {
            found.strength = found.strength.max(strength);
            return;
        }
        if self.found.len() < MOST {
            self.found.push(found(name, strength, hit));
            return;
        }
        // A strong finding takes the place of a weak one, and the first of its class that of one among many: who asks for one
        // class hears of it.
        let first = !self.found.iter().any(|found| found.class == name && found.strength >= strength);
        let among_many = |one: &Found| {
            first && self.found.iter().filter(|found| found.class == one.class).nth(1).is_some()
        };
        let weak = self.found.iter().position(|found| found.strength < strength);
        let place = weak.or_else(|| self.found.iter().rposition(among_many));
        if let Some(old) = place.and_then(|place| self.found.get_mut(place)) {
            *old = found(name, strength, hit);
        }
    }
}

/// Asking for a secret and sending it are seen in the same words; they add up only when they stand apart.
fn family(class: u8) -> &'static str {
    match CLASSES.get(usize::from(class)).map_or("", |class| class.0) {
        "secret-request" | "exfil" | "prompt-leak" => "secret",
        name => name,
    }
}

fn found(class: &'static str, strength: u8, hit: &Hit<'_>) -> Found {
    Found {
        class,
        strength,
        start: hit.start,
        end: hit.end,
        line: 0,
        column: 0,
        view: hit.view,
        excerpt: excerpt(hit.around),
    }
}

/// The text of a hit with everything visible, at most 160 characters.
fn excerpt(text: &str) -> String {
    let mut out = String::new();
    let mut space = true;
    for (count, c) in text.chars().enumerate() {
        if count >= 160 {
            out.push('…');
            break;
        }
        if c.is_whitespace() {
            if !space {
                out.push(' ');
            }
            space = true;
            continue;
        }
        space = false;
        match c {
            _ if fold::tag(c) => {
                out.push(
                    char::from_u32(u32::from(c) - 0xe0000).filter(|c| c.is_ascii_graphic()).unwrap_or('·'),
                );
            }
            _ if fold::invisible(c) || c.is_control() => out.push('·'),
            _ => out.push(c),
        }
    }
    out.trim_end().to_string()
}

/// Sets lines and columns; `found` need not be in order.
pub(crate) fn place(text: &str, found: &mut [Found]) {
    found.sort_by(|a, b| a.start.cmp(&b.start).then(b.strength.cmp(&a.strength)));
    let (mut line, mut at, mut line_start) = (1u32, 0usize, 0usize);
    for one in found.iter_mut() {
        for (index, _) in text.get(at..one.start).unwrap_or("").match_indices('\n') {
            line = line.saturating_add(1);
            line_start = at + index + 1;
        }
        at = one.start;
        one.line = line;
        let column = text.get(line_start..one.start).map_or(0, |part| part.chars().take(1_000_000).count());
        one.column = u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1);
    }
}
