//! Threads, locks, conditions, fork and join, and symmetry.

use crate::support::{bytes, ends, explore, function, int, machine, part};
use anyorder_system::StateSystem;
use anyorder_vm::program::{
    Family, FunctionBuilder, GlobalId, Literal, LockId, Op, ProgramBuilder, Reg, Symmetry,
};
use std::collections::BTreeSet;

fn increment(f: &mut FunctionBuilder, x: GlobalId) {
    let value = f.reg();
    f.emit(Op::GetGlobal { dst: value, global: x });
    f.emit(Op::AddInt { dst: value, a: value, value: 1 });
    f.emit(Op::SetGlobal { global: x, src: value });
}

fn locked(f: &mut FunctionBuilder, lock: LockId, body: impl FnOnce(&mut FunctionBuilder)) {
    f.emit(Op::Acquire { lock, index: Reg::NONE });
    body(f);
    f.emit(Op::Release { lock, index: Reg::NONE });
}

/// Two threads that add one each, in one of several ways.
fn adding(body: impl Fn(&mut FunctionBuilder, GlobalId, LockId)) -> Vec<String> {
    let mut b = ProgramBuilder::new("add");
    let (x, m) = (b.global("x", Literal::Int(0)), b.lock("m", None));
    let func = function(&mut b, "t", 0, |f| body(f, x, m));
    b.thread("t1", None, func);
    b.thread("t2", None, func);
    let machine = machine(b.finish().expect("valid"));
    let explored = explore(&machine, 1_000);
    assert_eq!(explored.failures, [] as [String; 0]);
    assert!(explored.stuck.iter().all(|state| machine.is_final(state)));
    ends(&machine, &explored, "x").into_iter().collect()
}

#[test]
fn threads_interleave_at_visible_instructions() {
    assert_eq!(adding(|f, x, _| increment(f, x)), ["1", "2"]);
    assert_eq!(adding(|f, x, m| locked(f, m, |f| increment(f, x))), ["2"]);
    let atomic = adding(|f, x, _| {
        f.emit(Op::AtomicBegin);
        increment(f, x);
        f.emit(Op::AtomicEnd);
    });
    assert_eq!(atomic, ["2"]);
}

#[test]
fn locks_in_opposite_order_deadlock() {
    let mut b = ProgramBuilder::new("deadlock");
    let locks = b.lock("m", Some(2));
    for order in [[0, 1], [1, 0]] {
        let body = function(&mut b, "t", 0, |f| {
            let first = int(f, order[0]);
            let second = int(f, order[1]);
            for index in [first, second] {
                f.emit(Op::Acquire { lock: locks, index });
            }
            for index in [second, first] {
                f.emit(Op::Release { lock: locks, index });
            }
        });
        b.thread(&format!("t{}", order[0]), None, body);
    }
    let machine = machine(b.finish().expect("valid"));
    let explored = explore(&machine, 1_000);
    let deadlocks: Vec<_> =
        explored.stuck.iter().filter(|state| !machine.is_final(state)).collect();
    assert_eq!(deadlocks.len(), 1);
    assert_eq!(part(&machine, deadlocks[0], "lock m[0]"), "held by t0");
    assert_eq!(part(&machine, deadlocks[0], "lock m[1]"), "held by t1");
}

#[test]
fn a_release_of_a_lock_not_held_fails() {
    let mut b = ProgramBuilder::new("release");
    let lock = b.lock("m", None);
    let body = function(&mut b, "t", 0, |f| {
        f.emit(Op::Release { lock, index: Reg::NONE });
    });
    b.thread("t", None, body);
    let explored = explore(&machine(b.finish().expect("valid")), 10);
    assert_eq!(explored.failures, ["lock not held: release of a lock that it does not have"]);
}

#[test]
fn an_atomic_body_cannot_wait() {
    let mut b = ProgramBuilder::new("block");
    let lock = b.lock("m", None);
    let body = function(&mut b, "e", 0, |f| {
        f.emit(Op::Acquire { lock, index: Reg::NONE });
        f.emit(Op::Acquire { lock, index: Reg::NONE });
    });
    b.event("e", body);
    let explored = explore(&machine(b.finish().expect("valid")), 10);
    assert_eq!(explored.failures, ["blocking in an atomic body: the lock is held"]);
}

/// A consumer that waits, if the flag is not set yet, and a producer that sets it and notifies.
fn waiting(checked_under_lock: bool) -> (usize, usize) {
    let mut b = ProgramBuilder::new("wait");
    let flag = b.global("flag", Literal::Bool(false));
    let (m, c) = (b.lock("m", None), b.cond("c", None));
    let consumer = function(&mut b, "consumer", 0, |f| {
        let (set, go) = (f.reg(), f.label());
        let (lock, index) = (m, Reg::NONE);
        if !checked_under_lock {
            f.emit(Op::GetGlobal { dst: set, global: flag });
        }
        f.emit(Op::Acquire { lock, index });
        if checked_under_lock {
            f.emit(Op::GetGlobal { dst: set, global: flag });
        }
        f.jump_if(set, go);
        f.emit(Op::Wait { cond: c, cond_index: index, lock, lock_index: index });
        f.bind(go);
        f.emit(Op::Release { lock, index });
    });
    let producer = function(&mut b, "producer", 0, |f| {
        locked(f, m, |f| {
            let yes = f.reg();
            f.emit(Op::Bool { dst: yes, value: true });
            f.emit(Op::SetGlobal { global: flag, src: yes });
            f.emit(Op::Notify { cond: c, index: Reg::NONE });
        });
    });
    b.thread("consumer", None, consumer);
    b.thread("producer", None, producer);
    let machine = machine(b.finish().expect("valid"));
    let explored = explore(&machine, 1_000);
    assert_eq!(explored.failures, [] as [String; 0]);
    let good = explored.stuck.iter().filter(|state| machine.is_final(state)).count();
    (good, explored.stuck.len() - good)
}

