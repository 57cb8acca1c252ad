//! Witnesses in which tasks change places, against brute force over all schedules of small event-driven traces.

mod common;

use anyorder_certify::check_schedule;
use anyorder_predict::{
    Answer, ConfirmOptions, Confirmer, Form, NoCommunication, Reorders, Scale, Witness,
};
use anyorder_system::Cancel;
use anyorder_testkit::random::{Shape, random_trace};
use anyorder_testkit::reorder::{Observes, ReorderForm, ReorderRule, Reorderings};
use anyorder_trace::{EventId, EventKind, Trace};
use common::show;
use std::collections::{BTreeMap, BTreeSet};

struct Nothing;

impl Observes for Nothing {
    fn object(&self, _: EventId) -> Option<u32> {
        None
    }

    fn observed(&self, run: &[EventId]) -> Vec<BTreeMap<u8, BTreeSet<EventId>>> {
        vec![BTreeMap::new(); run.len()]
    }
}

/// All schedules of a trace in which each event observes what it observed.
struct Brute<'t> {
    trace: &'t Trace,
    rules: Reorderings,
}

type Best = BTreeMap<(usize, usize), (ReorderForm, usize)>;

impl Brute<'_> {
    fn follows(&self, run: &[usize], event: usize, exempt: &[usize]) -> bool {
        let of_ours = [
            ReorderRule::Once,
            ReorderRule::Alloc,
            ReorderRule::Read,
            ReorderRule::Wake,
            ReorderRule::Wait,
        ];
        let broken = self.rules.all_broken(&Nothing, run, event, exempt);
        if broken.iter().any(|rule| of_ours.contains(rule)) {
            return false;
        }
        let order: Vec<EventId> =
            run.iter().chain([&event]).map(|event| EventId(*event as u32)).collect();
        check_schedule(self.trace, &order).is_ok()
    }

    fn is_witness(&self, run: &[usize], form: ReorderForm, (a, b): (usize, usize)) -> bool {
        let exempt: &[usize] = match form {
            ReorderForm::Reversed => &[],
            ReorderForm::Last => &[a],
            ReorderForm::CoEnabled => &[a, b],
        };
        let ends = match form {
            ReorderForm::CoEnabled => run.ends_with(&[b, a]),
            _ => run.ends_with(&[a]) && run.contains(&b),
        };
        ends && (0..run.len()).all(|at| self.follows(&run[..at], run[at], exempt))
    }

    fn best(&self, most: usize) -> Option<Best> {
        let count = self.trace.len();
        let tells = |event: usize| {
            let kind = self.trace.event(EventId(event as u32)).kind();
            kind.writes()
                || matches!(
                    kind,
                    EventKind::Post
                        | EventKind::Cancel
                        | EventKind::Wait
                        | EventKind::Signal
                        | EventKind::Broadcast
                )
        };
        let mut best = Best::new();
        let mut known = BTreeSet::new();
        let mut layer: Vec<Vec<usize>> = vec![Vec::new()];
        while !layer.is_empty() {
            let mut next = Vec::new();
            for run in layer {
                let done: u64 = run.iter().map(|event| 1 << event).sum();
                let mut note = |pair, form, len| {
                    let entry = best.entry(pair).or_insert((form, len));
                    *entry = (*entry).min((form, len));
                };
                for event in (0..count).filter(|event| done >> event & 1 == 0) {
                    let is_whole = self.follows(&run, event, &[]);
                    let is_last = is_whole || self.follows(&run, event, &[event]);
                    if !is_last {
                        continue;
                    }
                    for other in run.iter().filter(|other| **other > event) {
                        let form = if is_whole { ReorderForm::Reversed } else { ReorderForm::Last };
                        note((event, *other), form, run.len() + 1);
                    }
                    let mut longer = run.clone();
                    longer.push(event);
                    for last in (0..event).filter(|last| done >> last & 1 == 0) {
                        if self.follows(&longer, last, &[event, last]) {
                            note((last, event), ReorderForm::CoEnabled, run.len() + 2);
                        }
                    }
                    if is_whole {
                        let order: Vec<usize> =
                            longer.iter().copied().filter(|event| tells(*event)).collect();
                        if known.insert((done | 1 << event, order)) {
                            next.push(longer);
                        }
                    }
                }
            }
            if known.len() > most {
                return None;
            }
            layer = next;
        }
        Some(best)
    }
}

fn form(form: Form) -> ReorderForm {
    match form {
        Form::Reversed => ReorderForm::Reversed,
        Form::Last => ReorderForm::Last,
        Form::CoEnabled => ReorderForm::CoEnabled,
    }
}

fn whole(witness: &Witness) -> Vec<usize> {
    (0..witness.prefix as usize).chain(witness.order.iter().map(|e| e.index())).collect()
}

fn seeds(otherwise: u64) -> u64 {
    std::env::var("SEEDS").map_or(otherwise, |seeds| seeds.parse().expect("a number"))
}

#[test]
fn tasks_change_places_as_brute_force_says() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |key: String| *counts.entry(key).or_default() += 1;
    for seed in 1..=seeds(400) {
        let shape = Shape { events_max: 8 + (seed % 7) as usize, ..Shape::tiny() };
        let trace = random_trace(seed, &shape);
        let all: Vec<EventId> = (0..trace.len() as u32).map(EventId).collect();
        if let Err(error) = check_schedule(&trace, &all) {
            count(format!("no schedule of itself: {}", error.reason));
            continue;
        }
        let brute = Brute { trace: &trace, rules: Reorderings::new(&trace, &Nothing) };
        let Some(best) = brute.best(4000) else {
            count("too many".into());
            continue;
        };
        let scales = [
            Scale::default(),
            Scale { first_window: 1, grain: 1, stronger_max: u32::MAX, prefix_max: 0 },
        ];
        for scale in scales {
            let mut nothing = NoCommunication;
            let options = ConfirmOptions { reorders: Reorders::Tasks, ..ConfirmOptions::default() };
            let mut confirmer = Confirmer::with_scale(&trace, &mut nothing, options, scale);
            for b in 0..trace.len() {
                for a in 0..b {
                    let answer =
                        confirmer.confirm(EventId(a as u32), EventId(b as u32), &Cancel::new());
                    let best = best.get(&(a, b));
                    let context =
                        || format!("seed {seed} {a} {b}\n{}\n{answer:?}\n{best:?}", show(&trace));
                    match (&answer, best) {
                        (Answer::Impossible, None) => count("impossible".into()),
                        (Answer::Confirmed(w), Some((best, len))) => {
                            assert_eq!(form(w.form), *best, "{}", context());
                            let run = whole(w);
                            assert!(brute.is_witness(&run, *best, (a, b)), "{}", context());
                            assert!(!w.shortest || run.len() == *len, "{}", context());
                            let shortest = ["longer", "shortest"][usize::from(run.len() == *len)];
                            count(format!("{} {shortest}, said {}", w.form.word(), w.shortest));
                        }
                        _ => panic!("{}", context()),
                    }
                }
            }
        }
    }
    println!("{counts:#?}");
}
