//! The task system of a program behind a pipe.

use crate::child::ChildCommand;
use crate::conversation::{Conversation, NoAnswer};
use crate::convert::{self, Converter, ReplyMistake};
use crate::options::PipeOptions;
use crate::protocol::{Done, ErrorReply, HelloReply, Operation, PROTOCOL_VERSION};
use crate::transport::{Connector, Transport};
use anyorder_system::{
    AccessDetail, Awaited, Capabilities, Choice, Divergence, EnabledDetail, EnabledTask,
    Observation, ProgramIdentity, RunError, Step, SystemFactory, TaskName, TaskRole, TaskSystem,
};
use anyorder_trace::Tables;
use serde::de::DeserializeOwned;
use std::fmt;
use std::time::Duration;

/// A program behind a pipe.
///
/// An error other than [`RunError::Diverged`] and [`RunError::Unsupported`] ends the child. Until
/// the next [`reset`](TaskSystem::reset), which starts another, all requests fail. Dropping the
/// system ends the child and all processes it started.
pub struct PipeSystem {
    connector: Box<dyn Connector>,
    options: PipeOptions,
    conversation: Option<Conversation>,
    starts: u64,
    program: ProgramIdentity,
    capabilities: Capabilities,
    converter: Converter,
}

impl PipeSystem {
    /// Starts a child and exchanges greetings.
    ///
    /// # Errors
    ///
    /// Fails when the child cannot be started, does not answer in time, or does not speak version 1
    /// of the protocol.
    pub fn spawn(command: ChildCommand, options: PipeOptions) -> Result<PipeSystem, RunError> {
        let limits = options.clone();
        let connect =
            move |start| -> Result<Box<dyn Transport>, RunError> { command.start(start, &limits) };
        PipeSystem::over(Box::new(connect), options)
    }

    /// The same with another kind of connection: a socket, or memory.
    ///
    /// # Errors
    ///
    /// Fails as [`spawn`](Self::spawn) does.
    pub fn over(
        connector: Box<dyn Connector>,
        options: PipeOptions,
    ) -> Result<PipeSystem, RunError> {
        let mut system = PipeSystem {
            connector,
            options,
            conversation: None,
            starts: 0,
            program: ProgramIdentity::default(),
            capabilities: Capabilities::default(),
            converter: Converter::default(),
        };
        (system.program, system.capabilities) = system.start()?;
        Ok(system)
    }

    /// Returns how many children were started.
    #[must_use]
    pub fn starts(&self) -> u64 {
        self.starts
    }

    /// Returns the child's process id, if there is a child.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.conversation.as_ref().and_then(Conversation::process_id)
    }

    /// Starts a child, and exchanges greetings.
    fn start(&mut self) -> Result<(ProgramIdentity, Capabilities), RunError> {
        let start = self.starts;
        self.starts += 1;
        self.conversation = Some(Conversation::new(self.connector.connect(start)?));
        let hello = Operation::Hello { versions: &[PROTOCOL_VERSION] };
        let reply: HelloReply = self.request(hello, self.options.start_timeout)?;
        if reply.version != PROTOCOL_VERSION {
            let text = format!(
                "it speaks version {} of the protocol; this program speaks {PROTOCOL_VERSION}",
                reply.version
            );
            return Err(self.end_for_bad_reply(text));
        }
        let exact = reply.capabilities.enabled == EnabledDetail::Exact;
        let known = exact && reply.capabilities.accesses != AccessDetail::None;
        Ok((reply.program, Capabilities { awaits: known, ..reply.capabilities }))
    }

    /// Sends a request. A refusal by the child is an error that ends it, unless the child lacks the
    /// operation.
    fn request<T: DeserializeOwned>(
        &mut self,
        operation: Operation<'_>,
        timeout: Duration,
    ) -> Result<T, RunError> {
        match self.request_child(operation, timeout)? {
            Ok(answer) => Ok(answer),
            Err(refusal) => Err(self.refused(refusal)),
        }
    }

    /// Sends a request; the inner error is the child's own.
    fn request_child<T: DeserializeOwned>(
        &mut self,
        operation: Operation<'_>,
        timeout: Duration,
    ) -> Result<Result<T, ErrorReply>, RunError> {
        let Some(conversation) = &mut self.conversation else {
            return Err(RunError::Crashed("the program ended; reset starts it again".to_owned()));
        };
        match conversation.request(operation, timeout, &self.options) {
            Ok(answer) => Ok(Ok(answer)),
            Err(NoAnswer::Refused(refusal)) => Ok(Err(refusal)),
            Err(NoAnswer::Broken(error)) => Err(self.end_with(error)),
        }
    }

    fn refused(&mut self, refusal: ErrorReply) -> RunError {
        let ErrorReply { kind, message, .. } = refusal;
        let error = match kind.as_str() {
            "unsupported" => return RunError::Unsupported("the program says so"),
            "unstable" => RunError::Unstable(message),
            "timed_out" => RunError::TimedOut(message),
            "crashed" => RunError::Crashed(message),
            _ => RunError::Crashed(format!("{kind}: {message}")),
        };
        self.end_with(error)
    }

    /// Ends the child because of its wrong reply.
    fn end_for_bad_reply(&mut self, bad: ReplyMistake) -> RunError {
        self.end_with(RunError::Crashed(format!("the program sent a bad reply: {bad}")))
    }

    /// Ends the child and adds a description of its end to an error.
    fn end_with(&mut self, error: RunError) -> RunError {
        let error = with_text(error, shortened);
        let Some(conversation) = self.conversation.take() else { return error };
        // A child that has closed its pipes is about to exit: its exit status is worth a short
        // wait.
        let patience = match error {
            RunError::Crashed(_) => self.options.quit_timeout,
            _ => Duration::ZERO,
        };
        let end = conversation.end(patience, false);
        if end.is_empty() || matches!(error, RunError::Stopped(_)) {
            return error;
        }
        with_text(error, |text| format!("{text} ({end})"))
    }
}

