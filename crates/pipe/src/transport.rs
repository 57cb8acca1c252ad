//! Connections that carry lines to a program and back.

use anyorder_system::{RunError, StopReason};
use std::time::Duration;

/// The result of waiting for a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// A line, without its end.
    Line(Vec<u8>),
    /// A line longer than allowed; nothing follows.
    TooLong,
    /// Nothing in the given time.
    Nothing,
    /// The other side closed the connection; nothing follows.
    Closed,
    /// The job of this thread was stopped.
    Stopped(StopReason),
}

/// One connection to one started program. Dropping it ends the program.
pub trait Transport: Send {
    /// Sends a line, which contains no end of line. Does not block, and does not report whether the
    /// line arrived: the missing reply shows that a program has ended.
    fn send(&mut self, line: Vec<u8>);

    /// Waits for a line. A wait that can be long ends when the
    /// [`JobWatch`](anyorder_system::JobWatch) of this thread is stopped.
    fn receive(&mut self, timeout: Duration) -> Received;

    /// Ends the program: waits for it to exit for a time, then kills it. Returns a description of
    /// its end, for messages; may be empty.
    fn end(&mut self, patience: Duration) -> String;

    /// Returns the program's process id, if it is a process that still runs.
    fn process_id(&self) -> Option<u32> {
        None
    }
}

/// Starts programs.
pub trait Connector: Send {
    /// Starts the program. `start` is the number of earlier starts of the same system.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started.
    fn connect(&mut self, start: u64) -> Result<Box<dyn Transport>, RunError>;
}

impl<F> Connector for F
where
    F: FnMut(u64) -> Result<Box<dyn Transport>, RunError> + Send,
{
    fn connect(&mut self, start: u64) -> Result<Box<dyn Transport>, RunError> {
        self(start)
    }
}
