//! What a `program` block says.
//!
//! INVARIANT: each fact becomes exactly the variant that documents its spelling in the tree.

use super::build::Node;
use super::{Parser, Rule};
use crate::ast::{ProgramFact, Text};
use crate::source::Spanned;

impl<'t> Parser<'t> {
    pub(super) fn program_fact(&mut self, node: &Node<'t>) -> Option<Spanned<ProgramFact>> {
        let span = node.span();
        let fact = match node.rule() {
            Rule::same_words => ProgramFact::SameWords(self.words(node)),
            Rule::fact_flags => {
                let flags = flags(node);
                if node.kid(Rule::with_values).is_some() {
                    ProgramFact::ValueFlags(flags)
                } else if node.kid(Rule::with_attached).is_some() {
                    ProgramFact::AttachedFlags(flags)
                } else {
                    ProgramFact::InertFlags(flags)
                }
            }
            Rule::options => {
                let word = node.kid(Rule::word)?.as_text();
                self.checked_word("place for options", &word, &["first", "anywhere", "single-dash", "none"]);
                ProgramFact::Options(word)
            }
            Rule::assignments => ProgramFact::Assignments,
            Rule::runs => self.runs_fact(node)?,
            Rule::lists => ProgramFact::ListsOperands,
            Rule::prints => ProgramFact::PrintsNames(self.words(node)),
            Rule::connects => ProgramFact::ConnectsToOperands,
            _ => return None,
        };
        Some(Spanned { node: fact, span })
    }

    fn words(&mut self, node: &Node<'t>) -> Vec<Text> {
        let names = node.kid(Rule::names);
        names.map(|names| self.plain_names(&names, "a word of a command")).unwrap_or_default()
    }

    fn runs_fact(&mut self, node: &Node<'t>) -> Option<ProgramFact> {
        if node.kid(Rule::its_input).is_some() {
            let words = node.kid(Rule::as_words).is_some();
            return Some(if words { ProgramFact::RunsInputWords } else { ProgramFact::RunsInput });
        }
        if node.kid(Rule::flags).is_some() {
            let form = node.kid(Rule::word)?.as_text();
            self.checked_word("form of a command", &form, &["text", "words", "command"]);
            return Some(ProgramFact::RunsFlags { flags: flags(node), form });
        }
        let mut seen: Vec<Node<'t>> = Vec::new();
        let (mut as_text, mut skip, mut after_words) = (false, 0, Vec::new());
        for kid in node.kids() {
            let word = match kid.rule() {
                Rule::as_text => {
                    as_text = true;
                    "as text"
                }
                Rule::after_count => {
                    let scalar = self.scalar(&kid);
                    skip = self.integer(&scalar, "how many operands come first").node;
                    "after"
                }
                Rule::after_words => {
                    after_words = self.words(&kid);
                    "after words"
                }
                _ => continue,
            };
            if let Some(first) = seen.iter().find(|first| first.rule() == kid.rule()) {
                self.clause_twice(first.span(), kid.span(), word);
            }
            seen.push(kid);
        }
        Some(ProgramFact::RunsOperands { as_text, skip, after_words })
    }
}

fn flags(node: &Node<'_>) -> Vec<Text> {
    let flags = node.kid(Rule::flags);
    flags
        .map(|flags| flags.kids().filter(|kid| kid.rule() == Rule::flag).map(|flag| flag.as_text()).collect())
        .unwrap_or_default()
}
