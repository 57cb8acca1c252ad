//! Locks, conditions, atomic sections, enabling of events.

use super::body::{Body, Cleanup};
use super::lowerer::literal;
use crate::ast::{Block, Expr, Ref, Stmt};
use crate::check::{ConstValue, Meaning};
use crate::source::Span;
use anyorder_program::{CondId, EventId, Literal, LockId, Op, Reg};

/// The result of lowering an event.
enum Events {
    /// One event, or one family.
    One(EventId),
    /// An event for each member, with the value of its parameter.
    Members(Vec<(Literal, EventId)>),
}

impl<'a> Body<'_, 'a> {
    /// Returns the index of an element, `NONE` for a single thing.
    pub(crate) fn index(&mut self, r: &'a Ref) -> Reg {
        r.index.as_ref().map_or(Reg::NONE, |i| self.expr(i))
    }

    fn lock(&mut self, r: &'a Ref) -> (LockId, Reg) {
        let id = match self.meaning(r.name.id) {
            Some(Meaning::Lock(id)) => id.into(),
            _ => LockId::default(),
        };
        (id, self.index(r))
    }

    fn condition(&mut self, r: &'a Ref) -> (CondId, Reg) {
        let id = match self.meaning(r.name.id) {
            Some(Meaning::Cond(id)) => id.into(),
            _ => CondId::default(),
        };
        (id, self.index(r))
    }

    /// The events of the machine that a reference denotes.
    fn event(&self, r: &Ref) -> Events {
        let Some(Meaning::Event(id)) = self.meaning(r.name.id) else {
            return Events::Members(vec![]);
        };
        let members = self.low.members(id);
        let over = self.low.tables.events[id.index()].index;
        match members.as_slice() {
            [(id, one)] if one.index.is_none() => Events::One(*id),
            _ => {
                let value = |index| literal(&ConstValue::member(over, index));
                let members = members.iter().filter_map(|(id, m)| Some((value(m.index?), *id)));
                Events::Members(members.collect())
            }
        }
    }

    pub(crate) fn acquire(&mut self, s: &Stmt, r: &'a Ref) {
        let (lock, index) = self.lock(r);
        self.emit_at(s.span, Op::Acquire { lock, index });
    }

    pub(crate) fn release_lock(&mut self, s: &Stmt, r: &'a Ref) {
        let (lock, index) = self.lock(r);
        self.emit_at(s.span, Op::Release { lock, index });
    }

    pub(crate) fn with_lock(&mut self, s: &Stmt, r: &'a Ref, body: &'a Block) {
        let (lock, index) = self.lock(r);
        // Copy it: the body may change the variable that holds the index.
        let index = match index.some() {
            Some(reg) => self.own(reg),
            None => Reg::NONE,
        };
        self.emit_at(r.span, Op::Acquire { lock, index });
        self.guarded(s, Cleanup::Release(lock, index), body);
    }

    pub(crate) fn atomic(&mut self, body: impl FnOnce(&mut Self)) {
        self.emit(Op::AtomicBegin);
        self.cleanups.push(Cleanup::AtomicEnd);
        body(self);
        self.cleanups.pop();
        self.cleanup(Cleanup::AtomicEnd);
    }

    fn guarded(&mut self, s: &Stmt, cleanup: Cleanup, body: &'a Block) {
        self.cleanups.push(cleanup);
        self.block(body, None);
        self.cleanups.pop();
        self.at(s.span);
        self.cleanup(cleanup);
    }

    pub(crate) fn wait(&mut self, s: &Stmt, cond: &'a Ref, lock: &'a Ref) {
        let (cond, cond_index) = self.condition(cond);
        let (lock, lock_index) = self.lock(lock);
        self.emit_at(s.span, Op::Wait { cond, cond_index, lock, lock_index });
    }

    pub(crate) fn notify(&mut self, s: &Stmt, cond: &'a Ref, all: bool) {
        let (cond, index) = self.condition(cond);
        let op = if all { Op::NotifyAll { cond, index } } else { Op::Notify { cond, index } };
        self.emit_at(s.span, op);
    }

    /// Lowers `enable e;` and `disable e[i];`.
    pub(crate) fn enable(&mut self, s: &Stmt, r: &'a Ref, on: bool) {
        let switch = |event: EventId, index: Reg| {
            if on { Op::Enable { event, index } } else { Op::Disable { event, index } }
        };
        match (self.event(r), &r.index) {
            (Events::One(event), _) => {
                let index = self.index(r);
                self.emit_at(s.span, switch(event, index));
            }
            (Events::Members(members), None) => {
                // One visible operation, of however many events of the machine (T6).
                self.emit_at(s.span, Op::AtomicBegin);
                for (_, event) in members {
                    self.emit_at(s.span, switch(event, Reg::NONE));
                }
                self.cleanup(Cleanup::AtomicEnd);
            }
            (Events::Members(members), Some(index)) => {
                self.of_member(s.span, index, &members, &|event| switch(event, Reg::NONE));
            }
        }
    }

    /// `enabled(e)`, `enabled(e[i])`.
    pub(crate) fn enabled(&mut self, e: &Expr, r: &'a Ref, dst: Reg) {
        match (self.event(r), &r.index) {
            (Events::One(event), _) => {
                let index = self.index(r);
                self.emit_at(e.span, Op::Enabled { dst, event, index });
            }
            (Events::Members(members), None) => {
                // All are read, as of a family that is one event of the machine (E4).
                let (result, one) = (self.temp(), self.temp());
                self.emit_at(e.span, Op::AtomicBegin);
                self.emit(Op::Bool { dst: result, value: true });
                for (_, event) in members {
                    let next = self.fb.label();
                    self.emit(Op::Enabled { dst: one, event, index: Reg::NONE });
                    self.fb.jump_if(one, next);
                    self.emit(Op::Bool { dst: result, value: false });
                    self.fb.bind(next);
                }
                self.cleanup(Cleanup::AtomicEnd);
                self.copy(dst, result);
            }
            (Events::Members(members), Some(index)) => {
                let enabled = |event| Op::Enabled { dst, event, index: Reg::NONE };
                self.of_member(e.span, index, &members, &enabled);
            }
        }
    }

    /// Performs an operation on the member of a family that an index names; a failure if there is
    /// none. Of an index type, all of it is one step: a thread must not rest where its place in
    /// the code would tell indices apart.
    fn of_member(
        &mut self,
        span: Span,
        index: &'a Expr,
        members: &[(Literal, EventId)],
        op: &dyn Fn(EventId) -> Op,
    ) {
        let index = self.expr(index);
        let (end, is) = (self.fb.label(), self.temp());
        let is_one_step = matches!(members, [(Literal::Index(..), _), ..]);
        if is_one_step {
            self.emit(Op::AtomicBegin);
        }
        for (value, event) in members {
            let other = self.fb.label();
            let mark = self.mark();
            let number = self.load(value, None);
            self.emit(Op::Eq { dst: is, a: index, b: number });
            self.release(mark);
            self.fb.jump_if_not(is, other);
            self.emit_at(span, op(*event));
            self.fb.jump(end);
            self.fb.bind(other);
        }
        self.no_member(span, index);
        self.fb.bind(end);
        if is_one_step {
            self.emit(Op::AtomicEnd);
        }
    }

    /// Fails with `index`: an empty list has no element. The failure belongs to the visible
    /// operation, not to the step before it.
    fn no_member(&mut self, span: Span, index: Reg) {
        self.at(span);
        self.emit(Op::AtomicBegin);
        let list = self.temp();
        self.emit(Op::List { dst: list, args: list, count: 0 });
        self.emit(Op::Index { dst: list, src: list, index });
    }
}
