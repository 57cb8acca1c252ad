//! One run of a body: the world it sees, and what ends a step.

use super::fired::rule;
use super::program::{Mutant, Program};
use super::state::{Context, Control, Pid, State};
use super::value::Value;
use anyorder_lang::ast::{Block, NodeId};
use anyorder_lang::source::Span;
use std::collections::BTreeMap;

pub type Locals = BTreeMap<String, Value>;
pub type Res<T> = Result<T, Stop>;

/// Why a run does not go on.
#[derive(Clone, Debug)]
pub enum Stop {
    /// It stands at a visible operation and has done one already.
    Suspended,
    /// The visible operation blocks.
    Blocked,
    /// There is no such transition.
    Dropped,
    Failed(Failure),
}

/// Section 8. The position is that of the expression or statement at work.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Failure {
    pub kind: &'static str,
    pub at: u32,
}

/// An attribute that changes, and the component for which (U1).
pub type Update = (String, Option<usize>);

/// How visible operations are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A1.
    Atomic,
    /// T3 to T5.
    Stepping,
    /// T8.
    Observer,
}

/// What a statement leads to.
#[derive(Clone, Debug)]
pub enum Flow {
    /// To the next one; with the value of a block.
    Next(Value),
    Break,
    Continue,
    Return(Value),
}

/// A run of one body within one transition. In a stepping body it begins with answers that earlier
/// steps got.
pub struct Run {
    pub p: &'static Program,
    pub state: State,
    pub pid: Pid,
    pub mode: Mode,
    /// How many visible operations it may still do.
    pub budget: u32,
    pub log: Vec<Value>,
    pub replayed: usize,
    pub atomic_depth: u32,
    /// Choices to make, and how many have been made, with the number of alternatives of each.
    pub choices: Vec<usize>,
    pub made: Vec<(usize, usize)>,
    pub stack: Vec<Context>,
    pub frames: Vec<Locals>,
    pub operations: u64,
    /// V3: what was pending or running when the step began, and the last number given by then.
    pub alive_before: std::collections::BTreeSet<u64>,
    pub fresh_before: u64,
    pub at: Span,
    /// What blocked was that a lock is taken.
    pub wants_lock: bool,
    /// That lock.
    pub locked: Option<super::state::Key>,
    /// U2: the components of the bodies and calls that run, innermost last.
    pub whose: Vec<Option<usize>>,
    pub updates: Vec<Update>,
}

impl Run {
    pub fn new(p: &'static Program, state: State, pid: Pid, mode: Mode) -> Run {
        let (alive_before, fresh_before) = (state.alive.clone(), state.fresh);
        Run {
            alive_before,
            fresh_before,
            p,
            state,
            pid,
            mode,
            budget: 0,
            log: vec![],
            replayed: 0,
            atomic_depth: 0,
            choices: vec![],
            made: vec![],
            stack: vec![],
            frames: vec![],
            operations: 0,
            at: Span::new(0, 0),
            wants_lock: false,
            locked: None,
            whose: vec![],
            updates: vec![],
        }
    }

    /// Whether a rule is to be got wrong.
    pub fn wrongly(&self, mutant: Mutant) -> bool {
        self.p.mutant == mutant
    }

    pub fn fail<T>(&self, kind: &'static str) -> Res<T> {
        Err(Stop::Failed(Failure { kind, at: self.at.start }))
    }

    /// Section 8: a value of the wrong kind.
    pub fn wrong<T>(&self, value: &Value) -> Res<T> {
        let null = *value == Value::Null && !self.wrongly(Mutant::TypeForNull);
        self.fail(if null { "null" } else { "type" })
    }

    /// Section 8: of operands, the first of the wrong kind decides.
    pub fn first_wrong<T>(&self, values: &[&Value], fits: impl Fn(&Value) -> bool) -> Res<T> {
        match values.iter().find(|value| !fits(value)) {
            Some(value) => self.wrong(value),
            None => self.fail("type"),
        }
    }

    pub fn is_atomic(&self) -> bool {
        self.mode == Mode::Atomic || self.atomic_depth > 0
    }

    /// A3.
    pub fn tick(&mut self) -> Res<()> {
        if self.replayed < self.log.len() {
            return Ok(());
        }
        self.operations += 1;
        let limit = if self.wrongly(Mutant::FewSteps) { 20 } else { self.p.steps };
        if self.operations > limit {
            rule("A3");
            self.fail("step_limit")
        } else {
            Ok(())
        }
    }

    /// An operation whose answer comes from the world, but that is no step of its own.
    pub fn ask(&mut self, op: impl FnOnce(&mut Run) -> Res<Value>) -> Res<Value> {
        if let Some(answer) = self.log.get(self.replayed) {
            self.replayed += 1;
            return Ok(answer.clone());
        }
        let answer = op(self)?;
        if self.mode == Mode::Stepping {
            self.log.push(answer.clone());
            self.replayed += 1;
        }
        Ok(answer)
    }

