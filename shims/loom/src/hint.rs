//! Hints.

pub use anyorder::hint::spin_loop;

/// As `std::hint::unreachable_unchecked`, but panics.
///
/// # Safety
///
/// Must not be reached.
///
/// # Panics
///
/// If it is reached.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("unreachable_unchecked was reached");
}
