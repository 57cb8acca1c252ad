//! What a trace says of its threads that does not fit together: names that do not meet, threads
//! whose part is missing.
//!
//! A trace whose thread is forked under one name and runs under another is well-formed, and looks
//! like one of two threads that nothing orders. A result must not rest on it in silence.
//!
//! Only threads are judged: handlers without a mailbox, of traces in the order of the run. Logs of
//! DroidRacer's runtime watch only part of the program, and are not judged.

use crate::detect::Format;
use anyorder_trace::{
    Block, EventKind, HandlerId, Location, LocationId, Mailbox, Meta, Tables, TaskId, TraceOrder,
};
use std::collections::{BTreeMap, BTreeSet};

/// Something about the threads of a trace that does not fit together.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ThreadDoubt {
    /// A thread is forked, and has no event.
    NeverRuns {
        /// The thread.
        thread: HandlerId,
        /// Its fork.
        fork: u64,
        /// A thread that runs, and that nobody forked: it may be the same thread by another name.
        instead: Option<HandlerId>,
    },
    /// A thread is joined that nobody forked, and that has no event.
    JoinsNobody {
        /// The thread.
        thread: HandlerId,
        /// The join.
        join: u64,
    },
    /// A variable has the name of a thread: columns or operands may be swapped.
    NamedAsThread {
        /// The variable.
        location: LocationId,
    },
    /// A thread begins after others were forked, and nobody forked it.
    NeverForked {
        /// The thread.
        thread: HandlerId,
        /// Its first event.
        first: u64,
    },
    /// A thread begins so often that `begin` and `end` seem to mark atomic blocks.
    AtomicBlocks {
        /// The first such thread.
        thread: HandlerId,
        /// How often it begins.
        begins: u64,
        /// The event at which it begins for the third time.
        event: u64,
    },
    /// No event accesses memory, calls a method or waits for a signal.
    NothingToCheck,
}

impl ThreadDoubt {
    /// Returns whether a result may miss something because of it. Otherwise only an order may be
    /// missing, so that a result has findings too many.
    #[must_use]
    pub const fn hides(&self) -> bool {
        !matches!(self, ThreadDoubt::NeverForked { .. } | ThreadDoubt::AtomicBlocks { .. })
    }

    /// Returns the event at which it shows.
    #[must_use]
    pub const fn event(&self) -> Option<u64> {
        match self {
            ThreadDoubt::NeverRuns { fork: event, .. }
            | ThreadDoubt::JoinsNobody { join: event, .. }
            | ThreadDoubt::NeverForked { first: event, .. }
            | ThreadDoubt::AtomicBlocks { event, .. } => Some(*event),
            ThreadDoubt::NamedAsThread { .. } | ThreadDoubt::NothingToCheck => None,
        }
    }

    /// Describes it in a phrase.
    #[must_use]
    pub fn text(&self, tables: &Tables) -> String {
        let name = |thread: &HandlerId| tables.name(tables.handlers[thread.index()].name);
        match self {
            ThreadDoubt::NeverRuns { thread, instead, .. } => {
                let what = format!("thread `{}` is forked and never runs", name(thread));
                match instead {
                    Some(other) => {
                        let other = name(other);
                        format!(
                            "{what}, and thread `{other}` runs and is never forked: if they are one thread, it needs one name"
                        )
                    }
                    None => format!("{what}: what it does is not in the trace"),
                }
            }
            ThreadDoubt::JoinsNobody { thread, .. } => {
                format!("thread `{}` is joined, and is neither forked nor runs", name(thread))
            }
            ThreadDoubt::NamedAsThread { location } => {
                let name = tables.location_text(*location);
                format!("variable `{name}` has the name of a thread: an operation names its object")
            }
            ThreadDoubt::NeverForked { thread, .. } => {
                let name = name(thread);
                format!(
                    "thread `{name}` is never forked, as others are: taken to run from the start"
                )
            }
            ThreadDoubt::AtomicBlocks { thread, begins, .. } => {
                let name = name(thread);
                format!(
                    "thread `{name}` begins {begins} times: `begin` and `end` are taken for marks of atomic blocks"
                )
            }
            ThreadDoubt::NothingToCheck => {
                "no event accesses memory, calls a method, waits for a signal, or waits while it holds a lock: nothing to check"
                    .to_owned()
            }
        }
    }
}

