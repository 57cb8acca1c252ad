//! Event-driven EDC: candidates in traces whose tasks come from mailboxes.
//!
//! **Problem.** Find the pairs of actions that do not commute and that the order of
//! `docs/prediction.md`, *Event-driven EDC*, leaves unordered. That order is happens-before over
//! tasks, mailboxes and threads, in which critical sections are ordered only if they do not
//! commute.
//!
//! **Idea.** `anyorder-hb` computes the order and both kinds of pairs from a trace in memory. This
//! module turns actions into its points, and its pairs into a [`Report`].

use anyorder_hb::{
    CandidateLimits, CandidatePair, HappensBefore, Locks, OrderCandidates, Points, RuleSet,
};
use anyorder_stream::{
    CandidateOptions, Candidates, ClassTable, Counts, Object, Point, Report, Side, Specification,
    StreamEvent, Violation, ViolationKind,
};
use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::BTreeMap;

/// The result of event-driven EDC on a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventDriven {
    /// The candidates, racy ones first, and counts. For accesses that have the same races, the
    /// report lists the first ones. `racy` counts pairs of such runs. For actions of the
    /// specification it counts, for each second action, one first action of each chain of tasks and
    /// class.
    pub report: Report,
    /// The number of racing pairs of memory accesses (not of runs).
    pub race_pairs: u64,
    /// The number of passes over the trace that the fixpoint of the rules took.
    pub rounds: u32,
}

/// Finds the candidates of a trace by event-driven EDC under a rule set.
///
/// Events that `specification` hides are still included. Pass a trace [without
/// internals](anyorder_stream::without_internals) to exclude them.
///
/// Time and memory: those of happens-before over the trace, plus linear in the actions inside
/// critical sections.
///
/// # Errors
///
/// Fails when it was cancelled, or when the clocks need more memory than allowed.
///
/// ```
/// use anyorder_hb::RuleSet;
/// use anyorder_predict::{MemoryOnly, CandidateOptions, event_driven};
/// use anyorder_system::Control;
/// use anyorder_trace::{Mailbox, TraceBuilder};
///
/// // Two threads post to one mailbox; that they do so one after another is due to a lock alone.
/// let mut b = TraceBuilder::new();
/// let ui = b.handler("ui", Mailbox::Fifo)?;
/// let threads = [b.handler("net", Mailbox::None)?, b.handler("disk", Mailbox::None)?];
/// let tasks = [b.task("reply", ui)?, b.task("saved", ui)?];
/// for (thread, task) in threads.into_iter().zip(tasks) {
///     let thread = b.initial(thread);
///     b.acquire(thread, "log", anyorder_trace::Mode::EXCLUSIVE)?;
///     b.post(thread, task)?;
///     b.release(thread, "log", anyorder_trace::Mode::EXCLUSIVE)?;
/// }
/// for task in tasks {
///     b.get(task)?;
///     b.write(task, "document")?;
///     b.end(task)?;
/// }
/// let (options, control) = (CandidateOptions::default(), Control::default());
/// let found = event_driven(&b.finish(), RuleSet::Mailbox, &mut MemoryOnly, &options, &control)?;
/// assert_eq!(found.report.counts.racy, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn event_driven<S: Specification>(
    trace: &Trace,
    rules: RuleSet,
    specification: &mut S,
    options: &CandidateOptions,
    control: &Control,
) -> Result<EventDriven, Stopped> {
    let found_points = FoundPoints::new(trace, specification, control)?;
    let open_max = if options.candidates == Candidates::Off { 0 } else { options.open_max };
    let limits = CandidateLimits { pairs_max: options.violations_max, open_max };
    let found = anyorder_hb::order_candidates(trace, rules, &found_points.points, limits, control)?;
    let mut report =
        Report { violations: Vec::new(), counts: counts(trace, &found, &found_points) };
    if options.candidates == Candidates::Off {
        (report.counts.candidates_lost, report.counts.ordered) = (0, 0);
    }
    let racy = found.racy.iter().map(|pair| (ViolationKind::Racy, *pair));
    let non_racy = found.non_racy.iter().map(|pair| (ViolationKind::NonRacy, *pair));
    let max = options.violations_max;
    let room = max - found.non_racy.len().min(max / 2);
    for (kind, pair) in racy.take(room).chain(non_racy).take(max) {
        report.violations.push(found_points.violation(trace, kind, pair));
    }
    Ok(EventDriven { report, race_pairs: found.race_pairs, rounds: found.rounds })
}

