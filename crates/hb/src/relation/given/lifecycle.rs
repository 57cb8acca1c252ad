//! Activities and applications: enables and triggers of lifecycle callbacks.

use super::InputEvent;
use crate::relation::rules::Rule;
use anyorder_trace::{EventId, EventKind};
use rustc_hash::FxHashMap;

const ENABLED: Rule = Rule::Component("lifecycle: enabled");
const STEP: Rule = Rule::Component("lifecycle: step of an activity");

/// A state of an activity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Activity {
    Launch,
    Resume,
    Start,
    Pause,
    Stop,
    Destroy,
    Result,
    NewIntent,
}

impl Activity {
    fn from_state(state: &str) -> Option<Activity> {
        Some(match state {
            "LAUNCH-ACT" => Activity::Launch,
            "RESUME-ACT" => Activity::Resume,
            "START-ACT" => Activity::Start,
            "PAUSE-ACT" => Activity::Pause,
            "STOP-ACT" => Activity::Stop,
            "DESTROY-ACT" => Activity::Destroy,
            "RESULT-ACT" => Activity::Result,
            "NEW_INTENT" => Activity::NewIntent,
            _ => return None,
        })
    }

    /// Returns whether Android steps from `previous` to this state.
    fn follows(self, previous: Activity) -> bool {
        use Activity::{Launch, NewIntent, Pause, Result, Resume, Start, Stop};
        match self {
            Resume => matches!(previous, Launch | Start | Pause | Stop | NewIntent | Result),
            Start | Activity::Destroy => previous == Stop,
            Pause => previous == Resume,
            Stop => previous == Pause,
            Result => matches!(previous, Stop | NewIntent),
            NewIntent => matches!(previous, Result | Pause | Stop),
            Launch => false,
        }
    }
}

/// The state of lifecycle callbacks.
#[derive(Default)]
pub(super) struct Lifecycle {
    /// Enables of (instance, state) since its last trigger.
    pending: FxHashMap<(u64, String), Vec<EventId>>,
    /// The last enable of RESUME-ACT that names no instance.
    blank_resume: Option<EventId>,
    /// The last callback of each activity.
    activities: FxHashMap<u64, (Activity, EventId)>,
    /// The post of the task in which the application was bound.
    pub(super) binding_post: Option<EventId>,
}

impl Lifecycle {
    pub(super) fn take(&mut self, at: &mut InputEvent<'_, '_>) {
        match at.kind {
            EventKind::Enable => self.enable(at),
            EventKind::Trigger => self.trigger(at),
            _ => {}
        }
    }

    fn enable(&mut self, at: &InputEvent<'_, '_>) {
        let instance = at.input.instance;
        match at.state {
            "INSTANCE" => return self.rename(at.input.argument, instance),
            "RESUME-ACT" if instance == 0 => self.blank_resume = Some(at.event),
            "BINDAPP-DONE" if at.posted.is_some() => self.binding_post = at.post,
            _ => {}
        }
        self.pending.entry((instance, at.state.to_owned())).or_default().push(at.event);
    }

    fn trigger(&mut self, at: &mut InputEvent<'_, '_>) {
        let (instance, state) = (at.input.instance, at.state);
        let enables = self.pending.remove(&(instance, state.to_owned())).unwrap_or_default();
        if state == "RESUME-ACT" && enables.is_empty() {
            at.causes(self.blank_resume.take(), ENABLED);
        }
        at.causes(enables, ENABLED);
        let Some(activity) = Activity::from_state(state) else { return };
        if let Some((previous, before)) = self.activities.get(&instance).copied()
            && activity.follows(previous)
        {
            at.base(before, STEP);
        }
        match activity {
            Activity::Destroy => self.activities.remove(&instance),
            _ => self.activities.insert(instance, (activity, at.event)),
        };
    }

    fn rename(&mut self, intent: u64, instance: u64) {
        for state in ["LAUNCH-ACT", "RESUME-ACT"] {
            if let Some(enables) = self.pending.remove(&(intent, state.to_owned())) {
                self.pending.entry((instance, state.to_owned())).or_default().extend(enables);
            }
        }
        if let Some(activity) = self.activities.remove(&intent) {
            self.activities.insert(instance, activity);
        }
    }
}
