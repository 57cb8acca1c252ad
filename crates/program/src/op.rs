//! Instructions.

use crate::builtin::Builtin;
use crate::ids::{
    ChoiceId, ClassId, CondId, ConstId, EnumId, EventId, FuncId, GlobalId, LockId, NameId,
    NativeId, PostId, RecordId, Reg, TypeId,
};
use crate::operand::Operand;

/// Declares the instructions, each with its operands, in two groups.
macro_rules! operations {
    (
        plain { $($(#[$doc:meta])* $op:ident
            $({ $($field:ident: $ty:ty),* })? $(=> $($operand:expr),*)?;)* }
        visible { $($(#[$vdoc:meta])* $vop:ident
            $({ $($vfield:ident: $vty:ty),* })? $(=> $($voperand:expr),*)?;)* }
    ) => {
        /// An instruction. Registers are those of the running function. Values carry their types,
        /// so typed and untyped code use the same instructions. A value of the wrong type is a
        /// failure.
        ///
        /// `args` is the first of consecutive registers. Jump targets are positions in the
        /// function's code.
        ///
        /// *Visible* instructions access shared memory, locks, conditions, mailboxes or threads. In
        /// a thread outside of atomic sections, each visible instruction is a step of its own.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[expect(missing_docs, reason = "the line on an instruction says what its fields are")]
        pub enum Op {
            $($(#[$doc])* $op $({ $($field: $ty),* })?,)*
            $($(#[$vdoc])* $vop $({ $($vfield: $vty),* })?,)*
        }

        impl Op {
            /// Calls `each` with every operand.
            #[expect(unused_variables, reason = "some fields are only for the interpreter")]
            pub(crate) fn operands(&self, each: &mut dyn FnMut(Operand)) {
                use Operand::*;
                match *self {
                    $(Op::$op $({ $($field),* })? => { $($(each($operand);)*)? })*
                    $(Op::$vop $({ $($vfield),* })? => { $($(each($voperand);)*)? })*
                }
            }

            /// Returns whether the instruction is visible. Accesses to members by name are visible
            /// if they find an object.
            #[inline]
            #[must_use]
            pub fn is_visible(&self) -> bool {
                matches!(self, $(Op::$vop { .. })|*)
            }
        }
    };
}

operations! {
    plain {
        /// Does nothing.
        Nop;
        /// `dst = constant`
        Const { dst: Reg, constant: ConstId } => Write(dst), Constant(constant);
        /// `dst = value`
        Int { dst: Reg, value: i32 } => Write(dst);
        /// `dst = value`
        Bool { dst: Reg, value: bool } => Write(dst);
        /// `dst = null`
        Null { dst: Reg } => Write(dst);
        /// `dst = src`
        Move { dst: Reg, src: Reg } => Write(dst), Read(src);

        /// `dst = a + b`: ints, strings or lists.
        Add { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst = a - b`
        Sub { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst = a * b`
        Mul { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst = a / b`, truncated toward zero.
        Div { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst = a % b`, with the sign of `a`.
        Rem { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst = a + value`, for ints.
        AddInt { dst: Reg, a: Reg, value: i32 } => Write(dst), Read(a);
        /// `dst = -a`
        Neg { dst: Reg, a: Reg } => Write(dst), Read(a);
        /// `dst = !a`
        Not { dst: Reg, a: Reg } => Write(dst), Read(a);
        /// `dst = a == b`, for any two values.
        Eq { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst = a != b`, for any two values.
        Ne { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst = a < b`: ints or strings.
        Lt { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst = a <= b`: ints or strings.
        Le { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst = a in b`: element of a list or set, key of a map, part of a string.
        In { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst = a == value`, for an int or anything else (then false).
        EqInt { dst: Reg, a: Reg, value: i32 } => Write(dst), Read(a);

        /// Goes to `target`.
        Jump { target: u32 } => Target(target);
        /// Goes to `target` if `cond` is true; a failure unless it is a boolean.
        JumpIf { cond: Reg, target: u32 } => Read(cond), Target(target);
        /// Goes to `target` if `cond` is false; a failure unless it is a boolean.
        JumpIfNot { cond: Reg, target: u32 } => Read(cond), Target(target);

        /// `dst = func(args..)`
        Call { dst: Reg, func: FuncId, args: Reg } => Write(dst), Params(func, args);
        /// `dst = callee(args..)` for a function value and `count` arguments.
        CallValue { dst: Reg, callee: Reg, args: Reg, count: u16 }
            => Write(dst), Read(callee), ReadAll(args, count);
        /// `dst = args[0].name(args[1..])`, `count` registers with the receiver: a method of its
        /// class for an object, else the built-in method of that name, which may change `args[0]`.
        CallMember { dst: Reg, name: NameId, args: Reg, count: u16 }
            => Write(dst), Receiver(args, count), Name(name);
        /// `dst =` a function value that holds the values of consecutive registers as its captures.
        Closure { dst: Reg, func: FuncId, captures: Reg } => Write(dst), Captures(func, captures);
        /// Ends the function with a result.
        Return { src: Reg } => Read(src);
        /// Ends the function with null.
        ReturnNull;

        /// `dst = [args..]`
        List { dst: Reg, args: Reg, count: u16 } => Write(dst), ReadAll(args, count);
        /// `dst = set[args..]`
        Set { dst: Reg, args: Reg, count: u16 } => Write(dst), ReadAll(args, count);
        /// `dst = map[args[0]: args[1], ..]` with `count` entries in `2 * count` registers.
        Map { dst: Reg, args: Reg, count: u16 } => Write(dst), Pairs(args, count);
        /// `dst =` the list of ints from `a` up to but without `b`.
        Range { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
        /// `dst =` a variant with its payload in consecutive registers.
        Enum { dst: Reg, ty: EnumId, variant: u16, args: Reg }
            => Write(dst), Payload(ty, variant, args);
        /// `dst =` whether `src` is this variant. False for a value of any other type.
        IsVariant { dst: Reg, src: Reg, ty: EnumId, variant: u16 }
            => Write(dst), Read(src), Variant(ty, variant);
        /// `dst =` whether `src` is an object.
        IsObject { dst: Reg, src: Reg } => Write(dst), Read(src);
        /// `dst =` whether `src.name(..)` calls what a field holds: `src` is a record, or an object
        /// whose class has no such method. A failure for null.
        IsFieldCall { dst: Reg, src: Reg, name: NameId } => Write(dst), Read(src), Name(name);
        /// `dst =` one payload value; a failure when there is none at that position.
        Payload { dst: Reg, src: Reg, index: u16 } => Write(dst), Read(src);
        /// `dst =` a record with all fields in consecutive registers.
        Record { dst: Reg, ty: RecordId, args: Reg } => Write(dst), RecordFields(ty, args);
        /// `dst = src.field` of a record of this type.
        RecordGet { dst: Reg, src: Reg, ty: RecordId, field: u16 }
            => Write(dst), Read(src), RecordField(ty, field);
        /// `record.field = src` in the register `record`.
        RecordSet { record: Reg, ty: RecordId, field: u16, src: Reg }
            => Read(record), RecordField(ty, field), Read(src);
        /// `dst = src[index]`: of a list, or a map by key, in a register.
        Index { dst: Reg, src: Reg, index: Reg } => Write(dst), Read(src), Read(index);
        /// `container[index] = src`: of a list within its length, or a map by key, in a register.
        SetIndex { container: Reg, index: Reg, src: Reg }
            => Read(container), Read(index), Read(src);
        /// `dst = recv.method(args..)`; may change the value in `recv`.
        Method { dst: Reg, method: Builtin, recv: Reg, args: Reg }
            => Write(dst), Read(recv), ReadAll(args, method.arguments());
        /// `dst =` the list in `src`, its elements numbered by the values of an index type.
        Array { dst: Reg, src: Reg, index: u16 } => Write(dst), Read(src), IndexType(index);
        /// `dst =` whether `src` is of the type.
        IsType { dst: Reg, src: Reg, ty: TypeId } => Write(dst), Read(src), Type(ty);
        /// `dst = native(args..)`, a function of the front end.
        Native { dst: Reg, native: NativeId, args: Reg } => Write(dst), NativeArgs(native, args);
        /// A failure of type unless `src` is of the type.
        Check { src: Reg, ty: TypeId } => Read(src), Type(ty);

        /// `dst =` a new object with all fields in consecutive registers.
        New { dst: Reg, class: ClassId, args: Reg } => Write(dst), Fields(class, args);
        /// `dst = src.name`: of a record, or of an object (then visible).
        GetMember { dst: Reg, src: Reg, name: NameId } => Write(dst), Read(src), Name(name);
        /// `object.name = src`: of a record in the register, or of an object (then visible).
        SetMember { object: Reg, name: NameId, src: Reg } => Read(object), Name(name), Read(src);

        /// Ends an atomic section.
        AtomicEnd;

        /// An assertion: a failure with the message unless `cond` is true.
        Assert { cond: Reg, message: ConstId } => Read(cond), Constant(message);
        /// An assumption: the transition exists only if `cond` is true.
        Assume { cond: Reg } => Read(cond);
        /// Fails with the message in a register, shown like any value.
        Fail { message: Reg } => Read(message);
        /// Fails: `src` matches none of the cases.
        NoMatch { src: Reg } => Read(src);
    }

    visible {
        /// `dst = global`. Visible.
        GetGlobal { dst: Reg, global: GlobalId } => Write(dst), Global(global);
        /// `global = src`. Visible.
        SetGlobal { global: GlobalId, src: Reg } => Global(global), Read(src);
        /// `dst = global[index]`: an access to that element alone. Visible.
        GetGlobalAt { dst: Reg, global: GlobalId, index: Reg }
            => Write(dst), Global(global), Read(index);
        /// `global[index] = src`: an access to that element alone (for a map without the key: to
        /// the whole). Visible.
        SetGlobalAt { global: GlobalId, index: Reg, src: Reg }
            => Global(global), Read(index), Read(src);
        /// `dst = object.field` for an object of this class. Visible.
        GetField { dst: Reg, object: Reg, class: ClassId, field: u16 }
            => Write(dst), Read(object), Field(class, field);
        /// `object.field = src`. Visible.
        SetField { object: Reg, class: ClassId, field: u16, src: Reg }
            => Read(object), Field(class, field), Read(src);
        /// `dst = object.field[index]`: an access to that element alone. Visible.
        GetFieldAt { dst: Reg, object: Reg, class: ClassId, field: u16, index: Reg }
            => Write(dst), Read(object), Field(class, field), Read(index);
        /// `object.field[index] = src`: an access to that element alone. Visible.
        SetFieldAt { object: Reg, class: ClassId, field: u16, index: Reg, src: Reg }
            => Read(object), Field(class, field), Read(index), Read(src);

        /// Posts a task with the arguments in consecutive registers; `dst` gets its handle, unless
        /// it is `NONE`. Visible.
        Post { dst: Reg, post: PostId, args: Reg } => WriteIfAny(dst), PostArgs(post, args);
        /// Removes a pending task from its mailbox. Does nothing if the task has begun, or if `src`
        /// is null. Visible.
        Cancel { src: Reg } => Read(src);
        /// Enables an event: all of it where `index` is `NONE`, else one member of a family (by its
        /// index value). Visible.
        Enable { event: EventId, index: Reg } => Event(event, index);
        /// Disables an event, likewise. Visible.
        Disable { event: EventId, index: Reg } => Event(event, index);
        /// `dst =` whether an event is enabled and, if it is `once`, has not started; where `index`
        /// is `NONE`, whether this holds for all members of a family. Visible.
        Enabled { dst: Reg, event: EventId, index: Reg } => Write(dst), Event(event, index);
        /// Acquires a lock (`index`: `NONE` for a lock that is no array). Blocks while any thread
        /// holds it, this one included. Visible.
        Acquire { lock: LockId, index: Reg } => Lock(lock, index);
        /// Releases a lock; a failure unless this thread holds it. Visible.
        Release { lock: LockId, index: Reg } => Lock(lock, index);
        /// Releases the lock, waits for a notification, and acquires the lock again. Visible, in
        /// two steps.
        Wait { cond: CondId, cond_index: Reg, lock: LockId, lock_index: Reg }
            => Cond(cond, cond_index), Lock(lock, lock_index);
        /// Wakes any one of the waiting threads. Does nothing if none waits. Visible.
        Notify { cond: CondId, index: Reg } => Cond(cond, index);
        /// Wakes all waiting threads. Visible.
        NotifyAll { cond: CondId, index: Reg } => Cond(cond, index);
        /// Starts a thread that runs a function; `dst` gets its handle, unless it is `NONE`.
        /// Visible.
        Fork { dst: Reg, func: FuncId, args: Reg } => WriteIfAny(dst), Params(func, args);
        /// Blocks until the thread or task of a handle has ended. Visible.
        Join { src: Reg } => Read(src);
        /// A step of its own that does nothing. Visible.
        Yield;
        /// Begins an atomic section; sections nest. Visible; what follows up to the end belongs to
        /// the same step.
        AtomicBegin;

        /// `dst =` the number of the alternative taken. Visible.
        Choose { dst: Reg, choice: ChoiceId } => Write(dst), Choice(choice);
        /// `dst =` one element of a list or set. An empty one has no transition. Visible.
        ChooseFrom { dst: Reg, src: Reg } => Write(dst), Read(src);
        /// `dst =` an int from `a` up to but without `b`. An empty range has no transition.
        /// Visible.
        ChooseInt { dst: Reg, a: Reg, b: Reg } => Write(dst), Read(a), Read(b);
    }
}

const _: () = assert!(std::mem::size_of::<Op>() <= 12);
