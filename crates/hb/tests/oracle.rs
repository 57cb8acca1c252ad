//! The engine agrees with the naive closure on random traces, and the comparison notices a dropped
//! rule.

use anyorder_hb::{CoverageLevel, HappensBefore, Race, RaceOptions, RuleSet, check, races};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::effort::seeds;
use anyorder_testkit::{Naive, RuleName, Rules, Shape, random_trace};

use anyorder_trace::{
    Action, Event, EventId, EventKind, Input, InputFamily, Mailbox, NameId, Trace, TraceBuilder,
};
use std::collections::BTreeMap;

/// Seeds per shape and rule set.
const SEEDS: u64 = 350;

pub(crate) fn oracle_set(rules: RuleSet) -> anyorder_testkit::RuleSet {
    match rules {
        RuleSet::Android => anyorder_testkit::RuleSet::Android,
        RuleSet::Mailbox => anyorder_testkit::RuleSet::Mailbox,
        RuleSet::Threads => anyorder_testkit::RuleSet::Threads,
    }
}

fn events(trace: &Trace) -> impl Iterator<Item = EventId> + use<> {
    (0..trace.len() as u32).map(EventId)
}

/// The relation that a check returns beside its races.
fn order_of_check(trace: &Trace, rules: RuleSet) -> HappensBefore<'_> {
    let options = RaceOptions { keep_order: true, ..RaceOptions::new(rules) };
    let checked = check(trace, &options, &Control::default());
    checked.into_order(&Cancel::new()).expect("small traces fit")
}

/// The first pair on which engine and oracle differ.
pub(crate) fn difference(
    trace: &Trace,
    hb: &HappensBefore<'_>,
    naive: &Naive<'_, '_>,
) -> Option<String> {
    for x in events(trace) {
        for y in events(trace) {
            let (ours, theirs) = (hb.happens_before(x, y), naive.happens_before(x, y));
            if ours != theirs {
                return Some(format!("{x:?} before {y:?}: engine {ours}, oracle {theirs}"));
            }
        }
    }
    for a in trace.task_ids() {
        for b in trace.task_ids() {
            if hb.task_order(a, b) != naive.task_order(a, b) {
                return Some(format!("{a:?} ≺ {b:?}: oracle {}", naive.task_order(a, b)));
            }
        }
    }
    None
}

fn word(level: CoverageLevel) -> String {
    format!("{level:?}").to_lowercase()
}

fn covered(naive: &Naive<'_, '_>, level: CoverageLevel, race: (EventId, EventId)) -> bool {
    match level {
        CoverageLevel::Task => naive.covered_task(race),
        CoverageLevel::Access => naive.covered_access(race),
        CoverageLevel::Single => naive.covered_single(race),
    }
}

#[test]
fn agrees_on_random_traces() {
    let cancel = Cancel::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut traces = 0;
    let sticky = sticky_receipts();
    let naive = Naive::new(&sticky, Rules::all(oracle_set(RuleSet::Android)));
    let hb = HappensBefore::new(&sticky, RuleSet::Android, &cancel).unwrap();
    assert_eq!(difference(&sticky, &hb, &naive), None);
    let wide = [("crowd", Shape::crowd()), ("bags", Shape::bags())];
    for (name, shape) in Shape::all().into_iter().chain(wide) {
        for seed in seeds(SEEDS) {
            let trace = random_trace(seed, &shape);
            for rules in RuleSet::ALL {
                traces += 1;
                let naive = Naive::new(&trace, Rules { set: oracle_set(rules), disabled: &[] });
                // The relation that a check has computed on its way must be the same.
                let hb = match seed % 2 {
                    0 => HappensBefore::new(&trace, rules, &cancel).unwrap(),
                    _ => order_of_check(&trace, rules),
                };
                let place = format!("shape {name}, seed {seed}, rules {}", rules.word());
                if let Some(difference) = difference(&trace, &hb, &naive) {
                    panic!("{place}: {difference}\n{}", anyorder_testkit::show(&trace));
                }
                *counts.entry(format!("rounds {}", hb.rounds())).or_default() += 1;
                count_ended(&trace, &naive, &mut counts);
                let expected = naive.races();
                for level in [CoverageLevel::Task, CoverageLevel::Access, CoverageLevel::Single] {
                    let found = races(&trace, rules, level, &cancel).unwrap();
                    let pairs: Vec<_> =
                        found.iter().map(|race| (race.first, race.second)).collect();
                    assert_eq!(pairs, expected, "{place}\n{}", anyorder_testkit::show(&trace));
                    for Race { first, second, uncovered } in found {
                        let expected = !covered(&naive, level, (first, second));
                        assert_eq!(
                            uncovered,
                            expected,
                            "{place}: {} coverage of {first:?}, {second:?}\n{}",
                            word(level),
                            anyorder_testkit::show(&trace)
                        );
                        let verdict = if uncovered { "uncovered" } else { "covered" };
                        *counts.entry(format!("{} {verdict}", word(level))).or_default() += 1;
                    }
                }
            }
        }
    }
    println!("{traces} traces and rule sets; verdicts: {counts:#?}");
    for level in ["task", "access", "single"] {
        for verdict in ["covered", "uncovered"] {
            assert!(counts.contains_key(&format!("{level} {verdict}")), "{level} {verdict} never");
        }
    }
    assert!(counts.keys().any(|key| key == "rounds 3"), "the fixpoint never took three rounds");
    for ended in ["on the handler", "behind a task of the handler", "by others, behind a task"] {
        assert!(counts.contains_key(&format!("ended {ended}")), "ended {ended} never");
    }
}

