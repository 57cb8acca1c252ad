//! Random observed traces: the given orders hold in the recorded order, and every answer passes the
//! independent checker, which reads the trace by itself.

use anyorder_certify::consistency as certify;
use anyorder_certify::{check_consistency_witness, check_inconsistency};
use anyorder_consistency::testing::schedule_once;
use anyorder_consistency::{
    Answer, Effort, Fact, FromTrace, Link, MailboxRule, PartialTrace, Procedure, Refutation,
    RefutationStep, Relation, Why, split_own_code,
};
use anyorder_system::Control;
use anyorder_testkit::{Shape, random_trace};
use anyorder_trace::{Coherence, Columns, EventId, LocationId, Trace, TraceOrder};

#[derive(Default, Debug)]
struct Covered {
    traces: u64,
    consistent: u64,
    inconsistent: u64,
    partial_inconsistent: u64,
    split: u64,
    recorded_valid: u64,
    recorded_invalid: u64,
    fork_or_join: u64,
    scheduled: u64,
    scheduled_with_ends: u64,
}

#[test]
fn answers_stand_the_independent_check() {
    let mut covered = Covered::default();
    for (_, shape) in Shape::all() {
        for seed in 0..600 {
            let trace = random_trace(seed, &shape);
            covered.traces += 1;
            let partial = as_partial(&trace);
            for rule in MailboxRule::ALL {
                check(&trace, rule, &mut covered);
                check(&partial, rule, &mut covered);
            }
        }
    }
    eprintln!("{covered:?}");
    assert!(covered.consistent > 1000 && covered.inconsistent > 500, "{covered:?}");
    assert!(covered.split > 20 && covered.fork_or_join > 100, "{covered:?}");
    assert!(covered.scheduled > 1000 && covered.scheduled_with_ends > 20, "{covered:?}");
    assert!(covered.recorded_valid > 500 && covered.recorded_invalid > 100, "{covered:?}");
}

/// The same trace as a partial one: reads name their writes, and all own code of a handler is its
/// initial message.
pub(crate) fn as_partial(trace: &Trace) -> Trace {
    let mut tables = trace.tables().clone();
    let mut columns = trace.columns().clone();
    tables.meta.order = TraceOrder::Partial;
    columns.refers.clear();
    let mut orders: Vec<Vec<u64>> = vec![Vec::new(); tables.locations.len()];
    for event in trace.events().filter(|event| event.kind().is_access()) {
        let order = &mut orders[event.operand as usize];
        if event.kind().reads() {
            let from = order.last().copied().unwrap_or(Columns::INITIAL);
            columns.refers.push(event.id.0, from);
        }
        if event.kind().writes() {
            order.push(u64::from(event.id.0));
        }
    }
    let orders = orders.into_iter().enumerate().filter(|(_, writes)| writes.len() > 1);
    let order = |(at, writes)| Coherence { location: LocationId(at as u32), writes };
    tables.coherence = orders.map(order).collect();
    Trace::new(tables, columns)
}

