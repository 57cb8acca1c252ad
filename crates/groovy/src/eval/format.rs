//! `String.format`, for integers, decimal numbers and strings.

use super::interp::{Res, throw, unsupported};
use super::value::{Value, show};

/// A directive: `%-5.2f`
#[derive(Default)]
struct Directive {
    left: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
}

/// The widest field that is made.
const WIDTH_MAX: usize = 1_000;

/// Formats values by the directives of a pattern.
pub(super) fn format(pattern: &str, values: &[Value]) -> Res {
    let (mut out, mut next) = (String::new(), 0);
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut one = Directive::default();
        while let Some(flag @ ('-' | '0')) = chars.peek().copied() {
            chars.next();
            one.left |= flag == '-';
            one.zeros |= flag == '0';
        }
        let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut value = None;
            while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                chars.next();
                let all = value.unwrap_or(0usize).saturating_mul(10);
                value = Some(all.saturating_add(digit as usize));
            }
            value
        };
        one.width = number(&mut chars).unwrap_or(0);
        if chars.peek() == Some(&'.') {
            chars.next();
            one.precision = number(&mut chars);
        }
        let directive = chars.next();
        match directive {
            Some('n') => out.push('\n'),
            Some('%') => out.push('%'),
            Some(directive) => {
                let Some(value) = values.get(next) else {
                    return throw("MissingFormatArgumentException", "Format specifier");
                };
                next += 1;
                let text = convert(&one, directive, value)?;
                out += &padded(&one, &text)?;
            }
            None => return throw("UnknownFormatConversionException", "Conversion = '%'"),
        }
    }
    Ok(Value::text(out))
}

fn convert(one: &Directive, directive: char, value: &Value) -> Res<String> {
    let unknown = || unsupported(format!("`%{directive}` of this value"));
    match (directive, value) {
        ('s', value) if one.precision.is_none() => Ok(show(value)),
        ('d', Value::Int(_) | Value::Long(_) | Value::BigInt(_)) => Ok(show(value)),
        ('d', Value::Decimal(_) | Value::Double(_) | Value::Float(_) | Value::Text(_)) => {
            throw("IllegalFormatConversionException", "d")
        }
        ('x', Value::Int(value)) => Ok(format!("{value:x}")),
        ('X', Value::Int(value)) => Ok(format!("{value:X}")),
        ('x', Value::Long(value)) => Ok(format!("{value:x}")),
        ('X', Value::Long(value)) => Ok(format!("{value:X}")),
        ('f', Value::Decimal(value)) => {
            let places = i32::try_from(one.precision.unwrap_or(6)).unwrap_or(i32::MAX);
            match value.rounded(places) {
                Ok(rounded) => Ok(rounded.to_string()),
                Err(_) => unknown(),
            }
        }
        // Java rounds the decimal digits of a `double` half up.
        ('f', Value::Double(_) | Value::Float(_)) => {
            match super::number::Decimal::parse(&show(value)) {
                Some(value) => convert(one, 'f', &Value::Decimal(value)),
                None => unknown(),
            }
        }
        ('f', Value::Int(_) | Value::Long(_) | Value::BigInt(_) | Value::Text(_)) => {
            throw("IllegalFormatConversionException", "f")
        }
        _ => unknown(),
    }
}

fn padded(one: &Directive, text: &str) -> Res<String> {
    let missing = one.width.saturating_sub(text.chars().count());
    if one.width > WIDTH_MAX {
        return unsupported("a wide field");
    }
    Ok(match (one.left, one.zeros) {
        (true, _) => text.to_owned() + &" ".repeat(missing),
        (false, true) => match text.strip_prefix('-') {
            Some(digits) => format!("-{}{digits}", "0".repeat(missing)),
            None => "0".repeat(missing) + text,
        },
        (false, false) => " ".repeat(missing) + text,
    })
}
