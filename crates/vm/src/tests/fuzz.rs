//! Random instructions: whatever the validator passes runs without a panic, and the same way every
//! time.

use super::random::Random;
use crate::MachineRun;
use crate::machine::Machine;
use crate::program::Symmetry;
use crate::program::{
    Builtin, ChoiceId, ClassId, CondId, ConstId, EnumId, EventId, Family, FuncId, Function,
    GlobalId, Granularity, HandlerId, Literal, LockId, MailboxKind, NameId, NativeId, Op, Post,
    PostId, PostTarget, Program, ProgramBuilder, RecordId, Reg, SiteId, Type, TypeId,
};
use crate::state::State;
use anyorder_system::{Choice, Snapshots, StateSystem, TaskSystem};
use std::sync::Arc;

const REGISTERS: u16 = 6;

fn op(random: &mut Random, length: u32) -> Op {
    let mut reg = |none: bool| {
        if none && random.chance(50) {
            Reg::NONE
        } else {
            Reg(random.below(usize::from(REGISTERS)) as u16)
        }
    };
    let (dst, a, b, c) = (reg(false), reg(false), reg(false), reg(false));
    let (index, maybe) = (reg(true), reg(true));
    // Where nothing is read, the first register may be any.
    let args = match random.below(200) {
        0 => Reg::NONE,
        1 => Reg(u16::MAX - 1),
        _ => a,
    };
    let small = random.below(3) as u16;
    let target = random.below(length as usize) as u32;
    let value = random.below(5) as i32 - 1;
    let method = Builtin::ALL[random.below(Builtin::ALL.len())];
    let global = GlobalId(random.below(4) as u16);
    let (class, ty) = (ClassId(0), RecordId(0));
    match random.below(72) {
        0 => Op::Const { dst, constant: ConstId(random.below(7) as u32) },
        1..=4 => Op::Int { dst, value },
        5 => Op::Bool { dst, value: value > 0 },
        6 => Op::Null { dst },
        7 => Op::Move { dst, src: a },
        8 => Op::Add { dst, a, b },
        9 => Op::Sub { dst, a, b },
        10 => Op::Mul { dst, a, b },
        11 => Op::Div { dst, a, b },
        12 => Op::Rem { dst, a, b },
        13 => Op::AddInt { dst, a, value },
        14 => Op::Neg { dst, a },
        15 => Op::Not { dst, a },
        16 => Op::Eq { dst, a, b },
        17 => Op::Ne { dst, a, b },
        18 => Op::Lt { dst, a, b },
        19 => Op::Le { dst, a, b },
        20 => Op::In { dst, a, b },
        21 => Op::EqInt { dst, a, value },
        22 => Op::Jump { target },
        23 => Op::JumpIf { cond: a, target },
        24 => Op::JumpIfNot { cond: a, target },
        25 => Op::Call { dst, func: FuncId(small), args },
        26 => Op::CallValue { dst, callee: a, args, count: small },
        27 => Op::CallMember { dst, name: NameId(random.below(6) as u16), args, count: small },
        28 => Op::Closure { dst, func: FuncId(random.below(5) as u16), captures: args },
        29 => Op::Return { src: a },
        30 => Op::List { dst, args, count: small },
        31 => Op::Set { dst, args, count: small },
        32 => Op::Map { dst, args, count: small },
        33 if small == 2 => Op::Array { dst, src: a, index: 0 },
        33 => Op::Range { dst, a, b },
        34 => Op::Enum { dst, ty: EnumId(0), variant: small, args },
        35 if small == 2 => Op::IsObject { dst, src: a },
        35 if small == 1 => Op::IsFieldCall { dst, src: a, name: NameId(random.below(6) as u16) },
        35 => Op::IsVariant { dst, src: a, ty: EnumId(0), variant: small },
        36 => Op::Payload { dst, src: a, index: small },
        37 => Op::Record { dst, ty, args },
        38 => Op::RecordGet { dst, src: a, ty, field: small },
        39 => Op::RecordSet { record: dst, ty, field: small, src: a },
        40 => Op::Index { dst, src: a, index: b },
        41 => Op::SetIndex { container: dst, index: a, src: b },
        42..=45 => Op::Method { dst, method, recv: a, args },
        46 if small == 2 => Op::IsType { dst, src: a, ty: TypeId(random.below(3) as u16) },
        46 if small == 1 => Op::Native { dst, native: NativeId(0), args },
        46 => Op::Check { src: a, ty: TypeId(small) },
        47..=49 => Op::GetGlobal { dst, global },
        50..=52 => Op::SetGlobal { global, src: a },
        53 => Op::GetGlobalAt { dst, global, index: a },
        54 => Op::SetGlobalAt { global, index: a, src: b },
        55 => Op::New { dst, class, args },
        56 => Op::GetField { dst, object: a, class, field: small },
        57 => Op::SetField { object: a, class, field: small, src: b },
        58 => Op::GetFieldAt { dst, object: a, class, field: small, index: b },
        59 => Op::SetFieldAt { object: a, class, field: small, index: b, src: c },
        60 => Op::GetMember { dst, src: a, name: NameId(random.below(6) as u16) },
        61 => Op::SetMember { object: a, name: NameId(random.below(6) as u16), src: b },
        62 => Op::Post { dst: maybe, post: PostId(random.below(4) as u16), args },
        63 => Op::Cancel { src: a },
        64 => match random.chance(50) {
            true => Op::Enable { event: EventId(small), index },
            false => Op::Disable { event: EventId(small), index },
        },
        65 => match random.chance(60) {
            true => Op::Acquire { lock: LockId(0), index },
            false => Op::Release { lock: LockId(0), index },
        },
        66 => {
            let (cond, lock) = (CondId(0), LockId(0));
            Op::Wait { cond, cond_index: index, lock, lock_index: maybe }
        }
        67 => match random.chance(50) {
            true => Op::Notify { cond: CondId(0), index },
            false => Op::NotifyAll { cond: CondId(0), index },
        },
        68 => Op::Fork { dst: maybe, func: FuncId(random.below(5) as u16), args },
        69 => match random.below(5) {
            0 => Op::Join { src: a },
            1 => Op::Yield,
            2 => Op::AtomicBegin,
            3 => Op::AtomicEnd,
            _ => Op::Nop,
        },
        70 => match random.below(3) {
            0 => Op::Choose { dst, choice: ChoiceId(0) },
            1 => Op::ChooseFrom { dst, src: a },
            _ => Op::ChooseInt { dst, a, b },
        },
        _ => match random.below(4) {
            0 => Op::Assert { cond: a, message: ConstId(0) },
            1 => Op::Assume { cond: a },
            2 => Op::Fail { message: a },
            _ => Op::NoMatch { src: a },
        },
    }
}

