//! Numbers of what a simulated run consists of: a type for each, so that none is taken for another.

macro_rules! positions {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub(crate) struct $name(pub(crate) u32);

            impl $name {
                /// Returns the number of the position in its list. No list has 2^32 entries: a run
                /// of so many steps would not fit into memory.
                #[inline]
                pub(crate) const fn at(position: usize) -> $name {
                    $name(position as u32)
                }

                /// Returns the position in its list.
                #[inline]
                pub(crate) const fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )+
    };
}

positions! {
    /// A step, by its position in the run.
    StepId,
    /// An invocation, by its place in the order of the posts.
    InvocationNumber,
    /// An occurrence of an event, by its place among those of the run.
    OccurrenceId,
}
