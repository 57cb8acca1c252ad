//! Wrong truths: brute force that gets one rule wrong. If a test tells none of them from the truth,
//! its models are too narrow.

use crate::ast::{Model, Order};
use crate::code::{Body, Op, Program};
use crate::compile::compile;
use crate::judge::word;
use crate::truth::{Caps, Truth};
use serde_json::{Value, json};

/// A rule that is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mutant {
    DelayedIsBag,
    DelayedIsFifo,
    FifoIsBag,
    BagIsFifo,
    FrontIsForgotten,
    CancelIsForgotten,
    LocksAreForgotten,
    FlagsAreForgotten,
    GuardsAreForgotten,
    OrderIsForgotten,
    TasksOfInitNeverRun,
    CountsAreForgotten,
    FailuresAreForgotten,
    DeadlocksAreForgotten,
    EveryOccurrenceIsOrdered,
    FailingStepsHaveNoConflicts,
    FirstEventOnly,
    OneMoreRepeat,
}

pub(crate) const MUTANTS: [Mutant; 18] = [
    Mutant::DelayedIsBag,
    Mutant::DelayedIsFifo,
    Mutant::FifoIsBag,
    Mutant::BagIsFifo,
    Mutant::FrontIsForgotten,
    Mutant::CancelIsForgotten,
    Mutant::LocksAreForgotten,
    Mutant::FlagsAreForgotten,
    Mutant::GuardsAreForgotten,
    Mutant::OrderIsForgotten,
    Mutant::TasksOfInitNeverRun,
    Mutant::CountsAreForgotten,
    Mutant::FailuresAreForgotten,
    Mutant::DeadlocksAreForgotten,
    Mutant::EveryOccurrenceIsOrdered,
    Mutant::FailingStepsHaveNoConflicts,
    Mutant::FirstEventOnly,
    Mutant::OneMoreRepeat,
];

impl Mutant {
    /// What brute force says with the wrong rule.
    pub(crate) fn truth(self, model: &Model, repeat: u8, caps: Caps) -> Truth {
        let mut program = compile(model);
        program.mutant = Some(self);
        self.change(&mut program);
        let repeat = repeat + u8::from(self == Mutant::OneMoreRepeat);
        Truth::of_program(model, program, repeat, caps)
    }

    fn change(self, program: &mut Program) {
        let orders = match self {
            Mutant::DelayedIsBag => Some((Order::Delayed, Order::Bag)),
            Mutant::DelayedIsFifo => Some((Order::Delayed, Order::Fifo)),
            Mutant::FifoIsBag => Some((Order::Fifo, Order::Bag)),
            Mutant::BagIsFifo => Some((Order::Bag, Order::Fifo)),
            _ => None,
        };
        if let Some((from, to)) = orders {
            let of = program.mailboxes.iter_mut().filter(|one| one.order == from);
            of.for_each(|one| one.order = to);
        }
        for member in &mut program.members {
            match self {
                Mutant::GuardsAreForgotten => member.guard = None,
                Mutant::OrderIsForgotten => {
                    member.after.clear();
                    member.started.clear();
                }
                _ => {}
            }
        }
        let members = program.members.iter_mut().map(|member| &mut member.body);
        members.chain(&mut program.codes).for_each(|body| self.change_body(body));
    }

    fn change_body(self, body: &mut Body) {
        for op in &mut body.ops {
            let forgotten = match op {
                Op::Cancel(_) => Mutant::CancelIsForgotten,
                Op::Acquire(..) | Op::Release(..) => Mutant::LocksAreForgotten,
                Op::Enable(..) => Mutant::FlagsAreForgotten,
                Op::Post { front, .. } => {
                    *front &= self != Mutant::FrontIsForgotten;
                    continue;
                }
                _ => continue,
            };
            if forgotten == self {
                *op = Op::Yield;
            }
        }
    }
}

/// The result that a command would give that takes this for the truth.
pub(crate) fn said(truth: &Truth) -> Value {
    let robust = truth.robust();
    let verdict = match robust {
        Some(true) => "robust",
        Some(false) => "not_robust",
        None => "unknown",
    };
    let properties =
        [truth.all_deterministic(), truth.orders.serializable, truth.orders.start_order, robust];
    let names = truth.deterministic.iter().filter(|(_, yes)| **yes == Some(false));
    let names: Vec<&str> = names.map(|(name, _)| &**name).collect();
    let finding = json!({"harm": "harmful", "confirmed": true, "sites": [{}]});
    let limits = if robust.is_none() { vec!["max-states"] } else { Vec::new() };
    let [deterministic, serializable, start_order, states] = properties.map(word);
    json!({
        "verdict": verdict,
        "complete": properties.iter().all(Option::is_some),
        "limits": limits,
        "bounds": if truth.concurrent.more { vec!["repeat"] } else { Vec::new() },
        "findings": if robust == Some(false) { vec![finding] } else { Vec::new() },
        "stats": {
            "deterministic": deterministic,
            "serializable": serializable,
            "start_order": start_order,
            "states": states,
            "not_deterministic": names.join(", "),
        },
    })
}
