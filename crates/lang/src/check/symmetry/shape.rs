//! Where ints are in the values of a type.

use crate::check::{ClassId, EnumId, RecordId, Type};
use std::rc::Rc;

/// A variable: what kind of int is in a place, or numbers the elements of a list.
pub(crate) type Leaf = u32;

/// A type with a variable at every int.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// No int in it.
    Unit,
    /// Nothing is known and nothing is wanted: `null`, code that does not come back.
    Hole,
    /// A value of type `any`.
    Any,
    /// An int.
    Int(Leaf),
    /// A list: what numbers its elements, and they.
    List(Leaf, Rc<Shape>),
    /// A set.
    Set(Rc<Shape>),
    /// A map.
    Map(Rc<Shape>, Rc<Shape>),
    /// An enum: its payloads have shapes of their own, the same for all values.
    Enum(EnumId),
    /// A record, likewise.
    Record(RecordId),
    /// An object, likewise.
    Class(ClassId),
    /// A function value.
    Fn(Vec<Shape>, Rc<Shape>),
}

impl Shape {
    /// The shape of a type, with new variables.
    pub(crate) fn of(ty: &Type, fresh: &mut dyn FnMut() -> Leaf) -> Shape {
        match ty {
            Type::Any | Type::Unknown(_) => Shape::Any,
            Type::Int => Shape::Int(fresh()),
            Type::Bool | Type::Str | Type::Nothing | Type::Task | Type::Thread => Shape::Unit,
            Type::Null | Type::Never => Shape::Hole,
            Type::List(of) => {
                let leaf = fresh();
                Shape::List(leaf, Rc::new(Shape::of(of, fresh)))
            }
            Type::Set(of) => Shape::Set(Rc::new(Shape::of(of, fresh))),
            Type::Map(key, value) => {
                let key = Rc::new(Shape::of(key, fresh));
                Shape::Map(key, Rc::new(Shape::of(value, fresh)))
            }
            Type::Nullable(inner) => Shape::of(inner, fresh),
            Type::Enum(id) => Shape::Enum(*id),
            Type::Record(id) => Shape::Record(*id),
            Type::Class(id) => Shape::Class(*id),
            Type::Fn(params, result) => {
                let params = params.iter().map(|param| Shape::of(param, fresh)).collect();
                Shape::Fn(params, Rc::new(Shape::of(result, fresh)))
            }
        }
    }
}
