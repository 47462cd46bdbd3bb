//! One statement of SQL.
//!
//! INVARIANT: every place in a statement where another can begin is looked at; a condition that is always true is
//! none.

use super::super::Inside;
use super::{Sql, Token};

/// Functions that only compute.
const PURE: &[&str] = &[
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "now",
    "coalesce",
    "lower",
    "upper",
    "length",
    "char_length",
    "substr",
    "substring",
    "round",
    "abs",
    "cast",
    "date",
    "datetime",
    "time",
    "strftime",
    "extract",
    "date_trunc",
    "to_char",
    "concat",
    "concat_ws",
    "trim",
    "ltrim",
    "rtrim",
    "replace",
    "nullif",
    "ifnull",
    "isnull",
    "greatest",
    "least",
    "row_number",
    "rank",
    "dense_rank",
    "lag",
    "lead",
    "over",
    "in",
    "values",
    "exists",
    "any",
    "all",
    "some",
    "group_concat",
    "string_agg",
    "array_agg",
    "json_agg",
    "json_object",
    "json_extract",
    "jsonb_build_object",
    "version",
    "sqlite_version",
    "current_database",
    "current_user",
    "database",
    "user",
    "pg_size_pretty",
    "pg_database_size",
    "pg_total_relation_size",
    "pg_relation_size",
    "unnest",
    "generate_series",
    "random",
    "floor",
    "ceil",
    "ceiling",
    "mod",
    "power",
    "sqrt",
    "decode",
    "encode",
    "hex",
    "typeof",
    "printf",
    "format",
    "instr",
    "position",
    "left",
    "right",
    "split_part",
    "regexp_replace",
    "to_date",
    "to_timestamp",
    "age",
    "iif",
    "if",
    "filter",
    "and",
    "or",
    "not",
    "on",
    "where",
    "as",
    "from",
    "select",
    "by",
    "using",
    "join",
    "then",
    "when",
    "else",
    "union",
    "except",
    "intersect",
    "distinct",
    "interval",
    "varchar",
    "decimal",
    "numeric",
    "char",
    "int",
    "partition",
    "with",
    "within",
    "is",
    "like",
    "between",
    "having",
    "limit",
    "offset",
    "case",
    "end",
    "table",
    "total",
    "first_value",
    "last_value",
    "pragma_table_info",
    "pragma_table_list",
    "current_schema",
    "year",
    "month",
    "day",
    "rollup",
    "cube",
];

/// Words behind which another statement may begin.
const OPENERS: &[&str] =
    &["as", "then", "else", "loop", "begin", "analyze", "explain", "verbose", "union", "all"];

impl Sql {
    pub(super) fn statement(&mut self, tokens: &[Token]) {
        let mut begins = true;
        let mut at = 0;
        while at < tokens.len() {
            let (word, next) = (word(tokens, at), self::word(tokens, at + 1));
            if begins && !word.is_empty() {
                self.begin(tokens, at);
            }
            if let Some(Token::Op('(')) = tokens.get(at + 1) {
                self.function(tokens, at);
            }
            self.clause(tokens, at);
            let after = matches!(next, "select" | "insert" | "update" | "delete" | "merge");
            begins = OPENERS.contains(&word)
                || matches!(tokens.get(at), Some(Token::Op('(')))
                || after && matches!(tokens.get(at), Some(Token::Op(')')));
            at += 1;
        }
    }

