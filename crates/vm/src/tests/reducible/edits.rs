//! Changes of one thing in a state, and the places that each of them changes: decided here, from
//! what the thing is.

use crate::tests::access::{Edit, PlaceSpec, View};
use anyorder_vm::program::{MailboxKind, Op};
use anyorder_vm::{Machine, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A change of one thing.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    /// What kind of thing it is.
    pub(crate) kind: &'static str,
    pub(crate) edit: Edit,
    /// What it changes.
    pub(crate) spots: Vec<PlaceSpec>,
    /// What it takes the new content from: it is another change once that is another.
    pub(crate) uses: Vec<PlaceSpec>,
    /// What contains it: who writes the container writes the part, too; who touches a part reads
    /// the container, and so learns of it.
    pub(crate) container: Option<PlaceSpec>,
}

/// Values that variables were seen to hold, without objects and handles.
#[derive(Default, Debug)]
pub(crate) struct Pool {
    globals: BTreeMap<usize, Vec<Value>>,
    fields: BTreeMap<(u16, u16), Vec<Value>>,
}

/// Values kept of one variable.
const KEPT: usize = 6;

impl Pool {
    pub(crate) fn add(&mut self, view: &View) {
        let keep = |list: &mut Vec<Value>, value: &Value| {
            if plain(value) && list.len() < KEPT && !list.contains(value) {
                list.push(value.clone());
            }
        };
        for (i, value) in view.globals.iter().enumerate() {
            keep(self.globals.entry(i).or_default(), value);
        }
        for object in &view.objects {
            for (field, value) in (0..).zip(&object.fields) {
                keep(self.fields.entry((object.class, field)).or_default(), value);
            }
        }
    }
}

/// Whether there is neither an object nor a handle in a value.
pub(crate) fn plain(value: &Value) -> bool {
    match value {
        Value::Obj(_) | Value::Handle(_) => false,
        Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
            s.items().iter().all(plain)
        }
        Value::Set(set) => set.items().iter().all(plain),
        Value::Map(map) => map.entries().iter().all(|(k, v)| plain(k) && plain(v)),
        _ => true,
    }
}

/// What could stand in the place of a value.
fn others(value: &Value, pool: Option<&Vec<Value>>) -> Vec<Value> {
    let mut others: Vec<Value> = pool.into_iter().flatten().cloned().collect();
    match value {
        Value::Int(n) => {
            others.extend([Value::Int(n.wrapping_add(1)), Value::Int(0), Value::Int(1)]);
        }
        Value::Bool(b) => others.push(Value::Bool(!b)),
        Value::Obj(_) | Value::Handle(_) => others.push(Value::Null),
        Value::Str(_) => others.push(Value::str("other")),
        _ => {}
    }
    others.retain(|other| other != value);
    others
}

/// What a program writes by elements, globals and fields of classes; and what else of its
/// declarations counts here.
#[derive(Default, Debug)]
pub(crate) struct ByElement {
    globals: BTreeSet<usize>,
    fields: BTreeSet<(u16, u16)>,
    /// For each event whether it happens once.
    once: Vec<bool>,
}

impl ByElement {
    pub(crate) fn of(machine: &Machine) -> ByElement {
        let program = machine.program();
        let once = program.events.iter().map(|event| event.once).collect();
        let mut found = ByElement { once, ..ByElement::default() };
        for op in program.functions.iter().flat_map(|f| &f.code) {
            match *op {
                Op::SetGlobalAt { global, .. } => _ = found.globals.insert(global.index()),
                Op::SetFieldAt { class, field, .. } => _ = found.fields.insert((class.0, field)),
                _ => {}
            }
        }
        found
    }
}

