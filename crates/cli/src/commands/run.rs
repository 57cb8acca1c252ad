//! `anyorder run`: runs a native program under the recording runtime, and checks what it did.

mod confirm;
mod images;
mod replay;
mod stress;

use crate::args::{GROUPS, Global, RunArgs, RunStreams, word_of};
use crate::commands::predict::{UNCONFIRMED, given_specifications};
use crate::commands::runner::{Ending, Runner};
use crate::failure::{Failure, JobFailure, Usage, note, warn};
use crate::guard::{Document, Kind, foreground};
use crate::output::{bytes_to, give_stdout_away, stderr_for_program, to_file};
use crate::reading::{MAPS, ask, failed, failed_to_read};
use crate::sanitizer_options::SanitizerOptions;
use crate::source_lines::add_source_lines;
use crate::watch::Watch;
use crate::witness::Replay;
use anyorder_common::files::{Source, read_found};
use anyorder_common::numbers::plural;
use anyorder_common::text::{quote, shown};
use anyorder_drive::native_run::launch::{Build, Ended, Launch, Stage, find_program, recognise};
use anyorder_drive::native_run::{RecordedImage, RecordedRun, add_misuses, describe, traced};
use anyorder_drive::native_stress::{Scheduled, watch as scheduled};
use anyorder_drive::{CheckTraceOptions, JobControl, JobResult, Reported, check_trace};
use anyorder_finding::{Finding, Input, Warning, WarningKind, exit, option, stat};
use anyorder_formats::detect::Format;
use anyorder_formats::open::create;
use anyorder_trace::Trace;
use images::{Image, Images, choose, numbered};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::mem;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The most bytes of one recording that are read, where memory has no limit.
const BYTES_MAX: u64 = 16 << 30;

/// The bytes of memory for each byte of a recording, at most.
const MEMORY_FOR_BYTE: u64 = 8;

/// The standard output of the program, where it is not ours.
static PROGRAM_STDOUT: Mutex<Option<Stdio>> = Mutex::new(None);

/// Divides the standard streams between the program and the result, before anything is written.
pub(super) fn divide_streams(args: &RunArgs) -> Result<(), Failure> {
    let stdout = match args.streams() {
        RunStreams::Apart => return Ok(()),
        RunStreams::ResultToStderr => give_stdout_away(),
        RunStreams::ProgramToStderr => stderr_for_program(),
    };
    let stdout = stdout.map_err(|error| Usage::CannotRecord { error })?;
    *PROGRAM_STDOUT.lock().unwrap_or_else(PoisonError::into_inner) = Some(stdout);
    Ok(())
}

/// Runs the program, checks what was recorded, and returns the exit status.
pub(super) fn run(args: &RunArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.replay {
        return replay::run(path, args, watch);
    }
    let Some((name, arguments)) = args.command.split_first() else {
        return Ok(ExitCode::from(exit::USAGE));
    };
    let (program, build) = found(name)?;
    let document = Document {
        command: "run",
        out: args.out.clone(),
        max_findings: args.list.max_findings,
        policy: args.counting.policy(vec![UNCONFIRMED.to_owned()]),
        kind: Kind::Search,
    };
    let variables = SanitizerOptions::read(&program)?;
    if args.types.spec.as_deref() == Some(Path::new("-")) {
        return Err(Usage::SpecificationIsInput.into());
    }
    let options = args.trace_options(given_specifications(&args.types)?);
    let suppressions = [&variables.suppressions[..], &args.suppressions].concat();
    let runner = Runner::begin(document, global, watch);
    let runner = runner.accepting_with(&args.counting, &suppressions)?;
    let stage = Stage::new().map_err(|error| Usage::CannotRecord { error })?;
    let stdout = PROGRAM_STDOUT.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut schedule = stress::prepare_single(args, &stage)?;
    let schedule_path = stage.schedule();
    let launch = Launch {
        program: &program,
        name,
        arguments,
        build: &build,
        stdout,
        plan: None,
        schedule: schedule.as_ref().map(|_| schedule_path.as_path()),
        caught: None,
        is_silent: false,
        recording_max: args.max_recording,
    };
    let not_started = |error| Usage::NotStarted { name: name.clone(), error };
    let running = stage.start(launch).map_err(not_started)?;
    let (ended, is_interrupted) = foreground::run(&running, || match &mut schedule {
        None => Ok((running.wait(args.run_time_limit)?, None)),
        Some(file) => {
            let limit = args.run_time_limit.unwrap_or(Duration::MAX);
            let mut go_on = || watch.control().cancel.reason().is_none();
            let run = scheduled(&running, file, limit, &mut go_on)?;
            Ok((Ended { timed_out: run.is_killed, ..run.ended }, Some(run)))
        }
    });
    let (ended, scheduled) = ended.map_err(not_started)?;
    let ended = End { ended, is_interrupted, scheduled };
    say_end(name, &ended, global);
    let images = stage.found().map_err(|error| failed_to_read(&stage.recordings(), error))?;
    let images = choose(name, &images)?;
    say_unseen(name, &images, global);
    let again = Again {
        stage: &stage,
        program: &program,
        name,
        arguments,
        build: &build,
        options: &options,
    };
    let last = images_of(args, &again, &images, &ended, &runner)?;
    let ended = ended.ended;
    if args.no_check {
        return Ok(status_of(&ended, ExitCode::from(exit::CLEAN), true));
    }
    let plans = RefCell::new(Vec::new());
    let status = runner.finish(Ending {
        change: &|outcome| {
            for finding in &mut outcome.findings {
                set_replay(args, finding);
                plans.borrow_mut().extend(replay::keep_plan(args, finding));
            }
        },
        write: &|| {
            plans
                .borrow()
                .iter()
                .try_for_each(|(path, text)| to_file(path, |out| out.write_all(text.as_bytes())))
        },
        trace: last.as_ref().filter(|_| images.checked.len() == 1),
        ..Ending::default()
    })?;
    let is_found = status == ExitCode::from(exit::FINDINGS);
    match variables.exit_code.filter(|_| is_found && !args.exit_zero) {
        Some(0) => Ok(status_of(&ended, ExitCode::from(exit::CLEAN), true)),
        Some(code) => Ok(ExitCode::from(code)),
        None => Ok(status_of(&ended, status, args.exit_zero)),
    }
}

