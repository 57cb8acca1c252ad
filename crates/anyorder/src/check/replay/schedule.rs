//! Executions as short texts.
//!
//! `1:a3SbLa2M.dc41e` is version 1 of the format: thread `a`, the main one, performs 3 operations,
//! the last of which starts a thread (`S`); thread `b`, the first that was spawned, a load (`L`);
//! then `a` 2 operations, the last of which takes a lock (`M`). A number after the letter is the
//! way in which that operation was performed, if there are several: the number that was chosen, or
//! which of the waiting threads was notified. After the dot: how it failed, and 16 bits of a hash
//! of the words for it.
//!
//! Nothing in it depends on addresses, lines or the executions before. The letters of operations
//! tell early that a text no longer fits.

use anyorder_threads::{Act, Event, Op, SiteId, Step, ThreadId};
use rustc_hash::FxHashMap;
use std::fmt;
use std::str::FromStr;

/// The version of the format.
const VERSION: &str = "1:";

/// The most operations of one part: none is longer.
const COUNT_MAX: u32 = 1 << 30;

/// The most threads.
const THREADS_MAX: u32 = 1 << 20;

/// An execution up to its failure, by the threads that perform operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    pub(super) parts: Vec<Part>,
    pub(super) failure: Option<Signature>,
}

/// Operations of one thread, one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// 0 for the main thread, `k` for the `k`-th that was spawned in the execution.
    pub(super) thread: u32,
    /// How many. At least 1.
    pub(super) count: u32,
    /// What the last one is.
    pub(super) kind: char,
    /// The way of the last one. All before have 0.
    pub(super) alternative: u32,
}

/// How an execution failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) struct Signature {
    pub(in crate::check) class: char,
    pub(in crate::check) hash: u16,
}

