//! `anyorder replay`: replays the schedules of findings.

use super::home;
use super::model_inputs::{self, ModelInputs, warn_if_changed};
use super::page::{self, GivenPage};
use super::replay_witness;
use crate::args::{Global, ReplayArgs};
use crate::failure::{Failure, JobFailure, Message, Usage, print};
use crate::input::{self, PeekedInput, SCHEDULE_BYTES_MAX};
use crate::output::{fit, to, to_stdout};
use crate::reading::{stopped, watched};
use crate::watch::Watch;
use anyorder_common::numbers::plural;
use anyorder_drive::Missing;
use anyorder_drive::explore::{pipe_program, replay_program};
use anyorder_drive::model::{Model, replay_model};
use anyorder_drive::page::{PageProgram, SavedPage, TestKind, replay_page, write_test};
use anyorder_drive::states::{ReplayVerdict, Replayed};
use anyorder_drive::{Stored, first_schedule, read_schedules};
use anyorder_finding::exit;
use anyorder_report::terminal;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs all given schedules. The status is 1 if a finding occurs again, else 3 if a schedule cannot
/// be followed, else 0.
pub(crate) fn run(args: &ReplayArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let _watched = watched();
    if let Some(command) = &args.program {
        return of_program(command, args);
    }
    if let Some(page) = page::find(&args.inputs, &args.page, None)? {
        return of_page(page, args);
    }
    let peeked = input::peek_all(&home::expand(&args.inputs))?;
    if let Some(at) = peeked.iter().position(|(_, peeked)| peeked.trace_format(global).is_some()) {
        return of_trace(peeked, at, args, global, watch);
    }
    let given = model_inputs::read_peeked(peeked, global)?;
    if given.others.is_empty() {
        return Err(Usage::NoSchedules.into());
    }
    if given.models.is_empty() && of_saved_pages(&given.others, args)? {
        return of_saved(&given.others, args);
    }
    if args.emit_test.is_some() {
        return Err(Usage::NoPage.into());
    }
    let mut replays = Replays::default();
    for (path, content) in &given.others {
        let all = read_schedules(path, content, args.finding.as_deref())?;
        for (one, model_path, model) in runnable(path, &all, &given, global)? {
            warn_if_changed(model_path, model, &one.schedule, global);
            if !replays.add(one, replay_model(model, &one.schedule)) {
                return replays.finish();
            }
        }
    }
    replays.finish()
}

/// Checks witnesses against the trace that they reorder. The trace is the input at a given index.
fn of_trace(
    mut all: Vec<(PathBuf, PeekedInput)>,
    at: usize,
    args: &ReplayArgs,
    global: &Global,
    watch: &Watch,
) -> Result<ExitCode, Failure> {
    let (trace_path, trace) = all.remove(at);
    let expected =
        |path: &Path, what| Err(Usage::NotOfTrace { path: path.to_owned(), what }.into());
    let Some((path, text)) = all.pop() else {
        return expected(&trace_path, "a trace, expected a witness or a result beside it");
    };
    if let Some((path, _)) = all.first() {
        return expected(path, "expected one trace, and one witness or result, and nothing else");
    }
    if !text.is_json() {
        return expected(&path, "no witness and no result, expected JSON");
    }
    let content = text.text(&path, SCHEDULE_BYTES_MAX)?;
    replay_witness::run((&trace_path, trace), (&path, &content), args, global, watch)
}

/// Runs the schedules of a program behind a pipe.
fn of_program(command: &str, args: &ReplayArgs) -> Result<ExitCode, Failure> {
    let program = pipe_program(command)?;
    let mut replays = Replays::default();
    for path in &args.inputs {
        let content = input::peek(path)?.text(path, SCHEDULE_BYTES_MAX)?;
        for one in read_schedules(path, &content, args.finding.as_deref())? {
            if !replays.add(&one, replay_program(&program, &one.schedule)) {
                return replays.finish();
            }
        }
    }
    replays.finish()
}

/// Runs the schedules of a page as it is now. The steps and options of its user are those of the
/// first file that has them, unless they are given.
fn of_page(mut page: GivenPage, args: &ReplayArgs) -> Result<ExitCode, Failure> {
    let paths = std::mem::take(&mut page.others);
    let Some(first) = paths.first() else { return Err(Usage::NoSchedules.into()) };
    let mut texts = Vec::new();
    for path in &paths {
        texts.push((path.clone(), input::peek(path)?.text(path, SCHEDULE_BYTES_MAX)?));
    }
    let saved = SavedPage::read(first, &texts[0].1, args.finding.as_deref())?;
    if let Some(kind) = args.emit_test {
        let folder = page.folder();
        return emit(&texts, kind, folder.as_deref(), args);
    }
    let program = page.open(&args.page, None, saved.as_ref())?;
    let mut replays = Replays::default();
    for (path, content) in &texts {
        replay_all(&program, (path, content), args, &mut replays)?;
    }
    replays.finish()
}

/// Returns whether the first input has a page.
fn of_saved_pages(others: &[(PathBuf, String)], args: &ReplayArgs) -> Result<bool, Failure> {
    let Some((path, content)) = others.first() else { return Ok(false) };
    Ok(SavedPage::read(path, content, args.finding.as_deref())?.is_some())
}

