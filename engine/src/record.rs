//! Appends decisions to the audit file.
//!
//! INVARIANT: a line that cannot be written is told, and turns the allow of a call that does more than read into ask.

use crate::append::append as append_line;
use crate::audit::{anchor, sign};
use crate::combine::at_least_ask;
use crate::decide::{Answer, only_reads};
use crate::open::{self, Care};
use policy_hosts::call::Call;
use policy_runtime::verdict::Decision;
use std::path::Path;

/// Appends a decision. A failing write turns the allow of a call that does more than read into ask; the remark about it
/// is given back, to be written when the answer is out. `state` is the folder of the key for masked values.
#[must_use]
pub fn record(call: &Call, answer: &mut Answer, file: &Path, state: &Path, care: Care) -> Option<String> {
    let names = |values: &[String]| crate::audit::masked::names(values, state);
    let now = crate::cache::now_ns();
    let line = policy_hosts::audit::line(call, &answer.facts, (&answer.verdict, &answer.trail), now, names);
    let mut bytes = line.into_bytes();
    if bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    let written = file.parent().map_or(Ok(()), |folder| match care {
        Care::Private => open::private_folder(folder),
        Care::Named => Ok(()),
    });
    let error = match written.and_then(|()| append_line(file, &bytes, care)) {
        Ok(link) => {
            // The lines that are anchored by their number are signed too.
            if link.seq.is_multiple_of(anchor::EVERY) {
                sign::later(file, state);
            }
            return None;
        }
        Err(error) => error,
    };
    if answer.verdict.decision == Decision::Allow && !only_reads(&answer.facts) {
        at_least_ask(&mut answer.verdict, &format!("the audit line could not be written: {error}"));
        answer.ask_where_it_says();
    }
    Some(format!("policy: the audit line was not written: {error}\n"))
}
