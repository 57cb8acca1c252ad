//! The records of an object: the accesses that a later access may still conflict with.

pub(crate) mod by_lock;
pub(crate) mod indexed;
pub(crate) mod quick;
pub(crate) mod record;
pub(crate) mod slot_list;
