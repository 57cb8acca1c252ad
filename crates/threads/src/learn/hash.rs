//! What of an object counts in the hash of a state.

use crate::object::Object;
use std::hash::{Hash, Hasher};

/// Adds the state of an object. Who holds a lock follows from where the threads are.
pub(crate) fn hash_object(object: &Object, hash: &mut impl Hasher) {
    match object {
        Object::Lock { exclusive, upgradable, shared, poisoned } => {
            (exclusive.is_some(), upgradable, shared, poisoned).hash(hash);
        }
        other => other.hash(hash),
    }
}