fn function(random: &mut Random, params: u16, captures: u16) -> Function {
    let length = 3 + random.below(14) as u32;
    let mut code: Vec<Op> = (1..length).map(|_| op(random, length)).collect();
    code.push(Op::ReturnNull);
    let sites = vec![SiteId(0); code.len()];
    let name = format!("f{params}{captures}");
    Function { name, params, captures, registers: REGISTERS, code, sites, locals: vec![] }
}

fn program(random: &mut Random) -> Program {
    let mut b = ProgramBuilder::new("fuzz");
    for name in ["a", "b", "get", "push", "len", "m"] {
        b.name(name);
    }
    b.enumeration("E", &[("A", 0), ("B", 1), ("C", 2)]);
    b.record("R", &["a", "b", "m"]);
    let class = b.class("K", &["a", "b", "get"]);
    let ints = vec![Literal::Int(1), Literal::Int(2)];
    let literals = [
        Literal::Str("x".to_owned()),
        Literal::List(ints.clone()),
        Literal::Set(ints.clone()),
        Literal::Map(vec![(Literal::Int(0), Literal::Int(1))]),
        Literal::Null,
        Literal::Index(0, 1),
        Literal::Array(0, ints.clone()),
    ];
    for literal in &literals {
        b.constant(literal.clone());
    }
    for (i, literal) in literals.into_iter().take(4).enumerate() {
        b.global(&format!("g{i}"), literal);
    }
    for (ty, or_null) in [(Type::Int, false), (Type::List, false), (Type::Object(class), true)] {
        b.ty(ty, or_null);
    }
    b.native("listed", 1, Arc::new(|args| Ok(Literal::List(args.to_vec()))));
    b.lock("l", Some(2));
    b.cond("c", Some(2));
    b.choice(&["x", "y", "z"]);
    let kinds = [MailboxKind::Fifo, MailboxKind::Bag, MailboxKind::Delayed];
    let handlers = kinds.map(|kind| b.handler("h", kind, Some(2)));
    let program = b.program_mut();
    // Functions 0 to 2 have as many parameters; 3 has a capture; 4 guards; the others are bodies.
    for (params, captures) in [(0, 0), (1, 0), (2, 0), (1, 1), (1, 0), (1, 0), (1, 0), (0, 0)] {
        program.functions.push(function(random, params, captures));
    }
    program.classes[0].methods.push((NameId(5), FuncId(1)));
    let task = b.task("t", FuncId(5), Some(handlers[0]));
    let two = b.task("u", FuncId(2), None);
    let register = Reg(0);
    for target in [
        PostTarget::Own,
        PostTarget::Handler(handlers[1], register),
        PostTarget::Handler(handlers[2], Reg::NONE),
    ] {
        let (delay, front) = (register, random.chance(30));
        b.post_with(Post { task, target, delay, front });
    }
    b.post(two, PostTarget::Any);
    for i in 0..3 {
        let event = b.event(&format!("e{i}"), FuncId(6));
        let (guard, once) = (random.chance(30), random.chance(50));
        let event = b.event_mut(event).expect("just added");
        event.family = Some(Family { first: -1, count: 2, index: None });
        event.guard = guard.then_some(FuncId(4));
        event.once = once;
        event.disabled = i == 2;
        event.handler = (i == 1).then_some((handlers[1], 1));
        if i == 1 {
            event.started.push(EventId(0));
        }
    }
    b.thread("t", Some(Family { first: 0, count: 2, index: Some(0) }), FuncId(1));
    let program = b.program_mut();
    program.init = random.chance(30).then_some(FuncId(7));
    program.final_ = random.chance(30).then_some(FuncId(0));
    b.invariant("i", FuncId(0));
    b.response("r", FuncId(0), FuncId(7));
    b.symmetry(Symmetry {
        name: "I".to_owned(),
        size: 2,
        handlers: vec![HandlerId(0)],
        threads: vec![crate::program::ThreadId(0)],
        events: vec![EventId(0)],
        locks: vec![LockId(0)],
        conds: vec![CondId(0)],
        ..Symmetry::default()
    });
    let mut settings = b.program().settings;
    settings.steps = 200;
    settings.size = 64;
    if random.chance(50) {
        settings.granularity = Granularity::Access;
    }
    b.settings(settings);
    b.program().clone()
}

