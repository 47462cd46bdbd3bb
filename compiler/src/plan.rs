//! Every block of every file in the order in which it is asked, and the settings of the layer.
//!
//! INVARIANT: rules of the innermost project come first, then the file's own, then each `use` in order; what an
//! untrusted project could loosen never gets past this file.

mod before;
mod sets;

use crate::code::{Code, Sink};
use crate::expect::{Before, ExpectCase};
use crate::ir;
use crate::lists::{Lists, Quoted};
use crate::lower::{self, payment::Asset};
use crate::resolve::{Resolved, Unit, UnitKind, project_folders};
use policy_grammar::ast;
use policy_grammar::source::{FileId, Span, Spanned};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What an instance is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Body<'a> {
    /// A block.
    Block(&'a ast::Block),
    /// `default` inside a project: a last rule of it.
    Default(ast::Effect, Span),
}

/// Which lines of a block count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All.
    All,
    /// Only what can refuse (an untrusted rule).
    Refusals,
    /// The `only` lines of an untrusted rule, asked as a guard.
    OnlyLines,
}

/// One block at one place.
#[derive(Debug, Clone)]
pub(crate) struct Instance<'a> {
    /// Full name.
    pub(crate) name: String,
    /// The file.
    pub(crate) file: FileId,
    /// What it is made of.
    pub(crate) body: Body<'a>,
    /// What it is lowered to.
    pub(crate) kind: ir::BlockKind,
    /// Which lines count.
    pub(crate) part: Part,
    /// Project folders around it.
    pub(crate) folders: Vec<String>,
    /// What `set` says.
    pub(crate) set: Option<ast::Effect>,
    /// `severity` applies.
    pub(crate) severity: Option<ast::SeverityWord>,
    /// Its layer may loosen.
    pub(crate) trusted: bool,
    /// It belongs to the main file.
    pub(crate) own: bool,
    /// It belongs to the main file or to a user file that it uses.
    pub(crate) user: bool,
    /// `set` and exceptions do not reach it.
    pub(crate) always: bool,
}

impl Instance<'_> {
    /// Where its name stands.
    pub(crate) fn span(&self) -> Span {
        match self.body {
            Body::Block(block) => block.name.span,
            Body::Default(_, span) => span,
        }
    }
}

/// One `set`.
#[derive(Debug, Clone, Copy)]
struct SetItem<'a> {
    target: &'a ast::Text,
    to: &'a Spanned<ast::SetTo>,
}

/// Everything that is lowered.
#[derive(Debug, Default)]
pub(crate) struct Plan<'a> {
    /// Rules in the order in which they are asked.
    pub(crate) rules: Vec<Instance<'a>>,
    /// Guards.
    pub(crate) guards: Vec<Instance<'a>>,
    /// Exceptions.
    pub(crate) exceptions: Vec<Instance<'a>>,
    /// Names of guards that are set to off.
    pub(crate) off: BTreeSet<String>,
    /// `default`.
    pub(crate) default: Option<Spanned<ast::DefaultWord>>,
    /// `ask timeout`, seconds.
    pub(crate) ask_timeout: Option<Spanned<u64>>,
    /// `ask via`.
    pub(crate) ask_via: Option<Spanned<ast::AskPlace>>,
    /// `mode`.
    pub(crate) mode: Option<Spanned<ast::Mode>>,
    /// `severity`.
    pub(crate) severity: Option<Spanned<ast::SeverityWord>>,
    /// Tested calls.
    pub(crate) expects: Vec<ExpectCase>,
    /// Tokens by their name, one on each network.
    pub(crate) assets: BTreeMap<String, Vec<Asset>>,
    /// Addresses of payees by their name.
    pub(crate) payees: BTreeMap<String, Vec<String>>,
    sets: BTreeMap<&'a str, SetItem<'a>>,
    /// Names that are taken, each with the tools of the guards that share it.
    names: BTreeMap<(usize, Vec<String>, String), Taken<'a>>,
}

/// Where a name was taken first, and the tools of each guard that has it.
type Taken<'a> = (Span, Vec<Vec<&'a str>>);

