//! What the flows need to know of programs beyond their data: names of files that follow from other operands.
//!
//! INVARIANT: a program that is not here writes what its data says; more files than it really writes are only more flows.

use super::files::Key;
use super::{DECODES, NETWORK};
use crate::shell::inner::Call;
use crate::shell::options::{FlagValue, Reading};
use crate::shell::program::Program;
use crate::shell::{Part, Word};

/// Programs that print what they get in another form, whatever their flags are.
const DECODERS: &[&str] = &[
    "gunzip",
    "zcat",
    "gzcat",
    "bunzip2",
    "bzcat",
    "unxz",
    "xzcat",
    "unlzma",
    "lzcat",
    "unzstd",
    "zstdcat",
    "uncompress",
    "uudecode",
    "tr",
    "rev",
    "xxd",
    "unbrotli",
    "funzip",
    "lz4cat",
    "unlz4",
];
/// Programs that do so with one of these flags.
const DECODERS_WITH: &[(&[&str], &[&str])] = &[
    (&["base64", "base32", "base58", "basenc", "gbase64"], &["-d", "-D", "-di", "-id", "--decode"]),
    (
        &["gzip", "pigz", "bzip2", "xz", "lzma", "zstd", "lz4", "brotli"],
        &["-d", "-dc", "-cd", "--decompress", "--uncompress"],
    ),
    (&["openssl"], &["-d", "-decrypt"]),
    (&["gpg", "gpg2", "age", "sops"], &["-d", "--decrypt"]),
];
/// Programs that send and fetch, where no data says so.
const FETCHERS: &[&str] = &[
    "curl", "wget", "wget2", "aria2c", "axel", "http", "https", "httpie", "xh", "lynx", "w3m", "links",
    "fetch", "ftp", "sftp", "tftp", "lftp", "nc", "ncat", "netcat", "socat", "telnet", "scp", "rsync", "ssh",
    "curlie", "dig", "nslookup", "host", "gsutil", "rclone", "mc",
];
/// Words that do not read standard input.
const DEAF: &[&str] = &[
    "echo", "printf", "true", "false", ":", "cd", "pwd", "export", "test", "[", "[[", "ls", "date", "mkdir",
    "rm", "touch", "chmod", "kill", "sleep", "set", "unset", "exit", "return", "break", "continue", "local",
    "declare", "shift", "which",
];

/// Whether a program reads what comes on standard input.
pub(crate) fn listens(name: &str) -> bool {
    !DEAF.contains(&name)
}

/// What a program is for the flows, as marks.
pub(crate) fn marks(name: &str, program: Option<&Program>, call: &Call) -> u8 {
    let flag =
        |flags: &&[&str]| call.words.iter().skip(1).filter_map(Word::known).any(|word| flags.contains(&word));
    let mut mark = 0;
    let subcommands: &[&str] = match name {
        "git" | "hg" | "svn" => {
            &["clone", "fetch", "pull", "ls-remote", "archive", "checkout", "co", "export"]
        }
        "gh" => &["api", "gist", "release", "repo"],
        "aws" | "gcloud" | "az" => &["s3", "s3api", "storage", "ssm", "secretsmanager"],
        _ => &[],
    };
    let first = call.words.iter().skip(1).filter_map(Word::known).find(|word| !word.starts_with('-'));
    let fetches = first.is_some_and(|word| subcommands.contains(&word))
        && (name != "git" && name != "hg" || !matches!(first, Some("checkout" | "co" | "archive")));
    if FETCHERS.contains(&name) || fetches || program.is_some_and(|program| program.operands_are_hosts) {
        mark |= NETWORK;
    }
    if DECODERS.contains(&name)
        || DECODERS_WITH.iter().any(|(names, flags)| names.contains(&name) && flag(flags))
        || name == "openssl" && call.words.iter().filter_map(Word::known).any(|word| word == "-d")
    {
        mark |= DECODES;
    }
    mark
}

