//! The labels that several events of a trace have.

use crate::columns::Columns;
use crate::event::Op;
use crate::ids::NameId;
use crate::tables::{LabelScheme, Tables};

/// The labels that do not name one event.
///
/// A trace may give one name to several events. Such a name does not say which one is meant, so
/// reports name these events by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeated {
    /// The repeated numbers of accesses, or of all events where there is one numbering; sorted.
    accesses: Vec<u32>,
    /// Those of other events, where they have a numbering of their own.
    operations: Vec<u32>,
}

impl Repeated {
    /// Finds them. Time: linear where numbers rise, as in all traces with a number for each line;
    /// else O(n log n), with a copy of the numbers.
    pub(crate) fn of(tables: &Tables, columns: &Columns) -> Repeated {
        let rows = || columns.numbers.iter().zip(&columns.ops);
        let of = |is_in: &dyn Fn(&Op) -> bool| {
            let numbers = || rows().filter(|(_, op)| is_in(op)).map(|(number, _)| *number);
            if numbers().is_sorted_by(|a, b| a < b) {
                return Vec::new();
            }
            let mut sorted: Vec<u32> = numbers().collect();
            sorted.sort_unstable();
            let mut repeated: Vec<u32> =
                sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
            repeated.dedup();
            repeated
        };
        if apart(tables.meta.labels) {
            let accesses = of(&|op| op.kind().is_access());
            return Repeated { accesses, operations: of(&|op| !op.kind().is_access()) };
        }
        let mut all = of(&|_| true);
        if tables.meta.labels == LabelScheme::Name {
            all.extend(alike(tables, columns));
            all.sort_unstable();
        }
        Repeated { accesses: all, operations: Vec::new() }
    }

    /// Returns whether several events have a label.
    pub(crate) fn has(&self, labels: LabelScheme, is_access: bool, number: u32) -> bool {
        let known = if is_access || !apart(labels) { &self.accesses } else { &self.operations };
        known.binary_search(&number).is_ok()
    }
}

/// Returns the names of events that are in the table more than once.
fn alike(tables: &Tables, columns: &Columns) -> Vec<u32> {
    let name = |id: u32| tables.name(NameId(id));
    let mut ids = columns.numbers.clone();
    ids.sort_unstable();
    ids.dedup();
    ids.sort_by(|a, b| name(*a).cmp(name(*b)));
    let alike = ids.windows(2).filter(|pair| name(pair[0]) == name(pair[1]));
    alike.flatten().copied().collect()
}

/// Returns whether accesses and other events have numberings of their own.
fn apart(labels: LabelScheme) -> bool {
    labels == LabelScheme::AccessOrOperation
}
