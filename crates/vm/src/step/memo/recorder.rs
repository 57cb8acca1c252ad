//! Writes down what a step reads and does, while it is executed.

use super::place::Place;
use crate::program::{GlobalId, MailboxKind, Reg};
use crate::state::{Effect, Message};
use crate::step::Runner;
use crate::value::Value;

/// Steps that read or change more are not remembered.
const READS_MAX: usize = 24;
const EFFECTS_MAX: usize = 24;

/// What one execution has read of the state before it, and done to it, so far.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) reads: Vec<(Place, Value)>,
    pub(crate) effects: Vec<Effect>,
    /// Whether it has become too much to remember.
    pub(crate) lost: bool,
}

impl Recorder {
    /// Gets ready for another execution.
    pub(crate) fn clear(&mut self) {
        self.reads.clear();
        self.effects.clear();
        self.lost = false;
    }

    /// Records what the message that begins brings.
    pub(crate) fn read_args(&mut self, args: &Value) {
        self.read(Place::Args, args);
    }

    pub(crate) fn read(&mut self, place: Place, value: &Value) {
        if self.reads.len() >= READS_MAX {
            self.lost = true;
            return;
        }
        self.reads.push((place, value.clone()));
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        if self.effects.len() >= EFFECTS_MAX {
            self.lost = true;
            return;
        }
        self.effects.push(effect);
    }

    /// Whether what is at the element, or in all of the global where there is none, follows from what is written down already.
    ///
    /// It must not depend on the state itself: what is read next is the same wherever all that was read before is the same.
    fn is_known(&self, global: u16, element: Option<&Value>) -> bool {
        let written = self.effects.iter().any(|effect| match effect {
            Effect::Set { global: g, .. } => *g == global,
            Effect::SetAt { global: g, index, .. } => *g == global && Some(index) == element,
            _ => false,
        });
        written
            || self.reads.iter().any(|(place, _)| match place {
                Place::Global(g) => *g == global,
                Place::Element(g, index) => *g == global && Some(index) == element,
                Place::Args => false,
            })
    }

    /// Ends the record of an execution that ended well.
    pub(crate) fn finish(&mut self) -> (&[(Place, Value)], Vec<Effect>) {
        (&self.reads, std::mem::take(&mut self.effects))
    }
}

impl Runner<'_> {
    /// Records that a global is read.
    #[cold]
    pub(crate) fn record_read(&mut self, global: GlobalId) {
        let base = self.base;
        let Some(record) = &mut self.record else { return };
        if !record.is_known(global.0, None) {
            record.read(Place::Global(global.0), base.global(global.index()));
        }
    }

    /// Records that an element of a global is read, which is there.
    #[cold]
    pub(crate) fn record_read_at(&mut self, global: GlobalId, index: Reg) {
        let base = self.base;
        let index = self.get(index).key_in(base.global(global.index()));
        let Some(record) = &mut self.record else { return };
        if record.is_known(global.0, Some(&index)) {
            return;
        }
        let place = Place::Element(global.0, index);
        match place.look(base.globals(), &Value::Null) {
            Some(value) => record.read(place.clone(), value),
            None => record.lost = true,
        }
    }

    /// Records that a global is set.
    #[cold]
    pub(crate) fn record_write(&mut self, global: GlobalId, src: Reg) {
        let (value, by) = (self.get(src).clone(), self.component());
        if let Some(record) = &mut self.record {
            record.effect(Effect::Set { global: global.0, value, by });
        }
    }

    /// Records that an element of a global is set.
    #[cold]
    pub(crate) fn record_write_at(&mut self, global: GlobalId, index: Reg, src: Reg) {
        let index = self.get(index).key_in(self.state().global(global.index()));
        let value = self.get(src).clone();
        let by = self.component();
        if let Some(record) = &mut self.record {
            record.effect(Effect::SetAt { global: global.0, index, value, by });
        }
    }

    /// Records that a flag gets a value.
    #[inline]
    pub(crate) fn record_flag(&mut self, flag: usize, value: bool) {
        if let Some(record) = &mut self.record {
            record.effect(Effect::Flag { flag, value });
        }
    }

    /// Records a post.
    #[inline]
    pub(crate) fn record_post(&mut self, kind: MailboxKind, first: bool, message: &Message) {
        if let Some(record) = &mut self.record {
            let message = message.posted(0);
            record.effect(Effect::Post { kind, first, message });
        }
    }
}
