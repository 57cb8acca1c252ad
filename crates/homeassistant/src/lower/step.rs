//! Code of steps. A run is a function that begins where its counter says, up to where it waits.

use super::emit::Seen;
use super::program::{Lower, RunPlace, START};
use super::template::Var;
use super::tree::Tree;
use super::trigger::{Listener, millis, variables};
use crate::place::{Place, Severity};
use crate::syntax::{Action, ActionKind, Count, Duration, Repeat, Trigger};
use anyorder_program::{FuncId, FunctionBuilder, GlobalId, Label, Literal, Op, PostId};

/// A place where a script is waited for: the counter there, the global with the counter, the part
/// of the script, the number of the call.
pub(super) type Child = (i32, GlobalId, usize, i32);

/// What is known of a body after its code was made: what ends with it.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) pc: GlobalId,
    pub(super) stopped: GlobalId,
    pub(super) timers: Vec<i32>,
    pub(super) children: Vec<Child>,
}

/// A function of a run, or of a branch of `parallel`, while its code is made.
pub(super) struct Fx {
    pub(super) f: FunctionBuilder,
    pub(super) seen: Seen,
    pub(super) part: usize,
    pub(super) pc: GlobalId,
    pub(super) resume: PostId,
    wait: GlobalId,
    /// Set if a branch ends the run; which branch it is in, if it is in one.
    stopped: GlobalId,
    is_branch: bool,
    next: i32,
    resumes: Vec<(i32, Label)>,
    end: Label,
    pub(super) body: Body,
}

impl Fx {
    /// Takes numbers for a wait and for the place behind it.
    pub(super) fn suspension(&mut self) -> (i32, Label) {
        let wait = self.next;
        self.next += 2;
        let label = self.f.label();
        self.resumes.push((wait + 1, label));
        (wait, label)
    }

    /// Waits: the run continues at the label.
    fn leave(&mut self, wait: i32, label: Label) {
        Lower::set_int(&mut self.f, self.pc, wait);
        self.f.emit(Op::ReturnNull);
        self.f.bind(label);
    }
}

