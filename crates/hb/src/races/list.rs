//! Every race of a trace, one by one.

use crate::races::coverage::{CoverageLevel, coverage};
use crate::races::detector::Detector;
use crate::relation::conflicts::Conflicts;
use crate::relation::engine::{Engine, Mode};
use crate::relation::rules::RuleSet;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{EventId, Trace};

/// A race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Race {
    /// The access that comes first in the trace.
    pub first: EventId,
    /// The other access.
    pub second: EventId,
    /// Whether the race is uncovered: no other races order it.
    pub uncovered: bool,
}

/// Lists every race of a trace, sorted by the earlier access and then by the later one.
///
/// Memory grows with the number of races, which can be quadratic in the events.
/// [`check`](crate::check) counts races without listing them.
///
/// # Errors
///
/// Fails if it was cancelled.
pub fn races(
    trace: &Trace,
    rules: RuleSet,
    level: CoverageLevel,
    cancel: &Cancel,
) -> Result<Vec<Race>, Stopped> {
    races_in(Mode::default(), trace, rules, level, cancel)
}

/// Lists every race by an order that is computed in a certain way.
///
/// # Errors
///
/// Fails if it was cancelled.
pub(crate) fn races_in(
    mode: Mode,
    trace: &Trace,
    rules: RuleSet,
    level: CoverageLevel,
    cancel: &Cancel,
) -> Result<Vec<Race>, Stopped> {
    let mut engine = Engine::new(trace, rules, mode, cancel)?;
    let conflicts = Conflicts::new(trace, |event| engine.strand_of(event), cancel, None)?;
    let mut detector = Detector::new(trace, &conflicts);
    let ends = engine.visit(&mut detector, cancel, &mut |_| ())?;
    let races = detector.races;
    let uncovered = coverage(level, &mut engine, &races, &ends, cancel)?;
    let mut list = Vec::new();
    for (i, &(a, b)) in races.pairs.iter().enumerate() {
        let edge = (races.run(a).last, races.run(b).first);
        let later = races.accesses(trace, b);
        for first in races.accesses(trace, a) {
            for &second in &later {
                let uncovered =
                    uncovered.in_pair[i] > 0 && (!uncovered.edge_only || (first, second) == edge);
                list.push(Race { first, second, uncovered });
            }
        }
    }
    list.sort_unstable();
    Ok(list)
}
