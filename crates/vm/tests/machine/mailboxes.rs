//! Events, mailboxes, choices: the rules of the small steps.

use crate::support::{ends, explore, function, int, machine, part, successors};
use anyorder_system::StateSystem;
use anyorder_vm::Machine;
use anyorder_vm::program::{
    Builtin, Family, Granularity, Literal, MailboxKind, Op, Post, PostTarget, ProgramBuilder, Reg,
};
use std::collections::BTreeSet;

/// A program whose `init` posts `log(i)` for each (delay, front); `log` appends its argument to a
/// list.
fn logging(kind: MailboxKind, posts: &[(i32, bool)]) -> Machine {
    let mut b = ProgramBuilder::new("log");
    let log = b.global("log", Literal::List(vec![]));
    let handler = b.handler("h", kind, None);
    let body = function(&mut b, "log", 1, |f| {
        let (list, dst) = (f.reg(), f.reg());
        f.emit(Op::GetGlobal { dst: list, global: log });
        f.emit(Op::Method { dst, method: Builtin::Push, recv: list, args: Reg(0) });
        f.emit(Op::SetGlobal { global: log, src: list });
    });
    let task = b.task("log", body, Some(handler));
    let mut f = b.function("init", 0);
    for (i, (delay, front)) in (0..).zip(posts) {
        let (arg, delay) = (int(&mut f, i), int(&mut f, *delay));
        let post = b.post_with(Post { task, target: PostTarget::Own, delay, front: *front });
        f.emit(Op::Post { dst: Reg::NONE, post, args: arg });
    }
    let init = b.add(f);
    b.program_mut().init = Some(init);
    machine(b.finish().expect("valid"))
}

fn logs(kind: MailboxKind, posts: &[(i32, bool)]) -> Vec<String> {
    let machine = logging(kind, posts);
    let explored = explore(&machine, 10_000);
    assert_eq!(explored.failures, [] as [String; 0]);
    assert!(explored.stuck.iter().all(|state| machine.is_final(state)));
    ends(&machine, &explored, "log").into_iter().collect()
}

#[test]
fn mailboxes_give_what_they_allow() {
    let three = [(0, false), (0, false), (0, false)];
    assert_eq!(logs(MailboxKind::Fifo, &three), ["[0, 1, 2]"]);
    assert_eq!(logs(MailboxKind::Bag, &three).len(), 6);
    // Delays count only in `delayed` mailboxes.
    let delays = [(5, false), (2, false), (5, false), (0, false)];
    assert_eq!(logs(MailboxKind::Delayed, &delays), ["[3, 1, 0, 2]"]);
    assert_eq!(logs(MailboxKind::Fifo, &delays), ["[0, 1, 2, 3]"]);
    let fronts = [(0, false), (0, true), (0, true)];
    assert_eq!(logs(MailboxKind::Fifo, &fronts), ["[2, 1, 0]"]);
    assert_eq!(logs(MailboxKind::Delayed, &[(1, false), (9, true)]), ["[1, 0]"]);
    let bag = [(0, false), (0, false), (0, true)];
    assert_eq!(logs(MailboxKind::Bag, &bag), ["[2, 0, 1]", "[2, 1, 0]"]);
}

#[test]
fn due_times_are_relative() {
    // 1 after 3 and 2 after 10: once the first has run, 7 are left.
    let machine = logging(MailboxKind::Delayed, &[(3, false), (10, false)]);
    let state = machine.initial().remove(0);
    assert_eq!(part(&machine, &state, "mailbox h"), "log(0) after 3, log(1) after 10");
    let next = successors(&machine, &state).remove(0).state;
    assert_eq!(part(&machine, &next, "mailbox h"), "log(1) after 7");
}

