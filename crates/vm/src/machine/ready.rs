//! A program ready to run.

use super::branching;
use super::copies::Copies;
use super::growth::Growth;
use super::layout::{self, Layout};
use super::literal;
use super::live::Liveness;
use super::memoizable::Memoizable;
use super::prepare::Code;
use super::tables::Tables;
use crate::program::{Event, Granularity, HandlerId, Program, ProgramError};
use crate::sabotage::{Reports, Sabotage};
use crate::value::Value;
use std::sync::OnceLock;
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
    pub(crate) sabotage: Sabotage,
    pub(crate) reports: Reports,
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
    pub(crate) reduced: OnceLock<Box<Tables>>,
    /// Identifies the machine, for memos.
    pub(crate) id: u64,
    /// The most messages in an expanded state, and the mailbox that held most of them.
    pub(crate) grown: Growth,
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
            sabotage: Sabotage::None,
            reports: Reports::All,
            homes: None,
            memoizable: Memoizable::new(&program, &live, needs_numbering, atomic),
            live,
            components: components(&program),
            copies,
            id: next_id(),
            reduced: OnceLock::new(),
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

    /// Returns whether steps report their updates.
    #[inline]
    pub(crate) fn reports_updates(&self) -> bool {
        !self.components.is_empty()
    }

    /// Puts a fault in.
    #[cfg(test)]
    pub(crate) fn sabotaged(self, sabotage: Sabotage) -> Machine {
        Machine { sabotage, id: next_id(), ..self }
    }

    /// Counts or silences lines that report.
    #[cfg(test)]
    pub(crate) fn reporting(self, reports: Reports) -> Machine {
        Machine { reports, id: next_id(), ..self }
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
