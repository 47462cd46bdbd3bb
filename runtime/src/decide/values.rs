//! The values of a call, made ready once for all readings, with what cannot be understood about them.
//!
//! INVARIANT: a value over its cap, or with a name that is not known, is reported as such and never left out silently.

use super::matching::{Matching, Subject};
use super::place::{self, Place};
use super::report::{Report, Value};
use super::same::Same;
use super::views::{self, View};
use super::{MOST_COMMAND, MOST_HOST, MOST_PATH, MOST_TOOL, MOST_VALUES, Stop};
use crate::facts::{Facts, Origin, PathName};
use std::collections::HashSet;

/// A path, host, command or argument, ready for matching.
pub(super) struct Ready<'f> {
    pub(super) value: Value,
    pub(super) subject: Subject,
    /// Names, each with its views.
    pub(super) names: Vec<Vec<View<'f>>>,
    /// The command that holds it.
    pub(super) command: Option<usize>,
    /// Only its name is listed or tested.
    pub(super) name_only: bool,
    /// Places to look at: for a path its own, for a command its folder and those of its paths.
    pub(super) places: Vec<usize>,
}

/// All values of a call.
pub(super) struct Values<'f> {
    pub(super) paths: Vec<Ready<'f>>,
    pub(super) domains: Vec<Ready<'f>>,
    pub(super) commands: Vec<Ready<'f>>,
    pub(super) args: Vec<Ready<'f>>,
    /// Where things lie; the first is the call's folder.
    pub(super) places: Vec<Place>,
    same: Same,
}

fn command_of(origin: &Origin) -> Option<usize> {
    match origin {
        Origin::Command(index) => Some(*index as usize),
        Origin::Call | Origin::Arg(_) => None,
    }
}

impl<'f> Values<'f> {
    pub(super) fn new(matching: &mut Matching<'_, 'f>, report: &mut Report) -> Result<Values<'f>, Stop> {
        let facts = matching.facts;
        floors(facts, report);
        let same = Same::new(facts);
        let holder = |origin: &Origin| command_of(origin).map(|command| same.command(command));
        let mut known = HashSet::new();
        let mut places = vec![place_of(matching, &facts.dir)?];
        let mut paths = Vec::new();
        // The place of each path, also of those that are not judged themselves.
        let mut place_of_path = Vec::new();
        for (index, path) in facts.paths.iter().take(MOST_VALUES).enumerate() {
            let value = Value::Path(index);
            let one = same.path(index);
            let command = holder(&path.origin);
            let place = place_of_path.get(one).copied();
            if let (false, Some(place)) = (known.insert((one, command)), place) {
                // The same path of the same command, or of an equal one.
                place_of_path.push(place);
                continue;
            }
            let longest = path.names.iter().flat_map(|n| &n.views).map(String::len).max().unwrap_or(0);
            place_of_path.push(places.len());
            if longest > MOST_PATH {
                report.floor(value, format!("the path is longer than {MOST_PATH} bytes"));
                places.push(Place::unknown());
                continue;
            }
            if path.names.is_empty() || path.names.iter().any(|n| n.views.is_empty()) {
                report.floor(value, "the path is not known".to_owned());
                places.push(Place::unknown());
                continue;
            }
            let names: Vec<_> = path.names.iter().map(|name| views::of_name(name, path.form)).collect();
            let place = match place {
                Some(place) => place,
                None => {
                    places.push(limited(place::place(matching, &names))?);
                    places.len() - 1
                }
            };
            if let Some(last) = place_of_path.last_mut() {
                *last = place;
            }
            paths.push(Ready {
                value,
                subject: Subject::Path,
                names,
                command,
                name_only: path.access.is_name_only(),
                places: vec![place],
            });
        }
        let mut domains = Vec::new();
        let mut known = HashSet::new();
        for (index, domain) in facts.domains.iter().take(MOST_VALUES).enumerate() {
            let value = Value::Domain(index);
            let command = holder(&domain.origin);
            if !known.insert((&domain.host, domain.form, command)) {
                continue;
            }
            if domain.host.len() > MOST_HOST {
                report.floor(value, format!("the host is longer than {MOST_HOST} bytes"));
                continue;
            }
            domains.push(Ready {
                value,
                subject: Subject::Domain,
                names: vec![views::of_domain(domain)],
                command,
                name_only: false,
                places: vec![0],
            });
        }
        let mut commands = Vec::new();
        for (index, command) in facts.commands.iter().take(MOST_VALUES).enumerate() {
            let value = Value::Command(index);
            if same.command(index) != index {
                continue;
            }
            if command.text.len() > MOST_COMMAND {
                report.floor(value, format!("the command is longer than {MOST_COMMAND} bytes"));
                continue;
            }
            let mut around = Vec::new();
            if command.dir == facts.dir {
                around.push(0);
            } else {
                places.push(place_of(matching, &command.dir)?);
                around.push(places.len() - 1);
            }
            for path in &command.paths {
                match place_of_path.get(*path as usize) {
                    Some(place) => around.push(*place),
                    None => {
                        places.push(Place::unknown());
                        around.push(places.len() - 1);
                    }
                }
            }
            commands.push(Ready {
                value,
                subject: Subject::Command(index),
                names: vec![views::of_command(command)],
                command: None,
                name_only: false,
                places: around,
            });
        }
        let mut args = Vec::new();
        for (index, arg) in facts.args.iter().take(MOST_VALUES).enumerate() {
            // Whether a long argument counts is known only where a line names it; then it is not understood.
            args.push(Ready {
                value: Value::Arg(index),
                subject: Subject::Arg,
                names: if arg.value.len() > MOST_COMMAND { Vec::new() } else { vec![views::of_arg(arg)] },
                command: None,
                name_only: false,
                places: vec![0],
            });
        }
        Ok(Values { paths, domains, commands, args, places, same })
    }

    /// The command with this number, or the first that is the same.
    pub(super) fn command(&self, index: usize) -> Option<&Ready<'f>> {
        let wanted = self.same.command(index);
        let number = |ready: &Ready<'f>| match ready.value {
            Value::Command(number) => number,
            _ => usize::MAX,
        };
        let at = self.commands.binary_search_by_key(&wanted, number).ok()?;
        self.commands.get(at)
    }

    /// The path with this number, or the first that is the same.
    pub(super) fn path(&self, index: usize) -> Option<&Ready<'f>> {
        let wanted = Value::Path(self.same.path(index));
        self.paths.iter().find(|ready| ready.value == wanted)
    }

    /// All of them, paths first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Ready<'f>> {
        self.paths.iter().chain(&self.domains).chain(&self.commands).chain(&self.args)
    }
}

