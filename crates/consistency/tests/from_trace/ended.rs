//! What was cancelled, disabled or has quit does not begin: the solver against all rules of whole
//! traces, taken literally, and the checker with it.

use crate::tests::from_trace::random::{as_partial, certified, translated};
use anyorder_certify::consistency::{check_consistency_witness, check_inconsistency};
use anyorder_common::random::{Random, Rng};
use anyorder_consistency::{
    Answer, Effort, FromTrace, MailboxRule, PartialTrace, Procedure, RefutationStep, Relation, Why,
    split_own_code,
};
use anyorder_system::Control;
use anyorder_testkit::consistency::{Mailbox, OrderRule, OrderRules, random_openings};
use anyorder_testkit::effort::seeds;
use anyorder_testkit::{Shape, random_trace, show};
use anyorder_trace::{Action, Columns, Event, EventId, EventKind, Trace, TraceOrder};
use std::collections::BTreeMap;

type Counts = BTreeMap<String, u64>;

/// The rules of what has ended.
const ENDED: [OrderRule; 5] = [
    OrderRule::Cancel,
    OrderRule::Enable,
    OrderRule::Cancelled,
    OrderRule::Disabled,
    OrderRule::Exited,
];

#[test]
fn no_run_begins_what_has_ended() {
    let mut counts = Counts::new();
    for seed in seeds(4_500) {
        compare(&random_openings(seed), &mut Rng::new(seed), &mut counts);
    }
    for (number, (_, shape)) in Shape::all().into_iter().enumerate() {
        // The literal rules take every pair of events.
        let shape = Shape { events_max: shape.events_max.min(40), ..shape };
        for seed in seeds(150) {
            let seed = seed + 100_000 * number as u64;
            let trace = random_trace(seed, &shape);
            let mut rng = Rng::new(seed);
            for trace in [&trace, &as_partial(&trace)] {
                compare(trace, &mut rng, &mut counts);
                compare(&retargeted(trace, &mut rng), &mut rng, &mut counts);
            }
        }
    }
    eprintln!("{counts:#?}");
    let mut wanted: Vec<String> = Vec::new();
    for answer in ["consistent", "inconsistent"] {
        wanted.extend(ENDED.map(|rule| format!("{answer} with {rule:?}")));
    }
    // The rule alone makes the difference: an engine without it is noticed. (An exit has no effect
    // but on its joins, which have the same orders.)
    let rules = [OrderRule::Cancelled, OrderRule::Disabled, OrderRule::Cancel];
    wanted.push("broken Exited".to_owned());
    wanted.extend(rules.map(|rule| format!("decided by {rule:?}")));
    let others = [OrderRule::Fork, OrderRule::Join, OrderRule::Enable];
    wanted.extend(others.map(|rule| format!("decided by {rule:?}")));
    wanted.extend(["link Ended", "step Ended", "link Cancel", "open ends"].map(str::to_owned));
    wanted.extend(["cancelled, never begun", "partial exit"].map(str::to_owned));
    for name in wanted {
        assert!(counts.get(&name).is_some_and(|count| *count > 0), "never: {name}: {counts:#?}");
    }
}

/// Some reads read from another write, or the initial value.
fn retargeted(trace: &Trace, rng: &mut Rng) -> Trace {
    let mut columns = trace.columns().clone();
    let old: BTreeMap<u32, u64> = columns.refers.iter().collect();
    columns.refers.clear();
    for event in trace.events() {
        let mut refers = old.get(&event.id.0).copied();
        if event.kind().reads() && rng.percent(25) {
            let writes = trace.events().filter(|other| {
                other.kind().writes() && other.operand == event.operand && other.id != event.id
            });
            let writes: Vec<u64> = writes.map(|write| u64::from(write.id.0)).collect();
            let initial = writes.is_empty() || rng.percent(20);
            refers = Some(if initial { Columns::INITIAL } else { rng.pick(&writes) });
        }
        if let Some(from) = refers {
            columns.refers.push(event.id.0, from);
        }
    }
    Trace::new(trace.tables().clone(), columns)
}

