//! The same with reordered tasks of one handler: the search and the checker against brute force,
//! for which `check_schedule` decides what program order, mailboxes and locks allow.

use crate::brute::confirmed::{Case, Tally};
use crate::brute::generate::{Flavour, RandomSource, show, trace};
use crate::brute::types::{Scheduled, TraceCalls, Types};
use crate::brute::{STATES_MAX, all_pairs};
use anyorder_certify::{Lanes, ReorderingChecker};
use anyorder_predict::{Answer, ConfirmOptions, Confirmer, Reorders, SpecifiedCommunication};
use anyorder_system::Cancel;
use anyorder_testkit::{Act, Reorderings, Shape, random_trace};
use anyorder_trace::{EventId, EventKind, Mailbox, TaskId, Trace, TraceBuilder};
use std::collections::BTreeMap;

const TRACES: u64 = 200;

/// Returns whether a handler runs other code while a task or piece of it holds a lock. Then the
/// extent of a section depends on the order of tasks.
fn has_careless_tasks(t: &Trace) -> bool {
    let mut held: BTreeMap<(u32, u32), (u32, u64)> = BTreeMap::new();
    t.events().any(|event| {
        let handler = t.handler_of(event.id).0;
        let lock = (handler, event.operand);
        match event.kind() {
            EventKind::Acquire => held.entry(lock).or_insert((event.task.0, 0)).1 += 1,
            EventKind::Release => {
                if let Some(entered) = held.get_mut(&lock) {
                    entered.1 -= 1;
                    if entered.1 == 0 {
                        held.remove(&lock);
                    }
                }
            }
            _ => {}
        }
        held.iter().any(|(of, entered)| of.0 == handler && entered.0 != event.task.0)
    })
}

fn check_trace(t: &Trace, what: &str, types: &Types, tally: &mut Tally) -> u64 {
    let observes = Scheduled(TraceCalls::new(types, t));
    let brute = Reorderings::new(t, &observes);
    let best = brute.best(&observes, &all_pairs(t), STATES_MAX).expect("a small trace");
    let mut checker = ReorderingChecker::new(t, &observes.0, Lanes::Tasks);
    let of_types = anyorder_predict::Types::built_in().expect("they are tested");
    let mut communication = SpecifiedCommunication::new(of_types, t);
    let reorders = Reorders::Tasks;
    let options = ConfirmOptions { window: 0, reorders, ..ConfirmOptions::default() };
    let mut confirmer = Confirmer::new(t, &mut communication, options);
    for (a, b) in all_pairs(t) {
        let answer = confirmer.confirm(EventId(a as u32), EventId(b as u32), &Cancel::new());
        let what = format!("{what}, {a} and {b}:\n{}", show(t));
        let is_careless = has_careless_tasks(t);
        if let (true, Answer::Unconfirmed(_) | Answer::Impossible) = (is_careless, &answer) {
            tally.careless += 1;
            continue;
        }
        let case = Case { what, observes: &observes, brute: &brute, pair: (a, b), is_careless };
        case.check(&answer, best.get(&(a, b)), &mut checker, tally);
    }
    tally.traces += 1;
    tally.kinds.extend(t.events().map(|event| event.kind()));
    let of_one_handler = |pair: &&(usize, usize)| {
        let handler = |event: usize| t.handler_of(EventId(event as u32));
        handler(pair.0) == handler(pair.1)
    };
    best.keys().filter(of_one_handler).count() as u64
}

/// Two or three tasks that one handler takes from its mailbox, posted by threads or by one another.
fn taken_in_turn(rng: &mut RandomSource) -> Trace {
    let mut b = TraceBuilder::new();
    let mailbox = [Mailbox::Fifo, Mailbox::Bag, Mailbox::Delayed][rng.below(3)];
    let ui = b.handler("ui", mailbox).expect("room");
    let posters: Vec<TaskId> = ["p", "q"]
        .map(|name| b.handler(name, Mailbox::None).expect("room"))
        .into_iter()
        .map(|handler| b.initial(handler))
        .collect();
    let mut last = None;
    for name in ["one", "two", "three"].into_iter().take(2 + rng.below(2)) {
        let task = b.task(name, ui).expect("room");
        let nested = last.filter(|_| rng.below(4) == 0);
        let poster = nested.unwrap_or(posters[rng.below(2)]);
        if nested.is_none() && rng.below(4) == 0 {
            let _ = b.read(poster, "x").expect("room");
        }
        b.post(poster, task).expect("room");
        if let Some(last) = last {
            b.end(last).expect("room");
        }
        b.get(task).expect("room");
        let place = ["x", "y"][rng.below(2)];
        match rng.below(2) {
            0 => b.read(task, place).expect("room"),
            _ => b.write(task, place).expect("room"),
        };
        last = Some(task);
    }
    b.end(last.expect("there are two")).expect("room");
    b.finish()
}

#[test]
fn the_search_finds_what_brute_force_finds_among_tasks() {
    let (types, mut tally) = (Types::new(), Tally::default());
    let mut of_one_handler = 0;
    for seed in anyorder_testkit::effort::sampled(100, TRACES) {
        let mut shape = Shape { events_max: 8 + seed as usize % 5, ..Shape::tiny() };
        if seed % 4 == 0 {
            shape.weights.push((Act::StrayRelease, 6));
        }
        let t = random_trace(seed, &shape);
        of_one_handler += check_trace(&t, &format!("seed {seed}"), &types, &mut tally);
        let mut rng = RandomSource::new(seed);
        let flavour = [Flavour::Posts, Flavour::Mixed, Flavour::GuardedMixed][seed as usize % 3];
        let t = trace(&mut rng, flavour, 9);
        let what = format!("seed {seed}, {flavour:?}");
        of_one_handler += check_trace(&t, &what, &types, &mut tally);
        let t = taken_in_turn(&mut rng);
        of_one_handler += check_trace(&t, &format!("seed {seed}, in turn"), &types, &mut tally);
    }
    println!("{of_one_handler} pairs of one handler, {tally:#?}");
    assert!(of_one_handler > 0 && tally.confirmed.len() == 4 && tally.impossible > 0, "{tally:?}");
    assert!(tally.kinds.contains(&EventKind::Get) && tally.kinds.contains(&EventKind::Acquire));
    let answers = tally.impossible + tally.confirmed.values().sum::<u64>();
    assert!(tally.careless * 50 < answers, "{} of {answers} pairs left out", tally.careless);
}
