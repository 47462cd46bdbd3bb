//! Verdicts and whole tables as text for people.
//!
//! INVARIANT: what is printed is read back from the table, so it is what is enforced.

use crate::payment;
use crate::run_match::Lists;
use crate::table::layout::Section;
use crate::table::records::Matcher;
use crate::table::{Block, BlockKind, Damaged, Line, Read, Table};
use crate::verdict::{Place, Step, Verdict};
use std::fmt::{self, Write};

/// A verdict with every step: decision, deciding step, the others, findings.
///
/// # Example
///
/// ```
/// # use policy_runtime::verdict::{Decision, Place, Step, Verdict};
/// let step = Step {
///     decision: Decision::Deny, rule: "std/git/no-force-push".into(),
///     place: Place { file: "std/git".into(), line: 12 }, value: "git push -f".into(),
///     matched: "git push {-f,--force}".into(), because: "it rewrites history".into(),
///     suggest: "git push --force-with-lease".into(), ask_timeout: None, page_only: false, guard: true,
/// };
/// let verdict = Verdict {
///     decision: Decision::Deny, abstains: false, observed: None, steps: vec![step], findings: vec![],
///     secrets: vec![], only_secrets: false,
/// };
/// assert_eq!(policy_runtime::explain::verdict(&verdict).to_string(), "\
/// deny
///   deny  git push -f
///         guard std/git/no-force-push (std/git:12): git push {-f,--force}
///         because it rewrites history
///         instead git push --force-with-lease
/// ");
/// ```
#[must_use]
pub fn verdict(verdict: &Verdict) -> impl fmt::Display + '_ {
    Trace(verdict)
}

/// A whole table as review material: every block with its scope, lines and reasons, in order.
#[must_use]
pub fn table<'t>(table: &'t Table<'t>) -> impl fmt::Display + 't {
    Listing(table)
}

struct Trace<'v>(&'v Verdict);

fn place(place: &Place) -> String {
    match (place.file.as_str(), place.line) {
        ("", _) => String::new(),
        (file, 0) => format!(" ({file})"),
        (file, line) => format!(" ({file}:{line})"),
    }
}

impl fmt::Display for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = self.0;
        match verdict.observed {
            Some(would) => {
                writeln!(f, "{} (observed; enforced it would be {})", verdict.decision.word(), would.word())?
            }
            None if verdict.abstains => writeln!(f, "{} (no rule answers)", verdict.decision.word())?,
            None => writeln!(f, "{}", verdict.decision.word())?,
        }
        for step in &verdict.steps {
            write_step(f, step)?;
        }
        // Lines of guards that ask or deny are steps already.
        let told = |rule: &str, at: &Place| verdict.steps.iter().any(|s| s.rule == rule && s.place == *at);
        for finding in verdict.findings.iter().filter(|x| !told(&x.rule, &x.place)) {
            writeln!(f, "  {:<5} {}", finding.severity.word(), finding.message)?;
            writeln!(f, "        guard {}{}", finding.rule, place(&finding.place))?;
            if !finding.suggest.is_empty() {
                writeln!(f, "        instead {}", finding.suggest)?;
            }
        }
        Ok(())
    }
}

fn write_step(f: &mut fmt::Formatter<'_>, step: &Step) -> fmt::Result {
    writeln!(
        f,
        "  {:<5} {}",
        step.decision.word(),
        if step.value.is_empty() { "the call" } else { &step.value }
    )?;
    let kind = match (step.guard, step.rule.as_str()) {
        (true, _) => "guard ",
        (false, "default" | "built-in") => "",
        (false, _) => "rule ",
    };
    write!(f, "        {kind}{}{}", step.rule, place(&step.place))?;
    if !step.matched.is_empty() {
        write!(f, ": {}", step.matched)?;
    }
    writeln!(f)?;
    if !step.because.is_empty() {
        writeln!(f, "        because {}", step.because)?;
    }
    if !step.suggest.is_empty() {
        writeln!(f, "        instead {}", step.suggest)?;
    }
    if let Some(seconds) = step.ask_timeout {
        writeln!(f, "        unanswered for {seconds} s it is denied")?;
    }
    if step.page_only {
        writeln!(f, "        answered on the approval page alone")?;
    }
    Ok(())
}

