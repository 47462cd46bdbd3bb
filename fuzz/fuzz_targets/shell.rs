//! The shell reader under libfuzzer.
//!
//! INVARIANT: no text makes it panic or breaks a promise of its answer.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(broken) = policy_fuzz::check(text) {
        panic!("{broken}: {text:?}");
    }
});
