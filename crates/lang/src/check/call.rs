//! Calls and their arguments.

use super::checker::{Checker, types_of};
use super::model::Meaning;
use super::pure::Callee;
use super::type_expr::what_is;
use super::types::Type;
use crate::ast::{Expr, ExprKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Checks `f(a)` and returns its type.
    pub(super) fn call(&mut self, expr: &'a Expr, callee: &'a Expr, args: &'a [Expr]) -> Type {
        let ExprKind::Name(name) = &callee.kind else {
            let ty = self.expr(callee);
            return self.call_value(&ty, callee.span, args);
        };
        let Some(meaning) = self.resolve(name, callee.span, callee.id) else {
            self.exprs(args);
            return Type::Any;
        };
        let declared = self.names.get(name.as_str()).map(|(_, span)| *span);
        match meaning {
            Meaning::Function(id) => {
                self.set_meaning(expr.id, meaning);
                self.calls(Callee::Function(id), callee.span);
                let info = &self.program.functions[id.index()];
                let (params, result) = (types_of(&info.params), info.result.clone());
                self.set_type(callee.id, &Type::Fn(params.clone(), Box::new(result.clone())));
                self.arguments("argument", &params, args, callee.span, declared);
                result
            }
            Meaning::Task(id) if self.program.tasks[id.index()].procedure => {
                self.set_meaning(expr.id, meaning);
                self.calls(Callee::Task(id), callee.span);
                let params = types_of(&self.program.tasks[id.index()].params);
                self.arguments("argument", &params, args, callee.span, declared);
                Type::Nothing
            }
            Meaning::Local(_) | Meaning::Global(_) | Meaning::Const(_) => {
                let ty = self.expr(callee);
                self.call_value(&ty, callee.span, args)
            }
            other => {
                self.exprs(args);
                self.not_callable(name, callee.span, other, declared);
                Type::Any
            }
        }
    }

    fn not_callable(&mut self, name: &str, span: Span, meaning: Meaning, declared: Option<Span>) {
        let message = format!("`{name}` is {}, which is not called", what_is(meaning));
        let diagnostic = Diagnostic::new(Code::NOT_CALLABLE, span, message).declared(declared);
        let before = span.before();
        self.report(match meaning {
            Meaning::Task(_) => diagnostic
                .suggest("a task is posted", before, "post ")
                .note("to call it as well, declare it with `procedure`"),
            Meaning::Class(_) => diagnostic.suggest("an object is made with `new`", before, "new "),
            _ => diagnostic,
        });
    }

    /// Checks a call of a value and returns the type of the result.
    pub(super) fn call_value(&mut self, ty: &Type, span: Span, args: &'a [Expr]) -> Type {
        match self.solid(ty) {
            Type::Fn(params, result) => {
                self.arguments("argument", &params, args, span, None);
                args.iter().for_each(|arg| self.never_checked(arg));
                *result
            }
            Type::Any | Type::Unknown(_) | Type::Never => {
                args.iter().for_each(|arg| self.hidden(arg));
                Type::Any
            }
            other => {
                self.exprs(args);
                let message = format!("a value of type `{}` is not called", self.show(&other));
                self.error(Code::NOT_CALLABLE, span, message);
                Type::Any
            }
        }
    }

    /// Checks arguments against parameters. `what` is "argument" or "value".
    pub(super) fn arguments(
        &mut self,
        what: &str,
        params: &[Type],
        args: &'a [Expr],
        callee: Span,
        declared: Option<Span>,
    ) {
        if params.len() != args.len() {
            let plural = if params.len() == 1 { "" } else { "s" };
            let message = format!("expected {} {what}{plural}, found {}", params.len(), args.len());
            let mut diagnostic = Diagnostic::new(Code::ARGUMENT_COUNT, callee, message);
            if let Some(extra) = args.get(params.len()) {
                diagnostic = diagnostic.also(extra.span, "one too many");
            }
            self.report(diagnostic.declared(declared));
        }
        for (at, arg) in args.iter().enumerate() {
            match params.get(at) {
                Some(param) => drop(self.expect(arg, param)),
                None => drop(self.expr(arg)),
            }
        }
    }
}
