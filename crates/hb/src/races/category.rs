//! The Android categories: the reasons why the two sides of a race can come in either order.
//!
//! **Source.** Maiya, Kanade, Majumdar, PLDI 2014, section 4.3, and how their tool counts.

use crate::races::detector::{Counted, Races, RunId};
use crate::relation::engine::Engine;
use crate::relation::pass::{View, Visitor};
use crate::relation::strands::StrandId;
use anyorder_order::Clock;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{EventId, EventKind, InputId, TaskId, TaskKind, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// The reason why the order of a race's two accesses is open. If several apply: `multi_threaded`
/// before `co_enabled` before `delayed` before `cross_posted`. Exception: a race that is both
/// `delayed` and `cross_posted` counts as `cross_posted` if another race of its location is already
/// `delayed`, as in DroidRacer's tool. The list has the order of reports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RaceCategory {
    /// The accesses are on two threads.
    MultiThreaded,
    /// Where the two chains of posts diverge, one of the posts comes from another thread.
    CrossPosted,
    /// The two chains of posts start at two input events that can come in either order.
    CoEnabled,
    /// Where the two chains of posts diverge, one of the posts has a delay.
    Delayed,
    /// None of the others.
    Uncategorised,
}

impl RaceCategory {
    /// All categories.
    pub const ALL: [RaceCategory; 5] = [
        RaceCategory::MultiThreaded,
        RaceCategory::CrossPosted,
        RaceCategory::CoEnabled,
        RaceCategory::Delayed,
        RaceCategory::Uncategorised,
    ];

    /// Returns its name in results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            RaceCategory::MultiThreaded => "multi_threaded",
            RaceCategory::CrossPosted => "cross_posted",
            RaceCategory::CoEnabled => "co_enabled",
            RaceCategory::Delayed => "delayed",
            RaceCategory::Uncategorised => "uncategorised",
        }
    }
}

/// The origin of a task: the nearest trigger, cross-handler post and delayed post on its chain of
/// posts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub(crate) trigger: EventId,
    cross_post: TaskId,
    delayed_post: TaskId,
}

impl Origin {
    /// Returns the tasks of the nearest cross-handler post and of the nearest delayed one.
    pub(crate) fn posts(&self) -> [TaskId; 2] {
        [self.cross_post, self.delayed_post]
    }
}

const NOWHERE: Origin =
    Origin { trigger: EventId::NONE, cross_post: TaskId::NONE, delayed_post: TaskId::NONE };

/// The origins of all tasks.
pub(crate) struct Origins {
    of_task: Vec<Origin>,
}

impl Origins {
    /// Follows posts and triggers through the trace once.
    pub(crate) fn new(trace: &Trace) -> Origins {
        let mut of_task = vec![NOWHERE; trace.tasks_count()];
        let kind_of = |task: TaskId| trace.tables().tasks[task.index()].kind;
        for event in trace.events() {
            let posted = kind_of(event.task) == TaskKind::Posted;
            match event.kind() {
                EventKind::Post => {
                    let task = TaskId(event.operand);
                    let mut origin = if posted { of_task[event.task.index()] } else { NOWHERE };
                    if trace.span(task).handler != trace.handler_of(event.id) {
                        origin.cross_post = task;
                    }
                    if trace.tables().tasks[task.index()].delay > 0 {
                        origin.delayed_post = task;
                    }
                    of_task[task.index()] = origin;
                }
                EventKind::Trigger if posted => {
                    let origin = &mut of_task[event.task.index()];
                    origin.trigger = event.id;
                    if keeps_no_cross_post(trace, InputId(event.operand)) {
                        origin.cross_post = TaskId::NONE;
                    }
                }
                _ => {}
            }
        }
        Origins { of_task }
    }

    pub(crate) fn of(&self, task: TaskId) -> Origin {
        self.of_task[task.index()]
    }

    /// Returns the triggers that some task comes from.
    pub(crate) fn triggers(&self) -> impl Iterator<Item = EventId> + '_ {
        self.of_task.iter().filter_map(|origin| origin.trigger.some())
    }
}

/// Returns whether a cross-handler post of such an input is no evidence. The environment posts the
/// tasks of input events, so these posts always cross handlers. Idle handlers belong to the
/// program.
fn keeps_no_cross_post(trace: &Trace, input: InputId) -> bool {
    trace.tables().inputs[input.index()].family != anyorder_trace::InputFamily::Idle
}

/// Clocks at chosen events, captured during a pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct CapturedClocks {
    wanted: FxHashSet<EventId>,
    clocks: FxHashMap<EventId, Clock>,
}

impl CapturedClocks {
    pub(crate) fn new(wanted: impl Iterator<Item = EventId>) -> CapturedClocks {
        CapturedClocks { wanted: wanted.collect(), clocks: FxHashMap::default() }
    }

    /// Adds the clocks of another capture.
    pub(crate) fn merge(&mut self, other: CapturedClocks) {
        self.wanted.extend(other.wanted);
        self.clocks.extend(other.clocks);
    }

    /// Returns the clock at a chosen event.
    pub(crate) fn clock(&self, event: EventId) -> Option<&Clock> {
        self.clocks.get(&event)
    }

