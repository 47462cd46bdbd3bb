//! Paths as text: from what a call or a command wrote to anchored, normalized names.
//!
//! INVARIANT: every reading of a spelling becomes a name (decoded escapes, backslashes, links followed), because the
//! strictest name holds; nothing here reads the disk but the resolver, and never for a network name.

use super::resolve::{Entry, EntryKind, Resolution, Resolver};
use super::spelling::{
    HOLE, NETWORK, as_windows, drive_of, escape_glob, file_url, has_drive, is_device_name, is_network_name,
    is_short_name, is_special, percent_decode, split, unescape_glob, with_dots, without_braces,
};
use crate::call::Places;
use policy_runtime::facts::{Form, PathName};
use policy_runtime::fold::fold;
use policy_runtime::glob::{Syntax, intersects};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Longest path that is understood, bytes.
pub const MAX_PATH_BYTES: usize = 8 * 1024;
/// Most names of one path.
const MAX_NAMES: usize = 24;
/// Most paths of one call that are looked up on disk.
const MAX_LOOKUPS: usize = 512;
/// Most names on disk that one pattern is compared with as links and folders.
const MAX_MATCHED: usize = 1024;
const LINKS: &str = "it could not be told where its links lead";

/// Where a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    Slash,
    Drive(char),
    /// `//host/share`.
    Network,
    /// The project, whose own place is not known.
    Project,
    /// The home, whose own place is not known.
    Home,
    /// Anywhere.
    Hole,
}

/// A place as its parts, dot segments still in it; glob characters of known text are escaped when it is a glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Raw {
    root: Root,
    segments: Vec<String>,
}

/// The names of one path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) names: Vec<PathName>,
    pub(crate) form: Form,
    /// Why it is not understood, when it is not.
    pub(crate) opaque: Option<String>,
}

impl Named {
    fn note(&mut self, why: &str) {
        if self.opaque.is_none() {
            self.opaque = Some(why.to_owned());
        }
    }
}

/// A folder in which a command runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Folder {
    pub(crate) name: PathName,
    /// It is the project or below it, as written and on disk.
    pub(crate) inside: bool,
    pub(crate) opaque: Option<String>,
}

struct Anchor {
    root: Root,
    segments: Vec<String>,
    sign: char,
}

/// Names paths of one call.
pub(crate) struct Namer<'a> {
    resolver: &'a dyn Resolver,
    resolve: bool,
    windows: bool,
    base: Raw,
    home: Option<Raw>,
    anchors: Vec<Anchor>,
    seen: RefCell<BTreeMap<PathBuf, Resolution>>,
}

