//! Expressions and words: flat tokens to a value, with everything inside them visited.
//!
//! INVARIANT: every token is visited exactly once, whatever is known of the others.

use super::methods::Target;
use super::value::{Value, concat, hole, well_known};
use super::walk::variable_name;
use super::{Around, Pair, Reader, Rule, State, Want};
use crate::shell::{Feature, Piece, Word};

/// An argument of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Argument {
    pub(super) value: Value,
    /// The unquoted text that it begins with.
    pub(super) bare: Option<String>,
    /// It is one script block, its commands not yet listed.
    pub(super) block: bool,
    /// `@name`.
    pub(super) splat: bool,
    /// A name and values joined by `:`: what stands behind the first colon.
    pub(super) behind_colon: Option<Value>,
    /// Byte range in the text.
    pub(super) range: (usize, usize),
}

/// One step of an expression.
enum Item {
    Value(Value),
    Op(String),
    Cast(String),
}

impl Reader<'_, '_> {
    /// An expression that stands as an element of a pipeline: an assignment, or a value that goes on.
    pub(super) fn expression(
        &mut self,
        pair: Pair<'_>,
        state: &mut State,
        around: &Around,
        want: Want,
    ) -> Value {
        let range = (pair.as_span().start(), pair.as_span().end());
        let parts: Vec<Pair<'_>> = pair.into_inner().collect();
        let op =
            parts.iter().find(|part| part.as_rule() == Rule::assign_op).map(|op| op.as_str().to_string());
        if let Some(op) = op {
            return self.assignment(parts, &op, range, state, around);
        }
        let (mut value, mut redirects) = (Value::none(), Vec::new());
        let mut silent = false;
        for part in parts {
            match part.as_rule() {
                Rule::expr => {
                    // `[void]$x.Add(1)`, `$i++`, and a block that nobody calls print nothing.
                    let text = part.as_str().to_lowercase();
                    silent = text.starts_with("[void]") || text.ends_with("++") || text.ends_with("--");
                    value = self.expr(part, state, around);
                }
                Rule::redirect => redirects.extend(self.redirect(part, state, around)),
                _ => {}
            }
        }
        if !silent && want == Want::Print || !redirects.is_empty() {
            self.print(&value, redirects, range, state, around);
        }
        value
    }

    fn assignment(
        &mut self,
        parts: Vec<Pair<'_>>,
        op: &str,
        range: (usize, usize),
        state: &mut State,
        around: &Around,
    ) -> Value {
        let (mut target, mut value) = (None, Value::none());
        for part in parts {
            match part.as_rule() {
                Rule::expr => target = Some(part),
                Rule::assigned => value = self.assigned(part, state, around),
                _ => {}
            }
        }
        let Some(target) = target else { return Value::none() };
        let tokens: Vec<Pair<'_>> = target.clone().into_inner().collect();
        let names: Vec<String> =
            tokens.iter().filter(|t| t.as_rule() == Rule::var).filter_map(variable_name).collect();
        let plain = tokens.iter().all(|t| match t.as_rule() {
            Rule::var => true,
            Rule::op => t.as_str() == ",",
            Rule::bracket => !t.as_str().contains(['(', '{']),
            _ => false,
        });
        let first_is_var =
            tokens.iter().find(|t| t.as_rule() != Rule::bracket).map(Pair::as_rule) == Some(Rule::var);
        match names.as_slice() {
            [name] if plain && tokens.last().map(Pair::as_rule) == Some(Rule::var) => {
                let old = state.vars.get(name).cloned();
                let new = match (op, old) {
                    ("=", _) => value,
                    ("+=", Some(old)) => add(&old, value),
                    _ => {
                        let mut unknown = Value::unknown();
                        unknown.taint(value.fetched, value.decoded);
                        unknown
                    }
                };
                self.set(name, new, range, state, around);
            }
            names => {
                // Several at once, or a property or an element of one.
                for name in names {
                    let mut unknown = Value::unknown();
                    unknown.taint(value.fetched, value.decoded);
                    if let Some(old) = state.vars.get(name) {
                        unknown.taint(old.fetched, old.decoded);
                    }
                    self.set(name, unknown, range, state, around);
                }
                if !plain {
                    let own = first_is_var && self.is_own(&tokens, state);
                    let name = target.as_str().trim().to_string();
                    self.expr(target, state, around);
                    if !own {
                        self.unresolved(&name, &value, range, state, around);
                    }
                }
            }
        }
        Value::none()
    }

