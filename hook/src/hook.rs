//! `policy hook`: answers one event of a host.
//!
//! INVARIANT: exactly one reply is written, whole and in one write, within the deadline; whatever goes wrong before gives
//! the host's fail-closed reply. No environment variable is read.

use crate::hand_over;
use crate::words::{Words, read_words};
use crate::{DENY, Flavor, complain, complain_bytes};
use policy_engine::decide::{Engine, Options};
use policy_engine::desk::{Asking, Desk, asked_before};
use policy_engine::layers::Default_;
use policy_engine::open::Care;
use policy_engine::past::Store;
use policy_engine::places::Folders;
use policy_engine::work::{Compiler, Elsewhere};
use policy_hosts::Host;
use policy_hosts::event::{Event, read_event};
use policy_hosts::reply::{Answer, Reply};
use policy_os::LastWords;
use policy_runtime::verdict::Decision;
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

/// Own deadline; a host that waits longer never sees us late.
pub(crate) const DEADLINE: Duration = Duration::from_secs(2);
/// The event as far as it is known, so that a fail-closed reply can name it.
static EVENT: Mutex<Option<String>> = Mutex::new(None);

/// Runs the command.
pub fn run(
    words: &[OsString],
    flavor: Flavor,
    compiler: &'static dyn Compiler,
    store: &'static dyn Store,
    desk: &'static dyn Desk,
) -> ExitCode {
    let given = hand_over::asked_by_the_small_one(words);
    let words = read_words(given);
    let name = match &words {
        Ok(words) => words.host.clone(),
        Err((host, _)) => host.clone(),
    };
    let host = match name.as_deref().map(|name| (name, policy_hosts::host(name))) {
        Some((_, Some(host))) => host,
        // No host, no reply that it would understand: but nearly all of them take exit 2 for a refusal.
        Some((name, None)) => return no_host(&format!("`{name}` is no host; they are {}", hosts())),
        None => {
            let cause = words.err().map_or(String::new(), |(_, cause)| format!("{cause}; "));
            return no_host(&format!("{cause}`--host NAME` is missing; the hosts are {}", hosts()));
        }
    };
    guard(host);
    let reply = match words {
        Ok(words) => match answer(host, &words, flavor, (compiler, store, desk)) {
            Ok(Said::Reply(reply)) => reply,
            Ok(Said::Elsewhere(event)) => hand_over::to_policy(host, given, &event, wait(&words)),
            Err(cause) => fail(host, &cause),
        },
        Err((_, cause)) => {
            // The event is read all the same: its name decides in which words the host is told.
            if let Ok(event) = read_event(&mut std::io::stdin().lock()) {
                remember(&event);
            }
            fail(host, &cause)
        }
    };
    write(reply)
}

fn hosts() -> String {
    policy_hosts::HOSTS.iter().map(|host| host.name()).collect::<Vec<_>>().join(", ")
}

fn no_host(cause: &str) -> ExitCode {
    complain(&format!("policy hook: {cause}\n"));
    ExitCode::from(DENY)
}

/// Panics, crashes and a passed deadline end in the host's fail-closed reply too.
fn guard(host: &'static dyn Host) {
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map_or(String::new(), |at| format!(" at {}:{}", at.file(), at.line()));
        last_words(host, &format!("policy failed{place}; this is a bug"));
    }));
    prepare(host, "the event was not complete");
    // Without an alarm there is no deadline, which the host's own timeout would turn into an open gate.
    if let Err(error) = policy_os::end_by(DEADLINE) {
        last_words(host, &format!("policy could not set its alarm: {error}"));
    }
}

/// Puts down what is said should the time be up, or the process crash, from now on.
pub(crate) fn prepare(host: &dyn Host, doing: &str) {
    let words = |cause: &str| {
        let Reply { stdout, stderr, exit } = hand_over::signed(fail(host, cause));
        LastWords { stdout, stderr, code: exit }
    };
    policy_os::last_words(
        words(&format!("policy did not answer in time: {doing}")),
        words("policy crashed; this is a bug, or one of its files was cut while it was read"),
    );
}

