//! The classes of orders.
//!
//! INVARIANT: a name is kebab-case and is never given to another meaning.

/// The classes: name and one sentence.
pub const CLASSES: &[(&str, &str)] = &[
    ("override", "Tells the reader to set aside the instructions it has."),
    ("role-hijack", "Gives the reader another role or frees it from its limits."),
    ("role-marker", "Imitates the marks that separate system, user and assistant."),
    ("agent-addressed", "Speaks to an AI agent instead of a person."),
    ("concealment", "Wants something done without the user knowing or agreeing."),
    ("prompt-leak", "Asks for the instructions that the agent was given."),
    ("secret-request", "Asks for passwords, keys or other secrets."),
    ("exfil", "Has data sent to an address, a mailbox or into a link."),
    ("payment-steer", "Steers who is paid, how much, or around the checks of payments."),
    ("tool-force", "Demands the call of a tool or the run of a command."),
    ("output-steer", "Dictates what the agent answers or recommends."),
    ("authority", "Claims an approval, a rank or a task that the user did not give."),
    ("decode-follow", "Has encoded text decoded and followed."),
    ("hidden-chars", "Holds characters that nobody sees and that carry text."),
];
