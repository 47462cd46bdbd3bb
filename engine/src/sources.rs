//! Reads a policy file and the files it uses.
//!
//! INVARIANT: everything that was read is recorded as a source, so a change of any of it is noticed; a project's `use`
//! stays inside the project, links included.

use crate::cache::Source;
use crate::discover;
use crate::open::{self, Care, FileError};
use crate::places::{absolute, shown};
use crate::trust::Copy;
use policy_grammar::source::{FileId, SourceMap};
use policy_grammar::yaml::agentlint::detected;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Largest text of one policy file, in bytes.
pub const MAX_SOURCE_BYTES: u64 = 16 * 1024 * 1024;
/// Largest text of all files of one policy.
const MAX_TOTAL_BYTES: u64 = MAX_SOURCE_BYTES;
/// Under what name a trust record keeps the packs that were found for a project.
pub(crate) const STACK: &str = "agentlint.yml (packs found)";
/// Most bytes of a file that only says what a project is made of.
const MAX_BESIDE_BYTES: u64 = 1024 * 1024;
/// The same for a project's: its tree needs a hundred times as much memory, and anyone may have written it.
const MAX_PROJECT_BYTES: u64 = 4 * 1024 * 1024;
/// Most files of one policy.
const MAX_FILES: usize = 256;

/// Where texts come from.
#[derive(Debug)]
enum Origin {
    /// The disk.
    Disk(Care),
    /// A trust record's copies.
    Copies(BTreeMap<PathBuf, String>),
}

/// Reads the files of one policy.
#[derive(Debug)]
pub struct Loader {
    origin: Origin,
    /// `use` may not leave this folder.
    inside: Option<PathBuf>,
    /// Names are shown relative to this folder.
    near: Option<PathBuf>,
    home: PathBuf,
    paths: BTreeMap<u32, PathBuf>,
    numbers: BTreeMap<PathBuf, FileId>,
    texts: Vec<(PathBuf, String)>,
    sources: Vec<Source>,
    read_bytes: u64,
}

impl Loader {
    /// Reads from the disk. With `inside`, a `use` stays below that folder, and names are shown relative to it.
    pub fn disk(care: Care, inside: Option<&Path>, home: &Path) -> Loader {
        Loader::new(Origin::Disk(care), inside, home)
    }

    /// Shows names relative to this folder.
    pub fn near(mut self, folder: &Path) -> Loader {
        self.near = Some(folder.to_path_buf());
        self
    }

    /// Reads the copies of a trust record of this project.
    pub fn copies(project: &Path, files: &[Copy], home: &Path) -> Loader {
        let files = files.iter().map(|file| (project.join(&file.path), file.text.clone())).collect();
        Loader::new(Origin::Copies(files), Some(project), home)
    }

    fn new(origin: Origin, inside: Option<&Path>, home: &Path) -> Loader {
        Loader {
            origin,
            inside: inside.map(Path::to_path_buf),
            near: inside.map(Path::to_path_buf),
            home: home.to_path_buf(),
            paths: BTreeMap::new(),
            numbers: BTreeMap::new(),
            texts: Vec::new(),
            sources: Vec::new(),
            read_bytes: 0,
        }
    }

    /// Reads the policy file itself; `name` is how people see it, when the path alone does not say it.
    ///
    /// # Errors
    /// When it cannot be read or is no text.
    pub fn main(
        &mut self,
        map: &mut SourceMap,
        path: &Path,
        name: Option<&str>,
    ) -> Result<FileId, FileError> {
        let name = name.map_or_else(|| self.name(path), str::to_string);
        self.read(map, path, name)
    }

    fn name(&self, path: &Path) -> String {
        match self.near.as_deref().and_then(|folder| path.strip_prefix(folder).ok()) {
            Some(relative) => relative.display().to_string(),
            None => shown(path, &self.home),
        }
    }

    fn read(&mut self, map: &mut SourceMap, path: &Path, name: String) -> Result<FileId, FileError> {
        if let Some(known) = self.numbers.get(path) {
            return Ok(*known);
        }
        if self.numbers.len() >= MAX_FILES {
            return Err(FileError::new(
                path,
                format!("is one more than the {MAX_FILES} files a policy may use"),
            ));
        }
        let text = match &self.origin {
            Origin::Disk(care) => {
                let most = if self.inside.is_some() { MAX_PROJECT_BYTES } else { MAX_TOTAL_BYTES };
                let left = most.saturating_sub(self.read_bytes);
                let (bytes, stamp) = open::read(path, *care, left).map_err(|mut error| {
                    if error.too_big && left < most {
                        error.why = format!("makes the policy larger than {most} bytes");
                    }
                    error
                })?;
                self.read_bytes += bytes.len() as u64;
                self.sources.push(Source::file(path, &bytes, stamp));
                text_of(path, bytes)?
            }
            Origin::Copies(files) => match files.get(path) {
                Some(text) => text.clone(),
                None => return Err(FileError::new(path, "is not among the trusted files")),
            },
        };
        let number = map.add(name, text.clone());
        self.paths.insert(number.0, path.to_path_buf());
        self.numbers.insert(path.to_path_buf(), number);
        self.texts.push((path.to_path_buf(), text));
        Ok(number)
    }

