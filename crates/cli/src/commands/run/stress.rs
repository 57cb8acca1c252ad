//! `anyorder run --stress`: runs in random orders, each of which its seed decides.

use super::{Again, End, name_and, read};
use crate::args::{RunArgs, STRATEGIES, StressStrategy, word_of};
use crate::commands::runner::Runner;
use crate::failure::{Failure as Failed, Usage};
use crate::reading::{OUTPUT, ask};
use crate::source_lines::add_source_lines;
use anyorder_common::files::read as read_file;
use anyorder_common::hash::Hash128;
use anyorder_common::text::quote;
use anyorder_drive::native_run::launch::{Launch, Stage};
use anyorder_drive::native_run::{RecordedRun, describe};
use anyorder_drive::native_stress::{
    Failure, Failures, ScheduleFile, Scheduled, Setting, Shown, Strategy, failing_sites, prepare,
    shown, watch,
};
use anyorder_drive::{JobResult, check_trace, stopped_by};
use anyorder_finding::{ExplanationStep, Finding, Site, option, stat};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of steps that a run is expected to have where none was seen.
const LENGTH: u64 = 128;
/// How long a run may take: so many times the plain one, and at least so long.
const TIMES: u32 = 20;
const LIMIT_MIN: Duration = Duration::from_secs(10);
/// The most letters of what a program said.
const SAID_MAX: usize = 200;

/// A single run in a random order: the file that decides it.
pub(super) fn prepare_single(
    args: &RunArgs,
    stage: &Stage,
) -> Result<Option<ScheduleFile>, Failed> {
    if args.stress != Some(1) {
        return Ok(None);
    }
    let setting = setting(args, args.stress_seed, args.stress_steps.unwrap_or(LENGTH));
    let file = prepare(&stage.schedule(), setting);
    Ok(Some(file.map_err(|error| Usage::CannotRecord { error })?))
}

/// Returns the places where a run fails, if they are in this part of it.
pub(super) fn sites_of(run: &Scheduled, usual: Option<i32>, part: &RecordedRun<'_>) -> Vec<Site> {
    shown(run, usual).map_or_else(Vec::new, |shown| failing_sites(shown, part))
}

/// Adds what a single run in a random order shows.
pub(super) fn judge_single(
    args: &RunArgs,
    again: &Again<'_>,
    (run, sites): (&Scheduled, Vec<Site>),
    result: &mut JobResult,
) {
    let setting = setting(args, args.stress_seed, args.stress_steps.unwrap_or(LENGTH));
    let mut failures = Failures::default();
    if let Some(shown) = shown(run, Some(0)) {
        let (seed, said) = (setting.seed, String::new());
        let replay = replay_of(args, again, setting);
        failures.add(Failure { shown, seed, replay, sites, said });
    }
    let mut totals = Totals::default();
    totals.add(run);
    totals.report(args, failures, result);
}

/// Counts of all runs.
#[derive(Default)]
struct Totals {
    runs: u64,
    orders: BTreeSet<u64>,
    timed_out: u64,
    taken: u64,
    steps: u64,
}

impl Totals {
    fn add(&mut self, run: &Scheduled) {
        self.runs += 1;
        self.orders.insert(run.counts.order);
        self.timed_out += u64::from(run.is_killed);
        self.taken += u64::from(run.counts.taken);
        self.steps = self.steps.max(run.counts.steps);
    }

    fn report(&self, args: &RunArgs, failures: Failures, result: &mut JobResult) {
        let seeds = failures.seeds();
        let stats = &mut result.stats;
        stats.set(stat::STRESS_RUNS, self.runs);
        stats.set(stat::STRESS_SCHEDULES, self.orders.len() as u64);
        if let (Some(order), 1) = (self.orders.first(), self.runs) {
            stats.set(stat::STRESS_ORDER, format!("{order:016x}").as_str());
        }
        stats.set(stat::STRESS_FAILED, seeds.len() as u64);
        if !seeds.is_empty() {
            stats.set(stat::STRESS_SEEDS, seeds);
        }
        stats.set(stat::STRESS_TIMED_OUT, self.timed_out);
        stats.set(stat::STRESS_STEPS, self.steps);
        stats.set(stat::STRESS_TAKEN, self.taken);
        let options = &mut result.options;
        options.set_some(option::STRESS, args.stress);
        options.set(option::STRESS_SEED, args.stress_seed);
        let strategy = word_of(STRATEGIES, args.stress_strategy);
        options.set(option::STRESS_STRATEGY, strategy);
        options.set(option::STRESS_DEPTH, u64::from(args.stress_depth));
        options.set_some(option::STRESS_STEPS, args.stress_steps);
        options.set(option::STRESS_CHECK, args.stress_check);
        failures.report(self.runs, result);
    }
}