fn check(trace: &Trace, rule: MailboxRule, covered: &mut Covered) {
    let observed = trace.tables().meta.order == TraceOrder::Observed;
    let options = FromTrace { mailboxes: rule, infer_coherence: false };
    let (partial, kept) = PartialTrace::from_trace(trace, &options).expect("a partial trace");
    for order in partial.given.iter().filter(|_| observed) {
        let [from, to] = [order.from, order.to].map(|slot| partial.events[slot as usize]);
        assert!(from < to, "{order:?}");
    }
    assert!(partial.backward.is_empty());
    let split = split_own_code(trace).expect("a trace");
    covered.split += u64::from(split.is_some());
    covered.fork_or_join += u64::from(kept.forks + kept.joins > 0);
    let checked = split.as_ref().unwrap_or(trace);
    let certified = certified(rule);
    let recorded: Vec<EventId> = (0..trace.len() as u32).map(EventId).collect();
    let recorded = check_consistency_witness(checked, certified, &recorded);
    if observed && (rule == MailboxRule::Bag || rule == MailboxRule::recorded(trace)) {
        let shown = || anyorder_testkit::show(trace);
        assert_eq!(recorded, Ok(()), "{rule:?}, as recorded: {}", shown());
    }
    *(if recorded.is_ok() {
        &mut covered.recorded_valid
    } else {
        &mut covered.recorded_invalid
    }) += 1;
    let scheduled = schedule_once(&partial, &Control::default()).expect("nothing stops it");
    if let Some(slots) = scheduled {
        let order: Vec<EventId> = slots.iter().map(|slot| partial.events[*slot as usize]).collect();
        let result = check_consistency_witness(checked, certified, &order);
        assert_eq!(result, Ok(()), "{rule:?} {order:?} {}", anyorder_testkit::show(trace));
        covered.scheduled += 1;
        covered.scheduled_with_ends += u64::from(!partial.ends.is_empty());
    }
    let effort = Effort { conflicts: None, refute: true, proof_bytes: None };
    let outcome = Procedure::Solver.decide(&partial, effort, &Control::default());
    match outcome.expect("the solver takes all traces").answer {
        Answer::Consistent(slots) => {
            covered.consistent += 1;
            let order: Vec<EventId> =
                slots.iter().map(|slot| partial.events[*slot as usize]).collect();
            let result = check_consistency_witness(checked, certified, &order);
            assert_eq!(result, Ok(()), "{rule:?} {order:?} {}", anyorder_testkit::show(trace));
        }
        Answer::Inconsistent(refutation) => {
            covered.inconsistent += 1;
            covered.partial_inconsistent += u64::from(!observed);
            assert!(recorded.is_err(), "the recorded order is a run");
            let proof = translated(&partial, &refutation.expect("a refutation"));
            check_inconsistency(checked, certified, &proof).expect("the proof holds");
        }
        Answer::Unknown(limit) => panic!("{limit:?} without limits"),
    }
}

pub(crate) fn certified(rule: MailboxRule) -> certify::MailboxRule {
    match rule {
        MailboxRule::Fifo => certify::MailboxRule::Fifo,
        MailboxRule::Bag => certify::MailboxRule::Bag,
        MailboxRule::Delayed => certify::MailboxRule::Delayed,
    }
}

pub(crate) fn translated(
    partial: &PartialTrace,
    refutation: &Refutation,
) -> certify::ConsistencyProof {
    let event = |slot: u32| partial.events[slot as usize];
    let task = |message: u32| partial.messages[message as usize].task;
    let fact = |fact: Fact| match fact {
        Fact::Runs { first, second } => {
            certify::Fact::Runs { first: task(first), second: task(second) }
        }
        Fact::Before { first, second } => {
            certify::Fact::Before { first: event(first), second: event(second) }
        }
    };
    let why = |why: Why| match why {
        Why::Decided(decided) => certify::Why::Decided(fact(decided)),
        Why::Given(Relation::Program) => certify::Why::Program,
        Why::Given(Relation::ReadsFrom) => certify::Why::ReadsFrom,
        Why::Given(Relation::Coherence) => certify::Why::Coherence,
        Why::Given(Relation::FromReads) => certify::Why::FromReads,
        Why::Given(Relation::PostedBy) => certify::Why::PostedBy,
        Why::Given(Relation::Fork) => certify::Why::Fork,
        Why::Given(Relation::Join) => certify::Why::Join,
        Why::Given(Relation::Cancel) => certify::Why::Cancel,
        Why::Given(Relation::Enable) => certify::Why::Enable,
        Why::Given(Relation::Ended) => certify::Why::Ended,
    };
    let link = |l: &Link| certify::Link { from: event(l.from), to: event(l.to), why: why(l.why) };
    let facts = |clause: &[Fact]| clause.iter().map(|one| fact(*one)).collect();
    let steps = refutation.steps.iter().map(|step| match step {
        RefutationStep::Cycle(links) => {
            certify::RefutationStep::Cycle(links.iter().map(link).collect())
        }
        RefutationStep::ReadsOpen { read, other } => {
            certify::RefutationStep::ReadsOpen { read: event(*read), other: event(*other) }
        }
        RefutationStep::Ended { begins, end } => {
            certify::RefutationStep::Ended { begins: event(*begins), end: event(*end) }
        }
        RefutationStep::Derived(clause) => certify::RefutationStep::Derived(facts(clause)),
        RefutationStep::Forget(clause) => certify::RefutationStep::Forget(facts(clause)),
    });
    certify::ConsistencyProof { steps: steps.collect() }
}
