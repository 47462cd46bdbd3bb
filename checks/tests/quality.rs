//! The checks of what a change leaves, takes away and weakens.

use crate::support::{change, judge, new, with};
use policy_checks::{Options, Severity, Value, check_command, commands_in_transcript};

#[test]
fn test_weakening() {
    let name = "no-test-weakening";
    judge(
        name,
        "tests/test_a.py",
        &[
            "@pytest.mark.skip\ndef test_a():\n    assert f() == 1\n",
            "@pytest.mark.skip(reason='x')\ndef test_a():\n    assert f() == 1\n",
            "pytestmark = pytest.mark.skip\n",
            "@unittest.skip('x')\ndef test_a(self):\n    self.assertEqual(f(), 1)\n",
            "@pytest.mark.skipif(True, reason='x')\ndef test_a():\n    assert f()\n",
            "def test_a():\n    assert True\n",
            "def test_a():\n    assert 1 == 1, 'x'\n",
            "def test_a():\n    assert f() == 1 or True\n",
            "def test_a(self):\n    self.assertTrue(True)\n",
            "def test_a(self):\n    self.assertEqual(1, 1)\n",
            "def test_a():\n    # assert x\n    assert y\n",
            "def test_a():\n    # self.assertEqual(x, 1)\n    assert y\n",
            "@pytest.mark.xfail\ndef test_a():\n    assert y\n",
            "@pytest.mark.xfail()\ndef test_a():\n    assert y\n",
            "def test_a():\n    pass\n",
            "async def test_a():\n    \"\"\"Doc.\"\"\"\n",
            "def test_a():\n    pytest.skip('later')\n    assert x\n",
        ],
        &[
            "@pytest.mark.skipif(sys.platform == 'win32', reason='x')\ndef test_a():\n    assert f()\n",
            "@unittest.skipIf(x, 'y')\ndef test_a(self):\n    self.assertTrue(x)\n",
            "@pytest.mark.xfail(reason='bug 1')\ndef test_a():\n    assert y\n",
            "def test_a():\n    if not x:\n        pytest.skip('no x')\n    assert y\n",
            "def test_a():\n    # assert that the user is there\n    assert y\n",
            "def test_a():\n    s = 'assert True'\n    assert s\n",
            "def helper():\n    pass\n",
            "def test_a():\n    assert x == 1\n    assert f(True)\n    self.assertTrue(ok)\n",
            "def test_a():\n    with pytest.raises(X):\n        f()\n",
        ],
    );
    judge(
        name,
        "a.test.ts",
        &[
            "it.skip('x', () => {})\n",
            "describe.skip('x', () => { it('a', () => { expect(f()).toBe(1) }) })\n",
            "xit('x', () => { expect(f()).toBe(1) })\n",
            "test.describe.skip('x', () => { f() })\n",
            "it.only('x', () => { expect(f()).toBe(1) })\n",
            "it('x', () => { expect(true).toBe(true) })\n",
            "it('x', () => { expect(1).toEqual(1) })\n",
            "it('x', () => { expect(true).toBeTruthy() })\n",
            "it('x', () => { assert(true) })\n",
            "it('x', async () => {})\n",
            "it('x', () => {\n  // expect(f()).toBe(1)\n  g()\n})\n",
        ],
        &[
            "it('x', () => { expect(f()).toBe(true) })\n",
            "it('x', () => { expect(true).toBe(f()) })\n",
            "it('x', () => { xs.skip('x') })\n",
            "test.skip(isCI, 'no')\n",
            "// expect nothing here\nit('x', () => { expect(f()).toBe(1) })\n",
            "const s = \"it.skip('x')\"\n",
            "it.todo('x')\n",
            "it.each([1])('x', () => { expect(f()).toBe(1) })\n",
        ],
    );
    judge(
        name,
        "a_test.go",
        &[
            "func TestA(t *testing.T) { t.Skip() }\n",
            "func TestA(t *testing.T) {\n\tt.Skipf(\"x\")\n}\n",
            "func TestA(t *testing.T) {}\n",
        ],
        &[
            "func TestA(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip(\"x\")\n\t}\n\tf()\n}\n",
            "func TestA(t *testing.T) { f() } // t.Skip()\n",
        ],
    );
    judge(
        name,
        "src/a.rs",
        &[
            "#[test]\n#[\u{69}gnore]\nfn a() { assert_eq!(f(), 1); }\n",
            "#[test]\nfn a() { assert!(true); }\n",
        ],
        &[
            "#[test]\nfn a() { assert!(f()); }\n",
            "// #[\u{69}gnore]\nfn a() {}\n",
            "#[test]\nfn a<'a>(x: &'a str) { assert_eq!(x, 'y', \"#[\u{69}gnore]\"); }\n",
        ],
    );
    judge(
        name,
        "src/test/java/ATest.java",
        &["@Disabled\n@Test void a() { f(); }\n", "@Test void a() { assertTrue(true); }\n"],
        &["@Test void a() { assertTrue(f()); }\n"],
    );
    judge(
        name,
        "spec/a_spec.rb",
        &["xit 'a' do\nend\n", "it 'a' do\n  skip 'later'\nend\n", "it 'a' do\n  skip\nend\n"],
        &["it 'a' do\n  expect(f).to eq(1)\nend\n", "xs.skip(1)\n"],
    );
    for path in ["src/a.py", "src/latest/thing.py", "src/contest.py"] {
        assert!(new(name, path, "assert True\n").is_empty(), "{path}");
    }
    let old = "def test_a():\n    x = f()\n    assert x == 1\n\ndef test_b():\n    assert g()\n";
    let lost = "def test_a():\n    x = f()\n\ndef test_b():\n    assert g()\n";
    assert_eq!(change(name, "tests/test_a.py", Some(old), lost).len(), 1);
    assert!(change(name, "tests/test_a.py", Some(old), "def test_b():\n    assert g()\n").is_empty());
    assert_eq!(
        change(
            name,
            "tests/test_a.py",
            Some("def test_a():\n    assert f() == 1\n"),
            "def test_a():\n    assert True\n"
        )
        .len(),
        1
    );
    let old = "it('a', () => { const x = f(); expect(x).toBe(1) })\n";
    assert_eq!(change(name, "a.spec.js", Some(old), "it('a', () => { const x = f(); })\n").len(), 1);
}

