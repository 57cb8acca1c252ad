//! From texts and traces to problems, and the checks that every answer must pass.

use anyorder_certify::consistency as certify;
use anyorder_consistency::testing::check_full;
use anyorder_consistency::{
    Answer, Due, Effort, Fact, FromTrace, Link, MailboxRule, MessageId, Outcome, PartialTrace,
    Refutation, RefutationStep, Relation, Why,
};
use anyorder_formats::edtrace::EdtraceReader;
use anyorder_system::Control;
use anyorder_testkit::consistency::{Mailbox, simulate};
use anyorder_trace::{EventId, Trace};

pub(crate) const REFUTE: Effort = Effort { conflicts: None, refute: true, proof_bytes: None };

pub(crate) fn control() -> Control<'static> {
    Control::default()
}

/// A trace in the format `edtrace`, without its first line; `;` also ends a line.
pub(crate) fn read(text: &str) -> Trace {
    let text = format!("edtrace 1\n{}\n", text.replace(';', "\n"));
    Trace::read(&mut EdtraceReader::new(text.as_bytes())).expect("the text is well-formed")
}

pub(crate) fn partial(trace: &Trace, mailboxes: MailboxRule) -> PartialTrace {
    let options = FromTrace { mailboxes, ..FromTrace::default() };
    PartialTrace::from_trace(trace, &options).expect("the trace has a meaning").0
}

pub(crate) fn mailboxes(mailbox: Mailbox) -> MailboxRule {
    match mailbox {
        Mailbox::Fifo => MailboxRule::Fifo,
        Mailbox::Bag => MailboxRule::Bag,
        Mailbox::Delayed => MailboxRule::Delayed,
    }
}

fn simulated(rule: MailboxRule) -> (Mailbox, certify::MailboxRule) {
    match rule {
        MailboxRule::Fifo => (Mailbox::Fifo, certify::MailboxRule::Fifo),
        MailboxRule::Bag => (Mailbox::Bag, certify::MailboxRule::Bag),
        MailboxRule::Delayed => (Mailbox::Delayed, certify::MailboxRule::Delayed),
    }
}

/// Checks the witness or the refutation, and returns whether the trace is consistent. An
/// inconsistency without a refutation passes only if `silent`.
pub(crate) fn verdict(
    trace: &Trace,
    partial: &PartialTrace,
    outcome: &Outcome,
    silent: bool,
) -> bool {
    match &outcome.answer {
        Answer::Consistent(order) => {
            check_witness(trace, partial, order);
            true
        }
        Answer::Inconsistent(Some(refutation)) => {
            check_refutation(trace, partial, refutation);
            false
        }
        Answer::Inconsistent(None) => {
            assert!(silent, "no refutation");
            false
        }
        Answer::Unknown(limit) => panic!("no answer: {limit:?}"),
    }
}

pub(crate) fn check_witness(trace: &Trace, partial: &PartialTrace, order: &[u32]) {
    let order: Vec<EventId> = order.iter().map(|&slot| partial.events[slot as usize]).collect();
    let (mailbox, rule) = simulated(partial.mailboxes);
    simulate(trace, mailbox, &order).expect("the simulator runs the witness");
    certify::check_consistency_witness(trace, rule, &order).expect("the checker runs the witness");
}

pub(crate) fn check_refutation(trace: &Trace, partial: &PartialTrace, refutation: &Refutation) {
    let proof = certify::ConsistencyProof {
        steps: refutation.steps.iter().map(|step| step_of(partial, step)).collect(),
    };
    let rule = simulated(partial.mailboxes).1;
    if let Err(error) = certify::check_inconsistency(trace, rule, &proof) {
        panic!("the checker refuses the refutation: {error}\n{refutation:#?}");
    }
}

fn step_of(partial: &PartialTrace, step: &RefutationStep) -> certify::RefutationStep {
    let event = |slot: u32| partial.events[slot as usize];
    let facts = |facts: &[Fact]| facts.iter().map(|&fact| fact_of(partial, fact)).collect();
    match step {
        RefutationStep::Cycle(links) => certify::RefutationStep::Cycle(
            links.iter().map(|&link| link_of(partial, link)).collect(),
        ),
        RefutationStep::ReadsOpen { read, other } => {
            certify::RefutationStep::ReadsOpen { read: event(*read), other: event(*other) }
        }
        RefutationStep::Ended { begins, end } => {
            certify::RefutationStep::Ended { begins: event(*begins), end: event(*end) }
        }
        RefutationStep::Derived(clause) => certify::RefutationStep::Derived(facts(clause)),
        RefutationStep::Forget(clause) => certify::RefutationStep::Forget(facts(clause)),
    }
}

