//! Why the run pattern that was meant does not match: said beside a tested call that got something else.
//!
//! INVARIANT: only an explanation; what it says of a pattern is true, but another pattern may have been meant.

use crate::ir;
use crate::text::escape;
use policy_grammar::shell::program::{Program, Programs};
use policy_grammar::shell::{Command, Dialect, Part, Word, analyze};
use policy_grammar::source::Span;
use std::rc::Rc;

/// Patterns of one block that are looked at.
pub(crate) const MAX_PATTERNS: usize = 64;

/// What a tested call of a block was likely written for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Meant {
    /// Run patterns of the block with their places.
    pub(crate) patterns: Vec<(Span, ir::Pattern)>,
    /// Knowledge of programs.
    pub(crate) programs: Rc<Vec<Program>>,
}

/// A pattern that nearly matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Miss {
    /// Where it is written.
    pub(crate) span: Span,
    /// What it misses.
    pub(crate) label: String,
    /// What to write, when that is clear.
    pub(crate) help: Option<String>,
    /// Words that do not fit.
    cost: usize,
}

struct Known<'a>(&'a [Program]);

impl Programs for Known<'_> {
    fn program(&self, name: &str) -> Option<Program> {
        self.0.iter().find(|p| p.names.iter().any(|n| n == name)).cloned()
    }
}

impl Meant {
    /// The pattern that comes nearest to a command, grants or refusals; `decided` is the command in it that decided.
    pub(crate) fn nearest(&self, command: &str, decided: &str, grant: bool) -> Option<Miss> {
        let mut analysis = analyze(command, Dialect::Unknown, &Known(&self.programs));
        if analysis.commands.iter().any(|c| c.text == decided) {
            analysis.commands.retain(|c| c.text == decided);
        }
        let mut best: Option<Miss> = None;
        for (span, pattern) in self.patterns.iter().filter(|(_, p)| p.grant == grant) {
            let ir::Matcher::Run(run) = &pattern.matcher else { continue };
            let [stage] = run.stages.as_slice() else { continue };
            for command in analysis.commands.iter().filter(|c| same_program(c, stage)) {
                let miss = match grant {
                    true => too_much(stage, command).or_else(|| not_plain(run, command)),
                    false => too_little(stage, command, &pattern.text),
                };
                if let Some((label, help, cost)) = miss
                    && best.as_ref().is_none_or(|b| cost < b.cost)
                {
                    best = Some(Miss { span: *span, label, help, cost });
                }
            }
        }
        best
    }
}

fn same_program(command: &Command, stage: &ir::RunStage) -> bool {
    let Some(program) = command.words.first().and_then(Word::known) else { return false };
    let name = program.rsplit('/').next().unwrap_or(program);
    stage.program.iter().any(|p| p.eq_ignore_ascii_case(&escape(name)))
}

/// The first term of a refusal that the command lacks.
fn too_little(
    stage: &ir::RunStage,
    command: &Command,
    text: &str,
) -> Option<(String, Option<String>, usize)> {
    let mut flags: Vec<&str> = Vec::new();
    let mut operands: Vec<&str> = Vec::new();
    for (at, (word, part)) in command.words.iter().zip(&command.parts).enumerate() {
        match part {
            // A flag with a value behind it is a setting, not what was forgotten.
            Part::Flag { .. } if matches!(command.parts.get(at + 1), Some(Part::FlagValue { .. })) => {}
            Part::Flag { names, .. } => flags.extend(names.iter().map(String::as_str)),
            Part::Operand { .. } | Part::Unclear => operands.extend(word.known()),
            Part::Program | Part::FlagValue { .. } | Part::Dashes => {}
        }
    }
    let mut first: Option<(String, Option<String>)> = None;
    let mut cost = 0;
    let mut place = 0;
    for term in &stage.terms {
        let missing = match term {
            ir::RunTerm::Word(texts) => {
                let found = operands.get(place).is_some_and(|o| has(texts, o));
                place += 1;
                (!found).then(|| (word_missing(texts, operands.get(place - 1).copied()), None))
            }
            ir::RunTerm::AnyWord => {
                place += 1;
                (operands.len() < place).then(|| ("misses: one more word".to_owned(), None))
            }
            ir::RunTerm::Flag(texts) => {
                let found = flags.iter().any(|f| has(texts, f));
                (!found).then(|| flag_missing(texts, &flags, text))
            }
            ir::RunTerm::AnyFlags => None,
        };
        if let Some(missing) = missing {
            cost += 1;
            first.get_or_insert(missing);
        }
    }
    first.map(|(label, help)| (label, help, cost))
}

fn has(texts: &[String], word: &str) -> bool {
    let word = escape(word);
    texts.iter().any(|text| crate::text::covers(&text.to_lowercase(), &word.to_lowercase()))
}

fn word_missing(texts: &[String], instead: Option<&str>) -> String {
    let wanted = texts.first().map_or("", String::as_str);
    match instead {
        Some(word) => format!("misses: `{wanted}`, where `{word}` stands"),
        None => format!("misses: `{wanted}`"),
    }
}

