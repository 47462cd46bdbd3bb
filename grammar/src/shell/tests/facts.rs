//! What is known of single commands: words, parts, folder, gaps, wrappers, redirections.

use super::knowledge::{Known, line};
use crate::shell::{Analysis, Command, Dialect, Dir, Feature, Gap, Part, Piece, Word, analyze};

fn bash(text: &str) -> Analysis {
    analyze(text, Dialect::Bash, &Known)
}

/// The commands, each as its words joined by blanks; `?` is a word that is not known.
fn listed(text: &str) -> Vec<String> {
    let mut all: Vec<String> =
        bash(text).commands.iter().filter(|c| !c.words.is_empty() && !c.alternative).map(line).collect();
    all.sort();
    all
}

fn find(text: &str, start: &str) -> Command {
    let analysis = bash(text);
    let found = analysis.commands.iter().find(|command| line(command).starts_with(start));
    found.unwrap_or_else(|| panic!("{start:?} in {text:?}: {analysis:?}")).clone()
}

#[track_caller]
fn lists(text: &str, wanted: &[&str]) {
    let mut wanted: Vec<String> = wanted.iter().map(|s| s.to_string()).collect();
    wanted.sort();
    let analysis = bash(text);
    assert_eq!(listed(text), wanted, "{text:?}");
    assert!(analysis.complete, "{text:?}: {:?}", analysis.problems);
}

#[track_caller]
fn flagged(text: &str) {
    let analysis = bash(text);
    assert!(!analysis.complete, "{text:?} is complete: {:?}", listed(text));
}

#[track_caller]
fn gap(text: &str, start: &str, gap: Gap) {
    let command = find(text, start);
    assert!(command.gaps.contains(&gap), "{text:?}: {start:?} has {:?}", command.gaps);
}

#[track_caller]
fn plain(text: &str, start: &str) {
    let command = find(text, start);
    assert!(command.gaps.is_empty(), "{text:?}: {start:?} has {:?}", command.gaps);
}

#[test]
fn a_hash_after_an_equals_sign_is_text() {
    lists("x=#$(git push)\n", &["git push"]);
    lists("a b=#$(git push) c", &["git push", "a ? c"]);
    flagged("a=(1)#$(git push)\n");
    flagged("a=([0]=1#$(git push))#x\n");
    lists("a #$(git push)", &["a"]);
    lists("[[ -e <(rm x) ]]", &["rm x"]);
    lists("[[ a < b && c > $(id) ]]", &["id"]);
}

#[test]
fn words() {
    let words = |text: &str| bash(text).commands[0].words[1..].to_vec();
    assert_eq!(
        words("a ~/x '~/x' \"~\"/x ~"),
        [
            Word::Tilde("~/x".into()),
            Word::Known("~/x".into()),
            Word::Known("~/x".into()),
            Word::Tilde("~".into())
        ]
    );
    assert_eq!(
        words("a $HOME \"${HOME}/x\" ${HOME:?}/x"),
        [Word::Tilde("~".into()), Word::Tilde("~/x".into()), Word::Tilde("~/x".into())]
    );
    let unknown = |word: &Word| matches!(word, Word::Unknown(_));
    assert!(unknown(&words("a x$HOME")[0]) && unknown(&words("a ${HOME%/*}")[0]));
    // A home that the text changes is whatever it says.
    let last = |text: &str| bash(text).commands.last().unwrap().words[1].clone();
    assert_eq!(last("HOME=/etc; a $HOME/x"), Word::Known("/etc/x".into()));
    assert!(unknown(&last("read HOME; a $HOME/x")) && unknown(&last(". ./x; a $HOME/x")));
    assert_eq!(
        words("a *.rs '*'.rs \"[a]\"* '*'"),
        [
            Word::Glob("*.rs".into()),
            Word::Known("*.rs".into()),
            Word::Glob("\\[a\\]*".into()),
            Word::Known("*".into())
        ]
    );
    let value = |quoted| Piece::Value { name: "X".into(), quoted, unset: Some(String::new()) };
    assert_eq!(
        words("a \"$X\" x$X ~/$X"),
        [
            Word::Unknown(vec![value(true)]),
            Word::Unknown(vec![Piece::Text("x".into()), value(false)]),
            Word::Unknown(vec![Piece::Tilde("~".into()), Piece::Text("/".into()), value(false)]),
        ]
    );
    assert_eq!(words("a \"$@\""), [Word::Unknown(vec![Piece::Hole { quoted: false }])]);
    assert_eq!(
        words("for f in *.c; do a \"$f\" $f; done"),
        [Word::Glob("*.c".into()), Word::Unknown(vec![Piece::Hole { quoted: false }])]
    );
    lists("git${IFS}push${IFS}-f", &["git push -f"]);
    lists("x='*.c'; a $x", &["a <*.c>"]);
    lists("set -- -rf /; rm \"$@\"", &["rm -rf /", "set -- -rf /"]);
    lists("a {x,y{1,2}}z {} {a} a{1..3..2}", &["a xz y1z y2z {} {a} a1 a3"]);
    lists("x=a.tar.gz; b ${x%%.*} ${x%.gz} ${x##*.} ${x^^} ${x:2:3}", &["b a a.tar gz A.TAR.GZ tar"]);
}

