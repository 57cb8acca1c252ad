//! Schedules that a program can run, and schedules that it cannot run.

use anyorder_certify::{ScheduleError, ScheduleReason, check_adjacent, check_schedule};
use anyorder_trace::{EventId, EventKind, Mailbox, Mode, Position, TableFull, Trace, TraceBuilder};

type Built = Result<(), TableFull>;

/// The reason why an order, given by positions in the trace, is refused.
fn refusal(trace: &Trace, order: &[u32]) -> Option<(usize, ScheduleReason)> {
    let order: Vec<EventId> = order.iter().copied().map(EventId).collect();
    let error = check_schedule(trace, &order).err()?;
    assert!(error.reason == ScheduleReason::Unknown || error.event == order[error.place]);
    Some((error.place, error.reason))
}

/// The recorded order, and every prefix of it, must always be accepted.
#[track_caller]
fn recorded_order_holds(trace: &Trace) {
    let order: Vec<u32> = (0..trace.len() as u32).collect();
    for len in 0..=order.len() {
        assert_eq!(refusal(trace, &order[..len]), None);
    }
}

fn early(first: u32, rule: &'static str) -> ScheduleReason {
    ScheduleReason::TooEarly { first: EventId(first), rule }
}

#[test]
fn program_order_and_the_trace_itself() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::None)?, b.handler("k", Mailbox::None)?);
    let (t, u) = (b.initial(h), b.initial(k));
    b.write(t, "x")?; // 0
    b.write(t, "x")?; // 1
    b.write(u, "x")?; // 2
    let trace = b.finish();
    recorded_order_holds(&trace);
    assert_eq!(refusal(&trace, &[2, 0, 1]), None);
    assert_eq!(refusal(&trace, &[0, 2, 1]), None);
    assert_eq!(refusal(&trace, &[2, 1]), Some((1, early(0, "po"))));
    assert_eq!(refusal(&trace, &[1, 0, 2]), Some((0, early(0, "po"))));
    assert_eq!(refusal(&trace, &[0, 0]), Some((1, ScheduleReason::Twice)));
    assert_eq!(refusal(&trace, &[0, 7]), Some((1, ScheduleReason::Unknown)));
    Ok(())
}

/// Posts of two tasks by two threads, which then run; the positions of the events are loop 0, posts
/// 1 and 2, first task 3-5, second task 6-8.
fn two_tasks(mailbox: Mailbox, delays: [u64; 2], front: bool) -> Result<Trace, TableFull> {
    let mut b = TraceBuilder::new();
    let h = b.handler("h", mailbox)?;
    let (k, l) = (b.handler("k", Mailbox::None)?, b.handler("l", Mailbox::None)?);
    let (m, n) = (b.delayed_task("m", h, delays[0])?, b.delayed_task("n", h, delays[1])?);
    if front {
        b.interner.tables.tasks[n.index()].position = Position::Front;
    }
    b.on_handler(b.initial(h), EventKind::Loop, h);
    b.post(b.initial(k), m)?;
    b.post(b.initial(l), n)?;
    for task in [m, n] {
        b.get(task)?;
        b.write(task, "x")?;
        b.end(task)?;
    }
    Ok(b.finish())
}

#[test]
fn tasks_run_one_at_a_time_after_their_posts() -> Built {
    let trace = two_tasks(Mailbox::Fifo, [0, 0], false)?;
    recorded_order_holds(&trace);
    // The posts in reverse order, and then the tasks.
    assert_eq!(refusal(&trace, &[0, 2, 1, 6, 7, 8, 3, 4, 5]), None);
    assert_eq!(refusal(&trace, &[0, 2, 6, 7, 8, 1, 3]), None);
    assert_eq!(refusal(&trace, &[0, 1, 6]), Some((2, early(2, "post"))));
    assert_eq!(refusal(&trace, &[1, 3]), Some((1, early(0, "loop"))));
    let busy = refusal(&trace, &[0, 1, 2, 3, 4, 6]);
    assert_eq!(busy, Some((5, ScheduleReason::Busy)));
    Ok(())
}

