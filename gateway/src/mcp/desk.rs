//! The thread that answers: it has the engine, the catalogue of rules and the session.
//!
//! INVARIANT: questions are answered one after the other, in the order in which they came; a question that cannot be answered
//! is an error, never a clean answer. Nothing is opened before the first question.

use crate::mcp::arguments::{Arguments, Wrong};
use crate::mcp::checks;
use crate::mcp::config;
use crate::mcp::payments;
use crate::mcp::rules;
use crate::mcp::sessions::Sessions;
use crate::mcp::start::Start;
use crate::mcp::tools::Tool;
use policy_engine::decide::{Engine, Options};
use policy_engine::past::Entry;
use policy_hosts::call::Call;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::sync::oneshot;

/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(50);
/// Stack of the thread, bytes: what the main thread of a hook has.
const STACK: usize = 8 * 1024 * 1024;

/// The host of calls that are only asked about.
const HOST: &str = "mcp";

/// What the server is asked.
#[derive(Debug)]
pub(crate) struct Question {
    /// The tool.
    pub(crate) tool: Tool,
    /// Its arguments as they were given.
    pub(crate) given: Option<Map<String, Value>>,
}

/// A question with the way back.
type Asked = (Question, oneshot::Sender<Result<Value, Wrong>>);

/// Hands questions over.
pub(crate) struct Desk {
    /// What the thread begins with, until it does.
    waiting: Mutex<Option<Begin>>,
    sender: Sender<Asked>,
}

impl Desk {
    /// Nobody is there before the first question.
    pub(crate) fn new(start: Start, sessions: Box<dyn Sessions>) -> Desk {
        let (sender, receiver) = channel();
        Desk { waiting: Mutex::new(Some(Begin { start, sessions, receiver })), sender }
    }

    /// Asks and waits.
    pub(crate) async fn ask(&self, question: Question) -> Result<Value, Wrong> {
        let (back, answer) = oneshot::channel();
        self.begin()?;
        if self.sender.send((question, back)).is_err() {
            return Err(Wrong::plain(GONE));
        }
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Wrong::plain(GONE)),
            Err(_) => Err(Wrong::plain(format!(
                "there is no answer after {} s, so nothing was checked",
                PATIENCE.as_secs()
            ))),
        }
    }

    fn begin(&self) -> Result<(), Wrong> {
        let begin = self.waiting.lock().ok().and_then(|mut waiting| waiting.take());
        let Some(Begin { start, sessions, receiver }) = begin else { return Ok(()) };
        let thread = std::thread::Builder::new().name("policy-mcp".to_owned()).stack_size(STACK);
        let begun = thread.spawn(move || Worker { start, sessions, engine: None }.run(&receiver));
        begun.map(|_| ()).map_err(|error| Wrong::plain(format!("the checking thread cannot start: {error}")))
    }
}

const GONE: &str =
    "policy failed before this question was answered, so nothing was checked; restart the server";

/// With what the thread begins.
struct Begin {
    start: Start,
    sessions: Box<dyn Sessions>,
    receiver: Receiver<Asked>,
}

/// Who answers.
pub(crate) struct Worker {
    pub(crate) start: Start,
    pub(crate) sessions: Box<dyn Sessions>,
    engine: Option<Engine>,
}

impl Worker {
    fn run(mut self, questions: &Receiver<Asked>) {
        while let Ok((question, back)) = questions.recv() {
            // Who asked is gone: the call was cancelled.
            if !back.is_closed() {
                let _ = back.send(self.answer(question));
            }
        }
    }

    fn answer(&mut self, question: Question) -> Result<Value, Wrong> {
        let Question { tool, given } = question;
        match tool {
            Tool::CheckPayment => return payments::check(self, given),
            Tool::Again => return payments::again(self, given),
            Tool::ReportSettlement => return payments::settle(self, given.unwrap_or_default()),
            Tool::ListRecentDecisions => return payments::recent(self, given),
            _ => {}
        }
        let mut arguments = Arguments::new(given, tool.arguments())?;
        match tool {
            Tool::CheckContent => checks::content(self, &mut arguments),
            Tool::CheckPatch => checks::patch(self, &mut arguments),
            Tool::CheckEvent => checks::event(self, &mut arguments),
            Tool::CheckCommand => checks::command(self, &mut arguments),
            Tool::Explain => checks::explain(self, &mut arguments),
            Tool::ListRules => {
                let pack = arguments.optional("pack")?;
                rules::list(&self.catalogue()?, pack.as_deref())
            }
            Tool::GetConfig => Ok(config::config(&self.layers()?)),
            Tool::GetSession => {
                let entry = self.entry()?;
                self.sessions.state(&entry).map_err(Wrong::plain)
            }
            Tool::FileContext => payments::file(self, &mut arguments),
            Tool::GetPolicy => payments::policy(self),
            Tool::CheckPayment | Tool::Again | Tool::ReportSettlement | Tool::ListRecentDecisions => {
                Err(Wrong::plain("this was answered before"))
            }
            Tool::SuppressRule => self.suppress(&arguments.text("rule_id")?),
        }
    }

    fn suppress(&mut self, id: &str) -> Result<Value, Wrong> {
        let rules = self.catalogue()?;
        let rule = rules::resolve(&rules, id)?;
        let entry = self.entry()?;
        let total = self.sessions.suppress(&entry, rule.name()).map_err(Wrong::plain)?;
        let mut answer = json!({
            "suppressed": rules::short(rule.name()),
            "total_suppressed": total,
            "lasts": self.sessions.lasts(&entry),
        });
        if let (Some(map), true) = (answer.as_object_mut(), rule.has_errors()) {
            map.insert("note".to_owned(), "errors of this rule stay: they are never suppressed".into());
        }
        Ok(answer)
    }

    fn catalogue(&mut self) -> Result<Vec<rules::Rule>, Wrong> {
        Ok(rules::catalogue(&self.layers()?))
    }

    pub(crate) fn layers(&mut self) -> Result<Vec<std::rc::Rc<policy_engine::layers::Layer>>, Wrong> {
        let project = self.project()?;
        Ok(self.engine().layers_at(&project))
    }

    /// The session of a question.
    pub(crate) fn entry(&mut self) -> Result<Entry, Wrong> {
        let project = self.project()?;
        let session = self.start.surroundings.session.clone().unwrap_or_default();
        // The project's own session is every host's.
        let host = if session.is_empty() { "" } else { HOST };
        Ok(self.engine().session_at(&project, host, &session))
    }

    /// The project, or what is wrong with it.
    pub(crate) fn project(&self) -> Result<PathBuf, Wrong> {
        self.start.surroundings.project.clone().map_err(Wrong::plain)
    }

    /// A call as the hook of a host would make it.
    pub(crate) fn call(&self, event: &str, tool: &str, arguments: Value) -> Result<Call, Wrong> {
        Ok(Call {
            host: HOST.to_owned(),
            event: event.to_owned(),
            host_event: event.to_owned(),
            tool: tool.to_owned(),
            arguments,
            cwd: self.project()?,
            session: self.start.surroundings.session.clone().unwrap_or_default(),
            label: self.start.label.clone(),
            ..Call::default()
        })
    }

    /// The engine, which looks at all files again.
    pub(crate) fn engine(&mut self) -> &mut Engine {
        let start = &self.start;
        let engine = self.engine.get_or_insert_with(|| {
            // A check is no call.
            let options = Options::aside(start.policy.clone(), start.default);
            let engine = Engine::new(start.folders.clone(), options);
            match start.record {
                Some(record) => engine.looking_at(record),
                None => engine,
            }
        });
        engine.refresh();
        engine
    }
}
