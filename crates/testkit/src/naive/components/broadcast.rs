//! Broadcasts and their receivers.

use super::ComponentEdges;
use super::edges::Removable;
use crate::naive::rules::RuleName;
use anyorder_trace::{Event, EventId, EventKind, Input, InputFamily, NameId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// If the first of two causes happens before the second, their receipts are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::naive) struct Conditional {
    pub(in crate::naive) rule: RuleName,
    /// The two sends, or the two sticky registrations.
    pub(in crate::naive) causes: (EventId, EventId),
    /// The two receipts.
    pub(in crate::naive) receipts: (EventId, EventId),
}

/// The source of a receipt.
#[derive(Clone, Copy, Default)]
struct Origin {
    sender: Option<EventId>,
    registration: Option<EventId>,
    by_sticky: bool,
}

#[derive(Default)]
struct State {
    /// Sends by intent, and whether they are sticky.
    sends: BTreeMap<u64, (EventId, bool)>,
    sticky_actions: BTreeSet<NameId>,
    /// Registrations by receiver and action.
    registered: BTreeMap<(u64, NameId), EventId>,
    sticky_queue: BTreeMap<(u64, NameId), VecDeque<EventId>>,
    /// The sender and registration determined at each `ONRECEIVE_LATER`.
    announced: BTreeMap<EventId, Origin>,
    last_tick: Option<EventId>,
    receipts: Vec<(EventId, Origin)>,
}

pub(super) fn find(found: &mut ComponentEdges<'_, '_>) {
    let mut state = State::default();
    for (event, name) in found.family(InputFamily::Broadcast) {
        let input = found.view.input(event);
        match (event.kind(), name) {
            (EventKind::Enable, "SEND_BROADCAST") => {
                state.sends.insert(input.argument, (event.id, false));
            }
            (EventKind::Enable, "SEND_STICKY_BROADCAST") => {
                state.sends.insert(input.argument, (event.id, true));
                state.sticky_actions.insert(input.name);
            }
            (EventKind::Disable, "REMOVE_STICKY_BROADCAST") => {
                state.sticky_actions.remove(&input.name);
            }
            (EventKind::Enable, "REGISTER_RECEIVER") => state.register(event.id, input),
            (EventKind::Disable, "UNREGISTER_RECEIVER") => {
                found.removed.push((event.id, Removable::Receiver(input.instance)));
                state.registered.retain(|(receiver, _), _| *receiver != input.instance);
                state.sticky_queue.retain(|(receiver, _), _| *receiver != input.instance);
            }
            (EventKind::Enable, "ONRECEIVE_LATER") => {
                let origin = state.settle(input);
                state.announced.insert(event.id, origin);
            }
            (EventKind::Trigger, "ONRECEIVE") => state.receive(found, event, input),
            _ => {}
        }
    }
    conditional(found, &state.receipts);
}

impl State {
    fn register(&mut self, event: EventId, input: Input) {
        let key = (input.instance, input.name);
        self.registered.entry(key).or_insert(event);
        if self.sticky_actions.contains(&input.name) {
            self.sticky_queue.entry(key).or_default().push_back(event);
        }
    }

    /// Finds the sender and the registration of a receipt.
    fn settle(&mut self, input: Input) -> Origin {
        let key = (input.instance, input.name);
        let send = self.sends.get(&input.argument).copied();
        let sticky = match send {
            Some((_, true)) => self.sticky_queue.get_mut(&key).and_then(VecDeque::pop_front),
            _ => None,
        };
        Origin {
            sender: send.map(|(event, _)| event),
            registration: sticky.or_else(|| self.registered.get(&key).copied()),
            by_sticky: sticky.is_some(),
        }
    }

    fn receive(&mut self, found: &mut ComponentEdges<'_, '_>, t: Event, input: Input) {
        let view = found.view;
        if let Some(m) = view.posted_task_of(t.id) {
            found.edges.add(RuleName::BroadcastBinding, binding_post(found, t.id), view.post(m));
            if view.trace.tables().name(input.name) == "android.intent.action.TIME_TICK" {
                found.edges.add(RuleName::BroadcastTick, self.last_tick, view.post(m));
                self.last_tick = view.post(m);
            }
        }
        let announced = view.refers(t.id).and_then(|later| self.announced.get(&later).copied());
        let origin = announced.unwrap_or_else(|| self.settle(input));
        if let Some(sender) = origin.sender {
            found.arrow(RuleName::BroadcastSender, sender, t.id);
        }
        if let Some(registration) = origin.registration {
            let rule = if origin.by_sticky {
                RuleName::BroadcastSticky
            } else {
                RuleName::BroadcastRegistration
            };
            found.arrow(rule, registration, t.id);
            let of = Removable::Receiver(input.instance);
            found.called.push((t.id, registration, of));
        }
        self.receipts.push((t.id, origin));
    }
}

/// The binding post at an event: that of the task with the last `BINDAPP-DONE` in a posted task.
fn binding_post(found: &ComponentEdges<'_, '_>, before: EventId) -> Option<EventId> {
    let done = found
        .family(InputFamily::Lifecycle)
        .into_iter()
        .filter(|(e, name)| {
            e.id < before && e.kind() == EventKind::Enable && *name == "BINDAPP-DONE"
        })
        .filter_map(|(e, _)| found.view.posted_task_of(e.id))
        .next_back()?;
    found.view.post(done)
}

/// Lists, for every two receipts, the edges that follow if their causes are ordered.
fn conditional(found: &mut ComponentEdges<'_, '_>, receipts: &[(EventId, Origin)]) {
    for (t1, o1) in receipts {
        for (t2, o2) in receipts {
            let (rule, causes) = match (o1.by_sticky, o2.by_sticky) {
                (false, false) => (RuleName::BroadcastOrder, (o1.sender, o2.sender)),
                (true, true) => {
                    (RuleName::BroadcastStickyOrder, (o1.registration, o2.registration))
                }
                _ => continue,
            };
            if let (Some(c1), Some(c2)) = causes {
                let receipts = (*t1, *t2);
                found.conditional.push(Conditional { rule, causes: (c1, c2), receipts });
            }
        }
    }
}
