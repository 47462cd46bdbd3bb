//! The MCP server `policy mcp`: checks and explains calls for the agent that is about to make them.
//!
//! INVARIANT: it advises and never enforces, so nothing it does loosens what a hook says. Starting it reads and writes
//! nothing; standard output carries the protocol alone; the end of the input is the end of the process.

mod arguments;
mod checks;
mod config;
mod desk;
mod events;
mod patience;
mod payments;
pub(crate) use payments::lines_of;
mod rules;
mod server;
pub mod sessions;
mod start;
mod tools;
mod violations;

pub use server::Server;
pub use start::{Start, Surroundings};

use patience::Patience;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;

/// Longest message, bytes; more than the largest event of a hook.
const MAX_MESSAGE: usize = 80 * 1024 * 1024;

/// Serves standard input and output until the input ends.
///
/// # Errors
/// When the runtime cannot be made, or the client opens in a way that is no MCP.
pub fn serve(start: Start) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the server cannot start: {error}"))?;
    let served = runtime.block_on(async {
        let streams = AsyncRwTransport::new(tokio::io::stdin(), tokio::io::stdout());
        let streams = Patience::new(streams.with_max_line_length(MAX_MESSAGE));
        match Server::new(start).serve(streams).await {
            Ok(service) => service.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
            // A client that only looks whether the program is there.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    });
    // A read that waits for input cannot be called off, and must not hold up the end.
    runtime.shutdown_background();
    served
}
