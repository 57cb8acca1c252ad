//! Compiles the statements without blocks, posts and expressions.

use crate::ast::{Expr, Kept, Lane, Operator, Place, Post, Stmt, Target};
use crate::code::{Goal, Op, Position, Register, Shared};
use crate::compile::{Writer, position};

impl Writer<'_> {
    pub(crate) fn simple(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(place, value) => {
                let value = self.expr(value);
                self.assign(place, value, position(stmt));
            }
            Stmt::Add(place, value) => {
                let value = self.expr(value);
                self.add(place, value, position(stmt));
            }
            Stmt::Increment(place) => {
                let one = self.fresh();
                self.push(Op::Int(one, 1));
                self.add(place, one, position(stmt));
            }
            Stmt::Push(var, value) => {
                let (value, list) = (self.expr(value), self.fresh());
                self.push(Op::Read(Shared::Var(*var), list, 0));
                self.push(Op::Push(list, value));
                self.push(Op::Write(Shared::Var(*var), list, 0));
            }
            Stmt::Pop(var) => {
                let list = self.fresh();
                self.push(Op::Read(Shared::Var(*var), list, 0));
                self.push(Op::Pop(list, position(stmt)));
                self.push(Op::Write(Shared::Var(*var), list, 0));
            }
            Stmt::Assert(condition, _) => {
                let condition = self.expr(condition);
                self.push(Op::Assert(condition, position(stmt)));
            }
            Stmt::Fail => self.push(Op::Fail(position(stmt))),
            Stmt::Assume(condition) => {
                let condition = self.expr(condition);
                self.push(Op::Assume(condition));
            }
            Stmt::Cancel(place) => {
                let handle = self.read(place, 0);
                self.push(Op::Cancel(handle));
            }
            Stmt::Enable(event, at, on) => {
                let members = self.compiler.members_of(*event);
                let members = match at {
                    Some(at) => vec![members[*at as usize]],
                    None => members,
                };
                self.push(Op::Enable(members, *on));
            }
            Stmt::Acquire(lock) => self.push(Op::Acquire(*lock, position(stmt))),
            Stmt::Release(lock) => self.push(Op::Release(*lock, position(stmt))),
            Stmt::Yield => self.push(Op::Yield),
            other => unreachable!("{other:?} is written elsewhere"),
        }
    }

    pub(crate) fn post(&mut self, post: &Post) {
        let argument = post.argument.as_ref().map(|argument| self.expr(argument));
        let code = &self.compiler.model.codes[post.code];
        let home = |lane: Option<Lane>| match lane {
            Some((handler, at)) => Goal::Handler(self.compiler.mailbox(handler) + at),
            None => Goal::Own,
        };
        let goal = match &post.target {
            Target::Home => home(code.home),
            Target::To(handler, None) => Goal::Handler(self.compiler.mailbox(*handler)),
            Target::To(handler, Some(index)) => {
                let index = self.expr(index);
                Goal::Element(self.compiler.mailbox(*handler), index)
            }
            Target::AsyncMain => {
                let handlers = &self.compiler.model.handlers;
                let main = handlers.iter().position(|one| one.name == "main");
                Goal::Handler(self.compiler.mailbox(main.expect("`main`")))
            }
            Target::AsyncAny | Target::Any => Goal::Own,
        };
        let delay = post.after.as_ref().map(|delay| self.expr(delay));
        let handle = match post.kept {
            Kept::Local(name) => self.declare(name),
            _ => self.fresh(),
        };
        self.push(Op::Post {
            code: post.code,
            argument,
            goal,
            delay,
            front: post.front,
            handle,
            at: position(post),
        });
        if let Kept::Var(var) = post.kept {
            self.push(Op::Write(Shared::Var(var), handle, 0));
        }
        let local = matches!(post.kept, Kept::Local(_));
        let temporary = [argument, delay].into_iter().flatten();
        let handle = (!local).then_some(handle);
        let all: Vec<Register> = temporary.chain(handle).collect();
        all.into_iter().for_each(|one| self.push(Op::Clear(one, one + 1)));
    }

    fn shared(&mut self, place: &Place) -> Option<Shared> {
        match place {
            Place::Var(var) => Some(Shared::Var(*var)),
            Place::Element(var, index) => Some(Shared::Element(*var, self.expr(index))),
            Place::Local(_) => None,
        }
    }

    fn assign(&mut self, place: &Place, value: Register, at: Position) {
        match (self.shared(place), place) {
            (Some(shared), _) => self.push(Op::Write(shared, value, at)),
            (None, Place::Local(name)) => {
                let to = self.local(*name);
                self.push(Op::Copy(to, value));
            }
            _ => {}
        }
    }

    fn add(&mut self, place: &Place, value: Register, at: Position) {
        let sum = self.fresh();
        match (self.shared(place), place) {
            (Some(shared), _) => {
                self.push(Op::Read(shared, sum, at));
                self.push(Op::Binary(sum, Operator::Add, sum, value, at));
                self.push(Op::Write(shared, sum, at));
            }
            (None, Place::Local(name)) => {
                let to = self.local(*name);
                self.push(Op::Binary(to, Operator::Add, to, value, at));
            }
            _ => {}
        }
    }

    fn read(&mut self, place: &Place, at: Position) -> Register {
        match (self.shared(place), place) {
            (Some(shared), _) => {
                let to = self.fresh();
                self.push(Op::Read(shared, to, at));
                to
            }
            (None, Place::Local(name)) => {
                // A copy: the local may change before the value is used.
                let (to, from) = (self.fresh(), self.local(*name));
                self.push(Op::Copy(to, from));
                to
            }
            _ => unreachable!("a place is shared or a local"),
        }
    }

    pub(crate) fn expr(&mut self, expr: &Expr) -> Register {
        let outer = std::mem::replace(&mut self.here, position(expr));
        let value = self.value(expr);
        self.here = outer;
        value
    }

    fn value(&mut self, expr: &Expr) -> Register {
        match expr {
            Expr::Place(place) => self.read(place, position(expr)),
            Expr::Int(value) => {
                let to = self.fresh();
                self.push(Op::Int(to, *value));
                to
            }
            Expr::Whole(var) => {
                let to = self.fresh();
                self.push(Op::Read(Shared::Var(*var), to, 0));
                self.push(Op::Whole(to));
                to
            }
            Expr::Parameter => {
                let to = self.fresh();
                match self.call().parameter {
                    Some(from) => self.push(Op::Copy(to, from)),
                    None => self.push(Op::Parameter(to)),
                }
                to
            }
            Expr::Not(inner) => {
                let (inner, to) = (self.expr(inner), self.fresh());
                self.push(Op::Not(to, inner));
                to
            }
            Expr::Enabled(event) => {
                let to = self.fresh();
                self.push(Op::Enabled(self.compiler.members_of(*event), to));
                to
            }
            Expr::Binary(operator @ (Operator::And | Operator::Or), a, b) => {
                // The right side is evaluated only if it decides.
                let (to, a) = (self.fresh(), self.expr(a));
                self.push(Op::Copy(to, a));
                let test = self.fresh();
                match operator {
                    Operator::And => self.push(Op::Copy(test, a)),
                    _ => self.push(Op::Not(test, a)),
                }
                let skip = self.unless(test);
                let b = self.expr(b);
                self.push(Op::Copy(to, b));
                let here = self.ops.len();
                self.patch(&[skip], here);
                to
            }
            Expr::Binary(operator, a, b) => {
                let (a, b, to) = (self.expr(a), self.expr(b), self.fresh());
                self.push(Op::Binary(to, *operator, a, b, position(expr)));
                to
            }
        }
    }
}