fn flag_missing(texts: &[String], flags: &[&str], text: &str) -> (String, Option<String>) {
    let wanted = texts.first().map_or("", String::as_str);
    let label = match flags {
        [] => format!("misses: no `{wanted}`, and no flags at all"),
        flags => format!("misses: no `{wanted}` among the flags {{{}}}", flags.join(",")),
    };
    // `-f` beside `--force`: likely the same flag.
    let letter = |flag: &str| flag.trim_start_matches('-').chars().next();
    let kin =
        flags.iter().find(|f| letter(f) == letter(wanted) && f.starts_with("--") != wanted.starts_with("--"));
    let help = kin.map(|kin| {
        let (short, long) = if kin.starts_with("--") { (wanted, *kin) } else { (*kin, wanted) };
        let both = text.replacen(wanted, &format!("{{{short},{long}}}"), 1);
        format!("`{wanted}` does not stand for `{kin}`; write `{both}`")
    });
    (label, help)
}

/// The first word of the command that a grant does not hold.
fn too_much(stage: &ir::RunStage, command: &Command) -> Option<(String, Option<String>, usize)> {
    let words: Vec<&str> = command.words.iter().skip(1).map(|w| w.known().unwrap_or("?")).collect();
    let free_flags = stage.terms.contains(&ir::RunTerm::AnyFlags);
    let mut rest = words.iter().copied().filter(|w| !(free_flags && w.starts_with('-'))).peekable();
    for (at, term) in stage.terms.iter().filter(|t| **t != ir::RunTerm::AnyFlags).enumerate() {
        let cost = stage.terms.len() - at;
        let texts = match term {
            ir::RunTerm::Word(texts) | ir::RunTerm::Flag(texts) => texts.as_slice(),
            ir::RunTerm::AnyWord | ir::RunTerm::AnyFlags => &[],
        };
        let Some(word) = rest.next() else {
            return Some((word_missing(texts, None), None, cost));
        };
        let fits = match term {
            ir::RunTerm::AnyWord | ir::RunTerm::AnyFlags => !word.starts_with('-'),
            _ => texts.iter().any(|text| crate::text::covers(text, &escape(word))),
        };
        if !fits {
            let label = match texts.first() {
                Some(wanted) => format!("misses: `{wanted}`, where `{word}` stands"),
                None => format!("misses: `*` is one word that is no flag, and `{word}` stands there"),
            };
            return Some((label, None, cost));
        }
    }
    let more = rest.next().filter(|_| !stage.rest)?;
    let help = format!("write `...` behind the pattern, if any further words may follow, or add `{more}`");
    Some((format!("misses: `{more}` is one word more than it names"), Some(help), 0))
}

/// Why a grant whose words fit does not hold: what is written beside them.
fn not_plain(run: &ir::RunPattern, command: &Command) -> Option<(String, Option<String>, usize)> {
    let writes = |op: &str| matches!(op, ">" | ">>" | ">|" | "&>" | "&>>" | "<>");
    let file = |word: &Word| word.known().filter(|file| *file != "/dev/null").map(str::to_owned);
    let written = command.redirects.iter().filter(|r| writes(&r.op)).find_map(|r| file(&r.target));
    if let Some(file) = written.filter(|_| run.writing.is_none()) {
        let target = if file.starts_with(['/', '~', '.']) { file.clone() } else { format!("./{file}") };
        let help = format!("add `writing \"{target}\"` behind the pattern, if it may write there");
        return Some((format!("its words fit, but the call also writes `{file}`"), Some(help), 0));
    }
    let assigned = command.assignments.first()?;
    let label = format!("its words fit, but the call sets `{}`", assigned.name);
    let help = "a grant is for the command alone: an assignment may change what runs".to_owned();
    Some((label, Some(help), 0))
}

#[cfg(test)]
mod tests {
    use crate::tests::{Setup, compiled};

    fn miss(block: &str, call: &str, grant: bool) -> (String, Option<String>) {
        let text = format!("policy \"t\" language 1\n{block} {{ RUN expect deny bash \"{call}\" }}");
        let text = text.replace("{ RUN", "{").replace("} {", "");
        let (compiled, _) = compiled(&text, &Setup::default());
        let case = compiled.expects.first().unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let miss = case.meant.nearest(call, call, grant).unwrap();
        (miss.label, miss.help)
    }

    #[test]
    fn refusals() {
        let guard = |pattern: &str| format!("guard g on bash {{ deny run `{pattern}` }}");
        let (label, help) = miss(&guard("git push --force"), "git -C api push -f", false);
        assert_eq!(label, "misses: no `--force` among the flags {-f}");
        assert_eq!(help.as_deref(), Some("`--force` does not stand for `-f`; write `git push {-f,--force}`"));
        assert_eq!(miss(&guard("git push"), "git pull", false).0, "misses: `push`, where `pull` stands");
        assert_eq!(miss(&guard("rm -r"), "rm x", false).0, "misses: no `-r`, and no flags at all");
    }

    #[test]
    fn grants() {
        let rule = |pattern: &str| format!("rule r on bash {{ allow run `{pattern}` }}");
        let (label, help) = miss(&rule("git status"), "git status -s", true);
        assert_eq!(label, "misses: `-s` is one word more than it names");
        assert!(help.unwrap().contains("..."));
        assert!(miss(&rule("git log *"), "git log -p", true).0.contains("no flag"));
        let (label, help) = miss(&rule("git status"), "git status > log", true);
        assert_eq!(label, "its words fit, but the call also writes `log`");
        assert!(help.unwrap().contains("`writing \"./log\"`"));
        assert!(miss(&rule("git status"), "A=b git status", true).0.contains("sets `A`"));
    }
}
