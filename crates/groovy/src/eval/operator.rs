//! Operators, casts and classes.

use super::interp::{Evaluator, Host, Res, throw, unsupported};
use super::number::{self, Decimal, NumberError, arithmetic, to_f64, to_i128, truncate};
use super::scope::{ClosureValue, Code};
use super::value::{Value, compare, equal, show};
use crate::ast::{BinaryOp, TypeName};
use std::cmp::Ordering;

/// Turns a mistake of arithmetic into an exception.
pub(super) fn number_result(result: Result<Value, NumberError>) -> Res {
    match result {
        Ok(value) => Ok(value),
        Err(NumberError::DivisionByZero) => throw("ArithmeticException", "Division by zero"),
        Err(NumberError::Unsupported) => throw("UnsupportedOperationException", "numbers"),
        Err(NumberError::TooLarge) => unsupported("a number of more than 38 digits"),
    }
}

/// Reports that an operator does not take its operands.
fn missing<T>(a: &Value, b: &Value, op: &str) -> Res<T> {
    match a {
        _ if matches!(a, Value::Object(_)) || matches!(b, Value::Object(_)) => {
            unsupported(format!("`{op}` of an object"))
        }
        a if !matches!(a, Value::Null) && b.items().is_some() => unsupported("a list as arguments"),
        a if a.is_number() && matches!(b, Value::Null) => match op {
            "plus" | "minus" | "multiply" | "div" => {
                throw("GroovyRuntimeException", format!("Ambiguous method overloading for {op}"))
            }
            "mod" | "and" | "or" | "xor" => throw("NullPointerException", "null"),
            _ => unsupported(format!("`{op}` of null")),
        },
        Value::Null => {
            throw("NullPointerException", format!("Cannot invoke method {op}() on null object"))
        }
        _ => throw("MissingMethodException", format!("{}.{op}()", a.class())),
    }
}

