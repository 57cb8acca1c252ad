//! Requests of programs to Android's components: enable and disable events.

use super::callbacks::ACTIONS;
use super::machine::Machine;
use anyorder_common::random::Random;
use anyorder_trace::{EventId, EventKind, Input, InputFamily};

/// The parts of an input of a component.
#[derive(Clone, Copy, Default)]
pub(super) struct Parts {
    pub(super) state: &'static str,
    pub(super) name: &'static str,
    pub(super) component: &'static str,
    pub(super) instance: u64,
    pub(super) argument: u64,
}

impl Machine {
    /// Appends an enable, disable or trigger of a component's input.
    pub(super) fn component(
        &mut self,
        agent: usize,
        kind: EventKind,
        family: InputFamily,
        parts: Parts,
    ) -> EventId {
        const FITS: &str = "small traces fit into their tables";
        let interner = &mut self.build.interner;
        let input = Input {
            family,
            name: interner.name(parts.name).expect(FITS),
            state: interner.name(parts.state).expect(FITS),
            component: interner.name(parts.component).expect(FITS),
            instance: parts.instance,
            argument: parts.argument,
        };
        let input = interner.input(input).expect(FITS);
        self.emit(agent, kind, input.0)
    }

    /// Sends a random request to a component.
    pub(super) fn request(&mut self, agent: usize) -> bool {
        match self.components.family(&mut self.rng) {
            InputFamily::Lifecycle => self.request_lifecycle(agent),
            InputFamily::Idle => self.request_idle(agent),
            InputFamily::Service => self.request_service(agent),
            _ => self.request_broadcast(agent),
        }
        true
    }

    fn request_lifecycle(&mut self, agent: usize) {
        let instance = self.rng.pick(&[0, 1, 1, 2, 11, 12]);
        let parts = match self.rng.below(10) {
            0 => Parts { state: "BINDAPP-DONE", ..Parts::default() },
            1 | 2 => {
                let instance = self.rng.within(1, 2);
                Parts { state: "INSTANCE", instance, argument: instance + 10, ..Parts::default() }
            }
            _ => {
                let state = match instance {
                    0 => "RESUME-ACT",
                    11 | 12 => self.rng.pick(&["LAUNCH-ACT", "RESUME-ACT"]),
                    _ => self.components.next_step(&mut self.rng, instance),
                };
                self.components.wanted.push((instance % 10, state));
                Parts { state, instance, ..Parts::default() }
            }
        };
        self.component(agent, EventKind::Enable, InputFamily::Lifecycle, parts);
    }

    fn request_idle(&mut self, agent: usize) {
        let kind = if self.rng.percent(85) { EventKind::Enable } else { EventKind::Disable };
        let parts = Parts { instance: self.rng.within(1, 2), argument: 1, ..Parts::default() };
        self.component(agent, kind, InputFamily::Idle, parts);
    }

    fn request_service(&mut self, agent: usize) {
        let component = self.rng.pick(&["Player", "Player", "Player", "Player", "Sync"]);
        let instance = self.rng.pick(&[1, 1, 1, 2]);
        let (kind, parts) = match self.rng.below(10) {
            0..3 => {
                let argument = self.components.new_start(&mut self.rng);
                let state = "REQUEST_START_SERVICE";
                (EventKind::Enable, Parts { state, component, argument, ..Parts::default() })
            }
            3..6 => {
                let state = "REQUEST_BIND_SERVICE";
                (EventKind::Enable, Parts { state, component, instance, ..Parts::default() })
            }
            6..8 => {
                let state = "REQUEST_STOP_SERVICE";
                (EventKind::Enable, Parts { state, component, ..Parts::default() })
            }
            _ => {
                let state = "REQUEST_UNBIND_SERVICE";
                (EventKind::Disable, Parts { state, instance, ..Parts::default() })
            }
        };
        self.component(agent, kind, InputFamily::Service, parts);
    }

    fn request_broadcast(&mut self, agent: usize) {
        let name = self.rng.pick(&ACTIONS);
        let instance = self.rng.within(1, 2);
        let later = self.rng.percent(25) && !self.components.sent.is_empty();
        if later {
            let (name, argument) = self.rng.pick(&self.components.sent);
            let state = "ONRECEIVE_LATER";
            let parts = Parts { state, name, instance, argument, ..Parts::default() };
            let event = self.component(agent, EventKind::Enable, InputFamily::Broadcast, parts);
            self.components.announced.push((event, parts));
            return;
        }
        let (kind, state) = match self.rng.below(12) {
            0..3 => (EventKind::Enable, "SEND_BROADCAST"),
            3..6 => (EventKind::Enable, "SEND_STICKY_BROADCAST"),
            6..10 => (EventKind::Enable, "REGISTER_RECEIVER"),
            10 => (EventKind::Disable, "UNREGISTER_RECEIVER"),
            _ => (EventKind::Disable, "REMOVE_STICKY_BROADCAST"),
        };
        let mut parts = Parts { state, name, ..Parts::default() };
        if state.starts_with("SEND") {
            parts.argument = 100 + self.components.sent.len() as u64;
            self.components.sent.push((name, parts.argument));
        } else if state.ends_with("RECEIVER") {
            parts.instance = instance;
        }
        self.component(agent, kind, InputFamily::Broadcast, parts);
    }
}
