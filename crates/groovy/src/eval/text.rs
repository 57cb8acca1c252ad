//! Strings. Positions count UTF-16 units, as in Java.

use super::interp::{Evaluator, Host, Res, throw, unsupported};
use super::number_methods::parse;
use super::value::{Value, show};
use std::rc::Rc;

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn from_units(units: &[u16]) -> Value {
    Value::text(String::from_utf16_lossy(units))
}

/// Reads a part of a string: `text[index]`.
pub(super) fn index(text: &str, key: &Value) -> Res {
    let units = units(text);
    let at = match key {
        Value::Int(index) => {
            let at = super::list::position(*index, units.len());
            match at.filter(|at| *at < units.len()) {
                Some(at) => vec![at],
                None if at.is_none() => {
                    return throw("ArrayIndexOutOfBoundsException", "Negative array index");
                }
                None => return throw("StringIndexOutOfBoundsException", format!("{index}")),
            }
        }
        Value::Range(from, to) => {
            let both = (
                super::list::position(*from, units.len()),
                super::list::position(*to, units.len()),
            );
            match both {
                (Some(a), Some(b)) if a.max(b) < units.len() => {
                    if a <= b {
                        (a..=b).collect()
                    } else {
                        (b..=a).rev().collect()
                    }
                }
                (Some(a), Some(b)) => {
                    let (from, to) = (a.min(b), a.max(b) + 1);
                    let message = format!("begin {from}, end {to}, length {}", units.len());
                    return throw("StringIndexOutOfBoundsException", message);
                }
                _ => return throw("ArrayIndexOutOfBoundsException", "Negative array index"),
            }
        }
        Value::List(keys) => {
            let keys = keys.borrow();
            let parts: Res<Vec<String>> =
                keys.iter().map(|key| Ok(show(&index(text, key)?))).collect();
            return Ok(Value::text(parts?.concat()));
        }
        _ => return unsupported("this index of a string"),
    };
    let found: Vec<u16> = at.into_iter().map(|at| units[at]).collect();
    Ok(from_units(&found))
}

fn is_blank(c: char) -> bool {
    c <= ' '
}

