//! The check of a trace against its definitions, on random traces.

use anyorder_hb::RuleSet;
use anyorder_robust::trace::{ConflictGroup, Forest, Shows, TraceOptions, check};
use anyorder_system::Control;
use anyorder_testkit::{Naive, NaiveRobust, RuleName, Rules, Shape, random_trace};
use anyorder_trace::{EventId, EventKind, LocationId, Mailbox, OperandKind, TaskKind, Trace};
use std::collections::BTreeMap;

/// How many traces of each shape are tried.
const SEEDS: u64 = 3_000;

/// How often something occurred in the random traces.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    fn add(&mut self, name: &'static str, occurs: bool) {
        *self.0.entry(name).or_default() += u64::from(occurs);
    }
}

#[test]
fn random_traces_agree_with_the_definitions() {
    let mut tally = Tally::default();
    let mut shapes = Shape::all().to_vec();
    shapes.extend([("bags", Shape::bags()), ("crowd", Shape { events_max: 90, ..Shape::crowd() })]);
    for (name, shape) in shapes {
        for seed in 0..SEEDS {
            let trace = random_trace(seed, &shape);
            agree(&trace, &format!("{name} {seed}"), &mut tally);
        }
    }
    for (name, count) in &tally.0 {
        println!("{count:>8} {name}");
        assert!(*count > 0, "{name} never occurred");
    }
}

/// Returns the rules of the naive twin for the order of every run.
fn naive_rules(set: anyorder_testkit::RuleSet) -> Rules<'static> {
    Rules::without(set, &[RuleName::Lock])
}

fn agree(trace: &Trace, name: &str, tally: &mut Tally) {
    let naive = NaiveRobust::new(trace);
    let control = Control::default();
    let forest = Forest::new(trace, &control).unwrap();
    // The events.
    let mut roots: Vec<EventId> = (0..naive.root.len())
        .filter(|at| naive.root[*at] == *at)
        .map(|at| naive.invocations[at].first)
        .collect();
    roots.sort_unstable();
    let found: Vec<EventId> =
        (0..forest.events_count() as u32).map(|e| forest.root(e).first).collect();
    assert_eq!(found, roots, "{name}: events");
    for event in trace.events() {
        let invocation = forest.invocation_of(event.task, event.id) as usize;
        let root = forest.root(forest.invocations[invocation].event).first;
        let expected = naive.invocations[naive.event_of(event.id)].first;
        assert_eq!(root, expected, "{name}: event of {:?}", event.id);
    }
    // Both graphs.
    let checked = check(trace, &TraceOptions::new(RuleSet::Mailbox), &control);
    assert_eq!(checked.stopped, None);
    let first = |event: &u32| forest.root(*event).first;
    let components: Vec<Vec<EventId>> =
        checked.components.iter().map(|c| c.iter().map(first).collect()).collect();
    let expected: Vec<Vec<EventId>> = naive
        .components()
        .iter()
        .map(|c| c.iter().map(|at| naive.invocations[*at].first).collect())
        .collect();
    assert_eq!(components, expected, "{name}: components");
    let mut violations: Vec<(EventId, EventId)> =
        checked.violations.iter().map(|v| (v.root, v.pivot)).collect();
    violations.sort_by_key(|(_, pivot)| *pivot);
    assert_eq!(violations, naive.violations(), "{name}: violations");
    // The groups.
    let cycles = |group: &&ConflictGroup| matches!(group.shows, Shows::Cycle { .. });
    let (with_cycle, others): (Vec<_>, Vec<_>) = checked.groups.iter().partition(cycles);
    assert_eq!(!with_cycle.is_empty(), !components.is_empty(), "{name}");
    assert_eq!(!others.is_empty(), !violations.is_empty(), "{name}");
    let order = (trace.len() <= 60)
        .then(|| Naive::new(trace, naive_rules(anyorder_testkit::RuleSet::Mailbox)));
    for group in &checked.groups {
        is_true(trace, &naive, group, order.as_ref(), name, tally);
    }
    // What began in every run before it was cancelled, disabled or quit.
    if let Some(order) = &order {
        for (before, after, forced) in checked.groups.iter().flat_map(conflicts) {
            let ended = order.ended(before, after);
            let forced = forced == Some(true);
            tally.add("forced, as what began would be cancelled", forced && ended.is_some());
        }
    }
    count(trace, &naive, &violations, &components, tally);
}

