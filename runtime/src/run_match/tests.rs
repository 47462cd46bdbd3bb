//! Every sentence of "Run patterns", with its border cases.

use super::{Match, OperandSet, RunPattern, Stage, Term, grants, refuses};
use crate::facts::{Access, CommandFact, Facts, Form, Origin, Part, PathFact, PathName, Redirect, Word};
use Match::{Certain, No, Possible};

/// Flags of the test programs that take a value.
const WITH_VALUE: &[&str] = &["-C", "-o", "-m", "--file"];

/// A pipe of commands. `$X` is unknown and splits, `"$X"` is one unknown word, `(a|b)` one of two, a word with `*` a
/// file pattern; `?w` is a word of unclear role; `@` before the program is a wrapper.
fn facts(text: &str) -> Facts {
    let mut facts = Facts::default();
    let stages: Vec<&str> = text.split(" | ").collect();
    for (index, stage) in stages.iter().enumerate() {
        let pipe = (stages.len() > 1).then_some((0, index as u32, stages.len() as u32));
        let command = command(stage, &mut facts);
        facts.commands.push(CommandFact { pipe, ..command });
    }
    facts
}

fn view(text: &str) -> String {
    match text {
        "." | "/" | "~" => text.to_owned(),
        _ if text.starts_with(['/', '~']) || text.starts_with("./") => text.to_owned(),
        _ => format!("./{text}"),
    }
}

fn word(text: &str) -> Word {
    let unknown = |text: &str, splits| Word::Unknown { text: text.replace("$X", "\u{1}"), splits };
    if let Some(inner) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        return if inner.contains("$X") { unknown(inner, false) } else { Word::Known(inner.to_owned()) };
    }
    if text.contains("$X") {
        return unknown(text, true);
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        return Word::OneOf(inner.split('|').map(str::to_owned).collect());
    }
    if text.contains(['*', '[']) { Word::Glob(text.to_owned()) } else { Word::Known(text.to_owned()) }
}

fn path(facts: &mut Facts, text: &str, form: Form) -> u32 {
    let name = PathName { views: vec![view(text)] };
    facts.paths.push(PathFact {
        written: text.to_owned(),
        names: vec![name],
        form,
        origin: Origin::Command(0),
        ..PathFact::default()
    });
    facts.paths.len() as u32 - 1
}

fn command(text: &str, facts: &mut Facts) -> CommandFact {
    let mut out = CommandFact { plain: true, plain_but_writes: true, ..CommandFact::default() };
    out.dir.views = vec![".".to_owned()];
    let (mut dashes, mut value_of) = (false, None::<String>);
    let mut tokens = text.split(' ').filter(|t| !t.is_empty()).peekable();
    while let Some(token) = tokens.next() {
        if let Some(wrapper) = token.strip_prefix('@') {
            out.wrappers.push(wrapper.to_owned());
            continue;
        }
        if token == ">" || token == "<" {
            let writes = token == ">";
            let target = tokens.next().expect("a target");
            let path = Some(path(facts, target, Form::Exact));
            out.redirects.push(Redirect { op: token.to_owned(), file: true, writes, path });
            out.plain &= !writes;
            continue;
        }
        let unclear = token.strip_prefix('?');
        let word = word(unclear.unwrap_or(token));
        let part = match &word {
            _ if out.words.is_empty() => Part::Program,
            _ if unclear.is_some() => Part::Unclear,
            _ if value_of.is_some() => Part::FlagValue { flag: value_of.take().expect("set") },
            Word::Known(t) if t == "--" && !dashes => {
                dashes = true;
                Part::Dashes
            }
            Word::Known(t) if t.starts_with('-') && t.len() > 1 && !dashes => {
                let (name, value) = match t.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (t.as_str(), None),
                };
                let names: Vec<String> = match name.strip_prefix('-') {
                    Some(letters) if !letters.starts_with('-') => {
                        letters.chars().map(|c| format!("-{c}")).collect()
                    }
                    _ => vec![name.to_owned()],
                };
                value_of =
                    names.last().filter(|n| value.is_none() && WITH_VALUE.contains(&n.as_str())).cloned();
                Part::Flag { names, value }
            }
            Word::Unknown { .. } if !dashes => Part::Unclear,
            _ => Part::Operand,
        };
        let text = match &part {
            Part::Flag { value, .. } => value.clone(),
            Part::Program | Part::Dashes => None,
            _ => Some(unclear.unwrap_or(token).trim_matches('"').replace("$X", "\u{1}")),
        };
        let known = match (&word, text) {
            (Word::Known(_), Some(text)) => Some(path(facts, &text, Form::Exact)),
            (Word::Glob(_), Some(text)) => Some(path(facts, &text, Form::Glob)),
            (Word::Unknown { .. }, Some(text)) => Some(path(facts, &text, Form::Holes)),
            _ => None,
        };
        if let Word::OneOf(texts) = &word {
            for text in texts {
                let number = path(facts, text, Form::Exact);
                out.one_of_paths.push((out.words.len() as u32, number));
            }
        }
        let access = match out.words.first() {
            Some(Word::Known(program)) if program == "cat" => Access::READ,
            Some(Word::Known(program)) if program == "rm" => Access::DELETE.and(Access::TREE),
            Some(Word::Known(program)) if program == "tee" => Access::WRITE,
            Some(Word::Known(program)) if program == "upload" => Access::READ.and(Access::SEND),
            Some(Word::Known(program)) if program == "echo" => Access::DATA,
            _ => Access::UNSURE,
        };
        out.touches.push(access);
        out.words.push(word);
        out.parts.push(part);
        out.word_paths.push(known);
    }
    out
}

