//! Programs of the machine made of bytes: fixed declarations, code from the input. Most numbers are in range, so that
//! the validator passes a good part.

use anyorder_vm::program::{
    Builtin, ChoiceId, ClassId, CondId, ConstId, EnumId, EventId, Family, FuncId, Function,
    GlobalId, Granularity, HandlerId, Literal, LockId, MailboxKind, NameId, Op, Post, PostId,
    PostTarget, Program, ProgramBuilder, RecordId, Reg, SiteId, Symmetry, ThreadId, Type, TypeId,
};

/// Input that ends in zeros.
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    /// Takes a byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn bit(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    fn below(&mut self, limit: u16) -> u16 {
        u16::from(self.byte()) % limit
    }

    fn reg(&mut self) -> Reg {
        Reg(self.below(REGISTERS))
    }

    /// A register, or none.
    fn maybe(&mut self) -> Reg {
        let number = self.below(REGISTERS + 1);
        if number == REGISTERS { Reg::NONE } else { Reg(number) }
    }
}

const REGISTERS: u16 = 6;

/// Parameters and captures of each function. Events, tasks and guards below rely on them.
const FUNCTIONS: [(u16, u16); 8] = [(0, 0), (1, 0), (2, 0), (1, 1), (1, 0), (1, 0), (1, 0), (0, 0)];

/// Makes a program; the caller finds out whether it is valid.
pub fn program(bytes: &mut Bytes<'_>) -> Program {
    let mut b = ProgramBuilder::new("fuzz");
    tables(&mut b);
    b.lock("l", Some(2));
    b.cond("c", Some(2));
    b.choice(&["x", "y", "z"]);
    let kinds = [MailboxKind::Fifo, MailboxKind::Bag, MailboxKind::Delayed];
    let handlers = kinds.map(|kind| b.handler("h", kind, Some(2)));
    let flags = bytes.byte();
    let flag = |bit: u8| flags >> bit & 1 == 1;
    for (params, captures) in FUNCTIONS {
        let function = function(bytes, params, captures);
        b.program_mut().functions.push(function);
    }
    b.program_mut().classes[0].methods.push((NameId(5), FuncId(1)));
    let task = b.task("t", FuncId(5), Some(handlers[0]));
    let two = b.task("u", FuncId(2), None);
    for target in [
        PostTarget::Own,
        PostTarget::Handler(handlers[1], Reg(0)),
        PostTarget::Handler(handlers[2], Reg::NONE),
    ] {
        b.post_with(Post { task, target, delay: Reg(0), front: flag(0) });
    }
    b.post(two, PostTarget::Any);
    for number in 0..3 {
        let event = b.event(&format!("e{number}"), FuncId(6));
        let Some(event) = b.event_mut(event) else { continue };
        event.family = Some(Family { first: -1, count: 2, index: None });
        event.guard = flag(1).then_some(FuncId(4));
        event.once = flag(2);
        event.disabled = number == 2;
        event.handler = (number == 1).then_some((handlers[1], 1));
        event.started.extend((number == 1).then_some(EventId(0)));
    }
    b.thread("t", Some(Family { first: 0, count: 2, index: Some(0) }), FuncId(1));
    b.program_mut().init = flag(3).then_some(FuncId(7));
    b.program_mut().final_ = flag(4).then_some(FuncId(0));
    b.invariant("i", FuncId(0));
    b.response("r", FuncId(0), FuncId(7));
    b.symmetry(Symmetry {
        size: 2,
        handlers: vec![HandlerId(0)],
        threads: vec![ThreadId(0)],
        events: vec![EventId(0)],
        locks: vec![LockId(0)],
        conds: vec![CondId(0)],
        ..Symmetry::default()
    });
    let mut settings = b.program().settings;
    (settings.steps, settings.size) = (200, 64);
    if flag(5) {
        settings.granularity = Granularity::Access;
    }
    b.settings(settings);
    b.program().clone()
}

