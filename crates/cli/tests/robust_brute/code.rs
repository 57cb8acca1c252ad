//! Models as instructions for the interpreter: bodies with all calls put in place.

use crate::robust_brute::ast::{
    Block, Expr, Kept, Lane, Model, Operator, Order, Place, Post, Stmt, Target, VarKind, Word,
};
use crate::robust_brute::machine::Runs;
use crate::robust_brute::mutants::Mutant;

/// A register of a body.
pub(crate) type Register = usize;

/// The place in the text of something that may fail: the address of its node.
pub(crate) type Position = usize;

/// A shared location that an instruction accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shared {
    Var(usize),
    Element(usize, Register),
}

/// Where a posted task goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    Own,
    Handler(usize),
    /// An element of an array of two.
    Element(usize, Register),
}

/// An instruction. The first group is visible: each is a step of its own.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Read(Shared, Register, Position),
    Write(Shared, Register, Position),
    Post {
        code: usize,
        argument: Option<Register>,
        goal: Goal,
        delay: Option<Register>,
        front: bool,
        handle: Register,
        at: Position,
    },
    Cancel(Register),
    Enable(Vec<usize>, bool),
    Enabled(Vec<usize>, Register),
    Acquire(usize, Position),
    Release(usize, Position),
    Choose(i64, Register),
    Yield,
    AtomicBegin,
    // Invisible.
    AtomicEnd,
    Int(Register, i64),
    Copy(Register, Register),
    Parameter(Register),
    Binary(Register, Operator, Register, Register, Position),
    Not(Register, Register),
    Push(Register, Register),
    Pop(Register, Position),
    Whole(Register),
    Unless(Register, usize),
    Jump(usize),
    Assert(Register, Position),
    Assume(Register),
    Fail(Position),
    Clear(Register, Register),
}

impl Program {
    pub(crate) fn body(&self, runs: Runs) -> &Body {
        match runs {
            Runs::Init => &self.init,
            Runs::Member(member) => &self.members[member].body,
            Runs::Code(code) => &self.codes[code],
        }
    }
}

impl Op {
    pub(crate) fn is_visible(&self) -> bool {
        matches!(
            self,
            Op::Read(..)
                | Op::Write(..)
                | Op::Post { .. }
                | Op::Cancel(_)
                | Op::Enable(..)
                | Op::Enabled(..)
                | Op::Acquire(..)
                | Op::Release(..)
                | Op::Choose(..)
                | Op::Yield
                | Op::AtomicBegin
        )
    }
}

/// The instructions of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) ops: Vec<Op>,
    /// The place in the text of each instruction.
    pub(crate) places: Vec<Position>,
    pub(crate) registers: usize,
}

/// A handler, or an element of an array of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mailbox {
    pub(crate) order: Order,
    pub(crate) daemon: bool,
}

/// An event, or a member of a family.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) event: usize,
    pub(crate) mailbox: Option<usize>,
    pub(crate) once: bool,
    pub(crate) disabled: bool,
    pub(crate) daemon: bool,
    pub(crate) parameter: Option<i64>,
    pub(crate) guard: Option<Body>,
    pub(crate) body: Body,
    /// Members that must have started and not be running.
    pub(crate) after: Vec<usize>,
    /// Members that must have started: those before it in the driver.
    pub(crate) started: Vec<usize>,
}

/// A model for the interpreter.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) vars: Vec<VarKind>,
    pub(crate) locks: usize,
    pub(crate) mailboxes: Vec<Mailbox>,
    pub(crate) codes: Vec<Body>,
    /// Which of them may wait for ever.
    pub(crate) daemons: Vec<bool>,
    pub(crate) members: Vec<Member>,
    pub(crate) init: Body,
    /// A rule that brute force gets wrong, on purpose.
    pub(crate) mutant: Option<Mutant>,
}

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

struct Compiler<'a> {
    model: &'a Model,
}

impl Compiler<'_> {
    fn mailbox(&self, handler: usize) -> usize {
        self.model.handlers[..handler].iter().map(|one| if one.array { 2 } else { 1 }).sum()
    }

    fn members_of(&self, event: usize) -> Vec<usize> {
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
struct Inlined {
    locals: Vec<(usize, Register)>,
    parameter: Option<Register>,
    open: usize,
    returns: Vec<usize>,
}

struct Writer<'a> {
    compiler: &'a Compiler<'a>,
    ops: Vec<Op>,
    places: Vec<Position>,
    /// The place in the text of what is written now.
    here: Position,
    registers: usize,
    open: Vec<Open>,
    cycles: Vec<Cycle>,
    calls: Vec<Inlined>,
}