/// Counts pairs that only the rule *ended* orders.
fn count_ended(trace: &Trace, naive: &Naive<'_, '_>, counts: &mut BTreeMap<String, u64>) {
    let handler = |event: EventId| trace.handler_of(event);
    for y in trace.events().map(|event| event.id) {
        for x in (0..y.0).map(EventId).filter(|x| naive.ended(*x, y).is_some()) {
            let task = trace.event(x).task;
            let is_end = |event: &Event| event.action() == Action::Cancel(task);
            let mut ends = trace.events().filter(is_end).map(|end| handler(end.id)).peekable();
            let by_others = ends.peek().is_some() && ends.all(|end| end != handler(x));
            let ended = naive.ended(x, y);
            let word = match (handler(x) == handler(y), ended == Some(RuleName::Cancelled)) {
                (true, _) => "on the handler",
                (false, true) if by_others => "by others, behind a task",
                (false, _) => "behind a task of the handler",
            };
            *counts.entry(format!("ended {word}")).or_default() += 1;
        }
    }
}

/// Two sticky registrations in order, whose receipts nothing else orders: random traces seldom have
/// them.
fn sticky_receipts() -> Trace {
    let mut b = TraceBuilder::new();
    let app = b.handler("app", Mailbox::None).unwrap();
    let ui = b.handler("ui", Mailbox::Fifo).unwrap();
    let posters = ["one", "two"].map(|name| b.handler(name, Mailbox::None).unwrap());
    let broadcast = |b: &mut TraceBuilder, state: &str, instance: u64| {
        let (state, name) = (b.interner.name(state).unwrap(), b.interner.name("go").unwrap());
        let family = InputFamily::Broadcast;
        let component = NameId::EMPTY;
        b.interner.input(Input { family, name, state, component, instance, argument: 1 }).unwrap()
    };
    let code = b.initial(app);
    let sent = broadcast(&mut b, "SEND_STICKY_BROADCAST", 0);
    b.push(code, EventKind::Enable.into(), sent.0);
    for receiver in [1, 2] {
        let registered = broadcast(&mut b, "REGISTER_RECEIVER", receiver);
        b.push(code, EventKind::Enable.into(), registered.0);
    }
    let tasks = ["m1", "m2"].map(|name| b.task(name, ui).unwrap());
    for (poster, task) in posters.into_iter().zip(tasks) {
        let poster = b.initial(poster);
        b.post(poster, task).unwrap();
    }
    for (receiver, task) in (1..).zip(tasks) {
        b.get(task).unwrap();
        let received = broadcast(&mut b, "ONRECEIVE", receiver);
        b.push(task, EventKind::Trigger.into(), received.0);
        b.end(task).unwrap();
    }
    b.finish()
}

/// How many random traces of each shape may pass before a dropped rule is noticed, and that it is.
fn seeds_to_notice(rule: RuleName, max: u64) -> Option<u64> {
    let cancel = Cancel::new();
    let differs = |trace: &Trace| {
        RuleSet::ALL.into_iter().any(|rules| {
            let set = oracle_set(rules);
            if !rule.is_in(set) {
                return false;
            }
            let disabled = [rule];
            let naive = Naive::new(trace, Rules { set, disabled: &disabled });
            let hb = HappensBefore::new(trace, rules, &cancel).unwrap();
            difference(trace, &hb, &naive).is_some()
        })
    };
    if differs(&sticky_receipts()) {
        return Some(0);
    }
    let shapes = Shape::all();
    (0..max).find(|seed| shapes.iter().any(|(_, shape)| differs(&random_trace(*seed, shape))))
}

/// The test of the test: the comparison must notice an oracle that lacks a rule.
#[test]
fn a_dropped_rule_is_noticed() {
    let mut missed = Vec::new();
    for &rule in RuleName::ALL {
        // A rule that others imply changes no relation: a few seeds are enough to confirm that.
        let seeds = if rule.is_implied() { SEEDS / 7 } else { 4 * SEEDS };
        match seeds_to_notice(rule, seeds) {
            Some(seed) => println!("{}: noticed by seed {seed}", rule.word()),
            None => missed.push(rule),
        }
    }
    assert_eq!(missed, [RuleName::DelayedPoster], "dropping other rules must be noticed");
}

