//! Looks at texts of files with the content lines of the policies in force.
//!
//! INVARIANT: every text is judged as a write of it would be; what was not wholly looked at is told, never left out.

use crate::checks::Checks;
use crate::combine::restrict;
use crate::decide::today;
use crate::layers::Layer;
use crate::programs::TablePrograms;
use policy_hosts::call::{Call, Places};
use policy_hosts::facts::{NoResolver, extract, texts};
use policy_runtime::outside::{Most, Outside, Remark, Target};
use policy_runtime::table::Table;
use policy_runtime::verdict::Finding;
use policy_runtime::{Context, Facts};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Policies that texts are looked at with; may be shared by threads.
#[derive(Debug)]
pub struct Sieve {
    root: PathBuf,
    home: PathBuf,
    tables: Vec<(Vec<u8>, bool)>,
}

/// A sieve that one thread has opened.
#[derive(Debug)]
pub struct Opened<'s> {
    sieve: &'s Sieve,
    tables: Vec<(Table<'s>, bool)>,
}

/// What was found in one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// What its lines and checks say, in the order of the text.
    pub findings: Vec<Finding>,
    /// Why it was not wholly looked at.
    pub problems: Vec<String>,
}

impl Sieve {
    /// The content lines of these layers; where none has any, those of `std/secrets`.
    ///
    /// # Errors
    /// When a policy cannot be used.
    pub fn new(layers: &[Rc<Layer>], root: &Path, home: &Path) -> Result<Sieve, String> {
        let mut tables = Vec::new();
        for layer in layers {
            let bytes = layer.table.as_ref().map_err(|cause| match cause.contains(&layer.name) {
                true => cause.clone(),
                false => format!("{}: {cause}", layer.name),
            })?;
            let table = bytes.table().map_err(|error| format!("{}: {error}", layer.name))?;
            if table.looks_at_texts() {
                tables.push((bytes.bytes().to_vec(), layer.restricted));
            }
        }
        if tables.is_empty() {
            let made = crate::compile::text("secrets", SECRETS, crate::compile::Kind::Named);
            tables.push((made.usable()?, false));
        }
        Ok(Sieve { root: root.to_path_buf(), home: home.to_path_buf(), tables })
    }

    /// For one thread.
    ///
    /// # Errors
    /// When a table is not whole.
    pub fn open(&self) -> Result<Opened<'_>, String> {
        let tables = self.tables.iter().map(|(bytes, restricted)| {
            Table::open(bytes).map(|table| (table, *restricted)).map_err(|error| error.to_string())
        });
        Ok(Opened { sieve: self, tables: tables.collect::<Result<_, _>>()? })
    }
}

/// What is looked for where no policy says.
const SECRETS: &str = "policy \"secrets\" language 1\n\nuse std/secrets\n";

/// Most findings that are told of one text.
const MOST: usize = 4096;

/// The checks, and all that they find: who keeps a baseline has to see what is behind the old findings.
struct All;

impl Outside for All {
    fn check(&self, name: &str, options: &str, facts: &Facts, target: Target) -> Option<Vec<Remark>> {
        Checks.check(name, options, facts, target)
    }

    fn most(&self) -> Most {
        Most { places: MOST, findings: MOST }
    }
}

