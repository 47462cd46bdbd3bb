//! One call in, one answer out: finds the layers that hold, makes facts for each, combines what they say.
//!
//! INVARIANT: a failure of ours refuses, with the true cause; more layers never make an answer less strict.

use crate::cache::now_ns;
use crate::combine::{at_least_ask, clean, combine, refusal, restrict, stale};
use crate::discover::{Found, MAX_STEPS, Search, standing};
use crate::feeds::Feeds;
use crate::layers::{Default_, Layer, Layers};
use crate::open::{self, Care};
use crate::past::{self, Asking, Counted, Entry, Keeper, Store};
use crate::paying::{self, Purse};
use crate::places::{Folders, absolute};
use crate::programs::TablePrograms;
use crate::session;
use crate::work::Compiler;
use policy_grammar::shell::program::{NoPrograms, Programs};
use policy_hosts::audit::Trail;
use policy_hosts::call::{Call, Places};
use policy_hosts::facts::{DiskResolver, FileText, NoResolver, Resolution, Resolver, extract, texts};
use policy_runtime::Context;
use policy_runtime::facts::{Facts, Form, PathFact, TextFact};
use policy_runtime::outside::Event;
use policy_runtime::verdict::{Decision, Finding, Severity, Verdict};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Most projects that one call may touch.
const MAX_PROJECTS: usize = 16;
/// Most paths of a call whose projects are looked for.
const MAX_TOUCHED: usize = 256;

/// Bytes of the files of a session that are read at the end of a turn.
const MOST_WRITTEN: usize = 8 << 20;

/// A folder below which nothing can lie.
const NO_PROJECT: &str = "/dev/null/no-project";

/// How an engine works.
#[derive(Debug, Clone)]
pub struct Options {
    /// `--policy FILE`: instead of the user's and the project's layers.
    pub policy: Option<PathBuf>,
    /// How the file of `--policy` is opened.
    pub care: Care,
    /// What holds where no layer exists.
    pub default: Default_,
    /// Remember where sessions started.
    pub sessions: bool,
    /// Keep compiled tables between processes.
    pub caching: bool,
    /// Look at links on disk.
    pub resolve_links: bool,
    /// Who compiles what no table is kept of.
    pub compiler: &'static dyn Compiler,
}

impl Options {
    /// For those who are no hook: no record that a session began.
    pub fn aside(policy: Option<PathBuf>, default: Default_) -> Options {
        Options {
            policy,
            care: Care::Private,
            default,
            sessions: false,
            caching: true,
            resolve_links: true,
            compiler: &crate::work::Here,
        }
    }
}

/// What a call gets.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The combined verdict.
    pub verdict: Verdict,
    /// What the call touches, as the built-in vocabulary of programs reads it.
    pub facts: Facts,
    /// The layers that were asked.
    pub layers: Vec<Rc<Layer>>,
    /// What the call was counted for.
    pub counted: Counted,
    /// What the line of audit says of a question to a person.
    pub trail: Trail,
}

impl Answer {
    /// Where a policy wants every ask on the approval page, that holds for asks of the product's own too.
    pub fn ask_where_it_says(&mut self) {
        let wanted = |layer: &Rc<Layer>| {
            let table = layer.table.as_ref().ok().and_then(|bytes| bytes.table().ok());
            table.is_some_and(|table| table.info().is_ok_and(|info| info.page_only))
        };
        if self.verdict.decision.without_host() == Decision::Ask
            && self.layers.iter().any(wanted)
            && let Some(first) = self.verdict.steps.first_mut()
        {
            first.page_only = true;
        }
    }
}

/// Decides calls.
#[derive(Debug)]
pub struct Engine {
    pub(crate) folders: Folders,
    pub(crate) options: Options,
    pub(crate) layers: Layers,
    search: Search,
    /// Who keeps what happened before.
    store: Option<&'static dyn Store>,
    /// It is only looked at.
    pub(crate) looking: bool,
    /// For the root it was made for: what is on a network is looked at only there and at home.
    resolver: (PathBuf, DiskResolver),
    /// What the file of the call holds, as its caller tells it.
    told: Option<String>,
}

/// Facts that were made for a layer.
struct Known {
    places: Places,
    layer: Rc<Layer>,
    facts: Facts,
    /// Whether its texts were made.
    texts: bool,
}

