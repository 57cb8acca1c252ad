//! Broadcasts.

use super::InputEvent;
use crate::ends::Ended;
use anyorder_trace::{EventId, EventKind, Input, NameId};
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
    pub(super) fn take(&mut self, at: &mut InputEvent<'_, '_>, binding_post: Option<EventId>) {
        let Input { instance, argument: intent, name: action, .. } = *at.input;
        let (receiver, event) = ((instance, action), at.event.id);
        match (at.event.kind(), at.state) {
            (EventKind::Enable, "SEND_BROADCAST") => {
                self.sends.insert(intent, (event, false));
            }
            (EventKind::Enable, "SEND_STICKY_BROADCAST") => {
                self.sends.insert(intent, (event, true));
                self.sticky.insert(action);
            }
            (EventKind::Disable, "REMOVE_STICKY_BROADCAST") => drop(self.sticky.remove(&action)),
            (EventKind::Enable, "REGISTER_RECEIVER") => {
                self.registered.entry(receiver).or_insert(event);
                if self.sticky.contains(&action) {
                    self.sticky_registrations.entry(receiver).or_default().push_back(event);
                }
            }
            (EventKind::Disable, "UNREGISTER_RECEIVER") => {
                at.orders.ends.push((event, Ended::Receiver(instance)));
                self.registered.retain(|of, _| of.0 != instance);
                self.sticky_registrations.retain(|of, _| of.0 != instance);
            }
            (EventKind::Enable, "ONRECEIVE_LATER") => {
                let origin = self.settle(intent, receiver);
                self.announced.insert(event, origin);
            }
            (EventKind::Trigger, "ONRECEIVE") => {
                let later = at.view.trace.columns().refers.get(event.0);
                let later = later.and_then(|event| u32::try_from(event).ok()).map(EventId);
                let announced = later.and_then(|later| self.announced.get(&later).copied());
                let origin = announced.unwrap_or_else(|| self.settle(intent, receiver));
                at.edge(binding_post, at.post);
                self.receive(at, origin);
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

    fn receive(&mut self, at: &mut InputEvent<'_, '_>, origin: Origin) {
        let action = at.view.trace.tables().name(at.input.name);
        if at.posted.is_some() && action == "android.intent.action.TIME_TICK" {
            at.edge(self.last_tick, at.post);
            self.last_tick = at.post;
        }
        let Origin { sender, registration, by_sticky } = origin;
        at.causes(sender.into_iter().chain(registration));
        let of = Ended::Receiver(at.input.instance);
        let opened = registration.map(|registration| (at.event.id, registration, of));
        at.orders.opened.extend(opened);
        let (cause, lines) = if by_sticky { (registration, 2..4) } else { (sender, 0..2) };
        let Some(cause) = cause else { return };
        for (line, effect) in at.orders.lines[lines].iter_mut().zip([Some(at.event.id), at.post]) {
            effect.into_iter().for_each(|effect| line.add(cause, effect));
        }
    }
}
