//! Compares two runs up to their first difference.

use super::program::StateProgram;
use super::replay::{Followed, follow};
use crate::Failure;
use anyorder_finding::run::Run;
use anyorder_search::PathDifference;
use anyorder_system::Schedule;

/// The comparison of two runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compared {
    /// Both runs.
    pub runs: [Run; 2],
    /// For each run, the point at which its schedule could not be followed, as text.
    pub lost: [Option<String>; 2],
    /// The first difference; `None` if the runs are equal.
    pub parting: Option<PathDifference>,
}

/// Compares the runs of two schedules.
///
/// # Errors
///
/// Fails when the program is not deterministic.
pub fn compare<P: StateProgram>(
    program: &P,
    a: &Schedule,
    b: &Schedule,
) -> Result<Compared, Failure> {
    let followed = [follow(program, a)?, follow(program, b)?];
    let [one, two] = &followed;
    let parting = anyorder_search::diff(program.system(), &one.path, &two.path);
    let run =
        |one: &Followed<P::System>| program.run(&one.path, &one.end.clone().unwrap_or_default());
    let lost = |one: &Followed<P::System>| one.divergence.as_ref().map(ToString::to_string);
    Ok(Compared { runs: [run(one), run(two)], lost: [lost(one), lost(two)], parting })
}
