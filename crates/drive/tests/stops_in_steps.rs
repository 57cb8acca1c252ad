//! Jobs on models whose single steps are endless or huge: the limits hold inside a step, and what a
//! stopped job reports is true.

use anyorder_drive::JobControl;
use anyorder_drive::Reported;
use anyorder_drive::explore::{ExploreOptions, explore};
use anyorder_drive::model::{Model, check_model};
use anyorder_drive::states::{
    Algorithm, CheckOptions, GraphOptions, SimulateOptions, export_graph, simulate,
};
use anyorder_finding::Kind;
use anyorder_system::{Cancel, Control, Limits, Progress, StopReason};

/// Each has steps that would take gigabytes.
const GREEDY: [(&str, &str); 2] = [
    (
        "many large lists",
        "class Box { var items: list<int>; }
         event grow {
             let xs = [0];
             while xs.len() < 100000 { xs = xs + xs; }
             let boxes: list<Box> = [];
             while true { xs.push(1); let b = new Box { items: xs }; boxes.push(b); }
         }",
    ),
    (
        "many large alternatives",
        "var xs = [0];
         event grow {
             let ys = [0];
             while ys.len() < 60000 { ys = ys + ys; }
             let i = choose 0..100;
             ys.push(i);
             xs = ys;
         }",
    ),
];

fn limited(bytes: u64) -> JobControl<'static> {
    let limits = Limits { memory_bytes: Some(bytes), ..Limits::NONE };
    Control { limits, ..Control::default() }.into()
}

const ALGORITHMS: [Algorithm; 3] = [Algorithm::Full, Algorithm::Stateful, Algorithm::Paper];

fn options(algorithm: Algorithm) -> CheckOptions {
    CheckOptions { algorithm: Some(algorithm), ..CheckOptions::default() }
}

#[test]
fn greedy_steps_stop_at_the_memory_limit() {
    for (what, body) in GREEDY {
        let model = Model::compile("greedy.any", &format!("model greedy\n{body}")).unwrap();
        for algorithm in ALGORITHMS {
            let found = check_model(&model, &options(algorithm), &limited(20 << 20)).unwrap();
            assert!(found.result.findings.is_empty(), "{what}, {algorithm:?}");
            // The reduced searches hold one alternative at a time.
            let holds_all = what == "many large lists" || algorithm == Algorithm::Full;
            let is_cut = found.result.limits == ["memory-limit"];
            assert!(is_cut || !holds_all, "{what}, {algorithm:?}: {:?}", found.result.limits);
        }
        if what != "many large lists" {
            continue;
        }
        let few = SimulateOptions { runs: 100, ..SimulateOptions::default() };
        let found = simulate(&model, &few, &limited(20 << 20)).unwrap();
        assert_eq!(found.limits, ["memory-limit"], "{what}");
        let graph = export_graph(&model, &GraphOptions::default(), &limited(20 << 20));
        assert!(graph.is_ok_and(|graph| !graph.complete), "{what}");
    }
}

