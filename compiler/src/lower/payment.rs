//! Lines about payments: what they look at, and the limits on one payment.
//!
//! INVARIANT: amounts are whole smallest units here; an address, network, asset or function that cannot be is an error with its place;
//! only guards look at payments.

use super::Builder;
use super::line::Home;
use super::subject::{Found, Lowered, shown};
use crate::code::Code;
use crate::ir;
use crate::lists::Quoted;
use crate::pattern::domain;
use crate::text::{escape, listed, nearest};
use policy_grammar::ast::{self, Quantity};
use policy_grammar::source::{Span, Spanned};
use policy_payments::{
    Address, BadAddress, BadDecimal, COIN, Family, Network, Scheme, Units, functions, is_function,
};
use policy_runtime::outside::Measure;
use policy_runtime::payment;

/// A token that a policy names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asset {
    /// As facts name it: network, `/`, kind, `:`, address.
    pub(crate) id: String,
    pub(crate) decimals: u8,
}

/// What may be asked of a payee.
pub(crate) const PAYEE_TESTS: [&str; 5] = ["new", "mismatch", "lookalike", "filed", "unverified"];

/// Reads an address of any network.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn address(text: &str) -> Result<Address, BadAddress> {
    match (text.starts_with("0x"), Network::read("solana")) {
        (false, Some(solana)) => Address::read(text, &solana),
        _ => Address::evm(text),
    }
}

/// Reads what an `asset` is.
///
/// # Errors
/// The message and the help.
pub(crate) fn asset(id: &str, decimals: u32) -> Result<Asset, (String, &'static str)> {
    const HELP: &str =
        "write it as `eip155:8453/erc20:0x…`: network, kind and address of the token's contract";
    let wrong = |what: String| (what, HELP);
    let (network, token) =
        id.split_once('/').ok_or_else(|| wrong("it names no network and token".to_owned()))?;
    let network = Network::read(network).ok_or_else(|| wrong(format!("`{network}` is no network")))?;
    let (kind, address) =
        token.split_once(':').ok_or_else(|| wrong("it names no kind of token".to_owned()))?;
    let decimals = u8::try_from(decimals).ok().filter(|own| *own <= policy_payments::MOST_DECIMALS);
    let decimals = decimals.ok_or_else(|| wrong("a token has at most 77 decimals".to_owned()))?;
    if token == COIN && network.family() == Family::Evm {
        return Ok(Asset { id: format!("{network}/{COIN}"), decimals });
    }
    let wanted = kind_of(&network);
    if kind != wanted {
        return Err(wrong(format!("a token of `{network}` is of the kind `{wanted}`")));
    }
    let address = Address::read(address, &network).map_err(|bad| wrong(bad.to_string()))?;
    Ok(Asset { id: asset_id(&network, &address), decimals })
}

fn kind_of(network: &Network) -> &'static str {
    match network.family() {
        Family::Evm => "erc20",
        _ => "token",
    }
}

/// A token as facts name it.
fn asset_id(network: &Network, address: &Address) -> String {
    format!("{network}/{}:{}", kind_of(network), address.text())
}

