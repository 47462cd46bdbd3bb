//! `policy hook`: answers one event of a host.
//!
//! INVARIANT: exactly one reply is written, whole and in one write, within the deadline; whatever goes wrong before gives
//! the host's fail-closed reply. No environment variable is read.

use crate::context::Flavor;
use crate::output::DENY;
use policy_engine::decide::{Engine, Options};
use policy_engine::layers::Default_;
use policy_engine::open::Care;
use policy_engine::places::{Folders, absolute};
use policy_hosts::Host;
use policy_hosts::event::{Event, read_event};
use policy_hosts::reply::{Answer, Reply};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Own deadline; a host that waits longer never sees us late.
const DEADLINE: Duration = Duration::from_secs(2);
/// Stack of the thread that watches it, bytes.
const CLOCK_STACK: usize = 256 * 1024;

/// Set by whoever writes the reply.
static CLAIMED: AtomicBool = AtomicBool::new(false);
/// The event as far as it is known, so that a fail-closed reply can name it.
static EVENT: Mutex<Option<String>> = Mutex::new(None);

/// The words behind `hook`.
#[derive(Debug, Default)]
struct Words {
    host: Option<String>,
    policy: Option<PathBuf>,
    label: Option<String>,
    audit: Option<PathBuf>,
    home: Option<PathBuf>,
    config: Option<PathBuf>,
    state: Option<PathBuf>,
    cache: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(words: &[OsString], flavor: Flavor) -> ExitCode {
    let words = read_words(words);
    let name = match &words {
        Ok(words) => words.host.clone(),
        Err((host, _)) => host.clone(),
    };
    let host = match name.as_deref().map(|name| (name, policy_hosts::host(name))) {
        Some((_, Some(host))) => host,
        // No host, no reply that it would understand: but nearly all of them take exit 2 for a refusal.
        Some((name, None)) => return no_host(&format!("`{name}` is no host; they are {}", hosts())),
        None => return no_host(&format!("`--host NAME` is missing; the hosts are {}", hosts())),
    };
    guard(host);
    let reply = match words {
        Ok(words) => answer(host, &words, flavor).unwrap_or_else(|cause| fail(host, &cause)),
        Err((_, cause)) => {
            // The event is read all the same: its name decides in which words the host is told.
            if let Ok(event) = read_event(&mut std::io::stdin().lock()) {
                remember(&event);
            }
            fail(host, &cause)
        }
    };
    write(&reply)
}

fn hosts() -> String {
    policy_hosts::HOSTS.iter().map(|host| host.name()).collect::<Vec<_>>().join(", ")
}

fn no_host(cause: &str) -> ExitCode {
    eprintln!("policy hook: {cause}");
    ExitCode::from(DENY)
}

/// Reads the words by hand: a mistake is the host's fail-closed reply, so the host is looked for first.
fn read_words(words: &[OsString]) -> Result<Words, (Option<String>, String)> {
    let mut out = Words::default();
    let mut wrong = None;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy().into_owned();
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name.to_string(), Some(OsString::from(value))),
            _ => (text, None),
        };
        // The answer has the host's own form, and says nothing but the answer: these change nothing.
        if attached.is_none() && ["-q", "--quiet", "-v", "--verbose"].contains(&name.as_str()) {
            continue;
        }
        let Some(value) = attached.or_else(|| rest.next().cloned()) else {
            wrong.get_or_insert(format!("`{name}` needs a value"));
            break;
        };
        let file = || absolute_word(&value);
        let done = match name.as_str() {
            "--format" => Some(()),
            "--host" => value.to_str().map(|text| out.host = Some(text.to_string())),
            "--as" => value.to_str().map(|text| out.label = Some(text.to_string())),
            "--policy" => file().map(|path| out.policy = Some(path)),
            "--audit" => file().map(|path| out.audit = Some(path)),
            "--home" => file().map(|path| out.home = Some(path)),
            "--config" => file().map(|path| out.config = Some(path)),
            "--state" => file().map(|path| out.state = Some(path)),
            "--cache" => file().map(|path| out.cache = Some(path)),
            _ => {
                wrong.get_or_insert(format!("`{name}` is not known here"));
                Some(())
            }
        };
        if done.is_none() {
            wrong.get_or_insert(format!("the value of `{name}` cannot be used"));
        }
    }
    match wrong {
        None => Ok(out),
        Some(cause) => Err((out.host, cause)),
    }
}

