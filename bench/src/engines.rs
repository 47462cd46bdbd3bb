//! In process: our decision beside cedar-policy and regorus on the same path patterns.
//!
//! INVARIANT: the differences in meaning are told with the numbers; a size that takes too long is left out by name.

use crate::clock::{self, Job, once};
use crate::contend::{Built, Set, built, job};
use crate::generate::Kind;
use crate::markdown::{ratio, table, time};
use cedar_policy::{Authorizer, Context, Entities, PolicySet, Request};
use regorus::Engine;
use serde_json::json;

/// Above this number an engine is not asked.
const MOST: usize = 10_000;
/// Values that are looked up.
const FEW: usize = 32;

/// Prints the table.
pub fn run(sizes: &[usize]) -> Result<(), String> {
    println!("\n## Against policy engines, n path patterns, in process\n");
    println!(
        "Least thread CPU time a decision, warm, of interleaved rounds. The meanings differ: ours tells which of allow, ask and deny"
    );
    println!(
        "lines is the longest that matches, with its place and reason. cedar-policy has one `permit` or `forbid` a pattern"
    );
    println!(
        "(every third is left out: it has no ask), `*` for `**` (so an easier match), and any `forbid` wins. regorus has"
    );
    println!(
        "three rules, `some glob in data.VERB; glob.match(glob, [\"/\"], input.path)`, deny before ask before allow."
    );
    let mut rows = Vec::new();
    for &n in sizes.iter().filter(|n| **n <= MOST) {
        rows.push(line(n)?);
    }
    let times = ["n", "our automaton", "our decision", "cedar", "regorus"];
    let ratios = ["cedar ÷ decision", "regorus ÷ decision", "cedar ÷ automaton", "regorus ÷ automaton"];
    let loads = ["load: ours", "load: cedar", "load: regorus"];
    table(&times.into_iter().chain(ratios).chain(loads).collect::<Vec<_>>(), &rows);
    println!(
        "\nOur decision does more than the search: scopes, guards, place and reason. Load: until the first decision can be"
    );
    println!("made; ours opens the compiled table with all its sums, theirs read their text.");
    Ok(())
}

fn line(n: usize) -> Result<Vec<String>, String> {
    let mut set = Set::new(Kind::Path, n);
    set.values.truncate(FEW);
    let (automaton, ours) = (built("our automaton", &set)?, built("our decision", &set)?);
    let Built::Decide(bytes, _) = &ours else { return Err("not a decision".to_owned()) };
    let (_, load) = once(|| policy_runtime::Table::open(bytes).is_ok());
    let (cedar, cedar_load) = once(|| cedar_policies(&set));
    let (regorus, regorus_load) = once(|| rego_engine(&set));
    let own = [job(&automaton, &set)?, job(&ours, &set)?];
    let mut jobs: Vec<Job> =
        own.into_iter().chain([cedar_job(cedar?, &set)?, rego_job(regorus?, &set)]).collect();
    let times: Vec<f64> = clock::race(&mut jobs, set.values.len()).iter().map(|own| own.warm).collect();
    let [automaton, decision, cedar, regorus] = times.as_slice() else { return Err("not four".to_owned()) };
    let ratios = [(cedar, decision), (regorus, decision), (cedar, automaton), (regorus, automaton)];
    let cells = times.iter().copied().map(time);
    let ratios = ratios.map(|(peer, own)| ratio(*peer, *own));
    let loads = [load, cedar_load, regorus_load].map(time);
    Ok([n.to_string()].into_iter().chain(cells).chain(ratios).chain(loads).collect())
}

/// What the generated policy says of pattern `i`.
fn verb(i: usize) -> &'static str {
    ["allow", "ask", "deny"][i % 3]
}

fn cedar_policies(set: &Set) -> Result<PolicySet, String> {
    let mut text = String::new();
    for (i, glob) in set.globs.iter().enumerate() {
        let effect = match verb(i) {
            "allow" => "permit",
            "deny" => "forbid",
            _ => continue,
        };
        let like = glob.replace("**", "*");
        text += &format!("{effect}(principal, action, resource) when {{ context.path like \"{like}\" }};\n");
    }
    text.parse().map_err(|error| format!("cedar-policy: {error}"))
}

fn cedar_job(policies: PolicySet, set: &Set) -> Result<Job<'static>, String> {
    let name = |text: &str| text.parse().map_err(|error| format!("cedar-policy: {error}"));
    let mut requests = Vec::new();
    for value in &set.values {
        let context = Context::from_json_value(json!({ "path": value }), None);
        let context = context.map_err(|error| error.to_string())?;
        let [agent, read, file] = [name("Agent::\"a\"")?, name("Action::\"read\"")?, name("File::\"f\"")?];
        requests.push(Request::new(agent, read, file, context, None).map_err(|error| error.to_string())?);
    }
    let (authorizer, entities) = (Authorizer::new(), Entities::empty());
    Ok(Box::new(move |i| authorizer.is_authorized(&requests[i], &policies, &entities).decision() as u64))
}

const REGO: &str = "package hook
import rego.v1
default decision := \"ask\"
deny if { some glob in data.deny; glob.match(glob, [\"/\"], input.path) }
ask if { some glob in data.ask; glob.match(glob, [\"/\"], input.path) }
allow if { some glob in data.allow; glob.match(glob, [\"/\"], input.path) }
decision := \"deny\" if deny
decision := \"ask\" if { ask; not deny }
decision := \"allow\" if { allow; not ask; not deny }
";

fn rego_engine(set: &Set) -> Result<Engine, String> {
    let of = |wanted: &str| -> Vec<&String> {
        let own = set.globs.iter().enumerate().filter(|(i, _)| verb(*i) == wanted);
        own.map(|(_, glob)| glob).collect()
    };
    let data = json!({ "deny": of("deny"), "ask": of("ask"), "allow": of("allow") }).to_string();
    let mut engine = Engine::new();
    engine
        .add_policy("hook.rego".to_owned(), REGO.to_owned())
        .map_err(|error| format!("regorus: {error}"))?;
    engine.add_data_json(&data).map_err(|error| format!("regorus: {error}"))?;
    Ok(engine)
}

fn rego_job<'a>(mut engine: Engine, set: &'a Set) -> Job<'a> {
    Box::new(move |i| {
        let input = json!({ "path": set.values[i] }).to_string();
        let asked =
            engine.set_input_json(&input).and_then(|()| engine.eval_rule("data.hook.decision".to_owned()));
        match asked.as_ref().map(|value| value.as_string().map(|text| text.len())) {
            Ok(Ok(length)) => length as u64,
            // A peer that fails must not look fast.
            _ => std::process::exit(1),
        }
    })
}
