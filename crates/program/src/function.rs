//! Functions.

use crate::ids::{NameId, Reg, SiteId};
use crate::op::Op;

/// A source position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SourceSite {
    /// The file, by its number in `Program::files`.
    pub file: u16,
    /// The line, from 1; 0 for "nowhere".
    pub line: u32,
    /// The column, from 1; 0 for "nowhere".
    pub column: u32,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Function {
    /// Its name, for reports.
    pub name: String,
    /// The number of parameters; they are in the first registers.
    pub params: u16,
    /// The number of captured values; they follow the parameters.
    pub captures: u16,
    /// The number of all registers; those after the captures are null at the start.
    pub registers: u16,
    /// The instructions. The last one must be a jump, a return or a failure.
    pub code: Vec<Op>,
    /// The source position of each instruction.
    pub sites: Vec<SiteId>,
    /// Names of registers that are variables, for reports.
    pub locals: Vec<(Reg, NameId)>,
}
