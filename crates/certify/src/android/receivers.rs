//! Broadcasts.

use super::OrderBuilder;
use anyorder_trace::{Event, EventId, EventKind, Input, NameId};
use std::collections::{HashMap, HashSet, VecDeque};

/// A receiver and an action.
type Receiver = (u64, NameId);

/// The cause of a receipt.
#[derive(Clone, Copy)]
struct Origin {
    sender: Option<EventId>,
    registration: Option<EventId>,
    by_sticky: bool,
}

/// The state of the family `broadcast`.
#[derive(Default)]
pub(super) struct Receivers {
    registered: HashMap<Receiver, EventId>,
    sticky: HashSet<NameId>,
    sticky_registrations: HashMap<Receiver, VecDeque<EventId>>,
    /// By intent, and whether it was sticky.
    sends: HashMap<u64, (EventId, bool)>,
    announced: HashMap<EventId, Origin>,
    last_tick: Option<EventId>,
}

impl Receivers {
    pub(super) fn take(
        &mut self,
        add: &mut OrderBuilder<'_, '_>,
        event: Event,
        input: &Input,
        state: &str,
        binding_post: Option<EventId>,
    ) {
        let (action, receiver) = (input.name, (input.instance, input.name));
        match (event.kind(), state) {
            (EventKind::Enable, "SEND_BROADCAST") => {
                self.sends.insert(input.argument, (event.id, false));
            }
            (EventKind::Enable, "SEND_STICKY_BROADCAST") => {
                self.sends.insert(input.argument, (event.id, true));
                self.sticky.insert(action);
            }
            (EventKind::Disable, "REMOVE_STICKY_BROADCAST") => drop(self.sticky.remove(&action)),
            (EventKind::Enable, "REGISTER_RECEIVER") => {
                self.registered.entry(receiver).or_insert(event.id);
                if self.sticky.contains(&action) {
                    self.sticky_registrations.entry(receiver).or_default().push_back(event.id);
                }
            }
            (EventKind::Disable, "UNREGISTER_RECEIVER") => {
                self.registered.retain(|of, _| of.0 != input.instance);
                self.sticky_registrations.retain(|of, _| of.0 != input.instance);
            }
            (EventKind::Enable, "ONRECEIVE_LATER") => {
                let origin = self.settle(input.argument, receiver);
                self.announced.insert(event.id, origin);
            }
            (EventKind::Trigger, "ONRECEIVE") => {
                let later = add.view.trace.columns().refers.get(event.id.0);
                let later = later.and_then(|event| u32::try_from(event).ok()).map(EventId);
                let announced = later.and_then(|later| self.announced.get(&later).copied());
                let origin = announced.unwrap_or_else(|| self.settle(input.argument, receiver));
                self.receive(add, event.id, action, origin, binding_post);
            }
            _ => {}
        }
    }

    fn settle(&mut self, intent: u64, receiver: Receiver) -> Origin {
        let send = self.sends.get(&intent).copied();
        let queue = self.sticky_registrations.get_mut(&receiver);
        let oldest = match send {
            Some((_, true)) => queue.and_then(VecDeque::pop_front),
            _ => None,
        };
        Origin {
            sender: send.map(|(event, _)| event),
            registration: oldest.or_else(|| self.registered.get(&receiver).copied()),
            by_sticky: oldest.is_some(),
        }
    }

    fn receive(
        &mut self,
        add: &mut OrderBuilder<'_, '_>,
        t: EventId,
        action: NameId,
        origin: Origin,
        binding_post: Option<EventId>,
    ) {
        let view = add.view;
        let task = view.posted_task_of(t);
        let post = task.and_then(|m| view.post(m));
        if task.is_some() {
            add.edge(binding_post, post);
            if view.trace.tables().name(action) == "android.intent.action.TIME_TICK" {
                add.edge(self.last_tick, post);
                self.last_tick = post;
            }
        }
        let Origin { sender, registration, by_sticky } = origin;
        sender.into_iter().chain(registration).for_each(|e| add.add_cause(e, t));
        let (cause, lines) = if by_sticky { (registration, 2..4) } else { (sender, 0..2) };
        let Some(cause) = cause else { return };
        for (line, effect) in add.orders.lines[lines].iter_mut().zip([Some(t), post]) {
            effect.into_iter().for_each(|effect| line.add(cause, effect));
        }
    }
}
