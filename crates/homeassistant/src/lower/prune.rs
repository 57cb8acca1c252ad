//! Leaves out what cannot change the states that a search is about.
//!
//! A call whose effects nobody reads is gone, and with it the branches, conditions and triggers
//! that led only to it. A wait stays while its automation does something that counts, because a run
//! that waits decides what happens to the next one (`mode`).

use super::effect::{Effect, effects};
use crate::syntax::{
    Action, ActionKind, Automation, Branch, Condition, ConditionKind, Home, Mode, Repeat,
    TriggerKind,
};
use std::collections::BTreeSet;

/// How deep calls of scripts are followed.
const DEPTH_MAX: u32 = 8;

/// What is kept of automations.
pub(super) struct Pruner<'h> {
    home: &'h Home,
    /// States that count.
    keys: &'h BTreeSet<String>,
    /// Events of the bus that somebody hears.
    events: BTreeSet<&'h str>,
}

/// What of a sequence counts while it is read from its end.
#[derive(Clone, Copy)]
struct Behind {
    /// Something behind it in the same sequence counts.
    here: bool,
    /// Something behind it in the run counts.
    run: bool,
    /// Waits count.
    waits: bool,
}

impl<'h> Pruner<'h> {
    pub(super) fn new(home: &'h Home, numbers: &[usize], keys: &'h BTreeSet<String>) -> Pruner<'h> {
        let mut events = BTreeSet::new();
        for number in numbers {
            for trigger in &home.automations[*number].triggers {
                if let TriggerKind::Event { types, .. } = &trigger.kind {
                    events.extend(types.iter().map(String::as_str));
                }
            }
        }
        Pruner { home, keys, events }
    }

    /// Returns an automation without what does not count.
    pub(super) fn automation(&self, automation: &Automation) -> Automation {
        let mut kept = automation.clone();
        kept.actions = self.run(&automation.actions);
        if kept.actions.is_empty() {
            kept.conditions.clear();
            kept.triggers.clear();
            return kept;
        }
        // A trigger that leads to nothing counts only where it ends a run that waits.
        if automation.mode != Mode::Restart || !waits(&kept.actions) {
            kept.triggers.retain(|trigger| {
                kept.conditions.iter().all(|condition| holds(condition, &trigger.id) != Some(false))
                    && leads(&kept.actions, &trigger.id)
            });
        }
        kept
    }

    fn run(&self, actions: &[Action]) -> Vec<Action> {
        let nothing = Behind { here: false, run: false, waits: false };
        if self.sequence(actions, nothing).is_empty() {
            return Vec::new();
        }
        self.sequence(actions, Behind { waits: true, ..nothing })
    }

    fn sequence(&self, actions: &[Action], behind: Behind) -> Vec<Action> {
        let mut kept: Vec<Action> = Vec::new();
        let mut counts = false;
        for action in actions.iter().rev() {
            let behind = Behind { here: counts, run: behind.run || counts, waits: behind.waits };
            let Some(kind) = self.action(&action.kind, behind) else { continue };
            counts |= !matches!(kind, ActionKind::Variables(_));
            kept.push(Action { place: action.place, kind });
        }
        kept.reverse();
        if counts { kept } else { Vec::new() }
    }

    fn action(&self, kind: &ActionKind, behind: Behind) -> Option<ActionKind> {
        let inner = |list: &[Action]| self.sequence(list, behind);
        Some(match kind {
            ActionKind::Call(call) => return self.calls(call, 0).then(|| kind.clone()),
            ActionKind::Event { name, .. } => {
                return self.events.contains(name.as_str()).then(|| kind.clone());
            }
            ActionKind::Choose { branches, default } => {
                let branches: Vec<Branch> = branches
                    .iter()
                    .map(|branch| Branch {
                        conditions: branch.conditions.clone(),
                        sequence: inner(&branch.sequence),
                    })
                    .collect();
                let default = default.as_ref().map(|default| inner(default));
                let nothing = branches.iter().all(|branch| branch.sequence.is_empty())
                    && default.as_ref().is_none_or(Vec::is_empty);
                if nothing {
                    return None;
                }
                ActionKind::Choose { branches, default }
            }
            ActionKind::If { conditions, then, otherwise } => {
                let (then, otherwise) = (inner(then), inner(otherwise));
                if then.is_empty() && otherwise.is_empty() {
                    return None;
                }
                ActionKind::If { conditions: conditions.clone(), then, otherwise }
            }
            ActionKind::Repeat(repeat) => {
                // Each turn is behind the one before.
                let sequence = inner(&repeat.sequence);
                if sequence.is_empty() {
                    return None;
                }
                let again = Behind { run: true, ..behind };
                let sequence = self.sequence(&repeat.sequence, again);
                ActionKind::Repeat(Repeat { count: repeat.count.clone(), sequence })
            }
            ActionKind::Parallel(branches) => {
                let branches: Vec<Vec<Action>> = branches
                    .iter()
                    .map(|branch| inner(branch))
                    .filter(|branch| !branch.is_empty())
                    .collect();
                if branches.is_empty() {
                    return None;
                }
                ActionKind::Parallel(branches)
            }
            ActionKind::Sequence(list) => {
                let list = inner(list);
                if list.is_empty() {
                    return None;
                }
                ActionKind::Sequence(list)
            }
            ActionKind::Stop => return behind.run.then(|| kind.clone()),
            ActionKind::Condition(_) => return behind.here.then(|| kind.clone()),
            ActionKind::WaitTrigger { .. }
            | ActionKind::WaitTemplate { .. }
            | ActionKind::Delay(_) => return behind.waits.then(|| kind.clone()),
            ActionKind::Variables(_) => kind.clone(),
            ActionKind::Nothing => return None,
        })
    }

    /// Whether a call does something that counts.
    fn calls(&self, call: &crate::syntax::Call, depth: u32) -> bool {
        let named = call.domain == "script"
            && !matches!(call.service.as_str(), "turn_on" | "turn_off" | "toggle" | "reload");
        if named {
            return self.script(&format!("script.{}", call.service), depth);
        }
        if !call.maybe.is_empty() {
            let targets = Some(call.maybe.clone());
            let one = crate::syntax::Call { targets, maybe: Vec::new(), ..call.clone() };
            if self.calls(&one, depth) {
                return true;
            }
        }
        let targets = || call.targets.iter().flatten().flat_map(|t| self.home.members(t));
        let Some(list) = effects(self.home, call) else {
            return targets().any(|entity| self.keys.contains(&entity));
        };
        list.iter().any(|(entity, effect)| match effect {
            Effect::Start => !entity.starts_with("script.") || self.script(entity, depth),
            Effect::TurnOff => self.keys.contains(entity) || self.script(entity, depth),
            Effect::Attribute(name, _) => {
                self.keys.contains(&super::facts::key(entity, Some(name)))
            }
            _ => self.keys.contains(entity),
        })
    }

    /// Whether a script does something that counts.
    fn script(&self, entity: &str, depth: u32) -> bool {
        let found = self.home.automations.iter().find(|automation| automation.entity == entity);
        let Some(found) = found.filter(|_| depth < DEPTH_MAX) else { return depth >= DEPTH_MAX };
        self.counts(&found.actions, depth + 1)
    }

    fn counts(&self, actions: &[Action], depth: u32) -> bool {
        actions.iter().any(|action| match &action.kind {
            ActionKind::Call(call) => self.calls(call, depth),
            ActionKind::Event { name, .. } => self.events.contains(name.as_str()),
            other => parts(other).iter().any(|part| self.counts(part, depth)),
        })
    }
}