/// What stands around an item.
struct Around<'a> {
    unit: usize,
    file: FileId,
    kind: UnitKind,
    prefix: &'a str,
    always: bool,
    trusted: bool,
    folders: Vec<String>,
    in_project: bool,
}

/// Puts everything in order.
pub(crate) fn plan<'a>(resolved: &'a Resolved, trusted: bool, sink: &mut Sink) -> Plan<'a> {
    let mut plan = Plan::default();
    for (number, unit) in resolved.units.iter().enumerate() {
        let around = Around {
            unit: number,
            file: unit.file,
            kind: unit.kind,
            prefix: &unit.prefix,
            always: unit.always,
            trusted: trusted || unit.always,
            folders: unit.folders.clone(),
            in_project: false,
        };
        if !around.trusted && unit.kind == UnitKind::Pack {
            only_guards(unit, sink);
        }
        plan.items(&resolved.lists, &unit.tree.items, &around, sink);
    }
    plan.rules.sort_by_key(|rule| {
        let key = rule.folders.iter().map(|f| depth(f)).max().unwrap_or_default();
        (Reverse(key), matches!(rule.body, Body::Default(..)))
    });
    plan.apply_sets(resolved, sink);
    let severity = plan.severity.as_ref().map(|s| s.node);
    for guard in plan.guards.iter_mut().filter(|g| !g.always) {
        guard.severity = severity;
    }
    plan
}

fn only_guards(unit: &Unit, sink: &mut Sink) {
    if let Some(used) = unit.used
        && unit.tree.items.iter().any(|i| matches!(i, ast::Item::Block(b) if b.kind == ast::BlockKind::Rule))
    {
        let name = unit.prefix.trim_end_matches('/');
        ignored(sink, format!("the rules of `{name}` are ignored"), used);
    }
}

fn ignored(sink: &mut Sink, message: String, span: Span) {
    sink.push(
        Code::UntrustedIgnored
            .warning(message, span, "ignored: this project is not trusted")
            .with_help("read the file, then run `policy trust`"),
    );
}

/// How far inside a folder lies: segments, then segments without wildcards.
fn depth(folder: &str) -> (usize, usize) {
    let segments: Vec<&str> = folder.split('/').skip(1).collect();
    (segments.len(), segments.iter().filter(|s| !s.contains(['*', '?'])).count())
}

/// A folder that lies in this project, for tests inside it.
fn sample(folder: &str) -> String {
    folder.trim_start_matches("./").replace(['*', '?'], "x")
}

impl<'a> Plan<'a> {
    fn items(&mut self, lists: &Lists, items: &'a [ast::Item], around: &Around<'a>, sink: &mut Sink) {
        for item in items {
            match item {
                ast::Item::Block(block) => self.block(block, around, sink),
                ast::Item::Project { folders, items, .. } => {
                    let folders = project_folders(lists, around.file, folders, &around.folders, sink);
                    if folders.is_empty() {
                        continue;
                    }
                    let inner = Around { folders, in_project: true, ..*around };
                    self.items(lists, items, &inner, sink);
                }
                ast::Item::Test(test) => self.test(lists, test, around, sink),
                ast::Item::Default { value, span } if around.in_project => {
                    self.project_default(value, *span, around, sink);
                }
                ast::Item::Default { value, span } => {
                    if self.may_set("default", *span, around, sink) {
                        once(&mut self.default, value, *span, "default", sink);
                    }
                }
                ast::Item::AskTimeout { seconds, span } => {
                    if self.may_set("ask timeout", *span, around, sink) {
                        once(&mut self.ask_timeout, seconds, *span, "ask timeout", sink);
                    }
                }
                ast::Item::AskVia { place, span } => {
                    // Trust is not needed: it only tightens.
                    let main = around.kind == UnitKind::Main && !around.in_project;
                    if main || self.may_set("ask via", *span, around, sink) {
                        once(&mut self.ask_via, place, *span, "ask via", sink);
                    }
                }
                ast::Item::Mode { value, span } => {
                    if self.may_set("mode", *span, around, sink) {
                        once(&mut self.mode, value, *span, "mode", sink);
                    }
                }
                ast::Item::Severity { value, span } => {
                    if self.may_set("severity", *span, around, sink) {
                        once(&mut self.severity, value, *span, "severity", sink);
                    }
                }
                ast::Item::Set { target, to, span, .. } => self.set(target, to, *span, around, sink),
                ast::Item::Asset { span, .. } if around.in_project => in_project("asset", *span, sink),
                // Trust is not needed: it is a name for the lines of this layer, and those only tighten.
                ast::Item::Asset { symbol, id, decimals, .. } => self.asset(symbol, id, decimals, sink),
                ast::Item::Payee { span, .. } if around.in_project => in_project("payee", *span, sink),
                // As with assets.
                ast::Item::Payee { name, addresses, .. } => {
                    let all = lists.patterns(around.file, addresses, sink);
                    self.payee(name, all, sink);
                }
                ast::Item::Program(program) if around.in_project => {
                    in_project("program", program.span, sink);
                }
                ast::Item::Program(program) if !around.trusted => {
                    ignored(sink, "knowledge of programs is ignored".to_owned(), program.span);
                }
                ast::Item::Secret { span, .. } if around.in_project => in_project("secret", *span, sink),
                ast::Item::Program(_)
                | ast::Item::List { .. }
                | ast::Item::Use { .. }
                | ast::Item::Secret { .. } => {}
            }
        }
    }

