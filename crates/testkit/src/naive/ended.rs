//! Section 3: what has been ended does not begin, and so what began came before.

use super::components::find as find_components;
use super::fixpoint::Fixpoint;
use super::program_order::pieces;
use super::rules::{RuleName, RuleSet, Rules};
use super::view::View;
use anyorder_trace::{Action, EventId, EventKind, HandlerId, InputFamily, TaskId, TaskKind, Trace};

/// A beginning with what opened it and the events that end it (`docs/witnesses.md`, rule 6).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ended {
    pub(crate) rule: RuleName,
    pub(crate) begins: EventId,
    pub(crate) opened: Option<EventId>,
    pub(crate) ends: Vec<EventId>,
}

/// Lists all beginnings of a trace that something can end.
pub(crate) fn list(trace: &Trace, rules: Rules<'_>) -> Vec<Ended> {
    let view = View { trace };
    let mut all = Vec::new();
    cancelled(view, &mut all);
    disabled(view, rules.set, &mut all);
    if rules.set != RuleSet::Threads {
        exited(view, &mut all);
    }
    if rules.set == RuleSet::Android {
        let found = find_components(view, rules);
        for (trigger, opened, key) in found.called {
            let removed = found.removed.iter().filter(|(_, of)| *of == key);
            let ends: Vec<EventId> = removed.map(|(event, _)| *event).collect();
            triggered(view, rules.set, (trigger, opened), &ends, &mut all);
        }
    }
    all.iter_mut().for_each(|one| {
        one.opened = one.opened.filter(|opened| *opened < one.begins);
        let (begins, opened) = (one.begins, one.opened);
        // What the trace itself breaks binds nothing.
        one.ends.retain(|end| *end > begins || opened.is_some_and(|opened| *end < opened));
    });
    all.retain(|one| !one.ends.is_empty());
    all
}

fn cancelled(view: View<'_>, all: &mut Vec<Ended>) {
    for task in view.trace.task_ids() {
        let cancels = view.events().filter(|e| e.action() == Action::Cancel(task));
        let Some(begins) = view.events().find(|e| e.task == task).map(|e| e.id) else { continue };
        all.push(Ended {
            rule: RuleName::Cancelled,
            begins,
            opened: view.post(task),
            ends: cancels.map(|e| e.id).collect(),
        });
    }
}

fn disabled(view: View<'_>, set: RuleSet, all: &mut Vec<Ended>) {
    for trigger in view.events().filter(|e| e.kind() == EventKind::Trigger) {
        let family = view.input(trigger).family;
        let plain = matches!(family, InputFamily::Plain | InputFamily::Ui | InputFamily::Focus);
        if set == RuleSet::Android && !plain {
            continue;
        }
        let of_input = || view.events().filter(|e| e.operand == trigger.operand);
        let switches = of_input().filter(|e| {
            e.id < trigger.id && matches!(e.kind(), EventKind::Enable | EventKind::Disable)
        });
        let Some(enable) = switches.last().filter(|e| e.kind() == EventKind::Enable) else {
            continue;
        };
        let ends: Vec<EventId> =
            of_input().filter(|e| e.kind() == EventKind::Disable).map(|e| e.id).collect();
        triggered(view, set, (trigger.id, enable.id), &ends, all);
    }
}

fn triggered(
    view: View<'_>,
    set: RuleSet,
    (trigger, opened): (EventId, EventId),
    ends: &[EventId],
    all: &mut Vec<Ended>,
) {
    let one = |begins| Ended {
        rule: RuleName::Disabled,
        begins,
        opened: Some(opened),
        ends: ends.to_vec(),
    };
    all.push(one(trigger));
    if let Some(task) = view.posted_task_of(trigger)
        && set != RuleSet::Threads
        && task != view.task_of(opened)
        && let Some(get) = view.get(task)
        && opened < get
        && get < trigger
    {
        all.push(one(get));
    }
}

fn exited(view: View<'_>, all: &mut Vec<Ended>) {
    for handler in view.handlers() {
        let code = view.events_of(handler, &[TaskKind::Initial]);
        let is_exit = |e: &EventId| view.trace.event(*e).kind() == EventKind::Exit;
        let ends: Vec<EventId> = code.into_iter().filter(is_exit).collect();
        for begins in view.events_of(handler, &[TaskKind::Initial, TaskKind::Posted]) {
            let ends = ends.clone();
            all.push(Ended { rule: RuleName::Exited, begins, opened: None, ends });
        }
    }
}

/// What a handler runs without interruption.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    Task(TaskId),
    Burst(TaskId),
    /// A piece of thread code after the loop point, by its first event.
    Piece(HandlerId, EventId),
    /// Thread code up to the loop point.
    Start(HandlerId),
}

