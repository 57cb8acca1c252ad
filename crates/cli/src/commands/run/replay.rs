//! `anyorder run --replay`: makes a finding happen again that a second run has shown.

use crate::args::RunArgs;
use crate::failure::{Failure, Usage, note as say, warn};
use crate::guard::foreground;
use crate::output::to_stdout;
use crate::reading::{PLAN, ask, text};
use crate::watch::Watch;
use anyorder_common::files::read;
use anyorder_common::text::{escape, quote, shown};
use anyorder_drive::native_confirm::{
    Answer, Limits, Planned, PlannedProgram, StoredPlan, hash_of_program, keep_fresh, prepare,
    watch as look, words_of,
};
use anyorder_drive::native_run::launch::{Build, Launch, Stage};
use anyorder_finding::{Finding, Outcome, exit};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How long threads may be held where nobody looks at the program.
const HELD: Duration = Duration::from_secs(10);

/// Returns the hash of a program; empty where it cannot be read.
pub(super) fn hash_of(program: &Path) -> String {
    read(program, PLAN, ask).map(|bytes| hash_of_program(&bytes)).unwrap_or_default()
}

/// Sets the command that makes a finding happen again, where it was reproduced and a file keeps the
/// plan. Returns the file beside the recording, if there is one, and its text.
pub(super) fn keep_plan(args: &RunArgs, finding: &mut Finding) -> Option<(PathBuf, String)> {
    let plan = StoredPlan::of_finding(finding)?;
    if let Some(file) = args.out.json_file() {
        let file = quote(&file.to_string_lossy());
        let id = &finding.id;
        finding.replay = Some(format!("anyorder run --replay {file} --finding {id}"));
    }
    let mut path = args.record.clone()?.into_os_string();
    path.push(format!(".{}.plan", finding.id));
    if args.out.json_file().is_none() {
        let file = quote(&path.to_string_lossy());
        finding.replay = Some(format!("anyorder run --replay {file}"));
    }
    Some((path.into(), format!("{}\n", plan.to_value())))
}

/// What is run: the program of the plan, or another one that starts it.
struct Started {
    program: PathBuf,
    build: Build,
    name: OsString,
    arguments: Vec<OsString>,
    /// Whether another program, such as a debugger, starts the one of the plan.
    is_around: bool,
}

/// Runs the program of a finding under its plan. The status is 1 if the finding was reproduced, 0
/// if only its order happened, and 3 if that did not.
pub(super) fn run(path: &Path, args: &RunArgs, watch: &Watch) -> Result<ExitCode, Failure> {
    let stored = find(path, args.finding.as_deref())?;
    let planned = stored.planned().ok_or_else(|| bad(path, "no plan that can be used"))?;
    let started = started(&stored.program, &args.command)?;
    if args.print_command {
        return print_command(&planned, &started);
    }
    let stage = Stage::new().map_err(|error| Usage::CannotRecord { error })?;
    let cannot = |error| Usage::NotStarted { name: started.name.clone(), error };
    let (plan, mut file) = prepare(&stage, &planned).map_err(cannot)?;
    let launch = Launch {
        program: &started.program,
        name: &started.name,
        arguments: &started.arguments,
        build: &started.build,
        stdout: None,
        plan: Some(&plan),
        schedule: None,
        caught: None,
        is_silent: false,
        recording_max: None,
    };
    let running = stage.start(launch).map_err(cannot)?;
    let limits = limits(args, &stored, started.is_around);
    let mut go_on = || watch.control().cancel.reason().is_none();
    let (again, is_interrupted) =
        foreground::run(&running, || look(&running, &mut file, &planned, limits, &mut go_on));
    let answer = again.map_err(cannot)?.answer;
    let (class, words) = words_of(answer);
    let words = match (is_interrupted, answer) {
        (true, Answer::NotReproduced(_)) => "a signal ended the program before".to_owned(),
        _ => words,
    };
    let id = stored.finding.unwrap_or_default();
    let class = class.word().replace('_', " ");
    say(&format!("replay {}: {class}: {}", escape(&id), escape(&words)));
    Ok(ExitCode::from(match answer {
        Answer::Reproduced(_) => exit::FINDINGS,
        Answer::Feasible => exit::CLEAN,
        Answer::NotReproduced(_) => exit::LIMIT,
    }))
}

