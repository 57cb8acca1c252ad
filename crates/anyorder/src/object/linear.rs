//! Whether the calls of a type seem to happen at once, one after another.

use super::Sequential;
use crate::check::Builder;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::thread;
use std::collections::HashSet;
use std::fmt::Write;
use std::marker::PhantomData;

/// Compares a type with a model: runs scenarios of calls by several threads in all of their
/// executions, and finds for each an order of the calls in which the model answers the same. A call
/// that returned before another one began comes before it (M. Herlihy, J. Wing,
/// "Linearizability: a correctness condition for concurrent objects", TOPLAS 1990).
///
/// ```should_panic
/// use anyorder::object::{Linearizable, ready};
/// use anyorder::sync::atomic::{AtomicI64, Ordering::SeqCst};
///
/// // Adds in two steps, so that an addition may be lost.
/// Linearizable::<ready::Counter>::new().check(
///     || AtomicI64::new(0),
///     |count, call| {
///         let old = count.load(SeqCst);
///         match call.method {
///             "add" => count.store(old + call.arguments[0], SeqCst),
///             _ => return ready::Answer::Int(old),
///         }
///         ready::Answer::Null
///     },
/// );
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is checked until `check` is called"]
pub struct Linearizable<M> {
    threads: usize,
    calls: usize,
    builder: Builder,
    model: PhantomData<M>,
}

/// How much was run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ran {
    /// The scenarios.
    pub scenarios: u64,
    /// The executions of all of them.
    pub executions: u64,
}

/// A call that returned.
#[derive(Clone, Debug, Hash)]
struct Done<M: Sequential> {
    call: M::Call,
    answer: M::Answer,
    /// The calls that had returned when it began.
    before: u64,
}

impl<M: Sequential> Default for Linearizable<M> {
    fn default() -> Linearizable<M> {
        Linearizable { threads: 2, calls: 2, builder: Builder::new(), model: PhantomData }
    }
}

impl<M: Sequential> Linearizable<M> {
    /// Makes a comparison of two threads with two calls each.
    pub fn new() -> Linearizable<M> {
        Linearizable::default()
    }

    /// Sets the number of threads.
    pub fn threads(mut self, threads: usize) -> Linearizable<M> {
        self.threads = threads.max(1);
        self
    }

    /// Sets the most calls of a thread.
    pub fn calls(mut self, calls: usize) -> Linearizable<M> {
        self.calls = calls.max(1);
        self
    }

    /// Sets how each scenario is checked.
    pub fn with(mut self, builder: Builder) -> Linearizable<M> {
        self.builder = builder;
        self
    }

    /// Runs the scenarios, the smaller ones first: all in which each thread makes as many calls as
    /// the others. Their number grows with the calls of the model to the power of all calls.
    ///
    /// # Panics
    ///
    /// If some execution is not linearizable, with the scenario and what each call returned; or
    /// fails, or was not complete. If there are more than 64 calls in all.
    #[track_caller]
    pub fn check<T: Send + Sync + 'static>(
        self,
        new: impl Fn() -> T + Clone + Send + Sync + 'static,
        call: impl Fn(&T, &M::Call) -> M::Answer + Clone + Send + Sync + 'static,
    ) -> Ran {
        assert!(self.threads * self.calls <= 64, "at most 64 calls in all");
        let mut ran = Ran::default();
        for calls in 1..=self.calls {
            for scenario in scenarios::<M>(self.threads, calls) {
                let (new, call) = (new.clone(), call.clone());
                let told = describe::<M>(&scenario);
                let body = move || run::<M, T>(&scenario, &new, &call);
                let summary = self.builder.clone().explore(body);
                ran.scenarios += 1;
                ran.executions += summary.executions;
                assert!(summary.is_ok(), "with threads that call\n{told}{summary}");
            }
        }
        ran
    }
}