/// `git push {-f,--force} * -* ... | sh touching ./a,text except ./b writing /dev/* via sudo`
fn pattern(text: &str) -> RunPattern<'_> {
    let mut out = RunPattern::default();
    let mut tokens = text.split(' ').peekable();
    let mut stage = Stage::default();
    let set = |list: &str| {
        let (mut paths, mut texts) = (Vec::new(), Vec::new());
        // The leak is a test's.
        let list: &'static str = Box::leak(list.to_owned().into_boxed_str());
        for glob in list.split(',') {
            let anchored = glob == "." || ["./", "**/", "~/", "/"].iter().any(|a| glob.starts_with(a));
            if anchored { paths.push(glob) } else { texts.push(glob) }
        }
        (paths.into(), texts.into())
    };
    while let Some(token) = tokens.next() {
        match token {
            "touching" | "reading" | "writing" | "deleting" | "sending" => {
                let mut own = OperandSet::default();
                (own.paths, own.texts) = set(tokens.next().expect("a set"));
                if tokens.next_if_eq(&"except").is_some() {
                    (own.except_paths, own.except_texts) = set(tokens.next().expect("a set"));
                }
                *match token {
                    "touching" => &mut out.touching,
                    "reading" => &mut out.reading,
                    "writing" => &mut out.writing,
                    "deleting" => &mut out.deleting,
                    _ => &mut out.sending,
                } = Some(own);
            }
            "via" => out.via = tokens.next().expect("names").split(',').collect::<Vec<_>>().into(),
            "|" => out.stages.push(std::mem::take(&mut stage)),
            "..." => stage.rest = true,
            _ => {
                let inner = token.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
                let words: Vec<&str> = inner.map_or_else(|| vec![token], |list| list.split(',').collect());
                let flag = words.iter().all(|w| w.starts_with('-') && w.len() > 1);
                if stage.program.is_empty() {
                    stage.program = words.into();
                } else if token == "*" {
                    stage.terms.push(Term::AnyWord);
                } else if token == "-*" {
                    stage.terms.push(Term::AnyFlags);
                } else {
                    stage.terms.push(if flag { Term::Flag(words.into()) } else { Term::Word(words.into()) });
                }
            }
        }
    }
    out.stages.push(stage);
    out
}

#[track_caller]
fn refused(run: &str, cases: &[(&str, Match)]) {
    for (text, expected) in cases {
        let facts = facts(text);
        let got = refuses(&pattern(run), &facts, facts.commands.len() - 1);
        assert_eq!(got, *expected, "refusal `{run}` of `{text}`");
    }
}

