//! What building and running share: names that the reader gives itself, and the key of letters in disorder.
//!
//! INVARIANT: both sides use this file, so that they cannot differ.

/// A word or a run of words; 0 is no word.
pub(crate) type WordId = u16;
/// A kind of word, or one word that a rule names.
pub(crate) type Symbol = u16;

/// Symbols that the reader sets itself.
pub(crate) const OWN: [&str; 16] = [
    "ADDR",
    "EMAIL",
    "URL",
    "NUM",
    "AMOUNT",
    "IDENT",
    "SECRETFILE",
    "MARKTURN",
    "MARKROLE",
    "IMAGEDATA",
    "LINKDATA",
    "PATH",
    "REF",
    "IBAN",
    "CRYPTO",
    "HUGE",
];

/// Where a word stands in the table of words.
pub(crate) fn hash(word: &[u8]) -> usize {
    let mut mix = 0u64;
    for byte in word {
        mix = (mix ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }
    (mix ^ (mix >> 29)) as usize
}

/// First letter, last letter and which letters stand between, whatever their order.
pub(crate) fn letters(word: &str) -> Option<u64> {
    let bytes = word.as_bytes();
    if !(6..=14).contains(&bytes.len()) || !bytes.iter().all(u8::is_ascii_lowercase) {
        return None;
    }
    let mut key = 0u64;
    for byte in bytes {
        // Each letter has its own two bits; what overflows only makes more words alike.
        key = key.wrapping_add(
            1u64.wrapping_shl(2 * u32::from(byte - b'a')).rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        );
    }
    let (first, last) = (*bytes.first()?, *bytes.last()?);
    Some(key ^ u64::from(first) << 8 ^ u64::from(last) ^ (bytes.len() as u64) << 16)
}
