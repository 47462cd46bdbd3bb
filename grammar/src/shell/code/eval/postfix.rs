//! What stands behind an operand: members, calls, subscripts, blocks.
//!
//! INVARIANT: each round takes at least one token, or ends.

use super::super::Language;
use super::super::act::{Act, Fixed};
use super::super::lex::{Kind, Token};
use super::super::text::{Text, Value};
use super::values::{element, fixed_value, group, reversed};
use super::{Arg, Reader};

impl Reader {
    /// What stands behind an operand: members, calls, subscripts.
    pub(super) fn postfix(&mut self, mut value: Value) -> Value {
        loop {
            let end = Token { kind: Kind::Op(";"), spaced: true, line: true };
            let token = self.tokens.get(self.at).unwrap_or(&end);
            let (line, spaced) = (token.line, token.spaced);
            match token.kind.clone() {
                Kind::Op("." | "?." | "::" | "->") if self.member_follows() => {
                    let optional_call =
                        self.ahead_is(1, "(") || self.ahead_is(1, "[") || self.ahead_is(1, "{");
                    self.at += 1;
                    if optional_call {
                        continue;
                    }
                    let name = self.take_name().unwrap_or_default();
                    value = self.member(value, &name);
                }
                Kind::Op(":")
                    if self.language == Language::Lua && matches!(self.ahead(1), Some(Kind::Name(_))) =>
                {
                    self.at += 1;
                    let name = self.take_name().unwrap_or_default();
                    value = self.member(value, &name);
                }
                Kind::Op("(") if !line => {
                    self.at += 1;
                    let args = self.items(")");
                    value = self.call(value, args);
                }
                Kind::Op("[")
                    if !(line || spaced && self.knows.bare_calls && matches!(value, Value::Name(_))) =>
                {
                    self.at += 1;
                    let reverse = self.is("::") && self.ahead_is(1, "-");
                    let args = self.items("]");
                    value = match reverse {
                        true => reversed(&value),
                        false => self.index(value, group(args)),
                    };
                }
                Kind::Op("{") if !line && self.language == Language::Perl && self.subscripted(&value) => {
                    self.at += 1;
                    let key = match (self.peek().cloned(), self.ahead_is(1, "}")) {
                        (Some(Kind::Name(name)), true) => {
                            self.at += 2;
                            Value::known(name)
                        }
                        _ => group(self.items("}")),
                    };
                    value = self.index(value, key);
                }
                Kind::Text(_) if self.language == Language::Lua && matches!(value, Value::Name(_)) => {
                    let arg = self.operand();
                    value = self.call(value, vec![Arg { name: None, value: arg }]);
                }
                Kind::Text(parts)
                    if self.language == Language::JavaScript
                        && !spaced
                        && matches!(value, Value::Name(_)) =>
                {
                    self.at += 1;
                    let arg = self.parts(&parts);
                    value = self.call(value, vec![Arg { name: None, value: arg }]);
                }
                _ => {
                    let Value::Name(name) = &value else { break };
                    let name = name.clone();
                    match self.bare_call(&name) {
                        Some(result) => value = result,
                        None => break,
                    }
                }
            }
        }
        if let Value::Name(name) = &value {
            if let Some(Act::Fixed(fixed)) = self.find(name) {
                return fixed_value(fixed);
            }
            let known = self.find(name).is_some() || self.knows.control.contains(&name.as_str());
            self.complete &= known;
        }
        value
    }

    pub(super) fn member_follows(&self) -> bool {
        match self.ahead(1) {
            Some(Kind::Name(name)) => {
                // `"a" . $x` of Perl and PHP puts texts together.
                !(self.is(".") && matches!(self.language, Language::Perl | Language::Php)
                    || name.starts_with(['$', '@']) && !self.is("->"))
            }
            Some(Kind::Op("(" | "[" | "{")) => self.is("->") || self.is("?."),
            _ => false,
        }
    }

