//! Short ways to ask a check.
//!
//! INVARIANT: nothing here judges; it only calls.

use policy_checks::{Found, Options, Text, Value, check_command, check_text};

/// The findings in a new text, at the event at which the check speaks.
pub(crate) fn new(name: &str, path: &str, after: &str) -> Vec<Found> {
    change(name, path, None, after)
}

/// The findings of a change.
pub(crate) fn change(name: &str, path: &str, before: Option<&str>, after: &str) -> Vec<Found> {
    with(name, path, before, after, &[])
}

/// The findings of a change with options.
pub(crate) fn with(
    name: &str,
    path: &str,
    before: Option<&str>,
    after: &str,
    options: &[(&str, Value)],
) -> Vec<Found> {
    let check = policy_checks::find(name).unwrap_or_else(|| panic!("no check {name}"));
    let event = check.events.last().copied().unwrap_or("pre_tool_use");
    let options = Options(options.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect());
    check_text(name, &Text { path, before, after, event }, &options)
}

/// How many findings a command has.
pub(crate) fn command(name: &str, words: &[&str]) -> usize {
    let words: Vec<Option<&str>> = words.iter().map(|word| Some(*word)).collect();
    check_command(name, &words, None, &Options::default()).len()
}

/// Every text of `yes` has one finding or more, none of `no` has any.
pub(crate) fn judge(name: &str, path: &str, yes: &[&str], no: &[&str]) {
    for text in yes {
        assert!(!new(name, path, text).is_empty(), "{name} should speak: {text}");
        assert!(change(name, path, Some(text), text).is_empty(), "{name} should not repeat: {text}");
        let more = format!("\n\n{text}");
        assert!(
            change(name, path, Some(text), &more).is_empty(),
            "{name} should not repeat when moved: {text}"
        );
    }
    for text in no {
        assert_eq!(new(name, path, text), [], "{name} should be quiet: {text}");
    }
}
