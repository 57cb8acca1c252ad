//! Expressions over two invocations, and their values.

use crate::value::Value;
use std::sync::Arc;

/// One of the two invocations of a condition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// The one before the `~`.
    Left,
    /// The one after it.
    Right,
}

impl Side {
    /// Returns the other one.
    #[must_use]
    pub const fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }

    /// Returns the word for the state before this invocation in a condition.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Side::Left => "left",
            Side::Right => "right",
        }
    }
}

/// The part of an invocation that a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Slot {
    /// An argument, counted from 0.
    Argument(usize),
    /// The result.
    Result,
}

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operator {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}

impl Operator {
    /// All operators in the order of their declaration, each with its text and its binding
    /// strength: the levels of the model language.
    const TABLE: [(Operator, &'static str, u8); 13] = [
        (Operator::Or, "||", 1),
        (Operator::And, "&&", 2),
        (Operator::Equal, "==", 3),
        (Operator::Unequal, "!=", 3),
        (Operator::Less, "<", 4),
        (Operator::LessEqual, "<=", 4),
        (Operator::Greater, ">", 4),
        (Operator::GreaterEqual, ">=", 4),
        (Operator::Add, "+", 5),
        (Operator::Subtract, "-", 5),
        (Operator::Multiply, "*", 6),
        (Operator::Divide, "/", 6),
        (Operator::Remainder, "%", 6),
    ];

    /// Returns the operator with a text.
    pub(crate) fn of_sign(sign: &str) -> Option<Operator> {
        Operator::TABLE.into_iter().find(|row| row.1 == sign).map(|row| row.0)
    }

    /// Returns the operator's text.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        Operator::TABLE[self as usize].1
    }

    /// Returns the binding strength.
    #[must_use]
    pub const fn level(self) -> u8 {
        Operator::TABLE[self as usize].2
    }

    /// Returns the comparison that holds exactly when this one does not.
    #[must_use]
    pub const fn negated(self) -> Option<Operator> {
        Some(match self {
            Operator::Equal => Operator::Unequal,
            Operator::Unequal => Operator::Equal,
            Operator::Less => Operator::GreaterEqual,
            Operator::LessEqual => Operator::Greater,
            Operator::Greater => Operator::LessEqual,
            Operator::GreaterEqual => Operator::Less,
            _ => return None,
        })
    }
}

/// An expression over the arguments and results of two invocations, and over the states before
/// them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Expr {
    /// A constant.
    Value(Value),
    /// An argument or a result.
    Slot(Side, Slot),
    /// `!e`
    Not(Box<Expr>),
    /// `-e`
    Minus(Box<Expr>),
    /// Two operands.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `left.f(a, b)`: a function of the state before an invocation (logic L1 only).
    State(Side, Arc<str>, Vec<Expr>),
}

/// Which invocations an expression uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sides {
    /// The left one.
    pub left: bool,
    /// The right one.
    pub right: bool,
}

impl Sides {
    /// Returns whether it uses no other side than this.
    #[must_use]
    pub const fn only(self, side: Side) -> bool {
        match side {
            Side::Left => self.left && !self.right,
            Side::Right => self.right && !self.left,
        }
    }
}

/// The functions of an abstract state that conditions of logic L1 use.
pub trait StateFunctions {
    /// Returns the value of a function in this state, or `None` if it has none.
    fn value(&self, function: &str, arguments: &[Value]) -> Option<Value>;
}

/// The part of an invocation that an expression can use.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The arguments.
    pub arguments: &'a [Value],
    /// The result.
    pub result: &'a Value,
    /// The state before it, if known.
    pub state: Option<&'a dyn StateFunctions>,
}

impl Expr {
    /// Returns which invocations it uses, in time linear in its size.
    #[must_use]
    pub fn sides(&self) -> Sides {
        let mut sides = Sides::default();
        self.visit(&mut |part| {
            if let Expr::Slot(side, _) | Expr::State(side, ..) = part {
                match side {
                    Side::Left => sides.left = true,
                    Side::Right => sides.right = true,
                }
            }
        });
        sides
    }

    /// Calls a function for the expression and all its parts, the expression first.
    pub fn visit(&self, see: &mut impl FnMut(&Expr)) {
        see(self);
        match self {
            Expr::Value(_) | Expr::Slot(..) => {}
            Expr::Not(inner) | Expr::Minus(inner) => inner.visit(see),
            Expr::Binary(_, a, b) => {
                a.visit(see);
                b.visit(see);
            }
            Expr::State(_, _, arguments) => arguments.iter().for_each(|part| part.visit(see)),
        }
    }

