//! Tests of patches: what is applied where, what is refused with which words, and how long the worst takes.
//!
//! INVARIANT: no test reads the disk but the one about it.

use super::*;
use std::collections::BTreeMap;
use std::time::Instant;

/// Files below `/p`; a value that begins with `->` is a link.
struct Map(BTreeMap<PathBuf, Vec<u8>>);

impl Map {
    fn new(files: &[(&str, &str)]) -> Map {
        Map(files.iter().map(|(path, text)| (Path::new("/p").join(path), text.as_bytes().to_vec())).collect())
    }
}

impl Files for Map {
    fn real(&self, path: &Path) -> Result<PathBuf, String> {
        let path = lexical(path);
        match self.0.get(&path).and_then(|text| std::str::from_utf8(text).ok()?.strip_prefix("->")) {
            Some("?") => Err("it could not be told where its links lead".to_owned()),
            Some(end) => Ok(end.into()),
            None => Ok(path),
        }
    }

    fn kind(&self, path: &Path) -> FileKind {
        match self.0.get(path) {
            Some(text) if text == b"/" => FileKind::Folder,
            Some(_) => FileKind::File,
            None => FileKind::Missing,
        }
    }

    fn read(&self, path: &Path, max: usize) -> Result<Vec<u8>, String> {
        Ok(self.0[path].iter().take(max + 1).copied().collect())
    }
}

fn run(files: &[(&str, &str)], body: &str) -> Result<Vec<Target>, Vec<PatchError>> {
    let text = format!("*** Begin Patch\n{body}\n*** End Patch");
    apply(&text, &Map::new(files), Path::new("/p"), Path::new("/p"))
}

/// The text of `a.py` after hunks.
fn changed(before: &str, hunks: &str) -> String {
    changed_in("a.py", before, hunks)
}

fn changed_in(name: &str, before: &str, hunks: &str) -> String {
    let targets = run(&[(name, before)], &format!("*** Update File: {name}\n{hunks}"));
    let target = targets.unwrap_or_else(|errors| panic!("{errors:?}")).remove(0);
    assert_eq!((target.kind, target.before.as_deref()), (TargetKind::Update, Some(before)));
    target.after.unwrap()
}

fn refused(before: &str, hunks: &str) -> PatchError {
    refused_in("a.py", before, hunks)
}

fn refused_in(name: &str, before: &str, hunks: &str) -> PatchError {
    let mut errors = run(&[(name, before)], &format!("*** Update File: {name}\n{hunks}")).unwrap_err();
    assert_eq!(errors.len(), 1);
    errors.remove(0)
}

#[test]
fn operations_become_targets() {
    let files = [("old.py", "x = 1\n"), ("gone", "g\n")];
    let body = "*** Add File: d/new.txt\n+one\n+\n*** Delete File: ./gone\n*** Update File: old.py\n*** Move to: new.py\n@@\n-x = 1\n+x = 2";
    let targets = run(&files, body).unwrap();
    let shown: Vec<_> = targets
        .iter()
        .map(|t| {
            (
                t.written.as_str(),
                t.path.to_str().unwrap(),
                t.kind,
                t.before.as_deref(),
                t.after.as_deref(),
                t.operation,
            )
        })
        .collect();
    use TargetKind::{Add, Delete, Move};
    assert_eq!(
        shown,
        [
            ("d/new.txt", "/p/d/new.txt", Add, None, Some("one\n\n"), 0),
            ("./gone", "/p/gone", Delete, Some("g\n"), None, 1),
            ("old.py", "/p/old.py", Delete, Some("x = 1\n"), None, 2),
            ("new.py", "/p/new.py", Move, Some("x = 1\n"), Some("x = 2\n"), 2),
        ]
    );
}

