//! Which components may be exchanged for each other, and where the program keeps their indices.
//!
//! What is in an index set is known from the check ([`crate::check::symmetries`]); a model that does not pass it has no symmetry.

pub(super) use self::declare::declare;

mod declare;

mod registers;

mod shape;
