//! Searches by what each thread can see, for programs that have one.

use super::check::{CheckOptions, Found, Searched, assemble};
use super::program::StateProgram;
use super::reduced::shortest;
use super::report::{publish, report};
use crate::failure::{Failure, Unusable};
use crate::remark::{Remark, Remarked};
use crate::{JobControl, JobResult, Reported};
use anyorder_finding::{Site, Stats, Warning, WarningKind};
use anyorder_search::Outcome;
use anyorder_system::StateSystem;

/// What a search by threads may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadBudget {
    /// The most executions.
    pub executions_max: u64,
    /// The most operations of an execution.
    pub steps_max: usize,
    /// How often the search may ask whether to go on: every thousand steps. `None` for no end.
    pub polls_max: Option<u64>,
}

impl ThreadBudget {
    /// Enough for any program whose threads end.
    pub const WHOLE: ThreadBudget =
        ThreadBudget { executions_max: u64::MAX, steps_max: 100_000, polls_max: None };

    /// What is spent before the states are searched: about a second.
    pub const LEAD: ThreadBudget =
        ThreadBudget { executions_max: 1_000, steps_max: 10_000, polls_max: Some(1_000) };
}

/// What came of a search by threads.
#[derive(Debug)]
pub enum ThreadSearch<S: StateSystem> {
    /// The program is none for it: why.
    Unfit(String),
    /// The program says of calls that they commute, and they do not: which.
    Wrong(String),
    /// What it found, and its counts.
    Found(Outcome<S>, Stats),
}

/// Searches a program thread by thread, because that was asked for.
pub(super) fn as_asked<P: StateProgram>(
    program: &P,
    options: &CheckOptions,
    control: &JobControl<'_>,
) -> Result<Found, Failure> {
    let name = &program.program().name;
    let unfit = |why| Failure::input(name, Unusable::NotThreads(why));
    match program.by_threads(ThreadBudget::WHOLE, control) {
        None => Err(unfit("it has no threads".to_owned())),
        Some(ThreadSearch::Unfit(why) | ThreadSearch::Wrong(why)) => Err(unfit(why)),
        Some(ThreadSearch::Found(outcome, stats)) => {
            Ok(reported(program, (outcome, stats), options, control))
        }
    }
}

/// What a search by threads gave that nobody asked for.
pub(super) enum Lead {
    /// It answers the question.
    Answer(Found),
    /// It does not: what it found so far, and why it found no more.
    Hint(JobResult),
}

/// Searches by threads first, if the program is one for which that is the better search: it covers
/// all, or the states are searched.
pub(super) fn lead<P: StateProgram>(
    program: &P,
    options: &CheckOptions,
    control: &JobControl<'_>,
) -> Option<Lead> {
    let is_free = options.algorithm.is_none() && options.states_max.is_none();
    if !is_free || !program.prefers_threads() {
        return None;
    }
    let name = &program.program().name;
    let mut hint = JobResult::default();
    match program.by_threads(ThreadBudget::LEAD, control)? {
        ThreadSearch::Found(outcome, stats) => {
            if outcome.complete {
                let (mut result, never_run) = reported(program, (outcome, stats), options, control);
                result.remarks.push(Remark::on(name, Remarked::ByThreads));
                return Some(Lead::Answer((result, never_run)));
            }
            hint.findings = report(program, &outcome.violations);
            publish(program, &outcome.violations, control);
        }
        ThreadSearch::Unfit(why) => {
            hint.remarks.push(Remark::on(name, Remarked::NotByThreads(why)));
        }
        ThreadSearch::Wrong(why) => {
            hint.warnings.push(Warning::new(WarningKind::Odd, name, &why, 1));
            hint.remarks.push(Remark::on(name, Remarked::NotByThreads(why)));
        }
    }
    Some(Lead::Hint(hint))
}

/// Adds what a search by threads found to the result of a search of the states that was cut.
pub(super) fn add_hint(result: &mut JobResult, hint: JobResult) {
    result.remarks.extend(hint.remarks);
    result.warnings.extend(hint.warnings);
    if result.limits.is_empty() {
        return;
    }
    let parts = |one: &Reported| {
        let finding = &one.finding;
        (finding.kind, finding.title.clone(), finding.sites.first().and_then(Site::position))
    };
    let known: Vec<_> = result.findings.iter().map(parts).collect();
    let mut more = hint.findings;
    more.retain(|one| !known.contains(&parts(one)));
    result.findings.extend(more);
}

/// Makes a result of what a search found.
fn reported<P: StateProgram>(
    program: &P,
    found: Searched<P::System, ()>,
    options: &CheckOptions,
    control: &JobControl<'_>,
) -> Found {
    publish(program, &found.0.violations, control);
    assemble(program, shortest(program.system(), found, options, control), control)
}
