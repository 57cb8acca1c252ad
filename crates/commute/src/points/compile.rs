//! Compiles conditions to access points.
//!
//! **Problem.** Given a specification, find a set of points X, the points η(a) that each action a
//! touches, and a conflict relation C on points, such that two actions touch conflicting points iff
//! they do not commute by the specification.
//!
//! **Source.** The representation: Y. Sun, *Commutativity-aware runtime verification for concurrent
//! programs* (thesis, 2021), Definition 2.3.1. The translation is our own.
//!
//! **Method.** A condition is a conjunction of clauses; it fails iff all literals of a clause fail.
//! Some literals of a clause use one invocation only; others use both. If each of the latter is `t
//! != u` with t over the left and u over the right invocation, the clause fails iff no left literal
//! holds of the left one, no right literal holds of the right one, and the keys (t...) and (u...)
//! are equal. So the clause becomes two classes of points with these guards and keys, which
//! conflict where keys are equal. Classes with the same method, guard and key are merged.
//!
//! **Guarantee.** Two invocations that do not commute by the specification always conflict. Exact
//! unless [`Exactness`] reports otherwise. A literal over both invocations that is no inequality is
//! omitted from its clause, which then fails more often. A key of several parts, one of which has
//! no value (arithmetic, functions of states), counts as equal to all. A condition with too many
//! clauses counts as false.
//!
//! **Example.** `add(v)/r ~ contains(w) when v != w || !r` is one clause: points `add unless !r,
//! key v` and `contains, key w`, in conflict.
//!
//! **Cost.** An invocation touches at most as many points as its method has classes: one to four
//! for the built-in types, independent of the number of earlier invocations. A point conflicts with
//! at most one point of each class in conflict with its own.

use super::touch::{Class, ClassId, Form, Point};
use crate::expr::{Expr, Operator, Side, StateFunctions};
use crate::formula::{Clause, Formula};
use crate::spec::{Condition, Invocation, MethodId, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// The most clauses of a condition.
const CLAUSES_MAX: usize = 256;

/// The most literals in the clauses of all conditions of a specification. It bounds the memory of
/// the classes.
const LITERALS_MAX: usize = 1 << 17;

/// Whether the points of a pair of methods represent its condition exactly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Exactness {
    /// They conflict iff the condition does not hold.
    Exact,
    /// They conflict if the condition fails, and sometimes although it holds. Not represented: a
    /// comparison of the two invocations that is no inequality of a value of one with a value of
    /// the other; and which of several inequalities has no value.
    Comparison,
    /// They always conflict: the condition has too many clauses, or all conditions together are too
    /// large.
    Size,
}

/// The exactness of the points of a pair of methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairExactness {
    /// One method.
    pub left: MethodId,
    /// The other.
    pub right: MethodId,
    /// The exactness.
    pub exactness: Exactness,
}

/// The access points of a specification: X, η and C of Definition 2.3.1.
#[derive(Clone, Debug)]
pub struct AccessPoints {
    classes: Vec<Class>,
    /// For each method, its classes; last, those of unspecified methods.
    of_method: Vec<Vec<ClassId>>,
    /// For each class, those in conflict with it, ascending.
    conflicts: Vec<Vec<ClassId>>,
    pairs: Vec<PairExactness>,
}

impl AccessPoints {
    /// Compiles a specification for traces that use only its methods. An invocation of an
    /// unspecified method touches nothing here: use [`AccessPoints::with_unspecified`] where there
    /// may be some.
    #[must_use]
    pub fn of(spec: &Spec) -> AccessPoints {
        compile(spec, false)
    }

    /// Compiles a specification for traces that may use unspecified methods. Every invocation
    /// touches one more point; the point of unspecified methods conflicts with it.
    #[must_use]
    pub fn with_unspecified(spec: &Spec) -> AccessPoints {
        compile(spec, true)
    }