/// Where a call happens.
struct Scene {
    /// What `./` stands for in layers that are no project's.
    root: PathBuf,
    /// Folders from which projects are looked for.
    starts: BTreeSet<PathBuf>,
    /// Project folders that hold since the session began.
    held: BTreeSet<PathBuf>,
    /// What went wrong with the session's record.
    problem: Option<String>,
}

impl Engine {
    /// An engine over these folders.
    pub fn new(folders: Folders, options: Options) -> Engine {
        let layers = Layers::new(&folders, options.care, options.caching, options.compiler);
        let resolver = (PathBuf::new(), DiskResolver::default());
        Engine {
            folders,
            options,
            layers,
            search: Search::default(),
            store: None,
            looking: false,
            resolver,
            told: None,
        }
    }

    /// With a record of sessions that is looked at and not changed: calls are asked about, not made.
    #[must_use]
    pub fn looking_at(self, store: &'static dyn Store) -> Engine {
        Engine { store: Some(store), looking: true, ..self }
    }

    /// With a record of what happens in sessions.
    #[must_use]
    pub fn with_store(self, store: &'static dyn Store) -> Engine {
        Engine { store: Some(store), ..self }
    }

    /// The layers that hold in a folder.
    pub fn layers_at(&mut self, cwd: &Path) -> Vec<Rc<Layer>> {
        let call = Call { cwd: cwd.to_path_buf(), ..Call::default() };
        let scene = self.scene(&call);
        self.layers_of(&scene)
    }

    /// For processes that live on: looks at all files again with the next call.
    pub fn refresh(&mut self) {
        self.layers.refresh();
        self.search = Search::default();
    }

    /// Decides one call.
    pub fn decide(&mut self, call: &Call) -> Answer {
        self.decide_again(call, &Counted::default())
    }

    /// Decides one call that may have been counted before: what it was counted for stays as it was told, the rest is asked anew.
    pub fn decide_again(&mut self, call: &Call, counted: &Counted) -> Answer {
        match self.store {
            Some(store) => self.decide_paying(call, counted, store),
            None => self.decide_without(call, counted),
        }
    }

    /// Decides without a ledger of payments.
    pub(crate) fn decide_without(&mut self, call: &Call, counted: &Counted) -> Answer {
        self.decide_in(call, counted, None)
    }

    /// Decides inside of a check of a payment, or without one.
    pub(crate) fn decide_in(&mut self, call: &Call, counted: &Counted, purse: Option<Purse<'_>>) -> Answer {
        self.decide_once(call, counted, purse, true).0
    }

    pub(crate) fn decide_once(
        &mut self,
        call: &Call,
        counted: &Counted,
        purse: Option<Purse<'_>>,
        last: bool,
    ) -> (Answer, bool) {
        let _folders = open::remember_folders();
        let scene = self.scene(call);
        let mut asking = Asking::new(self.keeper(), self.entry(call, &scene))
            .with_feeds(Feeds::at(self.folders.config.join("feeds.json")))
            .with_purse(purse)
            .with_counted(counted);
        if matches!(self.keeper(), Keeper::Fresh) {
            asking = asking.with_nothing_paid(call);
        }
        let (mut answer, mut events) = self.judge(call, scene, &asking);
        // A page of a kept table was damaged: what it says is a refusal, but the policy is there to be compiled again.
        if self.layers.mend() {
            let scene = self.scene(call);
            (answer, events) = self.judge(call, scene, &asking);
        }
        if !last && asking.wants_ledger() && paying::pays(&answer.facts) {
            answer.counted = asking.counted();
            return (answer, true);
        }
        let denied = answer.verdict.decision == Decision::Deny;
        if let Some(cause) = asking.record(call, denied, events, &answer.facts) {
            at_least_ask(&mut answer.verdict, &format!("what the call does cannot be remembered: {cause}"));
        }
        self.suppress(&asking.entry, &mut answer.verdict);
        answer.ask_where_it_says();
        answer.counted = asking.counted();
        (answer, false)
    }

    /// Decides one call whose file holds this text now, whatever is on disk.
    pub fn decide_knowing(&mut self, call: &Call, file: String) -> Answer {
        self.told = Some(file);
        let answer = self.decide(call);
        self.told = None;
        answer
    }