    /// A statement that begins with this token.
    fn begin(&mut self, tokens: &[Token], at: usize) {
        let first = word(tokens, at);
        let behind = |skip: &[&str]| {
            let mut next = at + 1;
            while next < tokens.len() && skip.contains(&word(tokens, next)) {
                next += 1;
            }
            next
        };
        let optional: &[&str] = &[
            "if",
            "exists",
            "not",
            "or",
            "replace",
            "only",
            "from",
            "into",
            "table",
            "low_priority",
            "quick",
            "ignore",
        ];
        match first {
            "select" | "values" | "show" | "describe" | "desc" | "table" => self.does(&["select"]),
            "with" | "explain" | "begin" | "commit" | "rollback" | "start" | "end" | "use" | "analyze"
            | "recursive" => {}
            "pragma" => self.found.complete &= !tokens.contains(&Token::Op('=')),
            "set" => {
                self.found.complete &=
                    !tokens.iter().any(|t| matches!(t, Token::Word(w) if w == "global" || w == "persist"))
            }
            "drop" => {
                let mut kind = at + 1;
                while matches!(
                    word(tokens, kind),
                    "materialized" | "external" | "temporary" | "temp" | "unique" | "foreign"
                ) {
                    kind += 1;
                }
                let mut next = kind + 1;
                while matches!(word(tokens, next), "if" | "exists" | "concurrently") {
                    next += 1;
                }
                self.does(&["drop", word(tokens, kind), &name(tokens, next)]);
                // `DROP TABLE a, b`.
                let mut more = next;
                while more < tokens.len() && more < next + 64 {
                    if tokens.get(more) == Some(&Token::Op(',')) {
                        self.does(&["drop", word(tokens, kind), &name(tokens, more + 1)]);
                    }
                    more += 1;
                }
            }
            "truncate" => self.does(&["truncate", &name(tokens, behind(optional))]),
            "delete" => {
                let target = name(tokens, behind(optional));
                let flag = if conditional(tokens, at) { "--where" } else { "" };
                self.does(&["delete", &target, flag]);
            }
            "update"
                if !matches!(word(tokens, at + 1), "set" | "on" | "of" | "skip" | "nowait" | "cascade")
                    && !is_lock(tokens, at) =>
            {
                let target = name(tokens, behind(optional));
                let flag = if conditional(tokens, at) { "--where" } else { "" };
                self.does(&["update", &target, flag]);
            }
            "alter" => {
                let kind = word(tokens, at + 1);
                let drops =
                    tokens.iter().skip(at + 2).any(|token| matches!(token, Token::Word(w) if w == "drop"));
                let next = behind(&[kind, "if", "exists", "only"]);
                self.does(&["alter", kind, &name(tokens, next), if drops { "--drop" } else { "" }]);
            }
            "grant" | "revoke" => {
                let target = tokens
                    .iter()
                    .skip(at)
                    .skip_while(|t| !matches!(t, Token::Word(w) if w == "to" || w == "from"));
                let target: Vec<Token> = target.skip(1).take(3).cloned().collect();
                let what = word(tokens, at + 1);
                self.does(&[first, what, &name(&target, 0)]);
            }
            "insert" | "replace" | "merge" | "upsert" if tokens.get(at + 1) != Some(&Token::Op('(')) => {
                self.does(&["insert", &name(tokens, behind(optional))]);
            }
            "create" => {
                let mut kind = at + 1;
                while matches!(
                    word(tokens, kind),
                    "or" | "replace" | "temporary" | "temp" | "unique" | "materialized" | "external"
                ) {
                    kind += 1;
                }
                let mut next = kind + 1;
                while matches!(word(tokens, next), "if" | "not" | "exists" | "concurrently") {
                    next += 1;
                }
                let what = word(tokens, kind);
                self.found.complete &= matches!(what, "table" | "index" | "view" | "schema" | "database");
                self.does(&["create", what, &name(tokens, next)]);
            }
            "copy" => self.copy(tokens, at),
            "attach" => {
                self.unclear();
                let text = tokens.iter().skip(at).find(|token| matches!(token, Token::Text(_)));
                self.file(text, true);
            }
            "do" => {
                self.unclear();
                self.does(&["do"]);
                self.code(tokens, at);
            }
            "exec" | "execute" | "call" | "prepare" | "declare" => {
                self.unclear();
                if first != "declare" {
                    self.does(&["call", &name(tokens, at + 1)]);
                }
                self.code(tokens, at);
            }
            "load" | "import" => {
                self.unclear();
                self.does(&["insert"]);
            }
            // Not a statement: the name of something.
            _ if at > 0 => {}
            "shutdown" | "kill" | "flush" | "purge" | "reset" | "rename" | "vacuum" | "reindex"
            | "optimize" | "lock" | "unlock" | "refresh" | "cluster" | "comment" | "notify" | "handler"
            | "install" | "uninstall" | "change" | "detach" | "export" | "undrop" | "backup" | "restore"
            | "dbcc" => {
                self.unclear();
                self.does(&[first, word(tokens, at + 1)]);
            }
            _ => self.unclear(),
        }
    }

