//! What methods do with indices.

use super::flow::{Body, Flow, Use, Whole};
use super::result::SymmetryRule as Rule;
use super::shape::Shape;
use crate::ast::{Expr, ExprKind, NodeId};
use crate::check::{BuiltinMethod as M, Meaning};
use std::rc::Rc;

impl<'a> Flow<'a> {
    pub(super) fn method(
        &mut self,
        e: &'a Expr,
        receiver: &'a Expr,
        name: NodeId,
        args: &'a [Expr],
    ) -> Shape {
        let meaning = self.program.meaning(name).or_else(|| self.program.meaning(e.id));
        match meaning {
            Some(Meaning::Variant(id, at)) => {
                let known = self.shapes.enums.get(id.index());
                let known = known.and_then(|variants| variants.get(at as usize)).cloned();
                self.arguments(args, &known.unwrap_or_default());
                Shape::Enum(id)
            }
            Some(Meaning::Method(id, at)) => {
                self.expr(receiver);
                self.calls.insert((self.place, Body::Method(id, at)));
                let known = self.shapes.methods.get(id.index());
                let known = known.and_then(|methods| methods.get(at as usize)).cloned();
                let (params, result) = known.unwrap_or((vec![], Shape::Any));
                self.arguments(args, &params);
                result
            }
            Some(Meaning::RecordField(id, at)) => {
                self.expr(receiver);
                let fields = self.shapes.records.get(id.index());
                let callee = fields.and_then(|f| f.get(at as usize)).cloned();
                self.call_value(&callee.unwrap_or(Shape::Any), args, e.span)
            }
            Some(Meaning::ClassField(id, at)) => {
                self.expr(receiver);
                let fields = self.shapes.classes.get(id.index());
                let callee = fields.and_then(|f| f.get(at as usize)).cloned();
                self.call_value(&callee.unwrap_or(Shape::Any), args, e.span)
            }
            Some(Meaning::Builtin(method)) => self.builtin(e, method, receiver, args),
            _ => self.dynamic(e, receiver, args),
        }
    }

    /// A method found when the model runs: any of those of classes may be meant.
    fn dynamic(&mut self, e: &'a Expr, receiver: &'a Expr, args: &'a [Expr]) -> Shape {
        let shape = self.expr(receiver);
        self.untyped.push((shape, e.span));
        for arg in args {
            let shape = self.expr(arg);
            self.untyped.push((shape, arg.span));
        }
        for (i, class) in (0..).zip(&self.program.classes) {
            for at in 0..class.methods.len() {
                let method = Body::Method(crate::check::ClassId(i), at as u32);
                self.calls.insert((self.place, method));
            }
        }
        self.calls.insert((self.place, Body::Closure));
        Shape::Any
    }

    fn builtin(&mut self, e: &'a Expr, method: M, receiver: &'a Expr, args: &'a [Expr]) -> Shape {
        let over = self.source(receiver);
        if matches!(method, M::Map | M::Filter | M::All | M::Any | M::Count) {
            return self.functional(e, method, &over, args);
        }
        let values: Vec<Shape> = args.iter().map(|arg| self.expr(arg)).collect();
        if method == M::ToStr {
            self.demand_all(&over, receiver.span, Rule::Text, "made into text");
            return Shape::Unit;
        }
        match &over {
            Shape::List(leaf, of) => {
                if is_by_position(method) {
                    let what = "the place of an element that this method goes by";
                    self.demand(*leaf, e.span, Rule::ByPosition, what);
                }
                self.on_list(e, method, (*leaf, of), &values, args)
            }
            Shape::Set(of) => self.on_set(e, method, &over, of, &values, args),
            Shape::Map(key, value) => self.on_map(e, method, (key, value), &values, args),
            _ => {
                for (value, arg) in values.iter().zip(args) {
                    self.untyped.push((value.clone(), arg.span));
                }
                self.typed(e)
            }
        }
    }

    fn on_list(
        &mut self,
        e: &'a Expr,
        method: M,
        (leaf, of): (super::shape::Leaf, &Rc<Shape>),
        values: &[Shape],
        args: &'a [Expr],
    ) -> Shape {
        let element = (**of).clone();
        match method {
            M::Contains => {
                self.unify_arg(values.first(), of, args.first());
                self.leaves(of).into_iter().for_each(|leaf| self.allow(leaf, Rule::Equality));
                Shape::Unit
            }
            M::Push => {
                self.unify_arg(values.first(), of, args.first());
                Shape::Unit
            }
            M::IndexOf => {
                self.unify_arg(values.first(), of, args.first());
                self.computed(e.span)
            }
            M::Insert => {
                self.unify_arg(values.get(1), of, args.get(1));
                self.unify_arg(values.first(), &Shape::Int(leaf), args.first());
                Shape::Unit
            }
            M::Remove => {
                self.unify_arg(values.first(), &Shape::Int(leaf), args.first());
                element
            }
            M::Pop | M::TakeFirst | M::First | M::Last => element,
            M::Min | M::Max => {
                self.demand_all(of, e.span, Rule::Order, "compared by size");
                element
            }
            M::Sort => {
                self.demand_all(of, e.span, Rule::Order, "compared by size");
                Shape::Unit
            }
            M::Sum => {
                self.demand_all(of, e.span, Rule::Arithmetic, "used in arithmetic");
                self.allow(leaf, Rule::Quantifier);
                self.computed(e.span)
            }
            M::Slice | M::ToList => Shape::List(leaf, Rc::clone(of)),
            M::ToSet => Shape::Set(Rc::clone(of)),
            M::Len => self.computed(e.span),
            _ => self.typed(e),
        }
    }

