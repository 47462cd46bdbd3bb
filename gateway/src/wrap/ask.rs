//! Who is asked when the policy says ask.
//!
//! INVARIANT: whoever fails, is not there or does not answer in time has not approved anything. What a model reads of it holds no
//! id and no command that approves.

use policy_approvals::{Answer, Approval, Asked, Channel, Question, RunId, Store};
use policy_engine::places::Folders;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often somebody who waits looks whether the call is still wanted.
const BEAT: Duration = Duration::from_millis(100);

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// Yes; it counts once [`Person::take`] has taken it.
    Approved(String),
    /// Yes, said before, and taken: for a call with this digest.
    Granted(String, [u8; 32]),
    /// No.
    Denied(String),
    /// Why nobody answered, one clause.
    Nobody(String),
}

/// Somebody who can be asked.
pub(crate) trait Person: Send + Sync {
    /// Asks, and waits as long as the question says. Ends early when `gone` says that nobody waits any more.
    fn ask(&self, question: &Question, gone: &(dyn Fn() -> bool + Sync)) -> Said;

    /// Uses an approval of exactly this question.
    fn take(&self, question: &Question) -> bool;

    /// The server has ended.
    fn close(&self);
}

/// `--ask deny`: nobody is there.
pub(crate) struct Nobody;

impl Person for Nobody {
    fn ask(&self, _question: &Question, _gone: &(dyn Fn() -> bool + Sync)) -> Said {
        Said::Nobody("a person has to say yes to this, and here nobody can be asked".to_owned())
    }

    fn take(&self, _question: &Question) -> bool {
        false
    }

    fn close(&self) {}
}

/// The person in front of the approval page and of `policy approvals`.
pub(crate) struct Page {
    pub(crate) folders: Folders,
    pub(crate) run: RunId,
    /// Lets the page be there.
    pub(crate) summon: fn(&Folders),
}

impl Person for Page {
    fn ask(&self, question: &Question, gone: &(dyn Fn() -> bool + Sync)) -> Said {
        let store = match Store::open(&self.folders) {
            Ok(store) => store,
            Err(error) => return Said::Nobody(format!("nobody could be asked: {error}")),
        };
        let ticket = match store.ask(question) {
            Ok(Asked::Waiting(ticket)) => ticket,
            Ok(Asked::Granted(approval)) => {
                return Said::Granted(said_before(approval), policy_approvals::digest(question));
            }
            Err(refused) => return Said::Nobody(refused.to_string()),
        };
        (self.summon)(&self.folders);
        super::complain("policy wrap: a call waits for you; `policy approvals` shows it");
        let done = AtomicBool::new(false);
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if gone() {
                        let _ = store.cancel(&ticket);
                        return;
                    }
                    std::thread::sleep(BEAT);
                }
            });
            let answer = store.wait(&ticket, Instant::now() + question.timeout);
            done.store(true, Ordering::Relaxed);
            answer
        });
        match answer {
            Answer::Approved(approval) => Said::Approved(said(approval)),
            Answer::Denied { by } => Said::Denied(place(by).to_owned()),
            Answer::TimedOut => Said::Nobody(format!(
                "nobody has approved it within {} s; the question stays open for ten minutes, and once a person has approved it, \
                 the same call with the same arguments runs",
                question.timeout.as_secs()
            )),
            Answer::Gone => Said::Nobody("the question was withdrawn".to_owned()),
            Answer::Failed(error) => Said::Nobody(format!("the answer could not be read: {error}")),
        }
    }

    fn take(&self, question: &Question) -> bool {
        Store::open(&self.folders).is_ok_and(|store| store.take(question))
    }

    fn close(&self) {
        // Nothing was asked where there is no file: closing must not make one.
        if self.folders.state.join("approvals").exists()
            && let Ok(store) = Store::open(&self.folders)
        {
            let _ = store.close_run(self.run);
        }
    }
}

fn place(channel: Channel) -> &'static str {
    match channel {
        Channel::Page => "on the page",
        Channel::Terminal => "at a terminal (not verified)",
        Channel::Elicit => "in the client (not verified)",
    }
}

fn said(approval: Approval) -> String {
    let often = if approval.session { "for this session" } else { "once" };
    format!("{often}, {}", place(approval.channel))
}

fn said_before(approval: Approval) -> String {
    format!("before: {}", said(approval))
}
