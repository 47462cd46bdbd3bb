//! The commands of a text as they are written: nothing expanded, no wrapper followed.
//!
//! INVARIANT: it is what the walker starts from, so that another reader of the same shell must list the same
//! commands; a word that an expansion makes is `None`.

use super::MAX_NESTING;
use super::ast::*;
use std::borrow::Cow;

/// The commands of one text as written, for comparing this reader with others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// The words of each simple command, quotes removed; `None` where an expansion stands.
    pub commands: Vec<Vec<Option<String>>>,
    /// What was not understood, as byte offset and sentence (of the innermost text).
    pub problems: Vec<(usize, String)>,
}

/// Lists the simple commands that stand in a text, those inside substitutions included.
pub fn outline(text: &str) -> Outline {
    let mut out = Outline::default();
    let mut waiting = vec![(Cow::Borrowed(text), 0)];
    while let Some((text, depth)) = waiting.pop() {
        if depth > MAX_NESTING {
            out.problems.push((0, "texts inside texts nest too deep".into()));
            continue;
        }
        let tree = super::parse::parse(&text);
        out.problems.extend(tree.problems.iter().cloned());
        let mut reader = Reader { commands: &mut out.commands, inside: Vec::new() };
        reader.list(&tree.list);
        for doc in &tree.heredocs {
            reader.bits(&doc.body.bits);
        }
        let inside = std::mem::take(&mut reader.inside);
        waiting.extend(inside.into_iter().map(|text| (Cow::Owned(text), depth + 1)));
    }
    out
}

struct Reader<'o> {
    commands: &'o mut Vec<Vec<Option<String>>>,
    inside: Vec<String>,
}

impl Reader<'_> {
    fn list(&mut self, list: &List<'_>) {
        for item in &list.items {
            for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, next)| next)) {
                for node in &pipeline.stages {
                    self.node(node);
                }
            }
        }
    }

    fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::Simple(simple) => {
                for assign in &simple.assigns {
                    self.bits(&assign.subscript);
                    match &assign.value {
                        AssignValue::Word(word) => self.bits(&word.bits),
                        AssignValue::Array(elements, _) => self.words(elements),
                    }
                }
                if !simple.words.is_empty() {
                    self.commands.push(simple.words.iter().map(text).collect());
                }
                self.words(&simple.words);
                self.redirects(&simple.redirects);
            }
            Node::Compound(compound) => self.compound(compound),
        }
    }

    fn compound(&mut self, compound: &Compound<'_>) {
        self.redirects(&compound.redirects);
        match &compound.kind {
            Kind::Group(list) | Kind::Subshell(list) => self.list(list),
            Kind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.list(condition);
                    self.list(body);
                }
                if let Some(list) = otherwise {
                    self.list(list);
                }
            }
            Kind::While { condition, body } => {
                self.list(condition);
                self.list(body);
            }
            Kind::For { words, body, .. } => {
                self.words(words.as_deref().unwrap_or_default());
                self.list(body);
            }
            Kind::ForArith { bits, body } => {
                self.bits(bits);
                self.list(body);
            }
            Kind::Case { word, arms } => {
                self.bits(&word.bits);
                for (patterns, body) in arms {
                    self.words(patterns);
                    self.list(body);
                }
            }
            Kind::Test(words) => self.words(words),
            Kind::Arith(bits) => self.bits(bits),
            Kind::Function { body, .. } => self.compound(body),
            Kind::Coproc(node) => self.node(node),
        }
    }

    fn redirects(&mut self, redirects: &[RedirectNode<'_>]) {
        for redirect in redirects {
            // The bodies of here-documents are read from the tree, each once.
            if let Target::Word(word) = &redirect.target {
                self.bits(&word.bits);
            }
        }
    }

    fn words(&mut self, words: &[WordNode<'_>]) {
        for word in words {
            self.bits(&word.bits);
        }
    }

    fn bits(&mut self, bits: &[Bit<'_>]) {
        for bit in bits {
            match bit {
                Bit::Bare(_) | Bit::Text(_) | Bit::Opaque => {}
                Bit::Param { inside, .. } | Bit::Arith { inside, .. } | Bit::ExtGlob { inside } => {
                    self.bits(inside);
                }
                Bit::Substitution { list, .. } | Bit::Process { list } => self.list(list),
                Bit::Backtick { text, .. } => self.inside.push(text.clone()),
            }
        }
    }
}

/// The text of a word when nothing in it is expanded.
fn text(word: &WordNode<'_>) -> Option<String> {
    let mut out = String::new();
    for bit in &word.bits {
        match bit {
            Bit::Bare(text) => out.push_str(text),
            Bit::Text(text) => out.push_str(text),
            _ => return None,
        }
    }
    Some(out)
}
