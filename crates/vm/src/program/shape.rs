//! Where a program stores indices of interchangeable instances. An exchange of instances must
//! change these.

use super::ids::{FuncId, GlobalId, Reg};

/// The positions of indices in a value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Shape {
    /// Nowhere.
    #[default]
    Plain,
    /// The value is an index (or null): of instances of the symmetry with this number.
    Index(u16),
    /// A list. With a symmetry, it has one element for each instance. Otherwise its positions do
    /// not stand for instances.
    List(Option<u16>, Box<Shape>),
    /// A set.
    Set(Box<Shape>),
    /// A map: keys and values.
    Map(Box<Shape>, Box<Shape>),
    /// A record or a variant of an enum. [`Indices::records`] and [`Indices::enums`] describe it.
    Named,
}

/// Where a program stores indices, besides the first register of members of families. An item that
/// is not listed stores none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Indices {
    /// Globals.
    pub globals: Vec<(GlobalId, Shape)>,
    /// The fields of each record type, from the first type on.
    pub records: Vec<Vec<Shape>>,
    /// The payload of each variant of each enum.
    pub enums: Vec<Vec<Vec<Shape>>>,
    /// The fields of each class.
    pub classes: Vec<Vec<Shape>>,
    /// The parameters of each task.
    pub tasks: Vec<Vec<Shape>>,
    /// Registers of threads between steps: function, position of the next instruction, register.
    /// Sorted.
    pub registers: Vec<(FuncId, u32, Reg, Shape)>,
}

impl Indices {
    /// Returns the registers that hold indices before an instruction. Logarithmic.
    pub(crate) fn registers_at(&self, func: u16, pc: u32) -> &[(FuncId, u32, Reg, Shape)] {
        let from = self.registers.partition_point(|r| (r.0.0, r.1) < (func, pc));
        let rest = &self.registers[from..];
        &rest[..rest.partition_point(|r| (r.0.0, r.1) == (func, pc))]
    }

    /// Returns the shape of a global.
    pub(crate) fn global(&self, global: GlobalId) -> Option<&Shape> {
        self.globals.iter().find(|g| g.0 == global).map(|g| &g.1)
    }
}
