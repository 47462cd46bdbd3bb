//! JSON as bytes: where the members of an object stand, and whether a text means the same to every reader.
//!
//! INVARIANT: time is linear and depth bounded; what is let through has no object in which two readers could find different
//! members under one name, and no text that two readers could decode differently.

use std::collections::HashSet;
use std::ops::Range;

/// Deepest value.
const MOST_DEPTH: usize = 128;

/// Why a text is refused, in one clause.
pub(crate) type Fault = String;

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its key, decoded.
    pub(crate) key: String,
    /// Where its value stands.
    pub(crate) value: Range<usize>,
    /// Where the member stands, from its key on.
    pub(crate) whole: Range<usize>,
}

/// A key as a careless reader compares it: letter case and what it folds to, and what stands behind a NUL, do not count.
pub(crate) fn folded(key: &str) -> String {
    let key = key.split('\0').next().unwrap_or_default();
    // Lower first: what `\u{1e9e}` becomes has a capital form of its own.
    key.chars()
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Checks that a text is one JSON value that means the same to every reader: no key twice in an object, letter case and
/// NUL aside, no half of a surrogate pair, not too deep.
pub(crate) fn strict(text: &str) -> Result<(), Fault> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, strict: true };
    reader.blanks();
    reader.value(0)?;
    reader.end()
}

/// As [`strict`], but keys inside are not compared with each other.
pub(crate) fn well_formed(text: &str) -> Result<(), Fault> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, strict: false };
    reader.blanks();
    reader.value(0)?;
    reader.end()
}

/// The members of the object that a text is. The text is known to be well formed.
pub(crate) fn members(text: &str) -> Result<Vec<Member>, Fault> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, strict: false };
    reader.blanks();
    let mut out = Vec::new();
    if !reader.eat(b'{') {
        return Err("it is not an object".to_owned());
    }
    reader.blanks();
    if reader.eat(b'}') {
        return Ok(out);
    }
    loop {
        let start = reader.at;
        let key = reader.string()?;
        reader.blanks();
        reader.must(b':')?;
        reader.blanks();
        let value = reader.at;
        reader.value(1)?;
        out.push(Member { key, value: value..reader.at, whole: start..reader.at });
        reader.blanks();
        if reader.eat(b',') {
            reader.blanks();
            continue;
        }
        reader.must(b'}')?;
        return Ok(out);
    }
}

/// The object that a text is, without the members of these names.
pub(crate) fn without(text: &str, names: &[&str]) -> Option<String> {
    let all = members(text).ok()?;
    let kept = all.iter().filter(|member| !names.contains(&member.key.as_str()));
    let kept: Vec<&str> = kept.filter_map(|member| text.get(member.whole.clone())).collect();
    Some(format!("{{{}}}", kept.join(",")))
}

/// The object that a text is, without the member of this name; all else stays byte for byte.
pub(crate) fn cut(text: &str, name: &str) -> Option<String> {
    let all = members(text).ok()?;
    let at = all.iter().position(|member| member.key == name)?;
    let whole = all.get(at)?.whole.clone();
    // With the comma before it, or, where it is the first, behind it.
    let (from, to) = match (at.checked_sub(1).and_then(|before| all.get(before)), all.get(at + 1)) {
        (Some(before), _) => (before.whole.end, whole.end),
        (None, Some(next)) => (whole.start, next.whole.start),
        (None, None) => (whole.start, whole.end),
    };
    Some([text.get(..from)?, text.get(to..)?].concat())
}

/// Where the elements of the array that a text is stand. The text is known to be well formed.
pub(crate) fn elements(text: &str) -> Result<Vec<Range<usize>>, Fault> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, strict: false };
    reader.blanks();
    let mut out = Vec::new();
    if !reader.eat(b'[') {
        return Err("it is not an array".to_owned());
    }
    reader.blanks();
    if reader.eat(b']') {
        return Ok(out);
    }
    loop {
        let start = reader.at;
        reader.value(1)?;
        out.push(start..reader.at);
        reader.blanks();
        if reader.eat(b',') {
            reader.blanks();
            continue;
        }
        reader.must(b']')?;
        return Ok(out);
    }
}

