//! Addresses of payees, assets and contracts.
//!
//! INVARIANT: two texts that name the same account give equal addresses, and no two accounts give one; a mixed-case address whose
//! checksum is wrong is refused.

use crate::network::{Family, Network};
use sha3::{Digest, Keccak256};
use std::fmt;

/// Longest address of a network that we know nothing of.
const LONGEST: usize = 128;

/// An address, in one spelling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(String);

/// Why a text is no address of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadAddress {
    /// Not the form of this network.
    Form(Family),
    /// Upper and lower case stand for a checksum, and it is another one.
    Checksum,
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadAddress::Form(Family::Evm) => "not an address: `0x` and 40 hexadecimal digits",
            BadAddress::Form(Family::Solana) => "not an address of Solana: 32 bytes in base58",
            BadAddress::Form(Family::Other) => "not an address: letters, digits and `-._:` alone",
            BadAddress::Checksum => {
                "its upper and lower case do not fit its digits (EIP-55): a digit may be wrong; compare it, or write it in lower case"
            }
        })
    }
}

impl Address {
    /// The address that a text names on a network.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &str, network: &Network) -> Result<Address, BadAddress> {
        match network.family() {
            Family::Evm => Address::evm(text),
            Family::Solana => Address::solana(text),
            Family::Other => {
                let plain =
                    |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':');
                let good = (1..=LONGEST).contains(&text.len()) && text.bytes().all(plain);
                good.then(|| Address(text.to_owned())).ok_or(BadAddress::Form(Family::Other))
            }
        }
    }

    /// An address of Ethereum and its like.
    ///
    /// # Errors
    /// When it is none.
    pub fn evm(text: &str) -> Result<Address, BadAddress> {
        let digits = text
            .strip_prefix("0x")
            .filter(|digits| digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let digits = digits.ok_or(BadAddress::Form(Family::Evm))?;
        let one_case = !digits.bytes().any(|byte| byte.is_ascii_lowercase())
            || !digits.bytes().any(|byte| byte.is_ascii_uppercase());
        let address = Address(text.to_ascii_lowercase());
        if !one_case && address.checked() != text {
            return Err(BadAddress::Checksum);
        }
        Ok(address)
    }

    /// The address in the last 20 bytes of a word of a contract's call; the bytes before have to be zero.
    pub fn of_word(word: &[u8; 32]) -> Option<Address> {
        let (front, own) = word.split_at(12);
        front.iter().all(|byte| *byte == 0).then(|| Address(format!("0x{}", hex(own))))
    }

    fn solana(text: &str) -> Result<Address, BadAddress> {
        let bytes = (32..=44).contains(&text.len()).then(|| bs58::decode(text).into_vec().ok()).flatten();
        match bytes {
            Some(bytes) if bytes.len() == 32 => Ok(Address(text.to_owned())),
            _ => Err(BadAddress::Form(Family::Solana)),
        }
    }

    /// Its one spelling: lower case where case means nothing.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// As people write it: with the checksum of EIP-55 where there is one.
    pub fn checked(&self) -> String {
        let Some(digits) = self.0.strip_prefix("0x").filter(|digits| digits.len() == 40) else {
            return self.0.clone();
        };
        let sum = keccak(digits.as_bytes());
        let upper = |at: usize| {
            let byte = sum.get(at / 2).copied().unwrap_or_default();
            (if at.is_multiple_of(2) { byte >> 4 } else { byte & 15 }) >= 8
        };
        let letters =
            digits.chars().enumerate().map(|(at, c)| if upper(at) { c.to_ascii_uppercase() } else { c });
        format!("0x{}", letters.collect::<String>())
    }

    /// Its first and last four digits, behind what all have in front: `0x2222…2222`.
    pub fn short(&self) -> String {
        let full = self.checked();
        let (front, digits) = match full.strip_prefix("0x") {
            Some(digits) => ("0x", digits),
            None => ("", full.as_str()),
        };
        match (digits.get(..4), digits.len().checked_sub(4).and_then(|end| digits.get(end..))) {
            (Some(first), Some(last)) if digits.len() > 10 => format!("{front}{first}…{last}"),
            _ => full,
        }
    }

    /// Whether a person would take it for the other: not equal, and the same first and last four digits.
    pub fn looks_like(&self, other: &Address) -> bool {
        let ends = |own: &Address| {
            let digits = own.0.strip_prefix("0x").unwrap_or(&own.0);
            let first = digits.get(..4).map(str::to_ascii_lowercase);
            let last =
                digits.len().checked_sub(4).and_then(|end| digits.get(end..)).map(str::to_ascii_lowercase);
            first.zip(last)
        };
        self != other
            && self.0.starts_with("0x") == other.0.starts_with("0x")
            && ends(self).is_some_and(|own| ends(other) == Some(own))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.checked())
    }
}

/// Keccak-256.
pub(crate) fn keccak(bytes: &[u8]) -> [u8; 32] {
    Keccak256::digest(bytes).into()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An address as it stands in a sentence: its first and last four digits.
pub fn short(address: &str) -> String {
    let (kind, digits) = match address.strip_prefix("0x") {
        Some(digits) => ("0x", digits),
        None => ("", address),
    };
    match (digits.get(..4), digits.get(digits.len().saturating_sub(4)..)) {
        (Some(first), Some(last)) if digits.len() > 10 => format!("{kind}{first}…{last}"),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keccak_and_checksums_are_those_of_the_standard() {
        assert_eq!(hex(&keccak(b"")), "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
        for good in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
            "0x52908400098527886E0F7030069857D2E4169EE7",
            "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
            "0xde709f2102306220921060314715629080e2fb77",
            "0x27b1fdb04752bbc536007a920d24acb045561c26",
        ] {
            let address = Address::evm(good).unwrap();
            assert_eq!(address.text(), good.to_lowercase());
            assert_eq!(Address::evm(&address.checked()), Ok(address.clone()));
            assert_eq!(Address::evm(&good.to_lowercase()), Ok(address));
        }
        let wrong = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD";
        assert_eq!(Address::evm(wrong), Err(BadAddress::Checksum));
    }

    #[test]
    fn other_forms_are_refused() {
        let evm = Network::read("base").unwrap();
        for bad in [
            "",
            "0x",
            "111111111111111111111111111111111111111111",
            "0x11111111111111111111111111111111111111111",
            "0x111111111111111111111111111111111111111",
            "0x1111111111111111111111111111111111111111\n",
            " 0x1111111111111111111111111111111111111111",
            "0X1111111111111111111111111111111111111111",
            "0x１111111111111111111111111111111111111111",
            "shop.eth",
        ] {
            assert_eq!(Address::read(bad, &evm), Err(BadAddress::Form(Family::Evm)), "{bad}");
        }
        let solana = Network::read("solana").unwrap();
        let good = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
        assert_eq!(Address::read(good, &solana).unwrap().text(), good);
        for bad in [
            "0x1111111111111111111111111111111111111111",
            "EPjF",
            "0PjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
            &"1".repeat(44),
        ] {
            assert_eq!(Address::read(bad, &solana), Err(BadAddress::Form(Family::Solana)), "{bad}");
        }
    }

    #[test]
    fn short_forms_and_what_looks_alike() {
        let evm = |text: &str| Address::evm(text).unwrap();
        let one = evm("0x2222000000000000000000000000000000001111");
        let two = evm("0x2222000000000000900000000000000000001111");
        assert_eq!(one.short(), "0x2222…1111");
        assert!(one.looks_like(&two) && !one.looks_like(&one));
        assert!(!one.looks_like(&evm("0x2222000000000000900000000000000000001112")));
    }
}
