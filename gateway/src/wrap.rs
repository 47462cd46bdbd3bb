//! The proxy `policy wrap`: stands between a client and an MCP server, and lets go only what the policy allows.
//!
//! Threads: one reads the client, one reads the server, one decides (`judge`), one for each question that waits for a person.
//! Messages are passed on as the bytes that they are.
//!
//! INVARIANT: nothing is passed on that was not understood, no call without its line of audit; each request of the client gets one
//! answer, and what nobody asked for is dropped. Starting reads and writes no file.

pub(crate) mod ask;
mod asking;
mod back;
mod chain;
mod child;
pub(crate) mod diff;
mod elicit;
mod flight;
mod frame;
mod gate;
mod given;
mod inside;
mod json;
mod judge;
#[cfg(any(windows, test))]
mod launcher;
mod list;
mod listed;
mod message;
mod notice;
mod pinned;
mod progress;
mod proxy;
pub(crate) mod question;
mod refuse;
mod reply;

pub mod peek;

pub use child::watch;

use crate::mcp::sessions::Record;
use crate::pins::{Identity, Shelf};
use ask::{Nobody, Page, Person};
use elicit::Forms;
use judge::{Judge, Setting};
use pinned::Pinned;
use policy_approvals::{RunId, Server};
use policy_engine::decide::Options;
use policy_engine::open::Care;
use policy_engine::places::Folders;
use policy_hosts::call::Call;
use proxy::Proxy;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How long the server has to end by itself when its input has ended.
const LAST: Duration = Duration::from_secs(10);
/// Who is asked.
#[derive(Debug, Clone, Copy)]
pub enum Ask {
    /// Nobody: an ask is a denial.
    Nobody,
    /// The person in front of the approval page, which the function lets be there, and, if `forms`, in front of the client.
    Person {
        /// Lets the page be there.
        summon: fn(&Folders),
        /// Ask in the client too, by an address or a form, where it can.
        forms: bool,
        /// Ask in the client alone, and open no page.
        alone: bool,
    },
}

/// With what the proxy starts.
#[derive(Debug, Clone)]
pub struct Wrap {
    /// Our folders.
    pub folders: Folders,
    /// How calls are decided.
    pub options: Options,
    /// The record of sessions.
    pub store: Option<Record>,
    /// The name of the server, as policies call it.
    pub name: Option<String>,
    /// The file of audit.
    pub audit: PathBuf,
    /// It was named on the command line.
    pub audit_named: bool,
    /// Who is asked.
    pub ask: Ask,
    /// Let everything through and record what would have held.
    pub observe: bool,
    /// The folder of all calls.
    pub cwd: PathBuf,
    /// The server's command line.
    pub command: Vec<String>,
}

