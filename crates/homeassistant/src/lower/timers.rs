//! Timers: the order in which they end.
//!
//! The list `timers` has the running timers in the order in which they will end. Of two timers, the
//! one that was started first ends first if it lasts no longer. If it lasts longer, either may end
//! first, because nobody knows how much time has passed between the two starts. For two timers this
//! is exact; for three it allows orders that no real times have. Source: the regions of timed
//! automata (Alur, Dill, TCS 1994) without the relations between more than two clocks.
//!
//! With a scenario, times are known: the list is ordered by deadlines.

use super::program::Lower;
use anyorder_program::{Builtin, FuncId, FunctionBuilder, Literal, Op};

/// A timer of the program.
#[derive(Debug)]
pub(super) struct Timer {
    /// How long it lasts in milliseconds; -1 if nobody knows.
    pub(super) millis: i64,
    /// What happens when it ends.
    pub(super) expire: FuncId,
}

impl Lower<'_> {
    /// Adds a timer.
    pub(super) fn timer(&mut self, millis: i64, expire: FuncId) -> i32 {
        self.timers.push(Timer { millis, expire });
        self.timers.len() as i32 - 1
    }

    pub(super) fn start_timer(&mut self, f: &mut FunctionBuilder, timer: i32) {
        let id = f.value(|dst| Op::Int { dst, value: timer });
        let (stop, start) = (self.stop_timer, self.start_timer);
        Self::call(f, stop, &[id]);
        Self::call(f, start, &[id]);
    }

    pub(super) fn cancel_timer(&mut self, f: &mut FunctionBuilder, timer: i32) {
        let id = f.value(|dst| Op::Int { dst, value: timer });
        let stop = self.stop_timer;
        Self::call(f, stop, &[id]);
    }

    /// Defines what starts, stops and ends timers.
    pub(super) fn define_timers(&mut self) {
        let durations = self.timers.iter().map(|timer| Literal::Int(timer.millis)).collect();
        let durations = self.b.constant(Literal::List(durations));
        self.define_stop();
        if self.options.scenario.is_some() {
            self.define_exact_start(durations);
        } else {
            self.define_start(durations);
        }
        self.define_end();
    }

    fn define_stop(&mut self) {
        let mut f = self.b.function("stop timer", 1);
        let id = f.param(0);
        let (list, deadlines) = (self.running, self.deadlines);
        let timers = Self::get(&mut f, list);
        let at = Self::method(&mut f, Builtin::IndexOf, timers, &[id]);
        let none = f.value(|dst| Op::EqInt { dst, a: at, value: -1 });
        let end = f.label();
        f.jump_if(none, end);
        Self::method(&mut f, Builtin::Remove, timers, &[at]);
        f.emit(Op::SetGlobal { global: list, src: timers });
        if self.options.scenario.is_some() {
            let times = Self::get(&mut f, deadlines);
            Self::method(&mut f, Builtin::Remove, times, &[at]);
            f.emit(Op::SetGlobal { global: deadlines, src: times });
        }
        f.bind(end);
        self.b.define(self.stop_timer, f);
    }

    /// Puts a timer behind the last one that must end before it, at any place there.
    fn define_start(&mut self, durations: anyorder_program::ConstId) {
        let mut f = self.b.function("start timer", 1);
        let id = f.param(0);
        let list = self.running;
        let timers = Self::get(&mut f, list);
        let durations = f.value(|dst| Op::Const { dst, constant: durations });
        let own = f.value(|dst| Op::Index { dst, src: durations, index: id });
        let len = Self::method(&mut f, Builtin::Len, timers, &[]);
        let (low, at) = (f.reg(), f.reg());
        f.emit(Op::Int { dst: low, value: 0 });
        f.emit(Op::Int { dst: at, value: 0 });
        let (turn, next, done) = (f.label(), f.label(), f.label());
        f.bind(turn);
        let more = f.value(|dst| Op::Lt { dst, a: at, b: len });
        f.jump_if_not(more, done);
        let other = f.value(|dst| Op::Index { dst, src: timers, index: at });
        let other = f.value(|dst| Op::Index { dst, src: durations, index: other });
        let unknown = f.value(|dst| Op::EqInt { dst, a: other, value: -1 });
        f.jump_if(unknown, next);
        let before = f.value(|dst| Op::Le { dst, a: other, b: own });
        f.jump_if_not(before, next);
        f.emit(Op::AddInt { dst: low, a: at, value: 1 });
        f.bind(next);
        f.emit(Op::AddInt { dst: at, a: at, value: 1 });
        f.jump(turn);
        f.bind(done);
        let end = f.value(|dst| Op::AddInt { dst, a: len, value: 1 });
        let place = f.value(|dst| Op::ChooseInt { dst, a: low, b: end });
        Self::method(&mut f, Builtin::Insert, timers, &[place, id]);
        f.emit(Op::SetGlobal { global: list, src: timers });
        self.b.define(self.start_timer, f);
    }

    fn define_exact_start(&mut self, durations: anyorder_program::ConstId) {
        let mut f = self.b.function("start timer", 1);
        let id = f.param(0);
        let (list, deadlines) = (self.running, self.deadlines);
        let timers = Self::get(&mut f, list);
        let times = Self::get(&mut f, deadlines);
        let now = Self::get(&mut f, self.now);
        let durations = f.value(|dst| Op::Const { dst, constant: durations });
        let own = f.value(|dst| Op::Index { dst, src: durations, index: id });
        let deadline = f.value(|dst| Op::Add { dst, a: now, b: own });
        let at = Self::method(&mut f, Builtin::Len, timers, &[]);
        let (turn, done) = (f.label(), f.label());
        f.bind(turn);
        let first = f.value(|dst| Op::EqInt { dst, a: at, value: 0 });
        f.jump_if(first, done);
        let before = f.value(|dst| Op::AddInt { dst, a: at, value: -1 });
        let other = f.value(|dst| Op::Index { dst, src: times, index: before });
        let is = f.value(|dst| Op::Le { dst, a: other, b: deadline });
        f.jump_if(is, done);
        f.emit(Op::Move { dst: at, src: before });
        f.jump(turn);
        f.bind(done);
        Self::method(&mut f, Builtin::Insert, timers, &[at, id]);
        Self::method(&mut f, Builtin::Insert, times, &[at, deadline]);
        f.emit(Op::SetGlobal { global: list, src: timers });
        f.emit(Op::SetGlobal { global: deadlines, src: times });
        self.b.define(self.start_timer, f);
    }

    /// The event by which the next timer ends.
    fn define_end(&mut self) {
        let mut g = self.b.function("a timer runs", 0);
        let (no, pending) = (g.label(), self.pending);
        Self::unless_int(&mut g, pending, 0, no);
        let timers = Self::get(&mut g, self.running);
        let none = Self::method(&mut g, Builtin::IsEmpty, timers, &[]);
        if self.options.scenario.is_some() {
            g.jump_if(none, no);
            let times = Self::get(&mut g, self.deadlines);
            let first = Self::method(&mut g, Builtin::First, times, &[]);
            let target = Self::get(&mut g, self.target);
            let due = g.value(|dst| Op::Le { dst, a: first, b: target });
            g.emit(Op::Return { src: due });
        } else {
            let some = g.value(|dst| Op::Not { dst, a: none });
            g.emit(Op::Return { src: some });
        }
        g.bind(no);
        let never = g.value(|dst| Op::Bool { dst, value: false });
        g.emit(Op::Return { src: never });
        let guard = self.b.add(g);

        let mut f = self.b.function("time passes", 0);
        let timers = Self::get(&mut f, self.running);
        let id = Self::method(&mut f, Builtin::TakeFirst, timers, &[]);
        f.emit(Op::SetGlobal { global: self.running, src: timers });
        if self.options.scenario.is_some() {
            let times = Self::get(&mut f, self.deadlines);
            let now = Self::method(&mut f, Builtin::TakeFirst, times, &[]);
            f.emit(Op::SetGlobal { global: self.deadlines, src: times });
            f.emit(Op::SetGlobal { global: self.now, src: now });
        }
        let end = f.label();
        let expires: Vec<FuncId> = self.timers.iter().map(|timer| timer.expire).collect();
        for (timer, expire) in expires.into_iter().enumerate() {
            let is = f.value(|dst| Op::EqInt { dst, a: id, value: timer as i32 });
            let next = f.label();
            f.jump_if_not(is, next);
            Self::call(&mut f, expire, &[]);
            f.jump(end);
            f.bind(next);
        }
        f.bind(end);
        if !self.timers.is_empty() {
            self.event("time passes", Some(guard), f);
        }
    }
}
