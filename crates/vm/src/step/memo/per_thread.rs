//! The memo of each thread, kept between states. A thread keeps the memo of the machine that it
//! worked for last.

use super::tree::Memo;
use std::cell::RefCell;

thread_local! {
    static MEMO: RefCell<Option<(u64, Box<Memo>)>> = const { RefCell::new(None) };
}

/// Takes the memo of a machine, by the machine's id, or a new one. The caller gives it back.
#[inline]
pub(crate) fn take(machine: u64) -> Box<Memo> {
    match MEMO.try_with(|slot| slot.try_borrow_mut().ok()?.take()) {
        Ok(Some((owner, memo))) if owner == machine => memo,
        _ => Box::default(),
    }
}

/// Gives a memo back.
#[inline]
pub(crate) fn give_back(machine: u64, memo: Box<Memo>) {
    // A thread that is ending keeps no memo.
    let _ = MEMO.try_with(|slot| {
        if let Ok(mut slot) = slot.try_borrow_mut() {
            *slot = Some((machine, memo));
        }
    });
}

/// Uses the memo of a machine in place. Returns `None` if this thread has none.
#[inline]
pub(crate) fn with<R>(machine: u64, work: impl FnOnce(&mut Memo) -> R) -> Option<R> {
    let result = MEMO.try_with(|slot| match slot.try_borrow_mut().ok()?.as_mut() {
        Some((owner, memo)) if *owner == machine => Some(work(memo)),
        _ => None,
    });
    result.ok().flatten()
}
