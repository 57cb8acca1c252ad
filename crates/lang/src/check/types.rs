//! Types as the checker sees them.

use super::model::{CheckedModel, ClassId, EnumId, IndexId, RecordId};

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// Anything. The machine checks its uses when the model runs.
    Any,
    /// `int`.
    Int,
    /// `bool`.
    Bool,
    /// `str`.
    Str,
    /// The type of `null` alone.
    Null,
    /// No value: the result of a function without one.
    Nothing,
    /// The type of code that does not return.
    Never,
    /// A handle of a posted task.
    Task,
    /// A handle of a thread.
    Thread,
    /// A value of an index type.
    Index(IndexId),
    /// `[T; Node]`: one element for each value of an index type.
    Array(IndexId, Box<Type>),
    /// `list<T>`.
    List(Box<Type>),
    /// `set<T>`.
    Set(Box<Type>),
    /// `map<K, V>`.
    Map(Box<Type>, Box<Type>),
    /// `T?`.
    Nullable(Box<Type>),
    /// An enum.
    Enum(EnumId),
    /// A record type.
    Record(RecordId),
    /// An object of a class.
    Class(ClassId),
    /// `fn(T) -> U`.
    Fn(Vec<Type>, Box<Type>),
    /// Not known yet: a number of the inference. Never in a finished program.
    Unknown(u32),
}

impl Type {
    /// Returns `list<T>`.
    pub fn list(element: Type) -> Type {
        Type::List(Box::new(element))
    }

    /// `T?`; the type itself if it may be null already.
    pub fn nullable(self) -> Type {
        match self {
            Type::Any | Type::Null | Type::Nullable(_) | Type::Never => self,
            solid => Type::Nullable(Box::new(solid)),
        }
    }

    /// Returns the type without null.
    pub fn solid(&self) -> &Type {
        match self {
            Type::Nullable(inner) => inner.solid(),
            other => other,
        }
    }

    /// As written in a model.
    pub fn show(&self, program: &CheckedModel) -> String {
        match self {
            Type::Any | Type::Unknown(_) => "any".into(),
            Type::Int => "int".into(),
            Type::Bool => "bool".into(),
            Type::Str => "str".into(),
            Type::Null => "null".into(),
            Type::Nothing => "nothing".into(),
            Type::Never => "never".into(),
            Type::Task => "task".into(),
            Type::Thread => "thread".into(),
            Type::Index(id) => program.indices[id.index()].name.clone(),
            Type::Array(id, t) => {
                format!("[{}; {}]", t.show(program), program.indices[id.index()].name)
            }
            Type::List(t) => format!("list<{}>", t.show(program)),
            Type::Set(t) => format!("set<{}>", t.show(program)),
            Type::Map(k, v) => format!("map<{}, {}>", k.show(program), v.show(program)),
            Type::Nullable(t) => match t.as_ref() {
                Type::Fn(..) => format!("({})?", t.show(program)),
                t => format!("{}?", t.show(program)),
            },
            Type::Enum(id) => program.enums[id.index()].name.clone(),
            Type::Record(id) => program.records[id.index()].name.clone(),
            Type::Class(id) => program.classes[id.index()].name.clone(),
            Type::Fn(params, result) => {
                let params: Vec<String> = params.iter().map(|t| t.show(program)).collect();
                let params = params.join(", ");
                match result.as_ref() {
                    Type::Nothing => format!("fn({params})"),
                    result => format!("fn({params}) -> {}", result.show(program)),
                }
            }
        }
    }
}
