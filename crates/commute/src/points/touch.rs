//! The points that an invocation touches.

use crate::expr::{Expr, StateFunctions};
use crate::spec::{Invocation, MethodId};
use crate::value::Value;

/// A class of access points: the points touched by invocations of one method that satisfy
/// conditions, one point for each key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClassId(pub(super) u32);

impl ClassId {
    /// Returns its position among the classes of its specification.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An access point: a class and a key. Two points conflict if their classes do and their keys are
/// equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point {
    /// The class.
    pub class: ClassId,
    /// The values of the key; none for classes with a single point.
    pub key: Vec<Value>,
}

/// Which points of its class an invocation touches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Form {
    /// The point of its key; none if the key has no value.
    Keyed,
    /// The only point, and only if the key has no value: it conflicts whatever the other's key is.
    KeyMissing,
    /// The only point, whatever the key: it conflicts with points of the form above.
    Present,
}

/// The rule by which invocations touch points. Sides do not matter here: each expression uses one
/// invocation, from either side.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Class {
    /// The method; `None` stands for all unspecified ones.
    pub(super) method: Option<MethodId>,
    /// No points if one of these holds.
    pub(super) unless: Vec<Expr>,
    pub(super) key: Vec<Expr>,
    pub(super) form: Form,
}

impl Class {
    pub(super) fn point(
        &self,
        id: ClassId,
        call: &Invocation,
        state: Option<&dyn StateFunctions>,
    ) -> Option<Point> {
        let view = call.view_in(state);
        let value = |expr: &Expr| expr.value(view, view);
        if self.unless.iter().any(|expr| value(expr) == Some(Value::Bool(true))) {
            return None;
        }
        let key = match self.form {
            Form::Present => Vec::new(),
            Form::Keyed => self.key.iter().map(value).collect::<Option<Vec<Value>>>()?,
            Form::KeyMissing => {
                if self.key.iter().all(|expr| value(expr).is_some()) {
                    return None;
                }
                Vec::new()
            }
        };
        Some(Point { class: id, key })
    }
}
