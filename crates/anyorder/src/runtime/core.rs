//! The program under test: its threads as coroutines, one execution after another.
//!
//! The code of the program runs in coroutines, and all that runs there goes through [`with`] to
//! come here. No borrow of the state is held while a coroutine runs.

use super::abort::{self, Describe};
use super::arena;
use super::calls::Calls;
use super::contents::Storage;
use super::failure::{Panic, Panics, Position};
use super::forks::Shared;
use super::leaks::{Leaks, Log};
use super::lifetimes::Lifetimes;
use super::names::{Names, Place};
use super::program::Setting;
use super::slot::About;
use super::strand::{Body, Routine, Strand};
use anyorder_threads::{Act, Next, Object, ObjectId, Op, SiteId, ThreadId, World};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

thread_local! {
    /// The program whose code runs on this thread of the system.
    static CURRENT: Cell<*const Core> = const { Cell::new(ptr::null()) };
}

/// How many panics of a thread are kept that may have been caught.
const PANICS_MAX: usize = 16;

/// The messages of panics after which the process aborts.
const ABORTING: [&str; 2] =
    ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

/// Numbers of executions, over all programs of the process. 0 is none.
static EXECUTIONS: AtomicU64 = AtomicU64::new(1);

/// Numbers of programs of the process.
static PROGRAMS: AtomicU32 = AtomicU32::new(1);

/// Calls `f` with the program whose code runs, if there is one. What `f` allocates is not part of
/// the program.
#[inline]
pub(crate) fn with<R>(f: impl FnOnce(&Core) -> R) -> Option<R> {
    let (core, before) = come_here()?;
    // SAFETY: it is set only while the program is borrowed by `enter`, which resets it.
    let result = f(unsafe { &*core });
    arena::activate(before);
    Some(result)
}

/// Calls `f` with the program whose code runs, from a handler of signals.
#[cfg(unix)]
pub(super) fn crashed(f: impl FnOnce(&Core)) {
    // It is asked for only where there is one: a handler must not end in a panic.
    let Some((core, before)) = come_here() else { return };
    // SAFETY: as in `with`.
    f(unsafe { &*core });
    arena::activate(before);
}

/// What of [`with`] is the same for all that is called.
#[inline]
fn come_here() -> Option<(*const Core, *mut arena::Bump)> {
    let core = CURRENT.with(Cell::get);
    (!core.is_null()).then(|| (core, arena::activate(ptr::null_mut())))
}

/// What the code of the program may do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// No execution.
    Idle,
    /// Operations go to the engine.
    Running,
    /// The execution ends: only destructors of statics run, and no operation waits.
    Stopping,
}

/// A thread that is about to run: its coroutine, where it takes memory, what gives way.
type Prepared = (Routine, *mut arena::Bump, *const Yielder<u64, ()>);

pub(crate) struct Core {
    pub(super) state: RefCell<State>,
    pub(super) calls: RefCell<Calls>,
    phase: Cell<Phase>,
    execution: Cell<u64>,
    /// Where an object was when its number was asked for last.
    asked: Cell<(ObjectId, usize)>,
    /// That of the coroutine that runs; null outside of coroutines.
    pub(super) yielder: Cell<*const Yielder<u64, ()>>,
    /// Where the operation goes at which the coroutine stops that runs.
    pub(super) next: Cell<*mut Next>,
    pub(super) setting: Setting,
    /// Whether the engine sees frees.
    pub(super) is_watching: Cell<bool>,
    /// Makes the text that runs an execution again.
    describe: Cell<Option<Describe>>,
    /// What the program shares with others, that run at the same time.
    pub(super) shared: Option<Arc<Shared>>,
}

