//! The time of checks on large inputs: printed, not asserted. `ANYORDER_EFFORT=50` measures at
//! full size.

use anyorder_certify::consistency::{
    ConsistencyProof, Fact, Link, MailboxRule, RefutationStep, Why, check_consistency_witness,
    check_inconsistency, read_proof, write_proof,
};
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{EventId, Mailbox, TaskId, Trace, TraceBuilder};
use std::time::Instant;

/// The divisor of the sizes: 1 for measurements.
fn divisor() -> usize {
    50 / anyorder_testkit::effort::effort().min(50) as usize
}

/// An observed trace: messages on eight handlers post others, with delays, and read and write.
fn recorded(messages: usize, events_each: usize) -> Trace {
    let mut b = TraceBuilder::new();
    let handlers: Vec<_> =
        (0..8).map(|h| b.handler(&format!("h{h}"), Mailbox::Delayed).expect("few")).collect();
    let mut random = Rng::new(5);
    let mut waiting: Vec<TaskId> = Vec::new();
    let mut posted = 0;
    let mut running = b.initial(handlers[0]);
    loop {
        for _ in 0..events_each {
            let variable = format!("v{}", random.index(1000));
            match random.index(4) {
                0 => b.write(running, &variable).expect("few"),
                _ => b.read(running, &variable).expect("few"),
            };
        }
        for _ in 0..2 {
            if posted < messages {
                let handler = handlers[random.index(8)];
                let delay = [0, 0, 0, 10, 20][random.index(5)];
                let task = b.delayed_task(&format!("m{posted}"), handler, delay).expect("few");
                b.post(running, task).expect("few");
                waiting.push(task);
                posted += 1;
            }
        }
        if waiting.is_empty() {
            return b.finish();
        }
        // Runs the message posted first among those with the least delay: only FIFO forbids that.
        let delay = |task: &TaskId| b.interner.tables.tasks[task.index()].delay;
        let window = &waiting[..waiting.len().min(64)];
        let next = (0..window.len()).min_by_key(|&at| (delay(&window[at]), at)).unwrap_or(0);
        running = waiting.remove(next);
        b.get(running).expect("few");
    }
}

#[test]
fn the_witness_of_a_large_trace_is_checked_in_time_linear_in_it() {
    let trace = recorded(100_000 / divisor(), 8);
    let order: Vec<EventId> = (0..trace.len() as u32).map(EventId).collect();
    for rule in [MailboxRule::Delayed, MailboxRule::Bag, MailboxRule::Fifo] {
        let start = Instant::now();
        let result = check_consistency_witness(&trace, rule, &order);
        println!("{} events, {rule:?}: {:?}", trace.len(), start.elapsed());
        assert_eq!(result.is_ok(), rule != MailboxRule::Fifo, "{result:?}");
    }
}

/// Unordered messages, all transitivity as cycles, and then longer rings, each a clause to derive.
fn rings(messages: usize, derived: usize) -> (Trace, ConsistencyProof) {
    let mut b = TraceBuilder::new();
    let handler = b.handler("h", Mailbox::Fifo).expect("few");
    let tasks: Vec<TaskId> =
        (0..messages).map(|m| b.task(&format!("m{m}"), handler).expect("few")).collect();
    let gets: Vec<EventId> = tasks.iter().map(|&task| b.get(task).expect("few")).collect();
    let runs = |a: usize, b: usize| Fact::Runs { first: tasks[a], second: tasks[b] };
    let link =
        |a: usize, b: usize| Link { from: gets[a], to: gets[b], why: Why::Decided(runs(a, b)) };
    let mut steps = Vec::new();
    for x in 0..messages {
        for y in x + 1..messages {
            for z in (x + 1..messages).filter(|&z| z != y) {
                steps.push(RefutationStep::Cycle(vec![link(x, y), link(y, z), link(z, x)]));
            }
        }
    }
    let mut random = Rng::new(9);
    for _ in 0..derived {
        let mut ring: Vec<usize> = Vec::new();
        while ring.len() < 6 {
            let next = random.index(messages);
            if !ring.contains(&next) {
                ring.push(next);
            }
        }
        let next = ring.iter().cycle().skip(1);
        steps.push(RefutationStep::Derived(
            ring.iter().zip(next).map(|(&a, &b)| runs(b, a)).collect(),
        ));
    }
    (b.finish(), ConsistencyProof { steps })
}

#[test]
fn many_clauses_are_derived_from_many_cycles() {
    let (trace, mut proof) = rings(45, 300_000 / divisor());
    let cycles = proof.steps.iter().filter(|step| matches!(step, RefutationStep::Cycle(_))).count();
    let start = Instant::now();
    let error = check_inconsistency(&trace, MailboxRule::Fifo, &proof).expect_err("consistent");
    println!("{cycles} cycles, {} steps: {:?}", proof.steps.len(), start.elapsed());
    assert_eq!(error.step, None, "every step holds, but the messages can run: {error}");
    let start = Instant::now();
    let mut text = Vec::new();
    write_proof(&proof, &trace, &mut text).expect("memory");
    println!("{} bytes written: {:?}", text.len(), start.elapsed());
    let start = Instant::now();
    assert_eq!(read_proof(&text[..], &trace).expect("a proof"), proof);
    println!("read: {:?}", start.elapsed());
    // One more that does not follow: a ring with one direction wrong.
    let Some(RefutationStep::Derived(facts)) = proof.steps.last().cloned() else {
        panic!("derived")
    };
    let wrong = [&[facts[0].complement()], &facts[1..]].concat();
    proof.steps.push(RefutationStep::Derived(wrong));
    let error = check_inconsistency(&trace, MailboxRule::Fifo, &proof).expect_err("no clause");
    assert_eq!(error.step, Some(proof.steps.len() - 1));
}
