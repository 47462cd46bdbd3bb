//! YAML text to a small tree with the place of every part.
//!
//! INVARIANT: the tree is bounded by the text and a budget (aliases are counted before they are copied), and no key
//! stands twice in a mapping.

use super::code::Code;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
use serde_yaml::granit_parser::{self as yaml, Event, ScalarStyle};
use std::collections::BTreeMap;

/// Longest text, in bytes.
pub(super) const MAX_BYTES: usize = 4 << 20;
/// Most parts of a file, aliases spelled out.
const MAX_NODES: usize = 400_000;
/// Deepest nesting; the formats need five levels.
const MAX_DEPTH: usize = 64;

/// A part of the file.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// What it is.
    pub(super) value: Value,
    /// Its place; of an alias the alias's.
    pub(super) span: Span,
}

/// What a part is.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number as written.
    Number(String),
    /// Any other scalar.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys and values in order.
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone)]
pub(super) struct Key {
    /// Its text.
    pub(super) text: String,
    /// Its place.
    pub(super) span: Span,
}

impl Value {
    /// What it is called in messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// Reads one document; none when the file is not understood (an error says why).
pub(super) fn read(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Node> {
    if text.len() > MAX_BYTES {
        let span = Span { file, start: 0, end: text.len().min(1) as u32 };
        let message = format!("the file is {} bytes long; {MAX_BYTES} are read", text.len());
        let error = Diagnostic::error(Code::TooLarge.as_str(), message, span, "starts here")
            .with_help("split the rules over files of their own, as `.policy` files that are used");
        diagnostics.push(error);
        return None;
    }
    let mut options = yaml::Options::default();
    options.set_emit_comments(false);
    options.emit_unresolved_aliases = true;
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    let mut builder = Builder {
        file,
        text,
        open: Vec::new(),
        anchors: BTreeMap::new(),
        nodes: 0,
        root: None,
        documents: 0,
    };
    for next in yaml::Parser::new_from_str_with_options(text, options) {
        let step = match next {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => Err(builder.syntax(&error)),
        };
        if let Err(fault) = step {
            diagnostics.push(*fault);
            return None;
        }
    }
    let empty = Node { value: Value::Null, span: Span { file, start: 0, end: 0 } };
    Some(builder.root.unwrap_or(empty))
}

type Fault = Box<Diagnostic>;

/// A collection that is not closed yet.
struct Open {
    /// The children; of a mapping keys and values in turn.
    children: Vec<Node>,
    map: bool,
    anchor: usize,
    start: u32,
    /// Nodes counted before it, for the size of what an anchor holds.
    before: usize,
}

struct Builder<'t> {
    file: FileId,
    text: &'t str,
    open: Vec<Open>,
    anchors: BTreeMap<usize, (Node, usize)>,
    nodes: usize,
    root: Option<Node>,
    documents: usize,
}

impl Builder<'_> {
    fn span(&self, span: yaml::Span) -> Span {
        let start = self.offset(span.start);
        Span { file: self.file, start, end: self.offset(span.end).max(start) }
    }

    fn offset(&self, mark: yaml::Marker) -> u32 {
        let bytes = mark.byte_offset().unwrap_or_else(|| {
            self.text.char_indices().nth(mark.index()).map_or(self.text.len(), |(at, _)| at)
        });
        bytes.min(self.text.len()) as u32
    }

    fn fault(
        &self,
        code: Code,
        message: impl Into<String>,
        span: Span,
        label: &str,
        help: impl Into<String>,
    ) -> Fault {
        Box::new(Diagnostic::error(code.as_str(), message, span, label).with_help(help))
    }