fn tables(b: &mut ProgramBuilder) {
    for name in ["a", "b", "get", "push", "len", "m"] {
        b.name(name);
    }
    b.enumeration("E", &[("A", 0), ("B", 1), ("C", 2)]);
    b.record("R", &["a", "b", "m"]);
    let class = b.class("K", &["a", "b", "get"]);
    let ints = vec![Literal::Int(1), Literal::Int(i64::MAX)];
    let literals = [
        Literal::Str("\u{e9}x".to_owned()),
        Literal::List(ints.clone()),
        Literal::Set(ints.clone()),
        Literal::Map(vec![(Literal::Int(0), Literal::Int(i64::MIN))]),
        Literal::Null,
        Literal::Index(0, 1),
        Literal::Array(0, ints),
    ];
    for (number, literal) in literals.into_iter().enumerate() {
        b.constant(literal.clone());
        b.global(&format!("g{number}"), literal);
    }
    for (ty, or_null) in [(Type::Int, false), (Type::List, false), (Type::Object(class), true)] {
        b.ty(ty, or_null);
    }
}

fn function(bytes: &mut Bytes<'_>, params: u16, captures: u16) -> Function {
    let length = bytes.below(18);
    let mut code: Vec<Op> = (0..length).map(|_| op(bytes, length + 1)).collect();
    code.push(Op::ReturnNull);
    let sites = vec![SiteId(0); code.len()];
    let name = format!("f{params}{captures}");
    Function { name, params, captures, registers: REGISTERS, code, sites, locals: vec![] }
}