impl<'a> Namer<'a> {
    pub(crate) fn new(places: &Places, resolver: &'a dyn Resolver, cwd: &Path) -> Namer<'a> {
        let mut namer = Namer {
            resolver,
            resolve: places.resolve_links,
            windows: places.windows,
            base: Raw { root: Root::Project, segments: Vec::new() },
            home: None,
            anchors: Vec::new(),
            seen: RefCell::new(BTreeMap::new()),
        };
        let cwd = namer.place(cwd);
        let project = places.project.as_deref().and_then(|path| namer.place(path)).or_else(|| cwd.clone());
        namer.home = places.home.as_deref().and_then(|path| namer.place(path));
        if let Some(base) = cwd.clone().or_else(|| project.clone()) {
            namer.base = base;
        }
        if let Some(project) = &project {
            // A host tells the folder as the user wrote it; the project is resolved. Both spellings are the project.
            if let Some(real) = cwd.as_ref().and_then(|cwd| namer.real(cwd))
                && real.root == project.root
                && let Some(below) = real.segments.strip_prefix(project.segments.as_slice())
                && let Some(spelled) = cwd.as_ref().and_then(|cwd| cwd.segments.strip_suffix(below))
                && !spelled.is_empty()
            {
                namer.anchors.push(Anchor { root: project.root, segments: spelled.to_vec(), sign: '.' });
            }
            namer
                .anchors
                .insert(0, Anchor { root: project.root, segments: project.segments.clone(), sign: '.' });
        }
        if let Some(home) = namer.home.clone() {
            if let Some(real) = namer.real(&home) {
                namer.anchors.push(Anchor { root: real.root, segments: real.segments, sign: '~' });
            }
            namer.anchors.push(Anchor { root: home.root, segments: home.segments, sign: '~' });
        }
        namer
    }

    /// Whether names are read as Windows reads them.
    pub(crate) fn is_windows(&self) -> bool {
        self.windows
    }

    /// Whether names are read as Windows reads them from here on; the answer is what held before.
    pub(crate) fn read_as_windows(&mut self, windows: bool) -> bool {
        std::mem::replace(&mut self.windows, windows)
    }

    /// The call's own folder.
    pub(crate) fn base(&self) -> &Raw {
        &self.base
    }

    /// A folder that is not known.
    pub(crate) fn nowhere() -> Raw {
        Raw { root: Root::Hole, segments: Vec::new() }
    }

    /// A folder given as text, from `base`.
    pub(crate) fn below(&self, base: &Raw, text: &str) -> Raw {
        self.locate(
            base,
            &text.replace('\\', if self.windows { "/" } else { "\\" }),
            Reading::of(self.windows, true),
        )
        .0
    }

    /// A folder given by an argument, from `base`.
    pub(crate) fn argument_folder(&self, base: &Raw, text: &str) -> Raw {
        let (text, _) = match file_url(text) {
            Some((mut texts, why)) => (texts.drain(..).next().unwrap_or_default(), why),
            None => (text.to_owned(), None),
        };
        self.locate(base, &text.replace('\\', "/"), Reading::of(true, true)).0
    }

    /// The folder's name for a command; the disk's name when links lead elsewhere.
    pub(crate) fn folder(&self, raw: &Raw) -> Folder {
        let lexical = self.lexical(raw);
        if lexical.root == Root::Hole {
            return Folder::default();
        }
        let mut folder =
            Folder { inside: self.inside(&lexical), name: self.views(&lexical, false), opaque: None };
        match self.look_up(raw, false) {
            Resolution::Same => {}
            Resolution::Unknown => {
                folder.opaque = Some(LINKS.to_owned());
                folder.inside = false;
            }
            Resolution::Other(path) => match self.place(&path) {
                Some(real) => {
                    let real = self.lexical(&real);
                    folder.inside &= self.inside(&real);
                    folder.name = self.views(&real, false);
                }
                None => folder.inside = false,
            },
        }
        folder
    }

    /// The names of a path that stands in an argument. `glob` when its key holds patterns.
    pub(crate) fn argument(&self, base: &Raw, text: &str, glob: bool) -> Named {
        let mut named = Named::default();
        if text.len() > MAX_PATH_BYTES {
            named.note(&format!("a path longer than {MAX_PATH_BYTES} bytes"));
            return named;
        }
        if text.contains(['\0', HOLE]) {
            named.note("a path with a control character in it");
            return named;
        }
        let glob = glob || text.contains(['*', '?']) && file_url(text).is_none();
        named.form = if glob { Form::Glob } else { Form::Exact };
        let mut texts: Vec<String> = Vec::new();
        for reading in self.readings(text, &mut named) {
            if !texts.contains(&reading) {
                texts.push(reading);
            }
        }
        let mut further = Vec::new();
        for text in texts.into_iter().take(MAX_NAMES) {
            let text = if glob { without_braces(&text) } else { text };
            let slashed = text.replace('\\', "/");
            let network = is_network_name(&text) || self.windows && slashed.starts_with("//");
            if network && !is_device_name(&text) && slashed.contains(|c| c != '/') {
                named.note(NETWORK);
                let segments = slashed.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect();
                push(
                    &mut named.names,
                    self.views(&self.lexical(&Raw { root: Root::Network, segments }), glob),
                );
                continue;
            }
            let slashed = match slashed.get(..4) {
                Some("//?/" | "//./") => slashed.get(4..).unwrap_or_default().to_owned(),
                _ => slashed,
            };
            let reading = Reading { tilde: true, drive: true, glob };
            self.name(base, &slashed, reading, &mut named, &mut further);
            if !self.windows {
                // SECURITY: here a backslash and a drive are ordinary letters of a file name, so that reading holds too.
                if let Some(cleaned) = as_windows(&slashed).filter(|_| !glob) {
                    self.name(base, &cleaned, reading, &mut named, &mut further);
                }
                if has_drive(&slashed) {
                    self.name(base, &slashed, Reading { drive: false, ..reading }, &mut named, &mut further);
                }
                if text != slashed && !glob {
                    self.name(base, &text, Reading { drive: false, ..reading }, &mut named, &mut further);
                }
            }
        }
        finish(&mut named, further);
        if glob {
            for view in named.names.iter_mut().flat_map(|name| &mut name.views) {
                *view = with_dots(view);
            }
        }
        named
    }

    /// The names of a word of a command. In a glob, known glob characters are escaped; `tilde` when a leading tilde
    /// stands for a home.
    pub(crate) fn word(&self, base: &Raw, text: &str, form: Form, tilde: bool) -> Named {
        let mut named = Named { form, ..Named::default() };
        let mut further = Vec::new();
        if text.contains('\0') {
            named.note("a word with a NUL in it");
            return named;
        }
        let reading = Reading { tilde, drive: self.windows, glob: form == Form::Glob };
        if self.windows && is_network_name(text) && !is_device_name(text) {
            named.note(NETWORK);
            let segments =
                text.split(['/', '\\']).filter(|segment| !segment.is_empty()).map(str::to_owned).collect();
            push(
                &mut named.names,
                self.views(&self.lexical(&Raw { root: Root::Network, segments }), reading.glob),
            );
            return named;
        }
        if let Some((paths, why)) = file_url(text) {
            for path in paths.iter().take(MAX_NAMES) {
                self.name(base, path, reading, &mut named, &mut further);
            }
            if let Some(why) = why {
                named.note(&why);
            }
        }
        self.name(base, text, reading, &mut named, &mut further);
        if reading.glob {
            let (raw, _) = self.locate(base, text, reading);
            self.matched_links(&raw, &mut named, &mut further);
        }
        if self.windows && !reading.glob {
            self.name(base, &text.replace('\\', "/"), reading, &mut named, &mut further);
        }
        finish(&mut named, further);
        if form == Form::Holes {
            // SECURITY: a hole may hold `/../`, so the path may be anywhere.
            push(&mut named.names, PathName { views: vec![HOLE.to_string()] });
        }
        named
    }

    /// Every text that a spelling may stand for, the likeliest first.
    fn readings(&self, text: &str, named: &mut Named) -> Vec<String> {
        let mut texts = match file_url(text) {
            Some((paths, why)) => {
                if let Some(why) = why {
                    named.note(&why);
                }
                paths
            }
            None => vec![text.to_owned()],
        };
        let trimmed = text.trim();
        if trimmed != text && file_url(text).is_none() {
            texts.push(trimmed.to_owned());
        }
        if trimmed.contains(['\n', '\r', ',']) {
            // Several names in one text.
            texts.extend(
                trimmed.split(['\n', '\r', ',']).map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned),
            );
        }
        let mut from = 0;
        for _ in 0..3 {
            let level: Vec<String> = texts.iter().skip(from).cloned().collect();
            from = texts.len();
            for text in level {
                match percent_decode(&text) {
                    None => {}
                    Some(Ok(text)) => texts.push(text),
                    Some(Err(why)) => named.note(why),
                }
            }
        }
        if texts.len() > MAX_NAMES || texts.iter().skip(from).any(|text| percent_decode(text).is_some()) {
            named.note("a path with too many readings");
        }
        texts
    }