    fn asset(&mut self, symbol: &ast::Text, id: &ast::Text, decimals: &Spanned<u32>, sink: &mut Sink) {
        let asset = match lower::payment::asset(&id.node, decimals.node) {
            Ok(asset) => asset,
            Err((message, help)) => {
                return sink.push(Code::BadAsset.error(message, id.span, "no token").with_help(help));
            }
        };
        let network = |own: &Asset| own.id.split('/').next().unwrap_or_default().to_owned();
        let all = self.assets.entry(symbol.node.clone()).or_default();
        match all.iter().find(|own| network(own) == network(&asset)) {
            Some(own) if *own == asset => {}
            Some(_) => sink.push(
                Code::BadAsset
                    .error(format!("`{}` is another token already", symbol.node), symbol.span, "named before")
                    .with_help("give it a name of its own"),
            ),
            None => all.push(asset),
        }
    }

    fn payee(&mut self, name: &ast::Text, all: Vec<Quoted>, sink: &mut Sink) {
        if lower::payment::PAYEE_TESTS.contains(&name.node.as_str()) {
            return sink.push(
                Code::BadPayment
                    .error(format!("`{}` is a test of a payee", name.node), name.span, "not a name")
                    .with_help("give the payee another name"),
            );
        }
        if self.payees.contains_key(&name.node) {
            return sink.push(
                Code::BadPayment
                    .error(format!("payee `{}` exists twice", name.node), name.span, "named before")
                    .with_help("give it a name of its own, or write both addresses behind one name"),
            );
        }
        let mut own = Vec::new();
        for Quoted { text, span } in all {
            match lower::payment::address(&text) {
                Ok(address) => own.push(address.text().to_owned()),
                Err(bad) => sink.push(
                    Code::BadPayment
                        .error(format!("`{text}` is no address"), span, "cannot be")
                        .with_help(bad.to_string()),
                ),
            }
        }
        self.payees.insert(name.node.clone(), own);
    }

    /// Whether a setting of a file counts here; says why when not.
    fn may_set(&self, what: &str, span: Span, around: &Around<'_>, sink: &mut Sink) -> bool {
        if around.in_project {
            in_project(what, span, sink);
            return false;
        }
        match around.kind {
            UnitKind::Main if around.trusted => true,
            UnitKind::Pack => false,
            _ if !around.trusted => {
                ignored(sink, format!("`{what}` is ignored"), span);
                false
            }
            _ => {
                sink.push(
                    Code::SettingInUsedFile
                        .warning(
                            format!("`{what}` of a used file does not count"),
                            span,
                            "only the main file's counts",
                        )
                        .with_help("move it into the main file"),
                );
                false
            }
        }
    }

