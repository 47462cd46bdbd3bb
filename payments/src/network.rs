//! Networks, as CAIP-2 names them.
//!
//! INVARIANT: one network has one name; the names of the first version of x402 are read as what they stand for.

use std::fmt;

/// Names of x402 version 1 and what they stand for.
const OF_VERSION_1: [(&str, &str); 17] = [
    ("abstract", "eip155:2741"),
    ("abstract-testnet", "eip155:11124"),
    ("avalanche", "eip155:43114"),
    ("avalanche-fuji", "eip155:43113"),
    ("base", "eip155:8453"),
    ("base-sepolia", "eip155:84532"),
    ("ethereum", "eip155:1"),
    ("iotex", "eip155:4689"),
    ("peaq", "eip155:3338"),
    ("polygon", "eip155:137"),
    ("polygon-amoy", "eip155:80002"),
    ("sei", "eip155:1329"),
    ("sei-testnet", "eip155:1328"),
    ("sepolia", "eip155:11155111"),
    ("solana", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
    ("solana-devnet", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"),
    ("story", "eip155:1514"),
];

/// The own coin of networks of Ethereum's kind, as CAIP-19 names it.
pub const COIN: &str = "slip44:60";

/// A network.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network(String);

/// How a network's addresses are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// 20 bytes, hexadecimal.
    Evm,
    /// 32 bytes, base58.
    Solana,
    /// Not known.
    Other,
}

impl Network {
    /// The network that a text names: `eip155:8453`, or `base` of version 1.
    pub fn read(text: &str) -> Option<Network> {
        if let Some((_, name)) = OF_VERSION_1.iter().find(|(old, _)| *old == text) {
            return Some(Network((*name).to_owned()));
        }
        let (space, reference) = text.split_once(':')?;
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let wide = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let good = (3..=8).contains(&space.len())
            && space.bytes().all(plain)
            && (1..=32).contains(&reference.len())
            && reference.bytes().all(wide);
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        (good && (space != "eip155" || number(reference))).then(|| Network(text.to_owned()))
    }

    /// Its name in CAIP-2.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// How its addresses are written.
    pub fn family(&self) -> Family {
        match self.0.split(':').next() {
            Some("eip155") => Family::Evm,
            Some("solana") => Family::Solana,
            _ => Family::Other,
        }
    }

    /// The number of the chain, where networks have numbers.
    pub fn chain(&self) -> Option<&str> {
        self.0.strip_prefix("eip155:")
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_or_refused() {
        for (text, name) in
            [("base", "eip155:8453"), ("eip155:84532", "eip155:84532"), ("cosmos:hub-4", "cosmos:hub-4")]
        {
            assert_eq!(Network::read(text).unwrap().name(), name);
        }
        for bad in [
            "",
            ":",
            "eip155:",
            "eip155",
            "eip155:0x14a34",
            "eip155:084532",
            "EIP155:84532",
            "84532",
            "Base",
            "base ",
            "eip155:1 ",
            "ei:1",
            "eip155:٣",
        ] {
            assert_eq!(Network::read(bad), None, "{bad}");
        }
        assert_eq!(Network::read("solana-devnet").unwrap().family(), Family::Solana);
        assert_eq!(Network::read("cosmos:hub-4").unwrap().family(), Family::Other);
        assert_eq!(Network::read("sepolia").unwrap().chain(), Some("11155111"));
    }
}
