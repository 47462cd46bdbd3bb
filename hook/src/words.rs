//! The words behind `hook`, read by hand.
//!
//! INVARIANT: a mistake is told with the host, so that it can be answered in the host's fail-closed words.

use policy_engine::places::absolute;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The words behind `hook`.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) host: Option<String>,
    pub(crate) policy: Option<PathBuf>,
    pub(crate) label: Option<String>,
    pub(crate) audit: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) state: Option<PathBuf>,
    pub(crate) cache: Option<PathBuf>,
    /// Longest wait for a person, seconds.
    pub(crate) wait: Option<u64>,
}

const KNOWN: &str = "--host, --policy, --as, --audit, --wait, --config, --state and --cache";

/// Reads the words by hand: a mistake is the host's fail-closed reply, so the host is looked for first.
pub(crate) fn read_words(words: &[OsString]) -> Result<Words, (Option<String>, String)> {
    let mut out = Words::default();
    let mut wrong = None;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        // As bytes: the name of a file need not be text.
        let bytes = word.as_bytes();
        let (name, attached) = match bytes.iter().position(|byte| *byte == b'=') {
            Some(at) if bytes.starts_with(b"--") => {
                let (name, value) = bytes.split_at_checked(at).unwrap_or_default();
                (name, Some(OsStr::from_bytes(value.get(1..).unwrap_or_default()).to_os_string()))
            }
            _ => (bytes, None),
        };
        let name = String::from_utf8_lossy(name).into_owned();
        // The answer has the host's own form, and says nothing but the answer: these change nothing.
        if attached.is_none() && ["-q", "--quiet", "-v", "--verbose"].contains(&name.as_str()) {
            continue;
        }
        let Some(value) = attached.or_else(|| rest.next().cloned()) else {
            wrong.get_or_insert(match name.as_str() {
                "--print" => "`--print` needs the name of a host".to_owned(),
                _ => format!("`{name}` needs a value"),
            });
            break;
        };
        let text = || value.to_str().map(str::to_string).ok_or("cannot be used");
        let file = || absolute_word(&value).ok_or("cannot be used");
        let done = match name.as_str() {
            "--format" => Ok(()),
            "--host" => text().and_then(|text| once(&mut out.host, text)),
            "--as" => text().and_then(|text| once(&mut out.label, text)),
            "--policy" => file().and_then(|path| once(&mut out.policy, path)),
            "--audit" => file().and_then(|path| once(&mut out.audit, path)),
            "--wait" => text().and_then(|text| {
                // Behind a day no host waits.
                let seconds = text.parse().ok().filter(|seconds| *seconds <= 86_400);
                once(&mut out.wait, seconds.ok_or("is no number of seconds up to a day")?)
            }),
            "--home" => file().and_then(|path| once(&mut out.home, path)),
            "--config" => file().and_then(|path| once(&mut out.config, path)),
            "--state" => file().and_then(|path| once(&mut out.state, path)),
            "--cache" => file().and_then(|path| once(&mut out.cache, path)),
            "--print" => {
                wrong.get_or_insert("`--print NAME` only stands alone behind `hook`".to_owned());
                Ok(())
            }
            _ => {
                wrong.get_or_insert(format!("`{name}` is not known here; known are {KNOWN}"));
                Ok(())
            }
        };
        if let Err(what) = done {
            wrong.get_or_insert(format!("the value of `{name}` {what}"));
        }
    }
    match wrong {
        None => Ok(out),
        Some(cause) => Err((out.host, cause)),
    }
}

/// A word that is given twice could mean either.
fn once<T>(slot: &mut Option<T>, value: T) -> Result<(), &'static str> {
    if slot.is_some() {
        return Err("is given twice");
    }
    *slot = Some(value);
    Ok(())
}

fn absolute_word(value: &OsString) -> Option<PathBuf> {
    let path = PathBuf::from(value);
    if value.is_empty() {
        return None;
    }
    if path.is_absolute() {
        return Some(absolute(std::path::Path::new("/"), &path));
    }
    Some(absolute(&policy_os::real_path(&std::env::current_dir().ok()?).ok()?, &path))
}
