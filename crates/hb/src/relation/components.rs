//! The orders that the rules of Android components impose on a reordering of a trace.

use crate::relation::given::{Given, posted_task};
use crate::relation::rules::{Rule, RuleSet};
use anyorder_trace::{EventId, TaskId, Trace};

/// The orders of `docs/android-components.md`, found in one pass, before any fixpoint.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ComponentOrders {
    /// Pairs of events: the first comes before the second. All pairs go forward in the trace.
    pub edges: Vec<(EventId, EventId)>,
    /// Two tasks of one handler, in the order of the trace: the first ends before the second
    /// begins.
    pub tasks: Vec<(TaskId, TaskId)>,
    /// Lists of causes with their effects. In each list, effects come in the order of their causes.
    /// Received broadcasts come in the order of their sends, or of their sticky registrations. The
    /// posts of the tasks that receive them do, too.
    pub lines: [Vec<(EventId, EventId)>; 4],
}

/// Collects the orders that the rules of components give a trace. Near linear.
#[must_use]
pub fn component_orders(trace: &Trace) -> ComponentOrders {
    let given = Given::new(trace, RuleSet::Android);
    let is_component = |rule: Rule| matches!(rule, Rule::Component(_));
    let edges = given.edges.iter().filter(|edge| is_component(edge.rule));
    let post_of =
        |receipt| posted_task(trace, receipt).and_then(|task| trace.span(task).post.some());
    let [senders, sticky] = given.receipts;
    let by_cause = |receipts: &[(EventId, EventId)]| -> [Vec<(EventId, EventId)>; 2] {
        let posts =
            receipts.iter().filter_map(|(receipt, cause)| Some((*cause, post_of(*receipt)?)));
        [receipts.iter().map(|(receipt, cause)| (*cause, *receipt)).collect(), posts.collect()]
    };
    let ([sent, sent_posts], [registered, registered_posts]) =
        (by_cause(&senders), by_cause(&sticky));
    ComponentOrders {
        edges: edges.map(|edge| (edge.from, edge.to)).collect(),
        tasks: given.orders.iter().map(|(first, second, _)| (*first, *second)).collect(),
        lines: [sent, sent_posts, registered, registered_posts],
    }
}
