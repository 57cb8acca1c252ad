//! Translates the log of a step into accesses to locations. Two accesses conflict exactly if their
//! locations conflict.
//!
//! A container in a global or field that is accessed by elements somewhere has a location of its
//! own and one for each element. An access to an element also reads the container's; a write of the
//! whole writes the container's; a read of the whole reads the container's and those of all
//! elements. So two element accesses conflict only at the same element, and each conflicts with
//! whole accesses.

use super::names::StateNames;
use super::words;
use crate::machine::{Elements, Machine};
use crate::program::SiteId;
use crate::state::State;
use crate::step::{LoggedAccess, LoggedPlace};
use crate::value::{Value, mix, show::short};
use anyorder_system::{Access, AccessKind, TASK_STATUS, TaskName};
use anyorder_trace::{Interner, Location, LocationId, Site, TableFull};
use rustc_hash::FxHashMap;

/// Returns whether the container in a place has locations for its elements.
pub(super) fn has_elements(elements: &Elements, place: &LoggedPlace) -> bool {
    match place {
        LoggedPlace::Global(global) => elements.has_global(*global),
        LoggedPlace::Field { class, field, .. } => elements.has_field(*class, *field),
        _ => false,
    }
}

/// Translates logged accesses, and fills the tables.
pub(crate) struct AccessTranslator<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) interner: &'a mut Interner,
    pub(crate) elements: &'a Elements,
    pub(crate) names: &'a StateNames,
    /// The names before the step: the tasks that ended in it have theirs there.
    pub(crate) before: &'a StateNames,
    /// The state before the step, which has the objects of the values.
    pub(crate) state: &'a State,
    /// The objects that the step made, by the numbers of their allocation.
    pub(crate) allocated: &'a [u64],
    /// The names of what the step created, by the numbers of the creations.
    pub(crate) created: &'a FxHashMap<u64, TaskName>,
}

/// Collects what steps access.
pub(super) struct Sink<'a, T> {
    pub(super) machine: &'a Machine,
    pub(super) out: &'a mut Vec<T>,
}

impl<T> Sink<'_, T> {
    #[cfg_attr(test, track_caller)]
    pub(super) fn push(&mut self, one: T) {
        if !self.machine.reports.drops() {
            self.out.push(one);
        }
    }
}

/// The value of every handle: the number of a handle depends on other handles.
const HANDLE: u64 = 0x4a6d_1e00;

