//! The comparison of trees notices every change of a tree: one node changed, another canonical
//! form.

use crate::generate::Generator;
use anyorder_common::random::{Random, Rng};
use anyorder_groovy::ast::{
    Access, Arg, BinaryOp, Expr, ExprKind, ForHead, IncDec, MemberName, Stmt, StmtKind, UnaryOp,
};
use anyorder_groovy::{parse, print::show};
use anyorder_testkit::effort;
use std::collections::BTreeMap;

/// Changes the node of a number, counted in preorder; `Some` with the kind of the change when it is
/// done.
struct Change {
    left: usize,
    done: Option<&'static str>,
}

impl Change {
    /// Returns whether it is the turn of this node.
    fn is_due(&mut self) -> bool {
        let due = self.left == 0 && self.done.is_none();
        self.left = self.left.saturating_sub(1);
        due
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        if self.done.is_some() {
            return;
        }
        match &mut stmt.kind {
            StmtKind::If(condition, yes, no) => {
                if self.is_due() && no.is_some() {
                    *no = None;
                    self.done = Some("else");
                }
                self.expr(condition);
                self.stmt(yes);
                no.iter_mut().for_each(|no| self.stmt(no));
            }
            StmtKind::While(condition, body) => {
                self.expr(condition);
                self.stmt(body);
            }
            StmtKind::For(head, body) => {
                if let ForHead::Each(variable, items) = &mut **head {
                    if self.is_due() {
                        variable.name.push('9');
                        self.done = Some("variable of a loop");
                    }
                    self.expr(items);
                }
                self.stmt(body);
            }
            StmtKind::Block(block) => {
                if self.is_due() && !block.statements.is_empty() {
                    block.statements.pop();
                    self.done = Some("statement of a block");
                }
                block.statements.iter_mut().for_each(|one| self.stmt(one));
            }
            StmtKind::Return(Some(e)) | StmtKind::Throw(e) | StmtKind::Expr(e) => self.expr(e),
            StmtKind::Declare(declaration) => {
                for one in &mut declaration.variables {
                    if self.is_due() {
                        one.name.push('9');
                        self.done = Some("name of a variable");
                    }
                    one.value.iter_mut().for_each(|e| self.expr(e));
                }
            }
            StmtKind::Method(method) => {
                if self.is_due() && !method.parameters.is_empty() {
                    method.parameters.pop();
                    self.done = Some("parameter");
                }
                if let Some(block) = &mut method.body {
                    block.statements.iter_mut().for_each(|one| self.stmt(one));
                }
            }
            StmtKind::Switch(e, cases) => {
                self.expr(e);
                for case in cases {
                    case.value.iter_mut().for_each(|e| self.expr(e));
                    case.body.iter_mut().for_each(|one| self.stmt(one));
                }
            }
            _ => {}
        }
    }

