//! Orders of tasks and component rules: right proofs pass, wrong variants are refused for the right
//! reason.

use crate::support;

use RuleSet::{Android, Mailbox as Boxes, Threads};
use anyorder_certify::{LemmaId, Proof, ProofStep, Reason, Rule, RuleSet};
use anyorder_trace::{
    EventId, EventKind, Input, InputFamily, Mailbox, Mode, Position, TableFull, TaskId, Trace,
    TraceBuilder,
};
use support::{Built, fails, holds, lifecycle, one, refusal, step};

/// A handler with two tasks, posted in order by a thread.
struct Two {
    trace: Trace,
    posts: [EventId; 2],
    gets: [EventId; 2],
    ends: [EventId; 2],
}

fn two(mailbox: Mailbox, delays: [u64; 2], fronts: [bool; 2]) -> Result<Two, TableFull> {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", mailbox)?, b.handler("k", Mailbox::None)?);
    let tasks = [b.delayed_task("m", h, delays[0])?, b.delayed_task("n", h, delays[1])?];
    for (task, front) in tasks.into_iter().zip(fronts) {
        if front {
            b.interner.tables.tasks[task.index()].position = Position::Front;
        }
    }
    let u = b.initial(k);
    let posts = [b.post(u, tasks[0])?, b.post(u, tasks[1])?];
    let [m, n] = tasks;
    let (get_m, end_m) = (b.get(m)?, b.end(m)?);
    let (get_n, end_n) = (b.get(n)?, b.end(n)?);
    let trace = b.finish();
    Ok(Two { trace, posts, gets: [get_m, get_n], ends: [end_m, end_n] })
}

fn fifo_proof(two: &Two) -> Proof {
    let mut proof = Proof::default();
    let posts = proof.lemma([step(two.posts[0], two.posts[1], Rule::Po)]);
    proof.ending([step(two.ends[0], two.gets[1], Rule::Fifo).with(posts)])
}

#[test]
fn fifo_needs_posts_in_order_and_no_greater_delay() -> Built {
    let no = [false, false];
    for (mailbox, delays) in [
        (Mailbox::Fifo, [0, 0]),
        (Mailbox::Delayed, [0, 5]),
        (Mailbox::Delayed, [5, 5]),
        (Mailbox::None, [0, 0]),
    ] {
        let two = two(mailbox, delays, no)?;
        holds(&two.trace, Boxes, &fifo_proof(&two));
        holds(&two.trace, Android, &fifo_proof(&two));
        assert_eq!(refusal(&two.trace, Threads, &fifo_proof(&two)), Some(Reason::NotInRuleSet));
    }
    for (mailbox, delays, fronts) in [
        (Mailbox::Bag, [0, 0], no),
        (Mailbox::Delayed, [5, 0], no),
        (Mailbox::Delayed, [6, 5], no),
        (Mailbox::Fifo, [0, 0], [false, true]),
    ] {
        let two = two(mailbox, delays, fronts)?;
        fails(&two.trace, Boxes, &fifo_proof(&two));
    }
    let front_first = two(Mailbox::Fifo, [0, 0], [true, false])?;
    holds(&front_first.trace, Boxes, &fifo_proof(&front_first));

    let two = two(Mailbox::Fifo, [0, 0], no)?;
    let missing = one(two.ends[0], two.gets[1], Rule::Fifo);
    assert_eq!(
        refusal(&two.trace, Boxes, &missing),
        Some(Reason::Premises { expected: 1, given: 0 })
    );
    let mut elsewhere = Proof::default();
    let lemma = elsewhere.lemma([step(two.posts[0], two.gets[0], Rule::Post)]);
    let elsewhere = elsewhere.ending([step(two.ends[0], two.gets[1], Rule::Fifo).with(lemma)]);
    assert_eq!(refusal(&two.trace, Boxes, &elsewhere), Some(Reason::PremiseElsewhere(0)));
    let mut ends = fifo_proof(&two);
    ends.path.steps[0].from = two.gets[0];
    fails(&two.trace, Boxes, &ends);
    let mut ends = fifo_proof(&two);
    ends.path.steps[0].to = two.ends[1];
    fails(&two.trace, Boxes, &ends);
    Ok(())
}