/// Writes the fail-closed reply and ends the process, unless a reply is being written.
fn last_words(host: &dyn Host, cause: &str) {
    let reply = fail(host, cause);
    if policy_os::speak() {
        policy_os::leave(emit(reply));
    }
}

pub(crate) fn fail(host: &dyn Host, cause: &str) -> Reply {
    // A poisoned or held lock only loses the name of the event.
    let event = EVENT.try_lock().ok().and_then(|event| event.clone());
    host.fail_closed(event.as_deref(), cause)
}

fn write(reply: Reply) -> ! {
    if !policy_os::speak() {
        // The alarm was first: it ends the process.
        loop {
            std::thread::sleep(DEADLINE);
        }
    }
    // ORDER: ends here, not by returning, so that nothing runs between the reply and the end.
    policy_os::leave(emit(reply))
}

fn emit(reply: Reply) -> i32 {
    let reply = hand_over::signed(reply);
    // ORDER: the reply before the remark, and both without a lock of the standard library, so that an error output
    // that nobody reads holds up nothing.
    let written = match reply.stdout.is_empty() || policy_os::heard() {
        true => write_all(&std::io::stdout(), &reply.stdout),
        false => Err(std::io::ErrorKind::BrokenPipe.into()),
    };
    if !reply.stderr.is_empty() {
        complain_bytes(&reply.stderr);
    }
    match written {
        // Nobody reads: only the exit code is left to say no.
        Err(_) if reply.exit == 0 => i32::from(DENY),
        _ => reply.exit,
    }
}

/// Not `print!`: one system call for the whole, since half a reply lets the call through.
fn write_all(to: &impl AsFd, bytes: &[u8]) -> std::io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let fd = to.as_fd().try_clone_to_owned()?;
    std::fs::File::from(fd).write_all(bytes)
}

/// What came of an event.
enum Said {
    /// An answer.
    Reply(Reply),
    /// Something has to be compiled or remembered, which this program does not do: the event as it was read.
    Elsewhere(Vec<u8>),
}

