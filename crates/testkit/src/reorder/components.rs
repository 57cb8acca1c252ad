//! The rules of Android components as conditions on each sequence of events.

use crate::naive::{ComponentRules, Rules};
use anyorder_trace::Trace;
use std::collections::BTreeSet;

/// The rules of one small trace.
#[derive(Debug)]
pub(super) struct Components {
    /// By event: what must come before it.
    needs: Vec<u64>,
    /// Causes and effects: if one cause comes before another, its effect does too.
    conditional: Vec<[usize; 4]>,
}

impl Components {
    pub(super) fn new(trace: &Trace, rules: Rules<'_>) -> Components {
        let given = ComponentRules::new(trace, rules);
        let mut needs = vec![0_u64; trace.len()];
        for (from, to) in given.edges {
            needs[to.index()] |= 1 << from.index();
        }
        for (first, second) in given.tasks {
            let get = trace.span(second).get;
            for event in trace.events().filter(|event| event.task == first && event.id < get) {
                needs[get.index()] |= 1 << event.id.index();
            }
        }
        // If the recorded run broke a rule, others may break it as well.
        let conditional = given.conditional.iter().filter(|it| {
            let is_otherwise = it.causes.0 < it.causes.1 && it.effects.1 < it.effects.0;
            it.causes.0 != it.causes.1 && it.effects.0 != it.effects.1 && !is_otherwise
        });
        let numbers = conditional.map(|it| {
            [it.causes.0, it.causes.1, it.effects.0, it.effects.1].map(|event| event.index())
        });
        Components { conditional: numbers.collect(), needs }
    }

    /// Returns the events whose order the rules constrain.
    pub(super) fn ordered_events(&self) -> BTreeSet<usize> {
        self.conditional.iter().flatten().copied().collect()
    }

    /// Returns whether a sequence that satisfies the rules still does so with one more event.
    pub(super) fn let_follow(&self, run: &[usize], event: usize) -> bool {
        let all = |set: u64| (0..self.needs.len()).all(|e| set >> e & 1 == 0 || run.contains(&e));
        let place = |wanted: usize| run.iter().chain([&event]).position(|other| *other == wanted);
        let holds = |[cause, later, effect, other]: &[usize; 4]| {
            let (Some(cause), Some(later)) = (place(*cause), place(*later)) else { return true };
            let Some(other) = place(*other) else { return true };
            later < cause || place(*effect).is_some_and(|effect| effect < other)
        };
        all(self.needs[event]) && self.conditional.iter().all(holds)
    }
}
