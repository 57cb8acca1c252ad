//! The whole check of a trace: happens-before, races, coverage, groups.

use crate::races::category::{CapturedClocks, Origins, RaceCategory, categorise};
use crate::races::coverage::{CoverageLevel, Uncovered, coverage};
use crate::races::detector::{Detector, Races};
use crate::races::filters::Filters;
use crate::races::groups::{Group, GroupBy, Key, group};
use crate::races::lock_memory::{LockGroup, lock_memory};
use crate::races::race_groups::{Explain, Found, RaceGroup, race_groups};
use crate::races::racy::Racy;
use crate::relation::conflicts::Conflicts;
use crate::relation::engine::{Engine, Mode};
use crate::relation::happens_before::HappensBefore;
use crate::relation::pass::{Ends, View, Visitor};
use crate::relation::rules::RuleSet;
use crate::relation::strands::StrandId;
use anyorder_system::{Cancel, Control, StopReason, Stopped};
use anyorder_trace::{EventId, Location, LocationId, Mailbox, TaskId, Trace};
use std::collections::BTreeSet;

/// Options of a check and its report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RaceOptions {
    /// Which rules order events.
    pub rules: RuleSet,
    /// The definition of coverage to use.
    pub coverage: CoverageLevel,
    /// How races are grouped.
    pub group_by: GroupBy,
    /// The most pairs of events that a group lists.
    pub max_pairs: usize,
    /// Of pairs of runs of accesses that reports do not tell apart, how many are kept one by one;
    /// of the others, all that can be uncovered. All are counted.
    pub like_pairs_max: usize,
    /// Whether reports mark patterns that seldom do harm.
    pub filters: bool,
    /// Whether [`Checked::into_order`] gives the relation.
    pub keep_order: bool,
}

impl RaceOptions {
    /// Returns the options that fit a rule set: coverage between tasks where tasks can be
    /// reordered, between accesses otherwise.
    #[must_use]
    pub fn new(rules: RuleSet) -> RaceOptions {
        let coverage =
            if rules.reorders_tasks() { CoverageLevel::Task } else { CoverageLevel::Access };
        RaceOptions {
            rules,
            coverage,
            group_by: GroupBy::Field,
            max_pairs: 1000,
            like_pairs_max: 1024,
            filters: true,
            keep_order: false,
        }
    }
}

/// Counts of one check.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Events of the trace.
    pub events: u64,
    /// Tasks that ran from a mailbox.
    pub tasks: u64,
    /// Handlers with a mailbox.
    pub handlers: u64,
    /// All handlers: those without a mailbox are plain threads.
    pub threads: u64,
    /// Locks.
    pub locks: u64,
    /// Locations that the trace accesses.
    pub locations: u64,
    /// Edges of happens-before, without program order.
    pub hb_edges: u64,
    /// Passes that the fixpoint of the rules took.
    pub rounds: u64,
    /// The number of chains of the trace's strands: the width of the clocks.
    pub chains: u64,
    /// Steps of the work that can grow faster than the events: nodes of clocks joined, chains asked
    /// for a place, handlers compared at a location, races kept. Each event counts as a step. For
    /// tests of growth; no report has them.
    pub steps: u64,
    /// Racing pairs of accesses.
    pub race_pairs: u64,
    /// Pairs of runs of accesses, or more of one run, that were counted together. For tests; no
    /// report has them.
    pub counted: u64,
    /// Groups of races.
    pub races: u64,
    /// Groups with an uncovered race.
    pub races_uncovered: u64,
    /// Classes and fields with races, by category, counted as DroidRacer does. Co-enabled races
    /// count objects and fields. For locations that are not fields, it counts groups.
    pub races_by_category: RaceCounts,
}

/// The outcome of a check.
#[derive(Debug)]
pub struct Checked<'t> {
    /// The races, grouped by cause: groups with an uncovered race first.
    pub groups: Vec<RaceGroup>,
    /// Uses of locks that are unordered with the end of their memory or a write over it. Empty with
    /// [`RaceOptions::keep_order`]: a prediction finds these by itself, with a witness.
    pub locks: Vec<LockGroup>,
    /// The counts.
    pub statistics: Statistics,
    /// The reason why the check ended early. The results so far are correct but incomplete.
    pub stopped: Option<StopReason>,
    engine: Option<Engine<'t>>,
}

impl<'t> Checked<'t> {
    /// Returns the relation of the check, for queries about any two events. Takes one more pass
    /// over the trace.
    ///
    /// Returns `None` without [`RaceOptions::keep_order`], and when a stop or the memory for the
    /// clocks ends the check or this pass.
    #[must_use]
    pub fn into_order(self, cancel: &Cancel) -> Option<HappensBefore<'t>> {
        HappensBefore::recorded(self.engine?, cancel).ok()
    }
}

/// Finds all races of a trace.
///
/// Never fails: a stopped check reports that it was stopped, with the results so far, without
/// explanations. `docs/cost.md` has the time and memory.
#[must_use]
pub fn check<'t>(trace: &'t Trace, options: &RaceOptions, control: &Control<'_>) -> Checked<'t> {
    check_with_calls(trace, &[], options, control)
}

