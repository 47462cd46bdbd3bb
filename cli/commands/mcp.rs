//! `policy mcp`: the MCP server.
//!
//! INVARIANT: nothing is written to standard output but by the server.

use crate::args::McpArgs;
use crate::context::{Context, Flavor};
use crate::output::{Failure, OK, Outcome};
use policy_engine::layers::Default_;
use policy_gateway::mcp::{Start, Surroundings, serve};

/// Runs the command.
pub(crate) fn run(args: &McpArgs, context: &Context) -> Outcome {
    let start = Start {
        folders: context.folders()?,
        surroundings: Surroundings::of_process(context.project()),
        policy: args.policy.as_deref().map(|file| context.path(file)).transpose()?,
        default: match context.flavor {
            Flavor::Policy => Default_::Std,
            Flavor::AgentFirewall => Default_::AgentFirewall,
        },
        label: args.label.clone(),
        record: Some(&policy_ledger::Kept),
    };
    serve(start).map_err(Failure::usage).map(|()| OK)
}