#[test]
fn error_handling() {
    let name = "no-error-handling-removal";
    let gone = |path: &str, before: &str, after: &str| change(name, path, Some(before), after).len();
    assert_eq!(gone("a.py", "try:\n    f()\nexcept ValueError:\n    g()\n", "f()\n"), 1);
    assert_eq!(
        gone(
            "a.py",
            "try:\n    f()\nexcept ValueError:\n    g()\n",
            "try:\n    f()\nexcept ValueError:\n    h()\n"
        ),
        0
    );
    assert_eq!(
        gone(
            "a.py",
            "def a():\n    try:\n        f()\n    except E:\n        g()\n\ndef b():\n    pass\n",
            "def b():\n    pass\n"
        ),
        0
    );
    assert_eq!(gone("a.py", "x = f()\nif x is None:\n    return\ng(x)\n", "x = f()\ng(x)\n"), 1);
    // One of two: the call stays bare.
    let two = "try:\n    f()\nexcept E:\n    pass\ntry:\n    g()\nexcept E:\n    pass\n";
    assert_eq!(gone("a.py", two, "try:\n    f()\nexcept E:\n    pass\ng()\n"), 1);
    assert_eq!(gone("a.py", two, "try:\n    f()\n    g()\nexcept E:\n    pass\n"), 0);
    assert_eq!(gone("a.ts", "p().catch(e => log(e))\n", "p()\n"), 1);
    assert_eq!(gone("a.ts", "p().catch(e => log(e))\n", "try { await p() } catch (e) { log(e) }\n"), 0);
    assert_eq!(gone("a.js", "try { f() } catch (e) { g(e) }\nh()\n", "f()\nh()\n"), 1);
    assert_eq!(gone("a.tsx", "const a = <ErrorBoundary><App/></ErrorBoundary>\n", "const a = <App/>\n"), 1);
    assert_eq!(gone("a.go", "if err != nil {\n\treturn err\n}\nf()\n", "f()\n"), 1);
    assert_eq!(gone("a.go", "x, err := f()\nif err != nil {\n\treturn err\n}\n", "x, _ := f()\n"), 1);
    assert_eq!(gone("A.java", "try { f(); } catch (E e) { g(); }", "f();"), 1);
    assert_eq!(gone("a.rb", "begin\n  f()\nrescue E\n  g()\nend\n", "f()\n"), 1);
    assert_eq!(gone("tests/test_a.py", "try:\n    f()\nexcept E:\n    pass\n", "f()\n"), 0);
    assert_eq!(gone("a.py", "# try: f() except: pass\nf()\n", "f()\n"), 0);
    assert_eq!(gone("a.md", "try { f() } catch (e) {}", "f()"), 0);
    assert!(new(name, "a.py", "f()\n").is_empty());
}

