//! The orders that the component rules require, independent of how happens-before uses them.

use super::find;
use crate::naive::rules::Rules;
use crate::naive::view::View;
use anyorder_trace::{EventId, TaskId, Trace};

/// If the first cause comes before the second, the first effect comes before the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ConditionalOrder {
    pub(crate) causes: (EventId, EventId),
    pub(crate) effects: (EventId, EventId),
}

/// The edges, the orders of whole tasks, and the conditional orders.
#[derive(Debug, Default)]
pub(crate) struct ComponentRules {
    pub(crate) edges: Vec<(EventId, EventId)>,
    pub(crate) tasks: Vec<(TaskId, TaskId)>,
    pub(crate) conditional: Vec<ConditionalOrder>,
}

impl ComponentRules {
    /// Reads them from the oracle of happens-before.
    pub(crate) fn new(trace: &Trace, rules: Rules<'_>) -> ComponentRules {
        let view = View { trace };
        let found = find(view, rules);
        let mut given = ComponentRules {
            edges: found.edges.list.iter().map(|edge| (edge.from, edge.to)).collect(),
            tasks: found.orders.iter().map(|(_, first, second)| (*first, *second)).collect(),
            conditional: Vec::new(),
        };
        let post = |receipt| view.posted_task_of(receipt).and_then(|task| view.post(task));
        for conditional in found.conditional.iter().filter(|found| rules.has(found.rule)) {
            let (causes, (first, second)) = (conditional.causes, conditional.receipts);
            given.conditional.push(ConditionalOrder { causes, effects: (first, second) });
            if let (Some(first), Some(second)) = (post(first), post(second)) {
                given.conditional.push(ConditionalOrder { causes, effects: (first, second) });
            }
        }
        given
    }
}
