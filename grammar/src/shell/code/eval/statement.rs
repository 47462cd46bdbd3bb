//! Statements around the expressions: imports, assignments, loops.
//!
//! INVARIANT: a statement that is not known is read as the expressions in it, and the answer is incomplete.

use super::super::act::Act;
use super::super::lex::Kind;
use super::super::text::{Text, Value};
use super::super::{Language, MAX_INSIDE};
use super::{Reader, element};

impl Reader {
    /// Binds the names of loops that stand behind what they repeat (`[f(x) for x in y]`).
    pub(super) fn foresee(&mut self) {
        if !matches!(self.language, Language::Python | Language::Perl | Language::Julia) {
            return;
        }
        let (complete, many, later) = (self.complete, self.out.len() > MAX_INSIDE, self.later.len());
        let mut left = 64;
        for at in 1..self.tokens.len() {
            let late = match self.tokens.get(at).map(|token| (&token.kind, token.line)) {
                Some((Kind::Name(name), false)) => name == "for" || name == "foreach",
                _ => false,
            };
            let first =
                matches!(self.tokens.get(at - 1).map(|t| &t.kind), Some(Kind::Op(";" | "{" | "}" | ":")));
            if !late || first || left == 0 || many {
                continue;
            }
            left -= 1;
            let before = self.out.len();
            self.at = at + 1;
            let name = match self.language {
                Language::Perl => Some("$_".to_string()),
                _ => match (self.take_name(), self.eat_name("in")) {
                    (Some(name), true) => Some(name),
                    _ => None,
                },
            };
            if let Some(name) = name {
                let value = self.expr();
                self.names.insert(name, element(&value).bounded());
            }
            self.out.truncate(before);
        }
        self.later.truncate(later);
        self.at = 0;
        self.complete = complete;
    }

    pub(super) fn statement(&mut self) {
        if let Some(Kind::Op(op)) = self.peek()
            && matches!(*op, ";" | "}" | ")" | "]" | "," | ":" | "|" | "?")
        {
            self.at += 1;
            return;
        }
        self.element(true);
    }

    /// A statement or expression.
    pub(super) fn element(&mut self, statements: bool) -> Value {
        if statements && self.keyword() {
            return Value::Flag(false);
        }
        if let Some(value) = self.assignment() {
            return value;
        }
        self.expr()
    }

    /// A word that begins a statement; whether it was passed over.
    fn keyword(&mut self) -> bool {
        use Language::*;
        let Some(name) = self.name().map(str::to_string) else { return false };
        if self.ahead_is(1, ".") || self.ahead_is(1, "=") || self.names.contains_key(&name) {
            return false;
        }
        match (self.language, name.as_str()) {
            (Python, "import") => self.import(),
            (Python, "from") => self.import_from(),
            (Python, "with") => {
                self.at += 1;
                self.complete = false;
                let value = self.expr();
                if self.eat_name("as")
                    && let Some(name) = self.take_name()
                {
                    self.bind(&name, value);
                }
            }
            (JavaScript, "import") if !self.ahead_is(1, "(") => self.module_import(),
            (JavaScript | Mongo, "const" | "let" | "var") => {
                self.at += 1;
                if self.is("{") || self.is("[") {
                    self.destructured();
                }
            }
            (Perl | Php | Ruby, "use") | (Perl, "no") => {
                self.complete = false;
                self.at += 1;
                while !self.is(";") && self.at < self.tokens.len() {
                    self.at += 1;
                }
            }
            (Ruby, "include" | "extend") => {
                self.complete = false;
                self.at += 1;
                if let Some(module) = self.take_name() {
                    self.stars.push(module);
                }
            }
            (_, "for" | "foreach") => self.looped(),
            (
                _,
                "def" | "class" | "function" | "sub" | "fn" | "async" | "try" | "macro" | "struct" | "module",
            ) if self.knows.control.contains(&name.as_str()) => {
                self.complete = false;
                self.at += 1;
                // The name and the parameters say nothing.
                if matches!(self.peek(), Some(Kind::Name(_))) && name != "try" && name != "async" {
                    self.at += 1;
                }
            }
            (_, word) if self.knows.control.contains(&word) => {
                self.branched |=
                    matches!(word, "if" | "else" | "elif" | "elsif" | "unless" | "case" | "except" | "when");
                self.at += 1;
            }
            _ => return false,
        }
        true
    }