/// How the program ended, and whether a signal to us has ended it.
struct End {
    ended: Ended,
    is_interrupted: bool,
    /// What a single run in a random order came to.
    scheduled: Option<Scheduled>,
}

/// What starts the program once more, and checks what it did.
pub(super) struct Again<'a> {
    stage: &'a Stage,
    program: &'a Path,
    name: &'a OsStr,
    arguments: &'a [OsString],
    build: &'a Build,
    options: &'a CheckTraceOptions,
}

/// The words of the command of a program.
fn name_and<'a>(again: &'a Again<'_>) -> impl Iterator<Item = &'a OsStr> {
    std::iter::once(again.name).chain(again.arguments.iter().map(AsRef::as_ref))
}

/// Sets the command that shows a finding again. Without `--record` no file has the trace, and no
/// command can read it.
fn set_replay(args: &RunArgs, finding: &mut Finding) {
    let is_own = |replay: &String| replay.starts_with("anyorder run --stress");
    if finding.replay.as_ref().is_some_and(is_own) {
        return;
    }
    let Some(file) = &args.record else {
        finding.replay = None;
        return;
    };
    let witness = finding.witness.as_ref();
    if witness.is_some_and(|witness| witness.format == "reordering") {
        let file = finding.input.clone().unwrap_or_else(|| file.to_string_lossy().into_owned());
        let trace = quote(&file);
        let group_by = word_of(GROUPS, args.group_by);
        let types = args.types.words();
        let again = format!("anyorder check {trace} --group-by {group_by}{types} --format json");
        let command = Replay::Command(&again).command(&trace, &finding.id);
        finding.replay = Some(command + &types);
    }
}

/// Finds the program, and how it was built.
fn found(name: &OsStr) -> Result<(PathBuf, Build), Failure> {
    use anyorder_drive::native_run::launch::Refusal;
    let refused = |why| Usage::Program { name: name.to_owned(), why };
    let program = find_program(name).ok_or_else(|| refused(Refusal::NotFound))?;
    let build = recognise(&program).map_err(refused)?;
    Ok((program, build))
}

/// Says how the program ended, where that was not by itself.
fn say_end(name: &OsStr, end: &End, global: &Global) {
    if global.quiet {
        return;
    }
    let (name, ended) = (shown(name.as_ref()), &end.ended);
    match (ended.timed_out, ended.signal) {
        (true, _) => note(&format!("{name}: ended after {:.1} s", ended.ran.as_secs_f64())),
        (false, Some(signal)) => note(&format!("{name}: ended by signal {signal}")),
        (false, None) => {}
    }
}