    /// Whether an assignment to a part of it changes only a value that this text made.
    fn is_own(&self, tokens: &[Pair<'_>], state: &State) -> bool {
        let name = tokens.iter().find(|t| t.as_rule() == Rule::var).and_then(variable_name);
        name.is_some_and(|name| {
            state.vars.get(&name).is_some_and(|value| !value.hash.is_empty() || value.texts().is_some())
        })
    }

    fn set(&mut self, name: &str, value: Value, range: (usize, usize), state: &mut State, around: &Around) {
        if let Some(variable) = name.strip_prefix("env:") {
            let upper = variable.to_uppercase();
            if crate::shell::env::is_risky(&upper)
                || matches!(upper.as_str(), "PATH" | "PATHEXT" | "COMSPEC" | "PSMODULEPATH")
            {
                state.risky = true;
                let words = vec![
                    Word::Known("Set-Item".into()),
                    Word::Known(format!("Env:{upper}")),
                    value.joined(" "),
                ];
                self.listed(words, range, state, around);
            }
        }
        // `$alias:ls = 'rm'`, `$function:ls = { … }`: a name means something else from here on.
        if name.starts_with("alias:") || name.starts_with("function:") {
            state.redefined = true;
        }
        if state.vars.len() < 256 || state.vars.contains_key(name) {
            state.vars.insert(name.to_string(), value);
        } else {
            self.problem(range.0, "the command sets more variables than are followed");
        }
    }

    /// The value of an expression; what it calls is listed.
    pub(super) fn expr(&mut self, pair: Pair<'_>, state: &mut State, around: &Around) -> Value {
        let around = &Around { input: None, pipe: None, ..around.clone() };
        let mut items: Vec<Item> = Vec::new();
        let mut target: Option<Target> = None;
        let mut end = 0;
        for token in pair.into_inner() {
            let (start, text) = (token.as_span().start(), token.as_str());
            let next = token.as_span().end();
            let adjacent = start == end && target.is_some();
            match token.as_rule() {
                Rule::member => {
                    let on = target.take().unwrap_or_else(|| Target::value(Value::unknown(), start));
                    target = Some(self.member(on, token, state, around));
                }
                Rule::bracket if adjacent => {
                    let on = target.take().unwrap_or_else(|| Target::value(Value::unknown(), start));
                    target = Some(self.index(on, token, state, around));
                }
                Rule::bracket => {
                    flush(&mut target, &mut items);
                    self.attribute(token.clone(), state, around);
                    target = Some(Target::of_type(text, start));
                }
                Rule::op => {
                    flush(&mut target, &mut items);
                    items.push(Item::Op(text.trim().to_lowercase()));
                }
                _ => {
                    flush(&mut target, &mut items);
                    let value = self.token(token, state, around);
                    target = Some(Target::value(value, start));
                }
            }
            end = next;
        }
        flush(&mut target, &mut items);
        let mut items = items.into_iter().peekable();
        let mut left = operands(&mut items);
        while let Some(item) = items.next() {
            match item {
                Item::Op(op) => {
                    let right = operands(&mut items);
                    left = super::code::apply(&op, left, right);
                }
                Item::Cast(_) | Item::Value(_) => left = left.append(Value::unknown()),
            }
        }
        left
    }

    /// One token that is a value.
    fn token(&mut self, token: Pair<'_>, state: &mut State, around: &Around) -> Value {
        match token.as_rule() {
            Rule::string_s | Rule::here_s => Value::text(single(&token)),
            Rule::string_d | Rule::here_d => self.double(token, state, around),
            Rule::number => Value::text(token.as_str()),
            Rule::var => self.variable(&token, state),
            Rule::splat => Value::unknown(),
            Rule::paren | Rule::array => self.inside(token, state, around, Want::Value),
            Rule::sub => {
                self.w.feature(Feature::Substitution);
                self.inside(token, state, around, Want::Value)
            }
            Rule::hash => self.table(token, state, around),
            Rule::block => {
                self.block(token, state, around, Value::unknown());
                Value { block: true, items: vec![hole(true)], ..Value::default() }
            }
            Rule::quoted | Rule::paren_arg | Rule::reach => self.chained(token, state, around),
            Rule::generic => self.generic(token, state, around).value,
            Rule::bracket => {
                self.attribute(token, state, around);
                Value::unknown()
            }
            _ => Value::unknown(),
        }
    }

    /// A value with members behind it, as an argument has it.
    fn chained(&mut self, pair: Pair<'_>, state: &mut State, around: &Around) -> Value {
        let mut target: Option<Target> = None;
        for token in pair.into_inner() {
            let start = token.as_span().start();
            target = Some(match (token.as_rule(), target.take()) {
                (Rule::member | Rule::member_near, Some(on)) => self.member(on, token, state, around),
                (Rule::bracket, Some(on)) => self.index(on, token, state, around),
                _ => Target::value(self.token(token, state, around), start),
            });
        }
        target.map_or_else(Value::unknown, |t| t.value)
    }

    /// A block that something may run: its commands, with what `$_` is there.
    pub(super) fn block(&mut self, pair: Pair<'_>, state: &mut State, around: &Around, each: Value) -> Value {
        self.w.feature(Feature::Function);
        self.forget_assigned(&pair, state);
        self.forget_parameters(&pair, state);
        let old = state.vars.insert("_".to_string(), each.clone());
        state.vars.insert("psitem".to_string(), each);
        let around = Around { input: None, pipe: None, ..around.clone() };
        let out = self.inside(pair, state, &around, Want::Value);
        match old {
            Some(old) => state.vars.insert("_".to_string(), old),
            None => state.vars.remove("_"),
        };
        out
    }

    pub(super) fn variable(&mut self, token: &Pair<'_>, state: &State) -> Value {
        self.w.feature(Feature::Variable);
        let Some(name) = variable_name(token) else { return Value::unknown() };
        if let Some(value) = state.vars.get(&name) {
            return value.clone();
        }
        if name == "null" {
            return Value::none();
        }
        well_known(&name).map_or_else(
            || {
                if matches!(name.as_str(), "psscriptroot" | "pscommandpath" | "_" | "psitem") {
                    Value::unknown_one()
                } else {
                    Value::unknown()
                }
            },
            Value::word,
        )
    }

    /// The text of a string with variables in it.
    fn double(&mut self, token: Pair<'_>, state: &mut State, around: &Around) -> Value {
        let (mut words, mut out) = (Vec::new(), Value::none());
        for part in token.into_inner() {
            match part.as_rule() {
                Rule::var => {
                    let value = self.variable(&part, state);
                    words.push(never_set(&part, state).unwrap_or_else(|| value.joined(" ")));
                    out.taint(value.fetched, value.decoded);
                }
                Rule::sub => {
                    let value = self.token(part, state, around);
                    words.push(value.joined(" "));
                    out.taint(value.fetched, value.decoded);
                }
                _ => words.push(Word::Known(literal(&part))),
            }
        }
        out.items = vec![concat(&words)];
        out
    }

    fn table(&mut self, token: Pair<'_>, state: &mut State, around: &Around) -> Value {
        let mut out = Value { items: vec![hole(true)], ..Value::default() };
        for pair in token.into_inner() {
            let (mut key, mut value) = (String::new(), Value::none());
            for part in pair.into_inner() {
                match part.as_rule() {
                    Rule::key => {
                        for inner in part.into_inner() {
                            key = match inner.as_rule() {
                                Rule::key_word => inner.as_str().to_string(),
                                _ => self.token(inner, state, around).known().unwrap_or_default().to_string(),
                            };
                        }
                    }
                    Rule::assigned => value = self.assigned(part, state, around),
                    _ => {}
                }
            }
            out.taint(value.fetched, value.decoded);
            if out.hash.len() < 64 {
                out.hash.push((key, value));
            } else {
                self.problem(0, "the command has a table of more entries than are followed");
            }
        }
        out
    }

    /// A type, an attribute or an index: only blocks and substitutions in it are code.
    pub(super) fn attribute(&mut self, pair: Pair<'_>, state: &mut State, around: &Around) {
        let is_type = pair.clone().into_inner().next().is_none_or(|first| first.as_rule() == Rule::type_word);
        for token in pair.into_inner() {
            match token.as_rule() {
                Rule::type_word | Rule::op | Rule::number => {}
                Rule::bracket => self.attribute(token, state, around),
                Rule::paren if is_type => {
                    for block in token.into_inner().flatten() {
                        if matches!(block.as_rule(), Rule::block | Rule::sub) {
                            self.token(block, state, around);
                        }
                    }
                }
                _ => {
                    self.token(token, state, around);
                }
            }
        }
    }

    /// One argument with the elements that its commas make.
    pub(super) fn argument(&mut self, pair: Pair<'_>, state: &mut State, around: &Around) -> Argument {
        let around = &Around { input: None, pipe: None, ..around.clone() };
        let range = (pair.as_span().start(), pair.as_span().end());
        let mut all: Option<Argument> = None;
        let parts: Vec<Pair<'_>> = match pair.as_rule() {
            Rule::arg | Rule::head => pair.into_inner().collect(),
            _ => vec![pair],
        };
        let only_blocks = parts.iter().all(|part| part.as_rule() == Rule::block);
        for part in parts {
            let one = match part.as_rule() {
                Rule::generic => self.generic(part, state, around),
                // Its user walks it, because what `$_` is there depends on that.
                Rule::block if only_blocks => Argument { block: true, ..Argument::default() },
                Rule::splat => {
                    let name = part.as_str().trim_start_matches('@').to_lowercase();
                    let value = state.vars.get(&name).cloned().unwrap_or_else(Value::unknown);
                    Argument { value, splat: true, ..Argument::default() }
                }
                _ => Argument { value: self.token(part, state, around), ..Argument::default() },
            };
            all = Some(match all {
                None => one,
                Some(mut before) => {
                    if let Some(behind) = before.behind_colon.take() {
                        before.behind_colon = Some(behind.append(one.value.clone()));
                    }
                    before.value = before.value.append(one.value);
                    before.block &= one.block;
                    before
                }
            });
        }
        Argument { range, ..all.unwrap_or_default() }
    }

