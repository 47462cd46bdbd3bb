//! Variables that are named like a secret, and programs that print all variables.
//!
//! INVARIANT: a name is all that is known of a variable; one that the text itself sets is no secret of the machine.

use super::{Analysis, Command, Feature, Piece, Word};

/// Last parts of a name that holds a secret.
const LAST: &[&str] = &[
    "TOKEN",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PAT",
    "CREDENTIAL",
    "CREDENTIALS",
    "APIKEY",
    "MNEMONIC",
];
/// What stands before `KEY` in names of keys that everybody may know.
const OPEN_KEYS: &[&str] = &[
    "PUBLIC",
    "PUB",
    "CACHE",
    "PRIMARY",
    "FOREIGN",
    "SORT",
    "PARTITION",
    "HOT",
    "HOST",
    "ROUTING",
    "OBJECT",
    "GROUP",
    "MAP",
    "REGISTRY",
];

/// Whether a variable of this name holds a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut parts = name.rsplit('_');
    let last = parts.next().unwrap_or_default();
    let before = parts.next();
    if last == "KEY" {
        return before.is_some_and(|before| !OPEN_KEYS.contains(&before));
    }
    // `AWS_SECRET_ACCESS_KEY_ID`, `DBPASSWORD`, `PGPASSWORD`; not `MAX_TOKENS`, `TOKEN_FILE`.
    LAST.contains(&last) || ["PASSWORD", "APIKEY", "SECRET", "TOKEN"].iter().any(|end| last.ends_with(end))
}

/// Whether a command has such a variable, which nothing in the text sets, in its words or redirections.
#[must_use]
pub fn holds(command: &Command) -> bool {
    let secret = |word: &Word| match word {
        Word::Unknown(pieces) => pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Value { name, unset: Some(_), .. } if is_secret_name(name))),
        _ => false,
    };
    command.words.iter().any(secret) || command.redirects.iter().any(|redirect| secret(&redirect.target))
}

/// Whether a command prints all variables, or one that is named like a secret.
#[must_use]
pub fn prints(command: &Command) -> bool {
    let known: Vec<&str> = command.words.iter().filter_map(Word::known).collect();
    let Some((program, rest)) = known.split_first() else { return false };
    let program = program.rsplit('/').next().unwrap_or_default();
    match program {
        "env" => rest.iter().all(|word| word.starts_with('-') || word.contains('=')),
        "printenv" => {
            rest.iter().all(|word| word.starts_with('-')) || rest.iter().any(|word| is_secret_name(word))
        }
        "set" => command.words.len() == 1,
        "export" | "declare" | "typeset" => rest.iter().all(|word| word.starts_with('-')),
        _ => false,
    }
}

/// Marks the commands that expand such a variable; a mere test of it prints nothing.
pub(crate) fn mark(analysis: &mut Analysis) {
    for command in &mut analysis.commands {
        let tests = matches!(command.words.first().and_then(Word::known), Some("test" | "[" | "[[" | ":"));
        if !tests && holds(command) {
            command.features |= Feature::SecretVariable.bit();
            analysis.features |= Feature::SecretVariable.bit();
        }
    }
}
