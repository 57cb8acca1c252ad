//! Instructions.

use super::builtin::Builtin;
use super::ids::{
    ChoiceId, ClassId, CondId, ConstId, EnumId, EventId, FuncId, GlobalId, LockId, NameId, PostId,
    RecordId, Reg, TypeId,
};

/// An instruction. Registers are those of the running function. Values carry their types, so typed
/// and untyped code use the same instructions. A value of the wrong type is a failure.
///
/// `args` is the first of consecutive registers. Jump targets are positions in the function's code.
///
/// *Visible* instructions access shared memory, locks, conditions, mailboxes or threads. In a
/// thread outside of atomic sections, each visible instruction is a step of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the line on an instruction says what its fields are")]
pub enum Op {
    /// Does nothing.
    Nop,
    /// `dst = constant`
    Const { dst: Reg, constant: ConstId },
    /// `dst = value`
    Int { dst: Reg, value: i32 },
    /// `dst = value`
    Bool { dst: Reg, value: bool },
    /// `dst = null`
    Null { dst: Reg },
    /// `dst = src`
    Move { dst: Reg, src: Reg },

    /// `dst = a + b`: ints, strings or lists.
    Add { dst: Reg, a: Reg, b: Reg },
    /// `dst = a - b`
    Sub { dst: Reg, a: Reg, b: Reg },
    /// `dst = a * b`
    Mul { dst: Reg, a: Reg, b: Reg },
    /// `dst = a / b`, truncated toward zero.
    Div { dst: Reg, a: Reg, b: Reg },
    /// `dst = a % b`, with the sign of `a`.
    Rem { dst: Reg, a: Reg, b: Reg },
    /// `dst = a + value`, for ints.
    AddInt { dst: Reg, a: Reg, value: i32 },
    /// `dst = -a`
    Neg { dst: Reg, a: Reg },
    /// `dst = !a`
    Not { dst: Reg, a: Reg },
    /// `dst = a == b`, for any two values.
    Eq { dst: Reg, a: Reg, b: Reg },
    /// `dst = a != b`, for any two values.
    Ne { dst: Reg, a: Reg, b: Reg },
    /// `dst = a < b`: ints or strings.
    Lt { dst: Reg, a: Reg, b: Reg },
    /// `dst = a <= b`: ints or strings.
    Le { dst: Reg, a: Reg, b: Reg },
    /// `dst = a in b`: element of a list or set, key of a map, part of a string.
    In { dst: Reg, a: Reg, b: Reg },
    /// `dst = a == value`, for an int or anything else (then false).
    EqInt { dst: Reg, a: Reg, value: i32 },

    /// Goes to `target`.
    Jump { target: u32 },
    /// Goes to `target` if `cond` is true; a failure unless it is a boolean.
    JumpIf { cond: Reg, target: u32 },
    /// Goes to `target` if `cond` is false; a failure unless it is a boolean.
    JumpIfNot { cond: Reg, target: u32 },

    /// `dst = func(args..)`
    Call { dst: Reg, func: FuncId, args: Reg },
    /// `dst = callee(args..)` for a function value and `count` arguments.
    CallValue { dst: Reg, callee: Reg, args: Reg, count: u16 },
    /// `dst = args[0].name(args[1..])`, `count` registers with the receiver: a method of its class
    /// for an object, else the built-in method of that name, which may change `args[0]`.
    CallMember { dst: Reg, name: NameId, args: Reg, count: u16 },
    /// `dst =` a function value that holds the values of consecutive registers as its captures.
    Closure { dst: Reg, func: FuncId, captures: Reg },
    /// Ends the function with a result.
    Return { src: Reg },
    /// Ends the function with null.
    ReturnNull,

    /// `dst = [args..]`
    List { dst: Reg, args: Reg, count: u16 },
    /// `dst = set[args..]`
    Set { dst: Reg, args: Reg, count: u16 },
    /// `dst = map[args[0]: args[1], ..]` with `count` entries in `2 * count` registers.
    Map { dst: Reg, args: Reg, count: u16 },
    /// `dst =` the list of ints from `a` up to but without `b`.
    Range { dst: Reg, a: Reg, b: Reg },
    /// `dst =` a variant with its payload in consecutive registers.
    Enum { dst: Reg, ty: EnumId, variant: u16, args: Reg },
    /// `dst =` whether `src` is this variant. False for a value of any other type.
    IsVariant { dst: Reg, src: Reg, ty: EnumId, variant: u16 },
    /// `dst =` whether `src` is an object.
    IsObject { dst: Reg, src: Reg },
    /// `dst =` whether `src.name(..)` calls what a field holds: `src` is a record, or an object
    /// whose class has no such method. A failure for null.
    IsFieldCall { dst: Reg, src: Reg, name: NameId },
    /// `dst =` one payload value; a failure when there is none at that position.
    Payload { dst: Reg, src: Reg, index: u16 },
    /// `dst =` a record with all fields in consecutive registers.
    Record { dst: Reg, ty: RecordId, args: Reg },
    /// `dst = src.field` of a record of this type.
    RecordGet { dst: Reg, src: Reg, ty: RecordId, field: u16 },
    /// `record.field = src` in the register `record`.
    RecordSet { record: Reg, ty: RecordId, field: u16, src: Reg },
    /// `dst = src[index]`: of a list, or a map by key, in a register.
    Index { dst: Reg, src: Reg, index: Reg },
    /// `container[index] = src`: of a list within its length, or a map by key, in a register.
    SetIndex { container: Reg, index: Reg, src: Reg },
    /// `dst = recv.method(args..)`; may change the value in `recv`.
    Method { dst: Reg, method: Builtin, recv: Reg, args: Reg },
    /// `dst =` the list in `src`, its elements numbered by the values of an index type.
    Array { dst: Reg, src: Reg, index: u16 },
    /// A failure of type unless `src` is of the type.
    Check { src: Reg, ty: TypeId },