#[track_caller]
fn granted(run: &str, yes: &[&str], no: &[&str]) {
    for (text, expected) in yes.iter().map(|t| (t, true)).chain(no.iter().map(|t| (t, false))) {
        let facts = facts(text);
        let got = grants(&pattern(run), &facts, facts.commands.len() - 1);
        assert_eq!(got, expected, "grant `{run}` of `{text}`");
    }
}

#[test]
fn a_refusal_knows_its_program_by_file_name() {
    refused(
        "rm",
        &[
            ("rm", Certain),
            ("/bin/rm x", Certain),
            ("RM.EXE x", Certain),
            ("rmdir x", No),
            ("(rm|ls) x", Possible),
            ("(rm|/bin/rm) x", Certain),
            ("$X x", Possible),
            ("\"$X\" x", Possible),
            ("\"$X/rm\"", Certain),
            ("\"$X/ls\"", No),
            ("\"r$X\"", Possible),
            ("\"$Xm\"", Possible),
            ("\"$Xs\"", No),
            ("./r* x", Possible),
            ("./l* x", No),
        ],
    );
    refused("{mkfs,mkfs.*}", &[("mkfs", Certain), ("mkfs.ext4 /dev/sda", Certain), ("mkfsx", No)]);
    refused("*", &[("anything at all", Certain), ("$X", Certain)]);
    refused("./deploy.sh", &[("./deploy.sh", Certain), ("ops/deploy.sh", Certain), ("deploy", No)]);
}

#[test]
fn words_of_a_refusal_are_the_first_operands_in_order() {
    refused(
        "git push",
        &[
            ("git push", Certain),
            ("git PUSH origin", Certain),
            ("git -C api push", Certain),
            ("git --no-pager push", Certain),
            ("git status push", No),
            ("git -- push", Certain),
            ("git", No),
            ("git ?api push", Possible),
            ("git ?x ?push", Possible),
            ("git ?x status", No),
            ("git $X", Possible),
            ("git $X push", Possible),
            ("git $X status", Possible),
            ("git \"$X\"", Possible),
            ("git \"pu$X\"", Possible),
            ("git \"st$X\" push", Possible),
            ("git (push|pull)", Possible),
            ("git (push|PUSH)", Certain),
            ("git (pull|fetch)", No),
            ("git p*", Possible),
            ("git s*", No),
            ("git -C $X push", Possible),
            ("git -C $X status", Possible),
        ],
    );
    refused(
        "npm {install,i,add} *",
        &[
            ("npm install left-pad", Certain),
            ("npm i x y", Certain),
            ("npm install", No),
            ("npm i -g x", Certain),
            ("npm i $X", Possible),
            ("npm i \"$X\"", Possible),
        ],
    );
}

#[test]
fn flags_of_a_refusal_stand_anywhere_before_the_dashes() {
    refused(
        "git push {-f,--force}",
        &[
            ("git push -f", Certain),
            ("git -f push", Certain),
            ("git push origin main -uf", Certain),
            ("git push -fu", Certain),
            ("git push --force", Certain),
            ("git push --FORCE", Certain),
            ("git push --for", Certain),
            ("git push --fo", Certain),
            ("git push --force=yes", Certain),
            ("git push --force-with-lease", No),
            ("git push -F", No),
            ("git push -- -f", No),
            ("git push -- $X", No),
            ("git push $X", Possible),
            ("git push \"$X\"", Possible),
            ("git push \"-$X\"", Possible),
            ("git push \"+$X\"", No),
            ("git push (-f|-u)", Possible),
            ("git push (-f|--force)", Certain),
            ("git push ?-f", Possible),
            ("git push *", Possible),
            ("git push *.md", Possible),
            ("git push src/*", No),
            ("git push -C -f", No),
        ],
    );
    refused(
        "git branch -D",
        &[("git branch -D x", Certain), ("git branch -d x", No), ("git branch -rD x", Certain)],
    );
    refused("find -exec", &[("find . -exec x", Certain), ("find . -e", No)]);
    refused(
        "tar --format=*",
        &[
            ("tar --format=gnu", Certain),
            ("tar --for=gnu", Certain),
            ("tar --format", No),
            ("tar --file x", No),
        ],
    );
    refused(
        "tar --file=/etc/*",
        &[("tar --file /etc/x", Certain), ("tar --file=/etc/x", Certain), ("tar --file x", No)],
    );
    refused(
        "rm {-r,-R} {-f,--force}",
        &[
            ("rm -rf x", Certain),
            ("rm -f -r x", Certain),
            ("rm x -fR", Certain),
            ("rm -r x", No),
            ("rm -f x", No),
            ("rm -r $X", Possible),
        ],
    );
}

