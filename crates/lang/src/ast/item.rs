//! Declarations.

use super::{Block, Expr, Ident, NodeId, Ref, TypeExpr};
use crate::source::Span;

/// A declaration.
#[derive(Clone, Debug)]
pub struct Item {
    /// Key.
    pub id: NodeId,
    /// From the first word to the `;` or `}`.
    pub span: Span,
    /// Its form.
    pub kind: ItemKind,
}

/// The forms of declarations.
#[derive(Clone, Debug)]
pub enum ItemKind {
    /// `const N: int = 3;`.
    Const(ConstDecl),
    /// `index Node = 3;`.
    Index(IndexDecl),
    /// `enum Phase { Idle, Busy(int) }`.
    Enum(EnumDecl),
    /// `record Item { id: int }`.
    Record(RecordDecl),
    /// `class Node { .. }`.
    Class(ClassDecl),
    /// `var x = 0, y: int = 0;`.
    Var(Vec<VarDecl>),
    /// `lock m, ms[3];`.
    Lock(Vec<SizedName>),
    /// `cond c, cs[3];`.
    Cond(Vec<SizedName>),
    /// `handler ui: fifo;`.
    Handler(HandlerDecl),
    /// `fn f(a: int) -> int { .. }`.
    Fn(FnDecl),
    /// `task load(i: int) on ui { .. }`, `procedure p() { .. }`.
    Task(TaskDecl),
    /// `event click on ui { .. }`.
    Event(EventDecl),
    /// `thread t { .. }`.
    Thread(ThreadDecl),
    /// `init { .. }`.
    Init(Block),
    /// `driver a, b, c;`.
    Driver(Vec<Ref>),
    /// `component alarm: smoke, all_clear;`.
    Component {
        /// Its name.
        name: Ident,
        /// The events, tasks, functions and threads that belong to it.
        members: Vec<Ident>,
    },
    /// `invariant name: e;`.
    Invariant {
        /// Its name.
        name: Ident,
        /// The condition, which holds in every state between steps.
        expr: Expr,
    },
    /// `response name: e leads_to f;`.
    Response(ResponseDecl),
    /// `final: e;`.
    Final(Expr),
    /// `spec Set { .. }`.
    Spec(SpecDecl),
    /// `setting granularity = access;`.
    Setting(SettingDecl),
    /// A gap left by error recovery. A diagnostic reports it.
    Error,
}

/// A compile-time constant.
#[derive(Clone, Debug)]
pub struct ConstDecl {
    /// Name.
    pub name: Ident,
    /// Type, if written.
    pub ty: Option<TypeExpr>,
    /// Value.
    pub value: Expr,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct EnumDecl {
    /// Name.
    pub name: Ident,
    /// Variants in order.
    pub variants: Vec<Variant>,
}

/// A variant of an enumeration.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Name.
    pub name: Ident,
    /// Types of the values it carries.
    pub payload: Vec<TypeExpr>,
}

/// A record type. Records are values, copied and compared by their fields.
#[derive(Clone, Debug)]
pub struct RecordDecl {
    /// Name.
    pub name: Ident,
    /// Fields in order.
    pub fields: Vec<RecordField>,
}

/// A field of a record type.
#[derive(Clone, Debug)]
pub struct RecordField {
    /// Name.
    pub name: Ident,
    /// Type.
    pub ty: TypeExpr,
}

/// A class: objects with identity.
#[derive(Clone, Debug)]
pub struct ClassDecl {
    /// Name.
    pub name: Ident,
    /// Fields and methods in order.
    pub members: Vec<ClassMember>,
}

impl ClassDecl {
    /// Returns the fields in the order of the text.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &VarDecl> {
        self.members.iter().filter_map(|member| match member {
            ClassMember::Field(field) => Some(&field.var),
            ClassMember::Method(_) => None,
        })
    }

    /// Returns the methods in the order of the text.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &FnDecl> {
        self.members.iter().filter_map(|member| match member {
            ClassMember::Method(method) => Some(method),
            ClassMember::Field(_) => None,
        })
    }
}

/// A member of a class.
#[derive(Clone, Debug)]
pub enum ClassMember {
    /// `var next: Node? = null;`.
    Field(ClassField),
    /// `fn bump(by: int) { .. }`: `self` is the object.
    Method(FnDecl),
}

/// A field of a class.
#[derive(Clone, Debug)]
pub struct ClassField {
    /// Name, type and first value.
    pub var: VarDecl,
    /// The place, with `var` and `;`.
    pub span: Span,
}

/// A global, or the name, type and value of a field of a class.
#[derive(Clone, Debug)]
pub struct VarDecl {
    /// Name.
    pub name: Ident,
    /// Type, if written.
    pub ty: Option<TypeExpr>,
    /// First value. Without one, the type is written and the variable starts with its default value
    /// (0, `false`, `""`, `null`, an empty list, set or map, and `N` defaults for `[T; N]`).
    pub init: Option<Expr>,
}

/// `m` or `ms[3]` in a declaration.
#[derive(Clone, Debug)]
pub struct SizedName {
    /// Name.
    pub name: Ident,
    /// Number of elements: a constant, or an index type that numbers them.
    pub size: Option<Expr>,
}

/// `index Node = 3;`: a type of interchangeable values.
#[derive(Clone, Debug)]
pub struct IndexDecl {
    /// Name.
    pub name: Ident,
    /// Number of values, a constant.
    pub size: Expr,
}

