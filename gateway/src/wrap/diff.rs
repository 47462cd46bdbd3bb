//! What a write changes, line by line, as a unified diff.
//!
//! INVARIANT: applied to the old text it gives the new one; time grows with lines times their logarithm, and a line of a text never
//! looks like a line of ours, which begin with `@`, `\` or `…`.

use std::collections::HashMap;

/// Unchanged lines around a change.
const AROUND: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Same,
    Gone,
    New,
}

/// The lines of the diff, without a header.
pub(crate) fn diff(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let lines = changes(&old, &new);
    let changed: Vec<usize> =
        lines.iter().enumerate().filter(|(_, (kind, _))| *kind != Kind::Same).map(|(at, _)| at).collect();
    let mut out = Vec::new();
    let (mut old_at, mut new_at, mut done) = (0, 0, 0);
    let mut rest = changed.iter().copied().peekable();
    while let Some(first) = rest.next() {
        let mut last = first;
        while let Some(next) = rest.next_if(|next| *next <= last + 2 * AROUND + 1) {
            last = next;
        }
        let (from, to) = (first.saturating_sub(AROUND).max(done), (last + AROUND + 1).min(lines.len()));
        let count =
            |lines: &[(Kind, &str)], without: Kind| lines.iter().filter(|(kind, _)| *kind != without).count();
        let skipped = lines.get(done..from).unwrap_or_default();
        old_at += count(skipped, Kind::New);
        new_at += count(skipped, Kind::Gone);
        let hunk = lines.get(from..to).unwrap_or_default();
        let (olds, news) = (count(hunk, Kind::New), count(hunk, Kind::Gone));
        let start = |at: usize, count: usize| if count == 0 { at } else { at + 1 };
        out.push(format!("@@ -{},{olds} +{},{news} @@", start(old_at, olds), start(new_at, news)));
        for (kind, line) in hunk {
            let sign = match kind {
                Kind::Same => ' ',
                Kind::Gone => '-',
                Kind::New => '+',
            };
            out.push(format!("{sign}{}", line.strip_suffix('\n').unwrap_or(line)));
            if !line.ends_with('\n') {
                out.push("\\ No line break at the end".to_owned());
            }
        }
        old_at += olds;
        new_at += news;
        done = to;
    }
    out
}

/// All lines of both texts with what becomes of each: what both begin and end with is the same, and so are lines between that
/// stand in each text once, in the order of both.
fn changes<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Kind, &'t str)> {
    let mut out = Vec::with_capacity(old.len() + new.len());
    let (mut old_from, mut new_from) = (0, 0);
    let ends = [(old.len(), new.len())];
    for (old_to, new_to) in anchors(old, new).into_iter().chain(ends) {
        let a = old.get(old_from..old_to).unwrap_or_default();
        let b = new.get(new_from..new_to).unwrap_or_default();
        let front = a.iter().zip(b).take_while(|(one, other)| one == other).count();
        let (same, a) = a.split_at_checked(front).unwrap_or_default();
        let b = b.get(front..).unwrap_or_default();
        let back = a.iter().rev().zip(b.iter().rev()).take_while(|(one, other)| one == other).count();
        let (gone, end) = a.split_at_checked(a.len() - back).unwrap_or_default();
        let fresh = b.get(..b.len() - back).unwrap_or_default();
        for (kind, lines) in [(Kind::Same, same), (Kind::Gone, gone), (Kind::New, fresh), (Kind::Same, end)] {
            out.extend(lines.iter().map(|line| (kind, *line)));
        }
        (old_from, new_from) = (old_to, new_to);
    }
    out
}

/// Where lines stand that both texts have once, in the order of both.
fn anchors(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut places: HashMap<&str, (usize, usize, usize, usize)> = HashMap::new();
    for (at, line) in old.iter().enumerate() {
        let place = places.entry(line).or_default();
        (place.0, place.1) = (place.0 + 1, at);
    }
    for (at, line) in new.iter().enumerate() {
        let place = places.entry(line).or_default();
        (place.2, place.3) = (place.2 + 1, at);
    }
    let once = places.into_values().filter(|place| place.0 == 1 && place.2 == 1);
    let mut pairs: Vec<(usize, usize)> = once.map(|place| (place.1, place.3)).collect();
    pairs.sort_unstable();
    rising(&pairs)
}

/// The longest part whose second numbers rise, too.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the pair that ends it with the smallest number, and for each pair the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let second = |at: usize| pairs.get(at).map(|pair| pair.1);
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| second(*end) < Some(pair.1));
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut out = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(own) = at {
        out.extend(pairs.get(own).copied());
        at = before.get(own).copied().flatten();
    }
    out.reverse();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The new text, out of all lines.
    fn applied(before: &str, after: &str) -> (String, String) {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
        let lines = changes(&old, &new);
        let side = |without: Kind| {
            lines.iter().filter(|(kind, _)| *kind != without).map(|(_, line)| *line).collect()
        };
        (side(Kind::New), side(Kind::Gone))
    }

    #[test]
    fn a_change_stands_between_its_neighbours() {
        let old: String = (1..=30).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n15\n", "\nfifteen\n").replace("\n16\n", "\n16\nmore\n");
        let told = "@@ -12,8 +12,9 @@|  12| 13| 14|-15|+fifteen| 16|+more| 17| 18| 19".replace("|  ", "| ");
        assert_eq!(diff(&old, &new).join("|"), told);
        assert_eq!(diff("", "a\nb").join("|"), "@@ -0,0 +1,2 @@|+a|+b|\\ No line break at the end");
        assert_eq!(diff("a\n", "a").len(), 4);
        assert_eq!(diff("a\nb\n", "a\nb\n"), [""; 0]);
        let far = old.replace("\n3\n", "\nthree\n").replace("\n28\n", "\n");
        assert_eq!(diff(&old, &far).iter().filter(|line| line.starts_with('@')).count(), 2);
    }

    #[test]
    fn nothing_is_lost_on_any_texts() {
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..500 {
            let mut text = || -> String {
                let lines = next(20);
                let words = next(9) + 1;
                (0..lines)
                    .map(|_| format!("{}{}", next(words), if next(8) > 0 { "\n" } else { "" }))
                    .collect()
            };
            let (before, after) = (text(), text());
            assert_eq!(applied(&before, &after), (before, after));
        }
        let many: String = (0..200_000_u64).map(|n| format!("{}\n", n * 7919 % 200_003)).collect();
        let other: String = (0..200_000_u64).map(|n| format!("{}\n", n * 104_729 % 200_003)).collect();
        assert_eq!(applied(&many, &other), (many, other));
    }
}
