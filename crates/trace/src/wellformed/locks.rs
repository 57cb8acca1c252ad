//! The holders of locks.

use super::report::{Report, handler_name, lock_name};
use crate::event::{Event, EventKind};
use crate::ids::HandlerId;
use rustc_hash::FxHashMap;

/// How often a handler has taken a lock and not released it, in each mode.
#[derive(Clone, Copy, Debug, Default)]
struct Holding {
    exclusive: u32,
    shared: u32,
    /// The lifetime of the lock that the counts belong to.
    life: u32,
}

/// The state of one lock.
#[derive(Clone, Copy, Debug, Default)]
struct Lock {
    /// The handler that holds it exclusively.
    exclusive_by: HandlerId,
    /// The number of handlers that hold it shared.
    shared_by: u32,
    /// How often it was destroyed before.
    life: u32,
}

/// All locks. Handlers hold locks, not tasks: a task may release a lock that an earlier task of its
/// handler took.
#[derive(Debug, Default)]
pub(super) struct Locks {
    locks: FxHashMap<u32, Lock>,
    holdings: FxHashMap<(u32, HandlerId), Holding>,
}

impl Locks {
    pub(super) fn event(&mut self, event: &Event, report: &mut Report<'_>) {
        if !report.observed || matches!(event.kind(), EventKind::Refused | EventKind::Request) {
            return;
        }
        let handler = report.handler(event);
        let lock = self.locks.entry(event.operand).or_default();
        if event.kind() == EventKind::Destroy {
            // Its holders cannot release it any more. A new lock may take its place.
            *lock = Lock { life: lock.life.wrapping_add(1), ..Lock::default() };
            return;
        }
        let holding = self.holdings.entry((event.operand, handler)).or_default();
        if holding.life != lock.life {
            *holding = Holding { life: lock.life, ..Holding::default() };
        }
        if event.kind() == EventKind::Acquire {
            acquire(event, handler, lock, holding, report);
        } else {
            release(event, handler, lock, holding, report);
        }
    }
}

fn acquire(
    event: &Event,
    handler: HandlerId,
    lock: &mut Lock,
    holding: &mut Holding,
    report: &mut Report<'_>,
) {
    let trace = report.trace;
    let by_other = !lock.exclusive_by.is_none() && lock.exclusive_by != handler;
    let by_readers = lock.shared_by > u32::from(holding.shared > 0);
    let shared = event.mode().is_shared();
    if by_other || (by_readers && !shared) {
        let holder = lock.exclusive_by;
        report.doubt(event.id, || {
            let holder = if by_other {
                format!("handler `{}`", handler_name(trace, holder))
            } else {
                "a reader on another handler".to_owned()
            };
            format!("takes lock `{}` while {holder} has it", lock_name(trace, event))
        });
    }
    if shared {
        lock.shared_by += u32::from(holding.shared == 0);
        holding.shared += 1;
    } else {
        lock.exclusive_by = handler;
        holding.exclusive += 1;
    }
}

fn release(
    event: &Event,
    handler: HandlerId,
    lock: &mut Lock,
    holding: &mut Holding,
    report: &mut Report<'_>,
) {
    let trace = report.trace;
    if holding.exclusive == 0 && holding.shared == 0 {
        let holder = lock.exclusive_by;
        report.error_if_watched(event.id, || {
            let handler = handler_name(trace, handler);
            let holder = match holder.some() {
                Some(holder) => format!("; handler `{}` has it", handler_name(trace, holder)),
                None => String::new(),
            };
            let lock = lock_name(trace, event);
            format!("releases lock `{lock}`, which handler `{handler}` does not hold{holder}")
        });
        return;
    }
    // Some recorders release a lock in the same way, whatever the mode of its acquire.
    let shared = if event.mode().is_shared() { holding.shared > 0 } else { holding.exclusive == 0 };
    if shared {
        holding.shared -= 1;
        lock.shared_by -= u32::from(holding.shared == 0);
    } else {
        holding.exclusive -= 1;
        if holding.exclusive == 0 && lock.exclusive_by == handler {
            lock.exclusive_by = HandlerId::NONE;
        }
    }
}
