//! Texts that try to break a shell reader: random tokens, mutated commands, deep nesting, long runs.
//!
//! INVARIANT: a text depends on the seed and on its number alone.

/// Makes texts from a seed.
pub struct Maker(u64);

const SEEDS: &[&str] = &[
    "git status && npm test -- --watch=false | tee out.log",
    "cat > a.py <<'EOF'\nprint('x')\nEOF\npython3 a.py",
    "for f in *.rs; do sed -i 's/a/b/' \"$f\" || exit 1; done",
    "x=$(date +%s); echo \"took ${x:-0} s\" >&2",
    "find . -name '*.o' -exec rm -f {} \\; -o -print",
    "if [[ -f \"$1\" && ! -d b ]]; then . \"$1\"; elif (( x > 1 )); then :; else exit; fi",
    "case $1 in (a|b) f ;; *.c) g ;& *) h ;;& esac",
    "bash -c 'cd /tmp && rm -rf \"$0\"' x",
    "env -u A B=1 sudo -u root timeout 5 sh -c \"echo $(whoami)\"",
    "diff <(sort a) <(sort b) > >(tee c) 2>&1",
    "f() { local a=(1 [x]=2 \"$@\"); echo ${a[@]:1:2} ${#a[*]} ${!a}; }; f a",
    "cat <<-A <<\"B\"\n\ta $(b) `c`\n\tA\n$x\nB\n",
    "while read -r l; do echo \"${l%%:*}\"; done < <(ls)",
    "echo $'a\\x41\\u00e9' $\"l\" a{b,c}{1..3} ~/x ?(a|b)",
    "coproc N { cat; }; exec {fd}<>/dev/tcp/h/1 3>&- 2>>e &>f &>>g",
    "! time -p { a; } | b |& c & d",
    "eval \"x=\\$$(echo y)\"; trap 'rm x' EXIT; alias l='ls -l'",
    "echo a | xargs -I{} sh -c 'echo {}' ; echo $((1+(2*x[0]))) $[1]",
    "select a in b c; do break; done; until a; do b; done",
    "${x:=$(a)} \"${y/\\//$'z'}\" ${ ls; } `echo \\`a\\``",
];

const TOKENS: &[&str] = &[
    "a",
    "git",
    "rm ",
    "x",
    " ",
    " ",
    "  ",
    "\n",
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
    "&>>",
    "<>",
    ">|",
    "<(",
    ">(",
    "'",
    "\"",
    "`",
    "$",
    "$(",
    "$((",
    "${",
    "${x",
    "${x:-",
    "${x[",
    "${!x",
    "${#x",
    "${ ",
    "${| ",
    "$[",
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
    "=~",
    "==",
    "x=",
    "x+=",
    "x=(",
    "a[",
    "a[0]=",
    "{fd}>",
    "if ",
    "then ",
    "fi",
    "else ",
    "elif ",
    "while ",
    "until ",
    "do ",
    "done",
    "for ",
    "for ((",
    "in ",
    "case ",
    "esac",
    ";;",
    ";&",
    ";;&",
    "function ",
    "f() ",
    "f()",
    "time ",
    "time -p ",
    "coproc ",
    "select ",
    "sudo ",
    "env ",
    "env -S ",
    "bash -c ",
    "sh -c '",
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
    "!(",
    "?(",
    "*(",
    "é",
    "\u{1F600}",
    "\r",
    "\r\n",
    "\0",
    "cd ",
    "export ",
    "declare ",
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
    "@",
    "@P}",
    "trap ",
    "echo ",
    "printf ",
    "cat ",
    "source ",
    "local ",
    "python3 ",
    "exit",
    "return",
    "break",
];

