//! Tests the check of the contract of `Reducible`: it accepts random systems that keep the
//! contract, and finds the clause that a wrong report breaks.

use crate::tests::common::Toy;
use crate::tests::common::generate::{KINDS, random_toy};
use anyorder_system::{
    Clause, ContractOptions, Effects, Hash128, Place, Properties, Reducible, StateSystem,
    Successor, TaskKey, TouchKind, Update, Updates, check_contract,
};
use anyorder_testkit::effort::{cases, counts_all};
use std::collections::BTreeMap;

/// The data that a system omits or reports wrongly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lie {
    None,
    /// One transition is missing.
    Transition,
    /// Reads are not reported.
    Reads,
    /// Tasks report that they await nothing.
    Awaits,
    /// Writes are reported as reads.
    Writes,
    /// Tasks that await several places are neither known nor pending.
    Unknown,
    /// Invariants report that they read nothing.
    Watches,
    /// It reports updates of a place that no task touches.
    Updates,
}

struct Lying {
    toy: Toy,
    lie: Lie,
}

type State = Vec<u8>;
type Action = (usize, usize);

impl Lying {
    fn told(&self, updates: &Updates, count: usize) -> Updates {
        let mut told = Updates::default();
        for at in 0..count {
            for update in updates.of(at) {
                let place = if self.lie == Lie::Updates { Place(7 << 40) } else { update.place };
                told.push(Update { place, by: update.by });
            }
            told.end();
        }
        told
    }
}

impl StateSystem for Lying {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        self.toy.initial()
    }

    fn successors(&self, state: &State, out: &mut Vec<Successor<State, Action>>) {
        self.toy.successors(state, out);
        if self.lie == Lie::Transition {
            out.pop();
        }
    }

    fn encode(&self, state: &State, out: &mut Vec<u8>) {
        self.toy.encode(state, out);
    }

    fn decode(&self, bytes: &[u8]) -> Option<State> {
        self.toy.decode(bytes)
    }

    fn fingerprint(&self, state: &State) -> Hash128 {
        self.toy.fingerprint(state)
    }

    fn components(&self) -> Vec<String> {
        self.toy.components()
    }

    fn properties(&self) -> Properties<'_, State> {
        let invariants = 0..self.toy.invariants.len();
        invariants.fold(Properties::new(), |properties, index| {
            let holds = move |state: &State| self.toy.holds(index, state);
            properties.invariant_of(format!("{index}"), holds, move |state, out| {
                if self.lie != Lie::Watches {
                    self.toy.watches(index, state, out);
                }
            })
        })
    }
}

impl Reducible for Lying {
    fn ready(&self, state: &State, out: &mut Vec<TaskKey>) {
        self.toy.ready(state, out);
    }

    fn run(&self, state: &State, task: TaskKey, out: &mut Effects<State, Action>) {
        self.toy.run(state, task, out);
        match self.lie {
            Lie::Reads => out.touched.retain(|one| one.kind != TouchKind::Read),
            Lie::Writes => out.touched.iter_mut().for_each(|one| one.kind = TouchKind::Read),
            _ => {}
        }
        let count = if self.toy.components > 0 { out.successors.len() } else { 0 };
        out.updates = self.told(&out.updates, count);
    }

    fn awaits(&self, task: TaskKey, out: &mut Vec<Place>) {
        if self.lie != Lie::Awaits {
            self.toy.awaits(task, out);
        }
    }

    fn tasks(&self, out: &mut Vec<TaskKey>) {
        if self.lie != Lie::Unknown {
            self.toy.tasks(out);
        }
    }

    fn pending(&self, state: &State, out: &mut Vec<TaskKey>) {
        if self.lie != Lie::Unknown {
            self.toy.pending(state, out);
        }
    }

    fn task_name(&self, state: &State, task: TaskKey) -> String {
        self.toy.task_name(state, task)
    }
}

fn options(seed: u64) -> ContractOptions {
    ContractOptions { seed, walks: 6, steps_max: 12 }
}

#[test]
fn systems_that_keep_the_contract_are_accepted() {
    let mut all = [0; 7];
    for kind in KINDS {
        for seed in 1..=cases(800) {
            let system = Lying { toy: random_toy(kind, seed), lie: Lie::None };
            match check_contract(&system, &options(seed)) {
                Ok(checks) => all.iter_mut().zip(checks).for_each(|(all, one)| *all += one),
                Err(broken) => panic!("{kind:?} seed {seed}: {broken}\n{:#?}", system.toy),
            }
        }
    }
    println!("checks by clause: {all:?}");
    assert!(all.iter().all(|checks| *checks > 1_000), "{all:?}");
}

#[test]
fn lies_break_their_clause() {
    const ENOUGH: u32 = 20;
    for (lie, clause) in [
        (Lie::Transition, Clause::Transitions),
        (Lie::Reads, Clause::Touches),
        (Lie::Awaits, Clause::Awaits),
        (Lie::Writes, Clause::Awaits),
        (Lie::Writes, Clause::Writes),
        (Lie::Unknown, Clause::Known),
        (Lie::Watches, Clause::Watches),
        (Lie::Updates, Clause::Updates),
    ] {
        let mut found: BTreeMap<Clause, u32> = BTreeMap::new();
        'kinds: for kind in KINDS {
            for seed in 1..=300 {
                if found.get(&clause).is_some_and(|count| *count > ENOUGH) && !counts_all() {
                    break 'kinds;
                }
                let system = Lying { toy: random_toy(kind, seed), lie };
                if let Err(broken) = check_contract(&system, &options(seed)) {
                    *found.entry(broken.clause).or_default() += 1;
                }
            }
        }
        println!("{lie:?}: {found:?}");
        assert!(found.get(&clause).is_some_and(|count| *count > ENOUGH), "{lie:?}: {found:?}");
    }
}
