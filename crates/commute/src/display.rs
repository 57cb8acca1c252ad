//! Converts specifications back to text.

use crate::expr::{Expr, Operator, Side, Slot};
use crate::formula::Formula;
use crate::spec::{Condition, Method, Spec};
use std::fmt;

/// The names for the values of the two invocations.
struct Names {
    arguments: [usize; 2],
}

impl Names {
    fn of(&self, side: Side, slot: Slot) -> String {
        let at = usize::from(side == Side::Right);
        match slot {
            Slot::Result => ["r", "s"][at].to_owned(),
            Slot::Argument(_) if self.arguments[at] == 1 => ["a", "b"][at].to_owned(),
            Slot::Argument(place) => format!("{}{}", ["a", "b"][at], place + 1),
        }
    }
}

/// Returns an expression as text; the values of the left invocation are `a1`, `a2`, ... and `r`,
/// those of the right one `b1`, `b2`, ... and `s`.
pub(crate) fn text_of(expr: &Expr) -> String {
    text(expr, &Names { arguments: [2, 2] }, 0)
}

/// Adds brackets around an expression that binds less tightly than its position requires.
fn text(expr: &Expr, names: &Names, level: u8) -> String {
    let list = |parts: &[Expr]| {
        parts.iter().map(|part| text(part, names, 0)).collect::<Vec<_>>().join(", ")
    };
    match expr {
        Expr::Value(value) => value.to_string(),
        Expr::Slot(side, slot) => names.of(*side, *slot),
        Expr::Not(inner) => format!("!{}", text(inner, names, u8::MAX)),
        Expr::Minus(inner) => format!("-{}", text(inner, names, u8::MAX)),
        Expr::State(side, function, parts) => {
            format!("{}.{function}({})", side.word(), list(parts))
        }
        Expr::Binary(op, a, b) => {
            // Comparisons do not chain, so a side that is a comparison needs brackets.
            let is_comparison = op.negated().is_some();
            let left = if is_comparison { 5 } else { op.level() };
            let right = if is_comparison { 5 } else { op.level() + 1 };
            let inner = format!("{} {} {}", text(a, names, left), op.sign(), text(b, names, right));
            if op.level() < level { format!("({inner})") } else { inner }
        }
    }
}

fn formula_text(formula: &Formula, names: &Names, level: u8) -> String {
    let joined = |parts: &[Formula], op: Operator| {
        let parts: Vec<String> =
            parts.iter().map(|part| formula_text(part, names, op.level() + 1)).collect();
        let inner = parts.join(&format!(" {} ", op.sign()));
        if op.level() < level && parts.len() > 1 { format!("({inner})") } else { inner }
    };
    match formula {
        Formula::Literal(expr) => text(expr, names, level),
        Formula::All(parts) if parts.is_empty() => "true".to_owned(),
        Formula::Any(parts) if parts.is_empty() => "false".to_owned(),
        Formula::All(parts) => joined(parts, Operator::And),
        Formula::Any(parts) => joined(parts, Operator::Or),
    }
}

fn call(method: &Method, side: Side, names: &Names, formula: &Formula) -> String {
    let mut used = Vec::new();
    formula.visit(&mut |part| {
        if let Expr::Slot(of, slot) = part
            && *of == side
        {
            used.push(*slot);
        }
    });
    method.call_text(|slot| used.contains(&slot).then(|| names.of(side, slot)))
}

impl fmt::Display for Spec {
    /// Writes a text that parses to the same specification.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "spec {} {{", self.name())?;
        for Condition { left, right, formula } in self.conditions() {
            let (left, right) = (&self.methods()[left.index()], &self.methods()[right.index()]);
            let names = Names { arguments: [left.arity(), right.arity()] };
            let a = call(left, Side::Left, &names, formula);
            let b = call(right, Side::Right, &names, formula);
            match formula {
                Formula::All(parts) if parts.is_empty() => writeln!(f, "    {a} ~ {b};")?,
                formula => {
                    writeln!(f, "    {a} ~ {b} when {};", formula_text(formula, &names, 0))?;
                }
            }
        }
        writeln!(f, "}}")
    }
}