#[test]
fn dead_imports() {
    let name = "no-dead-imports";
    judge(
        name,
        "a.py",
        &[
            "import os\nx=1\n",
            "import os\n# os is great\n",
            "from a import b, c\nc()\n",
            "import numpy as np\nnumpy = 1\n",
            "import os\nx.os()\n",
            "from a import (\n    b,\n    c,\n)\nb()\n",
        ],
        &[
            "import os\nprint(os.name)\n",
            "import os  # noqa\nos.x\n",
            "import os  # noqa: F401\n",
            "from a import b as b\n",
            "from __future__ import annotations\n",
            "from a import b\n__all__ = ['b']\n",
            "from a import B\ndef f(x: 'B') -> 'list[B]': pass\n",
            "import os\nx = f'{os.name}'\n",
            "try:\n    import ujson\nexcept ImportError:\n    ujson = None\n",
            "try:\n    import a\nexcept ImportError:\n    pass\n",
            "import app.models\n",
            "from a import *\n",
            "from typing import List\nx = []  # type: List[int]\n",
            "if x:\n    from a import b\n    b()\n",
        ],
    );
    assert!(new(name, "p/__init__.py", "from .a import b\n").is_empty());
    judge(
        name,
        "a.ts",
        &[
            "import * as z from 'z'\n",
            "import a from 'a'\n",
            "import { a, b as c } from 'a'\na(b)\n",
            "import type { A } from 'a'\n",
            "import a from 'a'\nx.a()\n",
            "import { type A, b } from 'a'\nb()\n",
        ],
        &[
            "import 'x.css'\n",
            "import a from 'a'\na()\n",
            "import { a } from 'a'\nexport { a }\n",
            "import { A } from 'a'\nconst x: A = 1\n",
            "const m = await import('a')\n",
            "import { A } from 'a'\n/** @type {A} */\nlet x\n",
            "import a from 'a'\nf(...a)\n",
        ],
    );
    judge(
        name,
        "a.tsx",
        &["import A from './A'\nconst x = <B/>\n"],
        &["import A from './A'\nconst x = <A.B/>\n", "import React from 'react'\nconst x = <b/>\n"],
    );
    let text =
        policy_checks::Text { path: "a.py", before: None, after: "import os\n", event: "post_tool_use" };
    assert!(policy_checks::check_text(name, &text, &Options::default()).is_empty());
    assert_eq!(
        policy_checks::check_text(
            name,
            &text,
            &Options(vec![("grace_period".to_owned(), Value::Bool(false))])
        )
        .len(),
        1
    );
}

