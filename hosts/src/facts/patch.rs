//! Files of a patch: what an `apply_patch` call, or the command of that name, writes and deletes.
//!
//! INVARIANT: every file that a patch names is a path of the call; a patch that cannot be read to its end is opaque.

use super::Builder;
use super::path::Raw;
use super::resolve::FileText;
use crate::patch::{MAX_FILE_BYTES, MAX_PATCH_BYTES, MAX_TARGETS, changed};
use policy_grammar::patch::{self, Body, Hunk, Kind};
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

/// Most bytes of files that are read for one patch.
const MOST_BYTES: usize = 4 * MAX_FILE_BYTES;

/// A file that a patch writes.
pub(super) struct Written<'t> {
    /// As the patch names it.
    pub(super) file: &'t str,
    /// Its text before, when it is known and the patch fits it.
    pub(super) before: Option<String>,
    /// Its text after; of a patch that does not fit, what it brings.
    pub(super) after: String,
}

/// Whether a program is the one that applies envelopes.
pub(super) fn is_program(name: &str) -> bool {
    PROGRAMS.contains(&name)
}

/// The files that an envelope writes. `on_disk` gives the text before the call.
pub(super) fn written<'t>(text: &'t str, on_disk: &dyn Fn(&str) -> FileText) -> Vec<Written<'t>> {
    if text.len() > MAX_PATCH_BYTES || !patch::is_patch(text) {
        return Vec::new();
    }
    let mut room = MOST_BYTES;
    let mut out = Vec::new();
    for file in patch::parse(text).files.into_iter().take(MAX_TARGETS) {
        match file.body {
            Body::Delete => {}
            Body::Add(lines) => {
                out.push(Written { file: file.path, before: None, after: lines.join("\n") + "\n" });
            }
            Body::Update { to, hunks } => {
                let before = match on_disk(file.path) {
                    FileText::Text(text) if text.len() <= room => Some(text),
                    _ => None,
                };
                room = room.saturating_sub(before.as_ref().map_or(0, String::len));
                let after = before.as_ref().and_then(|before| changed(file.path, before, &hunks));
                let file = to.unwrap_or(file.path);
                out.push(match after {
                    Some(after) => Written { file, before, after },
                    None => Written { file, before: None, after: brought(&hunks) },
                });
            }
        }
    }
    out
}

fn brought(hunks: &[Hunk<'_>]) -> String {
    let lines = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == Kind::Add);
    lines.map(|line| line.text).collect::<Vec<_>>().join("\n")
}