    fn project_default(
        &mut self,
        value: &Spanned<ast::DefaultWord>,
        span: Span,
        around: &Around<'a>,
        sink: &mut Sink,
    ) {
        let effect = match value.node {
            ast::DefaultWord::Deny => ast::Effect::Deny,
            ast::DefaultWord::Ask => ast::Effect::Ask,
            ast::DefaultWord::Allow => ast::Effect::Allow,
            ast::DefaultWord::Host => {
                sink.push(
                    Code::DefaultHostInProject
                        .error("a project cannot take an answer back", value.span, "no opinion is no answer")
                        .with_help("remove the line: what no rule of the project answers is asked of the file's own rules"),
                );
                return;
            }
        };
        if around.kind == UnitKind::Pack && !around.trusted {
            return;
        }
        if effect == ast::Effect::Allow && !around.trusted {
            ignored(sink, "`default allow` is ignored".to_owned(), span);
            return;
        }
        let name = format!("{}project-default", around.prefix);
        self.instance(name, Body::Default(effect, span), ir::BlockKind::Rule, Part::All, around);
    }

    fn block(&mut self, block: &'a ast::Block, around: &Around<'a>, sink: &mut Sink) {
        let name = format!("{}{}", around.prefix, block.name.node);
        let key = (around.unit, around.folders.clone(), block.name.node.clone());
        // One guard may be written once for each kind of tools; it is set and opened by its one name.
        let tools = block.scopes.on.as_ref().filter(|_| block.kind == ast::BlockKind::Guard);
        let tools: Vec<&str> = tools.iter().flat_map(|on| &on.names).map(name_text).collect();
        let (first, shared) = self.names.entry(key).or_insert_with(|| (block.name.span, Vec::new()));
        if *first != block.name.span
            && (tools.is_empty() || shared.iter().any(|s| s.is_empty() || *s == tools))
        {
            sink.push(
                Code::DuplicateBlock
                    .error(format!("two blocks are named `{}`", block.name.node), *first, "first here")
                    .with_label(block.name.span, "again here")
                    .with_help("give one of them another name"),
            );
            return;
        }
        shared.push(tools);
        let pack = around.kind == UnitKind::Pack;
        match block.kind {
            ast::BlockKind::Rule if !around.trusted && pack => {}
            ast::BlockKind::Rule => {
                let part = if around.trusted { Part::All } else { Part::Refusals };
                if part == Part::Refusals {
                    self.untrusted_rule(block, &name, around, sink);
                }
                self.instance(name.clone(), Body::Block(block), ir::BlockKind::Rule, part, around);
            }
            ast::BlockKind::Guard => {
                self.instance(name.clone(), Body::Block(block), ir::BlockKind::Guard, Part::All, around);
            }
            ast::BlockKind::Exception if !around.trusted => {
                ignored(sink, format!("exception `{}` is ignored", block.name.node), block.name.span);
            }
            ast::BlockKind::Exception => {
                self.instance(name.clone(), Body::Block(block), ir::BlockKind::Exception, Part::All, around);
            }
            ast::BlockKind::Assert => sink.push(
                Code::NotYetAssert
                    .error("this version cannot prove asserts", block.name.span, "not proved yet")
                    .with_help("write `expect` lines for the calls that matter"),
            ),
        }
        if !pack || around.unit == 0 {
            let dir = around.folders.first().map(|f| sample(f));
            for expect in &block.expects {
                self.expect(expect, around, None, (dir.clone(), &Rc::default()), Some(&name));
            }
        }
    }

    /// Says what of an untrusted rule is dropped; its `only` lines become a guard.
    fn untrusted_rule(&mut self, block: &'a ast::Block, name: &str, around: &Around<'a>, sink: &mut Sink) {
        for line in &block.lines {
            if line.verb.node == ast::Verb::Effect(ast::Effect::Allow) {
                ignored(sink, "`allow` is ignored".to_owned(), line.verb.span);
            }
        }
        if let Some(otherwise) = &block.otherwise
            && otherwise.effect.node == ast::Effect::Allow
        {
            ignored(sink, "`otherwise allow` is ignored".to_owned(), otherwise.span);
        }
        if block.lines.iter().any(|line| line.verb.node == ast::Verb::Only) {
            self.instance(name.to_owned(), Body::Block(block), ir::BlockKind::Guard, Part::OnlyLines, around);
        }
    }

