//! Tests of secrets: texts in which a format must, or must not, be found.
//!
//! INVARIANT: what is found here is what the runtime finds: the same needles, the same judgment.

use crate::code::Code;
use crate::ir::Policy;
use policy_grammar::diagnostic::Diagnostic;
use policy_grammar::source::Span;
use policy_runtime::secret::{Checksum, Conditions, judge, masked};
use policy_scan::Scanner;
use policy_scan::build::Builder;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// One `expect` line of a `secret` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretCase {
    /// Place in [`Policy::secrets`].
    pub secret: u32,
    /// Whether it must be found.
    pub found: bool,
    /// The text.
    pub text: String,
    /// The whole line.
    pub span: Span,
}

/// Looks for every format in its texts and says where it should have been, or not have been, found.
pub fn check_secrets(policy: &Policy, cases: &[SecretCase]) -> Vec<Diagnostic> {
    if cases.is_empty() {
        return Vec::new();
    }
    let wanted: BTreeSet<u32> = cases.iter().map(|case| case.secret).collect();
    let mut builder = Builder::new();
    for number in wanted {
        let Some(secret) = policy.secrets.get(number as usize) else { continue };
        for pattern in &secret.patterns {
            if let Err(error) = builder.add(number, pattern) {
                let span = cases.iter().find(|case| case.secret == number).map(|case| case.span);
                return vec![unusable(&error.to_string(), span.unwrap_or_default())];
            }
        }
    }
    let first = cases.first().map(|case| case.span).unwrap_or_default();
    let section = match builder.build() {
        Ok(section) => section,
        Err(error) => {
            let span =
                cases.iter().find(|case| Some(case.secret) == error.id).map_or(first, |case| case.span);
            return vec![unusable(&error.to_string(), span)];
        }
    };
    match Scanner::new(&section) {
        Ok(scanner) => cases.iter().filter_map(|case| check(policy, &scanner, case)).collect(),
        Err(error) => vec![unusable(&error.to_string(), first)],
    }
}

fn unusable(why: &str, span: Span) -> Diagnostic {
    Code::BadContent
        .error(format!("the pattern cannot be looked for: {why}"), span, "of this block")
        .with_help("use shorter patterns with a fixed beginning")
}

fn check(policy: &Policy, scanner: &Scanner<'_>, case: &SecretCase) -> Option<Diagnostic> {
    let secret = policy.secrets.get(case.secret as usize)?;
    let checksum = Checksum::ALL.get(secret.checksum as usize).map_or(Checksum::None, |(kind, _)| *kind);
    let conditions = Conditions { entropy: secret.entropy, checksum };
    let (mut found, mut matched) = (None, false);
    let outcome = scanner.scan(case.text.as_bytes(), |hit| {
        if hit.id != case.secret {
            return ControlFlow::Continue(());
        }
        matched = true;
        let range = hit.start as usize..hit.end as usize;
        found = judge(case.text.as_bytes(), range, &conditions, secret.samples.iter().map(String::as_str));
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let name = &secret.name;
    if let Err(error) = outcome {
        return Some(unusable(&error.to_string(), case.span));
    }
    match (case.found, found) {
        (true, None) => Some(
            Code::Unmet
                .error(format!("expected to find `{name}`"), case.span, "it is not found")
                .with_help(if matched {
                    "a pattern matches; the value is a sample or a placeholder, has too little entropy, goes on, or its kind fits not"
                } else {
                    "no pattern of the block matches"
                }),
        ),
        (false, Some(range)) => {
            let value = case.text.get(range).unwrap_or_default();
            Some(
                Code::Unmet
                    .error(format!("expected not to find `{name}`"), case.span, format!("found: {}", masked(value)))
                    .with_help("ask for more: a longer pattern, `entropy`, `checksum`, or name it under `samples`"),
            )
        }
        _ => None,
    }
}
