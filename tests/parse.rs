//! The policy language: what parses, what is refused and how, and what `fmt` makes of it.
//!
//! INVARIANT: every refused file has an error that points into it, and no text makes the parser panic or slow.

use miette::{GraphicalReportHandler, GraphicalTheme};
use policy_grammar::source::{FileId, SourceMap};
use policy_grammar::{Code, Parsed, ast, diagnostic::Level, format, parse, print};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

fn read(text: &str) -> Parsed {
    parse(FileId(0), text)
}

/// The diagnostics as a terminal shows them, without colors.
fn rendered(name: &str, text: &str) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(90);
    let mut out = String::new();
    for diagnostic in parse(file, text).diagnostics {
        handler.render_report(&mut out, &diagnostic.report(&sources)).unwrap();
        out.push('\n');
    }
    out.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The tree without its places, and without what brackets say nothing about.
fn shape(file: &ast::File) -> String {
    let mut shape = String::new();
    let debug = format!("{:?} {:?}", file.header, file.items);
    let mut rest = debug.as_str();
    while let Some((before, after)) = rest.split_once("Span { file") {
        shape.push_str(before);
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    shape.push_str(rest);
    shape.replace("bracketed: true", "").replace("bracketed: false", "")
}

fn comments(file: &ast::File) -> Vec<String> {
    file.comments.iter().map(|comment| comment.text.node.clone()).collect()
}

/// What must hold of every text that parses.
fn check_format(name: &str, text: &str) {
    let parsed = read(text);
    let once = format(FileId(0), text).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let again = read(&once);
    assert_eq!(again.diagnostics, [], "{name}:\n{once}");
    assert_eq!(shape(&again.file), shape(&parsed.file), "{name}:\n{once}");
    assert_eq!(comments(&again.file), comments(&parsed.file), "{name}:\n{once}");
    assert_eq!(format(FileId(0), &once).unwrap(), once, "{name}: formatting twice");
    let printed = print(&parsed.file);
    let reread = read(&printed);
    assert_eq!(reread.diagnostics, [], "{name}:\n{printed}");
    assert_eq!(shape(&reread.file), shape(&parsed.file), "{name}:\n{printed}");
}

#[test]
fn the_files_of_the_design_parse() {
    for (name, text) in files("language") {
        let parsed = read(&text);
        assert_eq!(parsed.diagnostics, [], "{name}");
        assert!(!parsed.file.skipped, "{name}");
        assert!(parsed.file.header.is_some(), "{name}");
    }
}

#[test]
fn refused_files_say_why() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (name, text) in files("refused") {
        let parsed = read(&text);
        assert!(parsed.diagnostics.iter().any(|d| d.level == Level::Error), "{name}");
        for diagnostic in &parsed.diagnostics {
            assert!(!diagnostic.message.ends_with('.') && !diagnostic.message.contains('\n'), "{name}");
            assert!(diagnostic.labels.iter().all(|label| label.span.end as usize <= text.len()), "{name}");
            assert!(Code::ALL.iter().any(|code| code.as_str() == diagnostic.code), "{name}");
        }
        assert!(format(FileId(0), &text).is_err(), "{name}");
        let stem = name.trim_end_matches(".policy");
        settings.bind(|| insta::assert_snapshot!(format!("refused@{stem}"), rendered(&name, &text)));
    }
}

