//! Finding the server of the page, starting it, and opening the page in a browser.
//!
//! INVARIANT: what is started gets a short environment of our own making: a project can set that of a hook. The code stands only in a
//! file of mode 0600 in a private folder, which goes when the code was used.

use policy_approvals::{Store, Ticket, place};
use policy_engine::open::{self, Care};
use policy_engine::places::Folders;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for a server that was started.
const STARTS_WITHIN: Duration = Duration::from_secs(5);
/// Where browsers are started from: no path of the environment is asked.
const OPENERS: [&str; 3] = ["/usr/bin/xdg-open", "/usr/local/bin/xdg-open", "/usr/bin/open"];
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/snap/bin";
/// What a program with windows needs.
const WINDOWS: [&str; 8] = [
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_TYPE",
    "DBUS_SESSION_BUS_ADDRESS",
    "LANG",
];

/// A page that is being opened.
#[derive(Debug)]
pub struct Opening {
    /// The file that opens it.
    pub file: PathBuf,
    /// A browser was started with it; else a person opens the file.
    pub started: bool,
    code: String,
    store: Store,
}

impl Opening {
    /// Waits until the page is open or the code is too old, and removes the file. True when it was opened.
    pub fn finish(self, longest: Duration) -> bool {
        let until = Instant::now() + longest;
        let used = loop {
            match self.store.unused(&self.code) {
                Ok(true) if Instant::now() < until => std::thread::sleep(Duration::from_millis(100)),
                Ok(unused) => break !unused,
                Err(_) => break false,
            }
        };
        let _ = std::fs::remove_file(&self.file);
        used
    }
}

pub(crate) fn folder(folders: &Folders) -> PathBuf {
    folders.state.join("approvals")
}

pub(crate) fn lock_file(folders: &Folders) -> Result<File, String> {
    let folder = folder(folders);
    open::private_folder(&folder).map_err(|error| error.to_string())?;
    let path = folder.join("page.lock");
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(|error| format!("`{}`: {error}", path.display()))
}

pub(crate) fn port_file(folders: &Folders) -> PathBuf {
    folder(folders).join("page.port")
}

/// The address at which a client may show the one question of a link, while the server runs. It holds a code that opens that question
/// once, and its answers count as given in the client.
pub(crate) fn link(folders: &Folders, ticket: &Ticket) -> Option<String> {
    let port = running(folders)?;
    let code = Store::open(folders).ok()?.new_link(ticket).ok()??;
    Some(format!("http://127.0.0.1:{port}/open/{}#{code}", place(&code)))
}

/// The port of a server that runs.
fn running(folders: &Folders) -> Option<u16> {
    let lock = lock_file(folders).ok()?;
    // Shared, so that those who look do not shut each other out.
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        _ => return None,
    }
    let (bytes, _) = open::read(&port_file(folders), Care::Private, 16).ok()?;
    std::str::from_utf8(&bytes).ok()?.trim().parse().ok()
}

fn server(folders: &Folders, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg0("policy").args(["approvals", "serve", "--home"]).arg(&folders.home).process_group(0);
    bare(&mut command, folders);
    command
}

/// The port of the user's server; it is started when there is none.
///
/// # Errors
/// When it cannot be started.
pub fn ensure(folders: &Folders, program: &Path) -> Result<u16, String> {
    if let Some(port) = running(folders) {
        return Ok(port);
    }
    let mut child =
        server(folders, program).spawn().map_err(|error| format!("`{}`: {error}", program.display()))?;
    let until = Instant::now() + STARTS_WITHIN;
    while Instant::now() < until {
        if let Some(port) = running(folders) {
            // Waited for by a thread, so that it leaves no dead entry behind.
            std::thread::spawn(move || child.wait());
            return Ok(port);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    Err("the server of the page did not start".to_owned())
}

/// Sees to it that a question is seen: the server runs, and opens the page when none is open and there are windows. What fails is not
/// told, since the terminal shows questions too.
pub fn summon(folders: &Folders) {
    let Ok(program) = std::env::current_exe() else { return };
    let folders = folders.clone();
    // Whoever asks waits for an answer, not for a browser.
    std::thread::spawn(move || ensure(&folders, &program));
}

/// As [`summon`], from a process that ends at once: the server is started and not waited for.
pub fn summon_alone(folders: &Folders) {
    if running(folders).is_none()
        && let Ok(program) = std::env::current_exe()
    {
        let _ = server(folders, &program).spawn();
    }
}

/// Opens the page.
///
/// # Errors
/// When the server cannot be started or the file not be written.
pub fn open_page(folders: &Folders, program: &Path) -> Result<Opening, String> {
    let port = ensure(folders, program)?;
    at_port(folders, port)
}

pub(crate) fn at_port(folders: &Folders, port: u16) -> Result<Opening, String> {
    let store = Store::open(folders)?;
    let code = store.new_code()?;
    let place = place(&code);
    let name = format!("open-{}.html", place.chars().take(12).collect::<String>());
    let file = folder(folders).join(name);
    let text = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><title>Approvals</title>\n\
         <meta http-equiv=\"refresh\" content=\"0;url=http://127.0.0.1:{port}/open/{place}#{code}\">\n\
         <p><a href=\"http://127.0.0.1:{port}/open/{place}#{code}\">Open the approvals</a></p>\n"
    );
    open::write(&file, text.as_bytes(), 0o600).map_err(|error| error.to_string())?;
    let started = windows() && start(&file, folders);
    Ok(Opening { file, started, code, store })
}

/// Whether there are windows to open a page in.
pub(crate) fn windows() -> bool {
    cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn start(file: &Path, folders: &Folders) -> bool {
    let Some(opener) = OPENERS.iter().find(|opener| Path::new(opener).exists()) else { return false };
    let mut command = Command::new(opener);
    command.arg(file).process_group(0);
    bare(&mut command, folders);
    match command.spawn() {
        Ok(mut child) => {
            std::thread::spawn(move || child.wait());
            true
        }
        Err(_) => false,
    }
}

fn bare(command: &mut Command, folders: &Folders) {
    command.env_clear().env("PATH", PATH).env("HOME", &folders.home).current_dir("/");
    for name in WINDOWS {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
}
