//! Servers that are batch files, as Windows starts them.
//!
//! INVARIANT: what is given to `cmd.exe` is read by it as the words that were meant, or is not given. Nothing here starts a program;
//! the rules hold on every system, so that they can be tested on every one.
//!
//! `npx` and its like are `npx.cmd` on Windows, and a batch file is run by `cmd.exe`, which reads its command line by rules of its own:
//! `&` and `|` outside of quotes begin another command, a quote inside of an argument ends the quotes, and `%NAME%` is replaced inside of
//! quotes too.

#[cfg(windows)]
use std::path::{Path, PathBuf};

/// Longest line that `cmd.exe` reads, in UTF-16 units.
const MOST: usize = 8191;

/// Whether a program is a batch file by its name, as Windows reads names: blanks and dots at the end do not count.
pub(crate) fn is_batch(program: &str) -> bool {
    let name = program.trim_end_matches([' ', '.']).to_ascii_lowercase();
    // What stands behind a colon is a stream of the file.
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.split(':').any(|part| {
        let part = part.trim_end_matches([' ', '.']);
        part.ends_with(".cmd") || part.ends_with(".bat")
    })
}

/// What stands behind `cmd.exe` so that it runs a batch file with these arguments: each in quotes, all in one more pair, which
/// `/s` takes off again. `/d`: no commands of the registry first; `/v:off`: no `!NAME!`.
///
/// # Errors
/// Why an argument cannot be given to a batch file.
pub(crate) fn command_line(program: &str, arguments: &[String]) -> Result<String, String> {
    let mut line = String::from("/d /e:on /v:off /s /c \"");
    for (at, word) in std::iter::once(program).chain(arguments.iter().map(String::as_str)).enumerate() {
        let what = if at == 0 {
            "the name of the server".to_owned()
        } else {
            format!("argument {at} of the server")
        };
        if let Some(why) = refusal(word) {
            return Err(format!(
                "{what} {why}, and `{program}` is a batch file, which Windows runs by a shell that would read that in its own way; start its program itself (for npx: `node`, then the script)"
            ));
        }
        if at > 0 {
            line.push(' ');
        }
        line.push('"');
        line.push_str(word);
        // Programs behind the batch file take `\"` for a quote; doubled it is the end of the word for them, and nothing to `cmd.exe`.
        let behind = word.chars().rev().take_while(|c| *c == '\\').count();
        line.extend(std::iter::repeat_n('\\', behind));
        line.push('"');
    }
    line.push('"');
    if line.encode_utf16().count() >= MOST {
        return Err(format!(
            "the command line of the server is longer than the {MOST} characters that a batch file can be given"
        ));
    }
    Ok(line)
}

fn refusal(word: &str) -> Option<&'static str> {
    let has = |fits: fn(char) -> bool| word.contains(fits);
    if has(|c| c == '"') {
        Some("has a quote")
    } else if has(|c| matches!(c, '\n' | '\r')) {
        Some("has a line break")
    } else if has(|c| c == '%') {
        // Carets do not help inside of quotes, and outside of quotes nothing is safe.
        Some("has a `%`, which begins the name of a variable")
    } else if has(char::is_control) {
        Some("has a control character")
    } else {
        None
    }
}

/// The file that Windows would run for this name, when it is a batch file. Only names without a folder are looked for.
#[cfg(windows)]
pub(crate) fn batch_file(program: &str, path: Option<std::ffi::OsString>) -> Option<PathBuf> {
    let exists = |file: &Path| file.is_file();
    if program.contains(['/', '\\', ':']) {
        if is_batch(program) {
            return Some(PathBuf::from(program));
        }
        return with_endings(Path::new(program))
            .into_iter()
            .find(|file| exists(file))
            .filter(|file| is_batch_path(file));
    }
    // SECURITY: not the current folder, which a repository fills.
    let folders: Vec<PathBuf> =
        path.as_deref().map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let mut files = folders
        .iter()
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| with_endings(&folder.join(program)));
    files.find(|file| exists(file)).filter(|file| is_batch_path(file))
}

#[cfg(windows)]
fn is_batch_path(file: &Path) -> bool {
    is_batch(&file.to_string_lossy())
}

/// The names that are tried for a program, in the order of Windows.
#[cfg(windows)]
fn with_endings(program: &Path) -> Vec<PathBuf> {
    let ending = |ending: &str| PathBuf::from(format!("{}.{ending}", program.display()));
    match program.extension() {
        Some(_) => vec![program.to_path_buf(), ending("exe"), ending("cmd"), ending("bat")],
        None => ["com", "exe", "bat", "cmd"].into_iter().map(ending).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arguments: &[&str]) -> Result<String, String> {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        command_line("C:\\nodejs\\npx.cmd", &arguments)
    }

    #[test]
    fn batch_files_are_known_by_their_names() {
        for name in [
            "npx.cmd",
            "NPX.CMD",
            "C:\\a b\\run.Bat",
            "c:/x/run.bat",
            "run.cmd.",
            "run.bat ",
            "run.bat. .",
            "run.cmd::$DATA",
        ] {
            assert!(is_batch(name), "{name}");
        }
        for name in ["npx", "node.exe", "cmd", "cmd.exe", "C:\\run.cmd\\node.exe", "bat", "x.cmdx"] {
            assert!(!is_batch(name), "{name}");
        }
    }

    #[test]
    fn every_argument_is_quoted() {
        assert_eq!(
            line(&["-y", "", "a b", "x&calc", "a|b>c<d^e", "(x)", "!PATH!", "ü"]).unwrap(),
            "/d /e:on /v:off /s /c \"\"C:\\nodejs\\npx.cmd\" \"-y\" \"\" \"a b\" \"x&calc\" \"a|b>c<d^e\" \"(x)\" \"!PATH!\" \"ü\"\""
        );
        assert_eq!(
            line(&["C:\\a\\", "b"]).unwrap(),
            "/d /e:on /v:off /s /c \"\"C:\\nodejs\\npx.cmd\" \"C:\\a\\\\\" \"b\"\""
        );
        assert_eq!(line(&[]).unwrap(), "/d /e:on /v:off /s /c \"\"C:\\nodejs\\npx.cmd\"\"");
    }

    #[test]
    fn what_the_shell_would_read_otherwise_is_refused_with_the_reason() {
        for (argument, why) in [
            ("a\"b", "has a quote"),
            ("\"&calc&\"", "has a quote"),
            ("a\nb", "has a line break"),
            ("a\rb", "has a line break"),
            ("%PATH%", "has a `%`"),
            ("100%", "has a `%`"),
            ("%CMDCMDLINE:~-1%&calc", "has a `%`"),
            ("a\0b", "has a control character"),
            ("a\u{1a}b", "has a control character"),
        ] {
            let said = line(&["ok", argument]).unwrap_err();
            assert!(said.starts_with(&format!("argument 2 of the server {why}")), "{said}");
            assert!(said.contains("npx.cmd") && said.contains("batch file"), "{said}");
        }
        let said = command_line("C:\\%x%\\npx.cmd", &[]).unwrap_err();
        assert!(said.starts_with("the name of the server has a `%`"), "{said}");
        assert!(line(&[&"x".repeat(9000)]).unwrap_err().contains("longer than the 8191"));
    }
}
