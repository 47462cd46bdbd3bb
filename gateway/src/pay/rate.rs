//! How many questions an account may ask in a minute.
//!
//! INVARIANT: bounded; an account that is over its number is told so, and nothing is decided.

use std::collections::{HashMap, VecDeque};

/// Most accounts that are remembered.
const MOST: usize = 1024;
const MINUTE: u64 = 60_000;

/// The last minute.
#[derive(Debug, Default)]
pub struct Rate {
    most: u32,
    asked: HashMap<String, VecDeque<u64>>,
}

impl Rate {
    /// So many in a minute.
    pub fn new(most: u32) -> Rate {
        Rate { most, asked: HashMap::new() }
    }

    /// Takes one; whether there was one left.
    pub fn take(&mut self, account: &str, now: u64) -> bool {
        let gone = |at: &u64| now.saturating_sub(*at) >= MINUTE;
        if self.asked.len() >= MOST {
            self.asked.retain(|_, times| times.back().is_some_and(|at| !gone(at)));
        }
        if self.asked.len() >= MOST && !self.asked.contains_key(account) {
            return false;
        }
        let times = self.asked.entry(account.to_owned()).or_default();
        while times.front().is_some_and(gone) {
            times.pop_front();
        }
        if times.len() >= self.most as usize {
            return false;
        }
        times.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_a_number() {
        let mut rate = Rate::new(2);
        let asked = [0, 10, 20, 59_999, 60_000, 60_001, 60_010].map(|now| rate.take("a", now));
        assert_eq!(asked, [true, true, false, false, true, false, true]);
        assert!(rate.take("b", 20));
        for n in 0..2 * MOST {
            rate.take(&n.to_string(), 60_020);
        }
        assert!(rate.asked.len() <= MOST);
    }
}