impl<H: Host> Evaluator<'_, H> {
    /// Returns whether two values are equal, as `==` decides.
    pub(super) fn equals(&mut self, a: &Value, b: &Value) -> Res<bool> {
        for (object, other) in [(a, b), (b, a)] {
            if let Value::Object(id) = object
                && let Some(result) = self.host.equals(*id, other)
            {
                return result;
            }
        }
        Ok(equal(a, b))
    }

    /// Returns whether a value counts as true.
    pub(super) fn truth(&mut self, value: &Value) -> Res<bool> {
        match value {
            Value::Object(id) => self.host.is_true(*id).unwrap_or(Ok(true)),
            value => Ok(value.is_true()),
        }
    }

    /// Returns the number of an object that stands for an unknown value.
    pub(super) fn unknown(&self, value: &Value) -> Option<u32> {
        match value {
            Value::Object(id) => Some(*id).filter(|id| self.host.is_unknown(*id)),
            _ => None,
        }
    }

    /// Lets the host make the result of an operator on something unknown.
    pub(super) fn of_unknown(&mut self, object: u32, name: &str, others: &[Value]) -> Res {
        match self.host.call(Some(object), name, others) {
            Some(result) => result,
            None => unsupported(format!("`{name}` of something unknown")),
        }
    }

    /// Applies an operator other than `&&` and `||` to two values.
    pub(super) fn binary(&mut self, op: BinaryOp, a: &Value, b: &Value) -> Res {
        let computes = !matches!(
            op,
            BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::Compare
                | BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
                | BinaryOp::In
                | BinaryOp::And
                | BinaryOp::Or
        );
        if computes {
            let name = format!("{op:?}");
            let is_list = matches!((a, op), (Value::List(_), BinaryOp::ShiftLeft));
            if let Some(id) = self.unknown(a) {
                return self.of_unknown(id, &name, std::slice::from_ref(b));
            } else if let Some(id) = self.unknown(b).filter(|_| !is_list) {
                return self.of_unknown(id, &name, &[a.clone(), Value::Null]);
            }
        }
        match op {
            BinaryOp::Equal => Ok(Value::Bool(self.equals(a, b)?)),
            BinaryOp::NotEqual => Ok(Value::Bool(!self.equals(a, b)?)),
            BinaryOp::Compare => Ok(Value::Int(match self.order(a, b)? {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            })),
            BinaryOp::Less => Ok(Value::Bool(self.order(a, b)?.is_lt())),
            BinaryOp::LessEqual => Ok(Value::Bool(self.order(a, b)?.is_le())),
            BinaryOp::Greater => Ok(Value::Bool(self.order(a, b)?.is_gt())),
            BinaryOp::GreaterEqual => Ok(Value::Bool(self.order(a, b)?.is_ge())),
            BinaryOp::In => Ok(Value::Bool(!matches!(b, Value::Null) && self.is_case(b, a)?)),
            BinaryOp::Range | BinaryOp::RangeExclusive => {
                range(a, b, op == BinaryOp::RangeExclusive)
            }
            BinaryOp::Add => plus(a, b),
            BinaryOp::Subtract => minus(a, b),
            BinaryOp::Multiply => times(a, b),
            BinaryOp::Divide => numeric(a, b, "/", "div"),
            BinaryOp::Remainder => numeric(a, b, "%", "mod"),
            BinaryOp::Power => numeric(a, b, "**", "power"),
            BinaryOp::ShiftLeft => self.shift_left(a, b),
            BinaryOp::ShiftRight | BinaryOp::ShiftRightUnsigned => shift(op, a, b),
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => bits(op, a, b),
            BinaryOp::Find => super::regex::matcher(a, b),
            BinaryOp::Match if matches!((a, b), (Value::Null, _) | (_, Value::Null)) => {
                unsupported("a regular expression of null")
            }
            BinaryOp::Match => Ok(Value::Bool(super::regex::matches(&show(a), &show(b))?)),
            BinaryOp::Identical | BinaryOp::NotIdentical => unsupported("==="),
            BinaryOp::And | BinaryOp::Or => Ok(Value::Bool(self.truth(b)?)),
        }
    }

    pub(super) fn order(&mut self, a: &Value, b: &Value) -> Res<Ordering> {
        for (object, other, is_turned) in [(a, b, false), (b, a, true)] {
            if let Value::Object(id) = object
                && !matches!(other, Value::Null)
            {
                let order = self.host.order(*id, other);
                let order = order.unwrap_or_else(|| unsupported("the order of an object"))?;
                return Ok(if is_turned { order.reverse() } else { order });
            }
        }
        match compare(a, b) {
            Some(order) => Ok(order),
            None => match (a, b) {
                (Value::Text(a), b) if b.is_number() && a.chars().count() == 1 => {
                    unsupported("a character and a number")
                }
                (a, Value::Text(b)) if a.is_number() && b.chars().count() == 1 => {
                    unsupported("a character and a number")
                }
                _ => {
                    let comparable = a.is_number() || matches!(a, Value::Text(_) | Value::Bool(_));
                    let class =
                        if comparable { "ClassCastException" } else { "GroovyRuntimeException" };
                    throw(class, format!("Cannot compare {} with {}", a.class(), b.class()))
                }
            },
        }
    }

    fn shift_left(&mut self, a: &Value, b: &Value) -> Res {
        match a {
            Value::List(items) => {
                items.borrow_mut().push(b.clone());
                Ok(a.clone())
            }
            Value::Map(entries) => match b {
                Value::Map(more) => {
                    let more = more.borrow().clone();
                    more.into_iter()
                        .for_each(|(k, v)| super::map::put(&mut entries.borrow_mut(), k, v));
                    Ok(a.clone())
                }
                Value::Entry(one) => {
                    super::map::put(&mut entries.borrow_mut(), one.0.clone(), one.1.clone());
                    Ok(a.clone())
                }
                _ => missing(a, b, "leftShift"),
            },
            Value::Text(_) => unsupported("a StringBuffer"),
            Value::Range(..) => throw("UnsupportedOperationException", "a range does not change"),
            Value::Closure(_) => Ok(ClosureValue::value(Code::Composed(b.clone(), a.clone()))),
            _ => shift(BinaryOp::ShiftLeft, a, b),
        }
    }

    /// Converts a value to a type. `explicit`: by `as`; else by a cast or a declaration.
    pub(super) fn cast(&mut self, value: Value, typed: &TypeName, explicit: bool) -> Res {
        if self.unknown(&value).is_some() {
            let is_bool = matches!(&*typed.name, "boolean" | "Boolean");
            return Ok(if is_bool { Value::Bool(self.truth(&value)?) } else { value });
        }
        if typed.dimensions > 0 {
            return match value {
                Value::Null | Value::List(_) => Ok(value),
                Value::Range(..) => Ok(Value::list(value.items().unwrap_or_default())),
                _ => unsupported("a cast to an array"),
            };
        }
        let name = typed.name.rsplit('.').next().unwrap_or(&typed.name);
        let primitive =
            matches!(name, "int" | "long" | "boolean" | "double" | "float" | "short" | "byte");
        if matches!(value, Value::Null) {
            return match name {
                "boolean" => Ok(Value::Bool(false)),
                _ if primitive && !explicit => throw("GroovyCastException", "null"),
                _ if primitive => throw("GroovyCastException", "null"),
                _ => Ok(Value::Null),
            };
        }
        match name {
            "int" | "Integer" | "long" | "Long" | "double" | "Double" | "float" | "Float"
            | "BigDecimal" | "BigInteger" | "Number" | "short" | "byte" => {
                to_number(value, name, explicit)
            }
            "boolean" | "Boolean" => Ok(Value::Bool(value.is_true())),
            "String" if !explicit && matches!(value, Value::Map(_)) => {
                unsupported("a map as String")
            }
            "String" => Ok(Value::text(show(&value))),
            "List" | "Collection" if matches!(value, Value::Range(..)) => Ok(value),
            "List" | "Collection" | "ArrayList" if explicit => match value.items() {
                Some(items) => Ok(Value::list(items)),
                None => unsupported("a cast to a list"),
            },
            "Set" | "LinkedHashSet" | "HashSet" => unsupported("sets"),
            "Object" | "def" | "Comparable" => Ok(value),
            _ if is_instance(&value, name) => Ok(value),
            "Map" | "List" | "Collection" | "Closure" | "ArrayList" | "LinkedHashMap"
            | "HashMap" => throw("GroovyCastException", format!("{} to {name}", value.class())),
            // The host's objects are of the host's types.
            _ if matches!(value, Value::Object(_)) => Ok(value),
            _ => unsupported(format!("a cast to {name}")),
        }
    }
}