#[test]
fn variables_are_never_guessed() {
    lists("if a; then x=1; else x=2; fi; b $x", &["a", "b 1", "b 2"]);
    lists("x=ls; while a; do $x; x=rm; done", &["a", "?"]);
    lists("x=ls; f() { x=rm; }; f; $x y", &["? y"]);
    lists("x=ls; read x; $x y", &["read x", "? y"]);
    lists("x=ls; (x=rm); $x y", &["ls y"]);
    lists("x=ls; a | read x; $x y", &["a", "read x", "? y"]);
    lists("x=ls; eval \"$y\"; $x y", &["eval ?", "? y"]);
    lists("x=ls; . ./f; $x y", &[". ./f", "? y"]);
    lists("x=ls; printf -v x rm; $x y", &["printf -v x rm", "rm y"]);
    lists("x=ls; declare -n r=x; r=rm; $x y", &["declare -n r=x", "? y"]);
    lists("x=1; ((x=2)); a $x", &["a ?"]);
    lists("x=ls; : ${x:=rm}; unset x; $x y", &[": ?", "unset x", "? y"]);
    lists("export x=git; $x push", &["export x=git", "git push"]);
    lists("x=a; x=b c; d $x", &["c", "d a"]);
    lists("x=git && $x push", &["git push"]);
    lists("y='c  d'; x=$y; a \"$x\"", &["a c  d"]);
    lists("IFS=b; set -- c d; a \"$*\"", &["set -- c d", "a cbd"]);
    lists("x=${IFS}; a \"$x\"", &["a  \t\n"]);
    lists("x=$(echo 'c  d'); a \"$x\"", &["echo c  d", "a c  d"]);
    lists("for i in a b; do for j in c d; do e $i $j; done; done", &["e a c", "e a d", "e b c", "e b d"]);
    lists("IFS=,; x=a,b; c $x", &["c a b"]);
    flagged("x=ls; for i in 1 2; do $x y; printf -v $'\\170' rm; done");
    flagged("x='a[$(rm y)]'; echo $((x))");
    flagged("let 'a[$(rm y)]=1'");
    flagged("x='a[$'; z=\"$x(rm y)]\"; echo $((z))");
    flagged("typeset -i x; x='a[$(rm y)]'");
    flagged("echo ${x@P}");
}

#[test]
fn traps_that_run_in_between() {
    flagged("trap 'cd /etc' DEBUG; a");
    flagged("trap 'x=1' ERR; a");
    flagged("trap 'c\"d\" /etc' USR1; a");
    flagged("trap \"$x\" DEBUG; a");
    flagged("f() { cd /; }; trap f DEBUG; a");
    assert!(bash("trap 'cd /etc' EXIT; a").complete);
    assert!(bash("trap 'echo stop; exit 1' INT TERM; a").complete);
    assert!(bash("trap - DEBUG; a").complete);
    gap("BASH_CMDS[a]=./b; a", "a", Gap::Environment);
    gap("BASH_ALIASES[a]=b; a", "a", Gap::Environment);
    gap("read -r 'BASH_CMDS[a]'; a", "a", Gap::Environment);
    gap("RIPGREP_CONFIG_PATH=x rg a", "rg", Gap::Environment);
    gap("GH_PAGER=x gh a", "gh", Gap::Environment);
}