#[test]
fn whole_tasks_order_their_events_and_locks_do_not() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Fifo)?, b.handler("k", Mailbox::None)?);
    let (m, n, u) = (b.task("m", h)?, b.task("n", h)?, b.initial(k));
    let post_m = b.post(u, m)?;
    let post_n = b.post(u, n)?;
    b.get(m)?;
    let x = b.write(m, "x")?;
    b.acquire(m, "l", Mode::EXCLUSIVE)?;
    let release_m = b.release(m, "l", Mode::EXCLUSIVE)?;
    let end_m = b.end(m)?;
    let acquire_u = b.acquire(u, "l", Mode::EXCLUSIVE)?;
    let release_u = b.release(u, "l", Mode::EXCLUSIVE)?;
    let get_n = b.get(n)?;
    let acquire_n = b.acquire(n, "l", Mode::EXCLUSIVE)?;
    let y = b.write(n, "x")?;
    let trace = b.finish();
    let by_lock = Proof::of([
        step(x, release_m, Rule::Po),
        step(release_m, acquire_u, Rule::Lock),
        step(acquire_u, release_u, Rule::Po),
        step(release_u, acquire_n, Rule::Lock),
        step(acquire_n, y, Rule::Po),
    ]);
    assert_eq!(refusal(&trace, Boxes, &by_lock), Some(Reason::NotByTasks));
    holds(&trace, Threads, &by_lock);
    // A lock does order an event of another handler.
    holds(
        &trace,
        Boxes,
        &Proof::of([step(x, release_m, Rule::Po), step(release_m, acquire_u, Rule::Lock)]),
    );
    let mut proof = Proof::default();
    let posts = proof.lemma([step(post_m, post_n, Rule::Po)]);
    let by_tasks = |posts| {
        [
            step(x, end_m, Rule::Po),
            step(end_m, get_n, Rule::Fifo).with(posts),
            step(get_n, y, Rule::Po),
        ]
    };
    holds(&trace, Boxes, &proof.clone().ending(by_tasks(posts)));
    // Nor may a premise about the two tasks use a lock.
    let order = proof.lemma([step(end_m, get_n, Rule::Fifo).with(posts)]);
    let citing = proof.clone().ending([step(end_m, get_n, Rule::TaskOrder).with(order)]);
    holds(&trace, Boxes, &citing);
    let locked = proof.lemma([step(release_m, acquire_u, Rule::Lock)]);
    let wrong = proof.ending([step(end_m, get_n, Rule::TaskOrder).with(locked)]);
    assert_eq!(refusal(&trace, Boxes, &wrong), Some(Reason::NotByTasks));
    Ok(())
}

#[test]
fn no_pre_emption_needs_a_base_edge_into_the_get() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Bag)?, b.handler("k", Mailbox::None)?);
    let (m, n, o, u) = (b.task("m", h)?, b.task("n", h)?, b.task("o", h)?, b.initial(k));
    b.post(u, m)?;
    b.get(m)?;
    let post_n = b.post(m, n)?;
    let signal = b.on_condition(m, EventKind::Signal, "c")?;
    let end_m = b.end(m)?;
    let get_n = b.get(n)?;
    let in_n = b.write(n, "x")?;
    let wake = b.on_condition(u, EventKind::Wake, "c")?;
    let post_o = b.post(u, o)?;
    let end_n = b.end(n)?;
    let get_o = b.get(o)?;
    let trace = b.finish();
    let by = |lemma: &[ProofStep], from, to| {
        let mut proof = Proof::default();
        let way = proof.lemma(lemma.to_vec());
        proof.ending([step(from, to, Rule::NoPreemption).with(way)])
    };
    let direct = [step(post_n, get_n, Rule::Post)];
    let through = [
        step(signal, wake, Rule::Wake),
        step(wake, post_o, Rule::Po),
        step(post_o, get_o, Rule::Post),
    ];
    holds(&trace, Boxes, &by(&direct, end_m, get_n));
    holds(&trace, Boxes, &by(&through, end_m, get_o));
    assert_eq!(
        refusal(&trace, Boxes, &by(&through, end_n, get_o)),
        Some(Reason::PremiseElsewhere(0))
    );
    assert_eq!(
        refusal(&trace, Boxes, &by(&direct, end_m, get_o)),
        Some(Reason::PremiseElsewhere(0))
    );
    let (no_edge, before) = (&[step(get_n, in_n, Rule::Po)], end_m);
    assert_eq!(
        refusal(&trace, Boxes, &by(no_edge, before, get_n)),
        Some(Reason::PremiseElsewhere(0))
    );
    assert_eq!(
        refusal(&trace, Boxes, &by(&through[..2], end_m, get_o)),
        Some(Reason::PremiseElsewhere(0))
    );
    // A task order into the `get` is no base edge: that would be transitivity.
    let mut proof = Proof::default();
    let way = proof.lemma(direct.to_vec());
    let order = proof.lemma([step(end_m, get_n, Rule::NoPreemption).with(way)]);
    fails(
        &trace,
        Boxes,
        &proof.clone().ending([step(end_m, get_n, Rule::NoPreemption).with(order)]),
    );
    holds(&trace, Boxes, &proof.ending([step(end_m, get_n, Rule::TaskOrder).with(order)]));
    Ok(())
}

