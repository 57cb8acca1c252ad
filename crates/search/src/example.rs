//! A small system for examples.

use anyorder_system::{StateSystem, Successor};

/// Counts up to a limit, one or two at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counter {
    /// The limit.
    pub limit: u32,
}

impl StateSystem for Counter {
    type State = u32;
    type Action = u32;

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn successors(&self, state: &u32, out: &mut Vec<Successor<u32, u32>>) {
        for action in 1..=2 {
            if state + action <= self.limit {
                out.push(Successor { action, state: state + action, failure: None });
            }
        }
    }

    fn encode(&self, state: &u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&state.to_le_bytes());
    }

    fn decode(&self, bytes: &[u8]) -> Option<u32> {
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn describe(&self, _state: &u32, action: &u32) -> String {
        format!("add {action}")
    }

    fn show(&self, state: &u32) -> Vec<(String, String)> {
        vec![("count".to_owned(), state.to_string())]
    }
}
