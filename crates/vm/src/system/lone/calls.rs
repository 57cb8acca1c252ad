//! Calls of methods with a specification, if a method is one atomic section.

use super::{LoneThread, Lonely};
use crate::machine::Machine;
use crate::program::{FuncId, Op};
use crate::step::Mode;
use crate::transitions::StepExecutor;
use crate::value::{Value, mix};

/// A call of a method that a thread is about to make.
#[derive(Clone, Debug)]
pub struct LoneCall {
    /// The object, by its number.
    pub object: u32,
    method: u16,
    args: Vec<Value>,
}

impl LoneCall {
    /// Returns a hash of the method and its arguments.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        let method = mix::number(1, u64::from(self.method));
        self.args.iter().fold(method, |hash, value| mix::mix(hash as u64, value.hash()) ^ hash)
    }
}

impl Lonely {
    /// Returns the name of the method of a call.
    #[must_use]
    pub fn name_of(&self, call: &LoneCall) -> &str {
        &self.machine.program().functions[usize::from(call.method)].name
    }

    /// Returns the call whose section a thread is about to enter, if there is a specification of
    /// the method.
    #[must_use]
    pub fn call(&self, lone: &LoneThread) -> Option<LoneCall> {
        let (last, outer) = lone.thread.frames.split_last()?;
        if !self.whole_methods.contains(&last.func) {
            return None;
        }
        let code = &self.machine.code[usize::from(last.func)];
        if !matches!(code.ops.get(last.pc as usize), Some(Op::AtomicBegin)) {
            return None;
        }
        let registers = |func: u16| usize::from(self.machine.code[usize::from(func)].registers);
        let low: usize = outer.iter().map(|frame| registers(frame.func)).sum();
        let params = usize::from(self.machine.program().functions[usize::from(last.func)].params);
        let (this, args) = lone.thread.regs.get(low..low + params)?.split_first()?;
        match this {
            Value::Obj(object) => {
                Some(LoneCall { object: *object, method: last.func, args: args.to_vec() })
            }
            _ => None,
        }
    }

    /// Returns whether the specification says that two calls of one object commute, whatever they
    /// return.
    #[must_use]
    pub fn commute(&self, call: &LoneCall, other: &LoneCall) -> bool {
        self.ordered_commute(call, other) || self.ordered_commute(other, call)
    }

    fn ordered_commute(&self, call: &LoneCall, other: &LoneCall) -> bool {
        self.machine.program().commuting.iter().any(|clause| {
            let is_of = (clause.left.0, clause.right.0) == (call.method, other.method);
            is_of
                && clause.when.is_none_or(|when| {
                    let [left, right] = clause.results.map(|wanted| if wanted { 2 } else { 1 });
                    let cases = (0..left).flat_map(|a| (0..right).map(move |b| [a == 1, b == 1]));
                    let mut cases = cases;
                    cases.all(|results| self.holds(when, [call, other], clause.results, results))
                })
        })
    }

    /// Evaluates a condition; what fails does not hold.
    fn holds(
        &self,
        when: FuncId,
        calls: [&LoneCall; 2],
        wanted: [bool; 2],
        results: [bool; 2],
    ) -> bool {
        let mut executor = StepExecutor::new(&self.machine, &self.base);
        let interpreter = &mut executor.interpreter;
        interpreter.start(when.0, Mode::Pure, 0);
        let mut values = Vec::new();
        for ((call, wanted), result) in calls.into_iter().zip(wanted).zip(results) {
            values.extend(call.args.iter().cloned());
            values.extend(wanted.then_some(Value::Bool(result)));
        }
        for (register, value) in interpreter.regs.iter_mut().zip(values) {
            *register = value;
        }
        interpreter.run().is_ok() && matches!(interpreter.result, Value::Bool(true))
    }
}

/// Returns the methods with a specification that are one atomic section each.
pub(super) fn whole_methods(machine: &Machine) -> Vec<u16> {
    let clauses = machine.program().commuting.iter();
    let mut methods: Vec<u16> = clauses.flat_map(|one| [one.left.0, one.right.0]).collect();
    methods.sort_unstable();
    methods.dedup();
    methods.retain(|method| is_whole(&machine.code[usize::from(*method)].ops));
    methods
}

/// Whether code is one section, with nothing before and after that others could see.
fn is_whole(code: &[Op]) -> bool {
    let begins = code.iter().filter(|op| matches!(op, Op::AtomicBegin)).count();
    let begin = code.iter().position(|op| matches!(op, Op::AtomicBegin));
    let end = code.iter().rposition(|op| matches!(op, Op::AtomicEnd));
    let (1, Some(begin), Some(end)) = (begins, begin, end) else { return false };
    let is_quiet = |op: &Op| {
        !op.is_visible()
            && !matches!(
                op,
                Op::Call { .. }
                    | Op::CallValue { .. }
                    | Op::CallMember { .. }
                    | Op::GetMember { .. }
                    | Op::SetMember { .. }
                    | Op::Assume { .. }
            )
    };
    let goes_back =
        |op: &Op| op.target().is_some_and(|target| target as usize <= begin && begin > 0);
    let leaves_well = |at: usize| {
        at == end || matches!(code.get(at + 1), Some(Op::Return { .. } | Op::ReturnNull))
    };
    let ends = (0..code.len()).filter(|at| matches!(code[*at], Op::AtomicEnd));
    code[..begin].iter().all(is_quiet)
        && code[end + 1..].iter().all(is_quiet)
        && !code.iter().any(goes_back)
        && ends.into_iter().all(leaves_well)
}
