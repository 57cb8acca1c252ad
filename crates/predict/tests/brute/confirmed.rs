//! The search finds a witness of the strongest form exactly where there is one, and reports
//! correctly whether it is a shortest one.

use crate::brute::generate::{Flavour, RandomSource, show, trace};
use crate::brute::types::{TraceCalls, Types};
use crate::brute::{STATES_MAX, all_pairs};
use anyorder_certify::{ClaimedWitness, Lanes, ReorderingChecker, WitnessForm};
use anyorder_commute::Mode;
use anyorder_predict::Together;
use anyorder_predict::{
    Answer, ConfirmOptions, Confirmer, Form, GaveUp, SpecifiedCommunication, Witness,
};
use anyorder_system::Cancel;
use anyorder_testkit::effort::counts_all;
use anyorder_testkit::{Best, Observes, ReorderForm, ReorderRule, Reorderings};
use anyorder_trace::{EventId, EventKind, Mailbox, TaskId, Trace, TraceBuilder};
use std::collections::{BTreeMap, BTreeSet};

const TRACES: u64 = 2_000;

#[derive(Default, Debug)]
pub(crate) struct Tally {
    pub(crate) traces: u64,
    pub(crate) given_up: u64,
    pub(crate) confirmed: BTreeMap<Form, u64>,
    pub(crate) impossible: u64,
    pub(crate) careless: u64,
    /// Unconfirmed because of a barrier without enough information.
    doubtful: u64,
    /// Witnesses that show that a call may wait for ever.
    waits: u64,
    /// Accesses that are never enabled at the same time, though possible in either order.
    apart: u64,
    /// Accesses that can be enabled at the same time, and those of which it is unknown.
    together: u64,
    undecided: u64,
    shortest: u64,
    /// Not reported as shortest: those that are, and those that are not.
    not_proved: u64,
    not_shortest: u64,
    pub(crate) kinds: BTreeSet<EventKind>,
    /// Events of locks in memory that was allocated before.
    in_memory: u64,
    /// Modes in which invocations observe, and pairs of invocations confirmed and impossible.
    modes: BTreeSet<Mode>,
    invocations: (u64, u64),
}

fn claimed(form: Form) -> (ReorderForm, WitnessForm) {
    match form {
        Form::Reversed => (ReorderForm::Reversed, WitnessForm::Reversed),
        Form::Last => (ReorderForm::Last, WitnessForm::Last),
        Form::CoEnabled => (ReorderForm::CoEnabled, WitnessForm::CoEnabled),
        Form::Overtakes => (ReorderForm::Overtakes, WitnessForm::Overtakes),
        Form::Deadlock => unreachable!("no pair of actions"),
    }
}

/// One pair of events.
pub(crate) struct Case<'c> {
    pub(crate) what: String,
    pub(crate) observes: &'c dyn Observes,
    pub(crate) brute: &'c Reorderings,
    pub(crate) pair: (usize, usize),
    /// Whether sections depend on the order of tasks, so that the test checks only the witness.
    pub(crate) is_careless: bool,
}

