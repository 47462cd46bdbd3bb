//! A child that ends with its parent, and the end of a group of processes.
//!
//! INVARIANT: between fork and exec only system calls are made.

use std::io;
use std::process::Command;

/// The child joins the group of this leader, or leads one of its own; on Linux the system kills it when the thread that starts it
/// ends.
pub fn tie(command: &mut Command, leader: Option<u32>) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.process_group(leader.and_then(|leader| i32::try_from(leader).ok()).unwrap_or(0));
    }
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let parent = std::process::id();
        let tied = move || {
            // SAFETY: both calls take plain numbers and touch no memory of ours.
            #[expect(unsafe_code, reason = "see above")]
            let failed = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0;
            if failed {
                return Err(io::Error::last_os_error());
            }
            // The parent may have ended before.
            #[expect(unsafe_code, reason = "as above")]
            // SAFETY: it takes nothing.
            let now = unsafe { libc::getppid() };
            if u32::try_from(now) == Ok(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        };
        // SAFETY: the closure makes two system calls; it allocates nothing and takes no lock.
        #[expect(unsafe_code, reason = "see above")]
        unsafe {
            command.pre_exec(tied);
        }
    }
}

/// Sends a signal to all processes of a group; whether there were any.
pub fn kill_group(leader: u32, gently: bool) -> bool {
    let signal = if gently { libc::SIGTERM } else { libc::SIGKILL };
    match i32::try_from(leader) {
        // 0 and 1 would be groups of others.
        Ok(group) if group > 1 => {
            // SAFETY: it takes plain numbers.
            #[expect(unsafe_code, reason = "see above")]
            let result = unsafe { libc::kill(-group, signal) };
            result == 0
        }
        _ => false,
    }
}
