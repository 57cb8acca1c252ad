//! Two-phase commit, as Gray and Lamport's "Consensus on Transaction Commit" has it, by hand:
//! resource managers, one transaction manager, a set of messages that only grows.

use anyorder_vm::program::{
    Builtin, EnumId, Family, FuncId, FunctionBuilder, GlobalId, Label, Literal, Op, Program,
    ProgramBuilder, Reg,
};

struct Model {
    b: ProgramBuilder,
    rm: GlobalId,
    tm: GlobalId,
    prepared: GlobalId,
    msgs: GlobalId,
    msg: EnumId,
    count: u16,
    states: EnumId,
    tms: EnumId,
}

// Variants.
const WORKING: u16 = 0;
const PREPARED: u16 = 1;
const COMMITTED: u16 = 2;
const ABORTED: u16 = 3;
const TM_INIT: u16 = 0;
const TM_COMMITTED: u16 = 1;
const TM_ABORTED: u16 = 2;
const MSG_PREPARED: u16 = 0;
const MSG_COMMIT: u16 = 1;
const MSG_ABORT: u16 = 2;

impl Model {
    /// Goes to `no` unless the transaction manager is in its first state.
    fn tm_is_init(&self, f: &mut FunctionBuilder, no: Label) {
        let (tm, is) = (f.reg(), f.reg());
        f.emit(Op::GetGlobal { dst: tm, global: self.tm });
        f.emit(Op::IsVariant { dst: is, src: tm, ty: self.tms, variant: TM_INIT });
        f.jump_if_not(is, no);
    }

    /// Sets a register to whether a message was sent; `index` is its payload.
    fn sent(&self, f: &mut FunctionBuilder, variant: u16, index: Reg) -> Reg {
        let (msgs, msg, is) = (f.reg(), f.reg(), f.reg());
        f.emit(Op::GetGlobal { dst: msgs, global: self.msgs });
        f.emit(Op::Enum { dst: msg, ty: self.msg, variant, args: index });
        f.emit(Op::Method { dst: is, method: Builtin::Contains, recv: msgs, args: msg });
        is
    }

    fn send(&self, f: &mut FunctionBuilder, variant: u16, index: Reg) {
        let (msgs, msg, is) = (f.reg(), f.reg(), f.reg());
        f.emit(Op::Enum { dst: msg, ty: self.msg, variant, args: index });
        f.emit(Op::GetGlobal { dst: msgs, global: self.msgs });
        f.emit(Op::Method { dst: is, method: Builtin::Add, recv: msgs, args: msg });
        f.emit(Op::SetGlobal { global: self.msgs, src: msgs });
    }

    fn set_rm(&self, f: &mut FunctionBuilder, variant: u16) {
        let state = f.reg();
        f.emit(Op::Enum { dst: state, ty: self.states, variant, args: Reg(0) });
        f.emit(Op::SetGlobalAt { global: self.rm, index: Reg(0), src: state });
    }

    fn set_tm(&self, f: &mut FunctionBuilder, variant: u16) {
        let state = f.reg();
        f.emit(Op::Enum { dst: state, ty: self.tms, variant, args: Reg(0) });
        f.emit(Op::SetGlobal { global: self.tm, src: state });
    }

    /// Makes a function that is true unless a jump to the label is taken.
    fn test(
        &mut self,
        params: u16,
        body: impl FnOnce(&Model, &mut FunctionBuilder, Label),
    ) -> FuncId {
        let mut f = FunctionBuilder::new("guard", params, 0);
        let (no, result) = (f.label(), f.reg());
        body(self, &mut f, no);
        f.emit(Op::Bool { dst: result, value: true });
        f.emit(Op::Return { src: result });
        f.bind(no);
        f.emit(Op::Bool { dst: result, value: false });
        f.emit(Op::Return { src: result });
        self.b.add(f)
    }

    fn body(&mut self, params: u16, body: impl FnOnce(&Model, &mut FunctionBuilder)) -> FuncId {
        let mut f = FunctionBuilder::new("body", params, 0);
        body(self, &mut f);
        f.emit(Op::ReturnNull);
        self.b.add(f)
    }

    fn event(&mut self, name: &str, family: bool, guard: FuncId, body: FuncId) {
        let event = self.b.event(name, body);
        let count = self.count;
        if let Some(event) = self.b.event_mut(event) {
            event.guard = Some(guard);
            event.family = family.then_some(Family { first: 0, count, index: None });
        }
    }

