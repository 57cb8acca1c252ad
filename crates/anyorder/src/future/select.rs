//! The first of two futures, and futures that end early.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Which of two futures was ready first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Either<A, B> {
    /// The first one.
    Left(A),
    /// The second one.
    Right(B),
}

/// Waits for one of two futures; the other one is cancelled where it waits. If both are ready, each
/// of them may be the one: both are tried.
///
/// ```
/// use anyorder::future::{self, Either};
/// anyorder::check(|| {
///     let first = future::block_on(future::select(async { 1 }, std::future::pending::<()>()));
///     assert_eq!(first, Either::Left(1));
/// });
/// ```
pub async fn select<A: Future, B: Future>(a: A, b: B) -> Either<A::Output, B::Output> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let left_first = crate::choose(2) == 0;
    poll_fn(|context| {
        if left_first && let Poll::Ready(value) = a.as_mut().poll(context) {
            return Poll::Ready(Either::Left(value));
        }
        if let Poll::Ready(value) = b.as_mut().poll(context) {
            return Poll::Ready(Either::Right(value));
        }
        if !left_first && let Poll::Ready(value) = a.as_mut().poll(context) {
            return Poll::Ready(Either::Left(value));
        }
        Poll::Pending
    })
    .await
}

/// Runs a future to its end, or cancels it at any of the awaits at which it waits: all are tried.
/// `None` if it was cancelled.
///
/// ```
/// use anyorder::future;
/// anyorder::check(|| {
///     let value = future::block_on(future::cancel_anywhere(async {
///         future::yield_now().await;
///         1
///     }));
///     assert!(value.is_none_or(|value| value == 1));
/// });
/// ```
pub async fn cancel_anywhere<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if crate::choose(2) == 1 => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// Returns which of the branches is polled first: any that is enabled, or the first one. For the
/// macros.
#[doc(hidden)]
#[track_caller]
#[must_use]
pub fn first_branch(is_biased: bool, is_enabled: &[bool]) -> usize {
    let enabled = is_enabled.iter().filter(|is_enabled| **is_enabled).count();
    if is_biased || enabled < 2 {
        return 0;
    }
    let chosen = crate::choose(u32::try_from(enabled).unwrap_or(u32::MAX)) as usize;
    let mut all = (0..is_enabled.len()).filter(|branch| is_enabled[*branch]);
    all.nth(chosen).unwrap_or(0)
}

/// Returns the branch that has a turn. For the macros.
#[doc(hidden)]
#[must_use]
pub const fn branch_in_turn(turn: usize, branches: usize) -> usize {
    turn % branches
}
