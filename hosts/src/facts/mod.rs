//! Facts out of a call: what its name, arguments and commands touch.
//!
//! INVARIANT: nothing is left out: what is not understood is an opaque value or an unknown word. Time and memory are
//! linear in the arguments and bounded.

mod account;
mod command;
mod environment;
mod flow;
mod key;
mod patch;
mod path;
pub mod payment;
mod resolve;
mod spelling;
mod text;
mod tool;
mod unset;
mod url;
mod value;
mod words;

pub use path::MAX_PATH_BYTES;
pub use resolve::{DiskResolver, FileText, NoResolver, Resolution, Resolver};
pub use text::texts;

use crate::call::{Call, Places};
use path::{Named, Namer};
use policy_grammar::shell::program::Programs;
use policy_runtime::facts::{Access, ArgFact, DomainFact, Facts, Opaque, Origin, PathFact};
use policy_runtime::payment::is_of_payment;

/// Most paths of one call.
const MAX_PATHS: usize = 8192;
/// Most hosts of one call.
const MAX_DOMAINS: usize = 4096;
/// Most opaque values that are listed; one is enough to keep a call from being allowed.
const MAX_OPAQUE: usize = 64;

/// Turns a call into facts. Never fails: what is not understood is listed as opaque.
pub fn extract(call: &Call, places: &Places, programs: &dyn Programs, resolver: &dyn Resolver) -> Facts {
    let (readings, why) = tool::readings(call);
    let namer = Namer::new(places, resolver, &call.cwd);
    let folder = namer.folder(namer.base());
    let labels = [Some(&call.host), call.agent.as_ref(), call.label.as_ref()];
    let mut builder = Builder {
        tool: tool::kind(&call.tool, &readings),
        facts: Facts {
            readings,
            event: call.event.clone(),
            labels: labels
                .into_iter()
                .flatten()
                .map(|s| s.to_lowercase())
                .filter(|s| !s.is_empty())
                .collect(),
            dir: folder.name,
            ..Facts::default()
        },
        namer,
        programs,
        command_bytes: 0,
    };
    if let Some(why) = why.map(str::to_owned).or(folder.opaque) {
        builder.opaque(Origin::Call, &why);
    }
    value::walk(&mut builder, &call.arguments);
    payment::look(&mut builder, &call.arguments);
    // Before a command runs there is one: what came under no name that is known may still be run.
    if call.event == "pre_tool_use" && builder.facts.scripts.is_empty() && tool::needs_command(&builder.facts)
    {
        builder.opaque(Origin::Call, "a shell tool without a command that can be read");
    }
    builder.facts
}

/// Facts in the making.
struct Builder<'a> {
    facts: Facts,
    namer: Namer<'a>,
    programs: &'a dyn Programs,
    tool: tool::Kind,
    /// Bytes of command text that were read.
    command_bytes: usize,
}

impl Builder<'_> {
    fn opaque(&mut self, origin: Origin, why: &str) {
        let opaque = Opaque { origin, why: why.to_owned() };
        if self.facts.opaque.len() < MAX_OPAQUE && !self.facts.opaque.contains(&opaque) {
            self.facts.opaque.push(opaque);
        }
    }

    /// Adds an argument under the name that the call gives it.
    fn argument(&mut self, name: &str, value: String) {
        // SECURITY: these names are those of facts that we make.
        if is_of_payment(name) {
            return self.opaque(Origin::Call, "an argument whose name begins with a control character");
        }
        self.arg(name, value);
    }

    fn arg(&mut self, name: &str, value: String) {
        self.facts.args.push(ArgFact { name: name.to_owned(), value });
    }

    /// Adds a path; its index, when there is room for it.
    fn path(&mut self, written: &str, named: Named, access: Access, origin: Origin) -> Option<u32> {
        if let Some(why) = &named.opaque {
            self.opaque(origin.clone(), why);
        }
        if named.names.is_empty() {
            return None;
        }
        if self.facts.paths.len() >= MAX_PATHS {
            self.opaque(Origin::Call, "more paths than are looked at");
            return None;
        }
        let index = u32::try_from(self.facts.paths.len()).ok()?;
        let written = written.to_owned();
        self.facts.paths.push(PathFact { written, names: named.names, form: named.form, access, origin });
        Some(index)
    }

    /// Adds hosts; their indices.
    fn domains(&mut self, hosts: url::Hosts, origin: &Origin) -> Vec<u32> {
        if let Some(why) = hosts.opaque {
            self.opaque(origin.clone(), why);
        }
        let mut indices = Vec::new();
        for found in hosts.found {
            let domain = DomainFact { host: found.host, form: found.form, origin: origin.clone() };
            if self.facts.domains.len() >= MAX_DOMAINS {
                self.opaque(Origin::Call, "more hosts than are looked at");
                break;
            }
            let Ok(index) = u32::try_from(self.facts.domains.len()) else { break };
            // The last ones only: equal hosts of one value stand together.
            let known = self.facts.domains.iter().rev().take(32).position(|known| *known == domain);
            match known.and_then(|back| u32::try_from(back).ok()) {
                Some(back) => indices.push(index.saturating_sub(back + 1)),
                None => {
                    self.facts.domains.push(domain);
                    indices.push(index);
                }
            }
        }
        indices.dedup();
        indices
    }
}

#[cfg(test)]
mod patch_tests;
#[cfg(test)]
mod tests;
