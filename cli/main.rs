//! The binary `policy`: reads the command line and hands over to one file a command.
//!
//! INVARIANT: `hook` is dispatched before anything else is looked at, and exits only with its host's codes; every other
//! command exits with 0, 1, 2, 3, 4 or 64.

#![deny(clippy::print_stderr, clippy::print_stdout)]

mod args;
mod commands;
mod context;
mod output;
mod render;

use args::{Cli, Command};
use clap::{CommandFactory, FromArgMatches};
use context::{Context, Flavor};
use output::{Outcome, USAGE};
use std::ffi::OsString;
use std::process::ExitCode;

/// Most commands give one answer and end.
#[global_allocator]
static MEMORY: policy_os::Arena = policy_os::Arena::new();

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let flavor = Flavor::of(words.first());
    if let Some(words) = words_of_hook(&words)
        && !asks_for_help(&words)
        && commands::hook::asked(&words).is_none()
    {
        return policy_hook::run(
            &words,
            flavor,
            &policy_engine::work::Here,
            &policy_ledger::Kept,
            &policy_gateway::hooked::AtThePage,
        );
    }
    let words = words_of_firewall(words, flavor);
    let cli = match parse(&words, flavor) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let context = Context::new(&cli.common, flavor);
    match dispatch(cli.command, &context) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            if !failure.message.is_empty() {
                output::complain(&format!("{}: {}\n", flavor.name(), output::visible(&failure.message)));
            }
            ExitCode::from(failure.code)
        }
    }
}

/// The words of a hook without `hook` itself, when that is the command.
///
/// SECURITY: options may stand before it too; a host would take clap's answer to a slip there for no opinion.
fn words_of_hook(words: &[OsString]) -> Option<Vec<OsString>> {
    let mut rest = words.iter().skip(1);
    let mut before = Vec::new();
    loop {
        let word = rest.next()?;
        if word == "hook" {
            before.extend(rest.cloned());
            return Some(before);
        }
        if !word.as_encoded_bytes().starts_with(b"-") {
            return None;
        }
        before.push(word.clone());
        if ["--home", "--project", "--format"].iter().any(|option| word == *option) {
            before.push(rest.next()?.clone());
        }
    }
}

/// The agent-firewall line that runs a server has no word for it: `agent-firewall --policy F --name N -- COMMAND`.
fn words_of_firewall(mut words: Vec<OsString>, flavor: Flavor) -> Vec<OsString> {
    let runs = words.get(1).is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"))
        && words.iter().any(|word| word == "--");
    if flavor == Flavor::AgentFirewall && runs {
        words.insert(1, "wrap".into());
    }
    words
}

/// Only alone: a hook that prints its help to a host lets the call through.
fn asks_for_help(words: &[OsString]) -> bool {
    words.len() == 1 && words.last().is_some_and(|word| word == "--help" || word == "-h")
}

fn parse(words: &[OsString], flavor: Flavor) -> Result<Cli, ExitCode> {
    let command = Cli::command().name(flavor.name()).bin_name(flavor.name());
    let parsed = command.try_get_matches_from(words).and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| {
        let _ = error.print();
        use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
        // ORDER: clap's own code for bad usage is 2, which here is a deny.
        match error.kind() {
            DisplayHelp | DisplayVersion => ExitCode::SUCCESS,
            _ => ExitCode::from(USAGE),
        }
    })
}

fn dispatch(command: Command, context: &Context) -> Outcome {
    let apart = matches!(context.output.format, args::Format::Sarif | args::Format::Github);
    if apart && !matches!(command, Command::Scan(_)) {
        return Err(output::Failure::usage("only `policy scan` writes SARIF and annotations"));
    }
    match command {
        Command::Init(args) => commands::init::run(&args, context),
        Command::Rules(args) => commands::rules::run(&args, context),
        Command::Compile(args) => commands::compile::run(&args, context),
        Command::Test(args) => commands::test::run(&args, context),
        Command::Fmt(args) => commands::fmt::run(&args, context),
        Command::Import(args) => commands::import::run(&args, context),
        Command::Trust(args) => commands::trust::run(&args, context),
        Command::Check(args) => commands::check::run(&args, context),
        Command::CheckPatch(args) => commands::check_patch::run(&args, context),
        Command::Explain(args) => commands::explain::run(&args, context),
        Command::Scan(args) => commands::scan::run(&args, context),
        Command::Shell(args) => commands::shell::run(&args, context),
        Command::Hook(args) if args.print.is_some() => {
            commands::hook::run(args.print.as_deref().unwrap_or_default(), context)
        }
        Command::Hook(_) => Err(output::Failure::usage("the words before `hook` are not understood")),
        Command::Approvals(args) => commands::approvals::run(&args, context),
        Command::Pins(args) => commands::pins::run(&args, context),
        Command::Suppress(args) => commands::suppress::run(&args, context),
        Command::Audit(args) => commands::audit::run(&args, context),
        Command::Mcp(args) => match &args.skill {
            Some(form) => commands::payments::skill(form),
            None if args.hook => commands::payments::hook(),
            None => commands::mcp::run(&args, context),
        },
        Command::Serve(args) => commands::payments::run(&args, context),
        Command::DemoSeller(args) => commands::demo_seller::run(&args, context),
        Command::FileToolResult => commands::payments::file(context),
        Command::Skill { form } => commands::payments::skill(&form),
        Command::Wrap(args) => commands::wrap::run(args, context),
        Command::WrapGuard => {
            policy_gateway::wrap::watch();
            Ok(output::OK)
        }
    }
}
