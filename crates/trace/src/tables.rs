//! The tables that the operands of events point into.

use crate::ids::{HandlerId, InputId, LocationId, NameId, SiteId};
use crate::names::Names;
use anyorder_common::coded;

coded! {
    /// The discipline of a handler's mailbox.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
    pub enum Mailbox {
        /// Nobody posts to this handler: a plain thread.
        #[default]
        None = 0 "none",
        /// Tasks run in the order of their posts.
        Fifo = 1 "fifo",
        /// Tasks run in any order.
        Bag = 2 "bag",
        /// Tasks run by due time, then in the order of their posts.
        Delayed = 3 "delayed",
    }
}

/// A handler. Unlike in the other tables, entries may change while a trace is read (a thread gets a
/// mailbox).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Handler {
    /// Its name.
    pub name: NameId,
    /// Its mailbox.
    pub mailbox: Mailbox,
    /// Whether it belongs to the environment: it posts, but its own program order is not recorded.
    pub untracked: bool,
}

coded! {
    /// The origin of a task.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
    pub enum TaskKind {
        /// A handler's initial code: everything outside posted tasks.
        #[default]
        Initial = 0 "initial",
        /// Posted to a mailbox; runs from its `get` to its `end`.
        Posted = 1 "posted",
        /// A burst of activity of an untracked handler, from its `begin` to its `exit`.
        Burst = 2 "burst",
    }
}

/// The position in the mailbox for a posted task.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
#[repr(u8)]
pub enum Position {
    /// After all pending tasks (or by due time).
    #[default]
    Back = 0,
    /// Before all pending tasks.
    Front = 1,
}

/// A task, with the facts known when it is first named.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TaskDef {
    /// Its name.
    pub name: NameId,
    /// Its origin.
    pub kind: TaskKind,
    /// Its handler, or `NONE` while unknown; a `get` event always names it.
    pub handler: HandlerId,
    /// The delay of its post, in the units of the trace; 0 for none.
    pub delay: u64,
    /// The position in the mailbox.
    pub position: Position,
}

/// A memory location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Location {
    /// A named variable.
    Named(NameId),
    /// A field of an object.
    Field {
        /// The object's identity.
        object: u64,
        /// Its class.
        class: NameId,
        /// The field.
        field: NameId,
    },
    /// A static field of a class.
    Static {
        /// The class.
        class: NameId,
        /// The field.
        field: NameId,
    },
    /// An address range. Ranges of one generation conflict when they overlap.
    Range {
        /// The first address.
        address: u64,
        /// The number of bytes.
        size: u32,
        /// How often memory at this address was allocated again before.
        generation: u32,
    },
}

impl Location {
    /// The words for the sorts of locations; a named variable has none.
    pub const SORTS: [&str; 4] = ["", "field", "static", "range"];

    /// Returns the number of its sort.
    #[must_use]
    pub fn sort(&self) -> u8 {
        match self {
            Location::Named(_) => 0,
            Location::Field { .. } => 1,
            Location::Static { .. } => 2,
            Location::Range { .. } => 3,
        }
    }

    /// Returns a location of a sort with empty parts; `None` for a number without a sort.
    #[must_use]
    pub fn of_sort(sort: u8) -> Option<Location> {
        let (class, field) = (NameId::EMPTY, NameId::EMPTY);
        match sort {
            0 => Some(Location::Named(field)),
            1 => Some(Location::Field { object: 0, class, field }),
            2 => Some(Location::Static { class, field }),
            3 => Some(Location::Range { address: 0, size: 0, generation: 0 }),
            _ => None,
        }
    }
}

impl Default for Location {
    /// Returns a variable without a name.
    fn default() -> Location {
        Location::Named(NameId::EMPTY)
    }
}

coded! {
    /// The kind of an [`Input`].
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
    pub enum InputFamily {
        /// An input without special rules.
        #[default]
        Plain = 0 "plain",
        /// A user's action on a view.
        Ui = 1 "ui",
        /// A window gaining or losing focus.
        Focus = 2 "focus",
        /// A lifecycle callback of an activity or application.
        Lifecycle = 3 "lifecycle",
        /// A request to, or a callback of, a service.
        Service = 4 "service",
        /// A broadcast: sending, registering, receiving.
        Broadcast = 5 "broadcast",
        /// An idle handler of a mailbox.
        Idle = 6 "idle",
    }
}

