//! What it costs to make a trace of a recording: events a second of each part.
//!
//! `RECORDINGS` has folders with recordings, separated by colons. A program records into one where
//! `LD_LIBRARY_PATH` has the runtime and `ANYORDER_RECORDING` is the folder. Each line is about the
//! first recording of a folder: its events, those of its trace, and the seconds of processor time
//! to read it, to pass over its threads once, to merge them, and to make the trace with all passes
//! that this takes, without names; and how many million events a second that is.

#![allow(clippy::print_stdout, reason = "a bench prints")]

use anyorder_native::merge::{Known, Merge, Slack};
use anyorder_native::recording::{Recording, kind};
use anyorder_native::{NoNames, Options, to_trace};
use std::path::Path;

fn main() {
    let folders = std::env::var("RECORDINGS").unwrap_or_default();
    for folder in folders.split(':').filter(|folder| !folder.is_empty()) {
        measure(Path::new(folder));
    }
}

/// Returns what a closure returns, and the seconds of processor time that it took.
fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let start = processor_time();
    let result = run();
    (result, processor_time() - start)
}

/// Returns the seconds that all threads of the process have run.
fn processor_time() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux");
    let times = tasks.filter_map(|task| {
        let path = task.ok()?.path().join("schedstat");
        let text = std::fs::read_to_string(path).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    times.sum::<f64>() / 1e9
}

fn measure(folder: &Path) {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "rec"))
        .collect();
    files.sort();
    let file = files.first().expect("a recording");
    let maps = std::fs::read(file.with_extension("maps")).unwrap_or_default();
    let events = std::fs::File::open(file).expect("a file");
    let (recording, reading) =
        timed(|| Recording::read(events, &maps, u64::MAX).expect("a recording"));
    let mut known = Known::default();
    let (count, passing) = timed(|| {
        let mut count = 0_u64;
        for lane in 0..recording.threads.len() {
            for event in recording.events(lane) {
                count += 1;
                if event.kind == kind::THREAD_CREATE {
                    known.created.insert(event.address as u32);
                }
            }
        }
        count
    });
    let threads = recording.threads.iter().enumerate();
    let threads = threads.map(|(lane, one)| (one.number, recording.events(lane))).collect();
    let merge = Merge::new(threads, known, Slack::default());
    let (merged, merging) = timed(|| merge.map(|step| step.event.time & 1).sum::<u64>());
    assert!(merged <= count);
    let (traced, making) = timed(|| {
        to_trace(&recording, &mut NoNames, &Options::default(), &mut || true).expect("a trace")
    });
    let speed = count as f64 / 1e6 / making;
    println!(
        "{}: {count} events, {} in the trace, {} private; read {reading:.2} s, pass {passing:.2} s, merge {merging:.2} s, all {making:.2} s: {speed:.1} million a second",
        folder.display(),
        traced.trace.len(),
        traced.stats.private,
    );
}