/// The files that a command writes by its operands and flags: key, a whole tree, added to what is there.
pub(crate) fn writes(name: &str, call: &Call, reading: &Reading) -> Vec<(Key, bool, bool)> {
    let mut out = Vec::new();
    let operands: Vec<&Word> = operands(call, reading);
    let texts = || operands.iter().filter_map(|word| word.known());
    let key = |word: &Word| Key::of(word, &call.dir);
    let here = |text: &str| Key::from_text(text, false, false, &call.dir);
    for flag in ["-o", "--output", "-O", "--output-document", "--out", "-out", "--outfile"] {
        if flag == "-O" && name != "wget" && name != "busybox" {
            continue;
        }
        out.extend(value(call, reading, flag).and_then(|word| key(&word)).map(|key| (key, false, false)));
    }
    let flagged = |flags: &[&str]| reading.flags.iter().any(|flag| flags.contains(&flag.name.as_str()));
    let raw = |flags: &[&str]| call.words.iter().filter_map(Word::known).any(|word| flags.contains(&word));
    match name {
        "curl" | "curlie" => {
            let folder = value(call, reading, "--output-dir").and_then(|word| key(&word));
            let remote = flagged(&["-O", "--remote-name", "--remote-name-all"]) || cluster(call, 'O');
            for file in texts().filter(|_| remote).filter_map(file_of_url) {
                out.extend(
                    folder
                        .as_ref()
                        .map(|key| key.child(&file))
                        .or_else(|| here(&file))
                        .map(|key| (key, false, false)),
                );
            }
        }
        "wget" | "wget2" | "aria2c" | "axel" | "fetch" if out.is_empty() => {
            let folder = ["-P", "--directory-prefix", "-d", "--dir"]
                .iter()
                .find_map(|flag| value(call, reading, flag));
            let folder = folder.and_then(|word| key(&word));
            for file in texts().filter_map(file_of_url) {
                out.extend(
                    folder
                        .as_ref()
                        .map(|key| key.child(&file))
                        .or_else(|| here(&file))
                        .map(|key| (key, false, false)),
                );
            }
            // Some address that is not known: whatever it is called.
            if operands.iter().any(|word| word.known().is_none()) {
                let folder = folder.or_else(|| here("."));
                out.extend(folder.map(|key| (key, true, false)));
            }
        }
        "git" | "hg" | "gh" | "svn" => {
            let mut rest = texts().filter(|word| !matches!(*word, "repo" | "gist"));
            if matches!(rest.next(), Some("clone" | "checkout" | "co" | "export"))
                && (name != "git" || raw(&["clone"]))
            {
                let behind = operands
                    .iter()
                    .skip_while(|word| !matches!(word.known(), Some("clone" | "checkout" | "co" | "export")));
                // Numbers and words are values of flags that no data told.
                let address = |word: &&&Word| word.known().is_none_or(|text| text.contains(['/', ':']));
                let behind: Vec<&&Word> = behind.skip(1).skip_while(|word| !address(word)).collect();
                let folder = match behind.as_slice() {
                    [_, folder, ..] => key(folder),
                    [url] => match url.known().and_then(file_of_url) {
                        Some(file) => here(file.strip_suffix(".git").unwrap_or(&file)),
                        None => here("."),
                    },
                    [] => None,
                };
                out.extend(folder.map(|key| (key, true, false)));
            }
        }
        "tar" | "bsdtar" | "gtar" => {
            let first = call.words.get(1).and_then(Word::known).unwrap_or_default();
            let extracts = cluster(call, 'x')
                || raw(&["--extract", "--get"])
                || !first.starts_with('-') && first.contains('x');
            if extracts {
                let folder = ["-C", "--directory", "--cd"].iter().find_map(|flag| value(call, reading, flag));
                out.extend(folder.map_or_else(|| here("."), |word| key(&word)).map(|key| (key, true, false)));
            }
        }
        "unzip" | "7z" | "7za" | "7zz" | "unrar" | "unar" | "cpio" | "jar" | "ar" => {
            let folder = value(call, reading, "-d").and_then(|word| key(&word));
            out.extend(folder.or_else(|| here(".")).map(|key| (key, true, false)));
        }
        "gunzip" | "gzip" | "bunzip2" | "bzip2" | "unxz" | "xz" | "unzstd" | "zstd" | "uncompress"
        | "unlzma" => {
            for word in texts() {
                let name = word.rsplit_once('.').map_or(word, |(front, _)| front);
                out.extend(here(name).map(|key| (key, false, false)));
            }
        }
        "tee" | "sponge" => {
            let append = raw(&["-a", "--append"]);
            out.extend(operands.iter().filter_map(|word| key(word)).map(|key| (key, false, append)));
        }
        "cp" | "mv" | "install" | "ln" | "rsync" | "scp" | "aws" | "gsutil" | "rclone" | "mc" | "docker"
        | "podman" | "kubectl" => {
            let folder = ["-t", "--target-directory"].iter().find_map(|flag| value(call, reading, flag));
            let (target, from) = match (&folder, operands.split_last()) {
                (Some(folder), _) => (Some(folder), operands.as_slice()),
                (None, Some((last, rest))) if !rest.is_empty() => (Some(*last), rest),
                _ => (None, &[] as &[&Word]),
            };
            if let Some(target) = target.and_then(key) {
                for word in from.iter().filter_map(|word| word.known()) {
                    let file = word.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
                    out.push((target.child(file), name != "scp" && name != "ln", false));
                }
                out.push((target, true, false));
            }
        }
        "dd" => {
            let target = texts().find_map(|word| word.strip_prefix("of=").and_then(here));
            out.extend(target.map(|key| (key, false, false)));
        }
        "sed" | "gsed" | "perl" | "patch"
            if cluster(call, 'i') || raw(&["--in-place"]) || name == "patch" =>
        {
            out.extend(operands.iter().filter_map(|word| key(word)).map(|key| (key, false, true)));
        }
        _ => {}
    }
    out
}