/// An input event, which can be enabled, disabled and triggered. Equal fields mean the same input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Input {
    /// The rules that apply to it.
    pub family: InputFamily,
    /// Its name: the action. A plain input has only this field.
    pub name: NameId,
    /// The state or callback, such as `RESUME-ACT`.
    pub state: NameId,
    /// The component, such as a class name.
    pub component: NameId,
    /// The identity of the component's instance, view or window.
    pub instance: u64,
    /// A further identity, such as an intent; 0 for none.
    pub argument: u64,
}

/// A source position. Absent parts are empty or 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Site {
    /// The name of the position where the trace only names it.
    pub label: NameId,
    /// The function.
    pub function: NameId,
    /// The file.
    pub file: NameId,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// Where in the source a site is: two instances of one template have the same position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SourcePosition {
    label: NameId,
    file: NameId,
    line: u32,
    column: u32,
    /// The function, where no line is known.
    function: NameId,
}

/// An invocation of a method.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Invocation {
    /// The object.
    pub object: NameId,
    /// The method.
    pub method: NameId,
    /// The arguments, each an integer or the hash of a canonical encoding.
    pub arguments: Vec<u64>,
    /// The result, if it returned one.
    pub result: Option<u64>,
}

/// The order of all writes of one location, if a partial trace gives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coherence {
    /// The location.
    pub location: LocationId,
    /// The numbers of its writes, first to last.
    pub writes: Vec<u64>,
}

coded! {
    /// How the input numbers or names its events.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum LabelScheme {
        /// By position in the trace, from 1; the number column is empty.
        #[default]
        Position = 0 "position",
        /// By the line of the file, from 1.
        Line = 1 "line",
        /// By name; the number column holds [`NameId`]s.
        Name = 2 "name",
        /// By two numberings: one of accesses, one of all other events.
        AccessOrOperation = 3 "access-or-operation",
    }
}

coded! {
    /// Whether the trace has the order in which its events happened.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum TraceOrder {
        /// Events have the order in which they were observed.
        #[default]
        Observed = 0 "observed",
        /// Only the events of one task are ordered. The order between tasks is to be found.
        Partial = 1 "partial",
    }
}

/// Facts about a trace as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Meta {
    /// How events are labelled.
    pub labels: LabelScheme,
    /// The meaning of the order of events.
    pub order: TraceOrder,
    /// The name of the format it was first read from, such as `droidracer`.
    pub origin: String,
}

impl Meta {
    /// The origin of traces of recorded native programs. They leave out accesses to memory that one
    /// thread has for itself.
    pub const RECORDING: &str = "recording";
}

/// The tables of a trace. All except `handlers` only grow at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tables {
    /// Facts about the trace as a whole, set before the first event.
    pub meta: Meta,
    /// Strings.
    pub names: Names,
    /// Handlers.
    pub handlers: Vec<Handler>,
    /// Tasks.
    pub tasks: Vec<TaskDef>,
    /// Memory locations.
    pub locations: Vec<Location>,
    /// Locks.
    pub locks: Vec<NameId>,
    /// Conditions, barriers and other objects that are signalled.
    pub conditions: Vec<NameId>,
    /// Input events.
    pub inputs: Vec<Input>,
    /// Source positions; the first is unknown.
    pub sites: Vec<Site>,
    /// Call stacks, innermost position first.
    pub stacks: Vec<Vec<SiteId>>,
    /// Invocations.
    pub invocations: Vec<Invocation>,
    /// The given orders of writes.
    pub coherence: Vec<Coherence>,
}

impl Default for Tables {
    fn default() -> Tables {
        Tables {
            meta: Meta::default(),
            names: Names::default(),
            handlers: Vec::new(),
            tasks: Vec::new(),
            locations: Vec::new(),
            locks: Vec::new(),
            conditions: Vec::new(),
            inputs: Vec::new(),
            sites: vec![Site::default()],
            stacks: Vec::new(),
            invocations: Vec::new(),
            coherence: Vec::new(),
        }
    }
}

