//! Patterns of races that seldom do harm.
//!
//! **Source.** EventRacer (Raychev et al., OOPSLA 2013) and R4's section 2.4 filter, on web pages,
//! the late registration of event handlers, and races with unload handlers. Our traces record
//! registrations (`enable`) and triggers, so inputs show both patterns.

use crate::races::category::Origins;
use crate::races::detector::Run;
use crate::races::guards::Guards;
use anyorder_trace::{EventKind, InputId, TaskId, Trace};
use rustc_hash::FxHashSet;

/// A pattern.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Filter {
    /// One task registers (enables) the input event that the other task comes from. In the other
    /// order the input would not have been handled.
    LateRegistration,
    /// One task comes from a teardown. Nothing should be used after it.
    Unload,
    /// The read only decides whether its task does anything ([`Guards`]).
    OnlyGuards,
}

impl Filter {
    /// Returns the name of the pattern in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Filter::LateRegistration => "late_registration",
            Filter::Unload => "unload",
            Filter::OnlyGuards => "only_guards",
        }
    }
}

/// States and names of inputs that tear something down.
const TEARDOWN: [&str; 9] = [
    "DESTROY-ACT",
    "STOP-SERVICE",
    "UNBIND-SERVICE",
    "unload",
    "beforeunload",
    "pagehide",
    "destroy",
    "shutdown",
    "teardown",
];

/// The data of a trace that the filters use.
pub(crate) struct Filters<'t> {
    guards: Guards<'t>,
    /// The inputs that each task enables.
    enables: FxHashSet<(TaskId, InputId)>,
    /// For each task, the input that it comes from.
    input: Vec<Option<InputId>>,
    teardown: Vec<bool>,
}

impl<'t> Filters<'t> {
    /// Collects the data in two passes.
    pub(crate) fn new(trace: &'t Trace, origins: &Origins) -> Filters<'t> {
        let tables = trace.tables();
        let enables = trace
            .events()
            .filter(|event| event.kind() == EventKind::Enable)
            .map(|event| (event.task, InputId(event.operand)))
            .collect();
        let input = trace
            .task_ids()
            .map(|task| {
                let trigger = origins.of(task).trigger.some()?;
                Some(InputId(trace.event(trigger).operand))
            })
            .collect();
        let teardown = tables
            .inputs
            .iter()
            .map(|input| {
                [input.state, input.name].iter().any(|name| TEARDOWN.contains(&tables.name(*name)))
            })
            .collect();
        Filters { guards: Guards::new(trace), enables, input, teardown }
    }

    /// Returns the patterns that a race between two runs of accesses fits.
    pub(crate) fn of(&self, one: &Run, other: &Run) -> Vec<Filter> {
        let mut filters = Vec::new();
        let (a, b) = (one.task, other.task);
        let registers = |x: TaskId, y: TaskId| {
            self.input[y.index()].is_some_and(|input| {
                self.input[x.index()] != Some(input) && self.enables.contains(&(x, input))
            })
        };
        if registers(a, b) || registers(b, a) {
            filters.push(Filter::LateRegistration);
        }
        let tears_down =
            |x: TaskId| self.input[x.index()].is_some_and(|input| self.teardown[input.index()]);
        if tears_down(a) != tears_down(b) {
            filters.push(Filter::Unload);
        }
        if self.guards.guards(one.last, other.first) {
            filters.push(Filter::OnlyGuards);
        }
        filters
    }
}
