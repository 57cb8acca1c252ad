//! Typed indices, one type for each table of a program.

use crate::declare::{
    Choice, Class, Cond, Enum, Event, Global, Handler, Lock, Post, Record, Task, Thread,
};
use crate::function::{Function, SourceSite};
use crate::literal::Literal;
use crate::native::Native;
use crate::types::Type;
use crate::whole::Program;

/// The number of an entry of a table.
pub(crate) trait TableId {
    type Entry;
    /// What an entry is, in messages.
    const WHAT: &'static str;

    /// Returns the entry; `None` past the end of the table.
    fn entry(self, program: &Program) -> Option<&Self::Entry>;
    fn number(self) -> usize;
}

macro_rules! ids {
    ($(
        $(#[$doc:meta])*
        $name:ident: $int:ty $(, $what:literal in $table:ident: $entry:ty)?;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(pub $int);

        impl $name {
            /// Returns the number as an index into its table.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        $(impl TableId for $name {
            type Entry = $entry;
            const WHAT: &'static str = $what;

            fn entry(self, program: &Program) -> Option<&$entry> {
                program.$table.get(self.index())
            }

            fn number(self) -> usize {
                self.index()
            }
        })?
    )*};
}

ids! {
    /// A register of the running function: parameters first, then captures, then the rest.
    Reg: u16;
    /// A global, in `Program::globals`.
    GlobalId: u16, "global" in globals: Global;
    /// A constant, in `Program::constants`.
    ConstId: u32, "constant" in constants: Literal;
    /// A function, in `Program::functions`.
    FuncId: u16, "function" in functions: Function;
    /// An enum, in `Program::enums`.
    EnumId: u16, "enum" in enums: Enum;
    /// A record type, in `Program::records`.
    RecordId: u16, "record" in records: Record;
    /// A class, in `Program::classes`.
    ClassId: u16, "class" in classes: Class;
    /// A declared lock or array of locks, in `Program::locks`.
    LockId: u16, "lock" in locks: Lock;
    /// A declared condition or array of conditions, in `Program::conds`.
    CondId: u16, "condition" in conds: Cond;
    /// A declared handler or array of handlers, in `Program::handlers`.
    HandlerId: u16, "handler" in handlers: Handler;
    /// A task, in `Program::tasks`.
    TaskId: u16, "task" in tasks: Task;
    /// An event or family of events, in `Program::events`.
    EventId: u16, "event" in events: Event;
    /// A thread or family of threads, in `Program::threads`.
    ThreadId: u16, "thread" in threads: Thread;
    /// A way to post, in `Program::posts`.
    PostId: u16, "post" in posts: Post;
    /// A choice between labelled alternatives, in `Program::choices`.
    ChoiceId: u16, "choice" in choices: Choice;
    /// A member's name, in `Program::names`.
    NameId: u16, "name" in names: String;
    /// A function of the front end, in `Program::natives`.
    NativeId: u16, "native function" in natives: Native;
    /// A type to check for, in `Program::types`.
    TypeId: u16, "type" in types: (Type, bool);
    /// A source position, in `Program::sites`. Number 0 is "nowhere".
    SiteId: u32, "source position" in sites: SourceSite;
}

impl Reg {
    /// No register, where an instruction allows that.
    pub const NONE: Reg = Reg(u16::MAX);

    /// Returns the register, unless it is [`NONE`](Self::NONE).
    #[must_use]
    pub const fn some(self) -> Option<Reg> {
        if self.0 == u16::MAX { None } else { Some(self) }
    }

    /// Returns the register `offset` positions further; `NONE` past the last one.
    #[must_use]
    pub const fn plus(self, offset: u16) -> Reg {
        Reg(self.0.saturating_add(offset))
    }
}
