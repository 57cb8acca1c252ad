//! Events that wait in the queue of the hub.
//!
//! Each event is a task of one handler, the hub. The outside goes on while few events wait: a
//! button may be pressed between a command and the handlers of its event.

use super::emit::Emitter;
use super::events;
use crate::unfold::EventKey;
use anyorder_program::{
    FuncId, FunctionBuilder, GlobalId, HandlerId, Literal, MailboxKind, Op, PostId, PostTarget,
    ProgramBuilder, Reg,
};
use std::collections::BTreeMap;

/// Events of the outside come while fewer events than this wait.
const WAITING_MAX: i32 = 2;

/// The queue of a program.
pub(super) struct Queue {
    hub: HandlerId,
    /// How many events wait.
    waiting: GlobalId,
    posts: BTreeMap<EventKey, PostId>,
}

impl Queue {
    pub(super) fn new(b: &mut ProgramBuilder) -> Queue {
        let hub = b.handler("hub", MailboxKind::Fifo, None);
        let waiting = b.global("events that wait", Literal::Int(0));
        Queue { hub, waiting, posts: BTreeMap::new() }
    }

    fn count(&self, f: &mut FunctionBuilder, more: i32) {
        let global = self.waiting;
        let old = f.value(|dst| Op::GetGlobal { dst, global });
        let new = f.value(|dst| Op::AddInt { dst, a: old, value: more });
        f.emit(Op::SetGlobal { global, src: new });
    }

    /// Puts an event into the queue. The register has its depth.
    pub(super) fn put(&self, f: &mut FunctionBuilder, event: &EventKey, depth: Reg) {
        let Some(post) = self.posts.get(event).copied() else { return };
        self.count(f, 1);
        f.emit(Op::Post { dst: Reg::NONE, post, args: depth });
    }
}

impl Emitter<'_, '_> {
    /// Adds a task that delivers an event from the queue.
    pub(super) fn wait_for(&mut self, event: &EventKey, function: FuncId) {
        let name = events::shown(self.world, event);
        let mut f = self.b.function(&name, 1);
        let Some(queue) = &self.queue else { return };
        let hub = queue.hub;
        queue.count(&mut f, -1);
        events::called(self, &mut f, function, Reg(0));
        f.emit(Op::ReturnNull);
        let body = self.b.add(f);
        let task = self.b.task(&name, body, Some(hub));
        let post = self.b.post(task, PostTarget::Own);
        if let Some(queue) = &mut self.queue {
            queue.posts.insert(event.clone(), post);
        }
    }

    /// Ends a guard of the outside: it holds if this does, and the queue has room.
    pub(super) fn end_guard(&self, g: &mut FunctionBuilder, holds: Reg) {
        if let Some(queue) = &self.queue {
            let full = g.label();
            let waiting = g.value(|dst| Op::GetGlobal { dst, global: queue.waiting });
            let most = g.value(|dst| Op::Int { dst, value: WAITING_MAX });
            let room = g.value(|dst| Op::Lt { dst, a: waiting, b: most });
            g.jump_if_not(room, full);
            g.emit(Op::Return { src: holds });
            g.bind(full);
            g.emit(Op::Return { src: room });
            return;
        }
        g.emit(Op::Return { src: holds });
    }
}
