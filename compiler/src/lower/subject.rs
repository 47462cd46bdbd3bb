//! What a line looks at: every spelling with its matcher and its length.
//!
//! INVARIANT: one pattern a spelling; a list is spelled out before anything is ranked.

use super::Builder;
use super::line::Home;
use super::payment::is_payment;
use crate::code::Code;
use crate::ir;
use crate::lists::Quoted;
use crate::pattern::{self, Problem, Spelled, braces, domain, path, run};
use crate::text::{escape, listed, nearest};
use policy_grammar::ast;
use policy_grammar::shell::Feature;
use policy_grammar::source::Span;

/// One spelling of one pattern of a line.
pub(super) struct Found {
    pub(super) text: String,
    pub(super) matcher: ir::Matcher,
    pub(super) words: u32,
    pub(super) bytes: u32,
    pub(super) span: Span,
}

/// Everything a subject says.
pub(super) struct Lowered {
    pub(super) kind: ir::Kind,
    pub(super) arg: String,
    pub(super) patterns: Vec<Found>,
    pub(super) excepts: Vec<(ir::Matcher, Span)>,
}

/// Longest text kept to show a pattern, in characters.
const MAX_SHOWN: usize = 200;

impl Builder<'_> {
    /// Lowers a subject; none when it was refused.
    pub(super) fn subject(
        &mut self,
        home: &Home<'_>,
        subject: &ast::Subject,
        span: Span,
        grant: bool,
    ) -> Option<Lowered> {
        let folders = &home.instance.folders;
        if is_payment(subject) {
            return self.payment(home, subject, span, grant);
        }
        match subject {
            ast::Subject::Path(list) => Some(self.globs(
                home,
                list,
                ir::Kind::Path,
                |text| path::path(text, folders),
                ir::Matcher::Path,
            )),
            ast::Subject::Domain(list) => {
                Some(self.globs(home, list, ir::Kind::Domain, domain::domain, ir::Matcher::Domain))
            }
            ast::Subject::Command(list) => {
                Some(self.globs(home, list, ir::Kind::Command, pattern::text, ir::Matcher::Command))
            }
            ast::Subject::Arg { name, patterns } => {
                let begin = format!("{}\0", escape(&name.node));
                let make = |glob: String| ir::Matcher::Arg(format!("{begin}{glob}"));
                let mut lowered = self.globs(home, patterns, ir::Kind::Arg, pattern::text, make);
                lowered.arg = name.node.clone();
                Some(lowered)
            }
            ast::Subject::Shell(features) => self.shell(features, span, grant),
            ast::Subject::Run(run) => self.run(home, run, grant),
            ast::Subject::Content { view, patterns } => {
                self.in_guard(home, (span, grant), "content")?;
                let patterns = patterns.iter().filter(|pattern| self.lookable(pattern)).collect::<Vec<_>>();
                let patterns = patterns.into_iter().map(|pattern| Found {
                    text: shown(&pattern.node),
                    matcher: ir::Matcher::Content(*view, pattern.node.clone()),
                    words: 0,
                    bytes: super::number(pattern.node.len()),
                    span: pattern.span,
                });
                let patterns = patterns.collect();
                Some(Lowered { kind: ir::Kind::Content, arg: String::new(), patterns, excepts: Vec::new() })
            }
            ast::Subject::ContentSecret { view, names } => {
                self.in_guard(home, (span, grant), "content")?;
                Some(self.secrets_line(home, *view, names.as_ref(), span))
            }
            ast::Subject::Check { name, options } => {
                self.in_guard(home, (span, grant), "check")?;
                Some(self.check_line(home, name, options, span))
            }
            // The others were refused before.
            _ => None,
        }
    }

    fn globs(
        &mut self,
        home: &Home<'_>,
        list: &ast::PatternList,
        kind: ir::Kind,
        spell: impl Fn(&str) -> Result<Vec<Spelled>, Problem>,
        make: impl Fn(String) -> ir::Matcher,
    ) -> Lowered {
        let file = home.instance.file;
        let lists = self.lists;
        let mut out = Lowered { kind, arg: String::new(), patterns: Vec::new(), excepts: Vec::new() };
        for Quoted { text, span } in lists.patterns(file, &list.list, self.sink) {
            match spell(&text) {
                Ok(all) => out.patterns.extend(all.into_iter().map(|s| Found {
                    text: shown(&text),
                    matcher: make(s.glob),
                    words: 0,
                    bytes: s.bytes,
                    span,
                })),
                Err(problem) => self.sink.push(problem.diagnostic(&text, span)),
            }
        }
        for Quoted { text, span } in
            list.except.iter().flat_map(|except| lists.patterns(file, except, self.sink)).collect::<Vec<_>>()
        {
            match spell(&text) {
                Ok(all) => out.excepts.extend(all.into_iter().map(|s| (make(s.glob), span))),
                Err(problem) => self.sink.push(problem.diagnostic(&text, span)),
            }
        }
        out
    }

    fn shell(&mut self, features: &[ast::Text], span: Span, grant: bool) -> Option<Lowered> {
        if grant {
            self.sink.push(
                Code::GrantOnFeature
                    .error(
                        "a shell feature is no reason to let a command through",
                        span,
                        "grants every command that has it",
                    )
                    .with_help("name the command: allow run `git status`"),
            );
            return None;
        }
        let mut patterns = Vec::new();
        for word in features {
            let names = Feature::ALL.iter().map(|(_, name)| *name);
            match Feature::ALL.iter().find(|(_, name)| *name == word.node) {
                Some((feature, name)) => patterns.push(Found {
                    text: format!("shell {name}"),
                    matcher: ir::Matcher::Shell(feature.bit()),
                    // No spelling to count: whoever asks about a feature means every command that has it.
                    words: u32::MAX,
                    bytes: 0,
                    span: word.span,
                }),
                None => {
                    let message = format!("no shell feature is named `{}`", word.node);
                    let error = Code::UnknownFeature.error(message, word.span, "not a feature");
                    let near = other_word(&word.node).or_else(|| nearest(&word.node, names.clone()));
                    self.sink.push(match near {
                        Some(near) => error.with_help(format!("write `{near}`")),
                        None => error.with_help(format!("the features are {}", listed(names))),
                    });
                }
            }
        }
        Some(Lowered { kind: ir::Kind::Shell, arg: String::new(), patterns, excepts: Vec::new() })
    }

    fn run(&mut self, home: &Home<'_>, subject: &ast::RunSubject, grant: bool) -> Option<Lowered> {
        let file = home.instance.file;
        let lists = self.lists;
        let touching = subject.touching.as_ref().map(|list| self.operands(home, list, false));
        let mut paths =
            |list: &Option<ast::PatternList>| list.as_ref().map(|list| self.operands(home, list, true));
        let (reading, writing) = (paths(&subject.reading), paths(&subject.writing));
        let (deleting, sending) = (paths(&subject.deleting), paths(&subject.sending));
        if grant {
            let refused = [
                ("reading", &subject.reading),
                ("deleting", &subject.deleting),
                ("sending", &subject.sending),
            ];
            for (word, list) in refused {
                let Some(list) = list else { continue };
                self.sink.push(
                    Code::ClauseOfRefusal
                        .error(
                            format!("a grant takes no `{word}`"),
                            list.list.span,
                            "only a refusal looks at this",
                        )
                        .with_help("say with `touching` and `writing` what it may name and write"),
                );
            }
        }
        let via = subject.via.as_ref().map(|names| self.wrappers(home, names)).unwrap_or_default();
        let clauses = self.clauses(subject);
        let mut out =
            Lowered { kind: ir::Kind::Run, arg: String::new(), patterns: Vec::new(), excepts: Vec::new() };
        for (pattern, span) in lists.runs(file, &subject.patterns, self.sink) {
            for spelled in self.spelled(pattern, span, grant) {
                let run::SpelledRun { mut pattern, words, bytes } = spelled;
                pattern.touching = touching.clone();
                pattern.reading = reading.clone();
                pattern.writing = writing.clone();
                pattern.deleting = deleting.clone();
                pattern.sending = sending.clone();
                pattern.via = via.clone();
                let text = shown(&format!("{}{clauses}", self.sources.slice(span).trim_matches('`')));
                let matcher = ir::Matcher::Run(pattern);
                out.patterns.push(Found { text, matcher, words, bytes, span });
            }
        }
        for (pattern, span) in lists.runs(file, &subject.except, self.sink) {
            for spelled in self.spelled(pattern, span, !grant) {
                let mut pattern = spelled.pattern;
                if !grant {
                    // An `except` under a refusal grants what the line's own clauses had asked for.
                    pattern.writing = writing.clone();
                    pattern.via = via.clone();
                }
                out.excepts.push((ir::Matcher::Run(pattern), span));
            }
        }
        Some(out)
    }

    /// The spellings of one run pattern; what is wrong is said.
    pub(super) fn spelled(
        &mut self,
        pattern: &ast::RunPattern,
        span: Span,
        grant: bool,
    ) -> Vec<run::SpelledRun> {
        if grant && pattern.stages.len() > 1 {
            self.sink.push(
                Code::PipeInAllow
                    .error("a grant names one command, not a pipe", span, "a pipe")
                    .with_help("allow each command by itself; every command of a pipe is decided alone"),
            );
            return Vec::new();
        }
        let (names, programs) = (&self.programs, &self.policy.programs);
        let lookup = |name: &str| {
            let name = name.rsplit('/').next().unwrap_or(name);
            let at = names.get(name).or_else(|| names.get(&name.to_ascii_lowercase()));
            at.and_then(|at| programs.get(*at))
        };
        let same: Option<run::Lookup<'_>> = if grant { None } else { Some(&lookup) };
        match run::run(pattern, same) {
            Ok(all) => all,
            Err(problem) => {
                self.sink.push(problem.diagnostic(&pattern.text, span));
                Vec::new()
            }
        }
    }

    /// `touching` and `writing`: what begins with an anchor is a path, the rest is text.
    fn operands(&mut self, home: &Home<'_>, list: &ast::PatternList, paths_only: bool) -> ir::OperandSet {
        let mut set = ir::OperandSet::default();
        let (file, lists) = (home.instance.file, self.lists);
        let folders = &home.instance.folders;
        let main = lists.patterns(file, &list.list, self.sink).into_iter().map(|q| (q, false));
        let mut all: Vec<(Quoted, bool)> = main.collect();
        if let Some(except) = &list.except {
            all.extend(lists.patterns(file, except, self.sink).into_iter().map(|q| (q, true)));
        }
        for (Quoted { text, span }, except) in all {
            let spelled = pattern::check(&text).and_then(|()| braces::expand(&braces::lenient(&text)));
            let spelled = match spelled {
                Ok(spelled) => spelled,
                Err(problem) => {
                    self.sink.push(problem.diagnostic(&text, span));
                    continue;
                }
            };
            for spelling in spelled {
                if !paths_only && !path::is_anchored(&spelling) {
                    let texts = if except { &mut set.except_texts } else { &mut set.texts };
                    texts.push(braces::plain(&spelling));
                    continue;
                }
                match path::normal(&spelling) {
                    Ok(glob) => {
                        let paths = if except { &mut set.except_paths } else { &mut set.paths };
                        paths.extend(path::placed(&glob, folders));
                    }
                    Err(problem) => self.sink.push(problem.diagnostic(&text, span)),
                }
            }
        }
        set
    }

    pub(super) fn wrappers(&mut self, home: &Home<'_>, names: &ast::Names) -> Vec<String> {
        let mut out = Vec::new();
        for (name, span) in self.lists.scope_names(home.instance.file, &names.names, self.sink) {
            if name.glob && name.text.contains(['*', '?', '{', '\\']) {
                self.sink.push(
                    Code::ExactName
                        .error(format!("`{}` is a pattern", name.text), span, "a wrapper is named exactly")
                        .with_help("write every wrapper that is meant"),
                );
            } else {
                out.push(name.text);
            }
        }
        out
    }

    /// The clauses behind a run pattern, as written.
    fn clauses(&self, subject: &ast::RunSubject) -> String {
        let mut out = String::new();
        for (word, list) in subject.sets() {
            out.push_str(&format!(" {word} {}", self.sources.slice(list.list.span)));
            if let Some(except) = &list.except {
                out.push_str(&format!(" except {}", self.sources.slice(except.span)));
            }
        }
        if let Some(via) = &subject.via {
            out.push_str(&format!(" {}", self.sources.slice(via.span)));
        }
        out
    }
}

/// Features under the names that people have for them.
fn other_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "heredoc" | "here-doc" => "here-document",
        "herestring" => "here-string",
        "backtick" | "backticks" | "command-substitution" => "substitution",
        "pipeline" => "pipe",
        "redirection" => "redirect",
        "sequence" | "and" | "list" => "chain",
        "wildcard" => "glob",
        "expansion" | "parameter" => "variable",
        "if" | "case" | "condition" => "branch",
        _ => return None,
    })
}

/// A pattern as it is shown, on one line.
pub(super) fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
