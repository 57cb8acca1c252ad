//! The search for witnesses confirms candidates of event-driven EDC, and the test re-checks the
//! witnesses.

use anyorder_certify::{
    ClaimedWitness, Lanes, NoCalls, ReorderingChecker, WitnessForm, check_schedule,
};
use anyorder_formats::droidracer::DroidRacerReader;
use anyorder_hb::RuleSet;
use anyorder_predict::{
    Answer, CandidateOptions, ConfirmOptions, Confirmer, Form, MemoryOnly, NoCommunication,
    Reorders, Report, Violation, ViolationKind, event_driven,
};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::{Shape, random_sections, random_trace, show};
use anyorder_trace::{EventId, Trace};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

type Counts = BTreeMap<String, u64>;

fn claimed(form: Form) -> WitnessForm {
    match form {
        Form::Reversed => WitnessForm::Reversed,
        Form::Last => WitnessForm::Last,
        Form::CoEnabled => WitnessForm::CoEnabled,
        Form::Overtakes => WitnessForm::Overtakes,
        Form::Deadlock => unreachable!("no pair of actions"),
    }
}

fn candidates(trace: &Trace, rules: RuleSet) -> Report {
    let (options, control) = (CandidateOptions::default(), Control::default());
    let found = event_driven(trace, rules, &mut MemoryOnly, &options, &control);
    found.expect("nobody cancels").report
}

/// Tries candidates of a trace; every witness must be accepted.
fn confirm(
    trace: &Trace,
    violations: &[Violation],
    reorders: Reorders,
    counts: &mut Counts,
    place: &str,
) {
    let mut communication = NoCommunication;
    let lanes = match reorders {
        Reorders::Components => Lanes::Components,
        _ => Lanes::Tasks,
    };
    let options = ConfirmOptions { reorders, ..ConfirmOptions::default() };
    let mut confirmer = Confirmer::new(trace, &mut communication, options);
    let mut checker = ReorderingChecker::new(trace, &NoCalls, lanes);
    for violation in violations {
        let [first, second] =
            [violation.first, violation.second].map(|side| EventId(side.event as u32));
        let kind = match violation.kind {
            ViolationKind::Racy => "racy",
            ViolationKind::NonRacy => "non-racy",
        };
        let answer = confirmer.confirm(first, second, &Cancel::new());
        let word = match &answer {
            Answer::Confirmed(witness) => {
                let claim = ClaimedWitness {
                    form: claimed(witness.form),
                    first,
                    second,
                    prefix: witness.prefix,
                    order: &witness.order,
                };
                if let Err(error) = checker.check(claim) {
                    panic!("{place}: {first:?}, {second:?}: {error}: {witness:?}\n{}", show(trace));
                }
                witness.form.word().to_owned()
            }
            Answer::Impossible => "impossible".to_owned(),
            Answer::Unconfirmed(why) => format!("unconfirmed: {why:?}"),
        };
        *counts.entry(format!("{kind} {word}")).or_default() += 1;
    }
}

/// Whether the trace is a schedule of itself.
fn is_sound(trace: &Trace) -> bool {
    let all: Vec<EventId> = (0..trace.len() as u32).map(EventId).collect();
    check_schedule(trace, &all).is_ok()
}

#[test]
fn witnesses_of_random_traces_are_accepted() {
    let mut counts = Counts::new();
    let mut all: Vec<(String, Trace)> = Vec::new();
    for seed in anyorder_testkit::effort::sampled(500, 1_500) {
        all.push((format!("sections, seed {seed}"), random_sections(seed)));
    }
    for (name, shape) in Shape::all() {
        for seed in 0..120 {
            all.push((format!("{name}, seed {seed}"), random_trace(seed, &shape)));
        }
    }
    for (place, trace) in &all {
        let report = candidates(trace, RuleSet::Mailbox);
        assert!(is_sound(trace), "{place}: no schedule of itself");
        confirm(trace, &report.violations, Reorders::Tasks, &mut counts, place);
    }
    println!("{} traces; {counts:#?}", all.len());
    for kind in ["racy", "non-racy"] {
        for word in ["reversed", "last", "impossible"] {
            assert!(counts.contains_key(&format!("{kind} {word}")), "{kind} {word}: never");
        }
    }
}

#[test]
fn candidates_of_recorded_android_runs() {
    for app in ["twitter", "RemindMe"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/droidracer");
        let text = std::fs::read(path.join(app).join("trace.txt")).expect("the log is there");
        let trace = Trace::read(&mut DroidRacerReader::new(&text[..])).expect("the log is right");
        let mut counts = Counts::new();
        let start = Instant::now();
        assert!(is_sound(&trace), "{app}");
        let violations = candidates(&trace, RuleSet::Android).violations;
        confirm(&trace, &violations, Reorders::Components, &mut counts, app);
        println!("{app}: {counts:?} in {:?}", start.elapsed());
    }
}
