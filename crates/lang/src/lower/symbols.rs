//! What the names of a model stand for.

use super::ty::Ty;
use crate::ast::{ClassDecl, EnumDecl, EventDecl, FnDecl, RecordDecl, TaskDecl, ThreadDecl};
use anyorder_vm::program::{
    ClassId, CondId, EnumId, EventId, FuncId, GlobalId, HandlerId, Literal, LockId, RecordId,
    TaskId,
};
use std::collections::HashMap;

/// What a name stands for: a position in one of the tables of [`Symbols`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    Const(usize),
    Index(usize),
    Enum(usize),
    Record(usize),
    Class(usize),
    Global(usize),
    Lock(usize),
    Cond(usize),
    Handler(usize),
    Func(usize),
    Task(usize),
    Event(usize),
    Thread(usize),
}

/// All declarations of a model.
#[derive(Default)]
pub(crate) struct Symbols<'a> {
    by_name: HashMap<&'a str, Symbol>,
    pub(crate) consts: Vec<Literal>,
    /// Of each index type how many values it has.
    pub(crate) indices: Vec<u16>,
    pub(crate) enums: Vec<EnumInfo<'a>>,
    pub(crate) records: Vec<RecordInfo<'a>>,
    pub(crate) classes: Vec<ClassInfo<'a>>,
    pub(crate) globals: Vec<GlobalInfo>,
    pub(crate) locks: Vec<Sized<LockId>>,
    pub(crate) conds: Vec<Sized<CondId>>,
    pub(crate) handlers: Vec<Sized<HandlerId>>,
    pub(crate) funcs: Vec<FuncInfo<'a>>,
    pub(crate) tasks: Vec<TaskInfo<'a>>,
    pub(crate) events: Vec<EventInfo<'a>>,
    pub(crate) threads: Vec<ThreadInfo<'a>>,
}

pub(crate) struct EnumInfo<'a> {
    pub(crate) decl: &'a EnumDecl,
    pub(crate) id: EnumId,
}

pub(crate) struct RecordInfo<'a> {
    pub(crate) decl: &'a RecordDecl,
    pub(crate) id: RecordId,
    /// Types of the fields; known after the pass over the declarations.
    pub(crate) types: Vec<Ty>,
}

pub(crate) struct ClassInfo<'a> {
    pub(crate) decl: &'a ClassDecl,
    pub(crate) id: ClassId,
    pub(crate) fields: Vec<ClassField<'a>>,
    pub(crate) methods: Vec<FuncInfo<'a>>,
}

pub(crate) struct ClassField<'a> {
    pub(crate) name: &'a str,
    pub(crate) ty: Ty,
    pub(crate) start: FieldStart,
}

/// The first value of a field.
#[derive(Clone)]
pub(crate) enum FieldStart {
    Value(Literal),
    /// A function without parameters computes it.
    Code(FuncId),
}

pub(crate) struct GlobalInfo {
    pub(crate) id: GlobalId,
    pub(crate) ty: Ty,
}

/// A declared thing of which there may be an array.
pub(crate) struct Sized<I> {
    pub(crate) id: I,
    pub(crate) size: Option<u16>,
}

pub(crate) struct FuncInfo<'a> {
    pub(crate) id: FuncId,
    pub(crate) decl: &'a FnDecl,
    pub(crate) params: Vec<Ty>,
    pub(crate) result: Ty,
}

pub(crate) struct TaskInfo<'a> {
    pub(crate) id: TaskId,
    pub(crate) body: FuncId,
    pub(crate) decl: &'a TaskDecl,
    pub(crate) params: Vec<Ty>,
}

pub(crate) struct EventInfo<'a> {
    pub(crate) decl: &'a EventDecl,
    pub(crate) ids: EventIds,
}

/// How an event became events of the machine.
#[derive(Clone)]
pub(crate) enum EventIds {
    /// One event, or one family.
    One(EventId),
    /// A family of which members are named one by one: an event for each member, from this index value on.
    Members(i64, Vec<EventId>),
}

pub(crate) struct ThreadInfo<'a> {
    pub(crate) decl: &'a ThreadDecl,
}

impl<'a> Symbols<'a> {
    /// What a name stands for.
    pub(crate) fn get(&self, name: &str) -> Option<Symbol> {
        self.by_name.get(name).copied()
    }

    /// Gives a name its meaning; the first declaration counts.
    pub(crate) fn declare(&mut self, name: &'a str, symbol: Symbol) {
        self.by_name.entry(name).or_insert(symbol);
    }

    /// The enum of that name.
    pub(crate) fn enumeration(&self, name: &str) -> Option<(usize, &EnumInfo<'a>)> {
        match self.get(name) {
            Some(Symbol::Enum(i)) => self.enums.get(i).map(|e| (i, e)),
            _ => None,
        }
    }

    /// The record type of that name.
    pub(crate) fn record(&self, name: &str) -> Option<(usize, &RecordInfo<'a>)> {
        match self.get(name) {
            Some(Symbol::Record(i)) => self.records.get(i).map(|r| (i, r)),
            _ => None,
        }
    }

    /// The class of that name.
    pub(crate) fn class(&self, name: &str) -> Option<(usize, &ClassInfo<'a>)> {
        match self.get(name) {
            Some(Symbol::Class(i)) => self.classes.get(i).map(|c| (i, c)),
            _ => None,
        }
    }
}

impl EnumInfo<'_> {
    /// The number of a variant.
    pub(crate) fn variant(&self, name: &str) -> Option<u16> {
        let at = self.decl.variants.iter().position(|v| v.name.name == name)?;
        u16::try_from(at).ok()
    }
}

impl RecordInfo<'_> {
    /// The position of a field.
    pub(crate) fn field(&self, name: &str) -> Option<u16> {
        let at = self.decl.fields.iter().position(|f| f.name.name == name)?;
        u16::try_from(at).ok()
    }
}

impl ClassInfo<'_> {
    /// The position of a field.
    pub(crate) fn field(&self, name: &str) -> Option<u16> {
        let at = self.fields.iter().position(|f| f.name == name)?;
        u16::try_from(at).ok()
    }
}
