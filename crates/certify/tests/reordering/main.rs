//! The checker of witnesses against brute force: on witnesses, on mutated witnesses, and with a
//! rule left out.

mod by_hand;
mod generate;
mod turns;
mod types;
mod woken;

use anyorder_certify::{
    ClaimedWitness, Lanes, ReorderingChecker, ReorderingError, ReorderingReason, WitnessForm,
};
use anyorder_testkit::effort::counts_all;
use anyorder_testkit::{Observes, ReorderForm, ReorderRule, Reorderings, Shape, random_trace};
use anyorder_trace::{EventId, Trace};
use generate::{Flavour, RandomSource, show, trace, value_chain, with_branches};
use std::collections::{BTreeMap, BTreeSet};
use turns::turns;
use types::{Scheduled, TraceCalls, Types};

const TRACES: u64 = 1_200;
/// The number of different reorderings at which brute force stops.
const STATES_MAX: usize = 20_000;

const FORMS: [(ReorderForm, WitnessForm); 4] = [
    (ReorderForm::Reversed, WitnessForm::Reversed),
    (ReorderForm::Last, WitnessForm::Last),
    (ReorderForm::CoEnabled, WitnessForm::CoEnabled),
    (ReorderForm::Overtakes, WitnessForm::Overtakes),
];

#[derive(Default, Debug)]
struct Counters {
    witnesses: BTreeMap<ReorderForm, u64>,
    accepted: u64,
    rejected: BTreeMap<&'static str, u64>,
    with_prefix: u64,
    given_up: u64,
}

fn all_pairs(trace: &Trace) -> BTreeSet<(usize, usize)> {
    (0..trace.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect()
}

fn ids(run: &[usize]) -> Vec<EventId> {
    run.iter().map(|event| EventId(*event as u32)).collect()
}

/// A mutation of a sequence.
fn mutated(rng: &mut RandomSource, run: &[usize], events: usize) -> Vec<usize> {
    let mut run = run.to_vec();
    for _ in 0..1 + rng.below(2) {
        match rng.below(4) {
            0 if run.len() > 1 => {
                let (i, j) = (rng.below(run.len()), rng.below(run.len()));
                run.swap(i, j);
            }
            1 if run.len() > 1 => {
                let i = rng.below(run.len() - 1);
                run.swap(i, i + 1);
            }
            2 if !run.is_empty() => {
                run.remove(rng.below(run.len()));
            }
            _ => run.insert(rng.below(run.len() + 1), rng.below(events)),
        }
    }
    run
}

fn word(reason: &ReorderingReason) -> &'static str {
    match reason {
        ReorderingReason::Unknown => "unknown",
        ReorderingReason::Twice => "twice",
        ReorderingReason::TooEarly { rule, .. } => rule,
        ReorderingReason::Held { .. } => "held",
        ReorderingReason::Ended { .. } => "ended",
        ReorderingReason::Observes { .. } => "observes",
        ReorderingReason::WokenEarly { .. } => "woken early",
        ReorderingReason::ObservesOthers { .. } => "observes others",
        ReorderingReason::Waits => "waits",
        ReorderingReason::Barrier => "unknown barrier",
        ReorderingReason::Free => "free",
        ReorderingReason::WokenInTime { .. } => "woken in time",
        ReorderingReason::TooManyPieces => "too many pieces",
        ReorderingReason::Schedule(_) => "schedule",
        ReorderingReason::Prefix => "prefix",
        ReorderingReason::Missing => "missing",
        ReorderingReason::NotReversed => "not reversed",
        ReorderingReason::NotLast => "not last",
        ReorderingReason::NoCycle => "no cycle",
        ReorderingReason::Granted { .. } => "granted",
        ReorderingReason::Stopped(_) => "stopped",
    }
}

fn rule(word: &str) -> Option<ReorderRule> {
    Some(match word {
        "schedule" => ReorderRule::Schedule,
        "twice" => ReorderRule::Once,
        "po" => ReorderRule::Po,
        "fork" => ReorderRule::Fork,
        "join" => ReorderRule::Join,
        "post" => ReorderRule::Post,
        "cancel" | "enable" => ReorderRule::Opened,
        "ended" => ReorderRule::Ended,
        "barrier" => ReorderRule::Barrier,
        "alloc" => ReorderRule::Alloc,
        "held" => ReorderRule::Locks,
        "observes" => ReorderRule::Read,
        "wake" => ReorderRule::Wake,
        "woken early" => ReorderRule::Wait,
        "observes others" => ReorderRule::Invocation,
        "waits" => ReorderRule::Waiting,
        "arrival" | "unknown barrier" => ReorderRule::Arrival,
        "free" => ReorderRule::Refused,
        "woken in time" => ReorderRule::Timeout,
        _ => return None,
    })
}