    /// A visible operation (T6) that reads: allowed to observers.
    pub fn look(
        &mut self,
        id: NodeId,
        phase: usize,
        temps: Vec<Value>,
        op: impl FnOnce(&mut Run) -> Res<Value>,
    ) -> Res<Value> {
        let invisible = self.wrongly(Mutant::ReadsAreInvisible) && phase == 0;
        if self.mode == Mode::Stepping
            && self.atomic_depth == 0
            && self.replayed == self.log.len()
            && !invisible
        {
            rule("T6");
            if self.budget == 0 {
                self.stack.push(Context::Operands { id, phase, temps, rest: vec![] });
                return Err(Stop::Suspended);
            }
            self.budget -= 1;
        }
        self.ask(op)
    }

    /// A visible operation that changes something.
    pub fn act(
        &mut self,
        id: NodeId,
        phase: usize,
        temps: Vec<Value>,
        op: impl FnOnce(&mut Run) -> Res<Value>,
    ) -> Res<Value> {
        if self.mode == Mode::Observer {
            return self.fail("effect");
        }
        self.look(id, phase, temps, op)
    }

    /// A visible operation that cannot go on now.
    pub fn block<T>(&self) -> Res<T> {
        if self.is_atomic() && !self.wrongly(Mutant::BlockingWaits) {
            rule("A1");
            self.fail("blocking")
        } else {
            Err(Stop::Blocked)
        }
    }

    /// A choice among `n`, within a visible operation.
    pub fn choose(&mut self, n: usize) -> Res<usize> {
        rule("A7");
        if n == 0 {
            return if self.wrongly(Mutant::EmptyChoiceFails) {
                self.fail("index")
            } else {
                Err(Stop::Dropped)
            };
        }
        let choice = self.choices.get(self.made.len()).copied().unwrap_or(0);
        self.made.push((choice, n));
        Ok(choice)
    }

    /// Runs something in a context. What stops it leaves the context in place, as a description.
    pub fn within<T>(&mut self, context: Context, f: impl FnOnce(&mut Run) -> Res<T>) -> Res<T> {
        self.stack.push(context);
        let result = f(self)?;
        self.stack.pop();
        Ok(result)
    }

    pub fn locals(&mut self) -> &mut Locals {
        self.frames.last_mut().expect("a frame")
    }

    pub fn fresh(&mut self) -> u64 {
        self.state.fresh += 1;
        self.state.fresh
    }

    /// Runs a body in a frame of its own.
    pub fn frame(&mut self, locals: Locals, body: &'static Block) -> Res<Value> {
        self.frames.push(locals);
        let created = self.whose.len() == 1 && self.whose[0].is_some();
        let own = self.p.component_of(body);
        let ignored = created && self.wrongly(Mutant::OwnIsIgnored);
        self.whose.push(own.filter(|_| !ignored));
        let number = self.frames.len() - 1;
        let flow = self.within(Context::Frame(number), |run| run.block_of(body))?;
        self.frames.pop();
        self.whose.pop();
        Ok(match flow {
            Flow::Next(value) | Flow::Return(value) => value,
            Flow::Break | Flow::Continue => Value::Null,
        })
    }

    /// U2: the component that the running code works for. The outermost entry is U4's.
    pub fn works_for(&self) -> Option<usize> {
        if self.wrongly(Mutant::OutermostDecides) {
            return self.whose.get(1).copied().flatten();
        }
        self.whose.iter().rev().find_map(|one| *one)
    }

    /// U4: the component that the running code creates a body for.
    pub fn creates_for(&self, body: &'static Block) -> Option<usize> {
        let by = self.works_for()?;
        rule("U4");
        // The outermost entry says for whom the running body itself was created.
        let created = self.whose.first().is_some_and(Option::is_some);
        if self.wrongly(Mutant::CreatedForNobody) || (self.wrongly(Mutant::OnePostOnly) && created)
        {
            return None;
        }
        let own = self.p.component_of(body).filter(|_| !self.wrongly(Mutant::OwnIsIgnored));
        if own.is_some() { None } else { Some(by) }
    }

    /// U1, U2: notes which attributes of a global a write changes.
    pub fn note_update(&mut self, global: &str, old: &Value, new: &Value) {
        if self.p.components.is_empty() || self.pid == Pid::Init || old == new {
            return;
        }
        let elements = |value: &Value| -> BTreeMap<String, Value> {
            let entries = match value {
                Value::List(items) => (0..).map(Value::Int).zip(items.iter().cloned()).collect(),
                Value::Map(entries) => entries.clone(),
                _ => vec![],
            };
            let named = |key: &Value| match key {
                Value::Int(number) => format!("{global}[{number}]"),
                Value::Str(text) => format!("{global}[{text:?}]"),
                other => format!("{global}[{other:?}]"),
            };
            entries.into_iter().map(|(key, value)| (named(&key), value)).collect()
        };
        let (before, after) = (elements(old), elements(new));
        let alike =
            matches!((old, new), (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)));
        let by = self.works_for();
        if !alike || before.keys().ne(after.keys()) {
            self.updates.push((global.to_owned(), by));
        }
        let keys: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for key in keys {
            if before.get(key) != after.get(key) {
                self.updates.push((key.clone(), by));
            }
        }
    }

    /// Runs the body of a control from its begin; with a log, up to where it stands and on.
    pub fn control(&mut self, control: &Control) -> Res<()> {
        let (locals, body) = super::step::entry(self.p, control);
        self.log = control.log.clone();
        self.whose = vec![control.created_for];
        self.frame(locals, body).map(|_| ())
    }
}
