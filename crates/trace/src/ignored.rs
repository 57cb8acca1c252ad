//! Operations that a reader did not know. They are in the trace as events of kind `other`, which
//! order nothing and access nothing. Their effect in the program is unknown.
//!
//! A report on such a trace must mention them: a blocking call, a lock under another name or a
//! write could make a reported order impossible, or another one possible.

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
    /// This many events of each operation are listed; the others are counted.
    pub const EVENTS_MAX: usize = 5;

    /// This many operations are counted by name. Uses of further ones are counted together, under
    /// `…`.
    pub const OPERATIONS_MAX: usize = 100;

    /// Finds the unknown operations of a trace, in the order of their first uses.
    ///
    /// Some formats have a kind for events that order nothing; there, `other` is intended. STD and
    /// the logs of DroidRacer have no such kind. So in a trace first read from one of these, an
    /// `other` is an operation that its reader did not know.
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

    /// Returns whether the trace has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns whether the trace has one before an event. If it has none, a result about events up
    /// to that one also holds for the trace that ends there, in which nothing is unknown.
    #[must_use]
    pub fn any_before(&self, event: EventId) -> bool {
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
        let copy = Trace::read(&mut NativeTextReader::new(text.as_slice())).unwrap();
        for trace in [trace, copy] {
            let ignored = Ignored::of(&trace);
            let listed: Vec<_> = ignored
                .operations()
                .iter()
                .map(|one| (one.word.as_str(), one.count, one.events.join(" ")))
                .collect();
            assert_eq!(listed, [("inv", 2, "2 4".to_owned()), ("bar", 1, "3".to_owned())]);
            assert!(!ignored.any_before(EventId(0)) && !ignored.any_before(EventId(1)));
            assert!(ignored.any_before(EventId(2)) && !ignored.is_empty());
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
    fn other_is_intended_in_formats_that_have_it() {
        let mut b = crate::TraceBuilder::new();
        let t = b.handler("T", crate::Mailbox::None).unwrap();
        let name = b.interner.name("note").unwrap();
        b.push(b.initial(t), EventKind::Other.into(), name.0);
        assert!(Ignored::of(&b.finish()).is_empty());
    }
}
