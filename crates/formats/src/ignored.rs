//! Operations that a reader did not know. They are in the trace as events of kind `other`, which
//! order nothing and access nothing. Their effect in the program is unknown.
//!
//! A report on such a trace must mention them: a blocking call, a lock under another name or a
//! write could make a reported order impossible, or another one possible.

use crate::detect::Format;
use anyorder_common::similar::most_similar;
use anyorder_trace::{Block, EventId, EventKind, NameId, Tables, Trace};
use std::collections::BTreeMap;

/// The unknown operations of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ignored {
    operations: Vec<IgnoredOperation>,
    /// The place of each word among them.
    known: BTreeMap<String, usize>,
    /// The first event that may have an effect.
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
    /// The word of STD that it seems to stand for.
    pub instead: Option<&'static str>,
    /// Whether it is known to order nothing and to access nothing, so that to ignore it changes no
    /// answer: the request for a lock that is taken later, a place for nothing.
    pub without_effect: bool,
}

/// Words of other tools, and the words of STD for the same.
const WORDS: [(&str, &[&str]); 13] = [
    ("r", &["read", "rd", "load", "ld", "get", "getfield", "aread"]),
    ("w", &["write", "wr", "store", "st", "set", "put", "putfield", "awrite"]),
    ("acq", &["lock", "acquire", "enter", "monitorenter", "lk", "lck", "tacq", "racq", "wacq"]),
    ("rel", &["unlock", "release", "exit", "monitorexit", "uk", "ulk", "rrel", "wrel"]),
    ("fork", &["start", "spawn", "create", "clone", "go", "pthread_create", "thread_create"]),
    ("join", &["pthread_join", "thread_join"]),
    ("alloc", &["malloc", "calloc", "new", "allocate"]),
    ("free", &["delete", "dealloc", "deallocate", "release_memory"]),
    ("signal", &["notify", "notify_one", "pthread_cond_signal"]),
    ("broadcast", &["notifyall", "notify_all", "pthread_cond_broadcast"]),
    ("wait", &["await", "cond_wait", "pthread_cond_wait"]),
    ("wake", &["wakeup", "woken", "notified"]),
    ("destroy", &["lock_destroy", "pthread_mutex_destroy"]),
];

/// Words of other tools for events that order nothing and access nothing.
const WITHOUT_EFFECT: [&str; 3] = ["request", "dummy", "null"];

/// Returns the word of STD that an unknown word seems to stand for.
fn instead(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    let known = |(std, words): &(&'static str, &[&str])| {
        (*std == lower || words.contains(&&*lower)).then_some(*std)
    };
    WORDS.iter().find_map(known).or_else(|| most_similar(&lower, WORDS.map(|(std, _)| std)))
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
        if !ignored.may_have(trace.tables()) {
            return ignored;
        }
        for event in trace.events().filter(|event| event.kind() == EventKind::Other) {
            let label = || trace.label(event.id);
            ignored.take(trace.tables(), event.id, event.operand, label);
        }
        ignored
    }

    /// Takes the events of a block of a stream. Uses are named by the numbers that the input gives
    /// them, or else by their positions.
    pub fn block(&mut self, tables: &Tables, block: &Block) {
        if !self.may_have(tables) {
            return;
        }
        let columns = &block.columns;
        for row in (0..columns.len()).filter(|row| columns.ops[*row].kind() == EventKind::Other) {
            let event = block.first + row as u64;
            let label =
                || columns.numbers.get(row).map_or(event + 1, |n| u64::from(*n)).to_string();
            let id = EventId(u32::try_from(event).unwrap_or(u32::MAX - 1));
            self.take(tables, id, columns.operands[row], label);
        }
    }

    /// Returns whether an event of kind `other` is an operation that the reader did not know.
    fn may_have(&self, tables: &Tables) -> bool {
        // The formats without a writer have no such kind.
        let origin = Format::from_word(&tables.meta.origin);
        origin.is_some_and(|format| format == Format::Std || !format.is_writable())
    }

    /// Takes one use of an unknown operation.
    fn take(
        &mut self,
        tables: &Tables,
        event: EventId,
        operand: u32,
        label: impl FnOnce() -> String,
    ) {
        if tables.is_branch(NameId(operand)) {
            return;
        }
        let text = tables.name(NameId(operand));
        let mut word = text.split('(').next().unwrap_or(text);
        if self.known.len() >= Ignored::OPERATIONS_MAX && !self.known.contains_key(word) {
            word = "…";
        }
        let operations = &mut self.operations;
        let place = *self.known.entry(word.to_owned()).or_insert_with(|| {
            let of_threads = Format::from_word(&tables.meta.origin) != Some(Format::DroidRacer);
            operations.push(IgnoredOperation {
                word: word.to_owned(),
                count: 0,
                events: Vec::new(),
                instead: instead(word).filter(|_| of_threads),
                without_effect: of_threads && WITHOUT_EFFECT.contains(&word),
            });
            operations.len() - 1
        });
        let operation = &mut self.operations[place];
        if !operation.without_effect {
            self.first.get_or_insert(event);
        }
        operation.count += 1;
        if operation.events.len() < Ignored::EVENTS_MAX {
            operation.events.push(label());
        }
    }

    /// Returns the operations, in the order of their first uses.
    #[must_use]
    pub fn operations(&self) -> &[IgnoredOperation] {
        &self.operations
    }

    /// Returns whether the trace has none that may have an effect.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
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
    use crate::native_text::{NativeTextReader, NativeTextWriter};
    use crate::std::StdReader;

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
    fn words_of_other_tools_are_told_with_the_word_of_the_format() {
        for (word, expected) in [
            ("lock", Some("acq")),
            ("Write", Some("w")),
            ("notifyAll", Some("broadcast")),
            ("W", Some("w")),
            ("jion", Some("join")),
            ("frobnicate", None),
        ] {
            assert_eq!(instead(word), expected, "{word}");
        }
    }

    #[test]
    fn words_that_order_nothing_change_no_answer() {
        let text = "T1|null()|1\nT1|acq(l)|2\nT1|branch|3\nT1|dummy(0)|4\nT1|rel(l)|5\n";
        let trace = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
        let ignored = Ignored::of(&trace);
        assert!(ignored.is_empty() && !ignored.any_before(EventId(5)));
        assert!(ignored.operations().iter().all(|one| one.without_effect && one.count == 1));
        // Branches are known.
        assert_eq!(ignored.operations().len(), 2);
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
        let mut b = anyorder_trace::TraceBuilder::new();
        let t = b.handler("T", anyorder_trace::Mailbox::None).unwrap();
        let name = b.interner.name("note").unwrap();
        b.push(b.initial(t), EventKind::Other.into(), name.0);
        assert!(Ignored::of(&b.finish()).is_empty());
    }
}
