//! Methods of numbers, numbers from strings, and what classes compute.

use super::interp::{Evaluator, Host, Res, throw, unsupported};
use super::number::{Decimal, negate, to_f64, truncate};
use super::operator::number_result;
use super::value::{Value, show};
use std::cmp::Ordering;

/// Reads a number of a type from a string.
pub(super) fn parse(text: &str, name: &str) -> Res {
    let wrong = || throw("NumberFormatException", format!("For input string: \"{text}\""));
    let trimmed = text.trim_matches(|c: char| c <= ' ');
    let digits = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    let is_whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let value = match name {
        "int" | "Integer" => trimmed.parse().ok().filter(|_| is_whole).map(Value::Int),
        "long" | "Long" => trimmed.parse().ok().filter(|_| is_whole).map(Value::Long),
        "BigInteger" => trimmed.parse().ok().filter(|_| is_whole).map(Value::BigInt),
        "BigDecimal" => Decimal::parse(trimmed).map(Value::Decimal),
        "double" | "Double" | "float" | "Float" => {
            let body = trimmed.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(trimmed);
            let plain = Decimal::parse(body).is_some();
            let value: Option<f64> = body.parse().ok().filter(|_| plain);
            match name {
                "double" | "Double" => value.map(Value::Double),
                _ => body.parse().ok().filter(|_| plain).map(Value::Float),
            }
        }
        _ => return unsupported(format!("a string as {name}")),
    };
    match value {
        Some(value) => Ok(value),
        None => wrong(),
    }
}

impl<H: Host> Evaluator<'_, H> {
    pub(super) fn number_method(
        &mut self,
        value: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Res<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("toInteger" | "intValue", []) => Value::Int(match value {
                Value::Float(_) | Value::Double(_) => to_f64(value) as i32,
                value => truncate(value) as i32,
            }),
            ("toLong" | "longValue", []) => Value::Long(truncate(value) as i64),
            ("toDouble" | "doubleValue", []) => Value::Double(to_f64(value)),
            ("toFloat" | "floatValue", []) => Value::Float(to_f64(value) as f32),
            ("toBigDecimal", []) => match value {
                Value::Decimal(_) => value.clone(),
                value => match Decimal::parse(&show(value)) {
                    Some(one) => Value::Decimal(one),
                    None => return throw("NumberFormatException", show(value)),
                },
            },
            ("toBigInteger", []) => Value::BigInt(truncate(value)),
            ("abs", []) => match super::number::compare_numbers(value, &Value::Int(0)) {
                Some(Ordering::Less) => number_result(negate(value))?,
                _ => value.clone(),
            },
            ("negative", []) => number_result(negate(value))?,
            ("equals", [other]) => Value::Bool(super::value::same_key(value, other)),
            ("compareTo", [other]) if other.is_number() => {
                Value::Int(self.order(value, other)? as i32)
            }
            ("plus" | "minus" | "multiply" | "div" | "mod" | "power", [other]) => {
                use crate::ast::BinaryOp;
                let op = match name {
                    "plus" => BinaryOp::Add,
                    "minus" => BinaryOp::Subtract,
                    "multiply" => BinaryOp::Multiply,
                    "div" => BinaryOp::Divide,
                    "mod" => BinaryOp::Remainder,
                    _ => BinaryOp::Power,
                };
                self.binary(op, value, other)?
            }
            ("intdiv", [Value::Null]) => {
                return throw("GroovyRuntimeException", "Ambiguous method");
            }
            ("intdiv", [other]) if other.is_number() => {
                match (super::number::to_i128(value), super::number::to_i128(other)) {
                    (Some(_), Some(0)) => return throw("ArithmeticException", "/ by zero"),
                    (Some(a), Some(b)) => match (value, other) {
                        (Value::Int(_), Value::Int(_)) => Value::Int((a / b) as i32),
                        (Value::BigInt(_), _) | (_, Value::BigInt(_)) => Value::BigInt(a / b),
                        _ => Value::Long((a / b) as i64),
                    },
                    _ => return throw("UnsupportedOperationException", "intdiv"),
                }
            }
            ("round", []) => match value {
                Value::Double(value) => Value::Long((value + 0.5).floor() as i64),
                Value::Float(value) => Value::Int((value + 0.5).floor() as i32),
                Value::Decimal(_) => return throw("NullPointerException", "null"),
                _ => return Ok(None),
            },
            ("round", [Value::Int(places)]) if (0..=15).contains(places) => {
                let factor = 10f64.powi(*places);
                let round = |value: f64| (value * factor + 0.5).floor() / factor;
                match value {
                    Value::Double(value) => Value::Double(round(*value)),
                    Value::Float(value) => Value::Float(round(f64::from(*value)) as f32),
                    _ => return Ok(None),
                }
            }
            ("times", [closure @ Value::Closure(_)]) => {
                for index in 0..truncate(value) as i32 {
                    self.call_value(closure, vec![Value::Int(index)])?;
                }
                Value::Null
            }
            ("upto" | "downto", [end, closure @ Value::Closure(_)]) => {
                let (Value::Int(from), Value::Int(to)) = (value, end) else {
                    return unsupported("`upto` of other numbers than int");
                };
                let up = name == "upto";
                if (up && from > to) || (!up && from < to) {
                    return throw("GroovyRuntimeException", "the ends are in the wrong order");
                }
                let mut at = *from;
                loop {
                    self.call_value(closure, vec![Value::Int(at)])?;
                    if at == *to {
                        return Ok(Some(Value::Null));
                    }
                    at += if up { 1 } else { -1 };
                }
            }
            (
                "round" | "setScale" | "trunc" | "step" | "scale" | "precision" | "toInt" | "next"
                | "previous" | "max" | "min" | "bitCount" | "or" | "and" | "xor" | "format",
                _,
            ) => {
                return unsupported(format!("the method `{name}` of numbers"));
            }
            _ => return Ok(None),
        }))
    }
}

