//! States without the history that their names tell (C1 to C3): otherwise a task that posts itself
//! would have a new name, and so a new state, each time.

use crate::robust_brute::ast::Order;
use crate::robust_brute::code::Program;
use crate::robust_brute::machine::{Holder, Id, Message, State, Value};
use std::collections::BTreeMap;

/// Returns the state with short names. What is alive stays in its order, depth-first, because
/// serial runs go by it: an invocation that has ended leaves its place to what it posted.
pub(crate) fn renamed(program: &Program, state: State) -> State {
    let mut live: Vec<Id> = state.running.keys().cloned().collect();
    live.extend(state.pending.iter().map(|one| one.id.clone()));
    live.sort();
    let mut next = state;
    let new = shortened(&live);
    let ended = || Id::from([]);
    let value = |value: &mut Value| {
        if let Value::Handle(Some(id)) = value {
            *id = new.get(id).cloned().unwrap_or_else(ended);
        }
    };
    next.vars.iter_mut().for_each(value);
    for lock in &mut next.locks {
        if let Holder::Task(id) = lock {
            *id = new.get(id).cloned().unwrap_or_else(ended);
        }
    }
    let running = std::mem::take(&mut next.running);
    for (id, mut one) in running {
        one.registers.iter_mut().chain(&mut one.argument).for_each(value);
        let name = new[&id].clone();
        let is_child = |other: &&Id| other.len() == name.len() + 1 && other.starts_with(&name);
        one.posts = new.values().filter(is_child).count() as u16;
        next.running.insert(name, one);
    }
    in_order(program, &mut next.pending);
    for one in &mut next.pending {
        one.id = new[&one.id].clone();
        one.argument.iter_mut().for_each(value);
        one.due = if one.front { 0 } else { (one.due - next.clock).max(0) };
    }
    // Bags have no order.
    next.pending.sort_by_key(|one| {
        let keeps = one.mailbox.is_some_and(|at| program.mailboxes[at].order != Order::Bag);
        (one.mailbox, one.front, (!keeps && !one.front).then(|| one.id.clone()))
    });
    next.clock = 0;
    next
}

/// Puts the messages of delayed mailboxes into the order in which they are due.
fn in_order(program: &Program, pending: &mut [Message]) {
    pending.sort_by_key(|one| {
        let delayed = one.mailbox.is_some_and(|at| program.mailboxes[at].order == Order::Delayed);
        (one.mailbox, if delayed && !one.front { one.due } else { i64::MIN })
    });
}

/// Names in the same order: each is a child of the nearest one that is alive.
fn shortened(live: &[Id]) -> BTreeMap<Id, Id> {
    let mut new: BTreeMap<Id, Id> = BTreeMap::new();
    let mut children: BTreeMap<Option<Id>, u16> = BTreeMap::new();
    for id in live {
        let parent = live.iter().filter(|other| *other != id && id.starts_with(other));
        let parent = parent.max_by_key(|other| other.len()).cloned();
        let number = children.entry(parent.clone()).or_default();
        let name = match &parent {
            Some(parent) => new[parent].iter().copied().chain([*number]).collect(),
            None => Id::from([*number]),
        };
        *number += 1;
        new.insert(id.clone(), name);
    }
    new
}
