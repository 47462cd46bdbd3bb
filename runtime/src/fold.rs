//! Letters that count as the same where a refusal takes any case.
//!
//! INVARIANT: a character becomes what it becomes alone, so the fold of a text is the fold of its parts, and a pattern
//! and a text that are folded here differ only where no system takes them for one name by case.

/// A text without its case: each letter as its lower-case letter, and letters of one upper-case letter (`s` and `\u{17f}`,
/// both forms of the small sigma) as one.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(|c| c.to_lowercase()).map(letter).collect()
}

fn letter(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let mut upper = c.to_uppercase();
    let (Some(upper), None) = (upper.next(), upper.next()) else { return c };
    let mut lower = upper.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn letters_of_one_upper_case_letter_are_one() {
        for (one, other) in [
            ("Secret", "\u{17f}ecret"),
            ("K", "\u{212a}"),
            ("ΟΔΟΣ", "οδος"),
            ("ΟΔΟΣ", "οδοσ"),
            ("É", "é"),
            ("ẞ", "ß"),
        ] {
            assert_eq!(fold(one), fold(other), "{one} {other}");
        }
        assert_ne!(fold("е"), fold("e"), "other alphabets are others");
        assert!(fold("ΟΔΟΣ.x").starts_with(&fold("ΟΔΟΣ")), "no letter depends on its neighbors");
    }
}
