//! Code of other languages in arguments, input and files becomes commands.
//!
//! INVARIANT: a row says every command that is listed beside the outermost program, and whether nothing is unread.

use super::super::code::Language;
use super::super::program::{Inner, OptionStyle, Program, Programs};
use super::super::{Dialect, Feature, Gap, Word, analyze};

struct Interpreters;

fn list(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_string).collect()
}

impl Programs for Interpreters {
    fn program(&self, name: &str) -> Option<Program> {
        let (flags, language) = match name {
            "python3" => ("-c", Language::Python),
            "perl" => ("-e", Language::Perl),
            "node" => ("-e", Language::JavaScript),
            "psql" => ("-c", Language::Sql),
            "awk" | "sed" => ("", if name == "awk" { Language::Awk } else { Language::Sed }),
            "sh" => {
                return Some(Program {
                    style: OptionStyle::First,
                    inner: vec![Inner::FlagText { flags: list("-c") }, Inner::Input],
                    ..Program::default()
                });
            }
            _ => return None,
        };
        let mut inner = match flags {
            "" => vec![Inner::OperandCode { index: 0, language, unless: list("-f") }],
            _ => vec![Inner::FlagCode { flags: list(flags), language }],
        };
        if !flags.is_empty() {
            inner.push(Inner::InputCode { language: Some(language) });
            inner.push(Inner::OperandFile { index: 0, language: Some(language), unless: list(flags) });
        }
        Some(Program { style: OptionStyle::First, value_flags: list(flags), inner, ..Program::default() })
    }
}

/// The commands inside, and whether something is unread.
fn shown(text: &str) -> (Vec<String>, bool) {
    let analysis = analyze(text, Dialect::Bash, &Interpreters);
    let word = |word: &Word| match word {
        Word::Known(text) | Word::Tilde(text) | Word::Glob(text) => text.clone(),
        _ => "?".to_string(),
    };
    let inside =
        analysis.commands.iter().filter(|command| !command.wrappers.is_empty() && !command.alternative);
    let lines = inside.map(|command| {
        let redirects = command.redirects.iter().map(|r| format!("{} {}", r.op, word(&r.target)));
        let words: Vec<String> = command.words.iter().map(word).chain(redirects).collect();
        words.join(" ")
    });
    let unread = analysis
        .commands
        .iter()
        .any(|command| command.gaps.iter().any(|gap| matches!(gap, Gap::UnreadCode | Gap::PartlyRead)));
    (lines.collect(), unread || !analysis.complete)
}

#[test]
fn code_becomes_commands() {
    for (text, inside, unread) in [
        ("python3 -c 'import os; os.system(\"rm -rf ~\")'", "rm -rf ~", true),
        ("python3 -c 'print(1)'", "", false),
        ("python3 -c \"print('rm -rf /')\"", "", false),
        ("python3 -c 'import shutil; shutil.rmtree(\"/\")'", "rm -r /", true),
        ("python3 -c 'open(\"/etc/passwd\", \"w\")'", "> /etc/passwd", true),
        ("python3 -c 'print(open(\".env\").read())'", "cat .env", true),
        ("python3 - <<'E'\nimport os\nos.remove('/etc/passwd')\nE", "rm /etc/passwd", true),
        ("python3 <<< \"import os; os.remove('/etc/passwd')\"", "rm /etc/passwd", true),
        ("echo 'import os; os.remove(\"/etc/passwd\")' | python3", "rm /etc/passwd", true),
        ("python3 - <<'E'\n# just a comment\nprint('hello')\nE", "", false),
        ("d=/; python3 -c \"import shutil; shutil.rmtree('$d')\"", "rm -r /", true),
        ("python3 -c \"import shutil; shutil.rmtree('$X')\"", "rm -r ?", true),
        ("python3 -c \"import os; os.system('rm -rf $X/y')\"", "rm -rf ?", true),
        ("python3 -c \"$X\"", "", true),
        ("awk 'BEGIN{system(\"rm x\")}'", "rm x", false),
        ("awk '{print $1}' data.txt", "", false),
        ("awk '{ print | \"sh\" }' data.txt", "sh", true),
        ("sed -n '1e rm -rf ~' README.md", "rm -rf ~", false),
        ("sed -n '1,20p' README.md", "", false),
        ("psql -c 'drop/**/table users'", "sql drop table users", false),
        ("echo 'DROP TABLE t;' | psql prod", "", false),
        ("psql <<< 'DROP TABLE x'", "sql drop table x", false),
        ("perl -e 'print 1' 'rm -rf ~|'", "", true),
        ("perl -ne 'print if /foo/' a.txt", "", false),
        ("perl -e 's/x/unlink \"a\"/e'", "rm a", true),
        // With a second `e` what comes out runs.
        ("perl -e 's/(.*)/$1/e'", "", false),
        ("perl -e 's/(.*)/$1/ee'", "", true),
        ("python3 -c 'import os, sys; os.remove(sys.argv[1])' /etc/passwd", "rm /etc/passwd", true),
        ("perl -e 'unlink @ARGV' /etc/passwd", "rm /etc/passwd", true),
        ("perl -e 'unlink $ARGV[0]' /etc/passwd", "rm /etc/passwd", true),
        ("node -e 'require(\"fs\").unlinkSync(process.argv[1])' /etc/passwd", "rm /etc/passwd", true),
        ("echo 'rm -rf ~' | python3 -c 'import os; os.system(input())'", "sh|rm -rf ~", true),
        ("perl -e 'print 1;' -e 'unlink \"/etc/passwd\"'", "rm /etc/passwd", true),
        (
            "node -e \"require('child_process').execSync('sh -c \\\"rm -rf ~\\\"')\"",
            "sh -c rm -rf ~|rm -rf ~",
            true,
        ),
        (
            "cat > /tmp/x.py <<'P'\nimport shutil\nshutil.rmtree('/home/dev')\nP\npython3 /tmp/x.py",
            "rm -r /home/dev",
            true,
        ),
    ] {
        let (lines, gap) = shown(text);
        assert_eq!(lines.join("|"), inside, "{text}");
        assert_eq!(gap, unread, "{text}: unread");
    }
}

#[test]
fn decoded_code_is_a_feature() {
    let text = "python3 -c \"exec(__import__('base64').b64decode('cm0gLXJmIC8='))\"";
    let analysis = analyze(text, Dialect::Bash, &Interpreters);
    let first = analysis.commands.first().expect("the interpreter");
    assert!(first.features & Feature::DecodedCode.bit() != 0 && first.gaps.contains(&Gap::PartlyRead));
    assert!(analysis.features & Feature::DecodedCode.bit() != 0);
}

/// Code inside is said to be run by what runs it.
#[test]
fn the_interpreter_is_a_wrapper() {
    let analysis = analyze("python3 -c 'import os; os.system(\"git push\")'", Dialect::Bash, &Interpreters);
    let inner = analysis.commands.last().expect("a command");
    assert_eq!(inner.wrappers, ["python3"]);
}