    fn name(&self, base: &Raw, text: &str, reading: Reading, named: &mut Named, further: &mut Vec<PathName>) {
        let (raw, why) = self.locate(base, text, reading);
        if let Some(why) = why {
            named.note(why);
        }
        let lexical = self.lexical(&raw);
        if lexical.root == Root::Hole && named.form == Form::Exact {
            named.form = Form::Holes;
        }
        push(&mut named.names, self.views(&lexical, reading.glob));
        self.other_case(&lexical, reading.glob, further);
        self.linked(&raw, reading, named, further);
        if raw.segments.iter().any(|segment| segment == "..") {
            // SECURITY: the system takes `..` behind a link as the parent of its end, many programs remove it as text before
            // they open the file: then the links are those of what is left.
            self.linked(&lexical, reading, named, further);
        }
    }

    /// Where the links of a place lead.
    fn linked(&self, raw: &Raw, reading: Reading, named: &mut Named, further: &mut Vec<PathName>) {
        match self.look_up(raw, reading.glob) {
            Resolution::Same => {}
            Resolution::Unknown => named.note(LINKS),
            Resolution::Other(path) => match self.place(&path) {
                None => named.note(LINKS),
                Some(mut real) => {
                    if reading.glob {
                        real.segments = real.segments.iter().map(|segment| escape_glob(segment)).collect();
                    }
                    let fixed =
                        raw.segments.iter().take_while(|segment| !is_special(segment, reading.glob)).count();
                    real.segments.extend(raw.segments.iter().skip(fixed).cloned());
                    let real = self.lexical(&real);
                    push(further, self.views(&real, reading.glob));
                    self.other_case(&real, reading.glob, further);
                }
            },
        }
    }

