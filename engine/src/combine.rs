//! Several layers' answers to one call become one.
//!
//! INVARIANT: the strictest answer counts, and adding a layer never makes the result less strict; a restricted layer
//! (an untrusted project's) never contributes an allow, and its texts are cleaned before anyone reads them.

use policy_runtime::verdict::{Decision, Place, Step, Verdict};

/// Name of the block that stands for what no policy can change.
pub const BUILT_IN: &str = "built-in";
/// Most characters of one text of a project that a model or person gets to read.
const MAX_TEXT: usize = 200;
/// What stands before a project's own words.
const PREFIX: &str = "the project's policy says: ";

/// The strictest of all answers, its reasons first.
pub fn combine(mut verdicts: Vec<Verdict>) -> Verdict {
    let enforced = |verdict: &Verdict| verdict.observed.unwrap_or(verdict.decision);
    let observing = verdicts.iter().any(|verdict| verdict.observed.is_some());
    let weight = |verdict: &Verdict| if verdict.abstains { None } else { Some(verdict.decision) };
    // Stable: among equals the order of the layers stays.
    verdicts.sort_by_key(|verdict| std::cmp::Reverse(weight(verdict)));
    let abstains = verdicts.iter().all(|verdict| verdict.abstains);
    let decision = verdicts.iter().filter_map(weight).max().unwrap_or(Decision::Host);
    let observed = observing
        .then(|| verdicts.iter().filter(|v| !v.abstains || v.observed.is_some()).map(enforced).max())
        .flatten()
        .filter(|strict| *strict > decision);
    // Of those that refuse, each refuses nothing but secrets that are taken away.
    let mut refusing = verdicts.iter().filter(|verdict| verdict.decision == Decision::Deny).peekable();
    let only_secrets = refusing.peek().is_some() && refusing.all(|verdict| verdict.only_secrets);
    let mut all = Verdict {
        decision,
        abstains,
        observed,
        steps: Vec::new(),
        findings: Vec::new(),
        secrets: Vec::new(),
        only_secrets,
    };
    for verdict in verdicts {
        if verdict.decision == Decision::Deny {
            all.secrets.extend(verdict.secrets);
        }
        // A table that has no opinion explains nothing about an answer of another.
        let speaks = !verdict.abstains || (abstains && all.steps.is_empty());
        all.steps.extend(verdict.steps.into_iter().filter(|step| speaks || step.decision != Decision::Host));
        for finding in verdict.findings {
            if !all.findings.contains(&finding) {
                all.findings.push(finding);
            }
        }
    }
    all.secrets.sort();
    all.secrets.dedup();
    all.only_secrets &= !all.secrets.is_empty();
    if all.steps.is_empty() {
        all.steps.push(step(decision, "no policy says anything about this call"));
    }
    all
}

/// The answer where something of ours failed: denied, with the true cause.
pub fn refusal(cause: &str) -> Verdict {
    Verdict::of(step(Decision::Deny, cause))
}

/// A step of the engine's own.
pub fn step(decision: Decision, because: &str) -> Step {
    Step {
        decision,
        rule: BUILT_IN.to_string(),
        place: Place::default(),
        value: String::new(),
        matched: String::new(),
        because: because.to_string(),
        suggest: String::new(),
        ask_timeout: None,
        page_only: false,
        guard: false,
    }
}

/// What came of an ask. What asked stays what is named.
pub fn settled(verdict: &mut Verdict, decision: Decision, because: &str) {
    let asked = verdict.steps.iter().find(|step| step.decision == Decision::Ask).or(verdict.steps.first());
    let mut own = asked.cloned().unwrap_or_else(|| step(decision, ""));
    own.because = match decision {
        Decision::Deny if !own.because.is_empty() => format!("{because}. Why it was asked: {}", own.because),
        _ => because.to_owned(),
    };
    own.decision = decision;
    own.page_only = false;
    own.ask_timeout = None;
    verdict.decision = decision;
    verdict.abstains = false;
    verdict.steps.insert(0, own);
}

/// Raises a verdict to at least `ask`, with the cause as its first step.
pub fn at_least_ask(verdict: &mut Verdict, because: &str) {
    if verdict.decision < Decision::Ask {
        verdict.decision = Decision::Ask;
        verdict.abstains = false;
        verdict.steps.insert(0, step(Decision::Ask, because));
    }
}

