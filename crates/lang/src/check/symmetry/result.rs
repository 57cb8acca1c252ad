//! What the check for symmetry finds out.

use super::shape::{Leaf, Shape};
use crate::check::{CondId, EventId, GlobalId, HandlerId, LockId, ThreadId};
use crate::diagnostic::Diagnostic;
use std::collections::BTreeMap;

/// The index sets of a model, or why there are none.
#[derive(Clone, Debug, Default)]
pub struct Symmetries {
    /// The index sets in the order of their first `symmetric` declarations; none when there is a mistake.
    pub sets: Vec<IndexSet>,
    /// Uses that tell members apart, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// How often each rule accepted or refused a use of an index.
    pub rules: BTreeMap<SymmetryRule, u32>,
    pub(crate) shapes: Shapes,
}

/// Members that may be exchanged for each other, with all that has one part for each.
#[derive(Clone, Debug, Default)]
pub struct IndexSet {
    /// The number of members.
    pub size: u32,
    /// Arrays of handlers.
    pub handlers: Vec<HandlerId>,
    /// Families of threads.
    pub threads: Vec<ThreadId>,
    /// Families of events.
    pub events: Vec<EventId>,
    /// Arrays of locks.
    pub locks: Vec<LockId>,
    /// Arrays of conditions.
    pub conds: Vec<CondId>,
    /// Globals that are lists with one element for each member.
    pub globals: Vec<GlobalId>,
}

/// What an index is used for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SymmetryRule {
    /// Accepted: it names an element or a member.
    Indexing,
    /// Accepted: it is compared with an index of the same set, or searched among such.
    Equality,
    /// Accepted: a loop over the set that does the same in any order.
    LoopAnyOrder,
    /// Accepted: `all`, `any`, `count`, `map` and the like over the set.
    Quantifier,
    /// Accepted: `choose` of a member.
    Choice,
    /// Accepted: a range of exactly the members.
    FullRange,
    /// Refused: a constant.
    Constant,
    /// Refused: arithmetic.
    Arithmetic,
    /// Refused: `<` and the like.
    Order,
    /// Refused: made into text.
    Text,
    /// Refused: the place of an element in a list, the number of elements, and what else is computed.
    Computed,
    /// Refused: a method that goes by the order of elements.
    ByPosition,
    /// Refused: a list written out or of another length.
    Length,
    /// Refused: a range of other ints.
    PartRange,
    /// Refused: it starts as 0, which is a member.
    StartsAsZero,
    /// Refused: it goes through a value of type `any`.
    Untyped,
    /// Refused: a loop in which the order matters.
    LoopOrder,
    /// Refused: a loop, quantifier, choice or function value that is left in the middle by a step.
    InSteps,
    /// Refused: index sets of different sizes used as one.
    Sizes,
}

/// Shapes of declared things, for the lowering.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes {
    pub(crate) globals: Vec<Shape>,
    pub(crate) records: Vec<Vec<Shape>>,
    pub(crate) enums: Vec<Vec<Vec<Shape>>>,
    pub(crate) classes: Vec<Vec<Shape>>,
    pub(crate) functions: Vec<(Vec<Shape>, Shape)>,
    /// Of each class.
    pub(crate) methods: Vec<Vec<(Vec<Shape>, Shape)>>,
    pub(crate) tasks: Vec<Vec<Shape>>,
    /// The number of the index set of each variable that belongs to one.
    pub(crate) sets: Vec<Option<u16>>,
}

impl Shapes {
    /// The index set of a variable.
    pub(crate) fn set(&self, leaf: Leaf) -> Option<u16> {
        self.sets.get(leaf as usize).copied().flatten()
    }
}
