//! Tests of paths.
//!
//! INVARIANT: every spelling of a place is seen as that place.

use super::super::resolve::NoResolver;
use super::*;

fn places(windows: bool) -> Places {
    Places {
        project: Some(PathBuf::from(if windows { "C:\\work\\app" } else { "/work/app" })),
        home: Some(PathBuf::from(if windows { "C:\\Users\\me" } else { "/home/me" })),
        resolve_links: false,
        windows,
    }
}

fn names(named: &Named) -> Vec<Vec<&str>> {
    named.names.iter().map(|name| name.views.iter().map(String::as_str).collect()).collect()
}

fn unix(text: &str) -> Named {
    let namer = Namer::new(&places(false), &NoResolver, Path::new("/work/app"));
    namer.argument(namer.base(), text, false)
}

#[test]
fn the_project_and_home_in_other_letters_are_a_second_name() {
    assert_eq!(names(&unix("/WORK/App/x")), [vec!["/WORK/App/x"], vec!["./x", "/work/app/x"]]);
    assert_eq!(names(&unix("/Home/ME/.ssh")), [vec!["/Home/ME/.ssh"], vec!["~/.ssh", "/home/me/.ssh"]]);
    assert_eq!(names(&unix("/work/app/X")), [vec!["./X", "/work/app/X"]]);
}

#[test]
fn one_name() {
    let cases: [(&str, &[&str]); 23] = [
        ("README.md", &["./README.md", "/work/app/README.md"]),
        ("./README.md", &["./README.md", "/work/app/README.md"]),
        ("src/../.env", &["./.env", "/work/app/.env"]),
        ("src/./a//b/", &["./src/a/b", "/work/app/src/a/b"]),
        (".", &[".", "/work/app"]),
        ("", &[".", "/work/app"]),
        ("..", &["/work"]),
        ("../app/x", &["./x", "/work/app/x"]),
        ("../../../../../etc/passwd", &["/etc/passwd"]),
        ("../application/x", &["/work/application/x"]),
        ("/work/app", &[".", "/work/app"]),
        ("/work/app/x", &["./x", "/work/app/x"]),
        ("/work/app2", &["/work/app2"]),
        ("/", &["/"]),
        ("//etc/passwd", &["/etc/passwd"]),
        ("/..//../etc/./passwd", &["/etc/passwd"]),
        ("~", &["~", "/home/me"]),
        ("~/.ssh/id", &["~/.ssh/id", "/home/me/.ssh/id"]),
        ("~/../other/x", &["/home/other/x"]),
        ("/home/me/.ssh", &["~/.ssh", "/home/me/.ssh"]),
        ("file:///etc/passwd", &["/etc/passwd"]),
        ("FILE://localhost/etc/passwd", &["/etc/passwd"]),
        ("a~b", &["./a~b", "/work/app/a~b"]),
    ];
    for (text, want) in cases {
        let named = unix(text);
        assert_eq!(names(&named), [want], "{text:?}");
        assert_eq!((named.form, &named.opaque), (Form::Exact, &None), "{text:?}");
    }
}

