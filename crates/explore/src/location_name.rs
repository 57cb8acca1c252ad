//! Locations by name.

use anyorder_system::TASK_STATUS;
use anyorder_trace::{Location, LocationId, Tables};
use std::sync::Arc;

/// A location by its name, which is the same in every instance of a system: instances do not share
/// ids.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LocationName {
    /// The class of a location that has one. Such a location is none of the variables, even if they
    /// have the same text.
    pub(crate) class: Option<Arc<str>>,
    /// The text for reports.
    pub(crate) text: Arc<str>,
}

impl LocationName {
    /// Returns the name of a location of a system with these tables.
    pub(crate) fn of(tables: &Tables, id: LocationId) -> LocationName {
        let class = match tables.locations[id.index()] {
            Location::Static { class, .. } => Some(tables.name(class).into()),
            _ => None,
        };
        LocationName { class, text: tables.location_text(id).into() }
    }

    /// Returns the name of the location with this class and text.
    pub(crate) fn of_class(class: &str, text: &str) -> LocationName {
        LocationName { class: Some(class.into()), text: text.into() }
    }

    /// Returns whether it stands for the status of a task.
    pub(crate) fn is_task_status(&self) -> bool {
        self.class.as_deref() == Some(TASK_STATUS)
    }
}
