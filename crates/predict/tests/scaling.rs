//! Cost of locks held at once. Doubling the depth twice must cost about four times as much
//! processor time, not sixteen or sixty-four times: that is what this test is about, so it measures
//! time, of this thread only, and with room for noise. Memory is compared exactly.

use anyorder_order::SharedClock;
use anyorder_predict::{
    Analysis, CandidateOptions, ConfirmOptions, Confirmer, EdcAnalysis, HbAnalysis, MemoryOnly,
    NoCommunication, OrderPaths, run,
};
use anyorder_system::Cancel;
use anyorder_testkit::synthetic::growth::FAMILIES;
use anyorder_trace::{EventId, Mailbox, Mode, TaskId, Trace, TraceBlocks, TraceBuilder};

/// Where a thread accesses variables while it takes and gives back its locks.
#[derive(Clone, Copy, Debug)]
enum Accesses {
    /// A variable for each depth, on the way in.
    In,
    /// A variable for each depth, on the way out.
    Out,
    /// A variable for each lock, before its release, in the order of the acquires.
    Overlapping,
    /// One variable, at the greatest depth, in every round.
    Inside { rounds: usize },
}

fn nested(depth: usize, accesses: Accesses) -> Trace {
    let mut b = TraceBuilder::new();
    let tasks: Vec<TaskId> = ["S", "T"]
        .map(|name| {
            let handler = b.handler(name, Mailbox::None).expect("room");
            b.initial(handler)
        })
        .to_vec();
    let locks: Vec<String> = (0..depth).map(|i| format!("m{i}")).collect();
    let rounds = match accesses {
        Accesses::Inside { rounds } => rounds,
        _ => 1,
    };
    for round in 0..2 * rounds {
        let task = tasks[if rounds == 1 { round } else { round % 2 }];
        for (i, lock) in locks.iter().enumerate() {
            b.acquire(task, lock, Mode::EXCLUSIVE).expect("room");
            if matches!(accesses, Accesses::In) {
                b.write(task, &format!("x{i}")).expect("room");
            }
        }
        if matches!(accesses, Accesses::Inside { .. }) {
            b.write(task, &format!("x{}", round / 2)).expect("room");
        }
        for i in 0..depth {
            let i = if matches!(accesses, Accesses::Overlapping) { i } else { depth - 1 - i };
            if matches!(accesses, Accesses::Out | Accesses::Overlapping) {
                b.write(task, &format!("x{i}")).expect("room");
            }
            b.release(task, &locks[i], Mode::EXCLUSIVE).expect("room");
        }
    }
    b.finish()
}

/// Processor time of this thread, in seconds.
fn now() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// Returns the least time of three runs, if it can be measured.
fn least(mut work: impl FnMut()) -> Option<f64> {
    let mut times = Vec::new();
    for _ in 0..3 {
        let begin = now()?;
        work();
        times.push(now()? - begin);
    }
    times.into_iter().reduce(f64::min)
}

fn edc(trace: &Trace) -> EdcAnalysis<MemoryOnly> {
    let mut edc = EdcAnalysis::new(MemoryOnly, CandidateOptions::default());
    run(&mut TraceBlocks::new(trace), &mut [&mut edc], |_| {}).expect("the trace is right");
    edc
}

#[test]
fn time_and_memory_of_sections_are_linear_in_the_depth() {
    let inside = Accesses::Inside { rounds: 20 };
    for accesses in [Accesses::In, Accesses::Out, inside, Accesses::Overlapping] {
        let [small, large] = [1_000, 4_000].map(|depth| nested(depth, accesses));
        let memory = [&small, &large].map(|trace| edc(trace).memory_bytes() as f64);
        assert!(memory[1] < 6.0 * memory[0], "{accesses:?}: {memory:?} bytes");
        let times = [&small, &large].map(|trace| least(|| drop(edc(trace))));
        let [Some(a), Some(b)] = times else { return };
        println!("{accesses:?}: {:.1} times the time, {a:.4} s and {b:.4} s", b / a);
        assert!(b < 11.0 * a.max(0.002), "{accesses:?}: {a} and {b} seconds");
    }
}

#[test]
fn one_search_for_a_witness_under_nested_locks_is_linear_in_the_depth() {
    let work = |depth: usize| {
        let trace = nested(depth, Accesses::In);
        let mut nothing = NoCommunication;
        let mut confirmer = Confirmer::new(&trace, &mut nothing, ConfirmOptions::default());
        let (first, second) = (EventId(1), EventId(3 * depth as u32 + 1));
        let time = least(|| drop(confirmer.confirm(first, second, &Cancel::new())));
        let paths = OrderPaths::new(&trace, MemoryOnly).expect("small");
        drop(paths);
        (time, confirmer.stats().events)
    };
    let (small, large) = (work(1_000), work(4_000));
    println!("{small:?} {large:?}");
    assert!(large.1 <= 5 * small.1, "{small:?} and {large:?} events visited");
    let (Some(a), Some(b)) = (small.0, large.0) else { return };
    assert!(b < 11.0 * a.max(0.002), "{a} and {b} seconds");
}

/// The nodes of clocks that an analysis joins on a trace.
fn nodes_joined(trace: &Trace, mut analysis: impl Analysis) -> u64 {
    let before = SharedClock::nodes_joined();
    run(&mut TraceBlocks::new(trace), &mut [&mut analysis], |_| {}).expect("the trace is right");
    SharedClock::nodes_joined() - before
}

#[test]
fn joins_of_clocks_double_with_the_threads() {
    let names = [
        "threads of one lock",
        "threads that only read",
        "threads at a barrier",
        "threads of a lock for readers",
        "chain of forks",
        "chain of forks and joins",
        "tree of forks and joins",
    ];
    let mut most = 0;
    for name in names {
        let family = FAMILIES.iter().find(|family| family.name == name).expect("a family");
        // Trees become one level deeper at 512 and at 8,192 threads.
        let counts = [1_500, 3_000, 6_000].map(|n| {
            let trace = (family.make)(n).expect("room");
            let edc = EdcAnalysis::new(MemoryOnly, CandidateOptions::default());
            let hb = HbAnalysis::new(MemoryOnly, CandidateOptions::default());
            [nodes_joined(&trace, edc), nodes_joined(&trace, hb)]
        });
        for pair in counts.windows(2) {
            for (before, after) in pair[0].into_iter().zip(pair[1]) {
                assert!(after <= before * 24 / 10 + 100, "{name}: {counts:?}");
            }
        }
        most = most.max(counts[2][0]);
    }
    assert!(most > 10_000, "the clocks were never wide");
}