/// An input orders `a` before `c`, whose posts two tasks of one handler make; FIFO orders `c`
/// before `b`. FIFO read backwards applies to `a` and `b`, but not to the first pair.
#[test]
fn fifo_is_read_backwards_through_an_order_by_fifo() {
    let mut t = TraceBuilder::new();
    let (main, side) =
        (t.handler("main", Mailbox::Fifo).unwrap(), t.handler("side", Mailbox::Fifo).unwrap());
    let threads = ["one", "two"].map(|name| t.handler(name, Mailbox::None).unwrap());
    let [p, q, a, c, b] = ["p", "q", "a", "c", "b"].map(|name| t.task(name, main).unwrap());
    let r = t.task("r", side).unwrap();
    let x = t.input("x").unwrap();
    for (thread, task) in threads.into_iter().zip([p, q]) {
        let thread = t.initial(thread);
        t.post(thread, task).unwrap();
    }
    t.get(p).unwrap();
    let first = t.post(p, a).unwrap();
    t.end(p).unwrap();
    t.get(q).unwrap();
    t.post(q, c).unwrap();
    t.post(q, r).unwrap();
    t.end(q).unwrap();
    t.get(r).unwrap();
    t.get(a).unwrap();
    t.push(a, EventKind::Enable.into(), x.0);
    t.end(a).unwrap();
    let second = t.post(r, b).unwrap();
    t.end(r).unwrap();
    t.get(c).unwrap();
    t.push(c, EventKind::Trigger.into(), x.0);
    t.end(c).unwrap();
    t.get(b).unwrap();
    t.end(b).unwrap();
    let trace = t.finish();
    let naive = Naive::new(&trace, Rules::all(oracle_set(RuleSet::Mailbox)));
    let hb = HappensBefore::new(&trace, RuleSet::Mailbox, &Cancel::new()).unwrap();
    assert!(hb.happens_before(first, second));
    assert_eq!(difference(&trace, &hb, &naive), None);
}

/// A fork of a handler that has already run orders its first event behind the fork, whether inside
/// a task, in thread code or in a burst.
#[test]
fn a_fork_orders_a_handler_that_has_already_run() {
    for untracked in [false, true] {
        let mut t = TraceBuilder::new();
        let (a, b) =
            (t.handler("a", Mailbox::None).unwrap(), t.handler("b", Mailbox::Fifo).unwrap());
        let c = t.handler("c", Mailbox::None).unwrap();
        t.interner.tables.handlers[c.index()].untracked = untracked;
        let (a, code, burst) = (t.initial(a), t.initial(b), t.initial(c));
        let task = t.task("m", b).unwrap();
        t.write(code, "before").unwrap();
        t.post(a, task).unwrap();
        t.get(task).unwrap();
        t.write(burst, "before").unwrap();
        let forks = [b, c].map(|handler| t.push(a, EventKind::Fork.into(), handler.0));
        let accesses = [t.write(burst, "x").unwrap(), t.write(task, "x").unwrap()];
        t.end(task).unwrap();
        let trace = t.finish();
        for rules in RuleSet::ALL {
            let naive = Naive::new(&trace, Rules::all(oracle_set(rules)));
            let hb = HappensBefore::new(&trace, rules, &Cancel::new()).unwrap();
            assert_eq!(difference(&trace, &hb, &naive), None, "{}", rules.word());
            assert!(hb.happens_before(forks[0], accesses[1]), "{}", rules.word());
            assert!(hb.happens_before(forks[1], accesses[0]), "{}", rules.word());
            let why = anyorder_hb::why(&trace, rules, forks[0], accesses[1], &Cancel::new());
            assert!(why.unwrap().proof.is_some(), "{}", rules.word());
        }
    }
}

/// A task that runs before its handler's loop event is ordered before it, and so before later
/// tasks; their posts are in order.
#[test]
fn fifo_is_read_backwards_from_an_order_by_the_loop_point() {
    let mut t = TraceBuilder::new();
    let ui = t.handler("ui", Mailbox::Fifo).unwrap();
    let threads = ["one", "two"].map(|name| t.handler(name, Mailbox::None).unwrap());
    let [one, two] = threads.map(|thread| t.initial(thread));
    let (code, tasks) = (t.initial(ui), ["m1", "m2"].map(|name| t.task(name, ui).unwrap()));
    let first = t.post(one, tasks[0]).unwrap();
    t.get(tasks[0]).unwrap();
    t.on_condition(tasks[0], EventKind::Signal, "c").unwrap();
    t.end(tasks[0]).unwrap();
    t.on_condition(code, EventKind::Wake, "c").unwrap();
    t.push(code, EventKind::Loop.into(), 0);
    let second = t.post(two, tasks[1]).unwrap();
    t.get(tasks[1]).unwrap();
    t.end(tasks[1]).unwrap();
    let trace = t.finish();
    let naive = Naive::new(&trace, Rules::all(oracle_set(RuleSet::Mailbox)));
    let hb = HappensBefore::new(&trace, RuleSet::Mailbox, &Cancel::new()).unwrap();
    assert!(hb.happens_before(first, second));
    assert_eq!(difference(&trace, &hb, &naive), None);
}
