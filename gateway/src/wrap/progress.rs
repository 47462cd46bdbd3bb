//! Progress of calls that wait for a person, and of the same calls once the server has them.
//!
//! INVARIANT: what a client hears under a token only rises: our values first, then those of the server with our last one added. All
//! else of such a notification stays byte for byte, and so does every other one.

use crate::wrap::json::members;
use crate::wrap::message::{Id, Message};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a client hears that its call still waits.
const EVERY: Duration = Duration::from_secs(10);

/// When it is time to say it again.
pub(crate) struct Ticks(Mutex<Instant>);

impl Ticks {
    /// From now on.
    pub(crate) fn new() -> Ticks {
        Ticks(Mutex::new(Instant::now()))
    }

    /// Whether it is time, by this clock.
    pub(crate) fn due(&self, now: Instant) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = now.saturating_duration_since(*last) >= EVERY;
        if due {
            *last = now;
        }
        due
    }
}

/// The token of a notification of progress.
pub(crate) fn token(method: &str, message: &Message<'_>) -> Option<Id> {
    if method != "notifications/progress" {
        return None;
    }
    message.param("progressToken").and_then(Id::of)
}

/// A notification of progress with this much added to `progress` and `total`; none when there is no number.
pub(crate) fn raised(message: &Message<'_>, by: u64) -> Option<String> {
    let params = message.part(&message.params);
    let start = message.params.clone()?.start;
    let mut places: Vec<(Range<usize>, String)> = Vec::new();
    for member in members(params).ok()? {
        if matches!(member.key.as_str(), "progress" | "total")
            && let Some(sum) = params.get(member.value.clone()).and_then(|number| add(number, by))
        {
            places.push((start + member.value.start..start + member.value.end, sum));
        }
    }
    let mut text = message.text.to_owned();
    places.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    if places.is_empty() {
        return None;
    }
    for (range, sum) in places {
        text.replace_range(range, &sum);
    }
    Some(text)
}

/// A JSON number with a whole one added, in the spelling that it has.
fn add(number: &str, by: u64) -> Option<String> {
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    if !plain || whole.is_empty() {
        // Negative ones and ones with an exponent.
        let sum = serde_json::from_str::<f64>(number).ok()? + by as f64;
        return serde_json::Number::from_f64(sum).map(|sum| sum.to_string());
    }
    let mut carry = by;
    let mut digits: Vec<u8> = whole.bytes().rev().collect();
    let mut at = 0;
    while carry > 0 {
        if at == digits.len() {
            digits.push(b'0');
        }
        let digit = digits.get_mut(at)?;
        let sum = u64::from(*digit - b'0') + carry % 10;
        *digit = b'0' + u8::try_from(sum % 10).ok()?;
        carry = carry / 10 + sum / 10;
        at += 1;
    }
    digits.reverse();
    String::from_utf8(digits).ok().map(|whole| whole + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrap::message::Side;

    #[test]
    fn numbers_stay_as_they_were_written() {
        for (number, by, sum) in [
            ("0", 1, "1"),
            ("9", 1, "10"),
            ("1.50", 12, "13.50"),
            ("99999999999999999999999999", 7, "100000000000000000000000006"),
            ("0.0", 18446744073709551615, "18446744073709551615.0"),
            ("-1", 3, "2.0"),
            ("1e2", 1, "101.0"),
        ] {
            assert_eq!(add(number, by).as_deref(), Some(sum), "{number}");
        }
        for none in ["\"1\"", "null", "1e999", "", "{}"] {
            assert_eq!(add(none, 1), None, "{none}");
        }
    }

    #[test]
    fn only_the_two_numbers_are_another() {
        let line = r#"{"jsonrpc":"2.0", "method":"notifications/progress","params":{ "total" : 10,"x":{"progress":1},"progressToken":"a","progress":1.0 ,"message":"\u0061"},"y":1}"#;
        let raise = |line: &str| raised(&Message::read(line.as_bytes(), Side::Server).unwrap(), 3);
        let wanted = line.replace("10", "13").replace("1.0 ", "4.0 ");
        assert_eq!(raise(line), Some(wanted));
        let odd = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":"x"}}"#;
        assert_eq!(raise(odd), None);
        let of = |line: &str| {
            token("notifications/progress", &Message::read(line.as_bytes(), Side::Server).unwrap())
        };
        assert_eq!((of(line), of(odd)), (Some(Id::Text("a".to_owned())), Some(Id::Number("1".to_owned()))));
    }

    #[test]
    fn it_is_said_again_when_a_while_has_passed() {
        let ticks = Ticks::new();
        let now = Instant::now();
        assert!(!ticks.due(now) && ticks.due(now + EVERY * 2) && !ticks.due(now + EVERY * 2));
        assert!(ticks.due(now + EVERY * 3));
    }
}
