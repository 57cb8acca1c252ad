//! Whether an expression suspends the function that it is in.

use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, Expression, Function, YieldExpression,
};
use oxc_ast_visit::Visit;
use oxc_syntax::scope::ScopeFlags;

#[derive(Default)]
struct Suspends {
    found: bool,
}

impl<'a> Visit<'a> for Suspends {
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}

    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.found = true;
    }

    fn visit_yield_expression(&mut self, _: &YieldExpression<'a>) {
        self.found = true;
    }
}

/// Returns whether an expression has an `await` or a `yield` of the function that it is in. It
/// visits the expression once.
pub(super) fn suspends(expression: &Expression<'_>) -> bool {
    let mut visit = Suspends::default();
    visit.visit_expression(expression);
    visit.found
}
