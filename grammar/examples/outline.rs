//! Reads JSON lines `{"id", "cmd"}` and writes the commands that stand in each text, for comparing readers.
//!
//! INVARIANT: one answer line for each input line, in order.

use policy_grammar::shell::outline::outline;
use serde_json::{Value, json};
use std::io::{BufRead, BufWriter, Write};

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let row: Value = serde_json::from_str(&line?)?;
        let text = row.get("cmd").and_then(Value::as_str).unwrap_or_default();
        let outline = outline(text);
        let complete = outline.problems.is_empty();
        let id = row.get("id").cloned().unwrap_or_default();
        let answer = json!({"id": id, "commands": outline.commands, "complete": complete, "problems": outline.problems});
        writeln!(out, "{answer}")?;
    }
    Ok(())
}
