//! The definitions of entries: the parts of each line, in order. One description serves reading and
//! writing.

use anyorder_common::coded::Worded;
use anyorder_trace::{
    Handler, HandlerId, Input, Invocation, Location, Meta, NameId, Position, Site, TaskDef,
};

/// A part of a definition.
pub(super) enum Part<'e> {
    /// A name.
    Name(&'e mut NameId),
    /// A name. The empty one is not written.
    NameIfAny(&'e mut NameId),
    /// One of some words.
    Word(&'e mut dyn Worded),
    /// One of some words, always written; a line that ends here means the default.
    WordOrEnd(&'e mut dyn Worded),
    /// A handler, or nothing.
    HandlerIfAny(&'e mut HandlerId),
    /// An address and a size, `0x10+8`.
    Range(&'e mut u64, &'e mut u32),
    /// A number. Zero is not written.
    Number(&'e mut u64),
    /// A number of 32 bits. Zero is not written.
    Number32(&'e mut u32),
    /// A number written in hexadecimal.
    Address(&'e mut u64),
    /// A key alone.
    Untracked(&'e mut bool),
    /// A key alone.
    Front(&'e mut Position),
    /// A string that may continue in further lines.
    Text(&'e mut String),
}

/// The parts behind the id: those in a fixed order, then options with their keys, which a line has
/// in any order.
pub(super) type Parts<'e> = (Vec<Part<'e>>, Vec<(&'static str, Part<'e>)>);

/// An entry of a table that a line defines.
pub(super) trait Entry {
    /// Returns the parts of the line.
    fn parts(&mut self) -> Parts<'_>;
}

impl Entry for NameId {
    fn parts(&mut self) -> Parts<'_> {
        (vec![Part::Name(self)], vec![])
    }
}

impl Entry for Handler {
    fn parts(&mut self) -> Parts<'_> {
        (
            vec![Part::Name(&mut self.name), Part::WordOrEnd(&mut self.mailbox)],
            vec![("untracked", Part::Untracked(&mut self.untracked))],
        )
    }
}

impl Entry for TaskDef {
    fn parts(&mut self) -> Parts<'_> {
        (
            vec![
                Part::Name(&mut self.name),
                Part::Word(&mut self.kind),
                Part::HandlerIfAny(&mut self.handler),
            ],
            vec![
                ("delay=", Part::Number(&mut self.delay)),
                ("front", Part::Front(&mut self.position)),
            ],
        )
    }
}

impl Entry for Location {
    /// The word for the sort of location is no part.
    fn parts(&mut self) -> Parts<'_> {
        match self {
            Location::Named(name) => (vec![Part::Name(name)], vec![]),
            Location::Field { object, class, field } => {
                let names = vec![Part::Name(class), Part::Name(field)];
                (names, vec![("object=", Part::Address(object))])
            }
            Location::Static { class, field } => {
                (vec![Part::Name(class), Part::Name(field)], vec![])
            }
            Location::Range { address, size, generation } => (
                vec![Part::Range(address, size)],
                vec![("generation=", Part::Number32(generation))],
            ),
        }
    }
}

impl Entry for Input {
    fn parts(&mut self) -> Parts<'_> {
        (
            vec![Part::Word(&mut self.family), Part::Name(&mut self.name)],
            vec![
                ("state=", Part::NameIfAny(&mut self.state)),
                ("component=", Part::NameIfAny(&mut self.component)),
                ("instance=", Part::Number(&mut self.instance)),
                ("argument=", Part::Number(&mut self.argument)),
            ],
        )
    }
}

impl Entry for Site {
    fn parts(&mut self) -> Parts<'_> {
        (
            vec![Part::NameIfAny(&mut self.label)],
            vec![
                ("function=", Part::NameIfAny(&mut self.function)),
                ("file=", Part::NameIfAny(&mut self.file)),
                ("line=", Part::Number32(&mut self.line)),
                ("column=", Part::Number32(&mut self.column)),
            ],
        )
    }
}

impl Entry for Invocation {
    /// The arguments and the result follow.
    fn parts(&mut self) -> Parts<'_> {
        (vec![Part::Name(&mut self.object), Part::Name(&mut self.method)], vec![])
    }
}

impl Entry for Meta {
    fn parts(&mut self) -> Parts<'_> {
        let options = vec![
            ("labels=", Part::Word(&mut self.labels)),
            ("order=", Part::Word(&mut self.order)),
            ("origin=", Part::Text(&mut self.origin)),
        ];
        (vec![], options)
    }
}
