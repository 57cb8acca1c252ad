//! The states of all objects of an execution.

use super::{Object, registers};
use crate::ids::{ObjectId, ThreadId};
use crate::learn::Sabotage;
use crate::op::{Act, Op, Patience, Watched};

/// The states of all objects of an execution. An object that nobody has used is not there yet.
#[derive(Clone, Debug, Default)]
pub struct World {
    objects: Vec<Option<Object>>,
}

impl World {
    /// Makes a world of no objects.
    #[must_use]
    pub fn new() -> World {
        World::default()
    }

    /// Forgets all objects.
    pub fn clear(&mut self) {
        self.objects.clear();
    }

    /// Returns the state of an object, if it was used.
    #[must_use]
    pub fn get(&self, object: ObjectId) -> Option<&Object> {
        self.objects.get(object.index())?.as_ref()
    }

    /// Sets the state of an object.
    pub fn set(&mut self, object: ObjectId, state: Option<Object>) {
        if let Some(slot) = self.slot(object) {
            *slot = state;
        }
    }

    /// Makes the objects of an operation, each as `initial` returns it.
    #[inline]
    pub fn make(&mut self, op: &Op, initial: impl Fn(ObjectId) -> Object) {
        op.objects(|object| {
            if self.get(object).is_none() {
                self.set(object, Some(initial(object)));
            }
        });
    }

    fn slot(&mut self, object: ObjectId) -> Option<&mut Option<Object>> {
        if object == ObjectId::NONE {
            return None;
        }
        if self.objects.len() <= object.index() {
            self.objects.resize(object.index() + 1, None);
        }
        Some(&mut self.objects[object.index()])
    }

    fn of(&mut self, object: ObjectId) -> Option<&mut Object> {
        self.objects.get_mut(object.index())?.as_mut()
    }

    /// Returns in how many ways a thread can perform an operation now; 0 if it has to wait. Its
    /// objects must have been [made](Self::make).
    #[must_use]
    pub fn alternatives(&self, thread: ThreadId, op: &Op) -> u32 {
        match &op.act {
            Act::Choose(count) => *count,
            Act::Notify { all: false, .. } => match self.get(op.object) {
                Some(Object::Condition { waiting, .. }) => (waiting.len() as u32).max(1),
                _ => 0,
            },
            // Reads, changes and releases never wait.
            Act::Load(_)
            | Act::Store(..)
            | Act::Update { .. }
            | Act::Fence(_)
            | Act::Unlock(_)
            | Act::Poison(_)
            | Act::IsPoisoned
            | Act::IsFree(_)
            | Act::Use
            | Act::Alter(_)
            | Act::Unpark
            | Act::Fail(_)
            | Act::Spawn(_)
            | Act::Exit(_)
            | Act::Invoke(_)
            | Act::Return { .. }
            | Act::Yield
            | Act::Access { .. } => 1,
            Act::Await(watched) => u32::from(self.has_changed(thread, watched)),
            Act::Lock(_, Patience::Try | Patience::TimeOut) => 1,
            Act::Lock(mode, Patience::Wait) => {
                u32::from(self.get(op.object).is_some_and(|lock| lock.is_free(*mode)))
            }
            Act::Join => u32::from(matches!(self.get(op.object), Some(Object::End(Some(_))))),
            _ => u32::from(self.would(thread, op).is_some()),
        }
    }

    /// Returns whether a thread whose operation is possible goes on, rather than to give way or to
    /// wait for the end of a time: to switch to another thread preempts it.
    pub(crate) fn goes_on(&self, thread: ThreadId, op: &Op, sabotage: Sabotage) -> bool {
        let patient = match &op.act {
            Act::Await(_) | Act::Yield => return sabotage == Sabotage::GivingWayGoesOn,
            Act::Lock(mode, Patience::TimeOut) => Act::Lock(*mode, Patience::Wait),
            Act::Convert { from, to, patience: Patience::TimeOut } => {
                Act::Convert { from: *from, to: *to, patience: Patience::Wait }
            }
            Act::Wake(Patience::TimeOut) => Act::Wake(Patience::Wait),
            Act::Park(Patience::TimeOut) => Act::Park(Patience::Wait),
            Act::Send(item, Patience::TimeOut) => Act::Send(*item, Patience::Wait),
            Act::Receive(Patience::TimeOut) => Act::Receive(Patience::Wait),
            Act::Acquire(count, Patience::TimeOut) => Act::Acquire(*count, Patience::Wait),
            _ => return true,
        };
        let is_given = self.would(thread, &Op::new(op.object, patient)).is_some();
        is_given || sabotage == Sabotage::TimedWaitsGoOn
    }

    fn has_changed(&self, thread: ThreadId, watched: &[Watched]) -> bool {
        watched.iter().any(|one| self.would(thread, &one.op) != Some(one.result))
    }

