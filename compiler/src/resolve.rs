//! Which files belong to a policy, in which order, and inside which project folders.
//!
//! INVARIANT: `use` never makes a cycle, at most [`MAX_UNITS`] files and [`MAX_DEPTH`] levels are used, and every file is
//! taken once a project folder.

use crate::code::{Code, Sink};
use crate::lists::{Lists, TOOLS_PACK};
use crate::packs;
use crate::pattern::{braces, path};
use crate::text::nearest;
use policy_grammar::ast;
use policy_grammar::diagnostic::{Diagnostic, Level};
use policy_grammar::source::{FileId, SourceMap, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Files of one policy, each counted once a project folder that uses it.
pub(crate) const MAX_UNITS: usize = 256;
/// Levels of `use`.
pub(crate) const MAX_DEPTH: usize = 16;
/// What the names of the packs with the knowledge of programs begin with: they are always there.
pub(crate) const PROGRAMS_PACK: &str = "std/programs";

/// What a file is to the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// The file that was asked for.
    Main,
    /// A file it uses.
    User,
    /// A built-in pack.
    Pack,
}

/// One file at one place of the policy.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Its text.
    pub(crate) file: FileId,
    /// Its tree.
    pub(crate) tree: Rc<ast::File>,
    /// What it is.
    pub(crate) kind: UnitKind,
    /// What stands before the names of its blocks (`std/git/`); empty in the main file.
    pub(crate) prefix: String,
    /// Project folders around the `use`.
    pub(crate) folders: Vec<String>,
    /// Used by the engine itself: always on.
    pub(crate) always: bool,
    /// The `use` that brought it in, when one did.
    pub(crate) used: Option<Span>,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// The main file, then each `use` in order.
    pub(crate) units: Vec<Unit>,
    /// All lists.
    pub(crate) lists: Lists,
    /// Trees with `program` blocks, weakest last.
    pub(crate) programs: Vec<Rc<ast::File>>,
    /// Names of packs that do not exist.
    pub(crate) unknown: Vec<String>,
}

/// Reads the user files that a `use` names; gives their numbers, or one sentence on what is wrong.
pub type Load<'a> = dyn FnMut(&mut SourceMap, &str, FileId) -> Result<Vec<FileId>, String> + 'a;

/// Finds and parses every file of a policy.
pub(crate) struct Resolver<'a, 'b> {
    /// All texts.
    pub(crate) sources: &'a mut SourceMap,
    /// Gives user files.
    pub(crate) load: &'a mut Load<'b>,
    /// The layer may loosen.
    pub(crate) trusted: bool,
    /// Messages.
    pub(crate) sink: &'a mut Sink,
    /// Some text could not be parsed.
    pub(crate) broken: bool,
    out: Resolved,
    /// Files by name, and packs by name: a file never stands in for a pack that is called like it.
    parsed: BTreeMap<(bool, String), (FileId, Rc<ast::File>)>,
    seen: Vec<(FileId, Vec<String>)>,
}

impl<'a, 'b> Resolver<'a, 'b> {
    /// Starts with nothing.
    pub(crate) fn new(
        sources: &'a mut SourceMap,
        load: &'a mut Load<'b>,
        trusted: bool,
        sink: &'a mut Sink,
    ) -> Self {
        let (out, parsed, seen) = (Resolved::default(), BTreeMap::new(), Vec::new());
        Resolver { sources, load, trusted, sink, broken: false, out, parsed, seen }
    }

    /// Takes the main file and everything behind it.
    pub(crate) fn resolve(
        mut self,
        main: FileId,
        tree: Option<ast::File>,
        always: &[&str],
    ) -> (Resolved, bool) {
        let name = self.sources.file(main).map(|f| f.name.clone()).unwrap_or_default();
        let tree = match tree {
            Some(tree) => {
                self.broken |= tree.skipped;
                Rc::new(tree)
            }
            None => self.parse(main),
        };
        self.parsed.insert((false, name), (main, Rc::clone(&tree)));
        let mut open = Vec::new();
        self.unit(main, tree, UnitKind::Main, String::new(), Vec::new(), false, None, &mut open);
        for pack in always {
            if let Some((file, tree)) = self.pack(pack) {
                let prefix = format!("{pack}/");
                let mut open = vec![main];
                self.unit(file, tree, UnitKind::Pack, prefix, Vec::new(), true, None, &mut open);
            }
        }
        if let Some((file, tree)) = self.pack(TOOLS_PACK)
            && !self.out.units.iter().any(|u| u.file == file)
        {
            self.out.lists.add(file, Some(TOOLS_PACK), &tree.items, self.sink);
        }
        for (name, _) in packs::PACKS.iter().filter(|(name, _)| name.starts_with(PROGRAMS_PACK)) {
            if let Some((_, tree)) = self.pack(name) {
                self.out.programs.push(tree);
            }
        }
        (self.out, self.broken)
    }

