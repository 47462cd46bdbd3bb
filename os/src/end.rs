//! Last words: what a process says when it crashes or is late, put down beforehand because then nothing can be made any
//! more.
//!
//! INVARIANT: exactly one of the process's own reply and its last words is said. The handlers are async-signal-safe: they
//! read atomics and leaked memory, call `write`, `setitimer` and `_exit`, and nothing else.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

/// What is written, and the code to end with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastWords {
    /// For standard output.
    pub stdout: Vec<u8>,
    /// For standard error.
    pub stderr: Vec<u8>,
    /// Exit code.
    pub code: i32,
}

/// What is said when the time is up.
static LATE: AtomicPtr<LastWords> = AtomicPtr::new(std::ptr::null_mut());
/// What is said when the process crashes.
static CRASHED: AtomicPtr<LastWords> = AtomicPtr::new(std::ptr::null_mut());
/// Set by whoever speaks.
static CLAIMED: AtomicBool = AtomicBool::new(false);
/// Exit code when words cannot be written.
const UNHEARD: i32 = 2;
/// How long the writing of words may take.
const GRACE: Duration = Duration::from_millis(500);

/// Puts down what is said from now on: when the time is up, and when the process crashes. Each call leaks the words
/// before: few and small.
pub fn last_words(late: LastWords, crashed: LastWords) {
    LATE.store(Box::into_raw(Box::new(late)), Ordering::Release);
    CRASHED.store(Box::into_raw(Box::new(crashed)), Ordering::Release);
}

/// Claims the one reply for the caller. `false`: others are speaking already, and will end the process.
#[must_use]
pub fn speak() -> bool {
    CLAIMED.compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

/// Ends the process at once: nothing is flushed, given back or run any more. The system takes back faster than we give.
#[expect(
    unsafe_code,
    reason = "the standard library's own exit gives back what the process is about to lose"
)]
pub fn leave(code: i32) -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(code) }
}

/// Ends the process with its last words after this time, or when it crashes: by a wrong access, also to a mapped file
/// that was cut, by an illegal instruction, or by an abort. Called again, the time begins anew.
///
/// # Errors
/// When the system does not arm the handlers or the timer.
pub fn end_by(deadline: Duration) -> std::io::Result<()> {
    SIGNALS.into_iter().try_for_each(arm)?;
    unblock()?;
    timer(deadline)
}

/// What ends in last words: crashes, the limit of computing time, the alarm.
const SIGNALS: [libc::c_int; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGXCPU, libc::SIGALRM];

/// Whether what is written to standard output may be read by somebody.
///
/// SECURITY: where the host gave none, the standard library opens the null device in its place, which takes everything.
#[must_use]
#[expect(unsafe_code, reason = "also asked in a handler, where only such calls may be made")]
pub fn heard() -> bool {
    // SAFETY: `stat` is plain data, for which zero is a value; both calls write into it only, and the name ends with a zero.
    unsafe {
        let mut own: libc::stat = std::mem::zeroed();
        if libc::fstat(libc::STDOUT_FILENO, &raw mut own) != 0 {
            return false;
        }
        let mut null: libc::stat = std::mem::zeroed();
        own.st_mode & libc::S_IFMT != libc::S_IFCHR
            || libc::stat(c"/dev/null".as_ptr(), &raw mut null) != 0
            || own.st_rdev != null.st_rdev
    }
}

/// Lets the signals through: who starts this process may have held them back, and that is inherited.
#[expect(unsafe_code, reason = "the mask of signals cannot be changed without")]
fn unblock() -> std::io::Result<()> {
    // SAFETY: the set is plain data, which `sigemptyset` and `sigaddset` write into and `pthread_sigmask` reads.
    let error = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in SIGNALS {
            libc::sigaddset(&raw mut set, signal);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut())
    };
    if error == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(error)) }
}

#[expect(unsafe_code, reason = "signal handlers cannot be set without")]
fn arm(signal: libc::c_int) -> std::io::Result<()> {
    let handler: extern "C" fn(libc::c_int) = handle;
    // SAFETY: `sigaction` is plain data, for which zero is a value; `sigemptyset` writes into the mask that it is given.
    // The handler has the type that flags without SA_SIGINFO ask for and keeps to what handlers may do.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        // On the stack that the runtime made for it, so that it also works after a stack overflow; not held back while it
        // runs, so that a write that nobody reads is ended by the next alarm.
        action.sa_flags = libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[expect(unsafe_code, reason = "timers cannot be set without")]
fn timer(after: Duration) -> std::io::Result<()> {
    let value = libc::timeval {
        tv_sec: after.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_usec: after.subsec_micros().into(),
    };
    let timer = libc::itimerval { it_interval: value, it_value: value };
    // SAFETY: the pointer is to a value on the stack, read during the call only.
    let done = unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[expect(unsafe_code, reason = "reads what was leaked for it, and calls the system")]
extern "C" fn handle(signal: libc::c_int) {
    let late = signal == libc::SIGALRM;
    let slot = if late { &LATE } else { &CRASHED };
    if !speak() {
        // Somebody speaks already. A crash there, or an alarm that finds the writing unfinished twice, leaves only the
        // exit code to say no.
        static WAITED: AtomicBool = AtomicBool::new(false);
        if late && !WAITED.swap(true, Ordering::SeqCst) {
            let _ = timer(GRACE);
            return;
        }
        // SAFETY: ends the process at once, without any code of ours.
        unsafe { libc::_exit(UNHEARD) }
    }
    let _ = timer(GRACE);
    // SAFETY: the pointer is null or was leaked by `last_words`, which never frees it.
    let words = unsafe { slot.load(Ordering::Acquire).as_ref() };
    let code = match words {
        None => UNHEARD,
        Some(words) => {
            let heard = words.stdout.is_empty() || heard() && say(libc::STDOUT_FILENO, &words.stdout);
            say(libc::STDERR_FILENO, &words.stderr);
            if heard { words.code } else { UNHEARD }
        }
    };
    // SAFETY: ends the process at once, without any code of ours.
    unsafe { libc::_exit(code) }
}

/// Writes all of it; whether it could.
#[expect(unsafe_code, reason = "the standard library's writers take locks, which a handler may not")]
fn say(to: libc::c_int, mut words: &[u8]) -> bool {
    while !words.is_empty() {
        // SAFETY: the pointer and the length are those of a slice that lives on.
        let written = unsafe { libc::write(to, words.as_ptr().cast(), words.len()) };
        match usize::try_from(written) {
            Ok(count) if count > 0 => words = words.get(count..).unwrap_or_default(),
            _ => return false,
        }
    }
    true
}