    /// A pattern that the shell expands may match a link: where it leads is a name too.
    fn matched_links(&self, raw: &Raw, named: &mut Named, further: &mut Vec<PathName>) {
        let fixed = raw.segments.iter().take_while(|segment| !is_special(segment, true)).count();
        let Some(front) = self.front(raw, true).filter(|_| self.resolve) else { return };
        let front = match self.look_up(raw, true) {
            Resolution::Same => front,
            Resolution::Other(real) => real,
            Resolution::Unknown => return,
        };
        let (mut budget, mut waiting) = (MAX_MATCHED, vec![(front, fixed)]);
        while let Some((folder, at)) = waiting.pop() {
            let Some(pattern) = raw.segments.get(at) else { continue };
            let Some(entries) = self.resolver.entries(&folder) else { return named.note(LINKS) };
            let rest = raw.segments.get(at + 1..).unwrap_or_default();
            let known = rest.iter().take_while(|segment| !is_special(segment, true)).count();
            let more = known < rest.len();
            let may = |entry: &Entry| {
                (entry.kind == EntryKind::Link || entry.kind == EntryKind::Folder && !rest.is_empty())
                    && intersects(&escape_glob(&entry.name), pattern, Syntax::Path, true)
            };
            for entry in entries.iter().filter(|entry| may(entry)) {
                let Some(left) = budget.checked_sub(1) else { return named.note(LINKS) };
                budget = left;
                let mut path = folder.join(&entry.name);
                path.extend(rest.iter().take(known).map(|segment| unescape_glob(segment)));
                let end = match self.resolver.resolve(&path) {
                    Resolution::Same => path,
                    Resolution::Unknown => return named.note(LINKS),
                    Resolution::Other(real) => {
                        let Some(mut place) = self.place(&real) else { return named.note(LINKS) };
                        place.segments = place.segments.iter().map(|segment| escape_glob(segment)).collect();
                        place.segments.extend(rest.iter().skip(known).cloned());
                        push(further, self.views(&self.lexical(&place), true));
                        if further.len() > MAX_NAMES {
                            return named.note(LINKS);
                        }
                        real
                    }
                };
                if more {
                    waiting.push((end, at + 1 + known));
                }
            }
        }
    }

