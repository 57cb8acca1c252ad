//! The shared state of the lowering: the program under construction and the numbers of its
//! declarations.

use crate::ast::{Model, NodeId};
use crate::check::{self, ClassId, ConstValue, EventId, EventMember, FnId, TaskId, Type};
use crate::source::{Source, Span};
use anyorder_vm::program::{
    self as vm, ConstId, FuncId, Literal, NameId, ProgramBuilder, SiteId, TypeId,
};
use std::collections::HashMap;

/// The state of one lowering. Enums, records, classes, globals, locks, conditions, handlers, tasks
/// and threads have the same numbers in the tables of the checker and in the program ([`size16`]).
/// Functions and events do not.
pub(crate) struct Lowerer<'a> {
    pub(crate) model: &'a Model,
    pub(crate) tables: &'a check::Program,
    pub(crate) source: &'a Source<'a>,
    pub(crate) b: ProgramBuilder,
    /// By [`FnId`].
    pub(crate) functions: Vec<FuncId>,
    /// By [`ClassId`] and number of the method.
    pub(crate) methods: Vec<Vec<FuncId>>,
    /// By [`ClassId`] and number of the field: the code of its first value.
    pub(crate) starts: Vec<Vec<Option<FuncId>>>,
    /// By [`TaskId`]: the body.
    pub(crate) tasks: Vec<FuncId>,
    /// By [`EventId`] and position in the members of the event.
    pub(crate) events: Vec<Vec<vm::EventId>>,
    /// The code of each closure met so far.
    pub(crate) closures: HashMap<NodeId, FuncId>,
    file: u16,
    sites: HashMap<u32, SiteId>,
    constants: HashMap<String, ConstId>,
    names: HashMap<String, NameId>,
}

impl<'a> Lowerer<'a> {
    pub(crate) fn new(
        model: &'a Model,
        tables: &'a check::Program,
        source: &'a Source<'a>,
    ) -> Lowerer<'a> {
        let name = model.name.as_ref().map_or("", |n| n.name.as_str());
        let mut b = ProgramBuilder::new(name);
        let file = b.file(source.name());
        Lowerer {
            model,
            tables,
            source,
            b,
            functions: Vec::new(),
            methods: Vec::new(),
            starts: Vec::new(),
            tasks: Vec::new(),
            events: Vec::new(),
            closures: HashMap::new(),
            file,
            sites: HashMap::new(),
            constants: HashMap::new(),
            names: HashMap::new(),
        }
    }

    pub(crate) fn function(&self, id: FnId) -> FuncId {
        self.functions.get(id.index()).copied().unwrap_or_default()
    }

    pub(crate) fn method(&self, class: ClassId, at: u32) -> FuncId {
        let methods = self.methods.get(class.index());
        methods.and_then(|m| m.get(at as usize)).copied().unwrap_or_default()
    }

    pub(crate) fn task(&self, id: TaskId) -> FuncId {
        self.tasks.get(id.index()).copied().unwrap_or_default()
    }

    /// Returns the events of the machine that an event became, each with its member.
    pub(crate) fn members(&self, id: EventId) -> Vec<(vm::EventId, &'a EventMember)> {
        let ids = self.events.get(id.index()).into_iter().flatten().copied();
        ids.zip(&self.tables.events[id.index()].members).collect()
    }

    /// Returns the number of the place where a span starts.
    pub(crate) fn site(&mut self, span: Span) -> SiteId {
        if let Some(known) = self.sites.get(&span.start) {
            return *known;
        }
        let at = self.source.position(span.start);
        let site = self.b.site(self.file, at.line, at.column);
        self.sites.insert(span.start, site);
        site
    }

    /// Returns the number of a constant. Equal constants share one.
    pub(crate) fn constant(&mut self, value: &Literal) -> ConstId {
        let key = format!("{value:?}");
        if let Some(known) = self.constants.get(&key) {
            return *known;
        }
        let id = self.b.constant(value.clone());
        self.constants.insert(key, id);
        id
    }

    /// Returns the number of a member's name.
    pub(crate) fn name(&mut self, name: &str) -> NameId {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let id = self.b.name(name);
        self.names.insert(name.to_owned(), id);
        id
    }

    /// Returns the type to check for at run time; `None` if any value fits.
    pub(crate) fn runtime_type(&mut self, ty: &Type) -> Option<TypeId> {
        let nullable = matches!(ty, Type::Nullable(_));
        let either = |plain: vm::Type, or_null: vm::Type| if nullable { or_null } else { plain };
        let wanted = match ty.solid() {
            Type::Int => either(vm::Type::Int, vm::Type::NullOrInt),
            Type::Bool => either(vm::Type::Bool, vm::Type::NullOrBool),
            Type::Str => either(vm::Type::Str, vm::Type::NullOrStr),
            Type::Task | Type::Thread => either(vm::Type::Handle, vm::Type::NullOrHandle),
            Type::Index(id) => {
                let id = number(id.0);
                either(vm::Type::Index(id), vm::Type::NullOrIndex(id))
            }
            Type::List(_) | Type::Array(..) => either(vm::Type::List, vm::Type::NullOrList),
            Type::Set(_) => either(vm::Type::Set, vm::Type::NullOrSet),
            Type::Map(..) => either(vm::Type::Map, vm::Type::NullOrMap),
            Type::Fn(..) => either(vm::Type::Func, vm::Type::NullOrFunc),
            Type::Enum(id) => {
                let id = vm::EnumId(number(id.0));
                either(vm::Type::Enum(id), vm::Type::NullOrEnum(id))
            }
            Type::Record(id) => {
                let id = vm::RecordId(number(id.0));
                either(vm::Type::Record(id), vm::Type::NullOrRecord(id))
            }
            Type::Class(id) => {
                let id = vm::ClassId(number(id.0));
                either(vm::Type::Object(id), vm::Type::NullOrObject(id))
            }
            Type::Any
            | Type::Null
            | Type::Nothing
            | Type::Never
            | Type::Nullable(_)
            | Type::Unknown(_) => return None,
        };
        let known = self.b.program().types.iter().position(|t| *t == wanted);
        match known.and_then(|i| u16::try_from(i).ok()) {
            Some(i) => Some(TypeId(i)),
            None => Some(self.b.ty(wanted)),
        }
    }
}

