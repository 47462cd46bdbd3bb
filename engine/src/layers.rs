//! The tables that answer a call, one a layer.
//!
//! INVARIANT: a layer that cannot be opened, trusted or compiled is a layer that refuses, with the cause; it is never
//! left out. What a project's files say without trust only ever restricts.

use crate::cache::{Cache, Entry, Source};
use crate::compile::{self, Compilation, Fault, Kind};
use crate::discover;
use crate::open::{self, Care, FileError};
use crate::places::{Folders, shown};
use crate::reload::LastGood;
use crate::tabled::Tabled;
use crate::trust::{self, Record, Trust};
use crate::work::{Compiler, Work};
use policy_compiler::{Summary, ir};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

/// Which default holds where no layer exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Default_ {
    /// No opinion, the refusals of the std packs, and `std/readonly`.
    #[default]
    Std,
    /// `std/agent-firewall`.
    AgentFirewall,
}

/// One layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// What it is.
    pub kind: Kind,
    /// How people know it (`~/.config/policy/agent.policy`, `std/self`).
    pub name: String,
    /// The folder that `./` stands for, when it is not the call's project.
    pub project: Option<PathBuf>,
    /// Only its refusals count; its texts are cleaned.
    pub restricted: bool,
    /// What a person should know about it; empty when nothing.
    pub note: String,
    /// The table is an older one, because the present file cannot be used: what it allows is asked.
    pub stale: Option<String>,
    /// What is wrong with the present file, for the person who edits it.
    pub fault: Option<Rc<Fault>>,
    /// The table, or why there is none.
    pub table: Result<Rc<Tabled>, String>,
    /// The flat form and its counts, when it was compiled in this process.
    pub compiled: Option<Rc<(ir::Policy, Summary)>>,
}

/// A table with what it was compiled from, or why there is none.
struct Made {
    table: Result<Rc<Tabled>, String>,
    compiled: Option<Rc<(ir::Policy, Summary)>>,
    fault: Option<Rc<Fault>>,
}

fn ready(table: Tabled) -> Made {
    Made { table: Ok(Rc::new(table)), compiled: None, fault: None }
}

fn cached_table(entry: Entry) -> Made {
    ready(entry.table)
}

fn failed(error: &FileError) -> Made {
    let fault = Fault { message: error.to_string(), ..Fault::default() };
    Made { table: Err(error.to_string()), compiled: None, fault: Some(Rc::new(fault)) }
}

/// Makes layers; each once a process.
#[derive(Debug)]
pub struct Layers {
    folders: Folders,
    care: Care,
    cache: Option<Cache>,
    /// Root's tables beside the managed files.
    shared: Option<Cache>,
    made: BTreeMap<String, Rc<Layer>>,
    projects: BTreeMap<PathBuf, Vec<Rc<Layer>>>,
    kept: LastGood,
    /// What was kept before is used.
    caching: bool,
    compiler: &'static dyn Compiler,
}

impl Layers {
    /// Nothing made yet. Without `caching`, every table is compiled.
    pub fn new(folders: &Folders, care: Care, caching: bool, compiler: &'static dyn Compiler) -> Layers {
        let cache = caching.then(|| Cache::new(&folders.cache, care));
        let shared = caching.then(|| Cache::shared(&folders.managed.join("tables")));
        Layers {
            folders: folders.clone(),
            care,
            cache,
            shared,
            made: BTreeMap::new(),
            projects: BTreeMap::new(),
            kept: LastGood::default(),
            caching: true,
            compiler,
        }
    }

    fn once(&mut self, key: &str, make: impl FnOnce(&mut Layers) -> Layer) -> Rc<Layer> {
        if let Some(layer) = self.made.get(key) {
            return Rc::clone(layer);
        }
        let layer = make(self);
        let layer = self.kept.or_last(key, layer, Instant::now());
        self.made.insert(key.to_string(), Rc::clone(&layer));
        layer
    }

    /// Makes every table again that was found damaged only when it was used: from now on nothing is taken from the cache,
    /// and what is made replaces what is kept there. Whether there is any.
    pub fn mend(&mut self) -> bool {
        let hurt = |layer: &Rc<Layer>| layer.table.as_ref().is_ok_and(|table| table.damaged());
        let any = self.made.values().chain(self.projects.values().flatten()).any(hurt);
        if any && self.caching {
            self.caching = false;
            self.made.clear();
            self.projects.clear();
        } else {
            return false;
        }
        true
    }

    /// Looks at all files again with the next call; what was good is remembered for a while.
    pub fn refresh(&mut self) {
        self.kept.remember(std::mem::take(&mut self.made));
        self.projects.clear();
    }

    /// `std/self`, which is always on.
    pub fn always(&mut self) -> Rc<Layer> {
        self.once("always", |layers| layers.built_in("std/self", Kind::Always, compile::ALWAYS))
    }

    /// The default where no layer exists.
    pub fn default(&mut self, which: Default_) -> Rc<Layer> {
        let text = compile::default_text(which);
        self.once("default", |layers| layers.built_in("built-in default", Kind::BuiltIn, &text))
    }

