//! Names of events, as hosts spell them and in one spelling.
//!
//! INVARIANT: a name that is not known is an error with the nearest one, never an event that no rule looks at.

use crate::mcp::arguments::Wrong;

/// The spelling of hooks, the normalized one, and the one of policies.
const NAMES: [[&str; 3]; 17] = [
    ["PreToolUse", "pre_tool_use", "pre_tool_use"],
    ["PostToolUse", "post_tool_use", "post_tool_use"],
    ["PostToolUseFailure", "post_tool_failure", "post_tool_use_failure"],
    ["UserPromptSubmit", "user_prompt", "user_prompt_submit"],
    ["SessionStart", "session_start", "session_start"],
    ["SessionEnd", "session_end", "session_end"],
    ["SubagentStart", "sub_agent_start", "subagent_start"],
    ["SubagentStop", "sub_agent_stop", "subagent_stop"],
    ["Notification", "notification", "notification"],
    ["PreCompact", "pre_compact", "pre_compact"],
    ["PermissionRequest", "permission_request", "permission_request"],
    ["ConfigChange", "config_change", "config_change"],
    ["WorktreeCreate", "worktree_create", "worktree_create"],
    ["WorktreeRemove", "worktree_remove", "worktree_remove"],
    ["TeammateIdle", "teammate_idle", "teammate_idle"],
    ["TaskCompleted", "task_completed", "task_completed"],
    ["Stop", "stop", "stop"],
];

/// The policies' name of an event that is written in any spelling.
pub(crate) fn any(name: &str) -> Result<&'static str, Wrong> {
    let found = NAMES.iter().find(|names| names.contains(&name)).and_then(|names| names.last().copied());
    found.or_else(|| policy(name)).ok_or_else(|| unknown(name, &[0, 1]))
}

/// The policies' name of an event that is written normalized.
pub(crate) fn normalized(name: &str) -> Result<&'static str, Wrong> {
    let [mut of_hooks, mut found] = [None, None];
    for [hook, plain, own] in NAMES {
        of_hooks = of_hooks.or((hook == name).then_some(plain));
        found = found.or((plain == name || own == name).then_some(own));
    }
    match (found.or_else(|| policy(name)), of_hooks) {
        (Some(own), _) => Ok(own),
        (None, Some(plain)) => {
            let message = format!("is the spelling of hooks: `{name}`; the normalized one is `{plain}`");
            Err(Wrong::field("event", &message))
        }
        (None, None) => Err(unknown(name, &[1])),
    }
}

/// An event of policies as hooks spell it; one that only policies know as it is.
pub(crate) fn of_hooks(own: &str) -> &str {
    NAMES
        .iter()
        .find(|names| names.last() == Some(&own))
        .and_then(|names| names.first())
        .map_or(own, |hook| *hook)
}

/// Events that only some hosts have are known by the name that policies use.
fn policy(name: &str) -> Option<&'static str> {
    policy_compiler::EVENTS.iter().find(|event| **event == name).copied()
}

fn unknown(name: &str, columns: &[usize]) -> Wrong {
    let known =
        NAMES.iter().flat_map(|names| columns.iter().filter_map(|column| names.get(*column).copied()));
    Wrong::unknown("event", "event", name, known.chain(policy_compiler::EVENTS.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_lead_to_the_events_of_policies() {
        for [hook, plain, own] in NAMES {
            assert!(policy(own).is_some(), "{own}");
            assert_eq!((any(hook), any(plain), normalized(plain)), (Ok(own), Ok(own), Ok(own)));
            assert!(normalized(hook).unwrap_err().message.contains(plain));
        }
        let wrong = any("PreToolUs").unwrap_err();
        assert_eq!(wrong.message, "`event` names no event: `PreToolUs`; did you mean `PreToolUse`?");
        assert_eq!(wrong.field.as_deref(), Some("event"));
        assert!(any("").is_err() && normalized("x\u{1b}").is_err());
    }
}
