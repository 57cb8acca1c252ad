//! Accesses to properties and variables.

use super::bindings::Variable;
use super::suspend::suspends;
use super::walk::{Chain, Walk, quoted};
use crate::sites::Access;
use oxc_ast::ast::{
    AssignmentExpression, ChainElement, ChainExpression, ComputedMemberExpression, Expression,
    IdentifierReference, PrivateFieldExpression, SimpleAssignmentTarget, StaticMemberExpression,
    UnaryExpression, UpdateExpression,
};
use oxc_ast_visit::Visit;
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::{AssignmentOperator, UpdateOperator};

/// The functions that log an access of a kind. `Delete` is a write whose value is known.
fn letter(access: Access, is_delete: bool) -> char {
    match access {
        _ if is_delete => 'D',
        Access::Read => 'R',
        Access::Write => 'W',
        Access::Both => 'B',
    }
}

/// The flags of an access for those functions of the runtime that take flags.
pub(super) fn flags(access: Access) -> u32 {
    match access {
        Access::Read => 1,
        Access::Write => 2,
        Access::Both => 3,
    }
}

/// Where a link of an optional chain stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    /// Not in a chain, or before its first `?.`.
    Plain,
    /// It is optional, and later links are logged.
    Optional,
    /// After the first `?.`, and not optional.
    Rest,
    /// After the first `?.` of a chain whose rest is not logged.
    Quiet,
}

impl Walk<'_, '_> {
    fn link(&self, span: Span, optional: bool) -> Link {
        let chain = self.chains.last().filter(|chain| chain.start == span.start);
        match chain {
            None => Link::Plain,
            Some(chain) if span.end < chain.first_end => Link::Plain,
            Some(chain) if !chain.logs_rest => {
                if span.end == chain.first_end {
                    Link::Plain
                } else {
                    Link::Quiet
                }
            }
            Some(_) if optional => Link::Optional,
            Some(_) => Link::Rest,
        }
    }

    /// Wraps the object of `a.b`.
    pub(super) fn static_member(&mut self, it: &StaticMemberExpression<'_>, access: Access) {
        let key = quoted(&it.property.name);
        let name = it.property.name.as_str();
        self.named(
            (&it.object, it.span, it.property.span),
            it.optional,
            (&key, name),
            access,
            false,
        );
    }

    /// Wraps the object of `a.#b`.
    pub(super) fn private_member(&mut self, it: &PrivateFieldExpression<'_>, access: Access) {
        let name = format!("#{}", it.field.name);
        let key = quoted(&name);
        self.named((&it.object, it.span, it.field.span), it.optional, (&key, &name), access, false);
    }

    fn named(
        &mut self,
        (object, span, property): (&Expression<'_>, Span, Span),
        optional: bool,
        (key, name): (&str, &str),
        access: Access,
        is_delete: bool,
    ) {
        let link = self.link(span, optional);
        if matches!(object, Expression::Super(_)) || link == Link::Quiet {
            self.visit_expression(object);
            return;
        }
        let site = self.site(property.start, name, access);
        let (function, mark) = match link {
            Link::Optional => ('P', ""),
            Link::Rest => ('C', "?"),
            Link::Plain | Link::Quiet => (letter(access, is_delete), ""),
        };
        let after = format!(",{key},{site})");
        self.wrap(object.span(), &format!("__ao{function}("), &after, |this| {
            this.visit_expression(object);
        });
        if !mark.is_empty() {
            let dot = self.dot(object.span().end, property.start);
            self.edits.open(dot, mark);
        }
    }

    /// Returns where the dot of a member is, between its object and its name.
    fn dot(&self, from: u32, to: u32) -> u32 {
        let text = Span::new(from, to).source_text(self.text).as_bytes();
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            let rest = &text[at..];
            at += match byte {
                b'.' => break,
                b'/' if rest.starts_with(b"/*") => {
                    rest.windows(2).skip(2).position(|two| two == b"*/").map_or(1, |end| end + 4)
                }
                b'/' => rest.iter().position(|byte| *byte == b'\n').unwrap_or(1),
                _ => 1,
            };
        }
        from + u32::try_from(at).unwrap_or(0)
    }