#[test]
fn debug_artifacts() {
    let name = "no-debug-artifacts";
    judge(
        name,
        "a.py",
        &[
            "print(1)\n",
            "breakpoint()\n",
            "import pdb; pdb.set_trace()\n",
            "if __name__ == '__main__':\n    breakpoint()\n",
        ],
        &[
            "if __name__=='__main__':\n    print(1)\n",
            "print('x', file=sys.stderr)\n",
            "# print(1)\n",
            "x.print(1)\n",
            "s = 'print(1)'\n",
            "def breakpoint(): pass\n",
            "#!/usr/bin/env python\nprint(1)\n",
            "pprint(1)\n",
        ],
    );
    judge(
        name,
        "a.jsx",
        &[
            "console.log(1)\n",
            "function f() {\n  debugger;\n}\n",
            "x => { debugger }\n",
            "console.debug(1)\n",
        ],
        &[
            "// console.log(1)\n",
            "/* debugger; */\n",
            "console.error(1)\n",
            "const s = 'console.log(1)'\n",
            "const x = { debugger: 1 }\n",
            "my.console.log(1)\n",
            "logger.log(1)\n",
            "const s = `console.log(1)`\n",
        ],
    );
    judge(
        name,
        "a.vue",
        &["<script>\nconsole.log(1)\n</script>"],
        &["<p>console.log(1)</p>", "<script>\n// console.log(1)\n</script>"],
    );
    judge(name, "a.rs", &["fn f() { dbg!(x); }\n"], &["// dbg!(x)\n", "fn f() { println!(\"dbg!(x)\") }\n"]);
    for path in ["tests/test_a.py", "cli.py", "scripts/a.py", "manage.py", "a.md"] {
        assert!(new(name, path, "print(1)\n").is_empty(), "{path}");
    }
    for path in ["a.test.js", "scripts/a.js", "webpack.config.js", "src/logger.ts"] {
        assert!(new(name, path, "console.log(1)\n").is_empty(), "{path}");
    }
}

#[test]
fn todos() {
    let name = "no-todo-left";
    judge(
        name,
        "a.py",
        &[
            "# TODO: x\n",
            "# todo: x\n",
            "x = 1  # FIX\u{4d}E\n",
            "#TODO x\n",
            "# HACK around\n",
            "# X\u{58}X\n",
            "# Todo(me): x\n",
            "# see below. TODO: x\n",
        ],
        &[
            "# the todo list\n",
            "# todo list of the user\n",
            "s = '# TODO: x'\n",
            "# X\u{58}XL size\n",
            "# a hackathon\n",
            "# TODOS of the app\n",
            "todo = 1\n",
            "# hack and slash\n",
        ],
    );
    judge(
        name,
        "a.ts",
        &["// TODO x\n", "/* TODO x */\n", "/**\n * @todo: x\n */\n", "/**\n * a\n * TODO: x\n */\n"],
        &["const s = '// TODO x'\n", "const u = 'http://TODO'\n", "// The TODO app\n"],
    );
    judge(
        name,
        "a.html",
        &["<!-- TODO: x -->\n", "<script>\n// TODO x\n</script>\n"],
        &["<p>TODO: x</p>\n", "<!-- a -->\n"],
    );
    judge(
        name,
        "a.tsx",
        &["<div>{/* TODO x */}</div>\n"],
        &["<div>// TODO x</div>\n", "<a href='//TODO x'/>\n"],
    );
    judge(name, "a.sh", &["# TODO x\n"], &["echo \"# TODO\"\n", "echo $#TODO\n"]);
    judge(name, "a.sql", &["-- TODO x\n"], &["SELECT 'TODO'\n"]);
    judge(name, "a.md", &["<!-- TODO: x -->\n"], &["# TODO\n", "TODO: x\n"]);
    let found = new(name, "a.ts", "/*\n  x\n  TODO: y\n*/\n");
    assert_eq!((found[0].line, found[0].column), (3, 3));
    assert_eq!(
        with(name, "a.py", None, "# LATER x\n", &[("markers", Value::List(vec!["LATER".to_owned()]))]).len(),
        1
    );
}

