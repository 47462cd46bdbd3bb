//! Members and calls: `.Name`, `.Call()`, `[Type]::Call()`.
//!
//! INVARIANT: a call that is not known to compute a text or to be the same as a cmdlet is listed as a command of its own
//! name with a gap: what it does is not known.

use super::code::utf16;
use super::value::{Value, concat, hole};
use super::{Around, Pair, Reader, Rule, State, Want};
use crate::shell::quote::base64_bytes;
use crate::shell::{Feature, Word};

/// What a member is looked up on.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) value: Value,
    /// The type, as long as nothing is looked up on it.
    pub(super) ty: Option<String>,
    /// Where it begins.
    start: usize,
    /// How it is told in the name of a call.
    name: String,
}

impl Target {
    pub(super) fn value(value: Value, start: usize) -> Target {
        Target { value, ty: None, start, name: String::new() }
    }

    pub(super) fn of_type(text: &str, start: usize) -> Target {
        Target { value: Value::unknown(), ty: Some(text.to_string()), start, name: text.to_string() }
    }
}

/// Methods and properties of texts, numbers and lists: they compute and do nothing else.
const COMPUTING: &[&str] = &[
    "tostring",
    "trim",
    "trimstart",
    "trimend",
    "toupper",
    "tolower",
    "toupperinvariant",
    "tolowerinvariant",
    "split",
    "replace",
    "substring",
    "startswith",
    "endswith",
    "contains",
    "indexof",
    "lastindexof",
    "padleft",
    "padright",
    "remove",
    "insert",
    "gettype",
    "equals",
    "compareto",
    "tochararray",
    "add",
    "addrange",
    "addseconds",
    "addminutes",
    "addhours",
    "adddays",
    "addmonths",
    "addyears",
    "containskey",
    "getenumerator",
    "tolocaltime",
    "touniversaltime",
    "clone",
    "reverse",
    "sort",
    "where",
    "foreach",
    "toarray",
    "gethashcode",
    "toint32",
    "matches",
    "match",
    "ismatch",
    "keys",
    "values",
    "item",
    "getvalue",
];
/// Types whose static members compute and do nothing else.
const COMPUTING_TYPES: &[&str] = &[
    "math",
    "string",
    "char",
    "int",
    "int32",
    "int64",
    "long",
    "double",
    "decimal",
    "bool",
    "datetime",
    "datetimeoffset",
    "timespan",
    "guid",
    "regex",
    "text.regularexpressions.regex",
    "io.path",
    "version",
    "uri",
    "bitconverter",
    "text.encoding",
    "array",
    "enum",
    "globalization.cultureinfo",
    "net.webutility",
    "xml",
    "stringcomparison",
    "security.principal.windowsidentity",
    "runtime.interopservices.runtimeinformation",
];