/// Works like [`check`], with the orders of some calls of objects: pairs of events, the first of
/// which happens before the second. Backward pairs are ignored.
#[must_use]
pub fn check_with_calls<'t>(
    trace: &'t Trace,
    calls: &[(EventId, EventId)],
    options: &RaceOptions,
    control: &Control<'_>,
) -> Checked<'t> {
    let mut check = Check {
        trace,
        calls,
        options,
        statistics: basic_statistics(trace),
        races: Races::default(),
        groups: Vec::new(),
        locks: Vec::new(),
    };
    let (engine, stopped) = match check.run(control) {
        Ok(engine) => (Some(engine).filter(|_| options.keep_order), None),
        Err(Stopped(reason)) => (None, Some(reason)),
    };
    let Check { groups, locks, statistics, .. } = check;
    Checked { groups, locks, statistics, stopped, engine }
}

struct Check<'t, 'o> {
    trace: &'t Trace,
    calls: &'o [(EventId, EventId)],
    options: &'o RaceOptions,
    statistics: Statistics,
    races: Races,
    groups: Vec<RaceGroup>,
    locks: Vec<LockGroup>,
}

impl<'t> Check<'t, '_> {
    fn run(&mut self, control: &Control<'_>) -> Result<Engine<'t>, Stopped> {
        let cancel = &control.cancel;
        let mode = Mode {
            exact: self.options.keep_order,
            memory_bytes_max: control.limits.memory_bytes,
            ..Mode::default()
        };
        let rules = self.options.rules;
        let mut engine = Engine::with_calls(self.trace, rules, mode, self.calls, cancel)?;
        self.statistics.hb_edges = engine.edges;
        self.statistics.rounds = u64::from(engine.rounds);
        self.statistics.chains = engine.chains.len() as u64;
        let origins = Origins::new(self.trace);
        let strand_of = |event| engine.strand_of(event);
        let memory = control.limits.memory_bytes;
        let conflicts = Conflicts::new(self.trace, strand_of, cancel, memory)?;
        let first = first_pass(&mut engine, &conflicts, cancel)?;
        let racy = first.as_ref().map(|(racy, _)| &racy[..]);
        let may_race = |location: LocationId| racy.is_none_or(|racy| racy[location.index()]);
        let mut pass = Detection {
            detector: Detector::of(self.trace, &conflicts, may_race)
                .keeping(self.options.like_pairs_max, self.options.group_by)
                .counting(&origins, self.options.coverage),
            triggers: CapturedClocks::new(origins.triggers()),
        };
        let total = self.trace.len() as u64;
        let mut report = |done: u64| control.progress.report(done, Some(total));
        let ends = match first {
            Some((racy, ends)) if !racy.contains(&true) => Ok(ends),
            _ => engine.visit(&mut pass, cancel, &mut report),
        };
        let Detection { detector, triggers } = pass;
        self.statistics.steps = total + engine.steps() + detector.work.visited;
        self.races = detector.races;
        self.statistics.steps += (self.races.pairs.len() + self.races.counted.len()) as u64;
        self.statistics.race_pairs = self.races.total();
        self.statistics.counted = self.races.counted.len() as u64;
        let mut judged = Judged { origins: &origins, triggers: &triggers, covered: None };
        let outcome = ends.and_then(|ends| {
            let level = self.options.coverage;
            judged.covered = Some(coverage(level, &mut engine, &self.races, &ends, cancel)?);
            self.report(&mut engine, &judged, Explain::With(cancel))
        });
        if outcome.is_err() {
            // What was found is reported, in bounded time. Coverage may be unknown; such races are
            // listed with the uncovered ones.
            self.races.pairs.truncate(PAIRS_AFTER_STOP_MAX);
            self.report(&mut engine, &judged, Explain::Nothing)?;
        }
        outcome?;
        // A prediction finds these by itself, with a witness.
        if !self.options.keep_order {
            self.locks = lock_memory(&mut engine, cancel)?;
        }
        Ok(engine)
    }

    /// Groups and describes the races.
    fn report(
        &mut self,
        engine: &mut Engine<'_>,
        judged: &Judged<'_>,
        explain: Explain<'_>,
    ) -> Result<(), Stopped> {
        let Judged { origins, triggers, covered } = judged;
        let never = Cancel::new();
        let cancel = match explain {
            Explain::With(cancel) => cancel,
            Explain::Nothing => &never,
        };
        let categories = categorise(engine, &self.races, origins, triggers, cancel)?;
        let unknown;
        let uncovered = match covered {
            Some(uncovered) => uncovered,
            None => {
                unknown = self.all_uncovered();
                &unknown
            }
        };
        let filters = self.options.filters.then(|| Filters::new(self.trace, origins));
        let (by, trace, races) = (self.options.group_by, self.trace, &self.races);
        let groups = group(trace, races, &categories, uncovered, filters.as_ref(), by, cancel)?;
        self.count(&groups);
        let (races, groups, max_pairs) = (&self.races, &groups[..], self.options.max_pairs);
        let found = Found { races, groups, uncovered, max_pairs };
        self.groups = race_groups(engine, &found, explain)?;
        Ok(())
    }

    fn all_uncovered(&self) -> Uncovered {
        let in_pair = (0..self.races.pairs.len()).map(|at| self.races.pairs_in(at)).collect();
        Uncovered { in_pair, edge_only: false }
    }

    fn count(&mut self, groups: &[Group]) {
        self.statistics.races = groups.len() as u64;
        self.statistics.races_uncovered =
            groups.iter().filter(|group| group.uncovered > 0).count() as u64;
        let fields =
            self.trace.tables().locations.iter().any(|location| {
                matches!(location, Location::Field { .. } | Location::Static { .. })
            });
        let counted = |category: RaceCategory| {
            let groups = groups.iter().filter(|group| group.category == category);
            if fields && self.options.group_by == GroupBy::Field {
                // Races on files and databases are reported, but DroidRacer counts none.
                distinct(groups.filter(|group| matches!(group.key, Key::Field { .. })))
            } else if fields {
                self.count_fields(groups)
            } else {
                distinct(groups)
            }
        };
        self.statistics.races_by_category = RaceCounts::of(|category| counted(category) as u64);
    }

    /// Counts classes and fields (co-enabled: objects and fields) in groups that have another key.
    fn count_fields<'g>(&self, groups: impl Iterator<Item = &'g Group>) -> usize {
        let mut seen = BTreeSet::new();
        for group in groups {
            for i in &group.members {
                let run = self.races.run(self.races.pairs[*i as usize].0);
                let co_enabled = group.category == RaceCategory::CoEnabled;
                match self.trace.tables().locations[run.location.index()] {
                    Location::Field { object, class, field } => {
                        seen.insert((class, field, co_enabled.then_some(object)));
                    }
                    Location::Static { class, field } => {
                        seen.insert((class, field, None));
                    }
                    _ => {}
                }
            }
        }
        seen.len()
    }
}

