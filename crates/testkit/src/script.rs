//! Traces written by hand as text, one line a handler, task or event.
//!
//! ```
//! let script = anyorder_testkit::script(
//!     "handler ui fifo
//!      handler io none
//!      task load ui
//!      p: io post load
//!      load get
//!      w: load write cache
//!      load end",
//! );
//! assert_eq!(script.trace.len(), 4);
//! assert_eq!(script.event("w").0, 2);
//! ```
//!
//! - `handler NAME none|fifo|bag|delayed [untracked]`; its initial code goes by the handler's name.
//! - `task NAME HANDLER [delay=N] [front]` and `burst NAME HANDLER`.
//! - `[LABEL:] TASK KIND [OPERAND] [MODE] [refers=LABEL]`, where `TASK` may be a handler. A
//!   location is a name, or `ADDRESS+SIZE[.GENERATION]`; a mode is `relaxed`, `acquire`, `release`,
//!   `acq_rel`, `seq_cst` or `shared`; an input is a name, or a family followed by `name=`,
//!   `state=`, `component=`, `instance=`, `argument=`.

use anyorder_trace::{
    EventId, EventKind, HandlerId, Input, InputFamily, Location, Mailbox, Mode, Op, OperandKind,
    Position, TaskDef, TaskId, TaskKind, Trace, TraceBuilder,
};
use std::collections::BTreeMap;

const FITS: &str = "scripts fit into their tables";

/// A trace, and the names from its script.
#[derive(Clone, Debug)]
pub struct Script {
    /// The trace.
    pub trace: Trace,
    events: BTreeMap<String, EventId>,
    tasks: BTreeMap<String, TaskId>,
}

impl Script {
    /// Returns the event with a label.
    ///
    /// # Panics
    ///
    /// Panics when there is none: a mistake in a test.
    #[must_use]
    pub fn event(&self, label: &str) -> EventId {
        *self.events.get(label).unwrap_or_else(|| panic!("no event is labelled `{label}`"))
    }

    /// Returns the task of a name.
    ///
    /// # Panics
    ///
    /// Panics when there is none: a mistake in a test.
    #[must_use]
    pub fn task(&self, name: &str) -> TaskId {
        *self.tasks.get(name).unwrap_or_else(|| panic!("no task is called `{name}`"))
    }

    /// Returns whether an event has this label.
    #[must_use]
    pub fn has_event(&self, label: &str) -> bool {
        self.events.contains_key(label)
    }
}

/// Makes a trace of a script.
///
/// # Panics
///
/// Panics on a line that it does not understand: a mistake in a test.
#[must_use]
pub fn script(text: &str) -> Script {
    let mut reader = Reader::default();
    for line in text.lines().map(str::trim) {
        if !line.is_empty() && !line.starts_with('#') {
            reader.line(line).unwrap_or_else(|| panic!("cannot understand `{line}`"));
        }
    }
    Script { trace: reader.build.finish(), events: reader.events, tasks: reader.tasks }
}

#[derive(Default)]
struct Reader {
    build: TraceBuilder,
    events: BTreeMap<String, EventId>,
    tasks: BTreeMap<String, TaskId>,
    handlers: BTreeMap<String, HandlerId>,
}

/// Splits `key=value` words off the others.
fn options(words: &[&str]) -> (Vec<String>, BTreeMap<String, String>) {
    let (mut plain, mut keyed) = (Vec::new(), BTreeMap::new());
    for word in words {
        match word.split_once('=') {
            Some((key, value)) => _ = keyed.insert(key.to_owned(), value.to_owned()),
            None => plain.push((*word).to_owned()),
        }
    }
    (plain, keyed)
}