fn compare(trace: &Trace, rng: &mut Rng, counts: &mut Counts) {
    let rule = rng.pick(&MailboxRule::ALL);
    let mailbox = match rule {
        MailboxRule::Fifo => Mailbox::Fifo,
        MailboxRule::Bag => Mailbox::Bag,
        MailboxRule::Delayed => Mailbox::Delayed,
    };
    let mut add = |name: String| *counts.entry(name).or_default() += 1;
    let rules = OrderRules::of(trace, mailbox);
    let expected = rules.find();
    let options = FromTrace { mailboxes: rule, infer_coherence: false };
    let (partial, _) = PartialTrace::from_trace(trace, &options).expect("a partial trace");
    let split = split_own_code(trace).expect("a trace");
    let checked = split.as_ref().unwrap_or(trace);
    let effort = Effort { conflicts: None, refute: true, proof_bytes: None };
    let outcome = Procedure::Solver.decide(&partial, effort, &Control::default());
    let shown = || format!("{rule:?} {:?} {}", trace.tables().meta.order, show(trace));
    match outcome.expect("the solver takes all traces").answer {
        Answer::Consistent(slots) => {
            assert!(expected.is_some(), "no order keeps the rules: {}", shown());
            let order: Vec<EventId> =
                slots.iter().map(|slot| partial.events[*slot as usize]).collect();
            assert_eq!(rules.check(&order), Ok(()), "{order:?} {}", shown());
            let result = check_consistency_witness(checked, certified(rule), &order);
            assert_eq!(result, Ok(()), "{order:?} {}", shown());
        }
        Answer::Inconsistent(refutation) => {
            assert_eq!(expected, None, "an order keeps the rules: {}", shown());
            let refutation = refutation.expect("a refutation");
            for step in &refutation.steps {
                if let RefutationStep::Cycle(links) = step {
                    for link in links {
                        if let Why::Given(relation @ (Relation::Cancel | Relation::Ended)) =
                            link.why
                        {
                            add(format!("link {relation:?}"));
                        }
                    }
                }
                if matches!(step, RefutationStep::Ended { .. }) {
                    add("step Ended".to_owned());
                }
            }
            let proof = translated(&partial, &refutation);
            check_inconsistency(checked, certified(rule), &proof).expect("the proof holds");
        }
        Answer::Unknown(limit) => panic!("{limit:?} without limits"),
    }
    if let Some(order) = &expected {
        let result = check_consistency_witness(checked, certified(rule), order);
        assert_eq!(result, Ok(()), "{order:?} {}", shown());
    }
    let answer = if expected.is_some() { "consistent" } else { "inconsistent" };
    let all = [OrderRule::Fork, OrderRule::Join].into_iter().chain(ENDED);
    for dropped in all.filter(|of| rules.count(*of) > 0) {
        add(format!("{answer} with {dropped:?}"));
        if expected.is_none() && rules.without(&[dropped]).find().is_some() {
            add(format!("decided by {dropped:?}"));
        }
        refuse(checked, rule, &rules, dropped, &mut add);
    }
    count(trace, &partial, &mut add);
}

/// An order that breaks only this rule must be refused by the checker.
fn refuse(
    checked: &Trace,
    rule: MailboxRule,
    rules: &OrderRules,
    dropped: OrderRule,
    add: &mut impl FnMut(String),
) {
    let Some(order) = rules.without(&[dropped]).find() else { return };
    if rules.check(&order).is_ok() {
        return;
    }
    add(format!("broken {dropped:?}"));
    let result = check_consistency_witness(checked, certified(rule), &order);
    assert!(result.is_err(), "{dropped:?} is broken: {order:?} {}", show(checked));
}

fn count(trace: &Trace, partial: &PartialTrace, add: &mut impl FnMut(String)) {
    let observed = trace.tables().meta.order == TraceOrder::Observed;
    if !partial.ends.is_empty() {
        add("open ends".to_owned());
    }
    for event in trace.events() {
        if let Action::Cancel(task) = event.action()
            && trace.span(task).first.is_none()
        {
            add("cancelled, never begun".to_owned());
        }
        if event.kind() == EventKind::Exit && !observed {
            let handler = trace.handler_of(event.id);
            let takes = |e: Event| e.kind() == EventKind::Get && trace.handler_of(e.id) == handler;
            if trace.events().any(takes) {
                add("partial exit".to_owned());
            }
        }
    }
}
