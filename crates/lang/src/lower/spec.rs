//! Commutativity specifications: the conditions become functions.

use super::body::Body;
use super::lowerer::{Lowerer, number, numbers};
use crate::ast::{BinaryOp, Expr, ExprKind, Ident, ItemKind, SpecCall, SpecClause, walk_expr};
use crate::check::{ClassId, Meaning, Type};
use anyorder_program::{Commuting, FuncId, Op, Reg};

/// Lowers the specifications of classes.
pub(crate) fn define(low: &mut Lowerer<'_>) {
    let model = low.model;
    for item in &model.items {
        if let ItemKind::Spec(decl) = &item.kind {
            decl.clauses.iter().for_each(|one| clause(low, one));
        }
    }
}

/// Lowers a clause. A condition that needs a result that is no boolean is taken for false: whoever
/// asks whether two calls commute knows only their arguments, and tries both booleans.
fn clause<'a>(low: &mut Lowerer<'a>, clause: &'a SpecClause) {
    let (Some(left), Some(right)) = (method(low, &clause.left), method(low, &clause.right)) else {
        return;
    };
    let known = |(_, is_bool): &(FuncId, bool), call: &'a SpecCall| {
        call.result.as_ref().filter(|_| *is_bool)
    };
    let hidden = |(_, is_bool): &(FuncId, bool), call: &'a SpecCall| {
        call.result.as_ref().filter(|_| !*is_bool).map(|name| name.name.as_str())
    };
    let shown = [known(&left, &clause.left), known(&right, &clause.right)];
    let hidden = [hidden(&left, &clause.left), hidden(&right, &clause.right)];
    let hidden: Vec<&str> = hidden.into_iter().flatten().collect();
    let mut alternatives = Vec::new();
    clause.when.iter().for_each(|when| disjuncts(when, &mut alternatives));
    alternatives.retain(|one| !names_any(one, &hidden));
    if clause.when.is_some() && alternatives.is_empty() {
        return;
    }
    let results = shown.map(|result| result.is_some());
    let mut commuting = Commuting { left: left.0, right: right.0, results, when: None };
    if !alternatives.is_empty() {
        let (first, second) = (&clause.left.args, &clause.right.args);
        let names = first.iter().chain(shown[0]).chain(second).chain(shown[1]);
        commuting.when = Some(condition(low, names.collect(), &alternatives));
    }
    low.b.program_mut().commuting.push(commuting);
}

/// Lowers a condition: one of the alternatives holds.
fn condition<'a>(low: &mut Lowerer<'a>, names: Vec<&'a Ident>, any: &[&'a Expr]) -> FuncId {
    let id = low.b.declare_function();
    let mut body = Body::new(low, "spec", number(names.len()), 0);
    for (name, register) in names.into_iter().zip(numbers(0)) {
        body.declare(name, Reg(register));
    }
    let Some((last, rest)) = any.split_last() else { return id };
    for one in rest {
        let next = body.fb.label();
        body.jump_when(one, false, next);
        let yes = body.temp();
        body.emit(Op::Bool { dst: yes, value: true });
        body.emit(Op::Return { src: yes });
        body.fb.bind(next);
    }
    body.return_value(last);
    body.define(id);
    id
}

/// The function of a method, and whether its result is a boolean.
fn method(low: &Lowerer<'_>, call: &SpecCall) -> Option<(FuncId, bool)> {
    match low.tables.meaning(call.method.id)? {
        Meaning::Method(class, at) => {
            let class: ClassId = class;
            let info = low.tables.classes.get(class.index())?.methods.get(at as usize)?;
            Some((low.method(class, at), info.result == Type::Bool))
        }
        _ => None,
    }
}

fn disjuncts<'a>(e: &'a Expr, all: &mut Vec<&'a Expr>) {
    match &e.unwrapped().kind {
        ExprKind::Binary { op: BinaryOp::Or, left, right, .. } => {
            disjuncts(left, all);
            disjuncts(right, all);
        }
        _ => all.push(e),
    }
}

fn names_any(e: &Expr, names: &[&str]) -> bool {
    let mut found = false;
    walk_expr(e, &mut |e| {
        found |= matches!(&e.kind, ExprKind::Name(name) if names.contains(&name.as_str()));
    });
    found
}
