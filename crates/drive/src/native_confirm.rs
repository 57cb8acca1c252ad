//! Second runs of native programs, in which a predicted order is made to happen.
//!
//! [`Planner`] makes the plans for a finding, by its witness. The front end runs the program under
//! it ([`rerun`]), and [`note`] writes into the finding what came of that.

mod stored;

use crate::failure::Failure;
use crate::native_run::RecordedRun;
use crate::predict::StoredWitness;
use crate::trace_input::TraceInput;
use anyorder_certify::Names;
use anyorder_finding::{ExplanationStep, Finding, Reproduced, Reproduction};
use anyorder_native::plan::{Closeness, Goal, GoalEnd, Operations, plan};
pub use anyorder_native::plan::{NoPlan, Planned};
pub use anyorder_native::rerun::{
    Answer, Harm, Limits, Missed, Rerun, keep_fresh, prepare, rerun, watch,
};
use anyorder_predict::{
    Answer as Tried, ConfirmOptions, Confirmer, Form, SpecifiedCommunication, Types,
};
use anyorder_system::Control;
use anyorder_trace::{
    EventId, EventKind, Handler, HandlerId, Problems, SiteId, TaskDef, TaskId, Trace,
};
pub use stored::{PlannedProgram, StoredPlan, hash_of_program};

/// A recorded run, ready to make plans for its findings.
#[derive(Debug)]
pub struct Planner<'r> {
    trace: &'r Trace,
    operations: Operations<'r>,
    names: Names<'r>,
}

/// A witness, as events.
struct Way {
    actions: Vec<EventId>,
    form: Form,
    prefix: u32,
    order: Vec<EventId>,
}

impl<'r> Planner<'r> {
    /// Names the operations of a run. Linear in the recording.
    #[must_use]
    pub fn new(run: &'r RecordedRun<'_>) -> Planner<'r> {
        let trace = &run.input.trace;
        let operations = Operations::new(run.recording, trace, &run.origins);
        Planner { trace, operations, names: Names::new(trace) }
    }

    /// Makes plans for a finding, the closest to its witness first, each once; none if it has no
    /// witness.
    ///
    /// # Errors
    ///
    /// Fails if there is no plan for its witness.
    pub fn plans_of(
        &self,
        finding: &Finding,
        control: &Control<'_>,
    ) -> Result<Vec<Planned>, NoPlan> {
        let Some(way) = self.way(finding, control) else { return Ok(Vec::new()) };
        let all = Closeness::ALL.map(|closeness| self.plan(&way, closeness));
        let why = all.iter().find_map(|plan| plan.as_ref().err().copied());
        let mut plans: Vec<Planned> = Vec::new();
        for plan in all.into_iter().flatten() {
            if !plans.contains(&plan) {
                plans.push(plan);
            }
        }
        match (why, plans.is_empty()) {
            (Some(why), true) => Err(why),
            _ => Ok(plans),
        }
    }

    fn plan(&self, way: &Way, closeness: Closeness) -> Result<Planned, NoPlan> {
        let (prefix, actions) = (way.prefix, &way.actions);
        let [first, second] = actions[..] else {
            let goal = Goal { prefix, order: &way.order, end: GoalEnd::Deadlock(actions) };
            return plan(self.trace, &self.operations, &goal, closeness);
        };
        if way.form == Form::Deadlock {
            let goal = Goal { prefix, order: &way.order, end: GoalEnd::Deadlock(actions) };
            return plan(self.trace, &self.operations, &goal, closeness);
        }
        let accesses = [first, second].map(|event| self.trace.event(event));
        let are_plain = accesses.iter().all(|event| {
            event.kind().is_access()
                && event.kind() != anyorder_trace::EventKind::Free
                && !event.mode().is_atomic()
        });
        if are_plain && let Some(order) = together(self.trace, way, (first, second)) {
            let end = GoalEnd::Together { first, second };
            let goal = Goal { prefix, order: &order, end };
            return plan(self.trace, &self.operations, &goal, closeness);
        }
        let end = GoalEnd::Reversed { first, second };
        plan(self.trace, &self.operations, &Goal { prefix, order: &way.order, end }, closeness)
    }

    fn way(&self, finding: &Finding, control: &Control<'_>) -> Option<Way> {
        let find = |name: &String| self.names.find_event(name);
        match StoredWitness::of_finding(finding) {
            Some(stored) => Some(Way {
                actions: stored.actions.iter().map(find).collect::<Option<_>>()?,
                form: stored.form,
                prefix: stored.prefix,
                order: stored.order.iter().map(find).collect::<Option<_>>()?,
            }),
            None => {
                let [first, second] = finding.pairs.first()?;
                let (first, second) = (find(first)?, find(second)?);
                self.confirmed((first.min(second), first.max(second)), control)
            }
        }
    }

    /// Searches the witness of a pair, for a finding that has none with it.
    fn confirmed(&self, (first, second): (EventId, EventId), control: &Control<'_>) -> Option<Way> {
        let types = Types::built_in().ok()?;
        let mut calls = SpecifiedCommunication::new(types, self.trace);
        let options = ConfirmOptions::default();
        let cancel = &control.cancel;
        let mut confirmer = Confirmer::new_until(self.trace, &mut calls, options, cancel);
        match confirmer.confirm(first, second, cancel) {
            Tried::Confirmed(witness) => Some(Way {
                actions: vec![first, second],
                form: witness.form,
                prefix: witness.prefix,
                order: witness.order,
            }),
            _ => None,
        }
    }
}

