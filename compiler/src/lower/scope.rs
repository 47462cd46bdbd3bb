//! Scopes: `on`, `from`, `as`, `at`, `for` and the project folders around a block.
//!
//! INVARIANT: a scope never loses a condition that was written; what cannot be understood is an error.

use super::Builder;
use crate::code::Code;
use crate::events::EVENTS;
use crate::ir;
use crate::pattern::{path, tool};
use crate::plan::{Body, Instance};
use crate::text::{escape, listed, nearest};
use policy_grammar::ast;
use policy_grammar::source::{FileId, Span};

impl Builder<'_> {
    /// Scope and file conditions of a block.
    pub(super) fn scope(&mut self, instance: &Instance<'_>) -> (ir::ScopeId, Vec<ir::WithinId>) {
        let none = ast::Scopes::default();
        let (scopes, rule) = match instance.body {
            Body::Block(block) => (&block.scopes, block.kind == ast::BlockKind::Rule),
            Body::Default(..) => (&none, true),
        };
        let tools = self.tools(instance.file, scopes, rule);
        if self.spend(tools.len(), instance.span()) {
            return (self.scope_id(everything()), Vec::new());
        }
        let events = self.events(instance.file, scopes.at.as_ref());
        let labels = self.labels(instance.file, scopes.as_.as_ref());
        let scope = self.scope_id(ir::Scope { tools, events, labels });
        let mut withins = Vec::new();
        if !instance.folders.is_empty() {
            let include = instance.folders.iter().map(|folder| format!("{folder}/**")).collect();
            withins.push(self.within_id(ir::Within { include, exclude: Vec::new() }));
        }
        if let Some(files) = &scopes.files {
            let include = self.paths(instance, &files.list);
            let exclude = files.except.as_ref().map(|list| self.paths(instance, list)).unwrap_or_default();
            withins.push(self.within_id(ir::Within { include, exclude }));
        }
        (scope, withins)
    }

    /// Path globs of a list, in order of writing.
    fn paths(&mut self, instance: &Instance<'_>, list: &ast::List) -> Vec<String> {
        let mut out = Vec::new();
        for entry in self.lists.patterns(instance.file, list, self.sink) {
            match path::path(&entry.text, &instance.folders) {
                Ok(all) => out.extend(all.into_iter().map(|s| s.glob)),
                Err(problem) => self.sink.push(problem.diagnostic(&entry.text, entry.span)),
            }
        }
        out
    }

    fn names(&mut self, file: FileId, names: &ast::Names) -> Vec<(String, Span)> {
        let mut out = Vec::new();
        for (name, span) in self.lists.scope_names(file, &names.names, self.sink) {
            match tool::spellings(&name) {
                Ok(spelled) => out.extend(spelled.into_iter().map(|s| (s, span))),
                Err(problem) => self.sink.push(problem.diagnostic(&name.text, span)),
            }
        }
        out
    }

    fn tools(&mut self, file: FileId, scopes: &ast::Scopes, rule: bool) -> Vec<String> {
        let mut out = match (&scopes.on, &scopes.from) {
            (None, None) => vec!["*".to_owned()],
            (Some(on), None) => {
                let tools = self.names(file, on);
                tools.iter().flat_map(|(tool, _)| tool::without_server(tool, rule)).collect()
            }
            (None, Some(from)) => {
                let servers = self.names(file, from);
                servers.iter().map(|(server, _)| tool::with_server(server, "*")).collect()
            }
            (Some(on), Some(from)) => {
                let tools = self.names(file, on);
                let servers = self.names(file, from);
                for (tool, span) in &tools {
                    if !tool::splits(tool).is_empty() {
                        self.sink.push(
                            Code::ServerTwice
                                .error(
                                    format!("`{tool}` already names its server"),
                                    *span,
                                    "a server and a tool",
                                )
                                .with_label(from.span, "a server again")
                                .with_help("write the tool alone, or leave `from` out"),
                        );
                    }
                }
                if self.spend(servers.len().saturating_mul(tools.len()), from.span) {
                    return Vec::new();
                }
                servers
                    .iter()
                    .flat_map(|(server, _)| tools.iter().map(|(tool, _)| tool::with_server(server, tool)))
                    .collect()
            }
        };
        out.sort();
        out.dedup();
        out
    }

    fn events(&mut self, file: FileId, at: Option<&ast::Names>) -> Vec<String> {
        let Some(at) = at else { return vec!["pre_tool_use".to_owned()] };
        let mut out: Vec<String> = Vec::new();
        for (name, span) in self.names(file, at) {
            let before = out.len();
            let matching = EVENTS.iter().filter(|event| crate::text::covers(&name, &escape(event)));
            out.extend(matching.map(|event| (*event).to_owned()));
            if out.len() == before {
                let error =
                    Code::UnknownEvent.error(format!("no event is named `{name}`"), span, "not an event");
                let letters = name.replace(['_', '-'], "");
                let near = EVENTS.iter().find(|e| e.replace('_', "") == letters).copied();
                let near = near.or_else(|| nearest(&name, EVENTS.iter().copied()));
                self.sink.push(match near {
                    Some(near) => error.with_help(format!("write `{near}`")),
                    None => error.with_help(format!("the events are {}", listed(EVENTS.iter().copied()))),
                });
            }
        }
        out.sort();
        out.dedup();
        out
    }

    fn labels(&mut self, file: FileId, as_: Option<&ast::Names>) -> Vec<String> {
        let Some(as_) = as_ else { return Vec::new() };
        let mut out = Vec::new();
        for (name, span) in self.names(file, as_) {
            if name.contains(['*', '?']) {
                self.sink.push(
                    Code::ExactName
                        .error(format!("`{name}` is a pattern"), span, "a label is exact")
                        .with_help("write every label that is meant"),
                );
            } else {
                out.push(name.replace("\\\\", "\\"));
            }
        }
        out.sort();
        out.dedup();
        out
    }
}

/// Every call before a tool runs.
fn everything() -> ir::Scope {
    ir::Scope { tools: vec!["*".to_owned()], events: vec!["pre_tool_use".to_owned()], labels: Vec::new() }
}
