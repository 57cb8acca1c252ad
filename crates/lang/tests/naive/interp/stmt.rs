//! Statements that touch nothing but control and places: semantics.md, section 6.

use super::fired::rule;
use super::program::Mutant;
use super::run::{Flow, Res, Run, Stop};
use super::state::Context;
use super::value::Value;
use anyorder_lang::ast::*;

const NEXT: Flow = Flow::Next(Value::Null);

impl Run {
    pub fn block_of(&mut self, block: &'static Block) -> Res<Flow> {
        for (i, stmt) in block.stmts.iter().enumerate() {
            let flow = self.within(Context::Block(block, i + 1), |run| run.stmt(stmt))?;
            if !matches!(flow, Flow::Next(_)) {
                return Ok(flow);
            }
        }
        match &block.value {
            None => Ok(NEXT),
            Some(value) => {
                let context = Context::Block(block, usize::MAX);
                self.within(context, |run| run.eval(value)).map(Flow::Next)
            }
        }
    }

    fn operand(&mut self, id: NodeId, e: &'static Expr) -> Res<Value> {
        Ok(self.operands(id, &[e], vec![])?.remove(0))
    }

    fn stmt(&mut self, stmt: &'static Stmt) -> Res<Flow> {
        self.tick()?;
        self.at = stmt.span;
        match &stmt.kind {
            StmtKind::Let { name, ty, value } => {
                rule("A4");
                let context = Context::Kill(name.name.clone());
                let value = self.within(context, |run| run.operand(stmt.id, value))?;
                self.at = stmt.span;
                if let Some(ty) = ty {
                    self.check_type(ty, &value)?;
                }
                self.locals().insert(name.name.clone(), value);
                Ok(NEXT)
            }
            StmtKind::Assign { place, op, value } => self.assign(stmt, place, *op, value),
            StmtKind::Step { place, up } => {
                let op = if *up { BinaryOp::Add } else { BinaryOp::Sub };
                self.update(stmt, place, op, Value::Int(1))
            }
            StmtKind::Expr(e) | StmtKind::Call(e) => {
                self.within(Context::Drop, |run| run.eval(e))?;
                Ok(NEXT)
            }
            StmtKind::If(branch) => self.branch(branch).map(drop_value),
            StmtKind::Match(m) => self.matching(m).map(drop_value),
            StmtKind::While { cond, body } => loop {
                self.tick()?;
                let holds =
                    self.within(Context::WhileCond(stmt), |run| run.operand(stmt.id, cond))?;
                if !self.bool(cond, &holds)? {
                    return Ok(NEXT);
                }
                match self.within(Context::Loop(stmt), |run| run.block_of(body))? {
                    Flow::Break => return Ok(NEXT),
                    Flow::Return(value) => return Ok(Flow::Return(value)),
                    Flow::Next(_) | Flow::Continue => {}
                }
            },
            StmtKind::Loop(body) => loop {
                self.tick()?;
                match self.within(Context::Loop(stmt), |run| run.block_of(body))? {
                    Flow::Break => return Ok(NEXT),
                    Flow::Return(value) => return Ok(Flow::Return(value)),
                    Flow::Next(_) | Flow::Continue => {}
                }
            },
            StmtKind::For { var, iter, body } => self.for_each(stmt, &var.name, iter, body),
            StmtKind::Break => Ok(Flow::Break),
            StmtKind::Continue => Ok(Flow::Continue),
            StmtKind::Return(None) => Ok(Flow::Return(Value::Null)),
            StmtKind::Return(Some(e)) => Ok(Flow::Return(self.operand(stmt.id, e)?)),
            StmtKind::Block(block) => self.block_of(block).map(drop_value),
            StmtKind::Assert { cond, .. } => {
                let holds = self.operand(stmt.id, cond)?;
                if self.bool(cond, &holds)? || self.wrongly(Mutant::AssertIgnored) {
                    Ok(NEXT)
                } else {
                    self.fail_at(stmt, "assert")
                }
            }
            StmtKind::Assume(cond) => {
                rule("A6");
                let holds = self.operand(stmt.id, cond)?;
                if self.bool(cond, &holds)? || self.p.mutant == Mutant::AssumeIgnored {
                    Ok(NEXT)
                } else {
                    Err(Stop::Dropped)
                }
            }
            StmtKind::Fail(_) => self.fail_at(stmt, "fail"),
            StmtKind::Choose(alternatives) => {
                let choice = self.within(Context::Alternatives(stmt), |run| {
                    run.act(stmt.id, 90, vec![], |run| {
                        run.choose(alternatives.len()).map(|n| Value::Int(n as i64))
                    })
                })?;
                let Value::Int(n) = choice else { panic!("no number") };
                self.block_of(&alternatives[n as usize].body).map(drop_value)
            }
            StmtKind::Atomic(body) => {
                if self.wrongly(Mutant::AtomicIsNothing) {
                    return Ok(drop_value(self.block_of(body)?));
                }
                rule("A2");
                self.within(Context::Body(body), |run| {
                    run.look(stmt.id, 91, vec![], |_| Ok(Value::Null))
                })?;
                self.atomic_depth += 1;
                let flow = self.block_of(body)?;
                self.atomic_depth -= 1;
                Ok(drop_value(flow))
            }
            _ => self.sync_stmt(stmt),
        }
    }

