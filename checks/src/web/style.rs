//! Classes of utility style sheets: sizes for fingers, narrow screens, arbitrary values, focus.
//!
//! INVARIANT: a class behind a breakpoint (`md:w-8`) says nothing about small screens.

use super::{at, is};
use crate::code::markup::{Markup, Tag};
use crate::code::tags;
use crate::file::File;
use crate::{Found, Options};

fn each(
    file: &File,
    mut judge: impl FnMut(&Markup, &Tag, &[&str]) -> Option<(String, &'static str)>,
) -> Vec<Found> {
    if !file.path.is_markup() {
        return Vec::new();
    }
    let markup = tags(file);
    let mut found = Vec::new();
    for (_, tag) in markup.openings() {
        let classes = markup.classes(tag);
        if let Some((message, suggest)) = judge(markup, tag, &classes) {
            found.push(file.found(at(tag), message, suggest));
        }
    }
    found
}

/// The number behind a utility: `w-8`, `p-1.5`.
fn step(class: &str, utility: &str) -> Option<f64> {
    class.strip_prefix(utility)?.strip_prefix('-')?.parse().ok().filter(|step: &f64| step.is_finite())
}

/// Buttons too small for a finger.
pub(crate) fn touch_targets(file: &File, _: &Options) -> Vec<Found> {
    each(file, |markup, tag, classes| {
        let button = is(markup, tag, &["button", "Button", "IconButton"])
            || markup.literal(tag, "role") == Some("button");
        if !button {
            return None;
        }
        let has =
            |starts: &[&str]| classes.iter().any(|class| starts.iter().any(|start| class.starts_with(start)));
        if has(&["min-w-", "min-h-", "min-size-"]) {
            return None;
        }
        let small = classes.iter().find(|class| {
            ["w", "h", "size"]
                .iter()
                .any(|utility| step(class, utility).is_some_and(|step| step > 0.0 && step < 10.0))
        });
        let sized = has(&["h-", "size-", "py-"]);
        let padded = classes
            .iter()
            .find(|class| !sized && step(class, "p").is_some_and(|step| step > 0.0 && step <= 2.0));
        let class = small.or(padded)?;
        Some((
            format!("a button with {class} is smaller than 44 pixels"),
            "give it min-h-11 and min-w-11, or more padding",
        ))
    })
}

/// Layouts that do not fit a small screen.
pub(crate) fn responsive(file: &File, _: &Options) -> Vec<Found> {
    each(file, |markup, tag, classes| {
        let columns = classes.iter().find(|class| step(class, "grid-cols").is_some_and(|count| count >= 4.0));
        let varied = classes
            .iter()
            .any(|class| class.contains(":grid-cols-") || class.ends_with(":hidden") || *class == "hidden");
        if let Some(class) = columns
            && !varied
        {
            return Some((
                format!("{class} has no breakpoint, so a small screen gets as many columns"),
                "begin with grid-cols-1 and add md:grid-cols-4",
            ));
        }
        let wide = classes
            .iter()
            .find(|class| class.strip_prefix("w-[").and_then(pixels).is_some_and(|width| width >= 400.0));
        let bounded = classes.iter().any(|class| class.starts_with("max-w-") || class.contains(":w-"));
        if let Some(class) = wide
            && !bounded
        {
            return Some((format!("{class} is wider than a small screen"), "use w-full with max-w-[...]"));
        }
        let hover = ["mouseenter", "mouseover"].iter().any(|event| markup.listens(tag, event).is_some());
        let touch =
            ["click", "focus", "touchstart", "pointerdown", "pointerenter", "keydown", "mousedown", "press"]
                .iter()
                .any(|event| markup.listens(tag, event).is_some());
        let own = markup.name(tag).starts_with(|letter: char| letter.is_ascii_uppercase());
        if hover && !touch && !tag.spread && !own && !is(markup, tag, &["a"]) {
            return Some((
                "reacts to a mouse that is over it, and to nothing a finger does".to_owned(),
                "add onClick or onFocus",
            ));
        }
        None
    })
}

/// The pixels of `900px]` or `40rem]`.
fn pixels(value: &str) -> Option<f64> {
    let value = value.strip_suffix(']')?;
    let (number, factor) =
        match (value.strip_suffix("px"), value.strip_suffix("rem"), value.strip_suffix("em")) {
            (Some(number), ..) => (number, 1.0),
            (_, Some(number), _) | (_, _, Some(number)) => (number, 16.0),
            _ => return None,
        };
    number.parse::<f64>().ok().map(|number| number * factor)
}

const SPACING: [&str; 18] = [
    "p", "px", "py", "pt", "pr", "pb", "pl", "ps", "pe", "m", "mx", "my", "mt", "mr", "mb", "ml", "gap",
    "space",
];

/// Colors and distances that are in no palette.
pub(crate) fn arbitrary(file: &File, _: &Options) -> Vec<Found> {
    each(file, |_, _, classes| {
        let class = classes.iter().find(|class| {
            let plain = class.rsplit(':').next().unwrap_or(class).trim_start_matches(['!', '-']);
            let Some((utility, value)) = plain.split_once("-[") else { return false };
            let Some(value) = value.split(']').next().filter(|_| value.contains(']')) else { return false };
            if let Some(hex) = value.strip_prefix('#') {
                return matches!(hex.len(), 3 | 4 | 6 | 8)
                    && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
            }
            let spacing = SPACING.contains(&utility)
                || ["gap-x", "gap-y", "space-x", "space-y", "ms", "me"].contains(&utility);
            spacing && value.strip_suffix("px").is_some_and(|number| number.parse::<f64>().is_ok())
        })?;
        Some((format!("{class} is a value of its own"), "use a step of the theme, or add one to it"))
    })
}

/// Elements that hide where the focus is.
pub(crate) fn focus_visible(file: &File, _: &Options) -> Vec<Found> {
    const OFF: [&str; 3] = ["outline-none", "outline-0", "outline-hidden"];
    each(file, |markup, tag, classes| {
        let off = classes.iter().any(|class| {
            let (variant, plain) = class.rsplit_once(':').unwrap_or(("", class));
            matches!(plain, "outline-none" | "outline-0") && matches!(variant, "" | "focus" | "focus-visible")
        });
        let shown = classes.iter().any(|class| {
            let Some((variant, plain)) = class.rsplit_once(':') else { return false };
            ["focus", "focus-visible", "focus-within"].iter().any(|focus| variant.ends_with(focus))
                && !OFF.contains(&plain)
                || variant.contains("focus") && !OFF.contains(&plain)
                || variant.starts_with("data-[") && !OFF.contains(&plain)
        });
        // What only a program focuses needs no mark.
        let programmatic = markup.literal(tag, "tabIndex").or_else(|| match markup.attr(tag, "tabIndex") {
            Some(crate::code::markup::Says::Code(code)) => Some(code.trim()),
            _ => None,
        }) == Some("-1");
        (off && !shown && !programmatic).then(|| {
            (
                "the outline is taken away and nothing shows the focus".to_owned(),
                "add focus-visible:ring-2 or another mark of the focus",
            )
        })
    })
}
