//! Tests of the chain.
//!
//! INVARIANT: what `seal` writes `Seal::of` reads, and nothing else.

use super::*;

#[test]
fn a_seal_is_read_back() {
    let (line, link) = seal(b"{\"a\":1}\n", "", Link::START);
    let text = String::from_utf8(line.clone()).unwrap();
    assert!(text.starts_with("{\"a\":1,\"seq\":1,\"prev\":\"000"), "{text}");
    let seal_of = Seal::of(line.strip_suffix(b"\n").unwrap()).unwrap();
    assert_eq!((seal_of.link, seal_of.prev), (link, GENESIS));
    assert!(seal_of.holds(&line));
    let row: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(row["seq"], 1);
    assert_eq!(row["hash"], hex(&link.hash));
    let (second, _) = seal(b"{}", ",\"gap\":3", Link { seq: u64::MAX - 1, ..link });
    let text = String::from_utf8(second.clone()).unwrap();
    assert!(text.starts_with("{\"gap\":3,\"seq\":18446744073709551615,\"prev\":\""), "{text}");
    assert!(second.len() as u64 <= SEAL_BYTES);
    assert_eq!(Seal::of(second.strip_suffix(b"\n").unwrap()).unwrap().prev, link.hash);
    for odd in [&b""[..], b"{", b"}", b"[1]", b"x\"y\n"] {
        let (line, _) = seal(odd, "", Link::START);
        assert!(serde_json::from_slice::<serde_json::Value>(&line).unwrap().is_object(), "{odd:?}");
    }
}

#[test]
fn nothing_else_is_a_seal() {
    let (line, _) = seal(b"{\"a\":1}", "", Link::START);
    let line = String::from_utf8(line).unwrap();
    let line = line.trim_end();
    for (from, to) in
        [("\"seq\":1", "\"seq\":01"), ("\"seq\":1", "\"seq\":"), (",\"seq\"", ";\"seq\""), ("\"}", "\" }")]
    {
        assert_eq!(Seal::of(line.replace(from, to).as_bytes()), None, "{to}");
    }
    assert_eq!(Seal::of(line.to_uppercase().as_bytes()), None);
    assert_eq!(Seal::of(b"{\"hash\":\"\"}"), None);
    assert_eq!(Seal::of(b""), None);
}

#[test]
fn hex_both_ways() {
    assert_eq!(hex(&[0, 15, 255]), "000fff");
    assert_eq!(unhex::<3>(b"000fff"), Some([0, 15, 255]));
    assert_eq!(unhex::<3>(b"000FFF"), None);
    assert_eq!(unhex::<3>(b"000ff"), None);
}
