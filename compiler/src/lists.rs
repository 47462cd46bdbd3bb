//! `list NAME is …` and what `@NAME` stands for.
//!
//! INVARIANT: a list spells out to at most [`MAX_MEMBERS`] members, and never holds itself.

use crate::code::{Code, Sink};
use crate::pattern::tool::Name;
use crate::text::{listed, nearest};
use policy_grammar::ast;
use policy_grammar::source::{FileId, Span};
use std::collections::BTreeMap;

/// Members of one list, its lists spelled out.
pub(crate) const MAX_MEMBERS: usize = 10_000;
const MAX_DEPTH: usize = 32;
/// The pack whose lists are `@std/NAME`.
pub(crate) const TOOLS_PACK: &str = "std/tools";

#[derive(Debug)]
struct Definition {
    members: Vec<ast::Member>,
    span: Span,
}

/// Every list of every file.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    files: BTreeMap<FileId, BTreeMap<String, Definition>>,
    owners: BTreeMap<String, FileId>,
}

/// A quoted text and the place to blame for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quoted {
    /// The text.
    pub(crate) text: String,
    /// Where the line wrote it, or the list it came from.
    pub(crate) span: Span,
}

impl Lists {
    /// Takes the lists of a file (those inside projects too) under the name that others may use.
    pub(crate) fn add(&mut self, file: FileId, owner: Option<&str>, items: &[ast::Item], sink: &mut Sink) {
        if let Some(owner) = owner {
            self.owners.entry(owner.to_owned()).or_insert(file);
        }
        for item in items {
            match item {
                ast::Item::List { name, members, .. } => {
                    let lists = self.files.entry(file).or_default();
                    if let Some(first) = lists.get(&name.node) {
                        sink.push(
                            Code::DuplicateList
                                .error(format!("list `{}` exists twice", name.node), first.span, "first here")
                                .with_label(name.span, "again here")
                                .with_help("give one of them another name, or put the members together"),
                        );
                        continue;
                    }
                    let definition = Definition { members: members.clone(), span: name.span };
                    lists.insert(name.node.clone(), definition);
                }
                ast::Item::Project { items, .. } => self.add(file, None, items, sink),
                _ => {}
            }
        }
    }

    fn find(&self, from: FileId, name: &str) -> Option<(FileId, &Definition)> {
        let (owner, list) = match name.rsplit_once('/') {
            None => (from, name),
            Some(("std", list)) => (*self.owners.get(TOOLS_PACK)?, list),
            Some((owner, list)) => (*self.owners.get(owner)?, list),
        };
        Some((owner, self.files.get(&owner)?.get(list)?))
    }

    fn names(&self, from: FileId) -> Vec<String> {
        let mut names: Vec<String> =
            self.files.get(&from).map(|lists| lists.keys().cloned().collect()).unwrap_or_default();
        for (owner, file) in &self.owners {
            let short = if owner == TOOLS_PACK { "std" } else { owner };
            names.extend(
                self.files.get(file).into_iter().flat_map(|l| l.keys()).map(|list| format!("{short}/{list}")),
            );
        }
        names
    }

    /// Every member of list `name` as the file `from` sees it, lists inside it spelled out.
    fn members(&self, from: FileId, name: &ast::Text, sink: &mut Sink) -> Vec<&ast::Member> {
        let mut out = Vec::new();
        let mut open: Vec<(FileId, String)> = Vec::new();
        self.walk(from, name, name.span, &mut open, &mut out, sink);
        out
    }

