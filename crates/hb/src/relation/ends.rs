//! Events that end what others have made possible: a `cancel`, a `disable`, an `exit`
//! (`docs/witnesses.md`, rule 6).

use crate::relation::given::{Given, Removable};
use crate::relation::rules::{Rule, RuleSet};
use crate::relation::strands::Strands;
use anyorder_system::Cancel;
use anyorder_trace::{Action, EventId, HandlerId, InputFamily, TaskId, TaskKind, Trace};
use rustc_hash::FxHashMap;

/// Which events can come in another order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndScope {
    /// Those of different handlers.
    Handlers,
    /// Tasks and pieces of thread code as well.
    Tasks,
    /// The same; the rules of Android's components say what enables their inputs.
    Components,
}

/// An event that can come only as long as nothing has ended what it needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Beginning {
    /// The event.
    pub event: EventId,
    /// The event that made it possible, earlier in the trace, if one is known.
    pub opened: Option<EventId>,
    /// The list of its ends.
    pub list: u32,
}

impl Beginning {
    /// Returns whether an end of its list binds it. An end that stands in the trace itself between
    /// the opening and the beginning does not.
    #[must_use]
    pub fn is_bound_by(&self, end: EventId) -> bool {
        let is_behind = self.opened.is_none_or(|opened| opened < end);
        !(is_behind && end < self.event)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Ended {
    Task(TaskId),
    Input(u32),
    Handler(HandlerId),
    Component(Removable),
}

/// The ends of a trace.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// By event.
    beginnings: Vec<Beginning>,
    numbers: FxHashMap<Ended, u32>,
    lists: Vec<(Rule, Vec<EventId>)>,
    list_of: FxHashMap<EventId, u32>,
}

impl Ends {
    /// Finds the ends of a trace. Near linear.
    #[must_use]
    pub fn new(trace: &Trace, scope: EndScope) -> Ends {
        Ends::new_until(trace, scope, &Cancel::new())
    }

    /// Works like [`new`](Self::new). Once the job is stopped, ends are missing.
    #[must_use]
    pub fn new_until(trace: &Trace, scope: EndScope, cancel: &Cancel) -> Ends {
        let mut ends = Ends::default();
        ends.find_ends(trace, scope, cancel);
        if scope == EndScope::Components {
            ends.find_removals(trace);
        }
        if !ends.lists.is_empty() {
            ends.find_beginnings(trace, scope);
            ends.beginnings.sort_unstable();
        }
        ends
    }

    fn find_ends(&mut self, trace: &Trace, scope: EndScope, cancel: &Cancel) {
        for event in trace.events() {
            if event.id.0.is_multiple_of(1 << 12) && cancel.reason().is_some() {
                return;
            }
            match event.action() {
                Action::Cancel(task) => self.end(event.id, Ended::Task(task), Rule::Cancelled),
                Action::Disable(input) if !of_component(trace, scope, input.0) => {
                    self.end(event.id, Ended::Input(input.0), Rule::Disabled);
                }
                Action::Exit if scope != EndScope::Handlers => {
                    let handler = trace.span(event.task).handler;
                    let kind = trace.tables().tasks[event.task.index()].kind;
                    if kind == TaskKind::Initial && !handler.is_none() {
                        self.end(event.id, Ended::Handler(handler), Rule::Exited);
                    }
                }
                _ => {}
            }
        }
    }

    fn find_removals(&mut self, trace: &Trace) {
        let given = Given::new(trace, RuleSet::Android);
        for &(event, what) in &given.removed {
            self.end(event, Ended::Component(what), Rule::Disabled);
        }
        for &(trigger, opened, what) in &given.added {
            self.triggered(trace, trigger, opened, Ended::Component(what));
        }
    }

    fn end(&mut self, event: EventId, of: Ended, rule: Rule) {
        let next = self.lists.len() as u32;
        let number = *self.numbers.entry(of).or_insert(next);
        if number == next {
            self.lists.push((rule, Vec::new()));
        }
        self.lists[number as usize].1.push(event);
        self.list_of.insert(event, number);
    }

    fn begins(&mut self, event: EventId, opened: Option<EventId>, of: Ended) {
        let opened = opened.filter(|opened| *opened < event);
        let list = self.numbers.get(&of).copied();
        self.beginnings.extend(list.map(|list| Beginning { event, opened, list }));
    }

    fn find_beginnings(&mut self, trace: &Trace, scope: EndScope) {
        for task in trace.task_ids() {
            let span = trace.span(task);
            if let Some(first) = span.first.some() {
                self.begins(first, span.post.some(), Ended::Task(task));
            }
        }
        let mut enabled: FxHashMap<u32, EventId> = FxHashMap::default();
        for event in trace.events() {
            match event.action() {
                Action::Enable(input) => drop(enabled.insert(input.0, event.id)),
                Action::Disable(input) => drop(enabled.remove(&input.0)),
                Action::Trigger(input) if !of_component(trace, scope, input.0) => {
                    let Some(enable) = enabled.get(&input.0).copied() else { continue };
                    let of = Ended::Input(input.0);
                    match scope {
                        EndScope::Handlers => self.begins(event.id, Some(enable), of),
                        _ => self.triggered(trace, event.id, enable, of),
                    }
                }
                _ => {}
            }
        }
        if scope != EndScope::Handlers {
            let strands = Strands::new(trace, RuleSet::Mailbox);
            for (_, strand) in strands.iter() {
                if trace.tables().tasks[strand.task.index()].kind != TaskKind::Burst {
                    self.begins(strand.first, None, Ended::Handler(strand.handler));
                }
            }
        }
    }

    /// A trigger, and the begin of its task, unless that task enables the input itself.
    fn triggered(&mut self, trace: &Trace, trigger: EventId, opened: EventId, of: Ended) {
        self.begins(trigger, Some(opened), of);
        let task = trace.event(trigger).task;
        let get = trace.span(task).get;
        let is_later = trace.ran_from_mailbox(task) && opened < get && get < trigger;
        if is_later && trace.event(opened).task != task {
            self.begins(get, Some(opened), of);
        }
    }

    /// Returns whether nothing ends anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.beginnings.is_empty()
    }

    /// Returns all beginnings, by their events.
    #[must_use]
    pub fn beginnings(&self) -> &[Beginning] {
        &self.beginnings
    }

    /// Returns what an event begins.
    #[must_use]
    pub fn beginnings_at(&self, event: EventId) -> &[Beginning] {
        let from = self.beginnings.partition_point(|beginning| beginning.event < event);
        let rest = &self.beginnings[from..];
        &rest[..rest.partition_point(|beginning| beginning.event == event)]
    }

    /// Returns the ends of a list, in trace order.
    #[must_use]
    pub fn list(&self, list: u32) -> &[EventId] {
        &self.lists[list as usize].1
    }

    /// Returns the rule by which a list orders events.
    pub(crate) fn rule(&self, list: u32) -> Rule {
        self.lists[list as usize].0
    }

    /// Returns the list of an event that ends something.
    #[must_use]
    pub fn list_of(&self, event: EventId) -> Option<u32> {
        self.list_of.get(&event).copied()
    }
}

fn of_component(trace: &Trace, scope: EndScope, input: u32) -> bool {
    let input = trace.tables().inputs.get(input as usize);
    let plain =
        |family| matches!(family, InputFamily::Plain | InputFamily::Ui | InputFamily::Focus);
    scope == EndScope::Components && input.is_some_and(|input| !plain(input.family))
}
