//! The check `no-bash-file-write`: commands that write files which are not for scratch.
//!
//! INVARIANT: only what surely writes is told; a word of which nothing is known is no finding, for the lines of a
//! policy ask about those.

use policy_runtime::Facts;
use policy_runtime::facts::{Access, CommandFact, PathFact, Word};
use policy_runtime::outside::{FIELD, OptionValue, Remark, options};

/// Folders in which nobody minds.
const SCRATCH: [&str; 5] = ["/tmp/", "/private/tmp/", "/var/tmp/", "/var/folders/", "/private/var/folders/"];
/// What makes or changes no contents, or writes only what is its own.
const APART: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "trash",
    "chmod",
    "chown",
    "chgrp",
    "mkdir",
    "touch",
    "mktemp",
    "mkfifo",
    "aws",
    "gcloud",
    "gsutil",
    "az",
    "kubectl",
    "helm",
    "docker",
    "podman",
    "terraform",
    "tofu",
    "pulumi",
    "bq",
    "oc",
    "ssh",
    "git",
    "ln",
    "tar",
    "bsdtar",
    "zip",
    "unzip",
    "gzip",
    "gunzip",
    "xz",
    "zstd",
    "7z",
    "scp",
    "vi",
    "vim",
    "nvim",
    "nano",
    "emacs",
    "code",
    "sqlite3",
    "duckdb",
    "psql",
    "mysql",
    "openssl",
    "ssh-keygen",
    "gpg",
    "docker-compose",
    "nerdctl",
];
/// Programs that read code from an argument or their input.
const INTERPRETERS: [&str; 8] = ["python", "node", "deno", "bun", "ruby", "perl", "php", "lua"];
/// Calls of other languages that write.
const CALLS: [&str; 24] = [
    "writefile",
    "appendfile",
    "createwritestream",
    "write_text(",
    "write_bytes(",
    "file.write(",
    "io.write(",
    "io.binwrite(",
    "bun.write(",
    "writetextfile",
    "file_put_contents(",
    "shutil.copy",
    "shutil.move",
    "os.rename(",
    "os.replace(",
    "fs.rename",
    "fs.copyfile",
    "copyfilesync",
    "fileutils.cp",
    "fileutils.mv",
    "file.rename(",
    "os.system(",
    "subprocess.",
    "child_process",
];

/// What a command writes.
pub(crate) fn look(command: &CommandFact, facts: &Facts, given: &str) -> Vec<Remark> {
    let list = |wanted: &str| -> Vec<String> {
        let found = options(given).find(|(name, _)| *name == wanted);
        match found {
            Some((_, OptionValue::List(list) | OptionValue::Text(list))) => {
                list.split(FIELD).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    };
    let (allow, safe) = (list("allow"), list("safe"));
    let program = match command.words.first() {
        Some(Word::Known(word)) => word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase(),
        _ => String::new(),
    };
    if safe.contains(&program) {
        return Vec::new();
    }
    let path = |index: u32| facts.paths.get(index as usize);
    let minded = |path: &PathFact| !scratch(path) && !allowed(path, &allow);
    let mut told: Vec<String> = Vec::new();
    for redirect in command.redirects.iter().filter(|redirect| redirect.file && redirect.writes) {
        match redirect.path.and_then(path) {
            Some(path) if minded(path) => told.push(path.written.clone()),
            Some(_) => {}
            None => told.push("a file that is not known".to_owned()),
        }
    }
    if !APART.contains(&program.as_str()) {
        for (touch, index) in command.touches.iter().zip(&command.word_paths) {
            if touch.any(Access::WRITE)
                && let Some(path) = index.and_then(path).filter(|path| minded(path))
                // On another machine.
                && !(program == "rsync" && path.written.contains(':'))
            {
                told.push(path.written.clone());
            }
        }
    }
    if patches(&program, command) {
        told.push("what a patch names".to_owned());
    }
    if INTERPRETERS.iter().any(|name| program.starts_with(name)) && writes(command) {
        told.push("what its code opens".to_owned());
    }
    // One is enough to say so.
    told.into_iter()
        .take(1)
        .map(|what| Remark { message: format!("the shell writes {what}"), ..Remark::default() })
        .collect()
}

/// A path outside the project, in a folder for what is kept a while, or no file at all.
fn scratch(path: &PathFact) -> bool {
    let mut views = path.names.iter().flat_map(|name| &name.views);
    if path.names.is_empty() || views.any(|view| view.starts_with("./")) {
        return false;
    }
    path.names.iter().all(|name| {
        name.views.iter().any(|view| {
            let device = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full"];
            device.contains(&view.as_str())
                || view.starts_with("/dev/fd/")
                || view.starts_with("/dev/shm/")
                || SCRATCH.iter().any(|folder| view.starts_with(folder))
        })
    })
}

/// Whether a glob of the option covers every name: on the whole path, below the project, or on the file's name.
fn allowed(path: &PathFact, globs: &[String]) -> bool {
    let covers = |view: &String| {
        let view = view.strip_prefix("./").unwrap_or(view);
        let name = view.rsplit('/').next().unwrap_or(view);
        globs.iter().any(|glob| {
            let glob = glob.strip_prefix("./").unwrap_or(glob);
            crate::discover::matches(glob, view) || crate::discover::matches(glob, name)
        })
    };
    !path.names.is_empty() && path.names.iter().all(|name| name.views.iter().any(covers))
}

fn patches(program: &str, command: &CommandFact) -> bool {
    let has = |wanted: &[&str]| {
        command.words.iter().any(|word| matches!(word, Word::Known(text) if wanted.contains(&text.as_str())))
    };
    match program {
        "patch" | "gpatch" => !has(&["--dry-run", "--help", "--version"]),
        "git" => has(&["apply"]) && !has(&["--check", "--stat", "--numstat", "--summary"]),
        _ => false,
    }
}

/// Whether code in a word or in the input of an interpreter calls what writes.
fn writes(command: &CommandFact) -> bool {
    let words = command.words.iter().skip(1).filter_map(|word| match word {
        Word::Known(text) => Some(text.as_str()),
        _ => None,
    });
    words.chain(command.input.as_deref()).any(|code| {
        let code = code.to_ascii_lowercase();
        CALLS.iter().any(|call| code.contains(call)) || opens(&code)
    })
}

/// `open(…, "w")`: a call of `open` with a mode that writes.
fn opens(code: &str) -> bool {
    code.split("open(").skip(1).any(|call| {
        let arguments = call.split(')').next().unwrap_or(call);
        arguments.split(',').skip(1).any(|argument| {
            let mode = argument.trim().trim_start_matches("mode").trim_start_matches([' ', '=']);
            let inner = mode.trim_matches(['\'', '"', ' ']);
            mode.starts_with(['\'', '"'])
                && inner.len() <= 4
                && !inner.is_empty()
                && (inner.contains(['w', 'a', 'x', '+', '>']))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::opens;

    #[test]
    fn modes_that_write() {
        for code in
            ["open('a','w')", "open('a', mode=\"ab\")", "open(my $f, '>', 'x')", "file.open('a', 'w+')"]
        {
            assert!(opens(code), "{code}");
        }
        for code in ["open('a')", "open('a','r')", "open('a', 'rb')", "reopen(1,2)", "print(1)"] {
            assert!(!opens(code), "{code}");
        }
    }
}