/// One instruction: a byte for which, and one for each number in it, in the order in which they are written here.
fn op(bytes: &mut Bytes<'_>, length: u16) -> Op {
    let (class, ty, record) = (ClassId(0), EnumId(0), RecordId(0));
    macro_rules! r {
        () => {
            bytes.reg()
        };
    }
    match bytes.byte() % 80 {
        0 => Op::Const { dst: r!(), constant: ConstId(u32::from(bytes.below(7))) },
        1 => Op::Int { dst: r!(), value: i32::from(bytes.byte() as i8) },
        2 => Op::Int { dst: r!(), value: if bytes.bit() { i32::MAX } else { i32::MIN } },
        3 => Op::Bool { dst: r!(), value: bytes.bit() },
        4 => Op::Null { dst: r!() },
        5 => Op::Move { dst: r!(), src: r!() },
        6 => Op::Add { dst: r!(), a: r!(), b: r!() },
        7 => Op::Sub { dst: r!(), a: r!(), b: r!() },
        8 => Op::Mul { dst: r!(), a: r!(), b: r!() },
        9 => Op::Div { dst: r!(), a: r!(), b: r!() },
        10 => Op::Rem { dst: r!(), a: r!(), b: r!() },
        11 => Op::AddInt { dst: r!(), a: r!(), value: i32::from(bytes.byte() as i8) },
        12 => Op::Neg { dst: r!(), a: r!() },
        13 => Op::Not { dst: r!(), a: r!() },
        14 => Op::Eq { dst: r!(), a: r!(), b: r!() },
        15 => Op::Ne { dst: r!(), a: r!(), b: r!() },
        16 => Op::Lt { dst: r!(), a: r!(), b: r!() },
        17 => Op::Le { dst: r!(), a: r!(), b: r!() },
        18 => Op::In { dst: r!(), a: r!(), b: r!() },
        19 => Op::EqInt { dst: r!(), a: r!(), value: i32::from(bytes.byte() as i8) },
        20 => Op::Jump { target: u32::from(bytes.below(length)) },
        21 => Op::JumpIf { cond: r!(), target: u32::from(bytes.below(length)) },
        22 => Op::JumpIfNot { cond: r!(), target: u32::from(bytes.below(length)) },
        23 => Op::Call { dst: r!(), func: FuncId(bytes.below(9)), args: r!() },
        24 => Op::CallValue { dst: r!(), callee: r!(), args: r!(), count: bytes.below(3) },
        25 | 26 => Op::CallMember {
            dst: r!(),
            name: NameId(bytes.below(6)),
            args: r!(),
            count: bytes.below(4),
        },
        27 => Op::Closure { dst: r!(), func: FuncId(bytes.below(8)), captures: r!() },
        28 => Op::Return { src: r!() },
        29 => Op::List { dst: r!(), args: r!(), count: bytes.below(4) },
        30 => Op::Set { dst: r!(), args: r!(), count: bytes.below(4) },
        31 => Op::Map { dst: r!(), args: r!(), count: bytes.below(3) },
        79 => Op::Array { dst: r!(), src: r!(), index: bytes.below(2) },
        32 => Op::Range { dst: r!(), a: r!(), b: r!() },
        33 => Op::Enum { dst: r!(), ty, variant: bytes.below(3), args: r!() },
        34 => Op::IsVariant { dst: r!(), src: r!(), ty, variant: bytes.below(3) },
        35 => Op::Payload { dst: r!(), src: r!(), index: bytes.below(3) },
        36 => Op::Record { dst: r!(), ty: record, args: r!() },
        37 => Op::RecordGet { dst: r!(), src: r!(), ty: record, field: bytes.below(3) },
        38 => Op::RecordSet { record: r!(), ty: record, field: bytes.below(3), src: r!() },
        39 => Op::Index { dst: r!(), src: r!(), index: r!() },
        40 => Op::SetIndex { container: r!(), index: r!(), src: r!() },
        41..=45 => {
            let method = Builtin::ALL[usize::from(bytes.byte()) % Builtin::ALL.len()];
            Op::Method { dst: r!(), method, recv: r!(), args: r!() }
        }
        46 => Op::Check { src: r!(), ty: TypeId(bytes.below(3)) },
        47 | 48 => Op::GetGlobal { dst: r!(), global: GlobalId(bytes.below(5)) },
        49 | 50 => Op::SetGlobal { global: GlobalId(bytes.below(5)), src: r!() },
        51 => Op::GetGlobalAt { dst: r!(), global: GlobalId(bytes.below(5)), index: r!() },
        52 => Op::SetGlobalAt { global: GlobalId(bytes.below(5)), index: r!(), src: r!() },
        53 => Op::New { dst: r!(), class, args: r!() },
        54 => Op::GetField { dst: r!(), object: r!(), class, field: bytes.below(3) },
        55 => Op::SetField { object: r!(), class, field: bytes.below(3), src: r!() },
        56 => Op::GetFieldAt { dst: r!(), object: r!(), class, field: bytes.below(3), index: r!() },
        57 => Op::SetFieldAt { object: r!(), class, field: bytes.below(3), index: r!(), src: r!() },
        58 => Op::GetMember { dst: r!(), src: r!(), name: NameId(bytes.below(6)) },
        59 => Op::SetMember { object: r!(), name: NameId(bytes.below(6)), src: r!() },
        60 | 61 => Op::Post { dst: bytes.maybe(), post: PostId(bytes.below(4)), args: r!() },
        62 => Op::Cancel { src: r!() },
        63 => Op::Enable { event: EventId(bytes.below(3)), index: bytes.maybe() },
        64 => Op::Disable { event: EventId(bytes.below(3)), index: bytes.maybe() },
        65 => Op::Enabled { dst: r!(), event: EventId(bytes.below(3)), index: bytes.maybe() },
        66 => Op::Acquire { lock: LockId(0), index: bytes.maybe() },
        67 => Op::Release { lock: LockId(0), index: bytes.maybe() },
        68 => {
            let (cond, lock) = (CondId(0), LockId(0));
            Op::Wait { cond, cond_index: bytes.maybe(), lock, lock_index: bytes.maybe() }
        }
        69 => Op::Notify { cond: CondId(0), index: bytes.maybe() },
        70 => Op::NotifyAll { cond: CondId(0), index: bytes.maybe() },
        71 => Op::Fork { dst: bytes.maybe(), func: FuncId(bytes.below(8)), args: r!() },
        72 => Op::Join { src: r!() },
        73 => [Op::Nop, Op::Yield, Op::AtomicBegin, Op::AtomicEnd][usize::from(bytes.below(4))],
        74 => Op::Choose { dst: r!(), choice: ChoiceId(0) },
        75 => Op::ChooseFrom { dst: r!(), src: r!() },
        76 => Op::ChooseInt { dst: r!(), a: r!(), b: r!() },
        77 => match bytes.bit() {
            true => Op::Assert { cond: r!(), message: ConstId(0) },
            false => Op::Assume { cond: r!() },
        },
        _ => match bytes.bit() {
            true => Op::Fail { message: r!() },
            false => Op::NoMatch { src: r!() },
        },
    }
}