/// Returns event-driven EDC as a relation that can be queried, for the actions of a specification.
///
/// # Errors
///
/// As [`event_driven`].
pub fn event_driven_order<'t, S: Specification>(
    trace: &'t Trace,
    rules: RuleSet,
    specification: &mut S,
    control: &Control,
) -> Result<HappensBefore<'t>, Stopped> {
    let points = FoundPoints::new(trace, specification, control)?.points;
    HappensBefore::with_locks(trace, rules, Locks::Sections, &points, &control.cancel)
}

fn counts(trace: &Trace, found: &OrderCandidates, points: &FoundPoints) -> Counts {
    let kinds = || trace.columns().ops.iter().map(|op| op.kind());
    Counts {
        events: trace.len() as u64,
        accesses: kinds().filter(|kind| kind.is_access()).count() as u64,
        actions: points.actions,
        acquires: kinds().filter(|kind| *kind == EventKind::Acquire).count() as u64,
        racy: found.racy_total,
        racy_seconds: found.racy_seconds,
        non_racy: found.non_racy_total,
        ordered: found.ordered,
        candidates_lost: found.lost,
        undecided: found.undecided,
        stray_releases: found.stray_releases,
        ..Counts::default()
    }
}

/// The actions of a specification in one trace.
struct FoundPoints {
    points: Points,
    /// The object of each cell.
    objects: BTreeMap<u32, u32>,
    /// Events with points.
    actions: u64,
}

impl FoundPoints {
    fn new<S: Specification>(
        trace: &Trace,
        specification: &mut S,
        control: &Control<'_>,
    ) -> Result<FoundPoints, Stopped> {
        let tables = specification.classes();
        let mut points = Points {
            list: Vec::new(),
            tables: tables.iter().map(ClassTable::conflict_rows).collect(),
            reported: tables.iter().map(ClassTable::reported_rows).collect(),
        };
        let (mut objects, mut actions) = (BTreeMap::new(), 0);
        let mut of_event: Vec<Point> = Vec::new();
        for event in trace.events().filter(|event| S::ACCESSES || !event.kind().is_access()) {
            control.check()?;
            of_event.clear();
            let step = StreamEvent::of_event(trace, event.id);
            match event.kind().is_access() {
                true => specification.access_points(trace.tables(), step, &mut of_event),
                false => specification.points(trace.tables(), step, &mut of_event),
            }
            actions += u64::from(!of_event.is_empty());
            for point in &of_event {
                objects.insert(point.cell, point.object);
                points.list.push(anyorder_hb::Point {
                    event: event.id,
                    object: point.cell,
                    table: point.table,
                    class: point.class.0,
                });
            }
        }
        Ok(FoundPoints { points, objects, actions })
    }

    fn violation(&self, trace: &Trace, kind: ViolationKind, pair: CandidatePair) -> Violation {
        let side = |event: EventId| Side {
            event: u64::from(event.0),
            site: trace.columns().sites[event.index()],
        };
        let own = pair.object.and_then(|cell| self.objects.get(&cell)).copied().map(Object::Own);
        let location = trace.event(pair.second).location().map(Object::Location);
        let object = own.or(location).unwrap_or(Object::Own(0));
        Violation { kind, object, first: side(pair.first), second: side(pair.second) }
    }
}
