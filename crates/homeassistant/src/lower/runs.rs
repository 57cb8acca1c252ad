//! Runs: modes, starts, ends, and what ends them early.

use super::program::{Lower, Part, START};
use super::step::Body;
use crate::syntax::Mode;
use anyorder_program::{Builtin, FunctionBuilder, GlobalId, Literal, Op, Reg};

/// The beginning of the name of the global that says what happens to a start.
pub(crate) const NOTE: &str = "note: ";

/// A run begins.
pub(crate) const BEGAN: &str = "began";

/// A start is refused.
pub(crate) const DROPPED: &str = "dropped";

/// A start ends the run that lives.
pub(crate) const RESTARTED: &str = "restarted";

/// A start finds a run that lives, and begins another one.
pub(crate) const OVERLAPS: &str = "overlaps";

impl Lower<'_> {
    /// Defines `fire`: what a trigger does (id, entity, from, to).
    pub(super) fn define_fire(&mut self, part: usize) {
        let automation = self.parts[part].automation;
        self.enter(part);
        let mut f = self.b.function(&automation.alias, 4);
        self.at(&mut f, automation.place);
        let seen = super::emit::Seen {
            id: f.param(0),
            entity: f.param(1),
            from: f.param(2),
            to: f.param(3),
            wait: None,
        };
        let end = f.label();
        if let Some(at) = self.table.get(&automation.entity) {
            let on = self.text_reg(&mut f, "on");
            let global = self.states[at];
            let state = Self::get(&mut f, global);
            let is = f.value(|dst| Op::Eq { dst, a: state, b: on });
            f.jump_if_not(is, end);
        }
        self.require(&mut f, &seen, &automation.conditions, end);
        let nobody = f.value(|dst| Op::Int { dst, value: 0 });
        let start = self.parts[part].start;
        Self::call(&mut f, start, &[seen.id, seen.entity, seen.from, seen.to, nobody]);
        f.bind(end);
        let fire = self.parts[part].fire;
        self.b.define(fire, f);
    }

    /// Defines `start` (id, entity, from, to, caller): begins a run as the mode says. Returns
    /// whether the caller has to wait.
    pub(super) fn define_start_of_run(&mut self, part: usize) {
        let automation = self.parts[part].automation;
        self.enter(part);
        let mut f = self.b.function(&automation.alias, 5);
        self.at(&mut f, automation.place);
        match automation.mode {
            Mode::Single => {
                let busy = f.label();
                self.begin_if_free(&mut f, part, 0, busy);
                f.bind(busy);
                self.note(&mut f, DROPPED, part);
            }
            Mode::Restart => {
                let busy = f.label();
                self.begin_if_free(&mut f, part, 0, busy);
                f.bind(busy);
                self.note(&mut f, RESTARTED, part);
                let caller = Self::get(&mut f, self.parts[part].runs[0].caller);
                let cancel = self.parts[part].cancel;
                Self::call(&mut f, cancel, &[]);
                let ended = self.ended;
                Self::call(&mut f, ended, &[caller]);
                self.store_start(&mut f, part, 0);
                self.begin_later(&mut f, part, 0);
                let yes = f.value(|dst| Op::Bool { dst, value: true });
                f.emit(Op::Return { src: yes });
            }
            Mode::Queued => {
                let (busy, full) = (f.label(), f.label());
                self.begin_if_free(&mut f, part, 0, busy);
                f.bind(busy);
                if let Some(queue) = self.parts[part].queue {
                    let waiting = Self::get(&mut f, queue);
                    let len = Self::method(&mut f, Builtin::Len, waiting, &[]);
                    let most = (automation.max as i32 - 1).min(self.options.runs_max as i32 - 1);
                    let most = f.value(|dst| Op::Int { dst, value: most });
                    let fits = f.value(|dst| Op::Lt { dst, a: len, b: most });
                    f.jump_if_not(fits, full);
                    let entry = f.value(|dst| Op::List { dst, args: Reg(0), count: 5 });
                    Self::method(&mut f, Builtin::Push, waiting, &[entry]);
                    f.emit(Op::SetGlobal { global: queue, src: waiting });
                    let yes = f.value(|dst| Op::Bool { dst, value: true });
                    f.emit(Op::Return { src: yes });
                }
                f.bind(full);
                if automation.max <= self.options.runs_max {
                    self.note(&mut f, DROPPED, part);
                }
            }
            Mode::Parallel => {
                for run in 0..self.parts[part].runs.len() {
                    let busy = f.label();
                    self.begin_if_free(&mut f, part, run, busy);
                    f.bind(busy);
                    // The next place is taken while a run lives in this one.
                    self.note(&mut f, OVERLAPS, part);
                }
            }
        }
        let no = f.value(|dst| Op::Bool { dst, value: false });
        f.emit(Op::Return { src: no });
        let start = self.parts[part].start;
        self.b.define(start, f);
    }

    /// Reports what happens to a start while a run lives.
    fn note(&mut self, f: &mut FunctionBuilder, word: &str, part: usize) {
        if self.options.scenario.is_some() {
            return;
        }
        let name = format!("{NOTE}{word}");
        let known = self.b.program().globals.iter().position(|global| global.name == name);
        let global = match known {
            Some(at) => GlobalId(at as u16),
            None => self.b.global(&name, Literal::Null),
        };
        let entity = self.parts[part].automation.entity.clone();
        let src = self.text_reg(f, &entity);
        let nothing = f.value(|dst| Op::Null { dst });
        f.emit(Op::SetGlobal { global, src });
        f.emit(Op::SetGlobal { global, src: nothing });
    }

    /// Begins a run at once if its place is free, and returns from the function.
    fn begin_if_free(
        &mut self,
        f: &mut FunctionBuilder,
        part: usize,
        run: usize,
        busy: anyorder_program::Label,
    ) {
        let (pc, step) = (self.parts[part].runs[run].pc, self.parts[part].runs[run].step);
        Self::unless_int(f, pc, 0, busy);
        self.store_start(f, part, run);
        self.note(f, BEGAN, part);
        Self::set_int(f, pc, START);
        Self::call(f, step, &[]);
        let now = Self::get(f, pc);
        let ended = f.value(|dst| Op::EqInt { dst, a: now, value: 0 });
        let waits = f.value(|dst| Op::Not { dst, a: ended });
        f.emit(Op::Return { src: waits });
    }

    fn store_start(&mut self, f: &mut FunctionBuilder, part: usize, run: usize) {
        let run = self.parts[part].runs[run].clone();
        if let Some(seen) = run.seen {
            for (at, global) in seen.into_iter().enumerate() {
                f.emit(Op::SetGlobal { global, src: Reg(at as u16) });
            }
        }
        f.emit(Op::SetGlobal { global: run.caller, src: Reg(4) });
    }

    fn begin_later(&mut self, f: &mut FunctionBuilder, part: usize, run: usize) {
        let run = self.parts[part].runs[run].clone();
        Self::set_int(f, run.pc, START);
        let token = f.value(|dst| Op::Int { dst, value: START });
        self.post(f, run.resume, &[token]);
    }

    /// Emits the end of a run.
    pub(super) fn end_of_run(&mut self, f: &mut FunctionBuilder, part: usize, run: usize) {
        let this = self.parts[part].runs[run].clone();
        Self::set_int(f, this.pc, 0);
        let nothing = f.value(|dst| Op::Null { dst });
        for global in this.seen.into_iter().flatten() {
            f.emit(Op::SetGlobal { global, src: nothing });
        }
        if self.parts[part].automation.is_script() {
            let caller = Self::get(f, this.caller);
            Self::set_int(f, this.caller, 0);
            let ended = self.ended;
            Self::call(f, ended, &[caller]);
        }
        if let Some(queue) = self.parts[part].queue {
            let waiting = Self::get(f, queue);
            let none = Self::method(f, Builtin::IsEmpty, waiting, &[]);
            let end = f.label();
            f.jump_if(none, end);
            let entry = Self::method(f, Builtin::TakeFirst, waiting, &[]);
            f.emit(Op::SetGlobal { global: queue, src: waiting });
            let stored: Vec<_> =
                this.seen.into_iter().flatten().enumerate().chain([(4, this.caller)]).collect();
            for (at, global) in stored {
                let index = f.value(|dst| Op::Int { dst, value: at as i32 });
                let src = f.value(|dst| Op::Index { dst, src: entry, index });
                f.emit(Op::SetGlobal { global, src });
            }
            self.begin_later(f, part, run);
            f.bind(end);
        }
    }

    /// Defines `cancel`: ends all runs where they wait.
    pub(super) fn define_cancel(&mut self, part: usize, bodies: &[Body]) {
        let mut f = self.b.function("cancel", 0);
        let nothing = f.value(|dst| Op::Null { dst });
        for body in bodies {
            for timer in &body.timers {
                self.cancel_timer(&mut f, *timer);
            }
            for (wait, pc, child, caller) in &body.children {
                // A script that is waited for ends, too.
                let next = f.label();
                Self::unless_int(&mut f, *pc, *wait, next);
                let runs = self.parts[*child].runs.clone();
                let alone = runs.first().map(|run| run.caller);
                if let Some(global) = alone {
                    Self::unless_int(&mut f, global, *caller, next);
                    let cancel = self.parts[*child].cancel;
                    Self::call(&mut f, cancel, &[]);
                }
                f.bind(next);
            }
            Self::set_int(&mut f, body.pc, 0);
            let src = f.value(|dst| Op::Bool { dst, value: false });
            f.emit(Op::SetGlobal { global: body.stopped, src });
        }
        for run in self.parts[part].runs.clone() {
            for global in run.seen.into_iter().flatten() {
                f.emit(Op::SetGlobal { global, src: nothing });
            }
        }
        if let Some(queue) = self.parts[part].queue
            && self.parts[part].automation.mode == Mode::Queued
        {
            let empty = f.value(|dst| Op::List { dst, args: Reg(0), count: 0 });
            f.emit(Op::SetGlobal { global: queue, src: empty });
        }
        let cancel = self.parts[part].cancel;
        self.b.define(cancel, f);
    }

    /// Defines `ended` (caller): wakes the step that waits for a script.
    pub(super) fn define_ended(&mut self) {
        let mut f = self.b.function("script ended", 1);
        let caller = f.param(0);
        for call in std::mem::take(&mut self.calls) {
            let next = f.label();
            let is = f.value(|dst| Op::EqInt { dst, a: caller, value: call.caller });
            f.jump_if_not(is, next);
            Self::unless_int(&mut f, call.pc, call.wait, next);
            Self::set_int(&mut f, call.pc, call.wait + 1);
            let token = f.value(|dst| Op::Int { dst, value: call.wait + 1 });
            self.post(&mut f, call.resume, &[token]);
            f.bind(next);
        }
        let ended = self.ended;
        self.b.define(ended, f);
    }
}

/// The functions of a part that write for it.
pub(super) fn functions_of(part: &Part<'_>) -> Vec<anyorder_program::FuncId> {
    part.functions.clone()
}
