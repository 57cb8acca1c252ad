//! Events as far as their order matters: which of them are dependent.
//!
//! Two events of different threads are dependent if they touch one object in conflicting ways, or
//! if one spawns the other's thread. What counts is what an event did: a failed exchange reads, a
//! successful one writes.

use super::sabotage::Sabotage;
use crate::ids::ObjectId;
use crate::op::{Act, LockMode, Op, Patience, received, sent};
use std::sync::Arc;

/// How an event touches an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Touch {
    /// Leaves it as it is. Commutes with itself, as do all but `Write`.
    Read,
    /// Changes it.
    Write,
    /// Takes or gives back a lock in shared mode.
    Share,
    /// Gives permits, sets a token, or adds an owner.
    Add,
    /// Removes an owner who is not the last one. Commutes with itself as long as another one is
    /// left: see [`Label::left`].
    Remove,
    /// Adds a sender.
    MoreSenders,
    /// Removes a sender.
    FewerSenders,
    /// Adds a receiver.
    MoreReceivers,
    /// Removes a receiver.
    FewerReceivers,
}

impl Touch {
    #[inline]
    pub(super) fn conflicts(self, other: Touch, sabotage: Sabotage) -> bool {
        match (self, other) {
            (Touch::Write, Touch::Write) => sabotage != Sabotage::WritesCommute,
            (Touch::Read, Touch::Write) => sabotage != Sabotage::ReadsCommute,
            (Touch::Write, Touch::Read) => sabotage != Sabotage::ReadsCommute,
            _ => self != other || (self == Touch::Read && sabotage == Sabotage::ReadsConflict),
        }
    }
}

/// No thread.
const NOBODY: u32 = u32::MAX;

/// An event as far as its order matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Label {
    pub(super) thread: u32,
    pub(super) alternative: u32,
    /// The thread that it spawns, if it does.
    spawns: u32,
    /// The object that it touches; [`ObjectId::NONE`] for none.
    pub(super) object: ObjectId,
    pub(super) touch: Touch,
    /// Of a removed owner: how many there were before.
    pub(super) left: u64,
    /// The other objects that it touches.
    more: Option<Arc<[(ObjectId, Touch)]>>,
}

impl Label {
    /// The label of an operation with this result, in one of its ways.
    pub(super) fn new(thread: u32, alternative: u32, op: &Op, result: u64) -> Label {
        let spawns = match op.act {
            Act::Spawn(child) => child.0,
            _ => NOBODY,
        };
        let mut label = Label {
            thread,
            alternative,
            spawns,
            object: ObjectId::NONE,
            touch: Touch::Read,
            left: 0,
            more: None,
        };
        match &op.act {
            Act::Await(watched) => {
                let mut objects: Vec<_> = watched.iter().map(|one| one.op.object).collect();
                objects.sort_unstable();
                objects.dedup();
                label.more = Some(objects.iter().map(|object| (*object, Touch::Read)).collect());
            }
            Act::Wait { lock, mode } => {
                (label.object, label.touch) = (op.object, Touch::Write);
                label.more = Some([(*lock, unlocks(*mode))].into());
            }
            act => {
                if let Some(touch) = touch_of(act, result) {
                    (label.object, label.touch) = (op.object, touch);
                }
            }
        }
        label
    }

    /// That of no event.
    pub(super) fn nothing() -> Label {
        let (thread, spawns, object) = (NOBODY, NOBODY, ObjectId::NONE);
        Label { thread, alternative: 0, spawns, object, touch: Touch::Read, left: 0, more: None }
    }

    /// The first one of its ways.
    pub(super) fn first_way(self) -> Label {
        Label { alternative: 0, ..self }
    }

    /// Calls `each` with every object that it touches.
    #[inline]
    pub(super) fn touches(&self, mut each: impl FnMut(ObjectId, Touch)) {
        if self.object != ObjectId::NONE {
            each(self.object, self.touch);
        }
        if let Some(more) = &self.more {
            more.iter().for_each(|(object, touch)| each(*object, *touch));
        }
    }

    /// How it touches an object.
    #[inline]
    pub(super) fn touch_on(&self, object: ObjectId) -> Option<Touch> {
        if self.object == object && object != ObjectId::NONE {
            return Some(self.touch);
        }
        let more = self.more.as_ref()?;
        more.iter().find(|touch| touch.0 == object).map(|touch| touch.1)
    }