fn limits(args: &RunArgs, stored: &StoredPlan, is_around: bool) -> Limits {
    let run = args.run_time_limit;
    match is_around {
        // Somebody may look at the program for as long as they like.
        true => Limits {
            held: Duration::MAX,
            run: run.unwrap_or(Duration::MAX),
            usual_status: None,
            patient: true,
        },
        false => Limits {
            held: HELD,
            run: run.unwrap_or(Duration::MAX),
            usual_status: stored.program.status,
            patient: false,
        },
    }
}

fn bad(path: &Path, why: &str) -> Failure {
    Usage::Accepted { path: path.to_owned(), why: why.to_owned() }.into()
}

/// Finds the plan in a file: a plan, or a result with one finding that keeps one, or with the one
/// that is asked for.
fn find(path: &Path, id: Option<&str>) -> Result<StoredPlan, Failure> {
    let content = text(path, PLAN)?;
    let value: serde_json::Value = serde_json::from_str(&content)
        .map_err(|_| bad(path, "expected a result as JSON, or a plan"))?;
    if let Some(plan) = StoredPlan::from_value(&value) {
        return Ok(plan);
    }
    let outcome: Outcome = serde_json::from_value(value)
        .map_err(|_| bad(path, "expected a result as JSON, or a plan"))?;
    let is_it = |finding: &&Finding| id.is_none_or(|id| finding.id.starts_with(id));
    let plans: Vec<StoredPlan> =
        outcome.findings.iter().filter(is_it).filter_map(StoredPlan::of_finding).collect();
    match <[StoredPlan; 1]>::try_from(plans) {
        Ok([plan]) => Ok(plan),
        Err(plans) if plans.is_empty() => {
            let why = "no such finding was reproduced in a second run (`anyorder run --confirm`)";
            Err(bad(path, why))
        }
        Err(plans) => {
            let ids = plans.iter().filter_map(|plan| plan.finding.as_deref());
            let ids = ids.collect::<Vec<_>>().join(", ");
            Err(bad(path, &format!("several findings, choose one with `--finding`: {ids}")))
        }
    }
}

/// Finds out what is run: the command of the plan, if no other one is given.
fn started(planned: &PlannedProgram, command: &[OsString]) -> Result<Started, Failure> {
    let own: Vec<OsString> = planned.command.iter().map(OsString::from).collect();
    let words = if command.is_empty() { &own } else { command };
    let (name, arguments) =
        words.split_first().map_or((OsStr::new(""), &[][..]), |(name, rest)| (name, rest));
    let found = super::found(name);
    // The command may have been typed in another folder.
    let (program, build) = match (found, command.is_empty()) {
        (Err(_), true) => super::found(OsStr::new(&planned.file))?,
        (found, _) => found?,
    };
    let file = PathBuf::from(&planned.file);
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_around = real(&program) != real(&file);
    // The runtime must be in the program, and not in what starts it.
    let build = match (is_around, super::found(OsStr::new(&planned.file))) {
        (true, Ok((_, own))) if own.sees_accesses() => own,
        (true, _) => {
            return Err(Usage::NotAround { program: file, name: name.to_owned() }.into());
        }
        (false, _) => build,
    };
    let now = hash_of(&file);
    if !now.is_empty() && !planned.hash.is_empty() && now != planned.hash {
        warn(&format!(
            "{}: it was built again since the finding: its places may be other ones",
            shown(&file)
        ));
    }
    let (name, arguments) = (name.to_owned(), arguments.to_vec());
    Ok(Started { program, build, name, arguments, is_around })
}

/// Prints the command that runs the program under its plan. Its folder stays.
fn print_command(planned: &Planned, started: &Started) -> Result<ExitCode, Failure> {
    let cannot = |error| Usage::CannotRecord { error };
    let stage = Stage::new().map_err(cannot)?;
    let (plan, _) = prepare(&stage, planned).map_err(cannot)?;
    let fresh = keep_fresh(&plan).map_err(cannot)?;
    let text = |word: &OsStr| quote(&word.to_string_lossy());
    // Each run writes into its plan.
    let mut words = vec!["cp".to_owned(), text(fresh.as_os_str()), text(plan.as_os_str())];
    words.push("&& env".to_owned());
    for (name, value) in stage.variables(Some(&plan), &started.build) {
        words.push(format!("{name}={}", text(&value)));
    }
    words.push(text(started.program.as_os_str()));
    words.extend(started.arguments.iter().map(|word| text(word)));
    let folder = stage.keep();
    to_stdout(|out| writeln!(out, "{}", words.join(" ")))?;
    say(&format!("remove {} when it is not needed any more", shown(&folder)));
    Ok(ExitCode::from(exit::CLEAN))
}
