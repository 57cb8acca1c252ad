//! Tasks with delays, many for each poster: the order is that of the naive closure.

use anyorder_hb::{HappensBefore, RuleSet};
use anyorder_system::Cancel;
use anyorder_testkit::effort::sampled;
use anyorder_testkit::{Naive, Rules};
use anyorder_trace::{EventKind, Mailbox, Position, TableFull, TaskId, Trace, TraceBuilder};

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// One to five threads post tasks with delays to one looper. They begin by their delays, or out of
/// that order; some are put to the front, and some post another one. Threads tell others what they
/// posted.
fn trace_of(seed: u64) -> Result<Trace, TableFull> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let _ = random.below(2);
    let mut b = TraceBuilder::new();
    let looper = b.handler("looper", Mailbox::Delayed)?;
    let posters: Vec<TaskId> = (0..1 + random.below(5))
        .map(|at| {
            let handler = b.handler(&format!("poster {at}"), Mailbox::None)?;
            Ok(b.initial(handler))
        })
        .collect::<Result<_, TableFull>>()?;
    let (delays, strays) = ([0, 1, 3, 8, 1_000][random.below(5) as usize], random.below(4));
    let mut pending: Vec<(u64, TaskId)> = Vec::new();
    let mut made = 0_u64;
    let post = |b: &mut TraceBuilder, random: &mut Random, by: TaskId, made: &mut u64| {
        let delay = random.below(delays + 1);
        let task = b.delayed_task(&format!("task {made}"), looper, delay)?;
        if delay == 0 && strays > 0 && random.below(12) == 0 {
            b.interner.tables.tasks[task.index()].position = Position::Front;
        }
        b.post(by, task)?;
        *made += 1;
        // Two posts a unit of time, so that delays and posts mix.
        Ok::<_, TableFull>((*made / 2 + delay, task))
    };
    for _ in 0..6 + random.below(24) {
        let by = posters[random.below(posters.len() as u64) as usize];
        pending.push(post(&mut b, &mut random, by, &mut made)?);
        // What one has posted, another one knows.
        let other = posters[random.below(posters.len() as u64) as usize];
        if other != by && random.below(2) == 0 {
            let told = format!("told {made}");
            b.on_condition(by, EventKind::Signal, &told)?;
            b.on_condition(other, EventKind::Wait, &told)?;
        }
    }
    while !pending.is_empty() {
        pending.sort_unstable();
        let at = match strays > 0 && random.below(8) == 0 {
            true => random.below(pending.len() as u64) as usize,
            false => 0,
        };
        let (_, task) = pending.remove(at);
        b.get(task)?;
        if random.below(6) == 0 && made < 50 {
            pending.push(post(&mut b, &mut random, task, &mut made)?);
        }
        b.end(task)?;
    }
    Ok(b.finish())
}

#[test]
fn tasks_with_many_delays_agree_with_the_oracle() {
    let (mut ordered, mut open, mut traces) = (0_u64, 0_u64, 0_u64);
    // Traces that break the order of posts: a task that was posted later is no base for the order
    // of an earlier one (9), nor is the last one that a chain posted, if an earlier one came later.
    for seed in [9, 1_762].into_iter().chain(sampled(500, 3_000)) {
        let trace = trace_of(seed).unwrap();
        let rules = Rules { set: anyorder_testkit::RuleSet::Mailbox, disabled: &[] };
        let naive = Naive::new(&trace, rules);
        let hb = HappensBefore::new(&trace, RuleSet::Mailbox, &Cancel::new()).unwrap();
        for a in trace.task_ids() {
            for b in trace.task_ids() {
                let expected = naive.task_order(a, b);
                assert_eq!(
                    hb.task_order(a, b),
                    expected,
                    "seed {seed}: {a:?} and {b:?}\n{}",
                    anyorder_testkit::show(&trace)
                );
                *(if expected { &mut ordered } else { &mut open }) += 1;
            }
        }
        traces += 1;
    }
    println!("{traces} traces, {ordered} pairs in order, {open} not");
    assert!(ordered > 40 * traces && open > 40 * traces);
}
