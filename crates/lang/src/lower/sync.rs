//! Locks, conditions, atomic sections, enabling of events.

use super::body::{Body, Cleanup};
use super::lowerer::{literal, number};
use crate::ast::{Block, Expr, Ref, Stmt};
use crate::check::{ConstValue, Meaning};
use crate::source::Span;
use anyorder_vm::program::{CondId, EventId, Literal, LockId, Op, Reg};

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
            Some(Meaning::Lock(id)) => LockId(number(id.0)),
            _ => LockId::default(),
        };
        (id, self.index(r))
    }

    fn condition(&mut self, r: &'a Ref) -> (CondId, Reg) {
        let id = match self.meaning(r.name.id) {
            Some(Meaning::Cond(id)) => CondId(number(id.0)),
            _ => CondId::default(),
        };
        (id, self.index(r))
    }

    /// Returns the events of the machine that a reference to an event means.
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
        self.block(body);
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
        match self.event(r) {
            Events::One(event) => {
                let index = self.index(r);
                self.emit_at(s.span, switch(event, index));
            }
            Events::Members(ids) => match &r.index {
                None => {
                    // This is one visible operation, even if it affects several events of the
                    // machine (T6).
                    self.emit_at(s.span, Op::AtomicBegin);
                    for (_, event) in ids {
                        self.emit_at(s.span, switch(event, Reg::NONE));
                    }
                    self.cleanup(Cleanup::AtomicEnd);
                }
                Some(index) => self.enable_member(s, index, &ids, &switch),
            },
        }
    }

    fn enable_member(
        &mut self,
        s: &Stmt,
        index: &'a Expr,
        ids: &[(Literal, EventId)],
        switch: &dyn Fn(EventId, Reg) -> Op,
    ) {
        let index = self.expr(index);
        let end = self.fb.label();
        let is = self.temp();
        self.one_step(ids, true);
        for (value, event) in ids {
            let other = self.fb.label();
            let mark = self.mark();
            let number = self.load(value, None);
            self.emit(Op::Eq { dst: is, a: index, b: number });
            self.release(mark);
            self.fb.jump_if_not(is, other);
            self.emit_at(s.span, switch(*event, Reg::NONE));
            self.fb.jump(end);
            self.fb.bind(other);
        }
        self.no_member(s.span, index);
        self.fb.bind(end);
        self.one_step(ids, false);
    }

    /// Surrounds the code that finds a member of a family over an index type. A thread must not
    /// rest inside that code, because its position there would distinguish indices.
    fn one_step(&mut self, ids: &[(Literal, EventId)], begin: bool) {
        if matches!(ids, [(Literal::Index(..), _), ..]) {
            self.emit(if begin { Op::AtomicBegin } else { Op::AtomicEnd });
        }
    }

    /// Lowers `enabled(e)` and `enabled(e[i])`.
    pub(crate) fn enabled(&mut self, e: &Expr, r: &'a Ref, want: Option<Reg>) -> Reg {
        let dst = self.dst(want);
        let mark = self.mark();
        match self.event(r) {
            Events::One(event) => {
                let index = self.index(r);
                self.emit_at(e.span, Op::Enabled { dst, event, index });
            }
            Events::Members(ids) => self.members_enabled(e, r, &ids, dst),
        }
        self.release(mark);
        dst
    }

    fn members_enabled(&mut self, e: &Expr, r: &'a Ref, ids: &[(Literal, EventId)], dst: Reg) {
        let end = self.fb.label();
        let result = self.temp();
        let Some(index) = &r.index else {
            self.at(e.span);
            self.emit(Op::AtomicBegin);
            self.emit(Op::Bool { dst: result, value: true });
            for (_, event) in ids {
                self.emit(Op::Enabled { dst: result, event: *event, index: Reg::NONE });
                self.fb.jump_if_not(result, end);
            }
            self.fb.bind(end);
            self.cleanup(Cleanup::AtomicEnd);
            self.copy(dst, result);
            return;
        };
        let index = self.expr(index);
        self.one_step(ids, true);
        for (value, event) in ids {
            let other = self.fb.label();
            let number = self.load(value, None);
            self.emit(Op::Eq { dst: result, a: index, b: number });
            self.fb.jump_if_not(result, other);
            self.emit_at(e.span, Op::Enabled { dst: result, event: *event, index: Reg::NONE });
            self.fb.jump(end);
            self.fb.bind(other);
        }
        self.no_member(e.span, index);
        self.fb.bind(end);
        self.one_step(ids, false);
        self.copy(dst, result);
    }

    /// Emits an index failure: an empty list has no element. It belongs to the visible operation,
    /// not to the step before.
    fn no_member(&mut self, span: Span, index: Reg) {
        self.at(span);
        self.emit(Op::AtomicBegin);
        let list = self.temp();
        self.emit(Op::List { dst: list, args: list, count: 0 });
        self.emit(Op::Index { dst: list, src: list, index });
    }
}