    fn built_in(&mut self, name: &str, kind: Kind, text: &str) -> Layer {
        let key = format!("{}\n{name}\n{:016x}", compile::build(), policy_runtime::checksum(text.as_bytes()));
        // SECURITY: where root manages this machine, what holds the user's programs does not come from a folder that
        // they can write.
        let cache = if discover::is_managed(&self.folders) { &self.shared } else { &self.cache };
        if let Some(entry) = self.cached(cache, &key) {
            return layer(kind, name.to_string(), cached_table(entry));
        }
        layer(
            kind,
            name.to_string(),
            keep(cache, &key, self.compiler.compile(Work::Text { name, text, kind })),
        )
    }

    /// The managed layers.
    pub fn managed(&mut self) -> Vec<Rc<Layer>> {
        let files = match discover::managed(&self.folders) {
            Ok(files) => files,
            Err(error) => {
                return vec![Rc::new(layer(Kind::Managed, "/etc/policy".to_string(), failed(&error)))];
            }
        };
        let make = |file: &PathBuf| {
            let name = file.display().to_string();
            // SECURITY: never from the user's cache, which the user's programs can write.
            let key = format!("{}\nmanaged\n{file:?}", compile::build());
            self.once(&name.clone(), |layers| {
                if let Some(entry) = layers.cached(&layers.shared, &key) {
                    return layer(Kind::Managed, name, cached_table(entry));
                }
                let work = Work::File {
                    file,
                    care: Care::Private,
                    inside: None,
                    home: &layers.folders.home,
                    kind: Kind::Managed,
                    trusted: &mut |_| true,
                };
                let made = keep(&layers.shared, &key, layers.compiler.compile(work));
                layer(Kind::Managed, name, made)
            })
        };
        files.iter().map(make).collect()
    }

    /// The user's layer, when there is one.
    pub fn user(&mut self) -> Option<Rc<Layer>> {
        match discover::user(&self.folders) {
            Ok(file) => Some(self.whole(&file?, Kind::User, Care::Private)),
            // SECURITY: it may be there, so it is not left out.
            Err(error) => {
                let name = shown(&self.folders.user_policy(), &self.folders.home);
                Some(Rc::new(layer(Kind::User, name, failed(&error))))
            }
        }
    }

    /// The layer of `--policy FILE`: a policy, an `agent-firewall.yml`, or a compiled table.
    pub fn named(&mut self, file: &Path) -> Rc<Layer> {
        self.whole(file, Kind::Named, self.care)
    }

    /// A file that may loosen.
    fn whole(&mut self, file: &Path, kind: Kind, care: Care) -> Rc<Layer> {
        let name = shown(file, &self.folders.home);
        self.once(&format!("{kind:?} {file:?}"), |layers| {
            let made = layers.whole_table(file, kind, care);
            layer(kind, name, made)
        })
    }

    fn whole_table(&mut self, file: &Path, kind: Kind, care: Care) -> Made {
        // The path as `Debug` writes it: two names that are no text stay two.
        let key = format!("{}\n{kind:?}\n{file:?}", compile::build());
        if let Some(entry) = self.cached(&self.cache, &key) {
            return cached_table(entry);
        }
        if kind == Kind::Named {
            match compiled_table(file, care) {
                Ok(None) => {}
                Ok(Some(table)) => return ready(table),
                Err(error) => return failed(&error),
            }
        }
        let work =
            Work::File { file, care, inside: None, home: &self.folders.home, kind, trusted: &mut |_| true };
        keep(&self.cache, &key, self.compiler.compile(work))
    }

    /// The layers of a project's policy file: the file, and the trusted copy when the file is no longer that.
    pub fn project(&mut self, project: &Path, file: &Path) -> Vec<Rc<Layer>> {
        if let Some(layers) = self.projects.get(file) {
            return layers.clone();
        }
        let layers = self.make_project(project, file);
        self.projects.insert(file.to_path_buf(), layers.clone());
        layers
    }

    fn make_project(&mut self, project: &Path, file: &Path) -> Vec<Rc<Layer>> {
        let record = match trust::record(&self.folders, project) {
            Ok(record) => record,
            Err(error) => return vec![self.refusing(project, error)],
        };
        let key = |mode: &str| format!("{}\nproject {mode}\n{file:?}", compile::build());
        for mode in ["trusted", "restricted"] {
            let Some(entry) = self.cached(&self.cache, &key(mode)) else { continue };
            let stands = self.stands(record.clone(), project, file, &entry.sources);
            if (mode == "trusted") == (stands == Trust::Trusted) {
                return self.project_layers(project, file, cached_table(entry), stands);
            }
        }
        let mut stands = Trust::Untrusted;
        let mut trusted = |sources: &[Source]| {
            stands = self.stands(record.clone(), project, file, sources);
            stands == Trust::Trusted
        };
        let work = Work::File {
            file,
            care: Care::Private,
            inside: Some(project),
            home: &self.folders.home,
            kind: Kind::Project,
            trusted: &mut trusted,
        };
        let made = match self.compiler.compile(work) {
            Ok(made) => made,
            Err(error) => return vec![self.refusing(project, error)],
        };
        let mode = if stands == Trust::Trusted { "trusted" } else { "restricted" };
        let made = keep(&self.cache, &key(mode), Ok(made));
        self.project_layers(project, file, made, stands)
    }

