//! RAPID's binary traces, `.data`: a header of 18 bytes and 8 bytes an event, big-endian.
//!
//! The header has the numbers of threads (16 bits), locks (32), variables (32) and events (64). An
//! event is a number of 64 bits, from the lowest: 10 of the thread, 4 of the operation, 34 of the
//! target, 15 of the site, one that is 0. Writers give locks and variables numbers of their own,
//! and may count more of them and of threads than there are, so only the number of events is
//! checked. `docs/formats/rapid-binary.md` has the operations.

use crate::fault::LineError;
use crate::std::{Assembler, Target};
use anyorder_trace::{
    Block, EventKind, LabelScheme, Mode, Op, Place, Problem, Problems, ReadError, TableFull,
    Tables, TraceSource,
};
use std::io::{self, Read};

/// The name of the format in errors and in [`Meta::origin`](anyorder_trace::Meta::origin).
const FORMAT: &str = "rapid-binary";

/// The bytes of the header, and of an event.
pub(crate) const HEADER_BYTES: usize = 18;
const EVENT_BYTES: usize = 8;

/// The bits of an event. Invariant: together with the sign they are 64.
const THREAD_BITS: u32 = 10;
const OP_BITS: u32 = 4;
const TARGET_BITS: u32 = 34;
const SITE_BITS: u32 = 15;
const _: () = assert!(THREAD_BITS + OP_BITS + TARGET_BITS + SITE_BITS + 1 == u64::BITS);

/// The operations by number, with the letter of the names of their targets.
const OPERATIONS: [(EventKind, Target, &str); 10] = [
    (EventKind::Acquire, Target::Lock, "L"),
    (EventKind::Release, Target::Lock, "L"),
    (EventKind::Read, Target::Access, "V"),
    (EventKind::Write, Target::Access, "V"),
    (EventKind::Fork, Target::Thread, "T"),
    (EventKind::Join, Target::Thread, "T"),
    (EventKind::Begin, Target::Nothing, ""),
    (EventKind::Exit, Target::Nothing, ""),
    (EventKind::Request, Target::Lock, "L"),
    (EventKind::Other, Target::Nothing, "branch"),
];

/// The parts of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Parts {
    thread: u64,
    op: u64,
    target: u64,
    site: u64,
}

impl Parts {
    fn of(event: u64) -> Parts {
        let part = |from: u32, bits: u32| event >> from & ((1 << bits) - 1);
        Parts {
            thread: part(0, THREAD_BITS),
            op: part(THREAD_BITS, OP_BITS),
            target: part(THREAD_BITS + OP_BITS, TARGET_BITS),
            site: part(THREAD_BITS + OP_BITS + TARGET_BITS, SITE_BITS),
        }
    }
}

/// The header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Header {
    events: u64,
}

impl Header {
    /// Reads a header, or says what is wrong with it, at which byte.
    fn of(bytes: &[u8; HEADER_BYTES]) -> Result<Header, (u64, &'static str)> {
        // Where the counts of threads, locks, variables and events begin.
        if let Some(at) = [0, 2, 6, 10].into_iter().find(|at| bytes[*at] >> 7 == 1) {
            return Err((at as u64, "expected a count without a sign"));
        }
        let events = bytes[10..].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Ok(Header { events })
    }
}

/// No trace has more events.
const EVENTS_MAX: u64 = 1 << 48;

/// Returns whether the beginning of an input may be such a trace: a header that counts threads, no
/// more than an event can name, and events, and then only what may be events.
pub(crate) fn looks_like_rapid_binary(head: &[u8]) -> bool {
    let Some((header, rest)) = head.split_first_chunk::<HEADER_BYTES>() else { return false };
    let threads = u16::from_be_bytes([header[0], header[1]]);
    let has_threads = (1..=1 << THREAD_BITS).contains(&threads);
    // A text would count far more.
    let counts = 1..=EVENTS_MAX;
    let is_header =
        has_threads && Header::of(header).is_ok_and(|header| counts.contains(&header.events));
    let mut events = rest.chunks_exact(EVENT_BYTES);
    let fits = |event: &[u8]| {
        let event = event.iter().fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        event >> 63 == 0 && Parts::of(event).op < OPERATIONS.len() as u64
    };
    is_header && rest.len() >= EVENT_BYTES && events.all(fits)
}

/// Reads a binary trace of RAPID, as a stream. The input needs no buffer of its own.
///
/// Events are named by their positions, from 1; threads, locks and variables are `T0`, `L0`, `V0`.
/// Events that cannot be are listed, and make the reading fail at its end. Memory depends on the
/// distinct threads, locks, variables and sites, not on what the header says.
#[derive(Debug)]
pub struct RapidBinaryReader<R> {
    input: R,
    header: Option<Header>,
    /// The number of events of the input so far, and of those in blocks.
    events: u64,
    given: u64,
    trace: Assembler,
    problems: Problems,
    /// Space for a piece of the input.
    piece: Vec<u8>,
    ended: bool,
}

/// The events in a piece of the input.
const PIECE_EVENTS: usize = 1 << 12;