#[test]
fn several_readings() {
    let cases: [(&str, &[&str]); 19] = [
        ("fi\nle:/etc/passwd", &["/etc/passwd", "./fi", "./le:/etc/passwd", "./le/etc/passwd"]),
        (".env::$DATA", &["./.env::$DATA", "./.env"]),
        (".env. . ", &["./.env. . ", "./.env", "./.env. ."]),
        (".git./config", &["./.git./config", "./.git/config"]),
        ("a/.. /x", &["./a/.. /x", "./x"]),
        ("/a/b:c", &["/a/b:c", "/a/b"]),
        ("conf\\secrets\\db.json", &["./conf/secrets/db.json", "./conf\\secrets\\db.json"]),
        ("/srv/app/%2eenv", &["/srv/app/%2eenv", "/srv/app/.env"]),
        ("/srv/%252eenv", &["/srv/%252eenv", "/srv/%2eenv", "/srv/.env"]),
        ("%2e%2e/x", &["./%2e%2e/x", "/work/x"]),
        ("..%2fx", &["./..%2fx", "/work/x"]),
        ("..%5cx", &["./..%5cx", "/work/x", "./..\\x"]),
        ("%7e/x", &["./%7e/x", "~/x"]),
        (" .env", &["./ .env", "./.env"]),
        ("a\n/etc/passwd", &["./a\n/etc/passwd", "./a", "/etc/passwd"]),
        ("C:\\Users\\me", &["C:/Users/me", "./C:/Users/me", "./C:\\Users\\me"]),
        ("file:///a/.env?x", &["/a/.env", "/a/.env?x"]),
        ("file:etc/x", &["/etc/x", "./etc/x"]),
        ("file:///%65tc/x", &["/%65tc/x", "/etc/x"]),
    ];
    for (text, want) in cases {
        let named = unix(text);
        let first: Vec<&str> = names(&named).iter().map(|views| views[0]).collect();
        assert_eq!(first, want, "{text:?}");
        assert_eq!(named.opaque, None, "{text:?}");
    }
}

#[test]
fn not_understood() {
    let long = "x".repeat(MAX_PATH_BYTES + 1);
    for (text, why) in [
        ("a\0b", "control"),
        ("a\u{1}b", "control"),
        ("a%00b", "control"),
        ("a%ffb", "escapes"),
        ("\\\\host\\share\\x", "network"),
        ("file://host/share", "network"),
        ("\\\\?\\UNC\\host\\x", "network"),
        ("~root/x", "another user"),
        (long.as_str(), "longer"),
    ] {
        let named = unix(text);
        assert!(named.opaque.as_deref().is_some_and(|o| o.contains(why)), "{text:?} {named:?}");
    }
    assert_eq!(names(&unix("\\\\host\\share\\..\\..\\..\\x")), [["//host/share/x"]]);
    let named = unix("~root/.ssh/id");
    assert_eq!((named.form, names(&named)), (Form::Holes, vec![vec!["\u{1}/.ssh/id"]]));
}

#[test]
fn windows_names() {
    let namer = Namer::new(&places(true), &NoResolver, Path::new("C:\\work\\app"));
    let cases: [(&str, &[&str]); 13] = [
        ("src\\a.rs", &["./src/a.rs", "C:/work/app/src/a.rs"]),
        (".env::$DATA", &["./.env", "C:/work/app/.env"]),
        (".env:stream", &["./.env", "C:/work/app/.env"]),
        (".env. . ", &["./.env", "C:/work/app/.env"]),
        (".git./config", &["./.git/config", "C:/work/app/.git/config"]),
        ("src/.. /x", &["./x", "C:/work/app/x"]),
        ("c:/WORK/App/x", &["./x", "C:/WORK/App/x"]),
        ("C:\\", &["C:/"]),
        ("D:/x", &["D:/x"]),
        ("\\Windows\\x", &["C:/Windows/x"]),
        ("\\\\?\\C:\\work\\app\\x", &["./x", "C:/work/app/x"]),
        ("~\\x", &["~/x", "C:/Users/me/x"]),
        ("file:///C:/work/app/x", &["./x", "C:/work/app/x"]),
    ];
    for (text, want) in cases {
        let named = namer.argument(namer.base(), text, false);
        for views in names(&named) {
            assert_eq!(views, want, "{text:?}");
        }
        assert_eq!(named.opaque, None, "{text:?}");
    }
    for (text, why) in
        [("C:x", "drive"), ("PROGRA~1\\x", "short"), ("\\\\h\\s", "network"), ("//h/s", "network")]
    {
        let named = namer.argument(namer.base(), text, false);
        assert!(named.opaque.as_deref().is_some_and(|o| o.contains(why)), "{text:?} {named:?}");
    }
}

