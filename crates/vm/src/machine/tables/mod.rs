//! Tables for reduction: which places a program has, and by what numbers engines know them.

pub(crate) use elements::Elements;
pub(crate) use lifecycles::Lifecycles;
pub(crate) use places::{Kind, Places};

use super::ready::Machine;

mod elements;
mod lifecycles;
mod places;

/// The tables of a machine for reduction.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) places: Places,
    pub(crate) lifecycles: Lifecycles,
    pub(crate) elements: Elements,
}

impl Tables {
    /// Computes the tables. `init_is_step`: `init` has several outcomes, or fails.
    pub(crate) fn of(machine: &Machine, init_is_step: bool) -> Tables {
        let lifecycles = Lifecycles::of(machine);
        Tables {
            places: Places::of(machine, init_is_step, &lifecycles),
            lifecycles,
            elements: Elements::of(&machine.program),
        }
    }
}