impl Case<'_> {
    pub(crate) fn check(
        &self,
        answer: &Answer,
        best: Option<&Best>,
        checker: &mut ReorderingChecker<'_>,
        tally: &mut Tally,
    ) {
        let what = &self.what;
        match (answer, best) {
            (Answer::Impossible, None) => tally.impossible += 1,
            (Answer::Unconfirmed(GaveUp::Barrier), None) => tally.doubtful += 1,
            (Answer::Confirmed(witness), Some(best)) => {
                self.check_witness(witness, best, checker, tally);
            }
            (answer, best) => panic!("{answer:?}, but {best:?}: {what}"),
        }
    }

    fn check_witness(
        &self,
        witness: &Witness,
        best: &Best,
        checker: &mut ReorderingChecker<'_>,
        tally: &mut Tally,
    ) {
        let (what, (a, b)) = (&self.what, self.pair);
        let (form, claimed) = claimed(witness.form);
        assert!(self.is_careless || form == best.form, "{witness:?}, but {best:?}: {what}");
        let whole = (0..witness.prefix as usize)
            .chain(witness.order.iter().map(|event| event.index()))
            .collect::<Vec<usize>>();
        assert!(
            self.brute.is_witness(self.observes, &whole, form, (a, b)),
            "{witness:?} breaks {:?}: {what}",
            self.brute.broken(self.observes, &whole, &[a, b])
        );
        let accepted = checker.check(ClaimedWitness {
            form: claimed,
            first: EventId(a as u32),
            second: EventId(b as u32),
            prefix: witness.prefix,
            order: &witness.order,
        });
        assert_eq!(accepted, Ok(()), "{witness:?}: {what}");
        let ends = whole.last() == Some(&a) || witness.form == Form::Overtakes;
        assert!(ends, "ends with the first action: {what}");
        match (witness.shortest, whole.len() == best.run.len()) {
            (true, is_shortest) => {
                assert!(
                    self.is_careless || is_shortest,
                    "{witness:?} is not shortest, {best:?}: {what}"
                );
                tally.shortest += 1;
            }
            (false, true) => tally.not_proved += 1,
            (false, false) => tally.not_shortest += 1,
        }
        if witness.waits {
            self.check_waits(&whole);
            tally.waits += 1;
        }
        let both = || {
            let pairs = BTreeSet::from([(a, b)]);
            let form = Some(ReorderForm::CoEnabled);
            self.brute.best_of(self.observes, &pairs, STATES_MAX, form).expect("few states")
        };
        match witness.together {
            Together::No => {
                assert!(both().is_empty(), "both can be next: {what}");
                tally.apart += 1;
            }
            Together::Yes => {
                assert!(!both().is_empty(), "both cannot be next: {what}");
                tally.together += 1;
            }
            Together::Undecided => tally.undecided += 1,
        }
        *tally.confirmed.entry(witness.form).or_default() += 1;
    }
}

impl Case<'_> {
    /// A call reported to wait for ever could return before the other action, and cannot behind it,
    /// whatever other events come before.
    fn check_waits(&self, whole: &[usize]) {
        let (what, (a, b)) = (&self.what, self.pair);
        let object = self.observes.object(EventId(a as u32));
        let can_return = |run: &[usize]| {
            let of = run.iter().map(|event| EventId(*event as u32));
            let of: Vec<EventId> = of.filter(|e| self.observes.object(*e) == object).collect();
            self.observes.can_return(&of, false)
        };
        let with = |run: &[usize], events: &[usize]| [run, events].concat();
        let before = &whole[..whole.len() - 2];
        assert!(can_return(&with(before, &[a])), "{what}");
        let (mut todo, mut seen) = (vec![before.to_vec()], BTreeSet::new());
        while let Some(run) = todo.pop() {
            let is_served = can_return(&with(&run, &[b])) && can_return(&with(&run, &[b, a]));
            assert!(!is_served, "served by {run:?}: {what}");
            for event in (0..64).filter(|event| *event != a && *event != b && !run.contains(event))
            {
                let longer = with(&run, &[event]);
                let set: BTreeSet<usize> = longer.iter().copied().collect();
                let broken = self.brute.all_broken(self.observes, &run, event, &[]);
                if broken.is_empty() && seen.len() < 2_000 && seen.insert(set) {
                    todo.push(longer);
                }
            }
        }
    }
}

pub(crate) fn check_trace(t: &Trace, what: &str, types: &Types, tally: &mut Tally) {
    let observes = TraceCalls::new(types, t);
    let brute = Reorderings::new(t, &observes);
    let Some(best) = brute.best(&observes, &all_pairs(t), STATES_MAX) else {
        tally.given_up += 1;
        return;
    };
    let mut checker = ReorderingChecker::new(t, &observes, Lanes::Handlers);
    let of_types = anyorder_predict::Types::built_in().expect("they are tested");
    let mut communication = SpecifiedCommunication::new(of_types, t);
    let options = ConfirmOptions { window: 0, ..ConfirmOptions::default() };
    let mut confirmer = Confirmer::new(t, &mut communication, options);
    for (a, b) in all_pairs(t) {
        let answer = confirmer.confirm(EventId(a as u32), EventId(b as u32), &Cancel::new());
        let what = format!("{what}, {a} and {b}:\n{}", show(t));
        let case =
            Case { what, observes: &observes, brute: &brute, pair: (a, b), is_careless: false };
        case.check(&answer, best.get(&(a, b)), &mut checker, tally);
    }
    let is_call = |event: usize| observes.invoked(EventId(event as u32)).is_some();
    for (a, b) in all_pairs(t).into_iter().filter(|(a, b)| is_call(*a) && is_call(*b)) {
        match best.contains_key(&(a, b)) {
            true => tally.invocations.0 += 1,
            false => tally.invocations.1 += 1,
        }
    }
    for invoked in t.events().filter_map(|event| observes.invoked(event.id)) {
        tally.modes.extend(invoked.comm.modes(&invoked.call));
    }
    tally.in_memory += locks_in_memory(t);
    tally.traces += 1;
    tally.kinds.extend(t.events().map(|event| event.kind()));
}

