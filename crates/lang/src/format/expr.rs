//! Expressions, types and patterns.

use super::Formatter;
use super::doc::{Doc, all, braced_list, group, indent, list, separated, text};
use crate::ast::{
    BinaryOp, Closure, ClosureBody, Expr, ExprKind, FieldInit, Param, Pattern, PatternKind, Post,
    PostTarget, Ref, TypeExpr, TypeKind, UnaryOp,
};

impl Formatter<'_> {
    /// `sign` and a part, if there is one.
    pub(super) fn optional<T>(
        &mut self,
        sign: &str,
        part: Option<&T>,
        print: fn(&mut Self, &T) -> Doc,
    ) -> Doc {
        match part {
            Some(part) => all([text(sign), print(self, part)]),
            None => text(""),
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Doc {
        match &expr.kind {
            // Literals stay as the author wrote them.
            ExprKind::Int(_) | ExprKind::Str(_) => self.written(expr),
            ExprKind::Bool(value) => text(value.to_string()),
            ExprKind::Null => text("null"),
            ExprKind::Name(name) => text(name),
            ExprKind::SelfRef => text("self"),
            ExprKind::Paren(inner) => all([text("("), self.expr(inner), text(")")]),
            ExprKind::List(elements) => list("[", self.exprs(elements), "]"),
            ExprKind::Set(elements) => list("set[", self.exprs(elements), "]"),
            ExprKind::Map(entries) => {
                let entry = |(key, value): &(Expr, Expr)| {
                    all([self.expr(key), text(": "), self.expr(value)])
                };
                list("map[", entries.iter().map(entry).collect(), "]")
            }
            ExprKind::Repeat(value, count) => {
                all([text("["), self.expr(value), text("; "), self.expr(count), text("]")])
            }
            ExprKind::Record { name, fields, base } => {
                let mut inits = self.field_inits(fields);
                if let Some(base) = base {
                    inits.push(all([text(".."), self.expr(base)]));
                }
                braced_list(&format!("{} {{", name.name), inits, "}")
            }
            ExprKind::New { class, fields } if fields.is_empty() => {
                text(format!("new {}()", class.name))
            }
            ExprKind::New { class, fields } => {
                braced_list(&format!("new {} {{", class.name), self.field_inits(fields), "}")
            }
            ExprKind::Closure(closure) => self.closure(closure),
            ExprKind::If(node) => self.if_doc(node, self.is_one_line(expr.span)),
            ExprKind::Match(node) => self.match_doc(node, expr.span),
            ExprKind::Unary(op, operand) => {
                let sign = if *op == UnaryOp::Not { "!" } else { "-" };
                // `- -1` must not become `--1`.
                let apart = *op == UnaryOp::Neg && begins_with_minus(operand);
                all([text(if apart { "- " } else { sign }), self.expr(operand)])
            }
            ExprKind::Binary { op: BinaryOp::Range, left, right, .. } => {
                all([self.expr(left), text(".."), self.expr(right)])
            }
            ExprKind::Binary { op, left, right, .. } => self.chain(*op, left, right),
            ExprKind::Field { base, name } => all([self.expr(base), text("."), text(&name.name)]),
            ExprKind::Index { base, index } => {
                all([self.expr(base), text("["), self.expr(index), text("]")])
            }
            ExprKind::Call { callee, args } => all([self.expr(callee), self.args(args)]),
            ExprKind::Method { receiver, name, args } => {
                all([self.expr(receiver), text("."), text(&name.name), self.args(args)])
            }
            ExprKind::Enabled(event) => all([text("enabled("), self.reference(event), text(")")]),
            ExprKind::Post(post) => self.post(post),
            ExprKind::Fork(fork) => {
                all([text("fork "), text(&fork.function.name), self.args(&fork.args)])
            }
            ExprKind::Choose(from) => all([text("choose "), self.expr(from)]),
            ExprKind::Error => self.written(expr),
        }
    }

    fn written(&self, expr: &Expr) -> Doc {
        text(expr.span.of(self.text))
    }

    fn exprs(&mut self, exprs: &[Expr]) -> Vec<Doc> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn field_inits(&mut self, fields: &[FieldInit]) -> Vec<Doc> {
        let init =
            |field: &FieldInit| all([text(&field.name.name), text(": "), self.expr(&field.value)]);
        fields.iter().map(init).collect()
    }

    /// Lays out a sequence of operators of one strength, which break together.
    fn chain(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Doc {
        let mut operands = vec![(op, right)];
        let mut first = left;
        while let ExprKind::Binary { op: inner, left, right, .. } = &first.kind {
            if family(*inner) != family(op) {
                break;
            }
            operands.push((*inner, right));
            first = left;
        }
        let first = self.expr(first);
        let mut rest = Vec::new();
        for (op, operand) in operands.into_iter().rev() {
            rest.extend([Doc::Line, text(op.sign()), text(" "), self.expr(operand)]);
        }
        group(all([first, indent(Doc::All(rest))]))
    }

    /// Lays out arguments. A function with a block as the last argument does not move to its own
    /// line.
    pub(super) fn args(&mut self, args: &[Expr]) -> Doc {
        let hugs = args.last().is_some_and(|last| match &last.kind {
            ExprKind::Closure(closure) => matches!(closure.body, ClosureBody::Block(_)),
            _ => false,
        });
        if !hugs {
            return list("(", self.exprs(args), ")");
        }
        let args = separated(self.exprs(args), &[text(", ")]);
        all([text("("), args, text(")")])
    }

    fn closure(&mut self, closure: &Closure) -> Doc {
        let params = self.params(&closure.params);
        let result = self.optional(" -> ", closure.result.as_ref(), Self::ty);
        let body = match &closure.body {
            ClosureBody::Expr(value) => self.expr(value),
            ClosureBody::Block(block) => group(self.block(block, self.is_one_line(block.span))),
        };
        all([text("fn"), params, result, text(" "), body])
    }

    pub(super) fn params(&mut self, params: &[Param]) -> Doc {
        let param = |param: &Param| {
            all([text(&param.name.name), self.optional(": ", param.ty.as_ref(), Self::ty)])
        };
        list("(", params.iter().map(param).collect(), ")")
    }

    fn post(&mut self, post: &Post) -> Doc {
        let mut target = None;
        let word = match (&post.target, post.async_form) {
            (PostTarget::Any, true) => text("async[any] "),
            (PostTarget::Any, false) => text("post any "),
            (PostTarget::Handler(handler), true) => {
                all([text("async["), self.reference(handler), text("] ")])
            }
            (PostTarget::Handler(handler), false) => {
                target = Some(handler);
                text("post ")
            }
            (PostTarget::Default, _) => text("post "),
        };
        all([
            word,
            text(&post.task.name),
            self.args(&post.args),
            self.optional(" to ", target, Self::reference),
            self.optional(" after ", post.after.as_ref(), Self::expr),
            text(if post.front { " front" } else { "" }),
        ])
    }

    pub(super) fn reference(&mut self, reference: &Ref) -> Doc {
        match &reference.index {
            Some(index) => {
                all([text(&reference.name.name), text("["), self.expr(index), text("]")])
            }
            None => text(&reference.name.name),
        }
    }

    pub(super) fn ty(&mut self, ty: &TypeExpr) -> Doc {
        match &ty.kind {
            TypeKind::Named(name) => text(&name.name),
            TypeKind::List(t) => all([text("list<"), self.ty(t), text(">")]),
            TypeKind::Set(t) => all([text("set<"), self.ty(t), text(">")]),
            TypeKind::Map(k, v) => {
                all([text("map<"), self.ty(k), text(", "), self.ty(v), text(">")])
            }
            // `fn() -> T?` is a function that returns `T?`.
            TypeKind::Nullable(t) if matches!(t.kind, TypeKind::Fn(..)) => {
                all([text("("), self.ty(t), text(")?")])
            }
            TypeKind::Nullable(t) => all([self.ty(t), text("?")]),
            TypeKind::Array(t, size) => {
                all([text("["), self.ty(t), text("; "), self.expr(size), text("]")])
            }
            TypeKind::Fn(params, result) => {
                let params = list("fn(", params.iter().map(|t| self.ty(t)).collect(), ")");
                all([params, self.optional(" -> ", result.as_deref(), Self::ty)])
            }
            TypeKind::Error => text(ty.span.of(self.text)),
        }
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) -> Doc {
        match &pattern.kind {
            PatternKind::Wildcard => text("_"),
            PatternKind::Bool(value) => text(value.to_string()),
            PatternKind::Null => text("null"),
            PatternKind::Binding(name) => text(&name.name),
            PatternKind::Int(value) => {
                // Keep the digits as written. A comment may separate them from the sign.
                let written = pattern.span.of(self.text);
                let digits = written.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
                text(format!("{}{}", if *value < 0 { "-" } else { "" }, digits.unwrap_or("0")))
            }
            PatternKind::Str(_) | PatternKind::Error => text(pattern.span.of(self.text)),
            PatternKind::Variant { enum_name, variant, args } => {
                let name = text(format!("{}.{}", enum_name.name, variant.name));
                if args.is_empty() {
                    return name;
                }
                let args = args.iter().map(|arg| self.pattern(arg)).collect();
                all([name, list("(", args, ")")])
            }
        }
    }
}

/// Returns the family of an operator. The operators of a family break together.
fn family(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        BinaryOp::Add | BinaryOp::Sub => 3,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 4,
        // Comparisons do not chain; `in` may.
        BinaryOp::In => 5,
        _ => 0,
    }
}

fn begins_with_minus(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary(UnaryOp::Neg, _) => true,
        ExprKind::Int(value) => *value < 0,
        ExprKind::Field { base: e, .. }
        | ExprKind::Index { base: e, .. }
        | ExprKind::Call { callee: e, .. }
        | ExprKind::Method { receiver: e, .. } => begins_with_minus(e),
        _ => false,
    }
}
