//! Who is asked when the policy says ask.
//!
//! INVARIANT: whoever fails, is not there or does not answer in time has not approved anything. What a model reads of it holds no
//! id and no command that approves.

use policy_approvals::{Answer, Approval, Asked, Channel, Question, RunId, Store, Ticket, Verdict};
use policy_engine::places::Folders;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
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

/// Whether nobody waits any more.
pub(crate) type Gone<'g> = dyn Fn() -> bool + Sync + 'g;
/// Asks in another way, until the flag says that all is over.
pub(crate) type Also<'g> = dyn Fn(&Ticket, &AtomicBool) -> Other + Sync + 'g;

/// What came of asking in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Other {
    /// An answer.
    Said(Verdict),
    /// Nothing; the question stays.
    Nothing,
    /// Nobody else is there to answer it, and why.
    Over(&'static str),
}

/// Somebody who can be asked.
pub(crate) trait Person: Send + Sync {
    /// Asks, and waits as long as the question says. Ends early when `gone` says that nobody waits any more. `also` asks in
    /// another way beside, until it is told that all is over.
    fn ask(&self, question: &Question, gone: &Gone<'_>, also: Option<&Also<'_>>) -> Said;

    /// Waits once more for the answer to what was asked.
    fn resume(&self, question: &Question, ticket: &Ticket, gone: &Gone<'_>) -> Said;

    /// An address at which this one question can be answered; none while nobody is there to show it. Who comes for the first time
    /// lets somebody be there.
    fn link(&self, ticket: &Ticket, first: bool) -> Option<String>;

    /// Asks without waiting.
    fn begin(&self, question: &Question) -> Result<Asked, String>;

    /// What was said in the client's form.
    fn said(&self, ticket: &Ticket, verdict: Verdict) -> Said;

    /// Uses an approval of exactly this question.
    fn take(&self, question: &Question) -> bool;

    /// The server has ended.
    fn close(&self);
}

const NOBODY: &str = "a person has to say yes to this, and here nobody can be asked";

/// `--ask deny`: nobody is there.
pub(crate) struct Nobody;

impl Person for Nobody {
    fn ask(&self, _question: &Question, _gone: &Gone<'_>, _also: Option<&Also<'_>>) -> Said {
        Said::Nobody(NOBODY.to_owned())
    }

    fn resume(&self, _question: &Question, _ticket: &Ticket, _gone: &Gone<'_>) -> Said {
        Said::Nobody(NOBODY.to_owned())
    }

    fn link(&self, _ticket: &Ticket, _first: bool) -> Option<String> {
        None
    }

    fn begin(&self, _question: &Question) -> Result<Asked, String> {
        Err(NOBODY.to_owned())
    }

    fn said(&self, _ticket: &Ticket, _verdict: Verdict) -> Said {
        Said::Nobody(NOBODY.to_owned())
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
    /// Say on standard error that a call waits; a hook does not, since its host gives that to the model.
    pub(crate) loud: bool,
    /// Only the client is asked: no page is opened.
    pub(crate) alone: bool,
}

impl Page {
    /// Waits for the answer to what was asked.
    fn hold(&self, question: &Question, ticket: &Ticket, gone: &Gone<'_>, also: Option<&Also<'_>>) -> Said {
        let store = match Store::open(&self.folders) {
            Ok(store) => store,
            Err(error) => return Said::Nobody(format!("nobody could be asked: {error}")),
        };
        let done = AtomicBool::new(false);
        let over = Mutex::new(None);
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if gone() {
                        let _ = store.cancel(ticket);
                        return;
                    }
                    std::thread::sleep(BEAT);
                }
            });
            if let Some(also) = also {
                let (store, done, over) = (&store, &done, &over);
                scope.spawn(move || match also(ticket, done) {
                    Other::Said(verdict) => drop(store.answer_ticket(ticket, verdict, Channel::Elicit)),
                    Other::Nothing => {}
                    Other::Over(why) => {
                        *over.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                        let _ = store.cancel(ticket);
                    }
                });
            }
            let answer = store.wait(ticket, Instant::now() + question.timeout);
            done.store(true, Ordering::Relaxed);
            answer
        });
        match answer {
            Answer::Approved(approval) => Said::Approved(said(approval)),
            Answer::Denied { by } => Said::Denied(place(by).to_owned()),
            Answer::TimedOut if question.timeout.is_zero() => Said::Nobody(
                "only a person can say yes to this, and has been asked; the question stays open for ten minutes, and once it was \
                 approved, the same call with the same arguments runs"
                    .to_owned(),
            ),
            Answer::TimedOut => Said::Nobody(format!(
                "nobody has approved it within {} s; the question stays open for ten minutes, and once a person has approved it, \
                 the same call with the same arguments runs",
                question.timeout.as_secs()
            )),
            Answer::Gone => {
                let why = over.into_inner().unwrap_or_else(PoisonError::into_inner);
                Said::Nobody(why.unwrap_or("the question was withdrawn").to_owned())
            }
            Answer::Failed(error) => Said::Nobody(format!("the answer could not be read: {error}")),
        }
    }
}

impl Person for Page {
    fn ask(&self, question: &Question, gone: &Gone<'_>, also: Option<&Also<'_>>) -> Said {
        let ticket = match self.begin(question) {
            Ok(Asked::Waiting(ticket)) => ticket,
            Ok(Asked::Granted(approval)) => {
                return Said::Granted(said_before(approval), policy_approvals::digest(question));
            }
            Err(why) => return Said::Nobody(why),
        };
        self.hold(question, &ticket, gone, also)
    }

    fn resume(&self, question: &Question, ticket: &Ticket, gone: &Gone<'_>) -> Said {
        self.hold(question, ticket, gone, None)
    }

    fn link(&self, ticket: &Ticket, first: bool) -> Option<String> {
        let link = crate::approve::link(&self.folders, ticket);
        if link.is_none() && first && self.alone {
            // Asking did not let it be there.
            (self.summon)(&self.folders);
        }
        link
    }

    fn begin(&self, question: &Question) -> Result<Asked, String> {
        let store = Store::open(&self.folders).map_err(|error| format!("nobody could be asked: {error}"))?;
        let asked = store.ask(question).map_err(|refused| refused.to_string())?;
        if let (Asked::Waiting(ticket), true) = (&asked, self.alone) {
            store.keep_quiet(ticket).map_err(|error| format!("nobody could be asked: {error}"))?;
        } else if matches!(asked, Asked::Waiting(_)) {
            (self.summon)(&self.folders);
            if self.loud {
                super::complain("policy wrap: a call waits for you; `policy approvals` shows it");
            }
        }
        Ok(asked)
    }

    fn said(&self, ticket: &Ticket, verdict: Verdict) -> Said {
        let store = match Store::open(&self.folders) {
            Ok(store) => store,
            Err(error) => return Said::Nobody(format!("the answer could not be noted: {error}")),
        };
        match store.answer_ticket(ticket, verdict, Channel::Elicit) {
            Ok(()) if verdict == Verdict::Deny => Said::Denied(place(Channel::Elicit).to_owned()),
            Ok(()) => Said::Approved(said(Approval {
                session: verdict == Verdict::Session,
                channel: Channel::Elicit,
            })),
            // Somebody answered elsewhere meanwhile, and that answer counts.
            Err(_) => match store.wait(ticket, Instant::now()) {
                Answer::Approved(approval) => Said::Approved(said(approval)),
                Answer::Denied { by } => Said::Denied(place(by).to_owned()),
                _ => Said::Nobody("the question is no longer open".to_owned()),
            },
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