impl Reader {
    /// Parses one line; `None` if it is invalid.
    fn line(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["handler", name, mailbox, rest @ ..] => self.handler(name, mailbox, rest),
            ["task", name, handler, rest @ ..] => self.task(name, handler, rest),
            ["burst", name, handler] => {
                self.add_task(name, handler, TaskKind::Burst, 0, Position::Back)
            }
            [label, rest @ ..] if label.ends_with(':') => {
                let id = EventId::from_index(self.build.columns.len());
                self.events.insert(label.trim_end_matches(':').to_owned(), id);
                self.event(rest)
            }
            rest => self.event(rest),
        }
    }

    fn handler(&mut self, name: &str, mailbox: &str, rest: &[&str]) -> Option<()> {
        let all = [Mailbox::None, Mailbox::Fifo, Mailbox::Bag, Mailbox::Delayed];
        let mailbox = all.into_iter().find(|m| m.word() == mailbox)?;
        let id = self.build.handler(name, mailbox).expect(FITS);
        self.build.interner.tables.handlers[id.index()].untracked = rest.contains(&"untracked");
        self.handlers.insert(name.to_owned(), id);
        self.tasks.insert(name.to_owned(), self.build.initial(id));
        Some(())
    }

    fn task(&mut self, name: &str, handler: &str, rest: &[&str]) -> Option<()> {
        let (plain, keyed) = options(rest);
        let delay = keyed.get("delay").map_or(Some(0), |text| text.parse().ok())?;
        let front = plain.iter().any(|word| word == "front");
        let position = if front { Position::Front } else { Position::Back };
        self.add_task(name, handler, TaskKind::Posted, delay, position)
    }

    fn add_task(
        &mut self,
        name: &str,
        handler: &str,
        kind: TaskKind,
        delay: u64,
        position: Position,
    ) -> Option<()> {
        let handler = *self.handlers.get(handler)?;
        let id = self.build.interner.name(name).expect(FITS);
        let task = TaskDef { name: id, kind, handler, delay, position };
        let task = self.build.interner.push_task(task).expect(FITS);
        self.tasks.insert(name.to_owned(), task);
        Some(())
    }

    fn event(&mut self, words: &[&str]) -> Option<()> {
        let (task, kind, rest) = match words {
            [task, kind, rest @ ..] => (*self.tasks.get(*task)?, *kind, rest),
            _ => return None,
        };
        let kind = EventKind::from_word(kind)?;
        let (plain, keyed) = options(rest);
        let first = plain.first().map(String::as_str);
        let operand = match kind.operand() {
            OperandKind::Nothing => 0,
            OperandKind::Task => self.tasks.get(first?)?.0,
            OperandKind::Handler => match first {
                Some(name) => self.handlers.get(name)?.0,
                None => self.build.interner.tables.tasks[task.index()].handler.0,
            },
            OperandKind::Location => self.location(first?)?,
            OperandKind::Lock => {
                let name = self.build.interner.name(first?).expect(FITS);
                self.build.interner.lock(name).expect(FITS).0
            }
            OperandKind::Condition => {
                let name = self.build.interner.name(first?).expect(FITS);
                self.build.interner.condition(name).expect(FITS).0
            }
            OperandKind::Input => self.input(first?, &keyed)?,
            OperandKind::Invocation | OperandKind::Name | OperandKind::Number => return None,
        };
        let mode = plain.iter().find_map(|word| mode(word)).unwrap_or_default();
        let id = self.build.push(task, Op::new(kind, mode), operand);
        if let Some(label) = keyed.get("refers") {
            let to = *self.events.get(label)?;
            self.build.columns.refers.push(id.0, u64::from(to.0));
        }
        Some(())
    }

    fn location(&mut self, text: &str) -> Option<u32> {
        let Some((address, rest)) = text.split_once('+') else {
            return Some(self.build.variable(text).expect(FITS).0);
        };
        let (size, generation) = rest.split_once('.').unwrap_or((rest, "0"));
        let location = Location::Range {
            address: address.parse().ok()?,
            size: size.parse().ok()?,
            generation: generation.parse().ok()?,
        };
        Some(self.build.interner.location(location).expect(FITS).0)
    }

    fn input(&mut self, first: &str, keyed: &BTreeMap<String, String>) -> Option<u32> {
        let number = |key: &str| keyed.get(key).map_or(Some(0), |text| text.parse().ok());
        let (instance, argument) = (number("instance")?, number("argument")?);
        let mut name = |key: &str| {
            self.build.interner.name(keyed.get(key).map_or("", String::as_str)).expect(FITS)
        };
        let family = (0..7).filter_map(InputFamily::from_number).find(|f| f.word() == first);
        let input = match family {
            Some(family) => Input {
                family,
                name: name("name"),
                state: name("state"),
                component: name("component"),
                instance,
                argument,
            },
            None => {
                Input { name: self.build.interner.name(first).expect(FITS), ..Input::default() }
            }
        };
        Some(self.build.interner.input(input).expect(FITS).0)
    }
}

fn mode(word: &str) -> Option<Mode> {
    Some(match word {
        "relaxed" => Mode::RELAXED,
        "acquire" => Mode::ACQUIRE,
        "release" => Mode::RELEASE,
        "acq_rel" => Mode::ACQ_REL,
        "seq_cst" => Mode::SEQ_CST,
        "shared" => Mode::SHARED,
        _ => return None,
    })
}
