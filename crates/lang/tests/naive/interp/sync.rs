//! Statements on events, tasks, locks, conditions and threads.

use super::fired::rule;
use super::program::Mutant;
use super::run::{Flow, Res, Run};
use super::state::{Body, Context, Control, Key, Pid, Waiting};
use super::value::Value;
use anyorder_lang::ast::*;

const NEXT: Flow = Flow::Next(Value::Null);

impl Run {
    pub fn sync_stmt(&mut self, stmt: &'static Stmt) -> Res<Flow> {
        let id = stmt.id;
        match &stmt.kind {
            StmtKind::Cancel(e) => {
                let handle = self.operands(id, &[e], vec![])?.remove(0);
                self.at = stmt.span;
                self.act(id, 92, vec![handle.clone()], |run| run.cancel(&handle))?;
            }
            StmtKind::Enable { event, on } => {
                let index = self.index_of(id, event.index.as_deref())?;
                self.at = stmt.span;
                self.act(id, 92, index.iter().cloned().collect(), |run| {
                    rule("E3");
                    for key in run.event_keys(event, index)? {
                        if !(*on && run.p.mutant == Mutant::EnableIgnored) {
                            run.state.events.get_mut(&key).expect("an event").on = *on;
                        }
                    }
                    Ok(Value::Null)
                })?;
            }
            StmtKind::Acquire(lock) => {
                let index = self.index_of(id, lock.index.as_deref())?;
                self.acquire(stmt, lock, index)?;
            }
            StmtKind::Release(lock) => {
                let index = self.index_of(id, lock.index.as_deref())?;
                self.release(stmt, lock, index, vec![])?;
            }
            StmtKind::With { lock, body } => {
                let context = Context::Body(body);
                let index = self.within(context, |run| {
                    let index = run.index_of(id, lock.index.as_deref())?;
                    run.acquire(stmt, lock, index.clone())?;
                    Ok(index)
                })?;
                let context = Context::With(index.clone());
                let flow = self.within(context, |run| run.block_of(body))?;
                let kept = match &flow {
                    Flow::Next(_) => vec![Value::Int(0)],
                    Flow::Break => vec![Value::Int(1)],
                    Flow::Continue => vec![Value::Int(2)],
                    Flow::Return(value) => vec![Value::Int(3), value.clone()],
                };
                rule("L2");
                if self.wrongly(Mutant::WithKeepsOnJump) && !matches!(flow, Flow::Next(_)) {
                    return Ok(flow);
                }
                match flow {
                    Flow::Next(_) => self.release(stmt, lock, index, kept)?,
                    // Where it goes from here decides what is live.
                    Flow::Break | Flow::Continue | Flow::Return(_) => {
                        let kind = match flow {
                            Flow::Break => 1,
                            Flow::Continue => 2,
                            _ => 3,
                        };
                        self.within(Context::Leave(kind), |run| {
                            run.release(stmt, lock, index, kept)
                        })?;
                    }
                }
                return Ok(match flow {
                    Flow::Next(_) => NEXT,
                    other => other,
                });
            }
            StmtKind::Wait { cond, lock } => {
                let mut exprs: Vec<&'static Expr> = vec![];
                exprs.extend(cond.index.as_deref());
                exprs.extend(lock.index.as_deref());
                let mut values = self.operands(id, &exprs, vec![])?;
                self.at = stmt.span;
                let lock_index = lock.index.as_ref().and_then(|_| values.pop());
                self.wait(id, cond, lock, values.pop(), lock_index)?;
            }
            StmtKind::Notify { cond, all } => {
                let exprs: Vec<&'static Expr> = cond.index.as_deref().into_iter().collect();
                let index = self.operands(id, &exprs, vec![])?.pop();
                self.at = stmt.span;
                self.act(id, 92, index.iter().cloned().collect(), |run| {
                    let key = run.cond_key(cond, index)?;
                    run.notify(key, *all)
                })?;
            }
            StmtKind::Join(e) => {
                let handle = self.operands(id, &[e], vec![])?.remove(0);
                self.at = stmt.span;
                self.act(id, 92, vec![handle.clone()], |run| match handle {
                    Value::Handle(h)
                        if run.state.alive.contains(&h)
                            && !run.wrongly(Mutant::JoinDoesNotBlock) =>
                    {
                        rule("F1");
                        run.block()
                    }
                    Value::Handle(_) => Ok(Value::Null),
                    other => run.wrong(&other),
                })?;
            }
            StmtKind::Yield => {
                if !self.is_atomic() && !self.wrongly(Mutant::YieldIsNothing) {
                    rule("F2");
                    self.act(id, 92, vec![], |_| Ok(Value::Null))?;
                }
            }
            other => panic!("no such statement: {other:?}"),
        }
        Ok(NEXT)
    }