const OPENERS: &[(&str, &str)] = &[
    ("(", ")"),
    ("$(", ")"),
    ("<(", ")"),
    ("{ ", "; }"),
    ("${x:-", "}"),
    ("\"${x:-", "}\""),
    ("\"$(", ")\""),
    ("`", "`"),
    ("((", "))"),
    ("$((", "))"),
    ("[[ ", " ]]"),
    ("if ", "; then b; fi"),
    ("if a; then ", "; fi"),
    ("while ", "; do b; done"),
    ("case x in x) ", ";; esac"),
    ("for i in a; do ", "; done"),
    ("f() { ", "; }"),
    ("coproc { ", "; }"),
    ("a[$(", ")]=1"),
    ("x=($(", "))"),
    ("x=([$(", ")]=1)"),
    ("[[ a =~ $(", ") ]]"),
    ("[[ a =~ (", ") ]]"),
    ("@(", ")"),
    ("cat <<E\n$(", ")\nE\n"),
    ("$\"$(", ")\""),
    ("${x#\"${x:-", "}\"}"),
    ("bash -c \"", "\""),
    ("eval \"", "\""),
    ("sudo ", ""),
    ("a && ", "b"),
    ("{a,", "}"),
    ("! ", "a"),
    ("$[", "]"),
    ("${ ", "; }"),
    ("\\", ""),
    ("'", "'"),
    ("$'", "'"),
    ("time ", "a"),
    ("> f ", ""),
    ("2>&1 ", ""),
    ("<<E ", "\nE\n"),
    ("env -S '", "'"),
    ("find . -exec ", " \\;"),
    ("echo $((a[", "]))"),
    ("((a[$((", ")))]))"),
    ("${x[${x[", "]}]}"),
];

impl Maker {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Maker {
        Maker(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let at = self.below(from.len());
        from[at]
    }

    fn tokens(&mut self, most: usize) -> String {
        let count = 1 + self.below(most);
        (0..count).map(|_| self.pick(TOKENS)).collect()
    }

    /// The next bytes, most of them few.
    pub fn bytes(&mut self) -> Vec<u8> {
        let most = self.pick(&[8, 16, 32, 64, 400]);
        (0..2 + self.below(most)).map(|_| (self.below(1 << 20) >> 7) as u8).collect()
    }

    /// The next text.
    pub fn text(&mut self) -> String {
        match self.below(100) {
            0..=34 => self.tokens(32),
            35..=64 => self.mutated(),
            65..=74 => {
                let (a, join, b) = (self.mutated(), self.pick(TOKENS), self.mutated());
                format!("{a}{join}{b}")
            }
            75..=84 => {
                let levels = 1 + self.below(60);
                self.nested(levels)
            }
            85..=92 => self.mixed(),
            93..=96 => {
                let levels = 1 + self.below(9000);
                self.nested(levels)
            }
            97 => {
                let (unit, size) = (self.tokens(4), 1 + self.below(70_000));
                unit.repeat(size / unit.len() + 1)
            }
            98 => {
                let (unit, before, after) = (
                    self.pick(&["a", "a ", "'", "\"", "{", "{a,", "\\", "$x", "*"]),
                    self.tokens(6),
                    self.tokens(6),
                );
                let size = self.below(66_000);
                format!("{before}{}{after}", unit.repeat(size / unit.len()))
            }
            _ => {
                let unit = self.pick(&["a", "> f ", "<a ", "'", "x=1 ", "a\n", "$(", "2>&1 "]);
                unit.repeat(1_000_000 / unit.len())
            }
        }
    }

    fn mutated(&mut self) -> String {
        let mut text: Vec<char> = self.pick(SEEDS).chars().collect();
        for _ in 0..self.below(6) {
            let at = self.below(text.len() + 1);
            let end = (at + self.below(8)).min(text.len());
            match self.below(6) {
                0 | 1 => {
                    let token = self.pick(TOKENS);
                    text.splice(at..at, token.chars());
                }
                2 => drop(text.drain(at..end)),
                3 => {
                    let copied: Vec<char> = text[at..end].to_vec();
                    let to = self.below(text.len() + 1);
                    text.splice(to..to, copied);
                }
                4 => text.truncate(at),
                _ => {
                    let token = self.pick(TOKENS);
                    text.splice(at..end, token.chars());
                }
            }
        }
        text.into_iter().collect()
    }

    fn nested(&mut self, levels: usize) -> String {
        let (open, close) = self.pick(OPENERS);
        let levels = levels.min(65_000 / (open.len() + close.len()));
        let inner = self.tokens(4);
        match self.below(3) {
            0 => open.repeat(levels),
            1 => format!("{}{inner}{}", open.repeat(levels), close.repeat(levels)),
            _ => {
                let few = self.below(levels + 1);
                format!("{}{inner}{}", open.repeat(levels), close.repeat(few))
            }
        }
    }

    fn mixed(&mut self) -> String {
        let levels = 1 + self.below(40);
        let (mut open, mut close) = (String::new(), Vec::new());
        for _ in 0..levels {
            let (o, c) = self.pick(OPENERS);
            open.push_str(o);
            if self.below(8) > 0 {
                close.push(c);
            }
        }
        open.push_str(&self.tokens(4));
        close.into_iter().rev().for_each(|c| open.push_str(c));
        open
    }
}
