//! The values of constant expressions.

use super::constant::ConstValue;
use super::model::{CheckedModel, LocalId, Meaning};
use super::types::Type;
use crate::ast::{BinaryOp, Block, Expr, ExprKind, FieldInit, If, IfElse, NodeId, UnaryOp};
use crate::source::Span;
use std::cell::Cell;

/// Most values in a constant list: `0..1000000000` is not a constant.
const ELEMENTS_MAX: i64 = 65_536;

/// Most values (and bytes of strings) built for one constant. Constants that use constants can grow
/// exponentially.
const VALUES_MAX: usize = 1 << 20;

/// Deepest nesting of a constant.
const DEPTH_MAX: usize = 64;

/// The reason why an expression is not constant.
pub(crate) struct ConstError {
    pub(super) span: Span,
    pub(super) message: String,
}

type Outcome = Result<ConstValue, ConstError>;

fn fail<T>(span: Span, message: impl Into<String>) -> Result<T, ConstError> {
    Err(ConstError { span, message: message.into() })
}

/// Evaluates expressions whose names are resolved and whose constants have values.
pub(crate) struct Evaluator<'p> {
    program: &'p CheckedModel,
    /// The parameter of a family, with its value for one member.
    member: Option<(LocalId, i64)>,
    /// Whether each part of an expression must be constant, even a part that is not evaluated.
    whole: bool,
    /// Whether an index type has a value, namely the set of its values.
    indices: bool,
    /// Number of values that may still be built.
    left: Cell<usize>,
}

/// Returns the number of values in a value. A string counts by its length.
fn size(value: &ConstValue) -> usize {
    let mut sum = if let ConstValue::Str(text) = value { 1 + text.len() } else { 1 };
    value.parts(|part| sum += size(part));
    sum
}

fn depth(value: &ConstValue) -> usize {
    let mut deepest = 0;
    value.parts(|part| deepest = depth(part).max(deepest));
    1 + deepest
}

/// Whether a value passes the check of a type at run time (X17).
fn is_of(value: &ConstValue, ty: &Type) -> bool {
    match (ty, value) {
        (Type::Any | Type::Unknown(_), _)
        | (Type::Int, ConstValue::Int(_))
        | (Type::Bool, ConstValue::Bool(_))
        | (Type::Str, ConstValue::Str(_))
        | (Type::Null | Type::Nullable(_), ConstValue::Null)
        | (Type::List(_), ConstValue::List(_))
        | (Type::Set(_), ConstValue::Set(_))
        | (Type::Map(..), ConstValue::Map(_)) => true,
        (Type::Index(wanted), ConstValue::Index(id, _))
        | (Type::Array(wanted, _), ConstValue::Array(id, _)) => wanted == id,
        (Type::Enum(wanted), ConstValue::Variant(id, ..)) => wanted == id,
        (Type::Record(wanted), ConstValue::Record(id, _)) => wanted == id,
        (Type::Nullable(solid), value) => is_of(value, solid),
        _ => false,
    }
}

impl<'p> Evaluator<'p> {
    /// For expressions outside of all bodies.
    pub(crate) fn new(program: &'p CheckedModel) -> Self {
        Self { program, member: None, whole: false, indices: true, left: Cell::new(VALUES_MAX) }
    }

    /// Sets the value of a family's parameter, for one member.
    pub(crate) fn of_member(self, member: Option<(LocalId, i64)>) -> Self {
        Self { member, ..self }
    }

    /// For declared constants: index types are no constants.
    pub(crate) fn declared(self) -> Self {
        Self { indices: false, ..self }
    }

    /// Returns an evaluator for expressions in bodies. All names in such an expression count (C4),
    /// so each part must be constant.
    pub(crate) fn in_body(self) -> Self {
        Self { whole: true, ..self }
    }

