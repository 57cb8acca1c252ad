//! The execution of one step: its instructions, one after another.

use crate::robust_brute::ast::{Operator, VarKind};
use crate::robust_brute::code::{Body, Goal, Op, Position, Program, Register, Shared};
use crate::robust_brute::machine::{
    Attempt, Fault, Holder, Id, Location, Log, Message, Posted, Running, Runs, State, Step, Value,
};

/// Most instructions of one step.
const STEP: usize = 10_000;

/// Why an instruction has no result.
pub(crate) enum Stop {
    Blocked,
    Fault(Fault),
}

/// A body that takes a step.
#[derive(Clone)]
pub(crate) struct Execution<'a> {
    pub(crate) program: &'a Program,
    pub(crate) state: State,
    pub(crate) running: Running,
    pub(crate) id: Id,
    /// Whether the visible operation of this step has happened.
    pub(crate) visible_done: bool,
    pub(crate) atomic: usize,
    pub(crate) log: Log,
}

impl<'a> Execution<'a> {
    fn body(&self) -> &'a Body {
        self.program.body(self.running.runs)
    }

    /// Returns the step in each of its alternatives.
    pub(crate) fn all(self) -> Attempt {
        let mut attempt = Attempt::default();
        let mut open = vec![self];
        while let Some(execution) = open.pop() {
            execution.run(&mut open, &mut attempt);
        }
        attempt
    }

    /// Runs to the end of the step. Other choices are left open.
    fn run(mut self, open: &mut Vec<Execution<'a>>, (done, waits): &mut Attempt) {
        let body = self.body();
        for _ in 0..STEP {
            let Some(op) = body.ops.get(self.running.at) else {
                // The body has ended, and is no longer in the state.
                return done.push(Step { id: self.id, log: self.log, next: Ok(self.state) });
            };
            if op.is_visible() && self.atomic == 0 {
                if self.visible_done {
                    self.state.running.insert(self.id.clone(), self.running);
                    return done.push(Step { id: self.id, log: self.log, next: Ok(self.state) });
                }
                self.visible_done = true;
            }
            self.running.at += 1;
            if let Op::Choose(count, to) = op {
                for chosen in (0..*count).rev() {
                    let mut other = self.clone();
                    other.running.registers[*to] = Value::Int(chosen);
                    open.push(other);
                }
                return;
            }
            match self.perform(op) {
                Ok(()) => {}
                Err(Stop::Blocked) => {
                    waits.insert(body.places[self.running.at - 1]);
                    return;
                }
                Err(Stop::Fault(fault)) => {
                    return done.push(Step { id: self.id, log: self.log, next: Err(fault) });
                }
            }
        }
        let fault = Fault("steps", 0, Vec::new());
        done.push(Step { id: self.id, log: self.log, next: Err(fault) });
    }

    fn get(&self, register: Register) -> &Value {
        &self.running.registers[register]
    }

    fn int(&self, register: Register) -> i64 {
        match self.get(register) {
            Value::Int(value) => *value,
            other => unreachable!("{other:?} is no int"),
        }
    }

    fn set(&mut self, register: Register, value: Value) {
        self.running.registers[register] = value;
    }

    /// Who this body is to locks.
    fn holder(&self) -> Holder {
        match (self.running.mailbox, self.running.runs) {
            (Some(mailbox), _) => Holder::Mailbox(mailbox),
            (None, Runs::Member(member)) => Holder::Event(member),
            _ => Holder::Task(self.id.clone()),
        }
    }

    fn access(&mut self, location: Location, write: bool) {
        self.log.accesses.push((location, write));
    }

    pub(crate) fn perform(&mut self, op: &Op) -> Result<(), Stop> {
        match op {
            Op::Read(shared, to, at) => self.read(*shared, *to, *at)?,
            Op::Write(shared, from, at) => self.write(*shared, *from, *at)?,
            Op::Post { .. } => self.post(op)?,
            Op::Cancel(handle) => self.cancel(*handle),
            Op::Enable(members, on) => {
                for member in members {
                    self.state.on[*member] = *on;
                    self.access(Location::Flag(*member), true);
                }
            }
            Op::Enabled(members, to) => {
                let mut all = true;
                for member in members {
                    let over = self.program.members[*member].once && self.state.count[*member] > 0;
                    all &= self.state.on[*member] && !over;
                    self.access(Location::Flag(*member), false);
                }
                self.set(*to, Value::Int(i64::from(all)));
            }
            Op::Acquire(lock, at) => {
                self.access(Location::Lock(*lock), true);
                if self.state.locks[*lock] != Holder::Free {
                    let fault = Fault("blocking", *at, Vec::new());
                    return Err(if self.atomic > 0 { Stop::Fault(fault) } else { Stop::Blocked });
                }
                self.state.locks[*lock] = self.holder();
            }
            Op::Release(lock, at) => {
                self.access(Location::Lock(*lock), true);
                if self.state.locks[*lock] != self.holder() {
                    return Err(Stop::Fault(Fault("unlock", *at, Vec::new())));
                }
                self.state.locks[*lock] = Holder::Free;
            }
            Op::Yield | Op::Choose(..) => {}
            Op::AtomicBegin => self.atomic += 1,
            Op::AtomicEnd => self.atomic -= 1,
            _ => self.invisible(op)?,
        }
        Ok(())
    }

    fn invisible(&mut self, op: &Op) -> Result<(), Stop> {
        let fault = |word, at: &Position| Err(Stop::Fault(Fault(word, *at, Vec::new())));
        match op {
            Op::Int(to, value) => self.set(*to, Value::Int(*value)),
            Op::Copy(to, from) => self.set(*to, self.get(*from).clone()),
            Op::Parameter(to) => {
                let argument = self.running.argument.clone().expect("an argument");
                self.set(*to, argument);
            }
            Op::Binary(to, operator, a, b, at) => {
                let (a, b) = (self.int(*a), self.int(*b));
                let value = match operator {
                    Operator::Add => a.checked_add(b),
                    Operator::Subtract => a.checked_sub(b),
                    Operator::Divide if b == 0 => return fault("division", at),
                    Operator::Divide => a.checked_div(b),
                    Operator::Equal => Some(i64::from(a == b)),
                    Operator::Unequal => Some(i64::from(a != b)),
                    Operator::Less => Some(i64::from(a < b)),
                    Operator::And | Operator::Or => unreachable!("a jump"),
                };
                let Some(value) = value else {
                    return Err(Stop::Fault(Fault("overflow", *at, vec![a, b])));
                };
                self.set(*to, Value::Int(value));
            }
            Op::Not(to, from) => self.set(*to, Value::Int(1 - self.int(*from))),
            Op::Push(list, value) => {
                let value = self.int(*value);
                let Value::List(list) = &mut self.running.registers[*list] else { return Ok(()) };
                list.push(value);
            }
            Op::Pop(list, at) => {
                let Value::List(list) = &mut self.running.registers[*list] else { return Ok(()) };
                if list.pop().is_none() {
                    return fault("pop", at);
                }
            }
            Op::Whole(of) => {
                let Value::List(list) = self.get(*of) else { return Ok(()) };
                // An array has two elements, and is summed up.
                let value = self.whole(list);
                self.set(*of, Value::Int(value));
            }
            Op::Unless(condition, to) => {
                if self.int(*condition) == 0 {
                    self.running.at = *to;
                }
            }
            Op::Jump(to) => self.running.at = *to,
            Op::Assert(condition, at) => {
                if self.int(*condition) == 0 {
                    return fault("assert", at);
                }
            }
            Op::Assume(condition) => {
                if self.int(*condition) == 0 {
                    return Err(Stop::Blocked);
                }
            }
            Op::Fail(at) => return fault("fail", at),
            Op::Clear(from, to) => {
                self.running.registers[*from..*to].fill(Value::Int(0));
            }
            other => unreachable!("{other:?} is visible"),
        }
        Ok(())
    }

    fn whole(&self, list: &[i64]) -> i64 {
        // The instruction before reads the variable.
        let body = self.body();
        let read = body.ops.get(self.running.at.wrapping_sub(2));
        match read {
            Some(Op::Read(Shared::Var(var), ..)) if self.program.vars[*var] == VarKind::Array => {
                list.iter().sum()
            }
            _ => list.len() as i64,
        }
    }

    fn read(&mut self, shared: Shared, to: Register, at: Position) -> Result<(), Stop> {
        match shared {
            Shared::Var(var) => {
                self.access(Location::Var(var), false);
                let value = self.state.vars[var].clone();
                self.set(to, value);
            }
            Shared::Element(var, index) => {
                let index = self.element(var, index, at)?;
                self.access(Location::Element(var, index), false);
                let Value::List(list) = &self.state.vars[var] else { return Ok(()) };
                let value = list[index as usize];
                self.set(to, Value::Int(value));
            }
        }
        Ok(())
    }

    fn write(&mut self, shared: Shared, from: Register, at: Position) -> Result<(), Stop> {
        let value = self.get(from).clone();
        match shared {
            Shared::Var(var) => {
                self.access(Location::Var(var), true);
                self.state.vars[var] = value;
            }
            Shared::Element(var, index) => {
                let index = self.element(var, index, at)?;
                self.access(Location::Element(var, index), true);
                let (Value::List(list), Value::Int(value)) = (&mut self.state.vars[var], value)
                else {
                    return Ok(());
                };
                list[index as usize] = value;
            }
        }
        Ok(())
    }

    /// The index of an element that exists.
    fn element(&mut self, var: usize, index: Register, at: Position) -> Result<i64, Stop> {
        let index = self.int(index);
        if (0..2).contains(&index) {
            return Ok(index);
        }
        // That it is missing does not depend on the other elements.
        self.access(Location::Element(var, index), false);
        Err(Stop::Fault(Fault("index", at, vec![index])))
    }

    fn post(&mut self, op: &Op) -> Result<(), Stop> {
        let Op::Post { code, argument, goal, delay, front, handle, at } = op else { return Ok(()) };
        let fault = |value| Err(Stop::Fault(Fault("post", *at, vec![value])));
        let mailbox = match goal {
            Goal::Own => None,
            Goal::Handler(mailbox) => Some(*mailbox),
            Goal::Element(first, index) => match self.int(*index) {
                index @ 0..2 => Some(first + index as usize),
                index => return fault(index),
            },
        };
        let delay = delay.map_or(0, |delay| self.int(delay));
        if delay < 0 {
            return fault(delay);
        }
        let id: Id = self.id.iter().copied().chain([self.running.posts]).collect();
        self.running.posts += 1;
        let due = self.state.clock + if *front { 0 } else { delay };
        self.state.pending.push(Message {
            id: id.clone(),
            code: *code,
            argument: argument.map(|argument| self.get(argument).clone()),
            mailbox,
            due,
            front: *front,
        });
        let posted = Posted { id: id.clone(), code: *code, mailbox, delay, front: *front };
        self.log.posted.push(posted);
        self.set(*handle, Value::Handle(Some(id)));
        Ok(())
    }

    fn cancel(&mut self, handle: Register) {
        let Value::Handle(Some(id)) = self.get(handle).clone() else { return };
        self.access(Location::Task(id.clone()), true);
        if let Some(at) = self.state.pending.iter().position(|one| one.id == id) {
            self.state.pending.remove(at);
            self.log.cancelled.push(id);
        }
    }
}