    /// Makes the texts of a call that no table looked at, for the person who is asked about it.
    pub fn read_texts(&self, call: &Call, answer: &mut Answer) {
        if answer.facts.texts.is_empty() {
            answer.facts.texts = self.texts(call, &answer.facts);
        }
    }

    /// The record of a session as calls in a folder meet it; an empty name is the project's own session.
    pub fn session_at(&mut self, cwd: &Path, host: &str, session: &str) -> Entry {
        let call = Call {
            cwd: cwd.to_path_buf(),
            host: host.to_owned(),
            session: session.to_owned(),
            ..Call::default()
        };
        let scene = self.scene(&call);
        self.entry(&call, &scene)
    }

    /// Full names of the blocks of all layers that hold in a folder.
    pub fn rules_at(&mut self, cwd: &Path) -> BTreeSet<String> {
        let mut rules = BTreeSet::new();
        for layer in self.layers_at(cwd) {
            let Some(table) = layer.table.as_ref().ok().and_then(|bytes| bytes.table().ok()) else {
                continue;
            };
            let blocks = (0..table.blocks()).filter_map(|number| table.block(number).ok());
            rules.extend(blocks.map(|block| block.name.to_owned()));
        }
        rules
    }

    /// Whether no call of this tool is ever let through, whatever its arguments: a line of a guard denies the call itself, or
    /// the rule that answers for it grants nothing. A doubt is a no: a call that is made is decided then.
    pub fn never_allows(&mut self, call: &Call) -> bool {
        let answer = self.decide(call);
        let denying = answer.verdict.steps.iter().filter(|step| step.decision == Decision::Deny);
        let rules: BTreeSet<&str> = denying.map(|step| step.rule.as_str()).collect();
        answer.layers.iter().filter(|layer| layer.stale.is_none()).any(|layer| {
            let Some(table) = layer.table.as_ref().ok().and_then(|bytes| bytes.table().ok()) else {
                return false;
            };
            let blocks = (0..table.blocks()).filter_map(|number| table.block(number).ok());
            let mut own = blocks.filter(|block| rules.contains(block.name)).peekable();
            own.peek().is_some() && own.all(|block| table.always_denies(&block).unwrap_or(false))
        })
    }