    /// Texts of a statement that runs them.
    fn code(&mut self, tokens: &[Token], at: usize) {
        for token in tokens.iter().skip(at) {
            match token {
                Token::Body(body) => self.bodies.push(body.clone()),
                Token::Text(text) if text.contains(' ') => self.bodies.push(text.clone()),
                _ => {}
            }
        }
    }

    fn copy(&mut self, tokens: &[Token], at: usize) {
        let from = tokens.iter().skip(at).any(|token| matches!(token, Token::Word(word) if word == "from"));
        let text = tokens.iter().skip(at).position(|token| matches!(token, Token::Text(_))).map(|n| n + at);
        let program = text.is_some_and(|n| n > 0 && word(tokens, n - 1) == "program");
        match (program, text.and_then(|n| tokens.get(n))) {
            (true, Some(Token::Text(text))) => {
                let text = text.clone();
                self.shell(&text);
            }
            (_, Some(text)) => {
                let place = text.clone();
                self.file(Some(&place), !from);
            }
            (_, None) => {}
        }
        if from {
            self.does(&["insert", &name(tokens, at + 1)]);
        }
    }

    /// A function call at this token.
    fn function(&mut self, tokens: &[Token], at: usize) {
        let called = match tokens.get(at) {
            Some(Token::Word(word)) => word.as_str(),
            Some(Token::Name(_)) => return,
            _ => return,
        };
        let argument = tokens.get(at + 2);
        match called {
            "load_file"
            | "pg_read_file"
            | "pg_read_binary_file"
            | "pg_ls_dir"
            | "readfile"
            | "lo_import"
            | "read_csv"
            | "read_csv_auto"
            | "read_parquet"
            | "read_json"
            | "read_text"
            | "file" => self.file(argument, false),
            "writefile" => self.file(argument, true),
            "lo_export" => {
                let text = tokens.iter().skip(at).find(|token| matches!(token, Token::Text(_)));
                self.file(text, true);
            }
            "sys_exec" | "sys_eval" | "shell" => match argument {
                Some(Token::Text(text)) => {
                    let text = text.clone();
                    self.shell(&text);
                }
                _ => self.unclear(),
            },
            "eval" | "query_to_xml" | "dblink" | "dblink_exec" => {
                self.unclear();
                self.code(tokens, at);
            }
            // The list of columns behind the name of a table, a type, a keyword.
            _ if PURE.contains(&called) => {}
            _ if at > 0
                && matches!(
                    word(tokens, at - 1),
                    "into" | "table" | "exists" | "update" | "on" | "index" | "references" | "with" | "key"
                ) => {}
            _ if matches!(word(tokens, 0), "create" | "insert" | "alter" | "grant") => {}
            _ => self.unclear(),
        }
    }