#[test]
fn mailboxes_keep_their_order() -> Built {
    let overtaking = [0, 1, 2, 6, 7, 8, 3];
    let first = anyorder_trace::TaskId(3);
    for (mailbox, delays, front, possible) in [
        (Mailbox::Fifo, [0, 0], false, false),
        (Mailbox::Fifo, [0, 0], true, true),
        (Mailbox::Bag, [0, 0], false, true),
        (Mailbox::Delayed, [0, 4], false, false),
        (Mailbox::Delayed, [4, 4], false, false),
        (Mailbox::Delayed, [5, 4], false, true),
        (Mailbox::Delayed, [5, 0], false, true),
    ] {
        let trace = two_tasks(mailbox, delays, front)?;
        recorded_order_holds(&trace);
        let expected = (!possible).then_some((3, ScheduleReason::Overtakes { first }));
        assert_eq!(refusal(&trace, &overtaking), expected, "{mailbox:?} {delays:?} {front}");
    }
    Ok(())
}

#[test]
fn cancelled_and_overtaken_tasks_are_not_waited_for() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Fifo)?, b.handler("k", Mailbox::None)?);
    let (m, n, gone, u) = (b.task("m", h)?, b.task("n", h)?, b.task("gone", h)?, b.initial(k));
    b.post(u, gone)?; // 0: never runs
    b.post(u, m)?; // 1
    b.push(u, EventKind::Cancel.into(), m.0); // 2
    b.post(u, n)?; // 3
    b.get(n)?; // 4
    b.end(n)?; // 5
    b.get(m)?; // 6: the recorded run did it all the same
    let trace = b.finish();
    recorded_order_holds(&trace);

    // The recorded run itself took the second task first; the other order is possible as well.
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Fifo)?, b.handler("k", Mailbox::None)?);
    let (m, n, u) = (b.task("m", h)?, b.task("n", h)?, b.initial(k));
    b.post(u, m)?; // 0
    b.post(u, n)?; // 1
    b.get(n)?; // 2
    b.end(n)?; // 3
    b.get(m)?; // 4
    b.end(m)?; // 5
    let trace = b.finish();
    recorded_order_holds(&trace);
    assert_eq!(refusal(&trace, &[0, 1, 4, 5, 2, 3]), None);

    // A task cancelled by another thread: overtaking it needs the cancellation first.
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Fifo)?, b.handler("k", Mailbox::None)?);
    let l = b.handler("l", Mailbox::None)?;
    let (m, n) = (b.task("m", h)?, b.task("n", h)?);
    b.post(b.initial(k), m)?; // 0
    b.post(b.initial(k), n)?; // 1
    b.get(m)?; // 2
    b.end(m)?; // 3
    b.push(b.initial(l), EventKind::Cancel.into(), m.0); // 4
    b.get(n)?; // 5
    let trace = b.finish();
    recorded_order_holds(&trace);
    assert_eq!(refusal(&trace, &[0, 1, 4, 5]), None);
    assert_eq!(refusal(&trace, &[0, 1, 5]), Some((2, ScheduleReason::Overtakes { first: m })));
    Ok(())
}

#[test]
fn locks_exclude() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::None)?, b.handler("k", Mailbox::None)?);
    let l = b.handler("l", Mailbox::None)?;
    let (t, u, v) = (b.initial(h), b.initial(k), b.initial(l));
    b.acquire(t, "l", Mode::EXCLUSIVE)?; // 0
    b.acquire(t, "l", Mode::EXCLUSIVE)?; // 1: again
    b.release(t, "l", Mode::EXCLUSIVE)?; // 2
    b.release(t, "l", Mode::EXCLUSIVE)?; // 3
    b.acquire(u, "l", Mode::SHARED)?; // 4
    b.acquire(v, "l", Mode::SHARED)?; // 5
    b.release(u, "l", Mode::SHARED)?; // 6
    b.release(v, "l", Mode::SHARED)?; // 7
    let trace = b.finish();
    recorded_order_holds(&trace);
    assert_eq!(refusal(&trace, &[4, 5, 6, 7, 0, 1, 2, 3]), None);
    assert_eq!(refusal(&trace, &[0, 1, 2, 4]), Some((3, ScheduleReason::Held)));
    assert_eq!(refusal(&trace, &[4, 5, 6, 0]), Some((3, ScheduleReason::Held)));
    Ok(())
}

