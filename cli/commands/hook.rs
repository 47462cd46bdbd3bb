//! `policy hook --print`: the settings that register the hook with a host.
//!
//! INVARIANT: nothing is written; the settings go to standard output alone, where they go to standard error.

use crate::context::Context;
use crate::output::{Failure, OK, Outcome, print};
use policy_hosts::HOSTS;
use std::ffi::OsString;

/// The host that the words behind `hook` ask the settings for.
///
/// SECURITY: only alone: a hook that prints something else to a host lets the call through.
pub(crate) fn asked(words: &[OsString]) -> Option<String> {
    match words {
        [word, host] if word == "--print" => host.to_str().map(str::to_owned),
        [word] => word.to_str()?.strip_prefix("--print=").map(str::to_owned),
        _ => None,
    }
}

/// Runs the command.
pub(crate) fn run(name: &str, context: &Context) -> Outcome {
    let known = || {
        let names: Vec<&str> =
            HOSTS.iter().filter(|host| host.settings("policy").is_some()).map(|host| host.name()).collect();
        names.join(", ")
    };
    let host = policy_hosts::host(name)
        .ok_or_else(|| Failure::usage(format!("`{name}` is no host; those with settings are {}", known())))?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::usage(format!("this program does not find itself: {error}")))?;
    let program = program.to_str().ok_or_else(|| {
        Failure::usage(format!("`{}` is no text, so no settings can name it", program.display()))
    })?;
    let settings = host.settings(program).ok_or_else(|| {
        Failure::usage(format!("`{name}` has no settings of its own; those that have are {}", known()))
    })?;
    print(&settings.text);
    context.output.remark(&format!("policy: put this into {}. {}", settings.file, settings.note));
    Ok(OK)
}
