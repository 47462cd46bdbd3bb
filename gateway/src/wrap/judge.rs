//! Who decides: the engine on a thread of its own, and the line of audit before a call goes.
//!
//! INVARIANT: questions are decided one after the other, with the files as they are then; a call is let go only when its line is
//! written, or it only reads. When the thread is gone everything is denied.

mod results;

use crate::mcp::sessions::Record;
use crate::wrap::ask::{Person, Said};
use crate::wrap::gate::{Asked, Form};
use crate::wrap::given::Given;
use crate::wrap::inside::Begin;
use crate::wrap::listed::Listed;
use crate::wrap::notice::{AGAIN, Notices, Told};
use crate::wrap::pinned::{Page, Pinned};
use crate::wrap::question;
use policy_engine::cache::now_ns;
use policy_engine::combine::{at_least_ask, step};
use policy_engine::decide::{Answer, Engine, Options};
use policy_engine::layers::Layer;
use policy_engine::open::{Care, Remembered, remember_folders};
use policy_engine::past::Counted;
use policy_engine::places::Folders;
use policy_engine::record::record;
use policy_hosts::audit::Trail;
use policy_hosts::call::Call;
use policy_hosts::reply::{self, for_model};
use policy_runtime::verdict::{Decision, Step};
use serde_json::Value;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Stack of the thread, bytes: what the main thread of a hook has.
const STACK: usize = 8 * 1024 * 1024;
/// How long files are taken for unchanged.
const FRESH: Duration = Duration::from_millis(50);

/// With what the engine works.
pub(crate) struct Setting {
    pub(crate) folders: Folders,
    pub(crate) options: Options,
    pub(crate) store: Option<Record>,
    pub(crate) audit: PathBuf,
    /// How the file of audit is opened: one that was named is the person's own.
    pub(crate) care: Care,
    /// Let everything through and record what would have held.
    pub(crate) observe: bool,
    /// What all calls have in common.
    pub(crate) frame: Call,
    /// Who approves.
    pub(crate) person: Arc<dyn Person>,
    /// What questions have in common.
    pub(crate) asker: question::Asker,
    /// What is pinned of the server.
    pub(crate) pinned: Pinned,
    /// Where it is said that the client should list the tools again.
    pub(crate) changes: Sender<()>,
}

/// What becomes of a request.
#[derive(Debug, Clone)]
pub(crate) enum Ruling {
    /// With the request when its answer is looked at.
    Go(Option<Box<Asked>>),
    Deny(String),
    /// A person decides.
    Ask(Box<Question>),
}

/// What a person is asked.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) asked: Asked,
    /// As the person sees it.
    pub(crate) shown: policy_approvals::Question,
    /// Why, for a model.
    pub(crate) reason: String,
    /// What the call was counted for.
    pub(crate) counted: Counted,
}

enum Work {
    /// With what the call was counted for when it was asked about.
    Decide(Asked, Option<Counted>, Sender<Ruling>),
    /// A person said something: decides again.
    Again(Box<Question>, Said, Sender<Ruling>),
    /// What was given back.
    Given(Option<Asked>, Value, Sender<Given>),
    List(Page, Sender<Result<Vec<bool>, String>>),
    Begins(Begin, Sender<bool>),
    /// The client hears of changes.
    Hears,
}

/// The way to the thread.
#[derive(Clone)]
pub(crate) struct Judge {
    sender: Sender<Work>,
}

impl Judge {
    /// Starts the thread. Nothing is opened before the first question.
    pub(crate) fn start(setting: Setting) -> std::io::Result<Judge> {
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new().name("policy-judge".to_owned()).stack_size(STACK);
        thread.spawn(move || work(setting, &receiver))?;
        Ok(Judge { sender })
    }

    /// Decides a request.
    pub(crate) fn decide(&self, asked: Asked) -> Ruling {
        self.rule(|back| Work::Decide(asked, None, back))
    }

    /// Decides a request that was asked about before.
    pub(crate) fn decide_once_more(&self, asked: Asked, counted: Counted) -> Ruling {
        self.rule(|back| Work::Decide(asked, Some(counted), back))
    }

    /// Decides again what a person was asked about.
    pub(crate) fn again(&self, question: Box<Question>, said: Said) -> Ruling {
        self.rule(|back| Work::Again(question, said, back))
    }