    fn event(&mut self, event: Event<'_>, place: yaml::Span) -> Result<(), Fault> {
        let span = self.span(place);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.fault(
                        Code::Unread,
                        "a second document begins",
                        span,
                        "one file holds one policy",
                        "remove the `---` and what follows, or put it into a file of its own",
                    ));
                }
            }
            Event::Scalar(value, style, anchor, tag) => {
                self.no_tag(tag.is_some(), place, span)?;
                let value =
                    if style == ScalarStyle::Plain { plain(&value) } else { Value::Text(value.into_owned()) };
                self.count(1, span)?;
                self.add(Node { value, span }, anchor, 1)?;
            }
            Event::SequenceStart(_, anchor, tag) => self.begin(false, anchor, tag.is_some(), place)?,
            Event::MappingStart(_, anchor, tag) => self.begin(true, anchor, tag.is_some(), place)?,
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            Event::Alias(id) => {
                let Some((node, size)) = self.anchors.get(&id).cloned() else {
                    return Err(self.fault(
                        Code::Alias,
                        "an alias stands inside what it names",
                        span,
                        "names itself",
                        "write the value out where the alias stands",
                    ));
                };
                self.count(size, span)?;
                self.add(Node { span, ..node }, 0, size)?;
            }
            Event::UnresolvedAlias(name) => {
                let help = format!("a text that begins with `*` stands in quotes: \"*{name}\"");
                return Err(self.fault(
                    Code::Alias,
                    format!("`*{name}` names nothing"),
                    span,
                    "YAML reads this as an alias",
                    help,
                ));
            }
            _ => {}
        }
        Ok(())
    }

    fn no_tag(&self, tagged: bool, place: yaml::Span, span: Span) -> Result<(), Fault> {
        if !tagged {
            return Ok(());
        }
        let span = place.tag_span().map_or(span, |tag| self.span(tag));
        let help = "put the value in quotes, without the `!` before it";
        Err(self.fault(Code::Unread, "a value has a tag", span, "tags are not read", help))
    }

    fn count(&mut self, size: usize, span: Span) -> Result<(), Fault> {
        self.nodes += size;
        if self.nodes > MAX_NODES {
            let message =
                format!("the file holds more than {MAX_NODES} values when its aliases are spelled out");
            let help = "write the values out instead of building them of aliases";
            return Err(self.fault(Code::TooLarge, message, span, "one too many", help));
        }
        Ok(())
    }

    fn begin(&mut self, map: bool, anchor: usize, tagged: bool, place: yaml::Span) -> Result<(), Fault> {
        let span = self.span(place);
        self.no_tag(tagged, place, span)?;
        if self.open.len() >= MAX_DEPTH {
            return Err(self.fault(
                Code::TooLarge,
                format!("more than {MAX_DEPTH} levels"),
                span,
                "too deep",
                "the format needs four levels; close the brackets that are open",
            ));
        }
        let before = self.nodes;
        self.count(1, span)?;
        self.open.push(Open { children: Vec::new(), map, anchor, start: span.start, before });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Fault> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        // The end of a block collection is only seen at the next token, lines later; its last child ends it.
        let last = open.children.last().map_or(open.start, |child| child.span.end);
        let closed = self.text.get(..span.end as usize).is_some_and(|t| t.ends_with([']', '}']));
        let end = if closed && span.end > span.start { span.end } else { last };
        let span = Span { file: self.file, start: open.start, end: end.max(open.start) };
        let size = self.nodes - open.before;
        let value = if open.map { self.map(open.children)? } else { Value::List(open.children) };
        self.add(Node { value, span }, open.anchor, size)
    }

    fn map(&self, children: Vec<Node>) -> Result<Value, Fault> {
        let mut pairs: Vec<(Key, Node)> = Vec::with_capacity(children.len() / 2);
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        let mut rest = children.into_iter();
        while let (Some(key), Some(value)) = (rest.next(), rest.next()) {
            let text = match key.value {
                Value::Text(text) | Value::Number(text) => text,
                Value::Bool(yes) => yes.to_string(),
                other => {
                    let message = format!("{} stands where a key must stand", other.kind());
                    let help = "a key is a name, such as `tool` or `paths`";
                    return Err(self.fault(Code::Unread, message, key.span, "not a key", help));
                }
            };
            if let Some(first) = seen.insert(text.clone(), key.span) {
                let message = format!("`{text}` stands twice in one mapping");
                let fault = Diagnostic::error(Code::DuplicateKey.as_str(), message, first, "here first")
                    .with_label(key.span, "and again here")
                    .with_help("keep one of them; nothing says which one would count");
                return Err(Box::new(fault));
            }
            pairs.push((Key { text, span: key.span }, value));
        }
        Ok(Value::Map(pairs))
    }

    fn add(&mut self, node: Node, anchor: usize, size: usize) -> Result<(), Fault> {
        if anchor != 0 {
            self.count(size, node.span)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.open.last_mut() {
            Some(open) => open.children.push(node),
            None => self.root = Some(node),
        }
        Ok(())
    }

    fn syntax(&self, error: &yaml::ScanError) -> Fault {
        let start = self.offset(*error.marker());
        let rest = self.text.get(start as usize..).unwrap_or("");
        let first = rest.chars().next();
        let end = start + first.filter(|c| *c != '\n').map_or(0, |c| c.len_utf8() as u32);
        let span = Span { file: self.file, start, end };
        let info = error.info();
        let line = self.text.get(..start as usize).and_then(|t| t.rsplit('\n').next()).unwrap_or("");
        let full_line = format!("{line}{}", rest.lines().next().unwrap_or(""));
        let indent_has_tab = full_line.chars().take_while(|c| c.is_whitespace()).any(|c| c == '\t');
        let help = if indent_has_tab {
            "YAML is indented with blanks, not with tabs"
        } else if matches!(first, Some('@' | '`' | '%' | '*' | '&' | '!')) {
            "a text that begins with `@`, `%`, `*`, `&`, `!` or a backtick stands in quotes"
        } else {
            "check quotes, brackets and the indentation of this line and the one above"
        };
        let message = format!("this is not YAML: {}", info.trim_end_matches('.'));
        Box::new(Diagnostic::error(Code::Syntax.as_str(), message, span, "noticed here").with_help(help))
    }
}