#[test]
fn without_places_a_path_is_in_the_project() {
    let namer = Namer::new(&Places::default(), &NoResolver, Path::new(""));
    let argument = |text: &str| namer.argument(namer.base(), text, false);
    assert_eq!(names(&argument("src/a")), [["./src/a"]]);
    assert_eq!(names(&argument("~/a")), [["~/a"]]);
    assert_eq!(names(&argument(".")), [["."]]);
    assert_eq!(names(&argument("../a")), [["\u{1}/a"]]);
    assert_eq!(argument("../a").form, Form::Holes);
    assert_eq!(names(&argument("/etc/x")), [["/etc/x"]]);
}

#[test]
fn globs_and_holes() {
    let namer = Namer::new(&places(false), &NoResolver, Path::new("/work/app/[id]"));
    let named = namer.argument(namer.base(), "**/*.ts", true);
    assert_eq!(names(&named), [["./\\[id\\]/**/\u{2}.ts", "/work/app/\\[id\\]/**/\u{2}.ts"]]);
    assert_eq!(named.form, Form::Glob);
    assert_eq!(namer.argument(namer.base(), "/a/.{env,git}*", false).names[0].views, ["/a/.**"]);
    assert_eq!(names(&namer.argument(namer.base(), "**/../x", true)), [["\u{1}/x"]]);
    assert_eq!(names(&namer.argument(namer.base(), "/a/*/../x", true)), [["/a/x"]]);
    let word = |text: &str, form| namer.word(namer.base(), text, form, false);
    assert_eq!(names(&word("\u{1}/x", Form::Holes)), [["\u{1}/x"], ["\u{1}"]]);
    assert_eq!(names(&word("/a/\u{1}/../../x", Form::Holes)), [["\u{1}/x"], ["\u{1}"]].to_vec());
    assert_eq!(names(&word("~/x", Form::Exact))[0][0], "./[id]/~/x", "a quoted tilde is a file name");
    assert_eq!(names(&word("a\\.b", Form::Exact)), [["./[id]/a\\.b", "/work/app/[id]/a\\.b"]]);
    assert_eq!(names(&word("*.\\*", Form::Glob)), [["./\\[id\\]/*.\\*", "/work/app/\\[id\\]/*.\\*"]]);
}

#[test]
fn unknown_folders() {
    let namer = Namer::new(&places(false), &NoResolver, Path::new("/work/app"));
    let nowhere = Namer::nowhere();
    assert_eq!(names(&namer.word(&nowhere, ".env", Form::Exact, false)), [["\u{1}/.env"]]);
    assert_eq!(namer.word(&nowhere, ".env", Form::Exact, false).form, Form::Holes);
    assert_eq!(names(&namer.word(&nowhere, "/etc/x", Form::Exact, false)), [["/etc/x"]]);
    assert_eq!(namer.folder(&nowhere), Folder::default());
    let sub = namer.below(namer.base(), "api/../web");
    assert!(namer.folder(&sub).inside);
    assert_eq!(namer.folder(&sub).name.views[0], "./web");
    assert!(!namer.folder(&namer.below(&sub, "../../..")).inside);
    assert_eq!(namer.folder(&namer.below(&sub, "~/x")).name.views[0], "~/x");
}

struct Links(Vec<(&'static str, &'static str)>);

impl Resolver for Links {
    fn resolve(&self, path: &Path) -> Resolution {
        let text = path.to_str().unwrap();
        for (link, target) in &self.0 {
            if let Some(rest) = text.strip_prefix(link)
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return Resolution::Other(PathBuf::from(format!("{target}{rest}")));
            }
        }
        if text.contains("unknown") { Resolution::Unknown } else { Resolution::Same }
    }

    fn entries(&self, folder: &Path) -> Option<Vec<Entry>> {
        let entry = |name: &str, kind| Entry { name: name.to_owned(), kind };
        match folder.to_str()? {
            "/work/app" => Some(vec![
                entry("link", EntryKind::Link),
                entry("src", EntryKind::Folder),
                entry("x.c", EntryKind::File),
                entry("[id]", EntryKind::Link),
            ]),
            "/work/app/src" => Some(vec![entry("up", EntryKind::Link)]),
            "/work/app/many" => None,
            _ => Some(Vec::new()),
        }
    }
}

