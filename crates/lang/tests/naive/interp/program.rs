//! The declarations of a model, by kind.

pub use super::mutant::Mutant;
use super::rename::Renamer;
use super::run::{Mode, Run};
use super::state::State;
use super::value::Value;
use anyorder_lang::ast::*;
use std::collections::BTreeSet;

/// A model that lives as long as the tests do.
pub struct Program {
    /// Index types. Their values are ints here: that nothing tells them apart is for the checker to
    /// see to.
    pub indices: Vec<&'static IndexDecl>,
    /// What goes through the values of an index type, as the types tell: it is one step (T13).
    pub one_step: BTreeSet<NodeId>,
    pub consts: Vec<&'static ConstDecl>,
    pub enums: Vec<&'static EnumDecl>,
    pub records: Vec<&'static RecordDecl>,
    pub classes: Vec<&'static ClassDecl>,
    pub globals: Vec<&'static VarDecl>,
    /// Names and sizes.
    pub locks: Vec<(String, Option<i64>)>,
    pub conds: Vec<(String, Option<i64>)>,
    pub handlers: Vec<(String, Option<i64>, Mailbox)>,
    pub unfair_handlers: Vec<String>,
    pub daemon_handlers: Vec<String>,
    pub fns: Vec<&'static FnDecl>,
    pub tasks: Vec<&'static TaskDecl>,
    pub events: Vec<&'static EventDecl>,
    /// Members of the families of `events`; one member 0 for an event alone.
    pub event_members: Vec<Vec<i64>>,
    pub threads: Vec<&'static ThreadDecl>,
    pub thread_members: Vec<Vec<i64>>,
    pub inits: Vec<&'static Block>,
    pub drivers: Vec<&'static [Ref]>,
    pub invariants: Vec<(&'static str, &'static Expr)>,
    pub responses: Vec<&'static ResponseDecl>,
    pub finals: Vec<&'static Expr>,
    /// The members of each component.
    pub components: Vec<&'static [Ident]>,
    pub access: bool,
    pub steps: u64,
    /// A rule to get wrong, for tests of the tests.
    pub mutant: Mutant,
}

