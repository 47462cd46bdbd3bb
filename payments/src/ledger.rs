//! What a ledger keeps of payments, and what one check asks of it: the boundary between who decides and who remembers.
//!
//! INVARIANT: a check is one moment: what is answered, reserved and written down in it happened before or behind every other check,
//! never between its parts. A ledger that cannot be used is a [`Fault`], which means do not pay; it is never an empty ledger.

use crate::money::Units;
pub use crate::told::{Moved, Read};
use std::fmt;

/// How long a flagged text holds the payments of its session, milliseconds.
pub const FLAG_LASTS: u64 = 3_600_000;
/// How long a person has to answer, milliseconds.
pub const REVIEW_LASTS: u64 = 900_000;
/// How long behind the answer an approved payment may be made, milliseconds.
pub const APPROVAL_LASTS: u64 = 900_000;
/// Longest name of one attempt, bytes.
pub const MOST_KEY: usize = 128;

/// What became of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It may be made.
    Allowed,
    /// It may not.
    Denied,
    /// A person decides.
    ReviewPending,
    /// A person said yes.
    ReviewApproved,
    /// A person said no.
    ReviewDenied,
    /// Nobody answered.
    ReviewExpired,
}

impl Status {
    /// All, by their number in a ledger.
    pub const ALL: [Status; 6] = [
        Status::Allowed,
        Status::Denied,
        Status::ReviewPending,
        Status::ReviewApproved,
        Status::ReviewDenied,
        Status::ReviewExpired,
    ];

    /// As messages have it.
    pub fn word(self) -> &'static str {
        match self {
            Status::Allowed => "allowed",
            Status::Denied => "denied",
            Status::ReviewPending => "review_pending",
            Status::ReviewApproved => "review_approved",
            Status::ReviewDenied => "review_denied",
            Status::ReviewExpired => "review_expired",
        }
    }
}

/// What a check of a text found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// It gives orders.
    Flagged,
    /// Nothing was found.
    Clear,
    /// The check was not finished.
    Unfinished,
}

impl Content {
    /// All, by their number in a ledger.
    pub const ALL: [Content; 3] = [Content::Flagged, Content::Clear, Content::Unfinished];
}

/// What moves in a payment, in smallest units of one asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The asset, as facts name it.
    pub asset: String,
    /// How much, at most.
    pub units: Units,
}

/// A payment that somebody asks about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Whose it is: what is read in a session holds its payments.
    pub session: String,
    /// Sessions whose flags hold it, too.
    pub beside: Vec<String>,
    /// Who asks; keys of attempts and rates are an account's own.
    pub account: String,
    /// The name of this attempt.
    pub key: Option<String>,
    /// What the payment is, whatever its spelling.
    pub fingerprint: [u8; 32],
    /// The tool that pays.
    pub tool: String,
    /// The payee, on its network.
    pub payee: Option<String>,
    /// The seller's host.
    pub seller: Option<String>,
    /// What has a price: the address without what stands behind `?`.
    pub page: Option<String>,
    /// What is paid for, whole.
    pub url: Option<String>,
    /// What moves.
    pub flows: Vec<Flow>,
    /// The pages that led to the payment, by the hashes of their texts.
    pub texts: Vec<[u8; 32]>,
    /// The call makes the payment; otherwise somebody asks before. What was asked and allowed is used by the call that makes it.
    pub makes: bool,
    /// The payment and what is shown of it, as JSON, for people.
    pub shown: String,
    /// Milliseconds since 1970, as the clock of this machine has it.
    pub now: u64,
}

/// For whom a sum is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// Everybody.
    All,
    /// This payee.
    Payee,
    /// This seller.
    Seller,
    /// This session.
    Session,
    /// This tool.
    Tool,
}

impl By {
    /// All, by their number in a table and a ledger.
    pub const ALL: [By; 5] = [By::All, By::Payee, By::Seller, By::Session, By::Tool];
}

/// How far back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Back {
    /// So many seconds.
    Seconds(u32),
    /// As long as the ledger remembers: what a session did from its beginning.
    Always,
}

/// What a ledger holds, as one check sees it; the payment itself is not in it.
pub trait View {
    /// How much of an asset is reserved or settled.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn spent(&self, asset: &str, back: Back, by: By) -> Result<Units, Fault>;

    /// How many payments there are that were not denied or released.
    ///
    /// # Errors
    /// As [`View::spent`].
    fn payments(&self, back: Back, by: By) -> Result<u64, Fault>;