/// Calls every method on a state.
fn look(machine: &Machine, state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.encode(state, &mut bytes);
    let decoded = machine.decode(&bytes).expect("own bytes can be read");
    assert_eq!(machine.fingerprint(&decoded), machine.fingerprint(state));
    assert_eq!(&decoded, state);
    _ = machine.is_final(state);
    _ = machine.holds(0, state);
    _ = machine.response(0, state);
    machine.show(state);
    machine.representative(state);
    bytes
}

#[test]
fn valid_programs_do_not_panic() {
    let (mut valid, mut states, mut failures, mut longest) = (0, 0, 0, 0);
    for seed in 0..9_000u64 {
        let mut random = Random(seed);
        let program = program(&mut random);
        if program.validate().is_err() {
            continue;
        }
        valid += 1;
        let machine = Machine::new(program).expect("valid");
        let mut state = machine.initial().remove(0);
        for step in 0..12 {
            look(&machine, &state);
            let (mut once, mut again) = (Vec::new(), Vec::new());
            machine.successors(&state, &mut once);
            machine.successors(&state, &mut again);
            assert_eq!(once, again, "seed {seed}: not deterministic");
            for successor in &once {
                machine.describe(&state, &successor.action);
                _ = machine.fair_class(&successor.action);
                _ = machine.part(&successor.action);
                failures += usize::from(successor.failure.is_some());
            }
            states += 1;
            once.retain(|successor| successor.failure.is_none());
            if once.is_empty() {
                break;
            }
            longest = longest.max(step);
            state = once.swap_remove(random.below(once.len())).state;
        }
    }
    println!("{valid} valid programs, {states} states, {failures} failures, longest run {longest}");
    assert!(valid > 500 && states > 2_000 && failures > 1_000 && longest > 8);
}

