//! Where our files lie: the folders of the user, and the build that made the tables.
//!
//! INVARIANT: nothing here reads the environment. The home folder comes from the password database, or is named on
//! the command line.

use crate::open::FileError;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The file of the password database.
const PASSWORDS: &str = "/etc/passwd";

/// The folders that hold what is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// The user's home, resolved.
    pub home: PathBuf,
    /// The user's policy: `~/.config/policy`.
    pub config: PathBuf,
    /// Compiled tables: `~/.cache/policy`.
    pub cache: PathBuf,
    /// Trust records, sessions and the audit file: `~/.local/state/policy`.
    pub state: PathBuf,
    /// The managed layer: `/etc/policy`.
    pub managed: PathBuf,
}

impl Folders {
    /// The folders of the user who runs this process.
    ///
    /// # Errors
    /// When the password database has no home for this user.
    pub fn of_user() -> Result<Folders, FileError> {
        let number = rustix::process::getuid().as_raw();
        let home = home_in_file(number).or_else(|| {
            use uzers::os::unix::UserExt;
            uzers::get_user_by_uid(number).map(|user| user.home_dir().to_path_buf())
        });
        match home {
            Some(home) if home.is_absolute() && home != Path::new("/") => Ok(Folders::under(&home)),
            _ => Err(FileError::new(
                Path::new("/etc/passwd"),
                format!("names no home for the user with number {number}; name it with `--home DIR`"),
            )),
        }
    }

    /// The folders below this home.
    pub fn under(home: &Path) -> Folders {
        // Links above the home (`/home` on some systems) are root's own; below it none are followed.
        let home = policy_os::real_path(home).unwrap_or_else(|_| home.to_path_buf());
        Folders {
            config: home.join(".config/policy"),
            cache: home.join(".cache/policy"),
            state: home.join(".local/state/policy"),
            managed: PathBuf::from("/etc/policy"),
            home,
        }
    }

    /// The file of the user's layer.
    pub fn user_policy(&self) -> PathBuf {
        self.config.join(POLICY_FILE)
    }

    /// The default audit file.
    pub fn audit(&self) -> PathBuf {
        self.state.join("audit.jsonl")
    }
}

/// The home of a user as the file of the password database names it, which nearly always is all of the database and is
/// asked first; asking the database itself costs a hook more than the file.
fn home_in_file(number: u32) -> Option<PathBuf> {
    home_in(&std::fs::read(PASSWORDS).ok()?, number)
}

/// As the system library reads it: `name:password:uid:gid:comment:home:shell`, the first line with the number.
fn home_in(file: &[u8], number: u32) -> Option<PathBuf> {
    let number = number.to_string();
    let home = file.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        let name = fields.next()?;
        let ours = fields.nth(1)? == number.as_bytes();
        let home = fields.nth(2)?;
        // Lines of the compatible form (`+name`) are the database's business.
        (ours && !name.starts_with(b"+")).then_some(home)
    })?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(home)))
}

/// Name of a project's and a user's policy.
pub const POLICY_FILE: &str = "agent.policy";
/// Names under which a project's policy is found, in this order.
pub const PROJECT_FILES: [&str; 6] = [
    POLICY_FILE,
    "agent-firewall.yml",
    "agent-firewall.yaml",
    "agentlint.yml",
    "agentlint.yaml",
    ".agentlint.yml",
];

/// A path without `.` and `..`, made absolute against `base`; no disk is looked at.
pub fn absolute(base: &Path, path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The name of a path as people see it: below home with `~`.
pub fn shown(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_string(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::home_in;
    use std::path::Path;

    #[test]
    fn the_home_is_the_sixth_field_of_the_first_line_with_the_number() {
        let file = b"root:x:0:0:root:/root:/bin/sh\n+::1:1::/plus:\nshort:x:7\na:x:1:1:a:/home/a:\nb:x:1:1::/home/b:\n";
        assert_eq!(home_in(file, 0).as_deref(), Some(Path::new("/root")));
        assert_eq!(home_in(file, 1).as_deref(), Some(Path::new("/home/a")));
        assert_eq!(home_in(file, 7), None);
        assert_eq!(home_in(b"", 0), None);
    }
}