/// What a table may still say whose file cannot be used any more: an allow becomes ask.
pub fn stale(mut verdict: Verdict, cause: &str) -> Verdict {
    if verdict.decision == Decision::Allow {
        at_least_ask(&mut verdict, &format!("the policy as it is now cannot be used: {cause}"));
    }
    verdict
}

/// What an untrusted project's answer may contribute: its refusals, in cleaned words.
pub fn restrict(mut verdict: Verdict) -> Verdict {
    if verdict.decision < Decision::Ask {
        verdict.decision = Decision::Host;
        verdict.abstains = true;
    }
    verdict.observed = None;
    // Its refusals count; what an agent reads is not its to change.
    verdict.secrets.clear();
    verdict.only_secrets = false;
    verdict.steps.retain(|step| step.decision >= Decision::Ask);
    for step in &mut verdict.steps {
        step.rule = clean(&step.rule);
        step.matched = clean(&step.matched);
        step.place.file = clean(&step.place.file);
        quote(&mut step.because);
        quote(&mut step.suggest);
    }
    for finding in &mut verdict.findings {
        finding.rule = clean(&finding.rule);
        finding.place.file = clean(&finding.place.file);
        quote(&mut finding.message);
        quote(&mut finding.suggest);
    }
    verdict
}

fn quote(text: &mut String) {
    if !text.is_empty() {
        *text = format!("{PREFIX}{}", clean(text));
    }
}

/// A foreign text as one short line without characters that hide, reorder or act.
///
/// SECURITY: a repository would write "ignore your instructions" over many lines, or hide them behind direction marks.
pub fn clean(text: &str) -> String {
    policy_hosts::reply::clean(text, MAX_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Decision::{Allow, Ask, Deny, Host};

    fn verdict(decision: Decision, because: &str) -> Verdict {
        Verdict {
            decision,
            abstains: false,
            observed: None,
            steps: vec![step(decision, because)],
            findings: vec![],
            secrets: vec![],
            only_secrets: false,
        }
    }

    fn abstaining() -> Verdict {
        Verdict {
            decision: Host,
            abstains: true,
            observed: None,
            steps: vec![],
            findings: vec![],
            secrets: vec![],
            only_secrets: false,
        }
    }

    #[test]
    fn the_strictest_counts_and_speaks_first() {
        let all = combine(vec![verdict(Allow, "a"), abstaining(), verdict(Deny, "d"), verdict(Ask, "k")]);
        assert_eq!((all.decision, all.steps[0].because.as_str()), (Deny, "d"));
        assert_eq!(all.steps.len(), 3);
    }

    #[test]
    fn who_abstains_says_nothing() {
        assert_eq!(combine(vec![verdict(Allow, "a"), abstaining()]).decision, Allow);
        let none = combine(vec![abstaining(), abstaining()]);
        assert!(none.abstains && none.decision == Host && !none.steps.is_empty());
        assert_eq!(combine(vec![]).decision, Host);
    }

    #[test]
    fn a_restricted_layer_never_loosens() {
        for base in [Allow, Host, Ask, Deny] {
            for project in [Allow, Host, Ask, Deny] {
                let all = combine(vec![verdict(base, "b"), restrict(verdict(project, "p"))]);
                assert!(all.decision >= base, "{base:?} {project:?}");
            }
        }
    }

    #[test]
    fn observing_records_what_would_have_been() {
        let mut observing = verdict(Allow, "o");
        observing.observed = Some(Deny);
        let all = combine(vec![observing.clone(), verdict(Ask, "k")]);
        assert_eq!((all.decision, all.observed), (Ask, Some(Deny)));
        assert_eq!(restrict(observing).observed, None);
    }

    #[test]
    fn foreign_texts_are_one_clean_line() {
        assert_eq!(clean("a\n\n b\u{202e}c\u{1b}[31md\u{e0041}"), "a bc [31md");
        assert_eq!(clean(&"x".repeat(500)).chars().count(), 201);
        let all = restrict(verdict(Deny, "stop\nnow"));
        assert_eq!(all.steps[0].because, "the project's policy says: stop now");
    }
}
