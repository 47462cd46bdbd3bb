//! The view of payments: what was decided of late, what is spent of budgets, what is reserved, and which lines hold payments.
//!
//! INVARIANT: it is read and changes nothing, what it costs does not grow with the ledger, and what could not be counted to its end
//! says so. Amounts are exact; only the page draws with rounded ones.

use super::page::parts;
use super::payment::{line, shown};
use crate::mcp::lines_of;
use policy_engine::budgets::{Budget, money};
use policy_engine::decide::Engine;
use policy_engine::layers::Layer;
use policy_engine::paying::now_ms;
use policy_engine::places::{self, Folders};
use policy_payments::Units;
use policy_payments::ledger::{Asked, Back, Decision, Fault, Judged, Ledger, Moved, Status};
use policy_runtime::outside::By;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

/// Most decisions that are shown, and that are looked at for who asked.
const MOST_DECISIONS: usize = 50;
/// Most movements that are added up.
const MOST_MOVED: usize = 5000;
/// Most of those that are open.
const MOST_OPEN: usize = 50;
/// Most different ones who asked.
const MOST_ASKERS: usize = 8;
/// Most payees, sellers, sessions or tools of one budget.
const MOST_SIDES: usize = 5;
/// Days that are drawn.
const DAYS: u64 = 14;
const DAY: u64 = 86_400_000;

/// Everything that the view shows.
pub(crate) fn board(folders: &Folders, ledger: &dyn Ledger) -> Value {
    let now = now_ms();
    let file = policy_ledger::file(&folders.state);
    let file = parts(&places::shown(&file, &folders.home), &[]);
    let told = match ledger.is_new() {
        true => Ok((Vec::new(), Vec::new())),
        false => ledger
            .recent(MOST_DECISIONS, now)
            .and_then(|recent| Ok((recent, ledger.moved(0, MOST_MOVED, now)?))),
    };
    let (recent, moved) = match told {
        Ok(told) => told,
        Err(fault) => return json!({ "now": now, "ledger": file, "fault": parts(&fault.0, &[]) }),
    };
    let askers = askers(folders, &recent);
    let layers: Vec<Rc<Layer>> = distinct(askers.iter().flat_map(|own| own.layers.clone()).collect());
    let budgets: Vec<Budget> = distinct(askers.into_iter().flat_map(|own| own.budgets).collect());
    let names = Names { layers: &layers, known: RefCell::default() };
    let sums = Sums { ledger, moved: &moved, now };
    json!({
        "now": now,
        "ledger": file,
        "decisions": recent.iter().map(|own| decision(own, &names)).collect::<Vec<Value>>(),
        "budgets": budgets.iter().map(|own| sums.budget(own)).collect::<Vec<Value>>(),
        "days": days(&moved, &names, now),
        "open": open(&moved, &names),
        "settings": layers.iter().filter_map(settings).collect::<Vec<Value>>(),
    })
}

/// Each once, in the order in which they came.
fn distinct<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut out: Vec<T> = Vec::new();
    for own in all {
        if !out.contains(&own) {
            out.push(own);
        }
    }
    out
}

/// The policies of one that asked.
struct Asker {
    layers: Vec<Rc<Layer>>,
    budgets: Vec<Budget>,
}

/// The policies of those who asked of late, and the user's own, as they are now.
fn askers(folders: &Folders, recent: &[Decision]) -> Vec<Asker> {
    let mut known: BTreeSet<(String, PathBuf)> = BTreeSet::new();
    let own = (String::new(), folders.home.clone());
    let asked = recent.iter().map(|own| {
        let shown: Value = serde_json::from_str(&own.shown).unwrap_or_default();
        let cwd = shown.get("cwd").and_then(Value::as_str).unwrap_or_default();
        // Whatever its digest was then.
        let of = |at: &str| shown.pointer(at).map(Value::to_string).unwrap_or_default();
        let key = format!("{} {}", of("/asker/policy/file"), of("/asker/default"));
        ((key, PathBuf::from(cwd)), own.shown.as_str())
    });
    let mut out = Vec::new();
    for (key, shown) in asked.chain([(own, "")]) {
        let cwd = key.1.clone();
        if out.len() >= MOST_ASKERS || !known.insert(key) {
            continue;
        }
        let mut engine = Engine::like_asker(folders, shown);
        out.push(Asker { layers: engine.layers_at(&cwd), budgets: engine.budgets_at(&cwd) });
    }
    out
}

