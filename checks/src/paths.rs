//! What a path says about a text: its language, and whether it is a test, a migration, a script, a page.
//!
//! INVARIANT: only whole parts of the path count (`latest/` is no test folder); nothing is looked up on disk.

/// A path in its parts.
pub(crate) struct Path<'a> {
    /// The folders, from the outside in.
    pub(crate) folders: Vec<&'a str>,
    /// The last part.
    pub(crate) name: &'a str,
    /// The last part up to its last dot, all of it when there is none.
    pub(crate) stem: &'a str,
    /// What is behind the last dot, in lower case.
    pub(crate) extension: String,
}

impl<'a> Path<'a> {
    pub(crate) fn new(path: &'a str) -> Path<'a> {
        let mut folders: Vec<&str> =
            path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
        let name = folders.pop().unwrap_or("");
        let (stem, extension) = match name.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => (stem, extension.to_ascii_lowercase()),
            _ => (name, String::new()),
        };
        Path { folders, name, stem, extension }
    }

    pub(crate) fn is(&self, extensions: &[&str]) -> bool {
        extensions.contains(&self.extension.as_str())
    }

    pub(crate) fn is_python(&self) -> bool {
        self.is(&["py", "pyw", "pyi"])
    }

    /// JavaScript and TypeScript in all their forms.
    pub(crate) fn is_script(&self) -> bool {
        self.is(&["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"])
    }

    /// May tags stand in its code?
    pub(crate) fn is_jsx(&self) -> bool {
        self.is(&["jsx", "tsx"])
    }

    /// Files that describe what a user sees.
    pub(crate) fn is_markup(&self) -> bool {
        self.is_jsx() || self.is_html()
    }

    /// Tags outside, code inside.
    pub(crate) fn is_html(&self) -> bool {
        self.is(&["html", "htm", "vue", "svelte", "astro"])
    }

    pub(crate) fn is_code(&self) -> bool {
        self.is_python()
            || self.is_script()
            || self.is(&[
                "go", "rs", "rb", "java", "kt", "kts", "scala", "swift", "c", "h", "cc", "cpp", "cxx", "hpp",
                "hh", "m", "mm", "cs", "fs", "php", "pl", "pm", "lua", "ex", "exs", "erl", "hs", "ml", "clj",
                "dart", "zig", "jl", "r", "sh", "bash", "zsh", "ps1", "vue", "svelte", "astro", "sql",
            ])
    }

    pub(crate) fn in_folder(&self, names: &[&str]) -> bool {
        self.folders.iter().any(|folder| names.iter().any(|name| folder.eq_ignore_ascii_case(name)))
    }

    /// A test or something that only tests use.
    pub(crate) fn is_test(&self) -> bool {
        let folder = |part: &&str| {
            let part = part.to_ascii_lowercase();
            matches!(
                part.as_str(),
                "test"
                    | "tests"
                    | "__tests__"
                    | "spec"
                    | "specs"
                    | "e2e"
                    | "testing"
                    | "testdata"
                    | "__mocks__"
                    | "cypress"
            ) || part.starts_with("test_")
                || part.ends_with("_test")
                || part.ends_with("_tests")
                || part.ends_with("-tests")
                || part.starts_with("spec_")
        };
        if self.folders.iter().any(folder) {
            return true;
        }
        let stem = self.stem.to_ascii_lowercase();
        stem == "conftest"
            || stem == "test"
            || stem == "tests"
            || stem.starts_with("test_")
            || stem.starts_with("test-")
            || stem.starts_with("spec_")
            || ["_test", "_tests", "_spec", ".test", ".tests", ".spec", ".cy", ".e2e", "-test", "-spec"]
                .iter()
                .any(|end| stem.ends_with(end))
            || (self.is(&["java", "kt", "cs", "scala", "php", "swift", "groovy"])
                && ["Test", "Tests", "Spec", "TestCase", "IT"].iter().any(|end| self.stem.ends_with(end)))
    }

    /// Settings of a tool, or what declares a project.
    fn is_config(&self) -> bool {
        let stem = self.stem.to_ascii_lowercase();
        stem.ends_with(".config")
            || stem.ends_with("rc")
            || stem.ends_with(".d")
            || [
                "config",
                "conf",
                "settings",
                "setup",
                "__init__",
                "conftest",
                "manage",
                "gulpfile",
                "gruntfile",
            ]
            .contains(&stem.as_str())
            || self.in_folder(&["config", "configs", "settings"])
    }

    /// A change of a database.
    pub(crate) fn is_migration(&self, more: &[&str]) -> bool {
        self.folders.iter().chain(std::iter::once(&self.stem)).any(|part| {
            let part = part.to_ascii_lowercase();
            part == "versions"
                || part
                    .split(['_', '-', '.'])
                    .any(|word| matches!(word, "migration" | "migrations" | "alembic" | "migrate"))
        }) || more.iter().any(|path| {
            let wanted: Vec<&str> =
                path.split('/').filter(|part| !part.is_empty() && *part != "*" && *part != "**").collect();
            !wanted.is_empty() && self.folders.windows(wanted.len()).any(|here| here == wanted.as_slice())
        })
    }

    /// A program to be run by hand: what it prints is its purpose.
    pub(crate) fn is_tool(&self) -> bool {
        self.in_folder(&[
            "scripts",
            "script",
            "bin",
            "tools",
            "tool",
            "examples",
            "example",
            "demo",
            "demos",
            "cli",
            "cmd",
            "benchmarks",
            "bench",
            "notebooks",
            "commands",
        ]) || matches!(
            self.stem.to_ascii_lowercase().as_str(),
            "cli" | "__main__" | "manage" | "setup" | "main_cli" | "cmd"
        )
    }

    /// A description of automatic builds.
    pub(crate) fn is_ci(&self) -> bool {
        self.in_folder(&[".github", ".gitlab", ".circleci", ".buildkite"])
            || matches!(
                self.name,
                ".gitlab-ci.yml"
                    | ".gitlab-ci.yaml"
                    | ".travis.yml"
                    | "azure-pipelines.yml"
                    | "azure-pipelines.yaml"
                    | "cloudbuild.yaml"
                    | "cloudbuild.yml"
                    | "bitbucket-pipelines.yml"
            )
            || self.name == "Jenkinsfile"
            || self.name.starts_with("Jenkinsfile.")
    }
}

/// Languages whose tests stand in files of their own.
const TESTED: [&str; 15] =
    ["py", "js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "go", "rb", "java", "kt", "cs", "php"];

/// The first file of code, when none of the changed files is a test.
pub fn without_test<'p>(changed: &[&'p str]) -> Option<&'p str> {
    let test = |path: &&str| {
        let path = Path::new(path);
        path.is_test() || path.name.to_ascii_lowercase().contains("test")
    };
    if changed.iter().any(test) {
        return None;
    }
    let code = |path: &&&str| {
        let path = Path::new(path);
        path.is(&TESTED) && !path.is_config() && !path.is_migration(&[])
    };
    changed.iter().find(code).copied()
}
