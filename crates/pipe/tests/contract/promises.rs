//! The contract of task systems, checked for any system.
//!
//! `check` walks at random through the program and checks each clause of the documentation of
//! `TaskSystem`. Capabilities that a system does not declare are not checked.

use super::clauses;
use super::enumerate::choices;
use super::subject::{RenderedStep, Subject, Violation, same, violation};
use anyorder_common::random::{Random, Rng};
use anyorder_system::{Choice, SystemFactory, TaskSystem};

/// The size of the test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The seed of the random walks.
    pub(crate) seed: u64,
    /// The number of walks.
    pub(crate) walks: u32,
    /// The most steps of a walk.
    pub(crate) steps_max: usize,
}

/// How often each clause was tested. A clause that was never tested proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Coverage {
    /// States whose replay was compared.
    pub(crate) replayed: u32,
    /// Enabled choices that were tried.
    pub(crate) enabled_tried: u32,
    /// Disabled tasks that were tried.
    pub(crate) diverged: u32,
    /// Missing alternatives that were tried.
    pub(crate) alternatives_refused: u32,
    /// Posted tasks whose names were checked.
    pub(crate) names: u32,
    /// Pairs of tasks without a conflict that were run in both orders.
    pub(crate) commuted: u32,
    /// Pairs of tasks with a conflict.
    pub(crate) conflicting: u32,
    /// Resets in the middle of a run.
    pub(crate) resets: u32,
    /// States that were saved and restored.
    pub(crate) restored: u32,
}

/// One walk: the choices and their effects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    /// The choices.
    pub(crate) choices: Vec<Choice>,
    /// Their steps.
    pub(crate) steps: Vec<RenderedStep>,
}

/// Checks all clauses; the first violation ends it.
pub(crate) fn check<F>(factory: &F, effort: Effort) -> Result<Coverage, Violation>
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    let make = || match factory.make() {
        Ok(system) => Ok(Subject::new(system)),
        Err(error) => violation("answers", format!("make: {error}")),
    };
    let (mut first, mut second) = (make()?, make()?);
    let mut coverage = Coverage::default();
    let mut random = Rng::new(effort.seed);
    let fresh = first.view()?;
    for _ in 0..effort.walks {
        let walk = random_walk(&mut first, effort.steps_max, &mut random)?;
        same("reset", "the start", &fresh, &{
            first.reset()?;
            coverage.resets += 1;
            first.view()?
        })?;
        clauses::names(&walk, &mut coverage)?;
        clauses::repeatable(&mut first, &mut second, &walk, &mut coverage)?;
        clauses::enabled(&mut first, &walk, &mut coverage)?;
        clauses::divergence(&mut first, &walk, &mut coverage)?;
        clauses::commuting(&mut first, &walk, &mut coverage)?;
        clauses::snapshots(&mut first, &walk, &mut coverage)?;
    }
    Ok(coverage)
}

fn random_walk<S: TaskSystem>(
    subject: &mut Subject<S>,
    steps_max: usize,
    random: &mut Rng,
) -> Result<Walk, Violation> {
    subject.reset()?;
    let mut walk = Walk::default();
    while walk.choices.len() < steps_max {
        let possible = choices(&mut subject.system);
        let mut possible = subject.after("enabled", possible)?;
        if possible.is_empty() {
            break;
        }
        let choice = possible.swap_remove(random.index(possible.len()));
        walk.steps.push(subject.execute(&choice)?);
        walk.choices.push(choice);
    }
    Ok(walk)
}

/// Fails the test with the seed when the contract is broken, or when an applicable clause was never
/// tested.
pub(crate) fn assert_keeps<F>(name: &str, factory: &F, effort: Effort) -> Coverage
where
    F: SystemFactory,
    F::System: TaskSystem,
{
    let coverage = match check(factory, effort) {
        Ok(coverage) => coverage,
        Err(violation) => panic!("{name} breaks the contract: {violation} ({effort:?})"),
    };
    println!("{name}: {coverage:?}");
    let Coverage { replayed, enabled_tried, diverged, alternatives_refused, .. } = coverage;
    let Coverage { names, commuted, conflicting, resets, .. } = coverage;
    let counts = [
        replayed,
        enabled_tried,
        diverged,
        alternatives_refused,
        names,
        commuted,
        conflicting,
        resets,
    ];
    assert!(counts.iter().all(|count| *count > 0), "{name}: a clause never fired: {coverage:?}");
    coverage
}