/// Runs the program in random orders, and adds to the result of the plain run what they show.
pub(super) fn stress(
    again: &Again<'_>,
    path: &Path,
    result: &mut JobResult,
    (args, ended): (&RunArgs, &End),
    runner: &Runner<'_>,
) -> Result<(), Failed> {
    let control = runner.watch.control();
    let count = args.stress.unwrap_or(0);
    let plain = ended.ended.status;
    let limit = args.run_time_limit.unwrap_or_else(|| LIMIT_MIN.max(ended.ended.ran * TIMES));
    let mut stress = Stress {
        again,
        args,
        runner,
        limit,
        plain,
        failures: Failures::default(),
        totals: Totals::default(),
        statuses: BTreeMap::new(),
        outputs: BTreeMap::new(),
        known: result.findings.iter().map(|one| places(&one.finding)).collect(),
        path: path.to_owned(),
    };
    control.progress.phase("running in random orders");
    let mut length = args.stress_steps.unwrap_or(LENGTH);
    for number in 0..count {
        control.progress.report(number, Some(count));
        if control.cancel.reason().is_some() {
            break;
        }
        let setting = setting(args, args.stress_seed.wrapping_add(number), length);
        let ran = stress.run(setting, result)?;
        if args.stress_steps.is_none() {
            length = if number == 0 { ran.max(1) } else { length.max(ran) };
        }
    }
    if stress.totals.runs < count
        && let Some(reason) = control.cancel.reason()
    {
        result.cut_by(stopped_by(reason));
    }
    stress.finish(result);
    Ok(())
}

/// Runs in random orders of one program.
struct Stress<'a> {
    again: &'a Again<'a>,
    args: &'a RunArgs,
    runner: &'a Runner<'a>,
    limit: Duration,
    /// The exit status of the plain run.
    plain: Option<i32>,
    failures: Failures,
    totals: Totals,
    /// How many runs had each exit status.
    statuses: BTreeMap<i32, u64>,
    /// By what was printed: the settings of the runs that did.
    outputs: BTreeMap<Hash128, Vec<Setting>>,
    /// The places of findings that are there.
    known: BTreeSet<Places>,
    /// What the recordings are called.
    path: PathBuf,
}

type Places = Vec<(Option<String>, Option<u32>)>;

/// Returns the places of a finding, so that findings of several runs can be compared.
fn places(finding: &Finding) -> Places {
    let place = |site: &Site| (site.file.clone(), site.line);
    let mut places: Places = finding.sites.iter().map(place).collect();
    places.sort();
    places
}

