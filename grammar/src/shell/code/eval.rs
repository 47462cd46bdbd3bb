//! Expressions of a code text to values, as far as they are literal, and the calls among them.
//!
//! INVARIANT: the cursor only moves forward and depth is bounded, so a reading is linear; every name, call or
//! construct that is not known makes the answer incomplete.

use super::act::{Act, Fixed};
use super::lex::{Kind, Part, Token, tokens};
use super::text::{Text, Value, below};
use super::{Found, Inside, Language, MAX_INSIDE, MAX_NEST};
use crate::shell::Word;
use std::collections::BTreeMap;

mod statement;

/// Deepest nesting of expressions.
const MAX_DEPTH: usize = 40;
/// Most texts inside a text that are evaluated, and names that are remembered.
const MAX_LATER: usize = 16;
const MAX_NAMES: usize = 512;

/// An argument of a call or an entry of a literal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arg {
    pub(super) name: Option<String>,
    pub(super) value: Value,
}

/// What is known of a language: its functions, and the words that are no names.
pub(super) struct Knowledge {
    /// Functions by their dotted name; `.x` is a method of any value, `*.x` anything whose last part is that.
    pub(super) acts: &'static [(&'static str, Act)],
    /// Words that steer and do nothing of their own.
    pub(super) control: &'static [&'static str],
    /// Calls need no parentheses.
    pub(super) bare_calls: bool,
    /// Beginnings of names that say nothing (`builtins.`).
    pub(super) prefixes: &'static [&'static str],
    /// What runs a text of this language from a pipe.
    pub(super) interpreter: &'static str,
}

/// Reads one text.
pub(super) struct Reader {
    pub(super) language: Language,
    pub(super) knows: &'static Knowledge,
    tokens: Vec<Token>,
    at: usize,
    pub(super) names: BTreeMap<String, Value>,
    /// Modules all of whose names are there without it.
    pub(super) stars: Vec<String>,
    pub(super) out: Vec<Inside>,
    pub(super) complete: bool,
    depth: usize,
    /// Texts that the code runs as code.
    pub(super) later: Vec<String>,
    /// A value that a block gets one element of at a time.
    each: Option<Value>,
    /// A branch was seen: a name may keep its older value.
    branched: bool,
    /// A connection, and whether a shell was started: together a shell for the other side.
    pub(super) socket: Option<(Word, Word, bool)>,
    /// Where the last request went.
    pub(super) peer: Option<Word>,
    pub(super) shell: bool,
}

/// Reads a text of one of the languages that are read as expressions.
pub(super) fn read(language: Language, code: &str, nest: usize) -> Found {
    let knows = match language {
        Language::Python => &super::python::KNOWS,
        Language::JavaScript => &super::javascript::KNOWS,
        Language::Mongo => &super::javascript::MONGO,
        Language::Perl => &super::perl::KNOWS,
        Language::Ruby => &super::ruby::KNOWS,
        Language::Php => &super::php::KNOWS,
        Language::Lua => &super::script::LUA,
        Language::R => &super::science::R,
        Language::Julia => &super::science::JULIA,
        _ => &super::script::GROOVY,
    };
    let mut reader = Reader {
        language,
        knows,
        tokens: Vec::new(),
        at: 0,
        names: BTreeMap::new(),
        stars: Vec::new(),
        out: Vec::new(),
        complete: true,
        depth: 0,
        later: Vec::new(),
        each: None,
        branched: false,
        socket: None,
        peer: None,
        shell: false,
    };
    reader.text(code);
    let mut level = nest;
    while !reader.later.is_empty() {
        level += 1;
        let texts = std::mem::take(&mut reader.later);
        reader.complete = false;
        if level > MAX_NEST {
            break;
        }
        for text in texts {
            reader.text(&text);
        }
    }
    reader.connection();
    Found { complete: reader.complete && reader.out.len() <= MAX_INSIDE, inside: reader.out }
}

impl Reader {
    /// Reads a whole text with the names that are known so far.
    fn text(&mut self, code: &str) {
        let tokens = tokens(self.language, code);
        self.complete &= !tokens.broken;
        let outer = (std::mem::replace(&mut self.tokens, tokens.list), std::mem::replace(&mut self.at, 0));
        self.foresee();
        while self.at < self.tokens.len() {
            let before = self.at;
            self.statement();
            if self.at == before {
                self.at += 1;
            }
        }
        (self.tokens, self.at) = outer;
    }

