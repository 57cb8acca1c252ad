//! Random models. Each has its own taste: a few of the language's words, so that every pair of
//! words meets in small models.

use crate::robust_brute::ast::{
    Block, Code, Event, Expr, Handler, Kept, Lane, Model, Operator, Order, Place, Post, Stmt,
    Target, VarKind, Word,
};
use anyorder_common::random::{Random, Rng};

/// What a model may have besides reads, writes, posts and branches.
const TASTES: [&str; 33] = [
    "add",
    "increment",
    "list",
    "array",
    "handle",
    "lock",
    "with",
    "assert",
    "fail",
    "assume",
    "call",
    "while",
    "loop",
    "for",
    "match",
    "choose",
    "let choose",
    "atomic",
    "yield",
    "enable",
    "enabled",
    "return",
    "divide",
    "front",
    "delayed",
    "guard",
    "after",
    "driver",
    "family",
    "repeated",
    "init",
    "daemon",
    "again",
];

/// Makes a model.
pub(crate) fn model(random: &mut Rng) -> Model {
    let often = ["delayed", "repeated", "after", "front"];
    let mut likes = |taste: &str| random.percent(if often.contains(&taste) { 35 } else { 22 });
    let tastes = TASTES.into_iter().filter(|taste| likes(taste)).collect();
    let mut maker = Maker { tastes, model: Model::default(), random, budget: 0, name: 0 };
    maker.declare();
    maker.fill();
    maker.order();
    maker.idle();
    maker.model
}

struct Maker<'a> {
    tastes: Vec<&'static str>,
    model: Model,
    random: &'a mut Rng,
    /// How many statements the model may still get.
    budget: usize,
    /// The last name of a local.
    name: usize,
}

/// What a statement can refer to.
#[derive(Clone, Default)]
struct Scope {
    ints: Vec<usize>,
    /// Those that do not change: counters of `for`.
    fixed: Vec<usize>,
    handles: Vec<usize>,
    parameter: bool,
    atomic: bool,
    depth: usize,
    /// The code itself; only later ones are called and, unless it may post again, posted.
    code: Option<usize>,
    /// Locks that a `with` around it has.
    locks: Vec<usize>,
}