fn position<T>(node: &T) -> Position {
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

    fn push(&mut self, op: Op) {
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

    fn patch(&mut self, jumps: &[usize], to: usize) {
        for at in jumps {
            match &mut self.ops[*at] {
                Op::Jump(target) | Op::Unless(_, target) => *target = to,
                other => unreachable!("{other:?} is no jump"),
            }
        }
    }

    fn fresh(&mut self) -> Register {
        self.registers += 1;
        self.registers - 1
    }

    fn call(&mut self) -> &mut Inlined {
        self.calls.last_mut().expect("a body")
    }

    fn local(&mut self, name: usize) -> Register {
        let known = self.call().locals.iter().rev().find(|(other, _)| *other == name);
        known.expect("a local in scope").1
    }

    fn declare(&mut self, name: usize) -> Register {
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

    fn unless(&mut self, condition: Register) -> usize {
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

    fn simple(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(place, value) => {
                let value = self.expr(value);
                self.assign(place, value, position(stmt));
            }
            Stmt::Add(place, value) => {
                let value = self.expr(value);
                self.add(place, value, position(stmt));
            }
            Stmt::Increment(place) => {
                let one = self.fresh();
                self.push(Op::Int(one, 1));
                self.add(place, one, position(stmt));
            }
            Stmt::Push(var, value) => {
                let (value, list) = (self.expr(value), self.fresh());
                self.push(Op::Read(Shared::Var(*var), list, 0));
                self.push(Op::Push(list, value));
                self.push(Op::Write(Shared::Var(*var), list, 0));
            }
            Stmt::Pop(var) => {
                let list = self.fresh();
                self.push(Op::Read(Shared::Var(*var), list, 0));
                self.push(Op::Pop(list, position(stmt)));
                self.push(Op::Write(Shared::Var(*var), list, 0));
            }
            Stmt::Assert(condition, _) => {
                let condition = self.expr(condition);
                self.push(Op::Assert(condition, position(stmt)));
            }
            Stmt::Fail => self.push(Op::Fail(position(stmt))),
            Stmt::Assume(condition) => {
                let condition = self.expr(condition);
                self.push(Op::Assume(condition));
            }
            Stmt::Cancel(place) => {
                let handle = self.read(place, 0);
                self.push(Op::Cancel(handle));
            }
            Stmt::Enable(event, at, on) => {
                let members = self.compiler.members_of(*event);
                let members = match at {
                    Some(at) => vec![members[*at as usize]],
                    None => members,
                };
                self.push(Op::Enable(members, *on));
            }
            Stmt::Acquire(lock) => self.push(Op::Acquire(*lock, position(stmt))),
            Stmt::Release(lock) => self.push(Op::Release(*lock, position(stmt))),
            Stmt::Yield => self.push(Op::Yield),
            other => unreachable!("{other:?} is written elsewhere"),
        }
    }

    fn post(&mut self, post: &Post) {
        let argument = post.argument.as_ref().map(|argument| self.expr(argument));
        let code = &self.compiler.model.codes[post.code];
        let home = |lane: Option<Lane>| match lane {
            Some((handler, at)) => Goal::Handler(self.compiler.mailbox(handler) + at),
            None => Goal::Own,
        };
        let goal = match &post.target {
            Target::Home => home(code.home),
            Target::To(handler, None) => Goal::Handler(self.compiler.mailbox(*handler)),
            Target::To(handler, Some(index)) => {
                let index = self.expr(index);
                Goal::Element(self.compiler.mailbox(*handler), index)
            }
            Target::AsyncMain => {
                let handlers = &self.compiler.model.handlers;
                let main = handlers.iter().position(|one| one.name == "main");
                Goal::Handler(self.compiler.mailbox(main.expect("`main`")))
            }
            Target::AsyncAny | Target::Any => Goal::Own,
        };
        let delay = post.after.as_ref().map(|delay| self.expr(delay));
        let handle = match post.kept {
            Kept::Local(name) => self.declare(name),
            _ => self.fresh(),
        };
        self.push(Op::Post {
            code: post.code,
            argument,
            goal,
            delay,
            front: post.front,
            handle,
            at: position(post),
        });
        if let Kept::Var(var) = post.kept {
            self.push(Op::Write(Shared::Var(var), handle, 0));
        }
        let local = matches!(post.kept, Kept::Local(_));
        let temporary = [argument, delay].into_iter().flatten();
        let handle = (!local).then_some(handle);
        let all: Vec<Register> = temporary.chain(handle).collect();
        all.into_iter().for_each(|one| self.push(Op::Clear(one, one + 1)));
    }

    fn shared(&mut self, place: &Place) -> Option<Shared> {
        match place {
            Place::Var(var) => Some(Shared::Var(*var)),
            Place::Element(var, index) => Some(Shared::Element(*var, self.expr(index))),
            Place::Local(_) => None,
        }
    }

    fn assign(&mut self, place: &Place, value: Register, at: Position) {
        match (self.shared(place), place) {
            (Some(shared), _) => self.push(Op::Write(shared, value, at)),
            (None, Place::Local(name)) => {
                let to = self.local(*name);
                self.push(Op::Copy(to, value));
            }
            _ => {}
        }
    }

    fn add(&mut self, place: &Place, value: Register, at: Position) {
        let sum = self.fresh();
        match (self.shared(place), place) {
            (Some(shared), _) => {
                self.push(Op::Read(shared, sum, at));
                self.push(Op::Binary(sum, Operator::Add, sum, value, at));
                self.push(Op::Write(shared, sum, at));
            }
            (None, Place::Local(name)) => {
                let to = self.local(*name);
                self.push(Op::Binary(to, Operator::Add, to, value, at));
            }
            _ => {}
        }
    }

    fn read(&mut self, place: &Place, at: Position) -> Register {
        match (self.shared(place), place) {
            (Some(shared), _) => {
                let to = self.fresh();
                self.push(Op::Read(shared, to, at));
                to
            }
            (None, Place::Local(name)) => {
                // A copy: the local may change before the value is used.
                let (to, from) = (self.fresh(), self.local(*name));
                self.push(Op::Copy(to, from));
                to
            }
            _ => unreachable!("a place is shared or a local"),
        }
    }

    fn expr(&mut self, expr: &Expr) -> Register {
        let outer = std::mem::replace(&mut self.here, position(expr));
        let value = self.value(expr);
        self.here = outer;
        value
    }

    fn value(&mut self, expr: &Expr) -> Register {
        match expr {
            Expr::Place(place) => self.read(place, position(expr)),
            Expr::Int(value) => {
                let to = self.fresh();
                self.push(Op::Int(to, *value));
                to
            }
            Expr::Whole(var) => {
                let to = self.fresh();
                self.push(Op::Read(Shared::Var(*var), to, 0));
                self.push(Op::Whole(to));
                to
            }
            Expr::Parameter => {
                let to = self.fresh();
                match self.call().parameter {
                    Some(from) => self.push(Op::Copy(to, from)),
                    None => self.push(Op::Parameter(to)),
                }
                to
            }
            Expr::Not(inner) => {
                let (inner, to) = (self.expr(inner), self.fresh());
                self.push(Op::Not(to, inner));
                to
            }
            Expr::Enabled(event) => {
                let to = self.fresh();
                self.push(Op::Enabled(self.compiler.members_of(*event), to));
                to
            }
            Expr::Binary(operator @ (Operator::And | Operator::Or), a, b) => {
                // The right side is evaluated only if it decides.
                let (to, a) = (self.fresh(), self.expr(a));
                self.push(Op::Copy(to, a));
                let test = self.fresh();
                match operator {
                    Operator::And => self.push(Op::Copy(test, a)),
                    _ => self.push(Op::Not(test, a)),
                }
                let skip = self.unless(test);
                let b = self.expr(b);
                self.push(Op::Copy(to, b));
                let here = self.ops.len();
                self.patch(&[skip], here);
                to
            }
            Expr::Binary(operator, a, b) => {
                let (a, b, to) = (self.expr(a), self.expr(b), self.fresh());
                self.push(Op::Binary(to, *operator, a, b, position(expr)));
                to
            }
        }
    }
}
