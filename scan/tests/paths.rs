//! The vector path against the scalar one, and chunks against the whole.
//!
//! INVARIANT: the same hits, places and errors, whatever the way and the cuts.

use crate::patterns::patterns;
use crate::support::{Random, all, chunked, rounds, section, seed, text, tree};
use policy_scan::Path;

fn same(section: &[u8], text: &[u8], random: &mut Random) {
    let whole = all(section, text, Path::Scalar);
    assert!(all(section, text, Path::Vector) == whole, "vector and scalar differ");
    for (path, most) in [(Path::Scalar, 3), (Path::Vector, 100), (Path::Vector, 20_000), (Path::Auto, 60_000)]
    {
        let cut = chunked(section, text, path, || 1 + random.below(most));
        assert!(cut == whole, "cut by up to {most} bytes: {:?} and {:?}", cut.1, whole.1);
    }
}

#[test]
fn random_texts() {
    let patterns = patterns(200);
    let trees: Vec<_> = patterns.iter().map(|pattern| tree(pattern)).collect();
    let section = section(&patterns);
    let mut random = seed(5);
    for len in [0, 1, 3, 4, 5, 15, 16, 17, 18, 19, 20, 31, 33, 100, 1000, 5000, 20_000, 100_000, 300_000] {
        for _ in 0..rounds(3) {
            let text = text(&trees, &mut random, len);
            same(&section, &text, &mut random);
        }
    }
    for len in 0..80 {
        let text = text(&trees, &mut random, 100);
        same(&section, &text[..len.min(text.len())], &mut random);
    }
}

/// Every byte at every place, and nothing but noise.
#[test]
fn noise() {
    let section = section(&[r"\x00\xffBI", "(?i)abcd", "[a-z]{0,3}xyz[0-9]", r"\xe9\xe8\xe7\xe6"]);
    let mut random = seed(6);
    for _ in 0..rounds(30) {
        let mut text: Vec<u8> = (0..random.below(5000)).map(|_| random.next() as u8).collect();
        for _ in 0..text.len() / 50 {
            let piece = [&b"\x00\xffBI"[..], b"aBcD", b"xyz1", b"\xe9\xe8\xe7\xe6", b"\xc9\xc8\xc7\xc6"]
                [random.below(5)];
            let at = random.below(text.len());
            let len = piece.len().min(text.len() - at);
            text[at..at + len].copy_from_slice(&piece[..len]);
        }
        same(&section, &text, &mut random);
    }
}

/// Texts that keep every stage busy.
#[test]
fn stuffed_texts() {
    let section = section(&patterns(200));
    let mut random = seed(7);
    for piece in [
        "token",
        "eyJ",
        "token = '",
        "-----BEGIN ",
        "AKIA",
        "\n",
        "ghp_aaaaaaaaaaaa",
        "a",
        "xyzKEY",
        "password='aaaaaaaa' ",
    ] {
        same(&section, piece.repeat(40_000 / piece.len()).as_bytes(), &mut random);
    }
}

/// A text over the budget fails at the same place.
#[test]
fn over_the_budget() {
    let patterns: Vec<String> =
        (0..300).map(|number| format!("aaaa[ab]{{1,{}}}[c-z]", 600 + number)).collect();
    let section = section(&patterns);
    let mut text = b"some code\n".repeat(2000);
    text.extend(vec![b'a'; 100_000]);
    same(&section, &text, &mut seed(8));
}

/// The bytes beside a short literal are a class; near misses of it must not cost more one way than the other. The text
/// goes over the budget after some hundred pieces, and where it does is compared.
#[test]
fn cost_of_near_misses() {
    let patterns: Vec<String> =
        (0..1000).map(|number| format!("abc[p-q]{{1,{}}}[r-z]", 1 + number)).collect();
    let section = section(&patterns);
    let mut random = seed(9);
    for _ in 0..rounds(2) {
        let mut text = Vec::new();
        for _ in 0..2000 {
            text.extend(b"abc");
            text.extend(vec![[b'p', b'P', b'q', b'@', b'`', b'\x10'][random.below(6)]; 1 + random.below(12)]);
            text.extend(vec![b'p'; 60]);
        }
        assert!(all(&section, &text, Path::Auto).1.is_err());
        same(&section, &text, &mut random);
    }
}
