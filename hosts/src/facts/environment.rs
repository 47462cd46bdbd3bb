//! Secrets in variables that reach the network: what a command sends when it is given one.
//!
//! INVARIANT: the environment is a path, `/proc/self/environ`, of which a command only ever has the name.

use super::Builder;
use policy_runtime::facts::{Access, Form, Origin, PathFact, PathName};

impl Builder<'_> {
    /// Tells of each command from `first` on over the network that a secret variable, or all of them, may reach it.
    pub(super) fn environment(&mut self, first: usize, secret: &[usize]) {
        if secret.is_empty() {
            return;
        }
        for at in first..self.facts.commands.len() {
            let network = self.facts.commands.get(at).is_some_and(|command| command.network);
            if !network || !self.reached(at).iter().any(|from| secret.contains(from)) {
                continue;
            }
            let (Ok(index), Ok(origin)) = (u32::try_from(self.facts.paths.len()), u32::try_from(at)) else {
                return;
            };
            let view = "/proc/self/environ".to_owned();
            self.facts.paths.push(PathFact {
                written: view.clone(),
                names: vec![PathName { views: vec![view] }],
                form: Form::Exact,
                access: Access::NAME,
                origin: Origin::Command(origin),
            });
            if let Some(command) = self.facts.commands.get_mut(at) {
                command.sent.push(index);
            }
        }
    }
}
