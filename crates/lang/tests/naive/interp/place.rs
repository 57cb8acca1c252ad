//! Places, and what is in them: X1 to X6.

use super::fired::rule;
use super::program::Mutant;
use super::rename::SELF;
use super::run::{Res, Run};
use super::state::{Context, Key};
use super::value::Value;
use anyorder_lang::ast::*;

/// What is read and written at once.
#[derive(Clone, Debug)]
pub enum Location {
    Local(String),
    /// X6: a part of a local that was read because a part of that is written.
    LocalPart(String, Box<Part>),
    Global(String),
    Field(u64, usize),
    GlobalAt(String, Value),
    FieldAt(u64, usize, Value),
    /// A field of null, and an element of one: what reads or writes it fails.
    OfNull,
    OfNullAt(Value),
}

/// A way from the value of a location to a part of it.
#[derive(Clone, Debug)]
pub enum Part {
    Field(String),
    Element(Value),
}

impl Part {
    fn index(&self) -> Option<Value> {
        match self {
            Part::Field(_) => None,
            Part::Element(index) => Some(index.clone()),
        }
    }
}

/// An evaluated place.
#[derive(Clone, Debug)]
pub struct Place {
    pub location: Location,
    pub path: Vec<Part>,
    /// What was read at the location on the way.
    pub read: Option<Value>,
}

impl Place {
    fn at(location: Location) -> Place {
        Place { location, path: vec![], read: None }
    }

    /// An element of what a global or field holds directly is a location of its own (X1).
    fn direct(&mut self, index: Value) {
        let location = std::mem::replace(&mut self.location, Location::OfNull);
        self.location = match location {
            Location::Global(name) => Location::GlobalAt(name, index),
            Location::Field(object, field) => Location::FieldAt(object, field, index),
            Location::OfNull => Location::OfNullAt(index),
            other => other,
        };
    }

    /// As operands of an operation that stands at it.
    pub fn as_values(&self) -> Vec<Value> {
        let mut values = match &self.location {
            Location::Local(_) | Location::Global(_) | Location::OfNull => vec![],
            Location::LocalPart(_, part) => part.index().into_iter().collect(),
            Location::Field(object, _) => vec![Value::Obj(*object)],
            Location::GlobalAt(_, index) | Location::OfNullAt(index) => vec![index.clone()],
            Location::FieldAt(object, _, index) => vec![Value::Obj(*object), index.clone()],
        };
        values.extend(self.path.iter().filter_map(Part::index));
        values.extend(self.read.clone());
        values
    }
}

/// An expression without parentheses around it.
fn bare(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Paren(inner) => bare(inner),
        _ => e,
    }
}

