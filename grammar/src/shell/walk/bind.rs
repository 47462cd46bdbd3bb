//! Bodies of functions read once more with the arguments of a call.
//!
//! INVARIANT: a further reading only adds commands: the body itself was read without its arguments, and what is not
//! understood there is told there. The number and the size of all readings are bounded.

use super::{Ctx, Task, Walk, Walker};
use crate::shell::env::Env;
use crate::shell::inner::Call;
use crate::shell::walk::Stdin;
use crate::shell::{Gap, MAX_NESTING, Word};
use std::collections::{BTreeMap, BTreeSet};

/// Most readings of bodies in one text, and the bytes that they may have together.
const MAX_BOUND: usize = 32;
const MAX_BOUND_BYTES: usize = 32 * 1024;
/// Most bodies of one name that are kept.
const MAX_BODIES: usize = 4;

/// The functions of one text and the readings that wait.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    texts: BTreeMap<String, Vec<String>>,
    seen: BTreeSet<String>,
    waiting: Vec<Task>,
    bytes: usize,
}

impl Bodies {
    /// Keeps the body of a function.
    pub(super) fn keep(&mut self, name: &str, text: &str) {
        if text.len() > MAX_BOUND_BYTES || !self.texts.contains_key(name) && self.texts.len() >= 256 {
            return;
        }
        let texts = self.texts.entry(name.to_string()).or_default();
        if texts.len() < MAX_BODIES && !texts.iter().any(|known| known == text) {
            texts.push(text.to_string());
        }
    }
}

impl Walker<'_> {
    /// Reads one waiting body; `false` when there is none.
    pub(super) fn bound(&mut self) -> bool {
        let Some(task) = self.bodies.waiting.pop() else { return false };
        let problems = self.problems.len();
        self.task(task);
        while let Some(task) = self.queue.pop_front() {
            self.task(task);
        }
        self.problems.truncate(problems);
        true
    }
}

impl Walk<'_, '_, '_> {
    /// A call of a function: its body will be read with the words behind the name.
    pub(crate) fn bind(&mut self, call: &Call, name: &str, env: &Env) {
        let Some(texts) = self.w.bodies.texts.get(name).cloned() else { return };
        let args = call.words.get(1..).unwrap_or_default();
        let fed = matches!(call.stdin, Stdin::Text(_) | Stdin::Guess(_));
        for text in texts.into_iter().filter(|text| fed || !args.is_empty() && takes_arguments(text)) {
            let bodies = &mut self.w.bodies;
            let bytes = bodies.bytes + text.len();
            let full = bodies.seen.len() >= MAX_BOUND || bytes > MAX_BOUND_BYTES;
            // A word that may be several moves the others.
            if full || self.depth >= MAX_NESTING || args.iter().any(Word::may_split) {
                return;
            }
            let input = if fed { Some(&call.stdin) } else { None };
            if !bodies.seen.insert(format!("{name} {:?} {input:?} {} {text}", args, self.depth)) {
                continue;
            }
            bodies.bytes = bytes;
            let mut env = env.clone();
            env.args = Some(call.words.clone());
            (env.in_function, env.outermost) = (true, false);
            // What the function itself may have changed before; within one run of it the order is known.
            (env.all_volatile, env.ifs) = (false, env.get("IFS").is_some());
            env.volatile.clear();
            let mut gaps = call.gaps.clone();
            gaps.retain(|gap| !matches!(gap, Gap::Shadowed | Gap::UnknownProgram));
            let ctx = Ctx {
                redirects: call.redirects.clone(),
                wrappers: call.wrappers.clone(),
                gaps,
                pipe: call.pipe,
                stdin: call.stdin.clone(),
                from: call.from,
                to: call.to,
                // This reading is of the call, where the folder is known; the body itself is read as of any time.
                deferred: call.deferred,
            };
            let (place, depth, dialect) = (Some(self.place_of(call.range)), self.depth + 1, self.dialect);
            let task = Task { text, env, ctx, place, depth, dialect, guess: true, code: None };
            self.w.bodies.waiting.push(task);
        }
    }
}

/// Whether a body looks at what the function is given.
fn takes_arguments(text: &str) -> bool {
    let parameter = |rest: &str| {
        rest.trim_start_matches(['{', '#', '!'])
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '@' | '*'))
    };
    text.match_indices('$').any(|(at, _)| text.get(at + 1..).is_some_and(parameter)) || text.contains("shift")
}