    fn parse(&mut self, file: FileId) -> Rc<ast::File> {
        let text = self.sources.file(file).map(|f| f.text.as_str()).unwrap_or_default();
        let parsed = policy_grammar::parse(file, text);
        self.broken |= parsed.file.skipped || parsed.diagnostics.iter().any(|d| d.level == Level::Error);
        parsed.diagnostics.into_iter().for_each(|d| self.sink.push(d));
        Rc::new(parsed.file)
    }

    /// A built-in pack, parsed once.
    fn pack(&mut self, name: &str) -> Option<(FileId, Rc<ast::File>)> {
        if let Some((file, tree)) = self.parsed.get(&(true, name.to_owned())) {
            return Some((*file, Rc::clone(tree)));
        }
        let text = packs::pack(name)?;
        let file = self.sources.add(name, text);
        let tree = self.parse(file);
        self.parsed.insert((true, name.to_owned()), (file, Rc::clone(&tree)));
        Some((file, tree))
    }

    #[expect(clippy::too_many_arguments, reason = "one place of a file has that many properties")]
    fn unit(
        &mut self,
        file: FileId,
        tree: Rc<ast::File>,
        kind: UnitKind,
        prefix: String,
        folders: Vec<String>,
        always: bool,
        used: Option<Span>,
        open: &mut Vec<FileId>,
    ) {
        let place = (file, folders.clone());
        if self.seen.contains(&place) {
            return;
        }
        if !self.seen.iter().any(|(seen, _)| *seen == file) {
            let owner = prefix.strip_suffix('/').map(str::to_owned);
            self.out.lists.add(file, owner.as_deref(), &tree.items, self.sink);
            if tree.items.iter().any(|i| matches!(i, ast::Item::Program(_)))
                && (kind == UnitKind::Pack || self.trusted)
            {
                self.out.programs.push(Rc::clone(&tree));
            }
        }
        self.seen.push(place);
        if let Some(header) = &tree.header
            && header.language.node != 1
        {
            // The parser has said so already; a tree that was made by hand is refused here.
            self.sink.push(Diagnostic::error(
                policy_grammar::Code::UnsupportedLanguageVersion.as_str(),
                format!("language {} is unknown", header.language.node),
                header.language.span,
                "this program reads language 1",
            ));
        }
        self.out.units.push(Unit {
            file,
            tree: Rc::clone(&tree),
            kind,
            prefix,
            folders: folders.clone(),
            always,
            used,
        });
        open.push(file);
        self.uses(file, kind, &tree.items, &folders, always, open);
        open.pop();
    }

    fn uses(
        &mut self,
        file: FileId,
        kind: UnitKind,
        items: &[ast::Item],
        folders: &[String],
        always: bool,
        open: &mut Vec<FileId>,
    ) {
        for item in items {
            match item {
                ast::Item::Use { origins, .. } => {
                    for origin in origins {
                        self.origin(file, kind, origin, folders, always, open);
                    }
                }
                ast::Item::Project { folders: inner, items, .. } => {
                    // ORDER: what is wrong with the folders is told when the project itself is lowered.
                    let mut quiet = Sink::default();
                    let inner = project_folders(&self.out.lists, file, inner, folders, &mut quiet);
                    if !inner.is_empty() {
                        self.uses(file, kind, items, &inner, always, open);
                    }
                }
                _ => {}
            }
        }
    }

    fn origin(
        &mut self,
        from: FileId,
        kind: UnitKind,
        origin: &ast::Origin,
        folders: &[String],
        always: bool,
        open: &mut Vec<FileId>,
    ) {
        let span = match origin {
            ast::Origin::Pack(name) | ast::Origin::File(name) => name.span,
        };
        if open.len() >= MAX_DEPTH || self.out.units.len() >= MAX_UNITS {
            self.sink.push(
                Code::UseTooDeep
                    .error("too many files use each other", span, "not followed any more")
                    .with_help(format!(
                        "a policy has at most {MAX_UNITS} files and {MAX_DEPTH} levels of `use`"
                    )),
            );
            return;
        }
        match origin {
            ast::Origin::Pack(name) => match self.pack(&name.node) {
                Some((file, tree)) => {
                    if open.contains(&file) {
                        self.cycle(span, file);
                        return;
                    }
                    let prefix = format!("{}/", name.node);
                    self.unit(file, tree, UnitKind::Pack, prefix, folders.to_vec(), always, Some(span), open);
                }
                None => self.unknown_pack(name),
            },
            ast::Origin::File(name) => {
                if kind == UnitKind::Pack {
                    self.sink.push(
                        Code::UseFailed
                            .error("a built-in pack uses a file", span, "not a pack")
                            .with_help("packs use packs alone"),
                    );
                    return;
                }
                match (self.load)(self.sources, &name.node, from) {
                    Ok(files) => {
                        for file in files {
                            self.user_file(file, name, folders, open);
                        }
                    }
                    Err(why) => self.sink.push(
                        Code::UseFailed
                            .error(format!("`{}` cannot be used: {why}", name.node), span, "used here")
                            .with_help("the path is relative to the folder of this file"),
                    ),
                }
            }
        }
    }

