//! Random bodies: statements and expressions of the words that a model likes.

use crate::ast::{Block, Expr, Kept, Operator, Order, Place, Post, Stmt, Target, VarKind, Word};
use crate::generate::{Maker, Scope};
use anyorder_common::random::Random;

impl Maker<'_> {
    pub(crate) fn body(&mut self, mut scope: Scope) -> Block {
        let count = 1 + self.random.index(3);
        self.block(&mut scope, count)
    }

    fn block(&mut self, scope: &mut Scope, count: usize) -> Block {
        let (ints, handles) = (scope.ints.len(), scope.handles.len());
        let mut block = Vec::new();
        for _ in 0..count {
            if self.budget == 0 && !block.is_empty() {
                break;
            }
            self.budget = self.budget.saturating_sub(1);
            let stmts = self.stmt(scope);
            let ends = matches!(stmts.last(), Some(Stmt::Break | Stmt::Continue | Stmt::Return));
            block.extend(stmts);
            if ends {
                break;
            }
        }
        scope.ints.truncate(ints);
        scope.handles.truncate(handles);
        block
    }

    fn inner(&mut self, scope: &Scope) -> Block {
        let mut inner = Scope { depth: scope.depth + 1, ..scope.clone() };
        let count = 1 + self.random.index(2);
        self.block(&mut inner, count)
    }

    /// One statement, with what it needs around it.
    fn stmt(&mut self, scope: &mut Scope) -> Block {
        for _ in 0..20 {
            let stmts = match self.random.index(10) {
                0..=2 => self.assign(scope),
                3..=5 => self.post(scope),
                6 => self.branch(scope),
                _ if self.tastes.is_empty() => Vec::new(),
                _ => {
                    let taste = self.random.pick(&self.tastes.clone());
                    self.special(taste, scope)
                }
            };
            if !stmts.is_empty() {
                return stmts;
            }
        }
        self.assign(scope)
    }

    fn int_var(&mut self) -> usize {
        let ints: Vec<usize> = (0..self.model.vars.len())
            .filter(|at| matches!(self.model.vars[*at], VarKind::Int(_)))
            .collect();
        self.random.pick(&ints)
    }

    fn var_of(&mut self, kind: VarKind) -> Option<usize> {
        self.model.vars.iter().position(|one| *one == kind)
    }

    /// A place that holds an int.
    fn place(&mut self, scope: &mut Scope) -> Place {
        if let Some(array) = self.var_of(VarKind::Array)
            && self.random.percent(35)
        {
            return Place::Element(array, Box::new(self.index(scope)));
        }
        Place::Var(self.int_var())
    }

    fn index(&mut self, scope: &mut Scope) -> Expr {
        match self.random.index(8) {
            0 if scope.parameter => Expr::Parameter,
            1 => Expr::Place(Place::Var(self.int_var())),
            _ => Expr::Int(self.random.index(2) as i64),
        }
    }

    fn assign(&mut self, scope: &mut Scope) -> Block {
        let place = self.place(scope);
        let changing: Vec<usize> =
            scope.ints.iter().filter(|one| !scope.fixed.contains(one)).copied().collect();
        if changing.is_empty() || self.random.percent(85) {
            return vec![Stmt::Assign(place, self.int(scope))];
        }
        vec![Stmt::Assign(Place::Local(self.random.pick(&changing)), self.int(scope))]
    }

    fn int(&mut self, scope: &mut Scope) -> Expr {
        match self.random.index(12) {
            0..=4 => Expr::Int(self.random.index(3) as i64),
            5 | 6 => Expr::Place(self.place(scope)),
            7 if scope.parameter => Expr::Parameter,
            8 if !scope.ints.is_empty() => {
                Expr::Place(Place::Local(self.random.pick(&scope.ints.clone())))
            }
            9 if self.likes("divide") => self.binary(Operator::Divide, scope),
            9 => self.binary(Operator::Add, scope),
            10 => {
                let kinds = [VarKind::List, VarKind::Array];
                let first = self.random.pick(&kinds);
                let var = self.var_of(first);
                match var.or_else(|| kinds.iter().find_map(|kind| self.var_of(*kind))) {
                    Some(var) => Expr::Whole(var),
                    None => self.binary(Operator::Subtract, scope),
                }
            }
            _ => Expr::Int(1),
        }
    }

    fn binary(&mut self, operator: Operator, scope: &mut Scope) -> Expr {
        let a = Expr::Place(self.place(scope));
        let b = match self.random.index(3) {
            0 => Expr::Place(self.place(scope)),
            1 if scope.parameter => Expr::Parameter,
            _ => Expr::Int(self.random.index(2) as i64),
        };
        Expr::Binary(operator, Box::new(a), Box::new(b))
    }

    pub(crate) fn condition(&mut self, scope: &mut Scope) -> Expr {
        match self.random.index(12) {
            0 => {
                let operator = self.random.pick(&[Operator::And, Operator::Or]);
                let (a, b) = (self.condition(scope), self.condition(scope));
                Expr::Binary(operator, Box::new(a), Box::new(b))
            }
            1 => Expr::Not(Box::new(self.condition(scope))),
            2 if self.likes("enabled") || self.likes("enable") => {
                Expr::Enabled(self.random.index(self.model.events.len()))
            }
            3 => self.binary(Operator::Less, scope),
            4 if !scope.ints.is_empty() => {
                let local = Expr::Place(Place::Local(self.random.pick(&scope.ints.clone())));
                Expr::Binary(Operator::Equal, Box::new(local), Box::new(Expr::Int(1)))
            }
            5 | 6 => self.binary(Operator::Unequal, scope),
            _ => self.binary(Operator::Equal, scope),
        }
    }

    fn branch(&mut self, scope: &mut Scope) -> Block {
        if scope.depth > 1 {
            return Vec::new();
        }
        let condition = self.condition(scope);
        let then = self.inner(scope);
        let other = self.random.percent(30).then(|| self.inner(scope));
        vec![Stmt::If(condition, then, other)]
    }

    /// A post, of a later code unless the model likes to post again.
    pub(crate) fn post(&mut self, scope: &mut Scope) -> Block {
        let from = match scope.code {
            Some(own) if self.likes("again") && self.random.percent(40) => {
                self.random.index(own + 1)
            }
            Some(own) => own + 1,
            None => 0,
        };
        let codes: Vec<usize> = (from..self.model.codes.len())
            .filter(|at| self.model.codes[*at].word != Word::Function)
            .collect();
        if codes.is_empty() {
            return Vec::new();
        }
        let code = self.random.pick(&codes);
        let argument = self.argument(code, scope);
        let target = self.target(code, scope);
        let mailbox = match &target {
            Target::Home => self.model.codes[code].home.map(|(handler, _)| handler),
            Target::To(handler, _) => Some(*handler),
            Target::AsyncMain => Some(0),
            Target::AsyncAny | Target::Any => None,
        };
        let order = mailbox.map(|handler| self.model.handlers[handler].order);
        let is_delayed = order == Some(Order::Delayed) && target != Target::AsyncMain;
        let after = (is_delayed && self.random.percent(70)).then(|| match self.random.index(8) {
            0 => self.int(scope),
            1 => Expr::Int(0),
            at => Expr::Int(at as i64),
        });
        let front = mailbox.is_some()
            && target != Target::AsyncMain
            && self.likes("front")
            && self.random.percent(40);
        let kept = match self.var_of(VarKind::Handle) {
            Some(var) if self.random.percent(50) => Kept::Var(var),
            _ if self.likes("handle") && self.random.percent(50) => {
                let name = self.fresh();
                scope.handles.push(name);
                Kept::Local(name)
            }
            _ => Kept::No,
        };
        vec![Stmt::Post(Post { code, argument, target, after, front, kept })]
    }

    fn argument(&mut self, code: usize, scope: &mut Scope) -> Option<Expr> {
        self.model.codes[code].parameter.then(|| match self.random.index(4) {
            0 => self.int(scope),
            1 if scope.parameter => Expr::Parameter,
            _ => Expr::Int(self.random.index(2) as i64),
        })
    }

    fn target(&mut self, code: usize, scope: &mut Scope) -> Target {
        if self.model.codes[code].home.is_some() && self.random.percent(60) {
            return Target::Home;
        }
        match self.random.index(6) {
            0 | 1 if self.model.handlers[0].name == "main" => Target::AsyncMain,
            2 => Target::AsyncAny,
            3 => Target::Any,
            _ => {
                let handler = self.random.index(self.model.handlers.len());
                let array = self.model.handlers[handler].array;
                Target::To(handler, array.then(|| self.index(scope)))
            }
        }
    }

    /// A statement with a word that not every model has.
    fn special(&mut self, taste: &str, scope: &mut Scope) -> Block {
        let shallow = scope.depth < 2;
        match taste {
            "add" => vec![Stmt::Add(self.place(scope), self.int(scope))],
            "increment" => vec![Stmt::Increment(self.place(scope))],
            "list" => {
                let Some(list) = self.var_of(VarKind::List) else { return Vec::new() };
                match self.random.index(3) {
                    0 => vec![Stmt::Pop(list)],
                    _ => vec![Stmt::Push(list, self.int(scope))],
                }
            }
            "handle" => self.cancel(scope),
            "lock" => {
                let lock = self.random.index(self.model.locks);
                let mut stmts = vec![Stmt::Acquire(lock)];
                stmts.extend(self.assign(scope));
                if self.random.percent(85) {
                    stmts.push(Stmt::Release(lock));
                }
                stmts
            }
            "with" if shallow => {
                let lock = self.random.index(self.model.locks);
                if scope.locks.contains(&lock) && self.random.percent(90) {
                    return Vec::new();
                }
                let mut inner = scope.clone();
                inner.locks.push(lock);
                vec![Stmt::With(lock, self.inner(&inner))]
            }
            "assert" => vec![Stmt::Assert(self.condition(scope), self.random.percent(50))],
            "fail" if shallow => vec![Stmt::If(self.condition(scope), vec![Stmt::Fail], None)],
            "assume" => vec![Stmt::Assume(self.condition(scope))],
            "call" => self.call(scope),
            "let choose" => {
                let name = self.fresh();
                scope.ints.push(name);
                vec![Stmt::LetChoose(name, 2)]
            }
            "choose" if shallow => {
                let blocks = vec![self.inner(scope), self.inner(scope)];
                vec![Stmt::Choose(blocks, self.random.percent(50))]
            }
            "match" if shallow => {
                let subject = self.int(scope);
                let arms = vec![(1, self.inner(scope))];
                vec![Stmt::Match(subject, arms, self.inner(scope))]
            }
            "atomic" if shallow && !scope.atomic => {
                let inner = Scope { atomic: true, ..scope.clone() };
                vec![Stmt::Atomic(self.inner(&inner))]
            }
            "yield" if !scope.atomic => vec![Stmt::Yield],
            "enable" => {
                let event = self.random.index(self.model.events.len());
                let family = self.model.events[event].family && self.random.percent(60);
                let member = family.then(|| self.random.index(2) as i64);
                vec![Stmt::Enable(event, member, self.random.percent(65))]
            }
            "return" if scope.depth > 0 => vec![Stmt::Return],
            "while" | "loop" | "for" if shallow => self.cycle(taste, scope),
            "array" => {
                let (name, value) = (self.fresh(), self.int(scope));
                scope.ints.push(name);
                vec![Stmt::Let(name, value)]
            }
            _ => Vec::new(),
        }
    }

    fn cancel(&mut self, scope: &mut Scope) -> Block {
        if !scope.handles.is_empty() && self.random.percent(50) {
            let local = self.random.pick(&scope.handles.clone());
            return vec![Stmt::Cancel(Place::Local(local))];
        }
        match self.var_of(VarKind::Handle) {
            Some(var) => vec![Stmt::Cancel(Place::Var(var))],
            None => Vec::new(),
        }
    }

    fn call(&mut self, scope: &mut Scope) -> Block {
        let from = scope.code.map_or(0, |own| own + 1);
        let codes: Vec<usize> = (from..self.model.codes.len())
            .filter(|at| self.model.codes[*at].word != Word::Task)
            .collect();
        // What blocks must not be called where nothing may block.
        if codes.is_empty() || scope.atomic {
            return Vec::new();
        }
        let code = self.random.pick(&codes);
        let argument = self.argument(code, scope);
        vec![Stmt::Call(code, argument, self.random.percent(50))]
    }

    fn cycle(&mut self, taste: &str, scope: &mut Scope) -> Block {
        let counter = self.fresh();
        let mut inside = Scope { depth: scope.depth + 1, ..scope.clone() };
        inside.ints.push(counter);
        inside.fixed.push(counter);
        let leave = if self.random.percent(75) { Stmt::Break } else { Stmt::Continue };
        let local = || Place::Local(counter);
        let step = Stmt::Increment(local());
        if taste == "for" {
            let mut block = self.inner(&inside);
            if self.random.percent(40) {
                block.insert(0, Stmt::If(self.condition(&mut inside), vec![leave], None));
            }
            return vec![Stmt::For(counter, 2, block)];
        }
        let less =
            Expr::Binary(Operator::Less, Box::new(Expr::Place(local())), Box::new(Expr::Int(2)));
        let start = Stmt::Let(counter, Expr::Int(0));
        let mut block = vec![step];
        if taste == "while" {
            // Now and then it ends only when another task lets it.
            if !scope.atomic && self.random.percent(25) {
                let condition = self.binary(Operator::Less, scope);
                let block = self.inner(&scope.clone());
                return vec![Stmt::While(condition, block)];
            }
            block.extend(self.inner(&inside));
            if self.random.percent(40) {
                block.push(Stmt::If(self.condition(&mut inside), vec![leave], None));
            }
            return vec![start, Stmt::While(less, block)];
        }
        block.extend(self.inner(&inside));
        let enough = Expr::Not(Box::new(less));
        block.insert(1, Stmt::If(enough, vec![Stmt::Break], None));
        vec![start, Stmt::Loop(block)]
    }
}