#[test]
fn no_pre_emption_does_not_take_locks_inside_a_handler() -> Built {
    // m hands a lock to u and u to n, and n posts o: m is not ordered before n, so not before o
    // either.
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Bag)?, b.handler("k", Mailbox::None)?);
    let (m, n, o, u) = (b.task("m", h)?, b.task("n", h)?, b.task("o", h)?, b.initial(k));
    b.post(u, m)?;
    b.post(u, n)?;
    b.get(m)?;
    let release_m = b.release(m, "l", Mode::EXCLUSIVE)?;
    let end_m = b.end(m)?;
    let acquire_u = b.acquire(u, "l", Mode::EXCLUSIVE)?;
    let release_u = b.release(u, "l", Mode::EXCLUSIVE)?;
    b.get(n)?;
    let acquire_n = b.acquire(n, "l", Mode::EXCLUSIVE)?;
    let post_o = b.post(n, o)?;
    b.end(n)?;
    let get_o = b.get(o)?;
    let trace = b.finish();
    let mut proof = Proof::default();
    let way = proof.lemma([
        step(release_m, acquire_u, Rule::Lock),
        step(acquire_u, release_u, Rule::Po),
        step(release_u, acquire_n, Rule::Lock),
        step(acquire_n, post_o, Rule::Po),
        step(post_o, get_o, Rule::Post),
    ]);
    let proof = proof.ending([step(end_m, get_o, Rule::NoPreemption).with(way)]);
    assert_eq!(refusal(&trace, Boxes, &proof), Some(Reason::NotByTasks));
    Ok(())
}

/// `m` is delayed; `p`, posted after it with a greater delay, posts `n` without delay.
fn delayed_poster(mailbox: Mailbox, delay: u64) -> Result<(Trace, Proof), TableFull> {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", mailbox)?, b.handler("k", Mailbox::None)?);
    let (m, p, n) = (b.delayed_task("m", h, delay)?, b.delayed_task("p", h, 9)?, b.task("n", h)?);
    let u = b.initial(k);
    let post_m = b.post(u, m)?;
    let post_p = b.post(u, p)?;
    b.get(m)?;
    let end_m = b.end(m)?;
    let get_p = b.get(p)?;
    let post_n = b.post(p, n)?;
    b.end(p)?;
    let get_n = b.get(n)?;
    let mut proof = Proof::default();
    let posts = proof.lemma([step(post_m, post_p, Rule::Po)]);
    let order = proof.lemma([step(end_m, get_p, Rule::Fifo).with(posts)]);
    let before = proof.lemma([
        step(post_m, post_p, Rule::Po),
        step(post_p, get_p, Rule::Post),
        step(get_p, post_n, Rule::Po),
    ]);
    let last = step(end_m, get_n, Rule::DelayedPoster).with(before).with(order);
    Ok((b.finish(), proof.ending([last])))
}

