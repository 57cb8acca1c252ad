//! What a check found.

use super::failure::{Failure, FailureKind};
use super::replay::Replayed;
use super::source::Sources;
use super::table;
use super::title::at;
use crate::runtime::{Position, Program};
use anyorder_threads::{Act, Divergence, Incomplete, Unseen};
use std::fmt;
use std::fmt::Write as _;
use std::panic::Location;

/// The most failures that are shown with their executions; the others have a line each.
const SHOWN_MAX: usize = 4;

/// The most lines for further failures.
const LISTED_MAX: usize = 20;

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// How many executions were run.
    pub executions: u64,
    /// In how many states the last search had a choice.
    pub states: u64,
    /// How many more were run to confirm failures, to find others that do not fail, and to notice
    /// data that is not seen.
    pub executions_for_reports: u64,
    /// Those with frees as operations, to find what is used or freed after them.
    pub executions_for_frees: u64,
    /// Why uses and second frees after these may be missing, if so. What a single execution shows
    /// is found nevertheless, and the check is no less right.
    pub frees_incomplete: Option<Incomplete>,
    /// Those in which a thread went on alone, to see whether its loop gives up.
    pub executions_for_loops: u64,
    /// The loops that give up after more turns in vain than are explored turn by turn. What they do
    /// then was explored only where nothing else could go on.
    pub long_loops: Vec<LongLoop>,
    /// Why something may be missing, if so. A bound of preemptions that was asked for is no reason.
    pub incomplete: Option<Incomplete>,
    /// Whether the number of turns in vain of loops was, as asked, not combined with what comes
    /// later ([`Builder::turns_merged`](crate::Builder::turns_merged)).
    pub turns_merged: bool,
    /// If not everything was explored: up to how many preemptions all executions were. `None` if
    /// everything was, or if not even those without preemptions were.
    pub preemptions: Option<u32>,
    /// If a limit ended the check: how much of what random executions show it had not seen, before
    /// it went on with those of few preemptions.
    pub unseen: Option<Unseen>,
    /// Why executions may not have been what they seemed.
    pub doubts: Vec<Doubt>,
    /// What went wrong, each once.
    pub failures: Vec<Failure>,
    /// Deadlocks and livelocks in which the same operations wait as in one of the failures, but in
    /// other threads or on other objects: those for whose reports a limit left no room.
    pub failures_like_them: u64,
    /// What goes wrong under weak memory only, if it was explored. These failures cannot be
    /// replayed.
    pub failures_weak: Vec<Failure>,
    /// How many executions weak memory has, if it was explored.
    pub executions_weak: Option<u64>,
    /// What became of the one execution that was asked for, if one was.
    pub replayed: Option<Replayed>,
    /// What the text of a replay that no longer fits should be compared with: where the threads
    /// are.
    pub(super) threads_at_misfit: String,
    /// The text about the report that was written, if one was asked for.
    pub(super) report: Option<String>,
    /// The name of the test, for the command that replays a failure.
    pub(super) test: Option<String>,
}

impl Summary {
    /// Returns whether nothing went wrong, in all executions that there are, or that a bound of
    /// preemptions allows: then [`preemptions`](Self::preemptions) says so. Of a replay, whether
    /// that one execution did not fail.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        let fits = matches!(self.replayed, None | Some(Replayed::Passed));
        let is_right = self.failures.is_empty() && self.failures_weak.is_empty();
        is_right && self.incomplete.is_none() && self.doubts.is_empty() && fits
    }
}

impl Summary {
    /// Returns whether a limit on executions or time cut the check.
    #[must_use]
    pub fn is_cut_by_limit(&self) -> bool {
        matches!(self.incomplete, Some(Incomplete::Executions | Incomplete::Stopped(_)))
    }

    /// Returns how far the check came, in words, if not everything was explored.
    #[must_use]
    pub fn explored(&self) -> Option<String> {
        let complete = self
            .preemptions
            .map(|most| format!("complete up to {}", plural(u64::from(most), "preemption")));
        let unseen = self.unseen.map(|unseen| {
            let (least, most) = unseen.percent();
            format!(
                "a random execution would show something new with a chance of {least} to {most} %"
            )
        });
        let parts: Vec<String> = complete.into_iter().chain(unseen).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Returns what `cargo anyorder` lists of a check that a limit cut: whether the limit was asked
    /// for, where the check is, the name of its test, and how far it came.
    pub(super) fn line_of_cut(&self, at: &Location<'_>, is_asked: bool) -> String {
        let asked = if is_asked { "asked" } else { "usual" };
        let (test, explored) = (self.test.as_deref().unwrap_or(""), self.explored());
        let explored = explored.map(|words| format!(", {words}")).unwrap_or_default();
        let executions = plural(self.executions, "execution");
        format!("{asked}\t{at}\t{test}\t{executions}{explored}")
    }

    /// Removes leaks from the failures.
    pub(super) fn forgive_leaks(&mut self) {
        self.failures.retain(|failure| !matches!(failure.kind, FailureKind::Leak(_)));
        if self.failures.is_empty() && self.replayed.is_some() {
            self.replayed = self.replayed.take().map(|replayed| match replayed {
                Replayed::Same | Replayed::Otherwise => Replayed::Passed,
                other => other,
            });
        }
    }
}

/// A loop that gives up after more turns in vain than are explored turn by turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LongLoop {
    /// Where it reads what it waits for.
    pub reads: Option<Position>,
    /// Where it gives way.
    pub gives_way: Option<Position>,
    /// After how many turns in vain it gave up.
    pub turns: u32,
}

