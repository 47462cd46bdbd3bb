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
        PAYEE | PAYEE_IS => "payee",
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
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(number) || !digits(than) {
        return None;
    }
    let (number, than) = (number.trim_start_matches('0'), than.trim_start_matches('0'));
    Some((number.len(), number) > (than.len(), than))
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
    fn units_are_shown_as_tokens() {
        for (units, decimals, shown) in
            [("2500000", 6, "2.50"), ("1", 6, "0.000001"), ("7", 0, "7"), ("0", 6, "0.00"), ("?", 6, "?")]
        {
            assert_eq!(decimal(units, decimals), shown);
        }
    }
}
