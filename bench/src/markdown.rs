//! Tables and figures as people read them.
//!
//! INVARIANT: every table is Markdown, printed as soon as it is known.

/// Prints a table.
pub fn table(head: &[&str], rows: &[Vec<String>]) {
    println!("\n| {} |", head.join(" | "));
    println!("|{}", "---|".repeat(head.len()));
    for row in rows {
        println!("| {} |", row.join(" | "));
    }
}

/// Nanoseconds in the unit that fits.
pub fn time(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e5 => format!("{:.1} µs", ns / 1e3),
        ..1e6 => format!("{:.0} µs", ns / 1e3),
        ..1e9 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.1} s", ns / 1e9),
    }
}

/// Bytes in the unit that fits.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} B"),
        10_240..1_048_576 => format!("{} KB", bytes / 1024),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

/// How many times `a` is of `b`.
pub fn ratio(a: f64, b: f64) -> String {
    match a / b {
        r if r >= 100.0 => format!("{r:.0} ×"),
        r if r >= 10.0 => format!("{r:.1} ×"),
        r => format!("{r:.2} ×"),
    }
}
