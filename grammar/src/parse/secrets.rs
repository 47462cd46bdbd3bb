//! `secret` blocks.
//!
//! INVARIANT: every part is kept in its order; what it means is not judged here.

use super::build::Node;
use super::{Parser, Rule};
use crate::ast::{Item, SecretPart, Text};
use crate::source::Span;

impl<'t> Parser<'t> {
    pub(super) fn secret(&mut self, head: Option<&Node<'t>>, nodes: Vec<Node<'t>>, span: Span) -> Item {
        let name = match head.and_then(|head| head.kid(Rule::word)) {
            Some(word) => self.name(&word),
            None => Text { node: String::new(), span },
        };
        let mut parts = Vec::new();
        for node in nodes {
            let part = match node.rule() {
                Rule::secret_keyword => {
                    node.kid(Rule::list).map(|list| SecretPart::Keyword(self.list(&list)))
                }
                Rule::secret_pattern => {
                    let pattern = node.kids().find(|kid| matches!(kid.rule(), Rule::raw | Rule::string));
                    pattern.map(|pattern| SecretPart::Pattern(self.regex(&pattern)))
                }
                Rule::secret_entropy => {
                    node.kid(Rule::scalar).map(|scalar| SecretPart::Entropy(scalar.as_text()))
                }
                Rule::secret_checksum => {
                    node.kid(Rule::word).map(|word| SecretPart::Checksum(word.as_text()))
                }
                Rule::secret_samples => {
                    node.kid(Rule::list).map(|list| SecretPart::Samples(self.list(&list)))
                }
                Rule::note => match node.kid(Rule::because) {
                    Some(because) => Some(SecretPart::Because(self.quoted(&because))),
                    None => node.kid(Rule::suggest).map(|suggest| SecretPart::Suggest(self.quoted(&suggest))),
                },
                Rule::secret_expect => self.secret_expect(&node).map(SecretPart::Expect),
                _ => None,
            };
            parts.extend(part);
        }
        Item::Secret { name, parts, span }
    }
}
