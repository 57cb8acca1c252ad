//! Many runs in little memory: the decisions of each, from which it is made again.

use super::ids::{InvocationNumber, StepId};
use super::run::run_steps;
use super::serial::SerialOutcome;
use super::sim::{INIT, Sim};
use anyorder_system::{AsyncSystem, InterleavedSystem, RunError, Taker};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Runs with the events that happened in them and the memory that they left.
///
/// All their numbers lie in one list: 46,773 runs of a model with eight events took 400 MB as
/// steps with names, and half a second to free.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptRuns {
    /// The variables with the values that they had in some run.
    parts: FxHashMap<(String, String), u32>,
    /// The parts by their numbers.
    names: Vec<(String, String)>,
    numbers: Vec<u32>,
    runs: Vec<Kept>,
}

/// Where the numbers of a run lie: from the end of the run before it on, events, then memory, then
/// decisions.
#[derive(Clone, Copy, Debug)]
struct Kept {
    events: usize,
    memory: usize,
    decisions: usize,
    end: usize,
}

/// Set in the number of a decision that begins an event; otherwise it is an invocation.
const BEGINS: u32 = 1 << 31;

impl KeptRuns {
    /// Adds a run.
    pub(super) fn add<A: AsyncSystem>(
        &mut self,
        system: &A,
        sim: &Sim<A::State>,
        happened: &[u32],
    ) {
        let events = self.numbers.len();
        self.numbers.extend(happened);
        let memory = self.numbers.len();
        for part in system.show(&sim.state) {
            let number = self.part(part);
            self.numbers.push(number);
        }
        let decisions = self.numbers.len();
        self.numbers.push(sim.beginning.alternative);
        for step in &sim.steps {
            let invocation = sim.invocation(step.invocation);
            let event = sim.events[invocation.event.index()];
            let begins =
                step.number == 0 && event.event != INIT && event.invocation == step.invocation;
            let taker = if begins { event.event | BEGINS } else { step.invocation.0 };
            self.numbers.extend([taker, step.alternative]);
        }
        self.runs.push(Kept { events, memory, decisions, end: self.numbers.len() });
    }

    fn part(&mut self, part: (String, String)) -> u32 {
        let next = self.names.len() as u32;
        *self.parts.entry(part).or_insert_with_key(|part| {
            self.names.push(part.clone());
            next
        })
    }

    fn of(&self, range: Range<usize>) -> &[u32] {
        &self.numbers[range]
    }

    /// Returns the run of the same events whose memory differs in the fewest variables, the one
    /// with the least order of events among these; any run if none is of the same events.
    pub(super) fn nearest(&self, memory: &[(String, String)], happened: &[u32]) -> Option<usize> {
        let mut happened = happened.to_vec();
        happened.sort_unstable();
        let wanted: Vec<Option<u32>> =
            memory.iter().map(|part| self.parts.get(part).copied()).collect();
        let key = |at: &usize| {
            let run = self.runs[*at];
            let order = self.of(run.events..run.memory);
            let mut events = order.to_vec();
            events.sort_unstable();
            let parts = self.of(run.memory..run.decisions);
            let same = parts.iter().filter(|part| wanted.contains(&Some(**part))).count();
            let length = parts.len().max(memory.len());
            (events != happened, length - same, order.to_vec())
        };
        (0..self.runs.len()).min_by_key(key)
    }

    /// Makes a run again. `None` if the program has no such run.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot begin, and if the job is stopped.
    pub(super) fn outcome<A: InterleavedSystem>(
        &self,
        system: &mut A,
        at: usize,
    ) -> Result<Option<SerialOutcome>, RunError> {
        let kept = self.runs[at];
        let Some(sim) = again(system, self.of(kept.decisions..kept.end))? else { return Ok(None) };
        let order: Vec<StepId> = (0..sim.steps.len()).map(StepId::at).collect();
        let memory = self.of(kept.memory..kept.decisions).iter();
        Ok(Some(SerialOutcome {
            events: self.of(kept.events..kept.memory).to_vec(),
            run: run_steps(&*system, &sim, &order),
            memory: memory.map(|part| self.names[*part as usize].clone()).collect(),
        }))
    }
}

/// Takes decisions again.
fn again<A: InterleavedSystem>(
    system: &mut A,
    decisions: &[u32],
) -> Result<Option<Sim<A::State>>, RunError> {
    let Some((first, steps)) = decisions.split_first() else { return Ok(None) };
    let beginnings = system.begin()?;
    let mut all = Sim::all(&*system, beginnings).into_iter();
    let Some(mut sim) = all.find(|one| one.beginning.alternative == *first) else {
        return Ok(None);
    };
    for step in steps.chunks_exact(2) {
        let (who, alternative) = (step[0], step[1]);
        let taker = match who & BEGINS {
            0 => Taker::Invocation(sim.invocation(InvocationNumber(who)).id),
            _ => Taker::Event(who & !BEGINS),
        };
        let ran = system.take(&sim.state, taker)?;
        let Some(step) = ran.get(alternative as usize) else { return Ok(None) };
        sim = match taker {
            Taker::Event(event) => sim.start(&*system, event, (alternative, step)),
            Taker::Invocation(_) => sim.take(&*system, InvocationNumber(who), alternative, step),
        };
    }
    Ok(Some(sim))
}
