//! Resolves the names of a clause.

use super::error::SpecError;
use super::kinds::{Kind, infer};
use super::tree::{Call, Clause, Name, Node, NodeKind};
use crate::expr::{Expr, Operator, Side, Slot};
use crate::formula::Formula;
use crate::spec::{Method, MethodId};
use crate::value::Value;
use std::ops::Range;

/// Names that a clause cannot give to values: those that the model language never gives to one.
const RESERVED: &str = " if else while for in match let fn return break continue assert assume choose true false null self set map \
     async ";

/// The methods of one type, as its clauses name them.
pub(super) struct Methods<'a> {
    pub(super) source: &'a str,
    pub(super) type_name: &'a str,
    pub(super) list: Vec<Method>,
    /// Whether unknown methods may be added to the list.
    pub(super) may_grow: bool,
}

type Resolved<T> = Result<T, SpecError>;

impl Methods<'_> {
    pub(super) fn error(
        &self,
        span: &Range<usize>,
        message: String,
        hint: Option<&str>,
    ) -> SpecError {
        SpecError::new(self.source, span.clone(), message, hint.map(str::to_owned))
    }

    /// Finds the two methods of a clause, and infers the kinds of their arguments and results from
    /// its condition.
    pub(super) fn learn(&mut self, clause: &Clause) -> Resolved<(MethodId, MethodId)> {
        let left = self.method(&clause.left.method, clause.left.arguments.len())?;
        let right = self.method(&clause.right.method, clause.right.arguments.len())?;
        self.names(clause)?;
        let Some(when) = &clause.when else { return Ok((left, right)) };
        // Twice, as a later use may determine the kind of a name.
        for _ in 0..2 {
            let list = &mut self.list;
            let found = infer(when, Kind::Bool, &mut |name, wanted| {
                let Some((side, slot)) = find(clause, name) else { return wanted };
                let id = if side == Side::Left { left } else { right };
                let kind = list[id.index()].kind_mut(slot);
                if *kind == Kind::Any {
                    *kind = wanted;
                }
                *kind
            });
            if let Err((span, is, wanted)) = found {
                let is = if is == Kind::Any { "a text" } else { is.words() };
                let message = format!("this is {is}, not {}", wanted.words());
                return Err(self.error(&span, message, None));
            }
        }
        Ok((left, right))
    }

    /// Finds a method with a number of arguments, or adds it.
    pub(super) fn method(
        &mut self,
        Name { text, span }: &Name,
        arity: usize,
    ) -> Resolved<MethodId> {
        let known = self.list.iter().position(|method| method.name() == text);
        let message = match known.map(|at| (at, self.list[at].arity())) {
            Some((at, known)) if known == arity => return Ok(MethodId::of(at)),
            Some((_, known)) => format!("`{text}` has {arity} arguments here, {known} before"),
            None if !self.may_grow => {
                format!("`{text}` is no method in the specification of `{}`", self.type_name)
            }
            None if self.list.len() >= MethodId::COUNT_MAX => {
                format!("a type has at most {} methods", MethodId::COUNT_MAX)
            }
            None => {
                self.list.push(Method::new(text, arity));
                return Ok(MethodId::of(self.list.len() - 1));
            }
        };
        Err(self.error(span, message, None))
    }

    /// Checks that the names of a clause are different and not reserved.
    fn names(&self, clause: &Clause) -> Resolved<()> {
        let mut seen: Vec<&Name> = Vec::new();
        for name in names(&clause.left).chain(names(&clause.right)) {
            let text = name.text.as_str();
            if text == "_" {
                continue;
            }
            if RESERVED.contains(&format!(" {text} ")) {
                let message = format!("`{text}` is a reserved word");
                return Err(self.error(&name.span, message, None));
            }
            if seen.iter().any(|other| other.text == text) {
                let hint = "use `_` for what the condition does not need";
                let message = format!("`{text}` names two values");
                return Err(self.error(&name.span, message, Some(hint)));
            }
            seen.push(name);
        }
        Ok(())
    }

    /// Returns the condition of a clause; call [`Methods::learn`] for all clauses first.
    pub(super) fn formula(
        &self,
        clause: &Clause,
        left: MethodId,
        right: MethodId,
    ) -> Resolved<Formula> {
        let Some(when) = &clause.when else { return Ok(Formula::TRUE) };
        let expr = self.expr(clause, when)?;
        Ok(Formula::of(&expr, &|expr| self.is_bool(expr, left, right)))
    }

    fn is_bool(&self, expr: &Expr, left: MethodId, right: MethodId) -> bool {
        match expr {
            Expr::Value(Value::Bool(_)) | Expr::Not(_) => true,
            Expr::Slot(side, slot) => {
                let id = if *side == Side::Left { left } else { right };
                self.list[id.index()].kind(*slot) == Kind::Bool
            }
            Expr::Binary(op, ..) => {
                op.negated().is_some() || matches!(op, Operator::And | Operator::Or)
            }
            _ => false,
        }
    }

    fn expr(&self, clause: &Clause, node: &Node) -> Resolved<Expr> {
        Ok(match &node.kind {
            NodeKind::Value(value) => Expr::Value(value.clone()),
            NodeKind::Name(name) => match find(clause, name) {
                Some((side, slot)) => Expr::Slot(side, slot),
                None => return Err(self.unknown(clause, name, node)),
            },
            NodeKind::Not(inner) => Expr::Not(Box::new(self.expr(clause, inner)?)),
            NodeKind::Minus(inner) => Expr::Minus(Box::new(self.expr(clause, inner)?)),
            NodeKind::Binary(op, a, b) => {
                Expr::Binary(*op, Box::new(self.expr(clause, a)?), Box::new(self.expr(clause, b)?))
            }
            NodeKind::Method(object, function, arguments) => {
                let side = match (find(clause, &object.text), object.text.as_str()) {
                    (None, "left") => Side::Left,
                    (None, "right") => Side::Right,
                    _ => {
                        let message = format!("`{}` is no state", object.text);
                        let hint = "`left` and `right` are the states before the two calls";
                        return Err(self.error(&object.span, message, Some(hint)));
                    }
                };
                let arguments: Resolved<Vec<Expr>> =
                    arguments.iter().map(|argument| self.expr(clause, argument)).collect();
                Expr::State(side, function.text.as_str().into(), arguments?)
            }
        })
    }

    fn unknown(&self, clause: &Clause, name: &str, node: &Node) -> SpecError {
        let known: Vec<&str> = names(&clause.left)
            .chain(names(&clause.right))
            .map(|name| name.text.as_str())
            .filter(|name| *name != "_")
            .collect();
        let hint = match (name, known.as_slice()) {
            ("left" | "right", _) => format!("the state is used as in `{name}.size()`"),
            (_, []) => "the clause names no values".to_owned(),
            (_, known) => format!("the clause names {}", known.join(", ")),
        };
        self.error(&node.span, format!("`{name}` is not known"), Some(&hint))
    }
}

fn names(call: &Call) -> impl Iterator<Item = &Name> {
    call.arguments.iter().chain(&call.result)
}

/// Finds the value that a name of a clause stands for.
fn find(clause: &Clause, name: &str) -> Option<(Side, Slot)> {
    if name == "_" {
        return None;
    }
    [(Side::Left, &clause.left), (Side::Right, &clause.right)].into_iter().find_map(
        |(side, call)| {
            let argument = call.arguments.iter().position(|argument| argument.text == name);
            let is_result = call.result.as_ref().is_some_and(|result| result.text == name);
            let slot = argument.map(Slot::Argument).or(is_result.then_some(Slot::Result));
            slot.map(|slot| (side, slot))
        },
    )
}
