//! Lazily built states.
//!
//! Most successors have been seen before: a search hashes them, looks them up and drops them. So a
//! state may consist of its predecessor and the delta of the step. Its sum, and with it its
//! fingerprint, is computed at once. Its parts are built on first access.

use super::effect::{Effect, StepDelta};
use super::message::{Message, terms};
use super::parts::{GLOBAL, Parts, State, flags_term, swapped};
use crate::program::MailboxKind;
use crate::value::Value;
use std::cell::Cell;
use std::sync::{Arc, OnceLock};

thread_local! {
    /// A buffer for messages whose number is not known yet.
    static BUFFER: Cell<Vec<Message>> = const { Cell::new(Vec::new()) };
}

/// A state whose parts are not built yet: how to build them.
#[derive(Clone, Debug)]
pub(super) struct LazyState {
    from: Arc<Parts>,
    delta: Arc<StepDelta>,
    /// The position of the taken message among all messages; `u32::MAX` for none.
    taken: u32,
    /// The uid of the first posted message.
    uid: u64,
}

impl State {
    /// Returns the state after a step that takes a message, by its position among all, and applies
    /// a delta. `limits` are the most values in a container, also the most messages, and the
    /// greatest depth. Returns `None` if the delta is not simple, or if it would fail: an element
    /// is missing, or a limit is exceeded. Time and memory do not depend on the state, except for
    /// the messages behind one that is taken from an ordered mailbox.
    #[inline]
    pub(crate) fn after(
        &self,
        taken: Option<usize>,
        delta: &Arc<StepDelta>,
        limits: (u32, u16),
    ) -> Option<State> {
        let from = self.parts();
        let count = from.messages().len() + delta.posts;
        if !delta.simple || count > limits.0 as usize || count >= u32::MAX as usize {
            return None;
        }
        let (mut sum, mut flags) = (self.sum, self.flags);
        if let Some(taken) = taken {
            sum = sum.wrapping_sub(taken_term(from.messages(), taken));
        }
        for (i, effect) in delta.effects.iter().enumerate() {
            match effect {
                Effect::Set { global, value, .. } => {
                    let old = from.globals.get(usize::from(*global));
                    if !old.is_identical(value) {
                        let key = GLOBAL + u64::from(*global);
                        sum = swapped(sum, key, old.hash(), value.hash());
                    }
                }
                Effect::SetAt { global, index, value, .. } => {
                    let list = from.globals.get(usize::from(*global));
                    let (old, new) = element(list, index, value, limits)?;
                    if old != new {
                        sum = swapped(sum, GLOBAL + u64::from(*global), old, new);
                    }
                }
                Effect::Flag { flag, value } => {
                    let old = flags;
                    flags = flags & !(1 << flag) | (u64::from(*value) << flag);
                    sum = sum.wrapping_sub(flags_term(0, old)).wrapping_add(flags_term(0, flags));
                }
                Effect::Post { message, .. } => {
                    let position = match message.is_ordered() {
                        true => {
                            length_after(from.messages(), taken, &delta.effects[..i], message.queue)
                        }
                        false => 0,
                    };
                    sum = sum.wrapping_add(message.term(position));
                }
            }
        }
        let next_uid = self.next_uid + delta.posts as u64;
        let taken = taken.map_or(u32::MAX, |taken| taken as u32);
        let (from, delta, uid) = (from.clone(), delta.clone(), self.next_uid);
        let lazy = Some(LazyState { from, delta, taken, uid });
        Some(State { sum, flags, next_uid, parts: OnceLock::new(), lazy })
    }
}

/// Returns the hashes of a list before and after a write to one element; `None` if there is no such
/// element, or if the list would become too large.
#[inline]
fn element(
    list: &Value,
    index: &Value,
    value: &Value,
    (nodes_max, depth_max): (u32, u16),
) -> Option<(u128, u128)> {
    let (Value::List(items), Value::Int(at)) = (list, index) else { return None };
    let old = list.element(index)?;
    if old.is_identical(value) {
        return Some((0, 0));
    }
    let meta = &items.meta;
    let nodes = meta.nodes.saturating_sub(old.nodes()).saturating_add(value.nodes());
    if nodes > nodes_max || meta.depth.max(value.depth().saturating_add(1)) > depth_max {
        return None;
    }
    Some(items.hashes(*at as usize, value))
}

