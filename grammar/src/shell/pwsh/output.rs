//! What cmdlets hand to the next stage of a pipe: names of files, texts, what came over the network.
//!
//! INVARIANT: a name is given only when the cmdlet can give no other; a filter that is not read leaves only the folder.

use super::list::Given;
use super::value::{Value, concat, hole};
use super::{Reader, State};
use crate::shell::{Part, Piece, Word};

/// Cmdlets that take names of files through the pipe.
pub(super) const TAKES_PATHS: &[&str] = &[
    "Remove-Item",
    "Get-Item",
    "Get-Content",
    "Get-ChildItem",
    "Copy-Item",
    "Move-Item",
    "Rename-Item",
    "Clear-Content",
    "Invoke-Item",
    "Get-FileHash",
    "Unblock-File",
    "Clear-Item",
    "Get-Acl",
    "Remove-ItemProperty",
    "Resolve-Path",
    "Compress-Archive",
    "Test-Path",
];
/// Cmdlets whose output came over the network.
const FETCHES: &[&str] =
    &["Invoke-WebRequest", "Invoke-RestMethod", "curl", "wget", "curl.exe", "wget.exe", "Start-BitsTransfer"];

impl Reader<'_, '_> {
    /// The paths that come through the pipe, as further operands.
    pub(super) fn piped_paths(&self, name: &str, input: Option<&Value>, given: &mut Vec<Given>) {
        let Some(input) = input.filter(|_| TAKES_PATHS.contains(&name)) else { return };
        let names_paths = given.iter().any(|one| matches!(one, Given::Values(_)))
            && !matches!(name, "Copy-Item" | "Move-Item" | "Rename-Item" | "Compress-Archive");
        if !names_paths {
            let at = given.len();
            given.insert(
                at,
                Given::Values(Value {
                    items: if input.items.is_empty() { vec![hole(true)] } else { input.items.clone() },
                    ..Value::default()
                }),
            );
        }
    }

    /// What a cmdlet gives.
    pub(super) fn output(
        &mut self,
        name: &str,
        words: &[Word],
        parts: &[Part],
        input: Option<&Value>,
        blocks: &Value,
        state: &mut State,
    ) -> Value {
        let operands: Vec<Word> = paths(words, parts);
        let mut unknown = Value::unknown();
        if let Some(input) = input {
            unknown.taint(input.fetched, input.decoded);
        }
        let flag = |wanted: &str| value_of(words, parts, wanted);
        let has = |wanted: &str| {
            parts.iter().any(|p| matches!(p, Part::Flag { names, .. } if names.iter().any(|n| n == wanted)))
        };
        match name {
            "Get-ChildItem" => {
                let filter = flag("-Filter").or_else(|| flag("-Include"));
                let folders = if operands.is_empty() { vec![Word::Known(".".into())] } else { operands };
                Value {
                    items: folders
                        .iter()
                        .map(|folder| below(folder, filter.as_ref(), has("-Recurse")))
                        .collect(),
                    ..Value::default()
                }
            }
            "Get-Item" | "Resolve-Path" | "Convert-Path" if !operands.is_empty() => {
                Value { items: operands, ..Value::default() }
            }
            "Get-Location" => Value::text("."),
            "Join-Path" => {
                let all: Vec<Word> = words
                    .iter()
                    .zip(parts)
                    .filter(|(_, p)| matches!(p, Part::Operand { .. } | Part::FlagValue { .. }))
                    .map(|(w, _)| w.clone())
                    .collect();
                let mut joined = Vec::new();
                for (at, word) in all.into_iter().enumerate() {
                    if at > 0 {
                        joined.push(Word::Known("/".into()));
                    }
                    joined.push(word);
                }
                if joined.is_empty() { Value::unknown_one() } else { Value::word(concat(&joined)) }
            }
            "Where-Object" => input
                .map_or_else(Value::unknown, |input| input.with(input.items.iter().map(narrowed).collect())),
            "Sort-Object" | "Select-Object" | "Out-String" | "Get-Unique" => {
                input.cloned().unwrap_or(unknown)
            }
            "ForEach-Object" => {
                let mut out = blocks.clone();
                if out.items.is_empty() {
                    out = unknown.clone();
                }
                out.taint(unknown.fetched, unknown.decoded);
                out
            }
            "Write-Output" | "Write-Host" => {
                let mut out = Value {
                    items: words
                        .iter()
                        .zip(parts)
                        .filter(|(_, p)| matches!(p, Part::Operand { .. }))
                        .map(|(w, _)| w.clone())
                        .collect(),
                    ..Value::default()
                };
                out.taint(unknown.fetched, unknown.decoded);
                out
            }
            "Get-Content" => {
                let read = Value { items: operands, ..Value::default() };
                unknown.fetched |= self.is_fetched(&read, state);
                unknown
            }
            "Out-Null" | "Remove-Item" | "Write-Error" => Value::none(),
            name if FETCHES.contains(&name) => {
                let file = flag("-OutFile").or_else(|| flag("-Destination")).or_else(|| flag("-o"));
                if let Some(file) = file {
                    self.fetched_to(&file, state);
                }
                unknown.fetched = true;
                unknown
            }
            "Copy-Item" | "Move-Item" | "Rename-Item" | "Out-File" | "Set-Content" | "Add-Content"
            | "Tee-Object" | "New-Item" => {
                // What was fetched keeps being that under its other name.
                let read = Value { items: operands.clone(), ..Value::default() };
                if self.is_fetched(&read, state) || input.is_some_and(|input| input.fetched) {
                    for file in &operands {
                        self.fetched_to(file, state);
                    }
                }
                Value::none()
            }
            "ConvertTo-SecureString" | "ConvertFrom-SecureString" => {
                unknown.decoded = true;
                unknown
            }
            _ => unknown,
        }
    }

