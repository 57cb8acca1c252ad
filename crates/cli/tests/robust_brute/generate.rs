//! Random models. Each has its own taste: a few of the language's words, so that every pair of
//! words meets in small models.

use crate::ast::{Code, Event, Handler, Lane, Model, Order, VarKind, Word};
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

pub(crate) struct Maker<'a> {
    pub(crate) tastes: Vec<&'static str>,
    pub(crate) model: Model,
    pub(crate) random: &'a mut Rng,
    /// How many statements the model may still get.
    pub(crate) budget: usize,
    /// The last name of a local.
    pub(crate) name: usize,
}

/// What a statement can refer to.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    pub(crate) ints: Vec<usize>,
    /// Those that do not change: counters of `for`.
    pub(crate) fixed: Vec<usize>,
    pub(crate) handles: Vec<usize>,
    pub(crate) parameter: bool,
    pub(crate) atomic: bool,
    pub(crate) depth: usize,
    /// The code itself; only later ones are called and, unless it may post again, posted.
    pub(crate) code: Option<usize>,
    /// Locks that a `with` around it has.
    pub(crate) locks: Vec<usize>,
}

impl Maker<'_> {
    pub(crate) fn fresh(&mut self) -> usize {
        self.name += 1;
        self.name
    }

    pub(crate) fn likes(&self, taste: &str) -> bool {
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
}
