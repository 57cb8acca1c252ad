//! Call stacks. One access is in many findings, and its stack may be long: they share it.

use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::sync::Arc;

/// A call stack, the innermost position first. In JSON it is a list of texts. Copies share it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Stack(Option<Arc<[String]>>);

impl Deref for Stack {
    type Target = [String];

    fn deref(&self) -> &[String] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<Vec<String>> for Stack {
    fn from(positions: Vec<String>) -> Stack {
        Stack((!positions.is_empty()).then(|| positions.into()))
    }
}

impl FromIterator<String> for Stack {
    fn from_iter<I: IntoIterator<Item = String>>(positions: I) -> Stack {
        Stack::from(positions.into_iter().collect::<Vec<String>>())
    }
}

impl From<Stack> for Vec<String> {
    fn from(stack: Stack) -> Vec<String> {
        stack.to_vec()
    }
}

impl Stack {
    /// Returns whether there is no position.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.0.is_none()
    }
}
