//! Equal states: semantics.md, section 7. What has no order is tried in every order; the least text
//! is the canonical one.

use super::fired::rule;
use super::live;
use super::program::{Mutant, Program};
use super::state::{Context, Control, Message, Pid, State};
use super::value::{Code, Value};
use anyorder_lang::ast;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// One process or message that has no place in an order.
#[derive(Clone)]
enum Loose<'a> {
    Message(&'a Message),
    Process(&'a Pid, &'a Control),
}

/// Writes a state with objects and handles numbered as they are met.
struct Writer<'a> {
    p: &'static Program,
    state: &'a State,
    out: String,
    objects: BTreeMap<u64, usize>,
    handles: BTreeMap<u64, usize>,
    /// Handles that something refers to.
    referred: &'a BTreeSet<u64>,
    /// Writes `?` for all numbers, and no objects: what is left is the same for all orders.
    shape_only: bool,
    to_write: Vec<u64>,
}

/// So many of one shape are tried in every order.
const CROWD: usize = 5;

/// The canonical form of a state, as a text.
pub fn canonical(p: &'static Program, state: &State) -> String {
    if state.before_init {
        return "before init".into();
    }
    let referred = referred(p, state);
    let mut groups: Vec<Vec<Loose<'_>>> = vec![];
    for (key, mailbox) in &state.mailboxes {
        if p.handlers[key.0].2 == ast::Mailbox::Bag && p.mutant != Mutant::BagsAreOrdered {
            groups.push(mailbox.rest.iter().map(Loose::Message).collect());
        }
    }
    groups.push(state.pool.iter().map(Loose::Message).collect());
    let dynamic = |pid: &Pid| matches!(pid, Pid::Any(_) | Pid::Fork(_));
    let processes = state.running.iter().filter(|(pid, _)| dynamic(pid));
    groups.push(processes.map(|(pid, control)| Loose::Process(pid, control)).collect());

    let mut best: Option<String> = None;
    let shapes: Vec<Vec<(String, Loose<'_>)>> = groups
        .into_iter()
        .map(|group| {
            let mut shaped: Vec<_> = group
                .into_iter()
                .map(|loose| {
                    let mut writer = Writer::new(p, state, &referred);
                    writer.shape_only = true;
                    writer.loose(&loose);
                    (writer.out, loose)
                })
                .collect();
            shaped.sort_by(|a, b| a.0.cmp(&b.0));
            shaped
        })
        .collect();
    let mut order: Vec<Vec<Loose<'_>>> = vec![];
    try_orders(&shapes, &mut order, &mut |order| {
        let mut writer = Writer::new(p, state, &referred);
        writer.state(order);
        if best.as_ref().is_none_or(|best| writer.out < *best) {
            best = Some(std::mem::take(&mut writer.out));
        }
    });
    best.expect("there is at least one order")
}

/// Calls `f` with every order of the groups in which only what has the same shape changes places.
fn try_orders<'a>(
    groups: &[Vec<(String, Loose<'a>)>],
    done: &mut Vec<Vec<Loose<'a>>>,
    f: &mut dyn FnMut(&[Vec<Loose<'a>>]),
) {
    let Some(group) = groups.get(done.len()) else { return f(done) };
    let mut used = vec![false; group.len()];
    permute(group, &mut used, &mut vec![], &mut |order| {
        done.push(order.to_vec());
        try_orders(groups, done, f);
        done.pop();
    });
}

fn permute<'a>(
    group: &[(String, Loose<'a>)],
    used: &mut Vec<bool>,
    order: &mut Vec<Loose<'a>>,
    f: &mut dyn FnMut(&[Loose<'a>]),
) {
    if order.len() == group.len() {
        return f(order);
    }
    let shape = &group[order.len()].0;
    // What refers to nothing is the same wherever it stands; too many of one shape are left as they
    // are (see `crowded`).
    let many = group.iter().filter(|g| g.0 == *shape).count();
    let fixed = !shape.contains('?') || many > CROWD;
    for i in 0..group.len() {
        if fixed && i != order.len() {
            continue;
        }
        if !used[i] && group[i].0 == *shape {
            used[i] = true;
            order.push(group[i].1.clone());
            permute(group, used, order, f);
            order.pop();
            used[i] = false;
        }
    }
}

/// The values that a control holds, dead locals left out.
fn held(p: &Program, control: &Control) -> Vec<Value> {
    if !control.begun {
        let live = if matches!(control.body, super::state::Body::Fn(_)) || !control.args.is_empty()
        {
            control.args.clone()
        } else {
            vec![]
        };
        return live;
    }
    let mut values = vec![];
    let live = live::of_stack(&control.stack);
    for (frame, names) in control.frames.iter().zip(&live) {
        let keep = |name: &String| names.contains(name) || p.mutant == Mutant::DeadLocalsCount;
        values.extend(frame.iter().filter(|(n, _)| keep(n)).map(|(_, v)| v.clone()));
    }
    for context in &control.stack {
        match context {
            Context::Operands { temps, .. } => values.extend(temps.iter().cloned()),
            Context::For(_, items, _) => values.extend(items.iter().cloned()),
            _ => {}
        }
    }
    values
}

/// Handles that something reachable refers to.
pub fn referred(p: &'static Program, state: &State) -> BTreeSet<u64> {
    let mut handles = BTreeSet::new();
    let mut objects = BTreeSet::new();
    let mut todo: Vec<Value> = state.globals.values().cloned().collect();
    for mailbox in state.mailboxes.values() {
        todo.extend(mailbox.front.iter().chain(&mailbox.rest).flat_map(|m| m.args.clone()));
    }
    todo.extend(state.pool.iter().flat_map(|m| m.args.clone()));
    todo.extend(state.running.values().flat_map(|control| held(p, control)));
    for holder in state.locks.values() {
        if let Pid::Any(h) | Pid::Fork(h) = holder {
            handles.insert(*h);
        }
    }
    while let Some(value) = todo.pop() {
        value.each_reference(&mut |r| match r {
            Value::Handle(h) => {
                handles.insert(*h);
            }
            Value::Obj(o) if objects.insert(*o) => todo.extend(state.objects[o].1.clone()),
            _ => {}
        });
    }
    handles
}

impl<'a> Writer<'a> {
    fn new(p: &'static Program, state: &'a State, referred: &'a BTreeSet<u64>) -> Writer<'a> {
        Writer {
            p,
            state,
            out: String::new(),
            objects: BTreeMap::new(),
            handles: BTreeMap::new(),
            referred,
            shape_only: false,
            to_write: vec![],
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn state(&mut self, loose: &[Vec<Loose<'a>>]) {
        for (name, value) in &self.state.globals.clone() {
            self.text(&format!("{name}="));
            self.value(value);
            self.text("\n");
        }
        self.flags();
        for (pid, control) in &self.state.running {
            if !matches!(pid, Pid::Any(_) | Pid::Fork(_)) {
                self.process(pid, control);
            }
        }
        let mut groups = loose.iter();
        for (key, mailbox) in &self.state.mailboxes {
            let kind = self.p.handlers[key.0].2;
            self.text(&format!("mailbox {key:?}:"));
            mailbox.front.iter().for_each(|m| self.message(m, None));
            match kind {
                ast::Mailbox::Bag if self.p.mutant != Mutant::BagsAreOrdered => {
                    self.text("|");
                    groups.next().expect("a group").iter().for_each(|l| self.loose(l));
                }
                ast::Mailbox::Bag | ast::Mailbox::Fifo => {
                    mailbox.rest.iter().for_each(|m| self.message(m, None));
                }
                ast::Mailbox::Delayed => {
                    let mut rest: Vec<&Message> = mailbox.rest.iter().collect();
                    rest.sort_by_key(|m| m.due);
                    rest.iter().for_each(|m| self.message(m, Some(m.due)));
                }
            }
            self.text("\n");
        }
        for group in groups {
            self.text("loose:");
            group.iter().for_each(|l| self.loose(l));
            self.text("\n");
        }
        for (key, holder) in &self.state.locks {
            self.text(&format!("lock {key:?}: "));
            match holder {
                Pid::Any(h) | Pid::Fork(h) if self.state.alive.contains(h) => self.handle(*h),
                Pid::Thread(_) if self.state.running.contains_key(holder) => {
                    self.text(&format!("{holder:?}"));
                }
                Pid::Handler(_) | Pid::Event(_) => self.text(&format!("{holder:?}")),
                _ => self.text("ended"),
            }
            self.text("\n");
        }
        while let Some(object) = self.to_write.pop() {
            let (class, fields) = self.state.objects[&object].clone();
            let number = self.objects[&object];
            self.text(&format!("object {number} {class}:"));
            for field in &fields {
                self.value(field);
                self.text(",");
            }
            self.text("\n");
        }
    }

    /// C2.
    fn flags(&mut self) {
        rule("C2");
        if self.p.mutant == Mutant::TimeCounts {
            self.text(&format!("time {} ", self.state.time));
        }
        let mut out = String::new();
        for (key, flags) in &self.state.events {
            let name = &self.p.events[key.0].name.name;
            let once = self.p.is_once(*key);
            // C2: whether such an event is on does not count.
            let past = once && flags.started;
            let on = if past {
                '-'
            } else if flags.on {
                '1'
            } else {
                '0'
            };
            let leads = self.p.leads_in_driver(*key);
            let means = |r: &ast::Ref| {
                let index = r.index.as_ref().map(|index| &index.kind);
                &r.name.name == name
                    && !matches!(index, Some(ast::ExprKind::Int(member)) if *member != key.1)
            };
            let named = self.p.events.iter().any(|e| e.after.iter().any(means));
            let started = (once || leads || named) && flags.started;
            let _ = write!(out, "{key:?}{on}{} ", u8::from(started));
        }
        self.text(&out);
        self.text("\n");
    }

    fn loose(&mut self, loose: &Loose<'_>) {
        match loose {
            Loose::Message(m) => self.message(m, None),
            Loose::Process(pid, control) => self.process(pid, control),
        }
    }

    fn message(&mut self, m: &Message, due: Option<i64>) {
        self.text(&format!(" {}(", m.task));
        for arg in &m.args {
            self.value(arg);
            self.text(",");
        }
        self.text(")");
        self.created_for(m.created_for);
        self.number_of(m.handle);
        // A front message of a delayed mailbox is due at once.
        if let Some(due) = due {
            let wait = due.saturating_sub(self.state.time).max(0);
            if wait > 0 {
                self.text(&format!("+{wait}"));
            }
        }
    }

    /// The number of what a handle stands for, where something refers to it.
    fn number_of(&mut self, handle: u64) {
        if self.p.mutant == Mutant::PostsCount {
            return self.text(&format!("#{handle}"));
        }
        if self.referred.contains(&handle) {
            self.handle(handle);
        }
    }

    /// C2, U4.
    fn created_for(&mut self, component: Option<usize>) {
        let component = component.filter(|_| self.p.mutant != Mutant::CreatorsDoNotCount);
        if let Some(component) = component {
            self.text(&format!(" for {component}"));
        }
    }

    fn process(&mut self, pid: &Pid, control: &Control) {
        match pid {
            Pid::Any(_) => self.text("any"),
            Pid::Fork(_) => self.text("fork"),
            other => self.text(&format!("{other:?}")),
        }
        self.text(&format!(" {:?}", control.body));
        if let Some(event) = control.event {
            self.text(&format!(" {event:?}"));
        }
        self.created_for(control.created_for);
        if let Some(handle) = control.handle {
            self.number_of(handle);
        }
        if let Some(waiting) = self.state.waiting.get(pid) {
            self.text(&format!(" {waiting:?}"));
        }
        if control.begun {
            self.stand(control);
        } else {
            self.text(" not begun");
            let (locals, body) = super::step::entry(self.p, control);
            let live = live::body(body);
            for (name, value) in locals.iter().filter(|(name, _)| live.contains(*name)) {
                self.text(&format!(" {name}="));
                self.value(value);
            }
        }
        self.text("\n");
    }

    /// C4.
    fn stand(&mut self, control: &Control) {
        rule("C4");
        let live = live::of_stack(&control.stack);
        for context in &control.stack {
            match context {
                Context::Frame(number) => {
                    self.text(" {");
                    let names = &live[*number];
                    for (name, value) in &control.frames[*number] {
                        if names.contains(name) || self.p.mutant == Mutant::DeadLocalsCount {
                            self.text(&format!("{name}="));
                            self.value(value);
                            self.text(" ");
                        }
                    }
                    self.text("}");
                }
                Context::Block(block, next) => {
                    self.text(&format!(" b{}:{}", block.span.start, next.min(&9999)));
                }
                Context::Operands { id, phase, temps, .. } => {
                    self.text(&format!(" {id:?}:{phase}["));
                    for value in temps {
                        self.value(value);
                        self.text(",");
                    }
                    self.text("]");
                }
                Context::For(stmt, items, at) => {
                    self.text(&format!(" {:?}@{at}[", stmt.id));
                    for value in items {
                        self.value(value);
                        self.text(",");
                    }
                    self.text("]");
                }
                // What is kept for the release says it.
                Context::Leave(_) => {}
                Context::With(index) => self.text(&format!(" with{index:?}")),
                Context::Loop(stmt) => self.text(&format!(" loop{:?}", stmt.id)),
                Context::WhileCond(stmt) => self.text(&format!(" cond{:?}", stmt.id)),
                Context::IfCond(i) => self.text(&format!(" if{}", i.cond.span.start)),
                Context::Subject(m) => self.text(&format!(" match{}", m.subject.span.start)),
                _ => {}
            }
        }
    }

    fn handle(&mut self, handle: u64) {
        if !self.state.alive.contains(&handle) {
            self.text("#ended");
        } else if self.shape_only {
            self.text("#?");
        } else {
            let next = self.handles.len();
            let number = *self.handles.entry(handle).or_insert(next);
            self.text(&format!("#{number}"));
        }
    }

    fn values(&mut self, items: &[Value]) {
        for item in items {
            self.value(item);
            self.text(",");
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Handle(h) => self.handle(*h),
            Value::Obj(_) if self.shape_only => self.text("obj?"),
            Value::Obj(object) => {
                let next = self.objects.len();
                let number = match self.objects.get(object) {
                    Some(number) => *number,
                    None => {
                        self.objects.insert(*object, next);
                        self.to_write.push(*object);
                        next
                    }
                };
                self.text(&format!("obj{number}"));
            }
            Value::Enum(ty, variant, payload) => {
                self.text(&format!("e{ty}.{variant}("));
                self.values(payload);
                self.text(")");
            }
            Value::Record(ty, fields) => {
                self.text(&format!("r{ty}("));
                self.values(fields);
                self.text(")");
            }
            Value::List(items) => {
                self.text("[");
                self.values(items);
                self.text("]");
            }
            Value::Set(items) => {
                self.text("set[");
                self.values(items);
                self.text("]");
            }
            Value::Map(entries) => {
                self.text("map[");
                for (k, v) in entries {
                    self.value(k);
                    self.text(":");
                    self.value(v);
                    self.text(",");
                }
                self.text("]");
            }
            Value::Func(code, captured) => {
                match code {
                    Code::Named(name) => self.text(&format!("fn {name}[")),
                    Code::Closure(lambda) => self.text(&format!("fn {:?}[", lambda.0)),
                }
                let none = self.p.mutant == Mutant::CapturedValuesDoNotCount;
                for (name, value) in captured.iter().filter(|_| !none) {
                    self.text(&format!("{name}="));
                    self.value(value);
                    self.text(",");
                }
                self.text("]");
            }
            other => self.text(&format!("{other:?}")),
        }
    }
}
