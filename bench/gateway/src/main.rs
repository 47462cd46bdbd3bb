//! Times calls of an MCP server: by itself, behind a program that passes bytes on, and behind `policy wrap`.
//!
//! INVARIANT: the ways take turns call by call in one process, with the same server, which is this program too; what is compared is
//! of one run.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const USAGE: &str = "gateway-bench POLICY [--calls N] [--minutes N]: POLICY is our release binary";
const RULES: &str =
    "policy \"bench\" language 1\n\ndefault allow\n\nguard secrets {\n  deny path \"**/.env\"\n}\n";

type Result<T> = std::result::Result<T, String>;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.first().map(String::as_str) {
        Some("serve") => serve(),
        Some("pass") => pass(&words[1..]),
        Some(policy) => measure(Path::new(policy), &words[1..]),
        None => Err(USAGE.to_owned()),
    };
    if let Err(why) = done {
        eprintln!("{why}");
        std::process::exit(1);
    }
}

fn told(error: std::io::Error) -> String {
    error.to_string()
}

/// The server: answers each request with a text, as long as its argument `bytes` says.
fn serve() -> Result<()> {
    let (mut input, mut output) = (BufReader::new(std::io::stdin()), std::io::stdout());
    let mut line = String::new();
    while input.read_line(&mut line).map_err(told)? > 0 {
        let number = |key: &str| -> usize {
            let behind = line.split_once(key).map_or("", |(_, behind)| behind);
            let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
            behind[..end].parse().unwrap_or(0)
        };
        let (id, bytes) = (number("\"id\":"), number("\"bytes\":"));
        let text = "x".repeat(bytes.max(5));
        let answer = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        );
        output.write_all(answer.as_bytes()).and_then(|()| output.flush()).map_err(told)?;
        line.clear();
    }
    Ok(())
}

/// Passes bytes on, both ways.
fn pass(words: &[String]) -> Result<()> {
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(told)?;
    let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(USAGE.to_owned());
    };
    std::thread::spawn(move || copy(std::io::stdin(), to));
    copy(from, std::io::stdout());
    child.wait().map(|_| ()).map_err(told)
}

fn copy(mut from: impl Read, mut to: impl Write) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

/// One way to the server.
struct Way {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    took: Vec<f64>,
}

impl Way {
    fn new(words: &[&str], folder: &Path) -> Result<Way> {
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", words[0]))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(USAGE.to_owned());
        };
        Ok(Way { child, to, from: BufReader::with_capacity(1 << 16, from), took: Vec::new() })
    }

    fn send(&mut self, id: usize, bytes: usize) -> Result<()> {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"read_text_file\",\"arguments\":{{\"path\":\"src/file{id}.rs\",\"bytes\":{bytes}}}}}}}\n"
        );
        self.to.write_all(line.as_bytes()).map_err(told)
    }

    fn answer(&mut self, bytes: usize) -> Result<()> {
        let mut line = Vec::new();
        self.from.read_until(b'\n', &mut line).map_err(told)?;
        let line = String::from_utf8_lossy(&line);
        match line.contains("\"text\":\"xxxxx") && line.len() > bytes {
            true => Ok(()),
            false => Err(format!("no answer of the server: {}", line.chars().take(300).collect::<String>())),
        }
    }

    /// Seconds of one call.
    fn call(&mut self, id: usize, bytes: usize) -> Result<f64> {
        let start = Instant::now();
        self.send(id, bytes)?;
        self.answer(bytes)?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// KiB that the process holds.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    fn end(self) {
        let Way { mut child, to, .. } = self;
        drop(to);
        let _ = child.wait();
    }
}

/// Microseconds below which this share of the times lies.
fn share(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
        .get(((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1)))
        .map_or(0.0, |s| s * 1e6)
}

