//! The result of the checker: tables of declarations, and side tables by node.

use super::builtin::BuiltinMethod;
use super::constant::ConstValue;
use super::types::Type;
use crate::ast::{Mailbox, NodeId};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the id as an index into its table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// Index into [`CheckedModel::consts`].
    ConstId;
    /// Index into [`CheckedModel::indices`].
    IndexId;
    /// Index into [`CheckedModel::enums`].
    EnumId;
    /// Index into [`CheckedModel::records`].
    RecordId;
    /// Index into [`CheckedModel::classes`].
    ClassId;
    /// Index into [`CheckedModel::globals`].
    GlobalId;
    /// Index into [`CheckedModel::locks`].
    LockId;
    /// Index into [`CheckedModel::conds`].
    CondId;
    /// Index into [`CheckedModel::handlers`].
    HandlerId;
    /// Index into [`CheckedModel::functions`].
    FnId;
    /// Index into [`CheckedModel::tasks`].
    TaskId;
    /// Index into [`CheckedModel::events`].
    EventId;
    /// Index into [`CheckedModel::threads`].
    ThreadId;
    /// Index into [`CheckedModel::locals`].
    LocalId;
}

/// The meaning of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Meaning {
    /// A local, parameter, element of a loop, or name in a pattern.
    Local(LocalId),
    /// `self`.
    SelfObject,
    /// A constant.
    Const(ConstId),
    /// A global.
    Global(GlobalId),
    /// A function.
    Function(FnId),
    /// A task or procedure.
    Task(TaskId),
    /// An event.
    Event(EventId),
    /// A thread.
    Thread(ThreadId),
    /// A handler.
    Handler(HandlerId),
    /// A lock.
    Lock(LockId),
    /// A condition.
    Cond(CondId),
    /// An index type; used as a value, the set of all its values.
    Index(IndexId),
    /// An enum.
    Enum(EnumId),
    /// A variant: its number in the enum.
    Variant(EnumId, u32),
    /// A record type.
    Record(RecordId),
    /// A field of a record: its number.
    RecordField(RecordId, u32),
    /// A class.
    Class(ClassId),
    /// A field of a class: its number.
    ClassField(ClassId, u32),
    /// A method of a class: its number.
    Method(ClassId, u32),
    /// A built-in method.
    Builtin(BuiltinMethod),
    /// A field or method of a value of type `any`; the machine finds it when the model runs.
    Dynamic,
}

/// A constant.
#[derive(Clone, Debug)]
pub struct ConstInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration in [`crate::ast::Model::items`].
    pub item: usize,
    /// Type.
    pub ty: Type,
    /// Value; `None` after an error.
    pub value: Option<ConstValue>,
}

/// An index type.
#[derive(Clone, Debug)]
pub struct IndexInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration.
    pub item: usize,
    /// Number of its values.
    pub size: u32,
}

/// An enum.
#[derive(Clone, Debug)]
pub struct EnumInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration.
    pub item: usize,
    /// Variants: name and types of the values they carry.
    pub variants: Vec<(String, Vec<Type>)>,
}

/// A record type.
#[derive(Clone, Debug)]
pub struct RecordInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration.
    pub item: usize,
    /// Fields: name and type.
    pub fields: Vec<(String, Type)>,
}

/// A class.
#[derive(Clone, Debug)]
pub struct ClassInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration.
    pub item: usize,
    /// Fields: name and type.
    pub fields: Vec<(String, Type)>,
    /// First value of each field; `None` if code computes it.
    pub starts: Vec<Option<ConstValue>>,
    /// Methods.
    pub methods: Vec<FnInfo>,
}

/// A function or method.
#[derive(Clone, Debug)]
pub struct FnInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration; of its class, for a method.
    pub item: usize,
    /// Parameters: name and type.
    pub params: Vec<(String, Type)>,
    /// Type of the result; `Nothing` if there is no result.
    pub result: Type,
}

/// A global.
#[derive(Clone, Debug)]
pub struct GlobalInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration.
    pub item: usize,
    /// Number within the declaration.
    pub position: usize,
    /// Type.
    pub ty: Type,
    /// First value; `None` if code computes it.
    pub start: Option<ConstValue>,
}

/// A lock or condition, or an array of them.
#[derive(Clone, Debug, Default)]
pub struct ArrayInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration.
    pub item: usize,
    /// Number of elements; `None` for a single lock or condition.
    pub size: Option<u32>,
    /// The index type that numbers them.
    pub index: Option<IndexId>,
}

/// A handler or an array of handlers.
#[derive(Clone, Debug)]
pub struct HandlerInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration; `None` for the implied `main`.
    pub item: Option<usize>,
    /// Number of elements; `None` for a single handler.
    pub size: Option<u32>,
    /// The index type that numbers them.
    pub index: Option<IndexId>,
    /// Order of its tasks.
    pub mailbox: Mailbox,
}

/// A task or procedure.
#[derive(Clone, Debug)]
pub struct TaskInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration.
    pub item: usize,
    /// Whether it is declared with `procedure`.
    pub procedure: bool,
    /// Parameters: name and type.
    pub params: Vec<(String, Type)>,
}

