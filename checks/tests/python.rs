//! The checks of Python: what they find, what is near it, what was there before.

use crate::support::{change, judge, new, with};
use policy_checks::Value;

#[test]
fn bare_except() {
    judge(
        "no-bare-except",
        "a.py",
        &[
            "try:\n    f()\nexcept:\n    pass\n",
            "try:\n    f()\nexcept:  # noqa\n    log()\n",
            "try:\n    f()\nexcept : pass\n",
            "try:\n    f()\nexcept BaseException:\n    pass\n",
            "try:\n    f()\nexcept (ValueError, BaseException) as e:\n    log(e)\n",
            "try:\n    f()\nexcept:\n    def g():\n        raise X\n",
            "if x:\n\ttry:\n\t\tf()\n\texcept:\n\t\tpass\n",
            "try:\r\n    f()\r\nexcept:\r\n    pass\r\n",
        ],
        &[
            "try:\n    f()\nexcept:\n    log()\n    raise\n",
            "try:\n    f()\nexcept:\n    if x:\n        raise Y from None\n",
            "try:\n    f()\nexcept: raise\n",
            "try:\n    f()\nexcept Exception:\n    pass\n",
            "try:\n    f()\nexcept BaseExceptionGroup:\n    pass\n",
            "x = '''\nexcept:\n    pass\n'''\n",
            "# except:\n",
            "x = f'''{y}\nexcept:\n'''\n",
        ],
    );
    // Only the new one is told, at its place.
    let old = "try:\n    f()\nexcept:\n    pass\n";
    let found = change("no-bare-except", "a.py", Some(old), &format!("{old}{old}"));
    assert_eq!(found.iter().map(|found| found.line).collect::<Vec<_>>(), [7]);
    // A handler that stops raising is new, though its line is old.
    assert_eq!(
        change(
            "no-bare-except",
            "a.py",
            Some("try:\n  f()\nexcept:\n  raise\n"),
            "try:\n  f()\nexcept:\n  pass\n"
        )
        .len(),
        1
    );
}

#[test]
fn unsafe_shell() {
    judge(
        "no-unsafe-shell",
        "a.py",
        &[
            "import os\nos.system(cmd)\n",
            "os.popen('ls ' + x)\n",
            "subprocess.run(f(x), shell=True)\n",
            "subprocess.Popen(\n    cmd,\n    shell = True,\n)\n",
            "subprocess.check_output('ls', shell=True)\n",
            "import subprocess as sp\nsp.call('ls', shell=1)\n",
            "from subprocess import run as r\nr('ls', shell=True)\n",
            "from os import system\nsystem('ls')\n",
            "subprocess.getoutput('ls')\n",
            "await asyncio.create_subprocess_shell(x)\n",
            "subprocess.run(x, **{'shell': True})\n",
        ],
        &[
            "subprocess.run(['ls'], shell=False)\n",
            "subprocess.run(['ls'])  # not shell=True\n",
            "x = 'os.system(y)'\n",
            "# os.system(x)\n",
            "subprocess.run(g(shell=True))\n",
            "other.run(x, shell=True)\n",
            "def system(x): pass\nsystem('ls')\n",
            "self.os.system(x)\n",
            "subprocess.run(x, shell=0)\n",
        ],
    );
    assert!(
        with(
            "no-unsafe-shell",
            "a.py",
            None,
            "subprocess.run(x, shell=True)",
            &[("allow_shell_true", Value::Bool(true))]
        )
        .is_empty()
    );
    assert!(new("no-unsafe-shell", "a.txt", "os.system(x)").is_empty());
}