    /// An absolute path of this system as parts.
    fn place(&self, path: &Path) -> Option<Raw> {
        let text = path.to_str()?;
        let text = if self.windows { text.replace('\\', "/") } else { text.to_owned() };
        let text = match text.get(..4) {
            Some("//?/") if self.windows => text.get(4..)?.to_owned(),
            _ => text,
        };
        let (root, rest) = match text.strip_prefix('/') {
            Some(rest) => (Root::Slash, rest.to_owned()),
            None if has_drive(&text) => (Root::Drive(drive_of(&text)?), text.get(2..)?.to_owned()),
            None => return None,
        };
        let raw = Raw { root, segments: split(&rest, self.windows) };
        let lexical = self.lexical(&raw);
        (lexical.root != Root::Hole).then_some(lexical)
    }

    fn locate(&self, base: &Raw, text: &str, reading: Reading) -> (Raw, Option<&'static str>) {
        let escaped = |raw: &Raw| {
            let segments = if reading.glob {
                raw.segments.iter().map(|segment| escape_glob(segment)).collect()
            } else {
                raw.segments.clone()
            };
            Raw { root: raw.root, segments }
        };
        let mut why = None;
        let (mut raw, rest) = if let Some(rest) = text.strip_prefix('~').filter(|_| reading.tilde) {
            let (user, rest) = rest.split_once('/').unwrap_or((rest, ""));
            if user.is_empty() {
                let home = Raw { root: Root::Home, segments: Vec::new() };
                (escaped(self.home.as_ref().unwrap_or(&home)), rest)
            } else {
                why = Some("the home of another user is not known");
                (Namer::nowhere(), rest)
            }
        } else if let Some(rest) = text.strip_prefix('/') {
            // On Windows a leading slash is the root of the current drive.
            let root = match (self.windows, base.root) {
                (true, Root::Drive(letter)) => Root::Drive(letter),
                _ => Root::Slash,
            };
            (Raw { root, segments: Vec::new() }, rest)
        } else if reading.drive && has_drive(text) {
            let letter = drive_of(text).unwrap_or('C');
            (Raw { root: Root::Drive(letter), segments: Vec::new() }, text.get(2..).unwrap_or_default())
        } else if self.windows && drive_of(text).is_some() {
            why = Some("the current folder of the drive is not known");
            (Namer::nowhere(), text.get(2..).unwrap_or_default())
        } else if text.starts_with(HOLE) {
            (Namer::nowhere(), text)
        } else {
            (escaped(base), text)
        };
        let segments = split(rest, self.windows);
        if self.windows && segments.iter().any(|segment| is_short_name(segment)) {
            why = Some("a short Windows name may stand for another file");
        }
        raw.segments.extend(segments);
        (raw, why)
    }

    /// Dot segments removed as text.
    fn lexical(&self, raw: &Raw) -> Raw {
        let mut out = Raw { root: raw.root, segments: Vec::with_capacity(raw.segments.len()) };
        for segment in &raw.segments {
            match segment.as_str() {
                "" | "." => {}
                ".." => match out.segments.last() {
                    Some(last) if last.contains(HOLE) || last == "**" => {
                        // What lies above something unknown is unknown.
                        out.segments.clear();
                        out.root = Root::Hole;
                    }
                    Some(_) if out.root == Root::Network && out.segments.len() <= 2 => {}
                    Some(_) => {
                        out.segments.pop();
                    }
                    None if matches!(out.root, Root::Project | Root::Home) => out.root = Root::Hole,
                    None => {}
                },
                other => out.segments.push(other.to_owned()),
            }
        }
        out
    }

