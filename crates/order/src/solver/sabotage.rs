//! Faults put in on purpose, to see whether the tests notice. Only the feature `sabotage`, which
//! tests enable, lets anyone ask for them.

/// What is to be wrong in a [`Solver`](super::Solver).
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "sabotage", derive(PartialEq, Eq))]
#[cfg_attr(not(feature = "sabotage"), allow(dead_code, reason = "nobody can ask for it"))]
pub enum Sabotage {
    /// Nothing.
    #[default]
    None,
    /// Looking ahead implies the literal whose edge would close a cycle, not its opposite.
    ImpliesOpposite,
    /// Looking ahead takes what the start of the new edge reaches for what reaches it.
    WrongCone,
    /// Clauses of cycles and reasons miss their last literal.
    ShortClauses,
    /// Saturation does not see paths from the first node of a block to the last of another.
    NoFirstLast,
    /// Saturation does not see paths between entries.
    NoEntries,
    /// Saturation takes one pair of each resource for forced that is not.
    Unforced,
    /// A candidate order lets blocks begin whatever came before them.
    NoQueues,
    /// No fault: saturation is left out, the search has to find out everything.
    SearchOnly,
}

/// Without the feature no fault is there, and all comparisons vanish.
#[cfg(not(feature = "sabotage"))]
impl PartialEq for Sabotage {
    #[inline]
    fn eq(&self, _: &Sabotage) -> bool {
        false
    }
}
