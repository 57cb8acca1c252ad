//! A program made ready to run.

use super::branching;
use super::layout::{self, Layout};
use super::literal;
use super::live::Live;
use super::prepare::Code;
use crate::program::{Program, ProgramError};
use crate::state::State;
use crate::step::memo::Memorable;
use crate::value::Value;
use std::sync::atomic::{AtomicU64, Ordering};

/// A program made ready to run: checked, laid out, with what can be known of its code worked out.
#[derive(Debug)]
pub struct Machine {
    pub(crate) program: Program,
    pub(crate) constants: Vec<Value>,
    /// The code of each function.
    pub(crate) code: Vec<Code>,
    pub(crate) layout: Layout,
    /// For each function, which registers are live where.
    pub(crate) live: Vec<Live>,
    /// For each function, whether running it can give another number of transitions than one.
    pub(crate) branches: Vec<bool>,
    /// For each function and position, whether it can still come to a choice or an assumption there.
    pub(crate) open: Vec<Vec<bool>>,
    /// Whether objects, handles or dynamic threads can exist, so that states need numbering.
    pub(crate) numbers: bool,
    /// Whether tasks and events are one step each.
    pub(crate) atomic: bool,
    pub(crate) switches: Switches,
    /// What can be remembered.
    pub(crate) memorable: Memorable,
    /// For each function the component that it belongs to, or [`NOBODY`]; empty where there are no components.
    pub(crate) components: Vec<u16>,
    /// Tables for reduction, made when they are needed.
    pub(crate) reduced: std::sync::OnceLock<Box<crate::system::ReducedTables>>,
    /// Which machine it is, for memories.
    pub(crate) number: u64,
    /// The most messages in the mailboxes of an expanded state, and the mailbox that had most of them then.
    pub(crate) grown: Growth,
}

/// How long mailboxes have become.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    messages: AtomicU64,
    queue: AtomicU64,
    longest: AtomicU64,
}

/// Parts of the canonical form that tests can switch off, to see that they are caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[doc(hidden)]
pub struct Switches {
    /// Registers that are never read again are kept.
    pub keep_dead: bool,
    /// Objects that nothing refers to are kept.
    pub keep_garbage: bool,
    /// Objects keep the order of their allocation.
    pub keep_heap_order: bool,
    /// Bags keep the order of the posts.
    pub keep_bag_order: bool,
    /// Forked threads, and running tasks posted to `any`, keep the order of their creation.
    pub keep_thread_order: bool,
    /// Messages of a bag that only differ in what they refer to keep the order of the posts.
    pub keep_post_order: bool,
    /// Of forked threads that stand at the same place, one is enough: unsound.
    pub one_of_equals: bool,
    /// Due times are taken from the start of the run.
    pub absolute_time: bool,
    /// Handles of ended tasks keep their number.
    pub keep_handles: bool,
    /// Registers that are read again are dropped: unsound.
    pub drop_live: bool,
    /// Fifo mailboxes are sorted: unsound.
    pub sort_fifo: bool,
    /// Locks are not looked at: unsound.
    pub forget_locks: bool,
    /// Due times are not looked at: unsound.
    pub forget_due: bool,
    /// Nothing is remembered: each step is executed.
    pub no_memory: bool,
    /// The memory forgets the last read of each step: unsound.
    pub forget_reads: bool,
    /// The memory forgets the last effect of each step: unsound.
    pub forget_effects: bool,
    /// Which reports of accesses are made.
    pub reports: crate::testing::Reports,
    /// What a function does, it does for its outermost caller.
    pub outermost_component: bool,
    /// An update of an element is one of its container.
    pub whole_containers: bool,
    /// What a step updates and puts back is reported as a silent write: unsound.
    pub silent_updates: bool,
    /// Of the updates of a global by a step only the last is reported.
    pub last_write_only: bool,
}

impl Machine {
    /// Checks a program and makes it ready.
    ///
    /// # Errors
    ///
    /// Fails with the first mistake in the program.
    pub fn new(program: Program) -> Result<Machine, ProgramError> {
        program.validate()?;
        let mut constants: Vec<Value> = program.constants.iter().map(literal::value).collect();
        let layout = Layout::new(&program);
        let live: Vec<Live> = program.functions.iter().map(|f| Live::new(&program, f)).collect();
        let functions = program.functions.iter().zip(&live);
        let code =
            functions.map(|(f, live)| Code::new(&program, f, live, &mut constants)).collect();
        let branches = branching::branches(&program);
        let open = branching::open(&program, &branches);
        let atomic = layout::atomic(&program);
        let numbers = branching::numbers(&program, atomic);
        let switches = Switches::default();
        let memorable = Memorable::new(&program, &live, numbers, atomic);
        let components = components(&program);
        let number = next_number();
        Ok(Machine {
            program,
            constants,
            code,
            layout,
            live,
            branches,
            open,
            numbers,
            atomic,
            switches,
            memorable,
            components,
            number,
            reduced: std::sync::OnceLock::new(),
            grown: Growth::default(),
        })
    }

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Notes how long the mailboxes of a state are.
    #[inline]
    pub(crate) fn note_growth(&self, state: &State) {
        let messages = state.messages().len() as u64;
        // Each time they are a tenth longer: the rest is not worth a look.
        if messages > 64 && messages > self.grown.messages.load(Ordering::Relaxed) / 10 * 11 {
            self.note_longest(state, messages);
        }
    }

    #[cold]
    fn note_longest(&self, state: &State, messages: u64) {
        let Some((queue, longest)) = state.queues().max_by_key(|(_, queue)| queue.len()) else {
            return;
        };
        self.grown.messages.fetch_max(messages, Ordering::Relaxed);
        self.grown.queue.store(queue as u64, Ordering::Relaxed);
        self.grown.longest.fetch_max(longest.len() as u64, Ordering::Relaxed);
    }

    /// Returns the mailbox that has grown most since the machine was made, and about how many messages it had: only what is more than some
    /// dozens is noted. For warnings while a search goes on; nothing else depends on it.
    #[must_use]
    pub fn longest_mailbox(&self) -> Option<(String, u64)> {
        let longest = self.grown.longest.load(Ordering::Relaxed);
        let queue = self.grown.queue.load(Ordering::Relaxed) as usize;
        (longest > 0).then(|| (crate::system::queue_name(self, queue), longest))
    }

    /// Whether steps tell what they update.
    #[inline]
    pub(crate) fn tells_updates(&self) -> bool {
        !self.components.is_empty()
    }

    /// Switches parts of the canonical form off, for tests that must then fail.
    #[doc(hidden)]
    #[must_use]
    pub fn with_switches(self, switches: Switches) -> Machine {
        Machine { switches, number: next_number(), ..self }
    }
}

/// In place of a component: none.
pub(crate) const NOBODY: u16 = u16::MAX;

/// The component of each function; nothing where there are none.
fn components(program: &Program) -> Vec<u16> {
    if program.components.is_empty() {
        return Vec::new();
    }
    let mut of = vec![NOBODY; program.functions.len()];
    for (component, number) in program.components.iter().zip(0..NOBODY) {
        component.functions.iter().for_each(|function| of[function.index()] = number);
    }
    of
}

/// A number that no other machine has.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