impl<R: Read> RapidBinaryReader<R> {
    /// Starts to read.
    pub fn new(input: R) -> RapidBinaryReader<R> {
        RapidBinaryReader {
            input,
            header: None,
            events: 0,
            given: 0,
            trace: Assembler::new(FORMAT, LabelScheme::Position),
            problems: Problems::default(),
            piece: Vec::new(),
            ended: false,
        }
    }

    fn wrong(&mut self, offset: u64, event: Option<u64>, message: impl Into<String>) {
        let place = Place { offset: Some(offset), event, ..Place::default() };
        self.problems.push(Problem::error(place, message));
    }

    /// Returns the byte at which the next event begins.
    fn offset(&self) -> u64 {
        HEADER_BYTES as u64 + EVENT_BYTES as u64 * self.events
    }

    /// Returns the number of events that the header says.
    fn total(&mut self) -> io::Result<u64> {
        if let Some(header) = self.header {
            return Ok(header.events);
        }
        let mut bytes = [0; HEADER_BYTES];
        let count = fill(&mut self.input, &mut bytes)?;
        let header = match count == HEADER_BYTES {
            true => Header::of(&bytes),
            false => Err((count as u64, "expected a header of 18 bytes, found the end")),
        };
        let header = header.unwrap_or_else(|(offset, message)| {
            self.wrong(offset, None, message);
            self.ended = true;
            Header { events: 0 }
        });
        self.header = Some(header);
        Ok(header.events)
    }

    /// Reads the next piece of the input, and appends its events.
    fn next_piece(&mut self, block: &mut Block) -> Result<(), ReadError> {
        let total = self.total()?;
        if self.ended {
            return Ok(());
        }
        let left = usize::try_from(total - self.events).unwrap_or(usize::MAX);
        let free = Block::EVENTS.saturating_sub(block.columns.len());
        let wanted = left.min(free).min(PIECE_EVENTS);
        // One byte behind the last event would be too much.
        let bytes = if left == 0 { 1 } else { wanted * EVENT_BYTES };
        let mut piece = std::mem::take(&mut self.piece);
        piece.resize(bytes, 0);
        let count = fill(&mut self.input, &mut piece)?;
        if left == 0 {
            self.ended = true;
            if count > 0 {
                let what = format!("expected the end after {total} events, as the header says");
                self.wrong(self.offset(), None, what);
            }
        } else {
            let (events, rest) = piece[..count].as_chunks::<EVENT_BYTES>();
            for event in events {
                self.event(u64::from_be_bytes(*event), block)?;
            }
            if count < bytes {
                self.ended = true;
                let end = self.offset() + rest.len() as u64;
                let events = self.events;
                let what = format!(
                    "expected {total} events, as the header says, found the end after {events}"
                );
                self.wrong(end, None, what);
            }
        }
        self.piece = piece;
        Ok(())
    }

    /// Appends an event, or lists what is wrong with it.
    fn event(&mut self, event: u64, block: &mut Block) -> Result<(), TableFull> {
        let (at, number) = (self.offset(), self.events);
        self.events += 1;
        let parts = Parts::of(event);
        if event >> 63 == 1 {
            self.wrong(at, Some(number), "expected 0 as the highest bit of an event");
            return Ok(());
        }
        let Some((kind, target, letter)) = OPERATIONS.get(parts.op as usize).copied() else {
            let message = format!("operation {}, expected 0 to 9", parts.op);
            self.wrong(at, Some(number), message);
            return Ok(());
        };
        let trace = &mut self.trace;
        let named = |letter: &str, number: u64| format!("{letter}{number}");
        let full = |error: LineError| match error {
            LineError::Full(full) => full,
            // The names are ours, and right.
            LineError::Fault(_) => TableFull("names"),
        };
        let task = trace.task(named("T", parts.thread).as_bytes(), 0).map_err(full)?;
        let site = trace.site(named("", parts.site).as_bytes(), 0).map_err(full)?;
        let operand = match kind {
            EventKind::Other => trace.other(letter.as_bytes(), 0),
            _ => trace.operand(target, named(letter, parts.target).as_bytes(), 0),
        };
        let operand = operand.map_err(full)?;
        block.columns.push(Op::new(kind, Mode::PLAIN), task, operand, site);
        Ok(())
    }
}

impl<R: Read> TraceSource for RapidBinaryReader<R> {
    fn tables(&self) -> &Tables {
        self.trace.tables()
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        block.columns.clear();
        block.first = self.given;
        while !self.ended && block.columns.len() < Block::EVENTS {
            self.next_piece(block)?;
            // After an error nobody gets events, but the rest is still searched for problems.
            if self.problems.errors_total > 0 {
                block.columns.clear();
            }
        }
        if self.problems.errors_total > 0 {
            let problems = self.problems.clone();
            return Err(ReadError::Malformed { format: FORMAT, problems });
        }
        self.given += block.columns.len() as u64;
        Ok(!block.columns.is_empty())
    }

    fn problems(&self) -> &Problems {
        &self.problems
    }

    fn take_tables(&mut self) -> Tables {
        self.trace.take_tables()
    }
}

/// Reads until a buffer is full or the input ends. Returns the number of bytes read.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match input.read(&mut buffer[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}
