//! Callbacks of Android's components: trigger events, usually in a possible order.

use super::machine::Machine;
use super::requests::Parts;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{EventId, EventKind, InputFamily};
use std::collections::BTreeMap;

/// The actions of broadcasts.
pub(super) const ACTIONS: [&str; 3] = ["go", "go", "android.intent.action.TIME_TICK"];

/// The state that determines the next callbacks.
#[derive(Default)]
pub(super) struct Components {
    /// The main family of this program.
    favourite: Option<InputFamily>,
    /// The last callback of each activity.
    activities: BTreeMap<u64, &'static str>,
    /// Enabled lifecycle callbacks: instance and state.
    pub(super) wanted: Vec<(u64, &'static str)>,
    /// The last callback of each service.
    services: BTreeMap<&'static str, &'static str>,
    starts: u64,
    /// Broadcasts sent: action and intent.
    pub(super) sent: Vec<(&'static str, u64)>,
    /// Receipts announced.
    pub(super) announced: Vec<(EventId, Parts)>,
}

impl Components {
    pub(super) fn family(&mut self, rng: &mut Rng) -> InputFamily {
        let all = [
            InputFamily::Lifecycle,
            InputFamily::Service,
            InputFamily::Broadcast,
            InputFamily::Idle,
        ];
        let favourite = *self.favourite.get_or_insert_with(|| rng.pick(&all));
        if rng.percent(75) { favourite } else { rng.pick(&all) }
    }

    /// A new intent for a start request, or occasionally an old one.
    pub(super) fn new_start(&mut self, rng: &mut Rng) -> u64 {
        if self.starts == 0 || rng.percent(80) {
            self.starts += 1;
        }
        self.starts
    }

    /// A callback that an activity can receive next.
    pub(super) fn next_step(&self, rng: &mut Rng, instance: u64) -> &'static str {
        let next: &[&'static str] = match self.activities.get(&instance).copied() {
            None | Some("DESTROY-ACT") => &["LAUNCH-ACT"],
            Some("LAUNCH-ACT" | "START-ACT") => &["RESUME-ACT"],
            Some("RESUME-ACT") => &["PAUSE-ACT"],
            Some("PAUSE-ACT") => &["RESUME-ACT", "STOP-ACT", "STOP-ACT", "NEW_INTENT"],
            Some("STOP-ACT") => {
                &["START-ACT", "DESTROY-ACT", "RESUME-ACT", "RESULT-ACT", "NEW_INTENT"]
            }
            Some("RESULT-ACT") => &["RESUME-ACT", "NEW_INTENT"],
            Some(_) => &["RESUME-ACT", "RESULT-ACT"],
        };
        rng.pick(next)
    }

    fn next_service_step(&self, rng: &mut Rng, service: &'static str) -> &'static str {
        let next: &[&'static str] = match self.services.get(service).copied() {
            None | Some("STOP-SERVICE") => &["CREATE-SERVICE"],
            Some("CREATE-SERVICE") => &["SERVICE-ARGS", "BIND-SERVICE"],
            Some("SERVICE-ARGS") => &["SERVICE-ARGS", "BIND-SERVICE", "STOP-SERVICE"],
            Some("BIND-SERVICE") => &["SERVICE_CONNECT", "SERVICE_CONNECT", "UNBIND-SERVICE"],
            Some("SERVICE_CONNECT") => &["UNBIND-SERVICE", "SERVICE-ARGS"],
            Some(_) => &["BIND-SERVICE", "STOP-SERVICE", "SERVICE-ARGS"],
        };
        rng.pick(next)
    }
}

impl Machine {
    /// Receives a callback from a component.
    pub(super) fn callback(&mut self, agent: usize) -> bool {
        match self.components.family(&mut self.rng) {
            InputFamily::Lifecycle => self.call_activity(agent),
            InputFamily::Idle => {
                let instance = self.rng.within(1, 2);
                let parts = Parts { instance, argument: 1, ..Parts::default() };
                self.component(agent, EventKind::Trigger, InputFamily::Idle, parts);
            }
            InputFamily::Service => self.call_service(agent),
            _ => self.call_receiver(agent),
        }
        true
    }

    fn call_activity(&mut self, agent: usize) {
        let all = [
            "LAUNCH-ACT",
            "RESUME-ACT",
            "START-ACT",
            "PAUSE-ACT",
            "STOP-ACT",
            "DESTROY-ACT",
            "RESULT-ACT",
            "NEW_INTENT",
        ];
        let mut instance = self.rng.pick(&[1, 1, 1, 2, 11]);
        let mut state = self.components.next_step(&mut self.rng, instance);
        if !self.components.wanted.is_empty() && self.rng.percent(40) {
            let wanted = self.rng.index(self.components.wanted.len());
            (instance, state) = self.components.wanted.remove(wanted);
        } else if self.rng.percent(15) {
            state = self.rng.pick(&all);
        }
        self.components.activities.insert(instance, state);
        let parts = Parts { state, instance, ..Parts::default() };
        self.component(agent, EventKind::Trigger, InputFamily::Lifecycle, parts);
    }

    fn call_service(&mut self, agent: usize) {
        let all = [
            "CREATE-SERVICE",
            "SERVICE-ARGS",
            "BIND-SERVICE",
            "SERVICE_CONNECT",
            "UNBIND-SERVICE",
            "STOP-SERVICE",
        ];
        let component = self.rng.pick(&["Player", "Player", "Player", "Player", "Sync"]);
        let mut state = self.components.next_service_step(&mut self.rng, component);
        if self.rng.percent(15) {
            state = self.rng.pick(&all);
        }
        self.components.services.insert(component, state);
        let mut parts = Parts { state, component, ..Parts::default() };
        match state {
            "SERVICE-ARGS" => parts.argument = self.rng.within(1, self.components.starts.max(1)),
            "SERVICE_CONNECT" => parts.instance = self.rng.pick(&[1, 1, 1, 2]),
            _ => {}
        }
        self.component(agent, EventKind::Trigger, InputFamily::Service, parts);
    }

    fn call_receiver(&mut self, agent: usize) {
        let state = "ONRECEIVE";
        if !self.components.announced.is_empty() && self.rng.percent(40) {
            let index = self.rng.index(self.components.announced.len());
            let (later, parts) = self.components.announced.remove(index);
            let parts = Parts { state, ..parts };
            let event = self.component(agent, EventKind::Trigger, InputFamily::Broadcast, parts);
            self.refer(event, later);
            return;
        }
        let sent = !self.components.sent.is_empty() && self.rng.percent(90);
        let (name, argument) =
            if sent { self.rng.pick(&self.components.sent) } else { (self.rng.pick(&ACTIONS), 99) };
        let parts =
            Parts { state, name, instance: self.rng.within(1, 2), argument, ..Parts::default() };
        self.component(agent, EventKind::Trigger, InputFamily::Broadcast, parts);
    }
}
