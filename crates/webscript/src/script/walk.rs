//! The walk over the tree that inserts the calls of the runtime.

use super::Kind;
use super::bindings::{Bindings, Door, Variable};
use super::suspend::suspends;
use crate::edits::Edits;
use crate::lines::Lines;
use crate::sites::{Access, Sites};
use oxc_ast::ast::{
    Argument, ArrowFunctionBody, ArrowFunctionExpression, AssignmentExpression,
    AssignmentTargetPropertyIdentifier, BinaryExpression, BindingPattern, BlockStatement,
    CallExpression, ChainExpression, Class, ComputedMemberExpression, Decorator, ExportSpecifier,
    Expression, ForInStatement, ForOfStatement, Function, IdentifierReference, NewExpression,
    ObjectProperty, ObjectPropertyKind, PrivateFieldExpression, Program, SimpleAssignmentTarget,
    SpreadElement, Statement, StaticBlock, StaticMemberExpression, TaggedTemplateExpression,
    UnaryExpression, UpdateExpression, VariableDeclaration, YieldExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::{BinaryOperator, UnaryOperator};
use oxc_syntax::scope::{ScopeFlags, ScopeId};
use std::fmt::Write;

/// An optional chain that the walk is in.
#[derive(Clone, Copy)]
pub(super) struct Chain {
    /// Where all its links begin.
    pub(super) start: u32,
    /// Where its first optional link ends.
    pub(super) first_end: u32,
    /// Whether links after the first optional one are logged.
    pub(super) logs_rest: bool,
}

/// The state of the walk.
pub(super) struct Walk<'w, 's> {
    pub(super) text: &'w str,
    pub(super) kind: Kind,
    pub(super) scoping: &'w Scoping,
    pub(super) bindings: &'w Bindings,
    lines: &'w Lines<'w>,
    sites: &'s mut Sites,
    pub(super) edits: &'s mut Edits,
    pub(super) chains: Vec<Chain>,
    /// How many functions that have their own `this` are around.
    pub(super) this_depth: u32,
    /// The chain in parentheses whose value keeps its `this`: `(a?.b.c)()`.
    keeps_this: Option<Span>,
}

impl<'w, 's> Walk<'w, 's> {
    pub(super) fn new(
        text: &'w str,
        kind: Kind,
        scoping: &'w Scoping,
        bindings: &'w Bindings,
        lines: &'w Lines<'w>,
        sites: &'s mut Sites,
        edits: &'s mut Edits,
    ) -> Self {
        Self {
            text,
            kind,
            scoping,
            bindings,
            lines,
            sites,
            edits,
            chains: Vec::new(),
            this_depth: 0,
            keeps_this: None,
        }
    }

    /// Inserts the calls of a whole script.
    pub(super) fn program(&mut self, program: &Program<'_>) {
        if matches!(self.kind, Kind::Classic | Kind::Eval) {
            self.global_functions(program);
        } else if let Some(scope) = program.scope_id.get() {
            self.scope_object(scope, "var", "");
        }
        self.visit_program(program);
    }

    /// Functions and classes at the top of a classic script are written when it begins.
    fn global_functions(&mut self, program: &Program<'_>) {
        let mut first = None;
        let mut names = String::new();
        for statement in &program.body {
            let id = match statement {
                Statement::FunctionDeclaration(function) => &function.id,
                Statement::ClassDeclaration(class) if self.kind == Kind::Classic => &class.id,
                _ => continue,
            };
            let Some(id) = id else { continue };
            first = first.or(Some(id.span.start));
            let separator = if names.is_empty() { "" } else { "," };
            let _ = write!(names, "{separator}{}", id.name);
        }
        let Some(at) = first else { return };
        let start = program.hashbang.as_ref().map_or(0, |hashbang| hashbang.span.end);
        // A hashbang ends with its line; a script has nothing else before its directives.
        let (offset, after) = super::bindings::after_directives(start, &program.directives);
        let offset = if offset == start {
            program.body.first().map_or(start, |s| s.span().start)
        } else {
            offset
        };
        let site = self.site(at, &names, Access::Write);
        let before = if after { ";" } else { "" };
        self.edits.open(offset, &format!("{before}__aoF({},{site});", quoted(&names)));
    }

    /// Declares the scope object of a scope, if its variables are logged.
    fn scope_object(&mut self, scope: ScopeId, keyword: &str, more: &str) {
        let names = self.bindings.owners.get(&scope);
        if names.is_none() && more.is_empty() {
            return;
        }
        let object = names.map(|_| {
            let id = scope.index();
            format!("{keyword} __ao_s{id}=__aoN({});", self.scope_text(scope))
        });
        let object = object.unwrap_or_default();
        match self.bindings.doors.get(&scope) {
            Some(Door::Statement(offset, after)) => {
                let before = if *after { ";" } else { "" };
                self.edits.open(*offset, &format!("{before}{object}{more}"));
            }
            Some(Door::Expression(span)) => {
                self.edits.open(span.start, &format!("{{{object}{more}return "));
            }
            None => {}
        }
    }

    /// Returns where a scope begins and which variables it logs, as a literal.
    fn scope_text(&self, scope: ScopeId) -> String {
        let offset = match self.bindings.doors.get(&scope) {
            Some(Door::Statement(offset, _)) => *offset,
            Some(Door::Expression(span)) => span.start,
            None => 0,
        };
        let place = self.place(offset);
        let names =
            self.bindings.owners.get(&scope).map(|names| names.join(",")).unwrap_or_default();
        quoted(&format!("{}:{}:{}|{names}", place.source.0, place.line, place.column))
    }

    /// Returns the expression for the scope object of a scope.
    pub(super) fn scope_object_of(&self, scope: ScopeId) -> String {
        let is_script = matches!(self.kind, Kind::Classic | Kind::Eval);
        if is_script && scope == self.scoping.root_scope_id() {
            format!("__aoN0({})", self.scope_text(scope))
        } else {
            format!("__ao_s{}", scope.index())
        }
    }

    fn place(&self, offset: u32) -> crate::sites::Origin {
        self.lines.place(usize::try_from(offset).unwrap_or(usize::MAX))
    }

    /// Adds a site, and returns its id.
    pub(super) fn site(&mut self, offset: u32, name: &str, access: Access) -> u32 {
        let place = self.place(offset);
        self.sites.add(place, name, access)
    }

    /// Wraps an expression.
    pub(super) fn wrap(
        &mut self,
        span: Span,
        before: &str,
        after: &str,
        visit: impl FnOnce(&mut Self),
    ) {
        self.edits.open(span.start, before);
        visit(self);
        self.edits.close(span.end, after);
    }

    /// Returns what a name stands for.
    pub(super) fn variable(&self, it: &IdentifierReference<'_>) -> Variable {
        let Some(id) = it.reference_id.get() else { return Variable::Quiet };
        let reference = self.scoping.get_reference(id);
        let variable = self.bindings.reference(reference, self.scoping, it.span.start);
        let is_free = reference.symbol_id().is_none();
        let is_quiet = variable == Variable::Global && is_free && is_constant(&it.name, self.kind);
        if is_quiet { Variable::Quiet } else { variable }
    }

    /// Returns the call that logs a read of a global variable.
    pub(super) fn global_read(&mut self, it: &IdentifierReference<'_>) -> String {
        let site = self.site(it.span.start, &it.name, Access::Read);
        let name = quoted(&it.name);
        if self.kind == Kind::Handler && self.this_depth == 0 {
            format!("__aoT(this,{name},{site})")
        } else {
            format!("__aoG({name},{site})")
        }
    }

    fn direct_eval(&mut self, it: &CallExpression<'_>) -> bool {
        let is_eval = matches!(&it.callee, Expression::Identifier(name) if name.name == "eval"
            && name.reference_id.get().is_some_and(|id| self.scoping.get_reference(id).symbol_id().is_none()));
        if !is_eval || it.optional {
            return false;
        }
        let mut is_first = true;
        for argument in &it.arguments {
            match argument.as_expression() {
                Some(text) if is_first => {
                    self.wrap(text.span(), "__aoE(eval,", ")", |this| this.visit_expression(text));
                }
                _ => self.visit_argument(argument),
            }
            is_first = false;
        }
        true
    }

    /// Rewrites a call in a handler whose function may be a method of the element, its form or the
    /// document, such as `submit()`: that is its `this`, so only the whole call can be wrapped. An
    /// optional call is not logged.
    fn element_call(&mut self, it: &CallExpression<'_>) -> bool {
        let Expression::Identifier(name) = it.callee.without_parentheses() else { return false };
        if self.kind != Kind::Handler || self.variable(name) != Variable::Global {
            return false;
        }
        let arguments = |this: &mut Self| {
            it.arguments.iter().for_each(|argument| this.visit_argument(argument));
        };
        if it.optional {
            arguments(self);
        } else {
            let read = self.global_read(name);
            self.wrap(it.span, &format!("__aoQ({read},"), ")", arguments);
        }
        true
    }

    /// Returns the statements that log what the patterns among the parameters read. Only functions
    /// with `arguments` of their own can.
    fn parameter_reads(&mut self, it: &Function<'_>) -> String {
        let mut calls = String::new();
        let shadows = it.scope_id.get().is_some_and(|scope| {
            self.scoping.get_bindings(scope).keys().any(|name| *name == "arguments")
        });
        if shadows {
            return calls;
        }
        for (number, parameter) in it.params.items.iter().enumerate() {
            if let BindingPattern::ObjectPattern(pattern) = &parameter.pattern {
                let keys = super::patterns::keys_of_binding(pattern);
                let site = self.site(pattern.span.start, "{}", Access::Read);
                let _ = write!(calls, "__aoM(arguments[{number}],{keys},{site});");
            }
        }
        calls
    }

    fn keys(&mut self, expression: &Expression<'_>) {
        let site = self.site(expression.span().start, "keys", Access::Read);
        let after = format!(",[0],{site})");
        self.wrap(expression.span(), "__aoM(", &after, |this| this.visit_expression(expression));
    }

    /// Visits what is called: a chain in parentheses keeps its `this`, so it is not wrapped.
    fn callee(&mut self, it: &Expression<'_>) {
        if let Expression::ParenthesizedExpression(inner) = it
            && matches!(inner.expression.without_parentheses(), Expression::ChainExpression(_))
        {
            self.keeps_this = Some(inner.expression.without_parentheses().span());
        }
        self.visit_expression(it);
    }

    fn block(&mut self, scope: Option<ScopeId>) {
        if let Some(scope) = scope {
            self.scope_object(scope, "let", "");
        }
    }
}

/// Returns a text as a string literal of JavaScript.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            // `</script>` and `<!--` must not appear in a page.
            '<' => out.push_str("\\x3c"),
            '\u{0}'..='\u{1f}' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

/// Returns whether a free name stands for the same in every event: names of the language that
/// programs do not replace.
fn is_constant(name: &str, kind: Kind) -> bool {
    const NAMES: &[&str] = &[
        "arguments",
        "undefined",
        "NaN",
        "Infinity",
        "globalThis",
        "window",
        "self",
        "document",
        "Math",
        "JSON",
        "Object",
        "Array",
        "String",
        "Number",
        "Boolean",
        "Date",
        "RegExp",
        "Error",
        "TypeError",
        "RangeError",
        "SyntaxError",
        "Function",
        "Symbol",
        "parseInt",
        "parseFloat",
        "isNaN",
        "isFinite",
        "console",
        "Reflect",
        "eval",
    ];
    NAMES.contains(&name) || (kind == Kind::Handler && name == "event")
}

impl<'a> Visit<'a> for Walk<'_, '_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        match self.variable(it) {
            Variable::Quiet => {}
            Variable::Global => {
                let read = self.global_read(it);
                self.wrap(it.span, &format!("__aoQ({read},"), ")", |_| {});
            }
            Variable::Local(scope, number) => {
                let site = self.site(it.span.start, &it.name, Access::Read);
                let before = format!("__aoV({},{number},{site},", self.scope_object_of(scope));
                self.wrap(it.span, &before, ")", |_| {});
            }
        }
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        self.static_member(it, Access::Read);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        self.computed_member(it, Access::Read);
    }

    fn visit_private_field_expression(&mut self, it: &PrivateFieldExpression<'a>) {
        self.private_member(it, Access::Read);
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        self.target(it, Access::Write);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        self.assignment(it);
    }

    fn visit_update_expression(&mut self, it: &UpdateExpression<'a>) {
        self.update(it);
    }

    fn visit_assignment_target_property_identifier(
        &mut self,
        it: &AssignmentTargetPropertyIdentifier<'a>,
    ) {
        if let Some(init) = &it.init {
            self.visit_expression(init);
        }
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        self.declaration(it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.visit_for_statement_left(&it.left);
        let writes = self.loop_writes(&it.left);
        self.read_by_pattern(&it.right, "__aoI", &writes);
        self.visit_statement(&it.body);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.visit_for_statement_left(&it.left);
        let writes = self.loop_writes(&it.left);
        self.read_by_pattern(&it.right, "__aoJ", &writes);
        self.visit_statement(&it.body);
    }

    fn visit_spread_element(&mut self, it: &SpreadElement<'a>) {
        self.read_by_pattern(&it.argument, "__aoI", "");
    }

    fn visit_object_property_kind(&mut self, it: &ObjectPropertyKind<'a>) {
        match it {
            ObjectPropertyKind::SpreadProperty(spread) => self.keys(&spread.argument),
            ObjectPropertyKind::ObjectProperty(property) => self.visit_object_property(property),
        }
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        if it.shorthand {
            if let Expression::Identifier(name) = &it.value
                && self.variable(name) != Variable::Quiet
            {
                let text = name.span.source_text(self.text);
                let key = if name.name == "__proto__" { "[\"__proto__\"]" } else { text };
                self.edits.open(name.span.start, &format!("{key}:"));
            }
            self.visit_expression(&it.value);
            return;
        }
        walk::walk_object_property(self, it);
    }

    fn visit_yield_expression(&mut self, it: &YieldExpression<'a>) {
        match &it.argument {
            Some(argument) if it.delegate => self.read_by_pattern(argument, "__aoI", ""),
            Some(argument) => self.visit_expression(argument),
            None => {}
        }
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        if it.operator != BinaryOperator::In || suspends(&it.left) || suspends(&it.right) {
            walk::walk_binary_expression(self, it);
            return;
        }
        let name = it.left.span().source_text(self.text);
        let site = self.site(it.span.start, name, Access::Read);
        if let Expression::StringLiteral(key) = &it.left {
            let after = format!(",{},{site})", key.span.source_text(self.text));
            self.wrap(it.right.span(), "__aoR(", &after, |this| this.visit_expression(&it.right));
            return;
        }
        let after = format!(",{site})");
        self.wrap(it.left.span(), "__aoY(", &after, |this| this.visit_expression(&it.left));
        self.wrap(it.right.span(), "__aoX(", &after, |this| this.visit_expression(&it.right));
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Delete {
            self.deletion(it);
            return;
        }
        if it.operator == UnaryOperator::Typeof
            && let Expression::Identifier(name) = it.argument.without_parentheses()
            && self.variable(name) == Variable::Global
        {
            let read = self.global_read(name);
            self.wrap(it.span, &format!("__aoQ({read},"), ")", |_| {});
            return;
        }
        walk::walk_unary_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if self.direct_eval(it) || self.element_call(it) {
            return;
        }
        self.callee(&it.callee);
        for argument in &it.arguments {
            self.visit_argument(argument);
        }
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.callee(&it.tag);
        self.visit_template_literal(&it.quasi);
    }

    fn visit_argument(&mut self, it: &Argument<'a>) {
        match it {
            Argument::SpreadElement(spread) => self.visit_spread_element(spread),
            _ => {
                if let Some(expression) = it.as_expression() {
                    self.visit_expression(expression);
                }
            }
        }
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        let is_plain = match &it.callee {
            Expression::Identifier(name) => self.variable(name) == Variable::Quiet,
            Expression::ParenthesizedExpression(_) => true,
            _ => false,
        };
        if is_plain {
            self.visit_expression(&it.callee);
        } else {
            self.wrap(it.callee.span(), "(", ")", |this| this.visit_expression(&it.callee));
        }
        for argument in &it.arguments {
            self.visit_argument(argument);
        }
    }

    fn visit_chain_expression(&mut self, it: &ChainExpression<'a>) {
        let keeps_this = self.keeps_this.take() == Some(it.span);
        self.chain(it, !keeps_this);
    }

    fn visit_export_specifier(&mut self, _: &ExportSpecifier<'a>) {}

    fn visit_decorator(&mut self, _: &Decorator<'a>) {}

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        let more = self.parameter_reads(it);
        if let Some(scope) = it.scope_id.get() {
            self.scope_object(scope, "var", &more);
        }
        self.this_depth += 1;
        walk::walk_function(self, it, flags);
        self.this_depth -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let owns = it.scope_id.get().filter(|scope| self.bindings.owners.contains_key(scope));
        if let Some(scope) = owns {
            self.scope_object(scope, "var", "");
        }
        walk::walk_arrow_function_expression(self, it);
        if owns.is_some() && !matches!(it.body, ArrowFunctionBody::FunctionBody(_)) {
            self.edits.close(it.body.span().end, "}");
        }
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.this_depth += 1;
        walk::walk_class(self, it);
        self.this_depth -= 1;
    }

    fn visit_block_statement(&mut self, it: &BlockStatement<'a>) {
        self.block(it.scope_id.get());
        walk::walk_block_statement(self, it);
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.block(it.scope_id.get());
        walk::walk_static_block(self, it);
    }
}
