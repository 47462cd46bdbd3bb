//! What a `program` block says.
//!
//! INVARIANT: each fact becomes exactly the variant that documents its spelling in the tree.

use super::build::Node;
use super::{Parser, Rule};
use crate::ast::{ProgramFact, Text};
use crate::code::Code;
use crate::source::{Span, Spanned};

impl<'t> Parser<'t> {
    /// The facts of a block; those between the head and the end of an `under` are its own.
    pub(super) fn program_facts(&mut self, nodes: &[Node<'t>]) -> Vec<Spanned<ProgramFact>> {
        let (mut outer, mut under): (Vec<Spanned<ProgramFact>>, Option<Under>) = (Vec::new(), None);
        for node in nodes {
            match node.rule() {
                Rule::under_head => {
                    outer.extend(under.take().map(Under::fact));
                    under = Some(Under { words: self.words(node), facts: Vec::new(), span: node.span() });
                }
                Rule::under_end => {
                    if let Some(mut under) = under.take() {
                        under.span.end = node.span().end;
                        outer.push(under.fact());
                    }
                }
                _ => {
                    let fact = self.program_fact(node);
                    under.as_mut().map_or(&mut outer, |under| &mut under.facts).extend(fact);
                }
            }
        }
        outer.extend(under.map(Under::fact));
        outer
    }

    fn program_fact(&mut self, node: &Node<'t>) -> Option<Spanned<ProgramFact>> {
        let span = node.span();
        let fact = match node.rule() {
            Rule::same_words => ProgramFact::SameWords(self.words(node)),
            Rule::fact_flags => {
                let flags = flags(node);
                if node.kid(Rule::with_values).is_some() {
                    ProgramFact::ValueFlags(flags)
                } else if node.kid(Rule::with_attached).is_some() {
                    ProgramFact::AttachedFlags(flags)
                } else if node.kid(Rule::without_values).is_some() {
                    ProgramFact::PlainFlags(flags)
                } else if node.kid(Rule::with_holes).is_some() {
                    ProgramFact::PlaceholderFlags(flags)
                } else if node.kid(Rule::that_run_input).is_some() {
                    ProgramFact::InputFlags(flags)
                } else if node.kid(Rule::that_change_folder).is_some() {
                    ProgramFact::FolderFlags(flags)
                } else {
                    ProgramFact::InertFlags(flags)
                }
            }
            Rule::options => {
                let word = node.kid(Rule::word)?.as_text();
                let places = ["first", "late", "anywhere", "single-dash", "none"];
                self.checked_word("place for options", &word, &places);
                ProgramFact::Options(word)
            }
            Rule::assignments => ProgramFact::Assignments,
            Rule::reads => {
                let word = node.kid(Rule::word)?.as_text();
                self.checked_word("shell", &word, &["bash", "posix"]);
                ProgramFact::Dialect(word)
            }
            Rule::placeholders => ProgramFact::Placeholders(self.words(node)),
            Rule::ends => ProgramFact::EndWords(self.words(node)),
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
            return Some(match (node.kid(Rule::as_words), node.kid(Rule::as_code)) {
                (Some(_), _) => ProgramFact::RunsInputWords,
                (_, Some(_)) => ProgramFact::RunsInputCode,
                _ => ProgramFact::RunsInput,
            });
        }
        if let Some(operand) = node.kid(Rule::one_operand) {
            let number = self.integer(&self.scalar(&operand), "which operand");
            if number.node == 0 {
                let help = "operands are counted from 1";
                self.error_help(Code::BadNumber, "there is no operand 0", number.span, "no operand", help);
            }
            return Some(ProgramFact::RunsOperand(number.node.max(1)));
        }
        if node.kid(Rule::flags).is_some() {
            let form = node.kid(Rule::word)?.as_text();
            self.checked_word("form of a command", &form, &["text", "words", "command"]);
            let mut after = Vec::new();
            if let Some(clause) = node.kid(Rule::after_texts) {
                after.extend(clause.kids().filter(|kid| kid.rule() == Rule::string).map(|text| text.value()));
                if form.node != "text" {
                    let help = "write `as text after \"core.pager=\"`";
                    let message = "beginnings stand behind `as text` only";
                    self.error_help(Code::MisplacedClause, message, clause.span(), "not here", help);
                }
            }
            return Some(ProgramFact::RunsFlags { flags: flags(node), form, after });
        }
        if node.kid(Rule::after_dashes).is_some() {
            return Some(ProgramFact::RunsAfterDashes);
        }
        let mut seen: Vec<Node<'t>> = Vec::new();
        let (mut as_text, mut skip) = (false, 0);
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
                _ => continue,
            };
            if let Some(first) = seen.iter().find(|first| first.rule() == kid.rule()) {
                self.clause_twice(first.span(), kid.span(), word);
            }
            seen.push(kid);
        }
        Some(ProgramFact::RunsOperands { as_text, skip })
    }
}

/// An `under` whose end has not been met.
struct Under {
    words: Vec<Text>,
    facts: Vec<Spanned<ProgramFact>>,
    span: Span,
}

impl Under {
    fn fact(self) -> Spanned<ProgramFact> {
        Spanned { node: ProgramFact::Under { words: self.words, facts: self.facts }, span: self.span }
    }
}

fn flags(node: &Node<'_>) -> Vec<Text> {
    let flags = node.kid(Rule::flags);
    flags
        .map(|flags| flags.kids().filter(|kid| kid.rule() == Rule::flag).map(|flag| flag.as_text()).collect())
        .unwrap_or_default()
}
