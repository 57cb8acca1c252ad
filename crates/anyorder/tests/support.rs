//! Running programs in all of their executions, with the contract checked on the way.

use anyorder::{Program, Setting};
use anyorder_threads::{Act, Ending, Event, LearnOptions, ThreadId, every_execution};
use std::any::Any;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Debug, Formatter};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// The most operations of an execution.
const STEPS_MAX: usize = 2_000;

/// How often threads may spin in vain.
const SPINS_MAX: u32 = 10;

/// The most executions of a program.
const EXECUTIONS_MAX: u64 = 300_000;

/// What a program does, over all of its executions.
#[derive(Debug, Default)]
pub(crate) struct Seen<T> {
    pub(crate) executions: u64,
    /// What was reported in executions that completed.
    pub(crate) outcomes: BTreeSet<T>,
    pub(crate) deadlocks: u64,
    pub(crate) livelocks: u64,
    pub(crate) cut: u64,
    /// The messages of panics.
    pub(crate) panics: BTreeSet<String>,
}

/// An outcome of any type: what runs programs is compiled once, and not for each type.
struct Outcome(Box<dyn Value>);

/// The values of outcomes.
trait Value: Send {
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
    fn compare(&self, other: &dyn Any) -> Ordering;
    fn show(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

impl<T: Ord + Debug + Send + 'static> Value for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<T>) -> Box<dyn Any> {
        self
    }

    fn compare(&self, other: &dyn Any) -> Ordering {
        self.cmp(other.downcast_ref().expect("a program has outcomes of one type"))
    }

    fn show(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(self, f)
    }
}

impl Ord for Outcome {
    fn cmp(&self, other: &Outcome) -> Ordering {
        self.0.compare(other.0.as_any())
    }
}

impl PartialOrd for Outcome {
    fn partial_cmp(&self, other: &Outcome) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Outcome {
    fn eq(&self, other: &Outcome) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Outcome {}

impl Debug for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.show(f)
    }
}

/// The outcomes that an execution reported.
type Told = Arc<Mutex<Vec<Outcome>>>;

fn take(told: &Told) -> Vec<Outcome> {
    std::mem::take(&mut *told.lock().unwrap())
}

/// Returns outcomes as what they are.
fn typed<T: Ord + 'static>(outcomes: impl IntoIterator<Item = Outcome>) -> BTreeSet<T> {
    let value = |outcome: Outcome| outcome.0.into_any().downcast().expect("outcomes have one type");
    outcomes.into_iter().map(|outcome| *value(outcome)).collect()
}

/// Where a program reports what it saw.
pub(crate) struct Report<T>(Told, std::marker::PhantomData<fn(T)>);

impl<T> Clone for Report<T> {
    fn clone(&self) -> Report<T> {
        Report(Arc::clone(&self.0), self.1)
    }
}

impl<T: Ord + Debug + Send + 'static> Report<T> {
    fn new() -> Report<T> {
        Report(Told::default(), std::marker::PhantomData)
    }

    pub(crate) fn tell(&self, outcome: T) {
        // What is told is not part of the program.
        self.0.lock().unwrap().push(Outcome(Box::new(outcome)));
    }
}

/// What a thread did next after what it had seen.
#[derive(Default)]
struct Contract {
    known: HashMap<(u32, Vec<u64>), String>,
}

impl Contract {
    fn note(&mut self, events: &[Event]) {
        let mut seen: HashMap<ThreadId, Vec<u64>> = HashMap::new();
        for event in events {
            let results = seen.entry(event.step.thread).or_default();
            let does = format!("{:?} {:?}", event.op, event.site);
            let key = (event.step.thread.0, results.clone());
            let before = self.known.entry(key).or_insert_with(|| does.clone());
            assert_eq!(
                *before, does,
                "thread {} does two things after the results {results:?}",
                event.step.thread.0
            );
            results.push(event.result);
        }
    }
}

/// Runs a program in all executions. Checks that each thread does a function of what it saw, and
/// that exploration by learning finds the same.
pub(crate) fn explore<T: Ord + Clone + Debug + Send + 'static>(
    f: impl Fn(&Report<T>) + Send + Sync + 'static,
) -> Seen<T> {
    explore_with(Setting::default(), f)
}

pub(crate) fn explore_with<T: Ord + Clone + Debug + Send + 'static>(
    setting: Setting,
    f: impl Fn(&Report<T>) + Send + Sync + 'static,
) -> Seen<T> {
    let report = Report::new();
    let told = Arc::clone(&report.0);
    let seen = explore_program(Program::with(setting, Arc::new(move || f(&report))), &told);
    Seen {
        executions: seen.executions,
        outcomes: typed(seen.outcomes),
        deadlocks: seen.deadlocks,
        livelocks: seen.livelocks,
        cut: seen.cut,
        panics: seen.panics,
    }
}

