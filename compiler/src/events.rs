//! The events of hosts, in one spelling.
//!
//! INVARIANT: snake case, sorted; a host's own spelling is translated where its input is read.

/// Every event that a scope can name.
pub const EVENTS: &[&str] = &[
    "after_model",
    "before_model",
    "before_tool_selection",
    "config_change",
    "cwd_changed",
    "directory_added",
    "elicitation",
    "elicitation_result",
    "file_changed",
    "instructions_loaded",
    "message_display",
    "notification",
    "permission_denied",
    "permission_request",
    "post_compact",
    "post_model_switch",
    "post_tool_batch",
    "post_tool_use",
    "post_tool_use_failure",
    "pre_compact",
    "pre_model_switch",
    "pre_skill_shell_command",
    "pre_tool_use",
    "session_end",
    "session_start",
    "setup",
    "stop",
    "stop_failure",
    "subagent_start",
    "subagent_stop",
    "task_completed",
    "task_created",
    "teammate_idle",
    "user_prompt_expansion",
    "user_prompt_submit",
    "worktree_create",
    "worktree_remove",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted() {
        assert!(EVENTS.is_sorted());
    }
}