/// Counts groups, those of one key once: what only guards is a group of its own.
fn distinct<'g>(groups: impl Iterator<Item = &'g Group>) -> usize {
    groups.map(|group| group.key).collect::<BTreeSet<Key>>().len()
}

/// Races by category, in the order of reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RaceCounts(pub [(RaceCategory, u64); 5]);

impl RaceCounts {
    fn of(count: impl Fn(RaceCategory) -> u64) -> RaceCounts {
        RaceCounts(std::array::from_fn(|at| (RaceCategory::ALL[at], count(RaceCategory::ALL[at]))))
    }
}

impl Default for RaceCounts {
    fn default() -> RaceCounts {
        RaceCounts::of(|_| 0)
    }
}

/// The most racing pairs of runs that a stopped check reports.
const PAIRS_AFTER_STOP_MAX: usize = 1 << 16;

/// What is known about the races before they are reported.
struct Judged<'a> {
    origins: &'a Origins,
    triggers: &'a CapturedClocks,
    /// `None` if the check was stopped before.
    covered: Option<Uncovered>,
}

/// Finds the locations that may race. Of tasks, nearly all would, so there is no such pass.
fn first_pass(
    engine: &mut Engine<'_>,
    conflicts: &Conflicts,
    cancel: &Cancel,
) -> Result<Option<(Vec<bool>, Ends)>, Stopped> {
    let has_tasks = engine.strands.iter().any(|(_, strand)| strand.posted);
    if has_tasks {
        return Ok(None);
    }
    let mut racy = Racy::new(engine.trace, conflicts);
    let ends = engine.visit(&mut racy, cancel, &mut |_| {})?;
    Ok(Some((racy.locations(), ends)))
}

/// Detects races and takes the clocks at triggers in one pass.
struct Detection<'t> {
    detector: Detector<'t>,
    triggers: CapturedClocks,
}

impl Visitor for Detection<'_> {
    #[inline]
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        self.detector.event(view, event, strand);
        self.triggers.event(view, event, strand);
    }

    fn memory_bytes(&self) -> usize {
        self.detector.memory_bytes()
    }
}

fn basic_statistics(trace: &Trace) -> Statistics {
    let tables = trace.tables();
    let mut serves: Vec<bool> =
        tables.handlers.iter().map(|handler| handler.mailbox != Mailbox::None).collect();
    let ran: Vec<TaskId> = trace.task_ids().filter(|task| trace.ran_from_mailbox(*task)).collect();
    for task in &ran {
        if let Some(serves) = serves.get_mut(trace.span(*task).handler.index()) {
            *serves = true;
        }
    }
    Statistics {
        events: trace.len() as u64,
        tasks: ran.len() as u64,
        handlers: serves.iter().filter(|serves| **serves).count() as u64,
        threads: tables.handlers.len() as u64,
        locks: tables.locks.len() as u64,
        locations: tables.locations.len() as u64,
        ..Statistics::default()
    }
}
