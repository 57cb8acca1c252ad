//! Typed indices, one type for each table of a program.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident: $int:ty;)*) => {$(
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
    )*};
}

ids! {
    /// A register of the running function: parameters first, then captures, then the rest.
    Reg: u16;
    /// A global, in `Program::globals`.
    GlobalId: u16;
    /// A constant, in `Program::constants`.
    ConstId: u32;
    /// A function, in `Program::functions`.
    FuncId: u16;
    /// An enum, in `Program::enums`.
    EnumId: u16;
    /// A record type, in `Program::records`.
    RecordId: u16;
    /// A class, in `Program::classes`.
    ClassId: u16;
    /// A declared lock or array of locks, in `Program::locks`.
    LockId: u16;
    /// A declared condition or array of conditions, in `Program::conds`.
    CondId: u16;
    /// A declared handler or array of handlers, in `Program::handlers`.
    HandlerId: u16;
    /// A task, in `Program::tasks`.
    TaskId: u16;
    /// An event or family of events, in `Program::events`.
    EventId: u16;
    /// A thread or family of threads, in `Program::threads`.
    ThreadId: u16;
    /// A way to post, in `Program::posts`.
    PostId: u16;
    /// A choice between labelled alternatives, in `Program::choices`.
    ChoiceId: u16;
    /// A member's name, in `Program::names`.
    NameId: u16;
    /// A type to check for, in `Program::types`.
    TypeId: u16;
    /// A source position, in `Program::sites`. Number 0 is "nowhere".
    SiteId: u32;
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