impl Lower<'_> {
    /// Makes the code of a run: its steps, then `finish`.
    pub(super) fn body(
        &mut self,
        part: usize,
        place: &RunPlace,
        actions: &[Action],
        finish: &mut dyn FnMut(&mut Self, &mut FunctionBuilder),
    ) -> Vec<Body> {
        let alias = self.parts[part].automation.alias.clone();
        let mut f = self.b.function(&alias, 0);
        let seen = match place.seen {
            Some([id, entity, from, to]) => Seen {
                id: Self::get(&mut f, id),
                entity: Self::get(&mut f, entity),
                from: Self::get(&mut f, from),
                to: Self::get(&mut f, to),
                wait: Some(place.wait),
            },
            None => {
                let none = f.value(|dst| Op::Null { dst });
                Seen { id: none, entity: none, from: none, to: none, wait: Some(place.wait) }
            }
        };
        let (dispatch, end, start) = (f.label(), f.label(), f.label());
        f.jump(dispatch);
        f.bind(start);
        let stopped = place.stopped;
        let body = Body { pc: place.pc, stopped, timers: Vec::new(), children: Vec::new() };
        let mut fx = Fx {
            f,
            seen,
            part,
            pc: place.pc,
            resume: place.resume,
            wait: place.wait,
            stopped: place.stopped,
            is_branch: !self.inner.is_empty(),
            next: START + 1,
            resumes: vec![(START, start)],
            end,
            body,
        };
        self.inner.push(Vec::new());
        self.sequence(&mut fx, actions, end);
        fx.f.bind(end);
        finish(self, &mut fx.f);
        fx.f.emit(Op::ReturnNull);
        fx.f.bind(dispatch);
        let counter = Self::get(&mut fx.f, fx.pc);
        for (value, label) in std::mem::take(&mut fx.resumes) {
            let is = fx.f.value(|dst| Op::EqInt { dst, a: counter, value });
            fx.f.jump_if(is, label);
        }
        fx.f.emit(Op::ReturnNull);
        self.b.define(place.step, fx.f);
        self.parts[part].functions.push(place.step);
        let mut bodies = self.inner.pop().unwrap_or_default();
        bodies.push(fx.body);
        bodies
    }

    fn sequence(&mut self, fx: &mut Fx, actions: &[Action], end: Label) {
        for action in actions {
            self.at(&mut fx.f, action.place);
            self.action(fx, action, end);
        }
    }

    fn inner_sequence(&mut self, fx: &mut Fx, actions: &[Action], after: Label) {
        let end = fx.f.label();
        self.sequence(fx, actions, end);
        fx.f.bind(end);
        fx.f.jump(after);
    }

    fn action(&mut self, fx: &mut Fx, action: &Action, end: Label) {
        let place = action.place;
        match &action.kind {
            ActionKind::Call(call) => self.service(fx, call, place),
            ActionKind::Event { name, data } => self.fire_event(&mut fx.f, name, data),
            ActionKind::Choose { branches, default } => {
                let after = fx.f.label();
                for branch in branches {
                    let next = fx.f.label();
                    let seen = fx.seen;
                    self.require(&mut fx.f, &seen, &branch.conditions, next);
                    self.inner_sequence(fx, &branch.sequence, after);
                    fx.f.bind(next);
                }
                self.inner_sequence(fx, default.as_deref().unwrap_or_default(), after);
                fx.f.bind(after);
            }
            ActionKind::If { conditions, then, otherwise } => {
                let (after, no) = (fx.f.label(), fx.f.label());
                let seen = fx.seen;
                self.require(&mut fx.f, &seen, conditions, no);
                self.inner_sequence(fx, then, after);
                fx.f.bind(no);
                self.inner_sequence(fx, otherwise, after);
                fx.f.bind(after);
            }
            ActionKind::Sequence(list) => {
                let after = fx.f.label();
                self.inner_sequence(fx, list, after);
                fx.f.bind(after);
            }
            ActionKind::Condition(condition) => {
                let yes = fx.f.label();
                let seen = fx.seen;
                self.condition(&mut fx.f, &seen, condition, yes, end);
                fx.f.bind(yes);
            }
            ActionKind::Stop => {
                self.stop(fx);
            }
            ActionKind::Delay(duration) => self.delay(fx, *duration),
            ActionKind::Repeat(repeat) => self.repeat(fx, repeat),
            ActionKind::Parallel(branches) => self.parallel(fx, branches),
            ActionKind::WaitTrigger { triggers, timeout, goes_on } => {
                self.wait_for_trigger(fx, triggers, *timeout, *goes_on);
            }
            ActionKind::WaitTemplate { template, timeout, goes_on } => {
                self.wait_template(fx, template, *timeout, *goes_on, place);
            }
            ActionKind::Variables(list) => {
                for (name, value) in list {
                    self.variable(name, value, place);
                }
            }
            ActionKind::Nothing => {}
        }
    }

    /// A function that continues a run at a place if it waits there.
    fn waker(
        &mut self,
        fx: &Fx,
        wait: i32,
        done: Option<(&str, GlobalId)>,
        timer: Option<i32>,
    ) -> FuncId {
        let mut f = self.b.function("continue", 0);
        let end = f.label();
        Self::unless_int(&mut f, fx.pc, wait, end);
        Self::set_int(&mut f, fx.pc, wait + 1);
        if let Some((word, global)) = done {
            let src = self.text_reg(&mut f, word);
            f.emit(Op::SetGlobal { global, src });
        }
        if let Some(timer) = timer {
            self.cancel_timer(&mut f, timer);
        }
        let token = f.value(|dst| Op::Int { dst, value: wait + 1 });
        self.post(&mut f, fx.resume, &[token]);
        f.bind(end);
        self.b.add(f)
    }

    fn delay(&mut self, fx: &mut Fx, duration: Duration) {
        let (wait, label) = fx.suspension();
        let expire = self.waker(fx, wait, None, None);
        let timer = self.timer(millis(duration), expire);
        fx.body.timers.push(timer);
        self.start_timer(&mut fx.f, timer);
        fx.leave(wait, label);
    }

    /// Goes to one of two places, each time anew.
    fn guess(&mut self, f: &mut FunctionBuilder, yes: Label, no: Label) {
        let values = vec![Literal::Bool(true), Literal::Bool(false)];
        let question = "whether it is repeated";
        let is = self.unknown(f, question, values, &[]);
        if let Some(assumed) = self.unknowns.get(question) {
            let nothing = f.value(|dst| Op::Null { dst });
            f.emit(Op::SetGlobal { global: assumed.global, src: nothing });
        }
        f.jump_if(is, yes);
        f.jump(no);
    }

    /// Continues after other work that is due now.
    fn pause(&mut self, fx: &mut Fx) {
        let (wait, label) = fx.suspension();
        let token = fx.f.value(|dst| Op::Int { dst, value: wait + 1 });
        self.post(&mut fx.f, fx.resume, &[token]);
        fx.leave(wait + 1, label);
    }

    fn repeat(&mut self, fx: &mut Fx, repeat: &Repeat) {
        let (turn, done) = (fx.f.label(), fx.f.label());
        match &repeat.count {
            Count::Times(times) => {
                let times = (*times).min(self.options.turns_max);
                let counter = self.b.global("turn", Literal::Int(0));
                Self::set_int(&mut fx.f, counter, 0);
                fx.f.bind(turn);
                let over = fx.f.label();
                let a = Self::get(&mut fx.f, counter);
                let most = fx.f.value(|dst| Op::Int { dst, value: times as i32 });
                let more = fx.f.value(|dst| Op::Lt { dst, a, b: most });
                fx.f.jump_if_not(more, over);
                Self::add(&mut fx.f, counter, 1);
                self.inner_sequence(fx, &repeat.sequence, turn);
                fx.f.bind(over);
                Self::set_int(&mut fx.f, counter, 0);
                fx.f.jump(done);
            }
            Count::Unknown => {
                fx.f.bind(turn);
                let go = fx.f.label();
                // Each turn is a question of its own.
                self.guess(&mut fx.f, go, done);
                fx.f.bind(go);
                let after = fx.f.label();
                self.inner_sequence(fx, &repeat.sequence, after);
                fx.f.bind(after);
                self.pause(fx);
                fx.f.jump(turn);
            }
            Count::While(conditions) => {
                fx.f.bind(turn);
                let seen = fx.seen;
                self.require(&mut fx.f, &seen, conditions, done);
                let after = fx.f.label();
                self.inner_sequence(fx, &repeat.sequence, after);
                fx.f.bind(after);
                self.pause(fx);
                fx.f.jump(turn);
            }
            Count::Until(conditions) => {
                fx.f.bind(turn);
                let (after, again) = (fx.f.label(), fx.f.label());
                self.inner_sequence(fx, &repeat.sequence, after);
                fx.f.bind(after);
                let seen = fx.seen;
                self.require(&mut fx.f, &seen, conditions, again);
                fx.f.jump(done);
                fx.f.bind(again);
                self.pause(fx);
                fx.f.jump(turn);
            }
        }
        fx.f.bind(done);
    }

    fn parallel(&mut self, fx: &mut Fx, branches: &[Vec<Action>]) {
        let (wait, label) = fx.suspension();
        let counters: Vec<RunPlace> = branches.iter().map(|_| self.place(fx)).collect();
        let pcs: Vec<GlobalId> = counters.iter().map(|place| place.pc).collect();
        let (parent, resume) = (fx.pc, fx.resume);
        for (place, actions) in counters.iter().zip(branches) {
            let all = pcs.clone();
            let bodies = self.body(fx.part, place, actions, &mut |lower, f| {
                let own = place.pc;
                Self::set_int(f, own, 0);
                // The last branch wakes the run.
                let end = f.label();
                Self::unless_int(f, parent, wait, end);
                for pc in &all {
                    Self::unless_int(f, *pc, 0, end);
                }
                Self::set_int(f, parent, wait + 1);
                let token = f.value(|dst| Op::Int { dst, value: wait + 1 });
                lower.post(f, resume, &[token]);
                f.bind(end);
            });
            if let Some(inner) = self.inner.last_mut() {
                inner.extend(bodies);
            }
            self.define_resume(fx.part, place);
            Self::set_int(&mut fx.f, place.pc, START);
            Self::call(&mut fx.f, place.step, &[]);
        }
        let some = fx.f.label();
        for pc in &pcs {
            Self::unless_int(&mut fx.f, *pc, 0, some);
        }
        let token = fx.f.value(|dst| Op::Int { dst, value: wait + 1 });
        self.post(&mut fx.f, fx.resume, &[token]);
        Self::set_int(&mut fx.f, fx.pc, wait + 1);
        fx.f.emit(Op::ReturnNull);
        fx.f.bind(some);
        fx.leave(wait, label);
        // What ends a branch ends the run, after all branches.
        let stopped = Self::get(&mut fx.f, fx.stopped);
        let goes_on = fx.f.label();
        fx.f.jump_if_not(stopped, goes_on);
        self.stop(fx);
        fx.f.bind(goes_on);
    }

    /// Ends the run: in a branch, the branch, and the run after all branches.
    fn stop(&mut self, fx: &mut Fx) {
        let src = fx.f.value(|dst| Op::Bool { dst, value: fx.is_branch });
        fx.f.emit(Op::SetGlobal { global: fx.stopped, src });
        let end = fx.end;
        fx.f.jump(end);
    }

    /// A branch sees what its run sees.
    fn place(&mut self, fx: &Fx) -> RunPlace {
        let seen =
            self.parts[fx.part].runs.iter().find(|run| run.wait == fx.wait).and_then(|r| r.seen);
        let mut place = self.new_place(fx.part, "branch");
        place.seen = seen;
        place.stopped = fx.stopped;
        place
    }

    fn wait_for_trigger(
        &mut self,
        fx: &mut Fx,
        triggers: &[Trigger],
        timeout: Option<Duration>,
        goes_on: bool,
    ) {
        let (wait, label) = fx.suspension();
        let timer = self.timeout(fx, wait, timeout);
        let wake = self.waker(fx, wait, Some(("true", fx.wait)), timer);
        let mut then = self.b.function("wait", 4);
        Self::call(&mut then, wake, &[]);
        let then = self.b.add(then);
        let rank = self.next_wait_rank();
        let first = self.timers.len();
        for trigger in triggers {
            self.trigger(trigger, Listener { then, rank, only: Some((fx.pc, wait)) });
        }
        // Timers of `for` end with the wait.
        fx.body.timers.extend((first..self.timers.len()).map(|timer| timer as i32));
        self.begin_wait(fx, timer);
        fx.leave(wait, label);
        self.after_wait(fx, goes_on);
    }

    fn wait_template(
        &mut self,
        fx: &mut Fx,
        template: &str,
        timeout: Option<Duration>,
        goes_on: bool,
        place: Place,
    ) {
        let tree = self.tree_of(template, place);
        let (wait, label) = fx.suspension();
        let timer = self.timeout(fx, wait, timeout);
        let wake = self.waker(fx, wait, Some(("true", fx.wait)), timer);
        let rank = self.next_wait_rank();
        let mut keys = Vec::new();
        variables(&tree, &mut keys);
        for key in &keys {
            let mut f = self.b.function("wait", 2);
            let none = f.value(|dst| Op::Null { dst });
            let seen = Seen { id: none, entity: none, from: none, to: none, wait: None };
            let (yes, no) = (f.label(), f.label());
            Self::unless_int(&mut f, fx.pc, wait, no);
            let tree = only_states(&tree);
            self.test(&mut f, &seen, (template, &tree), yes, no);
            f.bind(yes);
            Self::call(&mut f, wake, &[]);
            f.bind(no);
            let func = self.b.add(f);
            if let Some(at) = self.table.get(key) {
                let only = Some((fx.pc, wait));
                self.heard[at].push(super::program::Heard { func, rank, only });
            }
        }
        let (already, not_yet) = (fx.f.label(), fx.f.label());
        let seen = fx.seen;
        self.test(&mut fx.f, &seen, (template, &tree), already, not_yet);
        fx.f.bind(not_yet);
        self.begin_wait(fx, timer);
        let (behind, over) = (label, fx.f.label());
        fx.leave(wait, behind);
        fx.f.jump(over);
        fx.f.bind(already);
        let src = self.text_reg(&mut fx.f, "true");
        fx.f.emit(Op::SetGlobal { global: fx.wait, src });
        fx.f.bind(over);
        self.after_wait(fx, goes_on);
    }

    fn timeout(&mut self, fx: &mut Fx, wait: i32, timeout: Option<Duration>) -> Option<i32> {
        let expire = self.waker(fx, wait, Some(("false", fx.wait)), None);
        let timer = timeout.map(|duration| self.timer(millis(duration), expire));
        fx.body.timers.extend(timer);
        timer
    }

    fn begin_wait(&mut self, fx: &mut Fx, timer: Option<i32>) {
        let src = self.text_reg(&mut fx.f, "false");
        fx.f.emit(Op::SetGlobal { global: fx.wait, src });
        if let Some(timer) = timer {
            self.start_timer(&mut fx.f, timer);
        }
    }

    fn after_wait(&mut self, fx: &mut Fx, goes_on: bool) {
        if goes_on {
            return;
        }
        let a = Self::get(&mut fx.f, fx.wait);
        let b = self.text_reg(&mut fx.f, "false");
        let over = fx.f.value(|dst| Op::Eq { dst, a, b });
        let goes_on = fx.f.label();
        fx.f.jump_if_not(over, goes_on);
        self.stop(fx);
        fx.f.bind(goes_on);
    }

    fn variable(&mut self, name: &str, value: &crate::yaml::Node, place: Place) {
        if let Some(text) = value.scalar().filter(|_| value.tag.is_none()) {
            std::sync::Arc::make_mut(&mut self.variables).insert(name.to_owned(), text);
        } else {
            std::sync::Arc::make_mut(&mut self.variables).remove(name);
        }
        if value.has_template() {
            self.problem(
                place,
                Severity::Note,
                "variable from a template",
                "it is read again where it is used",
            );
        }
    }

    /// Calls a script and waits for its end.
    pub(super) fn call_script(&mut self, fx: &mut Fx, child: usize) {
        let (wait, label) = fx.suspension();
        let caller = self.calls.len() as i32 + 1;
        self.calls.push(super::program::CallOf { caller, pc: fx.pc, wait, resume: fx.resume });
        fx.body.children.push((wait, fx.pc, child, caller));
        let none = fx.f.value(|dst| Op::Null { dst });
        let number = fx.f.value(|dst| Op::Int { dst, value: caller });
        let start = self.parts[child].start;
        let waits = Self::call(&mut fx.f, start, &[none, none, none, none, number]);
        let over = fx.f.label();
        fx.f.jump_if_not(waits, over);
        fx.leave(wait, label);
        fx.f.bind(over);
    }
}

/// A tree outside of its run, where only states are known.
fn only_states(tree: &Tree) -> Tree {
    match tree {
        Tree::Branch(Var::State(key), branches) => Tree::Branch(
            Var::State(key.clone()),
            branches.iter().map(|(value, below)| (value.clone(), only_states(below))).collect(),
        ),
        Tree::Branch(..) => Tree::Unknown("template of a wait".to_owned()),
        other => other.clone(),
    }
}
