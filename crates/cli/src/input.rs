//! Opens inputs: recognises their format, finds the table of sites, and reports errors with hints.

use crate::args::Global;
use crate::failure::{note, warn};
pub(crate) use crate::reading::SCHEDULE_BYTES_MAX;
use crate::reading::{MODEL, SITES, ask, failed, failed_to_read};
use anyorder_common::files::{self, FileKind, Source, read_rest};
use anyorder_common::text::shown;
use anyorder_drive::home_assistant::is_home_file;
use anyorder_drive::model::{Model, is_model, model_text};
use anyorder_drive::page::is_page;
use anyorder_drive::{Content, Failure, Unusable};
use anyorder_formats::detect::{DetectError, Format, HEAD_BYTES, detect};
use anyorder_formats::open::{OpenOptions, open as open_format};
use anyorder_system::{Control, JobWatch};
use anyorder_trace::{Block, Problems, ReadError, Tables, TraceSource};
use std::borrow::BorrowMut;
use std::cell::Cell;
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An open trace.
pub(crate) struct Opened {
    pub(crate) source: Box<dyn TraceSource>,
    pub(crate) format: Format,
    /// The size of the file; `None` for pipes and devices.
    pub(crate) size: Option<u64>,
    consumed: Rc<Cell<u64>>,
}

impl Opened {
    /// Returns the number of bytes read, and the size of the file.
    pub(crate) fn progress(&self) -> (u64, Option<u64>) {
        (self.consumed.get(), self.size)
    }
}

/// The size of the buffer of a large input.
const BUFFER_BYTES: u64 = 1 << 18;

/// An open input whose beginning was read, to recognise its format.
pub(crate) struct PeekedInput {
    head: Vec<u8>,
    rest: BufReader<Counted>,
    size: Option<u64>,
    consumed: Rc<Cell<u64>>,
}

impl PeekedInput {
    /// Returns whether it can be opened again, as a pipe or a device cannot.
    pub(crate) fn is_file(&self) -> bool {
        self.size.is_some()
    }

    /// Returns whether it begins like a model. With `--input-format` it never does.
    pub(crate) fn is_model(&self, global: &Global) -> bool {
        global.input_format.is_none() && is_model(&self.head)
    }

    /// Returns whether it begins like a schedule: a JSON object with the key `schedule`.
    pub(crate) fn is_schedule(&self, global: &Global) -> bool {
        let key = b"\"schedule\"";
        global.input_format.is_none()
            && self.is_json()
            && self.head.windows(key.len()).any(|window| window == key)
    }

    /// Returns whether it begins like an HTML page.
    pub(crate) fn is_page(&self) -> bool {
        is_page(&self.head)
    }

    /// Returns whether it begins like a configuration of Home Assistant.
    pub(crate) fn is_home(&self, global: &Global) -> bool {
        let other = global.input_format.is_some() || self.is_json() || is_model(&self.head);
        !other && detect(&self.head).is_err() && is_home_file(&self.head)
    }

    /// Returns whether it begins like the archive of a browser (HAR): a JSON object with the keys
    /// `log` and `creator`, which has nothing that a result has.
    pub(crate) fn is_archive(&self) -> bool {
        let has = |key: &[u8]| self.head.windows(key.len()).any(|window| window == key);
        self.is_json()
            && has(b"\"log\"")
            && (has(b"\"creator\"") || has(b"\"entries\""))
            && !has(b"\"schedule\"")
    }

    /// Returns the trace format of the input, given or recognised.
    pub(crate) fn trace_format(&self, global: &Global) -> Option<Format> {
        if self.is_json() || self.is_model(global) {
            return None;
        }
        global.input_format.or_else(|| detect(&self.head).ok())
    }

    /// Returns whether it begins like a JSON object.
    pub(crate) fn is_json(&self) -> bool {
        let head = self.head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.head).trim_ascii_start();
        head.first() == Some(&b'{')
    }

    /// Reads the rest, up to `most` bytes in all, as text.
    pub(crate) fn text(self, path: &Path, most: u64) -> Result<String, Failure> {
        let not_json = |_| Unusable::NotUtf8 { line: None, expected: "JSON" };
        String::from_utf8(self.bytes(path, most)?)
            .map_err(|error| Failure::input(path, not_json(error)))
    }

    /// Reads the rest as the text of a model.
    pub(crate) fn model_text(self, path: &Path) -> Result<String, Failure> {
        model_text(path, self.bytes_of(path, MODEL)?)
    }

    /// Reads the rest of a schedule or a result, up to `most` bytes in all.
    pub(crate) fn bytes(self, path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
        self.bytes_of(path, FileKind { name: "a schedule or a result", bytes_max: most })
    }

    /// Reads the rest of a file of some kind.
    pub(crate) fn bytes_of(self, path: &Path, kind: FileKind) -> Result<Vec<u8>, Failure> {
        read_rest(self.rest, self.head, kind, ask).map_err(|error| failed(path, kind, error))
    }
}

