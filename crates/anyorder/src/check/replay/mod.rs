//! One execution, as a text says.

pub use schedule::{ReplayError, Schedule};

pub(super) use schedule::{Signature, kind, kind_words, of_log};

use super::run::{Driver, Run};
use super::source::Sources;
use super::trace::{Trace, place};
use crate::runtime::Program;
use anyorder_threads::{Act, Step, ThreadId};
use schedule::Part;
use std::fmt;

mod schedule;

/// What became of an execution that was replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replayed {
    /// It failed again, in the same way.
    Same,
    /// It failed, in another way than before.
    Otherwise,
    /// It did not fail.
    Passed,
    /// The program no longer does what the text says.
    Misfit(Misfit),
    /// The text is none.
    Invalid(ReplayError),
}

/// Where a text no longer fits the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// How many operations fitted.
    pub fitted: usize,
    /// The part of the text that does not fit.
    pub part: String,
    /// What was expected.
    pub expected: String,
    /// What the program does instead.
    pub found: String,
}

impl fmt::Display for Replayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Replayed::Same => f.write_str("replay: it failed again, in the same way"),
            Replayed::Otherwise => f.write_str("replay: it failed, but in another way than before"),
            Replayed::Passed => {
                f.write_str("replay: this execution does not fail (no other one was tried)")
            }
            Replayed::Misfit(misfit) => write!(f, "replay: {misfit}"),
            Replayed::Invalid(error) => write!(f, "replay: {error}"),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misfit { fitted, part, expected, found } = self;
        let plural = if *fitted == 1 { "" } else { "s" };
        write!(
            f,
            "the string no longer fits this program: after {fitted} operation{plural}, at `{part}`, \
             expected {expected}, but {found}. The test has changed, or the string is that of another test"
        )
    }
}

impl Schedule {
    pub(super) fn signature(&self) -> Option<Signature> {
        self.failure
    }

    /// Runs a program as the schedule says, then on to its end unless it has failed.
    pub(super) fn run(&self, program: &mut Program, steps_max: usize) -> (Run, Option<Misfit>) {
        let mut driver = Driver::new(program);
        let mut threads = vec![ThreadId::MAIN];
        let mut misfit = None;
        let mut next = None;
        'parts: for (at, part) in self.parts.iter().enumerate() {
            for number in 1..=part.count {
                let is_last = number == part.count;
                let fitted = driver.events().len();
                if fitted >= steps_max {
                    let found = "no execution has as many as the check allows";
                    misfit = Some(unfit(part, fitted, "more operations", found));
                    break 'parts;
                }
                let is_end = is_last && at + 1 == self.parts.len();
                if is_end && is_repaired(&driver, &threads, part) {
                    next = threads.get(part.thread as usize).copied();
                    break 'parts;
                }
                if let Err((expected, found)) = perform(&mut driver, &threads, part, is_last) {
                    misfit = Some(unfit(part, fitted, &expected, &found));
                    break 'parts;
                }
                let last = driver.events().last();
                if let Some(Act::Spawn(child)) = last.map(|event| &event.op.act) {
                    threads.push(*child);
                }
            }
        }
        if misfit.is_none() && self.failure.is_none_or(|failure| failure.class != 'r') {
            driver.run_on(next, steps_max);
        }
        (driver.finish(), misfit)
    }
}

/// Whether a thread that panicked at the end of the schedule does something else instead.
fn is_repaired(driver: &Driver<'_>, threads: &[ThreadId], part: &Part) -> bool {
    let thread = threads.get(part.thread as usize);
    let next = thread.and_then(|thread| driver.next(*thread));
    let panic = kind(&Act::Fail(0));
    part.kind == panic && next.is_some_and(|next| kind(&next.op.act) != panic)
}

fn unfit(part: &Part, fitted: usize, expected: &str, found: &str) -> Misfit {
    let (expected, found) = (expected.to_owned(), found.to_owned());
    Misfit { fitted, part: part.to_string(), expected, found }
}

/// Performs the next operation of a part. The error: what was expected, and what is found.
fn perform(
    driver: &mut Driver<'_>,
    threads: &[ThreadId],
    part: &Part,
    is_last: bool,
) -> Result<(), (String, String)> {
    let letters = schedule::letters(part.thread);
    let who = match part.thread {
        0 => "the main thread".to_owned(),
        number => format!("thread {number}"),
    };
    let what = if is_last { kind_words(part.kind) } else { "go on" };
    let expected = format!("{who} (`{letters}`) to {what}");
    let Some(thread) = threads.get(part.thread as usize).copied() else {
        return Err((expected, format!("only {} were spawned", threads.len() - 1)));
    };
    let Some(next) = driver.next(thread) else { return Err((expected, "it has ended".to_owned())) };
    let found = kind(&next.op.act);
    if is_last && found != part.kind {
        return Err((expected, format!("it is about to {}", kind_words(found))));
    }
    let alternative = if is_last { part.alternative } else { 0 };
    if driver.go(Step { thread, alternative }) {
        return Ok(());
    }
    let waits = !driver.ready().iter().any(|step| step.thread == thread);
    let found = match waits {
        true => format!("it has to wait to {}", kind_words(found)),
        false => format!("there is no way {alternative} to do that"),
    };
    Err((expected, found))
}

/// Where the program is at a misfit: the threads and what each is about to do.
pub(super) fn about(program: &Program, run: &Run, sources: &mut Sources) -> String {
    let trace = Trace::new(program, run, sources);
    let of = |(thread, next): &(ThreadId, anyorder_threads::Next)| {
        let at = place(program, next.site).map(|at| format!(" ({at})")).unwrap_or_default();
        format!(
            "  {} is about to {}{at}\n",
            trace.thread_name(*thread),
            kind_words(kind(&next.op.act))
        )
    };
    run.pending.iter().map(of).collect()
}
