//! Payments under libfuzzer.
//!
//! INVARIANT: no bytes make it panic or break a promise.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = policy_fuzz::payment::check(bytes) {
        panic!("{broken}");
    }
});
