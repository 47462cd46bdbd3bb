//! `policy audit key` and `policy audit sign`: checkpoints of the log under a key.
//!
//! INVARIANT: a log whose chain does not hold is not signed; a key is never printed, and never overwritten.

use super::audit::file;
use crate::args::{AuditKeyArgs, AuditSignArgs};
use crate::context::Context;
use crate::output::{FINDINGS, Failure, OK, Outcome, print};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use policy_engine::append::append;
use policy_engine::audit::anchor::Anchors;
use policy_engine::audit::chain::{hex, unhex};
use policy_engine::audit::verify::{Against, Checkpoint, checkpoint_line, signed_text, verify, verify_since};
use policy_engine::audit::{masked::random, rotate};
use policy_engine::cache::now_ns;
use policy_engine::open::{self, Care, FileError};
use std::path::{Path, PathBuf};

fn failed(error: &FileError) -> Failure {
    Failure::usage(error.to_string())
}

fn key_file(named: Option<&Path>, context: &Context) -> Result<PathBuf, Failure> {
    match named {
        Some(file) => context.path(file),
        None => Ok(context.folders()?.state.join(policy_engine::audit::SIGN_KEY_FILE)),
    }
}

fn read_key(file: &Path) -> Result<SigningKey, FileError> {
    let (bytes, _) = open::read(file, Care::Private, 4096)?;
    let seed = unhex(bytes.trim_ascii_end())
        .ok_or_else(|| FileError::new(file, "holds no key of 64 hexadecimal digits"))?;
    Ok(SigningKey::from_bytes(&seed))
}

/// Runs `policy audit key`.
pub(super) fn run(args: &AuditKeyArgs, context: &Context) -> Outcome {
    let file = key_file(args.file.as_deref(), context)?;
    if args.new {
        if args.file.is_none() {
            open::private_folder(&context.folders()?.state).map_err(|error| failed(&error))?;
        }
        let seed = random(&file).map_err(|error| failed(&error))?;
        open::create_named(&file, format!("{}\n", hex(&seed)).as_bytes(), 0o600)
            .map_err(|error| failed(&error))?;
        context.output.remark(&format!(
            "the key is in `{}`; keep its public half, which follows, where the agent does not reach it",
            file.display()
        ));
    }
    match read_key(&file) {
        Ok(key) => {
            print(&format!("{}\n", hex(key.verifying_key().as_bytes())));
            Ok(OK)
        }
        Err(error) if error.missing => {
            Err(Failure::usage(format!("{error}; `policy audit key --new` makes one")))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Runs `policy audit sign`.
pub(super) fn sign(args: &AuditSignArgs, context: &Context) -> Outcome {
    let key = read_key(&key_file(args.key.as_deref(), context)?).map_err(|error| failed(&error))?;
    let log = file(args.file.as_deref(), context)?;
    let mut files = rotate::earlier(&log);
    files.push(log.clone());
    let own = key.verifying_key().to_bytes();
    // Checkpoints of another key, of before, are no fault here.
    let signature = |by: &Checkpoint, text: &[u8]| is_good(by, text);
    let anchors = Anchors::default();
    let since = verify_since(&log, &own, &signature).map_err(|error| failed(&error))?;
    let whole = || verify(&files, &Against { anchors: &anchors, alone: false, signature: &signature });
    let report = since.map_or_else(whole, Ok).map_err(|error| failed(&error))?;
    let Some(last) = report.last.filter(|_| report.count == 0) else {
        let message = "the chain does not hold, so it is not signed; `policy audit verify` says why";
        return Err(Failure { message: message.to_owned(), code: FINDINGS });
    };
    if report.signed.is_some_and(|signed| signed + 1 >= last.seq) {
        context.output.remark(&format!("nothing was recorded since the checkpoint at sequence {}", last.seq));
        return Ok(OK);
    }
    let by = Checkpoint { key: own, signature: key.sign(&signed_text(last)).to_bytes() };
    let line = checkpoint_line(&policy_hosts::audit::rfc3339(now_ns()), last, &by);
    // ORDER: the care of one that was named lets root, who has a key of its own, sign the log of a user.
    let care = if args.file.is_some() { Care::Named } else { Care::Private };
    append(&log, &line, care).map_err(|error| failed(&error))?;
    context.output.remark(&format!("signed up to sequence {}", last.seq));
    Ok(OK)
}

/// The public keys of which checkpoints must have one; none when no key is known.
pub(super) fn trusted(named: &[String], context: &Context) -> Result<Vec<[u8; 32]>, Failure> {
    let wrong = || Failure::usage("a public key has 64 hexadecimal digits, in lower case");
    if !named.is_empty() {
        return named.iter().map(|text| unhex(text.trim().as_bytes()).ok_or_else(wrong)).collect();
    }
    match read_key(&key_file(None, context)?) {
        Ok(key) => Ok(vec![key.verifying_key().to_bytes()]),
        Err(error) if error.missing => Ok(Vec::new()),
        Err(error) => Err(failed(&error)),
    }
}

/// Whether the key signed this text.
pub(super) fn is_good(by: &Checkpoint, text: &[u8]) -> bool {
    VerifyingKey::from_bytes(&by.key)
        .is_ok_and(|key| key.verify_strict(text, &Signature::from_bytes(&by.signature)).is_ok())
}