/// What people call assets, each looked for once.
struct Names<'l> {
    layers: &'l [Rc<Layer>],
    known: RefCell<BTreeMap<String, Option<(String, u32)>>>,
}

impl Names<'_> {
    /// An amount as people read it where a policy names the asset, and its smallest units.
    fn amount(&self, asset: &str, units: Units) -> Value {
        let mut known = self.known.borrow_mut();
        let named = known.entry(asset.to_owned()).or_insert_with(|| money(self.layers, asset));
        let named = named.as_ref().map(|(name, decimals)| parts(&shown(units, *decimals, name), &[]));
        json!({ "shown": named, "units": units.to_string(), "asset": parts(asset, &[]) })
    }
}

/// One line of what was decided.
fn decision(own: &Decision, names: &Names<'_>) -> Value {
    let asked: Value = serde_json::from_str(&own.shown).unwrap_or_default();
    let payment = asked.get("arguments").map(|all| all.get("payment").unwrap_or(all));
    let text = |key: &str| {
        let text = payment.and_then(|payment| payment.get(key)).and_then(Value::as_str);
        text.map(|text| parts(&text.chars().take(300).collect::<String>(), &[]))
    };
    let reasons = own.reasons.iter().map(|reason| {
        json!({ "denies": reason.denies, "rule": parts(&reason.rule, &[]), "sentence": parts(&reason.sentence, &[]) })
    });
    json!({
        "id": own.id,
        "at": own.at,
        "status": own.status.word(),
        "would": (own.would != own.status && own.status == Status::Allowed).then(|| own.would.word()),
        "amounts": own.flows.iter().map(|flow| names.amount(&flow.asset, flow.units)).collect::<Vec<Value>>(),
        "payee": text("payTo"),
        "url": text("resourceUrl"),
        "session": parts(&own.session, &[]),
        "transaction": own.transaction.as_ref().map(|own| parts(own, &[])),
        "reasons": reasons.collect::<Vec<Value>>(),
    })
}

/// What adds up.
struct Sums<'s> {
    ledger: &'s dyn Ledger,
    moved: &'s [Moved],
    now: u64,
}

impl Sums<'_> {
    fn budget(&self, budget: &Budget) -> Value {
        let amount = |units: Units| json!([shown(units, budget.decimals, &budget.money), units.to_string()]);
        let rows = match budget.by() {
            By::All => self.all(budget).map(|all| vec![(None, all)]),
            by => Ok(self.sides(budget, by)),
        };
        let since = budget.seconds().map_or(0, |seconds| self.now.saturating_sub(u64::from(seconds) * 1000));
        // Those that were not looked at lie further back.
        let cut = self.moved.len() >= MOST_MOVED && self.moved.last().is_some_and(|last| last.at > since);
        json!({
            "says": line(budget),
            "place": parts(&format!("{} ({})", budget.rule, budget.place), &[]),
            "by": match budget.by() {
                By::All => None,
                By::Tool => Some("tool"),
                By::Session => Some("session"),
                By::Payee => Some("payee"),
                By::Seller => Some("seller"),
            },
            "most": amount(budget.most),
            "cut": cut && budget.by() != By::All,
            "rows": rows.as_ref().map_or(json!([]), |rows| {
                let row = |(who, used): &(Option<String>, Units)| {
                    json!({ "who": who.as_ref().map(|who| parts(who, &[])), "used": amount(*used) })
                };
                rows.iter().map(row).collect()
            }),
            "fault": rows.as_ref().err().map(|fault| parts(&fault.0, &[])),
        })
    }

    /// As a check would count it.
    fn all(&self, budget: &Budget) -> Result<Units, Fault> {
        if self.ledger.is_new() {
            return Ok(Units::ZERO);
        }
        let back = budget.seconds().map_or(Back::Always, Back::Seconds);
        let mut all = Units::ZERO;
        let asked = Asked { now: self.now, ..Asked::default() };
        self.ledger.look(&asked, &mut |view| {
            for asset in budget.assets() {
                let own = view.spent(asset, back, policy_payments::ledger::By::All)?;
                all = all.plus(own).ok_or_else(|| Fault("the sum is too large".to_owned()))?;
            }
            let status = Status::Denied;
            Ok(Judged { status, would: status, reasons: Vec::new(), lasts: None })
        })?;
        Ok(all)
    }

    /// Those that spent most.
    fn sides(&self, budget: &Budget, by: By) -> Vec<(Option<String>, Units)> {
        let since = budget.seconds().map_or(0, |seconds| self.now.saturating_sub(u64::from(seconds) * 1000));
        let mut sums: BTreeMap<String, Units> = BTreeMap::new();
        for own in self.moved.iter().filter(|own| own.at > since && budget.assets().contains(&own.asset)) {
            let who = match by {
                By::Payee => own.payee.clone().unwrap_or_default(),
                By::Seller => own.seller.clone().unwrap_or_default(),
                By::Session => own.session.clone(),
                By::Tool => own.tool.clone(),
                By::All => String::new(),
            };
            let sum = sums.entry(who).or_insert(Units::ZERO);
            *sum = sum.plus(own.units).unwrap_or(*sum);
        }
        let mut all: Vec<(Option<String>, Units)> =
            sums.into_iter().map(|(who, used)| (Some(who), used)).collect();
        all.sort_by_key(|(_, used)| Reverse(*used));
        all.truncate(MOST_SIDES);
        all
    }
}

