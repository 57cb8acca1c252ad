//! Records what a step reads and does while it is executed.

use super::place::ReadPlace;
use crate::program::{GlobalId, MailboxKind, Reg};
use crate::state::{Effect, Message};
use crate::step::Interpreter;
use crate::value::Value;

/// Steps with more reads or effects are not memoized.
const READS_MAX: usize = 24;
const EFFECTS_MAX: usize = 24;

/// The reads and the effects of one execution so far.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) reads: Vec<(ReadPlace, Value)>,
    pub(crate) effects: Vec<Effect>,
    /// Whether the execution cannot be memoized: it reads or does too much.
    pub(crate) abandoned: bool,
}

impl Recorder {
    /// Resets the record for another execution.
    pub(crate) fn clear(&mut self) {
        self.reads.clear();
        self.effects.clear();
        self.abandoned = false;
    }

    pub(crate) fn read(&mut self, place: ReadPlace, value: &Value) {
        if self.reads.len() >= READS_MAX {
            self.abandoned = true;
            return;
        }
        self.reads.push((place, value.clone()));
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        if self.effects.len() >= EFFECTS_MAX {
            self.abandoned = true;
            return;
        }
        self.effects.push(effect);
    }

    /// Returns whether the value of an element, or of a whole global for `None`, follows from the
    /// record so far.
    ///
    /// The answer must not depend on the state: executions that have read the same so far must read
    /// the same place next.
    fn is_known(&self, global: u16, element: Option<&Value>) -> bool {
        let written = self.effects.iter().any(|effect| match effect {
            Effect::Set { global: g, .. } => *g == global,
            Effect::SetAt { global: g, index, .. } => *g == global && Some(index) == element,
            _ => false,
        });
        written
            || self.reads.iter().any(|(place, _)| match place {
                ReadPlace::Global(g) => *g == global,
                ReadPlace::Element(g, index) => *g == global && Some(index) == element,
                ReadPlace::Args => false,
            })
    }
}

impl Interpreter<'_> {
    /// Records that a global is read.
    #[cold]
    pub(crate) fn record_read(&mut self, global: GlobalId) {
        let base = self.base;
        let Some(record) = &mut self.record else { return };
        if !record.is_known(global.0, None) {
            record.read(ReadPlace::Global(global.0), base.global(global.index()));
        }
    }

    /// Records a read of an element that exists in a global.
    #[cold]
    pub(crate) fn record_read_at(&mut self, global: GlobalId, index: Reg) {
        let base = self.base;
        let index = self.get(index).key_in(base.global(global.index()));
        let Some(record) = &mut self.record else { return };
        if record.is_known(global.0, Some(&index)) {
            return;
        }
        let place = ReadPlace::Element(global.0, index);
        match place.read(base.globals(), &Value::Null) {
            Some(value) => record.read(place.clone(), value),
            None => record.abandoned = true,
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
            let message = message.with_uid(0);
            record.effect(Effect::Post { kind, first, message });
        }
    }
}
