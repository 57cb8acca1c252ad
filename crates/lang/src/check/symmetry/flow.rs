//! The state of the check: variables, what was noted on them, and where code is.

use super::result::{Shapes, Symmetries, SymmetryRule};
use super::shape::{Leaf, Shape};
use crate::ast::{Block, Expr, ExprKind, Ident, Model};
use crate::check::{ClassId, ConstValue, EventId, FnId, Meaning, Program, TaskId, ThreadId, Type};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A body of code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Body {
    /// `init`, first values, properties: one step.
    Once,
    Function(FnId),
    Method(ClassId, u32),
    Task(TaskId),
    Event(EventId),
    Thread(ThreadId),
    /// A function value: called from anywhere.
    Closure,
}

/// A use that is a mistake if the variable belongs to an index set.
pub(super) struct Demand {
    pub(super) leaf: Leaf,
    pub(super) span: Span,
    pub(super) rule: SymmetryRule,
    /// What the index is used for, after "but here it is".
    pub(super) what: &'static str,
}

/// A use that is fine if the variable belongs to an index set: counted.
pub(super) struct Allowed {
    pub(super) leaf: Leaf,
    pub(super) rule: SymmetryRule,
}

/// A number of elements, to be that of the index set.
pub(super) struct Size {
    pub(super) leaf: Leaf,
    pub(super) size: Option<i64>,
    pub(super) span: Span,
}

/// A range, to be all of the index set.
pub(super) struct Range {
    pub(super) leaf: Leaf,
    pub(super) span: Span,
    pub(super) bounds: Option<(i64, i64)>,
}

/// A `symmetric` declaration.
pub(super) struct Seed {
    pub(super) leaf: Leaf,
    pub(super) span: Span,
    pub(super) size: u32,
}

/// A loop over something.
pub(super) struct Loop<'a> {
    pub(super) over: Shape,
    pub(super) var: &'a Ident,
    pub(super) body: &'a Block,
    /// Whether each round has another value in the variable.
    pub(super) distinct: bool,
    pub(super) span: Span,
    pub(super) place: Place,
}

/// Something that takes several steps unless its body is one step.
pub(super) struct Whole {
    pub(super) over: Shape,
    pub(super) span: Span,
    pub(super) rule: SymmetryRule,
    pub(super) what: &'static str,
    pub(super) place: Place,
    /// Whether its result may be there after an `atomic`.
    pub(super) stays: bool,
}

/// A function value.
pub(super) struct Value {
    /// What it holds of the code around it.
    pub(super) held: Vec<Shape>,
    /// Its parameters and result.
    pub(super) told: Vec<Shape>,
    pub(super) span: Span,
    /// Where it is called, if it is given to a method that calls it and forgets it.
    pub(super) place: Option<Place>,
}

/// What becomes of a closure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Its code is part of the code around it.
    InPlace,
    /// It is called where it stands, and forgotten.
    Given,
    /// It is a value like any other.
    Kept,
}

/// Where code is: its body, and whether it is within `atomic`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) body: Body,
    pub(super) atomic: bool,
}