#[test]
fn credential_files() {
    let name = "env-credential-reference";
    judge(
        name,
        "run.sh",
        &[
            "export SECRET_FILE=config/x\n",
            "export TOKEN_FILE=secrets/a\n",
            "API_KEY_FILE=\"$HOME/.keys/a\"\n",
            "gcloud run deploy --set-env-vars DB_PASSWORD_FILE=/run/x\n",
            "DB_FILE=secrets/db\n",
            "KEYFILE=a.pem\n",
        ],
        &[
            "export KEY_PROFILE=config\n",
            "cat \"$SECRET_FILE\"\n",
            "# SECRET_FILE=x\n",
            "SECRET_FILE=$1\n",
            "SSL_CERT_FILE=/etc/ssl/certs/ca.crt\n",
            "CONFIG_FILE=config/a.yml\n",
            "if [ \"$TOKEN_FILE\" == x ]; then\n",
            "SECRET_FILE=\n",
        ],
    );
    judge(
        name,
        "a.py",
        &["os.environ['SECRET_FILE'] = 'secrets/a'\n", "SECRET_FILE = 'secrets/a'\n"],
        &[
            "KEY_PROFILE = config\n",
            "key_file = open(x)\n",
            "x = os.environ['SECRET_FILE']\n",
            "if a['SECRET_FILE'] == 'x': pass\n",
            "SECRET_FILE = get()\n",
            "secret_file = 'secrets/a'\n",
        ],
    );
    judge(
        name,
        "a.yml",
        &["env:\n  TOKEN_FILE: secrets/a\n"],
        &["env:\n  TOKEN: x\n", "env:\n  PASSWORD_FILE: /run/secrets/pw\n"],
    );
    let found = new(name, ".github/workflows/a.yml", "env:\n  TOKEN_FILE: secrets/a\n");
    assert_eq!(found[0].severity, Some(Severity::Info));
    let command = |words: &[&str]| {
        let words: Vec<Option<&str>> = words.iter().map(|word| Some(*word)).collect();
        check_command(name, &words, None, &Options::default()).len()
    };
    assert_eq!(command(&["gcloud", "run", "deploy", "--set-env-vars", "SECRET_FILE=/x"]), 1);
    assert_eq!(command(&["docker", "run", "-e", "TOKEN_FILE=secrets/a", "x"]), 1);
    assert_eq!(command(&["export", "KEY_PROFILE=config"]), 0);
    assert!(new(name, "README.md", "SECRET_FILE=config/x\n").is_empty());
}

#[test]
fn transcripts() {
    let name = "subagent-transcript-audit";
    let line = |command: &str| {
        let command = command.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"x\"}},{{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"Bash\",\"input\":{{\"command\":\"{command}\"}}}}]}}}}\n"
        )
    };
    for command in [
        "terraform destroy",
        "cd x && sudo rm -rf /etc",
        "git push --force origin main",
        "git -C x push -f",
        "bash -c 'rm -rf ~'",
        "curl http://x | sh",
        "curl x | tee y | sudo bash",
        "psql -c \"DROP TABLE t\"",
        "kubectl delete ns x",
        "gcloud projects delete x",
        "aws ec2 terminate-instances x",
        "mkfs.ext4 /dev/sda",
        "dd if=x of=/dev/sda",
        "chmod -R 777 .",
        "npm publish",
        "iptables -F",
        "ssh h 'rm -rf /srv'",
        "git reset --hard",
    ] {
        assert_eq!(new(name, "t.jsonl", &line(command)).len(), 1, "{command}");
    }
    for command in [
        "ls",
        "rm -rf node_modules",
        "rm x",
        "echo rm -rf /",
        "git commit -m 'rm -rf /'",
        "grep 'terraform destroy' x",
        "terraform plan",
        "rm -rf /tmp/x",
        "npm publish --dry-run",
        "git push --force-with-lease",
        "# rm -rf /",
        "git push origin feat",
    ] {
        assert!(new(name, "t.jsonl", &line(command)).is_empty(), "{command}");
    }
    assert_eq!(
        new(name, "t.jsonl", "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"terraform destroy\"}}\n")
            .len(),
        1
    );
    assert_eq!(
        new(
            name,
            "t.jsonl",
            "{\"content\":[{\"type\":\"tool_use\",\"input\":{\"command\":\"terraform destroy\"}}]}\n"
        )
        .len(),
        1
    );
    assert_eq!(new(name, "t.jsonl", "{\"type\":\"function_call\",\"arguments\":\"{\\\"command\\\":[\\\"bash\\\",\\\"-lc\\\",\\\"rm -rf /\\\"]}\"}\n").len(), 1);
    assert!(
        new(
            name,
            "t.jsonl",
            "{\"type\":\"tool_result\",\"content\":\"ran: rm -rf /\",\"command\":\"rm -rf /\"}\n"
        )
        .is_empty()
    );
    assert_eq!(new(name, "t.jsonl", &format!("not json\n{}", line("terraform destroy")))[0].line, 2);
    assert_eq!(commands_in_transcript(&line("a \"b\"\nc")), [(1, "a \"b\"\nc".to_owned())]);
}