#[test]
fn what_was_read_is_not_evaluated() {
    for script in [
        "x=$(a); echo $((x))",
        "x=$(a); ((x))",
        "x=`a`; y=$x; z=$y; [[ z -eq 1 ]]",
        "read -r x; echo ${b[x]}",
        "read -r x; echo ${b:x}",
        "read -r x; b[x]=1",
        "read -r x; echo ${!x}",
        "read -r x; read -r \"$x\"",
        "read -r x; let y=x+1",
        "for ((i = 0; i < $(a); i++)); do b; done",
        "for f in *; do echo $((f)); done",
        "f() { echo $(($1)); }; f \"$(a)\"",
        "set -- $(a); [[ $1 -gt 1 ]]",
        "wc() { a; }; n=$(wc -l); echo $((n))",
        "declare \"$(a)=1\"",
        "echo $(( $(a) + 1 ))",
    ] {
        flagged(script);
    }
    for script in [
        "n=$(a | wc -l); (( n > 3 ))",
        "s=$(date +%s); echo $(( $(date +%s) - s ))",
        "i=0; while ((i < 3)); do i=$((i+1)); done",
        "x=$(a); echo \"${x:-b}\" \"${x%.c}\" \"${#x}\"",
        "x=$(a); [[ $x == b && -n $x ]]",
        "for i in 1 2 3; do echo $((i * 2)); done",
        "b=(1 2); echo ${b[0]} ${b[@]} ${!b[@]}",
    ] {
        assert!(bash(script).complete, "{script}");
    }
}

#[test]
fn functions_and_aliases() {
    lists("rm() { a; }; rm x", &["a"]);
    lists("rm x; rm() { a; }", &["a", "rm x"]);
    plain("rm x; rm() { a; }", "rm x");
    gap("if b; then rm() { a; }; fi; rm x", "rm x", Gap::Shadowed);
    gap("rm() { a; }; unset -f rm; rm x", "rm x", Gap::Shadowed);
    lists("(rm() { a; }); rm x", &["a", "rm x"]);
    lists("rm() { a; }; command rm x", &["a", "command rm x", "rm x"]);
    lists("f() { g; }; g() { b; }; f", &["b", "g"]);
    gap("eval 'rm() { a; }'; rm x", "rm x", Gap::Shadowed);
    gap("eval() { :; }; eval \"rm x\"", "eval rm x", Gap::Shadowed);
    gap("alias git=rm; git status", "git status", Gap::Shadowed);
    lists("alias g='rm -rf'; g x", &["alias g=rm -rf", "g x", "rm -rf"]);
    gap("bomb() { bomb | bomb & }; bomb", "bomb", Gap::Shadowed);
    gap("f() { \"$1\" x; }; f rm", "? x", Gap::UnknownProgram);
    assert!(find("f() { a; } > o; f", "a").redirects.iter().any(|r| r.op == ">"));
    gap("f() { bash; }; curl u | f", "bash", Gap::UnreadCode);
    assert_eq!(find("f() { rm x; }; cd /tmp && f", "rm x").dir, Dir::Unknown);
}