impl TaskSystem for PipeSystem {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn program(&self) -> &ProgramIdentity {
        &self.program
    }

    fn tables(&self) -> &Tables {
        self.converter.tables()
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        self.converter.roles.of(task)
    }

    fn value_text(&self, value: u64) -> Option<&str> {
        self.converter.text(value)
    }

    fn reset(&mut self) -> Result<(), RunError> {
        if self.conversation.is_some()
            && self.request::<Done>(Operation::Reset, self.options.reply_timeout).is_ok()
        {
            return Ok(());
        }
        // After any error, a new child is at the start. A child that only cannot go back is still
        // there.
        if let Some(conversation) = self.conversation.take() {
            conversation.end(self.options.quit_timeout, true);
        }
        let (program, capabilities) = self.start()?;
        if program != self.program || capabilities != self.capabilities {
            let was = &self.program.name;
            let text = format!(
                "the program is another one since it was started again: `{was}` became `{}`",
                program.name
            );
            return Err(self.end_with(RunError::Unstable(text)));
        }
        Ok(())
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let reply = self.request(Operation::Enabled, self.options.reply_timeout)?;
        let tasks = convert::enabled(reply, &mut self.converter.roles, &self.options);
        tasks.map_err(|bad| self.end_for_bad_reply(bad))
    }

    /// By rule 6 of the protocol every task waits for its own location only.
    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        Ok(Vec::new())
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let reply =
            self.request_child(Operation::Execute { choice }, self.options.reply_timeout)?;
        let reply = match reply {
            Ok(reply) => reply,
            Err(refusal) if refusal.kind == "diverged" => {
                let enabled = convert::names(&refusal.enabled, &self.options)
                    .map_err(|bad| self.end_for_bad_reply(bad))?;
                // The caller knows how many choices it made.
                let wanted = choice.task.clone();
                return Err(RunError::Diverged(Divergence { choice: 0, wanted, enabled }));
            }
            Err(refusal) => return Err(self.refused(refusal)),
        };
        let detail = self.capabilities.accesses;
        let step = self.converter.step(&choice.task, reply, detail, &self.options);
        step.map_err(|bad| self.end_for_bad_reply(bad))
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        let reply = self.request(Operation::Observe, self.options.reply_timeout)?;
        convert::observation(reply, &self.options).map_err(|bad| self.end_for_bad_reply(bad))
    }
}

impl Drop for PipeSystem {
    fn drop(&mut self) {
        if let Some(conversation) = self.conversation.take() {
            conversation.end(self.options.quit_timeout, true);
        }
    }
}

impl fmt::Debug for PipeSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipeSystem")
            .field("program", &self.program)
            .field("starts", &self.starts)
            .field("process_id", &self.process_id())
            .finish_non_exhaustive()
    }
}

/// The most bytes of a message, without the child's standard error.
const MESSAGE_BYTES_MAX: usize = 500;

/// Cuts a message that quotes the child.
fn shortened(text: String) -> String {
    if text.len() <= MESSAGE_BYTES_MAX {
        return text;
    }
    let end = (0..=MESSAGE_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end));
    format!("{}...", &text[..end.unwrap_or_default()])
}

/// Changes the message of an error that ends the child.
fn with_text(error: RunError, change: impl Fn(String) -> String) -> RunError {
    match error {
        RunError::Unstable(text) => RunError::Unstable(change(text)),
        RunError::Crashed(text) => RunError::Crashed(change(text)),
        RunError::TimedOut(text) => RunError::TimedOut(change(text)),
        other => other,
    }
}

/// Starts one child per worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipeFactory {
    /// The command to start.
    pub command: ChildCommand,
    /// Time-outs and sizes.
    pub options: PipeOptions,
}

impl SystemFactory for PipeFactory {
    type System = PipeSystem;

    fn make(&self) -> Result<PipeSystem, RunError> {
        PipeSystem::spawn(self.command.clone(), self.options.clone())
    }
}
