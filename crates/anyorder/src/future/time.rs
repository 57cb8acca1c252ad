//! Waiting for a time.
//!
//! A wait may end at any moment after it began: a thread of the engine ends it when it likes.
//! Durations are not compared: a program that is right only because one is longer than another
//! fails here.

use crate::sync::{Arc, Mutex};
use crate::thread;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::PoisonError;
use std::task::{Poll, Waker};
use std::time::Duration;

/// The time was over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl std::error::Error for Elapsed {}

/// Whether the time is over, and who waits for it.
#[derive(Default)]
struct Timer(Mutex<(bool, Option<Waker>)>);

/// Waits for some time.
pub async fn sleep(_duration: Duration) {
    let timer: Arc<Timer> = Arc::default();
    let theirs = Arc::clone(&timer);
    let body = move || {
        let mut state = theirs.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = true;
        let waker = state.1.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    };
    drop(thread::spawn_as("timer", body));
    poll_fn(|context| {
        let mut state = timer.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    })
    .await;
}

/// Waits for a future, or for some time.
///
/// # Errors
///
/// The time was over.
pub async fn timeout<F: Future>(duration: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut sleep = pin!(sleep(duration));
    let mut future = pin!(future);
    poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Ok(value));
        }
        sleep.as_mut().poll(context).map(|()| Err(Elapsed))
    })
    .await
}

/// Ticks, one after another; the first one at once.
#[derive(Debug)]
pub struct Interval {
    period: Duration,
    has_ticked: bool,
}

/// Makes ticks. As each wait may end at any moment, a tick is the end of a [`sleep`].
///
/// # Panics
///
/// If the period is 0.
///
/// ```
/// use anyorder::future::{self, time};
/// anyorder::check(|| {
///     let mut interval = time::interval(std::time::Duration::from_secs(1));
///     future::block_on(async {
///         interval.tick().await;
///         interval.tick().await;
///     });
/// });
/// ```
#[must_use]
pub fn interval(period: Duration) -> Interval {
    assert!(!period.is_zero(), "`period` must be non-zero");
    Interval { period, has_ticked: false }
}

impl Interval {
    /// Waits for the next tick.
    pub async fn tick(&mut self) {
        if std::mem::replace(&mut self.has_ticked, true) {
            sleep(self.period).await;
        }
    }

    /// Returns the time between two ticks.
    #[must_use]
    pub const fn period(&self) -> Duration {
        self.period
    }

    /// Begins anew: the next tick comes after a period.
    pub const fn reset(&mut self) {
        self.has_ticked = true;
    }
}
