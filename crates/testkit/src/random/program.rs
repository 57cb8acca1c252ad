//! Makes a random program and runs it.

use super::callbacks::Components;
use super::locks::Locks;
use super::machine::{Agent, Machine, Phase, Plan, Running};
use super::shape::{Act, Shape};
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{Mailbox, TableFull, Trace, TraceBuilder};
use std::collections::VecDeque;

/// Makes the trace of a random program. The same seed and shape always give the same trace.
///
/// # Panics
///
/// Panics when `shape` asks for more handlers or events than tables can hold.
#[must_use]
pub fn random_trace(seed: u64, shape: &Shape) -> Trace {
    let mut machine =
        make_machine(Rng::new(seed), shape).expect("small traces fit into their tables");
    // Some recordings stop at an arbitrary point.
    let cut = machine.rng.percent(30);
    let calm = machine.events_max * 4 / 5;
    let mut idle_turns = 0;
    while !machine.is_full() && idle_turns < 80 * machine.agents.len() {
        if machine.build.columns.len() >= calm || idle_turns > 50 * machine.agents.len() {
            machine.winding_down = !cut;
        }
        let events = machine.build.columns.len();
        let agent = machine.rng.index(machine.agents.len());
        machine.step(agent);
        idle_turns = if machine.build.columns.len() == events { idle_turns + 1 } else { 0 };
    }
    machine.build.finish()
}

fn make_machine(mut rng: Rng, shape: &Shape) -> Result<Machine, TableFull> {
    let mut build = TraceBuilder::new();
    let mut locks = Locks::default();
    for i in 0..2 {
        let name = build.interner.name(&format!("l{i}"))?;
        locks.all.push(build.interner.lock(name)?);
    }
    let mut conditions = Vec::new();
    for i in 0..2 {
        let name = build.interner.name(&format!("c{i}"))?;
        conditions.push(build.interner.condition(name)?);
    }
    let variables = names(rng.within(1, 3), |i| build.variable(&format!("x{i}")))?;
    let atomics = names(rng.within(1, 2), |i| build.variable(&format!("a{i}")))?;
    let inputs = names(rng.within(1, 3), |i| build.input(&format!("input{i}")))?;
    let acts: Vec<(Act, u32)> = shape
        .weights
        .iter()
        .filter(|(act, _)| *act == Act::Access || rng.percent(shape.act_percent))
        .copied()
        .collect();
    let forks = acts.iter().any(|(act, _)| *act == Act::Fork);
    let mut agents = Vec::new();
    for index in 0..rng.within(shape.handlers.0, shape.handlers.1) {
        let mut agent = make_agent(&mut rng, &mut build, shape, index)?;
        if forks && index > 0 && !agent.untracked && rng.percent(30) {
            agent.phase = Phase::Unborn;
        }
        agents.push(agent);
    }
    plan_ladders(&mut rng, &mut build, shape, &mut agents)?;
    Ok(Machine {
        events_max: rng.within(shape.events_max as u64 / 2, shape.events_max as u64) as usize,
        rng,
        build,
        agents,
        locks,
        acts,
        acts_max: shape.acts_max,
        delay_percent: shape.delay_percent,
        android: shape.android,
        variables,
        atomics,
        range: (0, false),
        conditions,
        inputs,
        enabled: Vec::new(),
        gates: Vec::new(),
        components: Components::default(),
        now: 1,
        posts: 0,
        tasks: 0,
        winding_down: false,
    })
}

fn names<T>(
    count: u64,
    make: impl FnMut(u64) -> Result<T, TableFull>,
) -> Result<Vec<T>, TableFull> {
    (0..count).map(make).collect()
}

