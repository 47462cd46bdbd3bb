//! Takes away what was there before the call.
//!
//! INVARIANT: a finding is the same as an old one by what it says and by the content of its line, never by its number; as many old ones
//! as there were are taken away, first those in the lines that did not change.

use std::collections::HashMap;

use crate::Found;
use crate::file::File;

/// The findings of `after` that `before` did not have.
pub(crate) fn only_new(found: Vec<Found>, after: &File, old: Vec<Found>, before: &File) -> Vec<Found> {
    if old.is_empty() {
        return found;
    }
    let mut left: HashMap<(&str, &str), usize> = HashMap::new();
    for one in &old {
        *left.entry((one.message.as_str(), before.line_key(one.line))).or_default() += 1;
    }
    let (head, tail) = unchanged(after, before);
    let mut keep = vec![true; found.len()];
    for pass in [true, false] {
        for (one, keep) in found.iter().zip(keep.iter_mut()) {
            let same_place = (one.line as usize) <= head || (one.line as usize) > tail;
            if !*keep || same_place != pass {
                continue;
            }
            if let Some(count) = left.get_mut(&(one.message.as_str(), after.line_key(one.line)))
                && *count > 0
            {
                *count -= 1;
                *keep = false;
            }
        }
    }
    let mut keep = keep.into_iter();
    found.into_iter().filter(|_| keep.next().unwrap_or(true)).collect()
}

/// How many first lines are the same, and behind which line of `after` all are.
fn unchanged(after: &File, before: &File) -> (usize, usize) {
    let new: Vec<&str> = after.lines().map(|(_, line)| line).collect();
    let old: Vec<&str> = before.lines().map(|(_, line)| line).collect();
    let head = new.iter().zip(&old).take_while(|(new, old)| new == old).count();
    let rest = new.len().min(old.len()) - head;
    let tail = new.iter().rev().zip(old.iter().rev()).take(rest).take_while(|(new, old)| new == old).count();
    (head, new.len() - tail)
}
