//! Variables whose values programs run: editors, pagers, the programs that `git` starts, prompts.
//!
//! INVARIANT: a value only adds commands; the command that the variable changes keeps its gap.

use super::find::{Text, joined};
use crate::shell::env::Env;
use crate::shell::options::is_name;
use crate::shell::walk::{Ctx, Stdin, Task, Walk};
use crate::shell::{Dialect, Word};

/// Variables whose value is a shell text, beside those with the ends below.
const TEXTS: &[&str] = &[
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_TEST_FSMONITOR",
    "VISUAL",
    "FCEDIT",
    "LESSOPEN",
    "LESSCLOSE",
    "PROMPT_COMMAND",
    "RSYNC_RSH",
    "RSYNC_CONNECT_PROG",
    "CVS_RSH",
    "SVN_SSH",
    "FZF_DEFAULT_COMMAND",
    "NULLCMD",
    "READNULLCMD",
];
const TEXT_ENDS: &[&str] = &["PAGER", "EDITOR", "BROWSER", "ASKPASS"];
/// Variables whose value begins the setting of a program: `GIT_CONFIG_VALUE_0`.
const TEXT_STARTS: &[&str] = &["GIT_CONFIG_VALUE_"];
/// Prompts: what is substituted in them runs.
const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS4", "PROMPT", "RPROMPT"];

/// The shell text that a program makes of a variable's value.
fn text_of(name: &str, value: &str) -> Option<String> {
    if TEXTS.contains(&name)
        || TEXT_ENDS.iter().any(|end| name.ends_with(end))
        || TEXT_STARTS.iter().any(|start| name.starts_with(start))
    {
        return Some(value.trim_start_matches(['|', '-', '!']).to_string());
    }
    if PROMPTS.contains(&name) && value.contains(['$', '`']) {
        return Some(format!(": <<__PROMPT__\n{value}\n__PROMPT__\n"));
    }
    matches!(name, "BASH_ENV" | "ENV").then(|| format!(". {value}"))
}

impl Walk<'_, '_, '_> {
    /// A variable that is set: what its value runs is listed.
    pub(crate) fn set_value(
        &mut self,
        name: &str,
        value: &Word,
        env: &Env,
        (range, ctx): ((usize, usize), &Ctx),
    ) {
        let (value, guess) = match joined(std::slice::from_ref(value), " ") {
            Text::Known(value) => (value, false),
            Text::Guess(value) => (value, true),
            Text::Unread => return,
        };
        let Some(text) = text_of(name, &value).filter(|text| !text.trim().is_empty()) else { return };
        let mut inner = Env::new(env.dir.clone());
        inner.other_dirs = env.other_dirs.clone();
        let mut ctx = ctx.clone();
        ctx.redirects.clear();
        ctx.pipe = None;
        // A remote shell gets a command and data of the program that starts it, no code.
        ctx.stdin = if name.contains("SSH") || name.contains("RSH") { Stdin::Call } else { Stdin::Unknown };
        (ctx.from, ctx.to, ctx.deferred) = (None, None, true);
        let (place, depth) = (Some(self.place_of(range)), self.depth + 1);
        let dialect = Dialect::Unknown;
        self.w.enqueue(Task { text, env: inner, ctx, place, depth, dialect, guess, code: None });
    }

    /// `export NAME=VALUE` and its kin: what the values run is listed.
    pub(crate) fn declared_values(&mut self, words: &[Word], env: &Env, at: ((usize, usize), &Ctx)) {
        for word in words.iter().skip(1) {
            if let Some((name, value)) = word.known().and_then(|text| text.split_once('='))
                && is_name(name)
            {
                self.set_value(name, &Word::Known(value.to_string()), env, at);
            }
        }
    }
}
