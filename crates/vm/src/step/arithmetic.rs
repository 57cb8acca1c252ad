//! Operators.

use super::fault::{FailureKind, Stop};
use super::interpreter::Interpreter;
use crate::program::{Op, Reg};
use crate::value::Value;

impl Interpreter<'_> {
    #[inline]
    pub(crate) fn add(&mut self, dst: Reg, a: Reg, b: Reg) -> Result<(), Stop> {
        if let (Value::Int(a), Value::Int(b)) = (self.get(a), self.get(b)) {
            let sum = self.fits(a.checked_add(*b), *a, "+", *b)?;
            self.set(dst, Value::Int(sum));
            return Ok(());
        }
        self.join(dst, a, b)
    }

    fn join(&mut self, dst: Reg, a: Reg, b: Reg) -> Result<(), Stop> {
        let size = self.get(a).nodes() as usize + self.get(b).nodes() as usize;
        self.charge(size)?;
        if size > self.machine.program.settings.size as usize {
            return Err(self.too_large());
        }
        let value = match (self.get(a), self.get(b)) {
            (Value::Str(a), Value::Str(b)) => {
                let text = [a.as_str(), b.as_str()].concat();
                Value::str(&text)
            }
            (Value::List(a), Value::List(b)) => {
                let items = [a.items(), b.items()].concat();
                Value::list(items)
            }
            (Value::Int(_) | Value::Str(_) | Value::List(_), b) => {
                return Err(self.bad_type(&format!("cannot add to {}", self.get(a).kind()), b));
            }
            (a, _) => return Err(self.bad_type("cannot add to", a)),
        };
        self.set_sized(dst, value)
    }

    /// Returns whether two values are equal.
    #[inline]
    pub(crate) fn are_equal(&mut self, a: Reg, b: Reg) -> Result<bool, Stop> {
        let nodes = self.get(a).nodes() as usize;
        self.charge(nodes)?;
        self.log_compared(a, b);
        Ok(self.get(a) == self.get(b))
    }

    /// Returns two ints. `needed` says what is needed, for the message.
    pub(crate) fn ints_for(&self, needed: &str, a: Reg, b: Reg) -> Result<(i64, i64), Stop> {
        match (self.get(a), self.get(b)) {
            (Value::Int(a), Value::Int(b)) => Ok((*a, *b)),
            (Value::Int(_), other) | (other, _) => Err(self.bad_type(needed, other)),
        }
    }

    fn ints(&self, a: Reg, b: Reg) -> Result<(i64, i64), Stop> {
        self.ints_for("an int is needed, not", a, b)
    }

    /// Executes an operator.
    pub(crate) fn arithmetic(&mut self, op: &Op) -> Result<(), Stop> {
        let (dst, value) = match *op {
            Op::Sub { dst, a, b } => {
                let (a, b) = self.ints(a, b)?;
                (dst, Value::Int(self.fits(a.checked_sub(b), a, "-", b)?))
            }
            Op::Mul { dst, a, b } => {
                let (a, b) = self.ints(a, b)?;
                (dst, Value::Int(self.fits(a.checked_mul(b), a, "*", b)?))
            }
            Op::Div { dst, a, b } | Op::Rem { dst, a, b } => {
                let (a, b) = self.ints(a, b)?;
                if b == 0 {
                    return Err(self.fault(FailureKind::Division, ""));
                }
                let div = matches!(op, Op::Div { .. });
                // The one remainder whose quotient does not fit is 0.
                let value = if div { a.checked_div(b) } else { Some(a.wrapping_rem(b)) };
                (dst, Value::Int(self.fits(value, a, "/", b)?))
            }
            Op::Neg { dst, a } => {
                let (a, _) = self.ints(a, a)?;
                (dst, Value::Int(self.fits(a.checked_neg(), 0, "-", a)?))
            }
            Op::Not { dst, a } => match self.get(a) {
                Value::Bool(a) => (dst, Value::Bool(!a)),
                other => return Err(self.bad_type("a bool is needed, not", other)),
            },
            Op::Lt { dst, a, b } => (dst, Value::Bool(self.order(a, b)?.is_lt())),
            Op::Le { dst, a, b } => (dst, Value::Bool(self.order(a, b)?.is_le())),
            Op::In { dst, a, b } => (dst, Value::Bool(self.contains(b, a)?)),
            Op::Range { dst, a, b } => {
                let (a, b) = self.ints(a, b)?;
                let length = i128::from(b) - i128::from(a);
                if length >= i128::from(self.machine.program.settings.size) {
                    return Err(self.too_large());
                }
                self.charge(length.max(0) as usize)?;
                let items = (a..b).map(Value::Int).collect();
                (dst, Value::list(items))
            }
            _ => return Ok(()),
        };
        self.set_sized(dst, value)
    }

    #[inline]
    pub(crate) fn fits(&self, value: Option<i64>, a: i64, sign: &str, b: i64) -> Result<i64, Stop> {
        value.ok_or_else(|| self.fault(FailureKind::Overflow, format!("{a} {sign} {b}")))
    }

    fn order(&self, a: Reg, b: Reg) -> Result<std::cmp::Ordering, Stop> {
        match (self.get(a), self.get(b)) {
            (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
            (Value::Str(a), Value::Str(b)) => Ok(a.as_str().cmp(b.as_str())),
            (Value::Int(_), other) | (Value::Str(_), other) | (other, _) => {
                Err(self.bad_type("ints or strings are compared, not", other))
            }
        }
    }

    /// Returns whether a container (or a string) contains a value.
    pub(crate) fn contains(&mut self, container: Reg, value: Reg) -> Result<bool, Stop> {
        let size = self.get(container).nodes() as usize;
        self.charge(size)?;
        self.log_compared(container, value);
        let found = match (self.get(container), self.get(value)) {
            (Value::Set(set), value) => set.contains(value),
            (Value::List(list), value) => list.items().contains(value),
            (Value::Map(map), value) => map.get(value).is_some(),
            (Value::Str(text), Value::Str(part)) => text.as_str().contains(part.as_str()),
            (Value::Str(_), other) => return Err(self.bad_type("a str is needed, not", other)),
            (other, _) => return Err(self.bad_type("nothing can be in", other)),
        };
        Ok(found)
    }
}
