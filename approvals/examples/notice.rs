//! Writes a notice of a policy with errors, or takes it back; `tests/browser` does it with this.
//!
//! `notice HOME FILE [MESSAGE]`: with a message the file is bad, without it is good again. `the server …` is one that changed.
//!
//! INVARIANT: nothing is printed but why it failed.

use policy_approvals::{Notice, PINS, Store};
use policy_engine::places::Folders;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let store = |home: &str| Store::open(&Folders::under(Path::new(home)));
    match words.as_slice() {
        [home, file] => store(home)?.note(&[], std::slice::from_ref(file)),
        [home, file, message] => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
            let since = i64::try_from(now.as_millis()).unwrap_or_default();
            let server = file.starts_with("the server ").then(|| Notice {
                file: file.clone(),
                code: PINS.to_owned(),
                message: message.clone(),
                help: "what changed: `policy pins show NAME`".to_owned(),
                since,
                ..Notice::default()
            });
            let notice = server.unwrap_or_else(|| Notice {
                file: file.clone(),
                place: "agent.policy:7".to_owned(),
                code: "policy::parse::unknown-keyword".to_owned(),
                message: message.clone(),
                help: "write `allow`".to_owned(),
                more: 1,
                since,
                until: since + 600_000,
            });
            store(home)?.note(&[notice], &[])
        }
        _ => Err("HOME FILE [MESSAGE]".to_owned()),
    }
}
