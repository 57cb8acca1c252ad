//! A closure as a program for the engines.

use super::abort::Describe;
use super::core::Core;
use super::failure::{Panic, Position, hook_panics};
use super::leaks::Leaked;
use super::lifetimes::Misuse;
use super::perform::run_to_end;
use super::slot::About;
use anyorder_threads::{Act, Beside, Next, Object, ObjectId, Op, SiteId, ThreadId, ThreadProgram};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What programs have at first for the stack of a thread, in bytes. Pages that are not touched take
/// no memory.
pub(crate) const STACK_SIZE: usize = 1 << 20;

pub(super) type Body = Arc<dyn Fn() + Send + Sync>;

/// A closure whose threads and objects are those of this crate: each call of it is an execution.
///
/// ```
/// use anyorder::Program;
/// let program = Program::new(|| assert_eq!(1 + 1, 2));
/// # drop(program);
/// ```
pub struct Program {
    pub(super) body: Body,
    pub(super) core: Box<Core>,
    /// How often it was run.
    runs: Arc<AtomicU64>,
}

/// How a program is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The size of the stack of each thread, in bytes.
    pub stack_size: usize,
    /// Whether the panic of a spawned thread is a result for its join, and no failure.
    pub panics_are_results: bool,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting { stack_size: STACK_SIZE, panics_are_results: false }
    }
}

impl Program {
    /// Makes a program of a closure.
    pub fn new(body: impl Fn() + Send + Sync + 'static) -> Program {
        Program::with(Setting::default(), Arc::new(body))
    }

    /// Makes a program of a closure, with a setting.
    #[must_use]
    pub fn with(setting: Setting, body: Arc<dyn Fn() + Send + Sync>) -> Program {
        hook_panics();
        Program::of(body, Core::new(setting, None), Arc::default())
    }

    pub(super) fn of(body: Body, core: Core, runs: Arc<AtomicU64>) -> Program {
        Program { body, core: Box::new(core), runs }
    }

    /// Returns how often it was run: a count that goes on.
    pub(crate) fn runs(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.runs)
    }

    /// Returns the panic of a [`Fail`](anyorder_threads::Act::Fail).
    #[must_use]
    pub fn panic(&self, number: u32) -> Option<Panic> {
        self.core.state.borrow().panics.get(number).cloned()
    }

    /// Returns a call of an [`Invoke`](anyorder_threads::Act::Invoke) in words.
    #[must_use]
    pub fn call(&self, number: u64) -> String {
        self.core.calls.borrow().words(number)
    }

    /// Returns where a position is.
    #[must_use]
    pub fn position(&self, site: SiteId) -> Option<Position> {
        self.core.state.borrow().names.location(site).map(Position::from)
    }

    /// Returns the name that a thread of the last execution was given, if it has one.
    #[must_use]
    pub fn thread_name(&self, thread: ThreadId) -> Option<Arc<str>> {
        self.core.state.borrow().strands.get(thread.index())?.as_ref()?.name.clone()
    }

    /// Returns what reports say of an object.
    pub(crate) fn about(&self, object: ObjectId) -> Option<About> {
        self.core.state.borrow().names.about(object)
    }

    /// Returns how far two objects are from each other, if they are in one memory.
    pub(crate) fn distance(&self, a: ObjectId, b: ObjectId) -> Option<u64> {
        self.core.state.borrow().names.distance(a, b)
    }

    /// Sets what makes the text that runs an execution again, for panics that end the process.
    pub(crate) fn set_describe(&self, describe: Describe) {
        self.core.set_describe(describe);
    }

    /// Takes the leaks of the executions since they were taken last, each once.
    pub(crate) fn take_leaks(&mut self) -> Vec<Leaked> {
        self.core.state.borrow_mut().leaks.take()
    }

    /// Takes the misuses of memory since they were taken last, each once, and those that another
    /// execution may show.
    pub(crate) fn take_misuses(&mut self) -> (Vec<Misuse>, Vec<Misuse>) {
        self.core.state.borrow_mut().lifetimes.take()
    }

    /// Makes the engine see the frees after which memory may be used. Returns whether there are any
    /// in the executions so far.
    pub(crate) fn begin_watching(&mut self) -> bool {
        self.core.stop();
        let is_needed = self.core.state.borrow_mut().begin_watch();
        self.core.is_watching.set(is_needed);
        is_needed
    }

    pub(crate) fn end_watching(&mut self) {
        self.core.stop();
        self.core.state.borrow_mut().end_watching();
        self.core.is_watching.set(false);
    }

    /// Returns whether an atomic was moved in some execution and it is not known which one.
    #[must_use]
    pub fn has_moved(&self) -> bool {
        self.core.state.borrow().has_moved
    }

    /// Returns whether names may depend on the schedule: some object was at an address of which
    /// nothing is known. Then an engine may take one object for two.
    #[must_use]
    pub fn has_loose_names(&self) -> bool {
        self.core.state.borrow().has_loose_names
    }

    /// Returns whether a lock or cell that was made outside of the executions holds data that does
    /// not begin anew in each of them.
    #[must_use]
    pub fn has_outside_data(&self) -> bool {
        self.core.state.borrow().has_outside_data
    }

    /// Sets whether locks are taken to protect data that is elsewhere, and not seen: then whoever
    /// takes one sees all that its holders before had seen.
    pub(crate) fn set_guards_unseen(&mut self, guards_unseen: bool) {
        self.core.state.borrow_mut().guards_unseen = guards_unseen;
    }

    /// Returns how many objects have numbers.
    #[must_use]
    pub fn objects_count(&self) -> usize {
        self.core.state.borrow().names.objects_count()
    }
}

impl ThreadProgram for Program {
    fn start(&mut self) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let body = Arc::clone(&self.body);
        self.core.start(Box::new(move || {
            // The panic was told.
            let _ = run_to_end(|| body());
            0
        }));
    }

    fn resume(&mut self, thread: ThreadId, result: u64) -> Next {
        let mut next = Next { op: Op::new(ObjectId::NONE, Act::Yield), site: SiteId::NONE };
        self.core.resume(thread, result, &mut next);
        next
    }

    #[inline]
    fn resume_to(&mut self, thread: ThreadId, result: u64, next: &mut Next) {
        self.core.resume(thread, result, next);
    }

    fn stop(&mut self) {
        self.core.stop();
    }

    fn begin_trial(&mut self) {
        self.core.state.borrow_mut().begin_trial();
    }

    fn initial(&self, object: ObjectId) -> Object {
        self.core.state.borrow().names.initial(object)
    }

    fn commute(&self, _: ObjectId, call: u64, other: u64) -> bool {
        self.core.calls.borrow().commute(call, other)
    }

    fn may_hide_data(&self) -> bool {
        self.core.state.borrow().has_locks
    }

    fn is_bound(&self) -> bool {
        let state = self.core.state.borrow();
        state.has_loose_names || state.has_outside_data
    }

    fn beside(&self) -> Beside {
        let state = self.core.state.borrow();
        let (misuses, is_tired) = state.lifetimes.counted();
        Beside { leaks: state.leaks.count(), misuses, is_tired }
    }

    fn has_more(&self) -> bool {
        match &self.core.shared {
            Some(shared) => shared.has_dangers(),
            None => self.core.state.borrow().lifetimes.watch.has_dangers(),
        }
    }
}
