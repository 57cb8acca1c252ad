//! What all parts of the lowering share: the program under construction and the numbers of what it
//! declares.

use crate::ast::{Model, NodeId};
use crate::check::{self, ClassId, ConstValue, EventId, EventMember, FnId, TaskId, Type};
use crate::source::{Source, Span};
use anyorder_vm::program::{
    self as vm, ConstId, FuncId, Literal, NameId, ProgramBuilder, SiteId, TypeId,
};
use std::collections::HashMap;

/// The state of one lowering. Enums, records, classes, globals, locks, conditions, handlers, tasks
/// and threads have the same numbers in the tables of the check and in the program ([`size16`]);
/// functions and events do not.
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
    /// By [`EventId`] and position in its members.
    pub(crate) events: Vec<Vec<vm::EventId>>,
    /// The code of each closure that was met.
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

    /// The events of the machine that an event became, with what each of them is.
    pub(crate) fn members(&self, id: EventId) -> Vec<(vm::EventId, &'a EventMember)> {
        let ids = self.events.get(id.index()).into_iter().flatten().copied();
        ids.zip(&self.tables.events[id.index()].members).collect()
    }

    /// The number of the place where a span starts.
    pub(crate) fn site(&mut self, span: Span) -> SiteId {
        if let Some(known) = self.sites.get(&span.start) {
            return *known;
        }
        let at = self.source.position(span.start);
        let site = self.b.site(self.file, at.line, at.column);
        self.sites.insert(span.start, site);
        site
    }

    /// The number of a constant; equal constants share one.
    pub(crate) fn constant(&mut self, value: &Literal) -> ConstId {
        let key = format!("{value:?}");
        if let Some(known) = self.constants.get(&key) {
            return *known;
        }
        let id = self.b.constant(value.clone());
        self.constants.insert(key, id);
        id
    }

    /// The number of a member's name.
    pub(crate) fn name(&mut self, name: &str) -> NameId {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let id = self.b.name(name);
        self.names.insert(name.to_owned(), id);
        id
    }

    /// The type to look for at run time; `None` where any value will do.
    pub(crate) fn runtime_type(&mut self, ty: &Type) -> Option<TypeId> {
        let nullable = matches!(ty, Type::Nullable(_));
        let wanted = match ty.solid() {
            Type::Int => vm::Type::Int,
            Type::Bool => vm::Type::Bool,
            Type::Str => vm::Type::Str,
            Type::Task | Type::Thread => vm::Type::Handle,
            Type::Index(id) => vm::Type::Index(number(id.0)),
            Type::List(_) | Type::Array(..) => vm::Type::List,
            Type::Set(_) => vm::Type::Set,
            Type::Map(..) => vm::Type::Map,
            Type::Fn(..) => vm::Type::Func,
            Type::Enum(id) => vm::Type::Enum(vm::EnumId(number(id.0))),
            Type::Record(id) => vm::Type::Record(vm::RecordId(number(id.0))),
            Type::Class(id) => vm::Type::Object(vm::ClassId(number(id.0))),
            Type::Any
            | Type::Null
            | Type::Nothing
            | Type::Never
            | Type::Nullable(_)
            | Type::Unknown(_) => return None,
        };
        let mut types = self.b.program().types.iter();
        let known = types.position(|known| *known == (wanted, nullable));
        match known.and_then(|i| u16::try_from(i).ok()) {
            Some(i) => Some(TypeId(i)),
            None => Some(self.b.ty(wanted, nullable)),
        }
    }
}

/// A number of the check as the program's tables have it; too many things of a kind are found by
/// the validator.
pub(crate) fn number(id: u32) -> u16 {
    u16::try_from(id).unwrap_or(u16::MAX)
}

/// A number of things as the program tables count them; too many are found by the validator.
pub(crate) fn size16(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// Counts up from a number; too many stay at the last, and are found by the validator.
pub(crate) fn numbers(first: u16) -> impl Iterator<Item = u16> {
    (first..=u16::MAX).chain(std::iter::repeat(u16::MAX))
}

/// A constant of the check as one of the machine.
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