fn to_number(value: Value, name: &str, explicit: bool) -> Res {
    let number = match &value {
        Value::Text(text) if explicit => {
            return super::number_methods::parse(text, name);
        }
        Value::Text(text) if text.chars().count() == 1 => {
            return unsupported("a character as number");
        }
        value if value.is_number() => value.clone(),
        value => return throw("GroovyCastException", format!("{} to {name}", value.class())),
    };
    Ok(match name {
        "int" | "Integer" => Value::Int(match number {
            Value::Float(_) | Value::Double(_) => to_f64(&number) as i32,
            number => number_bits(&number) as i32,
        }),
        "long" | "Long" => Value::Long(number_bits(&number)),
        "double" | "Double" => Value::Double(to_f64(&number)),
        "float" | "Float" => Value::Float(to_f64(&number) as f32),
        "BigDecimal" => match number {
            Value::Double(_) | Value::Float(_) => {
                let text = show(&number);
                Value::Decimal(Decimal::parse(&text).unwrap_or(Decimal { unscaled: 0, scale: 0 }))
            }
            Value::Decimal(_) => number,
            number => Value::Decimal(Decimal { unscaled: to_i128(&number).unwrap_or(0), scale: 0 }),
        },
        "BigInteger" => Value::BigInt(truncate(&number)),
        "Number" => number,
        _ => return unsupported(format!("a cast to {name}")),
    })
}

/// Returns the bits of the integer part; a floating number is cut to the range of `long`.
fn number_bits(value: &Value) -> i64 {
    match value {
        Value::Float(_) | Value::Double(_) => to_f64(value) as i64,
        value => truncate(value) as i64,
    }
}

/// Returns whether a value is of a class.
pub(super) fn is_instance(value: &Value, name: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name);
    match value {
        Value::Null => false,
        Value::Exception(one) => is_exception(&one.0, name),
        _ if name == "Object" || name == value.class() => true,
        Value::Text(_) => matches!(name, "CharSequence" | "Comparable"),
        Value::List(_) | Value::Range(..) => {
            matches!(name, "List" | "Collection" | "Iterable")
                || (name == "Range" && matches!(value, Value::Range(..)))
        }
        Value::Map(_) => matches!(name, "Map" | "HashMap"),
        // The types of the host's objects are not known here, but they are none of these.
        Value::Object(_) => !matches!(
            name,
            "String"
                | "CharSequence"
                | "List"
                | "Collection"
                | "Map"
                | "HashMap"
                | "Closure"
                | "Number"
                | "Integer"
                | "Long"
                | "BigDecimal"
                | "Boolean"
        ),
        Value::Bool(_) => name == "Comparable",
        value if value.is_number() => matches!(name, "Number" | "Comparable"),
        _ => false,
    }
}