struct Listing<'t>(&'t Table<'t>);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let damaged = listing(self.0, &mut text).is_err();
        f.write_str(&text)?;
        if damaged { writeln!(f, "the table is damaged here; compile the policy again") } else { Ok(()) }
    }
}

/// A formatting error cannot happen in a `String`.
macro_rules! put {
    ($out:expr, $($text:tt)*) => { let _ = writeln!($out, $($text)*); };
}

fn listing(table: &Table<'_>, out: &mut String) -> Read<()> {
    let info = table.info()?;
    put!(out, "policy \"{}\"", info.name);
    match info.default {
        Some(default) => {
            put!(out, "default {}{}", default.word(), place(&info.default_place));
        }
        None => {
            put!(out, "no default: what no rule answers is left to the host");
        }
    }
    if let Some(seconds) = info.ask_timeout {
        put!(out, "ask timeout {seconds}s");
    }
    if info.page_only {
        put!(out, "ask via page");
    }
    if info.observe {
        put!(out, "mode observe: everything is allowed, and what enforce would do is recorded");
    }
    for (kind, title) in [
        (BlockKind::Guard, "Guards: every one looks at every call in its scope and can only tighten"),
        (BlockKind::Exception, "Exceptions: each opens one guard"),
        (BlockKind::Rule, "Rules: the first with an answer decides, in this order"),
    ] {
        let mut titled = false;
        for id in 0..table.blocks() {
            let block = table.block(id)?;
            if block.kind != kind {
                continue;
            }
            if !titled {
                put!(out, "\n# {title}");
                titled = true;
            }
            put!(out, "");
            write_block(table, &block, out)?;
        }
    }
    Ok(())
}

fn write_block(table: &Table<'_>, block: &Block<'_>, out: &mut String) -> Read<()> {
    let word = match block.kind {
        BlockKind::Rule => "rule",
        BlockKind::Guard => "guard",
        BlockKind::Exception => "exception",
    };
    let opens = match block.opens {
        Some(guard) => format!(" to {}", table.block(guard)?.name),
        None => String::new(),
    };
    put!(out, "{word} {}{opens}{}{}", block.name, scope(table, block)?, place(&table.block_place(block)?));
    if !block.because.is_empty() {
        put!(out, "  because {}", block.because);
    }
    if !block.suggest.is_empty() {
        put!(out, "  instead {}", block.suggest);
    }
    if !block.owner.is_empty() {
        put!(out, "  owner {}", block.owner);
    }
    if let Some(day) = block.until {
        put!(out, "  until {}", date(day));
    }
    if let Some(seconds) = block.ask_timeout {
        put!(out, "  ask timeout {seconds}s");
    }
    if block.page_only {
        put!(out, "  ask via page");
    }
    for line in table.lines_of(block)? {
        write_line(table, block, &line?, out)?;
    }
    Ok(())
}

/// ` on TOOLS at EVENTS as LABELS for FILES`; what is any is left out.
fn scope(table: &Table<'_>, block: &Block<'_>) -> Read<String> {
    let mut out = String::new();
    let scope = table.scope(block)?;
    let tools: Vec<String> = scope.tools.iter().map(|glob| tool(glob)).collect();
    if !scope.tools.contains(&"*") {
        let _ = write!(out, " on {}", tools.join(", "));
    }
    if scope.events != ["pre_tool_use"] {
        let _ = write!(out, " at {}", scope.events.join(", "));
    }
    if !scope.labels.is_empty() {
        let _ = write!(out, " as {}", scope.labels.join(", "));
    }
    for within in scope.withins {
        let _ = write!(out, " for {}", within.include.join(", "));
        if !within.exclude.is_empty() {
            let _ = write!(out, " except {}", within.exclude.join(", "));
        }
    }
    Ok(out)
}

/// A glob over `server NUL tool` as it is written in a policy.
fn tool(glob: &str) -> String {
    match glob.split_once('\0') {
        Some(("", tool)) => tool.to_owned(),
        Some(("*", tool)) => format!("{tool} (any server)"),
        Some((server, "*")) => format!("everything from {server}"),
        Some((server, tool)) => format!("{tool} from {server}"),
        None => glob.to_owned(),
    }
}

