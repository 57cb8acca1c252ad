//! Checks a recorded run of two threads. One finding is a race; the other is a prediction, with
//! another order of the same events that shows it.
//!
//! `cargo run -p anyorder-examples --bin races`

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example prints")]

use anyorder_drive::{CheckTraceOptions, JobControl, TraceInput, check_trace};
use anyorder_finding::run::Run;
use anyorder_formats::std::StdReader;
use anyorder_trace::{Trace, TraceSource};

/// A worker writes to a buffer, and a closer frees it. One lock guards both actions, and nothing
/// says which comes first. No lock guards `jobs`.
const RUN: &str = "\
main|alloc(0x1000+8)|pool.c:30
main|fork(worker)|pool.c:31
main|fork(closer)|pool.c:32
worker|acq(m)|pool.c:10
worker|w(0x1000+8)|pool.c:11
worker|rel(m)|pool.c:12
worker|w(jobs)|pool.c:13
closer|acq(m)|pool.c:20
closer|free(0x1000)|pool.c:21
closer|rel(m)|pool.c:22
closer|r(jobs)|pool.c:23
";

fn main() {
    // `Trace::read` returns an error for a malformed line. `TraceInput::new` returns one for a run
    // that cannot have happened.
    let control = JobControl::default();
    let mut reader = StdReader::new(RUN.as_bytes());
    let trace = Trace::read(&mut reader).expect("RUN is in STD");
    let input =
        TraceInput::new("RUN", trace, reader.problems(), &control).expect("RUN is well-formed");
    let result = check_trace(&input, &CheckTraceOptions::default(), &control)
        .expect("a recorded run can be checked");

    for reported in &result.findings {
        let finding = &reported.finding;
        println!("{} ({}): {}", finding.severity, finding.kind, finding.title);
        for site in &finding.sites {
            let access = site.access.as_deref().unwrap_or("event");
            println!("  {access} at {}", site.position().unwrap_or_default());
        }
        if let Some(run) = &reported.run {
            print_run(run);
        }
    }
}

/// Prints another order of the recorded events.
fn print_run(run: &Run) {
    println!("  this order of the events shows it:");
    for step in &run.steps {
        let number = step.number.as_deref().unwrap_or("");
        println!("    {number:>2} {:<8}{}", step.lane, step.title());
    }
    println!("  => {}", run.end);
}