/// What is known of one handler.
#[derive(Clone, Copy, Default, Debug)]
struct Known {
    first: Option<u64>,
    fork: Option<u64>,
    join: Option<u64>,
    /// How often it begins. Recorders mark the beginning twice: at the top, and after the fork.
    begins: u64,
    third: Option<u64>,
    /// The number of locks that it holds, each as often as it took it.
    held: u32,
}

/// A thread begins at most so often.
const BEGINS_MAX: u64 = 2;

/// Follows the threads of a trace, event by event. Memory: an entry for each handler.
#[derive(Clone, Default, Debug)]
pub struct Threads {
    known: Vec<Known>,
    /// The first event that forks.
    first_fork: Option<u64>,
    /// Whether some event has an effect that could be ordered wrongly.
    acts: bool,
}

impl Threads {
    /// Follows a whole trace.
    #[must_use]
    pub fn of(trace: &anyorder_trace::Trace) -> Vec<ThreadDoubt> {
        let mut threads = Threads::default();
        for event in trace.events() {
            let number = u64::from(event.id.0);
            threads.step(trace.tables(), number, event.kind(), event.task, event.operand);
        }
        threads.finish(trace.tables())
    }

    /// Takes the events of a block.
    pub fn block(&mut self, tables: &Tables, block: &Block) {
        let columns = &block.columns;
        for row in 0..columns.len() {
            let (kind, event) = (columns.ops[row].kind(), block.first + row as u64);
            self.step(tables, event, kind, columns.tasks[row], columns.operands[row]);
        }
    }

    /// Takes the next event.
    fn step(&mut self, tables: &Tables, event: u64, kind: EventKind, task: TaskId, operand: u32) {
        self.acts |= kind.is_access()
            || matches!(
                kind,
                EventKind::Invoke | EventKind::Wait | EventKind::Signal | EventKind::Broadcast
            );
        let of_task = tables.tasks.get(task.index()).map_or(HandlerId::NONE, |task| task.handler);
        let handler = if kind == EventKind::Get { HandlerId(operand) } else { of_task };
        if let Some(known) = self.known(tables, handler) {
            known.first.get_or_insert(event);
            if kind == EventKind::Begin {
                known.begins += 1;
                if known.begins == BEGINS_MAX + 1 {
                    known.third = Some(event);
                }
            }
            // It may wait while it holds something.
            let waits = matches!(
                kind,
                EventKind::Acquire | EventKind::Request | EventKind::Join | EventKind::Barrier
            ) && known.held > 0;
            match kind {
                EventKind::Acquire => known.held = known.held.saturating_add(1),
                EventKind::Release => known.held = known.held.saturating_sub(1),
                _ => {}
            }
            self.acts |= waits;
        }
        if matches!(kind, EventKind::Fork | EventKind::Join)
            && let Some(known) = self.known(tables, HandlerId(operand))
        {
            let place = if kind == EventKind::Fork { &mut known.fork } else { &mut known.join };
            place.get_or_insert(event);
        }
        if kind == EventKind::Fork {
            self.first_fork.get_or_insert(event);
        }
    }

    fn known(&mut self, tables: &Tables, handler: HandlerId) -> Option<&mut Known> {
        if self.known.len() < tables.handlers.len() {
            self.known.resize(tables.handlers.len(), Known::default());
        }
        self.known.get_mut(handler.index())
    }

