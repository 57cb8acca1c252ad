//! Trees as Groovy: reading what is printed gives the same tree.

use super::text::escaped;
use crate::ast::{
    Access, Arg, BinaryOp, Closure, Decimal, Expr, ExprKind, Key, Member, MemberName, Number,
    Script, TextParts, TypeName, UnaryOp,
};
use crate::lex::{WORDS, starts_name};

/// Returns a file with the tree `script`. Comments and parentheses of no effect may differ.
/// Linear in the size of the tree, times the depth of its blocks.
pub fn print(script: &Script) -> String {
    let mut printer = Printer::default();
    for stmt in &script.statements {
        printer.stmt(stmt);
        printer.line();
    }
    printer.text
}

/// Returns one expression as Groovy.
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.expr(expr, ASSIGNMENT);
    printer.text
}

// How tightly an expression binds.
pub(super) const ASSIGNMENT: u8 = 0;
pub(super) const CONDITIONAL: u8 = 1;
/// Added to the level of an operator.
const OPERATORS: u8 = 1;
const SIGN: u8 = 12;
const POWER: u8 = 13;
const TIGHT: u8 = 14;
const POSTFIX: u8 = 15;
const PATH: u8 = 16;
const PRIMARY: u8 = 17;

fn level(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Assign(..) | ExprKind::AssignMany(..) => ASSIGNMENT,
        ExprKind::Declare(_) => ASSIGNMENT,
        ExprKind::Conditional(..) | ExprKind::Elvis(..) => CONDITIONAL,
        ExprKind::Binary(op, ..) => op.level() + OPERATORS,
        ExprKind::As(..) | ExprKind::InstanceOf(..) => BinaryOp::Less.level() + OPERATORS,
        ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, _) | ExprKind::Prefix(..) => SIGN,
        ExprKind::Number(number) if is_negative(number) => SIGN,
        ExprKind::Unary(..) | ExprKind::Cast(..) => TIGHT,
        ExprKind::Postfix(..) | ExprKind::NewArray(..) => POSTFIX,
        ExprKind::Member(_) | ExprKind::Index(..) | ExprKind::Call(..) | ExprKind::New(..) => PATH,
        _ => PRIMARY,
    }
}

fn is_negative(number: &Number) -> bool {
    match number {
        Number::Int(value) => *value < 0,
        Number::Long(value) => *value < 0,
        Number::BigInteger(digits) => digits.starts_with('-'),
        Number::BigDecimal(one) => one.digits.starts_with('-'),
        Number::Float(value) => value.is_sign_negative(),
        Number::Double(value) => value.is_sign_negative(),
    }
}

fn is_closure(argument: &Arg) -> bool {
    matches!(argument, Arg::Plain(Expr { kind: ExprKind::Closure(_), .. }))
}

pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next().is_some_and(|c| starts_name(c) || c == '$');
    first && chars.all(|c| starts_name(c) || c == '$' || c.is_ascii_digit())
}

/// Returns whether a text is a name and no reserved word.
pub(super) fn is_plain_name(text: &str) -> bool {
    is_name(text) && WORDS.binary_search(&text).is_err()
}

#[derive(Default)]
pub(super) struct Printer {
    pub(super) text: String,
    pub(super) depth: usize,
}

