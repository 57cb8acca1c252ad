//! Accesses of a step in the words of the trait: locations that conflict exactly if their accesses do.
//!
//! A container in a global or field that is accessed by elements somewhere has a location of its own and one for each element. An access to
//! an element also reads the container's; a write of the whole writes the container's; a read of the whole reads the container's and
//! those of all elements. So two element accesses conflict only at the same element, and each conflicts with whole accesses.

use super::names::StateNames;
use super::words;
use crate::machine::Machine;
use crate::program::{Op, SiteId};
use crate::state::State;
use crate::step::{Place, Touch};
use crate::value::{Value, show::short};
use anyorder_system::{Access, AccessKind};
use anyorder_trace::{Interner, Location, LocationId, Site, TableFull};
use rustc_hash::FxHashSet;

/// What the code writes by elements: globals, and fields of classes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elements {
    globals: FxHashSet<u16>,
    fields: FxHashSet<(u16, u16)>,
}

impl Elements {
    pub(crate) fn of(machine: &Machine) -> Elements {
        let mut elements = Elements::default();
        for op in machine.program.functions.iter().flat_map(|f| &f.code) {
            match *op {
                Op::SetGlobalAt { global, .. } => {
                    elements.globals.insert(global.0);
                }
                Op::SetFieldAt { class, field, .. } => {
                    elements.fields.insert((class.0, field));
                }
                _ => {}
            }
        }
        elements
    }

    fn has(&self, place: &Place) -> bool {
        match place {
            Place::Global(global) => self.globals.contains(global),
            Place::Field { class, field, .. } => self.fields.contains(&(*class, *field)),
            _ => false,
        }
    }
}

/// Turns touches into accesses, and fills the tables.
pub(crate) struct Translate<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) interner: &'a mut Interner,
    pub(crate) elements: &'a Elements,
    pub(crate) names: &'a StateNames,
    /// The state that the objects of the values are in.
    pub(crate) state: &'a State,
    /// The objects that the step made, by the numbers of their allocation.
    pub(crate) allocated: &'a [u64],
}

impl Translate<'_> {
    pub(crate) fn all(&mut self, touches: &[Touch]) -> Result<Vec<Access>, TableFull> {
        let mut accesses = Vec::with_capacity(touches.len());
        for touch in touches {
            self.one(touch, &mut accesses)?;
        }
        Ok(accesses)
    }

    fn one(&mut self, touch: &Touch, out: &mut Vec<Access>) -> Result<(), TableFull> {
        let site = self.site(touch.site)?;
        let text = self.text(&touch.place);
        let whole = self.location(&text)?;
        let value = touch.value.as_ref().map(|value| self.number(value));
        let access = |location, kind, value: Option<u64>| {
            let (read, written) = match kind {
                AccessKind::Read => (value, None),
                AccessKind::Write => (None, value),
                AccessKind::Rmw => (None, None),
            };
            Access { location, kind, site, read, written }
        };
        match &touch.element {
            Some(element) => {
                out.push(access(whole, AccessKind::Read, None));
                let key = short(&self.machine.program, element);
                let location = self.location(&format!("{text}[{key}]"))?;
                out.push(access(location, touch.kind, value));
            }
            None => {
                out.push(access(whole, touch.kind, value));
                if touch.kind == AccessKind::Read && self.elements.has(&touch.place) {
                    for (key, value) in parts(touch.value.as_ref()) {
                        let key = short(&self.machine.program, &key);
                        let location = self.location(&format!("{text}[{key}]"))?;
                        let value = self.number(value);
                        out.push(access(location, AccessKind::Read, Some(value)));
                    }
                }
            }
        }
        Ok(())
    }

    fn location(&mut self, text: &str) -> Result<LocationId, TableFull> {
        let name = self.interner.name(text)?;
        self.interner.location(Location::Named(name))
    }

    fn site(&mut self, site: SiteId) -> Result<anyorder_trace::SiteId, TableFull> {
        let program = &self.machine.program;
        let Some(site) = program.sites.get(site.index()).filter(|site| site.line > 0) else {
            return Ok(anyorder_trace::SiteId::UNKNOWN);
        };
        let file = program.files.get(usize::from(site.file)).map_or("", String::as_str);
        let file = self.interner.name(file)?;
        self.interner.site(Site { file, line: site.line, column: site.column, ..Site::default() })
    }

    fn text(&self, place: &Place) -> String {
        let program = &self.machine.program;
        match place {
            Place::Global(global) => program.globals[usize::from(*global)].name.clone(),
            Place::Field { uid, class, field } => {
                let class = &program.classes[usize::from(*class)];
                let name = class.fields.get(usize::from(*field));
                let name = name.and_then(|name| program.names.get(name.index()));
                let object = self.names.objects.get(uid).copied().unwrap_or(0);
                format!("{}#{object}.{}", class.name, name.map_or("?", String::as_str))
            }
            Place::Enabled(member) => {
                format!("enabled({})", words::event_name(self.machine, *member))
            }
            Place::Lock(lock) => format!("lock {}", words::lock_name(self.machine, *lock)),
            Place::Cond(cond) => format!("cond {}", words::cond_name(self.machine, *cond)),
        }
    }

    /// A value as 64 bits: an integer itself, an object by its lasting number, anything else by its hash.
    fn number(&self, value: &Value) -> u64 {
        match value {
            Value::Int(value) => *value as u64,
            Value::Bool(value) => u64::from(*value),
            Value::Obj(number) => {
                let new = (*number as usize).checked_sub(self.state.heap().len() + 1);
                let uid = match new {
                    Some(new) => self.allocated.get(new).copied(),
                    None => self.state.object(*number).map(|object| object.uid),
                };
                let uid = uid.unwrap_or(0);
                self.names.objects.get(&uid).copied().unwrap_or(0)
            }
            value => value.hash() as u64,
        }
    }
}

/// The elements of a container by their keys.
fn parts(value: Option<&Value>) -> Vec<(Value, &Value)> {
    match value {
        Some(Value::List(list)) => (0..).map(Value::Int).zip(list.items()).collect(),
        Some(Value::Map(map)) => map.entries().iter().map(|(k, v)| (k.clone(), v)).collect(),
        _ => Vec::new(),
    }
}
