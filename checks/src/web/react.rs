//! React: queries, empty lists, heavy imports.
//!
//! INVARIANT: a result that is handed on whole is somebody else's to look at.

use std::collections::{HashMap, HashSet};

use crate::code::{Code, Kind};
use crate::file::File;
use crate::{Found, Options};

fn code<'f, 'a>(file: &'f File<'a>) -> Option<&'f Code<'a>> {
    (file.path.is_jsx() && !file.path.is_test()).then(|| file.script())
}

/// Queries and mutations whose waiting and failing nobody shows.
pub(crate) fn query_state(file: &File, _: &Options) -> Vec<Found> {
    let Some(code) = code(file) else { return Vec::new() };
    let status = code.says(&["status", "fetchStatus"]);
    let loading = status
        || code.says(&["isLoading", "isPending", "isFetching", "isInitialLoading", "loading", "pending"]);
    let error = status
        || code.says(&[
            "isError",
            "error",
            "isLoadingError",
            "throwOnError",
            "useErrorBoundary",
            "onError",
            "ErrorBoundary",
        ])
        || code.markup.tags.iter().any(|tag| code.markup.name(tag).contains("ErrorBoundary"));
    let mut found = Vec::new();
    for at in 0..code.tokens.len() {
        if code.kind(at) != Some(Kind::Name)
            || matches!(code.word(at.wrapping_sub(1)), "." | "?." | "function")
        {
            continue;
        }
        let query = matches!(code.word(at), "useQuery" | "useInfiniteQuery");
        if !query && code.word(at) != "useMutation" {
            continue;
        }
        let Some(_) = call(code, at) else { continue };
        // `return useQuery(…)` and `() => useQuery(…)` hand the result on.
        if matches!(code.word(at.wrapping_sub(1)), "return" | "=>") {
            continue;
        }
        let suggest = match (query, loading, error) {
            (true, false, false) => "use isPending and isError of the result",
            (true, false, true) => "use isPending of the result",
            (true, true, false) => "use isError of the result",
            (false, false, _) => "use isPending of the result, to keep a second click away",
            _ => continue,
        };
        let message = if query {
            "the query does not show both that it is loading and that it failed"
        } else {
            "the mutation does not show that it is running"
        };
        found.push(file.found(code.start(at), message, suggest));
    }
    found
}

/// The bracket of a call, over type arguments.
fn call(code: &Code, at: usize) -> Option<usize> {
    if code.word(at + 1) == "(" {
        return Some(at + 1);
    }
    if code.word(at + 1) != "<" {
        return None;
    }
    (at + 2..at + 40).find(|next| code.word(*next) == "(" && matches!(code.word(next - 1), ">" | ">>>"))
}

/// Lists of elements for which nothing says that there is none.
pub(crate) fn empty_state(file: &File, _: &Options) -> Vec<Found> {
    let Some(code) = code(file) else { return Vec::new() };
    if code.says(&["EmptyState", "isEmpty", "ListEmptyComponent", "emptyState", "renderEmpty"])
        || code.markup.tags.iter().any(|tag| code.markup.name(tag).contains("Empty"))
    {
        return Vec::new();
    }
    // Tags before each token, names whose length is asked, names of lists written out.
    let mut tags = vec![0_u32];
    let mut lengths: HashSet<&str> = HashSet::new();
    let mut last_length: Option<usize> = None;
    let mut near: Vec<Option<usize>> = Vec::new();
    let mut lists: HashMap<&str, bool> = HashMap::new();
    for at in 0..code.tokens.len() {
        let count = tags.last().copied().unwrap_or(0);
        tags.push(count + u32::from(code.kind(at) == Some(Kind::Tag)));
        if code.word(at) == "length" && matches!(code.word(at.wrapping_sub(1)), "." | "?.") {
            lengths.insert(code.word(at.wrapping_sub(2)));
            last_length = Some(code.start(at));
        }
        near.push(last_length);
        if matches!(code.word(at), "const" | "let" | "var") {
            let equals = (at + 2..at + 24).find(|next| code.word(*next) == "=");
            if let Some(equals) = equals
                && code.word(equals + 1) == "["
                && code.word(equals + 2) != "]"
            {
                lists.insert(code.word(at + 1), true);
            }
        }
    }
    let mut found = Vec::new();
    for at in 0..code.tokens.len() {
        if code.word(at) != "map"
            || !matches!(code.word(at.wrapping_sub(1)), "." | "?.")
            || code.word(at + 1) != "("
        {
            continue;
        }
        let close = code.close(at + 1);
        let inside = tags.get(close.min(code.tokens.len())).unwrap_or(&0) > tags.get(at + 1).unwrap_or(&0);
        let receiver = at.wrapping_sub(2);
        let name = code.word(receiver);
        if !inside || is_filled(code, receiver) || lists.contains_key(name) || lengths.contains(name) {
            continue;
        }
        // Lists of what nobody sees as a list.
        let first = (at + 1..close.min(at + 200)).find(|token| code.kind(*token) == Some(Kind::Tag));
        if first.is_some_and(|tag| {
            matches!(code.word(tag), "<option" | "<meta" | "<link" | "<script" | "<td" | "<th" | "<br")
        }) {
            continue;
        }
        // A length asked shortly before guards this list under another name.
        if near.get(at).copied().flatten().is_some_and(|place| code.start(at) - place < 200) {
            continue;
        }
        found.push(file.found(
            code.start(at),
            "a list is shown and nothing says what an empty one looks like",
            "show a text when the length is 0",
        ));
    }
    found
}

