//! Services.

use super::OrderBuilder;
use anyorder_trace::{Event, EventId, EventKind, Input, NameId};
use std::collections::{BTreeMap, HashMap};

/// A step of a started or bound service.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Create(EventId),
    Args(EventId),
    Bind(EventId),
    Unbind(EventId),
}

impl Step {
    fn event(self) -> EventId {
        match self {
            Step::Create(t) | Step::Args(t) | Step::Bind(t) | Step::Unbind(t) => t,
        }
    }

    fn is_create(self) -> bool {
        matches!(self, Step::Create(_))
    }
}

struct Record {
    creator: EventId,
    is_created: bool,
    started: Option<Step>,
    bound: Option<Step>,
    /// The callback that bound it, until it is unbound.
    binding: Option<EventId>,
    first_binder: Option<EventId>,
    /// By connection, the bind request, and whether it is unbound.
    requests: HashMap<u64, (EventId, bool)>,
    unbinders: Vec<EventId>,
    first_stop: Option<EventId>,
}

/// The state of the family `service`.
#[derive(Default)]
pub(super) struct Services {
    records: BTreeMap<NameId, Record>,
    /// By service and intent.
    starts: HashMap<(NameId, u64), EventId>,
}

impl Services {
    pub(super) fn take(
        &mut self,
        add: &mut OrderBuilder<'_, '_>,
        event: Event,
        input: &Input,
        state: &str,
    ) {
        let Input { component: service, instance: connection, argument: intent, .. } = *input;
        match (event.kind(), state) {
            (EventKind::Enable, "REQUEST_START_SERVICE") => {
                self.record(service, event.id);
                self.starts.insert((service, intent), event.id);
            }
            (EventKind::Enable, "REQUEST_BIND_SERVICE") => {
                self.record(service, event.id).bind_request(event.id, connection);
            }
            (EventKind::Enable, "REQUEST_STOP_SERVICE") => {
                if let Some(record) = self.records.get_mut(&service) {
                    record.first_stop.get_or_insert(event.id);
                }
            }
            (EventKind::Disable, "REQUEST_UNBIND_SERVICE") => {
                for record in self.records.values_mut() {
                    if let Some((_, is_unbound @ false)) = record.requests.get_mut(&connection) {
                        *is_unbound = true;
                        record.unbinders.push(event.id);
                    }
                }
            }
            (EventKind::Trigger, _) => {
                let Some(record) = self.records.get_mut(&service) else { return };
                match state {
                    "SERVICE-ARGS" => {
                        let start = self.starts.remove(&(service, intent));
                        record.arguments(add, event.id, start);
                    }
                    "STOP-SERVICE" => {
                        record.stop(add, event.id);
                        self.records.remove(&service);
                    }
                    _ => record.callback(add, event.id, connection, state),
                }
            }
            _ => {}
        }
    }

    fn record(&mut self, service: NameId, request: EventId) -> &mut Record {
        self.records.entry(service).or_insert_with(|| Record {
            creator: request,
            is_created: false,
            started: None,
            bound: None,
            binding: None,
            first_binder: None,
            requests: HashMap::new(),
            unbinders: Vec::new(),
            first_stop: None,
        })
    }
}

impl Record {
    fn bind_request(&mut self, request: EventId, connection: u64) {
        self.first_binder.get_or_insert(request);
        let of_connection = self.requests.entry(connection).or_insert((request, false));
        if of_connection.1 {
            *of_connection = (request, false);
        }
    }

    fn callback(
        &mut self,
        add: &mut OrderBuilder<'_, '_>,
        t: EventId,
        connection: u64,
        state: &str,
    ) {
        match state {
            "CREATE-SERVICE" if !self.is_created => {
                add.add_cause(self.creator, t);
                self.is_created = true;
                (self.started, self.bound) = (Some(Step::Create(t)), Some(Step::Create(t)));
            }
            "BIND-SERVICE" if self.is_created && self.binding.is_none() => {
                self.first_binder.into_iter().for_each(|e| add.add_cause(e, t));
                if let Some(Step::Create(p) | Step::Unbind(p)) = self.bound {
                    add.base(p, t);
                }
                (self.bound, self.binding) = (Some(Step::Bind(t)), Some(t));
            }
            "SERVICE_CONNECT" => {
                self.binding.into_iter().for_each(|bind| add.add_cause(bind, t));
                let post = add.view.posted_task_of(t).and_then(|m| add.view.post(m));
                if let (Some((request, _)), Some(post)) = (self.requests.get(&connection), post)
                    && *request < post
                {
                    add.add_cause(*request, t);
                }
            }
            "UNBIND-SERVICE" if self.binding.is_some() => {
                self.unbinders.drain(..).for_each(|e| add.add_cause(e, t));
                if let Some(Step::Bind(p)) = self.bound {
                    add.base(p, t);
                }
                self.bound = Some(Step::Unbind(t));
                (self.binding, self.first_binder) = (None, None);
                self.requests.clear();
            }
            _ => {}
        }
    }

    fn arguments(&mut self, add: &mut OrderBuilder<'_, '_>, t: EventId, start: Option<EventId>) {
        start.into_iter().for_each(|e| add.add_cause(e, t));
        if let Some(last) = self.started.replace(Step::Args(t)) {
            add.base(last.event(), t);
        }
    }

    fn stop(&self, add: &mut OrderBuilder<'_, '_>, t: EventId) {
        let lines = [self.bound, self.started].into_iter().flatten();
        if !self.is_created || lines.clone().all(Step::is_create) {
            return;
        }
        lines.for_each(|last| add.base(last.event(), t));
        if self.started.is_some_and(|last| !last.is_create()) {
            self.first_stop.into_iter().for_each(|e| add.add_cause(e, t));
        }
    }
}
