//! Tasks.

use crate::runtime::{self, Slot};
use crate::sync::Mutex;
use crate::thread;
use anyorder_threads::{Act, Object, ObjectId, Patience};
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Where a task waits to be polled again: a token that its wakers make available.
struct Signal(Slot);

impl Signal {
    fn new() -> Arc<Signal> {
        Arc::new(Signal(Slot::made(|| Object::Token(false))))
    }

    fn id(&self) -> ObjectId {
        self.0.id(|| Object::Token(false))
    }

    fn wait(&self, at: &'static Location<'static>) {
        runtime::perform(self.id(), Act::Park(Patience::Wait), at);
    }

    /// Waits, or goes on without a reason. Returns whether there was one.
    fn wait_or_not(&self, at: &'static Location<'static>) -> bool {
        runtime::perform(self.id(), Act::Park(Patience::TimeOut), at) == 1
    }
}

impl Wake for Signal {
    #[track_caller]
    fn wake(self: Arc<Signal>) {
        self.wake_by_ref();
    }

    #[track_caller]
    fn wake_by_ref(self: &Arc<Signal>) {
        runtime::perform_in_drop(self.id(), Act::Unpark, Location::caller());
    }
}

/// Runs a future to its end on this thread.
///
/// ```
/// anyorder::check(|| assert_eq!(anyorder::future::block_on(async { 1 }), 1));
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    block_on_with_spurious_polls(future, 0)
}

/// As [`block_on`], but the future may also be polled so often without a reason.
#[track_caller]
pub fn block_on_with_spurious_polls<F: Future>(future: F, spurious_max: u32) -> F::Output {
    let (at, mut spurious) = (Location::caller(), spurious_max);
    let signal = Signal::new();
    let waker = Waker::from(Arc::clone(&signal));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        if spurious == 0 {
            signal.wait(at);
        } else if !signal.wait_or_not(at) {
            spurious -= 1;
        }
    }
}

/// What a task and its handles share.
struct Task<T> {
    state: Mutex<State<T>>,
    signal: Arc<Signal>,
}

struct State<T> {
    result: Option<Result<T, JoinError>>,
    is_over: bool,
    is_aborted: bool,
    joiner: Option<Waker>,
}

/// Why a task has no value.
pub struct JoinError(Option<Box<dyn Any + Send>>);

impl JoinError {
    /// Returns whether it was aborted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether it panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the payload of its panic.
    ///
    /// # Panics
    ///
    /// If it did not panic.
    #[must_use]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.0.expect("the task did not panic")
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_panic() { "JoinError::Panic" } else { "JoinError::Cancelled" })
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_panic() { "task panicked" } else { "task was cancelled" })
    }
}

impl std::error::Error for JoinError {}

/// A task from outside: a future of its value. Without it the task goes on.
pub struct JoinHandle<T> {
    task: Arc<Task<T>>,
}

/// What aborts a task.
#[derive(Clone)]
pub struct AbortHandle {
    abort: Arc<dyn Fn() + Send + Sync>,
    is_finished: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// Starts a task.
///
/// ```
/// use anyorder::future;
/// anyorder::check(|| {
///     let task = future::spawn(async { 1 });
///     assert_eq!(future::block_on(task).unwrap(), 1);
/// });
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    start(future, Location::caller())
}

/// As [`spawn`], for what must not go to another thread of the system: none does.
///
/// ```
/// use anyorder::future;
/// use std::rc::Rc;
/// anyorder::check(|| {
///     let number = Rc::new(1);
///     let task = future::spawn_local(async move { *number });
///     assert_eq!(future::block_on(task).unwrap(), 1);
/// });
/// ```
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    start(future, Location::caller())
}

#[track_caller]
fn start<F>(future: F, at: &'static Location<'static>) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let state = State { result: None, is_over: false, is_aborted: false, joiner: None };
    let task = Arc::new(Task { state: Mutex::new(state), signal: Signal::new() });
    let theirs = Arc::clone(&task);
    // The thread has no value of its own: who joins the task looks at its state.
    let body = move || {
        let result = runtime::run_to_end(|| theirs.run(future, at));
        theirs.end(result.unwrap_or_else(|payload| Err(JoinError(Some(payload)))));
    };
    drop(thread::spawn_as("task", body));
    JoinHandle { task }
}

impl<T> Task<T> {
    /// Polls the future to its end, or until the task is aborted.
    fn run(
        &self,
        future: impl Future<Output = T>,
        at: &'static Location<'static>,
    ) -> Result<T, JoinError> {
        let waker = Waker::from(Arc::clone(&self.signal));
        let mut future = Box::pin(future);
        loop {
            if self.lock().is_aborted {
                return Err(JoinError(None));
            }
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Ok(value);
            }
            self.signal.wait(at);
        }
    }

    fn lock(&self) -> crate::sync::MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn end(&self, result: Result<T, JoinError>) {
        let mut state = self.lock();
        (state.result, state.is_over) = (Some(result), true);
        let joiner = state.joiner.take();
        drop(state);
        joiner.into_iter().for_each(Waker::wake);
    }

    fn abort(&self) {
        self.lock().is_aborted = true;
        self.signal.wake_by_ref();
    }
}

impl<T> JoinHandle<T> {
    /// Cancels the task where it waits next.
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Returns whether the task has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.lock().is_over
    }

    /// Returns what aborts the task.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle
    where
        T: Send + 'static,
    {
        let (task, other) = (Arc::clone(&self.task), Arc::clone(&self.task));
        AbortHandle {
            abort: Arc::new(move || task.abort()),
            is_finished: Arc::new(move || other.lock().is_over),
        }
    }
}

impl AbortHandle {
    /// Cancels the task where it waits next.
    pub fn abort(&self) {
        (self.abort)();
    }

    /// Returns whether the task has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        (self.is_finished)()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").finish_non_exhaustive()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.task.lock();
        assert!(!state.is_over || state.result.is_some(), "polled after it was ready");
        match state.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                state.joiner = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Lets others go on: is polled twice.
pub async fn yield_now() {
    let mut is_ready = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut is_ready, true) {
            return Poll::Ready(());
        }
        thread::yield_now();
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
