//! Compares two runs up to their first difference.

use super::program::StateProgram;
use super::replay::follow;
use crate::Failure;
use anyorder_finding::run::Run;
use anyorder_system::Schedule;

/// The comparison of two runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compared {
    /// Both runs.
    pub runs: [Run; 2],
    /// For each run, the point at which its schedule could not be followed, as text.
    pub lost: [Option<String>; 2],
    /// The first difference; `None` if the runs are equal.
    pub parting: Option<Parting>,
}

/// The first difference of two runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parting {
    /// The number of equal steps.
    pub common: usize,
    /// The differences after the next step: name, and the value in each run, if present.
    pub values: Vec<(String, Option<String>, Option<String>)>,
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
    let run = |one: &super::replay::Followed<P::System>| {
        program.run(&one.path, &one.end.clone().unwrap_or_default())
    };
    let lost =
        |one: &super::replay::Followed<P::System>| one.divergence.as_ref().map(ToString::to_string);
    Ok(Compared {
        runs: [run(one), run(two)],
        lost: [lost(one), lost(two)],
        parting: parting.map(|at| Parting { common: at.common, values: at.values }),
    })
}