/// What was moved on each of the last days, by asset; days are those of UTC.
fn days(moved: &[Moved], names: &Names<'_>, now: u64) -> Value {
    let first = (now / DAY).saturating_sub(DAYS - 1);
    let mut sums: BTreeMap<&str, BTreeMap<u64, Units>> = BTreeMap::new();
    for own in moved.iter().filter(|own| own.at / DAY >= first) {
        let sum = sums.entry(&own.asset).or_default().entry(own.at / DAY).or_insert(Units::ZERO);
        *sum = sum.plus(own.units).unwrap_or(*sum);
    }
    let cut = moved.len() >= MOST_MOVED && moved.last().is_some_and(|last| last.at / DAY >= first);
    let one = |(asset, days): (&str, BTreeMap<u64, Units>)| {
        let day = |day: u64| {
            let date = policy_runtime::explain::date(i64::try_from(day).unwrap_or_default());
            let units = days.get(&day).copied().unwrap_or(Units::ZERO);
            json!({ "day": date, "amount": names.amount(asset, units) })
        };
        json!({ "asset": parts(asset, &[]), "days": (first..first + DAYS).map(day).collect::<Vec<Value>>() })
    };
    json!({ "cut": cut, "assets": sums.into_iter().map(one).collect::<Vec<Value>>() })
}

/// What is reserved and not known to be paid.
fn open(moved: &[Moved], names: &Names<'_>) -> Value {
    let all: Vec<&Moved> = moved.iter().filter(|own| !own.settled).collect();
    let one = |own: &&Moved| {
        json!({
            "id": own.id,
            "at": own.at,
            "status": own.status.word(),
            "amount": names.amount(&own.asset, own.units),
            "payee": own.payee.as_ref().map(|payee| parts(payee, &[])),
        })
    };
    let count = all.len();
    json!({
        "count": count,
        "cut": moved.len() >= MOST_MOVED,
        "holds": all.iter().take(MOST_OPEN).map(one).collect::<Vec<Value>>(),
    })
}

/// The lines of a layer that hold payments; none for one that has none.
fn settings(layer: &Rc<Layer>) -> Option<Value> {
    let name = parts(&layer.name, &[]);
    let table = match &layer.table {
        Ok(bytes) => bytes.table().map_err(|error| error.to_string()),
        Err(cause) => Err(cause.clone()),
    };
    let lines = table
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|table| lines_of(layer, table).map_err(|_| "the policy is damaged".to_owned()));
    match lines {
        Ok(lines) if lines.is_empty() => None,
        Ok(lines) => {
            let observes = table.is_ok_and(|table| table.info().is_ok_and(|info| info.observe));
            let line = |(text, place): &(String, String)| json!([parts(text, &[]), parts(place, &[])]);
            Some(
                json!({ "name": name, "observes": observes, "lines": lines.iter().map(line).collect::<Vec<Value>>() }),
            )
        }
        Err(why) => Some(json!({ "name": name, "fault": parts(&why, &[]) })),
    }
}