pub(crate) struct State {
    /// The number of the program.
    pub(super) program: u32,
    pub(crate) names: Names,
    pub(crate) panics: Panics,
    /// By number.
    pub(super) strands: Vec<Option<Box<Strand>>>,
    /// Those of this execution, in the order in which they were spawned.
    pub(super) alive: Vec<ThreadId>,
    pub(super) current: ThreadId,
    /// What was performed, to find the states of objects when an execution is cut short.
    pub(super) log: Log,
    /// The objects after so many entries of the log.
    shadow: Option<(usize, World)>,
    stacks: Vec<DefaultStack>,
    retired: Vec<usize>,
    pub(super) storage: Storage,
    /// What `alloc` gave out in this execution, by address.
    pub(super) allocated: FxHashMap<usize, ObjectId>,
    pub(super) leaks: Leaks,
    pub(super) lifetimes: Lifetimes,
    /// How many objects were dropped in this execution at a place.
    pub(super) ends: FxHashMap<Place, u32>,
    /// The loads without synchronisation in this execution, by their numbers in the log.
    pub(super) unsync_loads: Vec<usize>,
    #[cfg(feature = "std-size")]
    pub(super) registers: super::registers::Registers,
    /// Whether some name depends on the schedule.
    pub(super) has_loose_names: bool,
    /// Whether an atomic was moved and it is not known which one.
    pub(super) has_moved: bool,
    /// Whether some data lies outside of the executions and is not the same in each.
    pub(super) has_outside_data: bool,
    /// Whether some lock is taken.
    pub(super) has_locks: bool,
    /// Whether locks are taken to protect data that is elsewhere, and not seen.
    pub(super) guards_unseen: bool,
}

impl Core {
    pub(crate) fn new(setting: Setting, shared: Option<Arc<Shared>>) -> Core {
        let state = State {
            program: PROGRAMS.fetch_add(1, Ordering::Relaxed),
            names: Names::new(shared.as_ref().map(|shared| Arc::clone(&shared.names))),
            panics: Panics::default(),
            strands: Vec::new(),
            alive: Vec::new(),
            current: ThreadId::MAIN,
            log: Vec::new(),
            shadow: None,
            stacks: Vec::new(),
            retired: Vec::new(),
            storage: Storage::default(),
            allocated: FxHashMap::default(),
            leaks: Leaks::default(),
            lifetimes: Lifetimes::new(shared.is_some()),
            ends: FxHashMap::default(),
            unsync_loads: Vec::new(),
            #[cfg(feature = "std-size")]
            registers: Default::default(),
            has_loose_names: false,
            has_moved: false,
            has_outside_data: false,
            has_locks: false,
            guards_unseen: false,
        };
        Core {
            state: RefCell::new(state),
            calls: RefCell::default(),
            phase: Cell::new(Phase::Idle),
            execution: Cell::new(0),
            asked: Cell::new((ObjectId::NONE, 0)),
            yielder: Cell::new(ptr::null()),
            next: Cell::new(ptr::null_mut()),
            setting,
            is_watching: Cell::new(false),
            describe: Cell::new(None),
            shared,
        }
    }

    #[inline]
    pub(crate) fn execution(&self) -> u64 {
        self.execution.get()
    }

    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// Notes where an object is, which is about to be used.
    #[inline]
    pub(super) fn note_address(&self, object: ObjectId, address: usize) {
        self.asked.set((object, address));
    }

    /// Returns where an object is, if it was asked for last, and once.
    #[inline]
    pub(super) fn address_of(&self, object: ObjectId) -> Option<usize> {
        let (asked, address) = self.asked.replace((ObjectId::NONE, 0));
        (asked == object).then_some(address)
    }

    /// Returns whether the code that runs is that of a thread.
    pub(super) fn is_inside(&self) -> bool {
        !self.yielder.get().is_null()
    }

    pub(super) fn set_describe(&self, describe: Describe) {
        self.describe.set(Some(describe));
    }

    /// Returns the thread whose code runs, and from where to where its stack is, if that can be
    /// told now.
    #[cfg(unix)]
    pub(super) fn running(&self) -> Option<(ThreadId, (usize, usize))> {
        let state = self.state.try_borrow().ok()?;
        let strand = state.strands.get(state.current.index())?.as_ref()?;
        Some((state.current, strand.stack))
    }

    /// Returns the text that runs this execution again, if that can be told now.
    #[cfg(unix)]
    pub(super) fn schedule(&self) -> Option<String> {
        let state = self.state.try_borrow().ok()?;
        Some(self.describe.get()?(&state.log))
    }

