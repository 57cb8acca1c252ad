//! Random meaningful programs: few type errors, and many of all parts of states.

use super::random::Random;
use crate::program::{
    Builtin, ChoiceId, ClassId, CondId, Family, FuncId, FunctionBuilder, GlobalId, Granularity,
    HandlerId, Literal, LockId, MailboxKind, Op, Post, PostTarget, Program, ProgramBuilder, Reg,
    TaskId,
};

/// How often each kind of statement was generated.
pub(super) const KINDS: [&str; 16] = [
    "count",
    "new",
    "field",
    "link",
    "element",
    "set",
    "post",
    "post_object",
    "handle",
    "cancel",
    "lock",
    "wait",
    "notify",
    "choose",
    "fork",
    "branch",
];

pub(super) struct Generator<'r> {
    random: &'r mut Random,
    b: ProgramBuilder,
    ints: Vec<GlobalId>,
    refs: Vec<GlobalId>,
    list: GlobalId,
    set: GlobalId,
    handle: GlobalId,
    node: ClassId,
    lock: LockId,
    cond: CondId,
    handlers: Vec<HandlerId>,
    tasks: Vec<TaskId>,
    choice: ChoiceId,
    forked: FuncId,
    pub(super) used: [u32; 16],
}

/// The registers of a generated function.
struct Regs {
    int: Reg,
    obj: Reg,
    other: Reg,
    test: Reg,
    scratch: Reg,
}

/// Makes a program, and counts the kinds of its statements.
pub(super) fn generate(random: &mut Random, used: &mut [u32; 16]) -> Program {
    let mut b = ProgramBuilder::new("random");
    let ints = vec![b.global("x", Literal::Int(0)), b.global("y", Literal::Int(1))];
    let refs = vec![b.global("p", Literal::Null), b.global("q", Literal::Null)];
    let list = b.global("xs", Literal::List(vec![Literal::Int(0), Literal::Int(0)]));
    let set = b.global("s", Literal::Set(vec![]));
    let handle = b.global("h", Literal::Null);
    let node = b.class("Node", &["next", "v"]);
    let (lock, cond) = (b.lock("m", None), b.cond("c", None));
    let kinds = [MailboxKind::Fifo, MailboxKind::Bag, MailboxKind::Delayed];
    let handlers = kinds.map(|kind| b.handler("h", kind, None)).to_vec();
    let choice = b.choice(&["a", "b"]);
    let forked = b.declare_function();
    let bodies = [b.declare_function(), b.declare_function()];
    let tasks = bodies.map(|body| b.task("t", body, Some(HandlerId(0)))).to_vec();
    let mut g = Generator {
        random,
        b,
        ints,
        refs,
        list,
        set,
        handle,
        node,
        lock,
        cond,
        handlers,
        tasks,
        choice,
        forked,
        used: [0; 16],
    };
    g.program(bodies);
    for (total, count) in used.iter_mut().zip(g.used) {
        *total += count;
    }
    g.b.finish().expect("generated programs are valid")
}