#[test]
fn a_job_stopped_at_any_poll_reports_only_what_is_true() {
    let text = "
        model long
        var sum = 0;
        var i = 0;
        fn slow(n: int) -> int { let i = 0; while i < n { i += 1; } return i; }
        event a when sum < 40 { sum += slow(3000) / 1000; assert sum != 21; }
        event b when sum < 40 && slow(2000) == 2000 { sum += slow(2000) / 1000; }
        invariant small: slow(1500) == 1500 && sum < 28;";
    let model = Model::compile("long.any", text).unwrap();
    // On a push, at one poll of seven.
    let rare = 1 + 6 / anyorder_testkit::effort::effort() as usize;
    let mut cut = 0;
    for algorithm in ALGORITHMS {
        let options = options(algorithm);
        let whole = check_model(&model, &options, &JobControl::default()).unwrap().result;
        let titles = |result: &anyorder_drive::JobResult| -> Vec<String> {
            result.findings.iter().map(|one| one.finding.title.clone()).collect()
        };
        let all = titles(&whole);
        assert_eq!(all.len(), 2, "{all:?}");
        for polls in (0..400).step_by(rare) {
            let control = Control { cancel: Cancel::after_polls(polls), ..Control::default() };
            let control = JobControl::from(control);
            let found = check_model(&model, &options, &control).unwrap().result;
            let some = titles(&found);
            assert!(some.iter().all(|title| all.contains(title)), "{algorithm:?} {polls} {some:?}");
            let is_cut = found.limits.iter().any(|limit| limit == "interrupt");
            assert!(is_cut || some == all, "{algorithm:?} {polls} {some:?}");
            cut += u32::from(is_cut);
        }
    }
    assert!(cut > 20, "{cut}");
    for polls in (0..200).step_by(rare) {
        let control = Control { cancel: Cancel::after_polls(polls), ..Control::default() };
        let control = JobControl::from(control);
        let found = explore(&model, &ExploreOptions::default(), &control).unwrap();
        let is_cut = found.limits.iter().any(|limit| limit == "interrupt");
        assert!(is_cut || !found.findings.is_empty(), "{polls}");
    }
}

/// Stops a job once it has done so much.
struct StopAt<'c>(&'c Cancel, u64);

impl Progress for StopAt<'_> {
    fn report(&self, done: u64, _total: Option<u64>) {
        if done >= self.1 {
            self.0.stop(StopReason::Interrupted);
        }
    }
}

/// Update conflicts are looked for after a search, so a search that is stopped late must not have
/// fewer than one that is stopped early.
#[test]
fn update_conflicts_survive_a_stop() {
    let text = "
        model long
        var lamp = 0;
        var n = 0;
        component a: on;
        component b: off;
        once event on { lamp = 1; }
        once event off { lamp = 0; }
        event tick when n < 1000000 { n = n + 1 + 0 * lamp; }";
    let model = Model::compile("long.any", text).unwrap();
    for algorithm in [Algorithm::Full, Algorithm::Stateful] {
        for stop_at in [50_000, 100_000, 300_000] {
            let cancel = Cancel::new();
            let progress = StopAt(&cancel, stop_at);
            let control =
                Control { cancel: cancel.clone(), progress: &progress, ..Control::default() };
            let control = JobControl::from(control);
            let found = check_model(&model, &options(algorithm), &control).unwrap().result;
            let kinds: Vec<Kind> = found.findings.iter().map(|one| one.finding.kind).collect();
            assert_eq!(kinds, [Kind::UpdateConflict], "{algorithm:?} {stop_at}");
            assert!(!found.limits.is_empty(), "{algorithm:?} {stop_at}: {:?}", found.stats);
        }
    }
}

/// Many attributes make the search for conflicts dear, and after a stop little time is left.
#[test]
fn update_conflicts_of_many_attributes_survive_a_stop() {
    let mut text = "model many\nvar n = 0;\nevent tick when n < 400 { n = n + 1; }\n".to_owned();
    for i in 0..24 {
        text += &format!("var d{i} = 0;\ncomponent a{i}: on{i};\ncomponent b{i}: off{i};\n");
        text += &format!("event on{i} when n < 400 {{ d{i} = 1; }}\n");
        text += &format!("event off{i} when n < 400 {{ d{i} = 0; }}\n");
    }
    let model = Model::compile("many.any", &text).unwrap();
    for algorithm in [Algorithm::Full, Algorithm::Stateful] {
        let cancel = Cancel::new();
        let progress = StopAt(&cancel, 40_000);
        let control = Control { cancel: cancel.clone(), progress: &progress, ..Control::default() };
        let found = check_model(&model, &options(algorithm), &control.into()).unwrap().result;
        let is_conflict = |one: &Reported| one.finding.kind == Kind::UpdateConflict;
        let conflicts = found.findings.iter().filter(|one| is_conflict(one)).count();
        assert!(conflicts >= 10, "{algorithm:?}: {conflicts} {:?} {:?}", found.stats, found.limits);
    }
}