    /// Returns what does not fit together in the whole trace.
    #[must_use]
    pub fn finish(&self, tables: &Tables) -> Vec<ThreadDoubt> {
        let mut doubts = Vec::new();
        // A recorded program of one thread, or whose threads share nothing, has no access here.
        if !self.acts && tables.meta.origin != Meta::RECORDING {
            doubts.push(ThreadDoubt::NothingToCheck);
        }
        let origin = Format::from_word(&tables.meta.origin);
        if tables.meta.order != TraceOrder::Observed || origin == Some(Format::DroidRacer) {
            return doubts;
        }
        let unforked = self.unforked(tables);
        let absent = self.absent(tables);
        for (thread, known) in self.threads(tables) {
            match *known {
                Known { first: None, fork: Some(fork), .. } => {
                    let instead = instead(tables, thread, (&absent, &unforked));
                    doubts.push(ThreadDoubt::NeverRuns { thread, fork, instead });
                }
                Known { first: None, join: Some(join), .. } => {
                    doubts.push(ThreadDoubt::JoinsNobody { thread, join });
                }
                _ => {}
            }
        }
        let never_forked = |(thread, first): (&HandlerId, &u64)| ThreadDoubt::NeverForked {
            thread: *thread,
            first: *first,
        };
        doubts.extend(unforked.iter().map(never_forked));
        doubts.extend(self.named_as_threads(tables));
        let blocks = self.threads(tables).find_map(|(thread, known)| {
            let (begins, event) = (known.begins, known.third?);
            Some(ThreadDoubt::AtomicBlocks { thread, begins, event })
        });
        doubts.extend(blocks);
        doubts.sort();
        doubts
    }

    fn threads<'a>(
        &'a self,
        tables: &'a Tables,
    ) -> impl Iterator<Item = (HandlerId, &'a Known)> + 'a {
        let all = tables.handlers.iter().zip(&self.known).enumerate();
        let threads =
            all.filter(|(_, (handler, _))| handler.mailbox == Mailbox::None && !handler.untracked);
        threads.map(|(at, (_, known))| (HandlerId::from_index(at), known))
    }

    /// Returns the threads that are forked and never run, in the order of their forks.
    fn absent(&self, tables: &Tables) -> Vec<HandlerId> {
        let absent = self.threads(tables).filter(|(_, known)| known.first.is_none());
        let mut absent: Vec<(u64, HandlerId)> =
            absent.filter_map(|(thread, known)| Some((known.fork?, thread))).collect();
        absent.sort_unstable();
        absent.into_iter().map(|(_, thread)| thread).collect()
    }

    /// Returns the threads that begin after the first fork and that nobody forks.
    fn unforked(&self, tables: &Tables) -> BTreeMap<HandlerId, u64> {
        let Some(first_fork) = self.first_fork else { return BTreeMap::new() };
        let begun = self.threads(tables).filter(|(_, known)| known.fork.is_none());
        begun
            .filter_map(|(thread, known)| Some((thread, known.first?)))
            .filter(|(_, first)| *first > first_fork)
            .collect()
    }

    /// Returns the variables with the name of a thread. Numbers are names of anything.
    fn named_as_threads(&self, tables: &Tables) -> Vec<ThreadDoubt> {
        let names = self.threads(tables).filter(|(_, known)| known.first.or(known.fork).is_some());
        let names: BTreeSet<&str> = names
            .map(|(thread, _)| tables.name(tables.handlers[thread.index()].name))
            .filter(|name| !is_number(name))
            .collect();
        let has_name = |location: &Location| match location {
            Location::Named(name) => names.contains(tables.name(*name)),
            _ => false,
        };
        let locations = tables.locations.iter().enumerate();
        locations
            .filter(|(_, location)| has_name(location))
            .map(|(at, _)| ThreadDoubt::NamedAsThread { location: LocationId::from_index(at) })
            .collect()
    }
}