/// A handler: a thread with a mailbox.
#[derive(Clone, Debug)]
pub struct HandlerDecl {
    /// Whether `response` properties assume no fairness for it.
    pub unfair: bool,
    /// Whether it may wait for ever.
    pub daemon: bool,
    /// Name and number.
    pub name: SizedName,
    /// The order of its tasks.
    pub mailbox: Mailbox,
}

/// The order in which a mailbox delivers its tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mailbox {
    /// Oldest first.
    Fifo,
    /// Any.
    Bag,
    /// Least due time first, then oldest.
    Delayed,
}

impl Mailbox {
    /// The words of all orders.
    pub(crate) const WORDS: [&str; 3] = ["fifo", "bag", "delayed"];

    /// The order that a word names.
    pub(crate) fn named(word: &str) -> Option<Mailbox> {
        let all = [Mailbox::Fifo, Mailbox::Bag, Mailbox::Delayed];
        all.into_iter().find(|mailbox| mailbox.word() == word)
    }

    /// Its word.
    pub(crate) const fn word(self) -> &'static str {
        Mailbox::WORDS[self as usize]
    }
}

/// A function or a method.
#[derive(Clone, Debug)]
pub struct FnDecl {
    /// Key.
    pub id: NodeId,
    /// Whether the threads that `fork` starts with it may wait for ever.
    pub daemon: bool,
    /// Name.
    pub name: Ident,
    /// Parameters.
    pub params: Vec<Param>,
    /// Type of the result.
    pub result: Option<TypeExpr>,
    /// Body.
    pub body: Block,
    /// From `fn` to `}`.
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name.
    pub name: Ident,
    /// Type; without one, `any` (in closures: inferred from the use).
    pub ty: Option<TypeExpr>,
}

/// A task or a procedure.
#[derive(Clone, Debug)]
pub struct TaskDecl {
    /// Whether it is declared with `procedure`, so that it may also be called.
    pub procedure: bool,
    /// Whether its posts may wait for ever.
    pub daemon: bool,
    /// Name.
    pub name: Ident,
    /// Parameters.
    pub params: Vec<Param>,
    /// `on h`: the target of a `post` without `to`. The index may use the parameters.
    pub on: Option<Ref>,
    /// Body.
    pub body: Block,
}

/// An external event.
#[derive(Clone, Debug)]
pub struct EventDecl {
    /// Whether it happens at most once.
    pub once: bool,
    /// Whether it is disabled at the start.
    pub disabled: bool,
    /// Whether `response` properties assume no fairness for it.
    pub unfair: bool,
    /// Whether it may wait for ever.
    pub daemon: bool,
    /// Name.
    pub name: Ident,
    /// `[i in 0..N]`: one event for each value.
    pub family: Option<Family>,
    /// Handler it runs on; without one, a handler of its own.
    pub on: Option<Ref>,
    /// Enabled only while this holds.
    pub when: Option<Expr>,
    /// Enabled only after these have happened.
    pub after: Vec<Ref>,
    /// Body.
    pub body: Block,
}

/// `[i in 0..N]`, `[i in Node]`.
#[derive(Clone, Debug)]
pub struct Family {
    /// The parameter.
    pub var: Ident,
    /// Its values: a constant range, or an index type.
    pub range: Expr,
}

/// A thread that runs from the start.
#[derive(Clone, Debug)]
pub struct ThreadDecl {
    /// Whether `response` properties assume no fairness for it.
    pub unfair: bool,
    /// Whether it may wait for ever.
    pub daemon: bool,
    /// Name.
    pub name: Ident,
    /// `[i in 0..N]`: one thread for each value.
    pub family: Option<Family>,
    /// Body.
    pub body: Block,
}

/// `response name: e leads_to f;`.
#[derive(Clone, Debug)]
pub struct ResponseDecl {
    /// Its name.
    pub name: Ident,
    /// The condition that requires the reaction.
    pub trigger: Expr,
    /// The condition that must hold whenever the trigger holds, or later.
    pub reaction: Expr,
}

/// Commutativity of the methods of a class.
#[derive(Clone, Debug)]
pub struct SpecDecl {
    /// The class.
    pub class: Ident,
    /// Clauses.
    pub clauses: Vec<SpecClause>,
}

/// `add(a)/r ~ contains(b)/s when a != b || !r;`.
#[derive(Clone, Debug)]
pub struct SpecClause {
    /// The call that comes first.
    pub left: SpecCall,
    /// The call that comes second.
    pub right: SpecCall,
    /// The condition under which they commute; without one, they always commute.
    pub when: Option<Expr>,
    /// The place, with the `;`.
    pub span: Span,
}

/// `add(a)/r`: a method, names for its arguments, and a name for its result.
#[derive(Clone, Debug)]
pub struct SpecCall {
    /// Method.
    pub method: Ident,
    /// Names for the arguments.
    pub args: Vec<Ident>,
    /// Name for the result.
    pub result: Option<Ident>,
}

/// `setting steps = 100000;`.
#[derive(Clone, Debug)]
pub struct SettingDecl {
    /// `granularity` or `steps`.
    pub name: Ident,
    /// Value.
    pub value: SettingValue,
}

/// The value of a setting.
#[derive(Clone, Debug)]
pub enum SettingValue {
    /// `task`, `access`.
    Word(Ident),
    /// A number.
    Int(i64, Span),
    /// A gap left by error recovery. A diagnostic reports it.
    Error,
}
