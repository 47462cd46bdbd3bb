//! Forms of the shell language: each is read, or it is said that it is not, in each dialect.
//!
//! INVARIANT: what is listed for a form is what bash 5.2 runs; a form that another shell reads in another way is a
//! problem in that dialect.

use super::knowledge::Known;
use crate::shell::Dialect;
use crate::shell::analyze;
use crate::shell::outline::outline;

/// The commands as written, one a line: words joined with blanks, `_` for an expansion.
fn written(text: &str) -> String {
    let outline = outline(text);
    if !outline.problems.is_empty() {
        return format!("not read: {}", outline.problems[0].1);
    }
    let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "_".into());
    let line = |words: &Vec<Option<String>>| words.iter().map(word).collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> = outline.commands.iter().map(line).collect();
    lines.sort();
    lines.join("; ")
}

#[test]
fn every_form_of_bash_lists_its_commands() {
    let cases = [
        ("a; b & c && d || e | f |& g", "a; b; c; d; e; f; g"),
        ("! a; ! ! b; time c; time -p d; time -- e; ! time f", "a; b; c; d; e; f"),
        ("time; !\na", "a"),
        ("{ a; } 2>&1; (b) >x; { (c) }", "a; b; c"),
        ("if a; then b; elif c; then d; else e; fi >x", "a; b; c; d; e"),
        ("if (a) then (b) fi; while (c) do (d) done", "a; b; c; d"),
        (
            "until a; do b; done; for x in c d; do e $x; done; for x do f; done; for x; { g; }",
            "a; b; e _; f; g",
        ),
        ("for ((i=0; i<$(a); i++)); do b; done; for ((;;)) { c; }", "a; b; c"),
        ("for - in x; do a; done", "a"),
        ("select x in a b; do c; break; done; select y; do d; done", "break; c; d"),
        ("case x in esac; case $(a) in (b|c) d ;; *) e ;& f) g ;;& in) h; esac", "a; d; e; g; h"),
        ("case x in a) case y in b) c;; esac;; esac", "c"),
        (
            "f() { a; }; function g { b; }; function h() (c); i()\n[[ $(d) ]]; function a=b { e; }",
            "a; b; c; d; e",
        ),
        ("a-b.c:d/e+f() { a; } >$(b)", "a; b"),
        (
            "coproc a b; coproc { c; }; coproc N { d; } >x; coproc N (e); coproc while f; do g; done",
            "a b; c; d; e; f; g",
        ),
        ("[[ -f $(a) && ! ( x < y || $z =~ ^(b|c)+$ ) ]] && d", "a; d"),
        ("[[ a == @(<|>|>>|[12]>) || b == !(c|\n\td) ]] && e", "e"),
        ("[[ $x =~ $(a) ]]; [[ a\n&&\nb ]]; [[ x -nt y ]]", "a"),
        ("(( a[$(b)] + (c < d) )); let x=1; ((x)); echo $((1+$(e)))", "b; e; echo _; let x=1"),
        ("((a) | (b)); $( (c) ); $((d) )", "_; _; a; b; c; d"),
        (
            "a=(b $(c) [d]=e # f\n\"$(g)\"); a+=(h); a[$(i)]=j; declare -A m=([k]=l); x=\\\n(m n)",
            "c; declare -A _; g; i",
        ),
        ("x=1 y+=2 a z=3 >b c", "a z=3 c"),
        ("a {fd}>b {fd[0]}<c 3>&- 4<&5- <>d >|e &>f &>>g >&h 2>&1 <<<\"$(i)\"", "a; i"),
        (">a; <b; 2>&1 c", "c"),
        ("ls !(a|b) @(c|$(d)) ?(e) *(f) +(g h)", "d; ls _ _ _ _ _"),
        (
            "echo ${a} ${#a} ${!a} ${!a@} ${a[@]:1:2} ${a:-$(b)} ${a/\\//c} ${a^^} ${a@Q} ${!} ${#} ${##} ${#?} ${@:2}",
            "b; echo _ _ _ _ _ _ _ _ _ _ _ _ _ _",
        ),
        ("echo \"${ a; }\" ${ b;} \"${| c; }\" \"x`d \\`e\\``\"", "a; b; c; d _; e; echo _ _ _ _"),
        ("echo \"${a:-'$(b)'}\" \"${a#'$(c)'}\" ${a:-'$(d)'}", "b; echo _ _ _"),
        ("echo $'a\\'b' $\"c $(d)\" 'e' \"f\\\"g\" h\\ i", "d; echo a'b _ e f\"g h i"),
        ("diff <(a) >(b | c) <(d <(e))", "a; b; c; d _; diff _ _ _; e"),
        ("a \\\n b\\\nc # d\n# e\nf;# g\nh&# i\n", "a bc; f; h"),
        ("a |\n# b\nc &&\n\nd", "a; c; d"),
        ("cat <<A <<'B' - <<\"C D\"\n$(a)\nA\n$(b)\nB\n$(c)\nC D\nd", "a; cat -; d"),
        ("cat <<-E; b\n\ta $(c)\n\tE\nd", "b; c; cat; d"),
        ("x=$(cat <<E\na)\nE\n); b", "b; cat"),
        ("if a <<E; then b; fi\nc\nE\n", "a; b"),
        ("cat <<\\E | b\n$(c)\nE", "b; cat"),
        ("echo }; a } {; }b", "a } {; echo }; }b"),
        ("x=1 if a; if=2; echo if then", "echo if then; if a"),
        ("é; a\u{a0}b; \u{1F600} x", "a\u{a0}b; é; \u{1F600} x"),
        ("echo #a; b\nc#d e\\#f", "c#d e#f; echo"),
    ];
    for (text, wanted) in cases {
        assert_eq!(written(text), wanted, "{text}");
    }
}