#[test]
fn hunks_find_their_one_place() {
    let cases = [
        ("x = 1\n", "@@\n-x = 1\n+x = 2", "x = 2\n"),
        ("x = 1", "@@\n-x = 1\n+x = 2", "x = 2\n"),
        ("a\nb\nc\n", "@@\n a\n-b\n c", "a\nc\n"),
        // Each further hunk is looked for behind the one before.
        ("a\nx\nb\nx\n", "@@\n a\n-x\n+y\n@@\n-x\n+z", "a\ny\nb\nz\n"),
        (
            "def f():\n    pass\n\ndef g():\n    pass\n",
            "@@ def g():\n-    pass\n+    return 1",
            "def f():\n    pass\n\ndef g():\n    return 1\n",
        ),
        // Blanks behind, blanks around, typographic signs.
        ("a  \nb\n", "@@\n-a\n+c", "c\nb\n"),
        ("    a\nb\n", "@@\n-a\n+c", "c\nb\n"),
        ("x = \"1\" - 2\n", "@@\n-x = “1” – 2\n+x", "x\n"),
        ("x\r\nz\r\n", "@@\n-x\n+y", "y\nz\r\n"),
        // One exact place and others that only look alike.
        ("a \na\n a\n", "@@\n-a\n+b", "a \nb\n a\n"),
        ("x\n\ny\n", "@@\n x\n\n-y\n+z", "x\n\nz\n"),
        ("x\n", "@@\n+z", "x\nz\n"),
        ("x\n", "@@\n+z\n*** End of File", "x\nz\n"),
        ("", "@@\n+z", "z\n"),
        ("x\nx\n", "@@\n-x\n+y\n*** End of File", "x\ny\n"),
        ("x\ny\n", "@@\n-y\n+z\n\n", "x\nz\n"),
        ("x\n", "@@\n-x", ""),
        ("a\nb\n", "@@\n+c\n@@\n-a\n+A", "A\nb\nc\n"),
        (
            "class A:\n    def f(self):\n        x\nclass B:\n    def f(self):\n        x\n",
            "@@ class B:\n@@     def f(self):\n-        x\n+        y",
            "class A:\n    def f(self):\n        x\nclass B:\n    def f(self):\n        y\n",
        ),
        ("ä\nö\n", "@@\n-ö\n+ü", "ä\nü\n"),
    ];
    for (before, hunks, after) in cases {
        assert_eq!(changed(before, hunks), after, "{before:?} {hunks:?}");
    }
}

#[test]
fn an_anchor_means_its_block() {
    let python = "def f():\n    a = (\n1)\n    # x\n    return '''\nno\n'''\n\n# c\ndef g():\n    return 1\n\ndef h():\n    return 1\n";
    let after = changed(python, "@@ def g():\n-    return 1\n+    return 2");
    assert!(after.contains("def g():\n    return 2\n\ndef h():\n    return 1\n"));
    let error = refused(python, "@@ def f():\n-    return 1\n+    return 2");
    assert_eq!((error.reason, error.lines.as_slice()), (Reason::Missing, [11].as_slice()), "{error:?}");
    // What does not parse has no end that is sure.
    let error = refused(&python.replace("(\n", "[\n"), "@@ def f():\n-    return 1\n+    return 2");
    assert_eq!(error.reason, Reason::Ambiguous);
    let twice = "class A:\n    x\n    x\ny\n";
    assert_eq!(refused(twice, "@@ class A:\n-    x\n+    z").lines, [2, 3]);

    let script = "function a() {\n  go();\n}\nfunction b() {\n  go();\n}\n";
    let after = changed_in("a.js", script, "@@ function a() {\n-  go();\n-}\n+  stop();\n+}");
    assert_eq!(after, "function a() {\n  stop();\n}\nfunction b() {\n  go();\n}\n");
    let far = "function a() {\n}\nfunction b() {\n  go();\n}\n";
    assert!(changed_in("a.js", far, "@@ function a() {\n-  go();\n+  stop();").contains("stop"));
    let error = refused_in("a.js", script, "@@\n-  go();\n+  stop();");
    assert_eq!(error.reason, Reason::Ambiguous);
}

