//! Exploration under weak memory where nothing is weak: programs of all operations whose atomics
//! are sequentially consistent.

use crate::tests::litmus::{GraphKey, key_of};
use crate::tests::script::Script;
use crate::weak::{Sabotage, explore_with_fault};
use anyorder_testkit::concurrent::{
    Concurrent, Stmt, everything, random_program, random_spinning_program, random_waiting_program,
};
use anyorder_testkit::effort::sampled;
use anyorder_threads::{
    Act, Event, Fault, Incomplete, ObjectId, WeakExecution, WeakExplored, WeakOptions,
    every_execution,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

type End = (BTreeMap<usize, Vec<u64>>, BTreeSet<usize>, bool);

/// The ends, the graphs, and what the exploration says.
fn explore(
    program: &Concurrent,
    sabotage: Sabotage,
) -> (BTreeSet<End>, BTreeSet<GraphKey>, WeakExplored) {
    let (mut ends, mut keys) = (BTreeSet::new(), BTreeSet::new());
    let mut script = Script::new(program.clone());
    let options = WeakOptions { executions_max: 4_000, ..WeakOptions::default() };
    let mut visit = |execution: &WeakExecution<'_>| {
        let saw = |thread: anyorder_threads::ThreadId| {
            let mut results: Vec<u64> = execution.results(thread).collect();
            // The oracle does not note the end of a thread.
            if !execution.stuck.iter().any(|blocked| blocked.thread == thread) {
                results.pop();
            }
            (thread.index(), results)
        };
        let stuck = execution.stuck.iter().map(|blocked| blocked.thread.index()).collect();
        ends.insert((execution.threads().map(saw).collect(), stuck, execution.spins));
        let is_new = keys.insert(key_of(execution));
        assert!(is_new || sabotage != Sabotage::None, "twice: {program:#?}");
    };
    let explored = explore_with_fault(&mut script, &options, &mut visit, sabotage);
    (ends, keys, explored)
}

/// The graph of an interleaving: each operation reads from the last one that changed its object;
/// one on anything but numbers and contents counts as a change.
fn key_of_interleaving(events: &[Event]) -> GraphKey {
    let mut key: GraphKey = (BTreeMap::new(), Vec::new());
    let mut exits: BTreeMap<ObjectId, (u32, usize)> = BTreeMap::new();
    for event in events {
        let (thread, object) = (event.step.thread.0, event.op.object);
        let log = key.0.entry(thread).or_default();
        let name = (thread, log.len());
        let (reads, writes) = match &event.op.act {
            Act::Load(_) | Act::Use | Act::Access { .. } => (true, false),
            Act::Store(..) | Act::Alter(_) => (false, true),
            Act::Update { change, .. } => (true, change.writes(event.result)),
            Act::Fence(_) | Act::Fail(_) | Act::Spawn(_) | Act::Choose(_) | Act::Join => {
                (false, false)
            }
            _ => (true, true),
        };
        let mut objects = Vec::new();
        event.op.objects(|object| objects.push(object.index()));
        let most = objects.iter().max().map_or(0, |most| most + 1);
        key.1.resize(key.1.len().max(most), Vec::new());
        let mut source = None;
        if reads {
            source = key.1[object.index()].last().copied();
        }
        if event.op.act == Act::Join {
            source = exits.get(&object).copied();
        }
        log.push((event.result, event.step.alternative, source));
        if writes {
            objects.iter().for_each(|object| key.1[*object].push(name));
        }
        if matches!(event.op.act, Act::Exit(_)) {
            exits.insert(object, name);
        }
    }
    key
}

fn trimmed(keys: BTreeSet<GraphKey>) -> BTreeSet<GraphKey> {
    let trim = |(threads, mut orders): GraphKey| {
        while orders.last().is_some_and(Vec::is_empty) {
            orders.pop();
        }
        (threads, orders)
    };
    keys.into_iter().map(trim).collect()
}

fn has_spins(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::SpinUntil(..) => true,
        Stmt::If(_, then, otherwise) => has_spins(then) || has_spins(otherwise),
        _ => false,
    })
}

