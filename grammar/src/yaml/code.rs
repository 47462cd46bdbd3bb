//! The codes of the YAML front ends' diagnostics, each with one sentence of what it means.
//!
//! INVARIANT: every diagnostic of this module carries a code of this list; `ALL` names each exactly once.

use crate::codes::codes;

codes! {
    Syntax = "yaml-syntax", "The file is not YAML.";
    TooLarge = "yaml-too-large", "The file is longer, deeper or holds more than the reader takes.";
    Alias = "yaml-alias", "An alias names nothing, names itself, or grows beyond the budget.";
    Unread = "yaml-unread", "The file uses a part of YAML that policies do not need: tags, several documents, keys that are no text.";
    DuplicateKey = "yaml-duplicate-key", "A mapping names a key twice.";
    UnknownKey = "yaml-unknown-key", "A key is none that the file format has.";
    WrongType = "yaml-wrong-type", "A value is of another type than its key takes.";
    MissingTool = "yaml-missing-tool", "A rule does not say which tools it is for.";
    UnknownDecision = "yaml-unknown-decision", "A decision is none of allow, ask and block.";
    BadPattern = "yaml-bad-pattern", "A pattern cannot match anything, or leaves the working directory.";
    DoubtfulPattern = "yaml-doubtful-pattern", "A pattern is read as it stands, but hardly means what was wanted.";
    RenamedRule = "yaml-renamed-rule", "The id of a rule is no name, or was taken; the rule got another name.";
    NotTakenOver = "yaml-not-taken-over", "The file asks for something that has no equal here; the message says what stands in its place.";
    NoRules = "yaml-no-rules", "The file has no rules, so its default answers every call.";
}