/// A plain scalar as YAML 1.2 reads it.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_number(text) => Value::Number(text.to_owned()),
        _ => Value::Text(text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let hex =
        text.strip_prefix("0x").is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_hexdigit()));
    let octal =
        text.strip_prefix("0o").is_some_and(|d| !d.is_empty() && d.bytes().all(|b| matches!(b, b'0'..=b'7')));
    let decimal = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.bytes().any(|b| b.is_ascii_digit())
        && unsigned.parse::<f64>().is_ok();
    let special = matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN");
    hex || octal || decimal || special
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        read(FileId(0), text, &mut diagnostics);
        diagnostics
    }

    fn place(text: &str, diagnostic: &Diagnostic) -> String {
        let span = diagnostic.labels[0].span;
        text.get(span.start as usize..span.end as usize).unwrap_or("?").to_owned()
    }

    #[test]
    fn spans_are_the_written_text() {
        let text = "\u{feff}é: \"a b\" # c\nlist: [x, 'y']\nmap:\n  k: v\n";
        let node = read(FileId(0), text, &mut Vec::new()).unwrap();
        let Value::Map(pairs) = node.value else { panic!() };
        let slice = |s: Span| text.get(s.start as usize..s.end as usize).unwrap_or("?");
        assert_eq!(slice(pairs[0].0.span), "é");
        assert_eq!(slice(pairs[0].1.span), "\"a b\"");
        assert_eq!(slice(pairs[1].1.span), "[x, 'y']");
        assert_eq!(slice(pairs[2].1.span), "k: v");
    }

    #[test]
    fn scalars_are_read_as_yaml_1_2_reads_them() {
        for (text, kind) in [
            ("yes", "a text"),
            ("0755", "a number"),
            ("1.2.3", "a text"),
            ("~", "nothing"),
            ("'~'", "a text"),
            ("true", "true or false"),
            ("12s", "a text"),
            ("infinity", "a text"),
            ("e", "a text"),
            ("-", "a text"),
        ] {
            let node = read(FileId(0), &format!("[{text}, z]"), &mut Vec::new());
            let Some(Node { value: Value::List(items), .. }) = node else { continue };
            assert_eq!(items[0].value.kind(), kind, "{text}");
        }
    }

    #[test]
    fn a_duplicate_key_shows_both_places() {
        let text = "a: 1\nb: 2\na: 3\n";
        let found = faults(text);
        assert_eq!(found[0].labels.len(), 2);
        assert_eq!(found[0].labels[1].span.start, 10);
    }

    #[test]
    fn an_alias_bomb_ends_at_the_budget() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for i in 1..12 {
            let refs = vec![format!("*a{}", i - 1); 9].join(", ");
            text.push_str(&format!("a{i}: &a{i} [{refs}]\n"));
        }
        assert_eq!(faults(&text)[0].code, Code::TooLarge.as_str());
    }

    #[test]
    fn faults_name_the_place_and_a_way_out() {
        for (text, at, help) in [
            ("tool: *_read\n", "*_read", "\"*_read\""),
            ("a:\n\tb: 1\n", "", "not with tabs"),
            ("a: &x [*x]\n", "*x", ""),
            ("a: !!str 1\n", "!!str", "quotes"),
            ("a: `x`\n", "`", "quotes"),
            ("? [a]\n: b\n", "[a]", ""),
        ] {
            let found = faults(text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(at.is_empty() || place(text, &found[0]) == at, "{text}: {:?}", place(text, &found[0]));
            assert!(found[0].help.as_deref().unwrap_or("").contains(help), "{text}: {:?}", found[0]);
        }
    }

    #[test]
    fn long_and_deep_files_are_refused() {
        assert_eq!(faults(&"a".repeat(MAX_BYTES + 1))[0].code, Code::TooLarge.as_str());
        assert_eq!(faults(&"[".repeat(10_000)).len(), 1);
        assert_eq!(faults("a: 1\n---\nb: 2\n")[0].code, Code::Unread.as_str());
    }
}
