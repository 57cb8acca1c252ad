//! Infers which names stand for truth values and which for numbers, from their use.

use super::tree::{Node, NodeKind};
use crate::expr::Operator;
use crate::value::Value;
use std::ops::Range;

/// The kind of the values of a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Kind {
    /// Unknown.
    #[default]
    Any,
    /// They are truth values.
    Bool,
    /// They are numbers.
    Int,
}

impl Kind {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Kind::Any => "a value",
            Kind::Bool => "a truth value",
            Kind::Int => "a number",
        }
    }
}

/// A value used as the wrong kind: its position, its kind, and the kind required.
pub(super) type Misuse = (Range<usize>, Kind, Kind);

/// Infers the kinds of the names in an expression. `known` reads and updates the kind of a name.
pub(super) fn infer(
    node: &Node,
    wanted: Kind,
    known: &mut impl FnMut(&str, Kind) -> Kind,
) -> Result<Kind, Misuse> {
    let is = match &node.kind {
        NodeKind::Value(Value::Bool(_)) => Kind::Bool,
        NodeKind::Value(Value::Int(_)) => Kind::Int,
        // A value compared with `null` may have any kind; a text is neither kind.
        NodeKind::Value(_) => Kind::Any,
        NodeKind::Name(name) => known(name, wanted),
        NodeKind::Not(inner) => {
            infer(inner, Kind::Bool, known)?;
            Kind::Bool
        }
        NodeKind::Minus(inner) => {
            infer(inner, Kind::Int, known)?;
            Kind::Int
        }
        NodeKind::Method(_, _, arguments) => {
            for argument in arguments {
                infer(argument, Kind::Any, known)?;
            }
            wanted
        }
        NodeKind::Binary(op, a, b) => match op {
            Operator::Or | Operator::And => {
                infer(a, Kind::Bool, known)?;
                infer(b, Kind::Bool, known)?;
                Kind::Bool
            }
            Operator::Equal | Operator::Unequal => {
                let left = infer(a, Kind::Any, known)?;
                let right = infer(b, left, known)?;
                // Only names learn kinds; visiting anything else again would repeat work.
                if matches!(a.kind, NodeKind::Name(_)) {
                    infer(a, right, known)?;
                }
                Kind::Bool
            }
            // Numbers or texts.
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => {
                let left = infer(a, Kind::Any, known)?;
                let right = infer(b, left, known)?;
                for (part, is) in [(a, left), (b, right)] {
                    if is == Kind::Bool {
                        return Err((part.span.clone(), Kind::Bool, Kind::Int));
                    }
                }
                Kind::Bool
            }
            _ => {
                infer(a, Kind::Int, known)?;
                infer(b, Kind::Int, known)?;
                Kind::Int
            }
        },
    };
    if wanted != Kind::Any && is != Kind::Any && is != wanted {
        return Err((node.span.clone(), is, wanted));
    }
    let is_text = matches!(node.kind, NodeKind::Value(Value::Text(_)));
    if is_text && wanted != Kind::Any {
        return Err((node.span.clone(), Kind::Any, wanted));
    }
    Ok(is)
}
