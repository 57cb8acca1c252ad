//! The names of events in findings, over streams that do not fit in memory.

use anyorder_trace::{LabelScheme, NameId, Op, Tables};
use std::collections::BTreeMap;
use std::fmt;

/// The label of an event. It is a number until the whole trace is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Label {
    /// The entry of the column of numbers, if the event has one.
    Entry(Option<u32>),
    /// The name that finds the event.
    Name(String),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Entry(_) => f.write_str("?"),
            Label::Name(name) => f.write_str(name),
        }
    }
}

/// Finds out which labels name one event only. The others become `@N`, the number of the event, as
/// in [`Trace::label`](anyorder_trace::Trace::label).
///
/// Memory: a byte for each name of the tables. Numbers are known to differ only while they rise.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventNames {
    /// How often each name was used, up to 2.
    uses: Vec<u8>,
    /// The last number of an access, and of another event.
    last: [Option<u32>; 2],
    /// Whether the numbers of both numberings rose so far; true if some did not.
    falls: [bool; 2],
}

impl EventNames {
    /// Takes the next event. Returns its label so far.
    pub(crate) fn step(&mut self, labels: LabelScheme, op: Op, number: Option<u32>) -> Label {
        let number = number.filter(|_| labels != LabelScheme::Position);
        if let Some(number) = number {
            self.note(labels, op, number);
        }
        Label::Entry(number)
    }

    fn note(&mut self, labels: LabelScheme, op: Op, number: u32) {
        if labels == LabelScheme::Name {
            let at = number as usize;
            if at >= self.uses.len() {
                self.uses.resize(at + 1, 0);
            }
            self.uses[at] = (self.uses[at] + 1).min(2);
            return;
        }
        let numbering = numbering(labels, op);
        let last = &mut self.last[numbering];
        self.falls[numbering] |= last.is_some_and(|last| last >= number);
        *last = Some(number);
    }

    /// Gives events their names, once all events were taken.
    pub(crate) fn finish(&self, tables: &Tables, events: Vec<(u64, Op, &mut Label)>) {
        let labels = tables.meta.labels;
        let uses = self.uses_of_texts(tables, &events);
        for (event, op, label) in events {
            let Label::Entry(entry) = *label else { continue };
            let by_number = || format!("@{event}");
            let is_access = op.kind().is_access();
            *label = Label::Name(match (labels, entry) {
                (_, None) => (event + 1).to_string(),
                (LabelScheme::Name, Some(id)) => match tables.name(NameId(id)) {
                    name if name.is_empty() || name.starts_with('@') => by_number(),
                    name if uses.get(name).is_none_or(|uses| *uses > 1) => by_number(),
                    name => name.to_owned(),
                },
                (_, Some(_)) if self.falls[numbering(labels, op)] => by_number(),
                (LabelScheme::AccessOrOperation, Some(number)) if !is_access => {
                    format!("op:{number}")
                }
                (_, Some(number)) => number.to_string(),
            });
        }
    }

    /// Returns how often the names of some events were used. The table may hold a name twice.
    fn uses_of_texts<'t>(
        &self,
        tables: &'t Tables,
        events: &[(u64, Op, &mut Label)],
    ) -> BTreeMap<&'t str, u32> {
        let mut uses: BTreeMap<&str, u32> = BTreeMap::new();
        if tables.meta.labels != LabelScheme::Name {
            return uses;
        }
        for (_, _, label) in events {
            if let Label::Entry(Some(id)) = label {
                uses.insert(tables.name(NameId(*id)), 0);
            }
        }
        for (id, times) in self.uses.iter().enumerate().filter(|(_, times)| **times > 0) {
            if let Some(uses) = uses.get_mut(tables.name(NameId(id as u32))) {
                *uses += u32::from(*times);
            }
        }
        uses
    }
}

/// Returns the numbering of an event: 1 for operations, where they have one of their own.
fn numbering(labels: LabelScheme, op: Op) -> usize {
    usize::from(labels == LabelScheme::AccessOrOperation && !op.kind().is_access())
}
