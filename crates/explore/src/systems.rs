//! Programs of any type behind one: the explorers are compiled once, not once a program.
//!
//! A call through a table is lost in the cost of a step, which runs a task of the program. The
//! compiler would otherwise repeat most of these explorers for each type of program, and for each
//! closure that makes one.

use anyorder_system::{RunError, SystemFactory, TaskSystem};

/// A [`SystemFactory`] whose type of system does not show.
pub(crate) trait Systems: Sync {
    /// Creates a system.
    fn make_any(&self) -> Result<Box<dyn TaskSystem + '_>, RunError>;
}

impl<F> Systems for F
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    fn make_any(&self) -> Result<Box<dyn TaskSystem + '_>, RunError> {
        Ok(Box::new(self.make()?))
    }
}
