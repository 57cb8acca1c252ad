//! Pairs of accesses, waits and signals that closures decide, against all reorderings of small
//! random runs: accesses with a run that keeps the order of each lock are confirmed and no other
//! pairs, and no witness exists of those that are impossible.

use super::naive::{NaiveRaces, Threads, is_action, races};
use super::programs::{Family, run};
use super::{STATES_MAX, show};
use crate::brute::generate::RandomSource;
use anyorder_predict::{
    Answer, ConfirmOptions, Confirmer, Form, InOrderAnswer, InOrderFault, NoCommunication,
};
use anyorder_system::Cancel;
use anyorder_testkit::effort::sampled;
use anyorder_trace::{EventId, Trace};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The families whose runs have data.
const FAMILIES: [Family; 9] = [
    Family::Data,
    Family::Mixed,
    Family::Readers,
    Family::Mixed,
    Family::Forks,
    Family::Data,
    Family::Branches,
    Family::Readers,
    Family::Sections,
];

#[derive(Default, Debug)]
struct Tally {
    traces: u64,
    forms: BTreeMap<Form, u64>,
    impossible: u64,
    open: u64,
    /// Open pairs that have a witness, and that have none.
    open_with: u64,
    open_without: u64,
    /// Pairs with a wait or a signal: impossible, open with a witness, open without one.
    signals: [u64; 3],
    /// Closures that what an open section has read refuted.
    refuted_by_reads: u64,
    /// Witnesses that are a closed set in the order of the trace.
    closed: u64,
}

/// Compares all pairs of accesses, waits and signals of a trace.
fn compare(
    trace: &Trace,
    [all, in_order]: &[NaiveRaces; 2],
    fault: Option<InOrderFault>,
    (tally, rng): (&mut Tally, &mut RandomSource),
) {
    let mut nothing = NoCommunication;
    let mut confirmer = Confirmer::new(trace, &mut nothing, ConfirmOptions::default());
    if let Some(fault) = fault {
        confirmer = confirmer.with_in_order_fault(fault);
    }
    let is_access = |event: &usize| trace.event(EventId(*event as u32)).kind().is_access();
    let lane = |event: usize| trace.handler_of(EventId(event as u32));
    let actions: Vec<usize> = (0..trace.len()).filter(|event| is_action(trace, *event)).collect();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for b in &actions {
        let earlier = actions.iter().filter(|a| *a < b && lane(**a) != lane(*b));
        pairs.extend(earlier.map(|a| (*a, *b)));
    }
    // Sets grow along some pairs, and begin anew where actions go back.
    for at in 0..pairs.len() {
        if rng.chance(20) {
            let other = rng.below(pairs.len());
            pairs.swap(at, other);
        }
    }
    for pair in pairs {
        let [first, second] = [pair.0, pair.1].map(|event| EventId(event as u32));
        let answer = confirmer.decide_in_order(first, second, &Cancel::new());
        let (together, last) = (in_order.together.contains(&pair), in_order.last.contains(&pair));
        let exists = [all.together.contains(&pair), all.last.contains(&pair)];
        let are_accesses = is_access(&pair.0) && is_access(&pair.1);
        if are_accesses {
            tally.add(answer, exists);
        } else {
            tally.add_signals(answer, exists);
        }
        let what = format!("{pair:?}: {answer:?}, {together} {last} {exists:?}\n{}", show(trace));
        match answer {
            InOrderAnswer::Confirmed(form) => {
                assert!(are_accesses, "{what}");
                assert_eq!((true, form != Form::CoEnabled), (together, last), "{what}");
                let found = confirmer.confirm(first, second, &Cancel::new());
                assert!(matches!(found, Answer::Confirmed(_)), "{found:?}: {what}");
            }
            InOrderAnswer::Impossible => assert_eq!(exists, [false; 2], "{what}"),
            InOrderAnswer::Open => assert!(!are_accesses || !together && !last, "{what}"),
        }
    }
    tally.refuted_by_reads += confirmer.refuted_by_reads();
    tally.closed += confirmer.stats().closed;
}

impl Tally {
    fn add_signals(&mut self, answer: InOrderAnswer, exists: [bool; 2]) {
        let at = match (answer, exists.contains(&true)) {
            (InOrderAnswer::Impossible, _) => 0,
            (_, true) => 1,
            (_, false) => 2,
        };
        self.signals[at] += 1;
    }

    fn add(&mut self, answer: InOrderAnswer, exists: [bool; 2]) {
        match answer {
            InOrderAnswer::Confirmed(form) => *self.forms.entry(form).or_default() += 1,
            InOrderAnswer::Impossible => self.impossible += 1,
            InOrderAnswer::Open => {
                self.open += 1;
                match exists.contains(&true) {
                    true => self.open_with += 1,
                    false => self.open_without += 1,
                }
            }
        }
    }
}

fn random(seed: u64) -> (Family, Trace, RandomSource) {
    let mut rng = RandomSource::new(3_300_000 + seed);
    let family = FAMILIES[(seed % FAMILIES.len() as u64) as usize];
    let trace = run(&mut rng, family, 20);
    (family, trace, rng)
}

#[test]
fn closures_confirm_what_some_run_in_order_shows_and_nothing_else() {
    let mut tallies: BTreeMap<Family, Tally> = BTreeMap::new();
    for seed in sampled(450, 9_000) {
        let (family, trace, mut rng) = random(seed);
        let Some(right) = races(&Threads::new(&trace), STATES_MAX) else { continue };
        let tally = tallies.entry(family).or_default();
        tally.traces += 1;
        compare(&trace, &right, None, (tally, &mut rng));
    }
    println!("{tallies:#?}");
    let sum = |of: fn(&Tally) -> u64| tallies.values().map(of).sum::<u64>();
    let of_form = |form| tallies.values().filter_map(|t| t.forms.get(&form)).sum::<u64>();
    let signals = |at: usize| tallies.values().map(|t| t.signals[at]).sum::<u64>();
    let counts = [
        signals(0),
        signals(1),
        sum(|t| t.refuted_by_reads),
        sum(|t| t.closed),
        of_form(Form::Reversed),
        of_form(Form::Last),
        of_form(Form::CoEnabled),
        sum(|t| t.impossible),
        sum(|t| t.open_with),
    ];
    assert!(tallies.len() == 6 && counts.iter().all(|n| *n > 5), "{counts:?}");
}

#[test]
fn every_fault_of_closures_is_noticed() {
    let mut open = vec![
        InOrderFault::SectionsStayOpen,
        InOrderFault::SetsStay,
        InOrderFault::SecondHolds,
        InOrderFault::SecondObservesNothing,
        InOrderFault::ReadersExclude,
        InOrderFault::AnyOverwrites,
    ];
    for seed in 1..=1_000 {
        let (_, trace, _) = random(seed);
        let Some(right) = races(&Threads::new(&trace), STATES_MAX) else { continue };
        open.retain(|fault| {
            let mut tally = Tally::default();
            let mut rng = RandomSource::new(seed);
            let compared = || compare(&trace, &right, Some(*fault), (&mut tally, &mut rng));
            let is_noticed = catch_unwind(AssertUnwindSafe(compared)).is_err();
            if is_noticed {
                println!("{fault:?}: seed {seed}");
            }
            !is_noticed
        });
        if open.is_empty() {
            return;
        }
    }
    panic!("not noticed: {open:?}");
}