pub(crate) fn link_of(partial: &PartialTrace, link: Link) -> certify::Link {
    let why = match link.why {
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
        Why::Decided(fact) => certify::Why::Decided(fact_of(partial, fact)),
    };
    certify::Link {
        from: partial.events[link.from as usize],
        to: partial.events[link.to as usize],
        why,
    }
}

fn fact_of(partial: &PartialTrace, fact: Fact) -> certify::Fact {
    match fact {
        Fact::Runs { first, second } => certify::Fact::Runs {
            first: partial.messages[first as usize].task,
            second: partial.messages[second as usize].task,
        },
        Fact::Before { first, second } => certify::Fact::Before {
            first: partial.events[first as usize],
            second: partial.events[second as usize],
        },
    }
}

/// Calls `with` with all orders of the messages of each handler, until it returns true. Returns
/// whether it did.
pub(crate) fn all_orders(
    partial: &PartialTrace,
    with: &mut impl FnMut(&[Vec<MessageId>]) -> bool,
) -> bool {
    fn go(
        orders: &mut Vec<Vec<MessageId>>,
        handler: usize,
        from: usize,
        with: &mut impl FnMut(&[Vec<MessageId>]) -> bool,
    ) -> bool {
        let Some(order) = orders.get(handler) else { return with(orders) };
        if from >= order.len() {
            return go(orders, handler + 1, 0, with);
        }
        for other in from..orders[handler].len() {
            orders[handler].swap(from, other);
            if go(orders, handler, from + 1, with) {
                return true;
            }
            orders[handler].swap(from, other);
        }
        false
    }
    go(&mut partial.posted(), 0, 0, with)
}

/// The number of orders that [`all_orders`] tries.
pub(crate) fn orders_count(partial: &PartialTrace) -> u64 {
    partial.posted().iter().map(|messages| (1..=messages.len() as u64).product::<u64>()).product()
}

/// Decides by the full problem for all orders. Each witness is checked, and each cycle as far as
/// possible without orders.
pub(crate) fn by_all_orders(trace: &Trace, partial: &PartialTrace) -> bool {
    all_orders(partial, &mut |orders| match check_full(partial, orders) {
        Ok(witness) => {
            check_witness(trace, partial, &witness);
            true
        }
        Err(anyorder_consistency::testing::NotFull::Cycle(cycle)) => {
            check_cycle(partial, orders, &cycle);
            false
        }
        Err(other) => panic!("{other}"),
    })
}

/// Checks that a cycle closes and that its facts are those of the orders; the checker verifies its
/// links.
pub(crate) fn check_cycle(partial: &PartialTrace, orders: &[Vec<MessageId>], cycle: &[Link]) {
    assert!(!cycle.is_empty(), "an empty cycle");
    for (at, link) in cycle.iter().enumerate() {
        assert_eq!(link.to, cycle[(at + 1) % cycle.len()].from, "{cycle:?}");
        if let Why::Decided(Fact::Runs { first, second }) = link.why {
            let order = &orders[partial.messages[first as usize].handler as usize];
            let place = |message| {
                order.iter().position(|&other| other == message).expect("it is of the handler")
            };
            assert!(place(first) < place(second), "{cycle:?}");
        }
    }
}

/// Whether a message has a delay or position that matters under delayed mailboxes.
pub(crate) fn timed(partial: &PartialTrace) -> bool {
    partial.messages.iter().any(|message| message.due != Due::After(0))
}

/// Has each link of a cycle checked: a proof of the cycle alone fails only because it is
/// unfinished.
pub(crate) fn check_links(trace: &Trace, partial: &PartialTrace, cycle: &[Link]) {
    let links = cycle.iter().map(|&link| link_of(partial, link)).collect();
    let proof = certify::ConsistencyProof { steps: vec![certify::RefutationStep::Cycle(links)] };
    let rule = simulated(partial.mailboxes).1;
    match certify::check_inconsistency(trace, rule, &proof) {
        Ok(_) => assert!(cycle.iter().all(|link| matches!(link.why, Why::Given(_)))),
        Err(error) => {
            assert!(matches!(error.reason, certify::ProofReason::Unfinished), "{error}\n{cycle:#?}")
        }
    }
}