    /// How many of them are the same: payee, amount and what is paid for.
    ///
    /// # Errors
    /// As [`View::spent`].
    fn same(&self, back: Back) -> Result<u64, Fault>;

    /// Whether the payee was approved by a person, or paid with evidence.
    ///
    /// # Errors
    /// As [`View::spent`].
    fn known(&self) -> Result<bool, Fault>;

    /// A payee that is known and looks like this one, and is another.
    ///
    /// # Errors
    /// As [`View::spent`].
    fn alike(&self) -> Result<Option<String>, Fault>;

    /// Whether the payee stands in a text that was read in this session.
    ///
    /// # Errors
    /// As [`View::spent`].
    fn filed(&self) -> Result<bool, Fault>;

    /// The price of the page as it was first paid.
    ///
    /// # Errors
    /// As [`View::spent`].
    fn price(&self, asset: &str) -> Result<Option<Units>, Fault>;

    /// Whether a text that gives orders holds the payments of the session, or is the page that the payment names.
    ///
    /// # Errors
    /// As [`View::spent`].
    fn flagged(&self) -> Result<bool, Fault>;

    /// What is known of the page that the payment names; none when it names none, unfinished when it was never filed.
    ///
    /// # Errors
    /// As [`View::spent`].
    fn content(&self) -> Result<Option<Content>, Fault>;
}

/// One reason of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Deny, or a person is asked.
    pub denies: bool,
    /// The line of the policy, or what holds without one.
    pub rule: String,
    /// One sentence.
    pub sentence: String,
}

/// What a policy says to a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Allowed, denied or pending.
    pub status: Status,
    /// What it would be if the policy did not only observe.
    pub would: Status,
    /// Why.
    pub reasons: Vec<Reason>,
    /// How long a person has to answer, milliseconds, where the policy says it.
    pub lasts: Option<u64>,
}

/// A decision as the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its name.
    pub id: String,
    /// Its number.
    pub seq: u64,
    /// Whose it is.
    pub session: String,
    /// What became of it.
    pub status: Status,
    /// What it would have become if the policy did not only observe.
    pub would: Status,
    /// Why.
    pub reasons: Vec<Reason>,
    /// As it was asked, for people.
    pub shown: String,
    /// What it is, whatever its spelling.
    pub fingerprint: [u8; 32],
    /// What moves.
    pub flows: Vec<Flow>,
    /// When, milliseconds since 1970.
    pub at: u64,
    /// Until when a person can answer.
    pub expires: u64,
    /// The approval was used.
    pub used: bool,
    /// The transaction, where one was told.
    pub transaction: Option<String>,
}

/// What a check comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// It was decided now.
    New(Decision),
    /// It was decided before: the same attempt, or the same payment that waits or was approved.
    Known(Decision),
    /// The name of the attempt belongs to another payment.
    Conflict,
}

impl Checked {
    /// The decision.
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Checked::New(decision) | Checked::Known(decision) => Some(decision),
            Checked::Conflict => None,
        }
    }
}

/// What is told of a payment that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// It went through.
    pub success: bool,
    /// The transaction.
    pub transaction: String,
    /// How much it was, where less than what was reserved can be paid.
    pub units: Option<Units>,
    /// Whoever says so saw it: a proxy, a receipt, a person. What an agent says frees nothing.
    pub evidence: bool,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Noted, and so many units are spent as are known to be.
    Recorded,
    /// Noted; more was paid than was reserved.
    Over,
    /// What was reserved is free again.
    Released,
    /// Noted as what an agent says; nothing is free.
    Claimed,
}

/// Why a decision cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// There is none with this name.
    Unknown,
    /// It is not in the state for it.
    State(Status),
    /// Another transaction was told before.
    Other,
    /// The approval was handed out before, or is too old.
    Used,
    /// The ledger cannot be used.
    Fault(Fault),
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Refused {
        Refused::Fault(fault)
    }
}

/// A text that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filing {
    /// In which session.
    pub session: String,
    /// Where it comes from.
    pub origin: String,
    /// What it is.
    pub hash: [u8; 32],
    /// What was found.
    pub found: Content,
    /// Kinds of orders that were found.
    pub classes: Vec<String>,
    /// Addresses that stand in it.
    pub addresses: Vec<String>,
    /// The text, as far as it is kept.
    pub text: String,
    /// Milliseconds since 1970.
    pub now: u64,
}

