//! Calls of contracts, as far as they move or promise money.
//!
//! INVARIANT: what is known is read as the contract reads it, or the call is refused; a call that is cut off or has stray bytes in an
//! address is refused. A function that is not known is named by its selector and promises nothing to nobody.

use crate::address::{Address, hex};
use crate::money::Units;

/// What a call does with money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It moves tokens of the contract that is called.
    Moves {
        /// Whose, where the call says so.
        from: Option<Address>,
        /// To whom.
        to: Address,
        /// How much.
        units: Units,
        /// Until when it can be used, seconds since 1970.
        until: Option<Units>,
    },
    /// Somebody may move tokens of the contract that is called.
    Grants {
        /// Who.
        spender: Address,
        /// How much, all in all or more than before.
        units: Units,
        /// It is added to what was granted before.
        more: bool,
    },
    /// Somebody may move all that there is of a contract, or no longer.
    GrantsAll {
        /// Who.
        operator: Address,
        /// He may.
        on: bool,
    },
    /// Somebody may move tokens of another contract (Permit2).
    GrantsOf {
        /// The token.
        token: Address,
        /// Who.
        spender: Address,
        /// How much.
        units: Units,
    },
    /// Nothing that is known.
    Unknown,
}

/// A call as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The function: its name, its selector (`0x12345678`) when it is not known, `value` when nothing is called.
    pub function: String,
    /// What it does.
    pub effect: Effect,
}

/// Names of functions that are known, with their signatures; a name may stand there twice.
pub(crate) const KNOWN: [(&str, [u8; 4], &str); 12] = [
    ("transfer", [0xa9, 0x05, 0x9c, 0xbb], "transfer(address,uint256)"),
    ("transferFrom", [0x23, 0xb8, 0x72, 0xdd], "transferFrom(address,address,uint256)"),
    ("approve", [0x09, 0x5e, 0xa7, 0xb3], "approve(address,uint256)"),
    ("increaseAllowance", [0x39, 0x50, 0x93, 0x51], "increaseAllowance(address,uint256)"),
    ("decreaseAllowance", [0xa4, 0x57, 0xc2, 0xd7], "decreaseAllowance(address,uint256)"),
    ("setApprovalForAll", [0xa2, 0x2c, 0xb4, 0x65], "setApprovalForAll(address,bool)"),
    ("permit", [0xd5, 0x05, 0xac, 0xcf], "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)"),
    (
        "transferWithAuthorization",
        [0xe3, 0xee, 0x16, 0x0e],
        "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
    ),
    (
        "transferWithAuthorization",
        [0xcf, 0x09, 0x29, 0x95],
        "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
    ),
    (
        "receiveWithAuthorization",
        [0xef, 0x55, 0xbe, 0xc6],
        "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
    ),
    (
        "receiveWithAuthorization",
        [0x88, 0xb7, 0xab, 0x63],
        "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
    ),
    ("permit2Approve", [0x87, 0x51, 0x7c, 0x45], "approve(address,address,uint160,uint48)"),
];

/// Whether a policy may name this function.
pub fn is_function(name: &str) -> bool {
    let selector = name.strip_prefix("0x").is_some_and(|digits| {
        digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    });
    selector || name == "value" || KNOWN.iter().any(|(known, ..)| *known == name)
}

/// The names that a policy may use.
pub fn functions() -> Vec<&'static str> {
    let mut names: Vec<&str> = KNOWN.iter().map(|(name, ..)| *name).chain(["value"]).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Reads what a call carries.
///
/// # Errors
/// Says what is wrong with it.
pub(crate) fn read(data: &[u8]) -> Result<Call, &'static str> {
    let Some((selector, rest)) = data.split_first_chunk::<4>() else {
        return match data {
            [] => Ok(Call { function: "value".to_owned(), effect: Effect::Unknown }),
            // The contract's own function for everything else gets it.
            _ => Ok(Call { function: format!("0x{}", hex(data)), effect: Effect::Unknown }),
        };
    };
    let Some((name, ..)) = KNOWN.iter().find(|(_, known, _)| known == selector) else {
        return Ok(Call { function: format!("0x{}", hex(selector)), effect: Effect::Unknown });
    };
    let words = Words(rest);
    let effect = match *name {
        "transfer" => {
            Effect::Moves { from: None, to: words.address(0)?, units: words.units(1)?, until: None }
        }
        "transferFrom" => Effect::Moves {
            from: Some(words.address(0)?),
            to: words.address(1)?,
            units: words.units(2)?,
            until: None,
        },
        "approve" | "increaseAllowance" => Effect::Grants {
            spender: words.address(0)?,
            units: words.units(1)?,
            more: *name == "increaseAllowance",
        },
        "decreaseAllowance" => {
            words.units(1)?;
            Effect::Grants { spender: words.address(0)?, units: Units::ZERO, more: true }
        }
        "setApprovalForAll" => Effect::GrantsAll { operator: words.address(0)?, on: words.flag(1)? },
        "permit" => {
            words.word(6)?;
            Effect::Grants { spender: words.address(1)?, units: words.units(2)?, more: false }
        }
        "permit2Approve" => Effect::GrantsOf {
            token: words.address(0)?,
            spender: words.address(1)?,
            // SECURITY: 160 bits there; all of them set is "without limit" as 256 are elsewhere.
            units: words.sized(2, 20)?,
        },
        _ => {
            words.word(6)?;
            Effect::Moves {
                from: Some(words.address(0)?),
                to: words.address(1)?,
                units: words.units(2)?,
                until: Some(words.units(4)?),
            }
        }
    };
    Ok(Call { function: (*name).to_owned(), effect })
}

