//! Says whether a glob matches a text, one pair at a time, and whether two globs have a common member.
//!
//! INVARIANT: time is at most the product of both lengths, memory is linear for [`matches()`] and capped for
//! [`intersects`]; [`parse`] is the only reading of glob text, the combined automaton is built from its tokens.
//!
//! A backslash makes the next character ordinary; `[` is an ordinary character. In [`Syntax::Plain`] one or more `*`
//! are any run and `?` is one character. In [`Syntax::Path`]:
//!
//! - `*` is any run without `/`, `?` one character other than `/`, two or more `*` are any run;
//! - `**/` at the start of a segment is nothing or any run that ends in `/`, so `a/**/b` matches `a/b`, and `**/x`
//!   matches `x`, `/x`, `./a/x`; several in a row are one;
//! - `/**` at the end also matches the folder itself (`./src`); `/**` alone matches what begins with `/`;
//! - `**` beside other characters of a segment (`a**b`) is any run as well;
//! - in a run of wildcards the `?` between two `*` count as if they stood before the first (`*?*` is `?*`), and
//!   `**/*` is any run.
//!
//! Three bytes of a value are special. [`HOLE`] stands for any run: only `**` (in plain syntax also `*`) covers it.
//! [`RUN`] stands for a run without `/`: `*` and `**` cover it. Neither is ever covered by `?` or a literal, so a
//! match of a value with them is a match of everything it stands for.

/// The byte in a value that stands for any run of any bytes.
pub const HOLE: u8 = 0x01;
/// The byte in a value that stands for any run without `/` (a glob character of the value, see [`flatten`]).
pub const RUN: u8 = 0x02;

/// How the characters of a glob are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Syntax {
    /// Segments between `/`.
    Path,
    /// Text without segments.
    Plain,
}

/// One step of a glob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Token {
    /// This character.
    Lit(char),
    /// One character (path syntax: other than `/`).
    One,
    /// Any run without `/`.
    Star,
    /// Any run.
    Any,
    /// The next two tokens or nothing; they are `Any`, `Lit('/')` or at the end `Lit('/')`, `Any`.
    Maybe2,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Raw {
    Lit(char),
    One,
    Star,
    Stars,
}

impl Raw {
    fn wild(self) -> bool {
        !matches!(self, Raw::Lit(_))
    }
}

fn raws(glob: &str) -> Vec<Raw> {
    let mut out: Vec<Raw> = Vec::with_capacity(glob.len());
    let mut chars = glob.chars();
    // A star joins the star before it; an escaped star is a literal.
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(Raw::Lit(chars.next().unwrap_or('\\'))),
            '?' => out.push(Raw::One),
            '*' => match out.last_mut() {
                Some(last @ (Raw::Star | Raw::Stars)) => *last = Raw::Stars,
                _ => out.push(Raw::Star),
            },
            c => out.push(Raw::Lit(c)),
        }
    }
    out
}

/// Reads a glob into tokens in normal form.
#[must_use]
pub fn parse(glob: &str, syntax: Syntax) -> Vec<Token> {
    let raws = raws(glob);
    let mut out = Vec::with_capacity(raws.len() + 2);
    let mut rest = raws.as_slice();
    let mut fresh = true; // at the start of a segment
    while let Some((&first, after)) = rest.split_first() {
        if let Raw::Lit(c) = first {
            out.push(Token::Lit(c));
            fresh = c == '/';
            rest = after;
            continue;
        }
        let (run, behind) = split_run(rest);
        rest = behind;
        if syntax == Syntax::Path && fresh && run == [Raw::Stars] {
            match behind.split_first() {
                Some((Raw::Lit('/'), next)) => {
                    rest = folders(next, &mut out);
                    fresh = out.last() == Some(&Token::Lit('/')) || out.is_empty();
                    continue;
                }
                None if out.len() > 1 && out.last() == Some(&Token::Lit('/')) => {
                    out.pop();
                    out.extend([Token::Maybe2, Token::Lit('/'), Token::Any]);
                    continue;
                }
                _ => {}
            }
        }
        push_run(run, syntax, &mut out);
        fresh = false;
    }
    out
}

fn split_run(raws: &[Raw]) -> (&[Raw], &[Raw]) {
    let end = raws.iter().position(|r| !r.wild()).unwrap_or(raws.len());
    raws.split_at_checked(end).unwrap_or((raws, &[]))
}