fn place_of(matching: &mut Matching<'_, '_>, dir: &PathName) -> Result<Place, Stop> {
    limited(place::place(matching, &[views::of_name(dir, crate::facts::Form::Exact)]))
}

fn limited(place: Result<Place, Stop>) -> Result<Place, Stop> {
    match place {
        Err(Stop::Limit) => Ok(Place::unknown()),
        other => other,
    }
}

/// "A command whose script was not understood, and every opaque value, is at least `ask` with the true cause."
fn floors(facts: &Facts, report: &mut Report) {
    for (index, opaque) in facts.opaque.iter().take(MOST_VALUES).enumerate() {
        report.floor(Value::Opaque(index), opaque.why.clone());
    }
    for (index, script) in facts.scripts.iter().enumerate().filter(|(_, s)| !s.complete).take(MOST_VALUES) {
        let why = if script.problem.is_empty() { "the command was not understood" } else { &script.problem };
        report.floor(Value::Script(index), why.to_owned());
    }
    for (index, command) in
        facts.commands.iter().enumerate().filter(|(_, c)| !c.gap.is_empty()).take(MOST_VALUES)
    {
        report.floor(Value::Command(index), command.gap.clone());
    }
    for tool in &facts.readings {
        if tool.server.len() + tool.tool.len() > MOST_TOOL {
            report.floor(Value::Call, format!("the name of the tool is longer than {MOST_TOOL} bytes"));
        }
    }
    let counts = [
        ("paths", facts.paths.len()),
        ("hosts", facts.domains.len()),
        ("commands", facts.commands.len()),
        ("arguments", facts.args.len()),
        ("opaque values", facts.opaque.len()),
        ("scripts", facts.scripts.len()),
    ];
    for (what, count) in counts {
        if count > MOST_VALUES {
            report.floor(Value::Call, format!("more than {MOST_VALUES} {what}"));
        }
    }
}