impl Tables {
    /// Returns the source position of a site. The default one stands for a site that is unknown.
    #[must_use]
    pub fn source_position(&self, site: SiteId) -> SourcePosition {
        let Site { label, function, file, line, column } =
            self.sites.get(site.index()).copied().unwrap_or_default();
        let function = if line == 0 { function } else { NameId::EMPTY };
        SourcePosition { label, file, line, column, function }
    }

    /// Returns the string of a name.
    #[must_use]
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id)
    }

    /// Returns whether an [`Other`](crate::EventKind::Other) of this name is a branch: `branch`,
    /// with or without something in parentheses.
    #[must_use]
    pub fn is_branch(&self, name: NameId) -> bool {
        let word = || self.name(name).split('(').next();
        name.index() < self.names.len() && word() == Some("branch")
    }

    /// Returns a location in readable form: `Foo.bar@0x41`, `Foo.bar`, `x`, `0x10+8`.
    #[must_use]
    pub fn location_text(&self, id: LocationId) -> String {
        match self.locations[id.index()] {
            Location::Named(name) => self.name(name).to_owned(),
            Location::Field { object, class, field } => {
                format!("{}.{}@{object:#x}", self.name(class), self.name(field))
            }
            Location::Static { class, field } => {
                format!("{}.{}", self.name(class), self.name(field))
            }
            Location::Range { address, size, .. } => format!("{address:#x}+{size}"),
        }
    }

    /// Returns a location without its object: `Foo.bar` for `Foo.bar@0x41`.
    #[must_use]
    pub fn location_without_object(&self, id: LocationId) -> String {
        match self.locations[id.index()] {
            Location::Field { class, field, .. } => {
                format!("{}.{}", self.name(class), self.name(field))
            }
            _ => self.location_text(id),
        }
    }

    /// Returns whether the name of a variable only numbers it: `V12`, `7`, `V234.23[0]`. Recorders
    /// that know no names write such; they say no more than an address.
    #[must_use]
    pub fn is_numbered(&self, id: LocationId) -> bool {
        let Some(Location::Named(name)) = self.locations.get(id.index()) else { return false };
        let name = self.name(*name);
        let digits = name.strip_prefix('V').unwrap_or(name);
        digits.starts_with(|first: char| first.is_ascii_digit())
            && digits.bytes().all(|byte| byte.is_ascii_digit() || b".[]:-".contains(&byte))
    }

    /// Returns a site in readable form: `file:line:column`, else its label, else `?`.
    #[must_use]
    pub fn site_text(&self, id: SiteId) -> String {
        let site = self.sites.get(id.index()).copied().unwrap_or_default();
        if site.file != NameId::EMPTY {
            let mut text = self.name(site.file).to_owned();
            for part in [site.line, site.column] {
                if part == 0 {
                    break;
                }
                text.push_str(&format!(":{part}"));
            }
            text
        } else if site.label != NameId::EMPTY {
            self.name(site.label).to_owned()
        } else {
            "?".to_owned()
        }
    }

    /// Returns a site with its function: `main.c:12 in f`.
    #[must_use]
    pub fn site_in_function(&self, id: SiteId) -> String {
        let text = self.site_text(id);
        let site = self.sites.get(id.index()).copied().unwrap_or_default();
        match self.name(site.function) {
            "" => text,
            function => format!("{text} in {function}"),
        }
    }

    /// Returns an input in readable form.
    #[must_use]
    pub fn input_text(&self, id: InputId) -> String {
        let input = self.inputs[id.index()];
        let mut parts: Vec<String> = Vec::new();
        for part in [input.state, input.name, input.component] {
            if part != NameId::EMPTY {
                parts.push(self.name(part).to_owned());
            }
        }
        if input.instance != 0 {
            parts.push(format!("#{}", input.instance));
        }
        if parts.is_empty() {
            parts.push(input.family.word().to_owned());
        }
        parts.join(" ")
    }
}