#[test]
fn further_words_never_hurt_a_refusal() {
    refused("git push -* ...", &[("git push a b c --d", Certain)]);
    refused("git push", &[("git push a b c --d > out", Certain)]);
}

#[test]
fn touching_needs_one_operand_of_a_refusal() {
    refused(
        "rm -r touching /,~,./.git/**",
        &[
            ("rm -r /", Certain),
            ("rm -r a /", Certain),
            ("rm -r -- /", Certain),
            ("rm -r .git", Certain),
            ("rm -r .GIT/hooks", Certain),
            ("rm -r build", No),
            ("rm -r $X", Possible),
            ("rm -r \"$X\"", Possible),
            ("rm -r \"build/$X\"", No),
            ("rm -r \"./$X\"", Possible),
            ("rm -r .g*", Possible),
            ("rm -r b*", No),
            ("rm -r (a|/)", Possible),
        ],
    );
    refused(
        "git push touching main,*:main,+* except +ok",
        &[
            ("git push origin main", Certain),
            ("git push origin x:main", Certain),
            ("git push origin +x", Certain),
            ("git push origin +ok", No),
            ("git push origin +OK", Certain),
            ("git push origin maint", No),
            ("git push origin \"$X\"", Possible),
        ],
    );
    refused(
        "curl touching ./secret",
        &[
            ("curl -o secret x", Certain),
            ("curl --data=secret x", Certain),
            ("curl x < secret", Certain),
            ("curl x > secret", No),
        ],
    );
    refused("rm touching /", &[("$X a", Possible), ("\"$X\" a", No), ("\"$X\" /", Possible)]);
}

#[test]
fn writing_and_via() {
    refused(
        "* writing /dev/sd*",
        &[
            ("cat x > /dev/sda", Certain),
            ("cat x < /dev/sda", No),
            ("cat /dev/sda", No),
            ("> /dev/sdb", Certain),
            ("tee /dev/sda", Certain),
            ("rm /dev/sda", Certain),
            ("echo /dev/sda", No),
            ("echo $X", No),
            ("tee $X", Possible),
            ("tool /dev/sda", Possible),
            ("tool /dev/tty", No),
        ],
    );
    refused(
        "* reading /etc/shadow",
        &[
            ("cat /etc/shadow", Certain),
            ("x < /etc/shadow", Certain),
            ("cat x > /etc/shadow", No),
            ("tee /etc/shadow", No),
            ("tool /etc/shadow", Possible),
        ],
    );
    // A tree that is deleted takes what lies below it along; what may lie anywhere does not count.
    refused(
        "* deleting /a/b/**,/c/*/d,**/x except /a",
        &[
            ("rm /a/b/c", Certain),
            ("rm /a", No),
            ("rm /", Certain),
            ("rm /c/y", Certain),
            ("rm /d", No),
            ("rm /d/x", Certain),
            ("tee /a/b", No),
        ],
    );
    refused("* sending /k", &[("upload /k", Certain), ("cat /k", No), ("tool /k", Possible)]);
    refused(
        "* via sudo,doas",
        &[("@sudo rm x", Certain), ("@env @DOAS rm", Certain), ("rm x", No), ("@env rm", No)],
    );
}

#[test]
fn pipes_keep_the_order_and_may_have_stages_between() {
    refused(
        "{curl,wget} | {sh,bash}",
        &[
            ("curl x | sh", Certain),
            ("wget -q x | tee a | bash", Certain),
            ("curl x | tee", No),
            ("cat x | sh", No),
            ("sh | curl x", No),
            ("sh", No),
            ("$X | sh", Possible),
            ("curl x | $X", Possible),
            ("(curl|cat) x | sh", Possible),
        ],
    );
    refused(
        "a | b | c",
        &[("a | b | c", Certain), ("b | a | c", No), ("a | x | b | y | c", Certain), ("a | c", No)],
    );
}