/// Opens an input, a file, a pipe, a device, or `-` for standard input, and reads its beginning.
pub(crate) fn peek(path: &Path) -> Result<PeekedInput, Failure> {
    let failed = |error: io::Error| failed_to_read(path, error);
    let (input, size): (Box<dyn Read>, Option<u64>) = if path == Path::new("-") {
        note_terminal();
        let source = Source::standard_input(ask).map_err(failed)?;
        (Box::new(StandardInput { source, ended: false }), None)
    } else {
        let source = Source::open(path, ask).map_err(failed)?;
        let size = source.size();
        (Box::new(source), size)
    };
    let consumed = Rc::new(Cell::new(0));
    let counted = Counted { inner: input, consumed: Rc::clone(&consumed) };
    // Many small inputs may be open at once.
    let capacity = size.map_or(BUFFER_BYTES, |size| size.clamp(1 << 12, BUFFER_BYTES));
    let mut rest = BufReader::with_capacity(capacity as usize, counted);
    let mut head = Vec::new();
    rest.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(failed)?;
    Ok(PeekedInput { head, rest, size, consumed })
}

/// Opens all inputs.
pub(crate) fn peek_all(paths: &[PathBuf]) -> Result<Vec<(PathBuf, PeekedInput)>, Failure> {
    let one = |path: &PathBuf| {
        ask().map_err(|error| failed_to_read(path, error))?;
        Ok((path.clone(), peek(path)?))
    };
    paths.iter().map(one).collect()
}

/// Reads and compiles a model; `-` is standard input.
pub(crate) fn load_model(path: &Path) -> Result<Model, Failure> {
    let text = read_model(path)?;
    expect_model(path, text.as_bytes())?;
    Model::compile(&path.to_string_lossy(), &text)
}

/// Reads the text of a model.
pub(crate) fn read_model(path: &Path) -> Result<String, Failure> {
    let peeked = peek(path)?;
    let head = peeked.head.clone();
    // For a file of another kind, report the kind instead of the first wrong byte.
    peeked.model_text(path).map_err(|failure| expect_model(path, &head).err().unwrap_or(failure))
}

/// Rejects an input that is recognisably not a model, with a hint to the command that reads it.
fn expect_model(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_model(bytes) {
        return Ok(());
    }
    let found = match detect(bytes) {
        Ok(format) => Content::Trace(Some(format)),
        Err(DetectError::Foreign(foreign)) => Content::Foreign(*foreign),
        Err(_) => return Ok(()),
    };
    Err(Failure::input(path, Unusable::OtherKind { found, expected: Content::Model }))
}

/// Prints a note if standard input is a terminal, because the command waits for input.
fn note_terminal() {
    if io::stdin().is_terminal() {
        // Set before the note: the user may interrupt as soon as it appears.
        AWAITS_TERMINAL.store(true, Ordering::SeqCst);
        note("reading from the terminal; Ctrl-D ends the input, Ctrl-C the command");
    }
}

/// Whether the command waits for terminal input.
static AWAITS_TERMINAL: AtomicBool = AtomicBool::new(false);

/// Returns whether the command waits for terminal input. An interrupt then loses no results.
pub(crate) fn awaits_terminal() -> bool {
    AWAITS_TERMINAL.load(Ordering::SeqCst)
}

/// Standard input that ends once. At the end of terminal input it clears [`AWAITS_TERMINAL`], and
/// later reads return nothing without asking the terminal again.
struct StandardInput {
    source: Source,
    ended: bool,
}

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(0);
        }
        let read = self.source.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.ended = true;
            AWAITS_TERMINAL.store(false, Ordering::SeqCst);
        }
        Ok(read)
    }
}

/// Opens a trace.
pub(crate) fn open(path: &Path, global: &Global) -> Result<Opened, Failure> {
    open_peeked(path, peek(path)?, global)
}

