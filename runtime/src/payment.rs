//! The facts of a payment among the arguments of a call: under names that no argument can have.
//!
//! INVARIANT: a name begins with [`MARK`], which nothing that a caller writes may begin with; what is not known of a payment is
//! [`UNKNOWN`], never left out.

use crate::facts::Facts;

/// What the names begin with.
pub const MARK: char = '\u{3}';
/// The network, as CAIP-2 names it.
pub const NETWORK: &str = "\u{3}network";
/// The token: network, `/`, kind, `:`, address.
pub const ASSET: &str = "\u{3}asset";
/// How x402 pays; [`OTHER`] for what is not x402.
pub const SCHEME: &str = "\u{3}scheme";
/// The seller's host.
pub const SELLER: &str = "\u{3}seller";
/// Who gets the money.
pub const PAYEE: &str = "\u{3}payee";
/// What is known of the payee: `mismatch`.
pub const PAYEE_IS: &str = "\u{3}payee is";
/// What may be so of the payee, which the ledger knows: `new`, `lookalike`, `filed`.
pub const PAYEE_MAY: &str = "\u{3}payee may";
/// The function of a contract that is called or promised; [`OTHER`] for what a seller asks for.
pub const CALL: &str = "\u{3}call";
/// The token, a blank, and how many of its smallest units are paid.
pub const AMOUNT: &str = "\u{3}amount";
/// The token, a blank, and how many of its smallest units somebody may take.
pub const APPROVAL: &str = "\u{3}approval";
/// For how many seconds it can be used.
pub const LIFETIME: &str = "\u{3}lifetime";
/// A value that is not of the kind that a line looks at, and is none of its business.
pub const OTHER: &str = "-";
/// What the cause begins with where a payment is there and cannot be read.
pub const BAD: &str = "the payment cannot be read";
/// An amount that is not known.
pub const UNKNOWN: &str = "?";

/// Whether a name is one of these.
#[must_use]
pub fn is_of_payment(name: &str) -> bool {
    name.starts_with(MARK)
}

/// The word of a line that looks at values of this name; nothing for limits, whose patterns say all.
#[must_use]
pub fn word(name: &str) -> Option<&'static str> {
    Some(match name {
        NETWORK => "network",
        ASSET => "asset",
        SCHEME => "scheme",
        SELLER => "seller",
        PAYEE | PAYEE_IS | PAYEE_MAY => "payee",
        CALL => "call",
        AMOUNT | APPROVAL | LIFETIME => "",
        _ => return None,
    })
}

/// Why a call that has to hold a payment holds none: its own cause where one was found.
#[must_use]
pub fn unread(facts: &Facts) -> &str {
    let bad = facts.opaque.iter().find(|opaque| opaque.why.starts_with(BAD));
    bad.map_or("the policy looks at payments here, and the call holds none that can be read", |bad| &bad.why)
}

/// How a person reads the name.
#[must_use]
pub fn shown(name: &str) -> &str {
    name.strip_prefix(MARK).unwrap_or(name)
}

/// A value as a person reads it: of an amount, the number of units alone.
#[must_use]
pub fn shown_value<'a>(name: &str, value: &'a str) -> &'a str {
    match name {
        AMOUNT | APPROVAL => value.rsplit(' ').next().unwrap_or(value),
        _ => value,
    }
}

/// Whether a line that looks at these always holds, in `mode observe` too: wrong network, wrong asset, a payee other than the one that
/// the seller named.
#[must_use]
pub fn is_hard(name: &str) -> bool {
    matches!(name, NETWORK | ASSET | PAYEE_IS)
}

/// Whether one whole number is greater than another, both in decimal digits; none when one of them is no number.
#[must_use]
pub fn greater(number: &str, than: &str) -> Option<bool> {
    if !is_number(number) || !is_number(than) {
        return None;
    }
    let (number, than) = (number.trim_start_matches('0'), than.trim_start_matches('0'));
    Some((number.len(), number) > (than.len(), than))
}

