//! What the policies say to what a server gave back.
//!
//! INVARIANT: it is judged with the call that it answers, by the policies as they are now, and a line of audit says what was not
//! passed on as it was.

use super::{Setting, Worker, observe};
use crate::wrap::complain;
use crate::wrap::gate::Asked;
use crate::wrap::given::{Given, weigh};
use policy_engine::layers::Layer;
use policy_engine::record::record;
use policy_hosts::call::Call;
use serde_json::Value;
use std::rc::Rc;

impl Worker {
    /// Notes whether the policies that hold look at what is given back.
    pub(super) fn look(&mut self, layers: &[Rc<Layer>]) {
        let (known, looks) = &mut self.looks;
        let same = known.len() == layers.len() && known.iter().zip(layers).all(|(a, b)| Rc::ptr_eq(a, b));
        if !same {
            *looks = of_results(layers);
            *known = layers.to_vec();
        }
    }

    /// What the policies say to what was given back. A line of audit is written when it does not pass as it is.
    pub(super) fn given(&mut self, asked: Option<Asked>, output: Value) -> Given {
        let Some(asked) = asked else {
            let why = "policy withheld what a task gave back: it is not known here which call began it";
            let held = self.looks.1 && !self.setting.observe;
            return if held { Given::Withheld(why.to_owned()) } else { Given::Pass };
        };
        let failed = ["error", "isError"].iter().any(|key| {
            output.get(key).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
        });
        let mut call = asked.call(&self.setting.frame);
        call.output = output;
        let mut given = Given::Pass;
        for event in ["post_tool_use", "post_tool_use_failure"].into_iter().take(1 + usize::from(failed)) {
            call.event = event.to_owned();
            let mut answer = self.engine().decide(&call);
            let own = weigh(&answer.verdict, &call.output, || {
                let nothing = Call { output: Value::Null, ..call.clone() };
                self.lister().1.decide(&nothing).verdict
            });
            // What a guard only remarks is written down, too.
            if own == Given::Pass && answer.verdict.findings.is_empty() {
                continue;
            }
            if self.setting.observe {
                observe(&mut answer);
            }
            let Setting { audit, folders, care, .. } = &self.setting;
            if let Some(remark) = record(&call, &mut answer, audit, &folders.state, *care) {
                complain(remark.trim_end());
            }
            match own {
                Given::Pass => {}
                _ if self.setting.observe => {}
                Given::Without(value, told) => {
                    call.output = value.clone();
                    given = Given::Without(value, told);
                }
                own => return own,
            }
        }
        given
    }
}

/// Whether a policy looks at what is given back, or counts calls that succeeded.
fn of_results(layers: &[Rc<Layer>]) -> bool {
    layers.iter().any(|layer| {
        let Some(table) = layer.table.as_ref().ok().and_then(|bytes| bytes.table().ok()) else { return true };
        table.pasts() > 0
            || (0..table.blocks()).any(|number| {
                let events = table.block(number).and_then(|block| table.events_of(&block));
                events.map_or(true, |events| events.iter().any(|event| event.starts_with("post_tool_use")))
            })
    })
}