    /// Clauses that stand anywhere in a statement.
    fn clause(&mut self, tokens: &[Token], at: usize) {
        match (word(tokens, at), word(tokens, at + 1)) {
            ("into", "outfile" | "dumpfile") => self.file(tokens.get(at + 2), true),
            ("into", _) if word(tokens, 0) == "vacuum" => self.file(tokens.get(at + 1), true),
            ("into", _) if matches!(word(tokens, 0), "select" | "with") => {
                self.does(&["create", "table", &name(tokens, at + 1)]);
            }
            ("infile", _) => self.file(tokens.get(at + 1), false),
            ("xp_cmdshell", _) => match tokens.iter().skip(at).find(|t| matches!(t, Token::Text(_))) {
                Some(Token::Text(text)) => {
                    let text = text.clone();
                    self.shell(&text);
                }
                _ => {
                    self.unclear();
                    self.found.inside.push(Inside::Shell(super::super::text::hole()));
                }
            },
            ("load_extension" | "sp_configure" | "openrowset" | "sp_oacreate", _) => self.unclear(),
            _ => {}
        }
    }
}

/// The bare word at a place; empty when there is none.
fn word(tokens: &[Token], at: usize) -> &str {
    match tokens.get(at) {
        Some(Token::Word(word)) => word,
        _ => "",
    }
}

/// The dotted name that begins at a place.
fn name(tokens: &[Token], mut at: usize) -> String {
    let mut out = String::new();
    loop {
        match tokens.get(at) {
            Some(Token::Word(text) | Token::Name(text) | Token::Text(text)) => out.push_str(text),
            Some(Token::Op('*')) => out.push('*'),
            _ => return out,
        }
        if tokens.get(at + 1) != Some(&Token::Op('.')) || out.len() > 512 {
            return out;
        }
        out.push('.');
        at += 2;
    }
}

/// `FOR UPDATE`, `ON UPDATE`, `DO UPDATE`.
fn is_lock(tokens: &[Token], at: usize) -> bool {
    at > 0 && matches!(word(tokens, at - 1), "for" | "on" | "do" | "key" | "before" | "after" | "of")
}

/// Whether the statement from here on has a condition that is not always true.
fn conditional(tokens: &[Token], at: usize) -> bool {
    let mut depth = 0i32;
    let mut start = None;
    let mut end = tokens.len();
    for (n, token) in tokens.iter().enumerate().skip(at) {
        match token {
            Token::Op('(') => depth += 1,
            Token::Op(')') => {
                depth -= 1;
                if depth < 0 {
                    end = n;
                    break;
                }
            }
            Token::Word(word) if depth == 0 && word == "where" && start.is_none() => start = Some(n + 1),
            Token::Word(word)
                if depth == 0
                    && start.is_some()
                    && matches!(word.as_str(), "returning" | "order" | "limit") =>
            {
                end = n;
                break;
            }
            _ => {}
        }
    }
    let Some(start) = start else { return false };
    let condition = tokens.get(start..end).unwrap_or_default();
    // Brackets around the whole say nothing.
    let bare: Vec<&Token> = condition.iter().filter(|t| !matches!(t, Token::Op('(' | ')'))).collect();
    let mut parts = bare.split(|token| matches!(token, Token::Word(word) if word == "or"));
    !bare.is_empty() && !parts.any(always)
}

fn always(part: &[&Token]) -> bool {
    let mut all = part.split(|token| matches!(token, Token::Word(word) if word == "and"));
    all.all(|part| match part {
        [Token::Word(word)] => word == "true",
        [Token::Number(number)] => number != "0",
        [Token::Word(not), Token::Word(word)] => not == "not" && word == "false",
        [a, Token::Op('='), b] => a == b,
        [a, Token::Op('>' | '<'), Token::Op('='), b] => a == b,
        [Token::Number(a), Token::Op(op @ ('<' | '>')), Token::Number(b)] => {
            match (a.parse::<f64>(), b.parse::<f64>()) {
                (Ok(a), Ok(b)) => (*op == '<' && a < b) || (*op == '>' && a > b),
                _ => false,
            }
        }
        [Token::Number(a), Token::Op('<' | '!'), Token::Op('>' | '='), Token::Number(b)] => a != b,
        [_, Token::Word(like), Token::Text(text)] => like == "like" && text.chars().all(|c| c == '%'),
        _ => false,
    })
}
