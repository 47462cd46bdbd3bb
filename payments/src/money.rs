//! Amounts of an asset in its smallest units.
//!
//! INVARIANT: exact, at most 256 bits, never a floating-point number; what does not fit is an error and never wraps.

use ethnum::U256;
use std::fmt;

/// Most digits behind the point that an asset may have: those of 2^256.
pub const MOST_DECIMALS: u8 = 77;

/// A number of smallest units.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Units(U256);

impl Units {
    /// Nothing.
    pub const ZERO: Units = Units(U256::ZERO);
    /// What stands for "without limit" in approvals.
    pub const MAX: Units = Units(U256::MAX);

    /// A small number of units.
    pub fn new(units: u64) -> Units {
        Units(U256::from(units))
    }

    /// 32 bytes, the most significant first, as contracts have them.
    pub fn of_bytes(bytes: [u8; 32]) -> Units {
        Units(U256::from_be_bytes(bytes))
    }

    /// The 32 bytes, the most significant first.
    pub fn bytes(self) -> [u8; 32] {
        self.0.to_be_bytes()
    }

    /// A whole number of smallest units as messages have it: digits alone, no zero in front.
    pub fn whole(text: &str) -> Option<Units> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let first = text.bytes().next()?;
        if !digits || (first == b'0' && text.len() > 1) || text.len() > 78 {
            return None;
        }
        U256::from_str_radix(text, 10).ok().map(Units)
    }

    /// A decimal number of whole tokens: `2.50` of an asset with 6 decimals is 2,500,000 units.
    ///
    /// # Errors
    /// When it is no such number, has more decimals than the asset, or does not fit.
    pub fn of_decimal(text: &str, decimals: u8) -> Result<Units, BadDecimal> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(part) {
            return Err(BadDecimal::Form);
        }
        let part = part.trim_end_matches('0');
        let decimals = decimals.min(MOST_DECIMALS);
        let Some(missing) = usize::from(decimals).checked_sub(part.len()) else {
            return Err(BadDecimal::Decimals { has: decimals, written: part.len() });
        };
        let mut all = String::with_capacity(whole.len() + usize::from(decimals));
        all.push_str(whole);
        all.push_str(part);
        all.extend(std::iter::repeat_n('0', missing));
        let all = all.trim_start_matches('0');
        let units = match all {
            "" => Some(Units::ZERO),
            _ => Units::whole(all),
        };
        units.ok_or(BadDecimal::Large)
    }

    /// The number of whole tokens, at least two decimals, all that are needed: `2.50`.
    pub fn decimal(self, decimals: u8) -> String {
        let digits = self.to_string();
        let decimals = usize::from(decimals.min(MOST_DECIMALS));
        if decimals == 0 {
            return digits;
        }
        let digits = format!("{digits:0>width$}", width = decimals + 1);
        let (whole, part) = digits.split_at(digits.len() - decimals);
        let part = part.trim_end_matches('0');
        format!("{whole}.{part:0<2}")
    }

    /// The sum, when it fits.
    pub fn plus(self, other: Units) -> Option<Units> {
        self.0.checked_add(other.0).map(Units)
    }

    /// The difference, when it is not negative.
    pub fn minus(self, other: Units) -> Option<Units> {
        self.0.checked_sub(other.0).map(Units)
    }

    /// Whether this is more than `percent` over `reference`; a comparison of whole numbers.
    pub fn rises(self, reference: Units, percent: u32) -> bool {
        // self * 100 > reference * (100 + percent), in parts that fit.
        let wide = |units: Units, by: u128| {
            let (high, low) = units.0.into_words();
            // 128 + 128 + 40 bits: three words of 128.
            let (low_high, low_low) = mul(low, by);
            let (high_high, high_low) = mul(high, by);
            let (middle, carry) = high_low.overflowing_add(low_high);
            [high_high + u128::from(carry), middle, low_low]
        };
        wide(self, 100) > wide(reference, 100 + u128::from(percent))
    }

    /// Whether it is so large that it stands for "without limit".
    pub fn is_unlimited(self) -> bool {
        self.0 >= (U256::ONE << 255_u32)
    }
}