struct Case<'c> {
    trace: &'c Trace,
    observes: &'c dyn Observes,
    brute: &'c Reorderings,
}

impl Case<'_> {
    /// Returns the checker's answer, and whether it equals that of brute force.
    fn ask(
        &self,
        checker: &mut ReorderingChecker<'_>,
        run: &[usize],
        (form, claimed): (ReorderForm, WitnessForm),
        (a, b): (usize, usize),
    ) -> (Result<(), ReorderingError>, bool) {
        let order = ids(run);
        let (first, second) = (EventId(a as u32), EventId(b as u32));
        let claim = ClaimedWitness { form: claimed, first, second, prefix: 0, order: &order };
        let answer = checker.check(claim);
        let agrees = answer.is_ok() == self.brute.is_witness(self.observes, run, form, (a, b));
        (answer, agrees)
    }

    /// The error names the position and a rule that brute force finds broken there.
    fn check_error(&self, run: &[usize], exempt: &[usize], error: &ReorderingError) {
        let Some(rule) = rule(word(&error.reason)) else { return };
        if rule == ReorderRule::Schedule {
            // Schedules are checked first, so this need not be the first position.
            let (before, event) = (&run[..error.place], run[error.place]);
            let all = self.brute.all_broken(self.observes, before, event, exempt);
            let is_so = all.contains(&ReorderRule::Schedule) || all == [ReorderRule::Once];
            assert!(is_so, "{error}, {all:?} for {run:?}:\n{}", show(self.trace));
            return;
        }
        let broken = self.brute.broken(self.observes, run, exempt);
        let (place, _) = broken
            .unwrap_or_else(|| panic!("{error} for {run:?} but {exempt:?}:\n{}", show(self.trace)));
        assert_eq!(place, error.place, "{error} for {run:?}:\n{}", show(self.trace));
        let all = self.brute.all_broken(self.observes, &run[..place], run[place], exempt);
        assert!(all.contains(&rule), "{error}, {all:?} for {run:?}:\n{}", show(self.trace));
    }
}

fn exempt(form: ReorderForm, (a, b): (usize, usize)) -> Vec<usize> {
    match form {
        ReorderForm::Reversed | ReorderForm::Overtakes => vec![],
        ReorderForm::Last => vec![a],
        ReorderForm::CoEnabled => vec![a, b],
    }
}

/// Runs through sequences that are witnesses or close to one.
fn sequences(
    rng: &mut RandomSource,
    trace: &Trace,
    brute: &Reorderings,
    observes: &dyn Observes,
    mut each: impl FnMut(&[usize], usize, (usize, usize), bool),
) -> bool {
    let Some(best) = brute.best(observes, &all_pairs(trace), STATES_MAX) else { return false };
    for (pair, best) in &best {
        let form = FORMS.iter().position(|form| form.0 == best.form).expect("a form");
        each(&best.run, form, *pair, true);
        for _ in 0..2 {
            let run = mutated(rng, &best.run, trace.len());
            each(&run, if rng.chance(70) { form } else { rng.below(FORMS.len()) }, *pair, false);
        }
    }
    for rule in ReorderRule::ALL {
        let run = walk(rng, brute, observes, trace.len(), rule);
        if let Some((form, pair, length)) = reversed_pair(rng, &run) {
            each(&run[..length], form, pair, false);
        }
    }
    true
}

/// A random sequence that obeys all rules, or all but one.
fn walk(
    rng: &mut RandomSource,
    brute: &Reorderings,
    observes: &dyn Observes,
    events: usize,
    lenient: ReorderRule,
) -> Vec<usize> {
    let mut run = Vec::new();
    loop {
        let may_follow = |event: &usize| {
            let broken = brute.all_broken(observes, &run, *event, &[]);
            !run.contains(event) && broken.iter().all(|rule| *rule == lenient)
        };
        let next: Vec<usize> = (0..events).filter(may_follow).collect();
        if next.is_empty() {
            return run;
        }
        run.push(next[rng.below(next.len())]);
    }
}

