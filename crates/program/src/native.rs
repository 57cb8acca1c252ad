//! Functions that the front end supplies.

use crate::literal::Literal;
use std::fmt;
use std::sync::Arc;

/// What a native function computes: its arguments as constants to a result, or a message.
pub type NativeCode = dyn Fn(&[Literal]) -> Result<Literal, String> + Send + Sync;

/// A pure function that a front end supplies, for what its language computes and the machine has no
/// instruction for: the text of a decimal, the parts of a string.
///
/// It must be deterministic: the machine executes it again for other runs and remembers results. It
/// takes and returns values without objects, handles and functions; other arguments are a failure
/// of type. Its result may have any form, but ids of enums and records must be those of the
/// program.
#[derive(Clone)]
pub struct Native {
    /// Its name, for reports.
    pub name: String,
    /// The number of its parameters.
    pub params: u16,
    /// The function.
    pub code: Arc<NativeCode>,
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Native({}/{})", self.name, self.params)
    }
}

/// Two native functions are equal if they are one function.
impl PartialEq for Native {
    fn eq(&self, other: &Native) -> bool {
        let same = Arc::ptr_eq(&self.code, &other.code);
        same && self.name == other.name && self.params == other.params
    }
}

impl Eq for Native {}
