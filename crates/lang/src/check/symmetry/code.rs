//! The code behind calls, and what may fail in it.

use super::flow::{Body, Flow};
use super::shape::Shape;
use crate::ast::{BinaryOp, Block, ClosureBody, Expr, ExprKind, ItemKind};

impl<'a> Flow<'a> {
    /// The code of a function, method or task.
    pub(super) fn block_of(&self, body: Body) -> Option<&'a Block> {
        let item = |at: usize| self.model.items.get(at).map(|item| &item.kind);
        match body {
            Body::Function(id) => match item(self.program.functions.get(id.index())?.item)? {
                ItemKind::Fn(decl) => Some(&decl.body),
                _ => None,
            },
            Body::Task(id) => match item(self.program.tasks.get(id.index())?.item)? {
                ItemKind::Task(decl) => Some(&decl.body),
                _ => None,
            },
            Body::Method(id, at) => match item(self.program.classes.get(id.index())?.item)? {
                ItemKind::Class(decl) => {
                    let methods = decl.members.iter().filter_map(|member| match member {
                        crate::ast::ClassMember::Method(m) => Some(&m.body),
                        crate::ast::ClassMember::Field(_) => None,
                    });
                    methods.into_iter().nth(at as usize)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Notes what may fail in a function applied to all members: which one fails first would depend on their order.
    pub(super) fn fallible(&mut self, closure: &'a crate::ast::Closure, over: &Shape) {
        let mut found = Vec::new();
        let mut look = |e: &'a Expr| {
            if matches!(e.kind, ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem, .. }) {
                found.push(e.span);
            }
        };
        match &closure.body {
            ClosureBody::Expr(e) => crate::ast::walk_expr(e, &mut look),
            ClosureBody::Block(block) => crate::ast::walk_block(block, &mut look),
        }
        let leaves = match over {
            Shape::List(leaf, _) => vec![*leaf],
            other => self.leaves(other),
        };
        for (span, leaf) in found.iter().flat_map(|s| leaves.iter().map(move |leaf| (*s, *leaf))) {
            let what = "gone through in an order that decides whether this fails";
            self.demand(leaf, span, super::result::SymmetryRule::LoopOrder, what);
        }
    }
}
