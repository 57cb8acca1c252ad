//! `anyorder predict`: from one recorded run to what could happen in another.

use super::check::{Aside, set_limits};
use super::render::{self, Form};
use crate::args::{Global, PairsArg, PredictArgs};
use crate::failure::{Failure, warn};
use crate::ignored::NotUnderstood;
use crate::input;
use crate::predicted::{
    Analysis, Known, Loaded, Question, Shape, last_of, load, place, predict, predict_stream,
    run_of, tie_findings, types_of,
};
use crate::watch::{Watch, peak_memory_kb};
use anyorder_common::numbers::plural;
use anyorder_common::text::escape;
use anyorder_common::text::quote;
use anyorder_common::text::shown;
use anyorder_finding::run::Runs;
use anyorder_finding::{Finding, Input, Outcome, Stats};
use anyorder_predict::Reorders;
use anyorder_predict::check::{Checked, Found, Statistics};
use anyorder_trace::{Tables, Trace};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The filter of findings that no witness shows.
pub(crate) const UNCONFIRMED: &str = "unconfirmed";

/// Predicts, prints the findings, and returns the exit status they give.
pub(crate) fn run(args: &PredictArgs, global: &Global) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let aside = Aside::read(&args.counting)?;
    let watch = Watch::start(global, &args.limits)?;
    let question = Question {
        types: types_of(args.spec.as_deref(), &args.object)?,
        analysis: args.analysis,
        pairs: args.pairs,
        confirm: !args.no_confirm,
        max_pairs: args.max_pairs,
        search: &args.search,
    };
    let begun = input::begin(&args.trace)?;
    // Without confirmation there is no need to hold what can be streamed; standard input cannot be read twice.
    let held_max = |tables: &Tables| match () {
        () if args.trace == Path::new("-") => u64::MAX,
        () if args.no_confirm && !question.needs_all(tables) => 0,
        () => args.search.max_events,
    };
    let read = load(&args.trace, begun, &held_max, global, &watch)?;
    let mut outcome = Outcome::new("predict", env!("CARGO_PKG_VERSION"));
    let path = args.trace.to_string_lossy().into_owned();
    outcome.inputs.push(Input { path, format: read.format.word().to_owned() });
    if read.damaged {
        outcome.cut_by("salvage");
    }
    outcome.warnings = read.warnings;
    let mut not_understood = read.not_understood;
    let (analysis, trace) = match read.loaded {
        Loaded::Held(trace) => {
            let control = watch.control();
            let known = Known { extra: &[], is_known: &|_| false };
            let found = predict(&args.trace, &trace, &question, &known, &control)?;
            (found, Some(trace))
        }
        Loaded::Streamed(stream) => {
            let found = predict_stream(&args.trace, stream, &question, global, &watch)?;
            if args.no_confirm {
                outcome.bounded_by("no-confirm");
            } else if found.checked.statistics.candidates > 0 {
                outcome.cut_by("max-events");
            }
            (found, None)
        }
    };
    watch.done();
    if let Some(reason) = watch.stopped() {
        outcome.cut_by(reason.word());
    }
    let Analysis { checked, analysis, reorders, unspecified, warnings } = analysis;
    if !global.quiet {
        warn_of_unspecified(&args.trace, &unspecified);
    }
    outcome.warnings.extend(warnings);
    if let Some(trace) = &trace {
        not_understood = not_understood.with_unspecified(trace, &unspecified);
        outcome.warnings.extend(not_understood.of_unspecified(&args.trace));
    }
    options(&mut outcome, args, analysis.word(), reorders, &checked);
    // What a witness would show beyond the candidates was not asked for.
    if !checked.all_pairs && !args.no_confirm && !checked.cuts.contains(&"pairs") {
        outcome.bounded_by("pairs");
    }
    let told =
        Told { args, global, trace: trace.as_deref(), reorders, not_understood: &not_understood };
    let runs = tell(&told, &mut outcome, checked)?;
    let filters = if args.no_confirm { Vec::new() } else { vec![UNCONFIRMED.to_owned()] };
    let policy = args.counting.policy(filters);
    aside.apply(&mut outcome.findings, global.quiet);
    outcome.findings.sort_by(Finding::rank);
    outcome.judge(&policy);
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    outcome.stats.set("elapsed_ms", elapsed_ms);
    outcome.stats.set("peak_memory_kb", peak_memory_kb().unwrap_or(0));
    aside.write(&outcome.findings)?;
    let form = Form { out: &args.out, max_findings: args.max_findings, remarks: "", runs: &runs };
    render::finish(&form, &outcome, &policy, trace.as_deref())
}

/// What a prediction was made with.
struct Told<'a> {
    args: &'a PredictArgs,
    global: &'a Global,
    /// Where it is in memory.
    trace: Option<&'a Trace>,
    /// What witnesses may reorder.
    reorders: Reorders,
    not_understood: &'a NotUnderstood,
}