    pub(super) fn describe(&self) -> Option<Describe> {
        self.describe.get()
    }

    /// Begins an execution of a program that is this closure.
    pub(crate) fn start(&self, body: Body) {
        self.stop();
        #[cfg(unix)]
        super::crash::watch();
        self.execution.set(EXECUTIONS.fetch_add(1, Ordering::Relaxed));
        self.phase.set(Phase::Running);
        let mut state = self.state.borrow_mut();
        state.begin(ThreadId::MAIN, body, None, false);
    }

    /// Runs a thread to its next operation.
    #[inline]
    pub(crate) fn resume(&self, thread: ThreadId, result: u64, next: &mut Next) {
        let (mut routine, bump, yielder) = self.prepare(thread, result);
        self.next.set(next);
        let outcome = self.enter(yielder, bump, || routine.resume(result));
        let state = &mut *self.state.borrow_mut();
        let strand = state.strands[thread.index()].as_mut().expect("a thread that runs");
        match outcome {
            CoroutineResult::Yield(()) => strand.routine = Some(routine),
            CoroutineResult::Return(()) => {
                strand.keep_stack(routine.into_stack(), &mut state.stacks);
                *next =
                    Next { op: Op::new(strand.end, Act::Exit(strand.exit)), site: SiteId::NONE };
            }
        }
    }

    #[inline(always)]
    fn prepare(&self, thread: ThreadId, result: u64) -> Prepared {
        let state = &mut *self.state.borrow_mut();
        state.current = thread;
        let strand = state.strands[thread.index()].as_mut().expect("a thread that was spawned");
        let Some(routine) = strand.routine.take() else { return self.first(thread, state) };
        strand.log_last(result, &mut state.log);
        (routine, ptr::from_mut(&mut *strand.bump), strand.yielder)
    }

    /// Makes the coroutine of a thread.
    #[inline(never)]
    fn first(&self, thread: ThreadId, state: &mut State) -> Prepared {
        let strand = state.strands[thread.index()].as_mut().expect("a thread that was spawned");
        let bump = ptr::from_mut(&mut *strand.bump);
        let body = strand.body.take().expect("a thread runs once");
        let stack = strand.own_stack.take().or_else(|| state.stacks.pop()).unwrap_or_else(|| {
            DefaultStack::new(self.setting.stack_size).expect("memory for the stack of a thread")
        });
        strand.set_stack(&stack);
        let core = ptr::from_ref(self);
        let routine = Coroutine::with_stack(stack, move |yielder: &Yielder<u64, ()>, _| {
            // SAFETY: `stop` ends all coroutines before the core goes.
            unsafe { (*core).run(thread, yielder, body) }
        });
        (routine, bump, ptr::null())
    }

    /// Calls `f` as code of the program.
    #[inline(always)]
    fn enter<R>(
        &self,
        yielder: *const Yielder<u64, ()>,
        bump: *mut arena::Bump,
        f: impl FnOnce() -> R,
    ) -> R {
        let outer = CURRENT.with(|current| current.replace(self));
        self.yielder.set(yielder);
        let memory = arena::activate(bump);
        let result = f();
        arena::activate(memory);
        self.yielder.set(ptr::null());
        self.next.set(ptr::null_mut());
        CURRENT.with(|current| current.set(outer));
        result
    }

    /// The life of a thread, on its own stack.
    fn run(&self, thread: ThreadId, yielder: &Yielder<u64, ()>, body: Body) {
        self.yielder.set(yielder);
        let is_given = self.with_strand(thread, |strand| {
            strand.yielder = yielder;
            strand.is_given
        });
        // What is named here is not memory of the thread.
        if is_given {
            let here = panic::Location::caller();
            let given = with(|core| core.only_object(Place::Given(thread), Object::Data(0)));
            given.map(|given| with(|core| core.perform(Op::new(given, Act::Use), here)));
        }
        let exit = body();
        self.destroy_locals(thread);
        with(Core::perform_deferred);
        self.with_strand(thread, |strand| {
            let is_known = strand.spawned == 0;
            strand.exit = if is_known { exit } else { strand.version() };
        });
    }

