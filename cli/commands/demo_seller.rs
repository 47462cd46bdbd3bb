//! `policy demo-seller`: something to buy, on this machine, for money that is none.
//!
//! INVARIANT: it needs no policy and no folder of ours, and asks no other machine.

use crate::args::DemoSellerArgs;
use crate::context::Context;
use crate::output::{Failure, OK, Outcome, print, visible};
use policy_gateway::seller::{Demo, PORT, VARIANTS, Variant, named, serve};
use serde_json::{Value, json};

/// Lists the sellers, or sells.
pub(crate) fn run(args: &DemoSellerArgs, context: &Context) -> Outcome {
    let chosen = args.variant.iter().map(|name| {
        named(name).ok_or_else(|| {
            Failure::usage(format!(
                "there is no seller `{}`; `policy demo-seller --list` names them",
                visible(name)
            ))
        })
    });
    let chosen = chosen.collect::<Result<Vec<&'static Variant>, Failure>>()?;
    if args.list {
        let all = if chosen.is_empty() { VARIANTS.iter().collect() } else { chosen };
        list(&all, context);
        return Ok(OK);
    }
    let demo = Demo {
        port: args.port.unwrap_or(PORT),
        variants: chosen,
        listens: |address| {
            print(&format!("selling on http://{address}/ for test payments; nothing here is real money\n"));
        },
    };
    serve(demo).map_err(Failure::usage).map(|()| OK)
}

fn list(all: &[&Variant], context: &Context) {
    let path = |own: &Variant| format!("/v/{}/page", own.name);
    if context.output.json() {
        let all: Vec<Value> = all
            .iter()
            .map(|own| json!({ "name": own.name, "class": own.class, "sentence": own.sentence, "path": path(own) }))
            .collect();
        print(&format!("{:#}\n", Value::Array(all)));
        return;
    }
    let wide = all.iter().map(|own| own.name.len()).max().unwrap_or_default();
    for own in all {
        print(&format!("{:wide$}  {}\n", own.name, own.sentence));
    }
}