    /// The value of the source of an expression inside a text.
    fn hole(&mut self, code: &str) -> Value {
        if self.depth >= MAX_DEPTH {
            self.complete = false;
            return Value::unknown();
        }
        // Nested texts count as several levels, so that their tokens are split only a few times.
        self.depth += 8;
        let tokens = tokens(self.language, code);
        self.complete &= !tokens.broken;
        let outer = (std::mem::replace(&mut self.tokens, tokens.list), std::mem::replace(&mut self.at, 0));
        let mut value = Value::unknown();
        while self.at < self.tokens.len() {
            let before = self.at;
            value = self.element(false);
            if self.at == before {
                self.at += 1;
            }
        }
        (self.tokens, self.at) = outer;
        self.depth -= 8;
        value
    }

    pub(super) fn does(&mut self, inside: Inside) {
        if self.out.len() > MAX_INSIDE {
            self.complete = false;
        } else if self.out.last() != Some(&inside) {
            self.out.push(inside);
        }
    }

    pub(super) fn later(&mut self, text: String) {
        self.complete = false;
        if self.later.len() < MAX_LATER {
            self.later.push(text);
        }
    }

    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn ahead(&self, by: usize) -> Option<&Kind> {
        self.tokens.get(self.at + by).map(|token| &token.kind)
    }

    fn is(&self, op: &str) -> bool {
        matches!(self.peek(), Some(Kind::Op(o)) if *o == op)
    }

    fn ahead_is(&self, by: usize, op: &str) -> bool {
        matches!(self.ahead(by), Some(Kind::Op(o)) if *o == op)
    }

    fn eat(&mut self, op: &str) -> bool {
        let found = self.is(op);
        self.at += usize::from(found);
        found
    }