#[test]
fn delayed_poster_needs_both_premises() -> Built {
    let (trace, proof) = delayed_poster(Mailbox::Delayed, 5)?;
    holds(&trace, Boxes, &proof);
    let mut swapped = proof.clone();
    swapped.path.steps[0].premises.reverse();
    assert_eq!(refusal(&trace, Boxes, &swapped), Some(Reason::PremiseElsewhere(0)));
    let mut short = proof.clone();
    short.path.steps[0].premises.pop();
    assert_eq!(refusal(&trace, Boxes, &short), Some(Reason::Premises { expected: 2, given: 1 }));
    let mut other = proof;
    other.path.steps[0].premises[1] = LemmaId(2);
    assert_eq!(refusal(&trace, Boxes, &other), Some(Reason::NotByTasks));
    let (trace, proof) = delayed_poster(Mailbox::Delayed, 0)?;
    fails(&trace, Boxes, &proof);
    let (trace, proof) = delayed_poster(Mailbox::Bag, 5)?;
    fails(&trace, Boxes, &proof);
    Ok(())
}

/// Posts of two tasks by the given posters; the first posts the second, so they are ordered.
#[test]
fn fifo_read_backwards_orders_posts() -> Built {
    for (mailbox, delay, fronts, one_handler, expected) in [
        (Mailbox::Fifo, 0, [false, false], false, true),
        (Mailbox::Bag, 0, [false, false], false, false),
        (Mailbox::Delayed, 3, [false, false], false, false),
        (Mailbox::Fifo, 0, [true, false], false, false),
        (Mailbox::Fifo, 0, [false, true], false, false),
        (Mailbox::Fifo, 0, [false, false], true, false),
    ] {
        let mut b = TraceBuilder::new();
        let h = b.handler("h", mailbox)?;
        let (k, l) = (b.handler("k", Mailbox::Bag)?, b.handler("l", Mailbox::Bag)?);
        let posters = [b.task("p", k)?, b.task("q", if one_handler { k } else { l })?];
        let (m, n) = (b.task("m", h)?, b.delayed_task("n", h, delay)?);
        for (task, front) in [m, n].into_iter().zip(fronts) {
            if front {
                b.interner.tables.tasks[task.index()].position = Position::Front;
            }
        }
        let input = b.input("i")?.0;
        b.get(posters[0])?;
        let post_m = b.post(posters[0], m)?;
        b.end(posters[0])?;
        b.get(posters[1])?;
        let post_n = b.post(posters[1], n)?;
        b.end(posters[1])?;
        b.get(m)?;
        let enable = b.push(m, EventKind::Enable.into(), input);
        let end_m = b.end(m)?;
        let get_n = b.get(n)?;
        b.push(n, EventKind::Trigger.into(), input);
        let trace = b.finish();
        let mut proof = Proof::default();
        let way = proof.lemma([step(enable, get_n, Rule::Enable)]);
        let order = proof.lemma([step(end_m, get_n, Rule::NoPreemption).with(way)]);
        let back = proof.clone().ending([step(post_m, post_n, Rule::FifoBackwards).with(order)]);
        if expected {
            holds(&trace, Boxes, &back);
            let missing = one(post_m, post_n, Rule::FifoBackwards);
            let refused = Reason::Premises { expected: 1, given: 0 };
            assert_eq!(refusal(&trace, Boxes, &missing), Some(refused));
            let wrong = proof.ending([step(post_m, end_m, Rule::FifoBackwards).with(order)]);
            assert_eq!(refusal(&trace, Boxes, &wrong), Some(Reason::PremiseElsewhere(0)));
        } else {
            fails(&trace, Boxes, &back);
        }
    }
    // Posts of one task, which may be pieces of thread code that are otherwise unordered.
    let two = two(Mailbox::Fifo, [0, 0], [false, false])?;
    let mut proof = fifo_proof(&two);
    let order = proof.lemma(proof.path.steps.clone());
    let proof = proof.ending([step(two.posts[0], two.posts[1], Rule::FifoBackwards).with(order)]);
    holds(&two.trace, Boxes, &proof);
    Ok(())
}

fn component(name: &str) -> Rule {
    Rule::Component(name.to_owned())
}