impl Run {
    pub fn is_place(e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(_)
            | ExprKind::SelfRef
            | ExprKind::Field { .. }
            | ExprKind::Index { .. } => true,
            ExprKind::Paren(inner) => Run::is_place(inner),
            _ => false,
        }
    }

    /// The place that an expression names. `kept` are operands computed before it and used after
    /// it.
    pub fn place(&mut self, e: &'static Expr, kept: &[Value]) -> Res<Place> {
        self.tick()?;
        rule("X6");
        self.at = e.span;
        match &e.kind {
            ExprKind::Name(name) if name.contains('·') => {
                Ok(Place::at(Location::Local(name.clone())))
            }
            ExprKind::Name(name) => Ok(Place::at(Location::Global(name.clone()))),
            ExprKind::SelfRef => Ok(Place::at(Location::Local(SELF.into()))),
            ExprKind::Paren(inner) => self.place(inner, kept),
            ExprKind::Field { base, name } => self.field_place(e, base, &name.name, kept),
            ExprKind::Index { base, index } => self.element_place(e, base, index, kept.to_vec()),
            _ => panic!("no place"),
        }
    }

    fn field_place(
        &mut self,
        e: &'static Expr,
        base: &'static Expr,
        name: &str,
        kept: &[Value],
    ) -> Res<Place> {
        let mut place = if Run::is_place(base) { Some(self.place(base, kept)?) } else { None };
        let value = match &mut place {
            Some(place) => self.fetch(base.id, place, kept)?,
            None => {
                let context =
                    Context::Operands { id: e.id, phase: 50, temps: kept.to_vec(), rest: vec![] };
                self.within(context, |run| run.eval(base))?
            }
        };
        self.at = e.span;
        match (value, place) {
            (Value::Obj(object), _) => match self.field_index(object, name) {
                Some(field) => Ok(Place::at(Location::Field(object, field))),
                None => self.fail("type"),
            },
            (Value::Record(..), Some(mut place)) => {
                place.path.push(Part::Field(name.to_string()));
                Ok(place)
            }
            (Value::Null, _) => Ok(Place::at(Location::OfNull)),
            (other, _) => self.wrong(&other),
        }
    }

    fn field_index(&self, object: u64, name: &str) -> Option<usize> {
        let class = self.state.objects.get(&object)?.0;
        self.fields_of(class).iter().position(|f| f.name.name == name)
    }

    /// X4.
    pub fn read_element(
        &mut self,
        e: &'static Expr,
        base: &'static Expr,
        index: &'static Expr,
    ) -> Res<Value> {
        rule("X4");
        let first = Context::Operands { id: e.id, phase: 51, temps: vec![], rest: vec![index] };
        let location = match &bare(base).kind {
            ExprKind::Name(name) if name.contains('·') => {
                let rest = vec![base];
                let context = Context::Operands { id: e.id, phase: 52, temps: vec![], rest };
                let before = self.locals()[name].clone();
                let index = self.within(context, |run| run.eval(index))?;
                self.at = e.span;
                let early = self.wrongly(Mutant::ElementBeforeIndex);
                let whole = if early { before } else { self.locals()[name].clone() };
                return self.element(&whole, &index);
            }
            ExprKind::Name(name) if self.p.globals.iter().any(|g| &g.name.name == name) => {
                Location::Global(name.clone())
            }
            ExprKind::Field { base: b, name } if self.variant(b, name, vec![]).is_none() => {
                let object = self.within(first.clone(), |run| run.eval(b))?;
                self.at = base.span;
                match &object {
                    Value::Obj(object) => match self.field_index(*object, &name.name) {
                        Some(field) => Location::Field(*object, field),
                        None => return self.fail("type"),
                    },
                    Value::Null => Location::OfNull,
                    _ => {
                        let whole =
                            self.within(first, |run| run.member(base.id, &object, &name.name))?;
                        let values = self.operands(e.id, &[index], vec![whole])?;
                        self.at = e.span;
                        return self.element(&values[0], &values[1]);
                    }
                }
            }
            _ => {
                let values = self.operands(e.id, &[base, index], vec![])?;
                self.at = e.span;
                return self.element(&values[0], &values[1]);
            }
        };
        let mut place = Place::at(location);
        let context =
            Context::Operands { id: e.id, phase: 52, temps: place.as_values(), rest: vec![] };
        let index = self.within(context, |run| run.eval(index))?;
        self.at = e.span;
        place.direct(index);
        self.fetch(e.id, &mut place, &[])
    }

    /// X6 for `base[index]`.
    fn element_place(
        &mut self,
        e: &'static Expr,
        base: &'static Expr,
        index: &'static Expr,
        kept: Vec<Value>,
    ) -> Res<Place> {
        // The base is still to be used while its own parts are evaluated: so is the index.
        let context = Context::Operands { id: e.id, phase: 51, temps: vec![], rest: vec![index] };
        let mut place = if Run::is_place(base) {
            self.within(context.clone(), |run| run.place(base, &kept))?
        } else {
            let value = self.within(context.clone(), |run| run.eval(base))?;
            Place { location: Location::Local(String::new()), path: vec![], read: Some(value) }
        };
        let direct = place.path.is_empty()
            && place.read.is_none()
            && matches!(
                place.location,
                Location::Global(_) | Location::Field(..) | Location::OfNull
            );
        let of_local = matches!(place.location, Location::Local(_)) && place.path.is_empty();
        if !direct && !of_local && place.read.is_none() {
            self.within(context, |run| run.fetch(base.id, &mut place, &kept))?;
        }
        let mut temps = kept;
        temps.extend(place.as_values());
        let mut rest = vec![];
        if matches!(place.location, Location::Local(_) | Location::LocalPart(..)) {
            rest.push(base);
        }
        let context = Context::Operands { id: e.id, phase: 52, temps, rest };
        let index = self.within(context, |run| run.eval(index))?;
        self.at = e.span;
        if direct {
            place.direct(index);
        } else {
            place.path.push(Part::Element(index));
        }
        Ok(place)
    }

    /// The value in a place; reads the location unless that was done on the way.
    pub fn fetch(&mut self, id: NodeId, place: &mut Place, kept: &[Value]) -> Res<Value> {
        let root = match (&place.read, &place.location) {
            (Some(value), _) => value.clone(),
            (None, Location::Local(name)) => match self.locals().get(name).cloned() {
                Some(value) => match place.path.split_first() {
                    None => value,
                    Some((part, [])) => {
                        let part = part.clone();
                        let inner = self.part(&value, &part)?;
                        place.location = Location::LocalPart(name.clone(), Box::new(part));
                        place.path.clear();
                        place.read = Some(inner.clone());
                        inner
                    }
                    Some(_) => panic!("a part of a part of a local that was not read"),
                },
                None => panic!("no local {name}"),
            },
            (None, location) => {
                let location = location.clone();
                let mut temps = kept.to_vec();
                temps.extend(place.as_values());
                let at = self.at;
                let value = self.look(id, 53, temps, |run| {
                    run.at = at;
                    run.load(&location)
                })?;
                place.read = Some(value.clone());
                value
            }
        };
        let mut value = root;
        for part in &place.path {
            value = self.part(&value, part)?;
        }
        Ok(value)
    }

    fn part(&self, value: &Value, part: &Part) -> Res<Value> {
        match part {
            Part::Field(name) => self.record_field(value, name),
            Part::Element(index) => self.element(value, index),
        }
    }

    fn load(&mut self, location: &Location) -> Res<Value> {
        match location {
            Location::Local(_) | Location::LocalPart(..) => panic!("a local is no shared location"),
            Location::OfNull if self.wrongly(Mutant::FieldOfNullIsNull) => Ok(Value::Null),
            Location::OfNull | Location::OfNullAt(_) => self.fail("null"),
            Location::Global(name) => Ok(self.state.globals[name].clone()),
            Location::Field(object, field) => Ok(self.state.objects[object].1[*field].clone()),
            Location::GlobalAt(name, index) => {
                self.element(&self.state.globals[name].clone(), index)
            }
            Location::FieldAt(object, field, index) => {
                self.element(&self.state.objects[object].1[*field].clone(), index)
            }
        }
    }

    /// Writes a value into a place. `kept`: operands that are used after the write.
    pub fn store(&mut self, id: NodeId, place: Place, value: Value, kept: Vec<Value>) -> Res<()> {
        let whole = if place.path.is_empty() {
            value
        } else {
            let root = match (&place.read, &place.location) {
                (Some(root), _) => root.clone(),
                (None, Location::Local(name)) => self.locals()[name].clone(),
                _ => panic!("a part of what was not read"),
            };
            self.replace(root, &place.path, value)?
        };
        match place.location.clone() {
            Location::Local(name) => {
                self.locals().insert(name, whole);
                Ok(())
            }
            Location::LocalPart(name, part) => {
                if self.wrongly(Mutant::PartIsLost) {
                    return Ok(());
                }
                let now = self.locals()[&name].clone();
                let whole = self.replace(now, &[*part], whole)?;
                self.locals().insert(name, whole);
                Ok(())
            }
            location => {
                if let Location::Global(name) = &location {
                    let decl =
                        self.p.globals.iter().find(|g| &g.name.name == name).expect("a global");
                    if let Some(ty) = &decl.ty {
                        self.check_type(ty, &whole)?;
                    }
                }
                if let Location::Field(object, field) = &location {
                    let class = self.state.objects[object].0;
                    if let Some(ty) = &self.fields_of(class)[*field].ty {
                        self.check_type(ty, &whole)?;
                    }
                }
                let mut temps = kept;
                temps.extend(
                    Place { read: None, path: vec![], location: location.clone() }.as_values(),
                );
                temps.push(whole.clone());
                let at = self.at;
                let phase = if place.read.is_some() && self.p.mutant == Mutant::CompoundIsAtomic {
                    self.budget += 1;
                    55
                } else {
                    54
                };
                self.act(id, phase, temps, |run| {
                    run.at = at;
                    run.save(location, whole)?;
                    Ok(Value::Null)
                })
                .map(|_| ())
            }
        }
    }

    fn save(&mut self, location: Location, value: Value) -> Res<()> {
        match location {
            Location::Local(_) | Location::LocalPart(..) => {}
            Location::OfNull | Location::OfNullAt(_) => return self.fail("null"),
            Location::Global(name) => {
                self.note_update(&name, &self.state.globals[&name].clone(), &value);
                self.state.globals.insert(name, value);
            }
            Location::Field(object, field) => {
                self.state.objects.get_mut(&object).expect("an object").1[field] = value;
            }
            Location::GlobalAt(name, index) => {
                let old = self.state.globals[&name].clone();
                let whole = self.replace(old.clone(), &[Part::Element(index)], value)?;
                self.note_update(&name, &old, &whole);
                self.state.globals.insert(name, whole);
            }
            Location::FieldAt(object, field, index) => {
                let whole = self.state.objects[&object].1[field].clone();
                let whole = self.replace(whole, &[Part::Element(index)], value)?;
                self.state.objects.get_mut(&object).expect("an object").1[field] = whole;
            }
        }
        Ok(())
    }

    fn replace(&self, whole: Value, path: &[Part], value: Value) -> Res<Value> {
        let Some((first, rest)) = path.split_first() else { return Ok(value) };
        match (first, whole) {
            (Part::Field(name), Value::Record(ty, mut fields)) => {
                let decl = self.p.records[ty];
                let Some(at) = decl.fields.iter().position(|f| &f.name.name == name) else {
                    return self.fail("type");
                };
                fields[at] = self.replace(fields[at].clone(), rest, value)?;
                if rest.is_empty() {
                    self.check_type(&decl.fields[at].ty, &fields[at])?;
                }
                Ok(Value::Record(ty, fields))
            }
            (Part::Element(index), Value::List(mut items)) => {
                let at = self.position(&items, index)?;
                items[at] = self.replace(items[at].clone(), rest, value)?;
                Ok(Value::List(items))
            }
            (Part::Element(index), Value::Map(mut entries)) => {
                let value = if rest.is_empty() {
                    value
                } else {
                    let old = self.element(&Value::Map(entries.clone()), index)?;
                    self.replace(old, rest, value)?
                };
                self.insert_entry(&mut entries, index.clone(), value)?;
                Ok(Value::Map(entries))
            }
            (_, other) => self.wrong(&other),
        }
    }

    pub fn position(&self, items: &[Value], index: &Value) -> Res<usize> {
        match index {
            Value::Int(i) => match usize::try_from(*i) {
                Ok(i) if i < items.len() => Ok(i),
                _ => self.fail("index"),
            },
            other => self.wrong(other),
        }
    }

    pub fn element(&self, value: &Value, index: &Value) -> Res<Value> {
        match value {
            Value::List(items) => Ok(items[self.position(items, index)?].clone()),
            Value::Map(entries) => match entries.iter().find(|(k, _)| k == index) {
                Some((_, v)) => Ok(v.clone()),
                None => self.fail("index"),
            },
            other => self.wrong(other),
        }
    }

    fn record_field(&self, value: &Value, name: &str) -> Res<Value> {
        match value {
            Value::Record(ty, fields) => {
                match self.p.records[*ty].fields.iter().position(|f| f.name.name == name) {
                    Some(at) => Ok(fields[at].clone()),
                    None => self.fail("type"),
                }
            }
            other => self.wrong(other),
        }
    }

    /// X3.
    pub fn member(&mut self, id: NodeId, value: &Value, name: &str) -> Res<Value> {
        rule("X3");
        match value {
            Value::Obj(object) => match self.field_index(*object, name) {
                Some(field) => {
                    let location = Location::Field(*object, field);
                    self.look(id, 53, vec![value.clone()], |run| run.load(&location))
                }
                None => self.fail("type"),
            },
            Value::Null => self.look(id, 53, vec![Value::Null], |run| run.load(&Location::OfNull)),
            _ => self.record_field(value, name),
        }
    }

    /// The element of a declared array.
    pub fn array_key(&self, number: usize, size: Option<i64>, index: Option<Value>) -> Res<Key> {
        match (size, index) {
            (None, _) => Ok((number, 0)),
            (Some(size), Some(Value::Int(i))) if 0 <= i && i < size => Ok((number, i)),
            (Some(_), Some(Value::Int(_))) => self.fail("index"),
            (_, other) => self.wrong(&other.unwrap_or(Value::Null)),
        }
    }
}
