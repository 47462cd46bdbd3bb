//! `policy wrap`: an MCP server behind the policy.
//!
//! INVARIANT: standard output carries the protocol alone; the exit code is the server's.

use crate::args::{AskWay, WrapArgs};
use crate::context::{Context, Flavor};
use crate::output::{Failure, OK, Outcome, print, visible};
use policy_engine::decide::Options;
use policy_engine::layers::Default_;
use policy_engine::open::Care;
use policy_gateway::approve::summon;
use policy_gateway::install::{self, CLIENTS, Change};
use policy_gateway::wrap::{self, Ask, Wrap};

/// Runs the command.
pub(crate) fn run(args: WrapArgs, context: &Context) -> Outcome {
    if args.install.is_some() || args.uninstall.is_some() {
        return install(&args, context);
    }
    if let Some(word) = args.servers.first() {
        return Err(Failure::usage(format!(
            "`{word}` is not understood; the server's command line goes behind `--`"
        )));
    }
    let folders = context.folders()?;
    let cwd = context.cwd()?;
    if args.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
        return Err(Failure::usage("`--name` is empty; give the server's key in the client's settings"));
    }
    let audit = match (&args.audit, context.flavor) {
        (Some(file), _) => context.path(file)?,
        (None, Flavor::Policy) => folders.audit(),
        (None, Flavor::AgentFirewall) => cwd.join("agent-firewall-audit.jsonl"),
    };
    let code = wrap::run(Wrap {
        options: Options {
            policy: args.policy.as_deref().map(|file| context.path(file)).transpose()?,
            care: Care::Private,
            default: match context.flavor {
                Flavor::Policy => Default_::Std,
                Flavor::AgentFirewall => Default_::AgentFirewall,
            },
            sessions: true,
            caching: true,
            resolve_links: true,
            compiler: &policy_engine::work::Here,
        },
        audit_named: args.audit.is_some() || context.flavor == Flavor::AgentFirewall,
        folders,
        store: Some(&policy_ledger::Kept),
        name: args.name,
        audit,
        ask: match args.ask {
            AskWay::Deny => Ask::Nobody,
            AskWay::Auto => Ask::Person { summon, forms: true, alone: false },
            AskWay::Elicit => Ask::Person { summon, forms: true, alone: true },
            AskWay::Page => Ask::Person { summon, forms: false, alone: false },
        },
        observe: args.observe,
        cwd,
        command: args.command,
    });
    let code = code.map_err(Failure::usage)?;
    // The exit code of a server is a byte.
    Ok(u8::try_from(code).unwrap_or(1))
}

/// Changes the settings of a client.
fn install(args: &WrapArgs, context: &Context) -> Outcome {
    let name = args.install.as_deref().or(args.uninstall.as_deref()).unwrap_or_default();
    let Some(client) = CLIENTS.iter().find(|client| client.name == name) else {
        let known: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        return Err(Failure::usage(format!("no client is called `{name}`; known are {}", known.join(", "))));
    };
    let mut options = Vec::new();
    if let Some(file) = &args.policy {
        options.extend(["--policy".to_owned(), context.path(file)?.display().to_string()]);
    }
    let program = std::env::current_exe().map_err(|error| Failure::usage(error.to_string()))?;
    let change = Change {
        install: args.install.is_some(),
        servers: args.servers.clone(),
        program: program.display().to_string(),
        options,
    };
    let done = install::change(client, &context.folders()?.home, &context.cwd()?, &change);
    for done in done.map_err(Failure::usage)? {
        let file = done.file.display();
        for name in &done.changed {
            let what = if change.install { "is wrapped now" } else { "is as it was" };
            print(&format!("{}\n", visible(&format!("{file}: `{name}` {what}"))));
        }
        for (name, why) in &done.left {
            print(&format!("{}\n", visible(&format!("{file}: `{name}` was left: {why}"))));
        }
        if let Some(kept) = &done.kept {
            context.output.remark(&format!("what was there is in {}", kept.display()));
        }
        if done.changed.is_empty() && done.left.is_empty() {
            context.output.remark(&format!("{file} has no servers"));
        }
    }
    Ok(OK)
}
