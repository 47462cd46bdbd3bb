//! The facts of `program` blocks.
//!
//! INVARIANT: one variant a spelling; nothing is resolved.

use super::Text;
use crate::source::Spanned;

/// One fact of a `program` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramFact {
    /// `same words install, i, add`.
    SameWords(Vec<Text>),
    /// `flags with values -C, --git-dir`.
    ValueFlags(Vec<Text>),
    /// `flags with attached values -i, --color`.
    AttachedFlags(Vec<Text>),
    /// `flags with two values --bind`.
    PairFlags(Vec<Text>),
    /// `flags without values -n, -E`: where some are named, any other flag may take one.
    PlainFlags(Vec<Text>),
    /// `flags with placeholders -I`: the value is a word that is replaced in the inner command.
    PlaceholderFlags(Vec<Text>),
    /// `flags that run nothing -v, -l`.
    InertFlags(Vec<Text>),
    /// `flags that run its input -s`: although there are operands.
    InputFlags(Vec<Text>),
    /// `flags that change folder -C, --directory`.
    FolderFlags(Vec<Text>),
    /// `options first | late | anywhere | bundled | single-dash | none`.
    Options(Text),
    /// `assignments first`: `NAME=VALUE` operands stand before the inner command.
    Assignments,
    /// `reads texts as bash | posix | zsh`: the shell that reads the inner texts.
    Dialect(Text),
    /// `placeholders "{}"`: words inside the inner command that are replaced.
    Placeholders(Vec<Text>),
    /// `ends its operands at ":::"`: the inner command stands before such a word.
    EndWords(Vec<Text>),
    /// `runs its operands [as text] [after N]`.
    RunsOperands { as_text: bool, skip: u32 },
    /// `runs its operands after --`.
    RunsAfterDashes,
    /// `runs operand 1 as text`: that one alone.
    RunsOperand(u32),
    /// `runs "EXEC:", "+!" as text`: the rest of an operand with this beginning.
    RunsBeginnings(Vec<Text>),
    /// `runs its operands as code of LANG`.
    RunsOperandsCode(Text),
    /// `runs its input always [as code of LANG]`: although there are operands.
    RunsInputAlways(Option<Text>),
    /// `runs -c, --command as text [after "alias.*=!"] | as words | as command | as module`.
    RunsFlags { flags: Vec<Text>, form: Text, after: Vec<Text> },
    /// `runs its input`.
    RunsInput,
    /// `runs its input as code [of LANG]`: of another language.
    RunsInputCode(Option<Text>),
    /// `runs operand 1 as code of LANG [unless FLAGS]`.
    RunsOperandCode { number: u32, language: Text, unless: Vec<Text> },
    /// `runs operand 1 as file [of LANG] [unless FLAGS]`: the file is run.
    RunsOperandFile { number: u32, language: Option<Text>, unless: Vec<Text> },
    /// `runs -c as code of LANG`, `runs -f as file [of LANG]`.
    RunsFlagsOf { flags: Vec<Text>, form: Text, language: Option<Text> },
    /// `runs project code`.
    RunsProjectCode,
    /// `reads its operands`, `writes -o with -x`, …
    Effect { verb: Text, place: EffectPlace, with: Vec<Text>, unless: Vec<Text> },
    /// `takes trees [with FLAGS]`: whole trees below what it names.
    TakesTrees(Vec<Text>),
    /// `uses the network`.
    UsesNetwork,
    /// `runs its input as words` (xargs).
    RunsInputWords,
    /// `lists its operands`.
    ListsOperands,
    /// `prints names for merge-base, rev-parse`.
    PrintsNames(Vec<Text>),
    /// `connects to its operands`.
    ConnectsToOperands,
    /// `connects to operand 1`, `connects to --proxy`, `connects to "TCP:"`.
    ConnectsTo(EffectPlace),
    /// `connects to its remote operands`: those that are `HOST:PATH`.
    ConnectsToRemote,
    /// `under exec, "compose exec" { facts }`: what holds when its first operands are these words.
    Under { words: Vec<Text>, facts: Vec<Spanned<ProgramFact>> },
}

/// Which words of a command an effect is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectPlace {
    /// `its operands [after N]`.
    Operands(u32),
    /// `operand N`.
    Operand(u32),
    /// `its last operand`.
    Last,
    /// `its operands but the last`.
    ButLast,
    /// The values of these flags.
    Flags(Vec<Text>),
    /// What follows one of these beginnings of an operand or value.
    Beginnings(Vec<Text>),
}