/// An event or a family of events.
#[derive(Clone, Debug, Default)]
pub struct EventInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration.
    pub item: usize,
    /// The values of its parameter, from the first up to, not including, the second.
    pub family: Option<(i64, i64)>,
    /// The index type of its parameter.
    pub index: Option<IndexId>,
    /// Whether it is declared with `once`.
    pub once: bool,
    /// One entry, or one for each member of a family whose members differ in more than the index.
    pub members: Vec<EventMember>,
}

/// An event, or a member of a family. An event and a position in [`EventInfo::members`] identify a
/// member.
#[derive(Clone, Debug, Default)]
pub struct EventMember {
    /// The value of the parameter; `None` where it is not fixed.
    pub index: Option<i64>,
    /// The handler that it runs on, and the position in an array of handlers.
    pub handler: Option<(HandlerId, u32)>,
    /// Whether it happens at most once.
    pub once: bool,
    /// The members that must have started and ended before, by `after`.
    pub after: Vec<(EventId, usize)>,
    /// The members that must have happened before, by `driver`.
    pub driven: Vec<(EventId, usize)>,
}

/// A thread or a family of threads.
#[derive(Clone, Debug, Default)]
pub struct ThreadInfo {
    /// Name.
    pub name: String,
    /// Number of its declaration.
    pub item: usize,
    /// The values of its parameter, from the first up to, not including, the second.
    pub family: Option<(i64, i64)>,
    /// The index type of its parameter.
    pub index: Option<IndexId>,
}

/// A local.
#[derive(Clone, Debug)]
pub struct LocalInfo {
    /// Name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Type.
    pub ty: Type,
    /// The kind of the local.
    pub kind: LocalKind,
}

/// Kinds of locals; code can only assign to those of `let`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LocalKind {
    /// Declared by `let`.
    Let,
    /// A parameter.
    Param,
    /// The element of a `for`.
    Element,
    /// A name in a pattern.
    Pattern,
    /// The parameter of a family.
    Family,
    /// A name in a specification.
    Spec,
}

/// How fine the steps of tasks and events are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Granularity {
    /// A task is one step.
    #[default]
    Task,
    /// Each shared access is a step.
    Access,
}

/// Limit of operations of one atomic body, unless the model sets another.
pub const STEPS_DEFAULT: u64 = 100_000;

/// The tables of a checked model. Ids are positions in the tables, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct CheckedModel {
    /// Constants.
    pub consts: Vec<ConstInfo>,
    /// Index types.
    pub indices: Vec<IndexInfo>,
    /// Enums.
    pub enums: Vec<EnumInfo>,
    /// Record types.
    pub records: Vec<RecordInfo>,
    /// Classes.
    pub classes: Vec<ClassInfo>,
    /// Globals.
    pub globals: Vec<GlobalInfo>,
    /// Locks.
    pub locks: Vec<ArrayInfo>,
    /// Conditions.
    pub conds: Vec<ArrayInfo>,
    /// Handlers.
    pub handlers: Vec<HandlerInfo>,
    /// Functions.
    pub functions: Vec<FnInfo>,
    /// Tasks and procedures.
    pub tasks: Vec<TaskInfo>,
    /// Events.
    pub events: Vec<EventInfo>,
    /// Threads.
    pub threads: Vec<ThreadInfo>,
    /// Locals of all bodies.
    pub locals: Vec<LocalInfo>,
    /// `setting granularity`.
    pub granularity: Granularity,
    /// `setting steps`.
    pub steps_max: u64,
    /// By node id: the meanings of names (of `Name` expressions, and of the identifiers in other
    /// nodes).
    pub meanings: Vec<Option<Meaning>>,
    /// By node id: the types of expressions.
    pub types: Vec<Option<Type>>,
    /// By node id of an expression: the type that the machine must check its value for. The static
    /// type (`any`, or one with null) allows more than the place.
    pub runtime_checks: BTreeMap<NodeId, Type>,
    /// Whether elements of containers and results of function values may be of other types than
    /// theirs, because they came from `any`.
    pub is_loose: bool,
    /// By node id of a closure expression: the locals that it copies from around it, in order of
    /// first use.
    pub captures: BTreeMap<NodeId, Vec<LocalId>>,
    /// The closure expressions that copy the outer `self`.
    pub self_captures: BTreeSet<NodeId>,
    /// Node ids of operations that iterate over the values of an index type in one step: the
    /// expression that a `for` iterates over, and calls of methods such as `all`.
    pub one_step: BTreeSet<NodeId>,
    /// By node id of a type `[T; N]`: `N`.
    pub array_sizes: BTreeMap<NodeId, u32>,
}

impl CheckedModel {
    pub(super) fn new(nodes_count: usize) -> Self {
        Self {
            steps_max: STEPS_DEFAULT,
            meanings: vec![None; nodes_count],
            types: vec![None; nodes_count],
            ..Self::default()
        }
    }

    /// Returns the meaning of a name.
    pub fn meaning(&self, id: NodeId) -> Option<Meaning> {
        self.meanings.get(id.index()).copied().flatten()
    }

    /// Returns the value of a family's parameter for the member with this number.
    pub(crate) fn member(&self, (param, number): (LocalId, i64)) -> ConstValue {
        let over = match self.locals[param.index()].ty {
            Type::Index(id) => Some(id),
            _ => None,
        };
        ConstValue::member(over, number)
    }

    /// Returns the type of an expression; `Any` if it was not checked.
    pub fn type_of(&self, id: NodeId) -> Type {
        self.types.get(id.index()).cloned().flatten().unwrap_or(Type::Any)
    }
}