    fn keeper(&self) -> Keeper<'static> {
        match self.store {
            // To look would make the record.
            Some(store) if self.looking => match past::record_file(&self.folders.state).exists() {
                true => Keeper::Looked(store),
                false => Keeper::Fresh,
            },
            _ if !self.options.sessions => Keeper::Fresh,
            Some(store) => Keeper::Store(store),
            None => Keeper::Nobody,
        }
    }

    fn entry(&self, call: &Call, scene: &Scene) -> Entry {
        let (tool, digest) = past::digests(call);
        Entry {
            state: self.folders.state.clone(),
            host: call.host.clone(),
            session: call.session.clone(),
            project: scene.root.to_string_lossy().into_owned(),
            tool,
            call: digest,
            now_ms: now_ns() / 1_000_000,
        }
    }

    /// Takes away the warnings and remarks of rules that a person does not want to see in this session.
    fn suppress(&self, entry: &Entry, verdict: &mut Verdict) {
        let hidable = |finding: &Finding| finding.severity < Severity::Error;
        let Some(store) = self.store else { return };
        if !verdict.findings.iter().any(hidable) || !past::record_file(&self.folders.state).exists() {
            return;
        }
        // What cannot be read hides nothing.
        let Ok(told) = store.told(entry) else { return };
        let steps = &verdict.steps;
        let asks = |rule: &str| steps.iter().any(|step| step.rule == rule && step.decision >= Decision::Ask);
        let hidden = |finding: &Finding| told.suppressed.contains(&finding.rule) && !asks(&finding.rule);
        verdict.findings.retain(|finding| !(hidable(finding) && hidden(finding)));
    }

    /// The end of a turn, with the files that the session wrote as they are now: rules look at what was left in them.
    fn written(&self, call: &Call, entry: &Entry) -> Option<Call> {
        let store = self.store.filter(|_| call.event == "stop" && self.options.sessions)?;
        if !self.options.resolve_links || !past::record_file(&self.folders.state).exists() {
            return None;
        }
        // What cannot be read tells of no file; a line that asks the record says why.
        let told = store.told(entry).ok()?;
        let mut left = MOST_WRITTEN;
        let mut files = Vec::new();
        for (path, _) in told.files.iter().take(MAX_TOUCHED) {
            let mut file = serde_json::Map::new();
            let text = match left {
                0 => FileText::Unknown,
                _ => self.resolver.1.text(Path::new(path)),
            };
            match text {
                FileText::Absent => continue,
                FileText::Text(text) => {
                    left = left.saturating_sub(text.len());
                    file.insert("content".to_owned(), text.into());
                }
                FileText::Unknown | FileText::Unread => {}
            }
            file.insert("file_path".to_owned(), path.as_str().into());
            files.push(serde_json::Value::Object(file));
        }
        if files.is_empty() {
            return None;
        }
        let mut call = Call { tool: "Write".to_owned(), ..call.clone() };
        if !call.arguments.is_object() {
            call.arguments = serde_json::Value::Object(serde_json::Map::new());
        }
        call.arguments.as_object_mut()?.insert("written".to_owned(), files.into());
        Some(call)
    }

    fn judge(&mut self, call: &Call, mut scene: Scene, asking: &Asking<'_>) -> (Answer, Vec<Event>) {
        self.resolver.1.forget();
        if self.options.resolve_links && self.resolver.0 != scene.root {
            let resolver = DiskResolver::new(&[&self.folders.home, &scene.root]);
            self.resolver = (scene.root.clone(), resolver);
        }
        let written = self.written(call, &asking.entry);
        let call = written.as_ref().unwrap_or(call);
        let always = self.layers.always();
        let places = self.places(&scene, &always);
        let facts = self.facts(call, &places, &always);
        let problem = self.touch(&facts, &mut scene);
        let layers = self.layers_of(&scene);
        // What is known of programs and where things are is mostly the same for all layers: then so are the facts.
        let mut known = vec![Known { places, layer: always, facts, texts: false }];
        let mut events = Vec::new();
        let verdicts = layers
            .iter()
            .map(|layer| self.ask(call, &scene, layer, &mut known, (asking, &mut events)))
            .collect();
        let mut verdict = combine(verdicts);
        let facts = known.swap_remove(0).facts;
        for cause in scene.problem.iter().chain(&problem) {
            at_least_ask(&mut verdict, cause);
        }
        (Answer { verdict, facts, layers, counted: Counted::default(), trail: Trail::default() }, events)
    }

    fn scene(&mut self, call: &Call) -> Scene {
        let cwd = absolute(Path::new("/"), &call.cwd);
        let here = self.search.standing_folder(&cwd).unwrap_or(cwd);
        let found = self.search.upward(&here, &self.folders.home);
        let mut scene =
            Scene { root: here.clone(), starts: BTreeSet::new(), held: BTreeSet::new(), problem: None };
        if self.options.policy.is_some() {
            scene.root = if self.counts_from_cwd() { here } else { found.git_root.unwrap_or(here) };
            return scene;
        }
        scene.root = self.root(&here, &found);
        scene.starts.insert(here.clone());
        if self.options.sessions && !call.session.is_empty() {
            let projects = projects_of(&found);
            match session::remember(&self.folders, (&call.host, &call.session), &here, &projects) {
                Ok(session) => {
                    if session.start != here && session.start.is_dir() {
                        let found = self.search.upward(&session.start, &self.folders.home);
                        scene.root = self.root(&session.start, &found);
                        scene.starts.insert(session.start.clone());
                    }
                    // Moved or removed: what was trusted of it, or of a folder above it, goes on restricting.
                    let lost = |at: &&Path| standing(at).is_none();
                    scene.held.extend(
                        session.start.ancestors().take(MAX_STEPS).take_while(lost).map(Path::to_path_buf),
                    );
                    scene.held.extend(session.projects);
                }
                Err(error) => scene.problem = Some(error.to_string()),
            }
        }
        scene
    }

    /// The seed counts `./` from the working directory.
    fn counts_from_cwd(&self) -> bool {
        let yaml = |path: &PathBuf| path.extension().is_some_and(|end| end == "yml" || end == "yaml");
        self.options.default == Default_::AgentFirewall || self.options.policy.as_ref().is_some_and(yaml)
    }

    /// SECURITY: only a trusted project or the git root widens `./` of the other layers: else a file put into a folder
    /// above would turn the user's `allow path "./**"` into more.
    fn root(&mut self, here: &Path, found: &Found) -> PathBuf {
        for file in &found.files {
            let Some(project) = file.parent() else { continue };
            if self.layers.project(project, file).iter().all(|layer| !layer.restricted && layer.table.is_ok())
            {
                return project.to_path_buf();
            }
        }
        found.git_root.clone().unwrap_or_else(|| here.to_path_buf())
    }

    fn layers_of(&mut self, scene: &Scene) -> Vec<Rc<Layer>> {
        let mut layers = self.layers.managed();
        match self.options.policy.clone() {
            Some(file) => layers.push(self.layers.named(&file)),
            None => {
                layers.extend(self.layers.user());
                layers.extend(self.project_layers(scene));
            }
        }
        // A restricted layer is not there for this: adding one must not take the default away.
        if layers.iter().all(|layer| layer.restricted) {
            layers.push(self.layers.default(self.options.default));
        }
        layers.push(self.layers.always());
        layers
    }

    fn project_layers(&mut self, scene: &Scene) -> Vec<Rc<Layer>> {
        let mut files: Vec<PathBuf> = Vec::new();
        let mut folders: BTreeSet<PathBuf> = scene.held.clone();
        for start in &scene.starts {
            let found = self.search.upward(start, &self.folders.home);
            files.extend(found.files.into_iter().filter(|file| !files.contains(file)).collect::<Vec<_>>());
            folders.extend(found.folders);
        }
        let mut layers = Vec::new();
        for file in &files {
            let Some(project) = file.parent() else { continue };
            folders.remove(project);
            layers.extend(self.layers.project(project, file));
        }
        // What held when the session began, or was trusted, holds on although its file is gone.
        for folder in folders {
            match self.search.upward(&folder, &self.folders.home).files.first() {
                Some(file) if file.parent() == Some(&folder) => {
                    layers.extend(self.layers.project(&folder, file))
                }
                _ => layers.extend(self.layers.gone(&folder)),
            }
        }
        layers
    }

    /// Adds the projects of the paths that the call touches.
    fn touch(&mut self, facts: &Facts, scene: &mut Scene) -> Option<String> {
        if self.options.policy.is_some() || !self.options.resolve_links {
            return None;
        }
        let mut projects = BTreeSet::new();
        for path in facts.paths.iter().take(MAX_TOUCHED).flat_map(folders_of) {
            // What cannot be told, or lies on a network, is not touched: the call is asked for it anyway.
            let path = match self.resolver.1.resolve(&path) {
                Resolution::Unknown => continue,
                Resolution::Other(end) => end,
                Resolution::Same => path,
            };
            let Some(folder) = self.search.standing_folder(&path) else { continue };
            let found = self.search.upward(&folder, &self.folders.home);
            projects.extend(projects_of(&found));
            scene.starts.insert(folder);
            if projects.len() > MAX_PROJECTS {
                return Some(format!("the call touches more than {MAX_PROJECTS} projects"));
            }
        }
        (facts.paths.len() > MAX_TOUCHED).then(|| format!("the call touches more than {MAX_TOUCHED} paths"))
    }

    fn places(&self, scene: &Scene, layer: &Layer) -> Places {
        Places {
            project: Some(layer.project.clone().unwrap_or_else(|| self.project_at(&scene.root))),
            home: Some(self.folders.home.clone()),
            resolve_links: self.options.resolve_links,
            windows: cfg!(windows),
        }
    }

    /// SECURITY: the root of the system is no project, and neither is the home or what holds it: `./**` would be
    /// everything. Without a project facts would take the folder of the call for one, so it is one that holds nothing.
    fn project_at(&self, root: &Path) -> PathBuf {
        let all = !self.counts_from_cwd() && (root.parent().is_none() || self.folders.home.starts_with(root));
        if all { PathBuf::from(NO_PROJECT) } else { root.to_path_buf() }
    }

    fn facts(&self, call: &Call, places: &Places, layer: &Layer) -> Facts {
        let table = layer.table.as_ref().ok().and_then(|bytes| bytes.table().ok());
        match table {
            Some(table) => self.extract(call, places, &TablePrograms::new(table)),
            None => self.extract(call, places, &NoPrograms),
        }
    }

    fn extract(&self, call: &Call, places: &Places, programs: &dyn Programs) -> Facts {
        if places.resolve_links {
            extract(call, places, programs, &self.resolver.1)
        } else {
            extract(call, places, programs, &NoResolver)
        }
    }

    fn texts(&self, call: &Call, facts: &Facts) -> Vec<TextFact> {
        if let Some(text) = &self.told {
            return texts(call, facts, &Told(text, &self.resolver.1));
        }
        if self.options.resolve_links {
            texts(call, facts, &self.resolver.1)
        } else {
            texts(call, facts, &NoResolver)
        }
    }

    fn ask(
        &self,
        call: &Call,
        scene: &Scene,
        layer: &Rc<Layer>,
        known: &mut Vec<Known>,
        (asking, events): (&Asking<'_>, &mut Vec<Event>),
    ) -> Verdict {
        let bytes = match &layer.table {
            Ok(bytes) => bytes,
            // SECURITY: the cause may quote a project's own words.
            Err(cause) if layer.restricted => {
                return refusal(&format!("the project's policy cannot be used: {}", clean(cause)));
            }
            Err(cause) => return refusal(&format!("the policy cannot be used: {cause}")),
        };
        let table = match bytes.table() {
            Ok(table) => table,
            Err(error) => return refusal(&format!("`{}`: {error}", layer.name)),
        };
        let places = self.places(scene, layer);
        let same = |known: &Known| {
            let other = known.layer.table.as_ref().ok().and_then(|bytes| bytes.table().ok());
            known.places == places && other.is_some_and(|other| table.knows_the_same_programs(&other))
        };
        let at = known.iter().position(same).unwrap_or_else(|| {
            let facts = self.extract(call, &places, &TablePrograms::new(table));
            known.push(Known { places, layer: layer.clone(), facts, texts: false });
            known.len() - 1
        });
        let Some(Known { facts, texts, .. }) = known.get_mut(at) else {
            return refusal("the facts of the call are lost");
        };
        // Files are read only for a table that looks at texts.
        if !*texts && table.looks_at_texts() {
            *texts = true;
            facts.texts = self.texts(call, facts);
        }
        let verdict = policy_runtime::decide_with(&table, facts, &Context { today: today() }, asking);
        if table.asks_the_past() {
            match policy_runtime::happened(&table, facts) {
                Ok(own) => events.extend(own),
                Err(error) => return refusal(&format!("`{}`: {error}", layer.name)),
            }
        }
        match &layer.stale {
            _ if layer.restricted => restrict(verdict),
            Some(cause) => stale(verdict, cause),
            None => verdict,
        }
    }
}