/// The product of two words as a high and a low one.
fn mul(one: u128, other: u128) -> (u128, u128) {
    U256::from(one).wrapping_mul(U256::from(other)).into_words()
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a decimal number is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadDecimal {
    /// Not digits with at most one point between digits.
    Form,
    /// More decimals than the asset has.
    Decimals {
        /// What the asset has.
        has: u8,
        /// What was written.
        written: usize,
    },
    /// More than 256 bits.
    Large,
}

impl fmt::Display for BadDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadDecimal::Form => f.write_str("not a decimal number such as 2.50"),
            BadDecimal::Decimals { has, written } => {
                write!(f, "it has {written} decimals, and the asset has {has}")
            }
            BadDecimal::Large => f.write_str("it does not fit into 256 bits"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

    #[test]
    fn whole_numbers_are_digits_and_nothing_else() {
        assert_eq!(Units::whole("100000"), Some(Units::new(100_000)));
        assert_eq!(Units::whole("0"), Some(Units::ZERO));
        assert_eq!(Units::whole(MOST), Some(Units::MAX));
        let over = MOST.replace("9935", "9936");
        for bad in
            ["", "00", "01", "+1", "-1", " 1", "1 ", "1.0", "1e3", "0x1", "1_0", "５", "Infinity", &over]
        {
            assert_eq!(Units::whole(bad), None, "{bad}");
        }
        assert_eq!(Units::whole(&"9".repeat(78)), None);
        assert_eq!(Units::whole(&"1".repeat(5000)), None);
    }

    #[test]
    fn decimals_are_exact_or_refused() {
        for (text, decimals, units) in [
            ("2.50", 6, "2500000"),
            ("0.000001", 6, "1"),
            ("0.0000010", 6, "1"),
            ("5", 6, "5000000"),
            ("5", 0, "5"),
            ("5.0", 0, "5"),
            ("0", 18, "0"),
            ("00.1", 1, "1"),
            ("1157920892373161954235709850086879078532699846656405640394575840079131296399.35", 2, MOST),
        ] {
            assert_eq!(
                Units::of_decimal(text, decimals).map(|units| units.to_string()),
                Ok(units.to_owned())
            );
        }
        assert_eq!(Units::of_decimal("0.0000001", 6), Err(BadDecimal::Decimals { has: 6, written: 7 }));
        assert_eq!(Units::of_decimal("0.1", 0), Err(BadDecimal::Decimals { has: 0, written: 1 }));
        for bad in ["", ".", "1.", ".5", "-1", "1,5", "1.2.3", "1e3", "５", " 1"] {
            assert_eq!(Units::of_decimal(bad, 6), Err(BadDecimal::Form), "{bad}");
        }
        assert_eq!(Units::of_decimal(MOST, 2), Err(BadDecimal::Large));
        assert_eq!(Units::of_decimal(&"9".repeat(9000), 6), Err(BadDecimal::Large));
    }

    /// Against the integers of another language.
    #[test]
    fn decimals_are_those_of_a_script() {
        let rows = include_str!("decimals.txt").lines().filter(|line| !line.starts_with('#'));
        let mut count = 0;
        for row in rows {
            let [text, decimals, units] = row.split(' ').collect::<Vec<_>>()[..] else { panic!("{row}") };
            let got = match Units::of_decimal(text, decimals.parse().unwrap()) {
                Ok(got) => got.to_string(),
                Err(BadDecimal::Decimals { .. }) => "decimals".to_owned(),
                Err(BadDecimal::Large) => "large".to_owned(),
                Err(BadDecimal::Form) => "form".to_owned(),
            };
            assert_eq!(got, units, "{row}");
            count += 1;
        }
        assert_eq!(count, 600);
    }

    #[test]
    fn what_is_printed_is_read_again() {
        for (units, decimals, text) in [
            (2_500_000, 6, "2.50"),
            (1, 6, "0.000001"),
            (100_000, 6, "0.10"),
            (123_456, 6, "0.123456"),
            (7, 0, "7"),
            (0, 6, "0.00"),
            (15, 1, "1.50"),
        ] {
            let units = Units::new(units);
            assert_eq!(units.decimal(decimals), text);
            assert_eq!(Units::of_decimal(text, decimals), Ok(units));
        }
        let mut seed = 9_u64;
        for _ in 0..20_000 {
            let mut bytes = [0; 32];
            for byte in &mut bytes {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = (seed >> 56) as u8;
            }
            let zeros = (seed >> 8) as usize % 33;
            bytes[..zeros].fill(0);
            let (units, decimals) = (Units::of_bytes(bytes), (seed >> 16) as u8 % 78);
            assert_eq!(Units::of_decimal(&units.decimal(decimals), decimals), Ok(units));
            assert_eq!((units.bytes(), Units::whole(&units.to_string())), (bytes, Some(units)));
        }
    }

    #[test]
    fn a_rise_is_compared_exactly() {
        let rises = |now: u64, then: u64, percent| Units::new(now).rises(Units::new(then), percent);
        assert!(
            !rises(150, 100, 50)
                && rises(151, 100, 50)
                && !rises(1, 1, 0)
                && rises(2, 1, 99)
                && !rises(2, 1, 100)
        );
        assert!(rises(1, 0, 50) && !rises(0, 0, 0));
        assert!(Units::MAX.rises(Units::new(1), u32::MAX) && !Units::MAX.rises(Units::MAX, 0));
        let near = Units::MAX.minus(Units::new(1)).unwrap();
        assert!(Units::MAX.rises(near, 0) && !near.rises(Units::MAX, 0) && !Units::MAX.rises(near, 1));
        assert!(Units::MAX.is_unlimited() && !Units::new(u64::MAX).is_unlimited());
        assert_eq!((Units::MAX.plus(Units::new(1)), Units::ZERO.minus(Units::new(1))), (None, None));
    }
}