#[test]
fn folders() {
    let dir = |text: &str| find(text, "x").dir;
    let changed = |to: &str| Dir::Changed(to.to_string());
    let others = |text: &str| {
        let all = bash(text).commands.into_iter();
        all.filter(|c| c.alternative && line(c) == "x").map(|c| c.dir).collect::<Vec<_>>()
    };
    assert_eq!(dir("x"), Dir::Call);
    assert_eq!(dir("cd a && x"), changed("a"));
    assert_eq!(dir("cd a && cd b && x"), changed("a/b"));
    assert_eq!(dir("cd a && cd /b && x"), changed("/b"));
    assert_eq!(dir("cd && x"), changed("~"));
    assert_eq!(dir("cd ~/a && x"), changed("~/a"));
    assert_eq!(dir("cd '~/a' && x"), changed("./~/a"));
    assert_eq!(dir("cd a; x"), changed("a"));
    // So long that nobody means it: it would be said again for every command.
    let long = "cd src && cd .. && ".repeat(400);
    assert_eq!(dir(&format!("{long}x")), Dir::Unknown);
    assert_eq!(dir(&format!("{long}cd /b && x")), changed("/b"));
    assert_eq!(others("cd a; x"), [Dir::Call]);
    assert_eq!(others("cd a; cd b; x"), [changed("b"), changed("a"), Dir::Call]);
    assert_eq!(others("if y; then cd a; else cd b; fi; x"), [Dir::Call, changed("a")]);
    assert_eq!(dir("cd a && cd b && cd - && x"), changed("a"));
    assert_eq!(dir("pushd a && y && popd && x"), Dir::Call);
    assert_eq!(dir("pushd a && pushd b && popd && x"), changed("a"));
    assert_eq!(dir("popd && x"), Dir::Unknown);
    assert_eq!(dir("cd a || exit 1; x"), changed("a"));
    assert_eq!(dir("cd a || { echo no; exit 1; }; x"), changed("a"));
    assert_eq!(dir("set -e; cd a; x"), changed("a"));
    assert_eq!(dir("(cd a && b); x"), Dir::Call);
    assert_eq!(dir("cd a | b; x"), Dir::Call);
    assert_eq!(dir("cd $A && x"), Dir::Unknown);
    assert_eq!(dir("cd - && x"), Dir::Unknown);
    assert_eq!(dir("cd a || x"), Dir::Call);
    assert_eq!(dir("bash -c 'cd a && x'"), changed("a"));
    assert_eq!(dir("cd a && bash -c x"), changed("a"));
    assert_eq!(dir("env -C a x"), changed("a"));
    assert_eq!(find("git -C a status", "git").dir, changed("a"));
    assert_eq!(dir("command cd a && x"), changed("a"));
    assert_eq!(dir("eval cd a; x"), Dir::Unknown);
    assert_eq!(dir("for i in 1 2; do x; cd ..; done"), Dir::Unknown);
}

#[test]
fn gaps() {
    plain("LC_ALL=C FOO=bar git status", "git");
    gap("PATH=/tmp git status", "git", Gap::Environment);
    gap("export LD_PRELOAD=/tmp/x; git status", "git", Gap::Environment);
    gap("env GIT_SSH_COMMAND=x git pull", "git", Gap::Environment);
    gap("PATH=/tmp; sudo git status", "git", Gap::Environment);
    gap("$X push", "?", Gap::UnknownProgram);
    gap("g${x}it push", "git push", Gap::UnknownProgram);
    gap("./*/x y", "<", Gap::UnknownProgram);
    gap("curl u | bash", "bash", Gap::UnreadCode);
    gap("curl u | sudo bash -s -- a", "bash", Gap::UnreadCode);
    gap("bash < f", "bash", Gap::UnreadCode);
    gap("bash <(curl u)", "bash", Gap::UnreadCode);
    gap("bash -c \"$X\"", "bash", Gap::UnreadCode);
    gap("eval \"rm $X\"", "rm ?", Gap::UnreadCode);
    gap("exec < f; bash", "bash", Gap::UnreadCode);
    gap("while read l; do bash; done < f", "bash", Gap::UnreadCode);
    gap("curl u | python3 -", "python3", Gap::UnreadCode);
    gap("python3 <<E\nx\nE", "python3", Gap::PartlyRead);
    gap("sudo -Z x rm y", "rm y", Gap::UncertainWrapper);
    gap("sudo $X rm y", "rm y", Gap::UncertainWrapper);
    plain("bash -c 'git push'", "git push");
    plain("python3 x.py", "python3");
    plain("echo hi | bash", "bash");
}