    fn below_anchor<'r>(&self, raw: &'r Raw, anchor: &Anchor, glob: bool) -> Option<&'r [String]> {
        if raw.root != anchor.root || anchor.segments.len() > raw.segments.len() {
            return None;
        }
        let same = anchor.segments.iter().zip(&raw.segments).all(|(a, b)| match (glob, self.windows) {
            (true, _) => *b == escape_glob(a),
            (false, true) => a.to_lowercase() == b.to_lowercase(),
            (false, false) => a == b,
        });
        if same { raw.segments.get(anchor.segments.len()..) } else { None }
    }

    /// A place that is below the project or home but for its case: on some disks it is there. That is a name of its own,
    /// so that refusals see it and no grant takes it for the place as written.
    fn other_case(&self, raw: &Raw, glob: bool, further: &mut Vec<PathName>) {
        let same = |anchor: &Anchor| {
            raw.root == anchor.root
                && anchor.segments.len() <= raw.segments.len()
                && anchor.segments.iter().zip(&raw.segments).all(|(a, b)| {
                    let plain = if glob { unescape_glob(b) } else { b.clone() };
                    fold(a) == fold(&plain)
                })
        };
        for anchor in &self.anchors {
            if self.below_anchor(raw, anchor, glob).is_none() && same(anchor) {
                let mut near = raw.clone();
                for (segment, known) in near.segments.iter_mut().zip(&anchor.segments) {
                    *segment = if glob { escape_glob(known) } else { known.clone() };
                }
                push(further, self.views(&near, glob));
            }
        }
    }

    fn inside(&self, raw: &Raw) -> bool {
        raw.root == Root::Project
            || self
                .anchors
                .iter()
                .any(|anchor| anchor.sign == '.' && self.below_anchor(raw, anchor, false).is_some())
    }

    fn views(&self, raw: &Raw, glob: bool) -> PathName {
        let joined = raw.segments.join("/");
        let behind = |sign: &str, rest: &str| match rest {
            "" => sign.to_owned(),
            rest => format!("{sign}/{rest}"),
        };
        let mut views = Vec::new();
        for anchor in &self.anchors {
            if let Some(rest) = self.below_anchor(raw, anchor, glob) {
                let view = behind(&anchor.sign.to_string(), &rest.join("/"));
                if !views.contains(&view) {
                    views.push(view);
                }
            }
        }
        views.push(match raw.root {
            Root::Slash => format!("/{joined}"),
            Root::Drive(letter) => format!("{letter}:/{joined}"),
            Root::Network => format!("//{joined}"),
            Root::Project => behind(".", &joined),
            Root::Home => behind("~", &joined),
            Root::Hole if joined.starts_with(HOLE) => joined,
            Root::Hole => behind("\u{1}", &joined),
        });
        PathName { views }
    }

    fn real(&self, raw: &Raw) -> Option<Raw> {
        match self.look_up(raw, false) {
            Resolution::Other(path) => self.place(&path),
            _ => None,
        }
    }

    /// Where the known front of a place leads.
    fn look_up(&self, raw: &Raw, glob: bool) -> Resolution {
        let Some(path) = self.front(raw, glob).filter(|_| self.resolve) else { return Resolution::Same };
        let mut seen = self.seen.borrow_mut();
        if let Some(known) = seen.get(&path) {
            return known.clone();
        }
        if seen.len() >= MAX_LOOKUPS {
            return Resolution::Unknown;
        }
        let answer = self.resolver.resolve(&path);
        seen.insert(path, answer.clone());
        answer
    }

    /// The known front of a place on this system.
    fn front(&self, raw: &Raw, glob: bool) -> Option<PathBuf> {
        let mut text = match raw.root {
            Root::Slash => String::new(),
            Root::Drive(letter) if self.windows => format!("{letter}:"),
            _ => return None,
        };
        for segment in raw.segments.iter().take_while(|segment| !is_special(segment, glob)) {
            text.push('/');
            if glob {
                text.push_str(&unescape_glob(segment));
            } else {
                text.push_str(segment);
            }
        }
        if text.is_empty() || text.ends_with(':') {
            text.push('/');
        }
        Some(PathBuf::from(text))
    }
}

/// How one text is read.
#[derive(Debug, Clone, Copy)]
struct Reading {
    tilde: bool,
    drive: bool,
    glob: bool,
}

impl Reading {
    fn of(drive: bool, tilde: bool) -> Reading {
        Reading { tilde, drive, glob: false }
    }
}

fn push(names: &mut Vec<PathName>, name: PathName) {
    if !names.contains(&name) {
        names.push(name);
    }
}

fn finish(named: &mut Named, further: Vec<PathName>) {
    for name in further {
        push(&mut named.names, name);
    }
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