/// The text of a JSON string.
pub(crate) fn string(text: &str) -> Option<String> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, strict: false };
    let out = reader.string().ok()?;
    reader.end().ok().map(|()| out)
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    strict: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn must(&mut self, byte: u8) -> Result<(), Fault> {
        if self.eat(byte) { Ok(()) } else { Err(self.wrong()) }
    }

    fn wrong(&self) -> Fault {
        format!("it is not JSON (byte {})", self.at)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn end(&mut self) -> Result<(), Fault> {
        self.blanks();
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.wrong()) }
    }

    fn value(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > MOST_DEPTH {
            return Err(format!("it is nested deeper than {MOST_DEPTH}"));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.skip_string().map(|_| ()),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        match self.bytes.get(self.at..self.at + word.len()) == Some(word.as_bytes()) {
            true => self.at += word.len(),
            false => return Err(self.wrong()),
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.wrong());
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        let _ = self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<(), Fault> {
        self.must(b'[')?;
        self.blanks();
        if self.eat(b']') {
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            self.blanks();
            if self.eat(b']') {
                return Ok(());
            }
            self.must(b',')?;
            self.blanks();
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), Fault> {
        self.must(b'{')?;
        self.blanks();
        if self.eat(b'}') {
            return Ok(());
        }
        let mut known: HashSet<String> = HashSet::new();
        loop {
            if self.strict {
                let key = self.string()?;
                if key.contains('\0') {
                    return Err(format!("a key ends behind `{}` with a NUL", short(&folded(&key))));
                }
                if !known.insert(folded(&key)) {
                    return Err(format!("the key `{}` stands in one object twice", short(&key)));
                }
            } else {
                self.skip_string()?;
            }
            self.blanks();
            self.must(b':')?;
            self.blanks();
            self.value(depth + 1)?;
            self.blanks();
            if self.eat(b'}') {
                return Ok(());
            }
            self.must(b',')?;
            self.blanks();
        }
    }

    /// Passes a string; gives what stands between its quotes, and whether it has escapes.
    fn skip_string(&mut self) -> Result<(Range<usize>, bool), Fault> {
        self.must(b'"')?;
        let start = self.at;
        let mut escapes = false;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok((start..self.at - 1, escapes));
                }
                Some(b'\\') => {
                    escapes = true;
                    self.escape()?;
                }
                Some(0..0x20) | None => return Err(self.wrong()),
                Some(_) => self.at += 1,
            }
        }
    }

    /// One escape; a pair of surrogates is one.
    fn escape(&mut self) -> Result<char, Fault> {
        self.at += 1;
        let byte = self.peek();
        self.at += 1;
        Ok(match byte {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.hex()?;
                if !(0xD800..0xE000).contains(&first) {
                    return char::from_u32(first).ok_or_else(|| self.wrong());
                }
                let half = || "it has half of a surrogate pair".to_owned();
                if first >= 0xDC00 || !(self.eat(b'\\') && self.eat(b'u')) {
                    return Err(half());
                }
                let second = self.hex()?;
                if !(0xDC00..0xE000).contains(&second) {
                    return Err(half());
                }
                char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or_else(half)?
            }
            _ => return Err(self.wrong()),
        })
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        number.ok_or_else(|| self.wrong())
    }

    fn string(&mut self) -> Result<String, Fault> {
        let (inner, escapes) = self.skip_string()?;
        let text = self.text.get(inner.clone()).unwrap_or_default();
        if !escapes {
            return Ok(text.to_owned());
        }
        let mut out = String::with_capacity(text.len());
        let mut reader = Reader { text: self.text, bytes: self.bytes, at: inner.start, strict: false };
        let mut plain = inner.start;
        while reader.at < inner.end {
            if reader.peek() == Some(b'\\') {
                out.push_str(self.text.get(plain..reader.at).unwrap_or_default());
                out.push(reader.escape()?);
                plain = reader.at;
            } else {
                reader.at += 1;
            }
        }
        out.push_str(self.text.get(plain..inner.end).unwrap_or_default());
        Ok(out)
    }
}

