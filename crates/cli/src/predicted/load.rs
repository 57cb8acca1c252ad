//! Reads a trace into memory as long as it fits; what does not goes on as a stream.

use crate::args::Global;
use crate::failure::{Failure, print_warnings};
use crate::ignored::{NotUnderstood, warnings_of};
use crate::input::{self, Begun, Opened, Watched};
use crate::watch::Watch;
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_commute::{Document, built_in_types};
use anyorder_finding::Warning;
use anyorder_predict::Types;
use anyorder_system::Control;
use anyorder_trace::detect::Format;
use anyorder_trace::{
    Block, Columns, Problems, ReadError, Tables, Trace, TraceOrder, TraceSource, wellformed,
};
use std::collections::VecDeque;
use std::path::Path;

/// The most bytes of a file of specifications.
const SPEC_BYTES_MAX: u64 = 1 << 24;

/// The bytes of memory that an event is taken to need, all told, where memory is limited.
const BYTES_PER_EVENT: u64 = 160;

/// What became of an input.
pub(crate) enum Loaded {
    /// It is in memory.
    Held(Box<Trace>),
    /// It is longer.
    Streamed(Box<Stream>),
}

/// A trace, of which the first blocks were read.
pub(crate) struct Stream {
    begun: VecDeque<Block>,
    opened: Opened,
}

/// A trace with what it was read from.
pub(crate) struct Input {
    pub(crate) loaded: Loaded,
    pub(crate) format: Format,
    /// Whether the file is damaged, and this is what stood before the damage.
    pub(crate) damaged: bool,
    /// What of it was not understood, and what is to be said of it in the result, where it is in
    /// memory.
    pub(crate) not_understood: NotUnderstood,
    pub(crate) warnings: Vec<Warning>,
}

/// Reads a trace of at most `events_max` events into memory, and of a longer one the beginning; the bound may depend on what the tables hold by
/// then. A trace that is held is
/// checked to be well-formed.
pub(crate) fn load(
    path: &Path,
    begun: Begun,
    events_max: &dyn Fn(&Tables) -> u64,
    global: &Global,
    watch: &Watch,
) -> Result<Input, Failure> {
    let control = watch.control();
    control.progress.phase("reading");
    let by_memory = control.limits.memory_bytes.map_or(u64::MAX, |bytes| bytes / BYTES_PER_EVENT);
    let most = by_memory.min(u64::from(u32::MAX) - 1);
    let mut opened = input::open_begun(path, begun, global)?;
    let format = opened.format;
    let mut blocks = VecDeque::new();
    let (mut events, mut block) = (0_u64, Block::default());
    let too_long = loop {
        let mut source = Watched { opened: &mut opened, control: &control };
        let more = source.next_block(&mut block);
        if !more.map_err(|error| Failure::input(path, &error))? {
            break false;
        }
        observed(path, opened.source.tables())?;
        events += block.columns.len() as u64;
        blocks.push_back(std::mem::take(&mut block));
        if events > events_max(opened.source.tables()).min(most) {
            break true;
        }
    };
    if too_long {
        let stream = Stream { begun: blocks, opened };
        return Ok(Input {
            loaded: Loaded::Streamed(Box::new(stream)),
            format,
            damaged: false,
            not_understood: NotUnderstood::default(),
            warnings: Vec::new(),
        });
    }
    observed(path, opened.source.tables())?;
    let binary = format == Format::NativeBinary;
    let damaged = global.salvage && binary && !opened.source.problems().is_empty();
    if !global.quiet {
        print_warnings(path, opened.source.problems());
    }
    let mut columns = Columns::default();
    for block in blocks {
        columns.append(&block.columns);
    }
    let trace = Trace::new(opened.source.take_tables(), columns);
    let mut form = Problems::default();
    if watch.stopped().is_none() {
        let problems = wellformed::check(&trace);
        if problems.errors_total > 0 {
            return Err(Failure::problems(path, &problems));
        }
        if !global.quiet {
            print_warnings(path, &problems);
        }
        form = problems;
    }
    let not_understood = NotUnderstood::of(&trace);
    let warnings = warnings_of(path, opened.source.problems(), &form, &not_understood);
    let loaded = Loaded::Held(Box::new(trace));
    Ok(Input { loaded, format, damaged, not_understood, warnings })
}

/// Refuses a trace whose order is not that of a run.
fn observed(path: &Path, tables: &Tables) -> Result<(), Failure> {
    if tables.meta.order == TraceOrder::Observed {
        return Ok(());
    }
    let what = "the order of its events is not the order in which they happened";
    let failure = Failure::new(format!("{}: {what}", shown(path)));
    Err(failure.with_hint("`anyorder consistency` reads partial traces"))
}

/// Reads the specifications that the types of a trace have: those of a file, and the built-in ones; and which objects are declared to be of
/// which type, as `NAME=TYPE`.
pub(crate) fn types_of(spec: Option<&Path>, objects: &[String]) -> Result<Types, Failure> {
    let document = match spec {
        None => Document::default(),
        Some(path) => {
            let text = input::begin(path)?.text(path, SPEC_BYTES_MAX)?;
            Document::parse(&text).map_err(|errors| {
                let text = |error| format!("{}:{}\n", shown(path), multiline(error));
                Failure::rendered(errors.0.iter().map(text).collect())
            })?
        }
    };
    let failed = |error| Failure::new(format!("the specifications cannot be used: {error}"));
    let mut types = Types::with(&document).map_err(failed)?;
    for declared in objects {
        let Some((object, type_name)) =
            declared.rsplit_once('=').filter(|parts| !parts.0.is_empty())
        else {
            let failure =
                Failure::new(format!("--object {}: expected NAME=TYPE", escape(declared)));
            return Err(failure.with_hint("such as `--object cart=set`"));
        };
        types.declare(object, type_name).map_err(|_| {
            let known: Vec<&str> = built_in_types().iter().map(|built_in| built_in.name).collect();
            let name = escape(type_name);
            Failure::new(format!("--object {}: there is no type `{name}`", escape(declared)))
                .with_hint(format!("built in are {}; `--spec` brings others", known.join(", ")))
        })?;
    }
    Ok(types)
}

/// Makes a message of several lines safe to print.
fn multiline(error: &anyorder_commute::SpecError) -> String {
    let text = error.to_string();
    let lines: Vec<String> = text.lines().map(|line| escape(line).into_owned()).collect();
    lines.join("\n")
}

impl Stream {
    /// Returns the tables as far as they are known.
    pub(crate) fn tables(&self) -> &Tables {
        self.opened.source.tables()
    }

    /// Returns the trace as a source that ends early when the job is stopped.
    pub(crate) fn source<'a>(&'a mut self, control: &'a Control<'a>) -> impl TraceSource + 'a {
        Chained { begun: &mut self.begun, rest: Watched { opened: &mut self.opened, control } }
    }
}

/// First the blocks that were read, then the rest. A block that was given away is forgotten.
struct Chained<'a> {
    begun: &'a mut VecDeque<Block>,
    rest: Watched<'a>,
}

impl TraceSource for Chained<'_> {
    fn tables(&self) -> &Tables {
        self.rest.tables()
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        match self.begun.pop_front() {
            Some(begun) => {
                *block = begun;
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