/// Says of what accesses were not seen.
fn say_unseen(name: &OsStr, images: &Images, global: &Global) {
    if global.quiet {
        return;
    }
    if let Some((text, _)) = &images.left_out {
        note(text);
    }
    if !images.is_sanitized && !images.checked.is_empty() {
        warn(&format!(
            "{}: built without `-fsanitize=thread`: its locks, threads and memory are seen, its accesses are not",
            shown(name.as_ref())
        ));
    }
}

/// Makes a trace of each recorded image, keeps it and checks it, as was asked for. Returns the last
/// trace.
fn images_of(
    args: &RunArgs,
    again: &Again<'_>,
    images: &Images,
    ended: &End,
    runner: &Runner<'_>,
) -> Result<Option<Trace>, Failure> {
    let name = again.name;
    if images.checked.is_empty() {
        let text = "nothing was recorded: the program did not load the runtime";
        let mut result = JobResult::default();
        let name = name.to_string_lossy();
        result.warnings.push(Warning::new(WarningKind::Ignored, &name, text, 1));
        set_end(&mut result, args, ended);
        runner.add(vec![Input::new(Path::new(&*name), "program")], result, |_| {});
        return Ok(None);
    }
    let mut last = None;
    for (number, image) in images.checked.iter().enumerate() {
        let kept = args.record.as_ref().map(|file| numbered(file, number));
        let path = kept.clone().unwrap_or_else(|| image.name.clone());
        let input = Input::new(&path, "recording");
        runner.working_on(&input);
        let mut result = JobResult::default();
        let single = ended.scheduled.as_ref().filter(|_| image.is_started);
        let mut sites = Vec::new();
        last = None;
        read((&path, &image.events, &image.maps), args, runner, &mut |part| {
            if let Some(file) = &kept {
                write(file, &part.input.trace, runner)?;
            }
            if !args.no_check {
                add_part(&mut result, (image, &path), &part, again, (args, ended), runner)?;
            }
            sites = single.map_or_else(Vec::new, |run| stress::sites_of(run, Some(0), &part));
            // A report that draws a trace draws one.
            last = Some(part.input.trace).filter(|_| part.part == 0);
            Ok(())
        })?;
        if args.no_check {
            continue;
        }
        match single {
            Some(run) => stress::judge_single(args, again, (run, sites), &mut result),
            // A signal that ended the plain run ends it all.
            None if image.is_started && args.stress.is_some() && !ended.is_interrupted => {
                stress::stress(again, &path, &mut result, (args, ended), runner)?;
            }
            None => {}
        }
        if number == 0 {
            if let Some((text, count)) = &images.left_out {
                let name = name.to_string_lossy();
                result.warnings.push(Warning::new(WarningKind::Odd, &name, text.clone(), *count));
            }
            set_end(&mut result, args, ended);
        }
        runner.ended(&result);
        runner.add(vec![input], result, |options| {
            options.set(option::STRICT, args.counting.strict);
        });
    }
    Ok(last)
}

/// Checks a part of a run, makes what is new in it happen as was asked for, and adds that to the
/// result of the parts before.
fn add_part(
    result: &mut JobResult,
    (image, path): (&Image, &Path),
    part: &RecordedRun<'_>,
    again: &Again<'_>,
    (args, ended): (&RunArgs, &End),
    runner: &Runner<'_>,
) -> Result<(), Failure> {
    runner.global.print_warnings(path, &part.input.form);
    let JobControl { control, found } = runner.watch.control();
    let before = result.clone();
    let found_so_far = |so_far: JobResult| {
        let mut all = before.clone();
        all.absorb(so_far);
        found(all);
    };
    let control = JobControl::new(control, &found_so_far);
    let mut of_part = check_trace(&part.input, again.options, &control)?;
    let known: BTreeSet<&str> = before.findings.iter().map(|one| &*one.finding.id).collect();
    let is_new = |one: &mut Reported| !known.contains(&*one.finding.id);
    let mut of_new = mem::take(&mut of_part.findings);
    of_part.findings = of_new.extract_if(.., is_new).collect();
    if args.confirm && image.is_started {
        let run = (part, &before);
        confirm::confirm(again, (run, &mut of_part), args, &ended.ended, runner)?;
    } else if args.confirm && !of_part.findings.is_empty() {
        let text = "only the started program is held in second runs: what this one showed was not made to happen";
        let path = path.to_string_lossy();
        of_part.warnings.push(Warning::new(WarningKind::Odd, &path, text, 1));
    }
    if part.recording.header.is_cut {
        of_part.cut_by(option::MAX_RECORDING);
    }
    if part.stats.is_full {
        of_part.cut_by(option::MAX_TRACE);
    }
    if part.stats.is_cut || part.stats.is_part || part.part > 0 {
        of_part.cut_by(option::MAX_PART);
    }
    add_misuses(part, &mut of_part);
    describe(part, &mut of_part);
    add_source_lines(&part.input.name, &part.sources, &mut of_part);
    of_part.findings.append(&mut of_new);
    result.absorb(of_part);
    let stats = &mut result.stats;
    stats.set(stat::RECORDED, part.stats.recorded);
    // Each part has the tables of all threads.
    stats.set(stat::THREADS, part.input.trace.tasks_count() as u64);
    stats.set(stat::PRIVATE_ACCESSES, part.stats.private);
    stats.set(stat::REPEATED_ACCESSES, part.repeated + part.stats.polls);
    stats.set(stat::PARTS, part.part as u64 + 1);
    Ok(())
}

