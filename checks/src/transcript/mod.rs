//! What a helper of an agent ran, read from the lines of JSON it left.
//!
//! INVARIANT: commands are taken from the input of tools only, at any depth of the line (`message.content[]` too); what tools answered
//! is never taken for a command.

mod danger;
mod json;

use crate::file::File;
use crate::{Found, Options};

/// The commands in a transcript, each with the number of its line: for callers that judge them with a policy.
pub fn commands_in_transcript(text: &str) -> Vec<(u32, String)> {
    let mut commands = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut found = Vec::new();
        json::commands(line, &mut found, 0);
        commands.extend(found.into_iter().map(|command| (index as u32 + 1, command)));
    }
    commands
}

/// Commands that destroy, publish or open something.
pub(crate) fn audit(file: &File, _: &Options) -> Vec<Found> {
    if !file.path.is(&["jsonl", "json", "ndjson"]) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (start, line) in file.lines() {
        let mut commands = Vec::new();
        json::commands(line, &mut commands, 0);
        let mut said: Vec<String> = Vec::new();
        for command in commands {
            for what in danger::dangers(&command) {
                if !said.contains(&what) && said.len() < 32 {
                    said.push(what);
                }
            }
        }
        for what in said {
            found.push(file.found(
                start,
                format!("the helper ran {what}"),
                "look at what it did, and undo it where it was not asked for",
            ));
        }
    }
    found
}