    /// A word that does not begin with a quote or bracket.
    fn generic(&mut self, pair: Pair<'_>, state: &mut State, around: &Around) -> Argument {
        let parts: Vec<Pair<'_>> = pair.into_inner().collect();
        if let [one] = parts.as_slice()
            && matches!(one.as_rule(), Rule::reach | Rule::sub)
        {
            let value = self.token(one.clone(), state, around);
            return Argument { value, ..Argument::default() };
        }
        let (mut words, mut taint) = (Vec::new(), Value::none());
        let mut bare = None;
        let mut colon: Option<usize> = None;
        for (at, part) in parts.into_iter().enumerate() {
            match part.as_rule() {
                Rule::bare => {
                    let text = part.as_str().to_string();
                    if at == 0 {
                        bare = Some(text.clone());
                        if text.starts_with('-')
                            && let Some((name, rest)) = text.split_once(':')
                        {
                            words.push(Word::Known(format!("{name}:")));
                            colon = Some(words.len());
                            words.push(Word::Known(rest.to_string()));
                            continue;
                        }
                        if let Some(rest) = text
                            .strip_prefix('~')
                            .filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
                        {
                            words.push(Word::Tilde(format!("~{}", rest.replace('\\', "/"))));
                            continue;
                        }
                    }
                    words.push(Word::Known(text));
                }
                Rule::string_s => words.push(Word::Known(single(&part))),
                Rule::escape => words.push(Word::Known(literal(&part))),
                Rule::dollar => words.push(Word::Known("$".into())),
                _ => {
                    let unset = never_set(&part, state);
                    let value = match part.as_rule() {
                        Rule::string_d => self.double(part, state, around),
                        _ => self.token(part, state, around),
                    };
                    taint.taint(value.fetched, value.decoded);
                    words.push(unset.unwrap_or_else(|| value.joined(" ")));
                }
            }
        }
        let behind =
            colon.and_then(|at| words.get(at..)).filter(|rest| *rest != [Word::Known(String::new())]);
        let behind_colon =
            colon.map(|_| behind.map_or_else(Value::none, |rest| taint.with(vec![concat(rest)])));
        let value = taint.with(vec![concat(&words)]);
        Argument { value, bare, behind_colon, ..Argument::default() }
    }
}