    /// Returns the result that an operation would have now, as the first alternative; `None` if it
    /// waits.
    #[must_use]
    pub fn would(&self, thread: ThreadId, op: &Op) -> Option<u64> {
        if let (Act::Load(_), Some(Object::Register(value))) = (&op.act, self.get(op.object)) {
            return Some(*value);
        }
        if let Act::Await(watched) = &op.act {
            return self.has_changed(thread, watched).then_some(0);
        }
        if op.act == Act::Yield {
            return Some(0);
        }
        let mut object = self.get(op.object)?.clone();
        match &op.act {
            Act::Wait { .. } => Some(0),
            act => object.perform(thread, act, 0),
        }
    }

    /// Performs an operation in one of its ways. Returns its result, or `None` and changes nothing
    /// if it has to wait.
    pub fn perform(&mut self, thread: ThreadId, op: &Op, alternative: u32) -> Option<u64> {
        match &op.act {
            Act::Choose(count) => (alternative < *count).then_some(u64::from(alternative)),
            Act::Fence(_)
            | Act::Fail(_)
            | Act::Spawn(_)
            | Act::Invoke(_)
            | Act::Return { .. }
            | Act::Yield => Some(0),
            Act::Await(watched) => self.has_changed(thread, watched).then_some(0),
            Act::Wait { lock, mode } => {
                self.of(op.object)?.wait(thread)?;
                self.of(*lock)?.unlock(*mode)
            }
            act => self.of(op.object)?.perform(thread, act, alternative),
        }
    }
}

impl Op {
    /// Calls `each` with every object whose state the operation reads or changes.
    #[inline]
    pub fn objects(&self, mut each: impl FnMut(ObjectId)) {
        match &self.act {
            // The object is what its operations between these do.
            Act::Invoke(_) | Act::Return { .. } => return,
            _ if self.object != ObjectId::NONE => each(self.object),
            _ => {}
        }
        match &self.act {
            Act::Wait { lock, .. } => each(*lock),
            Act::Await(watched) => watched.iter().for_each(|one| each(one.op.object)),
            _ => {}
        }
    }
}

impl Object {
    /// Performs an operation of this object alone; of a wait, the part at the condition.
    pub(crate) fn perform(&mut self, thread: ThreadId, act: &Act, alternative: u32) -> Option<u64> {
        match (act, &mut *self) {
            (Act::Load(_), Object::Register(value)) => Some(*value),
            (Act::Store(new, _), Object::Register(value)) => {
                *value = *new;
                Some(0)
            }
            (Act::Update { change, bits, .. }, Object::Register(value)) => {
                let old = *value;
                if let Some(new) = change.of(old, *bits) {
                    *value = registers::cut(new, *bits);
                }
                Some(old)
            }
            (Act::Use, Object::Data(version)) => Some(*version),
            // When all threads that knew it have ended.
            (Act::Use, Object::Count(count)) => Some(*count),
            (Act::Alter(new), Object::Data(version)) => {
                *version = *new;
                Some(0)
            }
            (Act::Access { .. }, Object::Data(version)) => Some(*version),
            (Act::Exit(left), Object::End(end)) => {
                *end = Some(*left);
                Some(0)
            }
            (Act::Join, Object::End(end)) => *end,
            (Act::IsFinished, Object::End(end)) => Some(u64::from(end.is_some())),
            (Act::Lock(mode, patience), _) => self.lock(thread, *mode, *patience),
            (Act::Unlock(mode), _) => self.unlock(*mode),
            (Act::Poison(poisoned), _) => self.poison(*poisoned),
            (Act::IsPoisoned, _) => self.is_poisoned(),
            (Act::IsFree(mode), _) => Some(u64::from(self.is_free(*mode))),
            (Act::Convert { from, to, patience }, _) => {
                self.convert(thread, (*from, *to), *patience)
            }
            (Act::Wait { .. }, _) => self.wait(thread),
            (Act::Wake(patience), _) => self.wake(thread, *patience),
            (Act::Notify { all, counted }, _) => self.notify(*all, alternative, *counted),
            (Act::Park(patience), _) => self.park(*patience),
            (Act::Unpark, _) => self.unpark(),
            (Act::Send(item, patience), _) => self.send(*item, *patience),
            (Act::Receive(patience), _) => self.receive(*patience),
            (Act::Senders(more), _) => self.ends(true, *more),
            (Act::Receivers(more), _) => self.ends(false, *more),
            (Act::Arrive, _) => self.arrive(),
            (Act::Pass(generation), _) => self.pass(*generation),
            (Act::Acquire(count, patience), _) => self.acquire(*count, *patience),
            (Act::Release(count), _) => self.release(*count),
            (Act::Close, _) => self.close(),
            (Act::Retain, _) => self.count().map(|count| {
                *count += 1;
                0
            }),
            (Act::Drop, _) => self.count().map(|count| {
                *count = count.saturating_sub(1);
                u64::from(*count == 0)
            }),
            (Act::Owners, _) => self.count().map(|count| *count),
            (Act::Upgrade, _) => self.count().map(|count| {
                let is_alive = *count > 0;
                *count += u64::from(is_alive);
                u64::from(is_alive)
            }),
            (Act::TakeSole, _) => self.count().map(|count| {
                let is_sole = *count == 1;
                *count -= u64::from(is_sole);
                u64::from(is_sole)
            }),
            _ => None,
        }
    }
}