fn measure(policy: &Path, words: &[String]) -> Result<()> {
    let (mut calls, mut minutes) = (3000, 3);
    for pair in words.chunks(2) {
        let number = pair.get(1).and_then(|word| word.parse::<u64>().ok()).ok_or(USAGE)?;
        match pair[0].as_str() {
            "--calls" => calls = number as usize,
            "--minutes" => minutes = number,
            _ => return Err(USAGE.to_owned()),
        }
    }
    let folder: PathBuf = std::env::temp_dir().join(format!("gateway-bench-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("home"))
        .and_then(|()| std::fs::create_dir_all(folder.join("repo/.git")))
        .map_err(told)?;
    let rules = folder.join("bench.policy");
    std::fs::write(&rules, RULES).map_err(told)?;
    let done = all(policy, &folder, &rules, calls, minutes);
    let _ = std::fs::remove_dir_all(&folder);
    done
}

fn all(policy: &Path, folder: &Path, rules: &Path, calls: usize, minutes: u64) -> Result<()> {
    let own = std::env::current_exe().map_err(told)?.display().to_string();
    let (policy, home, rules) = (
        policy.display().to_string(),
        folder.join("home").display().to_string(),
        rules.display().to_string(),
    );
    let server = [own.as_str(), "serve"];
    let passing = [&[own.as_str(), "pass"], &server[..]].concat();
    let wrapping = [
        &[policy.as_str(), "--home", &home, "wrap", "--policy", &rules, "--name", "s", "--ask", "deny", "--"],
        &server[..],
    ]
    .concat();
    let repo = folder.join("repo");
    let start = |words: &[&str]| Way::new(words, &repo);
    let names = ["the server itself", "bytes passed on", "`policy wrap`"];
    let mut ways = [start(&server)?, start(&passing)?, start(&wrapping)?];
    println!(
        "| one call after the other, {calls} each in turns | p50 | p90 | p99 | added at p50 | added at p99 |\n|---|---|---|---|---|---|"
    );
    for round in 0..calls + 200 {
        for way in &mut ways {
            let took = way.call(round, 0)?;
            // The first ones compile the policy and fill caches.
            if round >= 200 {
                way.took.push(took);
            }
        }
    }
    let base = [share(&ways[0].took, 0.5), share(&ways[0].took, 0.99)];
    for (name, way) in names.iter().zip(&ways) {
        let [half, most, worst] = [0.5, 0.9, 0.99].map(|part| share(&way.took, part));
        println!(
            "| {name} | {half:.0} µs | {most:.0} µs | {worst:.0} µs | {:.0} µs | {:.0} µs |",
            half - base[0],
            worst - base[1]
        );
    }
    println!("\n| 1 MB results, 50 each in turns | p50 | p99 |\n|---|---|---|");
    ways.iter_mut().for_each(|way| way.took.clear());
    for round in 0..50 {
        for way in &mut ways {
            let took = way.call(100_000 + round, 1 << 20)?;
            way.took.push(took);
        }
    }
    for (name, way) in names.iter().zip(&ways) {
        println!(
            "| {name} | {:.1} ms | {:.1} ms |",
            share(&way.took, 0.5) / 1e3,
            share(&way.took, 0.99) / 1e3
        );
    }
    println!("\n| 40 calls at once, 50 times in turns: all answered after | p50 | p99 |\n|---|---|---|");
    ways.iter_mut().for_each(|way| way.took.clear());
    for round in 0..50 {
        for way in &mut ways {
            let begun = Instant::now();
            (0..40).try_for_each(|n| way.send(200_000 + round * 40 + n, 0))?;
            (0..40).try_for_each(|_| way.answer(0))?;
            way.took.push(begun.elapsed().as_secs_f64());
        }
    }
    for (name, way) in names.iter().zip(&ways) {
        println!(
            "| {name} | {:.2} ms | {:.2} ms |",
            share(&way.took, 0.5) / 1e3,
            share(&way.took, 0.99) / 1e3
        );
    }
    let [first, second, mut wrapped] = ways;
    first.end();
    second.end();
    if minutes > 0 {
        sustained(&mut wrapped, minutes)?;
    }
    wrapped.end();
    Ok(())
}

/// 10,000 calls a minute, and what the proxy holds.
fn sustained(wrapped: &mut Way, minutes: u64) -> Result<()> {
    println!(
        "\n| 10,000 calls a minute, {minutes} minutes: after | calls | p50 | p99 | RSS of the proxy |\n|---|---|---|---|---|"
    );
    println!("| 0 min | 0 | | | {} KiB |", wrapped.memory());
    let begun = Instant::now();
    let mut id = 300_000;
    for minute in 1..=minutes {
        wrapped.took.clear();
        for n in 0..10_000u64 {
            let due = Duration::from_secs((minute - 1) * 60) + Duration::from_micros(n * 6000);
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
            let took = wrapped.call(id, 0)?;
            wrapped.took.push(took);
            id += 1;
        }
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "| {:.1} min | {} | {:.0} µs | {:.0} µs | {} KiB |",
            seconds / 60.0,
            minute * 10_000,
            share(&wrapped.took, 0.5),
            share(&wrapped.took, 0.99),
            wrapped.memory()
        );
    }
    Ok(())
}
