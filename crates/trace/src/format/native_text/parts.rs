//! The definitions of entries: the parts of each line, in order. One description serves reading and
//! writing.

use crate::coded::Worded;
use crate::ids::{HandlerId, NameId};
use crate::tables::{Handler, Input, Invocation, Location, Meta, Position, Site, TaskDef};

/// A part of a definition behind its id.
pub(super) enum Part<'e> {
    /// A name.
    Name(&'e mut NameId),
    /// A name, or nothing for the empty one.
    NameIfAny(&'e mut NameId),
    /// One of some words.
    Word(&'e mut dyn Worded),
    /// One of some words, always written; a line that ends here means the default.
    WordOrEnd(&'e mut dyn Worded),
    /// A handler, or nothing.
    HandlerIfAny(&'e mut HandlerId),
    /// An address and a size, `0x10+8`.
    Range(&'e mut u64, &'e mut u32),
    /// The optional parts at the end of a line, in any order, each once at the most.
    Options(Vec<(&'static str, Value<'e>)>),
}

/// The value of an option. A default is written only of addresses, words and texts.
pub(super) enum Value<'e> {
    Name(&'e mut NameId),
    Number(&'e mut u64),
    Number32(&'e mut u32),
    Address(&'e mut u64),
    Untracked(&'e mut bool),
    Front(&'e mut Position),
    Word(&'e mut dyn Worded),
    /// A string that may continue in further lines.
    Text(&'e mut String),
}

/// An entry of a table that a line defines.
pub(super) trait Entry {
    /// Returns the parts of the line.
    fn parts(&mut self) -> Vec<Part<'_>>;
}

impl Entry for NameId {
    fn parts(&mut self) -> Vec<Part<'_>> {
        vec![Part::Name(self)]
    }
}

impl Entry for Handler {
    fn parts(&mut self) -> Vec<Part<'_>> {
        vec![
            Part::Name(&mut self.name),
            Part::WordOrEnd(&mut self.mailbox),
            Part::Options(vec![("untracked", Value::Untracked(&mut self.untracked))]),
        ]
    }
}

impl Entry for TaskDef {
    fn parts(&mut self) -> Vec<Part<'_>> {
        vec![
            Part::Name(&mut self.name),
            Part::Word(&mut self.kind),
            Part::HandlerIfAny(&mut self.handler),
            Part::Options(vec![
                ("delay=", Value::Number(&mut self.delay)),
                ("front", Value::Front(&mut self.position)),
            ]),
        ]
    }
}

impl Entry for Location {
    /// The word for the sort of location is no part.
    fn parts(&mut self) -> Vec<Part<'_>> {
        match self {
            Location::Named(name) => vec![Part::Name(name)],
            Location::Field { object, class, field } => vec![
                Part::Name(class),
                Part::Name(field),
                Part::Options(vec![("object=", Value::Address(object))]),
            ],
            Location::Static { class, field } => vec![Part::Name(class), Part::Name(field)],
            Location::Range { address, size, generation } => vec![
                Part::Range(address, size),
                Part::Options(vec![("generation=", Value::Number32(generation))]),
            ],
        }
    }
}

impl Entry for Input {
    fn parts(&mut self) -> Vec<Part<'_>> {
        vec![
            Part::Word(&mut self.family),
            Part::Name(&mut self.name),
            Part::Options(vec![
                ("state=", Value::Name(&mut self.state)),
                ("component=", Value::Name(&mut self.component)),
                ("instance=", Value::Number(&mut self.instance)),
                ("argument=", Value::Number(&mut self.argument)),
            ]),
        ]
    }
}

impl Entry for Site {
    fn parts(&mut self) -> Vec<Part<'_>> {
        vec![
            Part::NameIfAny(&mut self.label),
            Part::Options(vec![
                ("function=", Value::Name(&mut self.function)),
                ("file=", Value::Name(&mut self.file)),
                ("line=", Value::Number32(&mut self.line)),
                ("column=", Value::Number32(&mut self.column)),
            ]),
        ]
    }
}

impl Entry for Invocation {
    /// The arguments and the result follow.
    fn parts(&mut self) -> Vec<Part<'_>> {
        vec![Part::Name(&mut self.object), Part::Name(&mut self.method)]
    }
}

/// Returns the options of a line about the trace as a whole.
pub(super) fn meta_options(meta: &mut Meta) -> [(&'static str, Value<'_>); 3] {
    [
        ("labels=", Value::Word(&mut meta.labels)),
        ("order=", Value::Word(&mut meta.order)),
        ("origin=", Value::Text(&mut meta.origin)),
    ]
}