fn answer(
    host: &'static dyn Host,
    words: &Words,
    flavor: Flavor,
    (compiler, store, desk): (&'static dyn Compiler, &'static dyn Store, &'static dyn Desk),
) -> Result<Said, String> {
    let event = read_event(&mut std::io::stdin().lock()).map_err(|error| error.to_string())?;
    remember(&event);
    let mut call = match host.parse(&event).map_err(|error| error.to_string())? {
        Event::Call(call) => *call,
        Event::Ignore => {
            if session_ends() {
                anchor(words, flavor, None);
            }
            return Ok(Said::Reply(host.ignored()));
        }
    };
    call.label = words.label.clone();
    if call.cwd.as_os_str().is_empty() {
        call.cwd = std::env::current_dir().map_err(|error| format!("no current folder: {error}"))?;
    }
    let folders = folders(words)?;
    let options = Options {
        policy: words.policy.clone(),
        care: Care::Private,
        default: match flavor {
            Flavor::Policy => Default_::Std,
            Flavor::AgentFirewall => Default_::AgentFirewall,
        },
        sessions: true,
        caching: true,
        resolve_links: true,
        compiler,
    };
    let audit = audit_file(words, flavor, &folders, &call.cwd);
    let state = folders.state.clone();
    let by_hand = match &words.policy {
        Some(file) => format!("policy check bash '{{}}' --policy {}", file.display()),
        None => "policy check bash '{}'".to_owned(),
    };
    policy_engine::doing::on_compile(move || {
        prepare(
            host,
            &format!(
                "it was still compiling a policy; a person can run `{by_hand}` in this folder once: that waits, and keeps what it compiled"
            ),
        );
    });
    prepare(host, "it was still deciding the call");
    // The audit line goes to the folder that the session's record was in.
    let folders_of_now = policy_engine::open::remember_folders();
    let mut engine = Engine::new(folders.clone(), options).with_store(store);
    let mut answer = engine.decide(&call);
    // What is for the approval page is nothing that a host asks about.
    let ours = answer.verdict.page_only() || !host.asks(&call);
    let asked = call.event == "pre_tool_use" && answer.verdict.decision == Decision::Ask && ours;
    // The host asks by itself and does not say what came of it: what is paid then counts.
    if call.event == "pre_tool_use" && !asked && answer.counted.owes {
        answer.counted.yes = true;
        answer = engine.decide_again(&call, &answer.counted);
    }
    let ended = call.event == "session_end" && asked_before(&folders);
    if Elsewhere::needed() || (asked || ended) && !desk.here() {
        return Ok(Said::Elsewhere(event));
    }
    let mut remark = String::new();
    if asked {
        // One line for one call, when it is known what came of it: a second one would answer for a call that no hook heard of.
        prepare(host, "a person was asked and the answer did not come in time");
        // ORDER: the time of the person is no time of ours.
        policy_os::end_by(wait(words) + DEADLINE)
            .map_err(|error| format!("policy could not set its alarm: {error}"))?;
        answer = desk.settle(Asking {
            engine: &mut engine,
            folders: &folders,
            call: &call,
            answer,
            wait: wait(words),
        });
    }
    if ended {
        desk.end(&folders, &call.host, &call.session);
    }
    // Of events that are no question, only what a guard has to say is a decision.
    if call.event == "pre_tool_use" || !answer.verdict.findings.is_empty() {
        let more = policy_engine::record::record(&call, &mut answer, &audit, &state, Care::Private);
        remark.push_str(&more.unwrap_or_default());
    }
    if call.event == "session_end" {
        anchor(words, flavor, Some(&call.cwd));
    }
    let mut reply = host.reply(&call, &Answer::from(&answer.verdict));
    reply.stderr.extend(remark.into_bytes());
    // The process ends with its reply, and the system takes all of this back faster than we do.
    std::mem::forget((engine, answer, folders_of_now));
    Ok(Said::Reply(reply))
}

/// How long a person is waited for: what the words say, and else not at all, since a host that gives up lets the call through.
fn wait(words: &Words) -> Duration {
    Duration::from_secs(words.wait.unwrap_or_default())
}

fn audit_file(words: &Words, flavor: Flavor, folders: &Folders, cwd: &Path) -> PathBuf {
    match (&words.audit, flavor) {
        (Some(file), _) => file.clone(),
        (None, Flavor::Policy) => folders.audit(),
        (None, Flavor::AgentFirewall) => cwd.join("agent-firewall-audit.jsonl"),
    }
}

/// Whether the event is the end of a session, for hosts that ask nothing there.
fn session_ends() -> bool {
    EVENT
        .try_lock()
        .is_ok_and(|event| event.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("SessionEnd")))
}

/// Anchors and signs the last line; a log that cannot be read then has nothing to anchor.
fn anchor(words: &Words, flavor: Flavor, cwd: Option<&Path>) {
    let cwd = cwd.map(Path::to_path_buf).or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let Ok(folders) = folders(words) else { return };
    let audit = audit_file(words, flavor, &folders, &cwd);
    policy_engine::audit::sign::session_ends(&audit, &folders.state, Care::Private);
}

fn folders(words: &Words) -> Result<Folders, String> {
    let mut folders = match &words.home {
        Some(home) => Folders::under(home),
        None => Folders::of_user().map_err(|error| error.to_string())?,
    };
    for (place, word) in [
        (&mut folders.config, &words.config),
        (&mut folders.state, &words.state),
        (&mut folders.cache, &words.cache),
    ] {
        if let Some(word) = word {
            *place = word.clone();
        }
    }
    Ok(folders)
}

/// Keeps the event's name, so that a failure is answered in the words of that event.
fn remember(event: &[u8]) {
    #[derive(serde::Deserialize)]
    struct Name {
        hook_event_name: Option<String>,
    }
    if let (Ok(name), Ok(mut known)) = (serde_json::from_slice::<Name>(event), EVENT.lock()) {
        *known = name.hook_event_name;
    }
}
