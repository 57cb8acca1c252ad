//! What is decided of a model, each part with its own answer (`docs/robustness.md`, "The verdict").
//!
//! The search of all states alone decides whether the model is robust. The properties of conflicts
//! are refuted by pivots or by an enumeration, and proved only by the enumeration.

use super::alone::alone;
use super::history::{Breach, Rerun, rerun, rerun_by};
use super::mirror::places;
use super::options::Options;
use super::overlap::{Exhaustive, cycle};
use super::pivot::{Checked, Property, Violation, check};
use super::run::RunStep;
use super::serial::SerialOutcomes;
use super::sim::INIT;
use super::states::{Searched, Views, diverging};
use anyorder_system::{Control, HandlerOrder, InterleavedSystem, RunError, StateSystem, Successor};
use std::collections::{BTreeMap, BTreeSet};

/// The number of `init` among the events of violations.
pub const INIT_EVENT: u32 = INIT;

/// An answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Answer {
    /// Proved.
    Yes,
    /// Refuted by a run.
    No,
    /// The search was cut.
    #[default]
    Unknown,
}

impl Answer {
    /// Returns its word in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Answer::Yes => "yes",
            Answer::No => "no",
            Answer::Unknown => "unknown",
        }
    }
}

/// What is decided of the conflicts of a model.
#[derive(Clone, Debug, Default)]
pub struct Conflicts {
    /// For each event whether it is deterministic; `init` is [`INIT_EVENT`].
    pub deterministic: BTreeMap<u32, Answer>,
    /// Whether all runs are conflict-serializable.
    pub serializable: Answer,
    /// Whether they are in an order in which events may start.
    pub start_order: Answer,
    /// The violations, each with one run or several: the first shows it best.
    pub violations: Vec<Vec<Violation>>,
    /// What the search of pivots did.
    pub pivots: Checked,
}

impl Conflicts {
    /// Returns whether all events are deterministic.
    #[must_use]
    pub fn all_deterministic(&self) -> Answer {
        let has = |answer: Answer| self.deterministic.values().any(|one| *one == answer);
        match (has(Answer::No), has(Answer::Unknown)) {
            (true, _) => Answer::No,
            (false, true) => Answer::Unknown,
            (false, false) => Answer::Yes,
        }
    }
}

/// The outcomes of serial runs, and the search of all states; none without a first state.
pub type Outcomes<S> =
    (SerialOutcomes, Option<Searched<<S as StateSystem>::State, <S as StateSystem>::Action>>);

/// A run, and the violations that it shows.
pub type ShownRun = (Vec<RunStep>, Vec<Violation>);

/// Decides the outcomes: all serial runs, and all states. `machine` is the same program as states.
///
/// # Errors
///
/// Fails if the program cannot begin. A job that is stopped is no error: then something is open.
pub fn outcomes<A: InterleavedSystem, S: StateSystem>(
    system: &mut A,
    machine: &S,
    views: &Views<'_, S>,
    options: &Options,
    control: &Control<'_>,
) -> Result<Outcomes<S>, RunError> {
    let serial = SerialOutcomes::of(system, options, control)?;
    let none = vec![0; system.events().len()];
    let limits = (options.max_states, control);
    let searched = machine
        .initial()
        .into_iter()
        .next()
        .map(|start| diverging(machine, (start, none), views, &serial, limits));
    Ok((serial, searched))
}