fn short(key: &str) -> String {
    key.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_cut_out_and_nothing_else() {
        for (text, left) in [
            (r#"{ "a":1 , "b" : {"x":[1.0]},"c":"\u0061" }"#, r#"{ "a":1 ,"c":"\u0061" }"#),
            (r#"{"b":1, "c":2}"#, r#"{"c":2}"#),
            (r#"{"a":1,"b":2 }"#, r#"{"a":1 }"#),
            (r#"{ "b":2 }"#, "{  }"),
        ] {
            assert_eq!(cut(text, "b").unwrap().replace(" ", ""), left.replace(" ", ""), "{text}");
            assert!(strict(&cut(text, "b").unwrap()).is_ok(), "{text}");
        }
        assert_eq!((cut(r#"{"a":1}"#, "b"), cut("[]", "b")), (None, None));
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for text in [
            r#"{"name":1,"name":2}"#,
            r#"{"name":1,"Name":2}"#,
            r#"{"params":1,"paramſ":2}"#,
            r#"{"k":1,"K":2}"#,
            "{\"\u{df}\":1,\"\u{1e9e}\":2}",
            r#"{"name":1,"name\u0000":2}"#,
            r#"{"x\u0000":2}"#,
            r#"{"a":[{"b":{"c":1,"\u0063":2}}]}"#,
            r#"{"a":"\ud800"}"#,
            r#"{"a":"\udc00\ud800"}"#,
            r#"{"a":01}"#,
            r#"{"a":1,}"#,
            r#"{"a":+1}"#,
            r#"{"a":NaN}"#,
            r#"{'a':1}"#,
            r#"{"a":1}{"b":2}"#,
            "{\"a\":\"\u{1}\"}",
            "",
        ] {
            assert!(strict(text).is_err(), "{text}");
        }
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert!(strict(&deep).is_err() && strict(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn all_other_json_is_read() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"params":{"a":[1,2.5e-3,-0,true,null],"b":{}}}"#,
            r#" [ ] "#,
            r#"{"a":"\ud83d\ude00\n\/","b":"ü"}"#,
            "12345678901234567890123",
        ] {
            assert_eq!(strict(text), Ok(()), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn members_and_elements_are_where_they_stand() {
        let text = r#"{ "a\u0062" : [1, {"x":2} ] , "c":"d"}"#;
        let found = members(text).unwrap();
        assert_eq!(found.iter().map(|m| m.key.as_str()).collect::<Vec<_>>(), ["ab", "c"]);
        let inner = text.get(found[0].value.clone()).unwrap();
        assert_eq!(
            elements(inner).unwrap().into_iter().map(|r| inner.get(r).unwrap()).collect::<Vec<_>>(),
            ["1", r#"{"x":2}"#]
        );
        assert_eq!(string(text.get(found[1].value.clone()).unwrap()).as_deref(), Some("d"));
    }

    #[test]
    fn it_agrees_with_another_reader() {
        let seeds = [r#"{"a":[1,"x\n",{"b":null}],"c":-1.5e3}"#, r#"[["\u00e9\ud83d\ude00",0.1,false],{}]"#];
        let mut state = 7u64;
        for round in 0..60_000usize {
            let mut bytes = seeds[round % seeds.len()].as_bytes().to_vec();
            for _ in 0..=round % 3 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (at, to) = ((state >> 33) as usize % bytes.len(), (state >> 20) as usize);
                bytes[at] = br#"{}[]",:\u0e1x.-+ tn"#[to % 19];
            }
            let Ok(text) = std::str::from_utf8(&bytes) else { continue };
            let other = serde_json::from_str::<serde_json::Value>(text);
            // Numbers out of range are numbers, and it does not read a lone half of a pair either.
            if other.as_ref().is_err_and(|error| error.to_string().contains("range")) {
                continue;
            }
            assert_eq!(well_formed(text).is_ok(), other.is_ok(), "{text} {other:?}");
        }
    }
}
