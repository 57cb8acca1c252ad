//! Broadcasts: senders, registrations and receivers.

use super::{Conditional, Edge, Given, InputEvent, Removable, posted_task};
use crate::relation::rules::Rule;
use anyorder_trace::{EventId, EventKind, Input, NameId, Trace};
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
    pub(super) fn take(&mut self, at: &mut InputEvent<'_, '_>, binding_post: Option<EventId>) {
        let Input { instance, argument: intent, name: action, .. } = at.input;
        let (key, event) = ((instance, action), at.event);
        match (at.kind, at.state) {
            (EventKind::Enable, "SEND_BROADCAST") => {
                self.sends.insert(intent, (event, false));
            }
            (EventKind::Enable, "SEND_STICKY_BROADCAST") => {
                self.sends.insert(intent, (event, true));
                self.sticky_actions.insert(action);
            }
            (EventKind::Enable, "REGISTER_RECEIVER") => {
                self.registrations.entry(key).or_insert(event);
                if self.sticky_actions.contains(&action) {
                    self.sticky_registrations.entry(key).or_default().push_back(event);
                }
            }
            (EventKind::Enable, "ONRECEIVE_LATER") => {
                let origin = self.origin(intent, key);
                self.announced.insert(u64::from(event.0), origin);
            }
            (EventKind::Disable, "UNREGISTER_RECEIVER") => {
                at.given.removed.push((event, Removable::Receiver(instance)));
                self.registrations.retain(|(receiver, _), _| *receiver != instance);
                self.sticky_registrations.retain(|(receiver, _), _| *receiver != instance);
            }
            (EventKind::Disable, "REMOVE_STICKY_BROADCAST") => {
                self.sticky_actions.remove(&action);
            }
            (EventKind::Trigger, "ONRECEIVE") => {
                let announced = at.trace.columns().refers.get(event.0);
                let origin = announced
                    .and_then(|announced| self.announced.get(&announced).copied())
                    .unwrap_or_else(|| self.origin(intent, key));
                if let Some(binding_post) = binding_post {
                    at.before_post(binding_post, BOUND);
                }
                self.receive(at, origin);
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

    fn receive(&mut self, at: &mut InputEvent<'_, '_>, origin: Origin) {
        if at.trace.tables().name(at.input.name) == "android.intent.action.TIME_TICK"
            && let Some(post) = at.post
            && let Some(last) = self.last_tick.replace(post)
        {
            at.before_post(last, TICK);
        }
        let Origin { sender, registration, sticky } = origin;
        at.causes(sender.into_iter().chain(registration), RULE);
        let receiver = Removable::Receiver(at.input.instance);
        let added = registration.map(|registration| (at.event, registration, receiver));
        at.given.added.extend(added);
        let (receipts, cause) = match sticky {
            true => (&mut self.by_sticky, registration),
            false => (&mut self.by_sender, sender),
        };
        receipts.extend(cause.map(|cause| (at.event, cause)));
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
