//! One turn of one agent: at most one event.

use super::machine::{Machine, Phase, Plan, Running};
use super::shape::Act;
use anyorder_common::random::Random;
use anyorder_trace::{EventKind, Mailbox, Position, TaskDef, TaskKind};
use std::collections::VecDeque;

impl Machine {
    /// Runs one turn of an agent. Returns whether it did something or may do so later.
    pub(super) fn step(&mut self, agent: usize) -> bool {
        if self.agents[agent].waiting.is_some() {
            return self.wake(agent);
        }
        match self.agents[agent].phase {
            Phase::Unborn | Phase::Exited => false,
            _ if self.agents[agent].running.is_some() => self.run(agent),
            Phase::Initial => self.run_initial(agent),
            Phase::Serving if self.agents[agent].untracked => self.start_burst(agent),
            Phase::Serving => self.serve(agent),
        }
    }

    /// Continues after a wait, if it was ended; at the end, or rarely, without a reason.
    fn wake(&mut self, agent: usize) -> bool {
        let Some(waiting) = &self.agents[agent].waiting else { return false };
        let (condition, source) = (waiting.condition, waiting.woken_by);
        if source.is_none() && !self.rng.percent(if self.winding_down { 30 } else { 3 }) {
            return !self.winding_down;
        }
        self.agents[agent].waiting = None;
        let wake = self.emit(agent, EventKind::Wake, condition.0);
        if let Some(source) = source.filter(|_| self.rng.percent(40)) {
            self.refer(wake, source);
        }
        true
    }

    /// Continues a posted task or burst.
    fn run(&mut self, agent: usize) -> bool {
        if self.next_act(agent) || self.release(agent) {
            return true;
        }
        let Some(running) = self.agents[agent].running.take() else { return false };
        let burst = self.agents[agent].untracked;
        self.emit_in(running.task, if burst { EventKind::Exit } else { EventKind::End }, 0);
        true
    }

    fn run_initial(&mut self, agent: usize) -> bool {
        let handler = self.agents[agent].id;
        if self.agents[agent].begins && !self.has_begun(agent) {
            self.emit(agent, EventKind::Begin, 0);
            return true;
        }
        if self.agents[agent].attach_due && self.rng.percent(60) {
            self.agents[agent].attach_due = false;
            self.emit(agent, EventKind::Attach, handler.0);
            return true;
        }
        if self.next_act(agent) || self.release(agent) {
            return true;
        }
        if self.agents[agent].mailbox == Mailbox::None {
            return self.exit(agent);
        }
        if self.agents[agent].attach_due {
            self.agents[agent].attach_due = false;
            self.emit(agent, EventKind::Attach, handler.0);
            return true;
        }
        self.agents[agent].phase = Phase::Serving;
        if self.agents[agent].loop_due {
            self.emit(agent, EventKind::Loop, handler.0);
        }
        true
    }

    fn has_begun(&self, agent: usize) -> bool {
        self.build.columns.tasks.contains(&self.agents[agent].initial.task)
    }

    /// Takes a task, or does an act between two tasks.
    fn serve(&mut self, agent: usize) -> bool {
        if self.locks.holds_any(agent) {
            return self.release(agent);
        }
        if self.winding_down && self.rng.percent(50) {
            return self.exit(agent);
        }
        let empty = self.agents[agent].pending.is_empty();
        if self.rng.percent(if empty { 2 } else { 12 }) {
            return self.random_act(agent);
        }
        if self.next_waits(agent) && !self.gives_up_waiting() {
            return true;
        }
        if let Some(pending) = self.take(agent) {
            let acts_left = self.rng.below(self.acts_max + 1);
            let plan: VecDeque<Plan> = pending.plan.into();
            let task = pending.task;
            self.agents[agent].running = Some(Running { task, acts_left, plan });
            let handler = self.agents[agent].id;
            self.emit(agent, EventKind::Get, handler.0);
        } else if self.rng.percent(1) && self.build.columns.len() > self.events_max / 2 {
            return self.exit(agent);
        }
        true
    }

