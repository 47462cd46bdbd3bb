//! Any bytes, and texts made to be slow.
//!
//! INVARIANT: no panic on mutated texts of any check; a text eight times as long takes no more than 24 times as long.

use policy_checks::{CHECKS, Options, Text, check_command, check_text};
use std::time::{Duration, Instant};

const PATHS: [&str; 18] = [
    "a.py",
    "alembic/versions/a.py",
    "tests/test_a.py",
    "a.ts",
    "a.js",
    "a.tsx",
    "pages/blog/a.tsx",
    "a.html",
    "a.vue",
    "a.svelte",
    "a.go",
    "a.rs",
    "a.json",
    "run.sh",
    ".github/workflows/a.yml",
    "t.jsonl",
    "a.test.ts",
    "a_test.go",
];

fn all(text: &str, before: Option<&str>) -> usize {
    let mut found = 0;
    for check in CHECKS {
        for path in PATHS {
            let event = check.events.last().copied().unwrap_or("pre_tool_use");
            found +=
                check_text(check.name, &Text { path, before, after: text, event }, &Options::default()).len();
        }
        let words: Vec<Option<&str>> = text.split(' ').map(Some).collect();
        found += check_command(check.name, &words, Some(text), &Options::default()).len();
    }
    found
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

#[test]
fn mutated_texts_never_panic() {
    let seeds: Vec<String> = include_str!("rows.jsonl")
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|row| row["tool_input"]["content"].as_str().or(row["tool_input"]["command"].as_str()).map(str::to_owned))
        .filter(|text| text.len() < 400)
        .chain([
            "def f(x):\n  return f\"{x!r:>{w}} {{}} {d['a']}\" f'''\n{x}'''\n".to_owned(),
            "const a = `x ${b ? `y ${<p k={1} {...q}>t</p>}` : /[/]\\//g} z`; // c\n/* d */ <T,>(x: T) => x < y\n".to_owned(),
            "<!-- c --><div class='a' :b=\"c\" @click=x {d}><script>let a = '</p>'</script>{{ e }}</div>\n".to_owned(),
            "{\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{\"command\":\"rm -rf \\u0041 /\"}}]}}\n".to_owned(),
        ])
        .collect();
    let pieces = [
        "\"",
        "'",
        "`",
        "\"\"\"",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "<",
        ">",
        "</",
        "/>",
        "/*",
        "*/",
        "//",
        "#",
        "<!--",
        "-->",
        "\\",
        "\n",
        "\r",
        "\t",
        "f\"",
        "${",
        "=",
        ":",
        "é",
        "\u{feff}",
        "\u{1}",
        "\0",
        "async def ",
        "except",
        "import ",
        "from x import *",
        "SELECT ",
        "-m",
        "=>",
        "日",
        "\\u",
    ];
    let rounds =
        std::env::var("POLICY_CHECKS_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(600);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..rounds {
        let mut text = seeds[random.below(seeds.len())].clone();
        let old = text.clone();
        for _ in 0..1 + random.below(6) {
            let mut at = random.below(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            match random.below(3) {
                0 => text.insert_str(at, pieces[random.below(pieces.len())]),
                1 => text.truncate(at),
                _ => {
                    let tail = text.split_off(at);
                    let other = &seeds[random.below(seeds.len())];
                    let mut from = random.below(other.len() + 1);
                    while !other.is_char_boundary(from) {
                        from -= 1;
                    }
                    text.push_str(&other[from..]);
                    if random.below(2) == 0 {
                        text.push_str(&tail);
                    }
                }
            }
        }
        all(&text, if random.below(2) == 0 { Some(&old) } else { None });
    }
}

/// Leaves out files that a check does not open at all.
fn looks_at(name: &str, path: &str) -> bool {
    let python = [
        "no-bare-except",
        "no-unsafe-shell",
        "no-sql-injection",
        "no-wildcard-import",
        "no-unnecessary-async",
    ];
    let web = ["a11y", "mobile", "style", "react", "seo"];
    let tags = [".tsx", ".html", ".vue", ".svelte"].iter().any(|end| path.ends_with(end));
    match name {
        _ if python.contains(&name) => path == "a.py",
        "no-dangerous-migration" => path.starts_with("alembic"),
        "subagent-transcript-audit" => path == "t.jsonl",
        "commit-message-format" | "no-large-diff" | "naming-conventions" => path == "a.py",
        "max-file-size" => path == "a.json",
        "env-credential-reference" => path == "run.sh" || path == "a.py",
        _ if web.iter().any(|start| name.starts_with(start)) => tags,
        _ => true,
    }
}

#[test]
fn linear_time() {
    let units = [
        "\"serial\": 1,\n",
        "redis://a:b ",
        "git push ",
        "rm -rrr ",
        "git commit -m \"$(cat <<'EOF'\n",
        "<img ",
        "<button className=\"w-1 ",
        "<div>",
        "</x>",
        "<a href='x'>click here",
        "{",
        "(",
        "f\"{",
        "f'{f\"{",
        "`${",
        "<p>{",
        "try:\nexcept:\n",
        "x.execute(",
        "subprocess.run(**{'a': ",
        "\"SELECT a \" + ",
        "f(\"SELECT a FROM t\" + ",
        "async def f():\n",
        "import a\n",
        "if x:\n x(\n",
        "<input id=x>",
        "<label>",
        "<h1>",
        "useQuery(",
        "xs.map(",
        "it('",
        "// TODO ",
        "/* ",
        "'",
        "\\",
        "{\"message\":{\"content\":[",
        "[[",
        "@a\n",
        "class A(B):\n",
        "def test_a():\n",
        "p().catch(",
        "if err != nil {\n",
        "console.log(",
        "a < b ",
        "import {a,",
        "const {a,",
        "<A b={<",
        "x = /",
        "<!--",
        "export SECRET_FILE=",
        "lambda: ",
        "{{",
        "r#\"",
        "it('a', () => {\n",
        "<script>",
        "x=1\n",
    ];
    let time = |unit: &str, size: usize, name: &str, path: &str| {
        let text = unit.repeat(size / unit.len());
        let check = policy_checks::find(name).unwrap();
        let event = check.events.last().copied().unwrap_or("pre_tool_use");
        let half = &text[..text.len() / 2 / unit.len() * unit.len()];
        let start = Instant::now();
        check_text(name, &Text { path, before: Some(half), after: &text, event }, &Options::default());
        check_command(
            name,
            &[Some("git"), Some("commit"), Some("-m"), Some(&text)],
            Some(&text),
            &Options::default(),
        );
        start.elapsed()
    };
    let large: usize =
        std::env::var("POLICY_CHECKS_BYTES").ok().and_then(|size| size.parse().ok()).unwrap_or(16 << 10);
    let mut slowest = (Duration::ZERO, String::new());
    for unit in units {
        for check in CHECKS {
            for path in PATHS.iter().copied().filter(|path| looks_at(check.name, path)) {
                let took = time(unit, large, check.name, path);
                if took > slowest.0 {
                    slowest = (took, format!("{} {path} {unit:?}", check.name));
                }
                // What takes long is measured again, eight times as large: waiting for other programs is not counted twice.
                if took > Duration::from_millis(60) {
                    let best =
                        |size: usize| (0..3).map(|_| time(unit, size, check.name, path)).min().unwrap();
                    let (small, again) = (best(large / 2), best(large * 4));
                    let limit = small * 24 + Duration::from_millis(100);
                    assert!(again < limit, "{} {path} {unit:?}: {small:?}, then {again:?}", check.name);
                }
            }
        }
    }
    println!("slowest at {large} bytes: {slowest:?}");
}