impl Opened<'_> {
    /// What is found in a text of a file; only in the parts that are given, if any are.
    #[must_use]
    pub fn judge(&self, path: &str, text: &str, added: Option<&[Range<usize>]>) -> Judged {
        let arguments = Map::from_iter([
            ("file_path".to_owned(), Value::from(path)),
            ("content".to_owned(), Value::from(text)),
        ]);
        let call = Call {
            host: "scan".to_owned(),
            event: "pre_tool_use".to_owned(),
            tool: "Write".to_owned(),
            arguments: Value::Object(arguments),
            cwd: self.sieve.root.clone(),
            ..Call::default()
        };
        let places = Places {
            project: Some(self.sieve.root.clone()),
            home: Some(self.sieve.home.clone()),
            resolve_links: false,
            windows: cfg!(windows),
        };
        let mut judged = Judged::default();
        let mut known = BTreeSet::new();
        for (table, restricted) in &self.tables {
            let mut facts = extract(&call, &places, &TablePrograms::new(*table), &NoResolver);
            facts.texts = texts(&call, &facts, &NoResolver);
            for fact in &mut facts.texts {
                judged.problems.extend(Some(fact.gap.clone()).filter(|gap| !gap.is_empty()));
                if let Some(added) = added {
                    fact.added = added.to_vec();
                }
            }
            let context = Context { today: today() };
            let mut verdict = policy_runtime::decide_with(table, &facts, &context, &All);
            if verdict.findings.len() >= MOST {
                judged.problems.push(format!("there are {MOST} findings or more, and no more are told"));
            }
            facts.texts.clear();
            let of_name = policy_runtime::decide_with(table, &facts, &context, &All).findings;
            verdict.findings.retain(|finding| finding.line > 0 || !of_name.contains(finding));
            if *restricted {
                verdict = restrict(verdict);
            }
            // What was not understood of a text is said of it by the engine, not by a rule.
            let built_in = verdict.steps.iter().filter(|step| step.rule == "built-in");
            judged.problems.extend(built_in.map(|step| step.because.clone()));
            for mut finding in verdict.findings {
                // What is said of a text as a whole stands at its beginning.
                finding.line = finding.line.max(1);
                let key = (finding.rule.clone(), finding.line, finding.column, finding.message.clone());
                if known.insert(key) {
                    judged.findings.push(finding);
                }
            }
        }
        judged.problems.sort();
        judged.problems.dedup();
        judged.findings.sort_by(|a, b| {
            (a.line, &a.rule, a.column, &a.message).cmp(&(b.line, &b.rule, b.column, &b.message))
        });
        judged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy_runtime::verdict::Severity;

    #[test]
    fn secrets_are_found_with_their_lines() {
        let sieve = Sieve::new(&[], Path::new("/p"), Path::new("/h")).unwrap();
        let opened = sieve.open().unwrap();
        let key = ["AKIA", "PQH2ZJIZV7LMH3F5"].concat();
        let text = format!("a = 1\nkey = \"{key}\"\nb = 2\n");
        let judged = opened.judge("src/a.py", &text, None);
        assert!(judged.problems.is_empty(), "{judged:?}");
        assert_eq!(judged.findings.len(), 1, "{judged:?}");
        assert_eq!((judged.findings[0].line, judged.findings[0].severity), (2, Severity::Error));
        assert!(opened.judge("src/a.py", &text, Some(std::slice::from_ref(&(0..6)))).findings.is_empty());
        assert!(opened.judge(".env", "A=1\n", None).findings.is_empty());
    }

    #[test]
    fn what_is_said_of_a_whole_text_is_told_and_what_is_said_of_a_name_is_not() {
        let text = "policy \"t\" language 1\nguard g {\n  warn lines over 2\n  deny path \"./x\"\n  ask content r\"wxyz\"\n}\n";
        let made = crate::compile::text("t", text, crate::compile::Kind::Named).usable().unwrap();
        let sieve = Sieve { root: "/p".into(), home: "/h".into(), tables: vec![(made, false)] };
        let opened = sieve.open().unwrap();
        let judged = opened.judge("x", "a\nb\nc\n", None);
        assert!(judged.problems.is_empty(), "{judged:?}");
        let told: Vec<_> = judged.findings.iter().map(|found| (found.line, found.severity)).collect();
        assert_eq!(told, [(1, Severity::Warning)], "{judged:?}");
        assert!(opened.judge("x", "a\n", None).findings.is_empty());
        assert_eq!(opened.judge("x", &"wxyz\n".repeat(99), None).findings.len(), 100);
        assert!(
            opened.judge("x", &"wxyz\n".repeat(5000), None).problems.iter().any(|why| why.contains("4096"))
        );
    }
}