/// As [`explore_with`]. Compiled once, and not for each program.
fn explore_program(mut program: Program, told: &Told) -> Seen<Outcome> {
    let mut seen = Seen {
        executions: 0,
        outcomes: BTreeSet::new(),
        deadlocks: 0,
        livelocks: 0,
        cut: 0,
        panics: BTreeSet::new(),
    };
    let mut contract = Contract::default();
    let plain = every_execution(&mut program, (STEPS_MAX, SPINS_MAX), |program, events, ending| {
        contract.note(events);
        let outcomes = take(told);
        match ending {
            Ending::Completed => seen.outcomes.extend(outcomes),
            Ending::Deadlock => seen.deadlocks += 1,
            Ending::Livelock => seen.livelocks += 1,
            Ending::StepLimit => seen.cut += 1,
        }
        for event in events {
            if let Act::Fail(number) = event.op.act {
                seen.panics.insert(program.panic(number).expect("it was noted").message);
            }
        }
        let executions = seen.executions + 1;
        seen.executions = executions;
        assert!(executions < EXECUTIONS_MAX, "a program of a test is small");
        ControlFlow::Continue(())
    });
    assert!(plain.complete && !program.has_loose_names() && !program.has_outside_data());
    seen.executions = plain.executions;
    learn(&mut program, told, &seen);
    weakly(&mut program, told, &seen);
    seen
}

/// Explores by learning: it must find the same outcomes and faults.
fn learn(program: &mut Program, told: &Told, seen: &Seen<Outcome>) {
    use anyorder_threads::{Fault, explore_by_learning};
    let options = LearnOptions {
        classes: true,
        steps_max: STEPS_MAX,
        spins_max: SPINS_MAX,
        ..LearnOptions::default()
    };
    let learnt = explore_by_learning(program, &options);
    take(told);
    assert_eq!(learnt.incomplete, None, "{learnt:?}");
    let has = |is: fn(&Fault) -> bool| learnt.faults.iter().any(|found| is(&found.fault));
    assert_eq!(has(|fault| matches!(fault, Fault::Deadlock(_))), seen.deadlocks > 0);
    assert_eq!(has(|fault| matches!(fault, Fault::Livelock(_))), seen.livelocks > 0);
    assert_eq!(has(|fault| matches!(fault, Fault::Failure(_))), !seen.panics.is_empty());
    assert!(learnt.executions <= seen.executions, "{} > {}", learnt.executions, seen.executions);
}

/// Explores under weak memory: what is there in some order is there, too.
fn weakly(program: &mut Program, told: &Told, seen: &Seen<Outcome>) {
    use anyorder_threads::{Fault, Incomplete, WeakOptions, explore_weak};
    let (executions_max, events_max) = (2_000, 2 * STEPS_MAX);
    let options =
        WeakOptions { executions_max, events_max, spins_max: SPINS_MAX, ..WeakOptions::default() };
    take(told);
    let explored = explore_weak(program, &options);
    let told: BTreeSet<Outcome> = take(told).into_iter().collect();
    match &explored.incomplete {
        None => {}
        // Loops that change something in each turn.
        Some(Incomplete::Executions | Incomplete::Steps) => return,
        Some(other) => panic!("{other:?}"),
    }
    assert!(seen.outcomes.is_subset(&told), "{:?} {told:?}", seen.outcomes);
    let has = |is: fn(&Fault) -> bool| explored.faults.iter().any(|found| is(&found.fault));
    assert!(has(|fault| matches!(fault, Fault::Deadlock(_))) || seen.deadlocks == 0);
    assert!(has(|fault| matches!(fault, Fault::Livelock(_))) || seen.livelocks == 0);
    assert!(has(|fault| matches!(fault, Fault::Failure(_))) || seen.panics.is_empty());
}

/// Explores a program by learning alone: for those with too many executions. Returns what its
/// threads reported, and the faults.
pub(crate) fn learnt<T: Ord + Debug + Send + 'static>(
    f: impl Fn(&Report<T>) + Send + Sync + 'static,
) -> (BTreeSet<T>, Vec<anyorder_threads::Fault>) {
    let report = Report::new();
    let told = Arc::clone(&report.0);
    let mut program = Program::new(move || f(&report));
    let options = LearnOptions::default();
    let learnt = anyorder_threads::explore_by_learning(&mut program, &options);
    assert_eq!(learnt.incomplete, None);
    (typed(take(&told)), learnt.faults.into_iter().map(|found| found.fault).collect())
}

/// Returns the outcomes of a program that always ends well.
pub(crate) fn outcomes<T: Ord + Clone + Debug + Send + 'static>(
    f: impl Fn(&Report<T>) + Send + Sync + 'static,
) -> Vec<T> {
    let seen = explore(f);
    assert_eq!((seen.deadlocks, seen.livelocks, seen.cut), (0, 0, 0));
    assert!(seen.panics.is_empty(), "{:?}", seen.panics);
    seen.outcomes.into_iter().collect()
}