/// Whether a text is a whole number in decimal digits.
#[must_use]
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The sum of two whole numbers in decimal digits; none when one of them is no number.
#[must_use]
pub fn sum(one: &str, other: &str) -> Option<String> {
    if !is_number(one) || !is_number(other) {
        return None;
    }
    let mut out = Vec::with_capacity(one.len().max(other.len()) + 1);
    let (mut one, mut other) = (one.bytes().rev(), other.bytes().rev());
    let mut carry = 0;
    loop {
        let (a, b) = (one.next(), other.next());
        if a.is_none() && b.is_none() && carry == 0 {
            break;
        }
        let digit = |byte: Option<u8>| byte.map_or(0, |byte| byte - b'0');
        let all = digit(a) + digit(b) + carry;
        out.push(b'0' + all % 10);
        carry = all / 10;
    }
    out.reverse();
    String::from_utf8(out).ok()
}

/// A whole number in decimal digits times a small one; none when it is no number.
#[must_use]
pub fn times(number: &str, by: u32) -> Option<String> {
    if !is_number(number) {
        return None;
    }
    let mut out = Vec::with_capacity(number.len() + 10);
    let mut carry = 0_u64;
    for byte in number.bytes().rev() {
        let all = u64::from(byte - b'0') * u64::from(by) + carry;
        out.push(b'0' + u8::try_from(all % 10).unwrap_or_default());
        carry = all / 10;
    }
    while carry > 0 {
        out.push(b'0' + u8::try_from(carry % 10).unwrap_or_default());
        carry /= 10;
    }
    out.reverse();
    String::from_utf8(out).ok()
}

/// A number of smallest units as a number of whole tokens, at least two decimals, all that are needed.
#[must_use]
pub fn decimal(units: &str, decimals: u32) -> String {
    let decimals = decimals.min(77) as usize;
    if decimals == 0 || !units.bytes().all(|byte| byte.is_ascii_digit()) {
        return units.to_owned();
    }
    let digits = format!("{units:0>width$}", width = decimals + 1);
    let (whole, part) = digits.split_at_checked(digits.len() - decimals).unwrap_or((&digits, ""));
    format!("{whole}.{:0<2}", part.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers() {
        for (one, other, wanted) in [
            ("10", "9", Some(true)),
            ("9", "10", Some(false)),
            ("10", "10", Some(false)),
            ("0010", "9", Some(true)),
            ("0", "0", Some(false)),
            (UNKNOWN, "1", None),
            ("", "1", None),
            ("1", "x", None),
        ] {
            assert_eq!(greater(one, other), wanted, "{one} {other}");
        }
        assert_eq!(greater(&"9".repeat(78), &"9".repeat(77)), Some(true));
    }

    #[test]
    fn numbers_are_added_and_multiplied_as_written() {
        let nines = "9".repeat(78);
        for (one, other, wanted) in [
            ("1", "9", "10"),
            ("999", "1", "1000"),
            ("0", "0", "0"),
            ("12", "3456", "3468"),
            (&nines, "1", &format!("1{}", "0".repeat(78))),
        ] {
            assert_eq!(sum(one, other).as_deref(), Some(wanted));
            assert_eq!(sum(other, one).as_deref(), Some(wanted));
        }
        assert_eq!((sum("1", UNKNOWN), sum("", "1"), times("x", 2)), (None, None, None));
        assert_eq!(times("999", 100).as_deref(), Some("99900"));
        assert_eq!(times("25", 4_294_967_295).as_deref(), Some("107374182375"));
        assert_eq!(times("0", 7).as_deref(), Some("0"));
    }

    #[test]
    fn units_are_shown_as_tokens() {
        for (units, decimals, shown) in
            [("2500000", 6, "2.50"), ("1", 6, "0.000001"), ("7", 0, "7"), ("0", 6, "0.00"), ("?", 6, "?")]
        {
            assert_eq!(decimal(units, decimals), shown);
        }
    }
}
