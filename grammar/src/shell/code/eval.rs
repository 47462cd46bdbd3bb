//! Expressions of a code text to values, as far as they are literal, and the calls among them.
//!
//! INVARIANT: the cursor only moves forward and depth is bounded, so a reading is linear; every name, call or
//! construct that is not known makes the answer incomplete.

use super::act::Act;
use super::lex::{Kind, Part, Token, tokens};
use super::text::{Text, Value, below};
use super::{Found, Inside, Language, MAX_INSIDE, MAX_NEST};
use crate::shell::Word;
use std::collections::BTreeMap;

mod postfix;
mod statement;
mod values;

use values::{element, format_with, group, repeated};
pub(super) use values::{filled, reversed};

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

/// Whether a language is read as expressions.
pub(super) fn reads(language: Language) -> bool {
    use Language::*;
    matches!(language, Python | JavaScript | Mongo | Perl | Ruby | Php | Lua | R | Julia | Groovy)
}

/// Reads a text of one of the languages that are read as expressions.
pub(super) fn read(language: Language, code: &str, nest: usize, args: &[Word]) -> Found {
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
    reader.arguments(args);
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
    /// The names that the arguments of the call have.
    fn arguments(&mut self, args: &[Word]) {
        let Some((own, rest)) = args.split_first() else { return };
        let list = |words: &[Word]| {
            Value::List(words.iter().map(|word| Value::Text(Text::word(word.clone()))).collect()).bounded()
        };
        let name = match self.language {
            Language::Python => "sys.argv",
            Language::Perl => "@ARGV",
            Language::Ruby => "ARGV",
            Language::Php => "$argv",
            Language::JavaScript => "process.argv",
            _ => return,
        };
        let value = match self.language {
            Language::Python | Language::Php => list(args),
            // Code in a flag has no name of its own there.
            Language::JavaScript => {
                let start = usize::from(own.known().is_some_and(|name| name.starts_with('-')));
                let mut all = vec![Word::Known("node".into())];
                all.extend(args.get(start..).unwrap_or_default().iter().cloned());
                list(&all)
            }
            _ => list(rest),
        };
        self.names.insert(name.to_string(), value);
    }

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
        if self.branched
            && let Some(old) = self.names.get(name).cloned()
        {
            value = self.either(old, value);
        }
        self.names.insert(name.to_string(), value);
    }

    /// One of two values; the reading is not complete when only one of them can be followed.
    fn either(&mut self, one: Value, two: Value) -> Value {
        let (value, lost) = one.or(two);
        self.complete &= !lost;
        value.bounded()
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
            if self.fresh_line()
                && matches!(op, "-" | "+" | "*" | "&" | "<" | "/" | "%")
                && self.language == Language::Python
            {
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
                    self.either(left, right)
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
                    self.either(yes, no)
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
                "-" | "^" | "==" | "!=" | "===" | "!==" | "<=" | ">=" | "<" | ">" | "**" | "<=>" | "&"
                | ">>" => {
                    self.at += 1;
                    let right = self.unary();
                    match (op, left, right) {
                        ("-", Value::Number(a), Value::Number(b)) => {
                            a.checked_sub(b).map_or(Value::unknown(), Value::Number)
                        }
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
                Some(Kind::Op(
                    "!" | "+" | "~" | "*" | "**" | "..." | "\\" | "++" | "--" | "&" | "@" | "$" | "..",
                )) => {}
                Some(Kind::Name(name)) => match name.as_str() {
                    "not" | "typeof" | "void" | "defined" | "await" | "return" | "yield" | "my" | "our"
                    | "local" | "const" | "let" | "var" | "final" => {}
                    "new"
                        if matches!(
                            self.language,
                            Language::JavaScript | Language::Mongo | Language::Php | Language::Groovy
                        ) => {}
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
        let element = name.strip_prefix('$').filter(|_| self.is("[")).map(|name| format!("@{name}"));
        let found = self.names.get(&name).or_else(|| self.names.get(element.as_deref()?));
        if let Some(value) = found {
            // An imported name of something that is known.
            return match value {
                Value::Name(full) => self.names.get(full).unwrap_or(value).clone(),
                value => value.clone(),
            };
        }
        match name.as_str() {
            "True" | "true" | "TRUE" => Value::Flag(true),
            "False" | "false" | "FALSE" | "None" | "null" | "nil" | "undefined" | "undef" | "NULL" => {
                Value::Flag(false)
            }
            // A variable that nothing sets here.
            _ if name.starts_with('$')
                && matches!(self.language, Language::Perl | Language::Php)
                && self.find(&name).is_none() =>
            {
                Value::unknown()
            }
            _ => Value::Name(name.trim_start_matches('&').to_string()),
        }
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
            } else {
                self.complete = false;
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
