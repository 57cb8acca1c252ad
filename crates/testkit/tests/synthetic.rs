//! The large synthetic traces, at a small size: their counts, their form, and the oracle's results
//! for them.

use anyorder_testkit::synthetic::{EventDriven, Fixpoint, event_driven, fixpoint};
use anyorder_testkit::{Naive, RuleSet, Rules};
use anyorder_trace::{Block, Columns, EventKind, Tables, TaskId, TaskKind, Trace, TraceSink};
use std::io;

/// Stores everything.
#[derive(Default)]
struct Collected {
    tables: Tables,
    columns: Columns,
    finished: bool,
}

impl TraceSink for Collected {
    fn block(&mut self, tables: &Tables, block: &Block) -> io::Result<()> {
        assert_eq!(block.first, self.columns.len() as u64, "blocks follow each other");
        // Every id in a block is in the tables passed with it.
        let tasks = tables.tasks.len() as u32;
        assert!(block.columns.tasks.iter().all(|task| task.0 < tasks));
        self.columns.append(&block.columns);
        Ok(())
    }

    fn finish(&mut self, tables: &Tables) -> io::Result<()> {
        self.tables = tables.clone();
        self.finished = true;
        Ok(())
    }
}

fn make(write: impl FnOnce(&mut Collected) -> io::Result<u64>) -> Trace {
    let mut whole = Collected::default();
    let events = write(&mut whole).expect("memory takes everything");
    assert!(whole.finished);
    assert_eq!(events, whole.columns.len() as u64);
    Trace::new(whole.tables, whole.columns)
}

fn posted(trace: &Trace) -> Vec<TaskId> {
    let tasks = &trace.tables().tasks;
    trace.task_ids().filter(|t| tasks[t.index()].kind == TaskKind::Posted).collect()
}

#[test]
fn event_driven_has_the_size_asked_for() {
    let config = EventDriven { events: 300_000, tasks: 3_000, ..EventDriven::default() };
    let trace = make(|sink| event_driven(&config, sink));
    assert_eq!(trace.len(), 300_000);
    assert_eq!(trace.tables().handlers.len(), 20);
    let tasks = posted(&trace);
    assert_eq!(tasks.len(), 3_000);
    assert!(tasks.iter().all(|t| trace.ran_from_mailbox(*t) && !trace.span(*t).end.is_none()));
    let count = |kind| trace.events().filter(|e| e.kind() == kind).count();
    for kind in [EventKind::Acquire, EventKind::Enable, EventKind::Trigger, EventKind::Fork] {
        assert!(count(kind) > 15, "{} {}", count(kind), kind.word());
    }
    let delayed = tasks.iter().filter(|t| trace.tables().tasks[t.index()].delay > 0).count();
    assert!(delayed > 150, "{delayed} delayed tasks");
    assert_eq!(
        trace,
        make(|sink| event_driven(&config, sink)),
        "the same settings, the same trace"
    );
    let other = EventDriven { seed: 2, ..config };
    assert_ne!(trace, make(|sink| event_driven(&other, sink)));
}

#[test]
fn tasks_of_different_sessions_are_unordered() {
    let config = EventDriven { events: 900, tasks: 60, handlers: 8, sessions: 12, seed: 3 };
    let trace = make(|sink| event_driven(&config, sink));
    let naive = Naive::new(&trace, Rules::all(RuleSet::Mailbox));
    let first = |t: &TaskId| trace.span(*t).first;
    let requests: Vec<TaskId> =
        posted(&trace).into_iter().filter(|t| trace.task_name(*t) == "request").take(12).collect();
    assert_eq!(requests.len(), 12);
    let unordered = requests
        .iter()
        .flat_map(|m| requests.iter().map(move |n| (m, n)))
        .filter(|(m, n)| !naive.happens_before(first(m), first(n)))
        .count();
    assert_eq!(unordered, 144, "the first requests of all sessions are pairwise unordered");
}

#[test]
fn requests_of_one_session_are_ordered() {
    let config = EventDriven { events: 900, tasks: 60, handlers: 8, sessions: 3, seed: 4 };
    let trace = make(|sink| event_driven(&config, sink));
    let naive = Naive::new(&trace, Rules::all(RuleSet::Mailbox));
    let triggered = trace.events().filter(|e| e.kind() == EventKind::Trigger);
    let ordered = triggered
        .filter(|trigger| {
            let get = trace.span(trigger.task).get;
            trace.events().any(|e| {
                e.kind() == EventKind::Enable
                    && e.operand == trigger.operand
                    && naive.happens_before(trace.span(e.task).get, get)
            })
        })
        .count();
    assert!(ordered >= 10, "{ordered} requests are behind an answer");
}

#[test]
fn fixpoint_needs_a_round_for_each_rung() {
    let config = Fixpoint { events: 1, rungs: 12, lanes: 1, accesses: 1, seed: 1 };
    let trace = make(|sink| fixpoint(&config, sink));
    for set in [RuleSet::Mailbox, RuleSet::Android] {
        let naive = Naive::new(&trace, Rules::all(set));
        assert!(naive.rounds_backwards() >= 12, "{} rounds", naive.rounds_backwards());
        let tasks = posted(&trace);
        let orders = tasks
            .iter()
            .flat_map(|m| tasks.iter().map(move |n| (*m, *n)))
            .filter(|(m, n)| naive.task_order(*m, *n))
            .count();
        assert_eq!(orders, 12, "one on each rung");
    }
}

#[test]
fn ladders_of_one_lane_are_ordered_and_those_of_others_are_not() {
    let config = Fixpoint { events: 130, rungs: 4, lanes: 2, accesses: 0, seed: 5 };
    let trace = make(|sink| fixpoint(&config, sink));
    let naive = Naive::new(&trace, Rules::all(RuleSet::Mailbox));
    assert!(naive.rounds_backwards() >= 4);
    let on_top: Vec<TaskId> =
        posted(&trace).into_iter().filter(|t| trace.span(*t).handler.0 == 3).collect();
    let (mut ordered, mut unordered) = (0, 0);
    for m in &on_top {
        for n in on_top.iter().filter(|n| trace.span(*m).get < trace.span(**n).get) {
            *(if naive.task_order(*m, *n) { &mut ordered } else { &mut unordered }) += 1;
        }
    }
    assert!(ordered > on_top.len() / 2 && unordered > 0, "{ordered} ordered, {unordered} not");
}

#[test]
fn a_failing_sink_is_reported() {
    struct Full;
    impl TraceSink for Full {
        fn block(&mut self, _: &Tables, _: &Block) -> io::Result<()> {
            Err(io::Error::other("disk full"))
        }
        fn finish(&mut self, _: &Tables) -> io::Result<()> {
            Ok(())
        }
    }
    let config = EventDriven { events: 70_000, tasks: 100, ..EventDriven::default() };
    let error = event_driven(&config, &mut Full).expect_err("the sink fails");
    assert_eq!(error.to_string(), "disk full");
}
