//! Lifecycle callbacks of activities and applications.

use super::ComponentEdges;
use crate::naive::rules::RuleName;
use anyorder_trace::{Event, EventId, EventKind, InputFamily};
use std::collections::BTreeMap;

/// An instance and a state.
type Key = (u64, String);

/// The states that an activity records.
const REMEMBERED: [&str; 8] = [
    "LAUNCH-ACT",
    "RESUME-ACT",
    "START-ACT",
    "PAUSE-ACT",
    "STOP-ACT",
    "DESTROY-ACT",
    "RESULT-ACT",
    "NEW_INTENT",
];

#[derive(Default)]
struct State {
    /// Pending enables of each key, and whether they were moved to it.
    pending: BTreeMap<Key, Vec<(EventId, bool)>>,
    /// The last enable of (0, `RESUME-ACT`), until it is used up.
    spare_resume: Option<EventId>,
    /// The last remembered trigger of each activity.
    last: BTreeMap<u64, (EventId, String)>,
}

pub(super) fn find(found: &mut ComponentEdges<'_, '_>) {
    let mut state = State::default();
    for (event, name) in found.family(InputFamily::Lifecycle) {
        match event.kind() {
            EventKind::Enable => state.enable(found, event, name),
            EventKind::Trigger => {
                state.trigger(found, event, name);
                state.step(found, event, name);
            }
            _ => {}
        }
    }
}

impl State {
    fn enable(&mut self, found: &ComponentEdges<'_, '_>, event: Event, name: &str) {
        let input = found.view.input(event);
        if name == "INSTANCE" && found.edges.rules.has(RuleName::LifecycleInstance) {
            self.become_instance(input.argument, input.instance);
        }
        if name == "RESUME-ACT" && input.instance == 0 {
            self.spare_resume = Some(event.id);
        }
        let key = (input.instance, name.to_owned());
        self.pending.entry(key).or_default().push((event.id, false));
    }

    fn become_instance(&mut self, intent: u64, instance: u64) {
        if intent == instance {
            return;
        }
        for name in ["LAUNCH-ACT", "RESUME-ACT"] {
            let moved = self.pending.remove(&(intent, name.to_owned())).unwrap_or_default();
            let target = self.pending.entry((instance, name.to_owned())).or_default();
            target.extend(moved.into_iter().map(|(enable, _)| (enable, true)));
        }
        if let Some(last) = self.last.remove(&intent) {
            self.last.insert(instance, last);
        }
    }

    fn trigger(&mut self, found: &mut ComponentEdges<'_, '_>, t: Event, name: &str) {
        let instance = found.view.input(t).instance;
        let pending = self.pending.remove(&(instance, name.to_owned())).unwrap_or_default();
        for (enable, moved) in &pending {
            let rule = if *moved { RuleName::LifecycleInstance } else { RuleName::LifecycleEnable };
            found.arrow(rule, *enable, t.id);
        }
        if name == "RESUME-ACT"
            && pending.is_empty()
            && let Some(enable) = self.spare_resume.take()
        {
            found.arrow(RuleName::LifecycleResume, enable, t.id);
        }
    }

    fn step(&mut self, found: &mut ComponentEdges<'_, '_>, t: Event, name: &str) {
        if !REMEMBERED.contains(&name) {
            return;
        }
        let instance = found.view.input(t).instance;
        let before = self.last.insert(instance, (t.id, name.to_owned()));
        if let Some((p, p_name)) = before
            && is_step(&p_name, name)
        {
            found.base(RuleName::LifecycleStep, p, t.id);
        }
        if name == "DESTROY-ACT" {
            self.last.remove(&instance);
        }
    }
}

/// Whether an activity goes from one callback to the next.
fn is_step(from: &str, to: &str) -> bool {
    let short = |name: &str| name.trim_end_matches("-ACT").to_owned();
    let sources: &[&str] = match short(to).as_str() {
        "RESUME" => &["LAUNCH", "START", "PAUSE", "STOP", "NEW_INTENT", "RESULT"],
        "START" => &["STOP"],
        "PAUSE" => &["RESUME"],
        "STOP" => &["PAUSE"],
        "DESTROY" => &["STOP"],
        "RESULT" => &["STOP", "NEW_INTENT"],
        "NEW_INTENT" => &["RESULT", "PAUSE", "STOP"],
        _ => &[],
    };
    sources.contains(&short(from).as_str())
}