impl Printer {
    pub(super) fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("    ", self.depth));
    }

    pub(super) fn add(&mut self, text: &str) {
        self.text += text;
    }

    /// Prints an expression that must bind at least as tightly as `min`.
    pub(super) fn expr(&mut self, expr: &Expr, min: u8) {
        if level(expr) < min {
            self.add("(");
            self.bare(expr);
            self.add(")");
        } else {
            self.bare(expr);
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Null => self.add("null"),
            ExprKind::Bool(value) => self.add(if *value { "true" } else { "false" }),
            ExprKind::Number(number) => self.add(&number_text(number)),
            ExprKind::Text(text) => self.add(&format!("'{}'", escaped(text, '\''))),
            ExprKind::Parts(parts) => self.parts(parts),
            ExprKind::Name(name) => self.add(name),
            ExprKind::Paren(inner) => {
                self.add("(");
                self.expr(inner, ASSIGNMENT);
                self.add(")");
            }
            ExprKind::List(entries) => self.arguments("[", entries, "]"),
            ExprKind::EmptyMap => self.add("[:]"),
            ExprKind::Closure(closure) => self.closure("{", closure),
            ExprKind::Member(member) => self.member(member),
            ExprKind::Index(object, arguments) => {
                self.expr(object, PATH);
                self.arguments("[", arguments, "]");
            }
            ExprKind::Call(callee, arguments) => {
                let start = self.text.len();
                self.expr(callee, PATH);
                // `(f)({ ... })` would be a cast.
                let in_brackets = self.text[start..].starts_with('(');
                if in_brackets && arguments.iter().all(is_closure) {
                    self.add("()");
                    for argument in arguments {
                        self.add(" ");
                        self.argument(argument);
                    }
                    return;
                }
                self.arguments("(", arguments, ")");
            }
            ExprKind::New(created, arguments, body) => {
                self.add("new ");
                self.type_name(created);
                self.arguments("(", arguments, ")");
                if let Some(body) = body {
                    self.add(" ");
                    self.class_body(body);
                }
            }
            ExprKind::NewArray(created, sizes, empty) => {
                self.add("new ");
                self.type_name(created);
                for size in sizes {
                    self.add("[");
                    self.expr(size, ASSIGNMENT);
                    self.add("]");
                }
                self.add(&"[]".repeat(*empty as usize));
            }
            ExprKind::Unary(op, e) => {
                self.add(op.text());
                let sign = matches!(op, UnaryOp::Minus | UnaryOp::Plus);
                // A number behind a sign would become one number with it.
                let number = sign && matches!(e.kind, ExprKind::Number(_));
                self.expr(
                    e,
                    if number {
                        PRIMARY + 1
                    } else if sign {
                        POWER
                    } else {
                        TIGHT
                    },
                );
            }
            ExprKind::Prefix(op, e) => {
                self.add(op.text());
                self.expr(e, POWER);
            }
            ExprKind::Postfix(op, e) => {
                self.expr(e, PATH);
                self.add(op.text());
            }
            ExprKind::Binary(op, a, b) => {
                let level = op.level() + OPERATORS;
                let relation = op.level() == BinaryOp::Less.level();
                self.expr(a, level + u8::from(relation));
                self.add(&format!(" {} ", op.text()));
                self.expr(b, level + 1);
            }
            ExprKind::Assign(op, target, value) => {
                self.expr(target, CONDITIONAL);
                self.add(&format!(" {}= ", op.map_or("", BinaryOp::text)));
                self.expr(value, ASSIGNMENT);
            }
            ExprKind::AssignMany(targets, value) => {
                self.add("(");
                for (index, target) in targets.iter().enumerate() {
                    self.add(if index == 0 { "" } else { ", " });
                    self.expr(target, PRIMARY);
                }
                self.add(") = ");
                self.expr(value, ASSIGNMENT);
            }
            ExprKind::Conditional(a, b, c) => {
                self.expr(a, CONDITIONAL + 1);
                self.add(" ? ");
                self.expr(b, CONDITIONAL);
                self.add(" : ");
                self.expr(c, CONDITIONAL);
            }
            ExprKind::Elvis(a, b) => {
                self.expr(a, CONDITIONAL + 1);
                self.add(" ?: ");
                self.expr(b, CONDITIONAL);
            }
            ExprKind::Cast(type_name, e) => {
                self.add("(");
                self.type_name(type_name);
                self.add(") ");
                self.expr(e, TIGHT);
            }
            ExprKind::As(e, type_name) => {
                self.expr(e, BinaryOp::Less.level() + OPERATORS + 1);
                self.add(" as ");
                self.type_name(type_name);
            }
            ExprKind::InstanceOf(e, type_name) => {
                self.expr(e, BinaryOp::Less.level() + OPERATORS + 1);
                self.add(" instanceof ");
                self.type_name(type_name);
            }
            ExprKind::Declare(declaration) => self.declaration(declaration),
            ExprKind::Annotation(one) => self.annotation(one),
            ExprKind::Error => self.add("/* error */"),
        }
    }

    fn parts(&mut self, parts: &TextParts) {
        let start = self.text.len();
        self.add("\"");
        for (index, text) in parts.texts.iter().enumerate() {
            self.add(&escaped(text, '"'));
            let Some(value) = parts.values.get(index) else { continue };
            match &value.kind {
                ExprKind::Null => self.add("${}"),
                ExprKind::Closure(closure) => {
                    self.add("$");
                    self.closure("{", closure);
                }
                _ => {
                    self.add("${");
                    self.statement_expr(value);
                    self.add("}");
                }
            }
        }
        self.add("\"");
        // Only in triple quotes a value may go over lines.
        if self.text[start..].contains('\n') {
            self.text.insert_str(start, "\"\"");
            self.add("\"\"");
        }
    }

    /// Prints an expression where a brace at its start would be a block.
    pub(super) fn statement_expr(&mut self, expr: &Expr) {
        let start = self.text.len();
        self.expr(expr, ASSIGNMENT);
        if self.text[start..].starts_with('{') {
            self.text.insert(start, '(');
            self.add(")");
        }
    }

    pub(super) fn closure(&mut self, open: &str, closure: &Closure) {
        self.add(open);
        if let Some(parameters) = &closure.parameters {
            if !parameters.is_empty() {
                self.add(" ");
                self.parameters(parameters);
            }
            self.add(" ->");
        }
        self.statements(&closure.body.statements);
        self.add("}");
    }

    fn member(&mut self, member: &Member) {
        self.expr(&member.object, PATH);
        self.add(member.access.text());
        if member.is_field {
            self.add("@");
        }
        match &member.name {
            MemberName::Fixed(name) if is_plain_name(name) => self.add(name),
            MemberName::Fixed(name) => self.add(&format!("'{}'", escaped(name, '\''))),
            MemberName::Computed(name) => match &name.kind {
                ExprKind::Parts(_) | ExprKind::Paren(_) => self.expr(name, ASSIGNMENT),
                _ => self.expr(name, PRIMARY + 1),
            },
        }
        debug_assert!(member.access != Access::Pointer || !member.is_field);
    }

    pub(super) fn arguments(&mut self, open: &str, arguments: &[Arg], close: &str) {
        self.add(open);
        for (index, argument) in arguments.iter().enumerate() {
            self.add(if index == 0 { "" } else { ", " });
            self.argument(argument);
        }
        self.add(close);
    }

    fn argument(&mut self, argument: &Arg) {
        match argument {
            // `A < B, C > d` would be a declaration.
            Arg::Plain(e) if matches!(e.kind, ExprKind::Binary(BinaryOp::Less, ..)) => {
                self.expr(e, PRIMARY);
            }
            Arg::Plain(e) => self.expr(e, ASSIGNMENT),
            Arg::Named(key, e) => {
                match key {
                    Key::Name(name, _) if is_plain_name(name) => self.add(name),
                    Key::Name(name, _) => self.add(&format!("'{}'", escaped(name, '\''))),
                    Key::Expr(key) => match &key.kind {
                        ExprKind::Text(_) | ExprKind::Parts(_) | ExprKind::Paren(_) => {
                            self.expr(key, ASSIGNMENT);
                        }
                        ExprKind::Number(number) if !is_negative(number) => self.expr(key, PRIMARY),
                        _ => self.expr(key, PRIMARY + 1),
                    },
                }
                self.add(": ");
                self.expr(e, ASSIGNMENT);
            }
            Arg::Spread(e) => {
                self.add("*");
                self.expr(e, ASSIGNMENT);
            }
            Arg::SpreadMap(e) => {
                self.add("*: ");
                self.expr(e, ASSIGNMENT);
            }
        }
    }

    pub(super) fn type_name(&mut self, type_name: &TypeName) {
        self.add(&type_name.name);
        if let Some((word, bound)) = &type_name.bound {
            self.add(&format!(" {word} "));
            self.type_name(bound);
        }
        if let Some(arguments) = &type_name.arguments {
            self.add("<");
            for (index, argument) in arguments.iter().enumerate() {
                self.add(if index == 0 { "" } else { ", " });
                self.type_name(argument);
            }
            self.add(">");
        }
        self.add(&"[]".repeat(type_name.dimensions as usize));
    }
}

fn number_text(number: &Number) -> String {
    match number {
        Number::Int(value) => value.to_string(),
        Number::Long(value) => format!("{value}L"),
        Number::BigInteger(digits) => format!("{digits}g"),
        Number::BigDecimal(one) => decimal_text(one),
        Number::Float(value) if value.is_infinite() => sign_of(*value < 0.0, "1e999f"),
        Number::Float(value) => format!("{value}f"),
        Number::Double(value) if value.is_infinite() => sign_of(*value < 0.0, "1e999d"),
        Number::Double(value) => format!("{value}d"),
    }
}

fn sign_of(negative: bool, text: &str) -> String {
    if negative { format!("-{text}") } else { text.to_owned() }
}

fn decimal_text(one: &Decimal) -> String {
    if !(1..=30).contains(&one.scale) {
        return format!("{}e{}", one.digits, -i64::from(one.scale));
    }
    let (sign, digits) = match one.digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", one.digits.as_str()),
    };
    let width = one.scale as usize + 1;
    let digits = format!("{digits:0>width$}");
    let (whole, part) = digits.split_at(digits.len() - one.scale as usize);
    format!("{sign}{whole}.{part}")
}
