//! Requests to services, and their callbacks.

use super::ComponentEdges;
use crate::naive::rules::RuleName;
use anyorder_trace::{Event, EventId, Input, InputFamily, NameId};
use std::collections::BTreeMap;

/// The last step of the started or bound sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Create,
    Args,
    Bind,
    Unbind,
}

type Line = Option<(Step, EventId)>;

/// A bind request over one connection.
struct BindRequest {
    event: EventId,
    unbound: bool,
}

struct Record {
    creator: EventId,
    first_binder: Option<EventId>,
    created: bool,
    started: Line,
    bound: Line,
    is_bound: bool,
    requests: BTreeMap<u64, BindRequest>,
    unbinders: Vec<EventId>,
    first_stop: Option<EventId>,
}

impl Record {
    fn new(creator: EventId) -> Record {
        Record {
            creator,
            first_binder: None,
            created: false,
            started: None,
            bound: None,
            is_bound: false,
            requests: BTreeMap::new(),
            unbinders: Vec::new(),
            first_stop: None,
        }
    }
}

#[derive(Default)]
struct State {
    records: BTreeMap<NameId, Record>,
    /// Unused start requests, by service and intent.
    starts: BTreeMap<(NameId, u64), EventId>,
}

pub(super) fn find(found: &mut ComponentEdges<'_, '_>) {
    let mut state = State::default();
    for (event, name) in found.family(InputFamily::Service) {
        let input = found.view.input(event);
        match name {
            "REQUEST_START_SERVICE" => {
                state.record(input.component, event.id);
                state.starts.insert((input.component, input.argument), event.id);
            }
            "REQUEST_BIND_SERVICE" => {
                let record = state.record(input.component, event.id);
                record.first_binder.get_or_insert(event.id);
                let request = BindRequest { event: event.id, unbound: false };
                let pending = record.requests.get(&input.instance);
                if pending.is_none_or(|pending| pending.unbound) {
                    record.requests.insert(input.instance, request);
                }
            }
            "REQUEST_STOP_SERVICE" => {
                if let Some(record) = state.records.get_mut(&input.component) {
                    record.first_stop.get_or_insert(event.id);
                }
            }
            "REQUEST_UNBIND_SERVICE" => state.unbind_request(event.id, input.instance),
            _ => state.callback(found, event, input, name),
        }
    }
}

impl State {
    /// The record of a service; `creator` creates it if it does not exist.
    fn record(&mut self, service: NameId, creator: EventId) -> &mut Record {
        self.records.entry(service).or_insert_with(|| Record::new(creator))
    }

    fn unbind_request(&mut self, event: EventId, connection: u64) {
        for record in self.records.values_mut() {
            if let Some(request) = record.requests.get_mut(&connection)
                && !request.unbound
            {
                request.unbound = true;
                record.unbinders.push(event);
            }
        }
    }

    fn callback(&mut self, found: &mut ComponentEdges<'_, '_>, t: Event, input: Input, name: &str) {
        let start = match name {
            "SERVICE-ARGS" if self.records.contains_key(&input.component) => {
                self.starts.remove(&(input.component, input.argument))
            }
            _ => None,
        };
        let Some(record) = self.records.get_mut(&input.component) else { return };
        match name {
            "CREATE-SERVICE" => create(found, record, t.id),
            "SERVICE-ARGS" => arguments(found, record, start, t.id),
            "BIND-SERVICE" => bind(found, record, t.id),
            "SERVICE_CONNECT" => connect(found, record, input.instance, t.id),
            "UNBIND-SERVICE" => unbind(found, record, t.id),
            "STOP-SERVICE" => {
                stop(found, record, t.id);
                self.records.remove(&input.component);
            }
            _ => {}
        }
    }
}

fn create(found: &mut ComponentEdges<'_, '_>, record: &mut Record, t: EventId) {
    if record.created {
        return;
    }
    found.arrow(RuleName::ServiceCreate, record.creator, t);
    record.created = true;
    record.started = Some((Step::Create, t));
    record.bound = Some((Step::Create, t));
}

fn arguments(
    found: &mut ComponentEdges<'_, '_>,
    record: &mut Record,
    start: Option<EventId>,
    t: EventId,
) {
    if let Some(start) = start {
        found.arrow(RuleName::ServiceArgs, start, t);
    }
    if let Some((_, p)) = record.started.replace((Step::Args, t)) {
        found.base(RuleName::ServiceStep, p, t);
    }
}

fn bind(found: &mut ComponentEdges<'_, '_>, record: &mut Record, t: EventId) {
    if !record.created || record.is_bound {
        return;
    }
    if let Some(binder) = record.first_binder {
        found.arrow(RuleName::ServiceBind, binder, t);
    }
    if let Some((Step::Create | Step::Unbind, p)) = record.bound {
        found.base(RuleName::ServiceStep, p, t);
    }
    record.bound = Some((Step::Bind, t));
    record.is_bound = true;
}

fn connect(found: &mut ComponentEdges<'_, '_>, record: &Record, connection: u64, t: EventId) {
    if record.is_bound
        && let Some((Step::Bind, bind)) = record.bound
    {
        found.arrow(RuleName::ServiceConnectBind, bind, t);
    }
    let pending = record.requests.get(&connection);
    let post = found.view.posted_task_of(t).and_then(|m| found.view.post(m));
    if let (Some(request), Some(post)) = (pending, post)
        && request.event < post
    {
        found.arrow(RuleName::ServiceConnectRequest, request.event, t);
    }
}

fn unbind(found: &mut ComponentEdges<'_, '_>, record: &mut Record, t: EventId) {
    if !record.is_bound {
        return;
    }
    for unbinder in std::mem::take(&mut record.unbinders) {
        found.arrow(RuleName::ServiceUnbind, unbinder, t);
    }
    if let Some((Step::Bind, p)) = record.bound {
        found.base(RuleName::ServiceStep, p, t);
    }
    record.bound = Some((Step::Unbind, t));
    record.is_bound = false;
    record.first_binder = None;
    record.requests.clear();
}

fn stop(found: &mut ComponentEdges<'_, '_>, record: &Record, t: EventId) {
    let moved = |line: Line| line.filter(|(step, _)| *step != Step::Create).is_some();
    if !record.created || !(moved(record.started) || moved(record.bound)) {
        return;
    }
    for (_, p) in [record.bound, record.started].into_iter().flatten() {
        found.base(RuleName::ServiceStep, p, t);
    }
    if moved(record.started)
        && let Some(request) = record.first_stop
    {
        found.arrow(RuleName::ServiceStop, request, t);
    }
}