    fn fail_at<T>(&mut self, stmt: &Stmt, kind: &'static str) -> Res<T> {
        self.at = stmt.span;
        self.fail(kind)
    }

    /// X5.
    fn assign(
        &mut self,
        stmt: &'static Stmt,
        place: &'static Expr,
        op: AssignOp,
        value: &'static Expr,
    ) -> Res<Flow> {
        let local = match &place.kind {
            ExprKind::Name(name) if name.contains('·') => Some(name.clone()),
            _ => None,
        };
        let context = match (op, local) {
            (AssignOp::Set, Some(name)) => Context::Kill(name),
            _ => Context::Operands { id: stmt.id, phase: 70, temps: vec![], rest: vec![place] },
        };
        let early = if self.p.mutant == Mutant::PlaceFirst && op == AssignOp::Set {
            Some(self.place(place, &[])?)
        } else {
            None
        };
        let value = self.within(context, |run| run.operand(stmt.id, value))?;
        self.at = stmt.span;
        let op = match op {
            AssignOp::Set => {
                let place = match early {
                    Some(place) => place,
                    None => {
                        let temps = vec![value.clone()];
                        let context =
                            Context::Operands { id: stmt.id, phase: 71, temps, rest: vec![] };
                        self.within(context, |run| run.place(place, &[]))?
                    }
                };
                self.at = stmt.span;
                self.store_all(stmt.id, place, value)?;
                return Ok(NEXT);
            }
            AssignOp::Add => BinaryOp::Add,
            AssignOp::Sub => BinaryOp::Sub,
            AssignOp::Mul => BinaryOp::Mul,
            AssignOp::Div => BinaryOp::Div,
            AssignOp::Rem => BinaryOp::Rem,
        };
        self.update(stmt, place, op, value)
    }

    fn update(
        &mut self,
        stmt: &'static Stmt,
        place: &'static Expr,
        op: BinaryOp,
        value: Value,
    ) -> Res<Flow> {
        let temps = vec![value.clone()];
        let context = Context::Operands { id: stmt.id, phase: 72, temps, rest: vec![] };
        rule("T7");
        let (place, old) = self.within(context, |run| {
            let mut place = run.place(place, &[])?;
            run.at = stmt.span;
            let old = run.fetch(stmt.id, &mut place, &[])?;
            Ok((place, old))
        })?;
        self.at = stmt.span;
        let new = self.binary(op, &old, &value)?;
        self.store(stmt.id, place, new, vec![])?;
        Ok(NEXT)
    }

    /// Writes to a place of which a part is written: the rest is read first, unless the location is
    /// that part alone.
    fn store_all(&mut self, id: NodeId, mut place: super::place::Place, value: Value) -> Res<()> {
        use super::place::{Location, Part};
        let shared = !matches!(place.location, Location::Local(_) | Location::LocalPart(..));
        if shared && !place.path.is_empty() && place.read.is_none() {
            let last: Vec<Part> = std::mem::take(&mut place.path);
            let temps = vec![value.clone()];
            let context = Context::Operands { id, phase: 73, temps, rest: vec![] };
            self.within(context, |run| run.fetch(id, &mut place, &[]))?;
            place.path = last;
        }
        self.store(id, place, value, vec![])
    }

