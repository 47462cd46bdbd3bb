//! Looks at files and says what was flagged, or times one text: `measure FILE...`, `measure --lines < ROWS`, `measure --time FILE`.

use policy_injection::{Origin, look};
use std::io::BufRead;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("--lines") => lines(args.iter().any(|arg| arg == "-v")),
        Some("--time") => args.iter().skip(1).for_each(|file| time(file)),
        _ => files(),
    }
}

/// Rows `{id, text, expect, origin?}`.
fn lines(verbose: bool) {
    let (mut missed, mut alarms, mut all) = (0, 0, 0);
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(row) = serde_json::from_str::<serde_json::Value>(&line) else { continue };
        let text_of = |key: &str| row.get(key).and_then(serde_json::Value::as_str);
        let text = text_of("text").unwrap_or_default();
        let report = look(text, Origin::named(text_of("origin").unwrap_or("page")));
        let want = text_of("expect") == Some("flagged");
        all += 1;
        if report.flagged != want || verbose {
            let what = if want { "missed" } else { "alarm" };
            println!("{what} {} {} {text:?}", text_of("id").unwrap_or(""), text_of("class").unwrap_or(""));
            for found in &report.found {
                println!("    {} {} {} {:?}", found.class, found.strength, found.view, found.excerpt);
            }
        }
        missed += usize::from(want && !report.flagged);
        alarms += usize::from(!want && report.flagged);
    }
    println!("{all} rows, missed {missed}, alarms {alarms}");
}

/// Paths on the input, one a line.
fn files() {
    let (mut all, mut flagged, mut bytes) = (0usize, 0usize, 0usize);
    for path in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(data) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&data);
        bytes += text.len();
        all += 1;
        let report = look(&text, Origin::Page);
        if report.flagged {
            flagged += 1;
            println!("{path}");
            for found in report.found.iter().take(8) {
                println!(
                    "    {}:{} {} {} {} {:?}",
                    found.line, found.column, found.class, found.strength, found.view, found.excerpt
                );
            }
        }
    }
    println!("{all} files, {bytes} bytes, {flagged} flagged");
}

/// Seconds of processor time, so that other work on the machine does not count.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn time(file: &str) {
    let Ok(data) = std::fs::read(file) else { return };
    let text = String::from_utf8_lossy(&data);
    let mut best = f64::MAX;
    for _ in 0..3 {
        let start = cpu();
        let report = look(&text, Origin::Page);
        best = best.min(cpu() - start);
        std::hint::black_box(report);
    }
    println!(
        "{file}: {} bytes, {:.1} ms, {:.0} ns a byte",
        text.len(),
        best * 1e3,
        best * 1e9 / text.len() as f64
    );
}