    /// Appends the points that an invocation touches to a list. Without the state before it,
    /// conditions on states do not hold.
    pub fn touch(
        &self,
        call: &Invocation,
        state: Option<&dyn StateFunctions>,
        points: &mut Vec<Point>,
    ) {
        let unspecified = self.of_method.len() - 1;
        let classes = &self.of_method[call.method.index().min(unspecified)];
        let point = |&id: &ClassId| self.classes[id.index()].point(id, call, state);
        points.extend(classes.iter().filter_map(point));
    }

    /// Returns the number of classes.
    #[must_use]
    pub fn classes_count(&self) -> usize {
        self.classes.len()
    }

    /// Returns all classes.
    pub fn classes(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.classes.len()).filter_map(|at| u32::try_from(at).ok().map(ClassId))
    }

    /// Returns the classes in conflict with one, ascending. The conflicts of a point are the points
    /// of these classes with the same key.
    ///
    /// # Panics
    /// If the class is of another specification.
    #[must_use]
    pub fn conflicts(&self, class: ClassId) -> &[ClassId] {
        &self.conflicts[class.index()]
    }

    /// Returns whether two points conflict, in time logarithmic in the number of classes.
    #[must_use]
    pub fn conflict(&self, a: &Point, b: &Point) -> bool {
        let conflicts = self.conflicts.get(a.class.index());
        a.key == b.key && conflicts.is_some_and(|list| list.binary_search(&b.class).is_ok())
    }

    /// Returns whether two invocations touch points that conflict.
    #[must_use]
    pub fn in_conflict(&self, a: &Invocation, b: &Invocation) -> bool {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        self.touch(a, None, &mut left);
        self.touch(b, None, &mut right);
        left.iter().any(|a| right.iter().any(|b| self.conflict(a, b)))
    }

    /// Returns the exactness of the pairs of methods with a condition; all others are exact.
    #[must_use]
    pub fn pairs(&self) -> &[PairExactness] {
        &self.pairs
    }

    /// Returns whether all pairs are exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.pairs.iter().all(|pair| pair.exactness == Exactness::Exact)
    }
}

#[derive(Default)]
struct Compiler {
    /// Numbers of the classes, in the order of creation.
    classes: BTreeMap<Class, u32>,
    conflicts: BTreeSet<(u32, u32)>,
    /// Literals in the clauses so far.
    literals: usize,
}

fn compile(spec: &Spec, unspecified: bool) -> AccessPoints {
    let mut compiler = Compiler::default();
    let mut pairs = Vec::new();
    let count = spec.methods().len();
    for a in (0..count).map(MethodId::of) {
        for b in (a.index()..count).map(MethodId::of) {
            match spec.condition(a, b) {
                Some(condition) => pairs.push(PairExactness {
                    left: condition.left,
                    right: condition.right,
                    exactness: compiler.condition(condition),
                }),
                None => compiler.never(a, b),
            }
        }
    }
    if unspecified {
        let unspecified = compiler.class(whole(None));
        compiler.conflict(unspecified, unspecified);
        for method in (0..count).map(MethodId::of) {
            let own = compiler.class(whole(Some(method)));
            compiler.conflict(unspecified, own);
        }
    }
    compiler.finish(count, pairs)
}

/// The class of all invocations of a method.
fn whole(method: Option<MethodId>) -> Class {
    Class { method, unless: Vec::new(), key: Vec::new(), form: Form::Present }
}

impl Compiler {
    fn class(&mut self, class: Class) -> u32 {
        let next = u32::try_from(self.classes.len()).unwrap_or(u32::MAX);
        *self.classes.entry(class).or_insert(next)
    }

    fn conflict(&mut self, a: u32, b: u32) {
        self.conflicts.extend([(a, b), (b, a)]);
    }

    fn never(&mut self, a: MethodId, b: MethodId) {
        let (a, b) = (self.class(whole(Some(a))), self.class(whole(Some(b))));
        self.conflict(a, b);
    }

