//! Locks, conditions, atomic sections, enabling of events.

use super::body::{Body, Cleanup, Val};
use super::fold::Member;
use super::symbols::{EventIds, Symbol};
use super::ty::Ty;
use crate::ast::{Block, Expr, Ref, Stmt};
use crate::diagnostic::Code;
use crate::source::Span;
use anyorder_vm::program::{CondId, EventId, LockId, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// The index of an element, `NONE` for a single thing.
    pub(crate) fn index(&mut self, r: &'a Ref) -> Reg {
        r.index.as_ref().map_or(Reg::NONE, |i| self.expr(i).reg)
    }

    fn lock(&mut self, r: &'a Ref) -> (LockId, Reg) {
        let Some(Symbol::Lock(l)) = self.low.symbols.get(&r.name.name) else {
            self.low.error(Code::WRONG_KIND, r.span, format!("`{}` is no lock", r.name.name));
            return (LockId::default(), Reg::NONE);
        };
        let id = self.low.symbols.locks[l].id;
        (id, self.index(r))
    }

    fn condition(&mut self, r: &'a Ref) -> (CondId, Reg) {
        let Some(Symbol::Cond(c)) = self.low.symbols.get(&r.name.name) else {
            self.low.error(Code::WRONG_KIND, r.span, format!("`{}` is no condition", r.name.name));
            return (CondId::default(), Reg::NONE);
        };
        let id = self.low.symbols.conds[c].id;
        (id, self.index(r))
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
        // A copy: the body may change the variable that the index came from.
        let index = match index.some() {
            Some(reg) => self.own(&Val::new(reg, Ty::Any)),
            None => Reg::NONE,
        };
        self.emit_at(r.span, Op::Acquire { lock, index });
        self.guarded(s, Cleanup::Release(lock, index), body);
    }

    pub(crate) fn atomic(&mut self, body: &'a Block) {
        self.emit(Op::AtomicBegin);
        self.cleanups.push(Cleanup::AtomicEnd);
        self.block(body);
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

    /// `enable e;`, `disable e[i];`.
    pub(crate) fn enable(&mut self, s: &Stmt, r: &'a Ref, on: bool) {
        let Some(Symbol::Event(i)) = self.low.symbols.get(&r.name.name) else {
            self.low.error(Code::WRONG_KIND, r.span, format!("`{}` is no event", r.name.name));
            return;
        };
        let ids = self.low.symbols.events[i].ids.clone();
        let switch = |event: EventId, index: Reg| {
            if on { Op::Enable { event, index } } else { Op::Disable { event, index } }
        };
        match ids {
            EventIds::One(event) => {
                let index = self.index(r);
                self.emit_at(s.span, switch(event, index));
            }
            EventIds::Members(first, ids) => match &r.index {
                None => {
                    // One visible operation, of however many events of the machine (T6).
                    self.emit_at(s.span, Op::AtomicBegin);
                    for event in ids {
                        self.emit_at(s.span, switch(event, Reg::NONE));
                    }
                    self.cleanup(Cleanup::AtomicEnd);
                }
                Some(index) => {
                    let first = self.low.member(self.low.symbols.events[i].decl, first);
                    self.enable_member(s, index, first, &ids, &switch);
                }
            },
        }
    }

    fn enable_member(
        &mut self,
        s: &Stmt,
        index: &'a Expr,
        first: Member,
        ids: &[EventId],
        switch: &dyn Fn(EventId, Reg) -> Op,
    ) {
        let index = self.expr(index).reg;
        let end = self.fb.label();
        let is = self.temp();
        self.one_step(first, true);
        for (event, number) in ids.iter().zip(first.number..) {
            let other = self.fb.label();
            let mark = self.mark();
            let number = self.load(&Member { number, ..first }.literal(), None).reg;
            self.emit(Op::Eq { dst: is, a: index, b: number });
            self.release(mark);
            self.fb.jump_if_not(is, other);
            self.emit_at(s.span, switch(*event, Reg::NONE));
            self.fb.jump(end);
            self.fb.bind(other);
        }
        self.no_member(s.span, index);
        self.fb.bind(end);
        self.one_step(first, false);
    }

    /// In front of and behind code that looks for a member of a family: a thread must not rest at one of them, where its place
    /// in the code would tell indices apart.
    fn one_step(&mut self, family: Member, begin: bool) {
        if family.index.is_some() {
            self.emit(if begin { Op::AtomicBegin } else { Op::AtomicEnd });
        }
    }

    /// `enabled(e)`, `enabled(e[i])`.
    pub(crate) fn enabled(&mut self, e: &Expr, r: &'a Ref, want: Option<Reg>) -> Val {
        let Some(Symbol::Event(i)) = self.low.symbols.get(&r.name.name) else {
            let message = format!("`{}` is no event", r.name.name);
            return self.unknown(Code::WRONG_KIND, r.span, message);
        };
        let dst = self.dst(want);
        let mark = self.mark();
        match self.low.symbols.events[i].ids.clone() {
            EventIds::One(event) => {
                let index = self.index(r);
                self.emit_at(e.span, Op::Enabled { dst, event, index });
            }
            EventIds::Members(first, ids) => {
                let first = self.low.member(self.low.symbols.events[i].decl, first);
                self.members_enabled(e, r, first, &ids, dst);
            }
        }
        self.release(mark);
        Val::new(dst, Ty::Bool)
    }

    fn members_enabled(&mut self, e: &Expr, r: &'a Ref, first: Member, ids: &[EventId], dst: Reg) {
        let end = self.fb.label();
        let result = self.temp();
        let Some(index) = &r.index else {
            self.at(e.span);
            self.emit(Op::AtomicBegin);
            self.emit(Op::Bool { dst: result, value: true });
            for event in ids {
                self.emit(Op::Enabled { dst: result, event: *event, index: Reg::NONE });
                self.fb.jump_if_not(result, end);
            }
            self.fb.bind(end);
            self.cleanup(Cleanup::AtomicEnd);
            self.copy(dst, result);
            return;
        };
        let index = self.expr(index).reg;
        self.one_step(first, true);
        for (event, number) in ids.iter().zip(first.number..) {
            let other = self.fb.label();
            let number = self.load(&Member { number, ..first }.literal(), None).reg;
            self.emit(Op::Eq { dst: result, a: index, b: number });
            self.fb.jump_if_not(result, other);
            self.emit_at(e.span, Op::Enabled { dst: result, event: *event, index: Reg::NONE });
            self.fb.jump(end);
            self.fb.bind(other);
        }
        self.no_member(e.span, index);
        self.fb.bind(end);
        self.one_step(first, false);
        self.copy(dst, result);
    }

    /// A failure of index: an empty list has no element. It is one of the visible operation, which is not in the step before.
    fn no_member(&mut self, span: Span, index: Reg) {
        self.at(span);
        self.emit(Op::AtomicBegin);
        let list = self.temp();
        self.emit(Op::List { dst: list, args: list, count: 0 });
        self.emit(Op::Index { dst: list, src: list, index });
    }
}
