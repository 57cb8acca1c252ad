//! Collects given orders, except those of program order.

use super::messages::Layout;
use crate::partial::{Given, Relation};

/// The orders so far.
pub(super) struct Orders<'a> {
    layout: &'a Layout,
    /// Orders between messages.
    pub(super) given: Vec<Given>,
    /// Orders within a message against its program order.
    pub(super) backward: Vec<Given>,
}

impl<'a> Orders<'a> {
    pub(super) fn new(layout: &'a Layout) -> Orders<'a> {
        Orders { layout, given: Vec::new(), backward: Vec::new() }
    }

    /// Adds an order of two events, given by their rows. An order within one message, or from the
    /// initial message of a handler to another of its messages, follows from program order or
    /// contradicts it.
    pub(super) fn add(&mut self, from: u32, to: u32, relation: Relation) {
        let layout = self.layout;
        let (first, second) = (layout.message_of[from as usize], layout.message_of[to as usize]);
        let (from, to) = (layout.slot_of[from as usize], layout.slot_of[to as usize]);
        let order = Given { from, to, relation };
        if first == second {
            if from >= to {
                self.backward.push(order);
            }
            return;
        }
        let before = &layout.messages[first as usize];
        if !(before.initial && before.handler == layout.messages[second as usize].handler) {
            self.given.push(order);
        }
    }
}