/// The sequences inside of a step.
fn parts(kind: &ActionKind) -> Vec<&[Action]> {
    match kind {
        ActionKind::Choose { branches, default } => {
            let branches = branches.iter().map(|branch| &branch.sequence[..]);
            branches.chain(default.as_deref()).collect()
        }
        ActionKind::If { then, otherwise, .. } => vec![then, otherwise],
        ActionKind::Repeat(repeat) => vec![&repeat.sequence],
        ActionKind::Parallel(branches) => branches.iter().map(Vec::as_slice).collect(),
        ActionKind::Sequence(list) => vec![list],
        _ => Vec::new(),
    }
}

/// Whether a run may wait.
fn waits(actions: &[Action]) -> bool {
    actions.iter().any(|action| match &action.kind {
        ActionKind::WaitTrigger { .. }
        | ActionKind::WaitTemplate { .. }
        | ActionKind::Delay(_)
        | ActionKind::Repeat(_)
        | ActionKind::Parallel(_) => true,
        // It may call a script that waits.
        ActionKind::Call(call) => call.domain == "script",
        other => parts(other).into_iter().any(waits),
    })
}

/// What is known of a condition in a run that the trigger with an id has started.
fn holds(condition: &Condition, id: &str) -> Option<bool> {
    let all = |list: &[Condition], end: bool| {
        let mut known = Some(!end);
        for inner in list {
            match holds(inner, id) {
                Some(value) if value == end => return Some(end),
                Some(_) => {}
                None => known = None,
            }
        }
        known
    };
    match &condition.kind {
        ConditionKind::Trigger(ids) => Some(ids.iter().any(|known| known == id)),
        ConditionKind::And(list) => all(list, false),
        ConditionKind::Or(list) => all(list, true),
        ConditionKind::Not(list) => all(list, true).map(|value| !value),
        ConditionKind::Constant(value) => Some(*value),
        _ => None,
    }
}

/// Whether a run of a trigger may come to a step.
fn leads(actions: &[Action], id: &str) -> bool {
    for action in actions {
        let all = |list: &[Condition]| list.iter().all(|c| holds(c, id) != Some(false));
        let sure = |list: &[Condition]| list.iter().all(|c| holds(c, id) == Some(true));
        let found = match &action.kind {
            ActionKind::Variables(_) => false,
            ActionKind::Condition(condition) => match holds(condition, id) {
                Some(false) => return false,
                _ => false,
            },
            ActionKind::If { conditions, then, otherwise } => {
                all(conditions) && leads(then, id) || !sure(conditions) && leads(otherwise, id)
            }
            ActionKind::Choose { branches, default } => {
                let taken = branches.iter().position(|branch| sure(&branch.conditions));
                let open = &branches[..taken.map_or(branches.len(), |at| at + 1)];
                open.iter().any(|branch| all(&branch.conditions) && leads(&branch.sequence, id))
                    || taken.is_none() && default.as_ref().is_some_and(|list| leads(list, id))
            }
            ActionKind::Sequence(list) => leads(list, id),
            ActionKind::Stop => return false,
            _ => true,
        };
        if found {
            return true;
        }
    }
    false
}
