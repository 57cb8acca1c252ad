//! The outcomes of serial runs (`docs/robustness.md`, "Outcomes").

use super::ids::InvocationNumber;
use super::kept::KeptRuns;
use super::options::Options;
use super::overlap::mix;
use super::run::RunStep;
use super::sim::{INIT, Next, SHORT, Sim};
use anyorder_system::{
    AsyncSystem, Control, Failure, Hash128, InterleavedSystem, InvocationStep, RunError, Taker,
    WaitPlace,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A global state that the events reach one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SerialOutcome {
    /// The events, in their order.
    pub events: Vec<u32>,
    /// The run.
    pub run: Vec<RunStep>,
    /// The shared memory: names and values.
    pub memory: Vec<(String, String)>,
}

/// The outcomes of all runs in which events run one after another, each with all its tasks, in the
/// reference order (`R_s`, section 3.3).
///
/// Tens of thousands are common. Of each its key is kept, its memory as numbers, and the decisions
/// of its run, which is made again when it is shown.
#[derive(Clone, Debug, Default)]
pub struct SerialOutcomes {
    keys: FxHashSet<Hash128>,
    kept: KeptRuns,
    /// The failures of serial runs.
    failures: BTreeSet<Failure>,
    /// Where serial runs get stuck.
    pub stuck: BTreeSet<WaitPlace>,
    /// Whether these are all.
    pub complete: bool,
    /// Whether some serial run has more than its beginning, and ends or gets stuck.
    pub ends: bool,
}

/// Returns the key of an outcome: the memory, and how often each event happened.
fn key(memory: Hash128, happened: &[u8]) -> Hash128 {
    Hash128(happened.iter().fold(memory.0, |hash, count| mix(hash, u128::from(*count))))
}

impl SerialOutcomes {
    /// Runs the events in all orders that the program allows. A job that is stopped is no error:
    /// the outcomes are then not complete.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot begin.
    pub fn of<A: InterleavedSystem>(
        system: &mut A,
        options: &Options,
        control: &Control<'_>,
    ) -> Result<SerialOutcomes, RunError> {
        let mut found = SerialOutcomes::default();
        match found.search(system, options, control) {
            Ok(complete) => found.complete = complete && control.check().is_ok(),
            Err(RunError::Stopped(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(found)
    }

    /// Returns whether nothing was cut.
    fn search<A: InterleavedSystem>(
        &mut self,
        system: &mut A,
        options: &Options,
        control: &Control<'_>,
    ) -> Result<bool, RunError> {
        let mut seen: FxHashSet<Hash128> = FxHashSet::default();
        let beginnings = system.begin()?;
        self.note_failures(&beginnings);
        let mut open: Vec<Sim<A::State>> = Sim::all(&*system, beginnings);
        open.reverse();
        let mut work = 0;
        while let Some(sim) = open.pop() {
            if control.check().is_err() || work > options.max_states as u64 {
                return Ok(false);
            }
            if !seen.insert(state_key(&*system, &sim)) {
                continue;
            }
            work += 1 + (sim.todo.len() / SHORT) as u64;
            let at = open.len();
            match sim.next(&*system) {
                Next::Begin(invocation) | Next::Continue(invocation) => {
                    self.go_on(system, sim, invocation, &mut open)?;
                }
                Next::Over => self.over(system, &sim, options, &mut open)?,
            }
            open[at..].reverse();
        }
        Ok(true)
    }

    /// Takes the next step of an event.
    fn go_on<A: InterleavedSystem>(
        &mut self,
        system: &mut A,
        sim: Sim<A::State>,
        invocation: InvocationNumber,
        open: &mut Vec<Sim<A::State>>,
    ) -> Result<(), RunError> {
        let id = sim.invocation(invocation).id;
        let ran = system.take(&sim.state, Taker::Invocation(id))?;
        if ran.is_empty()
            && let Some(place) = system.waits_at(&sim.state, id)
        {
            self.stuck.insert(place);
        }
        self.ends |= ran.is_empty();
        self.note_failures(&ran);
        let possible: Vec<(u32, &InvocationStep<A::State>)> =
            (0..).zip(&ran).filter(|(_, step)| step.failure.is_none()).collect();
        let Some(((alternative, step), others)) = possible.split_last() else { return Ok(()) };
        for (alternative, step) in others {
            open.push(sim.clone().take(&*system, invocation, *alternative, step));
        }
        // A long run is not copied for its only alternative.
        open.push(sim.take(&*system, invocation, *alternative, step));
        Ok(())
    }

    /// Notes the outcome between two events, and begins the next one.
    fn over<A: InterleavedSystem>(
        &mut self,
        system: &mut A,
        sim: &Sim<A::State>,
        options: &Options,
        open: &mut Vec<Sim<A::State>>,
    ) -> Result<(), RunError> {
        let events: Vec<u32> =
            sim.events.iter().map(|one| one.event).filter(|event| *event != INIT).collect();
        self.ends |= !sim.events.is_empty();
        let happened = happened(&*system, sim);
        if self.keys.insert(key(system.memory(&sim.state), &happened)) {
            self.kept.add(&*system, sim, &events);
        }
        for event in 0..system.events().len() as u32 {
            let info = &system.events()[event as usize];
            let most = if info.once { 1 } else { options.repeat };
            let mut wanted = info.started.iter().chain(&info.after);
            if u32::from(happened[event as usize]) >= most
                || !wanted.all(|other| events.contains(other))
            {
                continue;
            }
            let ran = system.take(&sim.state, Taker::Event(event))?;
            self.note_failures(&ran);
            for (alternative, step) in (0..).zip(&ran) {
                if step.failure.is_none() {
                    open.push(sim.clone().start(&*system, event, (alternative, step)));
                }
            }
        }
        Ok(())
    }

    fn note_failures<S>(&mut self, ran: &[InvocationStep<S>]) {
        let failures = ran.iter().filter_map(|step| step.failure.as_ref());
        self.ends |= ran.iter().any(|step| step.failure.is_some());
        self.failures.extend(failures.cloned());
    }

    /// Returns whether a global state, after these events, is one of them.
    #[must_use]
    pub fn contains(&self, memory: Hash128, happened: &[u8]) -> bool {
        self.keys.contains(&key(memory, happened))
    }

    /// Returns whether some serial run fails like this.
    #[must_use]
    pub fn fails(&self, failure: &Failure) -> bool {
        self.failures.contains(failure)
    }

    /// Returns the number of global states.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the outcome of the same events that differs from a memory in the fewest variables;
    /// any outcome if none is of the same events. `happened` has the events in any order. `system`
    /// is the program that the outcomes are of.
    ///
    /// # Errors
    ///
    /// Fails if the run cannot be made again, as when the job is stopped.
    pub fn nearest<A: InterleavedSystem>(
        &self,
        system: &mut A,
        memory: &[(String, String)],
        happened: &[u32],
    ) -> Result<Option<SerialOutcome>, RunError> {
        let Some(at) = self.kept.nearest(memory, happened) else { return Ok(None) };
        self.kept.outcome(system, at)
    }
}

/// Returns how often each event has happened.
fn happened<A: AsyncSystem>(system: &A, sim: &Sim<A::State>) -> Vec<u8> {
    let mut happened = vec![0; system.events().len()];
    for one in sim.events.iter().filter(|one| one.event != INIT) {
        happened[one.event as usize] += 1;
    }
    happened
}

/// Returns a hash of a state, with the order in which its tasks go on.
fn state_key<A: AsyncSystem>(system: &A, sim: &Sim<A::State>) -> Hash128 {
    let mut hash = key(system.memory(&sim.state), &happened(system, sim)).0;
    let mut add = |number: u128| hash = mix(hash, number);
    if sim.todo.is_empty() && sim.current.is_none() {
        return Hash128(hash);
    }
    let content: FxHashMap<_, _> = system.live(&sim.state).into_iter().collect();
    for one in sim.todo.iter().chain(&sim.current) {
        let one = sim.invocation(*one);
        add(content.get(&one.id).map_or(0, |content| content.0));
        let lane = match one.lane {
            anyorder_system::Lane::Handler(handler) => u128::from(handler) + 1,
            anyorder_system::Lane::Own => 0,
        };
        add((u128::from(one.due.saturating_sub(sim.clock)) << 64)
            | (lane << 1)
            | u128::from(one.front));
    }
    // The order of the posts.
    let mut posts: Vec<usize> = (0..sim.todo.len()).collect();
    posts.sort_by_key(|at| sim.todo[*at]);
    posts.into_iter().for_each(|at| add(at as u128));
    add(sim.current.map_or(0, |_| sim.place as u128 + 1));
    Hash128(hash)
}
