//! Services: requests to start, bind, unbind and stop them, and the callbacks that answer.

use super::{Given, posted_task};
use crate::relation::rules::Rule;
use anyorder_trace::{EventId, EventKind, Input, InputId, NameId, Trace};
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
    created: bool,
    bound_by: Option<EventId>,
    started: Option<(Step, EventId)>,
    bound: Option<(Step, EventId)>,
    stop_request: Option<EventId>,
    unbinders: Vec<EventId>,
    /// Bind requests by connection, in the order in which they came.
    bindings: Vec<(u64, Binding)>,
}

/// A request to bind a service over a connection.
struct Binding {
    request: EventId,
    unbound: bool,
}

/// The state of services.
#[derive(Default)]
pub(super) struct Services {
    services: FxHashMap<NameId, Service>,
    /// Start requests that no callback has answered, by service and intent.
    starts: FxHashMap<(NameId, u64), EventId>,
}

impl Services {
    pub(super) fn event(
        &mut self,
        trace: &Trace,
        event: EventId,
        kind: EventKind,
        input: InputId,
        given: &mut Given,
    ) {
        let input = trace.tables().inputs[input.index()];
        let (service, connection, intent) = (input.component, input.instance, input.argument);
        match (kind, trace.tables().name(input.state)) {
            (EventKind::Enable, "REQUEST_START_SERVICE") => {
                self.starts.insert((service, intent), event);
                self.request(service, event);
            }
            (EventKind::Enable, "REQUEST_BIND_SERVICE") => {
                self.request(service, event).bind_request(connection, event);
            }
            (EventKind::Enable, "REQUEST_STOP_SERVICE") => {
                if let Some(record) = self.services.get_mut(&service) {
                    record.stop_request.get_or_insert(event);
                }
            }
            (EventKind::Disable, "REQUEST_UNBIND_SERVICE") => {
                self.unbind_request(connection, event)
            }
            (EventKind::Trigger, _) => {
                self.callback(trace, event, &input, given);
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
            for (_, binding) in record.bindings.iter_mut().filter(|(c, _)| *c == connection) {
                if !binding.unbound {
                    binding.unbound = true;
                    record.unbinders.push(event);
                }
            }
        }
    }

    fn callback(&mut self, trace: &Trace, event: EventId, input: &Input, given: &mut Given) {
        let Some(record) = self.services.get_mut(&input.component) else { return };
        match trace.tables().name(input.state) {
            "CREATE-SERVICE" => record.create(trace, event, given),
            "BIND-SERVICE" => record.bind(trace, event, given),
            "UNBIND-SERVICE" => record.unbind(trace, event, given),
            "SERVICE_CONNECT" => record.connect(trace, event, input.instance, given),
            "SERVICE-ARGS" => {
                let request = self.starts.remove(&(input.component, input.argument));
                record.args(trace, event, request, given);
            }
            "STOP-SERVICE" => {
                record.stop(trace, event, given);
                self.services.remove(&input.component);
            }
            _ => {}
        }
    }
}

impl Service {
    /// Handles a bind request. A request over a connection with a pending request changes nothing.
    fn bind_request(&mut self, connection: u64, event: EventId) {
        self.first_binder.get_or_insert(event);
        let binding = Binding { request: event, unbound: false };
        match self.bindings.iter_mut().find(|(c, _)| *c == connection) {
            Some((_, pending)) if pending.unbound => *pending = binding,
            Some(_) => {}
            None => self.bindings.push((connection, binding)),
        }
    }

    fn create(&mut self, trace: &Trace, event: EventId, given: &mut Given) {
        if self.created {
            return;
        }
        if let Some(creator) = self.creator {
            given.cause(trace, creator, event, REQUESTED);
        }
        self.created = true;
        self.started = Some((Step::Create, event));
        self.bound = Some((Step::Create, event));
    }

    fn args(&mut self, trace: &Trace, event: EventId, request: Option<EventId>, given: &mut Given) {
        if let Some(request) = request {
            given.cause(trace, request, event, REQUESTED);
        }
        if let Some((_, previous)) = self.started {
            given.base(trace, previous, event, STEP);
        }
        self.started = Some((Step::Args, event));
    }

    fn bind(&mut self, trace: &Trace, event: EventId, given: &mut Given) {
        if !self.created || self.bound_by.is_some() {
            return;
        }
        if let Some(binder) = self.first_binder {
            given.cause(trace, binder, event, REQUESTED);
        }
        if let Some((Step::Create | Step::Unbind, previous)) = self.bound {
            given.base(trace, previous, event, STEP);
        }
        self.bound = Some((Step::Bind, event));
        self.bound_by = Some(event);
    }

    fn connect(&mut self, trace: &Trace, event: EventId, connection: u64, given: &mut Given) {
        if let Some(bind) = self.bound_by {
            given.cause(trace, bind, event, STEP);
        }
        let post = posted_task(trace, event).and_then(|task| trace.span(task).post.some());
        let request = self.bindings.iter().find(|(c, _)| *c == connection).map(|(_, b)| b.request);
        if let (Some(post), Some(request)) = (post, request)
            && request < post
        {
            given.cause(trace, request, event, REQUESTED);
        }
    }

    fn unbind(&mut self, trace: &Trace, event: EventId, given: &mut Given) {
        if self.bound_by.is_none() {
            return;
        }
        for unbinder in std::mem::take(&mut self.unbinders) {
            given.cause(trace, unbinder, event, REQUESTED);
        }
        if let Some((Step::Bind, previous)) = self.bound {
            given.base(trace, previous, event, STEP);
        }
        self.bound = Some((Step::Unbind, event));
        self.bound_by = None;
        self.first_binder = None;
        self.bindings.clear();
    }

    fn stop(&mut self, trace: &Trace, event: EventId, given: &mut Given) {
        let moved = |line: Option<(Step, EventId)>| line.is_some_and(|(s, _)| s != Step::Create);
        if !self.created || !(moved(self.started) || moved(self.bound)) {
            return;
        }
        for (_, previous) in [self.bound, self.started].into_iter().flatten() {
            given.base(trace, previous, event, STEP);
        }
        if moved(self.started)
            && let Some(request) = self.stop_request
        {
            given.cause(trace, request, event, REQUESTED);
        }
    }
}