/// Adds how the program ended.
fn set_end(result: &mut JobResult, args: &RunArgs, end: &End) {
    let ended = &end.ended;
    let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let number = |number: i32| u64::from(number.unsigned_abs());
    let stats = &mut result.stats;
    if let Some(status) = ended.status {
        stats.set(stat::PROGRAM_STATUS, number(status));
    }
    if let Some(signal) = ended.signal {
        stats.set(stat::PROGRAM_SIGNAL, number(signal));
    }
    stats.set(stat::PROGRAM_MS, ms(ended.ran));
    result.options.set_some(option::RUN_TIME_LIMIT, args.run_time_limit.map(ms));
    result.options.set_some(option::MAX_RECORDING, args.max_recording);
    result.options.set(option::MAX_TRACE, args.max_trace);
    result.options.set(option::MAX_PART, args.max_part);
    let spec = args.types.spec.as_ref().map(|path| path.to_string_lossy().into_owned());
    result.options.set_some(option::SPEC, spec);
    let objects = Some(args.types.object.join(",")).filter(|objects| !objects.is_empty());
    result.options.set_some(option::OBJECT, objects);
    if ended.timed_out {
        result.cut_by(option::RUN_TIME_LIMIT);
    }
    if end.is_interrupted {
        result.cut_by(option::RUN_INTERRUPT);
    }
}

/// Reads the recording of one image, and gives its parts to `take`.
fn read(
    (name, events, maps): (&Path, &Path, &Path),
    args: &RunArgs,
    runner: &Runner<'_>,
    take: &mut dyn FnMut(RecordedRun<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let maps_text = read_found(maps, MAPS, ask).map_err(|error| failed(maps, MAPS, error))?;
    let source = Source::open(events, ask).map_err(|error| failed_to_read(events, error))?;
    let memory = runner.watch.asked.memory_limit;
    let image = RecordedImage {
        name: name.to_string_lossy().into_owned(),
        events: source,
        maps: maps_text.unwrap_or_default(),
        bytes_max: memory.map_or(BYTES_MAX, |limit| limit / MEMORY_FOR_BYTE),
        events_max: args.max_trace,
        part_max: args.max_part,
        keeps_one: args.record.is_some(),
        folder: std::env::current_dir().unwrap_or_default(),
    };
    traced(image, &runner.watch.control(), take)
}

/// Writes a trace to a file: as text if its name says so.
fn write(file: &Path, trace: &Trace, runner: &Runner<'_>) -> Result<(), Failure> {
    let is_text = file.extension().is_some_and(|end| end == "txt");
    let format = if is_text { Format::NativeText } else { Format::NativeBinary };
    let failed = |error| JobFailure::writing(file, error);
    bytes_to(Some(file), |out| {
        let mut sink = create(format, Box::new(out)).map_err(failed)?;
        Ok(trace.write(sink.as_mut()).map_err(failed)?)
    })?;
    if !runner.global.quiet {
        let events = plural(trace.len() as u64, "event");
        note(&format!("wrote {events} to {} as {}", shown(file), format.title()));
    }
    Ok(())
}

/// Returns the exit status: that of the result if there are findings, else that of the program if
/// it failed, else that of the result.
fn status_of(ended: &Ended, result: ExitCode, own: bool) -> ExitCode {
    let of_program = match (ended.status, ended.signal) {
        (Some(status), _) => status as u8,
        (None, signal) => 128_u8.saturating_add(signal.unwrap_or(0) as u8),
    };
    let found = result == ExitCode::from(exit::FINDINGS);
    match (own, found, of_program) {
        (true, _, _) => ExitCode::from(of_program),
        (false, true, _) | (false, false, 0) => result,
        (false, false, _) => ExitCode::from(of_program),
    }
}