/// The events of locks that lie in memory that was allocated before.
fn locks_in_memory(t: &Trace) -> u64 {
    let tables = t.tables();
    let of_lock = |event: &anyorder_trace::Event| {
        matches!(event.kind(), EventKind::Acquire | EventKind::Release | EventKind::Destroy)
    };
    let is_in = |event: anyorder_trace::Event| {
        let name = tables.locks.get(event.operand as usize);
        let name = name.map_or("", |name| tables.name(*name));
        let at = name.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let mut allocs = t.events().take(event.id.index());
        allocs.any(|alloc| match alloc.location().map(|at| tables.locations[at.index()]) {
            Some(anyorder_trace::Location::Range { address, size, .. }) => {
                let range = address..address + u64::from(size.max(1));
                alloc.kind() == EventKind::Alloc && at.is_some_and(|at| range.contains(&at))
            }
            _ => false,
        })
    };
    t.events().filter(of_lock).filter(|event| is_in(*event)).count() as u64
}

#[test]
fn the_search_finds_what_brute_force_finds() {
    let (types, mut tally) = (Types::new(), Tally::default());
    for seed in anyorder_testkit::effort::sampled(TRACES, 2 * TRACES) {
        let mut rng = RandomSource::new(seed);
        let flavour = Flavour::of(seed);
        let events = 4 + rng.below(if seed % 8 == 0 || flavour.is_guarded() { 10 } else { 6 });
        let t = trace(&mut rng, flavour, events);
        check_trace(&t, &format!("seed {seed}, {flavour:?}"), &types, &mut tally);
    }
    println!("{tally:#?}");
    assert_eq!((tally.confirmed.len(), tally.given_up * 1_000 / tally.traces), (3, 0), "{tally:?}");
    assert!(tally.impossible > 0 && tally.shortest > 0 && tally.kinds.len() == 24, "{tally:?}");
    assert_eq!(tally.modes.len(), Mode::ALL.len(), "{tally:?}");
    assert!(tally.doubtful > 0 && tally.waits > 0 && tally.in_memory > 0, "{tally:?}");
    assert!(tally.invocations.0 > 0 && tally.invocations.1 > 0, "{tally:?}");
}

/// Threads that access a variable between taking and giving back a permit of a semaphore that has
/// one or two.
fn with_permits(rng: &mut RandomSource) -> Trace {
    let mut b = TraceBuilder::new();
    let mut permits = 1 + rng.below(2);
    let call = |b: &mut TraceBuilder, task, method: &str| {
        let invocation = anyorder_trace::Invocation {
            object: b.interner.name("semaphore:s").expect("room"),
            method: b.interner.name(method).expect("room"),
            arguments: Vec::new(),
            result: None,
        };
        let id = b.interner.push_invocation(invocation).expect("room");
        b.push(task, EventKind::Invoke.into(), id.0);
    };
    // By thread, its progress: acquire, one or two accesses, release.
    let mut threads: Vec<(TaskId, usize)> = Vec::new();
    for name in ["S", "T", "U"].into_iter().take(2 + rng.below(2)) {
        let handler = b.handler(name, Mailbox::None).expect("room");
        threads.push((b.initial(handler), 0));
    }
    for _ in 0..9 {
        let at = rng.below(threads.len());
        let (task, step) = threads[at];
        match step {
            0 if permits == 0 => continue,
            0 => {
                permits -= 1;
                call(&mut b, task, "acquire");
            }
            1 | 2 if rng.chance(70) => {
                match rng.below(2) {
                    0 => b.read(task, "x").expect("room"),
                    _ => b.write(task, "x").expect("room"),
                };
            }
            1 | 2 => {}
            _ => {
                permits += 1;
                call(&mut b, task, "release");
            }
        }
        threads[at].1 = (step + 1) % 4;
    }
    b.finish()
}