#[test]
fn lifecycle_steps_follow_the_table() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Fifo)?, b.handler("k", Mailbox::None)?);
    let tasks: Vec<TaskId> =
        (0..3).map(|i| b.task(&format!("t{i}"), h)).collect::<Result<_, _>>()?;
    let inputs = [
        lifecycle(&mut b, "LAUNCH-ACT")?,
        lifecycle(&mut b, "RESUME-ACT")?,
        lifecycle(&mut b, "PAUSE-ACT")?,
    ];
    let u = b.initial(k);
    let enable = b.push(u, EventKind::Enable.into(), inputs[1].0);
    let posts: Vec<EventId> = tasks.iter().map(|&t| b.post(u, t)).collect::<Result<_, _>>()?;
    let mut runs = Vec::new();
    for (&task, input) in tasks.iter().zip(inputs) {
        runs.push((b.get(task)?, b.push(task, EventKind::Trigger.into(), input.0), b.end(task)?));
    }
    let trace = b.finish();
    let rule = || component("lifecycle: RESUME-ACT after LAUNCH-ACT");
    for (from, to) in [
        (runs[0].1, runs[1].1),
        (runs[0].2, runs[1].0),
        (posts[0], posts[1]),
        (enable, runs[1].1),
        (enable, posts[1]),
        (enable, runs[1].0),
    ] {
        let proof = one(from, to, rule());
        let reason = refusal(&trace, Android, &proof);
        // A path between events inside two tasks must consist of whole-task orders, here as well.
        assert_eq!(reason, (from == runs[0].1).then_some(Reason::NotByTasks), "{from:?} -> {to:?}");
        assert_eq!(refusal(&trace, Boxes, &proof), Some(Reason::NotInRuleSet));
    }
    let whole = Proof::of([
        step(runs[0].1, runs[0].2, Rule::Po),
        step(runs[0].2, runs[1].0, rule()),
        step(runs[1].0, runs[1].1, Rule::Po),
    ]);
    holds(&trace, Android, &whole);
    for (from, to) in [
        (runs[0].2, runs[2].0),
        (posts[0], posts[2]),
        (enable, posts[2]),
        (enable, runs[2].0),
        (posts[0], runs[1].0),
        (posts[0], runs[1].1),
        (runs[0].0, runs[1].1),
    ] {
        fails(&trace, Android, &one(from, to, rule()));
    }
    fails(&trace, Android, &one(runs[0].2, runs[1].0, component("service")));
    fails(&trace, Android, &one(runs[0].2, runs[1].0, component("magic")));
    Ok(())
}

#[test]
fn an_enable_of_a_component_is_a_base_edge_into_the_get() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Bag)?, b.handler("k", Mailbox::None)?);
    let (first, second) = (b.task("first", h)?, b.task("second", h)?);
    let (resume, pause) = (lifecycle(&mut b, "RESUME-ACT")?, lifecycle(&mut b, "PAUSE-ACT")?);
    let u = b.initial(k);
    b.post(u, first)?;
    b.post(u, second)?;
    b.get(first)?;
    let enable = b.push(first, EventKind::Enable.into(), resume.0);
    let other = b.push(first, EventKind::Enable.into(), pause.0);
    let end = b.end(first)?;
    let get = b.get(second)?;
    b.push(second, EventKind::Trigger.into(), resume.0);
    b.end(second)?;
    let trace = b.finish();
    let order = |source: EventId| {
        let mut proof = Proof::default();
        let way = proof.lemma([step(source, get, component("lifecycle: enabled"))]);
        proof.ending([step(end, get, Rule::NoPreemption).with(way)])
    };
    holds(&trace, Android, &order(enable));
    fails(&trace, Android, &order(other));
    assert_eq!(refusal(&trace, Boxes, &order(enable)), Some(Reason::NotInRuleSet));
    Ok(())
}

