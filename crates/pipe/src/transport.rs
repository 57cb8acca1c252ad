//! What carries lines to a program and back.

use anyorder_system::RunError;
use std::time::Duration;

/// What came while somebody waited for a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// A line, without its end.
    Line(Vec<u8>),
    /// A line longer than allowed; nothing more will come.
    TooLong,
    /// Nothing in the time given.
    Nothing,
    /// The other side closed; nothing more will come.
    Closed,
}

/// One connection to one started program. Dropping it ends the program.
pub trait Transport: Send {
    /// Sends a line, which has no end of line in it. Does not block, and does not say whether the
    /// line arrived: a program that went away is found when its reply does not come.
    fn send(&mut self, line: Vec<u8>);

    /// Waits for a line.
    fn receive(&mut self, timeout: Duration) -> Received;

    /// Ends the program: lets it go by itself for a time, then by force. Returns what is known
    /// about its end, for messages; may be empty.
    fn end(&mut self, patience: Duration) -> String;

    /// Returns the number of the program's process, where it is one that still runs.
    fn process_id(&self) -> Option<u32> {
        None
    }
}

/// Starts programs.
pub trait Connector: Send {
    /// Starts the program. `start` counts the starts of one system from 0.
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