impl LongLoop {
    pub(super) fn of(program: &Program, long: &anyorder_threads::LongLoop) -> LongLoop {
        let (reads, gives_way) = (program.position(long.before), program.position(long.site));
        LongLoop { reads, gives_way, turns: long.turns }
    }
}

impl fmt::Display for LongLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LongLoop { reads, gives_way, turns } = self;
        let (reads, gives_way) = (at(reads.as_ref()), at(gives_way.as_ref()));
        write!(
            f,
            "the loop that reads at {reads} and gives way at {gives_way} gives up after {turns} \
             turns in vain: `turns_max({turns})` explores each of them"
        )
    }
}

/// Why executions may not have been what they seemed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Doubt {
    /// An object was at an address of which nothing is known, so that it may have been taken for
    /// another one: the feature `allocator` is off.
    LooseNames,
    /// An atomic was consumed at another place than the one where threads used it, and several had
    /// its value, so that it may have been taken for another one: the feature `std-size` is on.
    Moved,
    /// A lock or cell that was made outside of the closure holds data that one execution leaves to
    /// the next. Made inside, it begins anew in each.
    OutsideData,
    /// A loop that nothing in the program ends came to its end all the same when it went on for a
    /// while: it looks at a clock, or counts its turns. What comes after it was not explored.
    Clock,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.replayed {
            Some(replayed) => writeln!(f, "{replayed}")?,
            None => {
                write!(f, "{}", plural(self.executions, "execution"))?;
                let own = self.failures.iter().filter(|failure| !failure.is_consequence).count();
                if let Some(weak) = self.executions_weak {
                    write!(f, ", {weak} under weak memory")?;
                }
                let own = own + self.failures_weak.len();
                if own > 0 {
                    write!(f, ", {}", plural(own as u64, "failure"))?;
                }
                if self.failures_like_them > 0 {
                    write!(f, " and {} like them", self.failures_like_them)?;
                }
                if let Some(incomplete) = &self.incomplete {
                    write!(f, ", incomplete: {}", incomplete_words(incomplete))?;
                }
                match self.explored() {
                    Some(explored) => writeln!(f, ", {explored}")?,
                    None => writeln!(f)?,
                }
            }
        }
        f.write_str(&self.threads_at_misfit)?;
        for long in &self.long_loops {
            writeln!(f, "incomplete: {long}")?;
        }
        if self.turns_merged {
            writeln!(
                f,
                "as asked, turns in vain of loops were not combined with what comes later"
            )?;
        }
        if let Some(incomplete) = &self.frees_incomplete {
            writeln!(
                f,
                "not all orders of frees and uses were tried: {}",
                frees_words(incomplete)
            )?;
        }
        for doubt in &self.doubts {
            writeln!(f, "in doubt: {doubt}")?;
        }
        let mut sources = Sources::default();
        let (ranked, shown) = ranked(&self.failures);
        for failure in &ranked[..shown] {
            writeln!(f)?;
            f.write_str(&text(failure, self.test.as_deref(), &mut sources))?;
        }
        for failure in self.failures_weak.iter().take(SHOWN_MAX) {
            writeln!(f, "\nunder weak memory, where a load may return an older store:")?;
            f.write_str(&execution(failure, &mut sources))?;
        }
        let more: Vec<&Failure> = self.failures_weak.iter().skip(SHOWN_MAX).collect();
        listed(f, "other executions under weak memory:", &more, false)?;
        let (consequences, others): (Vec<&Failure>, Vec<&Failure>) =
            ranked[shown..].iter().copied().partition(|failure| failure.is_consequence);
        listed(f, "other executions:", &others, true)?;
        listed(f, "after one of these panics:", &consequences, false)?;
        match &self.report {
            Some(report) => writeln!(f, "{report}"),
            None => Ok(()),
        }
    }
}

/// Failures in a line each.
fn listed(
    f: &mut fmt::Formatter<'_>,
    head: &str,
    failures: &[&Failure],
    with_replay: bool,
) -> fmt::Result {
    if failures.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{head}")?;
    for failure in failures.iter().take(LISTED_MAX) {
        writeln!(f, "  {}", anyorder_common::text::escape(&failure.title()))?;
        if with_replay {
            writeln!(f, "    ANYORDER_REPLAY='{}'", failure.replay())?;
        }
    }
    match failures.len().saturating_sub(LISTED_MAX) {
        0 => Ok(()),
        more => writeln!(f, "  {more} more"),
    }
}

