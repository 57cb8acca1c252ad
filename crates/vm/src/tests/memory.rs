//! Memoization: on random programs, a machine with a memo does the same as one that executes every
//! step. A memo that omits something does not.

use super::random::Random;
use crate::Action;
use crate::machine::Machine;
use crate::program::{
    Builtin, ChoiceId, EventId, Family, FuncId, FunctionBuilder, GlobalId, HandlerId, Literal,
    MailboxKind, Op, Post, PostTarget, Program, ProgramBuilder, Reg, TaskId,
};
use crate::sabotage::Sabotage;
use crate::state::State;
use anyorder_system::{StateSystem, Successor};
use rustc_hash::FxHashSet;

const STATES_MAX: usize = 250;

const KINDS: [&str; 13] = [
    "count", "element", "index", "map", "set", "grow", "whole", "post", "enable", "assume",
    "choose", "assert", "branch",
];

/// Makes programs that can be memoized: without objects, handles and threads, with tasks as single
/// steps.
struct Generator<'r> {
    random: &'r mut Random,
    b: ProgramBuilder,
    ints: Vec<GlobalId>,
    list: GlobalId,
    map: GlobalId,
    set: GlobalId,
    handlers: Vec<HandlerId>,
    tasks: Vec<TaskId>,
    events: Vec<EventId>,
    choice: ChoiceId,
    used: [u32; KINDS.len()],
}

struct Regs {
    int: Reg,
    test: Reg,
    whole: Reg,
    pair: Reg,
}

fn generate(random: &mut Random) -> (Program, [u32; KINDS.len()]) {
    let mut b = ProgramBuilder::new("random");
    let mut ints = vec![b.global("x", Literal::Int(0)), b.global("y", Literal::Int(1))];
    let list = b.global("xs", Literal::List(vec![Literal::Int(0), Literal::Int(0)]));
    let map = b.global("m", Literal::Map(vec![(Literal::Int(0), Literal::Int(0))]));
    let set = b.global("s", Literal::Set(vec![]));
    if random.chance(30) {
        // More than one chunk of globals.
        ints.extend((0..6).map(|i| b.global(&format!("z{i}"), Literal::Int(i))));
    }
    let kinds = [MailboxKind::Fifo, MailboxKind::Bag, MailboxKind::Delayed];
    let handlers = kinds.map(|kind| b.handler("h", kind, None)).to_vec();
    let choice = b.choice(&["a", "b"]);
    let bodies = [b.declare_function(), b.declare_function()];
    let tasks = bodies.map(|body| b.task("t", body, Some(HandlerId(0)))).to_vec();
    let (events, used) = (Vec::new(), [0; KINDS.len()]);
    let mut g =
        Generator { random, b, ints, list, map, set, handlers, tasks, events, choice, used };
    g.program(bodies);
    let used = g.used;
    (g.b.finish().expect("generated programs are valid"), used)
}

