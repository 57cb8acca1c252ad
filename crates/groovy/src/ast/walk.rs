//! Visiting every node of a tree.

use super::{
    Arg, Block, Class, Declaration, Expr, ExprKind, ForHead, Item, Key, MemberName, Method,
    Parameter, Stmt, StmtKind,
};

/// What is done at each node. A method that does not call its `walk_` function leaves out what is
/// below the node.
pub trait Visitor {
    /// Is called for each expression.
    fn expr(&mut self, expr: &Expr) {
        walk_expr(self, expr);
    }

    /// Is called for each statement.
    fn stmt(&mut self, stmt: &Stmt) {
        walk_stmt(self, stmt);
    }

    /// Is called for each method and constructor.
    fn method(&mut self, method: &Method) {
        walk_method(self, method);
    }
}

/// Visits the statements of a block.
pub fn walk_block<V: Visitor + ?Sized>(visitor: &mut V, block: &Block) {
    block.statements.iter().for_each(|stmt| visitor.stmt(stmt));
}

fn walk_parameters<V: Visitor + ?Sized>(visitor: &mut V, parameters: &[Parameter]) {
    parameters.iter().filter_map(|one| one.default.as_ref()).for_each(|e| visitor.expr(e));
}

fn walk_method<V: Visitor + ?Sized>(visitor: &mut V, method: &Method) {
    walk_parameters(visitor, &method.parameters);
    if let Some(body) = &method.body {
        walk_block(visitor, body);
    }
}

fn walk_declaration<V: Visitor + ?Sized>(visitor: &mut V, declaration: &Declaration) {
    declaration.variables.iter().filter_map(|one| one.value.as_ref()).for_each(|e| visitor.expr(e));
    declaration.together.iter().for_each(|e| visitor.expr(e));
}

fn walk_class<V: Visitor + ?Sized>(visitor: &mut V, class: &Class) {
    for constant in &class.constants {
        walk_arguments(visitor, constant.arguments.as_deref().unwrap_or_default());
        constant.body.iter().for_each(|body| walk_class(visitor, body));
    }
    for item in &class.items {
        match item {
            Item::Field(declaration) => walk_declaration(visitor, declaration),
            Item::Method(method) => visitor.method(method),
            Item::Class(class) => walk_class(visitor, class),
            Item::Initializer(_, block) => walk_block(visitor, block),
        }
    }
}

fn walk_arguments<V: Visitor + ?Sized>(visitor: &mut V, arguments: &[Arg]) {
    for argument in arguments {
        if let Arg::Named(Key::Expr(key), _) = argument {
            visitor.expr(key);
        }
        visitor.expr(argument.value());
    }
}

/// Visits what is directly below an expression.
pub fn walk_expr<V: Visitor + ?Sized>(visitor: &mut V, expr: &Expr) {
    match &expr.kind {
        ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Number(_)
        | ExprKind::Text(_)
        | ExprKind::Name(_)
        | ExprKind::EmptyMap
        | ExprKind::Annotation(_)
        | ExprKind::Error => {}
        ExprKind::Parts(parts) => parts.values.iter().for_each(|e| visitor.expr(e)),
        ExprKind::Paren(e)
        | ExprKind::Unary(_, e)
        | ExprKind::Prefix(_, e)
        | ExprKind::Postfix(_, e)
        | ExprKind::Cast(_, e)
        | ExprKind::As(e, _)
        | ExprKind::InstanceOf(e, _) => visitor.expr(e),
        ExprKind::List(entries) => walk_arguments(visitor, entries),
        ExprKind::Closure(closure) => {
            walk_parameters(visitor, closure.parameters.as_deref().unwrap_or_default());
            walk_block(visitor, &closure.body);
        }
        ExprKind::Member(member) => {
            visitor.expr(&member.object);
            if let MemberName::Computed(name) = &member.name {
                visitor.expr(name);
            }
        }
        ExprKind::Index(e, arguments) | ExprKind::Call(e, arguments) => {
            visitor.expr(e);
            walk_arguments(visitor, arguments);
        }
        ExprKind::New(_, arguments, body) => {
            walk_arguments(visitor, arguments);
            body.iter().for_each(|body| walk_class(visitor, body));
        }
        ExprKind::NewArray(_, sizes, _) => sizes.iter().for_each(|e| visitor.expr(e)),
        ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Elvis(a, b) => {
            visitor.expr(a);
            visitor.expr(b);
        }
        ExprKind::AssignMany(targets, value) => {
            targets.iter().for_each(|e| visitor.expr(e));
            visitor.expr(value);
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| visitor.expr(e)),
        ExprKind::Declare(declaration) => walk_declaration(visitor, declaration),
    }
}

/// Visits what is directly below a statement.
pub fn walk_stmt<V: Visitor + ?Sized>(visitor: &mut V, stmt: &Stmt) {
    match &stmt.kind {
        StmtKind::Empty
        | StmtKind::Package(_)
        | StmtKind::Import(_)
        | StmtKind::Break(_)
        | StmtKind::Continue(_)
        | StmtKind::Error => {}
        StmtKind::Class(class) => walk_class(visitor, class),
        StmtKind::Method(method) => visitor.method(method),
        StmtKind::Declare(declaration) => walk_declaration(visitor, declaration),
        StmtKind::Expr(e) | StmtKind::Throw(e) => visitor.expr(e),
        StmtKind::Block(block) => walk_block(visitor, block),
        StmtKind::If(e, yes, no) => {
            visitor.expr(e);
            visitor.stmt(yes);
            no.iter().for_each(|no| visitor.stmt(no));
        }
        StmtKind::While(e, body) => {
            visitor.expr(e);
            visitor.stmt(body);
        }
        StmtKind::For(head, body) => {
            match &**head {
                ForHead::Each(_, e) => visitor.expr(e),
                ForHead::Classic(first, condition, next) => {
                    [first, condition, next].into_iter().flatten().for_each(|e| visitor.expr(e));
                }
            }
            visitor.stmt(body);
        }
        StmtKind::Switch(e, cases) => {
            visitor.expr(e);
            for case in cases {
                case.value.iter().for_each(|e| visitor.expr(e));
                case.body.iter().for_each(|stmt| visitor.stmt(stmt));
            }
        }
        StmtKind::Try(block, catches, last) => {
            walk_block(visitor, block);
            catches.iter().for_each(|one| walk_block(visitor, &one.body));
            last.iter().for_each(|block| walk_block(visitor, block));
        }
        StmtKind::Synchronized(e, block) => {
            visitor.expr(e);
            walk_block(visitor, block);
        }
        StmtKind::Return(e) => e.iter().for_each(|e| visitor.expr(e)),
        StmtKind::Assert(e, message) => {
            visitor.expr(e);
            message.iter().for_each(|e| visitor.expr(e));
        }
    }
}