fn is_exception(class: &str, name: &str) -> bool {
    let parent = |class: &str| match class {
        "Throwable" => None,
        "Exception" | "Error" => Some("Throwable"),
        "RuntimeException" => Some("Exception"),
        "PowerAssertionError" => Some("AssertionError"),
        "AssertionError" | "StackOverflowError" => Some("Error"),
        "NumberFormatException" => Some("IllegalArgumentException"),
        "MissingPropertyException" | "MissingMethodException" => Some("GroovyRuntimeException"),
        "GroovyCastException" => Some("ClassCastException"),
        "StringIndexOutOfBoundsException" | "ArrayIndexOutOfBoundsException" => {
            Some("IndexOutOfBoundsException")
        }
        _ => Some("RuntimeException"),
    };
    let mut at = Some(class);
    while let Some(class) = at {
        if class == name {
            return true;
        }
        at = parent(class);
    }
    false
}

fn numeric(a: &Value, b: &Value, op: &str, method: &str) -> Res {
    if a.is_number() && b.is_number() {
        return number_result(arithmetic(op, a, b));
    }
    missing(a, b, method)
}

fn plus(a: &Value, b: &Value) -> Res {
    match (a, b) {
        (Value::Text(text), b) => Ok(Value::text(format!("{text}{}", show(b)))),
        (a, Value::Text(text)) if a.is_number() => Ok(Value::text(format!("{}{text}", show(a)))),
        (Value::List(_) | Value::Range(..), b) => {
            let mut items = a.items().unwrap_or_default();
            match b {
                Value::Map(_) => items.push(b.clone()),
                b => items.extend(b.items().unwrap_or_else(|| vec![b.clone()])),
            }
            Ok(Value::list(items))
        }
        (Value::Map(a), Value::Map(b)) => {
            let mut entries = a.borrow().clone();
            b.borrow()
                .iter()
                .for_each(|(k, v)| super::map::put(&mut entries, k.clone(), v.clone()));
            Ok(Value::map(entries))
        }
        (Value::Null, Value::Text(text)) => Ok(Value::text(format!("null{text}"))),
        (Value::Map(_) | Value::Bool(_), Value::Text(text)) => {
            Ok(Value::text(format!("{}{text}", show(a))))
        }
        _ => numeric(a, b, "+", "plus"),
    }
}

fn minus(a: &Value, b: &Value) -> Res {
    match (a, b) {
        (Value::Text(text), b) => Ok(Value::text(text.replacen(&show(b), "", 1))),
        (Value::List(_) | Value::Range(..), b) => {
            let taken = match b {
                Value::List(_) | Value::Range(..) => b.items().unwrap_or_default(),
                b => vec![b.clone()],
            };
            let mut items = a.items().unwrap_or_default();
            items.retain(|item| !taken.iter().any(|one| equal(one, item)));
            Ok(Value::list(items))
        }
        (Value::Map(a), Value::Map(b)) => {
            let b = b.borrow();
            let is_taken = |key: &Value, value: &Value| {
                b.iter().any(|(k, v)| super::value::same_key(k, key) && equal(v, value))
            };
            let mut kept = a.borrow().clone();
            kept.retain(|(key, value)| !is_taken(key, value));
            Ok(Value::map(kept))
        }
        _ => numeric(a, b, "-", "minus"),
    }
}

/// The longest text or list that `*` makes.
const REPEATED_MAX: usize = 1 << 20;

fn times(a: &Value, b: &Value) -> Res {
    if matches!(a, Value::Text(_) | Value::List(_) | Value::Range(..)) && b.is_number() {
        let Ok(count) = usize::try_from(truncate(b)) else {
            return match a {
                Value::Text(_) => {
                    throw("IllegalArgumentException", "multiply() with a negative number")
                }
                _ => Ok(Value::list(vec![])),
            };
        };
        if let Value::Text(text) = a {
            if text.len().saturating_mul(count) > REPEATED_MAX {
                return Err(super::interp::Stop::Limit("length"));
            }
            return Ok(Value::text(text.repeat(count)));
        }
        let items = a.items().unwrap_or_default();
        if items.len().saturating_mul(count) > REPEATED_MAX {
            return Err(super::interp::Stop::Limit("length"));
        }
        return Ok(Value::list((0..count).flat_map(|_| items.clone()).collect()));
    }
    numeric(a, b, "*", "multiply")
}

