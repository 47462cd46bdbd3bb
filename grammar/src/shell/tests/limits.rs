//! Size, depth and time of hostile texts.
//!
//! INVARIANT: no text overflows a 2 MB stack in a debug build, panics, or takes more than a bounded time.

use super::knowledge::Known;
use crate::shell::{Analysis, Dialect, MAX_COMMAND_BYTES, MAX_OPENERS, analyze};
use std::time::Instant;

#[test]
fn deep_texts_are_read_on_a_stack_of_their_own() {
    // Not stopped by the guard of pest, which some targets lack: the stack is sized by the weight of the text.
    for opener in [
        "(",
        "{ ",
        "$(",
        "\"$(",
        "\"${x:-",
        "${x:-",
        "<(",
        "x=($(",
        "if ",
        "{ while ",
        "( case x in x) ",
        "coproc a { $(",
        "@(",
        "a[$(",
    ] {
        let weight: usize = match opener {
            "$(" | "${x:-" | "<(" => 2,
            "\"$(" | "\"${x:-" | "{ while " | "( case x in x) " | "x=($(" | "a[$(" => 3,
            "coproc a { $(" => 5,
            "if " => 2,
            _ => 1,
        };
        let levels = (MAX_OPENERS / weight).min(MAX_COMMAND_BYTES / opener.len() - 1);
        let start = Instant::now();
        let analysis = on_small_stack(format!("{}a", opener.repeat(levels)));
        assert!(!analysis.complete);
        eprintln!(
            "{opener:?} {levels}: {} s, {:?}",
            start.elapsed().as_secs_f32(),
            analysis.problems.first()
        );
    }
    let flat = format!("cat > f <<'E'\n{}E\n", "f(x, [1], {\"a\": (2)});\n".repeat(800));
    let analysis = on_small_stack(flat);
    assert!(analysis.complete, "{:?}", analysis.problems);
    assert_eq!(analysis.commands.len(), 1);
}

/// Reads a text on a stack of 2 MB.
fn on_small_stack(text: String) -> Analysis {
    let work = move || analyze(&text, Dialect::Bash, &Known);
    std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(work).unwrap().join().unwrap()
}

#[test]
fn nested_openers_do_not_overflow() {
    let openers = [
        "(",
        "$(",
        "${ ",
        "${x:-",
        "`",
        "\"$(",
        "\"${x:-",
        "$((",
        "((",
        "[",
        "[[ ",
        "{ ",
        "<(",
        "$[",
        "a[$(",
        "a=($(",
        "a=([$(",
        "@(",
        "$\"$(",
        "$'",
        "'",
        "\"",
        "{",
        "{a,",
        "if ",
        "while ",
        "until ",
        "case x in x) ",
        "for i in a; do ",
        "f() { ",
        "f() ( ",
        "coproc ",
        "coproc a { $(",
        "[[ a =~ $(",
        "[[ a =~ (",
        "\"${x[$(",
        "cat <<E\n$(",
        "! ",
        "time ",
        "select x in a; do ",
        "if a; then ",
        "((a+(",
        "echo $((",
        "a$(",
        "x=a$(",
        "x=$(",
        "x=(a$(",
        "x=(E<(",
        "[[ a$(",
        "[[ a<(",
        "[[ a =~ b($(",
        "for i in a$(",
        ">a$(",
        "time a<([[ =~ ",
        "bash -c \"",
        "eval '",
        "sudo ",
        "a && ",
        "a | ",
        "a=",
        "$(( $( ",
        "$(case x in x) ",
        "function f { ",
        "x=${x:=$(",
    ];
    for opener in openers {
        for levels in [2, 16, 60, 200, 2000] {
            let start = Instant::now();
            eprintln!("{opener:?} {levels}");
            let open = opener.repeat(levels);
            let closed = close(opener).repeat(levels);
            on_small_stack(open.clone());
            on_small_stack(format!("{open}a{closed}"));
            on_small_stack(format!("{open} rm x; {closed}"));
            let seconds = start.elapsed().as_secs_f32();
            assert!(seconds < 15.0, "{opener:?} {levels} took {seconds} s");
        }
    }
}

#[test]
fn mixed_openers_fit_the_stack_without_a_guard() {
    // pest guards the stack itself on some targets only, so the limits alone must be enough: nothing here may be
    // stopped by the guard ("too complex").
    for opener in [
        "( if ",
        "{ if ",
        "{ while ",
        "( case x in x) ",
        "$( if ",
        "{ for i in a; do ",
        "{ f() ",
        "{ coproc ",
        "<( if ",
    ] {
        for (levels, before) in [(128, 0), (64, 192), (85, 40), (32, 224)] {
            let cost = opener.bytes().filter(|b| b"(${<".contains(b)).count();
            let levels = levels / cost;
            let analysis = on_small_stack(format!("{}{}a", "{ ".repeat(before), opener.repeat(levels)));
            let complex = analysis.problems.iter().any(|problem| problem.message.contains("complex"));
            assert!(!complex, "{opener:?} {levels} {before}");
        }
    }
}