/// The operands of a command, words of unclear role included.
pub(crate) fn operands<'c>(call: &'c Call, reading: &Reading) -> Vec<&'c Word> {
    let words = call.words.iter().zip(&reading.parts);
    words
        .filter(|(word, part)| match part {
            Part::Operand { after_dashes } => {
                *after_dashes || !word.known().is_some_and(|text| text.starts_with('-'))
            }
            Part::Unclear => true,
            _ => false,
        })
        .map(|(word, _)| word)
        .collect()
}

/// The value of a flag, by the program's data or as the next word.
fn value(call: &Call, reading: &Reading, flag: &str) -> Option<Word> {
    for used in &reading.flags {
        if used.name == flag {
            match &used.value {
                Some(FlagValue::Attached(word)) => return Some(word.clone()),
                Some(FlagValue::Next(at)) => return call.words.get(*at).cloned(),
                None => {}
            }
        }
    }
    for (at, word) in call.words.iter().enumerate().skip(1) {
        let Some(text) = word.known() else { continue };
        if text == flag {
            return call.words.get(at + 1).cloned();
        }
        let long = flag.starts_with("--");
        if let Some(rest) = text.strip_prefix(flag).filter(|rest| !rest.is_empty()) {
            match (long, rest.strip_prefix('=')) {
                (true, Some(value)) => return Some(Word::Known(value.to_string())),
                (false, _) if flag.len() == 2 => return Some(Word::Known(rest.to_string())),
                _ => {}
            }
        }
        // The last letter of a cluster: `-fsSLo x`.
        let letters =
            text.strip_prefix('-').filter(|t| !t.is_empty() && t.chars().all(|c| c.is_ascii_alphabetic()));
        if let (Some(letters), false, 2) = (letters, long, flag.len())
            && letters.ends_with(flag.trim_start_matches('-'))
        {
            return call.words.get(at + 1).cloned();
        }
    }
    None
}

/// Whether a cluster of letters has this one.
fn cluster(call: &Call, letter: char) -> bool {
    let texts = call.words.iter().skip(1).filter_map(Word::known);
    texts.filter(|text| text.starts_with('-') && !text.starts_with("--")).any(|text| text.contains(letter))
}

/// The file that an address is saved to.
fn file_of_url(url: &str) -> Option<String> {
    let front = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let front = front.split_once("://").map_or(front, |(_, rest)| rest);
    let name = front.rsplit(['/', ':']).next().unwrap_or_default();
    (!name.is_empty() && !name.starts_with('-')).then(|| name.to_string())
}
