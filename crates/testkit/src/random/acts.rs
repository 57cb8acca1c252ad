//! The acts of running code.

use super::machine::{Machine, Phase, Plan, Waiting};
use super::shape::Act;
use anyorder_common::random::Random;
use anyorder_trace::{ConditionId, EventId, EventKind, InputId, Location, Mode, TaskId};

impl Machine {
    /// Does an act, if it is possible now.
    pub(super) fn act(&mut self, agent: usize, act: Act) -> bool {
        match act {
            Act::Access => self.plain_access(agent),
            Act::Atomic => self.atomic_access(agent),
            Act::Range => self.range_access(agent),
            Act::Post => self.random_post(agent),
            Act::Cancel => self.cancel(agent),
            Act::Acquire => self.acquire(agent),
            Act::Release => self.release(agent),
            Act::StrayRelease => self.stray_release(agent),
            Act::Fork => self.fork(agent),
            Act::Join => self.join(agent),
            Act::Signal => self.signal(agent, EventKind::Signal),
            Act::Broadcast => self.signal(agent, EventKind::Broadcast),
            Act::Wait => self.wait(agent),
            Act::Barrier => {
                let condition = self.rng.pick(&self.conditions);
                self.emit(agent, EventKind::Barrier, condition.0);
                true
            }
            Act::Enable => {
                let input = self.rng.pick(&self.inputs);
                self.enable(agent, input);
                true
            }
            Act::Disable => self.disable(agent),
            Act::Trigger => self.trigger(agent),
            Act::Request => self.request(agent),
            Act::Callback => self.callback(agent),
        }
    }

    fn plain_access(&mut self, agent: usize) -> bool {
        let location = self.rng.pick(&self.variables);
        let kind = self.rng.pick(&[EventKind::Read, EventKind::Write, EventKind::Write]);
        self.access(agent, kind, Mode::PLAIN, location);
        true
    }

    fn atomic_access(&mut self, agent: usize) -> bool {
        let location = self.rng.pick(&self.atomics);
        let (kind, modes): (EventKind, &[Mode]) = match self.rng.below(3) {
            0 => (EventKind::Read, &[Mode::RELAXED, Mode::ACQUIRE, Mode::SEQ_CST, Mode::PLAIN]),
            1 => (EventKind::Write, &[Mode::RELAXED, Mode::RELEASE, Mode::SEQ_CST, Mode::PLAIN]),
            _ => (
                EventKind::Rmw,
                &[Mode::RELAXED, Mode::ACQUIRE, Mode::RELEASE, Mode::ACQ_REL, Mode::SEQ_CST],
            ),
        };
        let mode = self.rng.pick(modes);
        self.access(agent, kind, mode, location);
        true
    }

    /// Accesses a part of the address range, or frees or allocates all of it.
    fn range_access(&mut self, agent: usize) -> bool {
        const ADDRESS: u64 = 0x100;
        const SIZE: u32 = 16;
        let (generation, allocated) = self.range;
        let (kind, address, size) = if !allocated && self.rng.percent(60) {
            self.range = (generation + 1, true);
            (EventKind::Alloc, ADDRESS, SIZE)
        } else if allocated && self.rng.percent(25) {
            self.range.1 = false;
            (EventKind::Free, ADDRESS, SIZE)
        } else {
            let size = self.rng.within(1, 8) as u32;
            let address = ADDRESS + self.rng.below(u64::from(SIZE - size + 1));
            (self.rng.pick(&[EventKind::Read, EventKind::Write]), address, size)
        };
        let location = Location::Range { address, size, generation: self.range.0 };
        let location =
            self.build.interner.location(location).expect("small traces fit into their tables");
        self.access(agent, kind, Mode::PLAIN, location);
        true
    }

    fn random_post(&mut self, agent: usize) -> bool {
        let open: Vec<usize> =
            (0..self.agents.len()).filter(|to| self.agents[*to].takes_posts()).collect();
        if open.is_empty() {
            return false;
        }
        // The first handler of an Android program is its main thread.
        let main = self.android && open[0] == 0 && self.rng.percent(60);
        let to = if main { 0 } else { self.rng.pick(&open) };
        let plan = match self.rng.below(10) {
            _ if self.android && self.rng.percent(75) => vec![Plan::Callback],
            0..2 if self.uses(Act::Trigger) => vec![Plan::Trigger(self.rng.pick(&self.inputs))],
            2..4 if self.uses(Act::Enable) => vec![Plan::Enable(self.rng.pick(&self.inputs))],
            _ => vec![],
        };
        self.post(agent, to, plan);
        true
    }

