//! The tree in the form that a Groovy compiler sees, as text: parentheses are gone, calls are
//! calls of methods, and named arguments are one map.

use super::class::{class, import_text, method};
use super::text::quoted;
use crate::ast::{
    Access, Annotation, Arg, Block, Case, Catch, Declaration, Expr, ExprKind, ForHead, Key, Member,
    MemberName, Number, Parameter, Script, Stmt, StmtKind, TypeName, UnaryOp,
};

/// Returns the tree of a file as one line of text. Two files have the same text if and only if a
/// compiler sees the same. Linear in the size of the tree.
pub fn show(script: &Script) -> String {
    let mut out = Out::default();
    out.open("script");
    let statements = &script.statements;
    for stmt in statements {
        if let StmtKind::Package(name) = &stmt.kind {
            out.leaf(&format!("(package {name}.)"));
        }
    }
    // Plain imports, those with a star, static ones, static ones with a star.
    for (is_static, is_star) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut imports: Vec<String> = Vec::new();
        for stmt in statements {
            if let StmtKind::Import(import) = &stmt.kind
                && (import.is_static, import.is_star) == (is_static, is_star)
            {
                imports.push(import_text(import));
            }
        }
        imports.sort_unstable();
        if is_static {
            imports.dedup();
        }
        imports.iter().for_each(|import| out.leaf(import));
    }
    for stmt in statements {
        if let StmtKind::Method(one) = &stmt.kind {
            method(&mut out, one);
        }
    }
    for stmt in statements {
        if let StmtKind::Class(one) = &stmt.kind {
            class(&mut out, one, "");
        }
    }
    statements.iter().for_each(|stmt| out.stmt(stmt));
    out.close();
    out.text
}

/// Leaves out the packages whose classes are known without an import.
pub(super) fn short(name: &str) -> &str {
    let known = ["java.lang.", "java.math.", "groovy.lang."];
    if known.iter().any(|package| name.starts_with(package)) {
        name.rsplit('.').next().unwrap_or(name)
    } else {
        name
    }
}

/// Returns a type without its arguments.
pub(super) fn type_text(type_name: &TypeName) -> String {
    let brackets = "[]".repeat(type_name.dimensions as usize);
    format!("{}{brackets}", short(&type_name.name))
}

pub(super) fn type_or_dash(type_name: Option<&TypeName>) -> String {
    type_name.map_or_else(|| "-".to_owned(), type_text)
}

#[derive(Default)]
pub(super) struct Out {
    pub(super) text: String,
}

