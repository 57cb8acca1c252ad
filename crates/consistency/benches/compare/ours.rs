//! Times of our own solver.

use anyorder_consistency::{
    Answer, ConsistencyStats, Effort, FromTrace, MailboxRule, PartialTrace, Procedure,
};
use anyorder_formats::edtrace::{EdtraceReader, EdtraceWriter};
use anyorder_system::{Cancel, Control, StopReason};
use anyorder_trace::Trace;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// With this option the program decides one file and ends.
pub(crate) const ONCE: &str = "--once";

/// Runs of one trace are repeated until their total reaches this.
const ENOUGH: Duration = Duration::from_millis(500);

/// One answer and its time.
pub(crate) struct Decided {
    pub(crate) answer: &'static str,
    /// The best time of the solver alone, from the partial trace to the answer.
    pub(crate) solve: Duration,
    /// The processor time of the run with the best time, if the system reports it.
    pub(crate) busy: Option<Duration>,
    pub(crate) stats: ConsistencyStats,
}

/// Removes the orders of messages from a trace with FIFO mailboxes.
pub(crate) fn partial(trace: &Trace, mailboxes: MailboxRule) -> PartialTrace {
    let options = FromTrace { mailboxes, infer_coherence: false };
    PartialTrace::from_trace(trace, &options).expect("a trace of messages").0
}

/// Decides once; stops at a limit.
pub(crate) fn decide(partial: &PartialTrace, limit: Option<Duration>) -> Decided {
    let cancel = Cancel::new();
    if let Some(limit) = limit {
        let cancel = cancel.clone();
        std::thread::spawn(move || {
            std::thread::sleep(limit);
            cancel.stop(StopReason::TimeLimit);
        });
    }
    let control = Control { cancel, ..Control::default() };
    let (begin, begin_busy) = (Instant::now(), processor_time());
    let outcome = Procedure::Solver
        .decide(partial, Effort::default(), &control)
        .expect("the solver takes all traces");
    let solve = begin.elapsed();
    let busy = processor_time().zip(begin_busy).map(|(end, begin)| end - begin);
    let answer = match outcome.answer {
        Answer::Consistent(_) => "consistent",
        Answer::Inconsistent(_) => "inconsistent",
        Answer::Unknown(_) => "unknown",
    };
    Decided { answer, solve, busy, stats: outcome.stats }
}

/// Decides several times, and returns the best.
pub(crate) fn best(partial: &PartialTrace, runs: u32) -> Decided {
    let begin = Instant::now();
    let mut best = decide(partial, None);
    for _ in 1..runs {
        if begin.elapsed() > ENOUGH {
            break;
        }
        let next = decide(partial, None);
        assert_eq!(next.answer, best.answer, "two runs disagree");
        if next.solve < best.solve {
            best = next;
        }
    }
    best
}

/// Writes a trace to a file of the `edtrace` format.
pub(crate) fn write(trace: &Trace, name: &str, folder: &Path) -> PathBuf {
    let path = folder.join(format!("{name}.edt"));
    let mut out = BufWriter::new(File::create(&path).expect("a new file"));
    trace.write(&mut EdtraceWriter::new(&mut out)).expect("a trace that can be written");
    out.flush().expect("room for the trace");
    path
}

/// The cost of one process that decides one file.
pub(crate) struct Process {
    /// From its start to its end.
    pub(crate) whole: Duration,
    /// The solver alone.
    pub(crate) solve: Duration,
    /// Peak resident memory, in KiB; 0 if the system does not report it.
    pub(crate) peak_kib: u64,
}

/// Decides a file in a separate process.
pub(crate) fn process(path: &Path) -> Process {
    let program = std::env::current_exe().expect("the path of this program");
    let begin = Instant::now();
    let output = Command::new(program).arg(ONCE).arg(path).output().expect("a process");
    let whole = begin.elapsed();
    assert!(output.status.success(), "deciding {} failed", path.display());
    let text = String::from_utf8(output.stdout).expect("text");
    let mut numbers = text.split_whitespace().map(|word| word.parse().expect("a number"));
    let solve = Duration::from_micros(numbers.next().expect("a time"));
    Process { whole, solve, peak_kib: numbers.next().expect("a size") }
}

/// Reads a file, decides it, and prints microseconds and KiB: the child of [`process`].
pub(crate) fn once(path: &Path) {
    let input = BufReader::with_capacity(1 << 16, File::open(path).expect("a file"));
    let trace = Trace::read(&mut EdtraceReader::new(input)).expect("a trace");
    let partial = partial(&trace, MailboxRule::Fifo);
    drop(trace);
    let decided = decide(&partial, None);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap_or("0");
    println!("{} {peak}", decided.solve.as_micros());
}

/// Returns the processor time of this thread, if the system reports it.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
