//! Conditions and barriers, and orders without an object.

use super::misuse::What;
use super::{Barrier, Called, Condition, Maker, Waiter};
use crate::recording::{Event, kind};
use crate::to_trace::stacks::Where;
use anyorder_trace::{ConditionId, EventKind, Location, Mode, Op, TableFull};

impl Condition {
    /// A thread waits no longer. Returns whether somebody can have woken it.
    fn wakes(&mut self, lane: usize, timed_out: bool) -> bool {
        let Some(at) = self.waiters.iter().position(|waiter| waiter.lane == lane) else {
            return false;
        };
        let called = self.waiters.remove(at).called;
        let is_called = match called {
            Called::Nothing => false,
            Called::Signal => self.signals > 0,
            Called::Broadcast => true,
        };
        self.signals -= usize::from(is_called && called == Called::Signal && !timed_out);
        self.limit();
        is_called
    }

    fn signal(&mut self) {
        for waiter in self.waiters.iter_mut().filter(|one| one.called == Called::Nothing) {
            waiter.called = Called::Signal;
        }
        self.signals += 1;
        self.limit();
    }

    fn broadcast(&mut self) {
        self.waiters.iter_mut().for_each(|waiter| waiter.called = Called::Broadcast);
        self.limit();
    }

    /// A signal that finds nobody is lost.
    fn limit(&mut self) {
        let by_signal = self.waiters.iter().filter(|one| one.called == Called::Signal);
        self.signals = self.signals.min(by_signal.count());
    }
}

impl Maker<'_> {
    pub(super) fn condition(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let (object, mutex) = (event.address, event.third);
        match event.kind {
            kind::COND_DESTROY => return self.ends(lane, event),
            kind::COND_WAKE => {}
            _ => {
                self.uses(lane, event, object, What::Condition)?;
                self.touches(lane, event)?;
            }
        }
        let id = self.condition_id(object)?.0;
        let condition = self.conditions.entry(object).or_default();
        match event.kind {
            kind::COND_WAIT => {
                condition.waiters.push(Waiter { lane, called: Called::Nothing });
                self.push(lane, event, EventKind::Wait, id)?;
                if self.waits_with(lane, event)? {
                    self.release(lane, event, mutex)?;
                }
                Ok(())
            }
            kind::COND_WAKE => {
                let timed_out = event.arg & 1 != 0;
                let is_called = condition.wakes(lane, timed_out);
                let mode = if timed_out || !is_called { Mode::TIMEOUT } else { Mode::PLAIN };
                self.stats.spurious += u64::from(!is_called && !timed_out);
                self.acquire(lane, event, mutex, Mode::EXCLUSIVE)?;
                if std::mem::take(&mut self.threads[lane].was_called) {
                    return Ok(());
                }
                self.push(lane, event, Op::new(EventKind::Wake, mode), id)
            }
            kind::COND_SIGNAL => {
                condition.signal();
                self.push(lane, event, EventKind::Signal, id)
            }
            kind::COND_BROADCAST => {
                condition.broadcast();
                self.push(lane, event, EventKind::Broadcast, id)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn condition_id(&mut self, condition: u64) -> Result<ConditionId, TableFull> {
        if let Some(id) = self.condition_ids.get(&condition) {
            return Ok(*id);
        }
        let name = self.variable(condition)?;
        let id = self.interner.condition(name)?;
        self.condition_ids.insert(condition, id);
        Ok(id)
    }

    /// Returns the location of an object that synchronises.
    pub(super) fn object(&mut self, object: u64, what: &'static str) -> Result<u32, TableFull> {
        if let Some(location) = self.objects.get(&(object, what)) {
            return Ok(location.0);
        }
        let name = self.interner.name(&format!("{what} {object:#x}"))?;
        let location = self.interner.location(Location::Named(name))?;
        self.objects.insert((object, what), location);
        Ok(location.0)
    }

    /// All updates of a round come before all reads of it. Nobody can be two rounds ahead of
    /// another one, so two locations are enough.
    pub(super) fn barrier(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        const ROUNDS: [&str; 2] = ["meeting at barrier", "other meeting at barrier"];
        let object = event.address;
        match event.kind {
            kind::BARRIER_INIT => self.begins(lane, event, What::Barrier)?,
            kind::BARRIER_ARRIVE => {
                self.uses(lane, event, object, What::Barrier)?;
                self.touches(lane, event)?;
            }
            _ => {}
        }
        let barrier = self.barriers.entry(object).or_default();
        let round = match event.kind {
            kind::BARRIER_INIT => {
                *barrier = Barrier { count: event.third, ..Barrier::default() };
                return Ok(());
            }
            kind::BARRIER_ARRIVE => {
                let round = barrier.round;
                barrier.rounds.insert(lane, round);
                barrier.arrived += 1;
                if barrier.arrived == barrier.count {
                    (barrier.arrived, barrier.round) = (0, round + 1);
                }
                round
            }
            _ => barrier.rounds.get(&lane).copied().unwrap_or(0),
        };
        let location = self.object(object, ROUNDS[(round % 2) as usize])?;
        let op = match event.kind {
            kind::BARRIER_ARRIVE => Op::new(EventKind::Rmw, Mode::ACQ_REL),
            _ => Op::new(EventKind::Read, Mode::ACQUIRE),
        };
        self.push(lane, event, op, location)
    }

    /// To use an object is to read its memory: the block that has it may be freed. If it was
    /// initialised and is destroyed, that is its end. (Of a lock, the analyses know where it lies.)
    pub(super) fn touches(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        const READ: u64 = 8;
        let address = event.address;
        let is_on_heap = self.memory.generation(address) > 0 && !self.is_on_stack(address);
        let has_end = self.survey.ended.contains(&address) && self.what_is(address).is_some();
        if !is_on_heap || has_end {
            return Ok(());
        }
        let location = self.range(address, READ)?;
        self.push(lane, event, Op::new(EventKind::Read, Mode::RELAXED), location)
    }

    /// What all other threads have done so far comes before what a thread does.
    pub(super) fn acquire_all(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let location = self.object(0, "all threads")?;
        for other in 0..self.threads.len() {
            let thread = self.threads[other];
            if other != lane && thread.is_in && !thread.is_over {
                let op = Op::new(EventKind::Rmw, Mode::RELEASE);
                self.push_at(other, op, location, Where::NOWHERE);
            }
        }
        self.push(lane, event, Op::new(EventKind::Read, Mode::ACQUIRE), location)
    }

    pub(super) fn synchronise(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let what = match event.arg {
            1 => "once",
            2 => "guard of a static",
            3 => "pipe",
            4 => "annotated",
            5 => "signal handler",
            6 => "fork",
            _ => "object",
        };
        let location = self.object(event.address, what)?;
        let op = match (event.kind, event.arg) {
            (kind::ACQUIRE, _) => Op::new(EventKind::Read, Mode::ACQUIRE),
            // Only one thread does it.
            (_, 1 | 2) => Op::new(EventKind::Write, Mode::RELEASE),
            // Several may, and an acquire comes after all of them. They are not ordered among
            // themselves: who writes into a pipe learns nothing of others who do.
            _ => Op::new(EventKind::Rmw, Mode::RELEASE),
        };
        self.push(lane, event, op, location)
    }
}