#[test]
fn every_code_has_a_refused_file() {
    let seen: BTreeSet<&str> = files("refused")
        .iter()
        .flat_map(|(_, text)| read(text).diagnostics)
        .map(|diagnostic| diagnostic.code)
        .collect();
    let by_size = [Code::TooLong, Code::TooManyErrors];
    let missing: Vec<&Code> =
        Code::ALL.iter().filter(|code| !by_size.contains(code) && !seen.contains(code.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn formatting_keeps_tree_and_comments() {
    for (name, text) in files("language") {
        check_format(&name, &text);
    }
}

#[test]
fn the_growth_of_the_language_parses() {
    let text = r##"
policy "growth" language 1
program sudo { runs its operands options first flags with values -u, --user flags that run nothing -v, -l }
program env, nice { runs its operands after 1 assignments first }
program docker { options none under exec, "compose exec" { runs its operands after 1 flags without values -d } flags with values -H }
program kubectl { under exec { # why
runs its operands after -- } under run { } }
program sh { runs -c as text runs its input flags with attached values -i, --color flags with values +o reads texts as posix }
program make { flags that change folder -C, --directory flags that run its input -s }
program parallel { options late placeholders "{}", "{.}" flags with placeholders -I ends its operands at ":::", "::::" }
program trap { runs operand 1 as text }
program python { runs its input as code }
program tig { runs -c, --config as text after "alias.*=!", "core.pager=" options first }
program su { runs -c, --command as text runs its operands as text }
program xargs { runs its input as words }
program ls { lists its operands options anywhere }
program git { prints names for merge-base, rev-parse connects to its operands options single-dash }
guard g on Bash {
  deny because "no subject"
  ask
  deny run `*` except [`apt install ...`] via sudo, doas
  ask when fenced  because "inside a page"
  deny content r#"a"b"#, r"c\d"
}
test "values" {
  given today 2027-01-01
  given file "a/b"
  given session ran `npm test`
  expect deny mcp__a__b { yes: true, no: false, none: null, n: -1.5e3, list: [1, [2], {}], "odd key": "x\u{41}" } from srv as me by std/git/x
  expect ask "list" { } by g
}
"##;
    let parsed = read(text);
    assert_eq!(parsed.diagnostics, []);
    check_format("growth", text);
}

/// A program's facts, what is said of them, and how many facts of the program are still there.
#[test]
fn facts_that_cannot_be() {
    let rows = [
        ("runs operand 0 as text", "there is no operand 0", 1),
        ("runs -x as command after \"y\"", "beginnings stand behind `as text` only", 1),
        ("reads texts as fish", "unknown shell `fish`", 1),
        ("options last", "unknown place for options `last`", 1),
        ("under a { under b { lists its operands } }", "a block behind `under` takes no `under`", 1),
        ("lists its operands under a { options first", "this program is never closed", 2),
        ("under { lists its operands } options first", "expected a name", 1),
        ("runs its operands after 1 after 2", "`after` is said twice", 1),
    ];
    for (facts, wanted, count) in rows {
        let parsed = read(&format!("policy \"n\" language 1\nprogram p {{ {facts} }}\n"));
        assert_eq!(parsed.diagnostics.len(), 1, "{facts}");
        let first = parsed.diagnostics.first().map(|one| one.message.clone()).unwrap_or_default();
        assert!(first.starts_with(wanted), "{facts}\n{first}");
        let [ast::Item::Program(program)] = parsed.file.items.as_slice() else {
            panic!("{facts}: {parsed:?}")
        };
        assert_eq!(program.facts.len(), count, "{facts}\n{program:#?}");
    }
}

#[test]
fn a_fault_leaves_the_rest_readable() {
    let text =
        files("refused").into_iter().find(|(name, _)| name == "two-errors-in-project.policy").unwrap().1;
    let parsed = read(&text);
    assert_eq!(parsed.diagnostics.len(), 2);
    assert!(parsed.file.skipped);
    let [ast::Item::Project { items, .. }, ast::Item::Mode { .. }] = parsed.file.items.as_slice() else {
        panic!("{:?}", parsed.file.items);
    };
    let [ast::Item::Block(rule), ast::Item::Block(_)] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!(rule.lines.len(), 1);
}

/// A small generator with a fixed seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Words, runs of other letters and blanks, each a token to move about.
fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => 0,
        ' ' => 1,
        '\n' => 2,
        _ => 3,
    };
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| class(c) != class(first)).unwrap_or(rest.len());
        let end = if class(first) == 3 { first.len_utf8() } else { end };
        let (token, tail) = rest.split_at(end);
        tokens.push(token);
        rest = tail;
    }
    tokens
}

#[test]
fn broken_texts_are_normal_input() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut sources: Vec<String> =
        [files("language"), files("language"), files("language"), files("refused")]
            .concat()
            .into_iter()
            .map(|(_, text)| text)
            .collect();
    let extra = [
        "{", "}", "[", "]", "\"", "`", "'", "#", ",", "...", "@", "r\"", "\\", "é", "\u{202e}", "\r\n", "\0",
        "deny", "\nrule",
    ];
    let (mut whole, mut slowest) = (0, Duration::ZERO);
    let rounds = 2000;
    for round in 0..rounds {
        let pick = random.below(sources.len());
        let source = sources.get_mut(pick).unwrap().clone();
        let mut words: Vec<&str> = tokens(&source);
        for _ in 0..=random.below(3) {
            let at = random.below(words.len());
            match random.below(5) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[at]),
                2 => words.insert(at, words[random.below(words.len())]),
                3 => words.insert(at, extra[random.below(extra.len())]),
                _ => {
                    let other = random.below(words.len());
                    words.swap(at, other);
                }
            }
            if words.is_empty() {
                break;
            }
        }
        let text = words.concat();
        let start = Instant::now();
        let parsed = read(&text);
        slowest = slowest.max(start.elapsed());
        for diagnostic in &parsed.diagnostics {
            for label in &diagnostic.labels {
                assert!(
                    text.get(label.span.start as usize..label.span.end as usize).is_some(),
                    "{round}: {diagnostic:?}"
                );
            }
        }
        assert!(
            !parsed.file.skipped || !parsed.diagnostics.is_empty(),
            "{round}: skipped in silence:\n{text}"
        );
        if parsed.diagnostics.is_empty() {
            whole += 1;
            check_format(&format!("round {round}"), &text);
        } else {
            rendered("mutated.policy", &text);
        }
    }
    assert!(whole > rounds / 25, "only {whole} of {rounds} mutated texts still parse");
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

#[test]
fn large_texts_take_linear_time() {
    let header = "policy \"n\" language 1\n";
    let shapes: [(&str, String); 8] = [
        ("rules", "rule r on bash {\n  allow run `git status ...`\n}\n".repeat(4000)),
        ("faults", "rule r on bash {\n  allow run \"x\" {\n".repeat(10_000)),
        ("openers", "{".repeat(400_000)),
        ("projects", "project \"./a\" {\n".repeat(20_000)),
        ("depth", format!("test \"x\" {{\n expect deny x {{a:{}", "[".repeat(400_000))),
        ("objects", "test \"x\" {\n expect deny x { {a:\n".repeat(10_000)),
        ("blanks", format!("rule r {{\n deny{}x }}", " ".repeat(1_000_000))),
        ("one line", format!("rule r {{ {} }}", "deny path ".repeat(40_000))),
    ];
    for (name, text) in shapes {
        let start = Instant::now();
        let parsed = read(&format!("{header}{text}"));
        assert!(parsed.diagnostics.len() <= 101, "{name}");
        assert!(start.elapsed() < Duration::from_secs(20), "{name}: {:?}", start.elapsed());
    }
    let long = read(&" ".repeat(policy_grammar::MAX_BYTES + 1));
    assert_eq!(long.diagnostics.first().map(|d| d.code), Some(Code::TooLong.as_str()));
}
