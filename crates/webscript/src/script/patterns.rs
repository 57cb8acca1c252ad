//! Destructuring: what a pattern reads of a value, and which variables it writes.

use super::access::{flags, parentheses};
use super::bindings::Variable;
use super::walk::{Walk, quoted};
use crate::sites::Access;
use oxc_ast::ast::{
    AssignmentTarget, AssignmentTargetMaybeDefault, AssignmentTargetProperty, BindingPattern,
    Expression, ForStatementLeft, IdentifierReference, ObjectAssignmentTarget, ObjectPattern,
    PropertyKey, VariableDeclaration, VariableDeclarationKind, VariableDeclarator,
};
use oxc_ast_visit::Visit;
use oxc_span::GetSpan;
use oxc_syntax::symbol::SymbolId;
use std::fmt::Write;

/// Returns the keys of a pattern as a list of JavaScript: names, each with the list of its own
/// pattern behind it if it has one. Computed keys are left out.
pub(super) fn keys_of_binding(pattern: &ObjectPattern<'_>) -> String {
    let mut out = String::from("[");
    for property in &pattern.properties {
        let Some(key) = key_of(&property.key, property.computed) else { continue };
        let _ = write!(out, "{key},");
        let value = match &property.value {
            BindingPattern::AssignmentPattern(inner) => &inner.left,
            value => value,
        };
        if let BindingPattern::ObjectPattern(inner) = value {
            let _ = write!(out, "{},", keys_of_binding(inner));
        }
    }
    out.push_str(if pattern.rest.is_some() { "0]" } else { "]" });
    out
}

fn keys_of_target(pattern: &ObjectAssignmentTarget<'_>) -> String {
    let mut out = String::from("[");
    for property in &pattern.properties {
        match property {
            AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(it) => {
                let _ = write!(out, "{},", quoted(&it.binding.name));
            }
            AssignmentTargetProperty::AssignmentTargetPropertyProperty(it) => {
                let Some(key) = key_of(&it.name, it.computed) else { continue };
                let _ = write!(out, "{key},");
                let inner = match &it.binding {
                    AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(it) => {
                        Some(&it.binding)
                    }
                    other => other.as_assignment_target(),
                };
                if let Some(AssignmentTarget::ObjectAssignmentTarget(inner)) = inner {
                    let _ = write!(out, "{},", keys_of_target(inner));
                }
            }
        }
    }
    out.push_str(if pattern.rest.is_some() { "0]" } else { "]" });
    out
}

fn key_of(key: &PropertyKey<'_>, computed: bool) -> Option<String> {
    match key {
        PropertyKey::StaticIdentifier(name) if !computed => Some(quoted(&name.name)),
        PropertyKey::StringLiteral(text) if !text.lone_surrogates => Some(quoted(&text.value)),
        PropertyKey::NumericLiteral(number) if !computed => Some(format!("{}", number.value)),
        _ => None,
    }
}

/// Returns whether an expression takes the name of the variable that it is assigned to.
fn is_anonymous(expression: &Expression<'_>) -> bool {
    match expression.without_parentheses() {
        Expression::FunctionExpression(function) => function.id.is_none(),
        Expression::ClassExpression(class) => class.id.is_none(),
        Expression::ArrowFunctionExpression(_) => true,
        _ => false,
    }
}

impl Walk<'_, '_> {
    /// Visits the value of a pattern, logs by `function` what is read of it, and then the writes
    /// (calls, each with a comma before it).
    pub(super) fn read_by_pattern(&mut self, value: &Expression<'_>, function: &str, writes: &str) {
        let site = self.site(value.span().start, "[]", Access::Read);
        let (open, close) = parentheses(value);
        let (before, after) = (format!("{function}({open}"), format!("{close},{site})"));
        self.read_with(value, &before, &after, writes);
    }

    fn read_with(&mut self, value: &Expression<'_>, before: &str, after: &str, writes: &str) {
        let (open, close) =
            if writes.is_empty() { ("", String::new()) } else { ("__aoA(", format!("{writes})")) };
        let (before, after) = (format!("{open}{before}"), format!("{after}{close}"));
        self.wrap(value.span(), &before, &after, |this| this.visit_expression(value));
    }

    fn read_object(&mut self, value: &Expression<'_>, keys: &str, writes: &str) {
        let site = self.site(value.span().start, "{}", Access::Read);
        self.read_with(value, "__aoM(", &format!(",{keys},{site})"), writes);
    }

    /// Visits the right side of a destructuring assignment.
    pub(super) fn read_by_assignment(
        &mut self,
        target: &AssignmentTarget<'_>,
        value: &Expression<'_>,
        writes: &str,
    ) {
        if let AssignmentTarget::ObjectAssignmentTarget(pattern) = target {
            self.read_object(value, &keys_of_target(pattern), writes);
        } else {
            self.read_by_pattern(value, "__aoI", writes);
        }
    }

    /// Returns calls that log writes of the variables in a pattern, each with a comma before it.
    pub(super) fn target_writes(&mut self, target: &AssignmentTarget<'_>) -> String {
        let mut names = Names::default();
        names.visit_assignment_target(target);
        let mut calls = String::new();
        for (name, at, variable) in self.resolve(&names.found) {
            self.blind_write(&mut calls, variable, &name, at);
        }
        calls
    }

