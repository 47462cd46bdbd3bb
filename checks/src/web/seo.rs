//! What search engines and previews read of a page.
//!
//! INVARIANT: only pages are judged, known by where they are and that they show something; a page that gets its data from a helper is
//! taken to have it.

use crate::code::markup::Shape;
use crate::code::tags;
use crate::file::File;
use crate::{Found, Options};

/// Is the file a page of a site by its place?
fn is_page(file: &File) -> bool {
    let path = &file.path;
    if path.is_test()
        || path.in_folder(&[
            "api",
            "components",
            "component",
            "lib",
            "libs",
            "hooks",
            "utils",
            "helpers",
            "stories",
            "node_modules",
        ])
        || path.stem.starts_with('_')
    {
        return false;
    }
    if matches!(path.extension.as_str(), "html" | "htm") {
        return true;
    }
    if !path.is_markup() {
        return false;
    }
    if path.in_folder(&["pages"]) {
        return true;
    }
    // The app folder of Next: pages are called so; Remix and SvelteKit have routes.
    (path.in_folder(&["app"]) && path.stem == "page")
        || (path.in_folder(&["routes"]) && (path.stem == "+page" || path.is_jsx()))
}

/// Does the text show anything at all?
fn shows(file: &File) -> bool {
    let markup = tags(file);
    let fragment = matches!(file.path.extension.as_str(), "html" | "htm")
        && !markup.tags.iter().any(|tag| {
            ["html", "head", "body"].iter().any(|name| markup.name(tag).eq_ignore_ascii_case(name))
        });
    !markup.tags.is_empty() && !fragment
}

const METADATA: [&str; 14] = [
    "<Head",
    "metadata",
    "generateMetadata",
    "Helmet",
    "NextSeo",
    "useHead",
    "useSeoMeta",
    "<title",
    "<meta",
    "<svelte:head",
    "<Seo",
    "<SEO",
    "definePageMeta",
    "MetaFunction",
];

fn has_metadata(text: &str) -> bool {
    METADATA.iter().any(|mark| text.contains(mark))
        || text.contains("export const meta")
        || text.contains("export function meta")
}

/// A page without a title and a description.
pub(crate) fn page_metadata(file: &File, _: &Options) -> Vec<Found> {
    // A page that runs in the browser cannot export metadata; its layout does.
    let client = file.text.trim_start().starts_with("'use client'")
        || file.text.trim_start().starts_with("\"use client\"");
    if !is_page(file) || client || has_metadata(file.text) || is_layout(file.text) || !shows(file) {
        return Vec::new();
    }
    vec![file.found_whole(
        "the page has no title and no description",
        "export metadata, or add <Head> with <title> and a description",
    )]
}

/// A page that takes title and head from a layout it hands them to.
fn is_layout(text: &str) -> bool {
    text.contains("<Layout title") || text.contains("<BaseLayout") || text.contains("<Layout ")
}

/// A page with metadata and no data for previews.
pub(crate) fn open_graph(file: &File, _: &Options) -> Vec<Found> {
    let text = file.text;
    if !is_page(file) || !has_metadata(text) || !shows(file) && !text.contains("metadata") {
        return Vec::new();
    }
    let helper = ["metadata = ", "metadata: Metadata = "].iter().any(|start| {
        text.split(start).skip(1).take(4).any(|rest| rest.starts_with(|letter: char| letter.is_alphabetic()))
    });
    if helper
        || text.contains("generateMetadata")
        || text.contains("...") && text.contains("metadata")
        || text.contains("<Seo")
        || text.contains("<SEO")
    {
        return Vec::new();
    }
    let open = text.contains("openGraph");
    let missing: Vec<&str> = [("title", "ogTitle"), ("description", "ogDescription"), ("image", "ogImage")]
        .iter()
        .filter(|(name, camel)| {
            !text.contains(&format!("og:{name}"))
                && !text.contains(camel)
                && !(open && (text.contains(&format!("{name}:")) || text.contains(&format!("{name}s:"))))
        })
        .map(|(name, _)| *name)
        .collect();
    if missing.is_empty() {
        return Vec::new();
    }
    // What is missing stands in the advice: a page that gets one of them is no new finding.
    vec![file.found_whole(
        "the page does not say all that previews show",
        format!("add og:{}", missing.join(", og:")),
    )]
}

const SEMANTIC: [&str; 7] = ["main", "nav", "header", "footer", "article", "section", "aside"];

/// Many `<div>` and nothing that says what they are.
pub(crate) fn semantic_html(file: &File, options: &Options) -> Vec<Found> {
    if !file.path.is_markup() || file.path.is_test() {
        return Vec::new();
    }
    let markup = tags(file);
    let mut divs = 0;
    for tag in markup.tags.iter().filter(|tag| tag.shape != Shape::Close) {
        let name = markup.name(tag).to_ascii_lowercase();
        let last = name.rsplit('.').next().unwrap_or("");
        if SEMANTIC.contains(&last)
            || markup.literal(tag, "role").is_some_and(|role| {
                matches!(
                    role,
                    "main" | "navigation" | "banner" | "contentinfo" | "region" | "article" | "complementary"
                )
            })
        {
            return Vec::new();
        }
        // A component with such a word in its name has the element inside.
        if SEMANTIC.iter().any(|word| name.ends_with(word))
            && markup.name(tag).starts_with(|letter: char| letter.is_ascii_uppercase())
        {
            return Vec::new();
        }
        divs += i64::from(name == "div");
    }
    if divs < options.int("min_divs", 10) {
        return Vec::new();
    }
    vec![file.found_whole(
        "many <div> and no element that says what a part is",
        "use <main>, <nav>, <header>, <section>, <article> or <footer> where they fit",
    )]
}

/// Pages of things that search engines show in a form of their own.
pub(crate) fn structured_data(file: &File, _: &Options) -> Vec<Found> {
    let wanted = ["product", "article", "blog", "post", "recipe", "event"];
    let words = file.path.folders.iter().copied().chain(std::iter::once(file.path.stem)).flat_map(|part| {
        part.split(|letter: char| !letter.is_ascii_alphanumeric()).map(|word| word.to_ascii_lowercase())
    });
    let named = words.into_iter().any(|word| {
        wanted.contains(&word.as_str()) || word.strip_suffix('s').is_some_and(|word| wanted.contains(&word))
    });
    let text = file.text;
    let marked = [
        "ld+json",
        "JsonLd",
        "JSON-LD",
        "schema.org",
        "structuredData",
        "StructuredData",
        "itemtype",
        "itemType",
    ]
    .iter()
    .any(|mark| text.contains(mark));
    if !named || marked || !is_page(file) || !shows(file) {
        return Vec::new();
    }
    vec![file.found_whole(
        "the page has no structured data",
        "add <script type=\"application/ld+json\"> with the data of schema.org",
    )]
}
