//! What operations do to queues and to counts of owners.

use super::Object;
use crate::op::{Patience, received, sent};

impl Object {
    pub(super) fn send(&mut self, item: u64, patience: Patience) -> Option<u64> {
        let Object::Queue { items, capacity, receivers, .. } = self else { return None };
        if *receivers == 0 {
            return Some(sent::DISCONNECTED);
        }
        if items.len() >= *capacity as usize {
            return (patience != Patience::Wait).then_some(sent::FULL);
        }
        items.push_back(item.max(received::FIRST));
        Some(sent::DONE)
    }

    pub(super) fn receive(&mut self, patience: Patience) -> Option<u64> {
        let Object::Queue { items, senders, .. } = self else { return None };
        match items.pop_front() {
            Some(item) => Some(item),
            None if *senders == 0 => Some(received::DISCONNECTED),
            None => (patience != Patience::Wait).then_some(received::EMPTY),
        }
    }

    pub(super) fn ends(&mut self, of_senders: bool, more: bool) -> Option<u64> {
        let Object::Queue { senders, receivers, .. } = self else { return None };
        let ends = if of_senders { senders } else { receivers };
        *ends = if more { ends.saturating_add(1) } else { ends.saturating_sub(1) };
        Some(0)
    }

    pub(super) fn count(&mut self) -> Option<&mut u64> {
        match self {
            Object::Count(count) => Some(count),
            _ => None,
        }
    }
}