    #[inline]
    pub(super) fn with_strand<R>(&self, thread: ThreadId, f: impl FnOnce(&mut Strand) -> R) -> R {
        let mut state = self.state.borrow_mut();
        f(state.strands[thread.index()].as_mut().expect("a thread that was spawned"))
    }

    /// Calls `f` with the thread whose code runs.
    #[inline]
    pub(crate) fn with_current<R>(&self, f: impl FnOnce(&mut Strand) -> R) -> R {
        let mut state = self.state.borrow_mut();
        let current = state.current;
        f(state.strands[current.index()].as_mut().expect("a thread that was spawned"))
    }

    fn destroy_locals(&self, thread: ThreadId) {
        while let Some(owned) = self.with_strand(thread, |strand| strand.locals.pop()) {
            // SAFETY: each value is taken once, and freed as it was made.
            let free = || unsafe { (owned.free)(owned.value) };
            if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(free)) {
                self.fail(payload);
            }
        }
    }

    /// Names a new thread of the running one, and where it is joined. It begins when it is resumed.
    pub(crate) fn spawn(&self, body: Body, name: Option<Arc<str>>) -> (ThreadId, ObjectId, bool) {
        let state = &mut *self.state.borrow_mut();
        let creator = state.current;
        let strand = state.strands[creator.index()].as_mut().expect("a thread that runs");
        let (ordinal, is_varied) = (strand.spawned, strand.is_varied);
        strand.spawned += 1;
        let thread = state.names.thread(creator, ordinal);
        let end = state.begin(thread, body, name, is_varied);
        (thread, end, is_varied)
    }

    /// Gives the next object of the running thread its number.
    pub(crate) fn make(&self, at_first: Object, about: About) -> ObjectId {
        let execution = self.execution.get();
        let state = &mut *self.state.borrow_mut();
        let current = state.current;
        let strand = state.strands[current.index()].as_mut().expect("a thread that was spawned");
        let place = Place::Made(current, strand.made);
        strand.made += 1;
        state.names.object(execution, (place, 0), at_first, Some(about))
    }

    /// Gives an object at an address its number.
    pub(crate) fn find(&self, address: usize, at_first: Object, about: About) -> ObjectId {
        let place = self.place_of(address);
        let state = &mut *self.state.borrow_mut();
        let place_now = (place, state.ends.get(&place).copied().unwrap_or(0));
        let object = state.names.object(self.execution.get(), place_now, at_first, Some(about));
        if let Place::Heap(thread, position) = place {
            state.lifetimes.name(thread, position, object);
        }
        object
    }

    /// Notes that an object was dropped: the next one at its place is another one.
    pub(super) fn end(&self, address: usize) {
        if self.phase.get() == Phase::Running
            && self.is_inside()
            && let Ok(mut state) = self.state.try_borrow_mut()
        {
            let state = &mut *state;
            if let Some(place) = state.memory_at(address) {
                *state.ends.entry(place).or_default() += 1;
            }
            #[cfg(feature = "std-size")]
            state.registers.end(address);
        }
    }

    pub(crate) fn only_object(&self, place: Place, at_first: Object) -> ObjectId {
        self.state.borrow_mut().names.only_object(place, at_first)
    }

    /// Remembers the panic of the running thread. Returns whether it is one of ours to tell.
    pub(super) fn note_panic(&self, message: String, position: Option<Position>) -> bool {
        if !self.is_inside() {
            return false;
        }
        if ABORTING.contains(&message.as_str()) {
            // The standard library aborts the process next.
            let panics = self.with_current(|strand| strand.panics.clone());
            abort::tell(&panics, self.describe.get(), &self.state.borrow().log);
            return false;
        }
        let is_running = self.phase.get() != Phase::Stopping;
        self.with_current(|strand| {
            if strand.panics.len() == PANICS_MAX {
                strand.panics.remove(0);
            }
            strand.panics.push(Panic { thread: strand.id, message, position });
        });
        is_running
    }

    /// Ends the execution, wherever it is.
    pub(crate) fn stop(&self) {
        if self.phase.get() == Phase::Idle {
            return;
        }
        self.phase.set(Phase::Stopping);
        let is_complete = self.state.borrow().is_complete();
        self.state.borrow_mut().end_lifetimes();
        while let Some(thread) = self.take_youngest() {
            self.abandon(thread);
        }
        let stored = mem::take(&mut self.state.borrow_mut().storage);
        if is_complete {
            self.enter(ptr::null(), ptr::null_mut(), || drop(stored));
        } else {
            // As with what threads own.
            mem::forget(stored);
        }
        let state = &mut *self.state.borrow_mut();
        state.leaks.end_execution(is_complete, &state.log);
        state.end();
        self.phase.set(Phase::Idle);
    }

    fn take_youngest(&self) -> Option<ThreadId> {
        let state = &mut *self.state.borrow_mut();
        let thread = state.alive.last().copied()?;
        state.current = thread;
        Some(thread)
    }

    /// Forgets a thread that has not ended. No destructor runs: where the thread is, they may find
    /// what they never find, and one that panics while a stack is unwound ends the process. What
    /// the thread owns is lost; its stack is used again.
    fn abandon(&self, thread: ThreadId) {
        let state = &mut *self.state.borrow_mut();
        let at = state.alive.iter().rposition(|other| *other == thread).expect("it is alive");
        state.alive.remove(at);
        let State { strands, retired, stacks, .. } = state;
        let strand = strands[thread.index()].as_mut().expect("it was spawned");
        if let Some(mut routine) = strand.routine.take() {
            // SAFETY: nobody uses what is on the stack any more: the threads that may borrow from
            // it are forgotten, too.
            unsafe { routine.force_reset() };
            strand.keep_stack(routine.into_stack(), stacks);
        }
        mem::forget(strand.body.take());
        strand.locals.forget();
        strand.bump.reset(retired);
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.stop();
        if let Some(shared) = &self.shared {
            shared.add_notes(&mut self.state.borrow_mut().lifetimes.watch);
        }
    }
}