/// The check.
pub(super) struct Flow<'a> {
    pub(super) model: &'a Model,
    pub(super) program: &'a Program,
    parents: Vec<Leaf>,
    pub(super) shapes: Shapes,
    pub(super) locals: Vec<Shape>,
    /// The locals declared at each place.
    pub(super) places: BTreeMap<u32, Vec<usize>>,
    pub(super) handlers: Vec<Leaf>,
    pub(super) locks: Vec<Leaf>,
    pub(super) conds: Vec<Leaf>,
    pub(super) events: Vec<Leaf>,
    pub(super) threads: Vec<Leaf>,
    pub(super) seeds: Vec<Seed>,
    pub(super) demands: Vec<Demand>,
    pub(super) allowed: Vec<Allowed>,
    pub(super) sizes: Vec<Size>,
    pub(super) ranges: Vec<Range>,
    pub(super) loops: Vec<Loop<'a>>,
    pub(super) wholes: Vec<Whole>,
    /// Values of type `any` that met these shapes.
    pub(super) untyped: Vec<(Shape, Span)>,
    pub(super) closures: Vec<Value>,
    pub(super) calls: BTreeSet<(Place, Body)>,
    /// Bodies that run on threads of their own.
    pub(super) forked: BTreeSet<Body>,
    pub(super) place: Place,
    /// Whether the range that comes next is gone through at once.
    pub(super) gone_through: bool,
    /// What the bodies that the code is in give, innermost last.
    pub(super) results: Vec<Shape>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(model: &'a Model, program: &'a Program) -> Self {
        Flow {
            model,
            program,
            parents: vec![],
            shapes: Shapes::default(),
            locals: vec![],
            places: BTreeMap::new(),
            handlers: vec![],
            locks: vec![],
            conds: vec![],
            events: vec![],
            threads: vec![],
            seeds: vec![],
            demands: vec![],
            allowed: vec![],
            sizes: vec![],
            ranges: vec![],
            loops: vec![],
            wholes: vec![],
            untyped: vec![],
            closures: vec![],
            calls: BTreeSet::new(),
            forked: BTreeSet::new(),
            place: Place { body: Body::Once, atomic: true },
            gone_through: false,
            results: vec![],
        }
    }

    pub(super) fn run(mut self) -> Symmetries {
        self.declare();
        if self.seeds.is_empty() {
            return Symmetries::default();
        }
        self.items();
        self.conclude()
    }

    pub(super) fn fresh(&mut self) -> Leaf {
        let leaf = self.parents.len() as Leaf;
        self.parents.push(leaf);
        leaf
    }

    /// A new variable for something computed, which is no index.
    pub(super) fn computed(&mut self, span: Span) -> Shape {
        let leaf = self.fresh();
        self.demand(leaf, span, SymmetryRule::Computed, "mixed with a number that is computed");
        Shape::Int(leaf)
    }

    pub(super) fn shape_of(&mut self, ty: &Type) -> Shape {
        Shape::of(ty, &mut || {
            let leaf = self.parents.len() as Leaf;
            self.parents.push(leaf);
            leaf
        })
    }

    /// The shape of the static type of an expression.
    pub(super) fn typed(&mut self, e: &Expr) -> Shape {
        let ty = self.program.type_of(e.id);
        self.shape_of(&ty)
    }

    pub(super) fn find(&self, mut leaf: Leaf) -> Leaf {
        while self.parents[leaf as usize] != leaf {
            leaf = self.parents[leaf as usize];
        }
        leaf
    }

    pub(super) fn leaves_count(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn join(&mut self, a: Leaf, b: Leaf) {
        let (a, b) = (self.find(a), self.find(b));
        // The older one leads: chains stay short because most variables are new.
        let (old, new) = if a <= b { (a, b) } else { (b, a) };
        self.parents[new as usize] = old;
    }

    /// Values go from one place to the other: all variables in them are equal.
    pub(super) fn unify(&mut self, a: &Shape, b: &Shape, span: Span) {
        match (a, b) {
            (Shape::Int(a), Shape::Int(b)) => self.join(*a, *b),
            (Shape::List(i, a), Shape::List(j, b)) => {
                self.join(*i, *j);
                self.unify(a, b, span);
            }
            (Shape::Set(a), Shape::Set(b)) => self.unify(a, b, span),
            (Shape::Map(k, v), Shape::Map(l, w)) => {
                self.unify(k, l, span);
                self.unify(v, w, span);
            }
            (Shape::Fn(params, result), Shape::Fn(others, other)) => {
                for (a, b) in params.iter().zip(others) {
                    self.unify(a, b, span);
                }
                self.unify(result, other, span);
            }
            (Shape::Any, other) | (other, Shape::Any) => self.untyped.push((other.clone(), span)),
            _ => {}
        }
    }

    pub(super) fn demand(
        &mut self,
        leaf: Leaf,
        span: Span,
        rule: SymmetryRule,
        what: &'static str,
    ) {
        self.demands.push(Demand { leaf, span, rule, what });
    }

    /// All ints in a value must be no indices.
    pub(super) fn demand_all(
        &mut self,
        shape: &Shape,
        span: Span,
        rule: SymmetryRule,
        what: &'static str,
    ) {
        for leaf in self.leaves(shape) {
            self.demand(leaf, span, rule, what);
        }
    }

    pub(super) fn allow(&mut self, leaf: Leaf, rule: SymmetryRule) {
        self.allowed.push(Allowed { leaf, rule });
    }

    /// All variables in a shape, those of payloads and fields too.
    pub(super) fn leaves(&self, shape: &Shape) -> Vec<Leaf> {
        let mut found = Vec::new();
        let mut named: BTreeSet<(u8, u32)> = BTreeSet::new();
        let mut open: Vec<&Shape> = vec![shape];
        while let Some(shape) = open.pop() {
            match shape {
                Shape::Unit | Shape::Hole | Shape::Any => {}
                Shape::Int(leaf) => found.push(*leaf),
                Shape::List(leaf, of) => {
                    found.push(*leaf);
                    open.push(of);
                }
                Shape::Set(of) => open.push(of),
                Shape::Map(key, value) => open.extend([&**key, &**value]),
                Shape::Fn(params, result) => {
                    open.extend(params);
                    open.push(result);
                }
                Shape::Enum(id) if named.insert((0, id.0)) => {
                    open.extend(self.shapes.enums.get(id.index()).into_iter().flatten().flatten());
                }
                Shape::Record(id) if named.insert((1, id.0)) => {
                    open.extend(self.shapes.records.get(id.index()).into_iter().flatten());
                }
                Shape::Class(id) if named.insert((2, id.0)) => {
                    open.extend(self.shapes.classes.get(id.index()).into_iter().flatten());
                }
                Shape::Enum(_) | Shape::Record(_) | Shape::Class(_) => {}
            }
        }
        found
    }

    /// The value of a constant expression.
    pub(super) fn constant(&self, e: &Expr) -> Option<i64> {
        use crate::ast::BinaryOp;
        match &e.kind {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Paren(inner) => self.constant(inner),
            ExprKind::Name(_) => match self.program.meaning(e.id) {
                Some(Meaning::Const(id)) => match &self.program.consts.get(id.index())?.value {
                    Some(ConstValue::Int(value)) => Some(*value),
                    _ => None,
                },
                _ => None,
            },
            ExprKind::Binary { op, left, right, .. } => {
                let (a, b) = (self.constant(left)?, self.constant(right)?);
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Goes through code of another body.
    pub(super) fn within(&mut self, place: Place, result: Shape, go: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.place, place);
        self.results.push(result);
        go(self);
        self.results.pop();
        self.place = before;
    }
}