impl AccessTranslator<'_> {
    pub(crate) fn all(&mut self, touches: &[LoggedAccess]) -> Result<Vec<Access>, TableFull> {
        let mut accesses = Vec::with_capacity(touches.len());
        for touch in touches {
            self.one(touch, &mut accesses)?;
        }
        Ok(accesses)
    }

    fn one(&mut self, touch: &LoggedAccess, out: &mut Vec<Access>) -> Result<(), TableFull> {
        // Each task has a location of its own.
        if touch.place == LoggedPlace::Lifecycle {
            return Ok(());
        }
        let site = self.site(touch.site)?;
        let (class, text) = self.text(&touch.place);
        let whole = match class {
            "" => self.location(&text)?,
            class => self.shadow(class, &text)?,
        };
        let value = touch.value.as_ref().map(|value| self.number(value));
        let access = |location, kind, value: Option<u64>| {
            let (read, written) = match kind {
                AccessKind::Read => (value, None),
                AccessKind::Write => (None, value),
                AccessKind::Rmw => (None, None),
            };
            Access { location, kind, site, read, written }
        };
        let mut out = Sink { machine: self.machine, out };
        match &touch.element {
            Some(element) => {
                out.push(access(whole, AccessKind::Read, None));
                let key = self.key(element);
                let location = self.location(&format!("{text}[{key}]"))?;
                out.push(access(location, touch.kind, value));
            }
            None => {
                out.push(access(whole, touch.kind, value));
                if touch.kind == AccessKind::Read && has_elements(self.elements, &touch.place) {
                    for (key, value) in touch.value.iter().flat_map(Value::elements) {
                        let key = self.key(&key);
                        let location = self.location(&format!("{text}[{key}]"))?;
                        let value = self.number(value);
                        out.push(access(location, AccessKind::Read, Some(value)));
                    }
                }
            }
        }
        Ok(())
    }

    fn shadow(&mut self, class: &str, field: &str) -> Result<LocationId, TableFull> {
        let (class, field) = (self.interner.name(class)?, self.interner.name(field)?);
        self.interner.location(Location::Static { class, field })
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

    /// Returns the class (empty for variables) and the text of a location.
    fn text(&self, place: &LoggedPlace) -> (&'static str, String) {
        let machine = self.machine;
        let mailbox = |queue: u32| words::queue_name(machine, queue as usize).to_string();
        match place {
            LoggedPlace::Task(uid) => {
                let name = self.before.of(*uid).or_else(|| self.created.get(uid));
                let name = name.or_else(|| self.names.of(*uid));
                (TASK_STATUS, name.map_or_else(|| "?".to_owned(), TaskName::to_string))
            }
            LoggedPlace::Thread(member) => {
                ("thread", words::thread_name(machine, *member).to_string())
            }
            LoggedPlace::Event(member) => {
                ("event", words::event_name(machine, *member).to_string())
            }
            LoggedPlace::Started(member) => {
                ("started", words::event_name(machine, *member).to_string())
            }
            LoggedPlace::First(queue) => ("first", mailbox(*queue)),
            LoggedPlace::Last(queue) => ("last", mailbox(*queue)),
            LoggedPlace::Busy(slot) => ("busy", words::slot_name(machine, *slot).to_string()),
            LoggedPlace::Now => ("time", "now".to_owned()),
            LoggedPlace::Failed => ("run", "failed".to_owned()),
            LoggedPlace::Lifecycle => ("", String::new()),
            LoggedPlace::Global(global) => {
                ("", machine.program.globals[usize::from(*global)].name.clone())
            }
            LoggedPlace::Field { uid, class, field } => {
                let name = words::field_name(machine, *class, *field);
                let object = self.names.objects.get(uid).copied().unwrap_or(0);
                let class = &machine.program.classes[usize::from(*class)].name;
                ("", format!("{class}#{object}.{name}"))
            }
            LoggedPlace::Enabled(member) => {
                ("", format!("enabled({})", words::event_name(machine, *member)))
            }
            LoggedPlace::Lock(lock) => ("", format!("lock {}", words::lock_name(machine, *lock))),
            LoggedPlace::Cond(cond) => ("", format!("cond {}", words::cond_name(machine, *cond))),
        }
    }

    /// Returns a value as 64 bits: an integer itself, an object by its stable number, anything else
    /// by its hash, in which objects have their stable numbers.
    fn number(&self, value: &Value) -> u64 {
        match value {
            Value::Int(value) => *value as u64,
            Value::Index { member, .. } => u64::from(*member),
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
            Value::Handle(_) => HANDLE,
            value if !value.has_refs() => value.hash() as u64,
            Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
                let head = (u64::from(s.ty) << 32) | u64::from(s.variant);
                let length = mix::number(head, s.items().len() as u64);
                let items = s.items().iter();
                items.fold(length, |sum, item| mix::mix(self.number(item), sum)) as u64
            }
            // Sets and maps order objects by their numbers in the state, which are not stable.
            Value::Set(set) => set.items().iter().fold(1, |sum, item| {
                let number = self.number(item);
                sum.wrapping_add(mix::number(2, number) as u64)
            }),
            Value::Map(map) => map.entries().iter().fold(3, |sum, (key, value)| {
                let entry = mix::mix(self.number(key), mix::number(4, self.number(value)));
                sum.wrapping_add(entry as u64)
            }),
            value => value.hash() as u64,
        }
    }

    /// Returns the key of an element in words. A key with objects is a stable number.
    fn key(&self, key: &Value) -> String {
        if key.has_refs() {
            format!("#{}", self.number(key))
        } else {
            short(&self.machine.program, key)
        }
    }
}