    /// `dst = global`. Visible.
    GetGlobal { dst: Reg, global: GlobalId },
    /// `global = src`. Visible.
    SetGlobal { global: GlobalId, src: Reg },
    /// `dst = global[index]`: an access to that element alone. Visible.
    GetGlobalAt { dst: Reg, global: GlobalId, index: Reg },
    /// `global[index] = src`: an access to that element alone (for a map without the key: to the
    /// whole). Visible.
    SetGlobalAt { global: GlobalId, index: Reg, src: Reg },
    /// `dst =` a new object with all fields in consecutive registers.
    New { dst: Reg, class: ClassId, args: Reg },
    /// `dst = object.field` for an object of this class. Visible.
    GetField { dst: Reg, object: Reg, class: ClassId, field: u16 },
    /// `object.field = src`. Visible.
    SetField { object: Reg, class: ClassId, field: u16, src: Reg },
    /// `dst = object.field[index]`: an access to that element alone. Visible.
    GetFieldAt { dst: Reg, object: Reg, class: ClassId, field: u16, index: Reg },
    /// `object.field[index] = src`: an access to that element alone. Visible.
    SetFieldAt { object: Reg, class: ClassId, field: u16, index: Reg, src: Reg },
    /// `dst = src.name`: of a record, or of an object (then visible).
    GetMember { dst: Reg, src: Reg, name: NameId },
    /// `object.name = src`: of a record in the register, or of an object (then visible).
    SetMember { object: Reg, name: NameId, src: Reg },

    /// Posts a task with the arguments in consecutive registers; `dst` gets its handle, unless it
    /// is `NONE`. Visible.
    Post { dst: Reg, post: PostId, args: Reg },
    /// Removes a pending task from its mailbox. Does nothing if the task has begun, or if `src` is
    /// null. Visible.
    Cancel { src: Reg },
    /// Enables an event: all of it where `index` is `NONE`, else one member of a family (by its
    /// index value). Visible.
    Enable { event: EventId, index: Reg },
    /// Disables an event, likewise. Visible.
    Disable { event: EventId, index: Reg },
    /// `dst =` whether an event is enabled and, if it is `once`, has not started; where `index` is
    /// `NONE`, whether this holds for all members of a family. Visible.
    Enabled { dst: Reg, event: EventId, index: Reg },
    /// Acquires a lock (`index`: `NONE` for a lock that is no array). Blocks while any thread holds
    /// it, this one included. Visible.
    Acquire { lock: LockId, index: Reg },
    /// Releases a lock; a failure unless this thread holds it. Visible.
    Release { lock: LockId, index: Reg },
    /// Releases the lock, waits for a notification, and acquires the lock again. Visible, in two
    /// steps.
    Wait { cond: CondId, cond_index: Reg, lock: LockId, lock_index: Reg },
    /// Wakes any one of the waiting threads. Does nothing if none waits. Visible.
    Notify { cond: CondId, index: Reg },
    /// Wakes all waiting threads. Visible.
    NotifyAll { cond: CondId, index: Reg },
    /// Starts a thread that runs a function; `dst` gets its handle, unless it is `NONE`. Visible.
    Fork { dst: Reg, func: FuncId, args: Reg },
    /// Blocks until the thread or task of a handle has ended. Visible.
    Join { src: Reg },
    /// A step of its own that does nothing. Visible.
    Yield,
    /// Begins an atomic section; sections nest. Visible; what follows up to the end belongs to the
    /// same step.
    AtomicBegin,
    /// Ends an atomic section.
    AtomicEnd,

    /// `dst =` the number of the alternative taken. Visible.
    Choose { dst: Reg, choice: ChoiceId },
    /// `dst =` one element of a list or set. An empty one has no transition. Visible.
    ChooseFrom { dst: Reg, src: Reg },
    /// `dst =` an int from `a` up to but without `b`. An empty range has no transition. Visible.
    ChooseInt { dst: Reg, a: Reg, b: Reg },

    /// An assertion: a failure with the message unless `cond` is true.
    Assert { cond: Reg, message: ConstId },
    /// An assumption: the transition exists only if `cond` is true.
    Assume { cond: Reg },
    /// Fails with the message in a register, shown like any value.
    Fail { message: Reg },
    /// Fails: `src` matches none of the cases.
    NoMatch { src: Reg },
}

const _: () = assert!(std::mem::size_of::<Op>() <= 12);
