//! Writes the result in place of the job. This thread may block on a pipe that nobody reads; the
//! guard does not wait for it.

use super::draft::{Cut, Draft, Said};
use super::{Cause, poll};
use crate::args::OutputFormat;
use crate::bugs;
use crate::commands::{render_cut, write_page};
use crate::failure::{Failure, JobFailure};
use crate::output::to_file;
use crate::phase::claim;
use anyorder_common::files::{end_files, remove_unfinished};
use anyorder_common::text::shown;
use anyorder_drive::explore::end_programs;
use anyorder_finding::{exit, exit_code};
use anyorder_process::{end_at_once, exempt_this_thread};
use anyorder_system::StopReason;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long cleaning up may take.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// What the guard asks of the writer. The writer ends the process after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// Write the result so far.
    Document(Cause),
    /// Say that the output was cut: the job had begun to write it.
    CutOutput(Cause),
    /// Clean up only, and end with a status.
    End(u8),
}

/// The streams of the process, without the locks that a thread of the job may hold for ever.
struct Streams {
    out: Option<File>,
    err: Option<File>,
}

/// Starts the writer. It waits for one order.
pub(super) fn start(draft: Arc<Draft>, quiet: bool) -> std::io::Result<Sender<Order>> {
    let (give, orders) = channel();
    let streams = Streams::open();
    thread::Builder::new().name("writer".to_owned()).spawn(move || {
        exempt_this_thread();
        obey(&draft, quiet, streams, &orders);
    })?;
    Ok(give)
}

fn obey(draft: &Draft, quiet: bool, mut streams: Streams, orders: &Receiver<Order>) {
    // Without a guard there is nothing to do.
    let Ok(order) = orders.recv() else { return };
    clean_up();
    let status = match order {
        Order::End(status) => status,
        Order::CutOutput(cause) => {
            streams.say("error", &format!("{cause}: the output was cut"));
            if poll::status() == exit::FINDINGS { exit::FINDINGS } else { exit::LIMIT }
        }
        Order::Document(cause) => match draft.cut(cause, late(cause)) {
            Some(cut) => document(&cut, cause, quiet, &mut streams),
            None => match draft.last_words(cause) {
                Some(said) => last_words(&said, cause, &mut streams),
                None => {
                    streams.say("error", &format!("{cause}: nothing was written"));
                    exit::LIMIT
                }
            },
        },
    };
    // Threads of the job may have begun files since.
    end_files();
    end_at_once(i32::from(status));
}

/// Prints what a command without a result document had decided. Returns the exit status.
fn last_words(said: &Said, cause: Cause, streams: &mut Streams) -> u8 {
    poll::set_status(said.status);
    let written = match (&said.file, &mut streams.out) {
        (Some(path), _) => to_file(path, |out| out.write_all(&said.bytes)),
        (None, Some(out)) => written_to(out, &said.bytes),
        (None, None) => written_to(&mut std::io::stdout(), &said.bytes),
    };
    match written {
        Ok(()) => streams.say("warning", &late(cause)),
        Err(failure) => {
            streams.fail(&failure);
        }
    }
    said.status
}

fn written_to(out: &mut dyn Write, bytes: &[u8]) -> Result<(), Failure> {
    Ok(out.write_all(bytes).map_err(|error| JobFailure::writing("stdout", error))?)
}

/// Says that the guard ended the job.
fn late(cause: Cause) -> String {
    match cause {
        Cause::OutOfMemory => format!("{cause}: this is what the job had found"),
        _ => format!("{cause}, and the job did not stop in time: this is what it had found"),
    }
}

/// Prints what a command has found when a limit ended it before its end, as `failure` says. Returns
/// its status; `None` for a command without a result document.
pub(crate) fn print_cut(draft: &Draft, failure: &Failure, reason: StopReason) -> Option<u8> {
    let cut = draft.cut(Cause::Stop(reason), failure.line())?;
    bugs::none_in(&cut.outcome);
    claim();
    let status = exit_code(&cut.outcome, &cut.document.policy);
    poll::set_status(status);
    render_cut(&cut.document, &cut.outcome, &cut.runs, None).ok()?;
    if let Some(folder) = &cut.document.out.report
        && let Ok(page) = write_page(&cut, folder)
    {
        Streams { out: None, err: None }.page(&cut, &page);
    }
    Some(status)
}

/// Removes unfinished files and ends child programs. A thread of the job may hold their locks for
/// ever, so this waits for a while only.
pub(super) fn clean_up() {
    let cleaning = thread::Builder::new().spawn(|| {
        exempt_this_thread();
        remove_unfinished();
        end_programs();
    });
    let start = Instant::now();
    while cleaning.as_ref().is_ok_and(|thread| !thread.is_finished()) && start.elapsed() < PATIENCE
    {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Writes a result. Returns the exit status.
fn document(cut: &Cut, cause: Cause, quiet: bool, streams: &mut Streams) -> u8 {
    let status = exit_code(&cut.outcome, &cut.document.policy);
    poll::set_status(status);
    let out = streams.out.as_mut().map(|out| out as &mut dyn Write);
    if let Err(failure) = render_cut(&cut.document, &cut.outcome, &cut.runs, out) {
        streams.fail(&failure);
        return exit::LIMIT;
    }
    poll::set_written();
    if let Some(folder) = &cut.document.out.report
        && cause == Cause::OutOfMemory
    {
        // A page needs memory, too.
        streams.say("error", &format!("{cause}: no report was written to {}", shown(folder)));
    } else if let Some(folder) = &cut.document.out.report {
        // The result is out, so this may take what time is left.
        match write_page(cut, folder) {
            Ok(page) => streams.page(cut, &page),
            Err(failure) => streams.fail(&failure),
        }
    }
    if !quiet && let Some(warning) = cut.outcome.warnings.last() {
        streams.say("warning", &warning.text);
    }
    status
}

impl Streams {
    fn open() -> Streams {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let copy = |stream: std::os::fd::BorrowedFd<'_>| {
                Some(File::from(stream.try_clone_to_owned().ok()?))
            };
            Streams { out: copy(std::io::stdout().as_fd()), err: copy(std::io::stderr().as_fd()) }
        }
        #[cfg(not(unix))]
        Streams { out: None, err: None }
    }

    /// Names the page of the report, as the command does.
    fn page(&mut self, cut: &Cut, page: &Path) {
        let out = &cut.document.out;
        let line = format!("{}\n", shown(page));
        let text = out.format == OutputFormat::Text && out.output.is_none();
        // A message that cannot be written cannot be reported.
        let _ = match (text, &mut self.out, &mut self.err) {
            (true, Some(stream), _) | (false, _, Some(stream)) => stream.write_all(line.as_bytes()),
            _ => std::io::stderr().write_all(line.as_bytes()),
        };
    }

    fn fail(&mut self, failure: &Failure) {
        failure.messages().iter().for_each(|message| self.say("error", &message.line));
    }

    fn say(&mut self, level: &str, text: &str) {
        // A message that cannot be written cannot be reported.
        let line = format!("{level}: {text}\n");
        let _ = match &mut self.err {
            Some(err) => err.write_all(line.as_bytes()),
            None => std::io::stderr().write_all(line.as_bytes()),
        };
    }
}