/// The arguments of a call, 32 bytes each.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn word(&self, at: usize) -> Result<[u8; 32], &'static str> {
        let bytes = self.0.get(at * 32..at * 32 + 32).and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or("the call is cut off: an argument is missing")
    }

    fn address(&self, at: usize) -> Result<Address, &'static str> {
        Address::of_word(&self.word(at)?).ok_or("an address has bytes in front of its twenty")
    }

    fn units(&self, at: usize) -> Result<Units, &'static str> {
        self.word(at).map(Units::of_bytes)
    }

    fn flag(&self, at: usize) -> Result<bool, &'static str> {
        match self.word(at)? {
            word if word == [0; 32] => Ok(false),
            word if Units::of_bytes(word) == Units::new(1) => Ok(true),
            _ => Err("a flag is neither 0 nor 1"),
        }
    }

    /// A number of fewer bytes, whose largest value stands for "without limit".
    fn sized(&self, at: usize, bytes: usize) -> Result<Units, &'static str> {
        let word = self.word(at)?;
        let (front, own) = word.split_at(32 - bytes);
        if front.iter().any(|byte| *byte != 0) {
            return Err("a number has more bytes than it may have");
        }
        let unlimited = own.first().is_some_and(|byte| *byte >= 0x80);
        Ok(if unlimited { Units::MAX } else { Units::of_bytes(word) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::keccak;

    pub(crate) fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    fn word(digits: &str) -> String {
        format!("{digits:0>64}")
    }

    const A: &str = "1111111111111111111111111111111111111111";
    const B: &str = "2222222222222222222222222222222222222222";

    fn address(digits: &str) -> Address {
        Address::evm(&format!("0x{digits}")).unwrap()
    }

    #[test]
    fn selectors_are_those_of_the_signatures() {
        for (name, selector, signature) in KNOWN {
            assert_eq!(keccak(signature.as_bytes())[..4], selector, "{name}: {signature}");
            assert!(is_function(name));
        }
        assert!(is_function("0x12345678") && is_function("value"));
        assert!(!is_function("0x1234567") && !is_function("0x1234567G") && !is_function("mint"));
    }

    #[test]
    fn what_moves_money_is_read() {
        let of = |selector: &str, words: &[&str]| {
            let words: String = words.iter().map(|own| word(own)).collect();
            read(&bytes(&format!("{selector}{words}")))
        };
        let moves = |from: Option<&str>, until: Option<u64>| Effect::Moves {
            from: from.map(address),
            to: address(B),
            units: Units::new(0xc350),
            until: until.map(Units::new),
        };
        assert_eq!(of("a9059cbb", &[B, "c350"]).unwrap().effect, moves(None, None));
        // What stands behind the arguments is not read by contracts.
        assert_eq!(of("a9059cbb", &[B, "c350", "ff"]).unwrap().effect, moves(None, None));
        assert_eq!(of("23b872dd", &[A, B, "c350"]).unwrap().effect, moves(Some(A), None));
        let with = of("e3ee160e", &[A, B, "c350", "0", "99", "1", "1b", "1", "1"]).unwrap();
        assert_eq!(
            (with.function.as_str(), with.effect),
            ("transferWithAuthorization", moves(Some(A), Some(0x99)))
        );
        let grants = |units, more| Effect::Grants { spender: address(B), units, more };
        assert_eq!(of("095ea7b3", &[B, &"f".repeat(64)]).unwrap().effect, grants(Units::MAX, false));
        assert_eq!(of("39509351", &[B, "5"]).unwrap().effect, grants(Units::new(5), true));
        assert_eq!(
            of("d505accf", &[A, B, "5", "9", "1b", "1", "1"]).unwrap().effect,
            grants(Units::new(5), false)
        );
        assert_eq!(
            of("a22cb465", &[B, "1"]).unwrap().effect,
            Effect::GrantsAll { operator: address(B), on: true }
        );
        let most = "f".repeat(40);
        assert_eq!(
            of("87517c45", &[A, B, &most, "9"]).unwrap().effect,
            Effect::GrantsOf { token: address(A), spender: address(B), units: Units::MAX }
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let of = |hex: &str| read(&bytes(hex));
        for bad in [
            "a9059cbb".to_owned(),
            format!("095ea7b3{}", word(B)),
            format!("a9059cbb{}{:0>62}", word(B), "1"),
            format!("a9059cbb01{B:0>62}{}", word("1")),
            format!("a22cb465{}{}", word(B), word("2")),
            format!("87517c45{}{}{}{}", word(A), word(B), "f".repeat(64), word("1")),
        ] {
            assert!(of(&bad).is_err(), "{bad}");
        }
        assert_eq!(of("").unwrap().function, "value");
        assert_eq!(of("a905").unwrap().function, "0xa905");
        assert_eq!(
            of("12345678ff").unwrap(),
            Call { function: "0x12345678".to_owned(), effect: Effect::Unknown }
        );
    }
}
