//! States that are made when they are looked at.
//!
//! Most of what steps lead to has been seen before: it is hashed, looked up and thrown away. So a state may be the one that it came from
//! and what was done to it. Its sum, and with it its fingerprint, is worked out at once; its parts, by whoever looks at them first.

use super::effect::{Deed, Effect};
use super::message::{Message, terms};
use super::parts::{GLOBAL, Parts, State, flags_term, swapped};
use crate::program::MailboxKind;
use crate::value::Value;
use std::cell::Cell;
use std::sync::{Arc, OnceLock};

thread_local! {
    /// Where messages are put together before it is known how many there are.
    static ROOM: Cell<Vec<Message>> = const { Cell::new(Vec::new()) };
}

/// What a state is made of.
#[derive(Clone, Debug)]
pub(super) struct Later {
    from: Arc<Parts>,
    deed: Arc<Deed>,
    /// The position of the message that was taken, among all; `u32::MAX` for none.
    taken: u32,
    /// The number for the name of what is posted first.
    uid: u64,
}

impl State {
    /// Returns what a step leads to that takes a message, by its position among all, and does a deed; `None` where that is not simple, or would
    /// fail: containers larger than `nodes_max` and `depth_max` allow, more than `nodes_max` messages. Time and memory do not depend on
    /// the state, but for what is behind a message that is taken from an ordered mailbox.
    #[inline]
    pub(crate) fn after(
        &self,
        taken: Option<usize>,
        deed: &Arc<Deed>,
        limits: (u32, u16),
    ) -> Option<State> {
        let from = self.shared_parts();
        let count = from.messages().len() + deed.posts;
        if !deed.simple || count > limits.0 as usize || count >= u32::MAX as usize {
            return None;
        }
        let (mut sum, mut flags) = (self.sum, self.flags);
        if let Some(taken) = taken {
            sum = sum.wrapping_sub(taking(from.messages(), taken));
        }
        for (i, effect) in deed.effects.iter().enumerate() {
            match effect {
                Effect::Set { global, value, .. } => {
                    let old = from.globals.get(usize::from(*global));
                    if !old.is_same(value) {
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
                        true => end(from.messages(), taken, &deed.effects[..i], message.queue),
                        false => 0,
                    };
                    sum = sum.wrapping_add(message.term(position));
                }
            }
        }
        let next_uid = self.next_uid + deed.posts as u64;
        let taken = taken.map_or(u32::MAX, |taken| taken as u32);
        let (from, deed, uid) = (from.clone(), deed.clone(), self.next_uid);
        let later = Some(Later { from, deed, taken, uid });
        Some(State { sum, flags, next_uid, parts: OnceLock::new(), later })
    }
}

/// The hashes of a list as it is and with another value in one place; `None` where there is no such place, or it would become too large.
#[inline]
fn element(
    list: &Value,
    index: &Value,
    value: &Value,
    (nodes_max, depth_max): (u32, u16),
) -> Option<(u128, u128)> {
    let (Value::List(list), Value::Int(at)) = (list, index) else { return None };
    let at = usize::try_from(*at).ok()?;
    let old = list.items().get(at)?;
    if old.is_same(value) {
        return Some((0, 0));
    }
    let meta = list.meta();
    let nodes = meta.nodes.saturating_sub(old.nodes()).saturating_add(value.nodes());
    if nodes > nodes_max || meta.depth.max(value.depth().saturating_add(1)) > depth_max {
        return None;
    }
    Some(list.hashes(at, value))
}

/// What the sum loses when a message is taken.
#[inline]
fn taking(all: &[Message], taken: usize) -> u128 {
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

/// The length of a mailbox after a message was taken and others were posted.
fn end(all: &[Message], taken: Option<usize>, before: &[Effect], queue: u32) -> usize {
    let is_in = |message: &&Message| message.queue == queue;
    let posts = before.iter().filter_map(|effect| match effect {
        Effect::Post { message, .. } => Some(message),
        _ => None,
    });
    let taken = taken.map(|taken| &all[taken]);
    all.iter().filter(is_in).count() + posts.filter(is_in).count()
        - taken.iter().filter(|message| is_in(message)).count()
}

impl Later {
    /// Makes the parts.
    #[cold]
    pub(super) fn make(&self) -> Arc<Parts> {
        let mut parts = Parts::clone(&self.from);
        let mut uid = self.uid;
        let takes = self.taken != u32::MAX;
        let mut mail = None;
        if takes || self.deed.posts > 0 {
            mail = Some(self.left(ROOM.try_with(Cell::take).unwrap_or_default()));
        }
        for effect in &self.deed.effects {
            match effect {
                Effect::Set { global, value, .. } => {
                    if !parts.globals.get(usize::from(*global)).is_same(value) {
                        *parts.globals.get_mut(usize::from(*global)) = value.clone();
                    }
                }
                Effect::SetAt { global, index, value, .. } => {
                    set_at(&mut parts, usize::from(*global), index, value);
                }
                Effect::Post { kind, message, .. } => {
                    if let Some(mail) = &mut mail {
                        insert(mail, *kind, message.posted(uid));
                    }
                    uid += 1;
                }
                Effect::Flag { .. } => {}
            }
        }
        if let Some(mut mail) = mail {
            parts.set_messages(mail.drain(..));
            let _ = ROOM.try_with(|room| room.set(mail));
        }
        Arc::new(parts)
    }

    /// The messages that are not taken, in an empty list.
    fn left(&self, mut left: Vec<Message>) -> Vec<Message> {
        let all = self.from.messages();
        left.reserve(all.len() + self.deed.posts);
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
    if list.items()[at].is_same(value) {
        return;
    }
    let list = list.with(at, value);
    *parts.globals.get_mut(global) = Value::List(list);
}

/// Puts a message where its mailbox wants it, among all; not in front, and not by time.
fn insert(all: &mut Vec<Message>, kind: MailboxKind, message: Message) {
    let first = all.partition_point(|other| other.queue < message.queue);
    let length = all[first..].partition_point(|other| other.queue == message.queue);
    let queue = &all[first..first + length];
    let at = match kind {
        MailboxKind::Bag => queue.partition_point(|m| m.front || m.bag_key() <= message.bag_key()),
        _ => length,
    };
    all.insert(first + at, message);
}
