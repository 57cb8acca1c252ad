//! Compares the reduced search with full search on one thread: from systems on which nothing can be
//! left out to those on which most can. `cargo bench -p anyorder-explore --bench stateful -- NAME
//! THREADS`, each optional.
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use anyorder_explore::stateful::{StatefulOptions, explore};
use anyorder_system::{
    Control, Effects, Hash128, Place, Reducible, StateHash, StateSystem, Successor, TaskKey,
    TouchKind, Touched,
};
use std::num::NonZeroUsize;
use std::time::Instant;

/// The places of a state.
const PLACES: usize = 16;

type State = [u8; PLACES];

/// Events that each count a place of their own, and read and write a place shared with some of the
/// others.
struct Events {
    events: usize,
    /// The limit of each counter.
    rounds: u8,
    /// Whether it starts again.
    endless: bool,
    /// The values of shared places.
    values: u8,
    /// The shared places that an event updates.
    shared: fn(usize) -> std::ops::Range<usize>,
    /// The additional cost of a step, in rounds of hashing.
    work: u32,
}

impl Events {
    fn step(&self, state: &State, event: usize) -> State {
        let mut next = *state;
        next[event] += 1;
        if next[event] == self.rounds && self.endless {
            next[event] = 0;
        }
        for place in (self.shared)(event) {
            let place = self.events + place;
            next[place] = (next[place] + event as u8 + 1) % self.values;
        }
        for round in 0..self.work {
            std::hint::black_box(StateHash::of(&(round, next)));
        }
        next
    }
}

impl StateSystem for Events {
    type State = State;
    type Action = u32;

    fn initial(&self) -> Vec<State> {
        vec![[0; PLACES]]
    }

    fn successors(&self, state: &State, out: &mut Vec<Successor<State, u32>>) {
        for event in (0..self.events).filter(|event| state[*event] < self.rounds) {
            let next = self.step(state, event);
            out.push(Successor { action: event as u32, state: next, failure: None });
        }
    }

    fn fingerprint(&self, state: &State) -> Hash128 {
        StateHash::of_bytes(state)
    }

    fn encode(&self, state: &State, out: &mut Vec<u8>) {
        out.extend_from_slice(state);
    }

    fn decode(&self, bytes: &[u8]) -> Option<State> {
        bytes.try_into().ok()
    }

    fn describe(&self, _state: &State, action: &u32) -> String {
        format!("event {action}")
    }

    fn show(&self, state: &State) -> Vec<(String, String)> {
        vec![("places".to_owned(), format!("{state:?}"))]
    }
}

impl Reducible for Events {
    fn ready(&self, state: &State, out: &mut Vec<TaskKey>) {
        let events = (0..self.events).filter(|event| state[*event] < self.rounds);
        out.extend(events.map(|event| TaskKey(event as u64)));
    }

    fn run(&self, state: &State, task: TaskKey, out: &mut Effects<State, u32>) {
        let event = task.0 as usize;
        let next = self.step(state, event);
        let write = |place: usize| Touched { place: Place(place as u64), kind: TouchKind::Write };
        out.touched.push(write(event));
        out.touched.extend((self.shared)(event).map(|place| write(self.events + place)));
        out.successors.push(Successor { action: event as u32, state: next, failure: None });
    }

    fn awaits(&self, task: TaskKey, out: &mut Vec<Place>) {
        out.push(Place(task.0));
    }

    fn task_name(&self, _state: &State, task: TaskKey) -> String {
        format!("event {}", task.0)
    }

    fn place_name(&self, place: Place) -> String {
        format!("place {}", place.0)
    }
}

fn measure(name: &str, system: &Events) {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|one| !one.starts_with('-')).collect();
    if arguments.first().is_some_and(|wanted| !name.contains(wanted.as_str())) {
        return;
    }
    let threads = arguments.get(1).and_then(|threads| threads.parse().ok());
    let threads = threads.and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MIN);
    let best = |run: &mut dyn FnMut() -> (u64, u64)| {
        let mut best = (f64::MAX, (0, 0));
        for _ in 0..3 {
            let start = Instant::now();
            let counts = run();
            best = (best.0.min(start.elapsed().as_secs_f64()), counts);
        }
        best
    };
    let (full, (states, transitions)) = best(&mut || {
        let options = anyorder_search::SearchOptions { threads, ..Default::default() };
        let stats =
            anyorder_search::search(system, &options, &Control::default()).map(|one| one.stats);
        stats.map_or((0, 0), |stats| (stats.states, stats.transitions))
    });
    let mut last = None;
    let (reduced, _) = best(&mut || {
        let options = StatefulOptions { threads, ..StatefulOptions::default() };
        let outcome = explore(system, &options, &Control::default());
        last = outcome.ok().map(|outcome| outcome.stats);
        (0, 0)
    });
    let Some(stats) = last else { return };
    let per = |seconds: f64, count: u64| seconds * 1e9 / count.max(1) as f64;
    println!(
        "{name:<22} full {states:>8} states {transitions:>9} transitions {full:>7.3} s {:>5.0} ns/state {:>4.0} ns/transition | reduced {:>8} {:>9} ({} executed) \
         {reduced:>7.3} s {:>5.0} ns/state {:>4.0} ns/transition {} B/state | time x{:.2}",
        per(full, states),
        per(full, transitions),
        stats.states,
        stats.transitions,
        stats.executions,
        per(reduced, stats.states),
        per(reduced, stats.transitions),
        stats.bytes_per_state,
        reduced / full,
    );
}

fn main() {
    let base =
        Events { events: 7, rounds: 7, endless: false, values: 2, shared: |_| 0..1, work: 0 };
    measure("all-conflict", &base);
    measure("all-conflict-slow", &Events { work: 10, ..base });
    measure("all-conflict-endless", &Events { endless: true, rounds: 6, ..base });
    measure("two-groups", &Events { shared: |event| event % 2..event % 2 + 1, ..base });
    measure("neighbours", &Events { shared: |event| event..event + 2, rounds: 5, ..base });
    measure(
        "neighbours-slow",
        &Events { shared: |event| event..event + 2, rounds: 5, work: 10, ..base },
    );
    measure("independent", &Events { shared: |_| 0..0, ..base });
}