#[test]
fn what_a_semaphore_keeps_apart_is_apart_by_brute_force() {
    let (types, mut tally) = (Types::new(), Tally::default());
    for seed in 1..=400 {
        let t = with_permits(&mut RandomSource::new(seed));
        check_trace(&t, &format!("seed {seed}"), &types, &mut tally);
    }
    println!("{tally:#?}");
    let confirmed: u64 = tally.confirmed.values().sum();
    assert!(tally.apart > 0 && tally.apart < confirmed && tally.impossible > 0, "{tally:?}");
}

/// With a window, an answer may be missing, but none is wrong.
#[test]
fn a_window_makes_no_wrong_answers() {
    let types = Types::new();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 1..=1_500 {
        let mut rng = RandomSource::new(seed);
        let t = trace(&mut rng, Flavour::of(seed), 10);
        let observes = TraceCalls::new(&types, &t);
        let brute = Reorderings::new(&t, &observes);
        let best = brute.best(&observes, &all_pairs(&t), STATES_MAX).expect("a small trace");
        let of_types = anyorder_predict::Types::built_in().expect("they are tested");
        let mut communication = SpecifiedCommunication::new(of_types, &t);
        let window = 1 + rng.below(3) as u64;
        let options = ConfirmOptions { window, ..ConfirmOptions::default() };
        let mut confirmer = Confirmer::new(&t, &mut communication, options);
        for (a, b) in all_pairs(&t) {
            let answer = confirmer.confirm(EventId(a as u32), EventId(b as u32), &Cancel::new());
            let what = format!("seed {seed}, window {window}, {a} and {b}:\n{}", show(&t));
            let best = best.get(&(a, b));
            let word = match &answer {
                Answer::Impossible => {
                    assert_eq!(best, None, "{what}");
                    "impossible"
                }
                Answer::Unconfirmed(_) if best.is_some() => "missing",
                Answer::Unconfirmed(_) => "not proved",
                Answer::Confirmed(witness) => {
                    let best = best.unwrap_or_else(|| panic!("{witness:?} {what}"));
                    let whole: Vec<usize> = (0..witness.prefix as usize)
                        .chain(witness.order.iter().map(|event| event.index()))
                        .collect();
                    let (form, form_claimed) = claimed(witness.form);
                    assert!(
                        brute.is_witness(&observes, &whole, form, (a, b)),
                        "{witness:?} {what}"
                    );
                    let (first, second) = (EventId(a as u32), EventId(b as u32));
                    let mut checker = ReorderingChecker::new(&t, &observes, Lanes::Handlers);
                    let (prefix, order) = (witness.prefix, witness.order.as_slice());
                    let claim = ClaimedWitness { form: form_claimed, first, second, prefix, order };
                    assert_eq!(checker.check(claim), Ok(()), "{witness:?} {what}");
                    let is_shortest = (form, whole.len()) == (best.form, best.run.len());
                    assert!(is_shortest || !witness.shortest, "{witness:?} {best:?} {what}");
                    if prefix > 0 { "with a prefix" } else { "without" }
                }
            };
            *counts.entry(word).or_default() += 1;
        }
    }
    println!("{counts:?}");
    assert!(counts.len() >= 2, "{counts:?}");
}

/// Without the observations of one mode.
struct Without<'o>(&'o TraceCalls<'o>, Mode);

impl Observes for Without<'_> {
    fn object(&self, event: EventId) -> Option<u32> {
        self.0.object(event)
    }

    fn observed(&self, run: &[EventId]) -> Vec<BTreeMap<u8, BTreeSet<EventId>>> {
        let mut observed = self.0.observed(run);
        observed.iter_mut().for_each(|of_event| drop(of_event.remove(&(self.1 as u8))));
        observed
    }
}

type Found = Vec<((usize, usize), Option<ReorderForm>)>;

/// The number of pairs that brute force answers differently.
fn differences(brute: &Reorderings, observes: &dyn Observes, found: &Found) -> u64 {
    let pairs = found.iter().map(|(pair, _)| *pair).collect();
    let Some(best) = brute.best(observes, &pairs, STATES_MAX) else { return 0 };
    let differs = |(pair, form): &&((usize, usize), Option<ReorderForm>)| {
        best.get(pair).map(|best| best.form) != *form
    };
    found.iter().filter(differs).count() as u64
}

