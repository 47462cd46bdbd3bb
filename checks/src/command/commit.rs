//! The message of `git commit`.
//!
//! INVARIANT: only a message whose text is known is judged; what git itself writes (merges, reverts, fixups) needs no type.

use crate::{Found, Options};

const TYPES: [&str; 11] =
    ["build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test"];

/// Options of git, before its subcommand, that take the next word.
const GLOBAL_WITH_VALUE: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--exec-path"];

/// Options of commit, in their long form, that take the next word.
const WITH_VALUE: [&str; 12] = [
    "--author",
    "--date",
    "--template",
    "--cleanup",
    "--fixup",
    "--squash",
    "--reuse-message",
    "--reedit-message",
    "--trailer",
    "--pathspec-from-file",
    "--untracked-files",
    "--gpg-sign",
];

/// A subject that is too long, or has no type in front.
pub(crate) fn message_format(words: &[Option<&str>], stdin: Option<&str>, options: &Options) -> Vec<Found> {
    let Some(message) = message(words, stdin) else { return Vec::new() };
    let subject =
        message.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or("");
    if subject.is_empty() || is_written_by_git(subject) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut say = |message: String, suggest: String| {
        found.push(Found { line: 0, column: 0, message, suggest, severity: None });
    };
    let limit = options.int("max_subject_length", 72);
    let length = subject.chars().count() as i64;
    if length > limit {
        say(
            format!("the subject of the commit message has {length} letters, more than {limit}"),
            "say it shorter in the first line, and the rest below an empty line".to_owned(),
        );
    }
    let types = options.list("types").unwrap_or_else(|| TYPES.to_vec());
    if options.text("format").unwrap_or("conventional") == "conventional" && !is_conventional(subject, &types)
    {
        say(
            "the commit message does not begin with a type".to_owned(),
            format!("write `TYPE: subject` or `TYPE(scope): subject`, TYPE one of {}", types.join(", ")),
        );
    }
    found
}

fn is_conventional(subject: &str, types: &[&str]) -> bool {
    let Some((head, text)) = subject.split_once(':') else { return false };
    let head = head.strip_suffix('!').unwrap_or(head);
    let name = match head.split_once('(') {
        Some((name, scope)) => match scope.strip_suffix(')') {
            Some(scope) if !scope.trim().is_empty() && !scope.contains(['(', ')']) => name,
            _ => return false,
        },
        None => head,
    };
    types.contains(&name) && text.starts_with([' ', '\t']) && !text.trim().is_empty()
}

fn is_written_by_git(subject: &str) -> bool {
    let starts = [
        "Merge ",
        "Merged ",
        "Revert ",
        "revert ",
        "Reapply ",
        "reapply ",
        "fixup!",
        "squash!",
        "amend!",
        "Automatic merge",
        "Auto-merged ",
    ];
    let version = subject.strip_prefix(['v', 'V']).unwrap_or(subject);
    let numbers: Vec<&str> = version.splitn(3, '.').collect();
    let digits =
        |part: &&str| part.starts_with(|letter: char| letter.is_ascii_digit()) && !part.contains(' ');
    starts.iter().any(|start| subject.starts_with(start))
        || (numbers.len() == 3 && numbers.iter().all(digits))
}

/// The message, where the command gives one whose text is known.
fn message(words: &[Option<&str>], stdin: Option<&str>) -> Option<String> {
    let rest = commit_words(words)?;
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        at += 1;
        let word = (*word)?;
        if word == "--" {
            return None;
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            // Git takes any beginning of a long option that is clear.
            if name.len() >= 3 && "message".starts_with(name) {
                return text_of(value.or_else(|| rest.get(at).copied().flatten())?);
            }
            if name.len() >= 3 && "file".starts_with(name) {
                return from_file(value.or_else(|| rest.get(at).copied().flatten())?, stdin);
            }
            if value.is_none()
                && WITH_VALUE.contains(&word)
                && !matches!(name, "untracked-files" | "gpg-sign")
            {
                at += 1;
            }
            continue;
        }
        let Some(flags) = word.strip_prefix('-').filter(|flags| !flags.is_empty()) else { continue };
        for (index, flag) in flags.char_indices() {
            let attached = flags.get(index + flag.len_utf8()..).filter(|rest| !rest.is_empty());
            let next = || attached.or_else(|| rest.get(at).copied().flatten());
            match flag {
                'm' => return text_of(next()?),
                'F' => return from_file(next()?, stdin),
                'C' | 'c' | 't' => {
                    if attached.is_none() {
                        at += 1;
                    }
                    break;
                }
                'S' | 'u' => break,
                _ => {}
            }
        }
    }
    None
}

/// The words behind `git … commit`.
fn commit_words<'w, 't>(words: &'w [Option<&'t str>]) -> Option<&'w [Option<&'t str>]> {
    let program = words.first().copied().flatten()?;
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    if name != "git" && name != "git.exe" {
        return None;
    }
    let mut at = 1;
    loop {
        let word = words.get(at).copied().flatten()?;
        at += 1;
        if word == "commit" {
            return words.get(at..);
        }
        if !word.starts_with('-') {
            return None;
        }
        if GLOBAL_WITH_VALUE.contains(&word) {
            at += 1;
        }
    }
}

fn from_file(name: &str, stdin: Option<&str>) -> Option<String> {
    if name == "-" || name == "/dev/stdin" { stdin.map(str::to_owned) } else { None }
}

/// The text of a message word; a here-document through `$(cat <<WORD` that was not resolved is read here.
fn text_of(word: &str) -> Option<String> {
    let Some(inner) = word.trim_start().strip_prefix("$(") else {
        return if word.contains("$(") || word.contains('`') && word.starts_with('`') {
            first_line_known(word)
        } else {
            Some(word.to_owned())
        };
    };
    let here = inner.trim_start().strip_prefix("cat")?.trim_start().strip_prefix("<<")?;
    let (tag, body) = here.split_once('\n')?;
    let tag = tag.trim().trim_start_matches('-').trim_matches(['\'', '"', '\\']);
    let end = body.lines().position(|line| line.trim() == tag)?;
    Some(body.lines().take(end).collect::<Vec<_>>().join("\n"))
}

/// A message with something unresolved in it counts when its first line is known.
fn first_line_known(word: &str) -> Option<String> {
    let first = word.lines().next().unwrap_or("");
    if first.contains("$(") || first.contains('`') { None } else { Some(first.to_owned()) }
}
