//! Containers that are accessed by elements.

use crate::program::{Op, Program};
use rustc_hash::FxHashSet;

/// The globals and fields whose containers the code writes element by element.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elements {
    globals: FxHashSet<u16>,
    fields: FxHashSet<(u16, u16)>,
}

impl Elements {
    pub(crate) fn of(program: &Program) -> Elements {
        let mut elements = Elements::default();
        for op in program.functions.iter().flat_map(|f| &f.code) {
            match *op {
                Op::SetGlobalAt { global, .. } => {
                    elements.globals.insert(global.0);
                }
                Op::SetFieldAt { class, field, .. } => {
                    elements.fields.insert((class.0, field));
                }
                _ => {}
            }
        }
        elements
    }

    /// Returns whether the container in a global has places for its elements.
    pub(crate) fn has_global(&self, global: u16) -> bool {
        self.globals.contains(&global)
    }

    /// Returns whether the containers in a field have places for their elements.
    pub(crate) fn has_field(&self, class: u16, field: u16) -> bool {
        self.fields.contains(&(class, field))
    }
}