impl Generator<'_> {
    fn program(&mut self, bodies: [FuncId; 2]) {
        let mut settings = self.b.program().settings;
        settings.size = 60;
        self.b.settings(settings);
        for i in 0..3 {
            let body = self.b.declare_function();
            let event = self.b.event(&format!("e{i}"), body);
            self.events.push(event);
        }
        for body in bodies {
            let f = self.function();
            self.b.define(body, f);
        }
        for event in self.events.clone() {
            let f = self.function();
            let body = self.b.event_mut(event).map(|event| event.body).expect("just made");
            self.b.define(body, f);
            let guard = self.guard(1);
            let guard = self.random.chance(70).then(|| self.b.add(guard));
            let once = self.random.chance(30);
            let event = self.b.event_mut(event).expect("just made");
            event.family = Some(Family { first: 0, count: 3, index: None });
            event.guard = guard;
            event.once = once;
        }
        for i in 0..2 {
            let f = self.guard(0);
            let holds = self.b.add(f);
            self.b.invariant(&format!("i{i}"), holds);
        }
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.below(of.len())]
    }

    /// Makes a guard that reads a global and an element. With a parameter, the element may be that
    /// of the family's index.
    fn guard(&mut self, params: u16) -> FunctionBuilder {
        let mut f = FunctionBuilder::new("g", params, 0);
        let (int, test) = (f.reg(), f.reg());
        let (no, end) = (f.label(), f.label());
        let global = self.pick(&self.ints.clone());
        f.emit(Op::GetGlobal { dst: int, global });
        f.emit(Op::EqInt { dst: test, a: int, value: self.random.below(3) as i32 });
        f.jump_if(test, no);
        if self.random.chance(50) {
            f.emit(Op::Int { dst: int, value: self.random.below(2) as i32 });
            let index = if params > 0 && self.random.chance(50) { f.param(0) } else { int };
            f.emit(Op::GetGlobalAt { dst: int, global: self.list, index });
        } else {
            f.emit(Op::GetGlobal { dst: int, global: self.list });
            f.emit(Op::Method { dst: int, method: Builtin::Sum, recv: int, args: int });
        }
        f.emit(Op::EqInt { dst: test, a: int, value: self.random.below(3) as i32 });
        f.emit(Op::Not { dst: test, a: test });
        f.jump(end);
        f.bind(no);
        f.emit(Op::Bool { dst: test, value: false });
        f.bind(end);
        f.emit(Op::Return { src: test });
        f
    }

    fn function(&mut self) -> FunctionBuilder {
        let mut f = FunctionBuilder::new("f", 1, 0);
        let regs = Regs { int: f.reg(), test: f.reg(), whole: f.reg(), pair: f.regs(2) };
        f.emit(Op::Int { dst: regs.int, value: 1 });
        for _ in 0..1 + self.random.below(4) {
            self.statement(&mut f, &regs, 1);
        }
        f.emit(Op::ReturnNull);
        f
    }

    fn modulo(&mut self, f: &mut FunctionBuilder, r: &Regs) {
        f.emit(Op::AddInt { dst: r.int, a: r.int, value: 1 });
        f.emit(Op::Int { dst: r.test, value: 3 });
        f.emit(Op::Rem { dst: r.int, a: r.int, b: r.test });
    }

    fn statement(&mut self, f: &mut FunctionBuilder, r: &Regs, depth: usize) {
        let kind = self.random.below(if depth > 0 { KINDS.len() } else { KINDS.len() - 1 });
        self.used[kind] += 1;
        let global = self.pick(&self.ints.clone());
        let at = self.random.below(3) as i32;
        match kind {
            0 => {
                f.emit(Op::GetGlobal { dst: r.int, global });
                self.modulo(f, r);
                f.emit(Op::SetGlobal { global, src: r.int });
            }
            1 => {
                // The third element is only sometimes there.
                f.emit(Op::Int { dst: r.pair, value: at });
                f.emit(Op::GetGlobalAt { dst: r.int, global: self.list, index: r.pair });
                self.modulo(f, r);
                f.emit(Op::SetGlobalAt { global: self.list, index: r.pair, src: r.int });
            }
            2 => {
                f.emit(Op::SetGlobalAt { global: self.list, index: f.param(0), src: r.int });
            }
            3 => {
                f.emit(Op::Int { dst: r.pair, value: at });
                f.emit(Op::SetGlobalAt { global: self.map, index: r.pair, src: r.int });
                if self.random.chance(50) {
                    f.emit(Op::GetGlobalAt { dst: r.int, global: self.map, index: f.param(0) });
                }
            }
            4 => {
                f.emit(Op::GetGlobal { dst: r.whole, global: self.set });
                let method = if self.random.chance(60) { Builtin::Add } else { Builtin::Remove };
                f.emit(Op::Method { dst: r.test, method, recv: r.whole, args: r.int });
                f.emit(Op::SetGlobal { global: self.set, src: r.whole });
            }
            5 => {
                f.emit(Op::GetGlobal { dst: r.whole, global: self.list });
                let method = if self.random.chance(60) { Builtin::Push } else { Builtin::Pop };
                f.emit(Op::Method { dst: r.test, method, recv: r.whole, args: r.int });
                f.emit(Op::SetGlobal { global: self.list, src: r.whole });
            }
            6 => {
                f.emit(Op::GetGlobal { dst: r.whole, global: self.list });
                f.emit(Op::Method { dst: r.int, method: Builtin::Len, recv: r.whole, args: r.int });
                f.emit(Op::SetGlobal { global, src: r.int });
            }
            7 => self.post(f, r),
            8 => {
                let (event, index) = (self.pick(&self.events.clone()), f.param(0));
                let index = if self.random.chance(50) { index } else { Reg::NONE };
                f.emit(match self.random.chance(50) {
                    true => Op::Enable { event, index },
                    false => Op::Disable { event, index },
                });
            }
            9 | 11 => {
                f.emit(Op::GetGlobal { dst: r.int, global });
                f.emit(Op::EqInt { dst: r.test, a: r.int, value: at });
                if kind == 9 || self.random.chance(80) {
                    f.emit(Op::Not { dst: r.test, a: r.test });
                }
                let message = self.b.constant(Literal::Str("no".into()));
                f.emit(match kind {
                    9 => Op::Assume { cond: r.test },
                    _ => Op::Assert { cond: r.test, message },
                });
            }
            10 => {
                f.emit(Op::Choose { dst: r.int, choice: self.choice });
                f.emit(Op::SetGlobal { global, src: r.int });
            }
            _ => {
                let skip = f.label();
                f.emit(Op::GetGlobal { dst: r.whole, global });
                f.emit(Op::EqInt { dst: r.test, a: r.whole, value: at });
                f.jump_if_not(r.test, skip);
                self.statement(f, r, 0);
                f.bind(skip);
            }
        }
    }

    fn post(&mut self, f: &mut FunctionBuilder, r: &Regs) {
        let (task, handler) = (self.pick(&self.tasks.clone()), self.pick(&self.handlers.clone()));
        let target = match self.random.below(6) {
            0 => PostTarget::Any,
            1 => PostTarget::Own,
            _ => PostTarget::Handler(handler, Reg::NONE),
        };
        let delay = if self.random.chance(50) { r.pair } else { Reg::NONE };
        f.emit(Op::Int { dst: r.pair, value: self.random.below(4) as i32 });
        let front = self.random.chance(15);
        let post = self.b.post_with(Post { task, target, delay, front });
        let args = if self.random.chance(50) { r.int } else { f.param(0) };
        f.emit(Op::Post { dst: Reg::NONE, post, args });
    }
}