    /// Returns the value of an expression.
    pub(crate) fn evaluate(&self, expr: &Expr) -> Outcome {
        self.left.set(VALUES_MAX);
        let value = self.expr(expr)?;
        if depth(&value) > DEPTH_MAX {
            return fail(expr.span, format!("a constant nested more than {DEPTH_MAX} deep"));
        }
        Ok(value)
    }

    /// Returns the value of an integer expression if it has one. For a value of an index type,
    /// returns its number.
    pub(crate) fn int(&self, expr: &Expr) -> Option<i64> {
        match self.evaluate(expr) {
            Ok(ConstValue::Int(value)) => Some(value),
            Ok(ConstValue::Index(_, number)) => Some(i64::from(number)),
            _ => None,
        }
    }

    /// Charges the room of `times` copies of a value.
    fn charge(&self, expr: &Expr, value: &ConstValue, times: usize) -> Result<(), ConstError> {
        match self.left.get().checked_sub(size(value).saturating_mul(times)) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => fail(expr.span, "this constant is too large"),
        }
    }

    fn expr(&self, expr: &Expr) -> Outcome {
        let value = self.value(expr)?;
        match self.program.runtime_checks.get(&expr.id) {
            Some(ty) if !is_of(&value, ty) => {
                let wanted = ty.show(self.program);
                fail(expr.span, format!("expected `{wanted}`, found another value"))
            }
            _ => Ok(value),
        }
    }

    fn value(&self, expr: &Expr) -> Outcome {
        Ok(match &expr.kind {
            ExprKind::Int(value) => ConstValue::Int(*value),
            ExprKind::Bool(value) => ConstValue::Bool(*value),
            ExprKind::Str(value) => ConstValue::Str(value.clone()),
            ExprKind::Null => ConstValue::Null,
            ExprKind::Paren(inner) => return self.expr(inner),
            ExprKind::Name(name) => return self.name(name, expr),
            ExprKind::List(elements) => ConstValue::List(self.all(elements)?),
            ExprKind::Set(elements) => {
                let mut elements = self.all(elements)?;
                elements.sort();
                elements.dedup();
                ConstValue::Set(elements)
            }
            ExprKind::Map(entries) => return self.map(entries),
            ExprKind::Repeat(value, count) => return self.repeat(expr, value, count),
            ExprKind::Field { base, .. } => match self.program.meaning(expr.id) {
                Some(Meaning::Variant(id, variant)) => ConstValue::Variant(id, variant, vec![]),
                Some(Meaning::RecordField(_, field)) => match self.expr(base)? {
                    ConstValue::Record(_, fields) => match fields.into_iter().nth(field as usize) {
                        Some(value) => value,
                        None => return not_constant(expr),
                    },
                    _ => return not_constant(expr),
                },
                _ => return not_constant(expr),
            },
            ExprKind::Method { args, .. } => match self.program.meaning(expr.id) {
                Some(Meaning::Variant(id, variant)) => {
                    ConstValue::Variant(id, variant, self.all(args)?)
                }
                _ => return not_constant(expr),
            },
            ExprKind::Record { name, fields, base: None } => {
                return self.record(expr, name.id, fields);
            }
            ExprKind::Unary(op, operand) => match (op, self.expr(operand)?) {
                (UnaryOp::Not, ConstValue::Bool(value)) => ConstValue::Bool(!value),
                (UnaryOp::Neg, ConstValue::Int(value)) => match value.checked_neg() {
                    Some(value) => ConstValue::Int(value),
                    None => return fail(expr.span, "this overflows 64 bits"),
                },
                _ => return not_constant(expr),
            },
            ExprKind::Binary { op, left, right, op_span } => {
                return self.binary(expr, *op, *op_span, left, right);
            }
            ExprKind::Index { base, index } => return self.index(expr, base, index),
            ExprKind::If(node) => return self.branch(expr, node),
            _ => return not_constant(expr),
        })
    }

    /// `[value; count]`.
    fn repeat(&self, expr: &Expr, value: &Expr, count: &Expr) -> Outcome {
        let value = self.expr(value)?;
        if let Some(Meaning::Index(id)) = self.program.meaning(count.unwrapped().id)
            && self.indices
        {
            let size = self.program.indices[id.index()].size as usize;
            self.charge(expr, &value, size)?;
            return Ok(ConstValue::Array(id, vec![value; size]));
        }
        match self.expr(count)? {
            ConstValue::Int(n) if (0..=ELEMENTS_MAX).contains(&n) => {
                self.charge(expr, &value, n as usize)?;
                Ok(ConstValue::List(vec![value; n as usize]))
            }
            _ => fail(count.span, format!("a list has from 0 to {ELEMENTS_MAX} elements here")),
        }
    }

    fn branch(&self, expr: &Expr, node: &If) -> Outcome {
        let ConstValue::Bool(yes) = self.expr(&node.cond)? else { return not_constant(expr) };
        let block = |block: &Block| match &block.value {
            Some(value) if block.stmts.is_empty() => self.expr(value),
            _ => not_constant(expr),
        };
        let otherwise = || match &node.otherwise {
            Some(IfElse::Block(other)) => block(other),
            Some(IfElse::If(other)) => self.branch(expr, other),
            None => not_constant(expr),
        };
        match (self.whole, yes) {
            (true, _) => {
                let (then, otherwise) = (block(&node.then)?, otherwise()?);
                Ok(if yes { then } else { otherwise })
            }
            (false, true) => block(&node.then),
            (false, false) => otherwise(),
        }
    }

    fn name(&self, name: &str, expr: &Expr) -> Outcome {
        let id = match (self.program.meaning(expr.id), self.member) {
            (Some(Meaning::Const(id)), _) => id,
            (Some(Meaning::Index(id)), _) if self.indices => {
                let numbers = 0..self.program.indices[id.index()].size;
                return Ok(ConstValue::Set(numbers.map(|n| ConstValue::Index(id, n)).collect()));
            }
            (Some(Meaning::Local(id)), Some(member)) if id == member.0 => {
                return Ok(self.program.member(member));
            }
            _ => return fail(expr.span, format!("`{name}` is not a constant")),
        };
        match &self.program.consts[id.index()].value {
            Some(value) => {
                self.charge(expr, value, 1)?;
                Ok(value.clone())
            }
            None => fail(expr.span, format!("the value of `{name}` is not known")),
        }
    }

    fn all(&self, elements: &[Expr]) -> Result<Vec<ConstValue>, ConstError> {
        elements.iter().map(|element| self.expr(element)).collect()
    }

    fn map(&self, entries: &[(Expr, Expr)]) -> Outcome {
        let mut out: Vec<(ConstValue, ConstValue)> = Vec::new();
        for (key, value) in entries {
            let (key, value) = (self.expr(key)?, self.expr(value)?);
            match out.binary_search_by(|(known, _)| known.cmp(&key)) {
                Ok(at) => out[at].1 = value,
                Err(at) => out.insert(at, (key, value)),
            }
        }
        Ok(ConstValue::Map(out))
    }

    fn record(&self, expr: &Expr, name: NodeId, fields: &[FieldInit]) -> Outcome {
        let Some(Meaning::Record(id)) = self.program.meaning(name) else {
            return not_constant(expr);
        };
        let mut out = Vec::new();
        for (field, _) in &self.program.records[id.index()].fields {
            let Some(init) = fields.iter().find(|init| init.name.name == *field) else {
                return not_constant(expr);
            };
            out.push(self.expr(&init.value)?);
        }
        Ok(ConstValue::Record(id, out))
    }

    fn index(&self, expr: &Expr, base: &Expr, index: &Expr) -> Outcome {
        match (self.expr(base)?, self.expr(index)?) {
            (ConstValue::List(elements), ConstValue::Int(at)) => {
                let len = elements.len();
                match usize::try_from(at).ok().and_then(|at| elements.into_iter().nth(at)) {
                    Some(value) => Ok(value),
                    None => fail(index.span, format!("index {at} in a list of {len}")),
                }
            }
            (ConstValue::Array(_, elements), ConstValue::Index(_, number)) => {
                elements.into_iter().nth(number as usize).map_or_else(|| not_constant(expr), Ok)
            }
            (ConstValue::Map(entries), key) => {
                match entries.into_iter().find(|(known, _)| *known == key) {
                    Some((_, value)) => Ok(value),
                    None => fail(index.span, "the map has no such key"),
                }
            }
            _ => not_constant(expr),
        }
    }

    fn binary(
        &self,
        expr: &Expr,
        op: BinaryOp,
        op_span: Span,
        left: &Expr,
        right: &Expr,
    ) -> Outcome {
        use BinaryOp as Op;
        use ConstValue::{Array, Bool, Int, List, Map, Set, Str};
        let a = self.expr(left)?;
        // The right side of a short circuit does not need a value.
        match (op, &a) {
            (Op::And, Bool(false)) | (Op::Or, Bool(true)) if !self.whole => return Ok(a),
            _ => {}
        }
        let b = self.expr(right)?;
        Ok(match (op, a, b) {
            (Op::Eq, a, b) => Bool(a == b),
            (Op::Ne, a, b) => Bool(a != b),
            (Op::And, Bool(a), Bool(b)) => Bool(a && b),
            (Op::Or, Bool(a), Bool(b)) => Bool(a || b),
            (Op::Add, Str(a), Str(b)) => Str(a + &b),
            (Op::Add, List(mut a), List(b)) => {
                a.extend(b);
                List(a)
            }
            (Op::Lt, Str(a), Str(b)) => Bool(a < b),
            (Op::Le, Str(a), Str(b)) => Bool(a <= b),
            (Op::Gt, Str(a), Str(b)) => Bool(a > b),
            (Op::Ge, Str(a), Str(b)) => Bool(a >= b),
            (Op::In, a, List(b) | Array(_, b) | Set(b)) => Bool(b.contains(&a)),
            (Op::In, a, Map(b)) => Bool(b.iter().any(|(key, _)| *key == a)),
            (Op::In, Str(a), Str(b)) => Bool(b.contains(&a)),
            (op, Int(a), Int(b)) => return int_binary(expr, op, op_span, a, b),
            _ => return not_constant(expr),
        })
    }
}