    /// Wraps the object, and the key if it is not a plain one, of `a[k]`.
    pub(super) fn computed_member(&mut self, it: &ComputedMemberExpression<'_>, access: Access) {
        self.computed(it, access, false);
    }

    fn computed(&mut self, it: &ComputedMemberExpression<'_>, access: Access, is_delete: bool) {
        let link = self.link(it.span, it.optional);
        let quiet = matches!(it.object, Expression::Super(_))
            || link == Link::Quiet
            || suspends(&it.expression);
        if quiet && link != Link::Rest {
            self.visit_expression(&it.object);
            self.visit_expression(&it.expression);
            return;
        }
        let key_span = it.expression.span();
        let key = key_span.source_text(self.text);
        if link == Link::Plain && self.is_plain(&it.expression) {
            let site = self.site(key_span.start, key, access);
            let before = format!("__ao{}(", letter(access, is_delete));
            let after = format!(",{key},{site})");
            self.wrap(it.object.span(), &before, &after, |this| this.visit_expression(&it.object));
            return;
        }
        let site = self.site(key_span.start, key, access);
        let (before, after) = match link {
            Link::Optional => ("__aoPo(", format!(",{site})")),
            Link::Rest => ("__aoCo(", format!(",{site})?.")),
            Link::Plain | Link::Quiet => ("__aoO(", format!(",{site})")),
        };
        self.wrap(it.object.span(), before, &after, |this| this.visit_expression(&it.object));
        let mode = if is_delete { 4 } else { flags(access) };
        let (open, close) = parentheses(&it.expression);
        let after = format!("{close},{site},{mode})");
        self.wrap(key_span, &format!("__aoK({open}"), &after, |this| {
            this.visit_expression(&it.expression)
        });
    }

    /// Returns whether a key can be evaluated twice: a literal, or a local variable that is not
    /// logged.
    fn is_plain(&self, key: &Expression<'_>) -> bool {
        match key {
            Expression::StringLiteral(_) | Expression::NumericLiteral(_) => true,
            Expression::Identifier(name) => {
                let is_local = name
                    .reference_id
                    .get()
                    .is_some_and(|id| self.scoping.get_reference(id).symbol_id().is_some());
                is_local
                    && self.variable(name) == Variable::Quiet
                    && !self.bindings.is_under_with(self.scoping, name)
            }
            _ => false,
        }
    }

    /// Logs an access to the object of an assignment.
    pub(super) fn target(&mut self, it: &SimpleAssignmentTarget<'_>, access: Access) {
        match it {
            SimpleAssignmentTarget::StaticMemberExpression(it) => self.static_member(it, access),
            SimpleAssignmentTarget::ComputedMemberExpression(it) => {
                self.computed_member(it, access)
            }
            SimpleAssignmentTarget::PrivateFieldExpression(it) => self.private_member(it, access),
            _ => {}
        }
    }

    /// Logs an assignment.
    pub(super) fn assignment(&mut self, it: &AssignmentExpression<'_>) {
        let access =
            if it.operator == AssignmentOperator::Assign { Access::Write } else { Access::Both };
        if let Some(target) = it.left.as_simple_assignment_target() {
            if let SimpleAssignmentTarget::AssignmentTargetIdentifier(name) = target {
                let before = self.variable_write(name, access);
                let after = if before.is_empty() { "" } else { ")" };
                self.wrap(it.span, &before, after, |this| this.visit_expression(&it.right));
                return;
            }
            self.target(target, access);
            self.visit_expression(&it.right);
            return;
        }
        self.visit_assignment_target(&it.left);
        let writes = self.target_writes(&it.left);
        self.read_by_assignment(&it.left, &it.right, &writes);
    }