/// Two events of a sequence that are reversed with respect to the trace, with a form and where to
/// cut for it.
fn reversed_pair(rng: &mut RandomSource, run: &[usize]) -> Option<(usize, (usize, usize), usize)> {
    let pairs = (0..run.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    let pairs: Vec<(usize, usize)> = pairs.filter(|(i, j)| run[*i] > run[*j]).collect();
    let &(i, j) = pairs.get(rng.below(pairs.len().max(1)))?;
    match rng.below(3) {
        0 => Some((0, (run[j], run[i]), run.len())),
        form if form == 1 || i + 1 != j => Some((1, (run[j], run[i]), j + 1)),
        _ => Some((2, (run[j], run[i]), j + 1)),
    }
}

/// Compares the two on sequences of one trace.
fn compare(
    rng: &mut RandomSource,
    t: &Trace,
    (observes, lanes): (&TraceCalls<'_>, Lanes),
    tally: &mut Counters,
    what: &str,
) {
    let scheduled = Scheduled(observes.clone());
    let mut checker = ReorderingChecker::new(t, observes, lanes);
    let observes: &dyn Observes = match lanes {
        Lanes::Handlers => observes,
        Lanes::Tasks | Lanes::Components => &scheduled,
    };
    let brute = Reorderings::new(t, observes);
    let case = Case { trace: t, observes, brute: &brute };
    let mut each = |run: &[usize], form: usize, pair, is_witness: bool| {
        let (answer, agrees) = case.ask(&mut checker, run, FORMS[form], pair);
        let what = || format!("{what}, {run:?} {form} {pair:?} {answer:?}\n{}", show(t));
        assert!(agrees, "{}", what());
        match &answer {
            Ok(()) => tally.accepted += 1,
            Err(error) => {
                *tally.rejected.entry(word(&error.reason)).or_default() += 1;
                case.check_error(run, &exempt(FORMS[form].0, pair), error);
            }
        }
        if is_witness {
            assert!(answer.is_ok(), "{}", what());
            *tally.witnesses.entry(FORMS[form].0).or_default() += 1;
        }
        let common = run.iter().enumerate().take_while(|(at, event)| at == *event).count();
        for prefix in 1..=common {
            let order = ids(&run[prefix..]);
            let (first, second) = (EventId(pair.0 as u32), EventId(pair.1 as u32));
            let prefix = prefix as u32;
            let form = FORMS[form].1;
            let same = checker.check(ClaimedWitness { form, first, second, prefix, order: &order });
            assert_eq!(same.is_ok(), answer.is_ok(), "{same:?} {}", what());
            tally.with_prefix += 1;
        }
    };
    let done = sequences(rng, t, &brute, observes, &mut each);
    tally.given_up += u64::from(!done);
}

#[test]
fn the_checker_accepts_what_brute_force_accepts_among_tasks() {
    let (types, mut tally) = (Types::new(), Counters::default());
    for seed in anyorder_testkit::effort::seeds(1_200) {
        let mut rng = RandomSource::new(seed);
        let shape = Shape { events_max: 7 + seed as usize % 5, ..Shape::tiny() };
        let flavour = Flavour::of(seed);
        for t in [random_trace(seed, &shape), trace(&mut rng, flavour, 8)] {
            let observes = TraceCalls::new(&types, &t);
            let what = format!("seed {seed}");
            compare(&mut rng, &t, (&observes, Lanes::Tasks), &mut tally, &what);
        }
    }
    println!("{tally:#?}");
    assert_eq!((tally.witnesses.len() >= 3, tally.given_up), (true, 0), "{tally:?}");
    for reason in ["schedule", "held", "observes", "alloc", "woken early"] {
        assert!(tally.rejected.contains_key(reason), "never {reason}: {tally:?}");
    }
}

/// Some task may begin first though another one was posted before it.
#[test]
fn the_checker_accepts_what_brute_force_accepts_where_tasks_take_turns() {
    let (types, mut tally) = (Types::new(), Counters::default());
    for seed in anyorder_testkit::effort::sampled(100, 200) {
        let mut rng = RandomSource::new(seed);
        let t = turns(&mut rng);
        let observes = TraceCalls::new(&types, &t);
        let what = format!("seed {seed}");
        compare(&mut rng, &t, (&observes, Lanes::Tasks), &mut tally, &what);
    }
    println!("{tally:#?}");
    assert_eq!((tally.witnesses.len(), tally.given_up), (4, 0), "{tally:?}");
}

#[test]
fn the_checker_accepts_what_brute_force_accepts_with_branches() {
    let (types, mut tally) = (Types::new(), Counters::default());
    let mut branches = 0;
    for seed in anyorder_testkit::effort::sampled(400, 1_200) {
        let mut rng = RandomSource::new(seed);
        let t = trace(&mut rng, Flavour::of(seed), 9);
        for t in [with_branches(&mut rng, &t), value_chain(&mut rng)] {
            branches += usize::from(t.has_branches());
            let observes = TraceCalls::new(&types, &t);
            let what = format!("seed {seed}");
            compare(&mut rng, &t, (&observes, Lanes::Handlers), &mut tally, &what);
        }
    }
    println!("{branches} traces, {tally:#?}");
    assert!(branches > 100 && tally.witnesses.len() == 3, "{branches} {tally:?}");
    assert!(tally.rejected.contains_key("observes") && tally.accepted > 0, "{tally:?}");
}

#[test]
fn the_checker_accepts_what_brute_force_accepts() {
    let (types, mut tally) = (Types::new(), Counters::default());
    for seed in anyorder_testkit::effort::seeds(TRACES) {
        let mut rng = RandomSource::new(seed);
        let flavour = Flavour::of(seed);
        let events = 4 + rng.below(if flavour.is_guarded() { 10 } else { 7 });
        let t = trace(&mut rng, flavour, events);
        let observes = TraceCalls::new(&types, &t);
        let what = format!("seed {seed}");
        compare(&mut rng, &t, (&observes, Lanes::Handlers), &mut tally, &what);
    }
    println!("{tally:#?}");
    assert_eq!(tally.witnesses.len(), 3, "{tally:?}");
    assert!(tally.accepted > 0 && tally.with_prefix > 0, "{tally:?}");
    let expected = [
        "twice",
        "po",
        "fork",
        "join",
        "post",
        "barrier",
        "alloc",
        "held",
        "observes",
        "wake",
        "woken early",
        "observes others",
        "waits",
        "arrival",
        "unknown barrier",
        "free",
        "woken in time",
        "missing",
        "not reversed",
        "not last",
    ];
    for reason in expected {
        assert!(tally.rejected.contains_key(reason), "never {reason}: {tally:?}");
    }
    assert_eq!(tally.given_up, 0);
}

/// With a rule left out of brute force, the two must disagree somewhere.
#[test]
fn the_comparison_notices_each_rule() {
    let types = Types::new();
    let mut noticed: BTreeMap<ReorderRule, u64> = BTreeMap::new();
    for seed in anyorder_testkit::effort::seeds(1_200) {
        let mut rng = RandomSource::new(seed);
        let flavour = Flavour::of(seed);
        let t = trace(&mut rng, flavour, if flavour.is_guarded() { 11 } else { 8 });
        let observes = TraceCalls::new(&types, &t);
        let mut checker = ReorderingChecker::new(&t, &observes, Lanes::Handlers);
        let open = |rule: &ReorderRule| counts_all() || noticed.get(rule).is_none_or(|n| *n == 0);
        let open: Vec<ReorderRule> = ReorderRule::ALL.into_iter().filter(open).collect();
        for rule in open {
            let mut brute = Reorderings::new(&t, &observes);
            brute.skip(Some(rule));
            let case = Case { trace: &t, observes: &observes, brute: &brute };
            sequences(&mut rng, &t, &brute, &observes, |run, form, pair, _| {
                let (_, agrees) = case.ask(&mut checker, run, FORMS[form], pair);
                *noticed.entry(rule).or_default() += u64::from(!agrees);
            });
        }
    }
    println!("{noticed:?}");
    for rule in ReorderRule::ALL {
        assert!(noticed.get(&rule).is_some_and(|count| *count > 0), "{rule:?}: {noticed:?}");
    }
}

/// Brute force keeps one of several sequences with equal continuations: the answers are the same as
/// without.
#[test]
fn brute_force_loses_nothing_by_keeping_one_of_many() {
    let types = Types::new();
    let mut pairs = 0;
    for seed in anyorder_testkit::effort::seeds(400) {
        let mut rng = RandomSource::new(seed);
        let flavour = Flavour::of(seed);
        let t = trace(&mut rng, flavour, 6);
        let observes = TraceCalls::new(&types, &t);
        let brute = Reorderings::new(&t, &observes);
        let best = brute.best(&observes, &all_pairs(&t), STATES_MAX).expect("few states");
        let mut all = BTreeMap::new();
        extend(&brute, &observes, t.len(), &mut Vec::new(), &mut all);
        let best: BTreeMap<_, _> =
            best.into_iter().map(|(pair, best)| (pair, (best.form, best.run.len()))).collect();
        assert_eq!(best, all, "seed {seed}\n{}", show(&t));
        pairs += all.len();
    }
    println!("{pairs} pairs");
    assert!(pairs > 1_000);
}

/// Tries all sequences.
fn extend(
    brute: &Reorderings,
    observes: &dyn Observes,
    events: usize,
    run: &mut Vec<usize>,
    best: &mut BTreeMap<(usize, usize), (ReorderForm, usize)>,
) {
    if let &[.., a] = run.as_slice() {
        for &b in run.iter().filter(|b| **b > a) {
            for (form, _) in FORMS {
                if brute.is_witness(observes, run, form, (a, b)) {
                    let new = (form, run.len());
                    let old = best.entry((a, b)).or_insert(new);
                    *old = new.min(*old);
                }
            }
        }
        // All events except the last must observe what they did, so that others may follow.
        let is_run =
            |run: &[usize], exempt: &[usize]| brute.broken(observes, run, exempt).is_none();
        if !is_run(&run[..run.len() - 1], &[]) || !is_run(run, &[a]) {
            return;
        }
    }
    for event in 0..events {
        if !run.contains(&event) {
            run.push(event);
            extend(brute, observes, events, run, best);
            run.pop();
        }
    }
}