fn write_line(table: &Table<'_>, block: &Block<'_>, line: &Line<'_>, out: &mut String) -> Read<()> {
    let mut texts: Vec<&str> = Vec::new();
    for pattern in table.patterns_of(line)? {
        let pattern = pattern?;
        // Spellings of one pattern share its text; the no of an `only` line has none of its own.
        let other = payment::is_of_payment(line.arg) && pattern.text == payment::OTHER;
        if !other
            && !matches!(pattern.matcher, Matcher::Miss | Matcher::Always)
            && !texts.contains(&pattern.text)
        {
            texts.push(pattern.text);
        }
    }
    let subject = match (line.kind.word(), line.arg) {
        ("", _) => String::new(),
        (_, arg) if payment::is_of_payment(arg) => match payment::word(arg).unwrap_or_default() {
            "" => String::new(),
            word => format!(" {word}"),
        },
        (word, "") => format!(" {word}"),
        (word, arg) => format!(" {word} {arg}"),
    };
    let mut text = format!("  {:<5}{subject}", line.verb.word());
    if !texts.is_empty() {
        text.push(' ');
        text.push_str(&texts.join(", "));
    }
    let mut excepts = Vec::new();
    for except in table.excepts_of(line)? {
        excepts.push(match except?.0 {
            Matcher::Path(glob) | Matcher::Domain(glob) | Matcher::Command(glob) => glob.to_owned(),
            Matcher::Arg(glob) => glob.split('\0').next_back().unwrap_or(glob).to_owned(),
            Matcher::Run(at) => {
                let lists = Lists::new(*table);
                let text = lists.pattern(at)?.to_string();
                lists.found(text).map_err(|_| Damaged)?
            }
            Matcher::Shell(mask) => format!("features {mask:#x}"),
            Matcher::Always | Matcher::Miss | Matcher::Content(..) | Matcher::Check(_) => {
                "everything".to_owned()
            }
        });
    }
    excepts.dedup();
    if !excepts.is_empty() {
        text.push_str(" except ");
        text.push_str(&excepts.join(", "));
    }
    put!(out, "{}", text.trim_end());
    if !line.because.is_empty() && line.because != block.because {
        put!(out, "          because {}", line.because);
    }
    if !line.suggest.is_empty() && line.suggest != block.suggest {
        put!(out, "          instead {}", line.suggest);
    }
    Ok(())
}

/// `2027-03-31` of a day since the epoch (proleptic Gregorian).
#[must_use]
pub fn date(day: i64) -> String {
    // Days from 0000-03-01, so that the leap day is the last of a year.
    let shifted = day.saturating_add(719_468);
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let in_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{in_month:02}", era.saturating_mul(400).saturating_add(year_of_era + next))
}

/// What a block looks at.
struct Scope<'a> {
    tools: Vec<&'a str>,
    events: Vec<&'a str>,
    labels: Vec<&'a str>,
    withins: Vec<Within<'a>>,
}

struct Within<'a> {
    include: Vec<&'a str>,
    exclude: Vec<&'a str>,
}

impl<'a> Table<'a> {
    /// The events that a block looks at.
    ///
    /// # Errors
    ///
    /// When the table is damaged.
    pub fn events_of(&self, block: &Block<'_>) -> Read<Vec<&'a str>> {
        self.texts(self.row(Section::Scopes, block.scope)?.range(0)?)?.collect()
    }

    fn scope(&self, block: &Block<'_>) -> Read<Scope<'a>> {
        let row = self.row(Section::Scopes, block.scope)?;
        let mut withins = Vec::new();
        for within in self.numbers(block.withins)? {
            let row = self.row(Section::Withins, within?)?;
            withins.push(Within {
                include: self.texts(row.range(0)?)?.collect::<Read<_>>()?,
                exclude: self.texts(row.range(2)?)?.collect::<Read<_>>()?,
            });
        }
        Ok(Scope {
            tools: self.texts(row.range(6)?)?.collect::<Read<_>>()?,
            events: self.texts(row.range(0)?)?.collect::<Read<_>>()?,
            labels: self.texts(row.range(2)?)?.collect::<Read<_>>()?,
            withins,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{date, tool};

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(-1), "1969-12-31");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_543), "2026-03-31");
    }

    #[test]
    fn tools_are_written_as_in_a_policy() {
        assert_eq!(tool("\0bash"), "bash");
        assert_eq!(tool("github\0*"), "everything from github");
        assert_eq!(tool("*\0create_*"), "create_* (any server)");
        assert_eq!(tool("github\0merge"), "merge from github");
    }
}