    fn stands(&self, record: Option<Record>, project: &Path, file: &Path, sources: &[Source]) -> Trust {
        let name = file.strip_prefix(project).unwrap_or(file).to_string_lossy();
        trust::compare(record, &name, &closure_of(sources, project))
    }

    fn project_layers(&mut self, project: &Path, file: &Path, made: Made, stands: Trust) -> Vec<Rc<Layer>> {
        let name = shown(file, &self.folders.home);
        match stands {
            Trust::Trusted => vec![project_layer(project, name, made, false, "")],
            Trust::Untrusted => vec![project_layer(project, name, made, true, UNTRUSTED)],
            Trust::Changed(record) => {
                vec![self.copy(project, &record, COPY), project_layer(project, name, made, true, CHANGED)]
            }
        }
    }

    /// The trusted copy of a project whose file is gone, when there is one.
    pub fn gone(&mut self, project: &Path) -> Option<Rc<Layer>> {
        match trust::record(&self.folders, project) {
            Ok(None) => None,
            Ok(Some(record)) => Some(self.copy(project, &record, GONE)),
            Err(error) => Some(self.refusing(project, error)),
        }
    }

    fn copy(&mut self, project: &Path, record: &Record, note: &str) -> Rc<Layer> {
        let key = format!("{}\ncopy\n{project:?}\n{}", compile::build(), record.closure);
        let made = match self.cached(&self.cache, &key) {
            Some(entry) => cached_table(entry),
            None => {
                let work = Work::Copies {
                    project,
                    files: &record.files,
                    file: &project.join(&record.file),
                    home: &self.folders.home,
                };
                keep(&self.cache, &key, self.compiler.compile(work))
            }
        };
        let name = format!("{} as it was trusted", shown(&project.join(&record.file), &self.folders.home));
        project_layer(project, name, made, true, note)
    }

    fn cached(&self, cache: &Option<Cache>, key: &str) -> Option<Entry> {
        let entry = cache.as_ref().filter(|_| self.caching)?.get(key)?;
        entry.table.table().is_ok().then_some(entry)
    }

    fn refusing(&self, project: &Path, error: FileError) -> Rc<Layer> {
        project_layer(project, shown(project, &self.folders.home), failed(&error), true, "")
    }
}

const UNTRUSTED: &str = "not trusted, so only its refusals count; a person can run `policy trust`";
const CHANGED: &str = "changed since it was trusted, so nothing in it allows until a person trusts it again";
const COPY: &str = "goes on restricting until the changed file is trusted";
const GONE: &str = "its file is gone; what was trusted goes on restricting";

/// The table of a compilation, kept for the next process when it is good.
fn keep(cache: &Option<Cache>, key: &str, compiled: Result<(Compilation, Vec<Source>), FileError>) -> Made {
    let (made, sources) = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return failed(&error),
    };
    let table = made.usable();
    if let (Some(cache), Ok(table)) = (cache, &table) {
        // A cache that takes nothing costs time, not the answer.
        let _ = cache.put(key, table, &sources);
    }
    let summary = made.summary;
    Made {
        fault: table.is_err().then(|| Rc::new(made.fault())),
        table: table.map(|table| Rc::new(table.into())),
        compiled: made.policy.map(|policy| Rc::new((policy, summary))),
    }
}

fn layer(kind: Kind, name: String, made: Made) -> Layer {
    let Made { table, compiled, fault } = made;
    let note = String::new();
    Layer { kind, name, project: None, restricted: false, note, stale: None, fault, table, compiled }
}

fn project_layer(project: &Path, name: String, made: Made, restricted: bool, note: &str) -> Rc<Layer> {
    let mut layer = layer(Kind::Project, name, made);
    layer.project = Some(project.to_path_buf());
    layer.restricted = restricted;
    layer.note = note.to_string();
    Rc::new(layer)
}

/// A file that is a compiled table; none when it is something else.
fn compiled_table(file: &Path, care: Care) -> Result<Option<Tabled>, FileError> {
    let cap = open::MAX_FILE_BYTES;
    let table = Tabled::file(&mut open::open(file, care, cap)?, cap)?;
    if table.bytes().first() != policy_runtime::table::layout::MAGIC.first() {
        return Ok(None);
    }
    // What a person names is looked at whole while that is cheap, so that damage is told before it matters.
    match table.whole_table() {
        Ok(_) => Ok(Some(table)),
        Err(error) => Err(FileError::new(file, format!("cannot be used: {error}"))),
    }
}

fn closure_of(sources: &[Source], project: &Path) -> String {
    let files: Vec<(String, &str)> = sources
        .iter()
        .filter(|source| !source.sha256.is_empty())
        .map(|source| {
            let path = source.path.strip_prefix(project).unwrap_or(&source.path);
            (path.to_string_lossy().into_owned(), source.sha256.as_str())
        })
        .collect();
    trust::closure_hash(files.iter().map(|(path, sum)| (path.as_str(), *sum)))
}
