//! Text of agents as a person reads it.
//!
//! INVARIANT: nothing of a text is left out, and nothing of it acts: what would be invisible, turn text around, or pass for another
//! letter is shown by its number. Text of agents reaches a page or a terminal through [`pieces`] and by no other way.

/// How a piece is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As it is.
    Plain,
    /// A rule looked at it.
    Marked,
    /// The number of a character that would not be seen for what it is.
    Odd,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What is written.
    pub text: String,
    /// How.
    pub look: Look,
}

/// Most places that are marked.
const MOST_MARKS: usize = 500;
/// Most pieces that stand out: a page with a million of them would not be one. The rest is written the same and does not.
const MOST_ODD: usize = 5000;

/// The pieces of a text in which some values are marked.
pub fn pieces(text: &str, marks: &[String]) -> Vec<Piece> {
    let marked = places(text, marks);
    let mut marked = marked.iter().peekable();
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut before, mut stood) = (None, 0);
    let mut chars = text.char_indices().peekable();
    while let Some((at, letter)) = chars.next() {
        while marked.next_if(|(_, to)| *to <= at).is_some() {}
        let within = marked.peek().is_some_and(|(from, _)| *from <= at);
        let after = chars.peek().map(|(_, next)| *next);
        let strange = odd(letter) || look_alike(letter, before, after);
        let look = match within {
            _ if strange && stood < MOST_ODD => Look::Odd,
            true => Look::Marked,
            false => Look::Plain,
        };
        if pieces.last().is_none_or(|last| last.look != look) {
            stood += usize::from(look == Look::Odd);
            pieces.push(Piece { text: String::new(), look });
        }
        if let Some(last) = pieces.last_mut() {
            if strange {
                last.text.push_str(&number(letter));
            } else {
                last.text.push(letter);
            }
        }
        before = Some(letter);
    }
    pieces
}

/// The same for a terminal: what is odd by its number, nothing marked.
pub fn plain(text: &str) -> String {
    pieces(text, &[]).into_iter().map(|piece| piece.text).collect()
}

/// Where values stand, in order and without overlap.
fn places(text: &str, marks: &[String]) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for mark in marks.iter().filter(|mark| !mark.trim().is_empty()) {
        let left = MOST_MARKS.saturating_sub(places.len());
        places.extend(text.match_indices(mark.as_str()).take(left).map(|(at, found)| (at, at + found.len())));
    }
    places.sort_unstable();
    let mut apart: Vec<(usize, usize)> = Vec::with_capacity(places.len());
    for (from, to) in places {
        match apart.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => apart.push((from, to)),
        }
    }
    apart
}

fn number(letter: char) -> String {
    format!("\u{27e8}U+{:04X}\u{27e9}", u32::from(letter))
}

/// What is not seen, or changes how others are seen.
fn odd(letter: char) -> bool {
    match letter {
        '\n' | ' '..='~' => false,
        // Brackets of ours: a number must not be forged.
        '\u{27e8}' | '\u{27e9}' => true,
        '\u{0}'..='\u{9f}' => true,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' => true,
        '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' => true,
        '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{ffff}' => true,
        '\u{e000}'..='\u{f8ff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{10ffff}' => true,
        // Marks that are set upon the letter before.
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' => true,
        _ => false,
    }
}

/// A letter that passes for a Latin one, beside a Latin one; a full-width one always.
fn look_alike(letter: char, before: Option<char>, after: Option<char>) -> bool {
    let foreign = matches!(letter, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}' | '\u{531}'..='\u{587}' | '\u{13a0}'..='\u{13ff}');
    let latin = |beside: Option<char>| beside.is_some_and(|beside| beside.is_ascii_alphanumeric());
    let wide = matches!(letter, '\u{ff01}'..='\u{ff5e}' | '\u{1d400}'..='\u{1d7ff}' | '\u{2044}' | '\u{2215}' | '\u{29f8}');
    wide || foreign && (latin(before) || latin(after))
}

/// Canonical JSON with line breaks, every token as it was; other text as it is.
pub fn laid_out(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 4);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut chars = json.chars().peekable();
    // Far-nested text would take the square of its length in spaces.
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth.min(16)));
    };
    while let Some(letter) = chars.next() {
        if quoted {
            out.push(letter);
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match letter {
            '"' => {
                quoted = true;
                out.push(letter);
            }
            '{' | '[' => {
                out.push(letter);
                let close = if letter == '{' { '}' } else { ']' };
                if let Some(close) = chars.next_if_eq(&close) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(text: &str, marks: &[&str]) -> Vec<(String, Look)> {
        let marks: Vec<String> = marks.iter().map(|mark| (*mark).to_owned()).collect();
        pieces(text, &marks).into_iter().map(|piece| (piece.text, piece.look)).collect()
    }

    #[test]
    fn what_acts_is_shown_by_its_number() {
        assert_eq!(plain("a\u{202e}b\u{1b}[31m\u{200b}\r\nc"), "a⟨U+202E⟩b⟨U+001B⟩[31m⟨U+200B⟩⟨U+000D⟩\nc");
        assert_eq!(plain("⟨U+202E⟩"), "⟨U+27E8⟩U+202E⟨U+27E9⟩", "not to be forged");
        assert_eq!(plain("p\u{430}ypal \u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}"), "p⟨U+0430⟩ypal привет");
        assert_eq!(plain("日本語 é ü 😀"), "日本語 é ü 😀");
    }

    #[test]
    fn values_are_marked() {
        let plain = |text: &str| (text.to_owned(), Look::Plain);
        let marked = |text: &str| (text.to_owned(), Look::Marked);
        assert_eq!(looks("rm -rf x; rm", &["rm", "rm -rf"]), [marked("rm -rf"), plain(" x; "), marked("rm")]);
        assert_eq!(looks("abab", &["ab", " ", ""]), [marked("abab")]);
        assert_eq!(
            looks("a\u{7}b", &["a\u{7}b"]),
            [marked("a"), ("⟨U+0007⟩".to_owned(), Look::Odd), marked("b")]
        );
    }

    #[test]
    fn a_text_of_odd_letters_has_few_pieces() {
        assert_eq!(looks("\u{7}\u{8}", &[]), [("⟨U+0007⟩⟨U+0008⟩".to_owned(), Look::Odd)]);
        let many = pieces(&"\u{202e}a".repeat(700_000), &["a".to_owned()]);
        assert!(many.len() < 3 * MOST_ODD, "{}", many.len());
        let whole: String = many.into_iter().map(|piece| piece.text).collect();
        assert_eq!(whole, "⟨U+202E⟩a".repeat(700_000));
    }

    #[test]
    fn laying_out_changes_no_token() {
        let json = r#"{"a":[1,2.50,"x,{\"}"],"b":{},"c":[]}"#;
        let laid = laid_out(json);
        assert_eq!(
            laid,
            "{\n  \"a\": [\n    1,\n    2.50,\n    \"x,{\\\"}\"\n  ],\n  \"b\": {},\n  \"c\": []\n}"
        );
        assert!(laid_out(&"[".repeat(100_000)).len() < 5_000_000);
    }
}
