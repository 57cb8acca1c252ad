//! Compiles models: what a block does, and how control gets from one place to another.

use crate::ast::{Block, Expr, Model, Operator, Stmt, Word};
use crate::code::{Body, Mailbox, Member, Op, Position, Program, Register};

/// Compiles a model.
pub(crate) fn compile(model: &Model) -> Program {
    let compiler = Compiler { model };
    let mut mailboxes = Vec::new();
    for handler in &model.handlers {
        let one = Mailbox { order: handler.order, daemon: handler.daemon };
        mailboxes.extend(vec![one; if handler.array { 2 } else { 1 }]);
    }
    let members_of = |event: usize| compiler.members_of(event);
    let mut members = Vec::new();
    for (at, event) in model.events.iter().enumerate() {
        for member in 0..if event.family { 2 } else { 1 } {
            let named = (at, event.family.then_some(member));
            let place = model.driver.iter().position(|other| *other == named);
            let earlier = &model.driver[..place.unwrap_or(0)];
            let started =
                earlier.iter().map(|(event, at)| members_of(*event)[at.unwrap_or(0) as usize]);
            members.push(Member {
                event: at,
                mailbox: event.home.map(|(handler, at)| compiler.mailbox(handler) + at),
                once: event.once,
                disabled: event.disabled,
                daemon: event.daemon,
                parameter: event.family.then_some(member),
                guard: event.guard.as_ref().map(|guard| compiler.guard(guard)),
                body: compiler.body(&event.body),
                after: event.after.iter().flat_map(|other| members_of(*other)).collect(),
                started: started.collect(),
            });
        }
    }
    Program {
        vars: model.vars.clone(),
        locks: model.locks,
        mailboxes,
        codes: model.codes.iter().map(|code| compiler.body(&code.body)).collect(),
        daemons: model.codes.iter().map(|code| code.daemon).collect(),
        members,
        init: compiler.body(&model.init),
        mutant: None,
    }
}

pub(crate) struct Compiler<'a> {
    pub(crate) model: &'a Model,
}

impl Compiler<'_> {
    pub(crate) fn mailbox(&self, handler: usize) -> usize {
        self.model.handlers[..handler].iter().map(|one| if one.array { 2 } else { 1 }).sum()
    }

    pub(crate) fn members_of(&self, event: usize) -> Vec<usize> {
        let count = |at: usize| if self.model.events[at].family { 2 } else { 1 };
        let first: usize = (0..event).map(count).sum();
        (first..first + count(event)).collect()
    }

    fn body(&self, block: &Block) -> Body {
        let mut writer = Writer::new(self);
        writer.block(block);
        writer.land_returns();
        Body { ops: writer.ops, places: writer.places, registers: writer.registers }
    }

    /// The answer of a guard is in register 0.
    fn guard(&self, guard: &Expr) -> Body {
        let mut writer = Writer::new(self);
        let answer = writer.fresh();
        let value = writer.expr(guard);
        writer.push(Op::Copy(answer, value));
        Body { ops: writer.ops, places: writer.places, registers: writer.registers }
    }
}

/// What a jump out of a block has to close.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Lock(usize, Position),
    Atomic,
}

/// A loop around the present statement.
struct Cycle {
    depth: usize,
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

/// A call that was put in place.
pub(crate) struct Inlined {
    locals: Vec<(usize, Register)>,
    pub(crate) parameter: Option<Register>,
    open: usize,
    returns: Vec<usize>,
}

pub(crate) struct Writer<'a> {
    pub(crate) compiler: &'a Compiler<'a>,
    pub(crate) ops: Vec<Op>,
    places: Vec<Position>,
    /// The place in the text of what is written now.
    pub(crate) here: Position,
    registers: usize,
    open: Vec<Open>,
    cycles: Vec<Cycle>,
    calls: Vec<Inlined>,
}

pub(crate) fn position<T>(node: &T) -> Position {
    std::ptr::from_ref(node) as usize
}