fn successors(machine: &Machine, state: &State) -> Vec<Successor<State, Action>> {
    let mut found = Vec::new();
    machine.successors(state, &mut found);
    found
}

fn bytes(machine: &Machine, state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.encode(state, &mut bytes);
    bytes
}

/// Returns the first difference between a machine with these sabotage and one without a memo, if
/// there is one, and the number of states.
fn first_difference(program: &Program, sabotage: Sabotage) -> (Option<&'static str>, usize) {
    let plain = Machine::new(program.clone()).expect("valid").sabotaged(Sabotage::NoMemory);
    let machine = Machine::new(program.clone()).expect("valid").sabotaged(sabotage);
    assert!(machine.memoizable.any, "nothing to remember");
    let mut states = plain.initial();
    let mut seen: FxHashSet<Vec<u8>> = FxHashSet::default();
    let mut at = 0;
    while at < states.len() {
        let state = states[at].clone();
        let (expected, found) = (successors(&plain, &state), successors(&machine, &state));
        if expected.len() != found.len() {
            return (Some("other transitions"), at);
        }
        for (a, b) in expected.iter().zip(&found) {
            let mut fresh = b.state.clone();
            fresh.recompute_sum();
            if (a.action, &a.failure) != (b.action, &b.failure) {
                return (Some("another transition"), at);
            }
            if a.state.sum != b.state.sum || a.state != b.state || a.state.sum != fresh.sum {
                return (Some("another state"), at);
            }
            if bytes(&plain, &a.state) != bytes(&machine, &b.state) {
                return (Some("other bytes"), at);
            }
        }
        for invariant in 0..program.invariants.len() {
            if plain.holds(invariant, &state) != machine.holds(invariant, &state) {
                return (Some("another answer"), at);
            }
        }
        for successor in found.into_iter().filter(|s| s.failure.is_none()) {
            if states.len() < STATES_MAX && seen.insert(bytes(&plain, &successor.state)) {
                states.push(successor.state);
            }
        }
        at += 1;
    }
    (None, at)
}

#[test]
fn what_is_remembered_is_what_would_be_executed() {
    let (mut used, mut states) = ([0; KINDS.len()], 0);
    for seed in 0..600 {
        let (program, kinds) = generate(&mut Random(seed));
        let (difference, visited) = first_difference(&program, Sabotage::None);
        assert_eq!(difference, None, "seed {seed}");
        states += visited;
        for (total, count) in used.iter_mut().zip(kinds) {
            *total += count;
        }
    }
    println!("{states} states; statements:");
    for (kind, count) in KINDS.iter().zip(used) {
        println!("  {kind}: {count}");
        assert!(count > 100, "{kind} hardly ever fired");
    }
    assert!(states > 20_000, "{states}");
}

#[test]
fn a_memory_that_forgets_is_caught() {
    let mutants = [Sabotage::ForgetReads, Sabotage::ForgetEffects];
    for sabotage in mutants {
        let programs = (0..300).map(|seed| generate(&mut Random(seed)).0);
        let caught =
            programs.filter(|program| first_difference(program, sabotage).0.is_some()).count();
        println!("{sabotage:?}: caught on {caught} of 300 programs");
        assert!(caught > 60, "{sabotage:?} is hardly ever caught: {caught}");
    }
}
