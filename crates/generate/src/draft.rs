//! A trace in the making: handlers, messages and events by number, without file order and ids.

/// Where there is no event, message or name.
pub(crate) const NONE: u32 = u32::MAX;

/// How a message or variable is called. Names must be distinct over handlers, messages and
/// variables, and none may look like an event (`e` and digits) or be one of the format's words; the
/// tests check it by reading back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Name {
    stem: &'static str,
    /// Behind the stem, with `_` between them; `NONE` for absent ones.
    numbers: [u32; 2],
}

impl Name {
    /// A name by order of mention in the file: `m1`, `m2`, ... or `x1`, `x2`, ...
    pub(crate) const AUTO: Name = Name { stem: "", numbers: [NONE; 2] };

    /// The stem alone.
    pub(crate) const fn plain(stem: &'static str) -> Name {
        Name { stem, numbers: [NONE; 2] }
    }

    /// The stem and a number.
    pub(crate) const fn one(stem: &'static str, number: u32) -> Name {
        Name { stem, numbers: [number, NONE] }
    }

    /// The stem and two numbers.
    pub(crate) const fn two(stem: &'static str, first: u32, second: u32) -> Name {
        Name { stem, numbers: [first, second] }
    }

    /// Writes the name into an empty string; `auto` is the stem and the number of a name by order
    /// of mention.
    pub(crate) fn write(self, auto: (&str, u32), out: &mut String) {
        use std::fmt::Write as _;
        let (stem, numbers) =
            if self.stem.is_empty() { (auto.0, [auto.1, NONE]) } else { (self.stem, self.numbers) };
        out.push_str(stem);
        for (place, number) in numbers.into_iter().take_while(|number| *number != NONE).enumerate()
        {
            let separator = if place == 0 { "" } else { "_" };
            // Writing to a string never fails.
            let _ = write!(out, "{separator}{number}");
        }
    }
}

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Reads the variable; from the write, `NONE` for the initial value.
    Read { variable: u32, from: u32 },
    /// Writes the variable.
    Write { variable: u32 },
    /// Posts the message.
    Post { message: u32 },
    /// Begins its own message.
    Get,
}

/// An event: its message and what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DraftEvent {
    pub(crate) message: u32,
    pub(crate) action: Action,
}

/// A message, initial ones included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DraftMessage {
    pub(crate) name: Name,
    pub(crate) handler: u32,
    pub(crate) initial: bool,
}

/// A trace in the making. Events of one message stand in program order, and writes of one variable
/// in coherence order; what lies between messages has no meaning unless the draft was recorded from
/// a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) handlers: Vec<Name>,
    pub(crate) messages: Vec<DraftMessage>,
    pub(crate) variables: Vec<Name>,
    pub(crate) events: Vec<DraftEvent>,
    initial: Vec<u32>,
}

impl Draft {
    /// Adds a handler and its initial message, which counts only when it gets events.
    pub(crate) fn handler(&mut self, name: Name) -> u32 {
        let handler = self.handlers.len() as u32;
        self.handlers.push(name);
        self.initial.push(self.messages.len() as u32);
        self.messages.push(DraftMessage { name, handler, initial: true });
        handler
    }

    /// Returns the initial message of a handler.
    pub(crate) fn initial(&self, handler: u32) -> u32 {
        self.initial[handler as usize]
    }

    /// Adds a message of a handler; it needs one post and a get as its first event.
    pub(crate) fn message(&mut self, name: Name, handler: u32) -> u32 {
        self.messages.push(DraftMessage { name, handler, initial: false });
        self.messages.len() as u32 - 1
    }

    /// Adds a variable.
    pub(crate) fn variable(&mut self, name: Name) -> u32 {
        self.variables.push(name);
        self.variables.len() as u32 - 1
    }

    /// Appends an event to a message, and returns its number.
    pub(crate) fn push(&mut self, message: u32, action: Action) -> u32 {
        self.events.push(DraftEvent { message, action });
        self.events.len() as u32 - 1
    }

    /// Appends the get of a message.
    pub(crate) fn get(&mut self, message: u32) -> u32 {
        self.push(message, Action::Get)
    }

    /// Appends a post by `poster`.
    pub(crate) fn post(&mut self, poster: u32, message: u32) -> u32 {
        self.push(poster, Action::Post { message })
    }

    /// Appends a write, and returns its number.
    pub(crate) fn write(&mut self, message: u32, variable: u32) -> u32 {
        self.push(message, Action::Write { variable })
    }

    /// Appends a read from a write that may come later; see [`read_from`](Self::read_from).
    pub(crate) fn read(&mut self, message: u32, variable: u32, from: u32) -> u32 {
        self.push(message, Action::Read { variable, from })
    }

    /// Sets the write that a read reads from.
    pub(crate) fn read_from(&mut self, read: u32, write: u32) {
        if let Action::Read { from, .. } = &mut self.events[read as usize].action {
            *from = write;
        }
    }
}
