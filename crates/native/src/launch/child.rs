//! A running program: its end, and signals to it.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest time between two looks at the program.
const LOOK: Duration = Duration::from_millis(10);

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// A signal that is passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The terminal is closed.
    HangUp,
    /// Asks it to end.
    Terminate,
    /// Ends it.
    Kill,
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Its exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it had run for as long as it may.
    pub timed_out: bool,
    /// How long it ran.
    pub ran: Duration,
}

/// A running program. Clones are of the same one: another thread can send it signals.
#[derive(Clone, Debug)]
pub struct Program {
    /// `None` once it was waited for: its number may be that of another process then.
    child: Arc<Mutex<Option<Child>>>,
    started: Instant,
}

impl Program {
    pub(super) fn new(child: Child) -> Program {
        Program { child: Arc::new(Mutex::new(Some(child))), started: Instant::now() }
    }

    /// Sends a signal. Does nothing if the program has ended.
    pub fn signal(&self, signal: Signal) {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = &*child {
            send(child, signal);
        }
    }

    /// Waits for the end of the program. After `limit` it is asked to end, and some time later it
    /// is ended.
    ///
    /// # Errors
    ///
    /// Fails when the system cannot wait for it.
    pub fn wait(&self, limit: Option<Duration>) -> io::Result<Ended> {
        let mut asked: Option<Instant> = None;
        let mut pause = Duration::from_micros(200);
        loop {
            if let Some(status) = self.ended()? {
                let ran = self.started.elapsed();
                let (status, signal) = (status.code(), signal_of(status));
                return Ok(Ended { status, signal, timed_out: asked.is_some(), ran });
            }
            match (limit, asked) {
                (Some(limit), None) if self.started.elapsed() >= limit => {
                    asked = Some(Instant::now());
                    self.signal(Signal::Terminate);
                }
                (_, Some(asked)) if asked.elapsed() >= GRACE => self.signal(Signal::Kill),
                _ => {}
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LOOK);
        }
    }

    /// Returns how the program ended, if it has.
    ///
    /// # Errors
    ///
    /// Fails when the system cannot tell, or the program was waited for before.
    pub fn try_wait(&self) -> io::Result<Option<Ended>> {
        let ended = |status: ExitStatus| Ended {
            status: status.code(),
            signal: signal_of(status),
            timed_out: false,
            ran: self.started.elapsed(),
        };
        Ok(self.ended()?.map(ended))
    }

    fn ended(&self) -> io::Result<Option<ExitStatus>> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(running) = child.as_mut() else {
            return Err(io::Error::other("the program was waited for twice"));
        };
        let status = running.try_wait()?;
        if status.is_some() {
            *child = None;
        }
        Ok(status)
    }
}

#[cfg(unix)]
fn send(child: &Child, signal: Signal) {
    use rustix::process::{Pid, Signal as System, kill_process};
    let signal = match signal {
        Signal::Interrupt => System::INT,
        Signal::HangUp => System::HUP,
        Signal::Terminate => System::TERM,
        Signal::Kill => System::KILL,
    };
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // It may have ended, and nobody has waited for it: then the signal does nothing.
    let _ = pid.map(|pid| kill_process(pid, signal));
}

#[cfg(not(unix))]
fn send(_: &Child, _: Signal) {}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}
