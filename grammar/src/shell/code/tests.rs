//! Tests of the readers: code as people and agents write it, with what it does.
//!
//! INVARIANT: a row holds exactly what is listed, in order; `+` before it means that the answer is complete.

use super::{Found, Inside, Language, read};
use crate::shell::{Piece, Word};

mod table;

/// A word as the rows write it: `?` is a part that is not known.
fn show(word: &Word) -> String {
    match word {
        Word::Known(text) if text.is_empty() || text.contains([' ', '\n']) => format!("<{text}>"),
        Word::Known(text) => text.clone(),
        Word::Tilde(text) => format!("~:{text}"),
        Word::Glob(text) => format!("*:{text}"),
        Word::OneOf(texts) => format!("{{{}}}", texts.join("|")),
        Word::Unknown(pieces) => pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Tilde(text) => text.clone(),
                _ => "?".into(),
            })
            .collect(),
    }
}

fn text(found: &Found) -> String {
    let mut out: Vec<String> = found
        .inside
        .iter()
        .map(|inside| match inside {
            Inside::Shell(word) => match show(word) {
                shown if shown.starts_with('<') => format!("sh:{}", shown.trim_matches(['<', '>'])),
                shown => format!("sh:{shown}"),
            },
            Inside::Argv(words) => words.iter().map(show).collect::<Vec<_>>().join(" "),
            Inside::Writes(word) => format!("> {}", show(word)),
            Inside::Reads(word) => format!("< {}", show(word)),
            Inside::Evaluates { decoded: true } => "decoded".into(),
            Inside::Evaluates { decoded: false } => "eval".into(),
        })
        .collect();
    if found.complete {
        out.insert(0, "+".into());
    }
    out.join("; ")
}

#[test]
fn names_and_languages_are_one_to_one() {
    for (language, name) in Language::ALL.into_iter().zip(Language::NAMES) {
        assert_eq!(Language::from_name(name), Some(language));
        assert_eq!(language.name(), name);
    }
    assert_eq!(Language::from_name("cobol"), None);
}

#[test]
fn code_does_what_its_row_says() {
    let mut wrong = Vec::new();
    for (language, code, want) in table::ROWS {
        let got = text(&read(*language, code, &[]));
        if got != *want {
            wrong.push(format!("{} {code}\n   want {want}\n   got  {got}", language.name()));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), table::ROWS.len(), wrong.join("\n"));
}

/// Hostile texts: openers without an end, deep nesting, long lines.
#[test]
fn hostile_texts_end_in_time_and_are_not_complete() {
    let pieces = [
        "(",
        "[",
        "{",
        "\"",
        "'",
        "`",
        "${",
        "#{",
        "f'{",
        "a(",
        "a[",
        "x=",
        "q{",
        "<<A\n",
        "/",
        "/[",
        "%w(",
        "$(",
        "a.b(",
        "lambda ",
        "for x in ",
        "not ",
        "-",
        "+",
        "a?b:",
        "\\",
        "$$",
        "/*",
        "--[[",
        "'''",
        "r\"(",
        "do $$",
        "(a ",
        "s/",
        "<",
        "x=>",
        "f\"{f\"{",
        "if ",
        "a|",
        "`${`${",
        "@{[",
        "chr(",
        "a+a+",
        "x=x+x;",
        "[x,x]",
        "x=[x,x]\n",
        "print ",
        "e ",
        "1e ",
    ];
    for (language, name) in Language::ALL.into_iter().zip(Language::NAMES) {
        for piece in pieces {
            let code = piece.repeat(8 * 1024 / piece.len());
            let start = std::time::Instant::now();
            let found = read(language, &code, &[]);
            let took = start.elapsed();
            assert!(took.as_millis() < 2000, "{name} took {took:?} for {piece:?}");
            assert!(found.inside.len() <= 300, "{name} lists {} for {piece:?}", found.inside.len());
        }
    }
}

/// The end of a text may be anywhere.
#[test]
fn every_beginning_of_a_text_is_read() {
    for (language, code, _) in table::ROWS {
        for (at, _) in code.char_indices() {
            read(*language, code.get(..at).unwrap_or_default(), &[]);
        }
    }
}

/// What is printed or stands in a comment is data.
#[test]
fn printed_text_is_data() {
    for (language, code) in [
        (Language::Python, "print('rm -rf /')  # os.system('rm -rf /')"),
        (Language::JavaScript, "console.log('rm -rf /') // require('fs').rmSync('/')"),
        (Language::Perl, "print \"rm -rf /\\n\"; # system('rm -rf /')"),
        (Language::Ruby, "puts 'rm -rf /' # `rm -rf /`"),
        (Language::Php, "echo 'rm -rf /'; // system('rm -rf /');"),
        (Language::Lua, "print('rm -rf /') -- os.execute('rm -rf /')"),
        (Language::Awk, "BEGIN { print \"system(rm -rf /)\" } # system(\"rm\")"),
        (Language::Sql, "SELECT 'DROP TABLE users; --' -- DROP TABLE users"),
    ] {
        let found = read(language, code, &[]);
        let harmless =
            found.inside.iter().all(|inside| matches!(inside, Inside::Argv(words) if words.len() == 2));
        assert!(harmless && found.complete, "{}: {code}: {}", language.name(), text(&found));
    }
}

/// What stands behind many harmless lines or arguments is read, or the answer is not complete.
#[test]
fn what_a_limit_drops_is_told() {
    let lines = |line: &str, last: &str| format!("{}{last}", format!("{line}\n").repeat(5000));
    let many = |open: &str, last: &str, close: &str| format!("{open}{}{last}{close}", "1, ".repeat(600));
    for (language, code) in [
        (Language::Vim, lines("\"", "!rm -rf /")),
        (Language::Gdb, lines("bt", "shell rm -rf /")),
        (Language::Redis, lines("get x", "flushall")),
        (Language::AppleScript, lines("log 1", "do shell script \"rm -rf /\"")),
        (Language::Vim, format!("{}!rm -rf /", "silent ".repeat(300))),
        (Language::Python, many("print(", "x", ")")),
        (Language::Elisp, format!("(message {} (foo))", "1 ".repeat(600))),
    ] {
        let found = read(language, &code, &[]);
        let told = text(&found).contains("rm -rf /") || text(&found).contains("flushall");
        assert!(told || !found.complete, "{language:?}: {}", text(&found));
    }
}
