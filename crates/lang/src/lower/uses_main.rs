//! Whether a model posts to `main`, which need not be declared.

use super::walk::walk_block;
use crate::ast::{Block, ClassMember, Expr, ExprKind, ItemKind, Model, PostTarget};

/// Whether somebody posts, or is declared to run, on a handler called `main`.
pub(crate) fn uses_main(model: &Model) -> bool {
    model.items.iter().any(|item| match &item.kind {
        ItemKind::Fn(f) => posts(&f.body),
        ItemKind::Task(t) => posts(&t.body) || t.on.as_ref().is_some_and(|r| r.name.name == "main"),
        ItemKind::Event(e) => {
            posts(&e.body) || e.on.as_ref().is_some_and(|r| r.name.name == "main")
        }
        ItemKind::Thread(t) => posts(&t.body),
        ItemKind::Init(b) => posts(b),
        ItemKind::Class(c) => c.members.iter().any(|m| match m {
            ClassMember::Method(f) => posts(&f.body),
            ClassMember::Field(_) => false,
        }),
        _ => false,
    })
}

fn posts(block: &Block) -> bool {
    let mut found = false;
    walk_block(block, &mut |e: &Expr| {
        if let ExprKind::Post(p) = &e.kind
            && let PostTarget::Handler(to) = &p.target
        {
            found |= to.name.name == "main";
        }
    });
    found
}
