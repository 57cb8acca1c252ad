//! The effects of a step on the state.

use super::message::Message;
use crate::program::MailboxKind;
use crate::value::Value;

/// A change, relative to the state before it. `by` is the component that changes memory.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// A global gets a value.
    Set { global: u16, value: Value, by: u16 },
    /// An element of the list or map in a global gets a value.
    SetAt { global: u16, index: Value, value: Value, by: u16 },
    /// A flag is set or cleared.
    Flag { flag: usize, value: bool },
    /// A message is posted. It gets its uid when the effect is applied.
    Post { kind: MailboxKind, first: bool, message: Message },
}

impl Effect {
    /// Returns whether the effect fails in some states: a list without the element, a full mailbox.
    pub(crate) fn can_fail(&self) -> bool {
        matches!(self, Effect::SetAt { .. } | Effect::Post { .. })
    }
}

/// All effects of a step in order, except that it takes its message.
#[derive(Clone, Debug)]
pub(crate) struct StepDelta {
    pub(crate) effects: Box<[Effect]>,
    /// The number of messages it posts.
    pub(crate) posts: usize,
    /// Whether the outcome can be hashed before it is built: no global changes twice, and each post
    /// goes to the end of a `fifo` mailbox or anywhere in a bag.
    pub(crate) simple: bool,
}

impl StepDelta {
    /// Makes a delta. Leaves out overwritten elements, unless `keep_all`.
    pub(crate) fn new(mut effects: Vec<Effect>, simple: bool, keep_all: bool) -> StepDelta {
        if !keep_all {
            simplify(&mut effects);
        }
        let global = |effect: &Effect| match effect {
            Effect::Set { global, .. } | Effect::SetAt { global, .. } => Some(*global),
            _ => None,
        };
        let fits = |(i, effect): (usize, &Effect)| match effect {
            Effect::Set { .. } | Effect::SetAt { .. } => {
                !effects[..i].iter().any(|other| global(other) == global(effect))
            }
            Effect::Flag { flag, .. } => *flag < 64,
            Effect::Post { kind, first, .. } => !first && *kind != MailboxKind::Delayed,
        };
        let simple = simple && effects.iter().enumerate().all(fits);
        let posts = effects.iter().filter(|effect| matches!(effect, Effect::Post { .. })).count();
        StepDelta { effects: effects.into(), posts, simple }
    }
}

/// Removes a write to an element if a later write to the same element is no smaller. A limit that
/// the removed write would exceed is then exceeded by the later write, too.
fn simplify(effects: &mut Vec<Effect>) {
    let mut at = 0;
    while at < effects.len() {
        if is_overwritten(&effects[at], &effects[at + 1..]) {
            effects.remove(at);
        } else {
            at += 1;
        }
    }
}

fn is_overwritten(effect: &Effect, later: &[Effect]) -> bool {
    let Effect::SetAt { global, index, value, .. } = effect else { return false };
    for other in later {
        match other {
            Effect::SetAt { global: g, index: i, value: v, .. } if g == global && i == index => {
                return v.nodes() >= value.nodes() && v.depth() >= value.depth();
            }
            Effect::Set { global: g, .. } if g == global => return false,
            _ => {}
        }
    }
    false
}
