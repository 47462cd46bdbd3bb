//! Tests that are made to pass by testing less.
//!
//! INVARIANT: only files of tests; a skip under a condition is no weakening, a comment counts only when it is code.

use std::collections::HashMap;

use super::weaken_python;
use crate::added::only_new;
use crate::code::{Code, Kind, read};
use crate::file::{File, part};
use crate::{Found, Options};

/// Skipped and emptied tests, claims about constants, claims turned into comments, tests that lost all their claims.
pub(crate) fn weakening(after: &File, before: Option<&File>, _: &Options) -> Vec<Found> {
    let (mut found, claims) = look(after);
    if let Some(before) = before {
        let (old, old_claims) = look(before);
        found = only_new(found, after, old, before);
        let mut lost: Vec<(usize, &str)> = claims
            .iter()
            .filter(|(name, (_, count))| {
                *count == 0 && old_claims.get(*name).is_some_and(|(_, count)| *count > 0)
            })
            .map(|(name, (place, _))| (*place, name.as_str()))
            .collect();
        lost.sort_unstable();
        for (place, name) in lost {
            let one =
                after.found(place, format!("test {name} lost all its claims"), "keep what the test claims");
            if !found.iter().any(|other| other.line == one.line) {
                found.push(one);
            }
        }
    }
    found
}

/// How many claims each test has, and where it is.
pub(crate) type Claims = HashMap<String, (usize, usize)>;

fn look(file: &File) -> (Vec<Found>, Claims) {
    if file.path.is_python() {
        return if file.path.is_test() { weaken_python::look(file) } else { Default::default() };
    }
    let mut masked = String::new();
    let rust_tests =
        file.path.extension == "rs" && (file.text.contains("#[test]") || file.text.contains("cfg(test)"));
    if !file.path.is_test() && !rust_tests {
        return Default::default();
    }
    let Some(code) = read(file, &mut masked) else { return Default::default() };
    let code = &*code;
    let mut found = Vec::new();
    let mut claims = Claims::new();
    let counts = claim_counts(code);
    // The braces that are open, and whether a condition stands before them.
    let mut open: Vec<bool> = Vec::new();
    let mut condition = false;
    for at in 0..code.tokens.len() {
        let word = code.word(at);
        match word {
            "{" => {
                open.push(std::mem::take(&mut condition));
                continue;
            }
            "}" => {
                open.pop();
                condition = false;
                continue;
            }
            "if" | "switch" | "case" | "unless" | "when" | "guard" => condition = true,
            ";" => condition = false,
            _ => {}
        }
        if !matches!(code.kind(at), Some(Kind::Name)) && word != "#" && word != "@" && word != "[" {
            continue;
        }
        let conditional = condition || open.last().copied().unwrap_or(false);
        let message = match file.path.extension.as_str() {
            "go" => go(code, at, conditional),
            "rs" => rust(code, at),
            "rb" => ruby(code, at),
            "java" | "kt" | "kts" | "scala" | "cs" | "swift" | "php" | "groovy" | "dart" | "ex" | "exs" => {
                other(code, at, conditional)
            }
            _ => script(code, at),
        };
        if let Some(message) = message {
            found.push(say(file, code.start(at), message));
        }
        if file.path.is_script()
            && matches!(word, "it" | "test")
            && code.word(at + 1) == "("
            && code.kind(at + 2) == Some(Kind::Str)
        {
            let close = code.close(at + 1);
            let count = counts.get(close.min(counts.len() - 1)).unwrap_or(&0) - counts.get(at).unwrap_or(&0);
            claims.insert(code.word(at + 2).to_owned(), (code.start(at), count));
        }
    }
    for (start, end) in &code.comments {
        let comment = part(file.text, *start as usize, *end as usize);
        let inner = comment.trim_start_matches(['/', '*', '#', ' ']).trim_end_matches(['*', '/', ' ']);
        if is_claim(inner) {
            found.push(say(file, *start as usize, "a claim is turned into a comment"));
        }
    }
    found.sort_by_key(|found| (found.line, found.column));
    (found, claims)
}

pub(crate) fn say(file: &File, offset: usize, message: &str) -> Found {
    file.found(offset, message, "make the code pass the test as it is, or say why the test is wrong")
}

/// How many claims stand before each token.
fn claim_counts(code: &Code) -> Vec<usize> {
    let mut counts = vec![0];
    let mut count = 0;
    for at in 0..code.tokens.len() {
        let claim = matches!(code.word(at), "expect" | "assert" | "should" | "expectTypeOf" | "fail")
            || code.word(at).starts_with("assert")
            || code.word(at).starts_with("toBe")
            || code.word(at).starts_with("verify");
        count += usize::from(claim && code.kind(at) == Some(Kind::Name));
        counts.push(count);
    }
    counts
}

