//! What the component rules ask of an order of events, whatever happens-before makes of it.

use super::find;
use crate::naive::rules::Rules;
use crate::naive::view::View;
use anyorder_trace::{EventId, TaskId, Trace};

/// If the first cause comes before the second, the first effect comes before the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InTurn {
    pub(crate) causes: (EventId, EventId),
    pub(crate) effects: (EventId, EventId),
}

/// The edges, the orders of whole tasks, and what depends on the order of causes.
#[derive(Debug, Default)]
pub(crate) struct ComponentRules {
    pub(crate) edges: Vec<(EventId, EventId)>,
    pub(crate) tasks: Vec<(TaskId, TaskId)>,
    pub(crate) in_turn: Vec<InTurn>,
}

impl ComponentRules {
    /// Reads them off the oracle of happens-before.
    pub(crate) fn new(trace: &Trace, rules: Rules<'_>) -> ComponentRules {
        let view = View { trace };
        let found = find(view, rules);
        let mut given = ComponentRules {
            edges: found.edges.list.iter().map(|edge| (edge.from, edge.to)).collect(),
            tasks: found.orders.iter().map(|(_, first, second)| (*first, *second)).collect(),
            in_turn: Vec::new(),
        };
        let post = |receipt| view.posted_task_of(receipt).and_then(|task| view.post(task));
        for conditional in found.conditional.iter().filter(|found| rules.has(found.rule)) {
            let (causes, (first, second)) = (conditional.causes, conditional.receipts);
            given.in_turn.push(InTurn { causes, effects: (first, second) });
            if let (Some(first), Some(second)) = (post(first), post(second)) {
                given.in_turn.push(InTurn { causes, effects: (first, second) });
            }
        }
        given
    }
}