impl<'a> Writer<'a> {
    fn new(compiler: &'a Compiler<'a>) -> Writer<'a> {
        let mut writer = Writer {
            compiler,
            ops: Vec::new(),
            places: Vec::new(),
            here: 0,
            registers: 0,
            open: Vec::new(),
            cycles: Vec::new(),
            calls: Vec::new(),
        };
        writer.enter(None);
        writer
    }

    pub(crate) fn push(&mut self, op: Op) {
        self.ops.push(op);
        self.places.push(self.here);
    }

    fn enter(&mut self, parameter: Option<Register>) {
        let open = self.open.len();
        let (locals, returns) = (Vec::new(), Vec::new());
        self.calls.push(Inlined { locals, parameter, open, returns });
    }

    fn land_returns(&mut self) {
        let call = self.calls.pop().expect("a call");
        let here = self.ops.len();
        self.patch(&call.returns, here);
    }

    pub(crate) fn patch(&mut self, jumps: &[usize], to: usize) {
        for at in jumps {
            match &mut self.ops[*at] {
                Op::Jump(target) | Op::Unless(_, target) => *target = to,
                other => unreachable!("{other:?} is no jump"),
            }
        }
    }

    pub(crate) fn fresh(&mut self) -> Register {
        self.registers += 1;
        self.registers - 1
    }

    pub(crate) fn call(&mut self) -> &mut Inlined {
        self.calls.last_mut().expect("a body")
    }

    pub(crate) fn local(&mut self, name: usize) -> Register {
        let known = self.call().locals.iter().rev().find(|(other, _)| *other == name);
        known.expect("a local in scope").1
    }

    pub(crate) fn declare(&mut self, name: usize) -> Register {
        let register = self.fresh();
        self.call().locals.push((name, register));
        register
    }

    /// Writes a block. Its locals, and what its statements computed, are forgotten after it.
    fn block(&mut self, block: &Block) {
        let scope = self.call().locals.len();
        let first = self.registers;
        let outer = self.here;
        for stmt in block {
            self.stmt(stmt);
        }
        self.call().locals.truncate(scope);
        self.here = outer;
        self.push(Op::Clear(first, self.registers));
    }

    fn jump(&mut self) -> usize {
        self.push(Op::Jump(0));
        self.ops.len() - 1
    }

    pub(crate) fn unless(&mut self, condition: Register) -> usize {
        self.push(Op::Unless(condition, 0));
        self.ops.len() - 1
    }

    /// Leaves all that was opened since.
    fn close(&mut self, depth: usize) {
        let open: Vec<Open> = self.open[depth..].iter().rev().copied().collect();
        for one in open {
            self.push(match one {
                Open::Lock(lock, at) => Op::Release(lock, at),
                Open::Atomic => Op::AtomicEnd,
            });
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.here = position(stmt);
        match stmt {
            Stmt::Let(name, value) => {
                let to = self.fresh();
                let first = self.registers;
                let value = self.expr(value);
                self.push(Op::Copy(to, value));
                self.push(Op::Clear(first, self.registers));
                self.call().locals.push((*name, to));
            }
            Stmt::LetChoose(name, count) => {
                let to = self.declare(*name);
                self.push(Op::Choose(*count, to));
            }
            Stmt::Post(post) => self.post(post),
            Stmt::If(condition, block, other) => {
                let skip = self.condition(condition);
                self.block(block);
                let end = self.jump();
                let here = self.ops.len();
                self.patch(&[skip], here);
                other.iter().for_each(|other| self.block(other));
                let here = self.ops.len();
                self.patch(&[end], here);
            }
            Stmt::Match(subject, arms, other) => self.arms(subject, arms, other),
            Stmt::While(condition, block) => {
                let start = self.ops.len();
                self.cycles.push(Cycle {
                    depth: self.open.len(),
                    breaks: Vec::new(),
                    continues: Vec::new(),
                });
                let skip = self.condition(condition);
                self.block(block);
                self.push(Op::Jump(start));
                let here = self.ops.len();
                self.patch(&[skip], here);
                self.land(start, here);
            }
            Stmt::Loop(block) => {
                let start = self.ops.len();
                self.cycles.push(Cycle {
                    depth: self.open.len(),
                    breaks: Vec::new(),
                    continues: Vec::new(),
                });
                self.block(block);
                self.push(Op::Jump(start));
                let here = self.ops.len();
                self.land(start, here);
            }
            Stmt::For(name, end, block) => self.count(*name, *end, block),
            Stmt::With(lock, block) => {
                let at = position(stmt);
                self.push(Op::Acquire(*lock, at));
                self.open.push(Open::Lock(*lock, at));
                self.block(block);
                self.open.pop();
                self.push(Op::Release(*lock, at));
            }
            Stmt::Atomic(block) => {
                self.push(Op::AtomicBegin);
                self.open.push(Open::Atomic);
                self.block(block);
                self.open.pop();
                self.push(Op::AtomicEnd);
            }
            Stmt::Choose(blocks, _) => self.choose(blocks),
            Stmt::Break | Stmt::Continue => {
                let depth = self.cycles.last().expect("a loop").depth;
                self.close(depth);
                let jump = self.jump();
                let cycle = self.cycles.last_mut().expect("a loop");
                match stmt {
                    Stmt::Break => cycle.breaks.push(jump),
                    _ => cycle.continues.push(jump),
                }
            }
            Stmt::Return => {
                let open = self.call().open;
                self.close(open);
                let jump = self.jump();
                self.call().returns.push(jump);
            }
            Stmt::Call(code, argument, _) => {
                let argument = argument.as_ref().map(|argument| self.expr(argument));
                let code = &self.compiler.model.codes[*code];
                assert!(code.word != Word::Task, "tasks are posted only");
                self.enter(argument);
                self.block(&code.body);
                self.land_returns();
            }
            _ => {
                let first = self.registers;
                self.simple(stmt);
                self.push(Op::Clear(first, self.registers));
            }
        }
    }

    /// Jumps of the innermost loop, which ends here.
    fn land(&mut self, start: usize, end: usize) {
        let cycle = self.cycles.pop().expect("a loop");
        self.patch(&cycle.breaks, end);
        self.patch(&cycle.continues, start);
    }

    fn condition(&mut self, condition: &Expr) -> usize {
        let value = self.expr(condition);
        self.unless(value)
    }

    fn arms(&mut self, subject: &Expr, arms: &[(i64, Block)], other: &Block) {
        let subject = self.expr(subject);
        let mut ends = Vec::new();
        for (value, block) in arms {
            let (wanted, equal) = (self.fresh(), self.fresh());
            self.push(Op::Int(wanted, *value));
            self.push(Op::Binary(equal, Operator::Equal, subject, wanted, 0));
            let skip = self.unless(equal);
            self.block(block);
            ends.push(self.jump());
            let here = self.ops.len();
            self.patch(&[skip], here);
        }
        self.block(other);
        let here = self.ops.len();
        self.patch(&ends, here);
    }

    fn count(&mut self, name: usize, end: i64, block: &Block) {
        let (counter, end_at, one, more) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.push(Op::Int(counter, -1));
        self.push(Op::Int(end_at, end));
        self.push(Op::Int(one, 1));
        let start = self.ops.len();
        self.cycles.push(Cycle {
            depth: self.open.len(),
            breaks: Vec::new(),
            continues: Vec::new(),
        });
        self.push(Op::Binary(counter, Operator::Add, counter, one, 0));
        self.push(Op::Binary(more, Operator::Less, counter, end_at, 0));
        let skip = self.unless(more);
        let scope = self.call().locals.len();
        let to = self.declare(name);
        self.push(Op::Copy(to, counter));
        self.block(block);
        self.call().locals.truncate(scope);
        self.push(Op::Jump(start));
        let here = self.ops.len();
        self.patch(&[skip], here);
        self.land(start, here);
        for register in [counter, end_at, one, more, to] {
            self.push(Op::Clear(register, register + 1));
        }
    }

    fn choose(&mut self, blocks: &[Block]) {
        let (chosen, wanted, equal) = (self.fresh(), self.fresh(), self.fresh());
        self.push(Op::Choose(blocks.len() as i64, chosen));
        let mut ends = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            self.push(Op::Int(wanted, at as i64));
            self.push(Op::Binary(equal, Operator::Equal, chosen, wanted, 0));
            let skip = self.unless(equal);
            self.block(block);
            ends.push(self.jump());
            let here = self.ops.len();
            self.patch(&[skip], here);
        }
        let here = self.ops.len();
        self.patch(&ends, here);
        self.push(Op::Clear(chosen, equal + 1));
    }
}
