//! A program ready to run.

use super::branching;
use super::copies::Copies;
use super::layout::{self, Layout};
use super::literal;
use super::live::Liveness;
use super::prepare::Code;
use crate::program::{Event, Granularity, HandlerId, Program, ProgramError};
use crate::state::State;
use crate::step::memo::Memoizable;
use crate::value::Value;
use std::sync::atomic::{AtomicU64, Ordering};

/// A program ready to run: checked, laid out and analysed.
#[derive(Debug)]
pub struct Machine {
    pub(crate) program: Program,
    pub(crate) constants: Vec<Value>,
    /// The code of each function.
    pub(crate) code: Vec<Code>,
    pub(crate) layout: Layout,
    /// For each function: the live registers at each position.
    pub(crate) live: Vec<Liveness>,
    /// For each function: whether a run of it can have zero or several transitions.
    pub(crate) branches: Vec<bool>,
    /// For each function and position: whether the code can still reach a choice or an assumption.
    pub(crate) may_branch: Vec<Vec<bool>>,
    /// Whether objects, handles or dynamic threads can exist, so that states need numbering.
    pub(crate) needs_numbering: bool,
    /// Whether tasks and events are one step each.
    pub(crate) atomic: bool,
    pub(crate) switches: Switches,
    /// If each task runs on a thread of its own, whatever its handler: the handler of each event.
    pub(crate) homes: Option<Vec<Option<(HandlerId, u16)>>>,
    /// What can be memoized.
    pub(crate) memoizable: Memoizable,
    /// For each function: its component, or [`NO_COMPONENT`]; empty if the program has no
    /// components.
    pub(crate) components: Vec<u16>,
    /// The tasks and functions of `program` that are copies for components.
    pub(crate) copies: Copies,
    /// Tables for reduction, computed on first use.
    pub(crate) reduced: std::sync::OnceLock<Box<crate::system::ReducedTables>>,
    /// Identifies the machine, for memos.
    pub(crate) id: u64,
    /// The most messages in an expanded state, and the mailbox that held most of them.
    pub(crate) grown: Growth,
}

/// The lengths of mailboxes.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    messages: AtomicU64,
    queue: AtomicU64,
    longest: AtomicU64,
}

/// Parts of the machine that tests switch off, to see that a check notices.
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
    /// The encoding omits locks: unsound.
    pub forget_locks: bool,
    /// The encoding omits due times: unsound.
    pub forget_due: bool,
    /// Nothing is memoized: each step is executed.
    pub no_memory: bool,
    /// The memo omits the last read of each step: unsound.
    pub forget_reads: bool,
    /// The memo omits the last effect of each step: unsound.
    pub forget_effects: bool,
    /// Which accesses are reported.
    pub reports: crate::testing::Reports,
    /// A function works for the component of its outermost caller.
    pub outermost_component: bool,
    /// Messages and forked threads are created for nobody.
    pub no_created_for: bool,
    /// Only members of a component create for it: what they create does not.
    pub one_post_only: bool,
    /// An update of an element counts as one of its container.
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
    pub fn new(mut program: Program) -> Result<Machine, ProgramError> {
        program.validate()?;
        let copies = Copies::add_to(&mut program)?;
        let mut constants: Vec<Value> = program.constants.iter().map(literal::value).collect();
        let layout = Layout::new(&program);
        let live: Vec<Liveness> =
            program.functions.iter().map(|f| Liveness::new(&program, f)).collect();
        let functions = program.functions.iter().zip(&live);
        let code =
            functions.map(|(f, live)| Code::new(&program, f, live, &mut constants)).collect();
        let branches = branching::branches(&program);
        let atomic = layout::atomic(&program);
        let needs_numbering = branching::needs_numbering(&program, atomic);
        Ok(Machine {
            constants,
            code,
            layout,
            may_branch: branching::may_branch(&program, &branches),
            branches,
            needs_numbering,
            atomic,
            switches: Switches::default(),
            homes: None,
            memoizable: Memoizable::new(&program, &live, needs_numbering, atomic),
            live,
            components: components(&program),
            copies,
            id: next_id(),
            reduced: std::sync::OnceLock::new(),
            grown: Growth::default(),
            program,
        })
    }

    /// Makes a machine on which each task and each event runs on a thread of its own, with steps at
    /// shared accesses. Handlers and the order of events do not bind: the log of a step has the
    /// mailbox that a post would have gone to.
    ///
    /// # Errors
    ///
    /// Fails with the first mistake in the program.
    pub(crate) fn unbound(mut program: Program) -> Result<Machine, ProgramError> {
        program.settings.granularity = Granularity::Access;
        let homes = program.events.iter_mut().map(|event| event.handler.take()).collect();
        Ok(Machine { homes: Some(homes), ..Machine::new(program)? })
    }

    /// Returns whether each task runs on a thread of its own.
    pub(crate) fn is_unbound(&self) -> bool {
        self.homes.is_some()
    }

    /// Returns the program, as the machine runs it: behind its tasks and functions stand copies for
    /// the components that post or fork them.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the program that the machine was made of.
    #[must_use]
    pub fn source_program(&self) -> Program {
        let mut program = self.program.clone();
        self.copies.remove_from(&mut program);
        program
    }

    /// Returns the event that an event member belongs to.
    pub(crate) fn event_of(&self, member: u32) -> &Event {
        let (event, _) = self.layout.members[member as usize];
        &self.program.events[usize::from(event)]
    }

    /// Notes the lengths of the mailboxes of a state.
    #[inline]
    pub(crate) fn note_growth(&self, state: &State) {
        let messages = state.messages().len() as u64;
        // Only growth by a tenth is worth a closer look.
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

    /// Returns the mailbox that has grown most since the machine was made, and about how many
    /// messages it had. Notes only lengths above some dozens. For warnings during a search; nothing
    /// else depends on it.
    #[must_use]
    pub fn longest_mailbox(&self) -> Option<(String, u64)> {
        let longest = self.grown.longest.load(Ordering::Relaxed);
        let queue = self.grown.queue.load(Ordering::Relaxed) as usize;
        (longest > 0).then(|| (crate::system::queue_name(self, queue), longest))
    }

    /// Returns whether steps report their updates.
    #[inline]
    pub(crate) fn reports_updates(&self) -> bool {
        !self.components.is_empty()
    }

    /// Switches parts of the machine off, for tests that must then fail.
    #[doc(hidden)]
    #[must_use]
    pub fn with_switches(self, switches: Switches) -> Machine {
        Machine { switches, id: next_id(), ..self }
    }
}

/// Stands for no component.
pub(crate) const NO_COMPONENT: u16 = u16::MAX;

/// Returns the component of each function; empty if the program has no components.
pub(super) fn components(program: &Program) -> Vec<u16> {
    if program.components.is_empty() {
        return Vec::new();
    }
    let mut of = vec![NO_COMPONENT; program.functions.len()];
    for (component, number) in program.components.iter().zip(0..NO_COMPONENT) {
        component.functions.iter().for_each(|function| of[function.index()] = number);
    }
    of
}

/// Returns a number that no other machine has.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
