//! The searches that leave orders out, as data: only a program whose tasks report what they touch
//! has them.

use super::check::{Algorithm, CheckOptions, Found, assemble};
use super::program::StateProgram;
use super::reduced::{by_paper, by_stateful, shortest};
use super::report::publish;
use super::sampled::{Stages, sampled};
use crate::{Failure, JobControl, JobResult};
use anyorder_explore::stateful::GiveUp;
use anyorder_search::{Property, Violation};
use anyorder_system::Reducible;
use std::fmt;

/// The searches of a program that leave orders of independent steps out. See
/// [`StateProgram::reduction`].
pub struct Reduction<P> {
    pub(super) search: Search<P>,
    pub(super) missing: Missing<P>,
}

type Search<P> = fn(&P, Algorithm, &CheckOptions, &JobControl<'_>) -> Result<Found, Failure>;
type Missing<P> = fn(&P, &CheckOptions, Checked, &JobControl<'_>) -> Result<JobResult, Failure>;

/// What a search of all states has checked besides failures, invariants and ends.
#[derive(Clone, Copy)]
pub(super) struct Checked {
    pub(super) conflicts: bool,
    pub(super) livelocks: bool,
}

impl<P: StateProgram> Reduction<P>
where
    P::System: Reducible,
{
    /// Returns the searches of a program whose system is [`Reducible`].
    #[must_use]
    pub fn of_tasks() -> Reduction<P> {
        Reduction { search: search::<P>, missing: missing::<P> }
    }
}

impl<P> Clone for Reduction<P> {
    fn clone(&self) -> Reduction<P> {
        *self
    }
}

impl<P> Copy for Reduction<P> {}

impl<P> fmt::Debug for Reduction<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reduction")
    }
}

/// Searches a program with reduction, by an algorithm other than full search.
fn search<P>(
    program: &P,
    algorithm: Algorithm,
    options: &CheckOptions,
    control: &JobControl<'_>,
) -> Result<Found, Failure>
where
    P: StateProgram,
    P::System: Reducible,
{
    let system = program.system();
    if algorithm == Algorithm::Paper {
        let found = by_paper(program, options, control)?;
        publish(program, &found.0.violations, control);
        return Ok(assemble(program, shortest(system, found, options, control), control));
    }
    if options.algorithm.is_none() && control.limits.executions.is_none() {
        return sampled(program, options, Stages::default(), control);
    }
    let found = by_stateful(program, options, GiveUp::default(), control)?;
    publish(program, &found.0.violations, control);
    Ok(assemble(program, shortest(system, found, options, control), control))
}

/// Searches for what a search of all states could not check.
fn missing<P>(
    program: &P,
    options: &CheckOptions,
    checked: Checked,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure>
where
    P: StateProgram,
    P::System: Reducible,
{
    let mut other = by_stateful(program, options, GiveUp::default(), control)?;
    other.0.conflicts = other.0.conflicts.filter(|_| !checked.conflicts);
    let livelock = |one: &Violation<_>| matches!(one.property, Property::Livelock(_));
    other.0.violations.retain(|one| !checked.livelocks && livelock(one));
    Ok(assemble(program, other, control).0)
}