/// Converts a number of the checker to one of the program's tables. The validator reports numbers
/// that are too large.
pub(crate) fn number(id: u32) -> u16 {
    u16::try_from(id).unwrap_or(u16::MAX)
}

/// Converts a count to the width of the program's tables. The validator reports counts that are too
/// large.
pub(crate) fn size16(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// Counts up from a number. Numbers that are too large become the last number, and the validator
/// reports them.
pub(crate) fn numbers(first: u16) -> impl Iterator<Item = u16> {
    (first..=u16::MAX).chain(std::iter::repeat(u16::MAX))
}

/// Converts a constant of the checker to one of the machine.
pub(crate) fn literal(value: &ConstValue) -> Literal {
    let all = |values: &[ConstValue]| values.iter().map(literal).collect();
    match value {
        ConstValue::Null => Literal::Null,
        ConstValue::Bool(v) => Literal::Bool(*v),
        ConstValue::Int(v) => Literal::Int(*v),
        ConstValue::Index(id, v) => Literal::Index(number(id.0), number(*v)),
        ConstValue::Str(v) => Literal::Str(v.clone()),
        ConstValue::List(v) => Literal::List(all(v)),
        ConstValue::Array(id, v) => Literal::Array(number(id.0), all(v)),
        ConstValue::Set(v) => Literal::Set(all(v)),
        ConstValue::Map(v) => {
            Literal::Map(v.iter().map(|(k, v)| (literal(k), literal(v))).collect())
        }
        ConstValue::Variant(id, variant, v) => {
            Literal::Enum(vm::EnumId(number(id.0)), number(*variant), all(v))
        }
        ConstValue::Record(id, v) => Literal::Record(vm::RecordId(number(id.0)), all(v)),
    }
}
