//! The words of the commands about payments.
//!
//! INVARIANT: as all of the command line.

use clap::Args;
use std::path::PathBuf;

/// `policy serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// This policy instead of the user's and the project's; the managed one and std/self still hold.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Who calls: a label that `as` in a policy can name.
    #[arg(long = "as", value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// The port on 127.0.0.1; 0 for any that is free.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Most questions a minute.
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,
}

/// `policy demo-seller`.
#[derive(Debug, Args)]
pub(crate) struct DemoSellerArgs {
    /// The port on 127.0.0.1; 0 for any that is free.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// This seller alone; may be given again for more.
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Vec<String>,
    /// Say which sellers there are.
    #[arg(long, conflicts_with = "port")]
    pub(crate) list: bool,
}
