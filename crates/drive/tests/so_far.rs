//! What jobs give their listeners while they work.

use anyorder_drive::explore::{ExploreOptions, ShrinkOptions, explore, shrink};
use anyorder_drive::model::{Model, check_model, replay_model};
use anyorder_drive::states::{Algorithm, CheckOptions, ReplayVerdict, SimulateOptions, simulate};
use anyorder_drive::{
    CheckTraceOptions, Failure, JobControl, JobResult, TraceInput, check_trace, schedule_of,
};
use anyorder_formats::std::StdReader;
use anyorder_system::{Control, Schedule};
use anyorder_trace::{Problems, Trace};
use std::sync::Mutex;

/// Returns the result of a job, and what it gave its listener, in order.
fn heard<F: Send, T>(job: impl FnOnce(&JobControl<'_, F>) -> Result<T, Failure>) -> (T, Vec<F>) {
    let all = Mutex::new(Vec::new());
    let keep = |so_far| all.lock().expect("no panic").push(so_far);
    let result = job(&JobControl::new(Control::default(), &keep)).expect("a whole job");
    (result, all.into_inner().expect("no panic"))
}

/// A job gives something, each time no fewer findings than before, and in the end all of them.
fn assert_grows(name: &str, (result, heard): &(JobResult, Vec<JobResult>)) {
    let counts: Vec<usize> = heard.iter().map(|one| one.findings.len()).collect();
    assert!(counts.is_sorted(), "{name}: {counts:?}");
    let titles = |of: &JobResult| {
        let mut titles: Vec<String> =
            of.findings.iter().map(|one| one.finding.title.clone()).collect();
        titles.sort();
        titles
    };
    let last = heard.last().unwrap_or_else(|| panic!("{name}: nothing was given"));
    assert_eq!(titles(last), titles(result), "{name}");
}

#[test]
fn jobs_on_models_give_all_findings_in_the_end() {
    let text = "
        model late
        var script = false;
        once event loaded { script = true; }
        once event click { assert script, \"not loaded\"; }
        once event key { assert script, \"no keys yet\"; }";
    let model = Model::compile("late.any", text).expect("a model");
    for algorithm in [Algorithm::Full, Algorithm::Stateful, Algorithm::Paper] {
        let options = CheckOptions { algorithm: Some(algorithm), ..CheckOptions::default() };
        let job = |control: &JobControl<'_>| {
            check_model(&model, &options, control).map(|found| found.result)
        };
        assert_grows(&format!("{algorithm:?}"), &heard(job));
    }
    let options = SimulateOptions { runs: 40, ..SimulateOptions::default() };
    assert_grows("simulate", &heard(|control| simulate(&model, &options, control)));
    let options = ExploreOptions::default();
    assert_grows("explore", &heard(|control| explore(&model, &options, control)));
}

#[test]
fn shrinking_gives_schedules_that_hold_and_the_smallest_last() {
    let text = "
        model late
        var script = false;
        var clicks = 0;
        event idle {}
        event loaded { script = true; }
        event click { clicks += 1; assert script || clicks < 2, \"not loaded\"; }";
    let model = Model::compile("late.any", text).expect("a model");
    let options = SimulateOptions { runs: 20, ..SimulateOptions::default() };
    let found = simulate(&model, &options, &JobControl::default()).expect("walks");
    let longest = found.findings.iter().filter_map(|one| schedule_of(&one.finding));
    let failing = longest.max_by_key(|one| one.choices.len()).expect("a schedule");
    let options = ShrinkOptions::default();
    let (shrunk, given): (_, Vec<Schedule>) =
        heard(|control| shrink(&model, &failing, &options, control));
    let shrunk = shrunk.expect("it fails again");
    assert!(given.len() > 1, "{given:?}");
    // The run with the fewest reversals may be longer than the given one, so only the last counts.
    assert_eq!(given.last().map(|last| &last.choices), Some(&shrunk.schedule.choices));
    for schedule in &given {
        let replayed = replay_model(&model, schedule).expect("it runs");
        assert_eq!(replayed.verdict, ReplayVerdict::Reproduced, "{schedule:?}");
    }
}

/// Each time a bounded number of races is copied, and the others are counted.
#[test]
fn of_many_races_the_first_are_given_and_the_others_are_counted() {
    let (races, most) = (1_100_usize, 1_000);
    let lines = |t: usize| format!("T{}|w(x{})|{}\n", 1 + t % 2, t / 2, t + 1);
    let text: String = (0..2 * races).map(lines).collect();
    let mut control = JobControl::default();
    let trace = Trace::read(&mut StdReader::new(text.as_bytes())).expect("a trace");
    let input = TraceInput::new("a.std", trace, &Problems::default(), &control).expect("whole");
    let mut options = CheckTraceOptions::default();
    options.witnesses.max_tries = 20;
    let given = Mutex::new(Vec::new());
    let keep = |so_far: JobResult| {
        let left_out: u64 = so_far.warnings.iter().map(|one| one.count).sum();
        given.lock().expect("no panic").push((so_far.findings.len(), left_out));
    };
    control.found = &keep;
    let found = check_trace(&input, &options, &control).expect("a result");
    assert_eq!(found.findings.len(), races);
    let given = given.into_inner().expect("no panic");
    assert!(given.len() > 3, "{given:?}");
    assert!(given.iter().all(|one| *one == (most, (races - most) as u64)), "{given:?}");
}