    /// Whether it touches an object in a way that conflicts with another one.
    pub(super) fn conflicts(&self, other: &Label, sabotage: Sabotage) -> bool {
        if self.more.is_none() && other.more.is_none() {
            return self.object == other.object
                && self.object != ObjectId::NONE
                && self.touch.conflicts(other.touch, sabotage);
        }
        let mut found = false;
        self.touches(|object, touch| {
            let its = other.touch_on(object);
            found |= its.is_some_and(|its| touch.conflicts(its, sabotage));
        });
        found
    }

    /// Whether it cannot be swapped with another one that is next to it.
    #[inline]
    pub(super) fn is_dependent(&self, other: &Label, sabotage: Sabotage) -> bool {
        self.thread == other.thread
            || self.spawns == other.thread
            || other.spawns == self.thread
            || self.conflicts(other, sabotage)
    }

    /// Whether both remove an owner of one object.
    pub(super) fn removes_with(&self, other: &Label) -> bool {
        let removes = |label: &Label| label.touch == Touch::Remove;
        removes(self) && removes(other) && self.object == other.object
    }
}

fn unlocks(mode: LockMode) -> Touch {
    if mode == LockMode::Shared { Touch::Share } else { Touch::Write }
}

fn touch_of(act: &Act, result: u64) -> Option<Touch> {
    let writes_if = |writes: bool| if writes { Touch::Write } else { Touch::Read };
    Some(match act {
        Act::Fence(_)
        | Act::Fail(_)
        | Act::Choose(_)
        | Act::Spawn(_)
        | Act::Invoke(_)
        | Act::Return { .. }
        | Act::Yield => return None,
        Act::Load(_)
        | Act::Use
        | Act::Owners
        | Act::Join
        | Act::Pass(_)
        | Act::IsPoisoned
        | Act::IsFree(_)
        | Act::IsFinished
        | Act::Access { write: false } => Touch::Read,
        Act::Update { change, .. } => writes_if(change.writes(result)),
        Act::Lock(LockMode::Shared, _) if result & 1 == 1 => Touch::Share,
        Act::Lock(..)
        | Act::Convert { .. }
        | Act::Park(_)
        | Act::Acquire(..)
        | Act::Upgrade
        | Act::TakeSole => writes_if(result & 1 == 1),
        Act::Unlock(mode) => unlocks(*mode),
        Act::Send(..) => writes_if(result == sent::DONE),
        Act::Receive(_) => writes_if(result >= received::FIRST),
        Act::Unpark | Act::Release(_) | Act::Retain => Touch::Add,
        Act::Drop if result == 0 => Touch::Remove,
        Act::Senders(true) => Touch::MoreSenders,
        Act::Senders(false) => Touch::FewerSenders,
        Act::Receivers(true) => Touch::MoreReceivers,
        Act::Receivers(false) => Touch::FewerReceivers,
        _ => Touch::Write,
    })
}

/// Whether an operation may have to wait.
pub(super) fn can_wait(act: &Act) -> bool {
    matches!(
        act,
        Act::Lock(_, Patience::Wait)
            | Act::Convert { patience: Patience::Wait, .. }
            | Act::Wake(Patience::Wait)
            | Act::Park(Patience::Wait)
            | Act::Send(_, Patience::Wait)
            | Act::Receive(Patience::Wait)
            | Act::Acquire(_, Patience::Wait)
            | Act::Join
            | Act::Pass(_)
            | Act::Await(_)
    )
}

/// Whether how an operation touches its object is a matter of the object's state.
pub(super) fn is_open(act: &Act) -> bool {
    use crate::op::Change;
    match act {
        Act::Update { change, .. } => {
            matches!(change, Change::CompareExchange { .. } | Change::ExchangePlace { .. })
        }
        Act::Lock(_, patience) => *patience != Patience::Wait,
        Act::Convert { .. }
        | Act::Park(_)
        | Act::Acquire(..)
        | Act::Upgrade
        | Act::TakeSole
        | Act::Send(..)
        | Act::Receive(_)
        | Act::Drop => true,
        _ => false,
    }
}

/// The result that an operation has where it succeeds, as far as its label depends on it.
pub(super) fn success_of(act: &Act) -> u64 {
    match act {
        Act::Send(..) => sent::DONE,
        Act::Receive(_) => received::FIRST,
        _ => 1,
    }
}