    fn user_file(&mut self, file: FileId, used: &ast::Text, folders: &[String], open: &mut Vec<FileId>) {
        let name = self.sources.file(file).map(|f| f.name.clone()).unwrap_or_default();
        let (file, tree) = match self.parsed.get(&(false, name.clone())) {
            Some((file, tree)) => (*file, Rc::clone(tree)),
            None => {
                let tree = self.parse(file);
                self.parsed.insert((false, name.clone()), (file, Rc::clone(&tree)));
                (file, tree)
            }
        };
        if open.contains(&file) {
            self.cycle(used.span, file);
            return;
        }
        if self.out.units.len() >= MAX_UNITS {
            self.sink.push(
                Code::UseTooDeep
                    .error("too many files use each other", used.span, "not followed any more")
                    .with_help(format!("a policy has at most {MAX_UNITS} files")),
            );
            return;
        }
        let own = tree.header.as_ref().map(|h| h.name.node.clone()).unwrap_or_else(|| name.clone());
        let reserved = own == "std" || own.starts_with("std/");
        let prefix = if !reserved {
            format!("{own}/")
        } else if self.trusted {
            let span = tree.header.as_ref().map_or(used.span, |h| h.name.span);
            self.sink.push(
                Code::ReservedName
                    .error(format!("`{own}` is the name of a built-in pack"), span, "reserved")
                    .with_label(used.span, "used here")
                    .with_help("give the file a name that does not begin with `std/`"),
            );
            return;
        } else {
            let span = tree.header.as_ref().map_or(used.span, |h| h.name.span);
            self.sink.push(
                Code::UntrustedIgnored
                    .warning("a built-in pack is not redefined by an untrusted project", span, "name ignored")
                    .with_help("give the file a name that does not begin with `std/`"),
            );
            format!("{name}/")
        };
        let same = |u: &&Unit| u.file != file && u.kind == UnitKind::User && u.prefix == prefix;
        if let Some(other) = self.out.units.iter().find(same) {
            let span = |tree: &ast::File| tree.header.as_ref().map_or(used.span, |h| h.name.span);
            self.sink.push(
                Code::DuplicatePolicy
                    .error(format!("two used files are named `{own}`"), span(&other.tree), "first here")
                    .with_label(span(&tree), "again here")
                    .with_help("the name stands before the names of its blocks; give one file another"),
            );
            return;
        }
        self.unit(file, tree, UnitKind::User, prefix, folders.to_vec(), false, Some(used.span), open);
    }

    fn cycle(&mut self, span: Span, file: FileId) {
        let name = self.sources.file(file).map(|f| f.name.clone()).unwrap_or_default();
        self.sink.push(
            Code::UseCycle
                .error(format!("`{name}` uses itself"), span, "closes the circle")
                .with_help("remove one `use` of the circle, or move what both need into a third file"),
        );
    }

    fn unknown_pack(&mut self, name: &ast::Text) {
        let names = packs::PACKS.iter().map(|(n, _)| *n);
        let error =
            Code::UnknownPack.error(format!("no pack is named `{}`", name.node), name.span, "not a pack");
        let help = match nearest(&name.node, names) {
            Some(near) => format!("write `{near}`"),
            None if packs::PACKS.is_empty() => "this build has no packs".to_owned(),
            None => {
                let all: Vec<String> = packs::offered().map(|name| format!("`{name}`")).collect();
                format!("the packs are {}; your own files are used as `\"./name.policy\"`", all.join(", "))
            }
        };
        self.sink.push(error.with_help(help));
        self.out.unknown.push(name.node.clone());
    }
}

/// The folders of a project, those around it in front. Each begins with `./`.
pub(crate) fn project_folders(
    lists: &Lists,
    file: FileId,
    list: &ast::List,
    around: &[String],
    sink: &mut Sink,
) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for entry in lists.patterns(file, list, sink) {
        let folders = crate::pattern::check(&entry.text)
            .and_then(|()| braces::expand(&entry.text))
            .and_then(|all| all.iter().map(|s| path::normal(s)).collect::<Result<Vec<_>, _>>());
        match folders {
            Ok(folders) => {
                for folder in folders {
                    let folder = folder.strip_suffix("/**").unwrap_or(&folder).to_owned();
                    if folder.starts_with("./") && !folder.contains("**") {
                        out.extend(path::placed(&folder, around));
                    } else {
                        sink.push(
                            Code::ProjectFolder
                                .error(
                                    "a project names folders below this one",
                                    entry.span,
                                    "not such a folder",
                                )
                                .with_help(
                                    "write `./services/billing`, or `./services/*` for each folder in it",
                                ),
                        );
                    }
                }
            }
            Err(problem) => sink.push(problem.diagnostic(&entry.text, entry.span)),
        }
    }
    out.sort();
    out.dedup();
    out
}