/// Returns the thread that a forked one may run as: the one with the same number in its name, the
/// only one that nobody forked, or, where as many run as are missing, the one that begins as it is
/// forked among the others: first, second, ...
fn instead(
    tables: &Tables,
    thread: HandlerId,
    (absent, unforked): (&[HandlerId], &BTreeMap<HandlerId, u64>),
) -> Option<HandlerId> {
    let digits = |thread: HandlerId| -> String {
        let name = tables.name(tables.handlers[thread.index()].name);
        name.chars().filter(char::is_ascii_digit).collect()
    };
    let wanted = digits(thread);
    let alike = unforked.keys().find(|other| !wanted.is_empty() && digits(**other) == wanted);
    let only = || unforked.keys().next().filter(|_| unforked.len() == 1);
    let by_order = || {
        let place = absent.iter().position(|other| *other == thread)?;
        let mut begun: Vec<(u64, HandlerId)> =
            unforked.iter().map(|(other, first)| (*first, *other)).collect();
        begun.sort_unstable();
        begun.get(place).filter(|_| begun.len() == absent.len()).map(|(_, other)| *other)
    };
    alike.or_else(only).copied().or_else(by_order)
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::std::StdReader;
    use anyorder_trace::Trace;

    fn doubts(text: &str) -> Vec<String> {
        let trace = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
        Threads::of(&trace).iter().map(|doubt| doubt.text(trace.tables())).collect()
    }

    #[test]
    fn a_thread_that_is_forked_under_another_name_never_runs() {
        let doubts = doubts("T0|w(x)|1\nT0|fork(t1)|2\nT1|r(x)|3\n");
        assert_eq!(doubts.len(), 2, "{doubts:?}");
        assert!(doubts[0].contains("`t1` is forked and never runs, and thread `T1`"), "{doubts:?}");
        assert!(doubts[1].contains("`T1` is never forked"), "{doubts:?}");
    }

    #[test]
    fn several_threads_under_other_names_are_paired_by_their_order() {
        let text = "m|fork(a)|1\nm|fork(b)|2\nx|w(v)|3\nm|w(v)|3\ny|r(v)|4\n";
        let found = doubts(text);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[0].contains("`a` is forked and never runs, and thread `x`"), "{found:?}");
        assert!(found[1].contains("`b` is forked and never runs, and thread `y`"), "{found:?}");
        // Where their numbers differ, nobody knows.
        let found = doubts(&format!("{text}z|r(v)|5\n"));
        assert!(found[0].contains("what it does is not in the trace"), "{found:?}");
    }

    #[test]
    fn threads_whose_part_is_missing_are_told() {
        let only = |text: &str| {
            let doubts = doubts(text);
            assert_eq!(doubts.len(), 1, "{doubts:?}");
            doubts[0].clone()
        };
        assert!(only("a|w(x)|1\na|fork(b)|2\n").contains("what it does is not in the trace"));
        assert!(only("a|w(x)|1\na|join(b)|2\n").contains("neither forked nor runs"));
        assert!(only("a|fork(b)|1\nb|w(a)|2\n").contains("`a` has the name of a thread"));
        assert!(only("a|acq(l)|1\na|rel(l)|2\na|acq(m)|3\n").contains("nothing to check"));
        assert!(doubts("a|acq(l)|1\na|acq(m)|2\n").is_empty());
        assert!(only("a|w(x)|1\na|fork(b)|2\nb|r(x)|3\nc|r(x)|4\n").contains("run from the start"));
    }

    #[test]
    fn blocks_marked_by_begin_and_end_are_named_once() {
        let block = "T1|begin|1\nT1|w(x)|1\nT1|end|1\n";
        let text = block.repeat(5) + &block.replace("T1", "T2").repeat(3);
        let doubts = doubts(&text);
        assert_eq!(doubts.len(), 1, "{doubts:?}");
        assert!(doubts[0].contains("`T1` begins 5 times"), "{doubts:?}");
    }

    #[test]
    fn traces_that_fit_together_are_silent() {
        for text in [
            "T0|w(x)|1\nT0|fork(T1)|2\nT1|r(x)|3\nT0|join(T1)|4\n",
            // Some recorders mark all threads at the top, and once more after the fork.
            "T0|begin|1\nT1|begin|1\nT0|fork(T1)|2\nT1|begin|1\nT1|w(x)|3\nT0|end|1\nT1|end|1\n",
            // Some leave out the letter.
            "T0|w(x)|1\nT0|fork(1)|2\nT1|r(x)|3\nT0|join(1)|4\n",
            // Without forks, threads run from the start.
            "T1|w(x)|1\nT2|r(x)|2\n",
            "T1|w(x)|1\nT2|r(x)|2\nT1|fork(T3)|3\nT3|r(x)|4\n",
            // Numbers name threads, locks and variables alike.
            "0|w(1)|1\n0|fork(1)|2\n1|acq(0)|3\n1|r(1)|4\n",
        ] {
            assert_eq!(doubts(text), [""; 0], "{text}");
        }
    }
}
