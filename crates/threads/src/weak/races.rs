//! Races on plain data in a complete execution.
//!
//! The search takes every operation on a lock, a queue and so on to synchronise with all before it.
//! Races are found by what really does: the events are taken in a linear order, and happens-before
//! is that of [`Views`], in which what a register's write leaves is kept by write.

use super::behaviour::NodeId;
use super::graph::{Graph, Kind};
use crate::ids::{SiteId, ThreadId};
use crate::learn::Sabotage;
use crate::op::{Act, Op};
use crate::races::{Race, Slots, Views};
use rustc_hash::FxHashMap;

pub(super) fn races(
    graph: &Graph,
    op_of: &dyn Fn(NodeId) -> (Op, SiteId),
    sabotage: super::Sabotage,
) -> Vec<Race> {
    let (mut views, mut slots) = (Views::new(Sabotage::None), Slots::default());
    // By write, what whoever synchronises with it learns.
    let mut messages = FxHashMap::default();
    let mut races = Vec::new();
    for id in graph.linear() {
        let event = graph.event(id);
        let is_register =
            |op: &Op| matches!(op.act, Act::Load(_) | Act::Store(..) | Act::Update { .. });
        let (op, site) = op_of(event.node);
        let key = (op.object, false);
        let by_source = sabotage != super::Sabotage::RacesByLastWrite;
        if event.kind == Kind::Read && is_register(&op) && by_source {
            match messages.get(&event.source) {
                Some(message) => drop(views.objects.insert(key, Clone::clone(message))),
                None => drop(views.objects.remove(&key)),
            }
        }
        if event.is_done {
            let seen = (ThreadId(event.thread), &op, site);
            races.append(&mut views.note(seen, event.result, &mut slots));
        }
        if event.kind == Kind::Write
            && is_register(&op)
            && let Some(message) = views.objects.get(&key)
        {
            messages.insert(id, message.clone());
        }
    }
    races
}