#[test]
fn a_grant_takes_exactly_its_words() {
    granted(
        "git status",
        &["git status"],
        &[
            "git status -s",
            "git -C x status",
            "git --no-pager status",
            "git Status",
            "GIT status",
            "/usr/bin/git status",
            "git",
            "git status x",
            "git (status|push)",
            "git $X",
            "git \"$X\"",
            "git st*",
            "$X status",
            "git status > out",
            "git --",
            "git -- status",
        ],
    );
    granted("git {status,log}", &["git log", "git (status|log)"], &["git (log|push)"]);
    granted(
        "git diff --stat",
        &["git diff --stat"],
        &["git diff --sta", "git --stat diff", "git diff --stat=1"],
    );
    granted(
        "git show *",
        &["git show HEAD", "git show (a|b)"],
        &[
            "git show -s",
            "git show",
            "git show a b",
            "git show $X",
            "git show \"$X\"",
            "git show *",
            "git show (a|-b)",
        ],
    );
    granted("npm run test*", &["npm run test:unit"], &["npm run build", "npm run -test"]);
    granted("npm run *x", &["npm run ax"], &["npm run -x"]);
}

#[test]
fn rest_and_any_flags_open_a_grant() {
    granted(
        "git log ...",
        &["git log", "git log -p x", "git log --oneline -- x", "git log *.rs", "git log (a|-b)"],
        &["git -C x log", "git log $X", "git log \"$X\"", "git log > x"],
    );
    granted(
        "git -* log",
        &["git log", "git -p log", "git log -p --stat", "git -- log"],
        &["git -C x log", "git log x", "git log \"-$X\"", "git log -- -p"],
    );
    granted("wc -* ...", &["wc -l a b", "wc a -l"], &["wc $X"]);
    let mut facts = facts("echo $X");
    assert!(!grants(&pattern("echo ..."), &facts, 0));
    facts.commands[0].unknown_is_data = true;
    assert!(grants(&pattern("echo ..."), &facts, 0));
    assert!(!grants(&pattern("echo *"), &facts, 0), "an unquoted value may be several words");
    let mut facts = super::tests::facts("echo \"$X\"");
    facts.commands[0].unknown_is_data = true;
    assert!(grants(&pattern("echo *"), &facts, 0));
}

#[test]
fn the_value_of_a_flag_that_is_surely_data_may_be_unknown() {
    let told = |text: &str, at: usize, access: Access| {
        let mut facts = facts(text);
        let command = &mut facts.commands[0];
        command.parts[at] = Part::FlagValue { flag: "-n".to_owned() };
        command.touches = vec![Access::DATA; command.words.len()];
        command.touches[at] = access;
        facts
    };
    let data = told("head -n \"$X\"", 2, Access::DATA);
    for text in ["head -* ... touching ./**", "head ...", "head -n *", "head -n * touching ./**"] {
        assert!(grants(&pattern(text), &data, 0), "{text}");
    }
    // A set of texts looks at it; an effect, a doubt, several words and an operand are no data.
    assert!(!grants(&pattern("head -* ... touching rel-*"), &data, 0));
    let pattern = pattern("head -* ... touching ./**");
    for access in [Access::READ, Access::UNSURE, Access::DATA.and(Access::UNSURE)] {
        assert!(!grants(&pattern, &told("head -n \"$X\"", 2, access), 0));
    }
    assert!(!grants(&pattern, &told("head -n $X", 2, Access::DATA), 0));
    let mut operand = told("head -n \"$X\"", 2, Access::DATA);
    operand.commands[0].parts[2] = Part::Operand;
    assert!(!grants(&pattern, &operand, 0));
}