fn close(opener: &str) -> &'static str {
    match opener {
        "(" | "$(" | "<(" | "@(" | "f() ( " | "$(( $( " => ")",
        "${ " | "{ " | "f() { " | "function f { " => "; }",
        "${x:-" | "{a," => "}",
        "`" => "`",
        "\"$(" | "$\"$(" => ")\"",
        "\"${x:-" => "}\"",
        "$((" | "((" | "echo $((" => "))",
        "[[ " => " ]]",
        "if " => "; then b; fi",
        "if a; then " => "; fi",
        "while " | "until " => "; do b; done",
        "for i in a; do " | "select x in a; do " => "; done",
        "case x in x) " => ";; esac",
        "$(case x in x) " => ";; esac)",
        "a[$(" | "a=($(" => ")]",
        "a=([$(" => ")]=1)",
        "[[ a =~ $(" => ") ]]",
        "cat <<E\n$(" => ")\nE\n",
        "x=${x:=$(" => ")}",
        _ => "",
    }
}

#[test]
fn limits_are_problems() {
    let long = "a ".repeat(MAX_COMMAND_BYTES);
    let many = "\"a\" ".repeat(MAX_OPENERS);
    let wrapped = format!("{} rm x", "sudo ".repeat(100));
    let keywords = "( if a; then b; fi )\n".repeat(MAX_OPENERS / 3 + 1);
    let heredocs = "cat <<A <<B <<C <<D <<E\nA\nB\nC\nD\nE\n".to_string();
    for text in [long, many, wrapped, keywords, heredocs, "a\0b".into(), "a".repeat(MAX_COMMAND_BYTES + 1)] {
        let analysis = analyze(&text, Dialect::Bash, &Known);
        assert!(!analysis.complete && !analysis.problems.is_empty(), "{:?}", text.get(..40));
    }
}

#[test]
fn growth_is_bounded() {
    let mut doubling = String::from("x=aaaaaaaa\n");
    for _ in 0..60 {
        doubling.push_str("x=$x$x\n");
    }
    let braces = "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}".to_string();
    let loops = "for a in 1 2 3 4; do for b in 1 2 3 4; do for c in 1 2 3 4; do x $a $b $c; done; done; done"
        .to_string();
    let evals = "x='eval \"$x\"'; eval \"$x\"".to_string();
    let redirects = format!("{} a; {}", "{ ".repeat(60), "} > f; ".repeat(60));
    let many = "a;".repeat(MAX_COMMAND_BYTES / 2 - 1);
    let assigns = (0..3000).map(|n| format!("x{n}=1\n")).collect::<String>();
    for text in [doubling, braces, loops, evals, redirects, many, assigns] {
        let start = Instant::now();
        let analysis = on_small_stack(text.clone());
        assert!(analysis.commands.len() <= 4096);
        assert!(start.elapsed().as_secs() < 60, "{:?}", text.get(..40));
    }
}

/// A small generator of numbers, so that the texts are the same on every machine.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }
}

const TOKENS: &[&str] = &[
    "a",
    "git",
    "rm",
    "x",
    " ",
    " ",
    " ",
    "\n",
    "\t",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "{ ",
    "; }",
    "[[ ",
    " ]]",
    "[",
    "]",
    "<",
    ">",
    ">>",
    "<<",
    "<<-",
    "<<<",
    "E",
    "\nE\n",
    "<<E\n",
    "<<'E'\n",
    ">&",
    "2>&1",
    "&>",
    "'",
    "\"",
    "`",
    "$",
    "$(",
    "$((",
    "${",
    "${x",
    "${x:-",
    "$x",
    "$@",
    "$'",
    "$\"",
    "\\",
    "\\\n",
    "#",
    "!",
    "! ",
    "~",
    "*",
    "?",
    "=",
    "x=",
    "x+=",
    "x=(",
    "a[",
    "if ",
    "then ",
    "fi",
    "else ",
    "elif ",
    "while ",
    "do ",
    "done",
    "for ",
    "in ",
    "case ",
    "esac",
    ";;",
    "function ",
    "f() ",
    "f()",
    "time ",
    "coproc ",
    "select ",
    "sudo ",
    "env ",
    "bash -c ",
    "eval ",
    "-c ",
    "--",
    "xargs ",
    "find . -exec ",
    "{}",
    "\\;",
    "+",
    "{a,b}",
    "{1..3}",
    "@(",
    "é",
    "\r",
    "cd ",
    "export ",
    "read ",
    "unset ",
    "set -e",
    "alias x=",
    "0",
    "2",
    "-",
    "/",
    ".",
    ",",
    "..",
    "%",
    "^",
    ":",
    "docker exec ",
    "trap ",
    "git -c alias.x=!",
    "echo ",
    "printf ",
    "cat ",
    "source ",
    "local ",
];

/// Random token texts.
pub(super) fn random_text(random: &mut Random) -> String {
    let length = 1 + random.below(24);
    (0..length).map(|_| TOKENS[random.below(TOKENS.len())]).collect()
}

#[test]
fn random_texts_do_not_panic() {
    let count: usize = std::env::var("POLICY_SHELL_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(2000);
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let (mut worst, mut worst_text) = (0.0, String::new());
    for _ in 0..count {
        let text = random_text(&mut random);
        let dialect = [Dialect::Bash, Dialect::Posix, Dialect::Unknown][random.below(3)];
        let start = Instant::now();
        let analysis = analyze(&text, dialect, &Known);
        let seconds = start.elapsed().as_secs_f64();
        if seconds > worst {
            (worst, worst_text) = (seconds, text.clone());
        }
        assert_eq!(analysis.complete, analysis.problems.is_empty(), "{text:?}");
        for command in &analysis.commands {
            assert_eq!(command.words.len(), command.parts.len(), "{text:?}");
            assert!(command.start <= command.end && command.end as usize <= text.len(), "{text:?}");
        }
    }
    eprintln!("slowest {worst} s: {worst_text:?}");
    assert!(worst < 2.0, "{worst_text:?} took {worst} s");
}