/// Why a text is no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayError {
    /// The byte at which it is wrong.
    pub at: usize,
    /// What was expected there.
    pub expected: &'static str,
    /// What is there.
    pub found: String,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReplayError { at, expected, found } = self;
        match found.is_empty() {
            true => write!(f, "a replay string ends at byte {at}, expected {expected}"),
            false => write!(f, "a replay string has {found:?} at byte {at}, expected {expected}"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Returns the letter of an operation.
pub(in crate::check) const fn kind(act: &Act) -> char {
    match act {
        Act::Load(_) => 'L',
        Act::Store(..) => 'W',
        Act::Update { .. } => 'U',
        Act::Fence(_) => 'F',
        Act::Lock(..) => 'M',
        Act::Unlock(_) => 'N',
        Act::Convert { .. } | Act::Poison(_) | Act::IsPoisoned | Act::IsFree(_) => 'O',
        Act::Use | Act::Alter(_) | Act::Invoke(_) | Act::Return { .. } => 'D',
        Act::Access { .. } => 'A',
        Act::Wait { .. } => 'V',
        Act::Wake(_) => 'K',
        Act::Notify { .. } => 'Y',
        Act::Park(_) => 'P',
        Act::Unpark => 'Q',
        Act::Send(..) => 'T',
        Act::Receive(_) => 'R',
        Act::Senders(_) | Act::Receivers(_) => 'E',
        Act::Arrive | Act::Pass(_) => 'B',
        Act::Acquire(..) | Act::Release(_) | Act::Close => 'G',
        Act::Retain | Act::Drop | Act::Owners | Act::Upgrade | Act::TakeSole => 'C',
        Act::Spawn(_) => 'S',
        Act::Exit(_) => 'X',
        Act::Join | Act::IsFinished => 'J',
        Act::Choose(_) => 'I',
        Act::Await(_) | Act::Yield => 'Z',
        Act::Fail(_) => 'H',
    }
}

/// Returns what a letter stands for.
pub(in crate::check) fn kind_words(kind: char) -> &'static str {
    match kind {
        'L' => "load an atomic",
        'W' => "store to an atomic",
        'U' => "change an atomic",
        'F' => "pass a fence",
        'M' => "take a lock",
        'N' => "unlock",
        'O' => "convert, poison or look at a lock",
        'H' => "panic",
        'D' => "use locked data or a specified object",
        'A' => "access a cell",
        'V' => "begin to wait at a condvar",
        'K' => "be woken by a condvar",
        'Y' => "notify a condvar",
        'P' => "park",
        'Q' => "unpark",
        'T' => "send",
        'R' => "receive",
        'E' => "clone or drop an end of a channel",
        'B' => "arrive at or pass a barrier",
        'G' => "use a semaphore",
        'C' => "clone, drop or count an `Arc`",
        'S' => "spawn a thread",
        'X' => "end",
        'J' => "join a thread",
        'I' => "choose",
        'Z' => "give way in a loop",
        _ => "do something unknown",
    }
}

impl Schedule {
    /// Returns the schedule of events.
    pub(in crate::check) fn of(events: &[Event], failure: Option<Signature>) -> Schedule {
        let mut numbers: FxHashMap<ThreadId, u32> = FxHashMap::default();
        numbers.insert(ThreadId::MAIN, 0);
        let mut parts: Vec<Part> = Vec::new();
        for event in events {
            let Step { thread, alternative } = event.step;
            let thread = numbers.get(&thread).copied().unwrap_or(0);
            let kind = kind(&event.op.act);
            match parts.last_mut() {
                Some(last) if last.thread == thread && last.alternative == 0 => {
                    (last.count, last.kind, last.alternative) = (last.count + 1, kind, alternative);
                }
                _ => parts.push(Part { thread, count: 1, kind, alternative }),
            }
            if let Act::Spawn(child) = event.op.act {
                let number = numbers.len() as u32;
                numbers.insert(child, number);
            }
        }
        Schedule { parts, failure }
    }
}

/// Returns the schedule of operations with their results, in which the ends of threads are missing.
pub(in crate::check) fn of_log(log: &[(ThreadId, Op, u64)]) -> String {
    let mut events: Vec<Event> = Vec::with_capacity(log.len());
    let mut push = |thread: ThreadId, op: Op, result: u64| {
        let alternative = if matches!(op.act, Act::Choose(_)) { result as u32 } else { 0 };
        events.push(Event { step: Step { thread, alternative }, op, result, site: SiteId::NONE });
    };
    for (thread, op, result) in log {
        let is_end = matches!(op.act, Act::Join) || (op.act == Act::IsFinished && *result == 1);
        let child = log.iter().find_map(|(_, spawn, _)| match spawn.act {
            Act::Spawn(child) if is_end && spawn.object == op.object => Some(child),
            _ => None,
        });
        if let Some(child) = child {
            push(child, Op::new(op.object, Act::Exit(0)), 0);
        }
        push(*thread, op.clone(), *result);
    }
    Schedule::of(&events, None).to_string()
}

/// Returns the letters of a thread: `a` to `z`, `aa`, and so on.
pub(super) fn letters(thread: u32) -> String {
    let (mut left, mut letters) = (thread + 1, Vec::new());
    while left > 0 {
        letters.push(b'a' + ((left - 1) % 26) as u8);
        left = (left - 1) / 26;
    }
    letters.reverse();
    String::from_utf8(letters).unwrap_or_default()
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&letters(self.thread))?;
        if self.count != 1 {
            write!(f, "{}", self.count)?;
        }
        write!(f, "{}", self.kind)?;
        if self.alternative != 0 {
            write!(f, "{}", self.alternative)?;
        }
        Ok(())
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(VERSION)?;
        self.parts.iter().try_for_each(|part| write!(f, "{part}"))?;
        match self.failure {
            Some(Signature { class, hash }) => write!(f, ".{class}{hash:04x}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Schedule {
    type Err = ReplayError;

    fn from_str(text: &str) -> Result<Schedule, ReplayError> {
        let mut reader = Reader { text: text.trim(), at: 0 };
        if !reader.text.starts_with(VERSION) {
            return Err(reader.error("`1:`, the version of the format"));
        }
        reader.at = VERSION.len();
        let mut parts = Vec::new();
        while reader.peek().is_some_and(|c| c != '.') {
            parts.push(reader.part()?);
        }
        let failure = reader.signature()?;
        match reader.peek() {
            None => Ok(Schedule { parts, failure }),
            Some(_) => Err(reader.error("its end")),
        }
    }
}

/// Reads a text from left to right.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, is: impl Fn(char) -> bool) -> &str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn error(&self, expected: &'static str) -> ReplayError {
        let found: String = self.text[self.at..].chars().take(12).collect();
        ReplayError { at: self.at, expected, found }
    }

    fn number(&mut self, most: u32) -> Result<Option<u32>, ReplayError> {
        let before = self.at;
        let digits = self.take(|c| c.is_ascii_digit()).to_owned();
        if digits.is_empty() {
            return Ok(None);
        }
        let number = digits.parse().ok().filter(|number| *number > 0 && *number <= most);
        self.at = if number.is_some() { self.at } else { before };
        number.map(Some).ok_or_else(|| self.error("a number from 1 to 1073741824"))
    }

    fn part(&mut self) -> Result<Part, ReplayError> {
        let before = self.at;
        let letters = self.take(|c| c.is_ascii_lowercase()).to_owned();
        let thread = letters.bytes().try_fold(0_u32, |number, letter| {
            let number = number.checked_mul(26)?.checked_add(u32::from(letter - b'a') + 1)?;
            (number <= THREADS_MAX).then_some(number)
        });
        let Some(thread) = thread.and_then(|number| number.checked_sub(1)) else {
            self.at = before;
            return Err(self.error("a thread: `a`, `b`, ..."));
        };
        let count = self.number(COUNT_MAX)?.unwrap_or(1);
        let Some(kind) = self.peek().filter(char::is_ascii_uppercase) else {
            return Err(self.error("the letter of an operation: `A` to `Z`"));
        };
        self.at += 1;
        let alternative = self.number(COUNT_MAX)?.unwrap_or(0);
        Ok(Part { thread, count, kind, alternative })
    }

    fn signature(&mut self) -> Result<Option<Signature>, ReplayError> {
        if self.peek() != Some('.') {
            return Ok(None);
        }
        self.at += 1;
        let Some(class) = self.peek().filter(char::is_ascii_lowercase) else {
            return Err(self.error("the letter of a failure"));
        };
        self.at += 1;
        let before = self.at;
        let digits = self.take(|c| c.is_ascii_digit() || ('a'..='f').contains(&c)).to_owned();
        match u16::from_str_radix(&digits, 16) {
            Ok(hash) if digits.len() == 4 => Ok(Some(Signature { class, hash })),
            _ => {
                self.at = before;
                Err(self.error("four hexadecimal digits"))
            }
        }
    }
}