/// Runs until the server ends; gives its exit code.
///
/// # Errors
/// When the server or one of our threads cannot be started.
pub fn run(wrap: Wrap) -> Result<i32, String> {
    let frame = Call {
        host: "gateway".to_owned(),
        event: "pre_tool_use".to_owned(),
        host_event: "tools/call".to_owned(),
        wrapped: wrap.name.is_some(),
        server: wrap.name.clone(),
        cwd: wrap.cwd,
        session: judge::session(),
        ..Call::default()
    };
    let run = RunId::random().map_err(|error| format!("there are no random numbers: {error}"))?;
    let person: Arc<dyn Person> = match wrap.ask {
        Ask::Nobody => Arc::new(Nobody),
        Ask::Person { summon, alone, .. } => {
            Arc::new(Page { folders: wrap.folders.clone(), run, summon, loud: true, alone })
        }
    };
    let secret: String = run.0.iter().map(|byte| format!("{byte:02x}")).collect();
    let forms = match wrap.ask {
        Ask::Person { forms: true, alone, .. } => Some(Forms::new(&secret, alone)),
        _ => None,
    };
    let server = Server {
        name: wrap.name.clone().unwrap_or_default(),
        // A server is what is started, never what it calls itself.
        source: wrap.command.join("\u{1f}"),
        // Known with the first call.
        pin: String::new(),
    };
    let identity = Identity { name: wrap.name.clone().unwrap_or_default(), source: wrap.command.clone() };
    let (changes, changed) = channel();
    let care = if wrap.audit_named { Care::Named } else { Care::Private };
    let (audit, state) = (wrap.audit.clone(), wrap.folders.state.clone());
    let judge = Judge::start(Setting {
        person: person.clone(),
        pinned: Pinned::new(identity, Shelf::of(&wrap.folders)),
        changes,
        asker: question::Asker { server: Some(server), run, most: question::WAIT },
        folders: wrap.folders,
        options: wrap.options,
        store: wrap.store,
        audit: wrap.audit,
        care,
        observe: wrap.observe,
        frame,
    });
    let judge = judge.map_err(|error| format!("the deciding thread cannot be started: {error}"))?;
    let child::Server { mut child, leader, stdin, stdout, mut guard } = child::start(&wrap.command)?;
    let ended = (audit.clone(), state.clone());
    end_with_signals(leader, move || policy_engine::audit::sign::session_ends(&ended.0, &ended.1, care))?;
    let (refusals, refused) = refuse::Refusals::new();
    let proxy = Arc::new(Proxy::new(judge, person.clone(), forms, stdin, refusals));
    let refuser = proxy.clone();
    thread("policy-refusals", move || refuser.refuse(&refused))?;
    let teller = proxy.clone();
    thread("policy-changes", move || teller.tell_changes(&changed))?;
    let from_client = proxy.clone();
    thread("policy-client", move || {
        from_client.client(std::io::stdin());
        // ORDER: questions of before are answered first, and what was refused has arrived.
        from_client.answered();
        from_client.refused(LAST);
        end(&from_client, leader);
    })?;
    let for_client = proxy.clone();
    thread("policy-gone", move || {
        // A client that only says nothing more still reads its answers; one that does not read has ended, whatever its input
        // holds and whoever is held up by the server.
        if policy_os::reader_gone(&std::io::stdout()) {
            for_client.abandon();
            for_client.answered_soon(child::PATIENCE);
            end(&for_client, leader);
        }
    })?;
    let from_server = proxy.clone();
    let reader = thread("policy-server", move || from_server.server(stdout))?;
    let status = child.wait().map_err(|error| format!("the server is lost: {error}"))?;
    // What it still said; somebody of its group may hold the stream open.
    let end = Instant::now() + child::PATIENCE;
    while !reader.is_finished() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    proxy.lost(&format!("the server has ended ({status})"));
    person.close();
    // Questions that are withdrawn by this are answered too.
    proxy.answered_soon(child::PATIENCE);
    child::dismiss(&mut guard);
    policy_os::kill_group(leader, false);
    policy_engine::audit::sign::session_ends(&audit, &state, care);
    Ok(child::code(status))
}

/// Ends the input of the server, and before long the server.
fn end(proxy: &Proxy, leader: u32) {
    // ORDER: a server that does not read holds its input, and is ended all the same.
    let ended = thread("policy-end", move || {
        std::thread::sleep(LAST);
        child::end_group(leader);
    });
    if let Err(why) = ended {
        complain(&format!("policy wrap: {why}"));
        child::end_group(leader);
    }
    proxy.end_server();
}

/// Ends the server when we are told to end; `last` is done then.
fn end_with_signals(leader: u32, last: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("signals cannot be waited for: {error}");
    let wanted = [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP];
    let mut signals = signal_hook::iterator::Signals::new(wanted).map_err(failed)?;
    thread("policy-signals", move || {
        if let Some(signal) = signals.forever().next() {
            child::end_group(leader);
            last();
            std::process::exit(128 + signal);
        }
    })
    .map(|_| ())
}

pub(crate) fn thread(
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<std::thread::JoinHandle<()>, String> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(run).map_err(|error| format!("a thread cannot be started: {error}"))
}

/// Says something on standard error, which clients keep in their logs.
pub(crate) fn complain(text: &str) {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(2000).collect();
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}