/// A task that gives back what another task of its handler took cannot run before that one.
#[test]
fn a_release_before_its_acquire() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Bag)?, b.handler("k", Mailbox::None)?);
    let (m, n) = (b.task("m", h)?, b.task("n", h)?);
    b.post(b.initial(k), m)?; // 0
    b.post(b.initial(k), n)?; // 1
    b.get(m)?; // 2
    b.acquire(m, "l", Mode::EXCLUSIVE)?; // 3
    b.end(m)?; // 4
    b.get(n)?; // 5
    b.release(n, "l", Mode::EXCLUSIVE)?; // 6
    let trace = b.finish();
    recorded_order_holds(&trace);
    assert_eq!(refusal(&trace, &[0, 1, 5, 6]), Some((3, ScheduleReason::NotHeld)));
    Ok(())
}

/// The recording may have begun after the acquire, or have another mode.
#[test]
fn a_release_of_what_the_trace_does_not_hold() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::None)?, b.handler("k", Mailbox::None)?);
    let (t, u) = (b.initial(h), b.initial(k));
    b.release(t, "l", Mode::EXCLUSIVE)?; // 0
    b.acquire(t, "l", Mode::SHARED)?; // 1
    b.release(t, "l", Mode::EXCLUSIVE)?; // 2: in the other mode
    b.acquire(u, "l", Mode::EXCLUSIVE)?; // 3
    b.release(u, "l", Mode::SHARED)?; // 4
    let trace = b.finish();
    recorded_order_holds(&trace);
    assert_eq!(refusal(&trace, &[3, 0, 4, 1, 2]), None);
    assert_eq!(refusal(&trace, &[3, 0, 1]), Some((2, ScheduleReason::Held)));
    assert_eq!(refusal(&trace, &[0, 1, 3]), Some((2, ScheduleReason::Held)));
    Ok(())
}

#[test]
fn threads_begin_after_their_fork_and_end_before_their_join() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::None)?, b.handler("k", Mailbox::None)?);
    let (t, u) = (b.initial(h), b.initial(k));
    b.on_handler(t, EventKind::Fork, k); // 0
    b.write(t, "x")?; // 1
    b.on_handler(u, EventKind::Begin, k); // 2
    b.on_handler(u, EventKind::Exit, k); // 3
    b.on_handler(t, EventKind::Join, k); // 4
    let trace = b.finish();
    recorded_order_holds(&trace);
    assert_eq!(refusal(&trace, &[0, 2, 3, 1, 4]), None);
    assert_eq!(refusal(&trace, &[2]), Some((0, early(0, "fork"))));
    assert_eq!(refusal(&trace, &[0, 1, 2, 4]), Some((3, early(3, "join"))));
    Ok(())
}

#[test]
fn signals_barriers_inputs_and_mailboxes_come_first() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Fifo)?, b.handler("k", Mailbox::None)?);
    let l = b.handler("l", Mailbox::None)?;
    let (m, t, u) = (b.task("m", h)?, b.initial(k), b.initial(l));
    let input = b.input("button")?.0;
    b.on_handler(b.initial(h), EventKind::Attach, h); // 0
    b.on_condition(t, EventKind::Signal, "c")?; // 1
    b.on_condition(u, EventKind::Wake, "c")?; // 2
    b.on_condition(t, EventKind::Barrier, "b")?; // 3
    b.on_condition(u, EventKind::Barrier, "b")?; // 4
    b.push(t, EventKind::Enable.into(), input); // 5
    b.post(u, m)?; // 6
    b.get(m)?; // 7
    b.push(m, EventKind::Trigger.into(), input); // 8
    let trace = b.finish();
    recorded_order_holds(&trace);
    assert_eq!(refusal(&trace, &[1, 3, 5, 2, 4, 0, 6, 7, 8]), None);
    assert_eq!(refusal(&trace, &[2]), Some((0, early(1, "wake"))));
    assert_eq!(refusal(&trace, &[1, 2, 4]), Some((2, early(3, "barrier"))));
    assert_eq!(refusal(&trace, &[1, 2, 3, 4, 5, 6]), Some((5, early(0, "attach"))));
    assert_eq!(refusal(&trace, &[0, 1, 2, 3, 4, 6]), Some((5, early(5, "enable"))));
    Ok(())
}

