//! Paths and base edges: for each rule a trace with a right proof, and wrong variants that are
//! refused for the right reason.

use crate::support;

use RuleSet::{Android, Mailbox as Boxes, Threads};
use anyorder_certify::{LemmaId, Proof, Reason, Rule, RuleSet, check_proof};
use anyorder_trace::{EventId, EventKind, Mailbox, Mode, Op, TraceBuilder};
use support::{Built, fails, holds, lifecycle, one, refusal, step};

#[test]
fn paths_must_be_linked_and_lead_where_they_say() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::None)?, b.handler("k", Mailbox::None)?);
    let (t, u) = (b.initial(h), b.initial(k));
    let [x, y, z] = [b.write(t, "x")?, b.write(t, "x")?, b.write(t, "x")?];
    let other = b.write(u, "x")?;
    let trace = b.finish();
    holds(&trace, Boxes, &one(x, z, Rule::Po));
    holds(&trace, Threads, &one(x, z, Rule::Po));
    fails(&trace, Boxes, &one(x, other, Rule::Po));
    fails(&trace, Threads, &one(x, other, Rule::Po));
    let linked = Proof::of([step(x, y, Rule::Po), step(y, z, Rule::Po)]);
    holds(&trace, Boxes, &linked);
    let error = check_proof(&trace, Boxes, &linked, x, y).unwrap_err();
    assert_eq!(error.reason, Reason::WrongEnds { found: (x, z), expected: (x, y) });
    let apart = Proof::of([step(x, y, Rule::Po), step(x, z, Rule::Po)]);
    let error = check_proof(&trace, Boxes, &apart, x, z).unwrap_err();
    assert_eq!(error.reason, Reason::NotLinked { from: x, previous: y });
    assert_eq!((error.lemma, error.step), (None, Some(1)));
    assert_eq!(
        error.to_string(),
        "path, step 1 (`po`, events 0 -> 2): begins at 0, but the step before it ends at 1"
    );
    assert_eq!(refusal(&trace, Boxes, &one(z, x, Rule::Po)), Some(Reason::NotForward));
    assert_eq!(refusal(&trace, Boxes, &one(x, x, Rule::Po)), Some(Reason::NotForward));
    let missing = one(x, EventId(99), Rule::Po);
    assert_eq!(refusal(&trace, Boxes, &missing), Some(Reason::Unknown("event")));
    let empty = check_proof(&trace, Boxes, &Proof::default(), x, y).unwrap_err();
    assert_eq!(empty.reason, Reason::Empty);
    let more = Proof::of([step(x, y, Rule::Po).with(LemmaId(0))]);
    assert_eq!(refusal(&trace, Boxes, &more), Some(Reason::Unknown("lemma before this one")));
    let mut more = Proof::default();
    let lemma = more.lemma([step(x, y, Rule::Po)]);
    let more = more.ending([step(x, y, Rule::Po).with(lemma)]);
    let expected = Some(Reason::Premises { expected: 0, given: 1 });
    assert_eq!(refusal(&trace, Boxes, &more), expected);
    // A lemma that refers to itself.
    let mut circular = Proof::default();
    circular.lemma([step(x, y, Rule::Fifo).with(LemmaId(0))]);
    let error =
        check_proof(&trace, Boxes, &circular.ending([step(x, y, Rule::Po)]), x, y).unwrap_err();
    assert_eq!(
        (error.lemma, error.reason),
        (Some(LemmaId(0)), Reason::Unknown("lemma before this one"))
    );
    Ok(())
}