/// The conflicts that a group shows: those of its cycle, or the one out of order.
fn conflicts(group: &ConflictGroup) -> Vec<(EventId, EventId, Option<bool>)> {
    match &group.shows {
        Shows::Cycle { links, .. } => {
            links.iter().map(|link| (link.before, link.after, link.forced)).collect()
        }
        Shows::PartOfCycle(link) => panic!("the check was not stopped: {link:?}"),
        Shows::OutOfOrder { forced, .. } => vec![(group.shown[0], group.shown[1], *forced)],
    }
}

/// Checks that a group is about real accesses, and that its cycle is a shortest one.
fn is_true(
    trace: &Trace,
    naive: &NaiveRobust<'_>,
    group: &ConflictGroup,
    order: Option<&Naive<'_, '_>>,
    name: &str,
    tally: &mut Tally,
) {
    let shown = conflicts(group);
    for (before, after, forced_here) in &shown {
        assert!(before < after && naive.conflict(*before, *after), "{name}: {group:?}");
        if let Some(order) = order {
            let forced = order.happens_before(*before, *after);
            assert_eq!(*forced_here, Some(forced), "{name}: {before:?} {after:?}");
            tally.add("forced conflicts", forced);
            tally.add("racing conflicts", !forced);
        }
    }
    let forced = shown.iter().all(|(_, _, forced)| *forced == Some(true));
    assert_eq!(group.forced() == Some(true), forced, "{name}");
    let closing = shown.iter().max_by_key(|(_, after, _)| *after).unwrap();
    assert_eq!(group.closing(), Some([closing.0, closing.1]), "{name}");
    if let Shows::Cycle { links, .. } = &group.shows {
        for (at, link) in links.iter().enumerate() {
            let next = &links[(at + 1) % links.len()];
            let same = naive.event_of(link.after) == naive.event_of(next.before);
            assert!(same && link.to == next.from, "{name}: {group:?}");
            assert_eq!(link.from == link.to, links.len() == 1, "{name}: {group:?}");
            let root = naive.invocations[naive.event_of(link.before)].first;
            assert_eq!(trace.event(root).task, link.from.root.task, "{name}: {group:?}");
        }
        let (from, to) = (naive.event_of(links[0].before), naive.event_of(links[0].after));
        assert_eq!(naive.cycle_length(from, to), Some(links.len()), "{name}: {group:?}");
        tally.add("cycles of two events", links.len() == 2);
        tally.add("longer cycles", links.len() > 2);
    }
}

/// Counts what occurs in a trace.
fn count(
    trace: &Trace,
    naive: &NaiveRobust<'_>,
    violations: &[(EventId, EventId)],
    components: &[Vec<EventId>],
    tally: &mut Tally,
) {
    let tables = trace.tables();
    let kind = |id: EventId| trace.event(id).kind();
    tally.add("robust traces", violations.is_empty() && components.is_empty());
    tally.add("traces that are not serializable", !components.is_empty());
    tally.add("traces that are not deterministic", !violations.is_empty());
    tally.add("components of three events or more", components.iter().any(|c| c.len() > 2));
    tally.add("traces with several components", components.len() > 1);
    let differs = (0..naive.root.len()).any(|at| naive.position[at] != naive.preorder[at]);
    tally.add("reference orders that are not preorder", differs);
    tally.add("pieces of a looper", naive.invocations.iter().any(|one| one.code.1 > 1));
    let created = |by: EventKind| {
        naive.invocations.iter().any(|one| one.parent.is_some_and(|(event, _)| kind(event) == by))
    };
    tally.add("events with posts", created(EventKind::Post));
    tally.add("events with forks", created(EventKind::Fork));
    for (root, pivot) in violations {
        let handler = trace.handler_of(*pivot);
        let mailbox = tables.handlers[handler.index()].mailbox;
        let posted = tables.tasks[trace.event(*pivot).task.index()].kind == TaskKind::Posted;
        tally.add("pivots in a fifo task", posted && mailbox == Mailbox::Fifo);
        tally.add("pivots in a task of a bag", posted && mailbox == Mailbox::Bag);
        tally.add("pivots in a task of a delayed mailbox", posted && mailbox == Mailbox::Delayed);
        tally.add("pivots in a thread", !posted);
        tally.add(
            "rmw as root or pivot",
            [*root, *pivot].iter().any(|e| kind(*e) == EventKind::Rmw),
        );
        let range = |id: EventId| {
            let event = trace.event(id);
            debug_assert_eq!(event.kind().operand(), OperandKind::Location);
            let location = tables.locations[LocationId(event.operand).index()];
            matches!(location, anyorder_trace::Location::Range { .. })
        };
        tally.add("violations on ranges", range(*pivot));
        let apart = trace.event(*root).operand != trace.event(*pivot).operand;
        tally.add("violations on different ranges that overlap", apart);
    }
}
