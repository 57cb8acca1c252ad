//! A child process as a transport.

use crate::lines::{Line, Tail, next_line};
use crate::options::PipeOptions;
use crate::process;
use crate::transport::{Received, Transport};
use anyorder_system::{JobWatch, RunError};
use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable that holds how many children of the same system were started before.
pub const START_VARIABLE: &str = "ANYORDER_PIPE_START";

/// The longest wait for a reply without a look at the child and at the job's token.
const WAIT_PAUSE: Duration = Duration::from_millis(20);

/// The command line and environment of a child.
///
/// ```
/// use anyorder_pipe::ChildCommand;
/// let command = ChildCommand::new("node").argument("app.js").arguments(["--seed", "7"]);
/// assert_eq!(command.text(), "node app.js --seed 7");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChildCommand {
    /// The program: a path, or a name to find in `PATH`. No shell is involved.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its working directory; by default that of this process.
    pub directory: Option<PathBuf>,
    /// Environment variables in addition to those of this process.
    pub environment: Vec<(OsString, OsString)>,
}

impl ChildCommand {
    /// Makes a command without arguments.
    pub fn new(program: impl Into<OsString>) -> ChildCommand {
        let program = program.into();
        ChildCommand { program, arguments: Vec::new(), directory: None, environment: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> ChildCommand {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<I: IntoIterator<Item = S>, S: Into<OsString>>(mut self, all: I) -> Self {
        self.arguments.extend(all.into_iter().map(Into::into));
        self
    }

    /// Returns the program and its arguments, for messages; not quoted.
    #[must_use]
    pub fn text(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn start(
        &self,
        start: u64,
        options: &PipeOptions,
    ) -> Result<Box<dyn Transport>, RunError> {
        let failed = |error| RunError::Crashed(format!("cannot start `{}`: {error}", self.text()));
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.environment.iter().cloned());
        command.env(START_VARIABLE, start.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        // A separate process group: killing it also kills processes that the child started, and
        // Ctrl-C reaches this process alone.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = process::spawn(&mut command).map_err(failed)?;
        // From here on, dropping the process ends the child.
        let mut process = Process { child, is_ended: false };
        let threads = Threads::start(&mut process.child, options).map_err(failed)?;
        Ok(Box::new(ChildTransport { process, threads }))
    }
}

/// A child process with its three pipes. A thread serves each, since a pipe has no read with a time
/// limit.
struct ChildTransport {
    process: Process,
    threads: Threads,
}

impl Transport for ChildTransport {
    fn send(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        if let Some(requests) = &self.threads.requests {
            // Fails when the child no longer reads; then its reply does not come either.
            let _ = requests.send(line);
        }
    }

    fn receive(&mut self, timeout: Duration) -> Received {
        let (asked, watch) = (Instant::now(), JobWatch::current());
        let mut has_ended = false;
        loop {
            let left = timeout.saturating_sub(asked.elapsed());
            match self.threads.replies.recv_timeout(left.min(WAIT_PAUSE)) {
                Ok(Line::Whole(line)) => return Received::Line(line),
                Ok(Line::TooLong) => return Received::TooLong,
                Ok(Line::End) | Err(RecvTimeoutError::Disconnected) => return Received::Closed,
                // A process that the child left behind may hold the pipe open. What the child
                // wrote before its end has been read by now.
                Err(RecvTimeoutError::Timeout) if has_ended => return Received::Closed,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(stopped) = watch.check() {
                return Received::Stopped(stopped.0);
            }
            if asked.elapsed() >= timeout {
                return Received::Nothing;
            }
            has_ended = process::is_over(&mut self.process.child);
        }
    }

    fn end(&mut self, patience: Duration) -> String {
        // Ends the writing thread, which closes the child's standard input.
        self.threads.requests = None;
        let mut text = self.process.end(patience);
        let errors = self.threads.errors();
        if !errors.is_empty() {
            text.push_str("; it wrote: ");
            text.push_str(&errors);
        }
        text
    }

    fn process_id(&self) -> Option<u32> {
        (!self.process.is_ended).then(|| self.process.child.id())
    }
}

/// A child that does not outlive this value.
struct Process {
    child: Child,
    is_ended: bool,
}

impl Process {
    fn end(&mut self, patience: Duration) -> String {
        if self.is_ended {
            return "ended before".to_owned();
        }
        self.is_ended = true;
        process::end(&mut self.child, patience)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

/// Channels to the three threads. A thread ends when its pipe does, and no one waits for it: a
/// grandchild that left the process group could hold a pipe open for ever.
struct Threads {
    requests: Option<Sender<Vec<u8>>>,
    replies: Receiver<Line>,
    errors: Arc<Mutex<Tail>>,
    errors_done: Receiver<()>,
}

impl Threads {
    fn start(child: &mut Child, options: &PipeOptions) -> io::Result<Threads> {
        let missing = || io::Error::other("a pipe is missing");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        let (requests, to_write) = channel();
        // One line waits, and the reader holds one: a child that writes too fast has to wait.
        let (lines, replies) = sync_channel(1);
        let (done, errors_done) = sync_channel(1);
        let tail = Arc::new(Mutex::new(Tail::new(options.stderr_bytes_max)));
        let shared = Arc::clone(&tail);
        let bytes_max = options.line_bytes_max;
        let name = |name: &str| thread::Builder::new().name(name.to_owned());
        name("pipe-write").spawn(move || write_all(input, &to_write))?;
        name("pipe-read").spawn(move || read_lines(output, &lines, bytes_max))?;
        name("pipe-errors").spawn(move || read_tail(errors, &shared, &done))?;
        Ok(Threads { requests: Some(requests), replies, errors: tail, errors_done })
    }

    /// Returns the end of the child's standard error. The child has ended, so its output is in the
    /// pipe, and the thread reads it soon.
    fn errors(&self) -> String {
        let _ = self.errors_done.recv_timeout(Duration::from_millis(100));
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

fn write_all(mut input: ChildStdin, requests: &Receiver<Vec<u8>>) {
    for line in requests {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(output: ChildStdout, lines: &SyncSender<Line>, bytes_max: usize) {
    let mut output = BufReader::new(output);
    while let Ok(line) = next_line(&mut output, bytes_max) {
        let is_last = !matches!(line, Line::Whole(_));
        if lines.send(line).is_err() || is_last {
            return;
        }
    }
}

fn read_tail(mut errors: ChildStderr, tail: &Mutex<Tail>, done: &SyncSender<()>) {
    let mut buffer = [0; 4096];
    loop {
        match errors.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.push(&buffer[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    // The receiver may be gone.
    let _ = done.try_send(());
}