    fn condition(&mut self, condition: &Condition) -> Exactness {
        let clauses = condition.formula.clauses(CLAUSES_MAX).unwrap_or_default();
        let is_true = condition.formula == Formula::TRUE;
        self.literals += clauses.iter().map(Vec::len).sum::<usize>();
        if self.literals > LITERALS_MAX || (clauses.is_empty() && !is_true) {
            self.never(condition.left, condition.right);
            return Exactness::Size;
        }
        let mut exactness = Exactness::Exact;
        for clause in clauses {
            let parts = Parts::of(clause);
            if parts.holds {
                continue;
            }
            if parts.is_weaker || parts.has_partial_keys() {
                exactness = Exactness::Comparison;
            }
            self.clause(condition, parts);
        }
        exactness
    }

    fn clause(&mut self, condition: &Condition, parts: Parts) {
        let missing = |key: &[Expr]| key.iter().any(|part| !part.is_total());
        let (left_missing, right_missing) = (missing(&parts.left_key), missing(&parts.right_key));
        let form = if parts.left_key.is_empty() { Form::Present } else { Form::Keyed };
        let class = |method, unless, key| Class { method: Some(method), unless, key, form };
        let left = class(condition.left, parts.left, parts.left_key);
        let right = class(condition.right, parts.right, parts.right_key);
        let mut pair = |left: &Class, right: &Class| {
            let (a, b) = (self.class(left.clone()), self.class(right.clone()));
            self.conflict(a, b);
        };
        pair(&left, &right);
        // [`Form::Present`] does not depend on the key: without it, more classes are equal.
        let present =
            |class: &Class| Class { key: Vec::new(), form: Form::Present, ..class.clone() };
        if left_missing {
            pair(&Class { form: Form::KeyMissing, ..left.clone() }, &present(&right));
        }
        if right_missing {
            pair(&present(&left), &Class { form: Form::KeyMissing, ..right.clone() });
        }
    }

    fn finish(self, methods: usize, pairs: Vec<PairExactness>) -> AccessPoints {
        let mut classes: Vec<(Class, u32)> = self.classes.into_iter().collect();
        classes.sort_by_key(|(_, id)| *id);
        let mut of_method = vec![Vec::new(); methods + 1];
        for (class, id) in &classes {
            of_method[class.method.map_or(methods, MethodId::index)].push(ClassId(*id));
        }
        let mut conflicts = vec![Vec::new(); classes.len()];
        for (a, b) in self.conflicts {
            conflicts[a as usize].push(ClassId(b));
        }
        let classes = classes.into_iter().map(|(class, _)| class).collect();
        AccessPoints { classes, of_method, conflicts, pairs }
    }
}

/// The parts of a clause. All expressions are over the left side, as each uses one invocation.
#[derive(Default)]
struct Parts {
    left: Vec<Expr>,
    right: Vec<Expr>,
    left_key: Vec<Expr>,
    right_key: Vec<Expr>,
    /// Whether it always holds.
    holds: bool,
    /// Whether a literal had to be omitted.
    is_weaker: bool,
}

impl Parts {
    /// Whether there are several inequalities, and values in them that may not exist. Then the
    /// points treat all of them as equal, though only that one is not known to differ.
    fn has_partial_keys(&self) -> bool {
        let mut parts = self.left_key.iter().chain(&self.right_key);
        self.left_key.len() > 1 && parts.any(|part| !part.is_total())
    }

    fn of(clause: Clause) -> Parts {
        let mut parts = Parts::default();
        let own = |expr: &Expr| expr.with_sides(&|_| Side::Left);
        for literal in clause {
            let sides = literal.sides();
            if sides.only(Side::Left) {
                parts.left.push(own(&literal));
            } else if sides.only(Side::Right) {
                parts.right.push(own(&literal));
            } else if !sides.left {
                // A constant.
                let nothing = crate::value::Value::Null;
                let view = crate::expr::View { arguments: &[], result: &nothing, state: None };
                parts.holds |= literal.value(view, view) == Some(true.into());
            } else {
                match literal.sides_of(Operator::Unequal) {
                    Some((left, right)) => {
                        parts.left_key.push(own(left));
                        parts.right_key.push(own(right));
                    }
                    None => parts.is_weaker = true,
                }
            }
        }
        parts
    }
}
