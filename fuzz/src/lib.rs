//! What every fuzz target checks: a reader ends, without a panic, and what it read is a trace that the lossless
//! formats keep.

use anyorder_formats::native_binary::{BinaryReader, BinaryWriter};
use anyorder_formats::native_text::{NativeTextReader, NativeTextWriter};
use anyorder_trace::{Block, Columns, Trace, TraceSink, TraceSource, wellformed};

pub mod answers;
pub mod bytecode;
pub mod frames;
pub mod predictions;
pub mod settings;
pub mod stored;
pub mod walk;

/// Reads a source to its end. `None` for one that fails, as most inputs do.
pub fn read(source: &mut dyn TraceSource) -> Option<Trace> {
    let mut block = Block::default();
    let mut columns = Columns::default();
    while source.next_block(&mut block).ok()? {
        assert!(!block.columns.is_empty() && block.columns.len() <= Block::EVENTS);
        assert_eq!(block.first, columns.len() as u64, "blocks follow each other");
        columns.append(&block.columns);
    }
    let _ = source.problems();
    Some(Trace::new(source.take_tables(), columns))
}

/// Reads a source and checks what comes of it.
pub fn check(source: &mut dyn TraceSource) -> Option<Trace> {
    let trace = read(source)?;
    let _ = wellformed::check(&trace);
    for event in trace.events() {
        let _ = (event.action(), trace.label(event.id), trace.handler_of(event.id));
    }
    keep(&trace);
    Some(trace)
}

/// Writes a trace in both lossless formats and compares what comes back.
fn keep(trace: &Trace) {
    let mut binary = Vec::new();
    let mut writer = BinaryWriter::new(&mut binary).expect("memory takes it");
    trace.write(&mut writer).expect("what was read can be written");
    let read =
        Trace::read(&mut BinaryReader::new(&binary[..])).expect("what was written can be read");
    assert!(read == *trace, "binary");
    let mut text = Vec::new();
    trace.write(&mut NativeTextWriter::new(&mut text)).expect("what was read can be written");
    let read = Trace::read(&mut NativeTextReader::new(&text[..]));
    let read =
        read.unwrap_or_else(|error| panic!("{error:?} in {}", String::from_utf8_lossy(&text)));
    assert!(read == *trace, "text: {}", String::from_utf8_lossy(&text));
}

/// Writes a trace in a format that cannot hold every trace, and returns what it wrote.
pub fn write(
    trace: &Trace,
    make: impl Fn(&mut Vec<u8>) -> Box<dyn TraceSink + '_>,
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    trace.write(&mut *make(&mut out)).ok()?;
    Some(out)
}