    /// The index of a reference.
    pub fn index_of(&mut self, id: NodeId, index: Option<&'static Expr>) -> Res<Option<Value>> {
        let exprs: Vec<&'static Expr> = index.into_iter().collect();
        Ok(self.operands(id, &exprs, vec![])?.pop())
    }

    fn lock_of(&self, lock: &Ref, index: Option<Value>) -> Res<Key> {
        let number = self.p.locks.iter().position(|l| l.0 == lock.name.name).expect("a lock");
        self.array_key(number, self.p.locks[number].1, index)
    }

    fn cond_key(&self, cond: &Ref, index: Option<Value>) -> Res<Key> {
        let number = self.p.conds.iter().position(|c| c.0 == cond.name.name).expect("a condition");
        self.array_key(number, self.p.conds[number].1, index)
    }

    /// E3: the members meant.
    pub fn event_keys(&self, event: &Ref, index: Option<Value>) -> Res<Vec<Key>> {
        let number = self.p.event(&event.name.name);
        let members = &self.p.event_members[number];
        match index {
            None => Ok(members.iter().map(|m| (number, *m)).collect()),
            Some(Value::Int(i)) if members.contains(&i) => Ok(vec![(number, i)]),
            Some(Value::Int(_)) => self.fail("index"),
            Some(other) => self.wrong(&other),
        }
    }

    /// E4.
    pub fn is_enabled(&self, key: Key) -> bool {
        rule("E4");
        let flags = self.state.events[&key];
        if self.wrongly(Mutant::EnabledIgnoresStarted) {
            return flags.on;
        }
        flags.on && !(self.p.is_once(key) && flags.started)
    }

    /// M6.
    fn cancel(&mut self, handle: &Value) -> Res<Value> {
        let h = match handle {
            Value::Null => return Ok(Value::Null),
            Value::Handle(h) => *h,
            _ => return self.fail("type"),
        };
        if self.state.running.contains_key(&Pid::Fork(h)) {
            return self.fail("type");
        }
        rule("M6");
        if self.p.mutant == Mutant::CancelIgnored {
            return Ok(Value::Null);
        }
        let mut found = false;
        let mut take = |messages: &mut Vec<super::state::Message>| {
            let before = messages.len();
            messages.retain(|m| m.handle != h);
            found |= messages.len() < before;
        };
        for mailbox in self.state.mailboxes.values_mut() {
            take(&mut mailbox.front);
            take(&mut mailbox.rest);
        }
        take(&mut self.state.pool);
        if found {
            self.state.alive.remove(&h);
        }
        Ok(Value::Null)
    }

    /// L1.
    fn acquire(&mut self, stmt: &'static Stmt, lock: &Ref, index: Option<Value>) -> Res<()> {
        self.at = stmt.span;
        self.act(stmt.id, 93, index.iter().cloned().collect(), |run| {
            let key = run.lock_of(lock, index)?;
            let nested =
                run.p.mutant == Mutant::LockNests && run.state.locks.get(&key) == Some(&run.pid);
            if run.state.locks.contains_key(&key) && !nested {
                run.wants_lock = true;
                run.locked = Some(key);
                return run.block();
            }
            run.state.locks.insert(key, run.pid.clone());
            Ok(Value::Null)
        })?;
        Ok(())
    }

