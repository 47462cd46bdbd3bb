//! Functions that multiply: they call themselves more than once at a time.
//!
//! INVARIANT: only calls by the plain name count, so a recursion that walks a tree is none.

use crate::shell::ast::{AndOr, Bit, Compound, Kind, List, Node, Pipeline};

/// Whether a function of this name calls itself twice in one pipe, or in the background.
pub(super) fn multiplies(name: &str, body: &Compound<'_>) -> bool {
    in_compound(name, body, false)
}

fn in_compound(name: &str, compound: &Compound<'_>, background: bool) -> bool {
    let list = |list: &List<'_>| list.items.iter().any(|item| in_item(name, item, background));
    match &compound.kind {
        Kind::Group(body) | Kind::Subshell(body) => list(body),
        Kind::For { body, .. } | Kind::ForArith { body, .. } => list(body),
        Kind::While { condition, body } => list(condition) || list(body),
        Kind::If { branches, otherwise } => {
            branches.iter().any(|(test, then)| list(test) || list(then))
                || otherwise.as_ref().is_some_and(list)
        }
        Kind::Case { arms, .. } => arms.iter().any(|(_, body)| list(body)),
        Kind::Test(_) | Kind::Arith(_) | Kind::Function { .. } | Kind::Coproc(_) => false,
    }
}

fn in_item(name: &str, item: &AndOr<'_>, background: bool) -> bool {
    let background = background || item.background;
    let pipes = std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipe)| pipe));
    let mut any = pipes;
    any.any(|pipe| in_pipe(name, pipe, background))
}

fn in_pipe(name: &str, pipe: &Pipeline<'_>, background: bool) -> bool {
    let calls = pipe.stages.iter().filter(|stage| is_call(name, stage)).count();
    let inner = |stage: &Node<'_>| match stage {
        Node::Compound(compound) => in_compound(name, compound, background),
        Node::Simple(_) => false,
    };
    calls > 1 || calls == 1 && background || pipe.stages.iter().any(inner)
}

fn is_call(name: &str, stage: &Node<'_>) -> bool {
    let Node::Simple(simple) = stage else { return false };
    simple
        .words
        .first()
        .is_some_and(|word| matches!(word.bits.as_slice(), [Bit::Bare(text)] if *text == name))
}