/// What follows one `**/` at the start of a segment; returns what is left to read.
fn folders<'a>(mut next: &'a [Raw], out: &mut Vec<Token>) -> &'a [Raw] {
    while let [Raw::Stars, Raw::Lit('/'), more @ ..] = next {
        next = more;
    }
    let (run, behind) = split_run(next);
    if run == [Raw::Stars] && behind.is_empty() {
        // `a/**/**` is `a/**`.
        return next;
    }
    let marks = run.iter().filter(|&&r| r == Raw::One).count();
    let tail = run.iter().rev().take_while(|&&r| r != Raw::Stars).filter(|&&r| r == Raw::One).count();
    let (stars, star) = (run.contains(&Raw::Stars), run.contains(&Raw::Star));
    if (stars && marks == tail) || (star && !stars) {
        // Any text after a slash is folders and one segment, so `**/*` is any run.
        out.push(Token::Any);
        out.extend(std::iter::repeat_n(Token::One, marks));
        return behind;
    }
    out.extend([Token::Maybe2, Token::Any, Token::Lit('/')]);
    next
}

fn push_run(run: &[Raw], syntax: Syntax, out: &mut Vec<Token>) {
    let wide = match syntax {
        Syntax::Path if run.contains(&Raw::Stars) => Raw::Stars,
        _ => Raw::Star,
    };
    let ones = |raws: &[Raw]| raws.iter().filter(|&&r| r == Raw::One).count();
    let star =
        |r: &Raw| if wide == Raw::Stars { *r == Raw::Stars } else { matches!(r, Raw::Star | Raw::Stars) };
    let mut groups = run.split(star).map(ones);
    let mut head = groups.next().unwrap_or(0);
    let groups: Vec<usize> = groups.collect();
    let Some((&tail, middle)) = groups.split_last() else {
        out.extend(std::iter::repeat_n(Token::One, head));
        return;
    };
    let token = if wide == Raw::Stars || syntax == Syntax::Plain { Token::Any } else { Token::Star };
    if wide != Raw::Stars {
        head += middle.iter().sum::<usize>();
    }
    out.extend(std::iter::repeat_n(Token::One, head));
    out.push(token);
    if wide == Raw::Stars {
        for &group in middle.iter().filter(|&&g| g > 0) {
            out.extend(std::iter::repeat_n(Token::One, group));
            out.push(token);
        }
    }
    out.extend(std::iter::repeat_n(Token::One, tail));
}

fn same(a: char, b: char, fold_case: bool) -> bool {
    a == b || (fold_case && a.eq_ignore_ascii_case(&b))
}

fn special(c: char) -> bool {
    c == char::from(HOLE) || c == char::from(RUN)
}

/// Whether the glob matches the whole value. With `fold_case` ASCII letters match in either case; the caller
/// lower-cases both sides when other letters matter.
///
/// ```
/// use policy_runtime::glob::{Syntax, matches};
/// assert!(matches("./src/**/*.rs", "./src/lib.rs", Syntax::Path, false));
/// assert!(!matches("./src/*", "./src/a/b", Syntax::Path, false));
/// ```
#[must_use]
pub fn matches(glob: &str, value: &str, syntax: Syntax, fold_case: bool) -> bool {
    // Most pairs differ at an end, which is seen without reading the glob.
    if differ(glob.chars(), value.chars(), fold_case)
        || differ(glob.chars().rev(), value.chars().rev(), fold_case)
    {
        return false;
    }
    let tokens = parse(glob, syntax);
    // `at[i]`: the tokens before `i` match what was read so far.
    let mut at = vec![false; tokens.len() + 1];
    if let Some(first) = at.first_mut() {
        *first = true;
    }
    skip(&tokens, &mut at);
    let mut next = vec![false; tokens.len() + 1];
    for c in value.chars() {
        next.fill(false);
        for (i, (&token, _)) in tokens.iter().zip(&at).enumerate().filter(|(_, (_, live))| **live) {
            let (takes, to) = match token {
                Token::Lit(l) => (!special(c) && same(l, c, fold_case), i + 1),
                Token::One => (!special(c) && (c != '/' || syntax == Syntax::Plain), i + 1),
                Token::Star => (c != '/' && c != char::from(HOLE), i),
                Token::Any => (true, i),
                Token::Maybe2 => (false, i),
            };
            if let (true, Some(slot)) = (takes, next.get_mut(to)) {
                *slot = true;
            }
        }
        std::mem::swap(&mut at, &mut next);
        skip(&tokens, &mut at);
    }
    at.last().copied().unwrap_or(false)
}

