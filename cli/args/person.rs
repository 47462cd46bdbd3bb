//! What a person answers: `policy approvals` and `policy pins`.
//!
//! INVARIANT: as [`super`].

use clap::Args;

/// `policy approvals`.
#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<ApprovalsCommand>,
}

/// What `policy approvals` does.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Print the open questions.
    List,
    /// Let a call run.
    Approve {
        /// The question: its id, or the first six digits or more.
        #[arg(value_name = "ID")]
        id: String,
        /// Also identical calls, until the server or session ends.
        #[arg(long)]
        session: bool,
    },
    /// Refuse a call.
    Deny {
        /// The question: its id, or the first six digits or more.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Serve the page until nobody needs it; it is started by itself.
    Serve,
}

/// `policy pins`.
#[derive(Debug, Args)]
pub(crate) struct PinsArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: PinsCommand,
}

/// What `policy pins` does.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum PinsCommand {
    /// Print the servers, what is pinned of them, and what waits.
    List,
    /// Show what waits of a server beside what is pinned. What was shown can be accepted.
    Show {
        /// The server: its name, or the first six digits or more of its id.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Take what was shown for good.
    Accept {
        /// The server: its name, or the first six digits or more of its id.
        #[arg(value_name = "NAME")]
        name: String,
        /// Only these tools; without one all that waits.
        #[arg(value_name = "TOOL")]
        tools: Vec<String>,
    },
    /// Forget a server: what it lists next is pinned as at first.
    Forget {
        /// The server: its name, or the first six digits or more of its id.
        #[arg(value_name = "NAME")]
        name: String,
    },
}
