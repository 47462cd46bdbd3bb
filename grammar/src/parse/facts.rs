//! What a `program` block says.
//!
//! INVARIANT: each fact becomes exactly the variant that documents its spelling in the tree.

use super::build::Node;
use super::{Parser, Rule};
use crate::ast::{EffectPlace, ProgramFact, Text};
use crate::code::Code;
use crate::shell::code::Language;
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
                } else if node.kid(Rule::with_two).is_some() {
                    ProgramFact::PairFlags(flags)
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
                let places = ["first", "late", "anywhere", "bundled", "single-dash", "none"];
                self.checked_word("place for options", &word, &places);
                ProgramFact::Options(word)
            }
            Rule::assignments => ProgramFact::Assignments,
            Rule::reads => match node.kid(Rule::word) {
                Some(word) => {
                    let word = word.as_text();
                    self.checked_word("shell", &word, &["bash", "posix", "zsh"]);
                    ProgramFact::Dialect(word)
                }
                None => self.effect_fact(node, node.kid(Rule::kw_reads)?.as_text())?,
            },
            Rule::effect => self.effect_fact(node, node.kid(Rule::effect_verb)?.as_text())?,
            Rule::takes => ProgramFact::TakesTrees(condition(node, Rule::with_flags)),
            Rule::uses => ProgramFact::UsesNetwork,
            Rule::placeholders => ProgramFact::Placeholders(self.words(node)),
            Rule::ends => ProgramFact::EndWords(self.words(node)),
            Rule::runs => self.runs_fact(node)?,
            Rule::lists => ProgramFact::ListsOperands,
            Rule::prints => ProgramFact::PrintsNames(self.words(node)),
            Rule::connects if node.kid(Rule::remote_operands).is_some() => ProgramFact::ConnectsToRemote,
            Rule::connects => match self.effect_place(node) {
                EffectPlace::Operands(0) => ProgramFact::ConnectsToOperands,
                place => ProgramFact::ConnectsTo(place),
            },
            _ => return None,
        };
        Some(Spanned { node: fact, span })
    }

    fn words(&mut self, node: &Node<'t>) -> Vec<Text> {
        let names = node.kid(Rule::names);
        names.map(|names| self.plain_names(&names, "a word of a command")).unwrap_or_default()
    }

    fn effect_fact(&mut self, node: &Node<'t>, verb: Text) -> Option<ProgramFact> {
        let place = self.effect_place(node);
        let (with, unless) = (condition(node, Rule::with_flags), condition(node, Rule::unless_flags));
        Some(ProgramFact::Effect { verb, place, with, unless })
    }

    fn effect_place(&mut self, node: &Node<'t>) -> EffectPlace {
        if node.kid(Rule::but_last).is_some() {
            EffectPlace::ButLast
        } else if node.kid(Rule::its_operands).is_some() {
            EffectPlace::Operands(self.skipped(node))
        } else if node.kid(Rule::last_operand).is_some() {
            EffectPlace::Last
        } else if let Some(operand) = node.kid(Rule::one_operand) {
            EffectPlace::Operand(self.operand_number(&operand))
        } else if let Some(texts) = node.kid(Rule::beginnings) {
            let texts = texts.kids().filter(|kid| kid.rule() == Rule::string);
            EffectPlace::Beginnings(texts.map(|text| text.value()).collect())
        } else {
            EffectPlace::Flags(flags(node))
        }
    }

    fn skipped(&mut self, node: &Node<'t>) -> u32 {
        let Some(after) = node.kid(Rule::after_count) else { return 0 };
        self.integer(&self.scalar(&after), "how many operands come first").node
    }

    fn operand_number(&mut self, operand: &Node<'t>) -> u32 {
        let number = self.integer(&self.scalar(operand), "which operand");
        if number.node == 0 {
            let help = "operands are counted from 1";
            self.error_help(Code::BadNumber, "there is no operand 0", number.span, "no operand", help);
        }
        number.node.max(1)
    }

    /// The language behind `of`.
    fn language(&mut self, node: &Node<'t>) -> Option<Text> {
        let word = node.kid(Rule::of_language)?.kid(Rule::word)?.as_text();
        self.checked_word("language", &word, &Language::NAMES);
        Some(word)
    }

    fn runs_fact(&mut self, node: &Node<'t>) -> Option<ProgramFact> {
        if node.kid(Rule::project_code).is_some() {
            return Some(ProgramFact::RunsProjectCode);
        }
        let (language, unless) = (self.language(node), condition(node, Rule::unless_flags));
        if node.kid(Rule::its_input).is_some() {
            if node.kid(Rule::always).is_some() {
                return Some(ProgramFact::RunsInputAlways(language));
            }
            return Some(match (node.kid(Rule::as_words), node.kid(Rule::as_code)) {
                (Some(_), _) => ProgramFact::RunsInputWords,
                (_, Some(_)) => ProgramFact::RunsInputCode(language),
                _ => ProgramFact::RunsInput,
            });
        }
        if let Some(texts) = node.kid(Rule::beginnings) {
            let texts = texts.kids().filter(|kid| kid.rule() == Rule::string);
            return Some(ProgramFact::RunsBeginnings(texts.map(|text| text.value()).collect()));
        }
        if node.kid(Rule::its_operands).is_some()
            && let Some(language) = language
        {
            return Some(ProgramFact::RunsOperandsCode(language));
        }
        if let Some(operand) = node.kid(Rule::one_operand) {
            let number = self.operand_number(&operand);
            return Some(match (node.kid(Rule::as_file), language) {
                (Some(_), language) => ProgramFact::RunsOperandFile { number, language, unless },
                (None, Some(language)) => ProgramFact::RunsOperandCode { number, language, unless },
                (None, None) => ProgramFact::RunsOperand(number),
            });
        }
        if node.kid(Rule::flags).is_some() {
            let form = node.kid(Rule::word)?.as_text();
            self.checked_word(
                "form of a command",
                &form,
                &["text", "words", "command", "module", "code", "file"],
            );
            if language.is_some() || ["code", "file"].contains(&form.node.as_str()) {
                if form.node == "code" && language.is_none() {
                    let help = "write `as code of python`";
                    let message = "which language the code has is not said";
                    self.error_help(Code::MisplacedClause, message, form.span, "of what", help);
                } else if !["code", "file"].contains(&form.node.as_str()) {
                    let help = "write `as code of python` or `as text`";
                    let message = "a language stands behind `as code` and `as file` only";
                    self.error_help(Code::MisplacedClause, message, form.span, "not here", help);
                }
                return Some(ProgramFact::RunsFlagsOf { flags: flags(node), form, language });
            }
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

/// The flags of a condition.
fn condition(node: &Node<'_>, rule: Rule) -> Vec<Text> {
    node.kids().filter(|kid| kid.rule() == rule).flat_map(|kid| flags(&kid)).collect()
}

fn flags(node: &Node<'_>) -> Vec<Text> {
    let flags = node.kid(Rule::flags);
    flags
        .map(|flags| flags.kids().filter(|kid| kid.rule() == Rule::flag).map(|flag| flag.as_text()).collect())
        .unwrap_or_default()
}