/// All changes of one thing in a state.
pub(crate) fn edits(view: &View, pool: &Pool, by: &ByElement) -> Vec<Changed> {
    let mut all = Vec::new();
    let mut add = |kind, edit, spots: Vec<PlaceSpec>| {
        let container = match &spots[..] {
            [PlaceSpec::Element(global, _)] => Some(PlaceSpec::Global(*global)),
            [PlaceSpec::FieldElement(class, field, _)] => Some(PlaceSpec::Field(*class, *field)),
            _ => None,
        };
        all.push(Changed { kind, edit, spots, uses: Vec::new(), container });
    };
    if view.before_init {
        return all;
    }
    for (i, value) in view.globals.iter().enumerate() {
        for other in others(value, pool.globals.get(&i)) {
            let kind = if plain(value) { "variable" } else { "variable with handle or object" };
            add(kind, Edit::Global(i, other), vec![PlaceSpec::Global(i)]);
        }
        if let (Value::List(list), true) = (value, by.globals.contains(&i)) {
            for (at, item) in (0..).zip(list.items()) {
                for other in others(item, None) {
                    let spot = PlaceSpec::Element(i, Value::Int(at));
                    add("element", Edit::Element(i, at, other), vec![spot]);
                }
            }
        }
    }
    for object in &view.objects {
        for (field, value) in (0..).zip(&object.fields) {
            let class = object.class;
            for other in others(value, pool.fields.get(&(class, field))) {
                let edit = Edit::Field(object.uid, field, other);
                add("field", edit, vec![PlaceSpec::Field(class, field)]);
            }
            if let (Value::List(list), true) = (value, by.fields.contains(&(class, field))) {
                for (at, item) in (0..).zip(list.items()) {
                    for other in others(item, None) {
                        let spot = PlaceSpec::FieldElement(class, field, Value::Int(at));
                        let edit = Edit::FieldElement(object.uid, field, at, other);
                        add("element of a field", edit, vec![spot]);
                    }
                }
            }
        }
    }
    for message in &view.messages {
        let head = message.kind != MailboxKind::Bag || message.front;
        let mut spots = vec![PlaceSpec::Standing(message.key)];
        let mut gone = spots.clone();
        gone.push(PlaceSpec::Posted(message.queue as u32, message.task));
        if head {
            gone.push(PlaceSpec::Head(message.queue));
        }
        add("message gone", Edit::Drop(message.uid), gone);
        if message.front {
            spots.push(PlaceSpec::Head(message.queue));
        } else if message.kind != MailboxKind::Bag {
            spots.push(PlaceSpec::Tail(message.queue));
        }
        if message.kind == MailboxKind::Delayed {
            spots.extend([PlaceSpec::Head(message.queue), PlaceSpec::Now]);
        }
        add("message more", Edit::Duplicate(message.uid), spots);
    }
    for thread in &view.threads {
        let mut spots = vec![PlaceSpec::Standing(thread.key)];
        spots.extend(thread.slot.map(PlaceSpec::Busy));
        spots.extend(thread.member.map(PlaceSpec::Started));
        spots.extend(thread.task.map(|(queue, task)| PlaceSpec::Posted(queue, task)));
        spots.extend(thread.forked.map(PlaceSpec::Forked));
        spots.extend(thread.waits.map(PlaceSpec::Cond));
        let edit = match thread.declared {
            Some(member) => Edit::EndDeclared(member),
            None => Edit::End(thread.uid),
        };
        let kind = if thread.declared.is_some() { "thread" } else { "thread with an end" };
        add(kind, edit, spots);
    }
    for lock in 0..view.locks.len() as u32 {
        add("lock", Edit::Lock(lock), vec![PlaceSpec::Lock(lock)]);
    }
    for (member, (event, kept, _, toggled, _)) in (0..).zip(&view.members) {
        if *kept {
            let mut spots = vec![PlaceSpec::Started(member)];
            // Once it is over it is neither on nor off.
            if by.once[*event] {
                spots.push(PlaceSpec::Toggled(member));
            }
            add("started", Edit::Started(member), spots);
        }
        if *toggled {
            add("enabled", Edit::Toggled(member), vec![PlaceSpec::Toggled(member)]);
        }
    }
    copies(view, by, &mut all);
    all
}

/// A variable with a handle or an object gets that of another. That reads the other variable, and
/// all elements of what it holds if the program writes these one by one.
fn copies(view: &View, by: &ByElement, all: &mut Vec<Changed>) {
    let same = |a: &Value, b: &Value| a.kind() == b.kind() && (!plain(a) || !plain(b));
    for (from, a) in view.globals.iter().enumerate() {
        for (to, b) in view.globals.iter().enumerate() {
            if from != to && same(a, b) && a != b {
                all.push(Changed {
                    kind: "handle or object copied",
                    edit: Edit::Copy(from, to),
                    spots: vec![PlaceSpec::Global(to)],
                    uses: read(from, a, by),
                    container: None,
                });
            }
        }
    }
}

/// The places that a read of a whole global reads.
fn read(global: usize, value: &Value, by: &ByElement) -> Vec<PlaceSpec> {
    let mut spots = vec![PlaceSpec::Global(global)];
    if by.globals.contains(&global) {
        let element = |key| PlaceSpec::Element(global, key);
        match value {
            Value::List(list) => {
                spots.extend((0..list.items().len() as i64).map(Value::Int).map(element))
            }
            Value::Map(map) => {
                spots.extend(map.entries().iter().map(|(key, _)| element(key.clone())))
            }
            _ => {}
        }
    }
    spots
}