/// What can be ended in a trace, and the unit of each event.
#[derive(Debug, Default)]
pub(super) struct AllEnded {
    list: Vec<Ended>,
    units: Vec<Unit>,
    firsts: Vec<EventId>,
}

impl AllEnded {
    pub(super) fn new(view: View<'_>, rules: Rules<'_>) -> AllEnded {
        let mut all = AllEnded { list: list(view.trace, rules), ..AllEnded::default() };
        all.list.retain(|of| rules.has(of.rule));
        if !all.list.is_empty() {
            all.units = view.events().map(|e| unit(view, e.id)).collect();
            all.firsts = view.events().map(|e| first(view, all.units[e.id.index()])).collect();
        }
        all
    }
}

impl Fixpoint<'_, '_> {
    /// Whether `x` cannot come after `y`, because what began with or before `x` would be over.
    pub(super) fn ended(&self, x: EventId, y: EventId) -> bool {
        self.ended_rule(x, y).is_some()
    }

    /// The rule by which it is so.
    pub(super) fn ended_rule(&self, x: EventId, y: EventId) -> Option<RuleName> {
        if self.ended.list.is_empty() {
            return None;
        }
        let (one, two) = (self.unit(x), self.unit(y));
        let handler = self.view.handler(self.view.task_of(x));
        if x >= y || one == two || matches!(one, Unit::Burst(_)) {
            return None;
        }
        let is_begun = |of: &&Ended| of.begins <= x && self.unit(of.begins) == one;
        let mut begun = self.ended.list.iter().filter(is_begun);
        let found = begun.find(|of| {
            let later = of.ends.iter().filter(|end| **end > of.begins);
            let mut later = later.filter(|end| self.unit(**end) != one);
            later.any(|end| self.opened_before(of, *end) && self.over(handler, *end, (two, y)))
        });
        found.map(|of| of.rule)
    }

    /// A `disable` could otherwise come before the `enable`.
    fn opened_before(&self, of: &Ended, end: EventId) -> bool {
        let Some(opened) = of.opened.filter(|_| of.rule == RuleName::Disabled) else { return true };
        let input = self.view.trace.event(opened).operand;
        let mut between = self.view.events().filter(|e| e.id > opened && e.id < end);
        let is_again = between.any(|e| e.kind() == EventKind::Enable && e.operand == input);
        let same = self.unit(opened) == self.unit(end);
        !is_again && (same || self.ordered_by_edges(opened, end))
    }

    fn over(&self, handler: HandlerId, end: EventId, (two, y): (Unit, EventId)) -> bool {
        let of_handler = |unit| match unit {
            Unit::Task(task) => self.view.handler(task) == handler,
            Unit::Piece(of, _) => of == handler,
            _ => false,
        };
        let unit = self.unit(end);
        // `y` is in a late unit, or behind its first event.
        let is_behind = |unit: Unit, first: EventId| match (unit, two) {
            _ if unit == two => true,
            (Unit::Task(m1), Unit::Task(m2)) if of_handler(two) => {
                self.before.has(m1.index(), m2.index())
            }
            _ => first < y && self.r.has(first.index(), y.index()),
        };
        if of_handler(unit) {
            return is_behind(unit, self.ended.firsts[end.index()]);
        }
        if of_handler(two) && end < y && self.r.has(end.index(), y.index()) {
            return true;
        }
        self.ended.firsts.iter().any(|first| {
            let late = end < *first && self.r.has(end.index(), first.index());
            of_handler(self.unit(*first)) && late && is_behind(self.unit(*first), *first)
        })
    }

    fn unit(&self, event: EventId) -> Unit {
        self.ended.units[event.index()]
    }
}

fn unit(view: View<'_>, event: EventId) -> Unit {
    let task = view.task_of(event);
    let handler = view.handler(task);
    match view.kind(task) {
        TaskKind::Posted => Unit::Task(task),
        TaskKind::Burst => Unit::Burst(task),
        TaskKind::Initial => {
            let pieces = pieces(view, handler);
            let at = pieces.iter().position(|piece| piece.contains(&event));
            match at {
                Some(at) if at > 0 => Unit::Piece(handler, pieces[at][0]),
                _ => Unit::Start(handler),
            }
        }
    }
}

fn first(view: View<'_>, unit: Unit) -> EventId {
    let of = |task: TaskId| view.events().find(|e| e.task == task).map(|e| e.id);
    match unit {
        Unit::Task(task) | Unit::Burst(task) => of(task).expect("the unit has an event"),
        Unit::Piece(_, first) => first,
        Unit::Start(handler) => pieces(view, handler)[0][0],
    }
}
