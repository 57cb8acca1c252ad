//! How an operation touches an object, as far as commuting is concerned.

use super::sabotage::Sabotage;
use crate::ids::ObjectId;
use crate::op::{Act, LockMode, Op, Patience};

/// How an operation touches an object.
///
/// Two operations on different objects commute. On one object, those of two kinds commute wherever
/// both can be performed, unless the kinds are in conflict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(crate) enum Kind {
    /// Reads it.
    Observe,
    /// Changes it, or waits for a change.
    Change,
    /// Changes it in a way that commutes with itself: shared locking, permits given, tokens, owners
    /// added.
    Add,
    /// Takes a lock or fails.
    Attempt,
    /// Gives back what only the own thread holds: nobody who waits for it can go on before.
    Give,
    /// Removes an owner.
    Remove,
    /// Removes an owner after it removed one.
    RemoveMore,
    /// Waits for something that stays so for ever.
    After,
    /// Reads what nobody else can touch at that time.
    Guarded,
}

impl Kind {
    const ALL: [Kind; 9] = [
        Kind::Observe,
        Kind::Change,
        Kind::Add,
        Kind::Attempt,
        Kind::Give,
        Kind::Remove,
        Kind::RemoveMore,
        Kind::After,
        Kind::Guarded,
    ];

    /// As a set of one kind.
    pub(crate) const fn bit(self) -> u16 {
        1 << self as u16
    }

    /// The kinds in conflict with this one, as a set.
    pub(crate) const fn conflicts(self) -> u16 {
        use Kind::*;
        match self {
            Observe => Change.bit() | Add.bit() | Attempt.bit() | Kind::REMOVING,
            Change => Observe.bit() | Change.bit() | Add.bit() | Attempt.bit() | Kind::REMOVING,
            Add => Observe.bit() | Change.bit() | Attempt.bit() | Kind::REMOVING,
            Attempt => Observe.bit() | Change.bit() | Add.bit() | Attempt.bit() | Give.bit(),
            Give => Attempt.bit(),
            Remove | RemoveMore => Observe.bit() | Change.bit() | Add.bit() | Kind::REMOVING,
            After | Guarded => 0,
        }
    }

    /// The kinds that may make a waiting operation possible, as a set.
    pub(crate) const ENABLING: u16 = Kind::Change.bit()
        | Kind::Add.bit()
        | Kind::Attempt.bit()
        | Kind::Give.bit()
        | Kind::REMOVING;

    /// The kinds that remove owners.
    pub(crate) const REMOVING: u16 = Kind::Remove.bit() | Kind::RemoveMore.bit();
}

/// The union of the kinds in conflict with any of a set.
pub(crate) fn conflicts_of(kinds: u16, sabotage: Sabotage) -> u16 {
    let dropped = [
        (Sabotage::ReadsCommute, Kind::Observe),
        (Sabotage::AdditionsCommute, Kind::Add),
        (Sabotage::AttemptsCommute, Kind::Give),
    ];
    if dropped.iter().any(|(fault, kind)| sabotage == *fault && kinds == kind.bit()) {
        return 0;
    }
    let of =
        |set: u16, kind: Kind| if kinds & kind.bit() == 0 { set } else { set | kind.conflicts() };
    Kind::ALL.into_iter().fold(0, of)
}

/// Calls `each` with every object of an operation and how it is touched. Operations of which every
/// other thread's operations are independent have none.
pub(crate) fn touches(op: &Op, mut each: impl FnMut(ObjectId, Kind)) {
    let object = op.object;
    let kind = match &op.act {
        Act::Alter(_) | Act::Fail(_) | Act::Choose(_) | Act::Fence(_) | Act::Spawn(_) => return,
        // They touch the points of their calls.
        Act::Invoke(_) | Act::Return { .. } => return,
        Act::Yield => return,
        // Contents are protected by a lock, or handed over.
        Act::Use => Kind::Guarded,
        // Which of two accesses comes first does not matter: either nothing orders them, and that
        // is a race either way, or what orders them does.
        Act::Access { .. } => Kind::Guarded,
        Act::Load(_) | Act::Owners => Kind::Observe,
        Act::Join | Act::Pass(_) => Kind::After,
        Act::IsFinished => Kind::Attempt,
        Act::Exit(_) => Kind::Give,
        Act::Unlock(_) => Kind::Give,
        Act::Lock(LockMode::Shared, Patience::Wait) => Kind::Add,
        Act::Lock(_, Patience::Try | Patience::TimeOut) | Act::IsFree(_) => Kind::Attempt,
        Act::Convert { patience: Patience::Try | Patience::TimeOut, .. } => Kind::Attempt,
        Act::Unpark | Act::Release(_) | Act::Retain => Kind::Add,
        Act::Drop => Kind::Remove,
        Act::Wait { lock, .. } => {
            each(*lock, Kind::Give);
            Kind::Change
        }
        Act::Await(watched) => {
            for one in watched {
                each(one.op.object, Kind::Observe);
            }
            return;
        }
        _ => Kind::Change,
    };
    each(object, kind);
}

/// Whether the order of two operations of different threads can matter.
pub(crate) fn conflict(op: &Op, other: &Op) -> bool {
    if let (Act::Invoke(_), Act::Invoke(_)) = (&op.act, &other.act) {
        return op.object == other.object;
    }
    let mut found = false;
    touches(op, |object, kind| {
        touches(other, |of_other, its| {
            found |= object == of_other && kind.conflicts() & its.bit() != 0;
        });
    });
    found
}