/// The failures, the first ones of each class and place before consequences and repetitions.
fn ranked(failures: &[Failure]) -> (Vec<&Failure>, usize) {
    let mut places = Vec::new();
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for failure in failures {
        let place = (failure.class(), failure.position());
        let is_later = failure.is_consequence || places.contains(&place);
        places.push(place);
        if is_later { later.push(failure) } else { first.push(failure) }
    }
    let shown = first.len().clamp(1, SHOWN_MAX).min(failures.len());
    first.append(&mut later);
    (first, shown)
}

fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Returns a failure with its execution.
fn text(failure: &Failure, test: Option<&str>, sources: &mut Sources) -> String {
    let mut out = execution(failure, sources);
    let test = test.map(|test| format!(" {test}")).unwrap_or_default();
    let _ = writeln!(out, "\nto replay: ANYORDER_REPLAY='{}' cargo test{test}", failure.replay());
    out
}

/// Returns a failure with its execution, but not how to replay it.
fn execution(failure: &Failure, sources: &mut Sources) -> String {
    let mut out = format!("{}\n", anyorder_common::text::escape(&failure.title()));
    for line in failure.details() {
        let _ = writeln!(out, "  {}", anyorder_common::text::escape(&line));
    }
    if failure.is_consequence {
        out.push_str("  after another panic in the same execution\n");
    }
    if !failure.is_confirmed {
        out.push_str("  run again, it did not fail: the program is not the same in each run\n");
    }
    out.push('\n');
    let rows = table::failing(failure);
    out.push_str(&table::table(&failure.trace, &rows, sources));
    if let Some(passing) = &failure.passing {
        out.push_str("\nwith B before A it does not fail:\n\n");
        out.push_str(&table::table(&passing.trace, &table::passing(passing, false), sources));
    }
    let made = table::numbered(&failure.trace, &rows);
    if !made.is_empty() {
        out.push('\n');
    }
    for line in made {
        let _ = writeln!(out, "  {line}");
    }
    out
}

fn frees_words(incomplete: &Incomplete) -> String {
    match incomplete {
        Incomplete::Diverged(_) => {
            "who frees depends on what is not seen, as the count of an `Arc` of the standard library"
                .to_owned()
        }
        Incomplete::Stopped(_) => "they are too many for the time".to_owned(),
        other => incomplete_words(other),
    }
}

fn incomplete_words(incomplete: &Incomplete) -> String {
    match incomplete {
        Incomplete::Executions => "as many as allowed, and there are more".to_owned(),
        Incomplete::Steps => "an execution had more operations than allowed".to_owned(),
        Incomplete::Stopped(reason) => format!("{reason}, and there are more"),
        Incomplete::OtherProgram => {
            "the checkpoint is of another test, or the test is not what it was: remove the file to \
             begin anew"
                .to_owned()
        }
        Incomplete::Diverged(None) => {
            "something is not as it was in an earlier execution: does the test look at a clock, at \
             random numbers, at addresses, or at data that outlives an execution?"
                .to_owned()
        }
        Incomplete::Diverged(Some(how)) => diverged(how),
        Incomplete::GivesUp(_) => {
            "a loop gives up after more turns in vain than are explored".to_owned()
        }
        Incomplete::Unbounded => {
            "nothing was run: only the engine `learning` has a bound of preemptions".to_owned()
        }
        Incomplete::Unsupported(op) => {
            let what = super::replay::kind_words(super::replay::kind(&op.act));
            format!("weak memory and the engine `reads-from` do not support it to {what}")
        }
    }
}

fn diverged(how: &Divergence) -> String {
    let of = |act: &Act| super::replay::kind_words(super::replay::kind(act));
    format!(
        "after the same results, thread {} is about to {} (#{}) in one execution and to {} (#{}) in \
         another: does it look at a clock, at random numbers, at addresses, or at data that outlives an \
         execution?",
        how.thread.0,
        of(&how.expected.op.act),
        how.expected.op.object.0,
        of(&how.found.op.act),
        how.found.op.object.0
    )
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doubt::LooseNames => {
                "an object is at an address of which nothing is known, so that it may have been \
                 taken for another one; turn the feature `allocator` on"
            }
            Doubt::Moved => {
                "an atomic was moved to where it is consumed, and it is not known which one it is: \
                 `load` it instead of `into_inner`, or turn the feature `std-size` off"
            }
            Doubt::OutsideData => {
                "a lock or cell that was made outside of the closure keeps its data from one \
                 execution to the next; make it inside"
            }
            Doubt::Clock => {
                "a loop that nothing ends came to its end when it went on for a while: it looks at \
                 a clock, or counts its turns; what comes after it was not explored"
            }
        })
    }
}