/// A disk on which the file of the call holds a text that was told.
struct Told<'t>(&'t str, &'t DiskResolver);

impl Resolver for Told<'_> {
    fn resolve(&self, path: &Path) -> Resolution {
        self.1.resolve(path)
    }

    fn text(&self, _path: &Path) -> FileText {
        FileText::Text(self.0.to_owned())
    }
}

/// The UTC day, days since the epoch.
pub fn today() -> i64 {
    now_ns().div_euclid(86_400 * 1_000_000_000)
}

fn projects_of(found: &Found) -> Vec<PathBuf> {
    found.files.iter().filter_map(|file| file.parent()).map(Path::to_path_buf).collect()
}

/// The absolute spellings of a path, up to the first segment that is not known.
fn folders_of(path: &PathFact) -> Vec<PathBuf> {
    let absolute = path.names.iter().flat_map(|name| &name.views).filter(|view| view.starts_with('/'));
    absolute
        .map(|view| match path.form {
            Form::Exact => PathBuf::from(view),
            Form::Glob | Form::Holes => {
                let known =
                    view.split('/').take_while(|part| !part.contains(['*', '?', '[', '{', '\u{1}', '\u{2}']));
                PathBuf::from(known.collect::<Vec<_>>().join("/"))
            }
        })
        .collect()
}

/// Whether a call does nothing but read, as far as its facts tell: no commands, and paths that are only read.
pub fn only_reads(facts: &Facts) -> bool {
    let read = |path: &PathFact| path.access.only_reads();
    facts.commands.is_empty()
        && facts.scripts.is_empty()
        && !facts.paths.is_empty()
        && facts.paths.iter().all(read)
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
