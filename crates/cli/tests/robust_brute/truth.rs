//! What is true of a model, by enumeration.

use crate::ast::Model;
use crate::code::{Position, Program};
use crate::compile::compile;
use crate::conflicts::{Answer, Orders, deterministic, orders};
use crate::machine::initial;
use crate::mutants::Mutant;
use crate::states::{self, Outcome, Outcomes, concurrent, serial};
use std::collections::{BTreeMap, BTreeSet};

/// How much is enumerated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Caps {
    /// States of each kind of run.
    pub(crate) states: usize,
    /// States with their conflicts.
    pub(crate) conflicts: usize,
}

/// What is true of a model.
#[derive(Debug)]
pub(crate) struct Truth {
    pub(crate) program: Program,
    pub(crate) concurrent: Outcomes,
    pub(crate) serial: Outcomes,
    pub(crate) orders: Orders,
    /// Whether `init` fails, whatever it chooses.
    pub(crate) never_begins: bool,
    /// The states in which runs begin, if nothing is left to run there.
    begins: Vec<Outcome>,
    /// Whether something runs.
    runs: bool,
    /// By the names of the events, and `init`.
    pub(crate) deterministic: BTreeMap<String, Answer>,
}

impl Truth {
    pub(crate) fn of(model: &Model, repeat: u8, caps: Caps) -> Truth {
        Truth::of_program(model, compile(model), repeat, caps)
    }

    pub(crate) fn of_program(model: &Model, program: Program, repeat: u8, caps: Caps) -> Truth {
        let name = |member: Option<usize>| match member {
            None => "init".to_owned(),
            Some(at) => {
                let info = &program.members[at];
                let name = &model.events[info.event].name;
                info.parameter.map_or(name.clone(), |at| format!("{name}[{at}]"))
            }
        };
        let deterministic = deterministic(&program, repeat, caps.conflicts);
        Truth {
            concurrent: concurrent(&program, repeat, caps.states),
            serial: serial(&program, repeat, caps.states),
            orders: orders(&program, repeat, caps.conflicts),
            deterministic: deterministic.into_iter().map(|(at, yes)| (name(at), yes)).collect(),
            begins: states::begins(&program),
            runs: states::runs(&program, repeat),
            never_begins: initial(&program).iter().all(|step| step.next.is_err()),
            program,
        }
    }

    /// Whether all outcomes are outcomes of serial runs (Definition 1).
    pub(crate) fn robust(&self) -> Answer {
        if !self.serial.complete || self.has_no_end() {
            return None;
        }
        if self.has_other_outcome() {
            return Some(false);
        }
        self.concurrent.complete.then_some(true)
    }

    /// Whether no serial run ends, or no run at all, although something runs: then there is nothing
    /// to compare. The state in which a run begins, before anything has run, is no end.
    pub(crate) fn has_no_end(&self) -> bool {
        let ends = |found: &Outcomes| {
            let begins = |one: &&Outcome| self.begins.contains(one);
            !found.stuck.is_empty() || !found.all.iter().all(|one| begins(&one))
        };
        let endless = |found: &Outcomes| found.complete && !ends(found);
        self.runs && (endless(&self.serial) || endless(&self.concurrent))
    }

    fn has_other_outcome(&self) -> bool {
        let mutant = self.program.mutant;
        let forgotten = |outcome: &&Outcome| match outcome {
            Outcome::Failure(_) => mutant == Some(Mutant::FailuresAreForgotten),
            Outcome::Memory(_) => false,
        };
        let mut new = self.concurrent.all.difference(&self.serial.all);
        new.any(|outcome| !forgotten(&outcome))
            || (self.has_added_deadlock() && mutant != Some(Mutant::DeadlocksAreForgotten))
    }

    /// Whether concurrency adds a deadlock.
    pub(crate) fn has_added_deadlock(&self) -> bool {
        self.concurrent.stuck.iter().any(|places| self.is_added(places))
    }

    /// Whether no serial run gets stuck at any of the places of a deadlock.
    pub(crate) fn is_added(&self, places: &BTreeSet<Position>) -> bool {
        let known: BTreeSet<&Position> = self.serial.stuck.iter().flatten().collect();
        places.iter().all(|one| !known.contains(one))
    }

    /// Whether all is known.
    pub(crate) fn is_decided(&self) -> bool {
        let properties = [self.orders.serializable, self.orders.start_order];
        let events = self.deterministic.values();
        self.concurrent.complete
            && self.serial.complete
            && properties.iter().chain(events).all(Option::is_some)
    }

    /// Whether all events are deterministic.
    pub(crate) fn all_deterministic(&self) -> Answer {
        if self.deterministic.values().any(|one| *one == Some(false)) {
            return Some(false);
        }
        self.deterministic.values().all(Option::is_some).then_some(true)
    }
}