/// Follows the steps that read nothing; they only lead forward.
fn skip(tokens: &[Token], at: &mut [bool]) {
    for (i, token) in tokens.iter().enumerate() {
        if !at.get(i).copied().unwrap_or(false) {
            continue;
        }
        let steps: &[usize] = match token {
            Token::Star | Token::Any => &[1],
            Token::Maybe2 => &[1, 3],
            Token::Lit(_) | Token::One => &[],
        };
        for step in steps {
            if let Some(slot) = at.get_mut(i + step) {
                *slot = true;
            }
        }
    }
}

/// The most pairs of steps that [`intersects`] looks at; above it the answer is yes.
pub const MOST_PAIRS: usize = 1 << 22;

/// A step of either side of [`intersects`]: reads a character of a set, stays or goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Take(Set),
    Loop(Set),
    Maybe2,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Set {
    Char(char),
    Segment,
    /// What a wildcard at the start of a segment takes: a shell never gives it a dot.
    Undotted,
    All,
    /// Ranges of a bracket expression, without `/`; `true` when negated.
    Ranges(Vec<(char, char)>, bool),
}

impl Set {
    fn has(&self, c: char, fold: bool) -> bool {
        match self {
            Set::Char(own) => same(*own, c, fold),
            Set::Segment => c != '/',
            Set::Undotted => c != '/' && c != '.',
            Set::All => true,
            Set::Ranges(ranges, negated) => {
                let inside = |c: char| ranges.iter().any(|&(a, b)| a <= c && c <= b);
                // Folding makes the set larger, negated or not.
                let hit = |c: char| inside(c) != *negated;
                c != '/' && (hit(c) || (fold && (hit(c.to_ascii_lowercase()) || hit(c.to_ascii_uppercase()))))
            }
        }
    }

    fn meets(&self, other: &Set, fold: bool) -> bool {
        match (self, other) {
            (Set::Char(c), set) | (set, Set::Char(c)) => set.has(*c, fold),
            // An empty bracket set is not worth finding: saying yes is the careful answer.
            _ => true,
        }
    }
}

/// Whether some text matches the glob `a` and the value glob `b`.
///
/// In `b` the characters `*`, `?`, `[...]` and a backslash mean what they mean to a shell (`*` and `?` do not match
/// `/`, nor a dot at the start of a segment; a whole segment `**` is any run), [`HOLE`] is any run and [`RUN`] any run
/// without `/`. Above [`MOST_PAIRS`] the answer is yes.
///
/// ```
/// use policy_runtime::glob::{Syntax, intersects};
/// assert!(intersects("**/.env", "./\u{1}", Syntax::Path, true));
/// assert!(!intersects("**/.env", "./*.rs", Syntax::Path, true));
/// ```
#[must_use]
pub fn intersects(a: &str, b: &str, syntax: Syntax, fold_case: bool) -> bool {
    if differ(a.chars(), b.chars(), fold_case) || differ(a.chars().rev(), b.chars().rev(), fold_case) {
        return false;
    }
    let one = if syntax == Syntax::Path { Set::Segment } else { Set::All };
    let ours: Vec<Step> = parse(a, syntax)
        .into_iter()
        .map(|token| match token {
            Token::Lit(c) => Step::Take(Set::Char(c)),
            Token::One => Step::Take(one.clone()),
            Token::Star => Step::Loop(Set::Segment),
            Token::Any => Step::Loop(Set::All),
            Token::Maybe2 => Step::Maybe2,
        })
        .collect();
    let theirs = value_steps(b);
    let width = theirs.len() + 1;
    let Some(pairs) = (ours.len() + 1).checked_mul(width).filter(|&n| n <= MOST_PAIRS) else { return true };
    let mut live = vec![false; pairs];
    let mark = |i: usize, j: usize, live: &mut Vec<bool>| {
        if let (true, Some(slot)) = (j < width, live.get_mut(i * width + j)) {
            *slot = true;
        }
    };
    mark(0, 0, &mut live);
    for i in 0..=ours.len() {
        for j in 0..width {
            if !live.get(i * width + j).copied().unwrap_or(false) {
                continue;
            }
            let (left, right) = (ours.get(i), theirs.get(j));
            match left {
                Some(Step::Loop(_)) => mark(i + 1, j, &mut live),
                Some(Step::Maybe2) => {
                    mark(i + 1, j, &mut live);
                    mark(i + 3, j, &mut live);
                }
                _ => {}
            }
            match right {
                Some(Step::Loop(_)) => mark(i, j + 1, &mut live),
                Some(Step::Maybe2) => {
                    mark(i, j + 1, &mut live);
                    mark(i, j + 3, &mut live);
                }
                _ => {}
            }
            let (Some((mine, i2)), Some((yours, j2))) = (takes(left, i), takes(right, j)) else { continue };
            if mine.meets(yours, fold_case) {
                mark(i2, j2, &mut live);
            }
        }
    }
    live.last().copied().unwrap_or(false)
}