#[test]
fn runs_agree_with_states() {
    let (mut steps, mut accesses) = (0, 0);
    for seed in 0..2_500u64 {
        let mut random = Random(seed);
        let program = program(&mut random);
        let Ok(machine) = Machine::new(program) else { continue };
        let machine = Arc::new(machine);
        let mut run = MachineRun::new(machine.clone());
        for _ in 0..8 {
            let enabled = run.enabled().expect("runs");
            let mut successors = Vec::new();
            machine.successors(run.state(), &mut successors);
            let total: usize = enabled.iter().map(|task| task.alternatives as usize).sum();
            assert!(total >= successors.len(), "seed {seed}: {total} of {}", successors.len());
            run.observe().expect("runs");
            if enabled.is_empty() {
                break;
            }
            let names: std::collections::BTreeSet<_> = enabled.iter().map(|t| &t.task).collect();
            assert_eq!(names.len(), enabled.len(), "seed {seed}: names are not different");
            let task = &enabled[random.below(enabled.len())];
            let alternative = random.below(task.alternatives as usize) as u32;
            let choice = Choice { alternative, ..Choice::of(task.task.clone()) };
            let saved = run.save().expect("saves");
            let first = run.execute(&choice).expect("enabled");
            let after = run.fingerprint();
            run.restore(saved).expect("saved");
            assert_eq!(run.execute(&choice).expect("enabled"), first, "seed {seed}");
            assert_eq!(run.fingerprint(), after);
            run.forget(saved);
            steps += 1;
            accesses += first.accesses.as_slice().len();
            if !first.failures.is_empty() {
                assert_eq!(run.enabled().expect("runs"), []);
                break;
            } else {
                assert!(successors.iter().any(|s| s.state == *run.state()), "seed {seed}");
            }
        }
    }
    println!("{steps} steps, {accesses} accesses");
    assert!(steps > 300 && accesses > 300);
}

#[test]
fn bytes_of_nobody_are_refused() {
    let (mut refused, mut read) = (0, 0);
    for seed in 0..400u64 {
        let mut random = Random(seed);
        let Ok(machine) = Machine::new(program(&mut random)) else { continue };
        let state = machine.initial().remove(0);
        let mut bytes = Vec::new();
        machine.encode(&state, &mut bytes);
        for _ in 0..200 {
            let mut other = bytes.clone();
            match random.below(3) {
                0 => other.truncate(random.below(other.len())),
                _ => {
                    for _ in 0..1 + random.below(3) {
                        let at = random.below(other.len());
                        other[at] = random.next() as u8;
                    }
                }
            }
            match machine.decode(&other) {
                None => refused += 1,
                Some(state) => {
                    read += 1;
                    let mut again = Vec::new();
                    machine.encode(&state, &mut again);
                    assert_eq!(again, other);
                    machine.successors(&state, &mut Vec::new());
                    look(&machine, &state);
                }
            }
        }
    }
    println!("{refused} refused, {read} read");
    assert!(refused > 1_000 && read > 300);
}
