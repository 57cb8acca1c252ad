//! Small traces by hand, and limits.

use crate::tests::procedures::support::{REFUTE, check_witness, control, partial, read, verdict};
use anyorder_consistency::testing::{NotFull, check_full};
use anyorder_consistency::{
    Answer, Due, Effort, Fact, Given, Limit, Link, MailboxRule, Message, OpenEnds, OpenLocation,
    PartialTrace, Procedure, Relation, Unsupported, Why,
};
use anyorder_system::{Control, Limits, StopReason};
use anyorder_trace::{EventId, HandlerId, TaskId};

const OURS: [Procedure; 3] = Procedure::ALL;

/// Runs all procedures, checks their answers, and expects one verdict.
fn check(text: &str, mailboxes: MailboxRule, expected: bool) {
    let trace = read(text);
    let question = partial(&trace, mailboxes);
    for procedure in OURS {
        let outcome = procedure.decide(&question, REFUTE, &control()).expect("it is flat");
        let silent = procedure == Procedure::Flat;
        assert_eq!(verdict(&trace, &question, &outcome, silent), expected, "{procedure:?}");
    }
}

#[test]
fn nothing_is_consistent() {
    check("", MailboxRule::Fifo, true);
}

#[test]
fn messages_run_as_they_were_posted_in_fifo_only() {
    let text = "e1 A - post a; e2 A - post b; e3 h a get; e4 h a r x e6; e5 h b get; e6 h b w x";
    check(text, MailboxRule::Fifo, false);
    check(text, MailboxRule::Bag, true);
    // All delays are 0.
    check(text, MailboxRule::Delayed, false);
}

#[test]
fn a_read_of_a_later_write_of_its_message() {
    check("e1 A - r x e2; e2 A - w x", MailboxRule::Bag, false);
}

#[test]
fn a_message_that_posts_itself() {
    let trace = read("e1 h a get; e2 h a post a");
    let question = partial(&trace, MailboxRule::Fifo);
    let outcome =
        Procedure::Enumerate.decide(&question, REFUTE, &control()).expect("coherence is given");
    assert!(!verdict(&trace, &question, &outcome, false));
    assert!(
        matches!(check_full(&question, &[vec![0]]), Err(NotFull::Cycle(cycle)) if cycle.len() == 2)
    );
    let flat = Procedure::Flat.decide(&question, REFUTE, &control());
    assert!(matches!(flat, Err(Unsupported::Nested { message: 0 })));
}

#[test]
fn a_cycle_of_given_orders() {
    let text = "e1 A - r x e4; e2 A - w y; e3 B - r y e2; e4 B - w x";
    check(text, MailboxRule::Fifo, false);
}

/// Messages on one handler, each posted by one event of an initial message on another, in order.
fn row(dues: &[Due], mailboxes: MailboxRule) -> PartialTrace {
    let count = dues.len() as u32;
    let message = |handler, slots: std::ops::Range<u32>, post: Option<u32>, due| Message {
        handler,
        handler_id: HandlerId(handler),
        task: TaskId(slots.start),
        initial: post.is_none(),
        slots,
        post,
        due,
    };
    let mut messages = vec![message(0, 0..count, None, Due::After(0))];
    let at = |index: u32| count + 2 * index;
    messages.extend((0..count).map(|i| message(1, at(i)..at(i) + 2, Some(i), dues[i as usize])));
    let given = |i| Given { from: i, to: at(i), relation: Relation::PostedBy };
    PartialTrace {
        mailboxes,
        handlers: 2,
        messages,
        events: (0..3 * count).map(EventId).collect(),
        given: (0..count).map(given).collect(),
        backward: Vec::new(),
        open: Vec::new(),
        ends: Vec::new(),
    }
}