    /// What becomes of what a request of before gave back; none: it is not known which.
    pub(crate) fn given(&self, asked: Option<Asked>, output: Value) -> Given {
        let (back, answer) = channel();
        let sent = self.sender.send(Work::Given(asked, output, back));
        let gone =
            || Given::Withheld("policy: the deciding thread has failed; restart the server".to_owned());
        sent.ok().and_then(|()| answer.recv().ok()).unwrap_or_else(gone)
    }

    /// Which of the tools of this page are hidden: those that are never let through, and those that are not as they were pinned.
    pub(crate) fn list(&self, page: Page) -> Result<Vec<bool>, String> {
        let (back, answer) = channel();
        let count = page.tools.len();
        let sent = self.sender.send(Work::List(page, back));
        // They stay in the list, where a call is denied.
        sent.ok().and_then(|()| answer.recv().ok()).unwrap_or_else(|| Ok(vec![false; count]))
    }

    /// Notes that the client hears when the list of tools changes.
    pub(crate) fn hears(&self) {
        // A thread that is gone says so with the next call.
        let _ = self.sender.send(Work::Hears);
    }

    /// Notes how the server begins; whether its instructions are withheld.
    pub(crate) fn begins(&self, begin: Begin) -> bool {
        let (back, answer) = channel();
        let some = begin.instructions.is_some();
        let sent = self.sender.send(Work::Begins(begin, back));
        sent.ok().and_then(|()| answer.recv().ok()).unwrap_or(some)
    }

    fn rule(&self, work: impl FnOnce(Sender<Ruling>) -> Work) -> Ruling {
        let (back, answer) = channel();
        let sent = self.sender.send(work(back));
        let gone = || {
            Ruling::Deny(
                "policy: the deciding thread has failed, which is a bug; restart the server".to_owned(),
            )
        };
        sent.ok().and_then(|()| answer.recv().ok()).unwrap_or_else(gone)
    }
}

struct Worker {
    setting: Setting,
    engine: Option<Engine>,
    /// For lists of tools: it asks and records nothing.
    lister: Option<Engine>,
    looked: Option<Instant>,
    /// Folders that were looked at since then are not looked at again.
    folders: Option<Remembered>,
    notices: Notices,
    /// What is told of pins.
    told: Told,
    listed: Listed,
    /// How many calls a person was asked about.
    asked: u64,
    /// The policies that held last, and whether they look at what is given back.
    looks: (Vec<Rc<Layer>>, bool),
}

