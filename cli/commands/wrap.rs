//! `policy wrap`: an MCP server behind the policy.
//!
//! INVARIANT: standard output carries the protocol alone; the exit code is the server's.

use crate::args::{AskWay, WrapArgs};
use crate::context::{Context, Flavor};
use crate::output::{Failure, Outcome};
use policy_engine::decide::Options;
use policy_engine::layers::Default_;
use policy_engine::open::Care;
use policy_gateway::wrap::{self, Ask, Wrap};

/// Runs the command.
pub(crate) fn run(args: WrapArgs, context: &Context) -> Outcome {
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
        store: Some(&policy_state::Sqlite),
        name: args.name,
        audit,
        ask: match args.ask {
            AskWay::Deny => Ask::Nobody,
            AskWay::Auto => Ask::Person { summon, forms: true },
            AskWay::Page => Ask::Person { summon, forms: false },
        },
        observe: args.observe,
        cwd,
        command: args.command,
    });
    let code = code.map_err(Failure::usage)?;
    // The exit code of a server is a byte.
    Ok(u8::try_from(code).unwrap_or(1))
}

/// Questions are answered with `policy approvals`.
fn summon(_folders: &policy_engine::places::Folders) {}
