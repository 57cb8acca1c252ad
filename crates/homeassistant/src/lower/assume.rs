//! What a reaction assumes: states that only conditions read, and what nobody knows.
//!
//! A state that no part sets and that wakes nobody has no place in a quiet state: it may be
//! anything at the next event. So it gets a value when a reaction first reads it, keeps that for
//! the reaction, and loses it at its end. The states of a search are then not multiplied by the
//! values of all conditions, and the runs are the same: the outside may change such a state between
//! any two reactions, and nothing hears of that. What is not known at all is a state of this kind,
//! too: the same question has one answer in one reaction, until a state that it mentions changes.

use super::program::Lower;
use super::table::domain;
use anyorder_program::{FuncId, FunctionBuilder, GlobalId, Label, Literal, Op, Reg};

/// The beginning of the name of the global with the value that a reaction assumes for a state.
pub(crate) const GIVEN: &str = "given: ";

/// The beginning of the name of the global with the answer that a reaction assumes.
pub(crate) const UNKNOWN: &str = "unknown: ";

/// An assumption: the global that holds it, and the function that reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assumed {
    pub(super) global: GlobalId,
    pub(super) read: FuncId,
}

impl Lower<'_> {
    /// Makes the states that only conditions read assumptions.
    pub(super) fn declare_assumptions(&mut self) {
        for at in 0..self.table.keys.len() {
            let key = self.table.keys[at].clone();
            let own = ["automation", "script", "timer"].contains(&domain(&key));
            let values = self.table.values[at].clone();
            let fixed = self.written.contains(&key) || self.woken.contains(&key);
            if own || fixed || values.len() < 2 || !self.assumes {
                continue;
            }
            let values = values.into_iter().map(Literal::Str).collect();
            let assumed = self.assumption(&format!("{GIVEN}{key}"), values);
            self.given.insert(at, assumed);
        }
        if self.assumes && !self.has_alarms && self.times.len() > 1 {
            let values = (0..self.times.len()).map(|at| Literal::Int(at as i64)).collect();
            let assumed = self.assumption(&format!("{GIVEN}time of day"), values);
            self.given_clock = Some(assumed);
        }
    }

    fn assumption(&mut self, name: &str, values: Vec<Literal>) -> Assumed {
        let global = self.b.global(name, Literal::Null);
        let constant = self.b.constant(Literal::List(values));
        let mut f = self.b.function(name, 0);
        let known = f.label();
        let value = Self::get(&mut f, global);
        let null = f.value(|dst| Op::Null { dst });
        let none = f.value(|dst| Op::Eq { dst, a: value, b: null });
        f.jump_if_not(none, known);
        let src = f.value(|dst| Op::Const { dst, constant });
        let chosen = f.value(|dst| Op::ChooseFrom { dst, src });
        f.emit(Op::SetGlobal { global, src: chosen });
        let src = Self::get(&mut f, global);
        f.emit(Op::Return { src });
        f.bind(known);
        f.emit(Op::Return { src: value });
        let read = self.b.add(f);
        Assumed { global, read }
    }

    /// Reads a state, by its number in the table.
    pub(super) fn state(&self, f: &mut FunctionBuilder, at: usize) -> Reg {
        match self.given.get(&at) {
            Some(assumed) => Self::call(f, assumed.read, &[]),
            None => Self::get(f, self.states[at]),
        }
    }

    /// Reads the time of day: its number among the times.
    pub(super) fn time_of_day(&self, f: &mut FunctionBuilder) -> Reg {
        match self.given_clock {
            Some(assumed) => Self::call(f, assumed.read, &[]),
            None => Self::get(f, self.clock),
        }
    }

    /// The answer to a question that nobody knows, among some values. `about` are the states whose
    /// change may change the answer.
    pub(super) fn unknown(
        &mut self,
        f: &mut FunctionBuilder,
        question: &str,
        values: Vec<Literal>,
        about: &[String],
    ) -> Reg {
        let assumed = match self.unknowns.get(question) {
            Some(known) => *known,
            None => {
                let made = self.assumption(&format!("{UNKNOWN}{question}"), values);
                self.unknowns.insert(question.to_owned(), made);
                made
            }
        };
        for at in about.iter().filter_map(|key| self.table.get(key)) {
            self.forgets.entry(at).or_default().insert(assumed.global);
        }
        Self::call(f, assumed.read, &[])
    }

    /// Any of some values, which the outside may bring about: nothing is guessed.
    pub(super) fn any(
        &mut self,
        f: &mut FunctionBuilder,
        question: &str,
        values: Vec<Literal>,
    ) -> Reg {
        let name = format!("{GIVEN}{question}");
        let assumed = match self.unknowns.get(&name) {
            Some(known) => *known,
            None => {
                let made = self.assumption(&name, values);
                self.unknowns.insert(name, made);
                made
            }
        };
        Self::call(f, assumed.read, &[])
    }

    /// Goes to one of two places; the outside may bring about either.
    pub(super) fn may(&mut self, f: &mut FunctionBuilder, question: &str, yes: Label, no: Label) {
        let values = vec![Literal::Bool(true), Literal::Bool(false)];
        let is = self.any(f, question, values);
        f.jump_if(is, yes);
        f.jump(no);
    }

    /// Goes to one of two places, and nobody knows to which.
    pub(super) fn either(
        &mut self,
        f: &mut FunctionBuilder,
        question: &str,
        about: &[String],
        yes: Label,
        no: Label,
    ) {
        let values = vec![Literal::Bool(true), Literal::Bool(false)];
        let is = self.unknown(f, question, values, about);
        f.jump_if(is, yes);
        f.jump(no);
    }

    /// Ends a part of a reaction. At the end of the whole, its assumptions end.
    pub(super) fn rests(&self, f: &mut FunctionBuilder) {
        Self::call(f, self.rest, &[]);
    }

    pub(super) fn define_rest(&mut self) {
        let mut f = self.b.function("reaction ends", 0);
        let end = f.label();
        Self::unless_int(&mut f, self.pending, 0, end);
        let nothing = f.value(|dst| Op::Null { dst });
        let all = self.given.values().chain(&self.given_clock).chain(self.unknowns.values());
        for assumed in all {
            f.emit(Op::SetGlobal { global: assumed.global, src: nothing });
        }
        f.bind(end);
        self.b.define(self.rest, f);
    }
}
