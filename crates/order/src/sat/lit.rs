//! Variables and literals.

use std::fmt;
use std::ops::Not;

/// A Boolean variable of one [`Core`](super::Core), numbered from 0 in order of creation.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub(super) u32);

impl Var {
    /// Variables are numbered below this, so that a literal fits into 32 bits with room for marks.
    pub(super) const COUNT_MAX: usize = 1 << 30;

    /// Returns the variable with this number.
    ///
    /// # Panics
    /// If the number is 2^30 or more.
    pub const fn from_index(index: usize) -> Var {
        assert!(index < Var::COUNT_MAX);
        Var(index as u32)
    }

    /// Returns the number of the variable.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// A variable or its negation. Packed as `2 * variable + (1 if negated)`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(pub(super) u32);

impl Lit {
    /// Returns the literal that is true when the variable has the value `positive`.
    pub const fn new(var: Var, positive: bool) -> Lit {
        Lit(var.0 << 1 | !positive as u32)
    }

    /// Returns the variable of the literal.
    pub const fn var(self) -> Var {
        Var(self.0 >> 1)
    }

    /// Whether the literal is true when its variable is.
    pub const fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }

    /// Returns `2 * variable + (1 if negated)`: a dense index for tables by literal.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the literal with this [`Lit::index`].
    ///
    /// # Panics
    /// If the index is 2^31 or more.
    pub const fn from_index(index: usize) -> Lit {
        assert!(index < 2 * Var::COUNT_MAX);
        Lit(index as u32)
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", if self.is_positive() { "" } else { "-" }, self.0 >> 1)
    }
}