#[test]
fn refusals_say_what_and_where() {
    let error = refused("x = 1\ny\nx = 1\n", "@@\n-x = 1\n+x = 2");
    assert_eq!(
        (error.reason, error.hunk, error.lines.as_slice()),
        (Reason::Ambiguous, Some(1), [1, 3].as_slice())
    );
    assert_eq!(
        error.message,
        "`a.py`, hunk 1: its old line stands in 2 places; the first is `x = 1`; lines 1, 3"
    );
    let error = refused("a\n", "@@\n-b\n+c");
    assert_eq!(error.message, "`a.py`, hunk 1: its old line does not stand in the file; the first is `b`");
    let error = refused("a\nb\n", "@@\n-a\n+c\n@@\n-a\n-b\n+c");
    assert_eq!(
        error.message,
        "`a.py`, hunk 2: its 2 old lines do not stand in the file behind line 1; the first is `a`"
    );
    let error = refused("a\n", "@@ def f():\n-a\n+c");
    assert_eq!((error.reason, error.hunk), (Reason::AnchorMissing, Some(1)));
    assert_eq!(error.message, "`a.py`, hunk 1: no line equals the one behind `@@`: `def f():`");
    let error = refused("x\nx\ny\n", "@@\n-x\n+y\n*** End of File");
    assert_eq!((error.reason, error.message.contains("at the end of the file")), (Reason::Missing, true));
    // Secrets stay out, and so do control characters.
    let key = format!("token = '{}{}'\u{1b}[31m", "ghp_", "abcdefghijklmnopqrstuvwxyz");
    let error = refused(&format!("{key}\n{key}\n"), &format!("@@\n-{key}\n+x"));
    assert!(
        error.message.contains("token = '***'") && !error.message.contains('\u{1b}'),
        "{}",
        error.message
    );
    assert_eq!(refused(&"x\n".repeat(40), "@@\n-x\n+y").lines.len(), 10);
}

#[test]
fn what_lies_outside_or_over_a_limit_is_refused() {
    let files = [
        ("a", "x\n"),
        ("b", "x\n"),
        ("d", "/"),
        ("out", "->/etc/passwd"),
        ("lost", "->?"),
        ("same", "->/p/a"),
        ("far", "->/p"),
    ];
    let update = |path: &str| format!("*** Update File: {path}\n@@\n-x\n+y");
    let cases = [
        (update("../p2/x"), Reason::Boundary, "outside the project"),
        (update("/etc/passwd"), Reason::Boundary, "outside the project"),
        (update("out"), Reason::Boundary, "outside the project"),
        (update("far"), Reason::Boundary, "outside the project"),
        (update("."), Reason::Boundary, "outside the project"),
        (update("lost"), Reason::Boundary, "links"),
        (update("d"), Reason::Read, "folder"),
        (update("no"), Reason::Missing, "not there"),
        ("*** Delete File: no".to_owned(), Reason::Missing, "not there"),
        ("*** Add File: a\n+x".to_owned(), Reason::Boundary, "there already"),
        (format!("{}\n{}", update("a"), update("./a")), Reason::Boundary, "twice"),
        (format!("{}\n{}", update("a"), update("same")), Reason::Boundary, "twice"),
        ("*** Update File: a\n*** Move to: b\n@@\n-x\n+y".to_owned(), Reason::Boundary, "there already"),
        ("*** Update File: a\n*** Move to: a\n@@\n-x\n+y".to_owned(), Reason::Boundary, "twice"),
        ("*** Rename File: a".to_owned(), Reason::Syntax, "line 2"),
        (update("a\0"), Reason::Boundary, "NUL"),
    ];
    for (body, reason, part) in cases {
        let errors = run(&files, &body).unwrap_err();
        assert!(errors[0].reason == reason && errors[0].message.contains(part), "{body} {errors:?}");
    }
    let inside = run(&files, &update("/p/a")).unwrap();
    assert_eq!(inside[0].path, Path::new("/p/a"));
    let many: Vec<String> = (0..201).map(|at| format!("*** Add File: n{at}\n+x")).collect();
    assert!(run(&files, &many[..200].join("\n")).is_ok());
    assert_eq!(run(&files, &many.join("\n")).unwrap_err()[0].reason, Reason::Boundary);
    let long = "x".repeat(MAX_PATCH_BYTES);
    assert_eq!(run(&files, &format!("*** Add File: n\n+{long}")).unwrap_err()[0].reason, Reason::Syntax);
    let large = "x\n".repeat(2_500_001);
    assert!(refused(&large, "@@\n-x\n+y").message.contains("longer than 5000000"));
    let text = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch";
    let mut bytes = Map::new(&files);
    bytes.0.insert("/p/a".into(), vec![0xff, b'\n']);
    assert_eq!(apply(text, &bytes, Path::new("/p"), Path::new("/p")).unwrap_err()[0].reason, Reason::Read);
    assert_eq!(
        apply(text, &bytes, Path::new("/p"), Path::new("/q")).unwrap_err()[0].reason,
        Reason::Boundary
    );
    // All that is wrong is told, one reason for each file.
    assert_eq!(run(&files, &[update("no"), update("d"), update("a")].join("\n")).unwrap_err().len(), 2);
}