    fn walk<'s>(
        &'s self,
        from: FileId,
        name: &ast::Text,
        used: Span,
        open: &mut Vec<(FileId, String)>,
        out: &mut Vec<&'s ast::Member>,
        sink: &mut Sink,
    ) -> bool {
        let Some((file, definition)) = self.find(from, &name.node) else {
            if sink.full() {
                sink.count();
            } else {
                sink.push(self.unknown(from, name));
            }
            return false;
        };
        let key = (file, name.node.rsplit('/').next().unwrap_or_default().to_owned());
        if open.contains(&key) || open.len() >= MAX_DEPTH {
            sink.push(
                Code::ListCycle
                    .error(format!("list `{}` holds itself", key.1), definition.span, "this list")
                    .with_label(name.span, "named again here")
                    .with_help("a list may hold other lists, but never itself"),
            );
            return false;
        }
        open.push(key);
        let mut fine = true;
        for member in &definition.members {
            if out.len() >= MAX_MEMBERS {
                sink.push(
                    Code::ListTooLong
                        .error(format!("a list has more than {MAX_MEMBERS} members"), used, "used here")
                        .with_help("split it, or write patterns instead of names"),
                );
                fine = false;
                break;
            }
            match member {
                ast::Member::Ref(inner) => {
                    // ORDER: stop at the first trouble, so that a bad list inside lists is told once.
                    if !self.walk(file, inner, used, open, out, sink) {
                        fine = false;
                        break;
                    }
                }
                other => out.push(other),
            }
        }
        open.pop();
        fine
    }

    fn unknown(&self, from: FileId, name: &ast::Text) -> policy_grammar::diagnostic::Diagnostic {
        let names = self.names(from);
        let message = format!("no list is named `{}`", name.node);
        let error = Code::UnknownList.error(message, name.span, "not a list");
        let same_end = names.iter().find(|n| n.rsplit('/').next() == Some(name.node.as_str()));
        let near = nearest(&name.node, names.iter().map(String::as_str)).or(same_end.map(String::as_str));
        match near {
            Some(near) => error.with_help(format!("write `@{near}`")),
            None if names.is_empty() => error.with_help("define it: `list NAME is \"a\", \"b\"`"),
            None => error.with_help(format!("the lists are {}", listed(names.iter().map(String::as_str)))),
        }
    }

    fn wrong(&self, name: &ast::Text, holds: &str, needs: &str, sink: &mut Sink) {
        sink.push(
            Code::WrongListKind
                .error(
                    format!("list `{}` holds {holds}", name.node),
                    name.span,
                    format!("{needs} belong here"),
                )
                .with_help(format!("use a list of {needs}")),
        );
    }

    /// The names of a scope.
    pub(crate) fn scope_names(
        &self,
        from: FileId,
        names: &[ast::NameRef],
        sink: &mut Sink,
    ) -> Vec<(Name, Span)> {
        let mut out = Vec::new();
        for name in names {
            match name {
                ast::NameRef::Bare(text) => {
                    out.push((Name { text: text.node.clone(), glob: false }, text.span))
                }
                ast::NameRef::Quoted(text) => {
                    out.push((Name { text: text.node.clone(), glob: true }, text.span))
                }
                ast::NameRef::Ref(list) => {
                    for member in self.members(from, list, sink) {
                        match member {
                            ast::Member::Name(text) => {
                                out.push((Name { text: text.node.clone(), glob: false }, list.span));
                            }
                            ast::Member::Pattern(text) => {
                                out.push((Name { text: text.node.clone(), glob: true }, list.span));
                            }
                            ast::Member::Run(_) => {
                                self.wrong(list, "run patterns", "names", sink);
                                break;
                            }
                            ast::Member::Ref(_) => {}
                        }
                    }
                }
            }
        }
        out
    }

    /// The quoted patterns of a list of entries.
    pub(crate) fn patterns(&self, from: FileId, list: &ast::List, sink: &mut Sink) -> Vec<Quoted> {
        let mut out = Vec::new();
        for entry in &list.entries {
            match entry {
                ast::Entry::Pattern(text) => out.push(Quoted { text: text.node.clone(), span: text.span }),
                ast::Entry::Ref(name) => {
                    for member in self.members(from, name, sink) {
                        match member {
                            ast::Member::Pattern(text) => {
                                out.push(Quoted { text: text.node.clone(), span: name.span });
                            }
                            ast::Member::Run(_) => {
                                self.wrong(name, "run patterns", "quoted patterns", sink);
                                break;
                            }
                            ast::Member::Name(_) => {
                                self.wrong(name, "names", "quoted patterns", sink);
                                break;
                            }
                            ast::Member::Ref(_) => {}
                        }
                    }
                }
            }
        }
        out
    }

    /// The run patterns of a list of items, each with the place to blame.
    pub(crate) fn runs<'s>(
        &'s self,
        from: FileId,
        items: &'s [ast::RunItem],
        sink: &mut Sink,
    ) -> Vec<(&'s ast::RunPattern, Span)> {
        let mut out = Vec::new();
        for item in items {
            match item {
                ast::RunItem::Pattern(pattern) => out.push((pattern, pattern.span)),
                ast::RunItem::Ref(name) => {
                    for member in self.members(from, name, sink) {
                        match member {
                            ast::Member::Run(pattern) => out.push((pattern, name.span)),
                            ast::Member::Ref(_) => {}
                            ast::Member::Name(_) | ast::Member::Pattern(_) => {
                                self.wrong(name, "names or quoted patterns", "run patterns", sink);
                                break;
                            }
                        }
                    }
                }
            }
        }
        out
    }
}