    /// Returns what begins the call around an assignment to a variable; nothing if it is not
    /// logged.
    fn variable_write(&mut self, name: &IdentifierReference<'_>, access: Access) -> String {
        match self.variable(name) {
            Variable::Quiet => String::new(),
            Variable::Global => {
                let site = self.site(name.span.start, &name.name, access);
                format!("__aoQ(__aoH({},{site},{}),", quoted(&name.name), flags(access))
            }
            Variable::Local(scope, number) => {
                let site = self.site(name.span.start, &name.name, access);
                format!("__aoS({},{number},{site},{},", self.scope_object_of(scope), flags(access))
            }
        }
    }

    /// Logs `x++` and the like.
    pub(super) fn update(&mut self, it: &UpdateExpression<'_>) {
        let SimpleAssignmentTarget::AssignmentTargetIdentifier(name) = &it.argument else {
            self.target(&it.argument, Access::Both);
            return;
        };
        let before = match self.variable(name) {
            Variable::Local(scope, number) if !it.prefix => {
                let site = self.site(name.span.start, &name.name, Access::Both);
                let change = if it.operator == UpdateOperator::Increment { 1 } else { -1 };
                format!("__aoU({},{number},{site},{change},", self.scope_object_of(scope))
            }
            _ => self.variable_write(name, Access::Both),
        };
        let after = if before.is_empty() { "" } else { ")" };
        self.wrap(it.span, &before, after, |_| {});
    }

    /// Logs `delete`.
    pub(super) fn deletion(&mut self, it: &UnaryExpression<'_>) {
        match it.argument.without_parentheses() {
            Expression::Identifier(_) => {}
            Expression::StaticMemberExpression(member) => {
                let key = quoted(&member.property.name);
                let name = member.property.name.as_str();
                let at = (&member.object, member.span, member.property.span);
                self.named(at, false, (&key, name), Access::Write, true);
            }
            Expression::ComputedMemberExpression(member) => {
                self.computed(member, Access::Write, true);
            }
            // The operand must stay a reference: only its first part is logged.
            Expression::ChainExpression(chain) => self.chain(chain, false),
            other => self.visit_expression(other),
        }
    }

    /// Logs an optional chain; the links after its first `?.` only if its value may be wrapped.
    pub(super) fn chain(&mut self, it: &ChainExpression<'_>, may_wrap: bool) {
        let (first_end, calls) = first_optional(&it.expression).unwrap_or((u32::MAX, false));
        // Whether an optional call was skipped cannot be seen from outside.
        let logs_rest = may_wrap && !calls && it.span.end > first_end;
        self.chains.push(Chain { start: it.span.start, first_end, logs_rest });
        if logs_rest {
            self.wrap(it.span, "__aoZ(", ")", |this| this.visit_chain_element(&it.expression));
        } else {
            self.visit_chain_element(&it.expression);
        }
        self.chains.pop();
    }
}

/// Returns what makes one argument of an expression: `a, b` would be two.
pub(super) fn parentheses(expression: &Expression<'_>) -> (&'static str, &'static str) {
    let is_list = matches!(expression, Expression::SequenceExpression(_));
    if is_list { ("(", ")") } else { ("", "") }
}

/// Returns where the first optional link of a chain ends, and whether an optional call is in it. It
/// takes time linear in the links.
fn first_optional(element: &ChainElement<'_>) -> Option<(u32, bool)> {
    let (mut inner, mut found, mut calls) = match element {
        ChainElement::CallExpression(call) => {
            (&call.callee, call.optional.then_some(call.span.end), call.optional)
        }
        _ => {
            let member = element.as_member_expression()?;
            (member.object(), member.optional().then(|| member.span().end), false)
        }
    };
    loop {
        let (next, optional) = match inner {
            Expression::CallExpression(call) => {
                calls |= call.optional;
                (&call.callee, call.optional)
            }
            _ => match inner.as_member_expression() {
                Some(member) => (member.object(), member.optional()),
                None => return found.map(|end| (end, calls)),
            },
        };
        if optional {
            found = Some(inner.span().end);
        }
        inner = next;
    }
}