    fn resolve(
        &self,
        names: &[(String, u32, Option<oxc_syntax::reference::ReferenceId>)],
    ) -> Vec<(String, u32, Variable)> {
        let resolve = |(name, at, id): &(String, u32, Option<_>)| {
            let reference = id.map(|id| self.scoping.get_reference(id));
            let variable = reference.map_or(Variable::Quiet, |reference| {
                self.bindings.reference(reference, self.scoping, *at)
            });
            (name.clone(), *at, variable)
        };
        names.iter().map(resolve).collect()
    }

    fn blind_write(&mut self, calls: &mut String, variable: Variable, name: &str, at: u32) {
        if let Some(call) = self.blind_call(variable, name, at) {
            let _ = write!(calls, ",{call}");
        }
    }

    fn blind_call(&mut self, variable: Variable, name: &str, at: u32) -> Option<String> {
        if variable == Variable::Quiet {
            return None;
        }
        let site = self.site(at, name, Access::Write);
        Some(match variable {
            Variable::Local(scope, number) => {
                format!("__aoL({},{number},{site})", self.scope_object_of(scope))
            }
            _ => format!("__aoH({},{site},{})", quoted(name), flags(Access::Write)),
        })
    }

    /// Returns calls that log writes of the variables in the head of a loop.
    pub(super) fn loop_writes(&mut self, left: &ForStatementLeft<'_>) -> String {
        if let ForStatementLeft::VariableDeclaration(declaration) = left {
            let mut calls = String::new();
            for declarator in &declaration.declarations {
                self.declared_writes(&mut calls, &declarator.id);
            }
            return calls;
        }
        left.as_assignment_target().map_or_else(String::new, |target| self.target_writes(target))
    }

    fn declared_writes(&mut self, calls: &mut String, pattern: &BindingPattern<'_>) {
        for name in pattern.get_binding_identifiers() {
            let variable = self.declared(name.symbol_id.get());
            self.blind_write(calls, variable, &name.name, name.span.start);
        }
    }

    fn declared(&self, symbol: Option<SymbolId>) -> Variable {
        symbol.map_or(Variable::Quiet, |symbol| self.bindings.symbol(symbol))
    }

    /// Visits a declaration of variables.
    pub(super) fn declaration(&mut self, it: &VariableDeclaration<'_>) {
        let may_add = matches!(
            it.kind,
            VariableDeclarationKind::Var
                | VariableDeclarationKind::Let
                | VariableDeclarationKind::Const
        );
        for declarator in &it.declarations {
            self.declarator(declarator, may_add);
        }
    }

    fn declarator(&mut self, it: &VariableDeclarator<'_>, may_add: bool) {
        self.visit_binding_pattern(&it.id);
        let Some(init) = &it.init else { return };
        match &it.id {
            BindingPattern::BindingIdentifier(name) => {
                let variable = self.declared(name.symbol_id.get());
                self.initial(it, init, (variable, &name.name, name.span.start), may_add);
            }
            BindingPattern::ObjectPattern(pattern) => {
                let mut writes = String::new();
                self.declared_writes(&mut writes, &it.id);
                self.read_object(init, &keys_of_binding(pattern), &writes);
            }
            _ => {
                let mut writes = String::new();
                self.declared_writes(&mut writes, &it.id);
                self.read_by_pattern(init, "__aoI", &writes);
            }
        }
    }

    /// Visits the first value of a variable. A function that takes the name of the variable cannot
    /// be wrapped, so an empty pattern before it makes the call: `let {}=call, f = () => 1`.
    fn initial(
        &mut self,
        it: &VariableDeclarator<'_>,
        init: &Expression<'_>,
        (variable, name, at): (Variable, &str, u32),
        may_add: bool,
    ) {
        if is_anonymous(init) {
            let call = self.blind_call(variable, name, at).filter(|_| may_add);
            if let Some(call) = call {
                self.edits.open(it.span.start, &format!("{{}}={call},"));
            }
            self.visit_expression(init);
            return;
        }
        if variable == Variable::Quiet {
            self.visit_expression(init);
            return;
        }
        let site = self.site(at, name, Access::Write);
        let before = match variable {
            Variable::Local(scope, number) => {
                format!("__aoS({},{number},{site},2,", self.scope_object_of(scope))
            }
            _ => format!("__aoQ(__aoH({},{site},2),", quoted(name)),
        };
        self.wrap(init.span(), &before, ")", |this| this.visit_expression(init));
    }
}

/// The names that a pattern assigns to.
#[derive(Default)]
struct Names {
    found: Vec<(String, u32, Option<oxc_syntax::reference::ReferenceId>)>,
}

impl Names {
    fn add(&mut self, name: &IdentifierReference<'_>) {
        self.found.push((name.name.to_string(), name.span.start, name.reference_id.get()));
    }
}

impl<'a> Visit<'a> for Names {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.add(it);
    }

    fn visit_expression(&mut self, _: &Expression<'a>) {}

    fn visit_member_expression(&mut self, _: &oxc_ast::ast::MemberExpression<'a>) {}
}