    /// Whether a waiting agent continues anyway: programs are not made for ladders.
    fn gives_up_waiting(&mut self) -> bool {
        self.rng.below(300) == 0
    }

    /// Whether an input that is not enabled yet triggers the next task.
    fn next_waits(&self, agent: usize) -> bool {
        match self.next_plan(agent) {
            Some([Plan::Trigger(input), ..]) => !self.enabled.contains(input),
            _ => false,
        }
    }

    fn start_burst(&mut self, agent: usize) -> bool {
        if self.winding_down {
            return self.exit(agent);
        }
        let planned = !self.agents[agent].initial.plan.is_empty();
        if self.rng.percent(if planned { 50 } else { 80 }) {
            return true;
        }
        self.tasks += 1;
        let name = self.build.interner.name(&format!("burst{}", self.tasks));
        let burst = TaskDef {
            name: name.expect("small traces fit into their tables"),
            kind: TaskKind::Burst,
            handler: self.agents[agent].id,
            delay: 0,
            position: Position::Back,
        };
        let task =
            self.build.interner.push_task(burst).expect("small traces fit into their tables");
        let acts_left = self.rng.within(1, self.acts_max);
        let plan: VecDeque<Plan> =
            self.agents[agent].initial.plan.pop_front().into_iter().collect();
        self.agents[agent].running = Some(Running { task, acts_left, plan });
        self.emit(agent, EventKind::Begin, 0);
        true
    }

    fn exit(&mut self, agent: usize) -> bool {
        self.agents[agent].phase = Phase::Exited;
        if self.agents[agent].begins {
            self.emit(agent, EventKind::Exit, 0);
        }
        true
    }

    /// Does the next planned or random act of the running code. Returns false when none is left.
    fn next_act(&mut self, agent: usize) -> bool {
        if self.winding_down {
            return false;
        }
        let planned = !self.agents[agent].code().plan.is_empty();
        let left = self.agents[agent].code().acts_left;
        if planned && (left == 0 || self.rng.percent(70)) {
            return self.follow_plan(agent);
        }
        if left == 0 {
            return false;
        }
        self.agents[agent].code().acts_left -= 1;
        self.random_act(agent)
    }

    fn follow_plan(&mut self, agent: usize) -> bool {
        match self.agents[agent].code().plan.pop_front() {
            Some(Plan::Post(to, plan)) if self.agents[to].takes_posts() => {
                self.post(agent, to, plan);
            }
            // Not possible yet; the agent tries again later.
            Some(Plan::Post(to, plan)) if self.agents[to].phase != Phase::Exited => {
                self.agents[agent].code().plan.push_front(Plan::Post(to, plan));
            }
            Some(Plan::All(plans)) => {
                for plan in plans.into_iter().rev() {
                    self.agents[agent].code().plan.push_front(plan);
                }
            }
            Some(Plan::Enable(input)) => self.enable(agent, input),
            Some(Plan::Trigger(input)) => {
                self.emit(agent, EventKind::Trigger, input.0);
            }
            Some(Plan::Open(gate)) => self.gates.push(gate),
            Some(Plan::Gate(gate)) if !self.gates.contains(&gate) && !self.gives_up_waiting() => {
                self.agents[agent].code().plan.push_front(Plan::Gate(gate));
            }
            Some(Plan::Callback) => {
                self.callback(agent);
            }
            _ => {}
        }
        true
    }

    /// Does one of the acts that this program uses.
    fn random_act(&mut self, agent: usize) -> bool {
        let total: u64 = self.acts.iter().map(|(_, weight)| u64::from(*weight)).sum();
        for _ in 0..4 {
            let mut left = self.rng.below(total.max(1));
            let chosen = self.acts.iter().find(|(_, weight)| {
                let here = left < u64::from(*weight);
                left = left.saturating_sub(u64::from(*weight));
                here
            });
            let act = chosen.map_or(Act::Access, |(act, _)| *act);
            if self.act(agent, act) {
                return true;
            }
        }
        self.act(agent, Act::Access)
    }
}