#[test]
fn thread_code_is_cut_into_pieces_behind_the_loop_point() -> Built {
    let mut b = TraceBuilder::new();
    let h = b.handler("h", Mailbox::Fifo)?;
    let t = b.initial(h);
    let (m, n) = (b.task("m", h)?, b.task("n", h)?);
    let first = b.write(t, "x")?;
    let point = b.on_handler(t, EventKind::Loop, h);
    let get_m = b.get(m)?;
    let end_m = b.end(m)?;
    let piece1 = b.write(t, "x")?;
    let piece1b = b.write(t, "x")?;
    let get_n = b.get(n)?;
    b.end(n)?;
    let piece2 = b.write(t, "x")?;
    let trace = b.finish();
    for (from, to) in [(first, point), (first, piece2), (point, piece1), (piece1, piece1b)] {
        holds(&trace, Boxes, &one(from, to, Rule::Po));
    }
    fails(&trace, Boxes, &one(piece1, piece2, Rule::Po));
    holds(&trace, Threads, &one(piece1, piece2, Rule::Po));
    fails(&trace, Boxes, &one(end_m, piece1, Rule::Po));
    holds(&trace, Threads, &one(end_m, piece1, Rule::Po));
    holds(&trace, Boxes, &one(point, get_m, Rule::LoopPoint));
    holds(&trace, Boxes, &one(point, get_n, Rule::LoopPoint));
    fails(&trace, Boxes, &one(first, get_m, Rule::LoopPoint));
    fails(&trace, Boxes, &one(point, end_m, Rule::LoopPoint));
    let none = refusal(&trace, Threads, &one(point, get_m, Rule::LoopPoint));
    assert_eq!(none, Some(Reason::NotInRuleSet));
    Ok(())
}

#[test]
fn without_a_loop_event_the_loop_point_is_before_the_first_get() -> Built {
    let mut b = TraceBuilder::new();
    let h = b.handler("h", Mailbox::Fifo)?;
    let (t, m) = (b.initial(h), b.task("m", h)?);
    let [x, y] = [b.write(t, "x")?, b.write(t, "x")?];
    let get = b.get(m)?;
    let trace = b.finish();
    holds(&trace, Boxes, &one(y, get, Rule::LoopPoint));
    fails(&trace, Boxes, &one(x, get, Rule::LoopPoint));
    Ok(())
}

#[test]
fn attach_and_post() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Fifo)?, b.handler("k", Mailbox::None)?);
    let (m, n) = (b.task("m", h)?, b.task("n", h)?);
    let (t, u) = (b.initial(h), b.initial(k));
    let attach = b.on_handler(t, EventKind::Attach, h);
    let again = b.on_handler(t, EventKind::Attach, h);
    let post = b.post(u, m)?;
    let own = b.post(t, n)?;
    let get = b.get(m)?;
    let end = b.end(m)?;
    let get_n = b.get(n)?;
    let trace = b.finish();
    holds(&trace, Boxes, &one(attach, post, Rule::Attach));
    fails(&trace, Boxes, &one(again, post, Rule::Attach));
    fails(&trace, Boxes, &one(attach, own, Rule::Attach));
    fails(&trace, Boxes, &one(attach, get, Rule::Attach));
    for rules in [Android, Boxes, Threads] {
        holds(&trace, rules, &one(post, get, Rule::Post));
        fails(&trace, rules, &one(post, get_n, Rule::Post));
        fails(&trace, rules, &one(post, end, Rule::Post));
    }
    Ok(())
}

#[test]
fn fork_and_join() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::None)?, b.handler("k", Mailbox::None)?);
    let (t, u) = (b.initial(h), b.initial(k));
    let before = b.write(t, "x")?;
    let fork = b.on_handler(t, EventKind::Fork, k);
    let begin = b.on_handler(u, EventKind::Begin, k);
    let exit = b.on_handler(u, EventKind::Exit, k);
    let join = b.on_handler(t, EventKind::Join, k);
    let late = b.write(u, "x")?;
    let again = b.on_handler(t, EventKind::Join, k);
    let trace = b.finish();
    for rules in [Android, Boxes, Threads] {
        holds(&trace, rules, &one(fork, begin, Rule::Fork));
        fails(&trace, rules, &one(fork, exit, Rule::Fork));
        fails(&trace, rules, &one(before, begin, Rule::Fork));
        holds(&trace, rules, &one(exit, join, Rule::Join));
        holds(&trace, rules, &one(begin, join, Rule::Join));
        holds(&trace, rules, &one(late, again, Rule::Join));
        let early = refusal(&trace, rules, &one(late, join, Rule::Join));
        assert_eq!(early, Some(Reason::NotForward));
        fails(&trace, rules, &one(begin, late, Rule::Join));
        // A thread without other events was started nevertheless.
        holds(&trace, rules, &one(fork, join, Rule::Join));
        fails(&trace, rules, &one(before, join, Rule::Join));
        fails(&trace, rules, &one(fork, exit, Rule::Join));
    }
    Ok(())
}

