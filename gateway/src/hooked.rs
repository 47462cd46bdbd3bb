//! Questions of hooks whose hosts cannot ask a person.
//!
//! INVARIANT: as for a wrapped server: an approval holds for exactly this call, is taken at the last moment, and used once; where a
//! person was waited for, the policy decides again first.

use crate::approve;
use crate::wrap::ask::{Page, Person, Said};
use crate::wrap::question::{self, Asker};
use policy_approvals::{RunId, Store};
use policy_engine::decide::Answer;
use policy_engine::desk::{Asking, Desk, asked_before};
use policy_engine::places::Folders;
use policy_hosts::call::Call;
use policy_runtime::verdict::Decision;

/// Asks on the page of approvals.
#[derive(Debug)]
pub struct AtThePage;

impl Desk for AtThePage {
    fn here(&self) -> bool {
        true
    }

    fn settle(&self, asking: Asking<'_>) -> Answer {
        let Asking { engine, folders, call, mut answer, wait } = asking;
        let run = run_of(&call.host, &call.session);
        let asker = Asker { server: None, run, most: wait };
        let page =
            Page { folders: folders.clone(), run, summon: approve::summon_alone, loud: false, alone: false };
        let told = |call: &Call, answer: &Answer| question::of(&asker, call, answer);
        engine.read_texts(call, &mut answer);
        // The page and the terminal look in the usual place alone.
        let said = if folders.state == Folders::under(&folders.home).state {
            page.ask(&told(call, &answer), &|| false, None)
        } else {
            Said::Nobody("a person has to say yes to this, and here nobody can be asked: the hook has a `--state` of its own".to_owned())
        };
        if matches!(said, Said::Approved(_) | Said::Granted(..)) {
            // ORDER: the policy first, since it may have changed while the person thought.
            engine.refresh();
            answer.counted.yes = true;
            answer = engine.decide_again(call, &answer.counted);
            if answer.verdict.decision != Decision::Ask {
                return answer;
            }
        }
        let now = told(call, &answer);
        said.settle(&mut answer, &now, &page);
        answer
    }

    fn end(&self, folders: &Folders, host: &str, session: &str) {
        if asked_before(folders)
            && let Ok(store) = Store::open(folders)
        {
            let _ = store.close_run(run_of(host, session));
        }
    }
}

/// Every process of a session asks for the same run.
fn run_of(host: &str, session: &str) -> RunId {
    RunId::of_session(host, session)
}
