//! A run pattern as it is written.
//!
//! INVARIANT: alternatives stand in braces, so the printed form reads back as the same pattern.

use super::{OperandSet, RunPattern, Term, Texts};
use std::fmt;

fn braces(words: &Texts<'_>) -> String {
    match words.each(0).collect::<Vec<_>>().as_slice() {
        [one] => (*one).to_owned(),
        many => format!("{{{}}}", many.join(",")),
    }
}

fn set(f: &mut fmt::Formatter<'_>, word: &str, set: &OperandSet<'_>) -> fmt::Result {
    let list = |a: &Texts<'_>, b: &Texts<'_>| {
        a.each(0).chain(b.each(0)).map(|glob| format!("\"{glob}\"")).collect::<Vec<_>>().join(", ")
    };
    write!(f, " {word} {}", list(&set.paths, &set.texts))?;
    let except = list(&set.except_paths, &set.except_texts);
    if except.is_empty() { Ok(()) } else { write!(f, " except {except}") }
}

impl fmt::Display for RunPattern<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`")?;
        for (index, stage) in self.stages.iter().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            f.write_str(&braces(&stage.program))?;
            for term in &stage.terms {
                match term {
                    Term::Word(words) | Term::Flag(words) => write!(f, " {}", braces(words))?,
                    Term::AnyWord => f.write_str(" *")?,
                    Term::AnyFlags => f.write_str(" -*")?,
                }
            }
            if stage.rest {
                f.write_str(" ...")?;
            }
        }
        f.write_str("`")?;
        let sets = [
            ("touching", &self.touching),
            ("reading", &self.reading),
            ("writing", &self.writing),
            ("deleting", &self.deleting),
            ("sending", &self.sending),
        ];
        for (word, own) in sets {
            if let Some(own) = own {
                set(f, word, own)?;
            }
        }
        if self.via.is_empty() {
            Ok(())
        } else {
            write!(f, " via {}", self.via.each(0).collect::<Vec<_>>().join(", "))
        }
    }
}
