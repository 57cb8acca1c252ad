//! The shared state of the lowering: the program under construction and the numbers of its
//! declarations.

use crate::ast::{Model, NodeId};
use crate::check::{self, ClassId, ConstValue, EventId, EventMember, FnId, TaskId, Type};
use crate::source::{Source, Span};
use anyorder_program::{
    self as program, ConstId, FuncId, Literal, NameId, ProgramBuilder, SiteId, TypeId,
};
use std::collections::HashMap;

/// The state of one lowering. Enums, records, classes, globals, locks, conditions, handlers, tasks
/// and threads have the same numbers in the tables of the check and in the program; functions and
/// events do not.
pub(crate) struct Lowerer<'a> {
    pub(crate) model: &'a Model,
    pub(crate) tables: &'a check::CheckedModel,
    pub(crate) source: &'a Source<'a>,
    pub(crate) b: ProgramBuilder,
    /// By [`FnId`].
    pub(crate) functions: Vec<FuncId>,
    /// By [`ClassId`] and number of the field: the code of its first value.
    pub(crate) starts: Vec<Vec<Option<FuncId>>>,
    /// By [`EventId`] and position in its members.
    pub(crate) events: Vec<Vec<program::EventId>>,
    /// The code of each closure lowered so far.
    pub(crate) closures: HashMap<NodeId, FuncId>,
    file: u16,
    sites: HashMap<u32, SiteId>,
    constants: HashMap<String, ConstId>,
    names: HashMap<String, NameId>,
}

impl<'a> Lowerer<'a> {
    pub(crate) fn new(
        model: &'a Model,
        tables: &'a check::CheckedModel,
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
            starts: Vec::new(),
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
        let class = self.b.program().classes.get(class.index());
        let method = class.and_then(|class| class.methods.get(at as usize));
        method.map(|(_, func)| *func).unwrap_or_default()
    }

    pub(crate) fn task(&self, id: TaskId) -> FuncId {
        self.b.program().tasks.get(id.index()).map(|task| task.body).unwrap_or_default()
    }

    /// The events of the machine that an event became, each with its member.
    pub(crate) fn members(&self, id: EventId) -> Vec<(program::EventId, &'a EventMember)> {
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

    /// The type to check for at run time; `None` if every value fits.
    pub(crate) fn runtime_type(&mut self, ty: &Type) -> Option<TypeId> {
        let nullable = matches!(ty, Type::Nullable(_));
        let wanted = match ty.solid() {
            Type::Int => program::Type::Int,
            Type::Bool => program::Type::Bool,
            Type::Str => program::Type::Str,
            Type::Task | Type::Thread => program::Type::Handle,
            Type::Index(id) => program::Type::Index(number(id.0)),
            Type::List(_) | Type::Array(..) => program::Type::List,
            Type::Set(_) => program::Type::Set,
            Type::Map(..) => program::Type::Map,
            Type::Fn(..) => program::Type::Func,
            Type::Enum(id) => program::Type::Enum((*id).into()),
            Type::Record(id) => program::Type::Record((*id).into()),
            Type::Class(id) => program::Type::Object((*id).into()),
            Type::Any
            | Type::Null
            | Type::Nothing
            | Type::Never
            | Type::Nullable(_)
            | Type::Unknown(_) => return None,
        };
        Some(match position(&self.b.program().types, &(wanted, nullable)) {
            Some(at) => TypeId(at),
            None => self.b.ty(wanted, nullable),
        })
    }
}

/// Things that have the same numbers in the tables of the check and in the program.
macro_rules! same_numbers {
    ($($id:ident)*) => {$(
        impl From<check::$id> for program::$id {
            fn from(id: check::$id) -> program::$id {
                program::$id(number(id.0))
            }
        }
    )*};
}

same_numbers! { EnumId RecordId ClassId GlobalId LockId CondId HandlerId TaskId ThreadId }

/// The number of an entry that is in a table of the program already.
pub(crate) fn position<T: PartialEq>(table: &[T], entry: &T) -> Option<u16> {
    let at = table.iter().position(|known| known == entry)?;
    u16::try_from(at).ok()
}

/// A number or count of the check as one of the program's tables. The validator refuses too large
/// tables.
pub(crate) fn number(n: impl TryInto<u16>) -> u16 {
    n.try_into().unwrap_or(u16::MAX)
}

/// Counts up from a number. Too large numbers stay at the last; the validator refuses them.
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
            Literal::Enum((*id).into(), number(*variant), all(v))
        }
        ConstValue::Record(id, v) => Literal::Record((*id).into(), all(v)),
    }
}