impl<H: Host> Evaluator<'_, H> {
    pub(super) fn text_method(
        &mut self,
        text: &Rc<str>,
        name: &str,
        arguments: &[Value],
    ) -> Res<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("size" | "length", []) => Value::Int(text.encode_utf16().count() as i32),
            ("isEmpty", []) => Value::Bool(text.is_empty()),
            ("contains", [Value::Text(one)]) => Value::Bool(text.contains(&**one)),
            ("startsWith", [Value::Text(one)]) => Value::Bool(text.starts_with(&**one)),
            ("endsWith", [Value::Text(one)]) => Value::Bool(text.ends_with(&**one)),
            ("contains" | "startsWith" | "endsWith", [Value::Null]) => {
                return throw("NullPointerException", "null");
            }
            ("indexOf" | "lastIndexOf", [Value::Text(one)]) => {
                let at = if name == "indexOf" { text.find(&**one) } else { text.rfind(&**one) };
                let units = at.map(|at| text[..at].encode_utf16().count() as i32);
                Value::Int(units.unwrap_or(-1))
            }
            ("toUpperCase", []) => Value::text(text.to_uppercase()),
            ("toLowerCase", []) => Value::text(text.to_lowercase()),
            ("trim", []) => Value::text(text.trim_matches(is_blank)),
            ("capitalize", []) => {
                let mut chars = text.chars();
                let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
                Value::text(first + chars.as_str())
            }
            ("reverse", []) => Value::text(text.chars().rev().collect::<String>()),
            ("toList", []) => {
                Value::list(text.chars().map(|c| Value::text(c.to_string())).collect())
            }
            ("concat", [Value::Text(one)]) => Value::text(format!("{text}{one}")),
            ("plus", [one]) => Value::text(format!("{text}{}", show(one))),
            ("minus" | "multiply" | "leftShift", [one]) => {
                let op = match name {
                    "minus" => crate::ast::BinaryOp::Subtract,
                    "multiply" => crate::ast::BinaryOp::Multiply,
                    _ => crate::ast::BinaryOp::ShiftLeft,
                };
                self.binary(op, &Value::Text(text.clone()), one)?
            }
            ("equalsIgnoreCase", [Value::Null]) => Value::Bool(false),
            ("equalsIgnoreCase", [Value::Text(one)]) => {
                Value::Bool(one.to_lowercase() == text.to_lowercase())
            }
            ("indexOf" | "lastIndexOf" | "concat", [Value::Null]) => {
                return throw("NullPointerException", "null");
            }
            ("compareTo", [Value::Text(_)]) => return unsupported("compareTo"),
            ("getAt", [key]) => index(text, key)?,
            // A `BigInteger` is taken for an `int`.
            ("substring", [from, to @ ..])
                if to.len() < 2
                    && arguments.iter().any(|one| matches!(one, Value::BigInt(_)))
                    && !arguments
                        .iter()
                        .any(|one| !matches!(one, Value::BigInt(_) | Value::Int(_))) =>
            {
                let int = |value: &Value| super::number::truncate(value) as i32;
                return substring(text, int(from), to.first().map(int)).map(Some);
            }
            ("substring", [Value::Int(from)]) => return substring(text, *from, None).map(Some),
            ("substring", [Value::Int(from), Value::Int(to)]) => {
                return substring(text, *from, Some(*to)).map(Some);
            }
            ("take", [Value::Int(count)]) => {
                let units = units(text);
                from_units(&units[..units.len().min((*count).max(0) as usize)])
            }
            ("drop", [Value::Int(count)]) => {
                let units = units(text);
                from_units(&units[units.len().min((*count).max(0) as usize)..])
            }
            ("replace", [Value::Text(from), Value::Text(to)]) => {
                Value::text(text.replace(&**from, to))
            }
            ("replaceAll" | "replaceFirst", [Value::Text(from), Value::Text(to)]) => {
                let most = if name == "replaceAll" { usize::MAX } else { 1 };
                super::regex::replace(text, from, to, most)?
            }
            ("matches", [Value::Text(pattern)]) => {
                Value::Bool(super::regex::matches(text, pattern)?)
            }
            ("find", [Value::Text(pattern)]) => super::regex::find(text, pattern)?,
            ("findAll", [Value::Text(pattern)]) => Value::list(super::regex::all(text, pattern)?),
            ("split", []) | ("tokenize", []) => {
                let words =
                    text.split([' ', '\t', '\n', '\r', '\u{c}']).filter(|word| !word.is_empty());
                Value::list(words.map(Value::text).collect())
            }
            ("tokenize", [Value::Text(by)]) => {
                let parts = text.split(|c: char| by.contains(c)).filter(|word| !word.is_empty());
                Value::list(parts.map(Value::text).collect())
            }
            ("split", [Value::Text(by)]) => super::regex::split(text, by)?,
            ("padLeft" | "padRight", [Value::Int(width)]) => pad(text, name, *width, " ")?,
            ("padLeft" | "padRight", [Value::Int(width), Value::Text(with)]) => {
                pad(text, name, *width, with)?
            }
            ("toInteger", []) => parse(text, "Integer")?,
            ("toLong", []) => parse(text, "Long")?,
            ("toDouble", []) => parse(text, "Double")?,
            ("toFloat", []) => parse(text, "Float")?,
            ("toBigDecimal", []) => parse(text, "BigDecimal")?,
            ("toBigInteger", []) => parse(text, "BigInteger")?,
            ("toBoolean", []) => {
                Value::Bool(matches!(text.trim().to_lowercase().as_str(), "true" | "y" | "1"))
            }
            ("isNumber" | "isBigDecimal", []) => {
                Value::Bool(super::number::Decimal::parse(text.trim_matches(is_blank)).is_some())
            }
            ("isInteger", []) => Value::Bool(parse(text, "Integer").is_ok()),
            (
                "each" | "collect" | "find" | "findAll" | "any" | "every",
                [closure @ Value::Closure(_)],
            ) => {
                let items = text.chars().map(|c| Value::text(c.to_string())).collect();
                let result =
                    self.list_method(&Value::list(items), name, std::slice::from_ref(closure))?;
                return Ok(if name == "each" { Some(Value::Text(text.clone())) } else { result });
            }
            ("count", [Value::Text(one)]) if !one.is_empty() => {
                Value::Int(text.matches(&**one).count() as i32)
            }
            (
                "matches"
                | "find"
                | "findAll"
                | "format"
                | "eachMatch"
                | "bytes"
                | "getBytes"
                | "chars"
                | "charAt"
                | "toURL"
                | "encodeAsBase64"
                | "decodeBase64"
                | "eachLine"
                | "readLines"
                | "center"
                | "execute"
                | "intern"
                | "next"
                | "previous"
                | "collectReplacements",
                _,
            ) => {
                return unsupported(format!("the method `{name}` of strings"));
            }
            _ => return Ok(None),
        }))
    }
}

fn substring(text: &str, from: i32, to: Option<i32>) -> Res {
    let units = units(text);
    let to = to.unwrap_or(units.len() as i32);
    if from < 0 || to > units.len() as i32 || from > to {
        let message = format!("begin {from}, end {to}, length {}", units.len());
        return throw("StringIndexOutOfBoundsException", message);
    }
    Ok(from_units(&units[from as usize..to as usize]))
}

fn pad(text: &str, name: &str, width: i32, with: &str) -> Res {
    let missing = (width as usize).saturating_sub(text.encode_utf16().count());
    if width <= 0 || missing == 0 {
        return Ok(Value::text(text));
    }
    if with.is_empty() || width > 1 << 16 {
        return unsupported("this padding");
    }
    let padding: String = with.chars().cycle().take(missing).collect();
    Ok(Value::text(if name == "padLeft" { padding + text } else { text.to_owned() + &padding }))
}
