//! Partial traces: the definitions of the paper, edge by edge.

use crate::tests::from_trace::common::{edtrace, fifo, given, messages, orders};
use anyorder_consistency::{Due, FromTrace, FromTraceError, MailboxRule, PartialTrace, Relation};

#[test]
fn two_posters_and_a_handler() {
    let trace = edtrace(
        "e1 A - post a1
         e2 A - w x
         e3 B - r x e2
         e4 B - post b1
         e5 h a1 get
         e6 h a1 r y e8
         e7 h b1 get
         e8 h b1 w y",
    );
    let (partial, kept) = fifo(&trace).expect("a partial trace");
    assert_eq!(
        messages(&trace, &partial),
        ["A h0*: e1 e2", "B h1*: e3 e4", "a1 h2: e5 e6", "b1 h2: e7 e8"]
    );
    assert_eq!(
        given(&trace, &partial),
        ["e1 PostedBy e5", "e2 ReadsFrom e3", "e4 PostedBy e7", "e8 ReadsFrom e6"]
    );
    assert!(partial.backward.is_empty());
    assert_eq!(partial.messages[2].post, Some(0));
    assert_eq!(partial.messages[2].due, Due::After(0));
    assert_eq!((partial.handlers, partial.pairs(), partial.nested().is_some()), (3, 1, false));
    assert_eq!((kept.posted, kept.initial, kept.reads, kept.writes), (2, 2, 2, 2));
}

#[test]
fn slots_follow_program_order_whatever_the_lines() {
    let trace = edtrace(
        "p A - post m
         q A - post n
         n0 h n get
         m0 h m get
         i h - w z
         n1 h n w x
         m1 h m w y",
    );
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(
        messages(&trace, &partial),
        ["A h0*: p q", "n h1: n0 n1", "m h1: m0 m1", "h h1*: i"]
    );
    let ends: Vec<u32> = partial.messages.iter().map(|message| message.slots.end).collect();
    assert_eq!(ends, [2, 4, 6, 7]);
    assert_eq!(
        (0..7).map(|slot| partial.message_of(slot)).collect::<Vec<_>>(),
        [0, 0, 1, 1, 2, 2, 3]
    );
}

#[test]
fn of_coherence_and_from_reads_only_the_next_write() {
    let trace = edtrace(
        "w1 A - w x
         w2 B - w x
         w3 C - w x
         r0 D - r x init
         r1 E - r x w1
         r3 F - r x w3
         co x w1 w2 w3",
    );
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(
        given(&trace, &partial),
        [
            "r0 FromReads w1",
            "r1 FromReads w2",
            "w1 Coherence w2",
            "w1 ReadsFrom r1",
            "w2 Coherence w3",
            "w3 ReadsFrom r3",
        ]
    );
}

#[test]
fn one_write_needs_no_coherence_line() {
    let trace = edtrace("w A - w x\nr B - r x init");
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(given(&trace, &partial), ["r FromReads w"]);
}

#[test]
fn orders_that_program_order_has_are_left_out() {
    let trace = edtrace(
        "w A - w x
         r A - r x w
         v A - w x
         p A - post m
         g A m get
         s A m r x v
         co x w v",
    );
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(given(&trace, &partial), [""; 0]);
    assert!(partial.backward.is_empty());
}

#[test]
fn orders_against_program_order_are_backward() {
    let trace = edtrace(
        "r A - r x w
         w A - w x
         g B m get
         p B m post m
         u C - w y
         t C - r y init",
    );
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(given(&trace, &partial), [""; 0]);
    assert_eq!(
        orders(&trace, &partial, &partial.backward),
        ["p PostedBy g", "t FromReads u", "w ReadsFrom r"]
    );
    assert_eq!(partial.messages[1].post, Some(3));
}

#[test]
fn an_order_to_the_initial_message_of_the_same_handler_stays() {
    let trace = edtrace(
        "r A - r x w
         p A - post m
         g A m get
         w A m w x",
    );
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(given(&trace, &partial), ["w ReadsFrom r"]);
    assert!(partial.backward.is_empty());
}

#[test]
fn open_coherence_has_only_reads_from() {
    let trace = edtrace(
        "w1 A - w x
         w2 B - w x
         r0 C - r x init
         r1 D - r x w1
         v A - w y
         s B - r y init",
    );
    let options = FromTrace { infer_coherence: true, ..FromTrace::default() };
    let (partial, kept) = PartialTrace::from_trace(&trace, &options).expect("a partial trace");
    assert_eq!(given(&trace, &partial), ["s FromReads v", "w1 ReadsFrom r1"]);
    assert_eq!(kept.open_locations, 1);
    let open = &partial.open[0];
    let label = |slot: u32| trace.label(partial.events[slot as usize]);
    assert_eq!(open.writes.iter().map(|w| label(*w)).collect::<Vec<_>>(), ["w1", "w2"]);
    let reads: Vec<_> = open.reads.iter().map(|(r, w)| (label(*r), w.map(label))).collect();
    assert_eq!(reads, [("r0".to_owned(), None), ("r1".to_owned(), Some("w1".to_owned()))]);
    let location = trace.event(trace.find("w1").unwrap()).location().unwrap();
    assert_eq!(fifo(&trace).unwrap_err(), FromTraceError::NoCoherence { location });
}

#[test]
fn an_empty_trace() {
    let trace = edtrace("");
    let (partial, kept) = fifo(&trace).expect("a partial trace");
    assert!(partial.messages.is_empty() && partial.given.is_empty());
    assert_eq!((partial.handlers, kept.events), (0, 0));
}

#[test]
fn mailboxes_are_fifo_and_posts_are_needed() {
    let trace = edtrace("p A - post m\ng B m get");
    assert_eq!(MailboxRule::recorded(&trace), MailboxRule::Fifo);
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(partial.given[0].relation, Relation::PostedBy);
    assert!(partial.messages.iter().all(|message| message.initial == message.post.is_none()));
}
