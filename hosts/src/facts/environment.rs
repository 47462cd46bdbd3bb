//! Secrets in variables that reach the network: what a command sends when it is given one.
//!
//! INVARIANT: the environment is a path, `/proc/self/environ`, of which a command only ever has the name.

use super::Builder;
use policy_runtime::facts::{Access, Form, Origin, PathFact, PathName};

impl Builder<'_> {
    /// The environment as a path of the command with this number, which sends it.
    pub(super) fn environment(&mut self, command: usize) -> Option<u32> {
        let (index, origin) = (u32::try_from(self.facts.paths.len()).ok()?, u32::try_from(command).ok()?);
        let view = "/proc/self/environ".to_owned();
        self.facts.paths.push(PathFact {
            written: view.clone(),
            names: vec![PathName { views: vec![view] }],
            form: Form::Exact,
            access: Access::NAME,
            origin: Origin::Command(origin),
        });
        Some(index)
    }
}