impl Builder<'_> {
    /// Whether payments may be looked at here; says why not.
    fn pays_here(&mut self, home: &Home<'_>, span: Span) -> Option<()> {
        if home.instance.kind == ir::BlockKind::Guard {
            return Some(());
        }
        self.sink.push(
            Code::PaymentOutsideGuard
                .error("a payment line outside a guard", span, "only guards look at payments")
                .with_help(
                    "move the line into a guard; the rule says `otherwise allow` for the tools that pay",
                ),
        );
        None
    }

    fn bad_payment(&mut self, message: impl Into<String>, span: Span, help: impl Into<String>) {
        self.sink.push(Code::BadPayment.error(message.into(), span, "cannot be").with_help(help.into()));
    }

    /// Lowers what a payment line looks at; none when it was refused or is none.
    pub(super) fn payment(
        &mut self,
        home: &Home<'_>,
        subject: &ast::Subject,
        span: Span,
        grant: bool,
    ) -> Option<Lowered> {
        let file = home.instance.file;
        let lists = self.lists;
        self.pays_here(home, span)?;
        let mut quoted = |list: &ast::List| lists.patterns(file, list, self.sink);
        let mut excepts = Vec::new();
        let (name, values): (&str, Vec<(String, String, Span)>) = match subject {
            ast::Subject::Network(list) => {
                let all = quoted(list);
                (payment::NETWORK, self.networks(all))
            }
            ast::Subject::Payee(list) => {
                let (all, not) = (quoted(&list.list), list.except.as_ref().map(&mut quoted));
                excepts = self.payees(not.unwrap_or_default());
                (payment::PAYEE, self.payees(all))
            }
            ast::Subject::Seller(list) => {
                let (all, not) = (quoted(&list.list), list.except.as_ref().map(&mut quoted));
                excepts = self.sellers(not.unwrap_or_default());
                (payment::SELLER, self.sellers(all))
            }
            ast::Subject::Asset(symbols) => (payment::ASSET, self.assets_of(symbols)),
            ast::Subject::Scheme(names) => (payment::SCHEME, self.schemes(home, names)),
            ast::Subject::Call(names) => (payment::CALL, self.functions(home, names)),
            ast::Subject::PayeeTest(words) => return self.payee_words(home, words, span, grant),
            _ => return None,
        };
        let mut patterns: Vec<Found> = values.into_iter().map(|own| of_fact(name, own)).collect();
        if grant && matches!(name, payment::SCHEME | payment::CALL) {
            patterns.push(other(name, span));
        }
        let excepts = excepts.into_iter().map(|own| of_fact(name, own)).map(|own| (own.matcher, own.span));
        Some(Lowered { kind: ir::Kind::Arg, arg: name.to_owned(), patterns, excepts: excepts.collect() })
    }

    /// Names of payees and tests of them.
    fn payee_words(
        &mut self,
        home: &Home<'_>,
        words: &[ast::Text],
        span: Span,
        grant: bool,
    ) -> Option<Lowered> {
        let mut patterns = Vec::new();
        let mut tests = false;
        for word in words {
            let own = |value: &str| (word.node.clone(), value.to_owned(), word.span);
            match word.node.as_str() {
                "mismatch" => patterns.push(of_fact(payment::PAYEE_IS, own("mismatch"))),
                test if PAYEE_TESTS.contains(&test) => patterns.push(of_fact(payment::PAYEE_MAY, own(test))),
                name => match self.payees.get(name) {
                    Some(all) => {
                        patterns
                            .extend(all.iter().map(|address| of_fact(payment::PAYEE, own(&escape(address)))));
                        continue;
                    }
                    None => {
                        let names = self.payees.keys().map(String::as_str).chain(PAYEE_TESTS);
                        let help = match nearest(name, names) {
                            Some(near) => format!("write `{near}`"),
                            None => format!("say who it is: payee {name} is \"0x…\""),
                        };
                        self.bad_payment(format!("no payee is named `{name}`"), word.span, help);
                        return None;
                    }
                },
            }
            tests = true;
        }
        if tests && (grant || home.instance.kind != ir::BlockKind::Guard) {
            let help = "write `deny` or `ask`; `only payee` takes addresses and names";
            self.bad_payment("a test of a payee only refuses", span, help);
            return None;
        }
        Some(Lowered { kind: ir::Kind::Arg, arg: payment::PAYEE.to_owned(), patterns, excepts: Vec::new() })
    }

    /// All addresses that the policy names as payees.
    pub(super) fn known_payees(&self) -> String {
        let mut all: Vec<&str> = self.payees.values().flatten().map(String::as_str).collect();
        all.sort_unstable();
        all.dedup();
        all.join(" ")
    }

    fn networks(&mut self, all: Vec<Quoted>) -> Vec<(String, String, Span)> {
        let mut out = Vec::new();
        for Quoted { text, span } in all {
            match Network::read(&text) {
                Some(network) => out.push((text, escape(network.name()), span)),
                None => self.bad_payment(
                    format!("`{text}` is no network"),
                    span,
                    "write it as CAIP-2 does, `eip155:8453`, or by its x402 name, `base`",
                ),
            }
        }
        out
    }

    fn payees(&mut self, all: Vec<Quoted>) -> Vec<(String, String, Span)> {
        let mut out = Vec::new();
        for Quoted { text, span } in all {
            if text == "*" {
                out.push((text, "*".to_owned(), span));
                continue;
            }
            match address(&text) {
                Ok(address) => out.push((text, escape(address.text()), span)),
                Err(bad) => self.bad_payment(
                    format!("`{text}` is no address"),
                    span,
                    format!(
                        "{bad}; the words `new`, `mismatch`, `lookalike` and `filed` stand without quotes"
                    ),
                ),
            }
        }
        out
    }

    fn sellers(&mut self, all: Vec<Quoted>) -> Vec<(String, String, Span)> {
        let mut out = Vec::new();
        for Quoted { text, span } in all {
            match domain::domain(&text) {
                Ok(spelled) => out.extend(spelled.into_iter().map(|own| (text.clone(), own.glob, span))),
                Err(problem) => self.sink.push(problem.diagnostic(&text, span)),
            }
        }
        out
    }

    fn assets_of(&mut self, symbols: &[ast::Text]) -> Vec<(String, String, Span)> {
        let mut out = Vec::new();
        for symbol in symbols {
            let all = self.asset_named(symbol);
            out.extend(all.into_iter().map(|asset| (symbol.node.clone(), escape(&asset.id), symbol.span)));
        }
        out
    }

    /// The tokens of a name: one on each network.
    fn asset_named(&mut self, symbol: &ast::Text) -> Vec<Asset> {
        if let Some(all) = self.assets.get(&symbol.node) {
            return all.clone();
        }
        let names: Vec<&str> = self.assets.keys().map(String::as_str).collect();
        let error = Code::UnknownAsset.error(
            format!("no asset is named `{}`", symbol.node),
            symbol.span,
            "not an asset of this policy",
        );
        let help = match nearest(&symbol.node, names.iter().copied()) {
            Some(near) => format!("write `{near}`"),
            None => format!("say what it is: asset {} is \"eip155:8453/erc20:0x…\" decimals 6", symbol.node),
        };
        self.sink.push(error.with_help(help));
        Vec::new()
    }

    fn schemes(&mut self, home: &Home<'_>, names: &ast::Names) -> Vec<(String, String, Span)> {
        let known = Scheme::ALL.map(Scheme::word);
        self.words(home, names, "scheme", &known, |word| Scheme::named(word).is_some())
    }

    fn functions(&mut self, home: &Home<'_>, names: &ast::Names) -> Vec<(String, String, Span)> {
        self.words(home, names, "function", &functions(), is_function)
    }

    /// Names out of a few; and what payments of the other kind have there.
    fn words(
        &mut self,
        home: &Home<'_>,
        names: &ast::Names,
        what: &str,
        known: &[&str],
        good: impl Fn(&str) -> bool,
    ) -> Vec<(String, String, Span)> {
        let mut out = Vec::new();
        for (name, span) in self.lists.scope_names(home.instance.file, &names.names, self.sink) {
            if good(&name.text) {
                out.push((name.text.clone(), escape(&name.text), span));
                continue;
            }
            let help = match nearest(&name.text, known.iter().copied()) {
                Some(near) => format!("write `{near}`"),
                None => format!("known are {}", listed(known.iter().copied())),
            };
            self.bad_payment(format!("no {what} is named `{}`", name.text), span, help);
        }
        out
    }

    /// `amount`, `approval` and `lifetime`: the line matches a fact of the payment, and its number decides.
    pub(super) fn payment_measure(
        &mut self,
        home: &Home<'_>,
        measure: Measure,
        line: &ast::Line,
        span: Span,
    ) -> Option<Lowered> {
        let name = measure.of_payment().unwrap_or(payment::AMOUNT);
        self.pays_here(home, span)?;
        let tally = line.tally.as_ref()?;
        let text = self.sources.slice(Span { start: span.start, ..tally.span }).to_owned();
        let text = shown(&text);
        let globs: Vec<String> = match &tally.over.node {
            Quantity::Money { symbol, .. } => {
                let symbol = Spanned { node: symbol.clone(), span: tally.over.span };
                self.asset_named(&symbol)
                    .into_iter()
                    .map(|asset| format!("{} *", escape(&asset.id)))
                    .collect()
            }
            _ => vec!["*".to_owned()],
        };
        // What is not known may be in this asset.
        let unknown = (!globs.is_empty() && measure != Measure::Lifetime)
            .then(|| format!("{} *", escape(payment::UNKNOWN)));
        let found = |glob: String| Found {
            text: text.clone(),
            matcher: ir::Matcher::Arg(format!("{}\0{glob}", escape(name))),
            words: 0,
            bytes: 0,
            span,
        };
        let patterns = globs.into_iter().chain(unknown).map(found).collect();
        Some(Lowered { kind: ir::Kind::Arg, arg: name.to_owned(), patterns, excepts: Vec::new() })
    }

    /// The tokens of a name, with blanks between them.
    pub(super) fn asset_ids(&self, symbol: &str) -> String {
        let all = self.assets.get(symbol).into_iter().flatten();
        all.map(|asset| asset.id.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The most that a limit on a payment lets through: its decimals, its name, its units.
    pub(super) fn most(&mut self, over: &Spanned<Quantity>) -> Option<(u32, String, String)> {
        match &over.node {
            Quantity::Money { amount, symbol } => {
                let all = self.assets.get(symbol)?.clone();
                let mut out = None;
                for asset in all {
                    let units = match Units::of_decimal(amount, asset.decimals) {
                        Ok(units) => units,
                        Err(bad) => {
                            let help = match bad {
                                BadDecimal::Decimals { has, .. } => format!("write at most {has} decimals"),
                                _ => "write a number such as 2.50".to_owned(),
                            };
                            let message = format!("`{amount} {symbol}` is no amount: {bad}");
                            self.sink.push(
                                Code::BadLimit.error(message, over.span, "cannot be counted").with_help(help),
                            );
                            return None;
                        }
                    };
                    let own = (u32::from(asset.decimals), symbol.clone(), units.to_string());
                    if out.as_ref().is_some_and(|first| *first != own) {
                        let message = format!("`{symbol}` has other decimals on another network");
                        self.sink.push(
                            Code::BadLimit
                                .error(message, over.span, "two amounts")
                                .with_help("give the two tokens names of their own, and each a limit"),
                        );
                        return None;
                    }
                    out = Some(own);
                }
                out
            }
            Quantity::Duration(seconds) => Some((0, String::new(), seconds.to_string())),
            _ => None,
        }
    }
}

/// What a limit on a payment has to be of: what is wrong, and help.
pub(super) fn quantity_of(measure: Measure, over: &Quantity) -> Option<(&'static str, &'static str)> {
    match (measure, over) {
        (Measure::Amount | Measure::Approval, Quantity::Money { .. })
        | (Measure::Lifetime, Quantity::Duration(_)) => None,
        (Measure::Spend, Quantity::Money { .. }) | (Measure::Rise, Quantity::Percent(_)) => None,
        (Measure::Lifetime, _) => Some(("a lifetime is a time", "write `lifetime over 5m`")),
        (Measure::Rise, _) => Some(("a rise is in percent", "write `rise over 50%`")),
        (Measure::Spend, _) => {
            Some(("a budget is money", "write it with its asset: `spend over 50 USDC per 1d`"))
        }
        _ => Some(("an amount is money", "write it with its asset: `amount over 5 USDC`")),
    }
}

/// Whether a guard looks at payments: then its counts of calls are counts of payments.
pub(crate) fn pays(body: &[ast::Line]) -> bool {
    let own = |word: &ast::Text| {
        let measure = Measure::of(&word.node);
        measure.is_some_and(|own| own.of_payment().is_some() || own.of_ledger())
    };
    body.iter().filter_map(|line| line.subject.as_ref()).any(|subject| match &subject.node {
        ast::Subject::Measure(word) => own(word),
        other => is_payment(other),
    })
}

/// A pattern for a fact of a payment.
fn of_fact(name: &str, (text, value, span): (String, String, Span)) -> Found {
    Found {
        text: shown(&text),
        bytes: super::number(value.len()),
        matcher: ir::Matcher::Arg(format!("{}\0{value}", escape(name))),
        words: 0,
        span,
    }
}

pub(super) fn is_payment(subject: &ast::Subject) -> bool {
    use ast::Subject;
    matches!(
        subject,
        Subject::Payee(_)
            | Subject::PayeeTest(_)
            | Subject::Network(_)
            | Subject::Asset(_)
            | Subject::Scheme(_)
            | Subject::Seller(_)
            | Subject::Call(_)
    )
}

/// A pattern for what is none of a line's business.
fn other(name: &str, span: Span) -> Found {
    Found {
        text: payment::OTHER.to_owned(),
        matcher: ir::Matcher::Arg(format!("{}\0{}", escape(name), payment::OTHER)),
        words: 0,
        bytes: 0,
        span,
    }
}