    /// Returns the expression with sides replaced: `to` maps each side.
    #[must_use]
    pub fn with_sides(&self, to: &impl Fn(Side) -> Side) -> Expr {
        match self {
            Expr::Value(value) => Expr::Value(value.clone()),
            Expr::Slot(side, slot) => Expr::Slot(to(*side), *slot),
            Expr::Not(inner) => Expr::Not(Box::new(inner.with_sides(to))),
            Expr::Minus(inner) => Expr::Minus(Box::new(inner.with_sides(to))),
            Expr::Binary(op, a, b) => {
                Expr::Binary(*op, Box::new(a.with_sides(to)), Box::new(b.with_sides(to)))
            }
            Expr::State(side, function, arguments) => {
                let arguments = arguments.iter().map(|part| part.with_sides(to)).collect();
                Expr::State(to(*side), function.clone(), arguments)
            }
        }
    }

    /// Returns the two sides of a comparison between the two invocations, the side over the left
    /// one first.
    pub(crate) fn sides_of(&self, comparison: Operator) -> Option<(&Expr, &Expr)> {
        let Expr::Binary(op, a, b) = self else { return None };
        let pairs = [(a, b), (b, a)].into_iter().filter(|_| *op == comparison);
        let mut fitting =
            pairs.filter(|(a, b)| a.sides().only(Side::Left) && b.sides().only(Side::Right));
        fitting.next().map(|(a, b)| (&**a, &**b))
    }

    /// Returns whether it has a value for all invocations. Arithmetic and functions of the state
    /// may have none.
    #[must_use]
    pub const fn is_total(&self) -> bool {
        matches!(self, Expr::Value(_) | Expr::Slot(..))
    }

    /// Returns its value. It is `None` for an operand of the wrong kind, a number beyond 64 bits, a
    /// division by zero, and a function of an unknown state.
    #[must_use]
    pub fn value(&self, left: View<'_>, right: View<'_>) -> Option<Value> {
        match self {
            Expr::Value(value) => Some(value.clone()),
            Expr::Slot(side, slot) => {
                let view = if *side == Side::Left { left } else { right };
                match slot {
                    Slot::Argument(at) => view.arguments.get(*at).cloned(),
                    Slot::Result => Some(view.result.clone()),
                }
            }
            Expr::Not(inner) => Some(Value::Bool(!inner.value(left, right)?.as_bool()?)),
            Expr::Minus(inner) => inner.value(left, right)?.as_int()?.checked_neg().map(Value::Int),
            Expr::Binary(op, a, b) => binary(*op, &a.value(left, right)?, &b.value(left, right)?),
            Expr::State(side, function, arguments) => {
                let view = if *side == Side::Left { left } else { right };
                let state = view.state?;
                let arguments: Option<Vec<Value>> =
                    arguments.iter().map(|part| part.value(left, right)).collect();
                state.value(function, &arguments?)
            }
        }
    }
}

fn binary(op: Operator, a: &Value, b: &Value) -> Option<Value> {
    let number = |f: fn(i64, i64) -> Option<i64>| f(a.as_int()?, b.as_int()?).map(Value::Int);
    let order = |holds: fn(std::cmp::Ordering) -> bool| {
        let order = match (a, b) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            _ => return None,
        };
        Some(Value::Bool(holds(order)))
    };
    match op {
        Operator::Or => Some(Value::Bool(a.as_bool()? | b.as_bool()?)),
        Operator::And => Some(Value::Bool(a.as_bool()? & b.as_bool()?)),
        Operator::Equal => Some(Value::Bool(a == b)),
        Operator::Unequal => Some(Value::Bool(a != b)),
        Operator::Less => order(std::cmp::Ordering::is_lt),
        Operator::LessEqual => order(std::cmp::Ordering::is_le),
        Operator::Greater => order(std::cmp::Ordering::is_gt),
        Operator::GreaterEqual => order(std::cmp::Ordering::is_ge),
        Operator::Add => number(i64::checked_add),
        Operator::Subtract => number(i64::checked_sub),
        Operator::Multiply => number(i64::checked_mul),
        Operator::Divide => number(i64::checked_div),
        Operator::Remainder => number(i64::checked_rem),
    }
}