#[test]
fn other_component_families() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Fifo)?, b.handler("k", Mailbox::None)?);
    let (t, u) = (b.initial(h), b.initial(k));
    let tasks: Vec<TaskId> =
        (0..4).map(|i| b.task(&format!("t{i}"), h)).collect::<Result<_, _>>()?;
    let mut input = |family, state: &str, component: &str, instance, argument| {
        let (state, component) = (b.interner.name(state)?, b.interner.name(component)?);
        b.interner.input(Input { family, state, component, instance, argument, ..Input::default() })
    };
    let queue = input(InputFamily::Idle, "", "", 3, 4)?.0;
    let start = input(InputFamily::Service, "REQUEST_START_SERVICE", "S", 0, 1)?.0;
    let create = input(InputFamily::Service, "CREATE-SERVICE", "S", 0, 0)?.0;
    let other = input(InputFamily::Service, "CREATE-SERVICE", "T", 0, 0)?.0;
    let sends = [1, 2].map(|i| input(InputFamily::Broadcast, "SEND_BROADCAST", "", 0, i));
    let receipts = [1, 2].map(|i| input(InputFamily::Broadcast, "ONRECEIVE", "", 9, i));
    let loops = b.on_handler(t, EventKind::Loop, h);
    let adds = b.push(u, EventKind::Enable.into(), queue);
    let starts = b.push(u, EventKind::Enable.into(), start);
    let [send1, send2] = sends.map(|s| s.map(|s| b.push(u, EventKind::Enable.into(), s.0)));
    let (send1, send2) = (send1?, send2?);
    let posts: Vec<EventId> = tasks.iter().map(|&t| b.post(u, t)).collect::<Result<_, _>>()?;
    let (mut triggers, mut gets) = (Vec::new(), Vec::new());
    for (i, &task) in tasks.iter().enumerate() {
        gets.push(b.get(task)?);
        if i < 2 {
            triggers.push(b.push(task, EventKind::Trigger.into(), queue));
            triggers.push(b.push(task, EventKind::Trigger.into(), [create, other][i]));
        } else {
            let receipt = receipts[i - 2]?;
            triggers.push(b.push(task, EventKind::Trigger.into(), receipt.0));
        }
        b.end(task)?;
    }
    let trace = b.finish();
    for (from, to, name) in [
        (loops, posts[0], "idle"),
        (adds, posts[1], "idle"),
        (starts, triggers[1], "service: creator"),
        (starts, posts[0], "service"),
        (starts, gets[0], "service"),
        (send1, triggers[4], "broadcast"),
        (send1, gets[2], "broadcast"),
        (send2, posts[3], "broadcast"),
    ] {
        holds(&trace, Android, &one(from, to, component(name)));
    }
    for (from, to, name) in [
        (loops, triggers[0], "idle"),
        (adds, gets[0], "idle"),
        (starts, gets[1], "service"),
        (send1, gets[3], "broadcast"),
        (posts[2], gets[3], "broadcast"),
        (starts, posts[0], "idle"),
        (starts, triggers[3], "service"),
        (adds, triggers[1], "service"),
        (send1, posts[3], "broadcast"),
        (posts[2], posts[3], "broadcast"),
    ] {
        fails(&trace, Android, &one(from, to, component(name)));
    }
    let ordered = |from: EventId, to: EventId, cause: (EventId, EventId)| {
        let mut proof = Proof::default();
        let sent = proof.lemma([step(cause.0, cause.1, Rule::Po)]);
        proof.ending([step(from, to, component("broadcast: order of sends")).with(sent)])
    };
    holds(&trace, Android, &ordered(posts[2], posts[3], (send1, send2)));
    let elsewhere = ordered(posts[2], posts[3], (starts, send2));
    assert_eq!(refusal(&trace, Android, &elsewhere), Some(Reason::PremiseElsewhere(0)));
    Ok(())
}

/// The rules order callbacks of one activity only, each with the state before it.
#[test]
fn a_step_of_a_component_needs_the_state_at_that_moment() -> Built {
    let mut b = TraceBuilder::new();
    let (h, k) = (b.handler("h", Mailbox::Fifo)?, b.handler("k", Mailbox::None)?);
    let mut input = |state: &str, instance| {
        let (family, state) = (InputFamily::Lifecycle, b.interner.name(state)?);
        b.interner.input(Input { family, state, instance, ..Input::default() })
    };
    let callbacks = [input("STOP-ACT", 1)?, input("START-ACT", 2)?, input("START-ACT", 1)?];
    let tasks: Vec<TaskId> =
        (0..3).map(|i| b.task(&format!("t{i}"), h)).collect::<Result<_, _>>()?;
    let u = b.initial(k);
    let posts: Vec<EventId> = tasks.iter().map(|&t| b.post(u, t)).collect::<Result<_, _>>()?;
    for (&task, callback) in tasks.iter().zip(callbacks) {
        b.get(task)?;
        b.push(task, EventKind::Trigger.into(), callback.0);
        b.end(task)?;
    }
    let trace = b.finish();
    holds(&trace, Android, &one(posts[0], posts[2], component("lifecycle")));
    fails(&trace, Android, &one(posts[0], posts[1], component("lifecycle")));
    Ok(())
}
