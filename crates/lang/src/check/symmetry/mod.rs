//! Index types: the rules that ordinary type checking does not cover.
//!
//! **Problem.** Exchanging the values of an index type everywhere must turn runs into runs. Full
//! search may then visit only one of the states that differ by such an exchange. **Source.** C. N.
//! Ip and D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9,
//! 1996: values of a *scalarset* may be compared for equality, be stored and index arrays, nothing
//! else. **How.** A value of an index type has no arithmetic, no `<`, no literal and no text;
//! ordinary type checking ensures this. This module checks the other rules. Such a value never has
//! type `any`, which hides its index type. No method shows the order in which a container keeps
//! such values. A `for` over them does the same in any order (`order`), and functions applied to
//! all of them change nothing. **Guarantee.** An accepted model is symmetric, except for the order
//! in which operations fail (docs/search.md). **Cost.** Linear in the text, times the depth of
//! types.

mod order;

use self::order::{Fault, Rounds};
use super::builtin::BuiltinMethod as M;
use super::program::Program;
use super::types::Type;
use crate::ast::{Block, Expr, Ident, Model, NodeId};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::BTreeSet;

/// The operations allowed on the values of an index type.
pub(super) const ONLY: &str =
    "a value of an index type may be stored, used as an index, and compared with `==` and `!=`";

/// Code that iterates over a container or queries it.
pub(super) enum Visit<'a> {
    /// A `for`.
    Loop { var: &'a Ident, iter: &'a Expr, body: &'a Block },
    /// A call of a built-in method.
    Method { call: NodeId, span: Span, receiver: &'a Expr, method: M, args: &'a [Expr] },
}

/// Reports code that distinguishes the values of index types, and records the code that iterates
/// over them. `hidden` holds the values that went to a place that accepts any value.
pub(super) fn check(
    model: &Model,
    program: &mut Program,
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
                    found.extend(rounds.err().map(|fault| in_loop(fault, iter.span)));
                }
            }
            Visit::Method { call, span, receiver, method, args } => {
                let ty = program.type_of(receiver.id);
                if !applies(*method) {
                    let shown = shows_order(program, *method, ty.solid());
                    found.extend(shown.then(|| by_order(*method, *span)));
                } else if is_unordered(program, &ty) {
                    one_step.insert(*call);
                    let calls = Rounds::of_function(model, program).apply(args);
                    found.extend(calls.err().map(|fault| in_function(fault, receiver.span)));
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

fn in_loop((span, what): Fault, over: Span) -> Diagnostic {
    let message = format!("a `for` over an index type in which order matters: this {what}");
    Diagnostic::new(Code::SYMMETRY, span, message).also(over, "these have no order").note(
        "a round may write what belongs to its own index, add to sums and sets, and post to bags",
    )
}

fn in_function((span, what): Fault, over: Span) -> Diagnostic {
    let message = format!("a function over an index type in which order matters: this {what}");
    Diagnostic::new(Code::SYMMETRY, span, message)
        .also(over, "these have no order")
        .note("such a function may read, and change nothing")
}

fn by_order(method: M, span: Span) -> Diagnostic {
    let message = format!("`{}` goes by an order of indices", method.name());
    Diagnostic::new(Code::SYMMETRY, span, message).note(
        "no index comes before another; `==`, `in`, `all`, `any` and `count` ask for no order",
    )
}

/// Returns whether a method calls a function for each element.
fn applies(method: M) -> bool {
    matches!(method, M::Map | M::Filter | M::All | M::Any | M::Count)
}

/// Returns whether a method shows the order in which a container keeps indices.
fn shows_order(program: &Program, method: M, receiver: &Type) -> bool {
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

/// Returns whether an iteration over values of this type follows the order of indices.
fn is_unordered(program: &Program, ty: &Type) -> bool {
    match ty.solid() {
        Type::Array(..) => true,
        Type::Set(of) | Type::Map(of, _) => has_index(program, of),
        _ => false,
    }
}

/// Returns whether values of a type may hold indices, or are in their order.
fn has_index(program: &Program, ty: &Type) -> bool {
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
