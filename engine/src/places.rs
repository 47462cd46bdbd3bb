//! Where our files lie: the folders of the user, and the build that made the tables.
//!
//! INVARIANT: nothing here reads the environment. The home folder comes from the password database, or is named on
//! the command line.

use crate::open::FileError;
use std::path::{Path, PathBuf};

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
        use uzers::os::unix::UserExt;
        let number = rustix::process::getuid().as_raw();
        let user = uzers::get_user_by_uid(number);
        match user.as_ref().map(|user| user.home_dir()) {
            Some(home) if home.is_absolute() && home != Path::new("/") => Ok(Folders::under(home)),
            _ => Err(FileError::new(
                Path::new("/etc/passwd"),
                format!("names no home for the user with number {number}; name it with `--home DIR`"),
            )),
        }
    }

    /// The folders below this home.
    pub fn under(home: &Path) -> Folders {
        // Links above the home (`/home` on some systems) are root's own; below it none are followed.
        let home = std::fs::canonicalize(home).unwrap_or_else(|_| home.to_path_buf());
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

/// Name of a project's and a user's policy.
pub const POLICY_FILE: &str = "agent.policy";
/// Names under which a project's policy is found, in this order.
pub const PROJECT_FILES: [&str; 3] = [POLICY_FILE, "agent-firewall.yml", "agent-firewall.yaml"];

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