    pub(super) fn subscripted(&self, value: &Value) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map(|token| &token.kind);
        match before {
            Some(Kind::Name(name)) => name.starts_with('$') && matches!(value, Value::Name(_)),
            Some(Kind::Op("->" | "]" | "}")) => true,
            _ => false,
        }
    }

    pub(super) fn member(&mut self, value: Value, name: &str) -> Value {
        match &value {
            Value::Name(base) => {
                if let Some(Act::Fixed(Fixed::Environment)) = self.find(base)
                    && self.find(&format!("{base}.{name}")).is_none()
                    && !self.is("(")
                {
                    return self.variable(name);
                }
                if matches!(name, "__dict__" | "promises" | "default" | "__builtins__") {
                    return value;
                }
                let full = format!("{base}.{name}");
                if let Some(value) = self.names.get(&full) {
                    return value.clone();
                }
                if self.each_method(name) {
                    self.each = None;
                }
                Value::Name(full)
            }
            Value::Table(entries) if !self.is("(") => entries
                .iter()
                .find(|(key, _)| key == name)
                .map_or(Value::unknown(), |(_, value)| value.clone()),
            _ => {
                if self.each_method(name) {
                    self.each = Some(element(&value));
                }
                let args = match self.peek() {
                    Some(Kind::Op("(")) if !self.fresh_line() => {
                        self.at += 1;
                        self.items(")")
                    }
                    _ if self.knows.bare_calls => self.bare_args(),
                    _ => {
                        // A property: only where it came from is known.
                        let mut text = Text::unknown();
                        value.mark(&mut text);
                        self.complete &= matches!(name, "length" | "size" | "stdout" | "text" | "content");
                        return match (&value, name) {
                            (Value::Path(_), "parent" | "parents" | "resolve") => Value::Path(text),
                            _ => Value::Text(text),
                        };
                    }
                };
                let result = self.method(value, name, args);
                self.block_after();
                result
            }
        }
    }

    pub(super) fn each_method(&self, name: &str) -> bool {
        matches!(
            name,
            "forEach" | "map" | "each" | "filter" | "for_each" | "each_entry" | "flatMap" | "collect"
        )
    }

    /// A block behind a call: `{ |x| ... }`, `do |x| ... end`.
    pub(super) fn block_after(&mut self) {
        if self.language != Language::Ruby && self.language != Language::Groovy {
            self.each = None;
            return;
        }
        if self.is("{") && !self.fresh_line() {
            self.at += 1;
            self.block_names();
            self.items("}");
        } else if self.eat_name("do") {
            self.block_names();
        }
        self.each = None;
    }

    /// The names that a block or arrow gets its element by.
    pub(super) fn block_names(&mut self) {
        let Some(value) = self.each.clone() else { return };
        if self.eat("|") {
            if let Some(name) = self.take_name() {
                self.names.insert(name, value);
            }
            while !self.is("|") && self.at < self.tokens.len() && !self.is("}") {
                self.at += 1;
            }
            self.eat("|");
            self.each = None;
        } else if let (Some(Kind::Name(name)), true) = (self.peek().cloned(), self.ahead_is(1, "->")) {
            self.names.insert(name, value);
            self.at += 2;
            self.each = None;
        } else if self.language == Language::Groovy {
            self.names.insert("it".to_string(), value);
            self.each = None;
        }
    }

    /// A call without parentheses: `system "x"`, `unlink $f, $g`.
    pub(super) fn bare_call(&mut self, name: &str) -> Option<Value> {
        if !self.knows.bare_calls {
            return None;
        }
        let act = self.find(name)?;
        if matches!(act, Act::Fixed(_)) {
            return None;
        }
        let args = self.bare_args();
        let value = self.call(Value::Name(name.to_string()), args);
        self.block_after();
        Some(value)
    }

    pub(super) fn bare_args(&mut self) -> Vec<Arg> {
        let mut args = Vec::new();
        loop {
            let starts = match self.tokens.get(self.at) {
                Some(token) if token.line && args.is_empty() => false,
                Some(Token { kind: Kind::Name(name), .. }) => !matches!(
                    name.as_str(),
                    "if" | "unless"
                        | "for"
                        | "foreach"
                        | "while"
                        | "until"
                        | "and"
                        | "or"
                        | "do"
                        | "then"
                        | "end"
                        | "x"
                        | "eq"
                        | "ne"
                        | "else"
                        | "elsif"
                        | "rescue"
                        | "xor"
                        | "cmp"
                        | "not"
                        | "in"
                ),
                Some(Token { kind: Kind::Op(op), spaced, .. }) => {
                    matches!(*op, "[") && *spaced
                        || matches!(*op, "\\" | "$" | "*" | "-") && *spaced && !self.ahead_spaced()
                        || matches!(*op, "{") && self.language == Language::Perl && args.is_empty()
                        || matches!(*op, "@" | "...")
                }
                Some(_) => true,
                None => false,
            };
            if !starts {
                break;
            }
            let mut name = None;
            if let (Some(Kind::Name(key)), true) =
                (self.peek().cloned(), self.ahead_is(1, ":") || self.ahead_is(1, "=>"))
            {
                self.at += 2;
                name = Some(key);
            }
            let block = self.is("{");
            let value = self.expr();
            args.push(Arg { name, value });
            if !self.eat(",") && !block {
                break;
            }
        }
        args
    }

    pub(super) fn ahead_spaced(&self) -> bool {
        self.tokens.get(self.at + 1).is_none_or(|token| token.spaced)
    }
}