/// The largest patch against the largest file, with whatever repeats.
#[test]
fn nothing_is_quadratic() {
    let start = Instant::now();
    let file = "a\n".repeat(MAX_FILE_BYTES / 2);
    let old = "-a\n".repeat(MAX_PATCH_BYTES / 3 - 100);
    assert_eq!(refused(&file, &format!("@@\n{old}")).reason, Reason::Ambiguous);
    assert_eq!(refused(&file, &format!("@@\n{old}-b")).reason, Reason::Missing);
    let many = "@@\n-a\n".repeat(MAX_PATCH_BYTES / 6 - 100);
    assert_eq!(refused(&file, &many).reason, Reason::Ambiguous);
    assert!(changed(&file, &format!("@@\n{old}*** End of File")).len() > 3_000_000);
    let anchors = "@@ a\n@@ a\n+b\n".repeat(MAX_PATCH_BYTES / 14);
    assert!(changed(&file, &anchors).len() > MAX_FILE_BYTES);
    // Every line another one, each hunk behind the one before.
    let mut file = String::new();
    let mut hunks = String::new();
    for at in 0..300_000 {
        let _ = writeln!(file, "{at}");
        if at % 8 == 0 && hunks.len() < 1_900_000 {
            let _ = write!(hunks, "@@\n-{at}\n+x\n");
        }
    }
    assert!(changed(&file, &hunks).starts_with("x\n1\n"));
    // Two lines in a row that never repeats: no line of it is rare.
    let mut state = 1u32;
    let file: String = (0..MAX_FILE_BYTES / 2)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 31 == 0 { "a\n" } else { "b\n" }
        })
        .collect();
    let lines: Vec<&str> = file.lines().collect();
    let hunks: String =
        (0..19_000).map(|at| format!("@@\n-{}\n", lines[at * 40..][..30].join("\n-"))).collect();
    assert_eq!(refused(&file, &hunks).reason, Reason::Boundary);
    let nested: String = (0..100_000).map(|at| format!("{}x\n", " ".repeat(at % 90))).collect();
    assert_eq!(refused(&nested, "@@ x\n-y").reason, Reason::Missing);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn the_disk_is_read_through_links() {
    let root = std::env::temp_dir().join(format!("policy-patch-{}", std::process::id()));
    let project = root.join("p");
    std::fs::create_dir_all(project.join("d")).unwrap();
    let project = std::fs::canonicalize(project).unwrap();
    std::fs::write(project.join("d/a"), "x\n").unwrap();
    std::fs::write(root.join("secret"), "x\n").unwrap();
    std::os::unix::fs::symlink("d", project.join("in")).unwrap();
    std::os::unix::fs::symlink("../secret", project.join("out")).unwrap();
    std::os::unix::fs::symlink("gone", project.join("dangling")).unwrap();
    let disk = Disk::new(&project);
    let run = |body: &str| {
        apply(&format!("*** Begin Patch\n{body}\n*** End Patch"), &disk, &project, &project.join("d"))
    };
    assert_eq!(run("*** Update File: a\n@@\n-x\n+y").unwrap()[0].after.as_deref(), Some("y\n"));
    assert_eq!(run("*** Update File: ../in/a\n@@\n-x\n+y").unwrap()[0].after.as_deref(), Some("y\n"));
    for (body, reason) in [
        ("*** Update File: ../out\n@@\n-x\n+y", Reason::Boundary),
        ("*** Update File: ../../secret\n@@\n-x\n+y", Reason::Boundary),
        ("*** Update File: ../d\n@@\n-x\n+y", Reason::Read),
        ("*** Update File: ../in\n@@\n-x\n+y", Reason::Read),
        ("*** Add File: ../in/a\n+y", Reason::Boundary),
        ("*** Delete File: ../gone", Reason::Missing),
    ] {
        assert_eq!(run(body).unwrap_err()[0].reason, reason, "{body}");
    }
    assert!(run("*** Add File: ../new/deep\n+y").is_ok());
    std::fs::remove_dir_all(root).unwrap();
}
