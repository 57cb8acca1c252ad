//! Index types: the checks that types of expressions do not cover.
//!
//! **Problem.** Exchanging the values of an index type everywhere must turn runs into runs. Then
//! full search may visit one of the states that differ only in who is who. **Source.** C. N. Ip and
//! D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9, 1996:
//! values of a *scalarset* may be compared for equality, be stored and index arrays, nothing else.
//! **How.** A value of an index type has no arithmetic, no `<`, no literal and no text: that is
//! ordinary type checking. This module checks the rest. Such a value is never of type `any`, which
//! would hide it. No method shows the order in which a container keeps such values. A `for` over
//! them does the same in any order (`order`), and functions applied to all of them change nothing.
//! **Guarantee.** What is accepted is symmetric, but for the order in which operations fail
//! (docs/search.md). **Cost.** Linear in the text, times the depth of types.

mod order;

use self::order::{Fault, Rounds};
use super::builtin::BuiltinMethod as M;
use super::model::CheckedModel;
use super::types::Type;
use crate::ast::{Block, Expr, Ident, Model, NodeId};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::BTreeSet;

/// The operations allowed on the values of an index type.
pub(super) const ONLY: &str =
    "a value of an index type may be stored, used as an index, and compared with `==` and `!=`";

/// Code that visits the elements of a container, or calls a method of it.
pub(super) enum Visit<'a> {
    /// A `for`.
    Loop { var: &'a Ident, iter: &'a Expr, body: &'a Block },
    /// A call of a built-in method.
    Method { call: NodeId, span: Span, receiver: &'a Expr, method: M, args: &'a [Expr] },
}

/// Finds what tells the values of index types apart, and records the code that visits all of them.
/// `hidden` are the values that were used as `any`.
pub(super) fn check(
    model: &Model,
    program: &mut CheckedModel,
    visits: &[Visit<'_>],
    hidden: Vec<(Type, Span)>,
) -> Vec<Diagnostic> {
    if program.indices.is_empty() {
        return vec![];
    }
    let mut places = BTreeSet::new();
    let hidden = hidden.iter().filter(|(ty, _)| has_index(program, ty));
    let hidden = hidden.filter(|(_, span)| places.insert((span.start, span.end)));
    let mut found: Vec<Diagnostic> = hidden.map(|(_, span)| is_hidden(*span)).collect();
    let mut one_step = BTreeSet::new();
    for visit in visits {
        match visit {
            Visit::Loop { var, iter, body } => {
                if is_unordered(program, &program.type_of(iter.id)) {
                    one_step.insert(iter.id);
                    let rounds = Rounds::of_loop(model, program, var, iter).run(body);
                    let note = "a round may write what belongs to its own index, add to sums and sets, and post to bags";
                    found.extend(rounds.err().map(|at| in_order("a `for`", at, iter.span, note)));
                }
            }
            Visit::Method { call, span, receiver, method, args } => {
                let ty = program.type_of(receiver.id);
                if !method.applies() {
                    let shown = shows_order(program, *method, ty.solid());
                    found.extend(shown.then(|| by_order(*method, *span)));
                } else if is_unordered(program, &ty) {
                    one_step.insert(*call);
                    let calls = Rounds::of_function(model, program).apply(args);
                    let note = "such a function may read, and change nothing";
                    let over = receiver.span;
                    found.extend(calls.err().map(|at| in_order("a function", at, over, note)));
                }
            }
        }
    }
    program.one_step = one_step;
    found
}

fn is_hidden(span: Span) -> Diagnostic {
    Diagnostic::new(Code::SYMMETRY, span, "an index goes into a value of type `any`")
        .note("write the type, so that it is known where the index goes")
}

fn in_order(code: &str, (span, what): Fault, over: Span, note: &str) -> Diagnostic {
    let message = format!("{code} over an index type in which order matters: this {what}");
    let diagnostic = Diagnostic::new(Code::SYMMETRY, span, message);
    diagnostic.also(over, "these have no order").note(note)
}

fn by_order(method: M, span: Span) -> Diagnostic {
    let message = format!("`{}` goes by an order of indices", method.name());
    Diagnostic::new(Code::SYMMETRY, span, message).note(
        "no index comes before another; `==`, `in`, `all`, `any` and `count` ask for no order",
    )
}

/// Whether a method shows in which order a container keeps indices.
fn shows_order(program: &CheckedModel, method: M, receiver: &Type) -> bool {
    match (method, receiver) {
        (M::ToStr, ty) => has_index(program, ty),
        (
            M::Sort | M::Min | M::Max | M::ToList,
            Type::List(of) | Type::Set(of) | Type::Array(_, of),
        ) => {
            let list = matches!(receiver, Type::List(_));
            !(list && method == M::ToList) && has_index(program, of)
        }
        (M::Keys | M::Values, Type::Map(key, _)) => has_index(program, key),
        _ => false,
    }
}

/// Whether the elements of a container are in the order of indices.
fn is_unordered(program: &CheckedModel, ty: &Type) -> bool {
    match ty.solid() {
        Type::Array(..) => true,
        Type::Set(of) | Type::Map(of, _) => has_index(program, of),
        _ => false,
    }
}

/// Whether values of a type may hold indices, or are in their order.
fn has_index(program: &CheckedModel, ty: &Type) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        match ty {
            Type::Index(_) | Type::Array(..) => return true,
            Type::List(of) | Type::Set(of) | Type::Nullable(of) => open.push(of),
            Type::Map(key, value) => open.extend([&**key, &**value]),
            Type::Fn(params, result) => open.extend(params.iter().chain([&**result])),
            Type::Enum(id) if seen.insert((0, id.0)) => {
                open.extend(program.enums[id.index()].variants.iter().flat_map(|(_, of)| of));
            }
            Type::Record(id) if seen.insert((1, id.0)) => {
                open.extend(program.records[id.index()].fields.iter().map(|(_, of)| of));
            }
            Type::Class(id) if seen.insert((2, id.0)) => {
                open.extend(program.classes[id.index()].fields.iter().map(|(_, of)| of));
            }
            _ => {}
        }
    }
    false
}