fn absolute_word(value: &OsString) -> Option<PathBuf> {
    let path = PathBuf::from(value);
    if path.is_absolute() {
        return Some(absolute(std::path::Path::new("/"), &path));
    }
    Some(absolute(&std::fs::canonicalize(std::env::current_dir().ok()?).ok()?, &path))
}

/// Panics and a passed deadline end in the host's fail-closed reply too.
fn guard(host: &'static dyn Host) {
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map_or(String::new(), |at| format!(" at {}:{}", at.file(), at.line()));
        last_words(host, &format!("policy failed{place}; this is a bug"));
    }));
    // Without a second thread there is no deadline, which the host's own timeout would turn into an open gate.
    // Its stack has a size of its own: else the environment (RUST_MIN_STACK) would decide whether it can start.
    let clock = std::thread::Builder::new().name("deadline".to_string()).stack_size(CLOCK_STACK);
    let started = clock.spawn(move || {
        std::thread::sleep(DEADLINE);
        last_words(host, "policy did not answer in time");
    });
    if started.is_err() {
        last_words(host, "policy could not start its clock");
    }
}

/// Writes the fail-closed reply and ends the process, unless a reply is being written.
fn last_words(host: &dyn Host, cause: &str) {
    let reply = fail(host, cause);
    if claim() {
        let code = emit(&reply);
        std::process::exit(code);
    }
}

fn claim() -> bool {
    CLAIMED.compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

fn fail(host: &dyn Host, cause: &str) -> Reply {
    // A poisoned or held lock only loses the name of the event.
    let event = EVENT.try_lock().ok().and_then(|event| event.clone());
    host.fail_closed(event.as_deref(), cause)
}

fn write(reply: &Reply) -> ExitCode {
    if !claim() {
        // The deadline was first: it ends the process.
        loop {
            std::thread::sleep(DEADLINE);
        }
    }
    // ORDER: ends here, not by returning, so that nothing runs between the reply and the end.
    std::process::exit(emit(reply))
}

fn emit(reply: &Reply) -> i32 {
    if !reply.stderr.is_empty() {
        let _ = std::io::stderr().write_all(&reply.stderr);
    }
    if !reply.stdout.is_empty() {
        // Not `print!`: one system call for the whole, since half a reply lets the call through.
        use std::os::fd::AsFd;
        let fd = std::io::stdout().as_fd().try_clone_to_owned();
        let done = fd.map(std::fs::File::from).and_then(|mut file| file.write_all(&reply.stdout));
        if done.is_err() {
            // Nobody reads: only the exit code is left to say no.
            return if reply.exit == 0 { 2 } else { reply.exit };
        }
    }
    reply.exit
}

fn answer(host: &'static dyn Host, words: &Words, flavor: Flavor) -> Result<Reply, String> {
    let event = read_event(&mut std::io::stdin().lock()).map_err(|error| error.to_string())?;
    remember(&event);
    let mut call = match host.parse(&event).map_err(|error| error.to_string())? {
        Event::Call(call) => *call,
        Event::Ignore => return Ok(Reply::default()),
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
    };
    let audit = match (&words.audit, flavor) {
        (Some(file), _) => file.clone(),
        (None, Flavor::Policy) => folders.audit(),
        (None, Flavor::AgentFirewall) => call.cwd.join("agent-firewall-audit.jsonl"),
    };
    let mut engine = Engine::new(folders, options);
    let mut answer = engine.decide(&call);
    // Of events that are no question, only what a guard has to say is a decision.
    if call.event == "pre_tool_use" || !answer.verdict.findings.is_empty() {
        super::audit::append(&call, &mut answer, &audit, Care::Private);
    }
    Ok(host.reply(&call, &Answer::from(&answer.verdict)))
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