    fn arguments(&mut self, arguments: &mut Vec<Arg>) {
        if self.is_due() && !arguments.is_empty() {
            arguments.pop();
            self.done = Some("argument");
            return;
        }
        for one in arguments {
            match one {
                Arg::Plain(e) | Arg::Named(_, e) | Arg::Spread(e) | Arg::SpreadMap(e) => {
                    self.expr(e);
                }
            }
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        if self.done.is_some() {
            return;
        }
        let due = self.is_due();
        match &mut expr.kind {
            ExprKind::Bool(value) if due => {
                *value = !*value;
                self.done = Some("boolean");
            }
            ExprKind::Text(text) if due => {
                text.push('!');
                self.done = Some("text");
            }
            ExprKind::Name(name) if due => {
                name.push('9');
                self.done = Some("name");
            }
            ExprKind::Null if due => {
                expr.kind = ExprKind::Bool(true);
                self.done = Some("null");
            }
            ExprKind::Unary(op, _) if due => {
                *op = if *op == UnaryOp::Not { UnaryOp::Complement } else { UnaryOp::Not };
                self.done = Some("operator before");
            }
            ExprKind::Prefix(op, _) | ExprKind::Postfix(op, _) if due => {
                *op = match op {
                    IncDec::Increment => IncDec::Decrement,
                    IncDec::Decrement => IncDec::Increment,
                };
                self.done = Some("increment");
            }
            ExprKind::Binary(op, a, b) => {
                if due {
                    *op = if *op == BinaryOp::Add { BinaryOp::Subtract } else { BinaryOp::Add };
                    self.done = Some("operator");
                    return;
                }
                if self.is_due() && show_one(a) != show_one(b) {
                    std::mem::swap(a, b);
                    self.done = Some("order of operands");
                    return;
                }
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Member(member) => {
                if due {
                    member.access = match member.access {
                        Access::Dot => Access::Safe,
                        _ => Access::Dot,
                    };
                    self.done = Some("access");
                    return;
                }
                if self.is_due()
                    && let MemberName::Fixed(name) = &mut member.name
                {
                    name.push('9');
                    self.done = Some("name of a member");
                    return;
                }
                self.expr(&mut member.object);
            }
            ExprKind::Call(callee, arguments) => {
                self.expr(callee);
                self.arguments(arguments);
            }
            ExprKind::List(arguments) => self.arguments(arguments),
            ExprKind::Index(object, arguments) => {
                self.expr(object);
                self.arguments(arguments);
            }
            ExprKind::Assign(op, target, value) => {
                if due {
                    *op = match op {
                        None => Some(BinaryOp::Add),
                        Some(_) => None,
                    };
                    self.done = Some("assignment");
                    return;
                }
                self.expr(target);
                self.expr(value);
            }
            ExprKind::Conditional(a, b, c) => {
                if due && show_one(b) != show_one(c) {
                    std::mem::swap(b, c);
                    self.done = Some("branches");
                    return;
                }
                [a, b, c].into_iter().for_each(|e| self.expr(e));
            }
            ExprKind::Elvis(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Closure(closure) => {
                if due && closure.parameters.is_none() {
                    closure.parameters = Some(vec![]);
                    self.done = Some("implicit parameter");
                    return;
                }
                closure.body.statements.iter_mut().for_each(|one| self.stmt(one));
            }
            ExprKind::Cast(typed, e) | ExprKind::As(e, typed) | ExprKind::InstanceOf(e, typed) => {
                if due {
                    typed.name.push('9');
                    self.done = Some("type");
                    return;
                }
                self.expr(e);
            }
            ExprKind::Paren(e) => self.expr(e),
            _ => {}
        }
    }
}

fn show_one(expr: &Expr) -> String {
    let stmt = Stmt::new(expr.span, StmtKind::Expr(expr.clone()));
    show(&anyorder_groovy::ast::Script { statements: vec![stmt] })
}

#[test]
fn every_changed_tree_has_another_form() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut missed = Vec::new();
    for seed in effort::seeds(3_000) {
        let mut rng = Rng::for_purpose(seed, *b"sabo");
        let text = Generator::new(seed).program();
        let parsed = parse(&text);
        if !parsed.diagnostics.is_empty() {
            continue;
        }
        let mut changed = parsed.script.clone();
        let mut change = Change { left: rng.index(12), done: None };
        changed.statements.iter_mut().for_each(|stmt| change.stmt(stmt));
        let Some(what) = change.done else { continue };
        *counts.entry(what).or_default() += 1;
        if show(&parsed.script) == show(&changed) {
            missed.push(format!("seed {seed}: {what}\n{text}\n{}", show(&changed)));
        }
    }
    println!("{counts:?}");
    assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed.join("\n----\n"));
    let kinds = [
        "else",
        "variable of a loop",
        "statement of a block",
        "name of a variable",
        "parameter",
        "argument",
        "boolean",
        "text",
        "name",
        "null",
        "operator before",
        "increment",
        "operator",
        "order of operands",
        "access",
        "name of a member",
        "assignment",
        "branches",
        "implicit parameter",
        "type",
    ];
    for kind in kinds {
        assert!(counts.contains_key(kind), "no change of {kind}");
    }
}