    fn on_set(
        &mut self,
        e: &'a Expr,
        method: M,
        set: &Shape,
        of: &Rc<Shape>,
        values: &[Shape],
        args: &'a [Expr],
    ) -> Shape {
        match method {
            M::Add | M::Remove | M::Contains => {
                self.unify_arg(values.first(), of, args.first());
                self.leaves(of).into_iter().for_each(|leaf| self.allow(leaf, Rule::Equality));
                Shape::Unit
            }
            M::Union | M::Intersect | M::Minus => {
                self.unify_arg(values.first(), set, args.first());
                set.clone()
            }
            M::Min | M::Max => {
                self.demand_all(of, e.span, Rule::Order, "compared by size");
                (**of).clone()
            }
            M::ToList => {
                self.demand_all(of, e.span, Rule::ByPosition, "sorted into a list");
                let leaf = self.fresh();
                self.demand(leaf, e.span, Rule::Length, "the place in a list made of a set");
                Shape::List(leaf, Rc::clone(of))
            }
            M::ToSet => set.clone(),
            M::Len => self.computed(e.span),
            _ => self.typed(e),
        }
    }

    fn on_map(
        &mut self,
        e: &'a Expr,
        method: M,
        (key, value): (&Rc<Shape>, &Rc<Shape>),
        values: &[Shape],
        args: &'a [Expr],
    ) -> Shape {
        match method {
            M::Get | M::GetOr | M::Set | M::Remove | M::Has => {
                self.unify_arg(values.first(), key, args.first());
                self.unify_arg(values.get(1), value, args.get(1));
                self.leaves(key).into_iter().for_each(|leaf| self.allow(leaf, Rule::Indexing));
                match method {
                    M::Get | M::GetOr | M::Remove => (**value).clone(),
                    _ => Shape::Unit,
                }
            }
            M::Keys | M::Values => {
                self.demand_all(key, e.span, Rule::ByPosition, "sorted into a list");
                let leaf = self.fresh();
                self.demand(leaf, e.span, Rule::Length, "the place in a list made of a map");
                let of = if method == M::Keys { key } else { value };
                Shape::List(leaf, Rc::clone(of))
            }
            M::Len => self.computed(e.span),
            _ => self.typed(e),
        }
    }

    fn unify_arg(&mut self, value: Option<&Shape>, want: &Shape, arg: Option<&'a Expr>) {
        if let (Some(value), Some(arg)) = (value, arg) {
            self.unify(want, value, arg.span);
        }
    }

    /// `map`, `filter`, `all`, `any`, `count`.
    fn functional(&mut self, e: &'a Expr, method: M, over: &Shape, args: &'a [Expr]) -> Shape {
        let function = args.first().map_or(Shape::Any, |arg| match &arg.kind {
            ExprKind::Closure(closure) => {
                self.fallible(closure, over);
                let in_place = crate::check::in_place(closure).is_some();
                self.closure(arg, closure, if in_place { Use::InPlace } else { Use::Given })
            }
            _ => {
                self.calls.insert((self.place, Body::Closure));
                self.expr(arg)
            }
        });
        let what = "gone through one after another in a body of several steps";
        let (rule, place, span) = (Rule::Quantifier, self.place, e.span);
        let stays = method == M::Map;
        self.wholes.push(Whole { over: over.clone(), span, rule, what, place, stays });
        let (of, leaf) = match over {
            Shape::List(leaf, of) => (Rc::clone(of), Some(*leaf)),
            Shape::Set(of) => (Rc::clone(of), None),
            _ => return self.typed(e),
        };
        let result = match &function {
            Shape::Fn(params, result) => {
                if let Some(param) = params.first() {
                    self.unify(param, &of, e.span);
                }
                (**result).clone()
            }
            _ => {
                self.untyped.push(((*of).clone(), e.span));
                Shape::Any
            }
        };
        match (method, leaf) {
            (M::Map, Some(leaf)) => Shape::List(leaf, Rc::new(result)),
            (M::Filter, Some(leaf)) => {
                self.demand(
                    leaf,
                    e.span,
                    Rule::ByPosition,
                    "the place of an element that is left out",
                );
                over.clone()
            }
            (M::Filter, None) => over.clone(),
            (M::Count, _) => self.computed(e.span),
            _ => Shape::Unit,
        }
    }
}

/// Whether a method of a list goes by the places of elements, or changes how many there are.
fn is_by_position(method: M) -> bool {
    !matches!(
        method,
        M::Len | M::IsEmpty | M::Contains | M::Sum | M::Min | M::Max | M::ToList | M::ToSet
    )
}