impl Stress<'_> {
    /// Runs the program once. Returns the number of its steps.
    fn run(&mut self, setting: Setting, result: &mut JobResult) -> Result<u64, Failed> {
        let Again { program, name, arguments, build, .. } = *self.again;
        let stage = Stage::new().map_err(|error| Usage::CannotRecord { error })?;
        let cannot = |error| Usage::NotStarted { name: name.to_owned(), error };
        let schedule = stage.schedule();
        let mut file = prepare(&schedule, setting).map_err(cannot)?;
        let launch = Launch {
            program,
            name,
            arguments,
            build,
            stdout: None,
            plan: None,
            schedule: Some(&schedule),
            caught: Some(stage.catch().map_err(cannot)?),
            is_silent: false,
            recording_max: self.args.max_recording,
        };
        let control = self.runner.watch.control();
        let mut go_on = || control.cancel.reason().is_none();
        let running = stage.start(launch).map_err(cannot)?;
        let run = watch(&running, &mut file, self.limit, &mut go_on).map_err(cannot)?;
        if control.cancel.reason().is_some() {
            return Ok(run.counts.steps);
        }
        let is_new = !self.totals.orders.contains(&run.counts.order);
        self.totals.add(&run);
        let shown = shown(&run, self.plain);
        if let Some(status) = run.ended.status {
            *self.statuses.entry(status).or_default() += 1;
        }
        let [output, errors] = stage.caught();
        if shown.is_none() && !run.is_killed {
            self.outputs.entry(lines_of(&output)).or_default().push(setting);
        }
        if shown.is_some() || self.args.stress_check && is_new {
            let (mut sites, mut found) = (Vec::new(), Vec::new());
            self.recording(&stage, &mut |part| {
                sites = sites_of(&run, self.plain, &part);
                if self.args.stress_check {
                    found.push(self.check(&part)?);
                }
                Ok(())
            })?;
            if let Some(shown) = shown {
                let replay = replay_of(self.args, self.again, setting);
                let (seed, said) = (setting.seed, said(&errors));
                self.failures.add(Failure { shown, seed, replay, sites, said });
            }
            found.into_iter().for_each(|checked| self.add(checked, setting, result));
        }
        Ok(run.counts.steps)
    }

    /// Reads the recording of a run, if there is one, and gives its parts to `take`.
    fn recording(
        &self,
        stage: &Stage,
        take: &mut dyn FnMut(RecordedRun<'_>) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let Some((events, maps)) = stage.found().unwrap_or_default().into_iter().next() else {
            return Ok(());
        };
        read((&self.path, &events, &maps), self.args, self.runner, take)
    }

    /// Checks a part of a run.
    fn check(&self, part: &RecordedRun<'_>) -> Result<JobResult, Failed> {
        let control = self.runner.watch.control();
        let mut checked = check_trace(&part.input, self.again.options, &control)?;
        checked.findings.retain(|one| !self.known.contains(&places(&one.finding)));
        describe(part, &mut checked);
        add_source_lines(&part.input.name, &part.sources, &mut checked);
        Ok(checked)
    }

    /// Adds what a check of a run has found at other places than before.
    fn add(&mut self, checked: JobResult, setting: Setting, result: &mut JobResult) {
        checked.limits.into_iter().for_each(|limit| result.cut_by(limit));
        for mut one in checked.findings {
            if !self.known.insert(places(&one.finding)) {
                continue;
            }
            // Its events are those of another run than the one whose trace is kept.
            one.finding.witness = None;
            one.finding.replay = Some(replay_of(self.args, self.again, setting));
            let text = format!("predicted of the run in the order of seed {}", setting.seed);
            let rule = Some("stress".to_owned());
            let step = ExplanationStep { rule, ..ExplanationStep::new(text) };
            one.finding.explanation.push(step);
            result.push(one.finding, None);
        }
    }

    /// Compares the runs with each other, and adds what they show.
    fn finish(mut self, result: &mut JobResult) {
        let is_usual = self.plain.is_some_and(|plain| self.statuses.contains_key(&plain));
        let most = self.statuses.iter().max_by_key(|(_, count)| **count);
        if !is_usual && let Some((status, _)) = most {
            // All runs differ from the plain one: what it read, they could not.
            self.failures.forget(Shown::Status(*status));
        }
        let all: usize = self.outputs.values().map(Vec::len).sum();
        let is_most = |settings: &Vec<Setting>| settings.len() * 2 > all;
        if self.outputs.values().any(is_most) {
            for setting in self.outputs.values().filter(|one| !is_most(one)).flatten() {
                let replay = replay_of(self.args, self.again, *setting);
                let (shown, seed) = (Shown::Output, setting.seed);
                let (sites, said) = (Vec::new(), String::new());
                self.failures.add(Failure { shown, seed, replay, sites, said });
            }
        }
        if self.totals.timed_out > 0 {
            result.bounded_by(option::RUN_TIME_LIMIT);
        }
        self.totals.report(self.args, self.failures, result);
    }
}

/// Returns what decides a run.
fn setting(args: &RunArgs, seed: u64, length: u64) -> Setting {
    let strategy = match args.stress_strategy {
        StressStrategy::Random => Strategy::Random,
        StressStrategy::Pct => Strategy::Priorities,
        StressStrategy::Pos => Strategy::PartialOrder,
        // Programs differ in which one finds more.
        StressStrategy::Mixed => match seed % 4 {
            0 => Strategy::Priorities,
            2 => Strategy::PartialOrder,
            _ => Strategy::Random,
        },
    };
    Setting { seed, strategy, depth: args.stress_depth, length }
}

/// Returns the command that runs the program in the same order again.
fn replay_of(args: &RunArgs, again: &Again<'_>, setting: Setting) -> String {
    let mut words = vec!["anyorder run --stress 1".to_owned()];
    words.push(format!("--stress-seed {}", setting.seed));
    words.push(format!("--stress-steps {}", setting.length));
    if args.stress_depth != 3 {
        words.push(format!("--stress-depth {}", args.stress_depth));
    }
    if args.stress_strategy != StressStrategy::Mixed {
        words.push(format!("--stress-strategy {}", word_of(STRATEGIES, args.stress_strategy)));
    }
    words.extend(name_and(again).map(|word| quote(&word.to_string_lossy())));
    words.join(" ")
}

/// Returns a hash of the lines that a program printed, whatever their order: threads may print in
/// any. That of nothing if they cannot be read.
fn lines_of(path: &Path) -> Hash128 {
    let bytes = read_file(path, OUTPUT, ask).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<String> = text.lines().map(without_addresses).collect();
    lines.sort_unstable();
    Hash128::of(lines.join("\n").as_bytes())
}

/// Addresses are other ones in each run.
fn without_addresses(line: &str) -> String {
    let mut parts = line.split("0x");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("0x");
        text.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()));
    }
    text
}

/// Returns the last line that a program printed as an error.
fn said(path: &Path) -> String {
    let bytes = read_file(path, OUTPUT, ask).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    last.chars().take(SAID_MAX).collect()
}
