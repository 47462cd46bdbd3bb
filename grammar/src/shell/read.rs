//! What `read`, `mapfile` and `printf -v` put into variables, when the text they get is known.
//!
//! INVARIANT: a value is set only when it is certain to be one of the lines or fields of a known text.

use super::Word;
use super::ast::*;
use super::env::{Env, MAX_VALUES, Val, Value};
use super::options::is_name;
use super::output::filter::printf;
use super::walk::{Ctx, Stdin, Walk};

impl<'t> Walk<'_, '_, 't> {
    /// Values of the variables that a builtin has just made unknown.
    pub(crate) fn read_values(&mut self, simple: &'t Simple<'t>, words: &[Word], env: &mut Env, ctx: &Ctx) {
        let texts: Option<Vec<&str>> = words.iter().map(Word::known).collect();
        let Some(texts) = texts else { return };
        match texts.as_slice() {
            ["printf", "-v", name, format, args @ ..] if is_name(name) => {
                if let Some(text) = printf(format, args) {
                    env.set(name, Value::Scalar(vec![Val::Text(text)]));
                }
            }
            ["read", args @ ..] => {
                if let Some(lines) = self.lines(simple, env, ctx) {
                    read(args, &lines, keeps_blanks(simple), env);
                }
            }
            ["mapfile" | "readarray", "-t", name] if is_name(name) => {
                if let Some(lines) = self.lines_of_all(simple, env, ctx)
                    && lines.len() <= MAX_VALUES
                {
                    env.set(name, Value::Array(lines.into_iter().map(Val::Text).collect()));
                }
            }
            _ => {}
        }
    }

    /// The lines that may be the next one.
    fn lines(&self, simple: &'t Simple<'t>, env: &Env, ctx: &Ctx) -> Option<Vec<String>> {
        let mut lines = self.lines_of_all(simple, env, ctx)?;
        let own = simple.redirects.iter().any(|r| r.op.starts_with('<') && matches!(r.fd, "" | "0"));
        if own && self.w.loops == 0 {
            lines.truncate(1);
        }
        lines.dedup();
        (lines.len() <= MAX_VALUES).then_some(lines)
    }

    fn lines_of_all(&self, simple: &'t Simple<'t>, env: &Env, ctx: &Ctx) -> Option<Vec<String>> {
        let other = |assign: &Assign<'_>| assign.name != "IFS";
        if env.input || env.ifs || simple.assigns.iter().any(other) {
            return None;
        }
        let expander = self.expander(env, &[]);
        let redirects = self.redirects(&simple.redirects, &expander);
        match expander.input_after(&simple.redirects, &redirects, &ctx.stdin) {
            Stdin::Text(text) if text.len() <= 4096 => Some(text.lines().map(str::to_string).collect()),
            _ => None,
        }
    }
}

/// `IFS= read`: blanks at the ends stay.
fn keeps_blanks(simple: &Simple<'_>) -> bool {
    simple.assigns.iter().any(|assign| assign.name == "IFS")
}

fn read(args: &[&str], lines: &[String], keeps: bool, env: &mut Env) {
    let (raw, names) = match args {
        ["-r", names @ ..] => (true, names),
        names => (false, names),
    };
    let bad = |line: &String| !raw && line.contains('\\') || line.contains('\0');
    if !names.iter().all(|name| is_name(name))
        || lines.is_empty()
        || lines.iter().any(bad)
        || keeps && names.len() > 1
    {
        return;
    }
    let mut set = |name: &str, texts: Vec<String>| {
        let mut vals: Vec<Val> = Vec::new();
        for text in texts {
            let val = Val::Text(text);
            if !vals.contains(&val) {
                vals.push(val);
            }
        }
        env.set(name, Value::Scalar(vals));
    };
    let blank = |c: char| matches!(c, ' ' | '\t');
    match names {
        [] => set("REPLY", lines.to_vec()),
        [name] if keeps => set(name, lines.to_vec()),
        [name] => set(name, lines.iter().map(|line| line.trim_matches(blank).to_string()).collect()),
        [names @ .., last] => {
            for (at, name) in names.iter().enumerate() {
                let field = |line: &String| {
                    line.split(blank).filter(|f| !f.is_empty()).nth(at).unwrap_or_default().to_string()
                };
                set(name, lines.iter().map(field).collect());
            }
            let rest = |line: &String| {
                let mut rest = line.trim_matches(blank);
                for _ in 0..names.len() {
                    rest = rest.split_once(blank).map_or("", |(_, rest)| rest.trim_start_matches(blank));
                }
                rest.to_string()
            };
            set(last, lines.iter().map(rest).collect());
        }
    }
}
