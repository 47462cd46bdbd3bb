//! Hours of a week: `mon-fri 08:00-20:00 UTC`.
//!
//! INVARIANT: what is written is read in one way or not at all; a span that ends before it begins goes over midnight and belongs to the
//! day on which it began.

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const DAY: i64 = 24 * 60;

/// Hours of a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hours {
    days: [bool; 7],
    /// Minutes of the day, the second not within.
    from: i64,
    to: i64,
    /// Minutes east of Greenwich.
    offset: i64,
}

/// Why a text is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadHours {
    /// It has another form.
    Form,
    /// A time zone by its name.
    Zone,
}

impl Hours {
    /// Reads `[mon-fri|sat,sun] 08:00-20:00 [UTC|+02:00]`.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &str) -> Result<Hours, BadHours> {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let offset = match words.last() {
            Some(zone) if !zone.contains(':') || zone.starts_with(['+', '-']) => {
                let offset = zone_of(zone)?;
                words.pop();
                offset
            }
            _ => 0,
        };
        let (days, span) = match words.as_slice() {
            [span] => ([true; 7], span),
            [days, span] => (days_of(days).ok_or(BadHours::Form)?, span),
            _ => return Err(BadHours::Form),
        };
        let (from, to) = span.split_once('-').ok_or(BadHours::Form)?;
        let (from, to) = (minutes(from).ok_or(BadHours::Form)?, minutes(to).ok_or(BadHours::Form)?);
        if from == to || from == DAY {
            return Err(BadHours::Form);
        }
        Ok(Hours { days, from, to, offset })
    }

    /// Whether a moment lies within, milliseconds since 1970.
    #[must_use]
    pub fn hold(&self, now_ms: i64) -> bool {
        let minute = now_ms.div_euclid(60_000) + self.offset;
        let (day, minute) = (minute.div_euclid(DAY), minute.rem_euclid(DAY));
        // The first of January 1970 was a Thursday.
        let on = |day: i64| {
            usize::try_from((day + 3).rem_euclid(7)).is_ok_and(|at| self.days.get(at) == Some(&true))
        };
        if self.from < self.to {
            return on(day) && (self.from..self.to).contains(&minute);
        }
        on(day) && minute >= self.from || on(day - 1) && minute < self.to
    }
}

fn zone_of(zone: &str) -> Result<i64, BadHours> {
    if zone == "UTC" || zone == "Z" {
        return Ok(0);
    }
    let (sign, rest) = match zone.split_at_checked(1) {
        Some(("+", rest)) => (1, rest),
        Some(("-", rest)) => (-1, rest),
        _ => return Err(BadHours::Zone),
    };
    minutes(rest).filter(|own| *own <= 14 * 60).map(|own| sign * own).ok_or(BadHours::Form)
}

fn minutes(text: &str) -> Option<i64> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str| -> Option<i64> {
        (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let all = number(hour)? * 60 + number(minute).filter(|own| *own < 60)?;
    (all <= DAY).then_some(all)
}

fn days_of(text: &str) -> Option<[bool; 7]> {
    let mut days = [false; 7];
    let day = |name: &str| DAYS.iter().position(|own| *own == name);
    for part in text.split(',') {
        let (from, to) = match part.split_once('-') {
            Some((from, to)) => (day(from)?, day(to)?),
            None => (day(part)?, day(part)?),
        };
        let count = (to + 7 - from) % 7;
        for step in 0..=count {
            *days.get_mut((from + step) % 7)? = true;
        }
    }
    Some(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-05 was a Monday.
    const MONDAY: i64 = 1_767_571_200_000;
    const HOUR: i64 = 3_600_000;

    #[test]
    fn hours_of_days() {
        let hold = |text: &str, days: i64, hours: i64| {
            Hours::read(text).unwrap().hold(MONDAY + days * 24 * HOUR + hours * HOUR)
        };
        for (text, days, hours, wanted) in [
            ("09:00-17:00", 0, 9, true),
            ("09:00-17:00", 0, 17, false),
            ("09:00-17:00 UTC", 5, 8, false),
            ("mon-fri 08:00-20:00 UTC", 4, 19, true),
            ("mon-fri 08:00-20:00 UTC", 5, 12, false),
            ("sat,sun 00:00-24:00", 6, 23, true),
            ("sat-mon 00:00-24:00", 0, 0, true),
            ("sat-mon 00:00-24:00", 1, 0, false),
            ("mon 22:00-06:00", 0, 23, true),
            ("mon 22:00-06:00", 1, 5, true),
            ("mon 22:00-06:00", 0, 5, false),
            ("09:00-17:00 +02:00", 0, 7, true),
            ("09:00-17:00 -05:00", 0, 9, false),
        ] {
            assert_eq!(hold(text, days, hours), wanted, "{text} {days} {hours}");
        }
    }

    #[test]
    fn what_is_no_hours_is_refused() {
        for text in [
            "",
            "9:00-17:00",
            "09:00",
            "09:00-09:00",
            "24:00-01:00",
            "25:00-26:00",
            "09:60-10:00",
            "day 09:00-10:00",
            "a b c",
        ] {
            assert!(Hours::read(text).is_err(), "{text}");
        }
        assert_eq!(Hours::read("mon-fri 08:00-20:00 Europe/Berlin"), Err(BadHours::Zone));
        assert_eq!(Hours::read("08:00-20:00 +15:00"), Err(BadHours::Form));
    }
}
