//! Services.

use super::InputEvent;
use anyorder_trace::{EventId, EventKind, Input, NameId};
use std::collections::{BTreeMap, HashMap};

/// The last callback of a started or a bound service.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Create,
    Args,
    Bind,
    Unbind,
}

/// What is known of a service that was requested.
#[derive(Default)]
struct Record {
    creator: Option<EventId>,
    started: Option<(Step, EventId)>,
    bound: Option<(Step, EventId)>,
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
    pub(super) fn take(&mut self, at: &mut InputEvent<'_, '_>) {
        let Input { component: service, instance: connection, argument: intent, .. } = *at.input;
        let event = at.event.id;
        match (at.event.kind(), at.state) {
            (EventKind::Enable, "REQUEST_START_SERVICE") => {
                self.requested(service, event);
                self.starts.insert((service, intent), event);
            }
            (EventKind::Enable, "REQUEST_BIND_SERVICE") => {
                self.requested(service, event).bind_request(event, connection);
            }
            (EventKind::Enable, "REQUEST_STOP_SERVICE") => {
                if let Some(record) = self.records.get_mut(&service) {
                    record.first_stop.get_or_insert(event);
                }
            }
            (EventKind::Disable, "REQUEST_UNBIND_SERVICE") => {
                for record in self.records.values_mut() {
                    if let Some((_, is_unbound @ false)) = record.requests.get_mut(&connection) {
                        *is_unbound = true;
                        record.unbinders.push(event);
                    }
                }
            }
            (EventKind::Trigger, state) => {
                let Some(record) = self.records.get_mut(&service) else { return };
                if state == "SERVICE-ARGS" {
                    at.causes(self.starts.remove(&(service, intent)));
                }
                record.callback(at);
                if state == "STOP-SERVICE" {
                    self.records.remove(&service);
                }
            }
            _ => {}
        }
    }

    fn requested(&mut self, service: NameId, request: EventId) -> &mut Record {
        let record = self.records.entry(service).or_default();
        record.creator.get_or_insert(request);
        record
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

    fn callback(&mut self, at: &mut InputEvent<'_, '_>) {
        let t = at.event.id;
        // A service that was created has a line of starts and a line of bindings.
        let is_created = self.bound.is_some();
        match at.state {
            "CREATE-SERVICE" if !is_created => {
                at.causes(self.creator);
                (self.started, self.bound) = (Some((Step::Create, t)), Some((Step::Create, t)));
            }
            "SERVICE-ARGS" => {
                if let Some((_, last)) = self.started.replace((Step::Args, t)) {
                    at.base(last);
                }
            }
            "BIND-SERVICE" if is_created && self.binding.is_none() => {
                at.causes(self.first_binder);
                if let Some((Step::Create | Step::Unbind, last)) = self.bound {
                    at.base(last);
                }
                (self.bound, self.binding) = (Some((Step::Bind, t)), Some(t));
            }
            "SERVICE_CONNECT" => {
                at.causes(self.binding);
                let request = self.requests.get(&at.input.instance).map(|(request, _)| *request);
                at.causes(request.filter(|request| at.post.is_some_and(|post| *request < post)));
            }
            "UNBIND-SERVICE" if self.binding.is_some() => {
                at.causes(self.unbinders.drain(..));
                if let Some((Step::Bind, last)) = self.bound {
                    at.base(last);
                }
                self.bound = Some((Step::Unbind, t));
                (self.binding, self.first_binder) = (None, None);
                self.requests.clear();
            }
            "STOP-SERVICE" if is_created => self.stop(at),
            _ => {}
        }
    }

    fn stop(&self, at: &mut InputEvent<'_, '_>) {
        let is_moved = |(step, _): &(Step, EventId)| *step != Step::Create;
        let lines = [self.bound, self.started];
        if lines.iter().flatten().any(is_moved) {
            lines.into_iter().flatten().for_each(|(_, last)| at.base(last));
        }
        if self.started.as_ref().is_some_and(is_moved) {
            at.causes(self.first_stop);
        }
    }
}
