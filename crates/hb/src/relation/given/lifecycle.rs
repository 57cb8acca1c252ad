//! Activities and applications: enables and triggers of lifecycle callbacks.

use super::{Given, posted_task};
use crate::relation::rules::Rule;
use anyorder_trace::{EventId, EventKind, InputId, Trace};
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
    pub(super) fn event(
        &mut self,
        trace: &Trace,
        event: EventId,
        kind: EventKind,
        input: InputId,
        given: &mut Given,
    ) {
        let input = trace.tables().inputs[input.index()];
        let state = trace.tables().name(input.state);
        match kind {
            EventKind::Enable if state == "INSTANCE" => self.rename(input.argument, input.instance),
            EventKind::Enable => self.enable(trace, event, input.instance, state),
            EventKind::Trigger => self.trigger(trace, event, input.instance, state, given),
            _ => {}
        }
    }

    fn enable(&mut self, trace: &Trace, event: EventId, instance: u64, state: &str) {
        self.pending.entry((instance, state.to_owned())).or_default().push(event);
        if state == "RESUME-ACT" && instance == 0 {
            self.blank_resume = Some(event);
        }
        if state == "BINDAPP-DONE"
            && let Some(task) = posted_task(trace, event)
        {
            self.binding_post = trace.span(task).post.some();
        }
    }

    fn trigger(
        &mut self,
        trace: &Trace,
        event: EventId,
        instance: u64,
        state: &str,
        given: &mut Given,
    ) {
        let enables = self.pending.remove(&(instance, state.to_owned())).unwrap_or_default();
        for enable in &enables {
            given.cause(trace, *enable, event, ENABLED);
        }
        if state == "RESUME-ACT"
            && enables.is_empty()
            && let Some(enable) = self.blank_resume.take()
        {
            given.cause(trace, enable, event, ENABLED);
        }
        let Some(activity) = Activity::from_state(state) else { return };
        if let Some((previous, at)) = self.activities.get(&instance).copied()
            && activity.follows(previous)
        {
            given.base(trace, at, event, STEP);
        }
        match activity {
            Activity::Destroy => self.activities.remove(&instance),
            _ => self.activities.insert(instance, (activity, event)),
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