    fn working(&mut self) -> FuncId {
        self.test(1, |m, f, no| {
            let (rm, is) = (f.reg(), f.reg());
            f.emit(Op::GetGlobalAt { dst: rm, global: m.rm, index: Reg(0) });
            f.emit(Op::IsVariant { dst: is, src: rm, ty: m.states, variant: WORKING });
            f.jump_if_not(is, no);
        })
    }
}

/// Makes the program for a number of resource managers.
pub(crate) fn two_phase(count: u16) -> Program {
    let mut b = ProgramBuilder::new("two_phase");
    let states =
        b.enumeration("Rm", &[("Working", 0), ("Prepared", 0), ("Committed", 0), ("Aborted", 0)]);
    let tms = b.enumeration("Tm", &[("Init", 0), ("Committed", 0), ("Aborted", 0)]);
    let msg = b.enumeration("Msg", &[("Prepared", 1), ("Commit", 0), ("Abort", 0)]);
    let n = usize::from(count);
    let rm = b.global("rm", Literal::List(vec![Literal::Enum(states, WORKING, vec![]); n]));
    let tm = b.global("tm", Literal::Enum(tms, TM_INIT, vec![]));
    let prepared = b.global("prepared", Literal::List(vec![Literal::Bool(false); n]));
    let msgs = b.global("msgs", Literal::Set(vec![]));
    let mut m = Model { b, rm, tm, prepared, msgs, msg, count, states, tms };

    let guard = m.test(0, |m, f, no| {
        m.tm_is_init(f, no);
        let (list, at, length, more, item) = (f.reg(), f.reg(), f.reg(), f.reg(), f.reg());
        f.emit(Op::GetGlobal { dst: list, global: m.prepared });
        f.emit(Op::Method { dst: length, method: Builtin::Len, recv: list, args: list });
        f.emit(Op::Int { dst: at, value: 0 });
        let (head, done) = (f.label(), f.label());
        f.bind(head);
        f.emit(Op::Lt { dst: more, a: at, b: length });
        f.jump_if_not(more, done);
        f.emit(Op::Index { dst: item, src: list, index: at });
        f.jump_if_not(item, no);
        f.emit(Op::AddInt { dst: at, a: at, value: 1 });
        f.jump(head);
        f.bind(done);
    });
    let body = m.body(0, |m, f| {
        m.set_tm(f, TM_COMMITTED);
        m.send(f, MSG_COMMIT, Reg(0));
    });
    m.event("tm_commit", false, guard, body);

    let guard = m.test(0, |m, f, no| m.tm_is_init(f, no));
    let body = m.body(0, |m, f| {
        m.set_tm(f, TM_ABORTED);
        m.send(f, MSG_ABORT, Reg(0));
    });
    m.event("tm_abort", false, guard, body);

    let guard = m.test(1, |m, f, no| {
        m.tm_is_init(f, no);
        let is = m.sent(f, MSG_PREPARED, Reg(0));
        f.jump_if_not(is, no);
    });
    let body = m.body(1, |m, f| {
        let yes = f.reg();
        f.emit(Op::Bool { dst: yes, value: true });
        f.emit(Op::SetGlobalAt { global: m.prepared, index: Reg(0), src: yes });
    });
    m.event("tm_rcv_prepared", true, guard, body);

    let guard = m.working();
    let body = m.body(1, |m, f| {
        m.set_rm(f, PREPARED);
        m.send(f, MSG_PREPARED, Reg(0));
    });
    m.event("rm_prepare", true, guard, body);

    let guard = m.working();
    let body = m.body(1, |m, f| m.set_rm(f, ABORTED));
    m.event("rm_choose_to_abort", true, guard, body);

    for (name, variant, state) in
        [("rm_rcv_commit", MSG_COMMIT, COMMITTED), ("rm_rcv_abort", MSG_ABORT, ABORTED)]
    {
        let guard = m.test(1, |m, f, no| {
            let is = m.sent(f, variant, Reg(0));
            f.jump_if_not(is, no);
        });
        let body = m.body(1, |m, f| m.set_rm(f, state));
        m.event(name, true, guard, body);
    }
    m.b.finish().expect("the program is valid")
}