    /// Reads the files that a `use` names, relative to the file that uses them.
    ///
    /// # Errors
    /// One sentence on what is wrong.
    pub fn used(&mut self, map: &mut SourceMap, name: &str, from: FileId) -> Result<Vec<FileId>, String> {
        let Some(user) = self.paths.get(&from.0) else { return Err("only files use files".to_string()) };
        let folder = user.parent().unwrap_or(Path::new("/")).to_path_buf();
        let path = absolute(&folder, Path::new(name));
        if let Some(root) = self.inside.as_deref()
            && !path.starts_with(root)
        {
            return Err("a project uses only files of the project".to_string());
        }
        let files = if name.contains('*') { self.listed(&path)? } else { vec![path] };
        let mut numbers = Vec::with_capacity(files.len());
        for file in files {
            let shown = self.name(&file);
            numbers.push(self.read(map, &file, shown).map_err(|error| error.to_string())?);
        }
        Ok(numbers)
    }

    fn listed(&mut self, path: &Path) -> Result<Vec<PathBuf>, String> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        let pattern = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if folder.to_string_lossy().contains('*') {
            return Err("`*` stands only in the last part of a name".to_string());
        }
        match &self.origin {
            Origin::Disk(_) => {
                if let Some(stamp) = discover::folder_stamp(folder) {
                    self.sources.push(Source::folder(folder, stamp));
                }
                let files = discover::policies_in(folder, pattern).map_err(|error| error.to_string())?;
                if files.is_empty() {
                    return Err(format!("no file in `{}` matches", folder.display()));
                }
                Ok(files)
            }
            Origin::Copies(files) => Ok(files
                .keys()
                .filter(|file| file.parent() == Some(folder))
                .filter(|file| {
                    file.file_name().and_then(|n| n.to_str()).is_some_and(|n| discover::matches(pattern, n))
                })
                .cloned()
                .collect()),
        }
    }

    /// The packs for what the project is made of. The files that tell it are no part of the policy, and change often; what
    /// they tell is, so that no edit of theirs takes a pack out of a policy that was trusted with it.
    pub fn stack(&mut self, policy: &Path) -> Vec<String> {
        let recorded = match &self.origin {
            Origin::Disk(_) => None,
            Origin::Copies(files) => {
                let text = policy.parent().and_then(|folder| files.get(&folder.join(STACK)));
                Some(text.map(|text| text.lines().map(str::to_owned).collect()).unwrap_or_default())
            }
        };
        let packs: Vec<String> =
            recorded.unwrap_or_else(|| detected(&mut |name: &str| self.beside(policy, name)));
        let text = packs.join("\n");
        self.sources.push(Source::stack(&text));
        self.texts.push((PathBuf::from(STACK), text));
        packs
    }

    fn beside(&mut self, policy: &Path, name: &str) -> Option<String> {
        let path = policy.parent()?.join(name);
        for at in [policy.parent()?, path.as_path()] {
            if let Some(stamp) = discover::folder_stamp(at) {
                self.sources.push(Source::folder(at, stamp));
            }
        }
        let (bytes, _) = open::read(&path, Care::Named, MAX_BESIDE_BYTES).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// Everything that was read, the policy file first.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The texts as a trust record keeps them, relative to the project.
    pub fn to_copies(&self, project: &Path) -> Vec<Copy> {
        let relative =
            |path: &Path| path.strip_prefix(project).unwrap_or(path).to_string_lossy().into_owned();
        self.texts.iter().map(|(path, text)| Copy { path: relative(path), text: text.clone() }).collect()
    }
}

fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        FileError::new(path, format!("is not UTF-8 text (byte {at})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn reads_used_files_sorted_and_stays_inside() {
        let scratch = Scratch::new("sources");
        let root = scratch.folder("repo");
        let main = scratch.file("repo/agent.policy", "main");
        scratch.file("outside.policy", "x");
        scratch.file("repo/rules.d/b.policy", "b");
        scratch.file("repo/rules.d/a.policy", "a");
        let mut map = SourceMap::default();
        let mut loader = Loader::disk(Care::Private, Some(&root), Path::new("/nowhere"));
        let id = loader.main(&mut map, &main, None).unwrap();
        let used = loader.used(&mut map, "./rules.d/*.policy", id).unwrap();
        let names: Vec<&str> = used.iter().map(|id| map.file(*id).unwrap().name.as_str()).collect();
        assert_eq!(names, ["rules.d/a.policy", "rules.d/b.policy"]);
        assert!(loader.used(&mut map, "../outside.policy", id).is_err());
        assert!(loader.used(&mut map, "./none.policy", id).unwrap_err().contains("does not exist"));
        assert!(loader.used(&mut map, "./*/x.policy", id).is_err());
        assert_eq!(loader.sources().len(), 4);

        let copies = loader.to_copies(&root);
        let mut map = SourceMap::default();
        let mut again = Loader::copies(&root, &copies, Path::new("/nowhere"));
        let id = again.main(&mut map, &main, None).unwrap();
        assert_eq!(again.used(&mut map, "./rules.d/*.policy", id).unwrap().len(), 2);
    }

    #[test]
    fn refuses_a_link_out_and_text_that_is_none() {
        let scratch = Scratch::new("sources-bad");
        let root = scratch.folder("repo");
        let main = scratch.file("repo/agent.policy", "main");
        std::os::unix::fs::symlink("/etc/passwd", root.join("link.policy")).unwrap();
        let bad = root.join("bad.policy");
        std::fs::write(&bad, [b'a', 0xff]).unwrap();
        let mut map = SourceMap::default();
        let mut loader = Loader::disk(Care::Private, Some(&root), Path::new("/nowhere"));
        let id = loader.main(&mut map, &main, None).unwrap();
        assert!(loader.used(&mut map, "./link.policy", id).unwrap_err().contains("link"));
        assert!(loader.used(&mut map, "./bad.policy", id).unwrap_err().contains("UTF-8"));
    }
}
