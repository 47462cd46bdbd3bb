//! Who is asked when the policy says ask.
//!
//! INVARIANT: whoever fails, is not there or does not answer in time has not approved anything. What a model reads of it holds no
//! id and no command that approves.

use policy_approvals::{Answer, Approval, Asked, Channel, Question, RunId, Store, Ticket, Verdict};
use policy_engine::combine::settled;
use policy_engine::decide;
use policy_engine::places::Folders;
use policy_runtime::verdict::Decision;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often somebody who waits looks whether the call is still wanted.
const BEAT: Duration = Duration::from_millis(100);

/// How a person said something: in words, and where, as the audit calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct How {
    words: String,
    by: &'static str,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// Yes; it counts once [`Person::take`] has taken it.
    Approved(How),
    /// Yes, said before, and taken: for a call with this digest.
    Granted(How, [u8; 32]),
    /// No.
    Denied(How),
    /// Why nobody answered, one clause.
    Nobody(String),
}

impl Said {
    /// Yes to a call with this digest, which the server answered with a question of its own.
    pub(crate) fn in_chain(digest: [u8; 32]) -> Said {
        let words = "before, in this chain of calls that the server asked for".to_owned();
        Said::Granted(How { words, by: "earlier" }, digest)
    }

    /// Decides what is still asked, by what was said; `now` is the question about the call as it is now.
    pub(crate) fn settle(self, answer: &mut decide::Answer, now: &Question, person: &dyn Person) {
        let approved = |how: &How| (Decision::Allow, format!("a person approved it {}", how.words), how.by);
        let (decision, because, by) = match self {
            // ORDER: taken for the call as it is now, at the last moment.
            Said::Approved(how) if person.take(now) => approved(&how),
            Said::Granted(how, digest) if digest == policy_approvals::digest(now) => approved(&how),
            Said::Approved(how) | Said::Granted(how, _) => {
                let changed = "what was approved has changed since, so it was not made";
                (Decision::Deny, changed.to_owned(), how.by)
            }
            Said::Denied(how) => (Decision::Deny, format!("a person denied it {}", how.words), how.by),
            Said::Nobody(why) => (Decision::Deny, why, "nobody"),
        };
        by.clone_into(&mut answer.trail.answered);
        settled(&mut answer.verdict, decision, &because);
    }
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
            Answer::Denied { by } => Said::Denied(denied(by)),
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
                return said_before(approval, question);
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
            Ok(()) if verdict == Verdict::Deny => Said::Denied(denied(Channel::Elicit)),
            Ok(()) => Said::Approved(said(Approval {
                session: verdict == Verdict::Session,
                channel: Channel::Elicit,
            })),
            // Somebody answered elsewhere meanwhile, and that answer counts.
            Err(_) => match store.wait(ticket, Instant::now()) {
                Answer::Approved(approval) => Said::Approved(said(approval)),
                Answer::Denied { by } => Said::Denied(denied(by)),
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

fn by(channel: Channel) -> &'static str {
    match channel {
        Channel::Page => "page",
        Channel::Terminal => "terminal",
        Channel::Elicit => "client",
    }
}

fn denied(channel: Channel) -> How {
    How { words: place(channel).to_owned(), by: by(channel) }
}

fn said(approval: Approval) -> How {
    let often = if approval.session { "for this session" } else { "once" };
    How { words: format!("{often}, {}", place(approval.channel)), by: by(approval.channel) }
}

/// An approval of before, for a question about the same call.
pub(crate) fn said_before(approval: Approval, question: &Question) -> Said {
    let how = said(approval);
    let how = How { words: format!("before: {}", how.words), by: how.by };
    Said::Granted(how, policy_approvals::digest(question))
}
