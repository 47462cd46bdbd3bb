//! A PostgreSQL server of Debian's packages in a folder of its own.
//!
//! INVARIANT: it ends and its folder goes when the input of the shell that keeps it ends, which it does with this process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// One server. No user but the one that starts it; no port.
pub(crate) struct Server {
    _child: Child,
    orders: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    folder: String,
    programs: String,
}

/// Starts it, does what is ordered line by line, and cleans up.
const KEEP: &str = r#"
set -eu
folder=$(mktemp -d --suffix=-policy-pg)
end() { "$1/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1 || true; rm -rf "$folder"; }
trap 'end "$1"' EXIT
"$1/initdb" -D "$folder/data" -A trust -U postgres -E UTF8 --locale=C -N >/dev/null
echo "listen_addresses = ''
unix_socket_directories = '$folder'
max_connections = 100
log_min_messages = panic" >> "$folder/data/postgresql.conf"
start() { "$1/pg_ctl" -D "$folder/data" -w -t 60 -l "$folder/log" start >/dev/null; }
start "$1"
echo "$folder"
while read -r order; do
    case "$order" in
    kill) "$1/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null ;;
    again) start "$1" ;;
    esac
    echo done
done
"#;

/// Where the server's programs are.
fn programs() -> String {
    let mut found: Vec<_> =
        std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().collect();
    found.sort_by_key(|own| own.file_name());
    let own = found.pop().map(|own| own.path().join("bin"));
    let own = own.filter(|own| own.join("initdb").exists());
    own.expect("these tests need PostgreSQL: apt-get install postgresql").display().to_string()
}

#[allow(dead_code, reason = "each that starts a server needs its own part")]
impl Server {
    pub(crate) fn start() -> Server {
        let programs = programs();
        // SAFETY of the machine: the server refuses to be root.
        let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let mut command = Command::new(if root { "runuser" } else { "sh" });
        if root {
            command.args(["-u", "postgres", "--", "sh"]);
        }
        command.args(["-c", KEEP, "sh", &programs]).current_dir("/");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut folder = String::new();
        output.read_line(&mut folder).unwrap();
        assert!(!folder.trim().is_empty(), "the server does not start");
        let folder = folder.trim().to_owned();
        Server { _child: child, orders: Mutex::new((input, output)), folder, programs }
    }

    fn order(&self, order: &str) {
        let mut orders = self.orders.lock().unwrap();
        writeln!(orders.0, "{order}").unwrap();
        let mut answer = String::new();
        orders.1.read_line(&mut answer).unwrap();
        assert_eq!(answer.trim(), "done", "{order}");
    }

    /// As if its power went.
    pub(crate) fn kill(&self) {
        self.order("kill");
    }

    pub(crate) fn again(&self) {
        self.order("again");
    }

    /// A new, empty database; its address.
    pub(crate) fn database(&self, name: &str) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("{name}_{}", NEXT.fetch_add(1, Ordering::Relaxed)).replace('-', "_");
        let address = |name: &str| format!("host={} user=postgres dbname={name}", self.folder);
        self.sql(&address("postgres"), &format!("CREATE DATABASE {name}"));
        address(&name)
    }

    /// Does something as a person would.
    pub(crate) fn sql(&self, address: &str, sql: &str) {
        let name = address.rsplit('=').next().unwrap();
        let sql = sql.replace("DATABASE current", &format!("DATABASE {name}"));
        let psql = format!("{}/psql", self.programs);
        let done =
            Command::new(psql).args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", &sql, address]).output();
        let done = done.unwrap();
        assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
    }
}
