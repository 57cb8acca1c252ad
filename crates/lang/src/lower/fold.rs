//! Values of expressions that are known before the model runs.

use super::symbols::{Symbol, Symbols};
use crate::ast::{BinaryOp, Expr, ExprKind, FieldInit, TypeExpr, TypeKind, UnaryOp};
use anyorder_vm::program::Literal;

/// A member of a family: its number, and the index type that it is a value of.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    pub(crate) number: i64,
    pub(crate) index: Option<u16>,
}

impl Member {
    /// The value of the family's parameter.
    pub(crate) fn literal(self) -> Literal {
        match (self.index, u16::try_from(self.number)) {
            (Some(of), Ok(member)) => Literal::Index(of, member),
            _ => Literal::Int(self.number),
        }
    }
}

/// Most elements of a list made while compiling; longer ones are made at run time.
const ELEMENTS_MAX: i64 = 4096;

/// Folds expressions to values. Names for which `is_local` holds are variables and have none.
pub(crate) struct Folder<'s, 'a> {
    pub(crate) symbols: &'s Symbols<'a>,
    pub(crate) is_local: &'s dyn Fn(&str) -> bool,
    /// A variable with a known value: the index of a member of a family.
    pub(crate) bound: Option<(&'s str, Member)>,
}

impl Folder<'_, '_> {
    /// Returns the value of an expression, `None` when it has none or computing it would fail.
    pub(crate) fn fold(&self, e: &Expr) -> Option<Literal> {
        match &e.kind {
            ExprKind::Int(v) => Some(Literal::Int(*v)),
            ExprKind::Bool(v) => Some(Literal::Bool(*v)),
            ExprKind::Str(v) => Some(Literal::Str(v.clone())),
            ExprKind::Null => Some(Literal::Null),
            ExprKind::Paren(inner) => self.fold(inner),
            ExprKind::Name(name) => self.constant(name),
            ExprKind::List(items) => Some(Literal::List(self.all(items)?)),
            ExprKind::Set(items) => Some(Literal::Set(self.all(items)?)),
            ExprKind::Map(entries) => {
                let entry = |(k, v): &(Expr, Expr)| Some((self.fold(k)?, self.fold(v)?));
                Some(Literal::Map(entries.iter().map(entry).collect::<Option<_>>()?))
            }
            ExprKind::Repeat(value, count) => self.repeat(value, count),
            ExprKind::Record { name, fields, base: None } => self.record(&name.name, fields),
            ExprKind::Unary(op, inner) => unary(*op, &self.fold(inner)?),
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right),
            ExprKind::Field { base, name } => self.variant(base, &name.name, &[]),
            ExprKind::Method { receiver, name, args } => self.variant(receiver, &name.name, args),
            ExprKind::Index { base, index } => match (self.fold(base)?, self.fold(index)?) {
                (Literal::List(items), Literal::Int(i)) => {
                    items.get(usize::try_from(i).ok()?).cloned()
                }
                (Literal::Array(_, items), Literal::Index(_, i)) => {
                    items.get(usize::from(i)).cloned()
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the index type that an expression names, and how many values it has.
    pub(crate) fn index(&self, e: &Expr) -> Option<(u16, u16)> {
        match &e.kind {
            ExprKind::Paren(inner) => self.index(inner),
            ExprKind::Name(name) if !(self.is_local)(name) => match self.symbols.get(name)? {
                Symbol::Index(i) => Some((u16::try_from(i).ok()?, *self.symbols.indices.get(i)?)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the value of a constant integer expression: of an index type how many values it has, of one of these which one it is.
    pub(crate) fn int(&self, e: &Expr) -> Option<i64> {
        if let Some((_, size)) = self.index(e) {
            return Some(i64::from(size));
        }
        match self.fold(e)? {
            Literal::Int(v) => Some(v),
            Literal::Index(_, member) => Some(i64::from(member)),
            _ => None,
        }
    }

    /// Returns the bounds of a constant range.
    pub(crate) fn range(&self, e: &Expr) -> Option<(i64, i64)> {
        if let Some((_, size)) = self.index(e) {
            return Some((0, i64::from(size)));
        }
        match &e.kind {
            ExprKind::Paren(inner) => self.range(inner),
            ExprKind::Binary { op: BinaryOp::Range, left, right, .. } => {
                Some((self.int(left)?, self.int(right)?))
            }
            _ => None,
        }
    }

    /// Returns the value that a variable of a type has when none is written.
    pub(crate) fn default(&self, ty: &TypeExpr) -> Literal {
        match &ty.kind {
            TypeKind::Named(name) => self.named_default(&name.name),
            TypeKind::List(_) => Literal::List(Vec::new()),
            TypeKind::Set(_) => Literal::Set(Vec::new()),
            TypeKind::Map(..) => Literal::Map(Vec::new()),
            TypeKind::Array(of, size) => {
                let count = self.int(size).unwrap_or(0).clamp(0, 1 << 16);
                let items = vec![self.default(of); usize::try_from(count).unwrap_or(0)];
                self.array(size, items)
            }
            TypeKind::Nullable(_) | TypeKind::Fn(..) | TypeKind::Error => Literal::Null,
        }
    }

    /// A list, or an array over an index type.
    fn array(&self, size: &Expr, items: Vec<Literal>) -> Literal {
        match self.index(size) {
            Some((of, _)) => Literal::Array(of, items),
            None => Literal::List(items),
        }
    }

    fn named_default(&self, name: &str) -> Literal {
        match name {
            "int" => Literal::Int(0),
            "bool" => Literal::Bool(false),
            "str" => Literal::Str(String::new()),
            _ => match self.symbols.get(name) {
                Some(Symbol::Enum(i)) => match self.symbols.enums.get(i) {
                    Some(e) if e.decl.variants.first().is_some_and(|v| v.payload.is_empty()) => {
                        Literal::Enum(e.id, 0, Vec::new())
                    }
                    _ => Literal::Null,
                },
                // Records cannot contain themselves, so this ends.
                Some(Symbol::Record(i)) => self.symbols.records.get(i).map_or(Literal::Null, |r| {
                    let fields = r.decl.fields.iter().map(|f| self.default(&f.ty)).collect();
                    Literal::Record(r.id, fields)
                }),
                _ => Literal::Null,
            },
        }
    }

    fn constant(&self, name: &str) -> Option<Literal> {
        if (self.is_local)(name) {
            return None;
        }
        if let Some((bound, value)) = self.bound
            && bound == name
        {
            return Some(value.literal());
        }
        match self.symbols.get(name)? {
            Symbol::Const(i) => self.symbols.consts.get(i).cloned(),
            Symbol::Index(i) => {
                let of = u16::try_from(i).ok()?;
                let members = 0..*self.symbols.indices.get(i)?;
                Some(Literal::Set(members.map(|member| Literal::Index(of, member)).collect()))
            }
            _ => None,
        }
    }

    fn all(&self, items: &[Expr]) -> Option<Vec<Literal>> {
        items.iter().map(|e| self.fold(e)).collect()
    }

    fn repeat(&self, value: &Expr, count: &Expr) -> Option<Literal> {
        let length = self.int(count).filter(|n| (0..=ELEMENTS_MAX).contains(n))?;
        Some(self.array(count, vec![self.fold(value)?; usize::try_from(length).ok()?]))
    }

    fn record(&self, name: &str, fields: &[FieldInit]) -> Option<Literal> {
        let (_, info) = self.symbols.record(name)?;
        let field = |f: &crate::ast::RecordField| {
            let written = fields.iter().find(|w| w.name.name == f.name.name)?;
            self.fold(&written.value)
        };
        let values = info.decl.fields.iter().map(field).collect::<Option<_>>()?;
        Some(Literal::Record(info.id, values))
    }

    fn variant(&self, base: &Expr, name: &str, args: &[Expr]) -> Option<Literal> {
        let ExprKind::Name(enum_name) = &base.kind else { return None };
        if (self.is_local)(enum_name) {
            return None;
        }
        let (_, info) = self.symbols.enumeration(enum_name)?;
        Some(Literal::Enum(info.id, info.variant(name)?, self.all(args)?))
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Literal> {
        let a = self.fold(left)?;
        // The right side need not have a value where it is not looked at.
        match (op, &a) {
            (BinaryOp::And, Literal::Bool(false)) | (BinaryOp::Or, Literal::Bool(true)) => {
                return Some(a);
            }
            _ => {}
        }
        binary(op, a, self.fold(right)?)
    }
}

fn unary(op: UnaryOp, a: &Literal) -> Option<Literal> {
    match (op, a) {
        (UnaryOp::Not, Literal::Bool(v)) => Some(Literal::Bool(!v)),
        (UnaryOp::Neg, Literal::Int(v)) => v.checked_neg().map(Literal::Int),
        _ => None,
    }
}

fn binary(op: BinaryOp, a: Literal, b: Literal) -> Option<Literal> {
    use BinaryOp as Op;
    match (op, a, b) {
        (Op::Eq, a, b) => scalar(&a, &b).then(|| Literal::Bool(a == b)),
        (Op::Ne, a, b) => scalar(&a, &b).then(|| Literal::Bool(a != b)),
        (_, Literal::Int(a), Literal::Int(b)) => int_binary(op, a, b),
        (Op::And, Literal::Bool(a), Literal::Bool(b)) => Some(Literal::Bool(a && b)),
        (Op::Or, Literal::Bool(a), Literal::Bool(b)) => Some(Literal::Bool(a || b)),
        (Op::Add, Literal::Str(a), Literal::Str(b)) => Some(Literal::Str(a + &b)),
        (Op::Add, Literal::List(mut a), Literal::List(b)) => {
            a.extend(b);
            Some(Literal::List(a))
        }
        _ => None,
    }
}

/// Whether `==` of the literals is `==` of the values: not for sets and maps, which have no order.
fn scalar(a: &Literal, b: &Literal) -> bool {
    let plain = |l: &Literal| match l {
        Literal::Null
        | Literal::Bool(_)
        | Literal::Int(_)
        | Literal::Index(..)
        | Literal::Str(_) => true,
        Literal::Enum(_, _, payload) => payload.is_empty(),
        _ => false,
    };
    plain(a) && plain(b)
}

fn int_binary(op: BinaryOp, a: i64, b: i64) -> Option<Literal> {
    use BinaryOp as Op;
    Some(match op {
        Op::Add => Literal::Int(a.checked_add(b)?),
        Op::Sub => Literal::Int(a.checked_sub(b)?),
        Op::Mul => Literal::Int(a.checked_mul(b)?),
        Op::Div => Literal::Int(a.checked_div(b)?),
        Op::Rem => Literal::Int(a.checked_rem(b)?),
        Op::Lt => Literal::Bool(a < b),
        Op::Le => Literal::Bool(a <= b),
        Op::Gt => Literal::Bool(a > b),
        Op::Ge => Literal::Bool(a >= b),
        Op::Range if b.saturating_sub(a) <= ELEMENTS_MAX => {
            Literal::List((a..b).map(Literal::Int).collect())
        }
        _ => return None,
    })
}