/// Calls a method of a class.
pub(super) fn static_method(class: &str, name: &str, arguments: &[Value]) -> Res<Option<Value>> {
    let number = |value: &Value| value.is_number();
    Ok(Some(match (class, name, arguments) {
        ("Integer", "parseInt" | "valueOf", [Value::Text(text)]) if text.trim() == &**text => {
            parse(text, "Integer")?
        }
        ("Long", "parseLong" | "valueOf", [Value::Text(text)]) => parse(text, "Long")?,
        ("Double", "parseDouble" | "valueOf", [Value::Text(text)]) => parse(text, "Double")?,
        ("String", "valueOf", [value]) => Value::text(show(value)),
        ("Math", "abs", [value]) if number(value) && !matches!(value, Value::Decimal(_)) => {
            match super::number::compare_numbers(value, &Value::Int(0)) {
                Some(Ordering::Less) => number_result(negate(value))?,
                _ => value.clone(),
            }
        }
        ("Math", "abs", [value @ Value::Decimal(_)]) => Value::Double(to_f64(value).abs()),
        ("Math", "max" | "min", [a, b]) if number(a) && number(b) => extreme(name == "max", a, b)?,
        ("Math", "round", [Value::Double(_) | Value::Decimal(_)]) => {
            Value::Long((to_f64(&arguments[0]) + 0.5).floor() as i64)
        }
        ("Math", "round", [Value::Int(_) | Value::Long(_) | Value::Float(_)]) => {
            // The method of `float` is called.
            Value::Int((f64::from(to_f64(&arguments[0]) as f32) + 0.5).floor() as i32)
        }
        ("String", "format", [Value::Text(pattern), values @ ..]) => {
            super::format::format(pattern, values)?
        }
        ("Math", "floor", [value]) if number(value) => Value::Double(to_f64(value).floor()),
        ("Math", "ceil", [value]) if number(value) => Value::Double(to_f64(value).ceil()),
        ("Integer", "toHexString", [Value::Int(value)]) => Value::text(format!("{value:x}")),
        ("Math", "log", [value]) if number(value) => Value::Double(to_f64(value).ln()),
        ("Math", "sqrt", [value]) if number(value) => Value::Double(to_f64(value).sqrt()),
        ("Math", "pow", [a, b]) if number(a) && number(b) => {
            Value::Double(to_f64(a).powf(to_f64(b)))
        }
        _ => return unsupported(format!("{class}.{name}")),
    }))
}

/// `Math.max` and `Math.min`, of the wider of two types.
fn extreme(greatest: bool, a: &Value, b: &Value) -> Res {
    let pick = |order: Option<Ordering>| match order {
        Some(Ordering::Less) => greatest,
        _ => !greatest,
    };
    let takes_b = pick(super::number::compare_numbers(a, b));
    let chosen = if takes_b { b } else { a };
    let is = |kind: fn(&Value) -> bool| kind(a) || kind(b);
    Ok(match (a, b) {
        (Value::Int(_), Value::Int(_)) => chosen.clone(),
        _ if is(|v| matches!(v, Value::BigInt(_))) => return unsupported("Math.max of BigInteger"),
        (Value::Decimal(_), Value::Decimal(_)) => Value::Double(to_f64(chosen)),
        _ if is(|v| matches!(v, Value::Decimal(_))) => {
            return throw("GroovyRuntimeException", "Ambiguous method overloading");
        }
        _ if is(|v| matches!(v, Value::Double(_))) => Value::Double(to_f64(chosen)),
        _ if is(|v| matches!(v, Value::Float(_))) => Value::Float(to_f64(chosen) as f32),
        _ => Value::Long(truncate(chosen) as i64),
    })
}