/// A variable inside a word that neither the text nor PowerShell sets, and which is empty unless something else does.
fn never_set(token: &Pair<'_>, state: &State) -> Option<Word> {
    const SET: [&str; 16] = [
        "_",
        "psitem",
        "psscriptroot",
        "pscommandpath",
        "args",
        "input",
        "matches",
        "this",
        "host",
        "pid",
        "profile",
        "psversiontable",
        "myinvocation",
        "lastexitcode",
        "error",
        "null",
    ];
    let mut token = token.clone();
    while matches!(token.as_rule(), Rule::reach) {
        let mut inner = token.into_inner();
        token = inner.next().filter(|_| inner.next().is_none())?;
    }
    let name = (token.as_rule() == Rule::var).then(|| variable_name(&token)).flatten()?;
    let set = state.redefined || state.vars.contains_key(&name) || SET.contains(&name.as_str());
    (!set && well_known(&name).is_none())
        .then(|| Word::Unknown(vec![Piece::Value { name, quoted: true, unset: Some(String::new()) }]))
}

fn flush(target: &mut Option<Target>, items: &mut Vec<Item>) {
    let Some(done) = target.take() else { return };
    items.push(match done.ty {
        Some(name) => Item::Cast(name),
        None => Item::Value(done.value),
    });
}