impl Maker<'_> {
    fn fresh(&mut self) -> usize {
        self.name += 1;
        self.name
    }

    fn likes(&self, taste: &str) -> bool {
        self.tastes.contains(&taste)
    }

    fn declare(&mut self) {
        for _ in 0..self.random.pick(&[1, 1, 2, 2, 3]) {
            let first = self.random.index(2) as i64;
            self.model.vars.push(VarKind::Int(first * i64::from(self.random.percent(30))));
        }
        for (taste, kind) in
            [("list", VarKind::List), ("array", VarKind::Array), ("handle", VarKind::Handle)]
        {
            if self.likes(taste) {
                self.model.vars.push(kind);
            }
        }
        if self.likes("lock") || self.likes("with") {
            self.model.locks = 1 + self.random.index(2);
        }
        self.handlers();
        let codes = 1 + self.random.index(3);
        for at in 0..codes {
            let word = match self.random.index(4) {
                0 | 1 => Word::Task,
                _ => Word::Procedure,
            };
            let word = if self.likes("call") && at + 1 == codes && self.random.percent(30) {
                Word::Function
            } else {
                word
            };
            let home = (word == Word::Task && self.random.percent(70)).then(|| self.lane());
            self.model.codes.push(Code {
                name: format!("p{at}"),
                word,
                home,
                parameter: self.random.percent(20),
                daemon: word == Word::Task && self.likes("daemon") && self.random.percent(40),
                body: Vec::new(),
            });
        }
        let events = 1 + self.random.index(3);
        for at in 0..events {
            let home = self.random.percent(60).then(|| self.lane());
            let once = !self.likes("repeated") || self.random.percent(40);
            self.model.events.push(Event {
                name: format!("e{at}"),
                home,
                once,
                disabled: self.likes("enable") && self.random.percent(40),
                family: self.likes("family") && events < 3 && self.random.percent(50),
                guard: None,
                after: Vec::new(),
                unfair: self.random.percent(5),
                daemon: self.likes("daemon") && self.random.percent(20),
                body: Vec::new(),
            });
        }
    }

    fn handlers(&mut self) {
        let orders = [Order::Fifo, Order::Bag];
        for at in 0..1 + self.random.index(2) {
            let delayed = self.likes("delayed") && (at == 0 || self.random.percent(50));
            let order = if delayed { Order::Delayed } else { self.random.pick(&orders) };
            let name = if at == 0 && self.random.percent(70) { "main" } else { ["h", "k"][at] };
            self.model.handlers.push(Handler {
                name: name.to_owned(),
                order,
                array: name != "main" && self.random.percent(15),
                daemon: self.likes("daemon") && self.random.percent(20),
                declared: true,
            });
        }
        let main = &mut self.model.handlers[0];
        if main.name == "main" && main.order == Order::Bag && !main.daemon {
            main.declared = self.random.percent(50);
        }
    }

    fn lane(&mut self) -> Lane {
        let handler = self.random.index(self.model.handlers.len());
        let at = if self.model.handlers[handler].array { self.random.index(2) } else { 0 };
        (handler, at)
    }

    fn fill(&mut self) {
        self.budget = 5 + self.random.index(8);
        for at in 0..self.model.events.len() {
            let scope = Scope { parameter: self.model.events[at].family, ..Scope::default() };
            self.model.events[at].body = self.body(scope.clone());
            if self.likes("guard") && self.random.percent(60) {
                self.model.events[at].guard = Some(self.condition(&mut scope.clone()));
            }
        }
        for at in 0..self.model.codes.len() {
            let parameter = self.model.codes[at].parameter;
            let scope = Scope { parameter, code: Some(at), ..Scope::default() };
            self.model.codes[at].body = self.body(scope);
        }
        if self.likes("init") {
            let scope = Scope { atomic: true, ..Scope::default() };
            self.model.init = self.body(scope.clone());
            if self.random.percent(70) {
                let mut scope = scope;
                let post = self.post(&mut scope);
                self.model.init.extend(post);
            }
        }
    }

    /// The order in which events start.
    fn order(&mut self) {
        let events = self.model.events.len();
        let mut order: Vec<usize> = (0..events).collect();
        self.random.shuffle(&mut order);
        if self.likes("driver") && events > 1 {
            let mut named = order.clone();
            if events > 2 && self.random.percent(40) {
                named.remove(self.random.index(3));
            }
            for at in named {
                let event = &mut self.model.events[at];
                event.once = true;
                let members = if event.family { vec![Some(0), Some(1)] } else { vec![None] };
                self.model.driver.extend(members.into_iter().map(|member| (at, member)));
            }
        }
        if self.likes("after") {
            for place in 1..events {
                if self.random.percent(60) {
                    let earlier = order[self.random.index(place)];
                    let again = self.likes("repeated") && self.model.driver.is_empty();
                    self.model.events[earlier].once &= !again;
                    self.model.events[order[place]].after.push(earlier);
                }
            }
        }
    }

    fn idle(&mut self) {
        for (percent, line) in [
            (4, "const LIMIT = 3;"),
            (4, "invariant always: v0 == v0;"),
            (4, "final: v0 == v0;"),
            (4, "response soon: v0 == 1 leads_to v0 == v0;"),
            (4, "component first: e0;"),
            (4, "enum Phase { Idle, Busy }"),
            (4, "record Item { id: int }"),
            (4, "class Node { var next: Node? = null; }"),
        ] {
            if self.random.percent(percent) {
                self.model.idle.push(line.to_owned());
            }
        }
    }

    fn body(&mut self, mut scope: Scope) -> Block {
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

    fn condition(&mut self, scope: &mut Scope) -> Expr {
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
    fn post(&mut self, scope: &mut Scope) -> Block {
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