    fn uses(&self, act: Act) -> bool {
        self.acts.iter().any(|(used, _)| *used == act)
    }

    /// Cancels a pending task, or one that has begun: then the cancel comes too late.
    fn cancel(&mut self, agent: usize) -> bool {
        let columns = &self.build.columns;
        let begun: Vec<TaskId> = (0..columns.len())
            .filter(|row| columns.ops[*row].kind() == EventKind::Get)
            .map(|row| columns.tasks[row])
            .collect();
        if !begun.is_empty() && self.rng.percent(60) {
            let task = self.rng.pick(&begun);
            self.emit(agent, EventKind::Cancel, task.0);
            return true;
        }
        let pending: Vec<(usize, TaskId)> = (0..self.agents.len())
            .flat_map(|a| self.agents[a].pending.iter().map(move |p| (a, p.task)))
            .collect();
        if pending.is_empty() {
            return false;
        }
        let (holder, task) = self.rng.pick(&pending);
        self.agents[holder].pending.retain(|p| p.task != task);
        self.emit(agent, EventKind::Cancel, task.0);
        true
    }

    fn fork(&mut self, agent: usize) -> bool {
        let Some(child) = self.agents.iter().position(|a| a.phase == Phase::Unborn) else {
            return false;
        };
        let handler = self.agents[child].id;
        self.agents[child].phase = Phase::Initial;
        self.emit(agent, EventKind::Fork, handler.0);
        true
    }

    fn join(&mut self, agent: usize) -> bool {
        let exited: Vec<usize> = (0..self.agents.len())
            .filter(|a| *a != agent && self.agents[*a].phase == Phase::Exited)
            .collect();
        if exited.is_empty() {
            return false;
        }
        let handler = self.agents[self.rng.pick(&exited)].id;
        self.emit(agent, EventKind::Join, handler.0);
        true
    }

    /// Signals a condition: to the first waiter, or to all of them.
    fn signal(&mut self, agent: usize, kind: EventKind) -> bool {
        let condition = self.rng.pick(&self.conditions);
        let event = self.emit(agent, kind, condition.0);
        for other in &mut self.agents {
            if let Some(waiting) = &mut other.waiting
                && waiting.condition == condition
                && waiting.woken_by.is_none()
            {
                waiting.woken_by = Some(event);
                if kind == EventKind::Signal {
                    break;
                }
            }
        }
        true
    }

    /// Waits on a condition. Some waits are not recorded, and some return at once.
    fn wait(&mut self, agent: usize) -> bool {
        let condition = self.rng.pick(&self.conditions);
        if self.rng.percent(70) {
            self.emit(agent, EventKind::Wait, condition.0);
            self.agents[agent].waiting = Some(Waiting { condition, woken_by: None });
            return true;
        }
        match self.last_signal(condition) {
            Some(source) => {
                let wake = self.emit(agent, EventKind::Wake, condition.0);
                if self.rng.percent(30) {
                    self.refer(wake, source);
                }
                true
            }
            None => false,
        }
    }

    fn last_signal(&self, condition: ConditionId) -> Option<EventId> {
        let columns = &self.build.columns;
        (0..columns.len())
            .rev()
            .find(|row| {
                matches!(columns.ops[*row].kind(), EventKind::Signal | EventKind::Broadcast)
                    && columns.operands[*row] == condition.0
            })
            .map(EventId::from_index)
    }

    pub(super) fn enable(&mut self, agent: usize, input: InputId) {
        self.enabled.push(input);
        self.emit(agent, EventKind::Enable, input.0);
    }

    fn disable(&mut self, agent: usize) -> bool {
        if self.enabled.is_empty() {
            return false;
        }
        let input = self.rng.pick(&self.enabled);
        self.enabled.retain(|i| *i != input);
        self.emit(agent, EventKind::Disable, input.0);
        true
    }

    /// Triggers an input, usually an enabled one. Others are triggered only because of gaps in the
    /// recording.
    fn trigger(&mut self, agent: usize) -> bool {
        let known = !self.enabled.is_empty() && self.rng.percent(90);
        let input = if known { self.rng.pick(&self.enabled) } else { self.rng.pick(&self.inputs) };
        self.emit(agent, EventKind::Trigger, input.0);
        true
    }
}