    fn dotted(&mut self) -> Option<String> {
        let mut name = self.take_name()?;
        while self.is(".") {
            self.at += 1;
            name.push('.');
            name.push_str(&self.take_name().unwrap_or_default());
        }
        Some(name)
    }

    /// `import a.b as c, d`.
    fn import(&mut self) {
        self.at += 1;
        while let Some(module) = self.dotted() {
            self.complete &= matches!(module.as_str(), "sys" | "os" | "time" | "builtins");
            if self.eat_name("as")
                && let Some(name) = self.take_name()
            {
                self.bind(&name, Value::Name(module));
            }
            if !self.eat(",") {
                break;
            }
        }
    }

    /// `from a.b import c as d, e`.
    fn import_from(&mut self) {
        self.at += 1;
        self.complete = false;
        let module = self.dotted().unwrap_or_default();
        if !self.eat_name("import") {
            return;
        }
        if self.eat("*") {
            return self.stars.push(module);
        }
        let parens = self.eat("(");
        while let Some(name) = self.take_name() {
            let full = Value::Name(format!("{module}.{name}"));
            let local = if self.eat_name("as") { self.take_name() } else { None };
            self.bind(&local.unwrap_or(name), full);
            if !self.eat(",") {
                break;
            }
        }
        if parens {
            self.eat(")");
        }
    }

    /// `import x, {a as b}, * as c from "m"`.
    fn module_import(&mut self) {
        self.at += 1;
        self.complete = false;
        let mut found: Vec<(String, Option<String>)> = Vec::new();
        let mut left = 64;
        while left > 0 && !matches!(self.peek(), None | Some(Kind::Text(_))) {
            left -= 1;
            if self.eat("*") && self.eat_name("as") {
                found.extend(self.take_name().map(|name| (name, None)));
            } else if self.eat("{") {
                while let Some(name) = self.take_name() {
                    let local = if self.eat_name("as") { self.take_name() } else { None };
                    found.push((local.unwrap_or_else(|| name.clone()), Some(name)));
                    self.eat(",");
                }
                self.eat("}");
            } else if self.name().is_some_and(|name| name != "from") {
                found.extend(self.take_name().map(|name| (name, None)));
            } else {
                self.at += 1;
            }
        }
        if let Some(Kind::Text(parts)) = self.peek().cloned() {
            self.at += 1;
            let module = super::super::javascript::module(&super::super::lex::plain(&parts));
            for (local, name) in found {
                let full = match name {
                    Some(name) => format!("{module}.{name}"),
                    None => module.clone(),
                };
                self.bind(&local, Value::Name(full));
            }
        }
    }

    /// `{a, b: c} = EXPR` of JavaScript.
    fn destructured(&mut self) {
        let start = self.at;
        let mut found: Vec<(String, String)> = Vec::new();
        self.at += 1;
        while let Some(name) = self.take_name() {
            let local = if self.eat(":") { self.take_name() } else { None };
            found.push((local.unwrap_or_else(|| name.clone()), name));
            if self.eat("=") {
                self.expr();
            }
            if !self.eat(",") {
                break;
            }
        }
        if !(self.eat("}") || self.eat("]")) || !self.eat("=") {
            self.at = self.at.max(start + 1);
            self.complete = false;
            return;
        }
        let value = self.expr();
        for (local, name) in found {
            let member = match &value {
                Value::Name(base) => Value::Name(format!("{base}.{name}")),
                other => self.index(other.clone(), Value::known(name)),
            };
            self.bind(&local, member);
        }
    }

