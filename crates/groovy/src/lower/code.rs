//! Emits the code of one function.

use super::Kinds;
use super::kinds::{GAP, THROWN};
use super::lowering::{Lowering, Wanted};
use super::platform::Platform;
use super::unit::{Gap, UnitId};
use anyorder_common::source::Span;
use anyorder_program::{FuncId, FunctionBuilder, Label, Literal, Op, Reg, TypeId};

/// Where an exception goes inside of a `try`: the register that takes it, and the code behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trap {
    pub(super) outcome: Reg,
    pub(super) target: Label,
}

/// The code of one function. Registers are taken like a stack: [`Code::mark`] and
/// [`Code::release`] give back those of a statement.
pub struct Code<'l> {
    lowering: &'l mut Lowering,
    function: FunctionBuilder,
    /// How many registers are in use.
    top: u16,
    unit: Option<UnitId>,
    span: Span,
    pub(super) traps: Vec<Trap>,
}

impl std::fmt::Debug for Code<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.function.fmt(f)
    }
}

impl<'l> Code<'l> {
    pub(super) fn new(
        lowering: &'l mut Lowering,
        name: &str,
        params: u16,
        captures: u16,
    ) -> Code<'l> {
        let function = FunctionBuilder::new(name, params, captures);
        let top = function.registers();
        let (unit, span, traps) = (None, Span::default(), Vec::new());
        Code { lowering, function, top, unit, span, traps }
    }

    /// Returns the compiler, to ask for functions.
    pub fn lowering(&mut self) -> &mut Lowering {
        self.lowering
    }

    /// Returns the types of the values.
    pub fn kinds(&self) -> Kinds {
        *self.lowering.kinds()
    }

    /// Returns the app that is being compiled; `None` in functions of the platform.
    pub fn unit(&self) -> Option<UnitId> {
        self.unit
    }

    /// Returns the place that is being compiled.
    pub fn span(&self) -> Span {
        self.span
    }

    pub(super) fn set_unit(&mut self, unit: UnitId) {
        self.unit = Some(unit);
    }

    /// Sets the place of the code that follows.
    pub(super) fn at(&mut self, span: Span) {
        self.span = span;
        if let Some(unit) = self.unit {
            let site = self.lowering.site(unit, span);
            self.function.at(site);
        }
    }

    /// Names a register that is a variable.
    pub(super) fn local(&mut self, reg: Reg, name: &str) {
        let name = self.lowering.builder().name(name);
        self.function.local(reg, name);
    }

    /// Returns the register of a parameter.
    pub fn param(&self, index: u16) -> Reg {
        self.function.param(index)
    }

    /// Takes a register. It stays in use until the end of the statement.
    pub fn temp(&mut self) -> Reg {
        self.temps(1)
    }

    /// Takes consecutive registers; returns the first.
    pub fn temps(&mut self, count: u16) -> Reg {
        let first = self.top;
        self.top = first.saturating_add(count);
        let missing = self.top.saturating_sub(self.function.registers());
        self.function.regs(missing);
        Reg(first)
    }

    /// Returns how many registers are in use.
    pub fn mark(&self) -> u16 {
        self.top
    }

    /// Gives back all registers taken since the mark.
    pub fn release(&mut self, mark: u16) {
        self.top = self.top.min(mark);
    }

    /// Appends an instruction.
    pub fn emit(&mut self, op: Op) {
        self.function.emit(op);
    }

    /// Takes a register, and appends the instruction that writes it.
    pub fn value(&mut self, op: impl FnOnce(Reg) -> Op) -> Reg {
        let dst = self.temp();
        self.emit(op(dst));
        dst
    }

    /// Makes a label.
    pub fn label(&mut self) -> Label {
        self.function.label()
    }

    /// Gives a label its position.
    pub fn bind(&mut self, label: Label) {
        self.function.bind(label);
    }

    /// Appends a jump.
    pub fn jump(&mut self, label: Label) {
        self.function.jump(label);
    }

    /// Appends a jump for a true boolean.
    pub fn jump_if(&mut self, cond: Reg, label: Label) {
        self.function.jump_if(cond, label);
    }

    /// Appends a jump for a false boolean.
    pub fn jump_if_not(&mut self, cond: Reg, label: Label) {
        self.function.jump_if_not(cond, label);
    }

    /// Copies a register.
    pub fn set(&mut self, dst: Reg, src: Reg) {
        if dst != src {
            self.emit(Op::Move { dst, src });
        }
    }

    /// Loads a constant.
    pub fn constant(&mut self, literal: Literal) -> Reg {
        match literal {
            Literal::Null => self.value(|dst| Op::Null { dst }),
            Literal::Bool(value) => self.value(|dst| Op::Bool { dst, value }),
            Literal::Int(value) if i32::try_from(value).is_ok() => {
                self.value(|dst| Op::Int { dst, value: value as i32 })
            }
            Literal::Str(text) => self.text(&text),
            literal => {
                let constant = self.lowering.builder().constant(literal);
                self.value(|dst| Op::Const { dst, constant })
            }
        }
    }

    /// Loads a string.
    pub fn text(&mut self, text: &str) -> Reg {
        let constant = self.lowering.text(text);
        self.value(|dst| Op::Const { dst, constant })
    }

    /// Loads null.
    pub fn null(&mut self) -> Reg {
        self.value(|dst| Op::Null { dst })
    }

    /// Returns consecutive registers with copies of these.
    pub fn row(&mut self, values: &[Reg]) -> Reg {
        let first = self.temps(u16::try_from(values.len()).unwrap_or(u16::MAX));
        for (at, value) in (0..).zip(values) {
            self.set(first.plus(at), *value);
        }
        first
    }

    /// Calls a function. Passes an exception or gap on; otherwise returns the result.
    pub fn call(&mut self, func: FuncId, arguments: &[Reg]) -> Reg {
        let result = self.call_for_outcome(func, arguments);
        self.pass_on(result);
        result
    }

    /// Calls a function. The result may be a value of `Kinds::outcome`.
    pub fn call_for_outcome(&mut self, func: FuncId, arguments: &[Reg]) -> Reg {
        let dst = self.temp();
        let args = self.row(arguments);
        self.emit(Op::Call { dst, func, args });
        dst
    }

    /// Passes an outcome (exception or gap) on; continues with any other value.
    pub fn pass_on(&mut self, result: Reg) {
        let is = self.is(result, self.kinds().types.outcome);
        let ok = self.label();
        self.jump_if_not(is, ok);
        self.raise(result);
        self.bind(ok);
    }

    /// Leaves with an outcome: to the `try` around, or from the function.
    pub(super) fn raise(&mut self, outcome: Reg) {
        match self.traps.last().copied() {
            Some(trap) => {
                self.set(trap.outcome, outcome);
                self.jump(trap.target);
            }
            None => self.emit(Op::Return { src: outcome }),
        }
    }

    /// Returns whether a value is of a type, as a boolean.
    pub(super) fn is(&mut self, src: Reg, ty: TypeId) -> Reg {
        self.value(|dst| Op::IsType { dst, src, ty })
    }

    /// Returns what a value counts as in a condition, as a boolean.
    pub fn truth(&mut self, value: Reg) -> Reg {
        let func = self.lowering.truth();
        self.call(func, &[value])
    }

    /// Returns the text of a value.
    pub fn show(&mut self, value: Reg) -> Reg {
        let func = self.lowering.show();
        self.call(func, &[value])
    }

    /// Makes a list.
    pub fn list(&mut self, values: &[Reg]) -> Reg {
        let count = u16::try_from(values.len()).unwrap_or(u16::MAX);
        let args = self.row(values);
        let args = self.value(|dst| Op::List { dst, args, count });
        let class = self.kinds().list;
        self.value(|dst| Op::New { dst, class, args })
    }

    /// Calls a closure.
    pub fn call_closure(&mut self, closure: Reg, arguments: &[Reg]) -> Reg {
        let count = u16::try_from(arguments.len()).unwrap_or(u16::MAX);
        let func = self.lowering.call_value(count);
        let all: Vec<Reg> = std::iter::once(closure).chain(arguments.iter().copied()).collect();
        self.call(func, &all)
    }

    /// Calls a function of the run-time library.
    pub(super) fn library(&mut self, name: &'static str, arguments: &[Reg]) -> Reg {
        let count = u16::try_from(arguments.len()).unwrap_or(u16::MAX);
        let func = self.lowering.want(Wanted::Library(name.to_owned(), count));
        self.call(func, arguments)
    }

    /// Throws an exception. What follows is not reached until the next label.
    pub fn throw(&mut self, class: &str, message: &str) {
        let (class, message) = (self.text(class), self.text(message));
        self.throw_values(class, message);
    }

    pub(super) fn throw_values(&mut self, class: Reg, message: Reg) {
        let args = self.row(&[class, message]);
        let ty = self.kinds().exception;
        let exception = self.value(|dst| Op::Record { dst, ty, args });
        self.throw_exception(exception);
    }

    pub(super) fn throw_exception(&mut self, exception: Reg) {
        let ty = self.kinds().outcome;
        let outcome = self.value(|dst| Op::Enum { dst, ty, variant: THROWN, args: exception });
        self.raise(outcome);
    }

    /// Throws what Groovy throws for a property that a value does not have.
    pub fn throw_missing_property(&mut self, name: &str) {
        self.throw("MissingPropertyException", &format!("No such property: {name}"));
    }

    /// Throws what Groovy throws for a method that a value does not have.
    pub fn throw_missing_method(&mut self, name: &str) {
        self.throw("MissingMethodException", &format!("No signature of method: {name}"));
    }

    /// Leaves with a gap that is found out only when the code runs. It is not recorded here: the
    /// run that reaches it is incomplete.
    pub fn run_time_gap(&mut self, what: &str) {
        let text = self.text(what);
        self.gap_of(text);
    }

    pub(super) fn gap_of(&mut self, text: Reg) {
        let ty = self.kinds().outcome;
        let outcome = self.value(|dst| Op::Enum { dst, ty, variant: GAP, args: text });
        self.raise(outcome);
    }

    /// Records that something is not understood here, and emits what the platform says: one of
    /// some values, or leaving with a gap.
    pub fn gap(&mut self, platform: &mut (impl Platform + ?Sized), what: &str) -> Reg {
        let gap = Gap { unit: self.unit, span: self.span, what: what.to_owned() };
        let values = platform.unknown(&gap);
        self.lowering.record(gap);
        match values {
            // A choice from nothing would hide the run.
            Some(values) if !values.is_empty() => {
                let from = self.constant(Literal::List(values));
                self.value(|dst| Op::ChooseFrom { dst, src: from })
            }
            _ => {
                self.run_time_gap(what);
                self.null()
            }
        }
    }

    /// Returns from the function.
    pub fn ret(&mut self, src: Reg) {
        self.emit(Op::Return { src });
    }

    /// Adds the function to the program.
    pub fn finish(self) -> FuncId {
        self.lowering.builder().add(self.function)
    }

    /// Gives a declared function this body.
    pub fn define(self, id: FuncId) {
        self.lowering.builder().define(id, self.function);
    }
}