/// Decides the properties of conflicts. `pivots` says whether events end: if some do not, the
/// search of pivots would not either, and is left out.
///
/// # Errors
///
/// Fails if the program cannot begin. A job that is stopped is no error: then something is open.
pub fn conflicts<A: InterleavedSystem>(
    system: &mut A,
    options: &Options,
    pivots: bool,
    control: &Control<'_>,
) -> Result<Conflicts, RunError> {
    let init_posts = system.begin()?.iter().any(|init| !init.posted.is_empty());
    let delayed = system.handlers().iter().any(|one| one.order == HandlerOrder::Delayed);
    let unknown = init_posts || delayed || system.posts_to_the_front();
    let pivots = match pivots && !unknown {
        true => check(system, options, control)?,
        false => Checked::default(),
    };
    let mut events: Vec<u32> = (0..system.events().len() as u32).collect();
    if init_posts {
        events.push(INIT);
    }
    let mut job = Job {
        system,
        options,
        control,
        conflicts: Conflicts {
            deterministic: events.into_iter().map(|event| (event, Answer::Unknown)).collect(),
            serializable: Answer::Unknown,
            start_order: Answer::Unknown,
            violations: grouped(&pivots.violations),
            pivots,
        },
    };
    job.refuted();
    for part in 0..3 {
        let done = match part {
            0 => job.determinism(),
            1 => job.serializability(),
            _ => job.start_order(init_posts),
        };
        match done {
            Ok(()) | Err(RunError::Stopped(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let mut conflicts = job.conflicts;
    // A cycle is listed once: with the order of starts only if it needs that.
    let cycles = |one: &Violation| one.property == Property::Serializability;
    let known: BTreeSet<String> = conflicts
        .violations
        .iter()
        .filter(|runs| cycles(&runs[0]))
        .map(|runs| runs[0].places.clone())
        .collect();
    let again =
        |one: &Violation| one.property == Property::StartOrder && known.contains(&one.places);
    conflicts.violations.retain(|runs| !again(&runs[0]));
    Ok(conflicts)
}

/// Puts the runs of each violation together.
fn grouped(violations: &[Violation]) -> Vec<Vec<Violation>> {
    let mut groups: Vec<Vec<Violation>> = Vec::new();
    for one in violations {
        let group = groups.iter_mut().find(|group| is_same(&group[0], one));
        match group {
            Some(group) => group.push(one.clone()),
            None => groups.push(vec![one.clone()]),
        }
    }
    groups
}

fn is_same(a: &Violation, b: &Violation) -> bool {
    let event = a.property != Property::Determinism || a.event == b.event;
    a.property == b.property && event && a.places == b.places
}

struct Job<'a, 'c, A: InterleavedSystem> {
    system: &'a mut A,
    options: &'a Options,
    control: &'a Control<'c>,
    conflicts: Conflicts,
}

impl<A: InterleavedSystem> Job<'_, '_, A> {
    /// Notes what the violations found so far refute.
    fn refuted(&mut self) {
        let conflicts = &mut self.conflicts;
        for runs in &conflicts.violations {
            match runs[0].property {
                Property::Determinism => {
                    conflicts.deterministic.insert(runs[0].event, Answer::No);
                }
                Property::Serializability => {
                    (conflicts.serializable, conflicts.start_order) = (Answer::No, Answer::No);
                }
                Property::StartOrder => conflicts.start_order = Answer::No,
            }
        }
    }

    fn determinism(&mut self) -> Result<(), RunError> {
        if self.conflicts.deterministic.values().all(|one| *one == Answer::No) {
            return Ok(());
        }
        let found = alone(self.system, self.options, self.control)?;
        for (event, (beginning, taken)) in &found.failing {
            if self.conflicts.deterministic.get(event) == Some(&Answer::No) {
                continue;
            }
            if let Some(again) = rerun(self.system, *beginning, taken)? {
                self.add(&again, |one| {
                    one.property == Property::Determinism && one.event == *event
                });
            }
        }
        if found.complete {
            let open = self.conflicts.deterministic.values_mut();
            open.filter(|one| **one == Answer::Unknown).for_each(|one| *one = Answer::Yes);
        }
        Ok(())
    }

    fn serializability(&mut self) -> Result<(), RunError> {
        if self.conflicts.serializable == Answer::No {
            return Ok(());
        }
        match cycle(self.system, self.options, false, self.control)? {
            Exhaustive::Never => self.conflicts.serializable = Answer::Yes,
            Exhaustive::Cut => {}
            Exhaustive::Violated(beginning, taken) => {
                if let Some(again) = rerun(self.system, beginning, &taken)? {
                    self.add(&again, |one| one.property == Property::Serializability);
                }
            }
        }
        Ok(())
    }

    fn start_order(&mut self, init_posts: bool) -> Result<(), RunError> {
        if self.conflicts.start_order == Answer::No {
            return Ok(());
        }
        let free =
            |one: &anyorder_system::EventInfo| one.after.is_empty() && one.started.is_empty();
        if !init_posts && self.system.events().iter().all(free) {
            self.conflicts.start_order = self.conflicts.serializable;
            return Ok(());
        }
        match cycle(self.system, self.options, true, self.control)? {
            Exhaustive::Never => self.conflicts.start_order = Answer::Yes,
            Exhaustive::Cut => {}
            Exhaustive::Violated(beginning, taken) => {
                if let Some(again) = rerun(self.system, beginning, &taken)? {
                    self.add(&again, |one| one.property != Property::Determinism);
                }
            }
        }
        Ok(())
    }

    /// Adds the wanted violation that a run shows last.
    fn add(&mut self, again: &Rerun, wanted: impl Fn(&Breach) -> bool) {
        let breaches = again.history.breaches(&*self.system);
        if let Some(breach) = breaches.iter().rev().find(|one| wanted(one)) {
            let violation = violation(again, breach, true);
            self.conflicts.violations.push(vec![violation]);
            self.refuted();
        }
    }
}

/// Makes the violation of a run. With `cut`, the run ends with the pivot.
fn violation(again: &Rerun, breach: &Breach, cut: bool) -> Violation {
    let (run, offset, by_init) = (&*again.run, again.offset, again.history.by_init());
    let pivot = breach.pivot + offset;
    let place = |at: usize| (task_of(&run[at]), &*run[at].accesses);
    let root = breach.root.map(|root| place(root + offset)).unwrap_or(("init", by_init));
    let end = if cut { pivot + 1 } else { run.len() };
    Violation {
        property: breach.property,
        event: breach.event,
        places: places(place(pivot), root),
        run: run[..end].to_vec(),
        root: breach.root.map_or(0, |root| root + offset),
        pivot,
        by_init: breach.root.is_none().then(|| by_init.to_vec()),
    }
}

fn task_of(step: &RunStep) -> &str {
    &step.invocation.segment().kind
}

/// Returns a run of the machine as a run of the program, with the violations that it shows, in the
/// order of their pivots: each with the whole run. `None` if the program does not repeat it.
///
/// # Errors
///
/// Fails if the program cannot begin, and if the job is stopped.
pub fn shown_by<A: InterleavedSystem, S: StateSystem<Action: PartialEq>>(
    system: &mut A,
    machine: &S,
    views: &Views<'_, S>,
    actions: &[S::Action],
) -> Result<Option<ShownRun>, RunError> {
    let Some(mut state) = machine.initial().into_iter().next() else { return Ok(None) };
    // The event, the state and the failure of each step.
    let mut wanted = Vec::new();
    let mut successors: Vec<Successor<S::State, S::Action>> = Vec::new();
    for action in actions {
        machine.successors(&state, &mut successors);
        let Some(next) = successors.drain(..).find(|next| next.action == *action) else {
            return Ok(None);
        };
        let fingerprint = machine.fingerprint(&next.state);
        let failure = next.failure.map(|failure| failure.to_string());
        wanted.push(((views.started)(action), fingerprint, failure));
        state = next.state;
    }
    // The first step may be `init`.
    let mut begins: Vec<(u32, usize)> = vec![(0, 0)];
    if system.init_is_step() {
        let Some((_, first, _)) = wanted.first() else { return Ok(None) };
        let all = (0..).zip(system.begin()?);
        begins = all
            .filter(|(_, init)| system.fingerprint(&init.state) == *first)
            .map(|(number, _)| (number, 1))
            .collect();
    }
    for (beginning, skipped) in begins {
        let mut left = wanted[skipped..].iter();
        let mut lost = false;
        let again = rerun_by(system, beginning, |system, steps| {
            let (event, state, failure) = left.next()?;
            let found = steps.iter().position(|next| {
                // Several steps may fail here, each in its own way.
                let text = next.step.failure.as_ref().map(ToString::to_string);
                next.event == *event
                    && text == *failure
                    && (text.is_some() || system.fingerprint(&next.step.state) == *state)
            });
            lost |= found.is_none();
            found
        })?;
        let Some(again) = again.filter(|_| !lost) else { continue };
        let breaches = again.history.breaches(&*system);
        let violations = breaches.iter().map(|one| violation(&again, one, false)).collect();
        return Ok(Some((again.run, violations)));
    }
    Ok(None)
}