#[test]
fn delayed_mailboxes_keep_what_they_promise() {
    let dues = [Due::After(5), Due::After(0), Due::Front, Due::Idle];
    let question = row(&dues, MailboxRule::Delayed);
    let runs = |order: &[u32]| check_full(&question, &[vec![], order.to_vec()]).is_ok();
    assert!(runs(&[1, 2, 3, 4]));
    assert!(runs(&[2, 1, 3, 4]), "a longer delay may be overtaken");
    assert!(runs(&[3, 2, 1, 4]), "the front may overtake");
    assert!(runs(&[4, 3, 2, 1]), "idle messages keep no order");
    let question =
        row(&[Due::After(0), Due::After(5), Due::Front, Due::After(1)], MailboxRule::Delayed);
    let runs = |order: &[u32]| check_full(&question, &[vec![], order.to_vec()]).is_ok();
    assert!(runs(&[3, 1, 4, 2]));
    assert!(!runs(&[2, 1, 3, 4]), "a longer delay that was posted later overtakes nothing");
    assert!(!runs(&[1, 2, 4, 3]), "what was put to the front is not overtaken");
}

#[test]
fn one_event_may_post_several_messages() {
    let mut question = row(&[Due::After(0); 3], MailboxRule::Fifo);
    question.messages[2].post = Some(0);
    question.given[1].from = 0;
    for procedure in OURS {
        let outcome = procedure.decide(&question, REFUTE, &control()).expect("it is flat");
        assert!(matches!(outcome.answer, Answer::Consistent(_)), "{procedure:?}");
    }
    assert!(check_full(&question, &[vec![], vec![2, 1, 3]]).is_ok(), "nothing says which is first");
    assert!(check_full(&question, &[vec![], vec![1, 3, 2]]).is_err());
}

#[test]
fn a_message_without_a_post_may_begin_at_any_time() {
    let mut question = row(&[Due::After(0); 2], MailboxRule::Fifo);
    // The end of the first message waits for that of the second.
    question.given.push(Given { from: 5, to: 3, relation: Relation::ReadsFrom });
    for procedure in OURS {
        let outcome = procedure.decide(&question, REFUTE, &control()).expect("it is flat");
        assert!(
            matches!(outcome.answer, Answer::Inconsistent(_)),
            "{procedure:?}: it was posted first"
        );
    }
    question.messages[2].post = None;
    question.given.retain(|given| given.to != 4);
    for procedure in OURS {
        let outcome = procedure.decide(&question, REFUTE, &control()).expect("it is flat");
        assert!(matches!(outcome.answer, Answer::Consistent(_)), "{procedure:?}");
    }
}

#[test]
fn the_witness_takes_the_smallest_slot_that_can_come_next() {
    let text = "e1 A - post a; e2 B - post b; e3 h a get; e4 h b get; e5 A - w x";
    let trace = read(text);
    let question = partial(&trace, MailboxRule::Fifo);
    let handler =
        question.messages.iter().find(|message| !message.initial).expect("a is posted").handler
            as usize;
    let orders = question.posted();
    let first = check_full(&question, &orders).expect("it is consistent");
    check_witness(&trace, &question, &first);
    let mut other = orders;
    other[handler].reverse();
    let second = check_full(&question, &other).expect("it is consistent");
    check_witness(&trace, &question, &second);
    assert!(first < second, "{first:?} {second:?}");
}

#[test]
fn a_cycle_across_many_messages_is_short() {
    let count = 1_000;
    for mailboxes in [MailboxRule::Fifo, MailboxRule::Bag] {
        let mut question = row(&vec![Due::After(0); count], mailboxes);
        let (first, last) = (count as u32, count as u32 + 2 * (count as u32 - 1));
        question.given.push(Given { from: last, to: first + 1, relation: Relation::ReadsFrom });
        let order = (1..=count as u32).collect();
        let Err(NotFull::Cycle(cycle)) = check_full(&question, &[vec![], order]) else {
            panic!("the last message comes before the end of the first");
        };
        let runs = Fact::Runs { first: 1, second: count as u32 };
        assert_eq!(cycle.len(), 2, "{cycle:?}");
        assert!(
            cycle.contains(&Link { from: first + 1, to: last, why: Why::Decided(runs) }),
            "{cycle:?}"
        );
    }
}