#[test]
fn pieces_of_thread_code_can_change_places_with_tasks() -> Built {
    let mut b = TraceBuilder::new();
    let h = b.handler("h", Mailbox::Fifo)?;
    let (t, m) = (b.initial(h), b.task("m", h)?);
    b.write(t, "x")?; // 0
    b.on_handler(t, EventKind::Loop, h); // 1
    b.get(m)?; // 2
    b.end(m)?; // 3
    b.write(t, "x")?; // 4
    b.write(t, "x")?; // 5
    let trace = b.finish();
    recorded_order_holds(&trace);
    assert_eq!(refusal(&trace, &[0, 1, 4, 5, 2, 3]), None);
    assert_eq!(refusal(&trace, &[0, 1, 4, 2]), Some((3, ScheduleReason::Busy)));
    assert_eq!(refusal(&trace, &[0, 1, 2, 4]), Some((3, ScheduleReason::Busy)));
    assert_eq!(refusal(&trace, &[0, 4]), Some((1, early(1, "po"))));
    assert_eq!(refusal(&trace, &[0, 1, 5]), Some((2, early(4, "po"))));
    Ok(())
}

#[test]
fn neighbours() -> Built {
    let trace = two_tasks(Mailbox::Bag, [0, 0], false)?;
    let check = |order: &[u32], a: u32, b: u32| {
        let order: Vec<EventId> = order.iter().copied().map(EventId).collect();
        check_adjacent(&trace, &order, EventId(a), EventId(b))
            .map_err(|error: ScheduleError| (error.place, error.event.0, error.reason))
    };
    // The writes of the two tasks of one handler, with the end and the get between them.
    assert_eq!(check(&[0, 1, 2, 3, 4, 5, 6, 7], 4, 7), Ok(()));
    assert_eq!(check(&[0, 1, 2, 6, 7, 8, 3, 4], 4, 7), Ok(()));
    // A post and a write of different handlers: no event of either handler between them.
    assert_eq!(check(&[0, 1, 3, 4, 2], 4, 2), Ok(()));
    assert_eq!(check(&[0, 1, 2, 3, 4], 2, 4), Err((3, 3, ScheduleReason::Between)));
    assert_eq!(check(&[0, 1, 2, 3, 4], 4, 7), Err((5, 7, ScheduleReason::Missing)));
    assert_eq!(check(&[0, 3, 4], 4, 7), Err((1, 3, early(1, "post"))));
    // Another task of the handler between the two.
    let mut b = TraceBuilder::new();
    let h = b.handler("h", Mailbox::Bag)?;
    let tasks = [b.task("a", h)?, b.task("b", h)?, b.task("c", h)?];
    for task in tasks {
        b.get(task)?;
        b.write(task, "x")?;
        b.end(task)?;
    }
    let trace = b.finish();
    let order = |order: &[u32]| order.iter().copied().map(EventId).collect::<Vec<_>>();
    let apart = check_adjacent(&trace, &order(&[0, 1, 2, 3, 4, 5, 6, 7]), EventId(1), EventId(7));
    assert_eq!(apart.map_err(|e| (e.event.0, e.reason)), Err((3, ScheduleReason::Between)));
    let close = check_adjacent(&trace, &order(&[3, 4, 5, 0, 1, 2, 6, 7]), EventId(1), EventId(7));
    assert_eq!(close, Ok(()));
    Ok(())
}
