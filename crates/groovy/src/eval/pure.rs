//! What the evaluator computes from values alone, for the code that the lowering emits.

use super::interp::{Evaluator, NoHost, Res, Stop};
use super::value::Value;
use crate::ast::{BinaryOp, Script, TypeName, UnaryOp};

/// Most steps of one call.
const STEPS_MAX: u64 = 1_000_000;

fn evaluate(run: impl FnOnce(&mut Evaluator<'_, NoHost>) -> Res) -> Result<Value, Stop> {
    let mut host = NoHost::default();
    run(&mut Evaluator::new(&Script::default(), &mut host, STEPS_MAX))
}

/// Calls a method of a value.
pub(crate) fn method(object: &Value, name: &str, arguments: &[Value]) -> Result<Value, Stop> {
    evaluate(|own| own.call_method(object, name, arguments.to_vec()))
}

/// Applies an operator.
pub(crate) fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, Stop> {
    evaluate(|own| own.binary(op, a, b))
}

/// Applies an operator before its operand.
pub(crate) fn unary(op: UnaryOp, value: &Value) -> Result<Value, Stop> {
    super::operator::unary(op, value)
}

/// Converts a value; `explicit`: by `as`.
pub(crate) fn cast(value: &Value, typed: &TypeName, explicit: bool) -> Result<Value, Stop> {
    evaluate(|own| own.cast(value.clone(), typed, explicit))
}

/// Reads an element.
pub(crate) fn index(object: &Value, key: &Value) -> Result<Value, Stop> {
    evaluate(|own| own.index(object, key))
}

/// Reads a property.
pub(crate) fn property(object: &Value, name: &str) -> Result<Value, Stop> {
    evaluate(|own| own.property(object, name))
}

/// Returns whether a value is of a class.
pub(crate) fn is_instance(value: &Value, name: &str) -> bool {
    super::operator::is_instance(value, name)
}

/// Returns whether two values are the same key of a map.
pub(crate) fn same_key(a: &Value, b: &Value) -> bool {
    super::value::same_key(a, b)
}

/// Returns whether a name is that of a class which needs no import.
pub(crate) fn is_class(name: &str) -> bool {
    super::expr::is_known_class(name)
}

/// Returns whether a parameter of a type takes a value.
pub(crate) fn takes(name: &str, value: &Value) -> bool {
    super::call::takes(name, value)
}

/// Returns whether Groovy has a method of this name for some values.
pub(crate) fn is_known_method(name: &str) -> bool {
    super::call::OTHER_METHODS.contains(&name)
}
