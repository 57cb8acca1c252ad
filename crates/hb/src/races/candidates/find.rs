//! One pass for both kinds of candidates.

use super::non_racy::NonRacy;
use super::point_races::PointRaces;
use crate::races::detector::Detector;
use crate::relation::conflicts::Conflicts;
use crate::relation::engine::{Engine, Mode};
use crate::relation::locks::Locks;
use crate::relation::pass::{View, Visitor};
use crate::relation::rules::RuleSet;
use crate::relation::sections::{Actions, Points};
use crate::relation::strands::StrandId;
use anyorder_order::ClockRef;
use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, Trace};

/// Two actions that do not commute, the earlier one first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CandidatePair {
    /// The action that comes first in the trace.
    pub first: EventId,
    /// The other action.
    pub second: EventId,
    /// The object, if the two actions are points; `None` for memory accesses.
    pub object: Option<u32>,
}

/// Limits on stored pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CandidateLimits {
    /// The most pairs of each kind that are listed. All pairs are counted.
    pub pairs_max: usize,
    /// The most pairs that one block of sections may have open at a time. Further pairs count as
    /// lost.
    pub open_max: usize,
}

impl Default for CandidateLimits {
    fn default() -> CandidateLimits {
        CandidateLimits { pairs_max: 100_000, open_max: 4_096 }
    }
}

/// The pairs that event-driven EDC leaves unordered.
#[derive(Clone, Debug, Default)]
pub struct OrderCandidates {
    /// Unordered pairs: one for any two runs of accesses with the same races, given by their first
    /// accesses.
    pub racy: Vec<CandidatePair>,
    /// Pairs under a common lock that only their own blocks of sections order: one for any two
    /// visits of an object.
    pub non_racy: Vec<CandidatePair>,
    /// The number of racy pairs.
    pub racy_total: u64,
    /// The number of racing pairs of accesses (not of runs).
    pub race_pairs: u64,
    /// The number of actions that are the second of some racy pair.
    pub racy_seconds: u64,
    /// The number of non-racy pairs.
    pub non_racy_total: u64,
    /// The number of pairs under a common lock that other edges order.
    pub ordered: u64,
    /// The number of pairs under a common lock that were skipped because too many were open.
    pub lost: u64,
    /// The number of pairs whose second sections their strand does not end.
    pub undecided: u64,
    /// The number of releases of locks that their strand does not hold.
    pub stray_releases: u64,
    /// The number of passes that the fixpoint of the rules took.
    pub rounds: u32,
    /// Steps of the work that can grow faster than the events, for tests of growth: nodes of clocks
    /// joined, chains asked, pairs kept. Each event counts as a step.
    pub steps: u64,
}

/// Finds the candidates of a trace by event-driven EDC (`docs/prediction.md`).
///
/// Time and memory: those of the race detector, which stores the pairs that are listed and counts
/// the others, those of many tasks together. In addition, linear in the actions inside sections and
/// in the pairs under a common lock that no clock orders at once.
///
/// # Errors
///
/// Fails if it was cancelled, or if the clocks need more memory than allowed.
pub fn order_candidates(
    trace: &Trace,
    rules: RuleSet,
    points: &Points,
    limits: CandidateLimits,
    control: &Control,
) -> Result<OrderCandidates, Stopped> {
    let cancel = &control.cancel;
    let mode = Mode {
        exact: !points.list.is_empty(),
        memory_bytes_max: control.limits.memory_bytes,
        locks: Locks::Sections,
        ..Mode::default()
    };
    let mut engine = Engine::with_points(trace, rules, mode, points, cancel)?;
    let conflicts = Conflicts::new(
        trace,
        |event| engine.strand_of(event),
        cancel,
        control.limits.memory_bytes,
    )?;
    let actions = Actions::new(trace, &conflicts, points);
    let mut all = All {
        racy: Detector::new(trace, &conflicts).listing(limits.pairs_max),
        points: PointRaces::new(points, limits.pairs_max),
        non_racy: NonRacy::new(&engine, &actions, limits),
    };
    engine.visit(&mut all, cancel, &mut |_| ())?;
    let steps = trace.len() as u64 + engine.steps();
    Ok(all.finish(limits, (engine.rounds, steps)))
}

struct All<'a> {
    racy: Detector<'a>,
    points: PointRaces<'a>,
    non_racy: NonRacy<'a>,
}

impl All<'_> {
    fn finish(self, limits: CandidateLimits, (rounds, steps): (u32, u64)) -> OrderCandidates {
        let races = self.racy.races;
        let mut found = self.non_racy.finish();
        let listed = races.pairs.iter().map(|(_, later)| later.0);
        let unlisted = races.unlisted.iter().map(|races| races.later.0);
        let mut seconds: Vec<u32> = listed.chain(unlisted).collect();
        seconds.dedup();
        found.racy_seconds =
            seconds.iter().map(|run| u64::from(races.runs[*run as usize].count)).sum::<u64>()
                + self.points.seconds;
        found.racy = races
            .pairs
            .iter()
            .take(limits.pairs_max)
            .map(|(a, b)| CandidatePair {
                first: races.run(*a).first,
                second: races.run(*b).first,
                object: None,
            })
            .collect();
        let unlisted = races.unlisted.iter().map(|races| races.runs).sum::<u64>();
        found.racy_total = races.pairs.len() as u64 + unlisted + self.points.total;
        found.race_pairs = races.total();
        let room = limits.pairs_max - found.racy.len();
        found.racy.extend(self.points.pairs.into_iter().take(room));
        found.rounds = rounds;
        found.steps = steps + self.racy.work.visited + races.asked + races.pairs.len() as u64;
        found
    }
}

impl Visitor for All<'_> {
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        self.racy.event(view, event, strand);
        self.points.event(view, event, strand);
        self.non_racy.event(view, event, strand);
    }

    fn stamp(&mut self, event: EventId, clock: ClockRef) {
        self.non_racy.stamp(event, clock);
    }

    fn wants_stamp(&self, event: EventId) -> bool {
        self.non_racy.wants_stamp(event)
    }

    fn memory_bytes(&self) -> usize {
        self.racy.memory_bytes()
    }

    fn kept_clocks(&mut self) -> Box<dyn Iterator<Item = &mut ClockRef> + '_> {
        self.non_racy.kept_clocks()
    }
}