/// A wait that times out, and a signal that only a later section can send, with a lock that keeps
/// the signal behind the wait. Small random traces have no such case.
fn timed_out() -> Trace {
    let mut b = TraceBuilder::new();
    let [one, two] = ["S", "T"].map(|name| {
        let handler = b.handler(name, Mailbox::None).expect("room");
        b.initial(handler)
    });
    let plain = anyorder_trace::Mode::EXCLUSIVE;
    b.acquire(one, "l", plain).expect("room");
    b.write(one, "ready").expect("room");
    b.on_condition(one, EventKind::Wait, "c").expect("room");
    b.release(one, "l", plain).expect("room");
    b.acquire(one, "l", plain).expect("room");
    let name = b.interner.name("c").expect("room");
    let condition = b.interner.condition(name).expect("room");
    let timeout = anyorder_trace::Op::new(EventKind::Wake, anyorder_trace::Mode::TIMEOUT);
    b.push(one, timeout, condition.0);
    b.write(one, "x").expect("room");
    b.release(one, "l", plain).expect("room");
    b.acquire(two, "l", plain).expect("room");
    b.read(two, "ready").expect("room");
    b.on_condition(two, EventKind::Signal, "c").expect("room");
    b.release(two, "l", plain).expect("room");
    b.read(two, "x").expect("room");
    b.finish()
}

/// With a rule left out of brute force, the search must differ from it somewhere.
#[test]
fn the_comparison_with_the_search_notices_each_rule() {
    let types = Types::new();
    let mut noticed: BTreeMap<ReorderRule, u64> = BTreeMap::new();
    let mut modes: BTreeMap<Mode, u64> = BTreeMap::new();
    // Whether it was not noticed yet, or each time counts.
    let is_open = |count: Option<&u64>| counts_all() || count.is_none_or(|count| *count == 0);
    for seed in 0..=900 {
        let mut rules = ReorderRule::ALL.to_vec();
        // Brute force itself ensures that no event happens twice, without that rule.
        rules.retain(|rule| *rule != ReorderRule::Once && is_open(noticed.get(rule)));
        let is_of_calls = Flavour::of(seed) == Flavour::Calls;
        let mut of_calls = Mode::ALL.to_vec();
        of_calls.retain(|mode| is_of_calls && is_open(modes.get(mode)));
        if rules.is_empty() && of_calls.is_empty() {
            continue;
        }
        let mut rng = RandomSource::new(seed);
        let t = if seed == 0 { timed_out() } else { trace(&mut rng, Flavour::of(seed), 8) };
        let observes = TraceCalls::new(&types, &t);
        let of_types = anyorder_predict::Types::built_in().expect("they are tested");
        let mut communication = SpecifiedCommunication::new(of_types, &t);
        let options = ConfirmOptions { window: 0, ..ConfirmOptions::default() };
        let mut confirmer = Confirmer::new(&t, &mut communication, options);
        let mut search = |(a, b): (usize, usize)| match confirmer.confirm(
            EventId(a as u32),
            EventId(b as u32),
            &Cancel::new(),
        ) {
            Answer::Confirmed(witness) => Some(claimed(witness.form).0),
            Answer::Impossible | Answer::Unconfirmed(_) => None,
        };
        let found: Found = all_pairs(&t).into_iter().map(|pair| (pair, search(pair))).collect();
        for rule in rules {
            let mut brute = Reorderings::new(&t, &observes);
            brute.skip(Some(rule));
            *noticed.entry(rule).or_default() += differences(&brute, &observes, &found);
        }
        for mode in of_calls {
            let without = Without(&observes, mode);
            let brute = Reorderings::new(&t, &without);
            *modes.entry(mode).or_default() += differences(&brute, &without, &found);
        }
    }
    println!("{noticed:?} {modes:?}");
    assert_eq!(noticed.len(), ReorderRule::ALL.len() - 1);
    assert!(modes.values().all(|count| *count > 0), "{modes:?}");
    assert!(noticed.values().all(|count| *count > 0), "{noticed:?}");
}