#[test]
fn equal_messages_of_a_bag_are_one_transition() {
    let mut b = ProgramBuilder::new("p");
    let handler = b.handler("h", MailboxKind::Bag, None);
    let body = function(&mut b, "f", 0, |_| {});
    let task = b.task("t", body, Some(handler));
    let post = b.post(task, PostTarget::Own);
    let init = function(&mut b, "init", 0, |f| {
        for _ in 0..3 {
            f.emit(Op::Post { dst: Reg::NONE, post, args: Reg(0) });
        }
    });
    b.program_mut().init = Some(init);
    let machine = machine(b.finish().expect("valid"));
    let explored = explore(&machine, 10);
    assert_eq!((explored.states.len(), explored.transitions), (4, 3));
}

#[test]
fn events_start_as_declared() {
    let mut b = ProgramBuilder::new("events");
    let log = b.global("log", Literal::List(vec![]));
    let events: Vec<_> = (0..4)
        .map(|i| {
            let body = function(&mut b, "e", 0, |f| {
                let (list, dst, me) = (f.reg(), f.reg(), int(f, i));
                f.emit(Op::GetGlobal { dst: list, global: log });
                f.emit(Op::Method { dst, method: Builtin::Push, recv: list, args: me });
                f.emit(Op::SetGlobal { global: log, src: list });
                if i == 1 {
                    let event = anyorder_vm::program::EventId(3);
                    f.emit(Op::Enable { event, index: Reg::NONE });
                }
            });
            b.event(&format!("e{i}"), body)
        })
        .collect();
    for event in &events {
        b.event_mut(*event).expect("declared").once = true;
    }
    b.event_mut(events[1]).expect("declared").after.push(events[0]);
    b.event_mut(events[2]).expect("declared").started.push(events[1]);
    b.event_mut(events[3]).expect("declared").disabled = true;
    let machine = machine(b.finish().expect("valid"));
    let explored = explore(&machine, 100);
    let logs = ends(&machine, &explored, "log");
    let expected = ["[0, 1, 2, 3]", "[0, 1, 3, 2]"].map(str::to_owned);
    assert_eq!(logs, BTreeSet::from(expected));
}

#[test]
fn guards_and_families() {
    let mut b = ProgramBuilder::new("family");
    let done = b.global("done", Literal::List(vec![Literal::Bool(false); 3]));
    let mut g = b.function("guard", 1);
    let (is, not) = (g.reg(), g.reg());
    g.emit(Op::GetGlobalAt { dst: is, global: done, index: Reg(0) });
    g.emit(Op::Not { dst: not, a: is });
    g.emit(Op::Return { src: not });
    let guard = b.add(g);
    let body = function(&mut b, "body", 1, |f| {
        let yes = f.reg();
        f.emit(Op::Bool { dst: yes, value: true });
        f.emit(Op::SetGlobalAt { global: done, index: Reg(0), src: yes });
    });
    let event = b.event("rm", body);
    let event = b.event_mut(event).expect("declared");
    event.family = Some(Family { first: 0, count: 3, index: None });
    event.guard = Some(guard);
    let machine = machine(b.finish().expect("valid"));
    let explored = explore(&machine, 100);
    assert_eq!((explored.states.len(), explored.transitions), (8, 12));
    assert_eq!(
        machine.describe(&explored.states[0], &successors(&machine, &explored.states[0])[1].action),
        "rm[1]"
    );
}

#[test]
fn choices_assumptions_and_alternatives() {
    let mut b = ProgramBuilder::new("choose");
    let pair = b.global("pair", Literal::Null);
    let choice = b.choice(&["a", "b"]);
    let body = function(&mut b, "body", 0, |f| {
        let (args, list, differ, zero, three) = (f.regs(2), f.reg(), f.reg(), int(f, 0), int(f, 3));
        f.emit(Op::Choose { dst: args, choice });
        f.emit(Op::ChooseInt { dst: args.plus(1), a: zero, b: three });
        f.emit(Op::Ne { dst: differ, a: args, b: args.plus(1) });
        f.emit(Op::Assume { cond: differ });
        f.emit(Op::List { dst: list, args, count: 2 });
        f.emit(Op::SetGlobal { global: pair, src: list });
    });
    b.event("e", body);
    let machine = machine(b.finish().expect("valid"));
    let next = successors(&machine, &machine.initial()[0]);
    let shown: Vec<String> = next.iter().map(|s| part(&machine, &s.state, "pair")).collect();
    assert_eq!(shown, ["[0, 1]", "[0, 2]", "[1, 0]", "[1, 2]"]);
    let alternatives: Vec<u32> = next.iter().map(|s| s.action.alternative()).collect();
    assert_eq!(alternatives, [0, 1, 2, 3]);
}

