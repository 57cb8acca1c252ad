//! What a system says once, before a search.

use crate::stateful::Error;
use anyorder_system::{Classes, Properties, Reducible};

/// What a system claims, and its parts.
pub(crate) struct Asked<'s, S: Reducible> {
    pub(crate) properties: Properties<'s, S::State>,
    pub(crate) parts: Classes<'s, S::Action>,
}

impl<'s, S: Reducible> Asked<'s, S> {
    /// Asks a system; fails where an invariant does not say what it looks at.
    pub(crate) fn of(system: &'s S) -> Result<Asked<'s, S>, Error> {
        let properties = system.properties();
        match properties.invariants.iter().find(|invariant| !invariant.is_watching()) {
            Some(invariant) => Err(Error::NotWatching { invariant: invariant.name.clone() }),
            None => Ok(Asked { properties, parts: system.parts() }),
        }
    }

    /// Notes that the part of an action ran.
    pub(crate) fn note_part(&self, action: &S::Action, parts_ran: &mut [bool]) {
        if let Some(ran) = self.parts.of(action).and_then(|part| parts_ran.get_mut(part)) {
            *ran = true;
        }
    }
}