#[test]
fn locks_order_other_handlers_unless_shared() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::None)?, b.handler("k", Mailbox::None)?);
    let (t, u) = (b.initial(h), b.initial(k));
    b.acquire(t, "l", Mode::SHARED)?;
    let shared = b.release(t, "l", Mode::SHARED)?;
    let reader = b.acquire(u, "l", Mode::TRY_SHARED)?;
    b.release(u, "l", Mode::TRY_SHARED)?;
    let own = b.acquire(t, "l", Mode::EXCLUSIVE)?;
    b.release(t, "l", Mode::EXCLUSIVE)?;
    let writer = b.acquire(u, "l", Mode::EXCLUSIVE)?;
    let other = b.acquire(u, "other", Mode::EXCLUSIVE)?;
    let trace = b.finish();
    for rules in [Android, Boxes, Threads] {
        holds(&trace, rules, &one(shared, writer, Rule::Lock));
        fails(&trace, rules, &one(shared, reader, Rule::Lock));
        fails(&trace, rules, &one(shared, own, Rule::Lock));
        fails(&trace, rules, &one(shared, other, Rule::Lock));
        fails(&trace, rules, &one(reader, writer, Rule::Lock));
    }
    Ok(())
}

#[test]
fn wakes_answer_one_signal() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::None)?, b.handler("k", Mailbox::None)?);
    let (t, u) = (b.initial(h), b.initial(k));
    let early = b.on_condition(t, EventKind::Signal, "c")?;
    b.on_condition(u, EventKind::Wait, "c")?;
    let other = b.on_condition(t, EventKind::Signal, "d")?;
    let first = b.on_condition(t, EventKind::Signal, "c")?;
    let second = b.on_condition(t, EventKind::Signal, "c")?;
    let wake1 = b.on_condition(u, EventKind::Wake, "c")?;
    let wake2 = b.on_condition(u, EventKind::Wake, "c")?;
    let all = b.on_condition(t, EventKind::Broadcast, "c")?;
    let wake3 = b.on_condition(u, EventKind::Wake, "c")?;
    let wake4 = b.on_condition(u, EventKind::Wake, "c")?;
    let told = b.on_condition(u, EventKind::Wake, "c")?;
    b.columns.refers.push(told.0, u64::from(early.0));
    let trace = b.finish();
    for rules in [Android, Boxes, Threads] {
        for (signal, wake) in
            [(first, wake1), (second, wake2), (all, wake3), (all, wake4), (early, told)]
        {
            holds(&trace, rules, &one(signal, wake, Rule::Wake));
        }
        for (signal, wake) in
            [(early, wake1), (second, wake1), (first, wake2), (other, wake1), (all, told)]
        {
            fails(&trace, rules, &one(signal, wake, Rule::Wake));
        }
        fails(&trace, rules, &one(first, second, Rule::Wake));
    }
    Ok(())
}