    /// Returns whether `x` happens before `y`, where `y` is a chosen event.
    pub(crate) fn happens_before(&self, engine: &Engine<'_>, x: EventId, y: EventId) -> bool {
        if x >= y {
            return false;
        }
        let (a, b) = (engine.strand_of(x), engine.strand_of(y));
        if a == b {
            return true;
        }
        let Some(clock) = self.clocks.get(&y) else { return false };
        if engine.is_bare(a) {
            // Only the posted task comes after such a strand.
            return engine.posted_by_bare(a).is_some_and(|task| {
                let first = engine.strands.get(task).first;
                task == b && first <= y || clock.get(engine.chains.of(task)) > first.0
            });
        }
        engine.bound(b, y.0, engine.chains.of(a), |chain| clock.get(chain)) > x.0
    }

    /// Returns whether edges lead from `x` to a chosen event `y`. The strand of `x` has a chain.
    pub(crate) fn reaches(&self, engine: &Engine<'_>, x: EventId, y: EventId) -> bool {
        let [a, b] = [x, y].map(|event| engine.chains.of(engine.strand_of(event)));
        let knows = |clock: &Clock| clock.get(a) > x.0;
        x < y && (a == b || self.clocks.get(&y).is_some_and(knows))
    }
}

impl Visitor for CapturedClocks {
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        if self.wanted.contains(&event) {
            self.clocks.insert(event, view.clocks.flat(view.at[strand.index()]));
        }
    }
}

/// The differences between the origins of two tasks of one handler.
#[derive(Clone, Copy)]
struct Differences {
    co_enabled: bool,
    delayed: bool,
    cross_posted: bool,
}

impl Differences {
    fn of(x: Origin, y: Origin, ordered: impl Fn(EventId, EventId) -> bool) -> Differences {
        let co_enabled = !x.trigger.is_none()
            && !y.trigger.is_none()
            && x.trigger != y.trigger
            && !ordered(x.trigger, y.trigger)
            && !ordered(y.trigger, x.trigger);
        Differences {
            co_enabled,
            delayed: x.delayed_post != y.delayed_post,
            cross_posted: x.cross_post != y.cross_post,
        }
    }
}

/// The categories of all races.
pub(crate) struct Categories {
    /// Those of the pairs of runs.
    pub(crate) pairs: Vec<RaceCategory>,
    /// Those of the races that were only counted.
    pub(crate) counted: Vec<RaceCategory>,
}

/// Returns the category of races that were only counted: their tasks differ in no delayed post and
/// come from no trigger, if they are of one handler.
fn category_of_counted(
    engine: &Engine<'_>,
    races: &Races,
    origins: &Origins,
    counted: &Counted,
) -> RaceCategory {
    let [x, y] = [counted.earlier, counted.later].map(|run| races.run(run).task);
    let handler = |task: TaskId| engine.trace.span(task).handler;
    if handler(x) != handler(y) {
        RaceCategory::MultiThreaded
    } else if origins.of(x).cross_post != origins.of(y).cross_post {
        RaceCategory::CrossPosted
    } else {
        RaceCategory::Uncategorised
    }
}

/// How many pairs are handled between two polls.
const POLL_PAIRS: usize = 4096;

/// Gives each racing pair of runs its category. If the tasks of a race differ both in a delayed and
/// in a cross-handler post, the first such race at a location counts as delayed and later ones as
/// cross-posted. DroidRacer does the same; it processes reads before writes.
pub(crate) fn categorise(
    engine: &Engine<'_>,
    races: &Races,
    origins: &Origins,
    captured: &CapturedClocks,
    cancel: &Cancel,
) -> Result<Categories, Stopped> {
    let ordered = |x, y| captured.happens_before(engine, x, y);
    let handler = |task: TaskId| engine.trace.span(task).handler;
    let mut known: FxHashMap<(TaskId, TaskId), Differences> = FxHashMap::default();
    let key = |pair: (RunId, RunId)| {
        let (a, b) = (races.run(pair.0), races.run(pair.1));
        let (read, write) = match (a.class.writes, b.class.writes) {
            (true, false) => (b.first, a.first),
            _ => (a.first, b.first),
        };
        (a.location, a.class.writes && b.class.writes, read, write)
    };
    let mut result = vec![RaceCategory::MultiThreaded; races.pairs.len()];
    let mut delayed_at = None;
    let tasks_of = |(a, b): (RunId, RunId)| (races.run(a).task, races.run(b).task);
    // The order matters only to races on one handler, of which there are usually few.
    let mut order = Vec::new();
    for (i, pair) in races.pairs.iter().enumerate() {
        if i % POLL_PAIRS == 0 {
            cancel.check()?;
        }
        let (x, y) = tasks_of(*pair);
        if handler(x) == handler(y) {
            order.push(i as u32);
        }
    }
    order.sort_by_cached_key(|i| key(races.pairs[*i as usize]));
    for (done, i) in order.into_iter().enumerate() {
        if done % POLL_PAIRS == 0 {
            cancel.check()?;
        }
        let location = races.run(races.pairs[i as usize].0).location;
        let tasks = tasks_of(races.pairs[i as usize]);
        let Differences { co_enabled, delayed, cross_posted } = *known
            .entry(tasks)
            .or_insert_with(|| Differences::of(origins.of(tasks.0), origins.of(tasks.1), ordered));
        result[i as usize] = if co_enabled {
            RaceCategory::CoEnabled
        } else if delayed && (delayed_at != Some(location) || !cross_posted) {
            delayed_at = Some(location);
            RaceCategory::Delayed
        } else if cross_posted {
            RaceCategory::CrossPosted
        } else {
            RaceCategory::Uncategorised
        };
    }
    let counted = races.counted.iter();
    let counted = counted.map(|counted| category_of_counted(engine, races, origins, counted));
    Ok(Categories { pairs: result, counted: counted.collect() })
}
