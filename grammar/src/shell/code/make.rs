//! Makefiles that stand in a command: the lines of their recipes are texts for a shell.
//!
//! INVARIANT: a text is never complete; what is listed is what its recipes and shell functions say, in the order of the text.

use super::{Found, Inside};
use crate::shell::options::is_name;
use crate::shell::{Piece, Word};
use std::collections::BTreeMap;

/// Most bytes that the variables of one line may become.
const MAX_EXPANDED: usize = 16 * 1024;
/// Most variables that are followed.
const MAX_VARIABLES: usize = 64;

/// Reads a makefile.
pub(super) fn read(code: &str) -> Found {
    let mut reader = Reader { inside: Vec::new(), variables: BTreeMap::new() };
    let (whole, mut mark) = (code.replace("\\\n", " "), '\t');
    for line in whole.lines() {
        if reader.inside.len() > super::MAX_INSIDE {
            break;
        }
        match line.strip_prefix(mark) {
            Some(recipe) => reader.recipe(recipe),
            None if line.trim_start().starts_with('#') => {}
            None => {
                if let Some(value) = line.strip_prefix(".RECIPEPREFIX") {
                    mark = value.trim_start_matches([' ', ':', '?', '=']).chars().next().unwrap_or('\t');
                }
                reader.line(line);
            }
        }
    }
    Found { inside: reader.inside, complete: false }
}

struct Reader {
    inside: Vec<Inside>,
    variables: BTreeMap<String, String>,
}

impl Reader {
    /// A rule, an assignment or a directive.
    fn line(&mut self, line: &str) {
        let text = line.trim();
        let text = ["export ", "override ", "define "]
            .iter()
            .fold(text, |t, word| t.strip_prefix(word).unwrap_or(t));
        let end = text.find(['=', ':', '(']).unwrap_or(text.len());
        let (front, behind) = text.split_at(end);
        let name = front.trim_end_matches(['?', '+', '!', ' ', '\t']);
        let value = behind.trim_start_matches(':').strip_prefix('=').map(str::trim);
        match value {
            Some(value) if is_name(name) => {
                if front.ends_with('!') {
                    return self.recipe(value);
                }
                let word = self.expand(value);
                let known = word.known().map(str::to_string);
                if self.variables.len() < MAX_VARIABLES || self.variables.contains_key(name) {
                    let value = known.unwrap_or_else(|| "${_}".to_string());
                    let value = match (front.ends_with('+'), self.variables.get(name)) {
                        (true, Some(before)) if before.len() < MAX_EXPANDED => format!("{before} {value}"),
                        _ => value,
                    };
                    self.variables.insert(name.to_string(), value);
                }
            }
            _ => match text.split_once(':').and_then(|(_, behind)| behind.split_once(';')) {
                Some((_, recipe)) => self.recipe(recipe),
                None => drop(self.expand(text)),
            },
        }
    }

    /// One line of a recipe.
    fn recipe(&mut self, line: &str) {
        let line = line.trim_start_matches(['@', '-', '+', ' ', '\t']).trim_end();
        let word = self.expand(line);
        if !line.is_empty() {
            self.inside.push(Inside::Shell(word));
        }
    }

    /// A text with its variables; those that the makefile does not set are those of the environment.
    fn expand(&mut self, text: &str) -> Word {
        let (mut pieces, mut run, mut rest) = (Vec::new(), String::new(), text);
        while let Some((before, behind)) = rest.split_once('$') {
            run.push_str(before);
            let mut chars = behind.chars();
            let first = chars.next().unwrap_or('$');
            let close = match first {
                '(' => Some((first, ')')),
                '{' => Some((first, '}')),
                _ => None,
            };
            rest = chars.as_str();
            let name = match close {
                Some(pair) => {
                    let inner = rest.get(..end_of(rest, pair)).unwrap_or(rest);
                    rest = rest.get(inner.len() + 1..).unwrap_or_default();
                    inner
                }
                None if first == '$' => {
                    run.push('$');
                    continue;
                }
                None => behind.get(..first.len_utf8()).unwrap_or_default(),
            };
            if let Some(command) = name.strip_prefix("shell ") {
                self.inside.push(Inside::Shell(Word::Known(command.replace("$$", "$"))));
            }
            match self.variables.get(name) {
                Some(value) if run.len() + value.len() < MAX_EXPANDED => run.push_str(value),
                None if is_name(name) => {
                    run.push_str("${");
                    run.push_str(name);
                    run.push('}');
                }
                _ => {
                    pieces.push(Piece::Text(std::mem::take(&mut run)));
                    pieces.push(Piece::Hole { quoted: true });
                }
            }
        }
        run.push_str(rest);
        if pieces.is_empty() {
            return Word::Known(run);
        }
        pieces.push(Piece::Text(run));
        pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
        Word::Unknown(pieces)
    }
}

/// Where the bracket closes that is open before a text.
fn end_of(text: &str, (open, close): (char, char)) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            c if c == open => depth += 1,
            c if c == close && depth == 0 => return at,
            c if c == close => depth -= 1,
            _ => {}
        }
    }
    text.len()
}