#[test]
fn what_is_not_weak_is_as_in_every_interleaving() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ops = BTreeSet::new();
    for seed in sampled(400, 4_000) {
        let mut count = |name, by| *counts.entry(name).or_default() += by;
        let program = random_program(seed, 4 + (seed % 7) as usize);
        if program.threads.iter().any(|body| has_spins(body)) {
            continue;
        }
        let Some(all) = everything(&program, 20_000, 3) else {
            count("too large", 1);
            continue;
        };
        let (ends, keys, explored) = explore(&program, Sabotage::None);
        let context = || format!("seed {seed}: {program:#?}\n{explored:?}");
        if explored.incomplete == Some(Incomplete::Executions) {
            count("too many", 1);
            continue;
        }
        assert_eq!(explored.incomplete, None, "{}", context());
        if ends != all.ends {
            let more: Vec<_> = ends.difference(&all.ends).collect();
            let fewer: Vec<_> = all.ends.difference(&ends).collect();
            panic!("too many {more:?}\ntoo few {fewer:?}\n{}", context());
        }
        assert_eq!(failures(&explored), all.failures, "{}", context());
        count("programs", 1);
        count("executions", explored.executions);
        count("given up", explored.blocked);
        count("failures", all.failures.len() as u64);
        count("stuck", ends.iter().filter(|end| !end.1.is_empty()).count() as u64);
        let mut graphs = BTreeSet::new();
        let mut script = Script::new(program.clone());
        let mut left = 3_000;
        let plain = every_execution(&mut script, (1_000, 3), |_, events, _| {
            graphs.insert(key_of_interleaving(events));
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if plain.complete {
            assert_eq!(trimmed(keys), trimmed(graphs), "{}", context());
            count("compared by graphs", 1);
            ops.append(&mut script.ops);
        }
    }
    let names: BTreeSet<&str> =
        ops.iter().map(|op| op.split([' ', '(', '{']).next().unwrap_or_default()).collect();
    println!("{counts:#?}\n{names:?}");
    assert!(names.len() >= 32, "{names:?}");
    for name in ["failures", "stuck", "given up", "compared by graphs"] {
        assert!(counts[name] > 9, "{name}: {counts:?}");
    }
    assert!(counts["programs"] > 5 * (counts["too large"] + counts["too many"]), "{counts:?}");
}

fn failures(explored: &WeakExplored) -> BTreeSet<u32> {
    let failures = explored.faults.iter().filter_map(|found| match found.fault {
        Fault::Failure(number) => Some(number),
        _ => None,
    });
    failures.collect()
}

/// Whether some random program shows that something is missing, or is there twice.
fn is_noticed(sabotage: Sabotage) -> bool {
    (1..2_000).any(|seed| {
        let program = random_program(seed, 4 + (seed % 7) as usize);
        if program.threads.iter().any(|body| has_spins(body)) {
            return false;
        }
        let Some(all) = everything(&program, 2_000, 3) else { return false };
        let (ends, keys, explored) = explore(&program, sabotage);
        explored.incomplete.is_none()
            && (ends != all.ends || keys.len() as u64 != explored.executions)
    })
}

/// An end, without what threads with spinning loops saw: how often they spin is not explored.
fn projected(program: &Concurrent, ends: &BTreeSet<End>) -> BTreeSet<End> {
    let project = |(histories, stuck, spins): &End| {
        let mut histories = histories.clone();
        histories.retain(|thread, _| !has_spins(&program.threads[*thread]));
        (histories, stuck.clone(), *spins)
    };
    ends.iter().map(project).collect()
}

/// Fails unless the ends are those of all interleavings. Returns what was compared.
fn same_ends(
    program: &Concurrent,
    (ends, all): (&BTreeSet<End>, &BTreeSet<End>),
    context: impl Fn() -> String,
) -> BTreeSet<End> {
    let (ends, all) = (projected(program, ends), projected(program, all));
    let more: Vec<_> = ends.difference(&all).collect();
    let fewer: Vec<_> = all.difference(&ends).collect();
    assert!(ends == all, "too many {more:?}\ntoo few {fewer:?}\n{}", context());
    ends
}

#[test]
fn spinning_threads_wait_for_what_they_need() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in sampled(1_500, 20_000) {
        let mut count = |name, by| *counts.entry(name).or_default() += by;
        let program = random_program(seed, 4 + (seed % 7) as usize);
        if !program.threads.iter().any(|body| has_spins(body)) {
            continue;
        }
        let Some(all) = everything(&program, 20_000, 3) else { continue };
        let (ends, _, explored) = explore(&program, Sabotage::None);
        if explored.incomplete == Some(Incomplete::Executions) {
            count("too many", 1);
            continue;
        }
        let context = || format!("seed {seed}: {program:#?}\n{explored:?}");
        assert_eq!(explored.incomplete, None, "{}", context());
        let ends = same_ends(&program, (&ends, &all.ends), context);
        assert_eq!(failures(&explored), all.failures, "{}", context());
        count("programs", 1);
        count("livelocks", u64::from(ends.iter().any(|end| end.2)));
        count("all end", u64::from(ends.iter().all(|end| end.1.is_empty())));
        count("given up", explored.blocked);
    }
    println!("{counts:#?}");
    for name in ["programs", "livelocks", "all end", "given up"] {
        assert!(counts[name] > 9, "{name}: {counts:?}");
    }
}

#[test]
fn loops_that_give_up_are_explored_turn_by_turn() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in sampled(100, 4_000) {
        let mut count = |name, by| *counts.entry(name).or_default() += by;
        let program = match seed % 4 {
            0 => random_waiting_program(seed),
            _ => random_spinning_program(seed, false),
        };
        let Some(all) = everything(&program, 3_000, 200) else { continue };
        let (ends, keys, explored) = explore(&program, Sabotage::None);
        if explored.incomplete == Some(Incomplete::Executions) {
            count("too many", 1);
            continue;
        }
        let context = || format!("seed {seed}: {program:#?}\n{explored:?}");
        assert_eq!(explored.incomplete, None, "{}", context());
        let ends = same_ends(&program, (&ends, &all.ends), context);
        count("programs", 1);
        count("graphs", keys.len() as u64);
        count("ends", ends.len() as u64);
    }
    println!("{counts:#?}");
    assert!(counts["programs"] > 30 && counts["ends"] > 150, "{counts:?}");
}

#[test]
fn dropped_rules_of_other_objects_are_noticed() {
    use Sabotage::*;
    let all = [AtomicityForgotten, DeletionsOfChoices, StaleWaits];
    let missed: Vec<Sabotage> = all.into_iter().filter(|fault| !is_noticed(*fault)).collect();
    assert_eq!(missed, []);
}
