//! A fixed scenario: what comes from outside, and when. For comparison with the real engine.

use super::program::Lower;
use anyorder_program::{Builtin, Op as Code};

/// A step of a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// An entity gets a state.
    Set(String, String),
    /// So many milliseconds pass.
    Advance(i32),
}

impl Lower<'_> {
    /// Makes an event of each step, each after the reaction to the one before.
    pub(super) fn define_scenario(&mut self, ops: &[Op]) {
        for (at, op) in ops.iter().enumerate() {
            let mut g = self.b.function("the step is next", 0);
            let no = g.label();
            Self::unless_int(&mut g, self.pending, 0, no);
            Self::unless_int(&mut g, self.progress, at as i32, no);
            let timers = Self::get(&mut g, self.running);
            let none = Self::method(&mut g, Builtin::IsEmpty, timers, &[]);
            let free = g.label();
            g.jump_if(none, free);
            let times = Self::get(&mut g, self.deadlines);
            let first = Self::method(&mut g, Builtin::First, times, &[]);
            let target = Self::get(&mut g, self.target);
            let due = g.value(|dst| Code::Le { dst, a: first, b: target });
            g.jump_if(due, no);
            g.bind(free);
            let yes = g.value(|dst| Code::Bool { dst, value: true });
            g.emit(Code::Return { src: yes });
            g.bind(no);
            let never = g.value(|dst| Code::Bool { dst, value: false });
            g.emit(Code::Return { src: never });
            let guard = self.b.add(g);

            let mut f = self.b.function("step", 0);
            let target = Self::get(&mut f, self.target);
            f.emit(Code::SetGlobal { global: self.now, src: target });
            Self::add(&mut f, self.progress, 1);
            match op {
                Op::Set(entity, state) => {
                    if let Some(key) = self.table.get(entity) {
                        let value = self.text_reg(&mut f, state);
                        let set = self.set[key];
                        Self::call(&mut f, set, &[value]);
                    }
                }
                Op::Advance(millis) => {
                    let a = Self::get(&mut f, self.target);
                    let src = f.value(|dst| Code::AddInt { dst, a, value: *millis });
                    f.emit(Code::SetGlobal { global: self.target, src });
                }
            }
            self.event(&format!("step {at}"), Some(guard), f);
        }
    }
}
