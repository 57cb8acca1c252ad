//! Lifecycle callbacks.

use super::InputEvent;
use anyorder_trace::{EventId, EventKind};
use std::collections::HashMap;

/// An instance and a state.
type Key = (u64, String);

/// The state of the family `lifecycle`.
#[derive(Default)]
pub(super) struct Activities {
    pending: HashMap<Key, Vec<EventId>>,
    /// The last enable of instance 0 to resume, while it is unused.
    unused_resume: Option<EventId>,
    remembered: HashMap<u64, (EventId, String)>,
    pub(super) binding_post: Option<EventId>,
}

impl Activities {
    pub(super) fn take(&mut self, at: &mut InputEvent<'_, '_>) {
        match at.event.kind() {
            EventKind::Enable => self.enable(at),
            EventKind::Trigger => self.trigger(at),
            _ => {}
        }
    }

    fn enable(&mut self, at: &InputEvent<'_, '_>) {
        let instance = at.input.instance;
        match at.state {
            "INSTANCE" => self.rename(at.input.argument, instance),
            "RESUME-ACT" if instance == 0 => self.unused_resume = Some(at.event.id),
            "BINDAPP-DONE" if at.posted.is_some() => self.binding_post = at.post,
            _ => {}
        }
        self.pending.entry((instance, at.state.to_owned())).or_default().push(at.event.id);
    }

    /// An intent became an instance.
    fn rename(&mut self, intent: u64, instance: u64) {
        for state in ["LAUNCH-ACT", "RESUME-ACT"].map(str::to_owned) {
            let moved = self.pending.remove(&(intent, state.clone())).unwrap_or_default();
            self.pending.entry((instance, state)).or_default().extend(moved);
        }
        if let Some(remembered) = self.remembered.remove(&intent) {
            self.remembered.insert(instance, remembered);
        }
    }

    fn trigger(&mut self, at: &mut InputEvent<'_, '_>) {
        let (instance, state) = (at.input.instance, at.state);
        let pending = self.pending.remove(&(instance, state.to_owned())).unwrap_or_default();
        if state == "RESUME-ACT" && pending.is_empty() {
            at.causes(self.unused_resume.take());
        }
        at.causes(pending);
        let before: &[&str] = match state {
            "RESUME-ACT" => {
                &["LAUNCH-ACT", "START-ACT", "PAUSE-ACT", "STOP-ACT", "NEW_INTENT", "RESULT-ACT"]
            }
            "START-ACT" | "DESTROY-ACT" => &["STOP-ACT"],
            "PAUSE-ACT" => &["RESUME-ACT"],
            "STOP-ACT" => &["PAUSE-ACT"],
            "RESULT-ACT" => &["STOP-ACT", "NEW_INTENT"],
            "NEW_INTENT" => &["RESULT-ACT", "PAUSE-ACT", "STOP-ACT"],
            // Resets the state.
            "LAUNCH-ACT" => &[],
            // No state of an activity.
            _ => return,
        };
        if let Some((p, of_p)) = self.remembered.insert(instance, (at.event.id, state.to_owned()))
            && before.contains(&of_p.as_str())
        {
            at.base(p);
        }
        if state == "DESTROY-ACT" {
            self.remembered.remove(&instance);
        }
    }
}