/// Returns what the sum loses when a message is taken.
#[inline]
fn taken_term(all: &[Message], taken: usize) -> u128 {
    let message = &all[taken];
    if !message.is_ordered() {
        return message.term(0);
    }
    let first = all.partition_point(|other| other.queue < message.queue);
    let behind = &all[taken + 1..];
    let behind = &behind[..behind.partition_point(|other| other.queue == message.queue)];
    let position = taken - first;
    let (old, new) = (terms(behind, position + 1), terms(behind, position));
    message.term(position).wrapping_add(old).wrapping_sub(new)
}

/// Returns the length of a mailbox after a message was taken and others were posted.
fn length_after(all: &[Message], taken: Option<usize>, before: &[Effect], queue: u32) -> usize {
    let is_in = |message: &&Message| message.queue == queue;
    let posts = before.iter().filter_map(|effect| match effect {
        Effect::Post { message, .. } => Some(message),
        _ => None,
    });
    let taken = taken.map(|taken| &all[taken]);
    all.iter().filter(is_in).count() + posts.filter(is_in).count()
        - taken.iter().filter(|message| is_in(message)).count()
}

impl LazyState {
    /// Builds the parts.
    #[cold]
    pub(super) fn make(&self) -> Arc<Parts> {
        let mut parts = Parts::clone(&self.from);
        let mut uid = self.uid;
        let takes = self.taken != u32::MAX;
        let mut mail = None;
        if takes || self.delta.posts > 0 {
            mail = Some(self.left(BUFFER.try_with(Cell::take).unwrap_or_default()));
        }
        for effect in &self.delta.effects {
            match effect {
                Effect::Set { global, value, .. } => {
                    if !parts.globals.get(usize::from(*global)).is_identical(value) {
                        *parts.globals.get_mut(usize::from(*global)) = value.clone();
                    }
                }
                Effect::SetAt { global, index, value, .. } => {
                    set_at(&mut parts, usize::from(*global), index, value);
                }
                Effect::Post { kind, message, .. } => {
                    if let Some(mail) = &mut mail {
                        insert(mail, *kind, message.with_uid(uid));
                    }
                    uid += 1;
                }
                Effect::Flag { .. } => {}
            }
        }
        if let Some(mut mail) = mail {
            parts.set_messages(mail.drain(..));
            let _ = BUFFER.try_with(|buffer| buffer.set(mail));
        }
        Arc::new(parts)
    }

    /// Appends the messages that are not taken to an empty list.
    fn left(&self, mut left: Vec<Message>) -> Vec<Message> {
        let all = self.from.messages();
        left.reserve(all.len() + self.delta.posts);
        match all.get(self.taken as usize) {
            Some(_) => {
                left.extend_from_slice(&all[..self.taken as usize]);
                left.extend_from_slice(&all[self.taken as usize + 1..]);
            }
            None => left.extend_from_slice(all),
        }
        left
    }
}

fn set_at(parts: &mut Parts, global: usize, index: &Value, value: &Value) {
    let (Value::List(list), Value::Int(at)) = (parts.globals.get(global), index) else { return };
    let at = *at as usize;
    if list.items()[at].is_identical(value) {
        return;
    }
    let list = list.with(at, value);
    *parts.globals.get_mut(global) = Value::List(list);
}

/// Inserts a message at its position in its mailbox, among all messages. Not for posts in front or
/// with a delay.
fn insert(all: &mut Vec<Message>, kind: MailboxKind, message: Message) {
    let first = all.partition_point(|other| other.queue < message.queue);
    let length = all[first..].partition_point(|other| other.queue == message.queue);
    let at = message.place_in(&all[first..first + length], kind);
    all.insert(first + at, message);
}