#[test]
fn a_pattern_finds_the_links_that_it_matches() {
    let links =
        Links(vec![("/work/app/link", "/etc"), ("/work/app/src/up", "/work"), ("/work/app/[id]", "/id")]);
    let places = Places { resolve_links: true, ..places(false) };
    let namer = Namer::new(&places, &links, Path::new("/work/app"));
    let last = |text: &str| {
        let named = namer.word(namer.base(), text, Form::Glob, false);
        let names: Vec<String> = named.names.iter().skip(1).map(|name| name.views[0].clone()).collect();
        (names.join(" "), named.opaque.is_some())
    };
    let cases = [
        ("*.c", ""),
        ("*/passwd", "/etc/passwd /id/passwd"),
        ("[l]ink/passwd", "/etc/passwd"),
        ("l*", "/etc"),
        ("*/../x", "/x /x"),
        ("s*/*/other", "/work/other"),
        ("*/*", "/etc/* /id/*"),
        ("src/u?", "/work"),
        ("\\[id\\]/*", ""),
        ("\\[i*", "/id"),
    ];
    for (text, wanted) in cases {
        let (names, opaque) = last(text);
        if text == "*/*" {
            assert!(names.starts_with(wanted) && names.ends_with("/work"), "{text}: {names}");
        } else if text == "*/../x" {
            assert!(names.starts_with("/x"), "{text}: {names}");
        } else if text == "\\[id\\]/*" {
            assert_eq!(names, "/id/*", "{text}");
        } else {
            assert_eq!(names, wanted, "{text}");
        }
        assert!(!opaque, "{text}");
    }
    assert!(last("many/*").1, "what cannot be listed is not known");
}

/// `..` behind a link: as the system takes it, and as text, with the links of what is left.
#[test]
fn both_meanings_of_a_parent_are_names() {
    let links = Links(vec![
        ("/work/app/a/out/../m", "/work/m"),
        ("/work/app/a/out", "/else"),
        ("/work/app/a/m", "/secret"),
    ]);
    let places = Places { resolve_links: true, ..places(false) };
    let namer = Namer::new(&places, &links, Path::new("/work/app"));
    for named in [
        namer.argument(namer.base(), "a/out/../m", false),
        namer.word(namer.base(), "a/out/../m", Form::Exact, false),
        namer.word(namer.base(), "a/out/../m", Form::Glob, false),
    ] {
        let names: Vec<&str> = named.names.iter().map(|name| name.views[0].as_str()).collect();
        assert_eq!(names, ["./a/m", "/work/m", "/secret"]);
    }
    let unknown = namer.argument(namer.base(), "link/../unknown", false);
    assert_eq!(unknown.opaque.as_deref(), Some(LINKS));
}

#[test]
fn links_give_a_second_name() {
    let links = Links(vec![("/work/app/link", "/etc"), ("/home/me", "/data/me"), ("/l/app", "/work/app")]);
    let places = Places { resolve_links: true, ..places(false) };
    let namer = Namer::new(&places, &links, Path::new("/l/app/sub"));
    let argument = |text: &str| namer.argument(namer.base(), text, false);
    assert_eq!(
        names(&argument("x")),
        [["./sub/x", "/l/app/sub/x"], ["./sub/x", "/work/app/sub/x"]],
        "the project as the host spells it"
    );
    assert_eq!(names(&argument("/work/app/link/x")), [vec!["./link/x", "/work/app/link/x"], vec!["/etc/x"]]);
    assert_eq!(names(&argument("/work/app/link/*.c")).last().unwrap(), &["/etc/\u{2}.c"]);
    assert_eq!(names(&argument("~/x")), [["~/x", "/home/me/x"], ["~/x", "/data/me/x"]]);
    assert_eq!(argument("/unknown/x").opaque.as_deref(), Some(LINKS));
    let folder = namer.folder(&namer.below(namer.base(), "/work/app/link"));
    assert_eq!((folder.inside, folder.name.views), (false, vec!["/etc".to_owned()]));
    assert!(namer.folder(namer.base()).inside);
}