#[test]
fn touching_needs_every_operand_of_a_grant() {
    granted(
        "cat ... touching ./**",
        &["cat a src/b", "cat", "cat -- a", "cat src/*", "cat (a|b)", "cat < a"],
        &[
            "cat a /etc/passwd",
            "cat ~/x",
            "cat -n a",
            "cat \"$X\"",
            "cat \"src/$X\"",
            "cat $X",
            "cat *",
            "cat .*/x",
            "cat (a|/etc/x)",
            "cat < /etc/passwd",
            "cat -- -n /x",
        ],
    );
    granted(
        "cat ... touching ./src/** except ./src/gen/**",
        &["cat src/a"],
        &["cat src/gen/a", "cat src/GEN/a", "cat src/*/a"],
    );
    granted(
        "{grep,wc} -* ... touching ./**",
        &["grep -rn x src", "wc -l *", "grep --include=x y"],
        &[
            "grep -f/etc/passwd x",
            "grep --file=/etc/passwd x",
            "grep --file /etc/passwd x",
            "grep x /etc/passwd",
        ],
    );
    granted(
        "git push origin ... touching claude/* except *:*",
        &["git push origin claude/a"],
        &[
            "git push origin main",
            "git push origin claude/a:main",
            "git push origin claude/a --force",
            "git push claude/a",
            "git push origin claude/a main",
        ],
    );
    granted("git checkout * touching ./src/**", &["git checkout src/a"], &["git checkout main"]);
}

#[test]
fn every_name_of_a_path_must_be_in_a_grants_set_and_one_is_enough_for_a_refusal() {
    let mut facts = facts("cat link");
    facts.paths[0].names.push(PathName { views: vec!["/etc/passwd".to_owned()] });
    assert!(!grants(&pattern("cat ... touching ./**"), &facts, 0));
    assert_eq!(refuses(&pattern("cat touching /etc/**"), &facts, 0), Certain);
    facts.paths[0].names[1].views.push("./passwd".to_owned());
    assert!(grants(&pattern("cat ... touching ./**"), &facts, 0), "one view of each name is enough");
}

#[test]
fn a_grant_needs_a_plain_command() {
    let mut facts = facts("git status");
    facts.commands[0].plain = false;
    facts.commands[0].plain_but_writes = false;
    assert!(!grants(&pattern("git status"), &facts, 0));
    let mut facts = super::tests::facts("git status");
    facts.commands[0].gap = "the program is not known".to_owned();
    assert!(!grants(&pattern("git status"), &facts, 0));
    granted("sort ... writing ./out/**", &["sort a > out/b", "sort a"], &["sort a > b", "sort a > /etc/x"]);
    granted("apt update via sudo", &["@sudo apt update"], &["apt update", "@env @sudo apt update"]);
    granted("apt update", &["apt update", "@sudo apt update"], &[]);
}

#[test]
fn a_grants_program_with_a_folder_is_a_file_of_the_project() {
    granted("./run.sh ...", &["./run.sh x"], &["run.sh x", "a/run.sh", "sub/../run.sh"]);
    granted("*", &["anything"], &["./anything", "/bin/anything"]);
    let mut facts = facts("./run.sh");
    facts.commands[0].dir.views = vec!["./sub".to_owned()];
    assert!(!grants(&pattern("./run.sh"), &facts, 0));
}

#[test]
fn long_commands_and_patterns_take_linear_time() {
    let words = "x ".repeat(4000);
    let many = facts(&format!("git {words}"));
    let terms = "* ".repeat(200);
    let run = format!("git {terms}...");
    let start = std::time::Instant::now();
    assert!(grants(&pattern(&run), &many, 0));
    assert_eq!(refuses(&pattern(&run), &many, 0), Certain);
    assert!(start.elapsed().as_secs() < 20);
}

#[test]
fn patterns_print_as_they_are_written() {
    let run = pattern("git push {-f,--force} * -* ... touching ./a,b except c writing /dev/* via sudo,doas");
    assert_eq!(
        run.to_string(),
        "`git push {-f,--force} * -* ...` touching \"./a\", \"b\" except \"c\" writing \"/dev/*\" via sudo, doas"
    );
    assert_eq!(pattern("{curl,wget} | sh").to_string(), "`{curl,wget} | sh`");
}