#[test]
fn wrappers() {
    lists(
        "sudo -u root env A=1 nice -n 5 rm x",
        &["sudo -u root env A=1 nice -n 5 rm x", "env A=1 nice -n 5 rm x", "nice -n 5 rm x", "rm x"],
    );
    assert_eq!(find("sudo -u root env A=1 rm x", "rm").wrappers, ["sudo", "env"]);
    assert_eq!(find("sudo sh -c 'a; rm x'", "rm").wrappers, ["sudo", "sh"]);
    assert_eq!(find("sudo rm x > o", "rm").text, "rm x");
    assert_eq!(find("a; sudo  git  push", "git").text, "git  push");
    lists(
        "find . -name '*.c' -exec rm {} \\; -exec b {} +",
        &["find . -name *.c -exec rm {} ; -exec b {} +", "rm <./**>", "b <./**>"],
    );
    lists("xargs -I{} rm {}", &["xargs -I{} rm {}", "rm ?"]);
    lists("xargs -I % rm a%", &["xargs -I % rm a%", "rm ?"]);
    lists("ls | xargs -0 rm -f", &["ls", "xargs -0 rm -f", "rm -f ?"]);
    lists("git -c alias.x='!rm y' x", &["git -c alias.x=!rm y x", "rm y"]);
    lists("bash +x -c 'rm y'", &["bash +x -c rm y", "rm y"]);
    lists("bash -eo pipefail -c 'rm y'", &["bash -eo pipefail -c rm y", "rm y"]);
    lists("bash -lc 'rm y'", &["bash -lc rm y", "rm y"]);
    lists("bash -c '$0 $1' rm y", &["bash -c $0 $1 rm y", "rm y"]);
    lists("bash <<< 'rm y'", &["bash", "rm y"]);
    lists("bash <<'E'\nrm y\nE", &["bash", "rm y"]);
    lists("ssh h <<E\nrm y\nE", &["ssh h", "rm y"]);
    lists("ssh h -p 22 rm y", &["ssh h -p 22 rm y", "rm y"]);
    lists("flock f -c 'rm y'", &["flock f -c rm y", "rm y"]);
    lists("env -S 'A=1 rm' y", &["env -S A=1 rm y", "rm y"]);
    lists("parallel rm {} ::: a b", &["parallel rm {} ::: a b", "rm a", "rm b"]);
    lists("parallel rm -r ::: / '/e c'", &["parallel rm -r ::: / /e c", "rm -r /", "rm -r /e c"]);
    lists("echo a b | xargs rm -r", &["echo a b", "xargs rm -r", "rm -r a b"]);
    lists(
        "printf '%s\\n' a 'b c' | xargs -I{} rm {}",
        &["printf %s\\n a b c", "xargs -I{} rm {}", "rm a", "rm b c"],
    );
    lists("printf 'a\\nb\\n' | xargs -n 1 rm", &["printf a\\nb\\n", "xargs -n 1 rm", "rm a", "rm b"]);
    lists("parallel ::: 'rm a' 'rm b'", &["parallel ::: rm a rm b", "rm a", "rm b"]);
    lists("docker compose -f x exec -u 0 web rm y", &["docker compose -f x exec -u 0 web rm y", "rm y"]);
    lists("busybox sh -c 'rm y'", &["busybox sh -c rm y", "rm y", "sh -c rm y"]);
    lists("sudo -v; command -V rm", &["sudo -v", "command -V rm"]);
    lists("su - bob -c 'rm y'", &["su - bob -c rm y", "rm y"]);
    lists("echo 'rm y' | tee f | bash", &["bash", "echo rm y", "rm y", "tee f"]);
    lists("printf '%s %s\\n' rm y | sudo sh", &["printf %s %s\\n rm y", "sh", "sudo sh", "rm y"]);
    lists(
        "timeout 5 bash -c \"sudo sh -c 'rm y'\"",
        &[
            "timeout 5 bash -c sudo sh -c 'rm y'",
            "bash -c sudo sh -c 'rm y'",
            "sudo sh -c rm y",
            "sh -c rm y",
            "rm y",
        ],
    );
}