/// `expect(x).toBe(1)`, `assert.equal(a, b)`, `assert!(x)`: code and no sentence.
fn is_claim(comment: &str) -> bool {
    let call = |name: &str| {
        comment.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', '.', '!']) && rest.contains('('))
    };
    let name = comment.split(['(', '.', '!', ' ']).next().unwrap_or("");
    (name == "expect"
        || name == "assert"
        || (name.starts_with("assert") && name.chars().all(char::is_alphanumeric))
        || name == "assert_eq")
        && (call(name) && comment.trim_end_matches([';', ' ']).ends_with([')', '(']))
}

fn script(code: &Code, at: usize) -> Option<&'static str> {
    let before = code.word(at.wrapping_sub(1));
    if matches!(before, "." | "?." | "function") {
        return None;
    }
    match code.word(at) {
        "it" | "test" | "describe" | "context" | "suite" | "specify" | "bench"
            if code.word(at + 1) == "." =>
        {
            // `test.describe.skip`
            let mut last = at + 2;
            while code.word(last + 1) == "." {
                last += 2;
            }
            let call = code.word(last + 1) == "(" || code.kind(last + 1) == Some(Kind::Str);
            let named = matches!(code.kind(last + 2), Some(Kind::Str))
                || code.kind(last + 1) == Some(Kind::Str)
                || code.word(last + 2) == ")";
            let each = code.word(last) == "each";
            match code.word(if each { last - 2 } else { last }) {
                "skip" | "fixme" if call && (named || each) => Some("a test is skipped"),
                "failing" | "fails" if call => Some("a test is marked as failing"),
                "only" if call => Some("only some tests run"),
                _ => None,
            }
        }
        "xit" | "xtest" | "xdescribe" | "xcontext" | "xspecify" if code.word(at + 1) == "(" => {
            Some("a test is skipped")
        }
        "fit" | "fdescribe" if code.word(at + 1) == "(" && code.kind(at + 2) == Some(Kind::Str) => {
            Some("only some tests run")
        }
        "it" | "test" | "specify"
            if code.word(at + 1) == "("
                && code.kind(at + 2) == Some(Kind::Str)
                && code.word(at + 3) == "," =>
        {
            let close = code.close(at + 1);
            let empty = close < code.tokens.len()
                && close > at + 6
                && code.word(close - 1) == "}"
                && code.word(close - 2) == "{"
                && (code.word(close - 3) == "=>" || code.word(close - 3) == ")")
                && close < at + 16;
            empty.then_some("a test has an empty body")
        }
        "expect" if code.word(at + 1) == "(" => {
            let close = code.close(at + 1);
            let value = constant(code, at + 2, close)?;
            if code.word(close + 1) != "." {
                return None;
            }
            match code.word(close + 2) {
                "toBe" | "toEqual" | "toStrictEqual" | "toBeEqual" if code.word(close + 3) == "(" => {
                    (constant(code, close + 4, code.close(close + 3)) == Some(value))
                        .then_some("a claim about a constant is always true")
                }
                "toBeTruthy" | "toBeDefined"
                    if !matches!(value, "false" | "0" | "null" | "undefined" | "''" | "\"\"") =>
                {
                    Some("a claim about a constant is always true")
                }
                "toBeFalsy" if matches!(value, "false" | "0" | "null" | "undefined") => {
                    Some("a claim about a constant is always true")
                }
                _ => None,
            }
        }
        _ => claim_of_constant(code, at),
    }
}

/// The one token between two brackets when it is a constant.
fn constant<'a>(code: &Code<'a>, first: usize, end: usize) -> Option<&'a str> {
    let word = code.word(first);
    let constant = matches!(word, "true" | "false" | "null" | "undefined" | "nil" | "True")
        || matches!(code.kind(first), Some(Kind::Number | Kind::Str));
    (end == first + 1 && constant).then_some(word)
}

