//! A patch as its host reports it: whether it can be applied, and what the policy says of each of its files.
//!
//! INVARIANT: a file is asked about only when all of the patch can be applied; what has to be asked is refused, since the host of
//! patches cannot ask.

use crate::decide::{Answer, Engine};
use policy_grammar::patch;
use policy_hosts::call::Call;
use policy_hosts::patch::{Disk, PatchError, apply};
use policy_runtime::verdict::Decision;
use serde_json::json;
use std::path::Path;

/// The host whose tool takes patches.
const HOST: &str = "codex";
/// The check that says what keeps a patch from being applied.
pub const RULE: &str = policy_compiler::PATCH_INSPECTION;

/// One file of a patch, as the patch names it, with what the policy says of its part.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The file.
    pub file: String,
    /// The answer.
    pub answer: Answer,
}

impl Asked {
    /// Whether the part is refused.
    pub fn refused(&self) -> bool {
        self.answer.verdict.decision >= Decision::Ask
    }
}

/// Asks about a patch file by file; `around` has the folder, the session and the label of the call.
///
/// # Errors
/// Everything that keeps it from being applied.
pub fn ask(
    engine: &mut Engine,
    text: &str,
    project: &Path,
    around: &Call,
) -> Result<Vec<Asked>, Vec<PatchError>> {
    apply(text, &Disk::new(project), project, &around.cwd)?;
    let files = patch::parse(text).files;
    let asked = files.iter().map(|file| {
        let call = Call {
            host: HOST.to_owned(),
            event: "pre_tool_use".to_owned(),
            host_event: "pre_tool_use".to_owned(),
            tool: "apply_patch".to_owned(),
            arguments: json!({"command": patch::alone(file)}),
            ..around.clone()
        };
        Asked { file: file.path.to_owned(), answer: engine.decide(&call) }
    });
    Ok(asked.collect())
}