impl Program {
    /// Reads the declarations of a model that the parser and the checker have accepted.
    pub fn new(mut model: Model, one_step: BTreeSet<NodeId>, mutant: Mutant) -> &'static Program {
        Renamer::default().model(&mut model);
        let model: &'static Model = Box::leak(Box::new(model));
        let mut p = Program {
            indices: vec![],
            one_step,
            consts: vec![],
            enums: vec![],
            records: vec![],
            classes: vec![],
            globals: vec![],
            locks: vec![],
            conds: vec![],
            handlers: vec![],
            unfair_handlers: vec![],
            daemon_handlers: vec![],
            fns: vec![],
            tasks: vec![],
            events: vec![],
            event_members: vec![],
            threads: vec![],
            thread_members: vec![],
            inits: vec![],
            drivers: vec![],
            invariants: vec![],
            responses: vec![],
            finals: vec![],
            components: vec![],
            access: false,
            steps: 100_000,
            mutant,
        };
        // Constants and functions first: sizes may use them.
        for item in &model.items {
            match &item.kind {
                ItemKind::Const(c) => p.consts.push(c),
                ItemKind::Index(index) => p.indices.push(index),
                ItemKind::Fn(f) => p.fns.push(f),
                _ => {}
            }
        }
        let p: &'static mut Program = Box::leak(Box::new(p));
        for item in &model.items {
            p.item(&item.kind);
        }
        if !p.handlers.iter().any(|(name, ..)| name == "main") {
            p.handlers.push(("main".into(), None, Mailbox::Bag));
        }
        p
    }

    fn item(&mut self, item: &'static ItemKind) {
        match item {
            ItemKind::Enum(e) => self.enums.push(e),
            ItemKind::Record(r) => self.records.push(r),
            ItemKind::Class(c) => self.classes.push(c),
            ItemKind::Var(vars) => self.globals.extend(vars),
            ItemKind::Lock(names) => {
                let sized: Vec<_> = names.iter().map(|n| self.sized(n)).collect();
                self.locks.extend(sized);
            }
            ItemKind::Cond(names) => {
                let sized: Vec<_> = names.iter().map(|n| self.sized(n)).collect();
                self.conds.extend(sized);
            }
            ItemKind::Handler(h) => {
                let (name, size) = self.sized(&h.name);
                if h.unfair {
                    self.unfair_handlers.push(name.clone());
                }
                if h.daemon {
                    self.daemon_handlers.push(name.clone());
                }
                self.handlers.push((name, size, h.mailbox));
            }
            ItemKind::Task(t) => self.tasks.push(t),
            ItemKind::Event(e) => {
                self.events.push(e);
                let members = self.members(e.family.as_ref());
                self.event_members.push(members);
            }
            ItemKind::Thread(t) => {
                self.threads.push(t);
                let members = self.members(t.family.as_ref());
                self.thread_members.push(members);
            }
            ItemKind::Init(b) => self.inits.push(b),
            ItemKind::Driver(refs) => self.drivers.push(refs),
            ItemKind::Invariant { name, expr } => self.invariants.push((&name.name, expr)),
            ItemKind::Response(r) => self.responses.push(r),
            ItemKind::Final(e) => self.finals.push(e),
            ItemKind::Component { members, .. } => self.components.push(members),
            ItemKind::Setting(s) => match &s.value {
                SettingValue::Word(word) => self.access = word.name == "access",
                SettingValue::Int(n, _) => self.steps = n.unsigned_abs(),
                SettingValue::Error => {}
            },
            _ => {}
        }
    }

    fn sized(&self, name: &'static SizedName) -> (String, Option<i64>) {
        let size = name.size.as_ref().map(|e| self.constant_int(e));
        (name.name.name.clone(), size)
    }

    fn constant_int(&self, e: &'static Expr) -> i64 {
        match self.constant(e) {
            Value::Int(n) => n,
            Value::Set(all) => all.len() as i64,
            other => panic!("not an int: {other:?}"),
        }
    }

    /// The value of a compile-time constant expression.
    fn constant(&self, e: &'static Expr) -> Value {
        // SAFETY-free way to a 'static view: constants need nothing but constants and functions.
        let view: &'static Program = Box::leak(Box::new(self.constants_only()));
        let mut run = Run::new(view, State::empty(), super::state::Pid::Init, Mode::Observer);
        run.frames.push(Default::default());
        run.eval(e).unwrap_or_else(|stop| panic!("a constant stops: {stop:?}"))
    }

    fn constants_only(&self) -> Program {
        Program {
            indices: self.indices.clone(),
            one_step: BTreeSet::new(),
            consts: self.consts.clone(),
            enums: self.enums.clone(),
            records: self.records.clone(),
            classes: vec![],
            globals: vec![],
            locks: vec![],
            conds: vec![],
            handlers: vec![],
            unfair_handlers: vec![],
            daemon_handlers: vec![],
            fns: self.fns.clone(),
            tasks: vec![],
            events: vec![],
            event_members: vec![],
            threads: vec![],
            thread_members: vec![],
            inits: vec![],
            drivers: vec![],
            invariants: vec![],
            responses: vec![],
            finals: vec![],
            components: vec![],
            access: false,
            steps: self.steps,
            mutant: self.mutant,
        }
    }

    fn members(&self, family: Option<&'static Family>) -> Vec<i64> {
        match family.map(|f| self.constant(&f.range)) {
            None => vec![0],
            Some(Value::List(items) | Value::Set(items)) => items
                .iter()
                .map(|item| match item {
                    Value::Int(n) => *n,
                    other => panic!("not an int: {other:?}"),
                })
                .collect(),
            Some(other) => panic!("not a range: {other:?}"),
        }
    }

    /// U2: the component of a body.
    pub fn component_of(&self, body: &'static Block) -> Option<usize> {
        if self.components.is_empty() {
            return None;
        }
        let events = self.events.iter().map(|e| (&e.body, &e.name.name));
        let tasks = self.tasks.iter().map(|t| (&t.body, &t.name.name));
        let threads = self.threads.iter().map(|t| (&t.body, &t.name.name));
        let functions = self.fns.iter().map(|f| (&f.body, &f.name.name));
        let mut all = events.chain(tasks).chain(threads).chain(functions);
        let (_, name) = all.find(|(other, _)| std::ptr::eq(*other, body))?;
        self.components.iter().position(|members| members.iter().any(|one| one.name == *name))
    }

    pub fn event(&self, name: &str) -> usize {
        self.events.iter().position(|e| e.name.name == name).expect("an event")
    }

    pub fn handler(&self, name: &str) -> usize {
        self.handlers.iter().position(|h| h.0 == name).expect("a handler")
    }

    /// Whether a reference in a driver means this member.
    fn means(&self, r: &'static Ref, key: (usize, i64)) -> bool {
        let index = r.index.as_deref().map(|index| self.constant_int(index));
        r.name.name == self.events[key.0].name.name && index.is_none_or(|index| index == key.1)
    }

    /// The events before a member in a driver.
    pub fn before_in_drivers(&self, key: (usize, i64)) -> Vec<&'static Ref> {
        let mut found = vec![];
        for driver in &self.drivers {
            if let Some(at) = driver.iter().position(|r| self.means(r, key)) {
                found.extend(&driver[..at]);
            }
        }
        found
    }

    /// Whether a member has others behind it in a driver.
    pub fn leads_in_driver(&self, key: (usize, i64)) -> bool {
        self.drivers.iter().any(|driver| {
            let at = driver.iter().position(|r| self.means(r, key));
            at.is_some_and(|at| at + 1 < driver.len())
        })
    }

    /// E2.
    pub fn is_once(&self, key: (usize, i64)) -> bool {
        let listed = self.drivers.iter().any(|driver| driver.iter().any(|r| self.means(r, key)));
        self.events[key.0].once || listed
    }
}
