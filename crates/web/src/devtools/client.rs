//! The connection to one browser.
//!
//! One thread starts the browser and reads from it; another writes. So nothing here waits without a
//! bound, even if the browser stops reading. The threads end when the browser does.

use super::message::{Event, Message};
use crate::browser::{BrowserOptions, LaunchedBrowser, find_browser, is_root, launch};
use crate::error::WebError;
use anyorder_system::{JobWatch, Stopped};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The longest message that is read, in bytes. A longer one ends the connection.
const MESSAGE_BYTES_MAX: u64 = 1 << 30;

/// How long the browser may take to start.
const START: Duration = Duration::from_secs(60);

/// How often a wait asks whether the job was stopped.
const POLL: Duration = Duration::from_millis(50);

/// How many messages come between two looks at whether the job was stopped.
const LOOK: u32 = 16;

/// A connection to a browser. Dropping it ends the browser.
#[derive(Debug)]
pub struct Client {
    to: Sender<Vec<u8>>,
    from: Receiver<Message>,
    queue: VecDeque<Event>,
    last_id: u64,
    /// How many messages were taken, of which each 16th asks whether the job was stopped.
    taken: u32,
    closed: bool,
    // Dropped last: the threads end with it.
    browser: LaunchedBrowser,
}

/// How often a browser is started before it counts as broken.
const STARTS_MAX: u32 = 3;

impl Client {
    /// Starts a browser and connects to it.
    ///
    /// # Errors
    ///
    /// Fails if there is no browser, it does not start, or it does not answer.
    pub fn start(options: &BrowserOptions) -> Result<Client, WebError> {
        if options.sandbox.is_some() {
            return Client::start_again(options);
        }
        let with = |sandbox| BrowserOptions { sandbox: Some(sandbox), ..options.clone() };
        if !is_root()
            && let Ok(client) = Client::start_as(&with(true))
        {
            return Ok(client);
        }
        Client::start_again(&with(false))
    }

    /// Starts a browser, and another one if it ends at once: on a busy machine, about one of 300
    /// does.
    fn start_again(options: &BrowserOptions) -> Result<Client, WebError> {
        let again = (1..STARTS_MAX).find_map(|_| match Client::start_as(options) {
            Err(WebError::Start { .. }) => None,
            other => Some(other),
        });
        again.unwrap_or_else(|| Client::start_as(options))
    }

    /// Starts a browser with its sandbox on or off.
    fn start_as(options: &BrowserOptions) -> Result<Client, WebError> {
        let program = find_browser(options.program.as_deref())?;
        let (out, from) = channel();
        let (tell, started) = channel();
        let options = options.clone();
        let shown = program.clone();
        // The thread that starts a child must live as long as the child.
        let reading = move || match launch(&program, &options) {
            Ok((browser, to, from)) => {
                if tell.send(Ok((browser, to))).is_ok() {
                    read_all(from, &out);
                }
            }
            Err(error) => {
                let _ = tell.send(Err(error));
            }
        };
        let failed = |why: String| WebError::Start { program: shown.clone(), why };
        let name = "browser, reading".to_owned();
        let spawned = thread::Builder::new().name(name).spawn(reading);
        spawned.map_err(|error| failed(error.to_string()))?;
        let (browser, pipe) = started.recv().map_err(|error| failed(error.to_string()))??;
        let (to, outbox) = channel();
        let name = "browser, writing".to_owned();
        let spawned = thread::Builder::new().name(name).spawn(move || write_all(pipe, &outbox));
        spawned.map_err(|error| failed(error.to_string()))?;
        let mut client = Client {
            to,
            from,
            queue: VecDeque::new(),
            last_id: 0,
            taken: 0,
            closed: false,
            browser,
        };
        match client.call("", "Browser.getVersion", json!({}), START) {
            Ok(_) => Ok(client),
            Err(WebError::Closed) => Err(failed("it ended at once".to_owned())),
            Err(error) => Err(error),
        }
    }

    /// Returns the process id of the browser, which is the id of its process group.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.browser.process_id()
    }

    /// Returns the browser's process.
    #[must_use]
    pub fn browser(&self) -> &LaunchedBrowser {
        &self.browser
    }

    /// Returns whether the browser has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Sends a command to a session, or to the browser if the name is empty. Returns its number.
    pub fn send(&mut self, session: &str, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": params});
        if !session.is_empty() {
            command["sessionId"] = Value::from(session);
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        // A browser that has ended is noticed by whoever waits for the reply.
        let _ = self.to.send(bytes);
        self.last_id
    }

    /// Sends a command and waits for its reply. Events that come before stay in the queue.
    ///
    /// # Errors
    ///
    /// Fails if the browser refuses, ends, or does not answer in time.
    pub fn call(
        &mut self,
        session: &str,
        method: &str,
        params: Value,
        within: Duration,
    ) -> Result<Value, WebError> {
        let id = self.send(session, method, params);
        let deadline = Instant::now() + within;
        loop {
            match self.receive(deadline)? {
                None => {
                    let what = format!("reply to `{method}`");
                    return Err(WebError::TimedOut { what, within });
                }
                Some(Message::Event(event)) => self.queue.push_back(event),
                Some(Message::Reply(reply)) if reply.id == id => {
                    let refused =
                        |message| WebError::Refused { method: method.to_owned(), message };
                    return reply.result.map_err(refused);
                }
                Some(Message::Reply(_)) => {}
            }
        }
    }

    /// Returns the next message: first the events that came during a [`call`](Self::call). `None`
    /// if nothing comes until the deadline; a deadline in the past only looks.
    ///
    /// # Errors
    ///
    /// Fails if the browser ended, or the job was stopped.
    pub fn next(&mut self, deadline: Instant) -> Result<Option<Message>, WebError> {
        match self.queue.pop_front() {
            Some(event) => Ok(Some(Message::Event(event))),
            None => self.receive(deadline),
        }
    }

    fn receive(&mut self, deadline: Instant) -> Result<Option<Message>, WebError> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.from.recv_timeout(left.min(POLL)) {
                Ok(message) => {
                    // A page that always has something to say is stopped, too.
                    self.taken = self.taken.wrapping_add(1);
                    if self.taken.is_multiple_of(LOOK) {
                        stopped()?;
                    }
                    return Ok(Some(message));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.closed = true;
                    return Err(WebError::Closed);
                }
                Err(RecvTimeoutError::Timeout) => {
                    stopped()?;
                    if left <= POLL {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

/// Fails if the job was asked to stop.
fn stopped() -> Result<(), WebError> {
    JobWatch::current().check().map_err(|Stopped(why)| WebError::Stopped(why))
}

/// Reads messages, each ended by a zero byte, until the browser ends or nobody takes them.
fn read_all(from: PipeReader, out: &Sender<Message>) {
    let mut from = BufReader::with_capacity(1 << 16, from);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match from.by_ref().take(MESSAGE_BYTES_MAX).read_until(0, &mut bytes) {
            Ok(_) if bytes.pop() == Some(0) => {}
            _ => return,
        }
        if let Some(message) = Message::parse(&bytes)
            && out.send(message).is_err()
        {
            // The pipe is read to its end, so that the browser is never stuck.
            let _ = std::io::copy(&mut from, &mut std::io::sink());
            return;
        }
    }
}

fn write_all(mut to: PipeWriter, outbox: &Receiver<Vec<u8>>) {
    while let Ok(bytes) = outbox.recv() {
        if to.write_all(&bytes).is_err() {
            return;
        }
    }
}
