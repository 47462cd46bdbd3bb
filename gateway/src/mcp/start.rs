//! With what a server starts: whose project, which session, which policy.
//!
//! INVARIANT: the environment is read here alone, once, and only says where to look; no variable changes what a policy
//! says about a call.

use crate::mcp::sessions::Record;
use policy_engine::layers::Default_;
use policy_engine::places::{Folders, absolute};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Variables that name the project, the first that is set counts.
const PROJECT: [&str; 2] = ["AGENTLINT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];
/// Variables that name the session, the first that is set counts.
const SESSION: [&str; 2] = ["AGENTLINT_SESSION_ID", "MCP_SESSION_ID"];
/// Variables that name the session of payments, the first that is set counts.
pub(crate) const PAYMENTS: [&str; 2] = ["POLICY_SESSION", "VULSIGHT_SESSION"];

/// What the process finds around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The project folder, or why there is none.
    pub project: Result<PathBuf, String>,
    /// The session that a variable names.
    pub session: Option<String>,
    /// The session that a variable names for payments and what is read before them.
    pub payments: Option<String>,
}

impl Surroundings {
    /// From variables and the working directory; `named` is a folder of the command line and goes before all.
    pub fn of(
        named: Option<&Path>,
        cwd: Option<&Path>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Surroundings {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let session = SESSION.into_iter().find_map(set).and_then(|value| value.into_string().ok());
        let payments = PAYMENTS.into_iter().find_map(set).and_then(|value| value.into_string().ok());
        let told = PROJECT.into_iter().find_map(|name| Some((name, set(name)?)));
        let (from, folder) = match (named, told) {
            (Some(folder), _) => ("--project", folder.to_path_buf()),
            (None, Some((name, folder))) => (name, PathBuf::from(folder)),
            (None, None) => ("the working directory", cwd.unwrap_or(Path::new("")).to_path_buf()),
        };
        Surroundings { project: project(from, &folder, cwd), session, payments }
    }

    /// Of this process.
    pub fn of_process(named: Option<&Path>) -> Surroundings {
        let cwd = std::env::current_dir().ok();
        Surroundings::of(named, cwd.as_deref(), |name| std::env::var_os(name))
    }
}

/// A variable that was set wrong is said: the policy of another folder would answer for the wrong project.
fn project(from: &str, folder: &Path, cwd: Option<&Path>) -> Result<PathBuf, String> {
    let folder = match cwd {
        _ if folder.is_absolute() => folder.to_path_buf(),
        Some(cwd) => absolute(cwd, folder),
        None => return Err("the project is not known: there is no working directory".to_owned()),
    };
    match std::fs::canonicalize(&folder) {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(format!("{from} names `{}`, which is no folder", folder.display())),
        Err(error) => Err(format!("{from} names `{}`, which cannot be used: {error}", folder.display())),
    }
}

/// With what a server starts.
#[derive(Debug, Clone)]
pub struct Start {
    /// Our folders.
    pub folders: Folders,
    /// Project and session.
    pub surroundings: Surroundings,
    /// This policy instead of the user's and the project's.
    pub policy: Option<PathBuf>,
    /// What holds where no policy is.
    pub default: Default_,
    /// The label of the caller.
    pub label: Option<String>,
    /// The record of sessions that hooks keep; without one a session lasts as long as the process.
    pub record: Option<Record>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Surroundings {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        Surroundings::of(None, Some(Path::new("/usr")), find)
    }

    #[test]
    fn the_first_variable_that_is_set_counts() {
        let lib = std::fs::canonicalize("/usr/lib").unwrap();
        assert_eq!(of(&[]).project, Ok(PathBuf::from("/usr")));
        assert_eq!(of(&[("CLAUDE_PROJECT_DIR", "/")]).project, Ok(PathBuf::from("/")));
        let both = [("CLAUDE_PROJECT_DIR", "/"), ("AGENTLINT_PROJECT_DIR", "lib"), ("MCP_SESSION_ID", "m")];
        assert_eq!((of(&both).project, of(&both).session.as_deref()), (Ok(lib), Some("m")));
        let empty = [("AGENTLINT_SESSION_ID", ""), ("MCP_SESSION_ID", "m"), ("AGENTLINT_PROJECT_DIR", "")];
        assert_eq!((of(&empty).project, of(&empty).session.as_deref()), (Ok("/usr".into()), Some("m")));
        let named = Surroundings::of(Some(Path::new("/")), None, |_| Some("/usr".into()));
        assert_eq!(named.project, Ok(PathBuf::from("/")));
    }

    #[test]
    fn a_variable_that_is_wrong_is_named() {
        let wrong = of(&[("AGENTLINT_PROJECT_DIR", "${workspaceFolder}")]).project.unwrap_err();
        assert!(wrong.contains("AGENTLINT_PROJECT_DIR") && wrong.contains("workspaceFolder"), "{wrong}");
        assert!(of(&[("CLAUDE_PROJECT_DIR", "/etc/passwd")]).project.unwrap_err().contains("no folder"));
    }
}
