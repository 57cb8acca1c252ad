//! The properties of a system, which a search asks for once.

use crate::stateful::Error;
use anyorder_system::{Classes, Properties, Reducible};

/// The properties and parts of a system.
pub(crate) struct SystemInfo<'s, S: Reducible> {
    pub(crate) properties: Properties<'s, S::State>,
    pub(crate) parts: Classes<'s, S::Action>,
}

impl<'s, S: Reducible> SystemInfo<'s, S> {
    /// Asks a system. Fails if an invariant does not list the places that it reads.
    pub(crate) fn of(system: &'s S) -> Result<SystemInfo<'s, S>, Error> {
        let properties = system.properties();
        match properties.invariants.iter().find(|invariant| !invariant.is_watching()) {
            Some(invariant) => Err(Error::NotWatching { invariant: invariant.name.clone() }),
            None => Ok(SystemInfo { properties, parts: system.parts() }),
        }
    }

    /// Records that the part of an action ran.
    pub(crate) fn note_part(&self, action: &S::Action, parts_ran: &mut [bool]) {
        if let Some(ran) = self.parts.of(action).and_then(|part| parts_ran.get_mut(part)) {
            *ran = true;
        }
    }
}