/// Puts findings, counts and limits into the result; returns the runs that show findings.
fn tell(told: &Told<'_>, outcome: &mut Outcome, checked: Checked) -> Result<Runs, Failure> {
    let Told { args, global, trace, reorders, not_understood } = *told;
    for cut in &checked.cuts {
        outcome.cut_by(cut);
    }
    if let Some(reason) = checked.stopped {
        outcome.cut_by(reason.word());
    }
    warn_of_rejected(&args.trace, &checked.statistics, global);
    outcome.stats = stats(&checked.statistics);
    let mut runs = Runs::new();
    let mut by_sites = Vec::new();
    for found in checked.found {
        let Found { mut finding, witness, .. } = found;
        if let (Some(trace), Some((first, second, witness))) = (trace, &witness) {
            let folder = args.schedules.as_deref();
            let claimed = (*first, *second, witness);
            place(&mut finding, trace, claimed, reorders, folder)?;
            runs.insert(finding.id.clone(), run_of(trace, claimed, Shape::default()));
            finding.replay = Some(replay(args, &finding));
        }
        let last = trace.and_then(|trace| last_of(trace, &finding, witness.as_ref()));
        by_sites.push(last.is_none());
        if let Some(last) = last {
            not_understood.mark(&mut finding, last);
        }
        outcome.findings.push(finding);
    }
    if let Some(trace) = trace {
        let open = outcome.findings.iter_mut().zip(by_sites).filter(|(_, open)| *open);
        not_understood.mark_by_sites(trace, open.map(|(finding, _)| finding));
        tie_findings(trace, &mut outcome.findings);
    }
    Ok(runs)
}

/// Returns the command that checks the witness of a finding again.
fn replay(args: &PredictArgs, finding: &Finding) -> String {
    let trace = quote(&args.trace.to_string_lossy());
    let id = &finding.id;
    let json = args.out.json_file();
    match (args.schedules.as_deref(), json) {
        (Some(folder), _) => {
            let file = folder.join(format!("{id}.json"));
            format!("anyorder replay {trace} {}", quote(&file.to_string_lossy()))
        }
        (None, Some(file)) => {
            format!("anyorder replay {trace} {} --finding {id}", quote(&file.to_string_lossy()))
        }
        (None, None) => {
            format!("{} --format json | anyorder replay {trace} - --finding {id}", command(args))
        }
    }
}

/// Returns the command that finds the same again.
fn command(args: &PredictArgs) -> String {
    let mut text = format!("anyorder predict {}", quote(&args.trace.to_string_lossy()));
    if let Some(spec) = &args.spec {
        text.push_str(&format!(" --spec {}", quote(&spec.to_string_lossy())));
    }
    for object in &args.object {
        text.push_str(&format!(" --object {}", quote(object)));
    }
    if let Some(analysis) = args.analysis {
        text.push_str(&format!(" --analysis {}", analysis.word()));
    }
    match args.pairs {
        PairsArg::Auto => {}
        PairsArg::Candidates => text.push_str(" --pairs candidates"),
        PairsArg::All => text.push_str(" --pairs all"),
    }
    text
}

/// Says which objects were ignored, as nobody says which of their calls commute.
fn warn_of_unspecified(path: &Path, objects: &BTreeMap<String, u64>) {
    const NAMED_MAX: usize = 5;
    let Some(total) = objects.values().copied().reduce(u64::saturating_add) else { return };
    let mut names: Vec<String> =
        objects.keys().take(NAMED_MAX).map(|name| format!("`{}`", escape(name))).collect();
    if objects.len() > NAMED_MAX {
        names.push(format!("and {} more", objects.len() - NAMED_MAX));
    }
    let calls = plural(total, "call");
    let names = names.join(", ");
    warn(&format!(
        "{}: {calls} ignored, no specification for {names}: see `--spec` and `--object`",
        shown(path)
    ));
}

/// Says that witnesses were refused: a bug of ours, which hides nothing but leaves pairs without an answer.
pub(crate) fn warn_of_rejected(path: &Path, statistics: &Statistics, global: &Global) {
    if statistics.rejected > 0 && !global.quiet {
        let what = plural(statistics.rejected, "witness");
        let text =
            "the check of witnesses refused what the search found, which is a bug of anyorder";
        warn(&format!("{}: {what} did not hold: {text}; the pairs are unconfirmed", shown(path)));
    }
}

/// Returns the counts under the names that they have in results.
pub(crate) fn stats(counts: &Statistics) -> Stats {
    let mut stats = Stats::new();
    stats
        .set("events", counts.events)
        .set("threads", counts.threads)
        .set("accesses", counts.accesses)
        .set("invocations", counts.invocations)
        .set("locks", counts.locks)
        .set("candidates", counts.candidates)
        .set("racy", counts.racy)
        .set("non_racy", counts.non_racy)
        .set("confirmed", counts.confirmed)
        .set("dropped", counts.dropped)
        .set("unconfirmed", counts.unconfirmed)
        .set("race_pairs", counts.race_pairs)
        .set("missed_by_order", counts.missed_by_order);
    if counts.rejected > 0 {
        stats.set("rejected", counts.rejected);
    }
    stats
}

fn options(
    outcome: &mut Outcome,
    args: &PredictArgs,
    analysis: &str,
    reorders: Reorders,
    checked: &Checked,
) {
    let options = &mut outcome.options;
    options.set("analysis", analysis);
    options.set("reorders", reorders.word());
    if let Some(spec) = &args.spec {
        options.set("spec", spec.to_string_lossy().into_owned());
    }
    if !args.object.is_empty() {
        options.set("object", args.object.join(","));
    }
    options.set("pairs", if checked.all_pairs { "all" } else { "candidates" });
    options.set("no-confirm", args.no_confirm);
    options.set("max-pairs", args.max_pairs as u64);
    options.set("window", args.search.window);
    options.set("max-conflicts", args.search.max_conflicts);
    options.set("max-tries", args.search.max_tries);
    options.set("max-work", args.search.max_work);
    options.set("max-candidates", args.search.max_candidates as u64);
    options.set("max-events", args.search.max_events);
    options.set("strict", args.counting.strict);
    set_limits(options, &args.limits);
}