impl Out {
    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('(') {
            self.text.push(' ');
        }
    }

    pub(super) fn open(&mut self, head: &str) {
        self.space();
        self.text.push('(');
        self.text += head;
    }

    pub(super) fn close(&mut self) {
        self.text.push(')');
    }

    pub(super) fn leaf(&mut self, text: &str) {
        self.space();
        self.text += text;
    }

    fn many<'a>(&mut self, head: &str, parts: impl IntoIterator<Item = &'a Expr>) {
        self.open(head);
        parts.into_iter().for_each(|part| self.expr(part));
        self.close();
    }

    pub(super) fn annotations(&mut self, annotations: &[Annotation]) {
        for one in annotations {
            self.leaf(&format!("@{}(", short(&one.name)));
            for (name, value) in &one.members {
                self.text += &format!("{name}=");
                self.expr_raw(value);
                self.text.push(';');
            }
            self.close();
        }
    }

    pub(super) fn parameters(&mut self, parameters: &[Parameter]) {
        self.open("parameters");
        for one in parameters {
            self.open(&one.name);
            let mut text = type_or_dash(one.type_name.as_ref());
            if one.is_variable {
                text = if text == "-" { "Object".to_owned() } else { text };
                text += "[]";
            }
            self.leaf(&text);
            self.annotations(&one.modifiers.annotations);
            if let Some(value) = &one.default {
                self.leaf("=");
                self.text.push(' ');
                self.expr_raw(value);
            }
            self.close();
        }
        self.close();
    }

    pub(super) fn arguments(&mut self, arguments: &[Arg]) {
        self.arguments_as("named", arguments);
    }

    /// Shows arguments. `head`: of the named ones, where there are no others.
    fn arguments_as(&mut self, head: &str, arguments: &[Arg]) {
        let named: Vec<&Arg> = arguments.iter().filter(|one| one.is_entry()).collect();
        self.open("args");
        if !named.is_empty() {
            let all = named.len() == arguments.len();
            self.entries(if all { head } else { "map" }, &named);
        }
        for one in arguments {
            self.plain_argument(one);
        }
        self.close();
    }

    fn plain_argument(&mut self, argument: &Arg) {
        match argument {
            Arg::Plain(e) => self.expr(e),
            Arg::Spread(e) => self.many("spread", [e]),
            Arg::Named(..) | Arg::SpreadMap(_) => {}
        }
    }

    /// Shows a list of arguments in brackets, where entries are not gathered into a map.
    pub(super) fn mixed_list(&mut self, arguments: &[Arg]) {
        self.open("list");
        arguments.iter().for_each(|one| self.any_argument(one));
        self.close();
    }

    fn any_argument(&mut self, argument: &Arg) {
        match argument {
            Arg::Named(..) => self.entry(argument),
            Arg::SpreadMap(e) => self.many("spread-map", [e]),
            Arg::Plain(_) | Arg::Spread(_) => self.plain_argument(argument),
        }
    }

    fn entries(&mut self, head: &str, entries: &[&Arg]) {
        self.open(head);
        entries.iter().for_each(|entry| self.entry(entry));
        self.close();
    }

    fn entry(&mut self, entry: &Arg) {
        self.open("entry");
        match entry {
            Arg::Named(Key::Name(name, _), value) => {
                self.leaf(&quoted(name));
                self.expr(value);
            }
            Arg::Named(Key::Expr(key), value) => {
                self.expr(key);
                self.expr(value);
            }
            Arg::SpreadMap(e) => {
                self.many("spread-map", [e]);
                self.expr(e);
            }
            Arg::Plain(_) | Arg::Spread(_) => {}
        }
        self.close();
    }

    fn number(&mut self, number: &Number) {
        self.leaf(&match number {
            Number::Int(value) => format!("(int {value})"),
            Number::Long(value) => format!("(long {value})"),
            Number::BigInteger(digits) => format!("(bigint {digits})"),
            Number::BigDecimal(one) => format!("(decimal {} {})", one.digits, one.scale),
            Number::Float(value) => format!("(float {})", value.to_bits() as i32),
            Number::Double(value) => format!("(double {})", value.to_bits() as i64),
        });
    }

    fn expr_raw(&mut self, expr: &Expr) {
        let before = self.text.len();
        self.expr(expr);
        if self.text[before..].starts_with(' ') {
            self.text.remove(before);
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Null => self.leaf("null"),
            ExprKind::Bool(value) => self.leaf(&value.to_string()),
            ExprKind::Number(number) => self.number(number),
            ExprKind::Text(text) => self.leaf(&quoted(text)),
            ExprKind::Parts(parts) => {
                self.open("parts");
                for (index, text) in parts.texts.iter().enumerate() {
                    self.leaf(&quoted(text));
                    parts.values.get(index).into_iter().for_each(|value| self.expr(value));
                }
                self.close();
            }
            ExprKind::Name(name) => self.leaf(name),
            ExprKind::Paren(inner) => self.expr(inner),
            ExprKind::List(entries) if entries.iter().any(Arg::is_entry) => {
                self.entries("map", &entries.iter().collect::<Vec<_>>());
            }
            ExprKind::List(entries) => {
                self.open("list");
                entries.iter().for_each(|entry| self.plain_argument(entry));
                self.close();
            }
            ExprKind::EmptyMap => self.leaf("(map)"),
            ExprKind::Closure(closure) => {
                self.open("closure");
                match &closure.parameters {
                    Some(parameters) if parameters.is_empty() => self.leaf("(no-parameters)"),
                    Some(parameters) => self.parameters(parameters),
                    None => self.leaf("(parameters)"),
                }
                self.block(&closure.body);
                self.close();
            }
            ExprKind::Member(member) => self.member(member),
            ExprKind::Index(object, arguments) => self.index(object, arguments),
            ExprKind::Call(callee, arguments) => self.call(callee, arguments),
            ExprKind::New(created, arguments, body) => {
                self.open("new");
                match body {
                    Some(_) => self.leaf("anonymous"),
                    None => self.leaf(&type_text(created)),
                }
                self.arguments_as(if body.is_some() { "map" } else { "named" }, arguments);
                body.iter().for_each(|body| super::class::members(self, body));
                self.close();
            }
            ExprKind::NewArray(created, sizes, empty) => {
                self.open("new-array");
                self.leaf(&type_text(created));
                sizes.iter().for_each(|size| self.expr(size));
                (0..*empty).for_each(|_| self.leaf("null"));
                self.close();
            }
            ExprKind::Unary(op, e) => {
                let head = match op {
                    UnaryOp::Minus => "minus",
                    UnaryOp::Plus => "plus",
                    UnaryOp::Not => "not",
                    UnaryOp::Complement => "complement",
                };
                self.many(head, [&**e]);
            }
            ExprKind::Prefix(op, e) => self.many(&format!("prefix {}", op.text()), [&**e]),
            ExprKind::Postfix(op, e) => self.many(&format!("postfix {}", op.text()), [&**e]),
            ExprKind::Binary(op, a, b) => {
                let head = match op.text() {
                    ".." => "range",
                    "..<" => "range-exclusive",
                    text => text,
                };
                self.many(head, [&**a, b]);
            }
            ExprKind::Assign(op, a, b) => {
                self.many(&format!("{}=", op.map_or("", |op| op.text())), [&**a, b]);
            }
            ExprKind::AssignMany(targets, value) => {
                self.open("=");
                self.text.push(' ');
                self.text += "(args";
                targets.iter().for_each(|target| self.expr(target));
                self.close();
                self.expr(value);
                self.close();
            }
            ExprKind::Conditional(a, b, c) => self.many("conditional", [&**a, b, c]),
            ExprKind::Elvis(a, b) => self.many("elvis", [&**a, b]),
            ExprKind::Cast(name, e) => self.many(&format!("cast {}", type_text(name)), [&**e]),
            ExprKind::As(e, name) => self.many(&format!("as {}", type_text(name)), [&**e]),
            ExprKind::InstanceOf(e, name) => {
                self.open("instanceof");
                self.expr(e);
                self.leaf(&format!("(class {})", type_text(name)));
                self.close();
            }
            ExprKind::Declare(declaration) => self.declaration(declaration),
            ExprKind::Annotation(one) => {
                self.open("annotation");
                self.annotations(std::slice::from_ref(one));
                self.close();
            }
            ExprKind::Error => self.leaf("error"),
        }
    }

    fn member_name(&mut self, name: &MemberName) {
        match name {
            MemberName::Fixed(name) => self.leaf(&quoted(name)),
            MemberName::Computed(name) => self.constant_name(name),
        }
    }

    /// Shows what was a name in parentheses as its text: the compiler takes `a.(b)` for `a.b`, and
    /// `(f)()` for `"f".call()`.
    fn constant_name(&mut self, expr: &Expr) {
        match &expr.bare().kind {
            ExprKind::Name(name) if name != "this" && name != "super" => self.leaf(&quoted(name)),
            _ => self.expr(expr),
        }
    }

    fn member(&mut self, member: &Member) {
        let head = if member.is_field { "field" } else { "get" };
        let head = match member.access {
            Access::Dot => head.to_owned(),
            Access::Safe => format!("{head}?"),
            Access::Spread => format!("{head}*"),
            Access::Pointer => "pointer".to_owned(),
        };
        self.open(&head);
        self.expr(&member.object);
        match &member.name {
            MemberName::Fixed(name) if member.is_field && (name == "this" || name == "super") => {
                self.leaf(name);
            }
            name => self.member_name(name),
        }
        self.close();
    }

    fn index(&mut self, object: &Expr, arguments: &[Arg]) {
        self.open("index");
        self.expr(object);
        if arguments.len() == 1 {
            self.any_argument(&arguments[0]);
        } else {
            self.mixed_list(arguments);
        }
        self.close();
    }

    fn call(&mut self, callee: &Expr, arguments: &[Arg]) {
        match &callee.kind {
            ExprKind::Name(name) if name == "this" || name == "super" => {
                self.open(&format!("{name}-call"));
            }
            ExprKind::Name(name) | ExprKind::Text(name) if !is_void(callee) => {
                self.open("call");
                self.leaf("-");
                self.leaf(&quoted(name));
            }
            ExprKind::Parts(_) => {
                self.open("call");
                self.leaf("-");
                self.expr(callee);
            }
            ExprKind::Member(member) if member.access != Access::Pointer && !member.is_field => {
                self.open(match member.access {
                    Access::Safe => "call?",
                    Access::Spread => "call*",
                    Access::Dot | Access::Pointer => "call",
                });
                self.expr(&member.object);
                self.member_name(&member.name);
            }
            _ => {
                self.open("call");
                self.constant_name(callee);
                self.leaf("\"call\"");
            }
        }
        self.arguments(arguments);
        self.close();
    }

    pub(super) fn declaration(&mut self, declaration: &Declaration) {
        let own = |one: &crate::ast::Variable| {
            let type_name = one.type_name.as_ref().or(declaration.type_name.as_ref());
            format!("({} {})", one.name, type_or_dash(type_name))
        };
        if let Some(value) = &declaration.together {
            self.open("declare");
            self.annotations(&declaration.modifiers.annotations);
            self.open("many");
            declaration.variables.iter().for_each(|one| self.leaf(&own(one)));
            self.close();
            self.expr(value);
            return self.close();
        }
        for one in &declaration.variables {
            self.open("declare");
            self.annotations(&declaration.modifiers.annotations);
            self.leaf(&own(one));
            match &one.value {
                Some(value) => self.expr(value),
                None => self.leaf("empty"),
            }
            self.close();
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        self.statements(&block.statements);
    }

    fn statements(&mut self, statements: &[Stmt]) {
        self.open("block");
        statements.iter().for_each(|stmt| self.stmt(stmt));
        self.close();
    }

    fn stmt(&mut self, stmt: &Stmt) {
        stmt.labels.iter().for_each(|label| self.open(&format!("label {label}")));
        self.bare_stmt(stmt);
        stmt.labels.iter().for_each(|_| self.close());
    }

    fn bare_stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Package(_)
            | StmtKind::Import(_)
            | StmtKind::Class(_)
            | StmtKind::Method(_) => {}
            StmtKind::Empty => self.leaf("empty"),
            StmtKind::Declare(declaration) => self.declaration(declaration),
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Block(block) => self.block(block),
            StmtKind::If(condition, yes, no) => {
                self.open("if");
                self.expr(condition);
                self.stmt(yes);
                match no {
                    Some(no) => self.stmt(no),
                    None => self.leaf("empty"),
                }
                self.close();
            }
            StmtKind::While(condition, body) => {
                self.open("while");
                self.expr(condition);
                self.stmt(body);
                self.close();
            }
            StmtKind::For(head, body) => {
                self.open("for");
                self.for_head(head);
                self.stmt(body);
                self.close();
            }
            StmtKind::Switch(value, cases) => self.switch(value, cases),
            StmtKind::Try(block, catches, last) => {
                self.open("try");
                self.block(block);
                catches.iter().for_each(|one| self.catch(one));
                match last {
                    Some(block) => {
                        self.open("block");
                        self.block(block);
                        self.close();
                    }
                    None => self.leaf("empty"),
                }
                self.close();
            }
            StmtKind::Synchronized(lock, block) => {
                self.open("synchronized");
                self.expr(lock);
                self.block(block);
                self.close();
            }
            StmtKind::Return(value) => self.with_value("return", value.as_ref()),
            StmtKind::Break(label) => {
                self.leaf(&format!("(break {})", label.as_deref().unwrap_or("-")));
            }
            StmtKind::Continue(label) => {
                self.leaf(&format!("(continue {})", label.as_deref().unwrap_or("-")));
            }
            StmtKind::Throw(value) => self.many("throw", [value]),
            StmtKind::Assert(condition, message) => {
                self.open("assert");
                self.expr(condition);
                match message {
                    Some(message) => self.expr(message),
                    None => self.leaf("null"),
                }
                self.close();
            }
            StmtKind::Error => self.leaf("error"),
        }
    }

    fn with_value(&mut self, head: &str, value: Option<&Expr>) {
        self.open(head);
        match value {
            Some(value) => self.expr(value),
            None => self.leaf("null"),
        }
        self.close();
    }

    fn for_head(&mut self, head: &ForHead) {
        match head {
            ForHead::Each(variable, items) => {
                let text = type_or_dash(variable.type_name.as_ref());
                self.leaf(&format!("(parameters ({} {text}))", variable.name));
                self.expr(items);
            }
            ForHead::Classic(first, condition, next) => {
                self.leaf("-");
                self.open("classic");
                for control in [first, condition, next] {
                    match control {
                        Some(control) => self.expr(control),
                        None => self.leaf("empty"),
                    }
                }
                self.close();
            }
        }
    }

    fn switch(&mut self, value: &Expr, cases: &[Case]) {
        self.open("switch");
        self.expr(value);
        for case in cases {
            if let Some(value) = &case.value {
                self.open("case");
                self.expr(value);
                self.case_body(&case.body);
                self.close();
            }
        }
        match cases.iter().rev().find(|case| case.value.is_none()) {
            Some(case) => self.case_body(&case.body),
            None => self.leaf("empty"),
        }
        self.close();
    }

    fn case_body(&mut self, body: &[Stmt]) {
        if body.is_empty() { self.leaf("empty") } else { self.statements(body) }
    }

    fn catch(&mut self, one: &Catch) {
        let dash = "-".to_owned();
        let types: Vec<String> = one.types.iter().map(type_text).collect();
        for text in if types.is_empty() { vec![dash] } else { types } {
            self.open("catch");
            self.leaf(&format!("(parameters ({} {text}))", one.name));
            self.block(&one.body);
            self.close();
        }
    }
}

/// Returns whether an expression is `void`, which is no name of a method.
fn is_void(callee: &Expr) -> bool {
    matches!(&callee.kind, ExprKind::Name(name) if name == "void")
}