#[test]
fn barriers_and_atomics() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::None)?, b.handler("k", Mailbox::None)?);
    let (t, u) = (b.initial(h), b.initial(k));
    let bar1 = b.on_condition(t, EventKind::Barrier, "b")?;
    let bar2 = b.on_condition(u, EventKind::Barrier, "b")?;
    let bar3 = b.on_condition(t, EventKind::Barrier, "b")?;
    let other = b.on_condition(u, EventKind::Barrier, "other")?;
    let (x, y) = (b.variable("x")?.0, b.variable("y")?.0);
    let mut access = |task, kind, mode, at| b.push(task, Op::new(kind, mode), at);
    let overwritten = access(t, EventKind::Write, Mode::SEQ_CST, x);
    let write = access(t, EventKind::Write, Mode::RELEASE, x);
    let read = access(u, EventKind::Read, Mode::ACQUIRE, x);
    let relaxed = access(u, EventKind::Read, Mode::RELAXED, x);
    let elsewhere = access(u, EventKind::Read, Mode::ACQUIRE, y);
    let weak = access(t, EventKind::Rmw, Mode::RELAXED, x);
    let late = access(u, EventKind::Read, Mode::SEQ_CST, x);
    let adds = access(t, EventKind::Rmw, Mode::RELEASE, x);
    let both = access(u, EventKind::Read, Mode::ACQUIRE, x);
    let plain = access(t, EventKind::Rmw, Mode::PLAIN, x);
    let ended = access(u, EventKind::Read, Mode::ACQUIRE, x);
    let trace = b.finish();
    for rules in [Android, Boxes, Threads] {
        holds(&trace, rules, &one(bar1, bar2, Rule::Barrier));
        fails(&trace, rules, &one(bar1, bar3, Rule::Barrier));
        fails(&trace, rules, &one(bar1, other, Rule::Barrier));
        fails(&trace, rules, &one(bar1, read, Rule::Barrier));
        holds(&trace, rules, &one(write, read, Rule::Atomic));
        fails(&trace, rules, &one(overwritten, read, Rule::Atomic));
        fails(&trace, rules, &one(write, relaxed, Rule::Atomic));
        fails(&trace, rules, &one(write, elsewhere, Rule::Atomic));
        // A read-modify-write continues the release sequence, a plain write ends it.
        holds(&trace, rules, &one(write, late, Rule::Atomic));
        fails(&trace, rules, &one(overwritten, late, Rule::Atomic));
        fails(&trace, rules, &one(weak, late, Rule::Atomic));
        holds(&trace, rules, &one(write, both, Rule::Atomic));
        holds(&trace, rules, &one(adds, both, Rule::Atomic));
        fails(&trace, rules, &one(adds, ended, Rule::Atomic));
        fails(&trace, rules, &one(plain, ended, Rule::Atomic));
    }
    Ok(())
}

#[test]
fn enabling_orders_the_trigger_and_its_task() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Fifo)?, b.handler("k", Mailbox::None)?);
    let (t, click, later) = (b.initial(k), b.task("click", h)?, b.task("later", h)?);
    let (button, resume) = (b.input("button")?.0, lifecycle(&mut b, "RESUME-ACT")?.0);
    let old = b.push(t, EventKind::Enable.into(), button);
    let enable = b.push(t, EventKind::Enable.into(), button);
    let of_family = b.push(t, EventKind::Enable.into(), resume);
    let post = b.post(t, click)?;
    let get = b.get(click)?;
    let trigger = b.push(click, EventKind::Trigger.into(), button);
    let resumed = b.push(click, EventKind::Trigger.into(), resume);
    let end = b.end(click)?;
    b.push(t, EventKind::Disable.into(), button);
    let post_later = b.post(t, later)?;
    let get_later = b.get(later)?;
    let disabled = b.push(later, EventKind::Trigger.into(), button);
    let trace = b.finish();
    for rules in [Android, Boxes] {
        for to in [post, get, trigger] {
            holds(&trace, rules, &one(enable, to, Rule::Enable));
            fails(&trace, rules, &one(old, to, Rule::Enable));
        }
        for to in [end, disabled, post_later, get_later] {
            fails(&trace, rules, &one(enable, to, Rule::Enable));
        }
        fails(&trace, rules, &one(post, trigger, Rule::Enable));
    }
    holds(&trace, Boxes, &one(of_family, resumed, Rule::Enable));
    fails(&trace, Android, &one(of_family, resumed, Rule::Enable));
    let none = refusal(&trace, Threads, &one(enable, trigger, Rule::Enable));
    assert_eq!(none, Some(Reason::NotInRuleSet));
    Ok(())
}