fn range(a: &Value, b: &Value, exclusive: bool) -> Res {
    let (Value::Int(from), Value::Int(to)) = (a, b) else {
        return unsupported("a range of other values than int");
    };
    Ok(match (exclusive, from.cmp(to)) {
        (false, _) => Value::Range(*from, *to),
        (true, Ordering::Less) => Value::Range(*from, to - 1),
        (true, Ordering::Greater) => Value::Range(*from, to + 1),
        (true, Ordering::Equal) => Value::list(vec![]),
    })
}

fn shift(op: BinaryOp, a: &Value, b: &Value) -> Res {
    let name = match op {
        BinaryOp::ShiftLeft => "leftShift",
        BinaryOp::ShiftRight => "rightShift",
        _ => "rightShiftUnsigned",
    };
    if let (Value::Closure(_), BinaryOp::ShiftRight, Value::Closure(_)) = (a, op, b) {
        return Ok(ClosureValue::value(Code::Composed(a.clone(), b.clone())));
    }
    let Some(by) = to_i128(b).filter(|_| a.is_number()) else { return missing(a, b, name) };
    let by = by as u32;
    Ok(match (a, op) {
        (Value::Int(a), BinaryOp::ShiftLeft) => Value::Int(a.wrapping_shl(by)),
        (Value::Int(a), BinaryOp::ShiftRight) => Value::Int(a.wrapping_shr(by)),
        (Value::Int(a), _) => Value::Int((*a as u32).wrapping_shr(by) as i32),
        (Value::Long(a), BinaryOp::ShiftLeft) => Value::Long(a.wrapping_shl(by)),
        (Value::Long(a), BinaryOp::ShiftRight) => Value::Long(a.wrapping_shr(by)),
        (Value::Long(a), _) => Value::Long((*a as u64).wrapping_shr(by) as i64),
        (Value::BigInt(_), _) => return unsupported("shifts of BigInteger"),
        _ => return throw("UnsupportedOperationException", "shift"),
    })
}

fn bits(op: BinaryOp, a: &Value, b: &Value) -> Res {
    let (name, apply): (_, fn(i128, i128) -> i128) = match op {
        BinaryOp::BitAnd => ("and", |a, b| a & b),
        BinaryOp::BitOr => ("or", |a, b| a | b),
        _ => ("xor", |a, b| a ^ b),
    };
    match (a, b) {
        (Value::Bool(a), b) => {
            let b = b.is_true();
            Ok(Value::Bool(apply(i128::from(*a), i128::from(b)) != 0))
        }
        _ if a.is_number() && b.is_number() => match (to_i128(a), to_i128(b)) {
            (Some(x), Some(y)) => Ok(match (a, b) {
                (Value::BigInt(_), _) | (_, Value::BigInt(_)) => Value::BigInt(apply(x, y)),
                (Value::Long(_), _) | (_, Value::Long(_)) => Value::Long(apply(x, y) as i64),
                _ => Value::Int(apply(x, y) as i32),
            }),
            _ => throw("UnsupportedOperationException", name),
        },
        (Value::List(_), Value::List(_)) => unsupported(format!("{name} of lists")),
        _ => missing(a, b, name),
    }
}

/// Applies `-`, `+` or `~`.
pub(super) fn unary(op: crate::ast::UnaryOp, value: &Value) -> Res {
    use crate::ast::UnaryOp;
    match op {
        UnaryOp::Not => Ok(Value::Bool(!value.is_true())),
        _ if matches!(value, Value::Object(_)) => unsupported("an operator of an object"),
        UnaryOp::Minus if value.is_number() => number_result(number::negate(value)),
        UnaryOp::Plus if value.is_number() => Ok(value.clone()),
        UnaryOp::Minus => missing(value, value, "negative"),
        UnaryOp::Plus => missing(value, value, "positive"),
        UnaryOp::Complement => match value {
            Value::Int(value) => Ok(Value::Int(!value)),
            Value::Long(value) => Ok(Value::Long(!value)),
            Value::BigInt(value) => Ok(Value::BigInt(!value)),
            Value::Text(_) => unsupported("regular expressions"),
            value => missing(value, value, "bitwiseNegate"),
        },
    }
}
