//! Computes the communication of a run, invocation by invocation.

use super::rule::{Comm, Mode};
use crate::spec::Invocation;
use crate::value::Value;
use std::collections::{BTreeSet, HashMap};

/// The observation of an invocation in one mode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observed {
    /// The mode.
    pub mode: Mode,
    /// The observed earlier invocations, in the order of the run. An empty list is an observation
    /// as well.
    pub sources: Vec<usize>,
}

/// The communication through one object; takes its invocations in the order of the run.
///
/// Memory: one entry per key, and per earlier invocation that an `all` rule counts or that may
/// still be taken. Time per invocation: linear in its observations, logarithmic in the invocations
/// not taken.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// By source and key.
    buffers: HashMap<(usize, Vec<Value>), Buffer>,
}

#[derive(Clone, Debug, Default)]
struct Buffer {
    last: Option<usize>,
    all: Vec<usize>,
    /// The invocations not taken.
    free: BTreeSet<usize>,
}

impl Observations {
    /// Returns the communication of a new object.
    #[must_use]
    pub fn new() -> Observations {
        Observations::default()
    }

    /// Takes the next invocation, under a number larger than all before, and returns its
    /// observations: one entry for each mode of [`Comm::modes`].
    pub fn invoke(&mut self, comm: &Comm, number: usize, call: &Invocation) -> Vec<Observed> {
        let observed = comm.modes(call).map(|mode| self.observe(comm, mode, call)).collect();
        for (at, source) in comm.sources.iter().enumerate() {
            if let Some(key) = source.key_of(call) {
                let buffer = self.buffers.entry((at, key)).or_default();
                buffer.last = Some(number);
                if source.is_counted {
                    buffer.all.push(number);
                }
                if source.is_taken {
                    buffer.free.insert(number);
                }
            }
        }
        observed
    }

    fn observe(&mut self, comm: &Comm, mode: Mode, call: &Invocation) -> Observed {
        let mut found: Vec<usize> = Vec::new();
        let mut places = Vec::new();
        for rule in comm.rules.iter().filter(|rule| rule.mode == mode) {
            let Some(key) = rule.observed_key(call) else { continue };
            let place = (rule.source, key);
            let Some(buffer) = self.buffers.get(&place) else { continue };
            match mode {
                Mode::All => found.extend(&buffer.all),
                Mode::Last => found.extend(buffer.last),
                Mode::First | Mode::TakeFirst => found.extend(buffer.free.first()),
                Mode::Top | Mode::TakeTop => found.extend(buffer.free.last()),
            }
            places.push(place);
        }
        found.sort_unstable();
        found.dedup();
        match mode {
            Mode::All => {}
            Mode::First | Mode::TakeFirst => found.truncate(1),
            Mode::Last | Mode::Top | Mode::TakeTop => {
                found.drain(..found.len().saturating_sub(1));
            }
        }
        if matches!(mode, Mode::TakeFirst | Mode::TakeTop) {
            for place in places {
                if let Some(buffer) = self.buffers.get_mut(&place) {
                    found.iter().for_each(|number| {
                        buffer.free.remove(number);
                    });
                }
            }
        }
        Observed { mode, sources: found }
    }
}
