//! Tests of the envelope: what is read, what is lenient, where reading stops.
//!
//! INVARIANT: every text is read without a panic.

use super::*;

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch\n")
}

fn wrong(text: &str) -> (u32, String, String) {
    let wrong = parse(text).wrong.unwrap_or_else(|| panic!("{text} is read"));
    (wrong.line, wrong.why, wrong.path)
}

#[test]
fn all_operations_are_read() {
    let text = envelope(
        "*** Add File: a/new.txt\n+one\n+\n+ two\n*** Delete File: old.txt\n*** Update File: m.py\n*** Move to: n.py\n\
         @@ def f():\n a\n-b\n+c\n@@\n+end\n*** End of File",
    );
    let patch = parse(&text);
    assert_eq!(patch.wrong, None);
    let shown: Vec<(&str, u32)> = patch.files.iter().map(|file| (file.path, file.line)).collect();
    assert_eq!(shown, [("a/new.txt", 2), ("old.txt", 6), ("m.py", 7)]);
    assert_eq!(patch.files[0].body, Body::Add(vec!["one", "", " two"]));
    assert_eq!(patch.files[0].text, "*** Add File: a/new.txt\n+one\n+\n+ two");
    assert_eq!(patch.files[1].body, Body::Delete);
    let Body::Update { to, hunks } = &patch.files[2].body else { panic!() };
    assert_eq!((*to, hunks.len()), (Some("n.py"), 2));
    assert_eq!((hunks[0].line, hunks[0].anchors.as_slice()), (9, ["def f():"].as_slice()));
    assert_eq!((hunks[0].before(), hunks[0].after()), (vec!["a", "b"], vec!["a", "c"]));
    assert!(!hunks[0].ends_file && hunks[1].ends_file && hunks[1].before().is_empty());
    for file in &patch.files {
        let text = alone(file);
        let again = parse(&text);
        assert_eq!((again.wrong, again.files.len(), again.files[0].text), (None, 1, file.text));
    }
}

#[test]
fn what_the_native_tool_takes_is_taken() {
    let update = "*** Update File: a\n@@\n x\n\n-y\n+z";
    let text = envelope(update);
    let Body::Update { hunks, .. } = &parse(&text).files[0].body else { panic!() };
    assert_eq!(hunks[0].before(), ["x", "", "y"]);
    for text in [
        format!("  \n{}\n  ", envelope(update)),
        envelope(&format!("  {update}")),
        format!("<<'EOF'\n{}EOF\n", envelope(update)),
        format!("<<EOF\n{}EOF", envelope(update)),
        envelope(update).replace('\n', "\r\n"),
        envelope("*** Update File: a\n-y\n+z"),
        envelope("*** Update File: a \n@@ \n-y\n+z\n\n*** Delete File: b\n\n"),
        envelope("*** Update File: a\n@@ class A\n@@ def f\n-y\n+z"),
        envelope("*** Update File: a\n*** Move to: b"),
        envelope("*** Add File: a\n+x\n\n*** Delete File: b"),
        envelope("*** Add File: a"),
    ] {
        assert_eq!(parse(&text).wrong, None, "{text}");
        assert!(is_patch(&text), "{text}");
        assert_eq!(parse(&text).files[0].path, "a");
    }
    assert!(!is_patch("git apply x.patch") && !is_patch(""));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let cases: [(String, u32, &str); 16] = [
        (String::new(), 1, "the first line"),
        ("hello".to_owned(), 1, "the first line"),
        ("*** Begin Patch".to_owned(), 1, "the last line"),
        ("\n\n*** Begin Patch\n*** Delete File: a".to_owned(), 4, "the last line"),
        (envelope(""), 3, "changes no file"),
        (envelope("*** Rename File: a"), 2, "is no `*** Add File:`"),
        (envelope("*** Add File: a\n+x\ny"), 4, "does not begin with `+`"),
        (envelope("*** Add File: a\n+x\n\n+y"), 5, "is no `*** Add File:`"),
        (envelope("*** Delete File: a\n-x"), 3, "has no lines"),
        (envelope("*** Update File: a"), 3, "changes nothing"),
        (envelope("*** Update File: a\n@@"), 4, "no lines"),
        (envelope("*** Update File: a\n@@ x\n@@ y\nz"), 5, "begins with none"),
        (envelope("*** Update File: a\n@@\n-x\nz"), 5, "begins with none"),
        (envelope("*** Update File: a\n@@\n-x\n*** End of File\n-y"), 6, "`@@`"),
        (envelope("*** Update File:\n@@\n-x"), 2, "names no file"),
        (envelope("*** Update File: a\n*** Move to:\n@@\n-x"), 3, "names no file"),
    ];
    for (text, line, part) in cases {
        let found = wrong(&text);
        assert!(found.0 == line && found.1.contains(part), "{text}\n{found:?}");
    }
    let text = envelope("*** Delete File: a\n*** Add File: b\nx");
    assert_eq!((parse(&text).files.len(), wrong(&text).2), (1, "b".to_owned()));
}

#[test]
fn any_text_is_read_in_time() {
    let start = std::time::Instant::now();
    for part in [
        "@@ ",
        "+",
        "\n",
        "*** ",
        "*** Begin Patch\n",
        "*** Update File: a\n@@\n",
        "<<E\n",
        "ä\r\n",
        "*** Add File: a\n",
    ] {
        let text = part.repeat(2_000_000 / part.len());
        let _ = parse(&text);
        let _ = parse(&envelope(&text));
        let _ = parse(&envelope(&format!("*** Update File: a\n{text}")));
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
