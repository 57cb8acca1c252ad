//! Checks that the condition of a method with itself keeps its meaning when the two calls are
//! exchanged.

use crate::expr::{Expr, Slot, View};
use crate::formula::Formula;
use crate::spec::{Method, canonical, swapped};
use crate::text::Kind;
use crate::value::Value;
use std::collections::BTreeSet;

/// Returns two invocations, as text, for which the condition differs from itself with the sides
/// exchanged.
///
/// At most `tried_max` pairs are tried. Formulas that differ only in the order of their parts are
/// symmetric. Others are tried on small values and on their constants. A missed asymmetry does no
/// harm: such a condition is joined with its exchanged form. Conditions on states are only
/// compared.
pub(crate) fn counterexample(
    formula: &Formula,
    method: &Method,
    tried_max: usize,
) -> Option<String> {
    let other = swapped(formula);
    if canonical(formula) == canonical(&other) {
        return None;
    }
    let (slots, constants) = mentioned(formula)?;
    let choices: Vec<Vec<Value>> =
        slots.iter().map(|&slot| values(method.kind(slot), &constants)).collect();
    // An odometer over the values of the left invocation, then those of the right one.
    let mut digits = vec![0; 2 * slots.len()];
    for _ in 0..tried_max {
        let values = |side: usize| -> (Vec<Value>, Value) {
            let mut arguments = vec![Value::Int(0); method.arity()];
            let mut result = Value::Null;
            for (at, slot) in slots.iter().enumerate() {
                let value = choices[at][digits[side * slots.len() + at]].clone();
                match slot {
                    Slot::Argument(at) => arguments[*at] = value,
                    Slot::Result => result = value,
                }
            }
            (arguments, result)
        };
        let (left, right) = (values(0), values(1));
        let (a, b) = (view(&left), view(&right));
        if formula.holds(a, b) != other.holds(a, b) {
            let word = |holds: bool| if holds { "holds" } else { "does not hold" };
            let (x, y) = (call(method, &left, &slots), call(method, &right, &slots));
            let holds = word(formula.holds(a, b));
            return Some(format!(
                "for {x} ~ {y} it {holds}, for {y} ~ {x} it {}",
                word(other.holds(a, b))
            ));
        }
        if !advance(&mut digits, &choices) {
            break;
        }
    }
    None
}

/// Returns the slots and the constants that a formula names; `None` where it names a state.
fn mentioned(formula: &Formula) -> Option<(Vec<Slot>, BTreeSet<Value>)> {
    let (mut slots, mut constants) = (BTreeSet::new(), BTreeSet::new());
    let mut has_state = false;
    formula.visit(&mut |part| match part {
        Expr::Slot(_, slot) => _ = slots.insert(*slot),
        Expr::Value(value) => _ = constants.insert(value.clone()),
        Expr::State(..) => has_state = true,
        _ => {}
    });
    (!has_state).then(|| (slots.into_iter().collect(), constants))
}

/// Turns the odometer by one; returns whether it did not come back to its start.
fn advance(digits: &mut [usize], choices: &[Vec<Value>]) -> bool {
    for (at, digit) in digits.iter_mut().enumerate() {
        *digit += 1;
        if *digit < choices[at % choices.len()].len() {
            return true;
        }
        *digit = 0;
    }
    false
}

fn values(kind: Kind, constants: &BTreeSet<Value>) -> Vec<Value> {
    let own: &[Value] = match kind {
        Kind::Bool => &[Value::Bool(false), Value::Bool(true)],
        Kind::Int => &[Value::Int(0), Value::Int(1), Value::Int(2)],
        Kind::Any => &[Value::Int(0), Value::Int(1), Value::Null],
    };
    let fits = |value: &&Value| match kind {
        Kind::Bool => matches!(value, Value::Bool(_)),
        Kind::Int => matches!(value, Value::Int(_)),
        Kind::Any => true,
    };
    let others = constants.iter().filter(|value| !own.contains(value)).filter(fits);
    own.iter().chain(others).cloned().collect()
}

fn view((arguments, result): &(Vec<Value>, Value)) -> View<'_> {
    View { arguments, result, state: None }
}

fn call(method: &Method, (arguments, result): &(Vec<Value>, Value), slots: &[Slot]) -> String {
    method.call_text(|slot| {
        let value = match slot {
            Slot::Argument(at) => &arguments[at],
            Slot::Result => result,
        };
        slots.contains(&slot).then(|| value.to_string())
    })
}