    /// Remembers a file that came over the network.
    pub(super) fn fetched_to(&mut self, file: &Word, state: &mut State) {
        let Some(name) = file_name(file) else { return };
        if state.fetched_files.len() < 64 {
            state.fetched_files.insert(name);
        } else {
            self.problem(0, "the command fetches more files than are followed");
        }
    }

    /// Whether one of these files came over the network.
    pub(super) fn is_fetched(&self, files: &Value, state: &State) -> bool {
        !state.fetched_files.is_empty()
            && files.items.iter().filter_map(file_name).any(|name| state.fetched_files.contains(&name))
    }
}

/// The last part of a path, in lower case: two spellings of one file.
fn file_name(word: &Word) -> Option<String> {
    let text = match word {
        Word::Known(text) | Word::Tilde(text) => text.clone(),
        Word::Unknown(pieces) => match pieces.last() {
            Some(Piece::Text(text)) if text.contains(['/', '\\']) => text.clone(),
            _ => return None,
        },
        _ => return None,
    };
    text.rsplit(['/', '\\']).next().map(str::to_lowercase)
}

/// The operands, and the values of `-Path` and its kin.
fn paths(words: &[Word], parts: &[Part]) -> Vec<Word> {
    let is_path = |part: &Part| match part {
        Part::Operand { .. } => true,
        Part::FlagValue { flag } => matches!(flag.as_str(), "-Path" | "-LiteralPath" | "-FilePath"),
        _ => false,
    };
    words.iter().zip(parts).filter(|(_, part)| is_path(part)).map(|(word, _)| word.clone()).collect()
}

/// The value of a parameter; also where it is not certain that it takes one.
pub(super) fn value_of(words: &[Word], parts: &[Part], wanted: &str) -> Option<Word> {
    let is = |part: &Part| matches!(part, Part::Flag { names, .. } if names.iter().any(|n| n.eq_ignore_ascii_case(wanted)));
    let at = parts.iter().position(is)? + 1;
    let value = matches!(parts.get(at), Some(Part::FlagValue { .. } | Part::Unclear));
    value.then(|| words.get(at).cloned()).flatten()
}

/// What lies in a folder.
fn below(folder: &Word, filter: Option<&Word>, deep: bool) -> Word {
    let tail = match filter {
        Some(Word::Known(filter) | Word::Glob(filter)) if !filter.contains(['/', '\\']) => {
            if deep {
                format!("**/{filter}")
            } else {
                filter.clone()
            }
        }
        Some(_) => return narrowed(folder),
        None => "*".to_string(),
    };
    match folder {
        // A folder is what lies in it, as a pattern is.
        Word::Glob(text) if filter.is_none() => Word::Glob(text.clone()),
        Word::Known(text) | Word::Tilde(text) => {
            let slashed: String = text
                .chars()
                .flat_map(|c| match c {
                    '\\' => vec!['/'],
                    '*' | '?' | '[' | ']' => vec!['\\', c],
                    c => vec![c],
                })
                .collect();
            Word::Glob(format!("{}/{tail}", slashed.trim_end_matches('/')))
        }
        other => narrowed(other),
    }
}

/// Some of what a name stands for.
fn narrowed(word: &Word) -> Word {
    match word {
        Word::Glob(text) => {
            let front = text.rsplit_once('/').map_or("", |(front, _)| front);
            let piece = match front.starts_with('~') {
                true => Piece::Tilde(format!("{front}/")),
                false => Piece::Text(format!("{front}/").replace('\\', "")),
            };
            Word::Unknown(vec![piece, Piece::Hole { quoted: true }])
        }
        Word::Known(_) | Word::Tilde(_) | Word::OneOf(_) => word.clone(),
        Word::Unknown(_) => hole(true),
    }
}