#[test]
fn pipes_and_redirections() {
    let place = find("a | b | c", "b").pipe.unwrap();
    assert_eq!((place.stage, place.stages), (1, 3));
    assert!(find("a", "a").pipe.is_none());
    assert_eq!(find("{ a; b; } > o 2>&1", "b").redirects.len(), 2);
    assert_eq!(find("for i in 1; do a; done >> o", "a").redirects[0].op, ">>");
    let command = find("a <<E\nx\nE", "a");
    assert_eq!(
        (command.redirects[0].op.as_str(), &command.redirects[0].target),
        ("<<", &Word::Known("x\n".into()))
    );
    assert_eq!(find("a <<-E\n\tx\n\tE", "a").redirects[0].target, Word::Known("x\n".into()));
    assert_eq!(find("a >~/o", "a").redirects[0].target, Word::Tilde("~/o".into()));
    assert_ne!(bash("a > o").features & Feature::Redirect.bit(), 0);
    assert_eq!(bash("a 2>&1 >/dev/null").features & Feature::Redirect.bit(), 0);
    flagged("cat <<E\nx\n\tE\n");
    flagged("cat <<E\nx\n");
    flagged("cat <<E\nx\\\nE\nrm y\nE");
    flagged("cat <<E $(\nx\nE\n)");
}

#[test]
fn parts() {
    let parts = |text: &str| bash(text).commands[0].parts.clone();
    let flag = |names: &[&str], value: Option<&str>| Part::Flag {
        names: names.iter().map(|n| n.to_string()).collect(),
        value: value.map(|v| Word::Known(v.to_string())),
    };
    let operand = Part::Operand { after_dashes: false };
    assert_eq!(
        parts("tar -xf a --to-command=b c"),
        [
            Part::Program,
            flag(&["-x", "-f"], None),
            Part::FlagValue { flag: "-f".into() },
            flag(&["--to-command"], Some("b")),
            operand.clone(),
        ]
    );
    assert_eq!(
        parts("tar -fa -- -x"),
        [Part::Program, flag(&["-f"], Some("a")), Part::Dashes, Part::Operand { after_dashes: true }]
    );
    assert_eq!(parts("unknown -a b c"), [Part::Program, flag(&["-a"], None), Part::Unclear, operand.clone()]);
    assert_eq!(parts("find . -name x")[2], flag(&["-name"], None));
    assert_eq!(parts("tar $X \"a$X\"")[1..], [Part::Unclear, operand]);
}

#[test]
fn dialects() {
    for text in
        ["[[ a ]]", "a &> b", "a <(b)", "echo $'x'", "function f { a; }", "a {b,c}", "x=(a)", "cat <<< x"]
    {
        assert!(bash(text).complete, "{text:?}");
        assert!(!analyze(text, Dialect::Unknown, &Known).complete, "{text:?}");
    }
    let posix = analyze("a {b,c}", Dialect::Posix, &Known);
    assert_eq!(line(&posix.commands[0]), "a {b,c}");
    flagged("sh -c '[[ a ]]'");
    lists("sh -c 'a && b'", &["sh -c a && b", "a", "b"]);
}

#[test]
fn places() {
    let problem = bash("a\n  b $(").problems[0].clone();
    assert_eq!(problem.line, 2);
    let command = find("aa; bash -c 'rm x'", "rm");
    assert_eq!((command.start, command.end), (4, 18));
    flagged("a\r\nb\r\n");
    flagged("a &\\\n& b");
    flagged("wh\\\nile a; do b; done");
}

#[test]
fn continuations_join_what_they_join() {
    lists("gi\\\nt pu\\\nsh", &["git push"]);
    lists("a \\\n b", &["a b"]);
    flagged("echo \"$\\\n(rm y)\"");
    flagged("echo $\\\n{x}");
    flagged("v=1; vb=2; echo $v\\\nb");
    flagged("cat <<E\n$\\\n(rm y)\nE");
    lists("time\\\nx y", &["timex y"]);
    lists("!\\\nrm y", &["!rm y"]);
    lists("! \\\nrm y", &["rm y"]);
    lists("{ \\\na; }", &["a"]);
    flagged("if\\\na; then b; fi");
    flagged("cat <<E\\\nF\nE\nrm y\nEF");
}
