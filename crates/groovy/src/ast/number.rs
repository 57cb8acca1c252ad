//! Numbers as they are written.

/// A number of the type that its text and suffix give.
#[derive(Clone, PartialEq, Debug)]
pub enum Number {
    /// `int`
    Int(i32),
    /// `long`
    Long(i64),
    /// `BigInteger`: its digits in base ten, without leading zeros, perhaps behind a minus.
    BigInteger(String),
    /// `BigDecimal`
    BigDecimal(Decimal),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
}

/// A decimal number: `digits` times ten to the power of `-scale`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decimal {
    /// The digits, without leading zeros, perhaps behind a minus.
    pub digits: String,
    /// How many of them stand behind the point; negative: so many zeros follow.
    pub scale: i32,
}

impl Number {
    /// Reads the text of a number token, perhaps behind a sign. `None` if it does not fit its
    /// suffix.
    pub fn parse(text: &str) -> Option<Number> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let negative = text.starts_with('-');
        let lower: String =
            unsigned.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
        let (radix, body) = match lower.as_bytes() {
            [b'0', b'x', ..] => (16, &lower[2..]),
            [b'0', b'b', b'0' | b'1', ..] => (2, &lower[2..]),
            [b'0', b'0'..=b'9', ..] if !lower.contains(['.', 'e', 'f', 'd']) => (8, &lower[1..]),
            _ => (10, lower.as_str()),
        };
        if radix == 10 && lower.contains(['.', 'e', 'f', 'd']) {
            return decimal(&lower, negative);
        }
        let (digits, suffix) = match body.as_bytes().last()? {
            c @ (b'i' | b'l' | b'g') => (&body[..body.len() - 1], Some(*c)),
            _ => (body, None),
        };
        let digits = if digits.is_empty() { "0" } else { digits };
        let value = u128::from_str_radix(digits, radix).ok();
        let small = value.and_then(|value| i128::try_from(value).ok());
        let small = small.map(|value| if negative { -value } else { value });
        let int = small.and_then(|value| i32::try_from(value).ok()).map(Number::Int);
        let long = small.and_then(|value| i64::try_from(value).ok()).map(Number::Long);
        // With a suffix, the lowest bits count.
        let big = || big(digits, radix).map(|digits| Number::BigInteger(sign(digits, negative)));
        match suffix {
            Some(b'i') => small.map(|value| Number::Int(value as i32)),
            Some(b'l') => small.map(|value| Number::Long(value as i64)),
            Some(_) => big(),
            None => int.or(long).or_else(big),
        }
    }
}

fn sign(digits: String, negative: bool) -> String {
    if negative && digits != "0" { format!("-{digits}") } else { digits }
}

/// Returns the digits in base ten. Quadratic in the number of digits of another base, so at most
/// a thousand of them.
fn big(digits: &str, radix: u32) -> Option<String> {
    if radix == 10 {
        return digits.bytes().all(|b| b.is_ascii_digit()).then(|| without_zeros(digits));
    }
    if digits.len() > 1_000 {
        return None;
    }
    let mut result = vec![0u8];
    for c in digits.chars() {
        let mut carry = c.to_digit(radix)?;
        for digit in &mut result {
            let value = u32::from(*digit) * radix + carry;
            *digit = (value % 10) as u8;
            carry = value / 10;
        }
        while carry > 0 {
            result.push((carry % 10) as u8);
            carry /= 10;
        }
    }
    let text: String = result.iter().rev().map(|d| char::from(b'0' + d)).collect();
    Some(without_zeros(&text))
}

fn without_zeros(digits: &str) -> String {
    let text = digits.trim_start_matches('0');
    if text.is_empty() { "0".to_owned() } else { text.to_owned() }
}

fn decimal(text: &str, negative: bool) -> Option<Number> {
    let (body, suffix) = match text.as_bytes().last()? {
        c @ (b'f' | b'd' | b'g') => (&text[..text.len() - 1], Some(*c)),
        _ => (text, None),
    };
    match suffix {
        Some(b'f') => body.parse().ok().map(|v: f32| Number::Float(if negative { -v } else { v })),
        Some(b'd') => body.parse().ok().map(|v: f64| Number::Double(if negative { -v } else { v })),
        _ => {
            let (mantissa, exponent) = body.split_once('e').unwrap_or((body, "0"));
            let exponent: i32 = exponent.parse().ok()?;
            let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let digits = sign(without_zeros(&format!("{whole}{part}")), negative);
            let scale = i32::try_from(part.len()).ok()?.checked_sub(exponent)?;
            Some(Number::BigDecimal(Decimal { digits, scale }))
        }
    }
}