fn work(setting: Setting, questions: &Receiver<Work>) {
    let mut worker = Worker {
        told: Told::new(setting.observe),
        setting,
        engine: None,
        lister: None,
        looked: None,
        folders: None,
        notices: Notices::default(),
        listed: Listed::default(),
        asked: 0,
        looks: (Vec::new(), false),
    };
    loop {
        // While there is an error to take back, files are looked at without a call too.
        let next = match worker.notices.any() || worker.told.any() {
            true => questions.recv_timeout(AGAIN),
            false => questions.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let work = match next {
            Ok(work) => work,
            Err(RecvTimeoutError::Timeout) => {
                let cwd = worker.setting.frame.cwd.clone();
                let layers = worker.engine().layers_at(&cwd);
                worker.notices.look(&layers, &worker.setting.folders);
                worker.after();
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        match work {
            Work::Decide(asked, counted, back) => {
                let _ = back.send(worker.decide(asked, counted));
            }
            Work::Again(question, said, back) => {
                let _ = back.send(worker.again(*question, said));
            }
            Work::Given(asked, output, back) => {
                let _ = back.send(worker.given(asked, output));
            }
            Work::List(page, back) => {
                let _ = back.send(worker.list(page));
            }
            Work::Hears => worker.listed.tells = true,
            Work::Begins(begin, back) => {
                let _ = back.send(worker.begins(begin));
            }
        }
        worker.after();
    }
}

impl Worker {
    /// The engine, with the files as they are now.
    fn engine(&mut self) -> &mut Engine {
        let fresh = self.looked.is_some_and(|looked| looked.elapsed() < FRESH);
        let Setting { folders, options, store, .. } = &self.setting;
        let engine = self.engine.get_or_insert_with(|| {
            let engine = Engine::new(folders.clone(), options.clone());
            match store {
                Some(store) => engine.with_store(*store),
                None => engine,
            }
        });
        if !fresh {
            engine.refresh();
            self.looked = Some(Instant::now());
            // ORDER: let go first, since what is remembered within is forgotten with the outer one.
            self.folders = None;
            self.folders = Some(remember_folders());
        }
        engine
    }

    /// Folders that were looked at for a call of before are looked at again.
    fn forget(&mut self) {
        self.folders = None;
        self.looked = None;
    }

    fn list(&mut self, page: Page) -> Result<Vec<bool>, String> {
        let names: Vec<String> = page.tools.iter().map(|tool| tool.name.clone()).collect();
        let first = page.cursor.is_none();
        self.forget();
        let held = self.setting.pinned.page(page);
        if self.setting.observe {
            if let Err(why) = &held {
                super::complain(&format!("policy wrap: the list of tools would not be passed on: {why}"));
            }
            return Ok(vec![false; names.len()]);
        }
        let mut hidden = held?;
        let layers = self.lister().0;
        for (name, hidden) in names.iter().zip(&mut hidden) {
            *hidden |= self.never(name);
        }
        self.listed.page(first, names.into_iter().zip(hidden.iter().copied()), layers, &self.setting.pinned);
        Ok(hidden)
    }

    fn begins(&mut self, begin: Begin) -> bool {
        self.listed.tells |= begin.tells;
        self.forget();
        let withheld = self.setting.pinned.begins(begin.instructions.as_deref());
        if withheld {
            let why = match self.setting.pinned.closed() {
                Some(_) => "cannot be compared with what is pinned",
                None => "have changed",
            };
            let taken = if self.setting.observe { "" } else { " and were taken out" };
            super::complain(&format!("policy wrap: the instructions of the server {why}{taken}"));
        }
        withheld && !self.setting.observe
    }

    /// The engine for lists, with the files as they are now, and the policies that hold.
    fn lister(&mut self) -> (Vec<Rc<Layer>>, &mut Engine) {
        let Setting { folders, options, frame, .. } = &self.setting;
        let lister = self.lister.get_or_insert_with(|| Engine::new(folders.clone(), options.clone()));
        lister.refresh();
        (lister.layers_at(&frame.cwd), lister)
    }

    /// Whether the policy lets no call of this tool through. The lister has looked at the files.
    fn never(&mut self, tool: &str) -> bool {
        let call =
            Call { tool: tool.to_owned(), arguments: serde_json::json!({}), ..self.setting.frame.clone() };
        self.lister.as_mut().is_some_and(|lister| lister.never_allows(&call))
    }

    /// Behind the answer: tells the person what waits, and the client when other tools are listed now.
    fn after(&mut self) {
        if self.told.any() && self.setting.pinned.is_stale() {
            self.forget();
            self.setting.pinned.refresh();
        }
        self.told.look(&self.setting.pinned, &self.setting.folders);
        if self.listed.is_due() {
            self.forget();
            if !self.changed() {
                return;
            }
            let _ = self.setting.changes.send(());
        }
    }

    /// Whether other tools would be listed now than were listed last.
    fn changed(&mut self) -> bool {
        let layers = self.lister().0;
        if self.listed.same(&layers, &self.setting.pinned) {
            return false;
        }
        let names = self.listed.names();
        let now: Vec<bool> =
            names.iter().map(|name| self.never(name) || self.setting.pinned.held(name).is_some()).collect();
        self.listed.take(now, layers, &self.setting.pinned)
    }

    fn decide(&mut self, asked: Asked, counted: Option<Counted>) -> Ruling {
        let call = asked.clone().call(&self.setting.frame);
        let counted = counted.filter(|counted| counted.is_of(&call)).unwrap_or_default();
        let mut answer = self.judged(&asked, &call, &counted);
        answer.trail = trail(counted.name);
        if self.setting.observe {
            observe(&mut answer);
        }
        self.finish(asked, &call, answer, false)
    }

    /// What the policy says of it, and the pins.
    fn judged(&mut self, asked: &Asked, call: &Call, counted: &Counted) -> Answer {
        let mut answer = self.engine().decide_again(call, counted);
        self.notices.look(&answer.layers, &self.setting.folders);
        self.look(&answer.layers);
        settle(&mut answer, asked);
        let Setting { pinned, asker, .. } = &mut self.setting;
        pinned.refresh();
        if let Some(server) = asker.server.as_mut().filter(|server| server.pin != pinned.digest()) {
            server.pin = pinned.digest().to_owned();
        }
        let verdict = &mut answer.verdict;
        if asked.form == Form::Tool
            && verdict.decision.without_host() != Decision::Deny
            && let Some(why) = pinned.held(&asked.tool)
        {
            verdict.decision = Decision::Deny;
            verdict.abstains = false;
            verdict.steps.insert(0, step(Decision::Deny, &why));
        }
        answer
    }

    /// ORDER: the policy first, since it may have changed while the person thought.
    fn again(&mut self, question: Question, said: Said) -> Ruling {
        let call = question.asked.clone().call(&self.setting.frame);
        // Whoever did not answer may still do.
        let later = matches!(said, Said::Nobody(_));
        self.looked = None;
        let mut counted = question.counted.clone();
        // SECURITY: what a payment takes of a budget is reserved for a yes alone.
        counted.yes = matches!(said, Said::Approved(_) | Said::Granted(..));
        let mut answer = self.judged(&question.asked, &call, &counted);
        answer.trail = trail(question.counted.name);
        if answer.verdict.decision.without_host() == Decision::Ask {
            let now = question::of(&self.setting.asker, &call, &answer);
            said.settle(&mut answer, &now, self.setting.person.as_ref());
        }
        self.finish(question.asked, &call, answer, later)
    }

    /// Writes the line, and says what becomes of the request.
    fn finish(&mut self, asked: Asked, call: &Call, mut answer: Answer, later: bool) -> Ruling {
        // That it is asked about stands there once.
        let asks = answer.verdict.decision.without_host() == Decision::Ask;
        let noted = answer.trail.asked && asks;
        if asks && !noted {
            self.asked += 1;
            answer.trail.call = format!("{}-{}", self.setting.frame.session, self.asked);
        }
        let Setting { audit, folders, care, .. } = &self.setting;
        let remark = if noted { None } else { record(call, &mut answer, audit, &folders.state, *care) };
        if let Some(remark) = remark {
            super::complain(remark.trim_end());
        }
        let told = reply::Answer::from(&answer.verdict);
        match answer.verdict.decision.without_host() {
            Decision::Allow => Ruling::Go(self.looks.1.then(|| Box::new(asked))),
            Decision::Ask => {
                self.engine().read_texts(call, &mut answer);
                let shown = question::of(&self.setting.asker, call, &answer);
                let mut counted = answer.counted;
                counted.name = answer.trail.call;
                Ruling::Ask(Box::new(Question { asked, shown, reason: told.reason(), counted }))
            }
            Decision::Host | Decision::Deny => Ruling::Deny(denial(&told, later)),
        }
    }
}

/// Of a call whose first line has this name; none: it has no line yet.
fn trail(call: String) -> Trail {
    Trail { asked: !call.is_empty(), call, ..Trail::default() }
}

/// What a model reads of a denial; `later` the same call may get another answer.
fn denial(told: &reply::Answer, later: bool) -> String {
    let end = if later { "" } else { " Calling it again with the same arguments gets the same answer." };
    format!("policy denied this call: {}.{end}", for_model(&told.reason(), 2000))
}

/// Where no rule speaks: what a client reads of a server passes unless it reaches out, and so do forms and the list of folders,
/// which the client shows to its person or knows itself.
fn settle(answer: &mut Answer, asked: &Asked) {
    let verdict = &mut answer.verdict;
    // SECURITY: a default may stand first and a rule that says the same behind it.
    let spoken = |step: &Step| step.decision >= Decision::Ask && step.rule != "default";
    let unspoken = !verdict.steps.is_empty() && !verdict.steps.iter().any(spoken);
    let passes = match asked.form {
        Form::Tool => false,
        Form::Resource => !asked.reaches_out(),
        Form::Server => asked.tool != "sampling",
    };
    if unspoken && passes && matches!(verdict.decision, Decision::Host | Decision::Ask) {
        verdict.decision = Decision::Allow;
        verdict.abstains = false;
        let because = "no rule speaks of it, and it names no file and no address";
        verdict.steps.insert(0, step(Decision::Allow, because));
    }
    if verdict.decision == Decision::Host {
        at_least_ask(verdict, "no rule allows it, and there is no host here that has an opinion of its own");
        verdict.decision = Decision::Ask;
        answer.ask_where_it_says();
    }
}

fn observe(answer: &mut Answer) {
    let verdict = &mut answer.verdict;
    if verdict.decision != Decision::Allow {
        verdict.observed = Some(verdict.decision);
        verdict.decision = Decision::Allow;
        verdict.steps.insert(0, step(Decision::Allow, "`--observe`: everything is let through"));
    }
}

/// A name for a session that nobody else has.
pub(crate) fn session() -> String {
    format!("wrap-{}-{:x}", std::process::id(), now_ns())
}