fn make_agent(
    rng: &mut Rng,
    build: &mut TraceBuilder,
    shape: &Shape,
    index: u64,
) -> Result<Agent, TableFull> {
    let main = shape.android && index == 0;
    let untracked = index > 0 && rng.percent(shape.untracked_percent);
    let mailbox = if main {
        rng.pick(&[Mailbox::Fifo, Mailbox::Delayed])
    } else if untracked || rng.percent(shape.plain_percent) {
        Mailbox::None
    } else if rng.percent(shape.bag_percent) {
        Mailbox::Bag
    } else {
        rng.pick(&[Mailbox::Fifo, Mailbox::Delayed])
    };
    let id = build.handler(&format!("h{index}"), mailbox)?;
    build.interner.tables.handlers[id.index()].untracked = untracked;
    let has_mailbox = mailbox != Mailbox::None;
    let acts_left = if has_mailbox {
        rng.below(shape.acts_max + 1)
    } else {
        rng.within(1, 2 * shape.acts_max + 2)
    };
    Ok(Agent {
        id,
        mailbox,
        untracked,
        phase: if untracked { Phase::Serving } else { Phase::Initial },
        initial: Running { task: build.initial(id), acts_left, plan: VecDeque::new() },
        running: None,
        pending: Vec::new(),
        waiting: None,
        begins: !untracked && rng.percent(50),
        attach_due: has_mailbox && rng.percent(40),
        loop_due: has_mailbox && (main || rng.percent(50)),
    })
}

/// Plans ladders, on which fifo is read backwards rung by rung.
///
/// A chain of tasks `a(n) .. a(0)`, each posted by the one before, runs through the handlers `h(n)
/// .. h(0)`. On each rung, a separate root posts a task `b(i)` to `h(i)` too, and then enables the
/// trigger of `b(i+1)`. The last task `a(0)` enables the trigger of `b(0)`. So `a(0)` is before
/// `b(0)`. Read backwards, their posts are ordered. `a(1)` made the first post, and the enable
/// comes after the second. So `a(1)` is before `b(1)`.
fn plan_ladders(
    rng: &mut Rng,
    build: &mut TraceBuilder,
    shape: &Shape,
    agents: &mut [Agent],
) -> Result<(), TableFull> {
    let posted: Vec<usize> =
        (0..agents.len()).filter(|a| agents[*a].mailbox != Mailbox::None).collect();
    if posted.is_empty() {
        return Ok(());
    }
    for ladder in 0..rng.below(shape.ladders_max + 1) {
        let rungs = rng.within(shape.rungs.0, shape.rungs.1).min(posted.len() as u64);
        // A handler with two rungs would wait on the upper one for the lower one, which is queued
        // after it.
        let start = rng.index(posted.len());
        let mut input = build.input(&format!("ladder{ladder}.0"))?;
        let mut chain = vec![Plan::Enable(input)];
        for rung in 0..rungs {
            // Gates keep the events in the order that needs the ladder: first the chain's post,
            // then the root's, and only then the enable that would order the two without it.
            let gate = |rung: u64, what: u64| (ladder * 100 + rung) * 2 + what;
            let through = posted[(start + rung as usize) % posted.len()];
            chain = vec![Plan::Post(through, chain), Plan::Open(gate(rung, 0))];
            let post = Plan::All(vec![
                Plan::Gate(gate(rung, 0)),
                Plan::Post(through, vec![Plan::Trigger(input)]),
                Plan::Open(gate(rung, 1)),
            ]);
            let mut root = vec![post];
            if rung + 1 < rungs {
                input = build.input(&format!("ladder{ladder}.{}", rung + 1))?;
                root.push(Plan::All(vec![Plan::Gate(gate(rung + 1, 1)), Plan::Enable(input)]));
            }
            add_root(rng, agents, root);
        }
        add_root(rng, agents, chain);
    }
    Ok(())
}

/// Gives plans to code that exists from the start: usually a burst, since bursts are unordered;
/// rarely a handler with a mailbox, since it runs no task before its initial code ends.
fn add_root(rng: &mut Rng, agents: &mut [Agent], mut plans: Vec<Plan>) {
    let of = |agents: &[Agent], untracked: bool| -> Vec<usize> {
        (0..agents.len())
            .filter(|a| agents[*a].mailbox == Mailbox::None && agents[*a].untracked == untracked)
            .collect()
    };
    let (bursts, threads) = (of(agents, true), of(agents, false));
    let root = if !bursts.is_empty() && rng.percent(85) {
        rng.pick(&bursts)
    } else if !threads.is_empty() && rng.percent(85) {
        rng.pick(&threads)
    } else {
        rng.index(agents.len())
    };
    if agents[root].untracked {
        plans = vec![Plan::All(plans)];
    }
    let plan = &mut agents[root].initial.plan;
    let mut plans = plans.into_iter();
    if let Some(first) = plans.next() {
        plan.push_front(first);
    }
    plan.extend(plans);
}