/// Runs the schedules of pages that were saved with them.
fn of_saved(others: &[(PathBuf, String)], args: &ReplayArgs) -> Result<ExitCode, Failure> {
    if let Some(kind) = args.emit_test {
        return emit(others, kind, None, args);
    }
    let mut replays = Replays::default();
    for (path, content) in others {
        let saved = SavedPage::read(path, content, args.finding.as_deref())?;
        let Some(saved) = saved else { return Err(Usage::NoSchedules.into()) };
        let program = page::open_saved(path, &saved, &args.page)?;
        replay_all(&program, (path, content), args, &mut replays)?;
    }
    replays.finish()
}

/// Runs the schedules of one file on a page.
fn replay_all(
    program: &PageProgram,
    (path, content): (&Path, &str),
    args: &ReplayArgs,
    replays: &mut Replays,
) -> Result<(), Failure> {
    for one in read_schedules(path, content, args.finding.as_deref())? {
        if !replays.add(&one, replay_page(program, &one.schedule)) {
            break;
        }
    }
    Ok(())
}

/// Writes a test for a finding. The site is in a folder: that of the page that is given, or the one
/// that the file names.
fn emit(
    texts: &[(PathBuf, String)],
    kind: TestKind,
    folder: Option<&Path>,
    args: &ReplayArgs,
) -> Result<ExitCode, Failure> {
    let [(path, content)] = texts else { return Err(Usage::OneFinding.into()) };
    let id = args.finding.as_deref();
    let saved = SavedPage::read(path, content, id)?;
    let Some(saved) = saved else { return Err(Usage::NoPage.into()) };
    let stored = first_schedule(path, content, id)?;
    let named = saved.folder.as_deref().map(Path::new);
    let text = write_test(path, &saved, &stored, kind, folder.or(named))?;
    to(args.output.as_deref(), |out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// The outcomes of the schedules as text, and their counts.
#[derive(Default)]
struct Replays {
    text: String,
    count: u64,
    reproduced: bool,
    lost: bool,
    /// A limit ended the last replay, or what was wrong with it.
    failed: Option<JobFailure>,
}

impl Replays {
    /// Adds the outcome of a schedule. Returns whether there may be more.
    fn add(&mut self, stored: &Stored, replayed: Result<Replayed, JobFailure>) -> bool {
        if let Err(stopped) = stopped() {
            // A replay that is stopped looks like one that cannot be followed.
            let missing = Missing::Replays(self.count);
            self.failed = Some(JobFailure::stopped(stopped.0, missing));
            return false;
        }
        let Replayed { run, verdict } = match replayed {
            Ok(replayed) => replayed,
            Err(failure) => {
                self.failed = Some(failure);
                return false;
            }
        };
        self.reproduced |= verdict == ReplayVerdict::Reproduced;
        self.lost |= matches!(verdict, ReplayVerdict::Diverged | ReplayVerdict::OtherViolation);
        self.count += 1;
        // The id and the title of a finding are not checked, so they are not printed. Writing to a
        // string does not fail.
        if stored.finding.is_some() {
            let _ = writeln!(self.text, "schedule {}", self.count);
        }
        self.text.push_str(&terminal::table(&run, fit()));
        let _ = writeln!(self.text, "replay: {}", verdict.words());
        true
    }

    fn finish(self) -> Result<ExitCode, Failure> {
        match self.failed {
            Some(failure) if failure.is_stop() && self.count > 0 => {
                to_stdout(|out| out.write_all(self.text.as_bytes()))?;
                let status = print(&failure.into());
                return Ok(if self.reproduced { exit::FINDINGS.into() } else { status });
            }
            Some(failure) => return Err(failure.into()),
            None => {}
        }
        to_stdout(|out| out.write_all(self.text.as_bytes()))?;
        Ok(ExitCode::from(match (self.reproduced, self.lost) {
            (true, _) => exit::FINDINGS,
            (false, true) => exit::LIMIT,
            (false, false) => exit::CLEAN,
        }))
    }
}

/// Returns the schedules of a file with their models. For a result of several models, skips the
/// schedules whose models are missing.
fn runnable<'a>(
    path: &Path,
    all: &'a [Stored],
    given: &'a ModelInputs,
    global: &Global,
) -> Result<Vec<(&'a Stored, &'a Path, &'a Model)>, Failure> {
    let several = all.iter().any(|one| one.schedule.program.name != all[0].schedule.program.name);
    let mut runnable = Vec::new();
    let mut left_out = 0_u64;
    for one in all {
        match given.model_of(&one.schedule) {
            Some((model_path, model))
                if !several || ModelInputs::is_named(model, &one.schedule) =>
            {
                runnable.push((one, model_path, model));
            }
            _ => left_out += 1,
        }
    }
    if runnable.is_empty() {
        return Err(ModelInputs::no_model(path, &all[0].schedule));
    }
    if left_out > 0 {
        let what = format!("{} of other models left out", plural(left_out, "finding"));
        global.print(&[Message::warning_at(path, what)]);
    }
    Ok(runnable)
}
