//! Waits of recorders that name a condition by its lock.
//!
//! Recorders for Java write a wait on a monitor after its release, by the name of the monitor, and
//! have no event for its end: `rel(8)`, `wait(8)`, later `req(8)` and `acq(8)`. There the end of
//! the wait follows the acquire, before the next event of the thread. A signal since the wait has
//! woken it; else its time ran out.
//!
//! In STD itself a wait comes before the release of its lock. So the next event of the thread tells
//! the two apart.

use super::assembler::Assembler;
use anyorder_trace::{Block, EventKind, Mode, Op, SiteId, TaskId};
use hashbrown::HashMap;

/// A thread that waits on a condition.
#[derive(Debug)]
struct Waiter {
    condition: u32,
    /// The name of the condition.
    name: Box<[u8]>,
    /// The number of broadcasts of the condition before.
    broadcasts: u64,
    stage: Stage,
}

/// How far a thread has come in such a wait.
#[derive(Debug)]
enum Stage {
    /// It waits.
    Waits,
    /// It has asked for the lock of this name.
    Asks,
    /// It has taken the lock: how it was woken, and where.
    Taken(Mode, SiteId),
}

/// The signals of one condition.
#[derive(Debug, Default)]
struct Signals {
    /// Those that have woken nobody yet.
    open: u64,
    broadcasts: u64,
    /// The number of threads that wait.
    waiting: u64,
}

/// An event with its task, its site and its label.
type Row = ((Op, u32), TaskId, SiteId, u32);

/// The threads that may be in such a wait. Memory: an entry for each thread and each condition.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    waiters: HashMap<TaskId, Waiter>,
    signals: HashMap<u32, Signals>,
    pending: Option<Row>,
}

impl Waiting {
    /// Appends the event that the end of a wait took the place of, if there is one.
    #[inline]
    pub(super) fn pending(&mut self, block: &mut Block) -> bool {
        let Some((event, task, site, number)) = self.pending.take() else { return false };
        Assembler::push(block, event, task, site, u64::from(number));
        true
    }

    /// Takes the next event, whose target has this name, and appends it, or the end of a wait
    /// before it. Returns whether the next event of its thread matters as well.
    pub(super) fn push(&mut self, row: Row, target: &[u8], block: &mut Block) -> bool {
        let ((op, operand), task, site, _) = row;
        let wake = match self.waiters.remove(&task) {
            Some(Waiter { condition, stage: Stage::Taken(mode, site), .. }) => {
                self.leave(condition);
                let is_wake = op.kind() == EventKind::Wake && operand == condition;
                let wake = (Op::new(EventKind::Wake, mode), condition);
                // It has no line.
                (!is_wake).then_some((wake, task, site, 0))
            }
            Some(mut waiter) if *waiter.name == *target => {
                let stage = match (op.kind(), &waiter.stage) {
                    (EventKind::Request, _) => Some(Stage::Asks),
                    (EventKind::Acquire, Stage::Asks) => {
                        Some(Stage::Taken(self.woken(&waiter), site))
                    }
                    _ => None,
                };
                match stage {
                    Some(stage) => {
                        waiter.stage = stage;
                        self.waiters.insert(task, waiter);
                    }
                    None => self.leave(waiter.condition),
                }
                None
            }
            Some(waiter) => {
                self.leave(waiter.condition);
                None
            }
            None => None,
        };
        self.count(op, operand);
        if op.kind() == EventKind::Wait {
            self.wait(task, operand, target);
        }
        self.pending = wake.is_some().then_some(row);
        let (event, task, site, number) = wake.unwrap_or(row);
        Assembler::push(block, event, task, site, u64::from(number));
        self.waiters.contains_key(&task)
    }

    /// Returns whether no thread is in such a wait.
    pub(super) fn is_idle(&self) -> bool {
        self.waiters.is_empty()
    }

    /// Returns whether an event would get the end of a wait before it.
    pub(super) fn is_due(&self, (op, operand): (Op, u32), task: TaskId) -> bool {
        self.waiters.get(&task).is_some_and(|waiter| {
            let is_wake = op.kind() == EventKind::Wake && operand == waiter.condition;
            matches!(waiter.stage, Stage::Taken(..)) && !is_wake
        })
    }

    /// Counts signals, and the ends of waits that the trace has.
    fn count(&mut self, op: Op, condition: u32) {
        match op.kind() {
            EventKind::Signal => self.signals.entry(condition).or_default().open += 1,
            EventKind::Broadcast => self.signals.entry(condition).or_default().broadcasts += 1,
            EventKind::Wake if op.mode() == Mode::PLAIN => {
                let signals = self.signals.entry(condition).or_default();
                signals.open = signals.open.saturating_sub(1);
            }
            _ => {}
        }
    }

    fn wait(&mut self, task: TaskId, condition: u32, name: &[u8]) {
        let signals = self.signals.entry(condition).or_default();
        if signals.waiting == 0 {
            // Signals that came while nobody waited are lost.
            signals.open = 0;
        }
        signals.waiting += 1;
        let broadcasts = signals.broadcasts;
        let (name, stage) = (name.into(), Stage::Waits);
        self.waiters.insert(task, Waiter { condition, name, broadcasts, stage });
    }

    /// Notes that a thread waits no more.
    fn leave(&mut self, condition: u32) {
        let signals = self.signals.entry(condition).or_default();
        signals.waiting = signals.waiting.saturating_sub(1);
    }

    /// Returns how a wait ends: by a broadcast or a signal since, or because its time ran out.
    fn woken(&mut self, waiter: &Waiter) -> Mode {
        let signals = self.signals.entry(waiter.condition).or_default();
        if signals.broadcasts > waiter.broadcasts {
            return Mode::PLAIN;
        }
        match signals.open.checked_sub(1) {
            Some(left) => {
                signals.open = left;
                Mode::PLAIN
            }
            None => Mode::TIMEOUT,
        }
    }
}