    fn release(
        &mut self,
        stmt: &'static Stmt,
        lock: &Ref,
        index: Option<Value>,
        kept: Vec<Value>,
    ) -> Res<()> {
        self.at = stmt.span;
        let mut temps: Vec<Value> = index.iter().cloned().collect();
        temps.extend(kept);
        self.act(stmt.id, 94, temps, |run| {
            let key = run.lock_of(lock, index)?;
            run.give_back(key)
        })?;
        Ok(())
    }

    fn give_back(&mut self, key: Key) -> Res<Value> {
        rule("L1");
        let anyone = self.wrongly(Mutant::UnlockByAnyone) && self.state.locks.contains_key(&key);
        if self.state.locks.get(&key) != Some(&self.pid) && !anyone {
            return self.fail("unlock");
        }
        self.state.locks.remove(&key);
        Ok(Value::Null)
    }

    /// W1 and W2.
    fn wait(
        &mut self,
        id: NodeId,
        cond: &Ref,
        lock: &Ref,
        cond_index: Option<Value>,
        lock_index: Option<Value>,
    ) -> Res<()> {
        let temps: Vec<Value> = [&cond_index, &lock_index].into_iter().flatten().cloned().collect();
        self.act(id, 95, temps.clone(), |run| {
            let cond = run.cond_key(cond, cond_index)?;
            let lock = run.lock_of(lock, lock_index)?;
            if run.is_atomic() {
                if run.state.locks.get(&lock) != Some(&run.pid) {
                    return run.fail("unlock");
                }
                return run.fail("blocking");
            }
            rule("W1");
            run.give_back(lock)?;
            if run.wrongly(Mutant::WaitKeepsLock) {
                run.state.locks.insert(lock, run.pid.clone());
            }
            let waiting = Waiting { cond, lock, notified: false };
            run.state.waiting.insert(run.pid.clone(), waiting);
            Ok(Value::Null)
        })?;
        self.act(id, 96, temps, |run| {
            let Waiting { notified, lock, .. } = run.state.waiting[&run.pid].clone();
            let free =
                run.wrongly(Mutant::NotifiedNeedsNoLock) || !run.state.locks.contains_key(&lock);
            if !notified || !free {
                run.wants_lock = notified;
                run.locked = Some(lock);
                return run.block();
            }
            rule("W2");
            run.state.waiting.remove(&run.pid);
            run.state.locks.insert(lock, run.pid.clone());
            Ok(Value::Null)
        })?;
        Ok(())
    }

    /// W3.
    fn notify(&mut self, cond: Key, all: bool) -> Res<Value> {
        let waiting = self.state.waiting.iter();
        let there: Vec<Pid> = waiting
            .filter(|(_, w)| w.cond == cond && !w.notified)
            .map(|(pid, _)| pid.clone())
            .collect();
        if there.is_empty() {
            return Ok(Value::Null);
        }
        rule("W3");
        let woken = if all || self.p.mutant == Mutant::NotifyWakesAll {
            there
        } else {
            let n = self.choose(there.len())?;
            vec![there[n].clone()]
        };
        for pid in woken {
            self.state.waiting.get_mut(&pid).expect("it waits").notified = true;
        }
        Ok(Value::Null)
    }

    /// F1.
    pub fn do_fork(&mut self, name: &str, args: Vec<Value>) -> Res<Value> {
        let number = self.p.fns.iter().position(|f| f.name.name == name).expect("a function");
        let params = &self.p.fns[number].params;
        if params.len() != args.len() {
            return self.fail("type");
        }
        for (param, arg) in params.iter().zip(&args) {
            if let Some(ty) = &param.ty {
                self.check_type(ty, arg)?;
            }
        }
        let handle = self.fresh();
        self.state.alive.insert(handle);
        let created_for = self.creates_for(&self.p.fns[number].body);
        let control =
            Control { created_for, ..Control::new(Body::Fn(number), args, Some(handle), None) };
        self.state.running.insert(Pid::Fork(handle), control);
        Ok(Value::Handle(handle))
    }
}