/// Returns the input of a run in which reads may see other values than they saw: the recording does
/// not say where the program tests what it has read. What is found in it is a guess, until a second
/// run shows it. `None` if the tables are full.
///
/// # Errors
///
/// Fails when the trace is not well-formed.
pub fn with_free_reads(
    run: &RecordedRun<'_>,
    control: &Control<'_>,
) -> Option<Result<TraceInput, Failure>> {
    let trace = &run.input.trace;
    let (mut tables, mut columns) = (trace.tables().clone(), trace.columns().clone());
    // A branch that depends on no read: so it is known where the program branches, and no other
    // read is bound.
    let name = tables.names.push("branch")?;
    let handler = HandlerId::from_index(tables.handlers.len());
    tables.handlers.push(Handler { name, ..Handler::default() });
    let task = TaskId::from_index(tables.tasks.len());
    tables.tasks.push(TaskDef { name, handler, ..TaskDef::default() });
    columns.push(EventKind::Other.into(), task, name.0, SiteId::UNKNOWN);
    let trace = Trace::new(tables, columns);
    Some(TraceInput::new(run.input.name.clone(), trace, &Problems::default(), control))
}

/// Makes a finding of a run in which reads see other values rest on the second run that has shown
/// it: its witness is no order of the recorded events, and no command can show it again.
pub fn rest_on_run(finding: &mut Finding) {
    finding.witness = None;
    finding.replay = None;
    finding.form = None;
    finding.confirmed = Some(true);
    let of_witness = |step: &ExplanationStep| {
        matches!(step.rule.as_deref(), Some("witness" | "branches" | "missed"))
    };
    finding.explanation.retain(|step| !of_witness(step));
    let text = "in the recorded run, a read would have to see another value for this order";
    finding.explanation.push(ExplanationStep::new(text));
}

/// Returns the order of a witness with both accesses of a race at its end, if what stands between
/// them needs neither: nothing between them is of the second one's thread, or touches its memory.
fn together(trace: &Trace, way: &Way, (first, second): (EventId, EventId)) -> Option<Vec<EventId>> {
    let at = way.order.iter().position(|event| *event == second)?;
    let (last, between) = way.order[at + 1..].split_last()?;
    let own = trace.handler_of(second);
    let needs = |event: &EventId| {
        let one = trace.event(*event);
        trace.handler_of(*event) == own
            || one.kind().is_access()
                && one.location().is_some_and(|location| {
                    overlap(trace, location, trace.event(second).location())
                })
    };
    if *last != first || between.iter().any(needs) {
        return None;
    }
    let mut order = way.order[..at].to_vec();
    order.extend_from_slice(between);
    order.extend([second, first]);
    Some(order)
}

fn overlap(
    trace: &Trace,
    one: anyorder_trace::LocationId,
    other: Option<anyorder_trace::LocationId>,
) -> bool {
    use anyorder_trace::Location::Range;
    let Some(other) = other else { return false };
    let table = &trace.tables().locations;
    match (table.get(one.index()), table.get(other.index())) {
        (
            Some(Range { address: a, size: s, generation: g }),
            Some(Range { address: b, size: t, generation: h }),
        ) => g == h && *a < b.saturating_add(u64::from(*t)) && *b < a.saturating_add(u64::from(*s)),
        _ => one == other,
    }
}

/// Writes what a second run came to into its finding.
pub fn note(finding: &mut Finding, answer: Answer) {
    let (class, text) = words_of(answer);
    let (plan, said) = (None, text.clone());
    finding.reproduced = Some(Reproduction { class, text: said, plan });
    let rule = Some("second run".to_owned());
    finding.explanation.push(ExplanationStep { rule, ..ExplanationStep::new(text) });
}

/// Returns the class and the words of what a second run came to.
#[must_use]
pub fn words_of(answer: Answer) -> (Reproduced, String) {
    match answer {
        Answer::Reproduced(harm) => (Reproduced::Reproduced, harm_text(harm)),
        Answer::Feasible => {
            (Reproduced::Feasible, "took this order, and nothing else was to be seen".to_owned())
        }
        Answer::NotReproduced(missed) => (
            Reproduced::NotReproduced,
            match missed {
                Missed::Refuted => {
                    "could not take this order: the threads that would have to wait \
                     are those that the others wait for"
                }
                Missed::TimedOut => "did not come there in time",
                Missed::Ended => "ended before it came there",
                Missed::OtherCode => "was of other code",
                Missed::Stopped => "was stopped",
            }
            .to_owned(),
        ),
    }
}

fn harm_text(harm: Harm) -> String {
    match harm {
        Harm::Signal(signal) => {
            format!("took this order, and signal {signal} ended the program")
        }
        Harm::UsedAfterEnd => "took this order, and used what was freed or destroyed".to_owned(),
        Harm::Met => "both threads were at these accesses at the same time".to_owned(),
        Harm::Hang => "took this order, and all its threads wait for ever".to_owned(),
        Harm::Status(status) => {
            format!("took this order, and exited with status {status}")
        }
    }
}
