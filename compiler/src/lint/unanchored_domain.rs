//! `unanchored-domain`: `"*github.com"` in a granting line also matches `evilgithub.com`.
//!
//! INVARIANT: only grants are told; a refusal that matches more is no danger.

use super::Input;
use crate::code::{Code, Sink};
use crate::ir;

/// Runs the lint.
pub(super) fn lint(input: &Input<'_>, sink: &mut Sink) {
    for written in input.patterns().into_iter().filter(|w| w.pattern.grant) {
        let ir::Matcher::Domain(glob) = &written.pattern.matcher else { continue };
        let open_front =
            glob.starts_with('*') && !glob.starts_with("*.") && !glob.trim_matches('*').is_empty();
        let open_end = glob.ends_with('*') && !glob.trim_matches('*').is_empty();
        let help = if open_front {
            let name = glob.trim_start_matches('*');
            format!("write `{name}` for the host and `*.{name}` for the hosts below it")
        } else if open_end {
            "write the whole end of the host; anybody can own a longer one".to_owned()
        } else {
            continue;
        };
        sink.push(
            Code::UnanchoredDomain
                .warning("a host pattern also matches hosts of others", written.span, "not cut at a dot")
                .with_help(help),
        );
    }
}
