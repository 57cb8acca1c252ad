//! Operations that a reader did not know. They are in the trace as events of kind `other`, which
//! order nothing and touch nothing; what they did in the program is not known.
//!
//! Whoever reports on such a trace has to say so: a call that waits, a lock under another name or a
//! write could make a reported order impossible, and could make another one possible.

use crate::detect::Format;
use crate::event::EventKind;
use crate::ids::{EventId, NameId};
use crate::trace::Trace;
use std::collections::BTreeMap;

/// The unknown operations of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ignored {
    operations: Vec<IgnoredOperation>,
    first: Option<EventId>,
}

/// All uses of one unknown operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IgnoredOperation {
    /// The operation as the input names it, without its operand.
    pub word: String,
    /// How often it was used.
    pub count: u64,
    /// The labels of its first uses.
    pub events: Vec<String>,
}

impl Ignored {
    /// The number of events of each operation that are listed; others are counted.
    pub const EVENTS_MAX: usize = 5;

    /// The number of operations that are counted by name; uses of further ones are counted
    /// together, under `…`.
    pub const OPERATIONS_MAX: usize = 100;

    /// Finds the unknown operations of a trace, in the order of their first uses.
    ///
    /// In formats with a kind for what orders nothing, `other` was meant. STD and the logs of
    /// DroidRacer have none, so that in a trace that was first read from one of these an `other` is
    /// what its reader did not know.
    #[must_use]
    pub fn of(trace: &Trace) -> Ignored {
        let mut ignored = Ignored::default();
        let origin = Format::from_word(&trace.tables().meta.origin);
        if !matches!(origin, Some(Format::Std | Format::DroidRacer)) {
            return ignored;
        }
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for event in trace.events().filter(|event| event.kind() == EventKind::Other) {
            ignored.first.get_or_insert(event.id);
            let text = trace.tables().name(NameId(event.operand));
            let mut word = text.split('(').next().unwrap_or(text);
            if known.len() >= Ignored::OPERATIONS_MAX && !known.contains_key(word) {
                word = "…";
            }
            let place = *known.entry(word.to_owned()).or_insert_with(|| {
                let word = word.to_owned();
                ignored.operations.push(IgnoredOperation { word, count: 0, events: Vec::new() });
                ignored.operations.len() - 1
            });
            let operation = &mut ignored.operations[place];
            operation.count += 1;
            if operation.events.len() < Ignored::EVENTS_MAX {
                operation.events.push(trace.label(event.id));
            }
        }
        ignored
    }

    /// Returns the operations, in the order of their first uses.
    #[must_use]
    pub fn operations(&self) -> &[IgnoredOperation] {
        &self.operations
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns whether one of them stands in the trace before an event. Of events that all stand
    /// before the first unknown operation, whatever is said holds of the trace that ends there, in
    /// which nothing is unknown.
    #[must_use]
    pub fn stand_before(&self, event: EventId) -> bool {
        self.first.is_some_and(|first| first < event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::native_text::{NativeTextReader, NativeTextWriter};
    use crate::format::std::StdReader;

    const TEXT: &str = "T1|w(x)|1\nT1|inv(o)|2\nT2|bar|3\nT2|inv(p)|4\nT2|w(x)|5\n";

    #[test]
    fn unknown_operations_are_found_also_after_a_conversion() {
        let trace = Trace::read(&mut StdReader::new(TEXT.as_bytes())).unwrap();
        let mut text = Vec::new();
        trace.write(&mut NativeTextWriter::new(&mut text)).unwrap();
        let again = Trace::read(&mut NativeTextReader::new(text.as_slice())).unwrap();
        for trace in [trace, again] {
            let ignored = Ignored::of(&trace);
            let told: Vec<_> = ignored
                .operations()
                .iter()
                .map(|one| (one.word.as_str(), one.count, one.events.join(" ")))
                .collect();
            assert_eq!(told, [("inv", 2, "2 4".to_owned()), ("bar", 1, "3".to_owned())]);
            assert!(!ignored.stand_before(EventId(0)) && !ignored.stand_before(EventId(1)));
            assert!(ignored.stand_before(EventId(2)) && !ignored.is_empty());
        }
    }

    #[test]
    fn further_operations_are_counted_together() {
        let lines = (0..150).map(|n| format!("T1|op{n}(o)|{n}\n"));
        let trace = Trace::read(&mut StdReader::new(lines.collect::<String>().as_bytes())).unwrap();
        let ignored = Ignored::of(&trace);
        assert_eq!(ignored.operations().len(), Ignored::OPERATIONS_MAX + 1);
        let last = ignored.operations().last().unwrap();
        assert_eq!((last.word.as_str(), last.count, last.events.len()), ("…", 50, 5));
    }

    #[test]
    fn where_other_is_a_kind_of_its_own_it_was_meant() {
        let mut b = crate::TraceBuilder::new();
        let t = b.handler("T", crate::Mailbox::None).unwrap();
        let name = b.interner.name("note").unwrap();
        b.push(b.initial(t), EventKind::Other.into(), name.0);
        assert!(Ignored::of(&b.finish()).is_empty());
    }
}
