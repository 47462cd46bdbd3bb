//! The binary `policy-hook`: answers one event of a host from compiled tables, and asks `policy` beside it when there are none.
//!
//! INVARIANT: as `policy hook`, word for word; only faster to start.

/// The process ends with its answer.
#[global_allocator]
static MEMORY: policy_os::Arena = policy_os::Arena::new();

fn main() -> std::process::ExitCode {
    let words: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    policy_hook::run(
        &words,
        policy_hook::Flavor::Policy,
        &policy_engine::work::Elsewhere,
        &policy_engine::work::Elsewhere,
        &policy_engine::work::Elsewhere,
    )
}
