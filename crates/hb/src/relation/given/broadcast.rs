//! Broadcasts: senders, registrations and receivers.

use super::{Conditional, Edge, Given, posted_task};
use crate::relation::rules::Rule;
use anyorder_trace::{EventId, EventKind, InputId, NameId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

const RULE: Rule = Rule::Component("broadcast");
const TICK: Rule = Rule::Component("broadcast: time tick");
const BOUND: Rule = Rule::Component("broadcast: application bound");

/// The origin of a received broadcast.
#[derive(Clone, Copy, Default)]
struct Origin {
    sender: Option<EventId>,
    registration: Option<EventId>,
    /// Whether the registration found a sticky broadcast waiting.
    sticky: bool,
}

/// The state of broadcasts.
#[derive(Default)]
pub(super) struct Broadcasts {
    /// The send of each intent, and whether it is sticky.
    sends: FxHashMap<u64, (EventId, bool)>,
    sticky_actions: FxHashSet<NameId>,
    registrations: FxHashMap<(u64, NameId), EventId>,
    sticky_registrations: FxHashMap<(u64, NameId), VecDeque<EventId>>,
    /// Origins settled when a receipt was announced, by the announcing event.
    announced: FxHashMap<u64, Origin>,
    last_tick: Option<EventId>,
    /// Receipts with their senders, and receipts with their sticky registrations.
    by_sender: Vec<(EventId, EventId)>,
    by_sticky: Vec<(EventId, EventId)>,
}

impl Broadcasts {
    pub(super) fn event(
        &mut self,
        trace: &Trace,
        event: EventId,
        kind: EventKind,
        input: InputId,
        binding_post: Option<EventId>,
        given: &mut Given,
    ) {
        let input = trace.tables().inputs[input.index()];
        let (action, key) = (input.name, (input.instance, input.name));
        match (kind, trace.tables().name(input.state)) {
            (EventKind::Enable, "SEND_BROADCAST") => {
                self.sends.insert(input.argument, (event, false));
            }
            (EventKind::Enable, "SEND_STICKY_BROADCAST") => {
                self.sends.insert(input.argument, (event, true));
                self.sticky_actions.insert(action);
            }
            (EventKind::Enable, "REGISTER_RECEIVER") => {
                self.registrations.entry(key).or_insert(event);
                if self.sticky_actions.contains(&action) {
                    self.sticky_registrations.entry(key).or_default().push_back(event);
                }
            }
            (EventKind::Enable, "ONRECEIVE_LATER") => {
                let origin = self.origin(input.argument, key);
                self.announced.insert(u64::from(event.0), origin);
            }
            (EventKind::Disable, "UNREGISTER_RECEIVER") => {
                self.registrations.retain(|(receiver, _), _| *receiver != input.instance);
                self.sticky_registrations.retain(|(receiver, _), _| *receiver != input.instance);
            }
            (EventKind::Disable, "REMOVE_STICKY_BROADCAST") => {
                self.sticky_actions.remove(&action);
            }
            (EventKind::Trigger, "ONRECEIVE") => {
                let announced = trace.columns().refers.get(event.0);
                let origin = announced
                    .and_then(|announced| self.announced.get(&announced).copied())
                    .unwrap_or_else(|| self.origin(input.argument, key));
                self.order_post(trace, (event, action), binding_post, given);
                self.receive(trace, event, origin, given);
            }
            _ => {}
        }
    }

    fn origin(&mut self, intent: u64, key: (u64, NameId)) -> Origin {
        let send = self.sends.get(&intent).copied();
        let sender = send.map(|(event, _)| event);
        if send.is_some_and(|(_, sticky)| sticky) {
            let queued = self.sticky_registrations.get_mut(&key).and_then(VecDeque::pop_front);
            if queued.is_some() {
                return Origin { sender, registration: queued, sticky: true };
            }
        }
        Origin { sender, registration: self.registrations.get(&key).copied(), sticky: false }
    }

    /// Orders the post of the receiving task.
    fn order_post(
        &mut self,
        trace: &Trace,
        (event, action): (EventId, NameId),
        binding_post: Option<EventId>,
        given: &mut Given,
    ) {
        let post = posted_task(trace, event).and_then(|task| trace.span(task).post.some());
        if let Some(post) = post {
            if let Some(binding_post) = binding_post {
                given.edge(binding_post, post, BOUND);
            }
            if trace.tables().name(action) == "android.intent.action.TIME_TICK"
                && let Some(last) = self.last_tick.replace(post)
            {
                given.edge(last, post, TICK);
            }
        }
    }

    fn receive(&mut self, trace: &Trace, event: EventId, origin: Origin, given: &mut Given) {
        if let Some(sender) = origin.sender {
            given.cause(trace, sender, event, RULE);
            if !origin.sticky {
                self.by_sender.push((event, sender));
            }
        }
        if let Some(registration) = origin.registration {
            given.cause(trace, registration, event, RULE);
            if origin.sticky {
                self.by_sticky.push((event, registration));
            }
        }
    }

    /// Adds the orders that depend on the orders of senders, or of sticky registrations.
    pub(super) fn finish(self, trace: &Trace, given: &mut Given) {
        for receipts in [&self.by_sender, &self.by_sticky] {
            for (first, first_cause) in receipts {
                for (second, second_cause) in receipts {
                    if first_cause < second_cause {
                        let when = (*first_cause, *second_cause);
                        let edges = received_in_order(trace, *first, *second);
                        if !edges.is_empty() {
                            given.conditionals.push(Conditional { when, edges });
                        }
                    }
                }
            }
        }
        given.receipts = [self.by_sender, self.by_sticky];
    }
}

/// Returns the edges that order one receipt before another: between the events, and between the
/// posts of their tasks.
fn received_in_order(trace: &Trace, first: EventId, second: EventId) -> Vec<Edge> {
    let posts = [first, second]
        .map(|event| posted_task(trace, event).map_or(EventId::NONE, |task| trace.span(task).post));
    let mut given = Given::default();
    given.edge(first, second, RULE);
    if !posts[0].is_none() {
        given.edge(posts[0], posts[1], RULE);
    }
    given.edges
}