    pub fn branch(&mut self, branch: &'static If) -> Res<Flow> {
        let context = Context::IfCond(branch);
        let holds = self.within(context, |run| run.eval(&branch.cond))?;
        if self.bool(&branch.cond, &holds)? {
            return self.block_of(&branch.then);
        }
        match &branch.otherwise {
            None => Ok(NEXT),
            Some(IfElse::Block(block)) => self.block_of(block),
            Some(IfElse::If(branch)) => self.branch(branch),
        }
    }

    /// X16.
    pub fn matching(&mut self, m: &'static Match) -> Res<Flow> {
        let value = self.within(Context::Subject(m), |run| run.eval(&m.subject))?;
        rule("X16");
        let mut arms: Vec<&'static Arm> = m.arms.iter().collect();
        if self.wrongly(Mutant::LastArmWins) {
            arms.reverse();
        }
        for arm in arms {
            let mut bindings = vec![];
            if !self.fits(&arm.pattern, &value, &mut bindings) {
                continue;
            }
            self.locals().extend(bindings);
            return match &arm.body {
                ArmBody::Block(block) => self.block_of(block),
                ArmBody::Expr(e) => self.eval(e).map(Flow::Next),
            };
        }
        self.at = m.subject.span;
        self.fail("no_match")
    }

    fn fits(&self, pattern: &Pattern, value: &Value, bindings: &mut Vec<(String, Value)>) -> bool {
        match (&pattern.kind, value) {
            (PatternKind::Wildcard, _) => true,
            (PatternKind::Int(a), Value::Int(b)) => a == b,
            (PatternKind::Bool(a), Value::Bool(b)) => a == b,
            (PatternKind::Str(a), Value::Str(b)) => a == b,
            (PatternKind::Null, Value::Null) => true,
            (
                PatternKind::Variant { enum_name, variant, args },
                Value::Enum(ty, number, payload),
            ) => {
                let decl = self.p.enums[*ty];
                decl.name.name == enum_name.name
                    && decl.variants[*number].name.name == variant.name
                    && args.iter().zip(payload).all(|(p, v)| self.fits(p, v, bindings))
            }
            (PatternKind::Binding(name), _) => {
                bindings.push((name.name.clone(), value.clone()));
                true
            }
            _ => false,
        }
    }

    fn for_each(
        &mut self,
        stmt: &'static Stmt,
        var: &str,
        iter: &'static Expr,
        body: &'static Block,
    ) -> Res<Flow> {
        if self.p.one_step.contains(&iter.id) && !self.wrongly(Mutant::IndexLoopSteps) {
            rule("T13");
            let rest = vec![iter];
            let before = Context::Operands { id: stmt.id, phase: 92, temps: vec![], rest };
            self.within(Context::ForIter(stmt), |run| {
                run.within(before, |run| run.look(stmt.id, 91, vec![], |_| Ok(Value::Null)))
            })?;
            self.atomic_depth += 1;
            let flow = self.rounds(stmt, var, iter, body)?;
            self.atomic_depth -= 1;
            return Ok(flow);
        }
        self.rounds(stmt, var, iter, body)
    }

    fn rounds(
        &mut self,
        stmt: &'static Stmt,
        var: &str,
        iter: &'static Expr,
        body: &'static Block,
    ) -> Res<Flow> {
        let items = self.within(Context::ForIter(stmt), |run| run.operand(stmt.id, iter))?;
        self.at = iter.span;
        let items = match items {
            Value::List(items) | Value::Set(items) => items,
            Value::Map(entries) => entries.into_iter().map(|(k, _)| k).collect(),
            other => return self.wrong(&other),
        };
        rule("A5");
        let skipped = usize::from(self.wrongly(Mutant::ForSkipsLast));
        for (i, item) in items.iter().enumerate().take(items.len().saturating_sub(skipped)) {
            self.tick()?;
            self.locals().insert(var.to_string(), item.clone());
            let context = Context::For(stmt, items.clone(), i + 1);
            match self.within(context, |run| run.block_of(body))? {
                Flow::Break => break,
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next(_) | Flow::Continue => {}
            }
        }
        Ok(NEXT)
    }
}

/// The value of a block that is a statement is not used; but the flow of a branch used as an
/// expression is needed.
fn drop_value(flow: Flow) -> Flow {
    match flow {
        Flow::Next(_) => NEXT,
        other => other,
    }
}