fn int_binary(expr: &Expr, op: BinaryOp, op_span: Span, a: i64, b: i64) -> Outcome {
    use BinaryOp as Op;
    use ConstValue::{Bool, Int};
    let arithmetic = |value: Option<i64>| match value {
        Some(value) => Ok(Int(value)),
        None if b == 0 && matches!(op, Op::Div | Op::Rem) => fail(op_span, "this divides by zero"),
        None => fail(op_span, "this overflows 64 bits"),
    };
    match op {
        Op::Add => arithmetic(a.checked_add(b)),
        Op::Sub => arithmetic(a.checked_sub(b)),
        Op::Mul => arithmetic(a.checked_mul(b)),
        Op::Div => arithmetic(a.checked_div(b)),
        // The least int overflows when divided by -1, but the remainder is 0 (X12).
        Op::Rem => arithmetic(if b == -1 { Some(0) } else { a.checked_rem(b) }),
        Op::Lt => Ok(Bool(a < b)),
        Op::Le => Ok(Bool(a <= b)),
        Op::Gt => Ok(Bool(a > b)),
        Op::Ge => Ok(Bool(a >= b)),
        Op::Range if b.saturating_sub(a) <= ELEMENTS_MAX => {
            Ok(ConstValue::List((a..b).map(Int).collect()))
        }
        Op::Range => fail(expr.span, format!("more than {ELEMENTS_MAX} elements")),
        _ => not_constant(expr),
    }
}

fn not_constant<T>(expr: &Expr) -> Result<T, ConstError> {
    fail(expr.span, "this is not known before the model runs")
}
