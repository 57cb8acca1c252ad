//! `post` and `fork`.

use super::body::Body;
use super::lowerer::{numbers, position};
use crate::ast::{Expr, Fork, ItemKind, Post, PostTarget, Ref};
use crate::check::{Meaning, TaskId};
use anyorder_program::{self as program, HandlerId, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// Posts a task: arguments, index of the handler, delay, in this order. `dst` is `NONE` when
    /// nobody needs the handle.
    pub(crate) fn post(&mut self, e: &Expr, post: &'a Post, dst: Reg) {
        let Some(Meaning::Task(id)) = self.meaning(post.task.id) else { return };
        let args = self.typed_args(&post.args);
        let target = match &post.target {
            PostTarget::Any => program::PostTarget::Any,
            PostTarget::Handler(r) => self.handler(r),
            PostTarget::Default => self.declared_handler(id, args),
        };
        let delay = match &post.after {
            Some(delay) => {
                let reg = self.expr(delay);
                self.check(delay, reg);
                reg
            }
            None => Reg::NONE,
        };
        let entry = program::Post { task: id.into(), target, delay, front: post.front };
        let post = match position(&self.low.b.program().posts, &entry) {
            Some(at) => program::PostId(at),
            None => self.low.b.post_with(entry),
        };
        self.emit_at(e.span, Op::Post { dst, post, args });
    }

    /// Returns the handler after `on`. If its index depends on the arguments, it is computed from
    /// them.
    fn declared_handler(&mut self, id: TaskId, args: Reg) -> program::PostTarget {
        let (model, item) = (self.low.model, self.low.tables.tasks[id.index()].item);
        let own = self.low.b.program().tasks.get(id.index()).and_then(|task| task.handler);
        let ItemKind::Task(decl) = &model.items[item].kind else { return program::PostTarget::Own };
        let (Some(on), None) = (&decl.on, own) else { return program::PostTarget::Own };
        let scope = self.locals.len();
        for (param, i) in decl.params.iter().zip(numbers(0)) {
            let local = self.local_of(&param.name);
            self.locals.extend(local.map(|local| (local, args.plus(i))));
        }
        let target = self.handler(on);
        self.locals.truncate(scope);
        target
    }

    fn handler(&mut self, r: &'a Ref) -> program::PostTarget {
        let id = match self.meaning(r.name.id) {
            Some(Meaning::Handler(id)) => id.into(),
            _ => HandlerId::default(),
        };
        program::PostTarget::Handler(id, self.index(r))
    }

    /// Starts a thread that runs a function.
    pub(crate) fn fork(&mut self, e: &Expr, fork: &'a Fork, dst: Reg) {
        if let Some(func) = self.callee(fork.function.id) {
            let args = self.typed_args(&fork.args);
            self.emit_at(e.span, Op::Fork { dst, func, args });
        }
    }
}