/// `assert(true)`, `assertTrue(true)`, `assertEquals(1, 1)`, `assert.ok(true)`, in any language with brackets.
fn claim_of_constant(code: &Code, at: usize) -> Option<&'static str> {
    let says = Some("a claim about a constant is always true");
    let (name, open) = match (code.word(at), code.word(at + 1)) {
        ("assert" | "Assert", ".") => (code.word(at + 2), at + 3),
        ("assert" | "debug_assert" | "assert_eq", "!") => (code.word(at), at + 2),
        (name, _) => (name, at + 1),
    };
    if code.word(open) != "(" {
        return None;
    }
    let close = code.close(open);
    let first = code.word(open + 1);
    let single = close == open + 2 || code.word(open + 2) == ",";
    match name {
        "assert" | "ok" | "assertTrue" | "True" | "isTrue" | "IsTrue" | "XCTAssertTrue" | "XCTAssert"
        | "True_"
            if single =>
        {
            if first == "true" {
                says
            } else {
                None
            }
        }
        "assertFalse" | "False" | "isFalse" | "IsFalse" | "XCTAssertFalse" if single => {
            if first == "false" {
                says
            } else {
                None
            }
        }
        "assertEquals" | "assertEqual" | "assertSame" | "equal" | "strictEqual" | "deepEqual"
        | "AreEqual" | "Equal" | "assert_eq" | "XCTAssertEqual"
            if code.word(open + 2) == "," && code.word(open + 4) == ")" =>
        {
            let other = code.word(open + 3);
            if other == first && constant(code, open + 1, open + 2).is_some() { says } else { None }
        }
        _ => None,
    }
}

fn go(code: &Code, at: usize, conditional: bool) -> Option<&'static str> {
    match code.word(at) {
        "Skip" | "SkipNow" | "Skipf"
            if !conditional
                && code.word(at.wrapping_sub(1)) == "."
                && matches!(code.word(at.wrapping_sub(2)), "t" | "b" | "tb" | "f")
                && code.word(at + 1) == "(" =>
        {
            Some("a test is skipped")
        }
        "func" if code.word(at + 1).starts_with("Test") && code.word(at + 2) == "(" => {
            let close = code.close(at + 2);
            (code.word(close + 1) == "{" && code.word(close + 2) == "}").then_some("a test has an empty body")
        }
        _ => None,
    }
}

fn rust(code: &Code, at: usize) -> Option<&'static str> {
    if code.word(at) == "#" {
        return (code.follows(at, &["#", "[", "ignore"]) && matches!(code.word(at + 3), "]" | "="))
            .then_some("a test is skipped");
    }
    claim_of_constant(code, at)
}

fn ruby(code: &Code, at: usize) -> Option<&'static str> {
    if code.word(at.wrapping_sub(1)) == "." {
        return None;
    }
    match code.word(at) {
        "xit" | "xdescribe" | "xcontext" | "xspecify" => Some("a test is skipped"),
        "it" | "describe" | "context"
            if code.kind(at + 1) == Some(Kind::Str)
                && code.follows(at + 2, &[",", ":"])
                && matches!(code.word(at + 4), "skip" | "pending") =>
        {
            Some("a test is skipped")
        }
        "skip" | "pending" if code.word(at + 1) == "end" => Some("a test is skipped"),
        "skip" | "pending"
            if code.kind(at + 1) == Some(Kind::Str)
                && code.word(at.wrapping_sub(1)) != ":"
                && !is_behind_if(code, at + 2) =>
        {
            Some("a test is skipped")
        }
        "expect" if code.word(at + 1) == "(" && code.word(at + 2) == "true" && code.word(at + 3) == ")" => {
            matches!(code.word(at + 4), ".").then_some("a claim about a constant is always true")
        }
        "assert" if code.word(at + 1) == "true" => Some("a claim about a constant is always true"),
        _ => None,
    }
}

fn is_behind_if(code: &Code, at: usize) -> bool {
    matches!(code.word(at), "if" | "unless")
}

fn other(code: &Code, at: usize, conditional: bool) -> Option<&'static str> {
    match code.word(at) {
        "@" if matches!(code.word(at + 1), "Disabled" | "Ignore" | "Ignored") => Some("a test is skipped"),
        "@" if code.follows(at + 1, &["tag", ":", "skip"]) => Some("a test is skipped"),
        "[" if matches!(code.word(at + 1), "Ignore") && matches!(code.word(at + 2), "]" | "(") => {
            Some("a test is skipped")
        }
        "Skip" if code.word(at + 1) == "=" && code.kind(at + 2) == Some(Kind::Str) => {
            Some("a test is skipped")
        }
        "markTestSkipped" | "markTestIncomplete" if code.word(at + 1) == "(" && !conditional => {
            Some("a test is skipped")
        }
        "XCTSkip" if code.word(at + 1) == "(" && !conditional => Some("a test is skipped"),
        _ => claim_of_constant(code, at),
    }
}