#[test]
fn what_is_not_read_is_said() {
    let cases = [
        // bash joins the token first
        "a &\\\n& b",
        "a &\\\n>b",
        "wh\\\nile a; do b; done",
        "i\\\nf a",
        "$\\\n(a)",
        "$(\\\n(a))",
        "(\\\n(a))",
        "((a)\\\n)",
        "PA\\\nTH=/x ls",
        "echo 2\\\n>a",
        "a >\\\n> b",
        "[[ a ]\\\n]",
        "~\\\n/x/y",
        "$a\\\nb",
        "a |\\\n| b",
        "t\\\nime a",
        // delimiters with quotes inside, more than four bodies on a line, bodies that do not end
        "cat <<E'O'F\nx\nEOF\n",
        "cat <<E\\OF\nx\nEOF\n",
        "a <<A <<B <<C <<D <<E\nA\nB\nC\nD\nE\n",
        "cat <<E\nx",
        "cat <<E",
        "cat <<E\nx\n\tE\nrm y\nE\n",
        "cat <<E\nx\\\nE\nrm y\nE\n",
        // zsh
        "ls *(.)x(y)",
        "echo ${(f)x}",
        "for x (a b) c",
        "if [[ a ]] { b }",
        "f() a",
        "() { a }",
        "a &| b",
        "=(a)",
        "repeat 2 { a; }",
        "diff =(a) b",
        "a >>| b",
        "x=${${y}}",
        "echo $(( a",
        // not closed, or not begun
        "echo \"a",
        "echo 'a",
        "echo $(a",
        "echo `a",
        "(a",
        "{ a",
        "a )",
        "a; }",
        "if a; then b",
        "a && ",
        "a |",
        "a ;;",
        "fi",
        "case a in b) c",
        "${",
        "for ((a; do b; done",
        "a=(b",
        "a[$(b",
        "[[ a",
        "a > ",
        "a <<",
        "\u{0}",
    ];
    for text in cases {
        assert!(written(text).starts_with("not read"), "{text:?}: {}", written(text));
        assert!(!analyze(text, Dialect::Bash, &Known).complete, "{text:?}");
    }
}

#[test]
fn dialects_read_some_forms_in_another_way() {
    // text, complete for bash, POSIX, zsh
    let both = [true, true, true];
    let bash = [true, false, false];
    let not_posix = [true, false, true];
    let not_zsh = [true, true, false];
    let cases = [
        ("git status && ls -l | wc >x 2>&1", both),
        ("for f in a b; do ls \"$f\"; done; case a in (b) ls;; esac; f() { ls; }", both),
        ("ls ${x:-a} ${x%b} \"$x/y\" $((1+2)) `ls` # list all", both),
        ("echo \"$a: $b\" $HOME:$x", both),
        ("diff <(ls a) <(ls b)", not_posix),
        ("[[ a ]]", not_posix),
        ("((1))", not_posix),
        ("ls &> a", not_posix),
        ("ls &>> a", not_posix),
        ("ls |& wc", not_posix),
        ("ls <<< a", not_posix),
        ("ls $'a'", not_posix),
        ("function f { ls; }", not_posix),
        ("for ((;;)); do ls; done", not_posix),
        ("select x in a; do ls; done", not_posix),
        ("ls {fd}>a", not_posix),
        ("ls 10>a", not_posix),
        ("ls ${x/a/b}", not_posix),
        ("ls ${x:1:2}", not_posix),
        ("case a in b) ls ;& c) ls;; esac", not_posix),
        ("x+=a", not_posix),
        ("x=(a)", bash),
        ("x[0]=a", bash),
        ("ls ${x[0]}", bash),
        ("ls ${!x}", bash),
        ("ls ${x^^}", bash),
        ("ls $\"a\"", bash),
        ("ls @(a)", bash),
        ("ls *(.)", bash),
        ("case a in b) ls ;;& c) ls;; esac", bash),
        ("coproc ls", bash),
        ("ls ${ ls; }", bash),
        ("ls =cat", not_zsh),
        ("=ls a", not_zsh),
        ("x==ls", not_zsh),
        ("ls $=x", not_zsh),
        ("ls \"$~x\"", not_zsh),
        ("ls $x[1]", not_zsh),
        ("ls \"$x:t\"", not_zsh),
        ("ls $#x", not_zsh),
        ("ls >! a", not_zsh),
        ("path=/tmp; ls", not_zsh),
        ("for path in a; do ls; done", not_zsh),
        ("read -r path; ls", not_zsh),
        ("alias -g x='| sh'", not_zsh),
        ("ls # a; rm b", not_zsh),
        ("x='a b'; ls $x", not_zsh),
        ("x='a*'; for y in $x; do ls; done", not_zsh),
        ("x='a b'; ls \"$x\"", both),
    ];
    for (text, wanted) in cases {
        for (dialect, complete) in [Dialect::Bash, Dialect::Posix, Dialect::Zsh].into_iter().zip(wanted) {
            let analysis = analyze(text, dialect, &Known);
            assert_eq!(analysis.complete, complete, "{text:?} {dialect:?} {:?}", analysis.problems);
        }
        // Unknown: every reading.
        let unknown = analyze(text, Dialect::Unknown, &Known);
        assert_eq!(unknown.complete, wanted == both, "{text:?} {:?}", unknown.problems);
        let commands = |dialect| analyze(text, dialect, &Known).commands.len();
        assert!(commands(Dialect::Unknown) >= commands(Dialect::Bash), "{text:?}");
    }
}