    /// The head of a loop: the name gets one element at a time.
    fn looped(&mut self) {
        self.at += 1;
        self.eat_name("await");
        let parens = self.eat("(");
        if self.language == Language::Php {
            let value = self.expr();
            if self.eat_name("as") {
                let mut name = self.take_name();
                if self.eat("=>") {
                    name = self.take_name();
                }
                if let Some(name) = name {
                    self.bind(&name, element(&value));
                }
            }
            return;
        }
        while ["my", "our", "const", "let", "var", "local", "final", "def"]
            .iter()
            .any(|word| self.eat_name(word))
        {}
        let start = self.at;
        let mut names = Vec::new();
        self.eat("(");
        while let Some(name) = self.take_name() {
            names.push(name);
            if !self.eat(",") {
                break;
            }
        }
        self.eat(")");
        let list = match self.language {
            Language::Perl => self.is("(") || parens && names.is_empty(),
            _ => {
                self.eat_name("in")
                    || self.eat_name("of")
                    || self.eat(":")
                    || self.language == Language::Julia && self.eat("=")
            }
        };
        if !list {
            self.at = start;
            if self.language == Language::Perl && parens {
                let value = self.listed(")");
                self.bind("$_", element(&value));
            }
            return;
        }
        let value = if self.language == Language::Perl {
            let closed = self.eat("(");
            let value = self.listed(if closed || parens { ")" } else { ";" });
            names.push("$_".to_string());
            names.truncate(1);
            value
        } else {
            self.expr()
        };
        // `for k, v in pairs(t)`: the last name is the element.
        if let Some((last, others)) = names.split_last() {
            for name in others {
                let mut text = Text::unknown();
                value.mark(&mut text);
                self.bind(name, Value::Text(text));
            }
            self.bind(last, element(&value));
        }
    }

    /// The values up to a closing bracket.
    fn listed(&mut self, close: &str) -> Value {
        let items = self.items(close);
        super::group(items)
    }

    /// `NAME = EXPR` and its kin; the value.
    fn assignment(&mut self) -> Option<Value> {
        let start = self.at;
        let mut names: Vec<String> = Vec::new();
        let parens = self.is("(") && self.language == Language::Perl;
        self.at += usize::from(parens);
        let op = loop {
            self.eat_name("my");
            match self.peek() {
                Some(Kind::Name(name)) if names.len() < 8 => names.push(name.clone()),
                _ => break None,
            }
            self.at += 1;
            if parens && self.eat(")") {
                break self.assign_op();
            }
            // `x: str = ...` of Python.
            if self.language == Language::Python
                && names.len() == 1
                && self.is(":")
                && self.ahead_is(2, "=")
                && self.begins(start)
            {
                self.at += 2;
            }
            match self.assign_op() {
                Some(op) => break Some(op),
                None if self.is(",") => self.at += 1,
                None => break None,
            }
        };
        let Some(op) = op else {
            self.at = start;
            return None;
        };
        if self.depth >= super::MAX_DEPTH {
            self.complete = false;
            return Some(Value::unknown());
        }
        self.at += 1;
        self.depth += 1;
        let mut value = self.element(false);
        self.depth -= 1;
        if names.len() > 1 && self.is(",") {
            let mut values = vec![value];
            while self.eat(",") {
                values.push(self.expr());
            }
            value = Value::List(values);
        }
        match (names.as_slice(), value) {
            ([name], value) => {
                let value = match op {
                    "+=" | ".=" => match self.names.get(name).cloned() {
                        Some(old) => self.plus("+", old, value),
                        None => Value::Text(Text::unknown().join(&value.text())),
                    },
                    "||=" | "??=" | "-=" | "*=" => Value::unknown(),
                    _ => value,
                };
                // What shadows a known function is not known any more.
                if matches!(self.find(name), Some(act) if !matches!(act, Act::Fixed(_))) {
                    self.complete = false;
                }
                self.bind(name, value.clone());
                Some(value)
            }
            (names, Value::List(values)) if names.len() == values.len() => {
                for (name, value) in names.iter().zip(values) {
                    self.bind(name, value);
                }
                Some(Value::unknown())
            }
            (names, value) => {
                for name in names {
                    let mut text = Text::unknown();
                    value.mark(&mut text);
                    self.bind(name, Value::Text(text));
                }
                Some(value)
            }
        }
    }

    /// Whether a statement begins with the token at a place.
    fn begins(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.tokens.get(at)).map(|token| &token.kind);
        self.tokens.get(at).is_some_and(|token| token.line) || matches!(before, None | Some(Kind::Op(";")))
    }

    fn assign_op(&self) -> Option<&'static str> {
        match self.peek() {
            Some(Kind::Op(op)) => match *op {
                "=" | ":=" | "+=" | ".=" | "||=" | "??=" | "-=" | "*=" => Some(*op),
                "<-" | "<<-" if self.language == Language::R => Some(*op),
                _ => None,
            },
            _ => None,
        }
    }
}
