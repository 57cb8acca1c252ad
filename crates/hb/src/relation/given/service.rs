//! Services: requests to start, bind, unbind and stop them, and the callbacks that answer.

use super::InputEvent;
use crate::relation::rules::Rule;
use anyorder_trace::{EventId, EventKind, Input, NameId};
use rustc_hash::FxHashMap;

const REQUESTED: Rule = Rule::Component("service: requested");
const STEP: Rule = Rule::Component("service: step");

/// The last callback reached in the life of a service.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Create,
    Args,
    Bind,
    Unbind,
}

/// The state of one service.
#[derive(Default)]
struct Service {
    creator: Option<EventId>,
    first_binder: Option<EventId>,
    bound_by: Option<EventId>,
    started: Option<(Step, EventId)>,
    /// Set as soon as the service is created.
    bound: Option<(Step, EventId)>,
    stop_request: Option<EventId>,
    unbinders: Vec<EventId>,
    /// By connection, the request to bind the service, and whether it was taken back.
    bindings: FxHashMap<u64, (EventId, bool)>,
}

/// The state of services.
#[derive(Default)]
pub(super) struct Services {
    services: FxHashMap<NameId, Service>,
    /// Start requests that no callback has answered, by service and intent.
    starts: FxHashMap<(NameId, u64), EventId>,
}

impl Services {
    pub(super) fn take(&mut self, at: &mut InputEvent<'_, '_>) {
        let Input { component: service, instance: connection, argument: intent, .. } = at.input;
        match (at.kind, at.state) {
            (EventKind::Enable, "REQUEST_START_SERVICE") => {
                self.starts.insert((service, intent), at.event);
                self.request(service, at.event);
            }
            (EventKind::Enable, "REQUEST_BIND_SERVICE") => {
                self.request(service, at.event).bind_request(connection, at.event);
            }
            (EventKind::Enable, "REQUEST_STOP_SERVICE") => {
                if let Some(record) = self.services.get_mut(&service) {
                    record.stop_request.get_or_insert(at.event);
                }
            }
            (EventKind::Disable, "REQUEST_UNBIND_SERVICE") => {
                self.unbind_request(connection, at.event);
            }
            (EventKind::Trigger, state) => {
                let Some(record) = self.services.get_mut(&service) else { return };
                if state == "SERVICE-ARGS" {
                    at.causes(self.starts.remove(&(service, intent)), REQUESTED);
                }
                record.callback(at);
                if state == "STOP-SERVICE" {
                    self.services.remove(&service);
                }
            }
            _ => {}
        }
    }

    fn request(&mut self, service: NameId, event: EventId) -> &mut Service {
        let record = self.services.entry(service).or_default();
        record.creator.get_or_insert(event);
        record
    }

    #[expect(clippy::iter_over_hash_type, reason = "each record is changed by itself")]
    fn unbind_request(&mut self, connection: u64, event: EventId) {
        for record in self.services.values_mut() {
            if let Some((_, unbound @ false)) = record.bindings.get_mut(&connection) {
                *unbound = true;
                record.unbinders.push(event);
            }
        }
    }
}

impl Service {
    /// Handles a bind request. A request over a connection with a pending request changes nothing.
    fn bind_request(&mut self, connection: u64, event: EventId) {
        self.first_binder.get_or_insert(event);
        let binding = self.bindings.entry(connection).or_insert((event, false));
        if binding.1 {
            *binding = (event, false);
        }
    }

    fn callback(&mut self, at: &mut InputEvent<'_, '_>) {
        let created = self.bound.is_some();
        match at.state {
            "CREATE-SERVICE" if !created => {
                at.causes(self.creator, REQUESTED);
                self.started = Some((Step::Create, at.event));
                self.bound = self.started;
            }
            "SERVICE-ARGS" => {
                if let Some((_, previous)) = self.started.replace((Step::Args, at.event)) {
                    at.base(previous, STEP);
                }
            }
            "BIND-SERVICE" if created && self.bound_by.is_none() => {
                at.causes(self.first_binder, REQUESTED);
                if let Some((Step::Create | Step::Unbind, previous)) = self.bound {
                    at.base(previous, STEP);
                }
                self.bound = Some((Step::Bind, at.event));
                self.bound_by = Some(at.event);
            }
            "SERVICE_CONNECT" => {
                at.causes(self.bound_by, STEP);
                let request = self.bindings.get(&at.input.instance).map(|(request, _)| *request);
                let request = request.filter(|request| at.post.is_some_and(|p| *request < p));
                at.causes(request, REQUESTED);
            }
            "UNBIND-SERVICE" if self.bound_by.is_some() => {
                at.causes(self.unbinders.drain(..), REQUESTED);
                if let Some((Step::Bind, previous)) = self.bound {
                    at.base(previous, STEP);
                }
                self.bound = Some((Step::Unbind, at.event));
                self.bound_by = None;
                self.first_binder = None;
                self.bindings.clear();
            }
            "STOP-SERVICE" if created => self.stop(at),
            _ => {}
        }
    }

    fn stop(&self, at: &mut InputEvent<'_, '_>) {
        let moved = |(step, _): &(Step, EventId)| *step != Step::Create;
        let lines = [self.bound, self.started];
        if lines.iter().flatten().any(moved) {
            lines.into_iter().flatten().for_each(|(_, previous)| at.base(previous, STEP));
        }
        if self.started.as_ref().is_some_and(moved) {
            at.causes(self.stop_request, REQUESTED);
        }
    }
}