#[test]
fn sql() {
    judge(
        "no-sql-injection",
        "a.py",
        &[
            "q = f\"SELECT * FROM t WHERE id={i}\"\n",
            "q = f\"select id, name from t where id={i}\"\n",
            "q = rf\" SELECT * FROM t WHERE id={i}\"\n",
            "q = f\"\"\"\n  SELECT *\n  FROM t WHERE id={i}\n\"\"\"\n",
            "q = \"SELECT * FROM t WHERE id=%s\" % i\n",
            "q = \"SELECT * FROM t WHERE id=%s\" % (i,)\n",
            "q = \"SELECT * FROM t WHERE id={}\".format(i)\n",
            "q = \"SELECT * FROM t WHERE id=\" + i\n",
            "q = \"SELECT * \" + \"FROM t WHERE id=\" + i\n",
            "q = (\"SELECT * FROM t \"\n     f\"WHERE id={i}\")\n",
            "q = (\"SELECT * FROM t \"\n     \"WHERE id=%s\") % i\n",
            "cur.execute(f\"DELETE FROM {t}\")\n",
            "cur.execute(f\"DROP TABLE {t}\")\n",
            "cur.execute(f\"UPDATE {t} SET a = 1\")\n",
            "cur.execute(f\"INSERT INTO t VALUES ('{x}')\")\n",
            "Q = \"SELECT * FROM t WHERE id=%s\"\ncur.execute(Q % i)\n",
            "Q = 'SELECT * FROM t WHERE id={}'\ncur.execute(Q.format(i))\n",
            "q = 'SELECT 1 FROM t'\nq += f\" WHERE id = '{i}'\"\n",
            "q = f'WITH a AS (SELECT * FROM {t}) SELECT * FROM a'\n",
            "q = f'SELECT * FROM t WHERE a={d[\"x\"]}'\n",
            "q = f'(SELECT a FROM t WHERE b={x}) UNION (SELECT 1)'\n",
        ],
        &[
            "m = f\"Select a file: {p}\"\n",
            "m = f\"Select a file from {p}\"\n",
            "m = f\"select a file from {p}\"\n",
            "m = f'Create {x}'\n",
            "m = 'Update ' + name\n",
            "m = f'Delete from the list: {x}'\n",
            "m = f'Drop the table {x}'\n",
            "m = f'Update {n} to set the value'\n",
            "cur.execute(\"SELECT * FROM t WHERE id=%s\", (i,))\n",
            "q = f'SELECT * FROM t'\n",
            "q = 'SELECT * FROM t ' + 'WHERE a=1'\n",
            "q = f'SELECT * FROM {TABLE}'\n",
            "q = f'SELECT * FROM t LIMIT {int(n)}'\n",
            "q = 'SELECT * FROM t LIMIT %d' % n\n",
            "q = f'SELECT * FROM t WHERE id IN ({placeholders})'\n",
            "q = f\"SELECT * FROM t WHERE id IN ({','.join('?' * len(x))})\"\n",
            "q = sql.SQL('SELECT * FROM {}').format(sql.Identifier(t))\n",
            "# q = f'SELECT * FROM {t}'\n",
            "logger.info(f'SELECT * FROM {t} took {n}')\n",
            "raise X(f'DELETE FROM {t} failed')\n",
            "x = 'INSERT' + y\n",
            "q = t'SELECT * FROM t WHERE id={i}'\n",
            "q = f'SELECT {{x}} FROM t'\n",
        ],
    );
    assert!(new("no-sql-injection", "tests/test_a.py", "q = f'SELECT * FROM {t}'").is_empty());
}

#[test]
fn wildcard() {
    judge(
        "no-wildcard-import",
        "a.py",
        &[
            "from os import *\n",
            "from .x import *  # noqa\n",
            "if x:\n    from a.b import *\n",
            "try: from a import *\nexcept ImportError: pass\n",
        ],
        &[
            "from os import path\n",
            "x = 'from os import *'\n",
            "# from os import *\n",
            "import a\nb = 2 * 3\n",
        ],
    );
    assert!(new("no-wildcard-import", "p/__init__.py", "from .x import *").is_empty());
}

