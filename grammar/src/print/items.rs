//! Items and blocks as lines of text.
//!
//! INVARIANT: the width of a verb follows from the kind of its block alone, so that a new line moves no other.

use super::pieces::{Content, Glue, Group, Piece};
use super::{Printer, quote};
use crate::ast::{
    AskPlace, Block, BlockKind, DefaultWord, Effect, EffectPlace, Expect, ExpectArgs, Given, Header, Item,
    Member, Mode, NameRef, Origin, Program, ProgramFact, SecretExpect, SecretPart, SetTo, SeverityWord, Test,
    Text, Value,
};
use crate::source::{Span, Spanned};

impl Printer<'_> {
    pub(super) fn header(&mut self, header: &Header) {
        let name = self.quoted(&header.name);
        let pieces = [
            Piece::new(header.span.start, Glue::Space, "policy"),
            Piece::new(header.name.span.start, Glue::Space, name),
            Piece::new(header.language.span.start, Glue::Space, format!("language {}", header.language.node)),
        ];
        self.statement(header.span.start, header.span.end, 0, &pieces);
    }

    pub(super) fn item(&mut self, item: &Item, indent: usize) {
        if self.text.is_none() && !self.out.is_empty() && !self.out.ends_with("{\n") && stands_alone(item) {
            self.new_line();
        }
        match item {
            Item::Default { value, span } => {
                let word = match value.node {
                    DefaultWord::Allow => "allow",
                    DefaultWord::Host => "host",
                    DefaultWord::Ask => "ask",
                    DefaultWord::Deny => "deny",
                };
                self.setting(*span, indent, "default", value.span, word.to_owned());
            }
            Item::AskTimeout { seconds, span } => {
                let written = self.seconds(seconds);
                self.setting(*span, indent, "ask timeout", seconds.span, written);
            }
            Item::AskVia { place, span } => {
                self.setting(*span, indent, "ask via", place.span, place_word(place.node).to_owned());
            }
            Item::Mode { value, span } => {
                let word = match value.node {
                    Mode::Enforce => "enforce",
                    Mode::Observe => "observe",
                };
                self.setting(*span, indent, "mode", value.span, word.to_owned());
            }
            Item::Severity { value, span } => {
                let word = match value.node {
                    SeverityWord::Strict => "strict",
                    SeverityWord::Standard => "standard",
                    SeverityWord::Relaxed => "relaxed",
                };
                self.setting(*span, indent, "severity", value.span, word.to_owned());
            }
            Item::Use { origins, span } => {
                let mut pieces = vec![Piece::new(span.start, Glue::Space, "use")];
                let origins = origins.iter().map(|origin| match origin {
                    Origin::Pack(text) => (text.span.start, text.node.clone()),
                    Origin::File(text) => (text.span.start, self.quoted(text)),
                });
                pieces.extend(wrapped(origins.collect()));
                self.statement(span.start, span.end, indent, &pieces);
            }
            Item::Set { target, to, because, span } => {
                let word = match to.node {
                    SetTo::Off => "off",
                    SetTo::Effect(effect) => effect.word(),
                };
                let pieces = [
                    Piece::new(span.start, Glue::Space, "set"),
                    Piece::new(target.span.start, Glue::Space, target.node.clone()),
                    Piece::new(to.span.start, Glue::Space, format!("to {word}")),
                    Piece::new(because.span.start, Glue::Wrap, format!("because {}", self.quoted(because))),
                ];
                self.statement(span.start, span.end, indent, &pieces);
            }
            Item::List { name, members, bracketed, span } => {
                let entries: Vec<(u32, String)> = members.iter().map(|member| self.member(member)).collect();
                let ends = members.iter().map(member_span).next_back();
                let group =
                    self.bracket_group(entries, ends, *bracketed, || self.find_after(span.start, "is"));
                let pieces = [
                    Piece::new(span.start, Glue::Space, "list"),
                    Piece::new(name.span.start, Glue::Space, format!("{} is", name.node)),
                    Piece::group(group),
                ];
                self.statement(span.start, span.end, indent, &pieces);
            }
            Item::Asset { symbol, id, decimals, span } => {
                let pieces = [
                    Piece::new(span.start, Glue::Space, "asset"),
                    Piece::new(symbol.span.start, Glue::Space, format!("{} is", symbol.node)),
                    Piece::new(id.span.start, Glue::Space, self.quoted(id)),
                    Piece::new(decimals.span.start, Glue::Space, format!("decimals {}", decimals.node)),
                ];
                self.statement(span.start, span.end, indent, &pieces);
            }
            Item::Payee { name, addresses, span } => {
                let pieces = [
                    Piece::new(span.start, Glue::Space, "payee"),
                    Piece::new(name.span.start, Glue::Space, format!("{} is", name.node)),
                    self.list(addresses),
                ];
                self.statement(span.start, span.end, indent, &pieces);
            }
            Item::Secret { name, parts, span } => self.secret(name, parts, *span, indent),
            Item::Program(program) => self.program(program, indent),
            Item::Project { folders, items, span } => {
                let mut pieces = vec![Piece::new(span.start, Glue::Space, "project")];
                pieces.push(self.list(folders));
                self.head(pieces, *span, folders.span.end, indent);
                for item in items {
                    self.item(item, indent + 2);
                }
                self.close(*span, indent);
            }
            Item::Block(block) => self.block(block, indent),
            Item::Test(test) => self.test(test, indent),
        }
    }

    fn setting(&mut self, span: Span, indent: usize, keyword: &str, place: Span, value: String) {
        let pieces =
            [Piece::new(span.start, Glue::Space, keyword), Piece::new(place.start, Glue::Space, value)];
        self.statement(span.start, span.end, indent, &pieces);
    }

    fn member(&self, member: &Member) -> (u32, String) {
        let span = member_span(member);
        let written = match member {
            Member::Name(text) => text.node.clone(),
            Member::Pattern(text) => self.quoted(text),
            Member::Run(run) => self.leaf(run.span, || format!("`{}`", run.text)),
            Member::Ref(text) => format!("@{}", text.node),
        };
        (span.start, written)
    }

    /// A head with its brace.
    fn head(&mut self, mut pieces: Vec<Piece>, span: Span, end: u32, indent: usize) {
        let brace = self.find_after(end, "{").map_or(end, |after| after - 1);
        pieces.push(Piece::new(brace, Glue::Space, "{"));
        self.statement(span.start, brace + 1, indent, &pieces);
        // No empty line behind a brace.
        self.last = None;
    }

    fn close(&mut self, span: Span, indent: usize) {
        self.comments_before(span.end.saturating_sub(1), indent + 2);
        self.last = None;
        self.open_line(span.end, indent);
        self.out.push('}');
        self.close_line(span.end);
    }

    fn block(&mut self, block: &Block, indent: usize) {
        let (word, width) = match block.kind {
            BlockKind::Rule => ("rule", 5),
            BlockKind::Guard => ("guard", 4),
            BlockKind::Exception => ("exception", 4),
            BlockKind::Assert => ("assert", 4),
        };
        let start = block.span.start;
        let mut pieces = vec![
            Piece::new(start, Glue::Space, word),
            Piece::new(block.name.span.start, Glue::Space, block.name.node.clone()),
        ];
        let mut end = block.name.span.end;
        if let Some(to) = &block.to {
            pieces.push(Piece::new(to.span.start, Glue::Space, format!("to {}", to.node)));
            end = end.max(to.span.end);
        }
        end = end.max(self.scopes(&block.scopes, &mut pieces));
        self.head(pieces, block.span, end, indent);
        let inner = indent + 2;
        self.notes(block, inner);
        for line in &block.lines {
            self.line(line, width, inner);
        }
        if let Some(otherwise) = &block.otherwise {
            let mut pieces = vec![
                Piece::new(otherwise.span.start, Glue::Space, "otherwise"),
                Piece::new(otherwise.effect.span.start, Glue::Space, otherwise.effect.node.word()),
            ];
            pieces.extend(otherwise.because.as_ref().map(|text| self.clause("because", text)));
            self.statement(otherwise.span.start, otherwise.span.end, inner, &pieces);
        }
        if self.text.is_none() && !block.expects.is_empty() && !self.out.ends_with("{\n") {
            self.new_line();
        }
        self.expects(&block.expects, inner);
        self.close(block.span, indent);
    }

    /// The why of a block, in the order in which it was written.
    fn notes(&mut self, block: &Block, indent: usize) {
        let mut notes: Vec<(Span, &str, String)> = Vec::new();
        let mut quoted = |word, text: &Option<Text>| {
            notes.extend(text.as_ref().map(|text| (text.span, word, self.quoted(text))));
        };
        quoted("owner", &block.owner);
        let until = block.until.as_ref().map(|until| {
            let date = until.node;
            let written = || format!("{:04}-{:02}-{:02}", date.year, date.month, date.day);
            (until.span, "until", self.leaf(until.span, written))
        });
        quoted("because", &block.because);
        quoted("suggest", &block.suggest);
        notes.extend(until);
        notes.extend(block.ask_timeout.as_ref().map(|time| (time.span, "ask timeout", self.seconds(time))));
        notes.extend(
            block.ask_via.as_ref().map(|place| (place.span, "ask via", place_word(place.node).to_owned())),
        );
        notes.sort_by_key(|(span, ..)| span.start);
        let width = if block.owner.is_some() || block.until.is_some() { 7 } else { 0 };
        for (span, word, value) in notes {
            let start = self.keyword_before(span.start, word);
            let pieces = [
                Piece::new(start, Glue::Space, format!("{word:width$}")),
                Piece::new(span.start, Glue::Space, value),
            ];
            self.statement(start, span.end, indent, &pieces);
        }
    }

    fn test(&mut self, test: &Test, indent: usize) {
        let pieces = vec![
            Piece::new(test.span.start, Glue::Space, "test"),
            Piece::new(test.title.span.start, Glue::Space, self.quoted(&test.title)),
        ];
        self.head(pieces, test.span, test.title.span.end, indent);
        for given in &test.givens {
            let start = given.span.start;
            let mut pieces = vec![Piece::new(start, Glue::Space, "given")];
            match &given.node {
                Given::Session(past) => {
                    pieces.push(Piece::new(start, Glue::Space, "session"));
                    self.past(past, &mut pieces);
                }
                Given::Today(date) => {
                    let day = format!("today {:04}-{:02}-{:02}", date.year, date.month, date.day);
                    pieces.push(Piece::new(given.span.end, Glue::Space, day));
                }
                Given::File(name) | Given::Dir(name) => {
                    let word = if matches!(given.node, Given::File(_)) { "file" } else { "dir" };
                    let value = self.last_token(given.span).unwrap_or_else(|| quote(name));
                    pieces.push(Piece::new(given.span.end, Glue::Space, format!("{word} {value}")));
                }
            }
            self.statement(start, given.span.end, indent + 2, &pieces);
        }
        self.expects(&test.expects, indent + 2);
        self.close(test.span, indent);
    }

    fn expects(&mut self, expects: &[Expect], indent: usize) {
        let width = expects.iter().map(|expect| expect.effect.node.word().len()).max().unwrap_or(0);
        for expect in expects {
            self.expect(expect, width, indent);
        }
    }

    fn expect(&mut self, expect: &Expect, width: usize, indent: usize) {
        let effect: Effect = expect.effect.node;
        let tool = self.leaf(expect.tool.span, || self.name_or_quote(&expect.tool.node));
        let mut pieces = vec![
            Piece::new(expect.span.start, Glue::Space, "expect"),
            Piece::new(expect.effect.span.start, Glue::Space, format!("{:width$}", effect.word())),
            Piece::new(expect.tool.span.start, Glue::Space, tool),
        ];
        let span = expect.args.span;
        match &expect.args.node {
            ExpectArgs::Command(command) => {
                pieces.push(Piece::new(span.start, Glue::Wrap, self.leaf(span, || quote(command))));
            }
            ExpectArgs::Object(pairs) => {
                let entries =
                    pairs.iter().map(|(key, value)| (key.span.start, self.pair(key, value))).collect();
                let end = span.end.saturating_sub(1);
                pieces.push(Piece::group(Group {
                    open: "{",
                    close: "}",
                    entries,
                    start: span.start,
                    end,
                    object: true,
                }));
            }
        }
        let mut clauses: Vec<Piece> = Vec::new();
        for (word, text) in [("from", &expect.from), ("as", &expect.as_), ("by", &expect.by)] {
            clauses.extend(text.as_ref().map(|text| {
                let value = self.leaf(text.span, || self.name_or_quote(&text.node));
                Piece::new(text.span.start, Glue::Wrap, format!("{word} {value}"))
            }));
        }
        clauses.sort_by_key(|piece| piece.start);
        pieces.extend(clauses);
        self.statement(expect.span.start, expect.span.end, indent, &pieces);
    }

    fn pair(&self, key: &Text, value: &Spanned<Value>) -> String {
        let key = self.leaf(key.span, || {
            let plain = key.node.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && key.node.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            if plain { key.node.clone() } else { quote(&key.node) }
        });
        format!("{key}: {}", self.value(value))
    }

    fn value(&self, value: &Spanned<Value>) -> String {
        match &value.node {
            Value::String(text) => self.leaf(value.span, || quote(text)),
            Value::Number(text) => text.clone(),
            Value::Bool(true) => "true".to_owned(),
            Value::Bool(false) => "false".to_owned(),
            Value::Null => "null".to_owned(),
            Value::Array(values) => {
                let values: Vec<String> = values.iter().map(|value| self.value(value)).collect();
                format!("[{}]", values.join(", "))
            }
            Value::Object(pairs) if pairs.is_empty() => "{}".to_owned(),
            Value::Object(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|(key, value)| self.pair(key, value)).collect();
                format!("{{ {} }}", pairs.join(", "))
            }
        }
    }

    fn secret(&mut self, name: &Text, parts: &[SecretPart], span: Span, indent: usize) {
        let pieces = vec![
            Piece::new(span.start, Glue::Space, "secret"),
            Piece::new(name.span.start, Glue::Space, name.node.clone()),
        ];
        self.head(pieces, span, name.span.end, indent);
        let width = parts.iter().filter_map(|part| match part {
            SecretPart::Expect(expect) => Some(found_word(expect).len()),
            _ => None,
        });
        let width = width.max().unwrap_or(0);
        for part in parts {
            let (word, place, content) = match part {
                SecretPart::Keyword(list) => ("keyword", list.span, self.list(list).content),
                SecretPart::Pattern(text) => ("pattern", text.span, Content::Text(self.regex(text))),
                SecretPart::Entropy(text) => ("entropy", text.span, Content::Text(text.node.clone())),
                SecretPart::Checksum(text) => ("checksum", text.span, Content::Text(text.node.clone())),
                SecretPart::Samples(list) => ("samples", list.span, self.list(list).content),
                SecretPart::Because(text) => ("because", text.span, Content::Text(self.quoted(text))),
                SecretPart::Suggest(text) => ("suggest", text.span, Content::Text(self.quoted(text))),
                SecretPart::Expect(expect) => {
                    let word = format!("{:width$}", found_word(expect));
                    let mut pieces = vec![
                        Piece::new(expect.span.start, Glue::Space, "expect"),
                        Piece::new(expect.found.span.start, Glue::Space, word),
                    ];
                    pieces.extend(expect.pieces.iter().map(|text| {
                        let written = self.leaf(text.span, || quote(&text.node));
                        Piece::new(text.span.start, Glue::Wrap, written)
                    }));
                    self.statement(expect.span.start, expect.span.end, indent + 2, &pieces);
                    continue;
                }
            };
            let start = self.keyword_before(place.start, word);
            let pieces = [
                Piece::new(start, Glue::Space, word),
                Piece { start: place.start, glue: Glue::Space, content },
            ];
            self.statement(start, place.end, indent + 2, &pieces);
        }
        self.close(span, indent);
    }

    fn program(&mut self, program: &Program, indent: usize) {
        let mut pieces = vec![Piece::new(program.span.start, Glue::Space, "program")];
        pieces.extend(wrapped(program.names.iter().map(|name| self.word(name)).collect()));
        let end = program.names.last().map_or(program.span.start, |name| name.span.end);
        self.head(pieces, program.span, end, indent);
        self.facts(&program.facts, indent + 2);
        self.close(program.span, indent);
    }

    fn facts(&mut self, facts: &[Spanned<ProgramFact>], indent: usize) {
        for fact in facts {
            let pieces = self.fact(fact);
            match &fact.node {
                ProgramFact::Under { words, facts } => {
                    let end = words.last().map_or(fact.span.start, |word| word.span.end);
                    self.head(pieces, fact.span, end, indent);
                    self.facts(facts, indent + 2);
                    self.close(fact.span, indent);
                }
                _ => self.statement(fact.span.start, fact.span.end, indent, &pieces),
            }
        }
    }

    fn fact(&self, fact: &Spanned<ProgramFact>) -> Vec<Piece> {
        let start = fact.span.start;
        let words = |head: &str, words: &[Text]| {
            let mut pieces = vec![Piece::new(start, Glue::Space, head)];
            pieces.extend(wrapped(words.iter().map(|word| self.word(word)).collect()));
            pieces
        };
        let condition = |pieces: &mut Vec<Piece>, word: &str, flags: &[Text]| {
            if let Some(first) = flags.first() {
                pieces.push(Piece::new(first.span.start, Glue::Wrap, word));
                pieces.extend(wrapped(flags.iter().map(|flag| self.word(flag)).collect()));
            }
        };
        let texts_of = |head: &str, texts: &[Text]| {
            let mut pieces = words(head, &[]);
            let texts = texts.iter().map(|text| (text.span.start, self.quoted(text))).collect();
            pieces.extend(wrapped(texts));
            pieces
        };
        let place_of = |verb: &str, place: &EffectPlace| {
            let no: &[Text] = &[];
            match place {
                EffectPlace::Operands(0) => words(&format!("{verb} its operands"), no),
                EffectPlace::Operands(skip) => words(&format!("{verb} its operands after {skip}"), no),
                EffectPlace::Operand(number) => words(&format!("{verb} operand {number}"), no),
                EffectPlace::Last => words(&format!("{verb} its last operand"), no),
                EffectPlace::ButLast => words(&format!("{verb} its operands but the last"), no),
                EffectPlace::Flags(flags) => words(verb, flags),
                EffectPlace::Beginnings(texts) => texts_of(verb, texts),
            }
        };
        match &fact.node {
            ProgramFact::SameWords(names) => words("same words", names),
            ProgramFact::ValueFlags(flags) => words("flags with values", flags),
            ProgramFact::PairFlags(flags) => words("flags with two values", flags),
            ProgramFact::AttachedFlags(flags) => words("flags with attached values", flags),
            ProgramFact::PlainFlags(flags) => words("flags without values", flags),
            ProgramFact::PlaceholderFlags(flags) => words("flags with placeholders", flags),
            ProgramFact::InertFlags(flags) => words("flags that run nothing", flags),
            ProgramFact::InputFlags(flags) => words("flags that run its input", flags),
            ProgramFact::FolderFlags(flags) => words("flags that change folder", flags),
            ProgramFact::Options(word) => words("options", std::slice::from_ref(word)),
            ProgramFact::Assignments => words("assignments first", &[]),
            ProgramFact::Dialect(word) => words("reads texts as", std::slice::from_ref(word)),
            ProgramFact::Placeholders(holes) => words("placeholders", holes),
            ProgramFact::EndWords(ends) => words("ends its operands at", ends),
            ProgramFact::RunsOperands { as_text, skip } => {
                let mut head = "runs its operands".to_owned();
                if *as_text {
                    head.push_str(" as text");
                }
                if *skip > 0 {
                    head.push_str(&format!(" after {skip}"));
                }
                words(&head, &[])
            }
            ProgramFact::RunsAfterDashes => words("runs its operands after --", &[]),
            ProgramFact::RunsOperand(number) => words(&format!("runs operand {number} as text"), &[]),
            ProgramFact::RunsFlags { flags, form, after } => {
                let mut pieces = words("runs", flags);
                pieces.push(Piece::new(form.span.start, Glue::Wrap, format!("as {}", form.node)));
                if !after.is_empty() {
                    pieces.push(Piece::new(form.span.end, Glue::Wrap, "after"));
                    let texts = after.iter().map(|text| (text.span.start, self.quoted(text))).collect();
                    pieces.extend(wrapped(texts));
                }
                pieces
            }
            ProgramFact::RunsInputCode(language) => {
                let head = language.as_ref().map(|word| format!("runs its input as code of {}", word.node));
                words(head.as_deref().unwrap_or("runs its input as code"), &[])
            }
            ProgramFact::RunsOperandCode { number, language, unless } => {
                let mut pieces = words(&format!("runs operand {number} as code of {}", language.node), &[]);
                condition(&mut pieces, "unless", unless);
                pieces
            }
            ProgramFact::RunsOperandFile { number, language, unless } => {
                let of = language.as_ref().map(|word| format!(" of {}", word.node)).unwrap_or_default();
                let mut pieces = words(&format!("runs operand {number} as file{of}"), &[]);
                condition(&mut pieces, "unless", unless);
                pieces
            }
            ProgramFact::RunsFlagsOf { flags, form, language } => {
                let of = language.as_ref().map(|word| format!(" of {}", word.node)).unwrap_or_default();
                let mut pieces = words("runs", flags);
                pieces.push(Piece::new(form.span.start, Glue::Wrap, format!("as {}{of}", form.node)));
                pieces
            }
            ProgramFact::RunsProjectCode => words("runs project code", &[]),
            ProgramFact::Effect { verb, place, with, unless } => {
                let mut pieces = place_of(&verb.node, place);
                condition(&mut pieces, "with", with);
                condition(&mut pieces, "unless", unless);
                pieces
            }
            ProgramFact::TakesTrees(with) => {
                let mut pieces = words("takes trees", &[]);
                condition(&mut pieces, "with", with);
                pieces
            }
            ProgramFact::UsesNetwork => words("uses the network", &[]),
            ProgramFact::RunsBeginnings(texts) => {
                let mut pieces = texts_of("runs", texts);
                pieces.push(Piece::new(fact.span.end, Glue::Wrap, "as text"));
                pieces
            }
            ProgramFact::RunsOperandsCode(language) => {
                words(&format!("runs its operands as code of {}", language.node), &[])
            }
            ProgramFact::RunsInputAlways(language) => {
                let of =
                    language.as_ref().map(|word| format!(" as code of {}", word.node)).unwrap_or_default();
                words(&format!("runs its input always{of}"), &[])
            }
            ProgramFact::RunsInput => words("runs its input", &[]),
            ProgramFact::RunsInputWords => words("runs its input as words", &[]),
            ProgramFact::ListsOperands => words("lists its operands", &[]),
            ProgramFact::PrintsNames(names) => words("prints names for", names),
            ProgramFact::ConnectsToOperands => words("connects to its operands", &[]),
            ProgramFact::ConnectsTo(place) => place_of("connects to", place),
            ProgramFact::ConnectsToRemote => words("connects to its remote operands", &[]),
            ProgramFact::Under { words: names, .. } => words("under", names),
        }
    }

    fn word(&self, word: &Text) -> (u32, String) {
        (word.span.start, self.leaf(word.span, || self.name_or_quote(&word.node)))
    }

    pub(super) fn name_ref(&self, name: &NameRef) -> (u32, String) {
        match name {
            NameRef::Bare(text) => (text.span.start, text.node.clone()),
            NameRef::Quoted(text) => (text.span.start, self.quoted(text)),
            NameRef::Ref(text) => (text.span.start, format!("@{}", text.node)),
        }
    }

    /// A name of a tree without a text: bare where that reads back as the same name.
    fn name_or_quote(&self, name: &str) -> String {
        let flag = name.starts_with(['-', '+']);
        if flag
            || crate::parse::is_bare_name(name)
            || name.contains('/') && !name.contains([' ', '*', '"', '\\'])
        {
            name.to_owned()
        } else {
            quote(name)
        }
    }
}

fn member_span(member: &Member) -> Span {
    match member {
        Member::Name(text) | Member::Pattern(text) | Member::Ref(text) => text.span,
        Member::Run(run) => run.span,
    }
}

/// An item that has an empty line before it where no text says otherwise.
fn stands_alone(item: &Item) -> bool {
    matches!(
        item,
        Item::Block(_)
            | Item::Test(_)
            | Item::Project { .. }
            | Item::Program(_)
            | Item::Secret { .. }
            | Item::List { .. }
    )
}

/// Words side by side with commas, each on the line while it fits.
pub(super) fn wrapped(words: Vec<(u32, String)>) -> Vec<Piece> {
    let last = words.len().saturating_sub(1);
    let comma = |at: usize| if at == last { "" } else { "," };
    words
        .into_iter()
        .enumerate()
        .map(|(at, (start, word))| Piece::new(start, Glue::Wrap, format!("{word}{}", comma(at))))
        .collect()
}

fn found_word(expect: &SecretExpect) -> &'static str {
    if expect.found.node { "found" } else { "nothing" }
}

fn place_word(place: AskPlace) -> &'static str {
    match place {
        AskPlace::Page => "page",
    }
}
