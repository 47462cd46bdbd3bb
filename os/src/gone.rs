//! Whether somebody still reads what is written to a pipe, socket or terminal.
//!
//! INVARIANT: it only waits and never writes or reads; what cannot be told is not said to be gone.

use std::os::fd::{AsFd, AsRawFd};

/// Waits until nobody reads this any more; false when that cannot be told. A file has readers for ever.
pub fn reader_gone(of: &impl AsFd) -> bool {
    let mut wait = libc::pollfd { fd: of.as_fd().as_raw_fd(), events: 0, revents: 0 };
    loop {
        // SAFETY: it is given one structure of ours, which outlives the call, and its number.
        #[expect(unsafe_code, reason = "see above")]
        let told = unsafe { libc::poll(&raw mut wait, 1, -1) };
        let interrupted = std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted;
        if told > 0 {
            return wait.revents & (libc::POLLERR | libc::POLLHUP) != 0;
        }
        if told < 0 && !interrupted {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_last_reader_is_noticed_and_nothing_else() {
        let (reader, writer) = std::io::pipe().unwrap();
        let second = reader.try_clone().unwrap();
        let waits = std::thread::spawn(move || reader_gone(&writer));
        drop(reader);
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!waits.is_finished(), "somebody reads");
        drop(second);
        assert!(waits.join().unwrap());
    }

    #[test]
    fn a_socket_that_is_closed_for_writing_still_reads() {
        let (own, other) = std::os::unix::net::UnixStream::pair().unwrap();
        let waits = std::thread::spawn(move || reader_gone(&own));
        other.shutdown(std::net::Shutdown::Write).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!waits.is_finished(), "it reads on");
        drop(other);
        assert!(waits.join().unwrap());
    }
}
