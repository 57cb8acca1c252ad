//! A trace under construction: handlers, messages and events by number, without file order and ids.

/// No event, message or name.
pub(crate) const NONE: u32 = u32::MAX;

/// The name of a message or variable. Names must be distinct over handlers, messages and variables.
/// None may look like an event (`e` and digits) or be a word of the format; the tests check this by
/// reading traces back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Name {
    stem: &'static str,
    /// After the stem, separated by `_`; `NONE` for absent ones.
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

    /// Writes the name into an empty string; `auto` gives the stem and the number for a name by
    /// order of mention.
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

/// The action of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Reads the variable from the write; `NONE` for the initial value.
    Read { variable: u32, from: u32 },
    /// Writes the variable.
    Write { variable: u32 },
    /// Posts the message.
    Post { message: u32 },
    /// Begins its own message.
    Get,
}

/// An event: its message and its action.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DraftEvent {
    pub(crate) message: u32,
    pub(crate) action: Action,
}

/// A message, possibly an initial one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DraftMessage {
    pub(crate) name: Name,
    pub(crate) handler: u32,
    pub(crate) initial: bool,
}

/// A trace under construction. Events of one message are in program order, and writes of one
/// variable in coherence order. Unless the draft was recorded from a run, the order of events of
/// different messages has no meaning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) handlers: Vec<Name>,
    pub(crate) messages: Vec<DraftMessage>,
    pub(crate) variables: Vec<Name>,
    pub(crate) events: Vec<DraftEvent>,
    initial: Vec<u32>,
}

impl Draft {
    /// Adds a handler and its initial message, which counts only if it gets events.
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

    /// Appends a read from a write that may be added later; see [`read_from`](Self::read_from).
    pub(crate) fn read(&mut self, message: u32, variable: u32, from: u32) -> u32 {
        self.push(message, Action::Read { variable, from })
    }

    /// Sets the write of a read.
    pub(crate) fn read_from(&mut self, read: u32, write: u32) {
        if let Action::Read { from, .. } = &mut self.events[read as usize].action {
            *from = write;
        }
    }
}
