//! `anyorder replay`: runs the schedules of findings again.

use crate::args::{Global, ReplayArgs};
use crate::escape::escape;
use crate::failure::{Failure, warn};
use crate::model::{self, Model, Replayed, Stored};
use crate::output::{shown, to_stdout, width};
use anyorder_finding::exit;
use anyorder_report::terminal;
use anyorder_system::Schedule;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs all schedules of a file; the status is 1 when one shows again what it should, else 3 when one cannot be followed.
pub(crate) fn run(args: &ReplayArgs, global: &Global) -> Result<ExitCode, Failure> {
    let stored = model::read_schedules(&args.file, args.finding.as_deref())?;
    let mut text = String::new();
    let (mut again, mut lost) = (false, false);
    let mut models: Vec<(PathBuf, Model)> = Vec::new();
    for one in &stored {
        let path = model_path(args.model.as_deref(), &one.schedule);
        if !models.iter().any(|(known, _)| *known == path) {
            models.push((
                path.clone(),
                load_for(&path, &one.schedule, args.model.is_some(), global)?,
            ));
        }
        let Some((_, model)) = models.iter().find(|(known, _)| *known == path) else { continue };
        let replayed =
            model::replay(model, &one.schedule).map_err(|error| model::failure(&path, &error))?;
        again |= replayed.same;
        lost |= !replayed.same && (replayed.divergence.is_some() || replayed.shows.is_some());
        tell(&mut text, one, model, &replayed);
    }
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::from(match (again, lost) {
        (true, _) => exit::FINDINGS,
        (false, true) => exit::LIMIT,
        (false, false) => exit::CLEAN,
    }))
}

/// Returns the model to run: the one given, else the one that the schedule names.
pub(super) fn model_path(given: Option<&Path>, schedule: &Schedule) -> PathBuf {
    given.map_or_else(|| PathBuf::from(&schedule.program.name), Path::to_owned)
}

/// Loads the model of a schedule; says so where it is not as it was.
pub(super) fn load_for(
    path: &Path,
    schedule: &Schedule,
    given: bool,
    global: &Global,
) -> Result<Model, Failure> {
    if !given && (path == Path::new("-") || path.as_os_str().is_empty()) {
        let failure = Failure::new("the schedule does not say which model it is for");
        return Err(failure.with_hint("`--model MODEL` names it"));
    }
    let model = model::load(path).map_err(|failure| {
        if given {
            failure
        } else {
            failure.with_hint("the schedule names this model; `--model` names another one")
        }
    })?;
    let known = schedule.program.hash;
    if known.is_some() && known != model.program.hash && !given && !global.quiet {
        warn(&format!("{}: the model is not as it was when the schedule was made", shown(path)));
    }
    Ok(model)
}

fn tell(text: &mut String, stored: &Stored, model: &Model, replayed: &Replayed) {
    // Writing to a string does not fail.
    if let Some((id, title)) = &stored.finding {
        let _ = writeln!(text, "{} {}", escape(id), escape(title));
    }
    let end = match (&replayed.shows, &replayed.divergence) {
        (Some(shows), _) => shows.clone(),
        (None, Some(divergence)) => divergence.to_string(),
        (None, None) => String::new(),
    };
    let run = model::run_of(&model.machine, &replayed.path, &stored.schedule.choices, end);
    text.push_str(&terminal::table(&run, width()));
    let verdict = match (replayed.same, &replayed.divergence, &replayed.shows) {
        (true, _, _) => "it occurs again",
        (false, Some(_), None) => "the schedule cannot be followed to its end",
        (false, _, Some(_)) => "something else goes wrong",
        (false, None, None) => "it does not occur",
    };
    let _ = writeln!(text, "replay: {verdict}");
}