/// Values joined by commas, each with what stands before it.
fn operands(items: &mut std::iter::Peekable<std::vec::IntoIter<Item>>) -> Value {
    let mut out = operand(items);
    while matches!(items.peek(), Some(Item::Op(op)) if op == ",") {
        items.next();
        out = out.append(operand(items));
    }
    out
}

fn operand(items: &mut std::iter::Peekable<std::vec::IntoIter<Item>>) -> Value {
    let mut before: Vec<Item> = Vec::new();
    let mut value = loop {
        match items.next() {
            None => break Value::none(),
            Some(Item::Value(value)) => break value,
            Some(other) => before.push(other),
        }
    };
    // `-join 'a','b'` takes the whole list.
    if before.iter().any(|item| matches!(item, Item::Op(op) if op == "-join")) {
        while matches!(items.peek(), Some(Item::Op(op)) if op == ",") {
            items.next();
            if let Some(Item::Value(more)) = items.next() {
                value = value.append(more);
            }
        }
    }
    for item in before.into_iter().rev() {
        value = match item {
            Item::Cast(ty) => super::code::cast(&ty, value),
            Item::Op(op) if op == "-join" => value.with(vec![value.joined("")]),
            Item::Op(op) if op == "," || op == "+" => value,
            Item::Op(op) if op == "-" => match value.known() {
                Some(text) => Value::text(format!("-{text}")),
                None => Value::unknown_one(),
            },
            Item::Op(_) => value.with(vec![hole(true)]),
            Item::Value(_) => value,
        };
    }
    value
}

/// `+` and `+=`.
pub(super) fn add(left: &Value, right: Value) -> Value {
    match (left.items.as_slice(), right.items.as_slice()) {
        ([a], [b]) if left.hash.is_empty() => {
            let number =
                |word: &Word| word.known().is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit()));
            let word = if number(a) && number(b) { hole(true) } else { concat(&[a.clone(), b.clone()]) };
            let mut out = left.with(vec![word]);
            out.taint(right.fetched, right.decoded);
            out
        }
        ([], _) => right,
        _ => left.clone().append(right),
    }
}

/// The text of a string in single quotes.
fn single(token: &Pair<'_>) -> String {
    let inner = token.clone().into_inner().next();
    let text = inner.as_ref().map_or("", Pair::as_str);
    match token.as_rule() {
        Rule::here_s => text.strip_suffix('\n').unwrap_or(text).to_string(),
        _ => text.replace("''", "'"),
    }
}

/// The text of a part of a string in double quotes.
fn literal(part: &Pair<'_>) -> String {
    let text = part.as_str();
    match part.as_rule() {
        Rule::d_quote => "\"".to_string(),
        Rule::escape => {
            let mut chars = text.chars().skip(1);
            match chars.next() {
                Some('n') => "\n".into(),
                Some('t') => "\t".into(),
                Some('r') => "\r".into(),
                Some('0') => String::new(),
                Some('a' | 'b' | 'e' | 'f' | 'v') => " ".into(),
                Some('u') if text.contains('{') => {
                    let hex: String = chars.filter(char::is_ascii_hexdigit).collect();
                    u32::from_str_radix(&hex, 16)
                        .ok()
                        .and_then(char::from_u32)
                        .map(String::from)
                        .unwrap_or_default()
                }
                Some(c) => c.to_string(),
                None => String::new(),
            }
        }
        _ => text.to_string(),
    }
}