/// Opens a trace whose beginning was read.
pub(crate) fn open_peeked(
    path: &Path,
    peeked: PeekedInput,
    global: &Global,
) -> Result<Opened, Failure> {
    let PeekedInput { head, rest, size, consumed } = peeked;
    let format = recognise(path, &head, global)?;
    let input = io::Cursor::new(head).chain(rest);
    let options = OpenOptions {
        infer_coherence: global.infer_co,
        salvage: global.salvage,
        sites: sites(path, format, global)?,
    };
    let opened = open_format(format, Box::new(input), &options);
    let source = opened.map_err(|error| Failure::trace(path, error))?;
    Ok(Opened { source, format, size, consumed })
}

fn recognise(path: &Path, head: &[u8], global: &Global) -> Result<Format, Failure> {
    match (global.input_format, detect(head)) {
        // An empty input is not a trace in any format.
        (_, Err(error @ DetectError::Empty)) => Err(Failure::input(path, Unusable::Format(error))),
        (Some(format), _) | (None, Ok(format)) => Ok(format),
        (None, Err(_)) if is_model(head) => {
            let (found, expected) = (Content::Model, Content::Trace(None));
            Err(Failure::input(path, Unusable::OtherKind { found, expected }))
        }
        (None, Err(error)) => Err(Failure::input(path, Unusable::Format(error))),
    }
}

/// Returns the table of sites of an STD trace: the given file, else a valid `sites.tsv` next to the
/// trace.
fn sites(path: &Path, format: Format, global: &Global) -> Result<Option<String>, Failure> {
    if format != Format::Std {
        if global.sites.is_some() {
            warn(&format!(
                "{}: `--sites` is for STD traces, this is {}",
                shown(path),
                format.title()
            ));
        }
        return Ok(None);
    }
    let (table, bytes) = match &global.sites {
        Some(table) => {
            let bytes = files::read(table, SITES, ask);
            (table.clone(), bytes.map_err(|error| failed(table, SITES, error))?)
        }
        None => match default_sites(path) {
            Some(found) => found,
            None => return Ok(None),
        },
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let options = OpenOptions { sites: Some(text), ..OpenOptions::default() };
    match open_format(Format::Std, Box::new(io::empty()), &options) {
        Ok(_) => Ok(options.sites),
        Err(error) if global.sites.is_some() => Err(Failure::trace(&table, error)),
        Err(_) => {
            warn(&format!("{} is not a table of sites and was ignored", shown(&table)));
            Ok(None)
        }
    }
}

/// Reads the file `sites.tsv` next to a trace. One that cannot be read is ignored, with a warning.
fn default_sites(path: &Path) -> Option<(PathBuf, Vec<u8>)> {
    if path == Path::new("-") {
        return None;
    }
    let table = path.with_file_name("sites.tsv");
    match files::read_found(&table, SITES, ask) {
        Ok(bytes) => Some((table, bytes?)),
        Err(error) => {
            warn(&format!("{}; it was ignored", failed(&table, SITES, error)));
            None
        }
    }
}

/// A reader that counts its bytes.
struct Counted {
    inner: Box<dyn Read>,
    consumed: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A block may need many reads: of an input without events it needs all.
        JobWatch::current().check().map_err(io::Error::other)?;
        let read = self.inner.read(buffer)?;
        self.consumed.set(self.consumed.get() + read as u64);
        Ok(read)
    }
}

/// A source that ends early when the job is stopped, and reports progress.
pub(crate) struct Watched<'a, O> {
    pub(crate) opened: O,
    pub(crate) control: &'a Control<'a>,
}

impl<O: BorrowMut<Opened>> TraceSource for Watched<'_, O> {
    fn tables(&self) -> &Tables {
        self.opened.borrow().source.tables()
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        let opened = self.opened.borrow_mut();
        let (done, total) = opened.progress();
        if self.control.step(done, total).is_err() {
            block.columns.clear();
            return Ok(false);
        }
        let watched = JobWatch::of(self.control).enter();
        let read = opened.source.next_block(block);
        drop(watched);
        if read.is_err() && self.control.check().is_err() {
            block.columns.clear();
            return Ok(false);
        }
        read
    }

    fn problems(&self) -> &Problems {
        self.opened.borrow().source.problems()
    }

    fn take_tables(&mut self) -> Tables {
        self.opened.borrow_mut().source.take_tables()
    }
}
