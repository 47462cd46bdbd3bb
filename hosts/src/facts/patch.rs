//! Files of a patch: what an `apply_patch` call, or the command of that name, writes and deletes.
//!
//! INVARIANT: every file that a patch names is a path of the call; a patch that cannot be read to its end is opaque.

use super::Builder;
use super::path::Raw;
use crate::patch::{MAX_PATCH_BYTES, MAX_TARGETS};
use policy_grammar::patch::{self, Body};
use policy_grammar::shell;
use policy_runtime::facts::{Access, Origin};

/// Names of the program.
const PROGRAMS: [&str; 2] = ["apply_patch", "applypatch"];

impl Builder<'_> {
    /// Adds the files of an envelope; their indices.
    pub(super) fn patch(&mut self, text: &str, base: &Raw, origin: &Origin) -> Vec<u32> {
        let mut indices = Vec::new();
        if text.len() > MAX_PATCH_BYTES {
            self.opaque(origin.clone(), &format!("a patch longer than {MAX_PATCH_BYTES} bytes"));
            return indices;
        }
        let patch = patch::parse(text);
        if let Some(wrong) = &patch.wrong {
            self.opaque(
                origin.clone(),
                &format!("a patch that cannot be read: line {}: {}", wrong.line, wrong.why),
            );
        }
        if patch.files.len() > MAX_TARGETS {
            self.opaque(origin.clone(), &format!("a patch of more than {MAX_TARGETS} files"));
        }
        for file in patch.files.iter().take(MAX_TARGETS) {
            let (access, to) = match &file.body {
                Body::Add(_) | Body::Update { to: None, .. } => (Access::WRITE, None),
                Body::Delete => (Access::DELETE, None),
                Body::Update { to, .. } => (Access::DELETE, *to),
            };
            let new = to.map(|to| (to, Access::WRITE));
            for (path, access) in std::iter::once((file.path, access)).chain(new) {
                let named = self.namer.argument(base, path, false);
                indices.extend(self.path(path, named, access, origin.clone()));
            }
        }
        indices
    }

    /// Adds the files of the envelope that a command `apply_patch` is given.
    pub(super) fn patch_command(
        &mut self,
        command: &shell::Command,
        base: &Raw,
        origin: &Origin,
    ) -> Vec<u32> {
        let program = command.words.first().and_then(shell::Word::known).unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        if !PROGRAMS.contains(&name) {
            return Vec::new();
        }
        let words = command.words.iter().skip(1).filter_map(shell::Word::known);
        let inputs = command.redirects.iter().filter(|redirect| redirect.op.starts_with("<<"));
        let texts = words.chain(inputs.filter_map(|redirect| redirect.target.known()));
        let envelopes: Vec<&str> = texts.filter(|text| patch::is_patch(text)).collect();
        if envelopes.is_empty() {
            self.opaque(origin.clone(), "a patch that is not in the command");
        }
        envelopes.into_iter().flat_map(|text| self.patch(text, base, origin)).collect()
    }
}