impl Reader<'_, '_> {
    /// A member of a value or type.
    pub(super) fn member(
        &mut self,
        on: Target,
        pair: Pair<'_>,
        state: &mut State,
        around: &Around,
    ) -> Target {
        let end = pair.as_span().end();
        let range = (on.start, end);
        let (mut name, mut args, mut called) = (None, Value::none(), false);
        let mut is_static = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::member_op => is_static = part.as_str() == "::",
                Rule::ident => name = Some(part.as_str().to_string()),
                Rule::call => {
                    called = true;
                    args = self.inside(part, state, around, Want::Value);
                }
                Rule::block => {
                    self.block(part, state, around, on.value.clone());
                }
                _ => name = self.named_by(part, state, around),
            }
        }
        let label =
            format!("{}{}{}", on.name, if is_static { "::" } else { "." }, name.as_deref().unwrap_or("?"));
        let value = match (&on.ty, name) {
            (Some(ty), Some(name)) => self.static_member(ty, &name, called, &args, range, state, around),
            (None, Some(name)) => self.own_member(&on.value, &name, called, &args, range, state, around),
            (_, None) => {
                self.unresolved(&label, &args, range, state, around);
                Value::unknown()
            }
        };
        Target { value, ty: None, start: range.0, name: label }
    }

    fn named_by(&mut self, part: Pair<'_>, state: &mut State, around: &Around) -> Option<String> {
        let value = self.argument(part, state, around).value;
        value.known().map(str::to_string)
    }

    /// `$x[0]`, `$x['name']`.
    pub(super) fn index(&mut self, on: Target, pair: Pair<'_>, state: &mut State, around: &Around) -> Target {
        let text = pair.as_str().trim_matches(['[', ']', ' ']).to_string();
        self.attribute(pair, state, around);
        let key = text.trim_matches(['\'', '"']);
        let entry =
            on.value.hash.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, v)| v.clone());
        let number = text.parse::<usize>().ok();
        let numbers: Option<Vec<usize>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
        let value = match (entry, number, on.value.known(), numbers) {
            (Some(entry), ..) => entry,
            (None, Some(_), None, _) if on.value.items.iter().any(Word::may_split) => {
                on.value.with(vec![hole(true)])
            }
            (None, Some(at), None, _) => {
                on.value.with(vec![on.value.items.get(at).cloned().unwrap_or_else(|| hole(true))])
            }
            // Letters of a text.
            (None, _, Some(text), Some(numbers)) if !numbers.is_empty() && numbers.len() <= 64 => {
                let letters: Vec<Word> = numbers
                    .iter()
                    .filter_map(|at| text.chars().nth(*at))
                    .map(|c| Word::Known(c.to_string()))
                    .collect();
                on.value.with(letters)
            }
            _ => on.value.with(vec![hole(false)]),
        };
        Target { value, ty: None, ..on }
    }

    #[expect(clippy::too_many_arguments, reason = "what a member is asked of")]
    fn own_member(
        &mut self,
        on: &Value,
        name: &str,
        called: bool,
        args: &Value,
        range: (usize, usize),
        state: &mut State,
        around: &Around,
    ) -> Value {
        let lower = name.to_lowercase();
        let entry =
            on.hash.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone());
        if let (Some(entry), false) = (entry, called) {
            return entry;
        }
        let mut unknown = Value::unknown();
        unknown.taint(on.fetched, on.decoded);
        match (lower.as_str(), called) {
            (
                "fullname" | "pspath" | "path" | "literalpath" | "providerpath" | "value" | "directory"
                | "linktarget",
                false,
            ) => on.clone(),
            ("length" | "count", false) => on.with(vec![hole(true)]),
            (_, false) => unknown,
            ("downloadstring" | "downloaddata" | "getstringasync" | "getasync" | "openread", true) => {
                self.same_as("Invoke-WebRequest", &[], args, range, state, around);
                unknown.fetched = true;
                unknown
            }
            ("downloadfile" | "downloadfileasync", true) => {
                let mut items = args.items.clone().into_iter();
                let url = items.next().unwrap_or_else(|| hole(true));
                let file = items.next().unwrap_or_else(|| hole(true));
                let words = vec![
                    Word::Known("Invoke-WebRequest".into()),
                    url,
                    Word::Known("-OutFile".into()),
                    file.clone(),
                ];
                self.fetched_to(&file, state);
                self.listed(words, range, state, around);
                Value::none()
            }
            ("uploadstring" | "uploaddata" | "uploadfile" | "uploadvalues" | "postasync", true) => {
                self.same_as("Invoke-WebRequest", &["-Method", "Post"], args, range, state, around);
                unknown.fetched = true;
                unknown
            }
            ("getstring", true) => {
                let mut text = decode(on, args).map_or_else(Value::unknown, Value::text);
                text.taint(args.fetched, args.decoded);
                text
            }
            ("invokescript" | "newscriptblock" | "addscript" | "addcommand" | "invokeexpression", true) => {
                self.evaluate(args, range, state, around, &lower);
                unknown
            }
            ("expandstring", true) => {
                self.evaluate(args, range, state, around, "expandstring");
                unknown
            }
            // `$block.Invoke()`: its commands are listed where it stands.
            ("invoke" | "invokereturnasis", true) if on.block => unknown,
            ("invoke" | "invokereturnasis" | "invokewithcontext", true) if on.code => {
                self.evaluate(on, range, state, around, "invoke");
                unknown
            }
            ("delete" | "movetorecyclebin", true)
                if !on.items.is_empty() && on.known() != Some("") && !is_hole(on) =>
            {
                let deep: &[&str] = if args.known() == Some("True") { &["-Recurse"] } else { &[] };
                self.same_as("Remove-Item", deep, on, range, state, around);
                Value::none()
            }
            ("moveto" | "copyto", true) if !is_hole(on) => {
                let cmdlet = if lower == "moveto" { "Move-Item" } else { "Copy-Item" };
                self.same_as(cmdlet, &[], &on.clone().append(args.clone()), range, state, around);
                Value::none()
            }
            ("tolower" | "tolowerinvariant", true) => computed(on, |text| text.to_lowercase()),
            ("toupper" | "toupperinvariant", true) => computed(on, |text| text.to_uppercase()),
            ("trim", true) if args.items.is_empty() => computed(on, |text| text.trim().to_string()),
            ("tostring" | "clone", true) => on.clone(),
            ("replace", true) => match (on.known(), args.texts().as_deref()) {
                (Some(text), Some([from, to])) if !from.is_empty() => {
                    on.with(vec![Word::Known(text.replace(from, to))])
                }
                _ => on.with(vec![hole(true)]),
            },
            ("split", true) => match (on.known(), args.known()) {
                (Some(text), Some(by)) if !by.is_empty() => on.with(
                    text.split(|c| by.contains(c))
                        .take(65)
                        .map(|part| Word::Known(part.to_string()))
                        .collect(),
                ),
                _ => unknown,
            },
            ("substring", true) => match (on.known(), args.texts()) {
                (Some(text), Some(numbers)) => {
                    let numbers: Vec<usize> = numbers.iter().filter_map(|n| n.parse().ok()).collect();
                    let from = numbers.first().copied().unwrap_or(0);
                    let count = numbers.get(1).copied().unwrap_or(usize::MAX);
                    on.with(vec![Word::Known(text.chars().skip(from).take(count).collect())])
                }
                _ => on.with(vec![hole(true)]),
            },
            (name, true) if COMPUTING.contains(&name) => unknown,
            (_, true) => {
                self.unresolved(&format!(".{name}"), &on.clone().append(args.clone()), range, state, around);
                unknown
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what a member is asked of")]
    fn static_member(
        &mut self,
        ty: &str,
        name: &str,
        called: bool,
        args: &Value,
        range: (usize, usize),
        state: &mut State,
        around: &Around,
    ) -> Value {
        let ty_name = ty.trim_matches(['[', ']', ' ']).to_lowercase();
        let ty_name = ty_name.strip_prefix("system.").unwrap_or(&ty_name);
        let lower = name.to_lowercase();
        let mut unknown = Value::unknown();
        unknown.taint(args.fetched, args.decoded);
        let cmdlet = match (ty_name, lower.as_str()) {
            ("io.file" | "io.directory" | "io.fileinfo" | "io.directoryinfo", "delete") => {
                let deep: &[&str] = if ty_name.contains("directory") { &["-Recurse"] } else { &[] };
                let first = args.with(args.items.iter().take(1).cloned().collect());
                let deep = if args.items.get(1).and_then(Word::known) == Some("False") { &[] } else { deep };
                self.same_as("Remove-Item", deep, &first, range, state, around);
                return Value::none();
            }
            (
                "io.file",
                "writealltext" | "writealllines" | "writeallbytes" | "create" | "openwrite" | "createtext",
            ) => Some("Set-Content"),
            ("io.file", "appendalltext" | "appendalllines" | "appendtext") => Some("Add-Content"),
            (
                "io.file",
                "readalltext" | "readalllines" | "readallbytes" | "readlines" | "openread" | "opentext",
            ) => Some("Get-Content"),
            ("io.file" | "io.directory", "move") => Some("Move-Item"),
            ("io.file", "copy") => Some("Copy-Item"),
            ("io.directory", "createdirectory") => Some("New-Item"),
            (
                "io.directory",
                "getfiles"
                | "getdirectories"
                | "getfilesystementries"
                | "enumeratefiles"
                | "enumeratedirectories",
            ) => Some("Get-ChildItem"),
            ("io.file" | "io.directory", "exists") => Some("Test-Path"),
            ("environment", "exit") => return Value::none(),
            ("diagnostics.process", "start") => Some("Start-Process"),
            _ => None,
        };
        if let Some(cmdlet) = cmdlet {
            if cmdlet == "Get-Content" && self.is_fetched(args, state) {
                unknown.fetched = true;
            }
            let takes_one = matches!(cmdlet, "Set-Content" | "Add-Content");
            let args = if takes_one {
                args.with(args.items.iter().take(1).cloned().collect())
            } else {
                args.clone()
            };
            self.same_as(cmdlet, &[], &args, range, state, around);
            return unknown;
        }
        match (ty_name, lower.as_str()) {
            ("scriptblock" | "management.automation.scriptblock", "create") => {
                Value { code: true, ..args.clone() }
            }
            ("convert", "frombase64string") => {
                unknown.decoded = true;
                match args.known().and_then(base64_bytes) {
                    Some(bytes) => Value { bytes: Some(bytes), ..unknown },
                    None => unknown,
                }
            }
            (encoding, _) if encoding.starts_with("text.encoding") || encoding == "text.asciiencoding" => {
                // `[Text.Encoding]::Unicode` itself; its `GetString` is a member of what this gives.
                Value { encoding: Some(lower), ..Value::unknown_one() }
            }
            ("environment", "getfolderpath") => match args.known().map(str::to_lowercase).as_deref() {
                Some("userprofile" | "personal") => Value::word(Word::Tilde("~".into())),
                Some("mydocuments") => Value::word(Word::Tilde("~/Documents".into())),
                Some("desktop") => Value::word(Word::Tilde("~/Desktop".into())),
                Some("applicationdata") => Value::word(Word::Tilde("~/AppData/Roaming".into())),
                Some("localapplicationdata") => Value::word(Word::Tilde("~/AppData/Local".into())),
                Some("startup") => Value::word(Word::Tilde(
                    "~/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup".into(),
                )),
                Some("windows" | "system") => Value::text("C:/Windows"),
                _ => Value::unknown_one(),
            },
            ("environment", "setenvironmentvariable" | "failfast") => {
                self.unresolved(&format!("{ty}::{name}"), args, range, state, around);
                unknown
            }
            ("environment", _) => unknown,
            ("io.path", "gettemppath") => Value::word(Word::Tilde("~/AppData/Local/Temp".into())),
            ("io.path", "combine" | "join") => {
                let mut words = Vec::new();
                for (at, item) in args.items.iter().enumerate() {
                    if at > 0 {
                        words.push(Word::Known("/".into()));
                    }
                    words.push(item.clone());
                }
                args.with(vec![concat(&words)])
            }
            ("string", "join") => match args.items.split_first() {
                Some((by, rest)) if by.known().is_some() => {
                    let rest = args.with(rest.to_vec());
                    rest.with(vec![rest.joined(by.known().unwrap_or_default())])
                }
                _ => unknown,
            },
            ("string", "concat") => args.with(vec![args.joined("")]),
            ("string", "format") => match args.items.split_first() {
                Some((format, rest)) => {
                    super::code::apply("-f", Value::word(format.clone()), args.with(rest.to_vec()))
                }
                None => unknown,
            },
            (_, "new") | (_, _) if COMPUTING_TYPES.contains(&ty_name) => unknown,
            (_, "new") if called && is_harmless_type(ty_name) => unknown,
            // A constant of a type.
            _ if !called => unknown,
            _ => {
                self.unresolved(&format!("{ty}::{name}"), args, range, state, around);
                unknown
            }
        }
    }

    /// A text that becomes code here.
    pub(super) fn evaluate(
        &mut self,
        code: &Value,
        range: (usize, usize),
        state: &mut State,
        around: &Around,
        by: &str,
    ) {
        self.w.feature(Feature::Eval);
        let index = self.unresolved_quiet(by, range, state, around);
        self.run_text(code, index, by, range, state, around);
    }
}

/// `$encoding.GetString($bytes)` where both are known.
fn decode(on: &Value, args: &Value) -> Option<String> {
    let bytes = args.bytes.clone()?;
    match on.encoding.as_deref()? {
        "unicode" => utf16(&bytes),
        "utf8" | "ascii" | "default" | "latin1" => String::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn is_hole(value: &Value) -> bool {
    value.items.iter().all(|word| matches!(word, Word::Unknown(pieces) if pieces.len() == 1 && matches!(pieces.first(), Some(crate::shell::Piece::Hole { .. }))))
}

fn is_harmless_type(name: &str) -> bool {
    [
        "collections.",
        "text.stringbuilder",
        "psobject",
        "pscustomobject",
        "random",
        "object",
        "net.webclient",
        "net.http.httpclient",
        "io.stringreader",
        "system.",
        "hashtable",
    ]
    .iter()
    .any(|harmless| name.starts_with(harmless))
}

fn computed(on: &Value, change: impl Fn(&str) -> String) -> Value {
    match on.known() {
        Some(text) => on.with(vec![Word::Known(change(text))]),
        None => on.with(vec![hole(true)]),
    }
}
