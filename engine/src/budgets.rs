//! Budgets as people look at them: the lines that say how much may be spent, and a payment that waits beside them.
//!
//! INVARIANT: nothing here decides or keeps anything; what is shown of a payment is what the policy that asked about it says now, with
//! the ledger as it is now.

use crate::decide::Engine;
use crate::layers::Layer;
use crate::past::Counted;
use crate::paying::{Log, Purse, judged, shown_call};
use policy_hosts::call::Call;
use policy_payments::Units;
use policy_payments::ledger::{self, Fault, Judged, Ledger, Refused};
use policy_runtime::outside::{Answer, By, Paid};
use policy_runtime::table::{Damaged, Line, Table, Verb};
use std::path::Path;
use std::rc::Rc;

/// What a line lets be spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// The block that it stands in.
    pub rule: String,
    /// File and line.
    pub place: String,
    /// What is over it is denied; otherwise a person is asked.
    pub denies: bool,
    /// As it is written.
    pub says: String,
    /// What people call the money.
    pub money: String,
    /// Decimals of it.
    pub decimals: u32,
    /// The most, smallest units.
    pub most: Units,
    /// What a ledger is asked for it.
    pub asks: Paid,
}

impl Budget {
    /// The assets that count together.
    pub fn assets(&self) -> &[String] {
        match &self.asks {
            Paid::Spent { assets, .. } => assets,
            _ => &[],
        }
    }

    /// How far back it counts, seconds; none: as long as the ledger remembers.
    pub fn seconds(&self) -> Option<u32> {
        match &self.asks {
            Paid::Spent { seconds, .. } => *seconds,
            _ => None,
        }
    }

    /// For whom it counts.
    pub fn by(&self) -> By {
        match &self.asks {
            Paid::Spent { by, .. } => *by,
            _ => By::All,
        }
    }
}

/// A payment that waits, as its policy and its ledger see it now.
#[derive(Debug, Clone)]
pub struct Again {
    /// What a yes would come to, and why.
    pub judged: Judged,
    /// The budgets that it counts for, with what was spent without it; none where that is not known.
    pub budgets: Vec<(Budget, Option<Units>)>,
    /// A payee that is known and looks like its own, and is another.
    pub alike: Option<String>,
    /// The layers that judged.
    pub layers: Vec<Rc<Layer>>,
}

impl Engine {
    /// Judges a payment that waits as a person's yes would, and tells what it counts for; nothing is kept.
    ///
    /// # Errors
    /// When there is no such payment, it does not wait, or the ledger cannot be read.
    pub fn look_at_review(
        &mut self,
        frame: &Call,
        ledger: &dyn Ledger,
        own: &ledger::Decision,
        now: u64,
    ) -> Result<Again, Refused> {
        let call = shown_call(frame, &own.shown)
            .ok_or_else(|| Refused::Fault(Fault("what was asked about cannot be read".to_owned())))?;
        let payee = crate::paying::payee(&call);
        let log = Log::default();
        let (mut layers, mut alike) = (Vec::new(), None);
        let judged = ledger.look_again(&own.id, now, &mut |view| {
            let purse = Purse { log: Some(&log), ..Purse::of(view, payee.as_deref(), now) };
            let answer = self.judge_payment(&call, &Counted::default(), view, purse)?;
            if let Some(payee) = payee.as_deref()
                && !view.known()?
            {
                alike = looks_like(&log, payee, &|| view.alike())?;
            }
            layers = answer.layers;
            Ok(judged(&answer.verdict, true, &call))
        })?;
        let asked = log.borrow();
        let mut budgets = Vec::new();
        for budget in layers.iter().flat_map(|layer| budgets_of(layer)) {
            let Some((_, told)) = asked.iter().find(|(paid, _)| *paid == budget.asks) else { continue };
            let used = match told {
                Answer::Units(units) => Units::whole(units),
                _ => None,
            };
            budgets.push((budget, used));
        }
        Ok(Again { judged, budgets, alike, layers })
    }

    /// The budgets of all layers that hold in a folder.
    pub fn budgets_at(&mut self, cwd: &Path) -> Vec<Budget> {
        self.layers_at(cwd).iter().flat_map(|layer| budgets_of(layer)).collect()
    }
}

/// A payee that looks like this one: of those that the policy names, or that the ledger knows. None where the policy names this one.
fn looks_like(
    log: &Log,
    payee: &str,
    known: &dyn Fn() -> Result<Option<String>, Fault>,
) -> Result<Option<String>, Fault> {
    let address = |own: &str| own.rsplit('/').next().unwrap_or_default().to_owned();
    let log = log.borrow();
    let mut named = log.iter().flat_map(|(paid, _)| match paid {
        Paid::Payee { known, .. } => known.split(' ').collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let own = address(payee);
    if named.clone().any(|named| named == own) {
        return Ok(None);
    }
    match named.find(|named| ledger::alike(named, payee)) {
        Some(named) => Ok(Some(named.to_owned())),
        None => Ok(known()?.map(|own| address(&own))),
    }
}

/// The budgets of a layer; none of one that cannot be used, which denies.
fn budgets_of(layer: &Layer) -> Vec<Budget> {
    let table = layer.table.as_ref().ok().and_then(|bytes| bytes.table().ok());
    table.and_then(|table| budgets_in(&table).ok()).unwrap_or_default()
}

fn budgets_in(table: &Table<'_>) -> Result<Vec<Budget>, Damaged> {
    let mut out = Vec::new();
    for (rule, line) in lines_of(table)? {
        let Some(budget) = table.budget(&line)? else { continue };
        let Some(most) = Units::whole(budget.most) else { continue };
        let says = table.patterns_of(&line)?.next().transpose()?.map_or("", |pattern| pattern.text);
        let place = table.line_place(&line)?;
        out.push(Budget {
            rule: rule.to_owned(),
            place: format!("{}:{}", place.file, place.line),
            denies: line.verb != Verb::Ask,
            says: says.to_owned(),
            money: budget.money.to_owned(),
            decimals: budget.decimals,
            most,
            asks: budget.question(),
        });
    }
    Ok(out)
}

/// All lines of a table, with the names of their blocks.
fn lines_of<'t>(table: &Table<'t>) -> Result<Vec<(&'t str, Line<'t>)>, Damaged> {
    let mut out = Vec::new();
    for number in 0..table.blocks() {
        let block = table.block(number)?;
        for line in table.lines_of(&block)? {
            out.push((block.name, line?));
        }
    }
    Ok(out)
}

/// What people call an asset, and its decimals, as the first layer has it that counts it.
pub fn money(layers: &[Rc<Layer>], asset: &str) -> Option<(String, u32)> {
    layers.iter().find_map(|layer| {
        let table = layer.table.as_ref().ok()?.table().ok()?;
        let lines = lines_of(&table).ok()?;
        let (name, decimals) = lines.iter().find_map(|(_, line)| table.money(line, asset).ok().flatten())?;
        Some((name.to_owned(), decimals))
    })
}
