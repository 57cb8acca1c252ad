//! Runs with the names that schedules have.

use super::ids::StepId;
use super::sim::{Beginning, Sim};
use anyorder_system::{Access, AsyncSystem, Lane, TaskName};

/// A step of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunStep {
    /// Its name in schedules.
    pub task: TaskName,
    /// The name of its invocation: that of its first step.
    pub invocation: TaskName,
    /// Where it runs.
    pub lane: Lane,
    /// Which alternative it takes.
    pub alternative: u32,
    /// Its accesses.
    pub accesses: Vec<Access>,
}

/// Returns the step of `init`, if schedules have one.
fn init_step(beginning: &Beginning) -> Option<RunStep> {
    beginning.is_step.then(|| RunStep {
        task: TaskName::root("init"),
        invocation: TaskName::root("init"),
        lane: Lane::Own,
        alternative: beginning.alternative,
        accesses: beginning.accesses.clone(),
    })
}

/// Returns the steps of a run in an order, as they are reported.
pub(crate) fn run_steps<A: AsyncSystem>(
    system: &A,
    sim: &Sim<A::State>,
    order: &[StepId],
) -> Vec<RunStep> {
    let mut names: Vec<Option<TaskName>> = vec![None; sim.invocations.len()];
    let mut happened = vec![0; system.events().len()];
    let mut run = Vec::with_capacity(order.len() + 1);
    run.extend(init_step(&sim.beginning));
    for id in order {
        let step = sim.step(*id);
        let invocation = sim.invocation(step.invocation);
        let event = sim.event_of(invocation.event) as usize;
        // What is posted has its name from the post.
        let name = names[step.invocation.index()].get_or_insert_with(|| {
            if invocation.by_init {
                let init = TaskName::root("init");
                return init.child(&invocation.task).with_ordinal(invocation.ordinal);
            }
            happened[event] += 1;
            system.events()[event].task.clone().with_ordinal(happened[event])
        });
        let name = name.clone();
        let task = match step.number {
            0 => name.clone(),
            number => name.child("step").with_ordinal(number),
        };
        for posted in &step.posted {
            let child = sim.invocation(*posted);
            let child = task.child(&child.task).with_ordinal(child.ordinal);
            names[posted.index()] = Some(child);
        }
        run.push(RunStep {
            task,
            invocation: name,
            lane: invocation.lane,
            alternative: step.alternative,
            accesses: step.accesses.clone(),
        });
    }
    run
}
