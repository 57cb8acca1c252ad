//! What expressions do with indices.

use super::flow::{Body, Flow, Place, Range, Use, Value, Whole};
use super::result::SymmetryRule as Rule;
use super::shape::Shape;
use crate::ast::{
    ArmBody, BinaryOp, Block, Closure, ClosureBody, Expr, ExprKind, If, IfElse, Match, Pattern,
    PatternKind, Post, PostTarget, Ref, UnaryOp,
};
use crate::check::Meaning;
use crate::source::Span;
use std::rc::Rc;

impl<'a> Flow<'a> {
    /// Goes through an expression; gives the shape of its value.
    pub(super) fn expr(&mut self, e: &'a Expr) -> Shape {
        match &e.kind {
            ExprKind::Int(_) => {
                let leaf = self.fresh();
                self.demand(leaf, e.span, Rule::Constant, "used together with a constant");
                Shape::Int(leaf)
            }
            ExprKind::Bool(_) | ExprKind::Str(_) => Shape::Unit,
            ExprKind::Null | ExprKind::Error => Shape::Hole,
            ExprKind::Name(_) | ExprKind::SelfRef => self.name(e),
            ExprKind::Paren(inner) => self.expr(inner),
            ExprKind::List(items) => {
                let (leaf, of) = (self.fresh(), self.elements(e, items));
                self.demand(leaf, e.span, Rule::Length, "the place in a list written out");
                Shape::List(leaf, Rc::new(of))
            }
            ExprKind::Repeat(of, count) => {
                let of = self.expr(of);
                self.expr(count);
                let (leaf, size) = (self.fresh(), self.constant(count));
                self.sizes.push(super::flow::Size { leaf, size, span: e.span });
                let shape = Shape::List(leaf, Rc::new(of));
                self.stays(&shape, e.span);
                shape
            }
            ExprKind::Set(items) => Shape::Set(Rc::new(self.elements(e, items))),
            ExprKind::Map(entries) => {
                let shape = self.typed(e);
                if let Shape::Map(key, value) = &shape {
                    for (k, v) in entries {
                        let (k_shape, v_shape) = (self.expr(k), self.expr(v));
                        self.unify(key, &k_shape, k.span);
                        self.unify(value, &v_shape, v.span);
                    }
                }
                shape
            }
            ExprKind::Record { fields, base, .. } => {
                let shape = self.typed(e);
                let known = match &shape {
                    Shape::Record(id) => self.shapes.records.get(id.index()).cloned(),
                    _ => None,
                };
                self.field_values(fields, &known.unwrap_or_default());
                base.iter().for_each(|base| drop(self.expr(base)));
                shape
            }
            ExprKind::New { fields, .. } => {
                let shape = self.typed(e);
                let known = match &shape {
                    Shape::Class(id) => self.shapes.classes.get(id.index()).cloned(),
                    _ => None,
                };
                self.field_values(fields, &known.unwrap_or_default());
                shape
            }
            ExprKind::Closure(closure) => self.closure(e, closure, Use::Kept),
            ExprKind::If(one) => self.if_(one),
            ExprKind::Match(one) => self.match_(one),
            ExprKind::Unary(UnaryOp::Not, inner) => {
                self.expr(inner);
                Shape::Unit
            }
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                let shape = self.expr(inner);
                self.demand_all(&shape, inner.span, Rule::Arithmetic, "used in arithmetic");
                self.computed(e.span)
            }
            ExprKind::Binary { op, left, right, .. } => self.binary(e, *op, left, right),
            ExprKind::Field { base, .. } => self.field(e, base),
            ExprKind::Index { base, index } => {
                let (base_shape, index_shape) = (self.expr(base), self.expr(index));
                self.element(&base_shape, &index_shape, index.span)
            }
            ExprKind::Call { callee, args } => self.call(callee, args, e.span),
            ExprKind::Method { receiver, name, args } => self.method(e, receiver, name.id, args),
            ExprKind::Enabled(r) => {
                self.reference(r);
                Shape::Unit
            }
            ExprKind::Post(post) => {
                self.post(post);
                Shape::Unit
            }
            ExprKind::Fork(fork) => {
                if let Some(Meaning::Function(id)) = self.program.meaning(fork.function.id) {
                    self.forked.insert(Body::Function(id));
                    let known = self.shapes.functions.get(id.index()).cloned();
                    self.arguments(&fork.args, &known.map_or(vec![], |f| f.0));
                }
                Shape::Unit
            }
            ExprKind::Choose(from) => {
                let shape = self.source(from);
                let (what, place) = ("`choose` of a member in a body of several steps", self.place);
                let (over, span, rule) = (shape.clone(), e.span, Rule::Choice);
                self.wholes.push(Whole { over, span, rule, what, place, stays: true });
                match shape {
                    Shape::List(_, of) | Shape::Set(of) => (*of).clone(),
                    _ => Shape::Any,
                }
            }
        }
    }

    /// Notes a list over members that may be kept.
    fn stays(&mut self, over: &Shape, span: Span) {
        let (over, place, rule) = (over.clone(), self.place, Rule::Quantifier);
        let what = "numbers the elements of a list that is made in a body of several steps";
        self.wholes.push(Whole { over, span, rule, what, place, stays: true });
    }

    /// Goes through what a loop, a choice or a quantifier goes through at once: a range is not kept.
    pub(super) fn source(&mut self, e: &'a Expr) -> Shape {
        let mut inner = e;
        while let ExprKind::Paren(next) = &inner.kind {
            inner = next;
        }
        self.gone_through = matches!(inner.kind, ExprKind::Binary { op: BinaryOp::Range, .. });
        let shape = self.expr(e);
        self.gone_through = false;
        shape
    }

    fn name(&mut self, e: &'a Expr) -> Shape {
        match self.program.meaning(e.id) {
            Some(Meaning::Local(id)) => self.locals.get(id.index()).cloned().unwrap_or(Shape::Any),
            Some(Meaning::Global(id)) => {
                self.shapes.globals.get(id.index()).cloned().unwrap_or(Shape::Any)
            }
            Some(Meaning::Const(_)) => {
                let shape = self.typed(e);
                let what = "used together with a constant";
                self.demand_all(&shape, e.span, Rule::Constant, what);
                shape
            }
            Some(Meaning::Function(id)) => {
                self.calls.insert((self.place, Body::Function(id)));
                let known = self.shapes.functions.get(id.index()).cloned();
                known.map_or(Shape::Any, |(params, result)| Shape::Fn(params, Rc::new(result)))
            }
            _ => self.typed(e),
        }
    }

    fn elements(&mut self, e: &'a Expr, items: &'a [Expr]) -> Shape {
        let of = match self.typed(e) {
            Shape::List(_, of) | Shape::Set(of) => (*of).clone(),
            other => other,
        };
        if items.is_empty() && matches!(of, Shape::Any) {
            return Shape::Hole;
        }
        for item in items {
            let shape = self.expr(item);
            self.unify(&of, &shape, item.span);
        }
        of
    }

    fn field_values(&mut self, fields: &'a [crate::ast::FieldInit], shapes: &[Shape]) {
        for field in fields {
            let value = self.expr(&field.value);
            let at = match self.program.meaning(field.name.id) {
                Some(Meaning::RecordField(_, at) | Meaning::ClassField(_, at)) => at as usize,
                _ => continue,
            };
            if let Some(shape) = shapes.get(at) {
                self.unify(shape, &value, field.value.span);
            }
        }
    }

    /// A function value.
    pub(super) fn closure(&mut self, e: &'a Expr, closure: &'a Closure, usage: Use) -> Shape {
        let shape = self.typed(e);
        let Shape::Fn(params, result) = &shape else { return shape };
        self.params(&closure.params, params);
        if usage != Use::InPlace {
            let held = self.program.captures.get(&e.id).into_iter().flatten();
            let held = held.filter_map(|local| self.locals.get(local.index()).cloned()).collect();
            let told = params.iter().chain([&**result]).cloned().collect();
            let place = (usage == Use::Given).then_some(self.place);
            self.closures.push(Value { held, told, span: e.span, place });
        }
        let kept = Place { body: Body::Closure, atomic: false };
        if usage == Use::Kept {
            self.calls.insert((self.place, Body::Closure));
        }
        let place = if usage == Use::Kept { kept } else { self.place };
        self.within(place, (**result).clone(), |flow| {
            let (value, span) = match &closure.body {
                ClosureBody::Expr(e) => (flow.expr(e), e.span),
                ClosureBody::Block(block) => (flow.block(block), block.span),
            };
            flow.unify(result, &value, span);
        });
        shape
    }

    pub(super) fn if_(&mut self, one: &'a If) -> Shape {
        self.expr(&one.cond);
        let then = self.block(&one.then);
        let other = match &one.otherwise {
            None => return then,
            Some(IfElse::Block(block)) => self.block(block),
            Some(IfElse::If(next)) => self.if_(next),
        };
        self.either(then, other, one.cond.span)
    }

    fn either(&mut self, a: Shape, b: Shape, span: Span) -> Shape {
        if matches!(a, Shape::Hole) {
            return b;
        }
        self.unify(&a, &b, span);
        a
    }

    pub(super) fn match_(&mut self, one: &'a Match) -> Shape {
        let subject = self.expr(&one.subject);
        let mut all = Shape::Hole;
        for arm in &one.arms {
            self.pattern(&arm.pattern, &subject);
            let value = match &arm.body {
                ArmBody::Block(block) => self.block(block),
                ArmBody::Expr(e) => self.expr(e),
            };
            all = self.either(all, value, arm.span);
        }
        all
    }

    fn pattern(&mut self, pattern: &'a Pattern, subject: &Shape) {
        match &pattern.kind {
            PatternKind::Int(_) => {
                if let Shape::Int(leaf) = subject {
                    self.demand(*leaf, pattern.span, Rule::Constant, "compared with a constant");
                }
            }
            PatternKind::Variant { variant, args, .. } => {
                if let Some(Meaning::Variant(id, at)) = self.program.meaning(variant.id) {
                    let known = self.shapes.enums.get(id.index());
                    let known = known.and_then(|e| e.get(at as usize)).cloned().unwrap_or_default();
                    for (arg, shape) in args.iter().zip(&known) {
                        self.pattern(arg, shape);
                    }
                }
            }
            PatternKind::Binding(name) => {
                if let Some(Meaning::Local(local)) = self.program.meaning(name.id)
                    && let Some(own) = self.locals.get(local.index()).cloned()
                {
                    self.unify(&own, subject, name.span);
                }
            }
            _ => {}
        }
    }

    fn binary(&mut self, e: &'a Expr, op: BinaryOp, left: &'a Expr, right: &'a Expr) -> Shape {
        let (a, b) = (self.expr(left), self.expr(right));
        match op {
            BinaryOp::And | BinaryOp::Or => Shape::Unit,
            BinaryOp::Eq | BinaryOp::Ne => {
                self.unify(&a, &b, e.span);
                self.leaves(&a).into_iter().for_each(|leaf| self.allow(leaf, Rule::Equality));
                Shape::Unit
            }
            BinaryOp::In => {
                match &b {
                    Shape::List(_, of) | Shape::Set(of) | Shape::Map(of, _) => {
                        self.unify(&a, of, left.span);
                    }
                    Shape::Any => self.untyped.push((a.clone(), left.span)),
                    _ => {}
                }
                self.leaves(&a).into_iter().for_each(|leaf| self.allow(leaf, Rule::Equality));
                Shape::Unit
            }
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                self.unify(&a, &b, e.span);
                self.demand_all(&a, e.span, Rule::Order, "compared by size");
                Shape::Unit
            }
            BinaryOp::Range => {
                let leaf = self.fresh();
                let bounds = self.constant(left).zip(self.constant(right));
                self.ranges.push(Range { leaf, span: e.span, bounds });
                // The element at place i is i.
                let shape = Shape::List(leaf, Rc::new(Shape::Int(leaf)));
                if !self.gone_through {
                    self.stays(&shape, e.span);
                }
                shape
            }
            BinaryOp::Add if matches!(a, Shape::List(..)) => {
                self.unify(&a, &b, e.span);
                if let Shape::List(leaf, _) = &a {
                    self.demand(
                        *leaf,
                        e.span,
                        Rule::ByPosition,
                        "the place in lists that are joined",
                    );
                }
                a
            }
            BinaryOp::Add if matches!(a, Shape::Unit) => Shape::Unit,
            _ => {
                self.demand_all(&a, left.span, Rule::Arithmetic, "used in arithmetic");
                self.demand_all(&b, right.span, Rule::Arithmetic, "used in arithmetic");
                self.computed(e.span)
            }
        }
    }

    fn field(&mut self, e: &'a Expr, base: &'a Expr) -> Shape {
        let meaning = match &e.kind {
            ExprKind::Field { name, .. } => {
                self.program.meaning(name.id).or_else(|| self.program.meaning(e.id))
            }
            _ => None,
        };
        match meaning {
            Some(Meaning::Variant(id, _)) => Shape::Enum(id),
            Some(Meaning::RecordField(id, at)) => {
                self.expr(base);
                let fields = self.shapes.records.get(id.index());
                fields.and_then(|f| f.get(at as usize)).cloned().unwrap_or(Shape::Any)
            }
            Some(Meaning::ClassField(id, at)) => {
                self.expr(base);
                let fields = self.shapes.classes.get(id.index());
                fields.and_then(|f| f.get(at as usize)).cloned().unwrap_or(Shape::Any)
            }
            _ => {
                let base_shape = self.expr(base);
                self.untyped.push((base_shape, e.span));
                Shape::Any
            }
        }
    }

    /// The element of a container at an index.
    fn element(&mut self, base: &Shape, index: &Shape, span: Span) -> Shape {
        match base {
            Shape::List(leaf, of) => {
                self.unify(index, &Shape::Int(*leaf), span);
                self.allow(*leaf, Rule::Indexing);
                (**of).clone()
            }
            Shape::Map(key, value) => {
                self.unify(index, key, span);
                (**value).clone()
            }
            _ => {
                self.untyped.push((index.clone(), span));
                Shape::Any
            }
        }
    }

    fn call(&mut self, callee: &'a Expr, args: &'a [Expr], span: Span) -> Shape {
        match self.program.meaning(callee.id) {
            Some(Meaning::Function(id)) => {
                self.calls.insert((self.place, Body::Function(id)));
                let known = self.shapes.functions.get(id.index()).cloned();
                let (params, result) = known.unwrap_or((vec![], Shape::Any));
                self.arguments(args, &params);
                result
            }
            Some(Meaning::Task(id)) => {
                self.calls.insert((self.place, Body::Task(id)));
                let known = self.shapes.tasks.get(id.index()).cloned();
                self.arguments(args, &known.unwrap_or_default());
                Shape::Unit
            }
            _ => {
                let callee = self.expr(callee);
                self.call_value(&callee, args, span)
            }
        }
    }

    pub(super) fn call_value(&mut self, callee: &Shape, args: &'a [Expr], span: Span) -> Shape {
        self.calls.insert((self.place, Body::Closure));
        match callee {
            Shape::Fn(params, result) => {
                self.arguments(args, params);
                (**result).clone()
            }
            _ => {
                for arg in args {
                    let shape = self.expr(arg);
                    self.untyped.push((shape, span));
                }
                Shape::Any
            }
        }
    }

    pub(super) fn arguments(&mut self, args: &'a [Expr], params: &[Shape]) {
        for (i, arg) in args.iter().enumerate() {
            let shape = self.expr(arg);
            if let Some(param) = params.get(i) {
                self.unify(param, &shape, arg.span);
            }
        }
    }

    fn post(&mut self, post: &'a Post) {
        if let Some(Meaning::Task(id)) = self.program.meaning(post.task.id) {
            let known = self.shapes.tasks.get(id.index()).cloned();
            self.arguments(&post.args, &known.unwrap_or_default());
        }
        if let PostTarget::Handler(r) = &post.target {
            self.reference(r);
        }
        if let Some(after) = &post.after {
            let shape = self.expr(after);
            self.demand_all(&shape, after.span, Rule::Arithmetic, "used as a delay");
        }
    }

    /// A handler, lock, condition or event, with an index or without.
    pub(super) fn reference(&mut self, r: &'a Ref) {
        let Some(index) = &r.index else { return };
        let shape = self.expr(index);
        let table = match self.program.meaning(r.name.id) {
            Some(Meaning::Handler(id)) => self.handlers.get(id.index()),
            Some(Meaning::Lock(id)) => self.locks.get(id.index()),
            Some(Meaning::Cond(id)) => self.conds.get(id.index()),
            Some(Meaning::Event(id)) => self.events.get(id.index()),
            _ => None,
        };
        if let Some(leaf) = table.copied() {
            self.unify(&shape, &Shape::Int(leaf), index.span);
            self.allow(leaf, Rule::Indexing);
        }
    }

    /// Goes through a block; gives the shape of its value.
    pub(super) fn block(&mut self, block: &'a Block) -> Shape {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
        block.value.as_ref().map_or(Shape::Hole, |value| self.expr(value))
    }
}
