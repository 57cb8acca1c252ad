//! Steps by rules of Android components.

use crate::check::{CheckedPath, Checker, take};
use crate::edges::{condition, require};
use crate::reason::Reason;
use anyorder_trace::{EventId, InputFamily};

/// Checks that a rule of the family in `name` orders two events.
pub(crate) fn check(
    checker: Checker<'_>,
    name: &str,
    from: EventId,
    to: EventId,
    premises: &[CheckedPath],
) -> Result<(), Reason> {
    let word = name.split(':').next().unwrap_or("").trim();
    let families =
        [InputFamily::Lifecycle, InputFamily::Idle, InputFamily::Service, InputFamily::Broadcast];
    let Some(family) = families.into_iter().find(|family| family.word() == word) else {
        return Err(Reason::Kind("name does not begin with a component family"));
    };
    let orders = checker.index.components.as_ref().ok_or(Reason::NotInRuleSet)?;
    if premises.is_empty() {
        return condition(orders.has(family, from, to), "no rule of the family fits the ends");
    }
    let [sent] = take(premises)?;
    let is_sent = checker.is_happens_before(sent.from, sent.to, sent.by_tasks);
    condition(
        family == InputFamily::Broadcast && is_sent,
        "only broadcasts are ordered by an order of their causes",
    )?;
    require(orders.follow([sent.from, sent.to], [from, to]), Reason::PremiseElsewhere(0))
}