    fn instance(
        &mut self,
        name: String,
        body: Body<'a>,
        kind: ir::BlockKind,
        part: Part,
        around: &Around<'a>,
    ) {
        let base = Instance {
            name,
            file: around.file,
            body,
            kind,
            part,
            folders: around.folders.clone(),
            set: None,
            severity: None,
            trusted: around.trusted,
            own: around.kind == UnitKind::Main,
            user: around.kind != UnitKind::Pack,
            always: around.always,
        };
        match kind {
            ir::BlockKind::Guard => self.guards.push(base),
            ir::BlockKind::Exception => self.exceptions.push(base),
            ir::BlockKind::Rule => {
                // ORDER: folders of one project that lie differently deep are asked at different times.
                let mut groups: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
                for folder in &base.folders {
                    groups.entry(depth(folder)).or_default().push(folder.clone());
                }
                if groups.len() <= 1 {
                    self.rules.push(base);
                } else {
                    for folders in groups.into_values() {
                        self.rules.push(Instance { folders, ..base.clone() });
                    }
                }
            }
        }
    }

    fn test(&mut self, lists: &Lists, test: &'a ast::Test, around: &Around<'a>, sink: &mut Sink) {
        let mut today = None;
        let mut before = Vec::new();
        let mut dir = around.folders.first().map(|f| sample(f));
        for given in &test.givens {
            match &given.node {
                ast::Given::Today(date) => today = Some(date.days_since_epoch()),
                ast::Given::Dir(path) => {
                    dir = Some(match &dir {
                        Some(folder) => format!("{folder}/{path}"),
                        None => path.clone(),
                    });
                }
                ast::Given::Session(past) => before::of(past, lists, around.file, sink, &mut before),
                ast::Given::File(_) => sink.push(
                    Code::NotYetGiven
                        .error("this version cannot set up a file", given.span, "not set up yet")
                        .with_help("`given session`, `given today` and `given dir` work"),
                ),
            }
        }
        if around.kind == UnitKind::Pack && around.unit != 0 {
            return;
        }
        let before: Rc<[Before]> = before.into();
        for expect in &test.expects {
            self.expect(expect, around, today, (dir.clone(), &before), None);
        }
    }

    fn expect(
        &mut self,
        expect: &ast::Expect,
        around: &Around<'_>,
        today: Option<i64>,
        (dir, before): (Option<String>, &Rc<[Before]>),
        block: Option<&str>,
    ) {
        if !around.trusted {
            return;
        }
        self.expects.push(ExpectCase {
            effect: expect.effect.clone(),
            tool: expect.tool.clone(),
            args: expect.args.clone(),
            from: expect.from.clone(),
            as_: expect.as_.clone(),
            by: expect.by.clone(),
            today,
            dir,
            before: Rc::clone(before),
            block: block.map(str::to_owned),
            span: expect.span,
            meant: Rc::default(),
        });
    }
}

fn in_project(what: &str, span: Span, sink: &mut Sink) {
    sink.push(
        Code::SettingInProject
            .error(format!("`{what}` counts for a whole file"), span, "inside a project")
            .with_help("move it out of the project"),
    );
}

fn once<T: Clone>(
    slot: &mut Option<Spanned<T>>,
    value: &Spanned<T>,
    span: Span,
    what: &str,
    sink: &mut Sink,
) {
    match slot {
        Some(first) => sink.push(
            Code::SettingTwice
                .error(format!("`{what}` is written twice"), first.span, "first here")
                .with_label(span, "again here")
                .with_help("remove one of them"),
        ),
        None => *slot = Some(Spanned { node: value.node.clone(), span }),
    }
}

fn name_text(name: &ast::NameRef) -> &str {
    match name {
        ast::NameRef::Bare(text) | ast::NameRef::Quoted(text) | ast::NameRef::Ref(text) => &text.node,
    }
}