/// What each thread calls, in all ways that differ by more than the order of the threads.
fn scenarios<M: Sequential>(threads: usize, calls: usize) -> Vec<Vec<Vec<M::Call>>> {
    let mut scripts: Vec<Vec<M::Call>> = vec![Vec::new()];
    for _ in 0..calls {
        let longer = |script: &Vec<M::Call>| {
            let script = script.clone();
            M::calls().into_iter().map(move |call| [script.clone(), vec![call]].concat())
        };
        scripts = scripts.iter().flat_map(longer).collect();
    }
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..threads {
        let longer = |chosen: &Vec<usize>| {
            let (chosen, from) = (chosen.clone(), chosen.last().copied().unwrap_or(0));
            (from..scripts.len()).map(move |next| [chosen.clone(), vec![next]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    let of = |chosen: Vec<usize>| chosen.into_iter().map(|at| scripts[at].clone()).collect();
    all.into_iter().map(of).collect()
}

fn describe<M: Sequential>(scenario: &[Vec<M::Call>]) -> String {
    let mut told = String::new();
    for (thread, script) in scenario.iter().enumerate() {
        let _ = writeln!(told, "  thread {}: {script:?}", thread + 1);
    }
    told
}

/// One execution of a scenario.
fn run<M: Sequential, T: Send + Sync + 'static>(
    scenario: &[Vec<M::Call>],
    new: &(impl Fn() -> T + Clone + Send + Sync + 'static),
    call: &(impl Fn(&T, &M::Call) -> M::Answer + Clone + Send + Sync + 'static),
) {
    let shared = Arc::new((new(), AtomicU64::new(0)));
    let mut first = 0;
    let mut threads = Vec::new();
    for script in scenario {
        let (shared, call, script) = (Arc::clone(&shared), call.clone(), script.clone());
        let numbers = first..first + script.len();
        first += script.len();
        threads.push(thread::spawn(move || {
            let (object, returned) = &*shared;
            let one = |(number, one): (usize, M::Call)| {
                let before = returned.load(Ordering::SeqCst);
                let answer = call(object, &one);
                returned.fetch_or(1 << number, Ordering::SeqCst);
                Done::<M> { call: one, answer, before }
            };
            numbers.zip(script).map(one).collect::<Vec<_>>()
        }));
    }
    let histories: Vec<Vec<Done<M>>> =
        threads.into_iter().map(|thread| thread.join().expect("a thread that ends")).collect();
    let all: Vec<Done<M>> = histories.iter().flatten().cloned().collect();
    let is_linear = M::initial().into_iter().any(|state| {
        let mut seen = HashSet::new();
        order_from(&all, 0, &state, &mut seen)
    });
    assert!(is_linear, "not linearizable:\n{}", histories_told::<M>(&histories));
}

/// Whether the calls that are left can follow in some order.
fn order_from<M: Sequential>(
    all: &[Done<M>],
    done: u64,
    state: &M,
    seen: &mut HashSet<(u64, M)>,
) -> bool {
    if done.count_ones() as usize == all.len() {
        return true;
    }
    if !seen.insert((done, state.clone())) {
        return false;
    }
    all.iter().enumerate().any(|(at, next)| {
        let is_next = done & 1 << at == 0 && next.before & !done == 0;
        let fits = |(after, answer): &(M, M::Answer)| {
            *answer == next.answer && order_from(all, done | 1 << at, after, seen)
        };
        is_next && state.call(&next.call).iter().any(fits)
    })
}

fn histories_told<M: Sequential>(histories: &[Vec<Done<M>>]) -> String {
    let mut told = String::new();
    let mut number = 0;
    for (thread, history) in histories.iter().enumerate() {
        let _ = write!(told, "  thread {}:", thread + 1);
        for done in history {
            let after: Vec<u32> =
                (0..64).filter(|bit| done.before & 1 << bit != 0).map(|bit| bit + 1).collect();
            number += 1;
            let _ = write!(told, " [{number}] {:?} -> {:?}", done.call, done.answer);
            if !after.is_empty() {
                let _ = write!(told, " (begins after the end of {after:?})");
            }
            told.push(';');
        }
        told.push('\n');
    }
    told
}
