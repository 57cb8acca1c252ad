//! `post` and `fork`.

use super::body::{Body, Local, Val};
use super::declare::numbers;
use super::symbols::Symbol;
use super::ty::Ty;
use crate::ast::{Expr, Fork, Post, PostTarget, Ref};
use crate::diagnostic::Code;
use anyorder_vm::program::{self as vm, HandlerId, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// Posts a task: arguments, index of the handler, delay, in this order. `want` is `None` when nobody needs the handle.
    pub(crate) fn post(&mut self, e: &Expr, post: &'a Post, want: Option<Option<Reg>>) -> Val {
        let Some(Symbol::Task(t)) = self.low.symbols.get(&post.task.name) else {
            let message = format!("`{}` is no task", post.task.name);
            return self.unknown(Code::WRONG_KIND, post.task.span, message);
        };
        let info = &self.low.symbols.tasks[t];
        let (task, decl, params) = (info.id, info.decl, info.params.clone());
        let dst = want.map_or(Reg::NONE, |want| self.dst(want));
        let mark = self.mark();
        let args = self.typed_args(&post.args, &params);
        let target = match &post.target {
            PostTarget::Any => vm::PostTarget::Any,
            PostTarget::Handler(r) => self.handler(r),
            PostTarget::Default => match &decl.on {
                Some(on) if !self.has_own_handler(t) => {
                    // The index is computed from the arguments, in the scope of the declaration.
                    let caller = std::mem::take(&mut self.locals);
                    for (param, i) in decl.params.iter().zip(numbers(0)) {
                        let (reg, ty) = (args.plus(i), params[usize::from(i)].clone());
                        self.locals.push(Local { name: &param.name.name, reg, ty });
                    }
                    let bound = self.bound.take();
                    let target = self.handler(on);
                    self.bound = bound;
                    self.locals = caller;
                    target
                }
                _ => vm::PostTarget::Own,
            },
        };
        let delay = match &post.after {
            Some(delay) => {
                let delay = self.expr(delay);
                self.check(delay.reg, &delay.ty, &Ty::Int);
                delay.reg
            }
            None => Reg::NONE,
        };
        let entry = vm::Post { task, target, delay, front: post.front };
        let known = self.low.b.program().posts.iter().position(|p| *p == entry);
        let id = match known.and_then(|i| u16::try_from(i).ok()) {
            Some(i) => vm::PostId(i),
            None => self.low.b.post_with(entry),
        };
        self.release(mark);
        self.emit_at(e.span, Op::Post { dst, post: id, args });
        Val::new(dst, Ty::Handle)
    }

    /// Whether the handler of a task does not depend on its arguments.
    fn has_own_handler(&self, task: usize) -> bool {
        let id = self.low.symbols.tasks[task].id;
        self.low.b.program().tasks.get(id.index()).is_some_and(|t| t.handler.is_some())
    }

    fn handler(&mut self, r: &'a Ref) -> vm::PostTarget {
        let Some(Symbol::Handler(h)) = self.low.symbols.get(&r.name.name) else {
            self.low.error(Code::WRONG_KIND, r.span, format!("`{}` is no handler", r.name.name));
            return vm::PostTarget::Handler(HandlerId::default(), Reg::NONE);
        };
        let id = self.low.symbols.handlers[h].id;
        vm::PostTarget::Handler(id, self.index(r))
    }

    /// Starts a thread that runs a function.
    pub(crate) fn fork(&mut self, e: &Expr, fork: &'a Fork, want: Option<Reg>) -> Val {
        let symbols = &self.low.symbols;
        let known = match symbols.get(&fork.function.name) {
            Some(Symbol::Func(f)) => Some((symbols.funcs[f].id, symbols.funcs[f].params.clone())),
            Some(Symbol::Task(t)) => Some((symbols.tasks[t].body, symbols.tasks[t].params.clone())),
            _ => None,
        };
        let Some((func, params)) = known else {
            let message = format!("`{}` is no function", fork.function.name);
            return self.unknown(Code::WRONG_KIND, fork.function.span, message);
        };
        let dst = self.dst(want);
        let mark = self.mark();
        let args = self.typed_args(&fork.args, &params);
        self.release(mark);
        self.emit_at(e.span, Op::Fork { dst, func, args });
        Val::new(dst, Ty::Handle)
    }
}
