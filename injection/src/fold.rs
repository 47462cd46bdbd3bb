//! Letters as a reader sees them: accents, width, fonts and case folded, look-alikes known, invisible characters named.
//!
//! INVARIANT: a character folds to the same letters wherever it stands; an ASCII letter folds to its lower case only.

use unicode_normalization::char::decompose_compatible;

/// What a character does to the word it stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// A letter or digit of a script that writes words.
    Word,
    /// A letter of a script without spaces: it is a word of its own.
    Ideograph,
    /// Seen by nobody; the word goes on.
    Invisible,
    /// White space.
    Space,
    /// Anything else.
    Other,
}

/// What `c` does to a word.
pub(crate) fn shape(c: char) -> Shape {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Shape::Word,
        '\0'..='\x7f' => {
            if c.is_ascii_whitespace() {
                Shape::Space
            } else {
                Shape::Other
            }
        }
        _ if invisible(c) => Shape::Invisible,
        _ if ideograph(c) => Shape::Ideograph,
        _ if c.is_alphanumeric() || enclosed(c) => Shape::Word,
        _ if c.is_whitespace() => Shape::Space,
        _ => Shape::Other,
    }
}

/// Letters in circles and squares, which Unicode counts as symbols.
fn enclosed(c: char) -> bool {
    matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}' | '\u{1f170}'..='\u{1f189}')
}

fn ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{0e00}'..='\u{0e7f}'
        | '\u{20000}'..='\u{2ffff}')
}

/// Characters that print nothing and may stand inside a word.
pub(crate) fn invisible(c: char) -> bool {
    zero_width(c)
        || bidi(c)
        || selector(c)
        || tag(c)
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}' | '\u{61c}' | '\u{200e}' | '\u{200f}')
}

/// Zero-width characters and blank fillers.
pub(crate) fn zero_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}' | '\u{115f}' | '\u{1160}'
        | '\u{3164}' | '\u{ffa0}')
}

/// Characters that change the direction of writing.
pub(crate) fn bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Variation selectors.
pub(crate) fn selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Tag characters: ASCII that nobody sees.
pub(crate) fn tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// A letter of a script that runs from right to left.
pub(crate) fn right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Appends what `c` looks like in lower case; invisible characters and marks append nothing.
pub(crate) fn fold(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    if invisible(c) {
        return;
    }
    if ideograph(c) {
        out.push(c);
        return;
    }
    if let Some(letter) = boxed(c) {
        out.push(letter);
        return;
    }
    decompose_compatible(c, |part| {
        if !invisible(part) {
            for lower in part.to_lowercase() {
                out.push(small(lower));
            }
        }
    });
}

/// Squared and negative letters have no decomposition.
fn boxed(c: char) -> Option<char> {
    let n = u32::from(c);
    let at = match n {
        0x1f150..=0x1f169 => n - 0x1f150,
        0x1f170..=0x1f189 => n - 0x1f170,
        _ => return None,
    };
    char::from_u32(u32::from(b'a') + at)
}

/// Small capitals and variants of single letters, which Unicode keeps apart.
fn small(c: char) -> char {
    match c {
        'ᴀ' | 'ɑ' => 'a',
        'ʙ' => 'b',
        'ᴄ' | 'ꞓ' => 'c',
        'ᴅ' => 'd',
        'ᴇ' | 'ɛ' => 'e',
        'ꜰ' => 'f',
        'ɢ' | 'ɡ' => 'g',
        'ʜ' => 'h',
        'ɪ' | 'ı' | 'ɩ' => 'i',
        'ᴊ' => 'j',
        'ᴋ' => 'k',
        'ʟ' => 'l',
        'ᴍ' => 'm',
        'ɴ' => 'n',
        'ᴏ' | 'ø' => 'o',
        'ᴘ' => 'p',
        'ʀ' => 'r',
        'ꜱ' => 's',
        'ᴛ' => 't',
        'ᴜ' => 'u',
        'ᴠ' => 'v',
        'ᴡ' => 'w',
        'ʏ' => 'y',
        'ᴢ' => 'z',
        _ => c,
    }
}

/// The Latin letter that a folded letter of another script looks like.
pub(crate) fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' => 'a',
        'ь' | 'в' => 'b',
        'с' | 'ϲ' | 'ς' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' | 'є' => 'e',
        'һ' | 'н' | 'հ' => 'h',
        'і' | 'ι' | 'ӏ' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ⅼ' => 'l',
        'м' | 'μ' => 'm',
        'η' | 'ո' | 'п' => 'n',
        'о' | 'ο' | 'օ' | 'σ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' | 'տ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        _ if c.is_ascii() => c,
        _ => return None,
    })
}

/// The letter that a digit or sign stands for in the spelling of gamers; `one` says what `1`, `!` and `|` are.
pub(crate) fn leet(c: char, one: char) -> char {
    match c {
        '0' => 'o',
        '1' | '!' | '|' => one,
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' | '+' => 't',
        '8' => 'b',
        '9' => 'g',
        _ => c,
    }
}
