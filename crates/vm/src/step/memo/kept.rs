//! Where memories are kept between states: one for each thread, that of the machine it worked for last.

use super::tree::Memo;
use std::cell::Cell;

thread_local! {
    static KEPT: Cell<Option<(u64, Box<Memo>)>> = const { Cell::new(None) };
}

/// Takes the memory of a machine, by the machine's number, or a new one. Whoever takes it gives it back.
#[inline]
pub(crate) fn take(machine: u64) -> Box<Memo> {
    match KEPT.try_with(Cell::take) {
        Ok(Some((owner, memo))) if owner == machine => memo,
        _ => Box::default(),
    }
}

/// Gives a memory back.
#[inline]
pub(crate) fn give_back(machine: u64, memo: Box<Memo>) {
    // A thread that ends keeps nothing.
    let _ = KEPT.try_with(|kept| kept.set(Some((machine, memo))));
}
