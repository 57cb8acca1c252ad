//! Runs a program again under a plan, watches it, and says what came of it.

use crate::launch::{Ended, Launch, Signal, Stage};
use crate::plan::{Moment, Planned, State, Status};
use std::fs::{File, OpenOptions};
use std::io;
use std::time::{Duration, Instant};

/// The time between two looks at the program.
const LOOK: Duration = Duration::from_millis(2);
/// How long nothing may change while all threads wait, until nobody is held any more.
const STUCK: Duration = Duration::from_millis(100);
/// How long nothing may change while all threads wait and nobody is held, until that is a hang.
const HANGS: Duration = Duration::from_millis(300);

/// What a run under a plan came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Harm {
    /// This signal ended the program.
    Signal(i32),
    /// A block was used after its free, or a lock after its destruction.
    UsedAfterEnd,
    /// Two threads were at conflicting accesses at the same time.
    Met,
    /// All threads wait for ever.
    Hang,
    /// The exit status is another one than in the recorded run.
    Status(i32),
}

/// The answer of a run under a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The order happened, with this harm.
    Reproduced(Harm),
    /// The order happened, and nothing else was seen.
    Feasible,
    /// The order did not happen.
    NotReproduced(Missed),
}

/// Why an order did not happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missed {
    /// The threads that were held are those that the others wait for.
    Refuted,
    /// The run took too long.
    TimedOut,
    /// The program ended before.
    Ended,
    /// The code of the program is another one than in the recorded run.
    OtherCode,
    /// The job was stopped.
    Stopped,
}

/// How a second run is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How long threads may be held at all.
    pub held: Duration,
    /// How long the run may take.
    pub run: Duration,
    /// The exit status of the recorded run; `None` if a signal ended it.
    pub usual_status: Option<i32>,
}

/// A second run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rerun {
    /// What it came to.
    pub answer: Answer,
    /// How the program ended.
    pub ended: Ended,
}

/// Runs a program under a plan. `go_on` is asked every few milliseconds; when it returns false, the
/// program is killed.
///
/// # Errors
///
/// Fails when the plan cannot be written, or the program cannot be started.
pub fn rerun(
    stage: &Stage,
    launch: Launch<'_>,
    planned: &Planned,
    limits: Limits,
    go_on: &mut dyn FnMut() -> bool,
) -> io::Result<Rerun> {
    let path = stage.plan();
    std::fs::write(&path, planned.plan.to_bytes())?;
    let mut file = OpenOptions::new().read(true).write(true).open(&path)?;
    let program = stage.start(Launch { plan: Some(&path), ..launch })?;
    let (since, refuted, happened) = (None, false, false);
    let mut watch = Watch { file: &mut file, planned, limits, since, refuted, happened };
    let started = Instant::now();
    let mut hangs = false;
    let mut is_killed = false;
    let mut is_stopped = false;
    let ended = loop {
        if let Some(ended) = program.try_wait()? {
            break ended;
        }
        match watch.look(started.elapsed())? {
            Seen::Goes => {}
            Seen::Hangs => {
                (hangs, is_killed) = (true, true);
                program.signal(Signal::Kill);
            }
            Seen::TooLong => {
                is_killed = true;
                program.signal(Signal::Kill);
            }
        }
        if !go_on() {
            is_stopped = true;
            program.signal(Signal::Kill);
        }
        std::thread::sleep(LOOK);
    };
    if is_stopped {
        return Ok(Rerun { answer: Answer::NotReproduced(Missed::Stopped), ended });
    }
    let (refuted, mut happened) = (watch.refuted, watch.happened);
    let status = Status::read(&mut file, planned.plan.events.len())?;
    happened |= !status.gave_up && has_happened(&status, planned);
    let answer = judge(&status, (hangs, is_killed, refuted, happened), &ended, limits);
    Ok(Rerun { answer, ended })
}

enum Seen {
    Goes,
    Hangs,
    TooLong,
}

struct Watch<'w> {
    file: &'w mut File,
    planned: &'w Planned,
    limits: Limits,
    /// What was seen last, and since when nothing has changed.
    since: Option<((u32, u32), Instant)>,
    /// Whether nobody is held any more because all waited.
    refuted: bool,
    /// Whether the goal was reached before that.
    happened: bool,
}

impl Watch<'_> {
    fn look(&mut self, ran: Duration) -> io::Result<Seen> {
        if ran > self.limits.run {
            return Ok(Seen::TooLong);
        }
        let status = Status::read(self.file, self.planned.plan.events.len())?;
        self.happened |= !status.gave_up && has_happened(&status, self.planned);
        let (now, key) = (Instant::now(), (status.activity, status.held));
        let since = match self.since {
            Some((known, since)) if known == key => since,
            _ => {
                self.since = Some((key, now));
                now
            }
        };
        let quiet = now.duration_since(since);
        let all_wait = status.alive > 0 && status.alive == status.blocked + status.held;
        if !status.gave_up
            && (ran > self.limits.held || all_wait && status.held > 0 && quiet > STUCK)
        {
            self.refuted = all_wait;
            Status::give_up(self.file)?;
            self.since = None;
            return Ok(Seen::Goes);
        }
        if all_wait && status.held == 0 && quiet > HANGS {
            return Ok(Seen::Hangs);
        }
        Ok(Seen::Goes)
    }
}

/// Returns whether a run has come to the goal of its plan.
fn has_happened(status: &Status, planned: &Planned) -> bool {
    planned.goal.iter().all(|(event, needed)| {
        let state = status.states.get(*event as usize).copied().unwrap_or_default();
        let needed = match needed {
            Moment::Reached => State::Reached,
            Moment::Waiting => State::Waiting,
            Moment::Passed => State::Passed,
        };
        state >= needed
    })
}

/// Says what a run came to.
fn judge(
    status: &Status,
    (hangs, is_killed, refuted, happened): (bool, bool, bool, bool),
    ended: &Ended,
    limits: Limits,
) -> Answer {
    if status.no_module {
        return Answer::NotReproduced(Missed::OtherCode);
    }
    let harm = if status.used_after_end {
        Some(Harm::UsedAfterEnd)
    } else if status.met {
        Some(Harm::Met)
    } else if hangs {
        Some(Harm::Hang)
    } else if let Some(signal) = ended.signal.filter(|_| !is_killed) {
        Some(Harm::Signal(signal))
    } else {
        let other = ended.status.filter(|status| Some(*status) != limits.usual_status);
        other.filter(|_| limits.usual_status.is_some()).map(Harm::Status)
    };
    match harm {
        // The runtime has seen it, whatever the order of other events.
        Some(harm @ (Harm::UsedAfterEnd | Harm::Met)) => Answer::Reproduced(harm),
        Some(harm) if happened => Answer::Reproduced(harm),
        None if happened => Answer::Feasible,
        _ if refuted => Answer::NotReproduced(Missed::Refuted),
        _ if is_killed || status.gave_up => Answer::NotReproduced(Missed::TimedOut),
        _ => Answer::NotReproduced(Missed::Ended),
    }
}
