//! Reads whole traces, or streams those that exceed memory.

use crate::args::Global;
use crate::input::{self, Opened, PeekedInput, Watched};
use crate::watch::Watch;
use anyorder_drive::{Failure, TraceInput, observed};
use anyorder_finding::Input;
use anyorder_formats::detect::Format;
use anyorder_system::Control;
use anyorder_trace::{Block, Columns, Problems, ReadError, Tables, Trace, TraceSource};
use std::collections::VecDeque;
use std::path::Path;

/// The assumed memory per event in bytes, including everything that the analyses derive from it.
/// Used with a memory limit.
const BYTES_PER_EVENT: u64 = 160;

/// A trace in memory, and its input.
pub(crate) struct Read {
    pub(crate) trace: TraceInput,
    pub(crate) input: Input,
}

/// A loaded input.
pub(crate) enum Loaded {
    /// The trace is in memory.
    InMemory(Box<Read>),
    /// The trace is too long for memory.
    Streamed(Box<Stream>),
}

/// A trace whose first blocks were read.
pub(crate) struct Stream {
    peeked: VecDeque<Block>,
    opened: Opened,
    pub(crate) input: Input,
}

/// Reads a whole trace, checks that it is well-formed, and prints warnings.
pub(crate) fn read(
    path: &Path,
    peeked: PeekedInput,
    global: &Global,
    watch: &Watch,
) -> Result<Read, Failure> {
    let control = watch.control();
    control.progress.phase("reading");
    let mut opened = input::open_peeked(path, peeked, global)?;
    let trace = Trace::read(&mut Watched { opened: &mut opened, control: &control })
        .map_err(|error| Failure::trace(path, error))?;
    checked(path, trace, &opened, global, &control)
}

/// Reads a recorded run of at most `events_max` events into memory. Of a longer run, reads the
/// first blocks. The bound may depend on the tables read so far.
pub(crate) fn load(
    path: &Path,
    peeked: PeekedInput,
    events_max: &dyn Fn(&Tables) -> u64,
    global: &Global,
    watch: &Watch,
) -> Result<Loaded, Failure> {
    let control = watch.control();
    control.progress.phase("reading");
    let by_memory = control.limits.memory_bytes.map_or(u64::MAX, |bytes| bytes / BYTES_PER_EVENT);
    let most = by_memory.min(u64::from(u32::MAX) - 1);
    let name = path.to_string_lossy();
    let mut opened = input::open_peeked(path, peeked, global)?;
    let mut peeked = VecDeque::new();
    let (mut events, mut block) = (0_u64, Block::default());
    loop {
        let mut source = Watched { opened: &mut opened, control: &control };
        let more = source.next_block(&mut block);
        let more = more.map_err(|error| Failure::trace(path, error))?;
        observed(&name, opened.source.tables())?;
        if !more {
            break;
        }
        events += block.columns.len() as u64;
        peeked.push_back(std::mem::take(&mut block));
        if events > events_max(opened.source.tables()).min(most) {
            let input = Input::new(path, opened.format.word());
            return Ok(Loaded::Streamed(Box::new(Stream { peeked, opened, input })));
        }
    }
    let mut columns = Columns::default();
    for block in peeked {
        columns.append(&block.columns);
    }
    let trace = Trace::new(opened.source.take_tables(), columns);
    Ok(Loaded::InMemory(Box::new(checked(path, trace, &opened, global, &control)?)))
}

/// Checks that a trace is well-formed, and prints warnings.
fn checked(
    path: &Path,
    trace: Trace,
    opened: &Opened,
    global: &Global,
    control: &Control<'_>,
) -> Result<Read, Failure> {
    let problems = opened.source.problems();
    global.print_warnings(path, problems);
    let mut trace = TraceInput::new(path.to_string_lossy(), trace, problems, control)?;
    // A binary reader warns only about damaged files, and only with `--salvage`.
    trace.damaged = global.salvage && opened.format == Format::NativeBinary && !problems.is_empty();
    global.print_warnings(path, &trace.form);
    Ok(Read { trace, input: Input::new(path, opened.format.word()) })
}

impl Stream {
    /// Returns the trace as a source that ends early when the job is stopped.
    pub(crate) fn source<'a>(&'a mut self, control: &'a Control<'a>) -> impl TraceSource + 'a {
        Chained { peeked: &mut self.peeked, rest: Watched { opened: &mut self.opened, control } }
    }
}

/// Yields the blocks that were read, then the rest. Drops each block after yielding it.
struct Chained<'a> {
    peeked: &'a mut VecDeque<Block>,
    rest: Watched<'a, &'a mut Opened>,
}

impl TraceSource for Chained<'_> {
    fn tables(&self) -> &Tables {
        self.rest.tables()
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        match self.peeked.pop_front() {
            Some(peeked) => {
                *block = peeked;
                Ok(true)
            }
            None => self.rest.next_block(block),
        }
    }

    fn problems(&self) -> &Problems {
        self.rest.problems()
    }

    fn take_tables(&mut self) -> Tables {
        self.rest.take_tables()
    }
}