/// Lists that are never empty: written out, of a fixed length, constants.
fn is_filled(code: &Code, receiver: usize) -> bool {
    let name = code.word(receiver);
    if code.kind(receiver) == Some(Kind::Name) {
        return name.len() > 1
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    }
    let open = code.opener(receiver);
    match name {
        "]" => {
            !matches!(code.kind(open.wrapping_sub(1)), Some(Kind::Name))
                || matches!(code.word(open.wrapping_sub(1)), "return" | "of" | "in")
        }
        // `Array(5)`, `Array.from(…)`, `Children.map`, `Object.keys(CONSTANT)`
        ")" => {
            let call = code.word(open.wrapping_sub(1));
            let object = code.word(open.wrapping_sub(3));
            call == "Array" || call == "fill" || object == "Array"
        }
        _ => false,
    }
}

const HEAVY: [&str; 13] = [
    "Chart",
    "Charts",
    "Editor",
    "Map",
    "Calendar",
    "Datagrid",
    "Viewer",
    "Player",
    "Canvas",
    "Scene",
    "Graph",
    "Scheduler",
    "Kanban",
];
const HEAVY_PACKAGES: [&str; 16] = [
    "recharts",
    "chart.js",
    "react-chartjs-2",
    "monaco-editor",
    "@monaco-editor/react",
    "three",
    "mapbox-gl",
    "leaflet",
    "react-leaflet",
    "react-player",
    "react-quill",
    "draft-js",
    "@react-pdf/renderer",
    "react-pdf",
    "ag-grid-react",
    "@tiptap/react",
];

/// Heavy components in a page from its start on; lazy ones with nothing to show meanwhile.
pub(crate) fn lazy_loading(file: &File, _: &Options) -> Vec<Found> {
    if !file.path.in_folder(&["pages", "app", "routes"])
        || file.path.in_folder(&["components", "lib", "hooks", "utils"])
    {
        return Vec::new();
    }
    let Some(code) = code(file) else { return Vec::new() };
    let mut found = Vec::new();
    let suspense = code.markup.tags.iter().any(|tag| code.markup.name(tag).ends_with("Suspense"))
        || code.says(&["Suspense"]);
    for at in 0..code.tokens.len() {
        match code.word(at) {
            "import"
                if !matches!(code.word(at + 1), "(" | "." | "type")
                    && code.word(at.wrapping_sub(1)) != "." =>
            {
                if let Some(name) = heavy(code, at) {
                    found.push(file.found(
                        code.start(at),
                        format!("{name} is heavy and loads together with the page"),
                        "load it with React.lazy or next/dynamic",
                    ));
                }
            }
            "lazy"
                if !suspense
                    && call(code, at).is_some()
                    && matches!(code.word(at.wrapping_sub(1)), "." | "=" | "(" | "," | ":" | "return") =>
            {
                found.push(file.found(
                    code.start(at),
                    "a component is loaded lazily and no Suspense shows anything meanwhile",
                    "put it into <Suspense fallback={...}>",
                ));
            }
            _ => {}
        }
    }
    found
}

fn heavy<'a>(code: &Code<'a>, import: usize) -> Option<&'a str> {
    let from =
        (import + 1..import + 60).find(|at| code.word(*at) == "from" || code.kind(*at) == Some(Kind::Str))?;
    let package = code.word(from + 1).trim_matches(['\'', '"']);
    if package.contains("icon")
        || package.contains("lucide")
        || package.contains("/types")
        || code.word(from) != "from"
    {
        return None;
    }
    let mut names = (import + 1..from).filter(|at| {
        code.kind(*at) == Some(Kind::Name)
            && code.word(at + 1) != "as"
            && !matches!(code.word(*at), "as" | "type")
    });
    if HEAVY_PACKAGES.contains(&package) {
        return names.next().map(|at| code.word(at));
    }
    names.map(|at| code.word(at)).find(|name| {
        let words = split(name);
        let light = ["Site", "Source", "Hash", "Error", "Key", "Weak", "Type", "Color", "Image"];
        words.len() <= 4
            && name.starts_with(|letter: char| letter.is_ascii_uppercase())
            && (words.last().is_some_and(|last| HEAVY.contains(&last.as_str()))
                || name.ends_with("DataGrid")
                || name.ends_with("DataTable"))
            && !words.iter().any(|word| light.contains(&word.as_str()))
    })
}

/// `BarChart` in its words.
fn split(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        if letter.is_uppercase() || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter);
        }
    }
    words
}
