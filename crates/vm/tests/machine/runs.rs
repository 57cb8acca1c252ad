//! The machine as a task system: names, accesses, observations, snapshots.

use crate::support::{function, int, machine};
use anyorder_system::{
    AccessKind, Choice, Level, PartPath, RunError, Snapshots, StateSystem, SystemFactory,
    TaskSystem,
};
use anyorder_vm::program::{Family, Literal, MailboxKind, Op, PostTarget, ProgramBuilder, Reg};
use anyorder_vm::{MachineFactory, MachineRun};
use std::sync::Arc;

/// A click posts two loads; a load writes an element of a list.
fn clicks() -> MachineRun {
    let mut b = ProgramBuilder::new("clicks");
    let file = b.file("clicks.any");
    let site = b.site(file, 4, 9);
    let xs = b.global("xs", Literal::List(vec![Literal::Int(0); 2]));
    let ui = b.handler("ui", MailboxKind::Fifo, None);
    let load = function(&mut b, "load", 1, |f| {
        let nine = int(f, 9);
        f.at(site);
        f.emit(Op::SetGlobalAt { global: xs, index: Reg(0), src: nine });
    });
    let task = b.task("load", load, Some(ui));
    let post = b.post(task, PostTarget::Own);
    let click = function(&mut b, "click", 1, |f| {
        let whole = f.reg();
        f.emit(Op::GetGlobal { dst: whole, global: xs });
        for i in 0..2 {
            let index = int(f, i);
            f.emit(Op::Post { dst: Reg::NONE, post, args: index });
        }
    });
    let event = b.event("click", click);
    b.event_mut(event).expect("declared").family = Some(Family { first: 1, count: 2, index: None });
    let machine = Arc::new(machine(b.finish().expect("valid")));
    MachineFactory(machine).make().expect("starts")
}

fn enabled(run: &mut MachineRun) -> Vec<String> {
    run.enabled().expect("runs").into_iter().map(|task| task.task.to_string()).collect()
}

fn execute(run: &mut MachineRun, name: &str) -> anyorder_system::Step {
    run.execute(&Choice::of(name.parse().expect("a name"))).expect("enabled")
}

#[test]
fn names_say_who_created_what() {
    let mut run = clicks();
    assert_eq!(enabled(&mut run), ["click@1#1", "click@2#1"]);
    let step = execute(&mut run, "click@2#1");
    let posted: Vec<String> = step.posted.iter().map(|p| p.task.to_string()).collect();
    assert_eq!(posted, ["click@2#1/load", "click@2#1/load#1"]);
    assert_eq!(step.posted[0].handler, "ui");
    assert_eq!(enabled(&mut run), ["click@1#1", "click@2#2", "click@2#1/load"]);
    execute(&mut run, "click@2#1/load");
    execute(&mut run, "click@1#1");
    assert_eq!(enabled(&mut run), ["click@1#2", "click@2#2", "click@2#1/load#1"]);
    let error = run.execute(&Choice::of("click@2#1/load".parse().expect("a name")));
    let Err(RunError::Diverged(divergence)) = error else { panic!("it has run already") };
    assert_eq!((divergence.choice, divergence.enabled.len()), (3, 3));
}

#[test]
fn accesses_conflict_as_they_should() {
    let mut run = clicks();
    let read = execute(&mut run, "click@1#1");
    let write = execute(&mut run, "click@1#1/load");
    let words = |run: &MachineRun,
                 step: &anyorder_system::Step|
     -> Vec<(String, AccessKind, Option<u64>)> {
        let tables = run.tables();
        let accesses = step.accesses.as_slice().iter();
        accesses
            .map(|a| (tables.location_text(a.location), a.kind, a.read.or(a.written)))
            .filter(|(location, ..)| location.starts_with("xs"))
            .collect()
    };
    let reads = words(&run, &read);
    let kinds: Vec<(&str, AccessKind)> = reads.iter().map(|(l, k, _)| (l.as_str(), *k)).collect();
    use AccessKind::{Read, Write};
    assert_eq!(kinds, [("xs", Read), ("xs[0]", Read), ("xs[1]", Read)]);
    let writes = words(&run, &write);
    assert_eq!(writes, [("xs".to_owned(), Read, None), ("xs[0]".to_owned(), Write, Some(9))]);
    let site = write.accesses.as_slice().last().expect("the write").site;
    assert_eq!(run.tables().site_text(site), "clicks.any:4:9");
}

#[test]
fn runs_can_be_saved_observed_and_started_again() {
    let mut run = clicks();
    let start = run.observe().expect("runs");
    let first = run.fingerprint();
    let saved = run.save().expect("saves");
    execute(&mut run, "click@1#1");
    execute(&mut run, "click@1#1/load");
    let changed = run.observe().expect("runs").difference(&start);
    let paths: Vec<String> = changed.iter().map(|d| d.path.to_string()).collect();
    assert_eq!(paths, ["control/mailbox ui", "globals/xs"]);
    let part = run.observe().expect("runs");
    let part = part.part(&PartPath::new(["globals", "xs"])).expect("declared").clone();
    assert_eq!((part.level, part.text.as_deref()), (Level::Persistent, Some("[9, 0]")));
    run.restore(saved).expect("saved");
    assert_eq!(run.fingerprint(), first);
    assert_eq!(enabled(&mut run), ["click@1#1", "click@2#1"]);
    execute(&mut run, "click@1#1");
    run.reset().expect("starts");
    assert_eq!((run.fingerprint(), run.observe().expect("runs")), (first, start));
    run.forget(saved);
    assert!(run.restore(saved).is_err());
}

#[test]
fn an_init_that_fails_is_the_first_step() {
    let mut b = ProgramBuilder::new("init");
    let message = b.constant(Literal::Str("never".to_owned()));
    let init = function(&mut b, "init", 0, |f| {
        let src = f.reg();
        f.emit(Op::Const { dst: src, constant: message });
        f.emit(Op::Fail { message: src });
    });
    b.program_mut().init = Some(init);
    let machine = Arc::new(machine(b.finish().expect("valid")));
    assert!(!machine.is_final(&machine.initial()[0]));
    let mut run = MachineRun::new(machine);
    assert_eq!(enabled(&mut run), ["init"]);
    let step = execute(&mut run, "init");
    assert_eq!(step.failures, ["failure: never".into()]);
    assert_eq!(enabled(&mut run), [] as [String; 0]);
}