#[test]
fn cancelled_posts_do_not_run_and_handles_end() {
    let mut b = ProgramBuilder::new("cancel");
    let (ran, handle) = (b.global("ran", Literal::Int(0)), b.global("handle", Literal::Null));
    let handler = b.handler("h", MailboxKind::Fifo, None);
    let body = function(&mut b, "f", 0, |f| {
        let count = f.reg();
        f.emit(Op::GetGlobal { dst: count, global: ran });
        f.emit(Op::AddInt { dst: count, a: count, value: 1 });
        f.emit(Op::SetGlobal { global: ran, src: count });
    });
    let task = b.task("t", body, Some(handler));
    let post = b.post(task, PostTarget::Own);
    let init = function(&mut b, "init", 0, |f| {
        let dst = f.reg();
        f.emit(Op::Post { dst, post, args: Reg(0) });
        f.emit(Op::SetGlobal { global: handle, src: dst });
    });
    b.program_mut().init = Some(init);
    let cancel = function(&mut b, "cancel", 0, |f| {
        let src = f.reg();
        f.emit(Op::GetGlobal { dst: src, global: handle });
        f.emit(Op::Cancel { src });
    });
    let event = b.event("cancel", cancel);
    b.event_mut(event).expect("declared").once = true;
    let machine = machine(b.finish().expect("valid"));
    let explored = explore(&machine, 100);
    assert_eq!(part(&machine, &explored.states[0], "handle"), "task#1");
    assert_eq!(ends(&machine, &explored, "ran"), BTreeSet::from(["0", "1"].map(str::to_owned)));
    assert_eq!(ends(&machine, &explored, "handle"), BTreeSet::from(["task#ended".to_owned()]));
}

#[test]
fn a_handler_runs_one_task_at_a_time() {
    // Two tasks that each read, add one, write back: on one handler no update is lost, on two it
    // may be.
    let run = |shared: bool, granularity: Granularity| {
        let mut b = ProgramBuilder::new("lost");
        let x = b.global("x", Literal::Int(0));
        let handlers = b.handler("h", MailboxKind::Fifo, Some(2));
        let body = function(&mut b, "add", 0, |f| {
            let value = f.reg();
            f.emit(Op::GetGlobal { dst: value, global: x });
            f.emit(Op::AddInt { dst: value, a: value, value: 1 });
            f.emit(Op::SetGlobal { global: x, src: value });
        });
        let task = b.task("add", body, None);
        let mut f = b.function("init", 0);
        for i in 0..2 {
            let index = int(&mut f, if shared { 0 } else { i });
            let post = b.post(task, PostTarget::Handler(handlers, index));
            f.emit(Op::Post { dst: Reg::NONE, post, args: Reg(0) });
        }
        let init = b.add(f);
        b.program_mut().init = Some(init);
        let mut settings = b.program().settings;
        settings.granularity = granularity;
        b.settings(settings);
        let machine = machine(b.finish().expect("valid"));
        let explored = explore(&machine, 1_000);
        ends(&machine, &explored, "x").into_iter().collect::<Vec<_>>()
    };
    assert_eq!(run(true, Granularity::Access), ["2"]);
    assert_eq!(run(false, Granularity::Access), ["1", "2"]);
    assert_eq!(run(false, Granularity::Task), ["2"]);
}
