//! The words of the language and of other tools, and which word was meant.
//!
//! INVARIANT: a suggestion is always a word that the language has in that place.

use super::{Rule, lex};

/// Words that may not be bare names, as in `policy.pest`.
pub(super) const KEYWORDS: &[&str] = &[
    "exception",
    "otherwise",
    "severity",
    "because",
    "default",
    "program",
    "project",
    "suggest",
    "assert",
    "except",
    "expect",
    "secret",
    "unless",
    "allow",
    "asset",
    "guard",
    "owner",
    "until",
    "deny",
    "from",
    "info",
    "list",
    "mode",
    "only",
    "open",
    "rule",
    "test",
    "then",
    "warn",
    "when",
    "ask",
    "for",
    "set",
    "use",
    "as",
    "at",
    "by",
    "on",
];

/// Words of other tools, with what this language says instead.
pub(super) const FOREIGN: &[(&str, &str)] = &[
    ("block", "`block` is the YAML spelling of `deny`"),
    ("review", "`review` is the YAML spelling of `ask`"),
    ("forbidden", "`forbidden` is another tool's word for `deny`"),
    ("forbid", "`forbid` is another tool's word for `deny`"),
    ("prompt", "`prompt` is another tool's word for `ask`"),
    ("permit", "`permit` is another tool's word for `allow`"),
    ("reject", "`reject` is another tool's word for `deny`"),
    ("refuse", "`refuse` is another tool's word for `deny`"),
    ("error", "an error is a `deny`"),
    ("warning", "write `warn`"),
];

/// Clauses of other tools, with what this language says instead.
pub(super) const FOREIGN_CLAUSES: &[(&str, &str)] = &[
    ("within", "write `over N per 10m`"),
    ("duplicate", "a payment made again is `repeats over 0 per 10m`"),
    ("outside", "hours are `ask unless hours \"mon-fri 08:00-20:00 Europe/Berlin\"`"),
    ("reason", "the reason is `because \"…\"`"),
    ("message", "the reason is `because \"…\"`"),
    ("if", "conditions begin with `when` or `unless`"),
    ("where", "conditions begin with `when` or `unless`"),
    ("unlist", "what is taken back from a list is `except`"),
    ("not", "what is taken back from a list is `except`"),
    ("or", "any of several is a comma"),
    ("and", "one of several is a comma; scopes side by side must all hold"),
    ("tool", "the tools of a block are named behind `on`"),
    ("tools", "the tools of a block are named behind `on`"),
    ("server", "the servers of a block are named behind `from`"),
    ("host", "a host in a URL is `domain \"…\"`"),
    ("url", "a host in a URL is `domain \"…\"`"),
    ("file", "a file is `path \"./…\"`; the files of a block are named behind `for`"),
    ("bash", "a command is `run` with a pattern in backticks"),
    ("limit", "a limit is `amount over 5 USDC`, `calls over 30 per 1h`"),
    ("budget", "a budget is `spend over 5 USDC per 1d`"),
];

pub(super) const SUBJECTS: &[&str] = &[
    "path", "domain", "command", "run", "shell", "arg", "content", "network", "asset", "scheme", "seller",
    "payee", "call", "amount", "approval", "calls", "lifetime", "lines", "repeats", "rise", "spend",
];

pub(super) const VERBS: &[&str] = &["allow", "info", "warn", "ask", "deny", "only", "open"];

pub(super) const CLAUSES: &[&str] = &["over", "when", "unless", "because", "suggest", "then", "except"];

/// How a statement is written, for those who cannot know.
pub(super) fn usage(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::header => "`policy \"team/name\" language 1`",
        Rule::default => "`default ask`",
        Rule::ask_timeout => "`ask timeout 120s`",
        Rule::ask_via => "`ask via page`",
        Rule::use_ => "`use std/git, \"./team.policy\"`",
        Rule::set => "`set std/git/block to off because \"…\"`",
        Rule::named => "`list tests is [`, entries with commas, and `]`",
        Rule::asset => "`asset USDC is \"eip155:…\" decimals 6`",
        Rule::payee => "`payee shop is \"0x…\"`",
        Rule::project_head => "`project \"./folder\" { … }`",
        Rule::test_head => "`test \"what it shows\" { … }`",
        Rule::block_head => "`rule NAME on TOOLS { … }`",
        Rule::program_head => "`program NAMES { … }`",
        Rule::otherwise => "`otherwise deny because \"…\"`",
        Rule::expect => "`expect deny TOOL { path: \"…\" }` or `expect deny bash \"command\"`",
        Rule::given => {
            "`given session flagged`, `given today 2027-01-01`, `given file \"…\"` or `given dir \"…\"`"
        }
        Rule::fact_flags => "`flags with values -C, --git-dir`",
        Rule::runs => "`runs its operands`, `runs its input` or `runs -c as text`",
        Rule::reads => "`reads texts as bash`",
        Rule::placeholders => "`placeholders \"{}\"`",
        Rule::ends => "`ends its operands at \":::\"`",
        Rule::under_head => "`under exec, \"compose exec\" { … }`",
        _ => return None,
    })
}

/// Whether a word is a known one with a slip, or one of another tool.
pub(super) fn is_meant(word: &str, known: &[&str]) -> bool {
    nearest(word, known).is_some() || FOREIGN.iter().any(|(foreign, _)| *foreign == word)
}

/// Whether a name can stand without quotes.
pub(crate) fn is_bare_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(lex::is_word_byte)
        && !KEYWORDS.contains(&name)
}

pub(super) fn join(words: impl Iterator<Item = String>) -> String {
    join_with(words, "or")
}

/// `a, b or c`.
pub(super) fn join_with(words: impl Iterator<Item = String>, and: &str) -> String {
    let words: Vec<String> = words.collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {and} {last}", rest.join(", ")),
    }
}

/// The known word that is nearest, if one is near enough to be meant.
pub(super) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if word.len() > 40 {
        return None;
    }
    let allowed = match word.len() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    known
        .iter()
        .map(|known| (distance(word, known), *known))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Edits (insert, remove, replace, swap neighbors) from one word to the other.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    // Words of very different lengths are far apart whatever their letters are; a key may be as long as its file.
    let far = (left.len() / 4).abs_diff(right.len());
    if left.len() / 4 > right.len() && far > 1 + right.len() / 4 {
        return far;
    }
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut best =
                (cell(&above, j) + usize::from(a != b)).min(cell(&above, j + 1) + 1).min(cell(&row, j) + 1);
            let swapped = i > 0 && j > 0 && left.get(i - 1) == Some(b) && right.get(j - 1) == Some(a);
            if swapped {
                best = best.min(cell(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_keyword_is_found() {
        assert_eq!(nearest("alow", &["allow", "ask"]), Some("allow"));
        assert_eq!(nearest("dney", &["deny", "ask"]), Some("deny"));
        assert_eq!(nearest("Otherwise", &["otherwise"]), Some("otherwise"));
        assert_eq!(nearest("on", &["as", "at"]), None);
        assert_eq!(nearest("banana", &["because"]), None);
    }
}