impl Generator<'_> {
    fn program(&mut self, bodies: [FuncId; 2]) {
        let access = self.random.chance(50);
        let mut settings = self.b.program().settings;
        settings.steps = 300;
        // Above what the test runs can make, garbage included. Otherwise runs would fail at the
        // limit.
        settings.size = 1_000;
        if access {
            settings.granularity = Granularity::Access;
        }
        self.b.settings(settings);
        let threads = self.random.below(3);
        for body in bodies {
            let f = self.function(1, access);
            self.b.define(body, f);
        }
        let f = self.function(1, true);
        self.b.define(self.forked, f);
        for i in 0..1 + self.random.below(2) {
            let f = self.function(1, access);
            let body = self.b.add(f);
            let event = self.b.event(&format!("e{i}"), body);
            let (handler, once) = (self.random.chance(50), self.random.chance(40));
            if let Some(event) = self.b.event_mut(event) {
                event.family = Some(Family { first: 0, count: 2, index: None });
                event.handler = handler.then_some((HandlerId(1), 0));
                event.once = once;
            }
        }
        for i in 0..threads {
            let f = self.function(0, true);
            let body = self.b.add(f);
            self.b.thread(&format!("t{i}"), None, body);
        }
    }

    fn function(&mut self, params: u16, stepwise: bool) -> FunctionBuilder {
        let mut f = FunctionBuilder::new("f", params, 0);
        let regs =
            Regs { int: f.reg(), obj: f.reg(), other: f.reg(), test: f.reg(), scratch: f.regs(3) };
        f.emit(Op::Int { dst: regs.int, value: 1 });
        for _ in 0..1 + self.random.below(4) {
            self.statement(&mut f, &regs, stepwise, 1);
        }
        f.emit(Op::ReturnNull);
        f
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.below(of.len())]
    }

    fn statement(&mut self, f: &mut FunctionBuilder, r: &Regs, stepwise: bool, depth: usize) {
        let kind = self.random.below(if depth > 0 { 16 } else { 15 });
        self.used[kind] += 1;
        let (int, reference) = (self.pick(&self.ints.clone()), self.pick(&self.refs.clone()));
        match kind {
            0 => self.count(f, r, int),
            1 => {
                f.emit(Op::GetGlobal { dst: r.scratch, global: reference });
                f.emit(Op::Move { dst: r.scratch.plus(1), src: r.int });
                f.emit(Op::New { dst: r.obj, class: self.node, args: r.scratch });
                f.emit(Op::SetGlobal { global: reference, src: r.obj });
            }
            2 => self.on_object(f, r, reference, |g, f, r| {
                f.emit(Op::GetField { dst: r.int, object: r.obj, class: g.node, field: 1 });
                f.emit(Op::AddInt { dst: r.int, a: r.int, value: 1 });
                g.modulo(f, r);
                f.emit(Op::SetField { object: r.obj, class: g.node, field: 1, src: r.int });
            }),
            3 => {
                let from = self.pick(&self.refs.clone());
                f.emit(Op::GetGlobal { dst: r.other, global: from });
                self.on_object(f, r, reference, |g, f, r| {
                    f.emit(Op::SetField { object: r.obj, class: g.node, field: 0, src: r.other });
                });
            }
            4 => {
                let at = self.random.below(2) as i32;
                f.emit(Op::Int { dst: r.scratch, value: at });
                f.emit(Op::GetGlobalAt { dst: r.int, global: self.list, index: r.scratch });
                f.emit(Op::AddInt { dst: r.int, a: r.int, value: 1 });
                self.modulo(f, r);
                f.emit(Op::SetGlobalAt { global: self.list, index: r.scratch, src: r.int });
            }
            5 => {
                f.emit(Op::GetGlobal { dst: r.obj, global: reference });
                f.emit(Op::GetGlobal { dst: r.other, global: self.set });
                let method = if self.random.chance(70) { Builtin::Add } else { Builtin::Remove };
                f.emit(Op::Method { dst: r.scratch, method, recv: r.other, args: r.obj });
                f.emit(Op::SetGlobal { global: self.set, src: r.other });
            }
            6 | 7 => self.post(f, r, reference, kind == 7, Reg::NONE),
            8 => {
                self.post(f, r, reference, false, r.scratch);
                f.emit(Op::SetGlobal { global: self.handle, src: r.scratch });
            }
            9 => {
                f.emit(Op::GetGlobal { dst: r.scratch, global: self.handle });
                f.emit(Op::Cancel { src: r.scratch });
            }
            10 => {
                f.emit(Op::Acquire { lock: self.lock, index: Reg::NONE });
                if depth > 0 {
                    self.statement(f, r, stepwise, 0);
                }
                if self.random.chance(80) {
                    f.emit(Op::Release { lock: self.lock, index: Reg::NONE });
                }
            }
            11 if stepwise => {
                let (cond, lock, none) = (self.cond, self.lock, Reg::NONE);
                f.emit(Op::Acquire { lock, index: none });
                f.emit(Op::Wait { cond, cond_index: none, lock, lock_index: none });
                f.emit(Op::Release { lock, index: none });
            }
            11 | 12 => {
                let (cond, index) = (self.cond, Reg::NONE);
                f.emit(if self.random.chance(60) {
                    Op::Notify { cond, index }
                } else {
                    Op::NotifyAll { cond, index }
                });
            }
            13 => {
                f.emit(Op::Choose { dst: r.int, choice: self.choice });
                f.emit(Op::SetGlobal { global: int, src: r.int });
            }
            14 => {
                let args = r.int;
                f.emit(Op::Fork { dst: r.scratch, func: self.forked, args });
                f.emit(Op::SetGlobal { global: self.handle, src: r.scratch });
                if stepwise && self.random.chance(50) {
                    f.emit(Op::Join { src: r.scratch });
                }
            }
            _ => {
                let skip = f.label();
                f.emit(Op::GetGlobal { dst: r.other, global: int });
                f.emit(Op::EqInt { dst: r.test, a: r.other, value: 1 });
                f.jump_if_not(r.test, skip);
                self.statement(f, r, stepwise, 0);
                f.bind(skip);
            }
        }
    }

    fn modulo(&mut self, f: &mut FunctionBuilder, r: &Regs) {
        f.emit(Op::Int { dst: r.scratch.plus(2), value: 3 });
        f.emit(Op::Rem { dst: r.int, a: r.int, b: r.scratch.plus(2) });
    }

    fn count(&mut self, f: &mut FunctionBuilder, r: &Regs, global: GlobalId) {
        f.emit(Op::GetGlobal { dst: r.int, global });
        f.emit(Op::AddInt { dst: r.int, a: r.int, value: 1 });
        self.modulo(f, r);
        f.emit(Op::SetGlobal { global, src: r.int });
    }

    /// Does something with the object in a global, if there is one.
    fn on_object(
        &mut self,
        f: &mut FunctionBuilder,
        r: &Regs,
        global: GlobalId,
        body: impl FnOnce(&mut Self, &mut FunctionBuilder, &Regs),
    ) {
        let skip = f.label();
        f.emit(Op::GetGlobal { dst: r.obj, global });
        f.emit(Op::Null { dst: r.test });
        f.emit(Op::Eq { dst: r.test, a: r.obj, b: r.test });
        f.jump_if(r.test, skip);
        body(self, f, r);
        f.bind(skip);
    }

    fn post(&mut self, f: &mut FunctionBuilder, r: &Regs, from: GlobalId, object: bool, dst: Reg) {
        let (task, handler) = (self.pick(&self.tasks.clone()), self.pick(&self.handlers.clone()));
        let target = match self.random.below(8) {
            0 => PostTarget::Any,
            1 => PostTarget::Own,
            _ => PostTarget::Handler(handler, Reg::NONE),
        };
        let delay = if self.random.chance(50) { r.scratch.plus(1) } else { Reg::NONE };
        let delay_value = self.random.below(4) as i32;
        f.emit(Op::Int { dst: r.scratch.plus(1), value: delay_value });
        let front = self.random.chance(15);
        let post = self.b.post_with(Post { task, target, delay, front });
        if object {
            f.emit(Op::GetGlobal { dst: r.obj, global: from });
        }
        f.emit(Op::Post { dst, post, args: if object { r.obj } else { r.int } });
    }
}
