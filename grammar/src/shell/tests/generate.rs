//! A generator of harmless scripts over stub programs.
//!
//! INVARIANT: what it writes runs only the stubs and text filters, and writes only files of its own folder.

use super::limits::Random;

/// Makes scripts; the same seed makes the same ones.
pub(super) struct Generator {
    random: Random,
    names: u32,
}

impl Generator {
    pub(super) fn new(seed: u64) -> Generator {
        Generator { random: Random::new(seed.max(1)), names: 0 }
    }

    fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.random.below(all.len())]
    }

    /// One script of several statements.
    pub(super) fn script(&mut self) -> String {
        let count = 1 + self.random.below(4);
        let lines: Vec<String> = (0..count).map(|_| self.statement(3)).collect();
        let text = lines.join("\n");
        if text.len() > 3000 { "p short".to_string() } else { text }
    }

    fn word(&mut self) -> String {
        let simple = [
            "a",
            "b",
            "'c d'",
            "\"e f\"",
            "$'g\\x68'",
            "{1,2}",
            "$x",
            "\"$x\"",
            "${x}y",
            "\"${y:-d}\"",
            "$((1+2))",
            "$(echo i)",
            "`echo j`",
            "\"$@\"",
            "$1",
            "*.t",
            "\\$x",
            "a\"b\"'c'",
            "~",
            "~/k",
            "${x#a}",
            "\"$(echo l m)\"",
            "$y",
            "${z:-u v}",
            "-f",
            "--",
            "\"\"",
            "''",
            "$(printf '%s' o)",
            "${#x}",
            "{a..c}",
            "x{y,z}\"w\"",
            "\"$*\"",
            "${x/a/b}",
            "$(p s)",
            "\"$(q t)\"",
            "${x:0:1}",
            "\"${a[@]}\"",
            "${a[1]}",
            "$((x+1))",
            "\"~\"",
            "=",
            "a=b",
            "#c",
            "a#b",
            "\\\n",
            "${x^^}",
            "?",
            "[ab]",
            "${!x}",
            "\"a\\\"b\"",
            "\"a\\b\"",
            "${x%b}",
            "\"`echo \\\"n\\\"`\"",
            "${x:+w}",
            "$((2*3))",
            "\"$'a'\"",
            "${IFS}",
        ];
        let word = self.pick(&simple);
        word.to_string()
    }

    fn words(&mut self, most: usize) -> String {
        let count = self.random.below(most + 1);
        let all: Vec<String> = (0..count).map(|_| self.word()).collect();
        all.join(" ")
    }

    /// A word that is one plain text.
    fn plain(&mut self) -> &'static str {
        self.pick(&["a", "b", "ab", "p", "q", "1", "2", "'a b'", "'c  d'", "x", "e-f", "'*'", "~/m"])
    }

    fn stub(&mut self) -> &'static str {
        self.pick(&["p", "q", "r", "n", "p", "q"])
    }

    fn call(&mut self) -> String {
        format!("{} {}", self.stub(), self.words(3))
    }

    fn name(&mut self, start: &str) -> String {
        self.names += 1;
        format!("{start}{}", self.names % 4)
    }

    /// A text that is safe to put inside single quotes.
    fn quoted(&mut self, text: &str) -> String {
        format!("'{}'", text.replace('\'', "'\\''"))
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.call();
        }
        let d = depth - 1;
        match self.random.below(42) {
            0..=5 => self.call(),
            6 => format!("x={}", self.plain()),
            7 => format!("x={}; {}", self.word(), self.call()),
            8 => format!("a=({} {}); {}", self.plain(), self.plain(), self.call()),
            9 => format!("set -- {} {}; {}", self.plain(), self.plain(), self.call()),
            10 => format!("{} && {}", self.statement(d), self.statement(d)),
            11 => format!("{} || {}", self.statement(d), self.statement(d)),
            12 => format!("{} | {}", self.statement(d), self.statement(d)),
            13 => format!("{{ {}; }}", self.statement(d)),
            14 => format!("( {} )", self.statement(d)),
            15 => format!(
                "if {}; then {}; else {}; fi",
                self.statement(d),
                self.statement(d),
                self.statement(d)
            ),
            16 => {
                let (first, second) = (self.plain(), self.plain());
                format!("for x in {first} {second} {}; do {}; done", self.word(), self.statement(d))
            }
            17 => {
                format!("case {} in a) {};; *) {};; esac", self.word(), self.statement(d), self.statement(d))
            }
            18 => {
                let name = self.name("fun");
                format!("{name}() {{ {}; }}; {name} {}", self.statement(d), self.words(2))
            }
            19 => {
                let text = self.statement(d);
                format!("eval {}", self.quoted(&text))
            }
            20 => {
                let text = self.statement(d);
                format!("bash -c {} {}", self.quoted(&text), self.words(2))
            }
            21 => {
                let text = self.call();
                format!("sh -c {}", self.quoted(&text))
            }
            22 => {
                let text = self.statement(d);
                format!("echo {} | bash", self.quoted(&text))
            }
            23 => {
                let text = self.statement(d);
                format!("printf '%s\\n' {} | bash -s {}", self.quoted(&text), self.words(1))
            }
            24 => {
                let text = self.statement(d);
                format!("bash <<'EOT'\n{text}\nEOT\n")
            }
            25 => format!("cat <<EOT | bash\n{}\nEOT\n", self.call()),
            26 => {
                let text = self.statement(d);
                format!("bash <<< {}", self.quoted(&text))
            }
            27 => {
                let (text, file) = (self.statement(d), self.name("file"));
                let run = self.pick(&[
                    "bash",
                    ".",
                    "source",
                    "bash <",
                    "cat F | bash; true",
                    "chmod +x F; ./F; true",
                ]);
                let op = self.pick(&[">", ">", ">>", "| tee"]);
                let run = run.replace('F', &file);
                // A shell takes the operand for its script.
                let words = if run == "bash <" { String::new() } else { self.words(1) };
                format!("echo {} {op} {file}; {run} ./{file} {words}", self.quoted(&text))
            }
            28 => format!("env {} {}", self.pick(&["", "X=1", "-u X"]), self.call()),
            29 => format!(
                "echo {} {} | xargs {} {}",
                self.plain(),
                self.plain(),
                self.pick(&["", "-n 1", "-I{}"]),
                self.call()
            ),
            30 => format!(
                "printf '%s\\n' {} {} | while read x; do {}; done",
                self.plain(),
                self.plain(),
                self.statement(d)
            ),
            31 => format!("read x y <<< {}; {}", self.plain(), self.call()),
            32 => format!("printf -v x %s {}; {}", self.plain(), self.call()),
            33 => format!("cd d {} {}", self.pick(&["&&", ";", "||"]), self.statement(d)),
            34 => format!("x={} {}", self.plain(), self.call()),
            35 => format!("x=$({}); {}", self.statement(d), self.call()),
            36 => format!(
                "{} {}",
                self.pick(&["export", "local", "declare", "readonly -p;"]),
                format_args!("x={}; {}", self.plain(), self.call())
            ),
            37 => format!("[[ {} == a ]] && {}", self.word(), self.statement(d)),
            38 => {
                let text = self.call();
                format!("trap {} EXIT; {}", self.quoted(&text), self.statement(d))
            }
            39 => format!(
                "{}\n{}",
                self.pick(&[
                    "unset x",
                    "shift",
                    "x+=b",
                    "set --",
                    "y=$x",
                    "x=$x$y",
                    "a+=(z)",
                    "((x=1))",
                    "let x=2",
                    "IFS=b",
                    "readonly y"
                ]),
                self.call()
            ),
            40 => self.odd(d),
            _ => format!(
                "{} > {} {}",
                self.call(),
                self.name("out"),
                self.pick(&["", "2>&1", "; p behind", "&", "< /dev/null"])
            ),
        }
    }

    fn odd(&mut self, d: usize) -> String {
        match self.random.below(14) {
            0 => {
                let text = self.call();
                let encoded = base64(&format!("{text}\n"));
                format!("echo {encoded} | base64 -d | bash")
            }
            1 => {
                let text = self.stub().chars().rev().collect::<String>();
                format!("echo 'k {text}' | rev | bash")
            }
            2 => format!("$(echo {}) {}", self.stub(), self.words(2)),
            3 => format!("x={}; $x {}", self.stub(), self.words(2)),
            4 => format!("command {}", self.call()),
            5 => format!("timeout 5 nice {}", self.call()),
            6 => format!("while {}; do {}; break; done", self.call(), self.statement(d)),
            7 => format!("until {}; do {}; break; done", self.call(), self.statement(d)),
            8 => format!("! {}", self.call()),
            9 => format!("bash <(echo {}) {}", self.plain(), self.word()),
            10 => {
                let text = self.call();
                format!(". <(echo {})", self.quoted(&text))
            }
            11 => format!("for ((i=0; i<2; i++)); do {} $i; done", self.call()),
            12 => format!("x='{} a'; {} \"$x\"; eval \"$x\"; $x", self.stub(), self.stub()),
            _ => format!("{} |& {}", self.call(), self.call()),
        }
    }
}

fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let value =
            chunk.iter().fold(0u32, |all, byte| all << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(value >> (18 - 6 * at)) as usize & 63];
            out.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}