impl State {
    /// Begins a thread. Returns where it is joined.
    fn begin(
        &mut self,
        thread: ThreadId,
        body: Body,
        name: Option<Arc<str>>,
        is_given: bool,
    ) -> ObjectId {
        if self.strands.len() <= thread.index() {
            self.strands.resize_with(thread.index() + 1, || None);
        }
        let (names, program) = (&mut self.names, self.program);
        let strand = self.strands[thread.index()].get_or_insert_with(|| {
            let end = names.only_object(Place::End(thread), Object::End(None));
            let token = names.only_object(Place::Token(thread), Object::Token(false));
            Box::new(Strand::new(program, thread, end, token))
        });
        strand.begin(body, name, is_given);
        self.alive.push(thread);
        strand.end
    }

    /// Returns whether all threads have ended.
    fn is_complete(&self) -> bool {
        let strands = self.alive.iter().filter_map(|thread| self.strands[thread.index()].as_ref());
        strands.into_iter().all(|strand| strand.routine.is_none() && strand.body.is_none())
    }

    fn end(&mut self) {
        self.log.clear();
        self.shadow = None;
        self.allocated.clear();
        self.ends.clear();
        #[cfg(feature = "std-size")]
        self.registers.clear();
        if !self.retired.is_empty() {
            arena::recycle(&mut self.retired);
        }
    }

    /// Performs an operation that the engine does not see, on objects as they would be now. Returns
    /// `None` if it had to wait.
    pub(super) fn perform_unseen(&mut self, op: &Op) -> Option<u64> {
        let names = &self.names;
        let mut world = match self.shadow.take() {
            Some((length, world)) if length == self.log.len() => world,
            _ => {
                let mut world = World::new();
                for (thread, op, _) in &self.log {
                    world.make(op, |object| names.initial(object));
                    world.perform(*thread, op, 0);
                }
                world
            }
        };
        world.make(op, |object| names.initial(object));
        let result = world.perform(self.current, op, 0);
        self.shadow = Some((self.log.len(), world));
        result
    }
}
