//! Expressions with operators.

use super::parser::{Left, Parser, Reported, Res};
use crate::ast::{Access, BinaryOp, Expr, ExprKind, IncDec, Number, UnaryOp};
use crate::lex::Kind;

/// The level of `*` and of a sign before an operand.
const SIGN_LEVEL: u8 = 11;
/// The level of `**`.
const POWER_LEVEL: u8 = 12;
/// The level of `<`, `in`, `instanceof` and `as`, of which one does not follow another.
const RELATION_LEVEL: u8 = 8;

impl Parser<'_> {
    /// Reads an expression.
    pub(super) fn expr(&mut self, left: Left) -> Res<Expr> {
        self.nested(|parser| parser.grown(|parser| parser.assignment(left)))
    }

    /// Reads an expression that may be a command, as behind an equals sign.
    pub(super) fn expr_or_command(&mut self, left: Left) -> Res<Expr> {
        let start = self.at;
        self.nested(|parser| {
            parser.grown(|parser| {
                let head = parser.assignment(left)?;
                let is_path = parser.last_path == (start, parser.at);
                if is_path && !parser.is_word("else") {
                    parser.commands(head, start)
                } else {
                    Ok(head)
                }
            })
        })
    }

    fn assignment(&mut self, left: Left) -> Res<Expr> {
        let start = self.at;
        if let Some(equals) = self.behind_names(start) {
            return self.assign_many(start, equals);
        }
        let target = self.conditional(left)?;
        let Kind::Op(op) = self.kind() else { return Ok(target) };
        let operator = match op {
            "=" => None,
            "+=" | "-=" | "*=" | "/=" | "%=" | ">>=" | ">>>=" | "<<=" | "&=" | "^=" | "|="
            | "**=" => BinaryOp::from_text(&op[..op.len() - 1]),
            _ => return Ok(target),
        };
        if !is_assignable(&target) {
            let message = "only a variable, a property or an element can be assigned".to_owned();
            return Err(self.report(target.span, message));
        }
        self.bump();
        self.skip_newline();
        let value = self.expr_or_command(Left::Statement)?;
        self.grow()?;
        let kind = ExprKind::Assign(operator, Box::new(target), Box::new(value));
        Ok(Expr::new(self.span_from(start), kind))
    }

    fn assign_many(&mut self, start: usize, equals: usize) -> Res<Expr> {
        let names = (start + 1..equals - 1).step_by(2);
        let names = names
            .map(|at| Expr::new(self.span_at(at), ExprKind::Name(self.text_at(at).to_owned())))
            .collect();
        self.at = equals + 1;
        self.skip_newline();
        let value = self.expr(Left::Inner)?;
        self.grow()?;
        Ok(Expr::new(self.span_from(start), ExprKind::AssignMany(names, Box::new(value))))
    }

    /// Reads an expression without an assignment.
    pub(super) fn conditional(&mut self, left: Left) -> Res<Expr> {
        let start = self.at;
        let condition = self.binary(1, left)?;
        let behind = self.behind_newline(self.at);
        if self.is_op_at(behind, "?:") {
            self.at = behind + 1;
            self.skip_newline();
            let other = self.nested(|parser| parser.conditional(Left::Inner))?;
            self.grow()?;
            let kind = ExprKind::Elvis(Box::new(condition), Box::new(other));
            return Ok(Expr::new(self.span_from(start), kind));
        }
        if !self.is_op_at(behind, "?") {
            return Ok(condition);
        }
        self.at = behind + 1;
        self.skip_newline();
        let yes = self.nested(|parser| parser.assignment(Left::Inner))?;
        self.skip_newline();
        self.expect_op(":")?;
        self.skip_newline();
        let no = self.nested(|parser| parser.conditional(Left::Inner))?;
        self.grow()?;
        let kind = ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no));
        Ok(Expr::new(self.span_from(start), kind))
    }

    /// Reads operands and the operators of at least `min` between them.
    pub(super) fn binary(&mut self, min: u8, left: Left) -> Res<Expr> {
        self.grown(|parser| {
            let start = parser.at;
            let first = parser.operand(min, left)?;
            parser.operators(first, start, min)
        })
    }

    fn operators(&mut self, mut first: Expr, start: usize, min: u8) -> Res<Expr> {
        // A relation ends its level: `a < b < c` is an error, `a < b == c` is not.
        let mut max = POWER_LEVEL;
        loop {
            let (operator, level) = match self.kind() {
                Kind::Word("instanceof" | "as") => (None, RELATION_LEVEL),
                Kind::Op(op) => match BinaryOp::from_text(op) {
                    Some(op) => (Some(op), op.level()),
                    None => return Ok(first),
                },
                Kind::Word("in") => (Some(BinaryOp::In), RELATION_LEVEL),
                _ => return Ok(first),
            };
            // `f in: 1` is a command with a key.
            if matches!(self.kind(), Kind::Word(_)) && self.is_op_at(self.at + 1, ":") {
                return Ok(first);
            }
            if level < min || level > max {
                return Ok(first);
            }
            let is_as = self.is_word("as");
            self.bump();
            self.skip_newline();
            let kind = match operator {
                Some(operator) => {
                    let second = self.binary(level + 1, Left::Inner)?;
                    ExprKind::Binary(operator, Box::new(first), Box::new(second))
                }
                None if is_as => ExprKind::As(Box::new(first), self.type_name()?),
                None => ExprKind::InstanceOf(Box::new(first), self.type_name()?),
            };
            self.grow()?;
            first = Expr::new(self.span_from(start), kind);
            max = if level == RELATION_LEVEL { RELATION_LEVEL - 1 } else { level };
        }
    }

    /// Reads an operand of operators of at least `min`. A sign binds weaker than `**`, and may not
    /// follow another sign, except behind `*` and `**`.
    fn operand(&mut self, min: u8, left: Left) -> Res<Expr> {
        let Some(sign) = self.sign() else { return self.tight(left) };
        let start = self.at;
        self.bump();
        self.skip_newline();
        let inner = self.nested(|parser| {
            if min > SIGN_LEVEL {
                return parser.operand(min, Left::Inner);
            }
            if parser.sign().is_some() {
                return Err(parser.expected("an operand"));
            }
            parser.binary(POWER_LEVEL, Left::Inner)
        })?;
        self.grow()?;
        let kind = match self.signed_number(start, &inner) {
            Some(number) => ExprKind::Number(number),
            None => sign(Box::new(inner)),
        };
        Ok(Expr::new(self.span_from(start), kind))
    }

    /// Returns the number that a sign and the digits behind it make: `-2147483648` is an `int`.
    fn signed_number(&self, start: usize, inner: &Expr) -> Option<Number> {
        let sign = self.text_at(start);
        let is_number = matches!(inner.kind, ExprKind::Number(_));
        if !matches!(sign, "-" | "+") || !is_number || self.at != self.behind_newline(start + 1) + 1
        {
            return None;
        }
        Number::parse(&format!("{sign}{}", self.text_at(self.at - 1)))
    }

    fn sign(&self) -> Option<fn(Box<Expr>) -> ExprKind> {
        match self.kind() {
            Kind::Op("-") => Some(|e| ExprKind::Unary(UnaryOp::Minus, e)),
            Kind::Op("+") => Some(|e| ExprKind::Unary(UnaryOp::Plus, e)),
            Kind::Op("++") => Some(|e| ExprKind::Prefix(IncDec::Increment, e)),
            Kind::Op("--") => Some(|e| ExprKind::Prefix(IncDec::Decrement, e)),
            _ => None,
        }
    }

    /// Reads an operand that does not begin with a sign: `!e`, `~e`, a cast, or a path with `++`.
    fn tight(&mut self, left: Left) -> Res<Expr> {
        let start = self.at;
        let operator = match self.kind() {
            Kind::Op("!") => UnaryOp::Not,
            Kind::Op("~") => UnaryOp::Complement,
            Kind::Op("(") => match self.behind_cast(start) {
                Some(behind) => return self.cast(start, behind),
                None => return self.postfix(left),
            },
            _ => return self.postfix(left),
        };
        self.bump();
        self.skip_newline();
        let inner = self.nested(|parser| parser.operand(POWER_LEVEL + 1, Left::Inner))?;
        self.grow()?;
        Ok(Expr::new(self.span_from(start), ExprKind::Unary(operator, Box::new(inner))))
    }

    fn cast(&mut self, start: usize, behind: usize) -> Res<Expr> {
        self.bump();
        let primitive = self.is_primitive_at(self.at);
        let type_name = self.type_name()?;
        self.at = behind;
        let inner = self.nested(|parser| match primitive {
            true => parser.operand(POWER_LEVEL + 1, Left::Inner),
            false => parser.tight(Left::Inner),
        })?;
        self.grow()?;
        Ok(Expr::new(self.span_from(start), ExprKind::Cast(type_name, Box::new(inner))))
    }

    fn postfix(&mut self, left: Left) -> Res<Expr> {
        let start = self.at;
        let path = self.path(left)?;
        let change = match self.kind() {
            Kind::Op("++") => IncDec::Increment,
            Kind::Op("--") => IncDec::Decrement,
            _ => return Ok(path),
        };
        self.bump();
        self.grow()?;
        Ok(Expr::new(self.span_from(start), ExprKind::Postfix(change, Box::new(path))))
    }

    /// Reads an argument: an expression, a declaration or an annotation.
    pub(super) fn strict(&mut self) -> Res<Expr> {
        let start = self.at;
        if self.is_declaration_at(start) {
            let declaration = self.nested(|parser| parser.single_declaration())?;
            let kind = ExprKind::Declare(Box::new(declaration));
            return Ok(Expr::new(self.span_from(start), kind));
        }
        if self.is_op("@") {
            let annotation = self.annotation()?;
            let kind = ExprKind::Annotation(Box::new(annotation));
            return Ok(Expr::new(self.span_from(start), kind));
        }
        self.expr(Left::Inner)
    }

    /// Reports that there is no expression here.
    pub(super) fn no_expression(&mut self) -> Reported {
        self.expected("an expression")
    }
}

/// Returns whether something can be assigned to an expression.
fn is_assignable(target: &Expr) -> bool {
    match &target.bare().kind {
        ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Declare(_) => true,
        ExprKind::Assign(..) | ExprKind::AssignMany(..) => true,
        ExprKind::Member(member) => member.access != Access::Pointer,
        _ => false,
    }
}