#[test]
fn migration() {
    let path = "alembic/versions/a.py";
    judge(
        "no-dangerous-migration",
        path,
        &[
            "def upgrade():\n    op.drop_table('t')\n\ndef downgrade():\n    pass\n",
            "def upgrade() -> None:\n    op.drop_column('t', 'c')\n",
            "def upgrade():\n    with op.batch_alter_table('t') as b:\n        b.drop_column('c')\n",
            "def upgrade():\n    op.alter_column('t', 'c', existing_type=sa.String(), nullable=False)\n",
            "def upgrade():\n    op.execute('DROP TABLE t')\n",
            "def upgrade():\n    op.execute(sa.text('ALTER TABLE t DROP COLUMN c'))\n",
            "def upgrade():\n    op.execute('delete from t')\n",
            "def upgrade():\n    op.add_column('t', sa.Column('c', sa.DateTime()))\n",
            "def upgrade():\n    op.add_column('t', sa.Column('c', sa.DateTime, nullable=True))\n",
            "class Migration(migrations.Migration):\n    operations = [migrations.DeleteModel(name='x')]\n",
        ],
        &[
            "def upgrade():\n    op.add_column('t', c)\n\ndef downgrade():\n    op.drop_column('t','c')\n",
            "def upgrade():\n    op.drop_table('t')\n\ndef downgrade():\n    op.create_table('t')\n",
            "def upgrade():\n    op.alter_column('t', 'c', nullable=True)\n",
            "def upgrade():\n    op.add_column('t', sa.Column('c', sa.DateTime(timezone=True)))\n",
            "def upgrade():\n    op.execute(\"UPDATE t SET a = 'DROP TABLE'\")\n",
            "def upgrade():\n    op.execute('DELETE FROM t WHERE a=1')\n",
            "def upgrade():\n    op.execute('ALTER TABLE t DROP CONSTRAINT c')\n",
            "def upgrade():\n    # op.drop_column('t', 'c')\n    pass\n",
            "from datetime import datetime\n",
            "from sqlalchemy import DateTime\n",
        ],
    );
    assert!(
        new("no-dangerous-migration", "src/a.py", "def upgrade():\n    op.drop_column('t', 'c')\n")
            .is_empty()
    );
}

#[test]
fn unnecessary_async() {
    judge(
        "no-unnecessary-async",
        "a.py",
        &[
            "async def f():\n    return 1\n",
            "async def f(x: int = 1, *a) -> dict[str, int]:\n    \"\"\"Doc.\"\"\"\n    return {}\n",
            "class A:\n    async def f(self):\n        return 1\n",
            "async def f():\n    async def g():\n        await x\n    return g\n",
            "async def f(): return 1\n",
            "class A(B):\n    def g(self):\n        async def f():\n            return 1\n        f()\n",
        ],
        &[
            "async def f():\n    await g()\n",
            "async def f():\n    async for x in y:\n        print(x)\n",
            "async def f():\n    async with y:\n        pass\n",
            "async def f():\n    return [x async for x in y]\n",
            "async def f():\n    yield 1\n",
            "async def f():\n    pass\n",
            "async def f():\n    \"\"\"Doc.\"\"\"\n    ...\n",
            "async def f():\n    raise NotImplementedError\n",
            "@app.get('/')\nasync def f():\n    return 1\n",
            "@a\n@pytest.fixture(\n    x\n)\nasync def f():\n    return 1\n",
            "class A(B):\n    async def f(self):\n        return 1\n",
            "class A:\n    async def __aenter__(self):\n        return self\n",
            "async def f(x):\n    return 1\n\nclient.on('a', f)\n",
            "HANDLERS = {'a': f}\nasync def f(x):\n    return 1\n",
            "def f():\n    return 1\n",
            "x = 'async def f(): return 1'\n",
        ],
    );
    assert!(new("no-unnecessary-async", "tests/a.py", "async def f():\n    return 1\n").is_empty());
}