/// A ledger that cannot be used, with its cause as a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What says yes or no to a payment, from what a ledger holds.
pub type Judge<'j> = dyn FnMut(&dyn View) -> Result<Judged, Fault> + 'j;

/// Keeps payments.
pub trait Ledger: fmt::Debug {
    /// Whether there is none yet: nothing was paid.
    fn is_new(&self) -> bool;

    /// One check: decides, reserves and writes down.
    ///
    /// # Errors
    /// When the ledger cannot be used; then nothing was reserved.
    fn check(&self, asked: &Asked, judge: &mut Judge<'_>) -> Result<Checked, Fault>;

    /// What a check would say; nothing is kept.
    ///
    /// # Errors
    /// As [`Ledger::check`].
    fn look(&self, asked: &Asked, judge: &mut Judge<'_>) -> Result<Judged, Fault>;

    /// A person says yes or no. `judge` is asked once more for a yes; what it denies is denied.
    ///
    /// # Errors
    /// When there is no such decision, or it does not wait.
    fn review(&self, id: &str, approve: bool, now: u64, judge: &mut Judge<'_>) -> Result<Decision, Refused>;

    /// What a yes would be judged now, as [`Ledger::review`] does it; nothing is kept.
    ///
    /// # Errors
    /// As [`Ledger::review`].
    fn look_again(&self, id: &str, now: u64, judge: &mut Judge<'_>) -> Result<Judged, Refused>;

    /// Notes what became of a payment.
    ///
    /// # Errors
    /// When there is no such decision, or none that may be paid.
    fn settle(&self, id: &str, settlement: &Settlement, now: u64) -> Result<Settled, Refused>;

    /// A decision.
    ///
    /// # Errors
    /// As [`Ledger::check`].
    fn decision(&self, id: &str, now: u64) -> Result<Option<Decision>, Fault>;

    /// A decision, handed to whoever asked: what a person approved is handed out once, and in time.
    ///
    /// # Errors
    /// When there is none, or the approval was handed out or made before, or is too old.
    fn hand_out(&self, id: &str, now: u64) -> Result<Decision, Refused>;

    /// The last decisions, the newest first.
    ///
    /// # Errors
    /// As [`Ledger::check`].
    fn recent(&self, most: usize, now: u64) -> Result<Vec<Decision>, Fault>;

    /// What waits for a person, the oldest first.
    ///
    /// # Errors
    /// As [`Ledger::check`].
    fn waiting(&self, now: u64) -> Result<Vec<Decision>, Fault>;

    /// The texts that a payment names, and those that hold the payments of its sessions now.
    ///
    /// # Errors
    /// When there is no such decision, or the ledger cannot be used.
    fn texts(&self, id: &str, now: u64) -> Result<Vec<Read>, Refused>;

    /// What is reserved or settled since a moment, the newest first, at most so many.
    ///
    /// # Errors
    /// As [`Ledger::check`].
    fn moved(&self, since: u64, most: usize, now: u64) -> Result<Vec<Moved>, Fault>;

    /// Notes a text that was read.
    ///
    /// # Errors
    /// As [`Ledger::check`].
    fn file(&self, filing: &Filing) -> Result<(), Fault>;
}

/// What somebody reads who looks at the ends of an address, `network/address`: its first and last four digits.
pub fn ends(payee: &str) -> Option<String> {
    let address = payee.rsplit('/').next()?;
    let (kind, own) = match address.strip_prefix("0x") {
        Some(own) => ("0x", own),
        None => ("", address),
    };
    let last = own.get(own.len().checked_sub(4).filter(|at| *at >= 4)?..)?;
    Some(format!("{kind}{}{last}", own.get(..4)?))
}

/// Whether two addresses look alike to somebody who reads their ends, and are two.
pub fn alike(one: &str, other: &str) -> bool {
    let address = |payee: &str| payee.rsplit('/').next().unwrap_or_default().to_owned();
    address(one) != address(other) && ends(one).is_some() && ends(one) == ends(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_look_alike_by_their_ends() {
        let known = "eip155:8453/0xabcd000000000000000000000000000000001234";
        assert!(alike(known, "eip155:8453/0xabcd111111111111111111111111111111111234"));
        for other in [
            known,
            "eip155:8453/0xabcd111111111111111111111111111111111235",
            "eip155:8453/0xabce111111111111111111111111111111111234",
            "eip155:8453/0x1234",
            "eip155:1/0xabcd000000000000000000000000000000001234",
            "",
        ] {
            assert!(!alike(known, other), "{other}");
        }
    }
}
