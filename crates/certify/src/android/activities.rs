//! Lifecycle callbacks.

use super::{OrderBuilder, enables};
use anyorder_trace::{Event, EventId, EventKind, Input};
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
    pub(super) fn take(
        &mut self,
        add: &mut OrderBuilder<'_, '_>,
        event: Event,
        input: &Input,
        state: &str,
    ) {
        if enables(event) {
            self.enable(event.id, input, state);
            if state == "BINDAPP-DONE"
                && let Some(task) = add.view.posted_task_of(event.id)
            {
                self.binding_post = add.view.post(task);
            }
        } else if event.kind() == EventKind::Trigger {
            self.trigger(add, event.id, input.instance, state);
        }
    }

    fn enable(&mut self, event: EventId, input: &Input, state: &str) {
        if state == "INSTANCE" {
            self.rename(input.argument, input.instance);
        }
        if (input.instance, state) == (0, "RESUME-ACT") {
            self.unused_resume = Some(event);
        }
        self.pending.entry((input.instance, state.to_owned())).or_default().push(event);
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

    fn trigger(&mut self, add: &mut OrderBuilder<'_, '_>, t: EventId, instance: u64, state: &str) {
        let pending = self.pending.remove(&(instance, state.to_owned())).unwrap_or_default();
        pending.iter().for_each(|e| add.add_cause(*e, t));
        if state == "RESUME-ACT" && pending.is_empty() {
            self.unused_resume.take().into_iter().for_each(|e| add.add_cause(e, t));
        }
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
        if let Some((p, of_p)) = self.remembered.insert(instance, (t, state.to_owned()))
            && before.contains(&of_p.as_str())
        {
            add.base(p, t);
        }
        if state == "DESTROY-ACT" {
            self.remembered.remove(&instance);
        }
    }
}
