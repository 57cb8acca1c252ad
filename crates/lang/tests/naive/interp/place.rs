//! Places, and what is in them: X1 to X6.

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
    Global(String),
    Field(u64, usize),
    GlobalAt(String, Value),
    FieldAt(u64, usize, Value),
    /// A field of null: what reads or writes it fails.
    OfNull,
}

/// A way from the value of a location to a part of it.
#[derive(Clone, Debug)]
pub enum Part {
    Field(String),
    Element(Value),
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

    /// As operands of an operation that stands at it.
    pub fn as_values(&self) -> Vec<Value> {
        let mut values = match &self.location {
            Location::Local(_) | Location::Global(_) | Location::OfNull => vec![],
            Location::Field(object, _) => vec![Value::Obj(*object)],
            Location::GlobalAt(_, index) => vec![index.clone()],
            Location::FieldAt(object, _, index) => vec![Value::Obj(*object), index.clone()],
        };
        values.extend(self.path.iter().filter_map(|part| match part {
            Part::Field(_) => None,
            Part::Element(index) => Some(index.clone()),
        }));
        values.extend(self.read.clone());
        values
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

    /// The place that an expression names. `kept` are operands computed before it and used after it.
    pub fn place(&mut self, e: &'static Expr, kept: &[Value]) -> Res<Place> {
        self.tick()?;
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
            _ => self.fail("type"),
        }
    }

    fn field_index(&self, object: u64, name: &str) -> Option<usize> {
        let class = self.state.objects.get(&object)?.0;
        self.fields_of(class).iter().position(|f| f.name.name == name)
    }

    /// X4 and X6 for `base[index]`.
    pub fn element_place(
        &mut self,
        e: &'static Expr,
        base: &'static Expr,
        index: &'static Expr,
        kept: Vec<Value>,
    ) -> Res<Place> {
        // The base is still to be used while its own parts are evaluated: so is the index.
        let context = Context::Operands { id: e.id, phase: 51, temps: vec![], rest: vec![index] };
        let mut place = if Run::is_place(base) {
            self.within(context, |run| run.place(base, &kept))?
        } else {
            let value = self.within(context, |run| run.eval(base))?;
            Place { location: Location::Local(String::new()), path: vec![], read: Some(value) }
        };
        let direct = place.path.is_empty()
            && place.read.is_none()
            && matches!(
                place.location,
                Location::Global(_) | Location::Field(..) | Location::OfNull
            );
        if !direct && place.read.is_none() && !matches!(place.location, Location::Local(_)) {
            let context =
                Context::Operands { id: e.id, phase: 51, temps: vec![], rest: vec![index] };
            self.within(context, |run| run.fetch(base.id, &mut place, &kept))?;
        }
        let mut temps = kept;
        temps.extend(place.as_values());
        let mut rest = vec![];
        if matches!(place.location, Location::Local(_)) {
            rest.push(base);
        }
        let context = Context::Operands { id: e.id, phase: 52, temps, rest };
        let index = self.within(context, |run| run.eval(index))?;
        self.at = e.span;
        if direct {
            place.location = match place.location {
                Location::Global(name) => Location::GlobalAt(name, index),
                Location::Field(object, field) => Location::FieldAt(object, field, index),
                other => other,
            };
        } else {
            place.path.push(Part::Element(index));
        }
        Ok(place)
    }

    /// The value in a place; reads the location unless that was done on the way.
    pub fn fetch(&mut self, id: NodeId, place: &mut Place, kept: &[Value]) -> Res<Value> {
        let root = match (&place.read, &place.location) {
            (Some(value), _) => value.clone(),
            (None, Location::Local(name)) => match self.locals().get(name) {
                Some(value) => value.clone(),
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
            value = match part {
                Part::Field(name) => self.record_field(&value, name)?,
                Part::Element(index) => self.element(&value, index)?,
            };
        }
        Ok(value)
    }

    fn load(&mut self, location: &Location) -> Res<Value> {
        match location {
            Location::Local(_) => panic!("a local is no shared location"),
            Location::OfNull => self.fail("null"),
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
            Location::Local(_) => {}
            Location::OfNull => return self.fail("null"),
            Location::Global(name) => {
                self.state.globals.insert(name, value);
            }
            Location::Field(object, field) => {
                self.state.objects.get_mut(&object).expect("an object").1[field] = value;
            }
            Location::GlobalAt(name, index) => {
                let whole = self.state.globals[&name].clone();
                let whole = self.replace(whole, &[Part::Element(index)], value)?;
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
            (_, Value::Null) => self.fail("null"),
            _ => self.fail("type"),
        }
    }

    pub fn position(&self, items: &[Value], index: &Value) -> Res<usize> {
        match index {
            Value::Int(i) => match usize::try_from(*i) {
                Ok(i) if i < items.len() => Ok(i),
                _ => self.fail("index"),
            },
            _ => self.fail("type"),
        }
    }

    pub fn element(&self, value: &Value, index: &Value) -> Res<Value> {
        match value {
            Value::List(items) => Ok(items[self.position(items, index)?].clone()),
            Value::Map(entries) => match entries.iter().find(|(k, _)| k == index) {
                Some((_, v)) => Ok(v.clone()),
                None if !index.is_data() => self.fail("type"),
                None => self.fail("index"),
            },
            Value::Null => self.fail("null"),
            _ => self.fail("type"),
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
            Value::Null => self.fail("null"),
            _ => self.fail("type"),
        }
    }

    /// X3.
    pub fn member(&mut self, id: NodeId, value: &Value, name: &str) -> Res<Value> {
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
            _ => self.fail("type"),
        }
    }
}
