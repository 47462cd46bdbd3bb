//! Arithmetic of known integers, so that `$((2*3))` is a word.
//!
//! INVARIANT: a number is given only for `+ - * / %`, parentheses, decimal literals and variables with one known
//! decimal value; anything else is not known. Recursion is bounded.

use super::expand::Expander;

const MAX_DEPTH: u32 = 16;

/// The value of `$((...))` as written.
pub(crate) fn eval(text: &str, expander: &Expander<'_>) -> Option<i64> {
    let inner = text.strip_prefix("$((").and_then(|t| t.strip_suffix("))"))?;
    let mut reader = Reader { rest: inner, expander };
    let value = reader.sum(0)?;
    reader.rest.trim_start().is_empty().then_some(value)
}

struct Reader<'t, 'e> {
    rest: &'t str,
    expander: &'t Expander<'e>,
}

impl Reader<'_, '_> {
    fn eat(&mut self, wanted: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let c = rest.chars().next().filter(|c| wanted.contains(c))?;
        let after = rest.get(c.len_utf8()..)?;
        // `**`, `+=`, `--` and the like are other operators.
        if after.starts_with(['*', '=', '+', '-']) && c != '(' && c != ')' {
            return None;
        }
        self.rest = after;
        Some(c)
    }

    fn sum(&mut self, depth: u32) -> Option<i64> {
        let mut value = self.product(depth)?;
        while let Some(op) = self.eat(&['+', '-']) {
            let right = self.product(depth)?;
            value = if op == '+' { value.checked_add(right)? } else { value.checked_sub(right)? };
        }
        Some(value)
    }

    fn product(&mut self, depth: u32) -> Option<i64> {
        let mut value = self.atom(depth)?;
        while let Some(op) = self.eat(&['*', '/', '%']) {
            let right = self.atom(depth)?;
            value = match op {
                '*' => value.checked_mul(right)?,
                '/' => value.checked_div(right)?,
                _ => value.checked_rem(right)?,
            };
        }
        Some(value)
    }

    fn atom(&mut self, depth: u32) -> Option<i64> {
        if depth >= MAX_DEPTH {
            return None;
        }
        if self.eat(&['(']).is_some() {
            let value = self.sum(depth + 1)?;
            return self.eat(&[')']).map(|_| value);
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end)?;
        self.rest = after;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return decimal(word);
        }
        if word.is_empty() {
            return None;
        }
        match self.expander.lookup(word)?.as_slice() {
            [val] => decimal(val.text()?),
            _ => None,
        }
    }
}

/// A decimal number; `010` is octal in a shell and is not followed.
fn decimal(text: &str) -> Option<i64> {
    if text.len() > 1 && text.starts_with('0') { None } else { text.parse().ok() }
}