    fn name(&self) -> Option<&str> {
        match self.peek() {
            Some(Kind::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn eat_name(&mut self, name: &str) -> bool {
        let found = self.name() == Some(name);
        self.at += usize::from(found);
        found
    }

    fn take_name(&mut self) -> Option<String> {
        let name = self.name()?.to_string();
        self.at += 1;
        Some(name)
    }

    /// Whether the next token is the first on its line.
    fn fresh_line(&self) -> bool {
        self.tokens.get(self.at).is_none_or(|token| token.line)
    }

    pub(super) fn bind(&mut self, name: &str, value: Value) {
        if self.names.len() >= MAX_NAMES && !self.names.contains_key(name) {
            self.complete = false;
            return;
        }
        let mut value = value.bounded();
        if self.branched && let Some(old) = self.names.get(name) {
            value = old.clone().or(value);
        }
        self.names.insert(name.to_string(), value);
    }

    /// A whole expression.
    pub(super) fn expr(&mut self) -> Value {
        if self.depth >= MAX_DEPTH {
            self.complete = false;
            self.at += 1;
            return Value::unknown();
        }
        self.depth += 1;
        let mut left = self.unary();
        while let Some(kind) = self.peek() {
            let op = match kind {
                Kind::Op(op) => *op,
                Kind::Name(name) => match name.as_str() {
                    "or" => "||",
                    "and" => "&&",
                    "if" | "else" | "unless" if self.language == Language::Python || name != "else" => {
                        if self.language != Language::Python || self.fresh_line() {
                            break;
                        }
                        "||"
                    }
                    "x" if self.language == Language::Perl => "*",
                    "in" | "is" | "not" | "eq" | "ne" | "lt" | "gt" | "le" | "ge" | "instanceof" | "div"
                        if self.knows.control.contains(&name.as_str()) =>
                    {
                        "=="
                    }
                    _ => break,
                },
                Kind::Pattern(code) if self.language == Language::Perl => {
                    self.complete &= !code;
                    break;
                }
                _ => break,
            };
            if self.fresh_line() && matches!(op, "-" | "+" | "*" | "&" | "<" | "/" | "%") && self.language == Language::Python {
                break;
            }
            left = match op {
                "+" | "." | ".." | "<>" => {
                    self.at += 1;
                    let right = self.unary();
                    self.plus(op, left, right)
                }
                "||" | "??" => {
                    self.at += 1;
                    let right = self.unary();
                    left.or(right)
                }
                "&&" => {
                    self.at += 1;
                    self.unary()
                }
                "?" => {
                    self.at += 1;
                    let yes = self.expr();
                    self.eat(":");
                    let no = self.expr();
                    yes.or(no)
                }
                "%" => {
                    self.at += 1;
                    let right = self.unary();
                    format_with(left, &right)
                }
                "/" => {
                    self.at += 1;
                    let right = self.unary();
                    match left {
                        Value::Path(folder) => Value::Path(below(&folder, &right.text())),
                        _ => Value::unknown(),
                    }
                }
                "*" => {
                    self.at += 1;
                    let right = self.unary();
                    match (self.language, &left, &right) {
                        (Language::Julia, Value::Text(_), Value::Text(_)) => self.plus("+", left, right),
                        (_, Value::Text(text), Value::Number(times)) => repeated(text, *times),
                        _ => Value::unknown(),
                    }
                }
                "-" | "^" | "==" | "!=" | "===" | "!==" | "<=" | ">=" | "<" | ">" | "**" | "<=>" | "&" | ">>" => {
                    self.at += 1;
                    let right = self.unary();
                    match (op, left, right) {
                        ("-", Value::Number(a), Value::Number(b)) => a.checked_sub(b).map_or(Value::unknown(), Value::Number),
                        (">>" | "<<", left, _) => left,
                        _ => Value::Flag(true),
                    }
                }
                "<<" => {
                    self.at += 1;
                    let right = self.unary();
                    // `file << TEXT`, `out << TEXT`: appended.
                    if right != Value::Flag(true) {
                        self.complete = false;
                    }
                    left
                }
                "=~" | "!~" => {
                    self.at += 1;
                    match self.peek().cloned() {
                        Some(Kind::Pattern(code)) => {
                            self.complete &= !code;
                            self.at += 1;
                        }
                        _ => {
                            self.unary();
                        }
                    }
                    Value::Flag(true)
                }
                // `MAP { BLOCK } => x`, arrows, pipes of values: what follows is read on its own.
                "=>" | "->" | "|>" | "%>%" | "|" | "^=" => {
                    self.at += 1;
                    self.complete = false;
                    self.unary()
                }
                "=" | "+=" | ".=" | "||=" | "-=" | "*=" | "??=" | "<-" | ":=" | "<<-" => {
                    // An element or member is changed.
                    self.at += 1;
                    let right = self.expr();
                    if matches!(left, Value::Name(_)) {
                        self.complete = false;
                    }
                    right
                }
                "++" | "--" => {
                    self.at += 1;
                    left
                }
                _ => break,
            };
        }
        self.depth -= 1;
        left
    }

    fn plus(&mut self, op: &str, left: Value, right: Value) -> Value {
        match (left, right) {
            (Value::Number(a), Value::Number(b)) if op == "+" => {
                a.checked_add(b).map_or(Value::unknown(), Value::Number)
            }
            (Value::List(mut a), Value::List(b)) => {
                a.extend(b);
                Value::List(a).bounded()
            }
            (Value::Path(a), b) => Value::Path(a.join(&b.text())),
            (a, b) => Value::Text(a.text().join(&b.text())),
        }
    }

    /// An operand with what stands before it.
    fn unary(&mut self) -> Value {
        let mut minus = false;
        let start = self.at;
        loop {
            match self.peek() {
                Some(Kind::Op("-")) => minus = !minus,
                Some(Kind::Op("!" | "+" | "~" | "*" | "**" | "..." | "\\" | "++" | "--" | "&" | "@" | "$" | "..")) => {}
                Some(Kind::Name(name)) => match name.as_str() {
                    "not" | "typeof" | "void" | "defined" | "await" | "return" | "yield" | "my" | "our" | "local"
                    | "const" | "let" | "var" | "final" => {}
                    "new" if matches!(self.language, Language::JavaScript | Language::Mongo | Language::Php | Language::Groovy) => {}
                    "async" | "function" | "sub" | "fn" if !self.ahead_is(1, ".") => self.complete = false,
                    "lambda" if self.language == Language::Python => {
                        self.complete = false;
                        while !matches!(self.peek(), None | Some(Kind::Op(":"))) && self.at < start + 24 {
                            self.at += 1;
                        }
                    }
                    _ => break,
                },
                _ => break,
            }
            self.at += 1;
        }
        match self.operand() {
            Value::Number(number) if minus => number.checked_neg().map_or(Value::unknown(), Value::Number),
            Value::Text(text) if minus && self.language == Language::Perl => Value::Text(text),
            value => value,
        }
    }

    fn operand(&mut self) -> Value {
        let Some(kind) = self.peek().cloned() else { return Value::unknown() };
        let value = match kind {
            Kind::Text(parts) => {
                self.at += 1;
                let mut value = self.parts(&parts);
                // Literals side by side are one.
                while let Some(Kind::Text(parts)) = self.peek().cloned() {
                    if !matches!(self.language, Language::Python | Language::Ruby) {
                        break;
                    }
                    self.at += 1;
                    let next = self.parts(&parts);
                    value = self.plus(".", value, next);
                }
                value
            }
            Kind::Shell(parts) => {
                self.at += 1;
                let value = self.parts(&parts);
                match self.language {
                    // A command literal of Julia runs only when it is given to something.
                    Language::Julia => {
                        let text = value.text();
                        let words = crate::shell::simple::split_words(text.word.known().unwrap_or_default());
                        let words = words.unwrap_or_default().into_iter();
                        self.act_shell(&text);
                        Value::List(words.map(|word| Value::Text(Text::word(word))).collect())
                    }
                    _ => self.act_shell(&value.text()),
                }
            }
            Kind::Words(words) => {
                self.at += 1;
                match words.first().and_then(|word| word.strip_prefix("\u{0}glob\u{0}")) {
                    Some(pattern) => Value::Text(super::text::pattern(&super::text::expanded(&Text::word(
                        Word::Known(pattern.to_string()),
                    )))),
                    None => Value::List(words.into_iter().map(Value::known).collect()).bounded(),
                }
            }
            Kind::Number(number) => {
                self.at += 1;
                number.map_or(Value::Flag(true), Value::Number)
            }
            Kind::Pattern(code) => {
                self.at += 1;
                self.complete &= !code;
                Value::Flag(true)
            }
            Kind::Replacement(code) => {
                self.at += 1;
                self.hole(&code);
                Value::Flag(true)
            }
            Kind::Name(name) => {
                self.at += 1;
                self.named(name)
            }
            Kind::Op("(") => {
                self.at += 1;
                let items = self.items(")");
                group(items)
            }
            Kind::Op("[") => {
                self.at += 1;
                let items = self.items("]");
                match group(items) {
                    list @ (Value::List(_) | Value::Table(_)) => list,
                    one => Value::List(vec![one]),
                }
            }
            Kind::Op("{") => {
                self.at += 1;
                self.block_names();
                let items = self.items("}");
                let table: Vec<(String, Value)> =
                    items.iter().filter_map(|arg| Some((arg.name.clone()?, arg.value.clone()))).collect();
                match (self.language, table.is_empty()) {
                    // `{"a", "b"}` of Lua is a list.
                    (Language::Lua | Language::Python, true) => {
                        Value::List(items.into_iter().map(|arg| arg.value).collect()).bounded()
                    }
                    _ => Value::Table(table).bounded(),
                }
            }
            // What cannot begin an operand is left to the caller.
            Kind::Op(_) => {
                self.complete = false;
                return Value::unknown();
            }
        };
        self.postfix(value)
    }

    /// The value of a text literal.
    fn parts(&mut self, parts: &[Part]) -> Value {
        let mut text = Text::word(Word::Known(String::new()));
        for part in parts {
            text = match part {
                Part::Text(literal) if text.word.known() == Some("") => {
                    Text { word: Word::Known(literal.clone()), ..text }
                }
                Part::Text(literal) => text.join(&Text::word(Word::Known(literal.clone()))),
                Part::Code(code) => {
                    let value = self.hole(code);
                    text.join(&value.text())
                }
            };
        }
        Value::Text(text)
    }

    /// A name in an expression.
    fn named(&mut self, name: String) -> Value {
        if let Some(value) = self.names.get(&name) {
            return value.clone();
        }
        match name.as_str() {
            "True" | "true" | "TRUE" => Value::Flag(true),
            "False" | "false" | "FALSE" | "None" | "null" | "nil" | "undefined" | "undef" | "NULL" => {
                Value::Flag(false)
            }
            _ => Value::Name(name.trim_start_matches('&').to_string()),
        }
    }

    /// What stands behind an operand: members, calls, subscripts.
    fn postfix(&mut self, mut value: Value) -> Value {
        loop {

            let end = Token { kind: Kind::Op(";"), spaced: true, line: true };
            let token = self.tokens.get(self.at).unwrap_or(&end);
            let (line, spaced) = (token.line, token.spaced);
            match token.kind.clone() {
                Kind::Op("." | "?." | "::" | "->") if self.member_follows() => {
                    let optional_call = self.ahead_is(1, "(") || self.ahead_is(1, "[") || self.ahead_is(1, "{");
                    self.at += 1;
                    if optional_call {
                        continue;
                    }
                    let name = self.take_name().unwrap_or_default();
                    value = self.member(value, &name);
                }
                Kind::Op(":") if self.language == Language::Lua && matches!(self.ahead(1), Some(Kind::Name(_))) => {
                    self.at += 1;
                    let name = self.take_name().unwrap_or_default();
                    value = self.member(value, &name);
                }
                Kind::Op("(") if !line => {
                    self.at += 1;
                    let args = self.items(")");
                    value = self.call(value, args);
                }
                Kind::Op("[") if !line && !(spaced && self.knows.bare_calls && matches!(value, Value::Name(_))) => {
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
                Kind::Text(parts) if self.language == Language::JavaScript && !spaced && matches!(value, Value::Name(_)) => {
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

    fn member_follows(&self) -> bool {
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

    fn subscripted(&self, value: &Value) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map(|token| &token.kind);
        match before {
            Some(Kind::Name(name)) => name.starts_with('$') && matches!(value, Value::Name(_)),
            Some(Kind::Op("->" | "]" | "}")) => true,
            _ => false,
        }
    }

    fn member(&mut self, value: Value, name: &str) -> Value {
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
                if self.each_method(name) {
                    self.each = None;
                }
                Value::Name(full)
            }
            Value::Table(entries) if !self.is("(") => {
                entries.iter().find(|(key, _)| key == name).map_or(Value::unknown(), |(_, value)| value.clone())
            }
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

    fn each_method(&self, name: &str) -> bool {
        matches!(name, "forEach" | "map" | "each" | "filter" | "for_each" | "each_entry" | "flatMap" | "collect")
    }

    /// A block behind a call: `{ |x| ... }`, `do |x| ... end`.
    fn block_after(&mut self) {
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
    fn block_names(&mut self) {
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
    fn bare_call(&mut self, name: &str) -> Option<Value> {
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

    fn bare_args(&mut self) -> Vec<Arg> {
        let mut args = Vec::new();
        loop {
            let starts = match self.tokens.get(self.at) {
                Some(token) if token.line && args.is_empty() => false,
                Some(Token { kind: Kind::Name(name), .. }) => {
                    !matches!(
                        name.as_str(),
                        "if" | "unless" | "for" | "foreach" | "while" | "until" | "and" | "or" | "do" | "then"
                            | "end" | "x" | "eq" | "ne" | "else" | "elsif" | "rescue" | "xor" | "cmp" | "not" | "in"
                    )
                }
                Some(Token { kind: Kind::Op(op), spaced, .. }) => {
                    matches!(*op, "[") && *spaced || matches!(*op, "\\" | "$" | "*" | "-") && *spaced && !self.ahead_spaced()
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
            if let (Some(Kind::Name(key)), true) = (self.peek().cloned(), self.ahead_is(1, ":") || self.ahead_is(1, "=>")) {
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

    fn ahead_spaced(&self) -> bool {
        self.tokens.get(self.at + 1).is_none_or(|token| token.spaced)
    }

    /// The items up to a closing bracket: arguments, elements, entries, or the statements of a block.
    fn items(&mut self, close: &str) -> Vec<Arg> {
        let mut items: Vec<Arg> = Vec::new();
        while self.at < self.tokens.len() {
            if self.eat(close) {
                return items;
            }
            if self.eat(",") || self.eat(";") {
                continue;
            }
            let before = self.at;
            let name = self.key(close);
            let value = self.element(close == "}");
            if name.is_some() || items.len() < 512 {
                items.push(Arg { name, value });
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.complete = false;
        items
    }

    /// The name before the value of an entry or a named argument.
    fn key(&mut self, close: &str) -> Option<String> {
        use Language::*;
        let key = match self.peek()? {
            Kind::Name(name) => name.clone(),
            Kind::Text(parts) => super::lex::plain(parts),
            Kind::Number(Some(number)) => number.to_string(),
            _ => return None,
        };
        let Some(Kind::Op(op)) = self.ahead(1) else { return None };
        let arrow = matches!(self.language, JavaScript | Mongo | Groovy | Julia | R);
        let marks = match *op {
            ":" => self.language != Lua,
            "=>" if arrow => {
                // The parameter of an arrow function.
                if let Some(value) = self.each.take() {
                    self.names.insert(key, value);
                }
                self.complete = false;
                self.at += 2;
                return None;
            }
            "=>" => true,
            "=" => match self.language {
                Python | R | Julia => close == ")",
                Lua => close == "}",
                _ => false,
            },
            _ => false,
        };
        if !marks {
            return None;
        }
        self.at += 2;
        Some(key)
    }
}

/// The value of a constant.
fn fixed_value(fixed: Fixed) -> Value {
    match fixed {
        Fixed::Home => Value::Text(Text::word(Word::Tilde("~".into()))),
        Fixed::Environment => Value::Name("environ".into()),
        Fixed::Slash => Value::known("/"),
        Fixed::Plain => Value::Flag(true),
        Fixed::Unknown => Value::unknown(),
    }
}

/// What brackets around items stand for.
fn group(mut items: Vec<Arg>) -> Value {
    if items.iter().any(|item| item.name.is_some()) {
        let entries = items.into_iter().map(|item| (item.name.unwrap_or_default(), item.value));
        return Value::Table(entries.collect()).bounded();
    }
    if items.len() == 1 {
        return items.remove(0).value;
    }
    Value::List(items.into_iter().map(|item| item.value).collect()).bounded()
}

/// One element of a value that is gone through.
pub(super) fn element(value: &Value) -> Value {
    match value {
        Value::List(values) => {
            let mut values = values.iter().cloned();
            let first = values.next().unwrap_or_else(Value::unknown);
            values.take(32).fold(first, Value::or)
        }
        other => other.clone(),
    }
}

/// A text with its `%s` filled.
fn format_with(left: Value, right: &Value) -> Value {
    let Value::Text(text) = &left else { return Value::unknown() };
    let values = match right {
        Value::List(values) => values.clone(),
        other => vec![other.clone()],
    };
    let Some(known) = text.word.known() else {
        let mut text = text.clone();
        right.mark(&mut text);
        return Value::Text(Text { word: super::text::hole(), ..text });
    };
    filled(known, "%s", &values, text)
}

/// A text with its placeholders filled in order.
pub(super) fn filled(known: &str, mark: &str, values: &[Value], text: &Text) -> Value {
    let mut out = Text { word: Word::Known(String::new()), ..text.clone() };
    let mut values = values.iter();
    for (at, piece) in known.split(mark).enumerate() {
        if at > 64 {
            return Value::unknown();
        }
        if at > 0 {
            out = out.join(&values.next().map_or_else(Text::unknown, Value::text));
        }
        out = out.join(&Text::word(Word::Known(piece.to_string())));
    }
    for value in values {
        value.mark(&mut out);
    }
    Value::Text(out)
}

fn repeated(text: &Text, times: i64) -> Value {
    match (text.word.known(), usize::try_from(times)) {
        (Some(known), Ok(times)) if known.len().saturating_mul(times) <= 4096 => {
            Value::Text(Text { word: Word::Known(known.repeat(times)), ..text.clone() })
        }
        _ => {
            let mut out = Text::unknown();
            out.mark(text);
            Value::Text(out)
        }
    }
}

/// A text read from its end: a way to hide one.
pub(super) fn reversed(value: &Value) -> Value {
    let text = value.text();
    let word = match text.word.known() {
        Some(known) => Word::Known(known.chars().rev().collect()),
        None => super::text::hole(),
    };
    Value::Text(Text { word, decoded: true, ..text })
}
