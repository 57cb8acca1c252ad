//! The events that operations are made of.
//!
//! - An operation on a register, or on data, is a read, a write, or both.
//! - An operation on any other object is a read-modify-write of the object's state, which acquires
//!   and releases: such objects are sequentially consistent. If it would wait in the state that it
//!   reads, it is that read alone, and its thread waits until a write revisits it.
//! - A wait at a condition variable is two: at the condition, and then at the lock.
//! - A spawn comes before the thread's first event; a join after its exit.

use super::behaviour::NodeId;
use super::graph::{Event, Graph, Id, Kind};
use super::states::States;
use crate::ids::{ObjectId, ThreadId};
use crate::learn::Incomplete;
use crate::object::Object;
use crate::op::{Act, MemoryOrder};
use crate::program::Next;

/// The next event of a thread, as far as it is fixed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Want {
    /// A read.
    Read { node: NodeId, phase: u8, object: u32 },
    /// A write. Its place is open.
    Write(Event),
    /// One of several ways.
    Way { node: NodeId, count: u32 },
    /// Only this event.
    Event(Event),
}

impl Want {
    /// The first event of the operation at a place; `None` if it waits for what is not there.
    pub(super) fn of(
        graph: &Graph,
        node: NodeId,
        next: &Next,
        states: &States,
    ) -> Result<Option<Want>, Incomplete> {
        let object = next.op.object.0;
        let local = Event::local(0, node);
        let write = |value, releases, is_sc| {
            let kind = Kind::Write;
            Some(Want::Write(Event { kind, object, value, releases, is_sc, ..local }))
        };
        Ok(match &next.op.act {
            Act::Store(value, order) => {
                write(*value, order.releases(), *order == MemoryOrder::SeqCst)
            }
            Act::Alter(value) => write(*value, false, false),
            Act::Fence(order) => Some(Want::Event(Event {
                kind: Kind::Fence,
                acquires: order.acquires(),
                releases: order.releases(),
                is_sc: *order == MemoryOrder::SeqCst,
                ..local
            })),
            Act::Spawn(child) => {
                let value = u64::from(child.0);
                Some(Want::Event(Event { kind: Kind::Spawn, value, ..local }))
            }
            Act::Join => exit_of(graph, object, states).map(|(source, result)| {
                Want::Event(Event { kind: Kind::Join, source, result, ..local })
            }),
            // An invocation is the operations within it.
            Act::Fail(_) | Act::Invoke(_) | Act::Return { .. } | Act::Yield => {
                Some(Want::Event(local))
            }
            Act::Choose(count) => Some(Want::Way { node, count: *count }),
            Act::Await(_) => None,
            _ if next.op.object == ObjectId::NONE => {
                return Err(Incomplete::Unsupported(Box::new(next.op.clone())));
            }
            _ => Some(Want::Read { node, phase: 0, object }),
        })
    }

    /// The event of a thread within an operation that comes after its last one.
    pub(super) fn next_phase(last: &Event, act: &Act) -> Want {
        let phase = last.phase + 1;
        match (last.kind, act) {
            (Kind::Write, Act::Wait { lock, .. }) => {
                Want::Read { node: last.node, phase, object: lock.0 }
            }
            _ => {
                let (releases, is_sc) = match act {
                    Act::Update { success, .. } => {
                        (success.releases(), *success == MemoryOrder::SeqCst)
                    }
                    _ => (true, false),
                };
                Want::Write(Event {
                    kind: Kind::Write,
                    object: last.object,
                    value: last.value,
                    result: last.result,
                    phase,
                    releases,
                    is_sc,
                    is_exclusive: true,
                    is_done: !matches!(act, Act::Wait { .. }) || phase == 3,
                    is_end: matches!(act, Act::Exit(_)),
                    ..Event::local(last.thread, last.node)
                })
            }
        }
    }
}

/// The end of a thread, by the object where it is joined, and what it left.
fn exit_of(graph: &Graph, object: u32, states: &States) -> Option<(Id, u64)> {
    graph.order(object).iter().find_map(|id| match states.state(graph.event(*id).value) {
        Some(Object::End(Some(left))) => Some((*id, *left)),
        _ => None,
    })
}

/// What an operation does that begins with a read.
pub(super) struct Reading<'a> {
    pub(super) thread: u32,
    pub(super) act: &'a Act,
    pub(super) at: (NodeId, u8),
    pub(super) object: u32,
}

impl Reading<'_> {
    /// The result and what is written, if something is; `None` if it waits.
    pub(super) fn effect(
        &mut self,
        value: u64,
        way: u32,
        states: &mut States,
    ) -> Option<(u64, Option<u64>)> {
        match self.act {
            Act::Load(_) | Act::Use | Act::Access { .. } => Some((value, None)),
            Act::Update { change, bits, .. } => Some((value, change.of(value, *bits))),
            act => {
                let unlock;
                let act = match act {
                    Act::Wait { mode, .. } if self.at.1 >= 2 => {
                        unlock = Act::Unlock(*mode);
                        &unlock
                    }
                    act => act,
                };
                let thread = ThreadId(self.thread);
                let effect = states.perform((thread, act), self.at, value, way);
                let writes = |new: &u64| *new != value || !states.has_readers;
                effect.map(|(result, new)| (result, Some(new).filter(writes)))
            }
        }
    }

    /// The result if it reads this, unless it waits or changes something.
    pub(super) fn idle(&mut self, value: u64, states: &mut States) -> Option<u64> {
        let (result, new) = self.effect(value, 0, states)?;
        new.is_none_or(|new| new == value).then_some(result)
    }

    /// Whether it waits if it reads this.
    pub(super) fn waits(&mut self, value: u64, states: &mut States) -> bool {
        self.effect(value, 0, states).is_none()
    }

    /// Whether it writes if it reads this.
    pub(super) fn changes(&mut self, value: u64, states: &mut States) -> bool {
        self.effect(value, 0, states).is_some_and(|effect| effect.1.is_some())
    }

    /// In how many ways it can be done if it reads this.
    pub(super) fn ways(&mut self, value: u64, states: &mut States) -> u32 {
        if self.waits(value, states) { 1 } else { states.alternatives(self.act, value) }
    }

    /// The read.
    pub(super) fn event(&mut self, source: Id, value: u64, way: u32, states: &mut States) -> Event {
        let effect = self.effect(value, way, states);
        let writes = effect.is_some_and(|effect| effect.1.is_some());
        let order = match self.act {
            Act::Load(order) => *order,
            Act::Update { success, .. } if writes => *success,
            Act::Update { failure, .. } => *failure,
            Act::Use | Act::Access { .. } => MemoryOrder::Relaxed,
            _ => MemoryOrder::Acquire,
        };
        let (result, new) = effect.unwrap_or((0, None));
        Event {
            kind: Kind::Read,
            object: self.object,
            source,
            value: new.unwrap_or(0),
            result,
            alternative: way,
            phase: self.at.1,
            acquires: order.acquires(),
            is_sc: order == MemoryOrder::SeqCst,
            is_blocked: effect.is_none(),
            is_done: effect.is_some() && !writes,
            ..Event::local(self.thread, self.at.0)
        }
    }
}