/// Whether letters before the first wildcard of either side already differ.
fn differ(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>, fold_case: bool) -> bool {
    let wild = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\') || special(c);
    let pair = a.zip(b).take_while(|&(a, b)| !wild(a) && !wild(b)).find(|&(a, b)| !same(a, b, fold_case));
    pair.is_some()
}

fn takes(step: Option<&Step>, at: usize) -> Option<(&Set, usize)> {
    match step? {
        Step::Take(set) => Some((set, at + 1)),
        Step::Loop(set) => Some((set, at)),
        Step::Maybe2 => None,
    }
}

fn value_steps(value: &str) -> Vec<Step> {
    let mut out = Vec::with_capacity(value.len());
    let mut chars = value.chars();
    let mut start = true;
    while let Some(c) = chars.next() {
        let first = std::mem::replace(&mut start, c == '/');
        let step = match c {
            '\\' => Step::Take(Set::Char(chars.next().unwrap_or('\\'))),
            '?' => Step::Take(if first { Set::Undotted } else { Set::Segment }),
            '*' => {
                let behind = chars.as_str().trim_start_matches('*');
                let twice = behind.len() < chars.as_str().len();
                chars = behind.chars();
                if first && twice && (behind.is_empty() || behind.starts_with('/')) {
                    Step::Loop(Set::All)
                } else {
                    if first {
                        out.extend([Step::Maybe2, Step::Take(Set::Undotted)]);
                    }
                    Step::Loop(Set::Segment)
                }
            }
            '[' => match bracket(chars.as_str()) {
                Some((set, rest)) => {
                    chars = rest.chars();
                    Step::Take(set)
                }
                None => Step::Take(Set::Char('[')),
            },
            c if c == char::from(HOLE) => Step::Loop(Set::All),
            c if c == char::from(RUN) => Step::Loop(Set::Segment),
            c => Step::Take(Set::Char(c)),
        };
        out.push(step);
    }
    out
}

/// A shell bracket expression behind its `[`, and what follows it; `None` when it is not closed.
fn bracket(text: &str) -> Option<(Set, &str)> {
    let mut chars = text.chars();
    let mut body: Vec<char> = Vec::new();
    let mut negated = false;
    let mut wide = false;
    let mut ranges = Vec::new();
    let mut first = true;
    let mut peek = text.chars();
    if matches!(peek.next(), Some('!' | '^')) {
        negated = true;
        chars.next();
    }
    loop {
        let c = chars.next()?;
        match c {
            ']' if !first => break,
            // A bracket expression never holds a slash: then the `[` is an ordinary character.
            '/' => return None,
            '\\' => body.push(chars.next()?),
            '[' => {
                // Named classes depend on the locale: any character.
                if let Some(kind @ (':' | '.' | '=')) = chars.clone().next() {
                    let close = match kind {
                        ':' => ":]",
                        '.' => ".]",
                        _ => "=]",
                    };
                    if let Some((_, rest)) = chars.as_str().split_once(close) {
                        wide = true;
                        chars = rest.chars();
                    }
                }
                body.push('[');
            }
            c => body.push(c),
        }
        first = false;
    }
    let mut rest = body.as_slice();
    while let Some((&low, after)) = rest.split_first() {
        if let ['-', high, more @ ..] = after {
            ranges.push((low, *high));
            rest = more;
        } else {
            ranges.push((low, low));
            rest = after;
        }
    }
    let set = if wide { Set::Segment } else { Set::Ranges(ranges, negated) };
    Some((set, chars.as_str()))
}

/// Writes a value glob as a text for certain matching: `*`, `?` and `[...]` become [`RUN`], an escaped character
/// itself, holes stay. A glob that matches the result matches all that the value stands for.
///
/// ```
/// use policy_runtime::glob::{Syntax, flatten, matches};
/// let mut text = String::new();
/// flatten("./src/*.rs", &mut text);
/// assert!(matches("./src/*", &text, Syntax::Path, false));
/// assert!(!matches("./src/?.rs", &text, Syntax::Path, false));
/// ```
pub fn flatten(value: &str, out: &mut String) {
    for step in value_steps(value) {
        out.push(match step {
            Step::Take(Set::Char(c)) => c,
            Step::Loop(Set::All) => char::from(HOLE),
            // Stands before the two steps of a `*`.
            Step::Maybe2 => continue,
            _ => char::from(RUN),
        });
    }
}