#[test]
fn orders_must_name_each_message_once() {
    let question = row(&[Due::After(0); 2], MailboxRule::Fifo);
    for orders in [
        vec![],
        vec![vec![]],
        vec![vec![], vec![1]],
        vec![vec![], vec![1, 1]],
        vec![vec![0], vec![1, 2]],
        vec![vec![], vec![1, 2], vec![]],
    ] {
        assert!(
            matches!(check_full(&question, &orders), Err(NotFull::NotAnOrder { .. })),
            "{orders:?}"
        );
    }
}

#[test]
fn open_coherence_is_refused() {
    let mut question = row(&[Due::After(0); 2], MailboxRule::Fifo);
    question.open.push(OpenLocation { writes: vec![0, 1], reads: vec![] });
    for procedure in [Procedure::Enumerate, Procedure::Flat] {
        let refused = procedure.decide(&question, REFUTE, &control());
        assert!(matches!(refused, Err(Unsupported::OpenCoherence)), "{procedure:?}");
    }
    assert_eq!(check_full(&question, &[vec![], vec![1, 2]]), Err(NotFull::OpenCoherence));
}

#[test]
fn open_ends_are_refused() {
    let mut question = row(&[Due::After(0); 2], MailboxRule::Fifo);
    question.ends.push(OpenEnds { ends: vec![0], begins: vec![(4, 1)] });
    for procedure in [Procedure::Enumerate, Procedure::Flat] {
        let refused = procedure.decide(&question, REFUTE, &control());
        assert!(matches!(refused, Err(Unsupported::OpenEnds)), "{procedure:?}");
    }
    assert_eq!(check_full(&question, &[vec![], vec![1, 2]]), Err(NotFull::OpenEnds));
}

#[test]
fn limits_end_in_unknown() {
    let question = row(&[Due::After(0); 8], MailboxRule::Bag);
    for procedure in OURS {
        let stopped = Control::default();
        stopped.cancel.stop(StopReason::TimeLimit);
        let outcome = procedure.decide(&question, REFUTE, &stopped).expect("it is flat");
        let expected = Limit::Stopped(StopReason::TimeLimit);
        assert!(
            matches!(outcome.answer, Answer::Unknown(limit) if limit == expected),
            "{procedure:?}"
        );
        let small = Control {
            limits: Limits { memory_bytes: Some(100), ..Limits::NONE },
            ..Control::default()
        };
        let outcome = procedure.decide(&question, REFUTE, &small).expect("it is flat");
        let expected = Limit::Stopped(StopReason::MemoryLimit);
        assert!(
            matches!(outcome.answer, Answer::Unknown(limit) if limit == expected),
            "{procedure:?}"
        );
    }
}

#[test]
fn conflicts_are_limited() {
    // Two pairs without a possible order, although neither pair alone is refuted; see
    // `sketch_of_flat`.
    let trace = read(crate::tests::procedures::sketch_of_flat::SATURATED);
    let question = partial(&trace, MailboxRule::Fifo);
    for procedure in OURS {
        let effort = Effort { conflicts: Some(0), ..Effort::default() };
        let outcome = procedure.decide(&question, effort, &control()).expect("it is flat");
        assert!(matches!(outcome.answer, Answer::Unknown(Limit::Conflicts)), "{procedure:?}");
    }
}

#[test]
fn many_messages_of_two_posters() {
    let mut text = String::new();
    for i in 0..150 {
        text +=
            &format!("p{i} P - post a{i}; q{i} Q - post b{i}; a{i} h a{i} get; b{i} h b{i} get;");
    }
    check(&text, MailboxRule::Fifo, true);
    check(&text, MailboxRule::Bag, true);
}