#[test]
fn wake_ups_are_lost_without_the_lock() {
    assert_eq!(waiting(true), (1, 0));
    let (good, deadlocks) = waiting(false);
    assert!(good > 0 && deadlocks > 0);
}

#[test]
fn notify_wakes_any_one_and_notify_all_all() {
    let run = |all: bool| {
        let mut b = ProgramBuilder::new("notify");
        let log = b.global("woken", Literal::List(vec![Literal::Bool(false); 2]));
        let waiting = b.global("waiting", Literal::Int(0));
        let (lock, cond) = (b.lock("m", None), b.cond("c", None));
        let none = Reg::NONE;
        let body = function(&mut b, "w", 1, |f| {
            f.emit(Op::Acquire { lock, index: none });
            increment(f, waiting);
            f.emit(Op::Wait { cond, cond_index: none, lock, lock_index: none });
            let yes = f.reg();
            f.emit(Op::Bool { dst: yes, value: true });
            f.emit(Op::SetGlobalAt { global: log, index: Reg(0), src: yes });
            f.emit(Op::Release { lock, index: none });
        });
        b.thread("w", Some(Family { first: 0, count: 2, index: None }), body);
        let notifier = function(&mut b, "n", 0, |f| {
            let (count, two, head) = (f.reg(), f.reg(), f.label());
            f.bind(head);
            f.emit(Op::GetGlobal { dst: count, global: waiting });
            f.emit(Op::EqInt { dst: two, a: count, value: 2 });
            f.jump_if_not(two, head);
            f.emit(Op::Acquire { lock, index: none });
            f.emit(if all {
                Op::NotifyAll { cond, index: none }
            } else {
                Op::Notify { cond, index: none }
            });
            f.emit(Op::Release { lock, index: none });
        });
        b.thread("n", None, notifier);
        let machine = machine(b.finish().expect("valid"));
        let explored = explore(&machine, 10_000);
        ends(&machine, &explored, "woken").into_iter().collect::<Vec<_>>()
    };
    assert_eq!(run(true), ["[true, true]"]);
    assert_eq!(run(false), ["[false, true]", "[true, false]"]);
}

#[test]
fn join_waits_for_what_fork_started() {
    let mut b = ProgramBuilder::new("fork");
    let (x, seen) = (b.global("x", Literal::Int(0)), b.global("seen", Literal::Null));
    let child = function(&mut b, "child", 1, |f| {
        f.emit(Op::SetGlobal { global: x, src: Reg(0) });
    });
    let main = function(&mut b, "main", 0, |f| {
        let (seven, handle, value) = (int(f, 7), f.reg(), f.reg());
        f.emit(Op::Fork { dst: handle, func: child, args: seven });
        f.emit(Op::Join { src: handle });
        f.emit(Op::GetGlobal { dst: value, global: x });
        f.emit(Op::SetGlobal { global: seen, src: value });
    });
    b.thread("main", None, main);
    let machine = machine(b.finish().expect("valid"));
    let explored = explore(&machine, 100);
    assert_eq!(ends(&machine, &explored, "seen"), BTreeSet::from(["7".to_owned()]));
    assert!(explored.stuck.iter().all(|state| machine.is_final(state)));
}

#[test]
fn interchangeable_threads_have_one_representative() {
    let mut b = ProgramBuilder::new("symmetric");
    let done = b.global("done", Literal::Array(0, vec![Literal::Int(0); 3]));
    let x = b.global("x", Literal::Int(0));
    let body = function(&mut b, "t", 1, |f| {
        increment(f, x);
        let one = int(f, 1);
        f.emit(Op::SetGlobalAt { global: done, index: Reg(0), src: one });
    });
    let threads = b.thread("t", Some(Family { first: 0, count: 3, index: Some(0) }), body);
    let (name, threads) = ("T".to_owned(), vec![threads]);
    b.symmetry(Symmetry { name, size: 3, threads, ..Symmetry::default() });
    let machine = machine(b.finish().expect("valid"));
    let all = explore(&machine, 10_000);
    let classes: BTreeSet<Vec<u8>> = all
        .states
        .iter()
        .map(|state| bytes(&machine, &machine.representative(state).expect("declared")))
        .collect();
    // A search that expands only representatives finds the same classes.
    let mut found = BTreeSet::new();
    let mut stack = vec![machine.representative(&machine.initial()[0]).expect("declared")];
    while let Some(state) = stack.pop() {
        if found.insert(bytes(&machine, &state)) {
            for successor in crate::support::successors(&machine, &state) {
                stack.push(machine.representative(&successor.state).expect("declared"));
            }
        }
    }
    assert_eq!(found, classes);
    println!("{} states, {} classes", all.states.len(), classes.len());
    assert!(classes.len() * 3 < all.states.len());
}
